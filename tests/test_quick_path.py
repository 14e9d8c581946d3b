"""What a dispatch loads, and that a plan which is kept for speed never hides a change on disk."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import hookport
from hookport.project.plan_builder import is_settled
from hookport.runtime import plan
from hookport.vendor.vendored import ARCHIVE
from tests.approval import approve

pytestmark = pytest.mark.skipif(os.name == "nt", reason="hooks here are shell scripts")

BRIDGE = Path(hookport.__file__).parent / "bridge.py"
# Loads the bridge as the interpreter would, and tells at the very end what is loaded.
TELLING = """
import sys
path, told, *words = sys.argv[1:]
import os
leave = os._exit
def tell(code):
    with open(told, "w") as file:
        file.write("\\n".join(sys.modules))
    leave(code)
os._exit = tell
sys.argv = [path, *words]
exec(compile(open(path, encoding="utf-8").read(), path, "exec"), {"__name__": "__main__", "__file__": path})
"""
# Counts what is done with the payload and the plan, by the functions that do it.
COUNTING = """
import collections, json, os, sys
told, source, archive, *words = sys.argv[1:]
sys.path.insert(0, archive or source)
names = {"loads": "json_text.py", "read_event": "events.py", "hooks": "plan.py"}
names["recognise_payload"] = "recognition.py"
payload = b"".join(iter(lambda: os.read(0, 1 << 16), b""))
read, write = os.pipe()
os.write(write, payload)
os.close(write)
os.dup2(read, 0)
counts = collections.Counter()
def count(frame, event, argument):
    code = frame.f_code
    if event != "call" or names.get(code.co_name) != os.path.basename(code.co_filename):
        return
    if code.co_name != "loads" or frame.f_locals["text"] == payload.decode():
        counts[code.co_name] += 1
if archive:
    from hookport.vendor.commands import main as vendored
    from zipfile import ZipFile
    tables = ZipFile(archive).read("tables.plan")
    run = lambda: vendored(words, archive, tables)
else:
    from hookport.project.installed import main
    run = lambda: main(words)
sys.setprofile(count)
run()
sys.setprofile(None)
with open(told, "w") as file:
    json.dump(counts, file)
"""
DEAR = {
    *(
        "argparse",
        "collections",
        "dataclasses",
        "datetime",
        "enum",
        "functools",
        "json",
        "logging",
        "pathlib",
    ),
    *(
        "rich",
        "random",
        "re",
        "shlex",
        "shutil",
        "signal",
        "site",
        "subprocess",
        "tempfile",
        "threading",
        "typing",
    ),
    *("uuid", "hashlib", "importlib.metadata", "traceback", "warnings", "inspect", "contextlib"),
    *(
        "hookport.convert.pipeline",
        "hookport.agents",
        "hookport.project.discovery",
        "hookport.errors",
        "hookport.findings",
    ),
    *(
        "hookport.project.plan_builder",
        "hookport.runtime.effects",
        "hookport.runtime.patterns",
        "hookport.runtime.pauses",
        "hookport.runtime.remedy",
        "hookport.runtime.execute.http",
        "hookport.shell",
        "hookport.wire.patch",
    ),
}
PAYLOAD = {
    "session_id": "s",
    "hook_event_name": "PreToolUse",
    "tool_name": "Bash",
    "tool_input": {"command": "ls"},
}


DISPATCH = ("dispatch", "claude-code", "PreToolUse")
WRAP = ("wrap", "agent-hooks", "claude-code", "PreToolUse", "--")


class Project:
    """A repository with hooks, and what hookport keeps beside it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.root = folder / "project"
        (self.root / ".git").mkdir(parents=True)
        self.is_approving = True
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder / "home"),
            "HOOKPORT_CACHE_DIR": str(folder / "cache"),
            "HOOKPORT_STATE_DIR": str(folder / "state"),
        }

    def hook(self, name: str, meta: str = "trigger: before_tool\nmatcher:\n  tool: Shell") -> Path:
        folder = self.root / ".agents" / "hooks" / name
        (folder / "scripts").mkdir(parents=True, exist_ok=True)
        (folder / "HOOK.md").write_text(f"---\nname: {name}\ndescription: d\n{meta}\n---\n")
        self.script(folder / "scripts" / "run.sh", "first")
        return folder

    def script(self, path: Path, word: str, *, mode: int = 0o755) -> None:
        path.write_text(f"#!/bin/sh\necho '{word}' >&2\nexit 2\n")
        path.chmod(mode)

    def run(self, *argv: str) -> subprocess.CompletedProcess[bytes]:
        if self.is_approving:
            approve(self.root, self.env)
        data = json.dumps({**PAYLOAD, "cwd": str(self.root)}).encode()
        return subprocess.run(
            argv, env=self.env, cwd=self.root, input=data, capture_output=True, check=False, timeout=30
        )

    def reason(self) -> str:
        """Why the call is denied, empty where it is not."""
        done = self.run(sys.executable, "-I", "-S", str(BRIDGE), *DISPATCH)
        assert (done.returncode, done.stderr) == (0, b"")
        told: dict[str, Any] = json.loads(done.stdout or b"{}").get("hookSpecificOutput", {})
        return str(told.get("permissionDecisionReason", ""))

    def kept(self) -> bytes:
        """The text of the plan."""
        return Path(plan.find_plan_path(str(self.root), self.env)).read_bytes()


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path.resolve())


@pytest.mark.parametrize("entry", ["bridge", "console"])
@pytest.mark.parametrize("words", [DISPATCH, WRAP], ids=["dispatch", "wrap"])
def test_a_dispatch_loads_little(project: Project, words: tuple[str, ...], entry: str) -> None:
    guard = project.hook("guard") / "scripts" / "run.sh"
    console, told = project.folder / "console", project.folder / "modules"
    source = str(BRIDGE.parents[1])
    console.write_text(f"import sys\nsys.path.insert(0, {source!r})\nfrom hookport.cli import main\nmain()\n")
    path = str(BRIDGE if entry == "bridge" else console)
    words = (*words, str(guard)) if words == WRAP else words
    for _ in range(2):  # the first one makes the plan
        done = project.run(sys.executable, "-I", "-S", "-c", TELLING, path, str(told), *words)
    assert b'"permissionDecision": "deny"' in done.stdout
    loaded = set(told.read_text().split())
    assert loaded & DEAR == set()
    assert "hookport.runtime.execute.process" in loaded


@pytest.mark.parametrize("is_vendored", [False, True], ids=["installed", "vendored"])
def test_a_dispatch_reads_everything_once(project: Project, *, is_vendored: bool) -> None:
    project.hook("guard")
    told, source = project.folder / "counts", str(BRIDGE.parents[1])
    archive = str(project.root / ARCHIVE) if is_vendored else ""
    if is_vendored:
        project.run(sys.executable, "-m", "hookport", "vendor")
    for _ in range(2):  # the first one makes the plan
        done = project.run(sys.executable, "-c", COUNTING, str(told), source, archive, *DISPATCH)
    assert b'"permissionDecision": "deny"' in done.stdout, done.stderr
    assert json.loads(told.read_text()) == {"loads": 1, "read_event": 1, "hooks": 1}


def test_an_unchanged_project_keeps_its_plan(project: Project) -> None:
    project.hook("guard")
    assert project.reason() == "first"
    kept = project.kept()
    assert project.reason() == "first"
    assert project.kept() == kept


@pytest.mark.parametrize("mode", [0o755, 0o644], ids=["executable", "with an interpreter"])
def test_another_script_of_a_hook_holds_at_once(project: Project, mode: int) -> None:
    scripts = project.hook("guard") / "scripts"
    assert project.reason() == "first"
    (scripts / "run.sh").unlink()
    project.script(scripts / "run.bash", "second", mode=mode)
    assert project.reason() == "second"
    project.script(scripts / "run", "third")
    assert project.reason() == "third"


def test_a_script_that_is_gone_is_a_broken_hook_at_once(project: Project) -> None:
    script = project.hook("guard") / "scripts" / "run.sh"
    project.env["HOOKPORT_ON_FAILURE"] = "closed"
    assert project.reason() == "first"
    script.unlink()
    assert "hooks cannot run" in project.reason()


def test_scripts_of_hooks_for_other_events_do_not_matter(project: Project) -> None:
    project.hook("guard")
    other = project.hook("other", "trigger: session_end")
    assert project.reason() == "first"
    kept = project.kept()
    project.script(other / "scripts" / "run.py", "second")
    project.is_approving = False
    assert project.reason() == "first"
    assert project.kept() == kept


@pytest.mark.parametrize("place", [".agents/hooks/other/HOOK.md", ".agents/hooks/new/HOOK.md"])
def test_a_hook_that_becomes_one_for_the_event_holds_at_once(project: Project, place: str) -> None:
    project.hook("other", "trigger: session_end")
    assert project.reason() == ""
    name = Path(place).parent.name
    project.hook(name)
    assert project.reason() == "first"


def test_a_settings_file_that_appears_holds_at_once(project: Project) -> None:
    (project.root / ".hookport").mkdir()
    assert project.reason() == ""
    handler = {"type": "command", "command": "echo here >&2; exit 2"}
    hook = {"event": "before_tool_execute", "blocking": True, "handler": handler}
    (project.root / ".hookport" / "hooks.json").write_text(json.dumps({"spec": "hooks/1.0", "hooks": [hook]}))
    assert project.reason() == "here"


def test_what_was_written_while_it_was_read_is_not_taken_for_read(tmp_path: Path) -> None:
    begun = time.time_ns()
    old, new, later, gone = (tmp_path / name for name in ("old", "new", "later", "gone"))
    for file, when in ((old, begun - 10**9), (new, begun), (later, begun + 10**12)):
        file.touch()
        os.utime(file, ns=(when, when))
    paths = {"old": [old, gone], "new": [old, new], "a clock ahead of ours": [old, later]}
    found = {what: is_settled(map(str, files), begun) for what, files in paths.items()}
    assert found == {"old": True, "new": False, "a clock ahead of ours": True}
