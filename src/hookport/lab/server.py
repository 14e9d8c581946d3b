"""The scripted model: a real HTTP server on 127.0.0.1 that plays steps and stores every request.

Only the conversation in a request decides which step answers it, so a repeated request gets the same step.
"""

from __future__ import annotations

import gzip
import json
import re
import socketserver
import sys
import threading
import zlib
from collections.abc import Sequence
from contextlib import suppress
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from hookport.base.tree import Tree
from hookport.lab import protocols
from hookport.lab.driver import FROM_RESULT, ModelCall, ModelStep
from hookport.lab.play import RequestRecord
from hookport.lab.protocols import Conversation, ModelProtocol, ModelReply, ModelRequest, ToolResult

LONGEST_BODY_BYTES = 64 << 20
SECRETS = re.compile(r"authorization|cookie|api-?key|token|secret", re.IGNORECASE)
SECRET_QUERY = re.compile(r"(?<=[?&])(key|access_token)=[^&]*")
HEALTH = ("/", "/health", "/healthz", "/v1/health", "/ping")

# The ids of our calls contain their step; a text marks how far a summarised conversation is.
MARK = re.compile(r"play(\d+)n\d+")
# The same in the conversation of a sub-agent.
INNER_MARK = re.compile(r"task(\d+)n\d+")
NEXT = re.compile(r"The next scripted step is number (\d+)\.")
SUMMARY = re.compile(
    r"(?is)(?=.*(conversation|compaction|llm)).*\b(create|write|provide|generate|give|produce)\b.{0,80}\bsummary\b"
)


class ModelScript:
    """The steps, and the progress of each conversation; `mark` finds a step's number in a call's id."""

    def __init__(self, steps: Sequence[ModelStep], mark: re.Pattern[str] = MARK) -> None:
        self.steps = tuple(steps)
        self._mark = mark
        self._openings: set[str] = set()
        self._begun = False
        self._lock = threading.Lock()

    def count_steps(self, conversation: Conversation) -> int:
        """Count the steps that the conversation has completed.

        Calls are identified by their ids, or by their number if an agent gives them its own ids. A text
        counts only if it is the script's text at this place, because agents add texts in the model's name.
        """
        done = max(
            (int(number) for message in conversation.texts for number in NEXT.findall(message.text)),
            default=0,
        )
        for turn in conversation.turns:
            marks = [int(mark[1]) + 1 for call in turn.calls if (mark := self._mark.search(call.id))]
            if marks:
                done = max(done, *marks)
            elif done < len(self.steps) and _is_step(self.steps[done], bool(turn.calls), turn.text):
                done += 1
        return done

    def step(self, conversation: Conversation) -> int | None:
        """The number of the step that answers, or None if the request is not part of the script.

        Such are requests without tools or for JSON (a title, a choice), for a summary, and another
        conversation that starts in the middle of this one (a subagent).
        """
        done = self.count_steps(conversation)
        prompts = [message.text for message in conversation.texts if message.role == "user"]
        if not conversation.tools or conversation.schema is not None:
            return None
        if prompts and SUMMARY.match(prompts[-1]):
            return None
        with self._lock:
            if done:
                self._begun = True
            elif not self._begun:
                self._openings.update(prompts[-1:])
            elif not self._openings.intersection(prompts):
                return None
        return done

    def find_task(self, conversation: Conversation) -> ModelScript | None:
        """The steps of the sub-agent whose conversation this is; None for every other conversation."""
        calls = [call for turn in conversation.turns for call in turn.calls]
        if not conversation.tools or any(self._mark.search(call.id) for call in calls):
            return None
        prompts = [message.text for message in conversation.texts if message.role != "assistant"]
        tasks = (step for step in self.steps if step.task and any(step.task in prompt for prompt in prompts))
        return next((ModelScript(step.inner, INNER_MARK) for step in tasks), None)


def _is_step(step: ModelStep, called: bool, text: str) -> bool:  # noqa: FBT001 - one of two kinds
    return called if step.calls else not called and step.text.strip() in text


def _fill_results(step: ModelStep, results: Sequence[ToolResult]) -> ModelStep:
    """Fill numbers that the agent has told, such as that of a running process, into the calls of a step."""
    return step._replace(calls=tuple(_fill_call(call, results) for call in step.calls))


def _fill_call(call: ModelCall, results: Sequence[ToolResult]) -> ModelCall:
    if isinstance(call.input, str):
        return call
    filled = dict(call.input)
    for name, value in call.input.items():
        if isinstance(value, str) and value.startswith(FROM_RESULT):
            found = (re.search(value.removeprefix(FROM_RESULT), result.text) for result in reversed(results))
            filled[name] = next((int(match[1]) for match in found if match), 0)
    return call._replace(input=filled)


class Server:
    """A running model; `requests` are the requests so far. Use it in a `with`."""

    def __init__(
        self, steps: Sequence[ModelStep], protocol: str, *, port: int = 0, requests_file: Path | None = None
    ) -> None:
        self.script = ModelScript(steps)
        self.requests: list[RequestRecord] = []
        others = [name for name in protocols.list_names() if name != protocol]
        self.speeches: dict[str, ModelProtocol] = {name: protocols.get(name) for name in (protocol, *others)}
        self._lock = threading.Lock()
        self._count = 0
        self._file: IO[str] | None = requests_file.open("a", encoding="utf-8") if requests_file else None
        self._http = _Listener(("127.0.0.1", port), _ModelHandler)
        self._http.server = self
        self.port = int(self._http.server_address[1])
        self.url = f"http://127.0.0.1:{self.port}"
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()
        if self._file:
            self._file.close()

    def answer(self, ask: ModelRequest, headers: dict[str, str]) -> ModelReply:
        """Answer one request and store it."""
        kind = next((name for name, speech in self.speeches.items() if speech.recognise(ask.path)), "")
        record = RequestRecord(ask.method, SECRET_QUERY.sub(r"\1=(hidden)", _format_target(ask)), kind)
        with self._lock:
            self._count += 1
            number = self._count
        if kind and ask.method == "POST":
            record, reply = self._play_step(self.speeches[kind], ask, record, number)
        else:
            asides = (speech.answer_aside(ask) for speech in self.speeches.values())
            reply = next((aside for aside in asides if aside), self._answer_unknown(ask))
        record = record._replace(status=reply.status)
        self._keep_request(record, headers, ask.body)
        return reply

    def _play_step(
        self, speech: ModelProtocol, ask: ModelRequest, record: RequestRecord, number: int
    ) -> tuple[RequestRecord, ModelReply]:
        conversation = speech.read(ask.body)
        task = self.script.find_task(conversation)
        index = None if task else self.script.step(conversation)
        word = "play"
        if task:
            word, index = "task", task.count_steps(conversation)
            closing = ModelStep(text=f"The task is done ({number}).")
            step = task.steps[index] if index < len(task.steps) else closing
        elif conversation.schema is not None:
            step = ModelStep(text=json.dumps(protocols.make_instance(conversation.schema)))
        elif index is None:
            step = ModelStep(
                text=f"The next scripted step is number {self.script.count_steps(conversation)}."
            )
        elif index < len(self.script.steps):
            step = self.script.steps[index]
            if step.status:
                refusal = ModelReply(speech.make_refusal("refused, as scripted"), status=step.status)
                return record._replace(step=index, texts=conversation.texts), refusal
        else:
            # Agents stop a model that repeats itself.
            step = ModelStep(text=f"That is all ({number}).")
        step = _fill_results(step, conversation.results)
        serial = f"{word}{len(self.script.steps) if index is None else index:02d}n{number:04d}"
        record = record._replace(
            step=None if task else index, texts=conversation.texts, results=conversation.results
        )
        return record, speech.write_reply(step, ask, serial)

    def _answer_unknown(self, ask: ModelRequest) -> ModelReply:
        if ask.path in HEALTH:
            return ModelReply({"status": "ok"})
        refusal = next(iter(self.speeches.values())).make_refusal
        return ModelReply(refusal(f"the scripted model does not know {ask.method} {ask.path}"), status=404)

    def _keep_request(self, record: RequestRecord, headers: dict[str, str], body: Tree) -> None:
        shown = {name: "(hidden)" if SECRETS.search(name) else value for name, value in headers.items()}
        with self._lock:
            self.requests.append(record)
            if self._file and not self._file.closed:
                line = {**record.as_dict(), "headers": shown, "body": body}
                del line["texts"], line["results"]
                self._file.write(json.dumps(line, ensure_ascii=False) + "\n")
                self._file.flush()


def _format_target(ask: ModelRequest) -> str:
    return f"{ask.path}?{ask.query}" if ask.query else ask.path


class _Listener(socketserver.ThreadingTCPServer):
    """A listener whose port can be reused at once, and that asks no name server for its own name."""

    allow_reuse_address = True
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64
    server: Server

    def handle_error(self, request: object, client_address: object) -> None:
        # An agent that hangs up, or ends in the middle of an answer, is not our error.
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


class _UnreadableBodyError(Exception):
    """An unreadable body, with its HTTP status."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class _ModelHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "hookport"
    disable_nagle_algorithm = True
    server: _Listener

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing: the requests are stored, and stderr belongs to the run."""

    def __getattr__(self, name: str) -> object:
        if name.startswith("do_"):
            return self._answer_any
        raise AttributeError(name)

    def _answer_any(self) -> None:
        path, _, query = self.path.partition("?")
        model = self.server.server
        try:
            body = self._read_body()
        except _UnreadableBodyError as error:
            self.close_connection = True
            refusal = next(iter(model.speeches.values())).make_refusal
            reply = ModelReply(refusal(str(error)), status=error.status)
            record = RequestRecord(self.command, path, status=error.status)
            model._keep_request(record, dict(self.headers), None)  # noqa: SLF001 - the two are one thing
        else:
            # Some clients get an address that ends in a slash.
            path = re.sub("/{2,}", "/", path)
            reply = model.answer(ModelRequest(self.command, path, query, body), dict(self.headers))
        with suppress(ConnectionError):
            self._send_reply(reply)

    def _read_body(self) -> Tree:
        if "chunked" in self.headers.get("transfer-encoding", "").lower():
            raw = b"".join(iter(self._read_chunk, b""))
        else:
            size = int(self.headers.get("content-length") or 0)
            if size > LONGEST_BODY_BYTES:
                raise _UnreadableBodyError(413, "the body is too large for the scripted model")
            raw = self.rfile.read(size)
        coding = self.headers.get("content-encoding", "identity").lower()
        try:
            if coding in ("gzip", "x-gzip"):
                raw = gzip.decompress(raw)
            elif coding == "deflate":
                raw = _inflate(raw)
            elif coding != "identity":
                raise _UnreadableBodyError(
                    415, f"the scripted model does not support content-encoding '{coding}'"
                )
        except (OSError, EOFError, zlib.error) as error:
            raise _UnreadableBodyError(400, f"the body is not {coding}: {error}") from error
        try:
            return json.loads(raw) if raw else None
        except ValueError:
            return raw.decode("utf-8", "replace")

    def _read_chunk(self) -> bytes:
        try:
            size = int(self.rfile.readline(1024).partition(b";")[0], 16)
        except ValueError as error:
            raise _UnreadableBodyError(400, "a chunk of the body has no length") from error
        if size > LONGEST_BODY_BYTES:
            raise _UnreadableBodyError(413, "the body is too large for the scripted model")
        data = self.rfile.read(size)
        while self.rfile.readline(1024).strip():
            pass  # after the last chunk there may be trailers
        return data

    def _send_reply(self, reply: ModelReply) -> None:
        self.send_response(reply.status)
        if not reply.stream:
            data = json.dumps(reply.body, ensure_ascii=False).encode()
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(data)
            return
        self.send_header("Content-Type", reply.type)
        self.send_header("Cache-Control", "no-cache")
        chunked = self.request_version != "HTTP/1.0"
        if chunked:
            self.send_header("Transfer-Encoding", "chunked")
        else:
            self.close_connection = True
        self.end_headers()
        for piece in reply.stream:
            data = piece.encode()
            self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data) if chunked else data)
            self.wfile.flush()
        if chunked:
            self.wfile.write(b"0\r\n\r\n")


def _inflate(raw: bytes) -> bytes:
    """Decode `deflate`: a zlib stream or, from some clients, a bare one."""
    try:
        return zlib.decompress(raw)
    except zlib.error:
        return zlib.decompress(raw, -zlib.MAX_WBITS)
