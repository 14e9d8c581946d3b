"""The built-in guard: an agent's call that would change hooks, their approval or hookport itself is denied.

Reading is let through. It looks at paths and at words of shell commands as they stand, so that it keeps an
honest agent from a wrong turn; it cannot see through a program that is written to get around it.
"""

from __future__ import annotations

import os
import sys

from hookport.model._json import loads
from hookport.runtime import journal, trust
from hookport.runtime.words import commands

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from hookport.model.runs import Call, Event
    from hookport.runtime.words import Command

    Tree = Any

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
COMMAND_KEYS = ("command", "cmd", "script", "code")
# Where a shell tool is told to start; `cwd` is the vocabulary's word.
FOLDER_KEYS = ("cwd", "directory", "dir_path", "working_directory", "workdir")
LONGEST_PATH = 4_096
# Of a long text, so many words are looked at.
MOST_WORDS = 5_000

# Programs that change no file that they are told, but by the options beside them.
READERS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(
        (
            *("cat", "tac", "head", "tail", "less", "more", "bat", "nl", "wc", "grep", "egrep", "fgrep"),
            *("rg", "ag", "ack", "ls", "tree", "dir", "stat", "file", "du", "df", "diff", "cmp", "comm"),
            *("cut", "tr", "column", "fold", "fmt", "od", "hexdump", "strings", "md5sum", "sha1sum"),
            *("sha256sum", "shasum", "cksum", "b2sum", "echo", "printf", "true", "false", ":", "test"),
            *("[", "[[", "cd", "pushd", "popd", "pwd", "which", "type", "command", "whereis"),
            *("realpath", "readlink", "dirname", "basename", "jq", "shellcheck", "export", "set"),
            *("unset", "source", ".", "return", "exit", "wait", "sleep", "date", "id", "whoami", "man"),
            *("if", "then", "else", "elif", "fi", "while", "until", "do", "done", "for", "in", "case"),
            *("esac", "function", "select", "!", "{", "}", "get-content", "gc", "select-string"),
            *("get-childitem", "gci", "test-path", "get-item", "measure-object"),
        ),
        (),
    ),
    "sed": ("-i", "--in-place"),
    "gsed": ("-i", "--in-place"),
    "awk": ("inplace", ">"),
    "gawk": ("inplace", ">"),
    "sort": ("-o", "--output"),
    "yq": ("-i", "--inplace"),
    "find": ("-delete", "-exec", "-execdir", "-ok", "-okdir", "-fprint", "-fls"),
    "fd": ("-x", "-X", "--exec", "--exec-batch"),
}
GIT_READERS = (
    *(
        "add",
        "blame",
        "branch",
        "cat-file",
        "check-ignore",
        "commit",
        "describe",
        "diff",
        "fetch",
        "grep",
        "log",
    ),
    *("ls-files", "ls-tree", "push", "remote", "rev-list", "rev-parse", "shortlog", "show", "status", "tag"),
)
INTERPRETERS = ("python", "node", "perl", "ruby", "bun", "deno", "php", "pwsh", "powershell", "osascript")
SHELLS = ("sh", "bash", "zsh", "dash", "ksh", "fish", "eval")
CODE_OPTIONS = ("-c", "-e", "-E", "-p", "-r", "--eval", "--print", "-command", "-Command", "eval")
# Programs that have a command of a shell in one of their words.
RUNNERS = ("script", "su", "watch", "ssh", "flock", "strace", "tmux", "unbuffer")
# Programs that change what the text fed to them names.
PATCHERS = ("apply_patch", "applypatch", "patch")
# What code may do to a folder.
REMOVING_WORDS = ("rmtree", "rmdir", "rmSync", "rm(", "rm_r", "rm -", "remove", "rename", "move", "unlink")
# Programs with a word that is code.
CODED = ("awk", "gawk", "sed", "gsed", "ed", "ex", "vi", "vim")
# These take what is above a protected path with it.
REMOVERS = ("rm", "mv", "rmdir", "unlink", "shred", "trash", "rimraf", "remove-item", "move-item", "del")
EDITORS = (
    *REMOVERS,
    "cp",
    "chmod",
    "chown",
    "ln",
    "tee",
    "truncate",
    "sed",
    "gsed",
    "touch",
    "dd",
    "install",
)
# Commands of ours that are for a person to run, and what makes them only look.
OURS = ("trust", "untrust", "sync", "unsync", "undo", "vendor")
LOOKING = ("--dry-run", "--check", "--help", "-h")
STARTS = ("hookport", "hookport.exe", "hookport.cli", "hookport.__main__", "bridge.py", "bridge.pyz")
OUR_READERS = ("run", "why", "check", "log", "status", "doctor", "explain", "matrix", "dialects", "convert")
PATH_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./~$-{}\\:+@%")
DEEPEST = 5
IS_CASELESS = sys.platform in ("darwin", "win32")


class Guarded:
    """The protected paths, and how the paths of a call are compared with them."""

    def __init__(self, paths: Iterable[str], root: str, cwd: str, env: Mapping[str, str]) -> None:
        full = (os.path.normpath(os.path.join(root, path)) for path in paths)
        self._paths = {_cased(path) for path in full}
        self._root = _cased(os.path.join(os.path.normpath(root), ""))
        self.cwd, self._env = cwd, env
        # What the command itself sets.
        self.variables: dict[str, str] = {}

    def meets(self, word: str, cwd: str = "", *, above: bool = False, links: bool = True) -> str:
        """The protected path that a word names or is below; with `above`, also one that is below the word."""
        if not word or len(word) > LONGEST_PATH or "\0" in word:
            return ""
        word = word.removeprefix("file://")
        # A folder may have a `$` in its name, and tools other than shells take it as it stands.
        for one in filter(None, dict.fromkeys((word, self.expanded(word)))):
            plain = os.path.normpath(os.path.join(cwd or self.cwd, one))
            for path in dict.fromkeys((plain, os.path.realpath(plain) if links else plain)):
                found = self._found(_cased(path), above=above)
                if found:
                    return found
        return ""

    def matches(self, pattern: str, cwd: str) -> str:
        """The protected path that a pattern of the shell stands for."""
        from fnmatch import fnmatchcase

        wanted = _cased(os.path.normpath(os.path.join(cwd or self.cwd, self.expanded(pattern)))).split(os.sep)
        for path in self._paths:
            parts = path.split(os.sep)
            fits = all(
                fnmatchcase(part, one) and part.startswith(".") <= one.startswith(".")
                for part, one in zip(parts, wanted, strict=False)
            )
            if fits and len(parts) >= len(wanted) and os.path.exists(path):
                return path
        return ""

    def named_in(self, text: str, cwd: str = "") -> str:
        """The first protected path that some code has in it."""
        words = "".join(letter if letter in PATH_LETTERS else " " for letter in text).split()
        names = [word for word in dict.fromkeys(words) if "." in word or "/" in word][:MOST_WORDS]
        removes = any(word in text for word in REMOVING_WORDS)
        found = (
            self.meets(word, cwd, above=removes and self._inside(word, cwd), links=False) for word in names
        )
        return next(filter(None, found), "")

    def _inside(self, word: str, cwd: str) -> bool:
        """Whether a word names something in the project, not the project itself."""
        path = os.path.normpath(os.path.join(cwd or self.cwd, self.expanded(word)))
        return _cased(path).startswith(self._root)

    def _found(self, path: str, *, above: bool) -> str:
        if above:
            start = os.path.join(path, "")
            for one in self._paths:
                if one.startswith(start):
                    return one
        while path not in self._paths:
            parent = os.path.dirname(path)
            if parent == path:
                return ""
            path = parent
        return path

    def expanded(self, word: str) -> str:
        """A word with the home and variables as they are here."""
        home = self._env.get("HOME", "")
        if word == "~" or word.startswith("~/"):
            word = home + word[1:]
        if "$" in word:
            for name, value in {**self._env, "PWD": self.cwd, **self.variables}.items():
                for spelling in (f"${{{name}}}", f"${name}"):
                    end = word.find(spelling) + len(spelling)
                    if spelling in word and (spelling[1] == "{" or not word[end : end + 1].isalnum()):
                        word = word.replace(spelling, value)
        return word


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
    """The user's own settings; empty where the environment names no place."""
    config, home = env.get("XDG_CONFIG_HOME", ""), env.get("HOME", "")
    base = config if os.path.isabs(config) else os.path.join(home, ".config") if home else ""
    return os.path.join(base, "hookport", "config.json") if base else ""


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
    words = call.tool in WRITING or bool(set(call.also) & set(WRITING))
    if not words and _reads(call):
        return ""
    for key, value in _texts(call.input or call.raw):
        if key in COMMAND_KEYS and not words:
            found = _shell(value, guarded)
            if found:
                return found
        elif "\n" not in value and key not in ("content", "old", "new", "old_string", "new_string", "text"):
            found = guarded.meets(value, above=call.input.get("deleted") is True)
            if found:
                return f"this would change {found}."
    return ""


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
            yield from _texts(value, str(name), depth + 1)
    elif isinstance(tree, list | tuple) and depth < DEEPEST:
        for value in tree:
            yield from _texts(value, key, depth + 1)


def _shell(text: str, guarded: Guarded, cwd: str = "", depth: int = 0) -> str:
    """Why a shell command may not run."""
    cwd = cwd or guarded.cwd
    found = commands(text)
    # What a program gets from a pipe or a loop stands with another command.
    is_fed = any("xargs" in one.words or "for" in one.words[:1] for one in found)
    fed = [word for one in found for word in one.words] if is_fed else []
    piped = any(_reads_commands(_bare(one.words)) for one in found)
    named = False
    for one in found:
        words = _bare([guarded.expanded(word) for word in one.words])
        # `$(which hookport) trust` is read as three commands.
        if named and words and words[0] in OURS and not set(words) & set(LOOKING):
            return f"`hookport {words[0]}` is for the user to run."
        named = any(os.path.basename(word) == "hookport" for word in words)
        words = _bare(one.words)
        name = os.path.basename(words[0]).lower().removesuffix(".exe") if words else ""
        for target in one.written:
            if path := guarded.meets(target, cwd):
                return f"this would write {path}."
        if words and (reason := _command(name, words, one, guarded, cwd, depth)):
            return reason
        if piped and name in ("echo", "printf") and depth < DEEPEST:
            said = "\n".join((" ".join(words[1:]), *words[1:]))
            if reason := _shell(said, guarded, cwd, depth + 1):
                return reason
        takes = "xargs" in one.words or any(word.startswith("$") for word in words)
        if fed and takes and not _is_reader(name, words) and (path := _met(fed, name, guarded, cwd)):
            return f"`{name}` would change {path}."
        guarded.variables |= dict(_assignments(one.words))
        if name in ("cd", "pushd") and len(words) > 1:
            cwd = os.path.normpath(os.path.join(cwd, guarded.expanded(words[-1])))
    return ""


def _reads_commands(words: list[str]) -> bool:
    """Whether a shell gets its commands from a pipe."""
    is_shell = bool(words) and os.path.basename(words[0]) in SHELLS[:-1]
    return is_shell and (words[1:2] == ["-s"] or all(word.startswith("-") for word in words[1:]))


def _command(name: str, words: list[str], one: Command, guarded: Guarded, cwd: str, depth: int) -> str:
    if ours := _ours(name, [guarded.expanded(word) for word in words]):
        return f"`hookport {ours}` is for the user to run."
    rest = words[1:]
    if reason := _fed(name, rest, one, guarded, cwd, depth):
        return reason
    if name in SHELLS:
        codes = rest if name == "eval" else _codes(rest)
        for code in (" ".join(codes),) if name == "eval" else (*codes, one.body):
            if depth < DEEPEST and code and (reason := _shell(code, guarded, cwd, depth + 1)):
                return reason
        return ""
    if name.rstrip("0123456789.") in INTERPRETERS:
        codes = _codes(rest)
        if reason := next(filter(None, (_code(name, code, guarded, cwd) for code in (*codes, one.body))), ""):
            return reason
        # Without code the first word is the program that it runs; the rest is what that may change.
        rest = [word for word in rest if not word.startswith("-") and word not in codes][0 if codes else 1 :]
    if _is_reader(name, words):
        return ""
    path = _met(rest, name, guarded, cwd)
    return f"`{name}` would change {path}." if path else ""


def _code(name: str, code: str, guarded: Guarded, cwd: str) -> str:
    if path := guarded.named_in(code, cwd):
        return f"code for {name} names {path}."
    verb = _called(code)
    return f"`hookport {verb}` is for the user to run." if verb else ""


def _fed(name: str, rest: list[str], one: Command, guarded: Guarded, cwd: str, depth: int) -> str:
    """Why a program may not have the commands or the patch that stand in its words or its here-document."""
    for code in rest if name in RUNNERS and depth < DEEPEST else ():
        if " " in code and (reason := _shell(code, guarded, cwd, depth + 1)):
            return reason
    if name in PATCHERS or (name == "git" and _verb(rest, ("-C", "-c")) in ("apply", "am")):
        # The names in a patch of git start with `a/` and `b/`.
        said = "\n".join((*rest, one.body)).replace(" a/", " ").replace(" b/", " ")
        if path := guarded.named_in(said, cwd):
            return f"`{name}` would change {path}."
    return ""


def _met(words: list[str], name: str, guarded: Guarded, cwd: str) -> str:
    """The first protected path among the words of a command that may change what it is told."""
    for word in [one for some in words for one in _braced(some)]:
        # `--output=PATH`, `of=PATH`, `-oPATH` and `PATH:PATH`
        for part in dict.fromkeys((word, word.partition("=")[2], *word.split(":"))):
            is_option = part.startswith("-")
            if part and not is_option and (path := guarded.meets(part, cwd, above=name in REMOVERS)):
                return path
        if name in CODED and (path := guarded.named_in(word, cwd)):
            return path
        if (
            name in EDITORS
            and any(letter in word for letter in "*?[")
            and (path := guarded.matches(word, cwd))
        ):
            return path
    return ""


def _braced(word: str) -> list[str]:
    """The words that one with `{a,b}` stands for."""
    start, _, rest = word.partition("{")
    inside, brace, end = rest.partition("}")
    if not brace or "," not in inside or start.endswith("$"):
        return [word]
    return [start + one + end for one in inside.split(",")]


def _is_reader(name: str, words: list[str]) -> bool:
    if name == "git":
        return _verb(words[1:], ("-C", "-c", "--git-dir", "--work-tree")) in GIT_READERS
    if name == "hookport":
        return _verb(words[1:], ()) in OUR_READERS and not {"-o", "--output", "--fix"} & set(words)
    if name not in READERS:
        return False
    options = READERS[name]
    return not any(_has(word, option) for word in words[1:] for option in options)


def _has(word: str, option: str) -> bool:
    """Whether a word is an option, also one with its value or one letter of several."""
    if not option.startswith("-"):
        return option in word
    if option.startswith("--") or len(option) > 2:
        return word.partition("=")[0] == option
    return word.startswith("-") and not word.startswith("--") and option[1] in word[1:]


def _verb(words: list[str], with_value: Sequence[str]) -> str:
    skips = False
    for word in words:
        if skips:
            skips = False
        elif word in with_value:
            skips = True
        elif not word.startswith("-"):
            return word
    return ""


def _ours(name: str, words: list[str]) -> str:
    """The command of ours that a person should run, whatever starts hookport."""
    if name in READERS or set(words) & set(LOOKING):
        return ""
    for number, word in enumerate(words[:-1]):
        if os.path.basename(word).lower() in STARTS:
            verb = _verb(words[number + 1 :], ())
            if verb in OURS or (verb == "doctor" and "--fix" in words):
                return verb
    return ""


def _called(code: str) -> str:
    """The command of ours that some code would start."""
    words = "".join(letter if letter.isalnum() or letter in "._-" else " " for letter in code).split()
    if not set(words) & set(STARTS) or set(words) & set(LOOKING):
        return ""
    return next((word for word in words if word in OURS), "")


def _codes(words: list[str]) -> list[str]:
    """The code among the words of an interpreter."""
    found = []
    for number, word in enumerate(words):
        letters = word[1:] if word.startswith("-") and not word.startswith("--") else ""
        if word in CODE_OPTIONS or (letters and letters.isalpha() and letters[-1] in "ceE"):
            found += words[number + 1 : number + 2]
    return found


# What runs another command, and its options that have a value.
WRAPPERS = {
    "sudo": ("-u", "-g", "-C", "-D"),
    "doas": ("-u",),
    "env": ("-u", "-C", "--chdir"),
    "nice": ("-n",),
    "timeout": ("-s", "-k"),
    "xargs": ("-I", "-n", "-P", "-d", "-L"),
    **dict.fromkeys(
        ("command", "builtin", "exec", "nohup", "time", "busybox", "stdbuf", "then", "do", "else"), ()
    ),
}


def _assignments(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    for word in words[1:] if words[:1] in (("export",), ("local",)) else words:
        name, equals, value = word.partition("=")
        if not equals or not name.replace("_", "a").isalnum():
            return
        yield name, value


def _bare(words: Sequence[str]) -> list[str]:
    """The words without assignments and without what only starts another command."""
    left = list(words)
    while left:
        name = os.path.basename(left[0])
        before, equals, _ = left[0].partition("=")
        if equals and before.replace("_", "a").isalnum():
            del left[0]
        elif name in WRAPPERS and len(left) > 1:
            del left[0]
            while left and (left[0].startswith("-") or (name == "timeout" and left[0][:1].isdigit())):
                skips = 2 if left[0] in WRAPPERS[name] else 1
                del left[:skips]
        elif left[0] in ("{", "!", "if", "while", "until") and len(left) > 1:
            del left[0]
        else:
            break
    return left
