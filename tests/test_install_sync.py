"""Entries in agents' files: once, in the right place, by commands that work from anywhere; and what is told.

What an install leaves alone is in test_installs.py. Files, folders and processes are real.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import stat
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from hookport import bridge, cli
from hookport.agents import find_event_specs, get, get_wire, list_agents
from hookport.convert import pipeline
from hookport.doctor import diagnose, status
from hookport.errors import InputError
from hookport.install import entries, files, sync
from hookport.install.sync import Choice, SyncPlan, SyncRequest
from hookport.install.targets import Scope, detect_agents, find_target
from hookport.model.hooks import Handler, Hook
from hookport.model.runs import RunResult
from hookport.project.ownership import is_dispatch, is_ours
from hookport.shapes.entries import find_slots
from hookport.wire import recognition
from hookport.wire.answers import read_answer
from tests import forks
from tests.approval import approve

AGENTS = list_agents()
GUARD = """---
name: guard
description: no forced pushes
trigger: before_tool
matcher:
  tool: Shell
timeout: 12000
---
"""
SCRIPT = "#!/bin/sh\necho 'no forced pushes' >&2\nexit 2\n"


DROID = '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "x"}]}]}}'


class World(NamedTuple):
    """A project and a home, and the environment that names them."""

    root: Path
    env: dict[str, str]

    def plan(
        self, *names: str, scope: Scope = "project", mode: Choice = "auto", vendor: bool = False
    ) -> SyncPlan:
        return sync.plan_sync(str(self.root), self.env, SyncRequest(names, scope, mode, vendor))

    def sync(
        self, *names: str, scope: Scope = "project", mode: Choice = "auto", vendor: bool = False
    ) -> SyncPlan:
        made = self.plan(*names, scope=scope, mode=mode, vendor=vendor)
        if made.changes:
            files.apply(made.changes, self.env, what="sync")
        return made

    def unsync(self, *names: str) -> SyncPlan:
        made = sync.plan_removal(str(self.root), self.env, names)
        if made.changes:
            files.apply(made.changes, self.env, what="unsync", ends=True)
        return made

    def write(self, path: str, text: str | Mapping[str, Any]) -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text if isinstance(text, str) else json.dumps(text), "utf-8")
        return file

    def tree(self) -> dict[str, bytes]:
        """Every file of the project and the home but for what hookport keeps."""
        return {
            str(path): path.read_bytes()
            for top in (self.root, Path(self.env["HOME"]))
            for path in sorted(top.rglob("*"))
            if path.is_file()
        }


@pytest.fixture
def world(tmp_path: Path) -> World:
    """A project in a folder with a blank and a quote, with one guard."""
    root, home = tmp_path / "it's a project", tmp_path / "home"
    for folder in (root / ".git", home):
        folder.mkdir(parents=True)
    env = {
        "HOME": str(home),
        "PATH": "/usr/bin:/bin",
        "HOOKPORT_STATE_DIR": str(tmp_path / "state"),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
    }
    found = World(root, env)
    found.write(".agents/hooks/guard/HOOK.md", GUARD)
    found.write(".agents/hooks/guard/scripts/run.sh", SCRIPT).chmod(0o755)
    return found


def scope_of(agent: str) -> Scope:
    places = {place.scope for place in get(agent).locations}
    return "project" if "project" in places else "user"


def read(agent: str, plan: SyncPlan) -> list[Hook]:
    """The hooks of the files that a plan wrote."""
    paths = [path for one in plan.agents if one.agent == agent for path in one.paths]
    texts = {path: Path(path).read_bytes() for path in paths if Path(path).is_file()}
    return list(pipeline.read(texts, get(agent)).decoded.manifest.hooks) if texts else []


@pytest.mark.parametrize("agent", AGENTS)
def test_the_bridge_has_one_entry_for_each_event(agent: str, world: World) -> None:
    plan = world.sync(agent, scope=scope_of(agent), mode="bridge")
    hooks, dialect = read(agent, plan), get(agent)
    natives = [spec.native for hook in hooks for spec, _ in find_slots(dialect, hook)]
    assert len(natives) == len(set(natives))
    wanted = {"session_start", "before_tool_execute"} if scope_of(agent) == "project" else entries.CORE
    assert {hook.event for hook in hooks} == {event for event in wanted if find_event_specs(dialect, event)}
    assert all(is_dispatch(hook.handler.command) for hook in hooks)
    for hook in hooks:
        (spec,) = (spec for spec, _ in find_slots(dialect, hook))
        *_, words = hook.handler.command.rpartition(" dispatch ")
        assert shlex.split(words.partition(";")[0])[:2] == [agent, spec.native]
        assert entries.is_guard(hook) == (
            spec.canonical == "before_tool_execute" and spec.blocks == "prevent"
        )
    limits = {hook.handler.timeout.total_seconds() for hook in hooks if hook.handler.timeout}
    # For SessionEnd, Codex waits 3 s at most, kimi-cli 5 s and Junie 10 s; oh-my-pi waits 30 s for any event.
    assert limits <= {35.0, 3.0, 5.0, 10.0, 30.0}


@pytest.mark.parametrize("mode", ["auto", "native", "bridge"])
@pytest.mark.parametrize("agent", AGENTS)
def test_a_second_sync_writes_nothing_and_all_can_be_taken_back(
    agent: str, mode: Choice, world: World
) -> None:
    scope = scope_of(agent)
    if scope == "user":
        shutil.copytree(world.root / ".agents", Path(world.env["HOME"]) / ".config/agents")
        shutil.rmtree(world.root / ".agents")
    before = world.tree()
    first = world.sync(agent, scope=scope, mode=mode)
    assert first.changes
    assert world.plan(agent, scope=scope, mode=mode).changes == ()
    (state,) = status.read_status(str(world.root), world.env, [agent]).agents
    assert (state.mode, state.state) == ("native" if mode == "native" else "bridge", "installed")
    assert {hook.state for hook in state.hooks} == {"installed"}
    after = world.tree()
    world.unsync(agent)
    assert world.tree() == before
    world.sync(agent, scope=scope, mode=mode)
    assert world.tree() == after
    files.undo(world.env)
    assert world.tree() == before


def test_changing_the_mode_replaces_the_entries(world: World) -> None:
    for agent in ("claude-code", "cursor", "kiro", "opencode", "cline", "windsurf"):
        world.sync(agent, mode="bridge")
        plan = world.sync(agent, mode="native")
        hooks = read(agent, plan)
        assert [hook.event for hook in hooks if is_ours(hook.handler.command)] == ["before_tool_execute"], (
            agent
        )
        assert not any(is_dispatch(hook.handler.command) for hook in hooks)
        world.unsync(agent)
    assert sorted(path.name for path in world.root.iterdir()) == [".agents", ".git"]


PAYLOAD = {
    "session_id": "s",
    "transcript_path": "/t",
    "hook_event_name": "PreToolUse",
    "tool_name": "Bash",
    "tool_input": {"command": "git push --force"},
}


def fire(world: World, command: str, cwd: Path, **more: str) -> subprocess.CompletedProcess[str]:
    env = {"HOME": world.env["HOME"], "PATH": "/usr/bin:/bin", "XDG_CACHE_HOME": world.env["XDG_CACHE_HOME"]}
    env |= {"HOOKPORT_STATE_DIR": world.env["HOOKPORT_STATE_DIR"], **more}
    payload = json.dumps({**PAYLOAD, "cwd": str(cwd)})
    return subprocess.run(
        ["/bin/sh", "-c", command],
        input=payload,
        cwd=cwd,
        env=env,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def entry(world: World, agent: str, event: str = "before_tool_execute", mode: Choice = "bridge") -> str:
    plan = world.sync(agent, mode=mode)
    return next(hook.handler.command for hook in read(agent, plan) if hook.event == event)


@pytest.mark.parametrize("mode", ["native", "bridge"])
def test_the_command_works_from_a_folder_below_with_a_short_path(mode: Choice, world: World) -> None:
    command = entry(world, "claude-code", mode=mode)
    below = world.root / "src/deep"
    below.mkdir(parents=True)
    trusted = forks.run(["trust", "--yes"], world.root, world.env)
    assert trusted.returncode == 0, trusted.stderr
    done = fire(world, command, below, CLAUDE_PROJECT_DIR=str(world.root), PATH="")
    assert (done.returncode, "no forced pushes" in done.stdout + done.stderr) in ((0, True), (2, True))
    assert "deny" in done.stdout or done.returncode == 2


@pytest.mark.parametrize(
    ("agent", "other", "shown"),
    [
        ("claude-code", "copilot-cli", ("COPILOT_PROJECT_DIR", "CLAUDE_PROJECT_DIR")),
        ("claude-code", "grok-build", ("GROK_WORKSPACE_ROOT", "CLAUDE_PROJECT_DIR")),
        ("claude-code", "vs-code-copilot", ()),
        ("copilot-cli", "vs-code-copilot", ()),
    ],
)
def test_another_agent_that_reads_the_file_runs_the_entry_until_it_has_its_own(
    agent: str, other: str, shown: tuple[str, ...], world: World
) -> None:
    target = find_target(agent, "project", str(world.root), world.env)
    written = [str(target.path(target.places()[0].path))]
    hook = Hook("before_tool_execute", Handler("command", "echo ran"))
    (limited,) = entries.limit_to_agent(target, [hook], written)
    more = dict.fromkeys(shown, str(world.root))
    assert fire(world, limited.handler.command, world.root, **more).stdout == "ran\n"
    for scope in ("project", "user"):
        theirs = find_target(other, scope, str(world.root), world.env)
        path = Path(str(theirs.path(theirs.places()[0].path)))
        path.parent.mkdir(parents=True, exist_ok=True)
        # Another hook in the file is none of ours.
        for text, expected in (("{}", "ran\n"), ('{"command": "hookport dispatch"}', "")):
            path.write_text(text)
            done = fire(world, limited.handler.command, world.root, **more)
            assert (done.returncode, done.stdout, done.stderr) == (0, expected, ""), (scope, text)
        path.unlink()


def hook_env(agent: str) -> dict[str, str]:
    """The variables that an agent sets for every hook."""
    env = get_wire(agent).env.items()
    return {name: "/p" for name, value in env if name.isupper() and value not in ("$package", "$data")}


@pytest.mark.parametrize("agent", list_agents())
def test_an_agent_that_another_one_started_runs_its_entry(agent: str, world: World) -> None:
    """A hook of one agent may start another, which then has the variables of both."""
    it = find_target(agent, "project", str(world.root), world.env)
    (hook,) = entries.limit_to_agent(
        it, [Hook("before_tool_execute", Handler("command", "echo ran"))], it.list_files()
    )
    command = hook.handler.command
    assert not entries.ends_at_once(command, agent)
    shows_itself = bool(recognition.list_marker_variables(map(get_wire, list_agents()))[agent])
    for other in (name for name in list_agents() if name != agent):
        done = fire(world, command, world.root, **(hook_env(other) | hook_env(agent)))
        assert done.stdout == "ran\n" or not shows_itself, (other, command)


def test_no_entry_of_ours_is_another_agents_copy(world: World) -> None:
    for agent in ("copilot-cli", "vs-code-copilot"):
        assert entry(world, agent)
    for agent, other in (("copilot-cli", "vs-code-copilot"), ("vs-code-copilot", "copilot-cli")):
        assert entries.ends_at_once(entry(world, other), agent)
        assert "HP878" not in [one.code for one in diagnose(str(world.root), world.env, [agent])]


@pytest.mark.parametrize(
    ("event", "code"),
    [("before_tool_execute", 2), ("before_prompt", 1), ("session_start", 1), ("agent_stop", 1)],
)
def test_where_the_bridge_is_gone_guards_deny_and_the_rest_say_so(
    event: str, code: int, world: World
) -> None:
    stop = {"event": "agent_stop", "handler": {"type": "command", "command": "true"}}
    world.write(".hookport/hooks.json", {"spec": "hooks/1.0", "hooks": [stop]})
    command = entry(world, "claude-code", event)
    gone = command.replace(str(Path(bridge.__file__)), "/nowhere/bridge.py")
    assert gone != command
    done = fire(world, gone, world.root, CLAUDE_PROJECT_DIR=str(world.root))
    assert (done.returncode, done.stderr) == (code, f"{entries.GONE}\n")


def test_a_hook_that_the_agent_reads_elsewhere_is_not_installed_again(world: World) -> None:
    shutil.rmtree(world.root / ".agents")
    guard = [{"type": "command", "command": "./guard.sh"}]
    world.write(".claude/settings.json", {"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": guard}]}})
    (plan,) = world.plan("claude-code").agents
    assert (plan.changes, plan.why) == ((), "Claude Code loads every hook of the project from its own files")
    assert plan.findings == ()
    # Others read the file too, and do less with it; some only with a setting that is off at first.
    for agent, is_sure in (("copilot-cli", True), ("vs-code-copilot", False)):
        (plan,) = world.plan(agent).agents
        assert plan.changes
        assert ("HP822" in [finding.code for finding in plan.findings]) == is_sure
    (plan,) = world.plan("gemini-cli").agents
    assert [hook.event for hook in plan.hooks if hook.event == "before_tool_execute"] == [
        "before_tool_execute"
    ]


@pytest.mark.parametrize(
    ("event", "matcher", "more"),
    [
        ("PreToolUse", "mcp__lab__shout", {}),
        ("PreToolUse", "Edit|Write", {}),
        ("PreToolUse", "", {}),
        ("PreToolUse", "Bash", {"onFailure": "block"}),
        ("Stop", "", {}),
    ],
)
def test_a_hook_that_the_agent_reads_elsewhere_with_less_effect_is_installed(
    event: str, matcher: str, more: dict[str, str], world: World
) -> None:
    shutil.rmtree(world.root / ".agents")
    guard = [{"type": "command", "command": "./guard.sh", **more}]
    world.write(".claude/settings.json", {"hooks": {event: [{"matcher": matcher, "hooks": guard}]}})
    (plan,) = world.plan("copilot-cli").agents
    assert [finding.code for finding in plan.findings] == ["HP822"]
    assert plan.changes != ()


@pytest.mark.parametrize("agent", ["copilot-cli"])
def test_a_hook_with_a_rule_runs_more_often_where_another_agent_reads_its_file(
    agent: str, world: World
) -> None:
    shutil.rmtree(world.root / ".agents")
    guard = [{"type": "command", "if": "Bash(git push *)", "command": "./guard.sh"}]
    world.write(".claude/settings.json", {"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": guard}]}})
    (plan,) = world.plan(agent).agents
    codes = [finding.code for finding in plan.findings]
    assert ("HP829" in codes, "HP822" in codes) == (True, False)
    assert plan.changes != ()


@pytest.mark.parametrize("folders", [(".kimi",), (".kimi-code",), (".kimi", ".kimi-code")])
@pytest.mark.parametrize("has_file", [True, False])
def test_an_event_of_one_product_costs_the_others_nothing(
    folders: tuple[str, ...], has_file: bool, world: World
) -> None:
    home = Path(world.env["HOME"])
    for folder in folders:
        (home / folder).mkdir()
    if has_file:
        (home / folders[0] / "config.toml").write_text("# mine\n", "utf-8")
    hooks = [
        {"name": event, "event": event, "handler": {"type": "command", "command": "true"}}
        for event in ("before_tool_execute", "permission_request")
    ]
    world.write(".hookport/hooks.json", {"spec": "hooks/1.0", "hooks": hooks})
    (plan,) = world.sync("kimi-cli", mode="bridge", scope="user").agents
    asked = "PermissionRequest"
    says = {
        folder: asked in (home / folder / "config.toml").read_text("utf-8")
        for folder in (".kimi", ".kimi-code")
        if (home / folder / "config.toml").is_file()
    }
    assert says == {folder: folder == ".kimi-code" for folder in folders}
    never = [finding.message for finding in plan.findings if finding.code == "HP813"]
    lone = "'permission_request' never runs in kimi-cli: only another product of it has the event"
    assert never == ([lone] if folders == (".kimi",) else [])


def test_what_one_product_cannot_say_goes_over_the_bridge(world: World) -> None:
    home = Path(world.env["HOME"])
    (home / ".kimi").mkdir()
    (home / ".kimi" / "config.toml").write_text("# mine\n", "utf-8")
    path = home / ".config" / "hookport" / "hooks.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    handler = {"type": "command", "command": "true"}
    matcher = [{"mcp": {"server": "lab", "tool": "shout"}}]
    hook = {"event": "before_tool_execute", "matcher": matcher, "blocking": True, "handler": handler}
    path.write_text(json.dumps({"spec": "hooks/1.0", "hooks": [hook]}), "utf-8")
    (plan,) = world.sync("kimi-cli", mode="native", scope="user").agents
    why = "the existing files are for one product, and cannot express every hook"
    assert (plan.mode, plan.why) == ("bridge", why)


@pytest.mark.parametrize(("first", "second"), [("bridge", "bridge"), ("native", "bridge")])
def test_entries_in_two_places_are_told_where_both_run(first: Choice, second: Choice, world: World) -> None:
    world.sync("cursor", mode=first)
    (plan,) = world.sync("cursor", mode=second, scope="user").agents
    twice = [finding for finding in plan.findings if finding.code == "HP811"]
    assert [str(world.root / ".cursor/hooks.json") in finding.message for finding in twice] == [True] * (
        first != second
    )


@pytest.mark.parametrize("mode", ["native", "bridge"])
def test_agents_that_share_a_folder_keep_to_their_own_entries(mode: Choice, world: World) -> None:
    before = world.tree()
    plan = world.sync("copilot-cli", "vs-code-copilot", mode=mode)
    assert [finding for one in plan.agents for finding in one.findings if finding.code == "HP811"] == []
    both = world.tree()
    assert world.plan("vs-code-copilot", mode=mode).changes == ()
    assert [
        path for change in world.unsync("vs-code-copilot").changes for path in [Path(change.path).name]
    ] == ["hookport-vscode.json"]
    assert [one.agent for one in world.sync("vs-code-copilot", mode=mode).agents] == ["vs-code-copilot"]
    assert world.tree() == both
    world.unsync()
    assert world.tree() == before


def test_agents_are_found_by_their_folder_or_their_program(world: World, tmp_path: Path) -> None:
    assert detect_agents(str(world.root), world.env) == []
    (world.root / ".cursor").mkdir()
    (Path(world.env["HOME"]) / ".config/opencode").mkdir(parents=True)
    program = tmp_path / "bin/droid"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n", "utf-8")
    program.chmod(0o755)
    env = {**world.env, "PATH": str(program.parent)}
    assert [(one.agent, one.why) for one in detect_agents(str(world.root), env)] == [
        ("cursor", str(world.root / ".cursor")),
        ("factory-droid", str(program)),
        ("opencode", str(Path(world.env["HOME"]) / ".config/opencode")),
    ]


@pytest.mark.parametrize(
    ("agent", "before", "written"),
    [
        ("factory-droid", {".factory/settings.json": DROID}, ".factory/settings.json"),
        ("factory-droid", {".factory/settings.json": "{}"}, ".factory/hooks.json"),
        (
            "windsurf",
            {".devin/hooks.json": '{"hooks": {"pre_run_command": [{"command": "x"}]}}'},
            ".devin/hooks.json",
        ),
        ("windsurf", {".devin/hooks.json": '{"hooks": {}}'}, ".windsurf/hooks.json"),
    ],
)
def test_we_write_where_the_agent_reads(
    agent: str, before: dict[str, str], written: str, world: World
) -> None:
    for path, text in before.items():
        world.write(path, text)
    plan = world.plan(agent)
    assert [change.path for change in plan.changes] == [str(world.root / written)]


def test_a_broken_file_stops_its_agent_only(world: World, capfd: pytest.CaptureFixture[str]) -> None:
    broken = world.write(".codex/hooks.json", '{\n  "hooks": {,}\n}\n')
    plan = world.plan("codex", "cursor")
    one, other = plan.agents
    (finding,) = one.findings
    assert (finding.code, finding.file, finding.line) == ("HP816", str(broken), 2)
    assert (one.changes, bool(other.changes)) == ((), True)
    with pytest.raises(InputError):
        world.plan("codex")


def test_a_user_without_a_home_is_told(world: World) -> None:
    env = {name: value for name, value in world.env.items() if name != "HOME"}
    with pytest.raises(InputError, match="HOME is not set"):
        sync.plan_sync(str(world.root), env, SyncRequest(("gemini-cli",), "user", "bridge"))


def test_the_users_entries_serve_every_project(world: World, tmp_path: Path) -> None:
    manifest = {
        "spec": "hooks/1.0",
        "hooks": [{"event": "before_compact", "handler": {"type": "command", "command": "true"}}],
    }
    world.write(".hookport/hooks.json", manifest)
    world.sync("gemini-cli", scope="user", mode="bridge")
    other = tmp_path / "other"
    (other / ".git").mkdir(parents=True)
    elsewhere = World(other, world.env)
    assert elsewhere.plan("gemini-cli", scope="user", mode="bridge").changes == ()


@pytest.mark.parametrize("agent", [name for name in list_agents() if scope_of(name) == "project"])
def test_the_entry_of_a_plugins_hook_travels_with_the_project(world: World, agent: str) -> None:
    shutil.rmtree(world.root / ".agents")
    hooks = [{"matcher": "Bash", "hooks": [{"type": "command", "command": "${CLAUDE_PLUGIN_ROOT}/say.sh"}]}]
    world.write(".agents/plugins/tidy pack/hooks/hooks.json", {"hooks": {"PreToolUse": hooks}})
    world.write(".agents/plugins/tidy pack/say.sh", "#!/bin/sh\necho said $CLAUDE_PLUGIN_ROOT\n").chmod(0o755)
    (plan,) = world.sync(agent, mode="native").agents
    assert plan.hooks
    assert [path for path in plan.paths if str(world.root) in Path(path).read_text("utf-8")] == []
    moved = World(world.root.rename(world.root.parent / "moved"), world.env)
    assert moved.plan(agent, mode="native").changes == ()


@pytest.mark.parametrize("agent", ["claude-code", "codex", "gemini-cli", "cline", "opencode", "mistral-vibe"])
@pytest.mark.parametrize("mode", ["auto", "bridge"])
def test_another_project_weakens_no_entry_of_the_user(
    world: World, tmp_path: Path, agent: str, mode: Choice
) -> None:
    world.write(".agents/hooks/guard/HOOK.md", GUARD.replace("12000", "200000"))
    world.sync(agent, scope="user", mode="bridge")
    other = tmp_path / "other"
    (other / ".git").mkdir(parents=True)
    assert World(other, world.env).plan(agent, scope="user", mode=mode).changes == ()
    assert world.plan(agent, scope="user").changes == ()
    taken = World(other, world.env).plan(agent, scope="user", mode="native")
    assert taken.changes
    assert [one.code for one in taken.agents[0].findings if one.severity == "loss"] == ["HP833"]


def test_a_longer_hook_gets_its_time_within_the_agents_limit(world: World) -> None:
    slow = GUARD.replace("12000", "600000")
    world.write(".agents/hooks/guard/HOOK.md", slow)
    hooks = {hook.event: hook for hook in world.plan("claude-code", mode="bridge").agents[0].hooks}
    timeout = hooks["before_tool_execute"].handler.timeout
    assert timeout is not None
    assert timeout.total_seconds() == 605
    assert " --within=605 " in hooks["before_tool_execute"].handler.command
    kimi = world.plan("kimi-cli", mode="bridge", scope="user").agents[0].hooks
    limited = next(hook for hook in kimi if hook.event == "before_tool_execute")
    assert " --within=600 " in limited.handler.command


def test_the_bridge_fails_closed_where_the_agent_can_be_told_to(world: World) -> None:
    hooks = world.plan("mistral-vibe", mode="bridge").agents[0].hooks
    assert {hook.event: hook.handler.on_failure for hook in hooks} == {
        "before_tool_execute": "block",
    }


def test_a_project_that_fails_closed_tells_the_agent_so(world: World) -> None:
    for settings, word in (({}, ""), ({"on_failure": "closed"}, "block")):
        world.write(".hookport/config.json", settings)
        for agent in ("claude-code", "cursor"):
            hooks = world.plan(agent, mode="bridge").agents[0].hooks
            said = {hook.event: hook.handler.on_failure for hook in hooks}
            assert said == {"session_start": "", "before_tool_execute": word}, agent


@pytest.mark.parametrize(
    "agent", ["claude-code", "codex", "gemini-cli", "qwen-code", "factory-droid", "cursor"]
)
@pytest.mark.parametrize("program", ["exit 1", "exit 127", "kill -9 $$", "exit 70"])
def test_a_bridge_that_does_not_start_denies_what_a_guard_is_for(
    agent: str, program: str, world: World, tmp_path: Path
) -> None:
    command = entry(world, agent)
    (tmp_path / "python").write_text(f"#!/bin/sh\n{program}\n")
    (tmp_path / "python").chmod(0o755)
    broken = command.replace(sys.executable, str(tmp_path / "python"))
    assert broken != command
    marks = {name: str(world.root) for name, value in get_wire(agent).env.items() if value == "$root"}
    done = fire(world, broken, world.root, **marks)
    result = RunResult("completed", done.returncode, done.stdout, done.stderr)
    native = next(name for name, event in get_wire(agent).events.items() if event == "before_tool_execute")
    answer = read_answer(get_wire(agent), result, native=native, canonical="before_tool_execute")
    # Some shells say first that it was killed.
    assert (answer.verdict, answer.reason.removeprefix("Killed\n")) == ("deny", entries.DEAD)


def test_what_passes_by_policy_is_no_deny_of_the_entry(world: World) -> None:
    command = entry(world, "claude-code").replace(
        "dispatch claude-code PreToolUse", "dispatch nope PreToolUse"
    )
    done = fire(world, command, world.root, CLAUDE_PROJECT_DIR=str(world.root))
    assert (done.returncode, done.stdout) == (1, "")
    assert "unknown dialect 'nope'" in done.stderr


def test_trust_says_which_hook_has_no_entry(world: World) -> None:
    world.sync("claude-code", mode="bridge")
    stop = {"event": "agent_stop", "name": "tidy", "handler": {"type": "command", "command": "true"}}
    world.write(".hookport/hooks.json", {"spec": "hooks/1.0", "hooks": [stop]})
    done = forks.run(["trust", "--yes"], world.root, world.env)
    assert done.returncode == 1
    assert "'tidy'" in done.stderr
    assert "hookport sync" in done.stderr
    world.sync("claude-code", mode="bridge")
    done = forks.run(["trust", "--yes"], world.root, world.env)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_package_is_found_by_its_own_root(world: World) -> None:
    world.write(
        ".agents/plugins/tidy pack/hooks/hooks.json",
        {
            "version": 1,
            "hooks": {
                "session-start": [
                    {"hooks": [{"type": "command", "command": '"${PACKAGE_ROOT}/say.sh" "$PACKAGE_ROOT"'}]}
                ]
            },
        },
    )
    world.write(".agents/plugins/tidy pack/say.sh", '#!/bin/sh\necho "$1"\n').chmod(0o755)
    shutil.rmtree(world.root / ".agents/hooks")
    (plan,) = world.plan("codex", mode="native").agents
    (hook,) = plan.hooks
    done = fire(world, hook.handler.command, world.root)
    assert str(world.root / ".agents/plugins/tidy pack") in done.stdout, done.stderr


def test_a_project_that_brings_its_bridge_keeps_calling_it(world: World) -> None:
    before = world.tree()
    world.sync("claude-code", vendor=True)
    assert (world.root / ".hookport/bridge.pyz").is_file()
    plan = world.plan("claude-code")
    assert plan.changes == ()
    commands = [hook.handler.command for hook in read("claude-code", plan)]
    assert all('"${CLAUDE_PROJECT_DIR-.}"/.hookport/bridge.pyz dispatch' in command for command in commands)
    assert not any(sys.executable in command for command in commands)
    below = world.root / "src"
    below.mkdir()
    done = fire(world, commands[0], below, CLAUDE_PROJECT_DIR=str(world.root))
    assert (done.returncode, " trust`" in done.stdout) == (0, True), done.stderr
    world.unsync()
    below.rmdir()
    assert world.tree() == before


def test_cline_scripts_can_be_run(world: World) -> None:
    plan = world.sync("cline")
    modes = {stat.S_IMODE(Path(change.path).stat().st_mode) for change in plan.changes}
    assert {mode & 0o111 for mode in modes} == {0o111}


def test_an_agent_without_a_place_for_the_scope_is_told(world: World) -> None:
    (plan,) = world.plan("kimi-cli").agents
    assert ([finding.code for finding in plan.findings], plan.changes) == (["HP812"], ())


def test_concurrent_syncs_lose_nothing(world: World) -> None:
    mine = world.write(
        ".claude/settings.json",
        {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "mine"}]}]}, "model": "x"},
    )
    before = world.tree()
    names = ["claude-code", "cursor", "codex", "gemini-cli"]
    env = {**world.env, "PYTHONPATH": str(Path(bridge.__file__).parent.parent)}
    runs = [
        subprocess.Popen(
            [
                sys.executable,
                "-m",
                "hookport",
                "sync",
                "--agent",
                ",".join(names[number % 4 :]),
                "--mode",
                "bridge",
            ],
            cwd=world.root,
            env=env,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(10)
    ]
    told = [(run.communicate(timeout=300)[1], run.returncode) for run in runs]
    assert [said for said, code in told if code] == []
    assert world.plan(*names, mode="bridge").changes == ()
    commands = [
        hook.handler.command
        for hook in pipeline.read({str(mine): mine.read_bytes()}, get("claude-code")).decoded.manifest.hooks
    ]
    assert commands.count("mine") == 1
    world.unsync()
    assert world.tree() == before


class TestStatus:
    def state(self, world: World, agent: str) -> status.AgentState:
        (found,) = status.read_status(str(world.root), world.env, [agent]).agents
        return found

    def test_missing_then_installed_then_drifted(self, world: World) -> None:
        assert [hook.state for hook in self.state(world, "cursor").hooks] == ["missing"]
        world.sync("cursor")
        assert [hook.state for hook in self.state(world, "cursor").hooks] == ["installed"]
        world.write(".agents/hooks/guard/HOOK.md", GUARD.replace("12000", "90000"))
        found = self.state(world, "cursor")
        assert (found.state, [hook.state for hook in found.hooks]) == ("drifted", ["drifted"])

    def test_a_hook_by_itself_is_known_in_the_words_of_the_agent(self, world: World) -> None:
        (world.root / ".agents/hooks/guard/HOOK.md").unlink()
        command = '"$CLAUDE_PROJECT_DIR"/guard.sh'
        group = {"matcher": "Bash", "hooks": [{"type": "command", "command": command}]}
        world.write(".claude/settings.json", {"hooks": {"PreToolUse": [group]}})
        world.write("guard.sh", SCRIPT)
        (world.root / "guard.sh").chmod(0o755)
        for agent in ("codex", "gemini-cli", "opencode", "qwen-code"):
            assert [hook.state for hook in self.state(world, agent).hooks] == ["missing"]
            plan = world.sync(agent, mode="native")
            (there,) = plan.agents[0].hooks
            fire(world, there.handler.command, world.root)
            (hook,) = self.state(world, agent).hooks
            assert (agent, hook.state, hook.fired[:2]) == (agent, "installed", "20")

    def test_how_a_deny_holds_is_told_with_the_reason(self, world: World) -> None:
        world.write(
            ".hookport/hooks.json",
            {
                "spec": "hooks/1.0",
                "hooks": [
                    {
                        "name": event,
                        "event": event,
                        "blocking": True,
                        "handler": {"type": "command", "command": "true"},
                    }
                    for event in ("before_tool_execute", "agent_stop", "session_start", "before_model")
                ],
            },
        )
        for agent, expected in {
            "claude-code": ["enforced", "enforced", "enforced", "advisory", "unavailable"],
            "cline": ["enforced", "enforced", "advisory", "advisory", "unavailable"],
        }.items():
            assert {hook.level for hook in self.state(world, agent).hooks} == {"unavailable"}
            world.sync(agent, mode="bridge")
            approve(world.root, world.env)
            hooks = self.state(world, agent).hooks
            assert [hook.level for hook in hooks] == expected
            assert [bool(hook.reason) for hook in hooks] == [level != "enforced" for level in expected]

    def test_hooks_that_are_switched_off_hold_nothing(self, world: World) -> None:
        world.write(".gemini/settings.json", {"hooksConfig": {"enabled": False}})
        world.sync("gemini-cli", mode="bridge")
        approve(world.root, world.env)
        told = {(hook.level, "switched off" in hook.reason) for hook in self.state(world, "gemini-cli").hooks}
        assert told == {("unavailable", True)}

    @pytest.mark.parametrize("word", ["trusted", "untrusted", "modified"])
    def test_what_the_agent_itself_says_of_an_entry_is_told(self, word: str, world: World) -> None:
        plan = world.sync("codex", mode="native")
        said = {"key": "k", "command": plan.agents[0].hooks[0].handler.command, "trustStatus": word}
        answer = json.dumps({"id": 2, "result": {"data": [{"hooks": [said]}]}})
        program = world.root.parent / "bin" / "codex"
        program.parent.mkdir(exist_ok=True)
        program.write_text(
            f"#!{sys.executable}\nimport json, sys\nfor line in sys.stdin:\n"
            f"    asked = json.loads(line)\n    if 'id' in asked:\n"
            f"        print(json.dumps({{**json.loads({answer!r}), 'id': asked['id']}}), flush=True)\n"
        )
        program.chmod(0o755)
        env = {**world.env, "PATH": f"{program.parent}:{world.env['PATH']}"}
        config = Path(world.env["HOME"], ".codex/config.toml")
        config.parent.mkdir(exist_ok=True)
        config.write_text(f'[projects."{world.root}"]\ntrust_level = "trusted"\n')
        (found,) = status.read_status(str(world.root), env, ["codex"]).agents
        (hook,) = found.hooks
        level, remedy = (
            ("enforced", "") if word == "trusted" else ("unavailable", ": `hookport trust --in-agents`")
        )
        expected = ("installed", level, f"{word} in Codex CLI{remedy}")
        assert (hook.state, hook.level, hook.reason) == expected

    def test_the_last_run_is_that_of_the_journal(self, world: World) -> None:
        command = entry(world, "claude-code")
        assert [hook.fired for hook in self.state(world, "claude-code").hooks] == [""]
        forks.run(["trust", "--yes"], world.root, world.env).check_returncode()
        fire(world, command, world.root, CLAUDE_PROJECT_DIR=str(world.root))
        (hook,) = self.state(world, "claude-code").hooks
        assert hook.fired.startswith("20")


def test_check_and_dry_run_write_nothing(
    world: World, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    for name in [name for name in os.environ if name.startswith(("XDG_", "HOOKPORT_"))]:
        monkeypatch.delenv(name)
    for name, value in world.env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(world.root)
    before = world.tree()
    words = ["sync", "--agent", "cursor"]
    assert cli.main([*words, "--dry-run"]) == 0
    assert "+++ " in capfd.readouterr().out
    assert cli.main([*words, "--check"]) == 1
    assert "HP817" in capfd.readouterr().err
    assert world.tree() == before
    assert cli.main(words) == 0
    assert cli.main([*words, "--check"]) == 1
    assert "HP840" in capfd.readouterr().err
    assert cli.main(["trust", "--yes"]) == 0
    assert cli.main([*words, "--check"]) == 0


def test_a_target_names_each_file_once() -> None:
    for agent in AGENTS:
        for scope in ("project", "user"):
            one = find_target(agent, scope, "/p", {"HOME": "/h"})
            keys = get(agent).shape.encode(get(agent), pipeline.read({}, get(agent)).decoded.manifest)
            paths = list(one.find_paths(keys).values())
            assert len(paths) == len(set(paths))


@pytest.mark.parametrize("scope", ["project", "user"])
@pytest.mark.parametrize("data", [b'{"hooks": {', '{"hooks": {}}'.encode("utf-16")], ids=["syntax", "utf-16"])
def test_status_does_not_pass_over_a_file_that_it_cannot_read(
    world: World, scope: str, data: bytes, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = world.root if scope == "project" else Path(world.env["HOME"])
    (root / ".claude").mkdir(parents=True, exist_ok=True)
    (root / ".claude/settings.json").write_bytes(data)
    monkeypatch.chdir(world.root)
    for name, value in world.env.items():
        monkeypatch.setenv(name, value)
    code = cli.main(["status", "--agent", "claude-code"])
    shown = capsys.readouterr().out
    assert (code, "nothing installed" in shown, "HP801" in shown or "error" in shown) == (1, False, True), (
        shown
    )
