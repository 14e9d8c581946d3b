"""Test files as values: a suite after reading, before anything runs."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from hookport.base.tree import Tree
from hookport.errors import Problem

Steps = tuple[str, ...]

CONFIG = "test-config.json"
DEFAULT_SECONDS = 30.0
# In fixtures, overrides and expectations: the copy that a case runs in.
PACKAGE_ROOT = "${PACKAGE_ROOT}"


class Config(NamedTuple):
    """The settings of all cases of a suite.

    Relative to `tests/`: `hooks` is their place, if not beside it, `copy` what they need, if not everything
    around them.
    """

    timeout_seconds: float = DEFAULT_SECONDS
    env: Mapping[str, str] = {}
    hooks: str = ""
    copy: tuple[str, ...] = ()


class Expected(NamedTuple):
    """What a case expects; None and empty are not compared."""

    exit_code: int | None = None
    stderr_contains: tuple[str, ...] = ()
    stdout_json: Tree = None
    not_contains: tuple[str, ...] = ()
    decision: str = ""
    reason_contains: tuple[str, ...] = ()
    context_contains: tuple[str, ...] = ()
    updated_input: Mapping[str, Tree] | None = None
    failure_contains: tuple[str, ...] = ()
    snapshot: str = ""


class Case(NamedTuple):
    """One case; `hook_index` is None for all groups of the event, `lines` has the line of each expectation.

    `dialect` is the fixture's dialect, empty if it is the hook's own. `answers` are the scripted model's
    answers.
    """

    name: str
    file: Path
    event: str
    expected: Expected
    description: str = ""
    hook_index: int | None = 0
    fixture: Mapping[str, Tree] | None = None
    overrides: tuple[tuple[Steps, Tree], ...] = ()
    dialect: str = ""
    agents: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    lines: Mapping[str, int] = {}


class BrokenFile(NamedTuple):
    """An unusable file, and why."""

    file: Path
    problems: tuple[Problem, ...]


class Suite(NamedTuple):
    """The tests of one package; `folder` is its `tests/`."""

    folder: Path
    config: Config
    entries: tuple[Case | BrokenFile, ...]

    def cases(self) -> list[Case]:
        return [entry for entry in self.entries if isinstance(entry, Case)]


def split_path(path: str) -> Steps:
    r"""The steps of a dot-path; `\.` is a dot in a name."""
    return tuple(step.replace("\0", ".") for step in path.replace("\\.", "\0").split("."))


def apply_overrides(base: Mapping[str, Tree], overrides: tuple[tuple[Steps, Tree], ...]) -> dict[str, Tree]:
    """Apply overrides to a payload in order; ValueError if a path leads nowhere."""
    payload: dict[str, Tree] = copy.deepcopy(dict(base))
    for steps, value in overrides:
        at: Tree = payload
        for step in steps[:-1]:
            at = _enter(at, step)
        if isinstance(at, list):
            _set_element(at, steps[-1], value)
        elif isinstance(at, dict):
            at[steps[-1]] = copy.deepcopy(value)
        else:
            raise ValueError(_describe_astray(steps[-1], at))
    return payload


def _enter(at: Tree, step: str) -> Tree:
    if isinstance(at, list):
        return at[_read_number(at, step)]
    if not isinstance(at, dict):
        raise ValueError(_describe_astray(step, at))
    return at.setdefault(step, {})


def _set_element(at: list[Tree], step: str, value: Tree) -> None:
    if step == str(len(at)):
        at.append(None)
    at[_read_number(at, step)] = copy.deepcopy(value)


def _read_number(at: list[Tree], step: str) -> int:
    if not (step.isascii() and step.isdigit() and int(step) < len(at)):
        raise ValueError(f"'{step}' is not an element of a list of {len(at)}")
    return int(step)


def _describe_astray(step: str, at: Tree) -> str:
    return f"'{step}' cannot be set in {at!r}, which is neither an object nor a list"


def change_texts(tree: Tree, change: Callable[[str], str]) -> Tree:
    """Change every text of a tree."""
    if isinstance(tree, str):
        return change(tree)
    if isinstance(tree, dict):
        return {key: change_texts(value, change) for key, value in tree.items()}
    return [change_texts(value, change) for value in tree] if isinstance(tree, list) else tree
