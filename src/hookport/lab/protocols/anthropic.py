"""Anthropic Messages: blocks of content, one event for each start, delta and stop of a block.

https://docs.anthropic.com/en/api/messages-streaming
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


def recognise(path: str) -> bool:
    return path.endswith("/messages")


def read(body: Tree) -> Conversation:
    body = table(body)
    turns, texts, told = [], [], []
    if system := words(body.get("system")):
        texts.append(Said("system", system))
    for message in objects(body.get("messages")):
        role, content = str(message.get("role")), message.get("content")
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else objects(content)
        plain = [block for block in blocks if block.get("type") == "text"]
        texts += [Said(role, words(block)) for block in plain]
        told += [block for block in blocks if block.get("type") == "tool_result"]
        if role == "assistant":
            calls = [block for block in blocks if block.get("type") == "tool_use"]
            asked = tuple(Asked(str(call.get("id")), str(call.get("name"))) for call in calls)
            turns.append(Turn(words(plain), asked))
    calls_by_id = named(turns)
    results = tuple(
        Result(str(block["tool_use_id"]), calls_by_id.get(block["tool_use_id"], ""), words(block))
        for block in told
        if "tool_use_id" in block
    )
    form = table(body.get("output_format")) or table(table(body.get("output_config")).get("format"))
    return Conversation(
        tuple(turns), tuple(texts), results, tools=bool(body.get("tools")), schema=form.get("schema")
    )


def say(step: Step, ask: Ask, serial: str) -> Reply:
    content: list[dict[str, Tree]] = [{"type": "text", "text": step.text}] if step.text else []
    content += [
        {"type": "tool_use", "id": f"toolu_{serial}{number:02d}", "name": call.name, "input": call.input}
        for number, call in enumerate(step.calls)
    ]
    stop = {"stop_reason": "tool_use" if step.calls else "end_turn", "stop_sequence": None}
    usage = {
        "input_tokens": 100,
        "output_tokens": 20,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
    }
    body = table(ask.body)
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
        return Reply(message)
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
    return Reply(stream=tuple(event(data, str(data["type"])) for data in stream))


def aside(ask: Ask) -> Reply | None:
    if ask.path.endswith("/messages/count_tokens"):
        return Reply({"input_tokens": 100})
    return None


def refuse(message: str) -> Tree:
    return {"type": "error", "error": {"type": "not_found_error", "message": message}}
