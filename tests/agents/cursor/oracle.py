"""What cursor does with a hook's answer, as strictly as it does itself."""

from __future__ import annotations

import json

from hookport.model.runs import Answer
from tests.judging import Args, Outcome, Seat, flat, tree_of


def cursor(answer: Answer, args: Args) -> Outcome:
    """As with failClosed: nothing printed, or no JSON, blocks; the model reads user_message."""
    if answer.exit_code == 2:
        return Outcome(blocked=True, reason=answer.stdout.strip() or answer.stderr.strip())
    try:
        tree = json.loads(answer.stdout)
    except ValueError:
        return Outcome(blocked=True, reason="failClosed")
    if answer.exit_code:
        return Outcome(blocked=True, reason="failClosed")
    if tree.get("permission") == "deny":
        return Outcome(blocked=True, reason=tree.get("user_message", ""))
    decided = tree.get("permission", "")
    return Outcome(blocked=False, input=tree.get("updated_input", args), decided=decided)


def cursor_shell(answer: Answer, args: Args) -> Outcome:
    """beforeShellExecution: an ask is a deny, and no other input is taken."""
    found = cursor(answer, args)
    if found.decided == "ask":
        return Outcome(blocked=True, reason=tree_of(answer.stdout).get("user_message", ""))
    return found if found.blocked else found._replace(input=args)


SEATS = {
    "cursor": Seat(
        "cursor",
        "preToolUse",
        "preToolUse",
        cursor,
        contexts={
            "session_start": ("sessionStart", "sessionStart", flat("additional_context")),
            "before_prompt": ("beforeSubmitPrompt", "beforeSubmitPrompt", None),
            "after_tool_execute": ("postToolUse", "postToolUse", flat("additional_context")),
        },
    ),
    "cursor-shell": Seat(
        "cursor",
        "beforeShellExecution",
        "beforeShellExecution",
        cursor_shell,
        rewrites=False,
        place="command",
    ),
}
