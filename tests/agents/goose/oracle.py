"""What goose does with a hook's answer, as strictly as it does itself."""

from __future__ import annotations

from hookport.model.runs import Answer
from tests.judging import Args, Outcome, Seat, tree_of


def goose(answer: Answer, args: Args) -> Outcome:
    """Exit code 2, or `decision: block` alone on stdout with any exit code; nothing else is read."""
    tree = tree_of(answer.stdout)
    if answer.exit_code == 2:
        return Outcome(blocked=True, reason=answer.stderr.strip() or "denied by plugin hook")
    if tree.get("decision") == "block":
        return Outcome(blocked=True, reason=str(tree.get("reason", "")))
    return Outcome(blocked=False, input=args)


def goose_closed(answer: Answer, args: Args) -> Outcome:
    """With `on_failure: block` every answer that it does not know denies, and so does every failure."""
    found = goose(answer, args)
    is_allow = tree_of(answer.stdout).get("decision") == "allow"
    if found.blocked or (answer.exit_code == 0 and (is_allow or not answer.stdout.strip())):
        return found
    return Outcome(blocked=True, reason="the policy hook could not complete")


CONTEXTS = {
    "session_start": ("SessionStart", "SessionStart", None),
    "before_prompt": ("UserPromptSubmit", "UserPromptSubmit", None),
    "after_tool_execute": ("PostToolUse", "PostToolUse.shell", None),
}
SEATS = {
    "goose": Seat("goose", "PreToolUse", "PreToolUse.shell", goose_closed, rewrites=False, contexts=CONTEXTS),
    "goose-open": Seat("goose", "PreToolUse", "PreToolUse.shell", goose, rewrites=False, contexts=CONTEXTS),
}
