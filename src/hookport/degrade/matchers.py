"""The matcher as the target says it; wider or narrower only with a finding."""

from __future__ import annotations

import re

from hookport import findings as f
from hookport.degrade.work import Work, specs_of
from hookport.dialects._base import (
    Dialect,
    EventSpec,
    at_event,
    event_specs,
    is_gone,
    is_split,
    matching_of,
    names_of,
    native_tools,
    says,
    terms_of,
    tools_named,
)
from hookport.dialects._entries import slots
from hookport.dialects._matchers import (
    alternatives,
    found_in,
    mcp_parts,
    native_parts,
    normal,
    read_matcher,
    write_matcher,
)
from hookport.dialects._terms import re2_problem
from hookport.model.events import about_tool
from hookport.model.hooks import ANY_SERVER, Hook, Term
from hookport.model.tools import TOOLS


def matcher(work: Work) -> bool:
    """The matcher as the target says it; wider or narrower only with a finding."""
    if work.target.is_hub or work.target.matching.grammar == "terms":
        _plain_patterns(work)
    if work.target.is_hub:
        return True
    if not about_tool(work.hook.event):
        return _subject(work)
    if not work.hook.matcher:
        return _every_tool(work)
    if work.origin.id != work.target.id:
        work.hook = work.hook._replace(matcher=_expand(work))
    if not _shown(work):
        return False
    present = work.hook.matcher
    said = read_back(work)
    if said:
        _tell_wider(work, present, said)
    else:
        work.note(f.MatcherDropped, matcher=", ".join(map(_spelled, present)))
    work.hook = work.hook._replace(matcher=said)
    return True


def _every_tool(work: Work) -> bool:
    """A hook without a matcher, where the target's events fire for some tools only."""
    hook, specs = work.hook, specs_of(work)
    if specs and all(is_split(spec) for spec in specs):
        terms = normal([term for spec in specs for term in terms_of(spec)])
        tools = ", ".join(map(_spelled, terms))
        work.note(f.GuardPartialCover if hook.blocking else f.PartialCover, tools=tools)
        work.hook = hook._replace(matcher=terms)
    return True


def _shown(work: Work) -> bool:
    """The part of the matcher whose tools the target shows to hooks; without any the hook goes."""
    hook = work.hook
    wanted = hook.matcher
    present = tuple(term for term in wanted if _exists(work, term))
    missing = [term for term in wanted if term not in present]
    if missing and not present:
        tools = ", ".join(map(_spelled, missing))
        if hook.blocking:
            work.note(f.GuardDropped, event=f"{tools} tool in its {hook.event}", reason="")
        else:
            work.note(f.NoToolLeft, tools=tools)
        return False
    gone = [term for term in present if term.kind == "tool" and is_gone(work.target, term.value)]
    for term in (*missing, *gone):
        work.note(f.GuardToolMissing if hook.blocking else f.ToolMissing, tool=_spelled(term))
    work.hook = hook._replace(matcher=present)
    return True


def _tell_wider(work: Work, present: tuple[Term, ...], said: tuple[Term, ...]) -> None:
    """What the target reads back and the hook did not say."""
    for term in present:
        if term.kind == "mcp" and term not in said:
            _tell_mcp(work, term, said)
    wider = [term for term in said if term not in present and term.kind != "mcp"]
    if wider:
        work.note(f.MatcherWidened, extra=", ".join(map(_spelled, wider)))


def _tell_mcp(work: Work, term: Term, said: tuple[Term, ...]) -> None:
    """An MCP term that is read back as another one: only called otherwise, or wider."""
    target = _here(work.target, work.hook)
    names, patterns = native_parts(target, (term,))
    known = native_parts(target, tuple(one for one in said if one.kind == "mcp"))
    if (names or patterns) and set(names) <= set(known[0]) and set(patterns) <= set(known[1]):
        work.note(
            f.McpRenamed, before=_spelled(term).removeprefix("mcp "), after=", ".join((*names, *patterns))
        )
    else:
        work.note(f.ServerWidened, server=_spelled(term).removeprefix("mcp "))


def _spelled(term: Term) -> str:
    if term.kind == "mcp":
        return f"mcp {term.value}/{term.tool}" if term.tool else f"mcp {term.value}"
    return term.value


def read_back(work: Work) -> tuple[Term, ...]:
    """The matcher as the target reads it once it is written; everything, if no writing of it stays."""
    if all(matching_of(work.target, spec).grammar == "terms" for spec in specs_of(work)):
        return work.hook.matcher
    hook = work.hook
    for _ in range(4):
        terms: list[Term] = []
        for spec, part in slots(work.target, hook):
            for text in write_matcher(work.target, spec, part, hook.content):
                read, _ = read_matcher(work.target, spec, text or "")
                if not read:
                    return ()
                terms += read
        said = normal(terms)
        if said == hook.matcher:
            return said
        hook = hook._replace(matcher=said)
    return ()


def _exists(work: Work, term: Term) -> bool:
    """Whether the target shows hooks such a tool."""
    specs = event_specs(work.target, work.hook.event)
    special = any(is_split(spec) and term in _cover(spec, term) for spec in specs)
    general = any(not is_split(spec) for spec in specs)
    if term.kind == "mcp":
        return special or (general and (work.target.mcp is not None or _unmatched(work, specs)))
    if term.kind == "tool" and term.value in TOOLS:
        return special or any(
            names_of(at_event(work.target, spec), term.value) for spec in specs if not is_split(spec)
        )
    return general


def _cover(spec: EventSpec, term: Term) -> tuple[Term, ...]:
    return (
        (term,)
        if (term.kind == "mcp" and spec.mcp) or (term.kind == "tool" and term.value in spec.tools)
        else ()
    )


def _unmatched(work: Work, specs: list[EventSpec]) -> bool:
    return any(matching_of(work.target, spec).grammar in ("none", "ignored") for spec in specs)


def _expand(work: Work) -> tuple[Term, ...]:
    """Patterns become the tools they match: names differ, so the pattern itself would match others."""
    terms: list[Term] = []
    source, target = _here(work.origin, work.hook), _here(work.target, work.hook)
    for term in work.hook.matcher:
        if term.kind == "tool" and term.value not in TOOLS:
            tools = tools_named(target, term.value)
            terms += [Term("tool", tool) for tool in tools] or [term]
            if not tools:
                work.note(f.WordPassed, tool=term.value)
            continue
        if term.kind != "pattern":
            terms.append(term)
            continue
        parts = term.value.split("|") if not re.search(r"[()\[\]\\]", term.value) else [term.value]
        if len(parts) > 1:
            alone = work.hook._replace(matcher=tuple(Term("pattern", part) for part in parts if part))
            before, work.hook, count = work.hook, alone, len(work.findings)
            found = _expand(work)
            work.hook = before
            if any(one.kind != "pattern" for one in found):
                terms += found
                continue
            del work.findings[count:]
        tools = [
            tool for name in found_in(term.value, native_tools(source)) for tool in tools_named(source, name)
        ]
        tools = list(dict.fromkeys(tools))
        mcp = source.mcp.prefix if source.mcp else "mcp__"
        if tools:
            terms += _expanded(work, source, term, tools)
        elif mcp and re.sub(r"[\^\\(]|\?:", "", term.value).startswith(mcp) and not _same_mcp(work):
            work.note(f.ServerWidened, server=term.value)
            terms.append(Term("mcp", ANY_SERVER))
        else:
            if not found_in(term.value, native_tools(target)):
                work.note(f.PatternPassed, pattern=term.value)
            terms.append(term)
    return normal(terms)


def _expanded(work: Work, source: Dialect, term: Term, tools: list[str]) -> list[Term]:
    """The tools that a pattern matches, and MCP tools if it matches any such name."""
    some = mcp_parts(source.mcp, Term("mcp", "server", "tool"))[0]
    mcp = [Term("mcp", ANY_SERVER)] if some and found_in(term.value, [some]) else []
    terms = [*(Term("tool", tool) for tool in tools), *mcp]
    work.note(f.PatternExpanded, pattern=term.value, tools=", ".join(map(_spelled, terms)))
    return terms


def _plain_patterns(work: Work) -> None:
    """Patterns that RE2 refuses as the tools they match; a matcher that is broken or on no tool goes."""
    refused = [term for term in work.hook.matcher if term.kind == "pattern" and re2_problem(term.value)]
    source = _here(work.origin, work.hook)
    terms = [term for term in work.hook.matcher if term not in refused]
    for term in refused:
        names = found_in(term.value, native_tools(source)) if about_tool(work.hook.event) else []
        tools = list(dict.fromkeys(tool for name in names for tool in tools_named(source, name)))
        if not tools:
            work.note(f.MatcherDropped, matcher=term.value)
            terms = []
            break
        terms += _expanded(work, source, term, tools)
    if refused:
        work.hook = work.hook._replace(matcher=normal(terms))


def _here(dialect: Dialect, hook: Hook) -> Dialect:
    """The dialect with the tool names of the hook's event."""
    return next((at_event(dialect, spec) for spec, _ in slots(dialect, hook)), dialect)


def _same_mcp(work: Work) -> bool:
    one, other = work.origin.mcp, work.target.mcp
    return bool(
        one and other and (one.prefix, one.joint) == (other.prefix, other.joint)
    ) and work.target.matching.grammar in (
        "names",
        "regex",
        "anchored",
    )


def _subject(work: Work) -> bool:
    """A matcher on something else than a tool: the source of a session, a trigger, a path."""
    hook = work.hook
    specs = specs_of(work)
    if not hook.matcher or not specs:
        return True
    matching = matching_of(work.target, specs[0])
    text = "|".join(term.value for term in hook.matcher)
    if matching.grammar in ("none", "ignored"):
        work.note(f.MatcherDropped, matcher=text)
        work.hook = hook._replace(matcher=())
    elif matching.grammar == "exact":
        values = [value for term in hook.matcher for value in alternatives(term.value)]
        if not values:
            work.note(f.MatcherDropped, matcher=text)
            work.hook = hook._replace(matcher=())
            return True
        if len(values) > 1:
            work.note(f.SplitMatcher, values=", ".join(values))
        work.hook = hook._replace(matcher=normal([Term("pattern", value) for value in values]))
    else:
        work.hook = hook._replace(matcher=(Term("pattern", text),))
    said = read_back(work)
    if work.hook.matcher and not said:
        work.note(f.MatcherDropped, matcher=text)
    work.hook = work.hook._replace(matcher=said)
    return True


def content(work: Work) -> bool:
    """A condition on the tool's input, where the target has a place for it."""
    hook = work.hook
    if not hook.content or says(work.target, "content"):
        return True
    if not all(spec.subject in ("command", "path") for spec in specs_of(work)):
        work.note(f.ContentDropped, pattern=hook.content)
        work.hook = hook._replace(content="")
    return True
