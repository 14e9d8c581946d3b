"""What cline does with a hook's answer, as strictly as it does itself."""

from __future__ import annotations

from hookport.model.runs import Answer
from tests.judging import Args, Outcome, Seat, flat, tree_of


def cline(answer: Answer, args: Args) -> Outcome:
    """The CLI: only printed JSON counts, the exit code does not."""
    tree = tree_of(answer.stdout)
    if tree.get("cancel") is True:
        reason = tree.get("errorMessage") or tree.get("contextModification", "")
        return Outcome(blocked=True, reason=reason, ended=True)
    context = tree.get("contextModification", tree.get("context", ""))
    return Outcome(blocked=False, input=tree.get("overrideInput", args), context=context)


def cline_extension(answer: Answer, args: Args) -> Outcome:
    """The VS Code extension: no other input."""
    found = cline(answer, args)
    return found if found.blocked else found._replace(input=args)


SEATS = {
    "cline": Seat(
        "cline",
        "PreToolUse",
        "PreToolUse",
        cline,
        contexts={
            "session_start": ("TaskStart", "TaskStart", None),
            "after_tool_execute": ("PostToolUse", "PostToolUse", flat("contextModification")),
        },
        place="tool_call.input",
    ),
    "cline-extension": Seat(
        "cline",
        "PreToolUse",
        "extension.PreToolUse",
        cline_extension,
        rewrites=False,
        contexts={
            "after_tool_execute": ("PostToolUse", "extension.PostToolUse", flat("contextModification"))
        },
        place="preToolUse.parameters",
    ),
}
