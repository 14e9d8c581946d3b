"""Anthropic Messages: blocks of content, one event for each start, delta and stop of a block.

https://docs.anthropic.com/en/api/messages-streaming
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


def recognise(path: str) -> bool:
    return path.endswith("/messages")


def read(body: Tree) -> Conversation:
    body = as_object(body)
    turns, texts, answers = [], [], []
    if system := join_text(body.get("system")):
        texts.append(Message("system", system))
    for message in list_objects(body.get("messages")):
        role, content = str(message.get("role")), message.get("content")
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else list_objects(content)
        plain = [block for block in blocks if block.get("type") == "text"]
        texts += [Message(role, join_text(block)) for block in plain]
        answers += [block for block in blocks if block.get("type") == "tool_result"]
        if role == "assistant":
            calls = [block for block in blocks if block.get("type") == "tool_use"]
            past_calls = tuple(PastCall(str(call.get("id")), str(call.get("name"))) for call in calls)
            turns.append(ModelTurn(join_text(plain), past_calls))
    calls_by_id = name_calls(turns)
    results = tuple(
        ToolResult(str(block["tool_use_id"]), calls_by_id.get(block["tool_use_id"], ""), join_text(block))
        for block in answers
        if "tool_use_id" in block
    )
    form = as_object(body.get("output_format")) or as_object(
        as_object(body.get("output_config")).get("format")
    )
    return Conversation(
        tuple(turns), tuple(texts), results, tools=bool(body.get("tools")), schema=form.get("schema")
    )


def write_reply(step: ModelStep, ask: ModelRequest, serial: str) -> ModelReply:
    content: list[dict[str, Tree]] = [{"type": "text", "text": step.text}] if step.text else []
    content += [
        {"type": "tool_use", "id": f"toolu_{serial}{number:02d}", "name": call.name, "input": call.input}
        for number, call in enumerate(step.calls)
    ]
    stop = {"stop_reason": "tool_use" if step.calls else "end_turn", "stop_sequence": None}
    usage = {
        "input_tokens": step.tokens or TOKENS,
        "output_tokens": 20,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
    }
    body = as_object(ask.body)
    message = {
        "id": f"msg_{serial}",
        "type": "message",
        "role": "assistant",
        "model": body.get("model", MODEL),
        "content": content,
        **stop,
        "usage": usage,
    }
    if not body.get("stream"):
        return ModelReply(message)
    opening = {**message, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}}
    stream: list[dict[str, Tree]] = [{"type": "message_start", "message": opening}]
    for index, block in enumerate(content):
        if block["type"] == "text":
            start, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            start = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        stream += [
            {"type": "content_block_start", "index": index, "content_block": start},
            {"type": "content_block_delta", "index": index, "delta": delta},
            {"type": "content_block_stop", "index": index},
        ]
    stream += [{"type": "message_delta", "delta": stop, "usage": usage}, {"type": "message_stop"}]
    return ModelReply(stream=tuple(format_event(data, str(data["type"])) for data in stream))


def answer_aside(ask: ModelRequest) -> ModelReply | None:
    if ask.path.endswith("/messages/count_tokens"):
        return ModelReply({"input_tokens": 100})
    return None


def make_refusal(message: str) -> Tree:
    return {"type": "error", "error": {"type": "not_found_error", "message": message}}
