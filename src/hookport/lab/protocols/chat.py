"""OpenAI Chat Completions, and the many servers that speak it: one delta for each piece of a message.

https://platform.openai.com/docs/api-reference/chat/streaming
"""

from __future__ import annotations

import json

from hookport.base.tree import Tree
from hookport.lab.driver import Step
from hookport.lab.protocols import (
    MODEL,
    Ask,
    Asked,
    Conversation,
    Reply,
    Result,
    Said,
    Turn,
    event,
    named,
    objects,
    table,
    words,
)

# The moment of every answer, since nothing depends on it.
CREATED = 1_700_000_000


def recognise(path: str) -> bool:
    return path.endswith("/chat/completions")


def read(body: Tree) -> Conversation:
    body = table(body)
    turns, texts, told = [], [], []
    for message in objects(body.get("messages")):
        role, text = str(message.get("role")), words(message.get("content"))
        if role == "tool":
            told.append((str(message.get("tool_call_id")), text))
            continue
        if text:
            texts.append(Said("system" if role == "developer" else role, text))
        if role == "assistant":
            calls = objects(message.get("tool_calls"))
            turns.append(Turn(text, tuple(_asked(call) for call in calls)))
    calls_by_id = named(turns)
    results = tuple(Result(call, calls_by_id.get(call, ""), text) for call, text in told)
    form = table(table(body.get("response_format")).get("json_schema"))
    return Conversation(
        tuple(turns), tuple(texts), results, tools=bool(body.get("tools")), schema=form.get("schema")
    )


def _asked(call: dict[str, Tree]) -> Asked:
    return Asked(str(call.get("id")), str(table(call.get("function") or call.get("custom")).get("name")))


def say(step: Step, ask: Ask, serial: str) -> Reply:
    body = table(ask.body)
    calls = [
        {
            "id": f"call_{serial}{number:02d}",
            "type": "function",
            "function": {
                "name": call.name,
                "arguments": call.input if isinstance(call.input, str) else json.dumps(call.input),
            },
        }
        for number, call in enumerate(step.calls)
    ]
    finish = "tool_calls" if calls else "stop"
    usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
    head = {"id": f"chatcmpl-{serial}", "created": CREATED, "model": body.get("model", MODEL)}
    if not body.get("stream"):
        message: dict[str, Tree] = {"role": "assistant", "content": step.text or None}
        if calls:
            message["tool_calls"] = calls
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": finish}
        return Reply({**head, "object": "chat.completion", "choices": [choice], "usage": usage})
    deltas: list[dict[str, Tree]] = [{"role": "assistant", "content": "" if step.text else None}]
    if step.text:
        deltas.append({"content": step.text})
    for index, call in enumerate(calls):
        function = call["function"]
        opening = {**call, "index": index, "function": {**table(function), "arguments": ""}}
        rest = {"index": index, "function": {"arguments": table(function)["arguments"]}}
        deltas += [{"tool_calls": [opening]}, {"tool_calls": [rest]}]
    head["object"] = "chat.completion.chunk"
    chunks = [
        {**head, "choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": None}]}
        for delta in deltas
    ]
    chunks.append({**head, "choices": [{"index": 0, "delta": {}, "logprobs": None, "finish_reason": finish}]})
    if table(body.get("stream_options")).get("include_usage"):
        chunks.append({**head, "choices": [], "usage": usage})
    return Reply(stream=(*map(event, chunks), event("[DONE]")))


def aside(ask: Ask) -> Reply | None:
    """The list of models; it is also what an Anthropic client reads from it."""
    if ask.method == "POST" or not (ask.path.endswith("/models") or "/models/" in ask.path):
        return None
    name = ask.path.rpartition("/models/")[2] if "/models/" in ask.path else MODEL
    model = {
        "id": name,
        "object": "model",
        "type": "model",
        "display_name": name,
        "created": CREATED,
        "created_at": "2025-01-01T00:00:00Z",
        "owned_by": "hookport",
    }
    if "/models/" in ask.path:
        return Reply(model)
    listed = {"object": "list", "data": [model], "has_more": False, "first_id": name, "last_id": name}
    return Reply(listed)


def refuse(message: str) -> Tree:
    return {
        "error": {"message": message, "type": "invalid_request_error", "param": None, "code": "not_found"}
    }
