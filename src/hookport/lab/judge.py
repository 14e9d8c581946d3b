"""What came of a run, held against what a scenario expects: pass, fail or cannot, with real evidence."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from hookport.lab import abilities
from hookport.lab.abilities import Ability
from hookport.lab.driver import Driver
from hookport.lab.play import Outcome
from hookport.lab.scenario import Check, Need, Scenario, filled
from hookport.model.events import EVENTS

Tree = Any
Word = Literal["pass", "fail", "cannot"]
# Of several the last of these counts: what an agent cannot is the same for every format that is bridged.
ORDER: tuple[Word, ...] = ("cannot", "pass", "fail")
# How much of a text is shown as evidence, and how much of it stands before what was looked for.
LONGEST, BEFORE = 200, 60
MODELS = ("assistant", "model")


class Seen(NamedTuple):
    """What a run left: how it ended, the project, what each hook told of itself, and the events that came.

    `events` counts by native name what the agent sent to the bridge.
    """

    outcome: Outcome
    project: Path
    home: Path
    records: Sequence[Mapping[str, Tree]] = ()
    events: Mapping[str, int] = {}


class Verdict(NamedTuple):
    """The result of one scenario, or of one format's part in it."""

    result: Word
    evidence: tuple[str, ...] = ()
    # Where the agent cannot: why, and what it does instead.
    reason: str = ""
    instead: str = ""


class _Finding(NamedTuple):
    """Whether one check holds, and what shows it."""

    holds: bool
    shown: str


class Given(NamedTuple):
    """What was played: the scenario, and on whom."""

    scenario: Scenario
    driver: Driver


def judged(given: Given, form: str, seen: Seen) -> Verdict:
    """The verdict on one format's part."""
    trouble = _trouble(seen)
    if trouble:
        return Verdict("fail", (trouble,))
    scenario, driver = given
    ability = abilities.all_of(driver, scenario.needs)
    judge = _Judge(scenario, driver, form, seen)
    expected = judge.all(scenario.expect)
    holds = all(one.holds for one in expected)
    shown = tuple(one.shown for one in expected)
    wrong = tuple(one.shown for one in expected if not one.holds)
    itself = abilities.runs_itself(driver, form) if scenario.itself is not None and form else ""
    if itself and not holds:
        lost = tuple(one.shown for one in judge.all(scenario.itself or ()) if not one.holds)
        if lost:
            return Verdict("fail", (itself, *lost))
        return Verdict("cannot", wrong, itself, "the hook has the effect that the agent gives it")
    if ability.word == "yes":
        return Verdict("pass", shown) if holds else Verdict("fail", wrong)
    if holds:
        if ability.word == "perhaps":
            return Verdict("pass", shown)
        return Verdict("fail", (f"the table says: {ability.reason}; and it did", *shown))
    if not scenario.otherwise:
        return Verdict("fail", wrong)
    return _instead(judge.all(scenario.otherwise), ability, scenario)


def _instead(others: Sequence[_Finding], ability: Ability, scenario: Scenario) -> Verdict:
    wrong = tuple(one.shown for one in others if not one.holds)
    if wrong:
        return Verdict("fail", (f"the agent cannot ({ability.reason}), and it is not told so", *wrong))
    return Verdict("cannot", tuple(one.shown for one in others), ability.reason, scenario.instead)


def _trouble(seen: Seen) -> str:
    """Why there is nothing to judge: the run did not come to its end."""
    outcome = seen.outcome
    if outcome.trouble:
        return plain(f"the run failed: {outcome.trouble}", seen)
    if outcome.timed_out:
        return f"the agent did not end by itself in {outcome.seconds:.0f} s"
    return ""


def together(verdicts: Iterable[Verdict]) -> Word:
    """The result of a scenario from those of its formats."""
    return max((one.result for one in verdicts), key=ORDER.index, default="pass")


def plain(text: str, seen: Seen) -> str:
    """A text without the paths of this machine, in one line."""
    for path, name in ((seen.project, "$PROJECT"), (seen.home, "$HOME"), (sys.executable, "$PYTHON")):
        text = text.replace(str(path), name)
    text = text.replace(str(seen.home.parent), "$RUN")
    return " ".join(text.split())


class _Judge:
    """The checks of one format's part."""

    def __init__(self, scenario: Scenario, driver: Driver, form: str, seen: Seen) -> None:
        self.scenario, self.driver, self.form, self.seen = scenario, driver, form, seen

    def all(self, checks: Iterable[Check]) -> list[_Finding]:
        return [self.check(filled(check, self.form)) for check in checks]

    def check(self, check: Check) -> _Finding:
        kinds = {
            "there": self._there,
            "gone": self._gone,
            "model_sees": self._model_sees,
            "model_sees_not": self._model_sees_not,
            "reason": self._reason,
            "told": self._told,
            "fired": self._fired,
            "runs": self._runs,
            "requests": self._requests,
            "fires": self._fires,
        }
        return kinds[check.kind](check.about)

    def _there(self, about: Mapping[str, Tree]) -> _Finding:
        path, text = about["path"], about.get("text", "")
        file = self.seen.project / path
        if not file.exists():
            return _Finding(holds=False, shown=f"{path} is not there")
        if not text:
            return _Finding(holds=True, shown=f"{path} is there")
        said = file.read_text("utf-8", "replace") if file.is_file() else ""
        return _Finding(text in said, f"{path} says '{_short(plain(said, self.seen), text)}'")

    def _gone(self, about: Mapping[str, Tree]) -> _Finding:
        there = (self.seen.project / about["path"]).exists()
        return _Finding(not there, f"{about['path']} is {'' if there else 'not '}there")

    def _heard(self, text: str, after: int = 0) -> str:
        """What the model was told with the text in it; empty if nothing was."""
        for heard in self.seen.outcome.requests:
            if after and (heard.step is None or heard.step < after):
                continue
            told = [said.text for said in heard.texts if said.role not in MODELS]
            for one in (*told, *(result.text for result in heard.results)):
                if text in one:
                    return one
        return ""

    def _model_sees(self, about: Mapping[str, Tree]) -> _Finding:
        text = about["text"]
        said = self._heard(text, about.get("after", 0))
        if said:
            return _Finding(holds=True, shown=f"the model saw '{_short(plain(said, self.seen), text)}'")
        return _Finding(holds=False, shown=f"the model did not see '{text}'; {self._last()}")

    def _model_sees_not(self, about: Mapping[str, Tree]) -> _Finding:
        said = self._heard(about["text"])
        shown = _short(plain(said, self.seen), about["text"])
        return _Finding(
            not said, f"the model saw '{shown}'" if said else f"the model did not see '{about['text']}'"
        )

    def _last(self) -> str:
        """The last thing that the model was told."""
        for heard in reversed(self.seen.outcome.requests):
            told = [*(result.text for result in heard.results), *(said.text for said in heard.texts[-1:])]
            if told:
                return f"last it saw '{_short(plain(told[-1], self.seen))}'"
        said = plain(self.seen.outcome.stderr or self.seen.outcome.stdout, self.seen)
        return f"it was asked nothing; the agent said '{said[-LONGEST:]}'"

    def _reason(self, about: Mapping[str, Tree]) -> _Finding:
        """The model is told why; where a denial ends the run there is no model to tell, and that is said."""
        seen = self._model_sees(about)
        if seen.holds or not self.driver.denial_ends:
            return seen
        said = self._told(about)
        return (
            said
            if said.holds
            else _Finding(holds=True, shown="the denial ended the run, nobody was told why")
        )

    def _told(self, about: Mapping[str, Tree]) -> _Finding:
        text = about["text"]
        said = f"{self.seen.outcome.stdout}\n{self.seen.outcome.stderr}"
        if text in said:
            return _Finding(holds=True, shown=f"the agent said '{_short(plain(said, self.seen), text)}'")
        return _Finding(holds=False, shown=f"the agent did not say '{text}'")

    def _records(self, hook: str) -> list[Mapping[str, Tree]]:
        name = f"{hook}-{self.form}" if self.form else hook
        return [record for record in self.seen.records if record["hook"] in (name, hook)]

    def _fired(self, about: Mapping[str, Tree]) -> _Finding:
        times = sum(bool(record["acts"]) for record in self._records(about["hook"]))
        wanted = about.get("times", 1)
        return _Finding(times == wanted, f"{about['hook']} acted {_times(times)}{_not(times, wanted)}")

    def _runs(self, about: Mapping[str, Tree]) -> _Finding:
        times = len(self._records(about["hook"]))
        wanted = about.get("times")
        events = [hook.event for hook in self.scenario.hooks if hook.name == about["hook"]]
        if times == 0 and any(self._ability(event).word != "yes" for event in events):
            return _Finding(
                holds=True, shown=f"{about['hook']} ran not at all: {self._ability(events[0]).reason}"
            )
        if wanted is None:
            holds = about.get("least", 1) <= times <= about.get("most", times)
            return _Finding(holds, f"{about['hook']} ran {_times(times)}")
        return _Finding(times == wanted, f"{about['hook']} ran {_times(times)}{_not(times, wanted)}")

    def _requests(self, about: Mapping[str, Tree]) -> _Finding:
        count = sum(heard.step is not None for heard in self.seen.outcome.requests)
        least, most = about.get("least", 0), about.get("most", count)
        least, most = about.get("times", least), about.get("times", most)
        shown = f"the model was asked {_times(count)}"
        return _Finding(
            least <= count <= most, shown if least <= count <= most else f"{shown}, not {least} to {most}"
        )

    def _ability(self, event: str) -> Ability:
        return abilities.of(self.driver, Need(event, "fires"))

    def _fires(self, about: Mapping[str, Tree]) -> _Finding:
        """Every event of a tier fires that the tables say fires, and none that they say does not."""
        came = {record["hook"] for record in self.seen.records}
        fired = [event for event in EVENTS if any(name.endswith(f"-{event}") for name in came)]
        words = {event: self._ability(event).word for event in EVENTS}
        missing = [
            event
            for event, kind in EVENTS.items()
            if kind.tier == about["events"] and words[event] == "yes" and event not in fired
        ]
        surplus = [event for event in fired if words[event] == "no"]
        shown = f"fired: {', '.join(fired) or 'nothing'}"
        if missing:
            shown += f"; the table has, and it did not fire: {', '.join(missing)}"
        if surplus:
            shown += f"; the table lacks, and it fired: {', '.join(surplus)}"
        return _Finding(not missing and not surplus, shown)


def _times(count: int) -> str:
    return {0: "not at all", 1: "once", 2: "twice"}.get(count, f"{count} times")


def _not(count: int, wanted: int) -> str:
    return "" if count == wanted else f", not {_times(wanted)}"


def _short(text: str, around: str = "") -> str:
    """The part of a text that has another in it."""
    at = max(0, text.find(" ".join(around.split())) - BEFORE) if around else 0
    part = text[at : at + LONGEST]
    return f"{'…' if at else ''}{part}{'…' if at + LONGEST < len(text) else ''}"
