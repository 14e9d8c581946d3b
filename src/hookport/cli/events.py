"""Events that a person names on the command line: a payload of any dialect, recognised and translated."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple, cast

from hookport.agents import get, get_wire, list_agents, recognise_payload
from hookport.cli.output import EventDocument
from hookport.console.terminal import make_plain
from hookport.errors import InputError, Problem, UsageError, suggest_closest
from hookport.findings import (
    AnswerUnsaid,
    Finding,
    HookFailed,
    Kind,
    MatcherUndecided,
    NoisyAnswer,
    StopLoopEnded,
    TranscriptIncomplete,
)
from hookport.model.runs import Call, Event
from hookport.runtime.engine import DispatchReport
from hookport.wire.events import find_fired_native, read_event, write_event
from hookport.wire.table import Wire

# What the runtime notes, by the word it starts with.
NOTES: dict[str, type[Kind]] = {
    "doubt": MatcherUndecided,
    "noise": NoisyAnswer,
    "unsaid": AnswerUnsaid,
    "loop": StopLoopEnded,
    "transcript": TranscriptIncomplete,
}
SHORT = 100


class NamedEvent(NamedTuple):
    """The event, and the wire of the agent that fires it."""

    event: Event
    wire: Wire

    def title(self) -> str:
        """Describe the event in one line."""
        call = self.event.call
        text = f"{self.event.event}"
        if call is not None:
            about = next(
                (str(call.input[key]) for key in ("command", "path", "url", "query") if call.input.get(key)),
                "",
            )
            first = call.parts[0] if call.parts else call
            text += f" {first.tool or call.native}"
            text += f": {about}" if about else ""
        elif self.event.prompt:
            text += f": {self.event.prompt}"
        line = text.splitlines()[0]
        line = line if len(line) <= SHORT else line[: SHORT - 1] + "…"
        return f"{make_plain(line)}  ({self.wire.id} {self.event.native})"

    def describe(self, event: Event) -> EventDocument:
        """Describe the event for `--json`, without empty fields."""
        tree = {key: value for key, value in event.as_dict().items() if value and key != "call"}
        if event.call is not None:
            call = event.call.replace(parts=())
            tree["call"] = {key: value for key, value in call.as_dict().items() if value}
        return cast("EventDocument", tree)


def read_named_event(path: str, agent: str | None, name: str | None) -> NamedEvent:
    """Read the event in a file, as the named agent would fire it."""
    payload = _read_payload(path)
    candidates = recognise_payload(payload)
    # Agents that copied another's events know its payloads too, so only the likeliest is taken as it is.
    is_own = bool(candidates) and candidates[0][0] == agent
    if agent and (is_own or name):
        agent_wire = get_wire(get(agent).id)
        native = name or candidates[0][1]
        if native not in agent_wire.events:
            raise UsageError(
                f"unknown event '{native}' of {agent}.{suggest_closest(native, tuple(agent_wire.events))}"
            )
        return NamedEvent(read_event(agent_wire, payload, native), agent_wire)
    if not candidates:
        raise InputError(
            Problem(
                "not the payload of a known agent",
                file=path,
            ),
            hint="name the agent and its event: --agent AGENT --event EVENT",
        )
    dialect, native = candidates[0]
    event = read_event(get_wire(dialect), payload, native)
    if not agent:
        return NamedEvent(event, get_wire(dialect))
    agent_wire = get_wire(get(agent).id)
    native = find_fired_native(agent_wire, event)
    if not native:
        others = (
            ", ".join(agent_id for agent_id in list_agents() if find_fired_native(get_wire(agent_id), event))
            or "none"
        )
        about = f" on {event.call.tool or event.call.native}" if event.call else ""
        raise UsageError(
            f"{agent} has no event like {event.event}{about}", hint=f"agents that have it: {others}"
        )
    return NamedEvent(read_event(agent_wire, write_event(agent_wire, event), native), agent_wire)


def make_command_event(line: str, agent: str, cwd: str) -> NamedEvent:
    """Make the event that an agent fires before it runs a shell command."""
    agent_wire = get_wire(get(agent).id)
    call = Call("shell", input={"command": line})
    event = Event("before_tool_execute", "", session="why", cwd=cwd, root=cwd, call=call)
    native = find_fired_native(agent_wire, event)
    if not native:
        raise UsageError(f"{agent_wire.id} fires no event before a shell command.")
    return NamedEvent(
        read_event(agent_wire, write_event(agent_wire, event.replace(native=native)), native), agent_wire
    )


def find_last_event(env: Mapping[str, str], agent: str | None) -> NamedEvent:
    """Find the last event of the journal, of one agent if named."""
    from hookport.testing import happened

    events = [event for event in happened.read_journal(env).events if not agent or event.event.agent == agent]
    if not events:
        about = f" of {agent}" if agent else ""
        raise UsageError(f"the journal has no event{about}", hint="use --payload FILE or --command LINE")
    return NamedEvent(events[-1].event, get_wire(events[-1].event.agent))


def _read_payload(path: str) -> dict[str, object]:
    try:
        data = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
        tree = json.loads(data.decode("utf-8-sig"))
    except FileNotFoundError as error:
        raise InputError(Problem("does not exist", file=path)) from error
    except OSError as error:
        raise InputError(Problem(f"cannot be read: {error.strerror or error}", file=path)) from error
    except UnicodeDecodeError as error:
        raise InputError(Problem(f"not UTF-8: {error.reason}", file=path)) from error
    except json.JSONDecodeError as error:
        raise InputError(
            Problem(f"not JSON: {error.msg.lower()}", file=path, line=error.lineno, column=error.colno)
        ) from error
    except RecursionError as error:
        raise InputError(Problem("nested too deeply", file=path)) from error
    if not isinstance(tree, dict):
        raise InputError(Problem("an event is a JSON object", file=path))
    return tree


def collect_findings(done: DispatchReport, notes: Iterable[str]) -> list[Finding]:
    """Collect what the runtime noted, as findings."""
    findings = [
        HookFailed.at(run.hook.place, name=run.hook.name, why=run.answered.failure)._replace(
            file=run.hook.file
        )
        for run in done.runs
        if run.answered.failure
    ]
    for run in done.runs:
        findings += [
            finding._replace(file=run.hook.file) for finding in _make_note_findings(run.notes, run.hook.place)
        ]
    run_notes = [note for run in done.runs for note in run.notes]
    return findings + _make_note_findings([note for note in notes if note not in run_notes], "")


def _make_note_findings(notes: Iterable[str], where: str) -> list[Finding]:
    pairs = [note.partition(": ") for note in notes]
    return [NOTES[word].at(where, text=text) for word, _, text in pairs if word in NOTES]
