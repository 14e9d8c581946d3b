"""The type of parsed text."""

from __future__ import annotations

from typing import Any

# The result of a JSON, TOML or YAML parser, before a dialect reads it.
Tree = Any
