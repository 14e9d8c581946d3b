"""Why a hook does not run in an agent: every gate on its way, in order, up to the first that is closed.

Each gate is judged by what `status` and `doctor` say of the same hook, so that none of them contradicts this.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from hookport.agents import Dialect, get, get_wire
from hookport.doctor import examine, world_of
from hookport.doctor.case import Diagnosis
from hookport.doctor.failures import spell_time
from hookport.doctor.files import World, shown
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
    gate_of,
    is_about,
)
from hookport.doctor.status import BY_ITSELF, UNAPPROVED, HookState, status
from hookport.findings import TrustUnseen, WordNotExpanded
from hookport.install.coverage import Cover, commands_for, cover_of
from hookport.install.entries import is_fired, planned_blocking
from hookport.install.sync import installed_in
from hookport.install.targets import SCOPES, target
from hookport.model.runs import Event
from hookport.project.discovery import Discovery, HookEntry, discover
from hookport.project.misplaced import Stray, find_misplaced
from hookport.project.ownership import is_dispatch, is_ours, waits_for_trust
from hookport.project.plan_builder import name_entry, plan_entry, plan_identified_entry, spell_switch
from hookport.runtime import engine, pauses, policy, trust
from hookport.wire.table import Wire

OK, FAILS, UNSEEN = "ok", "fails", "unseen"
NOT_BLOCKING = "nothing is to be obeyed: it does not block"
WITHOUT_BRIDGE = "not needed: it runs without the bridge"


class Step(NamedTuple):
    """One gate: `ok`, `fails` or `unseen` (nobody can look), what shows that, and the way out."""

    gate: str
    state: str
    text: str
    fix: str = ""
    code: str = ""


class Walk(NamedTuple):
    """A hook on its way to an effect in an agent; the last step is the first that fails, if one does."""

    hook: str
    file: str
    place: str
    agent: str
    steps: tuple[Step, ...]

    @property
    def failed(self) -> Step | None:
        """The gate that is closed."""
        return self.steps[-1] if self.steps and self.steps[-1].state == FAILS else None


class Known(NamedTuple):
    """What is known of a project: its hooks, what stands elsewhere, what the doctor and `status` say."""

    world: World
    found: Discovery
    strays: tuple[Stray, ...]
    diagnoses: tuple[Diagnosis, ...]
    rows: Mapping[tuple[str, str, str], HookState]
    paused: Mapping[str, float]

    def every_hook(self) -> tuple[HookEntry, ...]:
        """Every hook that was found, those too that are off or overridden, without entries that call us."""
        every = (*self.found.hooks, *self.found.scoped, *(one.hook for one in self.found.overridden))
        return tuple(one for one in every if not is_ours(one.hook.handler.command))


def look(cwd: str, env: Mapping[str, str], agents: Sequence[str]) -> Known:
    """Look at a project as agents see it."""
    found = discover(cwd, env)
    seen = status(cwd, env, agents)
    reports = [*examine(cwd, env, agents), *(one for one in examine(cwd, env, agents, is_quick=True))]
    diagnoses = {
        (one.agent, one.finding.code, one.finding.file, one.finding.where, one.finding.message): one
        for report in reports
        for one in report.diagnoses
    }
    rows = {(state.agent, row.file, row.place): row for state in seen.agents for row in state.hooks}
    strays = tuple(find_misplaced(found.root, env))
    return Known(world_of(cwd, env), found, strays, tuple(diagnoses.values()), rows, seen.paused)


def hooks_named(name: str, known: Known) -> list[HookEntry]:
    """The hooks that a word names: by their names, their places, their scripts or their files."""
    word = name.lower()
    every = known.every_hook()
    for key in (_exact, _partial):
        chosen = [one for one in every if key(word, one)]
        if chosen:
            return chosen
    return []


def _words(one: HookEntry) -> list[str]:
    scripts = [Path(path).name for path in one.scripts]
    folder = Path(one.package).name
    return [
        word.lower() for word in (name_entry(one), one.place, *scripts, one.file, Path(one.file).name, folder)
    ]


def _exact(word: str, one: HookEntry) -> bool:
    return word in _words(one)


def _partial(word: str, one: HookEntry) -> bool:
    own = [name_entry(one), one.file, *one.scripts]
    return any(word in text.lower() for text in own) or word in one.hook.handler.command.lower()


def walk(one: HookEntry, agent: str, known: Known, matching: Step | None = None) -> Walk:
    """The gates of a hook in an agent; `matching` is what a concrete call says of its matcher."""
    steps: list[Step] = []
    for step in _steps(one, get(agent), known, matching):
        steps.append(step)
        if step.state == FAILS:
            break
    return Walk(name_entry(one), one.file, one.place, agent, tuple(steps))


def match_step(one: HookEntry, event: Event, agent: Wire, env: Mapping[str, str]) -> Step:
    """Whether the matcher of a hook takes a concrete call, as a gate."""
    (run,) = engine.explain_hooks(event, [plan_entry(one)], engine.RunSetting(agent, get_wire, env))
    fix = "" if run.matched else "Widen its matcher if it should run on this call."
    return Step(MATCHES, OK if run.matched else FAILS, run.why, fix)


def _steps(one: HookEntry, dialect: Dialect, known: Known, matching: Step | None) -> Iterator[Step]:
    world, found = known.world, known.found
    root, env = found.root, world.env
    scopes = [installed_in(target(dialect.id, scope, root, env), found) for scope in SCOPES]
    is_scoped = one in found.scoped
    there = [scope.installed for scope in scopes]
    cover = cover_of(one, there, str(world.cwd), is_scoped=is_scoped, others=known.every_hook())
    row = known.rows.get((dialect.id, one.file, one.place))
    closed = dict(_closed(one, dialect, cover, known))
    yield Step(FOUND, OK, f"{shown(one.file, world)}: {one.place}".rstrip(": "))
    yield closed.get(RECOGNISED) or Step(RECOGNISED, OK, _reading(one))
    yield _enabled(one, known) or closed.get(ENABLED) or Step(ENABLED, OK, "nothing switches it off")
    yield closed.get(LOADED) or Step(LOADED, OK, _loading(dialect, cover, [*scopes[0].plan.paths], world))
    yield closed.get(TRUSTED) or _trusted(dialect, cover, row, known)
    is_bridged = any(
        map(is_dispatch, (it for scope in scopes for it in commands_for(scope.installed, one)[0]))
    )
    yield _approved(one, cover, row, known) if is_bridged else Step(APPROVED, OK, WITHOUT_BRIDGE)
    yield closed.get(FIRES) or Step(FIRES, OK, f"{dialect.title} fires {one.hook.event}")
    yield closed.get(MATCHES) or matching or Step(MATCHES, OK, _matcher(one))
    yield closed.get(STARTS) or _doubted(one, dialect, known) or Step(STARTS, OK, _last_run(row))
    yield closed.get(OBEYED) or _obeyed(one, dialect, row)


def _closed(one: HookEntry, dialect: Dialect, cover: Cover, known: Known) -> Iterator[tuple[str, Step]]:
    """The gates that are closed, the worst finding of each."""
    for diagnosis in reversed(known.diagnoses):
        finding = diagnosis.finding
        if finding.severity != "error" or diagnosis.agent not in ("", dialect.id):
            continue
        gate = gate_of(finding.code, diagnosis.agent)
        # What costs all hooks of a file is about how it is read, not about a matcher.
        gate = RECOGNISED if one.dropped and gate == MATCHES else gate
        is_of_file = not diagnosis.dead and finding.file == one.file and gate == RECOGNISED
        is_its = (one.file, one.place) in diagnosis.dead or is_of_file
        # Where nothing runs it, everything that is known may be the reason.
        if is_its and (not cover.by or is_about(finding.code, diagnosis.agent, cover.by)):
            yield gate, Step(gate, FAILS, _told(diagnosis), finding.hint, finding.code)
    if not cover.by:
        gate = _gate_of_gap(one, dialect, cover, known)
        yield gate, Step(gate, FAILS, cover.why, cover.fix)


def _doubted(one: HookEntry, dialect: Dialect, known: Known) -> Step | None:
    """What may keep a hook from starting, where the environment of the agent decides that."""
    for diagnosis in known.diagnoses:
        finding = diagnosis.finding
        is_its = (finding.file, finding.where) == (one.file, one.place)
        if is_its and finding.code == WordNotExpanded.code and diagnosis.agent in ("", dialect.id):
            return Step(STARTS, UNSEEN, _told(diagnosis), finding.hint, finding.code)
    return None


def _told(diagnosis: Diagnosis) -> str:
    evidence = diagnosis.evidence
    return f"{diagnosis.finding.message} ({evidence})" if evidence else diagnosis.finding.message


def _gate_of_gap(one: HookEntry, dialect: Dialect, cover: Cover, known: Known) -> str:
    """The gate at which a hook stops that nothing runs."""
    root, env = known.found.root, known.world.env
    if one.off:
        return ENABLED
    if not is_fired(dialect, one.hook):
        return FIRES
    is_distrusted = cover.why.startswith(f"{dialect.title} does not trust")
    return TRUSTED if is_distrusted or waits_for_trust(dialect, one, root, env) else LOADED


def _reading(one: HookEntry) -> str:
    about = f" on {_matcher(one)}" if one.hook.matcher or one.hook.content else ""
    return f"read as {one.hook.dialect}: {one.hook.event}{about}"


def _matcher(one: HookEntry) -> str:
    terms = " or ".join(term.value for term in one.hook.matcher)
    parts = [terms or "every call", f"pattern {one.hook.content}" if one.hook.content else ""]
    return ", ".join(filter(None, parts))


def _enabled(one: HookEntry, known: Known) -> Step | None:
    if not one.hook.enabled:
        return Step(ENABLED, FAILS, "it is switched off in its file", "Switch it on in its file.")
    if one.off:
        by = spell_switch(one.off, known.found.root)
        return Step(ENABLED, FAILS, f"{by} switches it off", one.off.fix)
    over = pauses.find_pause_end(known.paused, name_entry(one))
    if over:
        text = f"{engine.PAUSED} until {pauses.format_time(over)}"
        return Step(ENABLED, FAILS, text, "Run `hookport pause --end`.")
    return None


def _loading(dialect: Dialect, cover: Cover, paths: list[str], world: World) -> str:
    if cover.by == "agent":
        return f"{dialect.title} loads the file itself" + (f", {cover.why}" if cover.why else "")
    where = f" in {shown(paths[0], world)}" if paths else ""
    return f"an entry of hookport{where} runs it ({cover.state})"


def _trusted(dialect: Dialect, cover: Cover, row: HookState | None, known: Known) -> Step:
    if row and row.level == "unavailable" and "trust --agents" in row.reason:
        return Step(TRUSTED, FAILS, row.reason.partition(":")[0], "Run `hookport trust --agents`.")
    unseen = [
        one.finding
        for one in known.diagnoses
        if one.agent == dialect.id and one.finding.code == TrustUnseen.code
    ]
    if unseen and cover.by:
        return Step(TRUSTED, UNSEEN, unseen[0].message, unseen[0].hint)
    return Step(TRUSTED, OK, "nothing is known against it")


def _approved(one: HookEntry, cover: Cover, row: HookState | None, known: Known) -> Step:
    found, env = known.found, known.world.env
    if cover.by == "agent":
        return Step(APPROVED, OK, "not needed: the agent runs it by itself")
    if one.scope != "project":
        return Step(APPROVED, OK, "not needed: it is your own")
    if row and row.reason == UNAPPROVED:
        hook = plan_identified_entry(one, found.root, env)
        record = trust.record_approval(hook, found.root, env, trust.load_approval(found.root, env))
        why = trust.find_cause(trust.find_objection(record)) or "the plan of the project's bridge changed"
        return Step(APPROVED, FAILS, why, "Run `hookport trust`.")
    return Step(APPROVED, OK, "you approved it as it is")


def _last_run(row: HookState | None) -> str:
    if row and row.fired:
        return f"it last ran {spell_time(row.fired)}"
    return "its program is there and its script parses; it never ran here"


def _obeyed(one: HookEntry, dialect: Dialect, row: HookState | None) -> Step:
    if not planned_blocking(one.hook) or not policy.is_guarded_event(one.hook.event):
        reason = f"{NOT_BLOCKING}: it runs in the background" if one.hook.handler.is_async else NOT_BLOCKING
        return Step(OBEYED, OK, reason)
    if row and row.level == "advisory" and row.state in (BY_ITSELF, "installed", "drifted"):
        fix = "`hookport matrix` shows where it can block."
        return Step(OBEYED, FAILS, f"it runs, and its deny does not hold: {row.reason}", fix)
    return Step(OBEYED, OK, f"{dialect.title} stops what it denies")
