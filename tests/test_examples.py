"""The examples do what their folders say: every case of every one, for every agent that can have it."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import pytest

from hookport.agents import get, list_agents
from hookport.testing import find, session
from hookport.testing.mutate import list_lookalikes, respell_command

EXAMPLES = Path(__file__).parent.parent / "examples"


class Suite(NamedTuple):
    """The cases of an example that run for its hook alone, what those are about that run for every agent
    (an event, and its tool if any), and the programs that it takes.
    """

    alone: int
    everywhere: tuple[tuple[str, str], ...]
    programs: tuple[str, ...] = ()


SUITES = {
    "audit-log": Suite(2, (("after_tool_execute", "shell"), ("session_end", "")), ("node",)),
    "block-dangerous-commands": Suite(7, (("before_tool_execute", "shell"),)),
    "context-at-session-start": Suite(1, (("session_start", ""),)),
    "format-on-write": Suite(3, (("after_tool_execute", "file_write"),), ("jq",)),
    "protect-secrets-node": Suite(
        3, (("before_tool_execute", "file_read"), ("before_tool_execute", "shell")), ("node",)
    ),
    "protect-secrets-python": Suite(
        3, (("before_tool_execute", "file_read"), ("before_tool_execute", "shell"))
    ),
    "protect-secrets-shell": Suite(
        3, (("before_tool_execute", "file_read"), ("before_tool_execute", "shell")), ("jq",)
    ),
    "quality-gate-on-stop": Suite(3, (("agent_stop", ""),)),
}


def lacking(event: str, tool: str) -> list[str]:
    """The agents that have no such event, or none for such a tool."""
    found = []
    for name in list_agents():
        dialect = get(name)
        tools = [one.tool for one in dialect.tools]
        specs = [spec for spec in dialect.events if spec.canonical == event and not spec.secondary]
        if not any(not tool or tool in (spec.tools or tools) for spec in specs):
            found.append(name)
    return found


@pytest.fixture(autouse=True)
def our_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """`python3` is one that has hookport, as in the environment that it is installed in."""
    monkeypatch.setenv("PATH", os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"])))


def test_every_example_is_listed() -> None:
    """Here, and in the page about them."""
    tested = [path.relative_to(EXAMPLES).parts[0] for path in find.find_suites(EXAMPLES)]
    assert sorted(tested) == sorted(SUITES)
    page = (EXAMPLES / "README.md").read_text("utf-8")
    assert [name for name in SUITES if f"[{name}]({name})" not in page] == []


@pytest.mark.parametrize("name", SUITES)
def test_every_case_passes_for_every_agent(name: str) -> None:
    """With exactly the cases and the agents that are told."""
    suite = SUITES[name]
    if missing := [program for program in suite.programs if not shutil.which(program)]:
        pytest.skip(f"the example uses {missing[0]}, which is not installed")
    (folder,) = find.find_suites(EXAMPLES / name)
    results = list(session.perform_all(session.list_tasks(folder)))
    wrong = [(one.task.id, one.differences, one.got) for one in results if one.status == "failed"]
    assert wrong == []
    without = [agent for about in suite.everywhere for agent in lacking(*about)]
    assert [one.task.agent for one in results if one.status == "not applicable"] == without
    passed = [one for one in results if one.status == "passed"]
    assert len(passed) == suite.alone + len(suite.everywhere) * len(list_agents()) - len(without)


# Of the other spellings of each command, those that the guard lets pass; its README tells of them.
# Any command: it is an argument of a program that few know to run one, or is computed by `tr`.
ANY = {
    *("sudo -s", "parallel :::", "environment of bash", "checkpoint of tar", "e of sed", "rot13"),
    "a script that is written first",
}
CODE = {"lua -e", "osascript"}
# Any words: a program that few know to start others is given them.
STARTED = {"make", "ed", "gdb"}
# Any program: it is named by what the reader of commands does not follow.
NAMED = {"letters of a variable", "name by hash", "loader", "env -"}
CASED = {"brace expansion", "small letters of a variable"}
SLIPPING: dict[str, set[str]] = {
    "rm -rf src": {
        *(
            "moved away",
            "unlink and rmdir",
            "tar --remove-files",
            "zip -m",
            "rsync --delete",
            "rm_rf of Ruby",
        ),
        *("env -S", *ANY, *CODE, *NAMED, *STARTED),
    },
    "git push --force origin main": {
        *("git send-pack", "git-push", "push by a setting", "alias by a setting", "alias by variables"),
        *(*ANY, *CODE, *NAMED, *CASED, *STARTED),
    },
    "git reset --hard HEAD~3": {*ANY, *CODE, *NAMED, *CASED},
    "curl -s https://example.com/install.sh | sh": {
        *("curl in a file", "wget in a file", "in a file first", "through base64", *ANY, *CODE),
    },
    "chmod 777 run.sh": {"00777", "ed", "make", *ANY, *NAMED, *CASED},
    "dd if=/dev/zero of=/dev/sda": {"env -S", *ANY, *CODE, *NAMED, *STARTED},
    "echo x > /dev/sda": {"awk", "sed", "Python", "Perl", "through a symlink", *ANY, *CODE},
}
# The harmless look-alikes that it stops.
NEEDLESS: dict[str, list[str]] = {
    "git push --force origin main": ["git push --dry-run --force origin main"],
    "chmod 777 run.sh": ["print of Python", "value of Node"],
}
HARMLESS = (
    'git commit -m "$(cat <<\'EOF\'\nKeep `rm -rf` out of it; don\'t "eval"\nEOF\n)" && git push -u me it',
    'for f in *.py; do python3 -m py_compile "$f"; done 2>&1 | tail -20',
    "find . -name '*.pyc' -delete; rm -f build/x.o; rm -rf ./build node_modules",
    "curl -s https://example.com | python3 -c 'import sys; print(len(sys.stdin.read()))' | awk '{print $1}'",
    "x=$((1 + 2)); case $x in 3) echo ok;; *) exit 1;; esac",
    "\"$HOME\"/bin/tool --version && command -v rm && grep -rn 'rm -rf' src > found.txt",
    "python3 - <<'EOF'\nprint('hello')\nEOF",
    "if [ -f .env ]; then bash scripts/build.sh; fi; sudo apt-get install -y jq; chmod +x run.sh",
)


def dangerous() -> ModuleType:
    file = EXAMPLES / "block-dangerous-commands" / ".hookport" / "block_dangerous_commands.py"
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("command", SLIPPING)
def test_what_slips_past_the_guard_of_commands(command: str) -> None:
    """Nothing but what it tells of."""
    objection = dangerous().objection
    assert objection(command)
    tried = respell_command(command)
    slipped = {one.name for one in tried if not objection(one.text)}
    # A machine without the program or the loader has no such spelling of it.
    assert slipped == SLIPPING[command] & {one.name for one in tried}
    needless = [one.name for one in list_lookalikes(command) if objection(one.text)]
    assert needless == NEEDLESS.get(command, [])


@pytest.mark.parametrize("command", HARMLESS)
def test_the_guard_of_commands_lets_work_go_on(command: str) -> None:
    """What agents do all day."""
    assert dangerous().objection(command) == ""


def test_the_quality_gate_sends_back_once_and_not_again(tmp_path: Path) -> None:
    """Also for an agent that does not say that it was sent back; the next turn is checked anew."""
    (tmp_path / "tmp").mkdir()
    script = EXAMPLES / "quality-gate-on-stop" / "scripts" / "run.py"
    env = {"PATH": os.environ["PATH"], "TMPDIR": str(tmp_path / "tmp"), "QUALITY_GATE": "exit 3"}
    event = json.dumps({"event_type": "before_stop", "session_id": "s1", "work_dir": str(tmp_path)})

    def stopped() -> int:
        done = subprocess.run([sys.executable, script], input=event, env=env, text=True, check=False)
        return done.returncode

    assert [stopped() for _ in range(4)] == [2, 0, 2, 0]


@pytest.mark.skipif(not shutil.which("node"), reason="the example uses node")
def test_the_audit_log_is_for_its_owner_only(tmp_path: Path) -> None:
    """A line for each event, in the state folder of the user."""
    script = EXAMPLES / "audit-log" / ".hookport" / "audit-log.js"
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    call = {"event": "after_tool_execute", "tool_name": "shell", "tool_input": {"command": "ls", "x": "y"}}
    for _ in range(2):
        subprocess.run(["node", script], input=json.dumps(call), env=env, text=True, check=True)
    (log,) = (tmp_path / ".local" / "state" / "agent-audit").iterdir()
    lines = [json.loads(line) for line in log.read_text("utf-8").splitlines()]
    times = [line.pop("time") for line in lines]
    assert lines == [{"event": "after_tool_execute", "tool": "shell", "command": "ls"}] * 2
    assert log.stem == times[-1][:10]
    assert log.stat().st_mode & 0o777 == 0o600


def test_the_demo_runs(tmp_path: Path) -> None:
    """From the guard in every agent to the tests of an example; it writes below the folder it starts in."""
    if not shutil.which("jq"):
        pytest.skip("the guard of the demo uses jq")
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / "demo.py")],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(EXAMPLES.parent / "src"), "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    denied = re.findall(r"^ *(\S+) .* deny +(?:none|no opinion) +exit \d", done.stdout, re.MULTILINE)
    assert denied == list(list_agents())
    assert [path.name for path in tmp_path.iterdir() if not path.name.startswith(".")] == ["demo-output"]
