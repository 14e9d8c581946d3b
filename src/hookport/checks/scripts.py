"""The scripts that commands name: missing, not executable, without a shebang, outside their package."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path as File
from typing import NamedTuple

from hookport import findings as f
from hookport.checks import Reading, Seen, fresh, seen_in
from hookport.findings import Finding

INTERPRETERS = re.compile(r"(?:ba|z|da|k|fi)?sh|python[\d.]*|node|bun|deno|ruby|perl|php|pwsh|tsx|ts-node")
# Options without a value after which the script's name follows; any other may mean that there is none.
PLAIN_OPTIONS = re.compile(r"-[eux]+|-[uBIEsSO]+")
WRAPPERS = frozenset({"exec", "env", "command", "nohup", "time"})


class Script(NamedTuple):
    """A script that a command starts: the word that names it, and whether it runs by itself."""

    word: str
    is_direct: bool


def check_scripts(reading: Reading, root: File) -> list[Finding]:
    """What is wrong with the scripts that the hooks start; `root` is the project's or package's folder."""
    found = [finding for one in seen_in(reading) for finding in _check_scripts(one, root)]
    return fresh(reading, found)


def _check_scripts(one: Seen, root: File) -> Iterator[Finding]:
    commands = (one.hook.handler.command, *one.hook.handler.platform.values())
    for command in dict.fromkeys(commands):
        script = named_script(command)
        if script is None:
            continue
        rules = one.dialect.script_rules
        if rules and not script.word.startswith(("$", "~", "/")):
            name = script.word.removeprefix("./")
            yield one.note(f.PackageRootUnused, placeholder=one.dialect.package_dir[0], script=name)
        path = _resolved(one, script.word, root)
        if path is not None:
            yield from _check_file(one, path, root, is_started=script.is_direct or rules)


def named_script(command: str) -> Script | None:
    """The script that a command clearly starts with, if it does."""
    words = _first_command(command)
    while words and (words[0].rpartition("/")[2] in WRAPPERS or re.match(r"\w+=", words[0])):
        words = words[1:]
    if not words:
        return None
    if not INTERPRETERS.fullmatch(words[0].rpartition("/")[2]):
        return Script(words[0], is_direct=True) if _is_path(words[0]) else None
    words = words[1:]
    while words and PLAIN_OPTIONS.fullmatch(words[0]):
        words = words[1:]
    if words and (re.fullmatch(r"\w[\w-]*\.\w+", words[0]) or (_is_path(words[0]) and words[0][0] != "-")):
        return Script(words[0], is_direct=False)
    return None


def _first_command(command: str) -> list[str]:
    """The words up to the first operator; none if the quoting is not plain."""
    lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    lexer.commenters = ""
    words: list[str] = []
    try:
        for word in lexer:
            if set(word) <= set("();<>|&"):
                break
            words.append(word)
    except ValueError:
        return []
    return words


def _is_path(word: str) -> bool:
    return "/" in word and "://" not in word


def _resolved(one: Seen, word: str, root: File) -> File | None:
    """The file that a word names, None where only the shell or the agent knows it."""
    base = _package(one, root)
    is_personal = one.place.file.startswith("~")
    for spellings, folder in ((one.dialect.package_dir, base), (one.dialect.project_dir, root)):
        for spelling in sorted(spellings, key=len, reverse=True):
            if word.startswith(f"{spelling}/") and not (is_personal and folder is root):
                return _plain(word.removeprefix(f"{spelling}/"), folder)
    if word.startswith("~/"):
        return _plain(word.removeprefix("~/"), File.home())
    if word.startswith("/"):
        return _plain(word, root)
    if is_personal or one.hook.handler.cwd:
        return None
    return _plain(word, base if one.dialect.script_rules else root)


def _plain(name: str, folder: File) -> File | None:
    return None if re.search(r"[$`*?\[\]{}~%\0]", name) else folder / name


def _package(one: Seen, root: File) -> File:
    """The folder of the package that a file belongs to."""
    for location in one.dialect.locations:
        if location.scope == "plugin" and f"/{one.place.file}".endswith(f"/{location.path}"):
            return root / one.place.file[: -len(location.path)]
    return root


def _check_file(one: Seen, path: File, root: File, *, is_started: bool) -> Iterator[Finding]:
    name = path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)
    try:
        if not path.is_file():
            yield one.note(f.ScriptMissing, script=name)
            return
        if not is_started:
            return
        if not path.stat().st_mode & 0o111:
            yield one.note(f.ScriptNotExecutable, script=name)
        with path.open("rb") as file:
            head = file.read(512)
    except OSError:
        # What we may not look at may still be there for the agent.
        return
    if not head.startswith(b"#!") and b"\0" not in head:
        yield one.note(f.NoShebang, script=name)
