"""Which hooks a call or an event is for, and why; a matcher that cannot be decided matches.

A matcher is written in the names of its own dialect, and is tested against what that dialect calls the tool,
whatever the agent that fires the event calls it.
"""

from __future__ import annotations

from hookport.model.json_text import dumps, loads
from hookport.model.runs import Call, Event
from hookport.wire.events import mcp_name, native_for, subject_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hookport.base.tree import Tree
    from hookport.runtime.plan import Planned
    from hookport.wire.table import Wire

EVERY_SERVER = "*"
KINDS = ("tool", "pattern", "mcp")


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
    found = Match("it has no matcher, so it runs on every one", matches=True)
    if hook.terms:
        found = _tool(hook, call, wire) if hook.subject == "tool" else _subject(hook, event, wire)
    for has_it, test in ((hook.content, _content), (hook.condition, _condition)):
        if found.matches and has_it:
            inside = test(hook, event, call, wire)
            inside.doubt, inside.word = inside.doubt or found.doubt, found.word
            found = inside
    return found


def is_for(hook: Planned, wire: Wire, event: Event) -> bool:
    """Whether a hook is for an event."""
    return bool(targets_of(hook, wire, event)[0])


def targets_of(hook: Planned, wire: Wire, event: Event) -> tuple[list[tuple[int, str]], str, tuple[str, ...]]:
    """Which of the calls of an event the hook runs on (-1: the event as a whole), by which word, and why."""
    call = event.call
    is_split = call is not None and call.parts and wire.id != event.agent
    calls = list(enumerate(call.parts)) if call is not None and is_split else [(-1, call)]
    tested = [(number, match(hook, event, one, wire)) for number, one in calls]
    found = [(number, one) for number, one in tested if one.matches]
    told = found or tested
    notes = tuple(f"doubt: {one.doubt}" for _, one in found if one.doubt)
    return [(number, one.word) for number, one in found], told[0][1].why, notes


def native_of(hook: Planned, wire: Wire, event: Event) -> str:
    return hook.native or (event.native if wire.id == event.agent else native_for(wire, event))


def is_as_strict(one: Planned, hook: Planned) -> bool:
    """Whether what another hook may deny, this one may deny too."""
    return (one.blocking and not one.is_async) or hook.is_async or not hook.blocking


def tools_of(hook: Planned, wire: Wire) -> list[str]:
    """The canonical tools that the matcher has, by the names its own dialect gives them."""
    if hook.subject != "tool" or not hook.terms:
        return []
    from hookport.model.tools import TOOLS

    open_ = hook.replace(content="", condition="", tools=[])
    found = []
    for tool in TOOLS:
        literal = any(kind == "tool" and value == tool for kind, value, _ in hook.terms)
        names = wire.names.get(tool) or [tool]
        event = Event(hook.event, "")
        if literal or any(match(open_, event, Call("", name), wire).matches for name in names):
            found.append(tool)
    return found


def terms_in(text: str) -> list[list[str]]:
    """The terms of a matcher in JSON; none where the text is none, which matches everything."""
    try:
        terms = loads(text)
    except (ValueError, RecursionError):
        return []
    is_matcher = isinstance(terms, list) and all(
        isinstance(term, list)
        and len(term) == 3
        and all(isinstance(word, str) for word in term)
        and term[0] in KINDS
        for term in terms
    )
    return terms if is_matcher else []


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
        return _named_by(value, call, names, wire)
    if call.server and inner and mcp_name(wire, value, inner) in names:
        # Where the server's name ends, a combined name does not always tell.
        return Match(f"its matcher has the MCP tool {names[0]}", matches=True)
    if not call.mcp_tool:
        return None
    is_it = not inner or _folded(inner) == _folded(call.mcp_tool) or _is_joined(call, value, inner)
    if is_it and (value == EVERY_SERVER or (call.server and _folded(value) == _folded(call.server))):
        return Match(f"its matcher has the MCP server {value}", matches=True)
    splits = _other_splits(call)
    if is_it and not call.server:
        return _in_doubt(call)
    may_be = any(value in (EVERY_SERVER, server) and inner in ("", tool) for server, tool in splits)
    return _in_doubt(call) if may_be else None


def _named_by(pattern: str, call: Call, names: list[str], wire: Wire) -> Match | None:
    """A match by a pattern on names of tools."""
    if wire.server_last and pattern.startswith(wire.mcp[0]):
        pattern = pattern.removeprefix(wire.mcp[0])
        if not call.mcp_tool:
            return None
    elif call.tool and not call.mcp_tool:
        return None
    found = _pattern(pattern, names)
    if found.matches or not call.mcp_tool or not _may_find(pattern, call, wire):
        return found
    return _in_doubt(call)


def _in_doubt(call: Call) -> Match:
    doubt = (
        f"the name '{call.native}' does not tell where the MCP server's name ends"
        if call.server
        else "the agent does not say which MCP server the tool is of"
    )
    return Match(f"its matcher may have this MCP tool: {doubt}", matches=True, doubt=doubt)


def _other_splits(call: Call) -> list[tuple[str, str]]:
    """Other servers and tools that the agent's name for an MCP tool may be made of."""
    joint = call.native.removesuffix(call.mcp_tool)
    before, found, joint = joint.rpartition(call.server) if call.server else ("", "", "")
    if not found or not joint or not call.native.endswith(call.mcp_tool):
        return []
    whole = call.native[len(before) :]
    ends = [at for at in range(1, len(whole)) if whole.startswith(joint, at) and at + len(joint) < len(whole)]
    splits = [(whole[:at], whole[at + len(joint) :]) for at in ends]
    return [split for split in splits if split != (call.server, call.mcp_tool)]


def _may_find(pattern: str, call: Call, wire: Wire) -> bool:
    """Whether a pattern may find an MCP tool whose server the agent does not say, or spells otherwise."""
    from hookport.model.patterns import Sign, Unknown, may_match

    prefix, joint = (wire.mcp or ("mcp__", "__"))[:2]
    # Where the joint is two signs or more, a server's name does not have it.
    unknown = Unknown(joint if len(joint) > 1 else "")

    def spelled(name: str) -> list[object]:
        return [Sign() if char == "_" else char for char in name]

    parts: list[tuple[list[object], str]]
    if call.server:
        splits = ((call.server, call.mcp_tool), *_other_splits(call))
        parts = [(spelled(one), tool) for one, tool in splits]
    else:
        name = call.mcp_tool
        ends = [at for at, char in enumerate(name) if at and char == "_"]
        parts = [([unknown], name), *((spelled(name[at + 1 :]), name[:at]) for at in ends)]
    tools = [name for names in wire.names.values() for name in names]
    for server, tool in parts:
        if wire.server_last:
            text = [*spelled(tool), *joint, *server]
        else:
            text = [*prefix, *(server if joint else ()), *joint, *spelled(tool)]
        if may_match(pattern, text, () if call.server else tools):
            return True
    return False


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


def _subject(hook: Planned, event: Event, wire: Wire) -> Match:
    """A matcher on what the event is about: a session's source, a subagent, a kind of notification."""
    said = subject_of(wire, event, hook.native or native_for(wire, event), hook.subject)
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


def _condition(hook: Planned, event: Event, call: Call | None, wire: Wire) -> Match:
    """The permission rule that the call must be for."""
    if call is None:
        return Match("the event is about no tool, so its rule is for none", matches=False)
    if not call.known_by and _guards(hook):
        doubt = f"unknown tool '{call.native}'"
        return Match(f"its rule {hook.condition} may be for this tool: {doubt}", matches=True, doubt=doubt)
    from hookport.runtime import rules

    found = rules.holds(hook.condition, event, call, wire)
    if isinstance(found, str):
        return Match(f"its rule {hook.condition} could not be decided: {found}", matches=True, doubt=found)
    return Match(f"its rule {hook.condition} {'holds' if found else 'does not hold'}", matches=found)


def _content(hook: Planned, _event: Event, call: Call | None, _wire: Wire) -> Match:
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
