"""Gemini generateContent and streamGenerateContent: whole parts, whether streamed or not.

https://ai.google.dev/api/generate-content
"""

from __future__ import annotations

import json
import re

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

STREAM = ":streamGenerateContent"


def recognise(path: str) -> bool:
    return path.endswith((":generateContent", STREAM))


def read(body: Tree) -> Conversation:
    body = as_object(body)
    # Some clients wrap the request, as the Code Assist server requires.
    body = as_object(body.get("request")) or body
    turns, texts, answers = [], [], []
    for content in [
        {**as_object(body.get("systemInstruction")), "role": "system"},
        *list_objects(body.get("contents")),
    ]:
        role = {"model": "assistant"}.get(str(content.get("role")), str(content.get("role", "user")))
        parts = list_objects(content.get("parts"))
        plain = [str(part["text"]) for part in parts if part.get("text") and not part.get("thought")]
        texts += [Message(role, text) for text in plain]
        answers += [as_object(part["functionResponse"]) for part in parts if "functionResponse" in part]
        if role == "assistant":
            calls = [as_object(part["functionCall"]) for part in parts if "functionCall" in part]
            past_calls = tuple(PastCall(str(call.get("id", "")), str(call.get("name"))) for call in calls)
            turns.append(ModelTurn("\n".join(plain), past_calls))
    calls_by_id = name_calls(turns)
    results = tuple(
        ToolResult(
            str(answer.get("id", "")),
            str(answer.get("name") or calls_by_id.get(str(answer.get("id")), "")),
            _read_response(answer.get("response")),
        )
        for answer in answers
    )
    config = as_object(body.get("generationConfig"))
    schema = config.get("responseJsonSchema") or config.get("responseSchema")
    return Conversation(tuple(turns), tuple(texts), results, bool(body.get("tools")), schema)


def _read_response(response: Tree) -> str:
    """Read the text of an answer to a call: mostly its field `output`, `error` or `result`."""
    for field in ("output", "error", "result"):
        if isinstance(as_object(response).get(field), str):
            return str(response[field])
    return join_text(response) or json.dumps(response, ensure_ascii=False)


def write_reply(step: ModelStep, ask: ModelRequest, serial: str) -> ModelReply:
    parts: list[dict[str, Tree]] = [{"text": step.text}] if step.text else []
    parts += [
        {"functionCall": {"id": f"call_{serial}{number:02d}", "name": call.name, "args": call.input}}
        for number, call in enumerate(step.calls)
    ]
    tokens = step.tokens or TOKENS
    usage = {"promptTokenCount": tokens, "candidatesTokenCount": 20, "totalTokenCount": tokens + 20}
    candidate = {"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}
    answer: dict[str, Tree] = {
        "candidates": [candidate],
        "usageMetadata": usage,
        "modelVersion": _read_model(ask.path),
        "responseId": serial,
    }
    if isinstance(as_object(ask.body).get("request"), dict):
        answer = {"response": answer}
    if not ask.path.endswith(STREAM):
        return ModelReply(answer)
    if "alt=sse" in ask.query:
        return ModelReply(stream=(format_event(answer).replace("\n\n", "\r\n\r\n"),))
    return ModelReply(stream=("[", json.dumps(answer), "]"), type="application/json")


def _read_model(path: str) -> str:
    match = re.search(r"/models/([^/:]+)", path)
    return match[1] if match else MODEL


def answer_aside(ask: ModelRequest) -> ModelReply | None:
    if ask.path.endswith(":countTokens"):
        return ModelReply({"totalTokens": 100})
    if ask.path.endswith((":embedContent", ":batchEmbedContents")):
        vector = {"values": [0.0]}
        single = ask.path.endswith(":embedContent")
        return ModelReply({"embedding": vector} if single else {"embeddings": [vector]})
    if ask.method == "GET" and re.search(r"/v1(beta|alpha)/models(/|$)", ask.path):
        name = _read_model(ask.path)
        model = {
            "name": f"models/{name}",
            "version": "1",
            "displayName": name,
            "inputTokenLimit": 1_000_000,
            "outputTokenLimit": 65_536,
            "supportedGenerationMethods": ["generateContent", "countTokens"],
        }
        return ModelReply({"models": [model]} if ask.path.endswith("/models") else model)
    return None


def make_refusal(message: str) -> Tree:
    return {"error": {"code": 404, "message": message, "status": "NOT_FOUND"}}
