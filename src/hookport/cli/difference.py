"""The difference between a file before and after, as `diff -u` shows it, without control characters."""

from __future__ import annotations

import difflib

from hookport.console.terminal import Paint, make_plain, make_plain_lines
from hookport.project.contents import Change
from hookport.runtime.trust import PLAN

# Beyond it, looking for the smallest difference takes minutes.
MOST_LINES = 20_000
# A tab of a changed file, where the width of a line counts.
TAB = 4
STYLES = {"+": "kept", "-": "dropped", "@": "note"}


def format_difference(change: Change, paint: Paint) -> str:
    """Format what a change does to a file; one line where it cannot be shown."""
    before, after = (_split_lines(content) for content in (change.before, change.after))
    sizes = f"{len(change.before or b'')} → {len(change.after or b'')}"
    if before is None or after is None:
        return f"{make_plain(change.path)}: binary, {sizes} bytes\n"
    if change.path.endswith(PLAN):
        return f"{make_plain(change.path)}: compiled plan, {sizes} bytes\n"
    if max(len(before), len(after)) > MOST_LINES:
        return f"{make_plain(change.path)}: {len(before)} → {len(after)} lines\n"
    old, new = ("/dev/null" if content is None else change.path for content in (change.before, change.after))
    shown = ""
    for line in difflib.unified_diff(before, after, old, new):
        sign = line[:1] if line[:3] not in ("---", "+++") else ""
        text = make_plain_lines(line.removesuffix("\n")).replace("\t", " " * TAB if paint.width else "\t")
        shown += paint.fold(paint(text, STYLES.get(sign, "")), 1) + "\n"
        if not line.endswith("\n"):
            shown += "\\ No newline at end of file\n"
    return shown


def _split_lines(content: bytes | None) -> list[str] | None:
    """Split into lines with their ends; only a line feed ends one, as for `diff`."""
    try:
        text = (content or b"").decode()
    except UnicodeDecodeError:
        return None
    return [f"{line}\n" for line in text.split("\n")[:-1]] + [line for line in text.split("\n")[-1:] if line]
