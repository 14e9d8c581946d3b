"""Imports hookport's own modules from their bytecode, with a third of the steps that Python takes for each.

A dispatch loads about thirty modules, and searching for them takes as long as running them. Bytecode counts
under Python's own rule: it records the time and size of its source. Python itself imports and compiles
everything else.
"""

from __future__ import annotations

import marshal
import os
import sys
from _frozen_importlib import ModuleSpec
from _frozen_importlib_external import MAGIC_NUMBER, SourceFileLoader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

PREFIX = "hookport."
# PEP 552: the magic number, no flags, then the source's time and size as 32 bits each.
HEAD = MAGIC_NUMBER + bytes(4)
SUFFIX = f".{sys.implementation.cache_tag}.pyc"
# The modules that every dispatch needs, each after its imports: Python need not search for each.
NEEDED = (
    "hookport.base",
    "hookport.base.folders",
    "hookport.base.files",
    "hookport.model",
    "hookport.model.value",
    "hookport.model.runs",
    "hookport.runtime",
    "hookport.model.json_text",
    "hookport.runtime.redaction",
    "hookport.wire",
    "hookport.wire.spellings",
    "hookport.runtime.journal",
    "hookport.runtime.merge",
    "hookport.wire.table",
    "hookport.wire.events",
    "hookport.wire.texts",
    "hookport.wire.answers",
    "hookport.runtime.policy",
    "hookport.runtime.surroundings",
    "hookport.wire.recognition",
    "hookport.runtime.plan",
    "hookport.runtime.trust",
    "hookport.runtime.select",
    "hookport.runtime.engine",
    "hookport.runtime.once",
    "hookport.runtime.guarded",
    "hookport.runtime.protection",
    "hookport.runtime.records",
    "hookport.runtime.sessions",
    "hookport.runtime.answer",
    "hookport.runtime.occasion",
    "hookport.runtime.sources",
    "hookport.runtime.dispatch",
    "hookport.runtime.main",
    "hookport.project",
    "hookport.project.installed",
)
# The command parser: a package comes after its modules if it imports them.
READING = (
    "hookport.base.quoting",
    "hookport.shell.syntax",
    "hookport.shell.outputs",
    "hookport.shell.wrappers",
    "hookport.shell.walk",
    "hookport.shell",
    "hookport.runtime.effects",
    "hookport.runtime.guarded_commands",
)

# The modules that run a hook.
RUNNING = ("hookport.runtime.handlers", "hookport.runtime.execute", "hookport.runtime.execute.process")


def find_spec(name: str, path: Sequence[str] | None = None, _target: object = None) -> ModuleSpec | None:
    """How a module is loaded, with its code; None if it is not ours or must be compiled.

    With this, a module is a finder itself: a class would be one more object to make on every event.
    """
    if path is None or not name.startswith(PREFIX):
        return None
    folder, tail = path[0], name.rpartition(".")[2]
    return _spec(name, f"{folder}/{tail}.py", f"{folder}/__pycache__/{tail}{SUFFIX}") or _spec(
        name, f"{folder}/{tail}/__init__.py", f"{folder}/{tail}/__pycache__/__init__{SUFFIX}"
    )


def _spec(name: str, source: str, cached: str) -> ModuleSpec | None:
    try:
        found = os.stat(source)
        file = os.open(cached, os.O_RDONLY | getattr(os, "O_BINARY", 0))
        try:
            # A buffer larger than the file costs more than the reading.
            data = os.read(file, os.fstat(file).st_size)
        finally:
            os.close(file)
        if data[:16] != HEAD + _word(int(found.st_mtime)) + _word(found.st_size):
            return None
        code = marshal.loads(memoryview(data)[16:])  # noqa: S302  (as Python does it)
    except (OSError, ValueError, EOFError, TypeError):
        return None
    if code.co_filename != source:
        # It was compiled elsewhere; Python writes the new path into it.
        return None
    loader = SourceFileLoader(name, source)
    loader.get_code = lambda _name: code  # type: ignore[assignment, method-assign]
    is_package = source.endswith("/__init__.py")
    spec = ModuleSpec(name, loader, origin=source, is_package=is_package)
    if is_package:
        spec.submodule_search_locations = [source.removesuffix("/__init__.py")]
    spec.cached = cached
    spec.has_location = True
    return spec


def _word(number: int) -> bytes:
    return (number & 0xFFFFFFFF).to_bytes(4, "little")


def begin() -> None:
    """Import what every dispatch needs, and the rest of hookport this way on demand."""
    sys.meta_path.insert(0, sys.modules[__name__])
    load(NEEDED)


def load(names: Sequence[str]) -> None:
    """Import modules, each after its imports, with one search in our folder for each."""
    modules = sys.modules
    kind, root = type(sys), modules["hookport"].__path__[0]
    found = []
    for name in names:
        if name in modules:
            continue
        above, _, tail = name.rpartition(".")
        spec = find_spec(name, (root + above.removeprefix("hookport").replace(".", "/"),))
        if spec is None:
            # It must be compiled, so Python imports all of them.
            break
        module = kind(name)
        module.__spec__, module.__loader__ = spec, spec.loader
        module.__file__, module.__cached__ = spec.origin, spec.cached  # type: ignore[attr-defined]
        module.__package__ = name if spec.submodule_search_locations else above
        if spec.submodule_search_locations:
            module.__path__ = spec.submodule_search_locations
        found.append((name, above, tail, module))
    else:
        # All exist before the first runs, so Python searches for none of them, nor for their packages.
        modules.update((name, module) for name, _, _, module in found)
        while found:
            name, above, tail, module = found[0]
            try:
                exec(module.__spec__.loader.get_code(name), module.__dict__)  # type: ignore[union-attr]  # noqa: S102
            except BaseException:
                for name, *_ in found:
                    del modules[name]
                raise
            setattr(modules[above], tail, module)
            del found[0]
        return
    for name in names:
        __import__(name)
