"""Who may approve: every command that approves hooks asks here, and nowhere else.

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
QUESTIONS = {
    "approve": "Approve these hooks? They run with your rights. [y/N] ",
    "pause": "Pause? Nothing that is guarded this way is denied meanwhile. [y/N] ",
}


def marker(env: Mapping[str, str], markers: Iterable[str]) -> str:
    """The variable by which an agent shows; of `NAME` that it is set, of `NAME=VALUE` its value."""
    for one in markers:
        name, equals, value = one.partition("=")
        if env.get(name) and (not equals or env[name] == value):
            return name
    return ""


def consent(
    root: str,
    env: Mapping[str, str],
    markers: Iterable[str],
    *,
    yes: bool,
    asks: bool = True,
    verb: str = "approve",
) -> str:
    """How this is approved; empty if a person says no. UsageError where it cannot be approved here.

    `asks` is false where the answer of a command is for a program, so that nobody can be asked.
    """
    found = marker(env, markers)
    is_terminal = sys.stdin.isatty()
    if found and (not is_terminal or not asks):
        raise UsageError(
            f"nothing was {verb}d: an agent runs this command ({found} is set), and agents may not {verb} "
            "hooks. Run it in your own terminal."
        )
    if found:
        return TYPED if _typed(root, found, verb) else ""
    if yes:
        return YES if is_terminal else UNATTENDED
    if not asks:
        raise UsageError(f"nothing was {verb}d: --json asks nothing. Say --yes or --dry-run.")
    if not sys.stdin.isatty():
        raise UsageError(f"nothing was {verb}d: there is no terminal to ask on. Say --yes or --dry-run.")
    return ASKED if is_agreed(QUESTIONS[verb]) else ""


def is_agreed(question: str) -> bool:
    """Whether the person at the terminal says yes."""
    sys.stdout.write(question)
    sys.stdout.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _typed(root: str, found: str, verb: str) -> bool:
    name = os.path.basename(root) or root
    # A name may have letters in it that steer a terminal.
    shown = name if name.isprintable() else ascii(name)
    sys.stdout.write(
        f"An agent may be running this ({found} is set), so --yes does not count.\n"
        f"To {verb} these hooks, type the name of the project ({shown}): "
    )
    sys.stdout.flush()
    return sys.stdin.readline().strip() == name
