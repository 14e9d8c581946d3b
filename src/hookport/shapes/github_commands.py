"""The command fields that GitHub's agents share: for Unix, for Windows, for whichever is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hookport.shapes.dialect import Tree

# A hook with a command for Windows only does nothing elsewhere; this command does nothing.
NO_COMMAND = ":"


def normalise_commands(entry: Mapping[str, Tree]) -> Mapping[str, Tree]:
    """The entry with its command for Unix in `command` and one for Windows alone in `powershell`.

    `bash` alone is the command: what the hook would do on Windows, nothing, is not kept.
    """
    unix, windows = entry.get("bash"), entry.get("powershell")
    if not unix and not windows:
        return entry
    command = entry.get("command")
    rest = {key: value for key, value in entry.items() if key not in ("bash", "powershell", "command")}
    commands_by_system = {"command": unix or command or NO_COMMAND, "powershell": windows or command}
    return {**rest, **{key: value for key, value in commands_by_system.items() if value}}
