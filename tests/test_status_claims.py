"""What `status` claims of a hook that the agent runs by itself: no more than the agent was seen to do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hookport.doctor import status

DENY = {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "no"}


def level(root: Path, home: Path, handler: dict[str, Any], matcher: str = "Bash") -> tuple[str, str, str]:
    """(state, level, reason) of one hook in Claude Code's own file."""
    home.mkdir()
    (root / ".claude").mkdir(parents=True)
    (root / ".git").mkdir()
    group = {"matcher": matcher, "hooks": [{"type": "command", **handler}]}
    (root / ".claude/settings.json").write_text(json.dumps({"hooks": {"PreToolUse": [group]}}))
    env = {"HOME": str(home), "PATH": "/usr/bin:/bin"}
    (agent,) = status.read_status(str(root), env, ("claude-code",)).agents
    (hook,) = agent.hooks
    return hook.state, hook.level, hook.reason


@pytest.mark.parametrize(
    ("handler", "matcher", "expected", "why"),
    [
        ({"command": f"echo '{json.dumps({'hookSpecificOutput': DENY})}'"}, "Bash", "enforced", ""),
        ({"command": "grep -q rm && { echo no >&2; exit 2; }"}, "Bash", "enforced", ""),
        (
            {"command": """echo '{"decision": "deny", "reason": "no"}'"""},
            "Bash",
            "advisory",
            "unknown decision",
        ),
        ({"command": """echo '{"decision": "block", "reason": 5}'"""}, "Bash", "advisory", "not a text"),
        ({"command": "grep -q rm && { echo Blocked >&2; exit 1; }"}, "Bash", "advisory", "exit code 1"),
        ({"command": "exit 2", "if": "Bash(rm *)"}, "Bash", "enforced", ""),
        ({"command": "exit 2", "if": "Bash(rm"}, "Bash", "unavailable", "does not end with ')'"),
        ({"command": "exit 2", "if": "Bash(rm *)"}, "Write", "unavailable", "not Bash"),
        ({"command": "exit 2", "if": "WebFetch(domain:x.org)"}, "WebFetch", "unavailable", "domain"),
    ],
)
def test_claim_for_a_hook_of_the_agents_own_file(
    handler: dict[str, Any], matcher: str, expected: str, why: str, tmp_path: Path
) -> None:
    state, claimed, reason = level(tmp_path / "project", tmp_path / "home", handler, matcher)
    assert (state, claimed) == ("by itself", expected)
    assert why in reason
    assert bool(reason) == bool(why)
