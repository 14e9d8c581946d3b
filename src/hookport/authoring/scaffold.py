"""A new hook that works: manifest, script, text and two tests, for any dialect that a project can hold.

Nothing here is written per dialect: the manifest is encoded from a canonical hook, and what the script reads
and answers follows from the dialect's wire.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from hookport import convert, edit, formats
from hookport.authoring.scripts import LANGUAGES, Part, fixture_path, script
from hookport.degrade import degrade
from hookport.dialects import Dialect, get, names
from hookport.dialects._wiring import wire
from hookport.errors import InputError, Problem, UsageError, closest
from hookport.findings import Finding
from hookport.model.events import EVENTS, about_tool
from hookport.model.hooks import Handler, Hook, Manifest, Term
from hookport.model.runs import Answer, Call, Decision, Event, RunResult
from hookport.model.tools import TOOLS
from hookport.wires.answers import read_answer, write_answer
from hookport.wires.events import fired_for, native_for, write_event
from hookport.wires.table import Wire

Tree = Any

# Of the case names of the universal format, which have 64 signs, some are for what the case is about.
NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
LONGEST_NAME = 48
DEFAULT_TOOL = "shell"
# By tool the field that a guard looks at, what it does not let pass, and something harmless.
SUBJECTS: Mapping[str, tuple[str, str, str]] = {
    "shell": ("command", "rm -rf", "ls -l"),
    "file_read": ("path", ".env", "readme.txt"),
    "file_write": ("path", ".env", "readme.txt"),
    "file_edit": ("path", ".env", "readme.txt"),
    "web_fetch": ("url", "http://", "https://example.com/"),
    "web_search": ("query", "password", "weather"),
}
MARK = "hookport-mark"
TEMPLATES = Path(__file__).parent / "templates"


class Request(NamedTuple):
    """What is asked for; the event is a canonical name or one of any dialect."""

    name: str
    event: str
    dialect: str = "universal"
    lang: str = "sh"
    matcher: str = ""


class Made(NamedTuple):
    """One file of the hook; `before` is what was there, where an entry was added to a file of the user's."""

    path: str
    data: bytes
    is_executable: bool = False
    before: bytes | None = None


class Scaffold(NamedTuple):
    """The files, by their paths in the project, and what is to be known of them."""

    files: tuple[Made, ...]
    tests: str
    findings: tuple[Finding, ...]


class _Layout(NamedTuple):
    """Where the files of a hook are: its manifest, script, tests and text, and the root of its package."""

    manifest: str
    script: str
    tests: str
    readme: str
    package: str = ""


class _Plan(NamedTuple):
    """What the hook does: its event in the dialect, what it looks for, and how it answers."""

    dialect: Dialect
    wire: Wire
    event: Event
    part: Part


def writable() -> tuple[str, ...]:
    """The dialects that a project can hold hooks in."""
    return tuple(name for name in names() if _place(get(name)))


def scaffold(request: Request, root: Path) -> Scaffold:
    """The files of a new hook for the project at `root`; nothing is written."""
    dialect = _checked(request)
    plan = _plan(request, dialect)
    layout = _layout(request, dialect)
    text = script(request.lang, plan.part, _description(request, plan))
    hook = _hook(request, plan, _command(dialect, layout))
    manifests, findings = _manifests(hook, plan, layout, root)
    index = _index(hook, dialect, manifests)
    readme = _filled("README.md.txt", _facts(request, plan, layout)).encode()
    files = list(manifests)
    if layout.readme == layout.manifest:
        files[0] = files[0]._replace(data=files[0].data.rstrip(b"\n") + b"\n\n" + readme)
    else:
        files.append(Made(layout.readme, f"# {request.name}\n\n".encode() + readme))
    files.append(Made(layout.script, text.encode(), is_executable=True))
    files += _tests(request, plan, layout, index)
    taken = [one.path for one in files if one.before is None and os.path.lexists(root / one.path)]
    if taken:
        raise InputError(*(Problem("is there already; choose another name", file=path) for path in taken))
    return Scaffold(tuple(files), layout.tests, findings)


def _checked(request: Request) -> Dialect:
    if not NAME.fullmatch(request.name) or len(request.name) > LONGEST_NAME:
        message = f"must be 1 to {LONGEST_NAME} of a-z, 0-9 and single - between them"
        raise UsageError(f"the name '{request.name}' cannot be used: it {message}.")
    if request.lang not in LANGUAGES:
        raise UsageError(f"unknown language '{request.lang}'. It is one of {', '.join(LANGUAGES)}.")
    dialect = get(request.dialect)
    if not _place(dialect):
        raise UsageError(
            f"{dialect.id} reads hooks from {dialect.locations[0].path} only, which is no file of a project. "
            "Write the hook in another dialect; `hookport sync` installs it there."
        )
    return dialect


def _place(dialect: Dialect) -> str:
    """Where a project has hooks of a dialect; a folder for each hook, if it can be, else the first place."""
    places = dialect.runs_from if dialect.kind == "format" else dialect.locations
    own = [place.path for place in places if place.scope == "project"]
    return next((path for path in own if "/*/" in path), own[0] if own else "")


def _layout(request: Request, dialect: Dialect) -> _Layout:
    place, ending = _place(dialect), LANGUAGES[request.lang]
    if "/*/" not in place:
        folder = f"hooks/{request.name}"
        return _Layout(place, f"{folder}/run.{ending}", f"{folder}/tests", f"{folder}/README.md")
    before, _, after = place.partition("*/")
    package = f"{before}{request.name}"
    manifest = f"{package}/{after}"
    if dialect.companions:
        return _Layout(manifest, f"{package}/scripts/run.{ending}", f"{package}/tests", manifest, package)
    folder = manifest.rpartition("/")[0]
    return _Layout(
        manifest,
        f"{folder}/scripts/{request.name}.{ending}",
        f"{folder}/tests",
        f"{package}/README.md",
        package,
    )


def _event(name: str, dialect: Dialect) -> str:
    """The canonical event that a name means: the dialect's own names first, then anyone's."""
    if name in EVENTS:
        return name
    for one in (dialect.id, *names()):
        if found := wire(one).events.get(name):
            return found
    known = (*EVENTS, *wire(dialect.id).events)
    raise UsageError(f"unknown event '{name}'.{closest(name, known)} `hookport matrix` lists them.")


def _terms(matcher: str, event: str, own: Wire) -> tuple[Term, ...]:
    """The alternatives of a matcher: tools by their canonical or native names, else a pattern."""
    if not matcher:
        return (Term("tool", DEFAULT_TOOL),) if about_tool(event) else ()
    words = [word.strip() for word in re.split(r"[|,]", matcher)]
    tools = [word if word in TOOLS else next(iter(own.tools.get(word, ())), "") for word in words]
    if about_tool(event) and all(tools):
        return tuple(Term("tool", tool) for tool in dict.fromkeys(tools))
    return (Term("pattern", matcher),)


def _plan(request: Request, dialect: Dialect) -> _Plan:
    canonical, own = _event(request.event, dialect), wire(dialect.id)
    terms = _terms(request.matcher, canonical, own)
    tool = next((term.value for term in terms if term.kind == "tool"), DEFAULT_TOOL)
    field, bad, good = SUBJECTS.get(tool, ("", "", ""))
    call = Call(tool, input={field: MARK} if field else {}) if about_tool(canonical) else None
    event = Event(canonical, dialect.id, session="s1", cwd="${PACKAGE_ROOT}", call=call, stop_active=True)
    event = event.replace(prompt=MARK if canonical == "before_prompt" else "")
    native = fired_for(own, event)
    if not native:
        lacking = dialect.lacks.get(canonical, "")
        why = f": {lacking}" if lacking else ""
        raise UsageError(f"{dialect.id} has no event like {canonical}{why}. Choose another --event or --dialect.")
    event = event.replace(native=native)
    if canonical == "before_prompt":
        bad, good = "password", "hello"
    payload = write_event(own, event.replace(agent=""), native)
    part = Part(request.name, bad, good)
    deny = _answer(own, event, Decision("deny", f"{request.name}: {_reason(canonical, bad)}"), dialect)
    if deny and bad and (path := fixture_path(payload, MARK)):
        return _Plan(dialect, own, event, part._replace(kind="guard", path=path, answer=deny))
    if deny and EVENTS_THAT_STOP(canonical) and (path := fixture_path(payload, True)):
        return _Plan(dialect, own, event, part._replace(kind="gate", path=path, answer=deny))
    context = _answer(own, event, Decision(context=f"{request.name}: tests live in tests/."), dialect)
    if context:
        return _Plan(dialect, own, event, part._replace(kind="context", answer=context))
    return _Plan(dialect, own, event, part._replace(kind="observe", answer=Answer(stderr=f"{request.name}: seen\n")))
