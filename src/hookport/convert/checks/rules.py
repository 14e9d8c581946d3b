"""Permission rules as conditions of hooks that never hold: the errors in them, and their places.

`runtime.rules` matches rules; an agent's table has the rules that it was measured not to fire.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from hookport import agents
from hookport.agents import Dialect
from hookport.model.hooks import Hook
from hookport.runtime.rules import COVERED
from hookport.shapes.dialect import UNFIRED_RULES, find_quirk, find_tools, has_field, list_native_tools

# Keys of tools' inputs; a rule has only the value. `domain:` belongs to rules.
FIELDS = ("command", "description", "file_path", "path", "prompt", "run_in_background", "timeout", "url")
ON_FILES = ("Read", "Edit", "Write", "NotebookEdit")
SEVERAL = re.compile(r"\)\s*(?:\|\|?|&&?|,|;)\s*[\w*]+(?:\(|$)")


class DeadRule(NamedTuple):
    """Why no call matches a rule; `is_documented`: the agent's documentation differs."""

    why: str
    is_documented: bool = False


def find_dead_rule(hook: Hook, dialect: Dialect) -> DeadRule | None:
    """Explain why a hook's rule never holds, None if it may; `dialect` is that of the hook's file."""
    if not has_field(dialect, "condition") or dialect.is_hub:
        names = [hook.dialect] if hook.dialect in agents.list_dialects() else []
        dialect = agents.get(names[0]) if names else dialect
    if not hook.condition or not has_field(dialect, "condition") or dialect.is_hub:
        return None
    if why := _explain_misspelling(hook.condition) or _explain_mismatch(hook, dialect):
        return DeadRule(why)
    for pattern, why in find_quirk(dialect, UNFIRED_RULES).items():
        if re.fullmatch(pattern, hook.condition):
            return DeadRule(why, is_documented=True)
    return None


def read_tool(rule: str) -> str:
    """The name of the tool that a rule is for."""
    return rule.partition("(")[0]


def _explain_misspelling(rule: str) -> str:
    tool, bracket, inside = rule.partition("(")
    if rule != rule.strip():
        return "it has blanks around it"
    if SEVERAL.search(rule):
        return "it is read as one rule; write one hook for each"
    if bracket and not inside.endswith(")"):
        return "it does not end with ')'"
    if not bracket and ")" in rule:
        return "it has no '('"
    if rule.startswith("*"):
        return "'*' is not a tool; remove 'if' to run on every call"
    key, colon, _ = inside.partition(":")
    if colon and key in FIELDS:
        return f"'{key}:' is read as part of the pattern; write the pattern alone"
    if inside.startswith("!"):
        return "a pattern starting with '!' matches nothing"
    if tool in ON_FILES and re.search(r"\{[^{}]*,[^{}]*\}", inside):
        return "rules do not support braces; write one hook for each"
    return ""


def _explain_mismatch(hook: Hook, dialect: Dialect) -> str:
    """Explain why no tool of the matcher is the rule's."""
    tool = read_tool(hook.condition)
    is_mcp = dialect.mcp is not None and tool.startswith(dialect.mcp.prefix)
    words = {word for named in find_tools(dialect, tool) for word in COVERED.get(named, (named,))}
    if not hook.matcher or not (is_mcp or words):
        return ""
    for term in hook.matcher:
        if term.kind == "pattern" or ((term.kind == "mcp") == is_mcp and (is_mcp or term.value in words)):
            return ""
    named = ", ".join(name for name in list_native_tools(dialect) if _is_matched(hook, dialect, name))
    return f"the matcher has {named or 'other tools'}, not {tool}"


def _is_matched(hook: Hook, dialect: Dialect, name: str) -> bool:
    values = {term.value for term in hook.matcher if term.kind == "tool"}
    return not values.isdisjoint(find_tools(dialect, name))
