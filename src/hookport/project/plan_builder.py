"""Plans made from what is on disk: every hook compiled, so that a dispatch only has to look it up."""

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
from hookport.base.files import keep_file, remove_old
from hookport.convert.checks.scripts import named_script
from hookport.errors import HookportError
from hookport.findings import BridgeEntry, Finding, FolderPassedOver, HookDisabled, HookSwitchedOff
from hookport.model.events import about_tool, split_native
from hookport.model.hooks import DEFAULT_TIMEOUT, Hook
from hookport.project import ownership, protected
from hookport.project.discovery import Discovery, Found, discover
from hookport.project.disk import start_of
from hookport.project.identity import Identity, hook_of, identity, spell_definition
from hookport.project.ownership import Readers, is_ours
from hookport.project.settings import covered_globs, read_settings
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
# File systems tell times in ticks of the kernel, 10 ms at most.
TICK_NS = 20_000_000


def current(cwd: str, env: Mapping[str, str]) -> tuple[DispatchPlan, str]:
    """The plan for a folder, made anew where a source changed; and why it could not be kept, if so."""
    path = plan.find_plan_path(cwd, env)
    kept = plan.load(path, env) if path else "there is no place for plans"
    if isinstance(kept, DispatchPlan) and plan.is_current(kept, __version__, env) and not _changed(kept):
        return kept, ""
    begun = time.time_ns()
    found = discover(cwd, env)
    text = compiled(found, env, cwd)
    if not settled((*found.watched, *_approvals(found.root, env)), begun):
        return _parsed(text), "a source changed while it was read"
    return _parsed(text), _keep(path, text, env) if path else kept if isinstance(kept, str) else ""


def settled(paths: Iterable[str], begun: int) -> bool:
    """Whether nothing was written since then: the stamp of a change that came after the reading hides it."""
    stamps = filter(None, map(plan.stamp, paths))
    return not any(begun - TICK_NS <= changed <= time.time_ns() for changed, *_ in stamps)


def _changed(kept: DispatchPlan) -> bool:
    return plan.has_changed(kept) or plan.has_changed_scripts(kept.read_all_hooks())


def without_hooks(root: str, env: Mapping[str, str]) -> DispatchPlan:
    """The plan that has all wires, a project's settings and no hook, for a command that is run by itself."""
    text = compiled(Discovery(root, (), (), ()), {**env, trust.VARIABLE: ""})
    path = plan.find_tables_path(root, env)
    if path:
        _keep(path, text, env)
    return _parsed(text)


def compiled(found: Discovery, env: Mapping[str, str], cwd: str = "") -> bytes:
    """The text of the plan of what was found."""
    settings, watched, findings = read_settings(found.root, env)
    files = dict.fromkeys((*found.watched, *watched, *_own_files()))
    if found.root:
        files |= dict.fromkeys((*_approvals(found.root, env), *protected.watched(env)))
    known: dict[int, Sequence[str]] = {}
    hooks = judged(found, env, files, known)
    approval = trust.load_approval(found.root, env) if found.root else Approval()
    there = {path: Path(path).exists() for path in _repositories(cwd, found.root)}
    # Hooks of a folder below may be run by their own agent; they are no reason to deny what others do.
    wrong = [one for one in (*found.findings, *findings) if one.severity == "error"]
    broken = [_spoken(one) for one in wrong if one.code != FolderPassedOver.code]
    origin = PlanOrigin(
        found.root,
        __version__,
        tuple(files),
        there,
        settings,
        broken,
        approval.why if approval.is_broken else "",
        waiting=trust.list_waiting(hooks),
        trusted_lock=env.get(trust.VARIABLE, ""),
        near=trust.find_near_roots(cwd or found.root, found.root, env) if found.root else (),
        protected=protected.protected(_without_entries(found), env, known) if found.root else (),
    )
    return plan.make(hooks, map(get_wire, list_dialects()), origin)


def judged(
    found: Discovery,
    env: Mapping[str, str],
    files: dict[str, None] | None = None,
    known: dict[int, Sequence[str]] | None = None,
) -> list[PlannedHook]:
    """The hooks with what their user approved: first those of the user that the project overrides.

    Those that were approved and are not there as they were come last; they are never run, but an event that
    is for one of them tells so. `files` and `known` are given what is watched, and the files of the hooks for
    which the settings name no others, by the hook's `id()`.
    """
    watched = {} if files is None else files
    if found.hooks:
        watched |= dict.fromkeys(ownership.watched(found.root, env))
    readers = Readers(found.root, env)
    approved = trust.load_approval(found.root, env) if found.root else Approval()
    own = {
        id(one): identified(one, found.root, env).replace(loaded_by=readers.of(one))
        for one in projects(found)
    }
    if known is not None:
        known |= {
            id(one): own[id(one)].files
            for one in projects(found)
            if not covered_globs(found.root, name_of(one))
        }
    own = {
        key: hook.replace(trust=trust.record_approval(hook, found.root, env, approved))
        for key, hook in own.items()
    }
    over = [
        planned(one.hook).replace(
            watched=_taken(watched, one.hook),
            rivals=[own[id(by)].trust for by in one.by if id(by) in own],
            loaded_by=readers.of(one.hook),
        )
        for one in found.overridden
        if _is_on(one.hook) and not _is_bridge(one.hook)
    ]
    hooks = [
        (own[id(one)] if id(one) in own else planned(one).replace(loaded_by=readers.of(one))).replace(
            watched=_taken(watched, one)
        )
        for one in runnable(found)
    ]
    off = {own[id(one)].id: one.off for one in projects(found) if one.off}
    return [*over, *hooks, *_missed(list(own.values()), off, approved, readers)]


def _without_entries(found: Discovery) -> Discovery:
    return found._replace(hooks=tuple(one for one in found.hooks if not _is_bridge(one)))


def projects(found: Discovery) -> list[Found]:
    """The hooks that the project brings along, those that are off too, without the entries that call us."""
    return [one for one in found.hooks if one.scope == "project" and not _is_bridge(one)]


def identity_of(found: Found, root: str, env: Mapping[str, str]) -> Identity:
    """What a hook of a project is, with the files that the project's settings cover."""
    return identity(found, root, env, covered_globs(root, name_of(found)))


def identified(found: Found, root: str, env: Mapping[str, str]) -> PlannedHook:
    """One hook of a project as the plan has it, with what the lock says of it."""
    it = identity_of(found, root, env)
    return planned(found).replace(
        id=it.id,
        definition=it.definition,
        files=it.files,
        under=it.under,
        beside=it.beside,
        not_covered=it.not_covered,
    )


def _missed(
    own: list[PlannedHook], off: Mapping[str, Switch], approved: Approval, readers: Readers
) -> Iterator[PlannedHook]:
    """The approved hooks that are gone, or changed: they match as they did when they were approved."""
    root, env = readers.root, readers.env
    here = {(hook.id.partition("#")[0], hook.definition) for hook in own}
    ids = {hook.id for hook in own}
    state = trust.find_nearest_state(approved.states, {hook.id: hook.definition for hook in own})
    for place, entry in state.hooks.items():
        file, _, spot = place.partition("#")
        if (file, entry["definition"]) in here:
            continue
        hook = _approved_hook(entry["definition"], state, env)
        changed = "its definition changed since you approved it"
        if place in off and not off[place].is_users:
            changed = f"{spell_switch(off[place], root)} switches it off since you approved it"
        why = changed if place in ids else f"it is gone from {file} since you approved it"
        record = {"why": why, "files": {}, "approved": [], "was_approved": True}
        path = trust.resolve_name(file, root, env)
        if hook is None:
            yield _unknown_ghost(entry, path, spot).replace(id=place, trust=record)
            continue
        gone = Found(hook, path, spot, str(Path(path).parent), "project", ())
        if hook.enabled:
            yield planned(gone).replace(loaded_by=readers.of(gone), id=place, trust=record)


def _approved_hook(definition: str, state: trust.ApprovedState, env: Mapping[str, str]) -> Hook | None:
    """A hook as it was approved, by the lock or by the text that was kept; None where both are gone."""
    tree = state.lock.get("definitions", {}).get(definition)
    kept = approvals.read_approved_text(definition, env) if tree is None else None
    text = spell_definition(tree) if tree is not None else (kept or b"").decode("utf-8", "surrogatepass")
    if trust.sha256(text.encode("utf-8", "surrogatepass")) != definition:
        return None
    try:
        hook = hook_of(text)
        get(hook.dialect)
    except (ValueError, HookportError):
        return None
    return hook


def _unknown_ghost(entry: Mapping[str, object], file: str, place: str) -> PlannedHook:
    """An approved hook of which only the event is known: it may have been for any call of it."""
    event = str(entry.get("event", ""))
    subject = "tool" if about_tool(event) else ""
    hub = next(name for name in list_dialects() if get(name).is_hub)
    return PlannedHook(str(entry.get("name", "")), event, hub, subject=subject, file=file, place=place)


def _approvals(root: str, env: Mapping[str, str]) -> list[str]:
    """The files that say what is approved."""
    return [path for path in (str(Path(root) / trust.LOCK), trust.find_store(env)) if path]


def runnable(found: Discovery) -> list[Found]:
    """The hooks that may run: those that are on, without the entries that call us."""
    return [one for one in listed(found) if _is_on(one)]


def listed(found: Discovery) -> list[Found]:
    """The same with those that a setting switches off: who asks what runs is told that they do not."""
    return [one for one in found.hooks if one.hook.enabled and not _is_bridge(one)]


def _is_on(found: Found) -> bool:
    return found.hook.enabled and found.off is None


def spell_switch(switch: Switch, root: str) -> str:
    """A setting and its file, as people write them."""
    file = switch.file.removeprefix(f"{root}{os.sep}")
    return f"`{switch.key}` in {file}"


def left_out(found: Discovery) -> Iterator[Finding]:
    """Hooks that are switched off and entries that call us, each with a finding."""
    for one in found.hooks:
        if not one.hook.enabled:
            yield HookDisabled.at(one.place, name=name_of(one))._replace(file=one.file)
        elif one.off and not _is_bridge(one):
            by = spell_switch(one.off, found.root)
            yield HookSwitchedOff.at(one.place, name=name_of(one), by=by, fix=one.off.fix)._replace(
                file=one.file
            )
        elif _is_bridge(one):
            yield BridgeEntry.at(one.place)._replace(file=one.file)


def _is_bridge(found: Found) -> bool:
    return is_ours(found.hook.handler.command)


def planned(found: Found) -> PlannedHook:
    """One hook as the plan has it."""
    hook, handler = found.hook, found.hook.handler
    dialect, own = get(hook.dialect), get_wire(hook.dialect)
    specs = _specs(found)
    written = [spec for spec, _ in find_slots(dialect, hook)]
    native = written[0] if len(written) == 1 else None
    spec = dialect.handlers.get(handler.type)
    waits = [one.default_timeout for one in specs if one.default_timeout is not None]
    default = waits[0] if waits else spec.timeout.default if spec else None
    timeout = handler.timeout or default or DEFAULT_TIMEOUT
    said = {key: getattr(handler, key) for key in SAME}
    said["command"] = one_word(handler.command, dialect.package_dir)
    bare = PlannedHook(
        name=name_of(found),
        event=hook.event,
        dialect=hook.dialect,
        native=native.native if native else "",
        subject="tool" if about_tool(hook.event) else specs[0].subject if specs else "",
        terms=[list(term) for term in hook.matcher],
        content=hook.content,
        condition=hook.condition,
        content_of=native.subject if native and native.subject in ("command", "path") else "",
        priority=DEFAULT_PRIORITY if hook.priority is None else hook.priority,
        # Where a dialect has no word for it, every hook may block.
        blocking=hook.blocking if dialect.is_hub or has_field(dialect, "blocking") else True,
        timeout_seconds=timeout.total_seconds(),
        file=found.file,
        place=found.place,
        package=found.package,
        scope=found.scope,
        does=found.runs,
    ).replace(**said)
    return bare.replace(
        once=_once(found),
        tools=find_tools(bare, own),
        rewrites=policy.is_guarded_event(hook.event) and _may_rewrite(found, own),
    )


def _once(found: Found) -> str:
    """By what the hook's own agent knows that two are the same: all that they run, and where that is told."""
    hook, dialect = found.hook, get(found.hook.dialect)
    if dialect.runs_once is None:
        return ""
    plugins = [*(place.path for place in dialect.locations if place.scope == "plugin"), *dialect.manifests]
    said = {key: getattr(hook.handler, key) for key in SAME}
    text = repr(
        (
            (hook.dialect, hook.event, hook.content, hook.condition, hook.blocking),
            hook.name if dialect.runs_once.by_name else "",
            found.package if found.file.endswith(tuple(plugins)) else "",
            [(key, dict(value) if isinstance(value, Mapping) else value) for key, value in said.items()],
        )
    )
    return trust.sha256(text.encode("utf-8", "surrogatepass"))[:ONCE_DIGITS]


def _may_rewrite(found: Found, own: Wire) -> bool:
    """Whether a hook's command or scripts have the words by which its dialect rewrites an input.

    Of one that does so all the same, nothing is lost: the hooks after it are asked again.
    """
    handler = found.hook.handler
    texts = [handler.command, *handler.platform.values(), *map(_start_of, found.scripts)]
    places = {place for table in own.reads.values() for place in table.get("input", ())}
    ways = [*(place.partition(":")[0].split(".") for place in places), ("hookport", "rewrite")]
    return any(all(word in text for word in way) for text in texts for way in ways)


def _start_of(script: str) -> str:
    try:
        return start_of(Path(script), LONGEST_SCRIPT).decode("utf-8", "replace")
    except OSError:
        return ""


def one_word(command: str, roots: Iterable[str]) -> str:
    """A command in which the package's folder stays one word, also where it has a blank.

    The formats write `bash ${PACKAGE_ROOT}/x.sh` and leave it to who runs it what becomes of the folder.
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


SAME = (
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


def name_of(found: Found) -> str:
    """What a person calls the hook: its name, the script it runs, or where it stands."""
    hook = found.hook
    script = named_script(hook.handler.command) if hook.handler.command else None
    return (
        hook.name
        or (script.word.rpartition("/")[2] if script else "")
        or found.place
        or Path(found.file).name
    )


def _specs(found: Found) -> list[EventSpec]:
    dialect = get(found.hook.dialect)
    native = split_native(found.hook.event)
    if native:
        spec = find_event(dialect, native[1])
        return [spec] if spec else []
    return find_event_specs(dialect, found.hook.event)


def _taken(watched: dict[str, None], found: Found) -> dict[str, list[int] | None]:
    """The stamps of a script that is known by its name, and of its folder: they matter to its hook only."""
    scripts = map(Path, found.scripts if get(found.hook.dialect).companions else ())
    paths = [str(path) for script in scripts for path in (script.parent, script)]
    taken = [path for path in paths if path in watched]
    for path in taken:
        del watched[path]
    return {path: plan.stamp(path) for path in taken}


def _own_files() -> list[str]:
    """The tables that wires are made of, and what other packages add to them."""
    folders = [Path(package.__file__ or "").parent for package in (agents, wires)]
    files = [str(path) for folder in folders for path in sorted(folder.glob("*.py"))]
    for module in map(agents.get_dialect_module, agents.list_added()):
        file = Path(module.__file__ or "")
        files += map(str, sorted(file.parent.glob("*.py")) if module.__package__ else [file])
    return [*files, *agents.list_package_folders()]


def _repositories(cwd: str, root: str) -> Iterator[str]:
    """The places whose being there makes another folder the project's root."""
    for folder in folders.upward(cwd or root):
        mark = Path(folder, ".git")
        yield str(mark)
        if folder == root and mark.exists():
            return


def _spoken(finding: Finding) -> str:
    place = f"{finding.file}:{finding.line}" if finding.line else finding.file
    return f"{finding.code} {place} {finding.message}"


def _parsed(text: bytes) -> DispatchPlan:
    found = plan.parse(text)
    assert isinstance(found, DispatchPlan)  # noqa: S101  (we made it)
    return found


def _keep(path: str, text: bytes, env: Mapping[str, str]) -> str:
    """Write a plan where the next dispatch finds it; empty, or why that did not work."""
    try:
        keep_file(path, plan.seal_plan(text, path, env))
        remove_old(os.path.dirname(path), FORGET_SECONDS)  # noqa: PTH120  (a string)
    except OSError as error:
        return f"{error.filename}: {error.strerror}"
    return ""
