"""How ways around an agent's hooks are played: sub-agents, editors' protocols, files that agents share."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from hookport.agents import get, list_agents
from hookport.install.entries import find_readers
from hookport.install.targets import find_target
from hookport.lab import campaign, drivers, scenario
from hookport.lab.driver import FROM_RESULT, ModelCall, ModelStep
from hookport.lab.drivers import _acp_session, _stream_session
from hookport.lab.programs import Program
from hookport.lab.protocols import Conversation, Message, ModelTurn, PastCall, ToolResult
from hookport.lab.results import load_results
from hookport.lab.server import INNER_MARK, ModelScript, _fill_results
from hookport.project.places import resolve_place

TASK = "Run the commands of the task: touch inside.txt."
INNER = (ModelStep((ModelCall("shell", {"command": "touch inside.txt"}),)),)
SCRIPT = ModelScript(
    (
        ModelStep((ModelCall("delegate", {"prompt": TASK}),), task=TASK, inner=INNER),
        ModelStep((ModelCall("shell", {"command": "touch outside.txt"}),)),
    )
)
AROUND = [
    name
    for name in scenario.list_names()
    if any(need.can in scenario.AROUND for need in scenario.get(name).needs)
]
SHARED = [name for name in scenario.list_names() if scenario.get(name).installed_for]


def talk(prompt: str, *calls: str) -> Conversation:
    """A conversation with this prompt and these calls so far."""
    turns = tuple(ModelTurn("", (PastCall(call, "shell"),)) for call in calls)
    return Conversation(turns, (Message("user", prompt),), (), tools=True)


def test_a_sub_agent_has_steps_of_its_own() -> None:
    inner = SCRIPT.find_task(talk(f"You are an agent.\n{TASK}"))
    assert inner is not None
    assert inner.steps == INNER
    assert inner.count_steps(talk(TASK)) == 0
    assert inner.count_steps(talk(TASK, "call_task00n000300")) == 1


def test_the_main_conversation_stays_the_main_one() -> None:
    assert SCRIPT.find_task(talk("Do what the task says.")) is None
    # It is told what the sub-agent did, in the name of a person.
    assert SCRIPT.find_task(talk(f"<done>{TASK}</done>", "call_play00n000100")) is None
    assert SCRIPT.count_steps(talk("Do it.", "call_play00n000100")) == 1
    # A title for the sub-agent's conversation is asked for without tools.
    assert SCRIPT.find_task(talk(TASK)._replace(tools=False)) is None
    assert INNER_MARK.search("call_play00n000100") is None


def test_a_number_that_the_agent_told_is_filled_in() -> None:
    call = ModelCall("write_stdin", {"session_id": f"{FROM_RESULT}session ID (\\d+)", "chars": "rm\n"})
    results = tuple(ToolResult(str(number), "", f"session ID {number}") for number in (7, 8))
    (filled,) = _fill_results(ModelStep((call,)), results).calls
    assert filled.input == {"session_id": 8, "chars": "rm\n"}
    free = ModelStep((ModelCall("exec", "text(1)"),))
    assert _fill_results(free, results) == free


# An agent that asks for a permission, and for something that no client has.
AGENT = """
    import json, os, sys

    def send(**message):
        print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)

    print("a banner, no JSON", flush=True)
    heard = []
    for line in sys.stdin:
        message = json.loads(line)
        heard.append(message.get("method") or message)
        if message.get("method") == "initialize":
            send(id=message["id"], result={"protocolVersion": 1})
        elif message.get("method") == "session/new":
            heard.append(message["params"]["cwd"])
            send(id=message["id"], result={"sessionId": "s1"})
        elif message.get("method") == "session/set_config_option":
            heard.append(message["params"])
            send(id=message["id"], result={})
        elif message.get("method") == "session/prompt":
            turn = message["id"]
            heard.append(message["params"]["prompt"][0]["text"])
            send(method="session/update", params={"update": {"content": {"type": "text", "text": "hello"}}})
            options = [{"optionId": "n", "kind": "reject_once"}, {"optionId": "y", "kind": "allow_once"}]
            send(id=100, method="session/request_permission", params={"options": options})
            send(id=101, method="fs/read_text_file", params={})
        elif message.get("id") == 101:
            send(id=turn, result={"stopReason": "end_turn"})
    with open("heard.json", "w") as file:
        json.dump([os.getcwd(), *heard], file)
"""


def test_the_client_of_the_protocol_plays_a_session(tmp_path: Path) -> None:
    folder, start, agent = tmp_path / "project", tmp_path / "start", tmp_path / "agent.py"
    folder.mkdir()
    start.mkdir()
    agent.write_text(textwrap.dedent(AGENT))
    words = [
        _acp_session.__file__,
        str(folder),
        str(start),
        "approval=full",
        "Do it.",
        sys.executable,
        str(agent),
    ]
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, "hello" in done.stdout, "end_turn" in done.stdout) == (0, True, True), (
        done.stderr
    )
    assert json.loads((start / "heard.json").read_text()) == [
        str(start),
        "initialize",
        "session/new",
        str(folder),
        "session/set_config_option",
        {"sessionId": "s1", "configId": "approval", "value": "full"},
        "session/prompt",
        "Do it.",
        {"jsonrpc": "2.0", "id": 100, "result": {"outcome": {"outcome": "selected", "optionId": "y"}}},
        {"jsonrpc": "2.0", "id": 101, "error": {"code": -32601, "message": "no method fs/read_text_file"}},
    ]


@pytest.mark.parametrize(
    "agent", ["import sys; sys.exit(3)", 'print(\'{"id": 1, "error": {}}\', flush=True)']
)
def test_an_agent_that_refuses_a_session_is_no_session(agent: str, tmp_path: Path) -> None:
    words = [_acp_session.__file__, str(tmp_path), str(tmp_path), "", "Do it.", sys.executable, "-c", agent]
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr


def test_a_stream_is_open_until_the_turn_has_ended(tmp_path: Path) -> None:
    ending = 'print(\'{"type": "end"}\', flush=True)'
    agent = f"import sys; print(input()); {ending}; print(sys.stdin.read() + 'closed')"
    words = [_stream_session.__file__, str(tmp_path), "end", '{"type": "user"}', sys.executable, "-c", agent]
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout.splitlines()) == (0, ['{"type": "user"}', '{"type": "end"}'])


@pytest.mark.parametrize("name", [*AROUND, *SHARED])
def test_every_way_around_has_its_control(name: str) -> None:
    """A call of the same kind, on which the guard has no opinion, happens in the same run."""
    played = scenario.get(name)
    for checks in (played.expect, played.otherwise or played.expect):
        assert {"gone": "spare/kept.txt"} in [{check.kind: check.about.get("path")} for check in checks]
    assert any("rm -r spare" in str(step) for step in played.steps)
    assert any("rm -r victim" in str(step) for step in played.steps)


def test_every_pair_that_shares_a_file_is_played() -> None:
    """The pairs follow from the tables, as for `sync`."""
    pairs = set()
    for agent in list_agents():
        target = find_target(agent, "project", "/p", {"HOME": "/h"})
        own = next((place.path for place in get(agent).locations if place.scope == "project"), "")
        path = resolve_place(get(agent), own, "/p", {"HOME": "/h"}) if own else ""
        pairs |= {(agent, reader.id) for reader in find_readers(target, path or "")}
    assert {agent for agent, _ in pairs} == set(scenario.list_shared_agents())
    for name in drivers.list_names():
        driver = drivers.get(name)
        dialect = drivers.get_dialect_id(driver)
        runs = campaign.plan_runs([campaign.Agent(name, driver, Program(("x",), "1", Path("x")))]).runs
        played = {run.scenario.installed_for for run in runs if run.scenario.installed_for}
        assert played == {agent for agent, reader in pairs if reader == dialect}, name


def test_every_pair_that_was_played_holds() -> None:
    words = [
        (results.driver, name, mode, result.result)
        for results in load_results()
        for name, modes in results.scenarios.items()
        if name in SHARED
        for mode, result in modes.items()
    ]
    assert words
    assert [word for word in words if word[3] != "pass"] == []
