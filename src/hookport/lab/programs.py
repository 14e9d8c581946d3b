"""The agents' programs: on the machine, or in a cache by package name and version.

A cache entry is a link that is set once everything below it exists, so a partial program is never used. The
next fetch removes the rest of an interrupted one, and the registries' own caches make it fast.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from hookport.base import folders
from hookport.errors import HookportError
from hookport.lab.driver import AgentPackage, Driver
from hookport.lab.stage import PROXIES

# Receives the current activity, at its start and then every second.
Progress = Callable[[str], None]

NODE = 22
VERSION_SECONDS = 30.0
FETCH_SECONDS = 900.0
ASK_SECONDS = 60.0
VERSION = re.compile(r"\d+\.\d+(?:\.\d+)?(?:[-+.][0-9A-Za-z]+)*(?!\w)")
BUILT = ".built"

UNREACHED = re.compile(
    r"ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|NewConnectionError"
    r"|Max retries exceeded|Temporary failure in name resolution|Could not fetch URL|Network is unreachable"
)
UNKNOWN = re.compile(r"E404|ETARGET|notarget|No matching distribution found")


class ProgramError(HookportError):
    """A program that cannot be fetched, with the reason and the fix."""


class Program(NamedTuple):
    """How a program is started, its printed version, and its file."""

    argv: tuple[str, ...]
    version: str
    where: Path


def get_cache_folder() -> Path:
    """The folder of the fetched programs."""
    folder = folders.find_own_folder(os.environ, "HOOKPORT_CACHE_DIR", "XDG_CACHE_HOME", ".cache")
    if not folder:
        raise ProgramError("no folder for fetched programs: set HOME or HOOKPORT_CACHE_DIR.")
    return Path(folder, "agents")


def get_shared_folder(name: str, driver: Driver) -> Path:
    """The folder for files that a program unpacks on its first start; it survives runs."""
    return get_cache_folder().parent / "shared" / f"{name}@{driver.package.version}"


def find_installed(driver: Driver) -> Program | None:
    """Find the program on PATH, if it runs and prints its version."""
    launcher = shutil.which(driver.program)
    if not launcher:
        return None
    argv = (launcher,)
    version = read_version((*argv, *driver.version))
    return Program(argv, version, Path(launcher)) if version else None


def find_file_name(driver: Driver) -> str:
    """Find the name of the file in the package that starts the program."""
    return driver.package.program or driver.program


def find_cached(name: str, driver: Driver) -> Program | None:
    """Find the pinned version, if it was fetched before."""
    folder = get_cache_folder() / f"{name}@{driver.package.version}"
    scripts = folder / ("bin" if driver.package.registry == "pypi" else "node_modules/.bin")
    launcher = scripts / find_file_name(driver)
    if not launcher.exists():
        return None
    argv: tuple[str, ...] = (str(launcher),)
    if driver.package.bun:
        argv = (str(scripts / "bun"), *argv)
    elif driver.package.node:
        node = _find_node(driver.package.node)
        if not node:
            return None
        argv = (node, *argv)
    version = read_version((*argv, *driver.version))
    return Program(argv, version or driver.package.version, launcher)


def fetch(name: str, driver: Driver, progress: Progress) -> Program:
    """Find the pinned version, or fetch it, with the Node that it needs."""
    package = driver.package
    if package.node and not _find_node(package.node):
        version = str(max(NODE, package.node))
        _fetch(f"node@{version}", AgentPackage("npm", "node", version), progress)
    program = find_cached(name, driver)
    if not program:
        _fetch(f"{name}@{package.version}", package, progress)
        program = find_cached(name, driver)
    if not program:
        raise ProgramError(
            f"{package.name} {package.version} was fetched but contains no program"
            f" '{find_file_name(driver)}'; {driver.title} cannot be driven. Check '{get_cache_folder()}'."
        )
    return program


def read_version(argv: Sequence[str]) -> str:
    """Read the version that a program prints; empty if it fails or prints none in time."""
    with tempfile.TemporaryDirectory(prefix="hookport-version-", ignore_cleanup_errors=True) as home:
        environment = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        environment |= {"HOME": home, "TMPDIR": home, "NO_COLOR": "1", "TERM": "dumb", **PROXIES}
        try:
            code, text = _run_command(argv, environment, VERSION_SECONDS, lambda _: None, cwd=home)
        except OSError:
            return ""
    match = VERSION.search(text)
    return match[0] if match and code == 0 else ""


def _find_node(least: int) -> str:
    """Find a Node that is new enough: the machine's own, or a fetched one."""
    own_node = shutil.which("node")
    fetched = get_cache_folder() / f"node@{max(NODE, least)}" / "node_modules/node/bin/node"
    for path in filter(None, (own_node, str(fetched) if fetched.exists() else "")):
        major = read_version((path, "--version")).partition(".")[0]
        if major.isdigit() and int(major) >= least:
            return path
    return ""


def _fetch(entry: str, package: AgentPackage, progress: Progress) -> None:
    built = get_cache_folder() / BUILT
    try:
        built.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ProgramError(
            f"cannot write '{get_cache_folder()}': {error.strerror}."
            " Set HOOKPORT_CACHE_DIR to a writable folder."
        ) from None
    for leftover in built.glob(f"{entry}~*"):
        if (
            not _is_alive(leftover.name.rpartition("~")[2])
            and leftover.resolve() != (get_cache_folder() / entry).resolve()
        ):
            shutil.rmtree(leftover, ignore_errors=True)
    folder = built / f"{entry}~{os.getpid()}"
    shutil.rmtree(folder, ignore_errors=True)
    try:
        (_fetch_npm if package.registry == "npm" else _fetch_pypi)(package, folder, progress)
        link = folder.with_name(f"{folder.name}~link")
        link.unlink(missing_ok=True)
        link.symlink_to(Path(BUILT) / folder.name)
        try:
            link.replace(get_cache_folder() / entry)
        except IsADirectoryError:
            raise ProgramError(
                f"'{get_cache_folder() / entry}' is in the way; remove it and try again."
            ) from None
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _is_alive(pid: str) -> bool:
    if not pid.isdigit():
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return int(pid) != os.getpid()


def _fetch_npm(package: AgentPackage, folder: Path, progress: Progress) -> None:
    npm = shutil.which("npm")
    if not npm:
        raise ProgramError(
            f"`npm` is not on PATH, so {package.name} was not fetched."
            f" Install Node.js {package.node or NODE} or later."
        )
    folder.mkdir()
    quiet = ["--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error"]
    bun = [f"bun@{package.bun}"] if package.bun else []
    wanted = [*package.options, f"{package.name}@{package.version}", *bun, *package.companions]
    _run_fetch([npm, "install", "--prefix", str(folder), *quiet, *wanted], package, progress)
    for step in package.steps:
        _run_fetch([npm, *step.arguments, *quiet], package, progress, folder / step.folder)


def _fetch_pypi(package: AgentPackage, folder: Path, progress: Progress) -> None:
    python = find_python(package)
    # Installing pip makes building the environment ten times slower, and is unnecessary if one exists.
    has_no_pip = not read_version((python, "-m", "pip", "--version"))
    _run_fetch(
        [python, "-m", "venv", *([] if has_no_pip else ["--without-pip"]), str(folder)], package, progress
    )
    inside = str(folder / "bin" / "python")
    pip = [inside, "-m", "pip"] if has_no_pip else [python, "-m", "pip", "--python", inside]
    quiet = ["--no-input", "--disable-pip-version-check"]
    wanted = [*package.options, f"{package.name}=={package.version}", *package.companions]
    _run_fetch([*pip, "install", *quiet, *wanted], package, progress)
    for step in package.steps:
        _run_fetch([*pip, *step.arguments, *quiet], package, progress, folder / step.folder)


def _find_pythons(least: tuple[int, int]) -> Iterator[str]:
    """Find the interpreters that are new enough, the likeliest first."""
    if sys.version_info[:2] >= least:
        yield sys.executable
    # A minor version that is too new may lack built packages that an agent needs, so the lowest comes first.
    minors = range(max(least[1], 9), 30)
    places = [Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"]
    for minor in minors:
        named = shutil.which(f"python3.{minor}")
        kept = [str(path) for place in places for path in sorted(place.glob(f"3.{minor}.*/bin/python"))]
        for path in filter(None, (named, *kept)):
            # pyenv has shims for versions that are not selected; they fail.
            if read_version((path, "--version")).startswith(f"3.{minor}."):
                yield path


def find_python(package: AgentPackage) -> str:
    """Find an interpreter that is new enough for a package; ProgramError if there is none."""
    python = next(_find_pythons(package.python), None)
    if not python:
        least = ".".join(map(str, package.python))
        raise ProgramError(
            f"{package.name} needs Python {least} or later, which is not on this machine; it was not fetched."
            f" Install Python {least}."
        )
    return python


def ask_registry(command: Sequence[str], package: AgentPackage) -> str:
    """Run a command that asks a registry about a package, and return what it prints."""
    environment = {**os.environ, "CI": "1"}
    try:
        code, text = _run_command(command, environment, ASK_SECONDS, lambda _: None)
    except OSError as error:
        raise ProgramError(f"cannot start `{command[0]}`: {error.strerror}.") from error
    if code == 0:
        return text
    why = "cannot reach its registry" if UNREACHED.search(text) else "did not answer"
    raise ProgramError(f"`{command[0]}` {why}, so the newest version of {package.name} is unknown.")


def _run_fetch(
    command: Sequence[str], package: AgentPackage, progress: Progress, folder: Path | None = None
) -> None:
    what = f"{package.name} {package.version}"
    environment = {**os.environ, "CI": "1"}
    try:
        code, text = _run_command(
            command, environment, FETCH_SECONDS, lambda time: progress(f"fetching {what}{time}"), folder
        )
    except OSError as error:
        raise ProgramError(f"cannot start `{command[0]}`: {error.strerror}.") from error
    if code == 0:
        return
    tool, site = ("npm", "npm") if package.registry == "npm" else ("pip", "PyPI")
    if code is None:
        raise ProgramError(f"{tool} did not fetch {what} within {FETCH_SECONDS:.0f} s. Try again.")
    if UNREACHED.search(text):
        raise ProgramError(
            f"{tool} cannot reach its registry, so {what} was not fetched. Check the network and try again."
        )
    if UNKNOWN.search(text) and not (package.companions or package.steps):
        raise ProgramError(f"{site} has no {what}; it was not fetched.")
    last = "\n".join(line for line in text.strip().splitlines()[-5:] if line.strip())
    raise ProgramError(f"{tool} did not fetch {what}:\n{last}")


def _run_command(
    command: Sequence[str],
    environment: dict[str, str],
    seconds: float,
    tick: Callable[[str], None],
    cwd: str | Path | None = None,
) -> tuple[int | None, str]:
    """Run a command and its children to the end or the deadline; return exit code and output."""
    with tempfile.TemporaryFile() as printed:
        child = subprocess.Popen(
            command,
            env=environment,
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=printed,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        started = time.monotonic()
        code: int | None = None
        tick("")
        try:
            while code is None and time.monotonic() - started < seconds:
                with suppress(subprocess.TimeoutExpired):
                    code = child.wait(1.0)
                if code is None:
                    tick(f", {time.monotonic() - started:.0f} s")
        finally:
            # Also if we are interrupted; and a program may leave others behind.
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(child.pid, signal.SIGKILL)
            child.wait()
        printed.seek(0)
        return code, printed.read().decode("utf-8", "replace")
