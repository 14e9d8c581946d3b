"""The published JSON Schemas accept what hookport reads and refuse what it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from hookport import findings
from hookport.agents import get, list_dialects
from hookport.convert import pipeline
from hookport.documents import detect_kind, parse
from hookport.testing import load
from hookport.testing.suite import Case
from tests import vectors
from tests.test_conformance import FULL, manifest

FOLDER = Path(__file__).parent.parent / "schemas"
ROOT = FOLDER.parent
FORMATS = [name for name in list_dialects() if get(name).kind == "format"]


def validator(dialect: str) -> jsonschema.Draft202012Validator:
    """The validator of a format."""
    schema = json.loads((FOLDER / f"{dialect}.schema.json").read_text("utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def documents(dialect: str, files: dict[str, bytes]) -> list[Any]:
    """What a schema is for: the tree, or the frontmatter of it."""
    trees = [
        parse(data, detect_kind(name)).tree for name, data in files.items() if detect_kind(name) != "text"
    ]
    return [tree["frontmatter"] if dialect == "agent-hooks" else tree for tree in trees]


@pytest.mark.parametrize("dialect", FORMATS)
def test_what_is_read_is_valid(dialect: str) -> None:
    """Every file of the vectors that the dialect reads."""
    check = validator(dialect)
    count = 0
    for case in vectors.cases_of(dialect):
        for key in {"identity", "read"} & set(case):
            files = vectors.files(case, key, dialect)
            # What can be read in spite of a slip is a slip all the same.
            if findings.FieldUnread.code in {
                one.code for one in pipeline.read(files, get(dialect)).decoded.findings
            }:
                continue
            for tree in documents(dialect, files):
                if case.get("findings") and {"HP102", "HP110", "HP509", "HP510"} & set(case["findings"]):
                    continue
                errors = [error.message for error in check.iter_errors(tree)]
                assert errors == [], case["name"]
                count += 1
    assert count


@pytest.mark.parametrize("dialect", FORMATS)
def test_what_is_written_is_valid(dialect: str) -> None:
    """The kitchen-sink hook as every format writes it."""
    result = pipeline.convert(pipeline.read({"hooks.json": manifest(FULL)}, get("canonical")), get(dialect))
    files = {file.path: file.text.encode() for file in result.files}
    trees = documents(dialect, files)
    assert trees
    for tree in trees:
        assert [error.message for error in validator(dialect).iter_errors(tree)] == []


@pytest.mark.parametrize(
    ("dialect", "tree"),
    [
        ("canonical", {"spec": "hooks/1.0", "hooks": []}),
        ("canonical", {"spec": "hooks/3.0", "hooks": [FULL]}),
        ("canonical", {"spec": "hooks/1.0", "hooks": [{**FULL, "blocking": "yes"}]}),
        ("canonical", {"spec": "hooks/1.0", "hooks": [{**FULL, "degradation": {"custom_env": "shout"}}]}),
        ("canonical", {"spec": "hooks/1.0", "hooks": [{**FULL, "handler": {"type": "command"}}]}),
        ("universal", {"hooks": {}}),
        ("universal", {"version": 1, "hooks": {"stop": [{"hooks": [{"type": "prompt"}]}]}}),
        ("open-plugin", {"hooks": {"PreToolUse": [{"matcher": 3, "hooks": []}]}}),
        ("agent-hooks", {"name": "x", "description": "y", "trigger": "sometime"}),
        ("agent-hooks", {"name": "x", "description": "y", "trigger": "before_tool", "timeout": 5}),
    ],
)
def test_what_is_wrong_is_invalid(dialect: str, tree: Any) -> None:
    """One mistake each."""
    assert list(validator(dialect).iter_errors(tree))


def published_files(name: str, *folders: str) -> list[Path]:
    """The test files of this repository that are no examples of mistakes."""
    return sorted(path for folder in folders for path in (ROOT / folder).glob(f"**/tests/{name}"))


@pytest.mark.parametrize(
    ("schema", "name", "least"), [("test-case", "cases/*.yaml", 35), ("test-config", "test-config.json", 2)]
)
def test_the_test_files_of_the_examples_are_valid(schema: str, name: str, least: int) -> None:
    """Every case and configuration that the repository shows."""
    files = published_files(name, "examples", "tests/packages")
    assert len(files) >= least
    check = validator(schema)
    wrong = {
        path: [
            error.message
            for error in check.iter_errors(parse(path.read_bytes(), detect_kind(path.name)).tree)
        ]
        for path in files
    }
    assert {path: errors for path, errors in wrong.items() if errors} == {}


CASE = {"name": "one", "event": "stop"}


@pytest.mark.parametrize(
    ("more", "is_valid"),
    [
        ({}, True),
        ({"hook-index": "all"}, True),
        ({"agents": "all"}, True),
        ({"agents": ["all"]}, True),
        ({"model-answer": [{"ok": True}, "yes"]}, True),
        ({"expected": {"decision": "none", "exit-code": 2.0}}, True),
        ({"input": {"fixture": "fixtures/a.json", "overrides": {"a.b": 1}}}, True),
        ({"name": "One"}, False),
        ({"event": ""}, False),
        ({"expect": {}}, False),
        ({"hook-index": -1}, False),
        ({"agents": []}, False),
        ({"agents": ["claude"]}, False),
        ({"model-answer": []}, False),
        ({"expected": {"decision": "block"}}, False),
        ({"expected": {"exit-code": 256}}, False),
        ({"expected": {"stderr-contains": "no"}}, False),
        ({"input": {"fixture": "/etc/passwd"}}, False),
        ({"input": {"fixture": "../a.json"}}, False),
        ({"input": {"dialect": "klingon"}}, False),
    ],
)
def test_the_schema_of_cases_agrees_with_the_reader(
    more: dict[str, Any], is_valid: bool, tmp_path: Path
) -> None:
    """One value each, given to both."""
    tree = {**CASE, **more}
    (tmp_path / "cases").mkdir()
    (tmp_path / "fixtures").mkdir()
    (tmp_path / "fixtures" / "a.json").write_text("{}")
    # JSON is YAML too.
    (tmp_path / "cases" / "one.yaml").write_text(json.dumps(tree))
    (entry,) = load.load_suite(tmp_path).entries
    assert isinstance(entry, Case) == is_valid, entry
    assert validator("test-case").is_valid(tree) == is_valid
