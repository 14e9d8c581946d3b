"""The journal, one redacted JSON line per event. No line is torn, and it never makes a dispatch fail.

The files are `journal.jsonl` and, older, `journal.1.jsonl` to `journal.3.jsonl`. A lock on `journal.lock`
makes writers take turns, so that nobody writes while files are renamed.
"""

from __future__ import annotations

import os
import time

from hookport.base.files import close_locked, lock
from hookport.base.folders import STATE, find_own_folder
from hookport.model.json_text import dumps, loads
from hookport.runtime.redaction import clean, walk
from hookport.wire.spellings import format_time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any, BinaryIO

    from hookport.base.tree import Tree


# Newest first.
FILES = ("journal.jsonl", "journal.1.jsonl", "journal.2.jsonl", "journal.3.jsonl")
LOCK = "journal.lock"
# The folder of `pauses` beside them.
PAUSES = "pauses"
MOST_BYTES = 8 * 1024 * 1024
# A text is cut here. The rest is checked too, so that a secret across the cut is seen whole: GitHub announces
# tokens of 255 characters, and longer secrets are recognised by their start.
LONGEST_TEXT = 2_000
MARGIN = 500
# Reasons of decisions are kept longer here than agents get them.
LONGEST_REASON = 16_000
DECISION = "decision"
# The hash of the event's subject.
INPUT_HASH = "input_sha256"
# Names and ids that identify records, however random they look.
AS_IT_IS = ("agent", "event", "native", "session", INPUT_HASH)
# A larger field, such as an input of a thousand short texts, is omitted.
LONGEST_FIELD = 64_000
# A writer without the lock by then writes anyway. Appending one line is one `write`, which the file systems
# of Linux and macOS do not mix with another; only a rename can come between, and then the line is in
# `journal.1.jsonl`.
LOCK_SECONDS = 0.5
# The start of a file, with its inode, distinguishes it from a later file with the same inode.
HEAD = 256


def find_state_folder(env: Mapping[str, str]) -> str:
    """Find the folder of hookport's state; empty if the environment names none."""
    return find_own_folder(env, *STATE)


def find_journal(env: Mapping[str, str]) -> str:
    """Find the file that is written to; empty without a state folder."""
    place = find_state_folder(env)
    return os.path.join(place, FILES[0]) if place else ""


def write(record: Mapping[str, Any], env: Mapping[str, str], most_bytes: int = MOST_BYTES) -> str:
    """Write a record, adding the time if missing; return why that failed, else empty. Never raises."""
    try:
        place = find_state_folder(env)
        if not place:
            return "no folder for the journal: HOME is not set. Set HOOKPORT_STATE_DIR."
        line = _format_line(record)
        os.makedirs(place, 0o700, exist_ok=True)
        _add_line(place, line, most_bytes)
    except OSError as error:
        return (
            f"the journal was not written: {error.filename or find_journal(env)}: {error.strerror or error}"
        )
    except Exception as error:  # noqa: BLE001  (a journal is not worth a tool call)
        return f"the journal was not written: {type(error).__name__}: {error}"
    return ""


def _add_line(place: str, line: bytes, most_bytes: int) -> None:
    turn = os.open(os.path.join(place, LOCK), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        locked = _is_locked(turn)
        if locked:
            _rotate(place, len(line), most_bytes)
        _append(os.path.join(place, FILES[0]), line, locked=locked)
    finally:
        close_locked(turn)


def _is_locked(turn: int) -> bool:
    """Whether we have the lock; never on a file system without locks."""
    try:
        lock(turn, LOCK_SECONDS)
    except OSError:
        return False
    return True


def _format_line(record: Mapping[str, Any]) -> bytes:
    # Names and ids are written unchanged, so they are not checked for secrets.
    plain = {name: _cut(value) for name in AS_IT_IS if isinstance(value := record.get(name), str)}
    if "time" not in record:
        plain["time"] = format_time(time.time())
    tree = walk({"time": None, **record, DECISION: None, **dict.fromkeys(plain)}, _shorten)
    if DECISION in record:
        tree[DECISION] = walk(record[DECISION], lambda text: _shorten(text, LONGEST_REASON))
    else:
        del tree[DECISION]
    tree |= plain
    text = _format_json(tree)
    if len(text) > LONGEST_FIELD:
        lengths = {name: len(_format_json(value)) for name, value in tree.items()}
        tree = {
            name: f"[left out: {lengths[name]} characters]" if lengths[name] > LONGEST_FIELD else value
            for name, value in tree.items()
        }
        text = _format_json(tree)
    # Half of a surrogate pair has no UTF-8; `\udc80` is JSON's escape for it.
    return text.encode("utf-8", "backslashreplace") + b"\n"


def _format_json(tree: Tree) -> str:
    return dumps(tree, ensure_ascii=False, separators=(",", ":"))


def _cut(text: str) -> str:
    return text[:LONGEST_TEXT]


def _shorten(text: str, longest: int = LONGEST_TEXT) -> str:
    shortened = clean(text[: longest + MARGIN])
    if len(text) > longest + MARGIN:
        shortened = shortened[:-MARGIN]
    elif len(shortened) <= longest:
        return shortened
    return f"{shortened[:longest]}… [cut: {len(text)} characters in all]"


def _rotate(place: str, more: int, most_bytes: int) -> None:
    """Make room for a line; a file that cannot be renamed, because Windows has it open, grows meanwhile."""
    newest = os.path.join(place, FILES[0])
    if not os.path.isfile(newest) or os.path.getsize(newest) + more <= most_bytes:
        return
    try:
        for older, newer in zip(FILES[:0:-1], FILES[-2::-1], strict=True):
            if os.path.exists(os.path.join(place, newer)):
                os.replace(os.path.join(place, newer), os.path.join(place, older))
    except OSError:
        return


def _append(file: str, line: bytes, *, locked: bool) -> None:
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT
    # A pipe may be at this path without a reader, and Windows would change the line's end.
    flags |= getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    target = os.open(file, flags, 0o600)
    try:
        size = os.fstat(target).st_size
        if size:
            os.lseek(target, -1, os.SEEK_END)
            if os.read(target, 1) != b"\n":
                line = b"\n" + line
        done = 0
        try:
            while done < len(line):
                done += os.write(target, line[done:])
        except OSError as error:
            if locked and done and os.fstat(target).st_size == size + done:
                os.ftruncate(target, size)
            error.filename = file
            raise
    finally:
        os.close(target)


class Reader:
    """Reads the journal and follows it: each `new` yields the lines added since the previous call.

    It keeps its position in each file, so records survive a rotation and are yielded once.
    """

    def __init__(self, env: Mapping[str, str]) -> None:
        self._folder = find_state_folder(env)
        self._places: dict[tuple[int, bytes], int] = {}
        self._foreign = 0
        self._unended = 0

    @property
    def skipped(self) -> int:
        """The number of lines that were torn or not records."""
        return self._foreign + self._unended

    def new(self) -> Iterator[dict[str, Any]]:
        """Yield the added records, oldest first."""
        self._unended = 0
        files = self._open()
        try:
            self._places = {identity: self._places.get(identity, 0) for identity in files}
            for identity, file in reversed(files.items()):
                file.seek(self._places[identity])
                for line in file:
                    if not line.endswith(b"\n"):
                        self._unended += 1
                        break
                    self._places[identity] += len(line)
                    record = _parse_record(line)
                    if record is not None:
                        yield record
                    elif line.strip():
                        self._foreign += 1
        finally:
            for file in files.values():
                file.close()

    def _open(self) -> dict[tuple[int, bytes], BinaryIO]:
        """Open the files, newest first: a file renamed meanwhile is opened later under its new name."""
        files: dict[tuple[int, bytes], BinaryIO] = {}
        for name in FILES if self._folder else ():
            try:
                file = open(os.path.join(self._folder, name), "rb")  # noqa: SIM115  (closed by `new`)
            except (FileNotFoundError, NotADirectoryError):
                continue
            head = file.readline(HEAD)
            identity = (os.fstat(file.fileno()).st_ino, head)
            if identity not in files and (len(head) == HEAD or head.endswith(b"\n")):
                files[identity] = file
            else:
                self._unended += bool(head) and identity not in files
                file.close()
        return files


def _parse_record(line: bytes) -> dict[str, Any] | None:
    try:
        tree = loads(line.decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError):
        return None
    return tree if isinstance(tree, dict) and isinstance(tree.get("time"), str) else None
