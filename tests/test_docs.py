"""What the documentation says exists, exists; what exists is documented."""

from __future__ import annotations

import importlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hookport.agents import list_dialects
from hookport.cli import COMMANDS
from hookport.findings import KINDS
from tests import forks

ROOT = Path(__file__).parent.parent
PAGES = [
    *(ROOT / "README.md", ROOT / "CONTRIBUTING.md"),
    *(page for folder in ("docs", "examples") for page in sorted((ROOT / folder).rglob("*.md"))),
]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_names_in_pages_exist(page: Path) -> None:
    """Commands, finding codes, `make` targets and links."""
    text = page.read_text("utf-8")
    assert set(re.findall(r"HP\d{3}", text)) <= set(KINDS)
    assert set(re.findall(r"(?:`|\$ )hookport ([a-z-]+)", text)) <= {*COMMANDS, "help"}
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    assert set(re.findall(r"`make ([a-z]+)", text)) <= targets


def test_the_architecture_page_names_what_there_is() -> None:
    """Functions and classes by their modules, and every package in the picture of the layers."""
    text = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    packages = {
        path.stem for path in (ROOT / "src" / "hookport").iterdir() if (path / "__init__.py").exists()
    }
    picture = text.partition("```\n")[2].partition("```")[0]
    assert packages <= set(picture.split())
    places = re.findall(rf"`((?:{'|'.join(sorted(packages))})(?:\.\w+)+)`", text)
    assert len(places) > 20
    for place in places:
        module, _, name = place.rpartition(".")
        assert hasattr(importlib.import_module(f"hookport.{module}"), name), place


# What the examples of the README are run on, beside the test that it shows.
SHOWN = {
    ".claude/settings.json": """{
  "hooks": {
    "PreToolUse": [
      { "matcher": "Bash", "hooks": [ { "type": "command", "command": "./block-rm.sh", "timeout": 10 } ] }
    ]
  }
}
""",
    "event.json": """{
  "hook_event_name": "PreToolUse",
  "session_id": "s1",
  "cwd": "/home/dev/project",
  "tool_name": "Bash",
  "tool_input": { "command": "rm -rf build" }
}
""",
    ".claude/tests/test-config.json": """{"version": 1}
""",
    ".gemini/settings.json": """{
  "hooks": {
    "BeforeTool": [
      { "matcher": "Bash", "hooks": [ { "type": "command", "command": "./guard.sh", "timeout": 10 } ] }
    ]
  }
}
""",
}


def test_readme_shows_what_happens(tmp_path: Path, *, accept: bool) -> None:
    """Every console block prints what it shows, stdout first."""
    for name, text in SHOWN.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
    page = ROOT / "README.md"
    text = page.read_text("utf-8")
    cases = re.findall(r"^```yaml\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    (tmp_path / ".claude/tests/cases").mkdir()
    for name, body in zip(("stop", "pass"), cases, strict=True):
        (tmp_path / f".claude/tests/cases/{name}.yaml").write_text(body, "utf-8")
    (tmp_path / "guard.sh").write_text("exit 2\n", "utf-8")
    guard = ROOT / "examples" / "guard" / ".claude" / "hooks" / "guard.sh"
    shutil.copy(guard, tmp_path / "block-rm.sh")
    if not shutil.which("jq"):
        pytest.skip("the guard of the example uses jq")

    def play(block: re.Match[str]) -> str:
        words = block[1].split()[1:]
        env = {"PYTHONPATH": str(ROOT / "src"), "PATH": os.environ["PATH"], "HOME": str(tmp_path / "home")}
        done = forks.run(words, tmp_path, env)
        shown = re.sub(r"\(\d+ ms\)", "(12 ms)", done.stdout + done.stderr)
        shown = re.sub(r"  \(\d+\.\d s\)$", "", shown, flags=re.MULTILINE)
        return f"```console\n$ {block[1]}\n{shown}```"

    played = re.sub(r"^```console\n\$ (hookport .*)\n(?:(?!```).*\n)*^```", play, text, flags=re.MULTILINE)
    if accept:
        page.write_text(played, "utf-8")
    else:
        assert played == text


def test_readme_names_every_dialect() -> None:
    """The list is complete."""
    text = (ROOT / "README.md").read_text("utf-8")
    assert [name for name in list_dialects() if f"`{name}`" not in text] == []


def test_every_finding_has_a_page() -> None:
    """A first sentence that ends, and enough words to help."""
    for code, kind in KINDS.items():
        first = (kind.__doc__ or "").strip().partition("\n\n")[0]
        assert first.endswith((".", "**.")), code


def test_generated_pages_are_fresh() -> None:
    """`make docs` has nothing to do."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "docs" / "generate.py"), "--check"],
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": str(ROOT / "src")},
    )
    assert (done.returncode, done.stdout) == (0, "")


def test_nothing_says_where_it_was_made() -> None:
    """No path of a machine in what people download."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("not a git checkout")
    for name in listed.stdout.splitlines():
        path = ROOT / name
        if path.is_file() and path.suffix in {".py", ".md", ".toml", ".yaml", ".yml", ".json", ""}:
            assert not re.search(r"/(?:work|root)/[a-z]", path.read_text("utf-8", "replace")), name
