"""A new hook that works: manifest, script, text and two tests, for any dialect that a project can hold.

Nothing here is written per dialect: the manifest is encoded from a canonical hook, and what the script reads
and answers follows from the dialect's wire.
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
from hookport.errors import InputError, InternalError, Problem, UsageError, closest
from hookport.findings import Finding
from hookport.model.events import EVENTS, about_tool
from hookport.model.hooks import Handler, Hook, Manifest, Term
from hookport.model.runs import BLOCK, Answer, Call, Decision, Event, RunResult
from hookport.model.tools import TOOLS
from hookport.sdk.scripts import LANGUAGES, Part, filled, script, way_to
from hookport.shapes.dialect import EventSpec, has_field
from hookport.shapes.entries import find_slots
from hookport.wire.answers import read_answer, write_answer
from hookport.wire.events import find_fired_native, name_mcp_tool, name_tool, write_event
from hookport.wire.table import Wire

# A name is that of a folder, and the start of the names of cases, which have 64 signs at most.
NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
LONGEST_NAME = 40
PLACE = "${PACKAGE_ROOT}"
MARK = "hookport-mark"
DEFAULT_TOOL = "shell"


class Subject(NamedTuple):
    """What a guard of a tool looks at: the field, the word that it stops, a value with it and one without."""

    field: str
    word: str
    bad: str
    good: str
    also: Mapping[str, str] = {}


SUBJECTS: Mapping[str, Subject] = {
    "shell": Subject("command", "rm -rf", "rm -rf build", "ls -l"),
    "file_read": Subject("path", ".env", f"{PLACE}/.env", f"{PLACE}/notes.txt"),
    "file_write": Subject("path", ".env", f"{PLACE}/.env", f"{PLACE}/notes.txt", {"content": "a"}),
    "file_edit": Subject("path", ".env", f"{PLACE}/.env", f"{PLACE}/notes.txt", {"old": "a", "new": "b"}),
    "web_fetch": Subject("url", "http://", "http://example.com/", "https://example.com/"),
    "web_search": Subject("query", "password", "the password of the printer", "the weather"),
}
OF_MCP = Subject("text", "forbidden", "something forbidden", "something else")
PROMPT = Subject("", "password", "my password is hunter2", "hello")
NO_SUBJECT = Subject("", "", "", "")


class Request(NamedTuple):
    """What is asked for; the event is a canonical name or one of any dialect."""

    name: str
    event: str
    dialect: str
    lang: str = "sh"
    matcher: str = ""


class Made(NamedTuple):
    """One file of the hook; `before` is what was there, where an entry is added to a file of the user's."""

    path: str
    data: bytes
    is_executable: bool = False
    before: bytes | None = None


class Scaffold(NamedTuple):
    """The files, by their paths in the project, where its tests are, and what is to be known of it."""

    files: tuple[Made, ...]
    tests: str
    findings: tuple[Finding, ...]


class _Layout(NamedTuple):
    """Where the files of a hook are; `command` is how the manifest names the script."""

    manifest: str
    script: str
    tests: str
    readme: str
    command: str


class _Plan(NamedTuple):
    """What the hook is: its event and matcher in the dialect, what its script does, what tests show it."""

    dialect: Dialect
    wire: Wire
    event: Event
    terms: tuple[Term, ...]
    subject: Subject
    part: Part
    text: str


def writable() -> tuple[str, ...]:
    """The dialects that a project can hold hooks in."""
    return tuple(name for name in list_dialects() if _place(get(name)))


def usual() -> str:
    """The dialect that a hook is written in if nothing is said: one with a folder for each hook."""
    return next(name for name in writable() if get(name).companions)


def scaffold(request: Request, root: Path) -> Scaffold:
    """The files of a new hook for the project at `root`; nothing is written."""
    dialect = _checked(request)
    plan = _plan(request, dialect)
    layout = _layout(request, dialect)
    text = script(request.lang, plan.part, request.name, plan.text)
    manifests, index, findings = _manifests(request, plan, layout, text, root)
    layout = layout._replace(manifest=manifests[0].path)
    readme = filled("README.md", _facts(plan, layout))
    files = list(manifests)
    if layout.readme == layout.manifest:
        files[0] = files[0]._replace(data=files[0].data.rstrip() + b"\n\n" + readme.encode())
    else:
        files.append(Made(layout.readme, f"# {request.name}\n\n{plan.text}\n\n{readme}".encode()))
    files.append(Made(layout.script, text.encode(), is_executable=True))
    files += _tests(request, plan, layout, index)
    taken = [one.path for one in files if one.before is None and os.path.lexists(root / one.path)]
    if taken:
        more = f", and so are {len(taken) - 1} more of its files" if len(taken) > 1 else ""
        raise InputError(Problem(f"is there already{more}; choose another name", file=taken[0]))
    return Scaffold(tuple(files), layout.tests, findings)


def _checked(request: Request) -> Dialect:
    if not NAME.fullmatch(request.name) or len(request.name) > LONGEST_NAME:
        rule = f"1 to {LONGEST_NAME} of a-z and 0-9, with single - between them"
        raise UsageError(f"the name '{request.name}' cannot be used. A name is {rule}.")
    if request.lang not in LANGUAGES:
        raise UsageError(f"unknown language '{request.lang}'. There are {', '.join(LANGUAGES)}.")
    dialect = get(request.dialect)
    if not _place(dialect):
        raise UsageError(
            f"{dialect.id} reads hooks from {dialect.locations[0].path}, which is no file of a project. "
            "Write the hook in another dialect; `hookport sync` installs it there."
        )
    return dialect


def _place(dialect: Dialect) -> str:
    """Where a project has hooks of a dialect: in a folder for each, if there is such a place."""
    places = dialect.runs_from if dialect.kind == "format" else dialect.locations
    own = [place.path for place in places if place.scope == "project"]
    return next((path for path in own if "/*/" in path), own[0] if own else "")


def _layout(request: Request, dialect: Dialect) -> _Layout:
    place, ending = _place(dialect), LANGUAGES[request.lang]
    if "/*/" not in place:
        folder = f"hooks/{request.name}"
        path = f"{folder}/run.{ending}"
        root = dialect.project_dir[0] if dialect.project_dir else ""
        command = f'"{root}"/{path}' if root not in ("", ".") else f"./{path}"
        return _Layout(place, path, f"{folder}/tests", f"{folder}/README.md", command)
    before, _, after = place.partition("*/")
    package = f"{before}{request.name}"
    manifest = f"{package}/{after}"
    if dialect.companions:
        path = f"{package}/scripts/run.{ending}"
        return _Layout(manifest, path, f"{package}/tests", manifest, path)
    folder = after.rpartition("/")[0]
    path = f"{folder}/scripts/{request.name}.{ending}"
    # The folder of a project may have a blank in its name.
    command = f'"{dialect.package_dir[0]}"/{path}'
    return _Layout(
        manifest, f"{package}/{path}", f"{package}/{folder}/tests", f"{package}/README.md", command
    )


def _event(name: str, dialect: Dialect) -> str:
    """The canonical event that a name means: the dialect's own names first, then anyone's."""
    if name in EVENTS:
        return name
    for one in (dialect.id, *list_dialects()):
        if found := get_wire(one).events.get(name):
            return found
    known = (*EVENTS, *get_wire(dialect.id).events)
    raise UsageError(f"unknown event '{name}'.{closest(name, known)} `hookport matrix` lists them.")


def _terms(matcher: str, event: str, own: Wire) -> tuple[Term, ...]:
    """The alternatives of a matcher: tools by canonical or native names, `mcp:SERVER/TOOL`, a pattern."""
    if not matcher:
        return (Term("tool", DEFAULT_TOOL),) if about_tool(event) else ()
    if matcher.startswith("mcp:"):
        server, _, tool = matcher.removeprefix("mcp:").partition("/")
        return (Term("mcp", server, tool),)
    words = [word.strip() for word in re.split(r"[|,]", matcher)]
    tools = [word if word in TOOLS else next(iter(own.tools.get(word, ())), "") for word in words]
    if about_tool(event) and all(tools):
        return tuple(Term("tool", tool) for tool in dict.fromkeys(tools))
    return (Term("pattern", matcher),)


def _call(terms: tuple[Term, ...], own: Wire) -> tuple[Call, Subject]:
    """A call that a matcher fits, with the mark where a guard looks."""
    term = terms[0]
    if term.kind == "mcp":
        server, tool = term.value.replace("*", "server"), term.tool or "tool"
        return Call(
            native=name_mcp_tool(own, server, tool), server=server, mcp_tool=tool, input={"text": MARK}
        ), OF_MCP
    if term.kind == "pattern":
        fits = [tool for tool in TOOLS if _fits(term.value, tool, own)]
        if not fits:
            raise UsageError(
                f"the matcher '{term.value}' fits no tool of {own.id}. Tools: {', '.join(TOOLS)}."
            )
        term = Term("tool", next((tool for tool in fits if tool in SUBJECTS), fits[0]))
    subject = SUBJECTS.get(term.value, NO_SUBJECT)
    return Call(term.value, input={**subject.also, subject.field: MARK} if subject.field else {}), subject


def _fits(pattern: str, tool: str, own: Wire) -> bool:
    try:
        return any(re.search(pattern, name) for name in (tool, name_tool(own, Call(tool))))
    except re.error as error:
        raise UsageError(f"the matcher '{pattern}' is no regular expression: {error}.") from None


def _plan(request: Request, dialect: Dialect) -> _Plan:
    canonical, own = _event(request.event, dialect), get_wire(dialect.id)
    terms = _terms(request.matcher, canonical, own)
    call, subject = _call(terms, own) if about_tool(canonical) else (None, NO_SUBJECT)
    event = Event(canonical, dialect.id, session="s1", cwd=PLACE, timestamp="2026-01-01T00:00:00Z", call=call)
    if canonical == "before_prompt":
        event, subject = event.replace(prompt=MARK), PROMPT
    elif not about_tool(canonical) and request.matcher:
        event = event.replace(source=request.matcher)
    native = find_fired_native(own, event)
    if not native:
        why = f": {dialect.lacks[canonical]}" if dialect.lacks.get(canonical) else ""
        raise UsageError(
            f"{dialect.id} has no event like {canonical}{why}. Use another --event or --dialect."
        )
    event = event.replace(native=_written(dialect, canonical, terms, native))
    part = _part(request.name, event, subject, dialect)
    text = {
        "guard": f"Stops {_about(event)} with '{subject.word}' in it.",
        "gate": "Sends the agent back to work once before it ends.",
        "context": "Tells the agent what it has to know.",
        "observe": f"Looks on: {EVENTS[canonical].meaning if canonical in EVENTS else native}.",
    }[part.kind]
    return _Plan(dialect, own, event, terms, subject, part, text)


def _written(dialect: Dialect, event: str, terms: tuple[Term, ...], usual_name: str) -> str:
    """The native event that such a hook is written for, which need not be the one that is fired first."""
    found = [spec.native for spec, _ in find_slots(dialect, Hook(event, Handler(), terms, blocking=True))]
    return usual_name if usual_name in found or not found else found[0]


def _about(event: Event) -> str:
    call = event.call
    return "a prompt" if call is None else f"a call of {call.tool or call.mcp_tool}"


def _part(name: str, event: Event, subject: Subject, dialect: Dialect) -> Part:
    """The most that a hook can do here: stop something, send back to work, tell, or look on."""
    own = get_wire(dialect.id)
    shown = write_event(own, event.replace(agent="", stop_active=True), event.native)
    if subject.word and (path := way_to(shown, MARK)):
        deny = _obeyed(dialect, event, Decision("deny", f"{name}: {subject.word} is not allowed here"))
        if deny:
            return Part("guard", deny, path, subject.word)
    if event.event in ("agent_stop", "subagent_stop") and (path := way_to(shown, value=True)):
        deny = _obeyed(dialect, event, Decision("deny", f"{name}: run the tests before you end"))
        if deny:
            return Part("gate", deny, path)
    if told := _obeyed(dialect, event, Decision(context=f"{name}: the tests of this project are in tests/")):
        return Part("context", told)
    return Part("observe", Answer(stderr=f"{name}: {event.native}\n"))


def _obeyed(dialect: Dialect, event: Event, decision: Decision) -> Answer | None:
    """An answer that says just this to the dialect's agent; the plainest one that does."""
    own = get_wire(dialect.id)
    spec = _spec(dialect, event.native)
    is_plain = spec.exit_blocks and not (spec.deny_answer or dialect.deny_answer)
    plain = Answer(stderr=f"{decision.reason}\n", exit_code=BLOCK)
    for answer in ([plain] if decision.reason and is_plain else []) + [write_answer(own, event, decision)[0]]:
        result = RunResult("completed", answer.exit_code, answer.stdout, answer.stderr)
        blocking = spec.blocks != "observe"
        heard = read_answer(own, result, native=event.native, canonical=event.event, blocking=blocking)
        if (heard.verdict, heard.reason, heard.context) == (
            decision.verdict,
            decision.reason,
            decision.context,
        ):
            return answer
    return None


def _spec(dialect: Dialect, native: str) -> EventSpec:
    return next(spec for spec in dialect.events if spec.native == native)


def _manifests(
    request: Request, plan: _Plan, layout: _Layout, text: str, root: Path
) -> tuple[list[Made], int, tuple[Finding, ...]]:
    """The files that say the hook, the number of its entry, and what the dialect cannot say of it."""
    dialect = plan.dialect
    hook = Hook(
        plan.event.event,
        Handler(command=layout.command),
        () if plan.terms and plan.event.call is None and not has_field(dialect, "matcher") else plan.terms,
        # One that can block there does: it would be wrapped into a command that cannot.
        blocking=_spec(dialect, plan.event.native).blocks != "observe",
        name=request.name if has_field(dialect, "name") else "",
        description=plan.text if has_field(dialect, "description") else "",
        dialect=dialect.id,
    )
    scripts = {layout.command: {layout.script: text}}
    left = degrade(Manifest((hook,)), dialect, (layout.manifest,), scripts, bare=True)
    if not left.manifest.hooks:
        raise UsageError(f"{dialect.id} cannot say this hook: {left.findings[0].message}.")
    trees = dialect.shape.encode(dialect, left.manifest)
    fresh = {
        path: documents.dump(tree, pipeline.detect_dialect_kind(dialect, path))
        for path, tree in trees.items()
    }
    if dialect.companions:
        # The script that it has by convention is ours, not one that calls ours.
        own = [
            Made(layout.manifest, data) for path, data in fresh.items() if path.endswith(dialect.file_name)
        ]
        return own, 0, left.findings
    pipeline.verify(dialect, fresh, left.manifest.hooks)
    if len(fresh) == 1 and "*" not in layout.manifest:
        fresh = dict(zip([layout.manifest], fresh.values(), strict=True))
    before = {path: (root / path).read_bytes() for path in fresh if (root / path).is_file()}
    if not before or "/*/" in _place(dialect):
        return [Made(path, data) for path, data in fresh.items()], 0, left.findings
    reading = pipeline.read(before, dialect)
    try:
        after = edit.encode(reading, (*reading.decoded.manifest.hooks, *left.manifest.hooks))
    except InternalError as error:
        problem = Problem(f"this hook cannot be added to it: {error}", file=next(iter(before)))
        raise InputError(problem) from error
    made = [Made(path, data, before=before.get(path)) for path, data in after.items()]
    return made, _number(after, dialect, layout.command), left.findings


def _number(files: Mapping[str, bytes], dialect: Dialect, command: str) -> int:
    """The number of the entry among those of its event, as tests count them."""
    decoded = pipeline.read(files, dialect).decoded
    groups = [
        (place.path[:-2] if place.path[-2:-1] == ("hooks",) and len(place.path) > 3 else place.path, hook)
        for hook, place in zip(decoded.manifest.hooks, decoded.places, strict=True)
    ]
    path, own = next(((path, one) for path, one in groups if one.handler.command == command), ((), None))
    if own is None or not path or not isinstance(path[-1], int):
        return 0
    listed = [(other, one.event) for other, one in groups if other[:-1] == path[:-1]]
    if {event for _, event in listed} == {own.event}:
        return path[-1]
    # A list that events share: only those of this event count.
    return [other for other, event in dict.fromkeys(listed) if event == own.event].index(path)


def _facts(plan: _Plan, layout: _Layout) -> dict[str, str]:
    event, part = plan.event, plan.part
    said = {
        "guard": f"It looks at `{'.'.join(part.path)}` and, to stop the call, ",
        "gate": f"It looks at `{'.'.join(part.path)}` and, to keep the agent working, ",
        "context": "To tell the agent something, it ",
        "observe": "It decides nothing: it ",
    }[part.kind]
    stream = "prints JSON or text on stdout" if part.answer.stdout else "prints on stderr"
    return {
        "EVENT": event.native,
        "CANONICAL": event.event,
        "MEANING": EVENTS[event.event].meaning if event.event in EVENTS else "only there",
        "SCRIPT": layout.script,
        "TITLE": plan.dialect.title,
        "ANSWERS": f"{said}{stream} and ends with exit code {part.answer.exit_code}.",
        "TESTS": layout.tests,
    }


def _tests(request: Request, plan: _Plan, layout: _Layout, index: int) -> list[Made]:
    """A case that the hook lets pass or works on, and one with what it is there to stop or cannot use."""
    name, part = request.name, plan.part
    passing: dict[str, Tree] = {"decision": "none", "exit-code": 0}
    stopped = {"decision": "deny", "reason-contains": [name], "exit-code": part.answer.exit_code}
    good, bad = _shown(plan, plan.subject.good, is_again=True), _shown(plan, plan.subject.bad, is_again=False)
    rows = [("lets-pass", good, passing), ("stops", bad, stopped)]
    if part.kind in ("context", "observe"):
        field, told = ("context-contains", [name]) if part.kind == "context" else ("stderr-contains", [name])
        odd = plan.event.call and plan.event.call.replace(input={})
        empty = plan.event.replace(call=odd, session="", timestamp="")
        rows = [
            ("works", _shown(plan, MARK, is_again=False), {**passing, field: told}),
            ("survives-odd-input", write_event(plan.wire, empty.replace(agent=""), empty.native), passing),
        ]
    config: dict[str, Tree] = {"version": 1, "timeout": 30}
    if Path(layout.manifest).parent != Path(layout.tests).parent:
        config["hooks"] = os.path.relpath(layout.manifest, layout.tests)
    files = [Made(f"{layout.tests}/test-config.json", documents.dump(config, "json"))]
    for what, payload, expected in rows:
        case = {
            "name": f"{name}-{what}",
            "event": plan.event.native,
            "hook-index": index,
            "agents": _agents(plan) if what == "lets-pass" else ["all"],
            "input": {"fixture": f"fixtures/{what}.json", "dialect": plan.dialect.id},
            "expected": expected,
        }
        files.append(Made(f"{layout.tests}/fixtures/{what}.json", documents.dump(payload, "json")))
        files.append(Made(f"{layout.tests}/cases/{what}.yaml", documents.dump(case, "yaml")))
    return files


def _agents(plan: _Plan) -> list[str]:
    """The agents that tell what the script lets something pass by; all, if they all do."""
    if plan.part.kind != "gate":
        return ["all"]
    event = Event(plan.event.event, "", stop_active=True)
    told = [one for one in list_agents() if way_to(write_event(get_wire(one), event), value=True)]
    return ["all"] if told == list(list_agents()) else told


def _shown(plan: _Plan, value: str, *, is_again: bool) -> dict[str, Tree]:
    """The payload that the script reads, with a value in the place of the mark."""
    event, call = plan.event.replace(agent="", stop_active=is_again), plan.event.call
    if call is not None:
        given = {key: value if text == MARK else text for key, text in call.input.items()}
        event = event.replace(call=call.replace(input=given))
    if event.prompt:
        event = event.replace(prompt=value)
    return write_event(plan.wire, event, event.native)
