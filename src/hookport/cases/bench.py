"""Where one case runs: a temporary copy of the package, with a home and an environment of its own."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple

from hookport.cases.package import Origin, hooks_in
from hookport.cases.suite import CONFIG, PLACE
from hookport.errors import UsageError
from hookport.planning import settings_in
from hookport.project.discovery import load
from hookport.runtime.plan import Planned

LEFT_OUT = frozenset({".git", "node_modules", ".venv", "venv", "__pycache__"})
# A copy of this takes seconds; a file counts as a block of the file system at least.
LARGEST = 64 << 20
BLOCK_BYTES = 4096
# What programs need to be found and to speak, and the version managers whose folders are in a home.
KEPT = (
    "PATH",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "SYSTEMROOT",
    "COMSPEC",
    "PATHEXT",
    "VIRTUAL_ENV",
    "PYENV_ROOT",
    "NVM_DIR",
    "VOLTA_HOME",
    "ASDF_DATA_DIR",
    "MISE_DATA_DIR",
    "RBENV_ROOT",
    "CARGO_HOME",
    "RUSTUP_HOME",
)


class Bench(NamedTuple):
    """The copy, its hooks, and the environment and settings that hold there."""

    root: str
    home: str
    hooks: list[Planned]
    env: Mapping[str, str]
    settings: Mapping[str, str]

    def named(self, text: str) -> str:
        """A text in which the copy and the home are called by names that are the same in every run."""
        for path, name in ((self.root, PLACE), (self.home, "${HOME}")):
            for spelling in (path, os.path.realpath(path)):
                text = text.replace(spelling, name)
        return text


@contextmanager
def bench(origin: Origin, env: Mapping[str, str]) -> Iterator[Bench]:
    """A bench that is gone afterwards; `env` is added to what every case has."""
    top = Path(tempfile.mkdtemp(prefix="hookport-test-"))
    try:
        root, home, scratch = top / (origin.base.name or "package"), top / "~", top / "tmp"
        home.mkdir()
        scratch.mkdir()
        _copy(origin, root)
        kept = {name: os.environ[name] for name in KEPT if name in os.environ}
        whole = {**kept, "HOME": str(home), "TMPDIR": str(scratch), **env}
        found = load(str(root / origin.source.relative_to(origin.base)), None, whole)
        yield Bench(str(root), str(home), hooks_in(found), whole, settings_in(str(root), whole))
    finally:
        shutil.rmtree(top, ignore_errors=True)


def _copy(origin: Origin, root: Path) -> None:
    if origin.parts:
        root.mkdir()
    elif _size(origin.base) > LARGEST:
        raise UsageError(
            f"{origin.base} is larger than {LARGEST >> 20} MiB, too large to copy for every case. "
            f'Name what the hooks need with "copy" in {CONFIG}'
        )
    for part in origin.parts or (origin.base,):
        to = root / part.relative_to(origin.base)
        if part.is_dir():
            shutil.copytree(part, to, symlinks=True, ignore=_left_out, dirs_exist_ok=True)
        else:
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(part, to)


@cache
def _size(folder: Path) -> int:
    """The bytes that a copy takes, as far as they matter."""
    total = 0
    for here, inside, files in os.walk(folder):
        inside[:] = set(inside) - LEFT_OUT
        for name in files:
            with suppress(OSError):
                total += max(os.lstat(f"{here}/{name}").st_size, BLOCK_BYTES)
        if total > LARGEST:
            break
    return total


def _left_out(folder: str, names: list[str]) -> list[str]:
    return [name for name in names if name in LEFT_OUT or not _is_copied(Path(folder, name))]


def _is_copied(path: Path) -> bool:
    """A pipe or a socket cannot be copied."""
    return path.is_symlink() or path.is_file() or path.is_dir()
