"""The bytes of one file as an edit reads them, and the change that it makes; `install.files` writes it."""

from __future__ import annotations

import os
import stat
from typing import NamedTuple

from hookport.base.files import open_without_waiting
from hookport.errors import InputError, Problem
from hookport.project.disk import LARGEST


class Change(NamedTuple):
    """One file before and after; None where there is no such file."""

    path: str
    before: bytes | None
    after: bytes | None
    executable: bool = False


def read_file(path: str) -> bytes | None:
    """The bytes of a file; None if there is none."""
    try:
        with open(path, "rb", opener=open_without_waiting) as stream:
            if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
                raise InputError(Problem("is no file that could be read: a pipe or a device.", file=path))
            content = stream.read(LARGEST + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except IsADirectoryError as error:
        raise InputError(Problem("is a folder, where a file is expected.", file=path)) from error
    except OSError as error:
        raise InputError(Problem(f"cannot be read: {error.strerror}.", file=path)) from error
    if len(content) > LARGEST:
        limit = f"{LARGEST // 1_000_000} MB"
        raise InputError(Problem(f"is larger than {limit}, so it is left alone.", file=path))
    return content
