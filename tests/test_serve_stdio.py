"""`hookport serve-stdio`: every line that it reads or writes is one of its schema."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

import jsonschema
import pytest

import hookport
from hookport.host.stdio import METHODS
from hookport.model.events import EVENTS
from tests.hosting import DENY_COMMAND, PATIENCE, Project, wait_for, wait_until_gone

pytestmark = pytest.mark.skipif(os.name == "nt", reason="hooks here are shell scripts")

SCHEMA = json.loads((Path(__file__).parent.parent / "schemas/serve-stdio.schema.json").read_text("utf-8"))
LINE = jsonschema.Draft202012Validator(SCHEMA)
SOURCE = Path(hookport.__file__).parent.parent
LS = {"event": "before_tool_execute", "tool": "run_shell", "input": {"cmd": "ls"}}


class Client:
    """A program that speaks to `hookport serve-stdio`."""

    def __init__(self, project: Project) -> None:
        self.program = subprocess.Popen(
            [sys.executable, "-m", "hookport", "serve-stdio"],
            cwd=project.root,
            env={**project.env, "PYTHONPATH": str(SOURCE)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.program.kill()
        self.program.communicate(timeout=PATIENCE)

    def write(self, line: str) -> None:
        assert self.program.stdin
        self.program.stdin.write(f"{line}\n")
        self.program.stdin.flush()

    def send(self, id_: int | str | None, method: str, **params: Any) -> None:
        request = {
            "jsonrpc": "2.0",
            "method": method,
            "params": params,
            **({} if id_ is None else {"id": id_}),
        }
        LINE.validate(request)
        self.write(json.dumps(request))

    def read(self) -> dict[str, Any]:
        assert self.program.stdout
        reply: dict[str, Any] = json.loads(self.program.stdout.readline())
        LINE.validate(reply)
        return reply

    def ask(self, method: str, **params: Any) -> Any:
        self.send(method, method, **params)
        reply = self.read()
        assert reply["id"] == method
        if "result" in reply:
            kind = {"$schema": SCHEMA["$schema"], "$ref": f"#/$defs/{method}Result", "$defs": SCHEMA["$defs"]}
            jsonschema.validate(reply["result"], kind)
        return reply.get("result", reply.get("error"))

    def initialize(self, **options: Any) -> Any:
        return self.ask(
            "initialize", **{"version": 1, "agent": "my-agent", "tools": {"run_shell": "shell"}, **options}
        )

    def end(self) -> tuple[str, str, int]:
        out, err = self.program.communicate(timeout=PATIENCE)
        return out, err, self.program.returncode


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


@pytest.fixture
def client(project: Project) -> Iterator[Client]:
    with Client(project) as client:
        yield client


def test_the_schema_is_one_and_has_every_method() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert {name.removesuffix("Params") for name in SCHEMA["$defs"] if name.endswith("Params")} == set(
        METHODS
    )


def test_a_whole_conversation(project: Project, client: Client) -> None:
    project.add(DENY_COMMAND)
    welcome = client.initialize(
        session="s", tools={"run_shell": {"kind": "shell", "fields": {"command": "line"}}}
    )
    assert (welcome["version"], welcome["hookport"], welcome["session"]) == (1, hookport.__version__, "s")
    assert welcome["root"] == str(project.root)
    assert welcome["events"] == list(EVENTS)
    outcome = client.ask("fire", **{**LS, "input": {"line": "ls"}})
    assert (outcome["verdict"], outcome["reason"]) == ("deny", "s ls")
    assert client.ask("fire", event="session_start")["verdict"] == "none"
    assert client.end() == ("", "", 0)


def test_hooks_are_shown_and_approved(project: Project, client: Client) -> None:
    project.add(DENY_COMMAND)
    project.write(project.root / ".hookport/hook-0.sh", "echo new >&2; exit 2")
    client.initialize()
    shown = client.ask("unapproved")
    assert [(hook["name"], hook["change"]) for hook in shown["hooks"]] == [("hook-0", "changed")]
    assert "+echo new >&2; exit 2" in shown["text"]
    assert client.ask("approve", state="0" * 64)["code"] == -32602
    assert client.ask("approve", state=shown["state"]) == {"approved": 1}
    assert client.ask("fire", **LS)["reason"] == "new"


def test_requests_run_at_once_and_each_gets_its_own_answer(
    project: Project, client: Client, tmp_path: Path
) -> None:
    """The first is answered last: its hook waits for the second's."""
    script = f"""input=$(cat)
case $input in
*first*) until [ -e {tmp_path}/second ]; do sleep 0.02; done; echo first >&2; exit 2;;
*) touch {tmp_path}/second; exit 0;;
esac"""
    project.add(script)
    client.initialize()
    client.send(1, "fire", **{**LS, "input": {"cmd": "first"}})
    client.send("two", "fire", **{**LS, "input": {"cmd": "second"}})
    replies = {reply["id"]: reply["result"]["reason"] for reply in (client.read(), client.read())}
    assert replies == {1: "first", "two": ""}


def test_what_was_read_is_answered_after_the_end(project: Project, client: Client) -> None:
    project.add(DENY_COMMAND)
    client.initialize(session="s")
    for number in range(20):
        client.send(number, "fire", **{**LS, "input": {"cmd": f"{number}"}})
    out, err, status = client.end()
    replies = {reply["id"]: reply["result"]["reason"] for reply in map(json.loads, out.splitlines())}
    assert (replies, err, status) == ({number: f"s {number}" for number in range(20)}, "", 0)


def test_a_request_can_be_cancelled(project: Project, client: Client, tmp_path: Path) -> None:
    project.add(f"trap '' TERM; echo $$ > {tmp_path}/group; sleep 600")
    client.initialize()
    client.send(1, "fire", **LS)
    group = int(wait_for(tmp_path / "group"))
    client.send(None, "cancel", id=1)
    assert client.read()["error"]["code"] == -32800
    wait_until_gone(group)
    client.send(None, "cancel", id=1)
    assert client.end() == ("", "", 0)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_and_its_hooks(
    project: Project, client: Client, tmp_path: Path, number: int
) -> None:
    project.add(f"trap '' TERM INT; echo $$ > {tmp_path}/group; sleep 600")
    client.initialize()
    client.send(1, "fire", **LS)
    group = int(wait_for(tmp_path / "group"))
    client.program.send_signal(number)
    assert client.program.wait(PATIENCE) == 143
    wait_until_gone(group)


@pytest.mark.parametrize(
    ("line", "code", "words"),
    [
        ("garbage", -32700, "the line is not JSON"),
        ("[" * 100_000, -32700, "nested too deeply"),
        ("[]", -32600, 'a request is an object with "jsonrpc": "2.0"'),
        ('{"jsonrpc": "2.0", "id": 1}', -32600, "the name of a method"),
        *(
            (f'{{"jsonrpc": "2.0", "id": {id_}, "method": "fire"}}', -32600, "an id is a text or a number")
            for id_ in ("{}", "null", "true", "NaN", "1e999")
        ),
        ('{"jsonrpc": "2.0", "method": "fire"}', -32600, "fire needs an id"),
        ('{"jsonrpc": "2.0", "method": "unapproved"}', -32600, "unapproved needs an id"),
        (
            '{"jsonrpc": "2.0", "id": 1, "method": "shoot"}',
            -32601,
            "there is no method 'shoot'. Known: initialize",
        ),
        ('{"jsonrpc": "2.0", "id": 1, "method": "fire", "params": []}', -32602, "params must be an object"),
        (
            '{"jsonrpc": "2.0", "id": 1, "method": "fire", "params": {"evnt": "x"}}',
            -32602,
            "unknown key 'evnt'",
        ),
        (
            '{"jsonrpc": "2.0", "id": 1, "method": "fire", "params": {"event": "x"}}',
            -32602,
            "unknown event 'x'",
        ),
        ('{"jsonrpc": "2.0", "id": 1, "method": "fire", "params": {"event": []}}', -32602, "event is list"),
        (
            '{"jsonrpc": "2.0", "id": 1, "method": "fire", "params": {"event": "notification", "facts": 1}}',
            -32602,
            "facts is int; it must be a mapping",
        ),
        (
            '{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"version": 1}}',
            -32600,
            "it is initialized already",
        ),
    ],
)
def test_an_error_is_an_answer(client: Client, line: str, code: int, words: str) -> None:
    client.initialize()
    client.write(line)
    error = client.read()["error"]
    assert (error["code"], words in error["message"]) == (code, True)
    assert client.ask("fire", **LS)["verdict"] == "none"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"version": 2}, "version is 2; hookport"),
        ({"agent": None}, "agent is ''"),
        ({"root": "/nowhere/at/all"}, "is not a folder"),
        ({"root": 1}, "root is int"),
        ({"root": "\0"}, "which cannot be the path of a folder"),
        ({"version": True}, "version is True; hookport"),
        ({"env": []}, "env is list; it must be a mapping"),
        ({"on_failure": False}, "on_failure is False"),
        ({"timeout": 10**400}, "it must be a number of seconds"),
        ({"tools": {"t": {"kind": "shell", "fields": {"kind": "x"}}}}, "unknown field 'kind'"),
        ({"tools": {"t": {"server": "", "tool": "x"}}}, "must be texts, not empty"),
        ({"tools": []}, "tools must be an object"),
        ({"tools": {"t": {"kind": "shel"}}}, "unknown tool 'shel'"),
        ({"tools": {"t": {"kind": []}}}, "unknown tool"),
        ({"tools": {"t": {"name": "x"}}}, 'must be the name of a tool, null, {"kind": NAME'),
        ({"tool": {}}, "unknown key 'tool'"),
    ],
)
def test_a_host_that_cannot_be_made_is_told_why(client: Client, options: dict[str, Any], words: str) -> None:
    params = {"version": 1, "agent": "a", **options}
    client.write(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}))
    error = client.read()["error"]
    assert (error["code"], words in error["message"]) == (-32602, True), error
    assert client.ask("fire", **LS)["code"] == -32002
    assert client.initialize()["version"] == 1


@pytest.mark.parametrize(
    ("given", "code", "words"),
    [
        ("[" * 5000 + "]" * 5000, -32602, "nested too deeply"),
        ("1" * 5000, -32700, "the line is not JSON"),
        ("\0", -32700, "the line is not JSON"),
        ('"' + "x" * (65 << 20) + '"', -32602, "the line is longer than 64 MiB"),
    ],
    ids=["deep", "number", "control", "long"],
)
def test_a_request_that_cannot_be_read_is_answered_by_its_id(
    project: Project, client: Client, given: str, code: int, words: str
) -> None:
    """A model wrote the input: its program must not wait for ever, and the next event is judged."""
    project.add("cat > /dev/null; exit 2")
    client.initialize()
    client.write(
        '{"jsonrpc": "2.0", "params": {"id": 1, "event": "[\\"id\\": 2"}, "id" : "mine", "method": "fire", '
        f'"params": {{"event": "before_tool_execute", "tool": "run_shell", "input": {{"cmd": {given}}}}}}}'
    )
    reply = client.read()
    assert (reply["id"], reply["error"]["code"], words in reply["error"]["message"]) == ("mine", code, True)
    assert client.ask("fire", **LS)["verdict"] == "deny"


def test_an_id_is_free_as_soon_as_it_is_answered(client: Client) -> None:
    client.initialize()
    assert {client.ask("fire", **LS)["verdict"] for _ in range(100)} == {"none"}


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_stream_that_is_closed_is_an_empty_one(project: Project, closed: str) -> None:
    done = subprocess.run(
        ["sh", "-c", f'"$0" -m hookport serve-stdio {closed}', sys.executable],
        env={**project.env, "PYTHONPATH": str(SOURCE)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)


def test_nothing_but_answers_is_on_stdout(project: Project, client: Client) -> None:
    """What a hook prints is its answer, or a failure."""
    project.add("cat > /dev/null; echo noise; echo more >&2")
    client.initialize()
    outcome = client.ask("fire", **LS)
    assert outcome["runs"][0]["status"] == "failed"
    assert client.end() == ("", "", 0)
