"""The law of coverage, over every place and agent: exactly one of the agent, an entry of ours, an error.

What agents load by themselves is told a second time in their `facts.yaml`, as it was measured in November
2026 (Claude Code 2.1.325, Codex 0.166.0, Copilot CLI 1.0.102, droid 0.215.0, Gemini CLI 0.61.0, Qwen Code
0.24.4, Cline 3.0.65, Mistral Vibe 3.0.2) or as their documentation says.
"""

from __future__ import annotations

import json
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from hookport.agents import find_event_specs, get, get_wire, list_agents, list_dialects
from hookport.convert import pipeline
from hookport.doctor import examine
from hookport.doctor.status import read_status
from hookport.errors import InputError
from hookport.findings import NeverRuns
from hookport.install import sync
from hookport.install.sync import SyncRequest
from hookport.model.runs import Call, Event
from hookport.project import plan_builder
from hookport.project.discovery import discover
from hookport.project.ownership import Readers
from hookport.project.places import list_sites
from hookport.runtime import plan
from hookport.runtime.plan import CallOrigin
from hookport.runtime.sources import make_sources
from hookport.shapes.dialect import list_locations
from tests.agent_data import FACTS, facts_of
from tests.approval import approve

if TYPE_CHECKING:
    from hookport.agents import Dialect
    from hookport.project.places import Site

HUB = next(name for name in list_dialects() if get(name).is_hub)
GUARD = {
    "event": "before_tool_execute",
    "blocking": True,
    "matcher": "shell",
    "handler": {"type": "command", "command": "echo no >&2; exit 2"},
}
SCRIPT = "#!/bin/sh\necho '{\"cancel\": true}'\n"
# Claude Code and VS Code ask whether a folder is trusted, and call no entry before.
UNASKED = {
    "claude-code",
    "vs-code-copilot",
    *(name for name, facts in FACTS.items() if facts.trust == "not asked for"),
}
PROJECT = [site for site in list_sites() if site.scope == "project"]


@cache
def written(dialect: str) -> dict[str, str]:
    """A guard on the shell in a dialect, by the paths that it is written to."""
    data = json.dumps({"spec": "hooks/1.0", "hooks": [GUARD]}).encode()
    reading = pipeline.read({"hooks.json": data}, get(HUB))
    made = pipeline.convert(reading, get(dialect), bare=True)
    return {file.path: file.text for file in made.files}


def file_at(site: Site) -> str:
    """A file of the site; where that is a script, its name is the event."""
    dialect = site.dialects[0]
    native = next((one.native for one in dialect.events if one.canonical == GUARD["event"]), "")
    return site.path.replace("*", native if dialect.shape.in_place else "guard")


def text_for(site: Site) -> str:
    """The guard as it may stand at a site; empty where no dialect of it writes such a file."""
    shape = file_at(site)
    for dialect in site.dialects:
        if dialect.shape.in_place:
            return SCRIPT
        for path, text in {} if dialect.shape.companions else written(dialect.id).items():
            if Path(path).suffix != Path(shape).suffix:
                continue
            # Of two files of a dialect one may have its hooks below a key.
            for tried in (text, json.dumps({"hooks": json.loads(text)}) if path.endswith(".json") else text):
                if is_taken(shape, tried, dialect):
                    return tried
    return ""


def is_taken(path: str, text: str, dialect: Dialect) -> bool:
    """Whether a dialect reads hooks from a file, and its agent takes them."""
    try:
        decoded = pipeline.read({path: text.encode()}, dialect).decoded
    except InputError:
        return False
    return bool(decoded.manifest.hooks) and NeverRuns.code not in [one.code for one in decoded.findings]


def is_below_hooks(text: str) -> bool:
    """Whether the hooks of a JSON file stand below the key `hooks`."""
    return text.startswith("{") and "hooks" in json.loads(text)


def is_known(path: str, text: str, dialect: Dialect) -> bool:
    """Whether a dialect knows the events of the hooks that it reads from a file."""
    if not is_taken(path, text, dialect):
        return False
    hooks = pipeline.read({path: text.encode()}, dialect).decoded.manifest.hooks
    return all(":" not in hook.event for hook in hooks)


SITES = [site for site in PROJECT if text_for(site)]


def made(folder: Path, site: Site) -> Path:
    """A project with the guard at a site."""
    root = folder / "project"
    (root / ".git").mkdir(parents=True)
    (root / "pkg").mkdir()
    file = root / file_at(site)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text_for(site), "utf-8")
    return root


def env_of(folder: Path) -> dict[str, str]:
    (folder / "home").mkdir(parents=True, exist_ok=True)
    return {"HOME": str(folder / "home"), "PATH": ""}


def runs(root: Path, agent: str, start: Path, entry: str, env: dict[str, str]) -> bool:
    """Whether the bridge runs the guard for a shell call."""
    kept = plan.parse(plan_builder.compile_plan(discover(str(root), env), env, str(root)))
    assert isinstance(kept, plan.DispatchPlan)
    caller = CallOrigin(str(start), str(start), entry, env)
    event = Event(
        "before_tool_execute", agent, "x", call=Call("shell", "x", input={"command": "y"}), cwd=str(start)
    )
    return bool(list(make_sources(kept, agent, get_wire, caller).hooks(event)))


def test_every_dialect_with_files_of_its_own_stands_here() -> None:
    """But for code modules, which are no hooks, and for agents without a project's files."""
    covered = {dialect.id for site in SITES for dialect in site.dialects}
    alone = [get(name) for name in list_dialects() if not get(name).shape.companions]
    assert [
        dialect.id
        for dialect in alone
        if "module" not in dialect.other_places
        and dialect.id not in covered
        and any(place.scope == "project" for place in dialect.locations)
    ] == []


@pytest.mark.parametrize(("agent", "path"), [(name, path) for name in FACTS for path in FACTS[name].reads])
def test_what_an_agent_reads_is_among_its_places(agent: str, path: str) -> None:
    """By its name or by the pattern of a folder, as Copilot CLI reads the file of VS Code."""
    places = [place.path for place in list_locations(get(agent), "own", "run", "also read")]
    assert [one for one in places if fnmatchcase(path, one) and path.count("/") == one.count("/")]


@pytest.mark.parametrize("site", SITES, ids=lambda site: site.path)
def test_the_bridge_runs_what_the_agent_does_not_load(tmp_path: Path, site: Site) -> None:
    root, env = made(tmp_path, site), env_of(tmp_path)
    found = discover(str(root), env)
    assert [one.file for one in found.hooks] == [str(root / file_at(site))]
    for agent in list_agents():
        rule = facts_of(agent).reads.get(site.path, "") if not site.package else ""
        for start, entry in ((root, "project"), (root, "user"), (root / "pkg", "user")):
            is_trusted = entry == "project" or agent in UNASKED
            loads = bool(rule) and is_trusted and (start == root or rule == "repository")
            assert runs(root, agent, start, entry, env) is not loads, (agent, str(start), entry)


@pytest.mark.parametrize(
    ("matcher", "more", "loads"), [("^shell$", {"on_failure": "block"}, True), ("Bash", {}, False)]
)
def test_a_folder_of_plugins_that_an_agent_reads_too(
    tmp_path: Path, matcher: str, more: dict[str, str], loads: bool
) -> None:
    """What was written for it the agent runs by itself; for other hooks it knows too few words."""
    root, env = tmp_path / "project", env_of(tmp_path)
    file = root / ".agents/plugins/mine/hooks/hooks.json"
    file.parent.mkdir(parents=True)
    (root / ".git").mkdir()
    handler = {"type": "command", "command": "${PLUGIN_ROOT}/guard.sh", **more}
    group = {"matcher": matcher, "hooks": [handler]}
    file.write_text(json.dumps({"hooks": {"PreToolUse": [group]}}), "utf-8")
    found = discover(str(root), env)
    assert (found.hooks[0].hook.dialect == "goose") is loads
    assert runs(root, "goose", root, "project", env) is not loads
    assert runs(root, "cursor", root, "project", env)
    (planned,) = sync.plan_sync(str(root), env, SyncRequest(("goose",))).agents
    told = [finding.code for finding in planned.findings]
    assert ("HP822" in told or "HP823" in told) is not loads, planned.findings


@pytest.mark.parametrize("name", [name for name in list_dialects() if get(name).kind == "format"])
def test_a_format_is_run_for_whoever_fires_it(tmp_path: Path, name: str) -> None:
    """Who embeds hookport calls `dispatch` with a format: nobody else runs its hooks."""
    root, env = tmp_path / "project", env_of(tmp_path)
    (root / ".git").mkdir(parents=True)
    dialect = get(name)
    place = next(
        one.path for one in (*list_locations(dialect, "run"), *dialect.locations) if one.scope == "project"
    )
    texts = written(name)
    for path, text in texts.items():
        tail = (
            place.replace("*", "guard") if len(texts) == 1 or path.endswith(dialect.shape.file_name) else ""
        )
        file = root / (tail or f"{Path(place.replace('*', 'guard')).parent}/scripts/{Path(path).name}")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
        file.chmod(0o755)
    assert runs(root, name, root, "", env)


CASES = [
    site
    for site in SITES
    if site.path
    in {
        ".claude/settings.json",
        ".cursor/hooks.json",
        "hooks.json",
        ".agents/plugins/*/hooks/hooks.json",
        "plugins/*/hooks/hooks.json",
        ".gemini/settings.json",
    }
]


@pytest.mark.parametrize("agent", ["claude-code", "gemini-cli", "kimi-cli"])
@pytest.mark.parametrize("site", CASES, ids=lambda site: site.path)
def test_every_command_agrees_on_who_runs_a_hook(tmp_path: Path, site: Site, agent: str) -> None:
    root, env = made(tmp_path, site), env_of(tmp_path)
    for folder in (root, root / "pkg"):
        before = told(agent, folder, env)
        assert before["missing"] == before["doctor"], (str(folder), before)

        def plan_it(folder: Path = folder) -> sync.SyncPlan:
            return sync.plan_sync(str(folder), env, SyncRequest((agent,)))

        said = [one for one in plan_it().agents[0].findings if one.severity == "error"]
        sync.apply(plan_it, env, what="sync")
        approve(root, env)
        after = told(agent, folder, env)
        # What sync said of it is what there is then.
        assert bool(after["missing"]) is bool(said), (str(folder), after, said)
        assert after["missing"] == after["doctor"], (str(folder), after)


def told(agent: str, folder: Path, env: dict[str, str]) -> dict[str, Any]:
    """The hooks that do not run, by `status` and by `doctor`."""
    state = read_status(str(folder), env, (agent,))
    rows = {(row.file, row.place): row for one in state.agents for row in one.hooks}
    missing = sorted(key for key, row in rows.items() if row.state == "missing")
    reports = examine(str(folder), env, (agent,))
    dead = {key for report in reports for one in report.diagnoses for key in one.dead}
    return {"missing": missing, "doctor": sorted(dead & set(rows))}


@pytest.mark.parametrize("key", ["Hooks", "hook", "hoooks", "hooks "])
@pytest.mark.parametrize(
    "site", [one for one in SITES if text_for(one).startswith("[[hooks]]") or is_below_hooks(text_for(one))]
)
def test_hooks_below_a_key_that_was_meant_are_an_error(tmp_path: Path, site: Site, key: str) -> None:
    """The agent reads none of them and says nothing; nobody may take that for a file without hooks."""
    root = made(tmp_path, site)
    file = root / file_at(site)
    text = file.read_text("utf-8")
    is_json = text.startswith("{")
    if is_json:
        tree = json.loads(text)
        text = json.dumps({key if name == "hooks" else name: value for name, value in tree.items()})
    else:
        text = text.replace("[[hooks]]", f'[["{key}"]]')
    for dialect in site.dialects:
        if not is_known(file_at(site), text_for(site), dialect):
            continue
        try:
            found = pipeline.read({file_at(site): text.encode()}, dialect).decoded
        except InputError:
            continue
        errors = [one.message for one in found.findings if one.code == NeverRuns.code]
        # A format has no agent: hookport runs what it reads.
        assert len(errors) == (dialect.kind == "agent"), (dialect.id, text)
        assert found.manifest.hooks, (dialect.id, text)


def test_no_event_is_without_a_word(tmp_path: Path) -> None:
    """A hook that an agent has no event for is an error in `sync`, not a loss.

    So is one for an agent that reads no file of a project's.
    """
    env = env_of(tmp_path)
    root = tmp_path / "project"
    (root / ".git").mkdir(parents=True)
    (root / ".hookport").mkdir()
    hook = {"event": "session_end", "handler": {"type": "command", "command": "true"}}
    (root / ".hookport/hooks.json").write_text(json.dumps({"spec": "hooks/1.0", "hooks": [hook]}))
    for agent in list_agents():
        said = sync.plan_sync(str(root), env, SyncRequest((agent,))).agents[0].findings
        errors = [one.code for one in said if one.severity == "error"]
        is_home_only = not any(place.scope == "project" for place in get(agent).locations)
        assert bool(errors) is (not find_event_specs(get(agent), "session_end") or is_home_only), agent


MARKET = {"name": "m", "owner": {"name": "o"}, "plugins": [{"name": "p", "source": "./plugins/guard"}]}


@pytest.mark.parametrize(
    ("enabled", "start", "expected"),
    [
        ({"~/.claude/settings.json": True}, ".", True),
        ({"~/.claude/settings.json": True}, "pkg", True),
        ({"~/.claude/settings.json": True, ".claude/settings.json": False}, ".", False),
        ({".claude/settings.json": True}, ".", True),
        ({".claude/settings.json": True}, "pkg", False),
        ({".claude/settings.local.json": True}, "pkg", True),
        ({}, ".", False),
    ],
    ids=str,
)
def test_a_plugin_is_loaded_where_it_is_installed_and_enabled(
    tmp_path: Path, enabled: dict[str, bool], start: str, expected: bool
) -> None:
    site = next(site for site in SITES if site.path == "plugins/*/hooks/hooks.json")
    root, env = made(tmp_path, site), env_of(tmp_path)
    store = tmp_path / "home/.claude/plugins"
    store.mkdir(parents=True)
    copy = {"scope": "user", "installPath": f"{store}/cache/m/p/1.0.0", "version": "1.0.0"}
    (store / "installed_plugins.json").write_text(json.dumps({"version": 2, "plugins": {"p@m": [copy]}}))
    (store / "known_marketplaces.json").write_text(json.dumps({"m": {"installLocation": str(root)}}))
    (root / ".claude-plugin").mkdir()
    (root / ".claude-plugin/marketplace.json").write_text(json.dumps(MARKET))
    for place, is_on in enabled.items():
        file = (tmp_path / "home" if place.startswith("~/") else root) / place.removeprefix("~/")
        file.parent.mkdir(exist_ok=True)
        file.write_text(json.dumps({"enabledPlugins": {"p@m": is_on}}))
    assert runs(root, "claude-code", root / start, "user", env) is not expected
    assert runs(root, "gemini-cli", root / start, "user", env)


# What Claude Code 2.1.325 ran of a plugin that has hooks/hooks.json, hooks/other.json, hooks.json and these
# hooks in its manifest; the marks are those of the files, and `inline` of the manifest.
LOADED = [
    (None, {"default"}),
    ("./hooks/hooks.json", {"default"}),
    (["./hooks/hooks.json"], {"default"}),
    ("./hooks/other.json", {"default", "other"}),
    ("INLINE", {"default", "inline"}),
    ({"hooks": "INLINE"}, {"default"}),
    (["./hooks/other.json", "INLINE"], {"default", "other", "inline"}),
    ("hooks/other.json", set()),
    ("hooks/hooks.json", set()),
    (["./hooks/other.json", "./hooks/hooks.json"], {"default", "other"}),
]


@pytest.mark.parametrize(("named", "expected"), LOADED, ids=[str(named) for named, _ in LOADED])
def test_claude_code_loads_its_own_files_of_a_plugin(tmp_path: Path, named: Any, expected: set[str]) -> None:
    inline = json.loads(claude("inline"))["hooks"]
    hooks = json.loads(json.dumps(named).replace('"INLINE"', json.dumps(inline)))
    store = "home/.claude/plugins"
    package = f"{tmp_path}/project/plugins/p"
    files = {
        f"{store}/installed_plugins.json": json.dumps({"plugins": {"p@m": [{"installPath": package}]}}),
        "home/.claude/settings.json": json.dumps({"enabledPlugins": {"p@m": True}}),
        "plugins/p/.claude-plugin/plugin.json": json.dumps(
            {"name": "p", **({"hooks": hooks} if hooks else {})}
        ),
        "plugins/p/hooks/hooks.json": claude("default"),
        "plugins/p/hooks/other.json": claude("other"),
        "plugins/p/hooks.json": claude("root"),
        "plugins/p/.cursor-plugin/plugin.json": json.dumps({"name": "p", "hooks": "./hooks/cursor.json"}),
        "plugins/p/hooks/cursor.json": '{"version": 1, "hooks": {"preToolUse": [{"command": "cursor"}]}}',
    }
    root, env = project(tmp_path, **files)
    loaded = Readers(str(root), env)
    found = discover(str(root), env).hooks
    assert {one.hook.handler.command for one in found if "claude-code" in loaded.of(one)} == expected
    # The rest is run by the bridge.
    assert "cursor" in {one.hook.handler.command for one in found}


FRONTMATTER = (
    "---\nname: r\ndescription: d\nhooks:\n  PreToolUse:\n    - hooks: [{type: command, command: x}]\n---\n"
)


def test_hooks_of_a_subagent_are_its_agents_and_an_error_elsewhere(tmp_path: Path) -> None:
    root, env = tmp_path / "project", env_of(tmp_path)
    (root / ".git").mkdir(parents=True)
    (root / ".claude/agents").mkdir(parents=True)
    (root / ".claude/agents/r.md").write_text(FRONTMATTER)
    found = discover(str(root), env)
    assert (found.hooks, len(found.scoped)) == ((), 1)
    for agent in list_agents():
        said = sync.plan_sync(str(root), env, SyncRequest((agent,))).agents[0].findings
        assert bool([one for one in said if one.severity == "error"]) is (agent != "claude-code"), agent


def test_a_copy_of_what_the_agent_runs_itself_is_not_run_again(tmp_path: Path) -> None:
    root, env = tmp_path / "project", env_of(tmp_path)
    (root / ".git").mkdir(parents=True)
    claude = {"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "./guard.sh"}]}]}}
    cursor = {"version": 1, "hooks": {"preToolUse": [{"command": "guard.sh"}]}}
    (root / ".claude").mkdir()
    (root / ".cursor").mkdir()
    (root / ".cursor/hooks.json").write_text(json.dumps(cursor))
    (root / ".claude/settings.json").write_text(json.dumps(claude))
    assert not runs(root, "claude-code", root, "project", env)
    assert runs(root, "gemini-cli", root, "project", env)
    # One that the agent does not wait for denies nothing.
    claude["hooks"]["PreToolUse"][0]["hooks"][0]["async"] = True  # type: ignore[assignment]
    (root / ".claude/settings.json").write_text(json.dumps(claude))
    assert runs(root, "claude-code", root, "project", env)
    # The same words mean another script in another plugin.
    for name in ("one", "two"):
        folder = root / f".agents/plugins/{name}/hooks"
        folder.mkdir(parents=True)
        entry = {"type": "command", "command": "${CLAUDE_PLUGIN_ROOT}/guard.sh"}
        (folder / "hooks.json").write_text(json.dumps({"hooks": {"PreToolUse": [{"hooks": [entry]}]}}))
    found = discover(str(root), env)
    does = [plan_builder.plan_entry(one).does for one in found.hooks]
    assert len(set(does)) == 3


ODD = ["a\0b", "\ud800", "x" * 5000]


@pytest.mark.parametrize("text", ODD, ids=["nul", "surrogate", "long"])
@pytest.mark.parametrize(
    ("file", "tree"),
    [
        ("project/.claude-plugin/marketplace.json", '{"plugins": [{"name": "n", "source": "./%s"}]}'),
        ("project/.claude-plugin/plugin.json", '{"name": "n", "hooks": "./%s"}'),
        ("project/.claude-plugin/plugin.json", '{"name": "n", "hooks": ["./%s", {"PreToolUse": []}]}'),
        ("home/.gemini/trustedFolders.json", '{"/%s": "TRUST_FOLDER"}'),
        ("home/.copilot/config.json", '{"trustedFolders": ["/%s"]}'),
        ("home/.claude.json", '{"projects": {"/%s": {"hasTrustDialogAccepted": true}}}'),
        ("home/.claude/plugins/installed_plugins.json", '{"plugins": {"p@m": [{"installPath": "/%s"}]}}'),
    ],
)
def test_an_impossible_name_costs_no_other_hook(tmp_path: Path, file: str, tree: str, text: str) -> None:
    site = next(site for site in SITES if site.path == ".agents/plugins/*/hooks/hooks.json")
    root, env = made(tmp_path, site), env_of(tmp_path)
    (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / file).write_text(tree % json.dumps(text)[1:-1])
    for agent in ("claude-code", "codex"):
        assert runs(root, agent, root, "project", env)
        assert read_status(str(root), env, (agent,)).agents


def project(folder: Path, **files: str) -> tuple[Path, dict[str, str]]:
    """A project with files, of which `home` starts those of the user."""
    env = env_of(folder)
    (folder / "project/.git").mkdir(parents=True)
    for path, text in files.items():
        above = folder if path.startswith("home/") else folder / "project"
        (above / path).parent.mkdir(parents=True, exist_ok=True)
        (above / path).write_text(text)
    return folder / "project", env


def claude(command: str, event: str = "PreToolUse") -> str:
    entry = {"type": "command", "command": command}
    return json.dumps({"hooks": {event: [{"matcher": "Bash", "hooks": [entry]}]}})


def errors(root: Path, env: dict[str, str], agent: str) -> list[str]:
    """The codes of errors that sync would end with."""
    found = sync.plan_sync(str(root), env, SyncRequest((agent,)))
    return [one.code for one in found.agents[0].findings if one.severity == "error"]


def test_another_plugin_with_the_same_bytes_is_not_this_one(tmp_path: Path) -> None:
    text = claude("${CLAUDE_PLUGIN_ROOT}/g.sh")
    copy = f"{tmp_path}/home/.claude/plugins/cache/z/q/1"
    files = {
        "plugins/p/hooks/hooks.json": text,
        "home/.claude/plugins/cache/z/q/1/hooks/hooks.json": text,
        "home/.claude/plugins/installed_plugins.json": json.dumps(
            {"version": 2, "plugins": {"q@z": [{"installPath": copy}]}}
        ),
        ".claude/settings.json": json.dumps({"enabledPlugins": {"q@z": True}}),
    }
    root, env = project(tmp_path, **files)
    assert runs(root, "claude-code", root, "project", env)


@pytest.mark.parametrize(("where", "is_loaded"), [("", True), ("project", True), ("elsewhere", False)])
def test_a_plugin_that_is_installed_for_another_project_is_not_loaded(
    tmp_path: Path, where: str, is_loaded: bool
) -> None:
    copy = {"installPath": f"{tmp_path}/project/plugins/p", "scope": "project" if where else "user"}
    copy |= {"projectPath": f"{tmp_path}/{where}"} if where else {}
    files = {
        "plugins/p/hooks/hooks.json": claude("g.sh"),
        "home/.claude/plugins/installed_plugins.json": json.dumps({"plugins": {"p@m": [copy]}}),
        "home/.claude/settings.json": json.dumps({"enabledPlugins": {"p@m": True}}),
    }
    root, env = project(tmp_path, **files)
    assert runs(root, "claude-code", root, "project", env) != is_loaded
    # Nor from the folder of its marketplace, be that this project.
    market = {"m": {"installLocation": str(root)}}
    store = tmp_path / "home/.claude/plugins"
    copy["installPath"] = f"{store}/cache/m/p/1.0.0"
    (store / "installed_plugins.json").write_text(json.dumps({"plugins": {"p@m": [copy]}}))
    (store / "known_marketplaces.json").write_text(json.dumps(market))
    (root / ".claude-plugin").mkdir()
    shared = {**MARKET, "plugins": [{"name": "p", "source": "./plugins/p"}]}
    (root / ".claude-plugin/marketplace.json").write_text(json.dumps(shared))
    assert runs(root, "claude-code", root, "project", env) != is_loaded


def test_hooks_of_a_folder_below_the_root_are_an_error_in_every_command(tmp_path: Path) -> None:
    """Whoever starts there may take them for guards; hookport runs those of the root."""
    root, env = project(tmp_path, **{"pkg/.claude/settings.json": claude("g.sh")})
    start = str(root / "pkg")
    told = [
        [one.code for one in read_status(start, env).unread],
        [one.code for one in sync.plan_sync(start, env, SyncRequest(("gemini-cli",))).findings],
        *(
            [one.finding.code for it in examine(start, env, names) for one in it.diagnoses]
            for names in ([], ["gemini-cli"])
        ),
    ]
    assert [codes.count("HP709") for codes in told] == [1, 1, 1, 1]


def test_a_link_to_another_agents_file_is_not_read_as_that_agent_reads_it(tmp_path: Path) -> None:
    root, env = project(tmp_path, **{".claude/settings.json": claude("g.sh"), ".gemini/x": ""})
    (root / ".gemini/settings.json").symlink_to("../.claude/settings.json")
    assert runs(root, "gemini-cli", root, "project", env)


@pytest.mark.parametrize(
    ("agent", "file", "event"),
    [
        ("gemini-cli", ".gemini/settings.json", "PreToolUse"),
        ("claude-code", ".claude/settings.json", "BeforeTool"),
        ("qwen-code", ".qwen/settings.json", "BeforeTool"),
        ("factory-droid", ".factory/settings.json", "BeforeTool"),
    ],
)
def test_an_event_of_another_agent_is_an_error(tmp_path: Path, agent: str, file: str, event: str) -> None:
    root, env = project(tmp_path, **{file: claude("g.sh", event)})
    assert errors(root, env, agent) == ["HP830"]


def test_a_file_that_its_agent_refuses_is_run_by_the_bridge(tmp_path: Path) -> None:
    good = {"matcher": "Bash", "hooks": [{"type": "command", "command": "g.sh"}]}
    text = json.dumps({"hooks": {"PreToolUse": [{"matcher": 5, "hooks": good["hooks"]}, good]}})
    root, env = project(tmp_path, **{".claude/settings.json": text})
    assert runs(root, "claude-code", root, "user", env)


def test_a_switch_that_is_off_is_an_error(tmp_path: Path) -> None:
    off = json.dumps({"disableAllHooks": True})
    files = {".claude/settings.json": claude("g.sh"), "home/.claude/settings.json": off}
    root, env = project(tmp_path, **files)
    assert errors(root, env, "claude-code") == ["HP830"]


def test_the_file_of_one_product_is_not_every_products(tmp_path: Path) -> None:
    text = '[[hooks]]\nevent = "PreToolUse"\nmatcher = "Shell"\ncommand = "g.sh"\n'
    root, env = project(tmp_path, **{"home/.kimi/config.toml": text})
    assert not runs(root, "kimi-cli", root, "user", env)
    (tmp_path / "home/.kimi-code").mkdir()
    assert runs(root, "kimi-cli", root, "user", env)
    # Of two hooks, that which the other product has too runs there by itself.
    (tmp_path / "home/.kimi-code/config.toml").write_text(text)
    assert not runs(root, "kimi-cli", root, "user", env)
    (tmp_path / "home/.kimi/config.toml").write_text(text + text.replace("g.sh", "other.sh"))
    assert runs(root, "kimi-cli", root, "user", env)


def test_no_copy_is_put_beside_a_hook_that_waits_for_its_agents_trust(tmp_path: Path) -> None:
    trusted = f'[projects."{tmp_path}/project"]\ntrust_level = "trusted"\n'
    root, env = project(
        tmp_path, **{".codex/hooks.json": claude("./g.sh"), "home/.codex/config.toml": trusted}
    )
    made_ = sync.plan_sync(str(root), env, SyncRequest(("codex",))).agents[0]
    assert (made_.changes, errors(root, env, "codex")) == ((), ["HP830"])
    # Called by another entry of ours, the bridge runs it.
    assert runs(root, "codex", root, "user", env)


def test_a_plugin_in_a_folder_with_a_blank_keeps_its_root_one_word(tmp_path: Path) -> None:
    root, env = project(
        tmp_path / "a b", **{"plugins/p/hooks/hooks.json": claude("${CLAUDE_PLUGIN_ROOT}/g.sh x")}
    )
    (one,) = discover(str(root), env).hooks
    assert plan_builder.plan_entry(one).command == '"${CLAUDE_PLUGIN_ROOT}"/g.sh x'


def test_an_entry_of_the_user_holds_in_a_folder_that_the_agent_does_not_trust(tmp_path: Path) -> None:
    own = {"version": 1, "hooks": {"preToolUse": [{"type": "command", "command": "true"}]}}
    files = {".github/hooks/x.json": json.dumps(own), "home/.copilot/config.json": '{"trustedFolders": []}'}
    root, env = project(tmp_path, **files)
    wish = SyncRequest(("copilot-cli",), "user", "bridge")
    sync.apply(lambda: sync.plan_sync(str(root), env, wish), env, what="sync")
    approve(root, env)
    (state,) = read_status(str(root), env, ("copilot-cli",)).agents
    assert [(row.state, row.level) for row in state.hooks] == [("installed", "enforced")]
    assert runs(root, "copilot-cli", root, "user", env)


def test_a_vendored_plan_is_what_the_next_sync_makes(tmp_path: Path) -> None:
    root, env = project(tmp_path, **{".claude/settings.json": claude("true")})
    wish = SyncRequest(("codex",), vendor=True)
    sync.apply(lambda: sync.plan_sync(str(root), env, wish), env, what="sync")
    assert sync.plan_sync(str(root), env, wish).changes == ()
    approve(root, env)
    (state,) = read_status(str(root), env, ("codex",)).agents
    assert [row.level for row in state.hooks] == ["enforced"]
    # Another plan than the approved one runs nothing, and nobody calls that enforced.
    (root / ".cursor").mkdir()
    (root / ".cursor/hooks.json").write_text('{"version": 1, "hooks": {"stop": [{"command": "x"}]}}')
    sync.apply(lambda: sync.plan_sync(str(root), env, wish), env, what="sync")
    (state,) = read_status(str(root), env, ("codex",)).agents
    assert {row.level for row in state.hooks} == {"unavailable"}


@pytest.mark.parametrize("name", ["*", "a*b", "[x]", "a b", "x'y", 'q"r', "$(x)", "-rf", "new\nline", "ü"])
def test_a_plugin_may_have_any_name(tmp_path: Path, name: str) -> None:
    root, env = project(
        tmp_path, **{f"plugins/{name}/hooks/hooks.json": claude("${CLAUDE_PLUGIN_ROOT}/g.sh")}
    )
    assert [one.package for one in discover(str(root), env).hooks] == [str(root / "plugins" / name)]
    assert runs(root, "gemini-cli", root, "project", env)


def test_hooks_in_utf_16_are_an_error_in_a_plugin_too(tmp_path: Path) -> None:
    root, env = project(tmp_path, **{"plugins/p/hooks/hooks.json": ""})
    (root / "plugins/p/hooks/hooks.json").write_bytes(claude("g.sh").encode("utf-16"))
    assert [one.severity for one in discover(str(root), env).findings] == ["error"]
