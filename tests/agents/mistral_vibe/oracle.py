"""What mistral-vibe does with a hook's answer, as strictly as it does itself."""

from __future__ import annotations

from hookport.model.runs import Answer
from tests.judging import Args, Outcome, Seat, part, tree_of


def vibe(answer: Answer, args: Args) -> Outcome:
    """As with `strict`: a failure denies, and so does text that is no JSON object; only `deny` says deny."""
    if answer.exit_code:
        return Outcome(blocked=True, reason=answer.stderr.strip() or answer.stdout.strip())
    if not answer.stdout.strip():
        return Outcome(blocked=False, input=args)
    tree = tree_of(answer.stdout)
    if not tree:
        return Outcome(blocked=True, reason="stdout did not match the hook response schema")
    if tree.get("decision") == "deny":
        return Outcome(blocked=True, reason=tree.get("reason") or "Blocked by a pre_tool hook.")
    changed = part(tree, "hook_specific_output").get("tool_input")
    return Outcome(blocked=False, input=changed if isinstance(changed, dict) else args)


def vibe_lax(answer: Answer, args: Args) -> Outcome:
    """Without `strict`: every failure lets the tool run."""
    found = vibe(answer, args)
    is_denied = tree_of(answer.stdout).get("decision") == "deny" and not answer.exit_code
    return Outcome(blocked=False, input=args) if found.blocked and not is_denied else found


def appended(answer: Answer) -> str:
    """What Vibe adds to the text of a tool's result."""
    own = part(tree_of(answer.stdout), "hook_specific_output") if not answer.exit_code else {}
    return str(own.get("additional_context", ""))


SEATS = {
    "mistral-vibe": Seat(
        "mistral-vibe",
        "pre_tool",
        "pre_tool.file_system.bash",
        vibe,
        contexts={"after_tool_execute": ("post_tool", "post_tool.file_system.bash", appended)},
    ),
    "mistral-vibe-lax": Seat("mistral-vibe", "pre_tool", "pre_tool.file_system.bash", vibe_lax),
}
