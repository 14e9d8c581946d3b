"""What OpenHands does with a hook's answer, as strictly as it does itself."""

from __future__ import annotations

from hookport.model.runs import Answer
from tests.judging import Args, Outcome, Seat, tree_of


def is_blocked(answer: Answer) -> bool:
    """Exit code 2, a `deny` in any case of letters, or a false `continue`."""
    tree = tree_of(answer.stdout)
    if "decision" in tree and not isinstance(tree["decision"], str):
        return False
    is_denied = str(tree.get("decision", "")).lower() == "deny"
    return answer.exit_code == 2 or is_denied or not tree.get("continue", True)


def openhands(answer: Answer, args: Args) -> Outcome:
    """Whether the tool runs, and the reason that the model reads."""
    if not is_blocked(answer):
        return Outcome(blocked=False, input=args)
    reason = tree_of(answer.stdout).get("reason") or answer.stderr.strip() or "Blocked by hook"
    return Outcome(blocked=True, reason=str(reason))


def heard(answer: Answer) -> str:
    """What it adds to the prompt."""
    return str(tree_of(answer.stdout).get("additionalContext", ""))


CONTEXTS = {
    "before_prompt": ("user_prompt_submit", "user_prompt_submit", heard),
    "after_tool_execute": ("post_tool_use", "post_tool_use.terminal", None),
}
SEATS = {
    "openhands": Seat(
        "openhands", "pre_tool_use", "pre_tool_use.terminal", openhands, rewrites=False, contexts=CONTEXTS
    ),
}
