"""The main job in one run: hooks written once, converted to every agent, and what became of each.

Run it with `make demo`. The written files are in `demo-output/`, one folder per dialect.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from hookport import sources
from hookport.cli.convert import title, write
from hookport.cli.terminal import Paint, table
from hookport.convert import Conversion, convert_all, read
from hookport.dialects import agents, get
from hookport.dialects._base import MILLISECOND
from hookport.dialects._entries import slots, write_timeout
from hookport.dialects._matchers import write_matcher
from hookport.findings import EFFECTS

SOURCE = Path(__file__).parent / "guard"
OUTPUT = Path("demo-output")


def main() -> None:
    """Convert, show a table, and say where the files are."""
    paint = Paint(sys.stdout)
    reading = sources.read(sources.find(SOURCE))
    hooks = reading.decoded.manifest.hooks
    source = reading.dialect.id
    print(f"{len(hooks)} hooks, written once for {source} in {SOURCE.name}/.claude/settings.json:\n")
    for number, hook in enumerate(hooks, 1):
        kind = "blocks" if hook.blocking else "watches"
        print(f"  {number}. {title(hook)} ({kind}): {hook.handler.command}")
    results = convert_all(reading, [get(name) for name in agents() if name != source])
    shutil.rmtree(OUTPUT, ignore_errors=True)
    write(results, OUTPUT, is_all=True, force=False)
    head = ("agent", *(f"hook {number}" for number in range(1, len(hooks) + 1)), "losses", "written to")
    rows = [(one.target, *one.effects, str(_losses(one)), _paths(one)) for one in results]
    print("\nThe guard in each agent's own words:\n")
    print(table([("agent", "event", "matcher", "timeout"), *map(_guard, results)], paint))
    print("What became of the three hooks in each agent:\n")
    print(table([head, *rows], paint, {effect: effect for effect in EFFECTS}))
    print(
        "kept: the same there. changed: written another way, or with less. stricter: blocks more than before."
    )
    print("dropped: not there at all. Every change has a finding; these are the losses of one agent:\n")
    shown = next(one for one in results if "dropped" in one.effects)
    for finding in shown.findings:
        if finding.severity != "note":
            print(f"  {paint(finding.severity, finding.severity)} {finding.code} {finding.where}")
            print(f"        {finding.message}")
    print(f"\nThe files are in {OUTPUT}/, one folder per agent. All findings of one conversion:")
    print(f"  .venv/bin/hookport convert {SOURCE.parent.name}/{SOURCE.name} --to {shown.target}")


def _guard(result: Conversion) -> tuple[str, str, str, str]:
    """The event, the matcher and the timeout that the first hook has in the written files."""
    target = get(result.target)
    files = {file.path: file.text.encode() for file in result.files}
    guard = next(hook for hook in read(files, target).decoded.manifest.hooks if hook.blocking)
    spec, terms = slots(target, guard)[0]
    matcher = (
        write_matcher(target, spec, terms, guard.content)[0]
        if target.matching.grammar != "terms"
        else "in the code"
    )
    rule, timeout = target.handlers["command"].timeout, guard.handler.timeout
    unit = "ms" if rule.unit == MILLISECOND else "s"
    wait = f"{write_timeout(rule, timeout)} {unit}" if timeout and rule.unit else "none to set"
    return result.target, spec.native, matcher or "none to set", wait


def _losses(result: Conversion) -> int:
    return sum(finding.severity != "note" for finding in result.findings)


def _paths(result: Conversion) -> str:
    return " ".join(file.path for file in result.files[:2]) + (" …" if len(result.files) > 2 else "")


if __name__ == "__main__":
    main()
