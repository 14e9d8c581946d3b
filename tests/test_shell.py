"""`hookport.shell`: what a text starts, compared with bash; no text is too odd or too long for it."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hookport import shell
from hookport.runtime import effects, ordered_effects
from hookport.shell import DEEP, MANY, PART, STAR, Command, outputs, printers
from hookport.shell.syntax import parse

BASH = shutil.which("bash")
needs_bash = pytest.mark.skipif(os.name == "nt" or not BASH, reason="bash is asked")
PIECES = st.sampled_from(
    [
        *(
            "a",
            "b c",
            "'",
            '"',
            "\\",
            "$",
            "$(",
            ")",
            "(",
            "`",
            "{",
            "}",
            "${x:-",
            "$((",
            "))",
            "<<E\n",
            "\nE\n",
        ),
        *(
            "|",
            "||",
            "&&",
            ";",
            ";;",
            "&",
            ">",
            ">>",
            "<",
            "<(",
            ">(",
            "2>&1",
            "<<<",
            "#",
            "\n",
            " ",
            "\t",
            "=",
            "x=",
        ),
        *(
            "if ",
            "then ",
            "fi",
            "for x in ",
            "do ",
            "done",
            "case x in ",
            "esac",
            "while ",
            "function ",
            "[[ ",
            " ]]",
        ),
        *(
            "sudo ",
            "xargs ",
            "sh -c ",
            "eval ",
            "find . -exec ",
            "cd ",
            "*",
            "?",
            "[a]",
            "~",
            "\0",
            "\1",
            "é",
            "!",
        ),
    ]
)


def words(text: str) -> list[tuple[str, ...]]:
    return [command.words for command in shell.read(text, cwd="/p", variables={"HOME": "/h"}).commands]


def test_what_a_command_is() -> None:
    reading = shell.read("cd src && echo 'rm a' | sudo sh >out 2>>err <in", cwd="/p")
    piped = Command(("sh",), ("out", "err"), ("in",), is_piped=True, folders=("/p/src",), via=("sudo",))
    assert reading == shell.Reading(
        (
            Command(("cd", "src"), folders=("/p",)),
            Command(("echo", "rm a"), folders=("/p/src",), said="rm a"),
            piped,
        )
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a 'b c' d\\ e \"f $g\"", [("a", "b c", "d e", f"f {PART}")]),
        ("a <<X > b\nrm c\nX\nd", [("a",), ("d",)]),
        ("a && b || c & d # e", [("a",), ("b",), ("c",), ("d",)]),
        ("a\\\nb", [("ab",)]),
        ("rm {a,b/{c,d}}", [("rm", "a", "b/c", "a", "b/d")]),
        ("x=rm; $x -f y", [("rm", "-f", "y")]),
        ("rm${IFS}-f${IFS}y", [("rm", "-f", "y")]),
        ("IFS=,; x=rm,-f,y; $x", [("rm", "-f", "y")]),
        ('rm $unknown "$unknown" *.c', [("rm", MANY, PART, f"{STAR}.c")]),
        ("for f in a b; do rm $f; done", [("rm", "a", "b")]),
        ('f() { rm "$1"; }; f a', [("rm", "a")]),
        ("echo a b | xargs -n1 rm", [("echo", "a", "b"), ("rm", "a", "b")]),
        (
            "find d -name '*.c' -exec rm {} \\;",
            [("find", "d", "-name", "*.c", "-exec", "rm", "{}", ";"), ("rm", f"d/{DEEP}{STAR}.c")],
        ),
        ("sudo -u x env A=1 timeout 5 rm a", [("rm", "a")]),
        ("rm ~/a", [("rm", "/h/a")]),
        ("case x in a|b) rm y;; *) ls;; esac", [("rm", "y"), ("ls",)]),
    ],
)
def test_words(text: str, expected: list[tuple[str, ...]]) -> None:
    assert words(text) == expected


@pytest.mark.parametrize(
    "text", ["echo 'a", 'echo "a', "echo $(a", "echo `a", "(a", "if a; then b", "a <", ")", "case x in"]
)
def test_what_is_not_whole_has_a_problem(text: str) -> None:
    assert shell.read(text).problem


@pytest.mark.parametrize("text", ["( " * 200, "$(" * 200, "a " * 60_000, "a;" * 30_000, "x" * 1_000_001])
def test_what_is_not_read_is_told(text: str) -> None:
    assert shell.read(text).is_cut


@given(st.lists(PIECES, max_size=40).map("".join))
@settings(max_examples=400, deadline=None)
def test_nothing_raises(text: str) -> None:
    shell.read(text, cwd="/p")


@given(st.text(max_size=300))
@settings(deadline=None)
def test_no_text_raises(text: str) -> None:
    shell.read(text, cwd="/p")


class Counted(str):
    """A text that counts how often it is asked for a letter."""

    __slots__ = ("reads",)
    reads: int

    def __getitem__(self, key: object) -> str:
        self.reads = getattr(self, "reads", 0) + 1
        return str.__getitem__(self, key)  # type: ignore[index]


@pytest.mark.parametrize(
    "piece",
    ["a ", "'a' ", '"$x" ', "$(a) ", "${x:-a} ", "a|", "a;", "{a,b} ", "`a` ", "$((1)) ", "<<E\nb\nE\n", "("],
)
def test_reading_takes_time_in_proportion(piece: str) -> None:
    def reads(count: int) -> int:
        text = Counted(piece * count)
        parse(text)
        return text.reads

    assert reads(2_000) <= 2.2 * reads(1_000) + 1_000


@needs_bash
@given(
    st.lists(
        st.sampled_from(
            [
                "a",
                "'b c'",
                '"d e"',
                "\\f",
                "$'g\\x41'",
                "{h,i}j",
                "k\\\nl",
                '"m\\"n"',
                "''",
                "o'p'q",
                "--r=s",
                "~+",
                "u#v",
            ]
        ),
        min_size=1,
        max_size=6,
    )
)
@settings(max_examples=60, deadline=None)
def test_words_are_those_of_bash(some: list[str]) -> None:
    text = "printf '<%s>' x " + " ".join(some)
    done = subprocess.run(
        [str(BASH), "-c", text], capture_output=True, text=True, check=True, cwd="/", timeout=30
    )
    read = shell.read(text, cwd="/").commands[0].words[2:]
    assert "".join(f"<{word}>" for word in read) == done.stdout


@needs_bash
@given(st.lists(PIECES, max_size=12).map("".join).filter(lambda text: not {"\0", "`"} & set(text)))
@settings(max_examples=60, deadline=None)
def test_what_bash_can_read_has_no_problem(text: str) -> None:
    done = subprocess.run(
        [str(BASH), "-n"], input=text.encode(), capture_output=True, check=False, timeout=30
    )
    if done.returncode == 0 and not done.stderr:
        assert parse(text)[1] == ""


@needs_bash
def test_programs_are_those_that_bash_starts(tmp_path: Path) -> None:
    """Each program writes its words down; what bash started was read before."""
    tool = tmp_path / "tool"
    tool.write_text('#!/bin/sh\nprintf "%s\\n" "$*" >> "$SEEN"\n')
    tool.chmod(0o755)
    texts = [
        "for x in 1 2; do tool a$x; done",
        "x=3; tool $x; (tool 4); { tool 5; }",
        "if tool 6; then tool 7; fi",
        "echo 8 9 | xargs tool",
        "sh -c 'tool \"$1\"' x 10",
        "eval 'tool' 11",
        'f() { tool "$@"; }; f 12 13',
        "case a in a) tool 14;; esac",
        "sh <<E\ntool 15\nE",
        "echo $(tool 16) `tool 17`",
        "find . -maxdepth 0 -exec tool 18 \\;",
        "while tool 19; do break; done",
        'read -r x <<< 20; tool "$x"',
        "tool {21,22}; env A=1 nice tool 23",
    ]
    seen = tmp_path / "seen"
    env = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "SEEN": str(seen)}
    for text in texts:
        seen.write_text("")
        subprocess.run(
            [str(BASH), "-c", text], env=env, cwd=tmp_path, check=True, capture_output=True, timeout=30
        )
        started = {word for line in seen.read_text().splitlines() for word in line.split()}
        read = {
            word
            for command in shell.read(text).commands
            if command.program == "tool"
            for word in command.words[1:]
        }
        assert (text, started - read) == (text, set())
        assert started


@pytest.mark.parametrize(
    ("table", "functions"),
    [(outputs.PRINTERS, printers), (effects.ORDERED, ordered_effects)],
    ids=["printers", "effects"],
)
def test_each_function_in_a_table_exists(table: dict[str, str], functions: ModuleType) -> None:
    """They are looked up by name, so that they are imported for their programs alone."""
    assert {name for name in table.values() if not callable(getattr(functions, name, None))} == set()
