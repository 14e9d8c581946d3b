"""The entries that we want in one agent's file: a bridge call for each event, or each hook natively."""

from __future__ import annotations

import math
import re
import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal, NamedTuple

from hookport import findings as f
from hookport.agents import Dialect, EventSpec, find_event_specs, get, get_wire, list_agents
from hookport.base.quoting import quote
from hookport.convert.degrade import degrade
from hookport.convert.degrade.work import quote_powershell, write_deny_command
from hookport.convert.degrade.wrapping import AGENT_TESTS, PROGRAM, BridgeCall, agree
from hookport.findings import Finding
from hookport.install.targets import PLACES, Target
from hookport.model.events import EVENTS
from hookport.model.hooks import DEFAULT_TIMEOUT, NOTHING, Handler, Hook, Manifest
from hookport.project import ownership, sources
from hookport.project.discovery import HookEntry
from hookport.project.installed import locate_bridge_file
from hookport.project.ownership import AFTER, MARK, is_ours
from hookport.project.places import resolve_place
from hookport.project.plan_builder import name_entry, plan_entry, quote_package_root
from hookport.project.settings import load_settings
from hookport.runtime import policy, sessions
from hookport.runtime.main import ALIVE, FAILED_OPEN, GUARD, IS_ALIVE
from hookport.shapes.dialect import (
    CLOSED_BRIDGE,
    SECOND,
    find_exceptions,
    find_quirk,
    has_field,
    is_split,
    list_event_terms,
    list_locations,
    spell_exceptions,
)
from hookport.shapes.entries import find_slots, quote_shell_word
from hookport.shapes.limits import find_longest_wait
from hookport.shapes.matchers import normalise_terms
from hookport.vendor import vendored
from hookport.wire import recognition
from hookport.wire.table import find_table

Mode = Literal["native", "bridge"]
_START = re.compile(AGENT_TESTS)
_NAME = re.compile(r"\$\{(\w+)-\}")

# The share of the agent's waiting time for the bridge itself.
OVERHEAD = 5 * SECOND
GONE = "hookport was moved or uninstalled, so its hooks cannot run. Install it and run `hookport sync`."
DEAD = "hookport does not start, so this guard cannot run. Run `hookport doctor` in a terminal."
# The same for a bridge in the project, for people without hookport.
GONE_VENDORED = (
    "python3 or .hookport/bridge.pyz is missing, so the hooks of this project cannot run. "
    "Install Python, or restore the file: `git checkout -- .hookport`."
)
DEAD_VENDORED = (
    "the bridge of this project does not start, so this guard cannot run. "
    "Run `python3 .hookport/bridge.pyz status` in a terminal."
)
CORE = tuple(event.name for event in EVENTS.values() if event.tier == "core")
PACKAGE = "HOOKPORT_PACKAGE"


class Entries(NamedTuple):
    """The entries that we want in the file of one agent, and the reason for their mode."""

    mode: Mode
    why: str
    hooks: tuple[Hook, ...]
    findings: tuple[Finding, ...] = ()


class ServedEvent(NamedTuple):
    """What the entries of an event do for other projects: whether one guards, and the longest timeout."""

    guards: bool = False
    timeout: timedelta = 0 * SECOND


def make_bridge_start(target: Target, *, is_vendored: bool) -> BridgeCall:
    """How an entry starts the bridge: by its path on this machine, or by its path in the project."""
    if is_vendored:
        root = target.dialect.project_dir[0] if target.dialect.project_dir else "."
        file = vendored.ARCHIVE if root == "." else f'"{root}"/{vendored.ARCHIVE}'
        exists_test = f"command -v python3 >/dev/null 2>&1 && [ -f {file} ]"
        windows = "python -I -S " + vendored.ARCHIVE.replace("/", "\\")
        return BridgeCall(f"python3 -I -S {file}", exists_test, windows, target.scope)
    python, file = sys.executable, locate_bridge_file()
    if sys.platform == "win32":
        words = [_spell_windows_word(word) for word in (python, "-I", "-S", file)]
        windows = f"& {quote_powershell(python)} -I -S {quote_powershell(file)}"
        return BridgeCall(" ".join(words), "", windows, target.scope)
    exists_test = f"[ -x {shlex.quote(python)} ] && [ -f {shlex.quote(file)} ]"
    return BridgeCall(f"{shlex.quote(python)} -I -S {shlex.quote(file)}", exists_test, "", target.scope)


def _spell_windows_word(word: str) -> str:
    """A path that Git Bash and cmd read as one word, and PowerShell too if it has no blank."""
    word = word.replace("\\", "/")
    return f'"{word}"' if " " in word else word


def make_command(
    dialect: Dialect, spec: EventSpec, start: BridgeCall, within: timedelta | None, *, guards: bool = True
) -> str:
    """The call of the bridge for one event.

    If the bridge is gone or does not start, a guard's calls are denied in the agent's own form; other hooks
    pass with a message. Shell builtins do this, because nothing else may be left.
    """
    guards = guards and spec.blocks == "prevent"
    is_vendored = vendored.ARCHIVE in start.call
    gone, not_started = (GONE_VENDORED, DEAD_VENDORED) if is_vendored else (GONE, DEAD)
    call = f"{start.call} {_spell_arguments(dialect, spec, start, within)}"
    if not start.there:
        return call
    if not guards:
        quiet = 0 if _denies_by_one(dialect, spec) else 1
        return f"{start.there} || {{ printf '%s\\n' {quote(gone)} >&2; exit {quiet}; }}; {call}"
    missing, dead = (_make_deny(dialect, spec, text) for text in (gone, not_started))
    passes = 0 if _denies_by_one(dialect, spec) else 1
    answered = f"{IS_ALIVE}) exit 0;; {FAILED_OPEN}) exit {passes};;"
    if exits := "|".join(map(str, _list_own_exits(dialect, spec))):
        answered = f"{answered} {exits}) exit ${{hookport-}};;"
    watch = f"{AFTER} case ${{hookport-}} in {answered} *) {dead};; esac"
    return f"{start.there} || {{ {missing}; }}; {call} {ALIVE} {GUARD}{watch}"


def is_guard(entry: Hook) -> bool:
    """Whether an entry of ours denies if the bridge is gone."""
    return f" {GUARD}{AFTER}" in entry.handler.command


def _make_deny(dialect: Dialect, spec: EventSpec, text: str) -> str:
    denied = write_deny_command(dialect, text, spec.deny_answer)
    return denied if denied.endswith("exit 2") else f"{denied}; exit 0"


def _list_own_exits(dialect: Dialect, spec: EventSpec) -> list[int]:
    """The exit codes with which the bridge answers an event, except 0."""
    agent_wire = get_wire(dialect.id)
    tables = [agent_wire.answers, *agent_wire.answers_of.values()]
    pieces = [piece for table in tables for piece in find_table(table, spec.native, spec.canonical).values()]
    return sorted({piece.get("exit", 0) for piece in pieces} - {0})


def _denies_by_one(dialect: Dialect, spec: EventSpec) -> bool:
    """Whether the agent treats exit code 1 as a deny."""
    exits = find_table(get_wire(dialect.id).reads, spec.native, spec.canonical).get("exits") or {}
    return "deny" in (exits.get("1"), exits.get("+"))


def _spell_arguments(dialect: Dialect, spec: EventSpec, start: BridgeCall, within: timedelta | None) -> str:
    words = f"dispatch {dialect.id} {quote_shell_word(spec.native)} --entry={start.entry}"
    return f"{words} --within={within / SECOND:g}" if within else words


def _list_events(target: Target, hooks: Sequence[HookEntry], served: Iterable[str]) -> set[str]:
    """The events that need an entry: those of the hooks, and those that hookport itself needs.

    hookport shows messages when a session begins, protects hooks before a tool runs, and counts denied stops
    from one prompt to the next. A user's entries serve every project.
    """
    events = {hook.hook.event for hook in hooks}
    own_events = {"session_start", "before_tool_execute"}
    own_events |= {"before_prompt"} if events.intersection(sessions.STOPS) else set()
    return {*events, *own_events, *served, *(CORE if target.scope == "user" else ())}


def plan_bridge_entries(
    target: Target,
    found_hooks: Sequence[HookEntry],
    start: BridgeCall,
    served: Mapping[str, ServedEvent] = NOTHING,
) -> Entries:
    """One entry for each event that matters; only guards' calls are denied if the bridge is gone."""
    dialect = target.dialect
    events = _list_events(target, found_hooks, served)
    guarded = {hook.hook.event for hook in found_hooks if may_block(hook.hook)}
    guarded |= {event for event, serving in served.items() if serving.guards}
    settings = load_settings(target.root, target.env) if target.scope == "project" else {}
    fails_closed = settings.get("on_failure") == policy.CLOSED and has_field(dialect, "on_failure")
    hooks: list[Hook] = []
    for event in EVENTS:
        if event not in events or not find_event_specs(dialect, event):
            continue
        waits = [
            plan_entry(hook).timeout_seconds * SECOND for hook in found_hooks if hook.hook.event == event
        ]
        for spec, _ in find_slots(dialect, Hook(event, Handler())):
            # Some hooks run in turn: all must finish before the agent gives up.
            needed = max(DEFAULT_TIMEOUT, sum(waits, 0 * SECOND)) + OVERHEAD
            timeout = _limit_timeout(dialect, spec, max(needed, served.get(event, ServedEvent()).timeout))
            windows = f"{start.windows} {_spell_arguments(dialect, spec, start, timeout)}"
            platform = {"windows": windows} if start.windows and has_field(dialect, "windows") else NOTHING
            guards = event in guarded and spec.blocks == "prevent"
            closed = guards and (fails_closed or find_quirk(dialect, CLOSED_BRIDGE))
            hooks.append(
                Hook(
                    event,
                    Handler(
                        command=make_command(dialect, spec, start, timeout, guards=guards),
                        platform=platform,
                        timeout=timeout,
                        on_failure="block" if closed else "",
                    ),
                    matcher=normalise_terms(list_event_terms(spec)) if is_split(spec) else (),
                    blocking=spec.blocks != "observe",
                    name=f"hookport {spec.native}" if has_field(dialect, "name") else "",
                    dialect=dialect.id,
                )
            )
    degraded = degrade(Manifest(tuple(hooks)), dialect, (), {}, bridge=start)
    why = "it finds the hooks when an event fires, so only a hook on a new event needs a sync"
    kept_hooks = _keep_detected_products(target, degraded.manifest.hooks)
    findings = [*_find_advisory(target, found_hooks), *_find_unfired(target, found_hooks, kept_hooks)]
    return Entries("bridge", why, kept_hooks, tuple(findings))


def _keep_detected_products(target: Target, hooks: tuple[Hook, ...]) -> tuple[Hook, ...]:
    """The hooks that a detected product of the agent can express."""
    encode = target.dialect.shape.encode
    if not target.dialect.products or not hooks:
        return hooks
    written = set(target.find_paths(encode(target.dialect, Manifest(hooks))).values())
    alone = [target.find_paths(encode(target.dialect, Manifest((hook,)))) for hook in hooks]
    pairs = zip(hooks, alone, strict=True)
    return tuple(hook for hook, paths in pairs if written.intersection(paths.values()))


def _find_unfired(target: Target, hooks: Sequence[HookEntry], entries: Sequence[Hook]) -> Iterable[Finding]:
    """Hooks whose event the detected products lack, although another product has it."""
    events = {hook.event for hook in entries}
    for hook in hooks:
        if find_event_specs(target.dialect, hook.hook.event) and hook.hook.event not in events:
            reason = "only another product of it has the event"
            finding = f.NeverFires.at(
                hook.place, agent=target.agent, names=f"'{name_entry(hook)}'", verb="runs", reason=reason
            )
            yield finding._replace(file=hook.file)


def _limit_timeout(dialect: Dialect, spec: EventSpec, timeout: timedelta) -> timedelta | None:
    rule = dialect.handlers["command"].timeout
    if rule.unit is None:
        return None
    most = find_longest_wait(dialect, (spec,))
    timeout = max(timeout, rule.minimum or timeout)
    timeout = min(timeout, most or timeout)
    return math.ceil(timeout / rule.unit) * rule.unit if rule.whole else timeout


def _find_advisory(target: Target, hooks: Sequence[HookEntry]) -> Iterable[Finding]:
    """Hooks whose deny the agent does not obey."""
    for hook in hooks:
        level, reason = judge_enforcement(target.dialect, hook.hook)
        if level == "advisory" and hook.hook.blocking:
            finding = f.OnlyAdvises.at(hook.place, agent=target.agent, name=name_entry(hook), reason=reason)
            yield finding._replace(file=hook.file)


def judge_enforcement(dialect: Dialect, hook: Hook) -> tuple[str, str]:
    """Return (`enforced`, `advisory` or `unavailable`, why) for a hook that runs through the bridge."""
    specs = [spec for spec, _ in find_slots(dialect, hook._replace(provider_data=NOTHING))]
    if not specs:
        return "unavailable", dialect.lacks.get(hook.event, f"{dialect.title} has no such event")
    if not may_block(hook):
        return "advisory", "the hook does not block"
    deaf = [spec.native for spec in specs if spec.blocks == "observe"]
    if deaf:
        return "advisory", f"{dialect.title} does not obey a deny on {', '.join(deaf)}"
    partly = next((spec.partly for spec in specs if spec.partly), "")
    if partly:
        return "advisory", f"not everywhere: {partly}"
    return "enforced", ""


def find_hook_exceptions(dialect: Dialect, hook: Hook) -> tuple[str, ...]:
    """The calls that the agent does not ask an enforced hook about, in words."""
    return spell_exceptions(find_exceptions(dialect, hook.event, list_guarded_tools(hook)))


def list_guarded_tools(hook: Hook) -> list[str]:
    """The canonical tools that a hook's matcher names; empty if it may match others too."""
    is_for_tools = all(term.kind == "tool" for term in hook.matcher)
    return [term.value for term in hook.matcher] if is_for_tools else []


def is_fired(dialect: Dialect, hook: Hook) -> bool:
    """Whether the agent has an event for a hook."""
    return judge_enforcement(dialect, hook)[0] != "unavailable"


def may_block(hook: Hook) -> bool:
    """Whether the hook may block: if its dialect cannot express that, every hook may."""
    dialect = get(hook.dialect)
    return not hook.handler.is_async and (
        hook.blocking if dialect.is_hub or has_field(dialect, "blocking") else True
    )


def plan_native_entries(target: Target, found_hooks: Sequence[HookEntry], start: BridgeCall) -> Entries:
    """Each hook as its own entry, through the bridge if it was written for another wire."""
    dialect = target.dialect
    scripts: dict[str, dict[str, str]] = {}
    for found_hook in found_hooks:
        speaks, package = get(found_hook.hook.dialect), Path(found_hook.package)
        texts = sources.read_scripts(Path(target.root), (found_hook.hook,), speaks, package)
        scripts |= {
            _resolve_package(found_hook, target).handler.command: {
                name: text for of in texts.values() for name, text in of.items()
            }
        }
    wheres = tuple(f"{found_hook.file}: {found_hook.place}" for found_hook in found_hooks)
    manifest = Manifest(tuple(_resolve_package(found_hook, target) for found_hook in found_hooks))
    degraded = degrade(manifest, dialect, wheres, scripts, bridge=start)
    findings = [
        _place_finding(finding, found_hooks) for finding in degraded.findings if finding.severity != "note"
    ]
    hooks: list[Hook] = []
    for hook, number in zip(degraded.manifest.hooks, degraded.kept, strict=True):
        if hook.handler.type != "command":
            found_hook = found_hooks[number]
            only = f.OnlyByBridge.at(
                found_hook.place, agent=dialect.id, name=name_entry(found_hook), type=hook.handler.type
            )
            findings.append(only._replace(file=found_hook.file))
            continue
        text = hook.handler.command
        hooks.append(hook if is_ours(text) else _replace_command(hook, _add_mark(text)))
    return Entries("native", "", tuple(hooks), tuple(findings))


def _add_mark(text: str) -> str:
    """A command with the comment that marks it as ours."""
    return f"{text}\n{MARK}" if "\n" in text or text.endswith("\\") else f"{text} {MARK}"


def _replace_command(hook: Hook, text: str) -> Hook:
    return hook._replace(handler=hook.handler._replace(command=text))


def _place_finding(finding: Finding, hooks: Sequence[HookEntry]) -> Finding:
    hook = hooks[finding.hook] if finding.hook is not None and finding.hook < len(hooks) else None
    return finding._replace(hook=None, where=hook.place, file=hook.file) if hook else finding


def _resolve_package(found_hook: HookEntry, target: Target) -> Hook:
    """The hook with its package's folder filled in, which no agent knows."""
    hook, dialect = found_hook.hook, get(found_hook.hook.dialect)
    if not dialect.package_dir or hook.handler.type != "command":
        return hook
    texts = {"": hook.handler.command, **hook.handler.platform}
    is_inside = get_wire(dialect.id).starts_in == "package" and not _is_of_project(found_hook, dialect)
    if not is_inside and not any(word in text for text in texts.values() for word in dialect.package_dir):
        return hook
    texts = {name: quote_package_root(text, dialect.package_dir) for name, text in texts.items()}
    if is_inside:
        texts[""] = f'cd "{dialect.package_dir[0]}" || exit 1; {texts[""]}'
    for spelling in sorted(dialect.package_dir, key=len, reverse=True):
        texts = {name: text.replace(spelling, f"${{{PACKAGE}-}}") for name, text in texts.items()}
    names = [name for name, value in get_wire(dialect.id).env.items() if value == "$package"]
    env = {**hook.handler.env, **dict.fromkeys([PACKAGE, *names], found_hook.package)}
    if word := _spell_portable_folder(found_hook, target):
        env = dict(hook.handler.env)
        same = "".join(f' {name}="${{{PACKAGE}-}}"' for name in names)
        texts[""] = f"{PACKAGE}={word}; export {PACKAGE}{same}; {texts['']}"
    command_text = texts.pop("")
    return hook._replace(
        handler=hook.handler._replace(command=command_text, platform=texts or NOTHING, env=env)
    )


def _spell_portable_folder(hook: HookEntry, target: Target) -> str:
    """The folder of a package in the project, for any machine; empty if this machine's path is fine.

    A project's entries are shared: with one machine's path, its guards would start nowhere else.
    """
    package, roots = Path(hook.package), target.dialect.project_dir
    is_inside = target.scope == "project" and package.is_relative_to(target.root)
    if not is_inside or not roots or sys.platform == "win32":
        return ""
    below = package.relative_to(target.root).as_posix()
    root = f'"{roots[0]}"' if roots[0] != "." else '"${PWD-.}"'
    return root if below == "." else f"{root}/{shlex.quote(below)}"


def _is_of_project(hook: HookEntry, dialect: Dialect) -> bool:
    """Whether a hook is in a project's own file, so that it starts at the project root."""
    places = [place.path for place in dialect.locations if place.scope in ("project", "local")]
    return hook.scope == "project" and any(hook.file == str(Path(hook.package, path)) for path in places)


def find_copies(hooks: Sequence[HookEntry]) -> list[tuple[HookEntry, HookEntry]]:
    """The hooks that start the same script on the same event as an earlier hook, for another agent."""
    first: dict[tuple[str, str], HookEntry] = {}
    pairs = [(hook, first.setdefault((hook.hook.event, hook.runs), hook)) for hook in hooks]
    return [(hook, other) for hook, other in pairs if hook.hook.dialect != other.hook.dialect]


def choose_entries(
    target: Target, hooks: Sequence[HookEntry], start: BridgeCall, served: Mapping[str, ServedEvent] = NOTHING
) -> Entries:
    """Choose native mode if every hook works unchanged in the agent, else the bridge; with the reason."""
    dialect = target.dialect
    why = ""
    for found_hook in hooks:
        hook, name = found_hook.hook, name_entry(found_hook)
        if hook.handler.type != "command":
            why = f"'{name}' is not a command but of type {hook.handler.type}"
        elif not agree(get(hook.dialect), dialect, hook.event):
            why = f"'{name}' expects {hook.dialect}'s payload and answers"
        if why:
            break
    for copy, other in find_copies(hooks) if not why else ():
        why = f"'{name_entry(copy)}' is in {copy.file} and in {other.file}, and the bridge runs it once"
    alone = plan_native_entries(target, hooks, start) if not why else None
    if alone is not None:
        bad = [
            finding
            for finding in alone.findings
            if finding.severity == "error" or finding.effect == "dropped"
        ]
        lost = bad[0] if bad else None
        if lost is None:
            return alone._replace(why=f"every hook expects {dialect.title}'s own payload and answers")
        why = f"native mode would lose something ({lost.code} {lost.message})"
    return plan_bridge_entries(target, hooks, start, served)._replace(why=why)


def find_readers(target: Target, path: str) -> list[Dialect]:
    """The other agents that read a file of this one."""
    dialects = []
    for name in list_agents():
        dialect = get(name)
        scopes = PLACES[target.scope]
        places = list_locations(dialect, "own", "also read", "maybe read")
        paths = [place.path for place in places if place.scope in scopes]
        spots = [resolve_place(dialect, place, target.root, target.env) for place in paths]
        if name != target.agent and any(fnmatchcase(path, spot) for spot in spots if spot):
            dialects.append(dialect)
    return dialects


def limit_to_agent(target: Target, hooks: Sequence[Hook], paths: Iterable[str]) -> tuple[Hook, ...]:
    """The hooks, each ending at once in another agent that also reads the file and has entries of ours.

    The variable with the project root that an agent sets for its hooks identifies it. An agent started by
    another agent also has that agent's variable, so if the file's own agent shows itself, the hook runs. In
    an agent without entries of its own this one runs, or the agent's user would have no guard.
    """
    readers = {reader.id: reader for path in paths for reader in find_readers(target, path)}
    agent_env, foreign = get_wire(target.agent).env, [get_wire(other).env for other in readers]
    absent = [mark for env in foreign if (mark := find_mark(env, agent_env))]
    needs = [mark for env in foreign if not find_mark(env, agent_env) and (mark := find_mark(agent_env, env))]
    tests = [f'[ -n "${{{mark}-}}" ]' for mark in dict.fromkeys(needs)]
    if absent:
        tests.append('[ -z "' + "".join(f"${{{mark}-}}" for mark in dict.fromkeys(absent)) + '" ]')
    if not tests or sys.platform == "win32":
        return tuple(hooks)
    marks = (
        recognition.list_marker_variables(map(get_wire, list_agents())).get(target.agent, ())
        if absent
        else ()
    )
    if marks:
        tests[-1] += f' || [ -n "{"".join(f"${{{mark}-}}" for mark in marks)}" ]'
    words = [word for reader in readers.values() for word in _list_entry_files(reader, agent_env)]
    is_covered = f"! grep -qs {PROGRAM} {' '.join(dict.fromkeys(words))}"
    start = f"{' && '.join(tests)} || {is_covered} || exit 0; "
    return tuple(_replace_command(hook, start + hook.handler.command) for hook in hooks)


def _list_entry_files(reader: Dialect, agent_env: Mapping[str, object]) -> Iterator[str]:
    """The words for the files with our entries of another agent, which are no files while that does not run.

    Each variable has a default, because an agent may drop a command that names an unset one.
    """
    env = get_wire(reader.id).env
    if mark := find_mark(env, agent_env):
        starts = {"project": f"${{{mark}-/-}}/", "user": f"${{{mark}+${{HOME-}}}}/"}
    else:
        # It sets no variable of its own, and not that of the file's agent.
        mark = find_mark(agent_env, env)
        starts = {"project": f"${{{mark}+/-/}}", "user": f"${{{mark}+/-}}${{HOME-}}/"}
    for scope, start in starts.items():
        path = next((place.path for place in reader.locations if place.scope == scope), "")
        if path:
            yield f'"{start}{path.removeprefix("~/")}"'


def ends_at_once(command: str, agent: str) -> bool:
    """Whether an entry ends at once in an agent that no other agent started."""
    start = _START.match(command)
    if start is None:
        return False
    variables = {name for name, value in get_wire(agent).env.items() if value not in ("$package", "$data")}

    def holds(test: str) -> bool:
        is_set = any(name in variables for name in _NAME.findall(test))
        return is_set if test.startswith("[ -n ") else not is_set

    return not any(all(map(holds, part.split(" && "))) for part in start["tests"].split(" || "))


def find_mark(env: Mapping[str, object], other: Mapping[str, object]) -> str:
    """The variable with the project root that only the first of two agents sets; empty if none."""
    return next((name for name, value in env.items() if value == "$root" and name not in other), "")


def needs_entry(target: Target, hook: HookEntry) -> bool:
    """Whether an agent runs a hook only through an entry of ours, at least in some folders of the project.

    If it loads the hook's file whenever it loads our entry, it runs the hook itself.
    """
    how = ownership.find_loading(target.dialect, hook, target.root, target.env)
    if how is None:
        # An entry beside it in the same file would be equally untrusted, or a copy for its own product.
        about = (target.dialect, hook, target.root, target.env)
        return not (ownership.waits_for_trust(*about) or ownership.is_of_one_product(*about))
    if target.scope == "project":
        return False
    return how.below is not None or (how.proofs is not None and target.scope not in how.proofs)


def can_tell_apart(agent: str, other: str) -> bool:
    """Whether a hook can tell which of two agents runs it."""
    env, two = get_wire(agent).env, get_wire(other).env
    return bool(find_mark(env, two) or find_mark(two, env))
