"""Settings files of every agent: an install adds what is ours, nothing else, and takes it back to the byte.

A folder `agents/AGENT/installs/CASE/before` holds a `project` or a `home` as people keep them; `refused` in
the name of the case says that sync must leave it alone. The commands are those of the command line, run in
this process.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from hookport import agents, cli
from hookport.agents import Dialect, get_wire
from hookport.convert import edit, pipeline
from hookport.errors import InputError
from hookport.install.withdrawal import take_back
from hookport.model.hooks import Hook
from hookport.project.ownership import is_ours
from hookport.shapes.dialect import list_locations
from tests import agent_data, forks

AGENTS = [name for name in agents.list_dialects() if agents.get(name).kind == "agent"]
MODES = ("native", "bridge", "auto")
CASES = {
    f"{name}-{case.name}": case
    for name, folder in agent_data.find("installs").items()
    for case in sorted(folder.iterdir())
}
GOOD = [case for case in CASES if "-refused" not in case]
# An entry that an earlier hookport wrote, which a new one replaces.
OLDER = "-older-"
GUARD = """---
name: shell-guard
description: Nothing leaves this machine
trigger: before_tool
matcher:
  tool: Shell
timeout: 10000
---
"""
MANIFEST = """{
  "spec": "hooks/0.1",
  "hooks": [
    { "name": "notes", "event": "session_start", "handler": { "type": "command", "command": "cat NOTES" } },
    { "name": "tests", "event": "agent_stop", "handler": { "type": "command", "command": "make -s test" } },
    { "name": "writes", "event": "before_tool_execute", "matcher": "file_write", "blocking": true,
      "handler": { "type": "command", "command": "./owner.sh", "timeout": 20 } }
  ]
}
"""
Files = dict[str, tuple[int, bytes | str | None]]


class World(NamedTuple):
    """A project and a home that hold one case."""

    agent: Dialect
    base: Path
    scope: str

    def run(self, *words: str) -> int:
        return cli.main(list(words))

    def sync(self, mode: str, *words: str) -> int:
        return self.run("sync", "--agent", self.agent.id, "--scope", self.scope, "--mode", mode, *words)

    def installs(self, mode: str, *words: str) -> bool:
        """Whether sync writes what it should; hooks that cannot run in the agent are errors all the same."""
        code = self.sync(mode, *words)
        return code in (0, 1)

    def files(self) -> Files:
        """Everything that is there but for what is ours alone."""
        return {
            str(path.relative_to(self.base)): _said(path)
            for top in ("project", "home")
            for path in sorted((self.base / top).rglob("*"))
        }

    def texts(self) -> dict[str, bytes]:
        """The bytes of the agent's own files, by their paths as the agent writes them."""
        names = {path: spelled(path) for path in self.files()}
        return {
            name: (self.base / path).read_bytes()
            for path, name in names.items()
            if self.owns(name) and (self.base / path).is_file()
        }

    def owns(self, name: str) -> bool:
        places = [place.path for place in self.agent.locations if place.scope in ("project", "local", "user")]
        return any(fnmatchcase(name, place) for place in places)

    def hooks(self, texts: Mapping[str, bytes]) -> dict[str, list[Hook]]:
        """The hooks of each file that can be read; a script of the user's is none."""
        found = {}
        for name, data in texts.items():
            try:
                found[name] = list(pipeline.read({name: data}, self.agent).decoded.manifest.hooks)
            except InputError:
                found[name] = []
        return found


def _said(path: Path) -> tuple[int, bytes | str | None]:
    mode = stat.S_IMODE(path.lstat().st_mode)
    if path.is_symlink():
        return mode, str(path.readlink())
    return mode, path.read_bytes() if path.is_file() else None


def agent_of(case: str) -> str:
    return max((name for name in AGENTS if case.startswith(f"{name}-") or case == name), key=len)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with a home and a repository in it, which the process is in."""
    project, home = tmp_path / "project", tmp_path / "home"
    for folder in (project / ".git", home):
        folder.mkdir(parents=True)
    for name in [name for name in os.environ if name.startswith(("XDG_", "HOOKPORT_", "CLAUDE", "CODEX"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("HOOKPORT_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.chdir(project)
    yield tmp_path
    for path in tmp_path.rglob("*"):
        if not path.is_symlink():
            path.chmod(0o755)


def world(case: str, place: Path) -> World:
    """The files of a case, and hooks to install beside them."""
    before = CASES[case] / "before"
    for folder in before.iterdir():
        shutil.copytree(folder, place / folder.name, symlinks=True, dirs_exist_ok=True)
    scope = "project" if (before / "project").exists() else "user"
    dialect = agents.get(agent_of(case))
    for top, hooks in (("project", ".agents"), ("home", ".config/agents")):
        guard = place / top / hooks / "hooks" / f"{top}-guard"
        (guard / "scripts").mkdir(parents=True)
        (guard / "HOOK.md").write_text(GUARD.replace("shell-guard", guard.name), "utf-8")
        (guard / "scripts/run.sh").write_text("#!/bin/sh\necho '{}'\n", "utf-8")
        (guard / "scripts/run.sh").chmod(0o755)
    for manifest in (place / "project/.hookport/hooks.json", place / "home/.config/hookport/hooks.json"):
        manifest.parent.mkdir(parents=True)
        manifest.write_text(MANIFEST, "utf-8")
    if "read-only" in case and os.geteuid() == 0:  # for anyone else it is refused
        (place / "project/.claude/settings.json").chmod(0o444)
    return World(dialect, place, scope)


def changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    return sorted(
        name for name in {*before, *after} if before.get(name, "missing") != after.get(name, "missing")
    )


def is_within(part: bytes, whole: bytes) -> bool:
    """Whether all bytes of a part are in the whole, in their order."""
    rest = iter(whole)
    return all(byte in rest for byte in part)


def assert_spliced(before: bytes, after: bytes) -> None:
    """Nothing was taken away, and lines outside of what was added are as they were."""
    one, other = before.splitlines(keepends=True), after.splitlines(keepends=True)
    for what, start, end, at, to in SequenceMatcher(None, one, other, autojunk=False).get_opcodes():
        if what != "equal":
            assert is_within(b"".join(one[start:end]), b"".join(other[at:to]))


def without(hooks: Sequence[Hook], mine: Sequence[Hook]) -> tuple[list[Hook], list[Hook]]:
    """Those that a user had, in their order, and the others."""
    left, kept, others = list(mine), [], []
    for hook in hooks:
        if hook in left:
            left.remove(hook)
            kept.append(hook)
        else:
            others.append(hook)
    return kept, others


def is_older(hook: Hook) -> bool:
    return "/old/" in hook.handler.command or hook.handler.command.startswith("/usr/local/bin/hookport ")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("case", GOOD)
def test_sync_adds_ours_once_and_unsync_and_undo_restore_the_bytes(
    case: str, mode: str, place: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    here = world(case, place)
    before, texts = here.files(), here.texts()
    mine = {name: [hook for hook in hooks if not is_older(hook)] for name, hooks in here.hooks(texts).items()}
    assert here.installs(mode), capfd.readouterr().err
    after, now = here.files(), here.texts()
    ours: list[tuple[str, Hook]] = []
    for name in changed(texts, now):
        kept, more = without(here.hooks(now).get(name, []), mine.get(name, []))
        assert kept == mine.get(name, [])
        assert not any(map(is_older, more))
        ours += [(name, hook) for hook in more]
        if name in texts and OLDER not in case:
            assert_spliced(texts[name], now[name])
    assert ours, capfd.readouterr().err
    assert all(ours.count(one) == 1 for one in ours)
    own = {name for name in changed(before, after) if (before.get(name) or after[name])[1] is not None}
    assert all(here.owns(spelled(name)) for name in own if name not in links(before))
    assert all(stat.S_IFMT(mode_) == stat.S_IFMT(after[name][0]) for name, (mode_, _) in before.items())

    assert here.installs(mode, *(["--check"] if mode == "auto" else []))
    assert here.files() == after

    assert here.run("unsync", "--agent", here.agent.id, "--scope", here.scope) == 0, capfd.readouterr().err
    assert here.files() == before
    assert here.run("undo") == 0, capfd.readouterr().err
    assert here.files() == after
    assert here.run("undo") == 0, capfd.readouterr().err
    assert here.files() == before


def foreign(agent: Dialect) -> set[str]:
    """The places of other agents' files that an agent reads."""
    return {place.path for place in list_locations(agent, "also read", "maybe read")}


# (case, agent): the case has a file of its own that this other agent reads too.
READ_BY_OTHERS = [
    (case, name)
    for case in GOOD
    for name in AGENTS
    if any((CASES[case] / "before/project" / place).is_file() for place in foreign(agents.get(name)))
]


@pytest.mark.parametrize(("case", "reader"), READ_BY_OTHERS)
def test_adopted_commands_are_a_splice_and_unsync_and_undo_restore_the_bytes(
    case: str, reader: str, place: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    here = world(case, place)._replace(agent=agents.get(reader))
    before = here.files()
    assert here.installs("bridge", "--adopt"), capfd.readouterr().err
    after = here.files()
    own = {f"project/{path}" for path in foreign(here.agent)}
    spliced = {name for name in changed(before, after) if name in own and isinstance(before[name][1], bytes)}
    for name in spliced:
        was, now = before[name][1], after[name][1]
        assert isinstance(was, bytes)
        assert isinstance(now, bytes)
        assert_spliced(was, now)
        owner = here._replace(agent=agents.get("claude-code"))
        assert owner.hooks({name: was}) == owner.hooks({name: now})
        assert b" covers " in now
    assert not spliced or "$root" in get_wire(reader).env.values()

    assert here.installs("bridge", "--adopt")
    assert here.files() == after
    assert here.installs("bridge", "--check")
    assert here.files() == after
    assert here.run("unsync", "--agent", reader) == 0, capfd.readouterr().err
    assert here.files() == before
    assert here.run("undo") == 0, capfd.readouterr().err
    assert here.files() == after
    assert here.run("undo") == 0, capfd.readouterr().err
    assert here.files() == before


def test_files_that_others_read_are_among_the_cases() -> None:
    assert len(READ_BY_OTHERS) > 30


def spelled(path: str) -> str:
    return path.removeprefix("project/") if path.startswith("project/") else f"~/{path.removeprefix('home/')}"


def links(files: Files) -> list[str]:
    """Where links lead, as paths of this snapshot."""
    return [
        os.path.normpath(Path(path).parent / target)
        for path, (_, target) in files.items()
        if isinstance(target, str)
    ]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("case", [case for case in CASES if case not in GOOD])
def test_a_file_that_cannot_be_read_is_refused_and_untouched(
    case: str, mode: str, place: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    here = world(case, place)
    before = here.files()
    assert here.sync(mode) == 2
    said = capfd.readouterr().err
    assert any(f"{Path(name).name}:" in said for name in here.texts())
    assert "Nothing was written." in said
    assert here.files() == before


def comment(text: bytes) -> bytes:
    first, brace, rest = text.partition(b"{")
    return first + brace + b" /* a note of mine */" + rest


def blank(text: bytes) -> bytes:
    first, brace, rest = text.partition(b"{")
    return first + brace + b"\n \t\n" + rest


def hash_line(text: bytes) -> bytes:
    return b"# a note of mine\n" + text


EDITS: dict[str, Callable[[bytes], bytes]] = {"json": blank, "jsonc": comment, "toml": hash_line}


@pytest.mark.parametrize("case", [case for case in GOOD if OLDER not in case])
def test_unsync_keeps_what_a_person_changed_meanwhile(
    case: str, place: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    here = world(case, place)
    before, texts = here.files(), here.texts()
    assert here.installs("bridge"), capfd.readouterr().err
    for name in changed(texts, here.texts()):
        change = EDITS.get(pipeline.detect_dialect_kind(here.agent, name))
        if name in texts and change:
            path = place / (f"home/{name[2:]}" if name.startswith("~/") else f"project/{name}")
            real = path.resolve()
            real.chmod(0o644)
            real.write_bytes(change(path.read_bytes()))
            real.chmod(before[str(path.relative_to(place))][0] if not path.is_symlink() else 0o644)
            key = str(real.relative_to(place.resolve()))
            before[key] = (before[key][0], change(texts[name]))
    assert here.run("unsync", "--agent", here.agent.id, "--scope", here.scope) == 0, capfd.readouterr().err
    assert here.files() == before


@pytest.mark.parametrize("case", [case for case in GOOD if OLDER not in case])
def test_unsync_keeps_a_hook_that_a_person_added_meanwhile(
    case: str, place: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    here = world(case, place)
    texts = here.texts()
    mine = here.hooks(texts)
    assert here.installs("bridge"), capfd.readouterr().err
    now = here.texts()
    wanted = {}
    for name in changed(texts, now):
        commands = [hook for hook in mine.get(name, ()) if hook.handler.type == "command" and hook.enabled]
        if not commands:
            continue
        last = commands[-1]
        added = last._replace(handler=last.handler._replace(command="./added.sh"), name="")
        reading = pipeline.read({name: now[name]}, here.agent)
        text = edit.encode(reading, (*reading.decoded.manifest.hooks, added))[name]
        path = place / (f"home/{name[2:]}" if name.startswith("~/") else f"project/{name}")
        path.resolve().chmod(0o644)
        path.resolve().write_bytes(text)
        wanted[name] = without_ours(here.hooks({name: text})[name])
        assert len(wanted[name]) == len(mine[name]) + 1
    assert here.run("unsync", "--agent", here.agent.id, "--scope", here.scope) == 0, capfd.readouterr().err
    left = here.texts()
    assert here.hooks({name: left[name] for name in wanted}) == wanted
    # Amidst entries of ours on one line an edit cannot be told apart; then an empty list goes with them.
    for name in wanted if case != "cursor-odd-order" else ():
        assert_spliced(texts[name], left[name])
    assert {name: left.get(name) for name in texts if name not in wanted} == {
        name: text for name, text in texts.items() if name not in wanted
    }


def without_ours(hooks: Sequence[Hook]) -> list[Hook]:
    return [hook for hook in hooks if not is_ours(hook.handler.command)]


TOGETHER = {
    "project": [
        "augment-settings",
        "claude-code-unicode",
        "cline-other-events",
        "codex-json-tabs",
        "copilot-cli-settings",
        "cursor-crlf-four-spaces",
        "factory-droid-settings",
        "gemini-cli-comments-tabs-crlf-bom",
        "kiro-v1-beside",
        "mistral-vibe-project",
        "opencode-plugin-beside",
        "pi-extension-beside",
        "qwen-code-comments",
        "vs-code-copilot-own-file-taken",
        "windsurf-minified",
    ],
    "user": [
        "augment-user",
        "claude-code-user-plain",
        "cline-user",
        "codex-toml-user-crlf",
        "copilot-cli-user",
        "cursor-prompt-hook-user",
        "factory-droid-user",
        "gemini-cli-plain-user",
        "kimi-cli-both",
        "kiro-user",
        "mistral-vibe-user-crlf",
        "opencode-user",
        "pi-user",
        "qwen-code-user",
        "vs-code-copilot-user",
        "windsurf-user",
    ],
}


def add_the_rest(scope: str) -> None:
    """One case of each agent that has none above: the first one of the scope."""
    for name in AGENTS:
        cases = [case for case in GOOD if agent_of(case) == name and ("user" in case) == (scope == "user")]
        if not any(agent_of(case) == name for case in TOGETHER[scope]):
            TOGETHER[scope] += cases[:1]


for _scope in TOGETHER:
    add_the_rest(_scope)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("scope", TOGETHER)
def test_all_agents_at_once_are_taken_back_to_the_byte(
    scope: str, mode: str, place: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    first, *others = TOGETHER[scope]
    homely = {
        name for name in AGENTS if "project" not in {place.scope for place in agents.get(name).locations}
    }
    assert {*map(agent_of, (first, *others))} >= {*AGENTS} - (homely if scope == "project" else set())
    here = world(first, place)
    for case in others:
        shutil.copytree(CASES[case] / "before", place, symlinks=True, dirs_exist_ok=True)
    before = here.files()
    assert here.run("sync", "--scope", scope, "--mode", mode) in (0, 1), capfd.readouterr().err
    after = here.files()
    assert len(changed(before, after)) >= len(others)
    assert here.run("sync", "--scope", scope, "--mode", mode, "--check") in (0, 1), capfd.readouterr().err
    assert here.run("unsync", "--scope", scope) == 0, capfd.readouterr().err
    assert here.files() == before
    assert here.run("undo") == 0
    assert here.files() == after
    assert here.run("undo") == 0
    assert here.files() == before


WRITTEN = '{"hooks": {"Stop": [{"a": 1}, {"ours": 1}]}, "x": 1}'
HERS = '{"hooks": {"Stop": [{"a": 1}]}, "x": 1}'


@pytest.mark.parametrize(
    ("original", "written", "current", "expected"),
    [
        (HERS, WRITTEN, WRITTEN, HERS),
        (
            HERS,
            WRITTEN,
            WRITTEN.replace('"x": 1', '"x": 2, "y": []'),
            HERS.replace('"x": 1', '"x": 2, "y": []'),
        ),
        (HERS, WRITTEN, WRITTEN.replace('{"a": 1}', '{"a": 7}'), HERS.replace('{"a": 1}', '{"a": 7}')),
        (HERS, WRITTEN, WRITTEN.replace("1}]", '1}, {"b": 1}]'), HERS.replace("1}]", '1}, {"b": 1}]')),
        (HERS, WRITTEN, WRITTEN.replace("}, {", '}, {"b": 1}, {'), HERS.replace("}]", '}, {"b": 1}]')),
        (HERS, WRITTEN, WRITTEN.replace("ours", "now hers"), None),
        (HERS, WRITTEN, HERS, None),
        (HERS, WRITTEN, "", None),
        ("{}", '{\n  "hooks": 1\n}', '{\n\n  "hooks": 1\n}', "{\n}"),
        ("# to do", "# to do\n[[ours]]\nx = 1\n", "# do it\n[[ours]]\nx = 1\n", "# do it"),
        ("a = []\nb = 1\n", "a = [1]\nb = 1\n", "# new\na = [1]\nb = 2\n", "# new\na = []\nb = 2\n"),
        ("old\nx\n", "new\nx\n", "new\nx\ny\n", "old\nx\ny\n"),
    ],
)
def test_what_was_written_is_taken_out_of_a_text_that_was_edited_since(
    original: str, written: str, current: str, expected: str | None
) -> None:
    got = take_back(original.encode(), written.encode(), current.encode())
    assert got == (None if expected is None else expected.encode())


def test_a_huge_file_is_spliced_like_any_other(place: Path) -> None:
    """Two megabytes, by the program itself."""
    here = world("claude-code-plain", place)
    rules = ",\n".join(
        f'      "Bash(make target-{number:06} --with-a-long-option:*)"' for number in range(40_000)
    )
    path = place / "project/.claude/settings.json"
    text = path.read_text("utf-8").replace('"allow": [', f'"allow": [\n{rules},\n      ')
    path.write_text(text, "utf-8")
    assert path.stat().st_size > 2_000_000
    before = here.files()
    for mode in ("native", "bridge"):
        program([*SYNC, "--mode", mode], place / "project")
        after = path.read_text("utf-8")
        assert after != text
        assert rules in after
        program(["unsync"], place / "project")
        assert here.files() == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write any file")
def test_a_read_only_file_is_refused(place: Path, capfd: pytest.CaptureFixture[str]) -> None:
    here = world("claude-code-read-only", place)
    (place / "project/.claude/settings.json").chmod(0o444)
    before = here.files()
    assert here.sync("bridge") == 2
    assert "read-only" in capfd.readouterr().err
    assert here.files() == before


SYNC = ["sync", "--agent", "claude-code", "--scope", "project"]


@pytest.mark.parametrize(
    "case", ["claude-code-unicode", "gemini-cli-comments", "codex-toml-user", "cursor-plain"]
)
def test_the_program_does_the_same_from_a_folder_below(case: str, place: Path) -> None:
    here = world(case, place)
    below = place / "project/src/deep"
    below.mkdir(parents=True)
    before = here.files()
    words = ["--agent", here.agent.id]
    program(["sync", *words, "--scope", here.scope], below)
    after = here.files()
    assert after != before
    assert here.installs("auto")
    assert here.files() == after
    program(["unsync", *words, "--scope", here.scope], below)
    assert here.files() == before
    program(["sync", *words, "--scope", here.scope], below)
    assert here.files() == after
    program(["undo"], below)
    assert here.files() == before


def program(words: list[str], cwd: Path) -> str:
    done = forks.run(words, cwd, os.environ)
    assert done.returncode in (0, 1), done.stderr
    return done.stdout
