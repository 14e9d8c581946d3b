"""The scripts of new hooks, in three languages; each answers in its own dialect."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, NamedTuple

from hookport.base.quoting import quote
from hookport.base.tree import Tree
from hookport.model.runs import Answer

# `guard` stops inputs with a certain word, `gate` stops an agent from ending once, `context` gives the agent
# context, `observe` decides nothing.
Kind = Literal["guard", "gate", "context", "observe"]

TEMPLATES = Path(__file__).parent / "templates"
# Each language with its file extension.
LANGUAGES = {"sh": "sh", "python": "py", "node": "js"}


class ScriptPart(NamedTuple):
    """The content of a script: the answer, and the event's field and the word that it depends on."""

    kind: Kind
    answer: Answer
    path: tuple[str, ...] = ()
    word: str = ""


def fill_template(template: str, words: Mapping[str, str]) -> str:
    """Fill the `@MARKS@` of a template."""
    text = (TEMPLATES / f"{template}.txt").read_text("utf-8")
    for mark, word in words.items():
        text = text.replace(f"@{mark}@", word)
    return text


def write_script(lang: str, part: ScriptPart, name: str, description: str) -> str:
    """Write the text of a script."""
    body = {"sh": _write_shell, "python": _write_python, "node": _write_node}[lang](part)
    return fill_template(f"run.{LANGUAGES[lang]}", {"NAME": name, "DESCRIPTION": description, "BODY": body})


def find_path(tree: Tree, value: object) -> tuple[str, ...]:
    """Find the keys that lead to a value, or to a text that contains it; empty if there are none."""
    if not isinstance(tree, dict):
        return ()
    for key, below in tree.items():
        if below is value or (isinstance(value, str) and isinstance(below, str) and value in below):
            return (key,)
        if rest := find_path(below, value):
            return (key, *rest)
    return ()


def _list_outputs(answer: Answer) -> list[tuple[str, str]]:
    streams = (("out", answer.stdout), ("err", answer.stderr))
    return [(stream, text.rstrip("\n")) for stream, text in streams if text.strip()]


def _write_shell(part: ScriptPart) -> str:
    lines = [
        f"printf '%s\\n' {quote(text)}{' >&2' * (to == 'err')}" for to, text in _list_outputs(part.answer)
    ]
    lines += [f"exit {part.answer.exit_code}"] if part.answer.exit_code else []
    if part.kind == "guard":
        return _join_lines("case $input in", f"*{quote(part.word)}*)", *_indent(lines), "  ;;", "esac")
    if part.kind == "gate":
        return _join_lines(
            'case $(printf %s "$input" | tr -d " ") in',
            f"*'\"{part.path[-1]}\":true'*) ;; # a hook already kept it from ending: let it end",
            "*)",
            *_indent(lines),
            "  ;;",
            "esac",
        )
    return _join_lines(*lines)


def _write_python(part: ScriptPart) -> str:
    lines = [
        f"print({json.dumps(text)}{', file=sys.stderr' * (to == 'err')})"
        for to, text in _list_outputs(part.answer)
    ]
    lines += [f"sys.exit({part.answer.exit_code})"] if part.answer.exit_code else []
    keys = ", ".join(map(json.dumps, part.path))
    if part.kind == "guard":
        return _join_lines(f"if {json.dumps(part.word)} in str(field({keys})):", *_indent(lines, 4))
    if part.kind == "gate":
        comment = "# If a hook already kept the agent from ending, let it end."
        return _join_lines(comment, f"if field({keys}) is not True:", *_indent(lines, 4))
    return _join_lines(*lines)


def _write_node(part: ScriptPart) -> str:
    lines = [
        f"console.{'error' if to == 'err' else 'log'}({json.dumps(text)});"
        for to, text in _list_outputs(part.answer)
    ]
    lines += [f"process.exitCode = {part.answer.exit_code};"] if part.answer.exit_code else []
    keys = ", ".join(map(json.dumps, part.path))
    if part.kind == "guard":
        condition = f"String(field({keys})).includes({json.dumps(part.word)})"
        return _join_lines(f"if ({condition}) {{", *_indent(lines), "}")
    if part.kind == "gate":
        comment = "// If a hook already kept the agent from ending, let it end."
        return _join_lines(comment, f"if (field({keys}) !== true) {{", *_indent(lines), "}")
    return _join_lines(*lines)


def _indent(lines: list[str], width: int = 2) -> list[str]:
    return [" " * width + line for line in lines]


def _join_lines(*lines: str) -> str:
    return "\n".join(lines)
