"""Place decides: small projects after the shapes of real ones, each checked by its file and by its folders.

    - name: what the case shows
      at: .cursor/hooks.json            the file that is checked
      files: {PATH: TEXT}               a list is joined, `[TEXT, N]` in it being N times the text
      scripts: [PATH]                   executable files with a shebang
      links: {PATH: TARGET}
      readonly: [FOLDER]
      folder: packages/app              the folder that has the file too; none where a folder does not look
      dialect: cursor                   as which dialect the file is read; none if nobody reads it
      hooks: 1
      findings: [HP503]                 the codes for this file, each once, but for what this machine lacks
      says: TEXT                        a part of what is said about a file that cannot be read
      exit: 1                           0 if left out
      missing: REASON                   what hookport lacks, so that the case fails

`home` is the user's home; what is in it belongs to the folder `home`, everything else to the project's root.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from hookport import documents
from hookport.agents import get, list_dialects
from hookport.cli import main
from hookport.convert import pipeline
from hookport.doctor.health import OF_MACHINE
from hookport.errors import InputError
from hookport.project import sources
from hookport.project.places import list_scoped_sites
from hookport.shapes.dialect import list_locations
from tests import agent_data
from tests.test_laws import canonical

FILES = {
    **{path.stem: path for path in sorted((Path(__file__).parent / "corpus").glob("*.yaml"))},
    **agent_data.find("corpus.yaml"),
}
GUARD = {"type": "command", "command": "./scripts/check.sh"}
# A script that does not parse in the language of its name would be a finding of its own.
SCRIPTS = {".py": "#!/usr/bin/env python3\n", ".js": "#!/usr/bin/env node\n", ".mjs": "#!/usr/bin/env node\n"}
SCRIPT = "#!/bin/sh\nexit 0\n"
Case = dict[str, Any]


class Outcome(NamedTuple):
    """What `hookport check` makes of one file; `says`: stderr has the words that the case gives."""

    code: int
    dialect: str | None
    hooks: int
    findings: tuple[str, ...]
    says: bool


def cases() -> list[Any]:
    """Every case as a parameter, those that need what is missing marked as failing."""
    found: list[Any] = []
    for name, path in sorted(FILES.items()):
        for case in agent_data.read_yaml(path):
            marks = [pytest.mark.xfail(reason=case["missing"], strict=True)] if "missing" in case else []
            found.append(pytest.param(case, id=f"{name}: {case['name']}", marks=marks))
    return found


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty project that is the working directory, with a home of its own."""
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("case", cases())
def test_every_way_to_name_a_file_gives_the_same_right_answer(case: Case, project: Path) -> None:
    build(case, project)
    file = project / case["at"]
    outcomes = {
        spelled: check(start, argument, file, case.get("says", ""))
        for spelled, (start, argument) in spellings(case, project).items()
    }
    expected = Outcome(
        code=case.get("exit", 0),
        dialect=case.get("dialect"),
        hooks=case.get("hooks", 0),
        findings=tuple(case.get("findings", ["HP100"] if case.get("exit") == 2 else [])),
        says=True,
    )
    assert outcomes == dict.fromkeys(outcomes, expected)


def own_places(dialect: str) -> list[str]:
    """A place of each kind of file that no other dialect has."""
    found: dict[str, str] = {}
    for place in list_locations(get(dialect), "own", "run"):
        path = place.path.removeprefix("~/").replace("*", "any")
        if place.scope in {"project", "user"} and [one.id for one in sources.find_owners(path)] == [dialect]:
            found.setdefault(documents.detect_kind(path), path)
    return list(found.values())


@pytest.mark.parametrize("dialect", [name for name in list_dialects() if own_places(name)])
def test_nothing_in_a_file_makes_it_another_dialects_than_that_of_its_place(
    dialect: str, project: Path
) -> None:
    for place in own_places(dialect):
        file = project / place
        for source, data in samples(documents.detect_kind(place)).items():
            _write(file, data)
            outcome = check(project, place, file)
            assert outcome.dialect in {dialect, None}, f"{source} at {place}"
            assert (outcome.dialect is None) == (outcome.code == 2), f"{source} at {place}"
            assert check(project, place.partition("/")[0], file) == outcome, f"{source} at {place}"
        shutil.rmtree(project / place.partition("/")[0])


@pytest.mark.parametrize("scope", ["project", "user"])
def test_a_skill_or_subagent_of_the_user_is_no_part_of_a_project(project: Path, scope: str) -> None:
    text = "---\nname: a\nhooks:\n  PreToolUse:\n    - hooks: [{type: command, command: ./check.sh}]\n---\n"
    sites = [site for site in list_scoped_sites() if site.scope == scope and "plugins" not in site.path]
    assert sites
    (project / "root").mkdir()
    for site in sites:
        path = site.path.removeprefix("./").replace("*", "one")
        file = project / ("root" if scope == "project" else "home") / path.removeprefix("~/")
        _write(file, text)
        for argument in (str(project / "root"), str(project / "root" / ".claude")):
            outcome = check(project, argument, file)
            assert outcome.code != 70, path
            is_inside = str(file).startswith(f"{argument}/")
            assert (outcome.hooks > 0) == (scope == "project" and is_inside), path
        file.unlink()


@cache
def samples(kind: str) -> dict[str, bytes]:
    """A file of this kind for each dialect that has one, and one that says nothing."""
    hook = {"event": "before_tool_execute", "matcher": "shell", "handler": GUARD, "blocking": True}
    files = {name: pipeline.convert(canonical(hook), get(name), bare=True).files for name in list_dialects()}
    empty = {"json": "{}", "toml": "", "yaml": "{}", "frontmatter": "---\n---\n", "text": "\n"}
    said = {
        name: file.text
        for name in list_dialects()
        for file in files[name]
        if documents.detect_kind(file.path) == kind
    }
    return {name: text.encode() for name, text in (*said.items(), ("nothing", empty[kind]))}


def spellings(case: Case, project: Path) -> dict[str, tuple[Path, str]]:
    """The folder to start in and the argument, for the file itself and each folder that has it."""
    file = project / case["at"]
    found = {
        "file": (project, case["at"]),
        "file, absolute": (project, str(file)),
    }
    # The working directory is known by its real name only.
    is_linked = file.parent.resolve() != file.parent
    if not is_linked:
        found["file, from its folder"] = (file.parent, file.name)
    folder = case.get("folder", "home" if case["at"].startswith("home/") else ".")
    if folder is None:
        return found
    top = project / folder
    found["folder, absolute"] = (project, str(top))
    for folder in (folder for folder in file.parents if folder.is_relative_to(top)):
        name = folder.relative_to(project).as_posix()
        found[f"folder {name}"] = (project, name)
        if not is_linked:
            found[f"folder {name}, from itself"] = (folder, ".")
    return found


def build(case: Case, project: Path) -> None:
    for name, text in case["files"].items():
        _write(project / name, text)
    for name in case.get("scripts", ()):
        _write(project / name, SCRIPTS.get(Path(name).suffix, SCRIPT))
    for name, target in case.get("links", {}).items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).symlink_to(target)
    for name in case.get("readonly", ()):
        (project / name).chmod(0o555)


def _write(path: Path, text: str | bytes | list[Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(text, list):
        text = "".join(part if isinstance(part, str) else part[0] * part[1] for part in text)
    data = text if isinstance(text, bytes) else text.encode()
    path.write_bytes(data)
    if data.startswith(b"#!"):
        path.chmod(0o755)


def check(start: Path, argument: str, file: Path, says: str = "") -> Outcome:
    """Run the command in a folder and keep what it says of one file."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.chdir(start), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(["check", argument, "--json"])
        told = json.loads(out.getvalue() or "{}").get("findings", [])
        codes = {one["code"] for one in told if _is(file, one["where"].partition(":")[0])} - {*OF_MACHINE}
        dialect, hooks = read_as(argument, file)
    return Outcome(code, dialect, hooks, tuple(sorted(codes)), says in err.getvalue())


def read_as(argument: str, file: Path) -> tuple[str | None, int]:
    """The dialect that a file is read as, and its hooks, where the command is given an argument."""
    dialect, hooks = None, 0
    with contextlib.suppress(InputError):
        for source in sources.find_all(Path(argument))[0]:
            if any(_is(file, name) for name in source.files):
                places = sources.read(source).decoded.places
                dialect, hooks = source.dialect.id, hooks + sum(_is(file, place.file) for place in places)
    return dialect, hooks


def _is(file: Path, name: str) -> bool:
    return os.path.abspath(name) == str(file)  # noqa: PTH100  (links stay)
