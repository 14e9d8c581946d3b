"""Reads the text of `apply_patch` into writes, edits and deletions, and writes it back.

Every line that could be a file's header gives a part, however broken the rest is: guards on paths rely on it.
"""

from __future__ import annotations

import os
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

    Part = dict[str, Any]

# The grammar: github.com/openai/codex at 343074d4 (2026-08-22, after rust-v0.149.0),
# codex-rs/core/src/tools/handlers/apply_patch.lark; what is let pass beyond it:
# codex-rs/apply-patch/src/streaming_parser.rs (white space around markers, a blank line in a hunk),
# invocation.rs (heredoc, `cd` before it), github.com/anomalyco/opencode at 03832cbd,
# packages/opencode/src/patch/index.ts (no space after the colon, a heredoc of any word),
# github.com/microsoft/vscode-copilot-chat 0.42.0, src/extension/tools/node/applyPatch/parser.ts (a line of a
# hunk without its mark is context).
_BEGIN = "*** Begin Patch"
_END = "*** End Patch"
_END_OF_FILE = "*** End of File"

# Other verbs than the grammar's are read as well, as an edit unless they are here: better a part too many.
_WRITE, _EDIT, _DELETE, _OUTSIDE = "write", "edit", "delete", ""
_VERBS = {"add": _WRITE, "create": _WRITE, "new": _WRITE, "delete": _DELETE, "remove": _DELETE}
_MARKS = {_WRITE: "+", _EDIT: " +-", _DELETE: "", _OUTSIDE: ""}

_HEADER = re.compile(r"\*{3}\s*(\w+)\s+File\s*:(.*)", re.IGNORECASE | re.DOTALL)
_MOVE = re.compile(r"\*{3}\s*Move\s+to\s*:(.*)", re.IGNORECASE | re.DOTALL)
_EDGE = re.compile(r"\*{3}\s*(?:Begin|End)\s+Patch", re.IGNORECASE)
_HEREDOC = re.compile(r"<<-?\s*['\"]?(\w+)")
_FOLDER = re.compile(r"""cd\s+(?:'([^']*)'|"([^"]*)"|([^\s;&|'"]+))\s*&&\s*apply_?patch\s*<<-?\s*\S+""")


def read_parts(text: str) -> list[Part] | None:
    """The parts of a patch, file by file; None if the text is not a patch.

    An edit has `old` and `new` as whole lines, and `context` (the lines after `@@`) and `end_of_file` where
    the patch says so. The part's own `old` and `new` are those of its first edit.
    """
    before, begin, _ = text.partition(_BEGIN)
    sections = _split_sections(text.strip().split("\n"), _HEREDOC.search(before) if begin else None)
    if not sections and not begin:
        return None
    folder = _FOLDER.fullmatch(before.strip()) if begin else None
    place = next(filter(None, folder.groups()), "") if folder else ""
    return [
        _read_part(kind, [_join_path(place, path) for path in paths], body) for kind, paths, body in sections
    ]


def add_targets(parts: Iterable[Part]) -> Iterator[Part]:
    """Add a part for the new place of every moved file, because guards check `path`."""
    for part in parts:
        yield part
        if "moved_to" in part:
            target = {key: value for key, value in part.items() if key != "moved_to"}
            yield {**target, "path": part["moved_to"], "moved_from": part["path"]}


def render(parts: Iterable[Mapping[str, Any]]) -> str:
    """Write the parts as a patch; the target of a move is in the part before it."""
    lines = [_BEGIN]
    for part in parts:
        if "moved_from" in part:
            continue
        path = _flatten_line(part.get("path"))
        if part.get("tool") == "file_write":
            lines += [f"*** Add File: {path}", *(f"+{line}" for line in _split_lines(part.get("content")))]
        elif part.get("deleted"):
            lines.append(f"*** Delete File: {path}")
        else:
            lines.append(f"*** Update File: {path}")
            if "moved_to" in part:
                lines.append(f"*** Move to: {_flatten_line(part['moved_to'])}")
            edits = part.get("edits")
            hunks = [edit for edit in edits if isinstance(edit, dict)] if isinstance(edits, list) else []
            for edit in hunks or (part,):
                lines += _write_hunk(edit)
    return "\n".join([*lines, _END, ""])


def _split_sections(
    lines: list[str], heredoc: re.Match[str] | None
) -> list[tuple[str, list[str], list[str]]]:
    """The kind of each file's section, its path with the path it moves to, and its lines."""
    sections: list[tuple[str, list[str], list[str]]] = []
    kind = _OUTSIDE
    # Indented, the end is a line of context to a hunk, unless it is the last one there is.
    end = max((number for number, line in enumerate(lines) if line.strip() == _END), default=-1)
    for number, ended in enumerate(lines):
        line = ended.rstrip("\r")
        if line and line[0] in _MARKS[kind] and number != end:
            sections[-1][2].append(line)
            continue
        bare = line.strip()
        if header := _HEADER.match(bare):
            verb, path = header[1].lower(), header[2].strip()
            kind = _VERBS.get(verb, _EDIT)
            paths = path.split(" -> ", 1) if verb in {"move", "rename"} else [path]
            sections.append((kind, [each.strip() for each in paths], []))
        elif move := _MOVE.match(bare):
            if kind != _EDIT or len(sections[-1][1]) > 1:
                kind = _EDIT
                sections.append((kind, [], []))
            sections[-1][1].append(move[1].strip())
        elif _EDGE.match(bare) or (heredoc and line.lstrip("\t") == heredoc[1]):
            kind = _OUTSIDE
        elif kind != _OUTSIDE:
            sections[-1][2].append(line)
    return sections


def _read_part(kind: str, paths: list[str], body: list[str]) -> Part:
    if kind == _WRITE:
        content = [line.removeprefix("+") for line in body if line.strip() not in {"", _END_OF_FILE}]
        return {"tool": "file_write", "path": paths[0], "content": _join_lines(content)}
    part: Part = {"tool": "file_edit", "path": paths[0]}
    if kind == _DELETE:
        return {**part, "deleted": True}
    edits = _read_edits(body)
    first = edits[0] if edits else {"old": "", "new": ""}
    part.update(edits=edits, old=first["old"], new=first["new"])
    if len(paths) > 1:
        part["moved_to"] = paths[1]
    return part


def _read_edits(body: list[str]) -> list[Part]:
    hunks: list[Part] = []
    hunk: Part | None = None
    context: list[str] | None = None  # None: no `@@` precedes the next line
    for line in body:
        if line.startswith("@@"):
            context = [*(context or ()), line[2:].removeprefix(" ").rstrip()]
            hunk = None
            continue
        if line.rstrip() == _END_OF_FILE:
            if hunk is not None:
                hunk["end_of_file"] = True
            hunk = context = None
            continue
        if hunk is None:
            if not line and context is None:
                continue
            hunk = {"old": [], "new": []}
            if context_text := "\n".join(filter(None, context or ())):
                hunk["context"] = context_text
            hunks.append(hunk)
            context = None
        mark = line[:1] if line[:1] in _MARKS[_EDIT] else ""
        content = line[len(mark) :]
        if mark != "+":
            hunk["old"].append(content)
        if mark != "-":
            hunk["new"].append(content)
    return [{**hunk, "old": _join_lines(hunk["old"]), "new": _join_lines(hunk["new"])} for hunk in hunks]


def _write_hunk(edit: Mapping[str, Any]) -> list[str]:
    old, new = _split_lines(edit.get("old")), _split_lines(edit.get("new"))
    if not old and not new:
        return []
    shorter = min(len(old), len(new))
    head = next((at for at in range(shorter) if old[at] != new[at]), shorter)
    rest = shorter - head
    tail = next((at for at in range(rest) if old[-1 - at] != new[-1 - at]), rest)
    return [
        *(f"@@ {line}".rstrip() for line in _split_lines(edit.get("context")) or [""]),
        *(f" {line}" for line in old[:head]),
        *(f"-{line}" for line in old[head : len(old) - tail]),
        *(f"+{line}" for line in new[head : len(new) - tail]),
        *(f" {line}" for line in old[len(old) - tail :]),
        *([_END_OF_FILE] if edit.get("end_of_file") else ()),
    ]


def _join_path(folder: str, path: str) -> str:
    return os.path.join(folder, path)


def _flatten_line(value: object) -> str:
    return str(value or "").replace("\n", " ")


def _split_lines(value: object) -> list[str]:
    text = str(value or "")
    return text.removesuffix("\n").split("\n") if text else []


def _join_lines(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
