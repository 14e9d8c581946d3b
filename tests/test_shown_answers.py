"""Answers that stand in a script's text: `check` says so wherever the agent was seen not to obey one.

The rows are those of `native_answers/`; each answer is written as shells, Python and JavaScript write it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hookport.agents import get, get_wire
from hookport.convert.checks.literals import UnknownValue, find_objects
from hookport.model.hooks import Handler, Hook
from hookport.project.answers import explain_disobedience
from hookport.shapes.dialect import find_event
from tests.test_native_answers import FORMS, rows

# Forms whose text does not show what is wrong, or that deny nothing: other text around an answer, a rewrite,
# an allow, a crash, a timeout.
OTHER = (
    *("a-silent", "b7", "b7-flat", "b7-decision", "b9", "b9-flat", "cancel-noise", "cancel-marked"),
    *("c", "c2", "c-flat", "c-args", "c2-args", "c-tool-input", "c-vibe", "c-override", "c5", "c5-flat"),
    *("a2", "a3", "a-decision-allow", "d4", "e", "e2", "f", "k3"),
)


def is_shown(row: Any) -> bool:
    """Whether the text of a script shows the answer, on an event where something can be denied."""
    agent, native, strict, form, _ = row.values
    spec = find_event(get(agent), native)
    return form not in OTHER and not strict and spec is not None and spec.blocks != "observe"


ROWS = [row for row in rows() if is_shown(row)]


def in_shell(answer: str, errors: str, code: int) -> str:
    lines = ["#!/bin/sh", "if grep -q rm; then", f"  echo '{answer}'" if answer else "  :"]
    lines += [f"  echo '{errors}' >&2"] if errors else []
    return "\n".join([*lines, f"  exit {code}", "fi", ""])


def in_escapes(answer: str, errors: str, code: int) -> str:
    return in_shell("", errors, code).replace("  :", f"  echo {json.dumps(answer)}" if answer else "  :")


def in_python(answer: str, errors: str, code: int) -> str:
    lines = ["import json, sys", "if 'rm' in sys.stdin.read():"]
    lines += [f"    print(json.dumps({json.loads(answer)!r}))"] if answer else []
    lines += [f"    sys.stderr.write({errors!r})"] if errors else []
    return "\n".join([*lines, f"    sys.exit({code})", ""])


def in_javascript(answer: str, errors: str, code: int) -> str:
    lines = ["if (input.includes('rm')) {"]
    lines += [f"  console.log(JSON.stringify({answer}));"] if answer else []
    lines += [f"  console.error({errors!r});"] if errors else []
    return "\n".join([*lines, f"  process.exit({code});", "}", ""])


def hook_that_says(text: str, agent: str, native: str, root: Path) -> Hook:
    (root / "guard").write_text(text)
    canonical = get_wire(agent).events[native]
    return Hook(
        canonical, Handler(command="sh ./guard"), dialect=agent, provider_data={agent: {"event": native}}
    )


@pytest.mark.parametrize("spell", [in_shell, in_escapes, in_python, in_javascript])
@pytest.mark.parametrize(("agent", "native", "strict", "form", "seen"), ROWS)
def test_text_is_judged_as_the_agent_judges_the_answer(
    spell: Any, agent: str, native: str, strict: str, form: str, seen: str, tmp_path: Path
) -> None:
    """What it runs gets a reason, what it denies gets none."""
    fields = FORMS[form]
    event = get_wire(agent).said.get(native, native)
    answer = json.dumps(fields["stdout"]).replace("$event", event) if "stdout" in fields else ""
    errors = fields.get("stderr", "").replace("NOPE", "Blocked: no")
    text = spell(answer, errors, fields.get("exit_code", 0))
    why = explain_disobedience(hook_that_says(text, agent, native, tmp_path), tmp_path, tmp_path)
    assert bool(why) == (not seen.startswith("deny")), why


NO = "unknown decision"
CLAUDE_DENY = '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny"}}'
NAMELESS = CLAUDE_DENY.replace('"hookEventName": "PreToolUse", ', "")


@pytest.mark.parametrize(
    ("agent", "native", "text", "why"),
    [
        ("claude-code", "PreToolUse", """echo '{"decision": "deny", "reason": "no"}'""", NO),
        (
            "claude-code",
            "PreToolUse",
            """echo '{"decision": "reject", "reason": "no"}'""",
            "unknown decision",
        ),
        ("claude-code", "PreToolUse", """echo '{"permission": "deny"}'""", "that form"),
        ("claude-code", "PreToolUse", """echo '{"allow": false}'""", "that form"),
        ("claude-code", "PreToolUse", """echo '{"cancel": true}'""", "that form"),
        ("claude-code", "PreToolUse", """echo '{"continue": false}'""", "stops afterwards"),
        ("claude-code", "Stop", """echo '{"decision": "block", "reason": 5}'""", "is not a text"),
        ("claude-code", "PreToolUse", "echo 'Blocked: no rm' >&2; exit 1", "exit code 1"),
        ("claude-code", "PreToolUse", "sys.exit('Blocked: no rm')", "exit code 1"),
        ("claude-code", "PreToolUse", f"echo '{CLAUDE_DENY}' >&2; exit 0", "that form"),
        (
            "claude-code",
            "PreToolUse",
            f"a && echo '{CLAUDE_DENY}'\nb && echo '{NAMELESS}'",
            "hookEventName",
        ),
        (
            "claude-code",
            "PreToolUse",
            """echo "{\\"hookSpecificOutput\\": {\\"permissionDecision\\": \\"deny\\"}}\"""",
            "hookEventName",
        ),
        (
            "claude-code",
            "PreToolUse",
            """jq -n --arg r "$R" '{hookSpecificOutput: {permissionDecision: "deny", x: $r}}'""",
            "hookEventName",
        ),
        ("gemini-cli", "BeforeTool", f"echo '{CLAUDE_DENY}'", "that form"),
        (
            "kimi-cli",
            "PreToolUse",
            """print(json.dumps({"decision": "block", "reason": why}))""",
            "that form",
        ),
        ("codex", "PreToolUse", f"echo '{CLAUDE_DENY}'", "without a reason"),
    ],
)
def test_deny_that_does_not_hold(agent: str, native: str, text: str, why: str, tmp_path: Path) -> None:
    found = explain_disobedience(hook_that_says(text, agent, native, tmp_path), tmp_path, tmp_path)
    assert why in found
    assert found


@pytest.mark.parametrize(
    ("agent", "native", "text"),
    [
        # One script for two agents, each with its own answer.
        ("claude-code", "PreToolUse", f"""a && echo '{CLAUDE_DENY}'\necho '{{"decision": "deny"}}'"""),
        ("gemini-cli", "BeforeTool", f"""a && echo '{CLAUDE_DENY}'\necho '{{"decision": "deny"}}'"""),
        ("claude-code", "PreToolUse", """echo '{"decision": "deny"}'\necho no >&2\nexit 2"""),
        # What is put together, or set later, is not a whole answer.
        (
            "claude-code",
            "PreToolUse",
            """said = {"permissionDecision": "deny", "hookEventName": name}
print(json.dumps({"hookSpecificOutput": said}))""",
        ),
        (
            "codex",
            "PreToolUse",
            """out = {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny"}}
out["hookSpecificOutput"]["permissionDecisionReason"] = why
print(json.dumps(out))""",
        ),
        (
            "codex",
            "PreToolUse",
            f"""echo '{CLAUDE_DENY[:-2]}, "permissionDecisionReason": "'"$WHY"'"}}}}'""",
        ),
        (
            "codex",
            "PreToolUse",
            """printf '{"decision":"block","reason":"%s"}\\n' "$why\"""",
        ),
        # A dispatcher of several events.
        (
            "claude-code",
            "Stop",
            f"""if event == "Stop": print(json.dumps({{"decision": "block", "reason": why}}))
else: print('{CLAUDE_DENY}')""",
        ),
        # What is only said in a comment, a crash, a check of its own input.
        ("claude-code", "PreToolUse", '# prints {"decision": "deny"}\nexit 2'),
        ("claude-code", "PreToolUse", "command -v jq >/dev/null || exit 1"),
        ("claude-code", "Stop", """echo '{"continue": false, "stopReason": "no"}'"""),
        ("copilot-cli", "preToolUse", "echo 'Blocked' >&2; exit 1"),
    ],
)
def test_deny_that_holds_or_may_hold(agent: str, native: str, text: str, tmp_path: Path) -> None:
    assert explain_disobedience(hook_that_says(text, agent, native, tmp_path), tmp_path, tmp_path) == ""


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ('{"a": 1, "b": [true, null]}', {"a": 1, "b": [True, None]}),
        ('"{\\"a\\": \\"b\\"}"', {"a": "b"}),
        ("{'a': None, 'b': why(1, {2})}", {"a": None, "b": UnknownValue()}),
        ("{a: 'x', b, c: `${x}`}", {"a": "x", "b": UnknownValue(), "c": UnknownValue(is_text=True)}),
        (
            '{"a": "x" + y, "b": f"{z}", "c": 1}',
            {"a": UnknownValue(is_text=True), "b": UnknownValue(), "c": 1},
        ),
        ('{\n  "a": {"b": -1.5},\n}', {"a": {"b": -1.5}}),
    ],
)
def test_objects_in_a_text(text: str, tree: dict[str, Any]) -> None:
    assert [one.tree for one in find_objects(f"if x {{ y }}; echo {text}; done }}")] == [tree]


@pytest.mark.parametrize("text", ["{", "{{{{", '{"a": ', "{...x, a: 1}", '{"a" "b"}', '{"a: 1}', "{" * 5000])
def test_what_is_no_object(text: str) -> None:
    assert list(find_objects(text)) == []


@pytest.mark.parametrize(
    ("text", "is_left"),
    [
        ("notify-send 'no rm' &\nexit 2", True),
        ("(sleep 60; cleanup) &\necho no >&2\nexit 2", True),
        ("subprocess.Popen(['notify'])\nsys.exit(2)", True),
        ("notify-send no >/dev/null 2>&1 &\nexit 2", False),
        ("slow &\nwait\nexit 2", False),
        ("a && b\nexit 2", False),
        ("echo no >&2\nexit 2", False),
        ("subprocess.Popen(['notify'], stdout=subprocess.DEVNULL)\nsys.exit(2)", False),
        ("notify-send no &", False),
    ],
)
def test_process_that_a_deny_leaves_behind(text: str, is_left: bool, tmp_path: Path) -> None:
    for agent in ("codex", "claude-code"):
        found = explain_disobedience(hook_that_says(text, agent, "PreToolUse", tmp_path), tmp_path, tmp_path)
        assert ("background" in found) == (is_left and agent == "codex"), agent
