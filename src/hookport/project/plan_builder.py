"""Builds plans from disk: every hook compiled, so that a dispatch only looks it up."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from hookport import __version__, agents
from hookport import wire as wires
from hookport.agents import find_event_specs, get, get_wire, list_dialects
from hookport.base import folders
from hookport.base.files import keep_file, remove_old_files
from hookport.convert.checks.scripts import find_named_script
from hookport.errors import HookportError
from hookport.findings import BridgeEntry, Finding, FolderPassedOver, HookDisabled, HookSwitchedOff
from hookport.model.events import is_about_tool, split_native
from hookport.model.hooks import DEFAULT_TIMEOUT, Hook
from hookport.project import ownership, protected
from hookport.project.discovery import Discovery, HookEntry, discover
from hookport.project.disk import read_start
from hookport.project.identity import Identity, identify, parse_hook, spell_definition
from hookport.project.ownership import Readers, is_ours
from hookport.project.settings import read_covered_globs, read_settings
from hookport.project.switches import Switch
from hookport.runtime import approvals, plan, policy, trust
from hookport.runtime.plan import DispatchPlan, PlannedHook, PlanOrigin
from hookport.runtime.select import find_tools
from hookport.runtime.trust import Approval
from hookport.shapes.dialect import EventSpec, find_event, has_field
from hookport.shapes.entries import find_slots
from hookport.wire.table import Wire

# The HOOK.md specification's default, which others do not contradict.
DEFAULT_PRIORITY = 100
FORGET_SECONDS = 30 * 24 * 3600
LONGEST_SCRIPT = 1 << 18
ONCE_DIGITS = 16
# File systems round times to kernel ticks, 10 ms at most.
TICK_NS = 20_000_000


def load_current_plan(cwd: str, env: Mapping[str, str]) -> tuple[DispatchPlan, str]:
    """The plan for a folder, rebuilt if a source changed; and why it could not be stored, if so."""
    path = plan.find_plan_path(cwd, env)
    stored = plan.load(path, env) if path else "no folder for plans"
    if (
        isinstance(stored, DispatchPlan)
        and plan.is_current(stored, __version__, env)
        and not _has_changed(stored)
    ):
        return stored, ""
    begun = time.time_ns()
    discovery = discover(cwd, env)
    text = compile_plan(discovery, env, cwd)
    if not is_settled((*discovery.watched, *_list_approval_files(discovery.root, env)), begun):
        return _parse_plan(text), "a source changed while it was read"
    return _parse_plan(text), _write_plan(path, text, env) if path else stored if isinstance(
        stored, str
    ) else ""


def is_settled(paths: Iterable[str], begun: int) -> bool:
    """Whether nothing was written since then: a stamp taken after reading would hide a change."""
    stamps = filter(None, map(plan.stamp, paths))
    return not any(begun - TICK_NS <= changed <= time.time_ns() for changed, *_ in stamps)


def _has_changed(stored: DispatchPlan) -> bool:
    return plan.has_changed(stored) or plan.has_changed_scripts(stored.read_all_hooks())


def build_without_hooks(root: str, env: Mapping[str, str]) -> DispatchPlan:
    """The plan with all wires, a project's settings and no hook, for a single command."""
    text = compile_plan(Discovery(root, (), (), ()), {**env, trust.VARIABLE: ""})
    path = plan.find_tables_path(root, env)
    if path:
        _write_plan(path, text, env)
    return _parse_plan(text)


def compile_plan(discovery: Discovery, env: Mapping[str, str], cwd: str = "") -> bytes:
    """Format the plan of the discovered hooks."""
    settings, watched, findings = read_settings(discovery.root, env)
    files = dict.fromkeys((*discovery.watched, *watched, *_list_own_files()))
    if discovery.root:
        files |= dict.fromkeys(
            (*_list_approval_files(discovery.root, env), *protected.list_watched_settings(env))
        )
    files_by_entry: dict[int, Sequence[str]] = {}
    hooks = judge_entries(discovery, env, files, files_by_entry)
    approval = trust.load_approval(discovery.root, env) if discovery.root else Approval()
    repositories = {path: Path(path).exists() for path in _list_repository_marks(cwd, discovery.root)}
    # Their own agent may run hooks of a folder below; they are no reason to deny others' actions.
    wrong = [finding for finding in (*discovery.findings, *findings) if finding.severity == "error"]
    broken = [_spell_finding(finding) for finding in wrong if finding.code != FolderPassedOver.code]
    origin = PlanOrigin(
        discovery.root,
        __version__,
        tuple(files),
        repositories,
        settings,
        broken,
        approval.why if approval.is_broken else "",
        waiting=trust.list_waiting(hooks),
        trusted_lock=env.get(trust.VARIABLE, ""),
        near=trust.find_near_roots(cwd or discovery.root, discovery.root, env) if discovery.root else (),
        protected=protected.list_protected_paths(_remove_bridge_entries(discovery), env, files_by_entry)
        if discovery.root
        else (),
    )
    return plan.make(hooks, map(get_wire, list_dialects()), origin)


def judge_entries(
    discovery: Discovery,
    env: Mapping[str, str],
    files: dict[str, None] | None = None,
    files_by_entry: dict[int, Sequence[str]] | None = None,
) -> list[PlannedHook]:
    """The hooks with their approvals: first the user's hooks that the project overrides.

    Approved hooks that changed or disappeared come last; they never run, but their events report them.
    `files` and `known` receive the watched files, and the files of hooks without further globs in the
    settings, by the hook's `id()`.
    """
    watched = {} if files is None else files
    if discovery.hooks:
        watched |= dict.fromkeys(ownership.list_watched_files(discovery.root, env))
    readers = Readers(discovery.root, env)
    approved = trust.load_approval(discovery.root, env) if discovery.root else Approval()
    project_hooks = {
        id(entry): plan_identified_entry(entry, discovery.root, env).replace(loaded_by=readers.of(entry))
        for entry in list_project_entries(discovery)
    }
    if files_by_entry is not None:
        files_by_entry |= {
            id(entry): project_hooks[id(entry)].files
            for entry in list_project_entries(discovery)
            if not read_covered_globs(discovery.root, name_entry(entry))
        }
    project_hooks = {
        key: hook.replace(trust=trust.record_approval(hook, discovery.root, env, approved))
        for key, hook in project_hooks.items()
    }
    over = [
        plan_entry(override.hook).replace(
            watched=_take_stamps(watched, override.hook),
            rivals=[project_hooks[id(by)].trust for by in override.by if id(by) in project_hooks],
            loaded_by=readers.of(override.hook),
        )
        for override in discovery.overridden
        if _is_on(override.hook) and not _is_bridge(override.hook)
    ]
    hooks = [
        (
            project_hooks[id(entry)]
            if id(entry) in project_hooks
            else plan_entry(entry).replace(loaded_by=readers.of(entry))
        ).replace(watched=_take_stamps(watched, entry))
        for entry in list_runnable(discovery)
    ]
    off = {project_hooks[id(entry)].id: entry.off for entry in list_project_entries(discovery) if entry.off}
    return [*over, *hooks, *_plan_missed_hooks(list(project_hooks.values()), off, approved, readers)]


def _remove_bridge_entries(discovery: Discovery) -> Discovery:
    return discovery._replace(hooks=tuple(entry for entry in discovery.hooks if not _is_bridge(entry)))


def list_project_entries(discovery: Discovery) -> list[HookEntry]:
    """The project's own hooks, including disabled ones, without the entries that call us."""
    return [entry for entry in discovery.hooks if entry.scope == "project" and not _is_bridge(entry)]


def identify_entry(entry: HookEntry, root: str, env: Mapping[str, str]) -> Identity:
    """The identity of a project's hook, with the files that the project's settings cover."""
    return identify(entry, root, env, read_covered_globs(root, name_entry(entry)))


def plan_identified_entry(entry: HookEntry, root: str, env: Mapping[str, str]) -> PlannedHook:
    """One hook of a project in the plan's form, with its identity for the lock."""
    details = identify_entry(entry, root, env)
    return plan_entry(entry).replace(
        id=details.id,
        definition=details.definition,
        files=details.files,
        under=details.under,
        beside=details.beside,
        not_covered=details.not_covered,
    )


def _plan_missed_hooks(
    project_hooks: list[PlannedHook], off: Mapping[str, Switch], approved: Approval, readers: Readers
) -> Iterator[PlannedHook]:
    """The approved hooks that are gone or changed: they match as at their approval."""
    root, env = readers.root, readers.env
    definitions = {(hook.id.partition("#")[0], hook.definition) for hook in project_hooks}
    ids = {hook.id for hook in project_hooks}
    state = trust.find_nearest_state(approved.states, {hook.id: hook.definition for hook in project_hooks})
    for place, entry in state.hooks.items():
        file, _, spot = place.partition("#")
        if (file, entry["definition"]) in definitions:
            continue
        hook = _load_approved_hook(entry["definition"], state, env)
        changed = "its definition changed since its approval"
        if place in off and not off[place].is_users:
            changed = f"{spell_switch(off[place], root)} switches it off since its approval"
        why = changed if place in ids else f"it is gone from {file} since its approval"
        record = {"why": why, "files": {}, "approved": [], "was_approved": True}
        path = trust.resolve_name(file, root, env)
        if hook is None:
            yield _plan_unknown_hook(entry, path, spot).replace(id=place, trust=record)
            continue
        gone = HookEntry(hook, path, spot, str(Path(path).parent), "project", ())
        if hook.enabled:
            yield plan_entry(gone).replace(loaded_by=readers.of(gone), id=place, trust=record)


def _load_approved_hook(definition: str, state: trust.ApprovedState, env: Mapping[str, str]) -> Hook | None:
    """The approved version of a hook, from the lock or the stored text; None if both are gone."""
    tree = state.lock.get("definitions", {}).get(definition)
    kept_text = approvals.read_approved_text(definition, env) if tree is None else None
    text = spell_definition(tree) if tree is not None else (kept_text or b"").decode("utf-8", "surrogatepass")
    if trust.sha256(text.encode("utf-8", "surrogatepass")) != definition:
        return None
    try:
        hook = parse_hook(text)
        get(hook.dialect)
    except (ValueError, HookportError):
        return None
    return hook


def _plan_unknown_hook(entry: Mapping[str, object], file: str, place: str) -> PlannedHook:
    """An approved hook of which only the event is known: it may have matched any call."""
    event = str(entry.get("event", ""))
    subject = "tool" if is_about_tool(event) else ""
    hub = next(name for name in list_dialects() if get(name).is_hub)
    return PlannedHook(str(entry.get("name", "")), event, hub, subject=subject, file=file, place=place)


def _list_approval_files(root: str, env: Mapping[str, str]) -> list[str]:
    """The files that record approvals."""
    return [path for path in (str(Path(root) / trust.LOCK), trust.find_store(env)) if path]


def list_runnable(discovery: Discovery) -> list[HookEntry]:
    """The hooks that may run: enabled, without the entries that call us."""
    return [entry for entry in list_enabled(discovery) if _is_on(entry)]


def list_enabled(discovery: Discovery) -> list[HookEntry]:
    """The hooks including those that a setting switches off: a list of hooks also reports these."""
    return [entry for entry in discovery.hooks if entry.hook.enabled and not _is_bridge(entry)]


def _is_on(entry: HookEntry) -> bool:
    return entry.hook.enabled and entry.off is None


def spell_switch(switch: Switch, root: str) -> str:
    """Format a setting and its file for people."""
    file = switch.file.removeprefix(f"{root}{os.sep}")
    return f"`{switch.key}` in {file}"


def find_left_out(discovery: Discovery) -> Iterator[Finding]:
    """Findings for hooks that are switched off and for entries that call us."""
    for entry in discovery.hooks:
        if not entry.hook.enabled:
            yield HookDisabled.at(entry.place, name=name_entry(entry))._replace(file=entry.file)
        elif entry.off and not _is_bridge(entry):
            by = spell_switch(entry.off, discovery.root)
            yield HookSwitchedOff.at(entry.place, name=name_entry(entry), by=by, fix=entry.off.fix)._replace(
                file=entry.file
            )
        elif _is_bridge(entry):
            yield BridgeEntry.at(entry.place)._replace(file=entry.file)


def _is_bridge(entry: HookEntry) -> bool:
    return is_ours(entry.hook.handler.command)


def plan_entry(entry: HookEntry) -> PlannedHook:
    """One hook in the plan's form."""
    hook, handler = entry.hook, entry.hook.handler
    dialect, agent_wire = get(hook.dialect), get_wire(hook.dialect)
    specs = _list_specs(entry)
    written = [spec for spec, _ in find_slots(dialect, hook)]
    native = written[0] if len(written) == 1 else None
    spec = dialect.handlers.get(handler.type)
    waits = [event_spec.default_timeout for event_spec in specs if event_spec.default_timeout is not None]
    default = waits[0] if waits else spec.timeout.default if spec else None
    timeout = handler.timeout or default or DEFAULT_TIMEOUT
    fields = {key: getattr(handler, key) for key in COPIED_FIELDS}
    fields["command"] = quote_package_root(handler.command, dialect.package_dir)
    bare = PlannedHook(
        name=name_entry(entry),
        event=hook.event,
        dialect=hook.dialect,
        native=native.native if native else "",
        subject="tool" if is_about_tool(hook.event) else specs[0].subject if specs else "",
        terms=[list(term) for term in hook.matcher],
        content=hook.content,
        condition=hook.condition,
        content_of=native.subject if native and native.subject in ("command", "path") else "",
        priority=DEFAULT_PRIORITY if hook.priority is None else hook.priority,
        # If a dialect cannot express it, every hook may block.
        blocking=hook.blocking if dialect.is_hub or has_field(dialect, "blocking") else True,
        timeout_seconds=timeout.total_seconds(),
        file=entry.file,
        place=entry.place,
        package=entry.package,
        scope=entry.scope,
        does=entry.runs,
    ).replace(**fields)
    return bare.replace(
        once=_make_once_key(entry),
        tools=find_tools(bare, agent_wire),
        rewrites=policy.is_guarded_event(hook.event) and _may_rewrite(entry, agent_wire),
    )


def _make_once_key(entry: HookEntry) -> str:
    """The key by which the hook's own agent recognises a duplicate; empty if it runs each hook."""
    hook, dialect = entry.hook, get(entry.hook.dialect)
    if dialect.runs_once is None:
        return ""
    plugins = [*(place.path for place in dialect.locations if place.scope == "plugin"), *dialect.manifests]
    fields = {key: getattr(hook.handler, key) for key in COPIED_FIELDS}
    text = repr(
        (
            (hook.dialect, hook.event, hook.content, hook.condition, hook.blocking),
            hook.name if dialect.runs_once.by_name else "",
            entry.package if entry.file.endswith(tuple(plugins)) else "",
            [(key, dict(value) if isinstance(value, Mapping) else value) for key, value in fields.items()],
        )
    )
    return trust.sha256(text.encode("utf-8", "surrogatepass"))[:ONCE_DIGITS]


def _may_rewrite(entry: HookEntry, agent_wire: Wire) -> bool:
    """Whether a hook's command or scripts contain its dialect's words for rewriting an input.

    If a hook rewrites anyway, nothing is lost: the hooks after it run again.
    """
    handler = entry.hook.handler
    texts = [handler.command, *handler.platform.values(), *map(_read_script_start, entry.scripts)]
    places = {place for table in agent_wire.reads.values() for place in table.get("input", ())}
    ways = [*(place.partition(":")[0].split(".") for place in places), ("hookport", "rewrite")]
    return any(all(word in text for word in way) for text in texts for way in ways)


def _read_script_start(script: str) -> str:
    try:
        return read_start(Path(script), LONGEST_SCRIPT).decode("utf-8", "replace")
    except OSError:
        return ""


def quote_package_root(command: str, roots: Iterable[str]) -> str:
    """A command in which the package's folder stays one word, even with a blank in it.

    The formats write `bash ${PACKAGE_ROOT}/x.sh` and leave the quoting of the folder to the program that runs
    it.
    """
    bare = "|".join(rf"{re.escape(root)}(?!\w)" for root in roots)
    if not bare:
        return command
    quoted = r"""'[^']*'|"(?:[^"\\]|\\.)*"|\\."""
    return re.sub(
        rf"{quoted}|(?P<bare>{bare})",
        lambda at: f'"{at[0]}"' if at["bare"] else at[0],
        command,
        flags=re.DOTALL,
    )


COPIED_FIELDS = (
    "type",
    "command",
    "platform",
    "url",
    "headers",
    "allowed_env",
    "prompt",
    "model",
    "cwd",
    "env",
    "is_async",
    "timeout_action",
    "on_failure",
)


def name_entry(entry: HookEntry) -> str:
    """A hook's name for people: its own, its script's, or its place."""
    hook = entry.hook
    script = find_named_script(hook.handler.command) if hook.handler.command else None
    return (
        hook.name
        or (script.word.rpartition("/")[2] if script else "")
        or entry.place
        or Path(entry.file).name
    )


def _list_specs(entry: HookEntry) -> list[EventSpec]:
    dialect = get(entry.hook.dialect)
    native = split_native(entry.hook.event)
    if native:
        spec = find_event(dialect, native[1])
        return [spec] if spec else []
    return find_event_specs(dialect, entry.hook.event)


def _take_stamps(watched: dict[str, None], entry: HookEntry) -> dict[str, list[int] | None]:
    """The stamps of a script identified by name, and of its folder: they matter only to its hook."""
    scripts = map(Path, entry.scripts if get(entry.hook.dialect).shape.companions else ())
    paths = [str(path) for script in scripts for path in (script.parent, script)]
    watched_paths = [path for path in paths if path in watched]
    for path in watched_paths:
        del watched[path]
    return {path: plan.stamp(path) for path in watched_paths}


def _list_own_files() -> list[str]:
    """The tables for wires, with the additions of other packages."""
    folders = [Path(package.__file__ or "").parent for package in (agents, wires)]
    files = [str(path) for folder in folders for path in sorted(folder.glob("*.py"))]
    for module in map(agents.get_dialect_module, agents.list_added()):
        file = Path(module.__file__ or "")
        files += map(str, sorted(file.parent.glob("*.py")) if module.__package__ else [file])
    return [*files, *agents.list_package_folders()]


def _list_repository_marks(cwd: str, root: str) -> Iterator[str]:
    """Paths whose existence would change the project root."""
    for folder in folders.walk_upward(cwd or root):
        mark = Path(folder, ".git")
        yield str(mark)
        if folder == root and mark.exists():
            return


def _spell_finding(finding: Finding) -> str:
    place = f"{finding.file}:{finding.line}" if finding.line else finding.file
    return f"{finding.code} {place} {finding.message}"


def _parse_plan(text: bytes) -> DispatchPlan:
    dispatch_plan = plan.parse(text)
    assert isinstance(dispatch_plan, DispatchPlan)  # noqa: S101  (we made it)
    return dispatch_plan


def _write_plan(path: str, text: bytes, env: Mapping[str, str]) -> str:
    """Write a plan for the next dispatch; return an empty text, or why that failed."""
    try:
        keep_file(path, plan.seal_plan(text, path, env))
        remove_old_files(os.path.dirname(path), FORGET_SECONDS)  # noqa: PTH120  (a string)
    except OSError as error:
        return f"{error.filename}: {error.strerror}"
    return ""
