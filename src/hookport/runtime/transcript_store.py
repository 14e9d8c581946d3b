"""Where an agent keeps a conversation, and its records: bounded in size and time, the newest stay.

A path in a payload is believed only as far as the agent itself gives its files such names: with every link
followed, it must match the table's `named`, and be the user's own regular file.
"""

from __future__ import annotations

import os
import stat
import time
from fnmatch import fnmatchcase

from hookport.base.folders import find_home
from hookport.model.json_text import loads
from hookport.model.value import Value
from hookport.runtime.transcript_shape import get

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from hookport.base.tree import Tree

    Table = Mapping[str, Any]

# The end of a file is read, and no more of a document, which has no end to read alone.
MOST_BYTES = 16 * 1024 * 1024
MOST_ROWS = 20_000
# Of a file's end, this much at once.
CHUNK_BYTES = 1024 * 1024
# A database that the agent is writing to.
BUSY_SECONDS = 0.2
# How many steps of SQLite's machine go by between two looks at the clock.
SQL_STEPS = 10_000


class TranscriptError(Exception):
    """Why a transcript cannot be read, in words."""


class Records(Value):
    """The records of a transcript, oldest first; whether older ones were left out; lines that are none."""

    records: Sequence[Tree] = ()
    is_cut: bool = False
    broken: int = 0


def find_place(table: Table, path: str, session: str, env: Mapping[str, str]) -> str:
    """Find the file or folder of a session: what the payload names, else where the agent keeps it.

    Empty if there is none; TranscriptError if the payload names anything else.
    """
    if path:
        folder = os.path.dirname(path)
        place = os.path.join(folder, table["beside"]) if "beside" in table else path
    else:
        place = _find_kept(table, session, env)
    if not place or not os.path.lexists(place):
        return ""
    real = os.path.realpath(place)
    if not is_named(real, table["named"]):
        raise TranscriptError("the agent gives its transcripts other names")
    return real


def is_named(path: str, patterns: Sequence[str]) -> bool:
    """Whether a path ends like one of the patterns, name by name."""
    names = path.replace(os.sep, "/").split("/")
    for pattern in patterns:
        wanted = pattern.split("/")
        ending = names[-len(wanted) :]
        if len(ending) == len(wanted) and all(map(fnmatchcase, ending, wanted)):
            return True
    return False


def _find_kept(table: Table, session: str, env: Mapping[str, str]) -> str:
    """Find the newest file of a session at the agent's own places; empty if none."""
    import glob

    is_plain = session.replace("-", "").replace("_", "").replace(".", "").isalnum()
    if not is_plain or session.startswith("."):
        return ""
    for pattern in table.get("kept", ()):
        start, _, rest = pattern.partition("/")
        folder = find_home(env) if start == "~" else env.get(start[1:], "")
        if not os.path.isabs(folder):
            continue
        below = rest.replace("{session}", glob.escape(session))
        if places := glob.glob(os.path.join(glob.escape(folder), below)):
            return max(places, key=_read_age)
    return ""


def _read_age(path: str) -> float:
    try:
        return os.stat(path).st_mtime
    except OSError:
        return 0.0


def read_records(table: Table, place: str, session: str, until: float) -> Records:
    """Read the records of a place; what is not read by then, on the monotonic clock, is left out."""
    return STORES[table.get("store", "lines")](table, place, session, until)


def _open(path: str) -> int:
    """Open a file for reading: the user's own and a regular one, and no link."""
    flags = (
        os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    )
    file = os.open(path, flags)
    try:
        _check_file(os.fstat(file))
    except BaseException:
        os.close(file)
        raise
    return file


def _check_file(status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise TranscriptError("it is not a regular file")
    _check_owner(status)


def _check_owner(status: os.stat_result) -> None:
    if os.name != "nt" and status.st_uid != os.getuid():
        raise TranscriptError("it belongs to another user")


def _read_lines(_table: Table, place: str, _session: str, until: float) -> Records:
    """Read the lines of a file."""
    return _read_files([place], until)


def _read_folder(table: Table, place: str, _session: str, until: float) -> Records:
    """Read the lines of the files in a folder; the numbers in their names give the order."""
    _check_owner(os.lstat(place))
    folder, pattern = os.path.split(os.path.join(place, table["files"]))
    names = [name for name in os.listdir(folder) if fnmatchcase(name, pattern)]
    ordered = sorted(names, key=lambda name: (_read_number(name), name))
    read = _read_files([os.path.join(folder, name) for name in ordered], until)
    # The agent moves older records elsewhere: the first file that is left does not start at the beginning.
    is_moved = bool(ordered) and _read_number(ordered[0]) > table.get("first", 0)
    return read.replace(is_cut=read.is_cut or is_moved)


def _read_number(name: str) -> int:
    stem = name.partition(".")[0]
    return int(stem) if stem.isdecimal() else 0


def _read_files(paths: Sequence[str], until: float) -> Records:
    """Read the lines of files from the end of the last one, as many as size and time allow."""
    records: list[Tree] = []
    broken, left = 0, MOST_BYTES
    for path in reversed(paths):
        data, is_cut = _read_end(path, left)
        left -= len(data)
        lines = data.split(b"\n")
        # The agent may still be writing the last line; the first one may be the end of a line.
        unended = lines.pop()
        del lines[:is_cut]
        for line in (unended, *reversed(lines)):
            if not line.strip():
                continue
            if time.monotonic() > until:
                return Records(records[::-1], is_cut=True, broken=broken)
            try:
                records.append(loads(line.decode("utf-8", "replace")))
            except (ValueError, RecursionError):
                broken += line is not unended
        if is_cut:
            return Records(records[::-1], is_cut=True, broken=broken)
    return Records(records[::-1], broken=broken)


def _read_end(path: str, most: int) -> tuple[bytes, bool]:
    """Read the end of a file, and whether there is more before it."""
    file = _open(path)
    try:
        size = os.fstat(file).st_size
        os.lseek(file, max(0, size - most), os.SEEK_SET)
        parts = []
        while most > 0 and (part := os.read(file, min(most, CHUNK_BYTES))):
            parts.append(part)
            most -= len(part)
    finally:
        os.close(file)
    data = b"".join(parts)
    return data, size > len(data)


def _read_document(table: Table, place: str, _session: str, _until: float) -> Records:
    """Read the list in a file that is one JSON document."""
    data, is_cut = _read_end(place, MOST_BYTES)
    if is_cut:
        raise TranscriptError("it is larger than 16 MiB, and one document")
    records = get(loads(data.decode("utf-8", "replace")), table["list"])
    if not isinstance(records, list):
        raise TranscriptError("it has no list of messages")
    return Records(records)


def _read_database(table: Table, place: str, session: str, until: float) -> Records:
    """Read the rows of a session in an SQLite database, which its agent may have open."""
    import sqlite3
    from urllib.parse import quote

    os.close(_open(place))
    try:
        database = sqlite3.connect(f"file:{quote(place)}?mode=ro", uri=True, timeout=BUSY_SECONDS)
    except sqlite3.Error as error:
        raise TranscriptError(str(error)) from None
    try:
        database.execute("PRAGMA query_only = 1")
        database.set_progress_handler(lambda: time.monotonic() > until, SQL_STEPS)
        cursor = database.execute(table["query"], {"session": session, "most": MOST_ROWS})
        names = [column[0] for column in cursor.description]
        records: list[Tree] = []
        size, is_cut = 0, False
        for row in cursor:
            size += sum(len(value) for value in row if isinstance(value, str))
            if size > MOST_BYTES or time.monotonic() > until:
                is_cut = True
                break
            records.append({name: _parse(value) for name, value in zip(names, row, strict=True)})
    except sqlite3.Error as error:
        raise TranscriptError(str(error)) from None
    finally:
        database.close()
    return Records(records[::-1], is_cut=is_cut or len(records) >= MOST_ROWS)


def _parse(value: Tree) -> Tree:
    """Parse a column that holds a JSON object or list."""
    if isinstance(value, str) and value[:1] in "{[" and value:
        try:
            return loads(value)
        except (ValueError, RecursionError):
            return value
    return value


STORES: dict[str, Callable[[Table, str, str, float], Records]] = {
    "lines": _read_lines,
    "folder": _read_folder,
    "document": _read_document,
    "database": _read_database,
}
