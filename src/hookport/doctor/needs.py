"""What a script needs besides its interpreter: programs that it certainly starts, modules that it imports.

The script is read, and none of it runs. Only needs of every run count: a command behind a condition, in a
function or in a `try` may be for another machine.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from hookport.doctor import syntax
from hookport.shell.syntax import Node, Part, parse
from hookport.vendor.vendored import ARCHIVE

SECONDS = 15
# The builtins of bash besides `health.BUILT_IN`.
OF_BASH = frozenset(
    re.findall(
        r"\S+",
        """
        bg bind builtin caller compgen complete compopt coproc declare dirs disown enable fc fg getopts hash
        help history jobs let logout mapfile popd pushd readarray shopt suspend typeset
        """,
    )
)
# Commands that change the meaning of names: another file's functions, another search path.
MOVES_NAMES = re.compile(
    r"(?m)(?:^|[;&|({]|\b(?:then|do|else|command|builtin))\s*(?:\.|source|alias|eval|module)\s|\bPATH="
)
# How scripts test whether a program is installed.
ASKS = re.compile(r"\b(?:command\s+-[vV]|which|type|hash)\b[^\n;|&)]*")
# The modules of Node.js itself (`module.builtinModules`, 22), and how a script loads one on every run.
OF_NODE = frozenset(
    re.findall(
        r"\S+",
        """
        assert async_hooks buffer child_process cluster console constants crypto dgram diagnostics_channel dns
        domain events fs http http2 https inspector module net os path perf_hooks process punycode querystring
        readline repl stream string_decoder sys test timers tls trace_events tty url util v8 vm wasi
        worker_threads zlib
        """,
    )
)
LOADS = re.compile(
    r"""(?m)^(?:(?:const|let|var)\s[^=;\n]*=\s*require\(\s*|import\s(?:[^;'"]*\sfrom\s*)?)["']([^"']+)["']"""
)
NODES_ALWAYS = ("pipeline", "subshell", "group")
# Failures that a script expects.
IGNORED_BY = ("true", ":")
_FIND = (
    "import importlib.util as u, sys\n"
    "for name in sys.argv[1:]:\n"
    "    try: found = u.find_spec(name)\n"
    "    except Exception: found = 1\n"
    "    if found is None: print(name); break\n"
)


class StartedScript(NamedTuple):
    """A script, its bytes, and the program that runs it with its path."""

    file: Path
    data: bytes
    program: str
    path: str


class MissingNeed(NamedTuple):
    """A need of a script that this machine lacks."""

    why: str
    fix: str


def find_need(
    script: StartedScript, root: str, find: Callable[[str], str], built_in: frozenset[str]
) -> MissingNeed | None:
    """The first missing need of a project's script; None if none is known."""
    if syntax.is_shell(script.program):
        name = _find_missing_program(script.data.decode("utf-8", "replace"), find, built_in)
        return (
            MissingNeed(f"it runs '{name}', which is not on this machine", f"Install {name}.")
            if name
            else None
        )
    if script.program.rpartition("/")[2] == "node":
        name = _find_missing_package(script)
        return MissingNeed(f"Node.js has no package '{name}'", f"Run `npm install {name}`.") if name else None
    if syntax.PYTHON.fullmatch(script.program.rpartition("/")[2]):
        name = _find_missing_module(script, root)
        if name:
            fix = f"Install the package that has {name} for {script.program}."
            return MissingNeed(f"{script.program} has no module '{name}'", fix)
    return None


def is_empty(data: bytes) -> bool:
    """Whether a script has nothing but blanks and comments."""
    return not re.sub(rb"(?m)^\s*#.*$", b"", data).strip()


def _find_missing_program(text: str, find: Callable[[str], str], built_in: frozenset[str]) -> str:
    if MOVES_NAMES.search(text):
        return ""
    nodes, problem = parse(text)
    if problem or not nodes:
        return ""
    tested_names = {word for asking in ASKS.findall(text) for word in asking.split()}
    available = built_in | OF_BASH | tested_names | {node.name for node in nodes if node.kind == "function"}
    return next((name for name in _list_programs(nodes) if name not in available and not find(name)), "")


def _list_programs(nodes: Sequence[Node]) -> Iterator[str]:
    """The programs that a list of commands always starts."""
    for at, node in enumerate(nodes):
        if node.operator in ("&&", "||"):
            continue
        then = nodes[at + 1] if at + 1 < len(nodes) else None
        if then is not None and then.operator == "||" and _spell_name(then) in IGNORED_BY:
            continue
        yield from _list_started(node)
        if node.kind == "simple" and _spell_name(node) in ("exit", "exec", "return"):
            return


def _list_started(node: Node) -> Iterator[str]:
    parts = [part for word in node.words for part in word]
    parts += [part for _, words, _ in node.assignments for word in words for part in word]
    for part in parts:
        if part.kind in ("commands", "process"):
            yield from _list_programs(part.commands)
    if node.kind == "simple" and node.words:
        name = _spell_name(node)
        if re.fullmatch(r"[A-Za-z][\w.+-]*", name):
            yield name
    elif node.kind in NODES_ALWAYS:
        for body in node.bodies:
            yield from _list_programs(body)
    elif node.kind in ("if", "while", "until") and node.bodies:
        yield from _list_programs(node.bodies[0])


def _spell_name(node: Node) -> str:
    """The literal name of a command; empty if a shell must expand it first."""
    word: Sequence[Part] = node.words[0] if node.words else ()
    return "".join(part.value for part in word) if all(part.kind == "text" for part in word) else ""


def _find_missing_package(script: StartedScript) -> str:
    """The first package that a script loads and no `node_modules` above it contains."""
    folders = [
        Path(os.path.realpath(script.file)).parent,
        *Path(os.path.realpath(script.file)).parent.parents,
    ]
    if os.environ.get("NODE_PATH") or any((folder / ".pnp.cjs").exists() for folder in folders):
        return ""
    for name in LOADS.findall(script.data.decode("utf-8", "replace")):
        if not re.match(r"@?[a-z0-9]", name) or ":" in name:
            continue
        package = "/".join(name.split("/")[: 2 if name.startswith("@") else 1])
        places = (folder / "node_modules" / package for folder in folders)
        if package not in OF_NODE and not any(map(Path.exists, places)) and not _is_named(package, folders):
            return package
    return ""


def _is_named(package: str, folders: Sequence[Path]) -> bool:
    """Whether a script is in the package that it loads."""
    quoted = f'"{package}"'.encode()
    manifests = (folder / "package.json" for folder in folders)
    return any(quoted in manifest.read_bytes() for manifest in manifests if manifest.is_file())


def _find_missing_module(script: StartedScript, root: str) -> str:
    """The first module that a script imports and its Python does not find."""
    path, data = script.path, script.data
    # A Python in the project would run unapproved code: the `.pth` files of its environment.
    project_folders = {os.path.abspath(root), os.path.realpath(root)}  # noqa: PTH100
    places = {os.path.abspath(path), os.path.realpath(path)} if path else set()  # noqa: PTH100
    if not places or any(
        place.startswith(f"{folder}{os.sep}") for place in places for folder in project_folders
    ):
        return ""
    if _is_shim(os.path.realpath(path)):
        return ""
    # If these are set, a Python searches folders that may be the project's.
    if os.environ.get("PYTHONPATH") or os.environ.get("PYTHONHOME") or b"sys.path" in data:
        return ""
    names = [name for name in _list_imports(data) if not _is_beside(name, script.file)]
    if Path(root, ARCHIVE).is_file():
        # The project's own bridge is on the search path of its hooks.
        names = [name for name in names if name != "hookport"]
    return _find_unknown_module(path, names) if names else ""


def _is_shim(path: str) -> bool:
    """Whether a program is a script that starts one of several versions, by its folder."""
    try:
        with Path(path).open("rb") as file:
            return file.read(2) == b"#!"
    except OSError:
        return True


def _list_imports(data: bytes) -> list[str]:
    """The modules that a script imports on every run, without Python's own."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    imported = []
    for node in tree.body:
        if isinstance(node, ast.Import):
            imported += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            imported.append(node.module)
    tops = dict.fromkeys(name.partition(".")[0] for name in imported)
    return [name for name in tops if name not in sys.stdlib_module_names]


def _is_beside(name: str, script: Path) -> bool:
    """Whether a module is in the script's own folder, where Python looks first."""
    folder = Path(os.path.realpath(script)).parent
    return (folder / name).is_dir() or any(folder.glob(f"{name}.*"))


def _find_unknown_module(path: str, names: Sequence[str]) -> str:
    env: Mapping[str, str] = {
        name: os.environ[name] for name in ("PATH", "HOME", "LANG", "SYSTEMROOT") if name in os.environ
    }
    try:
        done = subprocess.run(
            [path, "-c", _FIND, *names],
            cwd=os.sep,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    name = done.stdout.decode("utf-8", "replace").strip()
    return name if done.returncode == 0 and name in names else ""
