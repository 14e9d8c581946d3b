"""Test cases from recorded events: no secrets, no duplicates, existing files untouched.

A fixture is the payload in the hook's own dialect. A case records what happened, and its author changes it
into what should have happened.
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
from hookport.testing.find import CASES, HOOK_FILES, TESTS
from hookport.testing.happened import TEXT_CUT, Record, RecordedEvent
from hookport.testing.package import find_origin, list_hooks, select_hooks
from hookport.testing.suite import CONFIG, PACKAGE_ROOT, Config, Suite, change_texts
from hookport.wire.events import write_event
from hookport.wire.rewrites import rewrite_call

# Replacements for values that identify a session or a person.
SESSION, HOME = "recorded", "/home/user"
SUBJECTS = ("command", "path", "url", "query", "pattern", "skill")
# Fields that distinguish events without a tool.
DISTINGUISHING_FIELDS = ("prompt", "final_message", "stop_active", "source", "subagent")
LONGEST_NAME, LONGEST_TEXT = 50, 200
EXPECTED_NOTE = "# This is what happened. Change it into what should have happened."
NOT_RUN_NOTE = (
    "# This hook did not run then. Write what it should do, for example:\n# expected:\n#   decision: deny\n"
)
NOT_RECORDED_NOTE = (
    "# The journal does not store {what}; `hookport dispatch --record` does. Add it to the fixture.\n"
)


class Draft(NamedTuple):
    """One unwritten case: its name, its place, and its files by their paths in `tests/`."""

    name: str
    folder: Path
    files: Mapping[str, bytes]
    verdict: str
    note: str = ""


class Drafts(NamedTuple):
    """The cases of some events, the number of events with a case, and notes on those without."""

    drafts: tuple[Draft, ...]
    notes: tuple[str, ...]
    events: int = 0
    same: int = 0


class DraftChoice(NamedTuple):
    """Which hooks and how many events: a part of a hook's name or file, and the last N events; 0 for all."""

    hook: str = ""
    last: int = 0

    def takes(self, hook: PlannedHook) -> bool:
        return self.hook.lower() in f"{hook.name} {hook.file}".lower()


def draft_cases(
    events: Iterable[RecordedEvent], discovery: Discovery, env: Mapping[str, str], choice: DraftChoice
) -> Drafts:
    """Draft a case for each event and file of hooks, oldest first.

    An event of the journal is a case of the hooks that ran; a complete event is a case of every hook that
    would run now.
    """
    by_file: dict[str, list[PlannedHook]] = {}
    for hook in filter(choice.takes, list_hooks(discovery)):
        by_file.setdefault(hook.file, []).append(hook)
    suites = {file: _HookSuite(_find_suite(Path(file)), discovery.root, env) for file in by_file}
    by_name: dict[tuple[Path, str], Draft] = {}
    notes: dict[str, None] = {}
    used = total = 0
    for event in reversed(list(events)):
        if choice.last and used == choice.last:
            break
        new: list[Draft] = []
        for file, hooks in by_file.items():
            if runs := _find_runs(event, hooks):
                try:
                    new.append(_draft_case(event, runs, suites[file]))
                except HookportError as error:
                    notes[f"{file}: {error}"] = None
        used, total = used + bool(new), total + len(new)
        by_name |= {(draft.folder, draft.name): draft for draft in reversed(new)}
    return Drafts(tuple(reversed(by_name.values())), tuple(notes), used, total - len(by_name))


class _HookSuite:
    """The tests beside one file of hooks; its hooks are loaded once."""

    def __init__(self, suite: Suite, root: str, env: Mapping[str, str]) -> None:
        self.suite, self.root, self.env = suite, root, env
        self.hooks: list[PlannedHook] | None = None

    def find_index(self, event: str, run_hooks: list[PlannedHook]) -> int | str:
        """The index of the hooks' group, as tests count groups; `all` if the hooks are in several groups."""
        if self.hooks is None:
            hooks_origin, broken = find_origin(self.suite, self.env)
            if hooks_origin is None:
                raise UsageError("; ".join(str(problem) for entry in broken for problem in entry.problems))
            self.hooks = list_hooks(load_hooks(str(hooks_origin.source), None, self.env))
        places = {hook.place for hook in run_hooks}
        for number in range(len(select_hooks(self.hooks, event, None).hooks)):
            try:
                group = {hook.place for hook in select_hooks(self.hooks, event, number).hooks}
            except UsageError:  # numbers follow the file, where other hooks may be in between
                continue
            if places <= group:
                return number
        return load.ALL

    def hide_secrets(self, tree: Tree) -> Tree:
        """Remove secrets and this machine's folders from a tree."""
        home = self.env.get("HOME", "").rstrip("/")

        def moved(text: str) -> str:
            for folder, name in (
                (self.root, PACKAGE_ROOT),
                (os.path.realpath(self.root), PACKAGE_ROOT),
                (home, HOME),
            ):
                if len(folder) > 1:
                    text = re.sub(rf"{re.escape(folder)}(?![\w.-])", name, text)
            return text

        return change_texts(walk(tree, clean), moved)


def _find_runs(recorded: RecordedEvent, hooks: list[PlannedHook]) -> list[tuple[PlannedHook, Record]]:
    """Find the hooks of one file that ran, each with its record, or those that would run now."""
    rows = {
        (os.path.realpath(str(record.get("source"))), record.get("place")): record
        for record in recorded.hooks
    }
    known = [(hook, rows.get((os.path.realpath(hook.file), hook.place), {})) for hook in hooks]
    runs = [(hook, row) for hook, row in known if row.get("matched")]
    if runs or recorded.lacks or any(row for _, row in known):
        return runs
    current = [hook for hook in hooks if hook.event == recorded.event.event]
    return [
        (hook, {})
        for hook in current
        if match_hook(hook, recorded.event, recorded.event.call, get_wire(hook.dialect)).matches
    ]


def _find_suite(file: Path) -> Suite:
    """The existing or future tests beside a file of hooks."""
    folder = file.parent / TESTS
    if (folder / CONFIG).exists():
        return load.load_suite(folder)
    return Suite(folder, Config(hooks="" if file.name in HOOK_FILES else f"../{file.name}"), ())


def _draft_case(recorded: RecordedEvent, runs: list[tuple[PlannedHook, Record]], suite: _HookSuite) -> Draft:
    hook, folder = runs[0][0], suite.suite.folder
    hook_wire = get_wire(hook.dialect)
    event = _rebuild_event(recorded, runs[0][1]).replace(session=SESSION, timestamp=recorded.time)
    fixture = suite.hide_secrets(write_event(hook_wire, event, hook.native))
    expected = suite.hide_secrets(_make_expected([row for _, row in runs])) if runs[0][1] else {}
    native = hook.native or _find_native(hook_wire.events, hook.event)
    tree: dict[str, Tree] = {
        "event": native,
        "hook-index": suite.find_index(native, [asked_hook for asked_hook, _ in runs]),
    }
    if event.agent in list_agents():
        tree["agents"] = [event.agent]
    essence = suite.hide_secrets(
        [getattr(event, field) for field in DISTINGUISHING_FIELDS] + _describe_call(event.call)
    )
    content = json.dumps([tree, essence, expected], sort_keys=True, default=str)
    name = f"{_make_slug(native, event, suite)}-{hashlib.sha256(content.encode()).hexdigest()[:6]}"
    fixture_file = f"fixtures/{name}.json"
    tree = {
        "name": name,
        "description": _describe_case(recorded, runs),
        **tree,
        "input": {"fixture": fixture_file},
    }
    if expected:
        tree["expected"] = expected
    files = {
        fixture_file: documents.dump(fixture, "json"),
        f"{CASES}/{name}.yaml": _write_case(tree, recorded.lacks),
    }
    if suite.suite.config.hooks and not (folder / CONFIG).exists():
        files[CONFIG] = documents.dump({"version": load.VERSION, "hooks": suite.suite.config.hooks}, "json")
    note = (
        f"{name}: the journal does not store {recorded.lacks}, so the fixture lacks it"
        if recorded.lacks
        else ""
    )
    return Draft(name, folder, files, expected.get("decision", ""), note)


def _rebuild_event(recorded: RecordedEvent, row: Record) -> Event:
    """The event with its input as earlier hooks rewrote it."""
    event = recorded.event
    for before in recorded.hooks[: recorded.hooks.index(row)] if row else ():
        decision = before.get("decision")
        changed = decision.get("updated_input") if isinstance(decision, dict) else None
        if isinstance(changed, dict) and event.call is not None:
            event = event.replace(call=rewrite_call(get_wire(event.agent), event.call, changed))
    return event


def _write_case(tree: Mapping[str, Tree], lacks: str) -> bytes:
    """Write a case as YAML, with a comment on the author's next step."""
    text = documents.dump(tree, "yaml").decode()
    text = (
        text.replace("\nexpected:", f"\n{EXPECTED_NOTE}\nexpected:")
        if "expected" in tree
        else text + NOT_RUN_NOTE
    )
    return f"{NOT_RECORDED_NOTE.format(what=lacks) if lacks else ''}{text}".encode()


def _find_native(events: Mapping[str, str], canonical: str) -> str:
    return next((native for native, event in events.items() if event == canonical), canonical)


def _make_expected(rows: list[Record]) -> dict[str, Tree]:
    """The decision of the hooks of one file together, in the fields of a case."""
    decisions = [row.get("decision") for row in rows]
    known = set(Decision().as_dict())
    decision = merge.merge_decisions(
        Decision(**{key: value for key, value in decision.items() if key in known})
        for decision in decisions
        if isinstance(decision, dict)
    )
    expected: dict[str, Tree] = {"decision": decision.verdict}
    for field, text in (("reason-contains", decision.reason), ("context-contains", decision.context)):
        if line := _cut_line(text):
            expected[field] = [line]
    if decision.updated_input is not None:
        expected["updated-input"] = dict(decision.updated_input)
    failures = [str(row["failure"]) for row in rows if row.get("failure")]
    codes = [row.get("exit") for row in rows]
    if failures:
        expected["failure-contains"] = [_cut_line(failure) for failure in failures]
    elif len(codes) == 1 and isinstance(codes[0], int):
        expected["exit-code"] = codes[0]
    return expected


def _cut_line(text: str) -> str:
    """The first line of a text, up to the first omission."""
    lines = text.strip().splitlines()
    line = re.split(f"{re.escape(REDACTED)}|{re.escape(TEXT_CUT)}", lines[0])[0] if lines else ""
    return line[:LONGEST_TEXT].strip()


def _describe_call(call: Call | None) -> list[Tree]:
    """The parts of a call that a test compares, independent of the payload's dialect."""
    return [] if call is None else [call.tool, call.server, call.mcp_tool, dict(call.input), call.text]


def _make_slug(native: str, event: Event, suite: _HookSuite) -> str:
    """Name a case by event, tool and subject, in a few words."""
    call = event.call
    words = [native]
    if call is not None:
        words.append(call.tool or call.mcp_tool or call.native)
        subject = next((str(call.input[key]) for key in SUBJECTS if call.input.get(key)), "")
        words.append(suite.hide_secrets(subject).replace(PACKAGE_ROOT, "").replace(REDACTED, ""))
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", "-", " ".join(words)).lower()
    return re.sub(r"[^a-z0-9]+", "-", spaced)[:LONGEST_NAME].strip("-") or "event"


def _describe_case(recorded: RecordedEvent, runs: list[tuple[PlannedHook, Record]]) -> str:
    names = ", ".join(dict.fromkeys(hook.name for hook, _ in runs))
    return f"{recorded.event.agent} fired {recorded.event.native} at {recorded.time}; for {names}"


class WrittenFiles(NamedTuple):
    """The written files, and those that existed already."""

    new: tuple[Path, ...]
    kept: tuple[Path, ...]


def write_drafts(drafted: Iterable[Draft], *, dry: bool = False) -> WrittenFiles:
    """Write the files of every draft, or only list them; an existing file stays unchanged."""
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
    return WrittenFiles(tuple(new), tuple(kept))
