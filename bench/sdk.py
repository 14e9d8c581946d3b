"""Measure what a hook in Python costs, as milliseconds and ratios taken in one run on one machine.

    python bench/sdk.py [--rounds N]

Programs are started in turns, so that a busy machine slows them all alike; the median counts. The time on
the processor is shown too: waiting for a busy machine is not in it.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent / "src"
NAMES = "before_tool, deny, run"
HOOK = f"""from hookport import {NAMES}

@before_tool("shell")
def guard(event):
    if "rm -rf" in event.command:
        return deny("forbidden")

run()
"""
PLAIN = """import json, sys
event = json.load(sys.stdin)
if "rm -rf" in event["tool_input"]["command"]:
    print("forbidden", file=sys.stderr)
    sys.exit(2)
"""
PAYLOAD = {
    "session_id": "s",
    "transcript_path": "/t",
    "cwd": "/",
    "permission_mode": "default",
    "hook_event_name": "PreToolUse",
    "tool_name": "Bash",
    "tool_input": {"command": "ls"},
}
AIM = "aim: importing the names costs under 10 ms more than a bare Python"


def _started(words: list[str], env: dict[str, str]) -> tuple[float, float]:
    """Seconds until a program is over, and on the processor."""
    start = time.perf_counter()
    pipe, quiet = subprocess.PIPE, subprocess.DEVNULL
    child = subprocess.Popen([sys.executable, *words], stdin=pipe, stdout=quiet, stderr=quiet, env=env)
    assert child.stdin is not None
    with contextlib.suppress(BrokenPipeError), child.stdin:
        child.stdin.write(json.dumps(PAYLOAD).encode())
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return time.perf_counter() - start, used.ru_utime + used.ru_stime


def table(rounds: int) -> None:
    """Print what each program takes."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "hook.py").write_text(HOOK)
        (folder / "plain.py").write_text(PLAIN)
        env = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
        env |= {
            "PYTHONPATH": str(SOURCE),
            "PYTHONPYCACHEPREFIX": str(folder / "bytecode"),
            "HOOKPORT_CACHE_DIR": str(folder / "cache"),
        }
        programs = {
            "python -c pass": ["-c", "pass"],
            f"from hookport import {NAMES}": ["-c", f"from hookport import {NAMES}"],
            "a hook that knows one agent, with json": [str(folder / "plain.py")],
            "the same for every agent, with hookport": [str(folder / "hook.py")],
        }
        runs: dict[str, list[tuple[float, float]]] = {program: [] for program in programs}
        for _ in range(rounds + 1):
            for program, words in programs.items():
                runs[program].append(_started(words, env))
    # The first round compiles and makes the tables.
    times = {
        program: [statistics.median(all_) for all_ in zip(*taken[1:], strict=True)]
        for program, taken in runs.items()
    }
    bare, least = times["python -c pass"]
    print(f"{'what':<44}{'ms':>9}{'CPU ms':>9}  ratio")
    for program, (seconds, busy) in times.items():
        more = f"{(seconds - bare) * 1000:.1f} ms more, {(busy - least) * 1000:.1f} of the processor"
        times_of = f"{seconds * 1000:>9.1f}{busy * 1000:>9.1f}  {seconds / bare:.2f} of pass"
        print(f"{program:<44}{times_of}, {more}")
    print(AIM)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=15, help="how often each program is started")
    table(parser.parse_args().rounds)
