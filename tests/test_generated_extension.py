"""The extension that is generated for pi, run for real by node and called as pi calls it."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from tests import agent_data
from tests.engines import NODE
from tests.test_generated import (
    assert_built_in_imports,
    generated,
    hook,
    hostile,
    is_running,
    needs_node,
    run,
    wild,
)

needs_posix = pytest.mark.skipif(
    os.name == "nt" or not NODE, reason="no node that runs TypeScript, or no POSIX shell"
)

CALLER = """
import { readFileSync, writeFileSync } from "node:fs";
const { calls, ui, file, cwd } = JSON.parse(readFileSync("calls.json", "utf8"));
const extension = await import(file);
const handlers = {}, sent = [], shown = [];
const pi = {
  on: (name, handler) => { handlers[name] = handler; },
  sendUserMessage: (text, options) => { sent.push([text, options]); },
};
const ctx = {
  cwd,
  hasUI: ui !== null,
  ui: {
    notify: (text, kind) => shown.push([text, kind]),
    confirm: async (title, text) => { shown.push([title, text]); return ui; },
  },
  sessionManager: { getSessionId: () => "s1", getSessionFile: () => undefined },
  hasPendingMessages: () => true,
};
extension.default(pi);
const results = [];
for (const event of calls) {
  let result, error = null;
  try { result = await handlers[event.type]?.(event, ctx); } catch (thrown) { error = thrown.message; }
  results.push({ result: result ?? null, event, error });
}
const [exports, keys] = [extension, handlers].map(Object.keys);
writeFileSync("results.json", JSON.stringify({ exports, keys, results, sent, shown }));
process.exit(0);
"""
OURS = ("hook", "cwd", "root", "sessionId", "sessionFile", "stopActive", "finalMessage")
PERSON = {"type": "input", "text": "hi", "source": "interactive"}


class Extension:
    """A project with the extension of some hooks and what calls it; `ui` is what the person there says."""

    file = "./.pi/extensions/hookport.ts"
    below = ""

    def __init__(
        self,
        root: Path,
        *hooks: dict[str, Any],
        ui: bool | None = None,
        env: dict[str, str] | None = None,
    ) -> None:
        self.root, self.ui, self.env = root, ui, env or dict(os.environ)
        file = root / ".pi" / "extensions" / "hookport.ts"
        if hooks:
            file.parent.mkdir(parents=True)
            (text,) = generated("pi", *hooks).values()
            file.write_text(text, "utf-8")
        (root / "caller.mjs").write_text(CALLER, "utf-8")

    def call(self, *calls: dict[str, Any]) -> dict[str, Any]:
        tree = {
            "calls": calls,
            "ui": self.ui,
            "file": self.file,
            "cwd": str(self.root.resolve() / self.below),
        }
        (self.root / "calls.json").write_text(json.dumps(tree), "utf-8")
        done = run([NODE, "caller.mjs"], self.root, b"", self.env)
        assert done.returncode == 0, done.stderr.decode()
        assert not (self.root / "pwned").exists()
        result: dict[str, Any] = json.loads((self.root / "results.json").read_bytes())
        return result

    def before(self, command: str = "ls", tool: str = "bash") -> dict[str, Any]:
        """What comes of one call before a tool runs."""
        event = {**captured("tool_call"), "toolName": tool, "input": {"command": command}}
        result: dict[str, Any] = self.call(event)["results"][0]
        return result


def captured(name: str) -> dict[str, Any]:
    """The event's own object of a captured payload."""
    tree: dict[str, Any] = json.loads(agent_data.payload(f"pi/{name}.json").read_bytes())
    return {key: value for key, value in tree.items() if key not in OURS}


def denied(reason: str) -> dict[str, Any]:
    return {"block": True, "reason": reason}


@needs_node
@settings(max_examples=6)
@given(text=hostile, name=hostile)
def test_it_is_javascript_whatever_is_in_it(text: str, name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "extension.mjs"
        (source,) = generated("pi", hook(f"x{text}", name=name, matcher=["shell", name or "x"])).values()
        file.write_text(source, "utf-8")
        checked = subprocess.run([NODE, "--check", str(file)], capture_output=True, check=False)
        assert (checked.returncode, checked.stderr) == (0, b"")
        assert source.isascii()
        assert_built_in_imports(source)


@needs_posix
class TestExtension:
    """What it does with the events of pi."""

    def test_it_listens_to_what_it_needs(self, tmp_path: Path) -> None:
        result = Extension(tmp_path, hook("true")).call()
        assert (result["exports"], result["keys"]) == (["default"], ["tool_call", "tool_result"])

    def test_exit_2_blocks_with_the_reason_and_stdin_ends(self, tmp_path: Path) -> None:
        extension = Extension(tmp_path, hook("cat >seen; echo 'no \"rm\"' >&2; exit 2", matcher="shell"))
        event = captured("tool_call")
        (one,) = extension.call(event)["results"]
        assert one == {"result": denied('no "rm"'), "event": event, "error": None}
        root = str(tmp_path.resolve())
        assert json.loads((tmp_path / "seen").read_bytes()) == {
            "hook": "tool_call",
            **event,
            "cwd": root,
            "root": root,
            "sessionId": "s1",
            "stopActive": False,
        }

    @pytest.mark.parametrize(
        ("command", "fields", "reason"),
        [
            ("exit 1", {}, None),
            ("exit 1", {"on_failure": "block"}, "hook g failed with exit code 1"),
            ("kill -9 $$", {"on_failure": "block"}, "hook g failed with a signal"),
            ("exec sleep 40", {"timeout": 1, "timeout_action": "block"}, "hook g did not answer in time"),
            ("sleep 43 & sleep 44", {"timeout": 1, "on_failure": "block"}, "hook g did not answer in time"),
            ("exit 2", {"async": True}, None),
            ('echo \'{"decision": "deny", "reason": "R"}\'', {}, "R"),
            ("yes | head -c 3000000; echo R >&2; exit 2", {}, "R"),
        ],
    )
    def test_failures_follow_the_policy(
        self, tmp_path: Path, command: str, fields: dict[str, Any], reason: str | None
    ) -> None:
        extension = Extension(tmp_path, hook(command, name="g", handler=fields))
        assert extension.before()["result"] == (denied(reason) if reason else None)

    def test_a_hook_that_cannot_start_follows_the_policy(self, tmp_path: Path) -> None:
        fields = {"cwd": "no/such/folder", "on_failure": "block"}
        result = Extension(tmp_path, hook("true", name="g", handler=fields)).before()["result"]
        assert result["block"] is True
        assert result["reason"].startswith("hook g did not start: ")

    def test_a_late_hook_goes_with_all_it_started(self, tmp_path: Path) -> None:
        late = hook("sleep 300 & echo $! >child; sleep 301", handler={"timeout": 1})
        assert Extension(tmp_path, late).before()["result"] is None
        assert not is_running(tmp_path / "child")

    def test_a_large_payload_nobody_reads_hangs_nothing(self, tmp_path: Path) -> None:
        extension = Extension(tmp_path, hook("exit 0"), hook("echo R >&2; exit 2"))
        assert extension.before("x" * 3_000_000)["result"] == denied("R")

    def test_a_rewrite_changes_the_keys_and_the_next_hook_sees_it(self, tmp_path: Path) -> None:
        said = shlex.quote(json.dumps({"updated_input": {"command": "ls"}}))
        rewrites = hook(f"echo {said}", capabilities=["input_rewrite"])
        one = Extension(tmp_path, rewrites, hook("cat >seen")).before("rm -rf build")
        assert (one["result"], one["event"]["input"]) == (None, {"command": "ls"})
        assert json.loads((tmp_path / "seen").read_bytes())["input"] == {"command": "ls"}

    @pytest.mark.parametrize(("at", "root"), [("deep", "deep"), (".", "."), ("", "deep/down")])
    def test_a_persons_own_extension_works_for_the_repository(
        self, tmp_path: Path, at: str, root: str
    ) -> None:
        extension = Extension(tmp_path, hook('echo "$(pwd) $PI_PROJECT_DIR" >&2; exit 2'))
        (tmp_path / "deep" / "down").mkdir(parents=True)
        if at:
            (tmp_path / at / ".git").mkdir()
        shutil.move(tmp_path / ".pi" / "extensions", tmp_path / "agent")
        extension.file, extension.below = "./agent/hookport.ts", "deep/down"
        path = (tmp_path / root).resolve()
        assert extension.before()["result"] == denied(f"{path} {path}")

    @pytest.mark.parametrize(
        ("ui", "result", "shown"),
        [
            (None, denied("may it?"), []),
            (False, denied("may it?"), [["hook g asks", "may it?"]]),
            (True, None, [["hook g asks", "may it?"]]),
        ],
    )
    def test_a_person_is_asked_where_there_is_one(
        self, tmp_path: Path, ui: bool | None, result: Any, shown: list[list[str]]
    ) -> None:
        asks = hook('echo \'{"decision": "ask", "reason": "may it?"}\'', name="g")
        found = Extension(tmp_path, asks, ui=ui).call(captured("tool_call"))
        assert (found["results"][0]["result"], found["shown"]) == (result, shown)

    def test_context_goes_where_the_model_reads_it(self, tmp_path: Path) -> None:
        events = ("before_tool_execute", "after_tool_execute", "before_prompt", "session_start")
        extension = Extension(tmp_path, *(hook(f'echo \'{{"context": "{e}"}}\'', event=e) for e in events))
        calls = [captured(name) for name in ("session_start", "input", "before_agent_start")]
        calls += [captured("before_agent_start"), captured("tool_call"), captured("tool_result")]
        calls += [{**captured("input"), "streamingBehavior": "steer"}]
        found = [one["result"] for one in extension.call(*calls)["results"]]
        told = {"customType": "hookport", "content": "session_start\n\nbefore_prompt", "display": False}
        texts = ["before_tool_execute", "after_tool_execute"]
        content = captured("tool_result")["content"] + [{"type": "text", "text": text} for text in texts]
        steered = {"action": "transform", "text": captured("input")["text"] + "\n\nbefore_prompt"}
        assert found == [None, None, {"message": told}, None, None, {"content": content}, steered]

    def test_a_result_is_replaced_or_refused(self, tmp_path: Path) -> None:
        new = hook('echo \'{"updated_result": "NEW"}\'', event="after_tool_execute")
        no = hook('echo \'{"decision": "deny", "reason": "R"}\'', event="tool_use_failure")
        calls = (captured("tool_result"), captured("tool_result (error)"))
        found = [one["result"] for one in Extension(tmp_path, new, no).call(*calls)["results"]]
        assert found == [
            {"content": [{"type": "text", "text": "NEW"}]},
            {"content": [{"type": "text", "text": "R"}], "isError": True},
        ]

    def test_a_prompt_is_kept_from_the_agent_and_a_compaction_is_cancelled(self, tmp_path: Path) -> None:
        hooks = [
            hook("echo R >&2; exit 2", event=e, blocking=True) for e in ("before_prompt", "before_compact")
        ]
        compact = {"type": "session_before_compact", "reason": "manual", "branchEntries": []}
        result = Extension(tmp_path, *hooks, ui=True).call(captured("input"), compact)
        assert [one["result"] for one in result["results"]] == [{"action": "handled"}, {"cancel": True}]
        assert result["shown"] == [["R", "error"], ["R", "warning"]]

    def test_an_agent_that_may_not_stop_is_prompted_eight_times(self, tmp_path: Path) -> None:
        stop = hook("cat >>seen; echo >>seen; echo R >&2; exit 2", event="agent_stop", blocking=True)
        extension = Extension(tmp_path, stop, hook("echo p >>prompts", event="before_prompt"))
        end = captured("agent_end")
        own = {"type": "input", "text": "R", "source": "extension"}
        kept = [call for _ in range(8) for call in (end, own)]
        result = extension.call(PERSON, *kept, end, PERSON, end)
        assert result["sent"] == [["R", {"deliverAs": "followUp"}]] * 9
        seen = [json.loads(line) for line in (tmp_path / "seen").read_text("utf-8").splitlines()]
        assert [one["stopActive"] for one in seen] == [False, *[True] * 8, False]
        assert {one["finalMessage"] for one in seen} == {"All done. [req 7]"}
        # What the extension itself said is no prompt of the person's.
        assert (tmp_path / "prompts").read_text("utf-8") == "p\np\n"

    def test_ends_are_told_apart(self, tmp_path: Path) -> None:
        events = ("agent_stop", "error_occurred", "interrupted", "after_model")
        extension = Extension(tmp_path, *(hook(f"echo {event} >>log", event=event) for event in events))
        ends = [
            {"type": "agent_end", "messages": [{"role": "assistant", "content": [], "stopReason": how}]}
            for how in ("stop", "error", "aborted")
        ]
        own = {"type": "message_end", "message": {"role": "user", "content": "hi"}}
        extension.call(*ends, own, captured("message_end (assistant)"))
        assert (tmp_path / "log").read_text("utf-8").split() == list(events)

    @pytest.mark.parametrize(
        ("command", "result", "ran"),
        [
            ("rm -rf build", denied('no "rm -rf" here'), "rm -rf build"),
            ("curl x", denied("may it?"), "curl x"),
            ("npm test", None, "pnpm test"),
        ],
    )
    def test_a_guard_of_another_agent_is_obeyed(
        self, tmp_path: Path, command: str, result: Any, ran: str
    ) -> None:
        extension = Extension(tmp_path, env=wild(tmp_path, "pi", "PreToolUse"))
        one = extension.before(command)
        assert (one["result"], one["event"]["input"]["command"]) == (result, ran)
