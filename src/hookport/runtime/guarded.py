"""The paths that no agent may change, and the commands that certainly change none of them."""

from __future__ import annotations

import os
import sys

from hookport.base import folders
from hookport.runtime import trust

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from types import ModuleType

    from hookport.base.tree import Tree

LONGEST_PATH = 4_096
# The most files of protected folders that are checked, and the most paths that are compared.
MOST_FILES, MOST_LOOKS = 2_000, 20_000
# Lists of commands in plain words pass unparsed if each is by one of these programs, which write nothing, or
# runs a task by its name: importing the command parser takes a tenth of a dispatch.
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
# The placeholder for any quoted text.
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
IS_CASELESS = sys.platform in ("darwin", "win32")


class GuardedPaths:
    """The protected paths, and how the paths of a call are compared with them."""

    def __init__(self, paths: Iterable[str], root: str, cwd: str, env: Mapping[str, str]) -> None:
        full = dict.fromkeys(os.path.normpath(os.path.join(root, path)) for path in paths)
        self.paths = {fold_case(path): path for path in full}
        self._folded = {path.lower(): path for path in full}
        self.root = os.path.normpath(root)
        self._inside_root = fold_case(os.path.join(self.root, ""))
        self.cwd, self.env = cwd, env
        self.is_caseless = IS_CASELESS
        self._files: dict[str, list[str]] = {}
        # How many paths were looked up; beyond the limit the command is denied.
        self.looked = 0

    def find_protected(self, word: str, cwd: str = "", *, above: bool = False) -> str:
        """Find the protected path that a word names or is below; with `above`, also one below the word."""
        if not word or len(word) > LONGEST_PATH or "\0" in word:
            return ""
        self.looked += 1
        if self.looked > MOST_LOOKS:
            return ""
        word = word.removeprefix("file://")
        if word.startswith("/proc/"):
            from hookport.shell import joined

            word = joined(cwd or self.cwd, word)
        plain = os.path.normpath(os.path.join(cwd or self.cwd, self.expand_home(word)))
        for path in dict.fromkeys((plain, self._resolve(plain))):
            if protected := self.find(fold_case(path), above=above) or self._find_folded(path):
                return protected
        return self._find_linked(plain)

    def expand_home(self, word: str) -> str:
        return (
            (self.env.get("HOME") or folders.find_real_home()) + word[1:]
            if word == "~" or word.startswith("~/")
            else word
        )

    def _resolve(self, path: str) -> str:
        try:
            return os.path.realpath(path)
        except (OSError, ValueError):
            return path

    def find(self, path: str, *, above: bool) -> str:
        if above:
            start = os.path.join(path, "")
            for protected in self.paths:
                if protected.startswith(start) and (
                    os.path.lexists(protected) or fold_case(protected) != protected
                ):
                    return self.paths[protected]
        while path not in self.paths:
            parent = os.path.dirname(path)
            if parent == path:
                return ""
            path = parent
        return self.paths[path]

    def _find_folded(self, path: str) -> str:
        """The same on a file system that ignores case, whatever the platform."""
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

    def _find_linked(self, path: str) -> str:
        """Find the protected file that this path is a hard link to."""
        try:
            status = os.stat(path)
        except (OSError, ValueError):
            return ""
        if status.st_nlink < 2 or not os.path.isfile(path):
            return ""
        for file in self.files(self.root):
            try:
                if os.path.samestat(status, os.stat(file)):
                    return file
            except OSError:
                continue
        return ""

    def files(self, folder: str) -> list[str]:
        """List the existing protected files below a folder."""
        if folder not in self._files:
            start = fold_case(os.path.join(folder, ""))
            files: list[str] = []
            for path in self.paths.values():
                if not (fold_case(path) + os.sep).startswith(start) and not start.startswith(
                    fold_case(path) + os.sep
                ):
                    continue
                if os.path.isfile(path):
                    files.append(path)
                for place, folders, names in os.walk(path):
                    folders[:] = [name for name in folders if name != trust.UNREAD]
                    files += [os.path.join(place, name) for name in names]
                    if len(files) > MOST_FILES:
                        break
            self._files[folder] = [path for path in files if fold_case(path).startswith(start)]
        return self._files[folder]

    def is_inside(self, word: str, cwd: str = "") -> bool:
        """Whether a word names something in the project, not the project itself."""
        path = os.path.normpath(os.path.join(cwd or self.cwd, self.expand_home(word)))
        return fold_case(path).startswith(self._inside_root)


def fold_case(path: str) -> str:
    return path.lower() if IS_CASELESS else path


def is_plain(text: str) -> bool:
    """Whether a text is a list of commands that certainly change no file they name."""
    text = _replace_quoted(text) if len(text) < LONGEST_PATH else "$"
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
            # Quotes could hide an option, except in an option's value.
            may_write = (word.startswith("--ou") or QUOTED in word.partition("=")[0] for word in rest)
            if verb not in GIT_PLAIN_PRINTERS or not any(may_write):
                continue
        elif verb in TASKS.get(words[0], ()) and len(words) <= 3 and not set("./=@") & set("".join(rest)):
            continue
        return False
    return True


def _replace_quoted(text: str) -> str:
    """Replace quoted parts by a placeholder; not plain if the shell expands inside the quotes."""
    at, parts = 0, list[str]()
    while quote := next((letter for letter in text[at:] if letter in "'\""), ""):
        start = text.index(quote, at)
        end = text.find(quote, start + 1)
        inside = text[start + 1 : end]
        if end < 0 or (quote == '"' and set(inside) & set("$`\\!")):
            return "$"
        parts += [text[at:start], QUOTED]
        at = end + 1
    return "".join((*parts, text[at:]))


def object_to_command(text: str, guarded: GuardedPaths, cwd: str = "") -> str:
    """Explain why a shell command may not run."""
    return "" if is_plain(text) else str(load_commands().find_objection(text, guarded, cwd))


def load_commands() -> ModuleType:
    """Import the command parser, which takes a tenth of a dispatch."""
    if quick := sys.modules.get("hookport.loading"):
        # If the dispatch started with the fast loader, this takes half as long.
        quick.load(quick.READING)
    from hookport.runtime import guarded_commands

    return guarded_commands


def join_line(command: Tree) -> str:
    """Join a command into a line of shell; the words of a list are quoted."""
    if isinstance(command, list | tuple):
        return " ".join("'" + str(word).replace("'", "'\\''") + "'" for word in command)
    return str(command or "")
