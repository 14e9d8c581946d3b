"""Reads suites from disk; an invalid file loses only its own case."""

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
from hookport.errors import Problem, suggest_closest
from hookport.testing.suite import (
    CONFIG,
    DEFAULT_SECONDS,
    BrokenFile,
    Case,
    Config,
    Expected,
    Suite,
    apply_overrides,
    split_path,
)

# Each check returns what is wrong with a value, or an empty text.
Check = Callable[[Tree], str]

VERSION = 1
NAME = re.compile(r"[a-z0-9-]{1,64}")
VERDICTS = ("allow", "ask", "deny", "none")
ALL = "all"
LARGEST = 32 << 20


def _check_text(value: Tree) -> str:
    return "" if isinstance(value, str) and value else "must be a non-empty string"


def _check_any_text(value: Tree) -> str:
    return "" if isinstance(value, str) else "must be a string"


def _check_name(value: Tree) -> str:
    if isinstance(value, str) and NAME.fullmatch(value):
        return ""
    return "must be 1 to 64 of a-z, 0-9 and -"


def _check_index(value: Tree) -> str:
    is_number = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    return "" if is_number or value == ALL else "must be a number from 0, or all"


def _check_code(value: Tree) -> str:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return "" if is_number and value == int(value) and 0 <= value <= 255 else "must be a number from 0 to 255"


def _check_texts(value: Tree) -> str:
    if isinstance(value, list) and all(isinstance(text, str) for text in value):
        return ""
    return "must be a list of strings"


def _check_object(value: Tree) -> str:
    return "" if isinstance(value, dict) else "must be an object"


def _check_verdict(value: Tree) -> str:
    return "" if value in VERDICTS else f"must be one of {', '.join(VERDICTS)}"


def _check_agents(value: Tree) -> str:
    if value == ALL:
        return ""
    if not isinstance(value, list) or not value or not all(isinstance(name, str) for name in value):
        return "must be a list of agents, or [all]"
    unknown = [name for name in value if name != ALL and name not in list_agents()]
    return f"unknown agent '{unknown[0]}'.{suggest_closest(unknown[0], list_agents())}" if unknown else ""


def _check_dialect(value: Tree) -> str:
    if isinstance(value, str) and value in list_dialects():
        return ""
    return f"unknown dialect '{value}'.{suggest_closest(str(value), list_dialects())}"


def _check_answers(value: Tree) -> str:
    listed = value if isinstance(value, list) else [value]
    is_valid = bool(listed) and all(isinstance(answer, (str, dict)) for answer in listed)
    return "" if is_valid else "must be a string, an object, or a list of these"


def _check_fixture(value: Tree) -> str:
    wrong = _check_text(value)
    if wrong:
        return wrong
    path = Path(os.path.normpath(value))
    return "must be a path inside tests/" if path.is_absolute() or path.parts[0] == ".." else ""


def _check_seconds(value: Tree) -> str:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return "" if is_number and math.isfinite(value) and value > 0 else "must be a number of seconds above 0"


def _check_version(value: Tree) -> str:
    return "" if value == VERSION and not isinstance(value, bool) else f"must be {VERSION}"


def _check_env(value: Tree) -> str:
    if isinstance(value, dict) and all(isinstance(text, str) for text in value.values()):
        return ""
    return "must be an object of strings"


# A table within a table is an object with these keys and no others.
INPUT_KEYS: dict[str, Tree] = {
    "fixture": _check_fixture,
    "overrides": _check_object,
    "dialect": _check_dialect,
}
EXPECTED_KEYS: dict[str, Tree] = {
    "exit-code": _check_code,
    "stderr-contains": _check_texts,
    "stdout-json": _check_object,
    "not-contains": _check_texts,
    "decision": _check_verdict,
    "reason-contains": _check_texts,
    "context-contains": _check_texts,
    "updated-input": _check_object,
    "failure-contains": _check_texts,
    "snapshot": _check_name,
}
CASE_KEYS: dict[str, Tree] = {
    "name": _check_name,
    "description": _check_any_text,
    "event": _check_text,
    "hook-index": _check_index,
    "agents": _check_agents,
    "model-answer": _check_answers,
    "input": INPUT_KEYS,
    "expected": EXPECTED_KEYS,
}
CONFIG_KEYS: dict[str, Tree] = {
    "version": _check_version,
    "timeout": _check_seconds,
    "env": _check_env,
    "hooks": _check_text,
    "copy": _check_texts,
}


class _TestFile:
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
            self.problems.append(Problem(f"cannot read this file: {error.strerror or error}", file=str(path)))
        except SyntaxProblem as problem:
            self.problems.append(
                Problem(problem.message, file=str(path), line=problem.line, column=problem.column)
            )
        else:
            self.tree = self.document.tree
            for twice in self.document.duplicates:
                self.problems.append(
                    Problem("duplicate key", twice.path, str(path), twice.line, twice.column)
                )

    def add_problem(self, message: str, *path: str | int, at: tuple[int, int] | None = None) -> None:
        line, column = at or (self.document.position(path) if self.document else (0, 0))
        self.problems.append(Problem(message, path, str(self.path), line, column))

    def find_key(self, *path: str) -> tuple[int, int]:
        """Line and column of a value's key: the nearest occurrence of the word before the value."""
        if self.document is None:
            return 0, 0
        line, column = self.document.position(path)
        lines = self.document.data.decode("utf-8-sig").splitlines()[:line]
        lines[-1] = lines[-1][: column - 1]
        places = ((number, text.rfind(path[-1])) for number, text in reversed(list(enumerate(lines))))
        return next(((number + 1, at + 1) for number, at in places if at >= 0), (line, column))

    def check(self, table: Mapping[str, Tree], required: Iterable[str], *path: str) -> None:
        """Check that every key is in the table and every value is valid."""
        tree = self.tree
        for step in path:
            tree = tree[step]
        if not isinstance(tree, dict):
            kind = "an object" if path else f"an object with {', '.join(table)}"
            self.add_problem(f"must be {kind}", *path)
            return
        for key in required:
            if key not in tree:
                self.add_problem(f"'{key}' is missing", *path)
        for key, value in tree.items():
            check = table.get(key)
            if check is None:
                known = tuple(table)
                message = f"unknown key.{suggest_closest(key, known)} Known: {', '.join(known)}"
                self.add_problem(message, *path, key, at=self.find_key(*path, key))
            elif isinstance(check, dict):
                self.check(check, (), *path, key)
            elif wrong := check(value):
                message = wrong if wrong.startswith("unknown") else f"{wrong}, not {_show_value(value)}"
                self.add_problem(message, *path, key)


def _show_value(value: Tree) -> str:
    text = "null" if value is None else repr(value)
    return text if len(text) <= 60 else text[:59] + "…"


def load_suite(folder: Path) -> Suite:
    """Read a `tests/` folder, sorted by file name."""
    config, entries = _read_config(folder)
    used: set[Path] = set()
    by_name: dict[str, Path] = {}
    for path in _list_files(folder / "cases", ".yaml", ".yml"):
        entry = _read_case(path, folder, used)
        if isinstance(entry, Case) and entry.name in by_name:
            file = _TestFile(path, "yaml")
            file.add_problem(f"'{entry.name}' is already used in {by_name[entry.name].name}", "name")
            entry = BrokenFile(path, tuple(file.problems))
        if isinstance(entry, Case):
            by_name[entry.name] = path
        entries.append(entry)
    for path in _list_files(folder / "fixtures", ".json"):
        if path not in used and (file := _read_fixture(path)).problems:
            entries.append(BrokenFile(path, tuple(file.problems)))
    return Suite(folder, config, tuple(entries))


def _list_files(folder: Path, *endings: str) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if path.suffix in endings and not path.is_dir())
    except OSError:
        return []


def _read_config(folder: Path) -> tuple[Config, list[Case | BrokenFile]]:
    path = folder / CONFIG
    if not path.exists():
        return Config(), []
    file = _TestFile(path, "json")
    if file.document is not None:
        file.check(CONFIG_KEYS, ("version",))
    wrong = {problem.path[:1] for problem in file.problems}
    tree = file.tree if isinstance(file.tree, dict) else {}
    settings = {key: value for key, value in tree.items() if (key,) not in wrong}
    config = Config(
        timeout_seconds=float(settings.get("timeout", DEFAULT_SECONDS)),
        env=settings.get("env", {}),
        hooks=settings.get("hooks", ""),
        copy=tuple(settings.get("copy", ())),
    )
    return config, [BrokenFile(path, tuple(file.problems))] if file.problems else []


def _read_fixture(path: Path) -> _TestFile:
    file = _TestFile(path, "json")
    if file.document is not None and not isinstance(file.tree, dict):
        file.add_problem("must be an object: the event as the hook reads it")
    return file


def _read_case(path: Path, folder: Path, used: set[Path]) -> Case | BrokenFile:
    if path.suffix != ".yaml":
        return BrokenFile(path, (Problem("is not run: case files end in .yaml", file=str(path)),))
    file = _TestFile(path, "yaml")
    if file.document is not None:
        file.check(CASE_KEYS, ("name", "event"))
    if file.problems or file.document is None:
        return BrokenFile(path, tuple(file.problems))
    tree = file.tree
    case_input, expected = tree.get("input", {}), tree.get("expected", {})
    fixture: Mapping[str, Tree] | None = None
    if "fixture" in case_input:
        at = folder / os.path.normpath(case_input["fixture"])
        used.add(at)
        if not at.is_file():
            file.add_problem(f"'{case_input['fixture']}' is not in {folder.name}/", "input", "fixture")
        else:
            fixture_file = _read_fixture(at)
            file.problems += fixture_file.problems
            fixture = fixture_file.tree
    overrides = tuple((split_path(key), value) for key, value in case_input.get("overrides", {}).items())
    if fixture is not None and not file.problems:
        for key, override in zip(case_input.get("overrides", {}), overrides, strict=True):
            try:
                apply_overrides(fixture, (override,))
            except ValueError as error:
                file.add_problem(str(error), "input", "overrides", key)
    if file.problems:
        return BrokenFile(path, tuple(file.problems))
    index = tree.get("hook-index", 0)
    position = file.document.position
    return Case(
        name=tree["name"],
        file=path,
        event=tree["event"],
        expected=_read_expected(expected),
        description=tree.get("description", ""),
        hook_index=None if index == ALL else index,
        fixture=fixture,
        overrides=overrides,
        dialect=case_input.get("dialect", ""),
        agents=_read_agents(tree.get("agents", [])),
        answers=_read_answers(tree.get("model-answer", [])),
        lines={"event": position(("event",))[0]} | {key: position(("expected", key))[0] for key in expected},
    )


def _read_expected(tree: Mapping[str, Tree]) -> Expected:
    fields = {key.replace("-", "_"): value for key, value in tree.items()}
    fields = {key: tuple(value) if isinstance(value, list) else value for key, value in fields.items()}
    if "exit_code" in fields:
        fields["exit_code"] = int(fields["exit_code"])
    return Expected(**fields)


def _read_answers(answers: Tree) -> tuple[str, ...]:
    listed = answers if isinstance(answers, list) else [answers]
    return tuple(
        answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False) for answer in listed
    )


def _read_agents(listed: Tree) -> tuple[str, ...]:
    return list_agents() if listed == ALL or ALL in listed else tuple(dict.fromkeys(listed))
