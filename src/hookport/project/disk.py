"""Reads files of any kind safely: only plain files are opened, and no read blocks."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from hookport.base.files import open_without_waiting
from hookport.errors import InputError, Problem, spell_path
from hookport.findings import Finding, SourceBroken

# The limit for every file that is read or edited.
LARGEST = 5_000_000
# A frontmatter has about 100 words; the body below it is for people and not read.
HEAD = 64 * 1024
_LINE_END = rb"[ \t]*(?:\r\n|\n|\r"
_FENCED = re.compile(
    rb"(?:\xef\xbb\xbf)?---" + _LINE_END + rb")(?:.*?[\r\n])??---" + _LINE_END + rb"|\Z)", re.DOTALL
)


class Log(NamedTuple):
    """The findings so far, and every path that was examined."""

    findings: list[Finding]
    watched: dict[str, None]

    def add_problems(self, *problems: Problem) -> None:
        """Report what exists but is unusable."""
        for problem in problems:
            finding = SourceBroken.at(spell_path(problem.path), message=problem.message)
            self.findings.append(
                finding._replace(file=problem.file, line=problem.line, column=problem.column)
            )

    def watch(self, path: Path) -> None:
        self.watched[str(path)] = None


def path_exists(path: Path) -> bool:
    """Whether a path exists, dangling links included."""
    return os.path.lexists(path)


def is_dangling_link(path: Path) -> bool:
    """Whether a path is a link to a missing target."""
    return path.is_symlink() and not path.exists()


def list_names(folder: Path, log: Log) -> list[str]:
    """The names in a folder, sorted; none if it does not exist."""
    try:
        return sorted(entry.name for entry in os.scandir(folder))
    except OSError as error:
        if not _is_absent(error, folder):
            log.add_problems(Problem(_explain_error(error), file=str(folder)))
        return []


def is_folder(path: Path, log: Log) -> bool:
    """Whether a path is a folder; a dangling link may have been one, so it is reported."""
    try:
        return stat.S_ISDIR(path.stat().st_mode)
    except OSError as error:
        if not _is_absent(error, path):
            log.add_problems(Problem(_explain_error(error), file=str(path)))
        return False


def expand_place(place: str, log: Log, below: str = "") -> Iterator[Path]:
    """The paths that a place with stars matches; without a star the place itself, existing or not.

    `below` is an existing folder, in whose own name a star is a literal character.
    """
    start, star, rest = place.partition("*")
    if not star:
        yield _make_path(below + place)
        return
    folder, stem = os.path.split(below + start)
    last, slash, rest = rest.partition("/")
    log.watch(Path(folder))
    for name in list_names(Path(folder), log):
        if not (name.startswith(stem) and name.endswith(last)):
            continue
        if not slash:
            yield Path(folder, name)
        elif is_folder(Path(folder, name), log):
            yield from expand_place(rest, log, f"{folder}/{name}/")


@lru_cache(4_096)
def _make_path(path: str) -> Path:
    """Make a path; cached, because every command needs the places of every agent several times."""
    return Path(path)


def read_data(file: Path, limit: int = LARGEST) -> bytes | None:
    """Read the first bytes of a file, None if it does not exist; InputError if it is not a plain file."""
    try:
        status = file.stat()
        if not stat.S_ISREG(status.st_mode):
            what = "a folder" if stat.S_ISDIR(status.st_mode) else "a pipe, a socket or a device"
            raise InputError(Problem(f"is {what}, not a file", file=str(file)))
        if status.st_size > LARGEST:
            size = f"{LARGEST // 1_000_000} MB"
            raise InputError(Problem(f"is larger than {size}, so it was not read", file=str(file)))
        return read_start(file, limit)
    except OSError as error:
        if _is_absent(error, file):
            return None
        raise InputError(Problem(_explain_error(error), file=str(file))) from None
    except ValueError:  # no file can have such a name
        return None


def read_head(file: Path) -> bytes | None:
    """Read a file up to the end of its frontmatter."""
    data = read_data(file, HEAD)
    fenced = _FENCED.match(data) if data else None
    if fenced:
        return fenced[0]
    if data and len(data) == HEAD:
        raise InputError(
            Problem(f"the frontmatter does not end in its first {HEAD // 1024} KiB", (), str(file), 1, 1)
        )
    return data


def read_start(file: Path, limit: int) -> bytes:
    """Read the first bytes of a plain file; empty if a pipe has replaced it meanwhile."""
    with open(file, "rb", opener=open_without_waiting) as opened:
        return opened.read(limit)


def _is_absent(error: OSError, path: Path) -> bool:
    """Whether nothing was there; an inaccessible path may exist.

    A path that appeared a moment ago is not a dangling link: somebody just wrote it.
    """
    if isinstance(error, FileNotFoundError):
        return not is_dangling_link(path)
    return isinstance(error, NotADirectoryError) and not path_exists(path)


def _explain_error(error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return "is a broken link"
    if isinstance(error, NotADirectoryError):
        return "is not a folder"
    return f"cannot be read: {error.strerror or error}"
