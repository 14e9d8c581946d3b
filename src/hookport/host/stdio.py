"""A host for programs in other languages: JSON-RPC 2.0, one message a line, several requests at once.

What goes wrong is an answer. After the end of its input it answers what it has read, and ends.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import asdict
from math import isfinite
from typing import IO, cast

from hookport import __version__
from hookport.base.tree import Tree
from hookport.host.approval import Unapproved, approve, find_unapproved
from hookport.host.engine import Engine, EventRun, HostOptions, make_engine
from hookport.host.events import EVENT_FIELDS
from hookport.host.tools import McpTool, Tool, Tools
from hookport.model.events import EVENTS
from hookport.model.tools import TOOLS
from hookport.runtime.execute.process import StopRunError
from hookport.runtime.occasion import MOST_BYTES

VERSION = 1
# JSON-RPC 2.0, 5.1; the last two are those of the Language Server Protocol 3.17.
UNREADABLE, NO_REQUEST, NO_METHOD, WRONG_PARAMS, OUR_FAULT = -32700, -32600, -32601, -32602, -32603
NOT_INITIALIZED, CANCELLED = -32002, -32800
# What a line may have around the largest payload.
_LONGEST_LINE = 2 * MOST_BYTES
# What finds the id of a request of which not all can be read.
_TOKENS = re.compile(rb'"id"\s*:|"(?:[^"\\]|\\.)*"|[][{}]|-?[0-9][0-9.eE+-]*')
INITIALIZE = ("version", "root", "agent", "tools", "env", "on_failure", "session", "timeout")

Params = dict[str, Tree]


class RequestError(Exception):
    """Why a request has no result."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class Server:
    """One conversation with a host in another process."""

    def __init__(self, output: IO[bytes]) -> None:
        self._output = output
        self._host: Engine | None = None
        self._shown: dict[str, Unapproved] = {}
        self._runs: dict[str, EventRun] = {}
        self._idle = threading.Condition()
        self._methods: dict[str, Callable[[Params], Tree]] = {
            "initialize": self._initialize,
            "unapproved": self._show_unapproved,
            "approve": self._approve,
        }

    def serve(self, source: IO[bytes]) -> None:
        """Answer every line, and wait for the events that still run."""
        while line := source.readline(_LONGEST_LINE + 1):
            if len(line) > _LONGEST_LINE:
                self._write_error(
                    _find_id(line), WRONG_PARAMS, f"the line is longer than {_LONGEST_LINE >> 20} MiB"
                )
                while line and not line.endswith(b"\n"):
                    line = source.readline(_LONGEST_LINE)
            elif line.strip():
                self._answer_line(line)
        with self._idle:
            self._idle.wait_for(lambda: not self._runs)

    def stop(self) -> None:
        """Stop every event that still runs."""
        for run in list(self._runs.values()):
            run.cancel()
        for run in list(self._runs.values()):
            run.wait(1)

    def _answer_line(self, line: bytes) -> None:
        try:
            request = json.loads(line)
        except RecursionError:
            id_ = _find_id(line)
            code = UNREADABLE if id_ is None else WRONG_PARAMS
            self._write_error(id_, code, "the line is nested too deeply to be read")
            return
        except ValueError as error:
            self._write_error(_find_id(line), UNREADABLE, f"the line is not JSON: {error}")
            return
        id_ = request.get("id") if isinstance(request, dict) else None
        id_ = id_ if _is_id(id_) else None
        try:
            method, params = _check_request(request)
            self._answer_request(id_, method, params, is_asked="id" in request)
        except RequestError as error:
            self._write_error(id_, error.code, str(error))
        except (TypeError, ValueError, OSError) as error:
            self._write_error(id_, WRONG_PARAMS, str(error))
        except Exception as error:  # noqa: BLE001  (an error is data)
            self._write_error(id_, OUR_FAULT, f"{type(error).__name__}: {error}")

    def _answer_request(self, id_: Tree, method: str, params: Params, *, is_asked: bool) -> None:
        if method == "cancel":
            run = self._runs.get(json.dumps(params.get("id")))
            if run is not None:
                run.cancel()
            result: Tree = None
        elif method == "fire":
            self._fire(id_, params)
            return
        elif method in self._methods:
            result = self._methods[method](params)
        else:
            raise RequestError(NO_METHOD, f"there is no method '{method}'. Known: {', '.join(METHODS)}")
        if is_asked:
            self._write({"id": id_, "result": result})

    def _initialize(self, params: Params) -> Tree:
        version = params.get("version")
        if type(version) is not int or version != VERSION:
            raise RequestError(
                WRONG_PARAMS, f"version is {version!r}; hookport {__version__} speaks {VERSION}"
            )
        if self._host is not None:
            raise RequestError(
                NO_REQUEST, "it is initialized already; start another process for another host"
            )
        options = _check_keys(params, INITIALIZE)
        del options["version"]
        root = options.pop("root", ".")
        if not isinstance(root, str):
            raise TypeError(f"root is {type(root).__name__}; it must be a text")
        options["tools"] = read_tools(options.get("tools", {}))
        self._host = make_engine(root, cast("HostOptions", options))
        return {
            "version": VERSION,
            "hookport": __version__,
            "root": self._host.root,
            "session": self._host.session,
            "events": list(EVENTS),
            "tools": list(TOOLS),
        }

    def _get_host(self) -> Engine:
        if self._host is None:
            raise RequestError(NOT_INITIALIZED, "the first request must be `initialize`")
        return self._host

    def _fire(self, id_: Tree, params: Params) -> None:
        """Answer when the event is over."""
        fields = _check_keys(params, ("event", *EVENT_FIELDS))
        event = fields.pop("event", "")
        key = json.dumps(id_)
        with self._idle:
            if key in self._runs:
                raise RequestError(NO_REQUEST, f"a request with the id {key} is not answered yet")
        run = self._get_host().begin(event, fields)
        self._runs[key] = run
        run.when_over(lambda: self._end(id_, key, run))

    def _end(self, id_: Tree, key: str, run: EventRun) -> None:
        # Until the answer is written its id is taken, and nobody who has read it finds that it is.
        with self._idle:
            try:
                self._write({"id": id_, "result": run.get_outcome().as_json()})
            except StopRunError:
                self._write_error(id_, CANCELLED, "the request was cancelled, and its hooks were ended")
            except Exception as error:  # noqa: BLE001  (an error is data)
                self._write_error(id_, OUR_FAULT, f"{type(error).__name__}: {error}")
            finally:
                del self._runs[key]
                self._idle.notify_all()

    def _show_unapproved(self, params: Params) -> Tree:
        _check_keys(params, ())
        host = self._get_host()
        shown = find_unapproved(host.root, host.env)
        self._shown[shown.state] = shown
        settings = [{"name": name, "approved": was, "now": now} for name, was, now in shown.settings]
        hooks = [asdict(hook) for hook in shown.hooks]
        text = shown.describe() if shown else ""
        return {"root": shown.root, "state": shown.state, "hooks": hooks, "settings": settings, "text": text}

    def _approve(self, params: Params) -> Tree:
        state = _check_keys(params, ("state",)).get("state")
        shown = self._shown.get(state) if isinstance(state, str) else None
        if shown is None:
            raise RequestError(WRONG_PARAMS, "state is not one that `unapproved` has shown")
        approve(shown, self._get_host().env)
        return {"approved": len(shown.hooks)}

    def _write_error(self, id_: Tree, code: int, message: str) -> None:
        self._write({"id": id_, "error": {"code": code, "message": message}})

    def _write(self, message: Params) -> None:
        # ASCII, so that half of a surrogate pair is an escape as it is in any JSON.
        line = json.dumps({"jsonrpc": "2.0", **message}, default=list).encode() + b"\n"
        with self._idle:
            try:
                self._output.write(line)
                self._output.flush()
            except (OSError, ValueError):  # nobody reads any more; the end of the input follows
                return


METHODS = ("initialize", "fire", "cancel", "unapproved", "approve")


def _check_request(request: Tree) -> tuple[str, Params]:
    if not isinstance(request, dict) or request.get("jsonrpc") != "2.0":
        raise RequestError(NO_REQUEST, 'a request is an object with "jsonrpc": "2.0"')
    method, params = request.get("method"), request.get("params", {})
    if not isinstance(method, str):
        raise RequestError(NO_REQUEST, "a request has the name of a method")
    if not isinstance(params, dict):
        raise RequestError(WRONG_PARAMS, "params must be an object")
    if not _is_id(request.get("id", 0)):
        raise RequestError(NO_REQUEST, "an id is a text or a number")
    if "id" not in request and method != "cancel":
        raise RequestError(NO_REQUEST, f"{method} needs an id, or nobody gets its result")
    return method, params


def _is_id(value: Tree) -> bool:
    """Whether it can be written again: JSON has no infinity, which Python reads."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return isinstance(value, str) or (is_number and isfinite(value))


def _find_id(line: bytes) -> Tree:
    """The id of a request that is no readable JSON, so that its sender does not wait for ever; or None."""
    depth, is_id = 0, False
    for token in _TOKENS.finditer(line):
        text = token[0]
        if text in b"{[":
            depth += 1
        elif text in b"]}":
            depth -= 1
        elif depth == 1 and is_id:
            try:
                value = json.loads(text)
            except ValueError:
                return None
            return value if _is_id(value) else None
        is_id = depth == 1 and text.startswith(b'"id"')
    return None


def _check_keys(params: Params, known: tuple[str, ...]) -> Params:
    """Check that all keys are known; a null counts as left out."""
    if unknown := sorted(set(params) - set(known)):
        raise RequestError(WRONG_PARAMS, f"unknown key '{unknown[0]}'. Known: {', '.join(known) or 'none'}")
    return {key: value for key, value in params.items() if value is not None}


def read_tools(tree: Tree) -> Tools:
    """Read the tools of a host from JSON; TypeError or ValueError says what is wrong."""
    if not isinstance(tree, dict):
        raise TypeError("tools must be an object")
    return {name: _read_tool(name, entry) for name, entry in tree.items()}


def _read_tool(name: str, entry: Tree) -> str | Tool | McpTool | None:
    if entry is None or isinstance(entry, str):
        return entry
    keys = set(entry) if isinstance(entry, Mapping) else set()
    if keys and keys <= {"kind", "fields"} and "kind" in keys and isinstance(entry.get("fields", {}), dict):
        return Tool(entry["kind"], **entry.get("fields", {}))
    if keys == {"server", "tool"} and all(isinstance(value, str) for value in entry.values()):
        return McpTool(entry["server"], entry["tool"])
    raise ValueError(
        f"tools['{name}'] must be the name of a tool, null, "
        '{"kind": NAME, "fields": {FIELD: ARGUMENT}} or {"server": NAME, "tool": NAME}'
    )
