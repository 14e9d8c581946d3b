"""Findings for people and for machines, from the same data."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

from hookport import findings as f
from hookport.cli.terminal import Paint
from hookport.findings import Finding

_RANK = {severity: number for number, severity in enumerate(reversed(f.SEVERITIES))}


def as_json(finding: Finding) -> dict[str, str]:
    """The finding as `--json` prints it."""
    return {
        "code": finding.code,
        "severity": finding.severity,
        "where": place(finding),
        "message": finding.message,
        "hint": finding.hint,
    }


def place(finding: Finding) -> str:
    """The file and line of a finding where they are known, and the path in the file."""
    file = finding.file
    if file and finding.line:
        file += f":{finding.line}:{finding.column}"
    if not file or finding.where.startswith(file):
        return finding.where
    return f"{file}: {finding.where}" if finding.where and finding.where != finding.file else file


def grouped(findings: Iterable[Finding], paint: Paint, titles: Mapping[int, str]) -> str:
    """Findings by hook, the worst hook first, the worst finding first."""
    groups: dict[str, list[Finding]] = {}
    for finding in findings:
        groups.setdefault(place(finding), []).append(finding)
    text = ""
    for where, group in sorted(groups.items(), key=lambda item: min(_RANK[one.severity] for one in item[1])):
        title = titles.get(group[0].hook, "") if group[0].hook is not None else ""
        head = " ".join(part for part in (where or "in general", f"({title})" if title else "") if part)
        text += f"{paint(head, 'bold')}\n"
        for finding in sorted(group, key=lambda one: _RANK[one.severity]):
            text += f"  {paint(f'{finding.severity:5}', finding.severity)} {finding.code} {finding.message}\n"
            if finding.hint and finding.severity != "note":
                text += f"        {paint(finding.hint, 'note')}\n"
    return text


def worst(findings: Sequence[Finding], *, strict: bool) -> int:
    """The exit code that findings mean."""
    bad = ("error", "loss") if strict else ("error",)
    return int(any(finding.severity in bad for finding in findings))


def sarif(findings: Sequence[Finding], version: str) -> str:
    """SARIF 2.1.0, which code hosts show beside the lines."""
    levels = {"note": "note", "loss": "warning", "error": "error"}
    rules = [
        {
            "id": code,
            "name": kind.__name__,
            "shortDescription": {"text": summary(kind)},
            "defaultConfiguration": {"level": levels[kind.severity]},
        }
        for code, kind in sorted(f.KINDS.items())
        if any(finding.code == code for finding in findings)
    ]
    results = [
        {
            "ruleId": finding.code,
            "level": levels[finding.severity],
            "message": {"text": " ".join(part for part in (finding.message, finding.hint) if part)},
            "locations": [
                {
                    "physicalLocation": {
                        "artifactLocation": {"uri": finding.file},
                        "region": {"startLine": max(finding.line, 1), "startColumn": max(finding.column, 1)},
                    },
                    "logicalLocations": [{"fullyQualifiedName": finding.where}],
                }
            ],
        }
        for finding in findings
    ]
    tool = {"driver": {"name": "hookport", "version": version, "rules": rules}}
    log = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": tool, "results": results}],
    }
    return json.dumps(log, indent=2) + "\n"


def summary(kind: type[f.Kind]) -> str:
    """The first sentence of a finding's page."""
    return (kind.__doc__ or "").strip().partition("\n")[0]


def github(findings: Sequence[Finding]) -> str:
    """Workflow commands that GitHub shows beside the lines of a change."""
    commands = {"note": "notice", "loss": "warning", "error": "error"}
    lines = []
    for finding in findings:
        where = f"file={_escape(finding.file)},line={max(finding.line, 1)},col={max(finding.column, 1)}"
        message = _escape(f"{finding.where}: {finding.message}" if finding.where else finding.message)
        lines.append(f"::{commands[finding.severity]} {where},title={finding.code}::{message}\n")
    return "".join(lines)


def _escape(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A").replace("::", "%3A%3A")
