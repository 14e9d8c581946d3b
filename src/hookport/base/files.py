"""Files that several processes write: replaced whole or not at all, and locked during a change."""

from __future__ import annotations

import os
import sys
import time

# The suffix of the temporary file beside a file's path.
DRAFT = ".new"
# Readable by the user alone, like everything in hookport's own folders.
PRIVATE = 0o600
# A new file in a project, and an executable one.
NEW_FILE_MODES = {False: 0o666, True: 0o777}
PAUSE_SECONDS = 0.002


def replace_file(path: str, data: bytes, mode: int | None = PRIVATE, *, is_durable: bool = False) -> None:
    """Replace a file, whole or not at all; a failure leaves nothing behind.

    It gets the permissions of `mode` less the umask; with None those of the file that it replaces, if any. A
    durable file is on disk before it replaces the old one.
    """
    folder, name = os.path.split(path)
    draft = os.path.join(folder, f".{name}.{os.urandom(6).hex()}{DRAFT}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    former = _read_mode(path) if mode is None else None
    file = os.open(draft, flags, 0o666 if mode is None else mode)
    try:
        try:
            rest = memoryview(data)
            while rest:
                rest = rest[os.write(file, rest) :]
            if is_durable:
                os.fsync(file)
        finally:
            os.close(file)
        if former is not None:
            os.chmod(draft, former)
        os.replace(draft, path)
    except BaseException:
        os.unlink(draft)
        raise


def keep_file(path: str, data: bytes) -> None:
    """Replace a file in one of hookport's own folders; make the folder if missing."""
    os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
    replace_file(path, data)


def open_without_waiting(path: str, flags: int) -> int:
    """Open without waiting for a writer, if the file is a pipe."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def remove_old_files(folder: str, seconds: float) -> None:
    """Remove the files of a folder that were last written longer ago than a limit."""
    with os.scandir(folder) as entries:
        for entry in entries:
            try:
                if time.time() - entry.stat().st_mtime > seconds:
                    os.unlink(entry.path)
            except FileNotFoundError:  # a draft that is in its place now, or another who removes them
                continue


def _read_mode(path: str) -> int | None:
    try:
        return os.stat(path).st_mode & 0o7777
    except FileNotFoundError:
        return None


def lock(file: int, seconds: float, byte: int | None = None) -> None:
    """Lock an open file, or one byte of it; OSError if another process holds the lock too long.

    Closing the file releases the lock. A lock of one byte belongs to this process alone, not to its children.
    """
    until = time.monotonic() + seconds
    while True:
        try:
            return _try_lock(file, byte)
        except (BlockingIOError, PermissionError):
            if time.monotonic() > until:
                raise
            time.sleep(PAUSE_SECONDS)


def unlock(file: int, byte: int) -> None:
    """Release the lock of one byte."""
    if sys.platform == "win32":
        import msvcrt

        os.lseek(file, byte, os.SEEK_SET)
        msvcrt.locking(file, msvcrt.LK_UNLCK, 1)
    else:
        import fcntl

        fcntl.lockf(file, fcntl.LOCK_UN, 1, byte)


def close_locked(file: int) -> None:
    """Close a locked file; if another thread forked meanwhile, the copy does not keep the lock."""
    try:
        if sys.platform != "win32":
            import fcntl

            fcntl.flock(file, fcntl.LOCK_UN)
    except OSError:
        pass  # a file system without locks
    finally:
        os.close(file)


def _try_lock(file: int, byte: int | None) -> None:
    if sys.platform == "win32":
        import msvcrt

        if byte is not None:
            os.lseek(file, byte, os.SEEK_SET)
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
    elif byte is None:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    else:
        import fcntl

        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, byte)
