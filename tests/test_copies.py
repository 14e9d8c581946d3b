"""Exactly once: what files for several agents start alike is one hook, and what differs is another."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from hookport.agents import get_wire, list_agents
from hookport.convert import pipeline
from hookport.doctor.status import read_status
from hookport.errors import InputError
from hookport.install import sync
from hookport.install.sync import SyncRequest
from hookport.model.runs import Call, Event
from hookport.project import plan_builder
from hookport.project.discovery import discover
from hookport.runtime import engine, plan
from hookport.runtime.plan import CallOrigin
from hookport.runtime.select import is_for
from hookport.runtime.sources import list_tools, make_sources
from tests.approval import approve
from tests.test_coverage import SITES, env_of, file_at, text_for

if TYPE_CHECKING:
    from hookport.project.places import Site

SHELL = Call("shell", "x", input={"command": "y"})


def project(folder: Path, files: dict[str, Any], links: dict[str, str] | None = None) -> Path:
    """An approved project with files, of which objects are written as JSON."""
    root = folder / "project"
    (root / ".git").mkdir(parents=True)
    for name, content in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(content if isinstance(content, str) else json.dumps(content))
        if name.endswith(".sh"):
            (root / name).chmod(0o755)
    for name, target in (links or {}).items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).symlink_to(root / target)
    approve(root, env_of(folder))
    return root


def test_status_names_the_copy_that_runs_instead(tmp_path: Path) -> None:
    own = {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "./guard.sh"}]}]}
    root = project(
        tmp_path,
        {
            "guard.sh": "#!/bin/sh\nexit 0\n",
            ".claude/settings.json": {"hooks": own},
            ".cursor/hooks.json": {
                "version": 1,
                "hooks": {"beforeShellExecution": [{"command": "./guard.sh"}]},
            },
        },
    )
    state = read_status(str(root), env_of(tmp_path), ("claude-code",))
    told = {Path(row.file).name: row.reason for one in state.agents for row in one.hooks}
    assert told == {
        "settings.json": "",
        "hooks.json": "not installed; its copy in .claude/settings.json runs instead",
    }


def runs_in(agent: str, root: Path) -> list[str]:
    """The files whose hooks run on one call; what the agent loads by itself counts once."""
    env = env_of(root.parent)
    kept = plan.parse(plan_builder.compile_plan(discover(str(root), env), env, str(root)))
    assert isinstance(kept, plan.DispatchPlan)
    caller = CallOrigin(str(root), str(root), "project", env)
    fired = Event("before_tool_execute", agent, "x", call=SHELL, cwd=str(root))
    sources = make_sources(kept, agent, get_wire, caller)
    setting = engine.RunSetting(get_wire(agent), get_wire, env, project=str(root))
    bridged = [run.hook for run in engine.explain_hooks(fired, sources.hooks(fired), setting) if run.matched]
    itself = [
        hook
        for hook in kept.hooks(fired.event, list_tools(fired))
        if plan.is_loaded_by(hook.loaded_by, agent, str(root), caller)
        and is_for(hook, get_wire(hook.dialect), fired)
    ]
    return [str(Path(hook.file).relative_to(root)) for hook in (*itself[:1], *bridged)]


def claude(command: str, **more: Any) -> dict[str, Any]:
    entry = {"type": "command", "command": command, **more}
    return {"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [entry]}]}}


def cursor(command: str, event: str = "beforeShellExecution", **more: Any) -> dict[str, Any]:
    return {"version": 1, "hooks": {event: [{"command": command, **more}]}}


def named(file: str) -> dict[str, str]:
    return {"name": "guard", "version": "1.0.0", "hooks": f"./{file}"}


GUARD = "#!/bin/sh\nexit 2\n"
ROOT = "${CLAUDE_PLUGIN_ROOT}"
# One plugin and its script, as the files of hooks for three agents spell it.
SPELLINGS = [
    (f"{ROOT}/hooks/guard.sh", "${PLUGIN_ROOT}/hooks/guard.sh", "${CURSOR_PLUGIN_ROOT}/hooks/guard.sh"),
    (f'"{ROOT}/hooks/guard.sh"', 'bash "${PLUGIN_ROOT}"/hooks/guard.sh', "./hooks/guard.sh"),
    ("sh $CLAUDE_PLUGIN_ROOT/hooks/guard.sh -q", f"sh {ROOT}/hooks/guard.sh -q", "bash ./hooks/guard.sh -q"),
    (f"{ROOT}/hooks/guard.sh", f"{ROOT}/hooks/link.sh", "$CURSOR_PLUGIN_ROOT/hooks/guard.sh"),
]


def three(package: str, first: str, second: str, third: str) -> dict[str, Any]:
    """A plugin with the manifests of three agents."""
    return {
        f"{package}.claude-plugin/plugin.json": {"name": "guard", "version": "1.0.0"},
        f"{package}hooks/hooks.json": claude(first),
        f"{package}.codex-plugin/plugin.json": named("hooks/hooks-codex.json"),
        f"{package}hooks/hooks-codex.json": claude(second),
        f"{package}.cursor-plugin/plugin.json": named("hooks/hooks-cursor.json"),
        f"{package}hooks/hooks-cursor.json": cursor(third),
        f"{package}hooks/guard.sh": GUARD,
    }


@pytest.mark.parametrize("package", ["", "plugins/guard/", ".agents/plugins/a b/"])
@pytest.mark.parametrize("spellings", SPELLINGS)
def test_a_script_that_manifests_of_several_agents_start_runs_once(
    tmp_path: Path, package: str, spellings: tuple[str, str, str]
) -> None:
    files = three(package, *spellings)
    root = project(tmp_path, files, {f"{package}hooks/link.sh": f"{package}hooks/guard.sh"})
    assert len(discover(str(root), env_of(tmp_path)).hooks) == 3
    ran = {agent: runs_in(agent, root) for agent in list_agents()}
    assert {agent: len(files) for agent, files in ran.items()} == dict.fromkeys(list_agents(), 1)
    # What was written for an agent is what runs there.
    assert ran["cursor"] == [f"{package}hooks/hooks-cursor.json"]
    assert ran["codex"] == [f"{package}hooks/hooks-codex.json"]
    assert ran["claude-code"] == [f"{package}hooks/hooks.json"]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (f"{ROOT}/hooks/guard.sh", "${PLUGIN_ROOT}/hooks/other.sh"),
        (f"{ROOT}/hooks/guard.sh", "${PLUGIN_ROOT}/hooks/guard.sh --strict"),
        (f"{ROOT}/hooks/guard.sh", "STRICT=1 ${PLUGIN_ROOT}/hooks/guard.sh"),
        (f"{ROOT}/hooks/guard.sh", "${PLUGIN_ROOT}/hooks/guard.sh && exit 2"),
    ],
)
def test_hooks_that_differ_all_run(tmp_path: Path, first: str, second: str) -> None:
    root = project(tmp_path, three("", first, second, "./hooks/third.sh"))
    assert {len(runs_in(agent, root)) for agent in list_agents()} == {3}


def test_a_copy_that_denies_nothing_takes_no_guards_place(tmp_path: Path) -> None:
    files = {
        ".claude/settings.json": claude("./guard.sh", **{"async": True}),
        ".cursor/hooks.json": cursor("./guard.sh"),
        "guard.sh": GUARD,
    }
    root = project(tmp_path, files)
    assert runs_in("gemini-cli", root) == [".cursor/hooks.json"]
    assert sorted(runs_in("claude-code", root)) == [".claude/settings.json", ".cursor/hooks.json"]


def test_a_copy_with_another_matcher_runs_where_the_first_does_not(tmp_path: Path) -> None:
    settings = claude("./guard.sh")
    settings["hooks"]["PreToolUse"][0]["matcher"] = "Write"
    files = {
        ".claude/settings.json": settings,
        ".cursor/hooks.json": cursor("./guard.sh"),
        "guard.sh": GUARD,
    }
    assert runs_in("gemini-cli", project(tmp_path, files)) == [".cursor/hooks.json"]


def test_a_copy_that_is_not_approved_takes_no_place(tmp_path: Path) -> None:
    root = project(tmp_path, {".claude/settings.json": claude("./guard.sh"), "guard.sh": GUARD})
    (root / ".codex").mkdir()
    (root / ".codex/hooks.json").write_text(json.dumps(claude("./guard.sh", timeout=999)))
    assert ".claude/settings.json" in runs_in("gemini-cli", root)


OWN = [site for site in SITES if not site.package and "*" not in site.path and len(site.dialects) == 1]
OWN = [site for site in OWN if site.path.endswith(".json") and "/" in site.path]


def reads_alike(site: Site, real: Site) -> bool:
    """Whether the agent of a site reads the same hooks from the file, or none: others are no copies."""

    def read_hooks(place: Site) -> list[tuple[str, Any, Any]]:
        try:
            reading = pipeline.read({file_at(place): text_for(real).encode()}, place.dialects[0])
        except InputError:
            return []
        return [(hook.event, hook.matcher, hook.handler) for hook in reading.decoded.manifest.hooks]

    return read_hooks(site) in ([], read_hooks(real))


@pytest.mark.parametrize("real", OWN, ids=lambda site: site.path)
def test_links_from_every_other_place_run_once_everywhere(tmp_path: Path, real: Site) -> None:
    links = {file_at(site): file_at(real) for site in OWN if site != real and reads_alike(site, real)}
    root = project(tmp_path, {file_at(real): text_for(real)}, links)
    ran = {agent: runs_in(agent, root) for agent in list_agents()}
    assert {agent: files for agent, files in ran.items() if len(files) != 1} == {}


@pytest.mark.parametrize(
    ("link", "target", "own", "mine"),
    [
        (".codex/hooks.json", ".claude/settings.json", "claude-code", ".claude/settings.json"),
        # Droid has no tool `Bash`, so the matcher of its own file never matches there.
        (".factory/settings.json", ".claude/settings.json", "factory-droid", ".claude/settings.json"),
        (".claude/settings.json", ".codex/hooks.json", "claude-code", ".claude/settings.json"),
        (".qwen/settings.json", ".claude/settings.json", "qwen-code", ".qwen/settings.json"),
    ],
)
def test_a_link_is_the_own_file_of_the_agent_at_whose_place_it_is(
    tmp_path: Path, link: str, target: str, own: str, mine: str
) -> None:
    root = project(tmp_path, {target: claude("./guard.sh"), "guard.sh": GUARD}, {link: target})
    ran = {agent: runs_in(agent, root) for agent in list_agents()}
    assert {len(files) for files in ran.values()} == {1}
    assert ran[own] == [mine]


def test_each_by_itself_a_copy_runs_twice_and_that_is_told(tmp_path: Path) -> None:
    files = {
        ".claude/settings.json": claude("./guard.sh"),
        ".codex/hooks.json": claude("./guard.sh"),
        "guard.sh": GUARD,
    }
    root, env = project(tmp_path, files), env_of(tmp_path)
    (native,) = sync.plan_sync(str(root), env, SyncRequest(("factory-droid",), mode="native")).agents
    (chosen,) = sync.plan_sync(str(root), env, SyncRequest(("factory-droid",))).agents
    assert [one.code for one in native.findings if one.code == "HP832"] == ["HP832"]
    assert (chosen.mode, [one.code for one in chosen.findings if one.code == "HP832"]) == ("bridge", [])


@pytest.mark.parametrize(
    ("place", "start"),
    [
        ("home/.cursor/hooks.json", "home/.cursor"),
        ("project/plugins/p/hooks/hooks.json", "project/plugins/p"),
        ("project/.cursor/hooks.json", "project"),
    ],
)
def test_a_hook_of_cursor_starts_where_cursor_starts_it(tmp_path: Path, place: str, start: str) -> None:
    env = env_of(tmp_path)
    root = tmp_path / "project"
    (root / ".git").mkdir(parents=True)
    manifest = root / "plugins/p/.cursor-plugin/plugin.json"
    for file, text in (
        (manifest, '{"name": "p"}'),
        (tmp_path / place, json.dumps(cursor("./hooks/guard.sh"))),
    ):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    script = tmp_path / start / "hooks/guard.sh"
    script.parent.mkdir(parents=True, exist_ok=True)
    script.write_text("#!/bin/sh\necho no >&2\nexit 2\n")
    script.chmod(0o755)
    approve(root, env)
    kept = plan.parse(plan_builder.compile_plan(discover(str(root), env), env, str(root)))
    assert isinstance(kept, plan.DispatchPlan)
    fired = Event(
        "before_tool_execute", "gemini-cli", "BeforeTool", call=SHELL, cwd=str(root), root=str(root)
    )
    setting = engine.RunSetting(get_wire("gemini-cli"), get_wire, env, project=str(root))
    report = engine.run_hooks(fired, make_sources(kept, "gemini-cli", get_wire).hooks(fired), setting)
    assert (report.decision.verdict, [run.answered.failure for run in report.runs]) == ("deny", [""])
