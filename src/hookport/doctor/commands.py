"""How a shell reads a hook's command: unclosed quotes, words it does not expand.

The words are parsed, and nothing runs. `sh -n`, which executes nothing, checks a command that seems broken.
A command that remains unclear gets no finding.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from hookport import findings as f
from hookport.agents import get, get_wire
from hookport.convert.checks.scripts import INTERPRETERS, PLAIN_OPTIONS, WRAPPERS
from hookport.errors import suggest_closest
from hookport.findings import Finding
from hookport.shapes.dialect import find_variable
from hookport.shell.syntax import Node, Part, parse

SECONDS = 5
# Typographic quotes, which editors and web pages write instead of a shell's.
CURLY = "\u201c\u201d\u201e\u201f\u2018\u2019\u201a\u201b\u00ab\u00bb"
# Variables that any shell sets itself, besides the environment.
OF_SHELLS = frozenset(
    {"PWD", "OLDPWD", "HOME", "PATH", "USER", "LOGNAME", "SHELL", "TMPDIR", "HOSTNAME", "UID", "IFS"}
)
OF_WINDOWS = re.compile(r"[\"']?[A-Za-z]:[\\/]\S*")
SHELL = "/bin/sh"


class Surroundings(NamedTuple):
    """Where a command starts: the root, its environment, and the variables that its dialect sets for it.

    Without a root it starts in an unknown folder. `roots` contain the project's root; `package` names
    a plugin's variables, which are unset outside a plugin.
    """

    root: Path | None
    env: Mapping[str, str]
    roots: frozenset[str] = frozenset()
    known: frozenset[str] = frozenset()
    package: frozenset[str] = frozenset()


def make_surroundings(
    name: str,
    root: Path | None,
    env: Mapping[str, str],
    *,
    more: Collection[str] = (),
    in_package: bool = True,
) -> Surroundings:
    """The surroundings of the hooks of a dialect; `in_package`: something sets its package's folder."""
    dialect = get(name)
    agent_wire = get_wire(name)
    roots, package = _find_variables(dialect.project_dir), _find_variables(dialect.package_dir)
    named = {
        *agent_wire.env,
        *(key for row in agent_wire.by_event.values() for key in row.get("env", ())),
        *more,
    }
    named |= {marker.partition("=")[0] for marker in dialect.markers}
    outside = frozenset() if in_package else frozenset(package - roots)
    known_names = frozenset({*named, *roots, *package, *env} - outside | OF_SHELLS)
    return Surroundings(root, env, frozenset(roots), known_names, outside)


def _find_variables(spellings: Collection[str]) -> set[str]:
    return {name for spelling in spellings if (name := find_variable(spelling))}


def find_command_faults(command: str, where: Surroundings) -> Iterator[Finding]:
    """The first error that keeps a shell from starting what a command names."""
    if os.name == "nt" or not command.strip():
        return
    if named := OF_WINDOWS.match(command.strip()):
        fix = "Name a file of this system, with slashes."
        yield f.WordNotExpanded.at("", path=named[0].strip("\"'"), why="it is a Windows path", fix=fix)
        return
    nodes, problem = parse(command)
    if problem:
        if why := _ask_shell(command, where.env):
            yield f.CommandBroken.at("", why=why)
        return
    if not nodes or nodes[0].kind != "simple":
        return
    first = nodes[0]
    set_here = {name for node in nodes for name, _, _ in node.assignments}
    where = where._replace(known=where.known | set_here)
    words = first.words
    if words and _spell_word(words[0]) == "cd":
        if len(words) == 2 and first is not nodes[-1] and nodes[1].operator == "&&":
            yield from _check_folder_change(words[1], nodes[1], where)
        return
    for word in _find_started_words(first):
        if finding := _find_unexpanded(word, where):
            yield finding
            return


def _ask_shell(command: str, env: Mapping[str, str]) -> str:
    """The error of a shell that cannot parse a command; empty if it can, or if unknown."""
    try:
        done = subprocess.run(
            [SHELL, "-n", "-c", command],
            env={"PATH": env.get("PATH", os.defpath)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return ""
    complaint = done.stderr.decode("utf-8", "replace").strip().partition("\n")[0]
    return re.sub(r"^\S*sh: (?:-c: )?(?:(?:line )?\d+: )?", "", complaint) if done.returncode else ""


def _find_started_words(node: Node) -> Iterator[list[Part]]:
    """The words of the program and of the script that it runs."""
    words = [*node.words]
    while words and _spell_word(words[0]).rpartition("/")[2] in WRAPPERS:
        words = words[1:]
    if not words:
        return
    yield words[0]
    if INTERPRETERS.fullmatch(_spell_word(words[0]).rpartition("/")[2]):
        words = words[1:]
        while words and PLAIN_OPTIONS.fullmatch(_spell_word(words[0])):
            words = words[1:]
        if words and not _spell_word(words[0]).startswith("-"):
            yield words[0]


def _spell_word(word: list[Part]) -> str:
    """A word as written, with the names of its variables."""
    return "".join(part.value if part.kind == "text" else f"${part.value}" for part in word)


def _find_unexpanded(word: list[Part], where: Surroundings) -> Finding | None:
    """The reason why a path is not the intended file."""
    text = _spell_word(word)
    if any(part.kind == "text" and not part.is_quoted and set(part.value) & set(CURLY) for part in word):
        why = "a shell reads typographic quotes as letters"
        return f.WordNotExpanded.at("", path=text, why=why, fix='Write " instead.')
    if "/" not in text:
        return None
    first = next((part for part in word if part.value), None)
    if first is None:
        return None
    if first.kind == "text" and first.is_quoted and first.value.startswith("~/"):
        return f.WordNotExpanded.at(
            "", path=text, why="a shell does not expand '~' within quotes", fix='Write "$HOME" instead of ~.'
        )
    if first.kind == "text" and first.is_quoted and re.match(r"\$\{?[A-Za-z_]", first.value):
        fix = "Put it in double quotes."
        return f.WordNotExpanded.at(
            "", path=text, why="a shell does not expand variables within single quotes", fix=fix
        )
    for part in word:
        if (
            part.kind == "variable"
            and not part.operator
            and (finding := _find_unset(part.value, word, where))
        ):
            return finding
    return None


def _find_unset(name: str, word: list[Part], where: Surroundings) -> Finding | None:
    if name in where.known or not re.fullmatch(r"[A-Za-z_]\w*", name):
        return None
    path = "".join(part.value for part in word if part.kind == "text")
    if name in where.package:
        root = next(iter(sorted(where.roots)), "")
        why = f"${name} is set for plugins only"
        fix = f'Write "${root}" instead.' if root else "Write the path from the project root."
        return f.WordNotExpanded.at("", path=path, why=why, fix=fix)
    guess = suggest_closest(name, sorted(where.roots))
    prefixes = {variable.partition("_")[0] for variable in (*where.roots, *where.package)}
    is_own = bool(guess) or name.partition("_")[0] in prefixes
    fix = guess.strip() or f"Set {name} where the agent is started, or write the path without it."
    finding = f.WordNotExpanded.at("", path=path, why=f"${name} is not set", fix=fix)
    return finding if is_own else finding._replace(severity="loss")


def _check_folder_change(folder: list[Part], then: Node, where: Surroundings) -> Iterator[Finding]:
    """Check a folder that a command changes into first: whether it exists, and the script in it."""
    if finding := _find_unexpanded(folder, where):
        yield finding
        return
    if any(part.kind == "variable" and part.value not in where.roots for part in folder):
        return
    if any(part.kind not in ("text", "variable") for part in folder):
        return
    text = "".join(part.value if part.kind == "text" else str(where.root) for part in folder)
    if where.root is None or not text or text[0] in "-~" or re.search(r"[\0-\4]", text):
        return
    path = where.root / text
    if not path.is_dir():
        fix = "Create it, or correct the path."
        yield f.WordNotExpanded.at(
            "", path=text, why="the command changes into this folder first, but it does not exist", fix=fix
        )
        return
    script = _spell_word(then.words[0]) if then.kind == "simple" and then.words else ""
    if (
        script.startswith(("./", "../"))
        and re.fullmatch(r"[\w./-]+", script)
        and not (path / script).exists()
    ):
        at = os.path.normpath(f"{text}/{script}")
        yield f.WordNotExpanded.at(
            "", path=at, why="it does not exist", fix="Create it, or correct the path."
        )
