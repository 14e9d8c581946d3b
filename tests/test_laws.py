"""The laws of conversion, each over every dialect there is."""

from __future__ import annotations

import http.server
import json
import shutil
import subprocess
import threading
from datetime import timedelta
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given

from hookport import documents
from hookport.agents import Place, get, list_dialects
from hookport.convert import pipeline
from hookport.convert.degrade import degrade, write_deny_command
from hookport.convert.edit import encode
from hookport.errors import InputError, InternalError
from hookport.model.hooks import Manifest, Term
from hookport.shapes.entries import find_slots
from tests import kitchen, strategies, vectors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from hookport.model.hooks import Hook


HUB = next(name for name in list_dialects() if get(name).is_hub)
TARGETS = [name for name in list_dialects() if name != HUB]

GUARD = {
    "event": "before_tool_execute",
    "blocking": True,
    "handler": {"type": "command", "command": "exit 2"},
}


def canonical(*hooks: dict[str, Any]) -> pipeline.Reading:
    data = json.dumps({"spec": "hooks/1.0", "hooks": list(hooks)}).encode()
    return pipeline.read({get(HUB).locations[0].path: data}, get(HUB))


def converted(target: str, *hooks: dict[str, Any]) -> tuple[pipeline.Conversion, tuple[Hook, ...]]:
    """What is written and read back; bare, since these laws run the command itself."""
    result = pipeline.convert(canonical(*hooks), get(target), bare=True)
    files = {file.path: file.text.encode() for file in result.files}
    return result, pipeline.read(files, get(target)).decoded.manifest.hooks if files else ()


def by_event(dialect: str, hooks: tuple[Hook, ...]) -> dict[tuple[str, ...], list[Hook]]:
    """The hooks of each list in the files: the order of the lists means nothing, nor that of named sets."""
    shape = get(dialect).shape
    has_sets = shape.by_event and "name" in shape.group_fields.values()
    events: dict[tuple[str, ...], list[Hook]] = {}
    for hook in hooks:
        natives = tuple(spec.native for spec, _ in find_slots(get(dialect), hook))
        events.setdefault((*natives, hook.name) if has_sets else natives, []).append(hook)
    return events


@cache
def texts(dialect: str) -> list[dict[str, bytes]]:
    """Files of a dialect: those of its vectors, and what a small manifest becomes in it."""
    found: list[dict[str, bytes]] = []
    for case in vectors.cases_of(dialect):
        found += [vectors.files(case, key, dialect) for key in ("identity", "read") if key in case]
    hooks = kitchen.manifest()["hooks"][::17]
    for start in range(0, len(hooks), 4):
        files = pipeline.convert(canonical(*hooks[start : start + 4]), get(dialect)).files
        found += [{file.path: file.text.encode() for file in files}] if files else []
    return found


@pytest.mark.parametrize("dialect", list_dialects())
def test_encoding_what_was_decoded_gives_the_bytes_back(dialect: str) -> None:
    assert texts(dialect)
    for files in texts(dialect):
        reading = pipeline.read(files, get(dialect))
        assert encode(reading, reading.decoded.manifest.hooks) == files


def is_script(reading: pipeline.Reading) -> bool:
    """Whether a hook is a script that somebody programmed: such a file is never written."""
    return bool(reading.dialect.shape.in_place) and not all(place.path for place in reading.decoded.places)


@pytest.mark.parametrize("dialect", list_dialects())
def test_taking_a_hook_out_and_putting_it_back_touches_nothing_else(dialect: str) -> None:
    put_back = 0
    for files in texts(dialect):
        reading = pipeline.read(files, get(dialect))
        hooks = reading.decoded.manifest.hooks
        for index in range(len(hooks) if len(hooks) > 1 else 0):
            fewer = (*hooks[:index], *hooks[index + 1 :])
            if is_script(reading):
                with pytest.raises(InputError, match="not edited"):
                    encode(reading, fewer)
                continue
            less = pipeline.read(encode(reading, fewer), get(dialect))
            same_hooks(less, fewer)
            assert beside(less) == beside(reading)
            if degrade(Manifest((hooks[index],)), get(dialect), (), {}).manifest.hooks != (hooks[index],):
                continue  # the model cannot express this hook, as with one of two tools that share a word
            put_back += 1
            again = pipeline.read(encode(less, (*fewer, hooks[index])), get(dialect))
            same_hooks(again, (*fewer, hooks[index]))
            assert beside(again) == beside(reading)
    assert put_back


Edit = tuple[str, tuple[int, ...], tuple["Hook", ...]]


def edits(dialect: str, hooks: tuple[Hook, ...]) -> Iterator[Edit]:
    """What to do, the numbers of the hooks it is done to, and all hooks afterwards."""
    for index, hook in enumerate(hooks):
        before, after = hooks[:index], hooks[index + 1 :]
        yield "remove", (index,), (*before, *after)
        timeout = timedelta(seconds=8 if hook.handler.timeout == timedelta(seconds=7) else 7)
        later = hook._replace(handler=hook.handler._replace(timeout=timeout))
        other = hook._replace(handler=hook.handler._replace(command="./changed.sh"))
        more = hook._replace(
            handler=hook.handler._replace(command="./added.sh"), name="added" if hook.name else ""
        )
        if says_exactly(dialect, later):
            yield "timeout", (index,), (*before, later, *after)
        if hook.handler.type == "command" and says_exactly(dialect, other):
            yield "command", (index,), (*before, other, *after)
        if hook.handler.type == "command" and says_exactly(dialect, more):
            yield "add", (), (*hooks, more)
        # Hooks keep their order, so those that follow in a group move with one that leaves it.
        may_leave = hook.matcher and all(one.matcher != hook.matcher for one in after[:1])
        for tool in ("shell", "file_read"):
            elsewhere = hook._replace(matcher=(Term("tool", tool, ""),))
            if may_leave and hook != elsewhere and says_exactly(dialect, elsewhere):
                yield "matcher", (index,), (*before, elsewhere, *after)
    yield "remove all", tuple(range(len(hooks))), ()


def says_exactly(dialect: str, hook: Hook) -> bool:
    """Whether the dialect can say the hook; some that were read cannot be said again in its own words."""
    found = degrade(Manifest((hook,)), get(dialect), (), {}).manifest.hooks
    return [one._replace(provider_data={}) for one in found] == [hook._replace(provider_data={})]


def lines_of(reading: pipeline.Reading, numbers: tuple[int, ...]) -> set[tuple[str, int]]:
    """The lines, from 0, that hooks are written on, with the group or event that holds nothing else."""
    gone = [reading.decoded.places[number] for number in numbers]
    commands = {reading.decoded.manifest.hooks[number].handler.command for number in numbers} - {""}
    for file, document in reading.documents.items():
        # One hook may be several entries, also in several files.
        for path, value in leaves((), document.tree):
            at = max((number for number, step in enumerate(path) if isinstance(step, int)), default=-1)
            if value in commands and at >= 0 and (file, path[: at + 1]) not in gone:
                gone.append(Place(file, path[: at + 1]))
    touched: set[tuple[str, int]] = set()
    for file, place in gone:
        document, path = reading.documents[file], place
        others = [other.path for other in reading.decoded.places if other.file == file and other not in gone]
        while len(path) > 1 and not any(other[: len(path) - 1] == path[:-1] for other in others):
            path = path[:-1]
        ends = [document.position(path)[0]]
        # A block of YAML begins below its key, which goes with it.
        lines, first = document.data.decode().splitlines(), document.position(path[:-1])[0]
        if path and isinstance(path[-1], str):
            named = [
                number
                for number in range(first, ends[0] + 1)
                if lines[number - 1].lstrip(" \t\"'{").startswith(path[-1])
            ]
            ends += named[-1:]
        for leaf, value in leaves((), document.tree):
            if leaf[: len(path)] == path:
                line, _ = document.position(leaf)
                ends += [line, line + str(value).count("\n")]
        touched |= {(file, line - 1) for line in range(min(ends), max(ends) + 1)}
    return touched


def leaves(path: tuple[str | int, ...], tree: Any) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    if isinstance(tree, (dict, list)):
        for key, value in tree.items() if isinstance(tree, dict) else enumerate(tree):
            yield from leaves((*path, key), value)
    else:
        yield path, tree


def is_left_in(document: documents.Document, skipped: set[int], result: bytes) -> bool:
    """Whether all lines but these are still there, in order; something may have been put between.

    Lines of nothing but brackets may go with a hook, and a comma at the end belongs to what comes next.
    """
    if not skipped:
        kept = document.data.decode()
    else:
        lines = [
            line.rstrip(" \t,")
            for number, line in enumerate(document.data.decode().splitlines())
            if number not in skipped and line.strip(" \t[]{},")
        ]
        kept = "\n".join(lines)
    left = iter(result.decode())
    return all(char in left for char in kept)


def settings(reading: pipeline.Reading, name: str, tree: Any) -> Any:
    """What a file says beside its hooks, wherever they were or are."""
    if not isinstance(tree, dict):
        return None
    places = (*reading.decoded.places, *reading.dialect.shape.decode(reading.dialect, {name: tree}).places)
    events = {place.path[0] for place in places if place.file == name and place.path}
    return [(key, value) for key, value in tree.items() if key != "hooks" and key not in events]


@pytest.mark.parametrize("dialect", list_dialects())
def test_an_edit_touches_only_the_hook_it_is_about(dialect: str) -> None:
    done: set[str] = set()
    for files in texts(dialect):
        reading = pipeline.read(files, get(dialect))
        for edit, numbers, hooks in edits(dialect, reading.decoded.manifest.hooks):
            if is_script(reading):
                with pytest.raises(InputError, match="not edited"):
                    encode(reading, hooks)
                continue
            result = encode(reading, hooks)
            same_hooks(pipeline.read(result, get(dialect)), hooks)
            unchanged(reading, result, numbers)
            done.add(edit)
    assert done >= {"remove", "remove all", "command", "add"}
    assert "timeout" in done or get(dialect).handlers["command"].timeout.unit is None


def unchanged(reading: pipeline.Reading, result: dict[str, bytes], numbers: tuple[int, ...]) -> None:
    """Everything but these hooks is as it was."""
    dialect = reading.dialect
    homes = {reading.decoded.places[number].file for number in numbers}
    # A file of one hook goes with it, and what is new then is a file too.
    alone = {place.file for place in reading.decoded.places if not place.path}
    if "*" not in dialect.locations[0].path and (result or dialect.kind != "format"):
        assert set(reading.documents) - (alone & homes) <= set(result)
        assert alone or set(result) <= set(reading.documents)
    touched = lines_of(reading, numbers)
    for name, data in result.items():
        before = reading.documents.get(name)
        if before is None:
            continue
        if before.kind == "text":
            if not any(place.file == name for place in reading.decoded.places):
                assert data == before.data or folder_of(name) in {folder_of(home) for home in homes}
            continue
        after = documents.parse(data, before.kind)
        if before.kind != "frontmatter":
            assert settings(reading, name, after.tree) == settings(reading, name, before.tree), data
        elif name not in homes:
            assert data == before.data
        skipped = {line for file, line in touched if file == name}
        assert is_left_in(before, skipped, data), (numbers, before.data.decode(), data.decode())


def folder_of(path: str) -> str:
    return path.partition("/scripts/")[0].removesuffix("/HOOK.md")


KIMI = (
    '# mine\n[model]\nkey = "secret" # keep\n\n'
    '[[hooks]]\nevent = "PreToolUse"\nmatcher = "Shell"\ncommand = "x"\n'
)
AGENT = (
    '{"name":"mine","prompt":"p","tools":["fs_read"],'
    '"hooks":{"preToolUse":[{"matcher":"execute_bash","command":"x"}]}}'
)
V1 = (
    '{"version":"v1","x":1,"hooks":[{"name":"a","trigger":"PreToolUse","matcher":"shell",'
    '"action":{"type":"command","command":"x"}}]}'
)
OFF = '{"disableAllHooks":true,"hooks":{"Stop":[{"hooks":[{"type":"command","command":"x"}]}%s]}}'
OFF_TOO = ',{"hooks":[{"type":"command","command":"./new.sh"}]}'
FOLDER = {
    ".agents/hooks/a/HOOK.md": "---\nname: a # mine\ndescription: d\ntrigger: before_tool\n---\nbody\n",
    ".agents/hooks/a/scripts/run.sh": "#!/bin/sh\nexit 0\n",
}
NEXT = {
    ".agents/hooks/b/HOOK.md": "---\nname: b\ndescription: d\ntrigger: before_tool\n---\nbody\n",
    ".agents/hooks/b/scripts/run.sh": (
        "#!/bin/sh\n# Generated by hookport. Change the hook's source instead.\n./new.sh\n"
    ),
}


def add(*hooks: Hook) -> tuple[Hook, ...]:
    new = hooks[0].handler._replace(command="./new.sh")
    return (*hooks, hooks[0]._replace(handler=new, name="b"))


def unnamed(*hooks: Hook) -> tuple[Hook, ...]:
    return (*hooks, add(*hooks)[-1]._replace(name=""))


def wait(*hooks: Hook) -> tuple[Hook, ...]:
    first = hooks[0].handler._replace(timeout=timedelta(seconds=7))
    return (hooks[0]._replace(handler=first), *hooks[1:])


def unnamed_on(*hooks: Hook) -> tuple[Hook, ...]:
    *some, last = unnamed(*hooks)
    return (*some, last._replace(enabled=True))


def none(*_: Hook) -> tuple[Hook, ...]:
    return ()


def first(*hooks: Hook) -> tuple[Hook, ...]:
    return hooks[:1]


@pytest.mark.parametrize(
    ("dialect", "before", "edit", "after"),
    [
        (
            "kimi-cli",
            {".kimi/config.toml": KIMI},
            unnamed,
            {
                ".kimi/config.toml": KIMI
                + '\n[[hooks]]\nevent = "PreToolUse"\nmatcher = "Shell"\ncommand = "./new.sh"\n'
            },
        ),
        ("kimi-cli", {".kimi/config.toml": KIMI}, wait, {".kimi/config.toml": KIMI + "timeout = 7\n"}),
        (
            "kimi-cli",
            {".kimi/config.toml": KIMI},
            none,
            {".kimi/config.toml": '# mine\n[model]\nkey = "secret" # keep\n'},
        ),
        (
            "kiro",
            {".kiro/agents/mine.json": AGENT},
            wait,
            {".kiro/agents/mine.json": AGENT.replace('"x"}', '"x","timeout_ms":7000}')},
        ),
        (
            "kiro",
            {".kiro/agents/mine.json": AGENT},
            none,
            {".kiro/agents/mine.json": AGENT[: AGENT.index('"hooks"')] + '"hooks":{}}'},
        ),
        (
            "kiro",
            {".kiro/hooks/mine.json": V1},
            unnamed,
            {
                ".kiro/hooks/mine.json": V1[:-2]
                + ',{"name":"before-tool-execute-2","trigger":"PreToolUse",'
                + '"matcher":"^(?:execute_bash|execute_cmd)$",'
                + '"action":{"type":"command","command":"./new.sh"}}]}'
            },
        ),
        (
            "agent-hooks",
            FOLDER,
            wait,
            {
                **FOLDER,
                ".agents/hooks/a/HOOK.md": FOLDER[".agents/hooks/a/HOOK.md"].replace(
                    "before_tool\n", "before_tool\ntimeout: 7000\n"
                ),
            },
        ),
        # A file that is switched off takes hooks all the same.
        (
            "claude-code",
            {".claude/settings.json": OFF % ""},
            unnamed_on,
            {".claude/settings.json": OFF % OFF_TOO},
        ),
        ("agent-hooks", FOLDER, add, {**FOLDER, **NEXT}),
        ("agent-hooks", {**FOLDER, **NEXT}, first, FOLDER),
        (
            "agent-hooks",
            {**FOLDER, **NEXT},
            none,
            {".agents/hooks/a/scripts/run.sh": FOLDER[".agents/hooks/a/scripts/run.sh"]},
        ),
    ],
)
def test_an_edit_is_a_splice(
    dialect: str,
    before: dict[str, str],
    edit: Callable[..., tuple[Hook, ...]],
    after: dict[str, str],
) -> None:
    reading = pipeline.read({name: text.encode() for name, text in before.items()}, get(dialect))
    result = encode(reading, edit(*reading.decoded.manifest.hooks))
    assert {name: data.decode() for name, data in result.items()} == after


def test_a_script_is_not_overwritten_by_one_that_calls_it() -> None:
    reading = pipeline.read({name: text.encode() for name, text in FOLDER.items()}, get("agent-hooks"))
    (hook,) = reading.decoded.manifest.hooks
    wrapped = hook._replace(handler=hook.handler._replace(command=f"time {hook.handler.command}"))
    with pytest.raises(InternalError, match="writing these hooks into the files of agent-hooks"):
        encode(reading, (wrapped,))


def same_hooks(reading: pipeline.Reading, hooks: tuple[Hook, ...]) -> None:
    """Just these hooks were read; in several files their order is that of the files."""
    found = reading.decoded.manifest.hooks
    assert sorted(map(repr, found)) == sorted(map(repr, hooks))
    if len(reading.documents) == 1:
        assert by_event(reading.dialect.id, found) == by_event(reading.dialect.id, hooks)


def beside(reading: pipeline.Reading) -> Any:
    """What the files say beside their hooks."""
    return reading.decoded.manifest.provider_data


def test_an_edit_keeps_comments_and_other_settings() -> None:
    before = (
        "{\n"
        "  // mine\n"
        '  "model": "x",   /* stays */\n'
        '  "hooks": {\n'
        '    "BeforeTool": [\n'
        "      // the guard\n"
        '      {"matcher": "replace", "hooks": [{"type": "command", "command": "./a.sh"}]},\n'
        '      {"hooks": [{"type": "command", "command": "./b.sh"}]}\n'
        "    ],\n"
        '    "AfterTool": [ {"hooks": [{"type": "command", "command": "./c.sh"}]} ], // odd   spacing\n'
        "  },\n"
        "}\n"
    )
    dialect = get("gemini-cli")
    reading = pipeline.read({dialect.locations[0].path: before.encode()}, dialect)
    first, second, third = reading.decoded.manifest.hooks
    (after,) = encode(reading, (first, third)).values()
    removed = ',\n      {"hooks": [{"type": "command", "command": "./b.sh"}]}\n'
    assert after.decode() == before.replace(removed, "\n")
    again = pipeline.read({dialect.locations[0].path: after}, dialect)
    (more,) = encode(again, (first, second, third)).values()
    kept = [line for line in before.splitlines() if "b.sh" not in line and "a.sh" not in line]
    assert [line for line in more.decode().splitlines() if line in kept] == kept


@pytest.mark.parametrize("target", list_dialects())
@given(manifest=strategies.manifests())
def test_what_degrade_lets_through_reads_back_the_same(target: str, manifest: dict[str, Any]) -> None:
    reading = canonical(*manifest["hooks"])
    result = pipeline.convert(reading, get(target))  # raises InternalError unless decode(encode(m)) == m
    assert len(result.effects) == len(manifest["hooks"])


@pytest.mark.parametrize("target", list_dialects())
@pytest.mark.parametrize("name", [" ", "\t", "\r", "\n", "\x0b", "\x85", "\u2028", " a ", "a\rb"])
def test_a_tool_with_blanks_in_its_name_is_matched_or_reported(target: str, name: str) -> None:
    result, read = converted(target, {**GUARD, "matcher": name})
    lost = [finding for finding in result.findings if finding.severity == "error"]
    assert read or lost


@pytest.mark.parametrize("source", list_dialects())
def test_the_order_of_keys_does_not_matter(source: str) -> None:
    for files in texts(source):
        turned = {path: reordered(source, path, data) for path, data in files.items()}
        one, other = (pipeline.read(given, get(source)).decoded.manifest.hooks for given in (files, turned))
        assert len(one) == len(other)
        assert [hook for hook in one if hook not in other] == []


def reordered(dialect: str, path: str, data: bytes) -> bytes:
    kind = get(dialect).shape.file_kinds.get(documents.detect_kind(path), documents.detect_kind(path))
    if kind not in {"json", "jsonc"}:
        return data

    def turn(tree: Any) -> Any:
        if isinstance(tree, dict):
            return {key: turn(tree[key]) for key in reversed(tree)}
        return [turn(item) for item in tree] if isinstance(tree, list) else tree

    return json.dumps(turn(documents.parse(data, kind).tree)).encode()


def run(command: str, folder: Path, stdin: str = "{}", **env: str) -> subprocess.CompletedProcess[str]:
    # Some commands find the project's root from where their script is.
    own = folder / ".agents/hooks/one/scripts/run"
    return subprocess.run(
        ["sh", "-c", command, str(own)],
        cwd=folder,
        input=stdin,
        env={"PATH": "/usr/local/bin:/usr/bin:/bin", **roots(folder), **env},
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
    )


def roots(folder: Path) -> dict[str, str]:
    """The variable that leads to the project's root, for every agent that has one."""
    spellings = [spelling for name in list_dialects() for spelling in get(name).project_dir]
    return {word.strip("${}"): str(folder) for word in spellings if word.strip("${}").isidentifier()}


COMMANDS = (
    "exit 2",
    "exit 2;",
    "exit 2 # no",
    "exit 2 #&",
    "cat >/dev/null; exit 2",
    "cat <<EOF >/dev/null\nx\nEOF\nexit 2",
    "(exit 2)",
    "{ exit 2; }",
    "true & exit 2",
    "sh -c 'exit 2'",
    "exec sh -c 'exit 2'",
    "case x in x) exit 2 ;; esac",
    "if true; then exit 2; fi",
    "set -e; sh -c 'exit 2'",
)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("event", ["before_tool_execute", "before_prompt", "agent_stop"])
def test_who_must_not_block_cannot(target: str, event: str, tmp_path: Path) -> None:
    for command in COMMANDS:
        watcher = {"event": event, "handler": {"type": "command", "command": command}}
        _, (*hooks,) = converted(target, watcher)
        for hook in hooks:
            if hook.blocking:
                assert run(hook.handler.command, tmp_path).returncode == 0, (command, hook.handler.command)
        _, (*guards,) = converted(target, {**watcher, "blocking": True})
        for hook in guards:
            assert run(hook.handler.command, tmp_path).returncode == 2, (command, hook.handler.command)


NAME = 'it\'s "a" $HOME `x` \\ é'


@pytest.mark.parametrize("target", TARGETS)
def test_what_is_carried_in_the_command_happens(target: str, tmp_path: Path) -> None:
    (tmp_path / "sub dir").mkdir()
    (tmp_path / ".agents/hooks/one/scripts").mkdir(parents=True)
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    script = 'printf "%s|%s|%s|" "$NAME" "$OTHER" "$(pwd)"; cat; exit 2'
    handler = {
        "type": "command",
        "command": "false",
        "platform": {"linux": script, "osx": script},
        "cwd": "sub dir",
        "env": {"NAME": NAME, "OTHER": "1"},
    }
    _, (hook,) = converted(target, {"event": "before_tool_execute", "handler": handler, "blocking": True})
    command = hook.handler.platform.get("linux", hook.handler.command)
    folder = tmp_path / hook.handler.cwd
    done = run(command, folder, '{"a": 1}', **roots(tmp_path), **hook.handler.env)
    assert (done.stdout, done.returncode) == (f'{NAME}|1|{tmp_path / "sub dir"}|{{"a": 1}}', 2), command


@pytest.mark.parametrize("target", TARGETS)
def test_what_starts_in_the_background_hears_the_payload(target: str, tmp_path: Path) -> None:
    pipe = tmp_path / "out"
    command = "sleep 0.2; cat > out; sleep 60"
    handler = {"type": "command", "command": command, "async": True, "env": {"A": "b"}}
    _, (hook,) = converted(target, {"event": "before_tool_execute", "handler": handler})
    if hook.handler.is_async:
        assert hook.handler.command.endswith(command)
        return
    script = hook.handler.command.replace("sleep 60", "sleep 1; echo . > done")
    assert run(script, tmp_path, '{"a": 1}').returncode == 0
    assert not pipe.exists()
    wait_for(tmp_path / "done")
    assert pipe.read_text() == '{"a": 1}'


def wait_for(path: Path) -> None:
    waited = threading.Event()
    for _ in range(200):
        if path.exists():
            return
        waited.wait(0.05)
    raise AssertionError(f"{path} did not appear")


@pytest.fixture
def server() -> Iterator[tuple[str, list[tuple[str, dict[str, str], bytes]]]]:
    """A server that remembers what it was sent; `/fail` answers with 500."""
    seen: list[tuple[str, dict[str, str], bytes]] = []

    class Remember(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            seen.append((self.path, dict(self.headers), body))
            self.send_response(500 if self.path == "/fail" else 200)
            self.end_headers()
            self.wfile.write(b'{"decision": "deny"}')

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Remember) as listening:
        threading.Thread(target=listening.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{listening.server_port}", seen
        listening.shutdown()


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
@pytest.mark.parametrize("target", TARGETS)
def test_a_url_is_called_by_the_command(
    target: str, tmp_path: Path, server: tuple[str, list[tuple[str, dict[str, str], bytes]]]
) -> None:
    url, seen = server
    handler = {
        "type": "http",
        "url": f"{url}/hook?a='b'&c=[1-2]{{x,y}}$HOME",
        "headers": {"Authorization": "Bearer $TOKEN", "X-Odd": 'it\'s "odd" `x` \\', "X-Env": "a${SECRET}b"},
        "allowed_env_vars": ["TOKEN"],
        "timeout": 10,
    }
    _, (hook,) = converted(target, {"event": "before_tool_execute", "handler": handler, "blocking": True})
    if hook.handler.type == "http":
        assert hook.handler.url == handler["url"]
        return
    body = '{"tool": "it\'s\\n"}'
    done = run(hook.handler.command, tmp_path, body, TOKEN='t"o$k', SECRET="never")
    assert (done.stdout, done.returncode) == ('{"decision": "deny"}', 0), done.stderr
    path, headers, got = seen.pop()
    assert (path, got) == ("/hook?a='b'&c=[1-2]{x,y}$HOME", body.encode())
    assert (headers["Authorization"], headers["X-Odd"], headers["X-Env"]) == (
        'Bearer t"o$k',
        'it\'s "odd" `x` \\',
        "ab",
    )
    failing = {"type": "http", "url": f"{url}/fail", "timeout": 10}
    _, (hook,) = converted(target, {"event": "before_tool_execute", "handler": failing, "blocking": True})
    failed = run(hook.handler.command, tmp_path, body)
    closed = any(spec.exits == "any" for spec, _ in find_slots(get(target), hook))
    assert (failed.stdout, failed.returncode) == ("", 0 if closed else 1)


@pytest.mark.parametrize("target", TARGETS)
def test_blocking_instead_denies_in_the_targets_own_terms(target: str, tmp_path: Path) -> None:
    handler = {"type": "agent", "prompt": "Is it safe?"}
    hook: dict[str, Any] = {
        "name": 'it\'s "safe"',
        "event": "before_tool_execute",
        "handler": handler,
        "blocking": True,
        "degradation": {"llm_evaluated": "block"},
    }
    result, (written,) = converted(target, hook)
    if written.handler.type == "agent":
        assert result.effects != ("dropped",)
        return
    assert "HP206" in {finding.code for finding in result.findings}
    assert result.effects == ("stricter",)
    done = run(written.handler.command, tmp_path)
    (spec, *_), _ = zip(*find_slots(get(target), written), strict=True)
    answer = spec.deny_answer or get(target).deny_answer
    if not answer:
        assert done.returncode == 2
        assert done.stdout == ""
        assert hook["name"] in done.stderr
        return
    assert done.returncode == 0
    said = json.loads(done.stdout)
    assert said.keys() == answer.keys()
    assert hook["name"] in json.dumps(said, ensure_ascii=False).replace('\\"', '"')
    assert written.handler.command == write_deny_command(
        get(target), reason_in(said, answer), spec.deny_answer
    )


def reason_in(said: Any, answer: Any) -> str:
    """The text that stands where the answer has its reason."""
    if isinstance(answer, str):
        before, found, after = answer.partition("{reason}")
        return str(said)[len(before) : len(said) - len(after)] if found else ""
    pairs = (
        answer.items() if hasattr(answer, "items") else enumerate(answer) if isinstance(answer, list) else ()
    )
    return next((text for key, value in pairs if (text := reason_in(said[key], value))), "")
