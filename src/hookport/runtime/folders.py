"""Where hookport keeps files of its own: in the user's folders, or nowhere if the environment names none."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


def own(env: Mapping[str, str], variable: str, xdg: str, below_home: str) -> str:
    """The folder that our own variable names, else one in the system's; never one relative to a project."""
    if chosen := env.get(variable):
        return os.path.abspath(chosen)
    home = env.get("HOME", "")
    usual = os.path.join(home, below_home) if os.path.isabs(home) else ""
    # XDG Base Directory Specification 0.8: a path that is not absolute is to be ignored.
    named = env.get("LOCALAPPDATA" if os.name == "nt" else xdg, "")
    base = named if os.path.isabs(named) else usual
    return os.path.join(base, "hookport") if base else ""
