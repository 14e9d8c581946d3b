"""What type checkers tell users of the SDK: `typing/` has right lines, and wrong ones that are named."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_users_see_these_types() -> None:
    """An error that is not named, and a name for one that is not there, are both reported."""
    words = ["--no-error-summary", "--show-error-codes", "tests/typing"]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)


def test_the_package_says_that_it_is_typed() -> None:
    assert (ROOT / "src" / "hookport" / "py.typed").exists()
