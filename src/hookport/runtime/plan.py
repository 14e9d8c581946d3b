"""The compiled plan: one file that holds all a dispatch reads, of which it parses only the lines it needs.

The first line is the header (what the plan was made from, and where the lines start that matter for an event
and a tool); every other line is one hook or one wire. Below them are the paths that no agent may change, and
the names of the sources.
"""

from __future__ import annotations

import os

from hookport.model._json import dumps, loads
from hookport.model._value import Value
from hookport.runtime.folders import own
from hookport.wires.table import Wire

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    Tree = Any

FORMAT = 8
LONGEST_NAME = 200
ANY = "*"
TRUSTED_LOCK = "HOOKPORT_TRUSTED_LOCK"
# The scopes of entries of ours.
ENTRIES = ("project", "user")


class Planned(Value):
    """One hook, ready to be matched and run.

    `tools` are the canonical tools its matcher matches, `terms` the matcher itself for tools that no
    vocabulary knows. `native` is its event in its own dialect, `subject` what its matcher is tested against:
    `tool`, or the word the dialect has for it.
    """

    name: str
    event: str
    dialect: str
    native: str = ""
    subject: str = ""
    tools: Sequence[str] = ()
    terms: Sequence[Sequence[str]] = ()
    # A pattern on what the tool is called with, and the one field it is tested against, if not all.
    content: str = ""
    content_of: str = ""
    priority: int = 100
    blocking: bool = True
    type: str = "command"
    command: str = ""
    platform: Mapping[str, str] = {}
    url: str = ""
    headers: Mapping[str, str] = {}
    allowed_env: Sequence[str] = ()
    prompt: str = ""
    model: str = ""
    cwd: str = ""
    env: Mapping[str, str] = {}
    timeout_seconds: float = 30.0
    is_async: bool = False
    timeout_action: str = ""
    on_failure: str = ""
    # Where it is written down, the folder its scripts belong to, and `project` or `user`.
    file: str = ""
    place: str = ""
    package: str = ""
    scope: str = "project"
    # What it does, whatever its dialect.
    does: str = ""
    # The agents that load its file by themselves, and when (`is_loaded_by`).
    loaded_by: Mapping[str, Sequence[Any]] = {}
    # What changes nothing but which script it runs, and so matters when it is about to run only.
    watched: Mapping[str, Sequence[int] | None] = {}
    # What the lock has of it: its name there, the hash of its definition, the files that it runs, and the
    # folder of which every file counts.
    id: str = ""
    definition: str = ""
    files: Sequence[str] = ()
    under: str = ""
    # Whether its user approved it, as `trust.record` has it; the same of those that override a user's hook.
    trust: Mapping[str, Any] = {}
    rivals: Sequence[Mapping[str, Any]] = ()
    # Why it cannot run although it is for the event: a failure, which policy decides.
    unable: str = ""


class Plan(Value):
    """A plan in memory: the header, and the text with the lines that are parsed when asked for."""

    header: Mapping[str, Any]
    text: bytes
    # Where the line after the header starts; the text is not cut there, since that would copy it.
    below: int

    def hooks(self, event: str, tools: Iterable[str]) -> list[Planned]:
        """The hooks of an event that may match one of the tools, in the order they run."""
        index = self.header["events"].get(event, {})
        starts = {start for tool in (*tools, ANY) for start in index.get(tool, ())}
        found = [Planned(**self._line(start)) for start in sorted(starts)]
        return sorted(found, key=lambda hook: -hook.priority)

    def all_hooks(self) -> list[Planned]:
        """Every hook, in the order of the sources."""
        lines = self.text.split(b"\n")[1 : 1 + self.header["hooks"]]
        return [Planned(**loads(line.decode())) for line in lines]

    def wire(self, name: str) -> Wire | None:
        """The wire of one dialect."""
        start = self.header["wires"].get(name)
        return None if start is None else Wire(**self._line(start))

    def protected(self) -> Sequence[str]:
        """What no agent may change."""
        found: Sequence[str] = self._line(self.header["protected"])["protected"]
        return found

    def _line(self, start: int) -> dict[str, Any]:
        start += self.below
        found: dict[str, Any] = loads(self.text[start : self.text.index(b"\n", start)].decode())
        return found


class Origin(Value):
    """What a plan was made from: the project, its sources, the settings, what was noticed."""

    root: str
    version: str
    watched: Sequence[str] = ()
    # Of these it matters only whether they are there.
    there: Mapping[str, bool] = {}
    settings: Mapping[str, Any] = {}
    # Hooks that cannot run, in words.
    broken: Sequence[str] = ()
    # Hooks of the project that are not approved: each name, and who loads it by itself.
    waiting: Sequence[tuple[str, Mapping[str, Any]]] = ()
    trusted_lock: str = ""
    # What no agent may change, with all that is below it.
    protected: Sequence[str] = ()
    # Only a plan for other machines has it: what it is made from, by its path from the root (see `vendored`).
    contents: Mapping[str, Any] | None = None


def make(hooks: Iterable[Planned], wires: Iterable[Wire], origin: Origin) -> bytes:
    """The text of a plan."""
    hooks, wires = list(hooks), list(wires)
    folders = _by_folder(origin.root, origin.watched)
    lines = [_line(_said(value)) for value in (*hooks, *wires)]
    lines.append(_line({"protected": origin.protected}))
    lines += [b"\0".join(names) for names in folders.values()]
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    events: dict[str, dict[str, list[int]]] = {}
    for hook, start in zip(hooks, starts, strict=False):
        # A tool that no vocabulary knows is matched by the terms, so such a hook is looked at every time.
        known = hook.tools if hook.subject == "tool" and not _open_ended(hook) else [ANY]
        for tool in known:
            events.setdefault(hook.event, {}).setdefault(tool, []).append(start)
    header = {
        "format": FORMAT,
        **{name: value for name, value in origin.as_dict().items() if value is not None},
        "watched": {
            folder: (starts[number], starts[number + 1], _number(folder, names))
            for number, (folder, names) in enumerate(folders.items(), len(hooks) + len(wires) + 1)
        },
        "protected": starts[len(hooks) + len(wires)],
        "hooks": len(hooks),
        "events": events,
        "wires": {wire.id: start for wire, start in zip(wires, starts[len(hooks) :], strict=False)},
        "size": starts[-1],
    }
    return b"".join([_line(header), *lines])


def _line(tree: Mapping[str, Any]) -> bytes:
    return dumps(tree, separators=(",", ":")).encode() + b"\n"


def _by_folder(root: str, paths: Iterable[str]) -> dict[str, list[bytes]]:
    """The names in the project and those elsewhere; by its name a file is found sooner than by its path."""
    start = os.path.join(root, "")
    found: dict[str, list[bytes]] = {}
    for path in paths:
        folder = start if path.startswith(start) else ""
        found.setdefault(folder, []).append(os.fsencode(path.removeprefix(folder)))
    return found


def _open_ended(hook: Planned) -> bool:
    """Whether the matcher may match a tool outside the vocabulary: a pattern, an MCP tool, a foreign name."""
    return not hook.terms or any(kind != "tool" or value not in hook.tools for kind, value, _ in hook.terms)


def _said(value: Value) -> dict[str, Any]:
    return {key: one for key, one in value.as_dict().items() if one != getattr(type(value), key, ...)}


def parse(text: bytes) -> Plan | str:
    """A plan, or why the text is none."""
    below = text.find(b"\n") + 1
    try:
        header = loads(text[:below].decode())
    except ValueError:
        return "it is not a plan"
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        return "it was made by another version"
    if len(text) - below != header["size"]:
        return "it is cut short"
    return Plan(header, text, below)


def load(path: str) -> Plan | str:
    """The plan in a file, or why there is none."""
    try:
        with open(path, "rb") as file:
            return parse(file.read())
    except OSError as error:
        return error.strerror or str(error)


class CalledFrom(Value):
    """Who calls us: the folder that the agent was started in, where it works, the scope of our entry."""

    start: str = ""
    cwd: str = ""
    entry: str = ""
    env: Mapping[str, str] = {}


NOBODY = CalledFrom()


def is_loaded_by(loaded_by: Mapping[str, Sequence[Any]], agent: str, root: str, caller: CalledFrom) -> bool:
    """Whether an agent loads a hook's file by itself, by what `project.ownership.Loading` says of it."""
    how = loaded_by.get(agent)
    if how is None:
        return False
    below, proofs, lifts = how
    if below is not None and not _is_at(root, caller, sure=not below) and caller.entry not in below:
        return False
    if proofs is None or caller.entry in proofs or (not caller.entry and len(proofs) == len(ENTRIES)):
        return True
    return any(caller.env.get(name) == value for name, value in lifts)


def _is_at(root: str, caller: CalledFrom, *, sure: bool) -> bool:
    """Whether the agent was started in the project's root; where it says where it works, there too."""
    folders = [caller.start] if sure else [caller.start, *filter(None, [caller.cwd])]
    return all(folder and os.path.realpath(folder) == os.path.realpath(root) for folder in folders)


def stamp(path: str) -> list[int] | None:
    """What tells that a file or folder changed; None where there is none."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return [found.st_mtime_ns, found.st_size, found.st_ino]


def holds(plan: Plan, version: str, env: Mapping[str, str]) -> bool:
    """Whether a plan was made by this version, with the approval that the environment has."""
    header = plan.header
    return bool(header["version"] == version and header["trusted_lock"] == env.get(TRUSTED_LOCK, ""))


def changed(plan: Plan) -> bool:
    """Whether a source is not what it was when the plan was made."""
    for folder, (start, end, was) in plan.header["watched"].items():
        names = plan.text[plan.below + start : plan.below + end].split(b"\0")
        if _number(folder, names) != was:
            return True
    return any(os.path.exists(path) != was for path, was in plan.header["there"].items())


def scripts_changed(hooks: Iterable[Planned]) -> bool:
    """The same for what matters only to hooks that are about to run."""
    return any(stamp(path) != was for hook in hooks for path, was in hook.watched.items())


def _number(folder: str, names: Iterable[bytes]) -> int:
    """One number for the stamps of all; the hash of integers is the same in every process.

    To parse the stamps of a thousand hooks would take as long as to look at their files.
    """
    opened = _opened(folder)
    before = os.fsencode(folder) if opened is None else b""
    found, stat = 0, os.stat
    try:
        for name in names:
            try:
                now = stat(before + name, dir_fd=opened)
            except (OSError, ValueError):
                found = hash((found,))
            else:
                found = hash((found, now.st_mtime_ns, now.st_size, now.st_ino))
    finally:
        if opened is not None:
            os.close(opened)
    return found


def _opened(folder: str) -> int | None:
    if not folder or os.stat not in os.supports_dir_fd:
        return None
    try:
        return os.open(folder, getattr(os, "O_PATH", os.O_RDONLY))
    except OSError:
        return None


def tables_for(root: str, env: Mapping[str, str]) -> str:
    """Where the plan of a project without its hooks is kept."""
    return path_for(f"{root}#", env)


def path_for(cwd: str, env: Mapping[str, str]) -> str:
    """Where the plan of a folder is kept; empty where the environment names no place."""
    place = own(env, "HOOKPORT_CACHE_DIR", "XDG_CACHE_HOME", ".cache")
    if not place:
        return ""
    name = cwd.replace("%", "%25").replace("/", "%2F").replace("\\", "%5C").replace(":", "%3A")
    if len(name.encode("utf-8", "replace")) > LONGEST_NAME:
        import zlib

        encoded = name.encode("utf-8", "replace")
        ends = encoded[-LONGEST_NAME // 2 :].decode("utf-8", "ignore")
        name = f"{zlib.crc32(encoded):08x}{zlib.adler32(encoded):08x}{ends}"
    return os.path.join(place, "plans", f"{name}.plan")
