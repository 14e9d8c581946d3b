"""Suites read from disk; a file that says something else than it must costs its own case only."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from hookport import documents
from hookport.agents import list_agents, list_dialects
from hookport.base.tree import Tree
from hookport.documents import Document, SyntaxProblem
from hookport.errors import Problem, closest
from hookport.testing.suite import (
    CONFIG,
    DEFAULT_SECONDS,
    Broken,
    Case,
    Config,
    Expected,
    Suite,
    overridden,
    steps_of,
)

# What is wrong with a value, in words; empty if nothing is.
Check = Callable[[Tree], str]

VERSION = 1
NAME = re.compile(r"[a-z0-9-]{1,64}")
VERDICTS = ("allow", "ask", "deny", "none")
ALL = "all"
LARGEST = 32 << 20


def _text(value: Tree) -> str:
    return "" if isinstance(value, str) and value else "must be a text that is not empty"


def _any_text(value: Tree) -> str:
    return "" if isinstance(value, str) else "must be a text"


def _name(value: Tree) -> str:
    if isinstance(value, str) and NAME.fullmatch(value):
        return ""
    return "must be 1 to 64 of a-z, 0-9 and -"


def _index(value: Tree) -> str:
    is_number = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    return "" if is_number or value == ALL else "must be a number from 0, or all"


def _code(value: Tree) -> str:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return "" if is_number and value == int(value) and 0 <= value <= 255 else "must be a number from 0 to 255"


def _texts(value: Tree) -> str:
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return ""
    return "must be a list of texts"


def _object(value: Tree) -> str:
    return "" if isinstance(value, dict) else "must be an object"


def _verdict(value: Tree) -> str:
    return "" if value in VERDICTS else f"must be one of {', '.join(VERDICTS)}"


def _agents(value: Tree) -> str:
    if value == ALL:
        return ""
    if not isinstance(value, list) or not value or not all(isinstance(one, str) for one in value):
        return "must be a list of agents, or [all]"
    unknown = [one for one in value if one != ALL and one not in list_agents()]
    return f"unknown agent '{unknown[0]}'.{closest(unknown[0], list_agents())}" if unknown else ""


def _dialect(value: Tree) -> str:
    if isinstance(value, str) and value in list_dialects():
        return ""
    return f"unknown dialect '{value}'.{closest(str(value), list_dialects())}"


def _answers(value: Tree) -> str:
    listed = value if isinstance(value, list) else [value]
    is_said = bool(listed) and all(isinstance(one, (str, dict)) for one in listed)
    return "" if is_said else "must be a text, an object, or a list of these"


def _fixture(value: Tree) -> str:
    wrong = _text(value)
    if wrong:
        return wrong
    path = Path(os.path.normpath(value))
    return "must be a path inside tests/" if path.is_absolute() or path.parts[0] == ".." else ""


def _seconds(value: Tree) -> str:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return "" if is_number and math.isfinite(value) and value > 0 else "must be a number of seconds above 0"


def _version(value: Tree) -> str:
    return "" if value == VERSION and not isinstance(value, bool) else f"must be {VERSION}"


def _env(value: Tree) -> str:
    if isinstance(value, dict) and all(isinstance(one, str) for one in value.values()):
        return ""
    return "must be an object of texts"


# A table within a table is an object with these keys and no others.
INPUT: dict[str, Tree] = {"fixture": _fixture, "overrides": _object, "dialect": _dialect}
EXPECTED: dict[str, Tree] = {
    "exit-code": _code,
    "stderr-contains": _texts,
    "stdout-json": _object,
    "not-contains": _texts,
    "decision": _verdict,
    "reason-contains": _texts,
    "context-contains": _texts,
    "updated-input": _object,
    "failure-contains": _texts,
    "snapshot": _name,
}
CASE: dict[str, Tree] = {
    "name": _name,
    "description": _any_text,
    "event": _text,
    "hook-index": _index,
    "agents": _agents,
    "model-answer": _answers,
    "input": INPUT,
    "expected": EXPECTED,
}
CONFIGURED: dict[str, Tree] = {
    "version": _version,
    "timeout": _seconds,
    "env": _env,
    "hooks": _text,
    "copy": _texts,
}


class _File:
    """A document with the problems found in it."""

    def __init__(self, path: Path, kind: str) -> None:
        self.path = path
        self.problems: list[Problem] = []
        self.document: Document | None = None
        self.tree: Tree = None
        try:
            if path.stat().st_size > LARGEST:
                self.problems.append(Problem(f"is larger than {LARGEST >> 20} MiB", file=str(path)))
                return
            self.document = documents.parse(path.read_bytes(), kind)
        except OSError as error:
            self.problems.append(Problem(f"cannot be read: {error.strerror or error}", file=str(path)))
        except SyntaxProblem as problem:
            self.problems.append(
                Problem(problem.message, file=str(path), line=problem.line, column=problem.column)
            )
        else:
            self.tree = self.document.tree
            for twice in self.document.duplicates:
                self.problems.append(
                    Problem("is there twice", twice.path, str(path), twice.line, twice.column)
                )

    def wrong(self, message: str, *path: str | int, at: tuple[int, int] | None = None) -> None:
        line, column = at or (self.document.position(path) if self.document else (0, 0))
        self.problems.append(Problem(message, path, str(self.path), line, column))

    def key(self, *path: str) -> tuple[int, int]:
        """Where the key of a value stands: the nearest place before it that has the word."""
        if self.document is None:
            return 0, 0
        line, column = self.document.position(path)
        lines = self.document.data.decode("utf-8-sig").splitlines()[:line]
        lines[-1] = lines[-1][: column - 1]
        found = ((number, text.rfind(path[-1])) for number, text in reversed(list(enumerate(lines))))
        return next(((number + 1, at + 1) for number, at in found if at >= 0), (line, column))

    def check(self, table: Mapping[str, Tree], required: Iterable[str], *path: str) -> None:
        """Every key is one of the table, and its value what it must be."""
        tree = self.tree
        for step in path:
            tree = tree[step]
        if not isinstance(tree, dict):
            what = "an object" if path else f"an object with {', '.join(table)}"
            self.wrong(f"must be {what}", *path)
            return
        for key in required:
            if key not in tree:
                self.wrong(f"'{key}' is missing", *path)
        for key, value in tree.items():
            check = table.get(key)
            if check is None:
                known = tuple(table)
                told = f"unknown key.{closest(key, known)} Known: {', '.join(known)}"
                self.wrong(told, *path, key, at=self.key(*path, key))
            elif isinstance(check, dict):
                self.check(check, (), *path, key)
            elif wrong := check(value):
                told = wrong if wrong.startswith("unknown") else f"{wrong}, not {_shown(value)}"
                self.wrong(told, *path, key)


def _shown(value: Tree) -> str:
    text = "null" if value is None else repr(value)
    return text if len(text) <= 60 else text[:59] + "…"


def suite(folder: Path) -> Suite:
    """All that a `tests/` folder says, by the names of its files."""
    config, entries = _config(folder)
    used: set[Path] = set()
    taken: dict[str, Path] = {}
    for path in _named(folder / "cases", ".yaml", ".yml"):
        entry = _case(path, folder, used)
        if isinstance(entry, Case) and entry.name in taken:
            file = _File(path, "yaml")
            file.wrong(f"'{entry.name}' is taken by {taken[entry.name].name}", "name")
            entry = Broken(path, tuple(file.problems))
        if isinstance(entry, Case):
            taken[entry.name] = path
        entries.append(entry)
    for path in _named(folder / "fixtures", ".json"):
        if path not in used and (file := _fixture_file(path)).problems:
            entries.append(Broken(path, tuple(file.problems)))
    return Suite(folder, config, tuple(entries))


def _named(folder: Path, *endings: str) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if path.suffix in endings and not path.is_dir())
    except OSError:
        return []


def _config(folder: Path) -> tuple[Config, list[Case | Broken]]:
    path = folder / CONFIG
    if not path.exists():
        return Config(), []
    file = _File(path, "json")
    if file.document is not None:
        file.check(CONFIGURED, ("version",))
    wrong = {problem.path[:1] for problem in file.problems}
    tree = file.tree if isinstance(file.tree, dict) else {}
    said = {key: value for key, value in tree.items() if (key,) not in wrong}
    config = Config(
        timeout_seconds=float(said.get("timeout", DEFAULT_SECONDS)),
        env=said.get("env", {}),
        hooks=said.get("hooks", ""),
        copy=tuple(said.get("copy", ())),
    )
    return config, [Broken(path, tuple(file.problems))] if file.problems else []


def _fixture_file(path: Path) -> _File:
    file = _File(path, "json")
    if file.document is not None and not isinstance(file.tree, dict):
        file.wrong("must be an object: the event as the hook reads it")
    return file


def _case(path: Path, folder: Path, used: set[Path]) -> Case | Broken:
    if path.suffix != ".yaml":
        return Broken(path, (Problem("is not run: the files of cases end in .yaml", file=str(path)),))
    file = _File(path, "yaml")
    if file.document is not None:
        file.check(CASE, ("name", "event"))
    if file.problems or file.document is None:
        return Broken(path, tuple(file.problems))
    tree = file.tree
    given, expected = tree.get("input", {}), tree.get("expected", {})
    fixture: Mapping[str, Tree] | None = None
    if "fixture" in given:
        at = folder / os.path.normpath(given["fixture"])
        used.add(at)
        if not at.is_file():
            file.wrong(f"'{given['fixture']}' is not in {folder.name}/", "input", "fixture")
        else:
            read = _fixture_file(at)
            file.problems += read.problems
            fixture = read.tree
    overrides = tuple((steps_of(key), value) for key, value in given.get("overrides", {}).items())
    if fixture is not None and not file.problems:
        for key, one in zip(given.get("overrides", {}), overrides, strict=True):
            try:
                overridden(fixture, (one,))
            except ValueError as error:
                file.wrong(str(error), "input", "overrides", key)
    if file.problems:
        return Broken(path, tuple(file.problems))
    index = tree.get("hook-index", 0)
    position = file.document.position
    return Case(
        name=tree["name"],
        file=path,
        event=tree["event"],
        expected=_expected(expected),
        description=tree.get("description", ""),
        hook_index=None if index == ALL else index,
        fixture=fixture,
        overrides=overrides,
        dialect=given.get("dialect", ""),
        agents=_named_agents(tree.get("agents", [])),
        answers=_scripted(tree.get("model-answer", [])),
        lines={"event": position(("event",))[0]} | {key: position(("expected", key))[0] for key in expected},
    )


def _expected(tree: Mapping[str, Tree]) -> Expected:
    said = {key.replace("-", "_"): value for key, value in tree.items()}
    said = {key: tuple(value) if isinstance(value, list) else value for key, value in said.items()}
    if "exit_code" in said:
        said["exit_code"] = int(said["exit_code"])
    return Expected(**said)


def _scripted(said: Tree) -> tuple[str, ...]:
    listed = said if isinstance(said, list) else [said]
    return tuple(one if isinstance(one, str) else json.dumps(one, ensure_ascii=False) for one in listed)


def _named_agents(said: Tree) -> tuple[str, ...]:
    return list_agents() if said == ALL or ALL in said else tuple(dict.fromkeys(said))
