"""The matcher in the target; wider or narrower only with a finding."""

from __future__ import annotations

import re

from hookport import findings as f
from hookport.agents import get_wire
from hookport.convert.degrade.work import Work, list_specs
from hookport.convert.degrade.wrapping import quote_literal, spell_matcher_option
from hookport.model.events import is_about_tool
from hookport.model.hooks import ANY_SERVER, Hook, Term
from hookport.model.patterns import Unknown, each_may_match, find_beginnings, matches_all, may_match
from hookport.model.tools import TOOLS
from hookport.shapes.dialect import (
    Dialect,
    EventSpec,
    McpNames,
    covers,
    find_event_specs,
    find_matching,
    find_tools,
    has_field,
    is_gone,
    is_split,
    list_event_terms,
    list_native_tools,
    list_tool_names,
    view_at_event,
)
from hookport.shapes.entries import find_slots
from hookport.shapes.matchers import (
    find_matches,
    normalise_terms,
    read_matcher,
    spell_mcp_term,
    spell_terms,
    split_alternatives,
    write_matcher,
)
from hookport.shapes.terms import find_re2_problem
from hookport.wire.events import find_subject_field, list_places

# Findings that the target runs a hook more often than its matcher allows.
WIDER = tuple(
    kind.code for kind in (f.MatcherDropped, f.MatcherWidened, f.ServerWidened, f.McpPatternWidened)
)
OF_SERVERS = (f.ServerWidened.code, f.McpPatternWidened.code)


def degrade_matcher(work: Work) -> bool:
    """Convert the matcher to the target; if it becomes wider, the bridge checks the hook's own matcher.

    A command written for the target stays unchanged: it needs no bridge, and the finding reports the change.
    """
    before, count = work.hook.matcher, len(work.findings)
    if not _write_terms(work):
        return False
    if work.is_home or not work.can_wrap:
        return True
    adjusted, more = _adjust_matcher(work)
    findings = work.findings[count:] + more
    if not any(finding.code in WIDER for finding in findings):
        return True
    is_testable = is_about_tool(work.hook.event)
    of: list[str] = []
    if not is_testable and (subject := _find_subject(work)):
        is_testable, of = True, [f"--matcher-of={subject}"]
    if is_testable:
        kept_codes = () if _names_servers(work) else OF_SERVERS
        work.hook = work.hook._replace(matcher=adjusted)
        work.findings[count:] = [
            finding for finding in findings if finding.code not in WIDER or finding.code in kept_codes
        ]
        work.carry("its matcher", f"--matcher={quote_literal(spell_matcher_option(before))}", *of)
    return True


def _adjust_matcher(work: Work) -> tuple[tuple[Term, ...], list[f.Finding]]:
    """The matcher after the target's own rules, and their reports on it."""
    matcher = work.hook.matcher
    if not work.target.adjust or not matcher:
        return matcher, []
    hooks, findings = work.target.adjust([work.hook])
    if len(hooks) != 1 or hooks[0].matcher == matcher:
        return matcher, []
    wider = [finding for finding in findings if finding.code in WIDER and finding.hook is not None]
    return hooks[0].matcher, [finding._replace(hook=work.index, where=work.where) for finding in wider]


def _find_subject(work: Work) -> str:
    """The subject of the matcher, if the target's payload has it too; else empty."""
    written, specs = [spec for spec, _ in find_slots(work.origin, work.hook)], list_specs(work)
    if len(written) != 1 or not written[0].subject or not specs:
        return ""
    field = find_subject_field(
        get_wire(work.origin.id), work.hook.event, written[0].native, written[0].subject
    )
    is_said = all(list_places(get_wire(work.target.id), spec.native, field) for spec in specs)
    return written[0].subject if is_said else ""


def _names_servers(work: Work) -> bool:
    """Whether the target's payload names the server of an MCP tool."""
    target_wire = get_wire(work.target.id)
    has_joint = bool(target_wire.mcp and target_wire.mcp[1])
    specs = [spec for spec in list_specs(work) if "mcp" in spec.tools or not is_split(spec)]
    return has_joint or all(list_places(target_wire, spec.native, "server") for spec in specs)


def _write_terms(work: Work) -> bool:
    """Convert the matcher to the target; wider or narrower only with a finding."""
    if work.target.is_hub or work.target.matching.grammar == "terms":
        _expand_refused_patterns(work)
    if work.target.is_hub:
        return True
    if not is_about_tool(work.hook.event):
        return _write_subject(work)
    if work.origin.id != work.target.id:
        work.hook = work.hook._replace(matcher=_expand(work))
    if not work.hook.matcher:
        return _cover_every_tool(work)
    if not _keep_shown_tools(work):
        return False
    present = work.hook.matcher
    read_terms = read_back(work)
    if read_terms:
        _note_wider(work, present, read_terms)
    else:
        work.note(f.MatcherDropped, matcher=", ".join(map(_spell_term, present)))
    work.hook = work.hook._replace(matcher=read_terms)
    return True


def _cover_every_tool(work: Work) -> bool:
    """Report a hook without a matcher, if the target's events fire only for some tools."""
    hook, specs = work.hook, list_specs(work)
    if specs and all(is_split(spec) for spec in specs):
        terms = normalise_terms([term for spec in specs for term in list_event_terms(spec)])
        tools = ", ".join(map(_spell_term, terms))
        work.note(f.GuardPartialCover if hook.blocking else f.PartialCover, tools=tools)
        work.hook = hook._replace(matcher=terms)
    return True


def _keep_shown_tools(work: Work) -> bool:
    """Keep the part of the matcher whose tools the target shows to hooks; drop the hook if none is left."""
    hook = work.hook
    terms = hook.matcher
    present = tuple(term for term in terms if _exists(work, term))
    missing = [term for term in terms if term not in present]
    if missing and not present:
        tools = ", ".join(map(_spell_term, missing))
        if hook.blocking:
            work.note(f.GuardDropped, event=f"{tools} tool in its {hook.event}", reason="")
        else:
            work.note(f.NoToolLeft, tools=tools)
        return False
    gone = [term for term in present if term.kind == "tool" and is_gone(work.target, term.value)]
    for term in (*missing, *gone):
        work.note(f.GuardToolMissing if hook.blocking else f.ToolMissing, tool=_spell_term(term))
    work.hook = hook._replace(matcher=present)
    return True


def _note_wider(work: Work, present: tuple[Term, ...], read_terms: tuple[Term, ...]) -> None:
    """Report terms that the target reads back but the hook does not have."""
    for term in present:
        if term.kind == "mcp" and term not in read_terms:
            _note_mcp(work, term, read_terms)
    wider = [term for term in read_terms if term not in present and term.kind != "mcp"]
    if wider:
        work.note(f.MatcherWidened, extra=", ".join(map(_spell_term, wider)))


def _note_mcp(work: Work, term: Term, read_terms: tuple[Term, ...]) -> None:
    """Report an MCP term that is read back differently: renamed, or wider."""
    target = _select_event_tools(work.target, work.hook)
    names, patterns = spell_terms(target, (term,))
    read_parts = spell_terms(target, tuple(read_term for read_term in read_terms if read_term.kind == "mcp"))
    is_any = term.value != ANY_SERVER and Term("mcp", ANY_SERVER, term.tool) in read_terms
    if is_any:
        work.note(f.ServerWidened, server=term.value)
    elif (names or patterns) and set(names) <= set(read_parts[0]) and set(patterns) <= set(read_parts[1]):
        work.note(
            f.McpRenamed, before=_spell_term(term).removeprefix("mcp "), after=", ".join((*names, *patterns))
        )
    else:
        work.note(f.ServerWidened, server=_spell_term(term).removeprefix("mcp "))


def _spell_term(term: Term) -> str:
    if term.kind == "mcp":
        return f"mcp {term.value}/{term.tool}" if term.tool else f"mcp {term.value}"
    return term.value


def read_back(work: Work) -> tuple[Term, ...]:
    """The matcher as the target reads it back; everything, if it cannot be written."""
    if all(find_matching(work.target, spec).grammar == "terms" for spec in list_specs(work)):
        return work.hook.matcher
    hook = work.hook
    for _ in range(4):
        terms: list[Term] = []
        for spec, part in find_slots(work.target, hook):
            for text in write_matcher(work.target, spec, part, hook.content):
                read, _ = read_matcher(work.target, spec, text or "")
                if not read:
                    return ()
                terms += read
        read_terms = normalise_terms(terms)
        if read_terms == hook.matcher:
            return read_terms
        hook = hook._replace(matcher=read_terms)
    return ()


def _exists(work: Work, term: Term) -> bool:
    """Whether the target shows hooks such a tool."""
    specs = find_event_specs(work.target, work.hook.event)
    special = any(covers(spec, term) for spec in specs)
    general = any(not is_split(spec) for spec in specs)
    if term.kind == "mcp":
        return special or (general and (work.target.mcp is not None or _ignores_matcher(work, specs)))
    if term.kind == "tool" and term.value in TOOLS:
        return special or any(
            list_tool_names(view_at_event(work.target, spec), term.value)
            for spec in specs
            if not is_split(spec)
        )
    return general


def _ignores_matcher(work: Work, specs: list[EventSpec]) -> bool:
    return any(find_matching(work.target, spec).grammar in ("none", "ignored") for spec in specs)


def _expand(work: Work) -> tuple[Term, ...]:
    """Replace patterns by the tools they match: names differ, so the pattern would match others."""
    terms: list[Term] = []
    source, target = _select_event_tools(work.origin, work.hook), _select_event_tools(work.target, work.hook)
    for term in work.hook.matcher:
        if term.kind == "tool" and term.value not in TOOLS:
            tools = find_tools(target, term.value)
            terms += [Term("tool", tool) for tool in tools] or [term]
            terms += _split_mcp_name(source, term.value)
            if not tools:
                work.note(f.WordPassed, tool=term.value)
            continue
        if term.kind != "pattern":
            terms.append(term)
            continue
        if matches_all(term.value):
            return ()
        alternatives = _split(term.value)
        if len(alternatives) > 1:
            alone = work.hook._replace(matcher=tuple(Term("pattern", part) for part in alternatives))
            before, work.hook, count = work.hook, alone, len(work.findings)
            expanded = _expand(work)
            work.hook = before
            if any(expanded_term.kind != "pattern" for expanded_term in expanded):
                terms += expanded
                continue
            del work.findings[count:]
        terms += _expand_pattern(work, source, target, term)
    return normalise_terms(terms)


def _split_mcp_name(source: Dialect, name: str) -> list[Term]:
    """The MCP tools that a name may be too, where nothing tells them from other tools."""
    mcp = source.mcp
    if mcp is None or mcp.prefix or not mcp.joint or name in source.wordless:
        return []
    parts = name.split(mcp.joint)
    splits = [(mcp.joint.join(parts[:at]), mcp.joint.join(parts[at:])) for at in range(1, len(parts))]
    return [Term("mcp", server, tool) for server, tool in splits if server and tool]


def _split(pattern: str) -> list[str]:
    """The alternatives of a pattern without groups, classes or escapes."""
    return [pattern] if re.search(r"[()\[\]\\]", pattern) else pattern.split("|")


def _expand_pattern(work: Work, source: Dialect, target: Dialect, term: Term) -> list[Term]:
    tools = [
        tool
        for name in find_matches(term.value, list_native_tools(source))
        for tool in find_tools(source, name)
    ]
    terms = _make_expanded_terms(work, source, term, list(dict.fromkeys(tools))) if tools else []
    if Term("mcp", ANY_SERVER) in terms:
        return terms
    if _may_be_mcp(source, term.value) and not _is_in_a_part(source, target, term.value):
        if _has_same_mcp(work, term.value) and not terms:
            return [term]
        mcp = _mcp_terms(source, term.value)
        work.note(f.McpPatternWidened, pattern=term.value, tools=", ".join(map(_spell_term, mcp)))
        terms += mcp
        prefix = source.mcp.prefix if source.mcp else "mcp__"
        if prefix and all(text.startswith(prefix) for text, _, _ in find_beginnings(term.value)):
            return terms
    elif terms:
        return terms
    elif not find_matches(term.value, list_native_tools(target)):
        work.note(f.PatternPassed, pattern=term.value)
    return terms if tools else [*terms, term]


def _may_be_mcp(source: Dialect, pattern: str) -> bool:
    """Whether a pattern may match MCP tools, of whatever server."""
    mcp = source.mcp or McpNames("mcp__", "__")
    part = Unknown(mcp.joint if len(mcp.joint) > 1 else "")
    if mcp.server_last:
        if not pattern.startswith(mcp.prefix):
            return False
        return may_match(
            pattern.removeprefix(mcp.prefix), [part, *mcp.joint, part], list_native_tools(source)
        )
    text = [*mcp.prefix, *((part, *mcp.joint) if mcp.joint else ()), part]
    return may_match(pattern, text, list_native_tools(source))


def _is_in_a_part(source: Dialect, target: Dialect, pattern: str) -> bool:
    """Whether a pattern matches an MCP tool by only its server's or own name, and so in the target too."""
    source_mcp, target_mcp = source.mcp or McpNames("mcp__", "__"), target.mcp or McpNames("mcp__", "__")
    # If fewer characters are allowed, a substitute replaces the others.
    is_spelled = not target_mcp.allowed or not re.search(r"[-:@/ $]|\\\.", pattern)
    is_free = not re.search(r"[\^$]", pattern) and (not source_mcp.prefix or source_mcp.prefix not in pattern)
    return (
        bool(target_mcp.joint)
        and is_spelled
        and is_free
        and each_may_match(pattern, [Unknown(source_mcp.joint or "_")])
    )


def _mcp_terms(source: Dialect, pattern: str) -> list[Term]:
    """The MCP tools or servers named by a pattern's prefixes; every server if unclear."""
    mcp = source.mcp or McpNames("mcp__", "__")
    terms: list[Term] = []
    for text, is_start, is_end in find_beginnings(pattern):
        if text and not _may_be_mcp(source, re.escape(text)):
            continue
        server, joint, tool = text.removeprefix(mcp.prefix).partition(mcp.joint or "\0")
        # Servers' names also contain `_` and `-`.
        is_clear = bool(joint) and joint not in "_-" and not mcp.server_last
        if not is_clear or not text.startswith(mcp.prefix) or not (mcp.prefix or is_start):
            return [Term("mcp", ANY_SERVER)]
        terms.append(Term("mcp", server, tool if is_end else ""))
    return list(dict.fromkeys(terms)) or [Term("mcp", ANY_SERVER)]


def _make_expanded_terms(work: Work, source: Dialect, term: Term, tools: list[str]) -> list[Term]:
    """The tools that a pattern matches, and MCP tools if it matches any such name."""
    some = spell_mcp_term(source.mcp, Term("mcp", "server", "tool"))[0]
    mcp = [Term("mcp", ANY_SERVER)] if some and find_matches(term.value, [some]) else []
    terms = [*(Term("tool", tool) for tool in tools), *mcp]
    work.note(f.PatternExpanded, pattern=term.value, tools=", ".join(map(_spell_term, terms)))
    return terms


def _expand_refused_patterns(work: Work) -> None:
    """Replace patterns that RE2 refuses by the tools they match; drop invalid and useless matchers."""
    refused = [term for term in work.hook.matcher if term.kind == "pattern" and find_re2_problem(term.value)]
    source = _select_event_tools(work.origin, work.hook)
    terms = [term for term in work.hook.matcher if term not in refused]
    for term in refused:
        names = find_matches(term.value, list_native_tools(source)) if is_about_tool(work.hook.event) else []
        tools = list(dict.fromkeys(tool for name in names for tool in find_tools(source, name)))
        if not tools:
            work.note(f.MatcherDropped, matcher=term.value)
            terms = []
            break
        terms += _make_expanded_terms(work, source, term, tools)
    if refused:
        work.hook = work.hook._replace(matcher=normalise_terms(terms))


def _select_event_tools(dialect: Dialect, hook: Hook) -> Dialect:
    """The dialect with the tool names of the hook's event."""
    return next((view_at_event(dialect, spec) for spec, _ in find_slots(dialect, hook)), dialect)


def _keeps_signs(mcp: McpNames, pattern: str) -> bool:
    """Whether names keep every sign that a pattern needs; what it excludes may be one that becomes `_`."""
    if not mcp.allowed:
        return True
    if re.search(r"\(\?<?!|\[\^|\\W", pattern):
        return False
    # Neither a group's colon nor the hyphen of a range is in a name.
    plain = re.sub(r"\[[^\]]*\]", lambda found: re.sub(r"\w-\w", "", found[0]), pattern.replace("(?:", "("))
    signs = re.findall(r"[-:@/ ]|\\[.$]", plain)
    return all(re.fullmatch(f"[{mcp.allowed}]", sign[-1]) for sign in signs)


def _has_same_mcp(work: Work, pattern: str) -> bool:
    """Whether the target spells the MCP tools that a pattern matches as its own agent does."""
    source_mcp, target_mcp = work.origin.mcp, work.target.mcp
    return bool(
        source_mcp
        and target_mcp
        and (source_mcp.prefix, source_mcp.joint) == (target_mcp.prefix, target_mcp.joint)
        and (source_mcp.allowed == target_mcp.allowed or _keeps_signs(target_mcp, pattern))
    ) and work.target.matching.grammar in (
        "names",
        "regex",
        "anchored",
    )


def _write_subject(work: Work) -> bool:
    """Convert a matcher on another subject than a tool: the source of a session, a trigger, a path."""
    hook = work.hook
    specs = list_specs(work)
    if not hook.matcher or not specs:
        return True
    matching = find_matching(work.target, specs[0])
    text = "|".join(term.value for term in hook.matcher)
    if matching.grammar in ("none", "ignored"):
        work.note(f.MatcherDropped, matcher=text)
        work.hook = hook._replace(matcher=())
    elif matching.grammar == "exact":
        values = [value for term in hook.matcher for value in split_alternatives(term.value)]
        if not values:
            work.note(f.MatcherDropped, matcher=text)
            work.hook = hook._replace(matcher=())
            return True
        if len(values) > 1:
            work.note(f.SplitMatcher, values=", ".join(values))
        work.hook = hook._replace(matcher=normalise_terms([Term("pattern", value) for value in values]))
    else:
        work.hook = hook._replace(matcher=(Term("pattern", text),))
    read_terms = read_back(work)
    if work.hook.matcher and not read_terms:
        work.note(f.MatcherDropped, matcher=text)
    work.hook = work.hook._replace(matcher=read_terms)
    return True


def degrade_content(work: Work) -> bool:
    """Convert the pattern on a tool's input: if the target has no field for it, the bridge checks it."""
    hook, target = work.hook, work.target
    if hook.content and not _keeps_content(work):
        of = [f"--pattern-of={work.content_of}"] if work.content_of else []
        if not work.carry("its pattern", f"--pattern={quote_literal(hook.content)}", *of):
            work.note(f.ContentDropped, pattern=hook.content)
        work.hook = work.hook._replace(content="")
    if hook.condition and not has_field(target, "condition", hook.handler.type):
        if not work.carry("its rule", f"--if={quote_literal(hook.condition)}"):
            work.note(f.ConditionDropped, rule=hook.condition)
        work.hook = work.hook._replace(condition="")
    return True


def _keeps_content(work: Work) -> bool:
    """Whether the target has a field for the pattern, and keeps it."""
    if not has_field(work.target, "content"):
        return all(spec.subject in ("command", "path") for spec in list_specs(work))
    adjusted = work.target.adjust([work.hook])[0] if work.target.adjust else [work.hook]
    return [hook.content for hook in adjusted] == [work.hook.content]
