"""The protocols for models, one module each, found by file name; each has the same five functions.

- `recognise(path)`: whether a request to that path asks the model for its next answer.
- `read(body)`: the conversation in such a request.
- `write_reply(step, ask, serial)`: the answer to it, streamed or not as requested.
- `answer_aside(ask)`: the answer to side requests (lists of models, counts of tokens), or nothing.
- `make_refusal(message)`: the body of an error, in that protocol.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from importlib import import_module
from importlib.resources import files
from typing import NamedTuple, Protocol, cast

from hookport.base.tree import Tree
from hookport.lab.driver import ModelStep

# The content of a request or an answer: parsed JSON.

MODEL = "scripted-model"
# How full the model says that its context is, unless a step says something else.
TOKENS = 100


class ModelRequest(NamedTuple):
    """One request to the server: the path without its query, and the parsed body."""

    method: str
    path: str
    query: str
    body: Tree


class ModelReply(NamedTuple):
    """The server's answer: JSON, or a stream of raw texts."""

    body: Tree = None
    stream: tuple[str, ...] = ()
    type: str = "text/event-stream"
    status: int = 200


class Message(NamedTuple):
    """A text of the conversation; the role is `system`, `user` or `assistant`."""

    role: str
    text: str


class PastCall(NamedTuple):
    """A call that the model made earlier in the conversation."""

    id: str
    name: str


class ModelTurn(NamedTuple):
    """An earlier answer of the model in the conversation."""

    text: str = ""
    calls: tuple[PastCall, ...] = ()


class ToolResult(NamedTuple):
    """The result of a call, as the model receives it: `call` is the name of the tool."""

    id: str
    call: str
    text: str


class Conversation(NamedTuple):
    """The conversation in a request. A request with a `schema` expects JSON of that form, not a next step."""

    turns: tuple[ModelTurn, ...] = ()
    texts: tuple[Message, ...] = ()
    results: tuple[ToolResult, ...] = ()
    tools: bool = False
    schema: Tree = None


class ModelProtocol(Protocol):
    """The functions of every module of this package."""

    def recognise(self, path: str) -> bool: ...
    def read(self, body: Tree) -> Conversation: ...
    def write_reply(self, step: ModelStep, ask: ModelRequest, serial: str) -> ModelReply: ...
    def answer_aside(self, ask: ModelRequest) -> ModelReply | None: ...
    def make_refusal(self, message: str) -> Tree: ...


def list_names() -> list[str]:
    """List every protocol, in alphabetical order."""
    file_names = (path.name for path in files(__name__).iterdir())
    return sorted(
        name.removesuffix(".py") for name in file_names if name.endswith(".py") and not name.startswith("_")
    )


def get(name: str) -> ModelProtocol:
    """The protocol of that name."""
    return cast("ModelProtocol", import_module(f"{__name__}.{name}"))


def format_event(data: Tree, name: str = "") -> str:
    """Format one event of a stream, as a server sends it."""
    text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return (f"event: {name}\n" if name else "") + f"data: {text}\n\n"


def join_text(content: Tree) -> str:
    """Join the text of a content, which is a string or a list of parts in every protocol."""
    if isinstance(content, str):
        return content
    if isinstance(content, Mapping):
        return join_text(content.get("text") or content.get("content") or content.get("refusal") or "")
    return "\n".join(filter(None, map(join_text, content))) if isinstance(content, list) else ""


def list_objects(items: Tree) -> list[dict[str, Tree]]:
    """List the objects of a list; anything else has none."""
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []


def as_object(value: Tree) -> dict[str, Tree]:
    """Return an object, or an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def name_calls(turns: Iterable[ModelTurn]) -> dict[str, str]:
    """Map the ids of calls to the names of their tools."""
    return {call.id: call.name for turn in turns for call in turn.calls}


def make_instance(schema: Tree) -> Tree:
    """Make the smallest value that a JSON schema allows."""
    if not isinstance(schema, Mapping):
        return "scripted"
    for choice in ("const", "default"):
        if choice in schema:
            return schema[choice]
    if schema.get("enum"):
        return schema["enum"][0]
    for many in ("anyOf", "oneOf", "allOf"):
        if schema.get(many):
            return make_instance(schema[many][0])
    kind = schema.get("type", "object" if "properties" in schema else "string")
    kind = str(kind[0] if isinstance(kind, list) else kind).lower()
    if kind == "object":
        return {name: make_instance(part) for name, part in as_object(schema.get("properties")).items()}
    plain: dict[str, Tree] = {"array": [], "number": 0, "integer": 0, "boolean": False, "null": None}
    return plain.get(kind, "scripted")
