"""A hook of a project runs only as its user approved it: definitions, scripts, overriding, stamps, CI."""

from __future__ import annotations

import json
import os
import py_compile
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import hookport
from hookport.project import plan_builder
from hookport.project.discovery import discover
from hookport.runtime import approvals, journal, plan, trust
from hookport.runtime.plan import PlannedHook
from tests import forks
from tests.approval import approve, approve_for_ci

pytestmark = pytest.mark.skipif(os.name == "nt", reason="hooks here are shell scripts")

BRIDGE = Path(hookport.__file__).parent / "bridge.py"
META = "trigger: before_tool\nmatcher: {tool: Shell}"


class Place:
    """A home and a repository; nothing is approved unless a test says so."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home, self.root = folder / "home", folder / "project"
        self.home.mkdir()
        (self.root / ".git").mkdir(parents=True)
        self.env = {"PATH": os.environ["PATH"], "HOME": str(self.home)}

    def hook(self, name: str, script: str, meta: str = META, *, of_user: bool = False) -> Path:
        start = self.home / ".config/agents/hooks" if of_user else self.root / ".agents/hooks"
        folder = start / name
        (folder / "scripts").mkdir(parents=True, exist_ok=True)
        (folder / "HOOK.md").write_text(f"---\nname: {name}\ndescription: d\n{meta}\n---\n")
        file = folder / "scripts" / "run.sh"
        file.write_text(f"#!/bin/sh\n{script}\n")
        file.chmod(0o755)
        return file

    def approve(self) -> None:
        approve(self.root, self.env)

    def fire(
        self,
        native: str = "PreToolUse",
        cwd: Path | None = None,
        session: str = "s",
        env: dict[str, str] | None = None,
    ) -> dict[str, Any]:
        """What Claude Code is told, as a whole."""
        payload: dict[str, Any] = {
            "session_id": session,
            "hook_event_name": native,
            "cwd": str(cwd or self.root),
        }
        if native == "PreToolUse":
            payload |= {"tool_name": "Bash", "tool_input": {"command": "ls"}}
        words = ["dispatch", "claude-code", native]
        done = forks.run(words, cwd or self.root, {**self.env, **(env or {})}, json.dumps(payload))
        assert (done.returncode, done.stderr) == (0, "")
        told: dict[str, Any] = json.loads(done.stdout or "{}")
        return told

    def reason(self, **env: str) -> str:
        """Why the call is denied, empty where it is not."""
        return str(self.fire(env=env).get("hookSpecificOutput", {}).get("permissionDecisionReason", ""))

    def journal(self) -> list[dict[str, Any]]:
        file = self.home / ".local/state/hookport/journal.jsonl"
        return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path.resolve())


def unrun(why: str, name: str = "guard") -> str:
    return f"hook '{name}' was not run: not approved: {why}; run `hookport trust`."


def tampered(why: str, name: str = "guard") -> str:
    return (
        f"hook '{name}' is not as the user approved it: {why}. It is denied until the user reviews "
        "and approves the change. Ask the user to run `hookport trust` in their own terminal; it is refused "
        "here."
    )


def locked_out(why: str) -> str:
    return (
        f"the approvals of this project are not available: {why}. It is denied until the user reviews and "
        "approves the change. Ask the user to run `hookport trust` in their own terminal; it is refused here."
    )


OPEN, CLOSED = " It was not blocked (fail open).", " It is denied, because failures deny here (fail closed)."


def waits(*names: str) -> dict[str, str]:
    many = "hooks of this project do" if len(names) > 1 else "hook of this project does"
    told = (
        f"{len(names)} {many} not run, because you have not approved the current version: "
        f"{', '.join(names)}. Review and approve with `hookport trust`."
    )
    return {"systemMessage": told}


def test_a_fresh_clone_runs_nothing_and_says_so_once_a_session(place: Place) -> None:
    ran = place.folder / "ran"
    place.hook("guard", f"touch {ran}; exit 2")
    place.hook("other", f"touch {ran}; exit 2", "trigger: session_end")
    told = [
        place.fire(),
        place.fire(),
        place.fire(session="t"),
        place.fire("SessionStart", session="u"),
        place.fire(session="u"),
    ]
    assert told == [waits("guard"), {}, waits("guard"), waits("guard", "other"), {}]
    assert not ran.exists()
    failures = [one["failure"] for line in place.journal() for one in line["hooks"]]
    assert failures == ["not approved: this project is not approved yet; run `hookport trust`"] * 4


def test_a_fresh_clone_denies_where_failures_do(place: Place) -> None:
    place.hook("guard", "exit 0")
    expected = unrun("this project is not approved yet") + CLOSED
    assert [place.reason(HOOKPORT_ON_FAILURE="closed") for _ in range(2)] == [expected] * 2


def test_what_was_approved_runs_until_it_changes(place: Place) -> None:
    script = place.hook("guard", "echo no >&2; exit 2")
    place.approve()
    assert place.reason() == "no"
    script.write_text("#!/bin/sh\nexit 0\n")
    changed = "its file run.sh changed since its approval"
    assert place.reason() == tampered(changed)
    assert place.reason(HOOKPORT_ON_FAILURE="closed") == tampered(changed)
    script.write_text("#!/bin/sh\necho no >&2; exit 2\n")
    assert place.reason() == "no"
    place.hook("guard", "echo no >&2; exit 2", f"{META}\npriority: 900")
    assert place.reason() == tampered("its definition changed since its approval")
    place.approve()
    assert place.reason() == "no"


def test_a_wrapped_command_says_nothing_of_hooks_that_it_does_not_run(place: Place) -> None:
    place.hook("guard", "exit 2")
    words = [str(BRIDGE), "wrap", "claude-code", "gemini-cli", "SessionStart", "--", "true"]
    for approve_it in (False, True):
        if approve_it:
            place.approve()
        done = subprocess.run(
            [sys.executable, "-I", "-S", *words],
            input=json.dumps({"session_id": "s", "cwd": str(place.root)}).encode(),
            cwd=place.root,
            env=place.env,
            capture_output=True,
            check=False,
            timeout=30,
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_new_hook_beside_an_approved_one(place: Place) -> None:
    place.hook("later", "echo no >&2; exit 2")
    place.approve()
    place.hook("guard", "echo never >&2; exit 2")
    told = place.fire()
    assert told["systemMessage"] == unrun("it is new") + OPEN
    assert told["hookSpecificOutput"]["permissionDecisionReason"] == "no"


@pytest.mark.parametrize("where", ["scripts", "scripts/deep"])
def test_every_file_of_a_folder_counts(place: Place, where: str) -> None:
    folder = place.hook("guard", "echo no >&2; exit 2").parents[1] / where
    folder.mkdir(exist_ok=True)
    (folder / "lib.sh").write_text("one\n")
    place.approve()
    assert place.reason() == "no"
    (folder / "lib.sh").write_text("two\n")
    assert place.reason() == tampered("its file lib.sh changed since its approval")
    (folder / "lib.sh").write_text("one\n")
    (folder / "json.py").write_text("")
    assert place.reason() == tampered("its file json.py is new since its approval")
    (folder / "json.py").unlink()
    assert place.reason() == "no"
    (folder / "lib.sh").unlink()
    assert place.reason() == tampered("its file lib.sh is gone since its approval")


def test_what_python_compiled_beside_a_script_is_not_read(place: Place) -> None:
    """A `.pyc` without a check would run in the place of an approved module."""
    script = place.hook("guard", "")
    script.unlink()
    lib, run = script.parent / "lib.py", script.parent / "run.py"
    run.write_text(f"#!{sys.executable}\nimport lib\nimport sys\nsys.exit(lib.word)\n")
    run.chmod(0o755)
    lib.write_text("word = 'bad'\n")
    unchecked = py_compile.PycInvalidationMode.UNCHECKED_HASH
    py_compile.compile(str(lib), invalidation_mode=unchecked)
    lib.write_text("import sys; print('good', file=sys.stderr); word = 2\n")
    assert (script.parent / "__pycache__").is_dir()
    place.approve()
    assert [place.reason(), place.reason()] == ["good", "good"]


def test_what_python_compiled_beside_a_script_of_settings_is_not_read(place: Place) -> None:
    guards = place.root / "guards"
    guards.mkdir()
    (guards / "run.py").write_text("import lib\nimport sys\nsys.exit(lib.word)\n")
    lib = guards / "lib.py"
    lib.write_text("word = 'bad'\n")
    py_compile.compile(str(lib), invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
    lib.write_text("import sys; print('good', file=sys.stderr); word = 2\n")
    handler = {"type": "command", "command": f"{sys.executable} guards/run.py"}
    hooks = [{"event": "before_tool_execute", "name": "guard", "blocking": True, "handler": handler}]
    manifest = place.root / ".hookport" / "hooks.json"
    manifest.parent.mkdir()
    manifest.write_text(json.dumps({"spec": "hooks/1.0", "hooks": hooks}))
    place.approve()
    assert [place.reason(), place.reason()] == ["good", "good"]


def test_a_script_that_settings_name(place: Place) -> None:
    guard = place.root / "guards" / "guard.sh"
    guard.parent.mkdir()
    guard.write_text("#!/bin/sh\necho no >&2; exit 2\n")
    guard.chmod(0o755)
    handler = {"type": "command", "command": "guards/guard.sh"}
    hooks = [{"event": "before_tool_execute", "name": "guard", "blocking": True, "handler": handler}]
    manifest = place.root / ".hookport" / "hooks.json"
    manifest.parent.mkdir()
    manifest.write_text(json.dumps({"spec": "hooks/1.0", "hooks": hooks}))
    place.approve()
    assert place.reason() == "no"
    guard.write_text("#!/bin/sh\nexit 0\n")
    assert place.reason() == tampered("its file guard.sh changed since its approval")
    guard.unlink()
    assert place.reason() == tampered("its file guard.sh is gone since its approval")
    guard.write_text("#!/bin/sh\necho no >&2; exit 2\n")
    guard.chmod(0o755)
    # Another hook before it moves it, and changes nothing of it.
    other = {"event": "session_end", "handler": {"type": "command", "command": "true"}}
    manifest.write_text(json.dumps({"spec": "hooks/1.0", "hooks": [other, *hooks]}))
    assert place.reason() == "no"


@pytest.mark.parametrize(
    ("script", "change"),
    [
        ('rm "$0"; exit 127', "its file run.sh is gone since its approval"),
        ('echo "exit 0" > "$0"; exit 1', "its file run.sh changed since its approval"),
        ("exit 1", ""),
    ],
)
def test_a_guard_that_changes_while_it_starts_did_not_run_as_approved(
    place: Place, script: str, change: str
) -> None:
    """What failed is then not what was approved, and is no failure of the hook."""
    place.hook("guard", script)
    place.approve()
    assert place.reason() == (tampered(change) if change else "")


def test_an_edit_within_one_stamp_is_seen(place: Place) -> None:
    """Size, inode and time of modification can be kept; the time of the change cannot."""
    script = place.hook("guard", "echo no >&2; exit 2")
    place.approve()
    time.sleep(0.05)  # so that the plan keeps stamps
    assert [place.reason(), place.reason()] == ["no", "no"]
    before = script.stat()
    with script.open("r+b") as file:
        file.write(b"#!/bin/sh\necho ho")
    os.utime(script, ns=(before.st_atime_ns, before.st_mtime_ns))
    after = script.stat()
    assert (before.st_size, before.st_ino, before.st_mtime_ns) == (
        after.st_size,
        after.st_ino,
        after.st_mtime_ns,
    )
    assert place.reason() == tampered("its file run.sh changed since its approval")


def test_files_with_the_same_stamps_are_not_read_again(place: Place) -> None:
    """The hash that a plan has is believed as long as the stamps are the same."""
    place.hook("guard", "echo no >&2; exit 2")
    place.approve()
    time.sleep(0.05)
    hook = _guard(place)
    (path, (hash_, stamp)), *_ = hook.trust["files"].items()
    assert stamp == trust.stamp(path)
    believed = {"why": "", "files": {path: ["0" * 64, stamp]}, "approved": [{path: "0" * 64}]}
    assert [trust.find_objection(believed), hash_] == ["", trust.hash_file(path)]


def _guard(place: Place) -> PlannedHook:
    found = discover(str(place.root), place.env)
    (hook,) = plan_builder.judge_entries(found, place.env)
    return hook


def test_a_guard_that_is_disarmed_is_a_failure(place: Place) -> None:
    """Neither another matcher, nor another policy, nor its removal makes an approved guard go away unseen."""
    guard = place.hook("guard", "echo no >&2; exit 2", f"{META}\nmetadata: {{a: b}}").parents[1]
    place.approve()
    assert place.reason(HOOKPORT_ON_FAILURE="closed") == "no"
    place.hook("guard", "echo no >&2; exit 2", "trigger: before_tool\nmatcher: {tool: WriteFile}")
    assert place.reason() == tampered("its definition changed since its approval")
    shutil.rmtree(guard)
    gone = tampered("it is gone from .agents/hooks/guard/HOOK.md since its approval")
    assert [place.reason(), place.reason()] == [gone, gone]
    # The definitions are in the store, too: what the texts beside it say is for showing.
    shutil.rmtree(Path(trust.find_store(place.env)).parent / trust.TEXTS)
    assert place.reason() == gone
    place.approve()
    assert place.reason(HOOKPORT_ON_FAILURE="closed") == ""


def test_hooks_of_the_user_need_no_approval(place: Place) -> None:
    place.hook("guard", "echo mine >&2; exit 2", of_user=True)
    assert place.reason() == "mine"


@pytest.mark.parametrize(
    "meta",
    [META, "trigger: session_end", f"{META}\nmetadata: {{enabled: false}}"],
    ids=["same", "event", "off"],
)
def test_an_unapproved_hook_does_not_switch_off_one_of_the_user(place: Place, meta: str) -> None:
    place.hook("guard", "echo mine >&2; exit 2", of_user=True)
    script = place.hook("guard", "exit 0", meta)
    assert place.reason() == "mine"
    place.approve()
    assert place.reason() == ""
    script.write_text("#!/bin/sh\nexit 0 # changed\n")
    assert place.reason() == "mine"


def test_a_lock_that_the_environment_approves(place: Place) -> None:
    script = place.hook("guard", "echo no >&2; exit 2")
    named = approve_for_ci(place.root, place.env)
    other = {"HOOKPORT_TRUSTED_LOCK": "0" * 64}
    why = "hookport.lock is not the one that HOOKPORT_TRUSTED_LOCK names"
    several = {"HOOKPORT_TRUSTED_LOCK": f"{'0' * 64},{named['HOOKPORT_TRUSTED_LOCK']}"}
    reasons = [place.reason(**env) for env in (named, {}, several, other)]
    assert reasons == ["no", "", "no", locked_out(why)]
    script.write_text("#!/bin/sh\nexit 0\n")
    assert place.reason(**named) == tampered("its file run.sh changed since its approval")
    # A lock that fits the script is not the lock that was approved.
    approve_for_ci(place.root, place.env)
    assert place.reason(**named) == locked_out(why)


def test_a_guard_that_is_gone_denies_by_the_lock_alone(place: Place) -> None:
    """In CI there is no store: what a guard was for is in the lock; where that is gone, all is denied."""
    guard = place.hook("guard", "echo no >&2; exit 2").parents[1]
    named = approve_for_ci(place.root, place.env)
    shutil.rmtree(guard)
    gone = tampered("it is gone from .agents/hooks/guard/HOOK.md since its approval")
    assert place.reason(**named) == gone
    (place.root / trust.LOCK).unlink()
    assert place.reason(**named) == locked_out("hookport.lock is gone, which HOOKPORT_TRUSTED_LOCK names")


def test_a_store_inside_the_project_proves_nothing(place: Place) -> None:
    place.hook("guard", "echo no >&2; exit 2")
    place.approve()
    assert trust.load_approval(str(place.root), place.env).is_known
    shutil.copytree(journal.find_state_folder(place.env), place.root / "state")
    inside = {**place.env, "HOOKPORT_STATE_DIR": str(place.root / "state")}
    assert not trust.load_approval(str(place.root), inside).is_known


def test_a_worktree_has_the_approval_of_its_checkout(place: Place) -> None:
    shutil.rmtree(place.root / ".git")
    place.hook("guard", "echo no >&2; exit 2")
    git = ["git", "-c", "user.name=n", "-c", "user.email=e@e", "-c", "commit.gpgsign=false"]
    for words in (
        ["init", "-q"],
        ["add", "-A"],
        ["commit", "-qm", "m"],
        ["worktree", "add", "-q", "../tree"],
    ):
        subprocess.run([*git, *words], cwd=place.root, env=place.env, check=True, timeout=30)
    place.approve()
    tree = place.folder / "tree"
    assert "no" in json.dumps(place.fire(cwd=tree))
    # A folder that only says that it is one is none.
    forged = place.folder / "forged"
    shutil.copytree(tree, forged)
    assert place.fire(cwd=forged) == waits("guard")
    (tree / ".agents/hooks/guard/scripts/run.sh").write_text("#!/bin/sh\nexit 0\n")
    told = place.fire(cwd=tree)["hookSpecificOutput"]["permissionDecisionReason"]
    assert told == tampered("its file run.sh changed since its approval")


@pytest.mark.parametrize("text", ["", "{", "[]", '{"version": 1, "projects": []}', '{"version": 9}'])
def test_a_store_that_cannot_be_read_approves_nothing(place: Place, text: str) -> None:
    place.hook("guard", "exit 0")
    place.approve()
    Path(trust.find_store(place.env)).write_text(text)
    assert place.fire() == waits("guard")


def test_a_lock_in_the_store_that_cannot_be_read_approves_nothing(place: Place) -> None:
    place.hook("guard", "exit 0")
    tree = {"version": 2, "projects": {str(place.root): {"states": [{"lock": {"hooks": {"a": 1}}}]}}}
    Path(trust.find_store(place.env)).parent.mkdir(parents=True)
    Path(trust.find_store(place.env)).write_text(json.dumps(tree))
    expected = unrun("the lock that you approved cannot be read") + CLOSED
    assert place.reason(HOOKPORT_ON_FAILURE="closed") == expected


def test_taking_it_back_holds_at_once(place: Place) -> None:
    place.hook("guard", "echo no >&2; exit 2")
    place.approve()
    assert place.reason() == "no"
    assert approvals.remove_approval(str(place.root), place.env) == [str(place.root)]
    assert place.fire() == waits("guard")


def test_a_plan_that_the_project_brings_along_is_not_believed(place: Place) -> None:
    """Its hooks are judged by the store, whatever it says of them."""
    place.hook("guard", "exit 0")
    root, env = str(place.root), place.env
    forged = _guard(place).replace(trust={}, command="echo bad")
    assert trust.find_hook_objection(forged, root, env) == (
        "not approved: this project is not approved yet; run `hookport trust`"
    )
    place.approve()
    bridge = place.root / ".hookport" / "bridge.plan"
    bridge.parent.mkdir()
    bridge.write_bytes(b"a plan")
    why = "not approved: .hookport/bridge.plan is not the one that you approved; run `hookport trust`"
    assert trust.find_hook_objection(forged, root, env) == why
    place.approve()
    assert trust.find_hook_objection(forged, root, env) == ""


def test_the_plan_is_for_the_lock_that_the_environment_names(place: Place) -> None:
    place.hook("guard", "exit 0")
    named = approve_for_ci(place.root, place.env)
    made, _ = plan_builder.load_current_plan(str(place.root), {**place.env, **named})
    version = hookport.__version__
    assert [plan.is_current(made, version, env) for env in (named, {}, place.env)] == [True, False, False]
