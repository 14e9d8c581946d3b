"""The compiled plan: one file with all that a dispatch reads, of which it parses only the lines it needs.

The first line is the header: what the plan was made from, and where the lines for an event and a tool start.
Below are a line for each hook, the paths that no agent may change, the names of the sources, and at the end a
line for each wire. Wires are most of the bytes, and a dispatch needs two of them, so the header has the hash
of each and the checksum of the whole stops before them.
"""

from __future__ import annotations

import os

from hookport.base.files import keep_file
from hookport.base.folders import CACHE, STATE, find_own_folder
from hookport.model.json_text import dumps, loads
from hookport.model.value import Value
from hookport.wire import recognition
from hookport.wire.table import Wire

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any


FORMAT = 13
LONGEST_NAME = 200
# The key in the state folder, and the digits of the checksum before a plan that is kept.
KEY, KEY_BYTES, SEAL = "plans.key", 32, 64
# The bytes of the hash that identifies a wire.
WIRE_BYTES = 16
ANY = "*"
TRUSTED_LOCK = "HOOKPORT_TRUSTED_LOCK"
# The scopes of entries of ours.
ENTRIES = ("project", "user")


class PlannedHook(Value):
    """One hook, ready to be matched and run.

    `tools` are the canonical tools its matcher matches, `terms` the matcher itself for tools that no
    vocabulary has. `native` is its event in its own dialect, `subject` what its matcher is tested against:
    `tool`, or the dialect's name for it.
    """

    name: str
    event: str
    dialect: str
    native: str = ""
    subject: str = ""
    tools: Sequence[str] = ()
    terms: Sequence[Sequence[str]] = ()
    # A pattern on the tool's input, and the one field it is tested against, if not all.
    content: str = ""
    content_of: str = ""
    # A permission rule on the call.
    condition: str = ""
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
    # Its file, the folder its scripts belong to, and `project` or `user`.
    file: str = ""
    place: str = ""
    package: str = ""
    scope: str = "project"
    # The root of its project, if that is not the event's.
    root: str = ""
    # What it runs, whatever its dialect.
    does: str = ""
    # The agents that load its file themselves, and when (`is_loaded_by`).
    loaded_by: Mapping[str, Sequence[Any]] = {}
    # Files that only change which script it runs, and so matter only when it is about to run.
    watched: Mapping[str, Sequence[int] | None] = {}
    # Its entry in the lock: its name there, the hash of its definition, the files that it runs, and the
    # folder of which every file counts.
    id: str = ""
    definition: str = ""
    files: Sequence[str] = ()
    under: str = ""
    # Folders that Python imports from, with the modules looked for there, and what no approval covers.
    beside: Mapping[str, Sequence[str]] = {}
    not_covered: Sequence[str] = ()
    # Whether its user approved it (`trust.record_approval`); the same for hooks that override a user's.
    trust: Mapping[str, Any] = {}
    rivals: Sequence[Mapping[str, Any]] = ()
    # Why it cannot run although it matches the event: a failure, which policy decides.
    unable: str = ""
    # It may rewrite the input, so the hooks after it wait for it.
    rewrites: bool = False
    # Its own agent runs one hook of each group for an event; empty if it runs all.
    once: str = ""


class DispatchPlan(Value):
    """A plan in memory: the header, and the text with lines that are parsed on demand."""

    header: Mapping[str, Any]
    text: bytes
    # Where the line after the header starts; cutting the text there would copy it.
    below: int
    # The wires parsed so far, by the ids of their dialects.
    made: dict[str, Wire]

    def hooks(self, event: str, tools: Iterable[str] | None) -> list[PlannedHook]:
        """Find the hooks of an event that may match one of the tools (None: any), in running order."""
        index = self.header["events"].get(event, {})
        named = index if tools is None else (*tools, ANY)
        starts = {start for tool in named for start in index.get(tool, ())}
        hooks = [PlannedHook(**self._read_line(start)) for start in sorted(starts)]
        return sorted(hooks, key=lambda hook: -hook.priority)

    def read_all_hooks(self) -> list[PlannedHook]:
        """Read every hook, in the order of the sources."""
        lines = self.text.split(b"\n")[1 : 1 + self.header["hooks"]]
        return [PlannedHook(**loads(line.decode())) for line in lines]

    def wire(self, name: str) -> Wire | None:
        """Find the wire of a dialect; None if missing or different from the one the plan was made with."""
        if name not in self.made and name in self.header["wires"]:
            start, hash_ = self.header["wires"][name]
            line = self._read_bytes(start)
            if _hash_line(line) != hash_:
                return None
            self.made[name] = Wire(**loads(line.decode()))
        return self.made.get(name)

    def protected(self) -> Sequence[str]:
        """Read the paths that no agent may change."""
        paths: Sequence[str] = self._read_line(self.header["protected"])["protected"]
        return paths

    def read_all_wires(self) -> dict[str, Wire]:
        """Read every wire, by the id of its dialect."""
        return {name: wire for name in self.header["wires"] if (wire := self.wire(name))}

    def _read_line(self, start: int) -> dict[str, Any]:
        tree: dict[str, Any] = loads(self._read_bytes(start).decode())
        return tree

    def _read_bytes(self, start: int) -> bytes:
        start += self.below
        return self.text[start : self.text.index(b"\n", start)]


class PlanOrigin(Value):
    """What a plan was made from: the project, its sources, the settings, the problems noticed."""

    root: str
    version: str
    watched: Sequence[str] = ()
    # Of these, only existence matters.
    there: Mapping[str, bool] = {}
    settings: Mapping[str, Any] = {}
    # Hooks that cannot run, in words.
    broken: Sequence[str] = ()
    # Why it is unknown what was approved, in words.
    lost: str = ""
    # Unapproved hooks of the project: each name, and the agents that load it themselves.
    waiting: Sequence[tuple[str, Mapping[str, Any]]] = ()
    trusted_lock: str = ""
    # Roots of other projects with approvals: above the folder, or below the root.
    near: Sequence[str] = ()
    # The paths that no agent may change, with everything below them.
    protected: Sequence[str] = ()
    # Only in the tables of a vendored bridge: variables that agents set for what they run.
    markers: Sequence[str] | None = None
    # Only in a plan for other machines: what it is made from, by path from the root (see `vendored`).
    contents: Mapping[str, Any] | None = None


def make(hooks: Iterable[PlannedHook], wires: Iterable[Wire], origin: PlanOrigin) -> bytes:
    """Format a plan as text."""
    hooks, wires = list(hooks), list(wires)
    folders = _group_by_folder(origin.root, origin.watched)
    # A dispatch does not need the rules that an agent itself obeys.
    used = [wire.replace(obeys={}, several="") for wire in wires]
    lines = [_format_line(_list_set_fields(hook)) for hook in hooks]
    lines.append(_format_line({"protected": origin.protected}))
    lines += [b"\0".join(names) for names in folders.values()]
    wire_lines = [_format_line(_list_set_fields(wire)) for wire in used]
    first = len(lines)
    lines += wire_lines
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    events: dict[str, dict[str, list[int]]] = {}
    for hook, start in zip(hooks, starts, strict=False):
        # Terms match tools outside the vocabulary, so such a hook is checked every time.
        tools = hook.tools if hook.subject == "tool" and not _is_open_ended(hook) else [ANY]
        for tool in tools:
            events.setdefault(hook.event, {}).setdefault(tool, []).append(start)
    header = {
        "format": FORMAT,
        **{name: value for name, value in origin.as_dict().items() if value is not None},
        "watched": {
            folder: (starts[number], starts[number + 1], _hash_stamps(folder, names))
            for number, (folder, names) in enumerate(folders.items(), len(hooks) + 1)
        },
        "protected": starts[len(hooks)],
        "hooks": len(hooks),
        "events": events,
        "callers": recognition.list_marker_variables(wires),
        "wires": {
            wire.id: (start, _hash_line(line[:-1]))
            for wire, line, start in zip(wires, wire_lines, starts[first:], strict=False)
        },
        "sealed": starts[first],
        "size": starts[-1],
    }
    return b"".join([_format_line(header), *lines])


def _format_line(tree: Mapping[str, Any]) -> bytes:
    return dumps(tree, separators=(",", ":")).encode() + b"\n"


def _group_by_folder(root: str, paths: Iterable[str]) -> dict[str, list[bytes]]:
    """Group names inside and outside the project; looking up a file by name is faster than by path."""
    start = os.path.join(root, "")
    folders: dict[str, list[bytes]] = {}
    for path in paths:
        folder = start if path.startswith(start) else ""
        folders.setdefault(folder, []).append(os.fsencode(path.removeprefix(folder)))
    return folders


def _is_open_ended(hook: PlannedHook) -> bool:
    """Whether the matcher may match a tool outside the vocabulary: a pattern, an MCP tool, a foreign name."""
    return not hook.terms or any(kind != "tool" or value not in hook.tools for kind, value, _ in hook.terms)


def _list_set_fields(value: Value) -> dict[str, Any]:
    return {key: field for key, field in value.as_dict().items() if field != getattr(type(value), key, ...)}


def parse(text: bytes) -> DispatchPlan | str:
    """Parse a plan, or return why the text is not one."""
    below = text.find(b"\n") + 1
    try:
        header = loads(text[:below].decode())
    except ValueError:
        return "it is not a plan"
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        return "it was made by another version"
    if len(text) - below != header.get("size") or not isinstance(header.get("sealed"), int):
        return "it is cut short"
    return DispatchPlan(header, text, below, {})


def load(path: str, env: Mapping[str, str]) -> DispatchPlan | str:
    """Load a plan from the cache, or return why that failed; a plan that is not ours does not count."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        return error.strerror or str(error)
    plan, key = parse(data[SEAL + 1 :]), _read_key(env)
    if isinstance(plan, DispatchPlan) and (not key or data[:SEAL] != _hash_plan(plan, path, key)):
        return "hookport did not make it for this user"
    return plan


def seal_plan(text: bytes, path: str, env: Mapping[str, str]) -> bytes:
    """Seal a plan for a path: with a checksum that only this user's hookport can make."""
    key, plan = _read_key(env) or _make_key(env), parse(text)
    assert isinstance(plan, DispatchPlan)  # noqa: S101  (we made it)
    return _hash_plan(plan, path, key) + b"\n" + text


def _hash_plan(plan: DispatchPlan, path: str, key: bytes) -> bytes:
    """Hash a plan with its file name, so that no plan passes for another project's."""
    hasher = _load_blake2b()(os.fsencode(os.path.basename(path)) + b"\0", key=key, digest_size=SEAL // 2)
    hasher.update(memoryview(plan.text)[: plan.below + plan.header["sealed"]])
    return str(hasher.hexdigest()).encode()


def read_note(name: str, env: Mapping[str, str]) -> str:
    """Read the note of a name; empty if missing, or not written by this user's hookport."""
    path, key = _find_note(name, env), _read_key(env)
    try:
        with open(path or os.devnull, "rb") as file:
            seal, _, text = file.read().partition(b"\n")
    except OSError:
        return ""
    return text.decode("utf-8", "replace") if key and seal == _hash_note(text, path, key) else ""


def write_note(name: str, text: str, env: Mapping[str, str]) -> None:
    """Write a note for later calls, with a checksum like a plan's; without a state folder, do nothing."""
    path, data = _find_note(name, env), text.encode()
    try:
        key = _read_key(env) or _make_key(env)
        if path and key:
            keep_file(path, _hash_note(data, path, key) + b"\n" + data)
    except OSError:
        return


def _find_note(name: str, env: Mapping[str, str]) -> str:
    path = find_plan_path(name, env)
    return f"{path.removesuffix('.plan')}.note" if path else ""


def _hash_note(data: bytes, path: str, key: bytes) -> bytes:
    hasher = _load_blake2b()(os.fsencode(os.path.basename(path)) + b"\0", key=key, digest_size=SEAL // 2)
    hasher.update(data)
    return str(hasher.hexdigest()).encode()


def _hash_line(line: bytes) -> str:
    return str(_load_blake2b()(line, digest_size=WIRE_BYTES).hexdigest())


def _load_blake2b() -> Callable[..., Any]:
    """Load the library's C code, as in `trust`; keyed BLAKE2 is a MAC (RFC 7693, 2.9)."""
    try:
        constructor: Callable[..., Any] = __import__("_blake2").blake2b
    except (ImportError, AttributeError):
        import hashlib

        return hashlib.blake2b
    return constructor


def _read_key(env: Mapping[str, str]) -> bytes:
    """Read the user's key; empty if missing, or if others could have written it."""
    try:
        file = os.open(
            os.path.join(find_own_folder(env, *STATE), KEY), os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0)
        )
    except OSError:
        return b""
    try:
        status = os.fstat(file)
        is_ours = os.name == "nt" or (status.st_uid == os.getuid() and not status.st_mode & 0o077)
        key = os.read(file, KEY_BYTES + 1)
        return key if is_ours and len(key) == KEY_BYTES else b""
    finally:
        os.close(file)


def _make_key(env: Mapping[str, str]) -> bytes:
    """Make the key: of several made at once the first stays; an invalid key is replaced."""
    folder = find_own_folder(env, *STATE)
    os.makedirs(folder, 0o700, exist_ok=True)
    path = os.path.join(folder, KEY)
    draft = f"{path}.{os.getpid()}"
    file = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0), 0o600)
    try:
        os.write(file, os.urandom(KEY_BYTES))
    finally:
        os.close(file)
    try:
        os.link(draft, path)
    except FileExistsError:
        if not _read_key(env):
            os.replace(draft, path)
    except OSError:  # a file system without links
        os.replace(draft, path)
    if os.path.exists(draft):
        os.unlink(draft)
    return _read_key(env)


class CallOrigin(Value):
    """The caller: the agent's start folder, its working folder, the scope of our entry."""

    start: str = ""
    cwd: str = ""
    entry: str = ""
    env: Mapping[str, str] = {}


NOBODY = CallOrigin()


def is_loaded_by(loaded_by: Mapping[str, Sequence[Any]], agent: str, root: str, caller: CallOrigin) -> bool:
    """Whether an agent loads a hook's file itself, by `project.ownership.Loading`."""
    how = loaded_by.get(agent)
    if how is None:
        return False
    below, proofs, lifts = how
    if below is not None and not _is_started_in(root, caller, sure=not below) and caller.entry not in below:
        return False
    if proofs is None or caller.entry in proofs or (not caller.entry and len(proofs) == len(ENTRIES)):
        return True
    return any(caller.env.get(name) == value for name, value in lifts)


def _is_started_in(root: str, caller: CallOrigin, *, sure: bool) -> bool:
    """Whether the agent was started in the project root, and works there if its folder is known."""
    folders = [caller.start] if sure else [caller.start, *filter(None, [caller.cwd])]
    return all(folder and os.path.realpath(folder) == os.path.realpath(root) for folder in folders)


def stamp(path: str) -> list[int] | None:
    """Stamp a file or folder to notice a change; None if it does not exist."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return [status.st_mtime_ns, status.st_size, status.st_ino]


def is_current(plan: DispatchPlan, version: str, env: Mapping[str, str]) -> bool:
    """Whether a plan was made by this version, with the approval that the environment has."""
    header = plan.header
    return bool(header["version"] == version and header["trusted_lock"] == env.get(TRUSTED_LOCK, ""))


def has_changed(plan: DispatchPlan) -> bool:
    """Whether a source changed since the plan was made."""
    for folder, (start, end, was) in plan.header["watched"].items():
        names = plan.text[plan.below + start : plan.below + end].split(b"\0")
        if _hash_stamps(folder, names) != was:
            return True
    return any(os.path.exists(path) != was for path, was in plan.header["there"].items())


def has_changed_scripts(hooks: Iterable[PlannedHook]) -> bool:
    """Whether a file that matters only to hooks about to run changed."""
    return any(stamp(path) != was for hook in hooks for path, was in hook.watched.items())


def _hash_stamps(folder: str, names: Iterable[bytes]) -> int:
    """Hash the stamps of all files into one number; integers hash alike in every process.

    Parsing the stamps of a thousand hooks would take as long as checking their files.
    """
    opened = _open_folder(folder)
    before = os.fsencode(folder) if opened is None else b""
    number, stat = 0, os.stat
    try:
        for name in names:
            try:
                now = stat(before + name, dir_fd=opened)
            except (OSError, ValueError):
                number = hash((number,))
            else:
                number = hash((number, now.st_mtime_ns, now.st_size, now.st_ino))
    finally:
        if opened is not None:
            os.close(opened)
    return number


def _open_folder(folder: str) -> int | None:
    if not folder or os.stat not in os.supports_dir_fd:
        return None
    try:
        return os.open(folder, getattr(os, "O_PATH", os.O_RDONLY))
    except OSError:
        return None


def find_tables_path(root: str, env: Mapping[str, str]) -> str:
    """Find the file of the plan of a project without its hooks."""
    return find_plan_path(f"{root}#", env)


def find_plan_path(cwd: str, env: Mapping[str, str]) -> str:
    """Find the file of a folder's plan; empty if the environment names no cache."""
    place = find_own_folder(env, *CACHE)
    if not place:
        return ""
    name = cwd.replace("%", "%25").replace("/", "%2F").replace("\\", "%5C").replace(":", "%3A")
    if len(name.encode("utf-8", "replace")) > LONGEST_NAME:
        import zlib

        encoded = name.encode("utf-8", "replace")
        ends = encoded[-LONGEST_NAME // 2 :].decode("utf-8", "ignore")
        name = f"{zlib.crc32(encoded):08x}{zlib.adler32(encoded):08x}{ends}"
    return os.path.join(place, "plans", f"{name}.plan")
