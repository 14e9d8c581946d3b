"""No command that hookport writes names a variable that may be unset, but for what its user wrote.

Grok Build 1.0.41 reads other agents' files and drops a command that names one, also in quotes and also where
the command itself sets it. Only a default helps.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from hookport.agents import get, get_wire, list_agents, list_dialects
from hookport.convert import pipeline
from hookport.convert.degrade.wrapping import wrap_command
from hookport.install import files, sync
from hookport.install.sync import SyncRequest
from hookport.install.targets import Scope
from hookport.shapes.dialect import find_variable
from tests import kitchen

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from hookport.model.hooks import Hook

BARE = re.compile(r"\$(?:[A-Za-z_]\w*|\{[A-Za-z_]\w*\})")
HUB = next(name for name in list_dialects() if get(name).is_hub)
TARGETS = [name for name in list_dialects() if name != HUB]
# What the manifest's own commands and headers name.
OWN = {"$value", "${value}"}
GUARD = "---\nname: guard\ndescription: d\ntrigger: before_tool\nmatcher: {tool: Shell}\n---\n"


def bare(hooks: Iterator[Hook] | tuple[Hook, ...], own: set[str]) -> set[str]:
    """The variables without a default in the commands for Unix, but for the user's."""
    texts = [
        text
        for hook in hooks
        for name, text in (("", hook.handler.command), *hook.handler.platform.items())
        if name != "windows"
    ]
    return {name for text in texts for name in BARE.findall(text)} - own


def read(dialect: str, texts: Mapping[str, bytes]) -> tuple[Hook, ...]:
    return pipeline.read(texts, get(dialect)).decoded.manifest.hooks if texts else ()


def written(reading: pipeline.Reading, target: str) -> tuple[Hook, ...]:
    result = pipeline.convert(reading, get(target))
    return read(target, {file.path: file.text.encode() for file in result.files})


@pytest.mark.parametrize("target", TARGETS)
def test_what_is_carried_in_a_command_has_defaults(target: str) -> None:
    assert bare(written(kitchen.reading(HUB), target), OWN) == set()


def spellings(source: str) -> list[str]:
    """The ways in which a dialect names the project's root by a variable, but for the shell's own."""
    return [root for root in get(source).project_dir if find_variable(root) and "PWD" not in root]


def rooted(source: str) -> pipeline.Reading:
    """A guard for each of them."""
    hooks: list[dict[str, Any]] = [
        {
            "event": "before_tool_execute",
            "matcher": "shell",
            "handler": {"type": "command", "command": f'"{root}"/a/guard-{number}.sh'},
            "blocking": True,
            "provider_data": {"hookport": {"dialect": source}},
        }
        for number, root in enumerate(spellings(source))
    ]
    tree = {"spec": "hooks/1.0", "hooks": hooks}
    return pipeline.read({get(HUB).locations[0].path: json.dumps(tree).encode()}, get(HUB))


@pytest.mark.parametrize("source", [name for name in TARGETS if spellings(name)])
def test_the_root_of_a_project_has_a_default(source: str) -> None:
    reading = rooted(source)
    found = {target: bare(written(reading, target), set()) for target in TARGETS if target != source}
    assert {target: names for target, names in found.items() if names} == {}


def write_guards(root: Path) -> None:
    """A guard in a folder of its own, and one in a plugin."""
    texts = {
        ".agents/hooks/guard/HOOK.md": GUARD,
        ".agents/hooks/guard/scripts/run.sh": "#!/bin/sh\nexit 2\n",
        ".agents/plugins/p/plugin.json": '{"name": "p"}',
        ".agents/plugins/p/hooks/hooks.json": json.dumps(
            {
                "hooks": {
                    "PreToolUse": [
                        {
                            "matcher": "Bash",
                            "hooks": [{"type": "command", "command": "${PLUGIN_ROOT}/hooks/g.sh"}],
                        }
                    ]
                }
            }
        ),
        ".agents/plugins/p/hooks/g.sh": "#!/bin/sh\nexit 2\n",
    }
    for path, text in texts.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
        file.chmod(0o755)


@pytest.mark.parametrize("mode", ["bridge", "native", "vendored"])
@pytest.mark.parametrize("agent", list_agents())
def test_an_installed_command_has_defaults(agent: str, mode: str, tmp_path: Path) -> None:
    root, home = tmp_path / "project", tmp_path / "home"
    (root / ".git").mkdir(parents=True)
    home.mkdir()
    env = {
        "HOME": str(home),
        "PATH": "/usr/bin:/bin",
        "HOOKPORT_STATE_DIR": str(tmp_path / "state"),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
    }
    scope: Scope = "project" if any(place.scope == "project" for place in get(agent).locations) else "user"
    write_guards(root if scope == "project" else home)
    if mode == "vendored" and scope == "user":
        pytest.skip("the bridge is kept in a project")
    wish = SyncRequest((agent,), scope, "native" if mode == "native" else "bridge", mode == "vendored")
    plan = sync.plan_sync(str(root), env, wish)
    files.apply(plan.changes, env, what="sync")
    paths = [Path(path) for one in plan.agents if one.agent == agent for path in one.paths]
    hooks = read(agent, {str(path): path.read_bytes() for path in paths if path.is_file()})
    assert hooks
    assert bare(hooks, set()) == set()


def test_a_variable_that_the_bridge_sets_has_a_default() -> None:
    for name in list_agents():
        for variable in get_wire(name).env:
            command = wrap_command(f'"${variable}"/a "${{{variable}}}"/b', (name, name, "x"), [], "")
            assert BARE.findall(command) == [], command


@pytest.mark.skipif(os.name == "nt", reason="a shell runs them")
@pytest.mark.parametrize("agent", [name for name in list_agents() if get(name).project_dir])
def test_without_its_variable_a_root_is_the_folder_that_the_command_starts_in(
    agent: str, tmp_path: Path
) -> None:
    root = get(agent).project_dir[0]
    script = tmp_path / "it"
    script.write_text("#!/bin/sh\necho ran\n", "utf-8")
    script.chmod(0o755)
    done = subprocess.run(
        ["/bin/sh", "-u", "-c", f'"{root}"/it'],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        check=False,
    )
    assert done.stdout == b"ran\n", done.stderr
