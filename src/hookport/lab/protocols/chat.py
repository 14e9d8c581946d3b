"""OpenAI Chat Completions, which many servers implement: one delta for each piece of a message.

https://platform.openai.com/docs/api-reference/chat/streaming
"""

from __future__ import annotations

import json

from hookport.base.tree import Tree
from hookport.lab.driver import ModelStep
from hookport.lab.protocols import (
    MODEL,
    TOKENS,
    Conversation,
    Message,
    ModelReply,
    ModelRequest,
    ModelTurn,
    PastCall,
    ToolResult,
    as_object,
    format_event,
    join_text,
    list_objects,
    name_calls,
)

# The time of every answer; nothing depends on it.
CREATED = 1_700_000_000


def recognise(path: str) -> bool:
    return path.endswith("/chat/completions")


def read(body: Tree) -> Conversation:
    body = as_object(body)
    turns, texts, answers = [], [], []
    for message in list_objects(body.get("messages")):
        role, text = str(message.get("role")), join_text(message.get("content"))
        if role == "tool":
            answers.append((str(message.get("tool_call_id")), text))
            continue
        if text:
            texts.append(Message("system" if role == "developer" else role, text))
        if role == "assistant":
            calls = list_objects(message.get("tool_calls"))
            turns.append(ModelTurn(text, tuple(_make_past_call(call) for call in calls)))
    calls_by_id = name_calls(turns)
    results = tuple(ToolResult(call, calls_by_id.get(call, ""), text) for call, text in answers)
    form = as_object(as_object(body.get("response_format")).get("json_schema"))
    return Conversation(
        tuple(turns), tuple(texts), results, tools=bool(body.get("tools")), schema=form.get("schema")
    )


def _make_past_call(call: dict[str, Tree]) -> PastCall:
    return PastCall(
        str(call.get("id")), str(as_object(call.get("function") or call.get("custom")).get("name"))
    )


def write_reply(step: ModelStep, ask: ModelRequest, serial: str) -> ModelReply:
    body = as_object(ask.body)
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
    tokens = step.tokens or TOKENS
    usage = {"prompt_tokens": tokens, "completion_tokens": 20, "total_tokens": tokens + 20}
    head = {"id": f"chatcmpl-{serial}", "created": CREATED, "model": body.get("model", MODEL)}
    if not body.get("stream"):
        message: dict[str, Tree] = {"role": "assistant", "content": step.text or None}
        if calls:
            message["tool_calls"] = calls
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": finish}
        return ModelReply({**head, "object": "chat.completion", "choices": [choice], "usage": usage})
    deltas: list[dict[str, Tree]] = [{"role": "assistant", "content": "" if step.text else None}]
    if step.text:
        deltas.append({"content": step.text})
    for index, call in enumerate(calls):
        function = call["function"]
        opening = {**call, "index": index, "function": {**as_object(function), "arguments": ""}}
        rest = {"index": index, "function": {"arguments": as_object(function)["arguments"]}}
        deltas += [{"tool_calls": [opening]}, {"tool_calls": [rest]}]
    head["object"] = "chat.completion.chunk"
    chunks = [
        {**head, "choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": None}]}
        for delta in deltas
    ]
    chunks.append({**head, "choices": [{"index": 0, "delta": {}, "logprobs": None, "finish_reason": finish}]})
    if as_object(body.get("stream_options")).get("include_usage"):
        chunks.append({**head, "choices": [], "usage": usage})
    return ModelReply(stream=(*map(format_event, chunks), format_event("[DONE]")))


def answer_aside(ask: ModelRequest) -> ModelReply | None:
    """Answer the list of models, in a form that Anthropic clients also read."""
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
        return ModelReply(model)
    listed = {"object": "list", "data": [model], "has_more": False, "first_id": name, "last_id": name}
    return ModelReply(listed)


def make_refusal(message: str) -> Tree:
    return {
        "error": {"message": message, "type": "invalid_request_error", "param": None, "code": "not_found"}
    }
