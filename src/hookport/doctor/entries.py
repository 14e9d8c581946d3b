"""Errors of the hooks themselves: findings of `hookport check`, and those that only this machine shows."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from hookport import findings as f
from hookport.agents import Dialect
from hookport.convert import checks
from hookport.convert.checks import CheckedEntry
from hookport.convert.checks.places import locate_finding
from hookport.convert.checks.scripts import check_scripts, find_named_script, find_started_scripts, needs_mode
from hookport.convert.degrade.wrapping import unwrap_hook
from hookport.doctor.bridge import is_ours
from hookport.doctor.case import (
    NOBODY,
    AgentCase,
    Diagnosis,
    Repair,
    diagnose_hook,
    identify_hook,
    make_file_finding,
)
from hookport.doctor.commands import CURLY
from hookport.doctor.files import LONGEST_LINE, SCOPES, HookFile, is_generated, shorten_path, spell_line
from hookport.doctor.health import BOM, Fault, Machine, find_start, find_start_faults, spell_mark_removal
from hookport.errors import InputError, spell_path
from hookport.findings import Finding
from hookport.model.tools import TOOLS
from hookport.project.agent_trust import spell_key
from hookport.project.disk import read_data
from hookport.runtime.redaction import clean
from hookport.shapes.dialect import EventSpec, find_event, is_gone, list_tool_names
from hookport.shapes.entries import find_slots

# Findings of `hookport check` for a hook that does not fire, or not as often as it should.
KEPT = (
    f.UnknownEvent,
    f.UnknownTool,
    f.DuplicateKey,
    f.NeverRuns,
    f.NoKnownTool,
    f.SuspiciousTimeout,
    f.ScriptMissing,
    f.ScriptNotExecutable,
    f.NoShebang,
    f.DuplicateHook,
    f.TimeoutNever,
    f.TimeoutCapped,
    f.GuardCutShort,
)
SCRIPTS = (f.ScriptMissing, f.ScriptNotExecutable, f.NoShebang)


def find_dropped(case: AgentCase) -> Iterator[Diagnosis]:
    """Files that the agent refuses because of one error in them."""
    for source in case.sources:
        for problem in source.problems:
            words = {"dialect": case.dialect.title, "message": problem.message}
            spot = (problem.line, problem.column)
            finding = make_file_finding(source.path, f.FileDropped, words, spell_path(problem.path), spot)
            if _starts_with_mark(source.path) and problem.message.endswith("byte order mark"):
                command = spell_mark_removal(shorten_path(source.path, case.world))
                finding = finding._replace(hint=f"Run `{command}`.")
            yield Diagnosis(case.dialect.id, finding, _read_raw_line(source.path, problem.line))


def _starts_with_mark(path: Path) -> bool:
    try:
        return (read_data(path, len(BOM)) or b"") == BOM
    except InputError:
        return False


def _read_raw_line(path: Path, line: int) -> str:
    """A line of a file that may have no known format."""
    try:
        data = read_data(path) if line else None
    except InputError:
        return ""
    lines = (data or b"").decode("utf-8", "replace").splitlines()
    return clean(lines[line - 1].strip())[:LONGEST_LINE] if 0 < line <= len(lines) else ""


def find_file_faults(case: AgentCase) -> Iterator[Diagnosis]:
    """The findings that the files alone show, for the installed version."""
    codes = {kind.code for kind in KEPT}
    for source in case.sources:
        if source.reading is None:
            continue
        findings = [
            *source.reading.decoded.findings,
            *checks.check(source.reading),
            *check_scripts(source.reading, case.world.root, unwrap_hook),
        ]
        for finding in (
            locate_finding(candidate, source.reading) for candidate in findings if candidate.code in codes
        ):
            hooks = [hook for hook in source.hooks if _is_about(finding, hook)]
            if finding.code == f.DuplicateKey.code or (hooks and not _is_reported(case, finding, hooks)):
                yield _diagnose_finding(case, source, finding, hooks)


def _is_about(finding: Finding, hook: CheckedEntry) -> bool:
    if finding.hook is not None:
        return finding.hook == hook.number
    place = f"{spell_path(hook.place.path)}."
    return not finding.where or place.startswith((f"{finding.where}.", f"{finding.where}["))


def _is_reported(case: AgentCase, finding: Finding, hooks: list[CheckedEntry]) -> bool:
    """Whether another check reports it: a switch, a hook that is switched off, or hookport's script."""
    switches = {spell_key(gate.key) for gate in case.dialect.gates}
    about_script = finding.code in {kind.code for kind in SCRIPTS}
    if finding.code == f.UnknownTool.code and any(map(_has_known_tool, hooks)):
        return True
    off = not any(hook.hook.enabled for hook in hooks)
    return finding.where in switches or off or (about_script and all(map(is_ours, hooks)))


def _has_known_tool(hook: CheckedEntry) -> bool:
    return any(term.kind != "tool" or term.value in TOOLS for term in hook.hook.matcher)


def _diagnose_finding(
    case: AgentCase, source: HookFile, finding: Finding, hooks: list[CheckedEntry]
) -> Diagnosis:
    """A finding of the files with its evidence and, if the version shows more, its severity."""
    evidence = spell_line(source.document, finding.line)
    repair = None
    if (
        finding.code == f.UnknownEvent.code
        and case.is_at_least(_find_next_version(case.dialect.facts)) is False
    ):
        event = str(hooks[0].place.path[len(source.dialect.shape.root)]) if hooks else ""
        words = {"dialect": case.dialect.title, "version": case.version, "event": event, "since": ""}
        known_ = f.EventNotThere.at(finding.where, None, **words)
        finding = known_._replace(line=finding.line, column=finding.column)
    elif finding.code == f.ScriptNotExecutable.code:
        scripts = [path for hook in hooks for _, path in find_started_scripts(hook, case.world.root)]
        target = next((path for path in scripts if path.is_file() and not os.access(path, os.X_OK)), None)
        if target:
            repair = Repair("chmod", str(target))
            evidence = f"{shorten_path(target, case.world)} has mode {target.stat().st_mode & 0o777:o}"
    finding = finding._replace(hook=None, file=str(source.path), hint=finding.hint or "Correct it.")
    dead = frozenset(identify_hook(source, hook) for hook in hooks) if finding.severity == "error" else NOBODY
    return Diagnosis(case.dialect.id, finding, evidence, dead, repair)


def _find_next_version(facts: str) -> str:
    """The lowest version that the facts may be too old for; none if they cover several products."""
    versions = re.findall(r"\d+(?:\.\d+)+", facts)
    return f"{versions[0]}.1" if len(versions) == 1 else ""


def find_missing_events(case: AgentCase) -> Iterator[Diagnosis]:
    """Events that the installed version lacks, or does not fire in every way of running."""
    for source, hook in case.hooks(("project", "local", "user")):
        spec = _find_spec(hook)
        if spec is None:
            continue
        if spec.since and case.is_at_least(spec.since) is False:
            words = {
                "version": case.version,
                "event": spec.native,
                "since": f", which came with {spec.since}",
            }
            yield diagnose_hook(
                case, source, hook, f.EventNotThere, f"{case.dialect.id} {case.version}", **words
            )
        elif spec.unfired:
            yield diagnose_hook(case, source, hook, f.EventUnfired, event=spec.native, when=spec.unfired)


def _find_spec(hook: CheckedEntry) -> EventSpec | None:
    """The native event of a hook."""
    steps = (find_event(hook.dialect, step) for step in hook.place.path if isinstance(step, str))
    written = (spec for spec, _ in find_slots(hook.dialect, hook.hook))
    return next((spec for spec in steps if spec), None) or next(written, None)


def find_gone_tools(case: AgentCase) -> Iterator[Diagnosis]:
    """Matchers of tools that the agent no longer has."""
    if case.is_at_least(case.dialect.facts) is False:
        return
    for source, hook in case.hooks(("project", "local", "user")):
        tools = [term.value for term in hook.hook.matcher if term.kind == "tool"]
        if (
            tools
            and len(tools) == len(hook.hook.matcher)
            and all(is_gone(case.dialect, tool) for tool in tools)
        ):
            natives = [native for tool in tools for native in list_tool_names(case.dialect, tool)]
            version = case.version or case.dialect.facts
            words = {"matcher": "|".join(natives), "version": version, "tools": " and ".join(natives)}
            yield diagnose_hook(case, source, hook, f.ToolGone, **words)


def find_unstartable(case: AgentCase) -> Iterator[Diagnosis]:
    """Missing programs, and scripts that cannot start or do not parse."""
    machine = Machine(case.world.root, case.world.env)
    for source, hook in case.commands():
        if is_ours(hook):
            continue
        scripts = [path for _, path in find_started_scripts(hook, case.world.root)]
        start = find_start(
            unwrap_hook(hook.hook),
            scripts,
            in_package=source.scope not in SCOPES,
            from_root=source.scope in ("project", "local"),
        )
        for fault in find_start_faults(start, machine):
            yield diagnose_fault(case, source, hook, fault)


def diagnose_fault(case: AgentCase, source: HookFile, hook: CheckedEntry, fault: Fault) -> Diagnosis:
    """The diagnosis of a fault, at the place of its hook."""
    spot = hook.note(f.ProgramMissing, (), program="")
    finding = fault.finding._replace(
        where=spot.where, file=str(source.path), line=spot.line, column=spot.column
    )
    dead = frozenset({identify_hook(source, hook)}) if finding.severity == "error" else NOBODY
    return Diagnosis(case.dialect.id, finding, fault.evidence, dead)


def find_relative_scripts(case: AgentCase) -> Iterator[Diagnosis]:
    """Scripts of a project that exist only relative to the project root."""
    if case.dialect.commands_start != "moving" or not case.dialect.project_dir:
        return
    for source, hook in case.commands():
        script = find_named_script(hook.hook.handler.command)
        if source.scope == "user" or script is None or script.word.startswith(("/", "~", "$", "%", *CURLY)):
            continue
        root = case.dialect.project_dir[0]
        words = {"script": script.word, "root": f'"{root}"', "name": script.word.removeprefix("./")}
        yield diagnose_hook(case, source, hook, f.RelativeScript, **words)


def _lacks_mode(dialect: Dialect, path: Path, data: bytes) -> bool:
    """Whether a script is not executable, and must be."""
    is_program = data.startswith(b"#!") if is_generated(data) else needs_mode(dialect, path)
    return is_program and not os.access(path, os.X_OK)


def find_broken_code(case: AgentCase) -> Iterator[Diagnosis]:
    """Code that hookport generated and that was truncated or can no longer run."""
    for source in case.sources:
        document = source.document
        if source.reading is None or document is None or document.kind != "text":
            continue
        encoded = case.dialect.shape.encode(case.dialect, source.reading.decoded.manifest)
        texts = [text for path, text in encoded.items() if path.rpartition("/")[2] == source.path.name]
        ends = [str(text).rstrip().rpartition("\n")[2] for text in texts]
        end = str(document.tree).rstrip().rpartition("\n")[2]
        hooks = frozenset(identify_hook(source, hook) for hook in source.hooks)
        if ends and end not in ends and is_generated(document.data):
            finding = make_file_finding(
                source.path, f.CodeChanged, {}, "", (str(document.tree).count("\n") + 1, 1)
            )
            repair = Repair("sync", case.dialect.id, "user" if source.scope == "user" else "project")
            yield Diagnosis(case.dialect.id, finding, f"it ends with: {end[:80]}", hooks, repair)
        elif _lacks_mode(source.dialect, source.path, document.data):
            finding = make_file_finding(source.path, f.ScriptNotExecutable, {"script": source.path.name})
            mode = f"{shorten_path(source.path, case.world)} has mode {source.path.stat().st_mode & 0o777:o}"
            yield Diagnosis(case.dialect.id, finding, mode, hooks, Repair("chmod", str(source.path)))
