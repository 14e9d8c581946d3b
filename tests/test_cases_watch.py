"""`hookport test` beside an editor: run again after a change, and name a dependency that is not copied."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Queue

import pytest

from hookport.testing import report, session, watch

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the hooks are scripts of a shell")

LONG = 60
HOOKS = """{"version": 1, "hooks": {"pre-tool-use": [
  {"matcher": "Bash", "hooks": [{"type": "command", "command": "%s"}]}
]}}"""
CASE = """name: one
event: pre-tool-use
input: {overrides: {toolName: Bash, toolInput: {command: ls}}}
expected: {exit-code: %s}
"""


def write_package(root: Path, command: str, script: str = "", code: int = 0) -> Path:
    """A package with one hook and one case."""
    tests = root / "hooks" / "tests"
    (tests / "cases").mkdir(parents=True)
    (root / "hooks" / "hooks.json").write_text(HOOKS % command)
    (root / "hooks" / "guard").write_text(script)
    (tests / "cases" / "one.yaml").write_text(CASE % code)
    return tests


class Lines:
    """What a program prints, each line as soon as it is there."""

    def __init__(self, program: subprocess.Popen[str]) -> None:
        self.program = program
        self.queue: Queue[str] = Queue()
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def _read(self) -> None:
        assert self.program.stdout is not None
        for line in self.program.stdout:
            self.queue.put(line.rstrip("\n"))

    def close(self) -> None:
        self.program.kill()
        self.program.wait()
        self.thread.join(LONG)
        assert self.program.stdout is not None
        self.program.stdout.close()

    def until(self, text: str) -> list[str]:
        """The lines up to one that has the text."""
        lines = [self.queue.get(timeout=LONG)]
        while text not in lines[-1]:
            lines.append(self.queue.get(timeout=LONG))
        return lines


@contextmanager
def watching(root: Path, *words: str) -> Iterator[Lines]:
    """`hookport test --watch`, ended by an interrupt as a person does, whatever comes."""
    command = [sys.executable, "-m", "hookport", "test", "--watch", *words]
    program = subprocess.Popen(
        command,
        cwd=root,
        env={**os.environ, "HOME": str(root.parent), "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    lines = Lines(program)
    try:
        yield lines
    finally:
        lines.close()


def test_a_change_of_hook_or_case_runs_the_cases_again(tmp_path: Path) -> None:
    root = tmp_path / "package"
    tests = write_package(root, "sh ${PACKAGE_ROOT}/hooks/guard", "exit 0\n")
    with watching(root) as lines:
        assert "1 passed, 0 failed" in lines.until("watching")
        (root / "hooks" / "guard").write_text("exit 2\n")
        assert "changed: hooks/guard" in (again := lines.until("watching"))
        assert "0 passed, 1 failed" in again
        (tests / "cases" / "one.yaml").write_text(CASE % 2)
        assert "1 passed, 0 failed" in lines.until("watching")
        (tests / "cases" / "one.yaml").write_text("name: [")
        assert "0 passed, 1 failed" in lines.until("watching")
        (tests / "cases" / "one.yaml").unlink()
        assert any("no cases" in line for line in lines.until("watching"))
        (tests / "cases" / "two.yaml").write_text(CASE % 2)
        assert "1 passed, 0 failed" in lines.until("watching")
        lines.program.send_signal(signal.SIGINT)
        assert lines.program.wait(LONG) == 0


def test_an_interrupt_during_a_run_is_one(tmp_path: Path) -> None:
    root = tmp_path / "package"
    write_package(root, "sh ${PACKAGE_ROOT}/hooks/guard", f"touch {tmp_path}/started; exec sleep {LONG}\n")
    with watching(root) as lines:
        while not (tmp_path / "started").exists():
            assert lines.program.poll() is None
            time.sleep(watch.POLL_SECONDS / 10)
        lines.program.send_signal(signal.SIGINT)
        assert lines.program.wait(LONG) == 130


@pytest.mark.parametrize("option", ["--json", "--update"])
def test_what_cannot_be_watched_is_refused(option: str, tmp_path: Path) -> None:
    write_package(tmp_path, "true")
    command = [sys.executable, "-m", "hookport", "test", "--watch", option]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=LONG, check=False)
    told = json.loads(done.stdout)["exit_code"] if option == "--json" else done.stdout
    assert (done.returncode, told) == (2, 2 if option == "--json" else "")
    assert f"--watch cannot be used with {option}" in done.stderr


def test_dependencies_and_named_files_are_not_watched(tmp_path: Path) -> None:
    for name in ("kept", "node_modules/left", "junit.xml"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert list(watch.trace_files([tmp_path], {f"{tmp_path}/junit.xml"})) == [f"{tmp_path}/kept"]


NEEDING = {
    "node, CommonJS": ("node ${PACKAGE_ROOT}/hooks/guard", 'require("words")', "node"),
    "node, a scope": ("node ${PACKAGE_ROOT}/hooks/guard", 'require("@our/words/more.js")', "node"),
    "node, ES module": (
        'node --input-type=module --eval \\"$(cat ${PACKAGE_ROOT}/hooks/guard)\\"',
        'import "words"',
        "node",
    ),
    "a program of npm": ("${PACKAGE_ROOT}/node_modules/.bin/words", "", "sh"),
    "python": (
        "PYTHONPATH=${PACKAGE_ROOT}/.venv/lib/python3/site-packages python3 ${PACKAGE_ROOT}/hooks/guard",
        "import words.more",
        "python3",
    ),
    "python of a virtual environment": ("${PACKAGE_ROOT}/.venv/bin/words", "", "sh"),
}


@pytest.mark.parametrize("kind", NEEDING)
def test_a_failure_names_the_dependency_that_is_not_copied(kind: str, tmp_path: Path) -> None:
    """The setting that it asks for is the one that mends it."""
    command, script, program = NEEDING[kind]
    if not shutil.which(program):
        pytest.skip(f"there is no {program}")
    files = {
        "node_modules/words/index.js": "",
        "node_modules/@our/words/more.js": "",
        "node_modules/.bin/words": "#!/bin/sh\n",
        ".venv/lib/python3/site-packages/words/__init__.py": "",
        ".venv/lib/python3/site-packages/words/more.py": "",
        ".venv/bin/words": "#!/bin/sh\n",
    }
    root = tmp_path / "package"
    tests = write_package(root, command, script)
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
        (root / name).chmod(0o755)
    (result,) = session.perform_all(session.list_tasks(tests))
    assert result.status == "failed"
    advice = report.find_hint(result)
    assert f"hint: {advice}" in report.explain(result)
    assert advice.endswith("to test-config.json")
    setting = advice.partition("Add ")[2].removesuffix(" to test-config.json")
    (tests / "test-config.json").write_text(f'{{"version": 1, {setting}}}')
    (result,) = session.perform_all(session.list_tasks(tests))
    assert result.status == "passed", report.explain(result)


@pytest.mark.parametrize("script", ['require("absent")', "process.exit(1)", 'throw Error("node_modules/x")'])
def test_other_failures_have_no_such_hint(script: str, tmp_path: Path) -> None:
    if not shutil.which("node"):
        pytest.skip("there is no node")
    tests = write_package(tmp_path / "package", "node ${PACKAGE_ROOT}/hooks/guard", script)
    (tmp_path / "package" / "node_modules" / "words").mkdir(parents=True)
    (result,) = session.perform_all(session.list_tasks(tests))
    assert (result.status, report.find_hint(result)) == ("failed", "")
