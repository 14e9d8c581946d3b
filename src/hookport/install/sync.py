"""Entries in agents' files: the wanted, the installed, and the edits between them; nothing is written here.

Every edit is a splice, so the rest of the file is left untouched. Our entries are recognised by their
commands, whatever version or path they name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from hookport import documents
from hookport import findings as f
from hookport.agents import Tree, get
from hookport.agents import list_agents as all_agents
from hookport.convert import checks, edit, pipeline
from hookport.convert.degrade.wrapping import BridgeCall
from hookport.convert.pipeline import Reading
from hookport.errors import InputError, InternalError, Problem, UsageError, spell_path
from hookport.findings import Finding
from hookport.install import adoption, entries, files, ledger, packages
from hookport.install.coverage import InstalledEntries, find_gaps, report_gaps
from hookport.install.entries import Entries, ServedEvent
from hookport.install.shortfalls import find_shortfalls
from hookport.install.targets import SCOPES, Scope, Target, detect_agents, find_target, is_generated
from hookport.install.withdrawal import take_back
from hookport.model.hooks import Hook, Manifest
from hookport.project.contents import Change, read_file
from hookport.project.discovery import Discovery, HookEntry, discover, find_project_root
from hookport.project.misplaced import find_misplaced
from hookport.project.ownership import find_agent, find_also_read_place, is_dispatch, is_ours
from hookport.project.plan_builder import judge_entries, list_enabled, name_entry
from hookport.runtime import trust
from hookport.shapes.dialect import SHADOWS, find_quirk, has_field
from hookport.shapes.entries import find_slots
from hookport.vendor import vendored, writer

Choice = Literal["auto", "native", "bridge"]
State = Literal["installed", "drifted", "missing", "absent"]
ATTEMPTS = 20
# The files that the project brings along.
VENDORED_FILES = (vendored.ARCHIVE, vendored.PLAN)
# The fix if an agent itself runs a hook of another's file.
ADOPT = "Run `hookport sync --agent {agent}{options} --adopt`: then only the installed entry runs it."
SERVES_ALL = "the entries there serve every project; `hookport unsync --scope user` removes them"
KEEP_APART = "Keep it in a file that only hookport reads, such as .hookport/hooks.json."
# Errors that make an agent's loader refuse an entry.
REJECTED = (f.NeverRuns.code, f.TimeoutNever.code)
# Findings that apply to every hook, however the agent runs it.
CODES_OF_HOOKS = (f.GuardCutShort.code, f.ContextLost.code, f.AnswerFieldLost.code)
SCRIPT_TAKEN = (
    "is your own script, and {title} runs only one script of that name, so hookport adds none. Rewrite it "
    "as a hook of another dialect (`hookport new`) and remove it; hookport then runs it with the others"
)


class AgentPlan(NamedTuple):
    """The plan for one agent: the edits, the mode and the reason; `state` is what is installed now."""

    agent: str
    scope: Scope
    # The folder or program by which the agent was detected.
    shown: str
    mode: str
    why: str
    state: State
    hooks: tuple[Hook, ...] = ()
    changes: tuple[Change, ...] = ()
    paths: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()


class AgentStanding(NamedTuple):
    """Our entries in one agent's files of one scope, and the plan for them."""

    installed: InstalledEntries
    plan: AgentPlan


class SyncPlan(NamedTuple):
    """The plan for all agents."""

    root: str
    agents: tuple[AgentPlan, ...]
    changes: tuple[Change, ...]
    findings: tuple[Finding, ...]


class SyncRequest(NamedTuple):
    """The user's choices: the agents (by default all detected ones), the scope, the mode."""

    agents: tuple[str, ...] = ()
    scope: Scope = "project"
    mode: Choice = "auto"
    vendor: bool = False
    # Put a test before commands that an agent reads in another's file, so that they run once.
    adopt: bool = False


def _ignore_progress(_agent: str, _number: int, _count: int) -> None:
    """Ignore progress."""


def plan_sync(
    cwd: str,
    env: Mapping[str, str],
    request: SyncRequest,
    tell: Callable[[str, int, int], None] = _ignore_progress,
) -> SyncPlan:
    """Plan the edits that give every agent its entries; `tell` receives the next agent."""
    discovery = discover(cwd, env)
    evidence = {detected.agent: detected.why for detected in detect_agents(discovery.root, env)}
    chosen = tuple(dict.fromkeys(get(name).id for name in request.agents)) or tuple(evidence)
    _require_agents(chosen)
    if request.vendor and request.scope == "user":
        raise UsageError(
            "--vendor is for one project and --scope user for all projects", hint="use only one of them"
        )
    request = request._replace(vendor=request.vendor or brings_bridge(discovery.root, request.scope))
    plans: list[AgentPlan] = []
    for number, agent in enumerate(chosen):
        tell(agent, number, len(chosen))
        target = find_target(agent, request.scope, discovery.root, env)
        agent_plan = plan_agent(target, discovery, request)._replace(shown=evidence.get(agent, "named"))
        plans.append(_report_uncovered(agent_plan, target, discovery, cwd))
    _require_editable(plans)
    plans = _add_adoption_tests(plans, discovery, request, env)
    changes = [change for agent_plan in plans for change in agent_plan.changes]
    general: list[Finding] = [finding for finding in discovery.findings if finding.severity == "error"]
    general += [stray.finding for stray in find_misplaced(discovery.root, env)]
    if request.vendor:
        changes += _plan_bridge_changes(discovery.root, changes)
        general += writer.find_left_out(discovery.root)
    else:
        general += _find_unseen_packages(plans)
    if not request.vendor and request.scope == "project" and changes:
        general.append(f.OfThisMachine.at(""))
    alone = [agent_plan.agent for agent_plan in plans if agent_plan.mode == "native" and agent_plan.changes]
    if alone:
        general.append(f.NotGuarded.at("", agents=", ".join(alone)))
    names = (
        list(find_unapproved(discovery, env).values())
        if any(agent_plan.mode == "bridge" for agent_plan in plans)
        else []
    )
    if names:
        general.append(f.NotApproved.at("", names=", ".join(names)))
    elif request.vendor and any(
        change.path == str(Path(discovery.root, vendored.PLAN)) for change in changes
    ):
        # Its hooks run again once the new plan is approved, which is the next step.
        general.append(f.BridgeUnlocked.at("", name=vendored.PLAN)._replace(severity="loss"))
    return SyncPlan(discovery.root, tuple(plans), tuple(changes), tuple(general))


def _add_adoption_tests(
    plans: Sequence[AgentPlan], discovery: Discovery, request: SyncRequest, env: Mapping[str, str]
) -> list[AgentPlan]:
    """The plans with the tests before commands that an agent reads in another's file.

    Existing tests are kept, and rewritten for the agents that are synced.
    """
    plans = list(plans)
    for path in adoption.list_foreign_files(discovery.root, env):
        owner = adoption.find_owner(path, discovery.root, env)
        before = read_file(path)
        if owner is None or before is None:
            continue
        current_tests = adoption.read_tests(path, owner)
        wanted_tests = {command: dict(tests) for command, tests in current_tests.items()}
        by = len(plans)
        for number, agent_plan in enumerate(plans):
            own_tests = _make_tests(agent_plan, discovery, request, env).get(path, {})
            for command, text in own_tests.items():
                if request.adopt or agent_plan.agent in current_tests.get(command, {}):
                    wanted_tests.setdefault(command, {})[agent_plan.agent] = text
                    by = min(by, number)
            done = {command for command in own_tests if agent_plan.agent in wanted_tests.get(command, {})}
            plans[number] = agent_plan._replace(
                findings=tuple(_drop_adopted(agent_plan.findings, path, done, discovery))
            )
        pending = [
            (number, change)
            for number, pending_plan in enumerate(plans)
            for change in pending_plan.changes
            if change.path == path
        ]
        if pending and pending[0][1].after is None:
            continue
        number, now = (pending[0][0], pending[0][1].after or b"") if pending else (by, before)
        after = adoption.rewrite_tests(path, now, owner, wanted_tests)
        if after != now and number < len(plans):
            plans[number] = _add_change(plans[number], Change(path, before, after))
    return plans


def _make_tests(
    agent_plan: AgentPlan, discovery: Discovery, request: SyncRequest, env: Mapping[str, str]
) -> dict[str, dict[str, str]]:
    """The tests that let an agent's entries run the hooks it reads elsewhere."""
    if agent_plan.mode != "bridge" or not agent_plan.paths:
        return {}
    target = find_target(agent_plan.agent, agent_plan.scope, discovery.root, env)
    events = {hook.event for hook in agent_plan.hooks}
    hooks = [hook for hook in list_enabled(discovery) if hook.hook.event in events]
    return adoption.make_tests(
        target, hooks, entries.make_bridge_start(target, is_vendored=request.vendor), agent_plan.paths[0]
    )


def _drop_adopted(
    findings: Iterable[Finding], path: str, commands: Iterable[str], discovery: Discovery
) -> Iterator[Finding]:
    """The findings without those of hooks that no longer run twice."""
    places = {
        hook.place for hook in discovery.hooks if hook.file == path and hook.hook.handler.command in commands
    }
    for finding in findings:
        if (
            finding.code not in (f.RunsBesides.code, f.RunsWider.code)
            or finding.file != path
            or finding.where not in places
        ):
            yield finding


def _add_change(agent_plan: AgentPlan, change: Change) -> AgentPlan:
    rest = tuple(other for other in agent_plan.changes if other.path != change.path)
    state: State = "drifted" if agent_plan.state == "installed" else agent_plan.state
    paths = agent_plan.paths if change.path in agent_plan.paths else (*agent_plan.paths, change.path)
    return agent_plan._replace(changes=(*rest, change), paths=paths, state=state)


def find_installed(target: Target, discovery: Discovery) -> AgentStanding:
    """The installed entries of an agent, planned again in their own mode."""
    ours = tuple(hook for path in target.list_files() for hook in read_our_entries(target, path))
    commands = [hook.handler.command for hook in ours]
    mode: Choice = "auto"
    if commands:
        mode = "bridge" if any(map(is_dispatch, commands)) else "native"
    is_vendored = brings_bridge(discovery.root, target.scope) or any(
        vendored.ARCHIVE in command for command in commands
    )
    agent_plan = plan_agent(
        target, discovery, SyncRequest((target.agent,), target.scope, mode, vendor=is_vendored)
    )
    if all(finding.code != f.NotSynced.code for finding in agent_plan.findings):
        agent_plan = agent_plan._replace(findings=(*agent_plan.findings, *_find_unreadable(target)))
    return AgentStanding(
        InstalledEntries(target, agent_plan.mode, agent_plan.state, ours, agent_plan.hooks), agent_plan
    )


def _find_unreadable(target: Target) -> Iterator[Finding]:
    """Unreadable files of the agent, whose entries are unknown."""
    for path in target.list_files():
        data = read_file(path)
        try:
            if data is not None:
                pipeline.parse({path: data}, target.dialect)
        except InputError as error:
            yield from (_make_refusal(problem, target.agent) for problem in error.problems)


def _report_uncovered(agent_plan: AgentPlan, target: Target, discovery: Discovery, start: str) -> AgentPlan:
    """The plan with an error for each hook that would not run after it is applied."""
    if any(finding.code == f.NotSynced.code for finding in agent_plan.findings):
        return agent_plan
    other = next(scope for scope in SCOPES if scope != target.scope)
    elsewhere = find_installed(find_target(target.agent, other, target.root, target.env), discovery).installed
    after = InstalledEntries(target, agent_plan.mode, "installed", agent_plan.hooks, agent_plan.hooks)
    reported = {(error.file, error.where) for error in agent_plan.findings if error.severity == "error"}
    gaps = [
        gap
        for gap in find_gaps(list_enabled(discovery), discovery.scoped, (after, elsewhere), start)
        if (gap.hook.file, gap.hook.place) not in reported
    ]
    findings = [finding for finding, _ in report_gaps(gaps, target.dialect)]
    if not target.places() and findings:
        findings = [f.NoPlaceThere.at("", agent=target.agent, scope=target.scope, other=other)]
    return agent_plan._replace(findings=(*agent_plan.findings, *findings))


def brings_bridge(root: str, scope: Scope) -> bool:
    """Whether a project has its own bridge: one machine's paths must not replace it."""
    return scope == "project" and Path(root, vendored.ARCHIVE).is_file()


def _find_unseen_packages(plans: Iterable[AgentPlan]) -> Iterator[Finding]:
    """Findings for agents whose entries call a hookport that does not see their dialect's package."""
    for agent_plan in plans:
        folder = packages.find_unseen_folder(agent_plan.agent) if agent_plan.hooks else ""
        if folder:
            yield f.PackageUnseen.at("", dialect=agent_plan.agent, folder=folder)


def find_unknown_dialects(plan: SyncPlan, env: Mapping[str, str]) -> Iterator[Finding]:
    """Findings for entries with a dialect that the project's bridge was built without."""
    for agent_plan in plan.agents:
        target = find_target(agent_plan.agent, agent_plan.scope, plan.root, env)
        for path in target.list_files():
            commands = [hook.handler.command for hook in read_our_entries(target, path)]
            for name in dict.fromkeys(
                name for text in commands for name in writer.find_lacking(plan.root, text)
            ):
                finding = f.BridgeLacks.at("", bridge=writer.BRIDGE, dialect=name, option=" --vendor")
                yield finding._replace(file=path)


def find_unapproved(discovery: Discovery, env: Mapping[str, str]) -> dict[tuple[str, str], str]:
    """The names of the project's unapproved hooks, by file and place."""
    hooks = [hook for hook in judge_entries(discovery, env) if hook.scope == "project"]
    return {
        (hook.file, hook.place): hook.name
        for hook in hooks
        if trust.find_hook_objection(hook, discovery.root, env)
    }


def _require_editable(plans: Sequence[AgentPlan]) -> None:
    """Raise InputError if no agent's files can be edited."""
    refused = [finding for plan in plans for finding in plan.findings if finding.code == f.NotSynced.code]
    if refused and all(any(finding.code == f.NotSynced.code for finding in plan.findings) for plan in plans):
        raise InputError(
            *(Problem(finding.message, (), finding.file, finding.line, finding.column) for finding in refused)
        )


def _require_agents(names: Iterable[str]) -> None:
    for name in names:
        if get(name).kind != "agent":
            raise UsageError(
                f"'{name}' is a format, not an agent", hint="`hookport dialects` lists the agents"
            )


def _plan_bridge_changes(root: str, changes: Sequence[Change]) -> list[Change]:
    """The project's own bridge, with the plan of its hooks after the edits."""
    return writer.plan_changes(root, {change.path: change.after for change in changes})


def plan_agent(target: Target, discovery: Discovery, request: SyncRequest) -> AgentPlan:
    """Plan the edits for one agent; an obstacle becomes a finding, and none of its files is touched."""
    if not target.places():
        return AgentPlan(target.agent, target.scope, "", "", "", "absent")
    try:
        _require_readable(target)
        wanted = _find_wanted_entries(target, discovery, request)
        try:
            return _plan_edits(target, wanted)
        except InternalError:
            if wanted.mode != "native" or not target.dialect.products:
                raise
        bridged = _find_wanted_entries(target, discovery, request._replace(mode="bridge"))
        why = "the existing files are for one product, and cannot express every hook"
        return _plan_edits(target, bridged._replace(why=why))
    except InputError as error:
        refused = [_make_refusal(problem, target.agent) for problem in error.problems]
    except InternalError as error:  # other agents' files are unaffected
        refused = [_make_refusal(Problem(str(error)), target.agent)]
    return AgentPlan(target.agent, target.scope, "", "", "", "absent", findings=tuple(refused))


def _require_readable(target: Target) -> None:
    """Require that a hidden file is readable: otherwise we might hide hooks in it."""
    places = dict.fromkeys(
        place for shadow in find_quirk(target.dialect, SHADOWS) for place in (shadow.file, shadow.by)
    )
    paths = [target.path(place) for place in places if place.startswith("~/") == (target.scope == "user")]
    pipeline.parse({path: data for path in paths if (data := read_file(path)) is not None}, target.dialect)


def _make_refusal(problem: Problem, agent: str) -> Finding:
    where = spell_path(problem.path)
    finding = f.NotSynced.at(where, message=problem.message.removesuffix("."), agent=agent)
    return finding._replace(file=problem.file, line=problem.line, column=problem.column)


def _find_wanted_entries(target: Target, discovery: Discovery, request: SyncRequest) -> Entries:
    """Plan the entries that the agent needs for the hooks of the scope."""
    start = entries.make_bridge_start(target, is_vendored=request.vendor)
    # The bridge is also called for hooks that are switched off: it knows when they are on again.
    hooks = [
        hook for hook in list_enabled(discovery) if request.mode == "bridge" or hook.scope == target.scope
    ]
    twice: list[tuple[Finding, bool]] = []
    entry_hooks: list[HookEntry] = []
    for hook in hooks:
        if entries.needs_entry(target, hook):
            entry_hooks.append(hook)
            besides = find_also_read_place(target.dialect, hook, discovery.root, target.env)
            if besides:
                twice.append(
                    (_report_double_run(target, hook, besides, request), adoption.is_adopted(target, hook))
                )
    on = [hook for hook in entry_hooks if hook.off is None]
    serving = _find_served_events(target)
    if request.mode == "native":
        chosen = entries.plan_native_entries(target, on, start)._replace(why="requested")
        if serving:
            chosen = chosen._replace(findings=(*chosen.findings, f.ServesNoMore.at("", agent=target.agent)))
    elif request.mode == "bridge":
        chosen = entries.plan_bridge_entries(target, entry_hooks, start, serving)._replace(why="requested")
    elif entry_hooks or serving:
        chosen = _choose_lossless(target, entry_hooks, discovery, start, serving)
    else:
        why = f"the {target.scope} has no hooks"
        if hooks:
            why = f"{target.dialect.title} loads every hook of the {target.scope} from its own files"
        chosen = Entries("native", why, ())
    findings = [finding for finding, is_adopted in twice if chosen.mode != "bridge" or not is_adopted]
    findings += [finding for finding in chosen.findings if finding.code not in CODES_OF_HOOKS]
    findings += _report_copies(target, on) if chosen.mode == "native" else ()
    runs = list_enabled(discovery) if chosen.mode == "bridge" else hooks
    return chosen._replace(findings=(*findings, *find_shortfalls(target, runs)))


def _choose_lossless(
    target: Target,
    hooks: Sequence[HookEntry],
    discovery: Discovery,
    start: BridgeCall,
    serving: Mapping[str, ServedEvent],
) -> Entries:
    """Plan the entries in the mode that loses nothing."""
    chosen = entries.choose_entries(target, hooks, start, serving)
    if chosen.mode == "bridge" or serving:
        everything = [hook for hook in list_enabled(discovery) if entries.needs_entry(target, hook)]
        why = chosen.why if chosen.mode == "bridge" else SERVES_ALL
        return entries.plan_bridge_entries(target, everything, start, serving)._replace(why=why)
    on = [hook for hook in hooks if hook.off is None]
    return chosen if on == hooks else entries.plan_native_entries(target, on, start)._replace(why=chosen.why)


def _report_copies(target: Target, hooks: Sequence[HookEntry]) -> Iterator[Finding]:
    """Findings for copies in several agents' files that would each run."""
    for copy, other in entries.find_copies(hooks):
        finding = f.CopyRuns.at(copy.place, agent=target.agent, name=name_entry(copy), other=other.file)
        yield finding._replace(file=copy.file)


def _report_double_run(target: Target, hook: HookEntry, file: str, request: SyncRequest) -> Finding:
    """The finding that a hook may run twice, with the fix."""
    why = adoption.find_obstacle(target, hook)
    # A project's entry does not exist everywhere that a user's file is read; native entries take no test.
    options = " --scope user" if "user" in (target.scope, hook.scope) else ""
    options += " --mode bridge" if request.mode == "native" else ""
    fix = (
        f"It cannot be adopted: {why}. {KEEP_APART}"
        if why
        else ADOPT.format(agent=target.agent, options=options)
    )
    is_wider = bool(hook.hook.condition) and not has_field(
        target.dialect, "condition", hook.hook.handler.type
    )
    kind = f.RunsWider if is_wider else f.RunsBesides
    return kind.at(hook.place, agent=target.agent, file=file, fix=fix)._replace(file=hook.file)


def _find_served_events(target: Target) -> dict[str, ServedEvent]:
    """What the entries in a user's file do, by event: they serve every project, so this stays."""
    if target.scope != "user":
        return {}
    served: dict[str, ServedEvent] = {}
    for path in target.list_files():
        for hook in read_our_entries(target, path):
            if is_dispatch(hook.handler.command):
                former = served.get(hook.event, ServedEvent())
                timeout = max(former.timeout, hook.handler.timeout or former.timeout)
                served[hook.event] = ServedEvent(former.guards or entries.is_guard(hook), timeout)
    return served


def read_our_entries(target: Target, path: str) -> list[Hook]:
    """Our entries for this agent in a file; none if it cannot be read."""
    data = read_file(path)
    return [] if data is None else decode_our_entries(target, path, data)


def decode_our_entries(target: Target, path: str, data: bytes) -> list[Hook]:
    """Our entries for this agent in a file's current or future bytes."""
    try:
        hooks = pipeline.read({path: data}, target.dialect).decoded.manifest.hooks
    except InputError:
        return []
    ours = [hook for hook in hooks if is_ours(hook.handler.command)]
    named = target.agent if target.is_own(path) else ""
    return [hook for hook in ours if (find_agent(hook.handler.command) or named) == target.agent]


def _plan_edits(target: Target, wanted: Entries) -> AgentPlan:
    """The splices that turn the installed entries into the wanted ones."""
    keys = target.dialect.shape.encode(target.dialect, Manifest(wanted.hooks)) if wanted.hooks else {}
    places = target.find_paths(keys)
    if keys and not places:
        raise InputError(Problem("no folder for its files: HOME is not set"))
    holding = {path: mine for path in target.list_files() if (mine := read_our_entries(target, path))}
    if wanted.hooks:
        hooks = entries.limit_to_agent(target, wanted.hooks, places.values())
        existing = target.read_existing(places.values())
        changes = _splice_entries(target, existing, hooks, places)
    else:
        hooks, existing = (), {path: data for path in holding if (data := read_file(path)) is not None}
        changes = [change for path in existing for change in _take_out_entries(target, path)]
    ours = [hook for path in existing for hook in holding.get(path, ())]
    state: State = "installed"
    if changes:
        state = "drifted" if ours else "missing"
    elif not hooks:
        state = "absent"
    findings = [*wanted.findings, *_find_double_entries(target, wanted.mode, [*places.values()], holding)]
    findings += _find_shared_files(target, places.values())
    if hooks and target.dialect.project_read == "start" and target.scope == "project":
        findings.append(f.OnlyAtStart.at("", agent=target.dialect.title))
    return AgentPlan(
        target.agent,
        target.scope,
        "",
        wanted.mode if hooks else "",
        wanted.why,
        state,
        hooks,
        tuple(changes),
        tuple(places.values()) if hooks else tuple(existing),
        tuple(findings),
    )


def _find_double_entries(
    target: Target, mode: str, paths: Sequence[str], holding: Mapping[str, list[Hook]]
) -> Iterator[Finding]:
    """Other files that the agent also reads, with entries of ours that run the same hooks again.

    Entries of another scope have another name, so of two that run all hooks, or the same hook, only one does.
    """
    if not paths:
        return
    other = next(scope for scope in SCOPES if scope != target.scope)
    elsewhere = find_target(target.agent, other, target.root, target.env)
    more = [
        path
        for path in elsewhere.list_files()
        if any(
            is_dispatch(hook.handler.command) != (mode == "bridge")
            for hook in read_our_entries(elsewhere, path)
        )
    ]
    for path in dict.fromkeys([*holding, *more]):
        if path not in paths and _resolve_path(path) not in map(_resolve_path, paths):
            yield f.EntryTwice.at("", agent=target.agent, other=path)._replace(file=paths[0])


def _find_shared_files(target: Target, paths: Iterable[str]) -> Iterator[Finding]:
    """Other agents that read the file, if nothing distinguishes the two."""
    for path in paths:
        for other in entries.find_readers(target, path):
            if not entries.can_tell_apart(target.agent, other.id):
                yield f.TwoAgentsRead.at("", agent=target.agent, other=other.id)._replace(file=path)


def _resolve_path(path: str) -> str:
    return str(Path(path).resolve())


def _encode_at(target: Target, manifest: Manifest, places: Mapping[str, str]) -> dict[str, Tree]:
    """The files as the places have them: one of another name than the project's may have another form."""
    dialect = target.dialect
    trees = dialect.shape.encode(dialect, manifest)
    if len(trees) != 1 or all(Path(key).name == Path(places.get(key, key)).name for key in trees):
        return trees
    in_scope = tuple(place for place in dialect.locations if place.scope == target.scope)
    fresh = dialect.shape.encode(dialect._replace(locations=in_scope or dialect.locations), manifest)
    return dict(zip(trees, fresh.values(), strict=True))


def _splice_entries(
    target: Target, existing: Mapping[str, bytes], hooks: Sequence[Hook], places: Mapping[str, str]
) -> list[Change]:
    """The files with our former entries replaced by these; every other hook stays in place."""
    dialect = target.dialect
    if not existing:
        return _make_whole_files(
            target, existing, _encode_at(target, Manifest(tuple(hooks)), places), places, hooks
        )
    for path in existing:
        if dialect.shape.in_place and not is_generated(path):
            raise InputError(Problem(SCRIPT_TAKEN.format(title=dialect.title), file=path))
    # A missing file of another product counts as an empty one.
    absent = [path for path in places.values() if path not in existing] if dialect.products else []
    blank = {path: b"" for path in absent if pipeline.detect_dialect_kind(dialect, path) == "toml"}
    reading = pipeline.read({**existing, **blank}, dialect)
    merged = _merge_hooks(reading.decoded.manifest.hooks, hooks, reading)
    if any(document.kind == "text" for document in reading.documents.values()):
        trees = dialect.shape.encode(dialect, Manifest(merged))
        return _make_whole_files(target, existing, trees, target.find_paths(trees), merged)
    after = edit.encode(reading, merged)
    after = {path: data for path, data in after.items() if data or path in existing}
    _check_result(target, after)
    return _make_changes(existing, after)


def _make_whole_files(
    target: Target,
    existing: Mapping[str, bytes],
    trees: Mapping[str, Tree],
    places: Mapping[str, str],
    hooks: Sequence[Hook],
) -> list[Change]:
    """Files that are written whole: new files and generated files."""
    after = {
        places[key]: documents.dump(tree, pipeline.detect_dialect_kind(target.dialect, places[key]))
        for key, tree in trees.items()
        if key in places
    }
    if len(after) == len(trees):
        pipeline.verify(target.dialect, after, tuple(hooks))
    _check_result(target, after)
    return _make_changes(existing, after)


def _make_changes(existing: Mapping[str, bytes], after: Mapping[str, bytes]) -> list[Change]:
    paths = dict.fromkeys([*existing, *after])
    pairs = [(path, existing.get(path), after.get(path)) for path in paths]
    return [
        Change(path, before, now, executable=bool(now and now.startswith(b"#!")))
        for path, before, now in pairs
        if before != now
    ]


def _merge_hooks(before: Sequence[Hook], wanted: Sequence[Hook], reading: Reading) -> tuple[Hook, ...]:
    """The file's hooks, with ours replaced in place and our new ones at the end."""
    remaining = list(wanted)
    unchanged = [hook for hook in before if hook in remaining and is_ours(hook.handler.command)]
    for hook in unchanged:
        if hook in remaining:
            remaining.remove(hook)
    merged: list[Hook] = []
    for hook in before:
        if not is_ours(hook.handler.command):
            merged.append(hook)
        elif hook in unchanged:
            unchanged.remove(hook)
            merged.append(hook)
        else:
            same = next(
                (
                    candidate
                    for candidate in remaining
                    if _find_slot(reading, candidate) == _find_slot(reading, hook)
                ),
                None,
            )
            if same is not None:
                remaining.remove(same)
                merged.append(same)
    return (*merged, *remaining)


def _find_slot(reading: Reading, hook: Hook) -> tuple[str, ...]:
    return tuple(spec.native for spec, _ in find_slots(reading.dialect, hook))


def _check_result(target: Target, after: Mapping[str, bytes]) -> None:
    """Require that the agent's loader accepts the result with our entries; else nothing is written."""
    reading = pipeline.read(after, target.dialect) if after else None
    if reading is None:
        return
    hooks = reading.decoded.manifest.hooks
    ours = {path for path in after if decode_our_entries(target, path, after[path])}
    dead = [
        rejected
        for rejected in reading.decoded.findings
        if rejected.code == f.NeverRuns.code and not rejected.where
    ]
    if problems := [
        Problem(rejected.message, file=rejected.file)
        for rejected in dead
        if rejected.hook is None and rejected.file in ours
    ]:
        raise InputError(*problems)
    for finding in (*reading.decoded.findings, *checks.check(reading)):
        mine = finding.hook is not None and is_ours(hooks[finding.hook].handler.command)
        if mine and finding.code in REJECTED:
            raise InternalError(f"{target.agent} would not run our entry: {finding.code} {finding.message}")


def plan_removal(
    cwd: str, env: Mapping[str, str], names: Sequence[str] = (), scope: Scope | None = None
) -> SyncPlan:
    """Plan the edits that remove everything of ours; without a scope, for the project and the user."""
    root = find_project_root(cwd, env)
    chosen = tuple(dict.fromkeys(get(name).id for name in names)) or all_agents()
    _require_agents(chosen)
    plans: list[AgentPlan] = []
    done_paths: set[str] = set()
    for agent in chosen:
        for place in SCOPES if scope is None else (scope,):
            target = find_target(agent, place, root, env)
            plans += _plan_agent_removal(target, done_paths)
    plans = _remove_adoption_tests(plans, chosen, scope, root, env)
    changes = [change for agent_plan in plans for change in agent_plan.changes]
    if not names and scope != "user":
        changes += [change for name in VENDORED_FILES for change in _restore_file(str(Path(root, name)), env)]
    return SyncPlan(root, tuple(plans), tuple(changes), ())


def _remove_adoption_tests(
    plans: Sequence[AgentPlan], agents: Sequence[str], scope: Scope | None, root: str, env: Mapping[str, str]
) -> list[AgentPlan]:
    """The plans without the tests of these agents: without our entries nothing else runs the hooks."""
    plans = list(plans)
    for path in adoption.list_foreign_files(root, env):
        owner = adoption.find_owner(path, root, env)
        before = read_file(path)
        if owner is None or before is None or (scope and scope != _find_scope(path, root)):
            continue
        pending = [
            (number, change)
            for number, agent_plan in enumerate(plans)
            for change in agent_plan.changes
            if change.path == path
        ]
        now = pending[0][1].after if pending else before
        remaining = {
            command: {agent: text for agent, text in tests.items() if agent not in agents}
            for command, tests in adoption.read_tests(path, owner).items()
        }
        after = adoption.rewrite_tests(path, now, owner, remaining) if now is not None else None
        if after == now:
            continue
        if not pending:
            plans.append(AgentPlan(owner.id, _find_scope(path, root), "", "", "", "installed"))
        number = pending[0][0] if pending else len(plans) - 1
        plans[number] = _add_change(plans[number], Change(path, before, after))
    return plans


def _find_scope(path: str, root: str) -> Scope:
    return "project" if Path(path).is_relative_to(root) else "user"


def _plan_agent_removal(target: Target, done_paths: set[str]) -> list[AgentPlan]:
    changes: list[Change] = []
    findings: list[Finding] = []
    for path in target.list_files():
        if path in done_paths or not (read_our_entries(target, path) or _is_in_ledger(target, path)):
            continue
        done_paths.add(path)
        try:
            changes += _take_out_entries(target, path)
        except InputError as error:
            findings += [_make_refusal(problem, target.agent) for problem in error.problems]
    if not changes and not findings:
        return []
    paths = tuple(change.path for change in changes)
    return [
        AgentPlan(
            target.agent, target.scope, "", "", "", "installed", (), tuple(changes), paths, tuple(findings)
        )
    ]


def _is_in_ledger(target: Target, path: str) -> bool:
    """Whether the ledger has our entries in a file that is no longer readable."""
    return target.is_own(path) and ledger.find_record(path, target.env) is not None


def _restore_file(path: str, env: Mapping[str, str]) -> list[Change]:
    """The former bytes of a file that is unchanged since we wrote it."""
    record, now = ledger.find_record(path, env), read_file(path)
    if record is None or not record.exact or now is None or now != record.written:
        return []
    return [Change(path, now, record.original)]


def _take_out_entries(target: Target, path: str) -> list[Change]:
    """The file's former bytes if nobody edited it since; else without our entries, or None if empty."""
    former = _restore_file(path, target.env)
    if former:
        return former
    before = read_file(path)
    if before is None:
        return []
    reading = pipeline.read({path: before}, target.dialect)
    hooks = reading.decoded.manifest.hooks
    remaining = tuple(hook for hook in hooks if not is_ours(hook.handler.command))
    if len(remaining) == len(hooks):
        return []
    record = ledger.find_record(path, target.env)
    restored = _withdraw_our_text(target, path, before, remaining, record)
    if restored is not None:
        return [Change(path, before, restored)]
    is_text = reading.documents[path].kind == "text"
    if is_text:
        trees = target.dialect.shape.encode(target.dialect, Manifest(remaining)) if remaining else {}
        after = next((documents.dump(tree, "text") for tree in trees.values()), None)
    else:
        after = edit.encode(reading, remaining).get(path)
    is_new = (record is not None and record.original is None) or "hookport" in Path(path).name
    if (
        after is not None
        and not remaining
        and is_new
        and not is_text
        and _is_bare(target, path, after, hooks)
    ):
        after = None
    return [Change(path, before, after, executable=bool(after and after.startswith(b"#!")))]


def _withdraw_our_text(
    target: Target, path: str, now: bytes, remaining: tuple[Hook, ...], record: ledger.Record | None
) -> bytes | None:
    """The file with exactly our text removed, if the remaining hooks can be read from it."""
    if record is None or not record.exact or record.original is None or record.written is None:
        return None
    restored = take_back(record.original, record.written, now)
    try:
        hooks = (
            pipeline.read({path: restored}, target.dialect).decoded.manifest.hooks
            if restored is not None
            else None
        )
    except InputError:
        return None
    return restored if hooks == remaining else None


def _is_bare(target: Target, path: str, data: bytes, hooks: tuple[Hook, ...]) -> bool:
    """Whether a file without hooks has nothing except what we wrote beside them."""
    tree = pipeline.parse({path: data}, target.dialect)[path].tree
    fresh = target.dialect.shape.encode(target.dialect, Manifest(hooks))
    written_trees = [written for written in fresh.values() if isinstance(written, dict)]
    return isinstance(tree, dict) and all(
        not value or any(written.get(key) == value for written in written_trees)
        for key, value in tree.items()
    )


def apply(make: Callable[[], SyncPlan], env: Mapping[str, str], *, what: str, ends: bool = False) -> SyncPlan:
    """Make a plan and apply it; plan again if a file changed meanwhile."""
    files.settle(env)
    for attempt in range(ATTEMPTS):
        sync_plan = make()
        if not sync_plan.changes:
            return sync_plan
        try:
            files.apply(sync_plan.changes, env, what=what, root=sync_plan.root, ends=ends)
        except files.ChangedError:
            if attempt == ATTEMPTS - 1:
                raise
        else:
            return sync_plan
    raise InternalError("a plan was neither applied nor refused")
