"""Hooks that their user paused: kept in the user's state folder, never in a project; a pause ends by itself.

A pause is one file. It begins when the file was written, and the file contains its length.
"""

from __future__ import annotations

import os
import time

from hookport.base.files import keep_file
from hookport.model.json_text import dumps, loads
from hookport.runtime import journal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

# The name that means every hook of a project.
EVERY = "*"
LONGEST_SECONDS = 24 * 3600.0
# A file dated later than now is not a pause; clocks of file systems may differ by this much.
AHEAD_SECONDS = 60.0


def find_pauses(root: str, env: Mapping[str, str]) -> dict[str, float]:
    """Find the paused hooks of a project by name, `*` for all, each with the end of its pause."""
    ends: dict[str, float] = {}
    now = time.time()
    for _, pause, begun in _read_pauses(env):
        over = begun + min(float(pause["seconds"]), LONGEST_SECONDS)
        if pause["root"] == root and begun <= now + AHEAD_SECONDS and now < over:
            ends[str(pause["hook"])] = max(over, ends.get(str(pause["hook"]), 0.0))
    return ends


def find_pause_end(paused: Mapping[str, float], hook: str) -> float:
    """Find when the pause of a hook ends; 0 without a pause."""
    return max(paused.get(EVERY, 0.0), paused.get(hook, 0.0))


def format_time(when: float) -> str:
    """Format a time of today for people."""
    return time.strftime("%H:%M", time.localtime(when))


def begin(root: str, hook: str, seconds: float, how: str, env: Mapping[str, str]) -> None:
    """Pause a hook of a project, or all of them; OSError if it cannot be stored."""
    end(root, hook, env)
    name = f"{time.time_ns()}.{os.getpid()}.json"
    pause = {"root": root, "hook": hook, "seconds": seconds, "how": how}
    keep_file(os.path.join(_find_folder(env), name), dumps(pause).encode())
    journal.write(
        {"event": "pause", "cwd": root, "notes": [f"paused: {hook} for {seconds:g} s ({how})"]}, env
    )


def end(root: str, hook: str, env: Mapping[str, str]) -> list[str]:
    """End the pause of a hook, or with `*` every pause of a project; return those that were active."""
    held = find_pauses(root, env)
    for path, pause, _ in _read_pauses(env):
        if pause["root"] == root and hook in (EVERY, pause["hook"]):
            os.unlink(path)
    ended = [name for name in held if hook in (EVERY, name)]
    if ended:
        journal.write({"event": "pause", "cwd": root, "notes": [f"pause ended: {', '.join(ended)}"]}, env)
    return ended


def _find_folder(env: Mapping[str, str]) -> str:
    place = journal.find_state_folder(env)
    return os.path.join(place, journal.PAUSES) if place else ""


def _read_pauses(env: Mapping[str, str]) -> list[tuple[str, dict[str, Any], float]]:
    """Read (path, content, time of writing) of every readable pause."""
    pauses = []
    try:
        names = [name for name in os.listdir(_find_folder(env) or os.devnull) if name.endswith(".json")]
    except OSError:
        return []
    for name in names:
        path = os.path.join(_find_folder(env), name)
        try:
            with open(path, "rb") as file:
                pause = loads(file.read().decode())
            float(pause["seconds"])
            pauses.append(
                (path, {**pause, "root": pause["root"], "hook": pause["hook"]}, os.stat(path).st_mtime)
            )
        except (OSError, ValueError, TypeError, KeyError):
            continue
    return pauses
