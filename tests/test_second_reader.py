"""agnix, a linter for agents' configuration that others wrote, reads what hookport writes.

What it still says is in the `facts.yaml` of each agent, no more and no less; docs/second-reader.md decides
each row.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hookport.agents import get, list_agents
from hookport.convert import pipeline
from hookport.model.events import EVENTS
from hookport.model.tools import TOOLS
from tests.agent_data import FACTS, facts_of

VERSION = "0.59.3"
PAGE = Path(__file__).parent.parent / "docs" / "second-reader.md"
# What it says of its own configuration, not of the files.
QUIET = '[rules]\ndisabled_rules = ["VER-001"]\n'

GUARD = {"type": "command", "command": "./scripts/guard.sh", "timeout": 10}
HTTP = {
    "type": "http",
    "url": "https://hooks.example.com/x",
    "headers": {"X-Key": "$KEY"},
    "allowed_env_vars": ["KEY"],
}
FIELDS = {"env": {"MODE": "strict"}, "cwd": "scripts", "platform": {"windows": "guard.ps1"}, "async": True}
MCP: tuple[dict[str, Any], ...] = (
    {"mcp": {"server": "github"}},
    {"mcp": {"server": "git-hub", "tool": "create_issue"}},
)


def hook(event: str, **values: Any) -> dict[str, Any]:
    return {"event": event, "handler": GUARD, **values}


def numbered(hooks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The hooks with a command of their own each, so that none is the same as another."""
    for number, one in enumerate(hooks):
        if "command" in one["handler"]:
            one["handler"] = {**one["handler"], "command": f"{one['handler']['command']} {number}"}
    return hooks


SOURCES: dict[str, list[dict[str, Any]]] = {
    "plain": [
        hook("before_tool_execute", matcher="shell", blocking=True),
        hook("after_tool_execute", matcher=["file_write", "file_edit"]),
        hook("session_start", handler={"type": "command", "command": "git log --oneline -5", "timeout": 10}),
    ],
    "every": numbered(
        [
            *(hook(event, blocking=kind.blocks != "observe") for event, kind in EVENTS.items()),
            *(hook("before_tool_execute", matcher=matcher, blocking=True) for matcher in (*TOOLS, *MCP)),
            hook("before_tool_execute", matcher={"pattern": "file_(read|write|edit)"}, blocking=True),
            hook("before_tool_execute", matcher="shell"),
            hook("before_tool_execute", matcher="shell", blocking=True, handler=HTTP),
            hook(
                "before_tool_execute",
                matcher="shell",
                blocking=True,
                handler={**GUARD, "timeout_action": "block"},
            ),
            hook("before_tool_execute", matcher="shell", blocking=True, handler={**GUARD, "timeout": 900}),
            hook(
                "before_tool_execute",
                matcher="shell",
                blocking=True,
                handler={"type": "prompt", "prompt": "Safe?"},
            ),
            hook("after_tool_execute", matcher="shell", handler={**GUARD, **FIELDS}),
            hook("session_start", matcher={"pattern": "startup|resume"}),
        ]
    ),
    "fraction": [
        hook("before_tool_execute", matcher="shell", blocking=True, handler={**GUARD, "timeout": 1.5})
    ],
}


def generate(folder: Path, agent: str, source: str) -> Path:
    """The project that hookport writes for an agent, with the script that its hooks start."""
    manifest = json.dumps({"spec": "hooks/1.0", "hooks": SOURCES[source]}).encode()
    reading = pipeline.read({"hooks.json": manifest}, get("canonical"))
    for file in pipeline.convert(reading, get(agent)).files:
        path = folder / file.path.removeprefix("~/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(file.text, "utf-8")
        path.chmod(0o755)
    script = folder / "scripts" / "guard.sh"
    script.parent.mkdir(exist_ok=True)
    script.write_text("#!/bin/sh\nexit 0\n", "utf-8")
    script.chmod(0o755)
    return folder


def agnix() -> str:
    """The program, next to the interpreter or on the PATH; the table is for one version of it."""
    beside = shutil.which("agnix", path=str(Path(sys.executable).parent))
    found = beside or shutil.which("agnix")
    if found is None:
        pytest.skip("agnix is not installed")
    said = subprocess.run([found, "--version"], capture_output=True, text=True, check=True).stdout.split()[-1]
    if said != VERSION:
        pytest.skip(f"the table is for agnix {VERSION}, this is {said}")
    return found


def complaints(folder: Path) -> list[dict[str, Any]]:
    config = folder / "agnix.toml"
    config.write_text(QUIET, "utf-8")
    words = [agnix(), "--format", "json", "--config", str(config), str(folder)]
    run = subprocess.run(words, capture_output=True, text=True, check=False)
    assert run.stdout.startswith("{"), run.stderr
    found: list[dict[str, Any]] = json.loads(run.stdout)["diagnostics"]
    return found


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("agent", list_agents())
def test_says_only_what_we_know(agent: str, source: str, tmp_path: Path) -> None:
    found = complaints(generate(tmp_path, agent, source))
    said = "\n".join(f"{one['rule']} {one['file']}: {one['message']}" for one in found)
    known = {rule for rule, sources in facts_of(agent).agnix.items() if source in sources}
    assert {one["rule"] for one in found} == known, said


@pytest.mark.parametrize("agent", [name for name in list_agents() if facts_of(name).agnix_looks])
def test_looks_into_the_files(agent: str, tmp_path: Path) -> None:
    generate(tmp_path, agent, "plain")
    for path in tmp_path.rglob("*.json"):
        wrong = re.sub(
            r'"(?:preToolUse|BeforeTool|beforeShellExecution|pre_run_command)"',
            '"NoSuchEvent"',
            path.read_text("utf-8"),
            flags=re.IGNORECASE,
        )
        path.write_text(wrong, "utf-8")
    for path in tmp_path.rglob("PreToolUse"):
        path.rename(path.with_name("NoSuchEvent"))
    assert any("NoSuchEvent" in one["message"] for one in complaints(tmp_path))


def test_every_disagreement_is_decided() -> None:
    told = set(re.findall(r"^### ([A-Z]+(?:-[A-Z]+)*-\d+)", PAGE.read_text("utf-8"), re.MULTILINE))
    assert told == {rule for facts in FACTS.values() for rule in facts.agnix}
