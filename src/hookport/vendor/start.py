"""The start of `bridge.pyz`, as its `__main__.py`: modules are compiled once for a machine, not at each call.

Python stores no bytecode for an archive, and compiling takes three times as long as a dispatch.
"""

from __future__ import annotations

import gc
import marshal
import os
import sys
import zlib
from importlib.util import MAGIC_NUMBER
from zipimport import zipimporter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType
    from typing import Any

TABLES, FOLDERS = "tables.plan", "hookport/base/folders.py"
IMPORTING, IMPORTING_FILE = "hookport.vendor.importing", "hookport/vendor/importing.py"


def compile_member(archive: zipimporter, file: str) -> CodeType:
    """The code of a member."""
    path = os.path.join(archive.archive, file)
    return compile(archive.get_data(file), path, "exec", dont_inherit=True)


def find_cache_folder(archive: zipimporter) -> str:
    """The cache's folder; the module that names it is compiled every time, before the cache is known."""
    names = run_code(compile_member(archive, FOLDERS))
    return str(names["find_own_folder"](os.environ, *names["CACHE"]))


def run_code(code: CodeType) -> dict[str, Any]:
    """The names of a module that is needed before imports work."""
    names: dict[str, Any] = {"__name__": "hookport.start"}
    exec(code, names)  # noqa: S102  (a module of ours)
    return names


def load_code(path: str, stamp: tuple[object, ...]) -> tuple[dict[str, tuple[bool, bytes]], bytes]:
    """Return (code as bytes, tables) of the archive with that stamp; both empty if not cached."""
    try:
        with open(path, "rb") as file:
            was, code, tables = marshal.loads(file.read())  # noqa: S302  (ours, as bytecode of Python is)
        if was == stamp:
            return code, tables
    except (OSError, EOFError, ValueError, TypeError):
        pass
    return {}, b""


def run_archive(archive: zipimporter) -> int:
    """Run a command with the archive's modules."""
    gc.disable()
    path = os.path.realpath(archive.archive)
    state = os.stat(path)
    stamp = (path, MAGIC_NUMBER, state.st_mtime_ns, state.st_size, state.st_ino)
    cache = find_cache_folder(archive)
    name = f"{zlib.crc32(path.encode('utf-8', 'replace')):08x}.{sys.implementation.cache_tag}"
    cache_path = os.path.join(cache, "code", name) if cache else ""
    code, tables = load_code(cache_path, stamp)
    is_kept = IMPORTING in code
    if not is_kept:
        code = {IMPORTING: (False, marshal.dumps(compile_member(archive, IMPORTING_FILE)))}
    importing = run_code(marshal.loads(code[IMPORTING][1]))  # noqa: S302  (ours, as bytecode of Python is)
    importer = importing["Importer"](archive, code, grew=not is_kept)
    sys.meta_path.insert(0, importer)
    tables = tables or archive.get_data(TABLES)
    from hookport.vendor.commands import main

    status = main(sys.argv[1:], archive.archive, tables)
    if importer.grew and cache_path and not sys.dont_write_bytecode:
        importing["keep"](cache_path, marshal.dumps((stamp, importer.code, tables)))
    return status


if __name__ == "__main__" and isinstance(__spec__.loader, zipimporter):
    # The answer is written; shutting down the interpreter would cost another 2 ms.
    os._exit(run_archive(__spec__.loader))
