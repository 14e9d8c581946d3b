"""The tool vocabulary: canonical names for the tools of agents.

The first nine are those of the Hook Interchange Format 1.0. At least two agents report each of the others to
hooks, under their own names.
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
