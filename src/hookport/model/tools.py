"""The tool vocabulary: canonical names for what agents call their tools.

The first nine are those of the Hook Interchange Format 1.0; the rest are tools that at least two agents
report to hooks under names of their own.
"""

from __future__ import annotations

TOOLS: dict[str, str] = {
    "shell": "runs a shell command",
    "file_read": "reads a file",
    "file_write": "creates or overwrites a file",
    "file_edit": "changes part of a file",
    "search": "searches in files",
    "find": "finds files by name",
    "web_search": "searches the web",
    "web_fetch": "fetches a page",
    "agent": "starts a subagent",
    "list": "lists a directory",
    "todo": "keeps the list of tasks",
    "notebook_edit": "changes a notebook",
    "skill": "loads a skill",
    "ask_user": "asks the user a question",
}
