"""One generated POSIX shell script per event, for hosts that run a file named after the event.

The hooks are in the script twice: as one comment line of JSON, which hookport reads, and as one call each,
which runs; a script in which the two differ is refused. Every value in a call is one single-quoted word and
nothing is evaluated. A script by somebody else is one hook: its file's name is the event, and it runs at its
own path.
"""

from __future__ import annotations

import json
import math
import re
import shlex
from datetime import timedelta
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from hookport.base.places import ends_at, split_place
from hookport.errors import Problem, suggest_closest
from hookport.findings import Finding, UnknownEvent
from hookport.model.hooks import NOTHING, Handler, Hook, Manifest
from hookport.model.tools import TOOLS
from hookport.shapes.dialect import (
    SECOND,
    DecodedManifest,
    Dialect,
    EventSpec,
    Place,
    RefusedError,
    Shape,
    Tree,
    find_event,
    find_variable,
    list_native_tools,
    list_tool_names,
)
from hookport.shapes.entries import bind, find_slots, write_entry
from hookport.shapes.module import MARK, read_data
from hookport.shapes.templates import fill, read_template
from hookport.shapes.terms import write_terms

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

DATA = "# hooks: "
CALL = "hook "
# The interpreter of a script without a shebang, by its extension (src: subprocess-runner.ts).
RUNNERS = {
    "": "bash",
    **dict.fromkeys((".sh", ".bash", ".zsh"), "bash"),
    **dict.fromkeys((".js", ".mjs", ".cjs"), "node"),
    **dict.fromkeys((".ts", ".mts", ".cts"), "bun run"),
    ".py": "python3",
    ".ps1": "pwsh -NoProfile -NonInteractive -File",
}
ON_WINDOWS = {".ps1": "powershell -NoProfile -NonInteractive -ExecutionPolicy Bypass -File"}


class Limits(NamedTuple):
    """How many seconds all hooks of one event may take together before the host stops waiting.

    A host of two runtimes has two limits; 0 is none. `tools` is for events about a tool, `others` for the
    rest, `strict` for the runtime that reports the file's own name as the event.
    """

    tools: int
    others: int
    strict: int


# The answer keys in it are those of the one host of this shape: cancel, errorMessage, contextModification
# (older: context) and overrideInput.
TEMPLATE = "script.sh"


def make_decoder(limits: Limits) -> Callable[[Dialect, Mapping[str, Tree]], DecodedManifest]:
    """Make the function that reads scripts: the hooks of a generated one; any other script is one hook."""

    def decode(dialect: Dialect, trees: Mapping[str, Tree]) -> DecodedManifest:
        hooks: list[tuple[Hook, Place]] = []
        findings: list[Finding] = []
        problems: list[Problem] = []
        for file, text in trees.items():
            if not isinstance(text, str):
                continue
            if is_generated(text):
                hooks += _read_generated(dialect, file, text, findings, problems)
            elif (spec := find_script_event(dialect, file)) is not None:
                hooks.append((_read_in_place(dialect, spec, file, text, limits), Place(file, ())))
        if problems:
            raise RefusedError(*problems)
        manifest = Manifest(tuple(hook for hook, _ in hooks))
        return DecodedManifest(manifest, tuple(place for _, place in hooks), tuple(findings))

    return decode


def _read_generated(
    dialect: Dialect, file: str, text: str, findings: list[Finding], problems: list[Problem]
) -> list[tuple[Hook, Place]]:
    """The hooks of a script that hookport generated."""
    native = _read_native(dialect, file)
    data = next((line for line in text.split("\n")[:6] if line.startswith(DATA)), "")
    try:
        entries = json.loads(data.removeprefix(DATA))
    except (ValueError, RecursionError):
        entries = None
    if not isinstance(entries, list):
        problems.append(Problem("the list of hooks is damaged; convert the source again", (), file))
        return []
    if find_event(dialect, native) is None:
        guess = suggest_closest(native, tuple(event.native for event in dialect.events))
        findings.append(
            UnknownEvent.at("", event=native, dialect=dialect.id, guess=guess)._replace(file=file)
        )
    read = [
        read_data(dialect, native, entry, Place(file, (number,)), problems)
        for number, entry in enumerate(entries)
    ]
    hooks = [(hook, Place(file, (number,))) for number, hook in enumerate(read) if hook]
    if len(hooks) == len(entries) and _write_calls(dialect, [hook for hook, _ in hooks]) not in text:
        problems.append(
            Problem("its calls differ from its list of hooks; convert the source again", (), file)
        )
    return hooks


def is_generated(text: str) -> bool:
    """Whether hookport generated a script."""
    return MARK in "\n".join(text.split("\n", 3)[:3])


def find_script_event(dialect: Dialect, file: str) -> EventSpec | None:
    """The event that runs a file of this name; None if the host never runs it."""
    path = PurePosixPath(file)
    specs = {spec.native.lower(): spec for spec in dialect.events}
    return specs.get(path.stem.lower()) if path.suffix.lower() in RUNNERS else None


def find_script_native(dialect: Dialect, file: str) -> str:
    """The event on which the host runs a file of that name; empty if it never does."""
    spec = find_script_event(dialect, file)
    return spec.native if spec else ""


def _read_in_place(dialect: Dialect, spec: EventSpec, file: str, text: str, limits: Limits) -> Hook:
    """The hook of a script as the host runs it, with the host's time limit."""
    script = _spell_script(dialect, file)
    ending = PurePosixPath(file).suffix.lower()
    runner = _read_shebang(text) or RUNNERS[ending]
    windows = f"{ON_WINDOWS[ending]} {script}" if ending in ON_WINDOWS else ""
    limit = limits.tools if spec.subject == "tool" else limits.others
    handler = Handler(
        command=f"{runner} {script}",
        platform={"windows": windows} if windows else NOTHING,
        timeout=timedelta(seconds=limit) if limit else None,
    )
    return bind(dialect, Hook("", handler, dialect=dialect.id), spec.native, spec, (), "")


def _spell_script(dialect: Dialect, file: str) -> str:
    """The script's path as a shell word: from the project's root or the user's home, by its location."""
    steps = PurePosixPath(file).parts
    for place in dialect.locations:
        if ends_at(steps, place.path):
            start = "~" if place.path.startswith("~/") else f'"{dialect.project_dir[0]}"'
            return f"{start}/{shlex.quote('/'.join(steps[-len(split_place(place.path)) :]))}"
    return shlex.quote(file) if file.startswith("/") else f'"{dialect.project_dir[0]}"/{shlex.quote(file)}'


def _read_shebang(text: str) -> str:
    """The interpreter from a script's first line, as shell words; empty if there is none."""
    first = text.partition("\n")[0]
    words = first[2:].split() if first.startswith("#!") else []
    if words and PurePosixPath(words[0]).name == "env":
        rest = words[2:] if words[1:2] == ["-S"] else words[1:]
        words = words if rest and rest[0].startswith("-") else rest
    return shlex.join(words)


def _read_native(dialect: Dialect, file: str) -> str:
    """The event that a generated script is named after; some hosts ignore case."""
    stem = PurePosixPath(file).name.partition(".")[0]
    name = re.sub(
        r"(?:%[0-9A-F]{2})+",
        lambda match: bytes.fromhex(match[0].replace("%", "")).decode("utf-8", "replace"),
        stem,
    )
    natives = {spec.native.lower(): spec.native for spec in dialect.events}
    return natives.get(name.lower(), name)


def _name_file(dialect: Dialect, native: str) -> str:
    """The path of an event's script; other than plain characters are escaped, so it stays in the folder."""
    name = re.sub(
        r"[^A-Za-z0-9_-]",
        lambda match: "".join(f"%{byte:02X}" for byte in match[0].encode("utf-8", "replace")),
        native,
    )
    return dialect.locations[0].path.replace("*", name or "%")


def make_script_shape(limits: Limits) -> Shape:
    """The shape for a host with these limits."""

    def encode(dialect: Dialect, manifest: Manifest) -> dict[str, Tree]:
        by_event: dict[str, tuple[EventSpec, list[Hook]]] = {}
        for hook in manifest.hooks:
            spec = find_slots(dialect, hook)[0][0]
            by_event.setdefault(spec.native, (spec, []))[1].append(hook)
        return {
            _name_file(dialect, native): _write_script(dialect, *rows, limits)
            for native, rows in by_event.items()
        }

    return Shape(make_decoder(limits), encode, in_place=find_script_native)


def _write_script(dialect: Dialect, spec: EventSpec, hooks: list[Hook], limits: Limits) -> str:
    before, _, after = json.dumps(dialect.deny_answer).partition('"{reason}"')
    values = {
        "MARK": MARK,
        "TITLE": re.sub(r"[^ -~]", "?", f"{dialect.title} runs this file on every {spec.native}."),
        "DATA": json.dumps([_write_data(dialect, hook) for hook in hooks], ensure_ascii=True),
        "BEFORE": quote_word(before),
        "AFTER": quote_word(after),
        "EVENT": quote_word(spec.native),
        "LIMIT": str(limits.tools if spec.subject == "tool" else limits.others),
        "STRICT": str(limits.strict),
        "ROOT": find_variable(dialect.project_dir[0]),
        "BUILTIN": " | ".join(_write_pattern(name) for name in list_native_tools(dialect)),
        "CALLS": _write_calls(dialect, hooks),
    }
    return fill(read_template(TEMPLATE), values)


def _write_data(dialect: Dialect, hook: Hook) -> dict[str, Tree]:
    matcher = {"matcher": write_terms(hook.matcher)} if hook.matcher else {}
    return {**matcher, **write_entry(dialect, hook)}


def _write_pattern(name: str) -> str:
    return f"{quote_word(name[:-1])}*" if name.endswith("*") else quote_word(name)


def _write_calls(dialect: Dialect, hooks: list[Hook]) -> str:
    return "\n".join(_write_call(dialect, hook) for hook in hooks)


def _write_call(dialect: Dialect, hook: Hook) -> str:
    handler = hook.handler
    default = dialect.handlers["command"].timeout.default
    timeout = handler.timeout if handler.timeout is not None else default
    seconds = math.ceil(timeout / SECOND) if timeout is not None else 0
    fails = (
        "closed" if handler.on_failure == "block" else "late" if handler.timeout_action == "block" else "open"
    )
    tools, reach = _find_reach(dialect, hook)
    words = [
        str(seconds),
        "blocks" if hook.blocking else "watches",
        fails,
        reach,
        quote_word(hook.name or handler.command.split("\n")[0][:60]),
        quote_word(handler.command),
        *(quote_word(json.dumps(tool, ensure_ascii=False)[1:-1]) for tool in tools),
    ]
    return CALL + " ".join(words)


def _find_reach(dialect: Dialect, hook: Hook) -> tuple[list[str], str]:
    """The names of a hook's tools, and whether it is for all tools, only these or others too."""
    if not hook.matcher or any(term.kind == "pattern" for term in hook.matcher):
        return [], "all"
    tools: list[str] = []
    for term in hook.matcher:
        if term.kind == "tool":
            tools += list_tool_names(dialect, term.value) if term.value in TOOLS else [term.value]
    return list(dict.fromkeys(tools)), "others" if any(
        term.kind == "mcp" for term in hook.matcher
    ) else "some"


def quote_word(text: str) -> str:
    """Quote a text as one shell word; text that no process can receive becomes a command that fails."""
    if "\0" in text or any("\ud800" <= char <= "\udfff" for char in text):
        return "'exit 126 # no process accepts this text'"
    return "'" + text.replace("'", "'\\''") + "'"
