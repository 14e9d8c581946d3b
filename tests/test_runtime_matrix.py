"""Every dialect's guard in every agent: real programs, judged by what the real agent would do.

`guards` has the programs, `agents` the judges; both are written from documentation and measurements, so that
what they agree on was said right by the tables in between.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
from pathlib import Path

import pytest

from hookport.agents import get_wire, list_dialects
from hookport.agents import list_agents as known_agents
from hookport.model.runs import Answer
from hookport.runtime.answer import DispatchResult
from hookport.runtime.dispatch import answer_payload
from hookport.runtime.plan import PlannedHook
from hookport.runtime.sources import HookSources
from tests import forks
from tests.agent_data import DOCUMENTED
from tests.approval import approve
from tests.guards import (
    CONTEXT,
    DANGEROUS,
    GUARDS,
    HARMLESS,
    KEPT,
    OTHER_GUARDS,
    PRELUDE,
    REASON,
    WILD,
    command_of,
)
from tests.oracle import SEATS, Outcome, Seat, args_of, payload_of

pytestmark = pytest.mark.skipif(os.name == "nt", reason="hooks here are shell commands")

LONG = 60.0
PAIRS = [(dialect, seat) for dialect in GUARDS for seat in SEATS]


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder the guards are written to."""
    return tmp_path_factory.mktemp("guards")


def guard(dialect: str, native: str, command: str, event: str = "before_tool_execute") -> PlannedHook:
    """The hook that runs a guard."""
    return PlannedHook("guard", event, dialect, native=native, command=command, timeout_seconds=LONG)


def fire(hook: PlannedHook, agent: str, native: str, payload: bytes, folder: Path) -> DispatchResult:
    """What the agent is told; the hook ran, and did not fail."""
    state = folder / "state"
    shutil.rmtree(state, ignore_errors=True)
    env = {"PATH": os.environ["PATH"], "HOME": str(folder), "HOOKPORT_STATE_DIR": str(state)}
    told = answer_payload(
        payload, native, HookSources(get_wire(agent), get_wire, lambda _: [hook]), env, within=LONG
    )
    assert [(run.matched, run.answered.failure) for run in told.report.runs] == [(True, "")], [
        (run.why, run.result) for run in told.report.runs
    ]
    return told


def tried(hook: PlannedHook, seat: Seat, command: str, folder: Path) -> tuple[Outcome, Answer]:
    """What the agent does where the model wants to run the command, and what it was told."""
    payload = payload_of(seat.agent, seat.native, seat.payload, command, folder)
    told = fire(hook, seat.agent, seat.native, payload, folder).answer
    return seat.outcome(told, args_of(seat, payload)), told


def check_guard(hook: PlannedHook, seat: Seat, folder: Path) -> None:
    """The dangerous command is denied with its reason, the harmless one is not touched."""
    outcome, told = tried(hook, seat, DANGEROUS, folder)
    assert outcome.blocked, told
    assert REASON in outcome.reason, (outcome, told)
    outcome, told = tried(hook, seat, HARMLESS, folder)
    args = args_of(seat, payload_of(seat.agent, seat.native, seat.payload, HARMLESS, folder))
    assert (outcome, told.exit_code) == (Outcome(blocked=False, input=args), 0), told


def check_rewrite(hook: PlannedHook, seat: Seat, folder: Path) -> None:
    """Another command runs, with all else as it was; where that cannot be said, none does."""
    payload = payload_of(seat.agent, seat.native, seat.payload, DANGEROUS, folder)
    found = fire(hook, seat.agent, seat.native, payload, folder)
    outcome, told = seat.outcome(found.answer, args_of(seat, payload)), found.answer
    approves = [run.answered.verdict for run in found.report.runs] == ["allow"]
    # A hook that changes a call has not approved it.
    if not seat.rewrites or (seat.lifts and not approves):
        assert outcome.blocked, (outcome, told)
        assert KEPT in outcome.reason, (outcome, told)
        return
    args = args_of(seat, payload_of(seat.agent, seat.native, seat.payload, KEPT, folder))
    assert (outcome.blocked, outcome.input, outcome.ended) == (False, args, False), (outcome, told)


def test_nobody_is_left_out() -> None:
    """Every dialect has a guard, and every agent a judge."""
    assert set(GUARDS) == set(list_dialects())
    assert {seat.agent for seat in SEATS.values()} == set(known_agents())


def told(stdout: object = "", stderr: str = "", code: int = 0) -> Answer:
    return Answer(stdout if isinstance(stdout, str) else json.dumps(stdout), stderr, code)


NESTED = {
    "hookEventName": "PreToolUse",
    "permissionDecision": "deny",
    "permissionDecisionReason": REASON,
}
FLAT = {"permissionDecision": "deny", "permissionDecisionReason": REASON}
# What was measured on the real agents: an answer, and those of the judged that it stops.
MEASURED: list[tuple[Answer, set[str]]] = [
    (
        told(stderr=REASON, code=2),
        {"augment", "claude", "codex", "copilot", "pascal", "gemini", "kimi", "strict"},
    ),
    (told(REASON, code=2), {"augment", "claude", "copilot", "pascal", "gemini", "kimi", "strict"}),
    (told(code=2), {"augment", "claude", "copilot", "pascal", "kimi", "strict"}),
    (told(stderr=REASON, code=1), {"copilot", "pascal", "strict"}),
    (told(stderr=REASON, code=3), {"copilot", "pascal", "gemini", "strict"}),
    (told({"hookSpecificOutput": NESTED}), {"augment", "claude", "codex", "pascal", "kimi"}),
    (told({"hookSpecificOutput": NESTED}, code=1), {"claude", "copilot", "pascal", "strict"}),
    (told({"hookSpecificOutput": NESTED, "unknown": 1}), {"augment", "claude", "pascal", "kimi"}),
    (told({"hookSpecificOutput": NESTED, "suppressOutput": True}), {"augment", "claude", "pascal", "kimi"}),
    (told({"hookSpecificOutput": {**NESTED, "permissionDecision": "no"}}), set()),
    (told({"hookSpecificOutput": {**NESTED, "permissionDecision": "ask"}}), {"claude", "pascal"}),
    (
        told({"hookSpecificOutput": {**NESTED, "permissionDecisionReason": ""}}),
        {"augment", "claude", "pascal", "kimi"},
    ),
    (told("log\n" + json.dumps({"hookSpecificOutput": NESTED})), {"strict"}),
    (told(FLAT), {"copilot", "pascal"}),
    (told({**FLAT, "hookSpecificOutput": NESTED}), {"augment", "claude", "copilot", "pascal", "kimi"}),
    (told({"decision": "block", "reason": REASON}), {"claude", "codex", "gemini"}),
    (told({"decision": "deny", "reason": REASON}), {"gemini", "vibe", "strict"}),
    (told({"decision": "deny", "reason": REASON}, code=1), {"gemini", "copilot", "pascal", "strict"}),
    (told({"decision": "allow"}, code=2), {"augment", "claude", "copilot", "pascal", "kimi", "strict"}),
    (told({"cancel": True, "errorMessage": REASON}), {"cline"}),
    (told({"continue": False, "stopReason": REASON}), {"augment", "gemini"}),
    (told(REASON), {"strict"}),
    (told("{broken"), {"strict"}),
]
JUDGES = {
    "augment": "augment",
    "claude": "claude-code",
    "codex": "codex",
    "copilot": "copilot-cli",
    "pascal": "copilot-cli-pascal",
    "gemini": "gemini-cli",
    "kimi": "kimi-cli",
    "vibe": "mistral-vibe-lax",
    "strict": "mistral-vibe",
    "cline": "cline",
}


@pytest.mark.parametrize(("said", "stopped"), MEASURED)
def test_judges_judge_as_measured(said: Answer, stopped: set[str]) -> None:
    """The judges of this test are as strict as the agents that were measured."""
    found = {
        name for name, seat in JUDGES.items() if SEATS[seat].outcome(said, {"command": HARMLESS}).blocked
    }
    assert found == stopped


@pytest.mark.parametrize(("dialect", "agent"), PAIRS)
def test_guard_guards(dialect: str, agent: str, programs: Path, tmp_path: Path) -> None:
    """Whatever a guard was written for, it guards in this agent and leaves the rest alone."""
    it = GUARDS[dialect]
    check_guard(guard(dialect, it.native, command_of(programs, dialect, it.program)), SEATS[agent], tmp_path)


@pytest.mark.parametrize(
    ("dialect", "agent"), [(dialect, agent) for dialect, agent in PAIRS if GUARDS[dialect].rewrites]
)
def test_rewrite_rewrites(dialect: str, agent: str, programs: Path, tmp_path: Path) -> None:
    """Another input reaches the agent in its own names, or the call is denied."""
    it = GUARDS[dialect]
    hook = guard(dialect, it.native, command_of(programs, dialect, it.program, "rewrite"))
    check_rewrite(hook, SEATS[agent], tmp_path)


@pytest.mark.parametrize(
    ("dialect", "agent", "event"),
    [
        (dialect, agent, event)
        for dialect, agent in PAIRS
        for event in GUARDS[dialect].contexts
        if event in SEATS[agent].contexts
    ],
)
def test_context_arrives(dialect: str, agent: str, event: str, programs: Path, tmp_path: Path) -> None:
    """What a hook wants the model to know stands where this agent looks for it, or nowhere."""
    written_for, program = GUARDS[dialect].contexts[event]
    seat = SEATS[agent]
    native, name, reads = seat.contexts[event]
    hook = guard(dialect, written_for, command_of(programs, f"{dialect}-{event}", program), event)
    payload = payload_of(seat.agent, native, name, HARMLESS, tmp_path)
    told = fire(hook, seat.agent, native, payload, tmp_path)
    assert told.answer.exit_code == 0
    if reads is None:
        assert not any(word in told.answer.stdout for word in ("deny", "block", "false")), told.answer
    else:
        assert reads(told.answer) == CONTEXT, told.answer


@pytest.mark.parametrize("agent", SEATS)
@pytest.mark.parametrize(("dialect", "native"), OTHER_GUARDS, ids="-".join)
def test_guard_of_another_event(
    dialect: str, native: str, agent: str, programs: Path, tmp_path: Path
) -> None:
    """A guard gets the payload of the very event it was written for, where its dialect has several."""
    command = command_of(programs, f"{dialect}-{native}", OTHER_GUARDS[dialect, native])
    check_guard(guard(dialect, native, command), SEATS[agent], tmp_path)


@pytest.mark.skipif(shutil.which("jq") is None, reason="jq is not installed; the hook needs it")
@pytest.mark.parametrize("agent", SEATS)
def test_wild_hook_guards(agent: str, programs: Path, tmp_path: Path) -> None:
    """A hook as it is found in repositories guards everywhere, unchanged."""
    path = programs / "wild.sh"
    path.write_text(WILD, "utf-8")
    check_guard(guard("claude-code", "PreToolUse", shlex.join(["bash", str(path)])), SEATS[agent], tmp_path)


def test_one_command_of_several(programs: Path, tmp_path: Path) -> None:
    """Where a call runs several commands each is seen by itself, and the others stay."""
    seat = SEATS["cline"]
    tree = json.loads(payload_of("cline", seat.native, seat.payload, DANGEROUS, tmp_path))
    for dialect, it in GUARDS.items():
        commands = [HARMLESS, DANGEROUS]
        tree["tool_call"]["input"]["commands"] = commands
        tree["preToolUse"]["parameters"]["commands"] = json.dumps(commands)
        payload = json.dumps(tree).encode()
        command = command_of(programs, dialect, it.program)
        told = fire(guard(dialect, it.native, command), "cline", seat.native, payload, tmp_path).answer
        outcome = seat.outcome(told, tree["tool_call"]["input"])
        assert (outcome.blocked, outcome.reason) == (True, REASON), (dialect, told)
        if it.rewrites:
            hook = guard(dialect, it.native, command_of(programs, dialect, it.program, "rewrite"))
            told = fire(hook, "cline", seat.native, payload, tmp_path).answer
            outcome = seat.outcome(told, tree["tool_call"]["input"])
            assert outcome.input == {"commands": [HARMLESS, KEPT]}, (dialect, told)


def test_more_than_one_call_is_denied(programs: Path, tmp_path: Path) -> None:
    """Another input that this agent's tool cannot take in one call stops the call."""
    program = 'say({"overrideInput": {"commands": ["cd /", KEPT]}})'
    hook = guard("cline", "PreToolUse", command_of(programs, "cline-two", program))
    for name in ("claude-code", "factory-droid", "codex"):
        outcome, told = tried(hook, SEATS[name], DANGEROUS, tmp_path)
        assert outcome.blocked, told
        assert KEPT in outcome.reason, told


def test_patch_that_is_one_write(programs: Path, tmp_path: Path) -> None:
    """A hook that reads and changes a patch changes the write that it was shown as one."""
    program = """
has(hook_event_name="PreToolUse", tool_name="apply_patch")
patch = event["tool_input"]["command"].replace("+secret", "+hidden")
nested("PreToolUse", permissionDecision="allow", updatedInput={"command": patch})
"""
    hook = guard("codex", "PreToolUse", command_of(programs, "codex-patch", program))
    told = {}
    for text in ("secret\n", "hidden\n"):
        tree = json.loads(payload_of("claude-code", "PreToolUse", "PreToolUse.Write", HARMLESS, tmp_path))
        tree["tool_input"]["content"] = text
        said = fire(hook, "claude-code", "PreToolUse", json.dumps(tree).encode(), tmp_path).answer
        told[text] = SEATS["claude-code"].outcome(said, tree["tool_input"]).input
    assert told["secret\n"] == told["hidden\n"] == tree["tool_input"]


HOOK_MD = """---
name: guard
description: Blocks recursive removal
trigger: before_tool
matcher:
  tool: Shell
---
"""


def called(folder: Path, payload: bytes, *args: str) -> Answer:
    """What the command line answers where the user approved the hooks."""
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder / "home"),
        "HOOKPORT_STATE_DIR": str(folder / "state"),
        "HOOKPORT_CACHE_DIR": str(folder / "cache"),
    }
    approve(folder / "project", env)
    done = forks.run(args, folder / "project", env, payload.decode(), LONG)
    return Answer(done.stdout, done.stderr, done.returncode)


FIRST = {seat.agent: name for name, seat in reversed(SEATS.items())}


@pytest.mark.parametrize("agent", FIRST)
def test_command_line_guards(agent: str, programs: Path, tmp_path: Path) -> None:
    """`dispatch` finds a project's HOOK.md guard, `wrap` runs a Claude Code one; both deny in this agent."""
    project = tmp_path / "project"
    script = project / ".agents/hooks/guard/scripts/run"
    script.parent.mkdir(parents=True)
    (project / ".git").mkdir()
    (project / ".agents/hooks/guard/HOOK.md").write_text(HOOK_MD, "utf-8")
    script.write_text(f"#!{sys.executable} -IS\n{PRELUDE}{GUARDS['agent-hooks'].program}", "utf-8")
    script.chmod(0o755)
    seat = SEATS[FIRST[agent]]
    command = command_of(programs, "claude-code", GUARDS["claude-code"].program)
    for args in (("dispatch",), ("wrap", "claude-code")):
        rest = ["--", command] if args[0] == "wrap" else []
        for shell, is_blocked in ((DANGEROUS, True), (HARMLESS, False)):
            payload = payload_of(agent, seat.native, seat.payload, shell, project)
            shutil.rmtree(tmp_path / "state", ignore_errors=True)
            told = called(tmp_path, payload, *args, agent, seat.native, *rest)
            outcome = seat.outcome(told, args_of(seat, payload))
            assert outcome.blocked == is_blocked, (args, told)
            assert is_blocked == (REASON in outcome.reason), (args, told)
            assert is_blocked or outcome == Outcome(blocked=False, input=args_of(seat, payload)), (args, told)


def test_documented_payloads_are_used() -> None:
    """No payload lies about that nothing fires."""
    used = {(seat.agent, seat.payload) for seat in SEATS.values()}
    used |= {(seat.agent, name) for seat in SEATS.values() for _, name, _ in seat.contexts.values()}
    assert {(agent, name) for agent, events in DOCUMENTED.items() for name in events} <= used
