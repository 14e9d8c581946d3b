"""Converts matcher strings to terms and back, for every grammar of a dialect.

Reading stores an unknown name as a pattern; writing uses exact names wherever the grammar allows, so that a
guard for `Edit` does not also run on `NotebookEdit`, or the reverse.
"""

from __future__ import annotations

import re

from hookport.model.hooks import ANY_SERVER, Term
from hookport.model.patterns import matches_all
from hookport.model.tools import TOOLS
from hookport.shapes.dialect import (
    Dialect,
    EventSpec,
    Matching,
    McpNames,
    find_matching,
    find_tools,
    list_event_terms,
    list_native_tools,
    list_tool_names,
    view_at_event,
)
from hookport.shapes.patterns import compile_pattern, is_pattern
from hookport.wire.events import spell_mcp_name

_ANY = r".*"
MARK = "re:"
_ORDER = {tool: number for number, tool in enumerate(TOOLS)}
_PLAIN = re.compile(r"[\w@:/ .-]+")
_KINDS = {"tool": 0, "pattern": 1, "mcp": 2}


def normalise_terms(terms: tuple[Term, ...] | list[Term]) -> tuple[Term, ...]:
    """Terms without repetition in one order: a matcher is a set of alternatives."""
    return tuple(
        sorted(
            dict.fromkeys(terms),
            key=lambda term: (_KINDS[term.kind], _ORDER.get(term.value, len(_ORDER)), term),
        )
    )


def means_all(matching: Matching, text: str) -> bool:
    """Whether a matcher string matches every name."""
    if text in ("", *matching.everything):
        return True
    is_names = matching.grammar == "names" and re.fullmatch(f"{matching.plain}+", text)
    if is_names or matching.grammar not in ("names", "regex", "anchored"):
        return False
    return matches_all(text, is_full=matching.grammar == "anchored")


def read_matcher(dialect: Dialect, spec: EventSpec, text: str) -> tuple[tuple[Term, ...], str]:
    """The terms and the content pattern of a matcher string on this event."""
    dialect = view_at_event(dialect, spec)
    matching, text = read_mark(dialect, find_matching(dialect, spec), text)
    everything = (
        text in matching.never or matching.grammar in ("none", "ignored") or means_all(matching, text)
    )
    if spec.subject in ("command", "path"):
        return list_event_terms(spec), "" if everything else text
    if everything:
        return list_event_terms(spec), ""
    if spec.subject == "mcp_tool":
        return normalise_terms([Term("mcp", ANY_SERVER, tool) for tool in _read_literals(text) or [text]]), ""
    if spec.subject != "tool":
        return (Term("pattern", text),), ""
    return normalise_terms(_read_names(dialect, matching, text)), ""


def write_matcher(
    dialect: Dialect, spec: EventSpec, terms: tuple[Term, ...], content: str
) -> list[str | None]:
    """The matcher strings for these terms, one entry each; None means an entry without a matcher."""
    matching = find_matching(dialect, spec)
    dialect = view_at_event(dialect, spec)
    if matching.grammar == "none":
        return [None]
    if spec.subject in ("command", "path"):
        return [content or None]
    if not terms:
        return [None]
    if spec.subject == "mcp_tool":
        return [_write_mcp_tools([term.tool for term in terms])]
    if spec.subject != "tool":
        if matching.grammar == "exact":
            return [value for term in terms for value in split_alternatives(term.value) or [term.value]]
        return ["|".join(term.value for term in terms)]
    mcp = dialect.mcp
    if mcp and mcp.server_last:
        other_terms = tuple(term for term in terms if not _is_server_last(mcp, term))
        return [
            *(_write_tools(dialect, matching, other_terms) if other_terms else []),
            *(_write_last(mcp, term) for term in terms if term not in other_terms),
        ]
    return _write_tools(dialect, matching, terms)


def _write_tools(dialect: Dialect, matching: Matching, terms: tuple[Term, ...]) -> list[str | None]:
    """The matchers on names of tools."""
    names, patterns = spell_terms(dialect, terms)
    together = matching.grammar in ("names", "regex") and len(names) + len(patterns) > 1
    if matching.grammar in ("anchored", "marked") or together:
        loose = [term.value for term in terms if term.kind == "pattern"]
        whole_patterns = [
            pattern if together and _is_whole(pattern) else _as_whole_pattern(pattern) for pattern in loose
        ]
        patterns = [
            *whole_patterns,
            *spell_terms(dialect, tuple(term for term in terms if term.kind == "mcp"))[1],
        ]
    if not names and not patterns:
        return []
    if matching.grammar == "glob":
        return [*names, *(_write_glob(pattern) for pattern in patterns)]
    return [_join(dialect, matching, names, patterns)]


def read_mark(dialect: Dialect, matching: Matching, text: str) -> tuple[Matching, str]:
    """Read the `re:` mark of a matcher: a pattern for the whole name, or one name."""
    if matching.grammar != "marked":
        return matching, text
    if not text.startswith(MARK) and not set(text) & set("*?["):
        is_known = text.lower() in list_native_tools(dialect)
        return matching._replace(grammar="glob"), text.lower() if is_known else text
    pattern = text.removeprefix(MARK) if text.startswith(MARK) else _translate_glob(text)
    # In small letters, as tools' names are; an escape in small letters means another one.
    lower = re.sub(r"\\.|[A-Z]", lambda match: match[0] if "\\" in match[0] else match[0].lower(), pattern)
    return matching._replace(grammar="anchored"), lower


def _translate_glob(text: str) -> str:
    """A glob as a regular expression for the whole name."""
    signs = {"*": _ANY, "?": "."}
    parts = re.split(r"(\*|\?|\[!?\]?[^\]]*\])", text)
    sets = {part: part.replace("[!", "[^", 1) for part in parts[1::2] if part[0] == "["}
    return "".join(signs.get(part) or sets.get(part) or _escape(part) for part in parts)


def _write_mcp_tools(tools: list[str]) -> str | None:
    """The matcher for tools of any MCP server, by their own names; None if one of them is every tool."""
    if not all(tools):
        return None
    if not all(_PLAIN.fullmatch(tool) for tool in tools):
        return "|".join(tools)
    tools = [tool.replace(".", r"\.") for tool in tools]
    return "^(?:" + "|".join(tools) + ")$" if len(tools) > 1 else f"^{tools[0]}$"


def spell_terms(dialect: Dialect, terms: tuple[Term, ...]) -> tuple[list[str], list[str]]:
    """(exact names, regular expressions) of the terms; a tool the dialect does not have gives nothing."""
    names: list[str] = []
    patterns: list[str] = []
    for term in terms:
        if term.kind == "pattern":
            patterns.append(term.value)
        elif term.kind == "mcp":
            name, pattern = spell_mcp_term(dialect.mcp, term)
            if name and _is_bare(dialect) and dialect.mcp and name.count(dialect.mcp.joint) > 1:
                name, pattern = "", _write_bare(dialect.mcp, term.value, f"(?:{_escape(term.tool)})")
            names += [name] if name else []
            patterns += [pattern] if pattern else []
        elif term.value in TOOLS:
            names += list_tool_names(dialect, term.value)
        else:
            names.append(term.value)
    return list(dict.fromkeys(names)), list(dict.fromkeys(patterns))


def spell_mcp_term(mcp: McpNames | None, term: Term) -> tuple[str, str]:
    """(exact name, regular expression) of an MCP term, one of them empty."""
    if mcp is None:
        return "", ""
    if mcp.server_last:
        is_one = term.tool and term.value != ANY_SERVER
        return (f"{term.tool}{mcp.joint}{term.value}", "") if is_one else ("", _write_last(mcp, term))
    if not mcp.joint:
        return (mcp.prefix + term.tool, "") if term.tool else ("", re.escape(mcp.prefix) + _ANY)
    if term.value == ANY_SERVER and not mcp.prefix:
        return "", _write_bare(mcp, ANY_SERVER, f"(?:{_escape(term.tool)})" if term.tool else "")
    if term.value == ANY_SERVER:
        return "", re.escape(mcp.prefix) + _ANY
    if not mcp.prefix and not term.tool:
        return "", _write_bare(mcp, term.value, "")
    if term.tool:
        return spell_mcp_name(mcp.prefix + term.value, mcp.joint, term.tool, mcp.allowed, mcp.longest), ""
    return "", re.escape(
        spell_mcp_name(mcp.prefix + term.value, mcp.joint, "", mcp.allowed, mcp.longest)
    ) + _ANY


def _is_server_last(mcp: McpNames, term: Term) -> bool:
    """Whether a term needs its own matcher, because the prefix makes it a matcher for MCP tools."""
    return term.kind == "mcp" or (term.kind == "pattern" and term.value.startswith(mcp.prefix))


def _write_last(mcp: McpNames, term: Term) -> str:
    """`mcp:*`, `mcp:.*_server$`, `mcp:^tool_server$`, `mcp:^tool_.*`; a group shows where a server begins."""
    if term.kind == "pattern":
        return term.value
    if term.value == ANY_SERVER:
        return f"{mcp.prefix}^{_escape(term.tool)}{mcp.joint}{_ANY}" if term.tool else f"{mcp.prefix}*"
    if not term.tool:
        return f"{mcp.prefix}{_ANY}{mcp.joint}{_escape(term.value)}$"
    is_clear = mcp.joint not in term.tool + term.value
    server = _escape(term.value) if is_clear else f"(?:{_escape(term.value)})"
    return f"{mcp.prefix}^{_escape(term.tool)}{mcp.joint}{server}$"


def _read_last(mcp: McpNames, text: str) -> Term:
    """The term of a matcher with the prefix; a pattern if the server or the tool is not a plain name."""
    inner = re.sub(r"\\(\W)", r"\1", text.removeprefix(mcp.prefix))
    if inner == "*" or matches_all(inner):
        return Term("mcp", ANY_SERVER)
    name = r"[\w:@./ -]+"
    if match := re.fullmatch(rf"\.\*{mcp.joint}({name})\$", inner):
        return Term("mcp", match[1])
    if match := re.fullmatch(rf"\^({name}){mcp.joint}\.\*", inner):
        return Term("mcp", ANY_SERVER, match[1])
    if match := re.fullmatch(rf"\^({name}){mcp.joint}\(\?:({name})\)\$", inner):
        return Term("mcp", match[2], match[1])
    if (match := re.fullmatch(rf"\^({name}){mcp.joint}({name})\$", inner)) and inner.count(mcp.joint) == 1:
        return Term("mcp", match[2], match[1])
    return Term("pattern", text)


def _escape(text: str) -> str:
    """A literal text in a regular expression; a hyphen needs no escape and JavaScript may refuse one."""
    return re.escape(text).replace(r"\-", "-")


def _write_bare(mcp: McpNames, server: str, tool: str) -> str:
    """The pattern for MCP tools that have no prefix; the group shows where the tool's name begins."""
    return (_ANY if server == ANY_SERVER else _escape(server)) + _escape(mcp.joint) + (tool or _ANY)


def _is_bare(dialect: Dialect) -> bool:
    """Whether MCP tools have no prefix but a joint that no other tool's name has."""
    mcp = dialect.mcp
    if mcp is None or mcp.prefix or not mcp.joint:
        return False
    return not any(mcp.joint in name for name in list_native_tools(dialect))


def _is_bare_mcp(dialect: Dialect, name: str) -> bool:
    return _is_bare(dialect) and dialect.mcp is not None and dialect.mcp.joint in name


def split_alternatives(pattern: str) -> list[str]:
    """The plain words of `a|b`, `(a|b)`, `^(?:a|b)$`; nothing if it is a real regular expression."""
    inner = _strip_anchors(pattern)
    words = inner.split("|")
    return words if all(re.fullmatch(r"[\w@:/ .-]+", word) and "." not in word for word in words) else []


def _read_literals(pattern: str) -> list[str]:
    r"""The names that `^(?:a|b\.c)$` stands for; nothing if it is a real regular expression."""
    words = _strip_anchors(pattern).split("|")
    if not all(
        _PLAIN.fullmatch(word.replace(r"\.", "_")) and "." not in word.replace(r"\.", "") for word in words
    ):
        return []
    return [word.replace(r"\.", ".") for word in words]


def find_matches(pattern: str, names: list[str]) -> list[str]:
    """The names that a pattern matches anywhere; none if it is not a valid pattern."""
    regex = compile_pattern(pattern)
    return [] if isinstance(regex, str) else [name for name in names if regex.search(name)]


def _strip_anchors(pattern: str) -> str:
    inner = pattern.removeprefix("^").removesuffix("$") if pattern.startswith("^") else pattern
    group = re.fullmatch(r"\((?:\?:)?([^()]*)\)", inner)
    return group[1] if group else inner


def _read_names(dialect: Dialect, matching: Matching, text: str) -> list[Term]:
    if matching.grammar == "glob":
        return _read_glob(dialect, text)
    if matching.grammar == "names" and re.fullmatch(f"{matching.plain}+", text):
        words = re.split(f"[{re.escape(matching.separators)}]", text)
        return [term for word in words for term in _read_name(dialect, word.strip())]
    if dialect.mcp and dialect.mcp.server_last and text.startswith(dialect.mcp.prefix):
        return [_read_last(dialect.mcp, text)]
    terms: list[Term] = []
    names = list_native_tools(dialect)
    # `^Read` is the beginning of a name, not a name: it also finds ReadMediaFile.
    is_whole = matching.grammar == "anchored" or not text.startswith("^") or text.endswith("$")
    is_exact = matching.grammar == "anchored" or bool(
        re.fullmatch(r"\^(?:\((?:\?:)?[^()|]+\)|[^()|]+)\$", text)
    )
    for alternative in _strip_anchors(text).split("|"):
        mcp = _read_mcp_part(dialect, alternative) if is_whole or alternative.endswith(_ANY) else None
        # If the whole name is matched, an escaped dot is a dot.
        is_literal = matching.grammar == "anchored" and re.fullmatch(r"(?:[\w-]|\\[.-])+", alternative)
        part = alternative.replace("\\", "") if is_literal else alternative
        if mcp:
            terms.append(mcp)
        elif (is_whole and part in names) or (
            _is_mcp(dialect.mcp, part) and (is_whole or _is_server(dialect.mcp, part))
        ):
            terms += _read_name(dialect, part)
        elif (
            is_whole
            and (is_literal or re.fullmatch(r"[\w-]+", part))
            and (is_exact or not _is_partial_name(dialect, part, names))
        ):
            terms.append(Term("tool", part))
        else:
            return [Term("pattern", _as_search_pattern(text) if matching.grammar == "anchored" else text)]
    return terms


def _is_partial_name(dialect: Dialect, part: str, names: list[str]) -> bool:
    """Whether a word is part of a known name, or the beginning of an MCP tool's name."""
    prefix = dialect.mcp.prefix if dialect.mcp and not dialect.mcp.server_last else ""
    return any(part in name for name in names) or bool(prefix and part.startswith(prefix))


def _as_search_pattern(text: str) -> str:
    """Turn a pattern for the whole name into one that is searched in the name, as terms hold it."""
    loose = re.fullmatch(r"\.\*\(\?:(.*)\)\.\*", text)
    return loose[1] if loose and is_pattern(loose[1]) else f"^(?:{text})$"


def _as_whole_pattern(pattern: str) -> str:
    """Turn a searched pattern into one for a dialect that matches the whole name."""
    match = re.fullmatch(r"\^\(\?:(.*)\)\$", pattern)
    return match[1] if match and is_pattern(match[1]) else f".*(?:{pattern}).*"


def _is_whole(pattern: str) -> bool:
    """Whether a pattern is one sequence from the beginning of a name to its end."""
    rest = re.sub(r"\\.|\[[^\]]*\]", "", pattern)
    while (less := re.sub(r"\([^()]*\)", "", rest)) != rest:
        rest = less
    return rest.startswith("^") and rest.endswith("$") and "|" not in rest


def _read_mcp_part(dialect: Dialect, part: str) -> Term | None:
    """The MCP term of one alternative, if it is one beyond a plain name."""
    if dialect.mcp is None:
        return None
    return _read_bare(dialect.mcp, part) if _is_bare(dialect) else _read_mcp_pattern(dialect.mcp, part)


def _read_bare(mcp: McpNames, part: str) -> Term | None:
    """`server-tool`, `server-(?:the-tool)`, `server-.*`, `.*-.*`; nothing if the server's end is unclear."""
    joint = mcp.joint
    text = re.sub(r"\\(\W)", r"\1", part)
    server, _, tool = text.rpartition(joint + "(?:") if text.endswith(")") else text.rpartition(joint)
    marked = text.endswith(")")
    if tool == _ANY:
        tool = ""
    elif marked:
        tool = tool.removesuffix(")")
    elif joint in server:
        return None
    if server == _ANY and (marked or not tool):
        server = ANY_SERVER
    plain = r"[\w:@./ -]+"
    is_plain_server = server == ANY_SERVER or re.fullmatch(plain, server)
    is_name = bool(is_plain_server) and (not tool or re.fullmatch(plain, tool))
    return Term("mcp", server, tool) if is_name and (tool or text.endswith(_ANY)) else None


def _read_name(dialect: Dialect, name: str) -> list[Term]:
    tools = find_tools(dialect, name)
    if tools:
        return [Term("tool", tool) for tool in tools]
    if dialect.mcp and _is_mcp(dialect.mcp, name):
        return [_read_mcp(dialect.mcp, name)]
    bare = _read_bare(dialect.mcp, name) if dialect.mcp and _is_bare_mcp(dialect, name) else None
    return [bare or Term("tool", name)]


def _is_mcp(mcp: McpNames | None, name: str) -> bool:
    return bool(
        mcp
        and mcp.prefix
        and not mcp.server_last
        and re.fullmatch(r"[\w:@./ -]+", name)
        and name.startswith(mcp.prefix)
        and mcp.joint in name[len(mcp.prefix) :]
        and len(name) > len(mcp.prefix)
    )


def _is_server(mcp: McpNames | None, name: str) -> bool:
    """Whether an MCP name ends with its server, so that it is the prefix of all the server's tools."""
    return bool(mcp and mcp.joint and name.endswith(mcp.joint))


def _read_mcp(mcp: McpNames, name: str) -> Term:
    rest = name[len(mcp.prefix) :]
    if not mcp.joint:
        return Term("mcp", ANY_SERVER, rest)
    server, _, tool = rest.partition(mcp.joint)
    return Term("mcp", server, tool)


def _read_mcp_pattern(mcp: McpNames, part: str) -> Term | None:
    """`mcp__github__.*` and `mcp__.*`: all tools of one server, or of all."""
    if not mcp.prefix or mcp.server_last or not part.startswith(re.escape(mcp.prefix)):
        return None
    rest = part[len(re.escape(mcp.prefix)) :]
    if rest == _ANY:
        return Term("mcp", ANY_SERVER)
    joint = re.escape(mcp.joint)
    if not joint or not rest.endswith(joint + _ANY):
        return None
    server = re.sub(r"\\(.)", r"\1", rest.removesuffix(joint + _ANY))
    return Term("mcp", server) if re.fullmatch(r"[\w:@./ -]+", server) else None


def _read_glob(dialect: Dialect, text: str) -> list[Term]:
    mcp = dialect.mcp
    if mcp and mcp.prefix and text.startswith(mcp.prefix):
        server, _, tool = text[len(mcp.prefix) :].partition(mcp.joint)
        if not set(server) & set("*?") and tool in ("", "*"):
            return [Term("mcp", server)]
        if server == "*" and tool in ("", "*"):
            return [Term("mcp", ANY_SERVER)]
    if set(text) & set("*?[") or not text:
        return [Term("pattern", "^" + re.escape(text).replace(r"\*", ".*").replace(r"\?", ".") + "$")]
    return _read_name(dialect, text)


def _write_glob(pattern: str) -> str:
    return re.sub(r"\\(.)", r"\1", pattern.replace(_ANY, "*").removeprefix("^").removesuffix("$"))


def _join(dialect: Dialect, matching: Matching, names: list[str], patterns: list[str]) -> str:
    if matching.grammar == "marked":
        # A matcher of blanks is empty, and its hook is not loaded.
        is_name = len(names) == 1 and not patterns and names[0].strip() and not set(names[0]) & set("*?[")
        anchored = matching._replace(grammar="anchored")
        return names[0] if is_name else MARK + _join(dialect, anchored, names, patterns)
    if len(patterns) == 1 and not names:
        return patterns[0]
    if matching.grammar == "names" and not patterns:
        joined = "|".join(names)
        if re.fullmatch(f"{matching.plain}+", joined):
            return joined
    parts = [*map(re.escape, names), *patterns]
    joined = "|".join(part.replace(r"\-", "-").replace(r"\ ", " ") for part in parts)
    other_names = [name for name in list_native_tools(dialect) if name not in names]
    loose = matching.grammar != "anchored" and (
        bool(patterns and names)
        or matching.grammar == "names"
        or any(name in other_name for name in names for other_name in other_names)
        or matching.anchors
        or any(_is_mcp(dialect.mcp, name) or _is_bare_mcp(dialect, name) for name in names)
    )
    return f"^(?:{joined})$" if loose else joined
