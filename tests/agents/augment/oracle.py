"""What augment does with a hook's answer, as strictly as it does itself."""

from __future__ import annotations

from hookport.model.runs import Answer
from tests.judging import Args, Outcome, Seat, nested, part, tree_of


def augment(answer: Answer, args: Args) -> Outcome:
    """JSON with exit code 0 only, as a whole and with hookEventName; an ask lets the tool run."""
    if answer.exit_code == 2:
        return Outcome(blocked=True, reason=answer.stderr.strip())
    tree = tree_of(answer.stdout) if answer.exit_code == 0 else {}
    own = part(tree) if part(tree).get("hookEventName") == "PreToolUse" else {}
    if own.get("permissionDecision") == "deny":
        return Outcome(blocked=True, reason=own.get("permissionDecisionReason", ""))
    if tree.get("continue") is False:
        return Outcome(blocked=True, reason="Tool execution blocked by hook")
    changed: Args = own.get("updatedInput", args)
    # Whether it is merged was not measured: only what is right either way is.
    taken = changed if {**args, **changed} == changed else "a part is lost"
    return Outcome(blocked=False, input=taken, decided=own.get("permissionDecision", ""))


SEATS = {
    "augment": Seat(
        "augment",
        "PreToolUse",
        "PreToolUse.launch-process",
        augment,
        contexts={
            "session_start": ("SessionStart", "SessionStart", nested("SessionStart")),
            "before_prompt": ("PromptSubmit", "PromptSubmit", None),
            "after_tool_execute": ("PostToolUse", "PostToolUse.launch-process", nested("PostToolUse")),
        },
    ),
}
