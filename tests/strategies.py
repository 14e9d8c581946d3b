"""Hypothesis strategies for canonical manifests, odd texts and matchers."""

from __future__ import annotations

from functools import cache
from typing import Any

from hypothesis import strategies as st

from hookport.agents import get, list_dialects
from hookport.model.events import EVENTS, is_about_tool, join_native
from hookport.model.hooks import CAPABILITIES, STRATEGIES
from hookport.model.tools import TOOLS

Tree = Any

FRAGMENTS = (
    *(
        "'",
        '"',
        "$",
        "$HOME",
        "${HOME}",
        "`",
        "\\",
        "\n",
        "\t",
        " ",
        "|",
        "||",
        "&",
        ";",
        "#",
        "<<EOF",
        "*",
        "?",
    ),
    *(
        "[",
        "]",
        "(",
        ")",
        "{",
        "}",
        "^",
        ".",
        "+",
        "%s",
        "%",
        "~",
        "!",
        ":",
        ": ",
        "- ",
        "-",
        "---\n",
        "@",
        "=",
        ",",
    ),
    *(
        "é",
        "日本",
        "😀",
        "\u2028",
        "\u00a0",
        "\u0085",
        "\r\n",
        "\x7f",
        "</script>",
        "//",
        "/*",
        "null",
        "true",
        "1e3",
    ),
    *("./guard.sh", "exit 2", "rm -rf /", "mcp__", "mcp_", "MCP:", "{reason}", "{target}", "\x00", "\x1b"),
)


@cache
def texts(minimum: int = 1) -> st.SearchStrategy[str]:
    """Texts as a careless or a hostile person writes them."""
    pieces = st.lists(st.sampled_from(FRAGMENTS), min_size=minimum, max_size=5).map("".join)
    plain = st.text(st.characters(exclude_categories=["Cs"]), min_size=minimum, max_size=8)
    return st.one_of(st.sampled_from(["./guard.sh", "a", "echo $X"]), pieces, plain)


@cache
def words() -> st.SearchStrategy[str]:
    """Names as a program accepts them."""
    return st.from_regex(r"\A[A-Za-z_][A-Za-z0-9_-]{0,7}\Z")


@cache
def patterns() -> st.SearchStrategy[str]:
    """Regular expressions that RE2 accepts."""
    known = [
        "file_(read|write)",
        "^web_",
        ".*",
        "shell",
        "^shell$",
        "a|b",
        "x.y",
        r"\.env$",
        "(?:Bash|Edit)",
        "[a-c]+",
    ]
    more = [
        "mcp__.*",
        "mcp__github__.*",
        "mcp_a_b",
        "startup|resume",
        "^(?:manual|auto)$",
        "Write|Edit",
        "(?i)bash",
        "é",
    ]
    return st.sampled_from(known + more)


@cache
def terms() -> st.SearchStrategy[Tree]:
    """One alternative of a matcher."""
    mcp = st.fixed_dictionaries(
        {"server": st.one_of(st.just("*"), words(), texts())}, optional={"tool": st.one_of(words(), texts())}
    )
    return st.one_of(
        st.sampled_from(list(TOOLS)),
        words(),
        texts(),
        patterns().map(lambda pattern: {"pattern": pattern}),
        mcp.map(lambda value: {"mcp": value}),
    )


@cache
def subjects() -> st.SearchStrategy[Tree]:
    """A matcher on something else than a tool."""
    return st.one_of(patterns().map(lambda pattern: {"pattern": pattern}), words())


@cache
def timeouts() -> st.SearchStrategy[float]:
    """Seconds, short and long, whole and not."""
    return st.one_of(st.integers(0, 100_000), st.sampled_from([0.001, 0.25, 1.5, 12.345, 59.999, 600.5]))


@cache
def handlers() -> st.SearchStrategy[Tree]:
    """Handlers of all types with all their fields."""
    common = {
        "timeout": timeouts(),
        "timeout_action": st.sampled_from(["warn", "block"]),
        "on_failure": st.just("block"),
        "async": st.booleans(),
        "status_message": texts(),
    }
    maps = st.dictionaries(st.one_of(words(), texts()), texts(0), min_size=1, max_size=2)
    platform = st.fixed_dictionaries({}, optional=dict.fromkeys(("windows", "linux", "osx"), texts())).filter(
        bool
    )
    command = st.fixed_dictionaries(
        {"type": st.just("command"), "command": texts()},
        optional={"platform": platform, "cwd": texts(), "env": maps, **common},
    )
    http = st.fixed_dictionaries(
        {"type": st.just("http"), "url": st.one_of(st.just("http://127.0.0.1:9/x"), texts())},
        optional={"headers": maps, "allowed_env_vars": st.lists(words(), min_size=1, max_size=2), **common},
    )
    prompt = st.fixed_dictionaries(
        {"type": st.sampled_from(["prompt", "agent"]), "prompt": texts()},
        optional={"model": texts(), **common},
    )
    return st.one_of(command, command, command, http, prompt)


@cache
def events() -> st.SearchStrategy[str]:
    """Every canonical event, the first ones more often, and every native one."""
    native = [
        join_native(name, spec.native)
        for name in list_dialects()
        for spec in get(name).events
        if not spec.canonical
    ]
    canonical = list(EVENTS)
    return st.one_of(st.sampled_from(canonical[:3]), st.sampled_from(canonical), st.sampled_from(native))


@st.composite
def hooks(draw: st.DrawFn) -> Tree:
    """One hook with some of all fields."""
    event = draw(events())
    said: Tree = draw(st.one_of(st.just({}), owned()))
    hook = draw(rest(is_tool=is_about_tool(event)))
    dialect, colon, _ = event.partition(":")
    if colon:
        said = {**said, "dialect": dialect}
    made = {"event": event, **hook}
    return {**made, "provider_data": {"hookport": said}} if said else made


@cache
def owned() -> st.SearchStrategy[Tree]:
    """What the format has no field for."""
    return st.fixed_dictionaries(
        {},
        optional={
            "description": texts(),
            "content": patterns(),
            "priority": st.integers(-5, 1100),
            "metadata": st.dictionaries(
                words(), st.one_of(texts(), st.integers(), st.booleans()), min_size=1, max_size=2
            ),
            "enabled": st.just(value=False),
        },
    )


@cache
def rest(*, is_tool: bool) -> st.SearchStrategy[Tree]:
    """A hook without its event."""
    matcher = terms() if is_tool else subjects()
    strategies = st.dictionaries(st.sampled_from(list(CAPABILITIES)), st.sampled_from(STRATEGIES), max_size=2)
    return st.fixed_dictionaries(
        {"handler": handlers()},
        optional={
            "name": texts(),
            "matcher": st.one_of(matcher, st.lists(matcher, min_size=1, max_size=3)),
            "blocking": st.booleans(),
            "degradation": strategies,
            "capabilities": st.lists(st.sampled_from(list(CAPABILITIES)), max_size=2),
        },
    )


@cache
def manifests() -> st.SearchStrategy[Tree]:
    """Canonical manifests of a few hooks."""
    return st.builds(
        lambda found: {"spec": "hooks/1.0", "hooks": found}, st.lists(hooks(), min_size=1, max_size=3)
    )
