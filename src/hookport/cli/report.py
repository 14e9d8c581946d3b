"""Findings for people and for machines, from the same data."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from hookport import findings as f
from hookport.console.terminal import Paint, make_plain
from hookport.findings import Finding

_RANK = {severity: number for number, severity in enumerate(reversed(f.SEVERITIES))}


class Head(NamedTuple):
    """Where a hook stands."""

    where: str
    file: str
    line: int
    column: int


NO_HEADS: Mapping[int, Head] = MappingProxyType({})


def as_json(finding: Finding) -> dict[str, str]:
    """The finding as `--json` prints it."""
    return {
        "code": finding.code,
        "severity": finding.severity,
        "where": format_place(finding),
        "message": finding.message,
        "hint": finding.hint,
    }


def as_placed_json(finding: Finding) -> dict[str, str | int]:
    """The same with the file, the line and the column for tools that show lines."""
    spot: dict[str, str | int] = {"file": finding.file, "line": finding.line, "column": finding.column}
    return {**as_json(finding), **(spot if finding.line else {})}


def format_place(finding: Finding | Head) -> str:
    """Format the file and line of a finding, where known, and the path in the file."""
    file = finding.file
    if file and finding.line:
        file += f":{finding.line}:{finding.column}"
    return ": ".join(part for part in (file, format_inner_path(finding)) if part)


def format_inner_path(finding: Finding | Head) -> str:
    """Format the path in the file, without the file."""
    if not finding.file or finding.where == finding.file:
        return "" if finding.file else finding.where
    return finding.where.removeprefix(f"{finding.file}: ")


def format_findings(
    findings: Iterable[Finding], paint: Paint, titles: Mapping[int, str], heads: Mapping[int, Head] = NO_HEADS
) -> str:
    """Format findings by hook, the worst first; a missing head is guessed from them."""
    findings = list(findings)
    guessed = _guess_heads([unplaced for unplaced in findings if unplaced.hook not in heads])
    heads = {**guessed, **heads}
    groups: dict[int | str, list[Finding]] = {}
    for finding in findings:
        hook = finding.hook if finding.hook is not None else _find_owner(finding, guessed)
        groups.setdefault(format_place(finding) if hook is None else hook, []).append(finding)
    text = ""
    for key, group in sorted(
        groups.items(), key=lambda item: min(_RANK[member.severity] for member in item[1])
    ):
        head = key or "in general" if isinstance(key, str) else format_place(heads[key])
        if not isinstance(key, str) and titles.get(key):
            head = f"{head} ({titles[key]})" if head else titles[key]
        text += f"{paint.fold(paint(make_plain(head), 'bold'), 2)}\n"
        for finding in sorted(group, key=lambda member: _RANK[member.severity]):
            part = "" if isinstance(key, str) else _find_extra_path(heads[key], finding)
            message = make_plain(f"{part}: {finding.message}" if part else finding.message)
            severity = paint(f"{finding.severity:5}", finding.severity)
            text += f"{paint.fold(f'  {severity} {finding.code} {message}', 8)}\n"
            if finding.hint and finding.severity != "note":
                text += paint.fold(f"        {paint(make_plain(finding.hint), 'note')}", 8) + "\n"
    return text


def _guess_heads(findings: list[Finding]) -> dict[int, Head]:
    """Guess the place of each hook from its findings: one without a line names the hook's own place."""
    best: dict[int, Finding] = {}
    for finding in findings:
        if finding.hook is not None and finding.where:
            other = best.setdefault(finding.hook, finding)
            if (finding.line > 0, len(finding.where)) < (other.line > 0, len(other.where)):
                best[finding.hook] = finding
    hooks = {hooked.hook for hooked in findings if hooked.hook is not None}
    return {hook: Head(best[hook].where if hook in best else "", "", 0, 0) for hook in hooks}


def _find_owner(finding: Finding, heads: Mapping[int, Head]) -> int | None:
    """Find the hook of a finding that names none: the finding's place is inside the hook's place."""
    texts = (format_inner_path(finding), f"{finding.file}: {format_inner_path(finding)}")
    for hook, head in heads.items():
        if head.where and any(f"{text}.".startswith((f"{head.where}.", f"{head.where}[")) for text in texts):
            return hook
    return None


def _find_extra_path(head: Head, finding: Finding) -> str:
    """Find what a finding's place adds to the place of its hook: `matcher`, `timeout`."""
    known = head.where.partition(": ")[0] if ": " in head.where else ""
    where = format_inner_path(finding) if head.file or finding.hook is None else finding.where
    ours = _split_steps(where.removeprefix(f"{known}: "))
    theirs = _split_steps(format_inner_path(head).removeprefix(f"{known}: "))
    common = 0
    while common < min(len(ours), len(theirs)) and ours[common] == theirs[common]:
        common += 1
    return "".join(ours[common:]).removeprefix(".")


def _split_steps(where: str) -> list[str]:
    return re.split(r"(?=[.\[])", where)


def compute_exit_code(findings: Sequence[Finding], *, strict: bool) -> int:
    """Compute the exit code of a command from its findings."""
    bad = ("error", "loss") if strict else ("error",)
    return int(any(finding.severity in bad for finding in findings))


def format_sarif(findings: Sequence[Finding], version: str) -> str:
    """Format findings as SARIF 2.1.0, which code hosts show beside the lines."""
    levels = {"note": "note", "loss": "warning", "error": "error"}
    rules = [
        {
            "id": code,
            "name": kind.__name__,
            "shortDescription": {"text": summarize_kind(kind)},
            "defaultConfiguration": {"level": levels[kind.severity]},
        }
        for code, kind in sorted(f.KINDS.items())
        if any(finding.code == code for finding in findings)
    ]
    results = [
        {
            "ruleId": finding.code,
            "level": levels[finding.severity],
            "message": {"text": _join_sentences(finding)},
            "locations": [
                {
                    "physicalLocation": {
                        "artifactLocation": {"uri": finding.file},
                        "region": {"startLine": max(finding.line, 1), "startColumn": max(finding.column, 1)},
                    },
                    **({"logicalLocations": [{"fullyQualifiedName": where}]} if where else {}),
                }
            ],
        }
        for finding in findings
        for where in (format_inner_path(finding),)
    ]
    tool = {"driver": {"name": "hookport", "version": version, "rules": rules}}
    log = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": tool, "results": results}],
    }
    return json.dumps(log, indent=2) + "\n"


def _join_sentences(finding: Finding) -> str:
    end = "" if finding.message.endswith((".", "?", "!")) or not finding.hint else "."
    return f"{finding.message}{end} {finding.hint}".strip()


def summarize_kind(kind: type[f.Kind]) -> str:
    """Return the first sentence of a finding's page."""
    return (kind.__doc__ or "").strip().partition("\n")[0]


def format_github(findings: Sequence[Finding]) -> str:
    """Format findings as workflow commands, which GitHub shows beside the lines of a change."""
    commands = {"note": "notice", "loss": "warning", "error": "error"}
    lines = []
    for finding in findings:
        line, column = max(finding.line, 1), max(finding.column, 1)
        where = f"file={make_plain(_escape(finding.file))},line={line},col={column}"
        message = _escape(": ".join(part for part in (format_inner_path(finding), finding.message) if part))
        lines.append(f"::{commands[finding.severity]} {where},title={finding.code}::{make_plain(message)}\n")
    return "".join(lines)


def _escape(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A").replace("::", "%3A%3A")
