"""What hookport writes, it reads: odd files to the interchange format and back, and `check` finds no error.

The files have keys that hookport has a use for itself, events that nobody knows, and values of any type.
"""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookport import documents as formats
from hookport.agents import get, list_dialects
from hookport.convert import checks, pipeline
from hookport.errors import InputError
from tests import kitchen
from tests.test_laws import texts

if TYPE_CHECKING:
    from collections.abc import Iterator

# Keys that the model, the interchange format or a dialect's own data use.
KEYS = (
    *(
        "event",
        "matcher",
        "handler",
        "blocking",
        "provider_data",
        "name",
        "dialect",
        "group",
        "keys",
        "hooks",
    ),
    *(
        "product",
        "degradation",
        "type",
        "command",
        "timeout",
        "content",
        "priority",
        "enabled",
        "file",
        "body",
    ),
    *("spec", "form", "version", "trigger", "when", "terms", "native", "capabilities", "hookport"),
)
VALUES: tuple[Any, ...] = ("x", 7, True, [1], {"a": 1})
HUB = get("canonical")


def objects(tree: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(tree, dict):
        yield path
    items = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in items:
        yield from objects(value, (*path, key))


def with_key(tree: Any, path: tuple[Any, ...], key: str, value: Any) -> Any:
    changed = copy.deepcopy(tree)
    at = changed
    for step in path:
        at = at[step]
    at.setdefault(key, value)
    return changed


def odd(dialect: str, step: int) -> Iterator[dict[str, bytes]]:
    """Files of a dialect with one key more, at each of their objects in turn; every `step`-th key at each."""
    for files in texts(dialect)[:3]:
        documents = pipeline.read(files, get(dialect)).documents
        for name, document in documents.items():
            kind = pipeline.detect_dialect_kind(get(dialect), name)
            if kind not in ("json", "toml", "yaml"):
                continue
            tree = json.loads(json.dumps(document.tree, default=str))
            for number, path in enumerate(list(objects(tree))[-6:]):
                for key in KEYS[number % step :: step]:
                    value = VALUES[(number + len(key)) % len(VALUES)]
                    yield {**files, name: formats.dump(with_key(tree, path, key, value), kind)}
                    yield {**files, name: formats.dump(with_key(tree, path, key, "x"), kind)}


@pytest.mark.parametrize("step", [4, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize("dialect", list_dialects())
def test_odd_keys_through_the_interchange_format_and_back(dialect: str, step: int) -> None:
    for files in odd(dialect, step):
        try:
            reading = pipeline.read(files, get(dialect))
        except InputError:
            continue
        there = pipeline.convert(reading, HUB).files
        if there:
            pipeline.convert(
                pipeline.read({file.path: file.text.encode() for file in there}, HUB), get(dialect)
            )
        pipeline.convert(reading, get(dialect))


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text("ab:é", max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=2),
    max_leaves=4,
)
EVENTS = ("before_tool_execute", "before_compact", "on_weird", "{}:on_weird", "{}:", ":", "x:y:z")


@pytest.mark.parametrize("target", list_dialects())
@given(event=st.sampled_from(EVENTS), own=st.dictionaries(st.sampled_from(KEYS), ANYTHING, max_size=3))
def test_data_of_a_dialect_may_be_anything(target: str, event: str, own: dict[str, Any]) -> None:
    hook = {
        "event": event.format(target),
        "handler": {"type": "command", "command": "./a.sh"},
        "provider_data": {target: own},
    }
    tree = {"spec": "hooks/1.0", "hooks": [hook]}
    try:
        reading = pipeline.read({"hooks.json": json.dumps(tree).encode()}, HUB)
        pipeline.convert(reading, get(target))
    except InputError:
        pass


def own_files(dialect: str, target: str) -> dict[str, bytes]:
    result = pipeline.convert(kitchen.reading(dialect), get(target))
    return {file.path: file.text.encode() for file in result.files}


@pytest.mark.parametrize("target", list_dialects())
@pytest.mark.parametrize("source", list_dialects())
def test_check_has_nothing_against_what_convert_wrote(source: str, target: str) -> None:
    files = own_files(source, target)
    if not files:
        return
    reading = pipeline.read(files, get(target))
    found = [*reading.decoded.findings, *checks.check(reading)]
    # The kitchen's scripts are of the interchange format: unwrapped, they stand on events that block in the
    # agent they were wrapped for, and not in their own format.
    known = {one.code for one in checks.check(kitchen.reading(source)) if one.severity == "error"}
    known |= {"HP506"} if get(target).is_hub else set()
    errors = [(one.code, one.where, one.message) for one in found if one.severity == "error"]
    assert [error for error in errors if error[0] not in known] == []


@pytest.mark.parametrize("source", list_dialects())
def test_check_has_nothing_against_what_it_had_nothing_against_before(source: str) -> None:
    for files in texts(source):
        reading = pipeline.read(files, get(source))
        if any(one.severity == "error" for one in (*reading.decoded.findings, *checks.check(reading))):
            continue
        if any(" wrap " in hook.handler.command for hook in reading.decoded.manifest.hooks):
            continue
        there = pipeline.convert(reading, HUB).files
        if not there:
            continue
        again = pipeline.read({file.path: file.text.encode() for file in there}, HUB)
        found = [*again.decoded.findings, *checks.check(again)]
        assert [(one.code, one.where, one.message) for one in found if one.severity == "error"] == []
