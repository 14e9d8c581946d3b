"""`hookport ask-guardian`: a real Guardian on loopback, real hooks, and signatures by other code."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import shlex
import sys
import threading
import uuid
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import hookport
from hookport.guardian.canonical_json import canonicalize
from hookport.guardian.envelopes import derive_key, is_signed, make_session_id, make_signable, sign
from tests.hosting import Project

pytestmark = pytest.mark.skipif(os.name == "nt", reason="hooks here are shell scripts")

SECRET = "correct horse battery staple"
METHODS = ["steps/toolCallRequest", "steps/toolCallResult", "steps/sessionStart", "steps/sessionEnd"]


def sign_apart(envelope: dict[str, Any], session: str, secret: str = SECRET) -> str:
    """A signature by other code than ours, for envelopes without floats and with ASCII keys."""
    extracted = hmac.digest(bytes(32), secret.encode(), "sha256")
    key = hmac.digest(extracted, session.encode() + b"\x01", "sha256")
    part = next(name for name in ("params", "result", "error") if name in envelope)
    inner = {name: value for name, value in envelope[part].items() if name != "signature"}
    text = json.dumps({**envelope, part: inner}, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return base64.b64encode(hmac.digest(key, text.encode(), "sha256")).decode()


class Guardian:
    """A Guardian whose `decide` answers each step; `seen` are the requests whose signatures were right."""

    def __init__(self) -> None:
        self.seen: list[dict[str, Any]] = []
        self.hello: dict[str, Any] = {
            "negotiated_version": "0.1.0",
            "methods_evaluated": METHODS,
            "selected_transport": "http",
            "timeout_config": {"default_ms": 20_000},
        }
        self.decide: Callable[[dict[str, Any]], dict[str, Any]] = lambda params: {"decision": "allow"}
        self.change: Callable[[dict[str, Any]], Any] = lambda envelope: envelope
        self.secret = SECRET
        guardian = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *words: object) -> None:
                """Say nothing."""

            def do_POST(self) -> None:
                request = json.loads(self.rfile.read(int(self.headers["content-length"])))
                body = json.dumps(guardian.answer(request)).encode()
                self.send_response(guardian.status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        self.status = 200
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/acs"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True)
        self.thread.start()

    def answer(self, request: dict[str, Any]) -> Any:
        params = request["params"]
        session = params["metadata"]["session_id"]
        assert str(uuid.UUID(session)) == session
        envelope: dict[str, Any] = {"jsonrpc": "2.0", "id": request["id"]}
        if params["signature"]["value"] != sign_apart(request, session, self.secret):
            envelope["error"] = {"code": -32004, "message": "SIGNATURE_INVALID"}
        else:
            self.seen.append(request)
            result = {"type": "final", "acs_version": "0.1.0", "request_id": params["request_id"]}
            is_hello = request["method"] == "handshake/hello"
            decided = {"decision": "allow", "payload": self.hello} if is_hello else self.decide(params)
            envelope["result"] = {**result, **decided}
        part = "result" if "result" in envelope else "error"
        signature = {"algorithm": "HMAC-SHA256", "key_id": "default"}
        signature["value"] = sign_apart(envelope, session, self.secret)
        envelope[part]["signature"] = signature
        return self.change(envelope)

    def methods(self) -> list[str]:
        return [request["method"] for request in self.seen]

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


@pytest.fixture
def guardian() -> Iterator[Guardian]:
    guardian = Guardian()
    yield guardian
    guardian.close()


@pytest.fixture
def project(tmp_path: Path, guardian: Guardian) -> Project:
    """A project whose tool calls a Guardian judges."""
    project = Project(tmp_path)
    secret = tmp_path / "guardian.key"
    secret.write_text(f"{SECRET}\n", "utf-8")
    secret.chmod(0o600)
    project.env["PYTHONPATH"] = str(Path(hookport.__file__).parent.parent)
    words = [sys.executable, "-m", "hookport", "ask-guardian", guardian.url, "--secret-file", str(secret)]
    for event in ("before_tool_execute", "after_tool_execute"):
        project.add(f"exec {shlex.join(words)}", event)
    return project


def test_the_guardian_gets_what_the_standard_asks_for(project: Project, guardian: Guardian) -> None:
    host = project.host(session="session-1")
    before = host.before_tool("run_shell", {"command": "ls", "limit": 2**60, "deep": {"a": [1.5, None]}})
    assert (before.verdict, before.input["limit"]) == ("none", 2**60)
    after = host.after_tool("run_shell", {"command": "ls"}, "a\nb")
    assert (after.verdict, after.result) == ("none", "a\nb")
    assert guardian.methods() == ["handshake/hello", "steps/toolCallRequest", "steps/toolCallResult"]
    hello, call, result = (request["params"] for request in guardian.seen)
    assert hello["payload"] == {
        "acs_versions_supported": ["0.1.0"],
        "methods_implemented": sorted(METHODS),
        "transports_supported": ["http"],
        "provenance_producer": "none",
        "profiles_supported": [],
        "signature_algorithms_supported": ["HMAC-SHA256"],
    }
    assert call["payload"] == {
        "tool": {"name": "shell"},
        "arguments": {
            "command": {"value": "ls"},
            "limit": {"value": str(2**60)},
            "deep": {"value": {"a": [1.5, None]}},
        },
    }
    assert result["payload"] == {
        "tool": {"name": "shell"},
        "exit_status": "success",
        "outputs": [{"value": "a\nb"}],
    }
    assert call["metadata"] == {
        "agent_id": "hookport",
        "session_id": make_session_id("session-1"),
        "platform": "my-agent",
    }
    assert len({request["params"]["request_id"] for request in guardian.seen}) == 3


@pytest.mark.parametrize(
    ("decided", "expected"),
    [
        ({"decision": "deny", "reasoning": "not here"}, ("deny", "not here", "ls")),
        ({"decision": "deny"}, ("deny", "The Guardian denies this call.", "ls")),
        ({"decision": "ask", "reasoning": "sure?"}, ("ask", "sure?", "ls")),
        (
            {"decision": "modify", "modifications": {"parameter_overrides": {"command": "ls -la"}}},
            ("none", "", "ls -la"),
        ),
    ],
)
def test_a_decision_is_carried_out(
    project: Project, guardian: Guardian, decided: dict[str, Any], expected: tuple[str, str, str]
) -> None:
    guardian.decide = lambda _: decided
    outcome = project.host().before_tool("run_shell", {"command": "ls"})
    assert (outcome.verdict, outcome.reason, outcome.input["command"]) == expected


@pytest.mark.parametrize(
    "decided",
    [
        {"decision": "defer", "reasoning": "later"},
        {"decision": "modify", "modifications": {"redactions": [{"path": "/command", "replacement": "x"}]}},
        {"decision": "modify", "modifications": {"modified_content": "ls"}},
        {"decision": "modify", "modifications": {"parameter_overrides": {"a": 1}, "redactions": []}},
        {"decision": "modify", "modifications": {"parameter_overrides": {}}},
        {"decision": "modify"},
        {"decision": "Allow "},
        {"decision": None},
        {"decision": "permit"},
    ],
)
def test_what_a_hook_cannot_carry_out_is_denied(
    project: Project, guardian: Guardian, decided: dict[str, Any]
) -> None:
    guardian.decide = lambda _: decided
    assert project.host().before_tool("run_shell", {"command": "ls"}).verdict == "deny"


def _without_signature(envelope: dict[str, Any]) -> dict[str, Any]:
    del envelope["result"]["signature"]
    return envelope


def _other(**fields: Any) -> Callable[[dict[str, Any]], dict[str, Any]]:
    def change(envelope: dict[str, Any]) -> dict[str, Any]:
        if "payload" in envelope["result"]:
            return envelope
        return {**envelope, **{key: value for key, value in fields.items() if key == "id"}} | (
            {"result": {**envelope["result"], **fields}} if "id" not in fields else {}
        )

    return change


@pytest.mark.parametrize(
    "change",
    [
        _without_signature,
        _other(decision="deny"),
        _other(request_id="another"),
        _other(id="another"),
        lambda envelope: [envelope],
        lambda envelope: {**envelope, "error": {"code": -32000, "message": "SESSION_REFUSED"}},
    ],
    ids=["unsigned", "changed", "another request", "another id", "a list", "an error"],
)
def test_an_answer_that_is_not_the_guardians_is_a_deny(
    project: Project, guardian: Guardian, change: Callable[[dict[str, Any]], Any]
) -> None:
    guardian.change = change
    outcome = project.host().before_tool("run_shell", {"command": "ls"})
    assert (outcome.verdict, "The Guardian's answer is no permission" in outcome.reason) == ("deny", True)


def test_a_guardian_with_another_secret_is_none(project: Project, guardian: Guardian) -> None:
    guardian.secret = "another"
    assert project.host().before_tool("run_shell", {"command": "ls"}).verdict == "deny"
    assert guardian.seen == []


def test_a_guardian_that_refuses_denies_and_one_that_fails_does_not(
    project: Project, guardian: Guardian
) -> None:
    guardian.status = 413
    assert project.host().before_tool("run_shell", {"command": "ls"}).verdict == "deny"
    guardian.status = 503
    assert project.host().before_tool("run_shell", {"command": "ls"}).verdict == "none"
    assert project.host(on_failure="closed").before_tool("run_shell", {"command": "ls"}).verdict == "deny"


def test_a_guardian_that_is_gone_is_a_failure_unless_it_asked_for_a_deny(
    project: Project, guardian: Guardian
) -> None:
    host = project.host(session="a")
    assert host.before_tool("run_shell", {"command": "ls"}).verdict == "none"
    guardian.hello["on_decision_failure"] = "deny"
    strict = project.host(session="b")
    assert strict.before_tool("run_shell", {"command": "ls"}).verdict == "none"
    guardian.server.shutdown()
    guardian.server.server_close()
    outcome = host.before_tool("run_shell", {"command": "ls"})
    assert (outcome.verdict, outcome.runs[0].failure) == ("none", "exit code 1")
    assert strict.before_tool("run_shell", {"command": "ls"}).verdict == "deny"


def test_what_a_guardian_does_not_evaluate_is_not_sent(project: Project, guardian: Guardian) -> None:
    guardian.hello["methods_evaluated"] = ["steps/toolCallResult"]
    guardian.decide = lambda _: {"decision": "deny", "reasoning": "no"}
    assert project.host().before_tool("run_shell", {"command": "ls"}).verdict == "none"
    assert guardian.methods() == ["handshake/hello"]


def test_the_beginning_of_a_session_is_kept_and_only_if_signed(project: Project, guardian: Guardian) -> None:
    host = project.host()
    for _ in range(2):
        host.before_tool("run_shell", {"command": "ls"})
    assert guardian.methods() == ["handshake/hello", *["steps/toolCallRequest"] * 2]
    (kept,) = Path(project.env["HOME"], ".local/state/hookport/guardian").iterdir()
    envelope = json.loads(kept.read_text("utf-8"))
    envelope["result"]["payload"]["methods_evaluated"] = []
    kept.write_text(json.dumps(envelope), "utf-8")
    guardian.decide = lambda _: {"decision": "deny"}
    assert host.before_tool("run_shell", {"command": "ls"}).verdict == "deny"
    assert guardian.methods()[-2:] == ["handshake/hello", "steps/toolCallRequest"]


def test_a_result_is_replaced(project: Project, guardian: Guardian) -> None:
    guardian.decide = lambda _: {"decision": "modify", "modifications": {"modified_content": "[hidden]"}}
    assert project.host().after_tool("run_shell", {"command": "ls"}, "secret").result == "[hidden]"


@pytest.mark.parametrize("mode", [0o644, 0o000])
def test_a_secret_that_others_can_read_is_none(project: Project, tmp_path: Path, mode: int) -> None:
    (tmp_path / "guardian.key").chmod(mode)
    if mode == 0:
        (tmp_path / "guardian.key").unlink()
    outcome = project.host(on_failure="open").before_tool("run_shell", {"command": "ls"})
    assert outcome.verdict == "deny"


# The parts


@pytest.mark.parametrize(
    ("tree", "text"),
    [
        # RFC 8785, 3.2.2 and 3.2.3
        ([333333333.33333329, 1e30, 4.50, 2e-3, 1e-27], "[333333333.3333333,1e+30,4.5,0.002,1e-27]"),
        (
            {"€": 0, "\r": 1, "\ufb33": 2, "1": 3, "😀": 4, "\x80": 5, "ö": 6},
            '{"\\r":1,"1":3,"\x80":5,"ö":6,"€":0,"😀":4,"\ufb33":2}',
        ),
        ('€$\x0f\nA\'B"\\\\"/', '"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"'),
        # ECMA-262, Number::toString
        ([-0.0, 1.0, 1e21, 1e20], "[0,1,1e+21,100000000000000000000]"),
        ([1.5e-7, 0.000001, -1e-7, 5e-324], "[1.5e-7,0.000001,-1e-7,5e-324]"),
        ([1.7976931348623157e308, 2**53 - 1], "[1.7976931348623157e+308,9007199254740991]"),
        ([2**60, 123456.75], "[1152921504606847000,123456.75]"),
        ({"b": [None, True, False], "a": {}}, '{"a":{},"b":[null,true,false]}'),
    ],
)
def test_json_has_one_canonical_form(tree: Any, text: str) -> None:
    assert canonicalize(tree).decode() == text


@pytest.mark.parametrize("value", [float("nan"), float("inf"), object()])
def test_what_is_not_json_has_no_form(value: Any) -> None:
    with pytest.raises(ValueError, match="not JSON"):
        canonicalize([value])


def test_the_key_of_a_session_is_that_of_hkdf() -> None:
    # RFC 5869, test case 3: no salt, no info.
    expected = "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d"
    assert derive_key(b"\x0b" * 22, "").hex() == expected
    assert hashlib.sha256(derive_key(b"a", "s")).digest() != hashlib.sha256(derive_key(b"a", "t")).digest()


def test_a_signature_covers_the_whole_envelope() -> None:
    key = derive_key(b"secret", "s")
    envelope = {"jsonrpc": "2.0", "id": "1", "method": "m", "params": {"a": 1.5, "b": "ü"}}
    signed = sign(envelope, key)
    assert is_signed(signed, key)
    assert sign(signed, key) == signed
    for changed in (
        {**signed, "id": "2"},
        {**signed, "extra": 1},
        {**signed, "params": {**signed["params"], "a": 1.6}},
        envelope,
        {**signed, "params": {**signed["params"], "signature": {"algorithm": "none", "value": ""}}},
        {**signed, "params": {**signed["params"], "signature": {"algorithm": "HMAC-SHA256", "value": 5}}},
        {"jsonrpc": "2.0"},
    ):
        assert not is_signed(changed, key)
    assert not is_signed(signed, derive_key(b"secret", "t"))


def test_what_has_no_canonical_form_is_sent_as_text() -> None:
    tree = {"a\ud800": [2**53, -(2**53), 2**53 - 1, True, None, "\udc00", 1.5]}
    assert make_signable(tree) == {
        "a\\ud800": ["9007199254740992", "-9007199254740992", 2**53 - 1, True, None, "\\udc00", 1.5]
    }
