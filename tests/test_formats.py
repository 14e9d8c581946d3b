"""Text and tree: what is read, what a rewrite leaves alone, and what is refused."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hookport.formats import KINDS, SyntaxProblem, dump, parse
from hookport.formats._document import same

BOM = b"\xef\xbb\xbf"


def edited(text: str, kind: str, change: Any) -> str:
    document = parse(text.encode(), kind)
    tree = copy.deepcopy(document.tree)
    change(tree)
    result = document.rewrite(tree)
    assert same(parse(result, kind).tree, tree)
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
        ["true", "null", "~", "12:30", "2020-01-01", "- a", "a: b", "a #b", "// c", "/* c */"]
        + ["---", "...", "|", "&a", "*a", "!t", "{", "]", "a,b", "\u2028x", "\x85", "\x7f", "0x1f"]
        + [" lead", "trail ", "two\nlines\n", "tab\t", "'", '"', "\\", "\ufeff", "😀", "1e3", ".5"]
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
    if isinstance(tree, dict):
        changed = {}
        for key, value in tree.items():
            action = draw(st.integers(0, 9))
            if action == 0:
                continue
            changed[key] = draw(edits(value, fresh)) if action < 4 else value
            if action == 9:
                changed[draw(KEYS)] = draw(fresh)
        if draw(st.integers(0, 3)) == 0:
            changed = {draw(KEYS): draw(fresh), **changed}
        return changed
    if isinstance(tree, list):
        items = []
        for value in tree:
            action = draw(st.integers(0, 9))
            if action == 0:
                continue
            if action == 9:
                items.append(draw(fresh))
            items.append(draw(edits(value, fresh)) if action < 4 else value)
        if draw(st.integers(0, 3)) == 0:
            items.append(draw(fresh))
        return items
    return draw(fresh) if draw(st.booleans()) else tree


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


@st.composite
def yaml_texts(draw: Any, tree: Any) -> str:
    """The tree as YAML, in block and flow style, with random comments and indentation."""
    newline = draw(st.sampled_from(["\n", "\n", "\r\n"]))
    unit = draw(st.sampled_from([2, 4]))

    def note() -> str:
        return draw(st.sampled_from(["", "", "", "  # note", " # a: b"]))

    def above(indent: int) -> str:
        margin = " " * indent
        return draw(st.sampled_from(["", "", "", newline, f"{margin}# own line{newline}"]))

    def block(value: Any, indent: int) -> str:
        """Lines for a value that starts on a line of its own."""
        margin = " " * indent
        lines = ""
        if isinstance(value, dict):
            for key, item in value.items():
                lines += (
                    above(indent)
                    + margin
                    + dump(key, "yaml").decode().strip()
                    + ":"
                    + after(item, indent + unit)
                )
        else:
            for item in value:
                lines += above(indent) + margin + "-" + after(item, indent + 2)
        return lines

    def after(value: Any, indent: int) -> str:
        if isinstance(value, (dict, list)) and value and draw(st.integers(0, 3)):
            return note() + newline + block(value, indent)
        if value is None and draw(st.booleans()):
            return note() + newline
        return (
            " " + dump(value, "yaml").decode().strip() + note() + newline
            if not isinstance(value, (dict, list))
            else " " + flow(value) + note() + newline
        )

    def flow(value: Any) -> str:
        if isinstance(value, dict):
            parts = [dump(k, "yaml").decode().strip() + ": " + flow(v) for k, v in value.items()]
            return "{" + draw(st.sampled_from([", ", ","])).join(parts) + "}"
        if isinstance(value, list):
            return "[" + ", ".join(map(flow, value)) + draw(st.sampled_from(["", " "])) + "]"
        return dump(value, "yaml").decode().strip()

    text = block(tree, 0) if isinstance(tree, (dict, list)) and tree else flow(tree) + newline
    if draw(st.booleans()):
        text = "---" + newline + text
    if draw(st.booleans()):
        text = text.removesuffix(newline)
    return text


# Laws.


@settings(max_examples=400, deadline=None)
@given(st.data())
def test_jsonc_rewrite_reads_back(data: Any) -> None:
    tree = data.draw(JSON_TREES)
    kind = data.draw(st.sampled_from(["json", "jsonc"]))
    text = data.draw(jsonc_texts(tree, comments=kind == "jsonc"))
    document = parse(text.encode(), kind)
    assert same(document.tree, tree)
    assert document.rewrite(copy.deepcopy(tree)) == text.encode()
    new = data.draw(edits(tree, JSON_TREES))
    assert same(parse(document.rewrite(new), kind).tree, new)


@settings(max_examples=400, deadline=None)
@given(st.data())
def test_yaml_rewrite_reads_back(data: Any) -> None:
    tree = data.draw(JSON_TREES)
    text = data.draw(yaml_texts(tree))
    document = parse(text.encode(), "yaml")
    assert same(document.tree, tree)
    assert document.rewrite(copy.deepcopy(tree)) == text.encode()
    new = data.draw(edits(tree, JSON_TREES))
    assert same(parse(document.rewrite(new), "yaml").tree, new)


@settings(max_examples=400, deadline=None)
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
    assert same(document.tree, tree)
    assert document.rewrite(copy.deepcopy(tree)) == text.encode()
    fresh = trees(st.one_of(st.booleans(), NUMBERS, STRINGS))
    new = data.draw(edits(tree, fresh))
    assert same(parse(document.rewrite(new), "toml").tree, new)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_frontmatter_rewrite_reads_back(data: Any) -> None:
    mappings = st.dictionaries(KEYS, JSON_TREES, max_size=4)
    tree = {"frontmatter": data.draw(mappings), "body": data.draw(st.text(max_size=20))}
    document = parse(dump(tree, "frontmatter"), "frontmatter")
    assert same(document.tree, tree)
    assert document.rewrite(copy.deepcopy(tree)) == document.data
    new = {
        "frontmatter": data.draw(edits(tree["frontmatter"], JSON_TREES)),
        "body": data.draw(st.text(max_size=20)),
    }
    assert same(parse(document.rewrite(new), "frontmatter").tree, new)


@settings(max_examples=200, deadline=None)
@given(JSON_TREES)
def test_json_and_yaml_dumps_read_back(tree: Any) -> None:
    for kind in ("json", "jsonc", "yaml"):
        assert same(parse(dump(tree, kind), kind).tree, tree)


@settings(max_examples=200, deadline=None)
@given(TOML_TREES)
def test_toml_dump_reads_back(tree: Any) -> None:
    assert same(parse(dump(tree, "toml"), "toml").tree, tree)


SNIPPETS = st.lists(
    st.sampled_from(
        [b"{", b"}", b"[", b"]", b",", b":", b'"', b"'", b"\\", b"//", b"/*", b"*/", b"#", b"\n"]
        + [b"\r", b" ", b"- ", b"? ", b"&a ", b"*a ", b"!t ", b"|", b">", b"---\n", b"a", b"1", b"="]
        + [b"[[a]]", b"\x00", b"\xff", BOM, b"true", b"1e999", b"<<: ", b"\t", b"%YAML 1.1\n", b'"""']
        + [b"\\ud800", b"\xc2\x85", b"0x", b"..", b"a = ", b"2020-01-01", b"0" * 30]
    ),
    max_size=20,
).map(b"".join)


@settings(max_examples=1000, deadline=None)
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


@settings(max_examples=200, deadline=None)
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


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_added_then_removed_is_the_original(data: Any) -> None:
    tree = data.draw(st.dictionaries(KEYS.filter(lambda k: k != "new"), JSON_TREES, min_size=1))
    for kind in ("json", "jsonc", "yaml"):
        original = dump(tree, kind)
        added = parse(original, kind).rewrite({**tree, "new": {"hooks": [{"a": 1}]}})
        assert parse(added, kind).rewrite(tree) == original
