"""The steps of a conversion one by one, and edits of a source in place."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hookport.agents import Place, get
from hookport.convert import edit, pipeline
from hookport.convert.checks.addresses import find_refusal
from hookport.convert.checks.literals import Literal, UnknownValue, find_objects
from hookport.convert.checks.places import locate_finding, parse_steps
from hookport.convert.checks.rules import DeadRule, find_dead_rule, read_tool
from hookport.convert.pipeline import File, find_home_path, locate_problem
from hookport.errors import InputError, InternalError, Problem, spell_path
from hookport.findings import EFFECTS, AlwaysRuns, Finding, NothingLeft, TargetNote
from hookport.model.hooks import Handler, Hook, Term

CLAUDE, CODEX, CANONICAL = get("claude-code"), get("codex"), get("canonical")
SETTINGS = ".claude/settings.json"


def write_settings(*commands: str, matcher: str = "Bash") -> str:
    groups = [
        {"matcher": matcher, "hooks": [{"type": "command", "command": command}]} for command in commands
    ]
    return json.dumps({"model": "x", "hooks": {"PreToolUse": groups}}, indent=2) + "\n"


def read(text: str, path: str = SETTINGS) -> pipeline.Reading:
    return pipeline.read({path: text.encode()}, CLAUDE)


# Reading.


def test_every_file_that_is_damaged_is_reported_at_once() -> None:
    files = {
        "a/hooks.json": b'{"a": 1,}',
        "b/hooks.json": b"{}",
        "b/hooks.yaml": b"a: [\n",
        "c/config.toml": b"a = 1\nb =\n",
        "HOOK.md": b"# none\n",
        "x.sh": b"\xff",
    }
    with pytest.raises(InputError) as refused:
        pipeline.parse(files)
    assert [(one.file, one.line, one.column, one.path) for one in refused.value.problems] == [
        ("a/hooks.json", 1, 8, ()),
        ("b/hooks.yaml", 2, 1, ()),
        ("c/config.toml", 2, 4, ()),
        ("HOOK.md", 1, 1, ()),
        ("x.sh", 1, 1, ()),
    ]
    assert (
        str(refused.value).splitlines()[0]
        == "a/hooks.json:1:8: a trailing comma is not allowed in strict JSON"
    )


def test_a_byte_order_mark_is_refused_only_where_the_agent_refuses_it() -> None:
    data = b'\xef\xbb\xbf{"hooks": {}}'
    assert pipeline.parse({SETTINGS: data}, CLAUDE)[SETTINGS].tree == {"hooks": {}}
    with pytest.raises(InputError) as refused:
        pipeline.parse({".codex/hooks.json": data}, CODEX)
    message = f"{CODEX.title} refuses a file with a byte order mark"
    assert refused.value.problems == (Problem(message, (), ".codex/hooks.json", 1, 1),)


def test_a_comment_is_refused_where_the_agent_takes_none() -> None:
    text = b'{"hooks": {}} // c'
    assert pipeline.parse({".gemini/settings.json": text}, get("gemini-cli"))
    for path, dialect in ((SETTINGS, CLAUDE), ("hooks/hooks.json", get("gemini-cli"))):
        with pytest.raises(InputError, match="comments are not allowed in strict JSON"):
            pipeline.parse({path: text}, dialect)


def test_what_a_dialect_refuses_has_its_line() -> None:
    text = (
        '{\n  "spec": "hooks/1.0",\n  "hooks": [\n    {"event": "agent_stop",\n     "handler": 3}\n  ]\n}\n'
    )
    with pytest.raises(InputError) as refused:
        pipeline.read({"hooks.json": text.encode()}, CANONICAL)
    assert [(one.file, one.line, one.path) for one in refused.value.problems] == [
        ("hooks.json", 5, ("hooks", 0, "handler"))
    ]


def test_a_problem_keeps_the_line_that_it_has() -> None:
    documents = pipeline.parse({"a.json": b'{\n "x": [1,\n 2]}'})
    bare = Problem("m", ("x", 1), "a.json")
    assert locate_problem(bare, documents) == bare._replace(line=3, column=2)
    assert locate_problem(bare._replace(path=("x", 9)), documents)[1:] == (("x", 9), "a.json", 2, 7)
    for known in (bare._replace(line=9, column=1), bare._replace(file="b.json")):
        assert locate_problem(known, documents) == known


def test_hooks_of_several_files_are_named_with_their_file() -> None:
    files = {
        SETTINGS: write_settings("a").encode(),
        ".claude/settings.local.json": write_settings("b").encode(),
    }
    assert pipeline.read(files, CLAUDE).wheres == (
        f"{SETTINGS}: hooks.PreToolUse[0].hooks[0]",
        ".claude/settings.local.json: hooks.PreToolUse[0].hooks[0]",
    )
    assert read(write_settings("a")).wheres == ("hooks.PreToolUse[0].hooks[0]",)


# Places.

KEYS = st.sampled_from(["a", "hooks", "a.b", "a[0]", "frontmatter", "é", "[0]", "0"])
TREES = st.recursive(
    st.integers(0, 1),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=3)),
    max_leaves=8,
)


def list_paths(tree: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    inside = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    return [path, *(below for step, value in inside for below in list_paths(value, (*path, step)))]


@settings(max_examples=80, deadline=None)
@given(st.dictionaries(KEYS, TREES, min_size=1, max_size=3), st.data())
def test_a_path_that_was_spelled_is_found_again(tree: dict[str, Any], data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(list_paths(tree)))
    read_back = parse_steps(spell_path(("root", *path)), {"root": tree})
    assert spell_path(read_back) == spell_path(("root", *path))
    if not any("." in str(step) or "[" in str(step) for step in path):
        assert [*read_back[1:]] == [*path]


def test_a_finding_without_a_line_gets_that_of_its_words() -> None:
    reading = read(write_settings("a", "b"))
    plain = NothingLeft.at("hooks.PreToolUse[1].matcher", target="x")
    at = reading.documents[SETTINGS].position(("hooks", "PreToolUse", 1, "matcher"))
    assert locate_finding(plain, reading) == plain._replace(file=SETTINGS, line=at[0], column=at[1])
    inside = NothingLeft.at("hooks.PreToolUse[1].hooks[0].command", target="x")
    assert locate_finding(inside, reading).hook == 1
    unknown = locate_finding(NothingLeft.at("nowhere", 1, target="x"), reading)
    assert (unknown.hook, unknown.line) == (
        1,
        reading.documents[SETTINGS].position(reading.decoded.places[1].path)[0],
    )
    assert locate_finding(NothingLeft.at("", 7, target="x"), reading)[-4:] == (None, SETTINGS, 1, 1)
    known = plain._replace(file="other", line=3, column=4)
    assert locate_finding(known, reading) is known


# Where files belong.


@pytest.mark.parametrize(
    ("dialect", "name", "home"),
    [
        ("claude-code", "deep/down/.claude/settings.json", ".claude/settings.json"),
        ("claude-code", "my-settings.json", ".claude/settings.json"),
        ("claude-code", "../x/hooks/hooks.json", "hooks/hooks.json"),
        ("kimi-cli", "backup/.kimi/config.toml", "~/.kimi/config.toml"),
        ("codex", "config.toml", ".codex/config.toml"),
        ("codex", "anything.json", ".codex/hooks.json"),
        ("agent-hooks", "guard/HOOK.md", ".agents/hooks/guard/HOOK.md"),
        ("agent-hooks", "x/guard/scripts/run.py", ".agents/hooks/guard/scripts/run.py"),
        ("agent-hooks", "HOOK.md", ".agents/hooks/hook/HOOK.md"),
        ("copilot-cli", "a/.github/hooks/own.json", ".github/hooks/own.json"),
        ("windsurf", "hooks.json", ".windsurf/hooks.json"),
    ],
)
def test_where_a_file_belongs(dialect: str, name: str, home: str) -> None:
    assert find_home_path(get(dialect), name) == home


def test_a_source_stays_as_it_is_for_its_own_dialect() -> None:
    text = write_settings("a", "b")
    conversion = pipeline.convert(read(text, f"x/{SETTINGS}"), CLAUDE)
    assert (conversion.files, conversion.effects) == ((File(SETTINGS, text),), ("kept", "kept"))
    assert conversion.hooks == read(text).decoded.manifest.hooks


# Verifying and counting.


def find_broken_promise(text: str, *hooks: Hook) -> str:
    with pytest.raises(InternalError) as broken:
        pipeline.verify(CLAUDE, {SETTINGS: text.encode()}, hooks)
    return str(broken.value)


def test_what_would_be_read_differently_is_never_written() -> None:
    text = write_settings("a", "b")
    first, second = read(text).decoded.manifest.hooks
    pipeline.verify(CLAUDE, {SETTINGS: text.encode()}, (first, second))
    pipeline.verify(CLAUDE, {}, (first,))
    assert find_broken_promise(text, first) == "claude-code would read 2 hooks instead of 1"
    assert find_broken_promise(text, first, second._replace(blocking=not second.blocking)) == (
        "claude-code would read hook 1 differently: "
        f"blocking {second.blocking} instead of {not second.blocking}"
    )
    assert find_broken_promise("{", first).startswith(
        f"the files written for claude-code cannot be read back: {SETTINGS}:1:2: "
    )


def test_a_matcher_that_was_kept_for_its_spelling_is_no_difference() -> None:
    text = write_settings("a")
    [hook] = read(text).decoded.manifest.hooks
    kept = {**hook.provider_data.get("claude-code", {}), "written_matcher": "Bash"}
    marked = hook._replace(provider_data={**hook.provider_data, "claude-code": kept})
    pipeline.verify(CLAUDE, {SETTINGS: text.encode()}, (marked,))


def test_the_effect_on_a_hook_is_the_strongest_of_its_findings() -> None:
    def note(effect: str, hook: int | None) -> Finding:
        return AlwaysRuns.at("", hook, target="x")._replace(effect=effect)  # type: ignore[arg-type]

    strongest = [EFFECTS[1], EFFECTS[-1]]
    findings = (note(strongest[1], 0), note(strongest[0], 0), note(strongest[0], 2), note(strongest[1], None))
    assert pipeline.list_effects(3, findings) == (strongest[1], "kept", strongest[0])


def test_nothing_is_written_where_no_hook_is_left() -> None:
    conversion = pipeline.convert(read('{"hooks": {}}'), CODEX)
    assert (conversion.files, conversion.hooks, conversion.effects) == ((), (), ())
    assert conversion.findings[-1:] == (NothingLeft.at("", target="codex"),)
    assert TargetNote.code not in [one.code for one in conversion.findings]


# Edits in place.

HEAD = b'// mine\r\n{\r\n  "model": "x", // keep\r\n  "hooks": {\r\n    "BeforeTool": [\r\n'
TAIL = b'    ]\r\n  }, /* end */\r\n  "z": [1,2 ,3]\r\n}\r\n'
GEMINI, GEMINI_FILE = get("gemini-cli"), ".gemini/settings.json"


def write_commented(*commands: str) -> bytes:
    lines = [
        '      {"matcher": "run_shell_command", "hooks": [{"type":"command", '
        f'"command":"./{command}.sh"}}]}}'
        for command in commands
    ]
    return HEAD + ",\r\n".join(lines).encode() + b"\r\n" + TAIL


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.sampled_from("abcd"), min_size=1, max_size=4, unique=True), st.data())
def test_hooks_that_go_or_change_leave_every_other_byte(commands: list[str], data: st.DataObject) -> None:
    reading = pipeline.read({GEMINI_FILE: write_commented(*commands)}, GEMINI)
    hooks = reading.decoded.manifest.hooks
    keep = data.draw(st.lists(st.booleans(), min_size=len(hooks), max_size=len(hooks)).filter(any))
    renamed = data.draw(st.integers(0, len(hooks) - 1))
    wanted, names = [], []
    for number, (hook, name) in enumerate(zip(hooks, commands, strict=True)):
        if keep[number]:
            names.append("new" if number == renamed else name)
            handler = hook.handler._replace(command=f"./{names[-1]}.sh")
            wanted.append(hook._replace(handler=handler))
    assert edit.encode(reading, tuple(wanted)) == {GEMINI_FILE: write_commented(*names)}


def test_a_hook_that_comes_back_restores_the_file() -> None:
    files = {GEMINI_FILE: write_commented("a", "b")}
    reading = pipeline.read(files, GEMINI)
    hooks = reading.decoded.manifest.hooks
    more = hooks[0]._replace(handler=Handler(command="./more.sh"), matcher=())
    added = edit.encode(reading, (*hooks, more))
    again = pipeline.read(added, GEMINI)
    assert [hook.handler.command for hook in again.decoded.manifest.hooks] == [
        "./a.sh",
        "./b.sh",
        "./more.sh",
    ]
    assert edit.encode(again, again.decoded.manifest.hooks[:2]) == files


def test_an_edit_of_one_file_leaves_the_others() -> None:
    files = {SETTINGS: write_settings("a").encode(), ".claude/settings.local.json": b'{"hooks": {}, "x":1}'}
    reading = pipeline.read(files, CLAUDE)
    [hook] = reading.decoded.manifest.hooks
    changed = edit.encode(reading, (hook._replace(handler=hook.handler._replace(command="b")),))
    assert changed == {**files, SETTINGS: write_settings("b").encode()}


def test_a_script_that_is_the_hook_itself_is_not_edited() -> None:
    cline = get("cline")
    reading = pipeline.read({".clinerules/hooks/PreToolUse": b"#!/bin/sh\nexit 0\n"}, cline)
    [hook] = reading.decoded.manifest.hooks
    assert edit.encode(reading, (hook,)) == {".clinerules/hooks/PreToolUse": b"#!/bin/sh\nexit 0\n"}
    with pytest.raises(InputError) as refused:
        edit.encode(reading, (hook._replace(handler=hook.handler._replace(command="other")),))
    message = "is a person's own script, so it is not edited"
    assert refused.value.problems == (Problem(message, (), ".clinerules/hooks/PreToolUse"),)


def test_toml_entries_go_with_their_tables() -> None:
    head = b'# mine\nmodel = "x" # keep\n\n'
    entries = [f'[[hooks]]\nevent = "PreToolUse"\ncommand = "./{name}.sh"\n' for name in "ab"]
    path, kimi = "~/.kimi/config.toml", get("kimi-cli")
    reading = pipeline.read({path: head + "\n".join(entries).encode()}, kimi)
    first, second = reading.decoded.manifest.hooks
    assert edit.encode(reading, (first,)) == {path: head + entries[0].encode()}
    assert edit.encode(reading, (second,)) == {path: head + entries[1].encode()}


def test_a_folder_goes_with_its_hook_and_a_script_of_the_users_stays() -> None:
    dialect = get("agent-hooks")
    folder = ".agents/hooks"
    files = {
        f"{folder}/{name}/{file}": text
        for name in ("one", "two")
        for file, text in (
            (
                "HOOK.md",
                f"---\nname: {name}\ndescription: d # c\ntrigger: before_tool\n---\n\n# {name}\n".encode(),
            ),
            ("scripts/run.sh", b"#!/bin/sh\nexit 0\n"),
        )
    }
    reading = pipeline.read(files, dialect)
    first, second = reading.decoded.manifest.hooks
    left = edit.encode(reading, (first,))
    assert left == {name: data for name, data in files.items() if name != f"{folder}/two/HOOK.md"}
    described = edit.encode(reading, (first, second._replace(description="other")))
    main = f"{folder}/two/HOOK.md"
    assert described == {**files, main: files[main].replace(b"description: d", b"description: other")}


# Objects in the texts of scripts, rules and addresses.


PLAIN_VALUES = st.one_of(st.integers(-9, 9), st.booleans(), st.none(), st.text("ab :,[]'/é", max_size=5))
VALUES = st.one_of(
    PLAIN_VALUES, st.lists(PLAIN_VALUES, max_size=2), st.dictionaries(KEYS, PLAIN_VALUES, max_size=2)
)


@settings(max_examples=80, deadline=None)
@given(st.dictionaries(st.sampled_from("abc"), VALUES, min_size=1))
def test_an_object_in_json_is_found_whole(tree: dict[str, Any]) -> None:
    text = json.dumps(tree, ensure_ascii=False)
    before = "if x { y }; echo "
    assert list(find_objects(f"{before}{text}; {{ z }}")) == [Literal(tree, len(before), len(before + text))]


@pytest.mark.parametrize(
    ("text", "trees"),
    [
        ("{a: 1}", [{"a": 1}]),
        ("{'a': None, \"b\": True,}", [{"a": None, "b": True}]),
        ('{\\"a\\": \\"b\\"}', [{"a": "b"}]),
        ('{"a": "$X", "b": 1}', [{"a": UnknownValue(is_text=True), "b": 1}]),
        ("{a: f(x, [1, 2]), b: -1.5}", [{"a": UnknownValue(), "b": -1.5}]),
        ('{a: "x" + y, b: [z, 1]}', [{"a": UnknownValue(is_text=True), "b": [UnknownValue(), 1]}]),
        ("{a, b: 1} {c: 2}", [{"a": UnknownValue(), "b": 1}, {"c": 2}]),
        ("{a, b}", []),
        ("{}", []),
        ('{"a": 1', []),
        ('{"a": "x}', []),
        ("{" * 5000, []),
        ("{a:" * 9 + "1" + "}" * 9, [{"a": {"a": {"a": {"a": {"a": {"a": UnknownValue()}}}}}}]),
    ],
)
def test_objects_as_languages_spell_them(text: str, trees: list[Any]) -> None:
    assert [one.tree for one in find_objects(text)] == trees


@settings(max_examples=100, deadline=None)
@given(st.text("{}[]:,'\"`\\$ab1 \n", max_size=40))
def test_every_object_is_where_it_says(text: str) -> None:
    ends = 0
    for tree, start, end in find_objects(text):
        assert ends <= start < end <= len(text)
        assert (text[start], text[end - 1], next(find_objects(text[start:end])).tree) == ("{", "}", tree)
        ends = end


RULES = [
    ("Bash(git *)", ""),
    (" Bash", "it has blanks around it"),
    ("Bash(git *", "it does not end with ')'"),
    ("Bash git *)", "it has no '('"),
    ("*", "'*' is not a tool; remove 'if' to run on every call"),
    ("Bash(git *)|Edit(x)", "it is read as one rule; write one hook for each"),
    ("Bash(command:rm *)", "'command:' is read as part of the pattern; write the pattern alone"),
    ("Read(!x)", "a pattern starting with '!' matches nothing"),
    ("Edit(*.{ts,js})", "rules do not support braces; write one hook for each"),
    ("Edit(*)", "the matcher has Bash, PowerShell, Monitor, not Edit"),
]


@pytest.mark.parametrize(("rule", "why"), RULES)
def test_rules_that_hold_for_no_call(rule: str, why: str) -> None:
    hook = Hook("before_tool_execute", Handler(), (Term("tool", "shell"),), condition=rule)
    assert find_dead_rule(hook, CLAUDE) == (DeadRule(why) if why else None)
    assert find_dead_rule(hook, CODEX) is None
    assert read_tool(rule) == rule.split("(", maxsplit=1)[0]


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("https://hooks.example.com/check", ""),
        ("http://127.0.0.1:8080/x", ""),
        ("http://hooks.example.com/check", "plain HTTP"),
        ("https://user:secret@hooks.example.com", "user or password"),
        ("ftp://x", "not an http"),
    ],
)
def test_addresses_that_no_event_goes_to(url: str, why: str) -> None:
    refusal = find_refusal(url)
    assert (refusal is not None) == bool(why)
    if refusal is not None:
        assert why in refusal.message
        assert "secret" not in refusal.message


def test_a_place_is_that_of_an_entry() -> None:
    places = pipeline.read({SETTINGS: write_settings("a").encode()}, CLAUDE).decoded.places
    assert places == (Place(SETTINGS, ("hooks", "PreToolUse", 0, "hooks", 0)),)
