"""A bridge in the project: the same bytes from everywhere, and it needs nothing but `python3`."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import time
import zipfile
import zlib
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

import hookport
from hookport.agents import get_wire
from hookport.install import lock as lock_file
from hookport.runtime import plan, remedy, trust
from hookport.runtime.plan import DispatchPlan, PlanOrigin, parse
from hookport.vendor import vendored, writer

pytestmark = pytest.mark.skipif(os.name == "nt", reason="hooks here are shell scripts")

SOURCE = Path(hookport.__file__).parents[1]
# As git keeps it; a checkout has three to four times as much.
MOST_BYTES = 400_000
HOOK = """---
name: guard
description: d
trigger: before_tool
matcher:
  tool: Shell
---
"""
SCRIPT = "#!/bin/sh\necho 'not here' >&2\nexit 2\n"
CANONICAL = {
    "spec": "hooks/1.0",
    "hooks": [
        {
            "name": "start",
            "event": "session_start",
            "handler": {"type": "command", "command": "echo be kind"},
        }
    ],
}
CALLS: dict[tuple[str, str], dict[str, Any]] = {
    ("claude-code", "PreToolUse"): {"tool_name": "Bash", "tool_input": {"command": "ls"}},
    ("codex", "PreToolUse"): {"tool_name": "Bash", "tool_input": {"command": "ls"}},
    ("gemini-cli", "BeforeTool"): {"tool_name": "run_shell_command", "tool_input": {"command": "ls"}},
    ("cursor", "beforeShellExecution"): {"command": "ls", "cwd": ""},
}


class Project:
    """A project with a bridge, elsewhere than where it was made, and a machine without hookport."""

    def __init__(self, folder: Path) -> None:
        made = folder / "made"
        hooks = made / ".agents" / "hooks" / "guard"
        (made / ".git").mkdir(parents=True)
        (hooks / "scripts").mkdir(parents=True)
        (hooks / "HOOK.md").write_text(HOOK)
        (hooks / "scripts" / "run.sh").write_text(SCRIPT)
        (hooks / "scripts" / "run.sh").chmod(0o755)
        (made / ".hookport").mkdir()
        (made / ".hookport" / "hooks.json").write_text(json.dumps(CANONICAL))
        write(made)
        self.root = folder / "a b'c" / "checkout"
        shutil.copytree(made, self.root)
        shutil.rmtree(made)
        self.elsewhere = folder / "elsewhere"
        self.elsewhere.mkdir()
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder / "home"),
            trust.VARIABLE: trust.hash_file(str(self.root / trust.LOCK)),
        }

    def bridge(
        self, *words: str, given: object = None, flags: tuple[str, ...] = ("-I", "-S")
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, *flags, str(self.root / vendored.ARCHIVE), *words],
            cwd=self.elsewhere,
            env=self.env,
            input="" if given is None else json.dumps(given),
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )

    def call(self, agent: str = "claude-code", event: str = "PreToolUse") -> subprocess.CompletedProcess[str]:
        payload = {"session_id": "s", "hook_event_name": event, **CALLS[agent, event]}
        return self.bridge("dispatch", agent, event, given=payload)

    def told(self) -> dict[str, Any]:
        """What one agent is told on a call."""
        done = self.call()
        assert (done.returncode, done.stderr) == (0, "")
        told: dict[str, Any] = json.loads(done.stdout or "{}")
        return told

    def approve(self) -> None:
        lock(self.root)
        self.env[trust.VARIABLE] = trust.hash_file(str(self.root / trust.LOCK))


def write(root: Path) -> None:
    """What `hookport vendor` and `hookport trust` write."""
    for change in writer.plan_changes(str(root)):
        Path(change.path).write_bytes(change.after or b"")
    lock(root)


def lock(root: Path) -> None:
    found = vendored.load_plan(str(root))
    assert isinstance(found, DispatchPlan)
    hooks = [vendored.place_hook(hook, str(root)) for hook in found.read_all_hooks()]
    (root / trust.LOCK).write_text(json.dumps(trust.make_lock(hooks, str(root), {})))


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path.resolve())


def test_an_archive_is_a_zip_file() -> None:
    members = {"a.py": b"", "b/c.py": b"x = 1\n" * 99}
    with zipfile.ZipFile(BytesIO(writer.zip_members(members))) as found:
        assert found.testzip() is None
        assert {name: found.read(name) for name in found.namelist()} == members


def test_the_archive_is_small_and_says_nothing_of_its_machine() -> None:
    data = writer.build_archive()
    assert len(zlib.compress(data)) < MOST_BYTES
    with zipfile.ZipFile(BytesIO(data)) as found:
        rows = found.infolist()
        assert {row.compress_type for row in rows} == {zipfile.ZIP_STORED}
        texts = [found.read(row) for row in rows]
    assert {(row.date_time, row.external_attr) for row in rows} == {((1980, 1, 1, 0, 0, 0), 0o100644 << 16)}
    assert [row.filename for row in rows] == sorted(row.filename for row in rows)
    assert not any(str(SOURCE).encode() in text for text in texts)
    assert not any(row.filename.endswith(".pyc") for row in rows)


def test_a_copy_of_the_package_elsewhere_builds_the_same(tmp_path: Path) -> None:
    """As from a wheel: no repository around it, other times and modes, and line ends as Windows has them."""
    package = tmp_path / "site-packages" / "hookport"
    shutil.copytree(SOURCE / "hookport", package, ignore=shutil.ignore_patterns("__pycache__"))
    for path in package.rglob("*.py"):
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
        path.chmod(0o600)
        os.utime(path, (1_000_000_000, 1_000_000_000))
    code = "import sys; from hookport.vendor import writer; sys.stdout.buffer.write(writer.build_archive())"
    done = subprocess.run(
        [sys.executable, "-B", "-c", code],
        env={"PYTHONPATH": str(package.parent), "PYTHONHASHSEED": "7", "PATH": os.environ["PATH"]},
        cwd=tmp_path,
        capture_output=True,
        check=True,
        timeout=60,
    )
    assert done.stdout == writer.build_archive()


def test_a_plan_says_nothing_of_its_machine(tmp_path: Path) -> None:
    texts = []
    for name in ("one", "an other"):
        root = Project(tmp_path.resolve() / name).root
        (root / vendored.PLAN).unlink()
        texts.append(writer.compile_plan(str(root)))
        assert str(tmp_path).encode() not in texts[-1]
    assert texts[0] == texts[1]
    found = parse(texts[0])
    assert isinstance(found, DispatchPlan)
    assert found.header["contents"][".agents/hooks/*/HOOK.md"] == ["guard"]


@pytest.mark.parametrize(("agent", "event"), CALLS)
def test_a_call_is_denied_where_nothing_is_installed(project: Project, agent: str, event: str) -> None:
    done = project.call(agent, event)
    assert "not here" in done.stdout + done.stderr
    assert "deny" in done.stdout or done.returncode == 2


def test_it_is_the_same_with_its_compiled_code(project: Project) -> None:
    first = project.call()
    kept = list((Path(project.env["HOME"]) / ".cache" / "hookport" / "code").iterdir())
    assert len(kept) == 1
    assert (project.call().stdout, kept[0].stat().st_mode & 0o777) == (first.stdout, 0o600)
    kept[0].write_bytes(b"junk")
    assert project.call().stdout == first.stdout


def test_it_needs_no_home(project: Project) -> None:
    del project.env["HOME"]
    assert "not here" in project.call().stdout


def test_other_flags_and_no_environment(project: Project) -> None:
    project.env = {trust.VARIABLE: project.env[trust.VARIABLE]}
    payload = {"session_id": "s", "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {}}
    done = project.bridge("dispatch", "claude-code", "PreToolUse", given=payload, flags=())
    assert "not here" in done.stdout


def test_a_wrapped_command(project: Project) -> None:
    script = str(project.root / ".agents/hooks/guard/scripts/run.sh")
    payload = {"hook_event_name": "PreToolUse", **CALLS["claude-code", "PreToolUse"]}
    done = project.bridge(
        "wrap", "agent-hooks", "claude-code", "PreToolUse", "--", "sh", script, given=payload
    )
    assert "not here" in done.stdout


def test_hooks_of_the_user_run_where_an_installed_hookport_keeps_a_plan(project: Project) -> None:
    mine = Path(project.env["HOME"]) / ".config" / "agents" / "hooks" / "mine"
    shutil.copytree(project.root / ".agents" / "hooks" / "guard", mine)
    (mine / "HOOK.md").write_text(HOOK.replace("guard", "mine"))
    (mine / "scripts" / "run.sh").write_text(SCRIPT.replace("not here", "not me"))
    assert project.told()["hookSpecificOutput"]["permissionDecisionReason"] == "not here"
    payload = {"hook_event_name": "PreToolUse", **CALLS["claude-code", "PreToolUse"]}
    words = [sys.executable, str(SOURCE / "hookport" / "bridge.py"), "dispatch", "claude-code", "PreToolUse"]
    for _ in range(2):  # what was written a moment ago is not yet taken for read
        time.sleep(0.05)
        data = json.dumps(payload)
        subprocess.run(
            words, cwd=project.root, env=project.env, input=data, check=True, text=True, timeout=60
        )
    assert "not me" in project.told()["hookSpecificOutput"]["permissionDecisionReason"]


def test_a_hook_whose_source_changed_is_a_failure(project: Project) -> None:
    source = project.root / ".agents/hooks/guard/HOOK.md"
    source.write_text(HOOK.replace("Shell", "ReadFile"))
    denied = project.told()["hookSpecificOutput"]
    reason = denied["permissionDecisionReason"]
    assert (denied["permissionDecision"], ".." in reason) == ("deny", False)
    assert "the plan is stale: .agents/hooks/guard/HOOK.md changed" in reason
    assert "hookport sync --vendor" in reason


def test_line_ends_do_not_make_a_plan_stale(project: Project) -> None:
    for name in (".agents/hooks/guard/HOOK.md", vendored.PLAN):
        path = project.root / name
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    project.approve()
    assert project.told()["hookSpecificOutput"]["permissionDecisionReason"] == "not here"


def test_a_hook_that_is_new_denies_where_failures_deny(project: Project) -> None:
    shutil.rmtree(project.root / ".agents/hooks/guard")
    shutil.copytree(project.root / ".hookport", project.root / ".agents/hooks/new")
    (project.root / ".agents/hooks/new/HOOK.md").write_text(HOOK)
    project.env["HOOKPORT_ON_FAILURE"] = "closed"
    reason = project.told()["hookSpecificOutput"]["permissionDecisionReason"]
    assert ".agents/hooks/*/HOOK.md" in reason


def test_a_plan_does_not_say_what_an_agent_obeys(project: Project) -> None:
    own = get_wire("claude-code").replace(
        answers={"*": {"none": {"stdout": "yes"}, "deny": {"stdout": "yes"}}}
    )
    path = project.root / vendored.PLAN
    path.write_bytes(plan.make((), [own], PlanOrigin("", hookport.__version__, contents={})))
    project.approve()
    assert project.told() == {}


LOCAL = plan.make((), (), PlanOrigin("", hookport.__version__))


@pytest.mark.parametrize(
    "text", [None, b"", b"junk\n", LOCAL], ids=["missing", "empty", "junk", "of one machine"]
)
def test_a_plan_that_cannot_be_used_is_told(project: Project, text: bytes | None) -> None:
    path = project.root / vendored.PLAN
    if text is None:
        path.unlink()
    else:
        path.write_bytes(text)
    what = "gone" if text is None else "not the one that you approved"
    assert project.told()["hookSpecificOutput"]["permissionDecisionReason"] == lost(f"bridge.plan is {what}")
    # A word that nobody approved changes nothing.
    (project.root / vendored.SETTINGS).write_text('{"on_tamper": "warn"}')
    assert project.told()["hookSpecificOutput"]["permissionDecisionReason"] == lost(f"bridge.plan is {what}")
    del project.env[trust.VARIABLE]
    assert "the plan .hookport/bridge.plan cannot be used" in project.told()["systemMessage"]
    # Once a session.
    assert project.told() == {}
    (project.root / vendored.SETTINGS).write_text('{"on_failure": "closed"}')
    reason = project.told()["hookSpecificOutput"]["permissionDecisionReason"]
    assert "the plan .hookport/bridge.plan cannot be used" in reason


TRUST = f"{'hookport' if shutil.which('hookport') else 'python3 .hookport/bridge.pyz'} trust"


def lost(what: str) -> str:
    return (
        f"the approvals of this project are not available: .hookport/{what}. It is denied until the user "
        f"reviews and approves the change. Ask the user to run `{TRUST}` in their own terminal; it is "
        "refused here."
    )


def test_a_plan_without_its_guards_denies_what_they_were_for(project: Project) -> None:
    """The texts of what was approved tell for which calls a guard was, whatever the project says now."""
    del project.env[trust.VARIABLE]
    assert "approved." in project.bridge("trust", "--yes").stdout
    path = project.root / vendored.PLAN
    header, _, rest = path.read_bytes().partition(b"\n")
    path.write_bytes(json.dumps({**json.loads(header), "events": {}}).encode() + b"\n" + rest)
    denied = project.told()["hookSpecificOutput"]["permissionDecisionReason"]
    assert denied.startswith(
        "hook 'guard' is not as the user approved it: .hookport/bridge.plan is not the one"
    )
    read = {"tool_name": "Read", "tool_input": {"file_path": "x"}}
    given = {"session_id": "s", "hook_event_name": "PreToolUse", **read}
    other = project.bridge("dispatch", "claude-code", "PreToolUse", given=given)
    assert (other.returncode, other.stdout) == (0, "")


def test_an_archive_that_was_replaced_denies(project: Project) -> None:
    with zipfile.ZipFile(project.root / vendored.ARCHIVE, "a") as archive:
        archive.writestr("note", b"")
    denied = project.told()["hookSpecificOutput"]["permissionDecisionReason"]
    assert denied == lost("bridge.pyz is not the one that you approved")


def test_a_replaced_archive_denies_whatever_its_time_and_size(project: Project) -> None:
    path = project.root / vendored.ARCHIVE
    time.sleep(0.05)  # a file that changed in this tick is hashed
    project.told()
    project.told()
    data, was = path.read_bytes(), path.stat()
    at = data.index(b"hookport/console/log.py") + len("hookport/console/log.p")
    path.write_bytes(data[:at] + b"z" + data[at + 1 :])
    os.utime(path, ns=(was.st_atime_ns, was.st_mtime_ns))
    assert (path.stat().st_size, path.stat().st_mtime_ns) == (was.st_size, was.st_mtime_ns)
    denied = project.told()["hookSpecificOutput"]["permissionDecisionReason"]
    assert denied == lost("bridge.pyz is not the one that you approved")


def test_a_note_of_the_archive_that_somebody_else_wrote_does_not_count(project: Project) -> None:
    path = project.root / vendored.ARCHIVE
    time.sleep(0.05)
    project.told()
    cache = Path(project.env["HOME"], ".cache", "hookport")
    (note,) = cache.glob("plans/*.note")
    approved = note.read_bytes().partition(b"\n")[2].rpartition(b" ")[2]
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("note", b"")
    time.sleep(0.05)
    seal = note.read_bytes().partition(b"\n")[0]
    note.write_bytes(seal + b"\n" + f"{trust.stamp_settled(str(path))} ".encode() + approved)
    denied = project.told()["hookSpecificOutput"]["permissionDecisionReason"]
    assert denied == lost("bridge.pyz is not the one that you approved")


def test_an_unknown_agent_is_told(project: Project) -> None:
    done = project.bridge("dispatch", "claude-cod", "PreToolUse", given={})
    assert "built without the dialect 'claude-cod'. Did you mean 'claude-code'?" in done.stderr
    assert done.returncode == 1


def test_status_and_log(project: Project) -> None:
    before = project.bridge("status")
    assert "guard: before_tool_execute, approved, last ran: never" in before.stdout
    project.call()
    after = project.bridge("status")
    assert (after.returncode, after.stderr) == (0, "")
    assert "guard: before_tool_execute, approved, last ran: 2" in after.stdout
    log = project.bridge("log", "--denied", "--agent", "claude-code")
    assert (log.returncode, log.stderr) == (0, "")
    assert "guard: not here" in log.stdout


def test_what_is_not_approved_does_not_run(project: Project) -> None:
    del project.env[trust.VARIABLE]
    assert "hookSpecificOutput" not in project.told()
    status = project.bridge("status")
    assert status.returncode == 1
    assert "not approved" in status.stdout
    assert "last ran: never" in status.stdout


def test_an_approval_by_the_bridge_itself(project: Project) -> None:
    del project.env[trust.VARIABLE]
    seen = project.bridge("trust", "--dry-run")
    assert (seen.returncode, seen.stderr) == (0, "")
    assert "new  '.agents/hooks/guard/HOOK.md#frontmatter'" in seen.stdout
    assert "its file '.agents/hooks/guard/scripts/run.sh' is new" in seen.stdout
    assert "no terminal to ask on" in project.bridge("trust").stderr
    assert "hookSpecificOutput" not in project.told()
    assert "approved." in project.bridge("trust", "--yes").stdout
    assert project.told()["hookSpecificOutput"]["permissionDecisionReason"] == "not here"
    assert "nothing is new or changed" in project.bridge("trust").stdout
    (state,) = trust.load_approval(str(project.root), project.env).states
    assert dict(state.lock) == lock_file.read(str(project.root))
    assert "no longer approved" in project.bridge("untrust").stdout
    assert "hookSpecificOutput" not in project.told()


def test_a_script_that_is_not_in_the_lock_cannot_be_approved_by_the_bridge(project: Project) -> None:
    (project.root / ".agents/hooks/guard/scripts/run.sh").write_text(SCRIPT.replace("here", "there"))
    done = project.bridge("trust", "--yes")
    assert done.returncode == 2
    assert "hookport.lock: it does not have the current version of .agents/hooks/guard/HOOK.md" in done.stderr


def test_a_pause_by_the_bridge_itself(project: Project) -> None:
    assert project.told()["hookSpecificOutput"]["permissionDecisionReason"] == "not here"
    done = project.bridge("pause", "--yes", "--for", "10m")
    assert (done.returncode, done.stderr) == (0, "")
    end = TRUST.replace("trust", "pause --end")
    assert f": every hook. `{end}` ends it." in done.stdout
    assert f"End it with `{end}`." in project.told()["systemMessage"]
    assert project.told() == {}
    status = project.bridge("status").stdout
    assert "paused: every hook until" in status
    assert "guard: before_tool_execute, approved, paused, last ran" in status
    assert "paused: * for 600 s (unattended)" in project.bridge("log", "--json").stdout
    assert project.bridge("pause", "--end").stdout == "no longer paused: every hook\n"
    assert project.told()["hookSpecificOutput"]["permissionDecisionReason"] == "not here"


def test_a_pause_is_granted_by_the_rule_of_approvals(project: Project) -> None:
    assert "no terminal to ask on" in project.bridge("pause").stderr
    assert "unknown hook 'gard'. Did you mean 'guard'?" in project.bridge("pause", "gard").stderr
    project.env["CLAUDECODE"] = "1"
    done = project.bridge("pause", "guard", "--yes")
    assert (done.returncode, "agents may not pause hooks" in done.stderr) == (2, True)
    del project.env["CLAUDECODE"]
    assert project.told()["hookSpecificOutput"]["permissionDecisionReason"] == "not here"
    # The way out is there when the plan is not, which denies.
    (project.root / vendored.PLAN).unlink()
    assert project.bridge("pause", "--yes").returncode == 0
    assert "hookSpecificOutput" not in project.told()


STEERING = "\x1b[2J\x1b]0;x\x07\u202enot\u2066\x9b1A\u200b"


def test_what_the_bridge_prints_steers_no_terminal(tmp_path: Path) -> None:
    """Names of hooks, paths, reasons and words of the command line, in every command for people."""
    root = tmp_path / f"pro{STEERING.replace('/', '')}ject"
    (root / ".git").mkdir(parents=True)
    handler = {"type": "command", "command": f"echo '{STEERING}' >&2; exit 2"}
    name = f"guard\nhookport: approved{STEERING}"
    guard = {"name": name, "event": "before_tool_execute", "blocking": True, "handler": handler}
    (root / ".hookport").mkdir()
    (root / ".hookport" / "hooks.json").write_text(json.dumps({"spec": "hooks/1.0", "hooks": [guard]}))
    write(root)
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path / "home"), "PYTHONUTF8": "1"}

    def shown(*words: str, given: str = "") -> str:
        done = subprocess.run(
            [sys.executable, str(root / vendored.ARCHIVE), *words],
            cwd=tmp_path,
            env=env,
            input=given.encode(),
            capture_output=True,
            check=False,
            timeout=60,
        )
        return (done.stdout + done.stderr).decode("utf-8", "surrogateescape")

    payload = {"session_id": "s", "tool_name": "Bash", "tool_input": {"command": STEERING}}
    texts = [shown("trust", "--dry-run"), shown("trust", "--yes")]
    for agent in ("claude-code", f"no{STEERING}"):
        # For agents, which show right-to-left text as they see fit.
        told = shown("dispatch", agent, "PreToolUse", given=json.dumps(payload))
        assert told
        assert not set(told) & set("\x1b\x07\x9b"), told
    texts += [
        *(shown(word) for word in ("status", "log", "--help", f"no{STEERING}")),
        shown("log", "--agent", STEERING),
        shown("log", f"--no{STEERING}"),
        shown("pause", STEERING),
        shown("pause", "--yes"),
        shown("status"),
        shown("untrust"),
    ]
    assert all(texts)
    for number, text in enumerate(texts):
        assert not set(text) & set("\x1b\x07\x9b\u202e\u2066\u200b"), (number, text)
        assert "\nhookport: approved" not in text


def test_every_remedy_is_a_command_that_the_bridge_has(project: Project) -> None:
    """Modules in the archive name a command of hookport by `remedy` only, which knows who reads it."""
    paths = {path for pattern in writer.PACKED for path in (SOURCE / "hookport").glob(pattern)}
    nodes = [node for path in paths for node in ast.walk(ast.parse(path.read_text("utf-8")))]
    docstrings = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    asked: set[str] = set()
    named: list[str] = []
    for node in nodes:
        match node:
            case ast.Call(
                ast.Attribute(attr="format_command" | "format_for_models"), [ast.Constant(str(name)), *_]
            ):
                asked.add(name)
            case ast.Constant(str(text)) if id(node) not in docstrings:
                named += re.findall(r"(?i)\b(?:run|try:?|with|by|;) `hookport [^`]*`.*", text)
    assert [text for text in named if "where hookport is installed" not in text] == []
    assert {"trust", "doctor", "pause"} <= asked
    usage = project.bridge("--help").stdout
    for name in asked:
        assert f"\n  {remedy.INSTEAD.get(name, name)} " in usage


@pytest.mark.parametrize("has_hookport", [True, False])
def test_a_remedy_works_for_the_person_who_reads_it(project: Project, has_hookport: bool) -> None:
    folder = project.elsewhere / "bin"
    folder.mkdir()
    (folder / "python3").symlink_to(sys.executable)
    if has_hookport:
        (folder / "hookport").write_text("#!/bin/sh\n")
        (folder / "hookport").chmod(0o755)
    project.env["PATH"] = f"{folder}:/usr/bin:/bin"
    start = "hookport" if has_hookport else "python3 .hookport/bridge.pyz"
    other = {
        "session_id": "s",
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "cwd": str(project.root),
    }
    (project.root / ".agents/hooks/guard/scripts/run.sh").write_text("#!/bin/sh\n")
    call = {**other, "tool_input": {"command": "ls"}}
    told = project.bridge("dispatch", "claude-code", "PreToolUse", given=call).stdout
    assert f"`{start} trust` in their own terminal" in told
    # A hook file that cannot be read, told by an agent without messages: `doctor` is not in the bridge.
    (project.root / ".hookport/hooks.json").write_text("{")
    del project.env[trust.VARIABLE]
    shell = {"conversation_id": "c", "generation_id": "g", "cursor_version": "3.9", **CALLS["cursor", SHELL]}
    shell |= {"hook_event_name": SHELL, "workspace_roots": [str(project.root)]}
    told = project.bridge("dispatch", "cursor", SHELL, given=shell).stdout
    assert f"`{start} {'doctor' if has_hookport else 'status'}` in their own terminal" in told
    for command in re.findall(r"`(python3 [^`]*)`", told):
        done = subprocess.run(
            ["sh", "-c", f"{command} --help"], cwd=project.root, env=project.env, check=False, timeout=60
        )
        assert done.returncode in (0, 1)


SHELL = "beforeShellExecution"


def codes(root: Path) -> list[tuple[str, str]]:
    return [(one.code, one.message) for one in writer.check(str(root))]


def test_a_check_finds_what_is_wrong(project: Project) -> None:
    root = project.root
    assert codes(root) == []
    archive, text = root / vendored.ARCHIVE, writer.build_archive()
    archive.write_bytes(text[:-1] + b"x")
    assert [code for code, _ in codes(root)] == ["HP861"]
    with zipfile.ZipFile(BytesIO(text)) as old:
        members = {name: old.read(name) for name in old.namelist()}
    members["hookport/runtime/main.py"] += b"\n"
    archive.write_bytes(writer.zip_members({**members, "evil.py": b""}))
    why = "evil.py is unknown, hookport/runtime/main.py is another"
    assert codes(root) == [("HP861", f"it differs from what hookport {hookport.__version__} builds: {why}")]
    archive.write_bytes(text)
    (root / ".hookport" / "hooks.json").write_text(json.dumps({**CANONICAL, "hooks": []}))
    stale = "the plan is stale: .hookport/hooks.json changed since it was made"
    assert codes(root) == [("HP862", stale)]
    (root / vendored.PLAN).unlink()
    assert codes(root) == [("HP860", "it does not exist")]
    for change in writer.plan_changes(str(root)):
        Path(change.path).write_bytes(change.after or b"")
    assert codes(root) == [("HP863", "the lock does not have the hash of .hookport/bridge.plan")]
    lock(root)
    assert codes(root) == []


def test_a_file_about_to_be_written_counts_as_written(project: Project) -> None:
    path = project.root / ".claude" / "settings.json"
    data = b'{"permissions": {}}\n'
    text = writer.compile_plan(str(project.root), {str(path): data})
    path.parent.mkdir()
    path.write_bytes(data)
    assert writer.compile_plan(str(project.root)) == text


def test_hooks_of_one_machine_are_left_out(project: Project) -> None:
    before = writer.compile_plan(str(project.root))
    handler = {"type": "command", "command": "true"}
    path = project.root / ".claude" / "settings.local.json"
    path.parent.mkdir()
    path.write_text(json.dumps({"hooks": {"Stop": [{"hooks": [handler]}]}}))
    assert writer.compile_plan(str(project.root)) == before
    assert [(one.code, one.file) for one in writer.find_left_out(str(project.root))] == [("HP864", str(path))]
