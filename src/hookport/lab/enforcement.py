"""Whether a person's own hook is enforced, advisory, broken or not fired, from one agent's observed run."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from hookport.agents import get
from hookport.install.entries import find_hook_exceptions
from hookport.lab import abilities, unfired
from hookport.lab.drivers import get_dialect_id
from hookport.lab.firings import Firing
from hookport.lab.judge import MODELS
from hookport.lab.own import Account, AgentTurn, Fate
from hookport.lab.samples import GUARDED, PROMPT, TOOLS
from hookport.lab.scenario import AbilityNeed
from hookport.model.events import EVENTS
from hookport.runtime.plan import PlannedHook
from hookport.shapes.dialect import has_field

Word = Literal["enforced", "advisory", "not fired", "broken"]
# Signs of a denying script, in any format: an exit code, a word of an answer, a function of the SDK.
DENIES = re.compile(
    r"exit[ (]*2\b|\b(deny|denied|denies|block|blocked|reject|refuse|ask)\b|['\"]?continue['\"]?\s*:\s*false",
    re.IGNORECASE,
)
# Messages of a shell or an interpreter about a script that it cannot run. Bash exits with 2 on a syntax
# error, like a guard that denies (measured, 5.2).
FAILS = re.compile(
    r"syntax error|SyntaxError|Traceback|command not found|No such file|Permission denied|unexpected EOF"
    r"|ModuleNotFoundError|Cannot find module|parse error"
)
LONGEST = 160
QUOTED = 60


class Proof(NamedTuple):
    """What a hook did in one agent. `held`: whether that is the hook's purpose."""

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
    # The calls that the agent does not ask an `enforced` hook about.
    exceptions: tuple[str, ...] = ()


def make_proofs(account: Account) -> list[Proof]:
    """Make one proof for each hook."""
    return [_HookRecord(account, number).make_proof() for number in range(len(account.hooks))]


def find_refused(account: Account) -> list[str]:
    """Find what an agent refused by its own rules, without any hook."""
    acted = [
        firing for firing in account.firings if firing.objects or firing.failure or firing.updated is not None
    ]
    missed = [fate for fate in account.fates if fate.reached and not fate.happened]
    return [
        fate.sample.about
        for fate in missed
        if not any(_has_mark(firing.call, fate.sample.key) for firing in acted)
    ]


def is_guard(account: Account, number: int) -> bool:
    """Whether a hook is a guard: its file declares it, or what it runs can deny.

    An unreadable target, such as an address or a compiled program, may deny.
    """
    hook, found_hook = account.hooks[number], account.found[number]
    kind = EVENTS.get(hook.event)
    if not found_hook.hook.blocking or hook.is_async or kind is None or kind.blocks == "observe":
        return False
    if has_field(get(hook.dialect), "blocking") or hook.type != "command":
        return True
    texts = [hook.command, *hook.platform.values()]
    for script in found_hook.scripts:
        try:
            texts.append(Path(script).read_text("utf-8"))
        except (OSError, ValueError):
            return True
    return any(DENIES.search(text) for text in texts)


class _HookRecord:
    """One hook, and the observations of it."""

    def __init__(self, account: Account, number: int) -> None:
        self.account, self.number = account, number
        self.hook: PlannedHook = account.hooks[number]
        self.guards = is_guard(account, number)
        self.mine = [firing for firing in account.firings if firing.hook == number]
        self.answered = [firing for firing in self.mine if not firing.failure]
        self.objections = [firing for firing in self.answered if firing.objects]

    def make_proof(self) -> Proof:
        failures = [firing for firing in self.mine if firing.failure]
        if self.account.trouble:
            return self._make_proof("not fired", f"nothing ran: {self.account.trouble}")
        if not self.mine:
            return self._make_unseen()
        if failures and not self.answered:
            return self._make_broken(failures)
        if all(
            firing.objects and FAILS.search(f"{firing.reason}\n{firing.stderr}") for firing in self.answered
        ):
            return self._make_fails_shut()
        notes = (self._hide_folders(self._describe_failures(failures)),) if failures else ()
        if self.hook.event in GUARDED:
            proof = self._judge_calls()
        elif self.hook.event == "before_prompt":
            proof = self._judge_turns(self._is_prompt_stopped, "the prompt reached the model anyway")
        elif self.hook.event == "agent_stop":
            proof = self._judge_turns(self._is_carried_on, "the agent stopped anyway")
        else:
            proof = self._make_advisory(self._describe_answers())
        return proof._replace(notes=(*notes, *proof.notes))

    def _make_proof(self, word: Word, because: str, **more: tuple[str, ...]) -> Proof:
        held = word == "enforced" or (word == "advisory" and not self.guards)
        # A hook that only watches loses nothing in an agent without the event.
        held = held or (word == "not fired" and not self.guards)
        proof = Proof(
            self.hook.name,
            self.account.agent,
            word,
            self._hide_folders(because),
            held,
            self.guards,
            len(self.mine),
            **more,
        )
        if word != "enforced":
            return proof
        dialect = get(get_dialect_id(self.account.driver))
        return proof._replace(exceptions=find_hook_exceptions(dialect, self.account.found[self.number].hook))

    def _hide_folders(self, text: str) -> str:
        """A text without the folders of the run."""
        root = self.account.root
        names = {f"{root}/project": "$PROJECT", f"{root}/home": "$HOME", root: "$RUN"} if root else {}
        for path, name in names.items():
            text = text.replace(path, name)
        return text

    def _judge_calls(self) -> Proof:
        stopped = self._list_samples(self.objections, happened=False)
        ran = self._list_samples(self.objections, happened=True)
        fine = [firing for firing in self.answered if not firing.objects]
        passed = self._list_samples(fine, happened=True)
        lists = {"denied": tuple(stopped), "passed": tuple(passed)}
        harmless = any(fate.sample.harmless and fate.happened for fate in self.account.fates)
        if ran:
            why = self._explain_ability("block")
            because = f"it denied {_quote_texts(ran)}, but the agent did it anyway{why}"
            return self._make_proof("advisory", because, **lists)
        if stopped and harmless:
            model_view = self._describe_model_view(self.objections)
            shut = [about for about in stopped if about in _list_harmless(self.account)]
            notes = (f"it also denied harmless calls: {_quote_texts(shut)}",) if shut else ()
            return self._make_proof(
                "enforced", f"denied {_quote_texts(stopped)}{model_view}", notes=notes, **lists
            )
        if stopped:
            because = f"{_quote_texts(stopped)} did not happen, but neither did anything harmless"
            return self._make_proof(
                "advisory", f"{because}, so nothing shows that the hook is the cause", **lists
            )
        return self._make_advisory(self._describe_answers(), **lists)

    def _judge_turns(self, held: Callable[[int], bool], otherwise: str) -> Proof:
        turns = sorted({firing.run for firing in self.objections})
        if not turns:
            return self._make_advisory(self._describe_answers())
        lost = [turn for turn in turns if not held(turn)]
        about = tuple(self._name_prompt(turn) for turn in turns if turn not in lost)
        if lost:
            return self._make_proof(
                "advisory", f"it denied, but {otherwise}{self._explain_ability('block')}", denied=about
            )
        if self.hook.event == "agent_stop":
            model_view = self._describe_model_view(self.objections)
            return self._make_proof("enforced", f"it made the agent continue{model_view}")
        return self._make_proof(
            "enforced", f"denied {_quote_texts(about)}; the model never saw it", denied=about
        )

    def _name_prompt(self, turn: int) -> str:
        prompt = self.account.turns[turn].prompt
        return PROMPT.about if prompt in PROMPT.given else prompt

    def _is_prompt_stopped(self, turn: int) -> bool:
        agent_turn = self.account.turns[turn]
        return not _is_received(agent_turn, agent_turn.prompt)

    def _is_carried_on(self, turn: int) -> bool:
        """Whether the model was asked again after its last step, or received the remaining work."""
        agent_turn = self.account.turns[turn]
        closings = [
            request for request in agent_turn.outcome.requests if (request.step or 0) >= agent_turn.steps
        ]
        reasons = [fired.reason for fired in self.objections if fired.run == turn and fired.reason]
        closed = [request for request in closings if request.step is not None]
        return len(closed) > 1 or any(
            _is_received(agent_turn, _read_first_line(reason)) for reason in reasons
        )

    def _make_advisory(self, because: str, **more: tuple[str, ...]) -> Proof:
        if not self.guards or self._is_rewriter():
            return self._make_proof("advisory", because, **more)._replace(held=True)
        hint = "no sample made it deny"
        if self.hook.event in (*GUARDED, "before_prompt"):
            sample = "prompt: TEXT" if self.hook.event == "before_prompt" else "COMMAND"
            hint += f"; add a call that it must deny with --sample '{sample}'"
        return self._make_proof("advisory", f"{because}; {hint}", **more)

    def _is_rewriter(self) -> bool:
        """Whether it rewrites input, and the agent applied the rewrite."""
        rewrites = [firing for firing in self.answered if firing.updated is not None]
        return bool(rewrites) and "not taken" not in self._describe_rewrite(rewrites)

    def _describe_answers(self) -> str:
        """Describe its answer, and the effect."""
        times = f"fired {_format_times(len(self.mine))}"
        contexts = [firing for firing in self.answered if firing.context.strip()]
        rewrites = [firing for firing in self.answered if firing.updated is not None]
        objections = [firing for firing in self.objections if firing.reason]
        effects = []
        for label, some in (("its context", contexts), ("its objection", objections)):
            if some:
                texts = [firing.context if label == "its context" else firing.reason for firing in some]
                seen = any(
                    _is_received(turn, _read_first_line(text))
                    for turn in self.account.turns
                    for text in texts
                )
                effects.append(f"{label} reached the model" if seen else f"{label} did not reach the model")
        if contexts and effects[0].endswith("not reach the model"):
            effects[0] += self._explain_ability("context")
        if rewrites:
            effects.append(self._describe_rewrite(rewrites))
        return f"{times}; {', '.join(effects) or 'it answered nothing'}"

    def _describe_rewrite(self, rewrites: Sequence[Firing]) -> str:
        """Describe whether its rewrite took effect; a command leaves only a mark."""
        for firing in rewrites:
            fate = self.find_fate(firing)
            changed = firing.updated or {}
            if fate is None or self._is_denied_by_others(fate):
                continue
            if fate.sample.kind == "shell" and fate.sample.key not in str(changed.get("command", "")):
                return "its rewrite had no effect" if fate.happened else "its rewrite took effect"
        ability = abilities.find_ability(self.account.driver, AbilityNeed(self.hook.event, "rewrite"))
        if ability.word == "no":
            return f"its rewrite had no effect: {ability.reason}"
        return "it rewrote the input, which the agent supports"

    def _is_denied_by_others(self, fate: Fate) -> bool:
        others = (firing for firing in self.account.firings if firing.hook != self.number and firing.objects)
        return any(self.find_fate(firing) == fate for firing in others)

    def _make_broken(self, failures: Sequence[Firing]) -> Proof:
        effect = ""
        if self.hook.event in GUARDED:
            stopped, done = (self._list_samples(failures, happened=happened) for happened in (False, True))
            # Some agents, and a policy of the user, deny when a hook fails.
            effect = "; nothing was prevented" if done or not stopped else "; the calls did not happen"
        proof = self._make_proof("broken", f"{self._describe_failures(failures)}{effect}")
        return proof._replace(held=False)

    def _make_fails_shut(self) -> Proof:
        """Judge a hook that denies because it cannot run: its error exits like a denial."""
        last = self.answered[-1]
        error_line = next(
            line for line in (last.reason + "\n" + last.stderr).splitlines() if FAILS.search(line)
        )
        because = f"it fails, and that denies every matching call: {_shorten(error_line)}"
        denied = tuple(self._list_samples(self.objections, happened=False))
        return self._make_proof("broken", because, denied=denied)._replace(held=False)

    def _describe_failures(self, failures: Sequence[Firing]) -> str:
        last = failures[-1]
        lines = last.stderr.strip().splitlines()
        stderr_note = (
            f" (stderr: {_shorten(lines[-1])})" if lines and _shorten(lines[-1]) not in last.failure else ""
        )
        count = f"{len(failures)} of {len(self.mine)} times"
        return f"it failed {count}: {_shorten(last.failure)}{stderr_note}"

    def _make_unseen(self) -> Proof:
        """Explain, as far as known, why nothing shows that it fired."""
        account = self.account
        if self.number in account.unwatched:
            dialect = get(get_dialect_id(account.driver))
            return self._make_proof("not fired", f"{dialect.title} runs it itself, and nothing shows a run")
        return self._make_proof("not fired", unfired.explain_unfired(account, self.number))

    def _explain_ability(self, can: str) -> str:
        ability = abilities.find_ability(self.account.driver, AbilityNeed(self.hook.event, can))
        return f": {ability.reason}" if ability.reason else ""

    def _list_samples(self, firings: Iterable[Firing], *, happened: bool) -> list[str]:
        fates = [fate for firing in firings if (fate := self.find_fate(firing))]
        return list(dict.fromkeys(fate.sample.about for fate in fates if fate.happened == happened))

    def find_fate(self, fired: Firing) -> Fate | None:
        """Find the sample of a firing."""
        reached = [fate for fate in self.account.fates if fate.reached]
        marked = [fate for fate in reached if _has_mark(fired.call, fate.sample.key)]
        # A mark belongs to one command; a command may be part of another.
        marked.sort(key=lambda fate: -len(fate.sample.program))
        marked.sort(key=lambda fate: bool(fate.sample.program))
        commands = [fate for fate in marked if fate.sample.kind in ("shell", "mcp")]
        alike = [fate for fate in marked if TOOLS[fate.sample.kind] == fired.tool]
        # A file is read before its edit, which some agents do with a command.
        first = fired.tool in ("shell", "file_read")
        others = [fate for fate in marked if not first or fate.sample.kind == "read"]
        return next(iter([*commands, *alike, *others]), None)

    def _describe_model_view(self, firings: Sequence[Firing]) -> str:
        reason = next((_read_first_line(firing.reason) for firing in firings if firing.reason.strip()), "")
        if not reason:
            return ""
        seen = any(_is_received(turn, reason) for turn in self.account.turns)
        return f"; the model saw '{_shorten(reason)}'" if seen else "; its reason did not reach the model"


def _list_harmless(account: Account) -> set[str]:
    return {fate.sample.about for fate in account.fates if fate.sample.harmless}


def _has_mark(text: str, mark: str) -> bool:
    return re.search(rf"(?<![\w.-]){re.escape(mark)}(?![\w-]|\.\w)", text) is not None


def _is_received(turn: AgentTurn, text: str) -> bool:
    """Whether the model received a text."""
    if not text:
        return False
    for request in turn.outcome.requests:
        texts = [message.text for message in request.texts if message.role not in MODELS]
        if any(text in received for received in (*texts, *(result.text for result in request.results))):
            return True
    return False


def _read_first_line(text: str) -> str:
    return next((line.strip()[:100] for line in text.splitlines() if line.strip()), "")


def _format_times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count} times")


def _quote_texts(texts: Sequence[str]) -> str:
    shown = [f"`{text if len(text) <= QUOTED else f'{text[: QUOTED - 1]}…'}`" for text in texts[:4]]
    return ", ".join(shown) + (f" and {len(texts) - 4} more" if len(texts) > 4 else "")


def _shorten(text: str, longest: int = LONGEST) -> str:
    text = " ".join(text.split())
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
