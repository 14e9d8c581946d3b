"""The plugin that is generated for Amp, run for real by node and called as Amp's documentation says."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.engines import NODE
from tests.test_generated import generated, hook, run

pytestmark = pytest.mark.skipif(
    os.name == "nt" or not NODE, reason="no node that runs TypeScript, or no POSIX shell"
)

CALLER = """
import { readFileSync, writeFileSync } from "node:fs";
const { calls, says } = JSON.parse(readFileSync("calls.json", "utf8"));
const plugin = await import("./.amp/plugins/hookport.ts");
const handlers = {}, shown = [];
const amp = {
  on: (name, handler) => { handlers[name] = handler; },
  helpers: {
    shellCommandFromToolCall: (event) => (event.tool === "run" ? { command: event.input.cmd } : undefined),
  },
};
const ask = async (question) => {
  if (says === null) throw new Error("no person is present");
  shown.push(question);
  return says;
};
const ctx = { ui: { notify: async (text) => shown.push(text), confirm: ask } };
plugin.default(amp);
const results = [];
for (const [name, event] of calls) results.push((await handlers[name]?.(event, ctx)) ?? null);
writeFileSync("results.json", JSON.stringify({ keys: Object.keys(handlers), results, shown }));
process.exit(0);
"""


def call(root: Path, hooks: list[dict[str, Any]], *calls: Any, says: bool | None = None) -> dict[str, Any]:
    file = root / ".amp" / "plugins" / "hookport.ts"
    file.parent.mkdir(parents=True, exist_ok=True)
    (text,) = generated("amp", *hooks).values()
    file.write_text(text, "utf-8")
    (root / "caller.mjs").write_text(CALLER, "utf-8")
    (root / "calls.json").write_text(json.dumps({"calls": calls, "says": says}), "utf-8")
    done = run([NODE, "caller.mjs"], root, b"", dict(os.environ))
    assert done.returncode == 0, done.stderr.decode()
    result: dict[str, Any] = json.loads((root / "results.json").read_bytes())
    return result


def tool_call(cmd: str, tool: str = "Bash") -> list[Any]:
    return ["tool.call", {"toolUseID": "t1", "tool": tool, "input": {"cmd": cmd}, "thread": {"id": "T-1"}}]


def test_a_deny_a_rewrite_and_no_opinion(tmp_path: Path) -> None:
    guard = hook(
        """
payload=$(cat)
case $payload in
*rm*) echo no deleting here >&2; exit 2 ;;
*old*) echo '{"updated_input": {"cmd": "new"}}' ;;
esac
""",
        matcher="shell",
    )
    told = call(tmp_path, [guard], tool_call("rm -r x"), tool_call("old"), tool_call("ls"))
    assert told["results"] == [
        {"action": "reject-and-continue", "message": "no deleting here"},
        {"action": "modify", "input": {"cmd": "new"}},
        {"action": "allow"},
    ]
    assert told["keys"] == ["tool.call", "tool.result"]


def test_a_tool_that_runs_commands_under_another_name_is_seen(tmp_path: Path) -> None:
    told = call(
        tmp_path,
        [hook("echo no >&2; exit 2", matcher="shell")],
        tool_call("ls", "run"),
        tool_call("ls", "Read"),
    )
    assert told["results"] == [{"action": "reject-and-continue", "message": "no"}, {"action": "allow"}]


@pytest.mark.parametrize("says", [None, False, True])
def test_an_ask_is_a_question_or_a_deny(tmp_path: Path, says: bool | None) -> None:
    ask = hook("""echo '{"decision": "ask", "reason": "sure?"}'""")
    (result,) = call(tmp_path, [ask], tool_call("ls"), says=says)["results"]
    refused = {"action": "reject-and-continue", "message": "sure?"}
    assert result == ({"action": "allow"} if says else refused)


def test_context_reaches_the_result_and_the_next_request(tmp_path: Path) -> None:
    hooks = [
        hook("""echo '{"context": "use tabs"}'"""),
        hook("""echo '{"context": "remember"}'""", event="session_start"),
    ]
    done = {"toolUseID": "t1", "tool": "Bash", "input": {"cmd": "ls"}, "status": "done", "output": "a"}
    told = call(
        tmp_path,
        hooks,
        ["session.start", {"thread": {"id": "T-1"}}],
        ["agent.start", {"message": "hi", "thread": {"id": "T-1"}}],
        tool_call("ls"),
        ["tool.result", {**done, "thread": {"id": "T-1"}}],
    )
    assert told["results"] == [
        None,
        {"message": {"content": "remember", "display": False}},
        {"action": "allow"},
        {"status": "done", "output": "a\n\nuse tabs"},
    ]


def test_a_stop_hook_keeps_the_agent_going_a_few_times(tmp_path: Path) -> None:
    stop = hook("echo the tests fail >&2; exit 2", event="agent_stop", blocking=True)
    end = ["agent.end", {"message": "x", "status": "done", "messages": [], "thread": {"id": "T-1"}}]
    told = call(tmp_path, [stop], *[end] * 10)
    goes_on = {"action": "continue", "userMessage": "the tests fail"}
    assert told["results"] == [*[goes_on] * 8, None, goes_on]
