"""What letta-code does with a hook's answer, as strictly as it does itself."""

from __future__ import annotations

from hookport.model.runs import Answer
from tests.judging import Seat, part, raw, stderr_with_2, tree_of


def added(answer: Answer) -> str:
    """After a tool: the key at the top or in the nested object of stdout that is one JSON object."""
    tree = {} if answer.exit_code else tree_of(answer.stdout)
    return str(part(tree).get("additionalContext") or tree.get("additionalContext", ""))


SEATS = {
    "letta-code": Seat(
        "letta-code",
        "PreToolUse",
        "PreToolUse.Bash",
        stderr_with_2,
        rewrites=False,
        contexts={
            "session_start": ("SessionStart", "SessionStart", raw),
            "before_prompt": ("UserPromptSubmit", "UserPromptSubmit", raw),
            "after_tool_execute": ("PostToolUse", "PostToolUse.Bash", added),
        },
    ),
}
