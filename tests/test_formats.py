"""Text and tree: what is read, what a rewrite leaves alone, and what is refused."""

from __future__ import annotations

import copy
import json
import re
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hookport.documents import KINDS, Duplicate, SyntaxProblem, detect_kind, dump, parse
from hookport.documents._document import is_same_tree

BOM = b"\xef\xbb\xbf"


def edited(text: str, kind: str, change: Any) -> str:
    document = parse(text.encode(), kind)
    tree = copy.deepcopy(document.tree)
    change(tree)
    result = document.rewrite(tree)
    assert is_same_tree(parse(result, kind).tree, tree)
    return result.decode()


def refused(data: bytes | str, kind: str) -> tuple[int, int, str]:
    with pytest.raises(SyntaxProblem) as caught:
        parse(data.encode() if isinstance(data, str) else data, kind)
    return caught.value.line, caught.value.column, caught.value.message


# Strategies: trees, texts of a tree in random layout, and edits of a tree.

KEYS = st.one_of(
    st.sampled_from(["a", "b", "c", "hooks", "type", "on", "1", "", "x y", 'q"', "#k", "é"]),
    st.text(max_size=4),
)


def trees(scalars: st.SearchStrategy[Any], keys: st.SearchStrategy[str] = KEYS) -> Any:
    return st.recursive(
        scalars,
        lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(keys, inner, max_size=4)),
        max_leaves=14,
    )


STRINGS = st.one_of(
    st.text(max_size=6),
    st.sampled_from(
        [
            "true",
            "null",
            "~",
            "12:30",
            "2020-01-01",
            "- a",
            "a: b",
            "a #b",
            "// c",
            "/* c */",
            "---",
            "...",
            "|",
            "&a",
            "*a",
            "!t",
            "{",
            "]",
            "a,b",
            "\u2028x",
            "\x85",
            "\x7f",
            "0x1f",
            " lead",
            "trail ",
            "two\nlines\n",
            "tab\t",
            "'",
            '"',
            "\\",
            "\ufeff",
            "😀",
            "1e3",
            ".5",
        ]
    ),
)
NUMBERS = st.one_of(
    st.integers(-(10**20), 10**20),
    st.sampled_from([0, 1, True, False, 1.0, 0.0, -0.0]),
    st.floats(allow_nan=False),
)
JSON_TREES = trees(st.one_of(st.none(), st.booleans(), NUMBERS, STRINGS))
DATES = st.one_of(st.datetimes().map(lambda when: when.replace(fold=0)), st.dates())
TOML_TREES = st.dictionaries(KEYS, trees(st.one_of(st.booleans(), NUMBERS, STRINGS, DATES)), max_size=5)


@st.composite
def edits(draw: Any, tree: Any, fresh: Any) -> Any:
    """A tree near the given one: members changed, added, removed, moved or nothing at all."""
    if not isinstance(tree, (dict, list)):
        return draw(fresh) if draw(st.booleans()) else tree
    keyed = isinstance(tree, dict)
    old = list(tree.items()) if isinstance(tree, dict) else [(None, value) for value in tree]
    new = []
    for key, value in old:
        action = draw(st.integers(0, 9))
        if action:
            new.append((key, draw(edits(value, fresh)) if action < 4 else value))
        if action == 9:
            new.append((draw(KEYS), draw(fresh)))
    if draw(st.integers(0, 3)) == 0:
        new.insert(draw(st.sampled_from([0, len(new)])), (draw(KEYS), draw(fresh)))
    return dict(new) if keyed else [value for _, value in new]


@st.composite
def jsonc_texts(draw: Any, tree: Any, comments: bool = True) -> str:
    """The tree as JSONC, with random white space, comments, line ends and trailing commas."""
    newline = draw(st.sampled_from(["\n", "\r\n", "\r"]))
    spaces = ["", "", " ", "\t", newline, newline + "  ", newline + "\t\t", newline * 2]
    if comments:
        spaces += ["/**/", " /* a, ] } */ ", f"// c {{{newline}", f' // "{newline}  ']
        spaces += [f"{newline}  // own line{newline}  ", f"/* two{newline} lines */"]

    def gap() -> str:
        return "".join(draw(st.lists(st.sampled_from(spaces), max_size=2)))

    def write(value: Any) -> str:
        if isinstance(value, dict):
            parts = [
                f"{gap()}{json.dumps(key)}{gap()}:{gap()}{write(item)}{gap()}" for key, item in value.items()
            ]
            opening, closing = "{}"
        elif isinstance(value, list):
            parts = [f"{gap()}{write(item)}{gap()}" for item in value]
            opening, closing = "[]"
        else:
            text = json.dumps(value, ensure_ascii=draw(st.booleans()))
            return text.replace("Infinity", "1e999") if isinstance(value, float) else text
        comma = "," + gap() if parts and comments and draw(st.booleans()) else ""
        return opening + (",".join(parts) + comma or gap()) + closing

    return gap() + write(tree) + gap()


class YamlWriter:
    """Writes a tree as YAML, in block and flow style, with random comments and indentation."""

    def __init__(self, draw: Any) -> None:
        self.draw = draw
        self.newline = self.one_of("\n", "\n", "\r\n")
        self.unit = draw(st.sampled_from([2, 4]))

    def one_of(self, *texts: str) -> str:
        return str(self.draw(st.sampled_from(texts)))

    def line_end(self) -> str:
        return self.one_of("", "", "", "  # note", " # a: b") + self.newline

    def above(self, indent: int) -> str:
        return self.one_of("", "", "", self.newline, " " * indent + "# own line" + self.newline)

    def block(self, value: Any, indent: int) -> str:
        margin = " " * indent
        if isinstance(value, dict):
            return "".join(
                f"{self.above(indent)}{margin}{self.flow(key)}:{self.after(item, indent + self.unit)}"
                for key, item in value.items()
            )
        return "".join(f"{self.above(indent)}{margin}-{self.after_dash(item, indent)}" for item in value)

    def after_dash(self, value: Any, indent: int) -> str:
        if isinstance(value, (dict, list)) and value and self.draw(st.booleans()):
            lines = self.block(value, indent + 2)
            if lines.startswith(" ") and not lines.lstrip(" ").startswith("#"):
                return " " + lines.lstrip(" ")
        return self.after(value, indent + 2)

    def after(self, value: Any, indent: int) -> str:
        if isinstance(value, (dict, list)) and value and self.draw(st.integers(0, 3)):
            return self.line_end() + self.block(value, indent)
        if value is None and self.draw(st.booleans()):
            return self.line_end()
        return " " + self.flow(value, indent) + self.line_end()

    def flow(self, value: Any, indent: int = 80) -> str:
        if not isinstance(value, (dict, list)):
            return dump(value, "yaml").decode().strip()
        gap = self.one_of("", " ", self.newline + " " * indent, f" # in flow{self.newline}{' ' * indent}")
        parts = (
            [f"{self.flow(key)}: {self.flow(item, indent)}" for key, item in value.items()]
            if isinstance(value, dict)
            else [self.flow(item, indent) for item in value]
        )
        opening, closing = "{}" if isinstance(value, dict) else "[]"
        comma = self.one_of("", ",") if parts else ""
        return opening + gap + ("," + (gap or " ")).join(parts) + comma + gap + closing


@st.composite
def yaml_texts(draw: Any, tree: Any) -> str:
    writer = YamlWriter(draw)
    if isinstance(tree, (dict, list)) and tree:
        text = writer.block(tree, 0)
    else:
        text = writer.flow(tree, 0) + writer.newline
    text = writer.one_of("", "---" + writer.newline, "# top" + writer.newline) + text
    return text.removesuffix(writer.one_of("", writer.newline))


# Laws.


@settings(max_examples=120, deadline=None)
@given(st.data())
def test_jsonc_rewrite_reads_back(data: Any) -> None:
    tree = data.draw(JSON_TREES)
    kind = data.draw(st.sampled_from(["json", "jsonc"]))
    text = data.draw(jsonc_texts(tree, comments=kind == "jsonc"))
    document = parse(text.encode(), kind)
    assert is_same_tree(document.tree, tree)
    assert document.rewrite(copy.deepcopy(tree)) == text.encode()
    new = data.draw(edits(tree, JSON_TREES))
    assert is_same_tree(parse(document.rewrite(new), kind).tree, new)


@settings(max_examples=120, deadline=None)
@given(st.data())
def test_yaml_rewrite_reads_back(data: Any) -> None:
    tree = data.draw(JSON_TREES)
    text = data.draw(yaml_texts(tree))
    document = parse(text.encode(), "yaml")
    assert is_same_tree(document.tree, tree)
    assert document.rewrite(copy.deepcopy(tree)) == text.encode()
    new = data.draw(edits(tree, JSON_TREES))
    assert is_same_tree(parse(document.rewrite(new), "yaml").tree, new)


@settings(max_examples=120, deadline=None)
@given(st.data())
def test_toml_rewrite_reads_back(data: Any) -> None:
    tree = data.draw(TOML_TREES)
    text = dump(tree, "toml").decode()
    if data.draw(st.booleans()):
        text = text.replace("\n", "  # note\n").replace("]\n", "] # header\n")
        text = text.replace("\n[", "\n# own line\n[")
    if data.draw(st.booleans()):
        text = text.replace("\n", "\r\n")
    if data.draw(st.booleans()):
        text = text.rstrip("\r\n")
    document = parse(text.encode(), "toml")
    assert is_same_tree(document.tree, tree)
    assert document.rewrite(copy.deepcopy(tree)) == text.encode()
    fresh = trees(st.one_of(st.booleans(), NUMBERS, STRINGS))
    new = data.draw(edits(tree, fresh))
    assert is_same_tree(parse(document.rewrite(new), "toml").tree, new)


@settings(max_examples=120, deadline=None)
@given(st.data())
def test_frontmatter_rewrite_reads_back(data: Any) -> None:
    mappings = st.dictionaries(KEYS, JSON_TREES, max_size=4)
    tree = {"frontmatter": data.draw(mappings), "body": data.draw(st.text(max_size=20))}
    document = parse(dump(tree, "frontmatter"), "frontmatter")
    assert is_same_tree(document.tree, tree)
    assert document.rewrite(copy.deepcopy(tree)) == document.data
    new = {
        "frontmatter": data.draw(edits(tree["frontmatter"], JSON_TREES)),
        "body": data.draw(st.text(max_size=20)),
    }
    assert is_same_tree(parse(document.rewrite(new), "frontmatter").tree, new)


@settings(max_examples=80, deadline=None)
@given(JSON_TREES)
def test_json_and_yaml_dumps_read_back(tree: Any) -> None:
    for kind in ("json", "jsonc", "yaml"):
        assert is_same_tree(parse(dump(tree, kind), kind).tree, tree)


@settings(max_examples=80, deadline=None)
@given(TOML_TREES)
def test_toml_dump_reads_back(tree: Any) -> None:
    assert is_same_tree(parse(dump(tree, "toml"), "toml").tree, tree)


SNIPPETS = st.lists(
    st.sampled_from(
        [
            b"{",
            b"}",
            b"[",
            b"]",
            b",",
            b":",
            b'"',
            b"'",
            b"\\",
            b"//",
            b"/*",
            b"*/",
            b"#",
            b"\n",
            b"\r",
            b" ",
            b"- ",
            b"? ",
            b"&a ",
            b"*a ",
            b"!t ",
            b"|",
            b">",
            b"---\n",
            b"a",
            b"1",
            b"=",
            b"[[a]]",
            b"\x00",
            b"\xff",
            BOM,
            b"true",
            b"1e999",
            b"<<: ",
            b"\t",
            b"%YAML 1.1\n",
            b'"""',
            b"\\ud800",
            b"\xc2\x85",
            b"0x",
            b"..",
            b"a = ",
            b"2020-01-01",
            b"0" * 30,
        ]
    ),
    max_size=20,
).map(b"".join)


@settings(max_examples=400, deadline=None)
@given(st.one_of(st.binary(max_size=40), SNIPPETS, SNIPPETS.map(lambda s: b"---\n" + s + b"\n---\n")))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    places = []
    for kind in KINDS:
        try:
            document = parse(data, kind)
        except SyntaxProblem as problem:
            places.append((problem.line, problem.column))
            continue
        assert document.rewrite(copy.deepcopy(document.tree)) == data
        places.append(document.position(("a", 0)))
        places += [duplicate[1:] for duplicate in document.duplicates]
    assert all(line >= 1 and column >= 1 for line, column in places)


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_appended_member_leaves_every_other_line_alone(data: Any) -> None:
    tree = data.draw(st.dictionaries(KEYS.filter(lambda k: k != "new"), JSON_TREES, min_size=1))
    for kind in ("json", "yaml"):
        text = dump(tree, kind).decode()
        result = parse(text.encode(), kind).rewrite({**tree, "new": 1}).decode()
        if kind == "json":
            assert result == text.removesuffix("\n}\n") + ',\n  "new": 1\n}\n'
        else:
            assert result == text + "new: 1\n"


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_added_then_removed_is_the_original(data: Any) -> None:
    tree = data.draw(st.dictionaries(KEYS.filter(lambda k: k != "new"), JSON_TREES, min_size=1))
    for kind in ("json", "jsonc", "yaml"):
        original = dump(tree, kind)
        added = parse(original, kind).rewrite({**tree, "new": {"hooks": [{"a": 1}]}})
        assert parse(added, kind).rewrite(tree) == original


def leaves(tree: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    if isinstance(tree, dict):
        return [leaf for key, item in tree.items() for leaf in leaves(item, (*path, key))]
    if isinstance(tree, list):
        return [leaf for at, item in enumerate(tree) for leaf in leaves(item, (*path, at))]
    return [path]


def with_leaf(tree: Any, path: tuple[Any, ...], value: Any) -> Any:
    if not path:
        return value
    changed = copy.copy(tree)
    changed[path[0]] = with_leaf(tree[path[0]], path[1:], value)
    return changed


def offset_of(text: str, place: tuple[int, int]) -> int:
    line, column = place
    starts = [0, *(found.end() for found in re.finditer(r"\r\n|\n|\r", text))]
    return starts[line - 1] + column - 1


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_changed_leaf_is_the_only_change_in_jsonc(data: Any) -> None:
    tree = data.draw(JSON_TREES.filter(leaves))
    path = data.draw(st.sampled_from(leaves(tree)))
    text = data.draw(jsonc_texts(tree))
    document = parse(text.encode(), "jsonc")
    start = offset_of(text, document.position(path))
    _, end = json.JSONDecoder().raw_decode(text, start)
    result = document.rewrite(with_leaf(tree, path, "changed")).decode()
    assert result == text[:start] + '"changed"' + text[end:]


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_changed_leaf_is_the_only_change_in_yaml(data: Any) -> None:
    tree = data.draw(JSON_TREES.filter(lambda tree: isinstance(tree, (dict, list)) and leaves(tree)))
    path = data.draw(st.sampled_from(leaves(tree)))
    text = data.draw(yaml_texts(tree))
    document = parse(text.encode(), "yaml")
    old = tree
    for step in path:
        old = old[step]
    start = offset_of(text, document.position(path))
    literal = dump(old, "yaml").decode().strip()
    empty = old is None and not text.startswith("null", start)
    result = document.rewrite(with_leaf(tree, path, "changed")).decode()
    if empty:
        assert result == text[:start] + " changed" + text[start:]
    else:
        assert result == text[:start] + "changed" + text[start + len(literal) :]


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_changed_leaf_is_the_only_change_in_toml(data: Any) -> None:
    tree = data.draw(TOML_TREES.filter(leaves))
    path = data.draw(st.sampled_from(leaves(tree)))
    text = dump(tree, "toml").decode().replace("\n", "  # note\n")
    document = parse(text.encode(), "toml")
    old = tree
    for step in path:
        old = old[step]
    literal = dump({"k": old}, "toml").decode().removeprefix("k = ").removesuffix("\n")
    start = offset_of(text, document.position(path))
    result = document.rewrite(with_leaf(tree, path, "changed")).decode()
    assert result == text[:start] + '"changed"' + text[start + len(literal) :]


# Nasty files that a rewrite of the same tree must not touch.

NASTY = [
    ("json", b'{"a":1,"a":2,"b":{"c":{},"c":[]}}'),
    ("json", BOM + b'{\r\n\t"x" : 1.0 ,\r\n\t"y":1e3, "z":[ ]\r\n}\r\n\r\n'),
    ("json", b'  "\\ud800 \\u00e9 \xc3\xa9 \\/"  '),
    ("json", b'{"big": 123456789012345678901234567890, "zero": -0, "over": 1e999}'),
    ("json", b"[\r 1,\r 2\r]\r"),
    ("jsonc", b'// top\n{ /* a */ "a" /* b */ : /* c */ 1 /* d */ , // e\n // f\n "b": [ // g\n ], }// h'),
    ("jsonc", BOM + b'{\r\n  // one\r\n  "a": [1, 2, 3,], // two\r\n}\r\n/* end */'),
    ("jsonc", b"/**/{}//"),
    ("jsonc", b'{"url": "http://x/*y*/", "q": "\\"//\\""}'),
    ("toml", BOM + b'# c\r\na.b = 1 # d\r\n"q.r" = \'l\'\r\n[ t . u ]\r\n  k = """\r\n# no\r\n"""\r\n'),
    ("toml", b"x = [ # a\n  1, # b\n  [2,],\n]\n[[p]]\n[[p.q]]\n[p.r]\n[[p]]\nd = 1979-05-27 07:32:00Z"),
    ("toml", b""),
    ("toml", b"a = ''''x'''''\nb = \"\"\"\\\"\"\"\"\"\"\n[c]"),
    ("yaml", BOM + b"# c\r\na: 1 # d\r\nb:\r\n- x\r\n-   y: 'z'\r\n    w: |+\r\n      t\r\n\r\n"),
    ("yaml", b"%YAML 1.2\n---\na: &x {b: [1, 2,], c: }\nd: *x\n...\n"),
    ("yaml", b"? a\n: b\n? c\n"),
    ("yaml", b'a: >-\n  folded\n  text\nb: plain\n  goes on\nc: "x\\\n  y"\n'),
    ("yaml", b"a: 1\nb: 2\na: 3"),
    ("yaml", b"# nothing\n"),
    ("yaml", "é: ü # ö\n日本: [語]\n".encode()),
    ("frontmatter", BOM + b"---  \r\nname: x # c\r\n---\r\n\r\n# Body\r\n---\r\n"),
    ("frontmatter", b"---\n---"),
    ("frontmatter", b"---\n# only a comment\n---\n"),
    ("text", BOM + b"a\r\nb\x00\n"),
    ("text", b""),
]


@pytest.mark.parametrize(("kind", "data"), NASTY)
def test_same_tree_keeps_every_byte(kind: str, data: bytes) -> None:
    document = parse(data, kind)
    assert document.rewrite(document.tree) == data
    assert document.rewrite(copy.deepcopy(document.tree)) == data


@pytest.mark.parametrize(("kind", "data"), [case for case in NASTY if case[0] != "text"])
def test_an_added_key_reads_back_in_a_nasty_file(kind: str, data: bytes) -> None:
    document = parse(data, kind)
    tree = copy.deepcopy(document.tree)
    inner = tree["frontmatter"] if kind == "frontmatter" else tree
    if inner is None:
        tree = {"new": [1]}
    elif isinstance(inner, dict):
        inner["new"] = {"x": [1, {"y": "z"}]}
    elif isinstance(inner, list):
        inner.append({"x": 1})
    else:
        tree = {"new": 1}
    result = document.rewrite(tree)
    assert is_same_tree(parse(result, kind).tree, tree)
    assert result.startswith(BOM) == data.startswith(BOM)
    assert (b"\r" in result) == (b"\r" in data)


def test_a_tree_changed_in_place_is_still_a_change() -> None:
    for kind, text, wanted in [
        ("json", '{"a": 1}\n', '{"a": 2}\n'),
        ("yaml", "a: 1 # c\n", "a: 2 # c\n"),
        ("toml", "a = 1 # c\n", "a = 2 # c\n"),
    ]:
        document = parse(text.encode(), kind)
        document.tree["a"] = 2
        assert document.rewrite(document.tree) == wanted.encode()


def test_true_one_and_one_point_zero_are_different_values() -> None:
    assert parse(b"[1, true, 1.0]", "json").rewrite([1.0, 1, True]) == b"[1.0, 1, true]"
    assert parse(b"a: 1\nb: true\n", "yaml").rewrite({"a": True, "b": 1.0}) == b"a: true\nb: 1.0\n"
    assert parse(b"a = 1\nb = true\n", "toml").rewrite({"a": True, "b": 1.0}) == b"a = true\nb = 1.0\n"


# Typical edits, as exact text.

SETTINGS = """\
{
  "model": "opus",
  "hooks": {
    "PreToolUse": [
      {
        "matcher": "Bash",
        "hooks": [{"type": "command", "command": "./a.sh"}]
      }
    ]
  },
  "permissions": {"allow": ["Bash(ls:*)"], "deny": []}
}
"""


def add_claude_hooks(tree: Any) -> None:
    tree["hooks"]["PreToolUse"].append(
        {"matcher": "Edit", "hooks": [{"type": "command", "command": "./é.sh", "timeout": 5}]}
    )
    tree["hooks"]["Stop"] = []
    tree["permissions"]["deny"].append("Read(.env)")


def test_claude_settings_gain_hooks() -> None:
    wanted = """\
{
  "model": "opus",
  "hooks": {
    "PreToolUse": [
      {
        "matcher": "Bash",
        "hooks": [{"type": "command", "command": "./a.sh"}]
      },
      {
        "matcher": "Edit",
        "hooks": [
          {
            "type": "command",
            "command": "./é.sh",
            "timeout": 5
          }
        ]
      }
    ],
    "Stop": []
  },
  "permissions": {"allow": ["Bash(ls:*)"], "deny": ["Read(.env)"]}
}
"""
    assert edited(SETTINGS, "json", add_claude_hooks) == wanted
    tabs, wanted_tabs = (re.sub(r"(?m)^ +", _tabs, text) for text in (SETTINGS, wanted))
    assert edited(tabs, "json", add_claude_hooks) == wanted_tabs
    windows = edited(SETTINGS.replace("\n", "\r\n"), "jsonc", add_claude_hooks)
    assert windows == wanted.replace("\n", "\r\n")


def _tabs(found: re.Match[str]) -> str:
    return "\t" * (len(found.group()) // 2)


COMMENTED = """\
// User settings
{
    // which model
    "model": "opus", // the big one
    /* hooks run
       on events */
    "hooks": {
        "Stop": [], // none yet
        // "Start": []
    },
    "env": { "A": "1" } // last, no comma
    // the end
}"""


def test_commented_settings_gain_members() -> None:
    def change(tree: Any) -> None:
        tree["hooks"]["Stop"].append({"hooks": []})
        tree["hooks"]["Start"] = [1]
        tree["env"]["B"] = "2"
        tree["new"] = None

    assert (
        edited(COMMENTED, "jsonc", change)
        == """\
// User settings
{
    // which model
    "model": "opus", // the big one
    /* hooks run
       on events */
    "hooks": {
        "Stop": [
            {
                "hooks": []
            }
        ], // none yet
        "Start": [
            1
        ],
        // "Start": []
    },
    "env": { "A": "1", "B": "2" }, // last, no comma
    "new": null
    // the end
}"""
    )


def test_commented_settings_lose_members() -> None:
    def change(tree: Any) -> None:
        del tree["model"], tree["env"]
        del tree["hooks"]["Stop"]

    assert (
        edited(COMMENTED, "jsonc", change)
        == """\
// User settings
{
    // which model
    /* hooks run
       on events */
    "hooks": {
        // "Start": []
    }
    // the end
}"""
    )


def test_key_order_of_the_tree_places_new_members() -> None:
    document = parse(b'{\n  "b": 1,\n  "d": 2\n}\n', "json")
    result = document.rewrite({"a": 0, "b": 1, "c": 0, "d": 2, "e": 0})
    assert result == b'{\n  "a": 0,\n  "b": 1,\n  "c": 0,\n  "d": 2,\n  "e": 0\n}\n'


def test_containers_become_and_stop_being_empty() -> None:
    assert edited("{}\n", "json", lambda t: t.update(a=[{}])) == '{\n  "a": [\n    {}\n  ]\n}\n'
    assert edited('{\n    "a": {},\n    "b": 1\n}', "json", lambda t: t["a"].update(x=1)) == (
        '{\n    "a": {\n        "x": 1\n    },\n    "b": 1\n}'
    )
    assert edited('{"a":{},"b":[1]}', "json", lambda t: t["a"].update(x=[1, 2])) == (
        '{"a":{"x":[1,2]},"b":[1]}'
    )
    assert edited('{\n  "a": [\n    1\n  ]\n}\n', "json", lambda t: t["a"].clear()) == ('{\n  "a": []\n}\n')


def test_duplicate_keys_change_in_the_last_and_go_together() -> None:
    text = '{"a": 1, "b": 2, "a": 3}'
    assert parse(text.encode(), "json").tree == {"a": 3, "b": 2}
    assert edited(text, "json", lambda t: t.update(a=4)) == '{"a": 1, "b": 2, "a": 4}'
    assert edited(text, "json", lambda t: t.pop("a")) == '{"b": 2}'
    assert parse(b'{"o": {"k": 1,\n "k": 2}}', "json").duplicates == [Duplicate(("o", "k"), 2, 2)]
    assert parse(b"o:\n  k: 1\n  k: 2\n", "yaml").duplicates == [Duplicate(("o", "k"), 3, 3)]
    assert parse(b"---\nk: 1\nk: 2\n---\n", "frontmatter").duplicates == [
        Duplicate(("frontmatter", "k"), 3, 1)
    ]


def test_an_item_in_the_middle_goes_and_its_neighbours_keep_their_bytes() -> None:
    text = '[\n  {"a":1}, // one\n  {"b" : 2}, // two\n  // above three\n  [ 3 ] // three\n]\n'
    assert edited(text, "jsonc", lambda t: t.pop(1)) == (
        '[\n  {"a":1}, // one\n  // above three\n  [ 3 ] // three\n]\n'
    )
    assert edited(text, "jsonc", lambda t: t.insert(1, 0)) == (
        '[\n  {"a":1}, // one\n  0,\n  {"b" : 2}, // two\n  // above three\n  [ 3 ] // three\n]\n'
    )


CODEX = """\
# Codex
model = "o3" # big

[[hooks.PreToolUse]]
matcher = "Bash"

[[hooks.PreToolUse.hooks]]
type = "command"
command = 'a' # quoted so

[[hooks.PreToolUse]]
matcher = "Edit"
hooks = [{ type = "command", command = "b" }]

# servers
[mcp.x]
args = ["-y"]
"""


def test_codex_config_gains_hooks() -> None:
    def change(tree: Any) -> None:
        groups = tree["hooks"]["PreToolUse"]
        groups[0]["hooks"].append({"type": "command", "command": "c"})
        groups[1]["hooks"][0]["timeout"] = 5
        groups.append({"matcher": "Write", "hooks": [{"type": "command"}]})
        tree["features"] = {"hooks": True}
        tree["sandbox"] = "none"

    assert (
        edited(CODEX, "toml", change)
        == """\
# Codex
model = "o3" # big
sandbox = "none"

[[hooks.PreToolUse]]
matcher = "Bash"

[[hooks.PreToolUse.hooks]]
type = "command"
command = 'a' # quoted so

[[hooks.PreToolUse.hooks]]
type = "command"
command = "c"

[[hooks.PreToolUse]]
matcher = "Edit"
hooks = [{ type = "command", command = "b", timeout = 5 }]

[[hooks.PreToolUse]]
matcher = "Write"

[[hooks.PreToolUse.hooks]]
type = "command"

# servers
[mcp.x]
args = ["-y"]

[features]
hooks = true
"""
    )


def test_codex_config_loses_hooks() -> None:
    head, second, servers = (
        CODEX.partition('[[hooks.PreToolUse]]\nmatcher = "Edit"')[0],
        *(CODEX[CODEX.index('[[hooks.PreToolUse]]\nmatcher = "Edit"') :].partition("# servers")[::2]),
    )
    top = head[: head.index("[[")]
    assert edited(CODEX, "toml", lambda t: t["hooks"]["PreToolUse"].pop(0)) == (
        top + second + "# servers" + servers
    )
    assert edited(CODEX, "toml", lambda t: t["hooks"]["PreToolUse"].pop(1)) == (head + "# servers" + servers)
    assert edited(CODEX, "toml", lambda t: t.pop("hooks")) == top + "# servers" + servers


def test_tables_that_were_added_at_the_end_of_a_toml_file_leave_no_line() -> None:
    before = '# mine\n[[hooks]]\ncommand = "a"\n'
    more = [{"command": "b"}, {"command": "c"}]
    after = edited(before, "toml", lambda t: t["hooks"].extend(more))
    assert edited(after, "toml", lambda t: t["hooks"].__delitem__(slice(1, 3))) == before


def test_toml_gains_what_its_tables_leave_open() -> None:
    assert edited("a.b = 1\n[t]\n", "toml", lambda t: t["a"].update(c={"d": 2})) == (
        "a.b = 1\na.c = { d = 2 }\n[t]\n"
    )
    assert edited("# top\n\n# t\n[t.u]\r\nx = 1", "toml", lambda t: (t.update(k=1), t["t"].update(v=2))) == (
        "# top\n\nk = 1\n\n[t]\nv = 2\n\n# t\n[t.u]\r\nx = 1"
    )


HOOK = """\
---
name: guard   # shown in lists
event: before_tool_execute
matcher:
  tool: [Bash, "Edit"]
handlers:
- command: ./a.sh
  # seconds
  timeout: 5
---
# Guard

on: this is body
"""


def test_hook_md_gains_and_loses_members() -> None:
    def change(tree: Any) -> None:
        metadata = tree["frontmatter"]
        metadata["matcher"]["tool"].append("Write")
        metadata["handlers"][0]["timeout"] = 10
        metadata["handlers"].append({"command": "./b.sh", "env": {"A": "yes"}})
        metadata["priority"] = 3
        del metadata["event"]

    assert (
        edited(HOOK, "frontmatter", change)
        == """\
---
name: guard   # shown in lists
matcher:
  tool: [Bash, "Edit", Write]
handlers:
- command: ./a.sh
  # seconds
  timeout: 10
- command: ./b.sh
  env:
    A: "yes"
priority: 3
---
# Guard

on: this is body
"""
    )
    assert edited(HOOK, "frontmatter", lambda t: t.update(body="new\n")) == (
        HOOK[: HOOK.index("# Guard")] + "new\n"
    )


# What YAML values mean, positions, dumps and refusals.


def test_yaml_keeps_to_the_core_schema() -> None:
    text = b"""\
on: yes
off: No
date: 2020-01-01
time: 12:30
null_: ~
empty:
yes_: True
int: 012
hex: 0x1F
oct: 0o17
under: 1_000
float: 1e3
inf: -.inf
quoted: "1"
tagged: !!str 1
merge: {<<: {a: 1}}
"""
    assert parse(text, "yaml").tree == {
        "on": "yes",
        "off": "No",
        "date": "2020-01-01",
        "time": "12:30",
        "null_": None,
        "empty": None,
        "yes_": True,
        "int": 12,
        "hex": 31,
        "oct": 15,
        "under": "1_000",
        "float": 1000.0,
        "inf": float("-inf"),
        "quoted": "1",
        "tagged": "1",
        "merge": {"<<": {"a": 1}},
    }


def test_an_alias_is_replaced_only_where_it_changes() -> None:
    text = "a: &x {b: 1} # anchor\nc: *x # alias\nd: 2 # last\n"
    assert edited(text, "yaml", lambda t: t["c"].update(b=2)) == (
        "a: &x {b: 1} # anchor\nc:\n  b: 2 # alias\nd: 2 # last\n"
    )


@pytest.mark.parametrize(
    ("kind", "text", "places"),
    [
        (
            "jsonc",
            '// c\n{\n  "a": [1, {"b": 2}],\r\n\t"é": 3}',
            {(): (2, 1), ("a",): (3, 8), ("a", 1, "b"): (3, 18), ("é",): (4, 7), ("no", 1): (2, 1)}
            | {("a", 1, "no"): (3, 12), ("a", 9): (3, 8), ("é", "x"): (4, 7)},
        ),
        (
            "toml",
            '# c\nk = 1\nd.e = [1, {f = 2}]\n[t]\n"x y" = 3\n[[u]]\n[[u]]\nv = 4\n',
            {(): (1, 1), ("k",): (2, 5), ("d",): (3, 1), ("d", "e", 1, "f"): (3, 16), ("t",): (4, 1)}
            | {("t", "x y"): (5, 9), ("u", 1): (7, 1), ("u", 1, "v"): (8, 5), ("t", "no"): (4, 1)},
        ),
        (
            "yaml",
            "# c\na:\n  - 1\n  - b: 2\nc: {d: 3}\n",
            {(): (2, 1), ("a",): (3, 3), ("a", 1, "b"): (4, 8), ("c", "d"): (5, 8), ("c", "x"): (5, 4)},
        ),
        (
            "frontmatter",
            "---\na: 1\nb:\n  c: 2\n---\nbody\n",
            {("frontmatter", "b", "c"): (4, 6), ("body",): (6, 1), ("frontmatter", "x"): (2, 1)},
        ),
        ("text", "a\nb", {(): (1, 1), ("x",): (1, 1)}),
    ],
)
def test_positions(kind: str, text: str, places: dict[Any, tuple[int, int]]) -> None:
    document = parse(text.encode(), kind)
    assert {path: document.position(path) for path in places} == places


def test_fresh_documents() -> None:
    tree = {"name": "é", "on": True, "n": 1.5, "list": ["yes", "a b"], "map": {"k v": []}, "e": {}}
    assert dump(tree, "json").decode() == json.dumps(tree, indent=2, ensure_ascii=False) + "\n"
    assert dump(tree, "yaml").decode() == (
        'name: "é"\n"on": true\n"n": 1.5\nlist:\n  - "yes"\n  - a b\nmap:\n  k v: []\ne: {}\n'
    )
    assert dump(tree, "toml").decode() == (
        'name = "é"\non = true\nn = 1.5\nlist = ["yes", "a b"]\n\n[map]\n"k v" = []\n\n[e]\n'
    )
    assert dump({"frontmatter": {"a": 1}, "body": "b\n"}, "frontmatter") == b"---\na: 1\n---\nb\n"
    assert dump("é\r\n", "text") == "é\r\n".encode()
    assert dump({"s": "\ud800"}, "json") == b'{\n  "s": "\\ud800"\n}\n'


@pytest.mark.parametrize(
    ("tree", "kind"),
    [
        (None, "toml"),
        ({"a": None}, "toml"),
        ({"a": "\ud800"}, "yaml"),
        ({"a": "\ud800"}, "toml"),
        (float("nan"), "json"),
        (1, "text"),
        ({"body": ""}, "frontmatter"),
        ({}, "xml"),
    ],
)
def test_a_tree_that_a_kind_cannot_hold_is_a_value_error(tree: Any, kind: str) -> None:
    with pytest.raises(ValueError, match=r"cannot represent|must be|hold|keys|root|unknown"):
        dump(tree, kind)


def test_lone_surrogates_survive_an_edit() -> None:
    assert edited('{"a": "\\uD800", "b": 1}', "json", lambda t: t.update(b="\udfff")) == (
        '{"a": "\\uD800", "b": "\\udfff"}'
    )


LAUGHS = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 12)
)


@pytest.mark.parametrize(
    ("kind", "data", "problem"),
    [
        ("json", '{"timeout": 5\n "x": 1}', (2, 2, "expected ',' or '}' after \"timeout\"")),
        ("json", "[1 2]", (1, 4, "expected ',' or ']' after item 1")),
        ("json", '{\n  "a": 1, // c\n}', (2, 11, "comments are not allowed in strict JSON")),
        ("json", '{\n  "a": 1,\n}', (2, 9, "a trailing comma is not allowed in strict JSON")),
        ("json", "[NaN]", (1, 2, "'NaN' is not a JSON value")),
        ("json", "{a: 1}", (1, 2, "expected a key in double quotes or '}'")),
        ("json", '{"a" 1}', (1, 6, "expected ':' after \"a\"")),
        ("json", '{"a": }', (1, 7, 'expected a value for "a"')),
        ("json", '["a\nb"]', (1, 2, "this string has no closing quote")),
        ("json", '"\\x"', (1, 2, "'\\x' is not a valid escape in a string")),
        ("json", "{}\n{}", (2, 1, "unexpected text after the end of the document")),
        ("json", "", (1, 1, "the file is empty, expected a value")),
        ("json", '"\x00"', (1, 2, "control character U+0000 must be escaped in a string")),
        ("json", "9" * 5000, (1, 1, "a number has too many digits")),
        ("json", "[" * 100_000, (1, 101, "nested too deeply (more than 100 levels)")),
        ("json", "[" * 101 + "]" * 101, (1, 101, "nested too deeply (more than 100 levels)")),
        ("json", b'{"a":\n "\xff"}', (2, 3, "byte 0xff is not valid UTF-8")),
        ("jsonc", "[,]", (1, 2, "expected a value or ']'")),
        ("jsonc", "[1,,]", (1, 4, "expected a value or ']'")),
        ("jsonc", "{} /* x", (1, 4, "this comment has no closing '*/'")),
        ("jsonc", "[" * 100_000, (1, 101, "nested too deeply (more than 100 levels)")),
        ("toml", "a = 1\nb = \n", (2, 5, "invalid value")),
        ("toml", "a = " + "[" * 100_000, (1, 1, "nested too deeply (more than 100 levels)")),
        ("toml", "a." * 50_000 + "a = 1", (1, 1, "nested too deeply (more than 100 levels)")),
        ("toml", "a = 0x" + "f" * 9000, (1, 1, "a number has too many digits")),
        ("toml", b"a = '\xc3'", (1, 6, "byte 0xc3 is not valid UTF-8")),
        ("yaml", "1: a", (1, 1, "the key 1 is not a string; put it in quotes")),
        ("yaml", "? [a]\n: b", (1, 3, "a key must be a string")),
        ("yaml", "a: 1\n---\nb: 2\n", (2, 1, "expected one YAML document, found a second")),
        (
            "yaml",
            "a: !!python/name:os.system x",
            (1, 4, "tag 'tag:yaml.org,2002:python/name:os.system' is not supported"),
        ),
        ("yaml", "a: &a [*a]", (1, 8, "alias 'a' contains itself")),
        ("yaml", "a: *b", (1, 4, "undefined alias 'b'")),
        ("yaml", "a: \x00", (1, 4, "character U+0000 is not allowed in YAML")),
        ("yaml", "[" * 100_000, (1, 101, "nested too deeply (more than 100 levels)")),
        ("yaml", "- " * 100_000, (1, 201, "nested too deeply (more than 100 levels)")),
        ("yaml", LAUGHS, (6, 25, "aliases make this document too large")),
        ("frontmatter", "# x\n", (1, 1, "expected frontmatter: the first line must be '---'")),
        ("frontmatter", "---\na: 1\n", (1, 1, "the frontmatter has no closing '---' line")),
        ("frontmatter", "---\n- a\n---\n", (2, 1, "the frontmatter must be a mapping of keys to values")),
        ("frontmatter", "---\na: 1\n2: b\n---\n", (3, 1, "the key 2 is not a string; put it in quotes")),
        ("text", b"a\n\x80", (2, 1, "byte 0x80 is not valid UTF-8")),
    ],
)
def test_refusals_name_the_place(kind: str, data: bytes | str, problem: tuple[int, int, str]) -> None:
    assert refused(data, kind) == problem


def test_yaml_errors_carry_the_parsers_place() -> None:
    line, column, message = refused("a: 1\nb: [1\nc: 2\n", "yaml")
    assert ((line, column), "flow sequence" in message) == ((3, 2), True)


def test_a_large_file_changes_in_two_places_only() -> None:
    groups: Any = [
        {"matcher": f"m{n}", "hooks": [{"type": "command", "command": "x" * 60, "timeout": n}]}
        for n in range(22_000)
    ]
    text = json.dumps({"hooks": {"PreToolUse": groups}}, indent=2)
    assert len(text) > 5_000_000
    result = edited(
        text,
        "json",
        lambda t: (
            t["hooks"]["PreToolUse"][7]["hooks"][0].update(timeout=-1),
            t["hooks"]["PreToolUse"].pop(20_000),
        ),
    )
    groups[7]["hooks"][0]["timeout"] = -1
    del groups[20_000]
    assert result == json.dumps({"hooks": {"PreToolUse": groups}}, indent=2)


def test_thousands_of_changed_items_are_matched_forward() -> None:
    old = [{"n": n} for n in range(3000)]
    new = [{"n": -1}, *old[5:1500], {"n": -2}, *old[1500:2990]]
    text = json.dumps(old, indent=2).replace('{\n    "n"', '{ // c\n    "n"')
    result = parse(text.encode(), "jsonc").rewrite(new)
    assert parse(result, "jsonc").tree == new
    assert result.count(b"// c") >= len(new) - 2


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("settings.json", "json"),
        ("C:\\x\\a.JSONC", "jsonc"),
        ("a/b.toml", "toml"),
        ("x.yml", "yaml"),
        ("x.yaml", "yaml"),
        ("d/HOOK.md", "frontmatter"),
        ("README.md", "frontmatter"),
        (".claude.json", "json"),
        ("Makefile", "text"),
        ("a.json/b", "text"),
        ("x.py", "text"),
    ],
)
def test_kind_of_a_file_name(path: str, kind: str) -> None:
    assert detect_kind(path) == kind


def test_importing_formats_is_light() -> None:
    heavy = "{'dataclasses', 'inspect', 'yaml', 'tomllib', 'tomlkit', 'difflib', 'datetime'}"
    code = f"import sys, hookport.documents; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
