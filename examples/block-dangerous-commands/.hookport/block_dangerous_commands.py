"""Denies shell commands that destroy work or machines, and those that hide what they do.

A command is taken apart as the shell would do it: programs are looked at, not texts. What only the shell can
know (`$x`, `$(…)`) is marked in a word and never guessed: a program that is computed is denied.
"""

from __future__ import annotations

import re
from codecs import decode
from collections.abc import Callable, Iterator

from hookport import Event, before_tool, deny, run

# Folders that a build makes again: removing one is nobody's loss.
DISPOSABLE = {"node_modules", "build", "dist", "out", "target", "coverage", "__pycache__", ".venv", ".cache"}
ALWAYS = {
    **dict.fromkeys(("fdisk", "parted", "shred", "wipefs"), "it destroys what is on a disk"),
    **dict.fromkeys(("halt", "poweroff", "reboot", "shutdown"), "it stops the machine"),
    "alias": "an alias hides what runs",
    "dropdb": "it deletes a database",
}
# Words after a program's name that make it dangerous, whatever else follows.
WITH_WORDS = {
    "docker": {"system prune", "volume prune", "volume rm"},
    "gh": {"repo delete"},
    "kubectl": {"delete"},
    "terraform": {"destroy"},
}
# By verb of git: the words that make it dangerous, which may be shortened, and why.
GIT: dict[str, tuple[str, str]] = {
    "push": (r"-\w*[fd]\w*|--(?:for|mir|de).*|[+:].*", "it changes or deletes what others have"),
    "reset": (r"--ha\w*", "it discards work"),
    "clean": (r"-\w*f\w*|--f\w*", "it deletes files that git does not know"),
    "checkout": (r"\.|--|-\w*f|--f\w*", "it discards work"),
    "restore": (r"\.", "it discards work"),
    "branch": (r"-\w*[Df]\w*|--f\w*", "it deletes commits"),
    "stash": (r"drop|clear", "it discards work"),
    "filter-branch": (r".*", "it rewrites history"),
    "reflog": (r"expire|delete", "it deletes what could be restored"),
}
# Programs that run the one that is named after them.
WRAPPERS = {
    *("builtin", "bunx", "busybox", "chroot", "command", "coproc", "doas", "env", "exec", "find", "flock"),
    *("ionice", "nice", "nohup", "npx", "parallel", "script", "setsid", "ssh", "stdbuf", "strace", "su"),
    *("sudo", "time", "timeout", "watch", "xargs"),
}
SHELLS = ("ash", "bash", "dash", "fish", "ksh", "sh", "zsh")
# Languages with the option that code follows.
LANGUAGES = {"python": "c", "node": "ep", "perl": "eE", "ruby": "e", "php": "r", "bun": "e"}
HARMFUL_CODE = re.compile(
    r"\b(?:system|fork|eval|qx|exec(?:[lv]\w{0,2}|Sync|File\w*)?)\b|popen|spawn|subprocess|child_process|getattr"
    r"|rmtree|rm(?:dir)?Sync|unlink|os\.remove|chmod|__import__|import_module|b64decode|fromhex"
)
RUNS_BACKTICKS = ("perl", "php", "ruby")
DEVICE = re.compile(r"/dev/(?:sd|hd|vd|xvd|nvme|mmcblk|disk|mapper/|dm-|loop)\w*")
KEYWORDS = ("if", "then", "elif", "else", "fi", "while", "until", "do", "done", "esac", "!", "{", "}")
ASSIGNMENT = re.compile(r"\w+(?:\[[^]]*\])?\+?=")
HIDING = re.compile(
    r"(?:--config-env=)?(?:alias|remote|core\.(?:pager|fsmonitor|sshcommand|hookspath))", re.IGNORECASE
)
WRITE_OUT = "write the command out, so that it can be checked"


@before_tool("shell")
def no_dangerous_commands(event: Event) -> object:
    """Deny the first thing in the command that is dangerous or cannot be read."""
    why = objection(event.command)
    return deny(f"{why}. If it has to be, ask the user to run it.") if why else None


def objection(text: str) -> str:
    """Why a command must not run; empty if it may."""
    if re.search(r"([\w:]+)\s*\(\)\s*\{[^}]*\1\s*\|\s*\1", text):
        return "this starts itself again and again"
    try:
        found = commands(text)
    except UnreadableError as error:
        return f"the command cannot be read, {error}"
    return next(filter(None, map(_objection, found)), "")


def _objection(command: Command) -> str:
    if any(DEVICE.match(target) for target in command.targets):
        return "it writes to a disk"
    words = _started(command.words)
    if not words or words[0] in ("for", "case", "select"):
        return ""
    if not (program := _name(words[0])):
        return f"the program is computed; {WRITE_OUT}"
    if program in WRAPPERS:
        first = next((word for word in words[1:] if not re.match(r"-|\w+=|[\d.]+\w?$", word)), "")
        if program != "find" and not _name(first) and first:
            return f"the program is computed; {WRITE_OUT}"
        return next(filter(None, (_judged(name, rest, command) for name, rest in _inside(words))), "")
    return _judged(program, words[1:], command)


def _started(words: list[str]) -> list[str]:
    """The words from the program on."""
    while words and (words[0] in (*KEYWORDS, "function") or ASSIGNMENT.match(words[0])):
        words = words[2 if words[0] == "function" else 1 :]
    return words


def _name(word: str) -> str:
    """The name of a program; empty if that is computed."""
    name = word.rpartition("/")[2]
    return "" if MANY in word or re.search(f"[{PART}*?]|\\[.+\\]", name) else name


def _inside(words: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Whatever in the words of a wrapper may be the program that it runs."""
    first = _name(words[0])
    if first == "command" and words[1:2] in (["-v"], ["-V"]):
        return
    yield first, words[1:]
    for number, word in enumerate(words[1:], 1):
        name = _name(word)
        if name in CHECKED or name.startswith("mkfs") or _language(name):
            # xargs adds words that nobody sees here.
            yield name, words[number + 1 :] + ([MANY] if first in ("xargs", "parallel") else [])


def _judged(program: str, rest: list[str], command: Command) -> str:
    if program in ALWAYS or program.startswith("mkfs"):
        return f"`{program}` is not for agents: {ALWAYS.get(program, 'it destroys what is on a disk')}"
    said = " ".join(word for word in rest if not word.startswith("-"))
    for words in WITH_WORDS.get(program, ()):
        if f" {words} " in f" {said} ":
            return f"`{program} {words}` is not for agents"
    if program in RULES:
        return RULES[program](rest, command)
    return _code(program, rest, command) if _language(program) else ""


def _is_unknown(word: str) -> bool:
    """Whether a word may turn out to be an option."""
    return MANY in word or (word.startswith(PART) and "/" not in word)


def _letters(rest: list[str], letters: str, *long: str) -> bool:
    """Whether one of these options is there; a long one may be shortened."""
    return any(
        (re.match(r"-[^-]", word) and any(letter in word for letter in letters))
        or (len(word) > 2 and word.startswith("--") and any(one.startswith(word) for one in long))
        for word in rest
    )


def _rm(rest: list[str], command: Command) -> str:
    if not _letters(rest, "rR", "--recursive"):
        options = rest[: rest.index("--")] if "--" in rest else rest
        why = f"the options of `rm` are computed; put `--` before its files, or {WRITE_OUT}"
        return why if any(map(_is_unknown, options)) or any(MANY in word for word in rest) else ""
    return _rimraf(rest, command)


def _rimraf(rest: list[str], _command: Command) -> str:
    targets = [word for word in rest if not word.startswith("-")]
    if targets and all(_is_disposable(target) for target in targets):
        return ""
    return "recursive deletes need a human"


def _is_disposable(path: str) -> bool:
    parts = [part for part in path.split("/") if part not in ("", ".")]
    is_plain = not re.search(f"[{COMPUTED}*?\\[{{~]", path) and not path.startswith("/") and ".." not in parts
    return bool(parts) and is_plain and parts[-1] in DISPOSABLE


def _find(rest: list[str], _command: Command) -> str:
    """What `-exec` runs is looked at as for every wrapper."""
    named = [rest[number + 1] for number, word in enumerate(rest[:-1]) if re.fullmatch(r"-i?name", word)]
    if "-delete" in rest and not any(re.search(r"\w", name) for name in named):
        return "recursive deletes need a human"
    return ""


def _git(rest: list[str], _command: Command) -> str:
    number = 0
    while number < len(rest) and rest[number].startswith("-"):
        setting = rest[number + 1] if rest[number] == "-c" and number + 1 < len(rest) else rest[number]
        if HIDING.match(setting):
            return f"the setting '{setting}' of `git` hides what runs; {WRITE_OUT}"
        number += 2 if rest[number] in ("-c", "-C", "--git-dir", "--work-tree") else 1
    if number >= len(rest):
        return ""
    verb, given = rest[number], rest[number + 1 :]
    if _is_unknown(verb):
        return f"what `git` is to do is computed; {WRITE_OUT}"
    pattern, why = GIT.get(verb, ("", ""))
    if pattern and any(map(_is_unknown, given)):
        return f"the options of `git {verb}` are computed; {WRITE_OUT}"
    if pattern and any(re.fullmatch(pattern, word) for word in given):
        return f"`git {verb}` in this way needs a human: {why}"
    return ""


def _chmod(rest: list[str], _command: Command) -> str:
    mode = next((word for word in rest if not word.startswith("-")), "")
    if _is_unknown(mode):
        return f"the mode is computed; {WRITE_OUT}"
    if re.fullmatch(r"0?777", mode) or re.search(r"(?:^|,)(?:[ugo]*[oa][ugo]*)?[+=][rxXst]*w", mode):
        return "it lets everyone write"
    return ""


def _to_device(rest: list[str], _command: Command) -> str:
    return "it writes to a disk" if any(DEVICE.search(word) for word in rest) else ""


def _dd(rest: list[str], command: Command) -> str:
    if any(map(_is_unknown, rest)):
        return f"what `dd` writes to is computed; {WRITE_OUT}"
    return _to_device(rest, command)


def _texts(rest: list[str], _command: Command) -> str:
    """Programs that give a word to a shell."""
    return next(filter(None, (objection(word) for word in rest if " " in word)), "")


def _shell(rest: list[str], command: Command) -> str:
    """A shell that is given a text runs it; what it reads from a pipe cannot be seen."""
    for number, word in enumerate(rest):
        if re.fullmatch(r"-\w*c\w*", word):
            return _text(rest[number + 1 :])
    script = next((word for word in rest if not re.match(r"[-+]", word)), "")
    if command.given is not None:
        return _text([command.given])
    if any(char in script for char in COMPUTED):
        return f"the script that the shell runs is computed; {WRITE_OUT}"
    if command.is_piped and (not script or script.startswith("/dev/") or "-s" in rest):
        return "the shell runs what comes out of a pipe, which nobody has read"
    return ""


def _text(texts: list[str]) -> str:
    """What a text does that a shell is given, with its arguments."""
    if not texts or any(char in "".join(texts) for char in COMPUTED):
        return f"what the shell runs is computed; {WRITE_OUT}"
    return objection(texts[0])


def _eval(rest: list[str], _command: Command) -> str:
    return _text([" ".join(rest)]) if rest else ""


def _source(rest: list[str], command: Command) -> str:
    if command.given is not None:
        return _text([command.given])
    file = rest[0] if rest else ""
    return f"what is sourced is computed; {WRITE_OUT}" if file.startswith((PART, MANY, "/dev/")) else ""


def _env(rest: list[str], _command: Command) -> str:
    if any(re.match(r"-\w*S|--split", word) for word in rest) or rest == [MANY]:
        return f"the program is computed; {WRITE_OUT}"
    return ""


def _xargs(rest: list[str], _command: Command) -> str:
    names = [_name(word) for word in rest]
    if "env" in names and not any(name for name in names[names.index("env") + 1 :]):
        return f"the program is computed; {WRITE_OUT}"
    return ""


def _language(program: str) -> str:
    return next((name for name in LANGUAGES if re.fullmatch(rf"{name}[\d.]*", program)), "")


def _code(program: str, rest: list[str], command: Command) -> str:
    """Code on the command line: no reader of shell knows what it does, so words that do harm are enough."""
    letters = LANGUAGES[_language(program)]
    is_given = any(re.match(rf"-\w*[{letters}]|--eval|--print", word) for word in rest)
    if not is_given and command.given is None and command.is_piped and set(rest) <= {"-"}:
        return f"`{program}` runs what comes out of a pipe, which nobody has read"
    code = " ".join(rest) if is_given else command.given or ""
    if "`" in code and _language(program) in RUNS_BACKTICKS:
        return f"this `{program}` starts other programs; do that in the shell"
    if found := HARMFUL_CODE.search(code):
        return f"code for `{program}` with '{found.group()}' in it can do anything; put it into a file first"
    return ""


def _awk(rest: list[str], _command: Command) -> str:
    if re.search(r"system|\|\s*\"|\"\s*\||getline", " ".join(rest)):
        return "this `awk` starts other programs; do that in the shell"
    return ""


Rule = Callable[[list[str], "Command"], str]
RULES: dict[str, Rule] = {
    "rm": _rm,
    "rimraf": _rimraf,
    "find": _find,
    "git": _git,
    "chmod": _chmod,
    "eval": _eval,
    "trap": lambda rest, _command: _text(rest[:1]) if len(rest) > 1 else "",
    "env": _env,
    "xargs": _xargs,
    "dd": _dd,
    **dict.fromkeys(("cp", "mv", "tee", "install"), _to_device),
    **dict.fromkeys(("ssh", "su", "watch", "script", "flock", "parallel"), _texts),
    **dict.fromkeys(("source", "."), _source),
    **dict.fromkeys(("awk", "gawk", "mawk", "nawk"), _awk),
    **dict.fromkeys(SHELLS, _shell),
}
CHECKED = {*ALWAYS, *WITH_WORDS, *RULES}


# What stands in a word for something that the shell computes: any number of words, or a part of one.
MANY, PART = "\0", "\1"
COMPUTED = MANY + PART
_REDIRECTION = re.compile(r"&>>?|\d*(?:<<<|<<-?|<>|>>|>\||[<>]&|<(?!\()|>(?!\())")
_OPERATOR = re.compile(r";;&?|;&|&&|\|\||\|&|[;&|]")
_BRACES = re.compile(r"\{[^\s{}]*(?:,|\.\.)[^\s{}]*\}")
_VARIABLE = re.compile(r"\$(?:[A-Za-z_]\w*|[0-9@*#?!$-])")
_ESCAPES = re.compile(r"\$'((?:[^'\\]|\\.)*)'", re.DOTALL)
_ENDS_WORD = " \t\n;&|()<>"


class UnreadableError(ValueError):
    """A command that ends in the middle of something."""


class Command:
    """One simple command: its words, where it writes to, what it is given as input, whether in a pipe."""

    def __init__(self, *, is_piped: bool = False) -> None:
        self.words: list[str] = []
        self.targets: list[str] = []
        self.given: str | None = None
        self.is_piped = is_piped


def commands(text: str) -> list[Command]:
    """Every simple command in a text, those in subshells and substitutions too."""
    reader = Reader(text.replace("\\\n", ""))
    reader.read()
    return reader.found


class Reader:
    """Reads a text as a shell does, up to the point where it would have to run something."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0
        self.found: list[Command] = []
        self.documents: list[tuple[Command, str, bool]] = []

    def read(self, closing: str = "", *, is_piped: bool = False) -> None:
        """Read commands up to the closing sign."""
        command = self._next(is_piped=is_piped)
        while self.at < len(self.text):
            if self.text[self.at] == closing:
                self.at += 1
                return
            command = self._step(command)
        if closing:
            raise UnreadableError(f"a '{closing}' is missing")

    def _step(self, command: Command) -> Command:
        """Read on by one word or sign; the command that what follows belongs to."""
        char = self.text[self.at]
        if self.text.startswith(("<(", ">("), self.at):
            self.at += 2
            self.read(")")
            command.words.append(PART)
        elif match := _REDIRECTION.match(self.text, self.at):
            self.at = match.end()
            self._redirect(command, match.group().lstrip("0123456789"))
        elif match := _OPERATOR.match(self.text, self.at):
            self.at = match.end()
            return self._next(is_piped=match.group() in ("|", "|&"))
        elif char == "#":
            self.at = (self.text + "\n").find("\n", self.at)
        elif char in " \t\n()":
            return self._between(command, char)
        else:
            command.words.append(self._word())
        return command

    def _between(self, command: Command, char: str) -> Command:
        self.at += 1
        if char in " \t":
            return command
        if char == "\n":
            self._read_documents()
        elif char == "(":
            self.read(")", is_piped=command.is_piped)
        else:
            command.words.clear()  # a pattern of `case`
        return self._next()

    def _next(self, *, is_piped: bool = False) -> Command:
        self.found.append(Command(is_piped=is_piped))
        return self.found[-1]

    def _redirect(self, command: Command, operator: str) -> None:
        while self.text[self.at : self.at + 1] in (" ", "\t"):
            self.at += 1
        is_quoted = self.text[self.at : self.at + 1] in ("'", '"', "\\")
        word = self._word()
        if operator == "<<<":
            command.given = word
        elif operator.startswith("<<"):
            self.documents.append((command, word, is_quoted))
        elif ">" in operator:
            command.targets.append(word)

    def _read_documents(self) -> None:
        """The here-documents that begin on the next line."""
        waiting, self.documents = self.documents, []
        for command, end, is_quoted in waiting:
            lines = []
            while self.at < len(self.text):
                line, newline, _ = self.text[self.at :].partition("\n")
                self.at += len(line) + len(newline)
                if line.strip() == end:
                    break
                lines.append(line)
            body = "\n".join(lines)
            command.given = body if is_quoted else self._within(body)

    def _within(self, text: str) -> str:
        """A text in which only `$` and backticks count; the commands in it are found too."""
        inner = Reader(text)
        said = inner._quoted("")
        self.found += inner.found
        return said

    def _word(self) -> str:
        parts: list[str] = []
        while self.at < len(self.text) and (char := self.text[self.at]) not in _ENDS_WORD:
            if char == "'":
                parts.append(self._until("'", 1))
            elif char == '"':
                self.at += 1
                parts.append(self._quoted('"'))
            elif char == "\\":
                parts.append(self.text[self.at + 1 : self.at + 2])
                self.at += 2
            elif match := _ESCAPES.match(self.text, self.at):
                self.at = match.end()
                parts.append(decode(match[1].encode("latin-1", "replace"), "unicode_escape"))
            elif self.text.startswith('$"', self.at):
                self.at += 1
            elif char in "$`":
                parts.append(self._expansion().replace(PART, MANY))
            elif _BRACES.match(self.text, self.at):
                # What is before it is before every word that comes of it, so none of these is an option.
                parts.append(PART if parts and not parts[0].startswith("-") else MANY)
                self.at += 1
            else:
                parts.append(char)
                self.at += 1
        return "".join(parts)

    def _until(self, sign: str, skipped: int) -> str:
        start = self.at + skipped
        end = self.text.find(sign, start)
        if end < 0:
            raise UnreadableError(f"a {sign} is missing")
        self.at = end + len(sign)
        return self.text[start:end]

    def _quoted(self, closing: str) -> str:
        parts: list[str] = []
        while self.at < len(self.text):
            char = self.text[self.at]
            if char == closing:
                self.at += 1
                return "".join(parts)
            if char == "\\" and self.text[self.at + 1 : self.at + 2] in ("$", "`", '"', "\\"):
                parts.append(self.text[self.at + 1])
                self.at += 2
            elif char in "$`":
                parts.append(self._expansion())
            else:
                parts.append(char)
                self.at += 1
        if closing:
            raise UnreadableError(f"a {closing} is missing")
        return "".join(parts)

    def _expansion(self) -> str:
        """What a `$` or a backtick stands for: the mark of it, or the sign itself where that is all."""
        if self.text[self.at] == "`":
            self.found += commands(self._until("`", 1))
        elif self.text.startswith("$((", self.at):
            inside = self._until("))", 3)
            if re.search(r"[A-Za-z_]\s+-*[A-Za-z_]", inside):
                raise UnreadableError(f"'{inside}' may be a command")
            self._within(inside)
        elif self.text.startswith("$(", self.at):
            self.at += 2
            self.read(")")
        elif self.text.startswith("${", self.at):
            inside = self._braced()
            self._within(inside)
            return MANY if re.search(r"[@*]", inside) else PART
        elif match := _VARIABLE.match(self.text, self.at):
            self.at = match.end()
            return MANY if match.group() in ("$@", "$*") else PART
        else:
            self.at += 1
            return "$"
        return PART

    def _braced(self) -> str:
        start, depth = self.at + 2, 1
        for end in range(start, len(self.text)):
            depth += {"{": 1, "}": -1}.get(self.text[end], 0)
            if not depth:
                self.at = end + 1
                return self.text[start:end]
        raise UnreadableError("a } is missing")


run(on_failure="closed")
