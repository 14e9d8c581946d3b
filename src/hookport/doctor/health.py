"""Whether a hook can work on this machine: its program exists, its script parses, and its model can be asked.

Nothing of a hook runs. A script's first line is read, programs are looked up, and an interpreter outside the
project makes a syntax check (`sh -n`, `node --check`), which executes nothing. Every command that reports on
hooks uses this module, so that all agree.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from hookport import findings as f
from hookport.base.paths import spell_path
from hookport.convert.checks.addresses import find_refusal
from hookport.convert.checks.scripts import (
    INTERPRETERS,
    OF_WINDOWS,
    WRAPPERS,
    find_named_script,
    split_first_command,
)
from hookport.doctor import needs, syntax
from hookport.doctor.commands import find_command_faults, make_surroundings
from hookport.findings import Finding, Kind
from hookport.model.hooks import NOTHING, Handler, Hook
from hookport.project.discovery import HookEntry
from hookport.project.disk import read_start
from hookport.runtime.handlers import PLATFORMS

BOM = b"\xef\xbb\xbf"
# Larger scripts are programs; wrong line ends show in their first lines.
LARGEST_SCRIPT = 1 << 20
ASKING = ("prompt", "agent")
# The command of a hook with commands for other systems only.
NOTHING_DONE = ("", ":")
LIBRARY = "pydantic_ai"
# The interpreters by extension; without a shebang line, a shell runs such a script.
RUN_BY = {".py": "python3", ".rb": "ruby", ".pl": "perl", ".php": "php"} | dict.fromkeys(
    (".js", ".mjs", ".cjs"), "node"
)
# Words that a shell runs itself.
BUILT_IN = frozenset(
    re.findall(
        r"\S+",
        """
        ! . : [ [[ { } alias break case cd command continue do done echo elif else esac eval exec exit export
        false fi for function if kill local printf pwd read readonly return select set shift source test then
        time times trap true type ulimit umask unalias unset until wait while
        """,
    )
)
# Findings about this machine only: another may have the program, the key or the library.
OF_MACHINE = (
    f.ProgramMissing.code,
    f.ModelNotSet.code,
    f.WordNotExpanded.code,
    f.NeedMissing.code,
    f.NoCommandHere.code,
)


class Fault(NamedTuple):
    """What prevents a hook from working, with the evidence; `script` is the file to repair."""

    finding: Finding
    evidence: str = ""
    script: str = ""


class Start(NamedTuple):
    """What a hook starts on this system: a command, its script, and the word that runs it.

    Without such a word the script starts directly. `dialect` is the dialect of the command's variables, empty
    if no POSIX shell reads it; `in_package`: its package's folder is set; `from_root`: it starts at the root.
    """

    handler: Handler
    command: str
    script: Path | None = None
    interpreter: str = ""
    dialect: str = ""
    in_package: bool = True
    from_root: bool = False


class Machine(NamedTuple):
    """Where a hook starts: the project root and the environment."""

    root: Path
    env: Mapping[str, str]

    def find_program(self, program: str) -> str:
        """The path of a program; empty if it is not on this machine."""
        return shutil.which(program, path=self.env.get("PATH", os.defpath)) or ""

    def name_of(self, path: Path) -> str:
        """Format a path for people: from the project root, or from their home."""
        return spell_path(str(path), str(self.root), self.env)


def find_faults(
    hook: HookEntry, machine: Machine, *, by_bridge: bool, in_package: bool = True, from_root: bool = True
) -> list[Fault]:
    """What prevents a hook from working; `by_bridge`: hookport runs it, not its own agent."""
    from_root = from_root and hook.scope == "project"
    scripts = [Path(path) for path in hook.scripts]
    start = find_start(hook.hook, scripts, in_package=in_package, from_root=from_root)
    faults = [
        *find_start_faults(start, machine),
        *(find_request_faults(start.handler, machine) if by_bridge else ()),
    ]
    return [_place_fault(fault, hook) for fault in faults]


def _place_fault(fault: Fault, hook: HookEntry) -> Fault:
    return fault._replace(finding=fault.finding._replace(file=hook.file, where=hook.place))


def find_start(hook: Hook, scripts: list[Path], *, in_package: bool = True, from_root: bool = False) -> Start:
    """What a hook starts on this system, among the scripts that its commands name."""
    handler = hook.handler
    command = handler.platform.get(PLATFORMS.get(sys.platform, "")) or handler.command
    script = find_named_script(command)
    name = script.word.rpartition("/")[2] if script else ""
    path = next((path for path in scripts if path.name == name), None)
    # A script that is a hook by its name and place has a command that only marks it.
    path = path or (scripts[0] if len(scripts) == 1 and not command else None)
    words = _drop_wrappers(split_first_command(command))
    is_direct = script is None or script.is_direct
    native_data = hook.provider_data.get(hook.dialect, NOTHING)
    is_shell = (
        handler.type == "command"
        and native_data.get("shell", "bash") in ("bash", "sh")
        and "args" not in native_data
    )
    return Start(
        handler,
        command,
        path,
        "" if is_direct or not words else words[0],
        hook.dialect if is_shell else "",
        in_package,
        from_root and not handler.cwd,
    )


def find_start_faults(start: Start, machine: Machine) -> Iterator[Fault]:
    """The errors of the command, the program and the script that a hook starts."""
    platform = start.handler.platform
    if (
        start.handler.type == "command"
        and platform
        and start.command in NOTHING_DONE
        and start.script is None
    ):
        system = PLATFORMS.get(sys.platform, sys.platform)
        yield Fault(f.NoCommandHere.at("", systems=", ".join(platform), system=system))
        return
    if start.dialect:
        root = machine.root if start.from_root else None
        where = make_surroundings(
            start.dialect, root, machine.env, more=start.handler.env, in_package=start.in_package
        )
        if broken := next(find_command_faults(start.command, where), None):
            yield Fault(broken, f"the command is {start.command}")
            return
    if missing := _find_missing_program(start.command, machine):
        yield Fault(f.ProgramMissing.at("", program=missing), f"the command is {start.command}")
        return
    script = start.script
    if script is None or os.name == "nt" or script.suffix.lower() in OF_WINDOWS or not script.is_file():
        return
    try:
        data = read_start(script, LARGEST_SCRIPT)
    except OSError:
        # A script that we may not read may still run for the agent.
        return
    if b"\0" not in data[:512]:
        yield from _find_script_faults(start, script, data, machine)


def _find_script_faults(start: Start, script: Path, data: bytes, machine: Machine) -> Iterator[Fault]:
    """The first error of a script: later errors depend on it."""
    name = machine.name_of(script)
    first = data.partition(b"\n")[0]
    shown = f"{name}:1: {first.rstrip().decode('utf-8', 'replace')[:160]}"
    is_direct = not start.interpreter
    shebang = split_shebang(first) if is_direct else []
    program = shebang[0] if shebang else start.interpreter or "sh"
    if is_direct and data.startswith(BOM + b"#!"):
        yield _make_fault(
            f.MarkBeforeShebang, shown, script, script_name=name, command=spell_mark_removal(name)
        )
    elif is_direct and first.startswith(b"#!") and first.endswith(b"\r"):
        what = (
            f"the system looks for '{shebang[-1] if shebang else ''}\\r' and reports the script as not found"
        )
        yield _make_line_end_fault(script, name, what, f"{shown}\\r")
    elif is_direct and _asks_for_one_name(first):
        words = " ".join(first.decode("utf-8", "replace").split()[1:])
        yield _make_fault(f.ShebangWords, shown, script, script_name=name, words=words)
    elif is_direct and not first.startswith(b"#!") and script.suffix in RUN_BY:
        why = "it has no shebang line, so a shell reads it"
        other = f"Start it with `#!/usr/bin/env {RUN_BY[script.suffix]}`."
        fault = _make_fault(f.ScriptSyntax, shown, script, script_name=name, why=why, command="")
        yield fault._replace(finding=fault.finding._replace(hint=other))
    elif shebang and not machine.find_program(program):
        yield _make_fault(f.ProgramMissing, shown, script, program=program)
    elif syntax.is_shell(program) and _has_windows_lines(data):
        yield _make_line_end_fault(
            script, name, "the shell reads each carriage return as part of a word", shown
        )
    else:
        path = machine.find_program(program)
        checked = syntax.check_syntax(program, script, path, str(machine.root), machine.env)
        if checked:
            yield _make_fault(
                f.ScriptSyntax, checked.evidence, script, script_name=name, why=checked.why,
                command=_spell_command((*checked.words, name)),
            )  # fmt: skip
        elif needs.is_empty(data):
            yield _make_fault(f.ScriptEmpty, shown, script, script_name=name)
        elif need := needs.find_need(
            needs.StartedScript(script, data, program, path),
            str(machine.root),
            machine.find_program,
            BUILT_IN,
        ):
            yield _make_fault(f.NeedMissing, shown, script, script_name=name, why=need.why, fix=need.fix)


def _make_fault(kind: type[Kind], evidence: str, script: Path, script_name: str = "", **words: str) -> Fault:
    return Fault(kind.at("", None, script=script_name, **words), evidence, str(script))


def _make_line_end_fault(script: Path, name: str, consequence: str, evidence: str) -> Fault:
    command = _spell_in_place_edit(r"s/\r$//", r"s/\r$//", name)
    return _make_fault(
        f.WindowsLineEnds, evidence, script, script_name=name, consequence=consequence, command=command
    )


def spell_mark_removal(name: str) -> str:
    """A command that removes the byte order mark of a file."""
    return _spell_in_place_edit(r"s/^\xef\xbb\xbf// if $. == 1", r"1s/^\xef\xbb\xbf//", name)


def _spell_in_place_edit(for_perl: str, for_sed: str, name: str) -> str:
    """A command that edits a file; the sed of macOS needs another word after -i."""
    words = ["perl", "-pi", "-e", for_perl] if sys.platform == "darwin" else ["sed", "-i", for_sed]
    return _spell_command([*words, name])


def _spell_command(words: Sequence[str]) -> str:
    """Words as a person types them; no shell expands a quoted `~`."""
    return " ".join(
        f"~/{shlex.quote(word[2:])}" if word.startswith("~/") else shlex.quote(word) for word in words
    )


def _has_windows_lines(data: bytes) -> bool:
    return data.count(b"\r\n") * 2 > data.count(b"\n")


def _asks_for_one_name(first: bytes) -> bool:
    """Whether `env` gets several words as one, as Linux passes them."""
    words = first.removeprefix(b"#!").split()
    return (
        sys.platform == "linux"
        and first.startswith(b"#!")
        and len(words) > 2
        and words[0].endswith(b"/env")
        and not words[1].startswith(b"-")
    )


def split_shebang(first: bytes) -> list[str]:
    """The program of a shebang line and its options; none for any other line."""
    words = first[2:].decode("utf-8", "replace").split() if first.startswith(b"#!") else []
    if words and words[0].rpartition("/")[2] == "env":
        words = [word.removeprefix("-S") for word in words[1:]]
        while words and (not words[0] or words[0].startswith("-") or "=" in words[0]):
            words = words[1:]
    return words


def _drop_wrappers(words: list[str]) -> list[str]:
    while words and (words[0].rpartition("/")[2] in WRAPPERS or re.match(r"\w+=", words[0])):
        words = words[1:]
    return words


def _find_missing_program(command: str, machine: Machine) -> str:
    """The program of a command, if it is not on this machine."""
    word = next(iter(_drop_wrappers(split_first_command(command))), "")
    is_program = re.fullmatch(r"\w[\w.+-]*", word) and word not in BUILT_IN
    is_interpreter = word.startswith("/") and INTERPRETERS.fullmatch(word.rpartition("/")[2])
    return word if (is_program or is_interpreter) and not machine.find_program(word) else ""


def find_request_faults(handler: Handler, machine: Machine) -> Iterator[Fault]:
    """What hookport lacks, or refuses, to call an address or a language model."""
    if handler.type == "http" and handler.url and (refused := find_refusal(handler.url)):
        yield Fault(refused)
    if handler.type in ASKING and (why := _find_missing_model(handler, machine.env)):
        yield Fault(f.ModelNotSet.at("", why=why[0], fix=why[1]))


def _find_missing_model(handler: Handler, env: Mapping[str, str]) -> tuple[str, str] | None:
    """What is missing for asking a model, and the fix."""
    from hookport.runtime.execute import llm

    service = llm._find_service(handler.model, env)  # noqa: SLF001  (the words of the runtime itself)
    if isinstance(service, str):
        why, _, fix = service.partition(". ")
        return why, fix or f"Set {llm.MODEL}."
    if find_spec(LIBRARY) is None:
        return "the library for it is not installed", 'Run `pip install "hookport[llm]"`.'
    return None
