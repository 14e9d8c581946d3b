"""What happened, what a hook's run gave and what it decided; an exit code that is not there stays None."""

from __future__ import annotations

from hookport.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Literal

    Outcome = Literal["completed", "timeout", "signal", "spawn_error", "stdin_error", "not_started"]
    Verdict = Literal["none", "allow", "ask", "deny"]

BLOCK = 2
# In place of an event's name, where the payload says it.
ANY_EVENT = "-"
# What is kept of each stream of a hook.
KEPT_BYTES = 1 << 20


class Call(Value):
    """One tool call.

    `tool` is a word of the tool vocabulary, or empty where the tool has none; `also` are the further words
    that one native tool stands for. `native` is what the agent calls it. An MCP tool has `server` and
    `mcp_tool`. `input` has canonical field names, `raw` is the input as the agent sent it; the same holds for
    `text`, which is None where there is no text, and `result`. A patch or a batch does several things:
    `parts` are the calls it stands for. `known_by` says what tells the tool's kind: its `name`, its `input`
    where the agent's table does not have the name, or nothing at all.
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
    """One event of an agent in canonical terms; `extra` is what has no canonical name, as it came.

    `event` is a canonical name, or `dialect:Name` for one that only that agent has. Empty text means that the
    agent did not say. `facts` are the fields that not every event has (permission mode, transcript, model,
    turn, ...), by canonical name and in canonical words; one that is not there was not sent.
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
    # Keys that the agent's table gives its payloads and this one did not have, each with those it is in.
    absent: tuple[tuple[str, ...], ...] = ()


class RunResult(Value):
    """How a hook's process ended and what it printed, at most `KEPT_BYTES` of each stream."""

    outcome: Outcome
    exit_code: int | None = None
    stdout: str = ""
    stderr: str = ""
    signal: int = 0
    # Why it did not start, or another detail.
    detail: str = ""
    seconds: float = 0.0
    # Bytes that were read and thrown away, of both streams.
    dropped: int = 0


class Decision(Value):
    """What a hook decided; `none` is no opinion, which is not the same as `allow`.

    A `deny` where the agent is about to stop means: go on, with the reason as what is left to do. `failure`
    says why there is no answer to trust; policy decides what a failure means. `carry_on` false asks the agent
    to end its loop. `updated_input` has canonical field names and is the whole input. `noise` is text that
    stood around the answer.
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
    """What an agent reads: exactly these bytes on stdout and stderr, and this exit code."""

    stdout: str = ""
    stderr: str = ""
    exit_code: int = 0
