"""A whole run of `hookport prove`, with a small agent that obeys Claude Code's hooks."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from hookport import agents as agents_registry
from hookport.lab import campaign, drivers, play, player, results, run, scenario, stage
from hookport.lab.driver import Stage
from hookport.lab.judge import ScenarioVerdict
from hookport.lab.programs import Program
from hookport.lab.results import ScenarioResult
from hookport.lab.run import FinishedRun, ScenarioRun

# With a file named `deaf` beside it, it asks no hook, once.
AGENT = """
import json, os, subprocess, sys, urllib.request
from pathlib import Path

deaf = Path(__file__).with_name("deaf")
is_deaf = deaf.exists()
deaf.unlink(missing_ok=True)
hooks = json.loads(Path(".claude/settings.json").read_text())["hooks"]["PreToolUse"]
tools = [{"name": "Bash", "input_schema": {"type": "object"}}]
messages = [{"role": "user", "content": "Do it."}]


def asked():
    body = {"model": "m", "max_tokens": 99, "tools": tools, "messages": messages}
    url = os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages"
    with urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode())) as answer:
        return json.load(answer)["content"]


def refused(call):
    payload = {"hook_event_name": "PreToolUse", "session_id": "s", "transcript_path": "", "cwd": os.getcwd()}
    payload |= {"permission_mode": "default", "tool_name": call["name"], "tool_input": call["input"]}
    environment = {**os.environ, "CLAUDE_PROJECT_DIR": os.getcwd()}
    for command in [hook["command"] for group in hooks for hook in group["hooks"]]:
        done = subprocess.run(command, shell=True, input=json.dumps(payload), env=environment,
                              capture_output=True, text=True)
        said = json.loads(done.stdout or "{}").get("hookSpecificOutput", {})
        if said.get("permissionDecision") == "deny":
            return said["permissionDecisionReason"]


answer = asked()
while calls := [part for part in answer if part["type"] == "tool_use"]:
    results = []
    for call in calls:
        text = "" if is_deaf else refused(call)
        if not text:
            text = subprocess.run(call["input"]["command"], shell=True, capture_output=True, text=True).stdout
        results.append({"type": "tool_result", "tool_use_id": call["id"], "content": text})
    messages += [{"role": "assistant", "content": answer}, {"role": "user", "content": results}]
    answer = asked()
"""


def test_a_run_is_played_judged_and_kept_and_a_second_try_is_told(tmp_path: Path) -> None:
    program = tmp_path / "agent.py"
    program.write_text(AGENT, "utf-8")
    (tmp_path / "deaf").touch()
    driver = drivers.get("claude-code")._replace(command=lambda stage: stage.program)
    agent = campaign.Agent("claude-code", driver, Program((sys.executable, str(program)), "1", program))
    one = ScenarioRun("claude-code", scenario.get("deny-exit"), "bridge", ("canonical",))
    store = campaign.Store(tmp_path / "report")
    [(done, is_new)] = campaign.play([one], [agent], store)
    assert is_new
    assert done.verdicts["canonical"].evidence == (
        "victim-canonical/kept.txt exists",
        "the model saw 'no deleting here, says canonical'",
        "guard acted once",
    )
    assert done.verdicts["canonical"].result == "pass"
    assert [line.partition(";")[0] for line in done.flaky] == [
        "canonical: victim-canonical/kept.txt does not exist",
        "canonical: the model did not see 'no deleting here, says canonical'",
        "canonical: guard acted not at all, not once",
    ]
    assert done.events == {"PreToolUse": 1}
    kept = store.place(one)
    assert sorted(path.name for path in kept.iterdir()) == sorted([*campaign.KEPT, "verdict.json"])
    assert json.loads((kept / "outcome.json").read_text("utf-8"))["exit"] == 0
    assert list(campaign.play([one], [agent], store)) == [(done, False)]


def test_what_comes_to_start_its_agent_late_is_ended_too(tmp_path: Path) -> None:
    """One worker is still installing when another is interrupted."""
    installing = threading.Event()
    driver = drivers.get("claude-code")._replace(command=lambda _stage: ("/bin/sleep", "600"))

    def work(number: int) -> play.Outcome:
        if number == 0:
            installing.wait()
            raise KeyboardInterrupt
        made: Stage = stage.build_stage(tmp_path / "late", (), shared=tmp_path / "shared")
        spec = stage.make_spec(driver, made, ())
        installing.set()
        threading.Event().wait(1)
        return player.play_spec(spec, tmp_path / "late")

    before = set(threading.enumerate())
    with pytest.raises(KeyboardInterrupt):
        list(campaign.run_jobs([0, 1], work, 2))
    assert set(threading.enumerate()) == before


def test_a_report_that_is_written_again_has_each_payload_once(tmp_path: Path) -> None:
    one = ScenarioRun("claude-code", scenario.get("deny-exit"), "bridge", ("canonical",))
    payloads = tmp_path / "runs" / "claude-code" / one.name / "payloads"
    payloads.mkdir(parents=True)
    record = {"native": "PreToolUse", "payload": '{"tool_name": "Bash"}'}
    (payloads / "1.json").write_text(json.dumps(record), "utf-8")
    agent = campaign.Agent("claude-code", drivers.get("claude-code"), Program((), "1", tmp_path))
    done = FinishedRun(one, {"canonical": ScenarioVerdict("pass")})
    for _ in range(2):
        campaign.write_report(tmp_path, campaign.collect_results([agent], [done]), [done])
    kept = sorted(path.name for path in (tmp_path / "payloads" / "claude-code").iterdir())
    assert kept == ["PreToolUse-1.json"]


def test_results_with_some_of_before_have_the_older_day(tmp_path: Path) -> None:
    one = ScenarioRun("claude-code", scenario.get("deny-exit"), "bridge", ("canonical",))
    agent = campaign.Agent("claude-code", drivers.get("claude-code"), Program((), "1", tmp_path))
    [new] = campaign.collect_results([agent], [FinishedRun(one, {"canonical": ScenarioVerdict("pass")})])
    other = {"ask": {"bridge": ScenarioResult("pass")}}
    old = new._replace(date="2026-01-01", hookport="0.0.1", scenarios=other)
    assert results.merge_results(old, new) == old._replace(scenarios={**other, **new.scenarios})
    assert results.merge_results(old._replace(scenarios=new.scenarios), new) == new


def test_a_signal_leaves_nothing_behind(tmp_path: Path) -> None:
    """The agent says its version, and otherwise where it is and then nothing."""
    program, place = tmp_path / "bin" / "pi", tmp_path / "pid"
    runs = tmp_path / "runs"
    runs.mkdir()
    program.parent.mkdir()
    program.write_text(
        f'#!/bin/sh\n[ "$1" = --version ] && exec echo 0.87.1\necho $$ > {place}.new\n'
        f"mv {place}.new {place}\nexec sleep 600\n",
        "utf-8",
    )
    program.chmod(0o755)
    own = {"PATH": f"{program.parent}:{os.environ['PATH']}", "TMPDIR": str(runs), "HOME": str(tmp_path)}
    command = [sys.executable, "-m", "hookport", "prove", "pi", "--scenario", "deny-exit", "--mode", "bridge"]
    with subprocess.Popen(command, env={**os.environ, **own}, stderr=subprocess.PIPE, text=True) as running:
        for _ in range(600):
            if place.exists():
                break
            time.sleep(0.05)
        running.send_signal(signal.SIGTERM)
        said = running.communicate()[1]
    assert running.returncode == 130
    assert said == (
        "error: interrupted; 0 of 1 runs are done and kept. The same command continues from there.\n"
    )
    assert list(runs.iterdir()) == []
    with pytest.raises(ProcessLookupError):
        os.kill(int(place.read_text("utf-8")), 0)


def test_a_script_of_the_project_is_not_played_where_only_the_users_hooks_run() -> None:
    """Its home has no such script: the guard could not run there, whoever installed it."""
    program = Program(("true",), "1", Path("true"))
    agents = [campaign.Agent(name, drivers.get(name), program) for name in drivers.list_names()]
    plan = campaign.plan_runs(agents, ["peers-guard"], ["native"])
    skipped = {unplayed.agent for unplayed in plan.unplayed if "script of the project" in unplayed.reason}
    dialects = {agent.name: agents_registry.get(drivers.get_dialect_id(agent.driver)) for agent in agents}
    without_projects = {name for name, dialect in dialects.items() if not run.reads_projects(dialect)}
    assert skipped == without_projects
    assert skipped
    assert not skipped & {one.driver for one in plan.runs}
