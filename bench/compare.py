"""Compare what events and commands cost in this checkout and in another one, case by case.

    git worktree add ../before COMMIT
    python bench/compare.py ../before [--time ROUNDS | --cpu ROUNDS] [--only WORD]

Each case is a fresh process of either checkout, on a project of its own. Instructions of user space are
counted by valgrind, the same on a busy machine as on an idle one; what a hook's own process does is not in
them. `--time` measures the elapsed time instead, and `--cpu` the CPU time, in turns, by the median.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import secrets
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

HERE = Path(__file__).resolve().parent.parent
WORDS = ("dispatch", "claude-code", "PreToolUse")
COUNTED = re.compile(rb"Collected : (\d+)")
LIMIT = 1.15
SHELL_GUARD = "#!/bin/sh\nexit 0\n"
PYTHON_GUARD = f"#!{sys.executable} -IS\nimport json, sys\njson.load(sys.stdin)\n"
COMMANDS = {
    "ls": "ls -la",
    "a pipe": "cat src/app.py | grep -n import | sort -u | head -20",
    "quotes": "grep -rn 'def main' src --include='*.py'",
    "a substitution": 'echo "on $(git rev-parse --abbrev-ref HEAD) at $(date +%s)"',
    "a here-document": "cat > notes.txt <<'EOF'\nfirst line\nsecond line\nEOF",
    "git commit": 'git add -A && git commit -m "Fix the parser (again); see #12"',
    "a loop": 'for f in src/*.py; do echo "$f"; wc -l "$f"; done',
    "python -c": 'python3 -c "import sys; print(sys.version_info[:2])"',
    "sed -i": "sed -i 's/foo/bar/g' src/app.py",
    "rm of a file": "rm -f build/output.txt && mkdir -p build/new",
    "curl": "curl -s https://example.com/api?x=1 -H 'Accept: text/plain' | jq .items[0]",
    "tests": "cd sub && python -m pytest -x -q tests/test_app.py 2>&1 | tail -20",
}
TOOLS = {
    "Write": ("Write", {"file_path": "src/new.py", "content": "print(1)\n" * 40}),
    "Edit": ("Edit", {"file_path": "src/app.py", "old_string": "import os", "new_string": "import sys"}),
    "Read": ("Read", {"file_path": "src/app.py"}),
    "an MCP call": ("mcp__github__create_issue", {"owner": "o", "repo": "r", "title": "A bug", "body": "x"}),
}
AGENT = ("--agent", "claude-code")
COMMAND_LINES = (("sync", *AGENT), ("sync", *AGENT, "--dry-run"), ("status",), ("check",), ("doctor",))
# Trigger, tool and pattern of the hooks beside the first, none of which is for a shell command.
OTHERS = (
    ("before_tool", "WriteFile", r"\.lock$"),
    ("after_tool", "Shell", ""),
    ("session_start", "", ""),
    ("before_tool", "ReadFile", r"\.env$"),
)


class Project:
    """A project of one checkout, with hooks in folders, and all that hookport keeps beside it."""

    def __init__(self, folder: Path, source: Path, hooks: int = 1, guard: str = SHELL_GUARD) -> None:
        self.source, self.root = source, folder / "project"
        self.cache = folder / "cache"
        (self.root / "src").mkdir(parents=True)
        (self.root / "sub").mkdir()
        (self.root / "src" / "app.py").write_text("import os\n")
        (folder / "home").mkdir()
        self.env = {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": str(folder / "home"),
            "PYTHONPATH": str(source),
            "HOOKPORT_CACHE_DIR": str(self.cache),
            "HOOKPORT_STATE_DIR": str(folder / "state"),
            "CLAUDE_PROJECT_DIR": str(self.root),
        }
        subprocess.run(["git", "init", "-q"], cwd=self.root, check=True)
        self._add("guard", "before_tool", "Shell", "", guard)
        for number in range(hooks - 1):
            self._add(f"other-{number}", *OTHERS[number % len(OTHERS)])
        # What git tracks need not be asked of git.
        subprocess.run(["git", "add", "-A"], cwd=self.root, check=True)

    def _add(self, name: str, trigger: str, tool: str, pattern: str, script: str = SHELL_GUARD) -> None:
        folder = self.root / ".agents" / "hooks" / name
        (folder / "scripts").mkdir(parents=True)
        matcher = f"matcher:\n  tool: {tool}\n" if tool else ""
        matcher += f"  pattern: '{pattern}'\n" if pattern else ""
        head = f"---\nname: {name}\ndescription: a hook\ntrigger: {trigger}\n{matcher}---\n"
        (folder / "HOOK.md").write_text(f"{head}\n# {name}\n")
        path = folder / "scripts" / "run.sh"
        path.write_text(script)
        path.chmod(0o755)

    def words(self, *words: str) -> list[str]:
        """A command of this checkout."""
        return [sys.executable, "-m", "hookport", *words]

    def bridge(self, *, vendored: bool = False) -> list[str]:
        """What an agent starts on an event."""
        path = self.root / ".hookport" / "bridge.pyz" if vendored else self.source / "hookport" / "bridge.py"
        return [sys.executable, "-I", "-S", str(path), *WORDS]

    def payload(self, tool: str, given: dict[str, str]) -> bytes:
        """What the agent tells of a call."""
        return json.dumps(
            {
                "session_id": "5d4c3b2a-1f0e-4a7b-9c8d-7e6f5a4b3c2d",
                "transcript_path": f"{self.env['HOME']}/transcript.jsonl",
                "cwd": str(self.root),
                "permission_mode": "default",
                "hook_event_name": WORDS[-1],
                "tool_name": tool,
                "tool_input": given,
                "tool_use_id": f"toolu_{secrets.token_hex(12)}",  # agents name each call anew
            }
        ).encode()

    def run(self, words: list[str], given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        """One process to its end."""
        return subprocess.run(
            words, env=self.env, cwd=self.root, input=given, capture_output=True, check=False
        )


class Case(NamedTuple):
    """One process to measure in a project, and what happens before it."""

    label: str
    project: str
    words: Callable[[Project], list[str]]
    given: Callable[[Project], bytes]
    before: Callable[[Project], object] = lambda _project: None


def projects(folder: Path, source: Path) -> dict[str, Project]:
    """Every project of a checkout, by its name in the cases."""
    made = {f"{count}": Project(folder / f"{count}", source, count) for count in (1, 10, 100)}
    made["python"] = Project(folder / "python", source, guard=PYTHON_GUARD)
    made["vendored"] = Project(folder / "vendored", source)
    made["unapproved"] = Project(folder / "unapproved", source)
    made["vendored"].run(made["vendored"].words("sync", "--agent", "claude-code", "--vendor"))
    for name, project in made.items():
        if name != "unapproved":
            project.run(project.words("trust", "--yes"))
    return made


def _event(label: str, project: str, tool: str, given: dict[str, str], *, vendored: bool = False) -> Case:
    return Case(
        label,
        project,
        lambda made: made.bridge(vendored=vendored),
        lambda made: made.payload(tool, {key: _full(made, key, value) for key, value in given.items()}),
    )


def _full(project: Project, key: str, value: str) -> str:
    return str(project.root / value) if key == "file_path" else value


def cases() -> Iterator[Case]:
    """Every case."""
    for label, command in COMMANDS.items():
        yield _event(f"shell guard: {label}", "1", "Bash", {"command": command})
    for label, (tool, given) in TOOLS.items():
        yield _event(f"no match: {label}", "1", tool, given)
    yield _event("Python guard: ls", "python", "Bash", {"command": "ls"})
    for count in ("10", "100"):
        for label in ("ls", "git commit"):
            yield _event(f"{count} hooks: {label}", count, "Bash", {"command": COMMANDS[label]})
        yield _event(f"{count} hooks: Write", count, *TOOLS["Write"])
    for label in ("ls", "a pipe", "git commit"):
        yield _event(f"not approved: {label}", "unapproved", "Bash", {"command": COMMANDS[label]})
    for label in ("ls", "a pipe", "git commit", "a loop"):
        yield _event(f"vendored: {label}", "vendored", "Bash", {"command": COMMANDS[label]}, vendored=True)
    yield _event("vendored: Write", "vendored", *TOOLS["Write"], vendored=True)
    for count in ("1", "100"):
        case = _event(f"new plan, {count} hooks: ls", count, "Bash", {"command": "ls"})
        yield case._replace(before=lambda made: shutil.rmtree(made.cache))
    for words in COMMAND_LINES:
        for count in ("1", "100"):
            yield _command(words, count)


def _command(words: tuple[str, ...], count: str) -> Case:
    shown = " ".join(word for word in words if word not in AGENT)
    return Case(f"{shown}, {count} hooks", count, lambda made: made.words(*words), lambda _made: b"")


def instructions(case: Case, project: Project) -> float:
    """Millions of instructions of one process."""
    with tempfile.NamedTemporaryFile() as out:
        words = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out.name}", *case.words(project)]
        case.before(project)
        done = project.run(words, case.given(project))
    found = COUNTED.search(done.stderr)
    if not found:
        raise SystemExit(f"{case.label} was not counted: {done}")
    return int(found[1]) / 1e6


def milliseconds(case: Case, project: Project) -> float:
    """How long one process takes."""
    case.before(project)
    start = time.perf_counter()
    project.run(case.words(project), case.given(project))
    return (time.perf_counter() - start) * 1_000


def cpu_milliseconds(case: Case, project: Project) -> float:
    """How much CPU time one process and its hooks take."""
    case.before(project)
    start = _cpu_seconds()
    project.run(case.words(project), case.given(project))
    return (_cpu_seconds() - start) * 1_000


def _cpu_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


Measure = tuple["Callable[[Case, Project], float]", str]


def compare(other: Path, how: Measure, rounds: int, only: str) -> None:
    """Print the table."""
    measure, unit = how
    with tempfile.TemporaryDirectory() as name:
        sides = [projects(Path(name) / "before", other / "src"), projects(Path(name) / "now", HERE / "src")]
        print(f"{'case':<34}{'before':>10}{'now':>10}  ratio   ({unit})")
        for case in cases():
            if only not in case.label:
                continue
            taken: tuple[list[float], list[float]] = ([], [])
            for turn in range(max(rounds, 1) + 1):
                for side, times in zip(sides, taken, strict=True):
                    project = side[case.project]
                    if turn:
                        times.append(measure(case, project))
                    else:
                        project.run(case.words(project), case.given(project))
            before, now = (statistics.median(times) for times in taken)
            mark = " over" if now > LIMIT * before else ""
            print(f"{case.label:<34}{before:>10.1f}{now:>10.1f}  {now / before:.3f}{mark}", flush=True)


def main() -> None:
    """Compare two checkouts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("other", type=Path, help="the checkout to compare with")
    parser.add_argument("--time", type=int, default=0, metavar="ROUNDS", help="measure the time instead")
    parser.add_argument("--cpu", type=int, default=0, metavar="ROUNDS", help="measure the CPU time instead")
    parser.add_argument("--only", default="", metavar="WORD", help="only the cases with this in their name")
    given = parser.parse_args()
    if not given.time and not given.cpu and not shutil.which("valgrind"):
        parser.error("valgrind is not installed. Try: --time 40")
    how: Measure = (instructions, "M instr.")
    if given.cpu:
        how = (cpu_milliseconds, "ms of CPU")
    elif given.time:
        how = (milliseconds, "ms")
    compare(given.other.resolve(), how, given.cpu or given.time, given.only)


if __name__ == "__main__":
    main()
