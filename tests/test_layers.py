"""What may import what, and who may name a dialect."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import hookport
from hookport.agents import list_dialects

SOURCE = Path(hookport.__file__).parent
CORE = ("hookport.errors", "hookport.model.hooks", "hookport.findings", "hookport.agents")


def loaded(code: str) -> set[str]:
    """The modules that a fresh interpreter has after the code."""
    shown = "print(json.dumps(sorted(set(sys.modules) - before)))"
    script = f"import sys, json; before = set(sys.modules)\n{code}\n{shown}"
    done = subprocess.run(
        [sys.executable, "-S", "-c", script],
        env={"PYTHONPATH": str(SOURCE.parent), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    return set(json.loads(done.stdout))


def dialects_in(modules: set[str]) -> set[str]:
    found = {name.removeprefix("hookport.agents.") for name in modules if name.startswith("hookport.agents.")}
    return {name for name in found if not name.startswith("_")}


def test_no_dialect_is_named_outside_its_folder() -> None:
    # An id of one word is also a word of the language, so it counts only where it is a string.
    spelled = [re.escape(name) if "-" in name else f"[\"']{name}[\"']" for name in list_dialects()]
    word = re.compile(rf"(?<![\w/.-])(?:{'|'.join(spelled)})(?![\w-])")
    # An agent's program, package and tools may be called what the agent is, in the driver that starts them.
    own = {path: path.stem.replace("_", "-") for path in (SOURCE / "lab" / "drivers").glob("*.py")}
    found = [
        f"{path.relative_to(SOURCE)}:{number}: {line.strip()}"
        for path in sorted(SOURCE.rglob("*.py"))
        if path.relative_to(SOURCE).parts[0] != "agents"
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if any(name.strip("\"'") != own.get(path) for name in word.findall(line))
    ]
    assert found == []


def imported_by(path: Path) -> set[str]:
    """All that a module imports, whole: `package.module`, and `package.module.name`."""
    found = set()
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def test_a_private_module_is_imported_by_its_own_package_only() -> None:
    private = re.compile(r"(hookport(?:\.\w+)*?)\._(?!_)")
    foreign = []
    for path in sorted(SOURCE.rglob("*.py")):
        name = ".".join(("hookport", *path.relative_to(SOURCE).with_suffix("").parts))
        owners = [(match[1], full) for full in imported_by(path) if (match := private.match(full))]
        foreign += [f"{name}: {full}" for owner, full in owners if not name.startswith(f"{owner}.")]
    assert foreign == []


def test_the_registry_loads_no_dialect() -> None:
    assert dialects_in(loaded("import hookport.agents")) == set()


def test_asking_for_one_dialect_loads_only_that_one() -> None:
    for name in list_dialects():
        modules = loaded(f"from hookport.agents import get; get({name!r})")
        others = dialects_in(modules) - {name.replace("-", "_")}
        assert others == set(), name


def test_the_core_is_plain_standard_library() -> None:
    code = "; ".join(f"import {name}" for name in CORE)
    for name in list_dialects():
        modules = loaded(f"{code}\nfrom hookport.agents import get; get({name!r})")
        tops = {module.partition(".")[0] for module in modules} - {"hookport"}
        assert tops - set(sys.stdlib_module_names) == set(), name
        assert tops & {"dataclasses", "inspect", "asyncio"} == set(), name


def test_a_conversion_loads_no_library_it_does_not_need() -> None:
    code = """
from hookport.convert import pipeline
from hookport.agents import get
data = b'''{"spec": "hooks/1.0", "hooks": [
    {"event": "session_start", "handler": {"type": "command", "command": "a"}}]}'''
result = pipeline.convert(pipeline.read({"hooks.json": data}, get("canonical")), get("claude-code"))
assert result.files
"""
    modules = loaded(code)
    assert dialects_in(modules) == {"canonical", "claude_code"}
    assert modules & {"yaml", "tomlkit", "dataclasses", "inspect", "asyncio"} == set()
