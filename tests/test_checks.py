"""What `check` and `check_scripts` report, and what they leave alone."""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import warnings
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookport import cli, documents, findings
from hookport.agents import Dialect, find_event_specs, get, get_wire, list_agents, list_dialects
from hookport.cli import report
from hookport.console.terminal import Paint
from hookport.convert import checks, pipeline
from hookport.convert.checks.places import locate_finding, parse_steps
from hookport.convert.checks.scripts import check_scripts, find_named_script
from hookport.convert.degrade.wrapping import unwrap_hook
from hookport.convert.pipeline import Reading
from hookport.model.hooks import Handler, Hook, Manifest
from hookport.shapes.dialect import (
    MILLISECOND,
    SECOND,
    DecodedManifest,
    HandlerSpec,
    Matching,
    Place,
    RefusedError,
    Timeout,
    find_matching,
    list_native_tools,
)
from tests import kitchen, vectors

if TYPE_CHECKING:
    from hookport.findings import Finding

Tree = Any
Row = tuple[str, str, str, str]

CLAUDE, GEMINI, CURSOR, CODEX, FOLDERS = "claude-code", "gemini-cli", "cursor", "codex", "agent-hooks"
TOOL_EVENT = {CLAUDE: "PreToolUse", GEMINI: "BeforeTool", CURSOR: "preToolUse", CODEX: "PreToolUse"}


def read(dialect: Dialect, tree: Tree, file: str = "") -> pipeline.Reading:
    name = file or dialect.locations[0].path
    return pipeline.read({name: documents.dump(tree, documents.detect_kind(name))}, dialect)


def rows(found: list[Finding]) -> list[Row]:
    return [(one.code, one.severity, one.where, one.message) for one in found]


def entry(dialect: str, matcher: str | None, event: str = "", **fields: Tree) -> Tree:
    """A file with one hook."""
    handler = {"type": "command", "command": "./guard.sh", **fields}
    head = {} if matcher is None else {"matcher": matcher}
    group = {**handler, **head} if "flat" in get(dialect).shape.forms else {**head, "hooks": [handler]}
    version = {"version": 1} if dialect == CURSOR else {}
    return {**version, "hooks": {event or TOOL_EVENT[dialect]: [group]}}


def folder(matcher: Tree, **fields: Tree) -> pipeline.Reading:
    """One HOOK.md with its script."""
    meta = {"name": "guard", "description": "Guards.", "trigger": "before_tool", "matcher": matcher, **fields}
    base = ".agents/hooks/guard"
    document = documents.dump({"frontmatter": meta, "body": "\n"}, "frontmatter")
    files = {f"{base}/HOOK.md": document, f"{base}/scripts/run": b"#!/bin/sh\n"}
    return pipeline.read(files, get(FOLDERS))


def manifest(*hooks: Tree) -> pipeline.Reading:
    return read(get("canonical"), {"spec": "hooks/1.0", "hooks": list(hooks)})


def hook(event: str = "before_tool_execute", command: str = "./guard.sh", **fields: Tree) -> Tree:
    return {"event": event, "handler": {"type": "command", "command": command}, **fields}


def never(dialect: str, matcher: str, more: str) -> Row:
    where = f"hooks.{TOOL_EVENT[dialect]}[0].matcher"
    message = f"the matcher '{matcher}' matches no tool of {dialect}, so the hook never runs.{more}"
    return ("HP501", "error", where, message)


def unknown(dialect: str, tool: str, more: str) -> Row:
    where = f"hooks.{TOOL_EVENT[dialect]}[0].matcher"
    return ("HP103", "loss", where, f"unknown tool '{tool}'; kept unchanged.{more}")


RULE = " It looks like a permission rule; a matcher names tools only."
DEAD: list[tuple[str, str, str]] = [
    (CLAUDE, "bash", " Did you mean 'Bash'?"),
    (CLAUDE, "shell", " Did you mean 'Bash'?"),
    (CLAUDE, "run_shell_command", " Did you mean 'Bash'?"),
    (CLAUDE, "bash|write", " Did you mean 'Bash|Write'?"),
    (CLAUDE, "Bsh", " Did you mean 'Bash'?"),
    (CLAUDE, "^bash$", " Did you mean 'Bash'?"),
    (CLAUDE, "^(bash|write)$", " Did you mean 'Bash|Write'?"),
    (CLAUDE, "^bash.*", " Did you mean 'Bash'?"),
    (CLAUDE, "mcp__github", " Did you mean 'mcp__github__.*'?"),
    (CLAUDE, "^mcp__github$", " Did you mean 'mcp__github__.*'?"),
    (CLAUDE, "Bash(git *)", f" Did you mean 'Bash'?{RULE}"),
    (CLAUDE, "Bash(*)", f" Did you mean 'Bash'?{RULE}"),
    (CLAUDE, "Bash(", " It is not a valid regular expression (missing ), unterminated subpattern)."),
    (CLAUDE, "[", " It is not a valid regular expression (unterminated character set)."),
    (CODEX, "mcp__github", " Did you mean 'mcp__github__.*'?"),
    (CODEX, "bash", " Did you mean 'Bash'?"),
    (GEMINI, "Bash", " Did you mean 'run_shell_command'?"),
    (GEMINI, "Edit|Write", " Did you mean 'replace|write_file'?"),
    (GEMINI, "write_files", " Did you mean 'write_file'?"),
    (CURSOR, "Bash", " Did you mean 'Shell'?"),
    (CURSOR, "shell", " Did you mean 'Shell'?"),
    (
        CURSOR,
        "*",
        " It is not a valid regular expression (nothing to repeat). Remove the matcher to match every tool.",
    ),
]


@pytest.mark.parametrize(("dialect", "matcher", "more"), DEAD)
def test_a_matcher_that_matches_no_tool(dialect: str, matcher: str, more: str) -> None:
    reading = read(get(dialect), entry(dialect, matcher))
    assert rows(checks.check(reading)) == [never(dialect, matcher, more)]


PARTLY: list[tuple[str, str, list[tuple[str, str]]]] = [
    (CLAUDE, "bash|Write", [("bash", " Did you mean 'Bash'?")]),
    (CLAUDE, "Write|Quux", [("Quux", "")]),
    (CLAUDE, "Quux", [("Quux", "")]),
    (CLAUDE, "bash|Quux", [("bash", " Did you mean 'Bash'?"), ("Quux", "")]),
    (GEMINI, "run_shell_command|Bash", [("Bash", " Did you mean 'run_shell_command'?")]),
    (GEMINI, "^(?:replace|Frobnicate)$", [("Frobnicate", "")]),
]


@pytest.mark.parametrize(("dialect", "matcher", "words"), PARTLY)
def test_names_that_are_in_no_table(dialect: str, matcher: str, words: list[tuple[str, str]]) -> None:
    reading = read(get(dialect), entry(dialect, matcher))
    assert rows(checks.check(reading)) == [unknown(dialect, word, more) for word, more in words]


FINE: list[tuple[str, str | None]] = [
    *((CLAUDE, text) for text in (None, "", "*", "Bash", "Bash, Write", "Task", "Edit|", ".*", "Notebook.*")),
    *(
        (CLAUDE, text)
        for text in ("mcp__github__create_issue", "mcp__.*", "mcp__.*__write.*", ".*[Dd]eploy.*")
    ),
    *(
        (CLAUDE, text)
        for text in ("bash.*", "^(?<tool>Bash)$", "[^]", r"\p{Lu}ash", "Bash(Output)?", "^(?!Read)")
    ),
    *((GEMINI, text) for text in ("*", "shell", "write_.*", "mcp_github_.*", "mcp_github", "^read_|^write_")),
    *((CURSOR, text) for text in ("", "Shell|Write", "MCP:create_issue", "MCP:.*")),
    *((CODEX, text) for text in ("apply_patch", "Edit|Write", "mcp__github__.*")),
]


@pytest.mark.parametrize(("dialect", "matcher"), FINE)
def test_a_matcher_that_may_match(dialect: str, matcher: str | None) -> None:
    assert checks.check(read(get(dialect), entry(dialect, matcher))) == []


def test_a_matcher_of_several_handlers_is_told_once() -> None:
    tree = entry(CLAUDE, "bash")
    tree["hooks"]["PreToolUse"][0]["hooks"].append({"type": "command", "command": "./other.sh"})
    found = checks.check(read(get(CLAUDE), tree))
    assert [(one.code, one.hook) for one in found] == [("HP501", 0)]


def test_a_finding_says_file_line_and_column() -> None:
    text = b"""{"hooks": {"PreToolUse": [
      {"matcher": "bash", "hooks": [{"type": "command", "command": "x"}]}
    ]}}"""
    found = checks.check(pipeline.read({".claude/settings.json": text}, get(CLAUDE)))
    assert [(one.file, one.line, one.column) for one in found] == [(".claude/settings.json", 2, 19)]


def test_every_entry_of_a_hook_that_was_merged_is_checked() -> None:
    tree = entry(GEMINI, "write_file")
    tree["hooks"]["BeforeTool"] += entry(GEMINI, "Bash")["hooks"]["BeforeTool"]
    reading = read(get(GEMINI), tree)
    message = never(GEMINI, "Bash", " Did you mean 'run_shell_command'?")[3]
    assert len(reading.decoded.manifest.hooks) == 1
    assert rows(checks.check(reading)) == [("HP501", "error", "hooks.BeforeTool[0].hooks[0]", message)]


def test_a_name_for_the_whole_is_not_found_inside_another() -> None:
    anchored = get(GEMINI)._replace(matching=Matching("anchored"))
    assert checks.check(read(anchored, entry(GEMINI, "write_.*"))) == []
    found = checks.check(read(anchored, entry(GEMINI, "Run_Shell.*")))
    assert rows(found) == [never(GEMINI, "Run_Shell.*", " Did you mean 'run_shell_command'?")]


def test_a_glob_is_left_alone_and_a_name_is_not() -> None:
    glob = get(GEMINI)._replace(matching=Matching("glob"))
    assert checks.check(read(glob, entry(GEMINI, "write_*"))) == []
    assert rows(checks.check(read(glob, entry(GEMINI, "Bash")))) == [
        never(GEMINI, "Bash", " Did you mean 'run_shell_command'?")
    ]


def test_a_format_without_tools_of_its_own_is_never_sure() -> None:
    where = ".agents/hooks/guard/HOOK.md: frontmatter.matcher.tool"
    assert rows(checks.check(folder({"tool": "shell"}))) == [
        ("HP103", "loss", where, "unknown tool 'shell'; kept unchanged. Did you mean 'Shell'?")
    ]
    assert checks.check(folder({"tool": "Shell|WriteFile"})) == []


def test_a_star_is_no_regular_expression_where_it_does_not_mean_everything() -> None:
    where = ".agents/hooks/guard/HOOK.md: frontmatter.matcher.tool"
    message = (
        "the matcher '*' matches no tool of agent-hooks, so the hook never runs. It is not a valid "
        "regular expression (nothing to repeat). Remove the matcher to match every tool."
    )
    assert rows(checks.check(folder({"tool": "*"}))) == [("HP501", "error", where, message)]


def test_a_pattern_on_the_input_must_be_one() -> None:
    where = ".agents/hooks/guard/HOOK.md: frontmatter"
    message = (
        "agent-hooks never runs this hook: the pattern 'rm (' is not a valid regular expression "
        "(missing ), unterminated subpattern)"
    )
    assert rows(checks.check(folder({"pattern": "rm ("}))) == [("HP108", "error", where, message)]
    assert checks.check(folder({"pattern": "rm -rf"})) == []


def test_a_matcher_on_the_command_must_be_a_pattern() -> None:
    found = checks.check(read(get(CURSOR), entry(CURSOR, "rm (", "beforeShellExecution")))
    message = (
        "cursor never runs this hook: the matcher 'rm (' is not a valid regular expression "
        "(missing ), unterminated subpattern)"
    )
    assert rows(found) == [("HP108", "error", "hooks.beforeShellExecution[0].matcher", message)]
    assert checks.check(read(get(CURSOR), entry(CURSOR, "rm -rf", "beforeShellExecution"))) == []


def test_a_list_where_one_value_is_compared() -> None:
    found = checks.check(read(get(GEMINI), entry(GEMINI, "startup|resume", "SessionStart")))
    message = (
        "gemini-cli never runs this hook: the matcher 'startup|resume' is compared as a whole with one source"
    )
    assert rows(found) == [("HP108", "error", "hooks.SessionStart[0].matcher", message)]
    assert checks.check(read(get(GEMINI), entry(GEMINI, "startup", "SessionStart"))) == []
    assert checks.check(read(get(CLAUDE), entry(CLAUDE, "startup|resume", "SessionStart"))) == []


def test_what_reading_reported_is_not_reported_again() -> None:
    reading = manifest(hook(matcher="Shell"), hook("before_tol_execute", matcher="shell"))
    assert [one.code for one in reading.decoded.findings] == ["HP103", "HP102"]
    assert checks.check(reading) == []
    ignored = read(get(CLAUDE), entry(CLAUDE, "x", "Stop"))
    assert [one.code for one in ignored.decoded.findings] == ["HP107"]
    assert checks.check(ignored) == []


UNITS: list[tuple[str, float, str]] = [
    (CLAUDE, 30000, "30000 is 8 h 20 min; Claude Code counts seconds. Did you mean 30?"),
    (CLAUDE, 1000, "1000 is 16 min 40 s; Claude Code counts seconds. Did you mean 1?"),
    (CLAUDE, 1500, "1500 is 25 min; Claude Code counts seconds. Did you mean 1.5?"),
    (CLAUDE, 600000, "600000 is 6 d 22 h 40 min; Claude Code counts seconds. Did you mean 600?"),
    (CODEX, 1500, "1500 is 25 min; Codex CLI counts seconds. Did you mean 2?"),
    (CURSOR, 5000, "5000 is 1 h 23 min 20 s; Cursor counts seconds. Did you mean 5?"),
    (GEMINI, 30, "30 is 30 ms; Gemini CLI counts milliseconds. Did you mean 30000?"),
    (GEMINI, 0.5, "0.5 is 0.5 ms; Gemini CLI counts milliseconds. Did you mean 500?"),
    (GEMINI, 99, "99 is 99 ms; Gemini CLI counts milliseconds. Did you mean 99000?"),
    (GEMINI, 120, "120 is 120 ms; Gemini CLI counts milliseconds. Did you mean 120000?"),
    (GEMINI, 600, "600 is 600 ms; Gemini CLI counts milliseconds. Did you mean 600000?"),
]


@pytest.mark.parametrize(("dialect", "value", "message"), UNITS)
def test_a_time_in_the_wrong_unit(dialect: str, value: float, message: str) -> None:
    place = f"hooks.{TOOL_EVENT[dialect]}[0]" + ("" if dialect == CURSOR else ".hooks[0]") + ".timeout"
    found = checks.check(read(get(dialect), entry(dialect, None, timeout=value)))
    assert rows(found) == [("HP502", "error", place, message)]


RIGHT: list[tuple[str, float]] = [
    *((CLAUDE, value) for value in (0, 1, 30, 600, 999, 1001, 1800, 3600, 7200, 86400)),
    *((GEMINI, value) for value in (0, 100, 250, 500, 1000, 5000, 60000, 600000)),
]


@pytest.mark.parametrize(("dialect", "value"), RIGHT)
def test_a_time_in_the_right_unit(dialect: str, value: float) -> None:
    assert checks.check(read(get(dialect), entry(dialect, None, timeout=value))) == []


def with_timeout(dialect: str, rule: Timeout) -> Dialect:
    spec = get(dialect).handlers["command"]
    return get(dialect)._replace(
        handlers={"command": HandlerSpec(spec.type, spec.fields, rule, spec.required)}
    )


def test_a_small_number_that_the_agent_reads_as_seconds() -> None:
    kind = with_timeout(GEMINI, Timeout(MILLISECOND, seconds_below=1000))
    assert checks.check(read(kind, entry(GEMINI, None, timeout=30))) == []


def test_a_canonical_timeout_is_in_seconds() -> None:
    tree = hook()
    tree["handler"]["timeout"] = 30000
    message = "30000 is 8 h 20 min; Hook Interchange Format counts seconds. Did you mean 30?"
    assert rows(checks.check(manifest(tree))) == [("HP502", "error", "hooks[0].handler.timeout", message)]


LIMITS: list[tuple[Timeout, float, str]] = [
    (Timeout(SECOND, whole=True), 1.5, "it accepts whole seconds"),
    (Timeout(MILLISECOND, whole=True), 1500.5, "it accepts whole milliseconds"),
    (Timeout(SECOND, minimum=SECOND), 0, "at least 1 s"),
    (Timeout(SECOND, maximum=timedelta(minutes=10)), 601, "at most 10 min"),
    (Timeout(MILLISECOND, minimum=timedelta(milliseconds=500)), 250, "at least 500 ms"),
]


@pytest.mark.parametrize(("rule", "value", "words"), LIMITS)
def test_a_time_that_the_agent_refuses(rule: Timeout, value: float, words: str) -> None:
    found = checks.check(read(with_timeout(CLAUDE, rule), entry(CLAUDE, None, timeout=value)))
    message = f"Claude Code refuses the timeout {value}: {words}"
    assert rows(found) == [("HP510", "error", "hooks.PreToolUse[0].hooks[0].timeout", message)]


def test_a_time_within_the_limits() -> None:
    rule = Timeout(SECOND, whole=True, minimum=SECOND, maximum=timedelta(minutes=10))
    for value in (1, 2.0, 600):
        assert checks.check(read(with_timeout(CLAUDE, rule), entry(CLAUDE, None, timeout=value))) == []


def test_a_time_that_the_event_does_not_give() -> None:
    found = checks.check(read(get(CLAUDE), entry(CLAUDE, None, "SessionEnd", timeout=90)))
    message = "Claude Code waits at most 1 min on SessionEnd, not 1 min 30 s"
    assert rows(found) == [("HP511", "loss", "hooks.SessionEnd[0].hooks[0].timeout", message)]
    assert checks.check(read(get(CLAUDE), entry(CLAUDE, None, "SessionEnd", timeout=60))) == []


def test_a_hook_that_blocks_where_nothing_can_be_blocked() -> None:
    reading = manifest(
        hook("after_tool_execute", "a", blocking=True),
        hook("before_tool_execute", "b", blocking=True),
        hook("agent_stop", "c", blocking=True),
        hook("session_end", "d"),
    )
    message = "the hook is blocking, but after_tool_execute can only be watched"
    assert rows(checks.check(reading)) == [("HP506", "error", "hooks[0]", message)]


def test_an_agent_that_does_not_say_blocking_is_not_blamed_for_it() -> None:
    assert checks.check(read(get(CLAUDE), entry(CLAUDE, "Bash", "PostToolUse"))) == []


def test_an_unknown_capability() -> None:
    reading = manifest(hook(capabilities=["structured_output", "input_rewrites"]))
    message = (
        "unknown capability 'input_rewrites'; no target is checked for it. Did you mean 'input_rewrite'?"
    )
    assert rows(checks.check(reading)) == [("HP512", "loss", "hooks[0].capabilities[1]", message)]


def test_a_degradation_that_the_hook_does_not_use_is_no_matter() -> None:
    assert checks.check(manifest(hook(degradation={"http_handler": "warn"}))) == []


def two(dialect: str, one: Tree, other: Tree) -> pipeline.Reading:
    event = TOOL_EVENT[dialect]
    tree = {**one, "hooks": {event: [*one["hooks"][event], *other["hooks"][event]]}}
    return read(get(dialect), tree)


TWICE: list[tuple[str, str | None, str | None]] = [
    (CLAUDE, "Bash", "Bash"),
    (CLAUDE, None, "Bash"),
    (CLAUDE, "Bash|Write", "Edit|Write"),
    (CLAUDE, "Write", "Wri.*"),
    (GEMINI, "write_file", "write_.*"),
    (CURSOR, "Shell", None),
]


@pytest.mark.parametrize(("dialect", "one", "other"), TWICE)
def test_the_same_hook_twice(dialect: str, one: str | None, other: str | None) -> None:
    reading = two(
        dialect, entry(dialect, one), entry(dialect, other, timeout=5 if dialect == CLAUDE else 5000)
    )
    last = "" if dialect == CURSOR else ".hooks[0]"
    places = [f"hooks.{TOOL_EVENT[dialect]}[{number}]{last}" for number in range(2)]
    found = [row for row in rows(checks.check(reading)) if row[0] == "HP507"]
    assert found == [("HP507", "loss", places[1], f"the same hook as {places[0]}")]


def test_hooks_that_only_look_alike() -> None:
    assert checks.check(two(CLAUDE, entry(CLAUDE, "Bash"), entry(CLAUDE, "Write"))) == []
    assert checks.check(two(CLAUDE, entry(CLAUDE, "Bash"), entry(CLAUDE, "Bash", command="./b.sh"))) == []
    guarded = [{"if": f"Bash({word} *)"} for word in ("git", "npm")]
    assert checks.check(two(CLAUDE, *(entry(CLAUDE, "Bash", **extra) for extra in guarded))) == []
    assert checks.check(manifest(hook("session_start"), hook("session_end"))) == []


@pytest.mark.parametrize("name", [name for name in list_dialects() if get(name).package_dir])
def test_hooks_of_two_plugins_that_name_their_own_roots_are_two(name: str) -> None:
    dialect = get(name)
    place = next((one.path for one in dialect.locations if one.scope == "plugin"), "hooks/hooks.json")
    files = {f"plugins/{plugin}/{place}": "" for plugin in ("one", "two")}
    event = next(spec for spec in dialect.events if spec.canonical == "agent_stop").canonical

    def twice(command: str) -> list[str]:
        handler = Handler(command=command)
        one = Hook(event, handler, dialect=name)
        decoded = DecodedManifest(Manifest((one, one)), tuple(Place(file, ()) for file in files), ())
        found = checks.check(Reading(dialect, {}, decoded))
        return [finding.code for finding in found if finding.code == "HP507"]

    assert twice(f"{dialect.package_dir[0]}/run.sh") == []
    assert twice("./run.sh") == ["HP507"]


def test_equal_canonical_hooks() -> None:
    reading = manifest(hook(name="one", matcher="shell"), hook(name="two", matcher=["shell", "find"]))
    assert rows(checks.check(reading)) == [("HP507", "loss", "hooks[1]", "the same hook as hooks[0]")]


def test_a_key_that_stands_twice() -> None:
    text = b"""{"hooks": {
      "PreToolUse": [],
      "PreToolUse": [{"hooks": [{"type": "command", "command": "a", "command": "b"}]}]
    }}"""
    found = checks.check(pipeline.read({".claude/settings.json": text}, get(CLAUDE)))
    message = "duplicate key '{}'; only the last counts"
    assert [(*row, one.hook, one.line) for row, one in zip(rows(found), found, strict=True)] == [
        ("HP106", "error", "hooks.PreToolUse", message.format("PreToolUse"), None, 3),
        ("HP106", "loss", "hooks.PreToolUse[0].hooks[0].command", message.format("command"), 0, 3),
    ]


def script(
    root: Path, name: str = "guard.sh", text: bytes = b"#!/bin/sh\nexit 0\n", mode: int = 0o755
) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text)
    path.chmod(mode)


def scripts(root: Path, command: str, dialect: str = CLAUDE, file: str = "", **fields: Tree) -> list[Row]:
    tree = {"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": command, **fields}]}]}}
    return rows(check_scripts(read(get(dialect), tree, file), root))


WHERE = "hooks.PreToolUse[0].hooks[0]"
COMMANDS = (
    "./guard.sh",
    "./guard.sh; exit 0",
    "X=1 exec ./guard.sh --all",
    "bash guard.sh",
    "bash -eu ./guard.sh | tee log",
    "python3 -u guard.sh",
    "/usr/bin/env python3 ./guard.sh",
    '"$CLAUDE_PROJECT_DIR"/guard.sh',
    "${CLAUDE_PROJECT_DIR}/guard.sh x",
    '"${CLAUDE_PLUGIN_ROOT}/guard.sh"',
    "./guard.sh 2>/dev/null || true",
)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_script_is_found_or_missed(command: str, tmp_path: Path) -> None:
    missing = ("HP503", "error", WHERE, "the script guard.sh does not exist")
    assert scripts(tmp_path, command) == [missing]
    script(tmp_path)
    assert scripts(tmp_path, command) == []


UNCLEAR = (
    "",
    "jq .x",
    "guard.sh",
    "bash -c ./guard.sh",
    "python3 -m guard",
    "node --eval x.js",
    'cd "$CLAUDE_PROJECT_DIR" && ./guard.sh',
    "$ELSEWHERE/guard.sh",
    "./*.sh",
    "'unclosed",
    '"./guard.sh',
    "( ./guard.sh )",
    "./a\0b",
    "deno https://example.com/x.ts",
    "$(pwd)/guard.sh",
    "./{a,b}.sh",
    "X=1",
)


@pytest.mark.parametrize("command", UNCLEAR)
def test_a_command_that_does_not_clearly_name_a_script(command: str, tmp_path: Path) -> None:
    wanted = command or "x"
    assert scripts(tmp_path, wanted) == []


def test_a_script_at_home_or_at_an_absolute_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    script(home)
    monkeypatch.setenv("HOME", str(home))
    project = tmp_path / "project"
    assert scripts(project, "~/guard.sh") == []
    assert scripts(project, f"{home}/guard.sh") == []
    missing = ("HP503", "error", WHERE, f"the script {home}/other.sh does not exist")
    assert scripts(project, "~/other.sh") == [missing]
    assert scripts(project, f"{home}/other.sh") == [missing]


def test_a_relative_path_in_the_users_own_settings_is_not_known(tmp_path: Path) -> None:
    for command in ("./guard.sh", "$CLAUDE_PROJECT_DIR/guard.sh"):
        assert scripts(tmp_path, command, file="~/.claude/settings.json") == []


def test_a_script_that_cannot_be_started(tmp_path: Path) -> None:
    script(tmp_path, mode=0o644)
    not_executable = ("HP504", "error", WHERE, "the script guard.sh is not executable")
    assert scripts(tmp_path, "./guard.sh") == [not_executable]
    assert scripts(tmp_path, "bash guard.sh") == []


def test_a_script_without_a_shebang(tmp_path: Path) -> None:
    script(tmp_path, text=b"echo\n")
    no_shebang = ("HP505", "loss", WHERE, "the script guard.sh has no shebang line")
    assert scripts(tmp_path, "./guard.sh") == [no_shebang]
    assert scripts(tmp_path, "sh ./guard.sh") == []
    script(tmp_path, text=b"\x7fELF\0\0")
    assert scripts(tmp_path, "./guard.sh") == []


def test_a_folder_is_no_script(tmp_path: Path) -> None:
    (tmp_path / "guard.sh").mkdir()
    assert [row[0] for row in scripts(tmp_path, "./guard.sh")] == ["HP503"]


def test_the_rules_of_a_plugin_for_its_scripts(tmp_path: Path) -> None:
    script(tmp_path, "scripts/lint.sh", b"echo\n", 0o644)
    rules = [
        ("HP504", "error", WHERE, "the script scripts/lint.sh is not executable"),
        ("HP505", "loss", WHERE, "the script scripts/lint.sh has no shebang line"),
    ]
    unrooted = ("HP508", "loss", WHERE, "the command does not use ${PLUGIN_ROOT} for scripts/lint.sh")
    assert scripts(tmp_path, "${PLUGIN_ROOT}/scripts/lint.sh", "open-plugin") == rules
    assert scripts(tmp_path, "bash ${PLUGIN_ROOT}/scripts/lint.sh", "open-plugin") == rules
    assert scripts(tmp_path, "./scripts/lint.sh", "open-plugin") == [unrooted, *rules]
    assert scripts(tmp_path, "jq .", "open-plugin") == []


def test_a_plugin_below_the_root(tmp_path: Path) -> None:
    script(tmp_path, "plugins/lint/run.sh")
    file = "plugins/lint/hooks/hooks.json"
    assert scripts(tmp_path, "${PLUGIN_ROOT}/run.sh", "open-plugin", file) == []
    missing = ("HP503", "error", WHERE, "the script plugins/lint/x.sh does not exist")
    assert scripts(tmp_path, "${PLUGIN_ROOT}/x.sh", "open-plugin", file) == [missing]


def test_a_missing_script_that_reading_reported(tmp_path: Path) -> None:
    document = documents.dump(
        {"frontmatter": {"name": "a", "description": "b", "trigger": "before_tool"}, "body": ""},
        "frontmatter",
    )
    reading = pipeline.read({".agents/hooks/a/HOOK.md": document}, get(FOLDERS))
    assert [one.code for one in reading.decoded.findings] == ["HP503"]
    assert check_scripts(reading, tmp_path) == []


def run_check(cwd: Path, *words: str, home: Path | None = None) -> tuple[int, list[dict[str, Tree]]]:
    """The exit code and the findings of the command, run in this process as in a folder and for a home."""
    env = {"PATH": os.environ["PATH"], "HOME": str(home or cwd / "home")}
    printed = io.StringIO()
    with (
        contextlib.chdir(cwd),
        mock.patch.dict(os.environ, env, clear=True),
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(io.StringIO()),
    ):
        code = cli.main(["check", *words, "--json"])
    return code, json.loads(printed.getvalue())["findings"]


def plugin(root: Path, spelling: str, *more: str) -> None:
    """A plugin with one script that is there, and hooks on others."""
    script(root, "scripts/f.sh")
    commands = [f"{spelling}/scripts/{name}" for name in ("f.sh", *more)]
    groups = [{"hooks": [{"type": "command", "command": command}]} for command in commands]
    (root / "hooks").mkdir()
    (root / "hooks/hooks.json").write_text(json.dumps({"hooks": {"PreToolUse": groups}}), "utf-8")


@pytest.mark.parametrize("spelling", ["${PLUGIN_ROOT}", "${CLAUDE_PLUGIN_ROOT}"])
def test_a_plugin_named_in_any_way(spelling: str, tmp_path: Path) -> None:
    root = tmp_path / "below" / "plugin"
    plugin(root, spelling, "gone.sh")
    (tmp_path / "link").symlink_to(root)
    calls = [
        (tmp_path, "below/plugin"),
        (tmp_path, "below/../below/plugin"),
        (tmp_path, "below/plugin/hooks/hooks.json"),
        (tmp_path, str(root)),
        (tmp_path, str(root / "hooks/hooks.json")),
        (tmp_path, "link"),
        (tmp_path, "link/hooks/hooks.json"),
        (root, "."),
        (root, "hooks/hooks.json"),
        (root / "hooks", ".."),
        (root / "hooks", "hooks.json"),
    ]
    for cwd, path in calls:
        code, found = run_check(cwd, path)
        told = [(one["code"], one["message"]) for one in found]
        assert (path, code, told) == (path, 1, [("HP503", "the script scripts/gone.sh does not exist")])


@pytest.mark.parametrize("place", [".agents/hooks/sec", "ours/sec"])
def test_a_hook_folder_named_in_any_way(place: str, tmp_path: Path) -> None:
    folder = tmp_path / "project" / place
    script(folder, "scripts/run.sh")
    (folder / "HOOK.md").write_text("---\nname: sec\ndescription: d\ntrigger: before_tool\n---\n", "utf-8")
    calls = [
        (tmp_path, f"project/{place}"),
        (tmp_path, f"project/{place}/HOOK.md"),
        (tmp_path, str(folder)),
        (tmp_path, "project"),
        (tmp_path, "."),
        (folder, "."),
        (folder, "HOOK.md"),
        (folder.parent, "sec"),
    ]
    for cwd, path in calls:
        assert (path, *run_check(cwd, path)) == (path, 0, [])
    (folder / "scripts/run.sh").chmod(0o644)
    for cwd, path in calls:
        assert [one["code"] for one in run_check(cwd, path)[1]] == ["HP504"]
    (folder / "scripts/run.sh").unlink()
    for cwd, path in calls:
        assert [one["code"] for one in run_check(cwd, path)[1]] == ["HP503"]


def test_settings_of_a_user_say_nothing_of_a_project(tmp_path: Path) -> None:
    settings = tmp_path / ".claude/settings.json"
    settings.parent.mkdir()
    settings.write_text(json.dumps(entry(CLAUDE, "Bash")), "utf-8")
    for path in (".", ".claude/settings.json", str(settings)):
        assert run_check(tmp_path, path, home=tmp_path) == (0, [])
        assert [one["code"] for one in run_check(tmp_path, path)[1]] == ["HP503"]


STEPS: list[tuple[str, Tree, tuple[str | int, ...]]] = [
    ("hooks.Tol", {"hooks": {"Tol": []}}, ("hooks", "Tol")),
    ("hooks.Tol[1].x", {"hooks": {"Tol": [{}, {"x": 1}]}}, ("hooks", "Tol", 1, "x")),
    ("hooks.a.b[0]", {"hooks": {"a": 1, "a.b": [1]}}, ("hooks", "a.b", 0)),
    ("hooks.a[0]", {"hooks": {"a": 1, "a[0]": 2}}, ("hooks", "a[0]")),
    ("hooks.gone[0]", {"hooks": {"a": 1}}, ("hooks",)),
    ("[1].x", [{}, {"x": 1}], (1, "x")),
    ("trigger", {"frontmatter": {"trigger": "x"}, "body": ""}, ("frontmatter", "trigger")),
    ("frontmatter.trigger", {"frontmatter": {"trigger": "x"}, "body": ""}, ("frontmatter", "trigger")),
    ("", {"hooks": {}}, ()),
    ("x", "a text", ()),
]


@pytest.mark.parametrize(("where", "tree", "path"), STEPS)
def test_a_spelled_path_is_read_back(where: str, tree: Tree, path: tuple[str | int, ...]) -> None:
    assert parse_steps(where, tree) == path


def test_a_finding_of_reading_has_a_line_and_a_hook() -> None:
    text = b'{\n"hooks": {\n"BeforeTol":\n[{"hooks": [{"type": "command", "command": "jq"}]}]}}'
    reading = pipeline.read({".claude/settings.json": text}, get(CLAUDE))
    (event,) = (locate_finding(one, reading) for one in reading.decoded.findings)
    assert event[-4:] == (None, ".claude/settings.json", 4, 1)
    text = (
        b'{"spec": "hooks/1.0", "hooks": [{"event":\n"x", "handler": {"type": "command", "command": "y"}}]}'
    )
    reading = pipeline.read({"hooks.json": text}, get("canonical"))
    (event,) = (locate_finding(one, reading) for one in reading.decoded.findings)
    assert event[-4:] == (0, "hooks.json", 2, 1)


def test_findings_of_one_hook_stand_together() -> None:
    reading = folder({"tool": "Bash", "pattern": "["}, trigger="before_tool", priority=5000)
    assert {
        locate_finding(one, reading).hook for one in (*reading.decoded.findings, *checks.check(reading))
    } == {0}
    many = [
        findings.UnknownEvent.at("hooks[0].event", event="x", dialect="d", guess=""),
        findings.UnknownCapability.at("hooks[0].capabilities[0]", 0, capability="x", guess=""),
        findings.EventDropped.at("hooks[0]", 0, target="t", event="x", reason=""),
        findings.UnknownEvent.at("hooks[01].event", event="y", dialect="d", guess=""),
    ]
    heads = [
        line
        for line in report.format_findings(many, Paint(sys.stdout), {0: "title"}).split("\n")
        if line[:1] > " "
    ]
    assert heads == ["hooks[0] (title)", "hooks[01].event"]


@pytest.mark.parametrize("name", list_dialects())
def test_what_hookport_writes_is_not_found_dead(name: str) -> None:
    dead = {findings.NoKnownTool.code, findings.SuspiciousTimeout.code, findings.TimeoutNever.code}
    assert [one for one in checks.check(kitchen.reading(name)) if one.code in dead] == []


IDENTITY = [
    pytest.param(dialect, case, id=f"{dialect}-{case['name']}")
    for dialect in vectors.FILES
    for case in vectors.cases_of(dialect)
    if "identity" in case
]


@pytest.mark.parametrize(("dialect", "case"), IDENTITY)
def test_vectors_are_checked(dialect: str, case: vectors.Case, tmp_path: Path) -> None:
    reading = pipeline.read(vectors.files(case, "identity", dialect), get(dialect))
    for one in (*checks.check(reading), *check_scripts(reading, tmp_path)):
        assert one.code in findings.KINDS
        assert one.hook is None or one.hook < len(reading.decoded.manifest.hooks)


TEXTS = st.one_of(
    st.sampled_from(
        ["*", "bash", "Bash|", "mcp__x", "(", "[[a]", "a{1", "(?i)x", "^", "Bash(x *)", "(?<n>a)", "\\"]
    ),
    st.text(max_size=6),
)
NUMBERS = st.one_of(st.integers(0, 10**8), st.floats(0, 10**6), st.booleans())
COMMAND = st.one_of(st.sampled_from([*COMMANDS, *UNCLEAR]), st.text(min_size=1, max_size=8))


@st.composite
def trees(draw: st.DrawFn, dialect: Dialect) -> Tree:
    """A file like the dialect's, right or nearly."""
    handler = {"type": "command", "command": draw(COMMAND), "timeout": draw(NUMBERS), "timeout_ms": 5}
    if draw(st.booleans()):
        del handler["type"], handler["timeout"], handler["timeout_ms"]
    event = draw(st.sampled_from([*(spec.native for spec in dialect.events), "Nothing"]))
    group = {"matcher": draw(TEXTS), "hooks": [handler, handler]}
    flat = {**handler, "matcher": draw(TEXTS), "event": event}
    tree: Tree = {event: draw(st.sampled_from([[group], [flat], [group, group], [flat, flat], [handler]]))}
    for key in reversed(dialect.shape.root):
        tree = {key: tree}
    hooks = {"spec": "hooks/1.0", "hooks": [{"event": event, "handler": handler, "matcher": draw(TEXTS)}] * 2}
    return draw(st.sampled_from([{**dialect.shape.root_keys, **tree}, {"hooks": [flat, flat]}, hooks]))


@pytest.mark.parametrize("name", list_dialects())
@given(data=st.data())
def test_no_file_makes_a_check_fail(name: str, data: st.DataObject, tmp_path_factory: Any) -> None:
    dialect = get(name)
    tree = data.draw(trees(dialect))
    places = [location.path for location in dialect.locations]
    file = data.draw(st.sampled_from([path for path in places if path.endswith(".json")] or ["hooks.json"]))
    document = documents.parse(json.dumps(tree).encode(), "json")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # reading is not what is tested here
        try:
            decoded: DecodedManifest = dialect.shape.decode(dialect, {file: document.tree})
        except RefusedError:
            return
    reading = pipeline.Reading(dialect, {file: document}, decoded)
    for one in (*checks.check(reading), *check_scripts(reading, tmp_path_factory.getbasetemp())):
        assert one.code in findings.KINDS


@given(st.text())
def test_no_command_makes_a_script_check_fail(command: str) -> None:
    found = find_named_script(command)
    assert found is None or found.word


@given(st.text())
def test_no_pattern_makes_a_check_fail(pattern: str) -> None:
    assert isinstance(checks.find_pattern_problem(pattern), str)


CLAUDE_GUARD = {"type": "command", "command": "echo"}


def claude(event: str, matcher: str, **more: Any) -> Any:
    """One guard of Claude Code with a matcher."""
    return {"hooks": {event: [{"matcher": matcher, "hooks": [{**CLAUDE_GUARD, **more}]}]}}


@pytest.mark.parametrize("seconds", [1200, 3600, 36_000, 86_400, 345_600, 604_800, 2_592_000])
def test_a_round_time_is_meant_as_it_is_written(seconds: int) -> None:
    assert rows(checks.check(read(get("claude-code"), claude("Stop", "", timeout=seconds)))) == []


@pytest.mark.parametrize("seconds", [5000, 10_000, 30_000, 60_000, 180_000, 600_000, 3_600_000, 86_400_000])
def test_a_round_number_of_milliseconds_is_not(seconds: int) -> None:
    found = checks.check(read(get("claude-code"), claude("Stop", "", timeout=seconds)))
    assert [one.code for one in found] == ["HP502"]


@pytest.mark.parametrize(
    "matcher", ["", "*", ".*", ".+", "^.*$", "(.*)", "^(.*)$", ".*?", "[\\s\\S]*", "Bash|.*"]
)
@pytest.mark.parametrize("event", ["Stop", "PreToolUse", "UserPromptSubmit"])
def test_a_matcher_for_everything_is_no_finding(event: str, matcher: str) -> None:
    reading = read(get("claude-code"), claude(event, matcher))
    assert rows([*reading.decoded.findings, *checks.check(reading)]) == []


@pytest.mark.parametrize("dialect", list_agents())
def test_every_name_of_a_tool_that_an_agent_has_is_known(dialect: str) -> None:
    others = [name for name in get_wire(dialect).others if name[-1:] != "*"]
    for name in (*list_native_tools(get(dialect)), *others):
        verdicts = checks._judge_matcher(get(dialect), get(dialect).matching._replace(grammar="terms"), name)
        assert [verdict.is_alive for verdict in verdicts] == [True], name


@pytest.mark.parametrize(
    ("dialect", "matcher"),
    [
        ("claude-code", "MultiEdit"),
        ("claude-code", "Edit|MultiEdit|Write"),
        ("claude-code", "ExitPlanMode"),
        ("claude-code", "LS|NotebookRead|TodoRead"),
        ("claude-code", "BashOutput|KillBash|KillShell|SlashCommand|Workflow"),
        ("claude-code", "^(BashOutput|KillShell)$"),
        ("gemini-cli", "save_memory|codebase_investigator"),
        ("codex", "view_image"),
        ("cursor", "Delete"),
        ("kiro", "use_aws|knowledge"),
        ("qwen-code", "monitor|computer_use__click"),
        ("augment", "remove-files|kill-process"),
        ("open-plugin", "BashOutput"),
        ("claude-code", "CronCreate"),
        ("claude-code", "mcp__github__"),
        ("qwen-code", "mcp__github"),
        ("qwen-code", "mcp__"),
        ("qwen-code", "mcp__github__merge"),
        ("gemini-cli", "mcp_github"),
        ("kimi-cli", "mcp__github"),
        ("cursor", "MCP:"),
        ("kiro", "@github"),
    ],
)
def test_names_that_agents_match(dialect: str, matcher: str) -> None:
    spec = next(one for one in find_event_specs(get(dialect), "before_tool_execute") if one.subject == "tool")
    verdicts = checks._judge_matcher(get(dialect), find_matching(get(dialect), spec), matcher)
    assert all(verdict.is_alive for verdict in verdicts)


@pytest.mark.parametrize("name", ["guard.ps1", "guard.PS1", "guard.bat", "guard.cmd"])
def test_a_script_of_windows_needs_no_mode_and_no_first_line(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("exit 0\n")
    reading = read(get("claude-code"), claude("PreToolUse", "Bash", command=f"./{name}"))
    assert rows(check_scripts(reading, tmp_path)) == []


LINKED = [
    (name, place.path)
    for name in list_agents()
    for place in get(name).locations
    if place.scope == "project" and "*" not in place.path and not place.path.endswith((".ts", ".js"))
]


@pytest.mark.parametrize(("name", "place"), LINKED)
def test_a_link_at_an_agents_place_that_leads_nowhere_is_told(
    name: str, place: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert get(name).kind == "agent"
    (tmp_path / ".git").mkdir()
    link = tmp_path / place
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to("nowhere.json")
    assert cli.main(["check", str(tmp_path)]) == 2
    assert "is a broken link" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("command", "is_there"),
    [
        ("./guard.sh", True),
        ('"$CLAUDE_PROJECT_DIR"/guard.sh', True),
        ("bash ${CLAUDE_PROJECT_DIR}/guard.sh --all", True),
        ("./gone.sh", False),
        ('python3 "$CLAUDE_PROJECT_DIR"/.claude/gone.py', False),
    ],
)
@pytest.mark.parametrize("target", ["codex", "gemini-cli", "cline", "windsurf"])
def test_the_script_behind_the_bridge_is_looked_at(
    command: str, is_there: bool, target: str, tmp_path: Path
) -> None:
    """A converted guard whose script was left behind fails on every call, which lets the call pass."""
    guard = tmp_path / "guard.sh"
    guard.write_text("#!/bin/sh\nexit 2\n")
    guard.chmod(0o755)
    entry = {"type": "command", "command": command}
    tree = {"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [entry]}]}}
    source = pipeline.read({".claude/settings.json": json.dumps(tree).encode()}, get("claude-code"))
    result = pipeline.convert(source, get(target))
    for file in result.files:
        place = tmp_path / file.path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(file.text)
        place.chmod(0o755)
    reading = pipeline.read({file.path: file.text.encode() for file in result.files}, get(target))
    codes = [one.code for one in check_scripts(reading, tmp_path, unwrap_hook)]
    assert codes == ([] if is_there else ["HP503"])
