"""Parses shell commands as a shell does, without running anything.

    from hookport import shell

    reading = shell.read("cd build && sudo rm -rf $(pwd)/../src", cwd="/project")
    for command in reading.commands:
        command.program, command.words, command.writes, command.given, command.folders

Every program that the text could start is a `Command`: in pipes, lists, loops, functions, substitutions,
behind `sudo`, `env`, `xargs`, `find -exec`, in `sh -c`, `eval` and here-documents. Words are as the shell
would pass them. A mark replaces what only the shell knows: `MANY` (any number of words), `PART` (any text in
one word), `STAR` and `ONE` (a pattern of file names), `DEEP` (any path below a folder). `reading.problem`
explains why a text cannot be parsed to its end; a guard should deny such a text. `read` never raises.
"""

from __future__ import annotations

from hookport.model.value import Value
from hookport.shell.syntax import DEEP, MANY, MARKS, ONE, PART, STAR, remove_marks
from hookport.shell.walk import SAID, Ask, Command, TooMuchError, Walk, joined, name_of, quote
from hookport.shell.wrappers import SHELLS, codes, language

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = [
    "DEEP",
    "MANY",
    "MARKS",
    "ONE",
    "PART",
    "SAID",
    "SHELLS",
    "STAR",
    "Ask",
    "Command",
    "Reading",
    "codes",
    "joined",
    "language",
    "name_of",
    "quote",
    "read",
]


class Reading(Value):
    """The commands of a text in the order in which they start.

    `problem` is empty if the text is complete; with `is_cut` a part of it was not parsed. `assigned` has the
    values that the text assigns to variables, also in commands (`A=b program`) and in `env`.
    """

    commands: tuple[Command, ...] = ()
    problem: str = ""
    is_cut: bool = False
    assigned: Mapping[str, Sequence[str]] = {}


def read(
    text: str, *, cwd: str = "", variables: Mapping[str, str] | None = None, ask: Ask | None = None
) -> Reading:
    """The programs that a text starts when a shell runs it in a folder with these variables."""
    walk = Walk(cwd or ".", variables or {}, ask or Ask())
    try:
        walk.walk_text(remove_marks(text))
    except TooMuchError as error:
        return Reading(tuple(walk.found), str(error), is_cut=True, assigned=walk.assigned)
    except RecursionError:
        return Reading(tuple(walk.found), "it is nested too deeply", is_cut=True, assigned=walk.assigned)
    return Reading(tuple(walk.found), walk.problem, assigned=walk.assigned)
