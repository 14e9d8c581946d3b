"""What codex does with a hook's answer, as strictly as it does itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hookport.model.runs import Answer
from tests.judging import BEGINS, Args, Outcome, Reader, Seat, nested, nested_or_text, part, same, tree_of

CODEX_KEYS = {"continue", "stopReason", "suppressOutput", "systemMessage", "decision", "reason"}


CODEX_OWN = {"hookEventName", "permissionDecision", "permissionDecisionReason", "updatedInput"}


def is_void(tree: Mapping[str, Any], own: Mapping[str, Any]) -> bool:
    """Whether Codex takes nothing of an answer: for a key it does not know, or a word it does not take."""
    return bool(
        set(tree) - CODEX_KEYS - {"hookSpecificOutput"}
        or set(own) - CODEX_OWN - {"additionalContext"}
        or (own and own.get("hookEventName") != "PreToolUse")
        or (tree.get("continue") is False or "stopReason" in tree or tree.get("suppressOutput"))
        or own.get("permissionDecision") not in (None, "allow", "deny")
        or tree.get("decision") not in (None, "block")
        or ("reason" in tree and "decision" not in tree)
        # An allow and another input stand only together.
        or (own.get("permissionDecision") == "allow") != ("updatedInput" in own)
    )


def codex(answer: Answer, args: Args) -> Outcome:
    """A hook whose answer has a word too many, or one too few, has "Failed", and the command runs."""
    runs = Outcome(blocked=False, input=args)
    if answer.exit_code:
        reason = answer.stderr.strip() if answer.exit_code == 2 else ""
        return Outcome(blocked=True, reason=reason) if reason else runs
    tree = tree_of(answer.stdout)
    own = part(tree)
    if is_void(tree, own):
        return runs
    if own.get("permissionDecision") == "deny" or tree.get("decision") == "block":
        reason = own.get("permissionDecisionReason") or tree.get("reason", "")
        return Outcome(blocked=True, reason=reason) if reason.strip() else runs
    command = (own.get("updatedInput") or args).get("command")
    # Of another input only the command is taken over.
    taken = {**args, "command": command} if isinstance(command, str) else "an error is told to the model"
    return runs._replace(input=taken, context=own.get("additionalContext", ""))


def strictly(name: str, reader: Callable[[str], Reader]) -> Reader:
    """Codex: a key that it does not know makes all of the answer void."""

    def read(answer: Answer) -> str:
        tree = tree_of(answer.stdout)
        own = part(tree)
        unknown = set(tree) - CODEX_KEYS - {"hookSpecificOutput"} or set(own) - {
            "hookEventName",
            "additionalContext",
        }
        return "" if unknown or tree.get("suppressOutput") else reader(name)(answer)

    return read


SEATS = {
    "codex": Seat(
        "codex",
        "PreToolUse",
        "PreToolUse.Bash",
        codex,
        contexts={
            **same(BEGINS, lambda name: strictly(name, nested_or_text)),
            "after_tool_execute": ("PostToolUse", "PostToolUse.Bash", strictly("PostToolUse", nested)),
        },
    ),
}
