"""Events, the results of hooks' runs, and their decisions; a missing exit code stays None."""

from __future__ import annotations

from hookport.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Literal

    Outcome = Literal["completed", "timeout", "signal", "spawn_error", "stdin_error", "not_started"]
    Verdict = Literal["none", "allow", "ask", "deny"]

BLOCK = 2
# Stands for an event's name that the payload contains.
ANY_EVENT = "-"
# How much of each stream of a hook is stored.
KEPT_BYTES = 1 << 20


class Call(Value):
    """One tool call.

    `tool` is a canonical name, or empty if the tool has none; `also` are more canonical names of one native
    tool. `native` is the agent's name of the tool. An MCP tool has `server` and `mcp_tool`. `input` has
    canonical field names, `raw` is the input as the agent sent it; the same holds for `text`, which is None
    without a text, and `result`. For a patch or a batch, `parts` are the single calls. `known_by` is what
    identified the tool's kind: its `name`, its `input` if the agent's table lacks the name, or nothing.
    """

    tool: str = ""
    native: str = ""
    also: tuple[str, ...] = ()
    input: Mapping[str, Any] = {}
    raw: Any = None
    id: str = ""
    result: Any = None
    text: str | None = None
    error: Any = None
    server: str = ""
    mcp_tool: str = ""
    parts: tuple[Call, ...] = ()
    known_by: str = "name"


class Event(Value):
    """One event of an agent in canonical form; `extra` are the fields without a canonical name, unchanged.

    `event` is a canonical name, or `dialect:Name` for an event of only that agent. Empty text means that the
    agent did not send it. `facts` are the fields that not every event has (permission mode, transcript,
    model, turn, ...), by canonical name and with canonical values; a missing one was not sent.
    """

    event: str
    agent: str
    native: str = ""
    session: str = ""
    cwd: str = ""
    root: str = ""
    timestamp: str = ""
    call: Call | None = None
    prompt: str = ""
    final_message: str = ""
    stop_active: bool = False
    source: str = ""
    subagent: str = ""
    facts: Mapping[str, Any] = {}
    extra: Mapping[str, Any] = {}
    # Payload keys in the agent's table that this payload lacked, each with its parent keys.
    absent: tuple[tuple[str, ...], ...] = ()


class RunResult(Value):
    """How a hook's process ended, and its output, at most `KEPT_BYTES` of each stream."""

    outcome: Outcome
    exit_code: int | None = None
    stdout: str = ""
    stderr: str = ""
    signal: int = 0
    # Why it did not start, or another detail.
    detail: str = ""
    seconds: float = 0.0
    # Bytes that were read and discarded, of both streams.
    dropped: int = 0


class Decision(Value):
    """A hook's decision; `none` is no opinion, which is not the same as `allow`.

    On a stop event, `deny` makes the agent continue, with the reason as the remaining work. `failure`
    explains why no answer is valid; policy decides what a failure means. `carry_on` false asks the agent to
    end its loop. `updated_input` has canonical field names and is the whole input. `noise` is other text
    around the answer.
    """

    verdict: Verdict = "none"
    reason: str = ""
    context: str = ""
    carry_on: bool = True
    updated_input: Mapping[str, Any] | None = None
    suppress_output: bool = False
    system_message: str = ""
    replaced_result: Any = None
    failure: str = ""
    noise: str = ""
    # Other fields of an answer, by the names of `Wire.extras`.
    more: Mapping[str, Any] = {}


class Answer(Value):
    """An answer to an agent: exactly these bytes on stdout and stderr, and this exit code."""

    stdout: str = ""
    stderr: str = ""
    exit_code: int = 0
