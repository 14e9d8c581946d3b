"""Which dialect packages the agents' entries see: they start their Python with `-I`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

from hookport.agents import find_package_folder, list_added
from hookport.project.installed import locate_bridge_file

SECONDS = 30


def find_unseen_folder(name: str) -> str:
    """The folder of a dialect's package if entries do not see it; else empty."""
    if name not in list_added():
        return ""
    folder = find_package_folder(name)
    return "" if os.path.realpath(folder) in _list_search_path() else folder


@cache
def _list_search_path() -> frozenset[str]:
    """Where the bridge searches packages: beside itself, and in its Python's folders."""
    code = "import json, sys; print(json.dumps(sys.path))"
    done = subprocess.run(
        [sys.executable, "-I", "-c", code],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=True,
        timeout=SECONDS,
    )
    folders = [str(Path(locate_bridge_file()).parents[1]), *json.loads(done.stdout)]
    return frozenset(map(os.path.realpath, folders))
