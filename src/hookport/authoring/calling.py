"""`run`: stdin in, the functions' answer out in the terms of whoever calls.

Only the answer touches stdout, whatever the functions print; what goes wrong is one line on stderr and a
decision by policy, never a traceback.
"""

from __future__ import annotations

import os
import sys

from hookport.authoring import deciding, hooks
from hookport.authoring.callers import caller
from hookport.authoring.deciding import DEBUG
from hookport.model.runs import BLOCK, Answer, Decision
from hookport.runtime import policy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import TracebackType

    from hookport.model.runs import Event as Happened
    from hookport.wires.table import Wire

# Set by a dispatch for the hooks it runs: the agent whose event it is.
CALLED_BY = "HOOKPORT_AGENT"
FAILED, INTERRUPTED = 1, 130


def run(*, on_failure: hooks.OnFailure | None = None) -> None:
    """Answer the event on stdin with the functions decorated so far, and end the process.

    `on_failure` says what a function that raises means: `open`, nothing is decided, or `closed`, it is
    denied. Without it `HOOKPORT_ON_FAILURE` and the project's settings say it. In a file that is imported,
    such as by a test, this does nothing.
    """
    if not hooks.called_from_main():
        return
    if on_failure not in (None, policy.OPEN, policy.CLOSED):
        from hookport.errors import UsageError

        raise UsageError(f"on_failure cannot be '{on_failure}'. Write 'open' or 'closed'.")
    from hookport.runtime import dispatch

    kept = _reserved()
    try:
        payload = dispatch.read_stdin(0.0)
        said = answered(payload, hooks.bound, dict(os.environ), on_failure or "")
    except KeyboardInterrupt:
        said = Answer(exit_code=INTERRUPTED)
    except Exception as error:  # noqa: BLE001  (no traceback may reach an agent)
        said = stumbled(error, dict(os.environ), on_failure or "")
    _leave(said, kept)


def answered(
    payload: bytes, functions: Sequence[hooks.Bound], env: Mapping[str, str], on_failure: str = ""
) -> Answer:
    """What whoever sent the payload is told."""
    from hookport.runtime import dispatch
    from hookport.wires.events import read_event

    tree = dispatch.tree_of(payload)
    if isinstance(tree, str):
        return _unreadable(tree, env, on_failure)
    found = caller(tree)
    if found is None:
        return _unreadable("no agent or format that hookport knows sends such a payload", env, on_failure)
    wire, native = found
    event = read_event(wire, tree, native)
    cwd = event.cwd or event.root or dispatch.here()
    event = event.replace(cwd=cwd, root=event.root or cwd)
    outcome = deciding.decide(event, functions, wire, tree)
    if event.event == "before_tool_execute" and not (event.call and (event.call.native or event.call.tool)):
        # No matcher on a tool can have matched, so nothing that guards one has seen it.
        guards = [one for one in functions if one.hook.event == event.event][:1]
        outcome.failures += [(one, "the payload names no tool") for one in guards]
    return _told(event, outcome, wire, env, on_failure)


def _told(
    event: Happened, outcome: deciding.Outcome, wire: Wire, env: Mapping[str, str], on_failure: str
) -> Answer:
    from hookport.runtime import dispatch, engine, sessions

    is_bridged = env.get(CALLED_BY, wire.id) != wire.id
    said = on_failure or env.get(policy.VARIABLE, "")
    decision = outcome.merged()
    lines = [f"hook '{one.hook.name}' failed: {failure}." for one, failure in outcome.failures]
    if outcome.failures:
        if is_bridged and said not in (policy.OPEN, policy.CLOSED) and _is_silent(outcome):
            # Whoever runs us has a policy of its own, for this hook and the project.
            return Answer(stderr=_line(lines, env), exit_code=FAILED)
        default = policy.standing(_settings(event.cwd, env), env)
        decision = outcome.merged(on_failure, default)
    if not is_bridged and (endless := sessions.endless(event, decision, wire, env)):
        decision = Decision(system_message=endless)
    answer = dispatch.told_of(event, engine.Report(outcome.event, decision), wire).answer
    if lines and lines[0] not in answer.stderr:
        answer = answer.replace(stderr=answer.stderr + _line(lines, env))
    return answer


def _is_silent(outcome: deciding.Outcome) -> bool:
    """Whether no other function said something that would be lost with an exit code."""
    return all(one == Decision() for one in outcome.decisions)


def _settings(cwd: str, env: Mapping[str, str]) -> Mapping[str, str]:
    """The settings of the project, as far as they can be told."""
    try:
        from hookport import planning

        return planning.settings_in(cwd, env)
    except Exception:  # noqa: BLE001  (an archive has no such module, and the file may be broken)
        return {}


def _unreadable(failure: str, env: Mapping[str, str], on_failure: str) -> Answer:
    """The answer to a caller that cannot be told apart: the exit codes that most obey."""
    default = policy.standing(_settings(os.curdir, env), env)
    is_closed = (on_failure or default) == policy.CLOSED
    effect = "It is denied (fail closed)." if is_closed else "It was not blocked (fail open)."
    hint = "Give it an agent's payload on stdin; `hookport.testing.payload` makes one."
    line = f"{_file()}: {failure}. {effect} {hint}\n"
    return Answer(stderr=line, exit_code=BLOCK if is_closed else FAILED)


def stumbled(error: BaseException, env: Mapping[str, str], on_failure: str = "") -> Answer:
    """The answer where the file itself failed, and nothing is known of the event."""
    if env.get(DEBUG):
        import traceback

        traceback.print_exception(error)
    default = policy.standing(_settings(os.curdir, env), env)
    is_closed = (on_failure or default) == policy.CLOSED
    effect = "It is denied (fail closed)." if is_closed else "It was not blocked (fail open)."
    line = _line([f"{_file()}: {deciding.told(error)}. {effect}"], env)
    return Answer(stderr=line, exit_code=BLOCK if is_closed else FAILED)


def _line(lines: Sequence[str], env: Mapping[str, str]) -> str:
    """What went wrong, in one line."""
    hint = "" if env.get(DEBUG) else f" Set {DEBUG}=1 to see the traceback."
    return " ".join(dict.fromkeys(lines)) + hint + "\n"


def _file() -> str:
    return os.path.basename(sys.argv[0]) or "a hook"


def _reserved() -> int:
    """Keep stdout for the answer: what the functions and their children print goes to stderr from here on.

    So does what the file printed before and Python still has in its buffer.
    """
    kept = os.dup(1)
    os.dup2(2, 1)
    _flush()
    return kept


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):  # closed, or none at all
            continue


def _leave(said: Answer, stdout: int) -> None:
    """Print the answer, whole, and end."""
    _flush()
    os.dup2(stdout, 1)
    from hookport.runtime import dispatch

    code = dispatch.tell(said)
    # What is printed from now on would stand after the answer.
    os.dup2(2, 1)
    raise SystemExit(code)


def catch() -> None:
    """Let nothing that the file itself raises be a traceback for the agent."""
    sys.excepthook = _caught


def _caught(kind: type[BaseException], error: BaseException, _trace: TracebackType | None) -> None:
    from hookport.runtime import dispatch

    if issubclass(kind, KeyboardInterrupt):
        os._exit(INTERRUPTED)
    code = dispatch.tell(stumbled(error, dict(os.environ)))
    # Python would end with 1, which denies nothing.
    os._exit(code)
