"""How each format writes a scenario's hook: its own file, events, tools, payload and answers, all as data.

The data is independent of the dialects' tables, so these hooks are like those of people who know only the
format. A feature that a format lacks is data too: its hooks do not take part in such a scenario.
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
from typing import Literal, NamedTuple

from hookport.base.tree import Tree
from hookport.lab.scenario import ScenarioHook
from hookport.model.events import EVENTS

Scope = Literal["project", "user"]
NOTHING: Mapping[str, Tree] = MappingProxyType({})
# The MCP server's name in every agent.
SERVER = "lab"


class FormatPlace(NamedTuple):
    """The paths of a format's file and scripts, below the project or the home, and as commands name them."""

    file: str
    script: str
    command: str


class Format(NamedTuple):
    """One format, by its own documentation."""

    name: str
    title: str
    layout: Literal["list", "by-event", "folder", "sdk"]
    places: Mapping[str, FormatPlace]
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
    # What people of the format find in a transcript, in Python: of its `lines`, or of the SDK's `event`.
    transcript: Mapping[str, str] = NOTHING


class FormatFile(NamedTuple):
    """A file to write, by its path below the project or the home; a file starting with `#!` is executable."""

    path: str
    text: str


class LabWorld(NamedTuple):
    """The target of written hooks: the scope, the home, and the file that records each run."""

    scope: Scope
    home: Path
    records: Path


def list_names() -> tuple[str, ...]:
    """List every format; the format that others are written through comes first."""
    stems = sorted(
        path.name.removesuffix(".yaml")
        for path in files("hookport.lab").joinpath("formats").iterdir()
        if path.name.endswith(".yaml")
    )
    return tuple(sorted(stems, key=lambda name: get(name).layout != "list"))


@cache
def get(name: str) -> Format:
    """The format of that name."""
    import yaml

    tree = yaml.safe_load(files("hookport.lab").joinpath("formats", f"{name}.yaml").read_text("utf-8"))
    places = {scope: FormatPlace(**place) for scope, place in tree.pop("places").items()}
    return Format(name=name, places=places, **tree)


def explain_refusal(form: Format, hook: ScenarioHook) -> str:
    """Explain why a format cannot write a hook; empty if it can."""
    if hook.event == "*":
        return "" if form.layout == "list" else "one format is enough to show which events fire"
    if hook.event not in form.events:
        return f"it has no event for {hook.event}"
    requirements = {
        "timeout": bool(hook.timeout),
        "async": hook.is_async,
        "mcp": bool(hook.mcp),
        "content": bool(hook.content),
    }
    for word, is_wanted in requirements.items():
        if is_wanted and word in form.cannot:
            return form.cannot[word]
    for field in filter(None, (hook.says[0], hook.exists)):
        if field not in form.payload:
            return f"its payload has no {field}"
    if hook.reads[0] and not form.transcript:
        return "its payload has no transcript"
    answer = {"noise-deny-json": "deny-json", "rewrite-partial": "rewrite"}.get(hook.answer, hook.answer)
    if answer == "deny-nameless":
        named = "hookEventName" in str(form.answers.get("deny-json"))
        return "" if named and form.layout != "sdk" else "its answers do not name the event"
    if answer == "deny":
        answer = "deny-exit" if "deny-json" in form.cannot else "deny-json"
    return form.cannot.get(answer, "")


def make_files(form: Format, hooks: Sequence[ScenarioHook], world: LabWorld) -> list[FormatFile]:
    """Make the files of the hooks in a format."""
    place = form.places[world.scope]
    event_hooks = [event_hook for hook in hooks for event_hook in _split_by_event(hook)]
    scripts = [_make_script(form, hook, place, world) for hook in event_hooks]
    if form.layout == "folder":
        return scripts + [_make_folder_file(form, hook, place) for hook in event_hooks]
    listed = [_make_entry(form, hook, place, world) for hook in event_hooks]
    tree: dict[str, Tree] = {**form.beside, "hooks": listed}
    if form.layout == "by-event":
        grouped: dict[str, list[Tree]] = {}
        for hook, entry in zip(event_hooks, listed, strict=True):
            grouped.setdefault(_get_event_name(form, hook), []).append(entry)
        tree["hooks"] = grouped
    return [*scripts, FormatFile(place.file, json.dumps(tree, indent=2) + "\n")] if event_hooks else []


def _split_by_event(hook: ScenarioHook) -> list[ScenarioHook]:
    """Split a hook on every event into one for each."""
    if hook.event != "*":
        return [hook]
    return [hook._replace(name=f"{hook.name}-{event}", event=event) for event in EVENTS]


def _get_event_name(form: Format, hook: ScenarioHook) -> str:
    if hook.content and hook.tools[0] in form.content:
        return form.content[hook.tools[0]]
    return form.events.get(hook.event, hook.event)


def _make_matcher(form: Format, hook: ScenarioHook) -> Tree:
    """Make the matcher in the format's own names; None for everything."""
    if hook.content and hook.tools[0] in form.content:
        return hook.content
    terms: list[Tree] = [form.tools[tool] for tool in hook.tools]
    if hook.mcp:
        terms.append(_fill_tool_name(form.mcp, hook.mcp))
    if form.layout in ("list", "sdk"):
        return terms if len(terms) != 1 else terms[0]
    return "|".join(terms)


def _fill_tool_name(tree: Tree, tool: str) -> Tree:
    if isinstance(tree, str):
        return tree.format(server=SERVER, tool=tool)
    return {key: _fill_tool_name(value, tool) for key, value in tree.items()}


def _make_fields(form: Format, hook: ScenarioHook) -> dict[str, Tree]:
    """Make the fields beside the command that the format supports."""
    fields: dict[str, Tree] = {}
    if hook.timeout and "timeout" in form.fields:
        seconds = hook.timeout * form.fields["timeout"]["unit"]
        fields[form.fields["timeout"]["key"]] = int(seconds) if seconds == int(seconds) else seconds
    for word, is_wanted in (("async", hook.is_async), ("closed", hook.closed)):
        if is_wanted and word in form.fields:
            fields[form.fields[word]["key"]] = form.fields[word]["value"]
    return fields


def _make_entry(form: Format, hook: ScenarioHook, place: FormatPlace, world: LabWorld) -> dict[str, Tree]:
    words = {"hook": hook.name, "home": str(world.home), "python": shlex.quote(sys.executable)}
    command = place.command
    for word, value in words.items():
        command = command.replace(f"{{{word}}}", value)
    handler = {"type": "command", "command": command, **_make_fields(form, hook)}
    matcher = _make_matcher(form, hook)
    if form.layout == "by-event":
        return {**({"matcher": matcher} if matcher else {}), "hooks": [handler]}
    entry = {"name": hook.name, "event": _get_event_name(form, hook), "handler": handler}
    if matcher:
        entry["matcher"] = matcher
    return entry if hook.is_async else {**entry, "blocking": True}


def _make_folder_file(form: Format, hook: ScenarioHook, place: FormatPlace) -> FormatFile:
    matcher = {"tool": _make_matcher(form, hook)} if hook.tools else {}
    if hook.content:
        matcher["pattern"] = hook.content
    front = {
        "name": hook.name,
        "description": f"Plays the hook {hook.name}",
        "trigger": _get_event_name(form, hook),
        **({"matcher": matcher} if matcher else {}),
        **_make_fields(form, hook),
    }
    # JSON is YAML, and needs no library here.
    lines = [f"{key}: {json.dumps(value)}" for key, value in front.items()]
    text = "\n".join(["---", *lines, "---", "", f"# {hook.name}", ""])
    return FormatFile(place.file.format(hook=hook.name), text)


RECORD = """
def record(acts, payload):
    with open({records!r}, "a") as file:
        file.write(json.dumps({{"hook": {name!r}, "acts": acts, "stdin": payload}}) + "\\n")


def wait(seconds, witness):
    time.sleep(seconds)
    if witness and not os.path.exists(witness):
        open("waited-" + witness, "w").close()


def write(path, find):
    \"\"\"Write down what was found in a transcript; some agents write its end when a hook runs already.\"\"\"
    time.sleep(0.5)
    try:
        text = str(find())
    except Exception as error:
        text = f"nothing: {{type(error).__name__}}: {{error}}"
    with open(path, "w") as file:
        file.write(text)


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


def lines():
    with open(at({transcript!r}), encoding="utf-8") as file:
        return [json.loads(line) for line in file]


acts = payload.get({key!r}) == {event!r}
acts = acts and {text!r} in str(at({place!r}) or "")
acts = acts and {says}
acts = acts and {when}
record(acts, payload)
if not acts:
    sys.exit(0)
{reading}
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
        {reading}
        {answer}


run()
'''


def _make_script(form: Format, hook: ScenarioHook, place: FormatPlace, world: LabWorld) -> FormatFile:
    once = f"{world.records}.{hook.name}"
    record = RECORD.format(records=str(world.records), name=hook.name, once=once)
    subject, text = hook.when
    words = {
        "title": form.title,
        "name": hook.name,
        "record": record,
        "event": _get_event_name(form, hook),
        "text": text,
        "when": "first()" if hook.once else "True",
        "says": _make_condition(form, hook),
    }
    path = place.script.format(hook=hook.name)
    if form.layout == "sdk":
        matcher = _make_matcher(form, hook)
        terms = matcher if isinstance(matcher, list) else [matcher]
        matcher_text = "".join(f", {term!r}" for term in terms if term)
        code = SDK.format(
            subject=form.payload.get(subject, '""'),
            matcher=matcher_text,
            answer=_make_function_action(form, hook),
            reading=_make_reading(form, hook),
            **words,
        )
        return FormatFile(path, code)
    code = SCRIPT.format(
        key=form.payload["event"],
        place=form.payload.get(subject, ""),
        answer=_make_script_action(form, hook),
        reading=_make_reading(form, hook),
        transcript=form.payload.get("transcript", ""),
        **words,
    )
    return FormatFile(path, code)


# Answers that differ from another answer only in their printing, by that answer.
PLAIN = {"noise-deny-json": "deny-json", "deny-nameless": "deny-json", "rewrite-partial": "rewrite"}


def _make_condition(form: Format, hook: ScenarioHook) -> str:
    """Make the condition on fields of the payload, in Python."""
    lookup = "{}" if form.layout == "sdk" else "at({!r})"
    field, text = hook.says
    conditions = [f"{lookup.format(form.payload[field])} == {text!r}"] if field else []
    if hook.exists:
        conditions.append(f"os.path.exists({lookup.format(form.payload[hook.exists])} or '')")
    return " and ".join(conditions) or "True"


def _make_reading(form: Format, hook: ScenarioHook) -> str:
    """Make the statement that writes down what a hook finds in the transcript."""
    word, path = hook.reads
    return f"write({path!r}, lambda: {form.transcript[word]})" if word else "pass"


def _get_answer(form: Format, hook: ScenarioHook, word: str) -> Tree:
    return form.answers.get(f"{word}@{hook.event}", form.answers.get(word))


def _make_script_action(form: Format, hook: ScenarioHook) -> str:
    """Make the action of a script, with exit codes and JSON."""
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
    tree = _get_answer(form, hook, PLAIN.get(word, word))
    if word == "deny-nameless":
        nested = {key: value for key, value in tree["hookSpecificOutput"].items() if key != "hookEventName"}
        tree = {**tree, "hookSpecificOutput": nested}
    expression = repr(tree).replace("'$event'", repr(_get_event_name(form, hook)))
    expression = expression.replace("'$reason'", repr(hook.reason)).replace("'$context'", repr(hook.context))
    before, after = hook.change
    command, tool_input = form.payload["command"], form.payload["input"]
    changed = f"{{**at({tool_input!r}), 'command': at({command!r}).replace({before!r}, {after!r})}}"
    if word == "rewrite-partial":
        place = form.payload[hook.when[0]]
        changed = f"{{{place.rpartition('.')[2]!r}: at({place!r}).replace({before!r}, {after!r})}}"
    expression = expression.replace("'$input'", changed)
    answer = f"print(json.dumps({expression}))"
    return f'print("looking at the command ...")\n{answer}\nprint("done.")' if noisy else answer


def _make_function_action(form: Format, hook: ScenarioHook) -> str:
    """Make the action of a function of the SDK."""
    word = "deny-json" if hook.answer == "deny" else hook.answer
    if word == "none":
        return "return None"
    if word == "sleep":
        return f"wait({hook.seconds}, {hook.witness!r})"
    if word == "crash":
        return f"raise RuntimeError({hook.reason!r})"
    before, after = hook.change
    expression = str(_get_answer(form, hook, PLAIN.get(word, word)))
    if word == "rewrite-partial":
        expression = f"rewrite({hook.when[0]}=event.{hook.when[0]}.replace({before!r}, {after!r}))"
    expression = expression.replace("$reason", repr(hook.reason)).replace("$context", repr(hook.context))
    expression = expression.replace("$command", f"event.command.replace({before!r}, {after!r})")
    noise = 'print("looking at the command ...")\n        ' if word.startswith("noise-") else ""
    return f"{noise}return {expression}"
