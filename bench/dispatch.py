"""Measure what hookport adds to one event of an agent, as ratios taken in one run on one machine.

    python bench/dispatch.py [--rounds N] [--hooks N] [--imports]

A dispatch is a fresh process each time. It is timed in turns with the hook by itself, a bare interpreter and
a hook in bash and jq, so that a busy machine slows them all alike; the median counts. `--imports` lists the
modules that a dispatch loads, the dearest first.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

SOURCE = Path(__file__).resolve().parent.parent / "src"
BRIDGE = str(SOURCE / "hookport" / "bridge.py")
SCRIPT = Path(sys.executable).with_name("hookport")
AGENT, EVENT, WORDS = "claude-code", "PreToolUse", ("dispatch", "claude-code", "PreToolUse")
MANY = 1_000
MATCHING = ("before_tool", "Shell", "")
# Trigger, tool and content pattern of hooks that do not match a shell command `ls`.
OTHERS = (
    ("before_tool", "WriteFile", ""),
    ("before_tool", "ReadFile", r"\.env$"),
    ("after_tool", "Shell", ""),
    ("after_tool", "WriteFile", r"\.py$"),
    ("session_start", "", ""),
    ("pre_stop", "", ""),
    ("before_tool", "StrReplaceFile", "TODO|FIXME"),
)
JQ = """#!/bin/bash
command=$(jq -r '.tool_input.command // ""')
[[ $command == *"rm -rf"* ]] && { echo "forbidden" >&2; exit 2; }
exit 0
"""
AIMS = "aims: a cold dispatch under twice `import json`; with 1,000 hooks within 20 % of one with 1"


class Project:
    """A project with hooks in folders of its own, and everything that hookport keeps beside it."""

    def __init__(self, folder: Path, hooks: int) -> None:
        self.root, self.name = folder / "project", f"{hooks:,} hook{'s' if hooks > 1 else ''}"
        self.script = self._hook("matching", *MATCHING)
        for number in range(hooks - 1):
            self._hook(f"other-{number}", *OTHERS[number % len(OTHERS)])
        (self.root / ".git").mkdir()
        self.cache = folder / "cache"
        names = {"HOME": "home", "XDG_CONFIG_HOME": "config", "HOOKPORT_STATE_DIR": "state"}
        self.env = {
            "PATH": os.environ.get("PATH", os.defpath),
            "PYTHONPATH": str(SOURCE),
            "HOOKPORT_CACHE_DIR": str(self.cache),
            **{name: str(folder / place) for name, place in names.items()},
        }
        self.payload = json.dumps(
            {
                "session_id": "5d4c3b2a-1f0e-4a7b-9c8d-7e6f5a4b3c2d",
                "transcript_path": str(folder / "home" / "transcript.jsonl"),
                "cwd": str(self.root),
                "permission_mode": "default",
                "hook_event_name": EVENT,
                "tool_name": "Bash",
                "tool_input": {"command": "ls -la", "description": "List the files"},
                "tool_use_id": "toolu_01ABCDEFGHJKLMNPQRSTUVWX",
            }
        ).encode()

    def _hook(self, name: str, trigger: str, tool: str, pattern: str) -> Path:
        folder = self.root / ".agents" / "hooks" / name
        (folder / "scripts").mkdir(parents=True)
        matcher = f"matcher:\n  tool: {tool}\n" if tool else ""
        matcher += f"  pattern: '{pattern}'\n" if pattern else ""
        head = f"---\nname: {name}\ndescription: one of many\ntrigger: {trigger}\n{matcher}---\n"
        (folder / "HOOK.md").write_text(f"{head}\n# {name}\n")
        script = folder / "scripts" / "run.sh"
        script.write_text("#!/bin/sh\nexit 0\n")
        script.chmod(0o755)
        return script

    def run(self, *argv: str) -> subprocess.CompletedProcess[bytes]:
        """One process that is given the payload, to its end."""
        return subprocess.run(
            argv, env=self.env, cwd=self.root, input=self.payload, capture_output=True, check=False
        )

    def dispatch(self) -> subprocess.CompletedProcess[bytes]:
        """One dispatch the quick way."""
        return self.run(sys.executable, "-I", "-S", BRIDGE, *WORDS)

    def proof(self) -> None:
        """The one hook ran and no other, and it is the second dispatch that finds a plan."""
        self.run(sys.executable, "-m", "hookport", "trust", "--yes")
        for _ in range(2):
            done = self.dispatch()
        journal = Path(self.env["HOOKPORT_STATE_DIR"]) / "journal.jsonl"
        lines = journal.read_text().splitlines() if journal.exists() else ["{}"]
        ran = [one["hook"] for one in json.loads(lines[-1]).get("hooks", ()) if one["matched"]]
        if done.returncode or ran != ["matching"]:
            raise SystemExit(f"this dispatch is not to be measured: {done}, it ran {ran}")


def say(text: str) -> None:
    """Tell how far it is."""
    print(f"==> {text}", file=sys.stderr, flush=True)


def medians(runs: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """The median time of each, taken in turns."""
    taken: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            start = time.perf_counter()
            run()
            taken[name].append(time.perf_counter() - start)
    return {name: statistics.median(times) for name, times in taken.items()}


def runs_of(one: Project, many: Project, folder: Path) -> dict[str, Callable[[], object]]:
    """What is timed, by what it is called in the table."""
    python = (sys.executable, "-I", "-S")
    runs: dict[str, Callable[[], object]] = {
        "the hook by itself": lambda: one.run(str(one.script)),
        "python -I -S -c pass": lambda: one.run(*python, "-c", "pass"),
        "python -I -S -c 'import json'": lambda: one.run(*python, "-c", "import json"),
    }
    if shutil.which("jq") and shutil.which("bash"):
        hook = folder / "jq.sh"
        hook.write_text(JQ)
        hook.chmod(0o755)
        runs["a hook in bash and jq"] = lambda: one.run(str(hook))
    for project in (one, many):
        runs[f"bridge.py dispatch, {project.name}"] = project.dispatch
    wrapped = ("wrap", "agent-hooks", AGENT, EVENT, "--", str(one.script))
    runs["bridge.py wrap"] = lambda: one.run(*python, BRIDGE, *wrapped)
    if SCRIPT.exists():
        runs["python -c 'import json'"] = lambda: one.run(sys.executable, "-c", "import json")
        runs[f"hookport dispatch, {one.name}"] = lambda: one.run(str(SCRIPT), *WORDS)
        runs["hookport wrap"] = lambda: one.run(str(SCRIPT), *wrapped)
    return runs


def rebuilt(project: Project) -> float:
    """Seconds of a dispatch that has to make the plan first."""

    def run() -> None:
        shutil.rmtree(project.cache)
        project.dispatch()

    return medians({"": run}, 3)[""]


def imports(project: Project, *args: str) -> list[tuple[int, str]]:
    """(microseconds, module) of everything that an interpreter imports to its end, the dearest first."""
    done = project.run(sys.executable, "-I", "-S", "-X", "importtime", *args)
    rows = [line.removeprefix("import time:").split("|") for line in done.stderr.decode().splitlines()]
    found = [(int(row[0]), row[2].strip()) for row in rows if len(row) == 3 and row[0].strip().isdigit()]
    return sorted(found, reverse=True)


def table(rounds: int, hooks: int = MANY, *, show_imports: bool = False) -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        say(f"making a project with 1 hook and one with {hooks:,}")
        one, many = Project(folder / "one", 1), Project(folder / "many", hooks)
        one.proof()
        many.proof()
        say(f"starting each program {rounds} times")
        runs = runs_of(one, many, folder)
        for run in runs.values():
            run()
        taken = medians(runs, rounds)
        bare, with_json = taken["the hook by itself"], taken["python -I -S -c 'import json'"]
        print(f"{'what':<44}{'ms':>9}  ratio")
        for label, seconds in taken.items():
            ratios = f"{seconds / with_json:.2f} of import json, {seconds / bare:.1f} of the hook by itself"
            print(f"{label:<44}{seconds * 1000:>9.1f}  {ratios}")
        few, lots = (taken[f"bridge.py dispatch, {project.name}"] for project in (one, many))
        print(f"{'without the hook, 1 hook':<44}{(few - bare) * 1000:>9.1f}  {(few - bare) / with_json:.2f}")
        print(f"{f'{hooks:,} hooks against 1':<44}{'':>9}  {lots / few:.2f}")
        plain = {module for _, module in imports(one, "-c", "pass")}
        loaded = [module for _, module in imports(one, BRIDGE, *WORDS) if module not in plain]
        own = [module for module in loaded if module.startswith("hookport")]
        library = sorted(set(loaded) - set(own))
        print(
            f"imported beyond a bare interpreter: {len(own)} modules of ours, {len(library)} of the library"
        )
        print(f"  {', '.join(library)}")
        say("making plans anew")
        for project in (one, many):
            print(f"{f'dispatch with a new plan, {project.name}':<44}{rebuilt(project) * 1000:>9.0f}")
        print(AIMS)
        for microseconds, module in imports(one, BRIDGE, *WORDS) if show_imports else ():
            print(f"{microseconds:>9} us  {module}")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=40, help="how often each program is started")
    parser.add_argument("--hooks", type=int, default=MANY, help="how many hooks the larger project has")
    parser.add_argument("--imports", action="store_true", help="list what a dispatch imports")
    given = parser.parse_args()
    table(given.rounds, given.hooks, show_imports=given.imports)


if __name__ == "__main__":
    main()
