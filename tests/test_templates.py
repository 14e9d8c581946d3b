"""The templates of generated code: each is code as it is, and every placeholder is given a value."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hookport.agents import list_dialects
from hookport.shapes.templates import FOLDER, fill, read_template
from tests.engines import NODE
from tests.test_generated import each_shell, generated, hook, needs_node, needs_shell

TEMPLATES = sorted(path.name for path in FOLDER.iterdir())
SCRIPTS = [name for name in TEMPLATES if name.endswith(".sh")]
MODULES = [name for name in TEMPLATES if name.endswith(".ts")]
SHELLCHECK = shutil.which("shellcheck") or shutil.which("shellcheck", path=str(Path(sys.executable).parent))
# What shellcheck says of a template and why it is meant: the calls are filled in (SC2329); a name may begin
# with a dash (SC2268); a list of numbers is split (SC2086); `sleep` holds the clock open and must have none
# of our stdin (SC2217); a tick is read to wait (SC2034).
MEANT = "SC2329,SC2268,SC2086,SC2217,SC2034"


def test_every_template_is_of_a_kind_that_is_checked() -> None:
    assert sorted(SCRIPTS + MODULES) == TEMPLATES


@needs_node
@pytest.mark.parametrize("name", MODULES)
def test_a_module_is_javascript(name: str, tmp_path: Path) -> None:
    """None of them has types yet. `--check` reads JavaScript only: it accepts any text in a .ts file."""
    copy = tmp_path / f"{Path(name).stem}.mjs"
    copy.write_text(read_template(name), "utf-8")
    subprocess.run([NODE, "--check", str(copy)], check=True)


@needs_shell
@each_shell
@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_is_read_by_every_shell(shell: str, name: str) -> None:
    subprocess.run([shell, "-n", str(FOLDER / name)], check=True)


@pytest.mark.skipif(not SHELLCHECK, reason="shellcheck is not installed")
@pytest.mark.parametrize("name", SCRIPTS)
def test_shellcheck_finds_nothing_in_a_script(name: str) -> None:
    subprocess.run([str(SHELLCHECK), "--shell=sh", f"--exclude={MEANT}", str(FOLDER / name)], check=True)


def test_every_placeholder_of_generated_code_has_a_value() -> None:
    files = [text for name in list_dialects() for text in generated(name, hook("true")).values()]
    assert [text for text in files if re.search(r"__[A-Z]+__", text)] == []
    ends = {name: read_template(name)[-200:] for name in TEMPLATES}
    assert [name for name, end in ends.items() if not any(end in text for text in files)] == []


def test_a_value_is_not_a_template() -> None:
    assert fill("__A__ __B__", {"A": "__B__", "B": "__A__"}) == "__B__ __A__"
