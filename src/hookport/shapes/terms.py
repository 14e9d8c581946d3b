"""Matchers in the interchange format: names, patterns, MCP objects, and lists of these."""

from __future__ import annotations

import re
from collections.abc import Mapping

from hookport.errors import Problem
from hookport.model.hooks import Term
from hookport.shapes.dialect import Path, Tree
from hookport.shapes.entries import name_kind
from hookport.shapes.patterns import compile_pattern

_RE2_LACKS = (
    (r"\(\?<?[=!]", "lookaround"),
    (r"\\[1-9]|\(\?P=", "a backreference"),
    (r"\(\?>|[*+?}]\+", "an atomic or possessive group"),
)


def find_re2_problem(pattern: str) -> str:
    """Explain why RE2 refuses a pattern; empty if it does not."""
    bare = re.sub(r"\\\\", "", pattern)
    bare = re.sub(r"\[\^?\]?(?:\\.|[^\]\\])*\]", "[]", bare)
    for needle, feature in _RE2_LACKS:
        if re.search(needle, bare):
            return f"uses {feature}, which RE2 does not have"
    regex = compile_pattern(pattern)
    return f"is not a valid regular expression: {regex}" if isinstance(regex, str) else ""


def read_terms(matcher: Tree, path: Path, problems: list[Problem]) -> tuple[Term, ...]:
    """The terms of a matcher; its problems are appended to `problems`."""
    if isinstance(matcher, list):
        if not matcher:
            problems.append(Problem("must not be empty; remove the matcher to match everything", path))
        items = [_read_term(item, (*path, number), problems) for number, item in enumerate(matcher)]
        return tuple(term for term in items if term)
    term = _read_term(matcher, path, problems)
    return (term,) if term else ()


def _read_term(term: Tree, path: Path, problems: list[Problem]) -> Term | None:
    if isinstance(term, str) and term:
        return Term("tool", term)
    if isinstance(term, Mapping) and isinstance(term.get("pattern"), str):
        wrong = find_re2_problem(term["pattern"])
        if wrong:
            problems.append(Problem(f"the pattern '{term['pattern']}' {wrong}", (*path, "pattern")))
            return None
        return Term("pattern", term["pattern"])
    mcp = term.get("mcp") if isinstance(term, Mapping) else None
    if isinstance(mcp, Mapping):
        server, tool = mcp.get("server"), mcp.get("tool", "")
        if not isinstance(server, str) or not server:
            problems.append(
                Problem("'server' is missing" if server is None else "must be a string", (*path, "mcp"))
            )
            return None
        if not isinstance(tool, str):
            problems.append(Problem(f"must be a string, not {name_kind(tool)}", (*path, "mcp", "tool")))
            return None
        return Term("mcp", server, tool)
    problems.append(
        Problem('must be a tool\'s name, {"pattern": …}, {"mcp": {"server": …}} or a list of these', path)
    )
    return None


def write_terms(terms: tuple[Term, ...]) -> Tree:
    """The matcher for these terms."""
    written = [_write_term(term) for term in terms]
    return written[0] if len(written) == 1 else written


def _write_term(term: Term) -> Tree:
    if term.kind == "tool":
        return term.value
    if term.kind == "pattern":
        return {"pattern": term.value}
    mcp = {"server": term.value}
    return {"mcp": {**mcp, "tool": term.tool} if term.tool else mcp}
