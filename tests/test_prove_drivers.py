"""Every driver is well formed, writes only where it may, and leaves settings that sync can add to."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import yaml

from hookport import agents as dialects
from hookport.lab import drivers, mcp_lab, scenario, stage
from hookport.lab.driver import UNTRUSTED, ModelCall, Stage
from hookport.lab.drivers import _opencode_session, get, get_dialect_id, list_names
from hookport.lab.run import reads_projects
from hookport.model.events import EVENTS
from tests.engines import NODE
from tests.test_generated import needs_node

# What drivers start beside Python.
SCRIPTS = sorted(
    path for path in Path(drivers.__file__).parent.rglob("*") if path.suffix in (".js", ".mjs", ".json")
)
KINDS: dict[str, tuple[Any, ...]] = {
    "shell": ("echo hi",),
    "write": ("deep/new.txt", "one\ntwo\n"),
    "edit": ("deep/old.txt", "old", "new"),
    "read": ("deep/old.txt",),
    "mcp": ("shout", {"text": "hi"}),
}
# Calls that go around the hooks of some agents; not every agent has such tools.
AROUND: dict[str, tuple[Any, ...]] = {
    "delegate": ("Run the commands of the task.",),
    "code": ("touch hi",),
    "other_shell": ("echo hi",),
}
ABILITIES = ("fires", "block", "rewrite", "context")
WAYS = ("protocol", "elsewhere", "code")
PROGRAM = ("/opt/node", "/opt/agent")
SERVER = ("/opt/python", "/opt/mcp server.py")
HOOKS = {
    "spec": "hooks/1.0",
    "hooks": [
        {"name": "guard", "event": "before_tool_execute", "handler": {"type": "command", "command": "true"}}
    ],
}


def staged(folder: Path, *, mcp: tuple[str, ...] = SERVER) -> Stage:
    folders = [folder / name for name in ("home", "project/deep", "shared")]
    for one in folders:
        one.mkdir(parents=True)
    home, deep, shared = folders
    return Stage(home, deep.parent, deep, "http://127.0.0.1:1", PROGRAM, shared, "Do it.", mcp)


def files(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def parsed(path: Path, text: bytes) -> Any:
    if path.suffix == ".toml":
        return tomllib.loads(text.decode())
    if path.suffix in (".yaml", ".yml"):
        return yaml.safe_load(text)
    assert path.suffix == ".json", path
    return json.loads(text)


def leaves(tree: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    if isinstance(tree, dict) and tree:
        for key, value in tree.items():
            yield from leaves(value, (*path, key))
    else:
        yield path, tree


@pytest.mark.parametrize("name", list_names())
def test_a_driver_is_well_formed(name: str, tmp_path: Path) -> None:
    driver, here = get(name), staged(tmp_path)
    assert driver.title
    assert driver.package.registry in {"npm", "pypi"}
    assert driver.package.version[0].isdigit()
    assert driver.program
    assert "/" not in driver.program
    assert get_dialect_id(driver) in dialects.list_dialects()
    import_module(f"hookport.lab.protocols.{driver.protocol}")
    assert driver.patience > 0
    assert set(driver.alone) <= set(scenario.list_names())
    command = list(driver.command(here))
    assert PROGRAM in itertools.pairwise(command)
    assert "Do it." in command
    assert all(isinstance(word, str) for word in command)
    variables = driver.environment(here)
    assert all(isinstance(word, str) for pair in variables.items() for word in pair)
    assert set(variables) & {"HOME", "PATH"} == set()


@pytest.mark.parametrize("name", list_names())
def test_a_driver_says_what_it_lacks_in_known_words(name: str) -> None:
    driver = get(name)
    abilities = {f"{event}.{can}" for event in EVENTS for can in (*ABILITIES, *scenario.WAYS)}
    missing = {f"calls.{kind}" for kind in KINDS if kind not in driver.calls}
    assert set(driver.calls) <= {*KINDS, *AROUND}
    assert missing <= set(driver.lacks)
    missing |= {f"calls.{kind}" for kind in AROUND if kind not in driver.calls}
    missing |= {f"ways.{way}" for way in (*WAYS, "asking") if way not in driver.ways}
    missing |= {"calls.agent"} - {f"calls.{word}" for word, _ in driver.further}
    assert set(driver.lacks) <= abilities | missing | {UNTRUSTED}
    assert all(driver.lacks.values())


@pytest.mark.parametrize("name", list_names())
def test_another_way_of_running_starts_the_same_program(name: str, tmp_path: Path) -> None:
    driver, here = get(name), staged(tmp_path)
    assert set(driver.ways) <= {*WAYS, "asking", *scenario.list_names()}
    driver.settle(here)
    written: set[Path] = set()
    for way in driver.ways.values():
        if way.settle:
            way.settle(here)
        written |= set(files(tmp_path))
        command = list((way.command or driver.command)(here))
        # An agent may have a program of its own for editors, beside the usual one.
        assert PROGRAM in itertools.pairwise(command) or str(Path(PROGRAM[0]).parent) in "".join(command)
        assert "Do it." in "".join(command)
    assert all(
        path.is_relative_to(here.home) or path.is_relative_to(here.project) for path in files(tmp_path)
    )


@pytest.mark.parametrize("name", list_names())
def test_a_driver_writes_settings_that_can_be_read_and_nothing_else(name: str, tmp_path: Path) -> None:
    driver, here = get(name), staged(tmp_path)
    driver.settle(here)
    written = files(tmp_path)
    assert all(path.is_relative_to(here.home) or path.is_relative_to(here.project) for path in written)
    trees = [parsed(path, text) for path, text in written.items()]
    told = json.dumps([trees, driver.command(here), dict(driver.environment(here))])
    assert here.url in told
    if "mcp" in driver.calls:
        assert all(word in told for word in SERVER)


@pytest.mark.parametrize("name", list_names())
def test_a_folder_is_trusted_or_not_where_the_agent_tells_them_apart(name: str, tmp_path: Path) -> None:
    driver, told = get(name), []
    here = staged(tmp_path)
    for trusted in (True, False):
        stage_ = here._replace(trusted=trusted)
        driver.settle(stage_)
        told.append((files(here.home), driver.command(stage_), driver.environment(stage_)))
    assert (told[0] != told[1]) == bool(dialects.get(get_dialect_id(driver)).folder_trust)


@pytest.mark.parametrize("name", list_names())
def test_without_a_server_none_is_named(name: str, tmp_path: Path) -> None:
    driver, here = get(name), staged(tmp_path, mcp=())
    driver.settle(here)
    assert not [path for path, text in files(tmp_path).items() if b"mcpServers" in text or b"[mcp" in text]


@pytest.mark.parametrize("name", list_names())
def test_a_driver_calls_tools_with_what_a_step_says(name: str, tmp_path: Path) -> None:
    driver, here = get(name), staged(tmp_path)
    for kind, given in {**KINDS, **AROUND}.items():
        if kind not in driver.calls:
            continue
        call = driver.calls[kind](here, *given)
        assert isinstance(call, ModelCall), kind
        assert call.name, kind
        said = call.input if isinstance(call.input, str) else json.dumps(dict(call.input))
        wanted = given[-1]["text"] if kind == "mcp" else given[0].rpartition("/")[2]
        # Code does not have the words of the command side by side.
        wanted = wanted.partition(" ")[0] if kind == "code" else wanted
        assert wanted in said, kind
        assert "new" in said or kind != "edit"


def test_sync_adds_to_what_every_driver_settled(tmp_path: Path) -> None:
    project = {".hookport/hooks.json": json.dumps(HOOKS)}
    here = stage.build_stage(tmp_path, PROGRAM, shared=tmp_path / "shared", files=project)
    here = here._replace(mcp=SERVER)
    for name in list_names():
        get(name).settle(here)
    settled = {path: text for path, text in files(tmp_path).items() if path.suffix in {".json", ".toml"}}
    agents = sorted({get_dialect_id(get(name)) for name in list_names()})
    readers = [name for name in agents if reads_projects(dialects.get(name))]
    for scope, chosen in (("project", readers), ("user", agents)):
        arguments = ["sync", "--scope", scope, "--mode", "bridge", "--agent", ",".join(chosen)]
        done = subprocess.run(
            [sys.executable, "-m", "hookport", *arguments],
            cwd=here.project,
            env=stage.make_environment(here),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
    for path, text in settled.items():
        before, after = parsed(path, text), parsed(path, path.read_bytes())
        kept = dict(leaves(after))
        assert [leaf for leaf in leaves(before) if kept.get(leaf[0]) != leaf[1]] == [], path
    changed = {path.name for path, text in settled.items() if path.read_bytes() != text}
    assert {"settings.json", "config.toml"} <= changed


def test_the_mcp_server_answers_what_agents_ask(tmp_path: Path) -> None:
    asked: list[Any] = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2024-11-05"}},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
        {"jsonrpc": "2.0", "id": "a", "method": "tools/call", "params": {"arguments": {"text": "hé"}}},
        {"jsonrpc": "2.0", "id": 3, "method": "resources/list"},
        {"jsonrpc": "2.0", "id": 4, "method": "ping"},
    ]
    text = "not JSON\n\n[]\n" + "".join(json.dumps(line) + "\n" for line in asked)
    done = subprocess.run(
        [sys.executable, "-I", "-S", mcp_lab.__file__], input=text, capture_output=True, text=True, check=True
    )
    about = {
        "protocolVersion": "2024-11-05",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "lab", "version": "1"},
    }
    assert [json.loads(line) for line in done.stdout.splitlines()] == [
        {"jsonrpc": "2.0", "id": 1, "result": about},
        {"jsonrpc": "2.0", "id": 2, "result": {"tools": [mcp_lab.TOOL]}},
        {"jsonrpc": "2.0", "id": "a", "result": {"content": [{"type": "text", "text": "HÉ"}]}},
        {"jsonrpc": "2.0", "id": 3, "error": {"code": -32601, "message": "no such method"}},
        {"jsonrpc": "2.0", "id": 4, "result": {}},
    ]
    assert done.stderr == ""


# A server that is busy once more after its first answer, and writes down what it was asked.
SERVE = """\
import http.server, json, sys

class Handler(http.server.BaseHTTPRequestHandler):
    asked = []

    def do_GET(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        self.asked.append(f"{self.command} {self.path} {body}".strip())
        polls = self.asked.count("GET /session/status")
        answers = {
            "POST /session": {"id": "s1"},
            "POST /session/s1/message": {"parts": [{"type": "step"}, {"type": "text", "text": "Done."}]},
            "GET /session/status": {"s1": {"type": "busy"}} if polls == 2 else {},
        }
        refused = "refuse" in body
        self.send_response(500 if refused else 200)
        self.end_headers()
        text = json.dumps(answers.get(f"{self.command} {self.path}", True))
        self.wfile.write(b"no prompts" if refused else text.encode())
        others = [line for line in self.asked if not line.startswith("GET")]
        open("asked.json", "w").write(json.dumps(others))

    do_POST = do_DELETE = do_GET

    def log_message(self, *_):
        pass

server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
print("a warning", flush=True)
print(f"opencode server listening on http://127.0.0.1:{server.server_port}", flush=True)
assert sys.argv[1] == "serve"
server.serve_forever()
"""


def test_one_prompt_goes_to_a_server_and_back(tmp_path: Path) -> None:
    program = tmp_path / "serve.py"
    program.write_text(SERVE)
    # Each waits for a while until nothing more comes, so they wait together.
    running = {}
    for prompt in ("Do it.", "refuse"):
        (tmp_path / prompt).mkdir()
        running[prompt] = subprocess.Popen(
            [sys.executable, _opencode_session.__file__, prompt, sys.executable, str(program)],
            cwd=tmp_path / prompt,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
    said = {prompt: (*child.communicate(timeout=60), child.returncode) for prompt, child in running.items()}
    warning = "a warning\nopencode server listening on "
    assert [(out, code) for out, _, code in said.values()] == [("Done.\n", 0), ("", 1)]
    assert all(err.startswith(warning) for _, err, _ in said.values())
    assert [err.endswith("500: no prompts\n") for _, err, _ in said.values()] == [False, True]
    for prompt in running:
        parts = {"parts": [{"type": "text", "text": prompt}]}
        assert json.loads((tmp_path / prompt / "asked.json").read_text()) == [
            "POST /session {}",
            f"POST /session/s1/message {json.dumps(parts)}",
            "DELETE /session/s1",
        ]


@needs_node
@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_a_script_beside_the_drivers_can_be_read(path: Path) -> None:
    if path.suffix == ".json":
        assert json.loads(path.read_text("utf-8"))
    else:
        subprocess.run([NODE, "--check", str(path)], check=True)
