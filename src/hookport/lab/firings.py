"""Which hooks fired in a run and what they answered, from the journal and from watched commands.

The journal has the hooks behind the bridge. For hooks that an agent runs itself, a witness replaces the
command and runs it; hooks that cannot be replaced are judged by their effects alone.
"""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from hookport.agents import Dialect, get, get_wire
from hookport.base.tree import Tree
from hookport.convert import edit, pipeline
from hookport.errors import HookportError, spell_path
from hookport.lab import witness
from hookport.model.hooks import Hook
from hookport.model.runs import Decision, Event, RunResult
from hookport.project import plan_builder
from hookport.project.discovery import HookEntry
from hookport.project.ownership import find_agent
from hookport.project.places import find_own_place
from hookport.runtime import journal
from hookport.runtime.handlers import read_answer
from hookport.runtime.occasion import parse_object
from hookport.runtime.plan import PlannedHook
from hookport.runtime.records import STDERR_TAIL
from hookport.wire.events import find_native_name, read_event


class Firing(NamedTuple):
    """One run of a hook: the agent's process, the call, and the answer.

    `call` is the tool and the input of a call as text, `failure` why the answer is not valid.
    """

    hook: int
    run: int
    event: str
    tool: str = ""
    call: str = ""
    verdict: str = "none"
    reason: str = ""
    context: str = ""
    updated: Mapping[str, Tree] | None = None
    carries_on: bool = True
    failure: str = ""
    exit: int | None = None
    stderr: str = ""

    @property
    def objects(self) -> bool:
        """Whether it denies the action."""
        return self.verdict in ("deny", "ask") or not self.carries_on


class SkippedHook(NamedTuple):
    """A case in which the bridge checked a hook and did not run it, and why."""

    hook: int
    why: str


class Watch:
    """What the hooks of one stage do, read further after each run."""

    def __init__(
        self, agent: str, hooks: Sequence[HookEntry], root: Path, env: Mapping[str, str], records: Path
    ) -> None:
        self.agent = get_wire(agent)
        self.dialect = get(agent)
        self.hooks = hooks
        places = [find_own_place(self.dialect, found_hook.file, str(root), env) for found_hook in hooks]
        self.own = frozenset(number for number, place in enumerate(places) if place is not None)
        self.planned = [plan_builder.plan_entry(found_hook) for found_hook in hooks]
        self.records = records
        # The hooks with watched commands, and the agent's own hooks that cannot be watched.
        self.watched: set[int] = set()
        self.unwatched: set[int] = set()
        self._journal = journal.Reader(env)
        self._line = 0
        self.passed: list[SkippedHook] = []

    def is_run_by_agent(self, number: int) -> bool:
        """Whether the agent runs a hook itself, without the bridge: it is in the agent's own file."""
        return number in self.own

    def place(self, project: Path, home: Path) -> None:
        """Replace the commands that the agent runs itself by the witness."""
        files = {self.hooks[number].file for number in range(len(self.hooks)) if self.is_run_by_agent(number)}
        hook_files = dict.fromkeys(_list_files(self.dialect, project, home), self.dialect)
        for number, found_hook in enumerate(self.hooks):
            if found_hook.file in files and found_hook.file not in hook_files:
                hook_files[found_hook.file] = get(self.planned[number].dialect)
        for file, dialect in hook_files.items():
            self._replace(file, dialect)
        self.unwatched = {
            number
            for number in range(len(self.hooks))
            if self.is_run_by_agent(number) and number not in self.watched
        }

    def _replace(self, file: str, dialect: Dialect) -> None:
        try:
            reading = pipeline.read({file: Path(file).read_bytes()}, dialect)
            old = reading.decoded.manifest.hooks
            numbers = [
                self._find_number(file, spell_path(place.path), hook)
                for hook, place in zip(old, reading.decoded.places, strict=True)
            ]
            if any(document.kind == "text" for document in reading.documents.values()):
                self._replace_script(Path(file), numbers)
                return
            new = tuple(map(self._add_witness, old, numbers))
            for name, data in edit.encode(reading, new).items():
                Path(name).write_bytes(data)
        except (OSError, HookportError):
            return
        self.watched.update(number for number in numbers if number is not None)

    def _replace_script(self, script: Path, numbers: Sequence[int | None]) -> None:
        """Replace a script that is itself the hook by the witness; the script stays beside it."""
        number = numbers[0] if len(numbers) == 1 else None
        if number is None or str(script) not in self.hooks[number].scripts:
            return
        aside = script.with_name(f".{script.name}.watched")
        script.rename(aside)
        words = self._make_witness_command(number)
        script.write_text(f"#!/bin/sh\nexec {shlex.join(words)} {shlex.quote(shlex.quote(str(aside)))}\n")
        script.chmod(aside.stat().st_mode)
        self.watched.add(number)

    def _make_witness_command(self, number: int) -> list[str]:
        return [sys.executable, "-I", "-S", str(Path(witness.__file__)), str(self.records), str(number)]

    def _find_number(self, file: str, place: str, hook: Hook) -> int | None:
        """Find the hook of an entry; none for a call of the bridge, which writes the journal."""
        command = hook.handler.command
        if not command or find_agent(command):
            return None
        for number, found_hook in enumerate(self.hooks):
            if (found_hook.file, found_hook.place) == (file, place):
                return number
        return self._find_by_command(command, hook.event)

    def _find_by_command(self, command: str, event: str = "") -> int | None:
        """Find the hook of a command, perhaps spelled differently: by its command, or by its script."""
        mine = [
            number
            for number, found_hook in enumerate(self.hooks)
            if not event or found_hook.hook.event == event
            if _is_run_by(found_hook, command)
        ]
        return mine[0] if mine else None

    def _add_witness(self, hook: Hook, number: int | None) -> Hook:
        if number is None:
            return hook
        command = f"{shlex.join(self._make_witness_command(number))} {shlex.quote(hook.handler.command)}"
        return hook._replace(handler=hook.handler._replace(command=command))

    def new(self, run: int) -> list[Firing]:
        """The firings since the last call."""
        return [*self._read_journal(self._journal.new(), run), *self._read_witness(run)]

    def _read_journal(self, records: Iterable[Mapping[str, Tree]], run: int) -> Iterator[Firing]:
        for record in records:
            for hook_record in record.get("hooks", ()):
                number = self._find_by_record(hook_record)
                if number is None:
                    continue
                if not hook_record.get("matched"):
                    self.passed.append(SkippedHook(number, str(hook_record.get("why", ""))))
                    continue
                decision = hook_record.get("decision", {})
                yield Firing(
                    number,
                    run,
                    str(record.get("event", "")),
                    str(record.get("tool", "")),
                    json.dumps(record.get("input", {}), ensure_ascii=False),
                    decision.get("verdict", "none"),
                    decision.get("reason", ""),
                    decision.get("context", ""),
                    decision.get("updated_input"),
                    decision.get("carry_on", True),
                    hook_record.get("failure", ""),
                    hook_record.get("exit"),
                    hook_record.get("stderr", ""),
                )

    def _find_by_record(self, hook_record: Mapping[str, Tree]) -> int | None:
        if not hook_record.get("source"):
            return self._find_by_command(str(hook_record.get("hook", "")))
        for number, found_hook in enumerate(self.hooks):
            if (found_hook.file, found_hook.place) == (hook_record["source"], hook_record.get("place", "")):
                return number
        return None

    def _read_witness(self, run: int) -> Iterator[Firing]:
        lines = self.records.read_text("utf-8").splitlines() if self.records.exists() else []
        records = [json.loads(line) for line in lines[self._line :]]
        self._line = len(lines)
        ended = {record["run"]: record for record in records if "exit" in record}
        for record in records:
            if "stdin" in record:
                yield self._make_firing(record, ended.get(record["run"]), run)

    def _make_firing(self, begun: Mapping[str, Tree], ended: Mapping[str, Tree] | None, run: int) -> Firing:
        hook = self.planned[begun["hook"]]
        event = self._read_event(hook, begun["stdin"])
        if ended is None:
            decision, result = Decision(failure="it had not answered when the agent continued"), None
        else:
            code, texts = ended["exit"], (ended["stdout"], ended["stderr"])
            died = RunResult("signal", None, *texts, signal=-code)
            result = died if code < 0 else RunResult("completed", code, *texts)
            decision = read_answer(hook, get_wire(hook.dialect), event, result)
        call = event.call
        return Firing(
            begun["hook"],
            run,
            event.event,
            call.tool if call else "",
            json.dumps(dict(call.input), ensure_ascii=False, default=str) if call else "{}",
            decision.verdict,
            decision.reason,
            decision.context,
            dict(decision.updated_input) if decision.updated_input is not None else None,
            decision.carry_on,
            decision.failure,
            result.exit_code if result else None,
            result.stderr[-STDERR_TAIL:] if result else "",
        )

    def _read_event(self, hook: PlannedHook, payload: str) -> Event:
        """Read the event from a hook's payload, in the agent's own dialect or the hook's."""
        tree = parse_object(payload.encode())
        if isinstance(tree, str):
            return Event(hook.event, self.agent.id)
        for spoken in (self.agent, get_wire(hook.dialect)):
            native = find_native_name(spoken, tree) or hook.native
            if native in spoken.events:
                return read_event(spoken, tree, native).replace(event=hook.event)
        return Event(hook.event, self.agent.id)


def _is_run_by(found_hook: HookEntry, command: str) -> bool:
    own_command = found_hook.hook.handler.command
    if own_command and own_command in command:
        return True
    return any(Path(script).name in command for script in found_hook.scripts)


def _list_files(dialect: Dialect, project: Path, home: Path) -> list[str]:
    """List the existing files of an agent with hooks."""
    paths: dict[str, None] = {}
    for place in dialect.locations:
        folder = home if place.scope == "user" else project
        if place.scope in ("project", "local", "user"):
            names = sorted(folder.glob(place.path.removeprefix("~/")))
            paths.update(dict.fromkeys(str(name) for name in names if name.is_file()))
    return list(paths)
