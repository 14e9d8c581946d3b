"""What agents do not give a hook: all the time it asks for, and the model's ear. Laws over every agent."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from hookport import bridge, doctor
from hookport import findings as f
from hookport.agents import EventSpec, find_event_specs, get, get_wire, list_agents, list_dialects
from hookport.convert import pipeline
from hookport.doctor import status
from hookport.install import files, sync
from hookport.install.sync import SyncRequest
from hookport.model.events import EVENTS
from hookport.model.runs import Decision, Event
from hookport.runtime import dispatch, plan
from hookport.runtime.sources import HookSources
from hookport.shapes.entries import find_slots
from hookport.shapes.limits import find_longest_wait
from hookport.wire.answers import write_answer
from hookport.wire.table import find_wait
from tests.approval import approve

if TYPE_CHECKING:
    from hookport.install.targets import Scope
    from hookport.model.hooks import Hook

AGENTS = list_agents()
HUB = next(name for name in list_dialects() if get(name).is_hub)
MINUTE = timedelta(minutes=1)
TOLD = "the word is larch"
LOST = f.ContextUnread.code


class World(NamedTuple):
    """A project and a home, and the environment that names them."""

    root: Path
    env: dict[str, str]

    def manifest(self, *hooks: dict[str, Any]) -> None:
        file = self.root / ".hookport" / "hooks.json"
        file.parent.mkdir(exist_ok=True)
        file.write_text(json.dumps({"spec": "hooks/1.0", "hooks": list(hooks)}), "utf-8")

    def script(self, name: str, text: str) -> str:
        file = self.root / name
        file.write_text(f"#!/bin/sh\n{text}\n", "utf-8")
        file.chmod(0o755)
        return f"./{name}"

    def plan(self, agent: str) -> sync.AgentPlan:
        return sync.plan_sync(
            str(self.root), self.env, SyncRequest((agent,), scope_of(agent), "bridge")
        ).agents[0]

    def sync(self, agent: str) -> None:
        files.apply(self.plan(agent).changes, self.env, what="sync")


@pytest.fixture
def world(tmp_path: Path) -> World:
    root, home = tmp_path / "project", tmp_path / "home"
    for folder in (root / ".git", home):
        folder.mkdir(parents=True)
    return World(
        root,
        {
            "HOME": str(home),
            "PATH": os.environ["PATH"],
            "HOOKPORT_STATE_DIR": str(tmp_path / "state"),
            "XDG_CACHE_HOME": str(tmp_path / "cache"),
        },
    )


def scope_of(agent: str) -> Scope:
    return "project" if any(place.scope == "project" for place in get(agent).locations) else "user"


def least_wait(agent: str, specs: list[EventSpec]) -> timedelta | None:
    """After how long one of the agent's products goes on, on one of the events."""
    shorter = get(agent).handlers["command"].timeout.shorter
    limits = (find_longest_wait(get(agent), specs), shorter[1] if shorter else None)
    return min((limit for limit in limits if limit is not None), default=None)


def asked(event: str, timeout: timedelta) -> dict[str, Any]:
    blocking = EVENTS[event].blocks != "observe"
    handler = {"type": "command", "command": "./guard.sh", "timeout": timeout.total_seconds()}
    return {"name": f"on-{event}", "event": event, "blocking": blocking, "handler": handler}


def within(hook: Hook) -> list[float]:
    return [float(seconds) for seconds in re.findall(r"--within=([\d.]+)", hook.handler.command)]


# What the agents do, measured or read in their source, once more and by hand.
CEILINGS = {
    ("qwen-code", "PreToolUse"): 60.0,
    ("qwen-code", "UserPromptSubmit"): 60.0,
    ("qwen-code", "Stop"): 60.0,
    ("qwen-code", "SessionStart"): 0.0,
    ("kimi-cli", "PreToolUse"): 600.0,
    ("kimi-cli", "SessionEnd"): 5.0,
    ("codex", "SessionEnd"): 3.0,
    ("codex", "Interrupt"): 3.0,
    ("codex", "PreToolUse"): 0.0,
    ("claude-code", "SessionEnd"): 60.0,
    ("cline", "PreToolUse"): 115.0,
    ("gemini-cli", "BeforeTool"): 0.0,
}


def test_ceilings_are_those_of_the_agents() -> None:
    """0 where the agent has none."""
    rows = {
        (agent, native): [get_wire(agent).waits.get(name, (0.0, 0.0)) for name in (native, "*")]
        for agent, native in CEILINGS
    }
    assert {event: own[1] or every[1] for event, (own, every) in rows.items()} == CEILINGS


@pytest.mark.parametrize("agent", AGENTS)
def test_no_dispatch_waits_longer_than_its_agent(agent: str) -> None:
    """Whatever the entry says, or where it says nothing."""
    for spec in get(agent).events:
        most = find_longest_wait(get(agent), (spec,))
        waits = [find_wait(get_wire(agent), spec.native, told) for told in (0.0, 1.0, 1e9)]
        if most is not None:
            assert max(waits) <= most.total_seconds(), spec.native
            assert waits[0] > 0, spec.native
        assert waits[1] == min(1.0, most.total_seconds() if most else 1.0)


@pytest.mark.parametrize("agent", AGENTS)
def test_no_entry_has_more_time_than_its_agent_gives(agent: str, world: World) -> None:
    """And a guard that asks for more is an error; one that does not, or does not guard, is none."""
    events = [event for event in EVENTS if find_event_specs(get(agent), event)]
    limits = {event: least_wait(agent, find_event_specs(get(agent), event)) for event in events}
    world.script("guard.sh", "exit 0")
    world.manifest(*(asked(event, (limits[event] or MINUTE) + MINUTE) for event in events))
    made = world.plan(agent)
    for hook in made.hooks:
        for spec, _ in find_slots(get(agent), hook):
            most = find_longest_wait(get(agent), (spec,))
            times = [*within(hook), hook.handler.timeout.total_seconds() if hook.handler.timeout else 0.0]
            assert most is None or max(times) <= most.total_seconds(), spec.native
    late = {
        event
        for event in events
        if limits[event]
        and EVENTS[event].blocks != "observe"
        and any(spec.blocks != "observe" for spec in find_event_specs(get(agent), event))
    }
    slow = [one for one in made.findings if one.code == f.GuardCutShort.code]
    assert {re.findall(r"'on-(\w+)'", one.message)[0] for one in slow} == late
    assert {one.severity for one in slow} <= {"error"}
    world.manifest(*(asked(event, limits[event] or MINUTE) for event in events))
    assert not [one for one in world.plan(agent).findings if one.code == f.GuardCutShort.code]


SLOW = [
    agent
    for agent in AGENTS
    if least_wait(agent, find_event_specs(get(agent), "before_tool_execute")) is not None
]


@pytest.mark.parametrize("agent", SLOW)
def test_every_command_tells_of_a_guard_that_is_too_slow(agent: str, world: World) -> None:
    limit = least_wait(agent, find_event_specs(get(agent), "before_tool_execute"))
    assert limit is not None
    guard = asked("before_tool_execute", limit + MINUTE)
    world.script("guard.sh", "exit 0")
    world.manifest(guard)
    world.sync(agent)
    reading = pipeline.read(
        {get(HUB).locations[0].path: json.dumps({"spec": "hooks/1.0", "hooks": [guard]}).encode()}, get(HUB)
    )
    found = {
        "sync": world.plan(agent).findings,
        "status": status.read_status(str(world.root), world.env, (agent,)).agents[0].findings,
        "doctor": doctor.diagnose(str(world.root), world.env, (agent,)),
        "convert": pipeline.convert(reading, get(agent)).findings,
    }
    told = {
        command: [(one.severity, one.message) for one in some if one.code == f.GuardCutShort.code]
        for command, some in found.items()
    }
    assert told == {command: [("error", told["sync"][0][1])] for command in found}


def test_a_guard_in_the_agents_own_file_is_told_of_too() -> None:
    """No bridge is there to answer for it."""
    agent = get("qwen-code")
    hook = {"type": "command", "command": "./guard.sh", "timeout": 120_000}
    tree = {"hooks": {"PreToolUse": [{"hooks": [hook]}], "PostToolUse": [{"hooks": [hook]}]}}
    reading = pipeline.read({agent.locations[0].path: json.dumps(tree).encode()}, agent)
    codes = [one.code for one in pipeline.convert(reading, agent).findings]
    assert codes == [f.GuardCutShort.code, f.TimeoutCapped.code]


def test_a_claude_file_has_its_time_where_another_agent_gives_it_less(world: World) -> None:
    """Copilot CLI gives such a guard up after 30 s, so the bridge runs it, in an entry that waits longer."""
    claude = world.root / ".claude" / "settings.json"
    claude.parent.mkdir()
    hook = {"type": "command", "command": "./guard.sh", "timeout": 65}
    claude.write_text(json.dumps({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [hook]}]}}), "utf-8")
    world.script("guard.sh", "exit 0")
    plan = world.plan("copilot-cli")
    assert f.GuardCutShort.code not in [one.code for one in plan.findings]
    waits = [hook.handler.timeout for hook in plan.hooks if hook.event == "before_tool_execute"]
    assert [wait.total_seconds() >= 65 for wait in waits if wait] == [True] * len(waits)


@pytest.mark.skipif(os.name == "nt", reason="hooks here are shell scripts")
def test_the_environment_says_when_the_caller_goes_on(world: World) -> None:
    """A script that calls hookport knows which of two hosts runs it; the hook is not told."""
    world.manifest(
        {
            "name": "guard",
            "event": "before_tool_execute",
            "blocking": True,
            "handler": {"type": "command", "command": world.script("guard.sh", "env > seen; exec sleep 60")},
        }
    )
    (world.root / ".hookport" / "config.json").write_text('{"on_failure": "closed"}', "utf-8")
    approve(world.root, world.env)
    call = [sys.executable, "-I", "-S", bridge.__file__, "dispatch", "cline", "PreToolUse", "--within=115"]
    payload = {"hookName": "PreToolUse", "preToolUse": {"toolName": "execute_command", "parameters": {}}}
    done = subprocess.run(
        call,
        cwd=world.root,
        env={**world.env, "HOOKPORT_WITHIN": "2"},
        input=json.dumps(payload).encode(),
        capture_output=True,
        check=False,
        timeout=50,
    )
    assert json.loads(done.stdout)["cancel"] is True, done
    assert "HOOKPORT_WITHIN" not in (world.root / "seen").read_text("utf-8")


@pytest.mark.skipif(os.name == "nt", reason="hooks here are shell scripts")
@pytest.mark.parametrize("told", [0.0, 600.0])
def test_a_dispatch_denies_before_the_agent_goes_on(told: float, world: World) -> None:
    """Also in an entry of a person's own, which says nothing of time, or too much."""
    own = get_wire("qwen-code").replace(waits={"PreToolUse": (0.0, 2.0)})
    hook = plan.PlannedHook("guard", "before_tool_execute", own.id, command="exec sleep 60", blocking=True)
    sources = HookSources(own, get_wire, lambda _event: [hook], {"on_failure": "closed"}, str(world.root))
    payload = {"hook_event_name": "PreToolUse", "tool_name": "run_shell_command", "tool_input": {}}
    given = dispatch.answer_payload(json.dumps(payload).encode(), "PreToolUse", sources, world.env, told)
    assert given.report.decision.verdict == "deny"
    assert [run.result.outcome for run in given.report.runs if run.result] == ["timeout"]


def takes(agent: str, spec: EventSpec, event: str) -> bool:
    """Whether context is in the answer to every product of the agent, and the agent passes it on."""
    own = get_wire(agent)
    for answers in (own.answers, *own.answers_of.values()):
        product = own.replace(answers=answers, answers_of={})
        answer, lost = write_answer(product, Event(event, agent, spec.native), Decision(context=TOLD))
        if lost or TOLD not in answer.stdout + answer.stderr:
            return False
    return spec.hears not in ("late", "nothing") and not (
        spec.unfired and event in ("session_start", "before_prompt")
    )


CARRIERS = [
    event
    for event in EVENTS
    if not write_answer(get_wire(HUB), Event(event, HUB, event), Decision(context=TOLD))[1]
]


@pytest.mark.parametrize("agent", AGENTS)
def test_context_is_passed_on_or_its_loss_is_told(agent: str, world: World) -> None:
    """Of every hook that prints some, once, by `sync`, `status` and `doctor`."""
    command = world.script("tell.sh", f"""printf '{{"context": "{TOLD}"}}'""")
    world.manifest(
        *(
            {"name": f"on-{event}", "event": event, "handler": {"type": "command", "command": command}}
            for event in CARRIERS
        )
    )
    world.sync(agent)
    found = {
        "sync": world.plan(agent).findings,
        "status": status.read_status(str(world.root), world.env, (agent,)).agents[0].findings,
        "doctor": doctor.diagnose(str(world.root), world.env, (agent,)),
    }
    told = {
        command: sorted(re.findall(r"'on-(\w+)'", one.message)[0] for one in some if one.code == LOST)
        for command, some in found.items()
    }
    never = [one for one in found["sync"] if one.code == f.NeverFires.code]
    here = [event for event in CARRIERS if find_event_specs(get(agent), event)]
    deaf = [
        event
        for event in here
        if not all(takes(agent, spec, event) for spec, _ in find_slots(get(agent), _hook(world, event)))
    ]
    assert told == dict.fromkeys(found, sorted(deaf))
    assert bool(never) is bool(set(CARRIERS).difference(here))


def _hook(world: World, event: str) -> Hook:
    data = (world.root / ".hookport" / "hooks.json").read_bytes()
    hooks = pipeline.read({get(HUB).locations[0].path: data}, get(HUB)).decoded.manifest.hooks
    return next(hook for hook in hooks if hook.event == event)


GUARDS = {
    "a guard that only denies": ("grep -q key && { echo no >&2; exit 2; }; exit 0", []),
    "a guard that also tells": ("""grep -q key && exit 2; printf '{"context": "x"}'""", ["on"]),
    "a script that prints": ("date", ["on"]),
}


@pytest.mark.parametrize("name", GUARDS)
def test_a_guard_that_tells_nothing_loses_nothing(name: str, world: World) -> None:
    text, told = GUARDS[name]
    handler = {"type": "command", "command": world.script("guard.sh", text)}
    world.manifest({"name": "on", "event": "before_prompt", "blocking": True, "handler": handler})
    agent = next(agent for agent in AGENTS if get(agent).id == "windsurf")
    found = [one for one in world.plan(agent).findings if one.code == f.ContextUnread.code]
    assert [re.findall("'(.+?)'", one.message)[0] for one in found] == told
