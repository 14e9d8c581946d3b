"""Events that happened become cases that hold, from the journal and as they were recorded."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hookport.project.discovery import discover
from hookport.testing import happened, record, session
from hookport.testing.happened import RecordedEvent
from tests.approval import approve

pytestmark = pytest.mark.skipif(os.name == "nt", reason="hooks here are shell scripts")

BRIDGE = Path(__file__).parent.parent / "src" / "hookport" / "bridge.py"
LONG = 60
GUARD = """#!/bin/sh
read -r input
case $input in
  *deny-me*) echo "no: not here" >&2; exit 2 ;;
  *break-me*) kill -9 $$ ;;
esac
"""
REWRITE = """echo '{"updated_input": {"command": "ls -l"}, "context": "be careful"}'"""


def universal(command: str, **more: str) -> dict[str, Any]:
    return {**more, "hooks": [{"type": "command", "command": command}]}


FILES = {
    "hooks/hooks.json": json.dumps(
        {
            "version": 1,
            "hooks": {
                "pre-tool-use": [
                    universal("true", matcher="Write"),
                    universal("${PACKAGE_ROOT}/scripts/guard.sh", matcher="Bash"),
                    universal("${PACKAGE_ROOT}/scripts/guard.sh", matcher="Bash|Read"),
                ],
                "pre-prompt": [universal("${PACKAGE_ROOT}/scripts/guard.sh")],
            },
        }
    ),
    ".agents/hooks/guard/HOOK.md": "---\nname: guard\ndescription: d\ntrigger: before_tool\n---\n",
    ".agents/hooks/guard/scripts/run.sh": GUARD,
    ".hookport/hooks.yaml": json.dumps(
        {
            "spec": "hooks/1.0",
            "hooks": [
                {
                    "event": "before_tool_execute",
                    "matcher": "shell",
                    "handler": {"type": "command", "command": REWRITE},
                }
            ],
        }
    ),
    "scripts/guard.sh": GUARD,
}
EVENTS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    (
        "claude-code",
        "PreToolUse",
        {"tool_name": "Bash", "tool_input": {"command": "deny-me --password hunter2"}},
    ),
    ("claude-code", "PreToolUse", {"tool_name": "Read", "tool_input": {"file_path": "HERE/break-me"}}),
    ("gemini-cli", "BeforeTool", {"tool_name": "run_shell_command", "tool_input": {"command": "ls HOME"}}),
    ("cursor", "beforeShellExecution", {"command": "deny-me"}),
    ("claude-code", "UserPromptSubmit", {"prompt": "deny-me"}),
    ("claude-code", "PreToolUse", {"tool_name": "mcp__git__push", "tool_input": {"text": "deny-me"}}),
)


class Project:
    """A repository with hooks in which events happened."""

    def __init__(self, folder: Path) -> None:
        self.root, self.kept = folder / "project", folder / "kept"
        self.env = {"PATH": os.environ["PATH"], "HOME": str(folder / "home")}
        (self.root / ".git").mkdir(parents=True)
        for name, text in FILES.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            path.chmod(0o755)
        approve(self.root, self.env)
        for agent, native, said in EVENTS:
            self.fire(agent, native, said)

    def fire(self, agent: str, native: str, said: dict[str, Any]) -> None:
        named = {"hook_event_name": native, "session_id": "s", "cwd": str(self.root), **said}
        text = json.dumps(named).replace("HERE", str(self.root)).replace("HOME", self.env["HOME"])
        words = ["dispatch", agent, native, "--record", str(self.kept)]
        subprocess.run(
            [sys.executable, str(BRIDGE), *words],
            cwd=self.root,
            env=self.env,
            input=text.encode(),
            capture_output=True,
            timeout=LONG,
            check=False,
        )

    def drafts(self, events: happened.RecordedEvents, **choice: Any) -> record.Drafts:
        found = discover(str(self.root), self.env)
        return record.draft_cases(events.events, found, self.env, record.DraftChoice(**choice))

    def statuses(self) -> dict[str, list[str]]:
        tests = (self.root / place / "tests" for place in ("hooks", ".agents/hooks/guard", ".hookport"))
        results = [
            one for folder in tests for one in session.perform_all(session.list_tasks(folder, self.env))
        ]
        found: dict[str, list[str]] = {}
        for one in results:
            found.setdefault(one.status, []).append(f"{one.task.id}: {one.differences}")
        return found


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return Project(tmp_path_factory.mktemp("record").resolve())


def texts(made: record.Drafts) -> str:
    return "\n".join(data.decode() for one in made.drafts for data in one.files.values())


def test_what_happened_is_what_the_cases_expect(project: Project) -> None:
    made = project.drafts(happened.read_folder(project.kept))
    assert (len(made.drafts), made.events, made.notes) == (13, len(EVENTS), ())
    verdicts = [one.verdict for one in made.drafts]
    assert {verdict: verdicts.count(verdict) for verdict in verdicts} == {"deny": 4, "none": 9}
    text = texts(made)
    assert [word for word in ("hunter2", str(project.root), project.env["HOME"]) if word in text] == []
    assert "ls /home/user" in text
    assert "hook-index: all" in text
    assert "updated-input:\n    command: ls -l\n" in text
    assert "context-contains:\n    - be careful\n" in text
    assert "failure-contains:" in text
    written = record.write_drafts(made.drafts)
    assert (len(written.new), written.kept) == (27, ())
    assert (project.root / ".hookport" / "tests" / "test-config.json").exists()
    assert project.statuses().get("failed", []) == []
    assert record.write_drafts(made.drafts) == record.WrittenFiles((), written.new)


def test_the_journal_gives_the_same_cases_and_says_what_it_lacks(project: Project) -> None:
    whole = project.drafts(happened.read_folder(project.kept))
    kept = project.drafts(happened.read_journal(project.env))
    prompt = [one.name for one in kept.drafts if one.note]
    assert prompt == [one.name for one in kept.drafts if "pre-prompt" in one.name]
    assert {one.name for one in kept.drafts} - {one.name for one in whole.drafts} == set(prompt)
    (note,) = (one.note for one in kept.drafts if one.note)
    assert note.endswith("the journal does not store the prompt, so the fixture lacks it")


def test_a_choice_takes_the_last_events_of_some_hooks(project: Project) -> None:
    made = project.drafts(happened.read_folder(project.kept), hook="HOOK.md", last=2)
    assert [(one.folder.parent.name, one.verdict) for one in made.drafts] == [("guard", "deny")] * 2
    assert (made.events, made.same) == (2, 0)


def test_an_event_that_came_twice_is_one_case(project: Project) -> None:
    events = happened.read_folder(project.kept)
    twice = happened.RecordedEvents((*events.events, *events.events))
    once = project.drafts(events)
    assert project.drafts(twice) == once._replace(events=2 * once.events, same=len(once.drafts))


def test_a_hook_that_was_not_asked_gets_a_case_to_fill_in(project: Project) -> None:
    events = [one._replace(hooks=()) for one in happened.read_folder(project.kept).events]
    made = project.drafts(happened.RecordedEvents(tuple(events)), hook="HOOK.md", last=1)
    (draft,) = made.drafts
    assert draft.verdict == ""
    (text,) = (data.decode() for name, data in draft.files.items() if name.endswith(".yaml"))
    assert text.endswith(record.NOT_RUN_NOTE)
    assert "\nexpected:" not in text


def test_the_journal_gives_a_hook_of_the_agents_own_the_input_of_the_call(project: Project) -> None:
    """The journal keeps the input by its canonical names; the fixture has those of the agent."""
    (call,) = (
        one._replace(hooks=())
        for one in happened.read_journal(project.env).events
        if one.event.call and one.event.call.tool == "file_read"
    )
    settings = project.root / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text(json.dumps({"hooks": {"PreToolUse": [universal("true", matcher="Read")]}}))
    made = project.drafts(happened.RecordedEvents((call,)), hook="settings.json", last=1)
    settings.unlink()
    (text,) = (data.decode() for one in made.drafts for name, data in one.files.items() if "fixtures" in name)
    assert json.loads(text)["tool_input"] == {"file_path": "${PACKAGE_ROOT}/break-me"}


@pytest.mark.parametrize(
    ("data", "note"),
    [
        (b"{", "cannot read it: "),
        (b"[]", "is not a recorded event"),
        (b'{"agent": "nobody"}', "unknown agent 'nobody'"),
        (b'{"agent": "codex"}', "has no payload: 'payload_base64'"),
        (b'{"agent": "codex", "payload": "no"}', "the payload is not JSON: "),
    ],
)
def test_a_file_that_is_no_event_is_told_and_left_out(data: bytes, note: str, tmp_path: Path) -> None:
    (tmp_path / "one.json").write_bytes(data)
    found = happened.read_folder(tmp_path)
    assert found.events == ()
    assert found.notes[0].startswith(f"one.json: {note}")


def test_the_journal_of_other_versions_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    place = tmp_path / "journal.jsonl"
    rows: list[dict[str, Any]] = [
        {"time": "t1", "agent": "codex", "notes": ["the event was not recorded"]},
        {"time": "t2", "agent": "gone", "event": "session_end"},
        {
            "time": "t3",
            "agent": "codex",
            "event": "agent_stop",
            "native": "Stop",
            "hooks": "?",
            "decision": 1,
        },
        {"time": "t4", "agent": "codex", "event": "agent_stop", "notes": ["async: over"]},
    ]
    place.write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = happened.read_journal({"HOOKPORT_STATE_DIR": str(tmp_path)})
    assert [(one.time, one.decision, one.hooks, one.lacks) for one in found.events] == [
        ("t3", {}, (), "the last message")
    ]
    assert found.notes == ("t2: unknown agent 'gone'",)
    assert isinstance(found.events[0], RecordedEvent)
