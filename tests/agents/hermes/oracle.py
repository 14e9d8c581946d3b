"""What Hermes does with a hook's answer, as strictly as it does itself."""

from __future__ import annotations

from hookport.model.runs import Answer
from tests.judging import Args, Outcome, Seat, tree_of


def hermes(answer: Answer, args: Args) -> Outcome:
    """`action: block` or `decision: block`, alone on stdout; the exit code has no effect."""
    tree = tree_of(answer.stdout)
    if tree.get("action") == "block":
        return Outcome(blocked=True, reason=str(tree.get("message") or tree.get("reason") or "Blocked"))
    if tree.get("decision") == "block":
        return Outcome(blocked=True, reason=str(tree.get("reason") or tree.get("message") or "Blocked"))
    return Outcome(blocked=False, input=args)


def heard(answer: Answer) -> str:
    """What it adds to the prompt."""
    return str(tree_of(answer.stdout).get("context", ""))


CONTEXTS = {
    "session_start": ("on_session_start", "on_session_start", None),
    "before_prompt": ("pre_llm_call", "pre_llm_call", heard),
    "after_tool_execute": ("post_tool_call", "post_tool_call.terminal", None),
}
SEATS = {
    "hermes": Seat(
        "hermes", "pre_tool_call", "pre_tool_call.terminal", hermes, rewrites=False, contexts=CONTEXTS
    ),
}
