"""The published JSON Schemas accept what the dialects read and refuse what they refuse."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from hookport import convert
from hookport.dialects import get, names
from hookport.formats import kind_of, parse
from tests import vectors
from tests.test_conformance import FULL, manifest

FOLDER = Path(__file__).parent.parent / "schemas"
FORMATS = [name for name in names() if get(name).kind == "format"]


def validator(dialect: str) -> jsonschema.Draft202012Validator:
    """The validator of a format."""
    schema = json.loads((FOLDER / f"{dialect}.schema.json").read_text("utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def documents(dialect: str, files: dict[str, bytes]) -> list[Any]:
    """What a schema is for: the tree, or the frontmatter of it."""
    trees = [parse(data, kind_of(name)).tree for name, data in files.items() if kind_of(name) != "text"]
    return [tree["frontmatter"] if dialect == "agent-hooks" else tree for tree in trees]


@pytest.mark.parametrize("dialect", FORMATS)
def test_what_is_read_is_valid(dialect: str) -> None:
    """Every file of the vectors that the dialect reads."""
    check = validator(dialect)
    count = 0
    for case in vectors.load(vectors.FOLDER / f"{dialect}.yaml"):
        for key in {"identity", "read"} & set(case):
            for tree in documents(dialect, vectors.files(case, key, dialect)):
                if case.get("findings") and {"HP102", "HP509", "HP510"} & set(case["findings"]):
                    continue
                errors = [error.message for error in check.iter_errors(tree)]
                assert errors == [], case["name"]
                count += 1
    assert count


@pytest.mark.parametrize("dialect", FORMATS)
def test_what_is_written_is_valid(dialect: str) -> None:
    """The kitchen-sink hook as every format writes it."""
    result = convert.convert(convert.read({"hooks.json": manifest(FULL)}, get("canonical")), get(dialect))
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
