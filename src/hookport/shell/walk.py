"""The programs that a parsed text starts, in order, with their words as far as known.

Every branch is taken. A variable has all its possible values, and `cd` leads to all possible folders: the
question is what a text could do. Wrappers (`sudo`, `xargs`, `find -exec`, `sh -c`) are seen through.
"""

from __future__ import annotations

import os

from hookport.base import quoting
from hookport.model.value import Value
from hookport.shell import outputs
from hookport.shell.syntax import MANY, MARKS, ONE, PART, STAR, parse
from hookport.shell.wrappers import SHELL_VARIABLES, SHELLS, WRAPPERS, Wrapper, find_shell_code

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Mapping

    from hookport.shell.syntax import Node, Part, Redirection, Word


LONGEST = 1_000_000
MOST_COMMANDS, MOST_VALUES, MOST_STEPS = 5_000, 5_000, 20_000
MOST_FOLDERS = 32
DEEPEST = 12
SEPARATORS, BREAK = " \t\n", "\x1f"


class Command(Value):
    """One program that a text starts: its words, its redirections and its input.

    `given` is the text on its standard input if known, with marks for unknown parts; `folders` are the
    folders that it may run in; `via` are the wrappers that start it; `said` is its output, if it is written
    to a file or passed on.
    """

    words: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    given: str | None = None
    is_piped: bool = False
    folders: tuple[str, ...] = ()
    via: tuple[str, ...] = ()
    said: str = ""

    @property
    def program(self) -> str:
        """The name of the program without its folder; empty if only the shell knows it."""
        return name_of(self.words[0]) if self.words else ""


def name_of(word: str) -> str:
    """The name of a program as written in a command; empty if computed."""
    name = word.replace("\\", "/").rpartition("/")[2] if ":\\" in word[:3] else word.rpartition("/")[2]
    if not word.isprintable() and (any(mark in name for mark in MARKS) or MANY in word):
        return ""
    return name.lower().removesuffix(".exe")


class Ask:
    """The questions of a walk about the machine; the answers here assume nothing."""

    def is_folder(self, _path: str, /) -> bool:
        """Whether a folder exists."""
        return False

    def has_match(self, _folder: str, _text: str, _excluded: Container[str] = (), /) -> bool:
        """Whether a file below a folder that matters to the caller contains a text."""
        return True

    def top_level(self) -> str:
        """The folder that `git rev-parse --show-toplevel` prints."""
        return PART


class TooMuchError(ValueError):
    """The text starts more programs than a walk follows."""


class Walk:
    """Walks through a text once."""

    def __init__(self, cwd: str, variables: Mapping[str, str], ask: Ask) -> None:
        self.ask = ask
        self.found: list[Command] = []
        self.problem = ""
        self.variables: dict[str, list[str]] = {name: [value] for name, value in variables.items()}
        # Every value that the text assigns to a name, in any scope.
        self.assigned: dict[str, list[str]] = {}
        self.functions: dict[str, list[Node]] = {}
        self.aliases: dict[str, str] = {}
        self.folders = [cwd]
        self.made: set[str] = set()
        self.stops = False
        self.depth = self.steps = self.branches = 0
        self._calls: list[str] = []

    def walk_text(
        self, text: str, *, given: str | None = None, is_piped: bool = False, via: tuple[str, ...] = ()
    ) -> str:
        """Walk through a text; return its output, with marks."""
        if len(text) > LONGEST:
            raise TooMuchError("it is too long to be parsed")
        if self.depth >= DEEPEST:
            raise TooMuchError("it is nested too deeply")
        nodes, problem = parse(text)
        if nodes is None:
            raise TooMuchError(problem)
        self.problem = self.problem or problem
        self.depth += 1
        try:
            return self.walk_nodes(nodes, Input(given, is_piped, via))
        finally:
            self.depth -= 1

    def walk_nodes(self, nodes: Iterable[Node], input_: Input) -> str:
        """Walk through consecutive commands."""
        texts = []
        start, is_sure = self.folders, True
        for number, node in enumerate(nodes):
            if node.operator not in ("&&", "||"):
                if not is_sure and not self.stops:
                    self.folders = _merge_folders(self.folders, start)
                start, is_sure = self.folders, True
            if node.operator == "||" and _ends_script(node):
                is_sure = True
            before = self.folders
            texts.append(self.walk_node(node, input_))
            if self.folders is not before and not self._exists(self.folders):
                is_sure = False
            if number > MOST_STEPS:
                raise TooMuchError("it is too long to be parsed")
        if not is_sure and not self.stops:
            self.folders = _merge_folders(self.folders, start)
        return "\n".join(filter(None, texts))

    def _exists(self, folders: list[str]) -> bool:
        return all(folder in self.made or self.ask.is_folder(folder) for folder in folders)

    def walk_node(self, node: Node, input_: Input) -> str:
        """Walk through one command; return its output."""
        self.steps += 1
        if self.steps > MOST_STEPS or len(self.found) > MOST_COMMANDS:
            raise TooMuchError("it starts too many programs")
        if node.kind == "simple":
            return self._walk_simple(node, input_)
        if node.kind == "function":
            self.functions[node.name] = node.bodies[0]
            return ""
        if node.redirections:
            input_ = self._redirect(node, input_)
        if node.kind == "pipeline":
            return self._walk_pipeline(node, input_)
        if node.kind == "subshell":
            before, variables = self.folders, dict(self.variables)
            printed = self.walk_nodes(node.bodies[0], input_)
            self.folders, self.variables = before, variables
            return printed
        if node.kind == "group":
            return self.walk_nodes(node.bodies[0], input_)
        return self._walk_branches(node, input_)

    def _walk_branches(self, node: Node, input_: Input) -> str:
        words = [word for some in node.words for word in self.expand(some)]
        start = self.folders
        self.branches += 1
        if node.kind == "for" and node.name:
            self.variables[node.name] = _limit([*(words or [PART])])
        printed = [self.walk_nodes(body, input_) for body in node.bodies]
        if node.kind in ("for", "while"):
            # Each round starts with the state that the previous one left.
            before = len(self.found)
            values = dict(self.variables)
            for body in node.bodies:
                self.walk_nodes(body, input_)
            if (
                values == self.variables
                and self.found[before:] == self.found[before - (len(self.found) - before) : before]
            ):
                del self.found[before:]
        self.branches -= 1
        self.folders = _merge_folders(self.folders, start)
        return "\n".join(filter(None, printed))

    def _walk_pipeline(self, node: Node, input_: Input) -> str:
        folders, variables = self.folders, dict(self.variables)
        printed = ""
        for number, body in enumerate(node.bodies):
            if number:
                input_ = Input(printed, is_piped=True, via=input_.via)
            printed = self.walk_nodes(body, input_)
            self.folders = folders
        self.variables = {**self.variables, **variables}
        return printed

    def _redirect(self, node: Node, input_: Input) -> Input:
        """Return the input of a compound; its output redirections become a command without words."""
        command, input_ = self._follow_redirections(node.redirections, input_)
        if command.writes or command.reads:
            self._add(command)
        return input_

    def _follow_redirections(self, redirections: list[Redirection], input_: Input) -> tuple[Command, Input]:
        writes: list[str] = []
        reads: list[str] = []
        for redirection in redirections:
            if redirection.operator in ("<<", "<<-", "<<<"):
                input_ = Input(
                    "".join(self.expand_unsplit(redirection.word, is_input=True)),
                    is_piped=False,
                    via=input_.via,
                )
                continue
            if redirection.operator == "<" and any(part.kind == "process" for part in redirection.word):
                printed = [
                    self.walk_nodes(part.commands, Input())
                    for part in redirection.word
                    if part.kind == "process"
                ]
                input_ = Input("\n".join(printed), is_piped=True, via=input_.via)
                continue
            targets = self.expand(redirection.word)
            if redirection.operator == "<":
                reads += targets
                input_ = Input(None, is_piped=True, via=input_.via)
            else:
                writes += targets
        return Command(writes=tuple(writes), reads=tuple(reads), folders=tuple(self.folders)), input_

    def _walk_simple(self, node: Node, input_: Input) -> str:
        for name, values, appends in node.assignments:
            self._assign(
                name,
                [
                    value
                    for word in values
                    for value in (self.expand_unsplit(word) if len(values) == 1 else self.expand(word))
                ],
                appends=appends,
            )
            if name in SHELL_VARIABLES:
                for text in self.variables.get(name, ()):
                    self.walk_text(text, via=(*input_.via, name))
        command, input_ = self._follow_redirections(node.redirections, input_)
        words = [(word, self.expand(word)) for word in node.words]
        if not words:
            if command.writes or command.reads:
                self._add(command)
            # `$(< file)`
            return PART if command.reads else ""
        firsts = words[0][1] or [""]
        rest = [value for _, some in words[1:] for value in some]
        base = command.replace(via=input_.via)
        if len(firsts) > 1 and self._has_choice(words[0][0]):
            # A program in a variable with several values: each of them.
            printed = [self.start([first, *rest], base, input_) for first in firsts]
            printed.append(self.start([*firsts, *rest], base, input_))
            return "\n".join(filter(None, printed))
        return self.start([*firsts, *rest], base, input_)

    def _has_choice(self, word: Word) -> bool:
        return any(part.kind == "variable" and len(self.variables.get(part.value, ())) > 1 for part in word)

    def _assign(self, name: str, values: list[str], *, appends: bool = False) -> None:
        old = self.variables.get(name, [])
        self.assigned.setdefault(name, []).extend(values)
        if appends:
            values = [former + value for former in old or [""] for value in values or [""]] + values
        if self.branches:
            values = [*old, *values]
        self.variables[name] = _limit(list(dict.fromkeys(values)))

    def _add(self, command: Command) -> None:
        self.found.append(command)

    def start(self, words: list[str], base: Command, input_: Input) -> str:
        """Start a program; return its output."""
        self.steps += 1
        if self.steps > MOST_STEPS or len(self.found) > MOST_COMMANDS:
            raise TooMuchError("it starts too many programs")
        while words and not words[0] and len(words) > 1:
            words = words[1:]
        command = base.replace(
            words=tuple(words), given=input_.given, is_piped=input_.is_piped, via=input_.via
        )
        name = command.program
        if name in self.aliases and name not in self._calls:
            self._calls.append(name)
            try:
                return self.walk_text(
                    f"{self.aliases[name]} {quote(words[1:])}",
                    given=input_.given,
                    is_piped=input_.is_piped,
                    via=input_.via,
                )
            finally:
                self._calls.pop()
        if name in self.functions:
            return self._call_function(name, words, command, input_)
        if name in BUILTINS:
            BUILTINS[name](self, words, input_)
        if name in WRAPPERS:
            printed = self._start_wrapped(name, Wrapper(WRAPPERS[name]), words, command, input_)
            if printed is not None:
                return printed
        self._add(command)
        if name in SHELLS:
            return self._start_shell(name, words, input_)
        for code in find_shell_code(name, words[1:]):
            # Another program asks a shell to run it.
            self.walk_text(code, via=(*input_.via, name))
        if name in ("find", "gfind", "bfs"):
            self._start_find(words, base, input_)
        if name in ("fd", "fdfind"):
            self._start_fd(words, base, input_)
        number = len(self.found) - 1
        printed = outputs.predict_output(name, words, input_.given, self)
        if printed and printed != PART and self.found[number] is command:
            self.found[number] = command.replace(said=printed)
        return printed

    def _call_function(self, name: str, words: list[str], command: Command, input_: Input) -> str:
        if command.writes or command.reads:
            self._add(command.replace(words=()))
        if self._calls.count(name) >= 2 or len(self._calls) > DEEPEST:
            return PART
        self._calls.append(name)
        before = {key: self.variables.get(key) for key in ("@", "*", *"123456789")}
        self._set_arguments(words[1:])
        try:
            return self.walk_nodes(self.functions[name], input_)
        finally:
            self._calls.pop()
            for key, values in before.items():
                if values is None:
                    self.variables.pop(key, None)
                else:
                    self.variables[key] = values

    def _set_arguments(self, words: list[str]) -> None:
        self.variables["@"] = self.variables["*"] = _limit(list(words))
        for number in range(1, 10):
            self.variables[str(number)] = words[number - 1 : number] or [""]
        # `shift` may move them.
        if len(words) > 1:
            self.variables["1"] = _limit(list(words))

    def _start_wrapped(
        self, name: str, wrapper: Wrapper, words: list[str], command: Command, input_: Input
    ) -> str | None:
        """Return the output of the program that a wrapper starts; None if it starts none."""
        inner = wrapper.find_inner(words[1:])
        if inner is None:
            return None
        for variable, value in inner.variables:
            self._assign(variable, [value])
        rest = list(inner.words)
        via = Input(input_.given, input_.is_piped, (*input_.via, name))
        folders = self.folders
        if inner.folder:
            self._enter_folders([inner.folder])
        try:
            base = command.replace(folders=tuple(self.folders))
            if wrapper.feeds:
                return self._start_fed(
                    rest, inner.placeholder, base, Input(None, is_piped=False, via=via.via), input_
                )
            if inner.text:
                if command.writes or command.reads:
                    self._add(command.replace(words=()))
                return self.walk_text(inner.text, given=input_.given, is_piped=input_.is_piped, via=via.via)
            if not rest:
                return None
            return self.start(rest, base, via)
        finally:
            if inner.folder:
                self.folders = folders

    def _start_fed(self, rest: list[str], placeholder: str, base: Command, via: Input, input_: Input) -> str:
        """Start the program of `xargs` and similar wrappers: words come from the input."""
        # `xargs -a <(…)`
        texts = [word[len(SAID) :] for word in base.words if word.startswith(SAID)]
        if texts and base.words[0] in ("xargs", "gxargs", "parallel"):
            input_ = Input("\n".join(texts), is_piped=True, via=input_.via)
        fed = [
            word.strip("'\"") for word in (input_.given if input_.given is not None else MANY).split()
        ] or [MANY]
        lines = [line for line in (input_.given or "").splitlines() if " " in line]
        fed = [MANY if word == PART else word for word in fed]
        if placeholder and rest and name_of(rest[0]) in SHELLS and "-c" in rest[:-1]:
            text = rest[rest.index("-c") + 1]
            for line in lines if placeholder in text else ():
                self.walk_text(text.replace(placeholder, line), via=via.via)
        if placeholder and any(placeholder in word for word in rest):
            words = [
                filled
                for word in rest
                for filled in (
                    [word.replace(placeholder, fill) for fill in [*fed, *lines]]
                    if placeholder in word
                    else [word]
                )
            ]
        else:
            words = [*(rest or ["echo"]), *fed]
        if not rest and input_.given:
            # `parallel` without a command runs the lines.
            self.walk_text(input_.given, via=via.via)
        # `sh -c` reads the first of them as its text.
        if name_of(words[0]) in SHELLS and not placeholder and "-c" in words[-len(fed) - 1 : -len(fed)]:
            for text in (
                (*lines, *fed, input_.given or "") if len(fed) < MOST_FOLDERS else (input_.given or "",)
            ):
                self.walk_text(text, via=via.via)
        if name_of(words[0]) in SHELLS and "-c" in words[:2]:
            self._set_arguments(fed)
        return self.start(words, base, via)

    def _start_shell(self, name: str, words: list[str], input_: Input) -> str:
        """Walk through the text that a shell starts with."""
        via = (*input_.via, name)
        if name == "eval":
            return self.walk_text(" ".join(words[1:]), given=input_.given, is_piped=input_.is_piped, via=via)
        if name in ("source", "."):
            if input_.given is not None and words[1:2] and words[1].startswith("/dev/"):
                return self.walk_text(input_.given, via=via)
            return (
                self.walk_text(words[1][len(SAID) :], via=via)
                if words[1:] and words[1].startswith(SAID)
                else PART
            )
        folders, variables = self.folders, dict(self.variables)
        try:
            values = 0
            for number, word in enumerate(words[1:], 1):
                if values:
                    values -= 1
                elif word.startswith(("-", "+")) and not word.startswith("--"):
                    # `-euo pipefail`, `-O extglob`: each of these letters has a value.
                    values = sum(letter in "oO" for letter in word[1:])
                    if "c" in word[1:] and word[0] == "-":
                        rest = words[number + 1 + values :]
                        while rest and rest[0].startswith(("-", "+")) and len(rest) > 1:
                            taken_values = sum(
                                letter in "oO" for letter in rest[0][1:] if rest[0][:2] != "--"
                            )
                            rest = rest[1 + taken_values :]
                        if len(rest) > 2:
                            self._set_arguments(rest[2:])
                        return (
                            self.walk_text(rest[0], given=input_.given, is_piped=input_.is_piped, via=via)
                            if rest
                            else ""
                        )
                    if "s" in word[1:]:
                        break
                elif word in ("--rcfile", "--init-file"):
                    values = 1
                elif word.partition("=")[0] in ("--command", "--init-command"):
                    code = word.partition("=")[2] or "".join(words[number + 1 : number + 2])
                    return self.walk_text(code, given=input_.given, is_piped=input_.is_piped, via=via)
                elif word.startswith(SAID):
                    return self.walk_text(word[len(SAID) :], via=via)
                elif word == "-" or word.startswith("/dev/"):
                    break
                elif not word.startswith("-"):
                    return PART
            return self.walk_text(input_.given, via=via) if input_.given is not None else PART
        finally:
            self.folders = folders
            self.variables = variables

    def _start_find(self, words: list[str], base: Command, input_: Input) -> None:
        from hookport.shell.printers import list_paths

        listed = list_paths(words)
        for number, word in enumerate(words):
            if word in ("-exec", "-execdir", "-ok", "-okdir"):
                rest = words[number + 1 :]
                ends = [at for at, word in enumerate(rest) if word in (";", "+")]
                rest = rest[: ends[0]] if ends else rest
                started = [
                    word.replace("{}", path) for word in rest for path in (listed if "{}" in word else [""])
                ]
                if started:
                    via = Input(None, is_piped=False, via=(*input_.via, "find"))
                    if name_of(started[0]) in SHELLS:
                        self._set_arguments(listed)
                    self.start(started, base, via)

    def _start_fd(self, words: list[str], base: Command, input_: Input) -> None:
        listed = outputs.predict_output("fd", words, None, self).split("\n")
        for number, word in enumerate(words):
            if word in ("-x", "-X", "--exec", "--exec-batch"):
                rest = words[number + 1 :]
                started = [
                    word.replace("{}", path) for word in rest for path in (listed if "{}" in word else [""])
                ]
                if started:
                    started += [] if any("{}" in word for word in rest) else listed
                    self.start(
                        started, base, Input(None, is_piped=False, via=(*input_.via, name_of(words[0])))
                    )
                return

    def change_folder(self, words: list[str], _input: Input) -> None:
        """Run `cd`."""
        targets = [word for word in words[1:] if not (word.startswith("-") and len(word) > 1 and word != "-")]
        if not targets:
            home = self.variables.get("HOME", [PART])
            targets = home if words[0] != "pushd" else ["-"]
        if targets == ["-"]:
            self.folders = _merge_folders(
                self.folders, self.variables.get("OLDPWD", []), self.variables.get("PWD", [])
            )
            return
        self._enter_folders(targets)

    def _enter_folders(self, targets: list[str]) -> None:
        entered = [joined(folder, target) for folder in self.folders for target in targets]
        self.variables["OLDPWD"] = list(self.folders)
        self.folders = _merge_folders(self.folders if self.branches else [], entered)
        self.variables["PWD"] = list(self.folders)

    def return_to_folder(self, _words: list[str], _input: Input) -> None:
        """Run `popd`."""
        self.folders = _merge_folders(self.variables.get("OLDPWD", []), self.folders)

    def export(self, words: list[str], input_: Input) -> None:
        """Run `export`, `local`, `declare` and similar builtins."""
        for word in words[1:]:
            name, equals, value = word.partition("=")
            # The parser already made an assignment of `declare x=(…)`.
            if equals and name.isidentifier() and (value or name not in self.variables):
                self._assign(name, [value])
                if name in SHELL_VARIABLES:
                    self.walk_text(value, via=(*input_.via, name))

    def set(self, words: list[str], _input: Input) -> None:
        """Run `set -- words` or `set -e`."""
        if "--" in words:
            self._set_arguments(words[words.index("--") + 1 :])
        elif words[1:2] and words[1].startswith("-") and "e" in words[1]:
            self.stops = True
        elif words[1:2] and not words[1].startswith(("-", "+")):
            self._set_arguments(words[1:])

    def read(self, words: list[str], input_: Input) -> None:
        """Run `read` or `mapfile`: variables get the input."""
        lines = [line.strip() for line in (input_.given or "").splitlines() if line.strip()]
        values = list(dict.fromkeys([*lines, *(word for line in lines for word in line.split())]))
        names = [word for word in words[1:] if word.isidentifier()]
        for name in names or ["REPLY" if words[0] == "read" else "MAPFILE"]:
            self.variables[name] = _limit(values or [PART])

    def print(self, words: list[str], _input: Input) -> None:
        """Run `printf -v name layout values`."""
        if words[1:2] == ["-v"] and len(words) > 3:
            self._assign(words[2], [outputs.predict_output("printf", ["printf", *words[3:]], None, self)])

    def alias(self, words: list[str], _input: Input) -> None:
        """Run `alias x=y`."""
        for word in words[1:]:
            name, equals, value = word.partition("=")
            if equals:
                self.aliases[name] = value

    def make_folders(self, words: list[str], _input: Input) -> None:
        """Run `mkdir`: the folder exists from here on."""
        for word in words[1:]:
            for folder in self.folders:
                path = joined(folder, word)
                while path not in self.made and len(path) > 1 and len(self.made) < MOST_STEPS:
                    self.made.add(path)
                    path = os.path.dirname(path)

    def trap(self, words: list[str], _input: Input) -> None:
        """Run `trap 'text' EXIT`."""
        if len(words) > 2:
            self.walk_text(words[1], via=("trap",))

    def expand(self, word: Word) -> list[str]:
        """Expand a word into all its words; an unquoted value is split."""
        if len(word) == 1 and word[0].kind == "text":
            part = word[0]
            return [part.value if part.is_quoted else self._expand_home(part.value)]
        words: list[str] = []
        for parts in _expand_braces(word):
            words += self._join_parts(parts, splits=True)
        return _limit(words)

    def expand_unsplit(self, word: Word, *, is_input: bool = False) -> list[str]:
        """Return the values of a word without splitting, as in an assignment."""
        values = self._join_parts(word, splits=False)
        return values[:1] if is_input else values

    def _expand_home(self, text: str) -> str:
        if text.startswith("~"):
            home = self.variables.get("HOME", [PART])[0]
            name, slash, rest = text[1:].partition("/")
            if not name:
                return home + slash + rest
            if name == "+":
                return self.folders[0] + slash + rest
            if (
                name
                == (self.variables.get("USER") or self.variables.get("LOGNAME") or [os.path.basename(home)])[
                    0
                ]
            ):
                return home + slash + rest
        return text

    def _join_parts(self, parts: list[Part], *, splits: bool) -> list[str]:
        """Join the parts in all combinations; unquoted values are split."""
        texts = [""]
        is_empty = True
        for number, part in enumerate(parts):
            values = self._expand_part(part, is_first=not number)
            if part.kind in ("text", "brace", "process") or part.is_quoted:
                is_empty = False
            elif splits:
                values = [self._split(value) for value in values]
            if len(texts) * len(values) > MOST_VALUES:
                raise TooMuchError("its variables have too many values")
            texts = [old + value for old in texts for value in values]
        if not splits:
            return texts
        words = [word for text in texts for word in (text.split(BREAK) if BREAK in text else [text])]
        words = (
            [word for word in dict.fromkeys(words) if word] if any(BREAK in text for text in texts) else words
        )
        return [] if is_empty and not any(words) and parts else words

    def _split(self, value: str) -> str:
        """Mark the places where the shell splits a value."""
        for letter in self.variables.get("IFS", [SEPARATORS])[0] or "":
            value = value.replace(letter, BREAK)
        return value

    def _expand_part(self, part: Part, *, is_first: bool) -> list[str]:
        if part.kind in ("text", "brace"):
            return [self._expand_home(part.value) if is_first and not part.is_quoted else part.value]
        if part.kind == "commands":
            folders, variables = self.folders, dict(self.variables)
            printed = self.walk_nodes(part.commands, Input()).strip("\n") if part.commands else ""
            self.folders, self.variables = folders, variables
            if printed == PART and not part.is_quoted:
                return [MANY]
            return [printed]
        if part.kind == "process":
            printed = self.walk_nodes(part.commands, Input(is_piped=part.value == ">"))
            return [SAID + printed if part.value == "<" else f"/dev/fd/{PART}"]
        return self._expand_variable(part)

    def _expand_variable(self, part: Part) -> list[str]:
        name, operator = part.value, part.operator
        unknown = [PART if part.is_quoted and name not in ("@", "*") else MANY]
        argument = self._join_parts(part.argument, splits=False) if part.argument else [""]
        if name == "IFS" and name not in self.variables:
            return [" "]
        if name == "PWD":
            values: list[str] | None = list(self.folders)
        else:
            values = self.variables.get(name)
        if operator in (":-", "-", ":=", "="):
            return [*(values or []), *argument]
        if operator in (":+", "+"):
            return [*argument, ""]
        if name in ("#", "?", "$", "!", "-"):
            return ["0"]
        if values is None:
            # Unset, so empty: a given environment is complete.
            return unknown if not self._is_unset(name) else [""]
        if operator in ("", "?", ":?", "@"):
            return values
        if operator == "!":
            return [value for named in values for value in self.variables.get(named, unknown)]
        pattern = argument[0]
        if operator in ("#", "##") and not any(mark in pattern for mark in MARKS):
            return [value.removeprefix(pattern) for value in values]
        if operator in ("%", "%%") and not any(mark in pattern for mark in MARKS):
            return [value.removesuffix(pattern) if "*" not in pattern else PART for value in values]
        if operator in ("/", "//"):
            old, _, new = pattern.partition("/")
            return [value.replace(old, new) for value in values]
        if operator in ("^", "^^", ",", ",,"):
            return [*values, *(value.upper() if "^" in operator else value.lower() for value in values)]
        return [*values, *unknown]

    def _is_unset(self, name: str) -> bool:
        return name in ("@", "*") and self.depth == 1 and not self._calls


class Input:
    """The standard input of commands, and the wrappers around them."""

    __slots__ = ("given", "is_piped", "via")

    def __init__(self, given: str | None = None, is_piped: bool = False, via: tuple[str, ...] = ()) -> None:  # noqa: FBT001, FBT002
        self.given, self.is_piped, self.via = given, is_piped, via


# The mark before the text of `<(…)`, which names a file with that text.
SAID = "/dev/fd/63" + ONE
BUILTINS: dict[str, Callable[[Walk, list[str], Input], None]] = {
    **dict.fromkeys(("cd", "pushd", "chdir", "set-location", "sl"), Walk.change_folder),
    "popd": Walk.return_to_folder,
    **dict.fromkeys(("export", "local", "declare", "typeset", "readonly"), Walk.export),
    "set": Walk.set,
    **dict.fromkeys(("read", "mapfile", "readarray"), Walk.read),
    "printf": Walk.print,
    "alias": Walk.alias,
    "mkdir": Walk.make_folders,
    "trap": Walk.trap,
}


def joined(folder: str, path: str) -> str:
    """Join a path to a folder, without `.` and `..`; marks stay."""
    if path.startswith("/proc/"):
        parts = path.split("/")
        if len(parts) > 3 and parts[3] in ("cwd", "root"):
            path = "/".join((folder if parts[3] == "cwd" else "", *parts[4:])) or "/"
    if path.startswith(PART) and not path.startswith(PART + "/"):
        return path
    return os.path.normpath(os.path.join(folder, path)) if path else folder


def quote(words: Iterable[str]) -> str:
    """Quote words as a text that a shell reads as these words."""
    return " ".join(quoting.quote(word) for word in words)


def _merge_folders(*lists: list[str]) -> list[str]:
    folders = list(dict.fromkeys(folder for some in lists for folder in some))
    if len(folders) > MOST_FOLDERS:
        raise TooMuchError("it changes the folder too often")
    return folders


def _limit(values: list[str]) -> list[str]:
    if len(values) > MOST_VALUES:
        raise TooMuchError("its variables have too many values")
    return values


def _ends_script(node: Node) -> bool:
    """Whether a command ends the script."""
    if node.kind in ("group", "subshell"):
        return any(_ends_script(inner) for inner in node.bodies[0])
    words = ["".join(part.value for part in word) for word in node.words[:1]]
    return words[:1] in (["exit"], ["return"], ["continue"], ["break"])


def _expand_braces(word: Word) -> list[list[Part]]:
    """Expand a word with `{a,b}` into its words."""
    if not any(part.kind == "brace" and part.value == "{" for part in word):
        return [word]
    done: list[list[Part]] = []
    waiting = [list(word)]
    while waiting:
        if len(done) + len(waiting) > MOST_VALUES:
            raise TooMuchError("its braces expand to too many words")
        parts = waiting.pop(0)
        spread = _expand_brace(parts)
        if spread is None:
            done.append(parts)
        else:
            waiting += spread
    return done


def _expand_brace(parts: list[Part]) -> list[list[Part]] | None:
    """Split one `{a,b}`, the innermost of the first; None without one."""
    opens: list[int] = []
    for number, part in enumerate(parts):
        if part.kind != "brace":
            continue
        if part.value == "{":
            opens.append(number)
        elif part.value == "}" and opens:
            start = opens.pop()
            inside = parts[start + 1 : number]
            commas = [at for at, piece in enumerate(inside) if piece.kind == "brace" and piece.value == ","]
            before, after = parts[:start], parts[number + 1 :]
            if commas:
                edges = [-1, *commas, len(inside)]
                return [
                    [*before, *inside[a + 1 : b], *after]
                    for a, b in zip(edges[:-1], edges[1:], strict=True)  # noqa: RUF007  (itertools costs a dispatch)
                ]
            texts = "".join(piece.value for piece in inside)
            if ".." in texts:
                return [[*before, *_expand_range(texts, part), *after]]
    return None


def _expand_range(text: str, part: Part) -> list[Part]:
    kind = type(part)
    first, _, last = text.partition("..")
    return [kind("text", STAR if first != last else first)]
