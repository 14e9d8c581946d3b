"""Why a hook does not run in an agent: every gate on its way, in order, up to the first closed one.

The results of `status` and `doctor` for the same hook decide each gate, so that all three agree.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from hookport.agents import Dialect, get, get_wire
from hookport.doctor import examine, find_world
from hookport.doctor.case import Diagnosis
from hookport.doctor.failures import spell_time
from hookport.doctor.files import World, shorten_path
from hookport.doctor.order import (
    APPROVED,
    ENABLED,
    FIRES,
    FOUND,
    LOADED,
    MATCHES,
    OBEYED,
    RECOGNISED,
    STARTS,
    TRUSTED,
    find_gate,
    is_about,
)
from hookport.doctor.status import BY_ITSELF, UNAPPROVED, HookState, read_status
from hookport.findings import TrustUnseen, WordNotExpanded
from hookport.install.coverage import Cover, find_commands, find_cover
from hookport.install.entries import find_hook_exceptions, is_fired, may_block
from hookport.install.survey import Survey
from hookport.model.runs import Event
from hookport.project.discovery import Discovery, HookEntry
from hookport.project.misplaced import Stray, find_misplaced
from hookport.project.ownership import is_dispatch, is_ours, waits_for_trust
from hookport.project.plan_builder import name_entry, plan_entry, plan_identified_entry, spell_switch
from hookport.runtime import engine, pauses, policy, trust
from hookport.wire.table import Wire

OK, FAILS, UNSEEN = "ok", "fails", "unseen"
NOT_BLOCKING = "nothing to obey: it does not block"
WITHOUT_BRIDGE = "not needed: it runs without the bridge"


class GateStep(NamedTuple):
    """One gate: `ok`, `fails` or `unseen` (it cannot be checked), the evidence, and the fix."""

    gate: str
    state: str
    text: str
    fix: str = ""
    code: str = ""


class HookWalk(NamedTuple):
    """A hook on its way to an effect in an agent; the last step is the first that fails, if any."""

    hook: str
    file: str
    place: str
    agent: str
    steps: tuple[GateStep, ...]

    @property
    def failed(self) -> GateStep | None:
        """The closed gate."""
        return self.steps[-1] if self.steps and self.steps[-1].state == FAILS else None


class ProjectView(NamedTuple):
    """A project as diagnosed: its hooks, misplaced files, diagnoses, and the rows of `status`."""

    world: World
    survey: Survey
    strays: tuple[Stray, ...]
    diagnoses: tuple[Diagnosis, ...]
    rows: Mapping[tuple[str, str, str], HookState]
    paused: Mapping[str, float]

    @property
    def discovery(self) -> Discovery:
        return self.survey.discovery

    def list_hooks(self) -> tuple[HookEntry, ...]:
        """Every discovered hook, even if switched off or overridden, without entries that call us."""
        every = (
            *self.discovery.hooks,
            *self.discovery.scoped,
            *(overridden.hook for overridden in self.discovery.overridden),
        )
        return tuple(hook for hook in every if not is_ours(hook.hook.handler.command))


def view_project(cwd: str, env: Mapping[str, str], agents: Sequence[str]) -> ProjectView:
    """Diagnose a project as agents see it."""
    survey = Survey(cwd, env)
    project_status = read_status(cwd, env, agents, survey=survey)
    reports = [
        *examine(cwd, env, agents, survey=survey),
        *examine(cwd, env, agents, is_quick=True, survey=survey),
    ]
    diagnoses = {
        (
            diagnosis.agent,
            diagnosis.finding.code,
            diagnosis.finding.file,
            diagnosis.finding.where,
            diagnosis.finding.message,
        ): diagnosis
        for report in reports
        for diagnosis in report.diagnoses
    }
    rows = {(state.agent, row.file, row.place): row for state in project_status.agents for row in state.hooks}
    strays = tuple(find_misplaced(survey.discovery.root, env))
    return ProjectView(
        find_world(cwd, env), survey, strays, tuple(diagnoses.values()), rows, project_status.paused
    )


def find_hooks(name: str, project: ProjectView) -> list[HookEntry]:
    """The hooks that a word names: by name, place, script or file."""
    word = name.lower()
    every = project.list_hooks()
    for key in (_is_exact, _is_partial):
        chosen = [hook for hook in every if key(word, hook)]
        if chosen:
            return chosen
    return []


def _list_words(hook: HookEntry) -> list[str]:
    scripts = [Path(path).name for path in hook.scripts]
    folder = Path(hook.package).name
    return [
        word.lower()
        for word in (name_entry(hook), hook.place, *scripts, hook.file, Path(hook.file).name, folder)
    ]


def _is_exact(word: str, hook: HookEntry) -> bool:
    return word in _list_words(hook)


def _is_partial(word: str, hook: HookEntry) -> bool:
    texts = [name_entry(hook), hook.file, *hook.scripts]
    return any(word in text.lower() for text in texts) or word in hook.hook.handler.command.lower()


def walk_hook(
    hook: HookEntry, agent: str, project: ProjectView, matching: GateStep | None = None
) -> HookWalk:
    """The gates of a hook in an agent; `matching` is the step of its matcher for a concrete call."""
    steps: list[GateStep] = []
    for step in _walk_gates(hook, get(agent), project, matching):
        steps.append(step)
        if step.state == FAILS:
            break
    return HookWalk(name_entry(hook), hook.file, hook.place, agent, tuple(steps))


def make_match_step(hook: HookEntry, event: Event, agent: Wire, env: Mapping[str, str]) -> GateStep:
    """The gate of a hook's matcher for a concrete call."""
    (run,) = engine.explain_hooks(event, [plan_entry(hook)], engine.RunSetting(agent, get_wire, env))
    fix = "" if run.matched else "Widen its matcher if it should run on this call."
    return GateStep(MATCHES, OK if run.matched else FAILS, run.why, fix)


def _walk_gates(
    hook: HookEntry, dialect: Dialect, project: ProjectView, matching: GateStep | None
) -> Iterator[GateStep]:
    world, discovery = project.world, project.discovery
    scopes = project.survey.find_standings(dialect.id)
    is_scoped = hook in discovery.scoped
    installed = [scope.installed for scope in scopes]
    cover = find_cover(hook, installed, str(world.cwd), is_scoped=is_scoped, others=project.list_hooks())
    row = project.rows.get((dialect.id, hook.file, hook.place))
    closed = dict(_find_closed(hook, dialect, cover, project))
    yield GateStep(FOUND, OK, f"{shorten_path(hook.file, world)}: {hook.place}".rstrip(": "))
    yield closed.get(RECOGNISED) or GateStep(RECOGNISED, OK, _spell_reading(hook))
    yield (
        _check_enabled(hook, project)
        or closed.get(ENABLED)
        or GateStep(ENABLED, OK, "nothing switches it off")
    )
    yield closed.get(LOADED) or GateStep(
        LOADED, OK, _spell_loading(dialect, cover, [*scopes[0].plan.paths], world)
    )
    yield closed.get(TRUSTED) or _check_trusted(dialect, cover, row, project)
    is_bridged = any(
        map(is_dispatch, (command for scope in scopes for command in find_commands(scope.installed, hook)[0]))
    )
    yield _check_approved(hook, cover, row, project) if is_bridged else GateStep(APPROVED, OK, WITHOUT_BRIDGE)
    yield closed.get(FIRES) or GateStep(FIRES, OK, f"{dialect.title} fires {hook.hook.event}")
    yield closed.get(MATCHES) or matching or GateStep(MATCHES, OK, _spell_matcher(hook))
    yield (
        closed.get(STARTS)
        or _find_doubt(hook, dialect, project)
        or GateStep(STARTS, OK, _spell_last_run(row))
    )
    yield closed.get(OBEYED) or _check_obeyed(hook, dialect, row)


def _find_closed(
    hook: HookEntry, dialect: Dialect, cover: Cover, project: ProjectView
) -> Iterator[tuple[str, GateStep]]:
    """The closed gates, with the worst finding of each."""
    for diagnosis in reversed(project.diagnoses):
        finding = diagnosis.finding
        if finding.severity != "error" or diagnosis.agent not in ("", dialect.id):
            continue
        gate = find_gate(finding.code, diagnosis.agent)
        # An error that loses all hooks of a file is about reading it, not about a matcher.
        gate = RECOGNISED if hook.dropped and gate == MATCHES else gate
        is_of_file = not diagnosis.dead and finding.file == hook.file and gate == RECOGNISED
        is_its = (hook.file, hook.place) in diagnosis.dead or is_of_file
        # If nothing runs it, every finding may be the reason.
        if is_its and (not cover.by or is_about(finding.code, diagnosis.agent, cover.by)):
            yield gate, GateStep(gate, FAILS, _spell_diagnosis(diagnosis), finding.hint, finding.code)
    if not cover.by:
        gate = _find_gap_gate(hook, dialect, cover, project)
        fix = f"`hookport matrix --event {hook.hook.event}` shows which agents have the event."
        yield gate, GateStep(gate, FAILS, cover.why, cover.fix or (fix if gate == FIRES else ""))


def _find_doubt(hook: HookEntry, dialect: Dialect, project: ProjectView) -> GateStep | None:
    """What may prevent a hook from starting, if the agent's environment decides."""
    for diagnosis in project.diagnoses:
        finding = diagnosis.finding
        is_its = (finding.file, finding.where) == (hook.file, hook.place)
        if is_its and finding.code == WordNotExpanded.code and diagnosis.agent in ("", dialect.id):
            return GateStep(STARTS, UNSEEN, _spell_diagnosis(diagnosis), finding.hint, finding.code)
    return None


def _spell_diagnosis(diagnosis: Diagnosis) -> str:
    evidence = diagnosis.evidence
    return f"{diagnosis.finding.message} ({evidence})" if evidence else diagnosis.finding.message


def _find_gap_gate(hook: HookEntry, dialect: Dialect, cover: Cover, project: ProjectView) -> str:
    """The gate that stops a hook which nothing runs."""
    root, env = project.discovery.root, project.world.env
    if hook.off:
        return ENABLED
    if not is_fired(dialect, hook.hook):
        return FIRES
    is_distrusted = cover.why.startswith(f"{dialect.title} does not trust")
    return TRUSTED if is_distrusted or waits_for_trust(dialect, hook, root, env) else LOADED


def _spell_reading(hook: HookEntry) -> str:
    about = f" on {_spell_matcher(hook)}" if hook.hook.matcher or hook.hook.content else ""
    return f"read as {hook.hook.dialect}: {hook.hook.event}{about}"


def _spell_matcher(hook: HookEntry) -> str:
    terms = " or ".join(term.value for term in hook.hook.matcher)
    parts = [terms or "every call", f"pattern {hook.hook.content}" if hook.hook.content else ""]
    return ", ".join(filter(None, parts))


def _check_enabled(hook: HookEntry, project: ProjectView) -> GateStep | None:
    if not hook.hook.enabled:
        return GateStep(ENABLED, FAILS, "it is switched off in its file", "Switch it on in its file.")
    if hook.off:
        by = spell_switch(hook.off, project.discovery.root)
        return GateStep(ENABLED, FAILS, f"{by} switches it off", hook.off.fix)
    over = pauses.find_pause_end(project.paused, name_entry(hook))
    if over:
        text = f"{engine.PAUSED} until {pauses.format_time(over)}"
        return GateStep(ENABLED, FAILS, text, "Run `hookport pause --end`.")
    return None


def _spell_loading(dialect: Dialect, cover: Cover, paths: list[str], world: World) -> str:
    if cover.by == "agent":
        return f"{dialect.title} loads the file itself" + (f", {cover.why}" if cover.why else "")
    where = f" in {shorten_path(paths[0], world)}" if paths else ""
    return f"an entry of hookport{where} runs it ({cover.state})"


def _check_trusted(dialect: Dialect, cover: Cover, row: HookState | None, project: ProjectView) -> GateStep:
    if row and row.level == "unavailable" and "trust --in-agents" in row.reason:
        return GateStep(TRUSTED, FAILS, row.reason.partition(":")[0], "Run `hookport trust --in-agents`.")
    unseen = [
        diagnosis.finding
        for diagnosis in project.diagnoses
        if diagnosis.agent == dialect.id and diagnosis.finding.code == TrustUnseen.code
    ]
    if unseen and cover.by:
        return GateStep(TRUSTED, UNSEEN, unseen[0].message, unseen[0].hint)
    return GateStep(TRUSTED, OK, "no evidence against it")


def _check_approved(
    found_hook: HookEntry, cover: Cover, row: HookState | None, project: ProjectView
) -> GateStep:
    discovery, env = project.discovery, project.world.env
    if cover.by == "agent":
        return GateStep(APPROVED, OK, "not needed: the agent runs it itself")
    if found_hook.scope != "project":
        return GateStep(APPROVED, OK, "not needed: it is your own hook")
    if row and row.reason == UNAPPROVED:
        hook = plan_identified_entry(found_hook, discovery.root, env)
        record = trust.record_approval(hook, discovery.root, env, trust.load_approval(discovery.root, env))
        why = trust.find_cause(trust.find_objection(record)) or "the plan of the project's bridge changed"
        return GateStep(APPROVED, FAILS, why, "Run `hookport trust`.")
    return GateStep(APPROVED, OK, "you approved its current version")


def _spell_last_run(row: HookState | None) -> str:
    if row and row.fired:
        return f"it last ran {spell_time(row.fired)}"
    return "its program exists and its script parses; it never ran here"


def _check_obeyed(hook: HookEntry, dialect: Dialect, row: HookState | None) -> GateStep:
    if not may_block(hook.hook) or not policy.is_guarded_event(hook.hook.event):
        reason = f"{NOT_BLOCKING}: it runs in the background" if hook.hook.handler.is_async else NOT_BLOCKING
        return GateStep(OBEYED, OK, reason)
    if row and row.level == "advisory" and row.state in (BY_ITSELF, "installed", "drifted"):
        fix = "`hookport matrix --capability block` shows where it can block."
        return GateStep(OBEYED, FAILS, f"it runs, but its deny has no effect: {row.reason}", fix)
    exceptions = find_hook_exceptions(dialect, hook.hook)
    but = f", except {', '.join(exceptions)}" if exceptions else ""
    return GateStep(OBEYED, OK, f"{dialect.title} stops what it denies{but}")
