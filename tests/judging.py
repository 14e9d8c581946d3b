"""What the judges of several agents share: how an answer is read as the agent reads it (see `oracle`)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from hookport.model.runs import Answer

# The command and the project in every payload.
COMMAND, PROJECT = "echo hi > out.txt", "/home/dev/project"


class Outcome(NamedTuple):
    """What the agent did: whether the call was stopped, what the model or user read, the input that ran.

    `decided` is a word that skips or asks a question that would come otherwise, `ended` that the run ended.
    """

    blocked: bool
    reason: str = ""
    input: Any = None
    context: str = ""
    decided: str = ""
    ended: bool = False


Args = Any


def tree_of(text: str) -> dict[str, Any]:
    """The object that a text is, as a whole; an empty one where it is none."""
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def part(tree: Mapping[str, Any], key: str = "hookSpecificOutput") -> dict[str, Any]:
    found = tree.get(key)
    return found if isinstance(found, dict) else {}


def stderr_with_2(answer: Answer, args: Args) -> Outcome:
    """Windsurf, and Kiro's agent files: an exit code, and nothing that is printed."""
    if answer.exit_code == 2:
        return Outcome(blocked=True, reason=answer.stderr.strip())
    return Outcome(blocked=False, input=args, reason=answer.stderr.strip() if answer.exit_code else "")


def generated(answer: Answer, args: Args) -> Outcome:
    """The generated plugin or extension: it throws on exit code 2, a deny or an ask, and changes keys."""
    if answer.exit_code == 2:
        return Outcome(blocked=True, reason=answer.stderr.strip())
    tree = tree_of(answer.stdout) if answer.exit_code == 0 else {}
    if tree.get("decision") in ("deny", "ask"):
        return Outcome(blocked=True, reason=str(tree.get("reason", "")))
    changed = tree.get("updated_input")
    return Outcome(
        blocked=False,
        input=changed if isinstance(changed, dict) else args,
        context=tree.get("context", ""),
    )


Reader = Callable[[Answer], str]


def nested_or_text(name: str) -> Reader:
    """Claude Code and Codex where a session or a turn begins: the nested key, or plain text."""

    def read(answer: Answer) -> str:
        tree = tree_of(answer.stdout)
        own = part(tree)
        if own.get("hookEventName") == name:
            return str(own.get("additionalContext", ""))
        return "" if tree or answer.exit_code else answer.stdout.strip()

    return read


def nested(name: str) -> Reader:
    """The nested key alone, with exit code 0."""

    def read(answer: Answer) -> str:
        own = part(tree_of(answer.stdout))
        is_own = own.get("hookEventName") == name and not answer.exit_code
        return str(own.get("additionalContext", "")) if is_own else ""

    return read


def flat(key: str) -> Reader:
    """A key at the top of an object printed with exit code 0."""

    def read(answer: Answer) -> str:
        return "" if answer.exit_code else str(tree_of(answer.stdout).get(key, ""))

    return read


def raw(answer: Answer) -> str:
    """All of stdout, JSON or not."""
    return "" if answer.exit_code else answer.stdout.strip()


class Seat(NamedTuple):
    """An agent, or one of its products or protocols: its shell event, and where it takes context.

    `rewrites` says whether it takes another input, `lifts` whether it takes one with an approval alone.
    `contexts` has for a canonical event the native one and how the agent reads context there; None where it
    takes none. `place` is where a payload has the tool's input.
    """

    agent: str
    native: str
    payload: str
    outcome: Callable[[Answer, Args], Outcome]
    rewrites: bool = True
    lifts: bool = False
    contexts: Mapping[str, tuple[str, str, Reader | None]] = MappingProxyType({})
    place: str = "tool_input"


def same(names: Mapping[str, str], reader: Callable[[str], Reader]) -> dict[str, Any]:
    """Events whose payload is the file of that name and whose context is read alike."""
    return {canonical: (native, native, reader(native)) for canonical, native in names.items()}


BEGINS = {"session_start": "SessionStart", "before_prompt": "UserPromptSubmit"}
