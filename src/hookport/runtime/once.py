"""One decision for one call: of several entries that an agent starts for it, the first runs the hooks.

Every entry names itself (`--entry`). An entry that gets the same event of the same call as another waits for
that entry and gives the same answer. The memory is a small file in the state directory, with locks that end
with the process that holds them. If the memory fails, the hooks run: twice is better than not at all.
"""

from __future__ import annotations

import os
import time

from hookport.base.files import lock, unlock
from hookport.model.json_text import dumps, loads
from hookport.model.runs import Decision
from hookport.model.value import Value
from hookport.runtime import journal
from hookport.runtime.redaction import clean, walk
from hookport.runtime.trust import sha256

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hookport.base.tree import Tree
    from hookport.model.runs import Event
    from hookport.runtime.engine import DispatchReport
    from hookport.runtime.plan import PlannedHook


FOLDER = "once"
# How long after a decision another entry may answer from it. Without an id to show that it is the same call,
# an equal call a little later is a new call. With an id, other hooks may run between the two entries.
SAME_SECONDS, SAME_ID_SECONDS = 10.0, 600.0
# An older run never ends.
LONGEST_RUN = 3600.0
MOST_RUNS = 100
# The share of its time that an entry waits for another; the rest is for the hooks, if it must run them.
SHARE = 0.75
LONGEST_WAIT = 30.0  # if the agent's waiting time is unknown
LOCK_SECONDS = 0.5
# The locked bytes are behind the text, because Windows refuses to read locked bytes: one byte for the text,
# and one for each run at the number of its process.
TEXT = 1 << 30
VERDICTS = ("none", "allow", "ask", "deny")
# Sent only once: agents join what several entries send.
SAID_ONCE = ("context", "system_message", "failure", "noise")
# The fields that differ between two plans of the same hooks.
OF_THE_PLAN = ("trust", "rivals", "watched", "loaded_by", "scope", "root")
SPOILT = (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError)


class EntryTurn(Value):
    """The turn of one entry, with another entry's decision, if any."""

    file: int
    # The run's name in the file: its process and start time.
    run: list[Tree]
    # The hash of the call and of the data that both entries share, without the payload.
    key: str
    entry: str
    # The hooks of this entry, and those of them that the other entry did not run.
    hooks: list[str]
    rest: Sequence[PlannedHook] = ()
    by: str = ""
    decision: Decision | None = None
    # The call's input as the other entry rewrote it.
    raw: Tree = None


def take_turn(
    event: Event,
    entry: str,
    hooks: Sequence[PlannedHook],
    about: Tree,
    deadline: float | None,
    env: Mapping[str, str],
) -> EntryTurn | None:
    """Take a turn to run the hooks, or another entry's decision; None if nothing can be stored.

    `about` is what must be the same for both. Entries may run different hooks, because an agent that starts
    one entry may itself load files that the other does not know.
    """
    file = -1
    try:
        names = [hash_hook(hook) for hook in hooks]
        key = _hash_call(event, about)
        file = _open_file(key, env)
        turn, replayed_hooks = _begin_turn(
            EntryTurn(file, [], key, entry, names), event, _find_deadline(deadline)
        )
        turn = turn.replace(
            rest=[hook for hook, name in zip(hooks, names, strict=True) if name not in replayed_hooks]
        )
    except SPOILT:
        turn = None
    if turn is None and file >= 0:
        os.close(file)
    return turn


def replay_decision(turn: EntryTurn, event: Event) -> tuple[Event, Decision]:
    """Return the other entry's decision, with the call as rewritten."""
    decision, call = turn.decision or Decision(), event.call
    if decision.updated_input is None or call is None:
        return event, decision.replace(updated_input=None)
    if turn.raw == call.raw:  # the agent rewrote it before starting us
        return event, decision.replace(updated_input=None)
    return event.replace(call=call.replace(input=decision.updated_input, raw=turn.raw, parts=())), decision


def keep_decision(turn: EntryTurn, report: DispatchReport) -> None:
    """Store the decision for other entries, unless a hook's answer is missing.

    No secret is stored: a reason is redacted, and a call with a secret in its rewrite is not stored, so that
    the other entry runs the hooks itself.
    """
    decision, call = report.decision, report.event.call
    late = any(run.result is not None and run.result.outcome == "timeout" for run in report.runs)
    if late and decision.verdict != "deny":
        return
    is_changed = decision.updated_input is not None
    exact = [decision.updated_input, decision.replaced_result, call.raw if call and is_changed else None]
    if walk(exact, clean) != exact:
        return
    fields = {key: value for key, value in decision.as_dict().items() if value != getattr(Decision, key)}
    for key in SAID_ONCE:
        fields.pop(key, None)
    fields = {key: clean(value) if isinstance(value, str) else value for key, value in fields.items()}
    try:
        lock(turn.file, LOCK_SECONDS, TEXT)
        runs = _read_runs(turn.file)
        run = next(run for run in runs if run["run"] == turn.run)
        run |= {"by": turn.entry, "decided": time.time(), "decision": fields}
        run["hooks"] = list(dict.fromkeys([*run["hooks"], *turn.hooks]))
        if decision.updated_input is not None and call is not None:
            run["raw"] = call.raw
        run["prints"] = [*run["prints"], _hash_payload(turn.key, report.event)]
        _write_runs(turn.file, runs)
    except (StopIteration, *SPOILT):
        return


def release_turn(turn: EntryTurn) -> None:
    """Let other entries continue; closing the file releases its locks."""
    os.close(turn.file)


def _find_deadline(deadline: float | None) -> float:
    now = time.monotonic()
    return now + (LONGEST_WAIT if deadline is None else max(0.0, deadline - now) * SHARE)


def _begin_turn(turn: EntryTurn, event: Event, until: float) -> tuple[EntryTurn, Sequence[str]]:
    """Begin the turn; return it with the other entry's hooks."""
    file, entry = turn.file, turn.entry
    lock(file, LOCK_SECONDS, TEXT)
    now, print_ = time.time(), _hash_payload(turn.key, event)
    runs = [run for run in _read_runs(file) if _is_fresh(file, run, now)]
    other_runs = [run for run in runs if entry not in run["entries"] and print_ in run["prints"]]
    other_runs = [run for run in other_runs if not turn.hooks or set(turn.hooks) & set(run["hooks"])]
    # The newest: an older run whose second entry never came belongs to an earlier call.
    run: Tree = other_runs[-1] if other_runs else _make_run(event, now, print_, turn.hooks)
    run["entries"].append(entry)
    if not other_runs:
        lock(file, 0.0, _find_lock_place(run))
        runs.append(run)
    _write_runs(file, runs[-MOST_RUNS:])
    unlock(file, TEXT)
    turn = turn.replace(run=run["run"])
    return _follow_run(turn, run, until) if other_runs else (turn, ())


def _make_run(event: Event, now: float, print_: str, hooks: list[str]) -> Tree:
    seconds = SAME_ID_SECONDS if event.call is not None and event.call.id else SAME_SECONDS
    return {
        "run": [os.getpid(), now],
        "seconds": seconds,
        "entries": [],
        "hooks": hooks,
        "prints": [print_],
    }


def _follow_run(turn: EntryTurn, run: Tree, until: float) -> tuple[EntryTurn, Sequence[str]]:
    """Wait for the other entry's decision; a turn to run the hooks if its process ended without one."""
    if "decision" not in run:
        lock(turn.file, until - time.monotonic(), _find_lock_place(run))
        lock(turn.file, LOCK_SECONDS, TEXT)
        run = next((stored_run for stored_run in _read_runs(turn.file) if stored_run["run"] == turn.run), {})
        unlock(turn.file, TEXT)
    if "decision" not in run:
        return turn, ()
    decision = Decision(**run["decision"])
    return turn.replace(by=run["by"], decision=decision, raw=run.get("raw")), run["hooks"]


def _is_fresh(file: int, run: Tree, now: float) -> bool:
    """Whether a run may be of the same call."""
    age = now - (run["decided"] if "decision" in run else run["run"][1])
    if age <= run["seconds"]:
        return bool(age >= 0)
    return "decision" not in run and age <= LONGEST_RUN and _is_running(file, _find_lock_place(run))


def _is_running(file: int, place: int) -> bool:
    """Whether a run's process still works on it."""
    try:
        lock(file, 0.0, place)
    except (BlockingIOError, PermissionError):
        return True
    unlock(file, place)
    return False


def _hash_call(event: Event, about: Tree) -> str:
    """Hash what identifies one call if the agent names it, else one kind of event."""
    call = event.call.id if event.call is not None else ""
    return _hash_tree([event.agent, event.native, event.session, call, about])


def hash_hook(hook: PlannedHook) -> str:
    """Hash what identifies a hook: all its fields but those of the plan it is in."""
    return _hash_tree({key: value for key, value in hook.as_dict().items() if key not in OF_THE_PLAN})


def _hash_payload(key: str, event: Event) -> str:
    """Hash what two payloads of one event have in common: everything except their timestamps."""
    call = event.call
    fields = [event.cwd, event.prompt, event.final_message, event.stop_active, event.source, event.subagent]
    about = [call.native, call.server, call.mcp_tool, call.raw, call.result, call.error] if call else []
    return _hash_tree([key, *fields, event.facts, event.extra, about])


def _open_file(key: str, env: Mapping[str, str]) -> int:
    """Open one of 256 files, so that their number does not grow with every call."""
    place = journal.find_state_folder(env)
    if not place:
        raise OSError("no state folder")
    path = f"{place}/{FOLDER}/{key[:2]}"
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0)
    try:
        return os.open(path, flags, 0o600)
    except FileNotFoundError:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        return os.open(path, flags, 0o600)


def _hash_tree(tree: Tree) -> str:
    return sha256(dumps(tree, sort_keys=True, default=str).encode())


def _read_runs(file: int) -> list[Tree]:
    """Read the runs in a file; none if it is damaged."""
    os.lseek(file, 0, os.SEEK_SET)
    text = b""
    while part := os.read(file, 1 << 20):
        text += part
    try:
        return [_check_run(run) for run in loads(text.decode())] if text else []
    except SPOILT:
        return []


def _check_run(run: Tree) -> Tree:
    process, began = run["run"]
    checked = {
        "run": [int(process), float(began)],
        "seconds": float(run["seconds"]),
        "entries": [str(entry) for entry in run["entries"]],
        "hooks": [str(hook) for hook in run["hooks"]],
        "prints": [str(print_) for print_ in run["prints"]],
    }
    if "decision" in run:
        decision = Decision(**run["decision"])
        if decision.verdict not in VERDICTS or not isinstance(decision.updated_input, (dict, type(None))):
            raise ValueError("no decision")
        checked |= {"by": str(run["by"]), "decided": float(run["decided"]), "decision": run["decision"]}
        checked["raw"] = run.get("raw")
    return checked


def _write_runs(file: int, runs: list[Tree]) -> None:
    left = text = dumps(runs).encode()
    os.lseek(file, 0, os.SEEK_SET)
    while left:
        left = left[os.write(file, left) :]
    os.ftruncate(file, len(text))


def _find_lock_place(run: Tree) -> int:
    return TEXT + 1 + int(run["run"][0])
