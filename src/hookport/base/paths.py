"""The root of a project, and the spelling of paths in it."""

from __future__ import annotations

import os
import stat

from hookport.base.folders import find_named_home, walk_upward

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def spell_path(path: str, root: str, env: Mapping[str, str]) -> str:
    """Spell a path relative to a project's root or to the home; unchanged if in neither."""
    if path == root:
        return "."
    for start, short in ((root, ""), (find_named_home(env), "~/")):
        if start and path.startswith(os.path.join(start, "")):
            return short + path[len(os.path.join(start, "")) :].replace(os.sep, "/")
    return path


def find_repository(folder: str, end: str = "") -> str:
    """Find the root of a folder's repository, below `end`; empty if it is in none."""
    return next(
        (above for above in walk_upward(folder, end) if os.path.lexists(os.path.join(above, ".git"))), ""
    )


def make_resolver() -> Callable[[str], str]:
    """Make an `os.path.realpath` that looks at each file and folder once, for many paths in a few folders."""
    # By path: the real one, and whether it exists. Nothing in a folder that does not exist is a link.
    known: dict[str, tuple[str, bool]] = {}

    def look_at(path: str) -> tuple[str, bool]:
        if path not in known:
            above, name = os.path.split(path)
            folder, exists = look_at(above) if name else (path, True)
            place = os.path.join(folder, name)
            try:
                mode = os.lstat(place).st_mode if exists else 0
            except (OSError, ValueError):  # no file can have such a name
                mode = 0
            if stat.S_ISLNK(mode):
                real = os.path.realpath(place)
                known[path] = (real, os.path.lexists(real))
            else:
                known[path] = (place, bool(mode))
        return known[path]

    def resolve(path: str) -> str:
        is_plain = os.path.isabs(path) and os.path.normpath(path) == path and not path.startswith("//")
        return look_at(path)[0] if is_plain else os.path.realpath(path)

    return resolve
