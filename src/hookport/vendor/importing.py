"""Imports modules from `bridge.pyz`, and caches what it compiled for the next call.

This module is also compiled once for a machine, so it is not compiled at each call.
"""

from __future__ import annotations

import marshal
import os
from importlib.machinery import ModuleSpec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType
    from zipimport import zipimporter

FORGET_SECONDS = 30 * 24 * 3600


class Importer:
    """Imports from the archive; `code` has the compiled modules; `grew`: more were compiled since.

    Code is stored as bytes for each module: a call needs some of them, and loading each takes time.
    """

    def __init__(self, archive: zipimporter, code: dict[str, tuple[bool, bytes]], *, grew: bool) -> None:
        self.archive, self.code, self.grew = archive, code, grew

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
                self.code[name] = is_package, self.compiled(file, source)
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
        """Use the default module type."""

    def exec_module(self, module: ModuleType) -> None:
        code = marshal.loads(self.code[module.__name__][1])  # noqa: S302  (ours, as bytecode of Python is)
        exec(code, module.__dict__)  # noqa: S102  (that is what an import is)

    def compiled(self, file: str, source: bytes) -> bytes:
        """The stored code of a member."""
        path = os.path.join(self.archive.archive, file)
        return marshal.dumps(compile(source, path, "exec", dont_inherit=True))


def keep(path: str, content: bytes) -> None:
    """Store the cache for the next call; without it, that call is slower."""
    from hookport.base.files import keep_file, remove_old_files

    try:
        keep_file(path, content)
        remove_old_files(os.path.dirname(path), FORGET_SECONDS)
    except OSError:
        pass
