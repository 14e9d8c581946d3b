"""What a record of the journal says, in lines for a person: whole in a pipe, to fit on a terminal."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from hookport.base.paths import spell_path
from hookport.console.terminal import Paint, format_columns, make_plain

Record = dict[str, Any]

# The field of an input that says what a call is about.
SUBJECTS = ("command", "path", "url", "query", "pattern", "prompt", "skill", "description")
STYLES = {"deny": "dropped", "ask": "changed", "allow": "kept"}
# In a pipe: time, agent, project, event and verdict, then the subject and the reason, which may be long.
PIPED_WIDTHS = (19, 15, 20, 19, 5, 40)
# On a terminal: time of day, verdict, agent and project, then what happened, beside them if there is room.
DRAWN_WIDTHS = (8, 5, 15, 14)
LEAST_BESIDE = 22
INDENT = 10
# A text is cut on a terminal only, where the first lines of a long command are enough to know it by.
WIDEST_DRAWN = 160
# The event that a line with a tool is about unless it names another.
USUAL_EVENT = "before_tool_execute"


class RecordPrinter:
    """Formats one record after the other; on a terminal each day has a heading."""

    def __init__(self, paint: Paint, hook: str = "") -> None:
        self.paint, self.hook, self.day = paint, hook, ""

    def format(self, record: Record) -> str:
        """Format an event, and below it what failed, what was noted and the runs of the named hook."""
        return self._draw(record) if self.paint.width else self._spell(record)

    def _spell(self, record: Record) -> str:
        when, verdict, project = read_time(record), read_verdict(record), find_project(record)
        cells = [
            f"{when.astimezone():%Y-%m-%d %H:%M:%S}" if when else flatten(record["time"]),
            flatten(record.get("agent")),
            _spell_project(project),
            flatten(record.get("event")),
            self.paint(verdict, STYLES.get(verdict, "note")),
            flatten(_find_subject(record)),
            _explain_decision(record, verdict),
        ]
        below = "".join(f"  {self._paint_below(*line)}\n" for line in self._list_below(record))
        return format_columns(cells, PIPED_WIDTHS, self.paint) + below

    def _draw(self, record: Record) -> str:
        when, verdict = read_time(record), read_verdict(record)
        local = when.astimezone() if when else None
        day = f"{local:%Y-%m-%d}" if local else "without a time"
        heading = "" if day == self.day else f"{self.paint(day, 'bold')}\n"
        self.day = day
        widths = DRAWN_WIDTHS
        cells = [
            f"{local:%H:%M:%S}" if local else "",
            self.paint(verdict, STYLES.get(verdict, "note")),
            flatten(record.get("agent")),
            name_project(record),
        ]
        happened = self._describe(record)
        is_beside = self.paint.width - sum(widths) - 2 * len(widths) >= LEAST_BESIDE
        row = (
            format_columns([*cells, happened], widths, self.paint)
            if is_beside
            else format_columns(cells, widths[:-1], self.paint)
        )
        reason = _cut(_explain_decision(record, verdict))
        below = [self._paint_below(word, _cut(text)) for word, text in self._list_below(record)]
        lines = [line for line in ("" if is_beside else happened, reason, *below) if line]
        blank = " " * INDENT
        return heading + row + "".join(f"{self.paint.fold(blank + line, INDENT)}\n" for line in lines)

    def _describe(self, record: Record) -> str:
        """Describe a call by its tool and main argument, and the event if it is not the usual one."""
        subject, event = _cut(flatten(_find_subject(record))), flatten(record.get("event"))
        if not subject:
            return event
        return subject if event == USUAL_EVENT else f"{subject} {self.paint(f'({event})', 'note')}"

    def _paint_below(self, word: str, text: str) -> str:
        return f"{self.paint(word, 'error')} {text}" if word else text

    def _list_below(self, record: Record) -> Iterator[tuple[str, str]]:
        """List what stands below an event: each line, and the word before it where a hook failed."""
        hooks = list_hooks(record)
        for hook in hooks:
            if hook.get("failure"):
                yield "failed", f"{_name_hook(hook)}: {flatten(hook['failure'])}{_format_stderr(hook)}"
            elif self.hook and is_named(hook, self.hook):
                yield "", f"{_name_hook(hook)}: {_describe_hook(hook)}"
        message = _read_decision(record).get("system_message")
        if message and not any(hook.get("failure") for hook in hooks):
            # A failure outside hooks, such as a payload that cannot be read, stands only here.
            yield "", flatten(message)
        notes = record.get("notes")
        for note in notes if isinstance(notes, list) else ():
            yield "", flatten(note)


@cache
def _spell_project(project: str) -> str:
    return flatten(spell_path(project, "", os.environ)) if project else "–"


def find_project(record: Record) -> str:
    """Find the folder of a record's project; an older record has only the folder of the event."""
    return str(record.get("root") or record.get("cwd") or "")


def name_project(record: Record) -> str:
    """Name a project by its folder."""
    return flatten(Path(find_project(record)).name) or "–"


def flatten(value: object) -> str:
    """Put a text on one line; terminal control characters become escapes."""
    return make_plain(" ".join(str("" if value is None else value).split()))


def list_hooks(record: Record) -> list[Record]:
    """List the runs of hooks."""
    hooks = record.get("hooks")
    return [hook for hook in hooks if isinstance(hook, dict)] if isinstance(hooks, list) else []


def is_named(hook_record: Record, name: str) -> bool:
    """Whether a hook has this in its name or file."""
    return any(
        name.lower() in str(hook_record.get(field, "")).lower() for field in ("hook", "place", "source")
    )


def read_verdict(record: Record) -> str:
    """Read what was decided."""
    return flatten(_read_decision(record).get("verdict") or "none")


def read_time(record: Record) -> datetime | None:
    """Read when it happened."""
    try:
        when = datetime.fromisoformat(record["time"])
    except ValueError:
        return None
    return when if when.tzinfo else when.replace(tzinfo=UTC)


def _cut(text: str) -> str:
    return text if len(text) <= WIDEST_DRAWN else f"{text[: WIDEST_DRAWN - 1].rstrip()}…"


def _explain_decision(record: Record, verdict: str) -> str:
    """Name the first hook with the verdict, or else the first that failed, and the reason."""
    hooks = list_hooks(record) if verdict != "none" else []
    same = [hook for hook in hooks if _read_decision(hook).get("verdict") == verdict]
    by = next(iter(same or [hook for hook in hooks if hook.get("failure")]), {})
    reason = _read_decision(by).get("reason") or _read_decision(record).get("reason")
    return ": ".join(part for part in (_name_hook(by), flatten(reason)) if part)


def _describe_hook(hook_record: Record) -> str:
    if not hook_record.get("matched"):
        return f"did not run: {flatten(hook_record.get('why') or 'it does not match')}"
    seconds = hook_record.get("seconds")
    spent = f" in {seconds:.3f} s" if isinstance(seconds, (int, float)) else ""
    ended = f", exit {flatten(hook_record['exit'])}" if hook_record.get("exit") is not None else ""
    reason = flatten(_read_decision(hook_record).get("reason"))
    return f"{read_verdict(hook_record)}{spent}{ended}{': ' * bool(reason)}{reason}"


def _format_stderr(hook_record: Record) -> str:
    """Format the last line of stderr, which is where a traceback names the error."""
    stderr_lines = str(hook_record.get("stderr") or "").strip().splitlines()
    return f" (stderr: {flatten(stderr_lines[-1])})" if stderr_lines else ""


def _find_subject(record: Record) -> str:
    """Find the tool and its main argument: `shell rm -rf build`."""
    tool = record.get("tool") or record.get("native_tool") or ""
    tool_input = record.get("input")
    about = (
        next((tool_input[name] for name in SUBJECTS if tool_input.get(name)), "")
        if isinstance(tool_input, dict)
        else ""
    )
    if isinstance(about, str) and isinstance(record.get("cwd"), str) and record["cwd"]:
        about = about.removeprefix(record["cwd"].rstrip("/\\") + "/")
    return f"{tool} {about}"


def _name_hook(hook_record: Record) -> str:
    return flatten(hook_record.get("hook") or hook_record.get("place"))


def _read_decision(record: Record) -> Record:
    """Read the decision of an event or of a hook."""
    decision = record.get("decision")
    return decision if isinstance(decision, dict) else {}
