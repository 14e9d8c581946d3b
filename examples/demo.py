"""The demo: a guard written for one agent runs in every agent, is converted and installed.

Run it with `make demo`. It writes to `demo-output/`, one folder per dialect, with an
installed sample project in `demo-output/project`, and to nothing outside of `demo-output`.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from hookport.agents import get, get_wire, list_agents
from hookport.cli.convert import make_title, write_files
from hookport.console.terminal import Paint, format_table
from hookport.convert.pipeline import Conversion, convert_all, read
from hookport.findings import EFFECTS
from hookport.model.runs import Answer, Call, Event
from hookport.project import plan_builder, sources
from hookport.project.discovery import load
from hookport.runtime import dispatch
from hookport.runtime.answer import DispatchResult
from hookport.runtime.sources import HookSources
from hookport.shapes.dialect import MILLISECOND
from hookport.shapes.entries import find_slots, write_timeout
from hookport.shapes.matchers import write_matcher
from hookport.wire.events import read_event, write_event

SOURCE = Path(__file__).parent / "guard"
TESTED = Path(__file__).parent / "protect-secrets-shell"
AGENTS = Path(__file__).parent.parent / "tests" / "agents"
OUTPUT = Path("demo-output")
DANGEROUS, HARMLESS = "rm -rf build", "ls"


def main() -> None:
    """Run the guard for every agent, convert it for each, and say where the files are."""
    paint = Paint(sys.stdout)
    if not shutil.which("jq"):
        sys.exit("the guard of this example uses jq, which is not installed. Try: apt install jq")
    _guard_every_agent(paint)
    reading = sources.read(sources.find(SOURCE))
    hooks = reading.decoded.manifest.hooks
    source = reading.dialect.id
    print(f"\nAnd as files: {len(hooks)} hooks, written once in {SOURCE.name}/.claude/settings.json:\n")
    for number, hook in enumerate(hooks, 1):
        kind = "blocks" if hook.blocking else "watches"
        print(f"  {number}. {make_title(hook)} ({kind}): {hook.handler.command}")
    results = convert_all(reading, [get(name) for name in list_agents() if name != source])
    shutil.rmtree(OUTPUT, ignore_errors=True)
    write_files(results, OUTPUT, is_all=True, force=False)
    head = ("agent", *(f"hook {number}" for number in range(1, len(hooks) + 1)), "losses", "written to")
    rows = [(one.target, *one.effects, str(_losses(one)), _paths(one)) for one in results]
    print("\nThe guard in each agent's own format:\n")
    print(format_table([("agent", "event", "matcher", "timeout"), *map(_guard, results)], paint))
    print("The three hooks in each agent:\n")
    print(format_table([head, *rows], paint, {effect: effect for effect in EFFECTS}))
    print("kept: unchanged. changed: another form, or less effect. stricter: blocks more than before.")
    print("dropped: missing there. Every change has a finding; these are the losses of one agent:\n")
    shown = next(one for one in results if "dropped" in one.effects)
    for finding in shown.findings:
        if finding.severity != "note":
            print(f"  {paint(finding.severity, finding.severity)} {finding.code} {finding.where}")
            print(f"        {finding.message}")
    print(f"\nThe files are in {OUTPUT}/, one folder per agent. All findings of one conversion:")
    print(f"  .venv/bin/hookport convert {SOURCE.parent.name}/{SOURCE.name} --to {shown.target}")
    _install()
    _test()


def _test() -> None:
    """The tests of an example: each case once, as every agent would fire the event."""
    name = f"{TESTED.parent.name}/{TESTED.name}"
    print(f"\nHooks have tests, which run for every agent ({name}, one of several examples):")
    print(f"\n$ hookport test {name}", flush=True)
    done = subprocess.run(
        [sys.executable, "-m", "hookport", "test", name], cwd=TESTED.parents[1], env=_own(), check=False
    )
    if done.returncode:
        sys.exit(done.returncode)


def _own() -> dict[str, str]:
    """An environment in which nothing of the user's is touched."""
    return {"PATH": os.environ["PATH"], "HOME": str((OUTPUT / "home").resolve())}


def _install() -> None:
    """The same hooks in a sample project, installed for three agents, approved, and what `status` shows."""
    project, home = (OUTPUT / name for name in ("project", "home"))
    shutil.copytree(SOURCE, project)
    for folder in (home, project / ".git", *(project / name for name in (".codex", ".cursor", ".gemini"))):
        folder.mkdir()
    print(f"\nInstalled in a sample project that three more agents use ({project}):")
    for words, shown in ((["sync"], 0), (["trust", "--yes"], 2), (["status"], 0)):
        print(f"\n$ hookport {' '.join(words)}")
        done = subprocess.run(
            [sys.executable, "-m", "hookport", *words],
            cwd=project,
            env=_own(),
            capture_output=True,
            text=True,
            check=False,
        )
        lines = (done.stdout + done.stderr).splitlines()
        print(
            "\n".join(
                [f"  … ({len(lines) - shown} lines: what each hook runs)"] * bool(shown) + lines[-shown:]
            )
        )
        if done.returncode:
            sys.exit(done.returncode)


def _guard_every_agent(paint: Paint) -> None:
    """Show the unchanged script on the shell event of every agent, and what each agent receives."""
    script = SOURCE / ".claude" / "hooks" / "guard.sh"
    print(f"A guard for Claude Code ({SOURCE.name}/.claude/hooks/{script.name}), unchanged:\n")
    print("".join(f"    {line}\n" for line in script.read_text("utf-8").splitlines()))
    print("Each agent fires its own event; the guard gets the payload that it was written for.\n")
    rows = []
    for name in list_agents():
        native, is_captured = _shell_event(name, HARMLESS)[1:]
        denied, passed = (_answered(name, command) for command in (DANGEROUS, HARMLESS))
        where = "captured" if is_captured else "documented"
        rows.append((name, native, where, _verdict(denied), _verdict(passed), _told(denied.answer)))
    head = ("agent", "event", "payload", DANGEROUS, HARMLESS, "the agent receives")
    print(format_table([head, *rows], paint, {"deny": "error", "no opinion": "note"}))


def _shell_event(name: str, command: str) -> tuple[bytes, str, bool]:
    """An agent's payload for a shell command, its event, and whether it was captured from the agent."""
    it = get_wire(name)
    for path in sorted((AGENTS / name.replace("-", "_") / "payloads").glob("*.json")):
        tree = json.loads(path.read_text("utf-8"))
        native = path.name.partition(".json")[0]
        native = next((one for one in it.events if native == one or native.startswith(f"{one}.")), "")
        event = read_event(it, tree, native)
        if event.event == "before_tool_execute" and event.call and event.call.tool == "shell":
            changed = json.dumps(tree).replace("echo hi > out.txt", command)
            return changed.encode(), native, True
    call = Call("shell", input={"command": command})
    event = Event("before_tool_execute", "", session="s1", cwd="/home/dev/project", call=call)
    native = next(native for tools, native in it.natives[event.event] if not tools or "shell" in tools)
    return json.dumps(write_event(it, event, native)).encode(), native, False


def _answered(name: str, command: str) -> DispatchResult:
    """What `hookport dispatch` gives for the agent's event with the hooks of the example."""
    payload, native, _ = _shell_event(name, command)
    found = load(str(SOURCE), None, os.environ)
    hooks = [plan_builder.plan_entry(one) for one in found.hooks]
    place = str(SOURCE.resolve())
    payload = payload.replace(b"/home/dev/project", place.encode())
    with tempfile.TemporaryDirectory() as state:
        env = {**os.environ, "HOOKPORT_STATE_DIR": state}
        asked = HookSources(get_wire(name), get_wire, lambda _event: hooks, root=place)
        return dispatch.answer_payload(payload, native, asked, env)


def _verdict(told: DispatchResult) -> str:
    return "no opinion" if told.report.decision.verdict == "none" else told.report.decision.verdict


def _told(answer: Answer) -> str:
    """The answer in one short line."""
    text = answer.stdout.strip() or answer.stderr.strip()
    stream = "stdout" if answer.stdout.strip() else "stderr"
    return f"exit {answer.exit_code}, {stream}: {text if len(text) <= 60 else text[:59] + '…'}"


def _guard(result: Conversion) -> tuple[str, str, str, str]:
    """The event, the matcher and the timeout that the first hook has in the written files."""
    target = get(result.target)
    files = {file.path: file.text.encode() for file in result.files}
    guard = next(hook for hook in read(files, target).decoded.manifest.hooks if hook.blocking)
    spec, terms = find_slots(target, guard)[0]
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
