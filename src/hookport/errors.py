"""Every error hookport raises on purpose, one tree, with the exit code on the class.

HookportError (2)
  UsageError (2)       the command line, or a name in it, is wrong
  InputError (2)       a file is unreadable or invalid; lists every problem found
  InternalError (70)   an internal promise was broken; nothing was written
"""

from __future__ import annotations

from typing import NamedTuple

# How alike a mistyped word and the right word are: `PreTolUse` is `PreToolUse` and `Bsh` is `Bash`,
# `SessionPause` is not `SessionStart`, nor `TodoRead` `TodoWrite`.
SLIP = 0.85
# The letters that a prefix needs to identify a name.
LEAST_START = 6


class Problem(NamedTuple):
    """One error in an input: its place and what is wrong."""

    message: str
    path: tuple[str | int, ...] = ()
    file: str = ""
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        place = self.file
        if self.line:
            place += f":{self.line}:{self.column}"
        where = spell_path(self.path)
        return ": ".join(part for part in (place, where, self.message) if part)


class HookportError(Exception):
    """The base class of the errors that hookport raises on purpose; `hint` is the next step."""

    exit_code = 2

    def __init__(self, message: str = "", *, hint: str = "") -> None:
        self.hint = hint
        super().__init__(message)


class UsageError(HookportError):
    """The caller named something unknown or used a command wrongly."""


class InputError(HookportError):
    """An invalid input; `problems` lists every problem with its place."""

    def __init__(self, *problems: Problem, hint: str = "") -> None:
        self.problems = problems
        super().__init__("\n".join(map(str, problems)), hint=hint)


class InternalError(HookportError):
    """A promise hookport makes to itself was broken."""

    exit_code = 70


def spell_path(path: tuple[str | int, ...]) -> str:
    """Format `("hooks", "PreToolUse", 0)` as people write it: `hooks.PreToolUse[0]`."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            text += f".{step}" if text else step
    return text


def correct_slip(word: str, known: list[str] | tuple[str, ...]) -> str:
    """Find the known word that a mistyped word means; empty if none does."""
    import difflib

    folded = _fold(word)
    # The same name in another spelling, or its beginning: `preToolUse` or `pre_tool` for `PreToolUse`.
    for name in sorted((name for name in known if name != word), key=len):
        if _fold(name) == folded or (len(folded) >= LEAST_START and _fold(name).startswith(folded)):
            return name
    matches = difflib.get_close_matches(word.lower(), [name.lower() for name in known], n=1, cutoff=SLIP)
    return next((name for name in known if matches and name.lower() == matches[0] and name != word), "")


def _fold(word: str) -> str:
    return word.replace("_", "").replace("-", "").lower()


def suggest_closest(word: str, known: list[str] | tuple[str, ...]) -> str:
    """Format `" Did you mean 'x'?"` for the nearest known word, or nothing."""
    import difflib

    by_folded = {name.replace("_", "").replace("-", "").lower(): name for name in reversed(known)}
    folded = word.replace("_", "").replace("-", "").lower()
    matches = [name for name in reversed(by_folded) if len(folded) > 2 and name.startswith(folded)][:1]
    matches = matches or difflib.get_close_matches(folded, list(by_folded), n=1, cutoff=0.6)
    if not matches and folded:
        matches = [name for name in by_folded if folded.startswith(name)][:1]
    return f" Did you mean '{by_folded[matches[0]]}'?" if matches else ""
