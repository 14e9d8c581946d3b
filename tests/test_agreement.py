"""Every command agrees, over the corpus: which hooks there are, whether each runs, what is not read."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from hookport.agents import get, list_agents
from hookport.doctor import examine
from hookport.doctor.checkup import find_strays
from hookport.doctor.order import OBEYED
from hookport.doctor.status import Status, read_status
from hookport.doctor.walk import view_project, walk_hook
from hookport.install import lock, sync
from hookport.install.sync import SyncRequest
from hookport.project.discovery import discover
from hookport.project.ownership import is_ours
from tests.test_corpus import Case, build, cases, project

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["project"]
FIRST = list_agents()[0]
# All cases take minutes: a sample, and all of those that are not read.
EVERY = 8


def sampled() -> list[Any]:
    every = [one for one in cases() if not one.marks]
    return [one for number, one in enumerate(every) if number % EVERY == 0 or one.id.startswith("unread")]


def agent_of(case: Case) -> str:
    """The agent whose file it is; for a format any."""
    dialect = case.get("dialect")
    return dialect if dialect and get(dialect).kind == "agent" else FIRST


def keys_of(state: Status) -> dict[tuple[str, str], str]:
    return {(row.file, row.place): row.level for one in state.agents for row in one.hooks}


@pytest.mark.parametrize("case", sampled())
def test_commands_agree_on_hooks_and_whether_they_run(case: Case, project: Path) -> None:
    build(case, project)
    (project / ".git").mkdir(exist_ok=True)
    env, agent, root = dict(os.environ), agent_of(case), str(project)
    found = discover(root, env)
    levels = keys_of(read_status(root, env, (agent,)))
    known = view_project(root, env, (agent,))
    walks = {(one.file, one.place): walk_hook(one, agent, known) for one in known.list_hooks()}
    dead = {
        key
        for report in (*examine(root, env, (agent,)), *examine(root, env, (agent,), is_quick=True))
        for one in report.diagnoses
        if one.finding.severity == "error"
        for key in one.dead
    }
    listed = {(one.file, one.place) for one in found.hooks if not is_ours(one.hook.handler.command)}
    scoped = {(one.file, one.place) for one in found.scoped}

    assert levels.keys() == listed | scoped
    assert levels.keys() <= walks.keys()
    stopped = {key for key, level in levels.items() if level in {"unavailable", "failing"}}
    gates = {key: step.gate for key in levels if (step := walks[key].failed)}
    assert stopped == {key for key, gate in gates.items() if gate != OBEYED}
    # It runs, and its deny does not hold.
    assert {levels[key] for key, gate in gates.items() if gate == OBEYED} <= {"advisory"}
    assert stopped == dead & levels.keys()
    assert {key for key, one in lock.build(found, env)["hooks"].items() if one} <= {
        f"{os.path.relpath(file, root)}#{place}" for file, place in listed
    }


@pytest.mark.parametrize("case", sampled())
def test_commands_agree_on_files_that_are_not_read(case: Case, project: Path) -> None:
    build(case, project)
    (project / ".git").mkdir(exist_ok=True)
    env, root = dict(os.environ), str(project)
    state = read_status(root, env)
    told = {(one.code, one.file) for one in state.misplaced}
    reports = {
        (one.finding.code, one.finding.file) for report in examine(root, env) for one in report.diagnoses
    }
    general = {(one.code, one.file) for one in sync.plan_sync(root, env, SyncRequest((FIRST,))).findings}
    here = {(one.finding.code, one.finding.file) for one in find_strays(project, env)}
    strays = {(one.finding.code, one.finding.file) for one in view_project(root, env, (FIRST,)).strays}

    assert told == strays
    assert told <= reports
    assert told <= general
    assert told == here
