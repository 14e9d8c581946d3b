"""The judge of `hookport prove` on made-up outcomes, and what is kept of its verdicts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hookport.cli import prove
from hookport.errors import InputError
from hookport.lab import campaign, drivers, judge, results, scenario
from hookport.lab.driver import Driver
from hookport.lab.judge import PlayedScenario, RunEvidence, ScenarioVerdict
from hookport.lab.play import Outcome, RequestRecord
from hookport.lab.programs import Program
from hookport.lab.protocols import Message, ToolResult
from hookport.lab.run import FinishedRun, ScenarioRun

CLAUDE = drivers.get("claude-code")
KIMI = drivers.get("kimi-cli")
DENIED = "no deleting here, says canonical"


def heard(*texts: str, results: tuple[str, ...] = (), step: int | None = 0) -> RequestRecord:
    return RequestRecord(
        "POST",
        "/",
        "x",
        step,
        tuple(Message("user", text) for text in texts),
        tuple(ToolResult(call="Bash", id="1", text=text) for text in results),
    )


def seen(folder: Path, *requests: RequestRecord, acted: int = 1, files: tuple[str, ...] = ()) -> RunEvidence:
    project, home = folder / "project", folder / "home"
    for name in files:
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text("kept", "utf-8")
    outcome = Outcome(exit=0, seconds=2, requests=requests, isolated=True)
    records = [{"hook": "guard-canonical", "acts": True, "stdin": {}}] * acted
    records.append({"hook": "guard-canonical", "acts": False, "stdin": {}})
    return RunEvidence(outcome, project, home, records)


def verdict(name: str, found: RunEvidence, driver: Driver = CLAUDE) -> ScenarioVerdict:
    return judge.judge_format(PlayedScenario(scenario.get(name), driver), "canonical", found)


def test_a_guard_that_holds_passes_with_what_the_model_saw(tmp_path: Path) -> None:
    said = f"hook error in {tmp_path / 'project'}/x: {DENIED}"
    found = seen(
        tmp_path, heard("Do it."), heard(results=(said,), step=1), files=("victim-canonical/kept.txt",)
    )
    assert verdict("deny-exit", found) == ScenarioVerdict(
        "pass",
        (
            "victim-canonical/kept.txt exists",
            f"the model saw 'hook error in $PROJECT/x: {DENIED}'",
            "guard acted once",
        ),
    )


def test_a_guard_that_does_not_hold_fails_with_what_is_wrong(tmp_path: Path) -> None:
    found = seen(tmp_path, heard("Do it."), heard(results=("(no output)",), step=1), acted=2)
    assert verdict("deny-exit", found) == ScenarioVerdict(
        "fail",
        (
            "victim-canonical/kept.txt does not exist",
            f"the model did not see '{DENIED}'; last it saw '(no output)'",
            "guard acted twice, not once",
        ),
    )


def test_where_a_denial_ends_the_run_nobody_need_be_told_why(tmp_path: Path) -> None:
    found = seen(tmp_path, heard("Do it."), files=("victim-canonical/kept.txt",))
    assert verdict("deny-exit", found).result == "fail"
    ended = verdict("deny-exit", found, drivers.get("cline"))
    assert ended.result == "pass"
    assert ended.evidence[1] == "the denial ended the run without its reason"


def test_what_the_model_itself_says_is_not_what_it_saw(tmp_path: Path) -> None:
    own = RequestRecord("POST", "/", "x", 1, (Message("assistant", DENIED), Message("user", "go on")))
    found = seen(tmp_path, own, files=("victim-canonical/kept.txt",))
    assert verdict("deny-exit", found).result == "fail"


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"timed_out": True, "seconds": 90.0}, "the agent did not exit within 90 s"),
        (
            {"trouble": "cannot start 'x': No such file"},
            "the run failed: cannot start 'x': No such file",
        ),
    ],
)
def test_a_run_that_did_not_end_fails_whatever_it_left(
    tmp_path: Path, more: dict[str, object], told: str
) -> None:
    found = seen(tmp_path, heard(results=(DENIED,)), files=("victim-canonical/kept.txt",))
    found = found._replace(outcome=found.outcome._replace(**more))  # type: ignore[arg-type]
    assert verdict("deny-exit", found) == ScenarioVerdict("fail", (told,))


def rewritten(folder: Path, *files: str) -> RunEvidence:
    found = seen(folder, heard("Do it."), files=files)
    return found._replace(records=[{"hook": "change-canonical", "acts": True, "stdin": {}}])


def test_an_agent_that_cannot_is_told_from_one_that_fails(tmp_path: Path) -> None:
    reason = "Kimi CLI and Kimi Code cannot rewrite the input on PreToolUse"
    assert verdict("rewrite", rewritten(tmp_path / "denied"), KIMI) == ScenarioVerdict(
        "cannot",
        (
            "first-canonical.txt does not exist",
            "second-canonical.txt does not exist",
        ),
        reason,
        "the command is denied, so that the original does not run",
    )
    ran = verdict("rewrite", rewritten(tmp_path / "ran", "first-canonical.txt"), KIMI)
    assert ran == ScenarioVerdict(
        "fail",
        (f"the agent cannot ({reason}), and hookport did not report that", "first-canonical.txt exists"),
    )
    did = verdict("rewrite", rewritten(tmp_path / "did", "second-canonical.txt"), KIMI)
    assert did.result == "fail"
    assert did.evidence[0] == f"the table claims: {reason}; but it did"


def test_where_it_depends_on_the_product_its_driver_says_and_a_failure_is_one(tmp_path: Path) -> None:
    unheard = seen(tmp_path, heard("Do it."), heard(step=1))
    for name in ("stop-once", "context-prompt"):
        who = {"stop-once": "opencode", "context-prompt": "kimi-code"}[name]
        assert verdict(name, unheard, drivers.get(who)).result == "fail"


def test_events_are_held_against_the_table(tmp_path: Path) -> None:
    core = ("before_tool_execute", "after_tool_execute", "session_start", "session_end", "before_prompt")

    def fired(*events: str) -> ScenarioVerdict:
        found = seen(tmp_path, heard("Do it."), files=("ran.txt",))
        names = [f"on-canonical-{event}" for event in events]
        return verdict("events", found._replace(records=[{"hook": name, "acts": True} for name in names]))

    assert fired(*core, "agent_stop").result == "pass"
    missing = fired(*core)
    assert missing.result == "fail"
    assert missing.evidence[0].endswith("; in the table but not fired: agent_stop")
    surplus = fired(*core, "agent_stop", "before_model")
    assert surplus.evidence[0].endswith("; fired but not in the table: before_model")


def test_an_agents_own_file_is_no_failure_of_the_bridge(tmp_path: Path) -> None:
    """Claude Code reads its settings by itself, and hookport has no say in what it makes of them."""
    found = seen(tmp_path, heard("Do it."))
    assert (
        judge.judge_format(PlayedScenario(scenario.get("deny-noise"), CLAUDE), "claude-code", found).result
        == "cannot"
    )
    assert (
        judge.judge_format(PlayedScenario(scenario.get("deny-noise"), KIMI), "claude-code", found).result
        == "fail"
    )


def done(name: str, mode: scenario.Mode, verdicts: dict[str, ScenarioVerdict], **more: object) -> FinishedRun:
    run = ScenarioRun("claude-code", scenario.get(name), mode, tuple(verdicts))
    return FinishedRun(run, verdicts, 1.25, {"PreToolUse": 2}, isolated=True)._replace(**more)  # type: ignore[arg-type]


AGENT = campaign.Agent("claude-code", CLAUDE, Program(("claude",), "2.1.325", Path("claude")))


def test_results_are_gathered_and_read_back_as_they_were(tmp_path: Path) -> None:
    passed, failed = ScenarioVerdict("pass", ("it held",)), ScenarioVerdict("fail", ("it did not",))
    cannot = ScenarioVerdict("cannot", ("nothing",), "no such event", "it goes on")
    played = [
        done("deny-json", "bridge", {"canonical": passed, "universal": failed}),
        done("deny-json", "native", {"canonical": passed, "universal": cannot}, flaky=("sdk: late",)),
        done("rewrite", "bridge", {"canonical": cannot}),
        done("events", "bridge", {"canonical": passed}, events={"PreToolUse": 6}),
    ]
    [one] = campaign.collect_results([AGENT], played)
    assert one.scenarios == {
        "deny-json": {
            "bridge": results.ScenarioResult(
                "fail", 1.2, ("universal: it did not",), parts={"canonical": "pass", "universal": "fail"}
            ),
            "native": results.ScenarioResult(
                "pass",
                1.2,
                ("it held", "universal: no such event", "flaky, the first of two tries: sdk: late"),
                parts={"canonical": "pass", "universal": "cannot"},
            ),
        },
        "events": {"bridge": results.ScenarioResult("pass", 1.2, ("it held",), parts={"canonical": "pass"})},
        "rewrite": {
            "bridge": results.ScenarioResult(
                "cannot", 1.2, ("nothing",), "no such event", "it goes on", {"canonical": "cannot"}
            )
        },
    }
    assert (one.agent, one.version, one.isolated, one.events) == (
        "claude-code",
        "2.1.325",
        True,
        {"PreToolUse": results.Sighting(6, "events")},
    )
    path = results.write_results(tmp_path, one)
    assert path.name == "claude-code@2.1.325.json"
    assert results.parse_results(path.read_text("utf-8")) == one
    assert results.format_results(results.parse_results(path.read_text("utf-8"))) == path.read_text("utf-8")
    assert [(bad.scenario, bad.mode) for bad in results.find_failures([one])] == [("deny-json", "bridge")]
    newer = one._replace(scenarios={"mcp": {"native": results.ScenarioResult("pass")}}, events={})
    assert set(results.merge_results(one, newer).scenarios) == {*one.scenarios, "mcp"}
    assert results.merge_results(one, newer).events == one.events
    with pytest.raises(InputError, match=r"old\.json: no results of `hookport prove`"):
        results.parse_results(json.dumps({"scenarios": {}}), "old.json")


def test_a_run_is_kept_until_something_changes(tmp_path: Path) -> None:
    store = campaign.Store(tmp_path / "report")
    one = done("deny-json", "bridge", {"canonical": ScenarioVerdict("pass", ("it held",))})
    assert store.load(one.run, "1") is None
    left = tmp_path / "run"
    (left / "payloads").mkdir(parents=True)
    record = {"native": "PreToolUse", "payload": '{"a": 1}'}
    (left / "payloads" / "1.json").write_text(json.dumps(record), "utf-8")
    (left / "payloads" / "2.json").write_text(json.dumps({**record, "payload": '{"a": 2}'}), "utf-8")
    (left / "outcome.json").write_text("{}", "utf-8")
    store.keep(one, "1", left)
    assert store.load(one.run, "1") == one
    assert store.load(one.run, "2") is None
    changed = one.run._replace(scenario=one.run.scenario._replace(text="other"))
    assert store.load(changed, "1") is None
    assert [list(campaign.play([one.run], [AGENT._replace(program=Program((), "1", left))], store))] == [
        [(one, False)]
    ]
    campaign.write_report(tmp_path / "report", [], [one])
    kept = sorted(
        str(path.relative_to(tmp_path / "report")) for path in (tmp_path / "report").rglob("*.json")
    )
    assert kept == [
        "payloads/claude-code/PreToolUse-1.json",
        *(
            f"runs/claude-code/deny-json-bridge-canonical/{name}"
            for name in ("outcome.json", "payloads/1.json")
        ),
        *(
            f"runs/claude-code/deny-json-bridge-canonical/{name}"
            for name in ("payloads/2.json", "verdict.json")
        ),
    ]


def test_a_person_sees_a_table_why_not_and_how_to_try_again(capsys: pytest.CaptureFixture[str]) -> None:
    one = results.AgentResults("a", "codex", "Codex", "1.0", "0", "2026-11-16", "Linux", "x", isolated=True)
    bad = results.ScenarioResult("fail", 1, ("sdk: it ran",))
    cannot = results.ScenarioResult("cannot", 1, (), "takes no input", "it is denied")
    good = results.ScenarioResult("pass", 1)
    table = {"deny-json": {"bridge": good, "native": bad}, "rewrite": {"bridge": cannot, "native": cannot}}
    other = one._replace(driver="kimi-cli", version="2", scenarios={"deny-json": {"bridge": good}})
    prove.print_results([one._replace(scenarios=table), other])
    assert capsys.readouterr().out == (
        "BRIDGE     codex   kimi-cli\n"
        "           1.0     2\n"
        "deny-json  pass    pass\n"
        "rewrite    cannot  –\n"
        "\n"
        "NATIVE     codex   kimi-cli\n"
        "           1.0     2\n"
        "deny-json  fail    –\n"
        "rewrite    cannot  –\n"
        "\n"
        "codex cannot rewrite\n"
        "  takes no input: it is denied\n"
        "codex deny-json native failed\n"
        "  sdk: it ran\n"
        "  again, alone: hookport prove codex --scenario deny-json --mode native --fresh\n"
    )


def provoked(name: str, folder: Path, *hooks: str, tools: dict[str, int] | None = None) -> ScenarioVerdict:
    """The verdict of a scenario in which hooks on every event saw these events and tools."""
    evidence = seen(folder, files=("ran.txt", "full.txt"))
    records = [{"hook": f"on-canonical-{hook}", "acts": True, "stdin": {}} for hook in hooks]
    return verdict(name, evidence._replace(records=records, tools=tools or {}), drivers.get("codex"))


def test_an_event_that_was_provoked_is_shown_whether_it_fired_or_not(tmp_path: Path) -> None:
    assert provoked("events-compact", tmp_path, "before_compact") == ScenarioVerdict(
        "pass",
        (
            "full.txt exists",
            "before_compact fired",
            "after_compact did not fire",
            "error_occurred did not fire",
        ),
    )


def test_an_event_that_the_table_lacks_must_not_fire(tmp_path: Path) -> None:
    assert provoked("events-compact", tmp_path, "error_occurred") == ScenarioVerdict(
        "fail", ("error_occurred fired",)
    )


def test_tools_that_hooks_saw_must_be_in_the_table(tmp_path: Path) -> None:
    """A tool that no hook saw is shown; an unknown one contradicts the table."""
    told = (
        "ran.txt exists",
        "hooks saw: Bash, apply_patch; called, and no hook saw: todo, agent",
        "subagent_start did not fire",
        "subagent_stop did not fire",
    )
    seen_tools = {"Bash": 1, "apply_patch": 1}
    assert provoked("events-tools", tmp_path, tools=seen_tools) == ScenarioVerdict("pass", told)
    assert provoked("events-tools", tmp_path, tools={"Bash": 1, "zap": 2}) == ScenarioVerdict(
        "fail", ("hooks saw: Bash, zap; called, and no hook saw: todo, agent; not in the table: zap",)
    )
    assert provoked("events-tools", tmp_path).result == "fail"


def test_denies_that_changed_nothing_are_listed(tmp_path: Path) -> None:
    evidence = seen(tmp_path, files=("ran.txt", "last.txt", "new.txt"))
    (evidence.project / "new.txt").write_text("new\n", "utf-8")
    records = [{"hook": "own", "acts": True, "event": native, "stdin": ""} for native in ("Stop", "Start")]
    played = PlayedScenario(scenario.get("ignored"), CLAUDE)
    judged = judge.judge_format(played, "", evidence._replace(records=records))
    assert (judged.result, judged.evidence[0]) == ("pass", "own denied on: Start, Stop")
    assert judge.judge_format(played, "", evidence._replace(records=[])).result == "fail"
