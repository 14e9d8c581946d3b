"""One event of a hook as a step of the standard, and the Guardian's decision as the hook's answer.

A Guardian that answers decides. One that refuses, or whose answer is not its own, is a deny. One that cannot
be reached is a failure, which policy decides, or a deny where it asked for that when the session began.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from hookport.base.files import replace_file
from hookport.base.tree import Tree
from hookport.guardian.envelopes import (
    VERSION,
    derive_key,
    is_signed,
    make_request,
    make_session_id,
    make_signable,
    sign,
)
from hookport.model.json_text import dumps, loads
from hookport.runtime.execute import http
from hookport.runtime.journal import find_state_folder

METHODS = {
    "session_start": "steps/sessionStart",
    "session_end": "steps/sessionEnd",
    "before_tool_execute": "steps/toolCallRequest",
    "after_tool_execute": "steps/toolCallResult",
    "tool_use_failure": "steps/toolCallResult",
}
HELLO = "handshake/hello"
# How long what was agreed with a Guardian holds; its configuration may change.
_HELLO_SECONDS = 3600.0
_DEFAULT_SECONDS = 5.0


class UnansweredError(Exception):
    """Why there is no decision."""


class RefusedError(Exception):
    """Why the Guardian's answer cannot be a permission."""


class Guardian(NamedTuple):
    """Where a Guardian is, and the secret that it shares with this machine."""

    url: str
    secret: bytes
    env: Mapping[str, str]
    agent_id: str = "hookport"


def answer(event: Mapping[str, Tree], guardian: Guardian) -> dict[str, Tree]:
    """What the hook answers to an event; empty for no opinion. UnansweredError where nobody decided."""
    method = METHODS.get(str(event.get("event")), "")
    if not method:
        return {}
    session = make_session_id(str(event.get("session_id") or ""))
    metadata = {
        "agent_id": guardian.agent_id,
        "session_id": session,
        "platform": guardian.env.get("HOOKPORT_AGENT", "unknown"),
    }
    try:
        agreed = _agree(guardian, metadata)
        if method not in agreed.get("methods_evaluated", ()):
            return {}
        try:
            seconds = _find_seconds(agreed, method)
            result = _ask(guardian, make_request(method, _make_payload(event), metadata), seconds)
        except UnansweredError as error:
            if agreed.get("on_decision_failure") == "deny":
                raise RefusedError(f"{error}, and it denies what it did not decide") from None
            raise
        return _read_decision(str(event["event"]), result)
    except RefusedError as refusal:
        return _deny(str(event["event"]), f"The Guardian's answer is no permission: {refusal}.")


def _agree(guardian: Guardian, metadata: Mapping[str, Tree]) -> dict[str, Any]:
    """What was agreed with the Guardian at the beginning of this session, or now."""
    key = derive_key(guardian.secret, str(metadata["session_id"]))
    file = _find_file(guardian, str(metadata["session_id"]))
    kept = _read_kept(file, key)
    if kept is not None:
        return kept
    hello = {
        "acs_versions_supported": [VERSION],
        "methods_implemented": sorted(set(METHODS.values())),
        "transports_supported": ["http"],
        "provenance_producer": "none",
        "profiles_supported": [],
        "signature_algorithms_supported": ["HMAC-SHA256"],
    }
    envelope = _exchange(guardian, make_request(HELLO, hello, metadata), _DEFAULT_SECONDS)
    payload = envelope["result"].get("payload")
    if not isinstance(payload, dict) or not isinstance(payload.get("methods_evaluated"), list):
        raise RefusedError("it began the session without saying which methods it evaluates")
    if file:
        _keep(file, envelope)
    return payload


def _find_file(guardian: Guardian, session: str) -> Path | None:
    folder = find_state_folder(guardian.env)
    name = hashlib.sha256(f"{session}|{guardian.url}".encode()).hexdigest()
    return Path(folder, "guardian", f"{name}.json") if folder else None


def _read_kept(file: Path | None, key: bytes) -> dict[str, Any] | None:
    """What is kept of a session's beginning; the agent could write the file, so the signature counts."""
    try:
        if not file or time.time() - file.stat().st_mtime > _HELLO_SECONDS:
            return None
        envelope = loads(file.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    result = envelope.get("result") if isinstance(envelope, dict) else None
    payload = result.get("payload") if isinstance(result, dict) else None
    if not isinstance(payload, dict) or not is_signed(envelope, key):
        return None
    return payload if isinstance(payload.get("methods_evaluated"), list) else None


def _keep(file: Path, envelope: Mapping[str, Any]) -> None:
    """Keep it; without a place for it, each event says hello again."""
    try:
        file.parent.mkdir(0o700, parents=True, exist_ok=True)
        replace_file(str(file), dumps(dict(envelope)).encode())
    except OSError:
        return


def _find_seconds(agreed: Mapping[str, Any], method: str) -> float:
    config = agreed.get("timeout_config")
    config = config if isinstance(config, dict) else {}
    by_method = config.get("per_method_ms")
    wanted = by_method.get(method) if isinstance(by_method, dict) else None
    milliseconds = wanted if wanted is not None else config.get("default_ms")
    if isinstance(milliseconds, bool) or not isinstance(milliseconds, (int, float)) or milliseconds <= 0:
        return _DEFAULT_SECONDS
    return milliseconds / 1000


def _make_payload(event: Mapping[str, Tree]) -> dict[str, Tree]:
    name = event.get("event")
    if name == "session_start":
        return {"platform_context": {"cwd": make_signable(event.get("cwd") or "")}}
    if name == "session_end":
        return {"reason": make_signable(event.get("reason") or "other")}
    tool: dict[str, Tree] = {"name": make_signable(event.get("tool_name") or "")}
    if name == "before_tool_execute":
        given = event.get("tool_input")
        arguments = make_signable(given if isinstance(given, dict) else {"input": given})
        return {"tool": tool, "arguments": {key: {"value": value} for key, value in arguments.items()}}
    failed = name == "tool_use_failure"
    output = event.get("tool_error") if failed else event.get("tool_result")
    return {
        "tool": tool,
        "exit_status": "failure" if failed else "success",
        "outputs": [{"value": make_signable(output)}],
    }


def _ask(guardian: Guardian, request: dict[str, Any], seconds: float) -> dict[str, Any]:
    result: dict[str, Any] = _exchange(guardian, request, seconds)["result"]
    return result


def _exchange(guardian: Guardian, request: dict[str, Any], seconds: float) -> dict[str, Any]:
    """Send a request; the envelope that answers it, which is the Guardian's and for this very request."""
    key = derive_key(guardian.secret, request["params"]["metadata"]["session_id"])
    body = dumps(sign(request, key), ensure_ascii=False).encode()
    reply = http.post(
        guardian.url, body, headers={}, allowed_env=(), env=guardian.env, timeout_seconds=seconds
    )
    if reply.outcome != "completed":
        raise UnansweredError(reply.detail)
    if reply.exit_code:
        # A proxy answers 5xx for a Guardian that is gone.
        raise (UnansweredError if reply.detail.startswith("HTTP 5") else RefusedError)(reply.detail)
    try:
        envelope = loads(reply.stdout)
    except (ValueError, RecursionError):
        raise RefusedError("it is not JSON") from None
    if not isinstance(envelope, dict) or envelope.get("id") != request["id"]:
        raise RefusedError("it answers another request")
    if not is_signed(envelope, key):
        raise RefusedError("its signature is missing or wrong")
    error, result = envelope.get("error"), envelope.get("result")
    if isinstance(error, dict):
        raise RefusedError(f"error {error.get('code')}: {error.get('message')}")
    if not isinstance(result, dict) or result.get("request_id") != request["params"]["request_id"]:
        raise RefusedError("it answers another request")
    return envelope


def _read_decision(event: str, result: Mapping[str, Any]) -> dict[str, Tree]:
    decision, reason = result.get("decision"), str(result.get("reasoning") or "")
    if decision == "allow":
        return {}
    if decision == "deny":
        return _deny(event, reason)
    if decision == "ask" and event == "before_tool_execute":
        return {"decision": "ask", "reason": reason}
    if decision == "modify":
        return _modify(event, result.get("modifications")) or _deny(
            event, f"The Guardian wants a change that a hook cannot make. {reason}".strip()
        )
    return _deny(
        event, f"The Guardian's decision is '{decision}', which a hook cannot carry out. {reason}".strip()
    )


def _modify(event: str, changes: object) -> dict[str, Tree]:
    """The answer that makes a change; empty for one that cannot be made whole."""
    if not isinstance(changes, dict):
        return {}
    overrides, content = changes.get("parameter_overrides"), changes.get("modified_content")
    if (
        event == "before_tool_execute"
        and set(changes) == {"parameter_overrides"}
        and isinstance(overrides, dict)
    ):
        return {"updated_input": overrides} if overrides else {}
    if event == "after_tool_execute" and set(changes) == {"modified_content"} and isinstance(content, str):
        return {"updated_result": content}
    return {}


def _deny(event: str, reason: str) -> dict[str, Tree]:
    """A deny; at the ends of a session nothing can be denied, so the person gets a message."""
    if event in ("session_start", "session_end"):
        return {"system_message": f"The Guardian denies this session: {reason}"}
    return {"decision": "deny", "reason": reason or "The Guardian denies this call."}
