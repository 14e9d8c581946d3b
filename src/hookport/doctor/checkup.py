"""What `hookport check` tests besides a file's text: whether its hooks can start, and whether they fail.

A program or model that only this machine lacks is a loss, not an error: another machine may have it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from hookport.convert.checks import CheckedEntry, Reading, drop_repeated, list_entries
from hookport.convert.checks.scripts import find_command_folders, find_place_folder, find_started_scripts
from hookport.doctor.failures import Failures, find_failing, read_failures
from hookport.doctor.health import OF_MACHINE, Machine, find_faults
from hookport.errors import spell_path
from hookport.findings import AddressRefused, Finding, ScriptMissing, ScriptNotExecutable
from hookport.project.discovery import HookEntry, find_project_root
from hookport.project.misplaced import (
    HOOK_FOLDERS,
    Stray,
    find_misplaced,
    find_readers,
    is_read,
    make_refused_stray,
    make_unread_stray,
)
from hookport.project.sources import is_named_by_plugin, stands_at_place
from hookport.project.unread import find_below, find_refused_below, judge_manifest, judge_place

CANNOT_START = (ScriptMissing.code, ScriptNotExecutable.code)


def check_health(
    reading: Reading, root: Path, env: Mapping[str, str], known_findings: list[Finding]
) -> list[Finding]:
    """What prevents a source's hooks from working, without the hooks already reported."""
    machine = Machine(Path(os.path.abspath(root)), env)  # noqa: PTH100  (links stay)
    failures = read_failures(env)
    reported = {finding.hook for finding in known_findings if finding.code in CANNOT_START}
    findings = [
        finding
        for hook in list_entries(reading)
        if hook.number not in reported
        for finding in _find_hook_faults(hook, machine, root, failures)
    ]
    return drop_repeated(reading, findings)


def _find_hook_faults(
    seen_hook: CheckedEntry, machine: Machine, root: Path, failures: Failures
) -> list[Finding]:
    is_format = seen_hook.dialect.kind == "format"
    hook = make_found_hook(seen_hook, root)
    is_own, by_bridge = _is_of_project(seen_hook, root), is_format or seen_hook.hook.handler.type == "http"
    faults = find_faults(hook, machine, by_bridge=by_bridge, from_root=is_own)
    failing = find_failing(hook, failures, machine)
    findings = [fault.finding for fault in (*faults, *([failing] if failing and not faults else []))]
    # An agent that sends events itself has its own rule for addresses.
    soft = (*OF_MACHINE, *(() if is_format else (AddressRefused.code,)))
    spot = seen_hook.note(ScriptMissing, (), script="")
    return [
        finding._replace(
            where=spot.where,
            hook=seen_hook.number,
            file=spot.file,
            line=spot.line,
            column=spot.column,
            severity="loss" if finding.code in soft else finding.severity,
        )
        for finding in findings
    ]


def make_found_hook(hook: CheckedEntry, root: Path) -> HookEntry:
    """A hook of a parsed file, in the form that discovery uses."""
    folders = find_command_folders(hook.dialect, hook.place.file, root)
    file = os.path.abspath(hook.place.file)  # noqa: PTH100  (links stay)
    scripts = tuple(str(path) for _, path in find_started_scripts(hook, root))
    return HookEntry(hook.hook, file, spell_path(hook.place.path), str(folders.package), "project", scripts)


def _is_of_project(hook: CheckedEntry, root: Path) -> bool:
    """Whether a file is the project's own: the variables and start folder of others are unknown."""
    base, file = os.path.abspath(root), os.path.abspath(hook.place.file)  # noqa: PTH100
    at_place = find_place_folder(hook.dialect, Path(file), "project", "local")
    return at_place is not None and str(at_place) == base


def find_strays(path: Path, env: Mapping[str, str]) -> list[Stray]:
    """Files with hooks that nothing reads: below a folder, or the given file in an agent's folder."""
    full = Path(os.path.abspath(path))  # noqa: PTH100  (links stay)
    if full.is_dir():
        root = find_project_root(str(full), env)
        strays = find_misplaced(root, env) if str(full) != root else []
        # The folder may be a project or a part of one: a file at an agent's place is not misplaced.
        if not _is_looked_at(full, root):
            strays += [
                stray
                for stray in find_misplaced(str(full), env)
                if stray.trouble or not (_is_placed(stray, full) or is_read(Path(stray.file), root, env))
            ]
        strays += map(make_unread_stray, find_below(full))
        strays += map(make_refused_stray, find_refused_below(full))
        # A person named the hook's own folder, wherever it is.
        strays = [stray for stray in strays if not _is_named_folder(stray, full)]
        return list({stray.file: stray for stray in strays if Path(stray.file).is_relative_to(full)}.values())
    if unread := judge_place(full):
        return [make_unread_stray(unread)]
    if refused := [*map(make_refused_stray, judge_manifest(full))]:
        return refused
    root = find_project_root(str(full.parent), env)
    if not _is_looked_at(full.parent, root):
        return []
    return [stray for stray in find_misplaced(root, env) if Path(stray.file) == full]


def _is_placed(stray: Stray, folder: Path) -> bool:
    """Whether a file is in its place, seen from a folder that may be a part of a project."""
    is_in_own = _is_looked_at(Path(stray.file).parent, str(folder))
    return is_named_by_plugin(stray.file) or (not is_in_own and stands_at_place(stray.file))


def _is_looked_at(folder: Path, root: str) -> bool:
    """Whether a project's misplaced hooks are searched in a folder or in one above it."""
    steps = folder.relative_to(root).parts if folder.is_relative_to(root) else ()
    return bool(steps) and (bool(find_readers(steps[0])) or steps[0] in HOOK_FOLDERS)


def _is_named_folder(stray: Stray, folder: Path) -> bool:
    return bool(stray.reader and stray.reader.shape.companions and Path(stray.file).parent == folder)
