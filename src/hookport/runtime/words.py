"""A shell command as the commands it is made of: their words, what they write, what is fed to them.

It is made for looking, not for running: what it does not understand is words, and nothing is left out.
"""

from __future__ import annotations

from hookport.model._value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_LETTERS = 200_000
ENDS = ";&|()\n`"
SPACE = " \t\r"


class Command(Value):
    """One simple command; `written` are the targets of its redirections, `body` is its here-document."""

    words: tuple[str, ...] = ()
    written: tuple[str, ...] = ()
    body: str = ""


class _Reader:
    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0
        self.words: list[str] = []
        self.written: list[str] = []
        self.nested: list[str] = []
        # Here-documents that start at the next line: the commands they are for, and what ends them.
        self.waiting: list[tuple[int, str]] = []
        self.found: list[Command] = []

    def all(self) -> list[Command]:
        text, end = self.text, len(self.text)
        word: list[str] | None = None
        target = ""
        while self.at < end:
            letter = text[self.at]
            if letter in SPACE or letter in ENDS or letter in "<>":
                word, target = self._ended(word, target)
            if letter in SPACE:
                self.at += 1
            elif letter == "#" and word is None:
                self.at = (text + "\n").find("\n", self.at)
            elif letter in ENDS:
                self._end(letter)
            elif letter in "<>":
                target = self._redirection()
            else:
                word = word or []
                word.append(self._piece())
        self._ended(word, target)
        self._end("")
        return self.found

    def _ended(self, word: list[str] | None, target: str) -> tuple[None, str]:
        if word is None:
            return None, target
        said = "".join(word)
        if target == ">":
            self.written.append(said)
        elif target == "<<":
            self.waiting.append((len(self.found), said))
        elif target != "<":
            self.words.append(said)
        return None, ""

    def _end(self, letter: str) -> None:
        """The end of a simple command."""
        # `&>FILE` ends nothing.
        if letter == "&" and self.text[self.at + 1 : self.at + 2] == ">":
            self.at += 1
            return
        self.at += 1
        if self.words or self.written or any(number == len(self.found) for number, _ in self.waiting):
            self.found.append(Command(tuple(self.words), tuple(self.written)))
            self.words, self.written = [], []
        if letter == "\n" and self.waiting:
            self._bodies()

    def _bodies(self) -> None:
        for number, end in self.waiting:
            lines: list[str] = []
            while self.at < len(self.text):
                until = self.text.find("\n", self.at)
                line = self.text[self.at : until if until >= 0 else len(self.text)]
                self.at += len(line) + 1
                if line.strip("\t") == end or line.strip() == end:
                    break
                lines.append(line)
            if number < len(self.found):
                self.found[number] = self.found[number].replace(body="\n".join(lines))
        self.waiting = []

    def _redirection(self) -> str:
        start = self.at
        while self.text[self.at : self.at + 1] in ("<", ">", "|") and self.at - start < 3:
            self.at += 1
        said = self.text[start : self.at]
        if self.words and self.words[-1].isdigit() and self.text[start - 1 : start].isdigit():
            self.words.pop()
        if said in ("<<<", "<"):
            return "<"
        if said == "<<":
            self.at += self.text[self.at : self.at + 1] == "-"
            return "<<"
        if self.text[self.at : self.at + 1] == "&":
            self.at += 1
            if self.text[self.at : self.at + 1] in ("-", *"0123456789"):
                self.at += 1
                return ""
        return ">"

    def _piece(self) -> str:
        """A quoted text, an escaped letter, or plain letters."""
        text, start = self.text, self.at
        letter = text[start]
        if letter == "\\":
            self.at += 2
            return "" if text[start + 1 : start + 2] == "\n" else text[start + 1 : start + 2]
        if letter == "'":
            end = text.find("'", start + 1)
            end = len(text) if end < 0 else end
            self.at = end + 1
            return text[start + 1 : end]
        if letter == '"':
            return self._quoted()
        if letter == "$" and text[start + 1 : start + 2] in ("'", '"'):
            self.at += 1
            return self._piece()
        while (
            self.at < len(text) and text[self.at] not in "\\'\"<> \t\r;&|()\n`" and self.at - start < 1 << 16
        ):
            if text[self.at] == "$" and self.at > start:
                break
            self.at += 1
        return text[start : self.at]

    def _quoted(self) -> str:
        said: list[str] = []
        self.at += 1
        start = self.at
        while self.at < len(self.text) and self.text[self.at] != '"':
            if self.text[self.at] == "\\" and self.text[self.at + 1 : self.at + 2] in (
                '"',
                "\\",
                "$",
                "`",
                "\n",
            ):
                self.at += 1
            said.append(self.text[self.at : self.at + 1])
            self.at += 1
        inside = self.text[start : self.at]
        self.at += 1
        if "$(" in inside or "`" in inside:
            self.nested.append("".join(said))
        return "".join(said)


def commands(text: str) -> list[Command]:
    """The simple commands of a text, those inside of substitutions too."""
    return list(_commands(text[:MOST_LETTERS], 0))


def _commands(text: str, depth: int) -> Iterator[Command]:
    reader = _Reader(text)
    yield from reader.all()
    for inside in reader.nested if depth < 3 else ():
        for mark in ("$(", "`"):
            for part in inside.split(mark)[1:]:
                yield from _commands(part, depth + 1)
