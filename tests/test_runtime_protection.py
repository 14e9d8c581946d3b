"""The built-in guard: what would change hooks, their approval or our files is denied, reading is not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import hookport
from hookport.base import folders
from hookport.model.runs import Call, Event
from hookport.project import plan_builder
from hookport.runtime import guarded, protection

pytestmark = pytest.mark.skipif(os.name == "nt", reason="paths here are those of POSIX")

BRIDGE = Path(hookport.__file__).parent / "bridge.py"


class Place:
    """A project with hooks, and the guard as a plan of it has it."""

    def __init__(self, folder: Path) -> None:
        self.home, self.root = folder / "home", folder / "project"
        for path in (
            ".git/HEAD",
            "src/main.py",
            "hookport.lock",
            ".hookport/hooks.json",
            ".agents/hooks/md/HOOK.md",
            ".agents/hooks/md/scripts/run.sh",
            ".claude/settings.json",
            "guards/guard.sh",
        ):
            self.write(self.root / path, "")
        hooks = [{"event": "session_end", "handler": {"type": "command", "command": "guards/guard.sh"}}]
        self.write(self.root / ".hookport/hooks.json", json.dumps({"spec": "hooks/1.0", "hooks": hooks}))
        self.write(self.home / ".claude/settings.json", "{}")
        self.write(self.home / ".gemini/settings.json", '{"command": "/x/hookport dispatch a b"}')
        self.write(self.home / ".qwen/settings.json", "{}")
        self.env = {"PATH": os.environ["PATH"], "HOME": str(self.home)}

    def write(self, path: Path, text: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def objection(self, call: Call, event: str = "before_tool_execute", cwd: Path | None = None) -> str:
        made, _ = plan_builder.load_current_plan(str(self.root), self.env)
        where = str(cwd or self.root)
        it = Event(event, "claude-code", cwd=where, root=where, call=call)
        return protection.object_to_event(it, made.protected, str(self.root), self.env)

    def shell(self, command: str, cwd: Path | None = None) -> str:
        return self.objection(Call("shell", "Bash", input={"command": command}), cwd=cwd)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return Place(tmp_path_factory.mktemp("protection").resolve())


def test_a_reason_says_what_and_why(place: Place) -> None:
    assert place.shell("rm hookport.lock") == (
        f"`rm` would change {place.root}/hookport.lock. Agents may not change hooks, their approval or the "
        "settings that call them (self-protection of hookport); ask the user to do it."
    )


def write(path: str, **more: Any) -> Call:
    return Call("file_write", "Write", input={"path": path, "content": "hookport.lock", **more})


def mcp(tool: str, **values: Any) -> Call:
    return Call("", f"mcp__fs__{tool}", input=values, server="fs", mcp_tool=tool)


CALLS = {
    "write": (write("hookport.lock"), True),
    "write elsewhere": (write("docs/x.md"), False),
    "edit": (Call("file_edit", "Edit", input={"path": "src/../.hookport/hooks.json"}), True),
    "edit a script": (Call("file_edit", "Edit", input={"path": "guards/guard.sh"}), True),
    "edit another": (Call("file_edit", "Edit", input={"path": "src/main.py"}), False),
    "a new hook of the project": (write(".agents/hooks/new/HOOK.md"), True),
    "from the home": (write("~/.config/hookport/config.json"), True),
    "read": (Call("file_read", "Read", input={"path": "hookport.lock"}), False),
    "search": (Call("search", "Grep", input={"path": ".hookport", "pattern": "x"}), False),
    "notebook": (Call("notebook_edit", "NotebookEdit", input={"path": ".hookport/a.ipynb"}), True),
    "patch": (Call("file_edit", "apply_patch", parts=(write("a"), write("hookport.lock"))), True),
    "patch that moves": (
        Call(
            "file_edit",
            "apply_patch",
            parts=(Call("file_edit", input={"path": "a", "moved_to": "hookport.lock"}),),
        ),
        True,
    ),
    "a list of words": (Call("shell", "shell", input={"command": ["bash", "-lc", "rm hookport.lock"]}), True),
    "a folder to start in": (
        Call("shell", "run_shell_command", input={"command": "rm hooks.json", "cwd": ".hookport"}),
        True,
    ),
    "a folder in the agent's word": (
        Call(
            "shell", "run_shell_command", input={"command": "rm hooks.json"}, raw={"directory": ".hookport"}
        ),
        True,
    ),
    "mcp search and replace": (mcp("search_replace", path="hookport.lock"), True),
    "mcp write": (mcp("write_file", path="hookport.lock"), True),
    "mcp nested": (mcp("edit", edits=[{"file": {"uri": "file://ROOT/hookport.lock"}}]), True),
    "mcp read": (mcp("read_file", path="hookport.lock"), False),
    "mcp shell": (mcp("execute", command="rm hookport.lock"), True),
    "mcp elsewhere": (mcp("write_file", path="src/main.py"), False),
    "mcp text": (mcp("create_issue", body="hookport.lock\nis odd"), False),
    "no path at all": (write("a\0b"), False),
    "a long path": (write("x" * 10_000), False),
}


@pytest.mark.parametrize("name", CALLS)
def test_calls(place: Place, name: str) -> None:
    call, is_denied = CALLS[name]
    text = json.dumps(call.input).replace("ROOT", str(place.root))
    assert bool(place.objection(call.replace(input=json.loads(text)))) is is_denied


def test_links_and_other_folders(place: Place) -> None:
    (place.root / "link").symlink_to(".hookport")
    (place.root / "file").symlink_to("hookport.lock")
    said = [
        place.objection(write("link/hooks.json")),
        place.objection(write("file")),
        place.shell("rm link/hooks.json"),
        place.objection(write("../hookport.lock"), cwd=place.root / "src"),
        place.objection(write("hookport.lock"), cwd=place.root / "src"),
    ]
    assert [bool(one) for one in said] == [True, True, True, True, False]


def test_what_is_below_a_protected_folder_is_not_listed_again(place: Place) -> None:
    made, _ = plan_builder.load_current_plan(str(place.root), place.env)
    here = [
        path for path in made.protected() if path.startswith((f"{place.root}/.agents", f"{place.root}/g"))
    ]
    assert here == [f"{place.root}/.agents/{name}" for name in ("hooks", "hooks.json", "plugins")] + [
        f"{place.root}/guards/guard.sh"
    ]


def test_without_a_home_in_the_environment_the_users_own_files_are_protected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = Place(tmp_path.resolve())
    del place.env["HOME"]
    monkeypatch.setenv("HOME", str(place.home))
    monkeypatch.setattr(folders, "find_real_home", lambda: str(place.home))
    files = ("~/.claude/settings.json", "~/.claude/other.json")
    assert [bool(place.objection(write(file))) for file in files] == [True, False]


def test_other_events_are_not_looked_at(place: Place) -> None:
    events = ("before_tool_execute", "permission_request", "after_tool_execute")
    assert [bool(place.objection(write("hookport.lock"), event)) for event in events] == [True, True, False]


def test_names_without_regard_to_case_where_files_have_none(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert place.objection(write("HOOKPORT.LOCK")) == ""
    monkeypatch.setattr(guarded, "IS_CASELESS", True)
    assert place.objection(write("HOOKPORT.LOCK")) != ""


def dispatched(place: Place, command: str) -> bytes:
    payload = {
        "session_id": "s",
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": command},
        "cwd": str(place.root),
    }
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(BRIDGE), "dispatch", "claude-code", "PreToolUse"],
        input=json.dumps(payload).encode(),
        cwd=place.root,
        env=place.env,
        capture_output=True,
        check=False,
        timeout=30,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout


@pytest.mark.parametrize(
    ("user", "project", "is_denied"),
    [
        (None, None, True),
        ({"self_protection": False}, None, False),
        ({"self_protection": True}, None, True),
        ({"self_protection": "no"}, None, True),
        (None, {"self_protection": False}, True),
        ({"self_protection": True}, {"self_protection": False}, True),
    ],
)
def test_only_the_user_switches_it_off(
    tmp_path: Path, user: dict[str, Any] | None, project: dict[str, Any] | None, *, is_denied: bool
) -> None:
    place = Place(tmp_path.resolve())
    if user is not None:
        place.write(place.home / ".config/hookport/config.json", json.dumps(user))
    if project is not None:
        place.write(place.root / ".hookport/config.json", json.dumps(project))
    assert (b"self-protection of hookport" in dispatched(place, "rm hookport.lock")) is is_denied
    assert b"self-protection" not in dispatched(place, "cat hookport.lock")


def test_a_folder_with_a_dollar_in_its_name_is_protected(tmp_path: Path) -> None:
    here = Place(tmp_path.resolve() / "$HOME x")
    assert "self-protection of hookport" in here.objection(write(f"{here.root}/hookport.lock"))


PLAIN = (
    "ls -la",
    "git status && npm test 2>&1 | tail -20",
    "git log --oneline -5",
    "cd src; cat main.py | grep -n TODO || true",
    "make test",
    "npm run build >/dev/null",
    "grep -rn 'def main; rm hookport.lock' src --include='*.py'",
    'git add -A && git commit -m "Fix the parser (again); see #12\n\n> rm hookport.lock"',
    "git log --format='%h %s' -3",
)
NOT_PLAIN = (
    "ls > hookport.lock",
    "ls >/dev/null2",
    "ls & rm -rf .claude",
    "cat a |& tee hookport.lock",
    "git diff --output=hookport.lock",
    "npm run hookport trust",
    "npm run clean .claude",
    "make -f x",
    "A=b ls",
    "echo $(rm -rf .claude)",
    "ls\\\n-la",
    "git -C . status",
    "npx rimraf guards",
    "git diff '--output=hookport.lock'",
    "git diff --'ou'tput=hookport.lock",
    "git commit -m 'x' > hookport.lock",
    "git 'diff' --output=hookport.lock",
    'echo "$(rm hookport.lock)"',
    'echo "`rm hookport.lock`"',
    "echo 'x' \\' > hookport.lock; echo '",
    "echo 'unclosed",
    "echo $'a\\'; rm hookport.lock #'",
    "make test '--eval=x:;rm hookport.lock'",
    "'rm' hookport.lock",
    "grep 'a' \"b\" > 'hookport.lock'",
    "echo 'a'; 'r'm hookport.lock",
)


@pytest.mark.parametrize("text", [*PLAIN, *NOT_PLAIN])
def test_plain_commands_are_let_through_unread_and_no_others(text: str) -> None:
    assert guarded.is_plain(text) == (text in PLAIN)
