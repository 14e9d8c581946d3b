"""Tool names of formats whose specification names a few tools as Claude Code does and leaves others open."""

from __future__ import annotations

from hookport.shapes.dialect import McpNames, alias_tools, name_tools

# `spec` is the format's own specification, `claude` are Claude Code's names of the other tools.
TOOLS = (
    *name_tools("spec", file_write="Write", file_edit="Edit"),
    *name_tools(
        "claude",
        shell="Bash",
        file_read="Read",
        search="Grep",
        find="Glob",
        web_search="WebSearch",
        web_fetch="WebFetch",
        agent="Agent",
        todo="TodoWrite",
        notebook_edit="NotebookEdit",
        skill="Skill",
        ask_user="AskUserQuestion",
    ),
    *alias_tools("claude", shell=("PowerShell", "Monitor"), agent="Task"),
)
MCP = McpNames("mcp__", "__", "claude")
