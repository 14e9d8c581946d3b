"""What `--json` prints, in a real project: one document with a version, as its schema has it.

The project has a hook whose script is missing and a file that nothing reads, so most commands find something.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from hookport.cli import COMMANDS, make_command_parser
from tests import forks

SCHEMAS = Path(__file__).parent.parent / "schemas" / "output"
# Their output is no document: an answer in the agent's own form, JSON-RPC with a schema of its own, a script.
WITHOUT_JSON = {"dispatch", "wrap", "serve-stdio", "completion", "ask-guardian"}
SETTINGS = {
    "hooks": {
        "PreToolUse": [
            {"matcher": "Bash", "hooks": [{"type": "command", "command": "./guard.sh", "timeout": 10}]},
            {"matcher": "Bash", "hooks": [{"type": "command", "command": "./missing.sh"}]},
        ]
    }
}
PAYLOAD = {
    "hook_event_name": "PreToolUse",
    "session_id": "s",
    "cwd": "",
    "tool_name": "Bash",
    "tool_input": {"command": "rm -rf build"},
}
CASES = {
    "denies.yaml": (
        "name: denies\nevent: PreToolUse\nhook-index: 0\nagents: [claude-code, cursor]\n"
        "input: {tool: shell, overrides: {tool_name: Bash, tool_input: {command: rm -rf build}}}\n"
        "expected: {decision: deny}\n"
    ),
    "fails.yaml": "name: fails\nevent: PreToolUse\nhook-index: 0\nexpected: {decision: allow}\n",
    "broken.yaml": "name: 3\n",
}


class Project:
    """A project with hooks of one agent, its tests, and a user who approved nothing yet."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "project"
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder / "home"),
            "HOOKPORT_CACHE_DIR": str(folder / "cache"),
        }
        for path in (self.root / ".git", self.root / ".claude/tests/cases", folder / "home"):
            path.mkdir(parents=True)
        (self.root / ".claude/settings.json").write_text(json.dumps(SETTINGS, indent=2))
        (self.root / ".claude/hooks.json").write_text(json.dumps(SETTINGS["hooks"]))
        (self.root / ".claude/tests/test-config.json").write_text('{"version": 1}')
        for name, text in CASES.items():
            (self.root / ".claude/tests/cases" / name).write_text(text)
        guard = self.root / "guard.sh"
        guard.write_text("#!/bin/sh\necho 'not that' >&2\nexit 2\n")
        guard.chmod(0o755)
        (self.root / "payload.json").write_text(json.dumps({**PAYLOAD, "cwd": str(self.root)}))

    def run(self, command: str) -> tuple[int, str, str]:
        done = forks.run(command.split(), self.root, self.env)
        return done.returncode, done.stdout, done.stderr

    def dispatch(self) -> None:
        payload = (self.root / "payload.json").read_text()
        forks.run(["dispatch", "claude-code", "PreToolUse"], self.root, self.env, payload)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def validate(name: str, tree: Any) -> None:
    schema = json.loads((SCHEMAS / f"{name}.schema.json").read_text("utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    assert [
        f"{error.json_path}: {error.message}"
        for error in jsonschema.Draft202012Validator(schema).iter_errors(tree)
    ] == []
    assert tree["version"] == 1


# Commands in one project, one after the other, with the exit code of each.
RUNS: dict[str, list[tuple[str, int]]] = {
    "new": [
        ("new guard --event before_tool_execute --matcher shell --dry-run --json", 0),
        ("new guard --event before_tool_execute --matcher shell --json", 0),
    ],
    "convert": [
        ("convert .claude/settings.json --to cursor --json", 0),
        ("convert .claude/settings.json --to all --strict --json", 1),
    ],
    "check": [("check --json", 1), ("check guard.sh --json", 2)],
    "run": [
        ("run .claude/settings.json --payload payload.json --json", 1),
        ("run .claude/settings.json --payload payload.json --agent cursor --json", 1),
    ],
    "test": [("test --json", 1), ("test --json --coverage --mutate", 1)],
    "prove": [("prove --list --json", 0), ("prove --json", 1), ("prove --hooks . --json", 1)],
    "sync": [
        ("sync --agent cursor,codex --json --dry-run", 1),
        ("sync --agent cursor,codex --json --mode bridge", 1),
        ("sync --agent cursor,codex --json --check", 1),
    ],
    "unsync": [
        ("sync --agent cursor --json", 1),
        ("unsync --json --dry-run", 0),
        ("unsync --json", 0),
        ("unsync --json --scope all", 0),
    ],
    "undo": [
        ("undo --json", 0),
        ("sync --agent cursor --json", 1),
        ("undo --json --dry-run", 0),
        ("undo --json", 0),
    ],
    "trust": [
        ("trust --check --json", 1),
        ("trust --dry-run --json", 1),
        ("trust --yes --in-agents --json", 1),
        ("trust --check --json", 0),
    ],
    "untrust": [
        ("untrust --json", 0),
        ("trust --yes --json", 1),
        ("untrust --json", 0),
        ("untrust --all --json", 0),
    ],
    "pause": [
        ("pause --yes --json", 0),
        ("pause guard.sh --yes --json --for 2h", 0),
        ("pause --end --json", 0),
    ],
    "vendor": [
        ("vendor --json --dry-run", 0),
        ("vendor --json --check", 1),
        ("vendor --json", 0),
        ("vendor --json --check", 1),
    ],
    "status": [
        ("status --json", 0),
        ("trust --yes --json", 1),
        ("sync --agent cursor --json", 1),
        ("pause --yes --json", 0),
        ("status --agent cursor,claude-code --json", 0),
    ],
    "why": [
        ("why --agent cursor,claude-code --json", 1),
        ("why guard.sh --agent cursor --payload payload.json --json", 1),
        ("why --command ls --agent claude-code --json", 0),
        ("why nothing --json", 1),
    ],
    "doctor": [("doctor --json", 1), ("doctor --agent cursor --fix --json", 1)],
    "matrix": [("matrix --json", 0)],
    "dialects": [("dialects --json", 0)],
    "explain": [("explain --json", 0), ("explain HP202 --json", 0)],
}


@pytest.mark.parametrize("command", RUNS)
def test_json_is_as_its_schema_has_it(command: str, project: Project) -> None:
    for words, expected in RUNS[command]:
        code, out, err = project.run(words)
        assert (code, words) == (expected, words), out + err
        validate(words.split()[0], json.loads(out))


def test_each_line_of_the_log_is_as_its_schema_has_it(project: Project) -> None:
    project.dispatch()
    project.run("trust --yes")
    project.dispatch()
    project.run("pause --yes")
    code, out, _ = project.run("log --json")
    assert code == 0
    trees = [json.loads(line) for line in out.splitlines()]
    assert len(trees) >= 3
    for tree in trees:
        validate("log", tree)


def test_recorded_cases_are_as_their_schema_has_them(project: Project) -> None:
    project.run("trust --yes")
    project.dispatch()
    project.run("pause --yes")
    for words in ("record --json --dry-run", "record --json", "record --json"):
        code, out, err = project.run(words)
        assert code == 0, err
        validate("record", json.loads(out))
        # A pause is no event of an agent.
        assert json.loads(out)["notes"] == []


ERRORS = {
    "sync --agent claud-code --json": ("unknown agent 'claud-code'. Did you mean 'claude-code'?", 2),
    "sync --bogus --json": ("unknown option '--bogus' of `hookport sync`", 2),
    "convert missing.json --to cursor --json": ("does not exist", 2),
    "trust --json": ("nothing was approved: --json cannot ask", 2),
    "test .git --json": (".git: no tests of hooks", 2),
    "new --json": ("missing NAME and --event EVENT, and no terminal to ask on", 2),
}


@pytest.mark.parametrize(("words", "expected"), ERRORS.items())
def test_an_error_is_a_document_too(words: str, expected: tuple[str, int], project: Project) -> None:
    code, out, err = project.run(words)
    tree = json.loads(out)
    validate("error", tree)
    assert ([error["message"] for error in tree["errors"]], tree["exit_code"]) == ([expected[0]], expected[1])
    assert code == expected[1]
    assert err.startswith("error: ")
    plain = project.run(words.replace(" --json", "") if "trust" not in words else words)
    assert plain[0] == code


def test_an_unreadable_file_has_its_place(project: Project) -> None:
    (project.root / "hooks.json").write_text('{"version": 1,\n "hooks": }')
    code, out, err = project.run("convert hooks.json --to cursor --json")
    tree = json.loads(out)
    validate("error", tree)
    (entry,) = tree["errors"]
    assert (code, entry["file"], entry["line"], entry["column"]) == (2, "hooks.json", 2, 11)
    assert err.startswith(f"error: hooks.json:2:11: {entry['message']}\n")
    assert err.endswith("Nothing was written.\n")


def test_every_command_with_output_for_programs_has_a_document() -> None:
    tested = {*RUNS, "log", "record"}
    for command in COMMANDS:
        has_json = "--json" in make_command_parser(command).list_options()
        assert has_json is (command not in WITHOUT_JSON), command
        assert (SCHEMAS / f"{command}.schema.json").is_file() is has_json, command
        assert (command in tested) is has_json, command


def objects(tree: Any) -> list[dict[str, Any]]:
    """Every schema of an object in a schema."""
    if isinstance(tree, list):
        return [schema for part in tree for schema in objects(part)]
    if not isinstance(tree, dict):
        return []
    inner = [schema for part in tree.values() for schema in objects(part)]
    return [tree, *inner] if "properties" in tree and "type" in tree else inner


@pytest.mark.parametrize("path", sorted(SCHEMAS.glob("*.json")), ids=lambda path: path.name)
def test_schemas_are_tight_and_say_what_is_not_always_there(path: Path) -> None:
    schema = json.loads(path.read_text("utf-8"))
    for part in objects(schema):
        assert part["additionalProperties"] is False
        assert part["description"]
        optional = part["properties"].keys() - set(part["required"])
        text = part["description"]
        assert not optional or "there" in text or "left out" in text, text


def test_unsync_names_what_it_would_remove_and_shows_what_it_would_edit(project: Project) -> None:
    (project.root / ".gemini").mkdir()
    (project.root / ".gemini/settings.json").write_text('{\n  "theme": "dark"\n}\n')
    project.run("sync --agent cursor,gemini-cli --vendor")
    shown = project.run("unsync --dry-run")[1]
    edited = [line for line in shown.splitlines() if line.startswith("would be cleaned")]
    assert edited == ["would be cleaned  .gemini/settings.json"]
    assert {line for line in shown.splitlines() if line.startswith("would be removed")} == {
        "would be removed  .cursor/hooks.json",
        "would be removed  .hookport/bridge.plan",
        "would be removed  .hookport/bridge.pyz",
    }
    assert [line for line in shown.splitlines() if line.startswith("--- ")] == [
        f"--- {project.root}/.gemini/settings.json"
    ]


def test_a_compiled_plan_is_shown_as_its_size(project: Project) -> None:
    shown = project.run("vendor")[1]
    assert "wrote .hookport/bridge.plan" in shown
    size = (project.root / ".hookport/bridge.plan").stat().st_size
    undone = project.run("undo --dry-run")[1]
    assert f"{project.root}/.hookport/bridge.plan: compiled plan, {size} → 0 bytes\n" in undone
    assert "watched" not in undone
