"""Parts of the documents that `--json` prints; `schemas/output/` lists their keys.

Each command describes its document as a class named `Document`, and the schemas follow from these classes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, NotRequired, TypedDict

from hookport.base.tree import Tree

if TYPE_CHECKING:
    from hookport.findings import Finding
    from hookport.project.contents import Change


class ErrorEntry(NamedTuple):
    """One thing wrong; the place in the file is null where it is unknown."""

    message: str
    file: str | None
    line: int | None
    column: int | None
    where: str | None


class ErrorDocument(NamedTuple):
    """What a command prints instead of its document when it cannot do its work."""

    errors: tuple[ErrorEntry, ...]
    hint: str | None
    exit_code: int


class FindingDocument(NamedTuple):
    """A finding; `file`, `line` and `column` are null where the finding is about no line."""

    code: str
    severity: Literal["error", "loss", "note"]
    where: str
    message: str
    hint: str
    file: str | None
    line: int | None
    column: int | None


class FileDocument(NamedTuple):
    """A file and what happened to it, or with --dry-run would happen."""

    path: str
    action: Literal["created", "changed", "restored", "removed", "unchanged"]


class DecisionDocument(TypedDict, total=False):
    """A decision; a key other than `verdict` is there only where the hook set it."""

    verdict: Literal["none", "allow", "ask", "deny"]
    reason: str
    context: str
    carry_on: bool
    updated_input: dict[str, Tree]
    suppress_output: bool
    system_message: str
    replaced_result: Tree
    failure: str
    noise: str
    more: dict[str, Tree]


# `async` is no name for a field.
RunDocument = TypedDict(
    "RunDocument",
    {
        "hook": str,
        "source": str,
        "place": str,
        "matched": bool,
        "why": str,
        "decision": NotRequired[DecisionDocument],
        "seconds": NotRequired[float],
        "async": NotRequired[bool],
        "failure": NotRequired[str],
        "outcome": NotRequired[
            Literal["completed", "timeout", "signal", "spawn_error", "stdin_error", "not_started"]
        ],
        "exit": NotRequired[int | None],
        "stderr": NotRequired[str],
    },
)
RunDocument.__doc__ = (
    """A hook on one event; the keys after `why` are there if it matched, the last three if it started."""
)


class AnswerDocument(TypedDict):
    """What the agent receives."""

    stdout: str
    stderr: str
    exit_code: int


class CallDocument(TypedDict, total=False):
    """A tool call; empty fields are left out."""

    tool: str
    native: str
    also: list[str]
    input: dict[str, Tree]
    raw: Tree
    id: str
    result: Tree
    text: str
    error: Tree
    server: str
    mcp_tool: str
    known_by: str


class EventDocument(TypedDict, total=False):
    """An event in canonical words; empty fields are left out."""

    event: str
    agent: str
    native: str
    session: str
    cwd: str
    root: str
    timestamp: str
    call: CallDocument
    prompt: str
    final_message: str
    stop_active: bool
    source: str
    subagent: str
    facts: dict[str, Tree]
    extra: dict[str, Tree]
    absent: list[list[str]]


def describe_finding(finding: Finding) -> FindingDocument:
    """Describe a finding for `--json`."""
    from hookport.cli.report import format_place

    return FindingDocument(
        finding.code,
        finding.severity,
        format_place(finding),
        finding.message,
        finding.hint,
        finding.file or None,
        finding.line or None,
        finding.column or None,
    )


def describe_change(change: Change) -> FileDocument:
    """Describe a change of a file for `--json`."""
    if change.before is None:
        return FileDocument(change.path, "created")
    return FileDocument(change.path, "removed" if change.after is None else "changed")
