"""The test before a user's own command that an agent reads in another agent's file.

If our own entry runs the hook in that agent, the command ends at once; everywhere else it runs as before. The
rest of hookport sees the command without the test: it is the same hook, with the same approval.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

# One word of the shell that starts nothing.
_WORD = r"""(?:'[^'\n]*'|"[^"$`\\\n]*"|"\$\{\w+-\}"|[^\s'"$`\\|&;<>()])+"""
_CLAUSE = re.compile(
    rf"""\[ -z "\$\{{\w+-\}}" \] \|\| ! {_WORD} -I -S (?P<program>{_WORD}) covers (?P<agent>[\w-]+) """
    rf"""{_WORD} [0-9a-f]+ </dev/null >/dev/null 2>&1 \|\| exit 0; """
)
_PROGRAM = re.compile(r"""bridge\.pyz?['"]?""")


def write_clause(agent: str, mark: str, call: str, file: str, digest: str) -> str:
    """The test for one agent, identified by the variable `mark`; `file` is the word for our entry's file.

    The variable has a default, because an agent may drop a command that names an unset one. If the question
    fails, the command runs.
    """
    question = f"{call} covers {agent} {file} {digest}"
    return f'[ -z "${{{mark}-}}" ] || ! {question} </dev/null >/dev/null 2>&1 || exit 0; '


def read_clauses(command: str) -> dict[str, str]:
    """The tests before a command, by agent."""
    tests: dict[str, str] = {}
    at = 0
    while (match := _CLAUSE.match(command, at)) and _PROGRAM.search(match["program"]):
        tests[match["agent"]] = match[0]
        at = match.end()
    return tests


def strip_clauses(command: str) -> str:
    """A command without the tests before it."""
    return command[sum(map(len, read_clauses(command).values())) :]


def set_clauses(command: str, tests: Mapping[str, str] | Iterable[tuple[str, str]]) -> str:
    """A command with these tests before it, replacing the present ones."""
    return "".join(text for _, text in sorted(dict(tests).items())) + strip_clauses(command)
