"""What a run of a hook gave and what it decided; an exit code that is not there stays None."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

Outcome = Literal["completed", "timeout", "signal", "spawn_error", "stdin_error"]
Verdict = Literal["none", "allow", "ask", "deny"]

BLOCK = 2


class RunResult(NamedTuple):
    """How a hook's process ended and what it printed."""

    outcome: Outcome
    exit_code: int | None = None
    stdout: str = ""
    stderr: str = ""


class Decision(NamedTuple):
    """What a hook decided; `none` is no opinion, which is not the same as `allow`.

    `failure` says why there is no answer to trust; policy decides what a failure means. `carry_on` false
    asks the agent to end its loop.
    """

    verdict: Verdict = "none"
    reason: str = ""
    context: str = ""
    carry_on: bool = True
    updated_input: Mapping[str, Any] | None = None
    suppress_output: bool = False
    system_message: str = ""
    failure: str = ""
