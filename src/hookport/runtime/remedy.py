"""The command that repairs what a message reports, in the form that works for its reader."""

from __future__ import annotations

import os
import sys

from hookport.base.quoting import quote_if_needed
from hookport.runtime.trust import ARCHIVE

NAME = "hookport"


# The bridge's own names for commands of hookport.
INSTEAD = {"doctor": "status"}


def format_command(*words: str, root: str = "") -> str:
    """Format a command of hookport: by its name, or with the project's archive if hookport is not installed.

    `root` is the project it is for, if that is not the one that the person works in.
    """
    is_packed = _is_packed() and not _is_installed()
    is_packed = is_packed and (not root or os.path.exists(os.path.join(root, ARCHIVE)))
    name, *rest = words
    spelled = (f"python3 {ARCHIVE}", INSTEAD.get(name, name)) if is_packed else (NAME, name)
    return " ".join((*(("cd", quote_if_needed(root), "&&") if root else ()), *spelled, *rest))


def format_for_models(*words: str, root: str = "") -> str:
    """Format the command for a model, which may not run it: who may, and where."""
    command = format_command(*words, root=root)
    return f"Ask the user to run `{command}` in their own terminal; it is refused here."


def _is_packed() -> bool:
    return os.path.basename(sys.argv[0]) == os.path.basename(ARCHIVE)


def _is_installed() -> bool:
    name = f"{NAME}.exe" if os.name == "nt" else NAME
    folders = os.environ.get("PATH", "").split(os.pathsep)
    return any(os.access(os.path.join(folder, name), os.X_OK) for folder in folders if folder)
