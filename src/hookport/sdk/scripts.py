"""The scripts of new hooks, in three languages; each answers in the words of the dialect it is made for."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

from hookport.model.runs import Answer

Tree = Any
# `guard` stops what has a word in it, `gate` stops an agent from ending once, `context` tells the agent
# something, `observe` only looks.
Kind = Literal["guard", "gate", "context", "observe"]

TEMPLATES = Path(__file__).parent / "templates"
# Each language with the ending of its files.
LANGUAGES = {"sh": "sh", "python": "py", "node": "js"}


class Part(NamedTuple):
    """What a script does: the answer, and the field of the event and the word that it depends on."""

    kind: Kind
    answer: Answer
    path: tuple[str, ...] = ()
    word: str = ""


def filled(template: str, words: Mapping[str, str]) -> str:
    """A template with words for its `@MARKS@`."""
    text = (TEMPLATES / f"{template}.txt").read_text("utf-8")
    for mark, word in words.items():
        text = text.replace(f"@{mark}@", word)
    return text


def script(lang: str, part: Part, name: str, description: str) -> str:
    """The text of a script."""
    body = {"sh": _shell, "python": _python, "node": _node}[lang](part)
    return filled(f"run.{LANGUAGES[lang]}", {"NAME": name, "DESCRIPTION": description, "BODY": body})


def way_to(tree: Tree, value: object) -> tuple[str, ...]:
    """The keys that lead to a value, or to the text that has it inside; none if nothing does."""
    if not isinstance(tree, dict):
        return ()
    for key, below in tree.items():
        if below is value or (isinstance(value, str) and isinstance(below, str) and value in below):
            return (key,)
        if rest := way_to(below, value):
            return (key, *rest)
    return ()


def _said(answer: Answer) -> list[tuple[str, str]]:
    streams = (("out", answer.stdout), ("err", answer.stderr))
    return [(stream, text.rstrip("\n")) for stream, text in streams if text.strip()]


def _shell(part: Part) -> str:
    lines = [f"printf '%s\\n' {_quoted(text)}{' >&2' * (to == 'err')}" for to, text in _said(part.answer)]
    lines += [f"exit {part.answer.exit_code}"] if part.answer.exit_code else []
    if part.kind == "guard":
        return _joined("case $input in", f"*{_quoted(part.word)}*)", *_indented(lines), "  ;;", "esac")
    if part.kind == "gate":
        return _joined(
            'case $(printf %s "$input" | tr -d " ") in',
            f"*'\"{part.path[-1]}\":true'*) ;; # it was kept from ending before, and must end",
            "*)",
            *_indented(lines),
            "  ;;",
            "esac",
        )
    return _joined(*lines)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _python(part: Part) -> str:
    lines = [
        f"print({json.dumps(text)}{', file=sys.stderr' * (to == 'err')})" for to, text in _said(part.answer)
    ]
    lines += [f"sys.exit({part.answer.exit_code})"] if part.answer.exit_code else []
    keys = ", ".join(map(json.dumps, part.path))
    if part.kind == "guard":
        return _joined(f"if {json.dumps(part.word)} in str(field({keys})):", *_indented(lines, 4))
    if part.kind == "gate":
        comment = "# It must end when it was kept from ending before."
        return _joined(comment, f"if field({keys}) is not True:", *_indented(lines, 4))
    return _joined(*lines)


def _node(part: Part) -> str:
    lines = [
        f"console.{'error' if to == 'err' else 'log'}({json.dumps(text)});" for to, text in _said(part.answer)
    ]
    lines += [f"process.exitCode = {part.answer.exit_code};"] if part.answer.exit_code else []
    keys = ", ".join(map(json.dumps, part.path))
    if part.kind == "guard":
        condition = f"String(field({keys})).includes({json.dumps(part.word)})"
        return _joined(f"if ({condition}) {{", *_indented(lines), "}")
    if part.kind == "gate":
        comment = "// It must end when it was kept from ending before."
        return _joined(comment, f"if (field({keys}) !== true) {{", *_indented(lines), "}")
    return _joined(*lines)


def _indented(lines: list[str], width: int = 2) -> list[str]:
    return [" " * width + line for line in lines]


def _joined(*lines: str) -> str:
    return "\n".join(lines)
