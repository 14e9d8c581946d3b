"""A matcher on MCP tools never matches less than its own agent would: in the bridge, and converted.

Agents spell a server and its tool in eight ways, and some do not say the server. What cannot be decided
matches, and says so.
"""

from __future__ import annotations

import json
import re
import warnings
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookport.agents import find_event_specs, get, get_wire, list_agents, list_dialects
from hookport.convert.degrade import degrade
from hookport.model.hooks import Handler, Hook, Manifest
from hookport.model.patterns import Sign, Unknown, matches_all, may_match
from hookport.model.runs import Call, Event
from hookport.project.discovery import HookEntry
from hookport.project.plan_builder import plan_entry
from hookport.runtime import engine
from hookport.shapes.dialect import find_matching, is_split, view_at_event
from hookport.shapes.entries import find_slots
from hookport.shapes.matchers import MARK, read_matcher, write_matcher
from hookport.wire.events import name_mcp_tool, read_event, write_event

# Each with `{p}` for how MCP names begin and `{j}` for what stands between the server and the tool.
FORMS = (
    "{p}github{j}merge",
    "{p}github{j}(merge|delete)",
    "{p}git(hub|lab){j}merge",
    "{p}(?:github|gitlab){j}.*",
    "{p}github{j}me.*",
    "{p}github{j}.*",
    "{p}.*{j}merge",
    "{p}[a-z]+{j}(delete|merge)$",
    "^{p}github{j}m",
    "^({p}github{j}merge|Nothing)$",
    "{p}(?!gitlab).*",
    "{p}git_(hub|lab){j}merge_(pr|all)",
    "{p}git-(hub|lab){j}merge",
    ".*hub{j}.*",
    ".*merge.*",
    "Nothing|{p}github{j}me(rge)?",
)
CALLS = (
    ("github", "merge"),
    ("github", "delete"),
    ("github", "merge_pr"),
    ("gitlab", "merge"),
    ("git_hub", "merge_pr"),
    ("git-hub", "merge"),
    ("notes", "read"),
)
HOOK_DIALECTS = [
    name
    for name in list_dialects()
    if get(name).mcp and get(name).matching.grammar in ("names", "regex", "anchored", "marked")
]


def open_spec(name: str) -> Any:
    """The event before any tool; None where there is none for all."""
    specs = find_event_specs(get(name), "before_tool_execute")
    return next((spec for spec in specs if not is_split(spec)), None)


AGENTS = [agent for agent in list_agents() if open_spec(agent) and get_wire(agent).mcp]


def spelled(dialect: str, form: str) -> str:
    mcp = view_at_event(get(dialect), open_spec(dialect)).mcp
    assert mcp is not None
    text = form.replace("{p}", re.escape(mcp.prefix)).replace("{j}", re.escape(mcp.joint))
    is_marked = find_matching(get(dialect), open_spec(dialect)).grammar == "marked"
    return (MARK if is_marked else "") + text.replace(r"\-", "-")


def own_name(dialect: str, server: str, tool: str) -> str:
    """What the dialect's own agent calls an MCP tool."""
    mcp = view_at_event(get(dialect), open_spec(dialect)).mcp
    assert mcp is not None
    if not mcp.joint:
        return mcp.prefix + tool
    clean = [re.sub(f"[^{mcp.allowed}]", "_", one) if mcp.allowed else one for one in (server, tool)]
    return mcp.prefix + clean[0] + mcp.joint + clean[1]


def natively(dialect: str, text: str, name: str) -> bool:
    """Whether a dialect's own agent runs a hook with this matcher on a tool of this name."""
    matching = find_matching(get(dialect), open_spec(dialect))
    if text in matching.everything:
        return True
    if matching.grammar == "marked":
        is_pattern = text.startswith(MARK)
        return (
            bool(re.fullmatch(text.removeprefix(MARK), name, re.IGNORECASE)) if is_pattern else text == name
        )
    if matching.grammar == "names" and re.fullmatch(f"{matching.plain}+", text):
        return name in re.split(f"[{re.escape(matching.separators)}]", text)
    # A name written out is that name, also where the agent would find it in longer ones.
    if matching.grammar == "anchored" or re.fullmatch(r"[\w:@/-]+", text):
        return bool(re.fullmatch(text, name))
    return bool(re.search(text, name))


def fired(agent: str, server: str, tool: str) -> Event:
    own = get_wire(agent)
    native = open_spec(agent).native
    call = Call(native=name_mcp_tool(own, server, tool), server=server, mcp_tool=tool)
    payload = write_event(own, Event("before_tool_execute", "", session="s", call=call), native)
    return read_event(own, json.loads(json.dumps(payload)), native)


def hook(dialect: str, text: str) -> Hook:
    terms, content = read_matcher(get(dialect), open_spec(dialect), text)
    assert not content
    return Hook(
        "before_tool_execute", Handler(command="guard"), matcher=terms, blocking=True, dialect=dialect
    )


def matched(event: Event, one: Hook) -> bool:
    plan = plan_entry(HookEntry(one, "f", "p", "/w", "project", ()))
    return engine.explain_hooks(event, [plan], engine.RunSetting(get_wire(event.agent), get_wire, {}))[
        0
    ].matched


@pytest.mark.parametrize(
    "dialect", [name for name in HOOK_DIALECTS if "server last" not in get_wire(name).traits]
)
@pytest.mark.parametrize("agent", AGENTS)
def test_the_bridge_never_matches_less(agent: str, dialect: str) -> None:
    lost = [
        (text, server, tool)
        for text in (spelled(dialect, form) for form in FORMS)
        for server, tool in CALLS
        if natively(dialect, text, own_name(dialect, server, tool))
        and not matched(fired(agent, server, tool), hook(dialect, text))
    ]
    assert lost == []


def converted(dialect: str, text: str, target: str) -> tuple[list[tuple[Any, str | None]], bool]:
    """The entries that a hook becomes: (event, matcher); and whether a guard was said to be lost."""
    degraded = degrade(Manifest((hook(dialect, text),)), get(target), (), {})
    written = [
        (spec, matcher)
        for one in degraded.manifest.hooks
        for spec, part in find_slots(get(target), one)
        for matcher in write_matcher(get(target), spec, part, one.content)
    ]
    return written, any(finding.severity == "error" for finding in degraded.findings)


def covers(target: str, spec: Any, matcher: str | None, server: str, tool: str) -> bool:
    """Whether an entry of the target runs on an MCP tool."""
    if is_split(spec) and "mcp" not in spec.tools:
        return False
    matching = find_matching(get(target), spec)
    if matcher is None or matching.grammar in ("none", "ignored"):
        return True
    if spec.subject == "mcp_tool":
        return bool(re.search(matcher, tool))
    if "server last" in get_wire(target).traits:
        name = f"{tool}_{server}"
        is_mcp, rest = matcher.startswith("mcp:"), matcher.removeprefix("mcp:")
        return rest == "*" or bool(re.search(rest, name)) if is_mcp else bool(re.search(matcher, name))
    own = view_at_event(get(target), spec).mcp
    name = own_name(target, server, tool) if own else f"mcp__{server}__{tool}"
    return natively(target, matcher, name)


TARGETS = [name for name in list_dialects() if get(name).matching.grammar != "terms" and not get(name).is_hub]


@pytest.mark.parametrize(
    "dialect", [name for name in HOOK_DIALECTS if "server last" not in get_wire(name).traits]
)
@pytest.mark.parametrize("target", TARGETS)
def test_a_converted_matcher_never_matches_less(target: str, dialect: str) -> None:
    lost = []
    for text in (spelled(dialect, form) for form in FORMS):
        written, is_told = converted(dialect, text, target)
        lost += [
            (text, [matcher for _, matcher in written], server, tool)
            for server, tool in CALLS
            if natively(dialect, text, own_name(dialect, server, tool))
            and not is_told
            and not any(covers(target, spec, matcher, server, tool) for spec, matcher in written)
        ]
    assert lost == []


# `{}` is the name of the dialect's shell tool.
EMPTY = ("{}|", "|{}", "({}|)", "(|{})", "(?:{}|)", "{}||Nothing", "^({}|)")


@pytest.mark.parametrize(
    "dialect", [name for name in list_dialects() if open_spec(name) and not get(name).is_hub]
)
def test_an_empty_alternative_keeps_its_meaning(dialect: str) -> None:
    shell = view_at_event(get(dialect), open_spec(dialect)).tools[0].native
    grammar = get(dialect).matching.grammar
    if grammar in ("none", "ignored", "terms"):
        return
    for form in EMPTY:
        text = form.format(shell)
        # A list of names has no empty one; an expression that is looked for is found in every name.
        is_all = grammar == "regex" or (grammar == "names" and "(" in text)
        assert (hook(dialect, text).matcher == ()) is is_all, text


@pytest.mark.parametrize(
    ("pattern", "is_found", "is_whole"),
    [
        *(
            (text, True, True)
            for text in (".*", ".+", "^.*$", "(.*)", "^(.+)$", ".*?", r"[\s\S]*", ".*|Bash")
        ),
        *((text, True, False) for text in ("", "a|", "(a|)", "|a", ".", "^", r"\w+", "^.", "a*", "(?:a|)b?")),
        *(
            (text, False, False)
            for text in ("Bash", "^$", "a.*", "^a*$", r"^\w$", "[A-Z]", "^Bash|^$", "(?!a)")
        ),
    ],
)
def test_patterns_that_match_every_name(pattern: str, is_found: bool, is_whole: bool) -> None:
    assert (matches_all(pattern), matches_all(pattern, is_full=True)) == (is_found, is_whole)


TEXT = (*"mcp__", Unknown("__"), *"__merge")


@pytest.mark.parametrize(
    ("pattern", "may"),
    [
        *(
            (text, True)
            for text in ("mcp__a_b__m", "mcp__g.*b__(x|merge)", r"mcp__\w+__merge$", "(.)\\1__merge")
        ),
        *(
            (text, True)
            for text in ("(?i)MCP__X__MERGE", "mcp__(?=x)", "mcp__[^_]{3,}__", "^(Bash|mcp__x__merge)$")
        ),
        *((text, False) for text in ("mcp__x__del.*", "^Bash", "Bash|Ed.*", "mcp__x__merge_", "^MCP__")),
        *((text, True) for text in ("(", "mcp__x(__merge")),
    ],
)
def test_a_pattern_on_a_name_that_is_not_known_whole(pattern: str, may: bool) -> None:
    assert may_match(pattern, TEXT, ["Bash", "Edit"]) is may


def test_a_sign_may_be_any_that_is_no_letter() -> None:
    text = ["a", Sign(), "b"]
    assert [may_match(one, text) for one in ("a-b", "a_b", "a.b", "axb", r"a\wb")] == [
        True,
        True,
        True,
        False,
        True,
    ]


ALPHABET = "ab_"


@given(
    st.text(ALPHABET + "().*|[]^$?+", max_size=12),
    st.text(ALPHABET, max_size=6),
    st.text(ALPHABET, max_size=6),
)
def test_what_matches_with_some_server_may_match(pattern: str, server: str, tool: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = re.search(pattern, f"a{server}__{tool}")
        except re.error:
            found = None
    assert may_match(pattern, ["a", Unknown("__"), *"__", *tool]) or not found or "__" in server
