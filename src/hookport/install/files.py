"""Bytes on disk: a file is the old one or the new one, whole, and every run can be taken back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from hookport.errors import InputError


class Change(NamedTuple):
    """One file before and after; None where there is no such file."""

    path: str
    before: bytes | None
    after: bytes | None
    executable: bool = False


class ChangedError(InputError):
    """A file is no longer what it was when it was read: read it again and retry."""


def read(path: str) -> bytes | None:
    """The bytes of a file; None if there is none."""
    raise NotImplementedError


def apply(changes: Sequence[Change], env: Mapping[str, str], *, what: str, ends: bool = False) -> None:
    """Write all changes or none; `ends` says that nothing of ours is left in these files."""
    raise NotImplementedError


def undo(env: Mapping[str, str], *, dry_run: bool = False) -> list[Change]:
    """Take back the last run, or what a killed one left: each file gets its exact former bytes."""
    raise NotImplementedError
