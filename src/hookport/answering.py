"""What agents call on every event, `dispatch` and `wrap`, with nothing imported that these do not need."""

from __future__ import annotations

import os
import sys
import time

from hookport import __version__
from hookport.model.runs import ANY_EVENT, BLOCK, Answer, Decision, Event
from hookport.runtime import dispatch, engine, plan, policy, sessions
from hookport.wires.events import canonical_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    from collections.abc import Iterable, Iterator, Mapping
    from types import FrameType

    from hookport.runtime.recording import Recording
    from hookport.runtime.vendored import Bridge
    from hookport.wires.table import Wire
else:
    import _signal as signal  # `signal` makes enums of them

USAGE = {
    "dispatch": "hookport dispatch AGENT EVENT [--within SECONDS] [--on-failure open|closed] [--entry NAME] "
    "[--record DIR]",
    "wrap": "hookport wrap SCRIPT-DIALECT AGENT EVENT [--within SECONDS] [--on-failure open|closed] "
    "[--on-timeout open|closed] [--async] [--for SCRIPT-EVENT] [--entry NAME] [--record DIR] -- COMMAND",
}
# Each with what it may say; empty for a number, none for any text.
OPTIONS: dict[str, tuple[str, ...] | None] = {
    "--within": (),
    "--on-failure": (policy.OPEN, policy.CLOSED),
    "--on-timeout": (policy.OPEN, policy.CLOSED),
    "--for": None,
    "--entry": None,
    "--record": None,
}
RECORD = "HOOKPORT_RECORD"
# How long whoever calls us waits, in seconds, where the entry cannot say it: not for the hooks that we run.
WITHIN = "HOOKPORT_WITHIN"
FLAGS = ("--async",)
TERMINATED = 143
# A command that is wrapped has the agent's own time; this is for agents that tell none.
DEFAULT_SECONDS = 600.0


def main(args: list[str] | None = None, bridge: Bridge | None = None) -> int:
    """Answer one event; what goes wrong here is said on stderr, and denies where failures deny.

    With a bridge, the hooks are those of its project.
    """
    args = sys.argv[1:] if args is None else args
    env = dict(os.environ)
    _on_terminate()
    recordings: list[Recording] = []
    answer = None
    try:
        answer = _answer(args, env, bridge, recordings)
        return dispatch.tell(answer)
    except Exception as error:  # noqa: BLE001  (no traceback may reach an agent)
        closed = _is_closed(args, env, bridge)
        told = str(error) if hasattr(error, "exit_code") else f"{type(error).__name__}: {error}"
        effect = "It is denied (fail closed)." if closed else "Nothing was decided (fail open)."
        if env.get("HOOKPORT_DEBUG"):
            import traceback

            traceback.print_exc()
        message = f"hookport: {told} {effect}"
        answer = _denied(args, message, bridge) if closed else Answer(stderr=f"{message}\n", exit_code=1)
        return dispatch.tell(answer)
    finally:
        for one in recordings:
            one.write(answer, env)


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


def _settings(env: Mapping[str, str], bridge: Bridge | None) -> Mapping[str, str]:
    try:
        if bridge is not None:
            from hookport.runtime import vendored

            return vendored.settings(bridge.root)
        _with_libraries()
        from hookport import planning

        return planning.settings_in(dispatch.here(), env)
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
            (bridge.tables, bridge.wire) if bridge else (_tables(_repository(dispatch.here()), env), _wire)
        )
        sources = _wrapped(words[0], inner, options, dispatch.of_plan(tables, agent, wires), env)
    elif bridge is not None:
        from hookport.runtime import vendored

        sources = vendored.sources(bridge, agent, lambda own: _caller(own, env, entry), env)
    else:
        sources = _sources(agent, native, payload, env, entry)
    sources = sources.replace(entry=entry)
    told = dispatch.answer(payload, native, sources, env, within, begun)
    for one in recordings:
        one.told = told
    return told.answer


def _parsed(args: list[str]) -> tuple[str, list[str], dict[str, str], list[str]]:
    """(command, its words, its options, what stands after `--`)."""
    command, rest = args[0] if args else "", list(args[1:])
    if command not in USAGE:
        raise _wrong(f"unknown command '{command}'. Try: `{USAGE['dispatch']}`.")
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
            options[name] = value if has_value else rest.pop(0)
            if not _is_said(options[name], OPTIONS[name]):
                raise _wrong(f"{name} cannot be '{options[name]}'. Try: `{USAGE[command]}`.")
        else:
            raise _wrong(f"unknown option '{name}'. Try: `{USAGE[command]}`.")
    if len(words) != (2 if command == "dispatch" else 3) or (command == "wrap" and not inner):
        raise _wrong(f"wrong arguments. Try: `{USAGE[command]}`.")
    return command, words, options, inner


def _is_said(value: str, words: tuple[str, ...] | None) -> bool:
    if words is None:
        return bool(value)
    if words:
        return value in words
    return value.replace(".", "", 1).isdigit() and float(value) > 0


def _wrong(message: str) -> Exception:
    from hookport.errors import UsageError

    return UsageError(message)


def _sources(agent: str, native: str, payload: bytes, env: Mapping[str, str], entry: str) -> dispatch.Sources:
    """The hooks of the project that the event happened in."""
    here = folder = dispatch.here()
    kept = _plan(here, env)
    caller = _caller(kept.wire(agent) or _wire(agent), env, entry)
    sources = dispatch.of_plan(kept, agent, _wire, caller)
    tree = dispatch.tree_of(payload)
    if isinstance(tree, str):
        return sources
    own, native = dispatch.caller(sources, tree, native, env)
    event = dispatch.event_of(own, tree, native)
    caller = _caller(own, env, entry).replace(cwd=event.cwd)
    sources = dispatch.of_plan(kept, agent, _wire, caller)
    for named in (*_named_roots(own, env), event.root, event.cwd):
        if named == here:
            break
        if named and os.path.isdir(named):
            folder = named
            sources = dispatch.of_plan(_plan(folder, env), agent, _wire, caller)
            break
    if plan.scripts_changed(sources.hooks(event)):
        sources = dispatch.of_plan(_new_plan(folder, env), agent, _wire, caller)
    return sources


def _caller(agent: Wire, env: Mapping[str, str], entry: str) -> plan.CalledFrom:
    """Who calls us; an agent that names its root names the folder that it was started in."""
    return plan.CalledFrom(next(_named_roots(agent, env), "") or dispatch.here(), "", entry, env)


def _plan(cwd: str, env: Mapping[str, str]) -> plan.Plan:
    """The plan of a folder as it was kept, or made anew."""
    path = plan.path_for(cwd, env)
    kept = plan.load(path) if path else ""
    if isinstance(kept, plan.Plan) and plan.holds(kept, __version__, env) and not plan.changed(kept):
        return kept
    return _new_plan(cwd, env)


def _new_plan(cwd: str, env: Mapping[str, str]) -> plan.Plan:
    _with_libraries()
    from hookport import planning

    return planning.current(cwd, env)[0]


def _with_libraries() -> None:
    """Plans need a YAML library and the dialects of other packages, which `-S` keeps Python from seeing."""
    if sys.flags.no_site:
        import site

        site.main()


def _tables(root: str, env: Mapping[str, str]) -> plan.Plan:
    """The plan that has all wires, a project's settings and no hook."""
    kept = plan.load(plan.tables_for(root, env))
    if isinstance(kept, plan.Plan) and kept.header["version"] == __version__ and not plan.changed(kept):
        return kept
    _with_libraries()
    from hookport import planning

    return planning.without_hooks(root, env)


def _wrapped(
    script: str,
    inner: list[str],
    options: Mapping[str, str],
    sources: dispatch.Sources,
    env: Mapping[str, str],
) -> dispatch.Sources:
    """One command as the only hook there is."""
    late = options.get("--on-timeout", "")
    hook = plan.Planned(
        name=inner[0] if len(inner) == 1 else " ".join(inner),
        event="",
        dialect=sources.wires(script).id,
        native=options.get("--for", ""),
        command=inner[0] if len(inner) == 1 else " ".join(_quoted(word) for word in inner),
        timeout_seconds=DEFAULT_SECONDS,
        is_async="--async" in options,
        on_failure=options.get("--on-failure", ""),
        timeout_action={policy.CLOSED: "block", policy.OPEN: "warn"}.get(late, ""),
    )

    def hooks(event: Event) -> Iterable[plan.Planned]:
        return [hook.replace(event=event.event)]

    # The command is the user's own entry: it needs no approval, and what waits for one is not its matter.
    sources = sources.replace(needs_approval=False, waiting=None)
    named = next(_named_roots(sources.agent, env), "")
    root = named if named and not sources.agent.root_moves else _repository(named or dispatch.here())
    return sources.replace(hooks=hooks, root=root)


def _named_roots(agent: Wire, env: Mapping[str, str]) -> Iterator[str]:
    """The project's root where the agent names it in the environment."""
    return (env[name] for name, value in agent.env.items() if value == "$root" and env.get(name))


def _repository(here: str) -> str:
    """The repository that a folder is in, or the folder."""
    folder = here
    while not os.path.exists(os.path.join(folder, ".git")):
        above = os.path.dirname(folder)
        if above == folder:
            return here
        folder = above
    return folder


def _quoted(word: str) -> str:
    return "'" + word.replace("'", "'\\''") + "'"


def _wire(name: str) -> Wire:
    """A wire that the plan does not have: one of another package, or none."""
    _with_libraries()
    from hookport.dialects._wiring import wire

    return wire(name)


def _on_terminate() -> None:
    """An agent that gives up ends us; the hook's own processes must not stay behind."""

    def leave(_number: int, _frame: FrameType | None) -> None:
        raise SystemExit(TERMINATED)

    for name in ("SIGTERM", "SIGHUP", "SIGINT"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), leave)
