"""Where `bridge.pyz` starts, as its `__main__.py`: modules are compiled once for a machine, not at each call.

Python keeps no bytecode of what is in an archive, and compiling takes three times as long as a dispatch.
"""

from __future__ import annotations

import gc
import marshal
import os
import sys
import time
import zlib
from importlib.machinery import ModuleSpec
from importlib.util import MAGIC_NUMBER
from zipimport import zipimporter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import CodeType, ModuleType

TABLES = "tables.plan"
FORGET_SECONDS = 30 * 24 * 3600


class Importer:
    """Imports from the archive; `code` has what was compiled before, and `grew` tells that there is more."""

    def __init__(self, archive: zipimporter) -> None:
        self.archive = archive
        self.code: dict[str, tuple[bool, CodeType]] = {}
        self.grew = False

    def use(self, kept: dict[str, tuple[bool, CodeType]]) -> None:
        """Take what an earlier call compiled."""
        self.grew = not kept
        self.code |= kept

    def find_spec(
        self, name: str, _path: Sequence[str] | None = None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name.partition(".")[0] != "hookport":
            return None
        place = name.replace(".", "/")
        if name not in self.code:
            for file, is_package in ((f"{place}/__init__.py", True), (f"{place}.py", False)):
                try:
                    source = self.archive.get_data(file)
                except OSError:
                    continue
                path = os.path.join(self.archive.archive, file)
                self.code[name] = is_package, compile(source, path, "exec", dont_inherit=True)
                self.grew = True
                break
            else:
                return None
        is_package = self.code[name][0]
        spec = ModuleSpec(name, self, is_package=is_package)  # type: ignore[arg-type]
        if is_package:
            spec.submodule_search_locations = [os.path.join(self.archive.archive, place)]
        return spec

    def create_module(self, _spec: ModuleSpec) -> None:
        """The usual kind of module."""

    def exec_module(self, module: ModuleType) -> None:
        exec(self.code[module.__name__][1], module.__dict__)  # noqa: S102  (that is what an import is)


def load(path: str, stamp: tuple[object, ...]) -> tuple[dict[str, tuple[bool, CodeType]], bytes]:
    """(compiled code, tables) of the archive with that stamp; both empty where none is kept."""
    try:
        with open(path, "rb") as file:
            was, code, tables = marshal.loads(file.read())  # noqa: S302  (ours, as bytecode of Python is)
        if was == stamp:
            return code, tables
    except (OSError, EOFError, ValueError, TypeError):
        pass
    return {}, b""


def keep(path: str, content: bytes) -> None:
    """Write what the next call finds; without it, that call is slower."""
    folder = os.path.dirname(path)
    draft = f"{path}.{os.getpid()}"
    try:
        os.makedirs(folder, 0o700, exist_ok=True)
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(content)
        os.replace(draft, path)
        for old in os.scandir(folder):
            if time.time() - old.stat().st_mtime > FORGET_SECONDS:
                os.unlink(old.path)
    except OSError:
        pass


def run(archive: zipimporter) -> int:
    """Run a command with what is in the archive."""
    gc.disable()
    path = os.path.realpath(archive.archive)
    found = os.stat(path)
    stamp = (path, MAGIC_NUMBER, found.st_mtime_ns, found.st_size, found.st_ino)
    importer = Importer(archive)
    sys.meta_path.insert(0, importer)
    from hookport.runtime import folders

    cache = folders.own(os.environ, "HOOKPORT_CACHE_DIR", "XDG_CACHE_HOME", ".cache")
    name = f"{zlib.crc32(path.encode('utf-8', 'replace')):08x}.{sys.implementation.cache_tag}"
    kept = os.path.join(cache, "code", name) if cache else ""
    code, tables = load(kept, stamp)
    importer.use(code)
    tables = tables or archive.get_data(TABLES)
    from hookport.packed import main

    status = main(sys.argv[1:], archive.archive, tables)
    if importer.grew and kept and not sys.dont_write_bytecode:
        keep(kept, marshal.dumps((stamp, importer.code, tables)))
    return status


if __name__ == "__main__" and isinstance(__spec__.loader, zipimporter):
    # The answer is written; taking the interpreter apart would cost another 2 ms.
    os._exit(run(__spec__.loader))
