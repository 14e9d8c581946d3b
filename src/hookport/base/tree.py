"""The type of parsed text."""

from __future__ import annotations

from typing import Any

# What a parser of JSON, TOML or YAML returns, before a dialect has read it.
Tree = Any
