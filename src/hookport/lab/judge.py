"""The outcome of a run, compared with a scenario's expectations: pass, fail or cannot, with real evidence."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal, NamedTuple

from hookport.agents import get
from hookport.base.tree import Tree
from hookport.lab import abilities
from hookport.lab.abilities import Ability
from hookport.lab.driver import Driver
from hookport.lab.drivers import get_dialect_id
from hookport.lab.play import Outcome
from hookport.lab.scenario import AbilityNeed, Check, Scenario, fill_format
from hookport.model.events import EVENTS
from hookport.shapes.dialect import find_tools

Word = Literal["pass", "fail", "cannot"]
# The last of these wins: an agent's limits are the same for every bridged format.
ORDER: tuple[Word, ...] = ("cannot", "pass", "fail")
# How much of a text is shown as evidence, and how much of it precedes the match.
LONGEST, BEFORE = 200, 60
MODELS = ("assistant", "model")
# Where this hookport is, and how much of that is recognised.
SOURCE, SHORTEST = str(Path(__file__).parents[2]), 5


class RunEvidence(NamedTuple):
    """What a run left: how it ended, the project, the records of the hooks, and the events.

    `events` counts, by native name, the events that the agent sent to the bridge, and `tools` its tools that
    the bridge was asked about before they ran.
    """

    outcome: Outcome
    project: Path
    home: Path
    records: Sequence[Mapping[str, Tree]] = ()
    events: Mapping[str, int] = {}
    tools: Mapping[str, int] = {}


class ScenarioVerdict(NamedTuple):
    """The result of one scenario, or of one format's part in it."""

    result: Word
    evidence: tuple[str, ...] = ()
    # If the agent cannot: why, and what it does instead.
    reason: str = ""
    instead: str = ""


class _CheckResult(NamedTuple):
    """Whether one check holds, and the evidence."""

    holds: bool
    shown: str


class PlayedScenario(NamedTuple):
    """What was played: the scenario, and the agent."""

    scenario: Scenario
    driver: Driver


def judge_format(played: PlayedScenario, form: str, evidence: RunEvidence) -> ScenarioVerdict:
    """Judge one format's part."""
    trouble = _find_trouble(evidence)
    if trouble:
        return ScenarioVerdict("fail", (trouble,))
    scenario, driver = played
    ability = abilities.find_joint_ability(driver, scenario.needs)
    judge = _Judge(scenario, driver, form, evidence)
    expected = judge.check_all(scenario.expect)
    holds = all(result.holds for result in expected)
    shown = tuple(result.shown for result in expected)
    wrong = tuple(result.shown for result in expected if not result.holds)
    itself = abilities.explain_direct_read(driver, form) if scenario.itself is not None and form else ""
    if itself and not holds:
        lost = tuple(result.shown for result in judge.check_all(scenario.itself or ()) if not result.holds)
        if lost and ability.word != "no":
            return ScenarioVerdict("fail", (itself, *lost))
        if not lost:
            return ScenarioVerdict("cannot", wrong, itself, "the hook has the effect that the agent gives it")
    if ability.word == "yes":
        return ScenarioVerdict("pass", shown) if holds else ScenarioVerdict("fail", wrong)
    if holds:
        if ability.word == "perhaps":
            return ScenarioVerdict("pass", shown)
        return ScenarioVerdict("fail", (f"the table claims: {ability.reason}; but it did", *shown))
    if not scenario.otherwise:
        return ScenarioVerdict("fail", wrong)
    return _judge_otherwise(judge.check_all(scenario.otherwise), ability, scenario)


def _judge_otherwise(others: Sequence[_CheckResult], ability: Ability, scenario: Scenario) -> ScenarioVerdict:
    wrong = tuple(result.shown for result in others if not result.holds)
    if wrong:
        return ScenarioVerdict(
            "fail", (f"the agent cannot ({ability.reason}), and hookport did not report that", *wrong)
        )
    return ScenarioVerdict(
        "cannot", tuple(result.shown for result in others), ability.reason, scenario.instead
    )


def _find_trouble(evidence: RunEvidence) -> str:
    """Find why the run did not end, so there is nothing to judge."""
    outcome = evidence.outcome
    if outcome.trouble:
        return hide_paths(f"the run failed: {outcome.trouble}", evidence)
    if outcome.timed_out:
        return f"the agent did not exit within {outcome.seconds:.0f} s"
    return ""


def combine_verdicts(verdicts: Iterable[ScenarioVerdict]) -> Word:
    """Combine the verdicts of the formats into the result of a scenario."""
    return max((verdict.result for verdict in verdicts), key=ORDER.index, default="pass")


def hide_paths(text: str, evidence: RunEvidence) -> str:
    """Replace the paths of this machine in a text, and put it on one line."""
    for path, name in ((evidence.project, "$PROJECT"), (evidence.home, "$HOME"), (sys.executable, "$PYTHON")):
        text = text.replace(str(path), name)
    text = text.replace(str(evidence.home.parent), "$RUN")
    # Some agents show the beginning of a hook's command only.
    for length in range(len(SOURCE), SHORTEST, -1):
        text = text.replace(SOURCE[:length] + ("…" if length < len(SOURCE) else ""), "$SOURCE")
    return " ".join(text.split())


class _Judge:
    """The checks of one format's part."""

    def __init__(self, scenario: Scenario, driver: Driver, form: str, evidence: RunEvidence) -> None:
        self.scenario, self.driver, self.form, self.evidence = scenario, driver, form, evidence

    def check_all(self, checks: Iterable[Check]) -> list[_CheckResult]:
        return [self.check(fill_format(check, self.form)) for check in checks]

    def check(self, check: Check) -> _CheckResult:
        kinds = {
            "there": self._check_there,
            "gone": self._check_gone,
            "model_sees": self._check_model_sees,
            "model_sees_not": self._check_model_sees_not,
            "reason": self._check_reason,
            "told": self._check_told,
            "fired": self._check_fired,
            "runs": self._check_runs,
            "requests": self._check_requests,
            "fires": self._check_fires,
            "sees": self._check_sees,
            "sees_tools": self._check_sees_tools,
            "ignores": self._check_ignores,
        }
        return kinds[check.kind](check.about)

    def _check_there(self, about: Mapping[str, Tree]) -> _CheckResult:
        path, text = about["path"], about.get("text", "")
        file = self.evidence.project / path
        if not file.exists():
            return _CheckResult(holds=False, shown=f"{path} does not exist")
        if not text:
            return _CheckResult(holds=True, shown=f"{path} exists")
        content = file.read_text("utf-8", "replace") if file.is_file() else ""
        return _CheckResult(
            text in content, f"{path} contains '{_cut_around(hide_paths(content, self.evidence), text)}'"
        )

    def _check_gone(self, about: Mapping[str, Tree]) -> _CheckResult:
        exists = (self.evidence.project / about["path"]).exists()
        return _CheckResult(not exists, f"{about['path']} {'exists' if exists else 'does not exist'}")

    def _find_heard(self, text: str, after: int = 0) -> str:
        """Find what the model received with the text in it; empty if nothing."""
        for request in self.evidence.outcome.requests:
            if after and (request.step is None or request.step < after):
                continue
            texts = [message.text for message in request.texts if message.role not in MODELS]
            for received in (*texts, *(result.text for result in request.results)):
                if text in received:
                    return received
        return ""

    def _check_model_sees(self, about: Mapping[str, Tree]) -> _CheckResult:
        text = about["text"]
        received = self._find_heard(text, about.get("after", 0))
        if received:
            return _CheckResult(
                holds=True, shown=f"the model saw '{_cut_around(hide_paths(received, self.evidence), text)}'"
            )
        return _CheckResult(holds=False, shown=f"the model did not see '{text}'; {self._describe_last()}")

    def _check_model_sees_not(self, about: Mapping[str, Tree]) -> _CheckResult:
        received = self._find_heard(about["text"])
        shown = _cut_around(hide_paths(received, self.evidence), about["text"])
        return _CheckResult(
            not received,
            f"the model saw '{shown}'" if received else f"the model did not see '{about['text']}'",
        )

    def _describe_last(self) -> str:
        """Describe the last text that the model received."""
        for request in reversed(self.evidence.outcome.requests):
            received = [message.text for message in request.texts if message.role not in MODELS]
            texts = [*(result.text for result in request.results), *received[-1:]]
            if texts:
                return f"last it saw '{_cut_around(hide_paths(texts[-1], self.evidence))}'"
        output = hide_paths(self.evidence.outcome.stderr or self.evidence.outcome.stdout, self.evidence)
        return f"it got no request; the agent printed '{output[-LONGEST:]}'"

    def _check_reason(self, about: Mapping[str, Tree]) -> _CheckResult:
        """Check that the model gets the reason; if a denial ends the run, that the agent prints it."""
        result = self._check_model_sees(about)
        if result.holds or not self.driver.denial_ends:
            return result
        printed = self._check_told(about)
        return (
            printed
            if printed.holds
            else _CheckResult(holds=True, shown="the denial ended the run without its reason")
        )

    def _check_told(self, about: Mapping[str, Tree]) -> _CheckResult:
        text = about["text"]
        output = f"{self.evidence.outcome.stdout}\n{self.evidence.outcome.stderr}"
        if text in output:
            return _CheckResult(
                holds=True, shown=f"it printed '{_cut_around(hide_paths(output, self.evidence), text)}'"
            )
        return _CheckResult(holds=False, shown=f"the agent did not print '{text}'")

    def _select_records(self, hook: str) -> list[Mapping[str, Tree]]:
        name = f"{hook}-{self.form}" if self.form else hook
        return [record for record in self.evidence.records if record["hook"] in (name, hook)]

    def _check_fired(self, about: Mapping[str, Tree]) -> _CheckResult:
        times = sum(bool(record["acts"]) for record in self._select_records(about["hook"]))
        expected = about.get("times", 1)
        return _CheckResult(
            times == expected,
            f"{about['hook']} acted {_format_times(times)}{_format_difference(times, expected)}",
        )

    def _check_runs(self, about: Mapping[str, Tree]) -> _CheckResult:
        times = len(self._select_records(about["hook"]))
        expected = about.get("times")
        events = [hook.event for hook in self.scenario.hooks if hook.name == about["hook"]]
        if times == 0 and any(self._find_ability(event).word != "yes" for event in events):
            return _CheckResult(
                holds=True, shown=f"{about['hook']} did not run: {self._find_ability(events[0]).reason}"
            )
        if expected is None:
            holds = about.get("least", 1) <= times <= about.get("most", times)
            return _CheckResult(holds, f"{about['hook']} ran {_format_times(times)}")
        return _CheckResult(
            times == expected,
            f"{about['hook']} ran {_format_times(times)}{_format_difference(times, expected)}",
        )

    def _check_requests(self, about: Mapping[str, Tree]) -> _CheckResult:
        count = sum(request.step is not None for request in self.evidence.outcome.requests)
        least, most = about.get("least", 0), about.get("most", count)
        least, most = about.get("times", least), about.get("times", most)
        shown = f"the model was asked {_format_times(count)}"
        return _CheckResult(
            least <= count <= most, shown if least <= count <= most else f"{shown}, not {least} to {most}"
        )

    def _find_ability(self, event: str) -> Ability:
        return abilities.find_ability(self.driver, AbilityNeed(event, "fires"))

    def _check_fires(self, about: Mapping[str, Tree]) -> _CheckResult:
        """Every event of a tier fires that the tables say fires, and none that they say does not."""
        came = {record["hook"] for record in self.evidence.records}
        fired = [event for event in EVENTS if any(name.endswith(f"-{event}") for name in came)]
        words = {event: self._find_ability(event).word for event in EVENTS}
        missing = [
            event
            for event, kind in EVENTS.items()
            if kind.tier == about["events"] and words[event] == "yes" and event not in fired
        ]
        surplus = [event for event in fired if words[event] == "no"]
        shown = f"fired: {', '.join(fired) or 'nothing'}"
        if missing:
            shown += f"; in the table but not fired: {', '.join(missing)}"
        if surplus:
            shown += f"; fired but not in the table: {', '.join(surplus)}"
        return _CheckResult(not missing and not surplus, shown)

    def _check_sees(self, about: Mapping[str, Tree]) -> _CheckResult:
        """One event does not fire if the tables say that it does not; whether it fired is shown.

        What a scenario does to make it fire may be nothing to this agent.
        """
        event = about["event"]
        fired = any(record["hook"].endswith(f"-{event}") for record in self.evidence.records)
        is_surplus = fired and self._find_ability(event).word == "no"
        return _CheckResult(not is_surplus, f"{event} {'fired' if fired else 'did not fire'}")

    def _check_sees_tools(self, _about: Mapping[str, Tree]) -> _CheckResult:
        """Hooks see the agent's tools under names of the table; a tool that no hook saw is shown.

        An agent may refuse a call before it asks a hook, for example of a tool that is switched off.
        """
        dialect = get(get_dialect_id(self.driver))
        words = {native: find_tools(dialect, native) for native in self.evidence.tools}
        patterns = (*dialect.wordless, *(row.native for row in dialect.tools))
        unknown = [name for name in words if not any(fnmatchcase(name, pattern) for pattern in patterns)]
        seen = {word for found_words in words.values() for word in found_words}
        missing = [*dict.fromkeys(word for word, _ in self.driver.further if word not in seen)]
        shown = f"hooks saw: {', '.join(self.evidence.tools) or 'nothing'}"
        if missing:
            shown += f"; called, and no hook saw: {', '.join(missing)}"
        if unknown:
            shown += f"; not in the table: {', '.join(unknown)}"
        return _CheckResult(bool(words) and not unknown, shown)

    def _check_ignores(self, about: Mapping[str, Tree]) -> _CheckResult:
        """A hook denied on at least one event, which changed nothing that other checks see."""
        events = sorted({record["event"] for record in self._select_records(about["hook"]) if record["acts"]})
        return _CheckResult(bool(events), f"{about['hook']} denied on: {', '.join(events) or 'no event'}")


def _format_times(count: int) -> str:
    return {0: "not at all", 1: "once", 2: "twice"}.get(count, f"{count} times")


def _format_difference(count: int, expected: int) -> str:
    return "" if count == expected else f", not {_format_times(expected)}"


def _cut_around(text: str, around: str = "") -> str:
    """Cut a text around a part of it."""
    at = max(0, text.find(" ".join(around.split())) - BEFORE) if around else 0
    part = text[at : at + LONGEST]
    return f"{'…' if at else ''}{part}{'…' if at + LONGEST < len(text) else ''}"
