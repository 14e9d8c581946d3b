"""A model with scripted answers: a local server that hooks use like any other model."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

from hookport.runtime.execute.llm import API_KEY, BASE_URL, MODEL

NAME = "scripted"
# How often the server checks whether the case is over.
POLL_SECONDS = 0.01


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, answers: Sequence[str]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answers = list(answers)

    def take_answer(self) -> str:
        """The next answer; the last answer repeats."""
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        message = {"role": "assistant", "content": self.server.take_answer()}
        answer = {
            "id": NAME,
            "object": "chat.completion",
            "created": 0,
            "model": NAME,
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
        }
        body = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_said: object) -> None:
        """Print nothing: only the report prints."""


@contextmanager
def serve_answers(answers: Sequence[str]) -> Iterator[Mapping[str, str]]:
    """Serve these answers in order; yields the variables that make hooks ask this model."""
    server = _Server(answers)
    thread = Thread(target=server.serve_forever, args=(POLL_SECONDS,), daemon=True)
    thread.start()
    try:
        url = f"http://127.0.0.1:{server.server_port}/v1"
        yield {MODEL: f"openai:{NAME}", BASE_URL: url, API_KEY: NAME}
    finally:
        server.shutdown()
        server.server_close()
