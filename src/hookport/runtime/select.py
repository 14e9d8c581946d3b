"""Which hooks a call or an event is for, and why; a matcher that cannot be decided matches.

A matcher is written in the names of its own dialect, and is tested against what that dialect calls the tool,
whatever the agent that fires the event calls it.
"""

from __future__ import annotations

from hookport.model._json import dumps
from hookport.wires.events import mcp_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from hookport.model.runs import Call, Event
    from hookport.runtime.plan import Planned
    from hookport.wires.table import Wire

    Tree = Any

EVERY_SERVER = "*"


# Events on which a hook may keep a tool from running.
GUARDED = ("before_tool_execute", "permission_request")


class Match:
    """Whether a hook runs, and why; `doubt` says what could not be decided and was taken for a match.

    `word` is the canonical tool by which it matched.
    """

    __slots__ = ("doubt", "matches", "why", "word")

    def __init__(self, why: str, *, matches: bool, doubt: str = "", word: str = "") -> None:
        self.matches, self.why, self.doubt, self.word = matches, why, doubt, word


def match(hook: Planned, event: Event, call: Call | None, wire: Wire) -> Match:
    """Whether a hook of a wire runs on an event with this call."""
    if hook.event != event.event:
        return Match(f"it is for {hook.event}, not for {event.event}", matches=False)
    if hook.terms:
        found = _tool(hook, call, wire) if hook.subject == "tool" else _subject(hook, event)
        if not found.matches or not hook.content:
            return found
    elif not hook.content:
        return Match("it has no matcher, so it runs on every one", matches=True)
    else:
        found = Match("", matches=True)
    inside = _content(hook, call)
    inside.doubt, inside.word = inside.doubt or found.doubt, found.word
    return inside


def _tool(hook: Planned, call: Call | None, wire: Wire) -> Match:
    if call is None:
        return Match("the event is about no tool", matches=False)
    for tool in (call.tool, *call.also):
        if tool and tool in hook.tools:
            return Match(f"its matcher has the tool {tool}", matches=True, word=tool)
    names = _names(call, wire)
    for term in hook.terms:
        if call.tool and term[1] in hook.tools:
            continue  # The agent may call another tool by that word.
        found = _term(term, call, names, wire)
        if found is not None and found.matches:
            return found
    if not call.known_by and hook.tools and _guards(hook):
        doubt = f"unknown tool '{call.native}'"
        return Match(f"its matcher may have this tool: {doubt}", matches=True, doubt=doubt)
    known = " or ".join(sorted(hook.tools)) or "; ".join(value for _, value, _ in hook.terms)
    return Match(f"its matcher is for {known}, this is {call.tool or names[0]}", matches=False)


def _guards(hook: Planned) -> bool:
    """Whether a hook can keep a tool from running."""
    return hook.event in GUARDED and hook.blocking and not hook.is_async


def _term(term: Sequence[str], call: Call, names: list[str], wire: Wire) -> Match | None:
    """A match on a tool that is in no vocabulary."""
    kind, value, inner = term
    if kind == "tool":
        return Match(f"its matcher has the tool {value}", matches=value in names)
    if kind == "pattern":
        if wire.server_last and value.startswith(wire.mcp[0]):
            return _pattern(value.removeprefix(wire.mcp[0]), names) if call.mcp_tool else None
        return None if call.tool and not call.mcp_tool else _pattern(value, names)
    if call.server and inner and mcp_name(wire, value, inner) in names:
        # Where the server's name ends, a combined name does not always tell.
        return Match(f"its matcher has the MCP tool {names[0]}", matches=True)
    is_it = not inner or _folded(inner) == _folded(call.mcp_tool) or _is_joined(call, value, inner)
    if not call.mcp_tool or not is_it:
        return None
    if call.server or value == EVERY_SERVER:
        is_its = value == EVERY_SERVER or _folded(value) == _folded(call.server)
        return Match(f"its matcher has the MCP server {value}", matches=is_its)
    doubt = "the agent does not say which MCP server the tool is of"
    return Match(f"its matcher may have this MCP tool: {doubt}", matches=True, doubt=doubt)


def _folded(name: str) -> str:
    """A name as agents spell it that have only letters, digits and `_` for it."""
    return "".join(char if char.isalnum() else "_" for char in name)


def _is_joined(call: Call, server: str, tool: str) -> bool:
    """Whether the name of a tool whose server is not told may be this tool's with the server's behind it."""
    ends = server == EVERY_SERVER or call.mcp_tool.endswith(f"_{server}")
    return not call.server and ends and call.mcp_tool.startswith(f"{tool}_")


def _names(call: Call, wire: Wire) -> list[str]:
    """What the hook's own dialect, the vocabulary and the agent call the tool."""
    names = [mcp_name(wire, call.server, call.mcp_tool)] if call.mcp_tool else []
    names += [name for tool in (call.tool, *call.also) for name in wire.names.get(tool, ())]
    return [name for name in dict.fromkeys([*names, call.tool, call.native]) if name] or [""]


def _subject(hook: Planned, event: Event) -> Match:
    """A matcher on what the event is about: a session's source, a subagent, a kind of notification."""
    said = event.subagent if hook.event.startswith("subagent") else event.source
    extra = event.extra.get(hook.subject)
    said = said or (extra if isinstance(extra, str) else "")
    if not said:
        doubt = f"the agent does not say the {hook.subject or 'subject'} of this event"
        return Match(f"its matcher cannot be tested: {doubt}", matches=True, doubt=doubt)
    for kind, value, _ in hook.terms:
        if kind == "pattern":
            found = _pattern(value, [said])
            if found.matches:
                return found
        elif value == said:
            return Match(f"its matcher has {said}", matches=True)
    return Match(f"its matcher does not have {said}", matches=False)


def _content(hook: Planned, call: Call | None) -> Match:
    """The pattern on what the tool is called with: the field that it is for, else every text in it."""
    if call is None:
        return Match("the event is about no tool, so its pattern has nothing to match", matches=False)
    about = call.input.get(hook.content_of) if hook.content_of else None
    texts = [about] if isinstance(about, str) else _all_texts(call.input)
    found = _pattern(hook.content, texts)
    if found.matches:
        return found
    return Match(f"its pattern {hook.content} is not in the input", matches=False)


def _all_texts(value: Tree) -> list[str]:
    """Every text, and all of it as JSON."""
    return [*_texts(value), dumps(value, ensure_ascii=False, default=str)]


def _texts(value: Tree) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from _texts(one)
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from _texts(one)


def _pattern(pattern: str, texts: Sequence[str]) -> Match:
    from hookport.runtime import patterns

    doubt = ""
    for text in texts:
        found = patterns.search(pattern, text)
        if found is True:
            return Match(f"its pattern {pattern} matches", matches=True)
        doubt = doubt or (found if isinstance(found, str) else "")
    if doubt:
        return Match(f"its pattern {pattern} could not be decided: {doubt}", matches=True, doubt=doubt)
    return Match(f"its pattern {pattern} does not match", matches=False)
