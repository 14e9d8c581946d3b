"""Who may approve, pause and disarm hooks. Every command that does so asks here, and nowhere else.

Agents set variables for the commands that they run. If one is set and nobody sits at a terminal, nothing is
approved. This is a speed bump: a variable can be unset, and a pseudo-terminal looks like a person.
"""

from __future__ import annotations

import os
import sys

from hookport.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

# How an approval was given, as the store records it.
ASKED, TYPED, YES, UNATTENDED = "asked", "typed", "yes", "unattended"
# The past tense of each verb, for messages.
DONE = {
    "approve": "approved",
    "pause": "paused",
    "untrust": "taken back",
    "unsync": "removed",
    "undo": "taken back",
}
# The options that do without a question.
UNASKED = {"approve": "use --yes or --dry-run", "pause": "use --yes"}
QUESTIONS = {
    "approve": "Approve these hooks? They run with your rights. [y/N] ",
    "pause": "Pause these hooks? Paused hooks deny nothing. [y/N] ",
}


def find_marker(env: Mapping[str, str], markers: Iterable[str]) -> str:
    """Find the variable that reveals an agent: `NAME` must be set, `NAME=VALUE` must have that value."""
    for marker in markers:
        name, equals, value = marker.partition("=")
        if env.get(name) and (not equals or env[name] == value):
            return name
    return ""


def ask_consent(
    root: str,
    env: Mapping[str, str],
    markers: Iterable[str],
    *,
    yes: bool,
    asks: bool = True,
    verb: str = "approve",
) -> str:
    """Return how the hooks are approved; empty if a person declines. UsageError if nobody can approve here.

    `asks` is false if a program reads the command's output, so that nobody can be asked.
    """
    is_terminal = sys.stdin.isatty()
    nothing = f"nothing was {DONE[verb]}"
    if variable := find_marker(env, markers):
        return TYPED if _is_confirmed(root, variable, verb, asks=is_terminal and asks) else ""
    if yes:
        return YES if is_terminal else UNATTENDED
    if not asks:
        raise UsageError(f"{nothing}: --json cannot ask", hint=UNASKED[verb])
    if not is_terminal:
        raise UsageError(f"{nothing}: no terminal to ask on", hint=UNASKED[verb])
    return ASKED if is_agreed(QUESTIONS[verb]) else ""


def may_withdraw(
    root: str, env: Mapping[str, str], markers: Iterable[str], verb: str = "untrust", *, asks: bool = True
) -> bool:
    """Whether approvals or entries may be removed: a person without a question, an agent never.

    A guard without its approval, or without its entry, no longer denies.
    """
    variable = find_marker(env, markers)
    return not variable or _is_confirmed(root, variable, verb, asks=sys.stdin.isatty() and asks)


def _is_confirmed(root: str, variable: str, verb: str, *, asks: bool) -> bool:
    """Whether a person confirms although an agent's variable is set; UsageError if nobody can be asked."""
    if not asks:
        raise UsageError(
            f"nothing was {DONE[verb]}: an agent runs this command ({variable} is set), and agents may not "
            f"{verb} hooks",
            hint="run it in your own terminal",
        )
    return _is_name_typed(root, variable, verb)


def is_agreed(question: str) -> bool:
    """Whether the person at the terminal answers yes."""
    sys.stdout.write(question)
    sys.stdout.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _is_name_typed(root: str, variable: str, verb: str) -> bool:
    name = os.path.basename(root) or root
    # A name may contain control characters for terminals.
    shown = name if name.isprintable() else ascii(name)
    sys.stdout.write(
        f"An agent may be running this ({variable} is set), so --yes does not count.\n"
        f"To {verb} these hooks, type the name of the project ({shown}): "
    )
    sys.stdout.flush()
    return sys.stdin.readline().strip() == name
