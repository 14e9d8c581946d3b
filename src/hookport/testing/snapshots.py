"""Snapshots: the whole outcome of a case, stored in `tests/snapshots/`, equal in every run."""

from __future__ import annotations

import difflib
import json
from pathlib import Path

from hookport.base.tree import Tree
from hookport.runtime.records import describe_decision
from hookport.testing.compare import Difference
from hookport.testing.run import CaseRun

FOLDER = "snapshots"


def find_path(folder: Path, name: str, agent: str) -> Path:
    """The file of a snapshot, one per agent."""
    return folder / FOLDER / (f"{name}.{agent}.json" if agent else f"{name}.json")


def compare_snapshot(folder: Path, name: str, got: CaseRun, *, update: bool) -> tuple[list[Difference], bool]:
    """Compare with the stored snapshot; also return whether it was rewritten."""
    path = find_path(folder, name, got.agent)
    text = encode_snapshot(got)
    try:
        stored = path.read_text("utf-8")
    except FileNotFoundError:
        stored = ""
    except (OSError, UnicodeDecodeError) as error:
        return [Difference("snapshot", f"cannot read {path.name}: {error}")], False
    if stored == text:
        return [], False
    if update:
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")
        return [], True
    where = f"{FOLDER}/{path.name}"
    if not stored:
        return [Difference("snapshot", f"no {where} yet; `hookport test --update` writes it")], False
    message = f"differs from {where}; `hookport test --update` accepts it"
    return [Difference("snapshot", message, stored, text)], False


def encode_snapshot(got: CaseRun) -> str:
    """The content of a snapshot: the agent's answer, or a single hook's output; and the decision."""
    if got.answer is not None:
        streams: dict[str, Tree] = {
            "exit-code": got.answer.exit_code,
            "stdout": _read_json(got.answer.stdout),
            "stderr": got.answer.stderr,
        }
    else:
        streams = {"exit-code": got.exit_code, "stdout": _read_json(got.stdout), "stderr": got.stderr}
    tree = {
        "decision": describe_decision(got.decision),
        **({"agent": got.agent} if got.agent else {}),
        **streams,
    }
    return json.dumps(tree, indent=2, ensure_ascii=False, default=str) + "\n"


def _read_json(text: str) -> Tree:
    """Parse JSON, so that a diff shows its changes; other text stays a string."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def diff(expected: str, got: str) -> list[str]:
    """Lines that differ, with three around them, `-` for expected and `+` for got."""
    lines = difflib.unified_diff(expected.splitlines(), got.splitlines(), lineterm="", n=3)
    return [line for line in lines if not line.startswith(("---", "+++", "@@"))]
