"""The world of one run: a fresh HOME, a fresh git project and an environment without the user's own.

It inherits only PATH and LANG; every other place that a program may write is below the run's folder.
"""

from __future__ import annotations

import os
import shlex
import socket
import subprocess
import sys
import sysconfig
from collections.abc import Mapping
from pathlib import Path

from hookport.errors import UsageError
from hookport.lab.driver import Driver, ModelStep, Stage
from hookport.lab.play import Spec

PROMPT = "Do the scripted things."
# Nothing listens there: a request to another host through it fails at once.
PROXIES = {
    **dict.fromkeys(("http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY"), "http://127.0.0.1:9"),
    **dict.fromkeys(("no_proxy", "NO_PROXY"), "127.0.0.1,localhost,::1"),
}
AUTHOR = {"name": "hookport", "email": "prove@hookport.invalid"}


def build_stage(
    root: Path,
    program: tuple[str, ...],
    *,
    shared: Path,
    prompt: str = PROMPT,
    files: Mapping[str, str] | None = None,
    within: str = "",
) -> Stage:
    """Build the world of a run in an empty folder.

    `files` are written into the project before its first commit; a file starting with `#!` becomes
    executable. `within` is the agent's start folder in the project. The caller adds an MCP server to the
    stage.
    """
    root = root.resolve()
    home, project = root / "home", root / "project"
    cwd = project / within
    for folder in (home, cwd, root / "tmp", root / "bin", shared):
        folder.mkdir(parents=True, exist_ok=True)
    for name, text in {"README.md": "# A project\n", **(files or {})}.items():
        path = project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        if text.startswith("#!"):
            path.chmod(0o755)
    url = f"http://127.0.0.1:{_find_free_port()}"
    stage = Stage(home, project, cwd, url, program, shared.resolve(), prompt)
    _write_git_settings(home)
    _run_git(stage, ["init", "--quiet"])
    commit(stage, "First")
    return stage


def commit(stage: Stage, message: str) -> None:
    """Commit everything in the project, so that a reset in a run does not remove it."""
    _run_git(stage, ["add", "--all"])
    _run_git(stage, ["commit", "--quiet", "--allow-empty", "--no-verify", "--message", message])


def make_environment(stage: Stage) -> dict[str, str]:
    """Make the environment of every program of the run, before its driver adds its own."""
    home, root = stage.home, stage.home.parent
    path = os.pathsep.join([_make_command_path(root / "bin"), os.environ.get("PATH", os.defpath)])
    return {
        "PATH": path,
        "LANG": os.environ.get("LANG", "C.UTF-8"),
        "HOME": str(home),
        "USER": "hookport",
        "LOGNAME": "hookport",
        "SHELL": "/bin/sh" if not Path("/bin/bash").exists() else "/bin/bash",
        "TERM": "dumb",
        "NO_COLOR": "1",
        "TMPDIR": str(root / "tmp"),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "XDG_DATA_HOME": str(home / ".local" / "share"),
        "XDG_STATE_HOME": str(home / ".local" / "state"),
        "XDG_CACHE_HOME": str(home / ".cache"),
        "XDG_RUNTIME_DIR": str(root / "tmp"),
        "DO_NOT_TRACK": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "HOOKPORT_STATE_DIR": str(root / "state"),
        **PROXIES,
    }


def make_spec(
    driver: Driver,
    stage: Stage,
    steps: tuple[ModelStep, ...],
    *,
    settle_seconds: float = 1,
    more: Mapping[str, str] | None = None,
) -> Spec:
    """Make the player's spec for a stage; `more` is added to the agent's environment."""
    return Spec(
        argv=tuple(driver.command(stage)),
        cwd=str(stage.cwd),
        environment={**make_environment(stage), **driver.environment(stage), **(more or {})},
        home=str(stage.home),
        protocol=driver.protocol,
        steps=steps,
        port=int(stage.url.rpartition(":")[2]),
        requests_file=str(stage.home.parent / "requests.jsonl"),
        patience_seconds=driver.patience,
        settle_seconds=settle_seconds,
    )


def _find_free_port() -> int:
    """Find a free port. In a separate network it stays free; elsewhere the player reports a clash."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _make_command_path(folder: Path) -> str:
    """Make the start of PATH: the folders of this hookport's command and its Python."""
    scripts = Path(sysconfig.get_path("scripts"))
    folders = [str(scripts), str(Path(sys.executable).parent)]
    if not (scripts / "hookport").exists():
        # Run from source: the command is our own script.
        command = folder / "hookport"
        source = Path(__file__).resolve().parents[2]
        command.write_text(
            f"#!/bin/sh\nPYTHONPATH={shlex.quote(str(source))} exec {shlex.quote(sys.executable)}"
            ' -m hookport "$@"\n',
            "utf-8",
        )
        command.chmod(0o755)
        folders.insert(0, str(folder))
    return os.pathsep.join(dict.fromkeys(folders))


def _write_git_settings(home: Path) -> None:
    (home / ".gitconfig").write_text(
        "".join(f"[user]\n\t{key} = {value}\n" for key, value in AUTHOR.items())
        + "[init]\n\tdefaultBranch = main\n[commit]\n\tgpgSign = false\n[gc]\n\tauto = 0\n",
        "utf-8",
    )


def _run_git(stage: Stage, arguments: list[str]) -> None:
    git_environment = {**make_environment(stage), "GIT_CONFIG_NOSYSTEM": "1"}
    try:
        done = subprocess.run(
            ["git", *arguments],
            cwd=stage.project,
            env=git_environment,
            capture_output=True,
            text=True,
            check=False,
        )
    except FileNotFoundError as error:
        raise UsageError("`git` is not on PATH; a run needs it for its project. Install git.") from error
    if done.returncode:
        raise UsageError(f"`git {shlex.join(arguments)}` failed in the run's project: {done.stderr.strip()}")
