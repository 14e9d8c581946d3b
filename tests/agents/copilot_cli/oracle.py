"""What copilot-cli does with a hook's answer, as strictly as it does itself."""

from __future__ import annotations

import json

from hookport.model.runs import Answer
from tests.judging import Args, Outcome, Seat, flat, part, tree_of


def copilot(answer: Answer, args: Args) -> Outcome:
    """Events in camelCase: flat keys only; stderr is lost; every code but 0 stops the call."""
    tree = tree_of(answer.stdout)
    reason = tree.get("permissionDecisionReason", "")
    if answer.exit_code == 2:
        return Outcome(blocked=True, reason=reason or "hook exited with code 2")
    if answer.exit_code:
        return Outcome(blocked=True, reason="(hook errored)")
    verdict = tree.get("permissionDecision")
    if verdict in ("deny", "ask"):
        return Outcome(blocked=True, reason=reason or "No reason provided")
    return Outcome(
        blocked=False,
        input=tree.get("modifiedArgs", args),
        context=tree.get("additionalContext", ""),
        decided="allow" if verdict == "allow" else "",
    )


def copilot_pascal(answer: Answer, args: Args) -> Outcome:
    """Events in PascalCase: hookSpecificOutput is read too, and is where another input stands."""
    tree = tree_of(answer.stdout)
    own = part(tree)
    flat = {
        key: tree.get(key, own.get(key))
        for key in ("permissionDecision", "permissionDecisionReason", "additionalContext")
        if key in tree or key in own
    }
    found = copilot(answer.replace(stdout=json.dumps(flat)), args)
    return found if found.blocked else found._replace(input=own.get("updatedInput", args))


SEATS = {
    "copilot-cli": Seat(
        "copilot-cli",
        "preToolUse",
        "preToolUse.bash",
        copilot,
        contexts={
            "session_start": ("sessionStart", "sessionStart", flat("additionalContext")),
            "before_prompt": ("userPromptSubmitted", "userPromptSubmitted", flat("additionalContext")),
            "after_tool_execute": ("postToolUse", "postToolUse.bash", flat("additionalContext")),
        },
        place="toolArgs",
    ),
    "copilot-cli-pascal": Seat(
        "copilot-cli",
        "PreToolUse",
        "pascal/PreToolUse.Bash",
        copilot_pascal,
        contexts={
            "session_start": ("SessionStart", "pascal/SessionStart", flat("additionalContext")),
            "before_prompt": ("UserPromptSubmit", "pascal/UserPromptSubmit", flat("additionalContext")),
            "after_tool_execute": ("PostToolUse", "pascal/PostToolUse.Bash", flat("additionalContext")),
        },
        place="toolArgs",
    ),
}
