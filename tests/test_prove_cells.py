"""What was measured, held against the tables, and shown with them."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

from hookport.agents import list_agents
from hookport.lab import drivers
from hookport.lab.cells import CONTROL, Cell, MeasuredRun, find_contradictions, make_cells
from hookport.lab.page import format_page
from hookport.lab.results import AgentResults, ScenarioResult, Sighting, load_results
from hookport.shapes.dialect import WAYS


def measured(driver: str, events: tuple[str, ...] = (), **scenarios: ScenarioResult) -> AgentResults:
    """The results of a driver; with events, those of a run with a hook on every event."""
    if events:
        scenarios["events"] = ScenarioResult("pass")
    return AgentResults(
        agent=drivers.get_dialect_id(drivers.get(driver)),
        driver=driver,
        title=drivers.get(driver).title,
        version="9.9.9",
        hookport="0.1.0",
        date="2026-01-02",
        platform="linux",
        command="hookport prove",
        isolated=True,
        events=dict.fromkeys(events, Sighting(1)),
        scenarios={name.replace("_", "-"): {"bridge": one} for name, one in scenarios.items()},
    )


def cell(results: AgentResults, event: str, capability: str) -> Cell:
    found = {(one.event, one.capability, one.agent): one for one in make_cells(list_agents(), [results])}
    return found[event, capability, results.agent]


def test_nothing_that_was_measured_contradicts_a_table() -> None:
    assert find_contradictions() == []


def test_what_was_measured_is_of_a_driver_and_its_dialect() -> None:
    for results in load_results():
        assert results.driver in drivers.list_names()
        assert results.agent == drivers.get_dialect_id(drivers.get(results.driver))
        assert results.agent in list_agents()


def test_a_pass_and_its_control_make_a_cell_measured_and_both_runs_are_named() -> None:
    results = measured(
        "codex", rewrite=ScenarioResult("pass"), allow=ScenarioResult("pass", date="2026-01-01")
    )
    assert cell(results, "before_tool_execute", "rewrite") == Cell(
        "before_tool_execute",
        "rewrite",
        "codex",
        "yes",
        "measured",
        "9.9.9, 2026-01-02",
        "Codex CLI 9.9.9, 2026-01-02: 'rewrite' in bridge mode.",
        MeasuredRun("codex", "9.9.9", "rewrite", "bridge", "2026-01-02"),
        MeasuredRun("codex", "9.9.9", CONTROL, "bridge", "2026-01-01"),
    )


@pytest.mark.parametrize("control", [None, ScenarioResult("fail"), ScenarioResult("cannot")])
def test_a_pass_without_a_control_is_not_shown_as_measured(control: ScenarioResult | None) -> None:
    """A guard on a call that would not happen anyway shows nothing."""
    results = measured("codex", rewrite=ScenarioResult("pass"))
    if control:
        results = results._replace(scenarios={**results.scenarios, CONTROL: {"bridge": control}})
    shown = cell(results, "before_tool_execute", "rewrite")
    assert (shown.basis, shown.run, shown.control) == ("documented", None, None)


def test_a_control_of_another_mode_is_none() -> None:
    results = measured("codex", rewrite=ScenarioResult("pass"))
    controlled = results._replace(
        scenarios={**results.scenarios, CONTROL: {"native": ScenarioResult("pass")}}
    )
    assert cell(controlled, "before_tool_execute", "rewrite").basis == "documented"


def test_every_measured_cell_names_its_run_and_its_control_on_the_same_version() -> None:
    shown = make_cells(list_agents())
    runs = {
        (results.driver, results.version, name, mode, result.date)
        for results in load_results()
        for name, modes in results.scenarios.items()
        for mode, result in modes.items()
    }
    for one in shown:
        if one.basis == "measured":
            assert one.run
            assert one.control
            assert {one.run, one.control} <= runs
            assert one.run[:2] == one.control[:2]
        else:
            assert (one.run, one.control) == (None, None)


def test_an_event_that_fired_is_measured() -> None:
    found = cell(measured("codex", ("SessionStart",)), "session_start", "fires")
    assert (found.basis, found.claim) == ("measured", "yes")


def test_what_an_agent_does_instead_is_told_and_its_limit_stays_documented() -> None:
    result = ScenarioResult("cannot", instead="the command is denied")
    found = cell(measured("qwen-code", rewrite=result), "before_tool_execute", "rewrite")
    assert (found.basis, found.claim) == ("documented", "no")
    assert found.why.endswith("'rewrite' in bridge mode: the command is denied.")


def test_nothing_that_was_not_measured_is_called_so() -> None:
    assert {one.basis for one in make_cells(list_agents(), [])} == {"documented", "unknown"}


@pytest.mark.parametrize(
    ("results", "told"),
    [
        (measured("codex", ("NeverHeardOf",)), "Codex CLI 9.9.9: the event 'NeverHeardOf' fired"),
        (
            measured("codex", rewrite=ScenarioResult("fail", evidence=("first.txt is there",))),
            "Codex CLI 9.9.9: 'rewrite' failed in bridge mode: first.txt is there",
        ),
        (
            measured("codex", rewrite=ScenarioResult("cannot")),
            "Codex CLI 9.9.9: the tables claim 'yes' for before_tool_execute.rewrite",
        ),
        (
            measured("qwen-code", rewrite=ScenarioResult("pass")),
            "Qwen Code 9.9.9: the tables claim 'no' for before_tool_execute.rewrite",
        ),
    ],
)
def test_a_measurement_that_contradicts_a_table_is_found(results: AgentResults, told: str) -> None:
    assert [one[: len(told)] for one in find_contradictions([results])] == [told]


class Balance(HTMLParser):
    """Counts the cells of each row and what is fetched from elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        self.widths: list[int] = []
        self.outside: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "tr":
            self.widths.append(0)
        if tag in {"td", "th"}:
            self.widths[-1] += 1
        self.outside += [tag for name, _ in attrs if name in {"src", "href"}]


def test_the_page_has_a_cell_for_every_event_capability_and_agent_and_needs_nothing_else() -> None:
    shown = make_cells(list_agents())
    balance = Balance()
    balance.feed(format_page(shown))
    rows = {(one.event, one.capability) for one in shown}
    assert balance.widths == [len(list_agents()) + 2] * (1 + len(rows) + len(WAYS))
    assert balance.outside == []


def test_a_tool_that_hooks_saw_and_a_deny_that_changed_nothing_are_measured() -> None:
    results = measured(
        "codex",
        events_tools=ScenarioResult("pass"),
        ignored=ScenarioResult("pass"),
        allow=ScenarioResult("pass"),
    )._replace(
        tools={"update_plan": Sighting(1, "events-tools"), "zap": Sighting(1, "events-tools")},
        ignored={"SessionStart": Sighting(1, "ignored")},
    )
    shown = {(one.event, one.capability): one for one in make_cells(["codex"], [results])}
    run = MeasuredRun("codex", "9.9.9", "events-tools", "bridge", "2026-01-02")
    todo = shown["tool", "todo"]
    assert (todo.claim, todo.basis, todo.run, todo.control) == ("yes", "measured", run, run)
    assert shown["tool", "agent"].basis == "documented"
    limit = shown["session_start", "block"]
    assert (limit.claim, limit.basis) == ("no", "measured")
    assert limit.why.endswith("a deny on 'SessionStart' changed nothing.")
    assert shown["session_end", "block"].basis == "documented"


def test_a_capability_is_measured_by_a_hook_that_the_agent_runs_itself() -> None:
    def make(mode: str) -> Cell:
        results = measured("codex")._replace(
            scenarios={name: {mode: ScenarioResult("pass")} for name in ("rewrite", CONTROL)}
        )
        shown = {(one.event, one.capability): one for one in make_cells(["codex"], [results])}
        return shown["capability", "input_rewrite"]

    assert (make("native").basis, make("bridge").basis) == ("measured", "documented")


def test_an_event_that_a_scenario_did_not_make_fire_stays_documented_with_the_reason() -> None:
    result = ScenarioResult("pass", evidence=("before_compact did not fire", "after_compact fired"))
    shown = cell(measured("codex", events_compact=result), "before_compact", "fires")
    assert shown.basis == "documented"
    assert shown.why.endswith("'events-compact' did not make it fire.")


def test_why_runs_do_not_show_something_is_in_its_cell() -> None:
    lacks = drivers.get("kimi-code").lacks["session_end.fires"]
    shown = {(one.event, one.capability): one for one in make_cells(["kimi-cli"], [])}
    assert lacks in shown["session_end", "fires"].why
