"""Answers by the interchange format's contract: exit codes 0, 1, 2 and the JSON printed with 0.

The truth table of `blocking`, exit code and decision is that of the public draft 0.1, section 5.3, which
1.0 keeps: exit code 2 of a hook that may not block is a failure, a printed deny always denies.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hookport.model.runs import BLOCK, Decision, RunResult

if TYPE_CHECKING:
    from hookport.model.runs import Verdict

_VERDICTS: dict[str, Verdict] = {"allow": "allow", "deny": "deny", "ask": "ask"}


def read_answer(result: RunResult, *, blocking: bool) -> Decision:
    """What a script written for the interchange format decided."""
    code = result.exit_code
    if result.outcome != "completed" or code is None:
        return Decision(failure=result.outcome.replace("_", " "))
    if code == BLOCK and blocking:
        reason = result.stderr.strip() or _text(_object(result.stdout) or {}, "reason")
        return Decision("deny", reason)
    if code != 0:
        return Decision(failure=f"exit code {code}", reason=result.stderr.strip())
    if not result.stdout.strip():
        return Decision()
    answer = _object(result.stdout)
    if answer is None:
        return Decision(failure="stdout is not a JSON object")
    verdict = answer.get("decision")
    if verdict is not None and verdict not in _VERDICTS:
        return Decision(failure=f"unknown decision {verdict!r}")
    updated = answer.get("updated_input")
    return Decision(
        verdict=_VERDICTS[verdict] if verdict else "none",
        reason=_text(answer, "reason"),
        context=_text(answer, "context"),
        carry_on=answer.get("continue") is not False,
        updated_input=updated if isinstance(updated, dict) else None,
        suppress_output=answer.get("suppress_output") is True,
        system_message=_text(answer, "system_message"),
    )


def _object(text: str) -> dict[str, Any] | None:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _text(answer: dict[str, Any], key: str) -> str:
    value = answer.get(key)
    return value if isinstance(value, str) else ""
