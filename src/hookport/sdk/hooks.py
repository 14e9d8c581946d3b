"""The decorators: each binds a function to an event, and leaves it a plain function.

An unknown event or tool is refused at once: a guard that never fires is worse than none.
"""

from __future__ import annotations

import sys

from hookport.model.tools import TOOLS
from hookport.runtime.plan import PlannedHook

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import Any, Literal, Protocol, TypeAlias, TypedDict, TypeVar, overload

    from hookport.model.runs import Decision
    from hookport.sdk.events import Event

    class _Server(TypedDict):
        server: str

    class Server(_Server, total=False):
        """An MCP server, `*` for any, and optionally one of its tools."""

        tool: str

    class Pattern(TypedDict):
        """A regular expression on the tool's name."""

        pattern: str

    class Mcp(TypedDict):
        """The tools of an MCP server."""

        mcp: Server

    Term: TypeAlias = str | Pattern | Mcp
    Matcher: TypeAlias = Term | list[Term] | list[str]
    Answer: TypeAlias = Decision | Iterable[Decision] | None
    Function: TypeAlias = Callable[[Event], Answer]
    OnFailure: TypeAlias = Literal["open", "closed"]
    F = TypeVar("F", bound=Callable[[Event], Decision | Iterable[Decision] | None])
    from hookport.base.tree import Tree

    class Decorator(Protocol):
        """Accept `@before_prompt`, `@before_prompt()` and `@before_tool("shell", …)`."""

        @overload
        def __call__(self, function: F, /) -> F: ...
        @overload
        def __call__(self, /, *matchers: Matcher) -> Callable[[F], F]: ...


# The attribute with a function's bindings.
MARK = "__hookport__"
# Events whose matcher is about a tool; other matchers are about, for example, how a session began.
TOOL_EVENTS = (
    *("before_tool_execute", "after_tool_execute", "permission_request"),
    *("tool_use_failure", "permission_denied"),
)
CORE = (
    *("before_tool_execute", "after_tool_execute", "session_start"),
    *("session_end", "before_prompt", "agent_stop"),
)

# Every function decorated in this process, in order.
bound: list[Bound] = []


class Bound:
    """A function and its hook."""

    __slots__ = ("function", "hook")

    def __init__(self, function: Function, hook: PlannedHook) -> None:
        self.function, self.hook = function, hook


class _Decorator:
    """One event's decorator."""

    def __init__(self, event: str) -> None:
        self.event = event

    def __call__(self, /, *matchers: Tree) -> Tree:
        _begin()
        if len(matchers) == 1 and callable(matchers[0]):
            return _bind(matchers[0], self.event, ())
        terms = tuple(_read_terms(matchers, self.event))
        return lambda function: _bind(function, self.event, terms)

    def __repr__(self) -> str:
        return f"the decorator of {self.event}"


before_tool: Decorator = _Decorator("before_tool_execute")
after_tool: Decorator = _Decorator("after_tool_execute")
session_start: Decorator = _Decorator("session_start")
session_end: Decorator = _Decorator("session_end")
before_prompt: Decorator = _Decorator("before_prompt")
agent_stop: Decorator = _Decorator("agent_stop")


def on(event: str, /, *matchers: Matcher) -> Callable[[F], F]:
    """The decorator of any event: a canonical name, or `agent:Name` for an event of only that agent."""
    _begin()
    if event not in CORE and ":" not in event:
        from hookport.model.events import EVENTS

        if event not in EVENTS:
            from hookport.errors import UsageError, suggest_closest

            raise UsageError(f"unknown event '{event}'.{suggest_closest(event, tuple(EVENTS))}")
    terms = tuple(_read_terms(matchers, event))
    return lambda function: _bind(function, event, terms)


def list_bound(function: object) -> list[Bound]:
    """List a function's bindings, the nearest decorator first."""
    bounds: list[Bound] = getattr(function, MARK, [])
    return bounds


def _bind(function: F, event: str, terms: tuple[tuple[str, str, str], ...]) -> F:
    subject = "tool" if event in TOOL_EVENTS else "subject" if terms else ""
    hook = PlannedHook(
        name=getattr(function, "__name__", repr(function)),
        event=event,
        dialect="",
        subject=subject,
        terms=terms,
        tools=_list_tools(terms) if subject == "tool" else (),
        file=_find_file(function),
    )
    binding = Bound(function, hook)
    bound.append(binding)
    setattr(function, MARK, [*list_bound(function), binding])
    return function


def _begin() -> None:
    """Start `calling`: a file may import only the decorators, and its errors still need an answer."""
    from hookport.sdk import calling

    calling.begin()


def _find_file(function: object) -> str:
    code = getattr(function, "__code__", None)
    return code.co_filename if code else ""


def _read_terms(matchers: Iterable[Any], event: str) -> Iterator[tuple[str, str, str]]:
    """Read matchers, in the shapes of the interchange format, into a plan's terms."""
    for matcher in matchers:
        if isinstance(matcher, (list, tuple)) and matcher:
            yield from _read_terms(matcher, event)
        elif isinstance(matcher, str) and matcher:
            yield "tool", _check_word(matcher, event), ""
        elif isinstance(matcher, dict) and isinstance(matcher.get("pattern"), str):
            yield "pattern", matcher["pattern"], ""
        elif isinstance(matcher, dict) and _is_server(matcher.get("mcp")):
            yield "mcp", matcher["mcp"]["server"], matcher["mcp"].get("tool", "")
        else:
            from hookport.errors import UsageError

            shapes = 'a tool\'s name, {"pattern": …}, {"mcp": {"server": …}} or a list of these'
            raise UsageError(f"a matcher of {event} must be {shapes}, not {matcher!r}.")


def _is_server(mcp: Mapping[str, Any] | None) -> bool:
    return (
        isinstance(mcp, dict) and isinstance(mcp.get("server"), str) and isinstance(mcp.get("tool", ""), str)
    )


def _check_word(word: str, event: str) -> str:
    """Check that a tool is in the vocabulary; an agent's own name would guard that agent only."""
    if event in TOOL_EVENTS and word not in TOOLS:
        from hookport.errors import UsageError, correct_slip

        correction = correct_slip(word, tuple(TOOLS))
        guess = f"Did you mean '{correction}'?" if correction else f"The tools are {', '.join(TOOLS)}."
        raise UsageError(
            f"unknown tool '{word}'. {guess} "
            f'For a tool that only one agent has, write {{"pattern": "^{word}$"}}.'
        )
    return word


def _list_tools(terms: Iterable[tuple[str, str, str]]) -> list[str]:
    """List the tools of the vocabulary that a matcher matches."""
    patterns = [value for kind, value, _ in terms if kind == "pattern"]
    words = {value for kind, value, _ in terms if kind == "tool"}
    if patterns:
        from hookport.runtime.patterns import search

        # An undecided matcher matches.
        words |= {tool for tool in TOOLS for pattern in patterns if search(pattern, tool) is not False}
    return [tool for tool in TOOLS if tool in words]


def is_imported() -> bool:
    """Whether a module is being imported, other than the file that Python was started with."""
    frame = sys._getframe(1)  # noqa: SLF001  (a file has no other way to know)
    while frame.f_code.co_name != "<module>" and frame.f_back is not None:
        frame = frame.f_back
    return frame.f_globals.get("__name__") != "__main__"
