"""Adapters for agent frameworks: what they share, and one run of each whose framework is installed."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import logging
import os
import re
import sys
import tomllib
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import hookport.adapters
from hookport.adapters.guard import DECLINED, NOBODY, STOP, Guard, Permit, as_json, read_arguments
from hookport.host import AsyncHost, Outcome
from hookport.lab.driver import ModelStep
from tests.frameworks import prove
from tests.frameworks.table import FRAMEWORKS, Framework
from tests.hosting import Project

pytestmark = pytest.mark.skipif(os.name == "nt", reason="hooks here are shell scripts")

ROOT = Path(__file__).parent.parent
ADAPTERS = Path(hookport.adapters.__file__).parent
LONGEST_ADAPTER = 110


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def answer(**fields: Any) -> str:
    return f"cat > /dev/null; echo '{json.dumps(fields)}'"


def run_both(guard: Guard, arguments: object, tool: str = "run_shell") -> list[Any]:
    """What the model gets without and with an event loop, and what the tool got each time."""
    got: list[Any] = []

    def call(given: dict[str, Any]) -> str:
        got.append(given)
        return "done"

    async def call_async(given: dict[str, Any]) -> str:
        return call(given)

    texts = [guard.run(tool, arguments, call), asyncio.run(guard.run_async(tool, arguments, call_async))]
    return [*texts, *got]


def test_a_denied_tool_does_not_run_and_another_does(project: Project) -> None:
    project.add('grep -q "rm -rf" && { echo no deleting >&2; exit 2; }; exit 0')
    guard = Guard(project.host())
    assert run_both(guard, {"command": "rm -rf x"}) == ["Denied: no deleting"] * 2
    given = {"command": "ls"}
    assert run_both(guard, given) == ["done", "done", given, given]
    assert run_both(guard, json.dumps(given)) == ["done", "done", given, given]


def test_a_tool_that_the_host_does_not_know_is_judged_too(project: Project) -> None:
    project.add("echo not here >&2; exit 2", matcher="shell")
    assert run_both(Guard(project.host()), {"command": "ls"}, "execute") == ["Denied: not here"] * 2


def test_a_rewrite_is_what_runs(project: Project) -> None:
    project.add(answer(updated_input={"command": "ls -la"}))
    got = run_both(Guard(project.host()), {"command": "ls", "limit": 5})
    assert got == ["done", "done"] + [{"command": "ls -la", "limit": 5}] * 2


def test_context_of_both_sides_follows_the_result(project: Project) -> None:
    project.add(answer(context="before"))
    project.add(answer(context="after"), "after_tool_execute")
    assert run_both(Guard(project.host()), {"command": "ls"})[:2] == ["done\n\nbefore\n\nafter"] * 2


def test_a_result_is_replaced_or_stays_the_same_object(project: Project) -> None:
    project.add('grep -q secret && echo \'{"updated_result": "[hidden]"}\'; exit 0', "after_tool_execute")
    guard = Guard(project.host())
    result = [Decimal(1)]
    assert guard.after("run_shell", Permit(), result) is result
    assert guard.after("run_shell", Permit(), ["secret"]) == "[hidden]"


def test_texts_find_a_place_in_results_of_any_shape(project: Project) -> None:
    project.add(answer(context="mind the gap"), "after_tool_execute")
    guard = Guard(project.host())
    results: list[Any] = ["text", {"a": 1}, {"hooks": 1}, [{"type": "text", "text": "a"}], [1, 2], None]
    assert [guard.after("run_shell", Permit(), result) for result in results] == [
        "text\n\nmind the gap",
        {"a": 1, "hooks": "mind the gap"},
        '{"hooks": 1}\n\nmind the gap',
        [{"type": "text", "text": "a"}, {"type": "text", "text": "mind the gap"}],
        "[1, 2]\n\nmind the gap",
        "null\n\nmind the gap",
    ]


def test_the_end_of_the_loop_is_a_refusal_before_and_a_text_after(project: Project) -> None:
    project.add(answer(**{"continue": False, "reason": "enough"}), "after_tool_execute")
    project.add('grep -q stop && echo \'{"continue": false, "stop_reason": "enough"}\'; exit 0')
    guard = Guard(project.host())
    permit = guard.before("run_shell", {"command": "stop"})
    assert (bool(permit.refusal), permit.is_last) == (True, True)
    assert STOP in guard.after("run_shell", Permit(), "done")


def test_ask_needs_a_person_who_agrees(project: Project) -> None:
    project.add(answer(decision="ask", reason="sure?"))
    asked: list[Outcome] = []

    def agree(outcome: Outcome) -> bool:
        asked.append(outcome)
        return True

    async def agree_async(outcome: Outcome) -> bool:
        return True

    given = {"command": "ls"}
    assert run_both(Guard(project.host()), given) == [f"Denied: {NOBODY}\n\nsure?"] * 2
    assert run_both(Guard(project.host(), lambda _: False), given) == [f"Denied: {DECLINED}\n\nsure?"] * 2
    # Whatever is no true is no agreement.
    assert run_both(Guard(project.host(), lambda _: "y"), given)[0] == f"Denied: {DECLINED}\n\nsure?"  # type: ignore[arg-type,return-value]
    assert run_both(Guard(project.host(), agree), given) == ["done", "done", given, given]
    assert [outcome.reason for outcome in asked] == ["sure?", "sure?"]
    guard = Guard(project.host(), agree_async)
    assert asyncio.run(guard.before_async("run_shell", given)) == Permit(input=given)
    with pytest.raises(TypeError, match="no event loop"):
        guard.before("run_shell", given)


def test_a_hook_that_fails_denies_where_failures_do(project: Project) -> None:
    project.add("exit 3")
    assert run_both(Guard(project.host()), {"command": "ls"})[:2] == ["done"] * 2
    closed = run_both(Guard(project.host(on_failure="closed")), {"command": "ls"})
    assert [text.partition(":")[0] for text in closed] == ["Denied"] * 2


@pytest.mark.parametrize(
    "arguments", ["[1]", '"ls"', "{", "{'a': 1}", '{"command": NaN}', [1], 5, {"command": {1: 2}.keys, 3: 4}]
)
def test_arguments_that_are_no_json_object_do_not_run(project: Project, arguments: object) -> None:
    got = run_both(Guard(project.host()), arguments)
    assert len(got) == 2
    assert all("did not run" in text for text in got)


def test_arguments_that_hooks_cannot_see_whole_do_not_run(project: Project) -> None:
    """A tool would get the part that no hook was shown."""
    deep: Any = "rm -rf build"
    for _ in range(95):
        deep = [deep]
    itself: dict[str, Any] = {}
    itself["again"] = itself
    for hidden in (deep, itself, {1: "ls", "1": "rm -rf build"}):
        refusal = read_arguments({"command": hidden})
        assert isinstance(refusal, str)
        assert "cannot be judged, so it did not run" in refusal
        assert run_both(Guard(project.host()), {"command": hidden}) == [refusal, refusal]


def test_no_arguments_are_an_empty_object() -> None:
    nothings: list[object] = ["", " ", None, {}, b"{}"]
    assert [read_arguments(nothing) for nothing in nothings] == [{}] * 5


@dataclass
class Point:
    x: int


class Model:
    def model_dump(self) -> dict[str, Any]:
        return {"point": Point(1)}


def test_any_value_has_a_form_in_json() -> None:
    around: list[Any] = [1]
    around.append(around)
    values = {
        "own": Model(),
        "set": {Path("a")},
        "nan": float("nan"),
        "big": 10**5000,
        "bytes": b"\xff",
        "half": "a\ud800",
        "type": Model,
        "around": around,
        3: (),
    }
    shown = as_json(values)
    assert shown["own"] == {"point": {"x": 1}}
    assert (shown["set"], shown["nan"], shown["around"], shown["3"]) == (["a"], "nan", [1, "…"], [])
    assert json.loads(json.dumps(shown)) == shown


def test_a_tool_gets_its_own_objects_back_but_for_what_a_hook_changed(project: Project) -> None:
    project.add(answer(updated_input={"limit": 2}))
    given = {"path": Path("a"), "limit": 5, "flag": True}
    permit = Guard(project.host()).before("run_shell", {"command": "ls", **given})
    applied = permit.apply({"command": "ls", **given})
    assert applied == {"command": "ls", "path": Path("a"), "limit": 2, "flag": True}
    assert applied["path"] is given["path"]
    # In Python 1 and true are equal.
    assert Permit(input={"flag": 1}).apply({"flag": True})["flag"] is not True


def test_a_failure_of_the_tool_is_told_and_raised(project: Project, tmp_path: Path) -> None:
    project.add(f"cat >> {tmp_path}/seen; echo >> {tmp_path}/seen", "tool_use_failure", blocking=False)
    guard = Guard(project.host())

    def fail(given: dict[str, Any]) -> None:
        raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        guard.run("run_shell", {"command": "ls"}, fail)
    with pytest.raises(OSError, match="gone"):
        asyncio.run(guard.run_async("run_shell", {"command": "ls"}, fail))
    seen = [json.loads(line) for line in (tmp_path / "seen").read_text("utf-8").splitlines() if line]
    assert [(event["event"], event["tool_error"]) for event in seen] == [("tool_use_failure", "gone")] * 2


def test_hooks_that_nobody_approved_are_named_in_the_log(
    project: Project, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.add("exit 2")
    project.write(project.root / ".hookport" / "hook-0.sh", "exit 2 # changed")
    said: list[str] = []
    monkeypatch.setattr(
        logging.getLogger("hookport"), "warning", lambda text, *words: said.append(text % words)
    )
    permit = Guard(project.host()).before("run_shell", {"command": "ls"})
    assert permit.refusal.startswith("Denied: ") or any("hook-0" in text for text in said)


def test_both_hosts_are_one(project: Project) -> None:
    host = project.async_host()
    assert host.as_blocking().session == host.session == host.as_async().session
    assert isinstance(host.as_blocking().as_async(), AsyncHost)
    assert host.as_blocking().before_tool("run_shell", {"command": "ls"}).verdict == "none"


def test_permits_are_kept_until_the_call_is_over(project: Project) -> None:
    guard = Guard(project.host())
    guard.keep("a", Permit(context="x"))
    assert (guard.take("a"), guard.take("a")) == (Permit(context="x"), None)


# Each framework


def is_installed(framework: Framework) -> bool:
    for name in framework.imports:
        try:
            if importlib.util.find_spec(name) is None:
                return False
        except ModuleNotFoundError:
            return False
    return True


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_the_framework_is_guarded(name: str, tmp_path: Path) -> None:
    """One call is denied, and another of the same tool runs. `make prove-frameworks` has every framework."""
    framework = FRAMEWORKS[name]
    if not is_installed(framework):
        pytest.skip(f"{framework.title} is not installed")
    calls = [framework.shell("rm -rf denied"), framework.shell("rm -rf free")]
    steps = [*(ModelStep(calls=(call,)) for call in calls), ModelStep(text="That was it.")]
    played = prove.play(
        framework, Path(sys.executable), tmp_path / "run", [framework.modes[0]], steps, is_guarded=True
    )
    assert (played.exit, played.has("denied"), played.has("free")) == (0, True, False), played.stderr
    assert prove.REASON in played.answer(0)


def test_every_adapter_is_in_the_table_and_small() -> None:
    modules = {path.stem: path for path in ADAPTERS.glob("*.py") if path.stem not in ("__init__", "guard")}
    assert set(modules) == {framework.module for framework in FRAMEWORKS.values()}
    lines = {name: len(path.read_text("utf-8").splitlines()) for name, path in modules.items()}
    assert {name: count for name, count in lines.items() if count > LONGEST_ADAPTER} == {}


def test_every_framework_is_measured_and_nothing_fails() -> None:
    results = {one["framework"]: one for one in prove.load_results()}
    assert set(results) == set(FRAMEWORKS)
    for name, one in results.items():
        framework = FRAMEWORKS[name]
        assert one["version"] == framework.version
        assert {title: each for title, each in one["scenarios"].items() if each["result"] == "fail"} == {}
        wanted = {*prove.SCENARIOS, *framework.inner, prove.SNIPPET}
        wanted -= set() if framework.unknown else {"unknown tool"}
        assert wanted <= set(one["scenarios"])
        assert tuple(one["around"]) == framework.around


def test_every_framework_is_an_extra_and_documented() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    pages = {
        name: (ROOT / "docs" / f"{name}.md").read_text("utf-8") for name in ("frameworks", "dependencies")
    }
    for name, framework in FRAMEWORKS.items():
        package = re.split(r"[\[<>=]", framework.requirements[0])[0]
        assert [re.split(r"[\[<>=]", needed)[0] for needed in extras[name]] == [package]
        assert f"`hookport[{name}]`" in pages["frameworks"]
        assert f"\n## {framework.title}\n" in pages["frameworks"]
        assert f"| `{package}` | `{name}` |" in pages["dependencies"]
