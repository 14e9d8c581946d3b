"""Each reason for which a hook never fires is found in a real tree, and a tree without one gives nothing."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from hookport.agents import get, list_agents
from hookport.agents.codex import hash_handler
from hookport.convert import pipeline
from hookport.doctor import DoctorReport, ask_version, diagnose, examine, examine_agent, find_world
from hookport.doctor.repair import repair
from hookport.findings import KINDS
from hookport.runtime import journal
from hookport.shapes.dialect import HOOK_TRUST, SHADOWS, Dialect, Gate, find_quirk, list_locations
from tests import forks

GUARD = "#!/bin/sh\nexit 0\n"


def claude(
    command: str = '"$CLAUDE_PROJECT_DIR"/guard.sh', timeout: float | None = None, **more: object
) -> str:
    return nested("PreToolUse", "Bash", command, timeout, **more)


def nested(event: str, matcher: str, command: str, timeout: float | None = None, **more: object) -> str:
    entry = {"type": "command", "command": command, **({} if timeout is None else {"timeout": timeout})}
    return json.dumps({**more, "hooks": {event: [{"matcher": matcher, "hooks": [entry]}]}}, indent=1)


CODEX_COMMAND = '"$(git rev-parse --show-toplevel)"/guard.sh'
CODEX = nested("PreToolUse", "Bash", CODEX_COMMAND)
CODEX_HASH = hash_handler("pre_tool_use", {"matcher": "Bash"}, {"type": "command", "command": CODEX_COMMAND})
CODEX_TRUST = f"""
[projects."{{root}}"]
trust_level = "trusted"
[hooks.state."{{root}}/.codex/hooks.json:pre_tool_use:0:0"]
trusted_hash = "{CODEX_HASH}"
"""
COPILOT = json.dumps({"version": 1, "hooks": {"preToolUse": [{"type": "command", "bash": "./guard.sh"}]}})
GEMINI = nested("BeforeTool", "run_shell_command", "$GEMINI_PROJECT_DIR/guard.sh")
QWEN = nested("PreToolUse", "Bash", "$QWEN_PROJECT_DIR/guard.sh")
DROID = json.dumps(
    {"PreToolUse": [{"hooks": [{"type": "command", "command": "$FACTORY_PROJECT_DIR/guard.sh"}]}]}
)
AUGMENT = nested("PreToolUse", "launch-process", "$AUGMENT_PROJECT_DIR/guard.sh")
WINDSURF = json.dumps({"hooks": {"pre_run_command": [{"command": "./guard.sh"}]}})
VS_CODE = json.dumps({"hooks": {"PreToolUse": [{"type": "command", "command": "./guard.sh"}]}})
KIMI = '[[hooks]]\nevent = "PreToolUse"\nmatcher = "Bash"\ncommand = "true"\n'
VIBE = (
    '[[hooks]]\nname = "guard"\ntype = "pre_tool"\nmatch = "re:bash|process_start"\ncommand = "./guard.sh"\n'
)
CURSOR = json.dumps({"version": 1, "hooks": {"stop": [{"command": "./guard.sh"}]}})
GOOSE_FILE, GOOSE = ".agents/plugins/hookport/hooks/hooks.json", nested("PreToolUse", "shell", "./guard.sh")
GROK_FILE, GROK_TRUST = ".grok/hooks/guard.json", "~/.grok/trusted_folders.toml"
REASONIX = json.dumps({"hooks": {"PreToolUse": [{"match": "bash", "command": "./guard.sh"}]}})
CLINE = '[{"event": "PreToolUse", "command": "true"}]'

# A tree for each agent in which every hook would fire.
CLEAN: dict[str, dict[str, str]] = {
    "augment": {".augment/settings.json": AUGMENT, "~/.augment/settings.json": "{}"},
    "claude-code": {
        ".claude/settings.json": claude(),
        "~/.claude.json": '{"projects": {"{root}": {"hasTrustDialogAccepted": true}}}',
    },
    "codex": {".codex/hooks.json": CODEX, "~/.codex/config.toml": CODEX_TRUST},
    "copilot-cli": {
        ".github/hooks/a.json": COPILOT,
        "~/.copilot/config.json": '{"trustedFolders": ["{root}"]}',
    },
    "cursor": {".cursor/hooks.json": CURSOR},
    "factory-droid": {".factory/hooks.json": DROID, "~/.factory/settings.json": "{}"},
    "gemini-cli": {
        ".gemini/settings.json": GEMINI,
        "~/.gemini/trustedFolders.json": '{"{root}": "TRUST_FOLDER"}',
    },
    "goose": {GOOSE_FILE: GOOSE, "~/.config/goose/settings.json": '{"disabledPlugins": ["other"]}'},
    "grok-build": {
        GROK_FILE: nested("PreToolUse", "Bash", '"$GROK_WORKSPACE_ROOT"/guard.sh'),
        GROK_TRUST: '[folders."{root}"]\ntrusted = true\ndecided_at = 1794837762\n',
    },
    "kimi-cli": {"~/.kimi-code/config.toml": KIMI},
    "mistral-vibe": {".vibe/hooks.toml": VIBE, "~/.vibe/trusted_folders.toml": 'trusted = ["{root}"]\n'},
    "qwen-code": {".qwen/settings.json": QWEN, "~/.qwen/settings.json": "{}"},
    "reasonix": {".reasonix/settings.json": REASONIX},
    "vs-code-copilot": {".github/hooks/a.json": VS_CODE},
    "windsurf": {".windsurf/hooks.json": WINDSURF},
}


class Place(NamedTuple):
    """A project and a home, with what agents see of them."""

    root: Path
    home: Path
    env: dict[str, str]

    def write(self, files: Mapping[str, str]) -> None:
        for name, text in files.items():
            path = self.home / name[2:] if name.startswith("~/") else self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text.replace("{root}", str(self.root)), "utf-8")
            path.chmod(0o755 if text.startswith("#!") else 0o644)

    def program(self, name: str, version: str) -> None:
        self.write({f"~/bin/{name}": f"#!/bin/sh\necho '{name} version {version}'\n"})

    def report(self, agent: str) -> DoctorReport:
        return examine_agent(get(agent), str(self.root), self.env)

    def codes(self, agent: str) -> list[str]:
        return [one.finding.code for one in self.report(agent).diagnoses]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    root, home = tmp_path / "project", tmp_path / "home"
    (root / ".git").mkdir(parents=True)
    (home / "bin").mkdir(parents=True)
    env = {"HOME": str(home), "PATH": f"{home / 'bin'}{os.pathsep}/usr/bin{os.pathsep}/bin"}
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    made = Place(root, home, env)
    made.write({"guard.sh": GUARD})
    return made


@pytest.mark.parametrize("agent", CLEAN)
def test_a_tree_where_all_is_well_gives_nothing(agent: str, place: Place) -> None:
    place.write(CLEAN[agent])
    report = place.report(agent)
    assert report._replace(exceptions=()) == DoctorReport(agent, "", 1, 0, ())
    assert diagnose(str(place.root), place.env, [agent]) == []


WRONG: list[tuple[str, str, dict[str, str], list[str]]] = [
    ("augment", "star", {".augment/settings.json": nested("PreToolUse", "*", "true")}, ["HP108"]),
    ("augment", "seconds", {".augment/settings.json": nested("PreToolUse", "", "true", 30)}, ["HP502"]),
    ("augment", "Claude's tool", {".augment/settings.json": nested("PreToolUse", "Bash", "true")}, ["HP501"]),
    ("augment", "headless", {".augment/settings.json": nested("Notification", "", "true")}, ["HP881"]),
    ("augment", "relative", {".augment/settings.json": nested("PreToolUse", "", "./guard.sh")}, ["HP877"]),
    ("augment", "twice", {"~/.augment/settings.json": AUGMENT}, ["HP878"]),
    ("claude-code", "no trust", {"~/.claude.json": '{"projects": {}}'}, ["HP870"]),
    ("claude-code", "all off", {".claude/settings.local.json": '{"disableAllHooks": true}'}, ["HP872"]),
    (
        "claude-code",
        "all off in the file",
        {".claude/settings.json": claude(disableAllHooks=True)},
        ["HP872"],
    ),
    ("claude-code", "no comma", {".claude/settings.local.json": '{"a": 1 "b": 2}'}, ["HP873"]),
    ("claude-code", "local settings at home", {"~/.claude/settings.local.json": claude()}, ["HP875"]),
    ("claude-code", "no interpreter", {".claude/settings.json": claude("node9 x.js")}, ["HP876"]),
    ("claude-code", "a question", {".claude/settings.json": claude("command -v sh || exit 2; cat")}, []),
    ("claude-code", "no absolute one", {".claude/settings.json": claude("/no/python3 -c 1")}, ["HP876"]),
    ("claude-code", "no shebang's", {"guard.sh": "#!/usr/bin/env ruby9\n"}, ["HP876"]),
    ("claude-code", "relative", {".claude/settings.json": claude("sh guard.sh")}, ["HP877"]),
    ("claude-code", "no script", {".claude/settings.json": claude("$CLAUDE_PROJECT_DIR/no.sh")}, ["HP503"]),
    (
        "claude-code",
        "no tool",
        {".claude/settings.json": nested("PreToolUse", "bash", "true")},
        ["HP501"],
    ),
    (
        "claude-code",
        "gone tool",
        {".claude/settings.json": nested("PreToolUse", "Grep|Glob", "true")},
        ["HP890"],
    ),
    (
        "claude-code",
        "unknown tool",
        {".claude/settings.json": nested("PreToolUse", "Xyzzy", "true")},
        ["HP103"],
    ),
    ("claude-code", "one known", {".claude/settings.json": nested("PreToolUse", "Xyzzy|Edit", "true")}, []),
    ("claude-code", "ms for s", {".claude/settings.json": claude(timeout=30000)}, ["HP502"]),
    (
        "claude-code",
        "bridge gone",
        {
            ".claude/settings.json": claude(
                "/gone/python3 -I -S /gone/bridge.py dispatch claude-code PreToolUse"
            )
        },
        ["HP882"],
    ),
    (
        "claude-code",
        "bridge not on PATH",
        {".claude/settings.json": claude("hookport dispatch claude-code PreToolUse")},
        ["HP882"],
    ),
    (
        "claude-code",
        "wrapped and gone",
        {".claude/settings.json": claude("'/a b/bridge.pyz' wrap universal claude-code - -- 'true'")},
        ["HP882"],
    ),
    (
        "claude-code",
        "vendored bridge gone",
        {
            ".claude/settings.json": claude(
                'python3 "$CLAUDE_PROJECT_DIR/.hookport/bridge.pyz" dispatch claude-code Stop'
            )
        },
        ["HP882"],
    ),
    (
        "claude-code",
        "another agent's bridge",
        {
            ".claude/settings.json": claude('"$CLAUDE_PROJECT_DIR/bridge.py" dispatch gemini-cli BeforeTool'),
            "bridge.py": "#!/bin/sh\n",
        },
        ["HP883"],
    ),
    ("codex", "no trust", {"~/.codex/config.toml": ""}, ["HP870", "HP871"]),
    (
        "codex",
        "trusted above",
        {"~/.codex/config.toml": CODEX_TRUST.replace('projects."{root}"', 'projects."/"')},
        ["HP870"],
    ),
    ("codex", "no hash", {"~/.codex/config.toml": CODEX_TRUST.replace(":0:0", ":1:0")}, ["HP871"]),
    ("codex", "hook off", {"~/.codex/config.toml": CODEX_TRUST + "enabled = false\n"}, ["HP871"]),
    (
        "codex",
        "feature off",
        {"~/.codex/config.toml": CODEX_TRUST + "[features]\nhooks = false\n"},
        ["HP872"],
    ),
    ("codex", "bad entry", {".codex/hooks.json": nested("Stop", "", "true", timeout=1.5)}, ["HP873"]),
    ("copilot-cli", "no trust", {"~/.copilot/config.json": "{}"}, ["HP870"]),
    (
        "copilot-cli",
        "file off",
        {".github/hooks/a.json": COPILOT.replace("{", '{"disableAllHooks": true, ', 1)},
        ["HP872"],
    ),
    ("copilot-cli", "all off", {".github/copilot/settings.json": '{"disableAllHooks": true}'}, ["HP872"]),
    (
        "copilot-cli",
        "also Claude's",
        {".claude/settings.json": nested("PreToolUse", "", "./guard.sh")},
        ["HP878"],
    ),
    ("copilot-cli", "at home", {"~/.github/hooks/b.json": COPILOT.replace("guard", "other")}, ["HP875"]),
    ("cursor", "CLI", {".cursor/hooks.json": CURSOR.replace("stop", "beforeSubmitPrompt")}, ["HP881"]),
    ("cursor", "unseen", {"~/.cursor/cli.json": "{}"}, ["HP888"]),
    (
        "factory-droid",
        "wrapped",
        {".factory/hooks.json": json.dumps({"hooks": json.loads(DROID)})},
        ["HP108"],
    ),
    ("factory-droid", "hidden", {".factory/settings.json": nested("Stop", "", "true")}, ["HP874"]),
    ("factory-droid", "twice", {"~/.factory/hooks.json": DROID}, ["HP878"]),
    ("gemini-cli", "no trust", {"~/.gemini/trustedFolders.json": "{}"}, ["HP870"]),
    (
        "gemini-cli",
        "distrust",
        {"~/.gemini/trustedFolders.json": '{"/": "TRUST_FOLDER", "{root}": "DO_NOT_TRUST"}'},
        ["HP870"],
    ),
    ("gemini-cli", "off", {"~/.gemini/settings.json": '{"hooksConfig": {"enabled": false}} // x'}, ["HP872"]),
    (
        "gemini-cli",
        "seconds",
        {".gemini/settings.json": nested("BeforeTool", "", "true", timeout=30)},
        ["HP502"],
    ),
    (
        "gemini-cli",
        "list",
        {".gemini/settings.json": nested("SessionStart", "startup|resume", "true")},
        ["HP108"],
    ),
    (
        "gemini-cli",
        "Claude's tool",
        {".gemini/settings.json": nested("BeforeTool", "Bash", "true")},
        ["HP501"],
    ),
    (
        "kimi-cli",
        "bad sibling",
        {"~/.kimi-code/config.toml": KIMI + KIMI.replace('"true"\n', '"true"\ntimeout = 5000\n')},
        ["HP873"],
    ),
    ("kimi-cli", "star", {"~/.kimi-code/config.toml": KIMI.replace('"Bash"', '"*"')}, ["HP108"]),
    ("kimi-cli", "in both products", {"~/.kimi/config.toml": KIMI.replace("Bash", "Shell")}, []),
    ("kimi-cli", "in a project", {".kimi-code/config.toml": KIMI}, ["HP875"]),
    ("mistral-vibe", "no trust", {"~/.vibe/trusted_folders.toml": "trusted = []\n"}, ["HP870"]),
    ("mistral-vibe", "trusted above", {"~/.vibe/trusted_folders.toml": 'trusted = ["/"]\n'}, []),
    ("mistral-vibe", "older name", {".vibe/hooks.toml": VIBE.replace("pre_", "before_")}, ["HP108"]),
    ("goose", "off", {"~/.config/goose/settings.json": '{"disabledPlugins": ["hookport"]}'}, ["HP872"]),
    (
        "goose",
        "off in one list of two",
        {
            ".config/goose/settings.local.json": '{"disabledPlugins": []}',
            ".config/goose/settings.json": '{"disabledPlugins": ["hookport", "other"]}',
        },
        ["HP872"],
    ),
    (
        "goose",
        "the user's off",
        {"~/.config/goose/settings.json": '{"disabledPlugins": ["hookport-user"]}'},
        [],
    ),
    ("goose", "a star", {GOOSE_FILE: nested("PreToolUse", "*", "true")}, ["HP108"]),
    ("goose", "no time", {GOOSE_FILE: GOOSE.replace('"type"', '"timeout": 0, "type"')}, ["HP108", "HP510"]),
    ("goose", "another's tool", {GOOSE_FILE: GOOSE.replace("shell", "Bash")}, ["HP501"]),
    ("grok-build", "no trust", {GROK_TRUST: ""}, ["HP870"]),
    ("grok-build", "distrusted", {GROK_TRUST: '[folders."{root}"]\ntrusted = false\n'}, ["HP870"]),
    ("grok-build", "MCP", {GROK_FILE: nested("PreToolUse", "mcp__lab__.*", "true")}, ["HP108"]),
    (
        "mistral-vibe",
        "one name twice",
        {".vibe/hooks.toml": VIBE + VIBE.replace("./guard.sh", "true")},
        ["HP108"],
    ),
    (
        "mistral-vibe",
        "another's tool",
        {".vibe/hooks.toml": VIBE.replace("re:bash|process_start", "Shell")},
        ["HP501"],
    ),
    ("mistral-vibe", "bars without re:", {".vibe/hooks.toml": VIBE.replace("re:", "")}, ["HP501"]),
    (
        "qwen-code",
        "no trust",
        {"~/.qwen/settings.json": '{"security": {"folderTrust": {"enabled": true}}}'},
        ["HP870"],
    ),
    ("qwen-code", "off", {"~/.qwen/settings.json": '{"disableAllHooks": true}'}, ["HP872"]),
    ("qwen-code", "headless", {".qwen/settings.json": nested("SessionEnd", "", "true")}, ["HP881"]),
    ("reasonix", "another's tool", {".reasonix/settings.json": REASONIX.replace("bash", "Bash")}, ["HP501"]),
    (
        "reasonix",
        "seconds",
        {".reasonix/settings.json": REASONIX.replace('"match"', '"timeout": 10, "match"')},
        ["HP502"],
    ),
    (
        "reasonix",
        "Claude's form",
        {".reasonix/settings.json": nested("PreToolUse", "bash", "true")},
        ["HP873"],
    ),
    (
        "reasonix",
        "text for a number",
        {".reasonix/settings.json": REASONIX.replace('"match"', '"timeout": "10", "match"')},
        ["HP873"],
    ),
    ("reasonix", "no expression", {".reasonix/settings.json": REASONIX.replace("bash", "(")}, ["HP501"]),
    ("vs-code-copilot", "off", {".vscode/settings.json": '{"chat.useHooks": false, /* no */}'}, ["HP872"]),
    (
        "vs-code-copilot",
        "place off",
        {".vscode/settings.json": '{"chat.hookFilesLocations": {".github/hooks": false}}'},
        ["HP872"],
    ),
    (
        "vs-code-copilot",
        "two names",
        {
            ".github/hooks/a.json": VS_CODE.replace(
                '"hooks": {', '"hooks": {"preToolUse": [{"bash": "true"}], '
            )
        },
        ["HP108"],
    ),
    ("windsurf", "hidden", {".devin/hooks.json": WINDSURF.replace("guard.sh", "guard.sh x")}, ["HP874"]),
]


@pytest.mark.parametrize(
    ("agent", "files", "codes"),
    [pytest.param(agent, files, codes, id=f"{agent}: {what}") for agent, what, files, codes in WRONG],
)
def test_what_keeps_a_hook_from_firing_is_found(
    agent: str, files: dict[str, str], codes: list[str], place: Place
) -> None:
    place.write({**CLEAN[agent], **files})
    report = place.report(agent)
    assert [one.finding.code for one in report.diagnoses] == codes
    for one in report.diagnoses:
        if one.finding.severity == "error":
            assert one.dead or report.files_dropped
            assert one.finding.hint
        if one.finding.severity != "note":
            assert one.evidence


def test_the_evidence_names_the_place_and_the_value(place: Place) -> None:
    place.write({**CLEAN["codex"], "~/.codex/config.toml": CODEX_TRUST + "[features]\nhooks = false\n"})
    (one,) = place.report("codex").diagnoses
    settings = place.home / ".codex/config.toml"
    finding = KINDS["HP872"].at(
        "features.hooks",
        None,
        dialect="Codex CLI",
        count="1 hook",
        what="the feature is switched off",
        fix="Remove `hooks = false` from [features].",
    )
    assert one.finding == finding._replace(file=str(settings), line=7, column=9)
    assert one.evidence == "features.hooks is false"
    assert one.dead == {(str(place.root / ".codex/hooks.json"), "hooks.PreToolUse[0].hooks[0]")}


def test_a_policy_of_the_machine_counts_before_all(place: Place) -> None:
    place.write({**CLEAN["claude-code"], "~/managed.json": '{"allowManagedHooksOnly": true}'})
    dialect = get("claude-code")
    policy = next(gate for gate in dialect.gates if gate.key == ("allowManagedHooksOnly",))
    here = dialect._replace(gates=(policy._replace(files=("~/managed.json",)),))
    (one,) = examine_agent(here, str(place.root), place.env).diagnoses
    assert (one.finding.code, one.evidence) == ("HP872", "allowManagedHooksOnly is true")
    assert all(file.startswith(("/", "C:")) for file in policy.files)


@pytest.mark.parametrize(
    ("agent", "variable"),
    [
        ("opencode", "OPENCODE_PURE"),
        ("kilo", "KILO_PURE"),
        ("kilo", "KILO_DISABLE_PROJECT_CONFIG"),
    ],
)
def test_a_variable_switches_plugins_off_and_cut_code_is_found(
    place: Place, agent: str, variable: str
) -> None:
    reading = pipeline.read({"hooks.json": claude("true").encode()}, get("claude-code"))
    (file,) = pipeline.convert(reading, get(agent)).files
    place.write({file.path: file.text})
    assert place.codes(agent) == []
    place.env[variable] = "1"
    assert place.codes(agent) == ["HP872"]
    del place.env[variable]
    place.write({file.path: file.text[: len(file.text) * 3 // 4]})
    assert place.codes(agent) == ["HP889"]


@pytest.mark.parametrize(
    ("files", "codes"),
    [
        ({}, ["HP870"]),
        ({"~/.pi/agent/trust.json": '{"{root}": true}'}, []),
        ({"~/.pi/agent/trust.json": '{"/": true}'}, []),
        ({"~/.pi/agent/trust.json": '{"/": true, "{root}": false}'}, ["HP870"]),
        ({"~/.pi/agent/settings.json": '{"defaultProjectTrust": "always"}'}, []),
        ({"~/.pi/agent/settings.json": '{"defaultProjectTrust": "ask"}'}, ["HP870"]),
        ({"~/.pi/agent/settings.json": '{"defaultProjectTrust": "never"}'}, ["HP870"]),
    ],
)
def test_extensions_of_a_project_need_trust(place: Place, files: dict[str, str], codes: list[str]) -> None:
    reading = pipeline.read({"hooks.json": claude("true").encode()}, get("claude-code"))
    (file,) = pipeline.convert(reading, get("pi")).files
    place.write({file.path: file.text, "~/.pi/agent/models.json": "{}", **files})
    assert place.codes("pi") == codes


def test_a_generated_script_must_be_executable(place: Place) -> None:
    reading = pipeline.read({"hooks.json": claude("true").encode()}, get("claude-code"))
    (file,) = pipeline.convert(reading, get("cline")).files
    place.write({file.path: file.text})
    assert place.codes("cline") == []
    (place.root / file.path).chmod(0o644)
    report = place.report("cline")
    assert [one.finding.code for one in report.diagnoses] == ["HP504"]
    assert len(repair([report], str(place.root), place.env)) == 1
    assert place.codes("cline") == []


def test_without_the_agent_there_is_nothing_to_trust(place: Place) -> None:
    place.write({".codex/hooks.json": CODEX})
    assert place.codes("codex") == []
    place.program("codex", "0.166.0")
    report = place.report("codex")
    assert report.version == "0.166.0"
    assert [one.finding.code for one in report.diagnoses] == ["HP870", "HP871"]


def test_variables_move_settings_and_lift_the_question(place: Place) -> None:
    place.write({".codex/hooks.json": CODEX, "~/elsewhere/config.toml": CODEX_TRUST})
    place.program("codex", "0.166.0")
    place.env["CODEX_HOME"] = str(place.home / "elsewhere")
    assert place.codes("codex") == []
    place.write({".gemini/settings.json": GEMINI, "~/.gemini/x": ""})
    assert place.codes("gemini-cli") == ["HP870"]
    place.env["GEMINI_CLI_TRUST_WORKSPACE"] = "true"
    assert place.codes("gemini-cli") == []


def test_a_hook_that_changed_since_it_was_trusted_is_found(place: Place) -> None:
    place.write({**CLEAN["codex"], ".codex/hooks.json": nested("PreToolUse", "Bash", CODEX_COMMAND, 5)})
    (one,) = place.report("codex").diagnoses
    assert one.finding.message == "Codex CLI skips this hook: it changed since it was trusted"


def test_an_event_of_a_later_version_never_fires(place: Place) -> None:
    place.write({**CLEAN["codex"], ".codex/hooks.json": nested("Interrupt", "", "true")})
    hash_ = hash_handler("interrupt", {"matcher": ""}, {"type": "command", "command": "true"})
    trust = CODEX_TRUST.replace("pre_tool_use", "interrupt").replace(CODEX_HASH, hash_)
    place.write({"~/.codex/config.toml": trust})
    place.program("codex", "0.151.0")
    (one,) = place.report("codex").diagnoses
    assert one.finding.message == "Codex CLI 0.151.0 has no event 'Interrupt', which came with 0.152.0"
    place.program("codex", "0.152.0")
    assert place.codes("codex") == []


def test_an_unknown_event_is_an_error_only_where_the_facts_are_as_new(place: Place) -> None:
    place.write({**CLEAN["claude-code"], ".claude/settings.json": nested("BrandNew", "", "true")})
    place.program("claude", "2.1.325")
    assert place.codes("claude-code") == ["HP880"]
    place.program("claude", "99.0.0")
    (one,) = place.report("claude-code").diagnoses
    assert (one.finding.code, one.finding.severity) == ("HP102", "loss")


def test_a_tool_that_is_gone_is_still_there_in_an_older_version(place: Place) -> None:
    place.write({**CLEAN["claude-code"], ".claude/settings.json": nested("PreToolUse", "Grep", "true")})
    place.program("claude", "2.1.240")
    assert place.codes("claude-code") == []


def test_a_program_that_does_not_tell_its_version_in_time_is_ended(place: Place) -> None:
    place.write({"~/bin/slow": "#!/bin/sh\nsleep 600 &\nwait\n"})
    begun = time.monotonic()
    assert ask_version(str(place.home / "bin/slow"), find_world(str(place.root), place.env)) == ""
    assert time.monotonic() - begun < 60


def test_a_script_is_made_executable_and_nothing_else_is_changed(place: Place) -> None:
    place.write(CLEAN["claude-code"])
    (place.root / "guard.sh").chmod(0o640)
    settings = (place.root / ".claude/settings.json").read_bytes()
    reports = examine(str(place.root), place.env)
    assert [one.finding.code for report in reports for one in report.diagnoses] == ["HP504"]
    done = repair(reports, str(place.root), place.env)
    assert done == [f"made {place.root / 'guard.sh'} executable (its mode was 640, and is 750)"]
    assert (place.root / ".claude/settings.json").read_bytes() == settings
    assert [report.diagnoses for report in examine(str(place.root), place.env)] == [()]


def record(place: Place, **more: object) -> None:
    told = {"agent": "claude-code", "event": "before_tool_execute", "native": "PreToolUse", "tool": "shell"}
    assert (
        journal.write({**told, "cwd": str(place.root), "seconds": 0.01, "hooks": [], **more}, place.env) == ""
    )


def test_a_bridge_that_has_less_time_than_it_takes_is_found(place: Place) -> None:
    command = '"$CLAUDE_PROJECT_DIR/bridge.py" dispatch claude-code PreToolUse'
    place.write(
        {**CLEAN["claude-code"], ".claude/settings.json": claude(command, timeout=2), "bridge.py": GUARD}
    )
    for _ in range(5):
        record(place, seconds=1.5)
    assert place.codes("claude-code") == []
    for _ in range(5):
        record(place, seconds=2.5)
    (one,) = place.report("claude-code").diagnoses
    assert (one.finding.code, one.evidence) == (
        "HP879",
        "the last runs took 2.50 s, 2.50 s, 2.50 s, 2.50 s, 2.50 s",
    )


def test_a_wrapped_command_is_measured_too(place: Place) -> None:
    command = "\"$CLAUDE_PROJECT_DIR/bridge.py\" wrap universal claude-code PreToolUse -- './guard.sh -v'"
    place.write(
        {**CLEAN["claude-code"], ".claude/settings.json": claude(command, timeout=2), "bridge.py": GUARD}
    )
    run = {"hook": "./guard.sh -v", "source": "", "place": "", "matched": True, "seconds": 2.0}
    record(place, hooks=[{**run, "outcome": "timeout"}])
    assert place.codes("claude-code") == ["HP879"]


def test_two_bridges_for_one_event_run_twice(place: Place) -> None:
    place.write({**CLEAN["claude-code"], ".claude/settings.json": BRIDGED, "bridge.py": GUARD})
    again = claude("{root}/bridge.py dispatch claude-code PreToolUse", 7)
    # An entry of the user and one of the project share what is decided.
    place.write({"~/.claude/settings.json": again})
    assert place.codes("claude-code") == []
    place.write({".claude/settings.local.json": again})
    assert place.codes("claude-code") == ["HP878"]


def test_an_entry_of_ours_that_is_broken_is_written_anew(place: Place) -> None:
    mine = "/gone/python3 -I -S /gone/bridge.py dispatch claude-code PreToolUse"
    place.write({".hookport/hooks.json": MANIFEST})
    place.write({**CLEAN["claude-code"], ".claude/settings.json": claude(mine, model="opus")})
    report = place.report("claude-code")
    assert [one.finding.code for one in report.diagnoses] == ["HP882"]
    (line,) = repair([report], str(place.root), place.env)
    settings = place.root / ".claude/settings.json"
    assert line == f"rewrote hookport's entries in {settings}; `hookport undo` reverts that"
    assert place.codes("claude-code") == []
    assert json.loads(settings.read_text())["model"] == "opus"


MANIFEST = json.dumps(
    {
        "spec": "hooks/1.0",
        "hooks": [
            {
                "name": "guard",
                "event": "before_tool_execute",
                "matcher": "shell",
                "handler": {"type": "command", "command": "./guard.sh", "timeout": 5},
            }
        ],
    }
)
BRIDGED = claude('"$CLAUDE_PROJECT_DIR/bridge.py" dispatch claude-code PreToolUse')


def itself(place: Place) -> DoctorReport:
    (report,) = [one for one in examine(str(place.root), place.env) if not one.agent]
    return report


def approve(place: Place) -> None:
    done = hookport("trust --yes", place)
    assert done.returncode == 0, done.stderr


def hookport(words: str, place: Place) -> subprocess.CompletedProcess[str]:
    return forks.run(shlex.split(words), place.root, {**place.env, "NO_COLOR": "1"}, timeout=120)


def test_hooks_of_hookport_need_an_agent_that_calls_it(place: Place) -> None:
    place.write({".hookport/hooks.json": MANIFEST})
    report = itself(place)
    assert [one.finding.code for one in report.diagnoses] == ["HP871", "HP885"]
    assert (report.hooks, report.dead) == (1, 1)
    approve(place)
    assert [one.finding.code for one in itself(place).diagnoses] == ["HP885"]
    (named,) = examine(str(place.root), place.env, ["windsurf"])
    assert ([one.finding.code for one in named.diagnoses], named.dead) == (["HP830"], 1)
    place.write({".claude/settings.json": BRIDGED, "bridge.py": GUARD})
    assert itself(place).diagnoses == ()
    (place.root / "guard.sh").chmod(0o644)
    assert [one.finding.code for one in itself(place).diagnoses] == ["HP504"]
    (place.root / "guard.sh").unlink()
    assert [one.finding.code for one in itself(place).diagnoses] == ["HP871", "HP503"]


def test_a_hook_that_runs_without_the_bridge_waits_for_no_approval(place: Place) -> None:
    place.write(
        {".hookport/hooks.json": MANIFEST, ".claude/settings.json": "{}", ".gemini/settings.json": "{}"}
    )
    for mode, codes in (("native", []), ("bridge", ["HP871"])):
        done = hookport(f"sync --mode {mode} --agent claude-code", place)
        assert done.returncode == 0, done.stderr
        assert [one.finding.code for one in itself(place).diagnoses] == codes
    hookport("sync --mode native --agent gemini-cli", place)
    assert [one.finding.code for one in itself(place).diagnoses] == ["HP871"]


@pytest.mark.parametrize("agent", list_agents())
def test_hooks_that_cannot_be_read_are_an_error_for_a_chosen_agent_too(agent: str, place: Place) -> None:
    """What they are for is not known, so nobody may say that nothing is wrong."""
    place.write({".augment/settings.json": claude().rstrip("}") + ",", ".hookport/hooks.json": "{,"})
    place.write({".gemini/extensions/e/hooks/hooks.json": GEMINI})
    place.write({".gemini/extensions/e/gemini-extension.json": '{"name": "e", "version": "1"}'})
    found = diagnose(str(place.root), place.env, [agent])
    assert {one.file.removeprefix(f"{place.root}/") for one in found if one.severity == "error"} == {
        ".augment/settings.json",
        ".gemini/extensions/e/hooks/hooks.json",
        ".hookport/hooks.json",
    }


@pytest.mark.parametrize("agent", list_agents())
def test_an_unapproved_hook_of_another_agents_file_is_an_error(agent: str, place: Place) -> None:
    """Its own agent reads the file and needs no approval; the bridge, which runs it elsewhere, skips it."""
    file, text = (".claude/settings.json", claude())
    if agent == "claude-code":
        file, text = (".gemini/settings.json", GEMINI)
    place.write({file: text})
    hookport(f"sync --mode bridge --agent {agent}", place)

    def skipped(*chosen: str) -> set[str]:
        return {
            one.agent
            for report in examine(str(place.root), place.env, chosen)
            for one in report.diagnoses
            if one.finding.severity == "error"
            and any(name == str(place.root / file) for name, _ in one.dead)
            and "hookport trust" in one.finding.hint
        }

    runs_it = not any(
        one.finding.code in ("HP813", "HP830")
        for report in examine(str(place.root), place.env, [agent])
        for one in report.diagnoses
    )
    assert (agent in skipped(), agent in skipped(agent)) == (runs_it, runs_it)
    approve(place)
    assert skipped() == skipped(agent) == set()
    place.write({"guard.sh": "#!/bin/sh\nexit 2\n"})
    assert (agent in skipped(), agent in skipped(agent)) == (runs_it, runs_it)
    assert "" not in skipped()


@pytest.mark.parametrize("mode", ["bridge", "native"])
def test_what_sync_installs_would_fire_in_every_agent(mode: str, place: Place) -> None:
    place.write({".hookport/hooks.json": MANIFEST})
    approve(place)
    chosen = [agent for agent in list_agents() if any(row.scope == "project" for row in get(agent).locations)]
    named = " ".join(f"--agent {agent}" for agent in chosen)
    done = hookport(f"sync --mode {mode} {named}", place)
    assert done.returncode == 0, done.stderr
    reports = examine(str(place.root), place.env)
    assert [report.agent for report in reports] == [*chosen, ""]
    errors = [one for report in reports for one in report.diagnoses if one.finding.severity == "error"]
    assert errors == []


def test_the_journal_tells_of_hooks_that_are_cut_off_or_never_run(place: Place) -> None:
    place.write({".hookport/hooks.json": MANIFEST, ".claude/settings.json": BRIDGED, "bridge.py": GUARD})
    old = time.time() - 3600
    for file in (".hookport/hooks.json", "guard.sh"):
        os.utime(place.root / file, (old, old))
    approve(place)
    run = {"hook": "guard", "source": str(place.root / ".hookport/hooks.json"), "place": "hooks[0]"}
    for _ in range(3):
        record(place, hooks=[{**run, "matched": False, "why": "it is not approved"}])
    record(place, tool="file_read")
    (one,) = itself(place).diagnoses
    assert (one.finding.code, one.finding.message) == (
        "HP884",
        "it has not run on any of the last 3 matching events",
    )
    assert one.evidence.endswith("claude-code: it is not approved")
    record(place, hooks=[{**run, "matched": True, "why": "", "seconds": 0.2, "outcome": "completed"}])
    assert itself(place).diagnoses == ()
    record(place, hooks=[{**run, "matched": True, "why": "", "seconds": 5.0, "outcome": "timeout"}])
    (one,) = itself(place).diagnoses
    assert one.finding.message == (
        "the timeout is 5 s; 95 % of the last 2 runs ended within 5.00 s; 1 was cut off"
    )


def test_what_hookport_needs_for_itself_is_looked_at(place: Place) -> None:
    place.write({".hookport/hooks.json": MANIFEST, ".claude/settings.json": BRIDGED, "bridge.py": GUARD})
    place.write({".hookport/config.json": '{"on_failure": "maybe"}', "~/state": ""})
    place.env["HOOKPORT_STATE_DIR"] = str(place.home / "state")
    place.env["HOOKPORT_CACHE_DIR"] = str(place.home / "cache")
    assert [one.finding.code for one in itself(place).diagnoses] == ["HP710", "HP871", "HP886"]
    plan = place.home / "cache/plans" / f"{str(place.root).replace('/', '%2F')}.plan"
    plan.parent.mkdir(parents=True)
    plan.write_text("torn")
    (place.root / ".hookport/config.json").unlink()
    place.env["HOOKPORT_STATE_DIR"] = str(place.home / "other")
    approve(place)
    plan.write_text("torn")
    report = itself(place)
    assert [one.finding.code for one in report.diagnoses] == ["HP887"]
    repair([report], str(place.root), place.env)
    assert itself(place).diagnoses == ()


def test_a_bridge_that_the_project_brings_along_must_be_the_one_that_was_built(place: Place) -> None:
    place.write({".hookport/hooks.json": MANIFEST, ".claude/settings.json": BRIDGED, "bridge.py": GUARD})
    approve(place)
    place.write({".hookport/bridge.pyz": "#!/usr/bin/env python3\n"})
    codes = {one.finding.code for one in itself(place).diagnoses}
    assert "HP861" in codes


def test_a_file_below_the_root_is_passed_over(place: Place) -> None:
    place.write({**CLEAN["copilot-cli"], "sub/.github/hooks/b.json": COPILOT.replace("guard", "other")})
    report = examine_agent(get("copilot-cli"), str(place.root / "sub"), place.env)
    assert [one.finding.code for one in report.diagnoses] == ["HP891"]
    assert (report.hooks, report.dead) == (2, 1)


ODD = (
    b"",
    b"null",
    b"[]",
    b'{"hooks": null, "projects": 5, "security": [], "disableAllHooks": "yes"}',
    b'{"hooks": {"PreToolUse": [{"matcher": "(", "hooks": [{"type": "command", "command": "x \' y"}]}]}}',
    b'{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "\\u0000 ~nobody/x $(x) `y`"}]}]}}',
    b"[hooks]\nstate = 5\n[projects]\nx = 3\n",
    b"\xff\xfe{}",
)


@pytest.mark.parametrize("what", [*range(len(ODD)), "folder", "pipe", "link"])
def test_whatever_stands_in_the_place_of_a_file_is_lived_with(what: int | str, place: Place) -> None:
    dialects = [get(agent) for agent in list_agents()]
    names = {
        row.path for dialect in dialects for row in dialect.locations if row.scope in ("project", "user")
    }
    names |= {dialect.folder_trust.file for dialect in dialects if dialect.folder_trust}
    for name in sorted(names - {""}):
        start = place.home if name.startswith("~/") else place.root
        path = start / name.removeprefix("~/").replace("*", "odd.json")
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(what, int):
            path.write_bytes(ODD[what])
        elif what == "folder":
            path.mkdir(exist_ok=True)
        elif what == "pipe":
            os.mkfifo(path)
        else:
            path.symlink_to(path.name)
    reports = examine(str(place.root), place.env)
    assert {report.agent for report in reports} <= {*list_agents(), ""}


@pytest.mark.parametrize(
    ("command", "is_call"),
    [
        ("hookport dispatch claude-code Stop", True),
        ("/a/hookport dispatch claude-code Stop --within 5", True),
        ("'/a b/python3.11' -I -S '/a b/bridge.py' dispatch claude-code Stop", True),
        (
            "[ -x /p ] || { echo no >&2; exit 2; }; /p/python3 -I -S /p/bridge.py dispatch claude-code Stop",
            True,
        ),
        ("exec env A=1 hookport wrap universal claude-code - -- 'true'", True),
        ("echo hookport dispatch claude-code Stop", False),
        ("# hookport dispatch claude-code Stop", False),
        ("grep 'hookport dispatch claude-code' log", False),
    ],
)
def test_only_a_command_that_starts_hookport_is_taken_for_one(
    command: str, is_call: bool, place: Place
) -> None:
    place.write({**CLEAN["claude-code"], ".claude/settings.json": nested("Stop", "", command)})
    assert ("HP882" in place.codes("claude-code")) is is_call


@pytest.mark.parametrize("agent", list_agents())
def test_every_fact_about_what_keeps_hooks_from_running_has_a_source(agent: str) -> None:
    dialect: Dialect = get(agent)
    sources = [
        row.source
        for rows in (dialect.gates, find_quirk(dialect, SHADOWS), list_locations(dialect, "also read"))
        for row in rows
    ]
    sources += [row.source for row in (dialect.folder_trust, find_quirk(dialect, HOOK_TRUST)) if row]
    assert sorted(set(sources) - dialect.sources.keys()) == []
    for gate in dialect.gates:
        assert isinstance(gate, Gate)
        assert bool(gate.variable) != bool(gate.files and gate.key and (gate.off or gate.lists))


def test_the_command_exits_with_1_where_a_hook_would_not_fire(place: Place) -> None:
    place.program("codex", "0.166.0")
    place.write(CLEAN["codex"])
    done = hookport("doctor", place)
    way = (
        "it asks no guard in what `write_stdin` types into a running command (CX11): `hookport matrix codex`"
    )
    assert (done.returncode, done.stdout, done.stderr) == (
        0,
        f"codex 0.166.0: 1 hook, nothing found\n  {way}\n",
        "",
    )
    place.write({"~/.codex/config.toml": CODEX_TRUST.replace(":0:0", ":1:0")})
    hook = f"{place.root}/.codex/hooks.json:pre_tool_use:0:0"
    untrusted = f'hooks.state."{hook}" has no trusted_hash'
    done = hookport("doctor --agent codex --json", place)
    assert (done.returncode, json.loads(done.stdout)) == (
        1,
        {
            "version": 1,
            "findings": [
                {
                    "code": "HP871",
                    "severity": "error",
                    "agent": "codex",
                    "where": ".codex/hooks.json:7:6: hooks.PreToolUse[0].hooks[0]",
                    "message": "Codex CLI skips this hook: it is not trusted",
                    "evidence": f"~/.codex/config.toml: {untrusted} (codex 0.166.0)",
                    "hint": "Start `codex` here and review the hook with `/hooks`.",
                    "file": f"{place.root}/.codex/hooks.json",
                    "line": 7,
                    "column": 6,
                }
            ],
            "repaired": [],
            "exceptions": {"codex": ["in what `write_stdin` types into a running command (CX11)"]},
            "unmeasured": {},
        },
    )
    done = hookport("doctor --agent universal", place)
    assert (done.returncode, done.stdout) == (2, "")
