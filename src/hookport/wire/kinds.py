"""Guesses what an unknown tool does from the keys of its input, and the spelling of those keys.

Keys and their kinds are those of the captured payloads and the input tables of all agents, and of captures
of Deep Agents Code 0.1.88, goose 1.52.0, Grok Build 1.0.41, Hermes 0.19.0, Letta Code 0.25.9 and OpenHands
1.16.0, November 2026. The order of the keys in a payload does not matter.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from hookport.base.tree import Tree
    from hookport.wire.table import Wire

    Rules = tuple[tuple[tuple[str, ...], tuple[tuple[str, ...], ...]], ...]

# Canonical field: its keys. Of several in one input the first counts.
SPELLINGS: dict[str, tuple[str, ...]] = {
    "command": (
        *("command", "cmd", "script", "shell_command", "shellCommand", "command_line", "commandLine"),
        *("bash_command", "code", "commands", "cmds"),
    ),
    "path": (
        *("path", "file_path", "filePath", "filepath", "target_file", "targetFile", "absolute_path"),
        *("absolutePath", "file_name", "fileName", "filename", "file", "paths", "file_paths", "filePaths"),
        *("files", "notebook_path", "notebookPath"),
    ),
    "content": (
        *("content", "contents", "file_text", "fileText", "file_content", "fileContent", "new_source"),
        *("newSource", "text"),
    ),
    "old": ("old", "old_string", "oldString", "old_str", "oldStr", "old_text", "oldText", "before"),
    "new": ("new", "new_string", "newString", "new_str", "newStr", "new_text", "newText", "after"),
    "edits": ("edits", "edit", "replacements", "changes"),
    "patch": ("patch", "patchText", "patch_text", "diff"),
    "url": ("url", "uri", "urls"),
    "query": ("query", "search_query", "searchQuery", "search_term", "searchTerm", "queries"),
    "pattern": ("pattern", "regex", "glob_pattern", "globPattern", "glob"),
    "prompt": ("prompt",),
    "agent_type": ("agent_type", "agentType", "subagent_type", "subagentType"),
    "todos": ("todos", "task_list", "taskList", "tasks"),
    "cwd": ("cwd", "workdir", "working_directory", "workingDirectory", "dir_path", "directory"),
}
# `before` and `after` are also numbers of lines, and `changes` many things.
TYPES: dict[str, Tree] = {"old": str, "new": str, "edits": (list, dict)}
NUMBERED = ("old_str_1", "new_str_1", "old_string_1", "new_string_1")
FOLDERS = ("target_directory", "targetDirectory", "directory_path", "directoryPath")
# The kinds of a call, and what its input must have: one of each group, a canonical field (`$path`) or a key.
# Of the first rules one counts, the first that holds; of the others all do.
ON_FILES: Rules = (
    (
        ("notebook_edit",),
        (("notebook_path", "notebookPath", "cell_id", "cellId", "cell_number", "new_source", "newSource"),),
    ),
    (("file_edit", "file_write"), (("$patch",),)),
    (("file_edit",), (("$old", "$edits", *NUMBERED),)),
    (("file_edit",), (("$path",), ("insert_line", "insertLine"))),
    (("file_edit", "file_write"), (("$path",), ("code",))),
    (("file_write",), (("$path",), ("$content",))),
    (("list",), (FOLDERS,)),
)
ON_OTHERS: Rules = (
    (("agent",), (("$agent_type",),)),
    (("agent",), (("$prompt",), ("description",))),
    (("todo",), (("$todos", "activeForm", "taskId", "task_id"),)),
    (("ask_user",), (("question", "questions"),)),
    (("skill",), (("skill", "skill_name", "skillName"),)),
    (("web_fetch",), (("$url",),)),
    (("search", "find"), (("$pattern",),)),
    (
        ("search", "find"),
        (
            ("$query",),
            ("$path", "include", "includePattern", "include_pattern", "isRegexp", "output_mode"),
        ),
    ),
    (("web_search", "search"), (("$query",),)),
    (
        ("file_read",),
        (
            ("$path",),
            (
                *("offset", "limit", "start_line", "startLine", "end_line", "endLine", "line_offset"),
                *("n_lines", "view_range", "viewRange", "line_start", "line_end", "pages"),
            ),
        ),
    ),
)
PATCH_START = "*** Begin Patch"
# What Claude Code, Gemini CLI, Qwen Code, Kimi CLI, Mistral Vibe and Grok Build call the tools that change
# how they work, and nothing else; as one word.
HARMLESS = {"enterplanmode", "exitplanmode"}
# If an input has only a path, the tool's name decides what it does.
READING = {"read", "view", "open", "cat", "get", "show", "stat", "analyze", "inspect"}
LISTING = {"list", "ls", "dir", "tree", "glob", "find"}


def infer_wire(wire: Wire, native: str, raw: Tree, words: tuple[str, ...] = ()) -> Wire:
    """The wire with the tool inferred from its input; the same wire if nothing can be inferred.

    Where it is known what the tool is (`words`), only the spelling of its fields is inferred.
    """
    words = words or guess_kinds(native, raw)
    if not words:
        return wire
    text = _find_patch_key(raw)
    if text is not None:
        return wire.replace(tools={**wire.tools, native: words}, patches={**wire.patches, native: text})
    fields = {name: key for name, key in _find_fields(raw).items() if name != "patch"}
    tables: dict[str, Tree] = {
        "tools": {**wire.tools, native: words},
        "inputs": {**wire.inputs, native: fields, "edits": _find_edit_fields(raw, fields)},
    }
    listed = [name for name in ("command", "path", "url") if isinstance(raw.get(fields.get(name, "")), list)]
    if listed and "edits" not in fields:
        tables["batches"] = {**wire.batches, native: (fields[listed[0]], listed[0])}
    if any(key in raw for key in NUMBERED):
        tables["numbered"] = (*wire.numbered, native)
    return wire.replace(**tables)


def guess_kinds(native: str, raw: Tree) -> tuple[str, ...]:
    """The possible canonical tools of a call, by the keys of its input, the likeliest first."""
    if _find_patch_key(raw) is not None:
        return ("file_edit", "file_write")
    if not isinstance(raw, dict):
        return ()
    return tuple(dict.fromkeys(_iter_kinds(native, raw)))


def _iter_kinds(native: str, raw: Mapping[str, Tree]) -> Iterator[str]:
    fields = _find_fields(raw)
    keys = {*(key for key, value in raw.items() if value is not None), *(f"${name}" for name in fields)}
    rules = (next(_iter_fitting(ON_FILES, keys), ()), *_iter_fitting(ON_OTHERS, keys))
    kinds = [word for words in rules for word in words]
    yield from kinds
    if "command" in fields and not (kinds and _is_action(raw)):
        yield "shell"
        if not kinds and "path" in fields and _is_action(raw):  # `view` of an editor, or `make` in a folder
            yield from _guess_by_name(f"{native} {raw['command']}")
    elif not kinds and "path" in fields:
        yield from _guess_by_name(native)


def _iter_fitting(rules: Rules, keys: set[str]) -> Iterator[tuple[str, ...]]:
    return (words for words, groups in rules if not any(keys.isdisjoint(group) for group in groups))


def _is_action(raw: Mapping[str, Tree]) -> bool:
    """Whether `command` names an action of the tool (`create`, `str_replace`), not a shell command."""
    command = raw.get("command")
    return isinstance(command, str) and command.replace("_", "").replace("-", "").isalnum()


def _guess_by_name(native: str) -> tuple[str, ...]:
    words = set(_split_words(native))
    if words & LISTING:
        return ("list", "find")
    if words & READING:
        return ("file_read",)
    return ("file_write", "file_edit", "file_read", "list")


def is_harmless(native: str) -> bool:
    """Whether a tool is known to do nothing that needs a guard, in any agent."""
    return "".join(filter(str.isalnum, native)).lower() in HARMLESS


def _split_words(name: str) -> list[str]:
    """The words of a name: `ReadFile`, `read_file` and `file-system.read` have `read`."""
    spaced = "".join(f" {char}" if char.isupper() else char if char.isalnum() else " " for char in name)
    return [word.lower() for word in spaced.split()]


def _find_patch_key(raw: Tree) -> str | None:
    """The key of a patch, empty if the input itself is a patch, None without one."""
    if isinstance(raw, str):
        return "" if PATCH_START in raw else None
    if not isinstance(raw, dict):
        return None
    keys = (key for key, value in raw.items() if isinstance(value, str) and PATCH_START in value)
    return min(keys, default=None)


def _find_fields(raw: Mapping[str, Tree]) -> dict[str, str]:
    """Canonical field to the key of this input."""
    fields: dict[str, str] = {}
    used: set[str] = set()
    for name, spelled in SPELLINGS.items():
        types = TYPES.get(name, object)
        keys = (key for key in spelled if raw.get(key) is not None and key not in used)
        key = next((key for key in keys if isinstance(raw[key], types)), "")
        if key:
            fields[name] = key
            used.add(key)
    if "path" not in fields and (folder := next((key for key in FOLDERS if key in raw), "")):
        fields["path"] = folder
    if "path" in fields and fields.get("command") == "code":
        del fields["command"]
        fields.setdefault("content", "code")
    if "new" in fields and "old" not in fields and "path" in fields and "content" not in fields:
        fields["content"] = fields.pop("new")
    return fields


def _find_edit_fields(raw: Mapping[str, Tree], fields: Mapping[str, str]) -> dict[str, str]:
    """The same for the elements of a list of edits."""
    edits = raw.get(fields.get("edits", ""))
    first = edits[0] if isinstance(edits, list) and edits else edits
    if not isinstance(first, dict):
        names = {key.removesuffix("_1"): "" for key in NUMBERED if key in raw}
        first = dict.fromkeys(names, "")
    return {
        name: key
        for name in ("old", "new", "path")
        if (key := next((key for key in SPELLINGS[name] if key in first), ""))
    }
