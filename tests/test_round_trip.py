"""Through the interchange format and back, a hook is the same hook: the corpus, and the files of the vectors.

What it fires on is compared by matching the text in the file, as its own agent does, against tools that
exist, tools that nobody knows and MCP tools; everything else by value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from hookport import findings
from hookport.agents import get, list_agents, list_dialects
from hookport.convert import checks, pipeline
from hookport.errors import InputError
from hookport.model.hooks import Handler, Term
from hookport.project import sources
from hookport.shapes.dialect import (
    DecodedManifest,
    EventSpec,
    Matching,
    find_matching,
    list_native_tools,
    view_at_event,
)
from hookport.shapes.entries import find_slots
from hookport.shapes.matchers import MARK, means_all, spell_mcp_term
from tests.test_corpus import Case, build, cases, project
from tests.test_laws import canonical, texts

__all__ = ["project"]

HUB = get("canonical")
OTHERS = [name for name in list_dialects() if name != HUB.id]
UNKNOWN = ("NoSuchTool", "my_tool", "Bash2", "XBash", "ReadMany", "mcp")
MCP = (Term("mcp", "github", "merge"), Term("mcp", "git_hub", "delete"), Term("mcp", "notes", "read"))
# A difference, and the findings that tell of it.
TOLD = {
    "fires": (
        findings.MatcherRespelled,
        findings.MatcherDropped,
        findings.PatternExpanded,
        findings.SplitMatcher,
        findings.GuardToolMissing,
    ),
    "handler": (findings.HttpToCurl, findings.FieldGiven, findings.ModelAskedHere),
    "blocking": (findings.ModelAskedHere,),
    "timeout": (
        findings.TimeoutClamped,
        findings.TimeoutRounded,
        findings.GuardCutShort,
        findings.ModelAskedHere,
    ),
    "priority": (findings.FieldGiven,),
}


# A key of a HOOK.md that has no value, which is a finding and goes.
NO_PATTERN = {"pattern": None}


class Meaning(NamedTuple):
    """What a hook does, in its own agent."""

    event: str
    fires: frozenset[object]
    content: str
    condition: str
    handler: Handler
    timeout: timedelta | None
    blocking: bool
    enabled: bool
    priority: int | None
    own: Mapping[str, Any]


def meanings(reading: pipeline.Reading, *, by_text: bool) -> list[Meaning]:
    """Each hook on each of its native events, in the order that the agent has for that event."""
    dialect = reading.dialect
    found: list[Meaning] = []
    for hook, place in zip(reading.decoded.manifest.hooks, reading.decoded.places, strict=True):
        written = find_slots(dialect, hook)
        for spec, terms in written:
            text = matcher_text(reading, place) if by_text and len(written) == 1 else ""
            rule = dialect.handlers[hook.handler.type].timeout
            own = hook.provider_data.get(dialect.id, {})
            found.append(
                Meaning(
                    spec.native,
                    fired(dialect.id, spec, terms, text),
                    hook.content,
                    hook.condition,
                    hook.handler._replace(timeout=None),
                    hook.handler.timeout or spec.default_timeout or rule.default,
                    hook.blocking,
                    hook.enabled,
                    hook.priority,
                    {
                        key: value
                        for key, value in own.items()
                        if key not in ("body", "unread") and value != NO_PATTERN
                    },
                )
            )
    return sorted(found, key=lambda meaning: meaning.event)


def matcher_text(reading: pipeline.Reading, place: Any) -> str:
    """The matcher as the file has it, at the entry or at its group; empty where there is none."""
    nodes = [reading.documents[place.file].tree]
    for step in place.path:
        nodes.append(nodes[-1][step])
    for node in reversed(nodes):
        if isinstance(node, dict) and reading.dialect.shape.matcher_key in node:
            text = node[reading.dialect.shape.matcher_key]
            return text if isinstance(text, str) else ""
    return ""


def fired(dialect: str, spec: EventSpec, terms: tuple[Term, ...], text: str) -> frozenset[object]:
    """The names that the agent runs a hook with this matcher on; the terms where it is on no name."""
    here = view_at_event(get(dialect), spec)
    matching = find_matching(here, spec)
    if not terms or not text or spec.subject != "tool" or means_all(matching, text):
        return frozenset(terms)
    tools = [name for term in MCP for name in spell_mcp_term(here.mcp, term)] if here.mcp else []
    names = (*list_native_tools(here), *UNKNOWN, *filter(None, tools))
    return frozenset(name for name in names if natively(matching, text, name))


def natively(matching: Matching, text: str, name: str) -> bool:
    """Whether an agent with this kind of matcher runs the hook on a tool of this name."""
    if matching.grammar == "exact":
        return text == name
    if matching.grammar == "names" and re.fullmatch(f"{matching.plain}+", text):
        return name in re.split(f" *[{re.escape(matching.separators)}] *", text)
    pattern, is_whole = text, matching.grammar in ("anchored", "marked", "glob")
    if matching.grammar == "glob" or (matching.grammar == "marked" and not text.startswith(MARK)):
        pattern = re.escape(text).replace(r"\*", ".*").replace(r"\?", ".")
    flags = re.IGNORECASE if matching.grammar == "marked" else 0
    try:
        return bool((re.fullmatch if is_whole else re.search)(pattern.removeprefix(MARK), name, flags))
    except re.error:
        return False


def again(result: pipeline.Conversion) -> pipeline.Reading:
    return pipeline.read({file.path: file.text.encode() for file in result.files}, get(result.target))


def differences(reading: pipeline.Reading) -> list[tuple[str, object, object]]:
    """What is different after the way through the interchange format and back, and no finding tells."""
    there = pipeline.convert(reading, HUB)
    back = pipeline.convert(again(there), get(reading.dialect.id))
    codes = {one.code for one in (*there.findings, *back.findings)}
    kept = [number for number, effect in enumerate(there.effects) if effect != "dropped"]
    dropped = [number for number, effect in zip(kept, back.effects, strict=True) if effect == "dropped"]
    gone = {*range(len(there.effects))} - {*kept} | {*dropped}
    # A file for each of an agent's products says the same hook in other names.
    by_text = len(back.files) == 1
    before = meanings(without(reading, gone), by_text=by_text)
    after = meanings(again(back), by_text=by_text) if back.files else []
    if len(before) != len(after):
        return [("hooks", before, after)]
    return [
        (field, one, other)
        for old, new in zip(before, after, strict=True)
        for field, one, other in zip(Meaning._fields, old, new, strict=True)
        if one != other and not codes & {kind.code for kind in TOLD.get(field, ())}
    ]


def without(reading: pipeline.Reading, gone: set[int]) -> pipeline.Reading:
    """A reading without the hooks that a finding says are dropped."""
    hooks, places, found = reading.decoded
    left = [number for number in range(len(hooks.hooks)) if number not in gone]
    manifest = hooks._replace(hooks=tuple(hooks.hooks[number] for number in left))
    return reading._replace(
        decoded=DecodedManifest(manifest, tuple(places[number] for number in left), found)
    )


@cache
def corpus() -> list[Any]:
    return [case for case in cases() if not case.marks]


@pytest.mark.conforms("F6")
@pytest.mark.parametrize("case", corpus())
def test_a_file_of_the_corpus_means_the_same_when_it_comes_back(case: Case, project: Path) -> None:
    for reading in readings(case, project):
        if reading.dialect.id != HUB.id:
            assert differences(reading) == []


@pytest.mark.parametrize("dialect", OTHERS)
def test_a_file_of_the_vectors_means_the_same_when_it_comes_back(dialect: str) -> None:
    for files in texts(dialect):
        assert differences(pipeline.read(files, get(dialect))) == [], files


@pytest.mark.parametrize("case", corpus())
def test_a_file_of_the_corpus_can_be_said_in_every_dialect(case: Case, project: Path) -> None:
    """Nothing raises, each hook that is changed or gone has a finding, and `check` finds no new error."""
    for reading in readings(case, project):
        known = {one.code for one in (*reading.decoded.findings, *checks.check(reading))}
        for target in list_dialects():
            result = pipeline.convert(reading, get(target))
            if target == reading.dialect.id:
                assert [file.text.encode() for file in result.files] == [
                    document.data for document in reading.documents.values()
                ]
                continue
            if not result.files:
                continue
            there = again(result)
            # A word that nobody knows is passed on, and told.
            if findings.WordPassed.code in {one.code for one in result.findings}:
                known.add(findings.NoKnownTool.code)
            new = [
                (one.code, one.message)
                for one in (*there.decoded.findings, *checks.check(there))
                if one.severity == "error" and one.code not in known
            ]
            assert new == [], target


def readings(case: Case, project: Path) -> Iterator[pipeline.Reading]:
    """What is read of the file of a case."""
    build(case, project)
    try:
        found, _ = sources.find_all(Path(case["at"]))
        for source in found:
            reading = sources.read(source)
            if reading.decoded.manifest.hooks:
                yield reading
    except InputError:
        return


def test_a_hook_of_a_subagent_runs_all_the_time_elsewhere(project: Path) -> None:
    """Every target is told, also the interchange format."""
    (case,) = [case.values[0] for case in corpus() if "frontmatter of a subagent" in str(case.id)]
    (reading,) = readings(case, project)
    for target in [name for name in list_dialects() if name != reading.dialect.id]:
        result = pipeline.convert(reading, get(target))
        told = findings.AlwaysRuns.code in {one.code for one in result.findings}
        assert told or not result.files, target


@pytest.mark.parametrize("agent", list_agents())
def test_what_a_wrapped_command_is_told_comes_back(agent: str) -> None:
    """The options of `wrap` are the hook's own fields once it is converted again."""
    handler = {"type": "command", "command": "./g.sh", "timeout": 7, "timeout_action": "block"}
    hook = {"event": "before_tool_execute", "matcher": "shell", "blocking": True, "handler": handler}
    before = canonical(hook)
    there = pipeline.convert(before, get(agent))
    back = again(pipeline.convert(again(there), HUB)).decoded.manifest.hooks
    (was,) = before.decoded.manifest.hooks
    assert [one.handler for one in back] == [was.handler] * len(back)
    assert [one.blocking for one in back] == [True] * len(back)
    if " wrap " in again(there).decoded.manifest.hooks[0].handler.command:
        observer = pipeline.convert(canonical({**hook, "blocking": False}), get(agent))
        again_ = again(pipeline.convert(again(observer), HUB)).decoded.manifest.hooks
        assert not any(one.blocking for one in again_)
