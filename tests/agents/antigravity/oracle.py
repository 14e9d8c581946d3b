"""What Antigravity does with a hook's answer, as strictly as it does itself."""

from __future__ import annotations

from hookport.model.runs import Answer
from tests.judging import Args, Outcome, Seat, tree_of


def antigravity(answer: Answer, args: Args) -> Outcome:
    """Nothing printed is no opinion; any exit code but 0 and any unknown answer deny."""
    if answer.exit_code:
        return Outcome(blocked=True, reason=answer.stderr.strip())
    if not answer.stdout.strip():
        return Outcome(blocked=False, input=args)
    tree = tree_of(answer.stdout)
    decision = tree.get("decision")
    if decision not in ("allow", "ask", "force_ask"):
        return Outcome(blocked=True, reason=str(tree.get("reason", "")))
    changed = {**args, **tree["overwrite"]} if isinstance(tree.get("overwrite"), dict) else args
    word = {"allow": "allow", "force_ask": "ask"}.get(str(decision), "")
    return Outcome(blocked=False, input=changed, decided=word, reason=str(tree.get("reason", "")))


SEATS = {
    "antigravity": Seat(
        "antigravity",
        "PreToolUse",
        "PreToolUse",
        antigravity,
        lifts=True,
        contexts={"after_tool_execute": ("PostToolUse", "PostToolUse", None)},
        place="toolCall.args",
    ),
}
