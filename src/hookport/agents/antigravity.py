"""Antigravity: .agents/hooks.json, a map of named sets of hooks, each a map of events."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hookport.errors import Problem, spell_path
from hookport.findings import FieldGiven, Finding, NeverRuns
from hookport.model.hooks import NOTHING, Hook, Manifest
from hookport.shapes.by_event import BY_EVENT, choose_location, sort_events
from hookport.shapes.dialect import (
    REPOSITORY,
    SECOND,
    DecodedManifest,
    Dialect,
    EventSpec,
    FolderTrust,
    HandlerSpec,
    Location,
    Matching,
    Path,
    Place,
    Quirk,
    RefusedError,
    Shape,
    Timeout,
    Tree,
    alias_tools,
    explain_missing,
    find_event,
    list_ways,
    name_tools,
)
from hookport.shapes.entries import (
    find_slots,
    get_event_order,
    get_manifest_data,
    name_kind,
    write_entry,
    write_group_extra,
    write_matchers,
)
from hookport.wire.table import Wire, list_by_event

SOURCES = {
    "doc": "antigravity.google/docs/hooks, by translated mirrors, mid-2026",
    "load": "the loader as stbenjam/skillsaw measured it on agy 1.1.25 and 1.1.26, August 2026",
    "run": "answers as nodeterm measured them on agy 1.2.3, Windows 11, 2026",
    "user": "public hooks and tools for Antigravity, 2026: what their code reads in payloads",
    "table": "third-party tables of 2026, not verified",
}

# Go's engine, as its messages suggest; whether it must match the whole name nobody says.
MATCHING = Matching("regex", everything=("", "*", ".*"), anchors=True)

EVENTS = (
    EventSpec("SessionStart", "session_start", "observe", "load", hears="nothing"),
    EventSpec("PreInvocation", "before_model", "observe", "doc", hears="nothing"),
    EventSpec("PreToolUse", "before_tool_execute", "prevent", "run", "tool", rewrites=True, exits="any"),
    EventSpec("PostToolUse", "after_tool_execute", "observe", "doc", "tool", hears="nothing"),
    EventSpec("PostInvocation", "after_model", "observe", "doc", hears="nothing"),
    EventSpec("Stop", "agent_stop", "retry", "doc", exits="none"),
)
# Those whose entries are handlers, without groups around them (AG3).
FLAT = ("SessionStart", "PreInvocation", "PostInvocation", "Stop")

LACKS = explain_missing(
    EVENTS,
    "no such event among the 6 that are known",
    registry=30,
    before_prompt="PreInvocation fires before every call of the model, and carries no prompt",
    subagent_start="PreToolUse fires for invoke_subagent, which starts one",
    subagent_stop="PostToolUse fires for invoke_subagent, which starts one",
    tool_use_failure="PostToolUse fires after a failure too, with error",
)

TOOLS = (
    *name_tools(
        "doc",
        # What is typed into a process that runs may be a command as well.
        shell=("run_command", "send_command_input"),
        file_read="view_file",
        file_write="write_to_file",
        file_edit=("replace_file_content", "multi_replace_file_content"),
        find="find_by_name",
        search="grep_search",
        list="list_dir",
        web_search="search_web",
        web_fetch="read_url_content",
        agent="invoke_subagent",
        ask_user="ask_question",
    ),
    # Tools of the older editor.
    *alias_tools("table", file_read=("view_file_outline", "view_code_item")),
)


# The wire of Antigravity: messages of protocol buffers as JSON, which leave out zeros, and no event's name.

ANSWERS: dict[str, Tree] = {
    "PreToolUse": {
        "deny": {"json": {"decision": "deny", "reason": "$reason"}},
        # `ask` is the usual policy, which may run the call unasked; this one asks again (run).
        "ask": {"json": {"decision": "force_ask", "reason": "$reason"}},
        "allow": {"json": {"decision": "allow", "reason": "$reason"}},
        # An object without a decision denies (AG1), so another input needs an allow; it is merged.
        "rewrite": {"json": {"overwrite": "$changes"}, "needs": "allow"},
    },
    "Stop": {"deny": {"json": {"decision": "continue", "reason": "$reason"}}},
    "*": {},
}
DECISIONS = {"allow": "allow", "deny": "deny", "ask": "none", "force_ask": "ask", "*": "deny"}
# Whatever is printed that is no known decision denies, and so does every exit code but 0 (AG1).
READ_TOOL: dict[str, Tree] = {
    "verdicts": [("decision", DECISIONS)],
    "reason": ["reason"],
    "input": ["overwrite"],
    "exits": {"+": "deny"},
    "text": "failure",
}
READ_STOP: dict[str, Tree] = {
    "verdicts": [("decision", {"continue": "deny", "*": "none"})],
    "reason": ["reason"],
}
READ_STEPS: dict[str, Tree] = {"json": "zero"}
READS: dict[str, Tree] = {"PreToolUse": READ_TOOL, "Stop": READ_STOP, "*": READ_STEPS}
# The second place is the object itself: one without a decision denies, text too.
OBEY_TOOL: dict[str, Tree] = {
    **READ_TOOL,
    "verdicts": [("decision", DECISIONS), ("", {})],
    "closes": True,
    "rewrites": "allow",
}

WIRE = Wire(
    keys={
        "session": "conversationId",
        "cwd": "workspacePaths:list",
        "root": "workspacePaths:list",
        "transcript": "transcriptPath",
        "model": "modelName",
    },
    by_event=list_by_event(
        keys={
            "PreToolUse": {"tool": "toolCall.name", "input": "toolCall.args"},
            "PostToolUse": {"tool": "toolCall.name", "input": "toolCall.args", "error": "error"},
            "Stop": {"source": "terminationReason", "final_message": "finalModelOutput"},
        },
    ),
    fixed={"conversationId": "$session", "workspacePaths": ["$root"]},
    inputs={
        "shell": {"command": "CommandLine", "cwd": "Cwd"},
        "file_read": {"path": "AbsolutePath"},
        "file_write": {"path": "TargetFile", "content": "CodeContent"},
        "file_edit": {
            "path": "TargetFile",
            "old": "TargetContent",
            "new": "ReplacementContent",
            "edits": "ReplacementChunks",
        },
        "edits": {"old": "TargetContent", "new": "ReplacementContent"},
        "find": {"path": "SearchDirectory", "pattern": "Pattern"},
    },
    # The folder of hooks.json, in a plugin or not (load).
    starts_in="package",
    marks=("conversationId", "workspacePaths", "artifactDirectoryPath"),
    tells={
        "PreToolUse": ("toolCall",),
        "PostToolUse": ("toolCall", "error"),
        "PreInvocation": ("initialNumSteps",),
        "PostInvocation": ("modelOutput",),
        "Stop": ("terminationReason",),
    },
    answers=ANSWERS,
    merges=("*",),
    reads=READS,
    obeys={**READS, "PreToolUse": OBEY_TOOL},
    # The names of MCP tools are not known, so any other name may be one.
    traits=("bare MCP",),
    others=("command_status", "manage_task"),
)

# A set's name is its hooks' name; in a group it stands under a key that no file has.
SET = "(set)"
ENABLED = "enabled"


def decode(dialect: Dialect, trees: Mapping[str, Tree]) -> DecodedManifest:
    """The hooks of every set, by event, with a finding for those that Antigravity never runs."""
    rows: list[tuple[Hook, Place]] = []
    findings: list[Finding] = []
    problems: list[Problem] = []
    data: dict[str, Tree] = {}
    for file, tree in trees.items():
        problems += _find_refusals(file, tree)
        for name, events in tree.items() if isinstance(tree, Mapping) else ():
            if not isinstance(events, Mapping):
                continue
            try:
                decoded = BY_EVENT.decode(_read_as_set(dialect, name), {file: {name: _mark(name, events)}})
            except RefusedError as refused:
                problems += refused.problems
                continue
            hooks = decoded.manifest.hooks
            if events.get(ENABLED) is False:
                hooks = tuple(hook._replace(enabled=False) for hook in hooks)
            rows += zip(hooks, decoded.places, strict=True)
            findings += [*decoded.findings, *_find_dead(dialect, file, name, events)]
            data.update(get_manifest_data(dialect, decoded.manifest))
    if problems:
        raise RefusedError(*problems)
    rows.sort(key=lambda row: get_event_order(dialect, row[0]))
    manifest = Manifest(tuple(hook for hook, _ in rows), {dialect.id: data} if data else NOTHING)
    return DecodedManifest(manifest, tuple(place for _, place in rows), tuple(findings))


def _read_as_set(dialect: Dialect, name: str) -> Dialect:
    return dialect._replace(shape=dialect.shape._replace(root=(name,)))


def _mark(name: str, events: Mapping[str, Tree]) -> Tree:
    """The events of a set, its name in every group."""
    return {
        native: [{**group, SET: name} if isinstance(group, Mapping) else group for group in groups]
        if isinstance(groups, list)
        else groups
        for native, groups in events.items()
    }


def _find_refusals(file: str, tree: Tree) -> Iterator[Problem]:
    """What makes Antigravity drop the whole file silently (AG2)."""
    lost = "Antigravity loads no hook of this file"
    if not isinstance(tree, Mapping):
        yield Problem(f"must be an object, not {name_kind(tree)}", (), file)
        return
    for name, events in tree.items():
        if not isinstance(events, Mapping):
            reason = f"must be a set of hooks, an object, not {name_kind(events)}; {lost}"
            yield Problem(reason, (name,), file)
            continue
        if not isinstance(events.get(ENABLED, True), bool):
            yield Problem(f"must be true or false; {lost}", (name, ENABLED), file)
        for path, handler in _iter_handlers(name, events):
            timeout = handler.get("timeout", 1)
            if isinstance(timeout, bool) or not isinstance(timeout, int) or abs(timeout) >= 2**31:
                reason = f"must be a whole number of seconds, not {timeout!r}; {lost}"
                yield Problem(reason, (*path, "timeout"), file)


def _iter_groups(name: str, events: Mapping[str, Tree]) -> Iterator[tuple[str, Path, Mapping[str, Tree]]]:
    for native, groups in events.items():
        for number, group in enumerate(groups if isinstance(groups, list) else ()):
            if isinstance(group, Mapping):
                yield native, (name, native, number), group


def _iter_handlers(name: str, events: Mapping[str, Tree]) -> Iterator[tuple[Path, Mapping[str, Tree]]]:
    for _, path, group in _iter_groups(name, events):
        handlers = group.get("hooks")
        if not isinstance(handlers, list):
            yield path, group
            continue
        for index, handler in enumerate(handlers):
            if isinstance(handler, Mapping):
                yield (*path, "hooks", index), handler


def _find_dead(dialect: Dialect, file: str, name: str, events: Mapping[str, Tree]) -> Iterator[Finding]:
    """Report entries in the form of the other events: what has no command there never runs (AG3)."""
    for native, path, group in _iter_groups(name, events):
        if find_event(dialect, native) is None or (native in FLAT) == ("hooks" not in group):
            continue
        is_flat = native in FLAT
        yield NeverRuns.at(
            spell_path(path),
            dialect=dialect.id,
            what="this hook",
            reason=f"{native} has a list of {'handlers' if is_flat else 'groups with a matcher'}",
            way="Take the group around it away." if is_flat else 'Put it into a group: {"hooks": [ … ]}.',
        )._replace(file=file)


def encode(dialect: Dialect, manifest: Manifest) -> dict[str, Tree]:
    """One file, with a set for every name."""
    data = get_manifest_data(dialect, manifest)
    sets: dict[str, dict[str, list[dict[str, Tree]]]] = {}
    off: dict[str, bool] = {}
    for hook in manifest.hooks:
        events = sets.setdefault(hook.name, {})
        off[hook.name] = off.get(hook.name, True) and not hook.enabled
        for spec, terms in find_slots(dialect, hook):
            for matcher in write_matchers(dialect, spec, hook, terms):
                _add_entry(events.setdefault(spec.native, []), dialect, hook, spec, matcher)
    tree: dict[str, Tree] = {}
    for name in dict.fromkeys((*sets, *data)):
        events = sort_events(dialect, sets.get(name, {}))
        kept = data.get(name)
        settings = dict(kept) if isinstance(kept, Mapping) else {}
        settings |= {ENABLED: False} if off.get(name) else {}
        tree[name] = {**settings, **events}
    return {choose_location(dialect, manifest).path: tree}


def _add_entry(
    groups: list[dict[str, Tree]], dialect: Dialect, hook: Hook, spec: EventSpec, matcher: str | None
) -> None:
    extra = {key: value for key, value in write_group_extra(dialect, hook).items() if key != SET}
    head: dict[str, Tree] = {**({} if matcher is None else {"matcher": matcher}), **extra}
    entry = write_entry(dialect, hook)
    if spec.native in FLAT:
        groups.append({**entry, **head})
    elif groups and {key: value for key, value in groups[-1].items() if key != "hooks"} == head:
        groups[-1]["hooks"].append(entry)
    else:
        groups.append({**head, "hooks": [entry]})


def adjust(hooks: list[Hook]) -> tuple[list[Hook], list[Finding]]:
    """Give every hook a set, and a new one where the sets' order would change that of an event's hooks."""
    findings: list[Finding] = []
    adjusted: list[Hook] = []
    ranks: dict[tuple[str, bool], int] = {}
    last: dict[int, int] = {}
    for number, hook in enumerate(hooks):
        order = get_event_order(DIALECT, hook)
        name, step = hook.name or "hookport", 1
        while _is_taken(ranks, name, hook, last.get(order, 0)):
            step += 1
            name = f"{hook.name or 'hookport'}-{step}"
        last[order] = ranks.setdefault((name, hook.enabled), len(ranks))
        if name != hook.name:
            findings.append(FieldGiven.at("", number, target=DIALECT.id, field="name", value=name))
        adjusted.append(hook._replace(name=name))
    return adjusted, findings


def _is_taken(ranks: Mapping[tuple[str, bool], int], name: str, hook: Hook, least: int) -> bool:
    return (name, not hook.enabled) in ranks or ranks.get((name, hook.enabled), least) < least


DIALECT = Dialect(
    id="antigravity",
    title="Antigravity",
    kind="agent",
    facts="agy 1.2.3",
    sources=SOURCES,
    shows={"*": (("reason",), "doc")},
    locations=(
        Location("project", ".agents/hooks.json", "doc"),
        Location("project", ".agent/hooks.json", "load"),
        Location("project", "_agents/hooks.json", "load"),
        Location("project", "_agent/hooks.json", "load"),
        Location("user", "~/.gemini/config/hooks.json", "load"),
        Location("user", "~/.gemini/antigravity-cli/hooks.json", "load", loaded=False),
        Location("plugin", "hooks.json", "doc"),
    ),
    events=EVENTS,
    lacks=LACKS,
    tools=TOOLS,
    wordless=dict.fromkeys(("command_status", "manage_task", "browser_*"), "table"),
    matching=MATCHING,
    handlers={
        "command": HandlerSpec(
            "command",
            {"command": "command", "timeout": "timeout"},
            # The default is not documented.
            Timeout(SECOND, whole=True, minimum=SECOND),
            required=("command",),
        ),
        # Read by 1.1.25 and not run by 1.1.20 (table), so nothing can rest on one.
        "prompt": HandlerSpec(
            "prompt",
            {"prompt": "prompt", "model": "model", "timeout": "timeout"},
            Timeout(SECOND, whole=True, minimum=SECOND),
            required=("prompt",),
            decides=False,
        ),
    },
    shape=Shape(
        decode,
        encode,
        root=(),
        not_events=(ENABLED,),
        forms=("nested", "flat"),
        group_fields={SET: "name"},
    ),
    wire=WIRE,
    obeys=("decision",),
    adjust=adjust,
    # A command starts in the folder of its file, `.agents`, and no variable names the project.
    commands_start="moving",
    # The customization root is the folder of the workspace; whether it looks further up is not documented.
    project_read="start",
    folder_trust=FolderTrust("", (), "Trust the workspace when Antigravity asks.", "doc"),
    project_dir=(REPOSITORY,),
    programs=("agy",),
    home=("~/.gemini/config", ""),
    notes=(
        "Antigravity drops a hooks.json with a comment, a trailing comma or a wrong type, and says nothing.",
        "Commands start in the folder of hooks.json; name scripts from the root of the repository.",
        "`agy --print` sends no workspace in payloads (1.1.11).",
    ),
    quirks=(
        Quirk(
            "AG1",
            "on PreToolUse `{}`, an unknown decision, text that is no JSON and every exit code but 0 deny; "
            "nothing printed is no opinion, and denied before 1.2",
            "run",
        ),
        Quirk(
            "AG2",
            "strict JSON: a comment or one wrong type drops the whole file, and only the debug log tells",
            "load",
        ),
        Quirk(
            "AG3",
            "tool events hold groups with a matcher, the others handlers; a handler in the wrong form has no "
            "command and does not run",
            "load",
        ),
        Quirk("AG4", "payloads do not name their event, and leave out what is 0 or false", "doc"),
        Quirk("AG5", "the names of events may be in any case; hookport reads the documented ones", "load"),
        Quirk("AG6", "`ask` is the usual policy, which may run the call unasked; `force_ask` asks", "run"),
        Quirk("AG7", "what happens when a hook takes too long is not documented", "doc"),
        Quirk("AG8", "how matchers name the tools of MCP servers is not documented", "doc"),
        Quirk(
            "AG10",
            "PreInvocation and PostInvocation take messages as a list of steps; hookport sends none",
            "doc",
        ),
        Quirk("AG9", "`hooks` at the top is a set of that name, so Claude Code's form is loaded", "load"),
    ),
    ways_around=list_ways(kinds=4),
)
