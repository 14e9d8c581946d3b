"""The quick way to import: the modules are those that Python imports, and the same bytecode counts."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import hookport
from hookport import loading

PACKAGE = Path(hookport.__file__).parent
BEGIN = "from hookport import loading; loading.begin()"
TOLD = """
import json
names = [name for name in sys.modules if name.startswith("hookport.") and name != "hookport.loading"]
told = {}
for name in names:
    module = sys.modules[name]
    spec = module.__spec__
    above, _, tail = name.rpartition(".")
    told[name] = [
        *(module.__name__, module.__file__, module.__cached__, module.__package__),
        *(type(module.__loader__).__name__, list(getattr(module, "__path__", ()))),
        *(spec.name, spec.origin, spec.cached, spec.parent, spec.has_location),
        *(sorted(vars(module)), getattr(sys.modules[above], tail, None) is module),
    ]
print(json.dumps([names, told]))
"""


def run(source: Path, code: str) -> Any:
    """What code prints, in an interpreter of its own that finds the package in a folder."""
    start = f"import sys; sys.path.insert(0, {str(source)!r})\n"
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", start + code], capture_output=True, check=True, timeout=60
    )
    return json.loads(done.stdout)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A copy of the package with bytecode of its own."""
    ignored = shutil.ignore_patterns("__pycache__", "prove", "cases", "cli")
    shutil.copytree(PACKAGE, tmp_path / "hookport", ignore=ignored)
    run(tmp_path, f"{BEGIN}\nprint(0)")
    return tmp_path


def test_the_modules_are_those_that_python_imports(source: Path) -> None:
    imports = "\n".join(f"import {name}" for name in loading.NEEDED)
    _, usual = run(source, f"{imports}\n{TOLD}")
    names, quick = run(source, f"{BEGIN}\n{TOLD}")
    assert quick == usual
    # In this order none of them has to look for another one.
    assert names == list(loading.NEEDED)


@pytest.mark.parametrize("more", ["READING", "RUNNING"])
def test_what_is_needed_besides_is_found_at_once(source: Path, more: str) -> None:
    imports = "\n".join(f"import {name}" for name in getattr(loading, more))
    usual = run(source, f"{BEGIN}\n{imports}\n{TOLD}")[1]
    load = f"loading.load(loading.{more})"
    names, quick = run(source, f"{BEGIN}\n{load}\n{load}\n{TOLD}")
    assert quick == usual
    assert names == [*loading.NEEDED, *getattr(loading, more)]


def test_what_reads_commands_may_be_imported_in_part(source: Path) -> None:
    part = "import hookport.shell.syntax\nloading.load(loading.READING)"
    (source / "hookport" / "shell" / "walk.py").touch()
    assert run(source, f"{BEGIN}\n{part}\n{TOLD}")[1] == run(source, f"{BEGIN}\n{part}\n{TOLD}")[1]


def test_what_is_needed_later_is_found_the_same_way(source: Path) -> None:
    imports = "import hookport.shell, hookport.runtime.effects, hookport.runtime.execute.process"
    run(source, f"{BEGIN}\n{imports}\nprint(0)")
    assert (
        run(source, f"{BEGIN}\n{imports}\n{TOLD}")[1]
        == run(source, f"import hookport.project.installed\n{imports}\n{TOLD}")[1]
    )


CHANGED = f"{BEGIN}\nfrom hookport.model import runs; print(getattr(runs, 'CHANGED', 0))"


def test_a_source_that_changed_is_compiled(source: Path) -> None:
    path = source / "hookport" / "model" / "runs.py"
    assert run(source, CHANGED) == 0
    path.write_text(path.read_text() + "\nCHANGED = 1\n")
    assert run(source, CHANGED) == 1
    assert run(source, CHANGED) == 1


@pytest.mark.parametrize("content", [b"", b"\0" * 16, None], ids=["empty", "no magic", "cut"])
def test_bytecode_that_is_none_is_made_again(source: Path, content: bytes | None) -> None:
    path = source / "hookport" / "model" / "__pycache__" / f"runs{loading.SUFFIX}"
    whole = path.read_bytes()
    if content is None:
        # Python itself raises on bytecode that is cut behind its head, so only the head is.
        content = whole[:12]
    path.write_bytes(content)
    assert run(source, CHANGED) == 0
    assert path.read_bytes() == whole


def test_bytecode_of_another_folder_gets_its_new_place(source: Path, tmp_path: Path) -> None:
    shutil.copytree(source / "hookport", tmp_path / "moved" / "hookport")
    code = "from hookport.model import runs; print(json.dumps(runs.Event.__init__.__code__.co_filename))"
    told = f"{BEGIN}\nimport json\n{code}"
    place = str(tmp_path / "moved" / "hookport" / "model" / "value.py")
    assert run(tmp_path / "moved", told) == place
