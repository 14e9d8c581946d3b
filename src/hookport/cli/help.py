"""The help of a command: description, usage, arguments, options and examples, within the terminal's width."""

from __future__ import annotations

import os
import sys
import textwrap
from argparse import SUPPRESS, Action
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hookport.cli.parser import Parser

WIDTH, WIDEST = 80, 100
# Of the column with the options; a longer one has its text on the next line.
WIDEST_NAME = 26
LEAST_TEXT = 24


def find_width() -> int:
    """Find how wide the help may be: the terminal, at most 100 columns, or 80 without one."""
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns):
        return min(int(columns), WIDEST)
    try:
        return min(os.get_terminal_size(sys.stdout.fileno()).columns or WIDTH, WIDEST)
    except (OSError, ValueError):
        return WIDTH


def format_command(parser: Parser, width: int) -> str:
    """Format the help of a command."""
    arguments = [action for action in parser._actions if not action.option_strings]  # noqa: SLF001
    options = [action for action in parser._actions if action.option_strings]  # noqa: SLF001
    # `--help` is first to the parser and last to the reader.
    options = [action for action in (*options[1:], options[0]) if action.help != SUPPRESS]
    sections = [
        _wrap(parser.summary, width),
        *(_wrap(paragraph, width) for paragraph in parser.about.split("\n\n") if paragraph.strip()),
        _wrap(f"Usage: {format_usage(parser)}", width, indent="  "),
        _format_section("Arguments", arguments, width),
        _format_section("Options", options, width),
        _format_examples(parser, width),
    ]
    return "\n\n".join(section for section in sections if section) + "\n"


def format_usage(parser: Parser) -> str:
    """Format the usage: required options stand beside the arguments, all others are `[OPTIONS]`."""
    required = [
        f"{action.option_strings[-1]} {action.metavar}"
        for action in parser._actions  # noqa: SLF001
        if action.option_strings and action.required
    ]
    arguments = [_name_argument(action) for action in parser._actions if not action.option_strings]  # noqa: SLF001
    return " ".join([parser.prog, "[OPTIONS]", *required, *arguments])


def _name_argument(action: Action) -> str:
    name = str(action.metavar or action.dest)
    many = "..." if action.nargs in ("*", "+") else ""
    return f"[{name}]{many}" if action.nargs in ("?", "*") else f"{name}{many}"


def _name_option(action: Action) -> str:
    """Name an option with its value; one without a short form is aligned with the long forms."""
    spelled = ", ".join(sorted(action.option_strings, key=len))
    spelled = f"    {spelled}" if spelled.startswith("--") else spelled
    return spelled if action.nargs == 0 else f"{spelled} {action.metavar}"


def _describe(action: Action) -> str:
    """Describe an action; its choices and its default follow from the parser."""
    parts = [action.help or ""]
    if action.choices:
        parts.append(f"[possible values: {', '.join(map(str, action.choices))}]")
    if action.nargs != 0 and isinstance(action.default, (str, int)) and action.default:
        parts.append(f"[default: {action.default}]")
    return " ".join(parts)


def _format_section(title: str, actions: Iterable[Action], width: int) -> str:
    rows = [
        (_name_option(action) if action.option_strings else _name_argument(action), _describe(action))
        for action in actions
    ]
    if not rows:
        return ""
    column = max(len(name) for name, _ in rows if len(name) <= WIDEST_NAME)
    return "\n".join([f"{title}:", *(line for row in rows for line in _format_row(*row, column, width))])


def _format_row(name: str, text: str, column: int, width: int) -> list[str]:
    """Format a row in two columns, or one below the other where it is narrow."""
    start = column + 4
    if width - start < LEAST_TEXT:
        return [f"  {name}", *_wrap_lines(text, width, " " * 6)]
    lines = _wrap_lines(text, width, " " * start)
    if len(name) > column:
        return [f"  {name}", *lines]
    return [f"  {name:{column}}  {lines[0].strip()}", *lines[1:]] if lines else [f"  {name}"]


def _format_examples(parser: Parser, width: int) -> str:
    examples = []
    for command, text in parser.examples.items():
        about = [f"  # {line}" for line in _wrap_lines(text, width - 4, "")]
        examples.append("\n".join([*about, f"  $ {command}"]))
    return "Examples:\n" + "\n\n".join(examples)


def _wrap(text: str, width: int, indent: str = "") -> str:
    return "\n".join(textwrap.wrap(" ".join(text.split()), max(width, 1), subsequent_indent=indent))


def _wrap_lines(text: str, width: int, indent: str) -> list[str]:
    return textwrap.wrap(
        text,
        max(width, len(indent) + 1),
        initial_indent=indent,
        subsequent_indent=indent,
        break_on_hyphens=False,
    )
