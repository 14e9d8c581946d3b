"""What gemini-cli does with a hook's answer, as strictly as it does itself."""

from __future__ import annotations

from hookport.model.runs import Answer
from tests.judging import Args, Outcome, Seat, nested, part, tree_of


def gemini(answer: Answer, args: Args) -> Outcome:
    """A top-level decision, whatever the code, also on stderr; text alone denies with codes from 2 up."""
    text = answer.stdout.strip() or answer.stderr.strip()
    tree = tree_of(text)
    if not tree:
        is_denied = answer.exit_code >= 2 and bool(text) and not text.startswith("{")
        return Outcome(blocked=True, reason=text) if is_denied else Outcome(blocked=False, input=args)
    if tree.get("continue") is False:
        return Outcome(blocked=True, reason=tree.get("stopReason", ""), ended=True)
    if tree.get("decision") in ("deny", "block", "ask"):
        reason = tree.get("stopReason") or tree.get("reason") or "No reason provided"
        return Outcome(blocked=True, reason=reason, ended=tree["decision"] == "ask")
    changed = part(tree).get("tool_input")
    # 0.61.0 merges, the source of August 2026 replaces: only what is right for both is.
    merged = args if changed is None else changed if {**args, **changed} == changed else "a part is lost"
    return Outcome(blocked=False, input=merged, decided="allow" if tree.get("decision") else "")


SEATS = {
    "gemini-cli": Seat(
        "gemini-cli",
        "BeforeTool",
        "BeforeTool.run_shell_command",
        gemini,
        contexts={
            "session_start": ("SessionStart", "SessionStart", nested("SessionStart")),
            "before_prompt": ("BeforeAgent", "BeforeAgent", nested("BeforeAgent")),
            "after_tool_execute": ("AfterTool", "AfterTool.run_shell_command", nested("AfterTool")),
        },
    ),
}
