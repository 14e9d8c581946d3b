"""What is remembered between two events of one session: stop hooks in a row, and a decision to say again.

Both are kept in small files of the state directory; where they cannot be kept, a dispatch goes on without.
"""

from __future__ import annotations

import os
import time

from hookport.model._json import dumps, loads
from hookport.model.runs import Decision
from hookport.runtime import journal, once

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from hookport.model.runs import Event
    from hookport.wires.table import Wire

# Claude Code, Copilot and Qwen Code end a stop hook themselves after eight blocks (measured); so do we.
MOST_STOPS = 8
LIMIT_VARIABLE = "HOOKPORT_STOP_LIMIT"
STOPS = ("agent_stop", "subagent_stop")
# Two events of one call follow each other within this many seconds; a later one is another call.
REPLAY_SECONDS = 60.0
FORGET_SECONDS = 3600.0


def endless(event: Event, decision: Decision, agent: Wire, env: Mapping[str, str]) -> str:
    """Why a deny on a stop event is dropped: it came too often in a row; empty where it stands."""
    if event.event not in STOPS or agent.caps_stops:
        return ""
    limit = env.get(LIMIT_VARIABLE, "")
    most = int(limit) if limit.isdecimal() and int(limit) else MOST_STOPS
    memory = _load(event, env)
    is_fresh = not event.stop_active and "stop_active" in agent.keys
    count = 0 if is_fresh or decision.verdict != "deny" else memory.get("stops", 0)
    count += decision.verdict == "deny"
    is_over = count > most
    _save(event, env, {**memory, "stops": 0 if is_over else count, "said": decision.reason.strip()})
    return f"stop hooks kept the agent going {most} times in a row, so it may stop now" if is_over else ""


def turned(event: Event, env: Mapping[str, str]) -> None:
    """A person spoke, or a session began: what stop hooks did before is forgotten.

    Gemini CLI sends what a stop hook said as a prompt of its own, with an event (measured on 0.61.0).
    """
    if event.event == "session_start":
        _forget(env)
    if event.event in ("before_prompt", "session_start") and event.session:
        memory = _load(event, env)
        is_ours = bool(memory.get("said")) and memory["said"] in event.prompt
        if memory.get("stops") and not is_ours:
            _save(event, env, {**memory, "stops": 0})


def is_first(event: Event, what: str, env: Mapping[str, str]) -> bool:
    """Whether something was not told in this session yet; it is from now on."""
    memory = _load(event, env)
    told = memory.get("told", [])
    if what in told and event.session:
        return False
    _save(event, env, {**memory, "told": [*told, what]})
    return True


def said_before(event: Event, agent: Wire, env: Mapping[str, str]) -> Decision | None:
    """The decision on another event of the same call, where the agent fires several for one."""
    if not agent.fires_twice or event.call is None:
        return None
    memory = _load(event, env)
    key = _key(event)
    for one in memory.get("calls", ()):
        if key in one["keys"] and event.native not in one["natives"] and _is_recent(one["time"]):
            one["natives"].append(event.native)
            _save(event, env, memory)
            return Decision(**one["decision"])
    return None


def remember(event: Event, after: Event, decision: Decision, agent: Wire, env: Mapping[str, str]) -> None:
    """Keep the decision on a call for the events that follow; `after` has the input as rewritten."""
    if not agent.fires_twice or event.call is None:
        return
    memory = _load(event, env)
    kept = decision.replace(updated_input=None)
    call = {
        "keys": list(dict.fromkeys([_key(event), _key(after)])),
        "natives": [event.native],
        "time": time.time(),
        "decision": {key: value for key, value in kept.as_dict().items() if value != getattr(Decision, key)},
    }
    calls = [one for one in memory.get("calls", ()) if _is_recent(one["time"])]
    _save(event, env, {**memory, "calls": [*calls[-20:], call]})


def _is_recent(when: float) -> bool:
    return 0 <= time.time() - when <= REPLAY_SECONDS


def _key(event: Event) -> str:
    """What two events of one call have in common: the kind of event, the tool, and what it is about."""
    call = event.call
    assert call is not None  # noqa: S101  (only asked of calls)
    about = [call.input.get(name) for name in ("command", "path", "url", "query") if name in call.input]
    return dumps([event.event, call.mcp_tool or call.tool, about or call.input], sort_keys=True, default=str)


def _path(event: Event, env: Mapping[str, str]) -> str:
    """The session's file; empty where there is no place for one, which can be neither read nor written."""
    folder = journal.folder(env)
    name = "".join(letter if letter.isalnum() else "_" for letter in f"{event.agent}-{event.session}")
    return f"{folder}/sessions/{name[:120]}.json" if folder else ""


def _load(event: Event, env: Mapping[str, str]) -> dict[str, Any]:
    """What is remembered of the session; nothing where it is old, spoilt or of another version."""
    try:
        with open(_path(event, env), "rb") as file:
            memory = loads(file.read().decode())
        if time.time() - memory["saved"] <= FORGET_SECONDS:
            calls = [_checked(one) for one in memory.get("calls", ())]
            told = [str(one) for one in memory.get("told", ())]
            said = str(memory.get("said", ""))
            return {"stops": int(memory.get("stops", 0)), "said": said, "calls": calls, "told": told}
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        pass
    return {}


def _checked(call: Mapping[str, Any]) -> dict[str, Any]:
    said = Decision(**call["decision"]).as_dict()
    return {
        "keys": list(call["keys"]),
        "natives": list(call["natives"]),
        "time": float(call["time"]),
        "decision": said,
    }


def _forget(env: Mapping[str, str]) -> None:
    """Remove what nobody asks for any more."""
    for folder in ("sessions", once.FOLDER):
        try:
            for entry in os.scandir(f"{journal.folder(env)}/{folder}"):
                if time.time() - entry.stat().st_mtime > FORGET_SECONDS:
                    os.unlink(entry.path)
        except OSError:
            continue


def _save(event: Event, env: Mapping[str, str], memory: Mapping[str, Any]) -> None:
    path = _path(event, env)
    draft = f"{path}.{os.getpid()}"
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        with open(draft, "w", encoding="utf-8") as file:
            file.write(dumps({**memory, "saved": time.time()}))
        os.replace(draft, path)
    except OSError:
        return
