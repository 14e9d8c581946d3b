"""The built-in guard: an agent's call that would change hooks, their approval or hookport itself is denied.

Reading is let through. A shell command is taken apart by `hookport.shell`, and a table says what each program
does to its files. It keeps an agent from a wrong turn; a program that is written to get around it is for the
approval to notice.
"""

from __future__ import annotations

import os
import sys

from hookport.base import folders
from hookport.model.json_text import loads
from hookport.runtime import journal, trust

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from hookport.base.tree import Tree
    from hookport.model.runs import Call, Event
    from hookport.runtime.effects import Effect
    from hookport.shell import Command


# The key in the user's own settings.
SWITCH = "self_protection"
EVENTS = ("before_tool_execute", "permission_request")
WRITING = ("file_write", "file_edit", "notebook_edit")
READING = (
    *("file_read", "search", "find", "list", "web_search", "web_fetch"),
    *("agent", "todo", "skill", "ask_user"),
)
# A tool that no vocabulary knows reads, if its name says so.
READING_WORDS = (
    *("read", "get", "list", "search", "find", "view", "grep", "glob", "stat", "show", "fetch", "info"),
)
WRITING_WORDS = (
    *("write", "edit", "delete", "remove", "move", "create", "update", "set", "put", "rename", "patch"),
    *("replace", "apply", "append", "insert", "save", "modify", "copy"),
)
# Names of fields, in small letters and without what parts their words.
COMMAND_KEYS = ("command", "cmd", "script", "code", "commandline", "shellcommand", "bash", "python")
PATCH_KEYS = ("patch", "diff", "patchtext", "unifieddiff", "changes")
# A tool with one of these in its name runs what it is told, whatever the field is called.
RUNNING_WORDS = ("exec", "run_", "shell", "terminal", "process", "eval", "repl")
# A tool that writes many files into a folder, and the fields that name it.
UNPACKING_WORDS = (
    *("extract", "unzip", "unpack", "untar", "clone", "decompress", "copy_dir", "copy_folder", "copy_tree"),
    *("copydir", "copyfolder", "copytree", "sync", "mirror", "restore"),
)
TARGET_KEYS = ("destination", "dest", "target", "output", "outputdir", "to", "directory", "folder", "path")
SOURCE_KEYS = ("source", "src", "from", "sourcepath", "frompath", "origin")
# Where a shell tool is told to start; `cwd` is the vocabulary's word.
FOLDER_KEYS = ("cwd", "directory", "dir_path", "working_directory", "workdir")
LONGEST_PATH = 4_096
# Of code and of protected folders, so many words and files are looked at.
MOST_WORDS, MOST_FILES, MOST_BYTES, MOST_LOOKS = 2_000, 2_000, 1 << 20, 20_000
# These may come before the verb of a tool that takes a folder with all that is in it.
TREE_WORDS = (
    "move",
    "rename",
    "delete",
    "remove",
    "trash",
    "unlink",
    "rmdir",
    "rm_",
    "mv_",
    "destroy",
    "purge",
)
# Texts that a tool writes or searches for, in which a path is no path.
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
# What code may do to a folder.
REMOVING_WORDS = ("rmtree", "rmdir", "rmSync", "rm(", "rm_r", "rm -", "remove", "rename", "move", "unlink")
STARTING_WORDS = ("system", "exec", "spawn", "popen", "Popen", "subprocess", "run(", "call(", "qx", "`", "|")
# Commands of ours that are for a person to run, and what makes them only look.
OURS = ("trust", "untrust", "sync", "unsync", "undo", "vendor", "pause")
LOOKING = ("--dry-run", "--check", "--help", "-h")
STARTS = ("hookport", "hookport.exe", "hookport.cli", "hookport.__main__", "bridge.py", "bridge.pyz")
OUR_READERS = (
    *("run", "why", "check", "log", "status", "doctor", "explain", "matrix", "dialects", "convert", "test"),
    *("events", "prove", "diff", "report", "record"),
)
# Programs that take others away.
REMOVING_PROGRAMS = ("pip", "pip3", "pipx", "uv", "brew", "conda", "poetry", "pdm", "npm", "apt", "apt-get")
# With these, programs that apply patches change nothing.
PATCH_LOOKING = ("--dry-run", "--check", "--stat", "--numstat", "--summary")
# Options of `docker run` that have a value, as far as they often stand before an image.
CONTAINER_VALUES = (
    *("-v", "--volume", "--mount", "-w", "--workdir", "-e", "--env", "--env-file", "-u", "--user", "-p"),
    *("--publish", "--name", "--network", "--net", "--entrypoint", "--platform", "-h", "--hostname", "-l"),
    *("--label", "--cpus", "-m", "--memory", "--add-host", "--gpus", "--pull", "--tmpfs", "--cap-add"),
)
PATCHERS = ("apply_patch", "applypatch", "patch")
# Lists of commands of plain words are let through unread where each is by one of these programs, which write
# nothing, or runs a task by its name: to import what reads commands takes as long as a tenth of a dispatch.
PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-:,=+@% ")
PLAIN_READERS = frozenset(
    (
        *("ls", "cat", "cd", "pwd", "grep", "head", "tail", "wc", "echo", "which", "stat", "test", "true"),
        *("basename", "cut", "date", "df", "diff", "dirname", "du", "printf", "ps", "sleep", "tr", "whoami"),
    )
)
# With `--output` the printers write; a commit changes no file of the work tree.
GIT_PLAIN_PRINTERS = ("diff", "log", "show")
GIT_PLAIN_READERS = (*GIT_PLAIN_PRINTERS, "status", "rev-parse", "add", "commit")
# What stands for a text in quotes, whatever it is.
QUOTED = "@@"
TASKS = {
    **dict.fromkeys(("npm", "pnpm", "yarn", "bun"), ("test", "run")),
    "cargo": ("test", "build", "check", "clippy"),
    "go": ("test", "build", "vet"),
    **dict.fromkeys(("make", "pytest"), ("", "test", "check", "lint", "build")),
}
SEPARATORS = ("&&", "||", ";", "|")
# Redirections that write no file.
NOWHERE = ("2>&1", "2>/dev/null", ">/dev/null")
PATH_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./~$-{}\\:+@%")
DEEPEST = 5
IS_CASELESS = sys.platform in ("darwin", "win32")


class Guarded:
    """The protected paths, and how the paths of a call are compared with them."""

    def __init__(self, paths: Iterable[str], root: str, cwd: str, env: Mapping[str, str]) -> None:
        full = dict.fromkeys(os.path.normpath(os.path.join(root, path)) for path in paths)
        self._paths = {_cased(path): path for path in full}
        self._folded = {path.lower(): path for path in full}
        self.root = os.path.normpath(root)
        self._inside_root = _cased(os.path.join(self.root, ""))
        self.cwd, self.env = cwd, env
        self._files: dict[str, list[str]] = {}
        # How many paths were looked up; beyond the most nothing is, and the command is denied.
        self.looked = 0

    def meets(self, word: str, cwd: str = "", *, above: bool = False) -> str:
        """The protected path that a word names or is below; with `above`, also one that is below the word."""
        if not word or len(word) > LONGEST_PATH or "\0" in word:
            return ""
        self.looked += 1
        if self.looked > MOST_LOOKS:
            return ""
        word = word.removeprefix("file://")
        if word.startswith("/proc/"):
            from hookport.shell import joined

            word = joined(cwd or self.cwd, word)
        plain = os.path.normpath(os.path.join(cwd or self.cwd, self._from_home(word)))
        for path in dict.fromkeys((plain, self._resolved(plain))):
            if found := self._found(_cased(path), above=above) or self._found_folded(path):
                return found
        return self._linked(plain)

    def _from_home(self, word: str) -> str:
        return (
            (self.env.get("HOME") or folders.real_home()) + word[1:]
            if word == "~" or word.startswith("~/")
            else word
        )

    def _resolved(self, path: str) -> str:
        try:
            return os.path.realpath(path)
        except (OSError, ValueError):
            return path

    def _found(self, path: str, *, above: bool) -> str:
        if above:
            start = os.path.join(path, "")
            for one in self._paths:
                if one.startswith(start) and (os.path.lexists(one) or _cased(one) != one):
                    return self._paths[one]
        while path not in self._paths:
            parent = os.path.dirname(path)
            if parent == path:
                return ""
            path = parent
        return self._paths[path]

    def _found_folded(self, path: str) -> str:
        """The same where a file system does not tell letters by their case, whatever the platform."""
        folded = path.lower()
        while folded not in self._folded:
            path, parent = os.path.dirname(path), os.path.dirname(folded)
            if parent == folded:
                return ""
            folded = parent
        try:
            return self._folded[folded] if os.path.samefile(path, self._folded[folded]) else ""
        except OSError:
            return ""

    def _linked(self, path: str) -> str:
        """The protected file that a hard link is another name of."""
        try:
            seen = os.stat(path)
        except (OSError, ValueError):
            return ""
        if seen.st_nlink < 2 or not os.path.isfile(path):
            return ""
        for file in self.files(self.root):
            try:
                if os.path.samestat(seen, os.stat(file)):
                    return file
            except OSError:
                continue
        return ""

    def files(self, folder: str) -> list[str]:
        """The protected files below a folder that exist."""
        if folder not in self._files:
            start = _cased(os.path.join(folder, ""))
            found: list[str] = []
            for path in self._paths.values():
                if not (_cased(path) + os.sep).startswith(start) and not start.startswith(
                    _cased(path) + os.sep
                ):
                    continue
                if os.path.isfile(path):
                    found.append(path)
                for place, folders, names in os.walk(path):
                    folders[:] = [name for name in folders if name != trust.UNREAD]
                    found += [os.path.join(place, name) for name in names]
                    if len(found) > MOST_FILES:
                        break
            self._files[folder] = [path for path in found if _cased(path).startswith(start)]
        return self._files[folder]

    def is_inside(self, word: str, cwd: str = "") -> bool:
        """Whether a word names something in the project, not the project itself."""
        path = os.path.normpath(os.path.join(cwd or self.cwd, self._from_home(word)))
        return _cased(path).startswith(self._inside_root)

    def changed(self, effect: Effect, folder: str) -> str:
        """The protected path that an effect is on."""
        from hookport import shell

        if effect.kind == "into":
            return self._unpacked(effect, folder)
        path, kind = effect.path, effect.kind
        if not path or len(path) > LONGEST_PATH:
            return ""
        full = shell.joined(folder, self._from_home(path.removeprefix("file://")))
        if not any(mark in full for mark in shell.MARKS):
            is_above = kind == "tree" or (kind == "folder" and self.is_inside(full))
            found = self.meets(full, above=is_above)
            if not found and effect.source:
                found = self._copied(shell.joined(folder, effect.source), full)
            return found
        return self._matched(full, is_tree=kind == "tree")

    def _matched(self, pattern: str, *, is_tree: bool) -> str:
        """The protected path that a path with marks in it may stand for."""
        from hookport import shell

        at = min(pattern.find(mark) for mark in shell.MARKS if mark in pattern)
        prefix = pattern[:at]
        folder = os.path.dirname(prefix) or os.sep
        if prefix and os.path.isabs(prefix) and self._found(_cased(folder), above=False):
            # Whatever the rest is, it is below a protected folder.
            return self._found(_cased(folder), above=False)
        unknown = [mark for mark in (shell.MANY, shell.PART) if mark in pattern]
        if unknown:
            name = os.path.basename(prefix)
            if os.path.isabs(prefix) and len(name) > 1:
                found = next((one for one in self._paths if one.startswith(_cased(prefix))), "")
                if found and pattern[at:].strip(shell.MANY + shell.PART) == "":
                    return self._paths[found]
            return self._ending(pattern)
        if not os.path.isabs(prefix):
            return ""
        import re

        meanings = {shell.STAR: "[^/]*", shell.ONE: "[^/]", shell.DEEP: ".*"}
        text = "".join(meanings.get(letter) or re.escape(letter) for letter in pattern)
        text = text.replace("/[^/]", "/(?!\\.)[^/]")
        fits = re.compile(text if not IS_CASELESS else f"(?i){text}", re.DOTALL).fullmatch
        for file in self.files(folder):
            path = file
            while len(path) > len(folder):
                if fits(path):
                    return file
                if not is_tree and not self._found(_cased(path), above=False):
                    break
                path = os.path.dirname(path)
        return ""

    def _ending(self, pattern: str) -> str:
        """A protected path that ends as a path does whose beginning is computed; only telling names count."""
        from hookport import shell

        rest = pattern
        for mark in shell.MARKS:
            rest = rest.rpartition(mark)[2]
        if not rest.startswith("/"):
            return ""
        # What `..` leads to from there is below a folder of the same name.
        names = os.path.normpath(rest).strip("/").split("/")
        for path in self._paths.values():
            parts = path.split(os.sep)
            for start in range(len(parts)):
                if (
                    parts[start : start + len(names)] == names
                    and (names[0].startswith(".") or names[-1] == trust.LOCK)
                    and self.is_inside(path)
                ):
                    return path
        return ""

    def _copied(self, source: str, target: str) -> str:
        """The protected file that a folder's content would replace."""
        if not os.path.isdir(source):
            return ""
        for path in self._paths.values():
            is_below = _cased(path).startswith(_cased(os.path.join(target, "")))
            if is_below and os.path.lexists(os.path.join(source, os.path.relpath(path, target))):
                return path
        return ""

    def _unpacked(self, effect: Effect, folder: str) -> str:
        """The protected path that an archive has in it, or may have where nobody can look."""
        from hookport import shell

        target = shell.joined(folder, effect.path)
        below = self.meets(target, above=True)
        if not below or any(mark in target for mark in shell.MARKS):
            return below
        archive = shell.joined(folder, effect.source) if effect.source else ""
        for name in _members(archive) if archive and os.path.isfile(archive) else [None]:
            if name is None:
                return below
            if found := self.meets(os.path.join(target, name)):
                return found
        return ""

    def named_in(self, text: str, cwd: str = "") -> str:
        """The first protected path that some code has in it."""
        from hookport.runtime.effects import literals

        words = "".join(letter if letter in PATH_LETTERS else " " for letter in text).split()
        names = [word for word in dict.fromkeys(words) if "." in word or "/" in word][:MOST_WORDS]
        strings = [one for one in literals(text) if 0 < len(one) < 256 and "\n" not in one][:200]
        pairs = [(strings[number], strings[number + 1]) for number in range(len(strings) - 1)]
        names += [made for one, other in pairs for made in (f"{one}/{other}", one + other)]
        names += ["".join(strings), "/".join(strings)]
        for pattern in strings:
            # `*.py` alone is about a folder that stands elsewhere.
            is_glob = ("*" in pattern or "?" in pattern) and "/" in pattern
            if is_glob and (found := self.globbed(pattern, cwd)):
                return found
        for name in names:
            word = name.strip("$:{}\\")
            # A folder inside of the project with protected files in it is named to do something to these.
            if word and (found := self.meets(self._variables(word), cwd, above=self.is_inside(word, cwd))):
                return found
        return ""

    def globbed(self, pattern: str, cwd: str = "") -> str:
        """The protected path that a pattern stands for which code or a tool has in a string."""
        from hookport import shell

        full = shell.joined(cwd or self.cwd, self._from_home(pattern))
        marked = full.replace("**/", shell.DEEP).replace("**", shell.DEEP)
        marked = marked.replace("*", shell.STAR).replace("?", shell.ONE)
        return self._matched(marked, is_tree=True)

    def _variables(self, word: str) -> str:
        return (self.env.get("HOME") or folders.real_home()) + word[5:] if word.startswith("$HOME/") else word

    def hinted(self, text: str) -> str:
        """A protected path whose name, or that of its folder in the project, stands somewhere in a text."""
        plain = "".join(letter for letter in text if letter not in "'\"\\").lower()
        for path in self._paths.values():
            if self.is_inside(path):
                first = os.path.relpath(path, self.root).split(os.sep)[0]
                if first.lower() in plain and (
                    first.startswith(".") or first == trust.LOCK or path.lower() in plain
                ):
                    return path
        return next((path for path in self._paths.values() if path.lower() in plain), "")


def _members(archive: str) -> Iterator[str | None]:
    """The names in an archive; None where they cannot be read."""
    import tarfile
    import zipfile

    try:
        if zipfile.is_zipfile(archive):
            with zipfile.ZipFile(archive) as opened:
                yield from opened.namelist()[:100_000]
            return
        with tarfile.open(archive) as tar:
            for number, member in enumerate(tar):
                yield member.name
                # A link may lead anywhere.
                yield None if member.issym() or member.islnk() or number > 100_000 else member.name
    except (OSError, ValueError, EOFError, tarfile.TarError, zipfile.BadZipFile):
        yield None


def _cased(path: str) -> str:
    return path.lower() if IS_CASELESS else path


def objects(event: Event, paths: Callable[[], Sequence[str]], root: str, env: Mapping[str, str]) -> str:
    """Why an agent may not make this call; empty where it may."""
    call = event.call
    if event.event not in EVENTS or call is None:
        return ""
    calls = [one for one in (call, *call.parts) if not _only_reads(one)]
    if not calls:
        return ""
    guarded = Guarded((*paths(), *_own(root, env)), root, event.cwd or root, env)
    found = next(filter(None, (_objection(one, guarded) for one in calls)), "")
    if not found or _is_off(env):
        return ""
    return (
        f"{found} Agents may not change hooks, their approval or the settings that call them "
        f"(self-protection of hookport); ask the user to do it."
    )


def _own(root: str, env: Mapping[str, str]) -> Iterator[str]:
    """What is protected whatever the plan says."""
    yield from (os.path.join(root, name) for name in (trust.LOCK, ".hookport") if root)
    for place in (journal.folder(env), os.path.dirname(settings(env))):
        if place:
            yield from (place, os.path.realpath(place))


def settings(env: Mapping[str, str]) -> str:
    """The user's own settings, never a file in a project; empty where there is no place for them."""
    return folders.user_settings(env)


def _is_off(env: Mapping[str, str]) -> bool:
    """Whether the user switched it off; what cannot be read switches nothing off."""
    try:
        with open(settings(env), "rb") as file:
            tree = loads(file.read().decode("utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(tree, dict) and tree.get(SWITCH) is False


def _only_reads(call: Call) -> bool:
    return call.known_by == "name" and call.tool in READING and not set(call.also) & set(WRITING)


def _objection(call: Call, guarded: Guarded) -> str:
    if call.known_by != "name":
        # What its input tells is good enough to ask a guard, and not to ask nobody.
        call = call.replace(tool="", also=())
    if call.tool == "shell":
        return _shell(_line(call.input.get("command")), guarded, _folder(call, guarded))
    writes = call.tool in WRITING or bool(set(call.also) & set(WRITING))
    if not writes and _reads(call):
        return ""
    name = (call.mcp_tool or call.native).lower()
    is_tree = call.input.get("deleted") is True or any(word in f"{name}_" for word in TREE_WORDS)
    folder = _folder(call, guarded)
    for key, value in _texts(call.input or call.raw):
        if found := _told(name, key, value, guarded, folder, is_tree=is_tree, writes=writes):
            return found
    if not writes:
        raw = call.input or call.raw
        if isinstance(raw, dict) and (found := _shell(_words(raw), guarded, folder)):
            return found
        for folder, value in _siblings(call.input or call.raw):
            if found := guarded.meets(os.path.join(folder, value), above=is_tree):
                return f"this would change {found}."
    return ""


def _told(  # noqa: PLR0913  (of one value)
    name: str, key: str, value: str, guarded: Guarded, folder: str, *, is_tree: bool, writes: bool
) -> str:
    """Why a tool may not be told a value: a command, code, a patch, a pattern or a path."""
    key = "".join(letter for letter in key.lower() if letter.isalnum())
    runs = key in COMMAND_KEYS or (key not in TEXT_KEYS and _has(f"{name}_", RUNNING_WORDS))
    if runs and not writes and (found := _shell(value, guarded, folder)):
        return found
    # Code of a language has calls in it; in a command of a shell they are rare.
    is_code = runs and not writes and "(" in value and not key.startswith(("command", "cmd"))
    if is_code and (found := _coded("a tool", value, guarded, folder)):
        return found
    if key in PATCH_KEYS and not writes and (found := _patched(value, guarded, guarded.cwd)):
        return f"this would change {found}."
    if "\n" in value or key in TEXT_KEYS:
        return ""
    if key in SOURCE_KEYS and "copy" in name and not is_tree:
        return ""
    if "*" in value and _has(name, WRITING_WORDS):
        found = guarded.globbed(value)
    else:
        fills = key in TARGET_KEYS and _has(name, UNPACKING_WORDS) and guarded.is_inside(value)
        found = guarded.meets(value, above=is_tree or fills)
    return f"this would change {found}." if found else ""


def _has(text: str, words: Iterable[str]) -> bool:
    return any(word in text for word in words)


def _words(raw: Mapping[str, Any]) -> str:
    """The command of a tool that is told a program and its words by themselves."""
    program = next((raw[key] for key in ("command", "program", "executable", "cmd") if key in raw), "")
    words = next((raw[key] for key in ("args", "arguments", "argv") if isinstance(raw.get(key), list)), None)
    if words is None or not isinstance(program, str):
        return ""
    return _line([program, *words] if program else words)


def _siblings(tree: Tree, depth: int = 0) -> Iterator[tuple[str, str]]:
    """A folder and a name that stand beside each other."""
    if isinstance(tree, dict) and depth < DEEPEST:
        texts = [
            value
            for key, value in tree.items()
            if isinstance(value, str)
            and 0 < len(value) < 256
            and "\n" not in value
            and str(key).lower().replace("_", "") not in TEXT_KEYS
        ][:8]
        yield from ((one, other) for one in texts for other in texts if one is not other)
        for value in tree.values():
            yield from _siblings(value, depth + 1)
    elif isinstance(tree, list | tuple) and depth < DEEPEST:
        for value in tree:
            yield from _siblings(value, depth + 1)


def _folder(call: Call, guarded: Guarded) -> str:
    """Where the tool starts the command."""
    raw = call.raw if isinstance(call.raw, dict) else {}
    named = (tree.get(key) for tree in (call.input, raw) for key in FOLDER_KEYS)
    folder = next((one for one in named if one and isinstance(one, str)), "")
    return os.path.normpath(os.path.join(guarded.cwd, folder))


def _line(command: Tree) -> str:
    """A command as the shell reads it; a list is words that it does not read."""
    if isinstance(command, list | tuple):
        return " ".join("'" + str(word).replace("'", "'\\''") + "'" for word in command)
    return str(command or "")


def _reads(call: Call) -> bool:
    name = (call.mcp_tool or call.native).lower()
    return any(word in name for word in READING_WORDS) and not any(word in name for word in WRITING_WORDS)


def _texts(tree: Tree, key: str = "", depth: int = 0) -> Iterator[tuple[str, str]]:
    if isinstance(tree, str):
        yield key, tree
    elif isinstance(tree, dict) and depth < DEEPEST:
        for name, value in tree.items():
            if "/" in str(name) or "." in str(name):
                # A path, with what is to be written there.
                yield key, str(name)
            yield from _texts(value, str(name), depth + 1)
    elif isinstance(tree, list | tuple) and depth < DEEPEST:
        for value in tree:
            yield from _texts(value, key, depth + 1)


class _Machine:
    """What the reader of commands may ask: an `Ask` of `hookport.shell`."""

    def __init__(self, guarded: Guarded) -> None:
        self._guarded = guarded

    def is_folder(self, path: str, /) -> bool:
        return os.path.isdir(path)

    def has_match(self, folder: str, text: str, excluded: Container[str] = (), /) -> bool:
        for file in self._guarded.files(folder) if os.path.isdir(folder) else (folder,):
            if any(part in excluded for part in file.split(os.sep)):
                continue
            try:
                with open(file, "rb") as opened:
                    if text.encode("utf-8", "replace") in opened.read(MOST_BYTES):
                        return True
            except OSError:
                continue
        return False

    def top_level(self) -> str:
        return self._guarded.root


def _shell(text: str, guarded: Guarded, cwd: str = "") -> str:
    """Why a shell command may not run."""
    if _is_plain(text):
        return ""
    if quick := sys.modules.get("hookport.loading"):
        # Where a dispatch began that way, this takes half as long.
        quick.load(quick.READING)
    from hookport import shell

    cwd = cwd or guarded.cwd
    reading = shell.read(text, cwd=cwd, variables={**guarded.env, "PWD": cwd}, ask=_Machine(guarded))  # type: ignore[arg-type]
    scripts: dict[str, str] = {}
    printed = ""
    for command in reading.commands:
        if reason := _command(command, guarded, scripts):
            return reason
        _remember(command, scripts)
        if (printed or command.program == "git") and (found := _piped_patch(command, printed)):
            return f"`git` would change {found}."
        printed = _patch_printed(command, guarded) or printed
    if reading.is_cut or guarded.looked > MOST_LOOKS:
        why = reading.problem or "it names too many files"
        return f"this command cannot be checked: {why}. Write it into a script, or in several commands."
    if reading.problem and (path := guarded.hinted(text)):
        return f"this command cannot be read ({reading.problem}), and it may change {path}."
    return ""


def _patch_printed(command: Command, guarded: Guarded) -> str:
    """The protected path that git prints changes of, as a patch."""
    from hookport.runtime.effects import git_verb

    verb, rest, place = git_verb(list(command.words[1:])) if command.program == "git" else ("", [], "")
    if verb not in ("diff", "show", "log", "format-patch", "stash"):
        return ""
    words = [os.path.join(place, word) for word in rest if not word.startswith("-")]
    found = (guarded.meets(word, folder, above=True) for folder in command.folders for word in words)
    return next(filter(None, found), "")


def _piped_patch(command: Command, printed: str) -> str:
    """The protected path of a patch that another program pipes into one that applies patches."""
    from hookport.runtime.effects import git_verb

    verb = git_verb(list(command.words[1:]))[0] if command.program == "git" else ""
    applies = command.program in PATCHERS or verb in ("apply", "am")
    looks = set(command.words) & set(PATCH_LOOKING)
    return printed if applies and command.is_piped and not looks else ""


def _is_plain(text: str) -> bool:
    """Whether a text is a list of commands that certainly change no file by their words."""
    text = _without_quotes(text) if len(text) < LONGEST_PATH else "$"
    for separator in SEPARATORS:
        text = text.replace(separator, "\n")
    for line in text.splitlines():
        words = [word for word in line.split() if word not in NOWHERE]
        if not words or not PLAIN.issuperset(" ".join(words)):
            return False
        if words[0] in PLAIN_READERS:
            continue
        verb, *rest = (*words[1:], "")
        if words[0] == "git" and verb in GIT_PLAIN_READERS:
            # In quotes an option could be hidden, but for its value.
            may_write = (word.startswith("--ou") or QUOTED in word.partition("=")[0] for word in rest)
            if verb not in GIT_PLAIN_PRINTERS or not any(may_write):
                continue
        elif verb in TASKS.get(words[0], ()) and len(words) <= 3 and not set("./=@") & set("".join(rest)):
            continue
        return False
    return True


def _without_quotes(text: str) -> str:
    """A text with a sign for what is in quotes; not plain where the shell would look into these."""
    at, made = 0, list[str]()
    while quote := next((letter for letter in text[at:] if letter in "'\""), ""):
        start = text.index(quote, at)
        end = text.find(quote, start + 1)
        inside = text[start + 1 : end]
        if end < 0 or (quote == '"' and set(inside) & set("$`\\!")):
            return "$"
        made += [text[at:start], QUOTED]
        at = end + 1
    return "".join((*made, text[at:]))


def _remember(command: Command, scripts: dict[str, str]) -> None:
    """Keep the text of a script that is written, in case that it is run."""
    from hookport import shell

    targets = [*command.writes, *(command.words[1:] if command.program == "tee" else ())]
    said = command.said or command.given
    for target in targets if said and len(scripts) < 50 else ():
        for folder in command.folders:
            path = shell.joined(folder, target)
            scripts[path] = f"{scripts[path]}\n{said}" if path in scripts else str(said)


def _command(command: Command, guarded: Guarded, scripts: Mapping[str, str]) -> str:
    from hookport.runtime import effects

    for folder in command.folders:
        for target in command.writes:
            if path := guarded.changed(effects.Effect(target), folder):
                return f"this would write {path}."
    if not command.words:
        return ""
    name = command.program or "a program that is computed"
    if ours := _ours(command):
        return f"`hookport {ours}` is for the user to run."
    for folder in command.folders:
        if reason := _code(command, guarded, folder, scripts):
            return reason
        if _is_our_reader(command):
            continue
        for effect in effects.effects(command):
            if path := guarded.changed(effect, folder):
                return f"`{name}` would change {path}."
        if path := _git(command, guarded, folder):
            return f"`git` would change {path}."
    return ""


def _is_our_reader(command: Command) -> bool:
    words = list(command.words[1:])
    return (
        command.program == "hookport"
        and next((word for word in words if not word.startswith("-")), "") in OUR_READERS
        and not {"-o", "--output", "--fix"} & set(words)
    )


def _code(command: Command, guarded: Guarded, folder: str, scripts: Mapping[str, str]) -> str:
    """Why code, or a patch, that a program is given may not run."""
    from hookport import shell
    from hookport.runtime import effects

    name, words = command.program, list(command.words[1:])
    script = next((word for word in words if not word.startswith("-")), "")
    written = scripts.get(shell.joined(folder, script)) if script else None
    if name in shell.SHELLS and written is not None and "-c" not in words:
        return _shell(written, guarded, folder)
    if (
        command.words[0]
        and "/" in command.words[0]
        and (own := scripts.get(shell.joined(folder, command.words[0])))
    ):
        return _shell(own, guarded, folder) or _coded("a script", own, guarded, folder)
    if name in PATCHERS or (name == "git" and effects.git_verb(words)[0] in ("apply", "am")):
        return "" if set(words) & set(PATCH_LOOKING) else _patch(command, guarded, folder)
    if name in ("docker", "podman", "nerdctl"):
        return _contained(words, guarded, folder)
    if name in ("at", "batch", "crontab") and command.given:
        return _shell(command.given, guarded, folder)
    if name in ("make", "gmake", "just"):
        files = ("GNUmakefile", "makefile", "Makefile", "justfile", *words)
        recipes = [scripts.get(shell.joined(folder, file), "") for file in files]
        recipes.append(command.given or "" if "-" in words else "")
        lines = [line.strip(" \t@-") for text in recipes for line in text.splitlines() if line[:1].isspace()]
        # `--eval 'target: ; recipe'`
        lines += [word.partition(";")[2] for word in words if ":" in word and ";" in word]
        return _shell("\n".join(lines), guarded, folder)
    if name in ("npm", "pnpm", "yarn", "bun") and (manifest := scripts.get(f"{folder}/package.json")):
        return _started(f"exec {manifest}", guarded, folder)
    if name in effects.SED or name in effects.AWK:
        return _started(" ".join(words), guarded, folder) if name in effects.AWK else ""
    if name in ("vi", "vim", "nvim") and {"-R", "-M"} & set(words) and len(words) == 2:
        return ""
    if name in ("vi", "vim", "nvim", "ex", "ed", "emacs"):
        given = "\n".join((*words, command.given or "")).replace(" ", "\n")
        path = guarded.named_in(given, folder)
        return f"`{name}` would change {path}." if path else ""
    if not shell.language(name):
        return ""
    codes = shell.codes(name, words)
    if (
        not codes
        and command.given is not None
        and (not script or script == "-" or script.startswith("/dev/"))
    ):
        codes = [command.given]
    if written is not None and not codes:
        codes = [written]
    codes += [word[len(shell.SAID) :] for word in words if word.startswith(shell.SAID)]
    return next(filter(None, (_coded(name, code, guarded, folder) for code in codes)), "")


def _coded(name: str, code: str, guarded: Guarded, folder: str) -> str:
    from hookport.runtime.reading_code import is_reading

    if verb := _called(code):
        return f"`hookport {verb}` is for the user to run."
    if not is_reading(code) and (path := guarded.named_in(code, folder)):
        return f"code for {name} names {path}."
    return _started(code, guarded, folder)


def _started(code: str, guarded: Guarded, folder: str) -> str:
    """Why the commands may not run that some code has in its strings."""
    from hookport.runtime.effects import literals

    if not any(word in code for word in STARTING_WORDS):
        return ""
    texts = [one for one in literals(code) if " " in one or "/" in one][:50]
    return next(filter(None, (_shell(text, guarded, folder) for text in texts)), "")


def _patch(command: Command, guarded: Guarded, folder: str) -> str:
    """The names in a patch of git start with `a/` and `b/`."""
    from hookport import shell

    texts = [command.given or "", *command.words[1:]]
    texts += [_content(shell.joined(folder, word)) for word in (*command.words[1:], *command.reads)]
    path = next(filter(None, (_patched(text, guarded, folder) for text in texts)), "")
    return f"`{command.program}` would change {path}." if path else ""


def _patched(text: str, guarded: Guarded, folder: str) -> str:
    """The protected path that a patch is for."""
    lines = [
        line
        for line in text.splitlines()
        if line.startswith(("---", "+++", "***", "diff ", "rename ", "Index"))
    ]
    said = "\n".join(lines) if len(text) > 1_000 or lines else text
    words = said.replace(" a/", " ").replace(" b/", " ").split()
    return next(filter(None, (guarded.meets(word, folder) for word in words)), "")


def _contained(words: list[str], guarded: Guarded, folder: str) -> str:
    """Why a program may not run in a container, by the folders of this machine that it has there."""
    from hookport import shell
    from hookport.runtime.ordered_effects import mounted

    if words[:1] != ["run"]:
        return ""
    left, volumes, place = words[1:], list(mounted(words)), ""
    while left and left[0].startswith("-"):
        option, equals, value = left[0].partition("=")
        takes = not equals and (option in CONTAINER_VALUES or (len(option) == 2 and option in "-v-w-e-u-p-l"))
        if option in ("-w", "--workdir"):
            place = value if equals else "".join(left[1:2])
        left = left[2 if takes else 1 :]
    inner = left[1:]
    for source, target in volumes:
        full = shell.joined(folder, source)
        inside = target.rstrip("/")
        told = [
            full + word[len(inside) :]
            if word == inside or word.startswith(f"{inside}/")
            else word.replace(f"{inside}/", f"{full}/")
            for word in inner
        ]
        start = full + place[len(inside) :] if place.startswith(inside) else os.sep
        if inside and (reason := _shell(shell.quote(told), guarded, start)):
            return reason
    return ""


def _content(path: str) -> str:
    try:
        if os.path.isfile(path):
            with open(path, "rb") as file:
                return file.read(MOST_BYTES).decode("utf-8", "replace")
    except (OSError, ValueError):
        pass
    return ""


def _git(command: Command, guarded: Guarded, folder: str) -> str:
    """The protected file that git does not know and would remove with others."""
    from hookport import shell
    from hookport.runtime.effects import git_verb

    if command.program != "git":
        return ""
    verb, rest, place = git_verb(list(command.words[1:]))
    letters = "".join(word[1:] for word in rest if word.startswith("-") and not word.startswith("--"))
    if verb == "clean":
        if (
            "n" in letters
            or "--dry-run" in rest
            or not ("f" in letters or "--force" in rest or "i" in letters)
        ):
            return ""
        ignored = "x" in letters.lower()
    elif verb == "stash":
        ignored = "a" in letters or "--all" in rest
        if not (ignored or "u" in letters or "--include-untracked" in rest) or rest[:1] in (
            ["show"],
            ["apply"],
            ["list"],
        ):
            return ""
    else:
        return ""
    operands = [word for word in rest if not word.startswith("-") and word not in ("push", "save")]
    excluded = {
        rest[number + 1] for number, word in enumerate(rest[:-1]) if word in ("-e", "--exclude", "-m")
    }
    index = _index(guarded.root)
    for start in [word for word in operands if word not in excluded] or ["."]:
        for file in guarded.files(shell.joined(shell.joined(folder, place), start)):
            if not guarded.is_inside(file):
                continue
            name = os.path.relpath(file, guarded.root).replace(os.sep, "/")
            if name.encode() in index or any(part in excluded for part in name.split("/")):
                continue
            if ignored or not _is_ignored(name, guarded.root):
                return file
    return ""


def _index(root: str) -> bytes:
    """The names of the files that git knows, as its index has them."""
    try:
        with open(os.path.join(root, ".git", "index"), "rb") as file:
            return file.read(64 << 20)
    except OSError:
        return b""


def _is_ignored(name: str, root: str) -> bool:
    """Whether a pattern of the project's own lists is for a file, or for a folder that it is in."""
    from fnmatch import fnmatchcase

    parts = name.split("/")
    for place in (
        ".gitignore",
        ".git/info/exclude",
        *("/".join((*parts[:end], ".gitignore")) for end in range(1, len(parts))),
    ):
        folder = os.path.dirname(place) if place != ".git/info/exclude" else ""
        for line in _content(os.path.join(root, place)).splitlines():
            pattern = line.strip().strip("/")
            if not pattern or pattern.startswith(("#", "!")):
                continue
            inner = name.removeprefix(f"{folder}/") if folder else name
            pieces = inner.split("/")
            tops = ["/".join(pieces[:end]) for end in range(1, len(pieces) + 1)]
            if any(fnmatchcase(top, pattern) for top in tops) or (
                "/" not in pattern and any(fnmatchcase(part, pattern) for part in pieces)
            ):
                return True
    return False


def _ours(command: Command) -> str:
    """The command of ours that a person should run, whatever starts hookport."""
    from hookport.runtime.effects import READERS

    name, words = command.program, list(command.words)
    if (
        set(words) & set(LOOKING)
        or (name in READERS and name not in ("env", "eval", "watch"))
        or name in ("git", "gh")
    ):
        return ""
    for number, word in enumerate(words[:-1]):
        is_near = "hookport" in word.lower() or "bridge.py" in word.lower()
        if is_near and os.path.basename(word).lower() in STARTS:
            # A word before the verb is the value of an option.
            verb = next((one for one in words[number + 1 :] if one in (*OURS, *OUR_READERS)), "")
            if verb in OURS or (verb == "doctor" and "--fix" in words):
                return verb
    if not name and words[1:2] and words[1] in OURS[:2]:
        return words[1]
    is_removing = name in REMOVING_PROGRAMS or ("-m" in words and set(words) & set(REMOVING_PROGRAMS))
    if is_removing and {"uninstall", "remove", "purge"} & set(words) and "hookport" in words:
        return "(uninstall)"
    return ""


def _called(code: str) -> str:
    """The command of ours that some code would start."""
    words = "".join(letter if letter.isalnum() or letter in "._-" else " " for letter in code).split()
    if not set(words) & set(STARTS) or set(words) & set(LOOKING):
        return ""
    return next((word for word in words if word in OURS), "")
