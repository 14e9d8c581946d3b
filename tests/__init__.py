"""The tests of hookport. This is imported before anything else of them."""

from __future__ import annotations

import sys

# Where the environment keeps Python from writing bytecode, every worker rewrites all asserts, in 5 s.
# `pytest_collection_finish` in conftest.py restores the setting before any test runs.
WRITES_NO_BYTECODE = sys.dont_write_bytecode
sys.dont_write_bytecode = False
