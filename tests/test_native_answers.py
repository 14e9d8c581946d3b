"""What agents make of answers by themselves: `agents/*/native_answers.yaml` has what each was seen to do.

A row is a form of `answer_forms.yaml` and what the agent did: `deny` (the action, or what the event
stops, did not happen), `runs`, `rewritten`, and `and ends` where the agent then stopped. `child` is a deny of
a hook that leaves a process behind, which keeps the output open beyond the hook's time (own-file-child).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hookport.agents import get, get_wire, list_agents
from hookport.model.runs import Decision, RunResult
from hookport.runtime.merge import merge_decisions
from hookport.wire.answers import read_answer
from hookport.wire.obeyed import decide_natively, merge_natively
from tests import agent_data

FORMS = agent_data.read_yaml(Path(__file__).with_name("answer_forms.yaml"))
FILES = agent_data.find("native_answers.yaml")


def rows() -> list[Any]:
    """(agent, event, strict, form, what it did) of every measurement."""
    found = []
    for agent, path in FILES.items():
        for event, seen in agent_data.read_yaml(path).items():
            if event in ("version", "source", "child"):
                continue
            native, _, strict = event.partition(" ")
            for form, did in seen.items():
                found.append(pytest.param(agent, native, strict, form, did, id=f"{agent}-{event}-{form}"))
    return found


def result_of(form: str, event: str) -> RunResult:
    """A hook's run that gave this answer."""
    fields = {"outcome": "completed", "exit_code": 0, **FORMS[form]}
    if fields["outcome"] != "completed":
        fields["exit_code"] = None
    if isinstance(fields.get("stdout"), dict):
        fields["stdout"] = json.dumps(fields["stdout"])
    if "stdout" in fields:
        fields["stdout"] = fields["stdout"].replace("$event", event)
    return RunResult(**fields)


def did(decision: Decision) -> str:
    """In the words of the files; without a person an `ask` is a deny."""
    word = "deny" if decision.verdict in ("deny", "ask") else "runs"
    if word == "runs" and decision.updated_input is not None:
        word = "rewritten"
    return word if decision.carry_on else f"{word} and ends"


@pytest.mark.parametrize(("agent", "native", "strict", "form", "seen"), rows())
def test_answer_is_read_as_the_agent_reads_it(
    agent: str, native: str, strict: str, form: str, seen: str
) -> None:
    """No answer is called a deny that the agent was seen to let pass, nor the other way round."""
    it = get_wire(agent)
    decision = decide_natively(
        it,
        result_of(form, it.said.get(native, native)),
        native=native,
        canonical=it.events[native],
        closed=bool(strict),
    )
    assert did(decision) == seen


@pytest.mark.parametrize(("agent", "native", "strict", "form", "seen"), rows())
def test_bridge_is_never_weaker(agent: str, native: str, strict: str, form: str, seen: str) -> None:
    """What the agent itself would have denied, the bridge denies; or it fails, which policy decides."""
    if strict or not seen.startswith("deny"):
        return
    it = get_wire(agent)
    decision = read_answer(it, result_of(form, native), native=native, canonical=it.events[native])
    assert decision.verdict in ("deny", "ask") or decision.failure or not decision.carry_on


@pytest.mark.parametrize("agent", list_agents())
def test_every_agent_says_what_it_obeys(agent: str) -> None:
    """An agent without a table would be vouched for by nobody; one that runs no command needs none."""
    runs_commands = get_wire(agent).obeys != {}
    assert runs_commands == (not get(agent).locations[0].path.endswith(".ts"))


@pytest.mark.parametrize(
    ("agent", "verdicts", "expected"),
    [
        ("factory-droid", ["allow", "deny"], "allow"),
        ("factory-droid", ["deny", "allow"], "deny"),
        ("qwen-code", ["deny", "allow"], "allow"),
        ("qwen-code", ["allow", "deny"], "deny"),
        ("claude-code", ["deny", "allow"], "deny"),
        ("claude-code", ["allow", "deny"], "deny"),
        ("codex", ["allow", "deny"], "deny"),
        ("copilot-cli", ["allow", "deny"], "deny"),
        ("gemini-cli", ["allow", "deny"], "deny"),
        ("augment", ["allow", "deny"], "deny"),
    ],
)
def test_two_hooks(agent: str, verdicts: list[Any], expected: str) -> None:
    """Whose answer counts (lab j, 0.3)."""
    decisions = [Decision(one) for one in verdicts]
    assert merge_natively(get_wire(agent), decisions, merge_decisions(decisions)).verdict == expected


@pytest.mark.parametrize("agent", FILES)
def test_process_left_behind(agent: str) -> None:
    """What an agent waits for costs a hook its answer."""
    seen = agent_data.read_yaml(FILES[agent]).get("child", "deny")
    assert bool(get(agent).awaits_children) == (seen == "runs")
