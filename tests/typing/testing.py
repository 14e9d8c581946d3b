"""What people who test hooks see: each line is right, or an error that is named."""

from __future__ import annotations

from pathlib import Path
from typing import Any, assert_type

from hookport import Decision, Event, before_tool, testing


@before_tool("shell")
def guard(event: Event) -> Decision | None:
    return None


push = testing.before_tool(command="git push --force")
assert_type(push, Event)
assert_type(testing.after_tool("shell", output="text", command="ls"), Event)
assert_type(testing.event("before_compact", source="manual"), Event)
assert_type(testing.decide(guard, push), Decision)
assert_type(testing.decide([guard, guard], push, agent="any"), Decision)
assert_type(testing.decide(testing, push, on_failure="closed"), Decision)
assert_type(testing.expect(Path("hook.py"), push, "deny", reason_contains="human"), Decision)
assert_type(testing.payload("any", push), dict[str, Any])
assert_type(testing.send("hook.py", push, agent="any"), testing.Reply)
assert_type(testing.send("hook.py", push, agent="any").exit_code, int)
assert_type(testing.agents(push), tuple[str, ...])

testing.decide(7, push)  # type: ignore[arg-type]
testing.decide(guard)  # type: ignore[call-arg]
testing.expect(guard, push, "refuse")  # type: ignore[arg-type]
testing.send("hook.py", push)  # type: ignore[call-arg]
testing.before_prompt()  # type: ignore[call-arg]
