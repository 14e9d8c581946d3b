"""The environment of a hook's command: variables, their folders and files, the transcript."""

from __future__ import annotations

import os

from hookport.model.value import Value
from hookport.runtime import journal
from hookport.wire.events import fill_variables, list_places, list_variables
from hookport.wire.table import read_rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hookport.model.runs import Event
    from hookport.runtime.plan import PlannedHook
    from hookport.wire.table import Wire

# Below the state folder: what packages keep, and what sessions set for a shell.
DATA, ENV_FILES = "data", "env"
# A session may go on for days.
FORGET_SECONDS = 7 * 24 * 3600.0
# The folder of translated transcripts, and how much of a script is searched for their name.
TRANSCRIPTS = "transcripts"
MOST_SCRIPT = 1024 * 1024
# The facts that are paths of transcripts.
TRANSCRIPT_FACTS = ("transcript", "agent_transcript")


class TranscriptNeeds(Value):
    """What a hook needs of the agent's transcript: copies in its own shape, numbers, a subagent's task."""

    copies: Sequence[str] = ()
    counts: Sequence[str] = ()
    task: bool = False


def find_transcript_needs(
    hook: PlannedHook, wire: Wire, event: Event, native: str, agent: Wire, env: Mapping[str, str]
) -> TranscriptNeeds | None:
    """Find what a hook needs of the agent's transcript; None if nothing."""
    if not agent.transcript or agent.id == wire.id:
        return None
    if not is_kept(agent) and not any(event.facts.get(fact) for fact in TRANSCRIPT_FACTS):
        return None
    constants = read_rows(wire, "fixed", native)
    counts = tuple(
        name
        for name in ("steps", "session_ms")
        if name not in event.facts and any(place in constants for place in list_places(wire, native, name))
    )
    is_about = event.event.startswith("subagent") and not event.prompt
    task = is_about and bool(list_places(wire, native, "prompt"))
    copies: tuple[str, ...] = ()
    if can_copy(wire, agent):
        copies = tuple(
            fact
            for fact in TRANSCRIPT_FACTS
            if (event.facts.get(fact) or (is_kept(agent) and fact == TRANSCRIPT_FACTS[0]))
            and _reads_transcript(hook, wire, event, native, fact, env)
        )
    return TranscriptNeeds(copies, counts, task) if copies or counts or task else None


def is_kept(agent: Wire) -> bool:
    """Whether hookport finds an agent's transcript without a path in the payload."""
    return any("kept" in table for table in agent.transcript)


def can_copy(wire: Wire, agent: Wire) -> bool:
    """Whether scripts of a wire expect a shape that hookport can write and that the agent's is not."""
    shapes = [table["form"] for table in wire.transcript if "writes" in table]
    return bool(shapes) and any(table["form"] not in shapes for table in agent.transcript)


def list_transcript_words(wire: Wire, native: str, fact: str) -> list[str]:
    """List the words by which scripts of a wire ask for a transcript: payload keys and variables."""
    words = [place.rpartition(".")[2] for place in list_places(wire, native, fact)]
    variables = read_rows(wire, "env", native)
    return words + [name for name, word in variables.items() if word == f"${fact}"]


def _reads_transcript(
    hook: PlannedHook, wire: Wire, event: Event, native: str, fact: str, env: Mapping[str, str]
) -> bool:
    """Whether a hook's command, its prompt or one of its files names a transcript."""
    names = list_transcript_words(wire, native, fact)
    if not names:
        return False
    # A function of the SDK asks for it without the payload's own word.
    names = [fact if name.startswith(f"{fact}_") and not wire.fires else name for name in names]
    if any(name in text for name in names for text in (hook.command, hook.prompt)):
        return True
    for file in hook.files or _list_named_files(hook, wire, event, native, env):
        try:
            with open(file, "rb") as script:
                text = script.read(MOST_SCRIPT)
        except OSError:
            continue
        if any(name.encode() in text for name in names):
            return True
    return False


def _list_named_files(
    hook: PlannedHook, wire: Wire, event: Event, native: str, env: Mapping[str, str]
) -> list[str]:
    """List the files that a command names, where nobody listed what it runs: that of `hookport wrap`."""
    root = event.root or event.cwd
    dialect_variables = fill_variables(wire, event, hook.package or root, native, {})
    variables = {**env, "PWD": root, **dialect_variables}
    paths = []
    for word in _split_words(hook.command):
        name, assigns, value = word.partition("=")
        if assigns and name.isidentifier():
            variables[name] = _expand_start(value, variables)
        path = os.path.join(root, _expand_start(word, variables))
        if os.path.isfile(path):
            paths.append(path)
    return paths


def _expand_start(word: str, variables: Mapping[str, str]) -> str:
    """Expand the home or the variable that a path starts with, as `$NAME`, `${NAME-default}` or `$(…)`."""
    if word.startswith("$("):
        # A command that finds the root of the repository.
        return variables["PWD"] + word[word.rfind(")") + 1 :]
    start, slash, rest = word.partition("/")
    if start[:1] == "$":
        start = variables.get(start.strip("${}").partition("-")[0].rstrip(":"), "")
    elif start[:1] == "~":
        start = os.path.expanduser(start)
    return start + slash + rest


def _split_words(command: str) -> list[str]:
    """Split a command into words without quotes: enough for paths, and faster to load than `shell`."""
    words, word, quote = [], "", ""
    for letter in command:
        if letter == quote:
            quote = ""
        elif not quote and letter in "'\"":
            quote = letter
        elif not quote and letter in " \t\n;&|()<>":
            words.append(word)
            word = ""
        else:
            word += letter
    return [word for word in (*words, word) if word]


def make_variables(
    hook: PlannedHook, wire: Wire, event: Event, native: str, env: Mapping[str, str]
) -> dict[str, str]:
    """Make the variables of the hook's dialect.

    A file that the agent itself named for its shell stays, because the agent reads it.
    """
    package = hook.package or event.root or event.cwd
    words = list_variables(wire, native)
    paths = {}
    if "$data" in words.values():
        paths["data"] = _make_folder(DATA, package, env)
    if "$env_file" in words.values():
        paths["env_file"] = _make_file(event, env)
    preset = {name for name, word in words.items() if word == "$env_file" and env.get(name)}
    filled = fill_variables(wire, event, package, native, paths)
    return {name: value for name, value in filled.items() if name not in preset}


def find_unread_variables(wire: Wire, event: Event, native: str, env: Mapping[str, str]) -> str:
    """Find the file with hooks' variables that no shell of the agent reads; empty without one."""
    names = [
        name for name, word in wire.by_event.get(native, {}).get("env", {}).items() if word == "$env_file"
    ]
    if not names or any(env.get(name) for name in names):
        return ""
    path = _make_file(event, env)
    return path if path and os.path.getsize(path) else ""


def _make_plain(name: str) -> str:
    return "".join(letter if letter.isalnum() else "_" for letter in name)


def _make_folder(kind: str, package: str, env: Mapping[str, str]) -> str:
    """Make the permanent folder of a package; empty without a state folder."""
    import zlib

    state = journal.find_state_folder(env)
    if not state or not package:
        return ""
    name = f"{_make_plain(os.path.basename(package))[:60]}-{zlib.crc32(os.fsencode(package)):08x}"
    path = os.path.join(state, kind, name)
    try:
        os.makedirs(path, mode=0o700, exist_ok=True)
    except OSError:
        return ""
    return path


def _make_file(event: Event, env: Mapping[str, str]) -> str:
    """Make the file of a session's variables; empty without a state folder."""
    state = journal.find_state_folder(env)
    if not state:
        return ""
    path = os.path.join(state, ENV_FILES, f"{_make_plain(event.agent + '-' + event.session)[:120]}.sh")
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600))
    except OSError:
        return ""
    return path
