"""A new hook that works: manifest, script, text and two tests, for any dialect that a project can hold.

Nothing here is written per dialect: the manifest is encoded from a canonical hook, and the dialect's wire
decides what the script reads and answers.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from hookport import documents
from hookport.agents import Dialect, get, get_wire, list_agents, list_dialects
from hookport.base.tree import Tree
from hookport.convert import edit, pipeline
from hookport.convert.degrade import degrade
from hookport.errors import InputError, InternalError, Problem, UsageError, suggest_closest
from hookport.findings import Finding
from hookport.model.events import EVENTS, is_about_tool
from hookport.model.hooks import Handler, Hook, Manifest, Term
from hookport.model.runs import BLOCK, Answer, Call, Decision, Event, RunResult
from hookport.model.tools import TOOLS
from hookport.sdk.scripts import LANGUAGES, ScriptPart, fill_template, find_path, write_script
from hookport.shapes.dialect import EventSpec, has_field, list_locations
from hookport.shapes.entries import find_slots
from hookport.wire.answers import read_answer, write_answer
from hookport.wire.events import find_fired_native, name_mcp_tool, name_tool, write_event
from hookport.wire.table import Wire

# A name is also a folder's, and a prefix of the names of cases, which have at most 64 characters.
NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
LONGEST_NAME = 40
PACKAGE_ROOT = "${PACKAGE_ROOT}"
MARK = "hookport-mark"
DEFAULT_TOOL = "shell"


class Subject(NamedTuple):
    """What a guard of a tool checks: the field, the word that it stops, a value with it and one without."""

    field: str
    word: str
    bad: str
    good: str
    also: Mapping[str, str] = {}


SUBJECTS: Mapping[str, Subject] = {
    "shell": Subject("command", "rm -rf", "rm -rf build", "ls -l"),
    "file_read": Subject("path", ".env", f"{PACKAGE_ROOT}/.env", f"{PACKAGE_ROOT}/notes.txt"),
    "file_write": Subject(
        "path", ".env", f"{PACKAGE_ROOT}/.env", f"{PACKAGE_ROOT}/notes.txt", {"content": "a"}
    ),
    "file_edit": Subject(
        "path", ".env", f"{PACKAGE_ROOT}/.env", f"{PACKAGE_ROOT}/notes.txt", {"old": "a", "new": "b"}
    ),
    "web_fetch": Subject("url", "http://", "http://example.com/", "https://example.com/"),
    "web_search": Subject("query", "password", "the password of the printer", "the weather"),
}
MCP_SUBJECT = Subject("text", "forbidden", "something forbidden", "something else")
PROMPT_SUBJECT = Subject("", "password", "my password is hunter2", "hello")
NO_SUBJECT = Subject("", "", "", "")


class ScaffoldRequest(NamedTuple):
    """The user's request; `event` is a canonical name or any dialect's."""

    name: str
    event: str
    dialect: str
    lang: str = "sh"
    matcher: str = ""


class ScaffoldFile(NamedTuple):
    """One file of the hook; `before` is the old content if an entry is added to the user's file."""

    path: str
    data: bytes
    is_executable: bool = False
    before: bytes | None = None


class Scaffold(NamedTuple):
    """The files by their paths in the project, the place of the tests, and notes."""

    files: tuple[ScaffoldFile, ...]
    tests: str
    findings: tuple[Finding, ...]


class _HookLayout(NamedTuple):
    """Where the files of a hook are; `command` is how the manifest names the script."""

    manifest: str
    script: str
    tests: str
    readme: str
    command: str


class _HookDesign(NamedTuple):
    """The design of a hook: its event and matcher in the dialect, its script and its tests."""

    dialect: Dialect
    wire: Wire
    event: Event
    terms: tuple[Term, ...]
    subject: Subject
    part: ScriptPart
    text: str


def list_writable() -> tuple[str, ...]:
    """The dialects that a project can hold hooks in."""
    return tuple(name for name in list_dialects() if _find_place(get(name)))


def choose_dialect() -> str:
    """The default dialect: the first with a folder for each hook."""
    return next(name for name in list_writable() if get(name).shape.companions)


def scaffold(request: ScaffoldRequest, root: Path) -> Scaffold:
    """The files of a new hook for the project at `root`; nothing is written."""
    dialect = _check_request(request)
    design = _design_hook(request, dialect)
    layout = _lay_out(request, dialect)
    text = write_script(request.lang, design.part, request.name, design.text)
    manifests, index, findings = _encode_manifests(request, design, layout, text, root)
    layout = layout._replace(manifest=manifests[0].path)
    readme = fill_template("README.md", _list_facts(design, layout))
    files = list(manifests)
    if layout.readme == layout.manifest:
        files[0] = files[0]._replace(data=files[0].data.rstrip() + b"\n\n" + readme.encode())
    else:
        files.append(ScaffoldFile(layout.readme, f"# {request.name}\n\n{design.text}\n\n{readme}".encode()))
    files.append(ScaffoldFile(layout.script, text.encode(), is_executable=True))
    files += _make_tests(request, design, layout, index)
    existing = [file.path for file in files if file.before is None and os.path.lexists(root / file.path)]
    if existing:
        more = f", with {len(existing) - 1} more of its files" if len(existing) > 1 else ""
        raise InputError(Problem(f"already exists{more}; choose another name", file=existing[0]))
    return Scaffold(tuple(files), layout.tests, findings)


def _check_request(request: ScaffoldRequest) -> Dialect:
    if not NAME.fullmatch(request.name) or len(request.name) > LONGEST_NAME:
        rule = f"1 to {LONGEST_NAME} of a-z and 0-9, with single - between them"
        raise UsageError(f"invalid name '{request.name}'", hint=f"a name is {rule}")
    if request.lang not in LANGUAGES:
        raise UsageError(
            f"unknown language '{request.lang}'", hint=f"possible values: {', '.join(LANGUAGES)}"
        )
    dialect = get(request.dialect)
    if not _find_place(dialect):
        raise UsageError(
            f"{dialect.id} reads hooks from {dialect.locations[0].path}, which is outside projects",
            hint=f"write the hook in another dialect; `hookport sync --agent {dialect.id}` installs it",
        )
    return dialect


def _find_place(dialect: Dialect) -> str:
    """Find a project's place for hooks of a dialect: a folder for each hook, if the dialect has such."""
    places = list_locations(dialect, "run") if dialect.kind == "format" else dialect.locations
    paths = [place.path for place in places if place.scope == "project"]
    return next((path for path in paths if "/*/" in path), paths[0] if paths else "")


def _lay_out(request: ScaffoldRequest, dialect: Dialect) -> _HookLayout:
    place, ending = _find_place(dialect), LANGUAGES[request.lang]
    if "/*/" not in place:
        folder = f"hooks/{request.name}"
        path = f"{folder}/run.{ending}"
        root = dialect.project_dir[0] if dialect.project_dir else ""
        command = f'"{root}"/{path}' if root not in ("", ".") else f"./{path}"
        return _HookLayout(place, path, f"{folder}/tests", f"{folder}/README.md", command)
    before, _, after = place.partition("*/")
    package = f"{before}{request.name}"
    manifest = f"{package}/{after}"
    if dialect.shape.companions:
        path = f"{package}/scripts/run.{ending}"
        return _HookLayout(manifest, path, f"{package}/tests", manifest, path)
    folder = after.rpartition("/")[0]
    path = f"{folder}/scripts/{request.name}.{ending}"
    # A project's path may contain a blank.
    command = f'"{dialect.package_dir[0]}"/{path}'
    return _HookLayout(
        manifest, f"{package}/{path}", f"{package}/{folder}/tests", f"{package}/README.md", command
    )


def _find_event(name: str, dialect: Dialect) -> str:
    """Find the canonical event for a name: the dialect's own names first, then those of any dialect."""
    if name in EVENTS:
        return name
    for dialect_id in (dialect.id, *list_dialects()):
        if canonical := get_wire(dialect_id).events.get(name):
            return canonical
    known = (*EVENTS, *get_wire(dialect.id).events)
    raise UsageError(
        f"unknown event '{name}'.{suggest_closest(name, known)}",
        hint=f"`hookport matrix {dialect.id}` lists the events",
    )


def _parse_matcher(matcher: str, event: str, agent_wire: Wire) -> tuple[Term, ...]:
    """Parse a matcher's alternatives: tools by canonical or native names, `mcp:SERVER/TOOL`, a pattern."""
    if not matcher:
        return (Term("tool", DEFAULT_TOOL),) if is_about_tool(event) else ()
    if matcher.startswith("mcp:"):
        server, _, tool = matcher.removeprefix("mcp:").partition("/")
        return (Term("mcp", server, tool),)
    words = [word.strip() for word in re.split(r"[|,]", matcher)]
    tools = [word if word in TOOLS else next(iter(agent_wire.tools.get(word, ())), "") for word in words]
    if is_about_tool(event) and all(tools):
        return tuple(Term("tool", tool) for tool in dict.fromkeys(tools))
    return (Term("pattern", matcher),)


def _make_call(terms: tuple[Term, ...], agent_wire: Wire) -> tuple[Call, Subject]:
    """Make a call that a matcher matches, with the mark in the field that a guard checks."""
    term = terms[0]
    if term.kind == "mcp":
        server, tool = term.value.replace("*", "server"), term.tool or "tool"
        return Call(
            native=name_mcp_tool(agent_wire, server, tool), server=server, mcp_tool=tool, input={"text": MARK}
        ), MCP_SUBJECT
    if term.kind == "pattern":
        fits = [tool for tool in TOOLS if _matches_tool(term.value, tool, agent_wire)]
        if not fits:
            raise UsageError(
                f"the matcher '{term.value}' matches no tool of {agent_wire.id}",
                hint=f"tools: {', '.join(TOOLS)}",
            )
        term = Term("tool", next((tool for tool in fits if tool in SUBJECTS), fits[0]))
    subject = SUBJECTS.get(term.value, NO_SUBJECT)
    return Call(term.value, input={**subject.also, subject.field: MARK} if subject.field else {}), subject


def _matches_tool(pattern: str, tool: str, agent_wire: Wire) -> bool:
    try:
        return any(re.search(pattern, name) for name in (tool, name_tool(agent_wire, Call(tool))))
    except re.error as error:
        raise UsageError(f"the matcher '{pattern}' is not a valid regular expression: {error}") from None


def _design_hook(request: ScaffoldRequest, dialect: Dialect) -> _HookDesign:
    canonical, agent_wire = _find_event(request.event, dialect), get_wire(dialect.id)
    terms = _parse_matcher(request.matcher, canonical, agent_wire)
    call, subject = _make_call(terms, agent_wire) if is_about_tool(canonical) else (None, NO_SUBJECT)
    event = Event(
        canonical, dialect.id, session="s1", cwd=PACKAGE_ROOT, timestamp="2026-01-01T00:00:00Z", call=call
    )
    if canonical == "before_prompt":
        event, subject = event.replace(prompt=MARK), PROMPT_SUBJECT
    elif not is_about_tool(canonical) and request.matcher:
        event = event.replace(source=request.matcher)
    native = find_fired_native(agent_wire, event)
    if not native:
        reason = f": {dialect.lacks[canonical]}" if dialect.lacks.get(canonical) else ""
        raise UsageError(
            f"{dialect.id} has no event like {canonical}{reason}",
            hint=f"`hookport matrix --event {canonical}` shows which agents have it",
        )
    event = event.replace(native=_choose_native(dialect, canonical, terms, native))
    part = _choose_part(request.name, event, subject, dialect)
    text = {
        "guard": f"Stops {_describe_event(event)} with '{subject.word}' in it.",
        "gate": "Sends the agent back to work once before it ends.",
        "context": "Gives the agent context.",
        "observe": f"Observes: {EVENTS[canonical].meaning if canonical in EVENTS else native}.",
    }[part.kind]
    return _HookDesign(dialect, agent_wire, event, terms, subject, part, text)


def _choose_native(dialect: Dialect, event: str, terms: tuple[Term, ...], usual_name: str) -> str:
    """Find the native event that such a hook is written for, which need not fire first."""
    natives = [spec.native for spec, _ in find_slots(dialect, Hook(event, Handler(), terms, blocking=True))]
    return usual_name if usual_name in natives or not natives else natives[0]


def _describe_event(event: Event) -> str:
    call = event.call
    return "a prompt" if call is None else f"a call of {call.tool or call.mcp_tool}"


def _choose_part(name: str, event: Event, subject: Subject, dialect: Dialect) -> ScriptPart:
    """Choose the most that a hook can do here: deny, keep the agent working, add context, or observe."""
    agent_wire = get_wire(dialect.id)
    shown = write_event(agent_wire, event.replace(agent="", stop_active=True), event.native)
    if subject.word and (path := find_path(shown, MARK)):
        deny = _find_obeyed_answer(
            dialect, event, Decision("deny", f"{name}: {subject.word} is not allowed here")
        )
        if deny:
            return ScriptPart("guard", deny, path, subject.word)
    if event.event in ("agent_stop", "subagent_stop") and (path := find_path(shown, value=True)):
        deny = _find_obeyed_answer(dialect, event, Decision("deny", f"{name}: run the tests before you end"))
        if deny:
            return ScriptPart("gate", deny, path)
    if context := _find_obeyed_answer(
        dialect, event, Decision(context=f"{name}: the tests of this project are in tests/")
    ):
        return ScriptPart("context", context)
    return ScriptPart("observe", Answer(stderr=f"{name}: {event.native}\n"))


def _find_obeyed_answer(dialect: Dialect, event: Event, decision: Decision) -> Answer | None:
    """Find the simplest answer that the dialect's agent reads as this decision."""
    agent_wire = get_wire(dialect.id)
    spec = _find_spec(dialect, event.native)
    is_plain = spec.exits != "none" and not (spec.deny_answer or dialect.deny_answer)
    plain = Answer(stderr=f"{decision.reason}\n", exit_code=BLOCK)
    for answer in ([plain] if decision.reason and is_plain else []) + [
        write_answer(agent_wire, event, decision)[0]
    ]:
        result = RunResult("completed", answer.exit_code, answer.stdout, answer.stderr)
        blocking = spec.blocks != "observe"
        decided = read_answer(
            agent_wire, result, native=event.native, canonical=event.event, blocking=blocking
        )
        if (decided.verdict, decided.reason, decided.context) == (
            decision.verdict,
            decision.reason,
            decision.context,
        ):
            return answer
    return None


def _find_spec(dialect: Dialect, native: str) -> EventSpec:
    return next(spec for spec in dialect.events if spec.native == native)


def _encode_manifests(
    request: ScaffoldRequest, design: _HookDesign, layout: _HookLayout, text: str, root: Path
) -> tuple[list[ScaffoldFile], int, tuple[Finding, ...]]:
    """Encode the manifest: its files, the number of the new entry, and what the dialect cannot express."""
    dialect = design.dialect
    hook = Hook(
        design.event.event,
        Handler(command=layout.command),
        ()
        if design.terms and design.event.call is None and not has_field(dialect, "matcher")
        else design.terms,
        # A hook that can block there does so; otherwise it would be wrapped into a command that cannot.
        blocking=_find_spec(dialect, design.event.native).blocks != "observe",
        name=request.name if has_field(dialect, "name") else "",
        description=design.text if has_field(dialect, "description") else "",
        dialect=dialect.id,
    )
    scripts = {layout.command: {layout.script: text}}
    degraded = degrade(Manifest((hook,)), dialect, (layout.manifest,), scripts, bare=True)
    if not degraded.manifest.hooks:
        raise UsageError(f"{dialect.id} cannot express this hook: {degraded.findings[0].message}.")
    trees = dialect.shape.encode(dialect, degraded.manifest)
    fresh = {
        path: documents.dump(tree, pipeline.detect_dialect_kind(dialect, path))
        for path, tree in trees.items()
    }
    if dialect.shape.companions:
        # Its conventional script is ours, not a script that calls ours.
        manifests = [
            ScaffoldFile(layout.manifest, data)
            for path, data in fresh.items()
            if path.endswith(dialect.shape.file_name)
        ]
        return manifests, 0, degraded.findings
    pipeline.verify(dialect, fresh, degraded.manifest.hooks)
    if len(fresh) == 1 and "*" not in layout.manifest:
        fresh = dict(zip([layout.manifest], fresh.values(), strict=True))
    before = {path: (root / path).read_bytes() for path in fresh if (root / path).is_file()}
    if not before or "/*/" in _find_place(dialect):
        return [ScaffoldFile(path, data) for path, data in fresh.items()], 0, degraded.findings
    reading = pipeline.read(before, dialect)
    try:
        after = edit.encode(reading, (*reading.decoded.manifest.hooks, *degraded.manifest.hooks))
    except InternalError as error:
        problem = Problem(f"cannot add this hook: {error}", file=next(iter(before)))
        raise InputError(problem) from error
    added = [ScaffoldFile(path, data, before=before.get(path)) for path, data in after.items()]
    return added, _number_entry(after, dialect, layout.command), degraded.findings


def _number_entry(files: Mapping[str, bytes], dialect: Dialect, command: str) -> int:
    """The number of the entry among those of its event, as tests count them."""
    decoded = pipeline.read(files, dialect).decoded
    groups = [
        (place.path[:-2] if place.path[-2:-1] == ("hooks",) and len(place.path) > 3 else place.path, hook)
        for hook, place in zip(decoded.manifest.hooks, decoded.places, strict=True)
    ]
    path, entry = next(((path, hook) for path, hook in groups if hook.handler.command == command), ((), None))
    if entry is None or not path or not isinstance(path[-1], int):
        return 0
    listed = [(place, hook.event) for place, hook in groups if place[:-1] == path[:-1]]
    if {event for _, event in listed} == {entry.event}:
        return path[-1]
    # A list shared by events: only the entries of this event count.
    return [place for place, event in dict.fromkeys(listed) if event == entry.event].index(path)


def _list_facts(design: _HookDesign, layout: _HookLayout) -> dict[str, str]:
    event, part = design.event, design.part
    purpose = {
        "guard": f"It checks `{'.'.join(part.path)}` and, to stop the call, ",
        "gate": f"It checks `{'.'.join(part.path)}` and, to keep the agent working, ",
        "context": "To give the agent context, it ",
        "observe": "It decides nothing: it ",
    }[part.kind]
    stream = "prints JSON or text on stdout" if part.answer.stdout else "prints on stderr"
    return {
        "EVENT": event.native,
        "CANONICAL": event.event,
        "MEANING": EVENTS[event.event].meaning if event.event in EVENTS else "only there",
        "SCRIPT": layout.script,
        "TITLE": design.dialect.title,
        "ANSWERS": f"{purpose}{stream} and exits with code {part.answer.exit_code}.",
        "TESTS": layout.tests,
    }


def _make_tests(
    request: ScaffoldRequest, design: _HookDesign, layout: _HookLayout, index: int
) -> list[ScaffoldFile]:
    """Make two cases: one that the hook passes or handles, and one that it stops or cannot use."""
    name, part = request.name, design.part
    passing: dict[str, Tree] = {"decision": "none", "exit-code": 0}
    stopped = {"decision": "deny", "reason-contains": [name], "exit-code": part.answer.exit_code}
    good, bad = (
        _make_payload(design, design.subject.good, is_again=True),
        _make_payload(design, design.subject.bad, is_again=False),
    )
    rows = [("lets-pass", good, passing), ("stops", bad, stopped)]
    if part.kind in ("context", "observe"):
        field, texts = ("context-contains", [name]) if part.kind == "context" else ("stderr-contains", [name])
        odd = design.event.call and design.event.call.replace(input={})
        empty = design.event.replace(call=odd, session="", timestamp="")
        rows = [
            ("works", _make_payload(design, MARK, is_again=False), {**passing, field: texts}),
            ("survives-odd-input", write_event(design.wire, empty.replace(agent=""), empty.native), passing),
        ]
    config: dict[str, Tree] = {"version": 1, "timeout": 30}
    if Path(layout.manifest).parent != Path(layout.tests).parent:
        config["hooks"] = os.path.relpath(layout.manifest, layout.tests)
    files = [ScaffoldFile(f"{layout.tests}/test-config.json", documents.dump(config, "json"))]
    for title, payload, expected in rows:
        case = {
            "name": f"{name}-{title}",
            "event": design.event.native,
            "hook-index": index,
            "agents": _list_agents(design) if title == "lets-pass" else ["all"],
            "input": {"fixture": f"fixtures/{title}.json", "dialect": design.dialect.id},
            "expected": expected,
        }
        files.append(ScaffoldFile(f"{layout.tests}/fixtures/{title}.json", documents.dump(payload, "json")))
        files.append(ScaffoldFile(f"{layout.tests}/cases/{title}.yaml", documents.dump(case, "yaml")))
    return files


def _list_agents(design: _HookDesign) -> list[str]:
    """List the agents that send the field that lets a gate pass; `all` if every agent does."""
    if design.part.kind != "gate":
        return ["all"]
    event = Event(design.event.event, "", stop_active=True)
    telling = [agent for agent in list_agents() if find_path(write_event(get_wire(agent), event), value=True)]
    return ["all"] if telling == list(list_agents()) else telling


def _make_payload(design: _HookDesign, value: str, *, is_again: bool) -> dict[str, Tree]:
    """Make the payload that the script reads, with a value instead of the mark."""
    event, call = design.event.replace(agent="", stop_active=is_again), design.event.call
    if call is not None:
        fields = {key: value if text == MARK else text for key, text in call.input.items()}
        event = event.replace(call=call.replace(input=fields))
    if event.prompt:
        event = event.replace(prompt=value)
    return write_event(design.wire, event, event.native)
