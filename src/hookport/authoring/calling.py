"""`run`: stdin in, the functions' answer out, in a process of its own.

Only the answer touches stdout, whatever the functions print, and no traceback reaches an agent.
"""

from __future__ import annotations

import os
import sys

from hookport.authoring import hooks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

    from hookport.model.runs import Answer

INTERRUPTED = 130


def run(*, on_failure: hooks.OnFailure | None = None) -> None:
    """Answer the event on stdin with the functions decorated so far, and end the process.

    `on_failure` says what a function that raises means: `open`, nothing is decided, or `closed`, it is
    denied. Without it `HOOKPORT_ON_FAILURE` and the project's settings say it. In a file that is imported,
    such as by a test, this does nothing.
    """
    if hooks.is_imported():
        return
    from hookport.authoring import replies
    from hookport.model.runs import Answer
    from hookport.runtime import dispatch

    kept, env, said = _reserved(), dict(os.environ), on_failure or ""
    try:
        # Who types the command gets a hint, and no wait.
        payload = b"" if os.isatty(0) else dispatch.read_stdin(0.0)
        reply = replies.reply(payload, hooks.bound, env, replies.policy_of(said))
    except KeyboardInterrupt:
        reply = Answer(exit_code=INTERRUPTED)
    except Exception as error:  # noqa: BLE001  (no traceback may reach an agent)
        reply = replies.stumbled(error, env, said)
    _leave(reply, kept)


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


def _leave(reply: Answer, stdout: int) -> None:
    """Print the answer, whole, and end."""
    _flush()
    os.dup2(stdout, 1)
    from hookport.runtime import dispatch

    code = dispatch.tell(reply)
    # What is printed from now on would stand after the answer.
    os.dup2(2, 1)
    raise SystemExit(code)


def catch() -> None:
    """Let nothing that the file itself raises be a traceback for the agent; a person at a prompt needs it."""
    if not (hasattr(sys, "ps1") or sys.flags.interactive):
        sys.excepthook = _caught


def _caught(kind: type[BaseException], error: BaseException, _trace: TracebackType | None) -> None:
    from hookport.authoring import replies
    from hookport.runtime import dispatch

    if issubclass(kind, KeyboardInterrupt):
        os._exit(INTERRUPTED)
    code = dispatch.tell(replies.stumbled(error, dict(os.environ)))
    # Python would end with 1, which denies nothing.
    os._exit(code)
