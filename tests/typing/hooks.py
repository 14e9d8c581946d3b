"""What people who write hooks see: each line is right, or an error that is named."""

from __future__ import annotations

from typing import assert_type

from hookport import (
    Decision,
    Event,
    after_tool,
    agent_stop,
    allow,
    ask,
    before_prompt,
    before_tool,
    context,
    deny,
    on,
    rewrite,
    run,
    session_end,
    session_start,
)


@before_tool("shell")
def one_word(event: Event) -> Decision | None:
    assert_type(event.command, str)
    assert_type(event.stop_active, bool)
    assert_type(event.tool, str)
    return deny("no") if "x" in event.command else None


def called(event: Event) -> None:
    """A decorated function is the function that it was."""
    assert_type(one_word(event), Decision | None)


@before_tool("shell", ["file_write", "file_edit"], {"mcp": {"server": "github", "tool": "merge"}})
@after_tool({"pattern": "^file_"})
def several(event: Event) -> list[Decision]:
    return [allow(), context("text")]


@before_prompt
@session_start()
@session_end
@agent_stop()
@on("before_compact")
def many_events(event: Event) -> None:
    event.cwd = "/"  # type: ignore[misc]
    event.comand  # type: ignore[attr-defined]  # noqa: B018


assert_type(allow(), Decision)
assert_type(deny("no"), Decision)
assert_type(ask("why"), Decision)
assert_type(context("text"), Decision)
assert_type(rewrite(command="ls"), Decision)
assert_type(rewrite({"command": "ls"}), Decision)
assert_type(run(), None)
run(on_failure="closed")

deny()  # type: ignore[call-arg]
context(7)  # type: ignore[arg-type]
run(on_failure="never")  # type: ignore[arg-type]
run("closed")  # type: ignore[call-arg]
on(before_tool)  # type: ignore[arg-type]


@before_tool("shell")  # type: ignore[type-var]
def not_an_answer(event: Event) -> str:
    return "deny"


@before_tool  # type: ignore[type-var]
def no_event() -> None: ...


before_tool({"mcp": "github"})  # type: ignore[call-overload]
before_tool(7)  # type: ignore[call-overload]


@agent_stop  # type: ignore[type-var]
async def nobody_waits(event: Event) -> Decision:
    return deny("no")
