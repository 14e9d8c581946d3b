"""Which hooks are found on disk, in what order, and what is said of those that are not."""

from __future__ import annotations

import errno
import json
import os
import socket
import subprocess
import threading
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from hookport.agents import get, list_dialects
from hookport.base import folders
from hookport.errors import InputError, UsageError
from hookport.findings import (
    DraftSpec,
    EntryCannotStart,
    EntryMissing,
    EntryNotExecutable,
    Finding,
    FolderPassedOver,
    HookOverridden,
    NameTaken,
    NoHookFile,
    PriorityRange,
    SeveralEntries,
    SourceBroken,
)
from hookport.model.hooks import Handler, Hook, Term
from hookport.project.discovery import Discovery, HookEntry, discover, find_project_root, load
from hookport.project.disk import HEAD, LARGEST, Log, is_folder, read_data
from hookport.project.places import list_sites
from hookport.shapes.dialect import list_locations

pytestmark = pytest.mark.skipif(os.name == "nt", reason="links, pipes and modes as POSIX has them")

SCRIPT = "#!/bin/sh\nexit 0\n"


class Disk:
    """A home and a repository, both empty at first."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.root = folder / "home" / "project"
        (self.root / ".git").mkdir(parents=True)
        self.env = {"HOME": str(self.home)}

    def write(self, path: str, text: str | bytes | dict[str, Any], *, mode: int = 0o644) -> Path:
        """A file of the project, or of the home if its path starts with `~/`."""
        above = self.home if path.startswith("~/") else self.root
        file = above / path.removeprefix("~/")
        file.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps(text) if isinstance(text, dict) else text
        file.write_bytes(text.encode() if isinstance(text, str) else text)
        file.chmod(mode)
        return file

    def hook(self, folder: str, name: str = "", script: str = "run.sh", meta: str = "") -> Path:
        """A HOOK.md folder with an executable script; the folder itself."""
        name = name or folder.rpartition("/")[2]
        head = f"---\nname: {name}\ndescription: d\ntrigger: before_tool\n{meta}---\n\n# {name}\n"
        file = self.write(f"{folder}/HOOK.md", head)
        if script:
            self.write(f"{folder}/scripts/{script}", SCRIPT, mode=0o755)
        return file.parent

    def found(self, cwd: Path | None = None) -> Discovery:
        return without_runs(discover(str(cwd or self.root), self.env))


def without_runs(found: Discovery) -> Discovery:
    """What was found, without what copies are known by: tests/test_copies.py has that."""
    return found._replace(hooks=tuple(one._replace(runs="") for one in found.hooks))


@pytest.fixture
def disk(tmp_path: Path) -> Disk:
    return Disk(tmp_path.resolve())


def in_folder(folder: Path, script: str = "run.sh", command: str = "", scope: Any = "project") -> HookEntry:
    """What a folder written by `Disk.hook` is found as."""
    path = f"{folder}/scripts/{script}"
    return HookEntry(
        hook=Hook(
            "before_tool_execute",
            Handler(command=command or path),
            blocking=True,
            name=folder.name,
            description="d",
            dialect="agent-hooks",
        ),
        file=f"{folder}/HOOK.md",
        place="frontmatter",
        package=str(folder),
        scope=scope,
        scripts=(path,),
    )


def broken(file: Path | str, message: str, line: int = 0, column: int = 0, where: str = "") -> Finding:
    finding = SourceBroken.at(where, message=message)
    return finding._replace(file=str(file), line=line, column=column)


def about(finding: Finding, folder: Path, line: int = 2, column: int = 1) -> Finding:
    return finding._replace(file=f"{folder}/HOOK.md", line=line, column=column)


def files(found: Discovery) -> list[str]:
    return [one.file for one in found.hooks]


def settings(command: str, event: str = "PreToolUse") -> dict[str, Any]:
    return {"hooks": {event: [{"matcher": "Bash", "hooks": [{"type": "command", "command": command}]}]}}


MANIFEST = (
    "spec: hooks/1.0\nhooks:\n  - event: session_start\n    handler: {type: command, command: ./a.sh}\n"
)


def test_a_folder_is_found_whole_and_its_places_are_watched(disk: Disk) -> None:
    meta = "matcher:\n  tool: Shell\n  pattern: 'rm -rf'\ntimeout: 5000\npriority: 999\n"
    folder = disk.hook(".agents/hooks/guard", meta=meta)
    found = in_folder(folder)
    hook = found.hook._replace(
        matcher=(Term("tool", "shell"),),
        content="rm -rf",
        priority=999,
        handler=found.hook.handler._replace(timeout=timedelta(seconds=5)),
    )
    seen = disk.found()
    assert seen._replace(watched=()) == Discovery(str(disk.root), (found._replace(hook=hook),), (), ())
    # Every place is watched, there or not: of a name with a star, the folder that it is in.
    places = [(site.scope, site.path.partition("/*")[0]) for site in list_sites()]
    starts = {"user": disk.home, "project": disk.root}
    wanted = {str(starts[scope] / path.removeprefix("~/")) for scope, path in places}
    assert wanted <= set(seen.watched)
    assert {f"{folder}/HOOK.md", f"{folder}/scripts"} <= set(seen.watched)


def test_a_file_of_each_dialect_is_found_with_its_package_and_scripts(disk: Disk) -> None:
    plain = disk.write(".hookport/hooks.yaml", MANIFEST)
    plugin = disk.write(".agents/plugins/p/hooks/hooks.json", settings("${PLUGIN_ROOT}/scripts/lint.sh"))
    pre = [{"hooks": [{"type": "command", "command": "bash ${PACKAGE_ROOT}/hooks/a.sh", "timeout": 2}]}]
    package = disk.write("hooks/hooks.json", {"version": 1, "hooks": {"pre-tool-use": pre}})
    own = disk.write(".claude/settings.json", settings("$CLAUDE_PROJECT_DIR/.claude/a.sh"))
    before: dict[str, Any] = {"event": "before_tool_execute", "blocking": True}
    shell = (Term("tool", "shell"),)

    def hook(command: str, dialect: str, timeout: int | None = None, **more: Any) -> Hook:
        wait = timedelta(seconds=timeout) if timeout else None
        return Hook(handler=Handler(command=command, timeout=wait), dialect=dialect, **more)

    root = str(disk.root)
    assert (disk.found().hooks, disk.found().findings) == (
        (
            HookEntry(
                hook("./a.sh", "canonical", event="session_start"),
                str(plain),
                "hooks[0]",
                root,
                "project",
                (f"{root}/a.sh",),
            ),
            HookEntry(
                hook("bash ${PACKAGE_ROOT}/hooks/a.sh", "universal", 2, **before),
                str(package),
                "hooks.pre-tool-use[0].hooks[0]",
                root,
                "project",
                (f"{root}/hooks/a.sh",),
            ),
            HookEntry(
                hook("${PLUGIN_ROOT}/scripts/lint.sh", "open-plugin", matcher=shell, **before),
                str(plugin),
                "hooks.PreToolUse[0].hooks[0]",
                f"{root}/.agents/plugins/p",
                "project",
                (f"{root}/.agents/plugins/p/scripts/lint.sh",),
            ),
            HookEntry(
                hook("$CLAUDE_PROJECT_DIR/.claude/a.sh", "claude-code", matcher=shell, **before),
                str(own),
                "hooks.PreToolUse[0].hooks[0]",
                root,
                "project",
                (f"{root}/.claude/a.sh",),
            ),
        ),
        (),
    )
    assert [one.runs for one in discover(root, disk.env).hooks] == [
        "command  a.sh",
        "command  hooks/a.sh",
        "command  .agents/plugins/p/scripts/lint.sh",
        "command  .claude/a.sh",
    ]


def test_every_place_is_read_the_users_first(disk: Disk) -> None:
    for path in (
        ".agents/hooks/b",
        ".agents/hooks/a",
        "~/.config/agents/hooks/z",
        "~/.config/agents/hooks/y",
    ):
        disk.hook(path)
    for path in (
        "hooks/hooks.json",
        ".agents/plugins/q/hooks/hooks.json",
        ".agents/plugins/p/hooks/hooks.json",
        "~/.agents/plugins/r/hooks/hooks.json",
        "~/.config/agents/plugins/s/hooks/hooks.json",
        ".claude/settings.json",
        ".claude/settings.local.json",
        "~/.claude/settings.json",
    ):
        disk.write(path, settings("true"))
    for ending in ("yml", "yaml", "json"):
        text = MANIFEST if ending != "json" else json.dumps({"spec": "hooks/1.0", "hooks": [SESSION]})
        disk.write(f".hookport/hooks.{ending}", text)
        disk.write(f"~/.config/hookport/hooks.{ending}", text)
    found = disk.found()
    home, root = disk.home, disk.root
    user = [
        f"{home}/.config/agents/hooks/y/HOOK.md",
        f"{home}/.config/agents/hooks/z/HOOK.md",
        f"{home}/.config/hookport/hooks.json",
        f"{home}/.config/hookport/hooks.yaml",
        f"{home}/.config/hookport/hooks.yml",
        f"{home}/.agents/plugins/r/hooks/hooks.json",
        f"{home}/.config/agents/plugins/s/hooks/hooks.json",
        f"{home}/.claude/settings.json",
    ]
    project = [
        f"{root}/.agents/hooks/a/HOOK.md",
        f"{root}/.agents/hooks/b/HOOK.md",
        f"{root}/.hookport/hooks.json",
        f"{root}/.hookport/hooks.yaml",
        f"{root}/.hookport/hooks.yml",
        f"{root}/hooks/hooks.json",
        f"{root}/.agents/plugins/p/hooks/hooks.json",
        f"{root}/.agents/plugins/q/hooks/hooks.json",
        f"{root}/.claude/settings.json",
        f"{root}/.claude/settings.local.json",
    ]
    assert files(found) == user + project
    assert [one.scope for one in found.hooks] == ["user"] * len(user) + ["project"] * len(project)
    assert found.findings == ()
    packages = {one.file: one.package for one in found.hooks}
    assert packages[user[2]] == f"{home}/.config/hookport"
    assert packages[user[5]] == f"{home}/.agents/plugins/r"
    assert packages[project[5]] == str(root)


SESSION = {"event": "session_start", "handler": {"type": "command", "command": "./a.sh"}}


def test_places_have_sources_and_a_dialect_that_runs_there() -> None:
    rows = [(get(name), place) for name in list_dialects() for place in list_locations(get(name), "run")]
    assert [place for dialect, place in rows if place.source not in dialect.sources] == []
    assert {place.scope for _, place in rows} == {"project", "user"}
    assert [place for _, place in rows if (place.scope == "user") != place.path.startswith("~/")] == []
    assert [place for _, place in rows if "*" in place.path.replace("/*/", "", 1)] == []


def test_the_xdg_folder_takes_the_place_of_config(disk: Disk) -> None:
    disk.hook("~/.config/agents/hooks/unused")
    folder = disk.hook("~/xdg/agents/hooks/used")
    disk.env["XDG_CONFIG_HOME"] = f"{disk.home}/xdg"
    assert disk.found().hooks == (in_folder(folder, scope="user"),)
    disk.env["XDG_CONFIG_HOME"] = "relative"
    assert files(disk.found()) == [f"{disk.home}/.config/agents/hooks/unused/HOOK.md"]


def test_the_project_overrides_the_user_by_name_and_says_so(disk: Disk) -> None:
    user = disk.hook("~/.config/agents/hooks/one", "guard")
    other = disk.hook("~/.config/agents/hooks/two")
    project = disk.hook(".agents/hooks/three", "guard")
    found = disk.found()
    assert files(found) == [f"{other}/HOOK.md", f"{project}/HOOK.md"]
    told = HookOverridden.at("", what="hook", name="guard", other=f"{project}/HOOK.md")
    assert found.findings == (told._replace(file=f"{user}/HOOK.md"),)
    assert f"{user}/HOOK.md" in found.watched


def test_a_plugin_of_the_project_overrides_that_of_the_user(disk: Disk) -> None:
    user = disk.write("~/.agents/plugins/p/hooks/hooks.json", settings("true"))
    project = disk.write(".agents/plugins/p/hooks/hooks.json", settings("false"))
    found = disk.found()
    told = HookOverridden.at("", what="plugin", name="p", other=project)
    assert (files(found), found.findings) == ([str(project)], (told._replace(file=str(user)),))


@pytest.mark.parametrize("wrong", ["no script", "broken"])
def test_what_does_not_run_overrides_nothing(disk: Disk, wrong: str) -> None:
    user = disk.hook("~/.config/agents/hooks/guard")
    if wrong == "broken":
        disk.write(".agents/hooks/guard/HOOK.md", "---\nname: guard\n---\n")
    else:
        disk.hook(".agents/hooks/guard", script="")
    found = disk.found()
    assert found.hooks == (in_folder(user, scope="user"),)
    assert {one.severity for one in found.findings} == {"error"}


def test_two_of_one_name_on_one_level_both_run(disk: Disk) -> None:
    one = disk.hook(".agents/hooks/a", "guard")
    two = disk.hook(".agents/hooks/b", "guard")
    found = disk.found()
    assert files(found) == [f"{one}/HOOK.md", f"{two}/HOOK.md"]
    told = NameTaken.at("", what="hook", name="guard", other=f"{one}/HOOK.md")
    assert found.findings == (told._replace(file=f"{two}/HOOK.md"),)


@pytest.mark.parametrize(
    ("scripts", "chosen", "listed"),
    [
        (("run",), "run", ""),
        (("run.rb",), "run.rb", ""),
        (("run", "run.sh", "run.py"), "run", "run, run.sh, run.py"),
        (("run.sh", "run.py"), "run.sh", "run.sh, run.py"),
        (("run.rb", "run.py"), "run.py", "run.py, run.rb"),
        (("run.rb", "run.js"), "run.js", "run.js, run.rb"),
        (("run.sh", "runner.sh", "prerun.sh", "run-all.sh"), "run.sh", ""),
    ],
)
def test_the_script_of_a_folder(disk: Disk, scripts: tuple[str, ...], chosen: str, listed: str) -> None:
    folder = disk.hook(".agents/hooks/guard", script="")
    for script in scripts:
        disk.write(f".agents/hooks/guard/scripts/{script}", SCRIPT, mode=0o755)
    found = disk.found()
    assert found.hooks == (in_folder(folder, chosen),)
    several = about(SeveralEntries.at("", scripts=listed, chosen=chosen), folder)
    assert found.findings == ((several,) if listed else ())


@pytest.mark.parametrize("there", ["", "other.sh", "run.sh/inside", "link"])
def test_a_folder_without_a_script_does_not_run(disk: Disk, there: str) -> None:
    folder = disk.hook(".agents/hooks/guard", script="")
    if there == "link":
        (folder / "scripts").mkdir()
        (folder / "scripts/run.sh").symlink_to("nowhere")
    elif there:
        disk.write(f".agents/hooks/guard/scripts/{there}", SCRIPT, mode=0o755)
    found = disk.found()
    missing = EntryMissing.at("", name="guard", folder=f"{folder}/scripts")
    assert (found.hooks, found.findings) == ((), (about(missing, folder),))
    assert f"{folder}/scripts" in found.watched


@pytest.mark.parametrize(
    ("script", "text", "interpreter"),
    [
        ("run.sh", "exit 0", "sh"),
        ("run.py", "", "python3"),
        ("run.js", "", "node"),
        ("run", "#!/usr/bin/env python3\n", "/usr/bin/env python3"),
        ("run.sh", "#!/bin/bash -e\n", "/bin/bash -e"),
        ("run.sh", "#!\n", "sh"),
    ],
)
def test_a_script_that_is_not_executable_runs_all_the_same(
    disk: Disk, script: str, text: str, interpreter: str
) -> None:
    folder = disk.hook(".agents/hooks/guard", script="")
    path = disk.write(f".agents/hooks/guard/scripts/{script}", text)
    found = disk.found()
    assert found.hooks == (in_folder(folder, script, f"{interpreter} {path}"),)
    told = EntryNotExecutable.at("", script=path, interpreter=interpreter)
    assert found.findings == (about(told, folder),)
    assert str(path) in found.watched


def test_a_script_that_nothing_runs_is_kept_to_fail(disk: Disk) -> None:
    folder = disk.hook(".agents/hooks/guard", script="")
    path = disk.write(".agents/hooks/guard/scripts/run", "exit 2\n")
    found = disk.found()
    assert found.hooks == (in_folder(folder, "run"),)
    assert found.findings == (about(EntryCannotStart.at("", script=path), folder),)


def test_a_script_that_can_start_comes_before_one_that_cannot(disk: Disk) -> None:
    folder = disk.hook(".agents/hooks/guard", script="run.rb")
    disk.write(".agents/hooks/guard/scripts/run", "exit 2\n")
    found = disk.found()
    assert (found.hooks, found.findings) == ((in_folder(folder, "run.rb"),), ())


def test_the_command_of_a_path_with_a_blank_is_quoted_and_runs(tmp_path: Path) -> None:
    disk = Disk(tmp_path.resolve() / "a b'c")
    folder = disk.hook(".agents/hooks/guard", script="")
    disk.write(".agents/hooks/guard/scripts/run.sh", "echo ran\n")
    (found,) = disk.found().hooks
    done = subprocess.run(found.hook.handler.command, shell=True, capture_output=True, text=True, check=True)
    assert (done.stdout, found.scripts) == ("ran\n", (f"{folder}/scripts/run.sh",))


def test_a_folder_without_its_file_is_told(disk: Disk) -> None:
    disk.write(".agents/hooks/guard/hook.txt", "")
    disk.write(".agents/hooks/.cache/x", "")
    disk.write(".agents/hooks/README.md", "# Hooks")
    disk.write(".agents/plugins/without-hooks/README.md", "")
    found = disk.found()
    told = NoHookFile.at("")._replace(file=f"{disk.root}/.agents/hooks/guard")
    assert (found.hooks, found.findings) == ((), (told,))
    assert f"{disk.root}/.agents/hooks/guard/HOOK.md" in found.watched


def test_a_broken_file_costs_only_its_own_hooks(disk: Disk) -> None:
    good = disk.hook(".agents/hooks/good")
    bad = {
        "yaml": b"---\nname: [\n---\n",
        "fence": b"---\nname: x\n",
        "none": b"# no frontmatter\n",
        "field": b"---\nname: x\ndescription: d\ntrigger:\n  - before_tool\n---\n",
        "bytes": b"---\nname: \xff\xfe\ndescription: d\n---\n",
        "empty": b"",
    }
    for name, text in bad.items():
        disk.write(f".agents/hooks/bad-{name}/HOOK.md", text)
    manifest = disk.write(".hookport/hooks.json", '{"spec": "hooks/1.0",\n "hooks": [}')
    plugin = disk.write(".agents/plugins/p/hooks/hooks.json", '{\n"hooks": []}')
    own = disk.write(".claude/settings.json", "{,}")
    found = disk.found()
    assert found.hooks == (in_folder(good),)
    lines = {
        "bytes": (2, 7),
        "empty": (1, 1),
        "fence": (1, 1),
        "field": (5, 3),
        "none": (1, 1),
        "yaml": (3, 1),
    }
    places = [
        *((f"{disk.root}/.agents/hooks/bad-{name}/HOOK.md", *lines[name]) for name in sorted(bad)),
        (str(manifest), 2, 12),
        (str(plugin), 2, 10),
        (str(own), 1, 2),
    ]
    assert [(one.file, one.line, one.column) for one in found.findings] == places
    assert {(one.code, one.severity) for one in found.findings} == {("HP701", "error")}


def test_what_is_no_file_is_neither_opened_nor_fatal(disk: Disk) -> None:
    hooks = disk.root / ".agents/hooks"
    good = disk.hook(".agents/hooks/z-good")
    for name in ("device", "fifo", "folder", "huge", "link", "loop", "socket"):
        (hooks / name).mkdir()
    (hooks / "device/HOOK.md").symlink_to("/dev/zero")
    os.mkfifo(hooks / "fifo/HOOK.md")
    (hooks / "folder/HOOK.md").mkdir()
    with (hooks / "huge/HOOK.md").open("wb") as file:
        file.truncate(LARGEST + 1)
    (hooks / "link/HOOK.md").symlink_to("nowhere")
    (hooks / "loop/HOOK.md").symlink_to("HOOK.md")
    os.mkfifo(hooks / "z-good/scripts/run")
    with socket.socket(socket.AF_UNIX) as bound:
        here = Path.cwd()
        os.chdir(hooks / "socket")
        try:
            bound.bind("HOOK.md")
        finally:
            os.chdir(here)
    (hooks / "a-link").symlink_to("nowhere")
    (hooks / "b-loop").symlink_to("b-loop")
    special = "is a pipe, a socket or a device, not a file"
    loop = f"cannot be read: {os.strerror(errno.ELOOP)}"
    found = disk.found()
    assert found.hooks == (in_folder(good),)
    assert found.findings == (
        broken(hooks / "a-link", "is a broken link"),
        broken(hooks / "b-loop", loop),
        broken(hooks / "device/HOOK.md", special),
        broken(hooks / "fifo/HOOK.md", special),
        broken(hooks / "folder/HOOK.md", "is a folder, not a file"),
        broken(hooks / "huge/HOOK.md", "is larger than 5 MB, so it was not read"),
        broken(hooks / "link/HOOK.md", "is a broken link"),
        broken(hooks / "loop/HOOK.md", loop),
        broken(hooks / "socket/HOOK.md", special),
    )


def test_other_files_that_are_none_are_told_too(disk: Disk) -> None:
    (disk.root / ".hookport").mkdir()
    os.mkfifo(disk.root / ".hookport/hooks.json")
    (disk.root / ".claude/settings.json").mkdir(parents=True)
    disk.write(".agents/hooks", "a file")
    disk.write("hooks", "another")
    assert disk.found().findings == (
        broken(disk.root / ".agents/hooks", "is not a folder"),
        broken(disk.root / ".hookport/hooks.json", "is a pipe, a socket or a device, not a file"),
        broken(disk.root / ".claude/settings.json", "is a folder, not a file"),
    )


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_what_may_not_be_read_is_told(disk: Disk) -> None:
    good = disk.hook("~/.config/agents/hooks/good")
    hidden = disk.hook(".agents/hooks/hidden")
    denied = f"cannot be read: {os.strerror(errno.EACCES)}"
    (hidden / "HOOK.md").chmod(0)
    assert disk.found().findings == (broken(hidden / "HOOK.md", denied),)
    hidden.parent.chmod(0)
    try:
        found = disk.found()
    finally:
        hidden.parent.chmod(0o755)
    assert found.hooks == (in_folder(good, scope="user"),)
    assert found.findings == (broken(hidden.parent, denied),)


def test_the_body_is_not_read(disk: Disk) -> None:
    folder = disk.hook(".agents/hooks/guard")
    head = (folder / "HOOK.md").read_bytes()
    (folder / "HOOK.md").write_bytes(head + b"\xff\xfe \x00" + b"x" * HEAD)
    assert disk.found().hooks == (in_folder(folder),)


def test_a_frontmatter_ends_within_the_part_that_is_read(disk: Disk) -> None:
    file = disk.write(".agents/hooks/guard/HOOK.md", "---\nname: " + "x" * HEAD + "\n---\n")
    wanted = broken(file, "the frontmatter does not end in its first 64 KiB", 1, 1)
    assert disk.found().findings == (wanted,)


@pytest.mark.parametrize("text", ["---\r\n{}---\r\nbody ---\r\n", "\ufeff---\n{}---", "--- \n{}---\t\n---\n"])
def test_fences_of_other_spellings(disk: Disk, text: str) -> None:
    folder = disk.hook(".agents/hooks/guard")
    (folder / "HOOK.md").write_text(
        text.format("name: guard\ndescription: d\ntrigger: before_tool\n"), "utf-8"
    )
    assert disk.found() == disk.found()._replace(hooks=(in_folder(folder),), findings=())


def test_what_a_dialect_notices_is_told_at_its_line(disk: Disk) -> None:
    folder = disk.hook(".agents/hooks/guard", meta="priority: 5000\n")
    manifest = disk.write(".hookport/hooks.yaml", MANIFEST.replace("1.0", "0.1"))
    ranged = PriorityRange.at("priority", field="priority", value=5000, lowest=0, highest=1000)
    draft = DraftSpec.at("spec", spec="hooks/1.0", found="hooks/0.1")
    found = disk.found()
    assert found.findings == (
        about(ranged, folder, 5, 11),
        draft._replace(file=str(manifest), line=1, column=7),
    )
    assert len(found.hooks) == 2


@pytest.mark.parametrize(
    ("text", "dialect"),
    [
        (settings("${PLUGIN_ROOT}/a.sh"), "open-plugin"),
        (settings("${CLAUDE_PLUGIN_ROOT}/a.sh"), "claude-code"),
        (settings("true"), "claude-code"),
        (settings("true", "BeforeShellExecution"), "open-plugin"),
        (settings("true", "Notification"), "claude-code"),
        ({"version": 1, **settings("true", "pre-tool-use")}, "universal"),
        ({"version": 1, **settings("true")}, "claude-code"),
    ],
)
def test_the_dialect_of_a_plugin_is_known_by_its_words(
    disk: Disk, text: dict[str, Any], dialect: str
) -> None:
    disk.write(".agents/plugins/p/hooks/hooks.json", text)
    assert [one.hook.dialect for one in disk.found().hooks] == [dialect]


def test_a_field_that_only_one_dialect_has_tells_it_too(disk: Disk) -> None:
    action = {"type": "command", "command": "true", "timeout": 5}
    disk.write("hooks/hooks.json", {"hooks": {"PreToolUse": [{"hooks": [action]}]}})
    assert [one.hook.dialect for one in disk.found().hooks] == ["claude-code"]


def test_a_version_that_is_not_known_is_an_error_and_no_unknown_event(disk: Disk) -> None:
    file = disk.write("hooks/hooks.json", {"version": 2, **settings("true", "pre-tool-use")})
    found = disk.found()
    wanted = broken(file, "must be 1, not 2; no other version is known", 1, 13, "version")
    assert (found.hooks, found.findings) == ((), (wanted,))


@pytest.mark.parametrize(
    ("command", "script"),
    [
        ("./check.sh --all", "{root}/check.sh"),
        ("python3 tools/check.py", "{root}/tools/check.py"),
        ("~/bin/check", "{home}/bin/check"),
        ('"$HOME/bin/check" x', "{home}/bin/check"),
        ("/opt/check.sh", "/opt/check.sh"),
        ("$SOMEWHERE/check.sh", ""),
        ("jq .", ""),
    ],
)
def test_the_scripts_that_commands_name(disk: Disk, command: str, script: str) -> None:
    disk.write(".claude/settings.json", settings(command))
    (found,) = disk.found().hooks
    wanted = script.format(root=disk.root, home=disk.home)
    assert found.scripts == ((wanted,) if wanted else ())


def test_scripts_start_where_the_manifest_says(disk: Disk) -> None:
    handler = {"type": "command", "command": "./a.sh", "platform": {"linux": "./b.sh"}, "cwd": "tools"}
    disk.write(
        ".hookport/hooks.json",
        {"spec": "hooks/1.0", "hooks": [{"event": "session_start", "handler": handler}]},
    )
    (found,) = disk.found().hooks
    assert found.scripts == (f"{disk.root}/tools/a.sh", f"{disk.root}/tools/b.sh")


def test_the_root_is_found_from_below(disk: Disk) -> None:
    below = disk.root / "src/deep"
    below.mkdir(parents=True)
    assert find_project_root(str(below), disk.env) == str(disk.root)
    link = disk.home / "link"
    link.symlink_to(below)
    assert find_project_root(str(link), disk.env) == str(disk.root)
    assert disk.found(below) == disk.found()


def test_a_worktree_is_a_root_of_its_own(disk: Disk) -> None:
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"]
    subprocess.run([*git, "init", "-q", disk.root], check=True)
    subprocess.run([*git, "-C", disk.root, "commit", "-q", "--allow-empty", "-m", "x"], check=True)
    tree = disk.home / "tree"
    subprocess.run([*git, "-C", disk.root, "worktree", "add", "-q", tree], check=True)
    assert (tree / ".git").is_file()
    (tree / "src").mkdir()
    assert find_project_root(str(tree / "src"), disk.env) == str(tree)


@pytest.mark.parametrize(
    "mark",
    [
        ".agents/hooks/",
        ".agents/plugins/",
        ".hookport/hooks.yml",
        "hooks/hooks.json",
        ".claude/settings.json",
    ],
)
def test_without_a_repository_the_nearest_hooks_are_the_root(disk: Disk, mark: str) -> None:
    (disk.root / ".git").rmdir()
    below = disk.root / "src"
    below.mkdir()
    assert find_project_root(str(below), disk.env) == str(below)
    if mark.endswith("/"):
        (disk.root / mark).mkdir(parents=True)
    else:
        disk.write(mark, "{}")
    assert find_project_root(str(below), disk.env) == str(disk.root)


def test_hooks_below_the_root_of_a_repository_are_passed_over_with_a_word(disk: Disk) -> None:
    root = disk.hook(".agents/hooks/guard")
    disk.hook("part/.agents/hooks/other")
    disk.write("part/.claude/settings.json", settings("true"))
    disk.write("part/.gemini/settings.json", '{"ui": {}}')
    part = disk.root / "part"
    found = disk.found(part)
    told = FolderPassedOver.at("", places=".agents/hooks, .claude/settings.json", root=disk.root)
    assert (found.root, found.hooks, found.findings) == (
        str(disk.root),
        (in_folder(root),),
        (told._replace(file=str(part)),),
    )


def test_a_home_is_a_project_only_for_itself(disk: Disk, monkeypatch: pytest.MonkeyPatch) -> None:
    # A repository is a home only where the password file says so.
    monkeypatch.setattr(folders, "find_real_home", lambda: str(disk.home))
    (disk.root / ".git").rmdir()
    (disk.home / ".git").mkdir()
    folder = disk.hook("~/.agents/hooks/guard")
    disk.write("~/.claude/settings.json", settings("true"))
    disk.write("~/.agents/plugins/p/hooks/hooks.json", settings("true"))
    assert find_project_root(str(disk.root), disk.env) == str(disk.root)
    assert find_project_root(str(disk.home), disk.env) == str(disk.home)
    found = disk.found(disk.home)
    assert [(one.file, one.scope) for one in found.hooks] == [
        (f"{disk.home}/.agents/plugins/p/hooks/hooks.json", "user"),
        (f"{disk.home}/.claude/settings.json", "user"),
        (f"{folder}/HOOK.md", "project"),
    ]
    assert found.findings == ()


def test_a_link_to_a_folder_that_is_found_anyway_runs_once(disk: Disk) -> None:
    folder = disk.hook(".agents/hooks/a")
    (disk.root / ".agents/hooks/b").symlink_to("a")
    found = disk.found()
    assert (found.hooks, found.findings) == ((in_folder(folder),), ())


def test_a_linked_folder_elsewhere_is_found(disk: Disk) -> None:
    disk.hook("~/shared/guard")
    (disk.root / ".agents/hooks").mkdir(parents=True)
    link = disk.root / ".agents/hooks/guard"
    link.symlink_to(disk.home / "shared/guard")
    assert disk.found().hooks == (in_folder(link),)


def test_everything_that_was_looked_at_is_watched_once(disk: Disk) -> None:
    folder = disk.hook(".agents/hooks/guard")
    disk.write(".agents/plugins/p/README.md", "")
    watched = disk.found().watched
    assert len(set(watched)) == len(watched)
    assert {
        f"{folder}/HOOK.md",
        f"{folder}/scripts",
        f"{disk.root}/.agents/plugins/p/hooks/hooks.json",
    } <= set(watched)


def test_a_thousand_folders_are_all_found(disk: Disk) -> None:
    folders = [disk.hook(f".agents/hooks/hook-{number:04}") for number in range(1000)]
    found = disk.found()
    assert (found.hooks, found.findings) == (tuple(map(in_folder, folders)), ())


def test_a_source_that_was_named_is_loaded(disk: Disk) -> None:
    folder = disk.hook("elsewhere/guard")
    own = disk.write(".claude/settings.json", settings("./a.sh"))
    for path in (folder, folder / "HOOK.md", folder.parent):
        found = without_runs(load(str(path), None, disk.env))
        assert (found.root, found.hooks, found.findings) == (str(disk.root), (in_folder(folder),), ())
        assert {str(path), f"{folder}/HOOK.md", f"{folder}/scripts"} == set(found.watched)
    for source, dialect in ((own, None), (own, "claude-code"), (disk.root, "claude-code")):
        found = without_runs(load(str(source), dialect, disk.env))
        assert files(found) == [str(own)]
        (one,) = found.hooks
        assert (one.place, one.package, one.scripts) == (
            "hooks.PreToolUse[0].hooks[0]",
            str(disk.root),
            (f"{disk.root}/a.sh",),
        )


def test_a_package_that_was_named_is_loaded(disk: Disk) -> None:
    file = disk.write("~/pkg/hooks/hooks.json", settings("${PLUGIN_ROOT}/x.sh"))
    for path in (file, disk.home / "pkg"):
        (one,) = load(str(path), None, disk.env).hooks
        assert (one.file, one.package, one.scripts) == (
            str(file),
            f"{disk.home}/pkg",
            (f"{disk.home}/pkg/x.sh",),
        )


def test_the_manifest_of_a_project_that_was_named_is_loaded(disk: Disk) -> None:
    hook = {"event": "session_start", "handler": {"type": "command", "command": "./x.sh"}}
    file = disk.write(".hookport/hooks.json", {"spec": "hooks/1.0", "hooks": [hook]})
    for path in (file, disk.root, file.parent):
        (one,) = load(str(path), None, disk.env).hooks
        assert (one.file, one.package, one.scripts) == (str(file), str(disk.root), (f"{disk.root}/x.sh",))


def test_a_plugin_of_a_project_that_is_named_is_its_own_package(disk: Disk) -> None:
    command = {"type": "command", "command": "${PLUGIN_ROOT}/scripts/check.sh"}
    tree = {"hooks": {"BeforeShellExecution": [{"hooks": [command]}]}}
    file = disk.write(".agents/plugins/checks/hooks/hooks.json", tree)
    script = disk.write(".agents/plugins/checks/scripts/check.sh", SCRIPT, mode=0o755)
    for path in (file, file.parent, disk.root):
        found = without_runs(load(str(path), None, disk.env))
        packages = [(one.package, one.scripts) for one in found.hooks]
        assert (found.root, packages) == (
            str(disk.root),
            [(str(disk.root / ".agents/plugins/checks"), (str(script),))],
        )


def test_a_source_of_an_agent_is_loaded(disk: Disk) -> None:
    shell = {"version": 1, "hooks": {"beforeShellExecution": [{"command": "./guard.sh"}]}}
    file = disk.write(".cursor/hooks.json", shell)
    (one,) = load(str(file), None, disk.env).hooks
    assert (one.hook.dialect, one.package) == ("cursor", str(disk.root))


def test_a_broken_file_of_a_named_source_costs_only_itself(disk: Disk) -> None:
    good = disk.hook(".agents/hooks/good")
    bad = disk.write(".agents/hooks/bad/HOOK.md", "---\nname: x\n---\n")
    settings_file = disk.write(".claude/settings.local.json", "{")
    disk.write(".claude/settings.json", settings("true"))
    found = without_runs(load(str(disk.root / ".agents"), "agent-hooks", disk.env))
    assert found.hooks == (in_folder(good),)
    assert [(one.code, one.file) for one in found.findings] == [("HP701", str(bad))]
    found = without_runs(load(str(disk.root), "claude-code", disk.env))
    assert files(found) == [f"{disk.root}/.claude/settings.json"]
    assert [(one.code, one.file, one.line) for one in found.findings] == [("HP701", str(settings_file), 1)]


def test_a_source_that_is_not_there_is_refused(disk: Disk) -> None:
    with pytest.raises(InputError, match="does not exist"):
        load(str(disk.root / "nothing"), None, disk.env)
    with pytest.raises(UsageError, match="unknown dialect 'claud'"):
        load(str(disk.root), "claud", disk.env)
    disk.write("some/file.txt", "")
    with pytest.raises(InputError, match="no hooks of any dialect"):
        load(str(disk.root / "some"), None, disk.env)
    (disk.root / "odd").mkdir()
    os.mkfifo(disk.root / "odd/HOOK.md")
    with pytest.raises(InputError, match="is a pipe, a socket or a device"):
        load(str(disk.root / "odd"), None, disk.env)


def test_hooks_in_the_entries_of_a_marketplace_start_in_their_plugins(disk: Disk) -> None:
    command = "${CLAUDE_PLUGIN_ROOT}/check.sh"
    events = {"Stop": [{"hooks": [{"type": "command", "command": command}]}]}
    plugins = [
        {"name": "a", "source": "./tools/a", "hooks": events},
        {"name": "b", "source": "b", "hooks": {"hooks": events}},
        {"name": "c", "source": "./", "hooks": [events, "./own.json"]},
        {"name": "d", "source": {"source": "github", "repo": "us/d"}, "hooks": events},
        {"name": "e", "source": "./e", "hooks": "./gone.json"},
        {"name": "f", "source": "./f", "hooks": 1},
    ]
    catalogue = disk.write(
        ".claude-plugin/marketplace.json", {"metadata": {"pluginRoot": "./plugins"}, "plugins": plugins}
    )
    own = disk.write("own.json", {"hooks": events})
    shared = disk.write(".agents/plugins/marketplace.json", {"plugins": plugins[:1]})
    found = disk.found()
    assert [(one.file, one.place, one.package, one.scripts) for one in found.hooks] == [
        (str(file), place, str(package), (str(package / "check.sh"),))
        for file, place, package in (
            (catalogue, "plugins[0].hooks.Stop[0].hooks[0]", disk.root / "tools/a"),
            (catalogue, "plugins[1].hooks.hooks.Stop[0].hooks[0]", disk.root / "plugins/b"),
            (own, "hooks.Stop[0].hooks[0]", disk.root),
            (catalogue, "plugins[2].hooks[0].Stop[0].hooks[0]", disk.root),
        )
    ]
    elsewhere = "has hooks of a plugin that is elsewhere, so they are not read"
    nowhere = "names './gone.json', which is not a file of the plugin"
    neither = "must be an object or the name of a file, so it is not read"
    nobody = "has hooks in the entry of a plugin, where no agent reads them"
    assert list(found.findings) == [
        broken(catalogue, elsewhere, where="plugins[3].hooks"),
        broken(catalogue, nowhere, where="plugins[4].hooks"),
        broken(catalogue, neither, where="plugins[5].hooks"),
        broken(shared, nobody, where="plugins[0].hooks"),
    ]


def test_a_file_that_comes_and_goes_is_there_or_not(tmp_path: Path) -> None:
    file, done = tmp_path / "hooks.json", threading.Event()

    def write() -> None:
        while not done.is_set():
            file.write_bytes(b"{}")
            file.unlink()

    log = Log([], {})
    writer = threading.Thread(target=write)
    writer.start()
    try:
        read = {read_data(file) for _ in range(20_000)}
        assert not any(is_folder(file, log) for _ in range(20_000))
    finally:
        done.set()
        writer.join()
    assert read <= {None, b"", b"{}"}
    assert log.findings == []


def test_a_command_that_starts_in_the_folder_of_its_file_is_run_there(tmp_path: Path) -> None:
    """Antigravity starts commands in the folder of hooks.json, so that is where the bridge starts them."""
    file = tmp_path / "project" / ".agents" / "hooks.json"
    file.parent.mkdir(parents=True)
    file.write_text('{"checks": {"Stop": [{"command": "./check.sh"}]}}', "utf-8")
    found = discover(str(tmp_path / "project"), {"HOME": str(tmp_path)})
    assert [entry.package for entry in found.hooks] == [str(file.parent)]
