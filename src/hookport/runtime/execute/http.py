"""Hooks behind a URL: one POST of the event; only a whole 2xx answer has a say, all else is a failure.

The event and the headers go to HTTPS hosts with a trusted certificate, or by plain HTTP to this machine.
"""

from __future__ import annotations

import re
import socket
import time
from contextlib import suppress

from hookport.model.runs import RunResult

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from http.client import HTTPConnection, HTTPResponse
    from urllib.parse import SplitResult

ANSWER_LIMIT = 1024 * 1024
REDIRECT_LIMIT = 3
# These two repeat the method and the body; any other redirect would lose the event.
_REPEATING = (307, 308)
_PORTS = {"https": 443, "http": 80}
_VARIABLE = re.compile(r"\$(?:\{([A-Za-z_][A-Za-z0-9_]*)\}|([A-Za-z_][A-Za-z0-9_]*))")
# How the message is framed and whom it is for is not the hook's to say.
_OURS = ("connection", "content-length", "host", "transfer-encoding")


def post(
    url: str,
    body: bytes,
    *,
    headers: Mapping[str, str],
    allowed_env: Sequence[str],
    env: Mapping[str, str],
    timeout_seconds: float,
) -> RunResult:
    """Send the event and give the answer's text as stdout; the deadline holds from name lookup to last byte.

    `$NAME` and `${NAME}` in headers become what `env` says where `allowed_env` has the name, else nothing.
    """
    # In a thread, because looking up a name cannot be interrupted and a socket's timeout starts anew with
    # every byte. A daemon, so that it never keeps the process alive.
    from threading import Thread

    started = time.monotonic()
    exchange = _Exchange(body, _filled(headers, allowed_env, env), env, timeout_seconds)
    thread = Thread(target=exchange.run, args=(url,), daemon=True)
    thread.start()
    thread.join(timeout_seconds)
    result = exchange.result
    if result is None:
        exchange.abandon()
        result = RunResult("timeout", detail=f"{_shown(url)} did not answer within {timeout_seconds:g} s")
    return result.replace(seconds=time.monotonic() - started)


class _RefusalError(Exception):
    """Why nothing is sent there."""


class _Exchange:
    """One event on its way: it may take several connections, one for each redirect."""

    def __init__(
        self, body: bytes, headers: dict[str, bytes], env: Mapping[str, str], timeout_seconds: float
    ) -> None:
        self.body = body
        self.headers = headers
        self.env = env
        self.timeout_seconds = timeout_seconds
        self.result: RunResult | None = None
        self.connection: HTTPConnection | None = None
        # The connection forgets its socket where the answer ends with the connection.
        self.socket: socket.socket | None = None
        self.is_abandoned = False

    def run(self, url: str) -> None:
        from http.client import HTTPException

        try:
            self.result = self.follow(url)
        except _RefusalError as refusal:
            self.result = RunResult("spawn_error", detail=str(refusal))
        except TimeoutError:
            pass  # `post` is about to say so
        except (OSError, HTTPException, ValueError) as error:
            self.result = RunResult("spawn_error", detail=f"{_shown(url)}: {_said(error)}")
        finally:
            if self.connection is not None:
                self.connection.close()

    def abandon(self) -> None:
        """Wake the thread where it waits for the other side, so that it ends."""
        self.is_abandoned = True
        if self.socket is not None:
            with suppress(OSError):
                # Not the method of a TLS socket: that one would change it under the reading thread.
                socket.socket.shutdown(self.socket, socket.SHUT_RDWR)

    def follow(self, url: str) -> RunResult:
        for _ in range(REDIRECT_LIMIT + 1):
            response = self.send(url)
            if response.status not in _REPEATING:
                return _outcome(response)
            target = _target(url, response)
            if not target:
                return _failed(
                    f"HTTP {response.status}: {_shown(url)} points elsewhere. No event is passed on."
                )
            url = target
        return _failed(
            f"HTTP {response.status}: more than {REDIRECT_LIMIT} redirects, the last to {_shown(url)}"
        )

    def send(self, url: str) -> HTTPResponse:
        parts = _checked(url)
        if self.connection is not None:
            self.connection.close()
        self.connection = connection = self.connection_for(parts)
        connection.connect()
        self.socket = connection.sock
        if parts.scheme == "http" and not _is_loopback(peer := self.socket.getpeername()[0]):
            raise _RefusalError(f"{_shown(url)} leads to {peer}, not to this machine. Nothing was sent.")
        if self.is_abandoned:
            raise TimeoutError
        path = parts.path or "/"
        target = f"{path}?{parts.query}" if parts.query else path
        connection.request("POST", target, body=self.body, headers=self.headers)
        return connection.getresponse()

    def connection_for(self, parts: SplitResult) -> HTTPConnection:
        from http.client import HTTPConnection, HTTPSConnection

        host, port = parts.hostname or "", _port(parts)
        if parts.scheme == "http":
            return HTTPConnection(host, port, timeout=self.timeout_seconds)
        from ssl import create_default_context

        trust = create_default_context()
        proxy = None if _is_loopback(host) else _proxy(host, self.env)
        if proxy is None:
            return HTTPSConnection(host, port, timeout=self.timeout_seconds, context=trust)
        connection = HTTPSConnection(
            proxy.hostname or "", _port(proxy), timeout=self.timeout_seconds, context=trust
        )
        connection.set_tunnel(host, port, _proxy_login(proxy))
        return connection


def _outcome(response: HTTPResponse) -> RunResult:
    from http.client import responses

    if not 200 <= response.status < 300:
        phrase = responses.get(response.status, "")
        return _failed(f"HTTP {response.status} {phrase}".rstrip())
    text = response.read(ANSWER_LIMIT + 1)
    if len(text) > ANSWER_LIMIT:
        return _failed(f"HTTP {response.status}, but the answer is longer than {ANSWER_LIMIT} bytes")
    if response.length:
        return _failed(f"HTTP {response.status}, but the answer ended {response.length} bytes early")
    return RunResult("completed", 0, stdout=text.decode("utf-8-sig", "replace"))


def _failed(why: str) -> RunResult:
    return RunResult("completed", 1, stderr=why, detail=why)


def _checked(url: str) -> SplitResult:
    from urllib.parse import urlsplit

    parts = urlsplit(url)
    host = parts.hostname
    if parts.scheme not in _PORTS or not host:
        raise _RefusalError(f"{_shown(url)!r} is not an http or https address. Nothing was sent.")
    if parts.scheme == "http" and not _is_loopback(host):
        raise _RefusalError(
            f"{_shown(url)}: plain HTTP is for hooks on this machine only. Nothing was sent. Use https."
        )
    if "@" in parts.netloc:
        raise _RefusalError(
            f"{_shown(url)}: no user or password in an address. Nothing was sent. Use headers."
        )
    return parts


def _target(url: str, response: HTTPResponse) -> str:
    """Where a redirect leads, or nothing when that is another host, port or scheme."""
    from urllib.parse import urljoin, urlsplit

    target = urljoin(url, response.headers.get("Location", ""))
    here, there = urlsplit(url), urlsplit(target)
    is_same = (here.scheme, here.hostname, _port(here)) == (there.scheme, there.hostname, _port(there))
    return target if is_same else ""


def _port(parts: SplitResult) -> int:
    return parts.port or _PORTS.get(parts.scheme, 0)


def _is_loopback(host: str) -> bool:
    from ipaddress import ip_address

    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _proxy(host: str, env: Mapping[str, str]) -> SplitResult | None:
    address = env.get("https_proxy") or env.get("HTTPS_PROXY")
    if not address:
        return None
    from urllib.parse import urlsplit
    from urllib.request import proxy_bypass_environment  # type: ignore[attr-defined] # not in typeshed

    if proxy_bypass_environment(host, {"no": env.get("no_proxy") or env.get("NO_PROXY") or ""}):
        return None
    return urlsplit(address if "://" in address else f"http://{address}")


def _proxy_login(proxy: SplitResult) -> dict[str, str]:
    if proxy.username is None:
        return {}
    from base64 import b64encode
    from urllib.parse import unquote

    login = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
    return {"Proxy-Authorization": f"Basic {b64encode(login.encode()).decode()}"}


def _filled(
    headers: Mapping[str, str], allowed_env: Sequence[str], env: Mapping[str, str]
) -> dict[str, bytes]:
    def value(found: re.Match[str]) -> str:
        name = found[1] or found[2]
        return env.get(name, "") if name in allowed_env else ""

    filled = {"content-type": b"application/json", "accept": b"application/json", "user-agent": b"hookport"}
    for name, text in headers.items():
        if name.lower() not in _OURS:
            # A token read from a file often ends in a newline; inside a header it would start another one.
            filled[name.lower()] = re.sub(r"[\r\n\0]", "", _VARIABLE.sub(value, text)).encode()
    return filled


def _shown(url: str) -> str:
    """The address without what may be secret: login and query."""
    scheme, mark, rest = re.split(r"[?#]", url, maxsplit=1)[0].partition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme}{mark}{host.rpartition('@')[2]}{slash}{path}"


def _said(error: Exception) -> str:
    from http.client import HTTPException

    if isinstance(error, HTTPException):
        return f"no valid HTTP exchange ({type(error).__name__})"  # its text is what the other side sent
    return getattr(error, "verify_message", "") or getattr(error, "strerror", "") or str(error) or repr(error)
