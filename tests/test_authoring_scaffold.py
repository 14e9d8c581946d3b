"""New hooks: in every dialect and language they say what was asked for, and their tests pass as written."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hookport.agents import get, list_dialects
from hookport.cli import main
from hookport.convert import pipeline
from hookport.errors import HookportError, InputError, UsageError
from hookport.sdk.scaffold import Scaffold, ScaffoldRequest, choose_dialect, list_writable, scaffold
from hookport.sdk.scripts import LANGUAGES
from hookport.testing import session

pytestmark = pytest.mark.skipif(os.name == "nt", reason="scripts here are started by their first line")

LONG = 60


def project(folder: Path) -> Path:
    root = folder / "project"
    (root / ".git").mkdir(parents=True)
    return root


def write(made: Scaffold, root: Path) -> None:
    for one in made.files:
        path = root / one.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(one.data)
        path.chmod(0o755 if one.is_executable else 0o644)


def failing(made: Scaffold, root: Path, *agents: str) -> list[Any]:
    """What did not pass of the tests, for some agents; at least one case must have run for each of them."""
    tasks = [
        one
        for one in session.list_tasks(root / made.tests, {"HOME": str(root.parent)})
        if one.agent in agents
    ]
    assert {one.agent for one in tasks} == set(agents)
    return [(one.task.id, one.differences) for one in session.perform_all(tasks) if one.status != "passed"]


@pytest.mark.parametrize("dialect", list_writable())
def test_a_manifest_says_the_hook_in_every_dialect(dialect: str, tmp_path: Path) -> None:
    own = get(dialect)
    for lang, ending in LANGUAGES.items():
        made = scaffold(ScaffoldRequest("my-hook", "before_tool_execute", dialect, lang), tmp_path)
        files = {one.path: one for one in made.files}
        (script,) = (one for one in made.files if one.is_executable)
        assert script.path.endswith(f".{ending}")
        assert script.data.startswith(b"#!/")
        texts = {
            one.path: one.data
            for one in made.files
            if not one.path.startswith(made.tests) and not one.path.endswith("README.md")
            if own.shape.companions or not one.is_executable
        }
        (hook, *more) = pipeline.read(texts, own).decoded.manifest.hooks
        assert {one.event for one in (hook, *more)} == {"before_tool_execute"}
        assert own.shape.companions or script.path.rpartition("my-hook/")[2] in hook.handler.command
        cases = [path for path in files if "/cases/" in path]
        assert [Path(path).stem for path in cases] == ["lets-pass", "stops"]


def test_only_dialects_that_no_project_can_hold_are_left_out() -> None:
    left_out = [get(name) for name in list_dialects() if name not in list_writable()]
    assert {place.scope for one in left_out for place in one.locations} <= {"user", "system"}
    assert "kimi-cli" in [one.id for one in left_out]
    with pytest.raises(UsageError, match="which is outside projects"):
        scaffold(ScaffoldRequest("my-hook", "session_start", "kimi-cli"), Path())


@pytest.mark.parametrize(
    ("dialect", "lang", "event", "matcher", "what"),
    [
        ("agent-hooks", "sh", "before_tool_execute", "", "stops"),
        ("universal", "python", "pre-prompt", "", "stops"),
        ("open-plugin", "node", "PreToolUse", "Write|Edit", "stops"),
        ("canonical", "python", "agent_stop", "", "stops"),
        ("claude-code", "sh", "SessionStart", "startup", "works"),
        ("cursor", "node", "before_tool_execute", "mcp:github/push", "stops"),
        ("cline", "python", "after_tool_execute", "", "works"),
        ("vs-code-copilot", "sh", "agent_stop", "", "stops"),
    ],
)
def test_the_tests_of_a_new_hook_pass(
    dialect: str,
    lang: str,
    event: str,
    matcher: str,
    what: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    root = project(tmp_path)
    made = scaffold(ScaffoldRequest("my-hook", event, dialect, lang, matcher), root)
    write(made, root)
    assert any(one.path.endswith(f"cases/{what}.yaml") for one in made.files)
    assert failing(made, root, "gemini-cli") == []
    assert (main(["check", str(root / made.files[0].path)]), capsys.readouterr().err) == (0, "")


@pytest.mark.parametrize("dialect", ["universal", "open-plugin"])
def test_a_package_runs_where_a_folder_has_a_blank(dialect: str, tmp_path: Path) -> None:
    root = project(tmp_path / "a folder")
    made = scaffold(ScaffoldRequest("my-hook", "before_tool_execute", dialect), root)
    write(made, root)
    files = {one.path: one.data for one in made.files}
    (manifest,) = (json.loads(data) for path, data in files.items() if path.endswith("hooks.json"))
    (group,) = next(iter(manifest["hooks"].values()))
    (stops,) = (data for path, data in files.items() if path.endswith("fixtures/stops.json"))
    package = str(root / made.tests).removesuffix("/hooks/tests")
    variable = get(dialect).package_dir[0].strip("${}")
    done = subprocess.run(
        ["sh", "-c", group["hooks"][0]["command"]],
        input=stops,
        env={"PATH": os.environ["PATH"], variable: package},
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, b"my-hook" in done.stdout + done.stderr) == (2, True)


SETTINGS = """{
    "model":   "opus",

    "hooks": {
      "PreToolUse": [{"matcher": "Read", "hooks": [{"type": "command", "command": "true"}]}]
    }
}
"""


def test_a_hook_is_added_to_a_file_that_others_are_in(tmp_path: Path) -> None:
    root = project(tmp_path)
    settings = root / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text(SETTINGS)
    made = scaffold(ScaffoldRequest("my-hook", "before_tool_execute", "claude-code"), root)
    added = made.files[0]
    assert (added.path, added.before) == (".claude/settings.json", SETTINGS.encode())
    assert [line for line in SETTINGS.splitlines()[:3] if line not in added.data.decode()] == []
    write(made, root)
    (case,) = (one.data.decode() for one in made.files if one.path.endswith("stops.yaml"))
    assert "hook-index: 1\n" in case
    assert failing(made, root, "claude-code") == []
    second = scaffold(ScaffoldRequest("other", "before_tool_execute", "claude-code"), root)
    write(second, root)
    assert failing(second, root, "claude-code") == []
    with pytest.raises(InputError, match="already exists, with 6 more of its files"):
        scaffold(ScaffoldRequest("my-hook", "before_tool_execute", "claude-code"), root)


@pytest.mark.parametrize("dialect", ["canonical", "kiro", "opencode"])
def test_a_second_hook_is_counted_among_those_of_its_event(dialect: str, tmp_path: Path) -> None:
    """Where events share one list, a case still names the hook by its number for the event."""
    root = project(tmp_path)
    for name, event in (("one", "before_tool_execute"), ("two", "agent_stop"), ("three", "agent_stop")):
        made = scaffold(ScaffoldRequest(name, event, dialect), root)
        write(made, root)
        assert failing(made, root, "gemini-cli") == []


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        (ScaffoldRequest("My Hook", "session_start", "universal"), "invalid name 'My Hook'"),
        (ScaffoldRequest("a" * 41, "session_start", "universal"), "invalid name 'aaaa"),
        (ScaffoldRequest("a", "before_tool", "canonical", "ruby"), "unknown language 'ruby'"),
        (
            ScaffoldRequest("a", "before_tol_execute", "universal"),
            "unknown event 'before_tol_execute'. Did you mean",
        ),
        (ScaffoldRequest("a", "before_model", "universal"), "universal has no event like before_model"),
        (ScaffoldRequest("a", "session_start", "nobody"), "unknown dialect 'nobody'"),
        (
            ScaffoldRequest("a", "PreToolUse", "universal", "sh", "Bahs"),
            "the matcher 'Bahs' matches no tool of universal",
        ),
        (
            ScaffoldRequest("a", "PreToolUse", "universal", "sh", "("),
            "the matcher '(' is not a valid regular expression",
        ),
    ],
)
def test_what_cannot_be_made_is_refused(request_: ScaffoldRequest, message: str, tmp_path: Path) -> None:
    with pytest.raises(HookportError) as raised:
        scaffold(request_, tmp_path)
    assert message in str(raised.value)


def test_what_is_missing_is_asked_for_on_a_terminal(tmp_path: Path) -> None:
    import pty

    root = project(tmp_path)
    ours, theirs = pty.openpty()
    child = subprocess.Popen(
        [sys.executable, "-m", "hookport", "new", "--lang", "python"],
        cwd=root,
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),
            "PYTHONPATH": str(Path(pipeline.__file__).parents[1]),
        },
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    os.write(ours, b"asked\nbefore_prompt\n\n")
    assert child.wait(LONG) == 0
    os.close(ours)
    assert (root / ".agents" / "hooks" / "asked" / "scripts" / "run.py").is_file()
    assert choose_dialect() == "agent-hooks"


def test_files_are_written_all_or_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = project(tmp_path)
    (root / "hooks").mkdir()
    (root / "hooks" / "my-hook").write_text("in the way")
    monkeypatch.chdir(root)
    assert main(["new", "my-hook", "--event", "session_start", "--dialect", "claude-code"]) == 2
    assert [path.name for path in root.rglob("*.json")] == []
