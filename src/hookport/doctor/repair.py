"""Repairs without questions: file modes, our own entries and plan, nothing of a user's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from hookport.doctor import DoctorReport
from hookport.doctor.case import Repair
from hookport.errors import HookportError
from hookport.install import files, sync
from hookport.project import plan_builder

READ = 0o444


def repair(reports: Iterable[DoctorReport], cwd: str, env: Mapping[str, str]) -> list[str]:
    """Make the safe repairs, and return a line for each."""
    repairs = dict.fromkeys(
        diagnosis.repair for report in reports for diagnosis in report.diagnoses if diagnosis.repair
    )
    return [line for fix in repairs for line in ACTS[fix.act](fix, cwd, env)]


def _make_executable(fix: Repair, _cwd: str, _env: Mapping[str, str]) -> list[str]:
    path = Path(fix.target)
    mode = path.stat().st_mode & 0o7777
    try:
        path.chmod(mode | (mode & READ) >> 2)
    except OSError as error:
        return [f"cannot make {path} executable: {error.strerror}"]
    return [f"made {path} executable (its mode was {mode:o}, and is {path.stat().st_mode & 0o7777:o})"]


def _renew_plan(fix: Repair, _cwd: str, env: Mapping[str, str]) -> list[str]:
    plan_builder.load_current_plan(fix.target, env)
    return [f"rebuilt the plan of {fix.target}"]


def _renew_entries(fix: Repair, cwd: str, env: Mapping[str, str]) -> list[str]:
    """Rewrite our entries in an agent's files, and leave the user's own content untouched."""
    request = sync.SyncRequest(
        (fix.target,), "user" if fix.scope == "user" else "project", vendor=fix.vendored
    )
    try:
        sync_plan = sync.plan_sync(cwd, env, request)
        files.apply(sync_plan.changes, env, what="doctor --fix", root=sync_plan.root)
    except HookportError as error:
        return [f"did not write the entries of {fix.target}: {error}"]
    return [
        f"rewrote hookport's entries in {change.path}; `hookport undo` reverts that"
        for change in sync_plan.changes
    ]


ACTS = {"chmod": _make_executable, "plan": _renew_plan, "sync": _renew_entries}
