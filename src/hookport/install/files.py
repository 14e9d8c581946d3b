"""Bytes on disk: a file is the old one or the new one, whole, and every run can be undone.

A run is in the ledger before the first byte is written. All new files are then written beside the old ones
and flushed; only after that do they replace the old ones, each in one step. If a run is killed, each file is
one of the two, the next run removes the temporary files, and `undo` reverts the rest.
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

from hookport.errors import HookportError, InputError, Problem
from hookport.install import ledger
from hookport.install.ledger import BrokenFile, LedgerEntry, LedgerRun, Record
from hookport.project.contents import Change, read_file


class ChangedError(InputError):
    """A file changed since it was read: read it again and retry."""


class Move(NamedTuple):
    """The replacement of one file's bytes, through a temporary file in its folder."""

    path: str
    target: Path
    temporary: Path
    now: bytes | None
    then: bytes | None
    # Permissions to set; None keeps them, or uses the umask for a new file.
    mode: int | None
    executable: bool


def apply(
    changes: Sequence[Change], env: Mapping[str, str], *, what: str, root: str = "", ends: bool = False
) -> None:
    """Write all changes or none; `what` is the command, such as `sync`, for people who undo it.

    `root` is the project of the command. `ends`: nothing of ours is left in these files, so the ledger may
    forget them.

    Raises ChangedError if a file is no longer `before`. For a symbolic link, the file behind it is written. A
    file with several names (hard links) is refused: replacing it would separate the names, and writing into
    it could be cut short and would change all of them.
    """
    with ledger.lock_ledger(env) as place:
        _settle(place)
        entries = _make_entries(changes, place, ends=ends)
        if not entries:
            return
        run = LedgerRun(
            ledger.find_next_number(place),
            ledger.spell_now(),
            what,
            entries,
            secrets.token_hex(4),
            ends,
            root=root,
        )
        try:
            ledger.keep_run(place, run)
            _carry_out(
                [_make_move(run, number) for number, entry in enumerate(entries) if _has_effect(entry)]
            )
            _remember(place, run)
            ledger.keep_run(place, run._replace(unfinished=False))
        except BaseException as error:
            _give_up(place, run, error)
            raise


def settle(env: Mapping[str, str]) -> None:
    """Clean up after a killed run, and record in the ledger how far it came; no agent's file changes.

    Call this before planning by the ledger's record of a file.
    """
    if _has_ledger(env):
        with ledger.lock_ledger(env) as place:
            _settle(place)


def undo(
    env: Mapping[str, str], root: str | None = None, *, number: int = 0, dry_run: bool = False
) -> list[Change]:
    """Revert the last run, or a killed one: each file gets its exact former bytes.

    The run is the last one of a project, or of all without `root`; it must have `number`, if given. Returns
    what was reverted: nothing without a run, or if the run left nothing. Raises ChangedError, and reverts
    nothing, if a file changed since.
    """
    if not _has_ledger(env):
        return []
    with ledger.lock_ledger(env) as place:
        run = _find_last_run(place, root, env)
        if number and (run is None or run.number != number):
            raise ChangedError(Problem("another run came in between. Nothing was reverted. Review again."))
        if run is None:
            return []
        entries = _find_entries_left(run, _find_later_runs(place, run))
        if not dry_run:
            newest = ledger.read_newest(place)
            if isinstance(newest, LedgerRun) and newest.number != run.number:
                _settle(place)
            run = ledger.renew_run(place, run)
            ledger.keep_run(place, run._replace(unfinished=True))
            try:
                _take_back(place, run, entries)
            except (OSError, InputError) as error:
                _clear(run)
                if any(_has_content(entry, entry.before) for entry in entries if entry.before != entry.after):
                    message = f"{error}\nSome files were reverted, not all. Try `hookport undo` again."
                    raise HookportError(message) from error
                raise
        return [Change(entry.path, entry.after, entry.before) for entry in entries]


def find_last_run(env: Mapping[str, str], root: str | None = None) -> LedgerRun | None:
    """The run that `undo` reverts."""
    if not _has_ledger(env):
        return None
    with ledger.lock_ledger(env) as place:
        return _find_last_run(place, root, env)


def _has_ledger(env: Mapping[str, str]) -> bool:
    home = ledger.find_folder(env)
    return home is not None and home.is_dir()


def _find_last_run(place: Path, root: str | None, env: Mapping[str, str]) -> LedgerRun | None:
    """The last run of a project, or of all; refuse if an unreadable run may be the last."""
    for run in ledger.read_newest_first(place):
        if isinstance(run, BrokenFile):
            if root is None or ledger.may_belong_to(run, root):
                message = f"{run.why}, so this run cannot be undone. "
                message += "Remove the file to undo the run before."
                raise InputError(Problem(message, file=str(run.file)))
        elif root is None or run.is_of(root, env):
            return run
    return None


def _find_later_runs(place: Path, run: LedgerRun) -> dict[str, LedgerRun]:
    """The first later run that wrote each file."""
    later: dict[str, LedgerRun] = {}
    for later_run in ledger.read_newest_first(place):
        if isinstance(later_run, LedgerRun):
            if later_run.number <= run.number:
                break
            later |= {entry.target: later_run for entry in later_run.entries}
    return later


def _find_entries_left(run: LedgerRun, later: Mapping[str, LedgerRun]) -> list[LedgerEntry]:
    """The parts of a run to revert, without those that a person or an earlier try reverted."""
    problems = []
    entries = []
    for entry in run.entries:
        if _is_gone(entry, run):
            continue
        content = read_file(entry.target)
        if os.path.realpath(entry.path) != entry.target:
            problems.append(
                Problem(
                    f"was replaced since `hookport {run.what}`, which wrote {entry.target}.",
                    file=entry.path,
                )
            )
        elif content == entry.after:
            if _has_effect(entry):
                entries.append(entry)
        elif content != entry.before and entry.target in later:
            after = later[entry.target]
            where = f" in {after.root}" if after.root else ""
            problems.append(
                Problem(
                    f"`hookport {after.what}`{where} changed it after `hookport {run.what}`, so the run is "
                    f"not undone. Undo the later run first: `hookport undo`{where}.",
                    file=entry.path,
                )
            )
        elif content != entry.before:
            problems.append(
                Problem(
                    f"changed since `hookport {run.what}` wrote it, so the run is not undone. "
                    "`hookport unsync` removes our entries and keeps the change; "
                    "or revert the change first, then try again.",
                    file=entry.path,
                )
            )
        if content is not None:
            problems += _find_refusals(entry.path, entry.target, is_replaced=entry in entries)
    if problems:
        raise ChangedError(*problems)
    return entries


def _is_gone(entry: LedgerEntry, run: LedgerRun) -> bool:
    """Whether a file disappeared with its whole project."""
    return bool(run.root) and Path(entry.target).is_relative_to(run.root) and not Path(run.root).exists()


def _make_entries(changes: Sequence[Change], place: Path, *, ends: bool) -> tuple[LedgerEntry, ...]:
    """The changes in the ledger's form; refused if one cannot be made."""
    problems: list[Problem] = []
    stale: list[Problem] = []
    own_folders = ledger.list_made_folders(place)
    entries: dict[str, LedgerEntry] = {}
    for change in changes:
        target = os.path.realpath(change.path)
        if read_file(target) != change.before:
            stale.append(Problem("changed since it was read. Try again.", file=change.path))
        elif change.before is not None and (
            refused := _find_refusals(change.path, target, is_replaced=change.before != change.after)
        ):
            problems += refused
        elif target in entries and entries[target].after != change.after:
            problems.append(Problem(f"is the same file as {entries[target].path}.", file=change.path))
        elif blocked := _find_blocking_file(Path(target)):
            problems.append(Problem(f"{blocked} is a file, where a folder is needed.", file=change.path))
        else:
            entry = _make_entry(change, target, own_folders, ledger.read_record(place, target))
            if _has_effect(entry) or (ends and entry.record):
                entries[target] = entry
    if stale:
        raise ChangedError(*stale, *problems)
    if problems:
        raise InputError(*problems)
    return tuple(entries.values())


def _make_entry(
    change: Change, target: str, own_folders: set[str], record: Record | BrokenFile | None
) -> LedgerEntry:
    if isinstance(record, BrokenFile):
        record = Record(change.path, change.before, change.before, ledger.spell_now(), "", exact=False)
    folders: tuple[str, ...] = record.folders if record else ()
    if change.before is None:
        above = [str(parent) for parent in reversed(Path(target).parents)]
        folders = tuple(folder for folder in above if folder in own_folders or not Path(folder).exists())
    return LedgerEntry(
        path=str(Path(change.path).absolute()),
        target=target,
        before=change.before,
        after=change.after,
        executable=change.executable,
        mode=None if change.before is None else stat.S_IMODE(Path(target).stat().st_mode),
        folders=folders,
        record=record,
    )


def _has_effect(entry: LedgerEntry) -> bool:
    return entry.before != entry.after or _find_added_bits(entry) != 0


def _find_added_bits(entry: LedgerEntry) -> int:
    """The execute permissions for an existing file: wherever it is readable, as `chmod +x` does."""
    if not entry.executable or entry.mode is None or entry.after is None:
        return 0
    return (entry.mode & 0o444) >> 2 & ~entry.mode


def _find_blocking_file(target: Path) -> str:
    nearest = next(parent for parent in target.parents if parent.exists())
    return "" if nearest.is_dir() else str(nearest)


def _find_refusals(path: str, target: str, *, is_replaced: bool) -> list[Problem]:
    """The reasons why an existing file is left untouched."""
    if not os.access(target, os.W_OK):
        return [Problem("is read-only, so it is left untouched. Try: chmod u+w", file=path)]
    if is_replaced and Path(target).stat().st_nlink > 1:
        word, fresh = shlex.quote(path), shlex.quote(f"{path}.own")
        message = "has a second name, and writing would break this hard link, so it is left untouched. "
        message += f"To separate the two: cp -p {word} {fresh} && mv {fresh} {word}"
        return [Problem(message, file=path)]
    return []


def _make_move(run: LedgerRun, number: int) -> Move:
    entry = run.entries[number]
    mode = (
        entry.mode | _find_added_bits(entry) if entry.mode is not None and _find_added_bits(entry) else None
    )
    temporary = _make_temporary_path(run, number)
    return Move(entry.path, Path(entry.target), temporary, entry.before, entry.after, mode, entry.executable)


def _make_reverse_move(run: LedgerRun, number: int) -> Move:
    entry = run.entries[number]
    target = Path(entry.target)
    mode = entry.mode
    if entry.mode is not None and entry.after is not None:
        # A person may have changed the permissions since; only ours are reverted.
        mode = stat.S_IMODE(target.stat().st_mode) & ~_find_added_bits(entry)
    return Move(
        entry.path,
        target,
        _make_temporary_path(run, number),
        entry.after,
        entry.before,
        mode,
        executable=False,
    )


def _make_temporary_path(run: LedgerRun, number: int) -> Path:
    return Path(run.entries[number].target).with_name(f".hookport-{run.token}-{number}.tmp")


def _carry_out(moves: list[Move]) -> None:
    """Do first everything that can fail for lack of space or permission, then the steps that count."""
    for act in (_prepare, _place_file):
        for move in moves:
            try:
                act(move)
            except OSError as error:
                raise InputError(
                    Problem(f"cannot write this file: {_spell_error(error)}.", file=move.path)
                ) from error


def _spell_error(error: OSError) -> str:
    return error.strerror or str(error)


def _prepare(move: Move) -> None:
    if move.then is None:
        return
    for folder in reversed(move.target.parents):
        if not folder.exists():
            folder.mkdir()
            ledger.flush_folder(folder.parent)
    like = move.target.stat() if move.now is not None else None
    mode = stat.S_IMODE(like.st_mode) if like and move.mode is None else move.mode
    # The umask applies to a new file; any other stays closed until it has its permissions.
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
    """Copy owner, access lists and labels, as far as this user and file system can."""
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


def _place_file(move: Move) -> None:
    # The lock keeps out other runs of this user; this check shortens the race with others.
    if read_file(str(move.target)) != move.now:
        raise ChangedError(Problem("changed since it was read. Try again.", file=move.path))
    if move.then is None:
        move.target.unlink()
    else:
        move.temporary.replace(move.target)
    ledger.flush_folder(move.target.parent)


def _remember(place: Path, run: LedgerRun) -> None:
    for entry in run.entries:
        ledger.remember(place, entry.target, _make_record(run, entry))
        if entry.after is None:
            _remove_folders(entry)


def _make_record(run: LedgerRun, entry: LedgerEntry) -> Record | None:
    """The ledger's record of a file after a run has written it."""
    former = entry.record
    original = former.original if former else entry.before
    exact = former is None or (former.exact and former.written == entry.before)
    if run.ends or (original == entry.after and exact):
        return None
    return Record(entry.path, original, entry.after, run.time, run.what, entry.folders, exact)


def _give_up(place: Path, run: LedgerRun, error: BaseException) -> None:
    """Revert a failed run; what cannot be reverted is left for `undo`."""
    try:
        _take_back(
            place,
            run,
            [entry for entry in run.entries if _has_effect(entry) and _has_content(entry, entry.after)],
        )
    except (OSError, InputError) as second:
        raise HookportError(
            f"{error}\n{second}\nSome files were written and could not be restored. Try: hookport undo"
        ) from error


def _has_content(entry: LedgerEntry, content: bytes | None) -> bool:
    try:
        return read_file(entry.target) == content
    except InputError:
        return False


def _take_back(place: Path, run: LedgerRun, entries: list[LedgerEntry]) -> None:
    _clear(run)
    _carry_out(
        [_make_reverse_move(run, number) for number, entry in enumerate(run.entries) if entry in entries]
    )
    for entry in run.entries:
        _forget(place, entry)
    ledger.drop_run(place, run)


def _forget(place: Path, entry: LedgerEntry) -> None:
    ledger.remember(place, entry.target, entry.record)
    if entry.before is None:
        _remove_folders(entry)


def _settle(place: Path) -> None:
    """Find out how far a killed run came, and record exactly that in the ledger."""
    run = ledger.read_newest(place)
    if not isinstance(run, LedgerRun) or not run.unfinished:
        return
    _clear(run)
    undone = [
        entry
        for entry in run.entries
        if not _has_content(entry, entry.after) and _has_content(entry, entry.before)
    ]
    for entry in undone:
        _forget(place, entry)
    done = tuple(entry for entry in run.entries if entry not in undone)
    rest = run._replace(entries=done, unfinished=False)
    _remember(place, rest)
    if done:
        ledger.keep_run(place, rest)
    else:
        ledger.drop_run(place, run)


def _clear(run: LedgerRun) -> None:
    for number in range(len(run.entries)):
        with suppress(OSError):
            _make_temporary_path(run, number).unlink()


def _remove_folders(entry: LedgerEntry) -> None:
    for folder in reversed(entry.folders):
        with suppress(OSError):
            Path(folder).rmdir()
