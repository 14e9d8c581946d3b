"""Hooks behind a URL, against real servers on loopback."""

from __future__ import annotations

import gzip
import json
import socket
import ssl
import subprocess
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from hookport.model.runs import RunResult
from hookport.runtime.execute.http import ANSWER_LIMIT, post

EVENT = json.dumps({"event": "before_tool_execute", "tool_input": {"command": "rm -rf é"}}).encode()
# Far above what any of these exchanges takes; a test that must reach its deadline says a short one.
PLENTY = 60.0


class Server(ThreadingHTTPServer):
    """Answers as its `answer` says and remembers what it was sent."""

    daemon_threads = True

    def __init__(self, answer: Callable[[BaseHTTPRequestHandler], None]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answer = answer
        self.seen: list[tuple[str, dict[str, str], bytes]] = []
        self.ended = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass  # a client that gave up is what some tests are about


class _Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        body = self.rfile.read(int(headers["content-length"]))
        self.server.seen.append((self.path, headers, body))
        self.server.answer(self)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def serve() -> Iterator[Callable[..., Server]]:
    servers: list[Server] = []

    def start(
        answer: Callable[[BaseHTTPRequestHandler], None], context: ssl.SSLContext | None = None
    ) -> Server:
        server = Server(answer)
        if context:
            server.socket = context.wrap_socket(server.socket, server_side=True)
        servers.append(server)
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        return server

    yield start
    for server in servers:
        server.ended.set()
        server.shutdown()
        server.server_close()


def says(status: int, body: bytes = b"", **headers: str) -> Callable[[BaseHTTPRequestHandler], None]:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(body)

    return answer


def send(url: str, **changes: Any) -> RunResult:
    options: dict[str, Any] = {
        "headers": {},
        "allowed_env": (),
        "env": {},
        "timeout_seconds": PLENTY,
        **changes,
    }
    result = post(url, EVENT, **options)
    assert 0 < result.seconds < PLENTY
    return result.replace(seconds=0.0)


def failed(why: str) -> RunResult:
    return RunResult("completed", 1, stderr=why, detail=why)


def test_the_event_is_posted_and_the_answer_is_stdout(serve: Callable[..., Server]) -> None:
    answer = '{"decision": "deny", "reason": "nein, später"}'
    server = serve(says(200, answer.encode()))

    result = send(f"{server.url}/hook?team=a", headers={"X-Team": "a"})

    assert result == RunResult("completed", 0, stdout=answer)
    [(path, headers, body)] = server.seen
    assert (path, body) == ("/hook?team=a", EVENT)
    assert headers == {
        "accept": "application/json",
        "accept-encoding": "identity",
        "content-length": str(len(EVENT)),
        "content-type": "application/json",
        "host": f"127.0.0.1:{server.server_port}",
        "user-agent": "hookport",
        "x-team": "a",
    }


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
def test_every_loopback_name_is_this_machine(serve: Callable[..., Server], host: str) -> None:
    port = serve(says(204)).server_port
    assert send(f"http://{host}:{port}/") == RunResult("completed", 0)


@pytest.mark.parametrize(
    "url",
    [
        "http://example.com/hook",
        "http://localhost.example.com/hook",
        "http://localhost@192.0.2.1/hook",
        "http://2130706433/hook",
        "http://192.168.0.1/hook",
        "http://[2001:db8::1]/hook",
        "http://0.0.0.0/hook",
    ],
)
def test_plain_http_stays_on_this_machine(url: str) -> None:
    shown = url.replace("localhost@", "")
    assert send(url) == RunResult(
        "spawn_error",
        detail=f"{shown}: plain HTTP is for hooks on this machine only. Nothing was sent. Use https.",
    )


@pytest.mark.parametrize("url", ["ftp://localhost/x", "file:///etc/passwd", "localhost:80", "", "https://"])
def test_other_addresses_are_refused(url: str) -> None:
    detail = f"{url!r} is not an http or https address. Nothing was sent."
    assert send(url) == RunResult("spawn_error", detail=detail)


def test_a_login_in_the_address_is_refused_and_not_shown() -> None:
    assert send("https://me:secret@127.0.0.1:1/x?key=secret") == RunResult(
        "spawn_error",
        detail="https://127.0.0.1:1/x: a user or password in the address. Nothing was sent. Use headers.",
    )


def test_headers_take_allowed_variables_only(serve: Callable[..., Server]) -> None:
    server = serve(says(200))
    send(
        server.url,
        headers={
            "Authorization": "Bearer $TOKEN",
            "X-Braced": "<${TOKEN}>",
            "X-Secret": "[$SECRET][${SECRET}]",
            "X-Unset": "[$UNSET]",
            "X-Price": "5$ and $1",
            "X-Lines": "$LINES",
            "Content-Type": "application/hook+json",
            "Content-Length": "1",
            "Host": "elsewhere",
            "Transfer-Encoding": "chunked",
        },
        allowed_env=("TOKEN", "UNSET", "LINES"),
        env={"TOKEN": "t0ken", "SECRET": "s3cret", "LINES": "a\r\nX-Forged: b\n"},
    )
    [(_, headers, body)] = server.seen
    names = ("authorization", "x-braced", "x-secret", "x-unset", "x-price", "x-lines", "content-type", "host")
    assert [headers[name] for name in names] == [
        "Bearer t0ken",
        "<t0ken>",
        "[][]",
        "[]",
        "5$ and $1",
        "aX-Forged: b",
        "application/hook+json",
        f"127.0.0.1:{server.server_port}",
    ]
    assert body == EVENT
    assert "transfer-encoding" not in headers
    assert "x-forged" not in headers


def test_an_unusable_header_name_is_a_failure(serve: Callable[..., Server]) -> None:
    server = serve(says(200))
    result = send(server.url, headers={"X-Bad\nName": "x"})
    assert (result.outcome, result.exit_code, server.seen) == ("spawn_error", None, [])


@pytest.mark.parametrize(
    ("status", "why"),
    [
        (500, "HTTP 500 Internal Server Error"),
        (403, "HTTP 403 Forbidden"),
        (302, "HTTP 302 Found"),
        (304, "HTTP 304 Not Modified"),
        (799, "HTTP 799"),
    ],
)
def test_a_bad_status_is_a_failure_whatever_it_says(
    serve: Callable[..., Server], status: int, why: str
) -> None:
    body = b"" if status == 304 else b'{"decision": "allow"}'
    result = send(serve(says(status, body, Location="/again")).url)
    assert result == failed(why)


def test_a_redirect_to_the_same_server_is_followed(serve: Callable[..., Server]) -> None:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        step = {"/a": says(307, Location="/b"), "/b": says(308, Location=f"{server.url}/c")}
        step.get(handler.path, says(200, b"{}"))(handler)

    server = serve(answer)
    assert send(f"{server.url}/a") == RunResult("completed", 0, stdout="{}")
    assert [(path, body) for path, _, body in server.seen] == [("/a", EVENT), ("/b", EVENT), ("/c", EVENT)]


def test_redirects_have_an_end(serve: Callable[..., Server]) -> None:
    server = serve(says(307, Location="/again"))
    assert send(server.url) == failed(f"HTTP 307: more than 3 redirects, the last to {server.url}/again")
    assert len(server.seen) == 4


@pytest.mark.parametrize(
    "place", ["http://localhost:{other}/", "http://127.0.0.1:{other}/", "//[::1]/", "https:"]
)
def test_a_redirect_elsewhere_is_refused(serve: Callable[..., Server], place: str) -> None:
    other = serve(says(200, b'{"decision": "allow"}'))
    server = serve(says(307, Location=place.format(other=other.server_port)))
    assert send(f"{server.url}/a") == failed(
        f"HTTP 307: {server.url}/a redirects elsewhere. Nothing is forwarded."
    )
    assert other.seen == []


def test_an_answer_has_a_size_limit(serve: Callable[..., Server]) -> None:
    whole = serve(says(200, b" " * ANSWER_LIMIT))
    assert send(whole.url) == RunResult("completed", 0, stdout=" " * ANSWER_LIMIT)
    large = serve(says(200, b" " * 10_000_000))
    assert send(large.url) == failed(f"HTTP 200, but the answer is longer than {ANSWER_LIMIT} bytes")


DENY = b'{"decision": "deny"}'
LOGIN = b"<!DOCTYPE html><title>Sign in</title>"
JSON_TYPE, HTML_TYPE = {"Content-Type": "application/json"}, {"Content-Type": "text/html; charset=utf-8"}


def deflate(data: bytes) -> bytes:
    writer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return writer.compress(data) + writer.flush()


@pytest.mark.parametrize(
    ("body", "headers", "text"),
    [
        (gzip.compress(DENY, mtime=0), {"Content-Encoding": "gzip"}, DENY),
        (gzip.compress(DENY, mtime=0), {"Content-Encoding": "X-GZIP", **JSON_TYPE}, DENY),
        (zlib.compress(DENY), {"Content-Encoding": "deflate"}, DENY),
        (deflate(DENY), {"Content-Encoding": "deflate"}, DENY),
        (gzip.compress(zlib.compress(DENY), mtime=0), {"Content-Encoding": "deflate, gzip"}, DENY),
        (DENY, {"Content-Encoding": "identity"}, DENY),
        (b"", {"Content-Encoding": "gzip"}, b""),
        (b"", HTML_TYPE, b""),
        (b"", JSON_TYPE, b""),
        (DENY, HTML_TYPE, DENY),
        (DENY, {"Content-Type": "application/octet-stream"}, DENY),
        (b"please be careful", {"Content-Type": "text/plain"}, b"please be careful"),
        (b"please be careful", {}, b"please be careful"),
        ('{"reason": "é"}'.encode("latin-1"), {"Content-Type": "application/json; charset=latin-1"}, "é"),
    ],
)
def test_an_answer_is_read_as_it_is_declared(
    body: bytes, headers: dict[str, str], text: bytes | str, serve: Callable[..., Server]
) -> None:
    result = send(serve(says(200, body, **headers)).url)

    assert (result.outcome, result.exit_code) == ("completed", 0)
    assert result.stdout == text.decode() if isinstance(text, bytes) else text in result.stdout


@pytest.mark.parametrize(
    ("body", "headers", "why"),
    [
        (LOGIN, HTML_TYPE, "the answer is text/html, not JSON"),
        (LOGIN, {"Content-Type": "text/plain"}, "the answer is text/plain, not JSON"),
        (LOGIN, {}, "the answer is markup, not JSON"),
        (b"all is well", {"Content-Type": "text/csv"}, "the answer is text/csv, not JSON"),
        (b"all is well", JSON_TYPE, "the answer is not valid JSON"),
        (b'{"decision": "deny"', {}, "the answer is not valid JSON"),
        (
            b'{"decision": "deny"',
            {"Content-Type": "application/problem+json"},
            "the answer is not valid JSON",
        ),
        (gzip.compress(DENY, mtime=0), {}, "the answer is not utf-8 text"),
        (gzip.compress(DENY, mtime=0)[:-9], {"Content-Encoding": "gzip"}, "the answer is not valid gzip"),
        (gzip.compress(DENY, mtime=0) + b"x", {"Content-Encoding": "gzip"}, "the answer is not valid gzip"),
        (DENY, {"Content-Encoding": "gzip"}, "the answer is not valid gzip"),
        (DENY, {"Content-Encoding": "br"}, "the answer has the encoding 'br', which was not requested"),
        (DENY, {"Content-Type": "application/json; charset=x-none"}, "the answer is not x-none text"),
        (
            gzip.compress(b" " * (ANSWER_LIMIT + 1), mtime=0),
            {"Content-Encoding": "gzip"},
            f"the answer is longer than {ANSWER_LIMIT} bytes",
        ),
    ],
)
def test_an_answer_that_cannot_be_read_is_a_failure(
    body: bytes, headers: dict[str, str], why: str, serve: Callable[..., Server]
) -> None:
    assert send(serve(says(200, body, **headers)).url) == failed(f"HTTP 200, but {why}")


def test_a_cut_answer_is_a_failure(serve: Callable[..., Server]) -> None:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", "10")
        handler.end_headers()
        handler.wfile.write(b"{}")

    assert send(serve(answer).url) == failed("HTTP 200, but the answer ended 8 bytes early")


def drip_body(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.end_headers()
    drip(handler, b" ")


def drip_headers(handler: BaseHTTPRequestHandler) -> None:
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nX-Long: ")
    drip(handler, b"x")


def silence(handler: BaseHTTPRequestHandler) -> None:
    drip(handler, b"")


def drip(handler: BaseHTTPRequestHandler, piece: bytes) -> None:
    server = handler.server
    assert isinstance(server, Server)
    while not server.ended.wait(0.05):
        handler.wfile.write(piece)


@pytest.mark.parametrize("answer", [drip_body, drip_headers, silence])
def test_the_deadline_holds(
    serve: Callable[..., Server], answer: Callable[[BaseHTTPRequestHandler], None]
) -> None:
    server = serve(answer)
    before = set(threading.enumerate())
    assert send(f"{server.url}/slow?key=secret", timeout_seconds=1.0) == RunResult(
        "timeout", detail=f"{server.url}/slow did not answer within 1 s"
    )
    assert len(server.seen) == 1
    waited = time.monotonic()
    while any(thread.name.endswith("(run)") for thread in set(threading.enumerate()) - before):
        assert time.monotonic() < waited + PLENTY, "the thread that was given up never ended"
        time.sleep(0.01)


def test_nobody_there(serve: Callable[..., Server]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    assert send(f"http://127.0.0.1:{port}/x?key=secret") == RunResult(
        "spawn_error", detail=f"http://127.0.0.1:{port}/x: Connection refused"
    )


def test_what_is_not_http_is_a_failure() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer() -> None:
            peer, _ = listener.accept()
            with peer:
                while b"\r\n\r\n" not in peer.recv(65536):
                    pass
                peer.sendall(b"SSH-2.0-OpenSSH_9.9\r\n")

        threading.Thread(target=answer, daemon=True).start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        assert send(url) == RunResult("spawn_error", detail=f"{url}: invalid HTTP exchange (BadStatusLine)")


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """A certificate for loopback and for hooks.test that nobody trusts, with its key."""
    made = tmp_path / "server.pem"
    command = [
        *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"),
        *("-keyout", tmp_path / "key.pem", "-out", made, "-subj", "/CN=hooks.test"),
        *("-addext", "subjectAltName=DNS:hooks.test,IP:127.0.0.1"),
    ]
    try:
        subprocess.run([str(part) for part in command], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("there is no openssl that makes certificates")
    return made


def tls(certificate: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, certificate.with_name("key.pem"))
    return context


def test_an_untrusted_certificate_is_a_failure(serve: Callable[..., Server], certificate: Path) -> None:
    server = serve(says(200, b'{"decision": "allow"}'), tls(certificate))
    url = f"https://127.0.0.1:{server.server_port}"
    assert send(url) == RunResult("spawn_error", detail=f"{url}: self-signed certificate")
    assert server.seen == []


def test_a_trusted_certificate_is_enough(
    serve: Callable[..., Server], certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    server = serve(says(200, b"{}"), tls(certificate))
    # A proxy is never asked for this machine: nothing listens there.
    proxy = {"HTTPS_PROXY": "http://127.0.0.1:1"}
    assert send(f"https://127.0.0.1:{server.server_port}", env=proxy) == RunResult(
        "completed", 0, stdout="{}"
    )
    [(_, _, body)] = server.seen
    assert body == EVENT
    # The certificate is for another name.
    url = f"https://localhost:{server.server_port}"
    assert send(url).outcome == "spawn_error"
    assert len(server.seen) == 1


def test_a_proxy_takes_the_event_to_other_hosts(
    serve: Callable[..., Server], certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    server = serve(says(200, b"{}"), tls(certificate))
    asked: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def tunnel() -> None:
            client, _ = listener.accept()
            with client, socket.create_connection(("127.0.0.1", server.server_port)) as target:
                asked.append(client.recv(65536))
                client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
                back = threading.Thread(target=pump, args=(target, client), daemon=True)
                back.start()
                pump(client, target)
                back.join(PLENTY)

        threading.Thread(target=tunnel, daemon=True).start()
        address = f"127.0.0.1:{listener.getsockname()[1]}"
        env = {"HTTPS_PROXY": f"http://me:p%40ss@{address}", "NO_PROXY": "example.com"}
        assert send("https://hooks.test/x", env=env) == RunResult("completed", 0, stdout="{}")
    assert [path for path, _, _ in server.seen] == ["/x"]
    [request] = asked
    assert request.startswith(b"CONNECT hooks.test:443 ")
    assert b"Proxy-Authorization: Basic bWU6cEBzcw==\r\n" in request


def pump(source: socket.socket, target: socket.socket) -> None:
    try:
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        pass
