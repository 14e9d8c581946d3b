"""One question to a model over the providers' own HTTP interfaces: all that a prompt hook needs.

The providers' libraries take more than a second to load, on every event. Sources, read 2026-11-18:
Anthropic's Messages API (`/v1/messages`, version 2023-06-01) and OpenAI's Chat Completions
(`/chat/completions`), which most other servers also implement.
"""

from __future__ import annotations

import json
import time

from hookport.runtime.execute import http

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    Tree = dict[str, Any]

BASE_URLS = {"anthropic": "https://api.anthropic.com", "openai": "https://api.openai.com/v1"}
ANTHROPIC_VERSION = "2023-06-01"
# Anthropic's interface requires a limit; an answer is a sentence or two.
MOST_TOKENS = 4096
# As in the providers' own libraries: too many requests, and temporary server errors.
RETRIED = (408, 409, 429, 500, 502, 503, 504, 529)
PAUSES_SECONDS = (0.5, 1.0)
DETAIL_LIMIT = 300


def ask(service: Tree, task: str, message: str, env: Mapping[str, str], timeout_seconds: float) -> Tree:
    """Ask for the model's answer; return its text, or the failure as `outcome` and `detail`."""
    is_anthropic = service["provider"] == "anthropic"
    url, headers, body = (_write_anthropic if is_anthropic else _write_openai)(service, task, message)
    data = json.dumps(body).encode()
    until = time.monotonic() + timeout_seconds
    for pause in (*PAUSES_SECONDS, None):
        left = max(0.001, until - time.monotonic())
        reply = http.exchange(url, data, headers=headers, env=env, timeout_seconds=left)
        if reply.status not in RETRIED or pause is None or until - time.monotonic() <= pause:
            break
        time.sleep(pause)
    if reply.status != 200:
        return {"outcome": reply.outcome, "detail": _describe(reply)}
    try:
        text = (_read_anthropic if is_anthropic else _read_openai)(json.loads(reply.text))
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError):
        return {"outcome": "completed", "detail": "HTTP 200, but the answer is in an unknown format"}
    return {"text": text}


def _write_anthropic(service: Tree, task: str, message: str) -> tuple[str, dict[str, str], Tree]:
    body = {
        "model": service["model"],
        "max_tokens": MOST_TOKENS,
        "system": task,
        "messages": [{"role": "user", "content": message}],
    }
    headers = {"x-api-key": service["api_key"] or "none", "anthropic-version": ANTHROPIC_VERSION}
    return f"{_find_base_url(service)}/v1/messages", headers, body


def _write_openai(service: Tree, task: str, message: str) -> tuple[str, dict[str, str], Tree]:
    messages = [{"role": "system", "content": task}, {"role": "user", "content": message}]
    headers = {"authorization": f"Bearer {service['api_key'] or 'none'}"}
    return (
        f"{_find_base_url(service)}/chat/completions",
        headers,
        {"model": service["model"], "messages": messages},
    )


def _find_base_url(service: Tree) -> str:
    return str(service["base_url"] or BASE_URLS[service["provider"]]).rstrip("/")


def _read_anthropic(answer: Tree) -> str:
    return "".join(part["text"] for part in answer["content"] if part["type"] == "text")


def _read_openai(answer: Tree) -> str:
    message = answer["choices"][0]["message"]
    text = message.get("content") or message.get("refusal") or ""
    return text if isinstance(text, str) else "".join(part.get("text", "") for part in text)


def _describe(reply: http.HttpReply) -> str:
    """Describe what went wrong, with the provider's own message."""
    text = reply.detail
    try:
        error = json.loads(reply.text)["error"]
        text += f": {error['message'] if isinstance(error, dict) else error}"
    except (ValueError, RecursionError, LookupError, TypeError):
        pass
    return " ".join(text.split())[:DETAIL_LIMIT]
