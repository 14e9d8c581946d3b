"""A command line as permission rules parse it: its simple commands as written, or why it is unclear.

The parser follows Claude Code 2.1.325 as measured (`tests/rules/`): what is unclear there is unclear here. It
does not show what runs, which `hookport.shell` does: a rule sees `sudo rm x` and `rm $HOME/x` as written, and
gives up where a shell would not. Of the 1,261 lines measured, rules leave 575 unclear. In 369 of the other
686, `hookport.shell`, which fills in variables and looks behind wrappers, finds the same commands.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

# A longer command is not parsed; 9,000 letters were, 12,000 were not.
MOST_LETTERS = 10_000
DEEPEST = 20


# In the text of a command, the placeholder for another's output.
FILLED = "$()"


class UnclearError(Exception):
    """A command line that is not parsed, and why."""


# The words that open a compound command, and the words inside one, with the word that opens it.
OPENING = ("if", "while", "until", "for", "(")
INSIDE = {
    **dict.fromkeys(("then", "elif", "else", "fi"), ("if",)),
    **dict.fromkeys(("do", "done"), ("while", "until", "for")),
    ")": ("(",),
}
CLOSING = ("fi", "done", ")")
UNREAD = ("case", "select", "function", "esac", "}")
OPERATORS = ("&&", "||", "|&", ";;", ";", "&", "|", "\n")
JOINING = ("&&", "||", "|&", "|")
ASSIGNED = re.compile(r"[A-Za-z_]\w*\+?=")
DECLARING = ("export", "declare", "typeset", "local", "readonly")
# Commands whose output leaves the rest of the line clear; commands that run others do not.
PLAIN = (
    *("aws", "basename", "cargo", "cat", "cp", "curl", "cut", "date", "dirname", "docker", "echo", "expr"),
    *("gh", "git", "go", "grep", "head", "hostname", "id", "jq", "kubectl", "ls", "make", "mktemp", "mv"),
    *(
        "nproc",
        "npm",
        "pip",
        "pwd",
        "readlink",
        "realpath",
        "rm",
        "sed",
        "seq",
        "sort",
        "ssh",
        "tail",
        "tput",
    ),
    *("tr", "true", "uname", "wc", "which", "whoami", "yarn"),
)
VARIABLE = re.compile(r"\$(?:\w+|[@*#?$!-])")
BLANK = re.compile(r"[ \t]+|\\\n|#[^\n]*")
HOME = re.compile(r"\$HOME\b")
SUM = re.compile(r"\$\(\([\d+\-*/% ]*\)\)")
BRACES = re.compile(r"\{[^{}\s]*(?:,|\.\.)[^{}\s]*\}")
REDIRECTION = re.compile(r"\d*(?:&>>?|<<<|>>|>\||>&|<&|>|<)")
# A here-document without expansion: at the end of a line, or as the whole of `$(cat …)`.
DOCUMENT = re.compile(r"<<-?[ \t]*(['\"])([^'\"\n]+)\1[ \t]*(?=\n|$)")
TEXT = re.compile(
    r"\$\(cat <<-?[ \t]*(['\"])([^'\"\n]+)\1[ \t]*\n(?:.*?\n)??[ \t]*\2[ \t]*\n?[ \t]*\)", re.DOTALL
)


class _Word:
    """One word; `raw` is its spelling. `is_variable`: it consists of one variable."""

    __slots__ = ("is_variable", "raw", "text")

    def __init__(self, raw: str, text: str, *, is_variable: bool) -> None:
        self.raw, self.text, self.is_variable = raw, text, is_variable


class Line:
    """The simple commands of a command line, as lists of words.

    `is_open`: some words are expanded when the command runs. Syntax unknown to this parser is unclear.
    """

    def __init__(self, text: str, depth: int = 0) -> None:
        self.text, self.at, self.depth = text, 0, depth
        self.commands: list[list[str]] = []
        self.is_open = False
        # The words of the current command; the compound commands around it, and whether one of them just
        # ended; whether a command must follow, is redirected, is negated, is the first.
        self.words: list[_Word] = []
        self.opened: list[str] = []
        self.is_closed = self.is_due = self.is_redirected = self.is_negated = False
        self.is_first = True
        # The number of commands, without nested ones; whether it is one simple command.
        self.count = 0
        self.is_plain = not depth or not re.search(r"""['"\\!]""", text)
        if depth > DEEPEST or len(text) > MOST_LETTERS:
            raise UnclearError("the command is too long or too deeply nested")
        if odd := re.search(r"[^\S \t\n]|[\0-\x08\x0e-\x1f]", text):
            raise UnclearError(f"the command contains the character {odd[0]!r}")
        self._read()

    def texts(self) -> Iterator[str]:
        """Each command with one blank between its words, without quotes."""
        for words in self.commands:
            yield " ".join(words)
            if words[0] == "xargs" and len(words) > 1 and not words[1].startswith("-"):
                yield " ".join(words[1:])
            if words[0] == "[":
                yield " ".join(("[[", *words[1:]))

    def _read(self) -> None:
        """Parse the text."""
        for sign in self._read_tokens():
            if isinstance(sign, _Word):
                self._take_word(sign)
            elif sign == "(":
                if self.words or self.is_closed:
                    raise UnclearError("the command contains brackets")
                self.opened.append(sign)
                self.is_due, self.is_first, self.is_plain = True, False, False
            else:
                self._take_end(sign)
        if self.opened or self.is_due:
            raise UnclearError("the command is incomplete")
        self.is_plain = self.is_plain and self.count < 2
        if self.is_open and not self.is_plain:
            raise UnclearError("the command contains expansions")

    def _take_word(self, sign: _Word) -> None:
        word = sign.text if sign.raw == sign.text else ""
        is_start = not self.words
        if self.is_closed or (is_start and (word in UNREAD or sign.raw.startswith("{"))):
            raise UnclearError(f"the command contains '{sign.raw}'")
        self.is_due, self.is_first = False, False
        if is_start and word == "!":
            self.is_due, self.is_negated, self.is_plain = True, True, False
        elif is_start and word in INSIDE:
            self._take_inside(word)
        elif is_start and word in OPENING:
            self.opened.append(word)
            self.is_due, self.is_plain = word != "for", False
            self.words += [sign] if word == "for" else []
        elif is_start and sign.is_variable:
            raise UnclearError("a command name is an expansion")
        else:
            self.words.append(sign)

    def _take_end(self, sign: str) -> None:
        """Take an operator, a closing bracket or the end of the text."""
        is_empty = not self.words and not self.is_closed
        self._keep_command()
        if self.is_due and sign != "\n":
            raise UnclearError("a command is missing")
        if is_empty and sign not in ("\n", "") and (self.is_first or sign != ";"):
            raise UnclearError("an operator has no command")
        if sign == ";;" or (sign in (";", "\n") and "(" in self.opened) or (sign == "&" and self.opened):
            raise UnclearError("the command contains several commands in brackets")
        self.is_redirected = False
        self.words.clear()
        self.is_closed = False
        if sign in INSIDE:
            self._take_inside(sign)
        elif sign in JOINING:
            self.is_due = True

    def _take_inside(self, word: str) -> None:
        """Take a word inside a compound command, which may close it."""
        if not self.opened or self.opened[-1] not in INSIDE[word]:
            raise UnclearError(f"'{word}' is outside its compound command")
        self.is_closed = word in CLOSING
        self.is_due = not self.is_closed
        if self.is_closed:
            self.opened.pop()

    def _keep_command(self) -> None:
        """Keep a simple command without the assignments before its name."""
        words = self.words
        if words and words[0].text == "for" == words[0].raw:
            return
        named = next((at for at, word in enumerate(words) if not ASSIGNED.match(word.raw)), len(words))
        if named == len(words) > 1 or any(re.match(r"\w+\[", word.raw) for word in words[: named + 1]):
            raise UnclearError("the command only sets variables")
        if named < len(words):
            self.commands.append([word.text for word in words[named:]])
            self.count += 1
            self.is_plain = self.is_plain and (not self.depth or words[named].text in PLAIN)

    def _read_tokens(self) -> Iterator[_Word | str]:
        """Yield words, operators and brackets; the empty text at the end."""
        text, documents = self.text, list[str]()
        while self.at < len(text):
            char = text[self.at]
            operator = next((sign for sign in OPERATORS if text.startswith(sign, self.at)), "")
            if blank := BLANK.match(text, self.at):
                if char == "#" and self.is_redirected:
                    raise UnclearError("a comment follows a redirection")
                self.at = blank.end()
            elif REDIRECTION.match(text, self.at):
                self._skip_redirection(documents)
            elif operator:
                self.at += len(operator)
                if operator == "\n":
                    self._skip_documents(documents)
                yield operator
            elif char in "()":
                if text.startswith("((", self.at):
                    raise UnclearError("the command contains arithmetic")
                self.at += 1
                yield char
            else:
                yield self._read_word()
        if documents:
            raise UnclearError("a here-document is not closed")
        yield ""

    def _skip_documents(self, documents: list[str]) -> None:
        """Skip the here-documents that start at this line."""
        for end in documents:
            match = re.compile(rf"^[ \t]*{re.escape(end)}[ \t]*$", re.MULTILINE).search(self.text, self.at)
            if match is None:
                raise UnclearError("a here-document is not closed")
            self.at = min(match.end() + 1, len(self.text))
        documents.clear()

    def _skip_redirection(self, documents: list[str]) -> None:
        text = self.text
        document = DOCUMENT.match(text, self.at)
        is_lone = (
            not (self.count or self.opened or self.is_closed or self.is_negated) and text.count("<<") == 1
        )
        if (document and not is_lone) or (self.words and self.words[0].text in ("[", "[[", *DECLARING)):
            raise UnclearError("the command contains an unsupported redirection")
        self.is_redirected, self.is_plain = True, False
        if document:
            documents.append(document[2])
            self.at = document.end()
            return
        match = REDIRECTION.match(text, self.at)
        assert match is not None  # noqa: S101  (it was looked for)
        self.at = match.end()
        while text[self.at : self.at + 1] in (" ", "\t"):
            self.at += 1
        if text[self.at : self.at + 1] in ("", "\n", "<", ">", "(", ")", ";", "&", "|", "-"):
            raise UnclearError("the command contains an unsupported redirection")
        start = self.at
        self._read_word()
        if "$" in text[start : self.at] or "`" in text[start : self.at]:
            raise UnclearError("a redirection target is an expansion")

    def _read_word(self) -> _Word:
        """Read the word at this place."""
        text, start, value = self.text, self.at, ""
        variable = VARIABLE.match(text, start)
        if variable and text[variable.end() : variable.end() + 1] in "\n \t;&|)" and variable[0] != "$HOME":
            self.at, self.is_open = variable.end(), True
            return _Word(variable[0], variable[0], is_variable=True)
        while self.at < len(text) and text[self.at] not in " \t\n;&|()<>":
            value += self._read_piece(start)
        return _Word(text[start : self.at], value, is_variable=False)

    def _read_piece(self, start: int) -> str:
        """Read one letter of the word that starts there, or a whole quoted part or expansion."""
        text, char = self.text, self.text[self.at]
        # An assignment, before the command's name or by the command.
        can_set = not self.words or self.words[0].text in DECLARING
        if char == "'":
            end = text.find("'", self.at + 1)
            if end < 0:
                raise UnclearError("a quote is not closed")
            quoted, self.at = text[self.at + 1 : end], end + 1
            return quoted
        if char == '"':
            return self._read_quoted(is_set=bool(can_set and ASSIGNED.match(text, start)))
        if char == "\\":
            self.at += 2
            following = text[self.at - 1 : self.at]
            if following in (" ", "\t", ""):
                raise UnclearError("a backslash escapes a blank")
            return following if following != "\n" else ""
        if char in "$`":
            if not self.words and not ASSIGNED.match(text, start):
                raise UnclearError("a command name is an expansion")
            return self._read_filled(is_open=not (can_set and ASSIGNED.fullmatch(text, start, self.at)))
        if BRACES.match(text, self.at):
            raise UnclearError("the command contains a brace expansion")
        self.at += 1
        return char

    def _read_quoted(self, *, is_set: bool) -> str:
        """Read the content of double quotes."""
        text, value = self.text, ""
        self.at += 1
        while self.at < len(text):
            char = text[self.at]
            if char == '"':
                self.at += 1
                return value
            if char == "\\":
                following = text[self.at + 1 : self.at + 2]
                value += following if following in '$`"\\\n' else char + following
                self.at += 2
            elif char in "$`":
                if is_set and not HOME.match(text, self.at):
                    raise UnclearError("a variable is set to an expansion")
                is_all = text[self.at - 1] == '"'
                value += self._read_filled(is_open=False)
                self.is_open |= is_all and text[self.at : self.at + 1] == '"' and value == FILLED
            else:
                value += char
                self.at += 1
        raise UnclearError("a quote is not closed")

    def _read_filled(self, *, is_open: bool) -> str:
        """Read an expansion: the output of other commands."""
        text = self.text
        for pattern in (TEXT, HOME, *(() if self.depth else (SUM,))):
            if plain := pattern.match(text, self.at):
                self.at = plain.end()
                return str(plain[0])
        if text[self.at] == "`":
            end = re.compile(r"(?:[^`\\]|\\.)*`", re.DOTALL).match(text, self.at + 1)
            if end is None:
                raise UnclearError("a backtick is not closed")
            inner = re.sub(r"\\([`\\$])", r"\1", end[0][:-1])
            self.at = end.end()
        elif text.startswith("$(", self.at) and not text.startswith("$((", self.at):
            start = self.at + 2
            self.at = self._find_end(start)
            inner = text[start : self.at - 1]
        elif re.match(r"\$[\w@*#?$!{\['\"(-]", text[self.at : self.at + 2]):
            raise UnclearError("the command contains variables")
        else:
            self.at += 1
            return "$"
        line = Line(inner, self.depth + 1)
        self.commands += line.commands
        self.is_open |= is_open
        self.is_plain = self.is_plain and line.is_plain
        return FILLED

    def _find_end(self, start: int) -> int:
        """Find the closing bracket."""
        at, depth = start, 1
        text = self.text
        while at < len(text):
            skipped = re.compile(r"'[^']*'|\\.|<<").match(text, at)
            if skipped and skipped[0] == "<<":
                raise UnclearError("a here-document is inside brackets")
            if skipped:
                at = skipped.end()
                continue
            depth += {"(": 1, ")": -1}.get(text[at], 0)
            at += 1
            if depth == 0:
                return at
        raise UnclearError("a bracket is not closed")
