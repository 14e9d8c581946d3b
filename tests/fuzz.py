"""A long search for inputs that crash, hang or break a round trip; `make fuzz` runs it.

Each test counts what it tried, and every process says at its end what it counted. An input that hangs is
ended by the alarm and fails.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hookport import documents
from hookport.agents import get, list_dialects
from hookport.convert import edit, pipeline
from hookport.errors import InputError
from hookport.shapes.matchers import read_matcher, write_matcher
from tests import kitchen, strategies, vectors

if TYPE_CHECKING:
    from collections.abc import Iterator

HUB = next(name for name in list_dialects() if get(name).is_hub)
SECONDS = 20
# A test per dialect gets its share, so that the sum stays near 100,000 however many dialects there are.
SHARE = max(20, settings().max_examples // len(list_dialects()))
counts: dict[str, int] = {}


@contextlib.contextmanager
def counted(what: str) -> Iterator[None]:
    """Count one input, and end it when it takes too long."""
    counts[what] = counts.get(what, 0) + 1

    def late(*_: object) -> None:
        raise AssertionError(f"{what}: no end after {SECONDS} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.fixture(scope="module", autouse=True)
def report(request: pytest.FixtureRequest) -> Iterator[None]:
    """Say at the end how many inputs were tried, also where several processes share the work."""
    yield
    lines = [f"{count:>8,}  {what}" for what, count in sorted(counts.items())]
    total = f"{sum(counts.values()):>8,}  inputs in process {os.getpid()}"
    capture = request.config.pluginmanager.getplugin("capturemanager")
    with capture.global_and_fixture_disabled() if capture else contextlib.nullcontext():
        sys.stderr.write("\n" + "\n".join([*lines, total]) + "\n")


def samples(dialect: str) -> list[tuple[str, bytes]]:
    """(path, text) of files in a dialect, to be damaged."""
    found: list[tuple[str, bytes]] = []
    for case in vectors.cases_of(dialect):
        for key in ("identity", "read", "refuse"):
            found += vectors.files(case, key, dialect).items() if key in case else ()
    hooks = kitchen.manifest()["hooks"][::40]
    data = json.dumps({"spec": "hooks/1.0", "hooks": hooks}).encode()
    reading = pipeline.read({get(HUB).locations[0].path: data}, get(HUB))
    found += [(file.path, file.text.encode()) for file in pipeline.convert(reading, get(dialect)).files]
    return [(name, text) for name, text in found if len(text) < 20_000][:60]


TOKENS = (
    b'"',
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b"null",
    b"true",
    b"-1",
    b"1e999",
    b"\\u0000",
    b"\xff",
    b"\n",
    b"'",
    b"*",
)


@st.composite
def damaged(draw: st.DrawFn, found: list[tuple[str, bytes]]) -> tuple[str, bytes]:
    """A file with a few bytes flipped, taken out, put in or doubled."""
    path, text = draw(st.sampled_from(found))
    data = bytearray(text)
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(data)))
        length = draw(st.sampled_from([1, 1, 2, 8, 40]))
        how = draw(st.sampled_from(["flip", "cut", "double", "token"]))
        if how == "flip" and at < len(data):
            data[at] ^= 1 << draw(st.integers(0, 7))
        elif how == "cut":
            del data[at : at + length]
        elif how == "double":
            data[at:at] = data[at : at + length]
        else:
            data[at:at] = draw(st.sampled_from(TOKENS))
    return path, bytes(data)


WORDS = (
    "hooks",
    "event",
    "handler",
    "matcher",
    "type",
    "command",
    "timeout",
    "name",
    "env",
    "provider_data",
    "spec",
)


def trees(depth: int = 3) -> st.SearchStrategy[Any]:
    """Trees that have the right words in the wrong places."""
    words = st.one_of(st.sampled_from(WORDS), strategies.texts(0))
    leaves = st.one_of(st.none(), st.booleans(), st.integers(-2, 10**12), st.floats(), words)
    if not depth:
        return leaves
    inner = trees(depth - 1)
    return st.one_of(leaves, st.lists(inner, max_size=3), st.dictionaries(words, inner, max_size=3))


@pytest.mark.parametrize("kind", documents.KINDS)
@settings(max_examples=settings().max_examples // 2)
@given(data=st.one_of(st.binary(max_size=60), strategies.texts(0).map(str.encode)))
def test_any_bytes_are_parsed_or_refused(kind: str, data: bytes) -> None:
    with counted(f"parse {kind}"):
        try:
            document = documents.parse(data, kind)
        except documents.SyntaxProblem:
            return
        assert document.rewrite(document.tree) == data


@pytest.mark.parametrize("dialect", list_dialects())
def test_damaged_files_are_read_or_refused(dialect: str) -> None:
    @settings(max_examples=SHARE * 4)
    @given(file=damaged(samples(dialect)))
    def run(file: tuple[str, bytes]) -> None:
        with counted("damaged files"):
            try:
                reading = pipeline.read(dict([file]), get(dialect))
            except InputError:
                return
            assert edit.encode(reading, reading.decoded.manifest.hooks) == dict([file])

    run()


@pytest.mark.parametrize("dialect", list_dialects())
def test_odd_trees_are_read_or_refused(dialect: str) -> None:
    path = get(dialect).locations[0].path.replace("*", "x")
    kind = get(dialect).shape.file_kinds.get(documents.detect_kind(path), documents.detect_kind(path))
    root = get(dialect).shape.root
    events = st.sampled_from([spec.native for spec in get(dialect).events])

    @settings(max_examples=SHARE)
    @given(tree=trees(), event=events)
    def run(tree: Any, event: str) -> None:
        inside: Any = {event: tree}
        for key in reversed(root):
            inside = {key: inside}
        try:
            data = documents.dump(inside, kind)
        except (ValueError, TypeError):
            data = json.dumps(inside).encode()
        with counted("odd trees"), contextlib.suppress(InputError):
            pipeline.read({path: data}, get(dialect))

    run()


@pytest.mark.parametrize("target", list_dialects())
def test_manifests_survive_every_target(target: str) -> None:
    @settings(max_examples=SHARE * 2)
    @given(manifest=strategies.manifests())
    def run(manifest: Any) -> None:
        with counted("manifests"):
            reading = pipeline.read({get(HUB).locations[0].path: json.dumps(manifest).encode()}, get(HUB))
            pipeline.convert(reading, get(target))

    run()


@pytest.mark.parametrize("dialect", list_dialects())
def test_matchers_settle(dialect: str) -> None:
    specs = [spec for spec in get(dialect).events if spec.subject]
    if not specs:
        pytest.skip("it has no matchers")
    natives = st.sampled_from([row.native for row in get(dialect).tools] or ["x"])
    texts = st.lists(st.one_of(natives, strategies.patterns(), strategies.texts(0)), max_size=3).map("|".join)

    @settings(max_examples=SHARE * 3)
    @given(spec=st.sampled_from(specs), text=texts)
    def run(spec: Any, text: str) -> None:
        with counted("matchers"):
            terms, content = read_matcher(get(dialect), spec, text)
            for written in write_matcher(get(dialect), spec, terms, content):
                read_matcher(get(dialect), spec, written or "")

    run()
