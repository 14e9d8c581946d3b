"""What generated code is made from: files in `agents/templates`, which can be linted as they are.

A value goes where its name stands between two pairs of underscores: `__HOOKS__`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent.parent / "agents" / "templates"
_PLACEHOLDER = re.compile(r"__([A-Z]+)__")


@cache
def read_template(name: str) -> str:
    """The text of a template; a package that adds a dialect gives the path of its own."""
    return (FOLDER / name).read_text("utf-8")


def fill(template: str, values: Mapping[str, str]) -> str:
    """The text with every value in its place; what looks like a placeholder in a value stays."""
    return _PLACEHOLDER.sub(lambda match: values[match[1]], template)
