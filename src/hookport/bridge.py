"""The quick way in for agents: `dispatch` and `wrap`, with nothing imported that they do not need.

As a file it runs without an installation, `python3 -I -S bridge.py dispatch AGENT EVENT`, which spares the
interpreter the search for site packages.
"""

from __future__ import annotations

import os
import sys

if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))  # noqa: PTH100, PTH120

from hookport import __version__
from hookport.model.runs import Answer, Event
from hookport.runtime import dispatch, plan, policy
from hookport.wires.events import canonical_name, read_event

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from types import FrameType

    from hookport.wires.table import Wire

USAGE = {
    "dispatch": "hookport dispatch AGENT EVENT [--within SECONDS]",
    "wrap": "hookport wrap SCRIPT-DIALECT AGENT EVENT [--within SECONDS] [--on-failure block] -- COMMAND",
}
OPTIONS = ("--within", "--on-failure")
TERMINATED = 143


def main(args: list[str] | None = None) -> int:
    """Answer one event; what goes wrong here is said on stderr, and denies where failures deny."""
    args = sys.argv[1:] if args is None else args
    env = dict(os.environ)
    _on_terminate()
    try:
        return dispatch.tell(_answer(args, env))
    except Exception as error:  # noqa: BLE001  (no traceback may reach an agent)
        closed = policy.standing({}, env) == policy.CLOSED
        told = str(error) if hasattr(error, "exit_code") else f"{type(error).__name__}: {error}"
        effect = "It is denied (fail closed)." if closed else "Nothing was decided (fail open)."
        if env.get("HOOKPORT_DEBUG"):
            import traceback

            traceback.print_exc()
        return dispatch.tell(Answer(stderr=f"hookport: {told} {effect}\n", exit_code=2 if closed else 1))


def _answer(args: list[str], env: dict[str, str]) -> Answer:
    command, words, options, inner = _parsed(args)
    within = float(options.get("--within", 0.0))
    payload = dispatch.read_stdin()
    if command == "dispatch":
        agent, native = words
        sources = _sources(agent, native, payload, env)
    else:
        script, agent, native = words
        sources = _wrapped(script, agent, native, inner, options, env)
    return dispatch.answer(payload, native, sources, env, within).answer


def _parsed(args: list[str]) -> tuple[str, list[str], dict[str, str], list[str]]:
    """(command, its words, its options, what stands after `--`)."""
    command, rest = args[0] if args else "", list(args[1:])
    if command not in USAGE:
        raise _wrong(f"unknown command '{command}'. Try: {USAGE['dispatch']}")
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
        elif name in OPTIONS and (has_value or rest):
            options[name] = value if has_value else rest.pop(0)
        else:
            raise _wrong(f"unknown option '{name}'. Try: {USAGE[command]}")
    if len(words) != (2 if command == "dispatch" else 3) or (command == "wrap" and not inner):
        raise _wrong(f"wrong arguments. Try: {USAGE[command]}")
    return command, words, options, inner


def _wrong(message: str) -> Exception:
    from hookport.errors import UsageError

    return UsageError(message)


def _sources(agent: str, native: str, payload: bytes, env: Mapping[str, str]) -> dispatch.Sources:
    """The hooks of the project that the event happened in."""
    here = os.getcwd()  # noqa: PTH109  (pathlib costs a dispatch 5 ms)
    found = _plan(here, env)
    sources = dispatch.of_plan(found, agent, _wire)
    tree = dispatch.tree_of(payload)
    if isinstance(tree, str):
        return sources
    event = read_event(sources.agent, tree, native)
    named = [env.get(name, "") for name, value in sources.agent.env.items() if value == "$root"]
    for folder in (*named, event.root, event.cwd):
        if folder and folder != here and os.path.isdir(folder):  # noqa: PTH112  (the same)
            return dispatch.of_plan(_plan(folder, env), agent, _wire)
        if folder == here:
            break
    return sources


def _plan(cwd: str, env: Mapping[str, str]) -> plan.Plan:
    """The plan of a folder as it was kept, or made anew."""
    path = plan.path_for(cwd, env)
    kept = plan.load(path) if path else ""
    if isinstance(kept, plan.Plan) and kept.header["version"] == __version__ and not plan.changed(kept):
        return kept
    from hookport import planning

    return planning.current(cwd, env)[0]


def _wrapped(
    script: str, agent: str, native: str, inner: list[str], options: Mapping[str, str], env: Mapping[str, str]
) -> dispatch.Sources:
    """One command as the only hook there is."""
    kept = plan.load(plan.path_for("", env))
    if not isinstance(kept, plan.Plan) or kept.header["version"] != __version__ or plan.changed(kept):
        from hookport import planning

        kept = planning.without_hooks(env)
    sources = dispatch.of_plan(kept, agent, _wire)
    hook = plan.Planned(
        name=inner[0] if len(inner) == 1 else " ".join(inner),
        event=canonical_name(sources.agent, native),
        dialect=sources.wires(script).id,
        command=inner[0] if len(inner) == 1 else " ".join(_quoted(word) for word in inner),
        timeout_seconds=float("inf"),
        on_failure=options.get("--on-failure", ""),
    )

    def hooks(_event: Event) -> Iterable[plan.Planned]:
        return [hook]

    return sources.replace(hooks=hooks, root=os.getcwd())  # noqa: PTH109  (the same)


def _quoted(word: str) -> str:
    return "'" + word.replace("'", "'\\''") + "'"


def _wire(name: str) -> Wire:
    """A wire that the plan does not have: one of another package, or none."""
    from hookport.dialects._wiring import wire

    return wire(name)


def _on_terminate() -> None:
    """An agent that gives up ends us; the hook's own processes must not stay behind."""
    import signal

    def leave(_number: int, _frame: FrameType | None) -> None:
        raise SystemExit(TERMINATED)

    for name in ("SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), leave)


if __name__ == "__main__":
    sys.exit(main())
