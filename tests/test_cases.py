"""Tests of hooks: the format's own examples, every field, every kind of wrong file, every agent."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree as ET

import pytest

from hookport.agents import list_agents
from hookport.cli import main
from hookport.project import plan_builder
from hookport.project.discovery import load
from hookport.testing import find, report, session
from hookport.testing.compare import compare_tree
from hookport.testing.session import TaskResult
from hookport.testing.suite import apply_overrides, split_path

pytestmark = pytest.mark.skipif(os.name == "nt", reason="hooks here are shell commands")

SPECIFIED = Path(__file__).parent / "packages" / "specified"
GUARD = "if grep -q 'rm -rf'; then echo 'no: rm' >&2; exit 2; fi"


def write(folder: Path, files: Mapping[str, str]) -> Path:
    """The files, by their paths."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        if text.startswith("#!"):
            path.chmod(0o755)
    return folder


def universal(**commands: str) -> str:
    """A hooks.json with one hook for each event."""
    return json.dumps(
        {
            "version": 1,
            "hooks": {
                event.replace("_", "-"): [{"hooks": [{"type": "command", "command": command}]}]
                for event, command in commands.items()
            },
        }
    )


def case(name: str, event: str = "pre-tool-use", **fields: Any) -> str:
    """A case; JSON is YAML."""
    said = {key.replace("_", "-"): value for key, value in fields.items()}
    return json.dumps({"name": name, "event": event, **said})


def performed(folder: Path) -> list[TaskResult]:
    """The results of the one suite below a folder."""
    (tests,) = find.find_suites(folder)
    return list(session.perform_all(session.list_tasks(tests)))


def told(results: list[TaskResult]) -> dict[str, str]:
    """Each task and what is wrong with it; empty if it passed."""
    return {one.task.id: one.why if one.status != "failed" else "; ".join(_wrong(one)) for one in results}


def _wrong(result: TaskResult) -> list[str]:
    folder = result.task.folder
    lines = report.explain(result)
    shown = result.task.show_path(folder)
    lines = [line.replace(shown, "tests").replace(str(folder), "tests") for line in lines]
    said = [line for line in lines if not line.startswith((" ", "stdout:", "stderr:", "again: ", "note: "))]
    return [line for line in said if " receives: " not in line]


def test_the_cases_of_the_specification_pass_as_they_are_written_there() -> None:
    """Both examples, on a package laid out as the specification lays it out."""
    results = performed(SPECIFIED)
    assert [(one.task.id, one.status, one.got and one.got.exit_code) for one in results] == [
        ("pre-tool-block-forbidden-path", "passed", 2),
        ("post-tool-format-success", "passed", 0),
    ]


def test_every_expectation_of_the_format_can_fail(tmp_path: Path) -> None:
    """One case for each field, and what is said."""
    command = 'cat >&2; echo \'{"a": {"b": [1, {"c": true, "d": 2}]}}\''
    expected: dict[str, dict[str, Any]] = {
        "exit-code": {"exit-code": 2},
        "stderr-contains": {"stderr-contains": ["pre-tool-use", "absent"]},
        "stdout-json": {"stdout-json": {"a": {"b": [1, {"c": 1}], "x": None}}},
        "stdout-length": {"stdout-json": {"a": {"b": [1]}}},
        "not-contains": {"not-contains": ['"c"', "hookEventName"]},
        "decision": {"decision": "deny", "reason-contains": ["why"], "context-contains": ["what"]},
        "updated-input": {"updated-input": {"command": "ls"}},
        "failure": {"failure-contains": ["timed out"]},
        "all": {
            "exit-code": 0,
            "stderr-contains": ["hookEventName", "Bash"],
            "stdout-json": {"a": {"b": [1, {"c": True}]}},
            "not-contains": ["ERROR"],
            "decision": "none",
        },
        "nothing": {},
    }
    overrides = {"overrides": {"toolName": "Bash", "toolInput.command": "ls"}}
    files = {
        f"tests/cases/{name}.yaml": case(name, input=overrides, expected=said)
        for name, said in expected.items()
    }
    write(tmp_path / "hooks", {"hooks.json": universal(pre_tool_use=command), **files})
    got = told(performed(tmp_path))
    assert got == {
        "all": "",
        "decision": "decision.yaml:1  decision: expected deny, got none; "
        "decision.yaml:1  reason-contains: 'why' is not in the reason; "
        "decision.yaml:1  context-contains: 'what' is not in the context",
        "exit-code": "exit-code.yaml:1  exit-code: expected 2, got 0",
        "failure": "failure.yaml:1  failure-contains: 'timed out' is not in what failed",
        "not-contains": "not-contains.yaml:1  not-contains: '\"c\"' is in stdout; "
        "not-contains.yaml:1  not-contains: 'hookEventName' is in stderr",
        "nothing": "",
        "stderr-contains": "stderr-contains.yaml:1  stderr-contains: 'absent' is not in stderr",
        "stdout-json": "stdout-json.yaml:1  stdout-json.a.b[1].c: expected 1, got true; "
        "stdout-json.yaml:1  stdout-json.a.x: expected null, got nothing",
        "stdout-length": "stdout-length.yaml:1  stdout-json.a.b: expected 1 elements, "
        'got 2: [1, {"c": true, "d": 2}]',
        "updated-input": "updated-input.yaml:1  updated-input: the hook did not rewrite the input",
    }


def test_a_wrong_file_is_told_with_its_place_and_the_others_run(tmp_path: Path) -> None:
    """Whatever is wrong with one file, the case beside it passes."""
    files = {
        "test-config.json": '{"version": 2,\n "timeout": 0, "env": {"A": 1}, "tiemout": 1}',
        "fixtures/list.json": "[]",
        "fixtures/unused.json": '{"a": 1,}',
        "cases/a.yaml": "name: a\nevent: pre-tool-use\nevent: stop\n",
        "cases/b.yaml": "name: [\n",
        "cases/c.yaml": "name: Bad_Name\nevnt: stop\nhook-index: -1\nagents: [nobody]\nexpected:\n"
        "  exit-code: two\n  stderr-contains: text\n  decision: block\n",
        "cases/d.yaml": "name: d\nevent: stop\ninput:\n  fixture: ../x.json\n",
        "cases/e.yaml": "name: e\nevent: stop\ninput:\n  fixture: fixtures/none.json\n",
        "cases/f.yaml": "name: f\nevent: stop\ninput:\n  fixture: fixtures/list.json\n",
        "cases/g.yaml": "name: g\nevent: no-such-event\n",
        "cases/h.yaml": "name: h\nevent: session-end\n",
        "cases/i.yaml": "name: i\nevent: stop\nhook-index: 3\n",
        "cases/j.yaml": "- name: j\n",
        "cases/k.yml": "name: k\nevent: stop\n",
        "cases/x.yaml": "name: good\nevent: stop\nexpected: {exit-code: 0}\n",
        "cases/y.yaml": "name: good\nevent: stop\n",
    }
    write(
        tmp_path / "hooks",
        {"hooks.json": universal(stop="cat >&2"), **{f"tests/{name}": text for name, text in files.items()}},
    )
    known = "name, description, event, hook-index, agents, model-answer, input, expected"
    assert told(performed(tmp_path)) == {
        "test-config.json": "tests/test-config.json:1:13: version: must be 1, not 2; "
        "tests/test-config.json:2:13: timeout: must be a number of seconds above 0, not 0; "
        "tests/test-config.json:2:23: env: must be an object of strings, not {'A': 1}; "
        "tests/test-config.json:2:34: tiemout: unknown key. Did you mean 'timeout'? "
        "Known: version, timeout, env, hooks, copy",
        "a.yaml": "tests/cases/a.yaml:3:1: event: duplicate key",
        "b.yaml": "tests/cases/b.yaml:2:1: while parsing a flow node, did not find expected node content",
        "c.yaml": "tests/cases/c.yaml:1:1: 'event' is missing; "
        "tests/cases/c.yaml:1:7: name: must be 1 to 64 of a-z, 0-9 and -, not 'Bad_Name'; "
        f"tests/cases/c.yaml:2:1: evnt: unknown key. Did you mean 'event'? Known: {known}; "
        "tests/cases/c.yaml:3:13: hook-index: must be a number from 0, or all, not -1; "
        "tests/cases/c.yaml:4:9: agents: unknown agent 'nobody'.; "
        "tests/cases/c.yaml:6:14: expected.exit-code: must be a number from 0 to 255, not 'two'; "
        "tests/cases/c.yaml:7:20: expected.stderr-contains: must be a list of strings, not 'text'; "
        "tests/cases/c.yaml:8:13: expected.decision: must be one of allow, ask, deny, none, not 'block'",
        "d.yaml": "tests/cases/d.yaml:4:12: input.fixture: must be a path inside tests/, not '../x.json'",
        "e.yaml": "tests/cases/e.yaml:4:12: input.fixture: 'fixtures/none.json' is not in tests/",
        "f.yaml": "tests/fixtures/list.json:1:1: must be an object: the event as the hook reads it",
        "g": "g.yaml:2  event: no agent or format has an event 'no-such-event'.",
        "h": "h.yaml:2  event: no hook for the event 'session-end'. Events with hooks: stop",
        "i": "i.yaml:2  event: the event 'stop' has no hook group 3. Its groups: 0",
        "j.yaml": f"tests/cases/j.yaml:1:1: must be an object with {known}",
        "k.yml": "tests/cases/k.yml: is not run: case files end in .yaml",
        "good": "",
        "y.yaml": "tests/cases/y.yaml:1:7: name: 'good' is already used in x.yaml",
        "unused.json": "tests/fixtures/unused.json:1:8: a trailing comma is not allowed in strict JSON",
    }


def test_hooks_that_cannot_be_read_fail_and_name_their_file(tmp_path: Path) -> None:
    """Without hooks no case can run, and that is no success."""
    write(tmp_path / "hooks", {"hooks.json": '{"version": 1,', "tests/cases/a.yaml": case("a")})
    (result,) = performed(tmp_path)
    assert result.status == "failed"
    assert "hooks/hooks.json:1:15:" in report.explain(result)[0]


def test_a_package_need_not_be_called_hooks(tmp_path: Path) -> None:
    """The name hooks.json is used by several formats: what it says decides whose it is."""
    write(
        tmp_path / "mine",
        {
            "hooks.json": universal(pre_tool_use="exit 2"),
            "tests/cases/a.yaml": case("a", expected={"exit-code": 2, "decision": "deny"}),
        },
    )
    assert told(performed(tmp_path)) == {"a": ""}


def test_overrides_are_dot_paths_into_objects_and_lists() -> None:
    """Missing objects are made, a list's next element is added, `\\.` is a dot in a name."""
    base = {"a": {"b": 1}, "list": [{"x": 1}, 2]}
    paths = {"a.b": 2, "a.c.d": 3, "list.0.x": 4, "list.2": 5, r"e\.f": None}
    assert apply_overrides(base, tuple((split_path(path), value) for path, value in paths.items())) == {
        "a": {"b": 2, "c": {"d": 3}},
        "list": [{"x": 4}, 2, 5],
        "e.f": None,
    }
    assert base == {"a": {"b": 1}, "list": [{"x": 1}, 2]}
    for wrong in ("a.b.c", "list.x", "list.7"):
        with pytest.raises(ValueError, match=r"cannot be set|is not an element"):
            apply_overrides(base, ((split_path(wrong), 0),))


def test_a_partial_match_is_deep_and_tells_true_from_one() -> None:
    """Objects may have more, lists may not."""
    got = {"a": [{"b": 1, "c": 2}], "d": True}
    assert list(compare_tree({"a": [{"b": 1}]}, got, "")) == []
    assert [one.field for one in compare_tree({"a": [{"b": 2}], "d": 1, "e": None}, got, "x")] == [
        "x.a[0].b",
        "x.d",
        "x.e",
    ]


class Own(NamedTuple):
    """Where a dialect has its hooks and we its tests, its event before a tool, and its words in a payload."""

    file: str
    tests: str
    event: str
    shell: str
    tool: str = "tool_name"
    input: str = "tool_input"


HOOK_FOLDER = ".agents/hooks/no-rm"
OWN = {
    "universal": Own("hooks/hooks.json", "hooks/tests", "pre-tool-use", "Bash", "toolName", "toolInput"),
    "open-plugin": Own("hooks/hooks.json", "hooks/tests", "PreToolUse", "Bash"),
    "claude-code": Own(".claude/settings.json", ".claude/tests", "PreToolUse", "Bash"),
    "gemini-cli": Own(".gemini/settings.json", "tests", "BeforeTool", "run_shell_command"),
    "cursor": Own(".cursor/hooks.json", ".cursor/tests", "preToolUse", "Shell"),
    "agent-hooks": Own(f"{HOOK_FOLDER}/HOOK.md", f"{HOOK_FOLDER}/tests", "before_tool", "Shell"),
    "canonical": Own("hooks.json", "tests", "before_tool_execute", "shell"),
}


def hooks_in(dialect: str) -> dict[str, str]:
    """The same guard, written down as each dialect does."""
    own = OWN[dialect]
    name, event, tool = own.file, own.event, own.shell
    command = {"type": "command", "command": GUARD}
    nested = {event: [{"matcher": tool, "hooks": [command]}]}
    trees: dict[str, Any] = {
        "universal": {"version": 1, "hooks": nested},
        "cursor": {"version": 1, "hooks": {event: [{"command": GUARD, "matcher": tool}]}},
        "canonical": {
            "spec": "hooks/0.1",
            "hooks": [{"event": event, "matcher": tool, "handler": command, "blocking": True}],
        },
    }
    if dialect == "agent-hooks":
        head = "---\nname: no-rm\ndescription: d\ntrigger: before_tool\nmatcher:\n  tool: Shell\n---\n"
        return {name: head, name.replace("HOOK.md", "scripts/run.sh"): f"#!/bin/sh\n{GUARD}\n"}
    if dialect == "open-plugin":
        return {name: json.dumps({"hooks": nested}), ".plugin/plugin.json": '{"name": "p"}'}
    return {name: json.dumps(trees.get(dialect, {"hooks": nested}))}


@pytest.mark.parametrize("dialect", OWN)
def test_one_case_runs_for_the_hook_alone_and_for_every_agent(dialect: str, tmp_path: Path) -> None:
    """Whatever dialect the hook is written in, and whoever fires the event."""
    own = OWN[dialect]
    event, tests = own.event, own.tests
    given = {"overrides": {own.tool: own.shell, f"{own.input}.command": "rm -rf build"}}
    expected = {"decision": "deny", "exit-code": 2, "reason-contains": ["no: rm"]}
    write(
        tmp_path,
        {
            **hooks_in(dialect),
            f"{tests}/test-config.json": '{"version": 1}',
            f"{tests}/cases/a.yaml": case("alone", event, input=given, expected=expected),
            f"{tests}/cases/b.yaml": case(
                "everywhere", event, input=given, expected=expected, agents=["all"]
            ),
        },
    )
    results = performed(tmp_path)
    assert told(results) == {"alone": "", **{f"everywhere[{agent}]": "" for agent in list_agents()}}
    answers = [one.got.answer for one in results[1:] if one.got]
    assert all(answer and "no: rm" in answer.stdout + answer.stderr for answer in answers)


def test_a_case_runs_on_a_copy_with_a_home_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a hook writes is gone, and what is not in the configuration is not in its environment."""
    monkeypatch.setenv("SECRET_TOKEN", "s3cret")
    script = 'echo "$HOME $PWD $GREETING $SECRET_TOKEN"; pwd > here; echo x > "$HOME/x"; ls "$PACKAGE_ROOT"'
    write(
        tmp_path,
        {
            "hooks/hooks.json": universal(session_start=script),
            "hooks/tests/test-config.json": '{"version": 1, "env": {"GREETING": "hello"}}',
            "hooks/tests/cases/a.yaml": case("a", "session-start", expected={"snapshot": "a"}),
            "hooks/tests/cases/b.yaml": case("b", "session-start", expected={"not-contains": ["s3cret"]}),
            "node_modules/big/x": "",
            ".git/HEAD": "",
        },
    )
    before = sorted(tmp_path.rglob("*"))
    first, second = performed(tmp_path)
    assert sorted(tmp_path.rglob("*")) == before
    assert told([first, second]) == {
        "a": "a.yaml:1  snapshot: no snapshots/a.json yet; `hookport test --update` writes it",
        "b": "",
    }
    assert second.got is not None
    assert second.got.stdout == "${HOME} ${PACKAGE_ROOT} hello \nhere\nhooks\n"
    (tests,) = find.find_suites(tmp_path)
    for _ in range(2):
        list(session.perform_all(session.list_tasks(tests), update=True))
        assert told(performed(tmp_path)) == {"a": "", "b": ""}
    kept = json.loads((tests / "snapshots/a.json").read_text())
    assert kept == {
        "decision": {"verdict": "none", "context": "${HOME} ${PACKAGE_ROOT} hello \nhere\nhooks"},
        "exit-code": 0,
        "stdout": "${HOME} ${PACKAGE_ROOT} hello \nhere\nhooks\n",
        "stderr": "",
    }
    (tests / "snapshots/a.json").write_text(json.dumps({**kept, "exit-code": 1}, indent=2) + "\n")
    (changed, _) = performed(tmp_path)
    assert "".join(report.explain(changed)).count("exit-code") == 2


def test_a_case_that_takes_too_long_is_stopped_with_all_it_started(tmp_path: Path) -> None:
    """For the hook alone and through the bridge; a hook's own time is the hook's own matter."""
    mark = tmp_path / "alive"
    hooks = json.loads(universal(pre_tool_use=f"(sleep 1; touch {mark}) & sleep 60", stop="sleep 60"))
    hooks["hooks"]["stop"][0]["hooks"][0]["timeout"] = 0.2
    late = "timeout: took longer than a case's limit of 0.5 s, and was stopped"
    write(
        tmp_path / "hooks",
        {
            "hooks.json": json.dumps(hooks),
            "tests/test-config.json": '{"version": 1, "timeout": 0.5}',
            "tests/cases/a.yaml": case("a"),
            "tests/cases/b.yaml": case("b", agents=["cursor"], input={"overrides": {"toolName": "Bash"}}),
            "tests/cases/c.yaml": case("c", "stop", expected={"failure-contains": ["timed out"]}),
            "tests/cases/d.yaml": case("d", "stop"),
        },
    )
    begun = time.monotonic()
    assert told(performed(tmp_path)) == {
        "a": f"a.yaml  {late}",
        "b[cursor]": f"b.yaml  {late}",
        "c": "",
        "d": "d.yaml  failure: hook 'hooks.stop[0].hooks[0]' failed: "
        "timed out: took longer than 0.2 s and was stopped",
    }
    assert time.monotonic() - begun < 30
    time.sleep(max(0.0, 1.5 - (time.monotonic() - begun)))
    assert not mark.exists()


def test_a_script_that_is_missing_has_not_decided(tmp_path: Path) -> None:
    """Without an exit code, an expected decision is not that of a hook that failed; with one it may be."""
    none = {"decision": "none"}
    write(
        tmp_path / "hooks",
        {
            "hooks.json": universal(pre_tool_use="./gone.sh"),
            "tests/cases/a.yaml": case("a", expected=none),
            "tests/cases/b.yaml": case(
                "b", agents=["cursor"], input={"overrides": {"toolName": "Bash"}}, expected=none
            ),
            "tests/cases/c.yaml": case("c", expected={**none, "exit-code": 127}),
            "tests/cases/d.yaml": case("d", expected={**none, "failure-contains": ["gone.sh"]}),
            "tests/cases/e.yaml": case("e"),
        },
    )
    results = performed(tmp_path)
    assert [(one.task.id, one.status) for one in results] == [
        ("a", "failed"),
        ("b[cursor]", "failed"),
        ("c", "passed"),
        ("d", "passed"),
        ("e", "passed"),
    ]
    assert "failed: exit code 127" in told(results)["a"]


def test_an_async_hook_is_waited_for_and_decides_nothing(tmp_path: Path) -> None:
    """Nothing of a case goes on after it, and what no agent hears is not a decision."""
    answer = {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny"}}
    hook = {"type": "command", "async": True, "command": f"echo '{json.dumps(answer)}'"}
    given = {"overrides": {"tool_name": "Bash", "tool_input.command": "ls"}}
    expected = {"decision": "none", "stdout-json": answer}
    write(
        tmp_path / ".claude",
        {
            "settings.json": json.dumps({"hooks": {"PreToolUse": [{"hooks": [hook]}]}}),
            "tests/test-config.json": '{"version": 1}',
            "tests/cases/a.yaml": case("a", "PreToolUse", input=given, expected=expected),
            "tests/cases/b.yaml": case(
                "b", "PreToolUse", input=given, expected=expected, agents=["claude-code", "cursor"]
            ),
        },
    )
    assert told(performed(tmp_path)) == {"a": "", "b[claude-code]": "", "b[cursor]": ""}


def test_an_interrupt_ends_the_hooks_that_run(tmp_path: Path) -> None:
    """They have process groups of their own, which the terminal's interrupt does not reach."""
    begun = tmp_path / "begun"
    write(
        tmp_path / "hooks",
        {
            "hooks.json": universal(stop=f"echo $$ > {begun}; sleep 50"),
            "tests/cases/a.yaml": case("a", "stop"),
        },
    )
    source = str(Path(__file__).parent.parent / "src")
    child = subprocess.Popen(
        [sys.executable, "-m", "hookport", "test"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": source, "HOOKPORT_CACHE_DIR": str(tmp_path / "cache")},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    until = time.monotonic() + 30
    while not (begun.exists() and begun.read_text().strip()) and time.monotonic() < until:
        time.sleep(0.02)
    child.send_signal(signal.SIGINT)
    assert child.wait(timeout=30) == 130
    with pytest.raises(ProcessLookupError):
        os.kill(int(begun.read_text()), 0)


def test_an_agent_that_lacks_the_event_is_told_and_not_counted_as_passed(tmp_path: Path) -> None:
    """Nor is one that lacks the tool, nor a hook that would ask a model."""
    hooks = json.loads(universal(notification="cat > /dev/null", pre_tool_use="cat > /dev/null"))
    read = {"toolName": "Read", "toolInput": {"file_path": "a.txt"}}
    hooks["hooks"]["stop"] = [{"hooks": [{"type": "prompt", "prompt": "done?"}]}]
    write(
        tmp_path / "hooks",
        {
            "hooks.json": json.dumps(hooks),
            "tests/cases/a.yaml": case("a", "notification", agents=["claude-code", "codex"]),
            "tests/cases/b.yaml": case("b", "stop"),
            "tests/cases/c.yaml": case(
                "c", "pre-tool-use", agents=["claude-code", "codex"], input={"overrides": read}
            ),
        },
    )
    results = performed(tmp_path)
    assert [(one.task.id, one.status, one.why) for one in results] == [
        ("a[claude-code]", "passed", ""),
        ("a[codex]", "not applicable", "no event like notification"),
        ("b", "not applicable", "the hook asks a model; script its answer with `model-answer`"),
        ("c[claude-code]", "passed", ""),
        ("c[codex]", "not applicable", "no tool like file_read"),
    ]
    assert report.sum_up_results(results) == "2 passed, 0 failed, 3 not applicable"


def test_what_an_agent_cannot_ask_it_denies_and_the_hook_still_asked(tmp_path: Path) -> None:
    """The canonical decision is compared, what the agent receives is kept beside it."""
    answer = {"hookSpecificOutput": {"permissionDecision": "ask", "permissionDecisionReason": "sure?"}}
    write(
        tmp_path / "hooks",
        {
            "hooks.json": universal(pre_tool_use=f"echo '{json.dumps(answer)}'"),
            "tests/cases/a.yaml": case(
                "a",
                agents=["windsurf"],
                input={"overrides": {"toolName": "Bash", "toolInput.command": "ls"}},
                expected={"decision": "ask", "reason-contains": ["sure?"], "stdout-json": answer},
            ),
        },
    )
    (result,) = performed(tmp_path)
    assert result.status == "passed"
    assert result.got is not None
    assert result.got.answer is not None
    assert (result.got.decision.verdict, result.got.answer.exit_code) == ("ask", 2)


def test_a_rewrite_is_compared_in_either_spelling(tmp_path: Path) -> None:
    """With the names of the hook's own dialect or the canonical ones, whoever fires the event."""
    answer = {
        "hookSpecificOutput": {
            "permissionDecision": "allow",
            "updatedInput": {"file_path": "b", "content": "c"},
        }
    }
    given = {"overrides": {"toolName": "Write", "toolInput": {"file_path": "a", "content": "c"}}}
    some = ["claude-code", "opencode", "gemini-cli"]
    write(
        tmp_path / "hooks",
        {
            "hooks.json": universal(pre_tool_use=f"echo '{json.dumps(answer)}'"),
            "tests/cases/a.yaml": case(
                "a", agents=some, input=given, expected={"updated-input": {"file_path": "b"}}
            ),
            "tests/cases/b.yaml": case("b", input=given, expected={"updated-input": {"path": "b"}}),
            "tests/cases/c.yaml": case("c", input=given, expected={"updated-input": {"path": "x"}}),
        },
    )
    assert told(performed(tmp_path)) == {
        **{f"a[{agent}]": "" for agent in some},
        "b": "",
        "c": 'c.yaml:1  updated-input.path: expected "x", got "b"',
    }


def test_groups_handlers_and_matchers(tmp_path: Path) -> None:
    """An index is one of the event's list; all handlers of a group run; alone, whatever the matcher."""
    groups = [
        {"matcher": "Read", "hooks": []},
        {
            "matcher": "Write",
            "hooks": [{"type": "command", "command": f"echo {n}; exit {n}"} for n in (0, 3, 2)],
        },
        {"matcher": "Bash", "hooks": [{"type": "command", "command": "echo '{\"n\": 4}'"}]},
    ]
    write(
        tmp_path / "hooks",
        {
            "hooks.json": json.dumps({"version": 1, "hooks": {"pre-tool-use": groups}}),
            "tests/cases/a.yaml": case("a", hook_index=1, expected={"exit-code": 2, "decision": "none"}),
            "tests/cases/b.yaml": case("b", hook_index=2, expected={"stdout-json": {"n": 4}}),
            "tests/cases/c.yaml": case(
                "c",
                hook_index="all",
                agents=["claude-code"],
                input={"overrides": {"toolName": "Bash"}},
                expected={"exit-code": 0, "stdout-json": {"n": 4}},
            ),
        },
    )
    results = performed(tmp_path)
    assert told(results) == {"a": "", "b": "", "c[claude-code]": ""}
    assert report.describe_results(results[:1]) == [
        "passed  a  (no agent would run it on this payload: the event has no tool call)"
    ]


def test_a_fixture_of_another_dialect_is_translated_for_the_hook(tmp_path: Path) -> None:
    """What an agent was seen to send is a fixture for any hook."""
    payload = {
        "session_id": "s",
        "transcript_path": "/t",
        "cwd": "/home/me",
        "permission_mode": "default",
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": "rm -rf x"},
    }
    files = {
        "hooks.json": universal(pre_tool_use='grep -q \'"hookEventName": "pre-tool-use"\' && exit 2'),
        "tests/fixtures/bash.json": json.dumps(payload),
        "tests/cases/a.yaml": case("a", input={"fixture": "fixtures/bash.json"}, expected={"exit-code": 2}),
        "tests/cases/b.yaml": case(
            "b", input={"fixture": "fixtures/bash.json", "dialect": "universal"}, expected={"exit-code": 1}
        ),
    }
    write(tmp_path / "hooks", files)
    assert told(performed(tmp_path)) == {"a": "", "b": ""}


def test_choosing_cases_and_remembering_what_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """By name, by file, until the first failure, and what failed the last time."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOOKPORT_CACHE_DIR", str(tmp_path / "cache"))
    names = [f"case-{number}" for number in range(4)]
    cases = {
        f"hooks/tests/cases/{name}.yaml": case(name, "stop", expected={"exit-code": 0}) for name in names
    }
    write(tmp_path, {"hooks/hooks.json": universal(stop="exit 0"), **cases})
    bad = case("case-1", "stop", expected={"exit-code": 1})
    write(
        tmp_path,
        {"hooks/tests/cases/case-1.yaml": bad, "hooks/tests/cases/case-3.yaml": bad.replace("-1", "-3")},
    )

    def closing(*args: str) -> tuple[int, str]:
        code, said = main(["test", *args]), capsys.readouterr()
        return code, (said.out or said.err).splitlines()[-1]

    assert closing("--last-failed", "-k", "case-0") == (0, "1 passed, 0 failed")
    assert closing("hooks", "--junit", "new/out.xml") == (1, "2 passed, 2 failed")
    assert closing("-x", "hooks/tests") == (1, "1 passed, 1 failed")
    assert closing("--last-failed") == (1, "0 passed, 2 failed")
    assert closing("hooks/tests/cases/case-2.yaml") == (0, "1 passed, 0 failed")
    write(tmp_path, {"hooks/tests/cases/case-1.yaml": cases["hooks/tests/cases/case-1.yaml"]})
    assert closing("--last-failed", "-j", "1") == (1, "1 passed, 1 failed")
    assert closing("--last-failed") == (1, "0 passed, 1 failed")
    assert closing("-k", "nothing") == (2, "error: no case has 'nothing' in its name")
    assert closing("cache")[0] == 2
    assert closing("--may-slip", "0") == (2, "error: --may-slip needs --mutate")
    suite = ET.parse(tmp_path / "new" / "out.xml").getroot()[0]
    assert {key: suite.get(key) for key in ("name", "tests", "failures", "skipped")} == {
        "name": "hooks/tests",
        "tests": "4",
        "failures": "2",
        "skipped": "0",
    }
    assert [one.get("name") for one in suite if one.find("failure") is not None] == ["case-1", "case-3"]


def run_pytest(folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    """pytest with our plugin and no other."""
    source = str(Path(__file__).parent.parent / "src")
    env = {**os.environ, "PYTHONPATH": source, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": ""}
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "hookport.testing.plugin", "-p", "no:cacheprovider", *args],
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_pytest_runs_the_same_cases(tmp_path: Path) -> None:
    """Cases, wrong files, and what does not apply."""
    shutil.copytree(SPECIFIED / "hooks", tmp_path / "hooks")
    write(
        tmp_path / "hooks/tests/cases",
        {
            "03.yaml": "name: wrong\nevent: pre-tool-use\nexpected:\n  exit-code: 7\n",
            "04.yaml": "name: [\n",
            "05.yaml": case("both", agents=["claude-code", "cline"], expected={"decision": "none"}),
        },
    )
    write(tmp_path, {"test_own.py": "def test_own():\n    pass\n"})
    done = run_pytest(tmp_path, "-rA", "-q")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "2 failed, 5 passed" in done.stdout
    assert "03.yaml:4  exit-code: expected 7, got 0" in done.stdout
    assert "04.yaml:2:1: while parsing" in done.stdout
    assert "PASSED hooks/tests/cases/05.yaml::both[cline]" in done.stdout


def test_pytest_leaves_the_files_of_others_alone(tmp_path: Path) -> None:
    """Cases of another program are not collected, and nothing of ours is loaded for them."""
    heavy = ("yaml", "hookport.agents", "hookport.testing.session")
    conftest = f"""
        import sys
        def pytest_sessionfinish():
            print("loaded:", [name for name in {heavy!r} if name in sys.modules])
    """
    write(
        tmp_path,
        {
            "conftest.py": "\n".join(line[8:] for line in conftest.splitlines()),
            "tests/cases/a.yaml": "name: a\nevent: stop\n",
            "tests/fixtures/b.json": "{",
            "tests/test_a.py": "def test_a():\n    pass\n",
        },
    )
    done = run_pytest(tmp_path, "-q", "-s")
    assert "1 passed" in done.stdout
    assert "loaded: []" in done.stdout
    write(tmp_path, {"tests/test-config.json": '{"version": 1}'})
    assert "1 passed" in run_pytest(tmp_path, "-q").stdout


@pytest.mark.parametrize(
    ("command", "printed"),
    [
        ("printf '%s|' ${PACKAGE_ROOT}/x $PACKAGE_ROOT", "/a b/x|/a b|"),
        ("printf '%s|' \"${PACKAGE_ROOT}/x\" '$PACKAGE_ROOT'", "/a b/x|$PACKAGE_ROOT|"),
        ('printf \'%s|\' \\$PACKAGE_ROOT "\\"$PACKAGE_ROOT" $PACKAGE_ROOTS', '$PACKAGE_ROOT|"/a b|'),
    ],
)
def test_the_folder_of_a_package_is_one_word(command: str, printed: str, tmp_path: Path) -> None:
    """As the plan has it, whatever the folder is called; what is quoted stays as it is."""
    write(tmp_path / "hooks", {"hooks.json": universal(stop=command)})
    (hook,) = (plan_builder.plan_entry(one) for one in load(str(tmp_path / "hooks"), None, {}).hooks)
    done = subprocess.run(
        ["sh", "-c", hook.command], env={"PACKAGE_ROOT": "/a b"}, capture_output=True, check=True, timeout=60
    )
    assert done.stdout.decode() == printed


@pytest.mark.parametrize(
    ("type_", "said", "expected"),
    [
        (
            "prompt",
            {"ok": False, "reason": "it deletes data"},
            {"decision": "deny", "reason-contains": ["data"]},
        ),
        ("prompt", {"ok": True}, {"decision": "none"}),
        ("prompt", {"decision": "ask", "reason": "sure?"}, {"decision": "ask"}),
        ("prompt", "Looks fine to me.", {"failure-contains": ["did not answer with"]}),
        ("agent", ['{"decision": "block", "reason": "no"}'], {"decision": "deny", "reason-contains": ["no"]}),
    ],
)
def test_hooks_that_ask_a_model_get_a_scripted_answer(
    type_: str, said: object, expected: dict[str, Any], tmp_path: Path
) -> None:
    hooks = {"PreToolUse": [{"hooks": [{"type": type_, "prompt": "Safe? $ARGUMENTS"}]}]}
    bash = {"tool_name": "Bash", "tool_input": {"command": "make clean"}}
    scripted: dict[str, Any] = {"model-answer": said, "input": {"overrides": bash}, "expected": expected}
    write(
        tmp_path / ".claude",
        {
            "settings.json": json.dumps({"hooks": hooks}),
            "tests/cases/a.yaml": case("a", "PreToolUse", **scripted),
            "tests/cases/b.yaml": case("b", "PreToolUse", **scripted, agents=["claude-code", "gemini-cli"]),
        },
    )
    results = list(session.perform_all(session.list_tasks(tmp_path / ".claude/tests")))
    assert told(results) == {"a": "", "b[claude-code]": "", "b[gemini-cli]": ""}


def test_scripted_answers_come_in_their_order(tmp_path: Path) -> None:
    """Of two hooks on one event, each asks by itself; the last answer stays."""
    asks = {"type": "prompt", "prompt": "Safe?"}
    listed = {"pre-tool-use": [{"hooks": [asks, asks, asks]}]}
    write(
        tmp_path / "hooks",
        {
            "hooks.json": json.dumps({"version": 1, "hooks": listed}),
            "tests/cases/a.yaml": case(
                "a",
                model_answer=[{"ok": True}, {"ok": False, "reason": "second"}],
                input={"overrides": {"toolName": "Bash", "toolInput": {"command": "ls"}}},
                expected={"decision": "deny", "reason-contains": ["second"]},
            ),
        },
    )
    (result,) = performed(tmp_path)
    assert result.differences == ()
    assert result.got
    assert sorted('"deny"' in run.result.stdout for run in result.got.runs if run.result) == [
        False,
        True,
        True,
    ]
