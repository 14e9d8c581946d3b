"""The rules of the Hook Interchange Format, held one by one."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from hookport import findings
from hookport.agents import get, get_wire, list_dialects
from hookport.convert import pipeline
from hookport.convert.degrade import degrade, infer
from hookport.errors import InputError
from hookport.model.events import EVENTS
from hookport.model.hooks import CAPABILITIES, Hook, Term
from hookport.model.runs import Decision, RunResult
from hookport.wire.answers import read_answer
from tests import conformance

HUB = get("canonical")
COMMAND = {"type": "command", "command": "./x.sh"}


def manifest(*hooks: dict[str, Any], **more: Any) -> bytes:
    """A manifest as JSON."""
    return json.dumps({"spec": "hooks/1.0", "hooks": list(hooks), **more}).encode()


def read(data: bytes, name: str = "hooks.json") -> pipeline.Reading:
    """A manifest as it is read."""
    return pipeline.read({name: data}, HUB)


def hook(**more: Any) -> dict[str, Any]:
    """A hook before the shell."""
    return {"event": "before_tool_execute", "matcher": "shell", "handler": COMMAND, "blocking": True, **more}


def written(data: bytes, target: str) -> tuple[Any, list[str]]:
    """The tree of the first file for a target, and the codes reported."""
    result = pipeline.convert(read(data), get(target))
    tree = json.loads(result.files[0].text) if result.files else None
    return tree, [finding.code for finding in result.findings]


def test_every_rule_has_a_test() -> None:
    """A rule without a test is a claim."""
    assert [rule for rule, tests in conformance.holders().items() if not tests] == []


@pytest.mark.conforms("C1")
def test_json_and_yaml_are_the_same() -> None:
    """All types of values, in both."""
    text = b"""
spec: hooks/1.0
hooks:
  - event: before_tool_execute
    matcher: [shell, {pattern: "file_.*"}, {mcp: {server: github}}]
    handler: {type: command, command: ./x.sh, timeout: 1.5, async: true, env: {A: "1"}}
"""
    same = manifest(
        {
            "event": "before_tool_execute",
            "matcher": ["shell", {"pattern": "file_.*"}, {"mcp": {"server": "github"}}],
            "handler": {**COMMAND, "timeout": 1.5, "async": True, "env": {"A": "1"}},
        }
    )
    assert read(text, "hooks.yaml").decoded.manifest == read(same).decoded.manifest


@pytest.mark.conforms("C2", "C3")
@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b'{"hooks": []}', "'spec' is missing"),
        (b'{"spec": "hooks/2.0", "hooks": [1]}', 'must be "hooks/1.0"'),
        (b'{"spec": "hooks/1.0"}', "'hooks' is missing"),
        (b'{"spec": "hooks/1.0", "hooks": []}', "must not be empty"),
        (b'{"spec": "hooks/1.0", "hooks": {}}', "must be a list"),
        (manifest({"handler": COMMAND}), "'event' is missing"),
        (manifest({"event": "session_end"}), "'handler' is missing"),
        (manifest({"event": "session_end", "handler": {"type": "command"}}), "need 'command'"),
    ],
)
def test_what_a_manifest_must_have(data: bytes, says: str) -> None:
    """Refused, with the place."""
    with pytest.raises(InputError, match=says):
        read(data)


@pytest.mark.conforms("C2")
def test_a_manifest_of_the_draft_is_read_with_a_finding() -> None:
    """The public draft says `hooks/0.1`; everything else is the same."""
    draft = manifest(hook()).replace(b"hooks/1.0", b"hooks/0.1")
    assert read(draft).decoded.manifest == read(manifest(hook())).decoded.manifest
    assert [one.code for one in read(draft).decoded.findings] == [findings.DraftSpec.code]


@pytest.mark.conforms("C5")
@pytest.mark.parametrize(
    ("odd", "plain"),
    [
        ({"matcher": {"pattern": "shell", "x": 1}}, {"matcher": {"pattern": "shell"}}),
        ({"matcher": {"mcp": {"server": "a", "x": 1}}}, {"matcher": {"mcp": {"server": "a"}}}),
        ({"matcher": {"mcp": {"server": "a"}, "x": 1}}, {"matcher": {"mcp": {"server": "a"}}}),
        ({"matcher": ["shell", {"pattern": "f", "x": 1}]}, {"matcher": ["shell", {"pattern": "f"}]}),
        (
            {"handler": {**COMMAND, "platform": {"freebsd": {"x": 1}, "linux": "./l.sh"}}},
            {"handler": {**COMMAND, "platform": {"linux": "./l.sh"}}},
        ),
        ({"degradation": {"later": "warn"}}, {}),
    ],
)
def test_unknown_keys_inside_a_hook_change_nothing(odd: dict[str, Any], plain: dict[str, Any]) -> None:
    """Inside matchers, commands per platform and strategies."""
    (one,) = read(manifest(hook(**odd))).decoded.manifest.hooks
    (other,) = read(manifest(hook(**plain))).decoded.manifest.hooks
    assert one._replace(provider_data={}, degradation={}) == other._replace(provider_data={}, degradation={})
    for target in map(get, (name for name in list_dialects() if name != HUB.id)):
        written = [pipeline.convert(read(manifest(hook(**keys))), target).files for keys in (odd, plain)]
        assert written[0] == written[1], target.id


FULL = hook(
    name="guard",
    handler={
        "type": "command",
        "command": "./x.sh",
        "platform": {"windows": "x.ps1", "linux": "./l.sh", "osx": "./m.sh"},
        "cwd": "sub",
        "env": {"A": "b"},
        "timeout": 10,
        "timeout_action": "block",
        "async": True,
        "status_message": "checking",
    },
    degradation={"input_rewrite": "warn"},
    capabilities=["input_rewrite"],
    provider_data={"windsurf": {"show_output": True}},
)


@pytest.mark.conforms("C4", "C5")
def test_every_field_comes_back() -> None:
    """Known and unknown fields at every level, written as they were read."""
    odd = {**FULL, "later": {"x": 1}, "handler": {**FULL["handler"], "newer": [1]}}
    data = manifest(odd, comment="kept")
    tree = HUB.shape.encode(HUB, read(data).decoded.manifest)
    assert next(iter(tree.values())) == json.loads(data)


@pytest.mark.conforms("C6", "E10", "F5", "C11")
@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize("target", list_dialects())
def test_events_are_translated(event: str, target: str) -> None:
    """Where the target has the event, the hook comes back on it; where it has not, that is said."""
    data = manifest({"event": event, "handler": {**COMMAND, "timeout": 10}})
    result = pipeline.convert(read(data), get(target))
    if result.effects == ("dropped",):
        assert event in get(target).lacks
        return
    files = {file.path: file.text.encode() for file in result.files}
    back = [one.event for one in pipeline.read(files, get(target)).decoded.manifest.hooks]
    shifted = any(finding.code == findings.TimingShift.code for finding in result.findings)
    assert back == [event] or (shifted and event in get(target).lacks)


def answered(result: RunResult, *, blocking: bool) -> Decision:
    """What a hook of the interchange format decided before a tool."""
    event = "before_tool_execute"
    return read_answer(get_wire("canonical"), result, native=event, canonical=event, blocking=blocking)


TRUTH = [
    (True, 0, '{"decision": "allow"}', Decision("allow")),
    (True, 0, '{"decision": "deny", "reason": "no"}', Decision("deny", "no")),
    (True, 0, '{"decision": "ask"}', Decision("ask")),
    (True, 0, "", Decision()),
    (True, 0, "{}", Decision()),
    (True, 2, '{"decision": "allow"}', Decision("deny", "stop")),
    (True, 2, '{"decision": "deny"}', Decision("deny", "stop")),
    (True, 2, "", Decision("deny", "stop")),
    (True, 1, '{"decision": "deny"}', Decision(failure="exit code 1", reason="stop")),
    (True, 3, "", Decision(failure="exit code 3", reason="stop")),
    (True, 0, "log line", Decision(failure="stdout is not a JSON object")),
    (True, 0, '{"decision": "maybe"}', Decision(failure="unknown decision 'maybe'")),
    (False, 0, '{"decision": "allow"}', Decision("allow")),
    (False, 0, '{"decision": "deny"}', Decision("deny")),
    (False, 0, "", Decision()),
    (False, 2, "", Decision(failure="exit code 2 of a hook that may not block", reason="stop")),
    (False, 1, "", Decision(failure="exit code 1", reason="stop")),
]


@pytest.mark.conforms("C7", "C8", "E5", "E6")
@pytest.mark.parametrize(("blocking", "code", "out", "decision"), TRUTH)
def test_truth_table(code: int, out: str, decision: Decision, *, blocking: bool) -> None:
    """`blocking`, exit code and decision, in every combination."""
    result = RunResult("completed", code, out, "" if code == 0 else "stop\n")
    assert answered(result, blocking=blocking) == decision


@pytest.mark.conforms("E4")
def test_output_schema() -> None:
    """Every field of the schema."""
    out = {
        "decision": "allow",
        "reason": "r",
        "continue": False,
        "context": "c",
        "updated_input": {"command": "ls"},
        "suppress_output": True,
        "system_message": "m",
        "unknown": 1,
    }
    want = Decision(
        "allow",
        "r",
        "c",
        carry_on=False,
        updated_input={"command": "ls"},
        suppress_output=True,
        system_message="m",
    )
    assert answered(RunResult("completed", 0, json.dumps(out)), blocking=True) == want


@pytest.mark.conforms("C7")
@pytest.mark.parametrize("outcome", ["timeout", "signal", "spawn_error"])
def test_no_exit_code_is_no_success(outcome: Any) -> None:
    """A run that did not end by itself is a failure, never an allow."""
    assert answered(RunResult(outcome), blocking=True).failure


@pytest.mark.conforms("C9", "C10", "C12", "E3")
def test_words_are_translated() -> None:
    """Known words become native names, unknown ones pass with a warning, none means all."""
    other = hook(handler={"type": "command", "command": "./y.sh"})
    tree, codes = written(manifest(hook(matcher=["file_write", "frobnicate"]), other), "gemini-cli")
    assert [group["matcher"] for group in tree["hooks"]["BeforeTool"]] == [
        "write_file|frobnicate",
        "run_shell_command",
    ]
    assert findings.UnknownTool.code in codes
    data = hook()
    del data["matcher"]
    tree, _ = written(manifest(data), "gemini-cli")
    assert "matcher" not in tree["hooks"]["BeforeTool"][0]


@pytest.mark.conforms("C13")
@pytest.mark.parametrize("target", list_dialects())
def test_order_is_kept(target: str) -> None:
    """Hooks of one event come back in their order."""
    hooks = [
        hook(handler={"type": "command", "command": f"./{letter}.sh", "timeout": 10}) for letter in "cab"
    ]
    result = pipeline.convert(read(manifest(*hooks)), get(target))
    files = {file.path: file.text.encode() for file in result.files}
    back = [one.handler.command for one in pipeline.read(files, get(target)).decoded.manifest.hooks]
    assert [command[command.index(".sh") - 1] for command in back] == ["c", "a", "b"]


@pytest.mark.conforms("E1")
@pytest.mark.parametrize("pattern", [r"(a)\1", "a(?=b)", "(?<!a)b", "(?P<n>a)(?P=n)", "(", "a++"])
def test_what_re2_refuses(pattern: str) -> None:
    """Backreferences, lookaround and broken patterns."""
    with pytest.raises(InputError, match="pattern"):
        read(manifest(hook(matcher={"pattern": pattern})))


@pytest.mark.conforms("E1")
@pytest.mark.parametrize("pattern", ["file_(read|write|edit)", r"[\1]", r"\(\?=", "a+?b", "^x$"])
def test_what_re2_takes(pattern: str) -> None:
    """Patterns without what RE2 lacks."""
    assert (
        read(manifest(hook(matcher={"pattern": pattern}))).decoded.manifest.hooks[0].matcher[0].value
        == pattern
    )


@pytest.mark.conforms("E2")
@pytest.mark.parametrize(
    ("target", "event", "one", "all_"),
    [
        ("claude-code", "PreToolUse", "mcp__github__create_issue", "mcp__github__.*"),
        ("gemini-cli", "BeforeTool", "^(?:mcp_github_create_issue)$", "mcp_github_.*"),
        ("codex", "PreToolUse", "mcp__github__create_issue", "mcp__github__.*"),
        ("qwen-code", "PreToolUse", "mcp__github__create_issue", "mcp__github__.*"),
    ],
)
def test_mcp_names(target: str, event: str, one: str, all_: str) -> None:
    """One tool of a server, and all of them."""
    for mcp, want in (({"server": "github", "tool": "create_issue"}, one), ({"server": "github"}, all_)):
        tree, _ = written(manifest(hook(matcher={"mcp": mcp})), target)
        assert tree["hooks"][event][0]["matcher"] == want


@pytest.mark.conforms("E7")
def test_all_capabilities_are_inferred() -> None:
    """Each from the field, the script or the word that gives it away."""

    def used(**more: Any) -> set[str]:
        found: Hook = read(manifest(hook(blocking=False, **more))).decoded.manifest.hooks[0]
        scripts = {"./x.sh": {"x.sh": 'echo {"updated_input": {}}'}} if "script" in str(more) else {}
        return set(infer(found, scripts))

    assert used() == set()
    assert used(name="script") == {"input_rewrite"}
    assert used(handler={"type": "prompt", "prompt": "?"}) == {"llm_evaluated"}
    assert used(handler={"type": "agent", "prompt": "?"}) == {"llm_evaluated"}
    assert used(handler={"type": "http", "url": "https://x"}) == {"http_handler"}
    assert used(handler={**COMMAND, "async": True}) == {"async_execution"}
    assert used(handler={**COMMAND, "platform": {"darwin": "./m"}}) == {"platform_commands"}
    assert used(handler={**COMMAND, "env": {"A": "b"}}) == {"custom_env"}
    assert used(handler={**COMMAND, "cwd": "sub"}) == {"configurable_cwd"}
    assert used(capabilities=["structured_output"]) == {"structured_output"}
    assert used(degradation={"input_rewrite": "block"}) == {"input_rewrite"}


@pytest.mark.conforms("E8", "E9")
@pytest.mark.parametrize(
    ("degradation", "effect", "code"),
    [
        ({}, "stricter", "HP206"),
        ({"input_rewrite": "block"}, "stricter", "HP206"),
        ({"input_rewrite": "warn"}, "changed", "HP418"),
        ({"input_rewrite": "exclude"}, "dropped", "HP208"),
    ],
)
def test_strategies(degradation: dict[str, str], effect: str, code: str) -> None:
    """A rewrite where the target ignores it: blocked by default, or as the author says."""
    data = manifest(hook(degradation=degradation, capabilities=["input_rewrite"]))
    result = pipeline.convert(read(data), get("windsurf"))
    assert result.effects == (effect,)
    assert code in [finding.code for finding in result.findings]
    if effect == "stricter":
        command = json.loads(result.files[0].text)["hooks"]["pre_run_command"][0]["command"]
        assert command.endswith(">&2; exit 2")


@pytest.mark.conforms("E8")
@pytest.mark.parametrize("bare", [False, True])
@pytest.mark.parametrize("target", [name for name in list_dialects() if not get(name).reads_output])
@pytest.mark.parametrize(
    ("strategy", "effect", "codes"),
    [
        ("block", "stricter", {"HP206"}),
        ("exclude", "dropped", {"HP208"}),
        ("warn", "changed", {"HP414", "HP430"}),
        ("later", "stricter", {"HP206", "HP110"}),
    ],
)
def test_strategies_of_answers(
    strategy: str, effect: str, codes: set[str], target: str, *, bare: bool
) -> None:
    """What the author says about answers counts, also where the bridge says a deny by the exit code."""
    data = manifest(hook(degradation={"structured_output": strategy}))
    result = pipeline.convert(read(data), get(target), bare=bare)
    assert result.effects == (effect,)
    assert codes & {finding.code for finding in (*result.findings, *read(data).decoded.findings)}


@pytest.mark.conforms("E8")
@pytest.mark.parametrize("strategy", ["block", "exclude", None])
def test_the_author_decides_before_the_bridge_asks_a_model(strategy: str | None) -> None:
    """A strategy for `llm_evaluated` is kept, although `hookport wrap` could ask the model."""
    asks = {"type": "prompt", "prompt": "Safe?"}
    says = {"degradation": {"llm_evaluated": strategy}} if strategy else {}
    result = pipeline.convert(read(manifest(hook(handler=asks, **says))), get("gemini-cli"))
    told = {one.code for one in result.findings}
    expected = {
        "block": findings.BlockedInstead,
        "exclude": findings.GuardExcluded,
        None: findings.ModelAskedHere,
    }
    assert {kind.code for kind in expected.values()} & told == {expected[strategy].code}


@pytest.mark.conforms("C5")
def test_an_unknown_word_in_degradation_is_a_finding() -> None:
    """A later version of the format may have it; the guard runs all the same."""
    data = manifest(hook(degradation={"telepathy": "warn", "input_rewrite": "perhaps"}))
    found = read(data).decoded
    assert [finding.code for finding in found.findings] == ["HP110", "HP110"]
    assert next(iter(HUB.shape.encode(HUB, found.manifest).values())) == json.loads(data)


@pytest.mark.conforms("E7")
@pytest.mark.parametrize("target", list_dialects())
def test_a_script_is_read_for_the_event_of_its_hook(target: str) -> None:
    """One script for two events: what it says before a tool is not asked after it."""
    late = {"event": "after_tool_execute", "matcher": "shell", "handler": COMMAND}
    scripts = {"./x.sh": {"x.sh": "echo '{\"updatedInput\": {}}'"}}
    reading = read(manifest(late))._replace(found_scripts=scripts)
    codes = {finding.code for finding in pipeline.convert(reading, get(target)).findings}
    assert not codes & {"HP206", "HP207", "HP208", "HP210", "HP418"}


@pytest.mark.conforms("E9")
@pytest.mark.parametrize("target", list_dialects())
def test_a_guard_on_a_pattern_stays_one_that_blocks(target: str) -> None:
    """What blocks instead matches the tools of the pattern in the target's names, not the pattern's text."""
    data = manifest(hook(matcher={"pattern": "file_(read|write)"}, capabilities=["input_rewrite"]))
    result = pipeline.convert(read(data), get(target))
    files = {file.path: file.text.encode() for file in result.files}
    terms = {term for one in pipeline.read(files, get(target)).decoded.manifest.hooks for term in one.matcher}
    wanted = {Term("tool", "file_read"), Term("tool", "file_write")}
    assert (
        target == HUB.id
        or not terms
        or wanted <= terms
        or "error" in [one.severity for one in result.findings]
    )


@pytest.mark.conforms("E11")
def test_a_guard_that_only_observes_is_an_error() -> None:
    """Kiro runs the hook at the end of a turn and cannot be made to go on."""
    data = manifest({"event": "agent_stop", "handler": COMMAND, "blocking": True})
    _, codes = written(data, "kiro")
    assert findings.GuardObserves.code in codes


@pytest.mark.conforms("E12")
def test_a_late_hook_is_reported() -> None:
    """Cursor has an event after the model's answer and none before the request."""
    tree, codes = written(manifest({"event": "before_model", "handler": COMMAND}), "cursor")
    assert list(tree["hooks"]) == ["afterAgentResponse"]
    assert findings.TimingShift.code in codes


@pytest.mark.conforms("E13")
def test_split_events() -> None:
    """One hook becomes several entries and one hook again."""
    data = manifest(hook(matcher=["shell", "file_read", "file_write", "file_edit"]))
    tree, _ = written(data, "cursor")
    assert list(tree["hooks"]) == ["preToolUse", "beforeShellExecution", "beforeReadFile"]
    tree, _ = written(data, "windsurf")
    assert list(tree["hooks"]) == ["pre_read_code", "pre_write_code", "pre_run_command"]
    back = pipeline.read({".windsurf/hooks.json": json.dumps(tree).encode()}, get("windsurf"))
    assert [term.value for term in back.decoded.manifest.hooks[0].matcher] == [
        "shell",
        "file_read",
        "file_write",
        "file_edit",
    ]


@pytest.mark.conforms("F1", "F2")
def test_provider_data() -> None:
    """Rendered for its own provider, ignored for the others, kept in a manifest."""
    data = manifest(hook(provider_data={"claude-code": {"once": True}, "gemini-cli": {"sequential": 1}}))
    tree, _ = written(data, "claude-code")
    entry = tree["hooks"]["PreToolUse"][0]["hooks"][0]
    assert entry["once"] is True
    assert "sequential" not in json.dumps(tree)


@pytest.mark.conforms("F3")
def test_verification_can_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    """An encoder that loses a timeout is found out."""
    target = get("gemini-cli")
    shape = target.shape

    def lossy(dialect: Any, given: Any) -> Any:
        trees = shape.encode(dialect, given)
        del trees[".gemini/settings.json"]["hooks"]["BeforeTool"][0]["hooks"][0]["timeout"]
        return trees

    reading = read(manifest(hook(handler={**COMMAND, "timeout": 5})))
    with pytest.raises(Exception, match="would read hook 0 differently: handler"):
        pipeline.convert(reading, target._replace(shape=shape._replace(encode=lossy)))
    del monkeypatch


@pytest.mark.conforms("F4")
@pytest.mark.parametrize("target", list_dialects())
def test_capabilities_of_the_target_are_used(target: str) -> None:
    """What the target can say natively is said natively, not carried in the command."""
    dialect = get(target)
    reading = read(manifest(hook(handler={**COMMAND, "env": {"A": "b"}, "cwd": "sub", "timeout": 5})))
    left = degrade(reading.decoded.manifest, dialect, (), {}).manifest.hooks
    from hookport.agents import supports

    for one in left:
        if supports(dialect, "custom_env"):
            assert dict(one.handler.env) == {"A": "b"}
        if supports(dialect, "configurable_cwd"):
            # Behind the bridge the folder of the entry is lost (measured on pi 0.87.1).
            is_behind = f" canonical {target} " in one.handler.command
            assert one.handler.cwd == ("" if is_behind else "sub")
            assert is_behind is bool(re.search(r"cd \S*sub\"? && ", one.handler.command))


@pytest.mark.conforms("F6")
@pytest.mark.parametrize("target", list_dialects())
def test_every_change_is_reported(target: str) -> None:
    """A hook with every field: what the target's file does not say, a finding says."""
    result = pipeline.convert(read(manifest(FULL)), get(target))
    if result.effects != ("kept",):
        assert [finding for finding in result.findings if finding.hook == 0 and finding.effect != "kept"]
    assert set(CAPABILITIES) >= set(infer(result.hooks[0], {}))
