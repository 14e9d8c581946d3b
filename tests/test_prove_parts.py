"""The parts of `hookport prove` that only read and judge: checks, scenarios, results, samples, likenesses."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hookport.errors import InputError
from hookport.lab import drivers, judge, likeness, results, samples, scenario
from hookport.lab.judge import PlayedScenario, RunEvidence, ScenarioVerdict
from hookport.lab.play import Outcome, RequestRecord
from hookport.lab.protocols import Message, ToolResult
from hookport.lab.results import AgentResults, Failure, ScenarioResult
from hookport.lab.samples import Sample
from hookport.lab.scenario import AbilityNeed, Check, OwnHook, Scenario, ScenarioHook
from hookport.runtime.plan import PlannedHook

CLAUDE = drivers.get("claude-code")
QUICK = settings(max_examples=60, deadline=None)

# The judge.

STEPS = "shell, read, say, write, edit, mcp, delegate, code, other_shell"


def request(step: int | None, *texts: tuple[str, str], result: str = "") -> RequestRecord:
    answers = (ToolResult(id="1", call="Bash", text=result),) if result else ()
    return RequestRecord("POST", "/", "x", step, tuple(Message(*text) for text in texts), answers)


def leave(folder: Path, *requests: RequestRecord, **more: Any) -> RunEvidence:
    """What a run left: one file, and a hook that ran twice and acted once."""
    project, home = folder / "project", folder / "home"
    (project / "sub").mkdir(parents=True)
    (project / "kept.txt").write_text(f"{project}/x is\n  kept", "utf-8")
    records = [{"hook": "guard-sdk", "acts": True}, {"hook": "guard", "acts": False}]
    records += [{"hook": "guard-canonical", "acts": True}, {"hook": "other-sdk", "acts": True}]
    outcome = Outcome(exit=0, seconds=2, requests=requests, isolated=True)._replace(**more)
    return RunEvidence(outcome, project, home, records)


def judge_checks(evidence: RunEvidence, *checks: Any) -> ScenarioVerdict:
    hooks = [{"name": "guard", "event": "before_tool_execute", "answer": "deny"}]
    tree = {"title": "t", "steps": [], "hooks": hooks, "expect": list(checks)}
    played = PlayedScenario(scenario.parse_scenario("mine", json.dumps(tree)), CLAUDE)
    return judge.judge_format(played, "sdk", evidence)


REQUESTS = (
    request(None, ("user", "a title, please")),
    request(0, ("system", "be good"), ("user", "do the task")),
    request(1, ("user", "do the task"), ("assistant", "I said it"), result="it was  denied"),
)


@pytest.mark.parametrize(
    ("check", "word", "shown"),
    [
        ({"there": "kept.txt"}, "pass", "kept.txt exists"),
        ({"there": "sub"}, "pass", "sub exists"),
        ({"there": "{format}.txt"}, "fail", "sdk.txt does not exist"),
        ({"there": {"path": "kept.txt", "text": "kept"}}, "pass", "kept.txt contains '$PROJECT/x is kept'"),
        ({"there": {"path": "kept.txt", "text": "gone"}}, "fail", "kept.txt contains '$PROJECT/x is kept'"),
        ({"there": {"path": "sub", "text": "x"}}, "fail", "sub contains ''"),
        ({"gone": "other.txt"}, "pass", "other.txt does not exist"),
        ({"gone": "kept.txt"}, "fail", "kept.txt exists"),
        ({"model_sees": "denied"}, "pass", "the model saw 'it was denied'"),
        ({"model_sees": {"text": "do the", "after": 1}}, "pass", "the model saw 'do the task'"),
        (
            {"model_sees": {"text": "good", "after": 1}},
            "fail",
            "the model did not see 'good'; last it saw 'do the task'",
        ),
        (
            {"model_sees": {"text": "title", "after": 1}},
            "fail",
            "the model did not see 'title'; last it saw 'do the task'",
        ),
        ({"model_sees": "I said"}, "fail", "the model did not see 'I said'; last it saw 'do the task'"),
        ({"model_sees_not": "I said"}, "pass", "the model did not see 'I said'"),
        ({"model_sees_not": "be good"}, "fail", "the model saw 'be good'"),
        ({"reason": "was  denied"}, "pass", "the model saw 'it was denied'"),
        ({"told": "noise"}, "pass", "it printed 'some noise'"),
        ({"told": "be good"}, "fail", "the agent did not print 'be good'"),
        ({"fired": "guard"}, "pass", "guard acted once"),
        ({"fired": {"hook": "guard", "times": 0}}, "fail", "guard acted once, not not at all"),
        ({"runs": "guard"}, "pass", "guard ran twice"),
        ({"runs": {"hook": "guard", "times": 3}}, "fail", "guard ran twice, not 3 times"),
        ({"runs": {"hook": "guard", "most": 1}}, "fail", "guard ran twice"),
        ({"runs": {"hook": "guard", "least": 2, "most": 2}}, "pass", "guard ran twice"),
        ({"requests": {"times": 2}}, "pass", "the model was asked twice"),
        ({"requests": {"least": 3}}, "fail", "the model was asked twice, not 3 to 2"),
        ({"requests": {"most": 1}}, "fail", "the model was asked twice, not 0 to 1"),
    ],
)
def test_each_kind_of_check_and_what_it_shows(tmp_path: Path, check: Any, word: Any, shown: str) -> None:
    evidence = leave(tmp_path, *REQUESTS, stdout="some", stderr="noise")
    evidence = evidence._replace(outcome=evidence.outcome._replace(stdout="some noise", stderr=""))
    assert judge_checks(evidence, check) == ScenarioVerdict(word, (shown,))


def test_a_failure_shows_only_what_is_wrong(tmp_path: Path) -> None:
    checks = [{"there": "kept.txt"}, {"gone": "sub"}, {"fired": "guard"}]
    assert judge_checks(leave(tmp_path), *checks) == ScenarioVerdict("fail", ("sub exists",))


def test_an_agent_that_asked_nothing_is_shown_by_its_output(tmp_path: Path) -> None:
    evidence = leave(tmp_path, stderr=f"{sys.executable}: no key in {tmp_path}/home\n")
    shown = "the model did not see 'x'; it got no request; the agent printed '$PYTHON: no key in $HOME'"
    assert judge_checks(evidence, {"model_sees": "x"}) == ScenarioVerdict("fail", (shown,))


def test_a_long_text_is_cut_around_what_was_looked_for(tmp_path: Path) -> None:
    evidence = leave(tmp_path, request(0, ("user", "a" * 500 + "needle" + "b" * 500)))
    shown = f"the model saw '…{'a' * 60}needle{'b' * 134}…'"
    assert judge_checks(evidence, {"model_sees": "needle"}) == ScenarioVerdict("pass", (shown,))


@pytest.mark.parametrize(
    ("words", "combined"),
    [
        ((), "pass"),
        (("cannot", "pass"), "pass"),
        (("pass", "fail", "cannot"), "fail"),
        (("cannot",), "cannot"),
    ],
)
def test_the_verdicts_of_formats_are_one(words: tuple[Any, ...], combined: str) -> None:
    assert judge.combine_verdicts(map(ScenarioVerdict, words)) == combined


# Scenarios.

HOOK = {"name": "guard", "event": "before_tool_execute", "answer": "deny"}


def list_problems(text: str) -> list[str]:
    with pytest.raises(InputError) as refused:
        scenario.parse_scenario("mine", text)
    return [str(problem).removeprefix("mine.yaml: ") for problem in refused.value.problems]


def test_all_that_is_wrong_with_a_scenario_is_reported_at_once() -> None:
    tree = {
        "title": ["t"],
        "hooks": [
            3,
            {**HOOK, "event": "before_tol_execute", "tools": ["shel"], "timeout": True, "asink": 1},
            {**HOOK, "answer": "context", "says": {"mode": "a", "shape": "b"}, "exists": "modes"},
        ],
        "steps": [{"shell": "ls", "say": "x"}, {"shel": "ls"}, {"mcp": {"tool": "x", "input": "y"}}],
        "expect": [
            {"told": {"text": "a", "times": 1}},
            {"there": 3},
            {"fired": {"hook": "guard", "times": "1"}},
        ],
        "needs": {"event": "agent_stop", "can": "blocks"},
        "instead": "x",
        "files": {"/etc/x": "a"},
        "itself": [{"gone": None}, {}],
    }
    problems = [re.sub(r"Known: .{60,}", "Known: …", problem) for problem in list_problems(json.dumps(tree))]
    assert problems == [
        "title: must be a string",
        "hooks[0]: must be an object",
        "hooks[1].timeout: must be a number",
        "hooks[1].asink: unknown field. Did you mean 'async'?",
        "hooks[1].event: unknown word 'before_tol_execute'. Did you mean 'before_tool_execute'? Known: …",
        "hooks[1].tools[0]: unknown word 'shel'. Did you mean 'shell'? Known: …",
        "hooks[2].says: unknown word 'shape'. Known: mode, transcript",
        "hooks[2].exists: unknown word 'modes'. Did you mean 'mode'? Known: mode, transcript",
        "hooks[2].says: must have one field",
        "hooks[2]: the answer 'context' needs 'context'",
        f"steps[0]: must be an object with one of: {', '.join(scenario.STEPS)}",
        "steps[1]: unknown word 'shel'. Did you mean 'shell'? Known: …",
        "steps[2].mcp.input: must be an object",
        "expect[0].told: unknown word 'times'. Known: text",
        "expect[1].there.path: must be a string",
        "expect[2].fired.times: must be a number",
        "expect[2].fired.hook: unknown word 'guard'. Known: ",
        "otherwise: 'otherwise' and 'instead' go together: the checks, and the words",
        "needs[0].can: unknown word 'blocks'. Did you mean 'block'? Known: …",
        "itself[0].gone.path: must be a string",
        "itself[1]: must be an object with one of: " + ", ".join(scenario.CHECKS),
        "files./etc/x: must be a path in the project",
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "a scenario must be an object"),
        ("- a", "a scenario must be an object"),
        ("title: a\n\tb", "mine.yaml:2:1: invalid YAML: found character '\\t' that cannot start any token"),
        ("title: a\x00", "invalid YAML: unacceptable character #x0000: special characters are not allowed"),
        ("title: 2020-13-45", "invalid YAML: month must be in 1..12"),
    ],
)
def test_a_text_that_is_no_scenario(text: str, problem: str) -> None:
    assert list_problems(text) == [problem]


VALUES = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-1, 2),
        st.sampled_from(["", "guard", "shell", "native", "deny"]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=2),
        st.dictionaries(
            st.sampled_from([*scenario.CHECKS, *scenario.STEPS, "event", "hook", "x"]), inner, max_size=2
        ),
    ),
    max_leaves=5,
)
FIELDS = [*scenario._FIELDS, "x"]
HOOK_FIELDS = [*scenario._HOOK_FIELDS, "x"]


@settings(max_examples=150, deadline=None)
@given(
    st.dictionaries(st.sampled_from(FIELDS), VALUES, max_size=3),
    st.dictionaries(st.sampled_from(HOOK_FIELDS), VALUES, max_size=2),
)
def test_any_scenario_is_read_or_refused_with_places_in_it(
    tree: dict[str, Any], hook: dict[str, Any]
) -> None:
    whole = {"title": "t", "steps": [], "expect": [], "hooks": [{**HOOK, **hook}], **tree}
    try:
        read = scenario.parse_scenario("mine", json.dumps(whole))
    except InputError as refused:
        problems = refused.problems
    else:
        problems = ()
        assert (read.title, read.prompt) == (whole["title"], whole.get("prompt", scenario.PROMPT))
        assert all(isinstance(check.about, dict) for check in (*read.expect, *read.otherwise))
    for problem in problems:
        assert problem.message
        assert not problem.path or problem.path[0] in {*whole, "needs", "otherwise"}


def test_a_whole_scenario_is_read() -> None:
    tree = {
        "title": "a title",
        "needs": [{"event": "before_tool_execute", "can": "block"}],
        "hooks": [
            {
                **HOOK,
                "answer": "rewrite",
                "tools": ["shell"],
                "when": {"command": "rm"},
                "timeout": 1.5,
                "change": {"from": "a", "to": "b"},
                "once": True,
                "async": True,
                "says": {"mode": "plan"},
            }
        ],
        "steps": [{"shell": "rm x-{format}"}, {"mcp": {"tool": "shout", "input": {"text": "x"}}}],
        "expect": [{"fired": {"hook": "guard", "times": 2}}, {"gone": "x"}],
        "otherwise": [{"there": "x"}],
        "instead": "it stays",
        "itself": [],
        "modes": ["native"],
        "formats": "each",
        "own": {"when": "rm", "reason": "no", "child": 3},
        "files": {"a/b.sh": "#!/bin/sh"},
        "programs": ["git"],
    }
    text = json.dumps(tree)
    hook = ScenarioHook(
        "guard", "before_tool_execute", "rewrite", ("shell",), when=("command", "rm"), timeout=1.5
    )
    hook = hook._replace(change=("a", "b"), once=True, is_async=True, says=("mode", "plan"))
    read = scenario.parse_scenario("mine", text)
    assert read == Scenario(
        "mine",
        "a title",
        (hook,),
        (("shell", "rm x-{format}"), ("mcp", {"tool": "shout", "input": {"text": "x"}})),
        (Check("fired", {"hook": "guard", "times": 2}), Check("gone", {"path": "x"})),
        (AbilityNeed("before_tool_execute", "block"),),
        (Check("there", {"path": "x"}),),
        "it stays",
        ("native",),
        "each",
        "each",
        (),
        {"a/b.sh": "#!/bin/sh"},
        own=OwnHook("rm", "no", "project", 3),
        programs=("git",),
        text=text,
    )
    assert read.uses_mcp
    assert scenario.is_of_format(read.steps)
    assert not scenario.is_of_format(read.hooks)
    assert scenario.fill_format(read.steps, "sdk")[0] == ("shell", "rm x-sdk")
    assert scenario.fill_format(Check("there", {"path": "{format}", "after": 1}), "a") == Check(
        "there", {"path": "a", "after": 1}
    )


# Results.

WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
RESULTS = st.builds(
    ScenarioResult,
    st.sampled_from(["pass", "fail", "cannot"]),
    st.integers(0, 9),
    st.lists(WORDS, max_size=2).map(tuple),
    WORDS,
    WORDS,
    st.dictionaries(WORDS, st.sampled_from(["pass", "fail"]), max_size=2),
    st.just("2026-03-03"),
)
SCENARIOS = st.dictionaries(
    st.sampled_from(["ask", "deny-json", "é"]),
    st.dictionaries(st.sampled_from(["bridge", "native"]), RESULTS, min_size=1),
    max_size=3,
)
EMPTY = AgentResults("a", "x", "X", "1", "0.2", "2026-02-02", "Linux", "x -p", isolated=True)
MEASURED = st.builds(
    lambda scenarios, events, isolated: EMPTY._replace(scenarios=scenarios, events=events, isolated=isolated),
    SCENARIOS,
    st.dictionaries(
        st.sampled_from(["Stop", "PreToolUse"]),
        st.builds(
            results.Sighting,
            st.integers(0, 5),
            st.sampled_from(["ask", "deny-json"]),
            st.lists(WORDS, max_size=2).map(tuple),
        ),
    ),
    st.booleans(),
)


@QUICK
@given(MEASURED)
def test_results_are_read_as_they_were_written(measured: AgentResults) -> None:
    text = results.format_results(measured)
    assert results.parse_results(text) == measured
    assert results.format_results(results.parse_results(text)) == text
    assert results.find_failures([measured]) == [
        Failure("x", name, mode, result)
        for name, modes in measured.scenarios.items()
        for mode, result in modes.items()
        if result.result == "fail"
    ]


@QUICK
@given(MEASURED, MEASURED)
def test_merged_results_have_each_scenario_as_it_was_measured_last(
    old: AgentResults, new: AgentResults
) -> None:
    old = old._replace(date="2026-01-01", hookport="0.1")
    merged = results.merge_results(old, new)
    wanted = {
        name: {**old.scenarios.get(name, {}), **new.scenarios.get(name, {})}
        for name in sorted({*old.scenarios, *new.scenarios})
    }
    assert merged.scenarios == wanted
    bridged = {name for name, modes in new.scenarios.items() if "bridge" in modes}
    kept = {native: sighting for native, sighting in old.events.items() if sighting.scenario not in bridged}
    assert merged.events == {**new.events, **kept}
    is_new = wanted == new.scenarios
    assert (merged.date, merged.hookport) == (
        (new if is_new else old).date,
        (new if is_new else old).hookport,
    )
    assert merged.isolated == (new.isolated and (is_new or old.isolated))
    assert results.merge_results(merged, new).scenarios == wanted


def test_saved_results_replace_those_of_other_versions_and_join_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(results, "files", lambda package: tmp_path)
    passed = {"bridge": ScenarioResult("pass", 1.5)}
    assert results.load_results() == []
    for other in ("x@0.json", "xy@0.json"):
        results.write_results(
            tmp_path / "results", EMPTY._replace(driver=other.partition("@")[0], version="0")
        )
    results.save_results(EMPTY._replace(date="2026-01-01", scenarios={"ask": passed}))
    later = {"bridge": passed["bridge"]._replace(date="2026-01-02")}
    path = results.save_results(EMPTY._replace(scenarios={"mcp": later}))
    assert (path, path.name) == (tmp_path / "results" / "x@1.json", "x@1.json")
    assert results.load_results() == [
        # A run without a day is of the day of the file.
        EMPTY._replace(
            date="2026-01-01",
            scenarios={"ask": {"bridge": passed["bridge"]._replace(date="2026-01-01")}, "mcp": later},
        ),
        EMPTY._replace(driver="xy", version="0"),
    ]


@pytest.mark.parametrize(
    "change",
    [
        {"scenarios": None},
        {"scenarios": {"ask": {"bridge": {"result": "pass", "more": 1}}}},
        {"scenarios": {"ask": {"bridge": {}}}},
        {"scenarios": {"ask": {"bridge": {"result": "pass", "evidence": 1}}}},
        {"scenarios": {"ask": []}},
        {"events": {"Stop": 3}},
        {"events": {"Stop": {"fired": "often"}}},
        {"events": {"Stop": {"fired": float("inf")}}},
        {"colour": "red"},
    ],
)
def test_what_are_no_results_is_refused_by_its_file(change: dict[str, Any]) -> None:
    tree = {**json.loads(results.format_results(EMPTY)), **change}
    for text in (json.dumps(tree), json.dumps([tree]), "[" * 100_000):
        with pytest.raises(
            InputError, match=r"^x\.json: no results of `hookport prove`: .*Measure them again\.$"
        ):
            results.parse_results(text, "x.json")


# Samples.


def plan(event: str = "before_tool_execute", **more: Any) -> PlannedHook:
    return PlannedHook("guard", event, "canonical", **more)


KINDS = ("shell", "write", "edit", "read", "mcp")


def test_samples_are_numbered_and_none_is_played_twice() -> None:
    asked = [
        samples.parse_sample(text)
        for text in ("make x", "ls README.md", "write: notes.md", "make x", "exit 1")
    ]
    chosen = samples.choose_samples([], KINDS, [*asked, samples.PROMPT])
    planted = ((".env", "FAKE=1\n"),)
    assert chosen[0] == Sample(
        "shell",
        "ls README.md",
        ("ls README.md",),
        "ran-0",
        harmless=True,
        planted=planted,
        program=("ls", "README.md"),
    )
    assert [sample for sample in chosen if sample.kind == "shell"][1:] == [
        Sample("shell", "make x", ("make x",), "ran-1", planted=planted, program=("make", "x")),
        Sample(
            "shell", "ls README.md", ("ls README.md",), "ran-2", planted=planted, program=("ls", "README.md")
        ),
        Sample("shell", "touch ran-3; exit 1", ("touch ran-3; exit 1",), "ran-3", planted=planted),
    ]
    assert len(chosen) == len({(sample.kind, sample.mark, sample.given) for sample in chosen})
    assert samples.choose_samples([], ("read",), asked) == [
        Sample(
            "read",
            "read notes-read.md",
            ("notes-read.md",),
            "notes-read.md",
            True,
            (("notes-read.md", "read-0\n"),),
        )
    ]


def test_the_kinds_that_an_agent_lacks_do_not_change_the_numbers_of_the_others() -> None:
    hooks = [plan(), plan("tool_use_failure")]
    every = samples.choose_samples(hooks, KINDS, ())
    for kind in KINDS:
        assert samples.choose_samples(hooks, (kind,), ()) == [
            sample for sample in every if sample.kind == kind
        ]


def test_prompts_are_played_for_hooks_of_prompts_and_for_those_who_ask() -> None:
    asked = [samples.parse_sample("prompt: hello"), samples.parse_sample("make")]
    assert samples.choose_prompts([plan()], asked) == [asked[0]]
    assert samples.choose_prompts([plan("before_prompt")], asked) == [samples.PROMPT, asked[0]]
    assert samples.is_matching(plan("before_prompt"), asked[0])
    assert not samples.is_matching(plan(), asked[0])


@pytest.mark.parametrize(
    ("line", "played"),
    [
        ("make", "make; touch ran-{n}"),
        ("make # x", "make # x\ntouch ran-{n}"),
        ("cat <<E\nx\nE", "cat <<E\nx\nE\ntouch ran-{n}"),
        ("exit 2", "touch ran-{n}; exit 2"),
    ],
)
def test_a_command_leaves_its_mark(line: str, played: str) -> None:
    sample = samples.mark_command(samples.parse_sample(line))
    assert (sample.about, sample.given, sample.program, sample.key) == (played, (played,), (), "ran-{n}")


PATTERNS = st.lists(
    st.sampled_from(
        [
            "a",
            "rm",
            r"\s+",
            r"\d{2,3}",
            "[^a-c]",
            "[0-9]*",
            "(?:x|y)",
            "(p)?",
            ".",
            r"\bq\b",
            "^",
            "$",
            r"\.",
            "é",
        ]
    ),
    min_size=1,
    max_size=5,
).map("".join)


@QUICK
@given(PATTERNS)
def test_a_likeness_is_what_its_pattern_matches(pattern: str) -> None:
    text = likeness.make_likeness(pattern)
    assert not text or (re.search(pattern, text) and text.isprintable() and len(text) <= likeness.LONGEST)
    if not re.search(r"[\^$]|\\b", pattern):
        assert text or re.search(pattern, "")
