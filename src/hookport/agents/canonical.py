"""The Hook Interchange Format 1.0: the manifest every other dialect is converted through."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hookport.errors import Problem, spell_path, suggest_closest
from hookport.findings import DraftSpec, Finding, UnknownDegradation, UnknownEvent, UnknownTool
from hookport.model.events import EVENTS, is_about_tool, join_native, split_native
from hookport.model.hooks import (
    CAPABILITIES,
    DEFAULT_TIMEOUT,
    DRAFT_SPEC,
    NOTHING,
    SPEC,
    STRATEGIES,
    Hook,
    Manifest,
)
from hookport.model.tools import TOOLS
from hookport.shapes.canonical_answer import ANSWER, READ
from hookport.shapes.dialect import (
    SECOND,
    DecodedManifest,
    Dialect,
    EventSpec,
    Field,
    HandlerSpec,
    Location,
    Matching,
    Path,
    Place,
    RefusedError,
    Shape,
    Timeout,
    ToolName,
    Tree,
)
from hookport.shapes.entries import find_type_problem, get_manifest_data, name_kind, read_entry, write_entry
from hookport.shapes.matchers import normalise_terms
from hookport.shapes.terms import read_terms, write_terms
from hookport.wire.events import FACTS
from hookport.wire.table import Wire

SOURCES = {
    "spec": "Hook Interchange Format Specification 1.0.0-draft",
    "draft": "Hook Interchange Format Specification 0.1.0, the public draft",
    "own": "hookport's own data for dialects that express more than the format",
}

# What the format has no field for is kept under this name in `provider_data`.
OWN_KEY = "hookport"
OWN_ATTRS = ("description", "content", "condition", "priority", "metadata", "enabled", "dialect")

ENDINGS = ("json", "yaml", "yml")

_HOOK_KEYS = (
    "name",
    "event",
    "matcher",
    "handler",
    "blocking",
    "degradation",
    "provider_data",
    "capabilities",
)


# The wire: the canonical event, with the names of the manifest's own fields, which the specification leaves
# open.

KEYS = {
    "event": "event",
    "session": "session_id",
    "cwd": "cwd",
    "root": "project_root",
    "timestamp": "timestamp",
    "tool": "tool_name",
    "input": "tool_input",
    "call_id": "tool_call_id",
    # As a matcher says it; the name of an MCP tool is the agent's own, and each has other rules for it.
    "server": "mcp.server",
    "mcp_tool": "mcp.tool",
    "result": "tool_result",
    "error": "tool_error",
    "prompt": "prompt",
    "final_message": "final_message",
    "stop_active": "stop_active",
    "source": "source",
    "subagent": "subagent",
    **{name: name for name in FACTS},
    "transcript": "transcript_path",
    "agent_transcript": "agent_transcript_path",
    "turn": "turn_id",
    "parent_agent": "parent_agent_id",
    "parent_session": "parent_session_id",
    "session_ms": "session_duration_ms",
    "file": "file_path",
}

# The canonical transcript, which the specification leaves open: one entry a line, in canonical names.
TRANSCRIPT = {
    "form": "entries",
    "of": "hookport",
    "named": ("transcripts/*/*.jsonl",),
    "time": "^time",
    "records": (
        {"where": {"kind": "user"}, "rows": ({"kind": "user", "text": "text"},)},
        {
            "where": {"kind": "assistant"},
            "rows": ({"kind": "assistant", "text": "text", "id": "id", "model": "model"},),
        },
        {
            "where": {"kind": "call"},
            "rows": (
                {"kind": "call", "id": "id", "name": "tool", "input": "input", "message": "message_id"},
            ),
        },
        {
            "where": {"kind": "result"},
            "rows": ({"kind": "result", "id": "id", "text": "text", "failed": ["is_error"]},),
        },
    ),
    "writes": {
        "user": {"kind": "user", "text": "$text", "time": "$time"},
        "assistant": {
            "kind": "assistant",
            "text": "$text",
            "id": "$message",
            "model": "$model",
            "usage": "$usage",
            "time": "$time",
        },
        "call": {
            "kind": "call",
            "tool": "$name",
            "input": "$input",
            "id": "$id",
            "message_id": "$message",
            "time": "$time",
        },
        "result": {"kind": "result", "text": "$text", "is_error": "$failed", "id": "$id", "time": "$time"},
    },
}

WIRE = Wire(
    keys=KEYS,
    transcript=(TRANSCRIPT,),
    inputs={"edits": {}},
    answers={"*": ANSWER},
    reads={"*": READ},
    starts_in="root",
    marks=("event", "project_root"),
)


def decode(dialect: Dialect, trees: Mapping[str, Tree]) -> DecodedManifest:
    """The manifests of all files, joined."""
    hooks: list[tuple[Hook, Place]] = []
    findings: list[Finding] = []
    problems: list[Problem] = []
    data: dict[str, Tree] = {}
    for file, tree in trees.items():
        faults: list[Problem] = []
        if not isinstance(tree, Mapping):
            faults.append(Problem(f"a manifest must be an object, not {name_kind(tree)}"))
        else:
            _read_spec(tree, file, findings, faults)
            data.update({key: value for key, value in tree.items() if key not in ("spec", "hooks")})
            entries = tree.get("hooks")
            if not isinstance(entries, list):
                missing = "hooks" not in tree
                faults.append(
                    Problem(
                        "'hooks' is missing" if missing else f"must be a list, not {name_kind(entries)}",
                        () if missing else ("hooks",),
                    )
                )
            elif not entries:
                faults.append(Problem("must not be empty; a manifest without hooks does nothing", ("hooks",)))
            for number, entry in enumerate(entries if isinstance(entries, list) else []):
                hook = _read_hook(dialect, entry, ("hooks", number), findings, faults)
                if hook:
                    hooks.append((hook, Place(file, ("hooks", number))))
        problems += [problem._replace(file=file) for problem in faults]
    if problems:
        raise RefusedError(*problems)
    manifest = Manifest(tuple(hook for hook, _ in hooks), {dialect.id: data} if data else NOTHING)
    return DecodedManifest(manifest, tuple(place for _, place in hooks), tuple(findings))


def _read_spec(tree: Mapping[str, Tree], file: str, findings: list[Finding], problems: list[Problem]) -> None:
    spec = tree.get("spec")
    if spec == DRAFT_SPEC:
        findings.append(DraftSpec.at("spec", spec=SPEC, found=spec)._replace(file=file))
    elif spec is None:
        problems.append(Problem(f'\'spec\' is missing; write "spec": "{SPEC}"'))
    elif spec != SPEC:
        problems.append(Problem(f'must be "{SPEC}", not {spec!r}', ("spec",)))


def _read_hook(
    dialect: Dialect, entry: Tree, path: Path, findings: list[Finding], problems: list[Problem]
) -> Hook | None:
    if not isinstance(entry, Mapping):
        problems.append(Problem(f"a hook must be an object, not {name_kind(entry)}", path))
        return None
    before = len(problems)
    problems += _find_hook_problems(entry, path)
    matcher = read_terms(entry["matcher"], (*path, "matcher"), problems) if "matcher" in entry else ()
    hook = _read_handler(dialect, entry.get("handler"), (*path, "handler"), problems)
    if hook is None or len(problems) > before:
        return None
    event: str = entry["event"]
    provider_data = entry.get("provider_data", {})
    handler_extra = hook.provider_data.get(dialect.id, NOTHING)
    extra = {key: value for key, value in entry.items() if key not in _HOOK_KEYS}
    if handler_extra:
        extra["handler"] = handler_extra
    own_values, provider_data = _split_own_values(provider_data)
    if extra:
        provider_data[dialect.id] = extra
    if event not in EVENTS and not split_native(event):
        guess = suggest_closest(event, tuple(EVENTS))
        findings.append(
            UnknownEvent.at(spell_path((*path, "event")), event=event, dialect=dialect.id, guess=guess)
        )
        event = join_native(dialect.id, event)
    findings += [
        UnknownTool.at(
            spell_path((*path, "matcher")), tool=term.value, guess=suggest_closest(term.value, tuple(TOOLS))
        )
        for term in matcher
        if term.kind == "tool" and term.value not in TOOLS and is_about_tool(event)
    ]
    findings += _find_unknown_degradation(entry.get("degradation") or {}, path)
    return hook._replace(
        event=event,
        matcher=normalise_terms(matcher),
        blocking=entry.get("blocking", False),
        name=entry.get("name", ""),
        degradation=entry.get("degradation") or NOTHING,
        capabilities=tuple(entry.get("capabilities", ())),
        provider_data=provider_data or NOTHING,
        **{"dialect": dialect.id, **own_values},
    )


def _find_hook_problems(entry: Mapping[str, Tree], path: Path) -> list[Problem]:
    """The problems of an entry outside its matcher and handler."""
    problems = [
        Problem(f"'{key}' is missing", path) for key in ("event", "handler") if entry.get(key) is None
    ]
    event, handler = entry.get("event"), entry.get("handler")
    if event is not None and (not isinstance(event, str) or not event or event.endswith(":")):
        word = "empty" if event == "" else f"'{event}'" if isinstance(event, str) else name_kind(event)
        problems.append(Problem(f"must be the name of an event, not {word}", (*path, "event")))
    if handler is not None and not isinstance(handler, Mapping):
        problems.append(Problem(f"must be an object, not {name_kind(handler)}", (*path, "handler")))
    for key in ("name", "blocking", "degradation", "capabilities"):
        wrong = find_type_problem(key, entry[key], (*path, key)) if key in entry else None
        problems += [wrong] if wrong else []
    data = entry.get("provider_data", {})
    if not isinstance(data, Mapping) or not all(isinstance(value, Mapping) for value in data.values()):
        problems.append(Problem("must map the name of a dialect to an object", (*path, "provider_data")))
    if isinstance(entry.get("degradation"), Mapping):
        _check_degradation(entry["degradation"], (*path, "degradation"), problems)
    return problems


def _read_handler(dialect: Dialect, handler: Tree, path: Path, problems: list[Problem]) -> Hook | None:
    if not isinstance(handler, Mapping):
        return None
    if not isinstance(handler.get("platform", {}), Mapping):
        wrong = f"must be an object, not {name_kind(handler['platform'])}"
        problems.append(Problem(wrong, (*path, "platform")))
    faults: list[Problem] = []
    hook = read_entry(dialect, _flatten_draft(handler), path, (), faults)
    # The platform commands were read as fields; a problem is reported at their own path.
    steps = [tuple(part for step in problem.path for part in _split_step(step)) for problem in faults]
    problems += [problem._replace(path=at) for problem, at in zip(faults, steps, strict=True)]
    return hook


def _split_step(step: str | int) -> list[str | int]:
    return list(step.split(".")) if isinstance(step, str) and step.startswith("platform.") else [step]


def _flatten_draft(handler: Mapping[str, Tree]) -> dict[str, Tree]:
    """The handler with the draft's `darwin` named `osx` and the platform commands as fields."""
    platform = handler.get("platform")
    if not isinstance(platform, Mapping):
        return dict(handler)
    names = {"darwin": "osx"}
    flat = {f"platform.{names.get(key, key)}": value for key, value in platform.items()}
    return {**{key: value for key, value in handler.items() if key != "platform"}, **flat}


def _split_own_values(provider_data: Mapping[str, Tree]) -> tuple[dict[str, Any], dict[str, Tree]]:
    data = provider_data.get(OWN_KEY, NOTHING)
    values = {key: data[key] for key in OWN_ATTRS if key in data}
    rest = {key: value for key, value in provider_data.items() if key != OWN_KEY}
    return values, rest


def _check_degradation(degradation: Mapping[str, Tree], path: Path, problems: list[Problem]) -> None:
    for capability, strategy in degradation.items():
        if not isinstance(strategy, str):
            problems.append(Problem(f"must be a string, not {name_kind(strategy)}", (*path, capability)))


def _find_unknown_degradation(degradation: Mapping[str, str], path: Path) -> Iterator[Finding]:
    """Report names that the format does not define; a later version may, so they do not refuse a guard."""
    for capability, strategy in degradation.items():
        for kind, word, words in (
            ("capability", capability, tuple(CAPABILITIES)),
            ("strategy", strategy, STRATEGIES),
        ):
            if word not in words:
                place = spell_path((*path, "degradation", capability))
                yield UnknownDegradation.at(place, what=kind, word=word, guess=suggest_closest(word, words))


def encode(dialect: Dialect, manifest: Manifest) -> dict[str, Tree]:
    """The manifest as one file."""
    hooks = [_write_hook(dialect, hook) for hook in manifest.hooks]
    return {dialect.locations[0].path: {"spec": SPEC, **get_manifest_data(dialect, manifest), "hooks": hooks}}


def _write_hook(dialect: Dialect, hook: Hook) -> dict[str, Tree]:
    native = split_native(hook.event)
    event = native[1] if native and native[0] == dialect.id else hook.event
    entry: dict[str, Tree] = {"name": hook.name} if hook.name else {}
    entry["event"] = event
    if hook.matcher:
        entry["matcher"] = write_terms(hook.matcher)
    provider_data = dict(hook.provider_data)
    extra = dict(provider_data.pop(dialect.id, NOTHING))
    handler_extra = extra.pop("handler", NOTHING)
    entry["handler"] = _write_handler(dialect, hook, handler_extra)
    if hook.blocking:
        entry["blocking"] = True
    if hook.degradation:
        entry["degradation"] = dict(hook.degradation)
    if hook.capabilities:
        entry["capabilities"] = list(hook.capabilities)
    own_values: dict[str, Tree] = {
        key: getattr(hook, key) for key in OWN_ATTRS if getattr(hook, key) not in ("", None, NOTHING)
    }
    if own_values.get("enabled"):
        del own_values["enabled"]
    if own_values.get("dialect") == dialect.id:
        del own_values["dialect"]
    if own_values:
        provider_data[OWN_KEY] = own_values
    if provider_data:
        entry["provider_data"] = provider_data
    return {**entry, **extra}


def _write_handler(dialect: Dialect, hook: Hook, extra: Mapping[str, Tree]) -> dict[str, Tree]:
    flat = write_entry(dialect, hook._replace(provider_data=NOTHING))
    handler: dict[str, Tree] = {}
    for key, value in flat.items():
        head, dot, platform = key.partition(".")
        if dot:
            handler.setdefault(head, {})[platform] = value
        else:
            handler[key] = value
    return {**handler, **extra}


_COMMON: dict[str, Field | str] = {
    "timeout": "timeout",
    "timeout_action": Field("timeout_action", {"warn": "warn", "block": "block"}),
    "on_failure": Field("on_failure", {"block": "block"}),
    "async": "is_async",
    "status_message": "status_message",
}
_COMMAND: dict[str, Field | str] = {
    "command": "command",
    "platform.windows": "windows",
    "platform.linux": "linux",
    "platform.osx": "osx",
    "cwd": "cwd",
    "env": "env",
}
_PROMPT: dict[str, Field | str] = {"prompt": "prompt", "model": "model"}
_HTTP: dict[str, Field | str] = {"url": "url", "headers": "headers", "allowed_env_vars": "allowed_env"}
_WAIT = Timeout(SECOND, default=DEFAULT_TIMEOUT)

DIALECT = Dialect(
    id="canonical",
    title="Hook Interchange Format",
    kind="format",
    facts="1.0.0-draft",
    sources=SOURCES,
    locations=(Location("project", "hooks.json", "own"), Location("project", "hooks.yaml", "own")),
    # The format has no place of its own.
    other_places={
        "run": (
            *(Location("project", f".hookport/hooks.{ending}", "own") for ending in ENDINGS),
            *(Location("user", f"~/.config/hookport/hooks.{ending}", "own") for ending in ENDINGS),
        )
    },
    events=tuple(
        EventSpec(
            kind.name, kind.name, kind.blocks, "spec", "tool" if kind.about_tool else "any", rewrites=True
        )
        for kind in EVENTS.values()
    ),
    tools=tuple(ToolName(tool, tool, "spec") for tool in TOOLS),
    matching=Matching("regex"),
    handlers={
        "command": HandlerSpec("command", {**_COMMAND, **_COMMON}, _WAIT, required=("command",)),
        "http": HandlerSpec("http", {**_HTTP, **_COMMON}, _WAIT, required=("url",)),
        "prompt": HandlerSpec("prompt", {**_PROMPT, **_COMMON}, _WAIT, required=("prompt",)),
        "agent": HandlerSpec("agent", {**_PROMPT, **_COMMON}, _WAIT, required=("prompt",)),
    },
    shape=Shape(
        decode,
        encode,
        by_event=False,
        group_fields={
            "name": "name",
            "blocking": "blocking",
            **{attr: attr for attr in OWN_ATTRS if attr != "dialect"},
        },
        signature=("spec", "hooks/"),
    ),
    obeys=("decision",),
    commands_start="root",
    wire=WIRE,
    needs_type=True,
)
