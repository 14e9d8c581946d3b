"""What can be put right without asking: file modes, our own entries and plan; nothing that is a user's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from hookport.doctor import Report
from hookport.doctor.case import Repair
from hookport.errors import HookportError
from hookport.install import files, sync
from hookport.project import plan_builder

READ = 0o444


def repair(reports: Iterable[Report], cwd: str, env: Mapping[str, str]) -> list[str]:
    """Do what is safe, and say what was done, in words."""
    found = dict.fromkeys(one.repair for report in reports for one in report.diagnoses if one.repair)
    return [line for one in found for line in ACTS[one.act](one, cwd, env)]


def _executable(one: Repair, _cwd: str, _env: Mapping[str, str]) -> list[str]:
    path = Path(one.target)
    mode = path.stat().st_mode & 0o7777
    try:
        path.chmod(mode | (mode & READ) >> 2)
    except OSError as error:
        return [f"could not make {path} executable: {error.strerror}"]
    return [f"made {path} executable (its mode was {mode:o}, and is {path.stat().st_mode & 0o7777:o})"]


def _planned(one: Repair, _cwd: str, env: Mapping[str, str]) -> list[str]:
    plan_builder.load_current_plan(one.target, env)
    return [f"made the plan of {one.target} anew"]


def _synced(one: Repair, cwd: str, env: Mapping[str, str]) -> list[str]:
    """Our entries in an agent's files, written anew; what a user wrote there stays as it is."""
    wish = sync.Wish((one.target,), "user" if one.scope == "user" else "project", vendor=one.vendored)
    try:
        made = sync.plan(cwd, env, wish)
        files.apply(made.changes, env, what="doctor --fix", root=made.root)
    except HookportError as error:
        return [f"did not write the entries of {one.target}: {error}"]
    return [
        f"wrote hookport's entries in {change.path} anew; `hookport undo` takes that back"
        for change in made.changes
    ]


ACTS = {"chmod": _executable, "plan": _planned, "sync": _synced}
