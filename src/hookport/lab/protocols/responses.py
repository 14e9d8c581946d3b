"""OpenAI Responses: items of output, each added, filled and done by its own events.

A call with a string as input is a custom (free-form) call; tools may come in namespaces, and in an input item
`additional_tools`. https://platform.openai.com/docs/api-reference/responses-streaming
"""

from __future__ import annotations

import json

from hookport.base.tree import Tree
from hookport.lab.driver import ModelCall, ModelStep
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

CREATED = 1_700_000_000
CALLS = ("function_call", "custom_tool_call", "local_shell_call", "shell_call", "apply_patch_call")


def recognise(path: str) -> bool:
    return path.endswith("/responses")


def read(body: Tree) -> Conversation:
    body = as_object(body)
    model_input = body.get("input")
    items = (
        [{"role": "user", "content": model_input}]
        if isinstance(model_input, str)
        else list_objects(model_input)
    )
    turns, texts, answers = [], [], []
    if body.get("instructions"):
        texts.append(Message("system", join_text(body["instructions"])))
    text, calls, open_turn = "", [], False
    for item in items:
        kind, role = str(item.get("type", "message")), str(item.get("role"))
        if kind in CALLS:
            calls.append(
                PastCall(str(item.get("call_id")), str(item.get("name", kind.removesuffix("_call"))))
            )
            open_turn = True
        elif kind == "message" and role == "assistant":
            text, open_turn = "\n".join(filter(None, (text, join_text(item.get("content"))))), True
            texts.append(Message("assistant", join_text(item.get("content"))))
        elif kind != "reasoning":
            # Items from others end the model's turn: an answer to a call, or a message.
            if open_turn:
                turns.append(ModelTurn(text, tuple(calls)))
                text, calls, open_turn = "", [], False
            if kind.endswith("_output"):
                answers.append((str(item.get("call_id")), _read_output(item.get("output"))))
            elif kind == "message":
                texts.append(
                    Message("system" if role == "developer" else role, join_text(item.get("content")))
                )
    if open_turn:
        turns.append(ModelTurn(text, tuple(calls)))
    calls_by_id = name_calls(turns)
    results = tuple(ToolResult(call, calls_by_id.get(call, ""), text) for call, text in answers)
    extra = any(item.get("type") == "additional_tools" for item in items)
    form = as_object(as_object(body.get("text")).get("format"))
    return Conversation(
        tuple(turns), tuple(texts), results, bool(body.get("tools")) or extra, schema=form.get("schema")
    )


def _read_output(output: Tree) -> str:
    return join_text(output) or ("" if output in ("", None, []) else json.dumps(output, ensure_ascii=False))


def write_reply(step: ModelStep, ask: ModelRequest, serial: str) -> ModelReply:
    body = as_object(ask.body)
    output = [_make_message(step.text, serial)] if step.text else []
    output += [_make_call(call, f"{serial}{number:02d}") for number, call in enumerate(step.calls)]
    usage = {
        "input_tokens": step.tokens or TOKENS,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 20,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": (step.tokens or TOKENS) + 20,
    }
    started = {
        "id": f"resp_{serial}",
        "object": "response",
        "created_at": CREATED,
        "status": "in_progress",
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "model": body.get("model", MODEL),
        "output": [],
        "parallel_tool_calls": True,
        "temperature": 1.0,
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "usage": None,
    }
    completed = {**started, "status": "completed", "output": output, "usage": usage}
    if not body.get("stream"):
        return ModelReply(completed)
    events: list[tuple[str, dict[str, Tree]]] = [
        ("created", {"response": started}),
        ("in_progress", {"response": started}),
    ]
    for index, item in enumerate(output):
        place = {"item_id": item["id"], "output_index": index}
        field, filling = _make_filling(item, place)
        empty = {**item, field: [] if field == "content" else "", "status": "in_progress"}
        events.append(("output_item.added", {"output_index": index, "item": empty}))
        events += filling
        events.append(("output_item.done", {"output_index": index, "item": item}))
    events.append(("completed", {"response": completed}))
    return ModelReply(
        stream=tuple(
            format_event({"type": f"response.{name}", "sequence_number": number, **data}, f"response.{name}")
            for number, (name, data) in enumerate(events)
        )
    )


def _make_filling(
    item: dict[str, Tree], place: dict[str, Tree]
) -> tuple[str, list[tuple[str, dict[str, Tree]]]]:
    """Find the field of an item that is filled later, and the events that fill it."""
    if item["type"] == "message":
        part, place = item["content"][0], {**place, "content_index": 0}
        empty = {**part, "text": ""}
        return "content", [
            ("content_part.added", {**place, "part": empty}),
            ("output_text.delta", {**place, "delta": part["text"], "logprobs": []}),
            ("output_text.done", {**place, "text": part["text"], "logprobs": []}),
            ("content_part.done", {**place, "part": part}),
        ]
    field, name = (
        ("arguments", "function_call_arguments")
        if item["type"] == "function_call"
        else ("input", "custom_tool_call_input")
    )
    return field, [
        (f"{name}.delta", {**place, "delta": item[field]}),
        (f"{name}.done", {**place, field: item[field], "name": item["name"]}),
    ]


def _make_message(text: str, serial: str) -> dict[str, Tree]:
    part = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
    return {
        "id": f"msg_{serial}",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": [part],
    }


def _make_call(call: ModelCall, serial: str) -> dict[str, Tree]:
    item = {"call_id": f"call_{serial}", "name": call.name, "status": "completed"}
    if call.namespace:
        item["namespace"] = call.namespace
    if isinstance(call.input, str):
        return {"id": f"ctc_{serial}", "type": "custom_tool_call", **item, "input": call.input}
    return {
        "id": f"fc_{serial}",
        "type": "function_call",
        **item,
        "arguments": json.dumps(call.input),
    }


def answer_aside(ask: ModelRequest) -> ModelReply | None:
    if ask.path.endswith("/responses/input_tokens"):
        return ModelReply({"object": "response.input_tokens", "input_tokens": 100})
    return None


def make_refusal(message: str) -> Tree:
    return {
        "error": {"message": message, "type": "invalid_request_error", "param": None, "code": "not_found"}
    }
