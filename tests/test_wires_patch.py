"""The patch text: read as the agents read it, no path missed, written back to the same parts."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookport.agents import get_wire
from hookport.model.runs import Call
from hookport.wire.events import read_event
from hookport.wire.patch import read_parts, render
from hookport.wire.rewrites import rewrite_part
from tests import agent_data

Tree = Any


def edit(path: str, *edits: Tree, **more: Tree) -> Tree:
    first = edits[0] if edits else {"old": "", "new": ""}
    found = {
        "tool": "file_edit",
        "path": path,
        "edits": list(edits),
        "old": first["old"],
        "new": first["new"],
    }
    return {**found, **more}


def write(path: str, content: str) -> Tree:
    return {"tool": "file_write", "path": path, "content": content}


def delete(path: str) -> Tree:
    return {"tool": "file_edit", "path": path, "deleted": True}


@pytest.mark.parametrize(
    ("name", "keys", "content"),
    [
        ("codex/PreToolUse.apply_patch.json", ("tool_input", "command"), "one\ntwo\n"),
        ("copilot-cli/preToolUse.apply_patch.json", ("toolArgs",), "one\n"),
        ("copilot-cli/postToolUse.apply_patch.json", ("toolArgs",), "one\n"),
    ],
)
def test_captured_patches(name: str, keys: tuple[str, ...], content: str) -> None:
    text = json.loads(agent_data.payload(name).read_bytes())
    for key in keys:
        text = text[key]
    found = read_parts(text)
    assert found == [write("new.txt", content)]
    assert render(found) == text


WHOLE = """\
*** Begin Patch
*** Add File: docs/new file.md
+# Title
+
+*** Update File: not/a/header
*** Update File: src/a.py
*** Move to: src/b.py
@@ class A:
@@     def f(self):
     first
-    pass
+    return 1
     last
@@
-gone
*** End of File
*** Delete File: old.txt
*** Update File: c.py
@@
+added
*** End Patch
"""


def test_everything_the_grammar_has() -> None:
    found = read_parts(WHOLE)
    assert found == [
        write("docs/new file.md", "# Title\n\n*** Update File: not/a/header\n"),
        edit(
            "src/a.py",
            {
                "old": "    first\n    pass\n    last\n",
                "new": "    first\n    return 1\n    last\n",
                "context": "class A:\n    def f(self):",
            },
            {"old": "gone\n", "new": "", "end_of_file": True},
            moved_to="src/b.py",
        ),
        delete("old.txt"),
        edit("c.py", {"old": "", "new": "added\n"}),
    ]
    assert render(found) == WHOLE


@pytest.mark.parametrize(
    "text",
    [
        "\n\n  *** Begin Patch  \n  *** Add File: a.txt  \n+x\n  *** End Patch  \n\n",
        "*** Begin Patch\r\n*** Add File: a.txt\r\n+x\r\n*** End Patch\r\n",
        "*** Begin Patch\n*** Add File: a.txt\n+x\n",
        "*** Begin Patch\n*** Add File:a.txt\n+x\n*** End Patch",
        "***Begin Patch\n***Add File: a.txt\n+x\n***End Patch",
        "*** Add File: a.txt\n+x",
        "*** Begin Patch\n*** Environment ID: remote\n*** Add File: a.txt\n+x\n*** End Patch",
        "<<'EOF'\n*** Begin Patch\n*** Add File: a.txt\n+x\n*** End Patch\nEOF",
        "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: a.txt\n+x\n*** End Patch\nEOF\n",
        "apply_patch <<PATCH\n*** Begin Patch\n*** Add File: a.txt\n+x\nPATCH\n",
        "apply_patch '*** Begin Patch\n*** Add File: a.txt\n+x\n*** End Patch'",
        "*** Begin Patch\n*** Create File: a.txt\n+x\n*** End of File\n*** End Patch",
        "*** Begin Patch\n*** Add File: a.txt\nx\n*** End Patch",
    ],
)
def test_what_agents_let_pass_is_read(text: str) -> None:
    assert read_parts(text) == [write("a.txt", "x\n")]


@pytest.mark.parametrize(
    "hunk",
    [
        "-x\n+y",
        "@@\n-x\n+y",
        "\n@@\n-x\n+y",
        "@@\n-x\n+y\n *** End Patch",
        "@@\r\n-x\r\n+y\r\n",
    ],
)
def test_a_hunk_in_loose_form(hunk: str) -> None:
    text = f"*** Begin Patch\n*** Update File: a.py\n{hunk}"
    assert read_parts(text) == [edit("a.py", {"old": "x\n", "new": "y\n"})]


def test_lines_without_a_mark_are_context() -> None:
    text = "*** Begin Patch\n*** Update File: a.py\n@@\n\nbare\n-x\n*** End Patch"
    assert read_parts(text) == [edit("a.py", {"old": "\nbare\nx\n", "new": "\nbare\n"})]


def test_an_indented_marker_inside_a_hunk_is_a_line_of_the_file() -> None:
    text = (
        "*** Begin Patch\n*** Update File: doc.md\n@@\n *** Add File: shown.txt\n *** End Patch\n-x\n+y\n"
        "*** End Patch\n"
    )
    kept = "*** Add File: shown.txt\n*** End Patch\n"
    assert read_parts(text) == [edit("doc.md", {"old": f"{kept}x\n", "new": f"{kept}y\n"})]


@pytest.mark.parametrize("folder", ["sub/dir", "'sub/dir'", '"sub/dir"'])
def test_a_patch_is_applied_where_the_shell_went(folder: str) -> None:
    patch = "*** Begin Patch\n*** Delete File: a\n*** Update File: b\n*** Move to: /abs/c\n*** End Patch"
    text = f"cd {folder} && apply_patch <<'EOF'\n{patch}\nEOF\n"
    assert read_parts(text) == [delete("sub/dir/a"), edit("sub/dir/b", moved_to="/abs/c")]


def test_a_folder_that_is_only_printed_changes_no_path() -> None:
    text = "echo cd sub && apply_patch <<'EOF'\n*** Begin Patch\n*** Delete File: a\n*** End Patch\nEOF"
    assert read_parts(text) == [delete("a")]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("*** Delete File: a\ngarbage\n*** Move to: b\n*** Move to: c", ["a", "b", "c"]),
        ("*** Update File: a\n*** Move to: b\n*** Move to: c", ["a", "b", "c"]),
        ("*** Update File: a\n@@ @@\n@@\n\t*** Delete File: b", ["a", "b"]),
        ("*** Add File: a\n  *** Delete File: b\n", ["a", "b"]),
        ("*** Move File: a -> b", ["a", "b"]),
        ("*** Rename File: a", ["a"]),
        ("*** Update File: a -> b", ["a -> b"]),
        ("*** End Patch\n*** Begin Patch\n*** update  file : a", ["a"]),
        ("*** End Patch\n*** Delete File: a", ["a"]),
        ("*** Add File:", [""]),
    ],
)
def test_a_path_is_found_in_a_broken_patch(body: str, expected: list[str]) -> None:
    assert paths(read_parts(f"*** Begin Patch\n{body}\n*** End Patch")) == expected


def test_a_patch_of_nothing_and_no_patch() -> None:
    assert read_parts("*** Begin Patch\n*** End Patch") == []
    assert read_parts("diff --git a/x b/x\n--- a/x\n+++ b/x\n") is None
    assert read_parts("") is None


@pytest.mark.parametrize("edits", [5, ["x"], [[{}]]])
def test_edits_that_are_none_are_written_from_the_part_s_own_text(edits: object) -> None:
    part = {"tool": "file_edit", "path": "a", "old": "1\n", "new": "2\n"}
    assert render([{**part, "edits": edits}]) == render([part])


def test_an_edit_without_hunks_is_written_from_its_own_text() -> None:
    text = "*** Begin Patch\n*** Update File: a\n@@\n-x\n+y\n*** End Patch\n"
    assert render([{"tool": "file_edit", "path": "a", "old": "x", "new": "y"}]) == text


def paths(found: list[Tree] | None) -> list[str]:
    assert found is not None
    return [path for part in found for path in (part["path"], part.get("moved_to")) if path is not None]


SNIPPETS = st.sampled_from(
    (
        *("*** ", "Begin Patch", "End Patch", "Add File: ", "Update File:", "Delete File: ", "Move to: "),
        *(
            "End of File",
            "@@",
            "@@ ",
            "+",
            "-",
            " ",
            "\n",
            "\r\n",
            "\t",
            "<<EOF",
            "EOF",
            "cd x && apply_patch ",
        ),
    )
)
TEXTS = st.lists(SNIPPETS | st.text(max_size=4), max_size=40).map("".join)

LINES = st.lists(SNIPPETS | st.text(max_size=3), max_size=4).map(
    lambda pieces: "".join(pieces).replace("\n", "").rstrip("\r")
)
NAMES = LINES.map(str.strip)
BLOCKS = st.lists(LINES, max_size=4).map(lambda lines: "".join(f"{line}\n" for line in lines))
CONTEXTS = st.lists(LINES.map(str.rstrip).filter(bool), min_size=1, max_size=2).map("\n".join)
EDITS = st.fixed_dictionaries(
    {"old": BLOCKS, "new": BLOCKS}, optional={"context": CONTEXTS, "end_of_file": st.just(value=True)}
).filter(lambda edit: edit["old"] or edit["new"])
PARTS = st.lists(
    st.builds(write, NAMES, BLOCKS)
    | st.builds(delete, NAMES)
    | st.builds(lambda path, edits: edit(path, *edits), NAMES, st.lists(EDITS, max_size=3))
    | st.builds(
        lambda path, edits, to: edit(path, *edits, moved_to=to), NAMES, st.lists(EDITS, max_size=3), NAMES
    ),
    max_size=4,
)


@given(PARTS)
def test_parts_survive_being_written(found: list[Tree]) -> None:
    assert read_parts(render(found)) == found


@given(TEXTS)
def test_any_text_is_read_and_what_was_read_is_stable(text: str) -> None:
    found = read_parts(text)
    if found is not None:
        assert read_parts(render(found)) == found


@given(
    st.lists(TEXTS, min_size=1, max_size=4),
    st.sampled_from(["Add File", "Update File", "Delete File", "Move to"]),
    st.sampled_from(["", "\t"]),
    st.from_regex(r"[\w./-]{1,12}", fullmatch=True),
    st.sampled_from(["", " ", "\r"]),
)
def test_no_header_is_missed(around: list[str], verb: str, lead: str, path: str, trail: str) -> None:
    text = f"\n{lead}*** {verb}: {path}{trail}\n".join(["*** Begin Patch", *around])
    found = paths(read_parts(text))
    assert sum(each == path or each.endswith(f"/{path}") for each in found) >= len(around)


def test_a_long_patch_takes_time_in_proportion() -> None:
    body = "".join(f"*** Update File: {number}\n@@ \n-a\n+b\n \n" for number in range(20_000))
    found = read_parts(f"*** Begin Patch\n{body}" + " " * 100_000 + "*" * 100_000 + "\n" * 100_000)
    assert found is not None
    assert len(found) == 20_000


MOVE = "*** Begin Patch\n*** Update File: a\n*** Move to: .env\n@@\n-x\n+y\n*** End Patch\n"


def moving(text: str = MOVE) -> Call:
    payload = {"hook_event_name": "PreToolUse", "tool_name": "apply_patch", "tool_input": {"command": text}}
    call = read_event(get_wire("codex"), payload, "PreToolUse").call
    assert call is not None
    return call


def test_a_file_that_is_moved_is_seen_at_both_places() -> None:
    """A guard that reads one path must see where the file goes, by a matcher for edits or for writes."""
    seen = [(part.tool, part.also, part.input["path"], part.input["new"]) for part in moving().parts]
    assert seen == [("file_edit", (), "a", "y\n"), ("file_edit", ("file_write",), ".env", "y\n")]


@pytest.mark.parametrize(
    ("number", "change", "expected"),
    [
        (0, {"path": "b"}, MOVE.replace("File: a", "File: b")),
        (1, {"path": "c"}, MOVE.replace(".env", "c")),
        (0, {"edits": [{"old": "x\n", "new": "z\n"}]}, MOVE.replace("+y", "+z")),
        (1, {"edits": [{"old": "x\n", "new": "z\n"}]}, MOVE.replace("+y", "+z")),
    ],
)
def test_a_rewrite_of_a_moved_file(number: int, change: dict[str, Any], expected: str) -> None:
    """At either place it changes the one patch."""
    call = moving()
    changed = rewrite_part(get_wire("codex"), call, number, {**call.parts[number].input, **change})
    assert changed.raw == {"command": expected}
