"""The ledger of what hookport wrote into which file: enough to revert it, readable only by its user.

`files/` has a record for each file with something of ours, `runs/` the last runs of each project with the
bytes that they replaced, and `lock` makes writers take turns. A run is recorded before the first file is
touched, and is `unfinished` until all of it is written, so a killed run is known; only the newest run can be
unfinished. Texts are stored unchanged, so that a person can find them with an editor.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import sys
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple, TypeVar

from hookport.base import folders
from hookport.base.files import DRAFT, replace_file
from hookport.base.files import lock as lock_file
from hookport.base.tree import Tree
from hookport.errors import InputError, Problem
from hookport.findings import Finding, LedgerBroken
from hookport.runtime import journal

T = TypeVar("T")

VERSION = 1
# The most runs of one project, and of all.
KEPT_RUNS, MOST_RUNS = 20, 400
LOCK_SECONDS = 60
POLL_SECONDS = 0.01
NAMES = {"files": "*.json", "runs": "[0-9]" * 8 + "*.json"}
DIGITS = 8


class Record(NamedTuple):
    """The record of one file with something of ours."""

    path: str
    # The bytes before our first entry; None if the file did not exist.
    original: bytes | None
    # What we wrote last; None if we removed the file.
    written: bytes | None
    time: str
    what: str
    # The folders made for it, outermost first.
    folders: tuple[str, ...] = ()
    # Whether only our changes came after `original`: if so, and the file is as `written`, restoring
    # `original` loses nothing. False once somebody else changed the file between two runs.
    exact: bool = True


class LedgerEntry(NamedTuple):
    """One file of a run; `target` is the file itself where `path` is a symbolic link to it."""

    path: str
    target: str
    before: bytes | None
    after: bytes | None
    executable: bool
    # Its former permissions; None if the file did not exist.
    mode: int | None
    folders: tuple[str, ...]
    # The record of the file before this run.
    record: Record | None


class LedgerRun(NamedTuple):
    """One run of a command that wrote files."""

    number: int
    time: str
    what: str
    entries: tuple[LedgerEntry, ...]
    # Part of the names of its temporary files.
    token: str
    # Whether nothing of ours is left in the files after it.
    ends: bool = False
    unfinished: bool = True
    # Its project; empty in a ledger of an older version.
    root: str = ""

    def is_of(self, root: str, env: Mapping[str, str]) -> bool:
        """Whether it belongs to a project; if unknown, whether it wrote a file in it."""
        if self.root:
            return self.root == root
        paths = {path for entry in self.entries for path in (entry.path, entry.target)}
        return any(_is_in(path, root) for path in paths) and root != os.path.realpath(
            folders.find_named_home(env) or "-"
        )


class BrokenFile(NamedTuple):
    """A file of the ledger that cannot be read, and why."""

    file: Path
    why: str


def _is_in(path: str, root: str) -> bool:
    """Whether a file is in a project and in no other project inside it."""
    if not Path(path).is_relative_to(root):
        return False
    inner = Path(path).relative_to(root).parents
    return not any(Path(root, folder, ".git").exists() for folder in inner if folder != Path())


def find_record(path: str, env: Mapping[str, str]) -> Record | None:
    """The record of a file; None if nothing of ours is in it, or if the record cannot be read."""
    place = find_folder(env)
    record = _read(_find_record_file(place, os.path.realpath(path)), _decode_record) if place else None
    return record if isinstance(record, Record) else None


def list_records(env: Mapping[str, str]) -> list[Record]:
    """The records of all files, by path; `find_broken` lists the unreadable records."""
    readings = [_read(file, _decode_record) for file in _list_files(find_folder(env), "files")]
    return sorted(record for record in readings if isinstance(record, Record))


def list_runs(env: Mapping[str, str]) -> list[LedgerRun]:
    """The last runs, oldest first; `find_broken` lists the unreadable ones."""
    readings = [_read_run(file) for file in _list_files(find_folder(env), "runs")]
    return [run for run in readings if isinstance(run, LedgerRun)]


def find_broken(env: Mapping[str, str]) -> list[Finding]:
    """The files of the ledger that cannot be read."""
    place = find_folder(env)
    read = [
        *(_read(file, _decode_record) for file in _list_files(place, "files")),
        *(_read(file, _decode_run) for file in _list_files(place, "runs")),
    ]
    return [
        LedgerBroken.at("", why=reading.why)._replace(file=str(reading.file))
        for reading in read
        if isinstance(reading, BrokenFile)
    ]


def find_folder(env: Mapping[str, str]) -> Path | None:
    """The folder of the ledger; None if the environment names none."""
    state = journal.find_state_folder(env)
    return Path(state, "ledger") if state else None


@contextmanager
def lock_ledger(env: Mapping[str, str]) -> Iterator[Path]:
    """The ledger's folder, locked against other writers; the lock ends with its process.

    An uncaught system error inside is an error of the ledger.
    """
    place = find_folder(env)
    if place is None:
        raise InputError(Problem("no folder for the ledger: HOME is not set. Set HOOKPORT_STATE_DIR."))
    try:
        for directory in (place.parent, place, place / "files", place / "runs"):
            directory.mkdir(0o700, parents=True, exist_ok=True)
        held = os.open(place / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            _take_lock(held, place)
            for draft in place.glob(f"*/*{DRAFT}"):
                draft.unlink()
            yield place
        finally:
            os.close(held)
    except OSError as error:
        message = f"cannot write the ledger: {error.strerror or error}. "
        message += "Set HOOKPORT_STATE_DIR to a writable folder."
        raise InputError(Problem(message, file=str(error.filename or place))) from error


def _take_lock(held: int, place: Path) -> None:
    try:
        lock_file(held, LOCK_SECONDS)
    except (BlockingIOError, PermissionError) as error:
        message = f"another hookport has been writing for {LOCK_SECONDS} s. Try again after it ends."
        raise InputError(Problem(message, file=str(place / "lock"))) from error


def read_newest(place: Path) -> LedgerRun | BrokenFile | None:
    """The last run."""
    return next(read_newest_first(place), None)


def read_newest_first(place: Path) -> Iterator[LedgerRun | BrokenFile]:
    """The runs, the last one first."""
    for file in reversed(_list_files(place, "runs")):
        run = _parse_file(file, _decode_run)
        if run is not None:
            yield run._replace(number=_parse_number(file)) if isinstance(run, LedgerRun) else run


def may_belong_to(run: BrokenFile, root: str) -> bool:
    """Whether an unreadable run may belong to a project, by its file's name."""
    return run.file.name[DIGITS:] in (_make_ending(root), _make_ending(""))


def spell_now() -> str:
    """The time in the ledger's format."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def find_next_number(place: Path) -> int:
    """The number of the next run, whether or not the last can be read."""
    files = _list_files(place, "runs")
    return _parse_number(files[-1]) + 1 if files else 1


def keep_run(place: Path, run: LedgerRun) -> None:
    """Record a run, and forget runs that are too old to be undone."""
    _write(_find_run_file(place, run), _encode_run(run))
    by_project: dict[str, list[Path]] = {}
    for file in _list_files(place, "runs"):
        by_project.setdefault(file.name[DIGITS:], []).append(file)
    for files in by_project.values():
        for old in files[:-KEPT_RUNS]:
            old.unlink()
    for old in _list_files(place, "runs")[:-MOST_RUNS]:
        old.unlink()


def renew_run(place: Path, run: LedgerRun) -> LedgerRun:
    """Record the run as the newest, in one step: its project had no later run."""
    after = run._replace(number=find_next_number(place))
    if run.number == after.number - 1:
        return run
    _find_run_file(place, run).rename(_find_run_file(place, after))
    flush_folder(place / "runs")
    return after


def drop_run(place: Path, run: LedgerRun) -> None:
    """Forget a run."""
    _remove(_find_run_file(place, run))


def remember(place: Path, target: str, record: Record | None) -> None:
    """Store the new record of a file, or remove it."""
    file = _find_record_file(place, target)
    if record is None:
        _remove(file)
    elif _read(file, _decode_record) != record:
        _write(file, _encode_record(record))


def read_record(place: Path, target: str) -> Record | BrokenFile | None:
    """The record of a file."""
    return _parse_file(_find_record_file(place, target), _decode_record)


def list_made_folders(place: Path) -> set[str]:
    """The folders made for files that are still ours."""
    readings = [_read(file, _decode_record) for file in _list_files(place, "files")]
    return {folder for record in readings if isinstance(record, Record) for folder in record.folders}


def flush_folder(path: Path) -> None:
    """Flush the names in a folder to disk; Windows does this itself."""
    if sys.platform != "win32":
        held = os.open(path, os.O_RDONLY)
        try:
            os.fsync(held)
        finally:
            os.close(held)


def _find_record_file(place: Path, target: str) -> Path:
    return place / "files" / f"{_hash_content(os.fsencode(target))}.json"


def _find_run_file(place: Path, run: LedgerRun) -> Path:
    return place / "runs" / f"{run.number:0{DIGITS}}{_make_ending(run.root)}"


def _make_ending(root: str) -> str:
    """The suffix of a project's run names, so that runs need not be read to be distinguished."""
    return f"-{zlib.crc32(os.fsencode(root)):08x}.json" if root else ".json"


def _parse_number(file: Path) -> int:
    return int(file.name[:DIGITS])


def _list_files(place: Path | None, name: str) -> list[Path]:
    try:
        return sorted(file for file in (place / name).iterdir() if file.match(NAMES[name])) if place else []
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        message = f"cannot read the ledger: {error.strerror or error}."
        raise InputError(Problem(message, file=str(error.filename or place))) from error


def _write(file: Path, tree: Tree) -> None:
    replace_file(str(file), json.dumps(tree, indent=1).encode() + b"\n", is_durable=True)
    flush_folder(file.parent)


def _remove(file: Path) -> None:
    file.unlink(missing_ok=True)
    flush_folder(file.parent)


def _read(file: Path, make: Callable[[Tree], T]) -> T | BrokenFile | None:
    """The content of a file; None if it does not exist."""
    try:
        return _parse_file(file, make)
    except OSError as error:
        return BrokenFile(file, error.strerror or str(error))


def _read_run(file: Path) -> LedgerRun | BrokenFile | None:
    run = _read(file, _decode_run)
    return run._replace(number=_parse_number(file)) if isinstance(run, LedgerRun) else run


def _parse_file(file: Path, make: Callable[[Tree], T]) -> T | BrokenFile | None:
    """Read for a writer: an unreadable file is not lost, so it must not be overwritten."""
    try:
        tree = json.loads(file.read_bytes())
        if tree["version"] != VERSION:
            return BrokenFile(file, f"its version is {tree['version']}, and this hookport knows {VERSION}")
        return make(tree)
    except FileNotFoundError:
        return None
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return BrokenFile(file, "it is damaged")


def _encode_record(record: Record) -> Tree:
    contents: dict[str, Tree] = {}
    return {"version": VERSION, **_encode_fields(record, contents), "contents": contents}


def _encode_run(run: LedgerRun) -> Tree:
    contents: dict[str, Tree] = {}
    entries = [
        {**_encode_fields(entry, contents), "record": entry.record and _encode_fields(entry.record, contents)}
        for entry in run.entries
    ]
    return {"version": VERSION, **run._asdict(), "entries": entries, "contents": contents}


def _encode_fields(record: Record | LedgerEntry, contents: dict[str, Tree]) -> dict[str, Tree]:
    """Its fields, with digests instead of bytes: most bytes occur more than once in a run."""
    fields = record._asdict()
    for name, value in fields.items():
        if isinstance(value, bytes):
            fields[name] = {"sha256": _hash_content(value)}
            contents[_hash_content(value)] = _encode_text(value)
    return fields


def _decode_record(tree: Tree) -> Record:
    return _decode_record_fields(tree, _decode_contents(tree))


def _decode_run(tree: Tree) -> LedgerRun:
    contents = _decode_contents(tree)
    return LedgerRun(
        number=_require_int(tree["number"]),
        time=_require_string(tree["time"]),
        what=_require_string(tree["what"]),
        entries=tuple(_decode_entry(entry, contents) for entry in tree["entries"]),
        token=_require_string(tree["token"]),
        ends=tree["ends"] is True,
        unfinished=tree["unfinished"] is True,
        root=_require_string(tree.get("root", "")),
    )


def _decode_entry(tree: Tree, contents: dict[str, bytes]) -> LedgerEntry:
    return LedgerEntry(
        path=_require_string(tree["path"]),
        target=_require_string(tree["target"]),
        before=_decode_content(tree["before"], contents),
        after=_decode_content(tree["after"], contents),
        executable=tree["executable"] is True,
        mode=None if tree["mode"] is None else _require_int(tree["mode"]),
        folders=tuple(map(_require_string, tree["folders"])),
        record=None if tree["record"] is None else _decode_record_fields(tree["record"], contents),
    )


def _decode_record_fields(tree: Tree, contents: dict[str, bytes]) -> Record:
    return Record(
        path=_require_string(tree["path"]),
        original=_decode_content(tree["original"], contents),
        written=_decode_content(tree["written"], contents),
        time=_require_string(tree["time"]),
        what=_require_string(tree["what"]),
        folders=tuple(map(_require_string, tree["folders"])),
        exact=tree["exact"] is True,
    )


def _decode_content(tree: Tree, contents: dict[str, bytes]) -> bytes | None:
    return None if tree is None else contents[tree["sha256"]]


def _decode_contents(tree: Tree) -> dict[str, bytes]:
    """The bytes by their digest; bytes that differ from their digest are not used."""
    contents = {digest: _decode_bytes(text) for digest, text in tree["contents"].items()}
    if any(_hash_content(content) != digest for digest, content in contents.items()):
        raise ValueError(tree["contents"])
    return contents


def _encode_text(content: bytes) -> Tree:
    try:
        return content.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(content).decode()}


def _decode_bytes(tree: Tree) -> bytes:
    return tree.encode() if isinstance(tree, str) else base64.b64decode(tree["base64"], validate=True)


def _require_string(tree: Tree) -> str:
    if not isinstance(tree, str):
        raise TypeError(tree)
    return tree


def _require_int(tree: Tree) -> int:
    if not isinstance(tree, int):
        raise TypeError(tree)
    return tree


def _hash_content(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
