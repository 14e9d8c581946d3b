"""Whether a person's own hook is enforced, advisory, broken or not fired, from what was seen of one agent."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from hookport.agents import get
from hookport.lab import abilities, unfired
from hookport.lab.drivers import dialect_of
from hookport.lab.firings import Firing
from hookport.lab.judge import MODELS
from hookport.lab.own import Account, Fate, Turn
from hookport.lab.samples import GUARDED, PROMPT, TOOLS
from hookport.lab.scenario import Need
from hookport.model.events import EVENTS
from hookport.runtime.plan import PlannedHook
from hookport.shapes.dialect import has_field

Word = Literal["enforced", "advisory", "not fired", "broken"]
# What a script says that denies, in any format: an exit code, a word of an answer, a function of the SDK.
DENIES = re.compile(
    r"exit[ (]*2\b|\b(deny|denied|denies|block|blocked|reject|refuse|ask)\b|['\"]?continue['\"]?\s*:\s*false",
    re.IGNORECASE,
)
# What a shell or an interpreter says of a script that it cannot run. Bash ends with 2 on a syntax error, as a
# guard does that denies (measured, 5.2).
FAILS = re.compile(
    r"syntax error|SyntaxError|Traceback|command not found|No such file|Permission denied|unexpected EOF"
    r"|ModuleNotFoundError|Cannot find module|parse error"
)
LONGEST = 160
QUOTED = 60


class Proof(NamedTuple):
    """What a hook did to one agent. `held` says whether that is what the hook is there for."""

    hook: str
    agent: str
    word: Word
    because: str
    held: bool
    guards: bool
    fired: int = 0
    denied: tuple[str, ...] = ()
    passed: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def proofs(account: Account) -> list[Proof]:
    """One for each hook."""
    return [_Hook(account, number).proof() for number in range(len(account.hooks))]


def refused(account: Account) -> list[str]:
    """What an agent did not do although no hook had a part in it: it has rules of its own."""
    acted = [one for one in account.firings if one.objects or one.failure or one.updated is not None]
    missed = [fate for fate in account.fates if fate.reached and not fate.happened]
    return [
        fate.sample.about for fate in missed if not any(_names(one.call, fate.sample.key) for one in acted)
    ]


def guards(account: Account, number: int) -> bool:
    """Whether a hook is there to stop something: its file says so, or what it runs can deny.

    What cannot be read, such as an address or a compiled program, may deny.
    """
    hook, found = account.hooks[number], account.found[number]
    kind = EVENTS.get(hook.event)
    if not found.hook.blocking or hook.is_async or kind is None or kind.blocks == "observe":
        return False
    if has_field(get(hook.dialect), "blocking") or hook.type != "command":
        return True
    texts = [hook.command, *hook.platform.values()]
    for script in found.scripts:
        try:
            texts.append(Path(script).read_text("utf-8"))
        except (OSError, ValueError):
            return True
    return any(DENIES.search(text) for text in texts)


class _Hook:
    """One hook, as it was seen."""

    def __init__(self, account: Account, number: int) -> None:
        self.account, self.number = account, number
        self.hook: PlannedHook = account.hooks[number]
        self.guards = guards(account, number)
        self.mine = [one for one in account.firings if one.hook == number]
        self.answered = [one for one in self.mine if not one.failure]
        self.objections = [one for one in self.answered if one.objects]

    def proof(self) -> Proof:
        failures = [one for one in self.mine if one.failure]
        if self.account.trouble:
            return self._proof("not fired", f"nothing was played: {self.account.trouble}")
        if not self.mine:
            return self._unseen()
        if failures and not self.answered:
            return self._broken(failures)
        if all(one.objects and FAILS.search(f"{one.reason}\n{one.stderr}") for one in self.answered):
            return self._fails_shut()
        notes = (self._plain(self._failed(failures)),) if failures else ()
        if self.hook.event in GUARDED:
            proof = self._of_calls()
        elif self.hook.event == "before_prompt":
            proof = self._of_turns(self._prompt_stopped, "the prompt reached the model all the same")
        elif self.hook.event == "agent_stop":
            proof = self._of_turns(self._went_on, "the agent stopped all the same")
        else:
            proof = self._advisory(self._answers())
        return proof._replace(notes=(*notes, *proof.notes))

    def _proof(self, word: Word, because: str, **more: tuple[str, ...]) -> Proof:
        held = word == "enforced" or (word == "advisory" and not self.guards)
        # An agent without the event takes nothing from a hook that only watches.
        held = held or (word == "not fired" and not self.guards)
        return Proof(
            self.hook.name,
            self.account.agent,
            word,
            self._plain(because),
            held,
            self.guards,
            len(self.mine),
            **more,
        )

    def _plain(self, text: str) -> str:
        """A text without the folders of the run."""
        root = self.account.root
        names = {f"{root}/project": "$PROJECT", f"{root}/home": "$HOME", root: "$RUN"} if root else {}
        for path, name in names.items():
            text = text.replace(path, name)
        return text

    def _of_calls(self) -> Proof:
        stopped = self._about(self.objections, happened=False)
        ran = self._about(self.objections, happened=True)
        fine = [one for one in self.answered if not one.objects]
        passed = self._about(fine, happened=True)
        lists = {"denied": tuple(stopped), "passed": tuple(passed)}
        harmless = any(fate.sample.harmless and fate.happened for fate in self.account.fates)
        if ran:
            because = f"it denied {_quoted(ran)}, and the agent did it all the same{self._why('block')}"
            return self._proof("advisory", because, **lists)
        if stopped and harmless:
            told = self._model_was_told(self.objections)
            shut = [one for one in stopped if one in _harmless(self.account)]
            notes = (f"it denied what is harmless as well: {_quoted(shut)}",) if shut else ()
            return self._proof("enforced", f"denied {_quoted(stopped)}{told}", notes=notes, **lists)
        if stopped:
            because = f"{_quoted(stopped)} did not happen, and nothing harmless did either"
            return self._proof("advisory", f"{because}, so it is not shown that the hook is why", **lists)
        return self._advisory(self._answers(), **lists)

    def _of_turns(self, held: Callable[[int], bool], otherwise: str) -> Proof:
        turns = sorted({one.run for one in self.objections})
        if not turns:
            return self._advisory(self._answers())
        lost = [turn for turn in turns if not held(turn)]
        about = tuple(self._prompt(turn) for turn in turns if turn not in lost)
        if lost:
            return self._proof("advisory", f"it denied, and {otherwise}{self._why('block')}", denied=about)
        if self.hook.event == "agent_stop":
            told = self._model_was_told(self.objections)
            return self._proof("enforced", f"it made the agent go on{told}")
        return self._proof("enforced", f"denied {_quoted(about)}; the model never saw it", denied=about)

    def _prompt(self, turn: int) -> str:
        prompt = self.account.turns[turn].prompt
        return PROMPT.about if prompt in PROMPT.given else prompt

    def _prompt_stopped(self, turn: int) -> bool:
        one = self.account.turns[turn]
        return not _heard(one, one.prompt)

    def _went_on(self, turn: int) -> bool:
        """Whether the model was asked again after it had closed, or was told what is left to do."""
        one = self.account.turns[turn]
        closings = [heard for heard in one.outcome.requests if (heard.step or 0) >= one.steps]
        reasons = [fired.reason for fired in self.objections if fired.run == turn and fired.reason]
        closed = [heard for heard in closings if heard.step is not None]
        return len(closed) > 1 or any(_heard(one, _line(reason)) for reason in reasons)

    def _advisory(self, said: str, **more: tuple[str, ...]) -> Proof:
        if not self.guards or self._is_rewriter():
            return self._proof("advisory", said, **more)._replace(held=True)
        hint = "nothing that was played made it deny"
        if self.hook.event in (*GUARDED, "before_prompt"):
            sample = "prompt: TEXT" if self.hook.event == "before_prompt" else "COMMAND"
            hint += f"; play what it must deny with --sample '{sample}'"
        return self._proof("advisory", f"{said}; {hint}", **more)

    def _is_rewriter(self) -> bool:
        """Whether it does its work by other input, which was taken."""
        rewrites = [one for one in self.answered if one.updated is not None]
        return bool(rewrites) and "not taken" not in self._rewritten(rewrites)

    def _answers(self) -> str:
        """What it answered, and what came of it."""
        times = f"fired {_times(len(self.mine))}"
        contexts = [one for one in self.answered if one.context.strip()]
        rewrites = [one for one in self.answered if one.updated is not None]
        objections = [one for one in self.objections if one.reason]
        told = []
        for what, some in (("its context", contexts), ("its objection", objections)):
            if some:
                texts = [one.context if what == "its context" else one.reason for one in some]
                seen = any(_heard(turn, _line(text)) for turn in self.account.turns for text in texts)
                told.append(f"{what} reached the model" if seen else f"{what} did not reach the model")
        if contexts and told[0].endswith("not reach the model"):
            told[0] += self._why("context")
        if rewrites:
            told.append(self._rewritten(rewrites))
        return f"{times}; {', '.join(told) or 'it answered nothing'}"

    def _rewritten(self, rewrites: Sequence[Firing]) -> str:
        """Whether other input was taken, as far as it is seen: a command leaves no more than a mark."""
        for one in rewrites:
            fate = self.fate(one)
            changed = one.updated or {}
            if fate is None or self._denied_by_others(fate):
                continue
            if fate.sample.kind == "shell" and fate.sample.key not in str(changed.get("command", "")):
                return "its rewrite was not taken" if fate.happened else "its rewrite took effect"
        ability = abilities.of(self.account.driver, Need(self.hook.event, "rewrite"))
        if ability.word == "no":
            return f"its rewrite was not taken: {ability.reason}"
        return "it rewrote the input, which the agent takes"

    def _denied_by_others(self, fate: Fate) -> bool:
        others = (one for one in self.account.firings if one.hook != self.number and one.objects)
        return any(self.fate(one) == fate for one in others)

    def _broken(self, failures: Sequence[Firing]) -> Proof:
        effect = ""
        if self.hook.event in GUARDED:
            stopped, done = (self._about(failures, happened=happened) for happened in (False, True))
            # Some agents, and a policy of the user, deny where a hook fails.
            effect = (
                "; nothing was prevented" if done or not stopped else "; what it was asked about was not done"
            )
        proof = self._proof("broken", f"{self._failed(failures)}{effect}")
        return proof._replace(held=False)

    def _fails_shut(self) -> Proof:
        """It denies, because it cannot run: an error that ends as a denial does."""
        last = self.answered[-1]
        said = next(line for line in (last.reason + "\n" + last.stderr).splitlines() if FAILS.search(line))
        because = f"it fails, and that denies everything that it is asked about: {_short(said)}"
        denied = tuple(self._about(self.objections, happened=False))
        return self._proof("broken", because, denied=denied)._replace(held=False)

    def _failed(self, failures: Sequence[Firing]) -> str:
        last = failures[-1]
        lines = last.stderr.strip().splitlines()
        said = f" (stderr: {_short(lines[-1])})" if lines and _short(lines[-1]) not in last.failure else ""
        count = f"{len(failures)} of {len(self.mine)} times"
        return f"it failed {count}: {_short(last.failure)}{said}"

    def _unseen(self) -> Proof:
        """Nothing shows that it fired; why, as far as it can be told."""
        account = self.account
        if self.number in account.unwatched:
            dialect = get(dialect_of(account.driver))
            return self._proof("not fired", f"{dialect.title} runs it by itself, and nothing was seen of it")
        return self._proof("not fired", unfired.reason(account, self.number))

    def _why(self, can: str) -> str:
        ability = abilities.of(self.account.driver, Need(self.hook.event, can))
        return f": {ability.reason}" if ability.reason else ""

    def _about(self, firings: Iterable[Firing], *, happened: bool) -> list[str]:
        fates = [fate for one in firings if (fate := self.fate(one))]
        return list(dict.fromkeys(fate.sample.about for fate in fates if fate.happened == happened))

    def fate(self, fired: Firing) -> Fate | None:
        """The sample that a firing is about."""
        reached = [fate for fate in self.account.fates if fate.reached]
        marked = [fate for fate in reached if _names(fired.call, fate.sample.key)]
        # A mark is of one command alone; a command may be part of another one.
        marked.sort(key=lambda fate: -len(fate.sample.program))
        marked.sort(key=lambda fate: bool(fate.sample.program))
        commands = [fate for fate in marked if fate.sample.kind in ("shell", "mcp")]
        alike = [fate for fate in marked if TOOLS[fate.sample.kind] == fired.tool]
        # What is edited is read first, which some agents do by a command.
        first = fired.tool in ("shell", "file_read")
        others = [fate for fate in marked if not first or fate.sample.kind == "read"]
        return next(iter([*commands, *alike, *others]), None)

    def _model_was_told(self, firings: Sequence[Firing]) -> str:
        reason = next((_line(one.reason) for one in firings if one.reason.strip()), "")
        if not reason:
            return ""
        seen = any(_heard(turn, reason) for turn in self.account.turns)
        return f"; the model saw '{_short(reason)}'" if seen else "; its reason did not reach the model"


def _harmless(account: Account) -> set[str]:
    return {fate.sample.about for fate in account.fates if fate.sample.harmless}


def _names(text: str, mark: str) -> bool:
    return re.search(rf"(?<![\w.-]){re.escape(mark)}(?![\w-]|\.\w)", text) is not None


def _heard(turn: Turn, text: str) -> bool:
    """Whether the model was told a text."""
    if not text:
        return False
    for heard in turn.outcome.requests:
        told = [said.text for said in heard.texts if said.role not in MODELS]
        if any(text in one for one in (*told, *(result.text for result in heard.results))):
            return True
    return False


def _line(text: str) -> str:
    return next((line.strip()[:100] for line in text.splitlines() if line.strip()), "")


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count} times")


def _quoted(texts: Sequence[str]) -> str:
    shown = [f"`{text if len(text) <= QUOTED else f'{text[: QUOTED - 1]}…'}`" for text in texts[:4]]
    return ", ".join(shown) + (f" and {len(texts) - 4} more" if len(texts) > 4 else "")


def _short(text: str, longest: int = LONGEST) -> str:
    text = " ".join(text.split())
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
