"""One tool call of a framework, from the hooks before it to those after it; every adapter goes through here.

A call runs only if the hooks had their say on arguments that are a JSON object. An `ask` without a person to
answer it is a deny, and so is a call that cannot be judged.
"""

from __future__ import annotations

import inspect
import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass, field, is_dataclass
from math import isfinite
from typing import Any, Unpack

from hookport.host import AsyncHost, Host, Outcome
from hookport.host.events import EventOptions

# Gets the outcome whose verdict is `ask`; whether the person agrees.
AskPerson = Callable[[Outcome], bool | Awaitable[bool]]
# Runs the tool with these arguments.
RunTool = Callable[[dict[str, Any]], Any]


class CallOptions(EventOptions, total=False):
    """What a call may say besides: the options of any event, and the agent inside the agent that makes it."""

    subagent: str


LOG = logging.getLogger("hookport")
NOBODY = "A hook wants a person to approve this call, and this agent has nobody to ask."
DECLINED = "The person declined this call."
STOP = "A hook ends this turn: call no more tools, and answer."
# The host takes 100 levels and integers of 4,300 digits.
_DEEPEST = 90
_MOST_BITS = 14_000
# Of calls that run at once.
_MOST_CALLS = 10_000


@dataclass(frozen=True)
class Permit:
    """Whether a tool may run, and with what; `refusal` is the text for the model, empty where it may."""

    refusal: str = ""
    input: dict[str, Any] = field(default_factory=dict)
    context: str = ""
    # A hook ends the agent's loop, besides.
    is_last: bool = False

    def apply(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments to run with: the framework's own objects, but for those that a hook changed."""
        return {
            key: given[key] if key in given and not _is_other(as_json(given[key]), value) else value
            for key, value in self.input.items()
        }


@dataclass(frozen=True)
class Finding:
    """What hooks said of a result: another one, and texts for the model."""

    result: Any
    is_replaced: bool
    text: str

    def combine(self) -> Any:
        """The result with the texts, for frameworks that have no other place for these."""
        if not self.text:
            return self.result
        kept = self.result
        if isinstance(kept, Mapping) and "hooks" not in kept:
            return {**kept, "hooks": self.text}
        if (
            isinstance(kept, list)
            and kept
            and all(isinstance(part, Mapping) and "type" in part for part in kept)
        ):
            return [*kept, {"type": "text", "text": self.text}]
        return _join(as_text(kept), self.text)


class Guard:
    """The hooks of one host around tool calls, for frameworks with and without an event loop."""

    def __init__(self, host: Host | AsyncHost, ask: AskPerson | None = None) -> None:
        """Guard with the hooks of a host; `ask` is called where a hook wants a person to decide."""
        self._host, self._async_host, self._ask = host.as_blocking(), host.as_async(), ask
        self._permits: dict[str, Permit] = {}

    def __deepcopy__(self, memo: object) -> Guard:
        """A framework that copies its configuration has the same hooks."""
        return self

    def keep(self, call_id: str, permit: Permit) -> None:
        """Keep a permit until the call is over; not for ever, since a call may be dropped."""
        if len(self._permits) >= _MOST_CALLS:
            self._permits.pop(next(iter(self._permits)), None)
        self._permits[call_id] = permit

    def take(self, call_id: str) -> Permit | None:
        """The permit of a call that is over, once; None for a call that was refused."""
        return self._permits.pop(call_id, None)

    def before(self, tool: str, arguments: object, **options: Unpack[CallOptions]) -> Permit:
        """Ask the hooks before a tool runs."""
        given = read_arguments(arguments)
        if isinstance(given, str):
            return Permit(given)
        try:
            outcome = self._host.fire("before_tool_execute", tool=tool, input=given, **options)
        except (TypeError, ValueError) as error:
            return Permit(_explain_unreadable(error))
        is_agreed = outcome.verdict == "ask" and self._ask is not None and self._ask(outcome)
        if inspect.isawaitable(is_agreed):
            _close(is_agreed)
            raise TypeError("`ask` is a coroutine function, and this call has no event loop to await it")
        return _decide(outcome, is_agreed=is_agreed is True, is_asked=self._ask is not None)

    async def before_async(self, tool: str, arguments: object, **options: Unpack[CallOptions]) -> Permit:
        """Ask the hooks before a tool runs, without blocking the loop."""
        given = read_arguments(arguments)
        if isinstance(given, str):
            return Permit(given)
        try:
            outcome = await self._async_host.fire("before_tool_execute", tool=tool, input=given, **options)
        except (TypeError, ValueError) as error:
            return Permit(_explain_unreadable(error))
        is_agreed = outcome.verdict == "ask" and self._ask is not None and self._ask(outcome)
        if inspect.isawaitable(is_agreed):
            is_agreed = await is_agreed
        return _decide(outcome, is_agreed=is_agreed is True, is_asked=self._ask is not None)

    def after(self, tool: str, permit: Permit, result: Any, **options: Unpack[CallOptions]) -> Any:
        """Show the hooks a result; what the model gets instead, or the very same result."""
        shown = as_json(result)
        fired = self._host.fire("after_tool_execute", tool=tool, input=permit.input, result=shown, **options)
        return _find(result, shown, fired, permit.context).combine()

    async def after_async(
        self, tool: str, permit: Permit, result: Any, **options: Unpack[CallOptions]
    ) -> Any:
        """Show the hooks a result, without blocking the loop."""
        return (await self.look_async(tool, permit, result, context=permit.context, **options)).combine()

    async def look_async(
        self, tool: str, permit: Permit, result: Any, *, context: str = "", **options: Unpack[CallOptions]
    ) -> Finding:
        """Show the hooks a result; what they say of it, for frameworks that have a place for each part."""
        shown = as_json(result)
        fired = await self._async_host.fire(
            "after_tool_execute", tool=tool, input=permit.input, result=shown, **options
        )
        return _find(result, shown, fired, context)

    def failed(self, tool: str, permit: Permit, error: object, **options: Unpack[CallOptions]) -> None:
        """Tell the hooks that a tool failed."""
        text = _encode(str(error))
        fired = self._host.fire("tool_use_failure", tool=tool, input=permit.input, error=text, **options)
        _log_failure(fired)

    async def failed_async(
        self, tool: str, permit: Permit, error: object, **options: Unpack[CallOptions]
    ) -> None:
        """Tell the hooks that a tool failed, without blocking the loop."""
        text = _encode(str(error))
        fired = await self._async_host.fire(
            "tool_use_failure", tool=tool, input=permit.input, error=text, **options
        )
        _log_failure(fired)

    def run(self, tool: str, arguments: object, call: RunTool, **options: Unpack[CallOptions]) -> Any:
        """Run a tool with the hooks around it; what the model gets."""
        permit = self.before(tool, arguments, **options)
        if permit.refusal:
            return permit.refusal
        try:
            result = call(permit.input)
        except Exception as error:
            self.failed(tool, permit, error, **options)
            raise
        return self.after(tool, permit, result, **options)

    async def run_async(
        self, tool: str, arguments: object, call: RunTool, **options: Unpack[CallOptions]
    ) -> Any:
        """Run a tool with the hooks around it, without blocking the loop; what the model gets."""
        permit = await self.before_async(tool, arguments, **options)
        if permit.refusal:
            return permit.refusal
        try:
            result = call(permit.input)
            if inspect.isawaitable(result):
                result = await result
        except Exception as error:
            await self.failed_async(tool, permit, error, **options)
            raise
        return await self.after_async(tool, permit, result, **options)


def read_arguments(arguments: object) -> dict[str, Any] | str:
    """Read the arguments of a call, as a framework has them or as the model wrote them; or why not."""
    if isinstance(arguments, (str, bytes)):
        try:
            arguments = json.loads(arguments) if arguments.strip() else {}
        except ValueError as error:
            return f"The arguments of this call are not JSON ({error}), so it did not run."
    elif is_dataclass(arguments) or callable(getattr(arguments, "model_dump", None)):
        try:
            arguments = _as_whole_json(arguments)
        except (ValueError, RecursionError) as error:
            return _explain_unreadable(error)
    if arguments is None:
        return {}
    if not isinstance(arguments, Mapping):
        kind = type(arguments).__name__
        return f"The arguments of this call are no JSON object but {kind}, so it did not run."
    try:
        return {key: value if _is_plain(value) else _as_whole_json(value) for key, value in arguments.items()}
    except (ValueError, RecursionError) as error:
        return _explain_unreadable(error)


def _is_plain(value: object) -> bool:
    """Whether the host copies and checks it by itself."""
    return value is None or isinstance(value, (bool, int, float, str))


def _as_whole_json(value: object, around: tuple[int, ...] = ()) -> Any:
    """Make JSON of a value that hooks judge; ValueError where they would not see all that the tool gets."""
    if id(value) in around or len(around) > _DEEPEST:
        raise ValueError("they contain themselves or are nested too deeply")
    if isinstance(value, Mapping):
        items = {_encode(str(key)): item for key, item in value.items()}
        if len(items) < len(value):
            raise ValueError("two keys have the same spelling")
        return {key: _as_whole_json(item, (*around, id(value))) for key, item in items.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_as_whole_json(item, (*around, id(value))) for item in value]
    if callable(dump := getattr(value, "model_dump", None)) and not isinstance(value, type):
        return _as_whole_json(dump(), (*around, id(value)))
    if is_dataclass(value) and not isinstance(value, type):
        return _as_whole_json(asdict(value), (*around, id(value)))
    return as_json(value)


def as_json(value: object, _around: tuple[int, ...] = ()) -> Any:
    """Make JSON of any value that a tool takes or returns; of what is none, its text."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, float):
        return value if isfinite(value) else str(value)
    if isinstance(value, int):
        return value if value.bit_length() < _MOST_BITS else hex(value)
    if id(value) in _around or len(_around) > _DEEPEST:
        return "…"
    around = (*_around, id(value))
    if isinstance(value, Mapping):
        return {_encode(str(key)): as_json(item, around) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [as_json(item, around) for item in value]
    if callable(dump := getattr(value, "model_dump", None)) and not isinstance(value, type):
        return as_json(dump(), around)
    if is_dataclass(value) and not isinstance(value, type):
        return as_json(asdict(value), around)
    return _encode(str(value))


def as_text(value: Any) -> str:
    """Write a result for frameworks that take nothing but text."""
    return value if isinstance(value, str) else json.dumps(as_json(value), ensure_ascii=False)


def _encode(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()


def _close(awaitable: object) -> None:
    """Close a coroutine that nobody awaits, so that Python does not warn."""
    if inspect.iscoroutine(awaitable):
        awaitable.close()


def _explain_unreadable(error: Exception) -> str:
    return f"The arguments of this call cannot be judged, so it did not run: {error}"


def _decide(outcome: Outcome, *, is_agreed: bool, is_asked: bool) -> Permit:
    _log(outcome)
    is_last = not outcome.carry_on
    if outcome.verdict == "deny":
        return Permit(_join(f"Denied: {outcome.reason}", outcome.context), is_last=is_last)
    if outcome.verdict == "ask" and not is_agreed:
        why = DECLINED if is_asked else NOBODY
        return Permit(_join(f"Denied: {why}", outcome.reason, outcome.context), is_last=is_last)
    return Permit("", outcome.input, context=outcome.context, is_last=is_last)


def _is_other(value: Any, other: Any) -> bool:
    """Whether JSON differs; in Python 1 and true are equal."""
    return json.dumps(value, sort_keys=True) != json.dumps(other, sort_keys=True)


def _find(result: Any, shown: Any, outcome: Outcome, context: str) -> Finding:
    _log(outcome)
    is_replaced = _is_other(outcome.result, shown)
    reason = outcome.reason if outcome.verdict == "deny" else ""
    text = _join(context, reason, outcome.context, "" if outcome.carry_on else STOP)
    return Finding(outcome.result if is_replaced else result, is_replaced, text)


def _join(*texts: str) -> str:
    return "\n\n".join(filter(None, texts))


def _log(outcome: Outcome) -> None:
    """Pass a message for the person on: a framework has no place for it."""
    if outcome.message:
        LOG.warning("%s", outcome.message)
    if outcome.unapproved:
        LOG.warning("hooks that are not approved did not run: %s", ", ".join(outcome.unapproved))


def _log_failure(outcome: Outcome) -> None:
    """The model gets the framework's own words on a failure, and nothing else."""
    _log(outcome)
    if texts := _join(outcome.reason, outcome.context):
        LOG.warning("after a tool failed, a hook said what the model does not get: %s", texts)
