"""Which hooks match a call or an event, and why. An undecided matcher matches.

A matcher uses the names of its own dialect, so it is tested against that dialect's name of the tool, whatever
the firing agent's name for it.
"""

from __future__ import annotations

from hookport.model.json_text import dumps, loads
from hookport.model.runs import Call, Event
from hookport.wire.events import choose_native, find_subject, name_mcp_tool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hookport.base.tree import Tree
    from hookport.runtime.plan import PlannedHook
    from hookport.wire.table import Wire

EVERY_SERVER = "*"
KINDS = ("tool", "pattern", "mcp")


# Events on which a hook may prevent a tool from running.
GUARDED = ("before_tool_execute", "permission_request")


class Match:
    """Whether a hook runs, and why; `doubt` is the undecided part that counts as a match.

    `word` is the canonical tool by which it matched.
    """

    __slots__ = ("doubt", "matches", "why", "word")

    def __init__(self, why: str, *, matches: bool, doubt: str = "", word: str = "") -> None:
        self.matches, self.why, self.doubt, self.word = matches, why, doubt, word


def match_hook(hook: PlannedHook, event: Event, call: Call | None, wire: Wire) -> Match:
    """Match a hook of a wire against an event with this call."""
    if hook.event != event.event:
        return Match(f"it is for {hook.event}, not for {event.event}", matches=False)
    result = Match("it has no matcher, so it runs every time", matches=True)
    if hook.terms:
        result = (
            _match_tool(hook, call, wire) if hook.subject == "tool" else _match_subject(hook, event, wire)
        )
    for has_it, test in ((hook.content, _match_content), (hook.condition, _match_condition)):
        if result.matches and has_it:
            inside = test(hook, event, call, wire)
            inside.doubt, inside.word = inside.doubt or result.doubt, result.word
            result = inside
    return result


def is_for(hook: PlannedHook, wire: Wire, event: Event) -> bool:
    """Whether a hook is for this event."""
    return bool(find_targets(hook, wire, event)[0])


def find_targets(
    hook: PlannedHook, wire: Wire, event: Event
) -> tuple[list[tuple[int, str]], str, tuple[str, ...]]:
    """Find the calls of an event that the hook runs on (-1: the whole event), by which tool, and why."""
    call = event.call
    is_split = call is not None and call.parts and wire.id != event.agent
    calls = list(enumerate(call.parts)) if call is not None and is_split else [(-1, call)]
    tested = [(number, match_hook(hook, event, part, wire)) for number, part in calls]
    matching = [(number, result) for number, result in tested if result.matches]
    explained = matching or tested
    notes = tuple(f"doubt: {result.doubt}" for _, result in matching if result.doubt)
    return [(number, result.word) for number, result in matching], explained[0][1].why, notes


def find_native_event(hook: PlannedHook, wire: Wire, event: Event) -> str:
    return hook.native or (event.native if wire.id == event.agent else choose_native(wire, event))


def is_as_strict(strict_hook: PlannedHook, hook: PlannedHook) -> bool:
    """Whether this hook may deny whatever another hook may deny."""
    return (strict_hook.blocking and not strict_hook.is_async) or hook.is_async or not hook.blocking


def find_tools(hook: PlannedHook, wire: Wire) -> list[str]:
    """Find the canonical tools that the matcher matches, by their names in its own dialect."""
    if hook.subject != "tool" or not hook.terms:
        return []
    from hookport.model.tools import TOOLS

    open_ = hook.replace(content="", condition="", tools=[])
    tools = []
    for tool in TOOLS:
        literal = any(kind == "tool" and value == tool for kind, value, _ in hook.terms)
        names = wire.names.get(tool) or [tool]
        event = Event(hook.event, "")
        if literal or any(match_hook(open_, event, Call("", name), wire).matches for name in names):
            tools.append(tool)
    return tools


def parse_terms(text: str) -> list[list[str]]:
    """Parse the terms of a matcher in JSON; none if the text is invalid, which matches everything."""
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


def _match_tool(hook: PlannedHook, call: Call | None, wire: Wire) -> Match:
    if call is None:
        return Match("the event has no tool call", matches=False)
    for tool in (call.tool, *call.also):
        if tool and tool in hook.tools:
            return Match(f"its matcher has the tool {tool}", matches=True, word=tool)
    names = _list_names(call, wire)
    for term in hook.terms:
        if call.tool and term[1] in hook.tools:
            continue  # The agent may use that name for another tool.
        result = _match_term(term, call, names, wire)
        if result is not None and result.matches:
            return result
    if not call.known_by and hook.tools and _can_deny(hook):
        doubt = f"unknown tool '{call.native}'"
        return Match(f"its matcher may match this tool: {doubt}", matches=True, doubt=doubt)
    expected = " or ".join(sorted(hook.tools)) or "; ".join(value for _, value, _ in hook.terms)
    return Match(f"its matcher is for {expected}, this is {call.tool or names[0]}", matches=False)


def _can_deny(hook: PlannedHook) -> bool:
    """Whether a hook can keep a tool from running."""
    return hook.event in GUARDED and hook.blocking and not hook.is_async


def _match_term(term: Sequence[str], call: Call, names: list[str], wire: Wire) -> Match | None:
    """Match a tool outside the vocabulary."""
    kind, value, inner = term
    if kind == "tool":
        if value not in names and _may_be_called(value, call, wire):
            return _match_in_doubt(call)
        return Match(f"its matcher has the tool {value}", matches=value in names)
    if kind == "pattern":
        return _match_name(value, call, names, wire)
    if call.server and inner and name_mcp_tool(wire, value, inner) in names:
        # A combined name may not show where the server's name ends.
        return Match(f"its matcher has the MCP tool {names[0]}", matches=True)
    if not call.mcp_tool:
        return None
    is_it = not inner or _fold_name(inner) == _fold_name(call.mcp_tool) or _is_joined(call, value, inner)
    if is_it and (value == EVERY_SERVER or (call.server and _fold_name(value) == _fold_name(call.server))):
        return Match(f"its matcher has the MCP server {value}", matches=True)
    splits = _find_other_splits(call)
    if is_it and not call.server:
        return _match_in_doubt(call)
    may_be = any(value in (EVERY_SERVER, server) and inner in ("", tool) for server, tool in splits)
    return _match_in_doubt(call) if may_be else None


def _may_be_called(name: str, call: Call, wire: Wire) -> bool:
    """Whether an MCP tool may have this name: the agent omits its server, and the name has no prefix."""
    prefix, joint = (wire.mcp or ("mcp__", "__"))[:2]
    if prefix or not joint or not call.mcp_tool or call.server:
        return False
    server, found, rest = _fold_name(name).rpartition(_fold_name(joint + call.mcp_tool))
    return bool(server and found and not rest)


def _match_name(pattern: str, call: Call, names: list[str], wire: Wire) -> Match | None:
    """Match a pattern on names of tools."""
    if "server last" in wire.traits and pattern.startswith(wire.mcp[0]):
        pattern = pattern.removeprefix(wire.mcp[0])
        if not call.mcp_tool:
            return None
    elif call.tool and not call.mcp_tool:
        return None
    result = _match_pattern(pattern, names)
    if result.matches or not call.mcp_tool or not _may_find(pattern, call, wire):
        return result
    return _match_in_doubt(call)


def _match_in_doubt(call: Call) -> Match:
    doubt = (
        f"the name '{call.native}' does not show where the MCP server's name ends"
        if call.server
        else "the agent does not name the tool's MCP server"
    )
    return Match(f"its matcher may match this MCP tool: {doubt}", matches=True, doubt=doubt)


def _find_other_splits(call: Call) -> list[tuple[str, str]]:
    """Find other servers and tools that may form the agent's name of an MCP tool."""
    joint = call.native.removesuffix(call.mcp_tool)
    before, server, joint = joint.rpartition(call.server) if call.server else ("", "", "")
    if not server or not joint or not call.native.endswith(call.mcp_tool):
        return []
    combined = call.native[len(before) :]
    ends = [
        at
        for at in range(1, len(combined))
        if combined.startswith(joint, at) and at + len(joint) < len(combined)
    ]
    splits = [(combined[:at], combined[at + len(joint) :]) for at in ends]
    return [split for split in splits if split != (call.server, call.mcp_tool)]


def _may_find(pattern: str, call: Call, wire: Wire) -> bool:
    """Whether a pattern may match an MCP tool whose server the agent omits or spells differently."""
    from hookport.model.patterns import Sign, Unknown, may_match

    prefix, joint = (wire.mcp or ("mcp__", "__"))[:2]
    # A joint of two or more characters does not occur in a server's name.
    unknown = Unknown(joint if len(joint) > 1 else "")

    def spelled(name: str) -> list[object]:
        return [Sign() if char == "_" else char for char in name]

    parts: list[tuple[list[object], str]]
    if call.server:
        splits = ((call.server, call.mcp_tool), *_find_other_splits(call))
        parts = [(spelled(server_name), tool) for server_name, tool in splits]
    else:
        name = call.mcp_tool
        ends = [at for at, char in enumerate(name) if at and char == "_"]
        parts = [([unknown], name), *((spelled(name[at + 1 :]), name[:at]) for at in ends)]
    tools = [name for names in wire.names.values() for name in names]
    for server, tool in parts:
        if "server last" in wire.traits:
            text = [*spelled(tool), *joint, *server]
        else:
            text = [*prefix, *(server if joint else ()), *joint, *spelled(tool)]
        if may_match(pattern, text, () if call.server else tools):
            return True
    return False


def _fold_name(name: str) -> str:
    """Fold a name to letters, digits and `_`, as some agents spell it."""
    return "".join(char if char.isalnum() else "_" for char in name)


def _is_joined(call: Call, server: str, tool: str) -> bool:
    """Whether a tool name without a server may be this tool's name followed by the server's."""
    ends = server == EVERY_SERVER or call.mcp_tool.endswith(f"_{server}")
    return not call.server and ends and call.mcp_tool.startswith(f"{tool}_")


def _list_names(call: Call, wire: Wire) -> list[str]:
    """List the names of the tool in the hook's dialect, the vocabulary and the agent."""
    names = [name_mcp_tool(wire, call.server, call.mcp_tool)] if call.mcp_tool else []
    names += [name for tool in (call.tool, *call.also) for name in wire.names.get(tool, ())]
    return [name for name in dict.fromkeys([*names, call.tool, call.native]) if name] or [""]


def _match_subject(hook: PlannedHook, event: Event, wire: Wire) -> Match:
    """Match what the event is about: a session's source, a subagent, a kind of notification."""
    subject = find_subject(wire, event, hook.native or choose_native(wire, event), hook.subject)
    if not subject:
        doubt = f"the agent does not send the {hook.subject or 'subject'} of this event"
        return Match(f"its matcher cannot be tested: {doubt}", matches=True, doubt=doubt)
    for kind, value, _ in hook.terms:
        if kind == "pattern":
            result = _match_pattern(value, [subject])
            if result.matches:
                return result
        elif value == subject:
            return Match(f"its matcher has {subject}", matches=True)
    return Match(f"its matcher does not have {subject}", matches=False)


def _match_condition(hook: PlannedHook, event: Event, call: Call | None, wire: Wire) -> Match:
    """Match the permission rule of the hook."""
    if call is None:
        return Match("the event has no tool call for its rule", matches=False)
    if not call.known_by and _can_deny(hook):
        doubt = f"unknown tool '{call.native}'"
        return Match(f"its rule {hook.condition} may match this tool: {doubt}", matches=True, doubt=doubt)
    from hookport.runtime import rules

    result = rules.check_rule(hook.condition, event, call, wire)
    if isinstance(result, str):
        return Match(f"its rule {hook.condition} could not be decided: {result}", matches=True, doubt=result)
    return Match(f"its rule {hook.condition} {'matches' if result else 'does not match'}", matches=result)


def _match_content(hook: PlannedHook, _event: Event, call: Call | None, _wire: Wire) -> Match:
    """Match the pattern on the tool's input: on its field, else on every text."""
    if call is None:
        return Match("the event has no tool call for its pattern", matches=False)
    about = call.input.get(hook.content_of) if hook.content_of else None
    texts = [about] if isinstance(about, str) else _list_texts(call.input)
    result = _match_pattern(hook.content, texts)
    if result.matches:
        return result
    return Match(f"its pattern {hook.content} is not in the input", matches=False)


def _list_texts(value: Tree) -> list[str]:
    """List every text, and the whole value as JSON."""
    return [*_walk_texts(value), dumps(value, ensure_ascii=False, default=str)]


def _walk_texts(value: Tree) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for child in value.values():
            yield from _walk_texts(child)
    elif isinstance(value, (list, tuple)):
        for child in value:
            yield from _walk_texts(child)


def _match_pattern(pattern: str, texts: Sequence[str]) -> Match:
    from hookport.runtime import patterns

    doubt = ""
    for text in texts:
        result = patterns.search(pattern, text)
        if result is True:
            return Match(f"its pattern {pattern} matches", matches=True)
        doubt = doubt or (result if isinstance(result, str) else "")
    if doubt:
        return Match(f"its pattern {pattern} could not be decided: {doubt}", matches=True, doubt=doubt)
    return Match(f"its pattern {pattern} does not match", matches=False)
