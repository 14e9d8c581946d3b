"""Shims for the programs that samples start: each leaves its sample's mark and starts the real program.

So the start of a command is observed although it is played unchanged.
"""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

from hookport.lab.samples import Sample

# Files that login shells read after the system's own, which may reset PATH.
PROFILES = (".profile", ".bash_profile", ".zshenv", ".zprofile")


def place_shims(folder: Path, home: Path, project: Path, calls: Iterable[Sample], path: str) -> str:
    """Write the shims; return the PATH that finds them first, in login shells too."""
    waited: dict[str, list[Sample]] = {}
    for sample in calls:
        if sample.program:
            waited.setdefault(sample.program[0], []).append(sample)
    folder.mkdir()
    for name, own_samples in waited.items():
        shim = folder / name
        shim.write_text(_make_shim(name, own_samples, project, shutil.which(name, path=path)), "utf-8")
        shim.chmod(0o755)
    for profile in PROFILES:
        if not (home / profile).exists():
            (home / profile).write_text(f"PATH={shlex.quote(str(folder))}:$PATH; export PATH\n", "utf-8")
    return f"{folder}{os.pathsep}{path}"


def _make_shim(name: str, waited: Sequence[Sample], project: Path, real: str | None) -> str:
    lines = ["#!/bin/sh"]
    for sample in waited:
        words = sample.program[1:]
        tests = [f"[ $# -eq {len(words)} ]"]
        tests += [f'[ "${{{number}}}" = {shlex.quote(word)} ]' for number, word in enumerate(words, 1)]
        # If a sandbox forbids it, the command continues normally.
        lines.append(f"{' && '.join(tests)} && (: >{shlex.quote(str(project / sample.mark))}) 2>/dev/null")
    missing = f"echo {shlex.quote(f'{name}: command not found')} >&2; exit 127"
    lines.append(f'exec {shlex.quote(real)} "$@"' if real else missing)
    return "\n".join(lines) + "\n"
