"""What a tool would change in the protected paths, by its input."""

from __future__ import annotations

import os

from hookport.runtime.guarded import join_line, load_commands, object_to_command

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

    from hookport.base.tree import Tree
    from hookport.model.runs import Call
    from hookport.runtime.guarded import GuardedPaths


# An unknown tool reads if its name implies that.
READING_WORDS = (
    *("read", "get", "list", "search", "find", "view", "grep", "glob", "stat", "show", "fetch", "info"),
)
WRITING_WORDS = (
    *("write", "edit", "delete", "remove", "move", "create", "update", "set", "put", "rename", "patch"),
    *("replace", "apply", "append", "insert", "save", "modify", "copy"),
)
# Names of fields, in lower case and without separators.
COMMAND_KEYS = ("command", "cmd", "script", "code", "commandline", "shellcommand", "bash", "python")
PATCH_KEYS = ("patch", "diff", "patchtext", "unifieddiff", "changes")
# A tool with one of these in its name runs its input, whatever the field's name.
RUNNING_WORDS = ("exec", "run_", "shell", "terminal", "process", "eval", "repl", "send_keys", "send_input")
# A tool that writes many files into a folder, and the fields that name the folder.
UNPACKING_WORDS = (
    *("extract", "unzip", "unpack", "untar", "clone", "decompress", "copy_dir", "copy_folder", "copy_tree"),
    *("copydir", "copyfolder", "copytree", "sync", "mirror", "restore"),
)
ARCHIVE_WORDS = ("extract", "unzip", "unpack", "untar", "decompress")
TARGET_KEYS = ("destination", "dest", "target", "output", "outputdir", "to", "directory", "folder", "path")
SOURCE_KEYS = ("source", "src", "from", "sourcepath", "frompath", "origin")
# These may precede the verb of a tool that acts on a whole folder.
TREE_WORDS = (
    "move",
    "rename",
    "delete",
    "remove",
    "trash",
    "symlink",
    "unlink",
    "rmdir",
    "rm_",
    "mv_",
    "destroy",
    "purge",
)
# Texts that a tool writes or searches for; a path in them is only text.
TEXT_KEYS = (
    *(
        "content",
        "contents",
        "old",
        "new",
        "oldstring",
        "newstring",
        "oldtext",
        "newtext",
        "oldstr",
        "newstr",
    ),
    *("text", "description", "query", "message", "body", "title", "subject", "comment", "prompt", "summary"),
    *("search", "replace", "replacement", "observations"),
)
DEEPEST = 5


def object_to_input(call: Call, guarded: GuardedPaths, folder: str, *, writes: bool) -> str:
    """Explain why a call of a tool that is not a shell may not be made."""
    if not writes and _only_reads(call):
        return ""
    name = (call.mcp_tool or call.native).lower()
    is_tree = call.input.get("deleted") is True or any(word in f"{name}_" for word in TREE_WORDS)
    for key, value in _walk_texts(call.input or call.raw):
        if problem := _object_to_value(name, key, value, guarded, folder, is_tree=is_tree, writes=writes):
            return problem
    if not writes:
        raw = call.input or call.raw
        if isinstance(raw, dict) and (problem := object_to_command(_join_command(raw), guarded, folder)):
            return problem
        if _has_any(name, ARCHIVE_WORDS) and (problem := _find_extracted(raw, guarded, folder)):
            return f"this would change {problem}."
        for place, value in _pair_siblings(call.input or call.raw):
            if problem := guarded.find_protected(os.path.join(place, value), above=is_tree):
                return f"this would change {problem}."
    return ""


def _object_to_value(  # noqa: PLR0913  (of one value)
    name: str, key: str, value: str, guarded: GuardedPaths, folder: str, *, is_tree: bool, writes: bool
) -> str:
    """Explain why a tool may not get a value: a command, code, a patch, a pattern or a path."""
    key = "".join(letter for letter in key.lower() if letter.isalnum())
    runs = key in COMMAND_KEYS or (key not in TEXT_KEYS and _has_any(f"{name}_", RUNNING_WORDS))
    if runs and not writes and (problem := object_to_command(value, guarded, folder)):
        return problem
    # Code of a language contains calls; shell commands rarely do.
    is_code = runs and not writes and "(" in value and not key.startswith(("command", "cmd"))
    if is_code and (problem := load_commands().object_to_code("a tool", value, guarded, folder)):
        return str(problem)
    if (
        key in PATCH_KEYS
        and not writes
        and (problem := load_commands().find_patched(value, guarded, guarded.cwd))
    ):
        return f"this would change {problem}."
    if "\n" in value or key in TEXT_KEYS:
        return ""
    if key in SOURCE_KEYS and "copy" in name and not is_tree:
        return ""
    if "*" in value and _has_any(name, WRITING_WORDS):
        problem = load_commands().find_globbed(guarded, value)
    else:
        fills = key in TARGET_KEYS and _has_any(name, UNPACKING_WORDS) and guarded.is_inside(value)
        problem = guarded.find_protected(value, above=is_tree or fills)
    return f"this would change {problem}." if problem else ""


def _find_extracted(raw: Tree, guarded: GuardedPaths, folder: str) -> str:
    """Find the protected path in an archive that a tool unpacks."""
    from hookport import shell
    from hookport.runtime.effects import INTO, Effect

    texts = [(key.lower().replace("_", ""), value) for key, value in _walk_texts(raw) if "\n" not in value]
    archives = [value for _, value in texts if os.path.isfile(shell.joined(folder, value))]
    targets = [value for key, value in texts if key in TARGET_KEYS] or ["."]
    effects = (Effect(target, INTO, archive) for archive in archives for target in targets)
    paths = (str(load_commands().find_changed(guarded, effect, folder)) for effect in effects)
    return next(filter(None, paths), "")


def _has_any(text: str, words: Iterable[str]) -> bool:
    return any(word in text for word in words)


def _join_command(raw: Mapping[str, Any]) -> str:
    """Join the command of a tool with a program and its arguments in separate fields."""
    program = next((raw[key] for key in ("command", "program", "executable", "cmd") if key in raw), "")
    words = next((raw[key] for key in ("args", "arguments", "argv") if isinstance(raw.get(key), list)), None)
    if words is None or not isinstance(program, str):
        return ""
    return join_line([program, *words] if program else words)


def _pair_siblings(tree: Tree, depth: int = 0) -> Iterator[tuple[str, str]]:
    """Pair neighbouring texts, as folder and name."""
    if isinstance(tree, dict) and depth < DEEPEST:
        texts = [
            value
            for key, value in tree.items()
            if isinstance(value, str)
            and 0 < len(value) < 256
            and "\n" not in value
            and str(key).lower().replace("_", "") not in TEXT_KEYS
        ][:8]
        yield from ((folder, name) for folder in texts for name in texts if folder is not name)
        for value in tree.values():
            yield from _pair_siblings(value, depth + 1)
    elif isinstance(tree, list | tuple) and depth < DEEPEST:
        for value in tree:
            yield from _pair_siblings(value, depth + 1)


def _only_reads(call: Call) -> bool:
    name = (call.mcp_tool or call.native).lower()
    return any(word in name for word in READING_WORDS) and not any(word in name for word in WRITING_WORDS)


def _walk_texts(tree: Tree, key: str = "", depth: int = 0) -> Iterator[tuple[str, str]]:
    if isinstance(tree, str):
        yield key, tree
    elif isinstance(tree, dict) and depth < DEEPEST:
        for name, value in tree.items():
            if "/" in str(name) or "." in str(name):
                # A path, with the content to write.
                yield key, str(name)
            yield from _walk_texts(value, str(name), depth + 1)
    elif isinstance(tree, list | tuple) and depth < DEEPEST:
        for value in tree:
            yield from _walk_texts(value, key, depth + 1)
