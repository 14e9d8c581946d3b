"""Syntax checks of scripts, by the interpreter that runs them; no line of a script is executed.

Results are cached by the state of the file (inode, size and times), so that a repeated check starts nothing.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from hookport.base import folders
from hookport.base.files import keep_file

# Interpreters start in tens of milliseconds; a slower one proves nothing.
SECONDS = 5
KEPT = "syntax.json"
MOST_KEPT = 500
LARGEST = 1 << 20
# Options by which a program checks a file and runs nothing, neither of the file nor of the user's profile:
# bash(1), zsh(1) (-f: no startup files), node(1). Ruby and Perl run BEGIN blocks even then.
SHELLS = dict.fromkeys(("sh", "bash", "dash", "ash", "ksh", "mksh"), ("-n",)) | {"zsh": ("-f", "-n")}
PYTHON = re.compile(r"python[\d.]*")
_COMPILE = "import sys; compile(sys.stdin.buffer.read(), sys.argv[1], 'exec', dont_inherit=True)"
_PLACE = re.compile(r"(?:line )?(\d+)(?::|,)? *(.*)")


class SyntaxFault(NamedTuple):
    """Why a script does not parse, the faulty line, and the command of the check."""

    why: str
    evidence: str
    words: tuple[str, ...]


def is_shell(program: str) -> bool:
    """Whether a program is a POSIX shell."""
    return program.rpartition("/")[2] in SHELLS


def check_syntax(
    program: str, script: Path, path: str, root: str, env: Mapping[str, str]
) -> SyntaxFault | None:
    """Check a script with the program at a path; None if it parses, or if that is unknown.

    A program inside the project is not started: a check must not run unapproved code.
    """
    name = program.rpartition("/")[2]
    real = os.path.realpath(path) if path else ""
    if not real or f"{real}{os.sep}".startswith(f"{os.path.realpath(root)}{os.sep}"):
        return None
    try:
        state = script.stat()
    except OSError:
        return None
    if state.st_size > LARGEST:
        return None
    key = json.dumps([real, str(script)])
    stamp = [state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns]
    cache = _read_cache(env)
    if key in cache and cache[key][0] == stamp:
        complaint = cache[key][1]
    else:
        complaint = _examine(name, real, script)
        if complaint is None:
            return None
        _write_cache(env, {**cache, key: [stamp, complaint]})
    return SyntaxFault(complaint[0], complaint[1], tuple(complaint[2])) if complaint else None


def _examine(name: str, path: str, script: Path) -> list[str | list[str]] | None:
    """The cause, the evidence and the command of a check; empty if the script parses, None if unknown."""
    if name in SHELLS:
        return _run_check([path, *SHELLS[name], str(script)], script, [name, *SHELLS[name]])
    if name == "node" and script.suffix not in (".ts", ".mts", ".cts"):
        return _run_check([path, "--check", str(script)], script, ["node", "--check"])
    if PYTHON.fullmatch(name):
        return _examine_python(name, path, script)
    return None


def _examine_python(name: str, path: str, script: Path) -> list[str | list[str]] | None:
    """Compile with our own Python first; only if that fails, ask the Python that runs the script."""
    try:
        data = script.read_bytes()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(data, str(script), "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        command = [path, "-I", "-S", "-c", _COMPILE, str(script)]
        return _run_check(command, script, [name, "-m", "py_compile"], stdin=data)
    except (OSError, RecursionError, MemoryError):
        return None
    return []


def _run_check(
    command: list[str], script: Path, words: list[str], stdin: bytes = b""
) -> list[str | list[str]] | None:
    # Variables such as BASH_ENV and NODE_OPTIONS would run something before the check.
    env = {name: os.environ[name] for name in ("PATH", "LANG", "SYSTEMROOT") if name in os.environ}
    try:
        done = subprocess.run(
            command,
            cwd=script.anchor,
            env={**env, "LC_ALL": "C.UTF-8"},
            input=stdin,
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    if done.returncode == 0:
        return []
    why, evidence = _read_complaint(done.stderr.decode("utf-8", "replace"), script)
    return [why, evidence, words] if why else None


def _read_complaint(text: str, script: Path) -> tuple[str, str]:
    """An interpreter's error in one line, and that line of the script; empty if none."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    named = next((line for line in lines if str(script) in line), "")
    errors = [line for line in lines if re.match(r"[A-Z]\w*Error\b", line)]
    # Node's error codes are about loading a file, for example refusing to check it by its name.
    if any("[ERR_" in line for line in errors):
        return "", ""
    if not named or not (errors or "rror" in named or "unexpected" in named or "nterminated" in named):
        return "", ""
    place = _PLACE.match(named.partition(str(script))[2].lstrip('": ,'))
    number, rest = (place[1], place[2]) if place else ("", named.partition(str(script))[2].lstrip(": "))
    why = errors[-1] if errors else rest
    return (f"line {number}: {why}" if number else why), _spell_line(script, number)


def _spell_line(script: Path, number: str) -> str:
    try:
        lines = script.read_bytes().decode("utf-8", "replace").splitlines()
    except OSError:
        return ""
    at = int(number or 0)
    return f"{script.name}:{at}: {lines[at - 1].strip()[:120]}" if 0 < at <= len(lines) else ""


def _find_cache_file(env: Mapping[str, str]) -> Path | None:
    place = folders.find_own_folder(env, *folders.CACHE)
    return Path(place, KEPT) if place else None


def _read_cache(env: Mapping[str, str]) -> dict[str, list]:  # type: ignore[type-arg]
    file = _find_cache_file(env)
    try:
        tree = json.loads(file.read_bytes()) if file else {}
    except (OSError, ValueError):
        return {}
    return tree if isinstance(tree, dict) and all(_is_row(row) for row in tree.values()) else {}


def _is_row(row: object) -> bool:
    if not isinstance(row, list) or len(row) != 2 or not isinstance(row[1], list):
        return False
    complaint = row[1]
    return not complaint or (
        len(complaint) == 3 and all(isinstance(text, str) for text in (*complaint[:2], *complaint[2]))
    )


def _write_cache(env: Mapping[str, str], rows: dict[str, list]) -> None:  # type: ignore[type-arg]
    file = _find_cache_file(env)
    if file is None:
        return
    newest = dict(list(rows.items())[-MOST_KEPT:])
    try:
        keep_file(str(file), json.dumps(newest).encode())
    except OSError:
        return
