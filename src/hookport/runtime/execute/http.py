"""Hooks behind a URL: one POST of the event. Only a complete, readable 2xx answer counts.

Everything else is a failure. The event and the headers go to HTTPS hosts with a trusted certificate, or over
plain HTTP to this machine.
"""

from __future__ import annotations

import re
import socket
import time
from contextlib import suppress

from hookport.model.runs import RunResult
from hookport.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from http.client import HTTPConnection, HTTPResponse
    from urllib.parse import SplitResult

    from hookport.model.runs import Outcome

ANSWER_LIMIT = 1024 * 1024
REDIRECT_LIMIT = 3
# These two repeat method and body; any other redirect would lose the event.
_REPEATING = (307, 308)
_PORTS = {"https": 443, "http": 80}
_VARIABLE = re.compile(r"\$(?:\{([A-Za-z_][A-Za-z0-9_]*)\}|([A-Za-z_][A-Za-z0-9_]*))")
# A hook may not set the message's framing or its host.
_OURS = ("connection", "content-length", "host", "transfer-encoding")


class HttpReply(Value):
    """A server's answer; without a complete answer, status is 0 and `outcome` gives the cause."""

    status: int = 0
    text: str = ""
    detail: str = ""
    outcome: Outcome = "completed"


def post(
    url: str,
    body: bytes,
    *,
    headers: Mapping[str, str],
    allowed_env: Sequence[str],
    env: Mapping[str, str],
    timeout_seconds: float,
) -> RunResult:
    """Send the event and return the answer's text as stdout; the deadline covers name lookup to last byte.

    `$NAME` and `${NAME}` in headers are replaced from `env` if `allowed_env` has the name, else by nothing.
    """
    started = time.monotonic()
    filled = _fill_headers(headers, allowed_env, env)
    reply = _run_exchange(url, _Exchange(body, filled, env, timeout_seconds))
    seconds = time.monotonic() - started
    if not reply.status:
        return RunResult(reply.outcome, detail=reply.detail, seconds=seconds)
    if reply.detail:
        return RunResult("completed", 1, stderr=reply.detail, detail=reply.detail, seconds=seconds)
    return RunResult("completed", 0, stdout=reply.text, seconds=seconds)


def exchange(
    url: str, body: bytes, *, headers: Mapping[str, str], env: Mapping[str, str], timeout_seconds: float
) -> HttpReply:
    """Send a request to a server that the user chose; plain HTTP to another machine is allowed."""
    request = _Exchange(body, _fill_headers(headers, (), env), env, timeout_seconds, is_chosen=True)
    return _run_exchange(url, request)


def _run_exchange(url: str, request: _Exchange) -> HttpReply:
    # In a thread, because a name lookup cannot be interrupted and a socket's timeout restarts with every
    # byte. A daemon, so that it never keeps the process alive.
    from threading import Thread

    thread = Thread(target=request.run, args=(url,), daemon=True)
    thread.start()
    thread.join(request.timeout_seconds)
    reply = request.reply
    if reply is None:
        request.abandon()
        detail = f"{_shorten_url(url)} did not answer within {request.timeout_seconds:g} s"
        return HttpReply(detail=detail, outcome="timeout")
    return reply


class _RefusalError(Exception):
    """The reason why nothing is sent there."""


class _Exchange:
    """One event on its way: it may take several connections, one for each redirect."""

    def __init__(
        self,
        body: bytes,
        headers: dict[str, bytes],
        env: Mapping[str, str],
        timeout_seconds: float,
        *,
        is_chosen: bool = False,
    ) -> None:
        self.body = body
        self.headers = headers
        self.env = env
        self.timeout_seconds = timeout_seconds
        self.is_chosen = is_chosen
        self.reply: HttpReply | None = None
        self.connection: HTTPConnection | None = None
        # The connection drops its socket if the answer ends with the connection.
        self.socket: socket.socket | None = None
        self.is_abandoned = False

    def run(self, url: str) -> None:
        from http.client import HTTPException

        try:
            self.reply = self.follow(url)
        except _RefusalError as refusal:
            self.reply = HttpReply(detail=str(refusal), outcome="spawn_error")
        except TimeoutError:
            pass  # `post` reports it
        except (OSError, HTTPException, ValueError) as error:
            self.reply = HttpReply(
                detail=f"{_shorten_url(url)}: {_describe_error(error)}", outcome="spawn_error"
            )
        finally:
            if self.connection is not None:
                self.connection.close()

    def abandon(self) -> None:
        """Wake the thread that waits for the server, so that it ends."""
        self.is_abandoned = True
        if self.socket is not None:
            with suppress(OSError):
                # Not the TLS socket's own method: it would change the socket under the reading thread.
                socket.socket.shutdown(self.socket, socket.SHUT_RDWR)

    def follow(self, url: str) -> HttpReply:
        for _ in range(REDIRECT_LIMIT + 1):
            response = self.send(url)
            if response.status not in _REPEATING:
                return _read_reply(response)
            target = _find_target(url, response)
            if not target:
                detail = (
                    f"HTTP {response.status}: {_shorten_url(url)} redirects elsewhere. Nothing is forwarded."
                )
                return HttpReply(response.status, detail=detail)
            url = target
        detail = (
            f"HTTP {response.status}: more than {REDIRECT_LIMIT} redirects, the last to {_shorten_url(url)}"
        )
        return HttpReply(response.status, detail=detail)

    def send(self, url: str) -> HTTPResponse:
        parts = _check_url(url, is_chosen=self.is_chosen)
        if self.connection is not None:
            self.connection.close()
        self.connection = connection = self.make_connection(parts)
        connection.connect()
        self.socket = connection.sock
        peer = self.socket.getpeername()[0]
        if parts.scheme == "http" and not self.is_chosen and not _is_loopback(peer):
            raise _RefusalError(
                f"{_shorten_url(url)} leads to {peer}, not to this machine. Nothing was sent."
            )
        if self.is_abandoned:
            raise TimeoutError
        path = parts.path or "/"
        target = f"{path}?{parts.query}" if parts.query else path
        connection.request("POST", target, body=self.body, headers=self.headers)
        return connection.getresponse()

    def make_connection(self, parts: SplitResult) -> HTTPConnection:
        from http.client import HTTPConnection, HTTPSConnection

        host, port = parts.hostname or "", _find_port(parts)
        if parts.scheme == "http":
            return HTTPConnection(host, port, timeout=self.timeout_seconds)
        from ssl import create_default_context

        trust = create_default_context()
        proxy = None if _is_loopback(host) else _find_proxy(host, self.env)
        if proxy is None:
            return HTTPSConnection(host, port, timeout=self.timeout_seconds, context=trust)
        connection = HTTPSConnection(
            proxy.hostname or "", _find_port(proxy), timeout=self.timeout_seconds, context=trust
        )
        connection.set_tunnel(host, port, _make_proxy_login(proxy))
        return connection


def _read_reply(response: HTTPResponse) -> HttpReply:
    from http.client import responses

    status = response.status
    if not 200 <= status < 300:
        phrase = responses.get(status, "")
        return HttpReply(status, _read_error(response), f"HTTP {status} {phrase}".rstrip())
    data = response.read(ANSWER_LIMIT + 1)
    if len(data) > ANSWER_LIMIT:
        return HttpReply(status, detail=f"HTTP {status}, but the answer is longer than {ANSWER_LIMIT} bytes")
    if response.length:
        return HttpReply(status, detail=f"HTTP {status}, but the answer ended {response.length} bytes early")
    try:
        return HttpReply(status, _read_text(data, response))
    except _UnreadableError as error:
        return HttpReply(status, detail=f"HTTP {status}, but {error}")


def _read_error(response: HTTPResponse) -> str:
    """Read the text of a server's error, as far as possible."""
    try:
        return _read_text(response.read(ANSWER_LIMIT), response)
    except (_UnreadableError, OSError, ValueError):
        return ""


class _UnreadableError(Exception):
    """The reason why a complete answer is not a hook's answer."""


def _read_text(data: bytes, response: HTTPResponse) -> str:
    """Read an answer: JSON or plain text. Anything else, such as a login page, is a failure."""
    headers = response.headers
    data = _decode(data, headers.get("Content-Encoding", ""))
    kind, charset = headers.get_content_type(), headers.get_content_charset("utf-8")
    if "Content-Type" not in headers:
        kind = ""
    try:
        text = data.decode("utf-8-sig" if charset == "utf-8" else charset)
    except (UnicodeDecodeError, LookupError):
        raise _UnreadableError(f"the answer is not {charset[:40]} text") from None
    start = text.lstrip()[:15].lower()
    # An empty answer is no opinion, and a proxy may label JSON as any type.
    if not start or _is_json(text):
        return text
    if kind.endswith(("/json", "+json")) or start.startswith(("{", "[")):
        raise _UnreadableError("the answer is not valid JSON")
    if kind not in ("", "text/plain") or start.startswith(("<!doctype", "<html", "<?xml")):
        raise _UnreadableError(f"the answer is {kind or 'markup'}, not JSON")
    return text


def _is_json(text: str) -> bool:
    from hookport.model.json_text import loads

    try:
        loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _decode(data: bytes, encoding: str) -> bytes:
    """Undo compression by the server, or by a proxy without request."""
    for name in reversed([part.strip().lower() for part in encoding.split(",")]):
        if name in ("", "identity") or not data:
            continue
        if name not in ("gzip", "x-gzip", "deflate"):
            raise _UnreadableError(f"the answer has the encoding {name[:40]!r}, which was not requested")
        data = _inflate(data, name)
    return data


def _inflate(data: bytes, name: str) -> bytes:
    from zlib import MAX_WBITS, decompressobj
    from zlib import error as ZlibError  # noqa: N812

    # `deflate` is zlib's format by RFC 9110, 8.4.1.2, and bare deflate from servers that got it wrong.
    windows = (MAX_WBITS + 16,) if name.endswith("gzip") else (MAX_WBITS, -MAX_WBITS)
    for bits in windows:
        reader = decompressobj(bits)
        try:
            text = reader.decompress(data, ANSWER_LIMIT + 1)
        except ZlibError:
            continue
        if len(text) > ANSWER_LIMIT:
            raise _UnreadableError(f"the answer is longer than {ANSWER_LIMIT} bytes")
        if reader.eof and not reader.unused_data:
            return text
    raise _UnreadableError(f"the answer is not valid {name}")


def _check_url(url: str, *, is_chosen: bool) -> SplitResult:
    from urllib.parse import urlsplit

    parts = urlsplit(url)
    host = parts.hostname
    if parts.scheme not in _PORTS or not host:
        raise _RefusalError(f"{_shorten_url(url)!r} is not an http or https address. Nothing was sent.")
    if parts.scheme == "http" and not is_chosen and not _is_loopback(host):
        raise _RefusalError(
            f"{_shorten_url(url)}: plain HTTP is for hooks on this machine only. Nothing was sent. Use https."
        )
    if "@" in parts.netloc:
        raise _RefusalError(
            f"{_shorten_url(url)}: a user or password in the address. Nothing was sent. Use headers."
        )
    return parts


def _find_target(url: str, response: HTTPResponse) -> str:
    """Find the target of a redirect; empty for another host, port or scheme."""
    from urllib.parse import urljoin, urlsplit

    target = urljoin(url, response.headers.get("Location", ""))
    source, destination = urlsplit(url), urlsplit(target)
    is_same = (source.scheme, source.hostname, _find_port(source)) == (
        destination.scheme,
        destination.hostname,
        _find_port(destination),
    )
    return target if is_same else ""


def _find_port(parts: SplitResult) -> int:
    return parts.port or _PORTS.get(parts.scheme, 0)


def _is_loopback(host: str) -> bool:
    from ipaddress import ip_address

    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _find_proxy(host: str, env: Mapping[str, str]) -> SplitResult | None:
    address = env.get("https_proxy") or env.get("HTTPS_PROXY")
    if not address:
        return None
    from urllib.parse import urlsplit
    from urllib.request import proxy_bypass_environment  # type: ignore[attr-defined] # not in typeshed

    if proxy_bypass_environment(host, {"no": env.get("no_proxy") or env.get("NO_PROXY") or ""}):
        return None
    return urlsplit(address if "://" in address else f"http://{address}")


def _make_proxy_login(proxy: SplitResult) -> dict[str, str]:
    if proxy.username is None:
        return {}
    from base64 import b64encode
    from urllib.parse import unquote

    login = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
    return {"Proxy-Authorization": f"Basic {b64encode(login.encode()).decode()}"}


def _fill_headers(
    headers: Mapping[str, str], allowed_env: Sequence[str], env: Mapping[str, str]
) -> dict[str, bytes]:
    def value(match: re.Match[str]) -> str:
        name = match[1] or match[2]
        return env.get(name, "") if name in allowed_env else ""

    filled = {"content-type": b"application/json", "accept": b"application/json", "user-agent": b"hookport"}
    for name, text in headers.items():
        if name.lower() not in _OURS:
            # A token read from a file often ends in a newline, which would start another header.
            filled[name.lower()] = re.sub(r"[\r\n\0]", "", _VARIABLE.sub(value, text)).encode()
    return filled


def _shorten_url(url: str) -> str:
    """Remove login and query from an address, because they may be secret."""
    scheme, mark, rest = re.split(r"[?#]", url, maxsplit=1)[0].partition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme}{mark}{host.rpartition('@')[2]}{slash}{path}"


def _describe_error(error: Exception) -> str:
    from http.client import HTTPException

    if isinstance(error, HTTPException):
        return f"invalid HTTP exchange ({type(error).__name__})"  # its text is what the other side sent
    return getattr(error, "verify_message", "") or getattr(error, "strerror", "") or str(error) or repr(error)
