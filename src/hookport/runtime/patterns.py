r"""Patterns that people wrote, matched in bounded time. An undecided match is never "no match".

They follow RE2's rules, whichever engine runs: `$` is the end of the text, `\w` is ASCII.
"""

from __future__ import annotations

import re
from functools import lru_cache

from hookport.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from types import FrameType
    from typing import Any

    Node = tuple[Any, Any]

SECONDS = 0.25
_STEPS = 1_000_000  # of Python's engine: under 0.1 s
# The engine checks for signals every 4096 steps, and one step may read the whole text: 0.2 s late at most.
_INTERRUPTIBLE = 32 * 1024
_LONGEST = 1024 * 1024
_START_SECONDS = 5.0  # for another interpreter to start


class _OutOfTimeError(Exception):
    """One match took too long."""


def search(pattern: str, text: str, *, seconds: float = SECONDS) -> bool | str:
    """Whether the pattern matches somewhere in the text, or an explanation why that is unknown."""
    compiled, look = _compile(pattern), _look_at_pattern(pattern)
    # Without repeats both engines take linear time, and Python's is loaded already.
    if isinstance(compiled, str) or look is None or look.is_variable:
        linear = _compile_re2(pattern)
        data = _encode(text) if linear else None
        if linear and data is not None:
            return linear.search(data) is not None
    if isinstance(compiled, str):
        return f"{_quote_pattern(pattern)} is not a valid regular expression: {compiled}"
    result: bool | str | None = None
    if look and look.is_quick(len(text)):
        result = _search(compiled, text)
    elif len(text) > _LONGEST and (look is None or look.is_explosive):
        result = "could take too long"
    elif len(text) <= _INTERRUPTIBLE:
        result = _search_in_time(compiled, text, seconds=seconds)
    if result is None:
        result = _search_in_child(compiled, text, seconds=seconds)
    return (
        f"{_quote_pattern(pattern)} {result} on {len(text)} characters. {_ADVICE}"
        if isinstance(result, str)
        else result
    )


def can_explode(pattern: str) -> bool:
    """Whether a backtracking engine could take disproportionate time; some patterns are accused wrongly.

    Patterns that Python cannot parse do not count.
    """
    look = _look_at_pattern(pattern)
    return (look is None or look.is_explosive) and not isinstance(_compile(pattern), str)


def _quote_pattern(pattern: str) -> str:
    return f"the pattern '{pattern if len(pattern) <= 80 else pattern[:79] + '…'}'"


_ADVICE = "Write it without repeats inside repeats, or `pip install hookport[re2]`."


# Syntax of other engines that Python lacks: RE2's (github.com/google/re2/wiki/Syntax, as of release
# 2025-11-05) and ECMAScript's named groups.
_POSIX = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "ascii": r"\x00-\x7f",
    "blank": r"\t ",
    "cntrl": r"\x00-\x1f\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": r"!-/:-@\[-`{-~",
    "space": r"\t\n\v\f\r ",
    "upper": "A-Z",
    "word": r"\w",
    "xdigit": "0-9A-Fa-f",
}
_SPELLINGS = (
    r"\\Q(?P<literal>.*?)(?:\\E|\Z)",
    r"\\x\{(?P<code>[0-9A-Fa-f]{1,6})\}",
    r"\\k<(?P<back>\w+)>",
    r"(?P<escape>\\.)",
    r"(?P<set>\[\^?\]?(?:\\.|\[:\w+:\]|[^\]\\])*\])",
    r"\(\?<(?P<group>[A-Za-z_]\w*)>",
    r"\{,(?P<most>\d+)\}",
    r"(?P<end>\$)",
)
_SIGNS = (r"\Q", r"\x{", r"\k<", r"\z", "[:", "(?<", "{,", "$")
_IN_PYTHON: dict[str, Callable[[str], str]] = {
    "literal": re.escape,
    "code": lambda value: f"\\U{int(value, 16):08x}",
    "back": lambda value: f"(?P={value})",
    "escape": lambda value: r"\Z" if value == r"\z" else value,
    "set": lambda value: re.sub(r"\[:(\w+):\]", lambda match: _POSIX.get(match[1], match[0]), value),
    "group": lambda value: f"(?P<{value}>",
    "most": lambda value: f"{{0,{value}}}",
}


@lru_cache(maxsize=1)
def _compile_spellings() -> re.Pattern[str]:
    return re.compile("|".join(_SPELLINGS), re.DOTALL)  # 5 ms, for the few patterns that need it


def _spell_for_python(pattern: str) -> str:
    """Translate a pattern into Python's spelling."""
    signs = [sign for sign in _SIGNS if sign in pattern]
    if not signs:
        return pattern
    has_lines = re.search(r"(?<!\\)\(\?[a-zA-Z]*m", pattern) is not None
    if signs == ["$"] and not has_lines and pattern.find("$") == len(pattern) - 1 and pattern[-2:] != r"\$":
        return pattern[:-1] + r"\Z"
    written: dict[str, Callable[[str], str]] = {**_IN_PYTHON, "end": lambda _: "$" if has_lines else r"\Z"}
    return _compile_spellings().sub(
        lambda match: written[match.lastgroup or ""](match[match.lastgroup or 0]), pattern
    )


def _spell_for_re2(match: re.Match[str]) -> str:
    if match.lastgroup == "most":
        return f"{{0,{match['most']}}}"
    return r"\z" if match[0] == r"\Z" else match[0]


@lru_cache(maxsize=256)
def _compile(pattern: str) -> re.Pattern[str] | str:
    import warnings

    try:
        # Python warns of sets such as `[[a]`, which other engines read as it does.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            # With letters beyond ASCII in the pattern, `(?i)` must fold them.
            return re.compile(_spell_for_python(pattern), re.ASCII if pattern.isascii() else 0)
    except (re.error, ValueError, OverflowError, RecursionError) as error:
        return str(getattr(error, "msg", error))


@lru_cache(maxsize=256)
def _compile_re2(pattern: str) -> Any | None:  # noqa: ANN401  (the library has no types)
    """Compile a pattern with RE2, if it is installed and accepts the pattern."""
    try:
        import re2

        options = re2.Options()
    except (ImportError, AttributeError):  # other libraries of that name silently fall back to backtracking
        return None
    options.log_errors = False
    try:
        spelled = (
            _compile_spellings().sub(_spell_for_re2, pattern)
            if r"\Z" in pattern or "{," in pattern
            else pattern
        )
        return re2.compile(spelled.encode(), options)
    except (re2.error, UnicodeEncodeError):
        return None


def _encode(text: str) -> bytes | None:
    try:
        return text.encode()
    except UnicodeEncodeError:  # half a surrogate pair, which RE2 does not accept
        return None


def _search(compiled: re.Pattern[str], text: str) -> bool | str:
    try:
        return compiled.search(text) is not None
    except MemoryError:
        return "took too much memory"


def _search_in_time(compiled: re.Pattern[str], text: str, *, seconds: float) -> bool | str | None:
    """Search within the time; None if this thread cannot be interrupted."""
    import signal
    import time

    if not hasattr(signal, "setitimer") or signal.getsignal(signal.SIGALRM) is None:
        return None
    if signal.SIGALRM in signal.pthread_sigmask(signal.SIG_BLOCK, ()):
        return None
    seconds = max(seconds, 0.001)
    began = time.monotonic()
    is_armed = True

    def expire(number: int, frame: FrameType | None) -> None:
        # Too early, it is an earlier alarm of the host, which rang while ours was being set.
        if time.monotonic() < began + seconds / 2:
            if callable(former):
                former(number, frame)
        elif is_armed:
            raise _OutOfTimeError

    try:
        former = signal.signal(signal.SIGALRM, expire)
    except ValueError:  # not the main thread
        return None
    left = interval = 0.0
    try:
        try:
            left, interval = signal.setitimer(signal.ITIMER_REAL, seconds)
            return _search(compiled, text)
        finally:
            is_armed = False
    except _OutOfTimeError:
        return f"took more than {seconds:g} s"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, former)
        if left:
            signal.setitimer(signal.ITIMER_REAL, max(left - (time.monotonic() - began), 0.001), interval)


# The default action of the alarm ends the process at once, whatever the engine does.
_CHILD = """
import json, re, signal, sys, warnings
warnings.simplefilter("ignore")
pattern, flags, text, seconds = json.load(sys.stdin)
compiled = re.compile(pattern, flags)
if hasattr(signal, "setitimer"):
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGALRM})
    signal.setitimer(signal.ITIMER_REAL, seconds)
print(int(compiled.search(text) is not None))
"""


def _search_in_child(compiled: re.Pattern[str], text: str, *, seconds: float) -> bool | str:
    """Search in a process that can be killed."""
    import json
    import signal
    import subprocess
    import sys

    flags = compiled.flags & ~re.DEBUG
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-c", _CHILD],
            input=json.dumps([compiled.pattern, flags, text, max(seconds, 0.001)]).encode(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=seconds + _START_SECONDS,
            check=False,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
    except subprocess.TimeoutExpired:
        return f"took more than {seconds:g} s"
    except (OSError, ValueError) as error:
        return f"could not be matched in a process that can be stopped ({error})"
    answer = {b"0": False, b"1": True}.get(done.stdout.strip())
    if answer is not None:
        return answer
    if done.returncode == -getattr(signal, "SIGALRM", 0):
        return f"took more than {seconds:g} s"
    return f"could not be matched in a process that can be stopped (it ended with {done.returncode})"


# Sets of characters as bits: one for each of ASCII, one for all others.
_OTHERS = 1 << 128
_EVERY = (_OTHERS << 1) - 1
_FEW_REPEATS = 100  # up to here `{m,n}` counts as that many choices, beyond as an unbounded repeat
_MOST_CHOICES = 16  # as a power of two
_REPEATS = ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT")
_ONE_CHARACTER = ("LITERAL", "NOT_LITERAL", "ANY", "IN")


class _Look(Value):
    """The time that a pattern may take, by its structure.

    The time grows with the text's length to the power of `repeats`, times two to the power of `choices`.
    `characters` are all that it may match, `first` those it may start with.
    """

    repeats: int = 0
    choices: int = 0
    is_explosive: bool = False
    is_nullable: bool = True
    characters: int = 0
    first: int = 0

    @property
    def is_variable(self) -> bool:
        return bool(self.repeats or self.choices or self.is_explosive)

    def is_quick(self, length: int) -> bool:
        if self.is_explosive:
            return False
        if not self.repeats:
            return self.choices <= 3 or length << self.choices <= _STEPS
        return bool(length ** (self.repeats + 1) << self.choices <= _STEPS)


@lru_cache(maxsize=256)
def _look_at_pattern(pattern: str) -> _Look | None:
    """Estimate a pattern; None if Python's parser is missing or fails."""
    compiled = _compile(pattern)
    parser = getattr(re, "_parser", None)
    if isinstance(compiled, str) or parser is None:
        return None
    import warnings

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            look = _look_at_sequence(parser.parse(compiled.pattern, compiled.flags))
    except (AttributeError, TypeError, ValueError, RecursionError):
        return None
    return look.replace(is_explosive=True) if look.choices > _MOST_CHOICES else look


def _look_at_sequence(nodes: Iterable[Node]) -> _Look:
    """Estimate nodes in sequence."""
    sums = _Look()
    tail = 0  # what an earlier repeat, with nothing certain in between, could match as well
    for node in _flatten(nodes):
        look, reach = _look_at_node(node)
        clashes = bool(reach and look.characters & tail)
        sums = _Look(
            repeats=sums.repeats + look.repeats,
            choices=sums.choices + look.choices,
            is_explosive=sums.is_explosive or look.is_explosive or clashes,
            is_nullable=sums.is_nullable and look.is_nullable,
            characters=sums.characters | look.characters,
            first=sums.first | look.first if sums.is_nullable else sums.first,
        )
        tail = (tail if look.is_nullable else 0) | reach
    return sums


def _flatten(nodes: Iterable[Node]) -> Iterator[Node]:
    for op, value in nodes:
        if op.name == "SUBPATTERN":
            yield from _flatten(value[-1])
        elif op.name == "ATOMIC_GROUP":
            yield from _flatten(value)
        else:
            yield op, value


def _look_at_node(node: Node) -> tuple[_Look, int]:
    """Estimate one node, and find the characters after it that it could match as well."""
    name, value = node[0].name, node[1]
    if name in _ONE_CHARACTER:
        characters = _find_characters(node)
        return _Look(is_nullable=False, characters=characters, first=characters), 0
    if name in _REPEATS:
        return _look_at_repeat(*value)
    if name == "BRANCH":
        return _look_at_branches([_look_at_sequence(branch) for branch in value[1]])
    if name == "AT":
        return _Look(), 0
    if name in {"ASSERT", "ASSERT_NOT"}:
        return _look_at_sequence(value[1]).replace(is_nullable=True, characters=0, first=0), 0
    # A backreference, a condition on a group, or what a later Python has.
    return _Look(is_explosive=True, characters=_EVERY, first=_EVERY), _EVERY


def _look_at_repeat(least: int, most: int, body: Iterable[Node]) -> tuple[_Look, int]:
    nodes = list(_flatten(body))
    look = _look_at_sequence(nodes)
    reach = look.characters
    is_explosive = look.is_explosive
    if most > 1 and look.is_variable:
        begins, ends = _find_delimiter(nodes), _find_delimiter(nodes[::-1])
        is_explosive = is_explosive or not (begins or ends)
        reach = ends or reach
    spread = int(most) - int(least)
    is_endless = spread > _FEW_REPEATS
    repeated = look.replace(
        repeats=look.repeats + is_endless,
        choices=look.choices + (0 if is_endless else spread.bit_length()),
        is_explosive=is_explosive or (most > 1 and look.is_nullable),
        is_nullable=look.is_nullable or least == 0,
    )
    return repeated, reach if is_endless or look.repeats else 0


def _find_delimiter(nodes: list[Node]) -> int:
    """Return the first node's characters, if nothing else matches them and the rest has one way to match."""
    if nodes[0][0].name not in _ONE_CHARACTER:
        return 0
    characters = _find_characters(nodes[0])
    variable = [node for node in nodes[1:] if _look_at_node(node)[0].is_variable]
    is_certain = not variable or (
        len(variable) == 1
        and variable[0][0].name in _REPEATS
        and not _look_at_sequence(variable[0][1][2]).is_variable
    )
    return characters if is_certain and not characters & _look_at_sequence(nodes[1:]).characters else 0


def _look_at_branches(looks: list[_Look]) -> tuple[_Look, int]:
    characters = firsts = 0
    is_plain = True  # the first character distinguishes the branches
    for look in looks:
        is_plain = is_plain and not look.is_nullable and not look.first & firsts
        characters |= look.characters
        firsts |= look.first
    joined = _Look(
        repeats=max(look.repeats for look in looks),
        choices=max(look.choices for look in looks) + (0 if is_plain else (len(looks) - 1).bit_length()),
        is_explosive=any(look.is_explosive for look in looks),
        is_nullable=any(look.is_nullable for look in looks),
        characters=characters,
        first=firsts,
    )
    return joined, characters if joined.repeats else 0


def _find_characters(node: Node) -> int:
    """Return the characters that a node may match, rather too many: letters in both cases."""
    name, value = node[0].name, node[1]
    if name == "ANY":
        return _EVERY
    if name == "NOT_LITERAL":
        return _EVERY & ~_make_bits(value, value) | _OTHERS
    if name == "LITERAL":
        return _add_both_cases(_make_bits(value, value))
    characters = 0
    is_negated = False
    for op, item in value:
        if op.name == "NEGATE":
            is_negated = True
        elif op.name == "LITERAL":
            characters |= _make_bits(item, item)
        elif op.name == "RANGE":
            characters |= _make_bits(*item)
        else:
            characters |= _find_category(item.name)
    return _EVERY & ~characters | _OTHERS if is_negated else _add_both_cases(characters)


def _make_bits(low: int, high: int) -> int:
    ascii_part = ((1 << min(high + 1, 128)) - 1) & ~((1 << low) - 1) if low < 128 else 0
    return ascii_part | (_OTHERS if high >= 128 else 0)


def _add_both_cases(characters: int) -> int:
    lower, upper = _make_bits(ord("a"), ord("z")), _make_bits(ord("A"), ord("Z"))
    return characters | (characters & upper) << 32 | (characters & lower) >> 32


_CATEGORIES = {
    "DIGIT": _make_bits(48, 57),
    "SPACE": _make_bits(9, 13) | _make_bits(32, 32),
    "WORD": _make_bits(48, 57) | _make_bits(65, 90) | _make_bits(95, 95) | _make_bits(97, 122),
}


def _find_category(name: str) -> int:
    characters = _CATEGORIES[name.rpartition("_")[2]]
    return (_EVERY & ~characters if "_NOT_" in name else characters) | _OTHERS
