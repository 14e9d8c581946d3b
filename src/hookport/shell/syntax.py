"""The grammar of the shell: a text becomes a tree of commands, in time linear in its length.

It covers POSIX shells and bash. It never raises: if a text ends in the middle of something, the tree has what
came before, and `problem` names what is missing.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

# Marks for text that only the shell knows: any number of words, a part of one word; any letters but `/` of an
# existing file, one such letter, any path below a folder.
MANY, PART, STAR, ONE, DEEP = "\0", "\1", "\2", "\3", "\4"
MARKS = MANY + PART + STAR + ONE + DEEP
DEEPEST, MOST_WORDS = 40, 50_000
BLANKS = " \t\r"
ENDS_WORD = " \t\r\n;&|()<>"
PLAIN_ENDS = frozenset(ENDS_WORD + "\\'\"$`*?[{},~=" + MARKS)
NAME_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
SPECIAL_NAMES = "@*#?!$-0123456789"
ESCAPES = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "a": "\a",
    "b": "\b",
    "e": "\x1b",
    "E": "\x1b",
    "f": "\f",
    "v": "\v",
}
HEXADECIMAL = "0123456789abcdefABCDEF"


class Part:
    """A piece of a word: `text`, `brace`, `variable`, `commands` or `process`."""

    __slots__ = ("argument", "commands", "is_quoted", "kind", "operator", "value")

    def __init__(self, kind: str, value: str = "", *, is_quoted: bool = False) -> None:
        self.kind, self.value, self.is_quoted = kind, value, is_quoted
        self.operator = ""
        self.argument: list[Part] = []
        self.commands: list[Node] = []


Word = list[Part]


class Redirection:
    """`<`, `>`, `>>`, `<>`, `<<`, `<<<` with its target; that of `<<` is the text that follows."""

    __slots__ = ("number", "operator", "word")

    def __init__(self, operator: str, word: Word, number: str = "") -> None:
        self.operator, self.word, self.number = operator, word, number


class Node:
    """A command: `simple`, or a compound whose bodies are lists of nodes.

    `pipeline` has its commands in `bodies`, one each; `operator` precedes a node in its list.
    """

    __slots__ = ("assignments", "bodies", "kind", "name", "operator", "redirections", "words")

    def __init__(self, kind: str) -> None:
        self.kind, self.operator, self.name = kind, "", ""
        self.words: list[Word] = []
        self.assignments: list[tuple[str, list[Word], bool]] = []
        self.redirections: list[Redirection] = []
        self.bodies: list[list[Node]] = []


class UnreadError(ValueError):
    """The text is nested more deeply, or has more words, than a person writes."""


class Parser:
    """Reads one text from its beginning to its end."""

    def __init__(self, text: str, depth: int = 0) -> None:
        self.text, self.at, self.depth = text, 0, depth
        self.problem = ""
        self._words = 0
        self._waiting: list[tuple[Redirection, str, bool, bool]] = []

    def read_all(self) -> list[Node]:
        """Parse every command of the text."""
        nodes: list[Node] = []
        while True:
            nodes += self.read_commands(())
            if self.at >= len(self.text):
                return nodes
            self._note_problem(f"'{self.text[self.at]}' is unexpected")
            self.at += 1

    def _note_problem(self, problem: str) -> None:
        self.problem = self.problem or problem

    def _enter(self) -> None:
        self.depth += 1
        if self.depth > DEEPEST:
            raise UnreadError("it is nested too deeply")

    def _skip(self, *, lines: bool) -> None:
        """Skip blanks and comments, and with `lines` the ends of lines."""
        text = self.text
        while self.at < len(text):
            char = text[self.at]
            if char in BLANKS:
                self.at += 1
            elif char == "\\" and text.startswith("\\\n", self.at):
                self.at += 2
            elif char == "#":
                end = text.find("\n", self.at)
                self.at = len(text) if end < 0 else end
            elif char == "\n" and lines:
                self._read_newline()
            else:
                return

    def _read_newline(self) -> None:
        self.at += 1
        waiting, self._waiting = self._waiting, []
        for redirection, end, is_quoted, strips in waiting:
            self._read_document(redirection, end, is_quoted=is_quoted, strips=strips)

    def _read_document(self, redirection: Redirection, end: str, *, is_quoted: bool, strips: bool) -> None:
        text, lines = self.text, []
        while self.at < len(text):
            until = text.find("\n", self.at)
            until = len(text) if until < 0 else until
            line = text[self.at : until]
            self.at = until + 1
            bare = line.lstrip("\t") if strips else line
            # Without its end marker, a document reaches to the end of its substitution.
            if bare == end or bare.rstrip("\r") == end or bare.rstrip(") \t") == end != bare:
                if bare != end and ")" in bare:
                    self.at = until - (len(bare) - len(end))
                break
            lines.append(bare)
        self.at = min(self.at, len(text))
        body = "\n".join(lines) + "\n" * bool(lines)
        if is_quoted:
            redirection.word = [Part("text", body, is_quoted=True)]
        else:
            inner = Parser(body, self.depth)
            redirection.word = inner.read_quoted("")
            if inner.problem:
                self._note_problem(inner.problem)

    def _peek_word(self) -> str:
        """Peek at the word at this place, if nothing in it is quoted or computed."""
        text, end = self.text, self.at
        while end < len(text) and end - self.at < 16 and text[end] not in ENDS_WORD:
            end += 1
        return text[self.at : end]

    def read_commands(self, ends: Sequence[str]) -> list[Node]:
        """Parse commands up to one of the words or signs that end this list."""
        nodes: list[Node] = []
        operator = ""
        while True:
            self._skip(lines=True)
            if self.at >= len(self.text):
                break
            char = self.text[self.at]
            if char == ")" or (char == ";" and self.text.startswith((";;", ";&"), self.at)):
                break
            if char in ";&|":
                self._note_problem(f"'{char}' is unexpected")
                self.at += 1
                continue
            if self._peek_word() in ends:
                break
            start = self.at
            node = self._read_pipeline()
            node.operator = operator
            nodes.append(node)
            operator = self._read_operator()
            if self.at == start:
                self.at += 1
        return nodes

    def _read_operator(self) -> str:
        self._skip(lines=False)
        for sign in ("&&", "||", ";;", ";&"):
            if self.text.startswith(sign, self.at):
                if sign[0] != ";":
                    self.at += 2
                return sign
        if self.text.startswith((";", "&", "\n"), self.at):
            sign = self.text[self.at]
            if sign == "\n":
                self._read_newline()
            else:
                self.at += 1
            return sign
        return ""

    def _read_pipeline(self) -> Node:
        commands: list[list[Node]] = []
        while True:
            self._skip(lines=bool(commands))
            while self._peek_word() in ("!", "time", "coproc", "-p") and self.at < len(self.text):
                self.at += len(self._peek_word())
                self._skip(lines=False)
            commands.append([self._read_command()])
            self._skip(lines=False)
            if not self.text.startswith("|", self.at) or self.text.startswith("||", self.at):
                break
            self.at += 2 if self.text.startswith("|&", self.at) else 1
        if len(commands) == 1:
            return commands[0][0]
        node = Node("pipeline")
        node.bodies = commands
        return node

    def _read_command(self) -> Node:
        self._enter()
        word = self._peek_word()
        if self.text.startswith("((", self.at) and (end := self._find_arithmetic_end(self.at + 2)) >= 0:
            node = Node("simple")
            node.words = [[Part("text", "((", is_quoted=True)], self._read_arithmetic(self.at + 2, end)]
            self.at = end + 2
        elif self.text.startswith("(", self.at):
            self.at += 1
            node = Node("subshell")
            node.bodies = [self.read_commands(())]
            self._close(")")
        elif word in COMPOUNDS:
            self.at += len(word)
            node = COMPOUNDS[word](self)
        else:
            node = self._read_simple()
        if node.kind not in ("simple", "function"):
            self._read_redirections(node)
        self.depth -= 1
        return node

    def _close(self, sign: str) -> None:
        self._skip(lines=True)
        if self.text.startswith(sign, self.at) and (sign == ")" or self._peek_word() == sign):
            self.at += len(sign)
        else:
            self._note_problem(f"'{sign}' is missing")

    def _read_redirections(self, node: Node) -> None:
        while True:
            self._skip(lines=False)
            if not self._read_redirection(node):
                return

    def read_if(self) -> Node:
        """Parse `if … fi`, after its first word."""
        node = Node("if")
        node.bodies.append(self.read_commands(("then",)))
        self._close("then")
        while True:
            node.bodies.append(self.read_commands(("elif", "else", "fi")))
            word = self._peek_word()
            if word not in ("elif", "else"):
                break
            self.at += len(word)
            if word == "elif":
                node.bodies.append(self.read_commands(("then",)))
                self._close("then")
        self._close("fi")
        return node

    def read_while(self) -> Node:
        """Parse `while … done`, after its first word."""
        node = Node("while")
        node.bodies.append(self.read_commands(("do",)))
        self._close("do")
        node.bodies.append(self.read_commands(("done",)))
        self._close("done")
        return node

    def read_for(self) -> Node:
        """Parse `for … done`, after its first word."""
        node = Node("for")
        self._skip(lines=False)
        if self.text.startswith("((", self.at):
            end = self._find_arithmetic_end(self.at + 2)
            if end >= 0:
                self._read_arithmetic(self.at + 2, end)
                self.at = end + 2
        else:
            node.name = self._peek_word()
            self.at += len(node.name)
            self._skip(lines=True)
            if self._peek_word() == "in":
                self.at += 2
                while True:
                    self._skip(lines=False)
                    if self.at >= len(self.text) or self.text[self.at] in ";\n&|)":
                        break
                    before = self.at
                    node.words.append(self.read_word())
                    if self.at == before:
                        self.at += 1
            else:
                variable = Part("variable", "@", is_quoted=True)
                node.words = [[variable]]
        self._skip(lines=True)
        if self.text.startswith(";", self.at):
            self.at += 1
        self._skip(lines=True)
        closing = "done"
        if self._peek_word() == "{":
            self.at, closing = self.at + 1, "}"
        else:
            self._close("do")
        node.bodies = [self.read_commands((closing,))]
        self._close(closing)
        return node

    def read_case(self) -> Node:
        """Parse `case … esac`, after its first word."""
        node = Node("case")
        self._skip(lines=False)
        node.words = [self.read_word()]
        self._close("in")
        while True:
            self._skip(lines=True)
            if self.at >= len(self.text) or self._peek_word() == "esac":
                break
            before = self.at
            if self.text[self.at] == "(":
                self.at += 1
            while True:
                self._skip(lines=False)
                node.words.append(self.read_word())
                self._skip(lines=False)
                if not self.text.startswith("|", self.at):
                    break
                self.at += 1
            self._close(")")
            node.bodies.append(self.read_commands(("esac",)))
            for sign in (";;&", ";;", ";&"):
                if self.text.startswith(sign, self.at):
                    self.at += len(sign)
                    break
            if self.at == before:
                break
        self._close("esac")
        return node

    def read_function(self) -> Node:
        """Parse `function name …`, after its first word."""
        self._skip(lines=False)
        name = self._peek_word()
        self.at += len(name)
        self._skip(lines=False)
        if self.text.startswith("(", self.at):
            self.at += 1
            self._close(")")
        return self._read_function_body(name)

    def _read_function_body(self, name: str) -> Node:
        node = Node("function")
        node.name = name
        self._skip(lines=True)
        node.bodies = [[self._read_command()]]
        return node

    def read_group(self) -> Node:
        """Parse `{ … }`, after its first sign."""
        node = Node("group")
        node.bodies = [self.read_commands(("}",))]
        self._close("}")
        return node

    def read_test(self) -> Node:
        """Parse `[[ … ]]`, in which `<`, `>`, `&&`, `||` and parentheses are words."""
        node = Node("simple")
        node.words = [[Part("text", "[[", is_quoted=True)]]
        while self.at < len(self.text):
            self._skip(lines=True)
            if self._peek_word() == "]]":
                self.at += 2
                self._read_redirections(node)
                return node
            before = self.at
            word = self.read_word()
            if self.at == before:
                self.at += 1
            elif word:
                node.words.append(word)
        self._note_problem("']]' is missing")
        return node

    def _read_simple(self) -> Node:
        node = Node("simple")
        while True:
            self._skip(lines=False)
            if self.at >= len(self.text):
                break
            if self._read_redirection(node):
                continue
            char = self.text[self.at]
            if char == "(" and len(node.words) == 1 and not node.assignments:
                name = _join_literal(node.words[0])
                start = self.at
                self.at += 1
                self._skip(lines=False)
                if self.text.startswith(")", self.at):
                    self.at += 1
                    return self._read_function_body(name)
                self.at = start
            if char in "\n;&|()":
                break
            name, appends = self._read_assigned_name() if not node.words else ("", False)
            if name:
                node.assignments.append((name, self._read_values(), appends))
            else:
                # `declare x=(…)` and the like
                word = self.read_word()
                node.words.append(word)
                if self.text.startswith("(", self.at) and _join_literal(word).endswith("="):
                    node.assignments.append((_join_literal(word)[:-1], self._read_values(), False))
        return node

    def _read_assigned_name(self) -> tuple[str, bool]:
        """Consume the assigned name at this place; return it, and whether with `+=`."""
        text, end = self.text, self.at
        while end < len(text) and text[end] in NAME_LETTERS:
            end += 1
        name = text[self.at : end]
        if not name or name[0].isdigit():
            return "", False
        if text.startswith("[", end):
            close = text.find("]", end, end + 200)
            end = close + 1 if close >= 0 else end
        appends = text.startswith("+=", end)
        if not appends and not text.startswith("=", end):
            return "", False
        self.at = end + 1 + appends
        return name, appends

    def _read_values(self) -> list[Word]:
        if not self.text.startswith("(", self.at):
            return [self.read_word()]
        self.at += 1
        words: list[Word] = []
        while True:
            self._skip(lines=True)
            if self.at >= len(self.text) or self.text[self.at] == ")":
                break
            before = self.at
            words.append(self.read_word())
            if self.at == before:
                self.at += 1
        self._close(")")
        return words

    def _read_redirection(self, node: Node) -> bool:
        text, start = self.text, self.at
        end = start
        while end < len(text) and text[end].isdigit() and end - start < 5:
            end += 1
        if text.startswith("{", start):
            close = text.find("}", start, start + 40)
            if (
                close > start + 1
                and text.startswith(("<", ">"), close + 1)
                and text[start + 1 : close].isidentifier()
            ):
                end = close + 1
        if text.startswith(("&>>", "&>"), start):
            self.at += 3 if text.startswith("&>>", start) else 2
            return self._read_target(node, ">", "")
        if not text.startswith(("<", ">"), end) or text.startswith(("<(", ">("), end):
            return False
        operator = next(sign for sign in REDIRECTIONS if text.startswith(sign, end))
        self.at = end + len(operator)
        return self._read_target(node, operator, text[start:end])

    def _read_target(self, node: Node, operator: str, number: str) -> bool:
        self._skip(lines=False)
        start = self.at
        word = self.read_word()
        if self.at == start:
            self._note_problem(f"what follows '{operator}' is missing")
            return True
        redirection = Redirection(operator, word, number)
        if operator in ("<<", "<<-"):
            raw = self.text[start : self.at]
            is_quoted = any(sign in raw for sign in "'\"\\")
            self._waiting.append((redirection, _join_literal(word), is_quoted, operator == "<<-"))
            redirection.word = []
        elif operator in (">&", "<&"):
            target = _join_literal(word)
            if target.rstrip("-").isdigit() or target == "-":
                return True
            redirection.operator = ">" if operator == ">&" else "<"
        node.redirections.append(redirection)
        return True

    def read_word(self) -> Word:
        """Parse one word; empty if none starts."""
        text, parts = self.text, []
        letters: list[str] = []
        self._words += 1
        if self._words > MOST_WORDS:
            raise UnreadError("it has too many words")

        def end() -> None:
            if letters:
                parts.append(Part("text", "".join(letters)))
                letters.clear()

        while self.at < len(text):
            char = text[self.at]
            if char in ENDS_WORD:
                if text.startswith(("<(", ">("), self.at):
                    end()
                    parts.append(self._read_process())
                    continue
                # `@(a|b)` and the other patterns of bash
                if char == "(" and letters and letters[-1][-1:] in (STAR, ONE, "@", "+", "!"):
                    start = self.at
                    if self._skip_pattern():
                        # It replaces the sign before it and the brackets together.
                        names = text[start + 1 : self.at - 1].split("|")
                        is_hidden = letters[-1][-1:] != "!" and any(name.startswith(".") for name in names)
                        letters[-1] = letters[-1][:-1]
                        letters.append("." + STAR if is_hidden else STAR)
                        continue
                break
            if char == "'":
                end()
                parts.append(Part("text", self._read_quoted(), is_quoted=True))
            elif char == '"' or text.startswith('$"', self.at):
                end()
                self.at += 1 if char == '"' else 2
                parts.append(Part("text", "", is_quoted=True))
                parts += self.read_quoted('"')
            elif char == "\\":
                if not text.startswith("\\\n", self.at):
                    end()
                    parts.append(Part("text", text[self.at + 1 : self.at + 2], is_quoted=True))
                self.at += 2
            elif text.startswith("$'", self.at):
                end()
                parts.append(self._read_escaped())
            elif char in "$`":
                end()
                parts.append(self._read_expansion(is_quoted=False))
            elif char in "{,}":
                end()
                parts.append(Part("brace", char))
                self.at += 1
            elif char in "*?[":
                letters.append(self._read_glob(char))
            else:
                start = self.at
                self.at += 1
                while self.at < len(text) and text[self.at] not in PLAIN_ENDS:
                    self.at += 1
                letters.append(text[start : self.at])
        end()
        return parts

    def _read_glob(self, char: str) -> str:
        self.at += 1
        if char == "*":
            return STAR
        if char == "?":
            return ONE
        close = self.text.find("]", self.at + 1, self.at + 80)
        inside = self.text[self.at : close] if close >= 0 else ""
        if not inside or any(sign in inside for sign in ENDS_WORD + "'\"`$/"):
            return "["
        self.at = close + 1
        return inside if len(inside) == 1 and inside not in "!^" else ONE

    def _skip_pattern(self) -> bool:
        close = self.text.find(")", self.at, self.at + 200)
        if close < 0 or any(sign in self.text[self.at + 1 : close] for sign in "\n;&<>$`"):
            return False
        self.at = close + 1
        return True

    def _read_quoted(self) -> str:
        start = self.at + 1
        end = self.text.find("'", start)
        if end < 0:
            self._note_problem("a ' is missing")
            end = len(self.text)
        self.at = min(end + 1, len(self.text))
        return self.text[start:end]

    def _read_escaped(self) -> Part:
        """Parse `$'…'`."""
        text, letters = self.text, []
        self.at += 2
        while self.at < len(text) and text[self.at] != "'":
            if text[self.at] != "\\":
                start = self.at
                while self.at < len(text) and text[self.at] not in "'\\":
                    self.at += 1
                letters.append(text[start : self.at])
                continue
            value, self.at = unescape(text, self.at)
            letters.append(value)
        if self.at >= len(text):
            self._note_problem("a ' is missing")
        self.at += 1
        return Part("text", remove_marks("".join(letters)), is_quoted=True)

    def read_quoted(self, closing: str) -> Word:
        """Parse the content of double quotes, or of a here-document, which has no closing quote."""
        text, parts = self.text, []
        letters: list[str] = []
        while self.at < len(text):
            char = text[self.at]
            if char == closing:
                break
            if char == "\\" and self.at + 1 < len(text) and text[self.at + 1] in '$`"\\\n':
                if text[self.at + 1] != "\n":
                    letters.append(text[self.at + 1])
                self.at += 2
            elif char in "$`":
                if letters:
                    parts.append(Part("text", "".join(letters), is_quoted=True))
                    letters = []
                parts.append(self._read_expansion(is_quoted=True))
            else:
                start = self.at
                self.at += 1
                while self.at < len(text) and text[self.at] not in '"\\$`':
                    self.at += 1
                letters.append(text[start : self.at])
        if letters:
            parts.append(Part("text", "".join(letters), is_quoted=True))
        if closing and self.at >= len(text):
            self._note_problem(f"a {closing} is missing")
        self.at += bool(closing)
        return parts

    def _read_expansion(self, *, is_quoted: bool) -> Part:
        self._enter()
        try:
            return self._read_expansion_here(is_quoted=is_quoted)
        finally:
            self.depth -= 1

    def _read_expansion_here(self, *, is_quoted: bool) -> Part:
        text = self.text
        if text[self.at] == "`":
            return self._read_backticks(is_quoted=is_quoted)
        if text.startswith("$((", self.at) and (end := self._find_arithmetic_end(self.at + 3)) >= 0:
            part = Part("variable", "", is_quoted=is_quoted)
            part.argument = self._read_arithmetic(self.at + 3, end)
            self.at = end + 2
            return part
        if text.startswith("$(", self.at):
            self.at += 2
            part = Part("commands", is_quoted=is_quoted)
            part.commands = self.read_commands(())
            self._close(")")
            return part
        if text.startswith("${", self.at):
            return self._read_braced(is_quoted=is_quoted)
        end = self.at + 1
        if text[end : end + 1] and text[end] in SPECIAL_NAMES:
            end += 1
        else:
            while end < len(text) and text[end] in NAME_LETTERS:
                end += 1
        name = text[self.at + 1 : end]
        self.at = end
        return Part("variable" if name else "text", name or "$", is_quoted=is_quoted or not name)

    def _read_backticks(self, *, is_quoted: bool) -> Part:
        text, letters = self.text, []
        self.at += 1
        while self.at < len(text) and text[self.at] != "`":
            if text[self.at] == "\\" and text[self.at + 1 : self.at + 2] in ("`", "\\", "$"):
                self.at += 1
            letters.append(text[self.at : self.at + 1])
            self.at += 1
        if self.at >= len(text):
            self._note_problem("a ` is missing")
        self.at += 1
        inner = Parser("".join(letters), self.depth)
        part = Part("commands", is_quoted=is_quoted)
        part.commands = inner.read_all()
        if inner.problem:
            self._note_problem(inner.problem)
        return part

    def _read_process(self) -> Part:
        self._enter()
        part = Part("process", self.text[self.at], is_quoted=True)
        self.at += 2
        part.commands = self.read_commands(())
        self._close(")")
        self.depth -= 1
        return part

    def _read_braced(self, *, is_quoted: bool) -> Part:
        """Parse `${name}`, `${name[@]}`, `${name:-word}` and similar expansions."""
        text = self.text
        self.at += 2
        part = Part("variable", is_quoted=is_quoted)
        if text.startswith(("!", "#"), self.at) and not text.startswith(("!}", "#}"), self.at):
            part.operator = text[self.at]
            self.at += 1
        start = self.at
        if text[start : start + 1] and text[start] in SPECIAL_NAMES and text[start] not in "0123456789":
            self.at += 1
        while self.at < len(text) and text[self.at] in NAME_LETTERS:
            self.at += 1
        part.value = text[start : self.at]
        if text.startswith("[", self.at):
            close = text.find("]", self.at, self.at + 200)
            if close >= 0:
                self.at = close + 1
        start = self.at
        while self.at < len(text) and text[self.at] in ":-+=?#%/^,@" and self.at - start < 2:
            self.at += 1
        part.operator += text[start : self.at]
        part.argument = self._read_argument()
        return part

    def _read_argument(self) -> Word:
        text, parts = self.text, []
        while self.at < len(text) and text[self.at] != "}":
            char = text[self.at]
            if char == "'":
                parts.append(Part("text", self._read_quoted(), is_quoted=True))
            elif char == '"':
                self.at += 1
                parts += self.read_quoted('"')
            elif char == "\\":
                parts.append(Part("text", text[self.at + 1 : self.at + 2], is_quoted=True))
                self.at += 2
            elif char in "$`":
                parts.append(self._read_expansion(is_quoted=False))
            else:
                start = self.at
                self.at += 1
                while self.at < len(text) and text[self.at] not in "}'\"\\$`":
                    self.at += 1
                parts.append(Part("text", text[start : self.at]))
        if self.at >= len(text):
            self._note_problem("a } is missing")
        self.at += 1
        return parts

    def _find_arithmetic_end(self, start: int) -> int:
        """Find the `))` that closes an arithmetic expression here; -1 if it is a subshell."""
        depth, text = 0, self.text
        for at in range(start, min(len(text), start + 2_000)):
            if text[at] == "(":
                depth += 1
            elif text[at] == ")":
                if not depth:
                    return at if text.startswith("))", at) else -1
                depth -= 1
            elif text[at] in "\n;" and text[at] == "\n":
                return -1
        return -1

    def _read_arithmetic(self, start: int, end: int) -> Word:
        """Parse the expansions of an arithmetic expression, because they run."""
        inner = Parser(self.text[start:end], self.depth)
        expansions = [part for part in inner.read_quoted("") if part.kind != "text"]
        if inner.problem:
            self._note_problem(inner.problem)
        return expansions


COMPOUNDS = {
    "if": Parser.read_if,
    "while": Parser.read_while,
    "until": Parser.read_while,
    "for": Parser.read_for,
    "select": Parser.read_for,
    "case": Parser.read_case,
    "function": Parser.read_function,
    "{": Parser.read_group,
    "[[": Parser.read_test,
}
REDIRECTIONS = ("<<<", "<<-", "<<", "<>", "<&", "<", ">>", ">|", ">&", ">")
_TRANSLATED = {ord(MANY): None, **dict.fromkeys(map(ord, (PART, STAR, DEEP)), ONE)}


def remove_marks(text: str) -> str:
    """Remove the letters that serve as marks from a text."""
    return text if text.isprintable() else text.translate(_TRANSLATED)


def _join_literal(word: Word) -> str:
    return "".join(part.value for part in word if part.kind in ("text", "brace"))


def unescape(text: str, at: int) -> tuple[str, int]:
    """Read the letter of a backslash escape, and where it ends."""
    letter = text[at + 1 : at + 2]
    if letter in ESCAPES and letter:
        return ESCAPES[letter], at + 2
    if letter and letter in "xuU":
        most = {"x": 2, "u": 4, "U": 8}[letter]
        end = at + 2
        while end < min(len(text), at + 2 + most) and text[end] in HEXADECIMAL:
            end += 1
        code = int(text[at + 2 : end] or "0", 16)
        return (chr(code) if 0 < code < 0x110000 else "", end) if end > at + 2 else (f"\\{letter}", end)
    if letter and letter in "01234567":
        end = at + 1
        while end < min(len(text), at + 4 + (letter == "0")) and text[end] in "01234567":
            end += 1
        return chr(int(text[at + 1 : end], 8) & 0xFF) if int(text[at + 1 : end], 8) & 0xFF else "", end
    if letter == "c":
        return "", at + 3
    return letter if letter in ("\\", "'", '"', "?") else f"\\{letter}", at + 2


def parse(text: str) -> tuple[list[Node] | None, str]:
    """Parse a text into commands and a problem; no list of commands if nothing could be parsed."""
    parser = Parser(text)
    try:
        return parser.read_all(), parser.problem
    except UnreadError as error:
        return None, str(error)
