"""What agents call on every event, `dispatch` and `wrap`, with nothing imported that these do not need."""

from __future__ import annotations

import os
import sys
import time

from hookport import __version__
from hookport.model.runs import ANY_EVENT, BLOCK, Answer, Decision, Event
from hookport.runtime import dispatch, engine, plan, policy, select, sessions
from hookport.wire.events import canonical_name, named_roots
from hookport.wire.texts import MOST_REASON, fit

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    from collections.abc import Iterable, Iterator, Mapping
    from types import FrameType

    from hookport.runtime.recording import Recording
    from hookport.vendor.vendored import Bridge
    from hookport.wire.table import Wire
else:
    import _signal as signal  # `signal` makes enums of them

USAGE = {
    "dispatch": "AGENT EVENT [--within SECONDS] [--on-failure open|closed] [--entry NAME] [--record DIR]",
    "wrap": "SCRIPT-DIALECT AGENT EVENT [--within SECONDS] [--on-failure open|closed] "
    "[--on-timeout open|closed] [--async] [--observe] [--for SCRIPT-EVENT] [--if RULE] [--matcher TERMS] "
    "[--matcher-of WORD] [--pattern REGEX] [--pattern-of FIELD] [--type prompt|agent] [--model NAME] "
    "[--entry NAME] [--record DIR] -- COMMAND",
}
# Each with what it may say; empty for a number, none for any text, of which an empty one says nothing.
OPTIONS: dict[str, tuple[str, ...] | None] = {
    "--within": (),
    "--on-failure": (policy.OPEN, policy.CLOSED),
    "--on-timeout": (policy.OPEN, policy.CLOSED),
    "--for": None,
    "--if": None,
    "--matcher": None,
    "--matcher-of": None,
    "--pattern": None,
    "--pattern-of": None,
    "--type": ("command", "prompt", "agent"),
    "--model": None,
    "--entry": None,
    "--record": None,
}
# Asked by a command that an agent reads in another agent's file: does an entry of ours run it there?
COVERS = "covers"
RECORD = "HOOKPORT_RECORD"
# How long whoever calls us waits, in seconds, where the entry cannot say it: not for the hooks that we run.
WITHIN = "HOOKPORT_WITHIN"
# Said by an entry that takes an exit code which is not ours for a deny; a failure that passes has its own.
GUARD, FAILED_OPEN = "--guard", 3
# Said by an entry that wants a sign of life: an exit code of 0 is then this one, since an emptied archive and
# a program that does nothing end with 0 too.
ALIVE, IS_ALIVE = "--alive", 4
FLAGS = ("--async", "--observe", GUARD, ALIVE)
TERMINATED = 143
# What the payload of an event of `runtime.probe` has in it.
PROBE = b'"hookport_probe"'
# Levels of nesting that a payload may have; at 1,000 Python gives up, and a call with more would pass unseen.
DEEPEST = 4_000
# A command that is wrapped has the agent's own time; this is for agents that tell none.
DEFAULT_SECONDS = 600.0


def bridge_file() -> str:
    """The file that an installed entry starts; it imports this module."""
    return os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "bridge.py")


def main(args: list[str] | None = None, bridge: Bridge | None = None) -> int:
    """Answer one event; what goes wrong here is said on stderr, and denies where failures deny.

    With a bridge, the hooks are those of its project.
    """
    args = sys.argv[1:] if args is None else args
    env = dict(os.environ)
    sys.setrecursionlimit(DEEPEST)
    if args[:1] == [COVERS]:
        return _covers(args[1:], env, bridge)
    code = _main(args, env, bridge)
    return IS_ALIVE if code == 0 and args[:1] == ["dispatch"] and ALIVE in args else code


def _main(args: list[str], env: dict[str, str], bridge: Bridge | None) -> int:
    _on_terminate()
    recordings: list[Recording] = []
    answer = None
    try:
        answer = _answer(args, env, bridge, recordings)
        return dispatch.tell(answer)
    except Exception as error:  # noqa: BLE001  (no traceback may reach an agent)
        closed = _is_closed(args, env, bridge) or _is_guard_lost(error, args, env, bridge)
        told = str(error) if hasattr(error, "exit_code") else f"{type(error).__name__}: {error}"
        effect = "It is denied (fail closed)." if closed else "Nothing was decided (fail open)."
        if env.get("HOOKPORT_DEBUG"):
            import traceback

            traceback.print_exc()
        message = fit(f"hookport: {told} {effect}", MOST_REASON)
        code = FAILED_OPEN if GUARD in args else 1
        answer = _denied(args, message, bridge) if closed else Answer(stderr=f"{message}\n", exit_code=code)
        return dispatch.tell(answer)
    finally:
        for one in recordings:
            one.write(answer, env)


def _covers(words: list[str], env: Mapping[str, str], bridge: Bridge | None) -> int:
    """0 if an entry of ours runs the hook that asks; whatever goes wrong, it runs by itself."""
    try:
        from hookport.runtime import covering
        from hookport.vendor import vendored

        name, file, digest = words
        if bridge is not None:
            found, agent, root = vendored.all_hooks(bridge, env), bridge.wire(name), bridge.root
            callers, programs = bridge.tables.header["callers"], [vendored.ARCHIVE]
        else:
            agent = _wire(name)
            kept = _plan(next(_named_roots(agent, env), "") or dispatch.here(), env)
            found = [] if kept.header["broken"] else kept.all_hooks()
            root, callers = kept.header["root"], kept.header["callers"]
            programs = [sys.executable, bridge_file()]
        hooks = [hook for hook in found if covering.digest(hook.command) == digest]
        entry = covering.Entry(agent, os.path.join(root, file), programs, root, callers)
        return int(not covering.is_covered(hooks, entry, env))
    except Exception:  # noqa: BLE001  (a guard must not be lost to it)
        return 1


def _denied(args: list[str], reason: str, bridge: Bridge | None) -> Answer:
    """A deny in the agent's own terms; where even these cannot be told, by the exit code that most obey.

    A stop is not denied: nothing counts how often it was, and it must end.
    """
    native = ""
    try:
        _, (*_, agent, native), _, _ = _parsed(args)
        own = bridge.wire(agent) if bridge else _wire(agent)
        event = Event(canonical_name(own, native), agent, native)
        if event.event in sessions.STOPS:
            return Answer(stderr=f"{reason}\n", exit_code=1)
        return dispatch.told_of(event, engine.Report(event, Decision("deny", reason)), own).answer
    except Exception:  # noqa: BLE001  (it may be what failed)
        is_stop = bridge is not None and bridge.is_stop(native)
        return Answer(stderr=f"{reason}\n", exit_code=1 if is_stop else BLOCK)


def _is_closed(args: list[str], env: Mapping[str, str], bridge: Bridge | None) -> bool:
    """Whether failures deny here, as far as that can still be told."""
    ours = args[: args.index("--")] if "--" in args else args
    said = " ".join(ours).replace("--on-failure ", "--on-failure=")
    for word in (policy.CLOSED, policy.OPEN):
        if f"--on-failure={word}" in said:
            return word == policy.CLOSED
    return policy.standing(_settings(env, bridge), env) == policy.CLOSED


def _is_guard_lost(error: Exception, args: list[str], env: Mapping[str, str], bridge: Bridge | None) -> bool:
    """Whether guards should have been asked and could not be; what people type wrong is no such thing."""
    try:
        from hookport.errors import UsageError

        if isinstance(error, UsageError) or policy.on_tamper(_settings(env, bridge)) == policy.WARN:
            return False
        _, (*_, agent, native), _, _ = _parsed(args)
        return policy.guards(canonical_name(bridge.wire(agent) if bridge else _wire(agent), native))
    except Exception:  # noqa: BLE001  (it may be what failed)
        return True


def _settings(env: Mapping[str, str], bridge: Bridge | None) -> Mapping[str, str]:
    try:
        if bridge is not None:
            from hookport.vendor import vendored

            return vendored.settings(bridge.root, env)
        _with_libraries()
        from hookport.project.settings import settings_in

        return settings_in(dispatch.here(), env)
    except Exception:  # noqa: BLE001  (it may be what failed)
        return {}


def _answer(
    args: list[str], env: dict[str, str], bridge: Bridge | None, recordings: list[Recording]
) -> Answer:
    command, words, options, inner = _parsed(args)
    entry = options.get("--entry", "")
    waits = (options.get("--within", ""), env.pop(WITHIN, ""))
    within = min((float(seconds) for seconds in waits if _is_said(seconds, ())), default=0.0)
    if options.get("--on-failure") and command == "dispatch":
        env[policy.VARIABLE] = options["--on-failure"]
    begun = time.monotonic()
    payload = dispatch.read_stdin(within)
    *words, agent, native = words
    native = "" if native == ANY_EVENT else native
    if folder := options.get("--record") or env.get(RECORD):
        from hookport.runtime.recording import Recording

        recordings.append(Recording(folder, args, agent, native, payload))
    if command == "wrap":
        tables, wires = (
            (bridge.tables, bridge.wire) if bridge else (_tables(_project_of(dispatch.here()), env), _wire)
        )
        sources = _wrapped(words[0], inner, options, dispatch.of_plan(tables, agent, wires), env)
    elif bridge is not None:
        sources = _bridged(bridge, agent, native, payload, env, entry)
    else:
        sources = _sources(agent, native, payload, env, entry)
    if command == "dispatch" and PROBE in payload:
        from hookport.runtime import probe

        probed = probe.answer(payload, native, sources, env)
        if probed is not None:
            return probed
    sources = sources.replace(entry=f"{entry} {bridge.root}" if bridge and sources.roots else entry)
    told = dispatch.answer(payload, native, sources, env, within, begun)
    for one in recordings:
        one.told = told
    return told.answer


def _parsed(args: list[str]) -> tuple[str, list[str], dict[str, str], list[str]]:
    """(command, its words, its options, what stands after `--`)."""
    command, rest = args[0] if args else "", list(args[1:])
    if command not in USAGE:
        raise _wrong(f"unknown command '{command}'. Try: `{_usage('dispatch')}`.")
    inner: list[str] = []
    if "--" in rest:
        split = rest.index("--")
        rest, inner = rest[:split], rest[split + 1 :]
    words: list[str] = []
    options: dict[str, str] = {}
    while rest:
        word = rest.pop(0)
        name, has_value, value = word.partition("=")
        if not word.startswith("--"):
            words.append(word)
        elif word in FLAGS:
            options[word] = "yes"
        elif name in OPTIONS and (has_value or rest):
            value = value if has_value else rest.pop(0)
            if not _is_said(value, OPTIONS[name]):
                raise _wrong(f"{name} cannot be '{value}'. Try: `{_usage(command)}`.")
            if value:
                options[name] = value
        else:
            raise _wrong(f"unknown option '{name}'. Try: `{_usage(command)}`.")
    if len(words) != (2 if command == "dispatch" else 3) or (command == "wrap" and not inner):
        raise _wrong(f"wrong arguments. Try: `{_usage(command)}`.")
    return command, words, options, inner


def _is_said(value: str, words: tuple[str, ...] | None) -> bool:
    if words is None:
        return True
    if words:
        return value in words
    return value.replace(".", "", 1).isdigit() and float(value) > 0


def _usage(command: str) -> str:
    from hookport.runtime import remedy

    return remedy.command(command, USAGE[command])


def _wrong(message: str) -> Exception:
    from hookport.errors import UsageError

    return UsageError(message)


def _sources(agent: str, native: str, payload: bytes, env: Mapping[str, str], entry: str) -> dispatch.Sources:
    """The hooks of the project that the event happened in, and of every other that is approved and named."""
    here = folder = dispatch.here()
    kept = _plan(here, env)
    caller = _caller(kept.wire(agent) or _wire(agent), env, entry)
    sources = dispatch.of_plan(kept, agent, _wire, caller)
    tree = dispatch.tree_of(payload)
    if isinstance(tree, str):
        others = _other_roots(kept, [here, *_named_roots(sources.agent, env)], env)
        plans = [dispatch.of_plan(_plan(root, env), agent, _wire, caller) for root in others]
        return dispatch.joined(sources, plans, env) if plans else sources
    own, native = dispatch.caller(sources, tree, native, env)
    event = dispatch.event_of(own, tree, native)
    read = dispatch.Read(payload, tree, own, native, event)
    caller = _caller(own, env, entry).replace(cwd=event.cwd)
    named = [*_named_roots(own, env), event.root, event.cwd]
    for one in named:
        if one == here:
            break
        if one and os.path.isdir(one):
            folder = one
            kept = _plan(folder, env)
            break

    def current(folder: str, kept: plan.Plan) -> dispatch.Sources:
        sources = dispatch.of_plan(kept, agent, _wire, caller).replace(read=read)
        if not plan.scripts_changed(sources.hooks(event)):
            return sources
        return dispatch.of_plan(_new_plan(folder, env), agent, _wire, caller)

    others = _other_roots(kept, [here, *named, *named_roots(own, tree, event.native)], env)
    if not others:
        return current(folder, kept)
    return dispatch.joined(current(folder, kept), [current(root, _plan(root, env)) for root in others], env)


def _bridged(
    bridge: Bridge, agent: str, native: str, payload: bytes, env: Mapping[str, str], entry: str
) -> dispatch.Sources:
    """The hooks of the bridge's project, and of every other that is approved and that the event is in."""
    from hookport.runtime import trust
    from hookport.vendor import vendored

    def calling(own: Wire) -> plan.CalledFrom:
        return _caller(own, env, entry)

    sources = vendored.sources(bridge, agent, calling, env)
    if not trust.knows_others(bridge.root, env):
        return sources
    folders = [dispatch.here(), *_named_roots(sources.agent, env)]
    tree = dispatch.tree_of(payload)
    if not isinstance(tree, str):
        own, native = dispatch.caller(sources, tree, native, env)
        event = dispatch.event_of(own, tree, native)
        folders += [*_named_roots(own, env), event.root, event.cwd, *named_roots(own, tree, event.native)]
    roots = _besides(bridge.root, trust.approved_roots(filter(None, folders), env), env)
    others = [vendored.other_sources(bridge, root, agent, calling, env) for root in roots]
    return dispatch.joined(sources, others, env) if others else sources


def _other_roots(kept: plan.Plan, folders: Iterable[str], env: Mapping[str, str]) -> list[str]:
    """The approved projects, besides that of a plan, that folders are in; most events are all in one."""
    root = kept.header["root"]
    places = [os.path.realpath(folder) for folder in dict.fromkeys(folders) if folder]
    strays = [place for place in places if place != root and _project_of(place) != root]
    found = [one for one in kept.header["near"] if any(_is_below(place, one) for place in places)]
    if strays:
        from hookport.runtime import trust

        found = _besides(root, [*found, *trust.approved_roots(strays, env)], env)
    return [one for one in dict.fromkeys(found) if one != root]


def _besides(root: str, roots: Iterable[str], env: Mapping[str, str]) -> list[str]:
    """The projects of some roots that are not that of a root.

    A linked worktree to which the approval of its checkout applies is the same project as that.
    """
    from hookport.runtime import trust

    found = list(dict.fromkeys(roots))
    checkouts = [trust.inherited(one, env) for one in (root, *found)]
    return [one for one in found if one not in (root, *checkouts) and trust.inherited(one, env) != root]


def _is_below(place: str, root: str) -> bool:
    return os.path.join(place, "").startswith(os.path.join(root, ""))


def _caller(agent: Wire, env: Mapping[str, str], entry: str) -> plan.CalledFrom:
    """Who calls us; an agent that names its root names the folder that it was started in."""
    return plan.CalledFrom(next(_named_roots(agent, env), "") or dispatch.here(), "", entry, env)


def _plan(cwd: str, env: Mapping[str, str]) -> plan.Plan:
    """The plan of a folder as it was kept, or made anew."""
    path = plan.path_for(cwd, env)
    kept = plan.load(path, env) if path else ""
    if isinstance(kept, plan.Plan) and plan.holds(kept, __version__, env) and not plan.changed(kept):
        return kept
    return _new_plan(cwd, env)


def _new_plan(cwd: str, env: Mapping[str, str]) -> plan.Plan:
    _with_libraries()
    from hookport.project import plan_builder

    return plan_builder.current(cwd, env)[0]


def _with_libraries() -> None:
    """Plans need a YAML library and the dialects of other packages, which `-S` keeps Python from seeing."""
    if sys.flags.no_site:
        import site

        site.main()


def _tables(root: str, env: Mapping[str, str]) -> plan.Plan:
    """The plan that has all wires, a project's settings and no hook."""
    kept = plan.load(plan.tables_for(root, env), env)
    if isinstance(kept, plan.Plan) and kept.header["version"] == __version__ and not plan.changed(kept):
        return kept
    _with_libraries()
    from hookport.project import plan_builder

    return plan_builder.without_hooks(root, env)


def _wrapped(
    script: str,
    inner: list[str],
    options: Mapping[str, str],
    sources: dispatch.Sources,
    env: Mapping[str, str],
) -> dispatch.Sources:
    """One command as the only hook there is."""
    from hookport.base.quoting import quote

    late = options.get("--on-timeout", "")
    what = inner[0] if len(inner) == 1 else " ".join(quote(word) for word in inner)
    type_ = options.get("--type", "command")
    hook = plan.Planned(
        name=inner[0] if len(inner) == 1 else " ".join(inner),
        event="",
        dialect=sources.wires(script).id,
        native=options.get("--for", ""),
        subject=options.get("--matcher-of", "tool"),
        terms=select.terms_in(options["--matcher"]) if "--matcher" in options else (),
        content=options.get("--pattern", ""),
        content_of=options.get("--pattern-of", ""),
        condition=options.get("--if", ""),
        blocking="--observe" not in options,
        type=type_,
        command=what if type_ == "command" else "",
        prompt=what if type_ != "command" else "",
        model=options.get("--model", ""),
        timeout_seconds=DEFAULT_SECONDS,
        is_async="--async" in options,
        on_failure=options.get("--on-failure", ""),
        timeout_action={policy.CLOSED: "block", policy.OPEN: "warn"}.get(late, ""),
    )

    def hooks(event: Event) -> Iterable[plan.Planned]:
        here = hook.replace(event=event.event)
        return [here.replace(tools=select.tools_of(here, sources.wires(script)))] if hook.terms else [here]

    # The command is the user's own entry: it needs no approval, and what waits for one is not its matter.
    sources = sources.replace(needs_approval=False, waiting=None)
    named = next(_named_roots(sources.agent, env), "")
    root = named if named and not sources.agent.root_moves else _project_of(named or dispatch.here())
    return sources.replace(hooks=hooks, root=root)


def _project_of(folder: str) -> str:
    """The repository that a folder is in, or the folder."""
    from hookport.base.paths import repository

    return repository(folder) or folder


def _named_roots(agent: Wire, env: Mapping[str, str]) -> Iterator[str]:
    """The project's root where the agent names it in the environment."""
    return (env[name] for name, value in agent.env.items() if value == "$root" and env.get(name))


def _wire(name: str) -> Wire:
    """A wire that the plan does not have: one of another package, or none."""
    _with_libraries()
    from hookport.agents import wire

    return wire(name)


def _on_terminate() -> None:
    """An agent that gives up ends us; the hook's own processes must not stay behind."""

    def leave(_number: int, _frame: FrameType | None) -> None:
        raise SystemExit(TERMINATED)

    for name in ("SIGTERM", "SIGHUP", "SIGINT"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), leave)
