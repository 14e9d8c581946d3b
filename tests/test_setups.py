"""Broken set-ups, as people have them: `doctor`, `why`, `status` and `check` each find what is wrong.

A row is a project with one thing wrong. For each command it names what the answer must have; every answer has
a fix, and `doctor` and `why` name the same finding. What a command cannot know (`check` reads files, it does
not ask agents) is None.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from hookport.cli import main
from hookport.doctor.commands import find_command_faults, make_surroundings
from hookport.doctor.needs import StartedScript, find_need
from hookport.install import sync
from hookport.install.sync import SyncRequest
from hookport.runtime import journal
from tests.approval import approve

GUARD = "#!/bin/sh\nexit 0\n"


def claude(command: str = '"$CLAUDE_PROJECT_DIR"/guard.sh', event: str = "PreToolUse", **more: object) -> str:
    entry = {"type": "command", "command": command}
    return json.dumps({**more, "hooks": {event: [{"matcher": "Bash", "hooks": [entry]}]}}, indent=1)


def gemini(command: str = "$GEMINI_PROJECT_DIR/guard.sh", event: str = "BeforeTool") -> str:
    entry = {"type": "command", "command": command}
    return json.dumps({"hooks": {event: [{"matcher": "run_shell_command", "hooks": [entry]}]}}, indent=1)


def cursor(command: str = "./guard.sh", event: str = "beforeShellExecution") -> str:
    return json.dumps({"version": 1, "hooks": {event: [{"command": command}]}}, indent=1)


def copilot(command: str = "./guard.sh", event: str = "preToolUse") -> str:
    return json.dumps({"version": 1, "hooks": {event: [{"type": "command", "bash": command}]}}, indent=1)


def windsurf(command: str = "./guard.sh", event: str = "pre_run_command") -> str:
    return json.dumps({"hooks": {event: [{"command": command}]}}, indent=1)


def canonical(**handler: object) -> str:
    hook = {"name": "ask", "event": "before_tool_execute", "blocking": True, "handler": handler}
    return json.dumps({"spec": "hooks/1.0", "hooks": [hook]}, indent=1)


def folder(trigger: str = "before_tool", more: str = "") -> str:
    return f"---\nname: guard\ndescription: guards\ntrigger: {trigger}\n{more}---\n"


SCRIPT = ".agents/hooks/guard/scripts/run.sh"


def hook_md(script: str = GUARD, name: str = SCRIPT, head: str = "") -> dict[str, str]:
    return {".agents/hooks/guard/HOOK.md": head or folder(), name: script}


def python(body: str, first: str = "#!/usr/bin/env python3") -> dict[str, str]:
    return hook_md(f"{first}\n{body}", ".agents/hooks/guard/scripts/run.py")


TRUSTED = {"~/.claude.json": '{"projects": {"{root}": {"hasTrustDialogAccepted": true}}}'}


class Setup(NamedTuple):
    """One broken set-up: the files, the hook's name, the agent, and what each command must say."""

    title: str
    files: Mapping[str, str]
    # The code that `doctor` and `why` name, and a word of the fix.
    code: str
    fix: str
    # A word of `status`, and of `check` its code; None where it cannot know.
    status: str | None
    check: str | None
    hook: str = "guard"
    agent: str = "claude-code"
    # Entries are installed and hooks approved before something breaks.
    installed: bool = True
    # Failed runs in the journal: what they wrote on stderr.
    stderr: str = ""
    env: Mapping[str, str] = {}
    # The gate at which `why` stops.
    gate: str = "starts"


def stray(file: str, text: str, fix: str, agent: str = "claude-code", hook: str = "guard") -> Setup:
    word = fix.rpartition(" ")[2] if fix.startswith("mv") else fix
    return Setup(
        f"misplaced {file}",
        {file: text, "guard.sh": GUARD},
        "HP726",
        word,
        "HP726",
        "HP726",
        hook,
        agent,
        installed=False,
        gate="found",
    )


def command(title: str, text: str, fix: str, hook: str = "settings.json", code: str = "HP525") -> Setup:
    scripts = dict.fromkeys(("guard.sh", "~/guard.sh", "~/guard.py"), GUARD)
    files = {".claude/settings.json": claude(text), **scripts, **TRUSTED}
    return Setup(title, files, code, fix, "failing", code, hook, installed=False)


SETUPS: list[Setup] = [
    # What cannot start.
    Setup(
        "CRLF in the first line", hook_md("#!/bin/sh\r\nexit 2\r\n"), "HP517", "sed -i", "failing", "HP517"
    ),
    Setup(
        "CRLF behind a named shell",
        {
            ".claude/settings.json": claude("sh $CLAUDE_PROJECT_DIR/guard.sh"),
            "guard.sh": "#!/bin/sh\r\nexit 2\r\n",
            **TRUSTED,
        },
        "HP517",
        "sed -i",
        "failing",
        "HP517",
        installed=False,
    ),
    Setup(
        "an interpreter that is nowhere",
        python("", "#!/usr/bin/env python9"),
        "HP876",
        "Install python9",
        "failing",
        "HP876",
    ),
    Setup(
        "an interpreter at another path",
        hook_md("#!/opt/none/bash\n"),
        "HP876",
        "Install",
        "failing",
        "HP876",
    ),
    Setup(
        "a program that is nowhere",
        {".claude/settings.json": claude("no-such-guard --check"), **TRUSTED},
        "HP876",
        "Install no-such-guard",
        "failing",
        "HP876",
        "no-such-guard",
        installed=False,
    ),
    Setup(
        "a byte order mark before the first line",
        hook_md("\ufeff#!/bin/sh\nexit 2\n"),
        "HP519",
        "sed -i",
        "failing",
        "HP519",
    ),
    Setup(
        "several words for env",
        python("", "#!/usr/bin/env python3 -u"),
        "HP520",
        "env -S",
        "failing",
        "HP520",
    ),
    Setup(
        "a shell script that does not parse",
        hook_md("#!/bin/sh\nif true; then\n  exit 2\n"),
        "HP518",
        "sh -n",
        "failing",
        "HP518",
    ),
    Setup(
        "a bash script that does not parse",
        hook_md("#!/usr/bin/env bash\necho $(\n"),
        "HP518",
        "bash -n",
        "failing",
        "HP518",
    ),
    Setup(
        "a Python script that does not parse",
        python("def guard(:\n    pass\n"),
        "HP518",
        "py_compile",
        "failing",
        "HP518",
    ),
    Setup(
        "Python without a first line",
        hook_md("import sys\nif (x := 1):\n    sys.exit(2)\n", ".agents/hooks/guard/scripts/run"),
        "HP518",
        "sh -n",
        "failing",
        "HP518",
    ),
    Setup(
        "a script that is missing",
        {".claude/settings.json": claude("$CLAUDE_PROJECT_DIR/gone.sh"), **TRUSTED},
        "HP503",
        "Create it",
        "failing",
        "HP503",
        "gone.sh",
        installed=False,
    ),
    Setup(
        "a script that is not executable",
        {".claude/settings.json": claude(), "guard.sh": "exit 2\n", **TRUSTED},
        "HP504",
        "chmod +x",
        "failing",
        "HP504",
        "guard.sh",
        installed=False,
    ),
    Setup(
        "a script in the home folder that does not parse",
        {".claude/settings.json": claude("$HOME/guard.sh"), "~/guard.sh": "#!/bin/sh\nif\n", **TRUSTED},
        "HP518",
        "sh -n ~/guard.sh",
        "failing",
        "HP518",
        "guard.sh",
        installed=False,
    ),
    Setup(
        "Python that a shell would read",
        python("", "import json, sys"),
        "HP518",
        "#!/usr/bin/env python3",
        "failing",
        "HP518",
    ),
    Setup(
        "a script of nothing but comments",
        hook_md("#!/bin/sh\n# to be written\n\n"),
        "HP527",
        "Write the script",
        "failing",
        "HP527",
    ),
    # What a script cannot do without.
    Setup(
        "a program that a script reads its payload with",
        hook_md('#!/bin/bash\nname=$(jq-of-nobody -r .tool_name)\n[ "$name" = Bash ] && exit 2\nexit 0\n'),
        "HP526",
        "Install jq-of-nobody",
        "failing",
        "HP526",
    ),
    Setup(
        "a program in a pipe of a condition",
        hook_md("#!/bin/sh\nif cat | rg-of-nobody 'rm -rf'; then exit 2; fi\n"),
        "HP526",
        "Install rg-of-nobody",
        "failing",
        "HP526",
    ),
    Setup(
        "a module that a script imports",
        python("import json\nfrom yaml_of_nobody import load\nsys.exit(2)\n"),
        "HP526",
        "has yaml_of_nobody for python3",
        "failing",
        "HP526",
    ),
    Setup(
        "a package that a script loads",
        hook_md(
            "#!/usr/bin/env node\nconst fs = require('fs');\nconst z = require('@of/nobody/x');\n",
            ".agents/hooks/guard/scripts/run.js",
        ),
        "HP526",
        "npm install @of/nobody",
        "failing",
        "HP526",
    ),
    Setup(
        "a command for another system only",
        {".github/hooks/g.json": copilot("./g.ps1").replace("bash", "powershell"), "g.ps1": "exit 2\n"},
        "HP528",
        "Add a command",
        "failing",
        "HP528",
        "g.json",
        "copilot-cli",
        installed=False,
    ),
    # What a shell makes of a command.
    command("a variable with a slip", '"$CLAUDE_PROJECT_DIRECTORY"/guard.sh', "CLAUDE_PROJECT_DIR"),
    # A file alone does not tell whether it is a plugin's.
    command(
        "a plugin's variable in a project", "${CLAUDE_PLUGIN_ROOT}/guard.sh", '"$CLAUDE_PROJECT_DIR"'
    )._replace(check=None),
    command("a variable that nobody sets", "$CLAUDE_HOOKS/guard.sh", "Set CLAUDE_HOOKS"),
    command("a home folder within quotes", '"~/guard.sh"', "$HOME"),
    command("a variable within single quotes", "'$CLAUDE_PROJECT_DIR/guard.sh'", "double quotes"),
    command("a script of an interpreter within quotes", "python3 '~/guard.py'", "$HOME"),
    command("typographic quotes", "\u201c$CLAUDE_PROJECT_DIR\u201d/guard.sh", 'Write "'),
    command(
        "a script in the home folder that is missing", 'bash "$HOME/gone.sh"', "Create it", "gone.sh", "HP503"
    ),
    command(
        "a script in the home folder, in braces", '"${HOME}"/hooks/gone.sh', "Create it", "gone.sh", "HP503"
    ),
    command("a path of Windows", "C:\\hooks\\guard.bat", "with slashes", "hooks.PreToolUse"),
    command("a folder to go into that is missing", "cd scripts && ./guard.sh", "Create it"),
    command("a script that is not in the folder", 'cd "$CLAUDE_PROJECT_DIR" && ./gone.sh', "Create it"),
    command("a quote that does not close", "sh -c 'exit 2", "sh -n -c", "hooks.PreToolUse", "HP524"),
    command("an if that does not end", "if true; then exit 2", "sh -n -c", "hooks.PreToolUse", "HP524"),
    # What stands at another depth, twice, or as something else.
    Setup(
        "events beside the key",
        {".claude/settings.json": json.dumps(json.loads(claude())["hooks"]), "guard.sh": GUARD, **TRUSTED},
        "HP108",
        '"hooks": {',
        "unavailable",
        "HP108",
        "guard.sh",
        installed=False,
        gate="recognised",
    ),
    Setup(
        "events beside the key, in an agent that looks below it",
        {".qwen/settings.json": json.dumps(json.loads(claude("./guard.sh"))["hooks"]), "guard.sh": GUARD},
        "HP108",
        '"hooks": {',
        "unavailable",
        "HP108",
        "guard.sh",
        "qwen-code",
        installed=False,
        gate="recognised",
    ),
    Setup(
        "the hooks twice in a file",
        {".claude/settings.json": claude()[:-1] + ', "hooks": {}}', "guard.sh": GUARD, **TRUSTED},
        "HP106",
        "Merge",
        "HP106",
        "HP106",
        "settings.json",
        installed=False,
        gate="recognised",
    ),
    Setup(
        "a handler without its list",
        {
            ".claude/settings.json": json.dumps(
                {"hooks": {"PreToolUse": [{"matcher": "Bash", "type": "command", "command": "./guard.sh"}]}}
            ),
            "guard.sh": GUARD,
            **TRUSTED,
        },
        "HP873",
        "Correct",
        "HP873",
        "",
        "settings.json",
        installed=False,
        gate="recognised",
    ),
    # What may not be asked, or has nothing to ask with.
    Setup(
        "a prompt hook without a model",
        {".hookport/hooks.json": canonical(type="prompt", prompt="ok?")},
        "HP522",
        "HOOKPORT_LLM_MODEL",
        "failing",
        "HP522",
        "ask",
    ),
    Setup(
        "a prompt hook without a key",
        {".hookport/hooks.json": canonical(type="prompt", prompt="ok?")},
        "HP522",
        "API_KEY",
        "failing",
        "HP522",
        "ask",
        env={"HOOKPORT_LLM_MODEL": "anthropic:claude-x"},
    ),
    Setup(
        "plain HTTP to another machine",
        {".hookport/hooks.json": canonical(type="http", url="http://h.example/x")},
        "HP521",
        "https",
        "failing",
        "HP521",
        "ask",
    ),
    Setup(
        "a login in the address",
        {".hookport/hooks.json": canonical(type="http", url="https://me:secret@h.example/x")},
        "HP521",
        "header",
        "failing",
        "HP521",
        "ask",
    ),
    Setup(
        "an address without a scheme",
        {".hookport/hooks.json": canonical(type="http", url="h.example/x")},
        "HP521",
        "whole address",
        "failing",
        "HP521",
        "ask",
    ),
    # What the journal shows.
    Setup(
        "a Python module that is missing",
        python("def main():\n    import requests_of_nobody\nmain()\n"),
        "HP523",
        "pip install",
        "failing since",
        "HP523",
        stderr="Traceback:\nModuleNotFoundError: No module named 'requests_of_nobody'\n",
    ),
    Setup(
        "a Node.js package that is missing",
        hook_md(),
        "HP523",
        "npm install",
        "failing since",
        "HP523",
        stderr="Error: Cannot find module 'left-pad'\nRequire stack:\n",
    ),
    Setup(
        "a program in the script that is missing",
        hook_md("#!/bin/sh\nif true; then jq-of-nobody . || exit 1; fi\n"),
        "HP523",
        "Install it",
        "failing since",
        "HP523",
        stderr="run.sh: 2: jq-of-nobody: not found\n",
    ),
    Setup(
        "a file that the script may not read",
        hook_md(),
        "HP523",
        "chmod",
        "failing since",
        "HP523",
        stderr="/bin/sh: 1: ./inner.sh: Permission denied\n",
    ),
    Setup(
        "a script that dies for its own reason",
        hook_md(),
        "HP523",
        "hookport log",
        "failing since",
        "HP523",
        stderr="policy server is down\n",
    ),
    # What never matches, or never comes.
    Setup(
        "an event in another spelling",
        {".claude/settings.json": claude(event="preToolUse"), "guard.sh": GUARD, **TRUSTED},
        "HP102",
        "Correct the name",
        "unavailable",
        "HP102",
        "guard.sh",
        installed=False,
        gate="recognised",
    ),
    Setup(
        "the first words of an event",
        {".claude/settings.json": claude(event="pre_tool"), "guard.sh": GUARD, **TRUSTED},
        "HP102",
        "Correct the name",
        "unavailable",
        "HP102",
        "guard.sh",
        installed=False,
        gate="recognised",
    ),
    Setup(
        "an event with a slip",
        {".gemini/settings.json": gemini(event="BeforeTol"), "guard.sh": GUARD},
        "HP102",
        "Correct the name",
        "unavailable",
        "HP102",
        "guard.sh",
        "gemini-cli",
        installed=False,
        gate="recognised",
    ),
    Setup(
        "a matcher for a tool of another agent",
        {".gemini/settings.json": gemini().replace("run_shell_command", "Bash"), "guard.sh": GUARD},
        "HP501",
        "",
        "unavailable",
        "HP501",
        "guard.sh",
        "gemini-cli",
        installed=False,
        gate="matches",
    ),
    Setup(
        "a matcher that is no expression",
        {".claude/settings.json": claude().replace('"Bash"', '"(Bash"'), "guard.sh": GUARD, **TRUSTED},
        "HP501",
        "",
        "unavailable",
        "HP501",
        "guard.sh",
        installed=False,
        gate="matches",
    ),
    # What is switched off, not trusted, not installed or not approved.
    Setup(
        "all hooks off",
        {
            ".claude/settings.json": claude(),
            "guard.sh": GUARD,
            **TRUSTED,
            ".claude/settings.local.json": '{"disableAllHooks": true}',
        },
        "HP872",
        "disableAllHooks",
        "disableAllHooks",
        None,
        "guard.sh",
        installed=False,
        gate="enabled",
    ),
    Setup(
        "a folder that is not trusted",
        {".gemini/settings.json": gemini(), "guard.sh": GUARD, "~/.gemini/trustedFolders.json": "{}"},
        "HP870",
        "",
        "does not trust",
        None,
        "guard.sh",
        "gemini-cli",
        installed=False,
        gate="trusted",
    ),
    Setup(
        "nothing installed",
        {**hook_md(), ".claude/x": ""},
        "HP830",
        "hookport sync",
        "not installed",
        None,
        installed=False,
        gate="loaded",
    ),
    Setup(
        "an agent without the event",
        {
            ".hookport/hooks.json": canonical(type="command", command="true").replace(
                "before_tool_execute", "before_model"
            )
        },
        "HP813",
        "hookport matrix",
        "unavailable",
        None,
        "ask",
        gate="fires",
    ),
    # Files that cannot be read.
    Setup(
        "a comma too many",
        {".claude/settings.json": claude()[:-1] + ",}", "guard.sh": GUARD, **TRUSTED},
        "HP873",
        "Correct",
        "HP873",
        "",
        "settings.json",
        installed=False,
        gate="recognised",
    ),
    Setup(
        "a byte order mark that the agent refuses",
        {".codex/hooks.json": "\ufeff" + claude("./guard.sh"), "guard.sh": GUARD},
        "HP873",
        "sed -i",
        "HP873",
        "",
        "hooks.json",
        "codex",
        installed=False,
        gate="recognised",
    ),
    Setup(
        "HOOK.md without a trigger",
        {**hook_md(head="---\nname: guard\n---\n"), ".claude/x": ""},
        "HP701",
        "Correct",
        "HP701",
        "",
        installed=False,
        gate="recognised",
    ),
    Setup(
        "HOOK.md without a script",
        {".agents/hooks/guard/HOOK.md": folder(), ".claude/x": ""},
        "HP704",
        "Create",
        "HP704",
        "",
        installed=False,
        gate="recognised",
    ),
    # Hooks that run twice, by two spellings of one path, or not at all, behind another file.
    Setup(
        "two spellings of one path",
        {
            ".claude/settings.json": claude(),
            "guard.sh": GUARD,
            **TRUSTED,
            ".claude/settings.local.json": claude("{root}/guard.sh"),
        },
        "HP878",
        "",
        None,
        None,
        "guard.sh",
        installed=False,
        gate="",
    ),
    Setup(
        "a file behind another",
        {
            ".factory/hooks.json": '{"PreToolUse": []}',
            "guard.sh": GUARD,
            ".factory/settings.json": claude("$FACTORY_PROJECT_DIR/guard.sh"),
        },
        "HP874",
        "",
        "unavailable",
        None,
        "guard.sh",
        "factory-droid",
        installed=False,
        gate="recognised",
    ),
    # Hooks that stand where nothing reads them.
    stray(".claude/hooks.json", claude("./guard.sh"), "mv .claude/hooks.json .claude/settings.json"),
    stray(".claude/hooks/hooks.json", claude("./guard.sh"), ".claude/settings.json"),
    stray("claude/settings.json", claude("./guard.sh"), "mkdir -p .claude"),
    stray(".gemini/hooks.json", gemini("./guard.sh"), ".gemini/settings.json", "gemini-cli"),
    stray(".codex/settings.json", claude("./guard.sh"), ".codex/hooks.json", "codex"),
    stray(".cursor/settings.json", cursor(), ".cursor/hooks.json", "cursor"),
    stray(".cursor/hooks/hooks.json", cursor(), ".cursor/hooks.json", "cursor"),
    stray(".github/hooks.json", copilot(), ".github/hooks/hooks.json", "copilot-cli"),
    stray(".windsurf/settings.json", windsurf(), ".windsurf/hooks.json", "windsurf"),
    stray(".qwen/hooks.json", claude("./guard.sh"), ".qwen/settings.json", "qwen-code"),
    stray(".augment/hooks.json", claude("./guard.sh"), ".augment/settings.json", "augment"),
    stray(".vscode/hooks.json", claude("./guard.sh"), ".github/hooks", "vs-code-copilot"),
    stray(".agents/hook/guard/HOOK.md", folder(), "mkdir -p .agents/hooks"),
    stray(".agents/guard/HOOK.md", folder(), "mkdir -p .agents/hooks"),
    stray(".agents/hooks/guard/hook.md", folder(), ".agents/hooks/guard/HOOK.md"),
    stray("hooks/guard/HOOK.md", folder(), "mkdir -p .agents/hooks"),
]


class Place(NamedTuple):
    """A project, its user's home and the environment."""

    root: Path
    home: Path
    env: dict[str, str]

    def write(self, files: Mapping[str, str]) -> None:
        for name, text in files.items():
            path = self.home / name[2:] if name.startswith("~/") else self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.replace("{root}", str(self.root)).encode())
            is_script = text.removeprefix("\ufeff").startswith("#!") or "/scripts/run" in name
            path.chmod(0o755 if is_script else 0o644)

    def set_up(self, setup: Setup) -> None:
        self.write(setup.files)
        if setup.installed:
            (self.root / ".claude").mkdir(exist_ok=True)
            wish = SyncRequest((setup.agent,), mode="bridge")
            sync.apply(lambda: sync.plan_sync(str(self.root), self.env, wish), self.env, what="sync")
            approve(self.root, self.env)
        if setup.stderr:
            self.fail(setup)

    def fail(self, setup: Setup) -> None:
        """Let the journal know of three runs that failed."""
        file = str(self.root / ".agents/hooks/guard/HOOK.md")
        ended = {"outcome": "completed", "exit": 1, "failure": "exit code 1", "stderr": setup.stderr}
        run = {"hook": "guard", "source": file, "place": "frontmatter", "matched": True, "why": "", **ended}
        for hour in ("01", "02", "03"):
            head = {"agent": setup.agent, "event": "before_tool_execute", "native": "PreToolUse"}
            record = {"time": f"2099-01-01T{hour}:00:00.000Z", **head, "cwd": str(self.root), "tool": "shell"}
            assert not journal.write({**record, "hooks": [run]}, self.env)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    root, home = tmp_path / "project", tmp_path / "home"
    (root / ".git").mkdir(parents=True)
    (home / "bin").mkdir(parents=True)
    env = {"HOME": str(home), "PATH": f"{home / 'bin'}{os.pathsep}/usr/bin{os.pathsep}/bin"}
    for name in [
        name for name in os.environ if name.startswith(("HOOKPORT_", "ANTHROPIC", "OPENAI", "XDG_"))
    ]:
        monkeypatch.delenv(name)
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(root)
    return Place(root, home, env)


@pytest.mark.parametrize("setup", SETUPS, ids=lambda setup: setup.title)
def test_what_is_wrong_is_found_and_the_fix_is_named(
    setup: Setup, place: Place, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in setup.env.items():
        monkeypatch.setenv(name, value)
        place.env[name] = value
    place.set_up(setup)

    def said(*args: str) -> tuple[int, str]:
        capsys.readouterr()
        code = main(list(args))
        assert code in (0, 1, 2), args
        printed = capsys.readouterr()
        return code, printed.out + printed.err

    code, text = said("doctor", "--json")
    told = [one for one in json.loads(text)["findings"] if one["code"] == setup.code]
    assert code == bool(setup.gate)
    assert told, text
    assert any(setup.fix in one["hint"] for one in told), told
    if not setup.gate:
        return
    code, text = said("why", setup.hook, "--agent", setup.agent, "--json")
    (walked,) = json.loads(text)["walks"]
    stops = [one for one in walked["steps"] if one["state"] == "fails" and setup.fix in one["fix"]]
    assert code == 1
    assert [(one["gate"], one["code"] or setup.code) for one in stops[:1]] == [(setup.gate, setup.code)], text
    if setup.status is not None:
        _, text = said("status", "--agent", setup.agent)
        assert setup.status in text, text
        assert setup.fix in text or setup.status in ("unavailable", "does not trust"), text
        assert "enforced" not in text, text
    if setup.check is not None:
        code, text = said("check", ".")
        assert setup.check in text, text
        assert code or "loss" in text, text


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("run.sh", "#!/bin/sh\nif command -v jq-of-nobody >/dev/null; then jq-of-nobody .; fi\n"),
        ("run.sh", "#!/bin/sh\nwhich jq-of-nobody || exit 0\njq-of-nobody .\n"),
        ("run.sh", "#!/bin/sh\ncase $(uname) in Plan9) rc-of-nobody ;; esac\n"),
        ("run.sh", "#!/bin/sh\nsay-of-nobody done || true\n"),
        ("run.sh", "#!/bin/sh\nexit 0\nof-nobody\n"),
        ("run.sh", "#!/bin/sh\n. ./functions.sh\nof-nobody\n"),
        ("run.sh", "#!/bin/sh\n[ -f x ] && . ./x\nof-nobody\n"),
        ("run.sh", "#!/bin/sh\nif [ -f x ]; then . ./x; fi\nof-nobody\n"),
        ("run.sh", "#!/bin/sh\nPATH=$PATH:/opt/of-nobody\nof-nobody\n"),
        ("run.bash", "#!/bin/bash\nof-nobody() { echo; }\nof-nobody\nmapfile x < /dev/null\n"),
        ("run.sh", "#!/bin/sh\nprintf '%s' \"$(date)\" | sed s/a/b/ | grep -q x && exit 2\n"),
        ("run.py", "#!/usr/bin/env python3\ntry:\n    import of_nobody\nexcept ImportError:\n    pass\n"),
        ("run.py", "#!/usr/bin/env python3\nimport sys\nsys.path.append('lib')\nimport of_nobody\n"),
        ("run.py", "#!/usr/bin/env python3\nimport json, tomllib, os.path, xml.dom\n"),
        ("run.py", "#!/usr/bin/env python3\nimport helper\n"),
        ("run.mjs", "#!/usr/bin/env node\nimport fs from 'node:fs';\nimport { join } from 'path/posix';\n"),
        (
            "run.js",
            "#!/usr/bin/env node\nconst it = require('./it');\nlet x; try { x = require('no'); } catch {}\n",
        ),
    ],
)
def test_what_a_script_may_do_without_is_not_missed(
    name: str, text: str, place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    beside = ".agents/hooks/guard/scripts/helper.py"
    files = {**hook_md(text, f".agents/hooks/guard/scripts/{name}"), beside: "", **TRUSTED}
    place.set_up(Setup("", files, "", "", "", ""))
    assert main(["why", "guard", "--agent", "claude-code"]) == 0
    assert "HP526" not in capsys.readouterr().out


def test_hookport_itself_is_missed_only_where_nothing_brings_it(place: Place) -> None:
    python = next(path for path in ("/usr/bin/python3", shutil.which("python3") or "") if Path(path).exists())
    script = StartedScript(
        place.root / "run.py", b"from hookport import deny\nimport of_nobody\n", "python3", python
    )

    def need() -> str:
        found = find_need(script, str(place.root), str, frozenset())
        return found.why if found else ""

    absent = need()
    place.write({".hookport/bridge.pyz": ""})
    assert need() == "python3 has no module 'of_nobody'"
    assert absent in ("python3 has no module 'hookport'", "python3 has no module 'of_nobody'")


def test_a_python_of_the_project_is_not_started(place: Place) -> None:
    """Its environment may have files that Python runs by itself, and nobody approved them."""
    own = place.root / ".venv" / "bin" / "python3"
    own.parent.mkdir(parents=True)
    own.write_text(f"#!/bin/sh\ntouch {place.root}/started\n")
    own.chmod(0o755)
    linked = own.with_name("python")
    linked.symlink_to(shutil.which("python3") or "/usr/bin/python3")
    for path in (own, linked):
        script = StartedScript(place.root / "run.py", b"import of_nobody\n", "python3", str(path))
        assert find_need(script, str(place.root), str, frozenset()) is None
    assert not (place.root / "started").exists()


def test_a_variable_that_only_the_agent_may_have_is_not_said_to_hold(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {".claude/settings.json": claude('"$GUARDS"/guard.sh'), **TRUSTED}
    place.set_up(Setup("", files, "", "", "", "", installed=False))
    assert main(["why", "guard.sh", "--agent", "claude-code"]) == 0
    printed = capsys.readouterr().out
    assert "runs, as far as hookport can check" in printed
    assert "$GUARDS is not set" in printed
    assert "its program is there" not in printed
    main(["status", "--agent", "claude-code"])
    printed = capsys.readouterr().out
    assert "$GUARDS is not set" in printed
    assert "enforced" not in printed


NODE = "#!/usr/bin/env node\nconst fs = require('fs');\n"
WITH_NODE = pytest.mark.skipif(not shutil.which("node"), reason="the hook runs with node")


@pytest.mark.parametrize(
    "files",
    [
        pytest.param(hook_md(), id="shell"),
        pytest.param(python("import sys\n"), id="python"),
        pytest.param(hook_md("#!/usr/bin/env -S bash -e\nexit 0\n"), id="options"),
        # `node --check` goes by the name; running it does not.
        pytest.param(hook_md(NODE), id="node in a .sh", marks=WITH_NODE),
        pytest.param(hook_md(NODE, SCRIPT.removesuffix(".sh")), id="node without an ending", marks=WITH_NODE),
    ],
)
def test_a_hook_that_works_passes_every_gate(
    files: dict[str, str], place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    place.set_up(Setup("", {**files, **TRUSTED}, "", "", "", ""))
    assert main(["why", "guard", "--agent", "claude-code"]) == 0
    walked = capsys.readouterr().out
    assert "fails" not in walked
    assert main(["doctor"]) == 0
    assert main(["status"]) == 0
    assert "enforced" in capsys.readouterr().out
    assert main(["check", "."]) == 0


@pytest.mark.parametrize(
    "text",
    [
        '"$CLAUDE_PROJECT_DIR"/guard.sh',
        '"${CLAUDE_PROJECT_DIR:-.}"/guard.sh',
        "x=guard.sh; ./$x",
        '[ -f "$NOWHERE/x" ] && "$NOWHERE/x"',
        "~/guard.sh",
        'echo "it\'s" \'a "b"\'',
        "cat <<E\nit's\nE",
        'cd "$CLAUDE_PROJECT_DIR" && ./guard.sh',
        "cd /tmp; ./guard.sh",
        '"$(git rev-parse --show-toplevel)"/guard.sh',
        "${NOWHERE:-./guard.sh}",
    ],
)
def test_a_command_that_a_shell_can_start_is_let_pass(text: str, place: Place) -> None:
    (place.root / "guard.sh").write_text(GUARD)
    where = make_surroundings("claude-code", place.root, place.env, in_package=False)
    assert list(find_command_faults(text, where)) == []


def test_a_hook_in_the_background_is_not_said_to_hold(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    text = claude().replace('"type": "command"', '"type": "command", "async": true')
    place.set_up(Setup("", {".claude/settings.json": text, "guard.sh": GUARD, **TRUSTED}, "", "", "", ""))
    main(["why", "guard.sh", "--agent", "claude-code"])
    printed = capsys.readouterr().out
    assert "runs, and cannot block" in printed
    assert "its deny holds" not in printed
