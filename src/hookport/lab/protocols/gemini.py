"""Gemini generateContent and streamGenerateContent: whole parts, whether streamed or not.

https://ai.google.dev/api/generate-content
"""

from __future__ import annotations

import json
import re

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

STREAM = ":streamGenerateContent"


def recognise(path: str) -> bool:
    return path.endswith((":generateContent", STREAM))


def read(body: Tree) -> Conversation:
    body = table(body)
    # Some clients wrap the request, as the Code Assist server wants it.
    body = table(body.get("request")) or body
    turns, texts, told = [], [], []
    for content in [
        {**table(body.get("systemInstruction")), "role": "system"},
        *objects(body.get("contents")),
    ]:
        role = {"model": "assistant"}.get(str(content.get("role")), str(content.get("role", "user")))
        parts = objects(content.get("parts"))
        plain = [str(part["text"]) for part in parts if part.get("text") and not part.get("thought")]
        texts += [Said(role, text) for text in plain]
        told += [table(part["functionResponse"]) for part in parts if "functionResponse" in part]
        if role == "assistant":
            calls = [table(part["functionCall"]) for part in parts if "functionCall" in part]
            asked = tuple(Asked(str(call.get("id", "")), str(call.get("name"))) for call in calls)
            turns.append(Turn("\n".join(plain), asked))
    calls_by_id = named(turns)
    results = tuple(
        Result(
            str(answer.get("id", "")),
            str(answer.get("name") or calls_by_id.get(str(answer.get("id")), "")),
            _told(answer.get("response")),
        )
        for answer in told
    )
    wanted = table(body.get("generationConfig"))
    schema = wanted.get("responseJsonSchema") or wanted.get("responseSchema")
    return Conversation(tuple(turns), tuple(texts), results, bool(body.get("tools")), schema)


def _told(response: Tree) -> str:
    """The text of an answer to a call: mostly one field of it, named `output`, `error` or `result`."""
    for field in ("output", "error", "result"):
        if isinstance(table(response).get(field), str):
            return str(response[field])
    return words(response) or json.dumps(response, ensure_ascii=False)


def say(step: Step, ask: Ask, serial: str) -> Reply:
    parts: list[dict[str, Tree]] = [{"text": step.text}] if step.text else []
    parts += [
        {"functionCall": {"id": f"call_{serial}{number:02d}", "name": call.name, "args": call.input}}
        for number, call in enumerate(step.calls)
    ]
    usage = {"promptTokenCount": 100, "candidatesTokenCount": 20, "totalTokenCount": 120}
    candidate = {"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}
    answer: dict[str, Tree] = {
        "candidates": [candidate],
        "usageMetadata": usage,
        "modelVersion": _model(ask.path),
        "responseId": serial,
    }
    if isinstance(table(ask.body).get("request"), dict):
        answer = {"response": answer}
    if not ask.path.endswith(STREAM):
        return Reply(answer)
    if "alt=sse" in ask.query:
        return Reply(stream=(event(answer).replace("\n\n", "\r\n\r\n"),))
    return Reply(stream=("[", json.dumps(answer), "]"), type="application/json")


def _model(path: str) -> str:
    found = re.search(r"/models/([^/:]+)", path)
    return found[1] if found else MODEL


def aside(ask: Ask) -> Reply | None:
    if ask.path.endswith(":countTokens"):
        return Reply({"totalTokens": 100})
    if ask.path.endswith((":embedContent", ":batchEmbedContents")):
        vector = {"values": [0.0]}
        single = ask.path.endswith(":embedContent")
        return Reply({"embedding": vector} if single else {"embeddings": [vector]})
    if ask.method == "GET" and re.search(r"/v1(beta|alpha)/models(/|$)", ask.path):
        name = _model(ask.path)
        model = {
            "name": f"models/{name}",
            "version": "1",
            "displayName": name,
            "inputTokenLimit": 1_000_000,
            "outputTokenLimit": 65_536,
            "supportedGenerationMethods": ["generateContent", "countTokens"],
        }
        return Reply({"models": [model]} if ask.path.endswith("/models") else model)
    return None


def refuse(message: str) -> Tree:
    return {"error": {"code": 404, "message": message, "status": "NOT_FOUND"}}
