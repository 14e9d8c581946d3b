"""Tool names of formats whose specification names a few tools as Claude Code does and leaves others open."""

from __future__ import annotations

from hookport.agents._base import McpNames, aliases, named

# `spec` is the format's own specification, `claude` what Claude Code calls the tools it does not name.
TOOLS = (
    *named("spec", file_write="Write", file_edit="Edit"),
    *named(
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
    *aliases("claude", shell=("PowerShell", "Monitor"), agent="Task"),
)
MCP = McpNames("mcp__", "__", "claude")
