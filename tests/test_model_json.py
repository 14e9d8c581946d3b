"""JSON by the library's C code gives and refuses what `json` does, word for word."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import hookport
from hookport.model.json_text import dumps, loads

leaves = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
trees = st.recursive(leaves, lambda below: st.lists(below) | st.dictionaries(st.text(), below), max_leaves=12)
BROKEN = (
    *("", " ", "{", "[1", "nul", "{} x", "\ufeff{}", '{"a":\n 1,}', '"\n"', "{'a': 1}", "01", "1.", "\x0b1"),
    *("1" * 5_000, "[" * 100_000, '{"a": "\\ud83d', "\\", "é"),
)
SPACED = (" 1\r\n", '\t{"a" : [ ] }\n', "NaN", "[Infinity, -Infinity]", '"\\ud800"', "1e999", "-0")


def outcome(run: Callable[[], Any]) -> tuple[str, str]:
    """What comes of it, in words: 1, 1.0 and true are three things, and NaN is itself."""
    try:
        return "", repr(run())
    except (ValueError, TypeError, RecursionError) as error:
        kind = type(error).__name__
        return kind, "" if isinstance(error, RecursionError) else str(error)


@given(trees, st.booleans(), st.sampled_from([(", ", ": "), (",", ":")]), st.booleans())
def test_trees_are_written_and_read_alike(
    tree: Any, ensure_ascii: bool, separators: tuple[str, str], sort_keys: bool
) -> None:
    text = json.dumps(tree, ensure_ascii=ensure_ascii, separators=separators, sort_keys=sort_keys)
    assert dumps(tree, ensure_ascii=ensure_ascii, separators=separators, sort_keys=sort_keys) == text
    assert outcome(lambda: loads(text)) == outcome(lambda: json.loads(text))


@given(st.text(alphabet='{}[]",:\\ \n1-.eau0trné'))
def test_any_text_is_read_or_refused_alike(text: str) -> None:
    assert outcome(lambda: loads(text)) == outcome(lambda: json.loads(text))


@pytest.mark.parametrize("text", [*BROKEN, *SPACED, None, 1])
def test_odd_texts_are_read_or_refused_alike(text: Any) -> None:
    assert outcome(lambda: loads(text)) == outcome(lambda: json.loads(text))


def test_odd_values_are_written_or_refused_alike() -> None:
    circle: list[Any] = []
    circle.append(circle)
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    values = ({0: 2, None: 3, True: 4, 1.5: 5}, {(1,): 2}, {"a": object}, circle, deep, (1, 2), float("nan"))
    for value in values:
        assert outcome(partial(dumps, value)) == outcome(partial(json.dumps, value))
    assert dumps({"a": {1}}, default=str) == json.dumps({"a": {1}}, default=str)


@pytest.mark.parametrize("text", ["{", '{"a": "', "[1,", '"\\q"', "nul"])
def test_broken_text_is_refused_where_nothing_has_imported_json(text: str) -> None:
    source = str(Path(hookport.__file__).parents[1])
    program = (
        f"import sys; sys.path.insert(0, {source!r}); from hookport.model.json_text import loads\n"
        f"assert 'json' not in sys.modules\ntry: loads({text!r})\nexcept ValueError as error: print(error)"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True, check=True
    )
    with pytest.raises(json.JSONDecodeError) as refused:
        json.loads(text)
    assert done.stdout == f"{refused.value}\n"
