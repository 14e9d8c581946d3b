"""A host's own tools in canonical terms: which tool a name means, and how its input spells the fields."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hookport.agents import get, get_wire, list_dialects
from hookport.base.tree import Tree
from hookport.errors import suggest_closest
from hookport.model.tools import TOOLS
from hookport.wire import kinds
from hookport.wire.table import Wire

# The tables of an agent that say what its tools are called and how their inputs are spelled.
_TOOL_TABLES = (*("inputs", "patches", "numbered", "batches", "variants", "tools", "names", "mcp", "others"),)
# And what it does besides, as far as that is about the names of tools.
_TOOL_TRAITS = ("bare MCP", "server last")
# What a call of the tool is about: without it no guard can judge the call.
_ABOUT = {"shell": "command", "web_fetch": "url"}
_ABOUT |= dict.fromkeys(("file_read", "file_write", "file_edit", "notebook_edit"), "path")
# Of these fields a call may have one argument only: no guard knows which of two the tool would use.
_ONCE: dict[str, tuple[str, ...]] = {
    **{kind: (field,) for kind, field in _ABOUT.items()},
    **dict.fromkeys(("file_write", "file_edit", "notebook_edit"), ("path", "content", "new")),
}
# Arguments with several commands; a list in any other is one command, word by word.
_SEVERAL = ("commands", "cmds")


@dataclass(frozen=True, init=False)
class Tool:
    """What a tool of the host is: a word of the tool vocabulary, and how its input spells canonical fields.

    `Tool("shell", command="line")` is a tool that runs the shell command in its argument `line`. Usual
    spellings (`cmd`, `file_path`, `old_string` …) need not be named.
    """

    kind: str
    fields: Mapping[str, str]

    def __init__(self, kind: str, /, **fields: str) -> None:
        object.__setattr__(self, "kind", kind)
        object.__setattr__(self, "fields", fields)


@dataclass(frozen=True)
class McpTool:
    """A tool of an MCP server that the host offers under a name of its own."""

    server: str
    tool: str


Tools = Mapping[str, str | Tool | McpTool | None]


class ToolTable:
    """The tools of one host, and its wire: all that a dispatch needs to know of an agent."""

    def __init__(self, agent: str, tools: Tools) -> None:
        if not isinstance(tools, Mapping):
            raise TypeError(f"tools is {type(tools).__name__}; it must be a mapping")
        self._tools = {name: _check_tool(name, tool) for name, tool in tools.items()}
        hub = get_wire(next(name for name in list_dialects() if get(name).is_hub))
        tables: dict[str, Tree] = {"mcp": ("mcp__", "__", "", 0)}
        is_known = agent in list_dialects()
        if is_known:
            known = get_wire(agent)
            tables |= {name: getattr(known, name) for name in _TOOL_TABLES}
            tables["traits"] = [trait for trait in _TOOL_TRAITS if trait in known.traits]
        mapped = {name: [tool.kind] for name, tool in self._tools.items() if isinstance(tool, Tool)}
        # What the host says of a name counts, whatever the agent's tables have.
        for name in ("tools", "patches", "batches", "variants"):
            table = {**getattr(hub, name), **tables.get(name, {})}
            tables[name] = {native: row for native, row in table.items() if native not in self._tools}
        tables["tools"] |= mapped
        tables["others"] = [
            *tables.get("others", ()),
            *(name for name, tool in self._tools.items() if not tool),
        ]
        # The host names its own file, in canonical shape or in that of the agent whose tools it has.
        shapes = (*hub.transcript, *(get_wire(agent).transcript if is_known else ()))
        tables["transcript"] = [
            {**{key: value for key, value in shape.items() if key != "kept"}, "named": ("*",)}
            for shape in shapes
        ]
        # A wire is known by its id: hooks of a dialect of that name must not take it for their own.
        self.wire = hub.replace(
            id=f"{agent}@host" if is_known else agent, fires=True, waits={}, env={}, **tables
        )

    def find_mcp(self, name: str) -> McpTool | None:
        """The MCP tool that a name of the host means."""
        tool = self._tools.get(name)
        return tool if isinstance(tool, McpTool) else None

    def make_wire(self, name: str, raw: Mapping[str, Tree]) -> tuple[Wire, str]:
        """The wire for one call, which knows how this input is spelled; and why the call cannot be judged."""
        tool = self._tools.get(name)
        if tool is None and name in TOOLS and name not in self._tools:
            tool = Tool(name)
        if not isinstance(tool, Tool):
            return self.wire, ""
        wire = kinds.infer_wire(self.wire, name, raw, (tool.kind,))
        inferred = {
            field: key for field, key in wire.inputs.get(name, {}).items() if key not in tool.fields.values()
        }
        fields = {**inferred, **tool.fields}
        batches = dict(wire.batches)
        command = fields.get("command", "")
        if tool.kind == "shell" and isinstance(raw.get(command), list) and command not in _SEVERAL:
            fields["command"] = f"{command}:argv"
            batches.pop(name, None)
        about = _ABOUT.get(tool.kind, "")
        key = fields.get(about, "").partition(":")[0]
        is_judged = not about or not raw or raw.get(key) is not None or name in wire.patches
        problem = "" if is_judged else _explain_unknown_field(name, tool.kind, about, raw)
        problem = problem or _explain_doubt(name, tool, raw)
        return wire.replace(inputs={**wire.inputs, name: fields}, batches=batches), problem


def _explain_unknown_field(name: str, kind: str, about: str, raw: Mapping[str, Tree]) -> str:
    fields = ", ".join(sorted(raw))
    return (
        f"the input of '{name}' has no {about} under a known name (it has: {fields}). "
        f'Name it in the host: Tool("{kind}", {about}="…")'
    )


def _explain_doubt(name: str, tool: Tool, raw: Mapping[str, Tree]) -> str:
    """Explain which two arguments may be the same field, where the host does not name it; or empty."""
    for field in _ONCE.get(tool.kind, ()):
        types = kinds.TYPES.get(field, object)
        keys = [key for key in kinds.SPELLINGS[field] if key not in tool.fields.values()]
        keys = [key for key in keys if raw.get(key) is not None and isinstance(raw[key], types)]
        if len(keys) > 1 and field not in tool.fields:
            named = f"'{keys[0]}' or '{keys[1]}'"
            return (
                f"the {field} of '{name}' may be its argument {named}. "
                f'Name it in the host: Tool("{tool.kind}", {field}="…")'
            )
    return ""


def _check_tool(name: object, tool: object) -> Tool | McpTool | None:
    """Check an entry of `tools`; ValueError or TypeError says what is wrong with it."""
    if not isinstance(name, str) or not name:
        raise TypeError(f"tools has the key {name!r}; a tool's name is a text that is not empty")
    if tool is None:
        return tool
    if isinstance(tool, McpTool):
        names: tuple[object, ...] = (tool.server, tool.tool)
        if not all(isinstance(text, str) and text for text in names):
            raise ValueError(f"tools['{name}'] is {tool}; its server and its tool must be texts, not empty")
        return tool
    entry = Tool(tool) if isinstance(tool, str) else tool
    if not isinstance(entry, Tool):
        raise TypeError(f"tools['{name}'] is {type(tool).__name__}; it must be a text, Tool, McpTool or None")
    kind: object = entry.kind
    if not isinstance(kind, str) or kind not in TOOLS:
        known = ", ".join(TOOLS)
        guess = suggest_closest(str(kind), tuple(TOOLS))
        raise ValueError(f"tools['{name}']: unknown tool '{entry.kind}'.{guess} Known: {known}")
    for field, spelled in entry.fields.items():
        if field not in kinds.SPELLINGS:
            guess = suggest_closest(field, tuple(kinds.SPELLINGS))
            known = ", ".join(kinds.SPELLINGS)
            raise ValueError(f"tools['{name}']: unknown field '{field}'.{guess} Known: {known}")
        if not _is_key(spelled):
            problem = (
                f"the name of its {field} is {spelled!r}; it must be a key of its input, without '.' or ':'"
            )
            raise ValueError(f"tools['{name}']: {problem}")
    return entry


def _is_key(name: object) -> bool:
    """Whether it can be the key of an argument: our tables give dots and colons a meaning."""
    return isinstance(name, str) and bool(name) and not set(name) & {".", ":"}
