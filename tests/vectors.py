"""Vector files: cases of one dialect as YAML, native text in literal blocks.

    - name: what the case shows
      identity: TEXT                    decoding and encoding with the text as base gives it back
    - name: …
      read: TEXT                        decoding gives this manifest (canonical `hooks`) and these findings
      gives: [hook, …]
      findings: [HP101 …]
    - name: …
      convert: TEXT                     a source (`from`, canonical by default) written in this dialect
      from: claude-code
      gives: TEXT
      lines: PATTERN                    only the lines it is found in are given, for generated code
      findings: [HP401 …]
    - name: …
      refuse: TEXT                      reading stops with this message
      says: message

TEXT is a string for the one file of the dialect (`file` names it where it matters), or a mapping from path to
string for several.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

from hookport.agents import get
from hookport.convert import edit, pipeline
from hookport.errors import InputError
from hookport.findings import Finding
from hookport.model.hooks import Manifest
from tests import agent_data

FILES = agent_data.find("vectors.yaml")
Case = dict[str, Any]


def load(path: Path) -> list[Case]:
    """The cases of one vector file."""
    cases: list[Case] = agent_data.read_yaml(path) or []
    return cases


def cases_of(dialect: str) -> list[Case]:
    """The cases of a dialect; none where it has no file of them."""
    return load(FILES[dialect]) if dialect in FILES else []


def save(path: Path, cases: list[Case]) -> None:
    """Write the cases back, long texts as literal blocks."""

    class Dumper(yaml.SafeDumper):
        def increase_indent(self, flow: bool = False, indentless: bool = False) -> Any:
            return super().increase_indent(flow, indentless=False)

    def text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style="|" if "\n" in value else None)

    Dumper.add_representer(str, text)
    dumped = yaml.dump(cases, Dumper=Dumper, sort_keys=False, allow_unicode=True, width=110)
    path.write_text(dumped.replace("\n- name:", "\n\n- name:"), "utf-8")


def files(case: Case, key: str, dialect: str) -> dict[str, bytes]:
    """The files that a case gives under a key."""
    text = case[key]
    if isinstance(text, dict):
        return {path: content.encode() for path, content in text.items()}
    name = case.get("file") or get(dialect).locations[0].path
    return {name: text.encode()}


def spelled(findings: tuple[Finding, ...]) -> list[str]:
    """Findings as vectors write them: the codes, sorted, each as often as it was reported."""
    return sorted(finding.code for finding in findings)


def hooks_of(reading: pipeline.Reading) -> list[Any]:
    """The hooks of a reading as the canonical dialect writes them."""
    hub = get("canonical")
    hooks: list[Any] = []
    for hook in reading.decoded.manifest.hooks:
        shown = (
            hook._replace(handler=hook.handler._replace(type="command"))
            if hook.handler.type == "native"
            else hook
        )
        entry = next(iter(hub.shape.encode(hub, Manifest((shown,))).values()))["hooks"][0]
        if hook.handler.type == "native":
            entry["handler"]["type"] = "native"
        hooks.append(entry)
    return hooks


def run(dialect: str, case: Case) -> Case:
    """The case with its expected parts replaced by what really comes out."""
    if "identity" in case:
        given = files(case, "identity", dialect)
        reading = pipeline.read(given, get(dialect))
        out = edit.encode(reading, reading.decoded.manifest.hooks)
        return {**case, "identity": _texts(case["identity"], out)}
    if "read" in case:
        reading = pipeline.read(files(case, "read", dialect), get(dialect))
        codes = spelled(reading.decoded.findings)
        return {
            **case,
            "gives": hooks_of(reading),
            **({"findings": codes} if codes or "findings" in case else {}),
        }
    if "convert" in case:
        source = case.get("from", "canonical")
        reading = pipeline.read(files(case, "convert", source), get(source))
        result = pipeline.convert(reading, get(dialect), bare=not case.get("wrapped"))
        one = len(result.files) == 1 and not isinstance(case.get("gives"), dict)
        texts = {file.path: _lines(file.text, case.get("lines", "")) for file in result.files}
        gives: Any = next(iter(texts.values())) if one else texts
        return {**case, "gives": gives, "findings": spelled(result.findings)}
    try:
        pipeline.read(files(case, "refuse", dialect), get(dialect))
    except InputError as error:
        return {**case, "says": str(error)}
    return {**case, "says": "nothing: it was read"}


def _lines(text: str, pattern: str) -> str:
    return (
        "".join(line for line in text.splitlines(keepends=True) if re.search(pattern, line))
        if pattern
        else text
    )


def _texts(like: Any, out: dict[str, bytes]) -> Any:
    if isinstance(like, dict):
        return {path: data.decode() for path, data in out.items()}
    return next(iter(out.values())).decode()
