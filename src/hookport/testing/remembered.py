"""Which cases failed last time, stored in the user's cache and never in a package."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from hookport.base.folders import find_own_folder
from hookport.testing.session import TaskResult


def read_failed(folder: Path, env: Mapping[str, str]) -> set[str]:
    """Read the ids of the cases that failed in the last run of a suite."""
    path = _find_path(folder, env)
    try:
        failed = json.loads(path.read_text("utf-8")) if path else []
    except (OSError, ValueError):
        return set()
    return {case_id for case_id in failed if isinstance(case_id, str)} if isinstance(failed, list) else set()


def remember(results: Iterable[TaskResult], env: Mapping[str, str]) -> None:
    """Store which cases failed; cases that did not run now keep their status."""
    by_folder: dict[Path, list[TaskResult]] = {}
    for result in results:
        by_folder.setdefault(result.task.folder, []).append(result)
    for folder, own_results in by_folder.items():
        path = _find_path(folder, env)
        failed = {task_result.task.id for task_result in own_results if task_result.status == "failed"}
        still_failed = failed | (
            read_failed(folder, env) - {task_result.task.id for task_result in own_results}
        )
        try:
            if path and (still_failed or path.exists()):
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(json.dumps(sorted(still_failed)) + "\n", "utf-8")
        except OSError:
            # This is a convenience; if nothing can be stored, all cases run.
            continue


def _find_path(folder: Path, env: Mapping[str, str]) -> Path | None:
    place = find_own_folder(env, "HOOKPORT_CACHE_DIR", "XDG_CACHE_HOME", ".cache")
    name = hashlib.sha256(os.fsencode(os.path.realpath(folder))).hexdigest()[:32]
    return Path(place, "tests", f"{name}.json") if place else None
