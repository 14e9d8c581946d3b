"""Fields of an answer that few agents have: they are carried over where the agent takes them, else noted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hookport.agents import get, get_wire, list_agents, list_dialects
from hookport.convert.degrade import degrade
from hookport.findings import AnswerFieldLost
from hookport.install import sync
from hookport.install.sync import SyncRequest
from hookport.model.hooks import Handler, Hook, Manifest
from hookport.model.runs import Call, Decision, Event, RunResult
from hookport.project import sources
from hookport.project.answers import check_answers
from hookport.runtime.merge import merge_decisions
from hookport.wire.answers import read_answer, write_answer
from hookport.wire.spellings import put
from hookport.wire.table import Wire, find_table

ROWS = [
    pytest.param(it, native, word, place, id=f"{it.id}-{native}-{word}")
    for it in map(get_wire, list_dialects())
    for native, canonical in it.events.items()
    for word, place in find_table(it.extras, native, canonical).items()
]


def answer_with(it: Wire, native: str, word: str, place: str) -> dict[str, Any]:
    """An answer of a script that says the field, with the verdict that it goes with."""
    verdict = word.partition("@")[2]
    tree: dict[str, Any] = {}
    if verdict:
        event = Event(it.events[native], it.id, native, call=Call("shell"))
        tree = json.loads(write_answer(it, event, Decision(verdict, "why"))[0].stdout)  # type: ignore[arg-type]
    put(tree, place, "decline" if word == "action" else ["said"])
    if place.startswith("hookSpecificOutput."):
        put(tree, "hookSpecificOutput.hookEventName", it.said.get(native, native))
    return tree


@pytest.mark.parametrize(("it", "native", "word", "place"), ROWS)
def test_same_dialect_gets_it_all(it: Wire, native: str, word: str, place: str) -> None:
    """What a script says to its own agent through the bridge is what it says without it."""
    tree = answer_with(it, native, word, place)
    event = Event(it.events[native], it.id, native)
    read = read_answer(it, RunResult("completed", 0, json.dumps(tree)), native=native, canonical=event.event)
    assert read.more == {word.partition("@")[0]: "decline" if word == "action" else ["said"]}
    answer, lost = write_answer(it, event, read)
    assert (json.loads(answer.stdout), lost) == (tree, [])


@pytest.mark.parametrize(("it", "native", "word", "place"), ROWS)
def test_no_field_vanishes_in_another_agent(it: Wire, native: str, word: str, place: str) -> None:
    """Every other agent with the event takes the field, or what is lost names it."""
    plain, _, verdict = word.partition("@")
    decision = Decision(verdict or "none", "why", more={plain: ["said"]})  # type: ignore[arg-type]
    for other in map(get_wire, list_dialects()):
        for theirs, canonical in other.events.items():
            if canonical != it.events[native] or not other.fires:
                continue
            event = Event(canonical, other.id, theirs)
            answer, lost = write_answer(other, event, decision)
            is_named = any(one.startswith(f"{plain}:") for one in lost)
            assert ("said" in answer.stdout) != is_named, (other.id, answer, lost)


def test_what_goes_with_an_overruled_verdict_is_dropped() -> None:
    """An accept beside another hook's decline must not be sent with the decline."""
    accept = Decision("allow", more={"action": "accept", "content": {"a": 1}})
    decline = Decision("deny", "no", more={"action": "decline"})
    for hooks in ([accept, decline], [decline, accept]):
        assert merge_decisions(hooks) == Decision("deny", "no", more={"action": "decline"})


@pytest.mark.parametrize(
    ("event", "answer", "target", "fields"),
    [
        ("SessionStart", {"sessionTitle": "t", "watchPaths": []}, "codex", "sessionTitle, watchPaths"),
        ("UserPromptSubmit", {"suppressOriginalPrompt": True}, "gemini-cli", "suppressOriginalPrompt"),
        ("PermissionRequest", {"decision": {"updatedPermissions": []}}, "codex", "updatedPermissions"),
        ("PermissionRequest", {"decision": {"updatedPermissions": []}}, "qwen-code", ""),
        ("SessionStart", {"sessionTitle": "t"}, "claude-code", ""),
        ("SessionStart", {"additionalContext": "t"}, "codex", ""),
    ],
)
def test_conversion_names_what_a_target_does_not_take(
    event: str, answer: dict[str, Any], target: str, fields: str
) -> None:
    """By the text of the script, as for other features."""
    canonical = get_wire("claude-code").events[event]
    hook = Hook(canonical, Handler(command="./say.py"), dialect="claude-code")
    text = f"print(json.dumps({ {'hookSpecificOutput': answer} }))"
    degraded = degrade(Manifest((hook,)), get(target), ("here",), {"./say.py": {"say.py": text}})
    found = [one.message for one in degraded.findings if one.code == AnswerFieldLost.code]
    assert found == ([f"{fields} in its answer has no effect in {target}"] if fields else [])


TITLE = """#!/bin/sh
echo '{"hookSpecificOutput": {"hookEventName": "SessionStart", "sessionTitle": "t"}}'
"""


@pytest.mark.parametrize("agent", list_agents())
def test_sync_names_what_an_agent_does_not_take(agent: str, tmp_path: Path) -> None:
    """Through the bridge too, and not where the agent has no such event or takes the field."""
    root, home = tmp_path / "project", tmp_path / "home"
    for folder in (root / ".git", root / ".claude", home):
        folder.mkdir(parents=True)
    (root / "title.sh").write_text(TITLE)
    command = 'cd "$CLAUDE_PROJECT_DIR" && sh title.sh'
    hooks = {"SessionStart": [{"hooks": [{"type": "command", "command": command}]}]}
    (root / ".claude/settings.json").write_text(json.dumps({"hooks": hooks}))
    scope: Any = "project" if any(one.scope == "project" for one in get(agent).locations) else "user"
    env = {"HOME": str(home), "PATH": "/usr/bin:/bin"}
    (planned,) = sync.plan_sync(str(root), env, SyncRequest((agent,), scope, "bridge")).agents
    told = [one.message for one in planned.findings if one.code == AnswerFieldLost.code]
    is_lost = agent != "claude-code" and "session_start" in get_wire(agent).natives
    assert told == ([f"sessionTitle in its answer has no effect in {agent}"] if is_lost else [])


@pytest.mark.parametrize(
    ("place", "event", "fields"),
    [
        (".claude/settings.json", "SessionStart", ""),
        (".codex/hooks.json", "SessionStart", "sessionTitle"),
        (".gemini/settings.json", "SessionStart", "sessionTitle"),
        (".gemini/settings.json", "BeforeTool", ""),
    ],
)
def test_check_names_what_its_own_agent_does_not_take(
    place: str, event: str, fields: str, tmp_path: Path
) -> None:
    file = tmp_path / place
    file.parent.mkdir()
    (tmp_path / "title.sh").write_text(TITLE)
    hooks = {event: [{"hooks": [{"type": "command", "command": "sh title.sh"}]}]}
    file.write_text(json.dumps({"hooks": hooks}))
    source = sources.find(file)
    found = check_answers(sources.read(source), source.root)
    told = [one.message for one in found if one.code == AnswerFieldLost.code]
    assert told == ([f"{fields} in its answer has no effect in {source.dialect.id}"] if fields else [])
