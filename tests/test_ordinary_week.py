"""A week of ordinary work: nothing is denied that should not be, and every denial says how to go on.

A step is a command in the project, a file that is written, or a command of hookport by the person. After each
one, agents make harmless calls in turn. A step with `asks` changes a guard: the next call is denied, and the
command that the denial names, run by the person, makes the same call pass.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
from itertools import cycle
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests import agent_data, forks
from tests.test_approval_states import Repository

pytestmark = pytest.mark.skipif(os.name == "nt", reason="hooks here are shell scripts")

# Agent, event, a captured payload, and the command in it.
CALLERS: list[tuple[str, str, str, tuple[str, ...]]] = [
    ("codex", "PreToolUse", "codex/PreToolUse.Bash.json", ("tool_input", "command")),
    ("claude-code", "PreToolUse", "claude-code/PreToolUse.Bash.json", ("tool_input", "command")),
    (
        "gemini-cli",
        "BeforeTool",
        "gemini-cli/BeforeTool.run_shell_command.json",
        ("tool_input", "command"),
    ),
    ("copilot-cli", "preToolUse", "copilot-cli/preToolUse.bash.json", ("toolArgs", "command")),
    ("cursor", "beforeShellExecution", "", ("command",)),
]
CURSOR = {"conversation_id": "c", "generation_id": "g", "hook_event_name": "beforeShellExecution"}
# A guard of Claude Code that sources a library, reads data and writes a log; one in a HOOK.md folder that
# imports and writes a log; one of the interchange format that keeps a counter and runs a module.
GUARD = """#!/bin/bash
. "$(dirname "$0")/lib.sh"
echo "$(date)" >> "$(dirname "$0")/audit.log"
grep -qf "$(dirname "$0")/deny.txt" && deny "$REASON"
exit 0
"""
LIB = 'REASON="forbidden"\ndeny() { echo "$1" >&2; exit 2; }\n'
HOOK_MD = """---
name: paths
description: keeps agents out of production
trigger: before_tool
matcher:
  tool: Shell
---
"""
RUN_PY = """import json, os, sys
import rules
with open(os.path.join(os.environ["HOME"], "calls.log"), "a") as log:
    log.write("call\\n")
if rules.is_bad(json.load(sys.stdin)):
    print("production", file=sys.stderr)
    sys.exit(2)
"""
RULES = "def is_bad(event):\n    return 'kubectl' in str(event)\n"
COUNTER = (
    'cd "$(git rev-parse --show-toplevel)" && n=$(cat .count 2>/dev/null || echo 0); '
    "echo $((n + 1)) > .count; python3 -m tools.check"
)
CHECK = "import sys\nif 'sudo' in sys.stdin.read():\n    print('no sudo', file=sys.stderr)\n    sys.exit(2)\n"


class Step(NamedTuple):
    """What is done; `asks`: a guard is another one after it; `exits`: how it may end."""

    what: str
    asks: bool = False
    exits: tuple[int, ...] = (0,)


class Week(Repository):
    """A repository with guards of three formats."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        handler = {"type": "command", "command": '"$CLAUDE_PROJECT_DIR"/guards/guard.sh'}
        groups = [{"matcher": "Bash", "hooks": [handler]}]
        self.write(".claude/settings.json", json.dumps({"hooks": {"PreToolUse": groups}}, indent=2))
        self.write("guards/guard.sh", GUARD).chmod(0o755)
        self.write("guards/lib.sh", LIB)
        self.write("guards/deny.txt", "rm -rf /\n")
        self.write(".agents/hooks/paths/HOOK.md", HOOK_MD)
        self.write(".agents/hooks/paths/scripts/run.py", RUN_PY)
        self.write(".agents/hooks/paths/scripts/rules.py", RULES)
        hook = {
            "name": "counter",
            "event": "before_tool_execute",
            "blocking": True,
            "handler": {"type": "command", "command": COUNTER},
        }
        self.write(".hookport/hooks.json", json.dumps({"spec": "hooks/1.0", "hooks": [hook]}))
        self.write("tools/__init__.py", "")
        self.write("tools/check.py", CHECK)
        self.write(".gitignore", "node_modules/\n.venv/\n*.log\n.count\n__pycache__/\n.env\ndist/\n")
        self.write("package.json", '{"scripts": {"test": "true"}}\n')
        self.write("src/main.py", "print('hello')\n")
        self.write(".codex/config.toml", "")
        self.commit("guards")
        self.callers = cycle(CALLERS)

    def sh(self, text: str, exits: tuple[int, ...] = (0,)) -> None:
        """What a person types, or an agent's tool runs."""
        if text.startswith("hookport "):
            done = self.run(*text.split()[1:])
        else:
            done = subprocess.run(
                ["bash", "-c", text], cwd=self.root, env=self.env, capture_output=True, text=True, check=False
            )
        assert done.returncode in exits, (text, done.stdout, done.stderr)

    def call(self, command: str = "ls src", session: str = "s") -> tuple[str, str]:
        """The next agent, and why its call is denied; empty where it is not."""
        agent, event, path, place = next(self.callers)
        payload: dict[str, Any] = json.loads(agent_data.payload(path).read_text()) if path else dict(CURSOR)
        inner = payload
        for name in place[:-1]:
            inner = inner[name]
        inner[place[-1]] = command
        for name in ("session_id", "sessionId"):
            if name in payload:
                payload[name] = session
        payload["cwd"] = str(self.root)
        if agent == "cursor":
            payload["workspace_roots"] = [str(self.root)]
        done = forks.run(["dispatch", agent, event], self.root, self.env, json.dumps(payload))
        said = done.stdout + done.stderr
        return agent, said if done.returncode == 2 or '"deny"' in said or '"block"' in said else ""


def edit(path: str, text: str) -> str:
    """The command that writes a file."""
    return f"mkdir -p $(dirname {path}) && printf '%s' {shlex.quote(text)} > {path}"


STEPS = [
    # Monday: a clone is set up.
    Step("hookport trust --yes"),
    Step("git add -A && git commit -qm lock"),
    Step("hookport trust --check"),
    Step("mkdir -p node_modules/x && echo 'module.exports = 1' > node_modules/x/index.js"),
    Step("mkdir -p .venv/bin && echo x > .venv/bin/activate"),
    Step(edit("package-lock.json", "{}")),
    Step(edit("package.json", '{"scripts": {"test": "true", "lint": "true"}}')),
    Step("git add -A && git commit -qm 'install'"),
    Step(edit("src/main.py", "print('edited by an agent')\n")),
    Step(edit("src/new.py", "x = 1\n")),
    Step("python3 src/main.py"),
    Step(edit(".env", "SECRET=1\n")),
    Step("git switch -qc feature"),
    Step("git add -A && git commit -qm 'feature'"),
    # Tuesday: branches, stashes, files of all kinds.
    Step(edit("README", "hello again\n")),
    Step("git stash -q"),
    Step("git switch -q main"),
    Step("git switch -q feature"),
    Step("git stash pop -q"),
    Step("git commit -qam readme"),
    Step(edit("guards/notes.txt", "why there are guards\n")),
    Step(edit("guards/README.md", "guards\n")),
    Step("git add -A && git commit -qm notes"),
    Step("rm -rf node_modules && mkdir node_modules && echo y > node_modules/y"),
    Step(edit("dist/out.js", "built\n")),
    Step("touch src/main.py .claude/settings.json guards/guard.sh"),
    Step("git switch -q main && git merge -q feature"),
    Step("git tag v1 && git branch -d feature -q"),
    Step("hookport status"),
    Step("hookport doctor", exits=(0, 1)),
    # Wednesday: a colleague's change of a guard is pulled.
    Step(
        "rm -rf ../colleague && git clone -q . ../colleague && cd ../colleague && "
        "printf 'rm -rf /\\nmkfs\\n' > guards/deny.txt && git commit -qam 'deny more'"
    ),
    Step("git pull -q ../colleague main", asks=True),
    Step("git add -A && git commit -qm lock"),
    Step("git switch -qc old v1"),
    Step("git switch -q main"),
    Step("git checkout -q HEAD~1 && git checkout -q main"),
    Step(
        "git bisect start HEAD v1 -q >/dev/null 2>&1; git bisect reset -q >/dev/null 2>&1; git switch -q main"
    ),
    Step("git worktree add -q ../tree -b tree && git worktree remove --force ../tree"),
    Step(edit("tests/test_main.py", "def test(): pass\n")),
    Step("python3 -m compileall -q src guards tools || true"),
    # Thursday: a hook is changed on purpose, one is added, one is taken away.
    Step(edit("guards/lib.sh", LIB.replace("forbidden", "forbidden here")), asks=True),
    Step("git add -A && git commit -qm 'better words'"),
    Step(edit(".agents/hooks/paths/scripts/rules.py", RULES.replace("kubectl", "kubectl delete")), asks=True),
    Step(edit(".agents/hooks/paths/scripts/more.py", "x = 1\n"), asks=True),
    Step("git add -A && git commit -qm 'rules'"),
    Step("git rebase -q v1"),
    Step("git reset -q --hard HEAD"),
    Step("git switch -qc without && git rm -q -r .agents && git commit -qm 'no paths'", asks=True),
    Step("git add -A && git commit -qm lock"),
    Step("git switch -q main"),
    Step("git switch -q without"),
    Step("git switch -q main"),
    Step(edit("tools/helper.py", "unused = 1\n")),
    Step(edit("tools/check.py", f"import tools.helper\n{CHECK}"), asks=True),
    Step("git add -A && git commit -qm 'check more'"),
    # Friday: installing, vendoring, upgrading, and taking it back.
    Step("hookport sync --agent codex --mode bridge", exits=(0, 1)),
    Step("hookport status"),
    Step("hookport unsync"),
    Step("hookport undo --yes"),
    Step("hookport undo --yes"),
    Step("hookport vendor"),
    Step("hookport trust --yes"),
    Step("hookport undo --yes"),
    Step("hookport trust --yes"),
    Step("rm -rf ~/.cache/hookport"),
    Step("git clean -qfd src && git gc -q"),
    Step(edit(".gitignore", "node_modules/\n.venv/\n*.log\n.count\n__pycache__/\n.env\ndist/\nbuild/\n")),
    Step("git add -A && git commit -qm 'the end of a week' --allow-empty"),
    Step("hookport trust --check"),
]


@pytest.mark.parametrize("calls", [1, pytest.param(2, marks=pytest.mark.long)])
def test_a_week_of_ordinary_work(tmp_path: Path, calls: int) -> None:
    week = Week(tmp_path.resolve())
    assert len(STEPS) >= 60
    for number, step in enumerate(STEPS):
        week.sh(step.what, step.exits)
        session = f"day-{number // 10}"
        if step.asks:
            # Claude Code runs hooks of its own settings by itself.
            agent, said = week.call(session=session)
            if agent == "claude-code":
                agent, said = week.call(session=session)
            remedies = re.findall(r"`(hookport [a-z ]+)`", said)
            assert remedies, (step, agent, said)
            assert "own terminal" in said
            week.sh(f"{remedies[0]} --yes")
        for _ in range(calls):
            agent, said = week.call(session=session)
            assert said == "", (number, step.what, agent)
    # The guards did not sleep: each agent is still kept from what they are for.
    for command in (
        ["rm -rf /"] * len(CALLERS) + ["kubectl delete x"] * len(CALLERS) + ["sudo ls"] * len(CALLERS)
    ):
        agent, said = week.call(command)
        assert said or (agent == "claude-code" and command == "rm -rf /"), (agent, command)
