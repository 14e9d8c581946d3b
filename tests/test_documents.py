"""Documents: an edit changes its own bytes only, damage is refused with a place, and two readers agree."""

from __future__ import annotations

import copy
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hookport.documents import (
    Document,
    Duplicate,
    SyntaxProblem,
    align,
    detect_kind,
    dump,
    is_same_tree,
    parse,
)
from hookport.documents._document import BOM, MAX_DEPTH, find_out_of_bounds
from hookport.documents._yaml import YamlSource
from hookport.documents._yaml_plain import parse_plain

QUICK = settings(max_examples=60, deadline=None)


class Leaf(NamedTuple):
    """A value as a text spells it, with the place of that spelling in the text."""

    path: tuple[str | int, ...]
    start: int
    end: int


class Layout:
    """A text that is put together piece by piece; every end of a line is `newline`."""

    def __init__(self, newline: str) -> None:
        self.newline, self.text, self.leaves = newline, "", list[Leaf]()

    def add(self, text: str) -> None:
        self.text += text.replace("\n", self.newline)

    def add_leaf(self, path: tuple[str | int, ...], literal: str) -> None:
        start = len(self.text)
        self.add(literal)
        self.leaves.append(Leaf(path, start, len(self.text)))


NEWLINES = st.sampled_from(["\n", "\r\n"])
TRIVIA = st.sampled_from(["", "\n", "# own line\n", "  # indented é\n\n"])
ENDS = st.sampled_from(["\n", "  # note = [1\n", "\t# 'x\n"])
TOML_LITERALS = st.sampled_from(
    [
        "1",
        "0x1f",
        "1_000",
        "1.5e3",
        "true",
        "'C:\\x'",
        '"a\\"b # c"',
        "1979-05-27 07:32:00Z",
        '"""\n  two\nlines"""',
        "'''\n# no comment\n'''",
        "inf",
        "07:32:00",
        '"é😀"',
    ]
)


@st.composite
def toml_layouts(draw: st.DrawFn) -> Layout:
    """Statements, tables, lists of tables, inline tables and arrays, with comments anywhere."""
    layout = Layout(draw(NEWLINES))

    def add_value(path: tuple[str | int, ...]) -> None:
        form = draw(st.sampled_from(["plain", "plain", "array", "inline"]))
        literals = draw(st.lists(TOML_LITERALS, min_size=2, max_size=2))
        if form == "plain":
            layout.add_leaf(path, literals[0])
        elif form == "array":
            layout.add("[ # first\n  ")
            layout.add_leaf((*path, 0), literals[0])
            layout.add(" ,\n\t")
            layout.add_leaf((*path, 1), literals[1])
            layout.add(draw(st.sampled_from(["]", ",\n]", " # last\n  ]"])))
        else:
            layout.add('{ "x y"= ')
            layout.add_leaf((*path, "x y"), literals[0])
            layout.add(",w =")
            layout.add_leaf((*path, "w"), literals[1])
            layout.add("}")

    def add_statements(path: tuple[str | int, ...]) -> None:
        for key, spelled in draw(st.sampled_from(STATEMENTS)):
            layout.add(draw(TRIVIA) + draw(st.sampled_from(["", "  ", "\t"])) + spelled)
            add_value((*path, *key))
            layout.add(draw(ENDS))

    add_statements(())
    for path, header in draw(st.sampled_from(HEADERS)):
        layout.add(draw(TRIVIA) + header + draw(ENDS))
        add_statements(path)
    return layout


STATEMENTS: list[list[tuple[tuple[str, ...], str]]] = [
    [(("a",), "a = ")],
    [(("a",), "a="), (("b", "c"), "b . c   =  "), (("b", "d"), "b.'d' = ")],
    [(('q"',), "'q\"' = "), (("é",), '"\\u00e9" = ')],
]
HEADERS: list[list[tuple[tuple[str | int, ...], str]]] = [
    [],
    [(("t",), "[t]"), (("t", "u", "v"), "[ t . u . v ]")],
    [(("p", 0), "[[p]]"), (("p", 0, "s"), "[p.s]"), (("p", 1), "[[ p ]]"), (("p", 1, "n", 0), "[[p.n]]")],
]
YAML_LITERALS = st.sampled_from(
    [
        "1",
        "yes",
        "'it''s # no'",
        '"a\\tb: c"',
        "~",
        "null",
        "1.50",
        "plain words",
        "0o17",
        "2020-01-01",
        "'é'",
    ]
)


@st.composite
def frontmatter_layouts(draw: st.DrawFn) -> Layout:
    """Block and flow YAML with comments between `---` lines, and a body that looks like more of it."""
    layout = Layout(draw(NEWLINES))
    layout.add(draw(st.sampled_from(["---\n", "--- \t\n"])))
    for key in ("name", "on_event"):
        layout.add(draw(TRIVIA) + f"{key}:  ")
        layout.add_leaf(("frontmatter", key), draw(YAML_LITERALS))
        layout.add(draw(st.sampled_from(["\n", "   # note: [1\n"])))
    unit = draw(st.sampled_from(["", "  ", "    "]))
    layout.add("list:\n")
    for number in range(draw(st.integers(1, 3))):
        layout.add(f"{unit}-   k: ")
        layout.add_leaf(("frontmatter", "list", number, "k"), draw(YAML_LITERALS))
        layout.add(f"\n{unit}    # between\n{unit}    flow: [ ")
        layout.add_leaf(("frontmatter", "list", number, "flow", 0), draw(YAML_LITERALS))
        layout.add(" , {x: ")
        layout.add_leaf(("frontmatter", "list", number, "flow", 1, "x"), draw(YAML_LITERALS))
        layout.add("} ]\n")
    layout.add(draw(st.sampled_from(["---\n", "---", "---\n\n# Body\n---\nname: x\n", "---  \n\ttabs\n"])))
    return layout


def put(tree: Any, path: tuple[str | int, ...], value: Any) -> Any:
    changed = copy.deepcopy(tree)
    inner = changed
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value
    return changed


def find_place(text: str, offset: int) -> tuple[int, int]:
    lines = text[:offset].replace("\r\n", "\n").split("\n")
    return len(lines), len(lines[-1]) + 1


@pytest.mark.parametrize(
    ("kind", "layouts", "spelled"),
    [("toml", toml_layouts(), '"changed"'), ("frontmatter", frontmatter_layouts(), "changed")],
)
@QUICK
@given(data=st.data(), bom=st.sampled_from([b"", BOM]))
def test_a_changed_value_is_the_only_change(
    kind: str, layouts: st.SearchStrategy[Layout], spelled: str, data: st.DataObject, bom: bytes
) -> None:
    layout = data.draw(layouts)
    text = layout.text
    document = parse(bom + text.encode(), kind)
    assert document.rewrite(copy.deepcopy(document.tree)) == bom + text.encode()
    assert {leaf.path: document.position(leaf.path) for leaf in layout.leaves} == {
        leaf.path: find_place(text, leaf.start) for leaf in layout.leaves
    }
    leaf = data.draw(st.sampled_from(layout.leaves))
    result = document.rewrite(put(document.tree, leaf.path, "changed"))
    assert result == bom + (text[: leaf.start] + spelled + text[leaf.end :]).encode()


DAMAGED = {
    "json": '{"hooks": {"Stop": [{"command": "a\\n\\u00e9", "timeout": 1.5e3}], "x": [true, null, {}]}}\n',
    "jsonc": '// a\r\n{\r\n  "hooks": [1, /* two */ {"b": "//c"},], // d\r\n}\r\n',
    "toml": "# c\na = \"x\"\n[[hooks.Stop]]\n  cmd = 'y' # z\n"
    '  l = [1, {k = """m\nn"""},]\n[t.u]\nd = 1979-05-27\n',
    "yaml": '# c\nhooks:\n  - &n name: "a\\tb"\n    when: [x, {y: z}]\n'
    "    run: |-\n      two\n      lines\n  - *n\n",
    "frontmatter": '---\nname: "\\.py$"\non: [a, b]\n---\n\n# Body\n',
}


def try_parse(data: bytes, kind: str) -> Document | SyntaxProblem:
    try:
        return parse(data, kind)
    except SyntaxProblem as problem:
        return problem


@pytest.mark.parametrize("kind", DAMAGED)
@QUICK
@given(data=st.data())
def test_a_damaged_file_is_still_a_document_or_is_refused_at_a_place_in_it(
    kind: str, data: st.DataObject
) -> None:
    text = DAMAGED[kind]
    at, cut = data.draw(st.integers(0, len(text))), data.draw(st.integers(0, 3))
    put_in = data.draw(
        st.sampled_from(["", *"{}[]\"',:#\\-=&*|\n\r\t 0a\0é", "\n\n", '"""', "---\n", "\ufeff"])
    )
    damaged = (text[:at] + put_in + text[at + cut :]).encode()
    document = try_parse(damaged, kind)
    if isinstance(document, SyntaxProblem):
        lines = damaged.decode().replace("\r\n", "\n").replace("\r", "\n").split("\n")
        assert 1 <= document.line <= len(lines) + 1
        assert document.column >= 1
        assert document.message
        return
    assert document.rewrite(copy.deepcopy(document.tree)) == damaged
    inner = document.tree["frontmatter"] if kind == "frontmatter" else document.tree
    if isinstance(inner, dict) and "new" not in inner:
        path = ("frontmatter", "new") if kind == "frontmatter" else ("new",)
        wanted = put(document.tree, path, [1])
        assert is_same_tree(parse(document.rewrite(wanted), kind).tree, wanted)


REPAIRED = '---\nname: x\npattern: { a: "\\.\\.\\.py", b: 1 }  # "\\."\nname: y\nlast: 2\n---\nbody\n'


def test_places_after_escapes_that_yaml_does_not_know_are_those_of_the_file() -> None:
    document = parse(REPAIRED.encode(), "frontmatter")
    tree = {"name": "y", "pattern": {"a": "\\.\\.\\.py", "b": 1}, "last": 2}
    assert document.tree == {"frontmatter": tree, "body": "body\n"}
    assert document.repairs == [(3, 16), (3, 18), (3, 20)]
    assert document.duplicates == [Duplicate(("frontmatter", "name"), 4, 1)]
    paths: list[tuple[str, ...]] = [("pattern",), ("pattern", "a"), ("pattern", "b"), ("last",)]
    assert [document.position(("frontmatter", *path)) for path in paths] == [
        (3, 10),
        (3, 15),
        (3, 30),
        (5, 7),
    ]
    assert document.position(("body",)) == (7, 1)


def test_an_edit_of_the_body_leaves_escapes_that_yaml_does_not_know() -> None:
    document = parse(REPAIRED.encode(), "frontmatter")
    changed = document.rewrite({**document.tree, "body": "other\n"})
    assert changed == REPAIRED.replace("body", "other").encode()


def test_an_error_after_such_an_escape_has_its_own_column() -> None:
    with pytest.raises(SyntaxProblem) as right:
        parse(b'---\na: {b: "xyxyxy", c: ]}\n---\n', "frontmatter")
    with pytest.raises(SyntaxProblem) as repaired:
        parse(b'---\na: {b: "\\.\\.\\.", c: ]}\n---\n', "frontmatter")
    assert str(repaired.value) == str(right.value)


PLAIN_LINES = st.sampled_from(
    [
        "a: 1",
        "a:",
        "b: true",
        "  c: x y",
        "  d:",
        "    e: -0",
        "    e: 007",
        'f: "q\\n"',
        "f: 'q'",
        "g: null",
        "  c: No",
        "h: a: b",
        "i: x #y",
        "i: x#y",
        "on: 1",
        "j: ~",
        'k: ""',
        "l: 1.0",
        "m: 12:30",
        "n: =",
        "o: <<",
        "y: 1",
        "true: 1",
        "p:  two",
        "q: end ",
        "r: 2020-01-01",
        "s: a-b/c.d",
        's: "a" b',
        "t: 0x1",
        "",
        "u: -",
        "    v: 1",
        " w: 1",
        "x: 999999999999999",
        "x: 9999999999999999",
        's: "\\u0041"',
        "z: [1]",
        "z: !t a",
    ]
)


@settings(max_examples=150, deadline=None)
@given(st.lists(PLAIN_LINES, min_size=1, max_size=5).map(lambda lines: "\n".join(lines) + "\n"))
def test_what_the_plain_reader_reads_the_full_one_reads_alike(text: str) -> None:
    plain = parse_plain(text)
    source = YamlSource(text) if plain is not None else None
    assert source is None or (source.root is not None and is_same_tree(source.root.tree(), plain))


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        (
            "a: 1\nb:\n  c: x y\n  d:\n    e: true\nf: null\n",
            {"a": 1, "b": {"c": "x y", "d": {"e": True}}, "f": None},
        ),
        ('a: "q\\n"\n', {"a": "q\n"}),
        ("a:\n", None),
        ("a:\nb: 1\n", None),
        ("a: 1\na: 2\n", None),
        ("a: é\n", None),
        ("a: 'x'\n", None),
        ("on: 1\n", None),
        ('a: "\\x41"\n', None),
        ("a:\n  b: 1\n c: 2\n", None),
    ],
)
def test_the_plain_reader_leaves_what_is_not_sure(text: str, tree: Any) -> None:
    assert parse_plain(text) == tree


ITEMS = st.lists(
    st.one_of(st.integers(0, 3), st.dictionaries(st.sampled_from("abc"), st.integers(0, 2))), max_size=6
)


@QUICK
@given(ITEMS, ITEMS)
def test_an_alignment_has_every_item_once_and_in_order(old: list[Any], new: list[Any]) -> None:
    pairs = align(old, new)
    assert [i for i, _ in pairs if i is not None] == list(range(len(old)))
    assert [j for _, j in pairs if j is not None] == list(range(len(new)))
    assert (None, None) not in pairs


@QUICK
@given(ITEMS, st.integers(0, 6), st.integers(0, 6))
def test_what_is_only_cut_out_of_a_list_keeps_the_other_items(old: list[Any], start: int, count: int) -> None:
    new = old[:start] + old[start + count :]
    kept = [(old[i], new[j]) for i, j in align(old, new) if i is not None and j is not None]
    assert kept == [(item, item) for item in new]


@pytest.mark.parametrize(
    ("old", "new", "pairs"),
    [
        ([1, 2, 3], [1, 3], [(0, 0), (1, None), (2, 1)]),
        ([1, 3], [1, 2, 3], [(0, 0), (None, 1), (1, 2)]),
        ([{"a": 1, "b": 1}, {"c": 1}], [{"a": 1, "b": 2}], [(0, 0), (1, None)]),
        ([{"c": 1}, {"a": 1, "b": 1}], [{"a": 1, "b": 2}], [(0, None), (1, 0)]),
        ([1], [True], [(0, 0)]),
        ([], [1], [(None, 0)]),
    ],
)
def test_which_items_are_the_same(old: list[Any], new: list[Any], pairs: list[tuple[Any, Any]]) -> None:
    assert align(old, new) == pairs


def test_a_tree_is_bounded() -> None:
    deep: Any = 1
    for _ in range(MAX_DEPTH):
        deep = [deep]
    assert find_out_of_bounds(deep) is None
    assert find_out_of_bounds({"a": deep}) == f"nested too deeply (more than {MAX_DEPTH} levels)"
    assert find_out_of_bounds([1 << 14_000]) == "a number has too many digits"
    for kind in ("json", "toml", "yaml"):
        with pytest.raises(ValueError, match="cannot write this tree: nested too deeply"):
            dump({"a": deep}, kind)


def test_a_kind_that_is_not_known_is_refused_with_those_that_are() -> None:
    known = "unknown kind 'ini'. Known kinds: json, jsonc, toml, yaml, frontmatter, text."
    with pytest.raises(ValueError, match=known):
        parse(b"", "ini")
    assert detect_kind("a.ini") == detect_kind(".json") == "text"
