"""The commands of `bridge.pyz`: it answers agents at once, and people without an installation."""

from __future__ import annotations

import os
import sys

from hookport.runtime import main as answering
from hookport.runtime import plan
from hookport.vendor import vendored
from hookport.vendor.vendored import VendoredBridge

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from hookport.runtime.approvals import Lock
    from hookport.runtime.plan import PlannedHook

USAGE = """usage: python3 {name} COMMAND

  dispatch  answer an agent's event; agents call this
  wrap      run one command of another dialect for an agent; agents call this
  status    show the hooks of this project: whether they are approved, when they last ran
  log       show what hooks decided
  trust     show what is new since the last approval, and approve it
  untrust   remove an approval
  pause     pause hooks of this project for a while

It knows the project's hooks, not the user's. To change hooks, use an installed hookport.
"""


def main(args: list[str], archive: str, tables: bytes) -> int:
    """Run one command, with the exit code of the installed command of the same name."""
    own_plan = plan.parse(tables)
    assert isinstance(own_plan, plan.DispatchPlan)  # noqa: S101  (it was made with this archive)
    bridge = VendoredBridge(
        os.path.realpath(os.path.dirname(os.path.dirname(os.path.abspath(archive)))), own_plan
    )
    if args and args[0] in (*answering.USAGE, answering.COVERS):
        # Hooks in Python that import hookport find it without an installation.
        before = os.environ.get("PYTHONPATH")
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (before, os.path.abspath(archive))))
        return answering.main(args, bridge)
    from hookport.console.terminal import screen_output

    with screen_output():
        return _answer_person(args, bridge, archive)


def _answer_person(args: list[str], bridge: VendoredBridge, archive: str) -> int:
    from hookport.errors import HookportError, InputError, InternalError

    try:
        code = _run_command(args, bridge, archive)
        sys.stdout.flush()
    except InputError as error:
        for problem in error.problems:
            _say(str(problem))
        return error.exit_code
    except HookportError as error:
        _say(str(error))
        if error.hint:
            _say(f"hint: {error.hint}")
        return error.exit_code
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        return 0
    except Exception as error:  # noqa: BLE001  (no traceback may reach a user)
        _say(f"this is a bug in hookport: {type(error).__name__}: {error}")
        return InternalError.exit_code
    return code


def _say(line: str) -> None:
    from hookport.console.terminal import make_plain

    sys.stderr.write(f"hookport: {make_plain(line)}\n")


def _print(line: str) -> None:
    """One line, whatever characters hook names and paths contain."""
    from hookport.console.terminal import make_plain

    sys.stdout.write(f"{make_plain(line)}\n")


def _run_command(args: list[str], bridge: VendoredBridge, archive: str) -> int:
    command, rest = args[0] if args else "--help", args[1:]
    if command == "log":
        return _show_log(rest, bridge)
    if command == "status":
        return _show_status(bridge, dict(os.environ))
    if command == "trust":
        return _ask_approval(rest, bridge, dict(os.environ))
    if command == "untrust":
        return _withdraw_approval(bridge, dict(os.environ))
    if command == "pause":
        return _pause_hooks(rest, bridge, dict(os.environ))
    if command in ("--version", "-V"):
        from hookport import __version__

        sys.stdout.write(f"hookport {__version__} (bridge.pyz)\n")
        return 0
    if command not in ("--help", "-h", "help"):
        from hookport.errors import UsageError

        raise UsageError(f"unknown command '{command}'. Try: python3 {archive} --help")
    sys.stdout.write(USAGE.format(name=archive))
    return 0


def _show_log(rest: list[str], bridge: VendoredBridge) -> int:
    from argparse import ArgumentParser

    from hookport.console import log

    parser = ArgumentParser(prog="bridge.pyz log")
    log.add_arguments(parser)
    args = parser.parse_args(rest)
    for name in args.agents:
        bridge.wire(name)
    return log.show_log(args)


def _load_plan(bridge: VendoredBridge) -> plan.DispatchPlan:
    from hookport.errors import InputError, Problem

    loaded = vendored.load_plan(bridge.root)
    if isinstance(loaded, str):
        raise InputError(Problem(f"cannot be used: {loaded}. {vendored.RENEW}.", file=vendored.PLAN))
    return loaded


def _show_status(bridge: VendoredBridge, env: Mapping[str, str]) -> int:
    """Print the hooks of the plan; 1 if one of them would not run."""
    from hookport.runtime import pauses, remedy, trust

    _print(bridge.root)
    paused = pauses.find_pauses(bridge.root, env)
    for name, until in paused.items():
        what = "every hook" if name == pauses.EVERY else name
        end = remedy.format_command("pause", "--end")
        _print(f"  paused: {what} until {pauses.format_time(until)}; `{end}` ends it")
    loaded = _load_plan(bridge)
    old = vendored.find_stale(loaded, bridge.root)
    ran = _read_last_runs(env)
    code = 0
    for hook in loaded.read_all_hooks():
        checked_hook = vendored.check_hook(hook, bridge.root, old).replace(scope="project", trust={})
        why = checked_hook.unable or trust.find_hook_objection(checked_hook, bridge.root, env)
        code = max(code, bool(why))
        rests = ", paused" if pauses.find_pause_end(paused, hook.name) else ""
        when = ran.get((checked_hook.file, checked_hook.place), "never")
        _print(f"  {hook.name}: {hook.event}, {why or 'approved'}{rests}, last ran: {when}")
    if not loaded.header["hooks"]:
        _print("  no hooks")
    for line in (*loaded.header["broken"], *vendored.describe_staleness(loaded, old)):
        _say(line)
        code = 1
    return code


def _read_last_runs(env: Mapping[str, str]) -> dict[tuple[str, str], str]:
    """When each hook last ran, by file and place."""
    from hookport.runtime import journal, trust

    last_runs: dict[tuple[str, str], str] = {}
    for record in journal.Reader(env).new():
        for run in record.get("hooks", ()):
            if trust.was_run(run):
                last_runs[str(run.get("source")), str(run.get("place"))] = record["time"]
    return last_runs


def _ask_approval(rest: list[str], bridge: VendoredBridge, env: Mapping[str, str]) -> int:
    """Show the differences from the approved state, ask, approve; 1 if the user declines."""
    from argparse import ArgumentParser

    from hookport.runtime import approvals, consent, trust

    parser = ArgumentParser(prog="bridge.pyz trust")
    parser.add_argument("--yes", action="store_true", help="approve without asking")
    parser.add_argument("--dry-run", action="store_true", help="show what is new, approve nothing")
    args = parser.parse_args(rest)
    hooks, locked = _read_hooks_and_lock(bridge, env)
    state = approvals.find_approved_state(bridge.root, locked, env)
    before, when = dict(state.lock), state.when
    since = f"since you approved it on {when[:10]}" if when else "not approved yet"
    _print(f"{bridge.root}: {since}")
    differences = approvals.compare_locks(before, locked)
    for place, (what, *names) in differences.items():
        _print(f"{what}  {place!a}")
        hook = hooks.get(place)
        if hook is not None:
            runs = hook.command or hook.url or hook.prompt
            _print(f"  runs: {runs!a}")
        for name in names:
            _print(f"  its file {name!a} is {'new' if what == 'new' else 'changed'}")
        if left_out := locked["hooks"].get(place, {}).get("not_covered"):
            _print(f"  not covered: {', '.join(left_out)}")
    for line in _list_changed_settings(before.get("settings", {}), locked.get("settings", {})):
        _print(line)
    is_same = bool(when) and before == locked
    if is_same or not differences:
        sys.stdout.write(
            "nothing is new or changed\n" if is_same else "only the bridge or its plan changed\n"
        )
    if is_same or args.dry_run:
        return 0
    how = consent.ask_consent(bridge.root, env, bridge.tables.header.get("markers", ()), yes=args.yes)
    if not how:
        _print("nothing was approved.")
        return 1
    if _read_hooks_and_lock(bridge, env)[1] != locked:
        from hookport.errors import UsageError

        raise UsageError("the hooks changed during the review. Nothing was approved. Review them again.")
    data = trust.read_file(os.path.join(bridge.root, vendored.PLAN)) or b""
    approvals.store_approval(bridge.root, locked, {trust.sha256(data): data}, env, how)
    _print("approved.")
    return 0


def _list_changed_settings(before: Mapping[str, object], after: Mapping[str, object]) -> list[str]:
    """The settings of the project that differ from the approved ones, a line each."""
    names = sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
    return [
        f"settings  {name}: {before.get(name, 'not set')!s} is now {after.get(name, 'not set')!s}"
        for name in names
    ]


def _read_hooks_and_lock(
    bridge: VendoredBridge, env: Mapping[str, str]
) -> tuple[dict[str, PlannedHook], Lock]:
    """The hooks of the plan and the project's lock, which may be approved if it has exactly these hooks."""
    from hookport.errors import InputError, Problem
    from hookport.runtime import approvals, trust

    loaded = _load_plan(bridge)
    wrong = list(vendored.describe_staleness(loaded, vendored.find_stale(loaded, bridge.root)))
    hooks = [vendored.place_hook(hook, bridge.root) for hook in loaded.read_all_hooks()]
    current, locked = trust.make_lock(hooks, bridge.root, env), approvals.read_lock(bridge.root)
    odd = [place for place, entry in current["hooks"].items() if locked["hooks"].get(place) != entry]
    odd += [name for name, hash_ in current["bridge"].items() if locked.get("bridge", {}).get(name) != hash_]
    if odd:
        remedy = "Run `hookport trust` where hookport is installed, and commit the lock"
        wrong.append(f"it does not have the current version of {', '.join(odd)}. {remedy}.")
    if wrong:
        raise InputError(*(Problem(message, file=trust.LOCK) for message in wrong))
    return {hook.id: hook for hook in hooks}, locked


def _withdraw_approval(bridge: VendoredBridge, env: Mapping[str, str]) -> int:
    from hookport.runtime import approvals, consent, trust

    if not consent.may_withdraw(bridge.root, env, bridge.tables.header.get("markers", ())):
        _print("nothing was removed.")
        return 1
    gone = approvals.remove_approval(bridge.root, env)
    if gone:
        _print(f"no longer approved: {bridge.root}")
    inherited = trust.find_inherited_root(bridge.root, env)
    if inherited:
        message = f"{bridge.root} is a worktree of {inherited}, whose approval still holds here"
        _say(f"{message}.")
        return 1
    if not gone:
        _print("nothing was approved.")
    return 0


def _pause_hooks(rest: list[str], bridge: VendoredBridge, env: Mapping[str, str]) -> int:
    """Pause hooks of the project; with an unusable plan, whose names are unknown, only all of them."""
    from argparse import ArgumentParser

    from hookport.console import pause

    parser = ArgumentParser(prog="bridge.pyz pause")
    pause.add_arguments(parser)
    args = parser.parse_args(rest)
    loaded = vendored.load_plan(bridge.root)
    names = () if isinstance(loaded, str) else sorted({hook.name for hook in loaded.read_all_hooks()})
    return pause.pause(args, bridge.root, names, bridge.tables.header.get("markers", ()), env)
