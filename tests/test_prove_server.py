"""The scripted model as the vendors' own clients see it, and which step it says when.

The clients are imported where they are used: they take two seconds, and not every worker needs them.
"""

from __future__ import annotations

import gzip
import json
import urllib.error
import urllib.request
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hookport.lab import protocols
from hookport.lab.driver import ModelCall, ModelStep
from hookport.lab.protocols import Message, ModelRequest, ToolResult
from hookport.lab.server import Server

LIST, PATCH = (
    ModelCall("shell", {"command": "ls “x”"}),
    ModelCall("patch", "*** Begin Patch\n*** End Patch\n"),
)
STEPS = (
    ModelStep((LIST, ModelCall("read", {"path": "a"}))),
    ModelStep((LIST,), text="Once more."),
    ModelStep(text="Done."),
)
PROTOCOLS = ("anthropic", "chat", "gemini", "responses")


@pytest.fixture
def server() -> Iterator[Server]:
    with Server(STEPS, "chat") as running:
        yield running


def post(url: str, data: Any, **headers: str) -> tuple[int, bytes]:
    body = data if isinstance(data, bytes) or hasattr(data, "__next__") else json.dumps(data).encode()
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    request = urllib.request.Request(url, body, {"Content-Type": "application/json", **names})
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read()


@pytest.mark.parametrize("stream", [False, True])
def test_an_anthropic_client_plays_all_steps(server: Server, stream: bool) -> None:
    from anthropic import Anthropic

    with Anthropic(base_url=server.url, api_key="secret-key", max_retries=0) as client:
        tools: Any = [{"name": "shell", "input_schema": {"type": "object"}}]
        messages: list[Any] = [{"role": "user", "content": "Go."}]
        said = []
        for _ in range(4):
            wanted: Any = {
                "model": "claude-x",
                "max_tokens": 99,
                "system": "Be.",
                "tools": tools,
                "messages": messages,
            }
            if stream:
                with client.messages.stream(**wanted) as events:
                    message = events.get_final_message()
            else:
                message = client.messages.create(**wanted)
            blocks = [block.model_dump() for block in message.content]
            calls = [block for block in blocks if block["type"] == "tool_use"]
            said.append((message.stop_reason, [b.get("text") or (b["name"], b["input"]) for b in blocks]))
            told = [{"type": "tool_result", "tool_use_id": call["id"], "content": "fine"} for call in calls]
            messages += [{"role": "assistant", "content": message.content}]
            messages += [{"role": "user", "content": told or "go on"}]
        assert said == [
            ("tool_use", [("shell", LIST.input), ("read", {"path": "a"})]),
            ("tool_use", ["Once more.", ("shell", LIST.input)]),
            ("end_turn", ["Done."]),
            ("end_turn", ["That is all (4)."]),
        ]
        assert [heard.step for heard in server.requests] == [0, 1, 2, 3]
        last = server.requests[-1]
        assert last.texts == (
            Message("system", "Be."),
            Message("user", "Go."),
            Message("assistant", "Once more."),
            Message("assistant", "Done."),
            Message("user", "go on"),
        )
        assert [(result.call, result.text) for result in last.results] == [
            *(("shell", "fine"), ("read", "fine"), ("shell", "fine")),
        ]
        assert client.messages.count_tokens(model="claude-x", messages=messages).input_tokens == 100
        assert [model.id for model in client.models.list()] == ["scripted-model"]


@pytest.mark.parametrize("stream", [False, True])
def test_a_chat_client_plays_all_steps(server: Server, stream: bool) -> None:
    from openai import OpenAI

    with OpenAI(base_url=f"{server.url}/v1", api_key="secret-key", max_retries=0) as client:
        tools: Any = [{"type": "function", "function": {"name": "shell", "parameters": {"type": "object"}}}]
        messages: list[Any] = [{"role": "developer", "content": "Be."}, {"role": "user", "content": "Go."}]
        said = []
        for _ in range(4):
            if stream:
                with client.chat.completions.stream(model="gpt-x", messages=messages, tools=tools) as events:
                    completion: Any = events.get_final_completion()
            else:
                completion = client.chat.completions.create(model="gpt-x", messages=messages, tools=tools)
            choice = completion.choices[0]
            calls = choice.message.tool_calls or []
            made = [(call.function.name, json.loads(call.function.arguments)) for call in calls]
            said.append((choice.finish_reason, choice.message.content, made))
            messages.append(choice.message.model_dump(exclude_none=True, exclude={"parsed"}))
            messages += [{"role": "tool", "tool_call_id": call.id, "content": "fine"} for call in calls]
            if not calls:
                messages.append({"role": "user", "content": "go on"})
        assert said == [
            ("tool_calls", None, [("shell", LIST.input), ("read", {"path": "a"})]),
            ("tool_calls", "Once more.", [("shell", LIST.input)]),
            ("stop", "Done.", []),
            ("stop", "That is all (4).", []),
        ]
        last = server.requests[-1]
        assert last.texts[0] == Message("system", "Be.")
        assert [(result.call, result.text) for result in last.results] == [
            *(("shell", "fine"), ("read", "fine"), ("shell", "fine")),
        ]
        assert [model.id for model in client.models.list()] == ["scripted-model"]
        assert client.models.retrieve("gpt-x").id == "gpt-x"


@pytest.mark.parametrize("stream", [False, True])
def test_a_responses_client_plays_all_steps(stream: bool) -> None:
    from openai import OpenAI

    steps = (
        ModelStep((LIST, PATCH)),
        ModelStep((ModelCall("look", {"at": 1}, "mcp__lab"),)),
        ModelStep(text="Done."),
    )
    with Server(steps, "responses") as server:
        with OpenAI(base_url=f"{server.url}/v1", api_key="secret-key", max_retries=0) as client:
            extra: Any = {"type": "additional_tools", "role": "developer", "tools": [{"type": "custom"}]}
            items: list[Any] = [extra, {"role": "user", "content": "Go."}]
            kinds, said = [], []
            for _ in range(4):
                wanted: Any = {"model": "gpt-x", "instructions": "Be.", "input": items}
                if stream:
                    events = list(client.responses.create(**wanted, stream=True))
                    kinds.append([event.type.removeprefix("response.") for event in events])
                    answer: Any = events[-1].response
                else:
                    answer = client.responses.create(**wanted)
                output = [item.model_dump(exclude_none=True) for item in answer.output]
                said.append([[item.get(key) for key in ("type", "name", "namespace")] for item in output])
                items += output
                for item in output:
                    if item["type"] == "message":
                        items.append({"role": "user", "content": "go on"})
                    else:
                        kind = f"{item['type']}_output"
                        items.append({"type": kind, "call_id": item["call_id"], "output": "fine"})
        assert said == [
            [["function_call", "shell", None], ["custom_tool_call", "patch", None]],
            [["function_call", "look", "mcp__lab"]],
            [["message", None, None]],
            [["message", None, None]],
        ]
        assert [heard.step for heard in server.requests] == [0, 1, 2, 3]
        last = server.requests[-1]
        assert last.texts[:2] == (Message("system", "Be."), Message("user", "Go."))
        assert [(result.call, result.text) for result in last.results] == [
            *(("shell", "fine"), ("patch", "fine"), ("look", "fine")),
        ]
    if stream:
        item = ["output_item.added", "{0}.delta", "{0}.done", "output_item.done"]
        calls = [
            name.format(f) for f in ("function_call_arguments", "custom_tool_call_input") for name in item
        ]
        text = ["content_part.added", "output_text.delta", "output_text.done", "content_part.done"]
        assert kinds[0] == ["created", "in_progress", *calls, "completed"]
        assert kinds[2] == ["created", "in_progress", item[0], *text, item[-1], "completed"]


def gemini(server: Server, contents: list[Any], stream: bool, **more: Any) -> list[Any]:
    method = "streamGenerateContent?alt=sse" if stream else "generateContent"
    body = {"contents": contents, "tools": [{"functionDeclarations": []}], **more}
    status, data = post(f"{server.url}/v1beta/models/gemini-x:{method}", body)
    assert status == 200
    text = data.decode().strip().removeprefix("data: ")
    parts: list[Any] = json.loads(text)["candidates"][0]["content"]["parts"]
    return parts


@pytest.mark.parametrize("stream", [False, True])
def test_gemini_plays_all_steps(stream: bool) -> None:
    with Server(STEPS, "gemini") as server:
        contents: list[Any] = [{"role": "user", "parts": [{"text": "Go."}]}]
        said = []
        for _ in range(4):
            parts = gemini(server, contents, stream, systemInstruction={"parts": [{"text": "Be."}]})
            calls = [part["functionCall"] for part in parts if "functionCall" in part]
            said.append([part.get("text") or part["functionCall"]["name"] for part in parts])
            # This API does not promise to keep ids, so they are left out.
            for call in calls:
                del call["id"]
            told: list[Any] = [
                {"functionResponse": {"name": c["name"], "response": {"output": "fine"}}} for c in calls
            ]
            contents.append({"role": "model", "parts": parts})
            contents.append({"role": "user", "parts": told or [{"text": "go on"}]})
        assert said == [["shell", "read"], ["Once more.", "shell"], ["Done."], ["That is all (4)."]]
        last = server.requests[-1]
        assert last.texts[:2] == (Message("system", "Be."), Message("user", "Go."))
        assert last.results == (*(ToolResult("", name, "fine") for name in ("shell", "read", "shell")),)
        counted = post(f"{server.url}/v1beta/models/gemini-x:countTokens", {"contents": contents})
        assert json.loads(counted[1]) == {"totalTokens": 100}


def chat(*messages: dict[str, Any], tools: bool = True, **more: Any) -> dict[str, Any]:
    return {"messages": list(messages), **({"tools": [{"type": "function"}]} if tools else {}), **more}


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def model(text: str = "", *calls: str) -> dict[str, Any]:
    made = [{"id": call, "function": {"name": "shell", "arguments": "{}"}} for call in calls]
    return {"role": "assistant", "content": text, **({"tool_calls": made} if made else {})}


def said_to(server: Server, body: dict[str, Any]) -> str:
    """The text that the model says, or the names of its calls."""
    status, data = post(f"{server.url}/v1/chat/completions", body)
    assert status == 200
    message = json.loads(data)["choices"][0]["message"]
    calls = message.get("tool_calls", [])
    return " ".join(call["function"]["name"] for call in calls) or str(message["content"])


def test_the_same_request_gets_the_same_step(server: Server) -> None:
    opening = user("Go.")
    assert said_to(server, chat(opening)) == "shell read"
    assert said_to(server, chat(opening)) == "shell read"
    later = chat(opening, model("", "a", "b"))
    assert said_to(server, later) == "shell"
    assert said_to(server, chat(opening)) == "shell read"
    assert said_to(server, later) == "shell"
    assert [heard.step for heard in server.requests] == [0, 0, 1, 0, 1]


def test_what_is_not_about_the_script_uses_no_step_up(server: Server) -> None:
    opening, first = user("Go."), model("", "a", "b")
    assert said_to(server, chat(opening)) == "shell read"
    title = "The next scripted step is number 0."
    assert said_to(server, chat(user("A title, please."), tools=False)) == title
    form = {
        "type": "json_schema",
        "json_schema": {"name": "x", "schema": {"properties": {"a": {"enum": ["b"]}}}},
    }
    assert said_to(server, chat(user("Which?"), response_format=form)) == '{"a": "b"}'
    assert said_to(server, chat(opening, first)) == "shell"
    # A subagent: another conversation, begun after this one.
    assert said_to(server, chat(user("Look around."))) == title
    assert [heard.step for heard in server.requests] == [0, None, None, 1, None]


def test_a_summed_up_conversation_goes_on_where_it_was(server: Server) -> None:
    history = [user("Go."), model("", "a", "b"), model("", "c")]
    wish = user("Your task is to create a detailed summary of the conversation so far.")
    summary = said_to(server, chat(*history, wish))
    assert summary == "The next scripted step is number 2."
    assert said_to(server, chat(user(f"Summed up: {summary}"))) == "Done."
    assert [heard.step for heard in server.requests] == [None, 2]


def test_after_the_last_step_the_model_closes_every_time(server: Server) -> None:
    history = [user("Go."), model("", "a", "b"), model("", "c")]
    assert said_to(server, chat(*history)) == "Done."
    history += [model("Done."), user("Not yet.")]
    assert said_to(server, chat(*history)) == "That is all (2)."
    history += [model("That is all (2)."), user("Not yet.")]
    assert said_to(server, chat(*history)) == "That is all (3)."


def test_a_text_in_the_middle_is_said_once() -> None:
    with Server((ModelStep(text="First."), ModelStep((LIST,))), "chat") as server:
        # Words that an agent puts into the model's mouth are not a step.
        history = [user("Setting."), model("Understood."), user("Go.")]
        assert said_to(server, chat(*history)) == "First."
        assert said_to(server, chat(*history, model("First."), user("more"))) == "shell"


@pytest.mark.parametrize(
    ("data", "coding"),
    [
        (gzip.compress, "gzip"),
        (zlib.compress, "deflate"),
        (lambda raw: zlib.compress(raw, wbits=-15), "deflate"),
    ],
)
def test_packed_bodies_are_read(server: Server, data: Any, coding: str) -> None:
    body = data(json.dumps(chat(user("Go."))).encode())
    status, _ = post(f"{server.url}/v1/chat/completions", body, Content_Encoding=coding)
    assert (status, server.requests[0].step) == (200, 0)


def test_chunked_bodies_are_read(server: Server) -> None:
    raw = json.dumps(chat(user("Go."))).encode()
    status, _ = post(f"{server.url}/v1/chat/completions", iter([raw[:10], raw[10:]]))
    assert (status, server.requests[0].texts) == (200, (Message("user", "Go."),))


def test_every_request_is_kept_without_its_secrets(tmp_path: Path) -> None:
    kept = tmp_path / "requests.jsonl"
    with Server(STEPS, "anthropic", requests_file=kept) as server:
        status, data = post(f"{server.url}/v1/telemetry?key=abc", {"a": 1}, X_Api_Key="abc")
        why = "the scripted model does not know POST /v1/telemetry"
        error = {"type": "error", "error": {"type": "not_found_error", "message": why}}
        assert (status, json.loads(data)) == (404, error)
        assert post(f"{server.url}/v1/messages", b"x", Content_Encoding="zstd")[0] == 415
        assert post(f"{server.url}/v1/messages", b"not gzip", Content_Encoding="gzip")[0] == 400
        assert post(f"{server.url}//v1/messages", "no object", Authorization="Bearer abc")[0] == 200
    lines = [json.loads(line) for line in kept.read_text("utf-8").splitlines()]
    assert "abc" not in kept.read_text("utf-8")
    assert [(line["method"], line["path"], line["status"], line["body"]) for line in lines] == [
        ("POST", "/v1/telemetry?key=(hidden)", 404, {"a": 1}),
        ("POST", "/v1/messages", 415, None),
        ("POST", "/v1/messages", 400, None),
        ("POST", "/v1/messages", 200, "no object"),
    ]


@pytest.mark.parametrize("name", PROTOCOLS)
@pytest.mark.parametrize(
    "body", [None, "", [], {"messages": [1], "input": [2], "contents": [3]}, {"tools": 1}]
)
def test_a_strange_body_is_read_as_an_empty_conversation(name: str, body: Any) -> None:
    speech = protocols.get(name)
    conversation = speech.read(body)
    assert (conversation.turns, conversation.texts, conversation.results) == ((), (), ())
    assert (
        speech.write_reply(ModelStep(text="x"), ModelRequest("POST", "/x", "", body), "play00n0001").status
        == 200
    )


def test_the_smallest_value_of_a_schema() -> None:
    schema = {
        "type": "OBJECT",
        "properties": {
            "a": {"type": ["string", "null"]},
            "b": {"anyOf": [{"type": "integer"}, {}]},
            "c": {"const": 3},
            "d": {"type": "array"},
            "e": {"type": "boolean"},
            "f": {"properties": {"g": {}}},
            "h": {"enum": ["i"]},
        },
    }
    small = {"a": "scripted", "b": 0, "c": 3, "d": [], "e": False}
    assert protocols.make_instance(schema) == {**small, "f": {"g": "scripted"}, "h": "i"}


@pytest.mark.parametrize(
    ("protocol", "path", "usage"),
    [
        ("chat", "/v1/chat/completions", ("usage", "prompt_tokens")),
        ("anthropic", "/v1/messages", ("usage", "input_tokens")),
        ("responses", "/v1/responses", ("usage", "input_tokens")),
        ("gemini", "/v1beta/models/m:generateContent", ("usageMetadata", "promptTokenCount")),
    ],
)
def test_the_model_says_that_its_context_is_full_and_refuses_a_request(
    protocol: str, path: str, usage: tuple[str, str]
) -> None:
    reply = protocols.get(protocol).write_reply(
        ModelStep((LIST,), tokens=123_456), ModelRequest("POST", path, "", {}), "play00n0001"
    )
    assert isinstance(reply.body, dict)
    assert reply.body[usage[0]][usage[1]] == 123_456
    plain = protocols.get(protocol).write_reply(
        ModelStep((LIST,)), ModelRequest("POST", path, "", {}), "play00n0001"
    )
    assert isinstance(plain.body, dict)
    assert plain.body[usage[0]][usage[1]] == protocols.TOKENS


def test_a_refused_step_has_its_status_and_the_script_stays_there() -> None:
    with Server((ModelStep(status=400), ModelStep(text="Never.")), "chat") as server:
        for _ in range(2):
            status, body = post(f"{server.url}/v1/chat/completions", chat(user("Go.")))
            assert (status, json.loads(body)["error"]["message"]) == (400, "refused, as scripted")
        assert [(request.step, request.status) for request in server.requests] == [(0, 400), (0, 400)]
