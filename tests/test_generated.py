"""Generated code, run for real: scripts by every shell that is installed, the plugin by bun or by node."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hookport.agents import get
from hookport.convert import pipeline
from tests import agent_data
from tests.engines import BUN, NODE

HERE = Path(__file__).parent
# Debian's sh is dash; bash that is started as sh keeps other rules.
NAMES = ("sh", "bash") if "dash" in os.path.realpath(shutil.which("sh") or "") else ("sh", "dash", "bash")
SHELLS = [path for path in map(shutil.which, NAMES) if path]
# OpenCode runs plugins on Bun in its terminal program and on Node.js in its desktop app.
ENGINE = BUN or NODE

needs_shell = pytest.mark.skipif(os.name == "nt" or not SHELLS, reason="there is no POSIX shell here")
needs_node = pytest.mark.skipif(not NODE, reason="no node that runs TypeScript is installed")
needs_engine = pytest.mark.skipif(
    os.name == "nt" or not ENGINE, reason="neither bun nor a node that runs TypeScript, or no POSIX shell"
)
each_shell = pytest.mark.parametrize("shell", SHELLS, ids=[Path(shell).name for shell in SHELLS])

NASTY = (
    "'",
    '"',
    "\\",
    "\n",
    "\r",
    "\t",
    "$(touch pwned)",
    "`touch pwned`",
    "; touch pwned #",
    "'; touch pwned; '",
    "${IFS}$HOME",
    "%s%n",
    "*",
    "~",
    "!",
    "\u2028",
    "\u00e4\U0001f512",
    "\x01\x1f\x7f",
    "</script>",
    '"toolName": "run_commands"',
    "-n ",
)
plain = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"), max_size=12)
hostile = st.lists(st.one_of(st.sampled_from(NASTY), plain), max_size=6).map("".join)
trees = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), hostile
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(hostile, inner, max_size=3)),
    max_leaves=8,
)


def hook(command: str, *, event: str = "before_tool_execute", **fields: Any) -> dict[str, Any]:
    handler = {"type": "command", "command": command, "timeout": 10, **fields.pop("handler", {})}
    return {"event": event, "blocking": event == "before_tool_execute", "handler": handler, **fields}


def generated(target: str, *hooks: dict[str, Any]) -> dict[str, str]:
    manifest = json.dumps({"spec": "hooks/1.0", "hooks": hooks}).encode()
    result = pipeline.convert(
        pipeline.read({"hooks.json": manifest}, get("canonical")), get(target), bare=True
    )
    return {file.path: file.text for file in result.files}


# A guard of Claude Code as people write them: it knows its own payload and nothing of any other agent.
GUARD = """
import json, os, sys
said = json.load(sys.stdin)
if said["hook_event_name"] == "Stop":
    if said["stop_hook_active"]:
        sys.exit(0)
    print("run the tests", file=sys.stderr)
    sys.exit(2)
if said["hook_event_name"] == "PostToolUse":
    print(json.dumps({"decision": "block", "reason": "look at " + said["tool_input"]["command"]}))
    sys.exit(0)
os.stat(os.path.join(os.environ["CLAUDE_PROJECT_DIR"], ".claude", "settings.json"))
command = said["tool_input"]["command"]
answer = {"hookEventName": "PreToolUse"}
if "rm -rf" in command:
    print('no "rm -rf" here', file=sys.stderr)
    sys.exit(2)
if command.startswith("curl"):
    answer |= {"permissionDecision": "ask", "permissionDecisionReason": "may it?"}
elif command.startswith("npm "):
    changed = {**said["tool_input"], "command": "p" + command}
    answer |= {"permissionDecision": "allow", "updatedInput": changed}
elif command == "ls":
    answer |= {"additionalContext": "use \\"rg\\"\\n\u00e4"}
else:
    sys.exit(0)
print(json.dumps({"hookSpecificOutput": answer}))
"""
ASKED = "may it? (a hook cannot ask here)"


def wild(root: Path, target: str, *events: str, folder: str = "") -> dict[str, str]:
    """A project with that guard, converted for the bridge; the environment has a `hookport` to run."""
    call = {
        "type": "command",
        "command": f'{shlex.quote(sys.executable)} "$CLAUDE_PROJECT_DIR"/.claude/guard.py',
        "timeout": 30,
    }
    tree = {"hooks": {event: [{"matcher": "Bash", "hooks": [call]}] for event in events}}
    settings_file = json.dumps(tree).encode()
    reading = pipeline.read({".claude/settings.json": settings_file}, get("claude-code"))
    files = {file.path: file.text.encode() for file in pipeline.convert(reading, get(target)).files}
    files |= {".claude/settings.json": settings_file, ".claude/guard.py": GUARD.encode()}
    for path, data in files.items():
        file = root / folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    programs = root / "programs"
    programs.mkdir()
    source = shlex.quote(str(HERE.parent / "src"))
    (programs / "hookport").write_text(
        f'#!/bin/sh\nPYTHONPATH={source} exec {shlex.quote(sys.executable)} -m hookport "$@"\n', "utf-8"
    )
    (programs / "hookport").chmod(0o755)
    kept = {"HOOKPORT_STATE_DIR": str(root / "state"), "HOOKPORT_CACHE_DIR": str(root / "cache")}
    return {**os.environ, **kept, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}


def payload(name: str, *, tool: str = "", parameters: Any = None, host: str = "") -> bytes:
    """A captured payload, about another tool or from the other runtime where asked."""
    data = agent_data.payload(f"cline/{name}.json").read_bytes()
    tree = json.loads(data)
    if tool:
        tree["tool_call"]["name"] = tree["preToolUse"]["toolName"] = tool
    if parameters is not None:
        tree["tool_call"]["input"] = parameters
        tree["preToolUse"]["parameters"] = {"text": json.dumps(parameters, ensure_ascii=False)}
    if host:
        tree = {
            "clineVersion": "4.1.13",
            "hookName": host,
            **{k: v for k, v in tree.items() if k != "hookName"},
        }
    changed = bool(tool or host or parameters is not None)
    return json.dumps(tree, ensure_ascii=False, separators=(",", ":")).encode() if changed else data


def run(
    argv: list[str], folder: Path, stdin: bytes, env: dict[str, str]
) -> subprocess.CompletedProcess[bytes]:
    """What came of a command; one that hangs goes with its whole group, so that nothing stays behind."""
    pipe = subprocess.PIPE
    with subprocess.Popen(
        argv, cwd=folder, env=env, start_new_session=True, stdin=pipe, stdout=pipe, stderr=pipe
    ) as child:
        try:
            out, err = child.communicate(stdin, timeout=60)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            raise
    return subprocess.CompletedProcess(argv, child.returncode, out, err)


def is_running(file: Path) -> bool:
    """Whether the process whose number a file holds is still there a while later."""
    number = file.read_text("utf-8").strip()
    for _ in range(50):
        state = subprocess.run(["ps", "-o", "stat=", "-p", number], capture_output=True, check=False).stdout
        if state.strip()[:1] in (b"", b"Z"):
            return False
        time.sleep(0.1)
    return True


class Project:
    """A folder with the scripts of some hooks."""

    def __init__(self, root: Path, *hooks: dict[str, Any]) -> None:
        self.root = root
        self.temporary = root / "temporary"
        self.temporary.mkdir()
        for path, text in generated("cline", *hooks).items():
            script = root / path
            script.parent.mkdir(parents=True, exist_ok=True)
            script.write_bytes(text.encode())
            script.chmod(0o755)

    def fire(self, shell: str, stdin: bytes, event: str = "PreToolUse") -> str:
        script = self.root / ".clinerules/hooks" / event
        done = run([shell, str(script)], self.root, stdin, {**os.environ, "TMPDIR": str(self.temporary)})
        assert done.returncode == 0
        assert list(self.temporary.iterdir()) == []
        assert not (self.root / "pwned").exists()
        # The host is JavaScript, which reads what is no UTF-8 as U+FFFD.
        return done.stdout.decode("utf-8", "replace")


def answer(reason: str) -> dict[str, Any]:
    return {"cancel": True, "errorMessage": reason}


@needs_shell
@each_shell
class TestScript:
    """What a generated script does with one call."""

    def test_it_is_a_script_of_this_shell(self, shell: str, tmp_path: Path) -> None:
        project = Project(
            tmp_path, hook("true"), hook("true", event="after_tool_execute"), hook("true", event="agent_stop")
        )
        for script in sorted((project.root / ".clinerules/hooks").iterdir()):
            checked = subprocess.run([shell, "-n", str(script)], capture_output=True, check=False)
            assert (checked.returncode, checked.stderr) == (0, b"")

    def test_exit_2_stops_the_run_with_the_reason(self, shell: str, tmp_path: Path) -> None:
        project = Project(tmp_path, hook("cat >seen; echo no 'rm' here >&2; exit 2", matcher="shell"))
        assert json.loads(project.fire(shell, payload("PreToolUse"))) == answer("no rm here")
        assert (tmp_path / "seen").read_bytes() == payload("PreToolUse")

    def test_harmless_calls_pass_without_a_word(self, shell: str, tmp_path: Path) -> None:
        project = Project(tmp_path, hook("cat >/dev/null; echo checked; echo fine >&2", matcher="shell"))
        assert project.fire(shell, payload("PreToolUse")) == ""

    def test_other_tools_are_left_alone(self, shell: str, tmp_path: Path) -> None:
        project = Project(tmp_path, hook("touch ran; exit 2", matcher="shell"))
        text = {"text": '"toolName": "run_commands"', "more": '\\"toolName\\":\\"run_commands\\"'}
        assert project.fire(shell, payload("PreToolUse", tool="editor", parameters=text)) == ""
        assert not (tmp_path / "ran").exists()

    @pytest.mark.parametrize(
        ("matcher", "tool", "runs"),
        [
            ("shell", "run_commands", True),
            ("shell", "execute_command", True),
            ("shell", "run_commands_too", False),
            (["file_write", "file_edit"], "apply_patch", True),
            ("agent", "team_spawn", True),
            ("agent", "team", False),
            ({"mcp": {"server": "github"}}, "github_create_issue", True),
            ({"mcp": {"server": "github"}}, "read_files", False),
            ({"mcp": {"server": "*"}}, "team_spawn", False),
            (["shell", {"mcp": {"server": "*"}}], "run_commands", True),
        ],
    )
    def test_matchers(self, shell: str, tmp_path: Path, matcher: Any, tool: str, runs: bool) -> None:
        project = Project(tmp_path, hook("echo R >&2; exit 2", matcher=matcher))
        out = project.fire(shell, payload("PreToolUse", tool=tool))
        assert (json.loads(out) if out else None) == (answer("R") if runs else None)

    def test_a_payload_without_a_tool_is_not_let_through(self, shell: str, tmp_path: Path) -> None:
        project = Project(tmp_path, hook("echo R >&2; exit 2", matcher="shell"))
        assert json.loads(project.fire(shell, b'{"toolname": 1}')) == answer("R")
        assert json.loads(project.fire(shell, b"")) == answer("R")

    @pytest.mark.parametrize("tool", ["\\", "\\\\", '\\"', "a\\"])
    def test_backslashes_do_not_hold_up_a_guard(self, shell: str, tmp_path: Path, tool: str) -> None:
        project = Project(tmp_path, hook("echo R >&2; exit 2", matcher=tool))
        assert json.loads(project.fire(shell, payload("PreToolUse", tool=tool))) == answer("R")
        assert project.fire(shell, payload("PreToolUse")) == ""

    def test_a_second_tool_name_in_the_input_hides_nothing(self, shell: str, tmp_path: Path) -> None:
        project = Project(tmp_path, hook("echo R >&2; exit 2", matcher="shell"))
        spoofed = payload("PreToolUse", parameters={"toolName": "editor", "hookName": "PreToolUse"})
        assert json.loads(project.fire(shell, spoofed)) == answer("R")

    @pytest.mark.parametrize(
        ("command", "fields", "reason"),
        [
            ("exit 1", {}, None),
            ("exit 1", {"on_failure": "block"}, "hook g failed with exit code 1"),
            ("no-such-command-here", {"on_failure": "block"}, "hook g failed with exit code 127"),
            ("kill -9 $$", {"on_failure": "block"}, "hook g failed with exit code 137"),
            ("kill -9 $$", {"timeout_action": "block"}, None),
            ("exec sleep 40", {"timeout": 1}, None),
            ("exec sleep 40", {"timeout": 1, "timeout_action": "block"}, "hook g did not answer in time"),
            ("exec sleep 40", {"timeout": 1, "on_failure": "block"}, "hook g did not answer in time"),
            ("exit 2", {}, "blocked by hook g"),
        ],
    )
    def test_failures_follow_the_policy(
        self, shell: str, tmp_path: Path, command: str, fields: dict[str, Any], reason: str | None
    ) -> None:
        project = Project(tmp_path, hook(command, name="g", handler=fields))
        out = project.fire(shell, payload("PreToolUse"))
        assert (json.loads(out) if out else None) == (answer(reason) if reason else None)

    def test_a_late_hook_goes_with_all_it_started(self, shell: str, tmp_path: Path) -> None:
        started = "sleep 300 & echo $! >child; trap '' TERM; sleep 301"
        project = Project(tmp_path, hook(started, handler={"timeout": 1, "on_failure": "block"}))
        begin = time.monotonic()
        assert json.loads(project.fire(shell, payload("PreToolUse")))["cancel"] is True
        assert time.monotonic() - begin < 20
        assert not is_running(tmp_path / "child")

    def test_what_a_hook_leaves_running_is_not_waited_for(self, shell: str, tmp_path: Path) -> None:
        project = Project(tmp_path, hook("sleep 30 & echo $! >child; echo R >&2; exit 2"))
        begin = time.monotonic()
        assert json.loads(project.fire(shell, payload("PreToolUse"))) == answer("R")
        assert time.monotonic() - begin < 20
        os.kill(int((tmp_path / "child").read_text("utf-8")), signal.SIGKILL)

    def test_hooks_share_the_time_the_host_waits(self, shell: str, tmp_path: Path) -> None:
        slow = hook("sleep 42", handler={"timeout": 20})
        guard = hook("echo R >&2; exit 2", name="g", handler={"on_failure": "block"})
        project = Project(tmp_path, slow, guard)
        script = tmp_path / ".clinerules/hooks/PreToolUse"
        text = script.read_text("utf-8")
        assert "\nhp_strict=27\n" in text
        script.write_text(text.replace("\nhp_strict=27\n", "\nhp_strict=2\n"), "utf-8")
        out = project.fire(shell, payload("PreToolUse", host="PreToolUse"))
        assert json.loads(out) == answer("hook g did not answer in time")

    def test_a_hook_that_must_not_block_cannot(self, shell: str, tmp_path: Path) -> None:
        said = '{"cancel": true, "errorMessage": "E", "contextModification": "C"}'
        project = Project(
            tmp_path,
            hook("echo R >&2; exit 2", blocking=False),
            hook(f"echo {shlex.quote(said)}", blocking=False),
        )
        assert json.loads(project.fire(shell, payload("PreToolUse"))) == {"contextModification": "C"}

    @pytest.mark.parametrize(
        ("said", "given"),
        [
            ('{"cancel": true, "errorMessage": "E"}', answer("E")),
            ('{"cancel": true}', answer("blocked by hook g")),
            ('{"cancel": true, "contextModification": "C"}', answer("C")),
            (
                '{\n  "contextModification": "a\\nb",\n  "other": [1, {"cancel": true}]\n}',
                {"contextModification": "a\nb"},
            ),
            ('{"context": "C"}', {"contextModification": "C"}),
            ('{"overrideInput": {"commands": ["ls"]}}', {"overrideInput": {"commands": ["ls"]}}),
            ('{"cancel": "true"}', None),
            ('{"cancel": false, "review": true}', None),
            ('{"decision": "deny"}', None),
            ('{"cancel": true} {"cancel": true}', None),
            ('log line\n{"cancel": true}', None),
            ('{"cancel": true,}', None),
            ('{"x": "\\q", "cancel": true}', None),
            ('{"x": "open', None),
            ('["cancel"]', None),
            ("{}", None),
        ],
    )
    def test_own_answers_are_passed_on(self, shell: str, tmp_path: Path, said: str, given: Any) -> None:
        project = Project(tmp_path, hook(f"printf '%s' {shlex.quote(said)}", name="g"))
        out = project.fire(shell, payload("PreToolUse"))
        assert (json.loads(out) if out else None) == given

    def test_several_answers_become_one(self, shell: str, tmp_path: Path) -> None:
        first = {"contextModification": 'one "1"', "overrideInput": {"a": 1}}
        second = {"contextModification": "two\\2", "overrideInput": {"b": [None]}}
        hooks = [hook(f"printf '%s' {shlex.quote(json.dumps(each))}") for each in (first, second)]
        project = Project(tmp_path, *hooks, hook("echo nothing"))
        expected = {"contextModification": 'one "1"\n\ntwo\\2', "overrideInput": {"b": [None]}}
        assert json.loads(project.fire(shell, payload("PreToolUse"))) == expected

    def test_a_rewrite_the_host_would_ignore_stops_the_run(self, shell: str, tmp_path: Path) -> None:
        project = Project(tmp_path, hook('echo \'{"overrideInput": {"commands": []}}\'', name="g"))
        out = project.fire(shell, payload("PreToolUse", host="PreToolUse"))
        assert json.loads(out) == answer("hook g changes the tool's input, and this host would ignore it")

    @pytest.mark.parametrize(
        ("event", "native"),
        [
            ("session_start", "TaskStart"),
            ("agent_stop", "TaskComplete"),
            ("session_end", "SessionShutdown"),
        ],
    )
    def test_other_events_get_their_payload(
        self, shell: str, tmp_path: Path, event: str, native: str
    ) -> None:
        project = Project(tmp_path, hook("cat >seen; exit 2", event=event))
        assert project.fire(shell, payload(native), native) == ""
        assert (tmp_path / "seen").read_bytes() == payload(native)

    def test_commands_know_the_project_and_keep_the_umask(self, shell: str, tmp_path: Path) -> None:
        inner = tmp_path / "it's a 'project'"
        inner.mkdir()
        project = Project(inner, hook('pwd; echo "$CLINE_PROJECT_DIR" >&2; umask >mask; exit 2'))
        out = project.fire(shell, payload("PreToolUse"))
        assert Path(json.loads(out)["errorMessage"]).resolve() == inner.resolve()
        mask = subprocess.run([shell, "-c", "umask"], capture_output=True, check=True).stdout
        assert (inner / "mask").read_bytes() == mask


@needs_shell
@each_shell
class TestBridgedScript:
    """A guard of Claude Code behind the bridge, fired by the script with Cline's own payloads."""

    @pytest.mark.parametrize(
        ("commands", "given"),
        [
            (["rm -rf build"], answer('no "rm -rf" here')),
            (["echo fine", "rm -rf build"], answer('no "rm -rf" here')),
            (["curl x"], answer(ASKED)),
            (["echo fine"], None),
            (["npm test"], {"overrideInput": {"commands": ["pnpm test"]}}),
            (["ls"], {"contextModification": 'use "rg"\n\u00e4'}),
        ],
    )
    def test_it_is_obeyed(self, shell: str, tmp_path: Path, commands: list[str], given: Any) -> None:
        out = self.fire(shell, tmp_path, wild(tmp_path, "cline", "PreToolUse"), commands)
        assert (json.loads(out) if out else None) == given

    def test_a_deny_after_a_tool_is_told_to_the_model(self, shell: str, tmp_path: Path) -> None:
        env = wild(tmp_path, "cline", "PostToolUse")
        out = self.fire(shell, tmp_path, env, ["echo fine"], "PostToolUse")
        assert json.loads(out) == {"contextModification": "look at echo fine"}

    @pytest.mark.parametrize(
        ("command", "is_denied"), [("rm -rf build", True), ("npm test", True), ("echo fine", False)]
    )
    def test_the_extension_obeys_it_too(
        self, shell: str, tmp_path: Path, command: str, is_denied: bool
    ) -> None:
        env = wild(tmp_path, "cline", "PreToolUse")
        out = self.fire(shell, tmp_path, env, [command], host="PreToolUse")
        assert (json.loads(out)["cancel"] if out else False) is is_denied

    def test_several_hooks_give_one_answer(self, shell: str, tmp_path: Path) -> None:
        env = wild(tmp_path, "cline", "PreToolUse")
        script = tmp_path / ".clinerules/hooks/PreToolUse"
        (call,) = (line for line in script.read_text("utf-8").split("\n") if line.startswith("hook "))
        said = shlex.quote(json.dumps({"contextModification": "first"}))
        watches = f"hook 10 watches open all first {shlex.quote('printf %s ' + said)}"
        script.write_text(script.read_text("utf-8").replace(call, f"{watches}\n{call}\n{call}"), "utf-8")
        assert json.loads(self.fire(shell, tmp_path, env, ["npm test"])) == {
            "contextModification": "first",
            "overrideInput": {"commands": ["pnpm test"]},
        }
        both = 'first\n\nuse "rg"\n\u00e4\n\nuse "rg"\n\u00e4'
        assert json.loads(self.fire(shell, tmp_path, env, ["ls"])) == {"contextModification": both}
        assert json.loads(self.fire(shell, tmp_path, env, ["rm -rf x"])) == answer('no "rm -rf" here')

    def test_a_guard_without_the_bridge_denies(self, shell: str, tmp_path: Path) -> None:
        env = wild(tmp_path, "cline", "PreToolUse")
        (tmp_path / "programs/hookport").unlink()
        if shutil.which("hookport", path=env["PATH"]):
            pytest.skip("hookport is installed here")
        reason = "hookport is not installed, so this guard cannot run"
        assert json.loads(self.fire(shell, tmp_path, env, ["echo fine"])) == answer(reason)

    @staticmethod
    def fire(
        shell: str,
        root: Path,
        env: dict[str, str],
        commands: list[str],
        event: str = "PreToolUse",
        host: str = "",
    ) -> str:
        tree = json.loads(agent_data.payload("cline/PreToolUse.json").read_bytes())
        tree |= {"workspaceRoots": [str(root)], "hookName": host or tree["hookName"]}
        tree["workspaceInfo"]["rootPath"] = str(root)
        tree["tool_call"]["input"]["commands"] = commands
        tree["preToolUse"]["parameters"]["commands"] = json.dumps(commands)
        if event == "PostToolUse":  # built from the shape in the source
            output = [{"query": commands[0], "result": "", "success": True}]
            tree |= {
                "hookName": "tool_result",
                "tool_result": {**tree.pop("tool_call"), "output": output},
                "postToolUse": {**tree.pop("preToolUse"), "result": json.dumps(output), "success": True},
            }
        if host:
            del tree["tool_call"]
        script = root / ".clinerules/hooks" / event
        done = run([shell, str(script)], root, json.dumps(tree).encode(), env)
        assert done.returncode == 0, done.stderr
        return done.stdout.decode()


@needs_shell
@settings(max_examples=40)
@given(shell=st.sampled_from(SHELLS or [""]), text=hostile, name=hostile.filter(str.strip))
def test_values_reach_their_command_and_no_shell_before_it(shell: str, text: str, name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        project = Project(root, hook(f"printf '%s' {shlex.quote(text)} >got; exit 2", name=name))
        out = project.fire(shell, payload("PreToolUse"))
        assert (root / "got").read_bytes() == text.encode()
        assert json.loads(out) == answer(f"blocked by hook {name}".removesuffix("\n"))


@needs_shell
@settings(max_examples=40)
@given(shell=st.sampled_from(SHELLS or [""]), reason=hostile.filter(str.strip))
def test_every_reason_is_told_as_it_is(shell: str, reason: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "reason").write_bytes(reason.encode())
        project = Project(root, hook("cat reason >&2; exit 2"))
        assert json.loads(project.fire(shell, payload("PreToolUse"))) == answer(reason.rstrip("\n"))


@needs_shell
@settings(max_examples=40)
@given(
    shell=st.sampled_from(SHELLS or [""]),
    tool=hostile.filter(lambda text: text and not text.endswith("*")),
    other=hostile,
)
def test_a_tool_of_any_name_is_told_from_others(shell: str, tool: str, other: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        project = Project(Path(folder), hook("echo R >&2; exit 2", matcher=tool))
        assert json.loads(project.fire(shell, payload("PreToolUse", tool=tool))) == answer("R")
        if other not in ("", tool):
            assert project.fire(shell, payload("PreToolUse", tool=other, parameters={"text": tool})) == ""


@needs_shell
@settings(max_examples=40)
@given(
    shell=st.sampled_from(SHELLS or [""]), context=hostile.filter(bool), tree=trees, is_ascii=st.booleans()
)
def test_every_json_answer_arrives_whole(shell: str, context: str, tree: Any, is_ascii: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        said = {"overrideInput": {"value": tree}, "other": tree, "contextModification": context}
        (root / "said").write_bytes(json.dumps(said, ensure_ascii=is_ascii, indent=1).encode())
        project = Project(root, hook("cat said"))
        out = json.loads(project.fire(shell, payload("PreToolUse")))
        assert out == {"contextModification": context, "overrideInput": {"value": tree}}


@needs_shell
@settings(max_examples=40)
@given(shell=st.sampled_from(SHELLS or [""]), said=st.one_of(st.binary(max_size=60), hostile.map(str.encode)))
def test_noise_gives_no_answer_or_a_readable_one(shell: str, said: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "said").write_bytes(said)
        project = Project(root, hook("cat said; cat said >&2; exit 2"))
        out = json.loads(project.fire(shell, payload("PreToolUse")))
        assert out["cancel"] is True
        assert out["errorMessage"]


CALLER = """
import { existsSync, readFileSync, writeFileSync } from "node:fs";
const { calls, host, file } = JSON.parse(readFileSync("calls.json", "utf8"));
const plugin = await import(file);
const prompts = [], toasts = [];
const client = {
  session: { promptAsync: async (prompt) => (prompts.push(prompt), {}) },
  tui: { showToast: async (toast) => (toasts.push(toast), {}) },
};
const hooks = await plugin.HookportPlugin({ directory: process.cwd(), client, ...host });
const results = [];
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const lines = (file) => (existsSync(file) ? readFileSync(file, "utf8") : "").split("\\n").length - 1;
const isSo = (until) => (until.file ? lines(until.file) >= until.lines : prompts.length >= until.prompts);
for (const { name, input, output, wait, until } of calls) {
  let error = null;
  try { await hooks[name]?.(input, output); } catch (thrown) { error = thrown.message; }
  for (let n = 0; until && n < 300 && !isSo(until); n++) await pause(100);
  if (wait) await pause(wait);
  results.push({ error, output });
}
const exports = Object.keys(plugin);
const keys = Object.keys(hooks);
writeFileSync("results.json", JSON.stringify({ exports, keys, results, prompts, toasts }));
process.exit(0);
"""


class Plugin:
    """A folder with the plugin of some hooks and what calls it."""

    file = "./plugin.ts"

    def __init__(self, root: Path, *hooks: dict[str, Any], env: dict[str, str] | None = None) -> None:
        self.root = root
        self.env = env or dict(os.environ)
        self.host: dict[str, str] = {}
        if hooks:
            (text,) = generated("opencode", *hooks).values()
            (root / "plugin.ts").write_text(text, "utf-8")
        (root / "caller.mjs").write_text(CALLER, "utf-8")

    @classmethod
    def wild(cls, root: Path, *events: str, folder: str = "") -> Plugin:
        """The plugin of a guard of Claude Code, where OpenCode looks for it."""
        made = cls(root, env=wild(root, "opencode", *events, folder=folder))
        made.file = "./" + str(Path(folder) / ".opencode/plugins/hookport.ts")
        return made

    def call(self, *calls: dict[str, Any]) -> dict[str, Any]:
        tree = {"calls": calls, "host": self.host, "file": self.file}
        (self.root / "calls.json").write_text(json.dumps(tree), "utf-8")
        done = run([ENGINE, "caller.mjs"], self.root, b"", self.env)
        assert done.returncode == 0, done.stderr.decode()
        assert not (self.root / "pwned").exists()
        result: dict[str, Any] = json.loads((self.root / "results.json").read_bytes())
        return result

    def before(self, *, tool: str = "", args: dict[str, Any] | None = None) -> dict[str, Any]:
        """What comes of one captured call before a tool runs."""
        call = captured("tool.execute.before")
        if tool:
            call["input"]["tool"] = tool
        if args is not None:
            call["output"]["args"] = args
        result: dict[str, Any] = self.call(call)["results"][0]
        return result


def captured(name: str) -> dict[str, Any]:
    call: dict[str, Any] = json.loads(agent_data.payload(f"opencode/{name}.json").read_bytes())
    return {"name": "event" if name.startswith("event.") else name, **call}


def assert_built_in_imports(source: str) -> None:
    """Every module comes with the engine: a package may be missing, and that of pi was renamed once."""
    imports = [line for line in source.splitlines() if line.startswith("import ")]
    assert imports
    assert all('from "node:' in line for line in imports)
    assert source.count("import ") == len(imports)


@needs_node
@settings(max_examples=15)
@given(text=hostile, name=hostile)
def test_the_plugin_is_javascript_whatever_is_in_it(text: str, name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "plugin.mjs"
        (source,) = generated(
            "opencode", hook(f"x{text}", name=name, matcher=["shell", name or "x"])
        ).values()
        file.write_text(source, "utf-8")
        checked = subprocess.run([NODE, "--check", str(file)], capture_output=True, check=False)
        assert (checked.returncode, checked.stderr) == (0, b"")
        assert source.isascii()
        assert_built_in_imports(source)
        assert source.count("export ") == source.count("export const HookportPlugin = async (") == 1


@needs_engine
class TestPlugin:
    """What the generated plugin does when it is called as the host calls it."""

    def test_it_exports_one_function_and_listens_to_what_it_needs(self, tmp_path: Path) -> None:
        result = Plugin(tmp_path, hook("true")).call()
        keys = ["tool.execute.before", "tool.execute.after"]
        assert (result["exports"], result["keys"]) == (["HookportPlugin"], keys)

    def test_exit_2_throws_the_reason(self, tmp_path: Path) -> None:
        plugin = Plugin(tmp_path, hook("cat >seen; echo 'no \"rm\"' >&2; exit 2", matcher="shell"))
        call = captured("tool.execute.before")
        assert plugin.before() == {"error": 'no "rm"', "output": call["output"]}
        assert json.loads((tmp_path / "seen").read_bytes()) == {
            "hook": "tool.execute.before",
            "input": call["input"],
            "output": call["output"],
            "directory": str(tmp_path.resolve()),
            "worktree": str(tmp_path.resolve()),
            "stop_active": False,
        }

    def test_harmless_calls_and_other_tools_pass(self, tmp_path: Path) -> None:
        plugin = Plugin(tmp_path, hook("touch ran; exit 2", matcher="file_read"), hook("echo fine; exit 0"))
        assert plugin.before()["error"] is None
        assert not (tmp_path / "ran").exists()

    @pytest.mark.parametrize(
        ("matcher", "tool", "runs"),
        [
            ("shell", "bash", True),
            ("shell", "bashful", False),
            ("file_write", "apply_patch", True),
            ({"mcp": {"server": "my.server", "tool": "do it"}}, "my_server_do_it", True),
            ({"mcp": {"server": "apply"}}, "apply_patch", False),
            ({"mcp": {"server": "apply"}}, "apply_all", True),
            ({"mcp": {"server": "*"}}, "github_create_issue", True),
            ({"mcp": {"server": "*"}}, "webfetch", False),
        ],
    )
    def test_matchers(self, tmp_path: Path, matcher: Any, tool: str, runs: bool) -> None:
        plugin = Plugin(tmp_path, hook("echo R >&2; exit 2", matcher=matcher))
        assert plugin.before(tool=tool)["error"] == ("R" if runs else None)

    @pytest.mark.parametrize(
        ("content", "text", "runs"),
        [
            (r"rm\s+-rf", "rm  -rf /", True),
            (r"rm\s+-rf", "ls", False),
            (r"\.py$", "a.py", True),
            (r"\.py$", "a.pyc", False),
            (r'say "hi"', 'say "hi"', True),
            (r"(?i)DROP TABLE", "drop table x", True),
            (r"\Arm", "ls", True),
            (r"(?P<a>x", "ls", True),
            (r"[[:alpha:]]", "1", True),
        ],
    )
    def test_content_patterns_never_miss(self, tmp_path: Path, content: str, text: str, runs: bool) -> None:
        own = {"hookport": {"content": content}}
        plugin = Plugin(tmp_path, hook("echo R >&2; exit 2", provider_data=own))
        assert plugin.before(args={"command": text})["error"] == ("R" if runs else None)

    @pytest.mark.parametrize(
        ("command", "fields", "error"),
        [
            ("exit 1", {}, None),
            ("exit 1", {"on_failure": "block"}, "hook g failed with exit code 1"),
            ("kill -9 $$", {"on_failure": "block"}, "hook g failed with a signal"),
            ("exec sleep 40", {"timeout": 1}, None),
            ("exec sleep 40", {"timeout": 1, "timeout_action": "block"}, "hook g did not answer in time"),
            ("sleep 43 & sleep 44", {"timeout": 1, "on_failure": "block"}, "hook g did not answer in time"),
            ("exit 2", {"async": True}, None),
            ('echo \'{"decision": "deny", "reason": "R"}\'', {}, "R"),
            ('echo \'{"decision": "ask"}\'', {}, "blocked by hook g"),
            ("echo 'log'; echo '{\"decision\": \"deny\"}'", {}, None),
        ],
    )
    def test_failures_follow_the_policy(
        self, tmp_path: Path, command: str, fields: dict[str, Any], error: str | None
    ) -> None:
        plugin = Plugin(tmp_path, hook(command, name="g", handler=fields))
        begin = time.monotonic()
        assert plugin.before()["error"] == error
        assert time.monotonic() - begin < 20

    def test_a_hook_that_cannot_start_follows_the_policy(self, tmp_path: Path) -> None:
        plugin = Plugin(
            tmp_path, hook("true", name="g", handler={"cwd": "no/such/folder", "on_failure": "block"})
        )
        assert plugin.before()["error"].startswith("hook g did not start: ")

    def test_a_late_hook_goes_with_all_it_started(self, tmp_path: Path) -> None:
        plugin = Plugin(tmp_path, hook("sleep 300 & echo $! >child; sleep 301", handler={"timeout": 1}))
        assert plugin.before()["error"] is None
        assert not is_running(tmp_path / "child")

    def test_a_large_payload_nobody_reads_hangs_nothing(self, tmp_path: Path) -> None:
        plugin = Plugin(tmp_path, hook("exit 0"), hook("echo R >&2; exit 2"))
        begin = time.monotonic()
        assert plugin.before(args={"command": "x" * 3_000_000})["error"] == "R"
        assert time.monotonic() - begin < 20

    def test_a_flood_of_output_hangs_nothing(self, tmp_path: Path) -> None:
        plugin = Plugin(tmp_path, hook("yes | head -c 5000000; echo R >&2; exit 2"))
        assert plugin.before()["error"] == "R"

    def test_a_hook_that_must_not_block_cannot(self, tmp_path: Path) -> None:
        hooks = [hook(each, blocking=False) for each in ("exit 2", 'echo \'{"decision": "deny"}\'')]
        assert Plugin(tmp_path, *hooks).before()["error"] is None

    def test_a_rewrite_replaces_the_keys_and_the_next_hook_sees_it(self, tmp_path: Path) -> None:
        said = shlex.quote(json.dumps({"updated_input": {"command": "ls"}}))
        plugin = Plugin(tmp_path, hook(f"echo {said}", capabilities=["input_rewrite"]), hook("cat >seen"))
        assert plugin.before() == {"error": None, "output": {"args": {"command": "ls"}}}
        assert json.loads((tmp_path / "seen").read_bytes())["output"]["args"] == {"command": "ls"}

    def test_environment_folder_and_project(self, tmp_path: Path) -> None:
        (tmp_path / "sub dir").mkdir()
        fields = {"env": {"NAME": "it's $HOME"}, "cwd": "sub dir"}
        plugin = Plugin(
            tmp_path, hook('echo "$NAME|$(pwd)|$OPENCODE_PROJECT_DIR" >&2; exit 2', handler=fields)
        )
        name, folder, root = plugin.before()["error"].split("|")
        assert name == "it's $HOME"
        assert (Path(folder).resolve(), Path(root).resolve()) == (
            (tmp_path / "sub dir").resolve(),
            tmp_path.resolve(),
        )

    def test_context_goes_where_the_model_reads_it(self, tmp_path: Path) -> None:
        said = 'echo \'{"context": "CTX"}\''
        events = ("before_prompt", "after_tool_execute", "session_start")
        plugin = Plugin(tmp_path, *(hook(said, event=event) for event in events))
        # Built from the documented shape; the other calls are captures.
        created = {"type": "session.created", "properties": {"sessionID": "ses_1", "info": {"id": "ses_1"}}}
        system = {"name": "experimental.chat.system.transform", "input": {"sessionID": "ses_1"}}
        results = plugin.call(
            captured("chat.message"),
            captured("tool.execute.after"),
            {"name": "event", "input": {"event": created}},
            {**system, "output": {"system": ["base"]}},
            {**system, "input": {"sessionID": "ses_2"}, "output": {"system": ["base"]}},
        )["results"]
        assert results[0]["output"]["parts"][0]["text"].endswith("\n\nCTX")
        assert results[1]["output"]["output"].endswith("\n\nCTX")
        assert [result["output"] for result in results[3:]] == [
            {"system": ["base", "CTX"]},
            {"system": ["base"]},
        ]

    def test_context_before_a_tool_waits_for_its_result(self, tmp_path: Path) -> None:
        plugin = Plugin(tmp_path, *(hook(f'echo \'{{"context": "{each}"}}\'') for each in ("ONE", "TWO")))
        before, after, other = (captured(f"tool.execute.{name}") for name in ("before", "after", "after"))
        after["input"]["callID"] = before["input"]["callID"]
        other["input"]["callID"] = "another"
        given = other["output"]["output"]
        results = plugin.call(before, other, after, after)["results"]
        assert [result["output"].get("output") for result in results] == [
            None,
            given,
            f"{given}\n\nONE\n\nTWO",
            given,
        ]

    @pytest.mark.parametrize(
        ("output", "result"),
        [
            (
                {"title": "t", "output": "was", "metadata": {}},
                {"title": "t", "output": "NEW", "metadata": {}},
            ),
            ({"content": [{"type": "text", "text": "was"}]}, {"content": [{"type": "text", "text": "NEW"}]}),
        ],
    )
    def test_another_result_stands_in_place_of_the_first(
        self, tmp_path: Path, output: dict[str, Any], result: dict[str, Any]
    ) -> None:
        plugin = Plugin(tmp_path, hook('echo \'{"updated_result": "NEW"}\'', event="after_tool_execute"))
        call = {**captured("tool.execute.after"), "output": output}
        assert plugin.call(call)["results"] == [{"error": None, "output": result}]

    def test_messages_for_the_person_are_shown(self, tmp_path: Path) -> None:
        plugin = Plugin(tmp_path, hook('echo \'{"system_message": "M"}\''))
        toasts = plugin.call(captured("tool.execute.before"))["toasts"]
        assert toasts == [{"body": {"message": "M", "variant": "info"}}]

    @pytest.mark.parametrize(("worktree", "root"), [("/", "."), ("", "."), ("{}/tree", "tree")])
    def test_the_project_is_the_hosts_where_the_file_is_in_none(
        self, tmp_path: Path, worktree: str, root: str
    ) -> None:
        (tmp_path / "tree").mkdir()
        plugin = Plugin(tmp_path, hook("pwd >&2; exit 2"))
        plugin.host = {"worktree": worktree.format(tmp_path)}
        assert Path(plugin.before()["error"]).resolve() == (tmp_path / root).resolve()

    def test_an_agent_that_may_not_stop_is_prompted_eight_times(self, tmp_path: Path) -> None:
        plugin = Plugin(
            tmp_path,
            hook("cat >>seen; echo >>seen; echo R >&2; exit 2", event="agent_stop", blocking=True),
            hook("echo p >>prompts", event="before_prompt"),
        )
        idle = captured("event.session.idle")
        said, own = captured("chat.message"), captured("chat.message")
        own["output"]["parts"][0]["text"] = "R"
        for call in (said, own):
            call["input"]["sessionID"] = idle["input"]["event"]["properties"]["sessionID"]
        idles = [{**idle, "until": {"prompts": number + 1}} for number in range(9)]
        kept = [call for one in idles[:8] for call in (one, own)]
        last = {**idle, "until": {"file": "seen", "lines": 9}, "wait": 500}
        result = plugin.call(said, *kept, last, said, idles[8])
        prompt = {
            "path": {"id": said["input"]["sessionID"]},
            "body": {"agent": "build", "parts": [{"type": "text", "text": "R"}]},
        }
        assert result["prompts"] == [prompt] * 9
        seen = [json.loads(line) for line in (tmp_path / "seen").read_text("utf-8").splitlines()]
        assert [one["stop_active"] for one in seen] == [False, *[True] * 8, False]
        # What the plugin itself said is no prompt of the person's.
        assert (tmp_path / "prompts").read_text("utf-8") == "p\np\n"

    def test_nobody_is_kept_going_who_was_spoken_to_meanwhile(self, tmp_path: Path) -> None:
        plugin = Plugin(tmp_path, hook("sleep 1; echo R >&2; exit 2", event="agent_stop", blocking=True))
        idle, said = captured("event.session.idle"), captured("chat.message")
        said["input"]["sessionID"] = idle["input"]["event"]["properties"]["sessionID"]
        assert plugin.call(said, idle, {**said, "wait": 3000})["prompts"] == []

    def test_the_bus_tells_children_and_refusals_apart(self, tmp_path: Path) -> None:
        events = ("subagent_start", "subagent_stop", "agent_stop", "permission_denied", "session_start")
        plugin = Plugin(tmp_path, *(hook(f"echo {event} >>log", event=event) for event in events))
        info = {"id": "ses_2", "parentID": "ses_1"}
        created = {"type": "session.created", "properties": {"sessionID": "ses_2", "info": info}}
        idle = {"type": "session.idle", "properties": {"sessionID": "ses_2"}}
        granted = captured("event.permission.replied")
        granted["input"]["event"]["properties"]["reply"] = "once"
        plugin.call(
            {"name": "event", "input": {"event": created}, "wait": 400},
            {"name": "event", "input": {"event": idle}, "wait": 400},
            {**captured("event.session.idle"), "wait": 400},
            {**captured("event.permission.replied"), "wait": 400},
            {**granted, "wait": 400},
        )
        log = (tmp_path / "log").read_text("utf-8").split()
        assert log == ["subagent_start", "subagent_stop", "agent_stop", "permission_denied"]


@needs_engine
class TestBridgedPlugin:
    """A guard of Claude Code behind the bridge, called by the plugin with OpenCode's own arguments."""

    @pytest.mark.parametrize(
        ("command", "error", "ran"),
        [
            ("rm -rf build", 'no "rm -rf" here', "rm -rf build"),
            ("curl x", ASKED, "curl x"),
            ("echo fine", None, "echo fine"),
            ("npm test", None, "pnpm test"),
        ],
    )
    def test_it_is_obeyed(self, tmp_path: Path, command: str, error: str | None, ran: str) -> None:
        plugin = Plugin.wild(tmp_path, "PreToolUse")
        args = {"command": command, "description": "d"}
        assert plugin.before(args=args) == {"error": error, "output": {"args": {**args, "command": ran}}}

    def test_context_reaches_the_result(self, tmp_path: Path) -> None:
        before, after = captured("tool.execute.before"), captured("tool.execute.after")
        before["output"]["args"]["command"] = "ls"
        after["input"]["callID"] = before["input"]["callID"]
        _, result = Plugin.wild(tmp_path, "PreToolUse").call(before, after)["results"]
        assert result["output"]["output"] == after["output"]["output"] + '\n\nuse "rg"\n\u00e4'

    def test_a_deny_after_a_tool_stands_in_place_of_the_result(self, tmp_path: Path) -> None:
        call = captured("tool.execute.after")
        (result,) = Plugin.wild(tmp_path, "PostToolUse").call(call)["results"]
        assert result["error"] == "look at " + call["input"]["args"]["command"]

    def test_an_agent_that_may_not_stop_goes_on_once(self, tmp_path: Path) -> None:
        idle = captured("event.session.idle")
        first = {**idle, "until": {"prompts": 1}}
        second = {**idle, "until": {"file": "state/journal.jsonl", "lines": 2}, "wait": 500}
        prompts = Plugin.wild(tmp_path, "Stop").call(first, second)["prompts"]
        assert [prompt["body"]["parts"][0]["text"] for prompt in prompts] == ["run the tests"]

    def test_a_project_below_the_repository_keeps_its_own_guard(self, tmp_path: Path) -> None:
        plugin = Plugin.wild(tmp_path, "PreToolUse", folder="app")
        plugin.host = {"directory": str(tmp_path / "app"), "worktree": str(tmp_path)}
        assert plugin.before(args={"command": "rm -rf build"})["error"] == 'no "rm -rf" here'

    def test_a_project_above_the_folder_does_too(self, tmp_path: Path) -> None:
        (tmp_path / "app").mkdir()
        plugin = Plugin.wild(tmp_path, "PreToolUse")
        plugin.host = {"directory": str(tmp_path / "app"), "worktree": str(tmp_path)}
        assert plugin.before(args={"command": "rm -rf build"})["error"] == 'no "rm -rf" here'


@needs_engine
@settings(max_examples=15)
@given(text=hostile, name=hostile.filter(str.strip))
def test_values_reach_their_command_and_no_other_code(text: str, name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        plugin = Plugin(root, hook(f"printf '%s' {shlex.quote(text)} >got; exit 2", name=name))
        assert plugin.before()["error"] == f"blocked by hook {name}"
        assert (root / "got").read_bytes() == text.encode()
