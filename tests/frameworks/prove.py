"""Run every adapter in its real framework against the scripted model, and keep what was measured.

`python -m tests.frameworks.prove [NAME …] [--install] [--save] [--json]`. Each framework has a Python
environment of its own in hookport's cache, and a program in `programs/` that is started in several modes.
Every scenario of a guarded run has its control: the same calls without hooks, in which what the guard
prevents really happens.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import hookport
from hookport.lab.driver import ModelCall, ModelStep
from hookport.lab.programs import get_cache_folder
from hookport.lab.protocols import ToolResult
from hookport.lab.server import Server
from hookport.lab.stage import PROXIES
from tests.frameworks.table import FRAMEWORKS, Framework
from tests.hosting import Project

HERE = Path(__file__).parent
RESULTS = HERE / "results"
PAGE = HERE.parent.parent / "docs" / "frameworks.md"
# A run takes seconds; on a busy machine some took three minutes.
PATIENCE = 600.0
KEPT, REASON = "rm -rf", "kept by the guard"
# The folders that calls try to remove, by the scenario they stand for.
VICTIMS = ("denied", "free", "left", "crashed", "asked", "unknown", "listed", "inner/denied", "snippet")
GUARD = f"""input=$(cat)
case $input in
*'{KEPT} denied'*|*'{KEPT} left'*|*'{KEPT} unknown'*|*'{KEPT} snippet'*|*'{KEPT} listed'*|*'{KEPT} inner'*)
  echo '{REASON}' >&2; exit 2;;
*'{KEPT} crashed'*) exit 3;;
*'{KEPT} asked'*) echo '{{"decision": "ask", "reason": "sure?"}}';;
*'echo first'*) echo '{{"updated_input": {{"command": "echo second > rewritten.txt"}}}}';;
*'echo context'*) echo '{{"context": "mind the gap"}}';;
esac"""
AFTER = """input=$(cat)
case $input in
*secret-7*) echo '{"updated_result": "[hidden]"}';;
*'echo after'*) echo '{"context": "seen afterwards"}';;
esac"""
FAILED = "cat > failure.json"


class Result(NamedTuple):
    """What came of one scenario: `pass`, `fail`, or `cannot`, with the reason or the evidence."""

    result: str
    evidence: str


class Played(NamedTuple):
    """What one run of a program left behind."""

    folder: Path
    # The texts that the model got for its calls, in their order.
    answers: tuple[str, ...]
    # All that the model was sent at last.
    heard: str
    stdout: str
    stderr: str
    exit: int

    def has(self, victim: str) -> bool:
        return (self.folder / victim).is_dir()

    def answer(self, number: int) -> str:
        return self.answers[number] if number < len(self.answers) else ""


SNIPPET = "snippet of the documentation"
UNREADABLE = "arguments that are no object"
Judge = Callable[[Played], bool]


class Scenario(NamedTuple):
    """One expectation on a guarded run, and what its control must show."""

    guarded: Judge
    control: Judge


def find_python(framework: Framework) -> Path | None:
    """The interpreter that has the framework, if it was installed before."""
    folder = _find_folder(framework)
    return folder / "bin" / "python" if (folder / ".complete").exists() else None


def _find_folder(framework: Framework) -> Path:
    return get_cache_folder().parent / "frameworks" / f"{framework.name}@{framework.version}"


def install(framework: Framework) -> Path:
    """Install a framework in an environment of its own; the mark is written last."""
    folder = _find_folder(framework)
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    pip: list[str | Path] = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        folder / "bin" / "python",
        "install",
        "--quiet",
    ]
    quiet = ["--no-input", "--disable-pip-version-check"]
    subprocess.run([*pip, *quiet, "PyYAML", "rich", *framework.requirements], check=True)
    (folder / ".complete").write_text("\n".join(framework.requirements) + "\n", "utf-8")
    return folder / "bin" / "python"


def make_calls(framework: Framework) -> list[ModelStep]:
    """The conversation of the main run: one call after the other, and two at once."""
    shell, unknown = framework.shell, framework.unknown
    steps: list[Sequence[ModelCall]] = [
        [shell(f"{KEPT} denied")],
        [shell("echo first > rewritten.txt")],
        [shell("echo context")],
        [shell("echo secret-7")],
        [shell("echo after")],
        [shell(f"{KEPT} left"), shell("echo right > right.txt")],
        [shell(f"{KEPT} crashed")],
        [shell(f"{KEPT} asked")],
    ]
    if unknown:
        steps.append([unknown(f"{KEPT} unknown")])
    if framework.broken:
        steps.append([framework.broken("anything")])
    return [*(ModelStep(calls=tuple(calls)) for calls in steps), ModelStep(text="That was it.")]


# The answers of the main run by their number: the two calls at once have 5 and 6.
SCENARIOS: dict[str, Scenario] = {
    "deny": Scenario(
        lambda run: run.has("denied") and REASON in run.answer(0),
        lambda run: not run.has("denied"),
    ),
    "rewrite": Scenario(
        lambda run: _read(run, "rewritten.txt") == "second\n",
        lambda run: _read(run, "rewritten.txt") == "first\n",
    ),
    "context": Scenario(
        lambda run: "context" in run.answer(2) and "mind the gap" in run.heard,
        lambda run: "context" in run.answer(2) and "mind the gap" not in run.heard,
    ),
    "after: replace the result": Scenario(
        lambda run: "[hidden]" in run.answer(3) and "secret-7" not in run.answer(3),
        lambda run: "secret-7" in run.answer(3),
    ),
    "after: context": Scenario(
        lambda run: "after" in run.answer(4) and "seen afterwards" in run.heard,
        lambda run: "after" in run.answer(4) and "seen afterwards" not in run.heard,
    ),
    "parallel calls": Scenario(
        lambda run: (
            run.has("left")
            and _read(run, "right.txt") == "right\n"
            and any(REASON in run.answer(number) for number in (5, 6))
            and not all(REASON in run.answer(number) for number in (5, 6))
        ),
        lambda run: not run.has("left") and _read(run, "right.txt") == "right\n",
    ),
    "hook fails, on_failure: closed": Scenario(
        lambda run: run.has("crashed"), lambda run: not run.has("crashed")
    ),
    "ask without a person": Scenario(lambda run: run.has("asked"), lambda run: not run.has("asked")),
    "unknown tool": Scenario(
        lambda run: run.has("unknown") and REASON in run.answer(9), lambda run: not run.has("unknown")
    ),
    "tool failure": Scenario(
        lambda run: (
            '"event": "tool_use_failure"' in _read(run, "failure.json")
            or '"tool_use_failure"' in _read(run, "failure.json")
        ),
        lambda run: not _read(run, "failure.json"),
    ),
}


def _read(run: Played, name: str) -> str:
    file = run.folder / name
    return file.read_text("utf-8") if file.is_file() else ""


def prove(framework: Framework, python: Path, folder: Path) -> Iterator[tuple[str, Result]]:
    """Play every mode of a framework's program, and judge what happened."""
    calls: Sequence[ModelStep] = make_calls(framework)
    for mode in framework.modes:
        guarded = play(framework, python, folder / mode, [mode], calls, is_guarded=True)
        control = play(framework, python, folder / f"{mode}-control", [mode], calls, is_guarded=False)
        for name, scenario in SCENARIOS.items():
            title = name if mode == framework.modes[0] else f"{name} ({mode})"
            call = {"tool failure": framework.broken, "unknown tool": framework.unknown}.get(
                name, framework.shell
            )
            if call:
                yield title, _excuse(framework, name, _judge(scenario, guarded, control))
    if framework.unreadable:
        listed = framework.unreadable(f"{KEPT} listed")
        calls = [ModelStep(calls=(listed,)), ModelStep(text="That was it.")]
        run = play(framework, python, folder / "listed", [framework.modes[0]], calls, is_guarded=True)
        is_kept = run.has("listed") and run.exit == 0 and len(run.answers) == 1
        judged = Result("pass" if is_kept else "fail", _show(run, is_kept))
        yield UNREADABLE, _excuse(framework, UNREADABLE, judged) if run.has("listed") else judged
    for mode, (steps, expected) in framework.inner.items():
        guarded = play(framework, python, folder / mode, [mode], steps, is_guarded=True)
        control = play(framework, python, folder / f"{mode}-control", [mode], steps, is_guarded=False)
        scenario = Scenario(lambda run: run.has("inner/denied"), lambda run: not run.has("inner/denied"))
        judged = _judge(scenario, guarded, control)
        if expected and judged.result == "fail" and not guarded.has("inner/denied"):
            judged = Result("cannot", expected)
        yield mode, judged
    yield SNIPPET, prove_snippet(framework, python, folder)


def _excuse(framework: Framework, name: str, judged: Result) -> Result:
    """What a framework has no way for must be measured too."""
    reason = framework.cannot.get(name)
    if reason and judged.result == "pass":
        return Result("fail", f"it works, and the table says: {reason}")
    return Result("cannot", reason) if reason and not judged.evidence.startswith("control") else judged


def prove_snippet(framework: Framework, python: Path, folder: Path) -> Result:
    """Run the program that the documentation shows, with hooks and without."""
    text = PAGE.read_text("utf-8") if PAGE.is_file() else ""
    section = text.partition(f"\n## {framework.title}\n")[2].partition("\n## ")[0]
    snippet = section.partition("```python\n")[2].partition("```")[0]
    if not snippet:
        return Result("fail", "the documentation has no snippet")
    program = folder / "snippet.py"
    program.write_text(snippet, "utf-8")
    steps = [ModelStep(calls=(framework.shell(f"{KEPT} snippet"),)), ModelStep(text="That was it.")]
    runs = [
        play(framework, python, folder / name, ["go"], steps, is_guarded=name == "snippet", program=program)
        for name in ("snippet", "snippet-control")
    ]
    scenario = Scenario(
        lambda run: run.has("snippet") and REASON in run.answer(0), lambda run: not run.has("snippet")
    )
    return _judge(scenario, *runs)


def _judge(scenario: Scenario, guarded: Played, control: Played) -> Result:
    if not scenario.control(control):
        return Result("fail", f"control: {_show(control, is_right=False)}")
    is_right = scenario.guarded(guarded)
    return Result("pass" if is_right else "fail", _show(guarded, is_right))


def _show(run: Played, is_right: bool) -> str:
    if is_right:
        return ""
    stderr = run.stderr.strip().splitlines()[-3:]
    return f"exit {run.exit}; answers {[answer[:80] for answer in run.answers]}; {' / '.join(stderr)[-400:]}"


def play(
    framework: Framework,
    python: Path,
    folder: Path,
    arguments: Sequence[str],
    steps: Sequence[ModelStep],
    *,
    is_guarded: bool,
    program: Path | None = None,
) -> Played:
    """Run a program once in a project of its own; the model on loopback is the only network."""
    folder.mkdir(parents=True)
    project = Project(folder)
    for victim in VICTIMS:
        (project.root / victim).mkdir(parents=True)
    if is_guarded:
        project.add(GUARD, matcher="shell")
        project.add(AFTER, "after_tool_execute")
        project.add(FAILED, "tool_use_failure", blocking=False)
    file = program or HERE / "programs" / f"{framework.module}_agent.py"
    with Server(steps, framework.protocol) as model:
        environment = {
            **PROXIES,
            **project.env,
            "PATH": os.environ["PATH"],
            "PYTHONPATH": os.pathsep.join((str(Path(hookport.__file__).parents[1]), str(HERE / "programs"))),
            "PYTHONDONTWRITEBYTECODE": "1",
            "HOOKPORT_ON_FAILURE": "closed",
            "OPENAI_API_KEY": "x",
            "OPENAI_BASE_URL": f"{model.url}/v1",
            **framework.environment(model.url),
        }
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            try:
                code = subprocess.run(
                    [python, "-W", "ignore", file, *arguments],
                    cwd=project.root,
                    env=environment,
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=err,
                    timeout=PATIENCE,
                    check=False,
                ).returncode
            except subprocess.TimeoutExpired:
                code = -1
            texts = []
            for stream in (out, err):
                stream.seek(0)
                texts.append(stream.read().decode("utf-8", "replace"))
        results = [request.results for request in model.requests]
        answers: Sequence[ToolResult] = max(results, key=len, default=())
        heard = [result.text for result in answers]
        heard += [message.text for request in model.requests for message in request.texts]
    return Played(
        project.root,
        tuple(result.text for result in answers),
        "\n".join(heard),
        texts[0],
        texts[1],
        code,
    )


def measure(framework: Framework, *, is_installing: bool) -> dict[str, Any] | None:
    """Everything measured of one framework, or None where it is not installed."""
    python = install(framework) if is_installing and not find_python(framework) else find_python(framework)
    if not python:
        return None
    with tempfile.TemporaryDirectory(prefix="hookport-frameworks-") as folder:
        scenarios = dict(prove(framework, python, Path(folder)))
    return {
        "framework": framework.name,
        "title": framework.title,
        "version": framework.version,
        "packages": list(framework.requirements),
        "hookport": hookport.__version__,
        "date": dt.datetime.now(tz=dt.UTC).date().isoformat(),
        "platform": f"{platform.system()} {platform.machine()}, Python {platform.python_version()}",
        "scenarios": {
            name: {key: value for key, value in result._asdict().items() if value}
            for name, result in scenarios.items()
        },
        "around": list(framework.around),
    }


def load_results() -> list[dict[str, Any]]:
    """The results that are kept, by framework."""
    return [json.loads(path.read_text("utf-8")) for path in sorted(RESULTS.glob("*.json"))]


def save(results: Mapping[str, Any]) -> Path:
    """Keep results; those of another version go."""
    for other in RESULTS.glob(f"{results['framework']}@*.json"):
        other.unlink()
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{results['framework']}@{results['version']}.json"
    path.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", "utf-8")
    return path


def main() -> int:
    """Prove the frameworks that were named, or all."""
    parser = argparse.ArgumentParser(prog="prove-frameworks", description=__doc__)
    parser.add_argument("names", metavar="NAME", nargs="*", help=f"of: {', '.join(FRAMEWORKS)}")
    parser.add_argument("--install", action="store_true", help="Install what is not installed")
    parser.add_argument("--save", action="store_true", help="Keep the results in the source")
    parser.add_argument("--json", action="store_true", help="Print the results as JSON")
    options = parser.parse_args()
    if unknown := sorted(set(options.names) - set(FRAMEWORKS)):
        parser.error(f"unknown framework '{unknown[0]}'. Known: {', '.join(FRAMEWORKS)}")
    every = []
    for name in options.names or FRAMEWORKS:
        results = measure(FRAMEWORKS[name], is_installing=options.install)
        if results is None:
            print(f"{name}: not installed; add --install", file=sys.stderr)
            continue
        every.append(results)
        if options.save:
            save(results)
        if not options.json:
            _print(results)
    if options.json:
        print(json.dumps({"version": 1, "frameworks": every}, indent=1, ensure_ascii=False))
    failed = [one for results in every for one in results["scenarios"].values() if one["result"] == "fail"]
    return int(bool(failed) or not every)


def _print(results: Mapping[str, Any]) -> None:
    print(f"{results['title']} {results['version']}")
    for name, one in results["scenarios"].items():
        evidence = re.sub(r"\s+", " ", one.get("evidence", ""))
        print(f"  {one['result']:6}  {name}{f': {evidence}' if evidence else ''}")


if __name__ == "__main__":
    sys.exit(main())
