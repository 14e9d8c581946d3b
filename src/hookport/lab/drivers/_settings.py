"""How drivers write settings: JSON, and TOML of plain values, only where a stage allows it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from hookport.lab.driver import Stage

Tree = object


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


def write_json(path: Path, tree: Tree) -> None:
    write(path, json.dumps(tree, indent=2) + "\n")


def write_toml(path: Path, tables: Mapping[str, Mapping[str, Tree]]) -> None:
    """Format tables by header, the first without one; only values that JSON writes the same way."""
    blocks = []
    for header, table in tables.items():
        lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in table.items()]
        blocks.append("\n".join([f"[{header}]", *lines] if header else lines) + "\n")
    write(path, "\n".join(blocks))


def make_server(stage: Stage) -> dict[str, Tree]:
    """Make the entry of the MCP server as most agents have it: a program and its arguments."""
    program, *arguments = stage.mcp
    return {"command": program, "args": arguments}


def make_servers(stage: Stage, **more: Tree) -> dict[str, Tree]:
    """Make the map of MCP servers under the name that most agents use; empty without a server."""
    return {"mcpServers": {"lab": {**make_server(stage), **more}}} if stage.mcp else {}


def make_absolute(stage: Stage, path: str) -> str:
    return str(stage.project / path)


def join_words(command: str) -> str:
    """Write a command as JavaScript in which its words do not stand side by side."""
    return f"{json.dumps(command.split(' '))}.join(' ')"
