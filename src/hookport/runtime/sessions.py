"""The memory of a session between events: stop hooks in a row, and a decision to repeat.

Small files in the state directory store both, without secrets and without the text of a call. Every change
is made under a lock. If they cannot be stored, a dispatch continues without them.
"""

from __future__ import annotations

import os
import time

from hookport.base.files import close_locked, keep_file, lock, remove_old_files
from hookport.model.json_text import dumps, loads
from hookport.model.runs import Decision
from hookport.runtime import journal, once
from hookport.runtime.redaction import clean, walk
from hookport.runtime.surroundings import ENV_FILES, TRANSCRIPTS
from hookport.runtime.surroundings import FORGET_SECONDS as ENV_FILE_SECONDS
from hookport.runtime.trust import sha256

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, Self

    from hookport.model.runs import Event
    from hookport.wire.table import Wire


# Claude Code, Copilot and Qwen Code ignore a stop hook after eight blocks (measured); so do we.
MOST_STOPS = 8
LIMIT_VARIABLE = "HOOKPORT_STOP_LIMIT"
STOPS = ("agent_stop", "subagent_stop")
# Two events of one call follow each other within this many seconds; a later one belongs to a new call.
REPLAY_SECONDS = 60.0
FORGET_SECONDS = 3600.0
# Notices are remembered while a session may be resumed, up to this many.
TOLD_SECONDS, MOST_TOLD = 7 * 24 * 3600.0, 500
# Beside the folder of sessions, so that it is never removed with an old one. If its holder hangs, others wait
# this long.
LOCK, LOCK_SECONDS = "sessions.lock", 3.0


class _SessionLock:
    """Reads and writes of one process, with no other's in between; unlocked if locks are unsupported."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self.folder, self.file = journal.find_state_folder(env), -1

    def __enter__(self) -> Self:
        try:
            if self.folder:
                os.makedirs(self.folder, 0o700, exist_ok=True)
                self.file = os.open(os.path.join(self.folder, LOCK), os.O_RDWR | os.O_CREAT, 0o600)
                lock(self.file, LOCK_SECONDS)
        except OSError:
            pass
        return self

    def __exit__(self, *_: object) -> None:
        if self.file >= 0:
            close_locked(self.file)


def explain_dropped_deny(event: Event, decision: Decision, agent: Wire, env: Mapping[str, str]) -> str:
    """Explain why a deny on a stop event is dropped: too many in a row; empty if it stands."""
    if event.event not in STOPS or "caps stops" in agent.traits:
        return ""
    limit = env.get(LIMIT_VARIABLE, "")
    most = int(limit) if limit.isdecimal() and int(limit) else MOST_STOPS
    is_fresh = not event.stop_active and "stop_active" in agent.keys
    with _SessionLock(env):
        memory = _load_memory(event, env)
        count = 0 if is_fresh or decision.verdict != "deny" else memory.get("stops", 0)
        count += decision.verdict == "deny"
        is_over = count > most
        reason = clean(decision.reason.strip())
        _save_memory(event, env, {**memory, "stops": 0 if is_over else count, "said": reason})
    return f"stop hooks kept the agent going {most} times in a row, so it may stop now" if is_over else ""


def reset_stops(event: Event, env: Mapping[str, str]) -> None:
    """Reset the count of stop hooks when a person sends a prompt or a session begins.

    Gemini CLI sends the reason of a stop hook as a prompt, with an event (measured on 0.61.0).
    """
    if event.event == "session_start":
        _remove_old_files(env)
    if event.event in ("before_prompt", "session_start") and event.session:
        with _SessionLock(env):
            memory = _load_memory(event, env)
            is_ours = bool(memory.get("said")) and memory["said"] in clean(event.prompt)
            if memory.get("stops") and not is_ours:
                _save_memory(event, env, {**memory, "stops": 0})


def is_first(event: Event, notice: str, env: Mapping[str, str], *, unkept: bool = True) -> bool:
    """Whether a notice is new in this session; remember it from now on.

    Without a session id it counts once a day in a project; `unkept` is returned if nothing can be stored.
    """
    notice = notice if event.session else f"{time.strftime('%Y-%m-%d')} {event.root}: {notice}"
    with _SessionLock(env):
        memory = _load_memory(event, env)
        notices = memory.get("told", [])
        if notice in notices:
            return False
        is_kept = _save_memory(event, env, {**memory, "told": [*notices[-MOST_TOLD:], notice]})
    return is_kept or unkept


def find_decision(
    event: Event, agent: Wire, env: Mapping[str, str], deciders: Sequence[str] = ()
) -> Decision | None:
    """Find the decision on another event of the same call, if the agent fires several.

    `deciders` is what would decide now: a decision without all of it is another entry's, and no answer.
    """
    if "fires twice" not in agent.traits or event.call is None:
        return None
    key = _hash_call(event)
    with _SessionLock(env):
        memory = _load_memory(event, env)
        # The newest first: a denied call that is retried is a new call.
        for call in reversed(memory.get("calls", [])):
            is_same = key in call["keys"] and set(deciders) <= set(call["asked"])
            if is_same and event.native not in call["natives"] and _is_recent(call["time"]):
                call["natives"].append(event.native)
                _save_memory(event, env, memory)
                return Decision(**call["decision"])
    return None


def keep_decision(
    event: Event,
    after: Event,
    decision: Decision,
    agent: Wire,
    env: Mapping[str, str],
    deciders: Sequence[str] = (),
) -> None:
    """Keep the decision on a call for the events that follow; `after` has the input as rewritten."""
    if "fires twice" not in agent.traits or event.call is None:
        return
    stored = decision.replace(updated_input=None)
    fields = {key: value for key, value in stored.as_dict().items() if value != getattr(Decision, key)}
    call = {
        "keys": list(dict.fromkeys([_hash_call(event), _hash_call(after)])),
        "natives": [event.native],
        "asked": list(deciders),
        "time": time.time(),
        "decision": walk(fields, clean),
    }
    with _SessionLock(env):
        memory = _load_memory(event, env)
        calls = [earlier for earlier in memory.get("calls", ()) if _is_recent(earlier["time"])]
        _save_memory(event, env, {**memory, "calls": [*calls[-20:], call]})


def _is_recent(when: float) -> bool:
    return 0 <= time.time() - when <= REPLAY_SECONDS


def _hash_call(event: Event) -> str:
    """Hash what two events of one call have in common: the kind of event, the tool, and its subject."""
    call = event.call
    assert call is not None  # noqa: S101  (only asked of calls)
    about = [call.input.get(name) for name in ("command", "path", "url", "query") if name in call.input]
    tree = [event.event, call.mcp_tool or call.tool, about or call.input]
    return sha256(dumps(tree, sort_keys=True, default=str).encode())


def _find_file(event: Event, env: Mapping[str, str]) -> str:
    """Find the session's file; empty without a state folder, which can be neither read nor written."""
    folder = journal.find_state_folder(env)
    name = "".join(letter if letter.isalnum() else "_" for letter in f"{event.agent}-{event.session}")
    return f"{folder}/sessions/{name[:120]}.json" if folder else ""


def _load_memory(event: Event, env: Mapping[str, str]) -> dict[str, Any]:
    """Load the memory of the session; empty if damaged or of another version."""
    try:
        with open(_find_file(event, env), "rb") as file:
            memory = loads(file.read().decode())
        notices = [str(notice) for notice in memory.get("told", ())]
        if time.time() - memory["saved"] > FORGET_SECONDS:
            return {"told": notices}
        calls = [_check_call(call) for call in memory.get("calls", ())]
        reason = str(memory.get("said", ""))
        return {"stops": int(memory.get("stops", 0)), "said": reason, "calls": calls, "told": notices}
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        pass
    return {}


def _check_call(call: Mapping[str, Any]) -> dict[str, Any]:
    decision = Decision(**call["decision"]).as_dict()
    return {
        "keys": list(call["keys"]),
        "natives": list(call["natives"]),
        "asked": list(call.get("asked", ())),
        "time": float(call["time"]),
        "decision": decision,
    }


def _remove_old_files(env: Mapping[str, str]) -> None:
    """Remove files that are no longer needed."""
    ages = {once.FOLDER: FORGET_SECONDS, "sessions": TOLD_SECONDS, ENV_FILES: ENV_FILE_SECONDS}
    for folder, seconds in ages.items():
        try:
            remove_old_files(f"{journal.find_state_folder(env)}/{folder}", seconds)
        except OSError:
            continue
    if os.path.isdir(f"{journal.find_state_folder(env)}/{TRANSCRIPTS}"):
        from hookport.runtime import transcripts

        transcripts.remove_old_copies(env)


def _save_memory(event: Event, env: Mapping[str, str], memory: Mapping[str, Any]) -> bool:
    """Save the memory; return whether that worked."""
    try:
        keep_file(_find_file(event, env), dumps({**memory, "saved": time.time()}).encode())
    except OSError:
        return False
    return True
