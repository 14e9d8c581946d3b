"""Events as received and their answers, one JSON file each. Recording never makes a dispatch fail.

Nothing is redacted here, because the agent's real payload is wanted. `hookport record` makes test cases from
these files, and hides secrets then.
"""

from __future__ import annotations

import os
import time

from hookport.base.files import keep_file
from hookport.model.json_text import dumps
from hookport.runtime import journal
from hookport.wire.spellings import format_time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from hookport.base.tree import Tree
    from hookport.model.runs import Answer
    from hookport.runtime.answer import DispatchResult


VERSION = 1


class Recording:
    """One event in progress; `result` is its outcome, once known."""

    def __init__(self, folder: str, command: list[str], agent: str, native: str, payload: bytes) -> None:
        self.folder = folder
        self.command = command
        self.agent, self.native = agent, native
        self.payload = payload
        self.result: DispatchResult | None = None
        self.came_ns = time.time_ns()

    def write(self, answer: Answer | None, env: Mapping[str, str]) -> None:
        """Write the file; an answer of None means that the event was ended before its answer.

        An error becomes a line of the journal, because stderr is part of the agent's answer.
        """
        try:
            _write_record(self.folder, f"{self.came_ns:020d}-{os.getpid()}.json", self._record(answer))
        except Exception as error:  # noqa: BLE001  (a recording is not worth a tool call)
            why = error.strerror or str(error) if isinstance(error, OSError) else repr(error)
            note = f"the event was not recorded in '{self.folder}': {why}"
            journal.write({"agent": self.agent, "native": self.native, "notes": [note]}, env)

    def _record(self, answer: Answer | None) -> dict[str, Tree]:
        record: dict[str, Tree] = {
            "version": VERSION,
            "time": format_time(self.came_ns / 1e9),
            "pid": os.getpid(),
            "command": self.command,
            "cwd": _find_folder(),
            "agent": self.agent,
            "native": self.native,
            **_encode_payload(self.payload),
        }
        if self.result is not None:
            from hookport.runtime import records

            report = self.result.report
            record |= {"event": report.event.event, "native": report.event.native}
            record["decision"] = records.describe_decision(report.decision)
            record["hooks"] = [records.make_run_record(run) for run in report.runs]
            record["notes"] = list(self.result.notes)
        record["answer"] = answer and answer.as_dict()
        record["seconds"] = round((time.time_ns() - self.came_ns) / 1e9, 4)
        return record


def _find_folder() -> str:
    try:
        return os.getcwd()
    except FileNotFoundError:  # removed while the agent is in it
        return ""


def _encode_payload(payload: bytes) -> dict[str, str]:
    """Encode the payload so that its bytes can be restored: as text if it is UTF-8."""
    try:
        return {"payload": payload.decode("utf-8")}
    except UnicodeDecodeError:
        import binascii

        return {"payload_base64": binascii.b2a_base64(payload, newline=False).decode("ascii")}


def _write_record(folder: str, name: str, record: dict[str, Tree]) -> None:
    """Write a record whole or not at all, readable only by its owner."""
    data = dumps(record, default=str).encode("ascii") + b"\n"
    keep_file(os.path.join(folder, name), data)
