"""How each format writes a scenario's hook: its own file, events, tools, payload and answers, all as data.

Nothing here comes from the dialects' tables, so that these hooks are what people write who know the format
alone. What a format cannot say is data too: its hooks then have no part in the scenario.
"""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from hookport.lab.scenario import Hook
from hookport.model.events import EVENTS

Tree = Any
Scope = Literal["project", "user"]
NOTHING: Mapping[str, Tree] = MappingProxyType({})
# The name that every agent knows the MCP server by.
SERVER = "lab"


class Place(NamedTuple):
    """Where a format's file and scripts are, below the project or the home, and how commands name those."""

    file: str
    script: str
    command: str


class Format(NamedTuple):
    """One format, as its own documentation tells people to write it."""

    name: str
    title: str
    layout: Literal["list", "by-event", "folder", "sdk"]
    places: Mapping[str, Place]
    events: Mapping[str, str]
    tools: Mapping[str, str]
    payload: Mapping[str, str]
    answers: Mapping[str, Tree]
    cannot: Mapping[str, str]
    beside: Mapping[str, Tree] = NOTHING
    fields: Mapping[str, Mapping[str, Tree]] = NOTHING
    # Native events whose matcher is a pattern on the input, by tool.
    content: Mapping[str, str] = NOTHING
    mcp: Tree = ""


class File(NamedTuple):
    """A file to write, by its path below the project or the home; one that begins with `#!` is executable."""

    path: str
    text: str


class World(NamedTuple):
    """Where hooks are written for: the scope, the home, and the file in which each run is told."""

    scope: Scope
    home: Path
    records: Path


def names() -> tuple[str, ...]:
    """Every format; the one that others are written through comes first."""
    found = sorted(
        path.name.removesuffix(".yaml")
        for path in files("hookport.lab").joinpath("formats").iterdir()
        if path.name.endswith(".yaml")
    )
    return tuple(sorted(found, key=lambda name: get(name).layout != "list"))


@cache
def get(name: str) -> Format:
    """The format of that name."""
    import yaml

    tree = yaml.safe_load(files("hookport.lab").joinpath("formats", f"{name}.yaml").read_text("utf-8"))
    places = {scope: Place(**place) for scope, place in tree.pop("places").items()}
    return Format(name=name, places=places, **tree)


def refusal(form: Format, hook: Hook) -> str:
    """Why a format has no part in a hook; empty where it can write it."""
    if hook.event == "*":
        return "" if form.layout == "list" else "one format is enough to see which events fire"
    if hook.event not in form.events:
        return f"it has no event for {hook.event}"
    wanted = {
        "timeout": bool(hook.timeout),
        "async": hook.is_async,
        "mcp": bool(hook.mcp),
        "content": bool(hook.content),
    }
    for word, is_wanted in wanted.items():
        if is_wanted and word in form.cannot:
            return form.cannot[word]
    for field in filter(None, (hook.says[0], hook.exists)):
        if field not in form.payload:
            return f"its payload has no {field}"
    answer = {"noise-deny-json": "deny-json", "rewrite-partial": "rewrite"}.get(hook.answer, hook.answer)
    if answer == "deny-nameless":
        named = "hookEventName" in str(form.answers.get("deny-json"))
        return "" if named and form.layout != "sdk" else "its answers do not name the event"
    if answer == "deny":
        answer = "deny-exit" if "deny-json" in form.cannot else "deny-json"
    return form.cannot.get(answer, "")


def write(form: Format, hooks: Sequence[Hook], world: World) -> list[File]:
    """The files of the hooks in a format."""
    place = form.places[world.scope]
    every = [one for hook in hooks for one in _each_event(hook)]
    found = [_script(form, hook, place, world) for hook in every]
    if form.layout == "folder":
        return found + [_folder(form, hook, place) for hook in every]
    listed = [_entry(form, hook, place, world) for hook in every]
    tree: dict[str, Tree] = {**form.beside, "hooks": listed}
    if form.layout == "by-event":
        grouped: dict[str, list[Tree]] = {}
        for hook, entry in zip(every, listed, strict=True):
            grouped.setdefault(_event(form, hook), []).append(entry)
        tree["hooks"] = grouped
    return [*found, File(place.file, json.dumps(tree, indent=2) + "\n")] if every else []


def _each_event(hook: Hook) -> list[Hook]:
    """One hook for each event, where it is on every one."""
    if hook.event != "*":
        return [hook]
    return [hook._replace(name=f"{hook.name}-{event}", event=event) for event in EVENTS]


def _event(form: Format, hook: Hook) -> str:
    if hook.content and hook.tools[0] in form.content:
        return form.content[hook.tools[0]]
    return form.events.get(hook.event, hook.event)


def _matcher(form: Format, hook: Hook) -> Tree:
    """The matcher in the format's own names; None for everything."""
    if hook.content and hook.tools[0] in form.content:
        return hook.content
    terms: list[Tree] = [form.tools[tool] for tool in hook.tools]
    if hook.mcp:
        terms.append(_named(form.mcp, hook.mcp))
    if form.layout in ("list", "sdk"):
        return terms if len(terms) != 1 else terms[0]
    return "|".join(terms)


def _named(tree: Tree, tool: str) -> Tree:
    if isinstance(tree, str):
        return tree.format(server=SERVER, tool=tool)
    return {key: _named(value, tool) for key, value in tree.items()}


def _fields(form: Format, hook: Hook) -> dict[str, Tree]:
    """The fields beside the command that the format has a word for."""
    found: dict[str, Tree] = {}
    if hook.timeout and "timeout" in form.fields:
        seconds = hook.timeout * form.fields["timeout"]["unit"]
        found[form.fields["timeout"]["key"]] = int(seconds) if seconds == int(seconds) else seconds
    for word, is_wanted in (("async", hook.is_async), ("closed", hook.closed)):
        if is_wanted and word in form.fields:
            found[form.fields[word]["key"]] = form.fields[word]["value"]
    return found


def _entry(form: Format, hook: Hook, place: Place, world: World) -> dict[str, Tree]:
    words = {"hook": hook.name, "home": str(world.home), "python": shlex.quote(sys.executable)}
    command = place.command
    for word, value in words.items():
        command = command.replace(f"{{{word}}}", value)
    handler = {"type": "command", "command": command, **_fields(form, hook)}
    matcher = _matcher(form, hook)
    if form.layout == "by-event":
        return {**({"matcher": matcher} if matcher else {}), "hooks": [handler]}
    entry = {"name": hook.name, "event": _event(form, hook), "handler": handler}
    if matcher:
        entry["matcher"] = matcher
    return entry if hook.is_async else {**entry, "blocking": True}


def _folder(form: Format, hook: Hook, place: Place) -> File:
    matcher = {"tool": _matcher(form, hook)} if hook.tools else {}
    if hook.content:
        matcher["pattern"] = hook.content
    front = {
        "name": hook.name,
        "description": f"Plays the hook {hook.name}",
        "trigger": _event(form, hook),
        **({"matcher": matcher} if matcher else {}),
        **_fields(form, hook),
    }
    # JSON is YAML, and needs no library here.
    lines = [f"{key}: {json.dumps(value)}" for key, value in front.items()]
    text = "\n".join(["---", *lines, "---", "", f"# {hook.name}", ""])
    return File(place.file.format(hook=hook.name), text)


RECORD = """
def record(acts, payload):
    with open({records!r}, "a") as file:
        file.write(json.dumps({{"hook": {name!r}, "acts": acts, "stdin": payload}}) + "\\n")


def wait(seconds, witness):
    time.sleep(seconds)
    if witness and not os.path.exists(witness):
        open("waited-" + witness, "w").close()


def first():
    \"\"\"Whether it is the first time.\"\"\"
    try:
        os.close(os.open({once!r}, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    return True

"""

SCRIPT = '''#!/usr/bin/env -S python3 -I -S
"""{title}: {name}"""
import json, os, sys, time
{record}
payload = json.load(sys.stdin)


def at(place):
    found = payload
    for key in place.split("."):
        found = found.get(key) if isinstance(found, dict) else None
    return found


acts = payload.get({key!r}) == {event!r}
acts = acts and {text!r} in str(at({place!r}) or "")
acts = acts and {says}
acts = acts and {when}
record(acts, payload)
if not acts:
    sys.exit(0)
{answer}
'''

SDK = '''"""The SDK: {name}"""
import json, os, sys, time

from hookport import allow, ask, context, deny, on, rewrite, run
{record}

@on({event!r}{matcher})
def hook(event):
    acts = {text!r} in ({subject} or "") and {says} and {when}
    record(acts, dict(event.raw))
    if acts:
        {answer}


run()
'''


def _script(form: Format, hook: Hook, place: Place, world: World) -> File:
    once = f"{world.records}.{hook.name}"
    record = RECORD.format(records=str(world.records), name=hook.name, once=once)
    subject, text = hook.when
    words = {
        "title": form.title,
        "name": hook.name,
        "record": record,
        "event": _event(form, hook),
        "text": text,
        "when": "first()" if hook.once else "True",
        "says": _says(form, hook),
    }
    path = place.script.format(hook=hook.name)
    if form.layout == "sdk":
        matcher = _matcher(form, hook)
        terms = matcher if isinstance(matcher, list) else [matcher]
        told = "".join(f", {term!r}" for term in terms if term)
        made = SDK.format(
            subject=form.payload.get(subject, '""'), matcher=told, answer=_python(form, hook), **words
        )
        return File(path, made)
    made = SCRIPT.format(
        key=form.payload["event"], place=form.payload.get(subject, ""), answer=_lines(form, hook), **words
    )
    return File(path, made)


# Answers that differ from another in how they are printed, by that other.
PLAIN = {"noise-deny-json": "deny-json", "deny-nameless": "deny-json", "rewrite-partial": "rewrite"}


def _says(form: Format, hook: Hook) -> str:
    """The condition on fields of the payload, in Python."""
    said = "{}" if form.layout == "sdk" else "at({!r})"
    field, text = hook.says
    wanted = [f"{said.format(form.payload[field])} == {text!r}"] if field else []
    if hook.exists:
        wanted.append(f"os.path.exists({said.format(form.payload[hook.exists])} or '')")
    return " and ".join(wanted) or "True"


def _answer(form: Format, hook: Hook, word: str) -> Tree:
    return form.answers.get(f"{word}@{hook.event}", form.answers.get(word))


def _lines(form: Format, hook: Hook) -> str:
    """What a script does when it acts, with exit codes and JSON."""
    word = hook.answer
    if word == "deny":
        word = "deny-exit" if "deny-json" in form.cannot else "deny-json"
    if word == "none":
        return "sys.exit(0)"
    if word == "sleep":
        return f"wait({hook.seconds}, {hook.witness!r})"
    if word == "crash":
        return f"raise RuntimeError({hook.reason!r})"
    if word == "deny-exit":
        return f"print({hook.reason!r}, file=sys.stderr)\nsys.exit(2)"
    noisy = word.startswith("noise-")
    tree = _answer(form, hook, PLAIN.get(word, word))
    if word == "deny-nameless":
        nested = {key: value for key, value in tree["hookSpecificOutput"].items() if key != "hookEventName"}
        tree = {**tree, "hookSpecificOutput": nested}
    said = repr(tree).replace("'$event'", repr(_event(form, hook)))
    said = said.replace("'$reason'", repr(hook.reason)).replace("'$context'", repr(hook.context))
    before, after = hook.change
    command, given = form.payload["command"], form.payload["input"]
    changed = f"{{**at({given!r}), 'command': at({command!r}).replace({before!r}, {after!r})}}"
    if word == "rewrite-partial":
        place = form.payload[hook.when[0]]
        changed = f"{{{place.rpartition('.')[2]!r}: at({place!r}).replace({before!r}, {after!r})}}"
    said = said.replace("'$input'", changed)
    answer = f"print(json.dumps({said}))"
    return f'print("looking at the command ...")\n{answer}\nprint("done.")' if noisy else answer


def _python(form: Format, hook: Hook) -> str:
    """What a function of the SDK does when it acts."""
    word = "deny-json" if hook.answer == "deny" else hook.answer
    if word == "none":
        return "return None"
    if word == "sleep":
        return f"wait({hook.seconds}, {hook.witness!r})"
    if word == "crash":
        return f"raise RuntimeError({hook.reason!r})"
    before, after = hook.change
    said = str(_answer(form, hook, PLAIN.get(word, word)))
    if word == "rewrite-partial":
        said = f"rewrite({hook.when[0]}=event.{hook.when[0]}.replace({before!r}, {after!r}))"
    said = said.replace("$reason", repr(hook.reason)).replace("$context", repr(hook.context))
    said = said.replace("$command", f"event.command.replace({before!r}, {after!r})")
    noise = 'print("looking at the command ...")\n        ' if word.startswith("noise-") else ""
    return f"{noise}return {said}"
