"""Where hookport stores its own files: in the user's folders, or nowhere if the environment names none.

These files decide what is approved, so a folder in a project, which anybody may have written, is refused; the
home in the password file replaces it.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# The marks of a project's folder.
MARKS = (".git", ".hookport", "hookport.lock")
# Each of our folders: our own variable, the system's variable, its path in a home.
STATE = ("HOOKPORT_STATE_DIR", "XDG_STATE_HOME", ".local/state")
CACHE = ("HOOKPORT_CACHE_DIR", "XDG_CACHE_HOME", ".cache")
_seen: dict[str, bool] = {}


def find_own_folder(env: Mapping[str, str], variable: str, xdg: str, below_home: str) -> str:
    """Find hookport's folder: by its own variable, else in the system's folder; never inside a project."""
    named = _find_named_folder(env, variable, xdg, below_home)
    if not named or not is_in_project(named):
        return named
    home = find_real_home()
    return os.path.join(home, below_home, "hookport") if home else ""


def _find_named_folder(env: Mapping[str, str], variable: str, xdg: str, below_home: str) -> str:
    if chosen := env.get(variable):
        return os.path.abspath(chosen)
    home = find_named_home(env)
    usual = os.path.join(home, below_home) if home else ""
    # XDG Base Directory Specification 0.8: a relative path must be ignored.
    named = env.get("LOCALAPPDATA" if os.name == "nt" else xdg, "")
    base = named if os.path.isabs(named) else usual
    return os.path.join(base, "hookport") if base else ""


def find_named_home(env: Mapping[str, str]) -> str:
    """The home in the environment; empty if missing or relative."""
    home = env.get("HOME") or env.get("USERPROFILE") or ""
    return home if os.path.isabs(home) else ""


def find_home(env: Mapping[str, str]) -> str:
    """The user's home, never inside a project; empty if unknown.

    An agent that starts without `HOME` uses the home in the password file, and so does hookport: its hooks
    run.
    """
    folder = os.path.expanduser(env.get("HOME") or env.get("USERPROFILE") or "~")
    if not os.path.isabs(folder):
        return ""
    return (find_real_home() or folder) if is_in_project(folder) else folder


def find_config_folder(env: Mapping[str, str]) -> str:
    """The folder of the user's settings, never inside a project; empty if unknown."""
    # XDG Base Directory Specification 0.8: a relative path must be ignored.
    named = env.get("XDG_CONFIG_HOME", "")
    if os.path.isabs(named) and not is_in_project(named):
        return named
    return os.path.join(find_home(env), ".config") if find_home(env) else ""


def find_user_settings(env: Mapping[str, str]) -> str:
    """The user's settings file for hookport; without a home, the one in the password file's home."""
    folder = find_config_folder(env) or (
        os.path.join(find_real_home(), ".config") if find_real_home() else ""
    )
    return os.path.join(folder, "hookport", "config.json") if folder else ""


def walk_upward(folder: str, end: str = "") -> Iterator[str]:
    """Yield a folder and its parents, up to but not including `end`."""
    while True:
        yield folder
        above = os.path.dirname(folder)
        if end == folder or above in (end, folder):
            return
        folder = above


def is_in_project(folder: str) -> bool:
    """Whether a folder is in a project, by its marks.

    A project that contains the user's home, such as a repository of dotfiles, is the user's own.
    """
    if folder not in _seen:
        _seen[folder] = _is_in_project(os.path.realpath(folder))
    return _seen[folder]


def _is_in_project(folder: str) -> bool:
    for above in walk_upward(folder):
        start = os.path.join(above, "")
        if any(os.path.lexists(start + mark) for mark in MARKS):
            # The password file is read only here, because that takes longer than the search.
            home = find_real_home()
            return not (home and os.path.join(os.path.realpath(home), "").startswith(start))
    return False


def find_real_home() -> str:
    """The user's home in the password file, which no environment changes; empty if unknown."""
    try:
        import pwd

        return pwd.getpwuid(os.getuid()).pw_dir
    except (ImportError, KeyError):
        return ""
