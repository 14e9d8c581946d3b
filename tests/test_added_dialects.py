"""A dialect of another package: everything that holds for our own holds for it, installed and vendored."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import time
from pathlib import Path
from typing import Any

import pytest

import hookport
from hookport.runtime import trust
from hookport.vendor import vendored, writer

pytestmark = pytest.mark.skipif(os.name == "nt", reason="hooks here are shell scripts")

PACKAGE = Path(__file__).parent / "packages" / "my-agent"
SOURCE, TESTS = Path(hookport.__file__).parents[1], Path(__file__).parents[1]
CALL = {"what": "tool.before", "talk": "1", "tool": "run", "with": {"line": "ls"}}
DENIED = {"verdict": "no", "because": "not here"}
SETTINGS = {
    "hooks": {
        "PreToolUse": [
            {"matcher": "Bash", "hooks": [{"type": "command", "command": "echo not here >&2; exit 2"}]}
        ]
    }
}
# Every pair that the dialect is one half of, with nothing lost in silence (see test_matrix.py).
PAIRS = """
from hookport.convert import pipeline
from hookport.agents import get, list_added, list_dialects
from tests import kitchen

assert list_added() == ("my-agent",)
guard = b'{"matcher": "run", "hooks": [{"type": "command", "command": "./guard"}]}'
text = b'{"hooks": {"tool.before": [' + guard + b"]}}"
mine = pipeline.read({".my-agent/hooks.json": text}, get("my-agent"))
pairs = [(mine, name) for name in list_dialects()]
pairs += [(kitchen.reading(name), "my-agent") for name in list_dialects() if name != "my-agent"]
for reading, target in pairs:
    result = pipeline.convert(reading, get(target))
    assert len(result.effects) == len(reading.decoded.manifest.hooks), (reading.dialect.id, target)
    reported = {finding.hook for finding in result.findings}
    lost = {number for number, effect in enumerate(result.effects) if effect == "dropped"}
    assert lost <= reported, (reading.dialect.id, target)
    assert result.files, (reading.dialect.id, target)
print(len(pairs))
"""
ODD = """
import my_agent
from hookport.wire.table import Wire
DIALECT = my_agent.DIALECT._replace(id="odd", wire=Wire(keys={"a": open}))
"""


class Machine:
    """A home with an environment of Python that has hookport, and perhaps the package."""

    def __init__(self, folder: Path, python: Path) -> None:
        self.home, self.python = folder / "home", python
        self.home.mkdir(parents=True)
        self.env = {"PATH": os.environ["PATH"], "HOME": str(self.home), "NO_COLOR": "1"}

    @property
    def packages(self) -> Path:
        return next(self.python.parents[1].glob("lib/python3*/site-packages"))

    def install(self) -> None:
        shutil.copytree(PACKAGE, self.packages, dirs_exist_ok=True)

    def uninstall(self) -> None:
        (self.packages / "my_agent.py").unlink()
        shutil.rmtree(self.packages / "my_agent-1.0.dist-info")

    def hookport(self, root: Path, *words: str, env: dict[str, str] | None = None) -> str:
        """What a command prints, and its exit code at the end."""
        done = subprocess.run(
            [self.python, "-m", "hookport", *words],
            cwd=root,
            env={**self.env, **(env or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        return f"{done.stdout}{done.stderr}=> {done.returncode}"


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """What pip makes of a wheel is a copy of its files beside those of others."""
    venv = tmp_path.resolve() / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(venv)], check=True, timeout=60)
    made = Machine(tmp_path.resolve() / "mine", venv / "bin" / "python")
    paths = (str(SOURCE), sysconfig.get_paths()["purelib"])
    (made.packages / "here.pth").write_text("".join(f"{path}\n" for path in paths))
    return made


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path.resolve() / "project"
    (root / ".git").mkdir(parents=True)
    (root / ".claude").mkdir()
    (root / ".claude" / "settings.json").write_text(json.dumps(SETTINGS))
    return root


def fired(root: Path, env: dict[str, str]) -> dict[str, Any]:
    """What the agent is told by its own entry."""
    entries = json.loads((root / ".my-agent" / "hooks.json").read_text())["hooks"]["tool.before"]
    (entry,) = entries[0]["hooks"]
    done = subprocess.run(
        ["/bin/sh", "-c", entry["command"]],
        cwd=root,
        env={**env, "MY_AGENT_ROOT": str(root)},
        input=json.dumps({**CALL, "dir": str(root)}),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")
    told: dict[str, Any] = json.loads(done.stdout or "{}")
    return told


def bridge(root: Path, event: str, agent: str = "my-agent", **env: str) -> tuple[int, str, str]:
    """What a machine that has nothing but Python answers."""
    done = subprocess.run(
        ["python3", "-I", "-S", str(root / vendored.ARCHIVE), "dispatch", agent, event],
        cwd=root,
        env={
            "PATH": os.environ["PATH"],
            trust.VARIABLE: trust.hash_file(str(root / trust.LOCK)),
            **env,
        },
        input=json.dumps({**CALL, "what": event}),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    return done.returncode, done.stdout, done.stderr


def test_every_pair_is_converted() -> None:
    path = os.pathsep.join(map(str, (PACKAGE, SOURCE, TESTS)))
    done = subprocess.run(
        [sys.executable, "-c", PAIRS],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert (done.stderr, int(done.stdout or 0) > 30) == ("", True)


def test_it_is_listed_synced_and_obeyed(machine: Machine, root: Path) -> None:
    machine.install()
    assert "my-agent " in machine.hookport(root, "dialects")
    assert "my-agent " in machine.hookport(root, "matrix")
    assert machine.hookport(root, "sync", "--agent", "my-agent").endswith("=> 0")
    machine.hookport(root, "trust", "--yes")
    for _ in range(2):
        assert fired(root, machine.env) == DENIED
    # The kept plan is gone, so the entry's own Python, which began without packages, makes another.
    shutil.rmtree(machine.home / ".cache")
    assert fired(root, machine.env) == DENIED
    assert "my-agent: 2 hooks, nothing found" in machine.hookport(root, "doctor")
    assert machine.hookport(root, "sync", "--check").endswith("=> 0")
    assert "my-agent  bridge  installed" in machine.hookport(root, "status")
    assert "my-agent" not in machine.hookport(root, "prove", "--list")


def test_a_plan_follows_the_packages(machine: Machine, root: Path) -> None:
    machine.install()
    machine.hookport(root, "sync", "--agent", "my-agent")
    machine.hookport(root, "trust", "--yes")
    machine.uninstall()
    shutil.rmtree(machine.home / ".cache", ignore_errors=True)
    payload = json.dumps({"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {}})
    words: list[str | Path] = [machine.python, "-I", "-S", SOURCE / "hookport" / "bridge.py", "dispatch"]
    time.sleep(0.05)
    subprocess.run(
        [*words, "claude-code", "PreToolUse"], cwd=root, env=machine.env, input=payload, text=True, check=True
    )
    machine.install()
    assert fired(root, machine.env) == DENIED
    text = (machine.packages / "my_agent.py").read_text()
    (machine.packages / "my_agent.py").write_text(text.replace('"verdict": "no"', '"verdict": "never"'))
    assert fired(root, machine.env) == {**DENIED, "verdict": "never"}


def test_the_archive_is_the_same_for_everybody(machine: Machine, root: Path) -> None:
    machine.install()
    machine.hookport(root, "vendor")
    assert (root / vendored.ARCHIVE).read_bytes() == writer.build_archive()


def test_a_deny_is_obeyed_where_nothing_is_installed(machine: Machine, root: Path) -> None:
    machine.install()
    assert machine.hookport(root, "sync", "--vendor", "--agent", "my-agent").endswith("=> 0")
    machine.hookport(root, "trust", "--yes")
    assert (
        fired(root, {"PATH": os.environ["PATH"], trust.VARIABLE: trust.hash_file(str(root / trust.LOCK))})
        == DENIED
    )
    code, stdout, stderr = bridge(root, "tool.before")
    assert (code, json.loads(stdout), stderr) == (0, DENIED, "")
    assert machine.hookport(root, "sync", "--check").endswith("=> 0")
    assert machine.hookport(root, "vendor", "--check").endswith("=> 0")
    assert machine.hookport(root, "doctor").endswith("my-agent: 2 hooks, nothing found\n=> 0")


def test_a_command_is_wrapped_where_nothing_is_installed(machine: Machine, root: Path) -> None:
    machine.install()
    machine.hookport(root, "vendor")
    script = """echo '{"verdict": "no", "because": "of me"}'"""
    done = subprocess.run(
        ["python3", root / vendored.ARCHIVE, "wrap", "my-agent", "claude-code", "PreToolUse", "--", script],
        env={"PATH": os.environ["PATH"]},
        input='{"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}}',
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    told = json.loads(done.stdout)["hookSpecificOutput"]
    assert (told["permissionDecision"], told["permissionDecisionReason"]) == ("deny", "of me")


def test_a_teammate_without_the_package_keeps_it(machine: Machine, root: Path) -> None:
    machine.install()
    machine.hookport(root, "sync", "--vendor", "--agent", "my-agent")
    machine.hookport(root, "trust", "--yes")
    machine.uninstall()
    told = machine.hookport(root, "vendor", "--check")
    assert ("HP867 the tables of my-agent are kept unchecked" in told, told[-4:]) == (True, "=> 0")
    (root / ".hookport" / "hooks.json").write_text(
        json.dumps(
            {
                "spec": "hooks/1.0",
                "hooks": [
                    {
                        "name": "more",
                        "event": "before_prompt",
                        "blocking": True,
                        "handler": {"type": "command", "command": "echo nor there >&2; exit 2"},
                    }
                ],
            }
        )
    )
    assert "HP862 the plan is stale" in machine.hookport(root, "vendor", "--check")
    assert machine.hookport(root, "sync").endswith("=> 0")
    machine.hookport(root, "trust", "--yes")
    assert json.loads(bridge(root, "tool.before")[1]) == DENIED
    assert json.loads(bridge(root, "prompt")[1]) == {**DENIED, "because": "nor there"}
    before = (root / vendored.PLAN).read_bytes()
    machine.install()
    assert "both files are up to date" in machine.hookport(root, "vendor")
    assert (root / vendored.PLAN).read_bytes() == before


def test_hooks_of_an_absent_dialect_are_never_lost(machine: Machine, root: Path) -> None:
    machine.install()
    text = (machine.packages / "my_agent.py").read_text()
    place = 'other_places={"run": (Location("project", ".my-agent/hooks.json", HERE),)},\n    project_dir='
    (machine.packages / "my_agent.py").write_text(text.replace("project_dir=", place))
    (root / ".my-agent").mkdir()
    own = {"type": "command", "command": "exit 2"}
    (root / ".my-agent" / "hooks.json").write_text(
        json.dumps({"hooks": {"tool.before": [{"matcher": "run", "hooks": [own]}]}})
    )
    machine.hookport(root, "vendor")
    before = (root / vendored.PLAN).read_bytes()
    assert b'"dialect":"my-agent"' in before
    machine.uninstall()
    for words in (("vendor",), ("vendor", "--check"), ("sync", "--vendor", "--agent", "cursor")):
        told = machine.hookport(root, *words)
        assert "the plan cannot be rebuilt or checked: my-agent is not installed here" in told
        assert "Install the package of my-agent" in told
        assert told[-4:] != "=> 0"
        assert (root / vendored.PLAN).read_bytes() == before


def test_a_bridge_that_was_made_without_it_is_a_failure(machine: Machine, root: Path) -> None:
    machine.hookport(root, "vendor")
    machine.hookport(root, "trust", "--yes")
    told = "this bridge was built without the dialect 'my-agent'."
    remedy = "Run `hookport sync --vendor` where hookport is installed with 'my-agent'."
    code, stdout, stderr = bridge(root, "tool.before")
    assert (code, stdout, told in stderr, remedy in stderr) == (1, "", True, True)
    assert "Nothing was decided (fail open)" in stderr
    code, stdout, stderr = bridge(root, "tool.before", HOOKPORT_ON_FAILURE="closed")
    assert (code, stdout, remedy in stderr, "It is denied (fail closed)" in stderr) == (2, "", True, True)
    # A stop that is denied each time never ends.
    assert bridge(root, "Stop", HOOKPORT_ON_FAILURE="closed")[0] == 1
    (root / ".hookport" / "config.json").write_text('{"on_failure": "closed"}')
    assert bridge(root, "tool.before")[0] == 2


def test_an_entry_for_what_the_bridge_lacks_is_found(machine: Machine, root: Path) -> None:
    machine.install()
    machine.hookport(root, "sync", "--vendor", "--agent", "my-agent")
    (root / vendored.PLAN).unlink()
    machine.uninstall()
    machine.hookport(root, "vendor")
    machine.install()
    for words in (("doctor",), ("sync", "--check")):
        told = machine.hookport(root, *words)
        assert "HP865" in told
        assert "calls the project's bridge for 'my-agent', an unknown dialect" in told
        assert told.endswith("=> 1")
    assert "the plan is stale: it was built without my-agent" in machine.hookport(root, "vendor", "--check")
    assert machine.hookport(root, "doctor", "--fix").count("HP865") == 0
    machine.hookport(root, "trust", "--yes")
    assert json.loads(bridge(root, "tool.before")[1]) == DENIED


def test_an_entry_for_what_hookport_does_not_know_is_found(machine: Machine, root: Path) -> None:
    program = f"{shlex.quote(str(machine.python))} {shlex.quote(str(SOURCE))}/hookport/bridge.py"
    call = f"{program} wrap your-agent claude-code Stop -- x"
    entry = {"hooks": [{"type": "command", "command": call}]}
    (root / ".claude" / "settings.json").write_text(json.dumps({"hooks": {"Stop": [entry]}}))
    assert "HP865" in machine.hookport(root, "doctor")


def test_a_package_that_entries_do_not_see_is_told(machine: Machine, root: Path) -> None:
    env = {"PYTHONPATH": str(PACKAGE)}
    told = machine.hookport(root, "sync", "--agent", "my-agent", env=env)
    assert f"HP825 entries cannot use 'my-agent': they do not see its package in {PACKAGE}" in told
    assert "HP825" in machine.hookport(root, "doctor", env=env)
    told = machine.hookport(root, "sync", "--vendor", "--agent", "my-agent", env=env)
    assert "HP825" not in told
    machine.install()
    assert "HP825" not in machine.hookport(root, "sync", "--agent", "my-agent")


@pytest.mark.parametrize(
    ("name", "code", "why"),
    [
        ("broken", "raise RuntimeError('oh no')", "added:DIALECT failed with RuntimeError: oh no"),
        ("absent", "OTHER = 1", "added:DIALECT failed with AttributeError"),
        ("other", "from my_agent import DIALECT", "added:DIALECT has the id 'my-agent'"),
        ("number", "DIALECT = 1", "added:DIALECT is not a Dialect"),
        ("cursor", "DIALECT = 1", "hookport itself has a dialect of that name, and added adds a second"),
        ("my-agent", "from my_agent import DIALECT", "added, my-agent each add a dialect of that name"),
        (
            "my agent",
            "import my_agent\nDIALECT = my_agent.DIALECT._replace(id='my agent')",
            "its name is not a valid id",
        ),
        ("odd", ODD, "TypeError"),
    ],
)
def test_one_that_cannot_be_used_costs_only_itself(
    machine: Machine, root: Path, name: str, code: str, why: str
) -> None:
    machine.install()
    (machine.packages / "added.py").write_text(code)
    info = machine.packages / "added-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: added\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[hookport.dialects]\n{name} = added:DIALECT\n")
    told = machine.hookport(root, "dialects")
    assert f"HP892 dialect '{name}' of another package is unusable: " in told
    assert (why in told, told.count("\ncursor "), told[-4:]) == (True, 1, "=> 1")
    assert "HP892" in machine.hookport(root, "doctor")
    assert machine.hookport(root, "sync", "--agent", "cursor").endswith("=> 0")
