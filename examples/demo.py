"""The main job in one run: a guard written for one agent, at work in every agent, converted and installed.

Run it with `make demo`. The written files are in `demo-output/`, one folder per dialect; the sample project
with hooks installed is `demo-output/project`, and nothing outside `demo-output` is touched. What it shows
comes from commands that anybody may run, and from `hookport.host`.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from hookport.host import Host

EXAMPLES = Path(__file__).parent
SOURCE = EXAMPLES / "guard"
TESTED = EXAMPLES / "protect-secrets-shell"
OUTPUT = Path("demo-output")
DANGEROUS, HARMLESS = "rm -rf build", "ls"
LONGEST_CELL = 60


def main() -> None:
    """Run the guard for every agent, convert it for each, and say where the files are."""
    if not shutil.which("jq"):
        sys.exit("the guard of this example uses jq, which is not installed. Try: apt install jq")
    shutil.rmtree(OUTPUT, ignore_errors=True)
    OUTPUT.mkdir()
    agents = [
        dialect["id"]
        for dialect in json.loads(run("dialects", "--json"))["dialects"]
        if dialect["kind"] == "agent"
    ]
    guard_every_agent(agents)
    convert(agents)
    install()
    embed()
    test()


def run(*words: str, cwd: Path | None = None, given: object = None, shown: bool = False) -> str:
    """Run a command of hookport that touches nothing of the user's; its stdout, or with `shown` both."""
    done = subprocess.run(
        [sys.executable, "-m", "hookport", *words],
        cwd=cwd,
        env={"PATH": os.environ["PATH"], "HOME": str((OUTPUT / "home").resolve())},
        input=json.dumps(given),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode > 1 or (shown and done.returncode):
        sys.exit(done.stdout + done.stderr)
    return done.stdout + done.stderr if shown else done.stdout


def print_table(rows: list[tuple[str, ...]]) -> None:
    """Print rows in columns, the first as their heads."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        print("  ".join(cells).rstrip())
    print()


def guard_every_agent(agents: list[str]) -> None:
    """Run the unchanged script on the shell event of every agent, and show what each agent receives."""
    script = SOURCE / ".claude" / "hooks" / "guard.sh"
    print(f"A guard for Claude Code ({SOURCE.name}/.claude/hooks/{script.name}), as it is:\n")
    print("".join(f"    {line}\n" for line in script.read_text("utf-8").splitlines()))
    print("Each agent fires its own event; the guard is handed the one it was written for.\n")
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        rows = list(pool.map(judge, agents))
    print_table([("agent", "event", DANGEROUS, HARMLESS, "the agent receives"), *rows])


def judge(agent: str) -> tuple[str, ...]:
    """What `hookport run` gives for a dangerous and a harmless command in an agent."""
    denied, passed = (ask(agent, command) for command in (DANGEROUS, HARMLESS))
    answer = denied["answer"]
    text = (answer["stdout"] or answer["stderr"]).strip()
    stream = "stdout" if answer["stdout"].strip() else "stderr"
    text = text if len(text) <= LONGEST_CELL else f"{text[: LONGEST_CELL - 1]}…"
    receives = f"exit {answer['exit_code']}, {stream}: {text}"
    verdicts = [one["decision"]["verdict"].replace("none", "no opinion") for one in (denied, passed)]
    return agent, denied["event"]["native"], *verdicts, receives


def ask(agent: str, command: str) -> dict[str, Any]:
    """The decision on a command, and the answer in the terms of an agent."""
    payload = {
        "hook_event_name": "PreToolUse",
        "session_id": "s1",
        "cwd": str(SOURCE.resolve()),
        "tool_name": "Bash",
        "tool_input": {"command": command},
    }
    decided: dict[str, Any] = json.loads(
        run("run", str(SOURCE), "--payload", "-", "--agent", agent, "--json", given=payload)
    )
    return decided


def convert(agents: list[str]) -> None:
    """Convert the hooks to every dialect, and count what changes."""
    print("And as files, one folder per dialect:\n")
    results = json.loads(run("convert", str(SOURCE), "--to", "all", "--json"))["conversions"]
    run("convert", str(SOURCE), "--to", "all", "-o", str(OUTPUT))
    rows = []
    for result in results:
        if result["to"] in agents:
            counts = Counter(finding["severity"] for finding in result["findings"])
            paths = [file["path"] for file in result["files"]]
            files = " ".join(paths[:2]) + " …" * (len(paths) > 2)
            rows.append((result["to"], str(counts["loss"]), str(counts["error"]), files))
    print_table([("agent", "losses", "errors", f"written to {OUTPUT}/AGENT/"), *rows])
    print("Every change has a finding; these are the losses of one agent:\n")
    lossy = (
        result
        for result in results
        if result["to"] in agents and any(one["severity"] != "note" for one in result["findings"])
    )
    example = next(lossy)
    for finding in example["findings"]:
        if finding["severity"] != "note":
            print(
                f"  {finding['severity']} {finding['code']} {finding['where']}\n        {finding['message']}"
            )
    print(f"\nAll findings: .venv/bin/hookport convert examples/{SOURCE.name} --to {example['to']}")


def install() -> None:
    """Install the same hooks in a sample project for three agents, approve them, and show `status`."""
    project = OUTPUT / "project"
    shutil.copytree(SOURCE, project)
    for folder in (".git", ".codex", ".cursor", ".gemini"):
        (project / folder).mkdir()
    print(f"\nInstalled in a sample project that three more agents use ({project}):")
    for words, shown in ((["sync"], 0), (["trust", "--yes"], 2), (["status"], 0)):
        print(f"\n$ hookport {' '.join(words)}")
        lines = run(*words, cwd=project, shown=True).splitlines()
        if shown:
            print(f"  … ({len(lines) - shown} lines: what each hook runs)")
        print("\n".join(lines[-shown:]))


def embed() -> None:
    """Ask the installed hooks from a program that is an agent itself."""
    env = {"PATH": os.environ["PATH"], "HOME": str((OUTPUT / "home").resolve())}
    host = Host(OUTPUT / "project", agent="my-agent", tools={"run_shell": "shell"}, env=env)
    print("\nAnd in an agent of your own, with `hookport.host`:\n")
    for command in (DANGEROUS, HARMLESS):
        outcome = host.before_tool("run_shell", {"cmd": command})
        print(
            f'  before_tool("run_shell", {{"cmd": "{command}"}})  {outcome.verdict} {outcome.reason}'.rstrip()
        )


def test() -> None:
    """Run the tests of an example: each case once, as every agent would fire the event."""
    name = f"examples/{TESTED.name}"
    print(f"\nHooks come with tests, and those run for every agent ({name}, one of several examples):")
    print(f"\n$ hookport test {name}", flush=True)
    print(run("test", str(TESTED), shown=True), end="")


if __name__ == "__main__":
    main()
