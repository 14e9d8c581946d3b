"""Runs of cases share a copy of their package, and none of them sees another or touches the original."""

from __future__ import annotations

import json
import os
import shutil
import stat
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from hookport.errors import UsageError
from hookport.testing import bench, session
from hookport.testing.bench import Bench, CopyPool
from hookport.testing.package import PackageOrigin

pytestmark = pytest.mark.skipif(os.name == "nt", reason="hooks here are shell commands")

HOOKS = """{"version": 1, "hooks": {"pre-tool-use": [{"hooks": [{"type": "command", "command": "%s"}]}]}}"""
RUNS = 5


@pytest.fixture
def package(tmp_path: Path) -> Path:
    folder = tmp_path / "package"
    for name in ("hooks.json", "src/a.txt", "src/deep/b.txt", "empty/.keep", "data.txt"):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(HOOKS % "true" if name == "hooks.json" else name)
        os.utime(path, (1, 1))
    (folder / "link").symlink_to("src/a.txt")
    (folder / "inward").symlink_to(folder / "src")
    (folder / "nowhere").symlink_to("gone")
    (folder / "locked.txt").write_text("secret")
    (folder / "locked.txt").chmod(0)
    (folder / "locked").mkdir()
    (folder / "locked").chmod(0)
    os.mkfifo(folder / "pipe")
    return folder


def describe(root: str | Path) -> dict[str, str]:
    """Everything below a root: mode, time of last write, content."""
    described = {}
    for here, folders, files in os.walk(root):
        for name in sorted((*folders, *files)):
            path = Path(here, name)
            status = path.lstat()
            content = str(path.readlink()) if path.is_symlink() else ""
            if path.is_file() and not path.is_symlink() and status.st_mode & stat.S_IRUSR:
                content = path.read_text()
            near = str(path.relative_to(root))
            described[near] = f"{stat.filemode(status.st_mode)} {status.st_mtime_ns} {content}"
    return described


def append(root: Path) -> None:
    with (root / "data.txt").open("a") as file:
        file.write("more")


def lock(root: Path) -> None:
    (root / "src/deep").chmod(0)


def set_back(root: Path) -> None:
    """Another content of the same size, with the times as they were."""
    (root / "data.txt").write_text("DATA.TXT")
    os.utime(root / "data.txt", (1, 1))


def replace_by_folder(root: Path) -> None:
    (root / "data.txt").unlink()
    (root / "data.txt").mkdir()
    (root / "data.txt/x").write_text("x")


def lead_elsewhere(root: Path) -> None:
    (root / "link").unlink()
    (root / "link").symlink_to("data.txt")


def make_and_remove(root: Path) -> None:
    (root / "lock").mkdir()
    (root / "lock").rmdir()


WRITES: dict[str, Callable[[Path], object]] = {
    "a new file": lambda root: (root / "new").write_text("new"),
    "a new folder": lambda root: (root / "x/y").mkdir(parents=True),
    "a file appended to": append,
    "the same size and time": set_back,
    "a file removed": lambda root: (root / "data.txt").unlink(),
    "a file renamed": lambda root: (root / "data.txt").rename(root / "src/data.txt"),
    "a folder removed": lambda root: shutil.rmtree(root / "src"),
    "a folder locked": lock,
    "a file for a folder": replace_by_folder,
    "a file made executable": lambda root: (root / "data.txt").chmod(0o755),
    "through a link": lambda root: (root / "link").write_text("through"),
    "through an absolute link": lambda root: (root / "inward/a.txt").write_text("through"),
    "another link": lead_elsewhere,
    "the hooks themselves": lambda root: (root / "hooks.json").write_text("{}"),
    "a file that is gone again": make_and_remove,
    "the whole copy": shutil.rmtree,
}


@pytest.mark.parametrize("what", WRITES)
def test_a_run_finds_the_package_as_it_is_whatever_those_before_it_wrote(what: str, package: Path) -> None:
    before = describe(package)

    def run(place: Bench) -> tuple[dict[str, str], list[Path]]:
        root = Path(place.root)
        found = describe(root), [*Path(place.home).iterdir(), *Path(place.env["TMPDIR"]).iterdir()]
        WRITES[what](root)
        (Path(place.home) / "state").write_text("x")
        (Path(place.env["TMPDIR"]) / "state").write_text("x")
        return found

    with CopyPool() as stock:
        first = stock.run_apart(PackageOrigin(package, package), {}, [run] * RUNS)
        again = stock.run_apart(PackageOrigin(package, package), {}, [run])
    expected = {name: text for name, text in before.items() if name != "pipe"}
    for found, left in (*first, *again):
        # A link that leads into the package leads into the copy, so that nothing is written through it.
        found["inward"] = expected["inward"]
        assert {name: text for name, text in found.items() if not _is_link(text)} == {
            name: text for name, text in expected.items() if not _is_link(text)
        }
        assert {name: text.split()[2] for name, text in found.items() if _is_link(text)} == {
            name: text.split()[2] for name, text in expected.items() if _is_link(text)
        }
        assert left == []
    assert describe(package) == before


def _is_link(text: str) -> bool:
    return text.startswith("l")


def test_what_writes_nothing_runs_once_on_one_copy(package: Path) -> None:
    roots: list[str] = []
    with CopyPool() as stock:
        for _ in range(3):
            stock.run_apart(
                PackageOrigin(package, package), {}, [lambda place: roots.append(place.root)] * RUNS
            )
        assert len(roots) == 3 * RUNS
        assert len(set(roots)) == 1
        assert Path(roots[0]).is_dir()
    assert not Path(roots[0]).exists()


def test_jobs_do_not_share_a_copy(package: Path) -> None:
    def run(place: Bench) -> str:
        counter = Path(place.root, "counter")
        number = int(counter.read_text()) + 1 if counter.exists() else 0
        counter.write_text(str(number))
        return str(number)

    with CopyPool() as stock, ThreadPoolExecutor(4) as pool:
        lots = pool.map(lambda _: stock.run_apart(PackageOrigin(package, package), {}, [run] * 4), range(8))
        assert {number for numbers in lots for number in numbers} == {"0"}


def test_a_run_that_raises_leaves_nothing_behind(package: Path) -> None:
    roots: list[str] = []

    def run(place: Bench) -> None:
        roots.append(place.root)
        raise ZeroDivisionError

    with CopyPool() as stock, pytest.raises(ZeroDivisionError):
        stock.run_apart(PackageOrigin(package, package), {}, [run])
    assert not Path(roots[0]).exists()


def test_a_package_that_is_too_large_names_what_is_large(
    package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench, "LARGEST", 1 << 16)
    (package / "src/huge").write_bytes(b"x" * (1 << 17))
    with CopyPool() as stock, pytest.raises(UsageError, match="most of it is in 'src'"):
        stock.run_apart(PackageOrigin(package, package), {}, [lambda _: None])


def test_a_folder_that_is_named_is_copied_with_all_that_is_in_it(package: Path) -> None:
    nested = package / "node_modules/a/node_modules/b"
    nested.mkdir(parents=True)
    parts = (package / "hooks.json", package / "node_modules")

    def run(place: Bench) -> list[str]:
        return sorted(describe(place.root))

    with CopyPool() as stock:
        (found,) = stock.run_apart(PackageOrigin(package, package, parts), {}, [run])
    assert found[-4:] == [
        *("node_modules", "node_modules/a", "node_modules/a/node_modules"),
        "node_modules/a/node_modules/b",
    ]


def test_cases_for_all_agents_see_nothing_of_each_other(tmp_path: Path) -> None:
    """A hook that counts its runs in the package, in its home and in its folder for temporary files."""
    count = "for d in . $HOME $TMPDIR; do echo x >> $d/count; cat $d/count; done >&2; exit 2"
    hooks = tmp_path / "hooks"
    (hooks / "tests/cases").mkdir(parents=True)
    (hooks / "hooks.json").write_text(HOOKS % count)
    for name in ("a", "b"):
        said: dict[str, Any] = {"name": name, "event": "pre-tool-use", "agents": ["all"], "hook-index": 0}
        said |= {"input": {"overrides": {"toolName": "Bash", "toolInput": {"command": "ls"}}}}
        said |= {"expected": {"decision": "deny"}}
        (hooks / f"tests/cases/{name}.yaml").write_text(json.dumps(said))
    results = list(session.perform_all(session.list_tasks(hooks / "tests"), 3))
    printed = {one.got.stderr for one in results if one.got and one.status == "passed"}
    assert printed == {"x\nx\nx\n"}
    assert sorted(path.name for path in hooks.iterdir()) == ["hooks.json", "tests"]
