"""Patterns that people wrote: an answer or a reason, in bounded time, from whichever engine there is."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import hookport
from hookport.runtime import patterns
from hookport.runtime.patterns import can_explode, search

SOURCE = Path(hookport.__file__).parent.parent
ADVICE = "Write it without repeats inside repeats, or `pip install hookport[re2]`."

# RE2 takes none of these, so that Python's engine runs them whatever is installed.
EXPLOSIVE = {
    r"(?=a)(a+)+$": "a" * 40 + "b",
    r"(?!x)(a|aa)+$": "a" * 60 + "b",
    r"(a*)*\1b": "a" * 40,
    r"(?=(a+)+$)b": "a" * 40 + "c",
    r"(?!x).*.*.*.*=z": "a" * 3000,
}

AMBIGUOUS = (r"(a+)+$", r"(a|aa)+$", r"(a|a)*$", r"(a*)*", r"\s*\s*x", r".*.*=", r"(x+x+)+y", r"(\w+)\s\1")
MANY_CHOICES = ("a?" * 30 + "a" * 30, r"(?:a?){30}a{30}", r"(a{1,50}){1,50}$", r"(?:.*a){12}", r"(?:-a?a?)*x")
HARMLESS = (
    *("Bash|Edit|Write", r"\brm\b", r"rm\s+-rf?\b.*", r"(foo|bar)+", r"^mcp__.*__(read|write).*$"),
    *(r"(?:\w+\.)+com", r"^(?:[a-z]+-)*[a-z]+$", r"(?:\d{1,3}\.){3}\d{1,3}", r'"(?:\\.|[^"\\])*"', r"\.env$"),
)


def in_thread(pattern: str, text: str, seconds: float) -> bool | str:
    found: list[bool | str] = []
    thread = threading.Thread(target=lambda: found.append(search(pattern, text, seconds=seconds)))
    thread.start()
    thread.join(60)
    return found[0]


def without_packages(code: str) -> Any:
    """What the code prints as JSON, in an interpreter that has no RE2."""
    done = subprocess.run(
        [sys.executable, "-S", "-c", f"import json\nfrom hookport.runtime.patterns import *\n{code}"],
        env={"PYTHONPATH": str(SOURCE), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        check=True,
        timeout=60,
    )
    return json.loads(done.stdout)


@pytest.mark.parametrize("pattern", EXPLOSIVE)
def test_a_pattern_that_would_run_for_years_is_stopped(pattern: str) -> None:
    text = EXPLOSIVE[pattern]
    expected = f"the pattern '{pattern}' took more than 0.1 s on {len(text)} characters. {ADVICE}"
    assert search(pattern, text, seconds=0.1) == expected
    assert in_thread(pattern, text, 0.1) == expected


def test_a_pattern_is_stopped_where_re2_is_not_installed() -> None:
    code = "print(json.dumps([search('(a+)+$', 'a' * 40 + 'b'), search('(a+)+$', 'a' * 40)]))"
    expected = f"the pattern '(a+)+$' took more than 0.25 s on 41 characters. {ADVICE}"
    assert without_packages(code) == [expected, True]


@pytest.mark.parametrize("ask", [search, in_thread])
def test_a_pattern_that_could_explode_and_does_not_is_decided(ask: Any) -> None:
    options = {"seconds": 30.0}
    assert ask(r"(?=a)(a+)+$", "aaaa", **options) is True
    assert ask(r"(?=a)(a+)+$", "aaab", **options) is False
    assert ask(r"(?=\ud800)(.+)+$", "\ud800x", **options) is True


def test_a_long_text_is_searched_in_a_process_that_can_be_killed() -> None:
    pattern = r"(?=x)x*y"
    assert search(pattern, "x" * 200_000, seconds=0.1) == (
        f"the pattern '{pattern}' took more than 0.1 s on 200000 characters. {ADVICE}"
    )
    assert search(pattern, "z" * 200_000 + "xy", seconds=30) is True


def test_a_text_too_long_for_backtracking_is_left_undecided() -> None:
    assert search(r"(?=x)(x+)+y", "x" * 2_000_000) == (
        f"the pattern '(?=x)(x+)+y' could take too long on 2000000 characters. {ADVICE}"
    )
    assert search(r"(?=x)x+y", "-" * 2_000_000 + "xxy", seconds=30) is True
    assert search(r"(?!x)needle", "-" * 2_000_000 + "needle") is True


def test_a_pattern_is_stopped_where_alarms_are_blocked() -> None:
    former = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM})
    try:
        assert isinstance(search(r"(?=a)(a+)+$", "a" * 40 + "b", seconds=0.1), str)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, former)


def test_the_timer_and_the_handler_of_others_come_back() -> None:
    rang: list[int] = []

    def ring(number: int, _: object) -> None:
        rang.append(number)

    former = signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, 1000, 500)
        assert isinstance(search(r"(?=a)(a+)+$", "a" * 40 + "b", seconds=0.05), str)
        left, interval = signal.setitimer(signal.ITIMER_REAL, 0.05)
        assert (900 < left < 1000, interval, signal.getsignal(signal.SIGALRM)) == (True, 500, ring)

        assert isinstance(search(r"(?=a)(a+)+$", "a" * 40 + "b", seconds=0.3), str)
        end = time.monotonic() + 30
        while not rang and time.monotonic() < end:
            time.sleep(0.01)
        assert rang == [signal.SIGALRM]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, former)


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("(", "missing ), unterminated subpattern"),
        ("[a", "unterminated character set"),
        ("*a", "nothing to repeat"),
    ],
)
def test_what_is_no_pattern_is_said(pattern: str, reason: str) -> None:
    assert search(pattern, "a") == f"the pattern '{pattern}' is not a valid regular expression: {reason}"
    assert can_explode(pattern) is False


def test_a_reason_shows_the_beginning_of_a_long_pattern() -> None:
    assert search("(" + "a" * 500, "a") == (
        f"the pattern '({'a' * 78}…' is not a valid regular expression: missing ), unterminated subpattern"
    )


@pytest.mark.parametrize("pattern", [*AMBIGUOUS, *MANY_CHOICES, *EXPLOSIVE])
def test_patterns_that_can_explode(pattern: str) -> None:
    assert can_explode(pattern) is True


@pytest.mark.parametrize("pattern", HARMLESS)
def test_patterns_that_cannot(pattern: str) -> None:
    assert can_explode(pattern) is False


SPELLINGS = (
    (r"^rm$", "rm", True),
    (r"^rm$", "rm\n", False),
    (r"(?m)^rm$", "x\nrm\ny", True),
    (r"\$HOME$", "echo $HOME", True),
    (r"[$]x", "$x", True),
    (r"rm\Z", "rm\n", False),
    (r"rm\z", "rm", True),
    (r"\\z", r"\z", True),
    (r"\\Z", r"\Z", True),
    (r"(?<tool>Ba)sh", "Bash", True),
    (r"(?<quote>['\"])x\k<quote>", "'x'", True),
    (r"(?<!a)b", "ab", False),
    (r"\Qa.b\E+", "a.bb", True),
    (r"\Qa.b", "axb", False),
    (r"[[:alpha:]]+[^[:space:]]", "ab", True),
    (r"^[[:digit:]_]+$", "1_2", True),
    (r"[[:digit:]]", ":", False),
    (r"\x{41}\x42", "AB", True),
    (r"^a{,2}$", "aa", True),
    (r"^a{,2}$", "aaa", False),
    (r"^\w+$", "é", False),
    (r"(?i)été", "ÉTÉ", True),
    (r"[[a]", "[", True),
    (r"a/b", "a/b", True),
    (r"a\/b", "a/b", True),
)


@pytest.mark.parametrize(("pattern", "text", "expected"), SPELLINGS)
def test_spellings_of_other_engines(pattern: str, text: str, expected: bool) -> None:
    assert search(pattern, text) is expected


def test_spellings_of_other_engines_without_re2() -> None:
    cases = [(pattern, text) for pattern, text, _ in SPELLINGS]
    code = f"print(json.dumps([search(*case) for case in json.loads({json.dumps(cases)!r})]))"
    assert without_packages(code) == [expected for *_, expected in SPELLINGS]


ATOMS = st.sampled_from(["a", "b", "-", ".", "[ab]", "[^a]", r"\w", r"\d", r"(?:\b)a", "(?:^)a"])
QUANTIFIERS = st.sampled_from(["", "", "*", "+", "?", "{2}", "{1,3}", "{2,}", "*?"])


def sequences(atoms: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.lists(st.tuples(atoms, QUANTIFIERS).map("".join), min_size=1, max_size=3).map("".join)


PATTERNS = st.recursive(
    sequences(ATOMS),
    lambda inner: sequences(
        ATOMS | st.lists(inner, min_size=1, max_size=3).map(lambda some: f"(?:{'|'.join(some)})")
    ),
    max_leaves=6,
)
TEXTS = st.text(alphabet="ab-1\n_ é", max_size=20)


@given(PATTERNS, TEXTS)
def test_patterns_that_cannot_explode_are_matched_as_python_does(pattern: str, text: str) -> None:
    if not can_explode(pattern):
        expected = re.search(pattern, text, re.ASCII) is not None
        assert search(pattern, text, seconds=30) is expected


@given(PATTERNS, st.sampled_from(["a" * 26, "ab" * 13, "a-" * 13, "aab-" * 7]))
def test_patterns_that_cannot_explode_do_not(pattern: str, text: str) -> None:
    if not can_explode(pattern):
        compiled = patterns._compile(pattern + "!")
        assert not isinstance(compiled, str)
        # An explosion is one of 2**26 steps and more.
        assert patterns._search_in_time(compiled, text, seconds=20) in {True, False}


@given(st.text(alphabet=r"ab()[]{}*+?|\^$.,-:=!<>PQEimsxz12 é", max_size=12), st.text(max_size=12))
def test_anything_gets_an_answer_or_a_reason(pattern: str, text: str) -> None:
    assert isinstance(search(pattern, text, seconds=5), (bool, str))
    assert isinstance(can_explode(pattern), bool)


class TestRe2:
    @pytest.fixture(autouse=True)
    def installed(self) -> None:
        pytest.importorskip("re2")

    @pytest.mark.parametrize(
        ("pattern", "text", "expected"),
        [
            (r"(a+)+$", "a" * 40 + "b", False),
            (r"(a|aa)+$", "a" * 60 + "b", False),
            (r".*.*.*=z", "a" * 2_000_000, False),
            (r"\p{Lu}+", "É", True),
        ],
    )
    def test_what_explodes_elsewhere_is_decided(self, pattern: str, text: str, expected: bool) -> None:
        assert search(pattern, text) is expected

    def test_half_a_surrogate_pair_is_left_to_python(self) -> None:
        assert search("a+", "\ud800aa") is True

    @given(PATTERNS, TEXTS)
    def test_both_engines_agree(self, pattern: str, text: str) -> None:
        linear, compiled = patterns._compile_re2(pattern + "$"), patterns._compile(pattern + "$")
        assert linear is not None
        assert not isinstance(compiled, str)
        if not can_explode(pattern):
            assert (linear.search(text.encode()) is None) is (compiled.search(text) is None)
