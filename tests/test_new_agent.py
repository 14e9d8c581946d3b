"""An agent is one source file and one folder of test data: every test finds both, nothing else changes."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import hookport

TESTS = Path(__file__).parent
ROOT, SOURCE = TESTS.parent, Path(hookport.__file__).parents[1]
AGENT, PACKAGE, DATA = "my-agent", TESTS / "packages" / "my-agent", TESTS / "packages" / "my_agent_data"
# Commands that start with an environment of their own see no package that is not installed.
CHOSEN = f"{AGENT} and not command_line"
# What is asked of every agent, and how many of the cases are about this one at least.
ASKED = {
    "test_vectors.py": 5,
    "test_wire_vectors.py": 4,
    "test_wires.py": 2,
    "test_laws.py": 8,
    "test_facts.py": 1,
    "test_matrix.py": 4,
    "test_runtime_matrix.py": 4,
}
# What `make docs` writes, and what is written for people about one agent.
GENERATED = re.compile(
    r"docs/(dialects/[\w-]+\.md|(matrix|conformance|findings|cli)\.(md|html))|schemas/[\w-]+(\.[\w-]+)*\.json"
    r"|README\.md"
)

# What an agent needed besides, and why it is no fact of that agent alone.
SHARED = {
    ("amp", "tests/test_generated_amp.py"): "its plugin answers a host of its own",
    ("codebuddy", "src/hookport/wire/obeyed.py"): "an answer with a verdict may beat a denying exit code",
    ("omp", "src/hookport/lab/driver.py"): "programs may run on Bun",
    ("omp", "src/hookport/lab/programs.py"): "programs may run on Bun",
    ("omp", "tests/test_native_answers.py"): "an agent whose hooks are modules is told by its files",
    ("omp", "tests/test_prove_drivers.py"): "settings may be in a .yml file",
}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The tests as they are, with a folder more."""
    left_out = shutil.ignore_patterns("agents", "packages", "__pycache__", ".*")
    shutil.copytree(TESTS, tmp_path / "tests", symlinks=True, ignore=left_out)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    (tmp_path / "tests" / "agents").mkdir()
    for folder in (TESTS / "agents").iterdir():
        (tmp_path / "tests" / "agents" / folder.name).symlink_to(folder)
    shutil.copytree(DATA, tmp_path / "tests" / "agents" / AGENT.replace("-", "_"))
    return tmp_path


def test_one_source_file_and_one_folder_are_all_that_a_new_agent_needs(checkout: Path) -> None:
    """Vectors, wire facts, laws and pairs run for it, of the tests that run for every agent."""
    path = os.pathsep.join(map(str, (PACKAGE, SOURCE)))
    words = ["-n0", "-rp", "-p", "no:cacheprovider", "-k", CHOSEN, *(f"tests/{name}" for name in ASKED)]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *words],
        cwd=checkout,
        env={**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr
    passed = Counter(re.findall(r"^PASSED tests/(\w+\.py)::", done.stdout, re.MULTILINE))
    assert [name for name, least in ASKED.items() if passed[name] < least] == [], passed


def list_strays(agent: str, paths: list[str]) -> list[str]:
    """What a commit that adds an agent touches besides its source, its data and generated pages."""
    name = agent.replace("-", "_")
    own = re.compile(
        rf"src/hookport/agents/({name}\.py|templates/{name}[./].*)|tests/agents/{name}/.*"
        rf"|src/hookport/lab/drivers/_?{name}\w*\.\w+|CHANGELOG\.md"
    )
    return [
        path
        for path in paths
        if not own.fullmatch(path) and not GENERATED.fullmatch(path) and (agent, path) not in SHARED
    ]


def run_git(*words: str) -> list[str]:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False, timeout=60)
    return done.stdout.splitlines() if done.returncode == 0 else []


def test_a_commit_that_adds_an_agent_touches_nothing_else() -> None:
    """Of those since this test was there; a checkout without its history has none to show."""
    strays: dict[tuple[str, str], list[str]] = {}
    added = run_git("log", "--no-merges", "--diff-filter=A", "--format=%H", "--", "src/hookport/agents/*.py")
    for commit in added:
        if not run_git("cat-file", "-t", f"{commit}^:tests/test_new_agent.py"):
            continue
        paths = run_git("show", "--format=", "--name-only", commit)
        new = run_git("show", "--format=", "--name-only", "--diff-filter=A", commit)
        names = [Path(path).stem for path in new if re.fullmatch(r"src/hookport/agents/[a-z]\w*\.py", path)]
        strays |= {(commit, name): found for name in names if (found := list_strays(name, paths))}
    assert strays == {}


def test_what_belongs_to_an_agent_is_told_from_what_does_not() -> None:
    own = [
        "src/hookport/agents/my_agent.py",
        "src/hookport/agents/templates/my_agent.ts",
        "src/hookport/lab/drivers/my_agent.py",
        "tests/agents/my_agent/vectors.yaml",
        "tests/agents/my_agent/payloads/tool.before.run.json",
        "docs/dialects/my-agent.md",
        "docs/dialects/index.md",
        "docs/matrix.md",
        "schemas/test-case.schema.json",
        "README.md",
        "CHANGELOG.md",
    ]
    others = [
        "src/hookport/agents/cursor.py",
        "src/hookport/lab/drivers/cursor.py",
        "src/hookport/wire/table.py",
        "tests/agents/my_agents/vectors.yaml",
        "tests/test_laws.py",
        "docs/authoring.md",
    ]
    assert list_strays("my-agent", [*own, *others]) == others
