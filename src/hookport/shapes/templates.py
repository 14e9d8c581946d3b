"""Templates of generated code: files in `agents/templates`, which linters can check directly.

A value replaces its name between two pairs of underscores: `__HOOKS__`.
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
    """The text of a template; a package that adds a dialect passes the path of its own template."""
    return (FOLDER / name).read_text("utf-8")


def fill(template: str, values: Mapping[str, str]) -> str:
    """Fill every value into the text; placeholders inside a value stay."""
    return _PLACEHOLDER.sub(lambda match: values[match[1]], template)
