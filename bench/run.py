"""Measure what a conversion, a dispatch and a hook in Python cost, as ratios taken in one run on one machine.

    python bench/run.py [--rounds N]

Different programs are timed in turns, so that a busy machine slows them all alike; the median counts.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src"
sys.path.insert(0, str(SOURCE))

import dispatch  # noqa: E402
import host  # noqa: E402
import sdk  # noqa: E402

from hookport import documents  # noqa: E402
from hookport.agents import get, list_dialects  # noqa: E402
from hookport.convert import pipeline  # noqa: E402

MANIFEST = {
    "spec": "hooks/1.0",
    "hooks": [
        {
            "event": "before_tool_execute",
            "matcher": ["shell", {"mcp": {"server": "github"}}],
            "handler": {"type": "command", "command": "./guard.sh", "timeout": 10},
            "blocking": True,
        },
        {
            "event": "after_tool_execute",
            "matcher": {"pattern": "file_(write|edit)"},
            "handler": {"type": "command", "command": "./format.sh", "env": {"MODE": "fast"}},
        },
        {"event": "session_start", "handler": {"type": "http", "url": "http://127.0.0.1:9/x", "timeout": 5}},
    ],
}
AIMS = (
    "aims: CLI under 4 times `import json`, all dialects in process under 5 ms, growth per manifest about 1"
)


def clock(run: Callable[[], object]) -> float:
    """Seconds that one run takes."""
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def medians(runs: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """The median time of each, taken in turns."""
    taken: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            taken[name].append(clock(run))
    return {name: statistics.median(times) for name, times in taken.items()}


def to_all(data: bytes) -> None:
    """One manifest, read once and written in every dialect."""
    reading = pipeline.read({"hooks.json": data}, get("canonical"))
    pipeline.convert_all(reading, [get(name) for name in list_dialects()])


def child(*args: str) -> Callable[[], object]:
    """A fresh interpreter, without what the environment may add to it."""
    env = {**os.environ, "PYTHONPATH": str(SOURCE)}
    return lambda: subprocess.run([sys.executable, *args], env=env, capture_output=True, check=False)


def processes(manifest: Path, rounds: int) -> dict[str, float]:
    """The whole command against interpreters that do next to nothing."""
    runs = {"python -c pass": child("-c", "pass"), "python -c 'import json'": child("-c", "import json")}
    if importlib.util.find_spec("hookport.__main__"):
        for target in ("all", "claude-code"):
            words = ("-m", "hookport", "convert", str(manifest), "--to", target)
            runs[f"hookport convert --to {target}"] = child(*words)
    return medians(runs, rounds)


def growth(data: bytes) -> tuple[float, float]:
    """Seconds for a manifest when 100 and when 10,000 are converted to one dialect in one process."""

    def many(count: int) -> float:
        def run() -> None:
            for number in range(count):
                files = {"hooks.json": data.replace(b"guard", b"guard%d" % number)}
                pipeline.convert(pipeline.read(files, get("canonical")), get("claude-code"))

        return clock(run) / count

    many(100)
    return statistics.median(many(100) for _ in range(5)), many(10_000)


def big_json() -> tuple[float, float, float, int]:
    """Seconds to parse 5 MB of JSON, to change one value in it, and for `json.loads`; and the size."""
    entry = {
        "matcher": "Write",
        "hooks": [{"type": "command", "command": "./x.sh", "timeout": 5}],
        "note": "é" * 30,
    }
    data = json.dumps({"hooks": {"A": [{**entry, "n": n} for n in range(12_500)]}}, indent=2).encode()
    document = documents.parse(data, "json")
    tree = json.loads(data)
    tree["hooks"]["A"][6_000]["matcher"] = "Edit"
    times = medians(
        {
            "loads": lambda: json.loads(data),
            "parse": lambda: documents.parse(data, "json"),
            "splice": lambda: document.rewrite(tree),
        },
        3,
    )
    return times["parse"], times["splice"], times["loads"], len(data)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=15, help="how often each program is started")
    rounds = parser.parse_args().rounds
    data = json.dumps(MANIFEST).encode()
    to_all(data)
    inside = medians({"all": lambda: to_all(data)}, 30)["all"]
    with tempfile.TemporaryDirectory() as folder:
        manifest = Path(folder) / "hooks.json"
        manifest.write_bytes(data)
        taken = processes(manifest, rounds)
    bare, with_json = taken["python -c pass"], taken["python -c 'import json'"]
    print(f"{'what':<44}{'ms':>9}  ratio")
    here = f"3 hooks to {len(list_dialects())} dialects, in process"
    print(f"{here:<44}{inside * 1000:>9.2f}  {inside / bare:.2f} of pass")
    for name, seconds in taken.items():
        ratios = f"{seconds / bare:.2f} of pass, {seconds / with_json:.2f} of import json"
        print(f"{name:<44}{seconds * 1000:>9.1f}  {ratios}")
    if len(taken) == 2:
        print("the command line is not there yet, so it was not measured")
    few, many = growth(data)
    print(f"{'one manifest of 100':<44}{few * 1000:>9.3f}")
    print(f"{'one manifest of 10,000':<44}{many * 1000:>9.3f}  {many / few:.2f} of one of 100")
    parse, splice, loads, size = big_json()
    print(
        f"{f'parse {size / 1e6:.1f} MB of JSON':<44}{parse * 1000:>9.0f}  {parse / loads:.1f} of json.loads"
    )
    print(f"{'change one value in it':<44}{splice * 1000:>9.0f}  {splice / loads:.1f} of json.loads")
    print(AIMS)
    print()
    dispatch.table(rounds)
    print()
    sdk.table(rounds)
    print()
    host.table(rounds)


if __name__ == "__main__":
    main()
