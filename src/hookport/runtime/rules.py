"""Permission rules as conditions of a hook: `Bash(git push *)`, `Edit(src/**)`, `WebFetch(domain:x.org)`.

An undecided rule holds. The rules follow Claude Code 2.1.325 as measured (`tests/rules/`). Where its
documentation promises more than that version does (`Edit` rules cover every tool that edits, `domain:`, the
name of a subagent, all tools of an MCP server), the documentation counts too: no hook runs less often than
its author expects.
"""

from __future__ import annotations

import os
import re

from hookport.runtime import rule_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from hookport.model.runs import Call, Event
    from hookport.wire.table import Wire

# A rule for the first tool covers the others.
COVERED = {
    "file_edit": ("file_edit", "file_write", "notebook_edit"),
    "file_read": ("file_read", "search", "find"),
}
FILES = (*COVERED["file_edit"], "file_read")
SEARCHES = ("search", "find")
# Kinds of tool with several different tools in one agent.
TOLD_APART = ("shell", "todo")


def check_rule(rule: str, event: Event, call: Call, wire: Wire) -> bool | str:
    """Check whether a rule matches a call, or return why that is unknown."""
    tool, inside = _split_rule(rule)
    if call.mcp_tool:
        match = _match_mcp(tool, call)
        return f"'{inside}' has no defined meaning for an MCP tool" if match and inside else match
    kinds = _find_kinds(tool, event, call, wire, covers=bool(inside))
    if not kinds or not inside:
        return bool(kinds)
    results = [_match_inside(inside, kind, event, call) for kind in kinds]
    return any(result is True for result in results) or next((result for result in results if result), False)


def _split_rule(rule: str) -> tuple[str, str]:
    """Split a rule into (tool, content of the brackets); without a closing bracket all of it is the name."""
    tool, bracket, inside = rule.partition("(")
    if not bracket or not inside.endswith(")"):
        return rule, ""
    return tool, "" if inside in (")", "*)") else inside[:-1]


def _find_kinds(tool: str, event: Event, call: Call, wire: Wire, *, covers: bool) -> list[str]:
    """Find the kinds of tool that rule and call share; an empty text if they share only the name."""
    kinds = [kind for kind in (call.tool, *call.also) if kind]
    if tool == call.native:
        return kinds or [""]
    is_own = wire.id == event.agent
    named = [kind for kind, names in wire.names.items() if tool in names]
    if is_own:
        # A removed tool is not another tool's name.
        named = [kind for kind in named if kind not in COVERED or wire.names[kind][0] == tool]
        named = [kind for kind in named if kind not in TOLD_APART]
    covered = {*named, *(more for kind in named if covers for more in COVERED.get(kind, ()))}
    return [kind for kind in kinds if kind in covered]


def _match_mcp(tool: str, call: Call) -> bool | str:
    """Match an MCP tool: a rule names one tool, several with `*`, or a server."""
    prefix, server, *rest = (*tool.split("__", 2), "")[:4]
    if prefix != "mcp":
        return False
    name = rest[0] if len(rest) > 1 else "*"
    if not _is_like(name, call.mcp_tool):
        return False
    if call.server:
        return _is_like(server, _fold_name(call.server)) or _is_like(server, call.server)
    return "the agent does not name the tool's MCP server"


def _fold_name(name: str) -> str:
    return re.sub(r"[^\w-]", "_", name)


def _is_like(pattern: str, name: str) -> bool:
    return re.fullmatch(_translate_glob(pattern), name, re.DOTALL) is not None


def _translate_glob(pattern: str) -> str:
    r"""Translate a pattern into a regular expression: `*` is any text, `\\*` a star."""
    parts = re.split(r"(\\\*|\*+)", pattern)
    literals = {r"\*": r"\*"}
    return "".join(
        literals.get(part, ".*") if part.strip("*") != part or part == r"\*" else re.escape(part)
        for part in parts
    )


def _match_inside(inside: str, kind: str, event: Event, call: Call) -> bool | str:
    if kind == "shell":
        command = call.input.get("command")
        return _match_shell(inside, command) if isinstance(command, str) else "the command is not a string"
    if kind in FILES or kind in SEARCHES:
        path = call.input.get("path")
        if isinstance(path, str) and path and _match_path(inside, path, event):
            return True
        if kind in SEARCHES:
            return "a search may read such a file"
        return False if isinstance(path, str) and path else "the call names no file"
    if kind == "web_fetch" and inside.startswith("domain:"):
        url = call.input.get("url")
        return _is_domain(inside[7:], url) if isinstance(url, str) else "the call names no address"
    if kind == "agent" and ":" not in inside:
        agent = call.input.get("agent_type")
        return not isinstance(agent, str) or not agent or _is_like(inside, agent)
    return f"'{inside}' has no defined meaning for this tool"


def _is_domain(domain: str, url: str) -> bool:
    match = re.match(r"(?:[a-zA-Z][\w+.-]*:)?(?://)?(?:[^/?#@]*@)?(\[[^\]]*\]|[^/?#:]*)", url)
    return _is_like(domain.lower(), match[1].lower().rstrip(".") if match else "")


def _match_path(pattern: str, path: str, event: Event) -> bool:
    """Whether a gitignore pattern matches a file.

    A pattern starting with `//` is relative to the root of the disk, with `~/` to the user's home, with `/`
    to the project, any other to the agent's working folder; case does not matter.
    """
    cwd = os.path.abspath(event.cwd or event.root or os.curdir)
    root = os.path.abspath(event.root) if event.root else cwd
    full = os.path.normpath(os.path.join(cwd, os.path.expanduser(path)))
    full, cwd, root = (place.replace("\\", "/") for place in (full, cwd, root))
    if pattern.startswith("!"):
        return False
    folders = [cwd, root]
    if pattern.startswith("//"):
        folders, pattern = ["/"], pattern[1:]
    elif pattern.startswith("~/"):
        folders, pattern = [os.path.expanduser("~").replace("\\", "/")], pattern[1:]
    elif not pattern.startswith("/"):
        pattern = pattern.removeprefix("./")
        if "/" not in pattern.rstrip("/") or pattern.startswith("**/"):
            folders = ["/"]
    expression = _translate_ignore(pattern)
    return any(
        re.fullmatch(expression, below, re.IGNORECASE | re.DOTALL)
        for below in (_strip_folder(full, folder) for folder in folders)
        if below
    )


def _strip_folder(path: str, folder: str) -> str:
    start = folder.rstrip("/") + "/"
    return path[len(start) :] if path.lower().startswith(start.lower()) else ""


def _translate_ignore(pattern: str) -> str:
    """Translate a gitignore pattern into a regular expression for a path and everything below it."""
    steps = pattern.rstrip("/")
    steps = steps.removeprefix("/") if "/" in steps else f"**/{steps}"
    expression = ""
    parts = steps.split("/")
    for number, part in enumerate(parts):
        is_last = number == len(parts) - 1
        if part == "**":
            expression += ".+" if is_last else "(?:.*/)?"
        else:
            expression += _translate_step(part) + ("" if is_last else "/")
    return expression + "(?:/.*)?"


def _translate_step(part: str) -> str:
    """Translate one name in a path: `*` and `?` stay within it, `[…]` is a set, a backslash escapes."""
    expression, at = "", 0
    while at < len(part):
        char, rest = part[at], part[at:]
        span = re.match(r"\[([!^]?)([^\]/]+)\]", rest)
        if char == "*":
            expression += "[^/]*"
        elif char == "?":
            expression += "[^/]"
        elif span:
            letters = re.sub(r"([\\\[^&~|])", r"\\\1", span[2])
            expression += f"[{'^' if span[1] else ''}{letters}]"
            at += len(span[0]) - 1
        elif char == "\\" and at + 1 < len(part):
            at += 1
            expression += re.escape(part[at])
        else:
            expression += re.escape(char)
        at += 1
    return expression


def _match_shell(pattern: str, command: str) -> bool | str:
    """Whether the pattern matches one of the commands in a command line."""
    try:
        line = rule_lines.Line(command)
    except rule_lines.UnclearError as unclear:
        return str(unclear)
    if any(map(_make_matcher(pattern), line.texts())):
        return True
    # An expansion may be anything but a command name.
    if line.is_open and not re.fullmatch(r"[^\s*?\[]+(?: |:)?\*", pattern):
        return "the command contains expansions"
    return False


def _make_matcher(pattern: str) -> Callable[[str], bool]:
    if pattern.endswith(":*"):
        start = pattern[:-2]
        return lambda text: text == start or text.startswith(f"{start} ")
    pattern = " ".join(pattern.split())
    expression = _translate_glob(pattern)
    if pattern.endswith(" *") and pattern.count("*") == 1:
        expression = _translate_glob(pattern[:-2]) + "(?: .*)?"
    compiled = re.compile(expression, re.DOTALL)
    return lambda text: compiled.fullmatch(text) is not None
