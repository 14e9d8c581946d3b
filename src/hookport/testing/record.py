"""Test cases from events that happened: secrets hidden, each case once, no file that is there touched.

A fixture is what the hook read, in its own dialect. A case says what happened, for its author to change into
what should have happened.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from hookport import documents
from hookport.agents import get_wire, list_agents
from hookport.base.tree import Tree
from hookport.errors import HookportError, UsageError
from hookport.model.runs import Call, Decision, Event
from hookport.project.discovery import Discovery
from hookport.project.discovery import load as load_hooks
from hookport.runtime import merge
from hookport.runtime.plan import PlannedHook
from hookport.runtime.redaction import REDACTED, clean, walk
from hookport.runtime.select import match_hook
from hookport.testing import load
from hookport.testing.find import BESIDE, CASES, TESTS
from hookport.testing.happened import CUT, Happened, Record
from hookport.testing.package import hooks_in, meant, origin
from hookport.testing.suite import CONFIG, PLACE, Config, Suite, texts_changed
from hookport.wire.events import rewrite_call, write_event

# In place of what tells one session, time or person from another.
SESSION, HOME = "recorded", "/home/user"
SUBJECTS = ("command", "path", "url", "query", "pattern", "skill")
# What tells events without a tool apart.
TOLD = ("prompt", "final_message", "stop_active", "source", "subagent")
LONGEST_NAME, LONGEST_TEXT = 50, 200
HAPPENED = "# This is what happened. Change it into what should have happened."
UNASKED = (
    "# This hook was not asked then. Say what it should do, for example:\n# expected:\n#   decision: deny\n"
)
LACKING = (
    "# The journal does not keep {what}; `hookport dispatch --record` does. Write it into the fixture.\n"
)


class Draft(NamedTuple):
    """One case that is not written yet: its name, where, and its files by their paths in `tests/`."""

    name: str
    folder: Path
    files: Mapping[str, bytes]
    verdict: str
    note: str = ""


class Drafts(NamedTuple):
    """The cases of some events, of how many, and what is to be said of those that gave none."""

    drafts: tuple[Draft, ...]
    notes: tuple[str, ...]
    events: int = 0
    same: int = 0


class Choice(NamedTuple):
    """Which hooks and how many events: a part of a hook's name or file, and the last so many; 0 for all."""

    hook: str = ""
    last: int = 0

    def takes(self, hook: PlannedHook) -> bool:
        return self.hook.lower() in f"{hook.name} {hook.file}".lower()


def drafts(events: Iterable[Happened], found: Discovery, env: Mapping[str, str], choice: Choice) -> Drafts:
    """The cases that the hooks found have of the events, oldest first.

    An event of the journal is a case of the hooks that were asked; a whole one is a case of every hook that
    would be asked now.
    """
    by_file: dict[str, list[PlannedHook]] = {}
    for hook in filter(choice.takes, hooks_in(found)):
        by_file.setdefault(hook.file, []).append(hook)
    benches = {file: _Bench(_suite(Path(file)), found.root, env) for file in by_file}
    made: dict[tuple[Path, str], Draft] = {}
    notes: dict[str, None] = {}
    used = total = 0
    for event in reversed(list(events)):
        if choice.last and used == choice.last:
            break
        here: list[Draft] = []
        for file, own in by_file.items():
            if asked := _asked(event, own):
                try:
                    here.append(_draft(event, asked, benches[file]))
                except HookportError as error:
                    notes[f"{file}: {error}"] = None
        used, total = used + bool(here), total + len(here)
        made |= {(one.folder, one.name): one for one in reversed(here)}
    return Drafts(tuple(reversed(made.values())), tuple(notes), used, total - len(made))


class _Bench:
    """The tests beside one file of hooks, and what is looked up there once."""

    def __init__(self, suite: Suite, root: str, env: Mapping[str, str]) -> None:
        self.suite, self.root, self.env = suite, root, env
        self.hooks: list[PlannedHook] | None = None

    def index(self, event: str, asked: list[PlannedHook]) -> int | str:
        """The group of the hooks as the tests count it; all where they are of several."""
        if self.hooks is None:
            where, broken = origin(self.suite, self.env)
            if where is None:
                raise UsageError("; ".join(str(problem) for one in broken for problem in one.problems))
            self.hooks = hooks_in(load_hooks(str(where.source), None, self.env))
        places = {one.place for one in asked}
        for number in range(len(meant(self.hooks, event, None).hooks)):
            try:
                group = {one.place for one in meant(self.hooks, event, number).hooks}
            except UsageError:  # numbers follow the file, which may have hooks of others between
                continue
            if places <= group:
                return number
        return load.ALL

    def hidden(self, tree: Tree) -> Tree:
        """The same without secrets, and without the folders of this machine."""
        home = self.env.get("HOME", "").rstrip("/")

        def moved(text: str) -> str:
            for folder, name in ((self.root, PLACE), (os.path.realpath(self.root), PLACE), (home, HOME)):
                if len(folder) > 1:
                    text = re.sub(rf"{re.escape(folder)}(?![\w.-])", name, text)
            return text

        return texts_changed(walk(tree, clean), moved)


def _asked(it: Happened, hooks: list[PlannedHook]) -> list[tuple[PlannedHook, Record]]:
    """The hooks of one file that were asked, each with what was written down of it, or that would be now."""
    rows = {(os.path.realpath(str(one.get("source"))), one.get("place")): one for one in it.hooks}
    known = [(hook, rows.get((os.path.realpath(hook.file), hook.place), {})) for hook in hooks]
    asked = [(hook, row) for hook, row in known if row.get("matched")]
    if asked or it.lacks or any(row for _, row in known):
        return asked
    own = [hook for hook in hooks if hook.event == it.event.event]
    return [
        (hook, {})
        for hook in own
        if match_hook(hook, it.event, it.event.call, get_wire(hook.dialect)).matches
    ]


def _suite(file: Path) -> Suite:
    """The tests beside a file of hooks, or what they will be."""
    folder = file.parent / TESTS
    if (folder / CONFIG).exists():
        return load.suite(folder)
    return Suite(folder, Config(hooks="" if file.name in BESIDE else f"../{file.name}"), ())


def _draft(it: Happened, asked: list[tuple[PlannedHook, Record]], bench: _Bench) -> Draft:
    hook, folder = asked[0][0], bench.suite.folder
    own = get_wire(hook.dialect)
    event = _as_seen(it, asked[0][1]).replace(session=SESSION, timestamp=it.time)
    fixture = bench.hidden(write_event(own, event, hook.native))
    expected = bench.hidden(_expected([row for _, row in asked])) if asked[0][1] else {}
    native = hook.native or _said(own.events, hook.event)
    tree: dict[str, Tree] = {"event": native, "hook-index": bench.index(native, [one for one, _ in asked])}
    if event.agent in list_agents():
        tree["agents"] = [event.agent]
    essence = bench.hidden([getattr(event, field) for field in TOLD] + _essence(event.call))
    content = json.dumps([tree, essence, expected], sort_keys=True, default=str)
    name = f"{_slug(native, event, bench)}-{hashlib.sha256(content.encode()).hexdigest()[:6]}"
    fixture_file = f"fixtures/{name}.json"
    tree = {"name": name, "description": _description(it, asked), **tree, "input": {"fixture": fixture_file}}
    if expected:
        tree["expected"] = expected
    files = {fixture_file: documents.dump(fixture, "json"), f"{CASES}/{name}.yaml": _text(tree, it.lacks)}
    if bench.suite.config.hooks and not (folder / CONFIG).exists():
        files[CONFIG] = documents.dump({"version": load.VERSION, "hooks": bench.suite.config.hooks}, "json")
    note = f"{name}: the journal does not keep {it.lacks}, so the fixture lacks it" if it.lacks else ""
    return Draft(name, folder, files, expected.get("decision", ""), note)


def _as_seen(it: Happened, row: Record) -> Event:
    """The event with the input that hooks before this one had made of it."""
    event = it.event
    for before in it.hooks[: it.hooks.index(row)] if row else ():
        decision = before.get("decision")
        changed = decision.get("updated_input") if isinstance(decision, dict) else None
        if isinstance(changed, dict) and event.call is not None:
            event = event.replace(call=rewrite_call(get_wire(event.agent), event.call, changed))
    return event


def _text(tree: Mapping[str, Tree], lacks: str) -> bytes:
    """A case as YAML, with what its author is to do."""
    text = documents.dump(tree, "yaml").decode()
    text = text.replace("\nexpected:", f"\n{HAPPENED}\nexpected:") if "expected" in tree else text + UNASKED
    return f"{LACKING.format(what=lacks) if lacks else ''}{text}".encode()


def _said(events: Mapping[str, str], canonical: str) -> str:
    return next((native for native, event in events.items() if event == canonical), canonical)


def _expected(rows: list[Record]) -> dict[str, Tree]:
    """What hooks of one file decided together, as a case says it."""
    decisions = [row.get("decision") for row in rows]
    known = set(Decision().as_dict())
    decision = merge.merge_decisions(
        Decision(**{key: value for key, value in one.items() if key in known})
        for one in decisions
        if isinstance(one, dict)
    )
    expected: dict[str, Tree] = {"decision": decision.verdict}
    for field, text in (("reason-contains", decision.reason), ("context-contains", decision.context)):
        if line := _line(text):
            expected[field] = [line]
    if decision.updated_input is not None:
        expected["updated-input"] = dict(decision.updated_input)
    failures = [str(row["failure"]) for row in rows if row.get("failure")]
    codes = [row.get("exit") for row in rows]
    if failures:
        expected["failure-contains"] = [_line(one) for one in failures]
    elif len(codes) == 1 and isinstance(codes[0], int):
        expected["exit-code"] = codes[0]
    return expected


def _line(text: str) -> str:
    """The first line of a text, up to what was taken out of it."""
    lines = text.strip().splitlines()
    line = re.split(f"{re.escape(REDACTED)}|{re.escape(CUT)}", lines[0])[0] if lines else ""
    return line[:LONGEST_TEXT].strip()


def _essence(call: Call | None) -> list[Tree]:
    """What two calls have in common that are the same to a test, whichever payload they came in."""
    return [] if call is None else [call.tool, call.server, call.mcp_tool, dict(call.input), call.text]


def _slug(native: str, event: Event, bench: _Bench) -> str:
    """The event, the tool and what it is about, in a few words."""
    call = event.call
    words = [native]
    if call is not None:
        words.append(call.tool or call.mcp_tool or call.native)
        subject = next((str(call.input[key]) for key in SUBJECTS if call.input.get(key)), "")
        words.append(bench.hidden(subject).replace(PLACE, "").replace(REDACTED, ""))
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", "-", " ".join(words)).lower()
    return re.sub(r"[^a-z0-9]+", "-", spaced)[:LONGEST_NAME].strip("-") or "event"


def _description(it: Happened, asked: list[tuple[PlannedHook, Record]]) -> str:
    names = ", ".join(dict.fromkeys(hook.name for hook, _ in asked))
    return f"{it.event.agent} fired {it.event.native} at {it.time}; for {names}"


class Written(NamedTuple):
    """What became of drafts: the files that were written and those that were there already."""

    new: tuple[Path, ...]
    kept: tuple[Path, ...]


def write(drafted: Iterable[Draft], *, dry: bool = False) -> Written:
    """Write the files of every draft, or only tell; a file that is there stays as it is."""
    new: list[Path] = []
    kept: list[Path] = []
    for draft in drafted:
        for name, data in draft.files.items():
            path = draft.folder / name
            if path in new or path in kept:
                continue
            if path.exists():
                kept.append(path)
                continue
            new.append(path)
            if not dry:
                path.parent.mkdir(parents=True, exist_ok=True)
                with path.open("xb") as file:
                    file.write(data)
    return Written(tuple(new), tuple(kept))
