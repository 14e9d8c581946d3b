"""Bytes on disk: a file is the old one or the new one, whole, and every run can be taken back.

A run is in the ledger before the first byte is written. All new files are then written beside the old ones
and flushed, and only when that went well do they take their places, each in one step. Killed between, each
file is one of the two, the next run clears away what was left beside them, and `undo` takes back the rest.
"""

from __future__ import annotations

import os
import secrets
import shlex
import stat
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from hookport.base.files import without_waiting
from hookport.errors import HookportError, InputError, Problem
from hookport.install import ledger
from hookport.install.ledger import Broken, Entry, Record, Run
from hookport.project.disk import LARGEST

# No agent's settings come near it; a log that has the name of one must not fill the ledger.


class Change(NamedTuple):
    """One file before and after; None where there is no such file."""

    path: str
    before: bytes | None
    after: bytes | None
    executable: bool = False


class ChangedError(InputError):
    """A file is no longer what it was when it was read: read it again and retry."""


class Move(NamedTuple):
    """One file on its way from some bytes to others, by way of a temporary file in its folder."""

    path: str
    target: Path
    temporary: Path
    now: bytes | None
    then: bytes | None
    # Permissions to give; None leaves them as they are, or as the umask has them for a new file.
    mode: int | None
    executable: bool


def read(path: str) -> bytes | None:
    """The bytes of a file; None if there is none."""
    try:
        with open(path, "rb", opener=without_waiting) as stream:
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


def apply(
    changes: Sequence[Change], env: Mapping[str, str], *, what: str, root: str = "", ends: bool = False
) -> None:
    """Write all changes or none; `what` is the command, such as `sync`, for people who undo it.

    `root` is the project that it is called in. `ends` says that nothing of ours is left in these files, so
    that they need no longer be remembered.

    Raises ChangedError if a file is no longer `before`. A symbolic link stays one and the file behind it is
    written. A file with several names (hard links) is refused: a new file in its place would part the names,
    and writing into it could be cut short and would change all of them.
    """
    with ledger.locked(env) as place:
        _settle(place)
        entries = _entries(changes, place, ends=ends)
        if not entries:
            return
        run = Run(
            ledger.next_number(place), ledger.now(), what, entries, secrets.token_hex(4), ends, root=root
        )
        try:
            ledger.keep(place, run)
            _carry_out([_forward(run, number) for number, one in enumerate(entries) if _matters(one)])
            _remember(place, run)
            ledger.keep(place, run._replace(unfinished=False))
        except BaseException as error:
            _give_up(place, run, error)
            raise


def settle(env: Mapping[str, str]) -> None:
    """Clear away what a killed run left, and have the ledger say how far it came; no agent's file changes.

    Whoever plans by what the ledger says of a file calls this first.
    """
    if _has_ledger(env):
        with ledger.locked(env) as place:
            _settle(place)


def undo(
    env: Mapping[str, str], root: str | None = None, *, number: int = 0, dry_run: bool = False
) -> list[Change]:
    """Take back the last run, or what a killed one left: each file gets its exact former bytes.

    The run is the last one of a project, or of all without `root`; `number` is the one that it must be.
    What was taken back is returned: nothing if there is no run, or if it left nothing. Raises ChangedError,
    and takes nothing back, if a file changed since.
    """
    if not _has_ledger(env):
        return []
    with ledger.locked(env) as place:
        run = _last(place, root, env)
        if number and (run is None or run.number != number):
            raise ChangedError(Problem("another run came in between. Nothing is taken back. Look again."))
        if run is None:
            return []
        left = _left(run, _later(place, run))
        if not dry_run:
            newest = ledger.newest(place)
            if isinstance(newest, Run) and newest.number != run.number:
                _settle(place)
            run = ledger.renewed(place, run)
            ledger.keep(place, run._replace(unfinished=True))
            try:
                _take_back(place, run, left)
            except (OSError, InputError) as error:
                _clear(run)
                if any(_reads(one, one.before) for one in left if one.before != one.after):
                    message = f"{error}\nSome files were taken back, not all. Try `hookport undo` again."
                    raise HookportError(message) from error
                raise
        return [Change(one.path, one.after, one.before) for one in left]


def last(env: Mapping[str, str], root: str | None = None) -> Run | None:
    """The run that `undo` takes back."""
    if not _has_ledger(env):
        return None
    with ledger.locked(env) as place:
        return _last(place, root, env)


def _has_ledger(env: Mapping[str, str]) -> bool:
    home = ledger.folder(env)
    return home is not None and home.is_dir()


def _last(place: Path, root: str | None, env: Mapping[str, str]) -> Run | None:
    """The last run of a project, or of all; one that cannot be read and may be it is refused."""
    for run in ledger.newest_first(place):
        if isinstance(run, Broken):
            if root is None or ledger.may_be_of(run, root):
                message = f"{run.why}, so this run cannot be taken back. "
                message += "Remove the file to take back the one before."
                raise InputError(Problem(message, file=str(run.file)))
        elif root is None or run.is_of(root, env):
            return run
    return None


def _later(place: Path, run: Run) -> dict[str, Run]:
    """The first run after this one that wrote a file, by the file."""
    found: dict[str, Run] = {}
    for one in ledger.newest_first(place):
        if isinstance(one, Run):
            if one.number <= run.number:
                break
            found |= {entry.target: one for entry in one.entries}
    return found


def _left(run: Run, later: Mapping[str, Run]) -> list[Entry]:
    """What is to be taken back of a run: not what a person or an earlier try took back already."""
    problems = []
    left = []
    for one in run.entries:
        if _is_gone(one, run):
            continue
        content = read(one.target)
        if os.path.realpath(one.path) != one.target:
            problems.append(
                Problem(
                    f"is another file since `hookport {run.what}`, which wrote {one.target}.", file=one.path
                )
            )
        elif content == one.after:
            if _matters(one):
                left.append(one)
        elif content != one.before and one.target in later:
            after = later[one.target]
            where = f" in {after.root}" if after.root else ""
            problems.append(
                Problem(
                    f"`hookport {after.what}`{where} changed it after `hookport {run.what}`, so the run is "
                    f"not taken back. Take that one back first: `hookport undo`{where}.",
                    file=one.path,
                )
            )
        elif content != one.before:
            problems.append(
                Problem(
                    f"changed since `hookport {run.what}` wrote it, so the run is not taken back. "
                    "`hookport unsync` takes out our entries and keeps the change; "
                    "or undo the change first, then try again.",
                    file=one.path,
                )
            )
        if content is not None:
            problems += _refused(one.path, one.target, is_replaced=one in left)
    if problems:
        raise ChangedError(*problems)
    return left


def _is_gone(entry: Entry, run: Run) -> bool:
    """Whether a file went with its whole project."""
    return bool(run.root) and Path(entry.target).is_relative_to(run.root) and not Path(run.root).exists()


def _entries(changes: Sequence[Change], place: Path, *, ends: bool) -> tuple[Entry, ...]:
    """The changes as the ledger keeps them; refused if one of them cannot be made."""
    problems: list[Problem] = []
    stale: list[Problem] = []
    made = ledger.made_folders(place)
    entries: dict[str, Entry] = {}
    for change in changes:
        target = os.path.realpath(change.path)
        if read(target) != change.before:
            stale.append(Problem("changed since it was read. Try again.", file=change.path))
        elif change.before is not None and (
            refused := _refused(change.path, target, is_replaced=change.before != change.after)
        ):
            problems += refused
        elif target in entries and entries[target].after != change.after:
            problems.append(Problem(f"is the same file as {entries[target].path}.", file=change.path))
        elif blocked := _no_folder(Path(target)):
            problems.append(Problem(f"{blocked} is a file, where a folder is needed.", file=change.path))
        else:
            entry = _entry(change, target, made, ledger.known(place, target))
            if _matters(entry) or (ends and entry.record):
                entries[target] = entry
    if stale:
        raise ChangedError(*stale, *problems)
    if problems:
        raise InputError(*problems)
    return tuple(entries.values())


def _entry(change: Change, target: str, made: set[str], record: Record | Broken | None) -> Entry:
    if isinstance(record, Broken):
        record = Record(change.path, change.before, change.before, ledger.now(), "", exact=False)
    folders: tuple[str, ...] = record.folders if record else ()
    if change.before is None:
        above = [str(one) for one in reversed(Path(target).parents)]
        folders = tuple(one for one in above if one in made or not Path(one).exists())
    return Entry(
        path=str(Path(change.path).absolute()),
        target=target,
        before=change.before,
        after=change.after,
        executable=change.executable,
        mode=None if change.before is None else stat.S_IMODE(Path(target).stat().st_mode),
        folders=folders,
        record=record,
    )


def _matters(entry: Entry) -> bool:
    return entry.before != entry.after or _added_bits(entry) != 0


def _added_bits(entry: Entry) -> int:
    """The permissions to execute that an existing file gets: where it may be read, as `chmod +x` does."""
    if not entry.executable or entry.mode is None or entry.after is None:
        return 0
    return (entry.mode & 0o444) >> 2 & ~entry.mode


def _no_folder(target: Path) -> str:
    nearest = next(one for one in target.parents if one.exists())
    return "" if nearest.is_dir() else str(nearest)


def _refused(path: str, target: str, *, is_replaced: bool) -> list[Problem]:
    """Why a file that is there is left alone."""
    if not os.access(target, os.W_OK):
        return [Problem("is read-only, so it is left alone. Try: chmod u+w", file=path)]
    if is_replaced and Path(target).stat().st_nlink > 1:
        word, fresh = shlex.quote(path), shlex.quote(f"{path}.own")
        message = "has another name, a hard link that would be broken, so it is left alone. "
        message += f"To give it bytes of its own: cp -p {word} {fresh} && mv {fresh} {word}"
        return [Problem(message, file=path)]
    return []


def _forward(run: Run, number: int) -> Move:
    one = run.entries[number]
    mode = one.mode | _added_bits(one) if one.mode is not None and _added_bits(one) else None
    temporary = _temporary(run, number)
    return Move(one.path, Path(one.target), temporary, one.before, one.after, mode, one.executable)


def _backward(run: Run, number: int) -> Move:
    one = run.entries[number]
    target = Path(one.target)
    mode = one.mode
    if one.mode is not None and one.after is not None:
        # A person may have changed the permissions since; only ours are taken back.
        mode = stat.S_IMODE(target.stat().st_mode) & ~_added_bits(one)
    return Move(one.path, target, _temporary(run, number), one.after, one.before, mode, executable=False)


def _temporary(run: Run, number: int) -> Path:
    return Path(run.entries[number].target).with_name(f".hookport-{run.token}-{number}.tmp")


def _carry_out(moves: list[Move]) -> None:
    """First all that can fail for want of space or permission, then the steps that count."""
    for act in (_prepare, _place):
        for move in moves:
            try:
                act(move)
            except OSError as error:
                raise InputError(Problem(f"cannot be written: {_why(error)}.", file=move.path)) from error


def _why(error: OSError) -> str:
    return error.strerror or str(error)


def _prepare(move: Move) -> None:
    if move.then is None:
        return
    for folder in reversed(move.target.parents):
        if not folder.exists():
            folder.mkdir()
            ledger.flush(folder.parent)
    like = move.target.stat() if move.now is not None else None
    mode = stat.S_IMODE(like.st_mode) if like and move.mode is None else move.mode
    # The umask has its say on a new file; any other is closed to all until it has the permissions it needs.
    permissions = (0o777 if move.executable else 0o666) if mode is None else 0o600

    def opener(path: str, flags: int) -> int:
        return os.open(path, flags, permissions)

    with open(move.temporary, "xb", opener=opener) as stream:
        stream.write(move.then)
        stream.flush()
        if like:
            _keep_owner(stream.fileno(), move.target, like)
        if mode is not None:
            move.temporary.chmod(mode)
        os.fsync(stream.fileno())


def _keep_owner(held: int, target: Path, like: os.stat_result) -> None:
    """Owner, access lists and labels, as far as this user and this file system can."""
    if sys.platform == "win32":
        return
    mine = os.fstat(held)
    if (mine.st_uid, mine.st_gid) != (like.st_uid, like.st_gid):
        with suppress(OSError):
            os.fchown(held, -1, like.st_gid)
        with suppress(OSError):
            os.fchown(held, like.st_uid, -1)
    if sys.platform == "linux":
        with suppress(OSError):
            for name in os.listxattr(target):
                with suppress(OSError):
                    os.setxattr(held, name, os.getxattr(target, name))


def _place(move: Move) -> None:
    # The lock keeps out other runs of this user; this keeps the moment short for everyone else.
    if read(str(move.target)) != move.now:
        raise ChangedError(Problem("changed since it was read. Try again.", file=move.path))
    if move.then is None:
        move.target.unlink()
    else:
        move.temporary.replace(move.target)
    ledger.flush(move.target.parent)


def _remember(place: Path, run: Run) -> None:
    for entry in run.entries:
        ledger.remember(place, entry.target, _after(run, entry))
        if entry.after is None:
            _remove_folders(entry)


def _after(run: Run, entry: Entry) -> Record | None:
    """What is to be remembered of a file once a run has written it."""
    former = entry.record
    original = former.original if former else entry.before
    exact = former is None or (former.exact and former.written == entry.before)
    if run.ends or (original == entry.after and exact):
        return None
    return Record(entry.path, original, entry.after, run.time, run.what, entry.folders, exact)


def _give_up(place: Path, run: Run, error: BaseException) -> None:
    """Take back what was done of a run that failed; what cannot be taken back is left for `undo`."""
    try:
        _take_back(place, run, [one for one in run.entries if _matters(one) and _reads(one, one.after)])
    except (OSError, InputError) as second:
        raise HookportError(
            f"{error}\n{second}\nSome files were written and could not be put back. Try: hookport undo"
        ) from error


def _reads(entry: Entry, content: bytes | None) -> bool:
    try:
        return read(entry.target) == content
    except InputError:
        return False


def _take_back(place: Path, run: Run, left: list[Entry]) -> None:
    _clear(run)
    _carry_out([_backward(run, number) for number, one in enumerate(run.entries) if one in left])
    for entry in run.entries:
        _forget(place, entry)
    ledger.drop(place, run)


def _forget(place: Path, entry: Entry) -> None:
    ledger.remember(place, entry.target, entry.record)
    if entry.before is None:
        _remove_folders(entry)


def _settle(place: Path) -> None:
    """Find out how far a killed run came, and let the ledger say just that."""
    run = ledger.newest(place)
    if not isinstance(run, Run) or not run.unfinished:
        return
    _clear(run)
    undone = [one for one in run.entries if not _reads(one, one.after) and _reads(one, one.before)]
    for entry in undone:
        _forget(place, entry)
    done = tuple(one for one in run.entries if one not in undone)
    rest = run._replace(entries=done, unfinished=False)
    _remember(place, rest)
    if done:
        ledger.keep(place, rest)
    else:
        ledger.drop(place, run)


def _clear(run: Run) -> None:
    for number in range(len(run.entries)):
        with suppress(OSError):
            _temporary(run, number).unlink()


def _remove_folders(entry: Entry) -> None:
    for folder in reversed(entry.folders):
        with suppress(OSError):
            Path(folder).rmdir()
