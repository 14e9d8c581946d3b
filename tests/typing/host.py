"""What people who embed hookport see: each line is right, or an error that is named."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, assert_type

from hookport.host import AsyncHost, Host, McpTool, Outcome, Run, Tool, Unapproved

host = Host(
    Path(),
    agent="my-agent",
    tools={"sh": "shell", "edit": Tool("file_edit", path="p"), "mcp": McpTool("s", "t"), "time": None},
    on_failure="closed",
)
outcome = host.before_tool("sh", {"command": "ls"}, session="s", cwd=Path(), timeout=3, env={"A": "1"})
assert_type(outcome, Outcome)
assert_type(outcome.verdict, Literal["none", "allow", "ask", "deny"])
assert_type(outcome.input, dict[str, Any])
assert_type(outcome.runs, tuple[Run, ...])
assert_type(host.fire("before_compact", facts={"model": "m"}), Outcome)
assert_type(host.unapproved(), Unapproved)

Host()  # type: ignore[call-arg]
Host(agent="a", on_failure="shut")  # type: ignore[arg-type]
host.before_tool("sh", {}, sesion="s")  # type: ignore[call-arg]
host.fire("before_tool")  # type: ignore[arg-type]
outcome.verdict = "allow"  # type: ignore[misc]


async def ask(other: AsyncHost) -> None:
    assert_type(await other.before_tool("sh", {}), Outcome)
    assert_type(await other.unapproved(), Unapproved)
