"""The root of a project, and the spelling of paths in it."""

from __future__ import annotations

import os

from hookport.base.folders import find_named_home, walk_upward

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


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
