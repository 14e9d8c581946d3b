"""The ledger, what hookport wrote into which file: enough to take it back, readable by its user only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from hookport.findings import Finding


class Record(NamedTuple):
    """What we remember of one file that holds something of ours."""

    path: str
    # The bytes before our first entry; None if there was no file.
    original: bytes | None
    # What we wrote last; None if we removed the file.
    written: bytes | None
    time: str
    what: str
    # The folders that were made for it, outermost first.
    folders: tuple[str, ...] = ()
    # False if an older record was lost, so that `original` may hold entries of ours.
    exact: bool = True


class Run(NamedTuple):
    """One run of a command that wrote files."""

    number: int
    time: str
    what: str
    paths: tuple[str, ...]


def of(path: str, env: Mapping[str, str]) -> Record | None:
    """What we remember of a file; None if nothing of ours is in it, or the record cannot be read."""
    raise NotImplementedError


def records(env: Mapping[str, str]) -> list[Record]:
    """What we remember of every file, by path; `broken` tells which records cannot be read."""
    raise NotImplementedError


def runs(env: Mapping[str, str]) -> list[Run]:
    """The last runs, oldest first."""
    raise NotImplementedError


def broken(env: Mapping[str, str]) -> list[Finding]:
    """The files of the ledger that cannot be read."""
    raise NotImplementedError
