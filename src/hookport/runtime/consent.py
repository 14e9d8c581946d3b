"""Who may approve, pause and disarm hooks: every command that does asks here, and nowhere else.

Agents set variables for the commands that they run. Where one is set and nobody sits at a terminal, nothing
is approved. It is a speed bump: a variable can be taken away, and a pseudo-terminal looks like a person.
"""

from __future__ import annotations

import os
import sys

from hookport.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

# How an approval came about, as the store has it.
ASKED, TYPED, YES, UNATTENDED = "asked", "typed", "yes", "unattended"
# What was done, by what is asked for.
DONE = {
    "approve": "approved",
    "pause": "paused",
    "untrust": "taken back",
    "unsync": "removed",
    "undo": "taken back",
}
QUESTIONS = {
    "approve": "Approve these hooks? They run with your rights. [y/N] ",
    "pause": "Pause? Nothing that is guarded this way is denied meanwhile. [y/N] ",
}


def find_marker(env: Mapping[str, str], markers: Iterable[str]) -> str:
    """Find the variable that reveals an agent: `NAME` has to be set, `NAME=VALUE` to have that value."""
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
    """Return how this is approved; empty if a person declines. UsageError if it cannot be approved here.

    `asks` is false where the answer of a command is for a program, so that nobody can be asked.
    """
    is_terminal = sys.stdin.isatty()
    nothing = f"nothing was {DONE[verb]}"
    if variable := find_marker(env, markers):
        return TYPED if _is_confirmed(root, variable, verb, asks=is_terminal and asks) else ""
    if yes:
        return YES if is_terminal else UNATTENDED
    if not asks:
        raise UsageError(f"{nothing}: --json asks nothing. Say --yes or --dry-run.")
    if not is_terminal:
        raise UsageError(f"{nothing}: there is no terminal to ask on. Say --yes or --dry-run.")
    return ASKED if is_agreed(QUESTIONS[verb]) else ""


def may_withdraw(root: str, env: Mapping[str, str], markers: Iterable[str], verb: str = "untrust") -> bool:
    """Whether approvals or entries may be removed: a person is not asked, an agent may not do it.

    A guard without its approval, or without the entry that calls it, denies nothing any more.
    """
    variable = find_marker(env, markers)
    return not variable or _is_confirmed(root, variable, verb, asks=sys.stdin.isatty())


def _is_confirmed(root: str, variable: str, verb: str, *, asks: bool) -> bool:
    """Whether a person confirms although an agent's variable is set; UsageError if nobody can be asked."""
    if not asks:
        raise UsageError(
            f"nothing was {DONE[verb]}: an agent runs this command ({variable} is set), and agents may not "
            f"{verb} hooks. Run it in your own terminal."
        )
    return _is_name_typed(root, variable, verb)


def is_agreed(question: str) -> bool:
    """Whether the person at the terminal answers yes."""
    sys.stdout.write(question)
    sys.stdout.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _is_name_typed(root: str, variable: str, verb: str) -> bool:
    name = os.path.basename(root) or root
    # A name may have letters in it that steer a terminal.
    shown = name if name.isprintable() else ascii(name)
    sys.stdout.write(
        f"An agent may be running this ({variable} is set), so --yes does not count.\n"
        f"To {verb} these hooks, type the name of the project ({shown}): "
    )
    sys.stdout.flush()
    return sys.stdin.readline().strip() == name
