"""The bridge in trouble: a decision that was taken arrives, and a guard that was never asked denies."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookport.agents import get_wire, list_agents
from hookport.model.runs import Decision, RunResult
from hookport.runtime import plan
from hookport.runtime.execute import process
from hookport.wire import texts
from hookport.wire.answers import read_answer, write_answer
from tests.approval import approve
from tests.test_runtime_dispatch import Place, is_denied, place
from tests.test_runtime_engine import fired, hook, run, said
from tests.test_wires import STRICTNESS, sample

pytestmark = pytest.mark.skipif(os.name == "nt", reason="hooks here are shell scripts")

__all__ = ["place"]

# Of everything that an agent is told, escapes included; a rewrite is as large as the call.
MOST_BYTES = 100_000

# Texts as hooks print them: any character, halves of pairs, control characters, colours, too much of all.
LETTERS = st.characters(codec=None) | st.sampled_from(
    ["\0", "\x1b[31m", "\r\n", "\ud800", "\udcff", "\x9b", '"']
)
TEXTS = st.builds(
    lambda part, times: part * times,
    st.lists(LETTERS, max_size=20).map("".join),
    st.sampled_from([1, 1, 3, 1_000]),
)
DECISIONS = st.builds(
    Decision,
    verdict=st.sampled_from(["none", "allow", "ask", "deny"]),
    reason=TEXTS,
    context=TEXTS,
    system_message=TEXTS,
    carry_on=st.booleans(),
    updated_input=st.none()
    | st.dictionaries(st.just("command"), st.lists(LETTERS, max_size=20).map("".join), min_size=1),
)


@pytest.mark.parametrize("agent", list_agents())
@given(decision=DECISIONS)
def test_every_decision_arrives_whole_and_small(agent: str, decision: Decision) -> None:
    """Law 17: the bytes that are written are read as the decision, by the agent's own rules."""
    it = get_wire(agent)
    for native, canonical in it.events.items():
        event = sample(it, native, canonical)
        answer, lost = write_answer(it, event, decision, changed=decision.updated_input)
        out, err = answer.stdout.encode(), answer.stderr.encode()
        assert len(out) + len(err) < MOST_BYTES
        assert not any(byte < 32 and byte not in b"\n\t" for byte in out + err)
        result = RunResult("completed", answer.exit_code, out.decode(), err.decode())
        back = read_answer(it, result, native=native, canonical=canonical)
        assert back.failure == ""
        if not any(one.startswith(("deny", "continue")) for one in lost):
            assert STRICTNESS[back.verdict] >= STRICTNESS[decision.verdict]
        if back.verdict == decision.verdict == "deny" and not lost:
            assert back.reason.split() == (
                texts.fit(decision.reason, texts.MOST_REASON).split() or back.reason.split()
            )


@given(st.lists(LETTERS, max_size=200).map("".join), st.integers(100, 300))
def test_a_text_that_fits_is_left_alone_and_another_is_cut(text: str, most: int) -> None:
    shown = texts.fit(text * 20, most)
    shown.encode()
    assert len(shown) <= most
    if len(text * 20) <= most and text.isprintable():
        assert shown == text * 20


DEEP = '{"a":' * 1_000 + "1" + "}" * 1_000
STRANGE: dict[str, tuple[str, str]] = {
    "half of a pair in the reason": ("""printf '{"decision":"deny","reason":"a\\\\ud800b"}'""", "{}"),
    "control characters": ("printf '\\033[31mno\\000\\001' >&2; exit 2", "{}"),
    "700 kB of colours": ("yes \"$(printf '\\033[31mno\\033[0m')\" | head -c 700000 >&2; exit 2", "{}"),
    "1,000 levels": ("echo no >&2; exit 2", f'{{"command":"ls","deep":{DEEP}}}'),
    "more levels than can be read": (
        "echo no >&2; exit 2",
        '{"command":"ls","deep":' + "[" * 60_000 + "]" * 60_000 + "}",
    ),
    "a command of 1.2 MB": ("echo no >&2; exit 2", json.dumps({"command": "x" * 1_200_000})),
    "half of a pair in the command": (
        "python3 -c 'import json,sys; json.load(sys.stdin)' && { echo no >&2; exit 2; }",
        '{"command":"l\\ud800s"}',
    ),
}


@pytest.mark.parametrize(
    "agent", ["claude-code", "codex", "cursor", "gemini-cli", "qwen-code", "factory-droid"]
)
@pytest.mark.parametrize("name", STRANGE)
def test_a_deny_arrives_whatever_its_text(place: Place, agent: str, name: str) -> None:
    script, given_ = STRANGE[name]
    place.hook("guard", script)
    own = get_wire(agent)
    native = next(one for one, event in own.events.items() if event == "before_tool_execute")
    tool = own.names["shell"][0]
    payload = (
        f'{{"hook_event_name":"{native}","tool_name":"{tool}","session_id":"s","tool_input":'
        f"{given_ if given_ != '{}' else json.dumps({'command': 'ls'})}}}"
    )
    code, told, err = place.fire(agent, native, payload.encode())
    text = json.dumps(told) + err
    assert code == 2 or '"deny"' in text or '"block"' in text, (code, told, err)
    assert len(text) < 20_000
    assert [line["decision"]["verdict"] for line in place.journal()] == ["deny"]


def test_what_the_agent_is_not_told_is_in_the_journal(place: Place) -> None:
    place.hook("guard", "seq 2000 >&2; exit 2")
    _, told, _ = place.shell()
    (line,) = place.journal()
    assert "\n1000\n" not in told["hookSpecificOutput"]["permissionDecisionReason"]
    assert "\n1000\n" in line["decision"]["reason"]


# A guard that is never asked.


def test_a_guard_behind_slow_hooks_is_asked(place: Place) -> None:
    slow = [{"handler": {"type": "command", "command": "sleep 600"}, "name": f"s{one}"} for one in range(8)]
    guard = {
        "handler": {"type": "command", "command": "echo no >&2; exit 2"},
        "name": "guard",
        "blocking": True,
    }
    place.canonical(*slow, guard)
    place.command = [*place.command]
    place.approve()
    begun = time.monotonic()
    code, told, _ = place.fire("claude-code", "PreToolUse", call("ls"), HOOKPORT_WITHIN="3")
    assert time.monotonic() - begun < 20
    assert (code, told["hookSpecificOutput"]["permissionDecisionReason"]) == (0, "no")


def call(command: str) -> dict[str, Any]:
    return {
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": command},
        "session_id": "s",
    }


@pytest.mark.parametrize(("word", "verdict"), [("deny", "deny"), ("warn", "none")])
def test_a_guard_that_the_agent_does_not_wait_for_denies(word: str, verdict: str) -> None:
    deadline = time.monotonic() - 1
    guard = hook("guard", "exit 0", "agent-hooks")
    report = run(fired("claude-code"), guard, deadline=deadline, on_tamper=word)
    why = "hook 'guard' could not run: the agent no longer waits for its hooks"
    effect = {
        "deny": Decision("deny", f"{why}. It is denied, because a guard that cannot run denies."),
        "none": Decision(system_message=f"{why}. It was not blocked (on_tamper is warn)."),
    }
    assert report.decision == effect[verdict]
    quiet = run(fired("claude-code"), guard.replace(blocking=False), deadline=deadline, on_tamper=word)
    assert quiet.decision == Decision()


def test_hooks_run_side_by_side_and_decide_in_their_order(tmp_path: Path) -> None:
    meet = f"touch {tmp_path}/$N; while [ ! -e {tmp_path}/a ] || [ ! -e {tmp_path}/b ]; do sleep 0.01; done; "
    hooks = [
        hook("a", f"N=a; {meet} sleep 0.2; {said(context='first')}"),
        hook("b", f"N=b; {meet} {said(context='second')}"),
        hook("c", said(context="third"), blocking=False),
    ]
    report = run(fired("claude-code"), *hooks)
    assert (report.decision.context, [one.hook.name for one in report.runs]) == (
        "first\nsecond\nthird",
        ["a", "b", "c"],
    )


REWRITE = 'sed \'s/.*"command": "\\([^"]*\\)".*/{"updated_input": {"command": "\\1 -x"}}/\''


@pytest.mark.parametrize("expected", [True, False])
def test_a_hook_after_a_rewrite_decides_on_that(tmp_path: Path, expected: bool) -> None:
    guard = f"tee -a {tmp_path}/seen | grep -q -- -x && {{ echo no >&2; exit 2; }}; exit 0"
    report = run(fired("claude-code"), hook("one", REWRITE, rewrites=expected), hook("guard", guard))
    assert report.decision.verdict == "deny"
    assert [one.hook.name for one in report.runs] == ["one", "guard"]
    asked = (tmp_path / "seen").read_text().count("tool_input")
    assert asked == (1 if expected else 2)


def test_a_rewrite_is_expected_of_scripts_that_have_its_words(place: Place) -> None:
    place.hook("a", "exit 0")
    place.hook("b", "echo '{\"updated_input\": {}}'")
    place.shell()
    (kept,) = (place.home / "cache" / "hookport" / "plans").glob("*project.plan")
    found = plan.load(str(kept), place.env)
    assert isinstance(found, plan.DispatchPlan)
    assert {one.name: one.rewrites for one in found.read_all_hooks()} == {"a": False, "b": True}


def test_leaving_ends_every_hook_that_runs(place: Place) -> None:
    """A dispatch that its agent ends leaves none of several hooks behind."""
    import signal
    import subprocess

    sleeps = [
        {"handler": {"type": "command", "command": f"echo $$ > pid{one}; exec sleep 600"}, "name": f"s{one}"}
        for one in range(3)
    ]
    place.canonical(*sleeps)
    place.approve()
    started = subprocess.Popen(
        [*place.command, "claude-code", "PreToolUse"],
        stdin=subprocess.PIPE,
        cwd=place.root,
        env=place.env,
        stdout=subprocess.DEVNULL,
    )
    assert started.stdin is not None
    started.stdin.write(json.dumps(call("ls")).encode())
    started.stdin.close()
    files = [place.root / f"pid{one}" for one in range(3)]
    until = time.monotonic() + 30
    while not all(file.exists() and file.read_text().strip() for file in files) and time.monotonic() < until:
        time.sleep(0.01)
    started.send_signal(signal.SIGTERM)
    started.wait(30)
    for file in files:
        with pytest.raises(ProcessLookupError):
            os.kill(int(file.read_text()), 0)


# What cannot be read.


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b'{"tool_name": "Bash", "tool_inp',
        b"[" * 100_000,
        b'{"tool_name": 7, "tool_input": {"command": "ls"}}',
        b'{"tool_name": ["Bash"], "tool_input": {"command": "ls"}}',
        b'{"tool_name": null, "tool_input": {"command": "ls"}}',
        b'{"tool_input": {"command": "ls"}}',
    ],
)
@pytest.mark.parametrize("agent", ["claude-code", "gemini-cli"])
def test_a_guard_that_nobody_can_tell_what_happens_denies(place: Place, agent: str, payload: bytes) -> None:
    guard = {"matcher": "shell", "blocking": True, "name": "guard"}
    place.canonical({**guard, "handler": {"type": "command", "command": "echo no >&2; exit 2"}})
    native = {"claude-code": "PreToolUse", "gemini-cli": "BeforeTool"}[agent]
    assert is_denied(place.fire(agent, native, payload))


def test_a_project_that_only_wants_to_be_warned_is(place: Place) -> None:
    place.hook("guard", "exit 2")
    place.write(".hookport/config.json", {"on_tamper": "warn"})
    code, told, err = place.fire("claude-code", "PreToolUse", b"")
    assert (code, err, is_denied((code, told, err))) == (0, "", False)
    assert "hook 'guard' could not run: no payload on stdin" in told["systemMessage"]


def test_what_is_not_approved_is_no_guard_yet(place: Place) -> None:
    place.is_approving = False
    place.hook("guard", "exit 2")
    assert not is_denied(place.fire("claude-code", "PreToolUse", b""))


@pytest.mark.parametrize(
    ("settings", "of_user", "word"),
    [
        (None, None, "deny"),
        ("warn", None, "warn"),
        (None, "warn", "warn"),
        ("deny", "warn", "deny"),
        ("warn", "deny", "deny"),
        ("other", None, "deny"),
    ],
)
def test_of_two_settings_the_stricter_holds(
    place: Place, settings: str | None, of_user: str | None, word: str
) -> None:
    from hookport.project.settings import load_settings

    for path, said_ in ((".hookport/config.json", settings), ("~/config/hookport/config.json", of_user)):
        if said_:
            place.write(path, {"on_tamper": said_})
    # What a project says to be less strict holds once it is approved, as all that it brings along.
    is_weaker = settings == "warn" and not of_user
    assert load_settings(str(place.root), place.env)["on_tamper"] == ("deny" if is_weaker else word)
    approve(place.root, place.env)
    assert load_settings(str(place.root), place.env)["on_tamper"] == word


@pytest.mark.parametrize("can_spawn", [True, False])
def test_a_python_without_posix_spawn_runs_hooks_all_the_same(
    can_spawn: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PyPy has none."""
    monkeypatch.setattr(process, "CAN_SPAWN", can_spawn)
    env = {"PATH": os.environ["PATH"], "WORD": "w"}
    told = process.run(
        "pwd; cat; echo $WORD >&2; exit 3", stdin=b"in", cwd=str(tmp_path), env=env, timeout_seconds=30
    )
    assert (told.outcome, told.exit_code, told.stdout, told.stderr) == (
        "completed",
        3,
        f"{tmp_path}\nin",
        "w\n",
    )
    late = process.run(
        f"sleep 600 & echo $! > {tmp_path}/pid; wait", stdin=b"", cwd="/", env=env, timeout_seconds=0.5
    )
    assert late.outcome == "timeout"
    with pytest.raises(ProcessLookupError):  # noqa: PT012  (its parent takes it away in a moment)
        for _ in range(1000):
            os.kill(int((tmp_path / "pid").read_text()), 0)
            time.sleep(0.01)
    lost = process.run(["./lost"], stdin=b"", cwd=str(tmp_path), env=env, timeout_seconds=30)
    assert (lost.outcome, lost.detail) == ("spawn_error", f"{tmp_path}/lost does not exist")


@pytest.mark.parametrize(("word", "is_held"), [("deny", True), ("warn", False)])
@pytest.mark.parametrize("form", ["command", "folder"])
@pytest.mark.parametrize("agent", ["claude-code", "gemini-cli"])
def test_an_approved_script_that_may_no_longer_be_executed_denies(
    place: Place, agent: str, form: str, word: str, is_held: bool
) -> None:
    script = place.hook("guard", "echo no >&2; exit 2")
    if form == "command":
        shutil.rmtree(place.root / ".agents")
        script = place.write("guard.sh", "#!/bin/sh\necho no >&2\nexit 2\n", mode=0o755)
        place.canonical({"blocking": True, "handler": {"type": "command", "command": "./guard.sh"}})
    place.write(".hookport/config.json", {"on_tamper": word})
    assert is_denied(place.shell(agent))
    script.chmod(0o644)
    answer = place.shell(agent)
    assert is_denied(answer) == is_held
    assert f"{script.name} is not executable. Try: chmod +x" in json.dumps(answer)


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"null", '{"projects": {}}'.encode("utf-16")])
@pytest.mark.parametrize("is_there", [True, False], ids=["guard", "no guard"])
def test_approvals_that_cannot_be_read_deny_where_something_was_approved(
    place: Place, data: bytes, is_there: bool
) -> None:
    place.hook("guard", "echo no >&2; exit 2")
    assert is_denied(place.shell())
    place.is_approving = False
    place.write("hookport.lock", "{}")
    (place.home / "state/hookport/trust.json").write_bytes(data)
    if not is_there:
        shutil.rmtree(place.root / ".agents")
    answer = place.shell()
    assert is_denied(answer)
    assert "trust.json cannot be read" in json.dumps(answer)
    # Elsewhere nothing was approved, and nothing is denied.
    (place.root / "hookport.lock").unlink()
    assert not is_denied(place.shell())


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device")
@pytest.mark.parametrize("target", [">/dev/full", ">&-"])
@pytest.mark.parametrize("agent", ["claude-code", "gemini-cli"])
def test_an_answer_that_cannot_be_written_is_a_deny(place: Place, agent: str, target: str) -> None:
    place.hook("guard", "echo no >&2; exit 2")
    place.command = ["/bin/sh", "-c", f'{shlex.join(place.command)} "$@" {target}', "sh"]
    code, out, err = place.shell(agent)
    assert (code, out) == (2, None)
    assert "hookport could not write its answer" in err
