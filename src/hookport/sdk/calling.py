"""`run`: stdin in, the functions' answer out, in its own process.

Only the answer touches stdout, whatever the functions print, and no traceback reaches an agent.
"""

from __future__ import annotations

import os
import sys

from hookport.sdk import hooks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

    from hookport.model.runs import Answer

INTERRUPTED = 130
# The payload may arrive after a file that does nothing has ended.
PATIENCE_SECONDS = 0.5
_has_begun = False
_has_run = False


def run(*, on_failure: hooks.OnFailure | None = None) -> None:
    """Answer the event on stdin with the functions decorated so far, and end the process.

    `on_failure` sets what happens if a function raises: with `open` nothing is decided, with `closed` the
    action is denied. By default `HOOKPORT_ON_FAILURE` and the project's settings decide. In an imported file,
    for example in a test, `run` does nothing.
    """
    global _has_run  # noqa: PLW0603  (there is one process, and it answers once)
    if hooks.is_imported():
        return
    _has_run = True
    from hookport.model.runs import Answer
    from hookport.runtime.occasion import parse_payload, read_payload
    from hookport.sdk import replies

    stdout, env, policy = _reserve_stdout(), dict(os.environ), on_failure or ""
    try:
        # A person who types the command gets a hint, without waiting.
        payload = parse_payload(b"") if os.isatty(0) else read_payload(0.0)
        _refuse_none()
        reply = replies.reply(payload, hooks.bound, env, replies.check_policy(policy))
    except KeyboardInterrupt:
        reply = Answer(exit_code=INTERRUPTED)
    except Exception as error:  # noqa: BLE001  (no traceback may reach an agent)
        reply = replies.answer_error(error, env, policy)
    _leave(reply, stdout)


def _reserve_stdout() -> int:
    """Keep stdout for the answer: from here on, output of the functions and their children goes to stderr.

    So does earlier output of the file that Python still has in its buffer.
    """
    stdout = os.dup(1)
    os.dup2(2, 1)
    _flush()
    return stdout


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):  # closed, or none at all
            continue


def _leave(reply: Answer, stdout: int) -> None:
    """Print the answer, whole, and end."""
    _flush()
    os.dup2(stdout, 1)
    from hookport.runtime.answer import print_answer

    code = print_answer(reply)
    # Later output would follow the answer.
    os.dup2(2, 1)
    raise SystemExit(code)


def _refuse_none() -> None:
    if not hooks.bound:
        from hookport.errors import UsageError

        raise UsageError("no function is decorated before run(), so it would never decide anything")


def begin() -> None:
    """Notice that a hook file runs: its errors are no tracebacks for the agent, and it must answer.

    A person at a prompt needs the traceback.
    """
    global _has_begun  # noqa: PLW0603  (as above)
    if _has_begun or hooks.is_imported() or hasattr(sys, "ps1") or sys.flags.interactive:
        return
    import atexit

    _has_begun = True
    sys.excepthook = _answer_exception
    atexit.register(_answer_at_exit)


def _answer_at_exit() -> None:
    """Answer with a failure if `run` was never called: otherwise the guard would be lost silently."""
    if _has_run or not hooks.bound or not _is_waiting():
        return
    from hookport.errors import UsageError
    from hookport.runtime.answer import print_answer
    from hookport.sdk import replies

    _flush()
    error = UsageError("it ended before it called run(), so its functions did not run")
    os._exit(print_answer(replies.answer_error(error, dict(os.environ))))


def _is_waiting() -> bool:
    """Whether there is a payload that nobody read."""
    import select

    try:
        return not os.isatty(0) and bool(select.select([0], [], [], PATIENCE_SECONDS)[0] and os.read(0, 1))
    except (OSError, ValueError):  # closed, or a pipe on Windows, which cannot be polled
        return False


def _answer_exception(kind: type[BaseException], error: BaseException, _trace: TracebackType | None) -> None:
    from hookport.runtime.answer import print_answer
    from hookport.sdk import replies

    if issubclass(kind, KeyboardInterrupt):
        os._exit(INTERRUPTED)
    code = print_answer(replies.answer_error(error, dict(os.environ)))
    # Python would end with 1, which denies nothing.
    os._exit(code)
