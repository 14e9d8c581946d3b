"""What `bridge.pyz` does: it answers agents at once, and people by the commands that need no installation."""

from __future__ import annotations

import os
import sys

from hookport import answering
from hookport.runtime import plan, vendored
from hookport.runtime.vendored import Bridge

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from hookport.packed.approval import Lock
    from hookport.runtime.plan import Planned

USAGE = """usage: python3 {name} COMMAND

  dispatch  answer an agent's event; agents call this
  wrap      run one command of another dialect for an agent; agents call this
  status    show the hooks of this project: whether they are approved, when they last ran
  log       show what hooks decided
  trust     show what is new since the last approval, and approve it
  untrust   take an approval back

It knows the hooks of its project, not those of the user. Hooks are changed where hookport is installed.
"""


def main(args: list[str], archive: str, tables: bytes) -> int:
    """Run one command; the exit code is that of the command of the same name."""
    found = plan.parse(tables)
    assert isinstance(found, plan.Plan)  # noqa: S101  (it was made with this archive)
    bridge = Bridge(os.path.realpath(os.path.dirname(os.path.dirname(os.path.abspath(archive)))), found)
    if args and args[0] in answering.USAGE:
        # Hooks in Python that import hookport find it where it is not installed.
        before = os.environ.get("PYTHONPATH")
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (before, os.path.abspath(archive))))
        return answering.main(args, bridge)
    from hookport.errors import HookportError, InternalError

    try:
        code = _run(args, bridge, archive)
        sys.stdout.flush()
    except HookportError as error:
        sys.stderr.write(f"hookport: {error}\n")
        return error.exit_code
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        return 0
    except Exception as error:  # noqa: BLE001  (no traceback may reach a user)
        sys.stderr.write(f"hookport: this is a bug in hookport: {type(error).__name__}: {error}\n")
        return InternalError.exit_code
    return code


def _run(args: list[str], bridge: Bridge, archive: str) -> int:
    command, rest = args[0] if args else "--help", args[1:]
    if command == "log":
        return _log(rest, bridge)
    if command == "status":
        return _status(bridge, dict(os.environ))
    if command == "trust":
        return _trust(rest, bridge, dict(os.environ))
    if command == "untrust":
        return _untrust(bridge, dict(os.environ))
    if command in ("--version", "-V"):
        from hookport import __version__

        sys.stdout.write(f"hookport {__version__} (bridge.pyz)\n")
        return 0
    if command not in ("--help", "-h", "help"):
        from hookport.errors import UsageError

        raise UsageError(f"unknown command '{command}'. Try: python3 {archive} --help")
    sys.stdout.write(USAGE.format(name=archive))
    return 0


def _log(rest: list[str], bridge: Bridge) -> int:
    from argparse import ArgumentParser

    from hookport.cli import log

    parser = ArgumentParser(prog="bridge.pyz log")
    log.add_arguments(parser)
    args = parser.parse_args(rest)
    if args.agent:
        bridge.wire(args.agent)
    return log.show(args)


def _plan(bridge: Bridge) -> plan.Plan:
    from hookport.errors import InputError, Problem

    found = vendored.load(bridge.root)
    if isinstance(found, str):
        raise InputError(Problem(f"cannot be used: {found}. {vendored.RENEW}.", file=vendored.PLAN))
    return found


def _status(bridge: Bridge, env: Mapping[str, str]) -> int:
    """Print the hooks of the plan; 1 where one of them would not run."""
    from hookport.runtime import trust

    found = _plan(bridge)
    old = vendored.stale(found, bridge.root)
    ran = _last_runs(env)
    code = 0
    sys.stdout.write(f"{bridge.root}\n")
    for hook in found.all_hooks():
        here = vendored.checked(hook, bridge.root, old).replace(scope="project", trust={})
        why = here.unable or trust.verdict(here, bridge.root, env)
        code = max(code, bool(why))
        when = ran.get((here.file, here.place), "never")
        sys.stdout.write(f"  {hook.name}: {hook.event}, {why or 'approved'}, last ran: {when}\n")
    if not found.header["hooks"]:
        sys.stdout.write("  there are no hooks\n")
    for one in (*found.header["broken"], *vendored.told(found, old)):
        sys.stderr.write(f"hookport: {one}\n")
        code = 1
    return code


def _last_runs(env: Mapping[str, str]) -> dict[tuple[str, str], str]:
    """When each hook ran last, by where it is written down."""
    from hookport.runtime import journal, trust

    found: dict[tuple[str, str], str] = {}
    for record in journal.Reader(env).new():
        for one in record.get("hooks", ()):
            if trust.was_run(one):
                found[str(one.get("source")), str(one.get("place"))] = record["time"]
    return found


def _trust(rest: list[str], bridge: Bridge, env: Mapping[str, str]) -> int:
    """Show what differs from what was approved, ask, approve; 1 if the user does not."""
    from argparse import ArgumentParser

    from hookport.packed import approval

    parser = ArgumentParser(prog="bridge.pyz trust")
    parser.add_argument("--yes", action="store_true", help="approve without asking")
    parser.add_argument("--dry-run", action="store_true", help="show what is new, approve nothing")
    args = parser.parse_args(rest)
    hooks, locked = _locked(bridge, env)
    before, when = approval.approved(bridge.root, env)
    since = f"since you approved it on {when[:10]}" if when else "nothing of it was approved yet"
    sys.stdout.write(f"{bridge.root}: {since}\n")
    differences = approval.differences(before, locked)
    for place, (what, *names) in differences.items():
        sys.stdout.write(f"{what}  {place!a}\n")
        hook = hooks.get(place)
        if hook is not None:
            runs = hook.command or hook.url or hook.prompt
            sys.stdout.write(f"  runs: {runs!a}\n")
        for name in names:
            sys.stdout.write(f"  its file {name!a} is {'new' if what == 'new' else 'another'}\n")
    is_same = bool(when) and before == locked
    if is_same or not differences:
        sys.stdout.write(
            "nothing is new or changed\n" if is_same else "only the bridge or its plan is another\n"
        )
    if is_same or args.dry_run:
        return 0
    if not (args.yes or _agreed()):
        sys.stdout.write("nothing was approved.\n")
        return 1
    if _locked(bridge, env)[1] != locked:
        from hookport.errors import UsageError

        raise UsageError("the hooks changed while you looked at them. Nothing was approved. Look again.")
    approval.approve(bridge.root, locked, env)
    sys.stdout.write("approved.\n")
    return 0


def _locked(bridge: Bridge, env: Mapping[str, str]) -> tuple[dict[str, Planned], Lock]:
    """The hooks of the plan and the lock of the project, which may be approved if it has them as they are."""
    from hookport.errors import InputError, Problem
    from hookport.packed import approval
    from hookport.runtime import trust

    found = _plan(bridge)
    wrong = list(vendored.told(found, vendored.stale(found, bridge.root)))
    hooks = [vendored.placed(hook, bridge.root) for hook in found.all_hooks()]
    here, locked = trust.lock_of(hooks, bridge.root, env), approval.locked(bridge.root)
    odd = [place for place, entry in here["hooks"].items() if locked["hooks"].get(place) != entry]
    odd += [name for name, hash_ in here["bridge"].items() if locked.get("bridge", {}).get(name) != hash_]
    if odd:
        remedy = "Run `hookport trust` where hookport is installed, and commit the lock"
        wrong.append(f"it does not have these as they are: {', '.join(odd)}. {remedy}.")
    if wrong:
        raise InputError(*(Problem(one, file=trust.LOCK) for one in wrong))
    return {hook.id: hook for hook in hooks}, locked


def _agreed() -> bool:
    from hookport.errors import UsageError

    if not sys.stdin.isatty():
        raise UsageError("nothing was approved: there is no terminal to ask on. Say --yes or --dry-run.")
    sys.stdout.write("Approve these hooks? They run with your rights. [y/N] ")
    sys.stdout.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _untrust(bridge: Bridge, env: Mapping[str, str]) -> int:
    from hookport.packed import approval
    from hookport.runtime import trust

    gone = approval.forget(bridge.root, env)
    if gone:
        sys.stdout.write(f"no longer approved: {bridge.root}\n")
    inherited = trust.inherited(bridge.root, env)
    if inherited:
        told = f"{bridge.root} is a worktree of {inherited}, whose approval still holds here"
        sys.stderr.write(f"hookport: {told}.\n")
        return 1
    if not gone:
        sys.stdout.write("nothing was approved.\n")
    return 0
