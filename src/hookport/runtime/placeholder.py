"""The path of a call in a command: one word in every shell, whatever the path."""

from __future__ import annotations

import re

# The variable that the shell expands; a shell that the command starts inherits it.
FILE = "HOOKPORT_FILE"
VARIABLE = f"${{{FILE}}}"
# How the variable is written within each kind of quotes, and outside of quotes.
WITHIN = {'"': VARIABLE, "'": f"'\"{VARIABLE}\"'"}
OUTSIDE = f'"{VARIABLE}"'
# What precedes a text that another shell runs as a command.
_SHELL = re.compile(r"(?:^|[\s;&|(`/])(?:(?:ba|da|k|z)?sh(?:\s+-[\w-]+)*\s+-\w*c|eval)\s+$")
_COMMENT = re.compile(r"(?<![^\s;&|()])#[^\n]*")


def format_value(path: object) -> str:
    """Format the value of the variable: the path, never read as an option; empty for none."""
    text = path if isinstance(path, str) else ""
    return f"./{text}" if text.startswith("-") else text


def insert_variable(command: str, placeholder: str) -> str:
    """Insert the variable into a command in place of the placeholder."""
    out: list[str] = []
    # The open quotes and substitutions: `"`, `'`, `)` for `$(` and `(`, and a backtick.
    inside = [""]
    position = 0
    while position < len(command):
        quote = inside[-1] if inside[-1] in WITHIN else ""
        script = "" if quote else _find_script(command, position)
        if command.startswith(placeholder, position):
            piece = placeholder
            out.append(WITHIN.get(quote, OUTSIDE))
        elif script:
            piece = script
            out.append(script[0] + _rewrite_script(script[1:-1], script[0], placeholder) + script[0])
        else:
            piece = _read_token(command, position, quote)
            _track_quotes(inside, piece)
            out.append(piece)
        position += len(piece)
    return "".join(out)


def _read_token(command: str, position: int, quote: str) -> str:
    """Read one unit: an escape, the start of a substitution, a comment, or one character."""
    letter = command[position]
    if quote == "'":
        return letter
    if letter == "\\" or command.startswith("$(", position):
        return command[position : position + 2]
    comment = None if quote else _COMMENT.match(command, position)
    return comment[0] if comment else letter


def _track_quotes(inside: list[str], mark: str) -> None:
    """Track what a mark opens or closes; a backtick closes everything opened inside it."""
    top = inside[-1]
    if mark == top:
        inside.pop()
    elif top == "'":
        return
    elif mark == "`" in inside:
        del inside[inside.index("`") :]
    elif mark == "$(" or (mark == "(" and top == ")"):
        inside.append(")")
    elif mark in ('"', "`") or (mark == "'" and top != '"'):
        inside.append(mark)


def _find_script(command: str, position: int) -> str:
    """Find the quoted text that starts here, if another shell runs it as a command."""
    quote = command[position]
    if quote not in ('"', "'") or not _SHELL.search(command[:position]):
        return ""
    quoted = re.compile(r"'[^']*'" if quote == "'" else r'"(?:[^"\\`$]|\\.|\$(?!\())*"', re.DOTALL)
    match = quoted.match(command, position)
    return match[0] if match else ""


def _rewrite_script(script: str, quote: str, placeholder: str) -> str:
    """Rewrite a command for another shell, which receives the variable instead of its value."""
    if quote == "'":
        return insert_variable(script, placeholder)
    plain = insert_variable(script.replace('\\"', '"'), placeholder)
    return plain.replace('"', '\\"').replace(VARIABLE, f"\\{VARIABLE}")
