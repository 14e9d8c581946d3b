"""Transcripts: every form that an agent writes is read, and a script finds the one of its own agent.

The files were written by real agents: one prompt, a text with a shell call that succeeds, one that exits
with 3, and a last text. Long texts are cut.
"""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from hookport import findings as f
from hookport.agents import get, get_wire, list_agents
from hookport.install import sync
from hookport.install.sync import SyncRequest
from hookport.model.runs import Event
from hookport.runtime import engine, surroundings, transcripts
from hookport.runtime.plan import PlannedHook
from tests import agent_data
from tests.agent_data import facts_of

FILES = agent_data.find("transcript.jsonl")
PROMPT, FIRST, LAST = "PROMPT please do the task.", "SAY I will look.", "FINAL All done."
COMMANDS = ["echo RESULT", "echo ERR >&2; exit 3"]
# As the Stop hook of a public plugin finds the last answer.
LAST_ANSWER = r"""
import json, sys
path = json.load(sys.stdin)["transcript_path"]
lines = [line for line in open(path) if '"role":"assistant"' in line]
blocks = json.loads(lines[-1])["message"]["content"]
print("\n".join(block["text"] for block in blocks if block["type"] == "text"), file=sys.stderr)
sys.exit(2)
"""


def of(agent: str) -> list[transcripts.TranscriptEntry]:
    return list(transcripts.read_entries(str(FILES[agent]), get_wire(agent).transcript))


@pytest.mark.parametrize("agent", [agent for agent in FILES if agent != "vs-code-copilot"])
def test_every_form_tells_the_same(agent: str) -> None:
    """The prompt, the texts, the calls with what they ran, and which of them failed."""
    entries = of(agent)
    assert [(one.kind, one.text) for one in entries if one.kind in ("user", "assistant")] == [
        ("user", PROMPT),
        ("assistant", FIRST),
        ("assistant", LAST),
    ]
    calls = [transcripts._read_call(one, get_wire(agent)) for one in entries if one.kind == "call"]
    assert [(call.tool, call.input["command"]) for call in calls] == [("shell", one) for one in COMMANDS]
    results = [one for one in entries if one.kind == "result"]
    assert [(one.id, one.is_error) for one in results] == [(calls[0].id, False), (calls[1].id, True)]
    assert all(one.text for one in results)


def test_a_form_that_keeps_less() -> None:
    """VS Code keeps no results."""
    assert [(one.kind, one.text) for one in of("vs-code-copilot")] == [
        ("user", "delete the victim"),
        ("call", ""),
        ("result", ""),
        ("assistant", "done"),
    ]


def test_every_agent_with_a_known_form_has_a_file() -> None:
    assert {*FILES} == {name for name in list_agents() if get_wire(name).transcript}


def stop(agent: str, path: Path | None = None, **more: Any) -> Event:
    facts = {"transcript": str(path or FILES[agent]), **more.pop("facts", {})}
    return Event("agent_stop", agent, session="s1", cwd="/", root="/", facts=facts, **more)


def run(event: Event, hook: PlannedHook, folder: Path) -> engine.DispatchReport:
    env = {"PATH": os.environ["PATH"], "HOOKPORT_STATE_DIR": str(folder / "state")}
    return engine.run_hooks(event, [hook], engine.RunSetting(get_wire(event.agent), get_wire, env))


def script(folder: Path, text: str) -> PlannedHook:
    """A Stop hook of Claude Code, whose command only names a file."""
    file = folder / "stop.py"
    file.write_text(text, "utf-8")
    return PlannedHook("h", "agent_stop", "claude-code", "Stop", command=f"python3 {file}", files=[str(file)])


@pytest.mark.skipif(os.name == "nt", reason="the command is for a shell")
@pytest.mark.parametrize("agent", FILES)
def test_a_script_finds_the_last_answer(agent: str, tmp_path: Path) -> None:
    """In the transcript of every agent, as in that of its own."""
    report = run(stop(agent), script(tmp_path, LAST_ANSWER), tmp_path)
    assert report.decision.reason == ("done" if agent == "vs-code-copilot" else LAST)


@pytest.mark.skipif(os.name == "nt", reason="the command is for a shell")
def test_what_the_agent_has_not_written_yet_is_there(tmp_path: Path) -> None:
    """The last message of the payload, where the file does not have it."""
    report = run(stop("qwen-code", final_message="One more thing."), script(tmp_path, LAST_ANSWER), tmp_path)
    assert report.decision.reason == "One more thing."


def shown(event: Event, hook: PlannedHook, folder: Path) -> Event:
    env = {"HOOKPORT_STATE_DIR": str(folder / "state")}
    own, agent = get_wire(hook.dialect), get_wire(event.agent)
    wanted = surroundings.find_transcript_needs(hook, own, event, hook.native, agent)
    return transcripts.add_transcript(wanted, own, event, agent, env) if wanted else event


def test_only_who_reads_it_gets_a_copy(tmp_path: Path) -> None:
    """A hook of another form's agent, one that does not name the field, and a file that is not there."""
    event = stop("codex")
    reading = PlannedHook("h", "agent_stop", "claude-code", "Stop", command="jq -r .transcript_path")
    assert shown(event, reading.replace(command="jq -r .cwd"), tmp_path) == event
    assert shown(event, reading.replace(dialect="qwen-code"), tmp_path) == event
    gone = stop("codex", tmp_path / "codex.jsonl")
    assert shown(gone, reading, tmp_path) == gone
    assert not (tmp_path / "state").exists()
    copy = Path(shown(event, reading, tmp_path).facts["transcript"])
    assert (copy.parent, copy.stat().st_mode & 0o777) == (tmp_path / "state" / "transcripts", 0o600)
    lines = [json.loads(line) for line in copy.read_text("utf-8").splitlines()]
    assert [(line["type"], line["message"]["role"]) for line in lines] == [
        *(("user", "user"), ("assistant", "assistant"), ("assistant", "assistant"), ("user", "user")),
        *(("assistant", "assistant"), ("user", "user"), ("assistant", "assistant")),
    ]
    assert lines[2]["message"]["content"] == [
        {"type": "tool_use", "id": "call_1_0", "name": "Bash", "input": {"command": "echo RESULT"}}
    ]
    assert lines[5]["message"]["content"][0]["is_error"] is True
    assert [line["parentUuid"] for line in lines[1:]] == [line["uuid"] for line in lines[:-1]]


@pytest.mark.parametrize("agent", FILES)
def test_steps_and_duration_are_counted(agent: str, tmp_path: Path) -> None:
    """A HOOK.md hook is told how many calls there were and how long the session has lasted."""
    calls = 1 if agent == "vs-code-copilot" else 2
    hook = PlannedHook("h", "agent_stop", "agent-hooks", "before_stop", command="true")
    assert shown(stop(agent), hook, tmp_path).facts["steps"] == calls
    ended = stop(agent).replace(event="session_end")
    facts = shown(ended, hook.replace(event="session_end", native="session_end"), tmp_path).facts
    begun = time.time() * 1000 - facts["session_ms"]
    assert (facts["steps"], time.strftime("%Y-%m-%d", time.gmtime(begun / 1000))) == (calls, "2026-11-16")
    told = stop(agent, facts={"steps": 7})
    assert shown(told, hook, tmp_path).facts["steps"] == 7


def test_a_subagents_task_is_what_its_call_said(tmp_path: Path) -> None:
    record = {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "Agent"}]}
    record["content"][0]["input"] = {"prompt": "look at it", "description": "d"}  # type: ignore[index]
    path = tmp_path / "s.jsonl"
    path.write_text(json.dumps({"type": "assistant", "message": record}) + "\n", "utf-8")
    event = Event("subagent_start", "claude-code", session="s1", facts={"transcript": str(path)})
    hook = PlannedHook("h", "subagent_start", "agent-hooks", "subagent_start", command="true")
    assert shown(event, hook, tmp_path).prompt == "look at it"


@pytest.mark.parametrize("agent", list_agents())
def test_a_form_that_is_not_copied_is_told(agent: str, tmp_path: Path) -> None:
    root, home = tmp_path / "project", tmp_path / "home"
    for folder in (root / ".git", root / ".claude", home):
        folder.mkdir(parents=True)
    hook = {"hooks": [{"type": "command", "command": "tail -1 $(jq -r .transcript_path)"}]}
    (root / ".claude" / "settings.json").write_text(json.dumps({"hooks": {"PreToolUse": [hook]}}), "utf-8")
    scope: Any = "project" if any(one.scope == "project" for one in get(agent).locations) else "user"
    env = {"HOME": str(home), "PATH": os.environ["PATH"], "HOOKPORT_STATE_DIR": str(tmp_path / "state")}
    (planned,) = sync.plan_sync(str(root), env, SyncRequest((agent,), scope, "bridge")).agents
    told = [one for one in planned.findings if one.code == f.TranscriptDiffers.code]
    assert bool(told) is (facts_of(agent).transcript == "untranslated")
