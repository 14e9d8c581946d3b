"""The kitchen-sink manifest through every pair of dialects: nothing is lost in silence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from hookport.agents import get, list_dialects
from hookport.convert import pipeline
from hookport.convert.degrade import degrade
from hookport.convert.degrade.wrapping import unwrap_hook
from hookport.model.hooks import NOTHING, Hook
from hookport.model.tools import TOOLS
from hookport.shapes.entries import find_slots
from tests import kitchen

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hookport.findings import Finding

PAIRS = [pytest.param(a, b, id=f"{a}-to-{b}") for a in list_dialects() for b in list_dialects() if a != b]


def about(result: pipeline.Conversion, index: int) -> list[Finding]:
    return [finding for finding in result.findings if finding.hook == index]


def said(hook: Hook) -> Hook:
    """The hook without what only says where it came from."""
    return hook._replace(dialect="", provider_data=NOTHING, capabilities=(), degradation=NOTHING)


def guards(dialect: str, hook: Hook) -> bool:
    """Whether the hook prevents something where it is."""
    specs = find_slots(get(dialect), hook)
    return hook.blocking and hook.enabled and any(spec.blocks != "observe" for spec, _ in specs)


@pytest.mark.parametrize("source", list_dialects())
def test_every_dialect_says_something_of_it(source: str) -> None:
    assert kitchen.reading(source).decoded.manifest.hooks


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_nothing_is_lost_in_silence(source: str, target: str) -> None:
    reading = kitchen.reading(source)
    degraded = degrade(reading.decoded.manifest, get(target), reading.wheres, reading.scripts)
    result = pipeline.convert(reading, get(target))
    hooks = reading.decoded.manifest.hooks
    after = dict(zip(degraded.kept, degraded.manifest.hooks, strict=True))
    assert result.hooks == hooks
    assert len(result.effects) == len(hooks)
    dropped = [index for index, effect in enumerate(result.effects) if effect == "dropped"]
    assert sorted([*after, *dropped]) == list(range(len(hooks)))
    files = {file.path: file.text.encode() for file in result.files}
    written = pipeline.read(files, get(target)).decoded.manifest.hooks if files else ()
    assert len(written) == len(hooks) - len(dropped)
    assert list(untold(result, after)) == []
    assert list(lost_guards(result, after)) == []


def value(hook: Hook, attr: str) -> Any:
    """An attribute of a hook or its handler; the alternatives of a matcher, however they are joined."""
    if attr == "matcher":
        return {(term.kind, word, term.tool) for term in hook.matcher for word in term.value.split("|")}
    return getattr(hook if attr in hook._fields else hook.handler, attr)


# The findings that may tell of a change, by what changed.
TOLD_BY = {
    "event": {"HP204"},
    "matcher": {*(f"HP3{number:02}" for number in range(1, 18)), "HP220", "HP405", "HP428"},
    "content": {"HP305", "HP405", "HP428"},
    "condition": {"HP316", "HP405", "HP428"},
    "blocking": {"HP203", "HP205", "HP211", "HP403", "HP404", "HP411", "HP428"},
    "priority": {"HP412"},
    "name": {"HP411", "HP420"},
    "description": {"HP411", "HP420"},
    "metadata": {"HP411"},
    "timeout": {"HP405", "HP402", "HP407", "HP408", "HP409", "HP410", "HP429", "HP428"},
    "status_message": {"HP411"},
    "model": {"HP411", "HP428", "HP431"},
    "url": {"HP402"},
    "is_async": {"HP403", "HP404", "HP428"},
    "cwd": {"HP405", "HP411"},
    "env": {"HP405", "HP411"},
    "platform": {"HP427", "HP205", "HP403", "HP405", "HP406", "HP415"},
    "on_failure": {"HP205", "HP209", "HP402", "HP403", "HP212", "HP405", "HP411", "HP428"},
    "timeout_action": {"HP209", "HP212", "HP405", "HP411", "HP428"},
}
BLOCKED_INSTEAD = "HP206"


def untold(result: pipeline.Conversion, after: dict[int, Hook]) -> Iterator[tuple[Hook, Hook | None, str]]:
    """The hooks that changed or went without a finding that says so, and what changed."""
    for index, hook in enumerate(result.hooks):
        found = about(result, index)
        now = after.get(index)
        if now is None:
            if not any(finding.effect == "dropped" for finding in found):
                yield hook, None, "dropped"
            continue
        if said(hook) != said(now) and all(finding.effect == "kept" for finding in found):
            yield hook, now, "anything"
        codes = {finding.code for finding in found}
        for attr, tellers in TOLD_BY.items():
            if value(hook, attr) != value(now, attr) and not codes & {*tellers, BLOCKED_INSTEAD}:
                yield hook, now, attr


def lost_guards(result: pipeline.Conversion, after: dict[int, Hook]) -> Iterator[tuple[Hook, Hook | None]]:
    """The hooks that prevent less than before without an error."""
    target = get(result.target)
    for index, hook in enumerate(result.hooks):
        found = about(result, index)
        # What is behind the bridge prevents what it prevents in its own dialect.
        own = unwrap_hook(hook)
        if not guards(own.dialect, own) or any(finding.severity == "error" for finding in found):
            continue
        now = after.get(index)
        if now is None:
            yield hook, now
            continue
        specs = [spec for spec, _ in find_slots(target, now)]
        holds = now.blocking and (target.is_hub or all(spec.blocks != "observe" for spec in specs))
        tools = {term for term in own.matcher if term.kind == "tool" and term.value in TOOLS}
        if not holds or (now.matcher and not tools <= {*now.matcher}):
            yield hook, now


@pytest.mark.parametrize("target", list_dialects())
def test_converting_twice_gives_the_same_bytes(target: str) -> None:
    reading = kitchen.reading(next(name for name in list_dialects() if name != target))
    assert pipeline.convert(reading, get(target)) == pipeline.convert(reading, get(target))
