"""The bytes of one file for an edit, and the change that it makes; `install.files` writes it."""

from __future__ import annotations

import os
import stat
from typing import NamedTuple

from hookport.base.files import open_without_waiting
from hookport.errors import InputError, Problem
from hookport.project.disk import LARGEST


class Change(NamedTuple):
    """One file before and after; None if the file does not exist."""

    path: str
    before: bytes | None
    after: bytes | None
    executable: bool = False


def read_file(path: str) -> bytes | None:
    """The bytes of a file; None if it does not exist."""
    try:
        with open(path, "rb", opener=open_without_waiting) as stream:
            if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
                raise InputError(Problem("is not a readable file: a pipe or a device.", file=path))
            content = stream.read(LARGEST + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except IsADirectoryError as error:
        raise InputError(Problem("is a folder, not a file.", file=path)) from error
    except OSError as error:
        raise InputError(Problem(f"cannot read this file: {error.strerror}.", file=path)) from error
    if len(content) > LARGEST:
        limit = f"{LARGEST // 1_000_000} MB"
        raise InputError(Problem(f"is larger than {limit}, so it is left untouched.", file=path))
    return content
