"""Programs on the machine and programs fetched by the real npm and pip from registries on loopback."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import os
import shutil
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from functools import cache
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socketserver import ThreadingTCPServer
from threading import Thread

import pytest

from hookport.lab import programs
from hookport.lab.driver import AgentPackage, Driver, FetchStep

LAUNCHER = "#!/usr/bin/env node\nconsole.log('small version 1.2.3 (built today)')\n"


def driver(package: AgentPackage, program: str = "small") -> Driver:
    return Driver(
        title="Small",
        package=package,
        program=program,
        protocol="chat",
        settle=lambda _stage: None,
        command=lambda stage: stage.program,
        environment=lambda _stage: {},
        calls={},
    )


NPM = driver(AgentPackage("npm", "small", "1.2.3"))
PYPI = driver(AgentPackage("pypi", "small", "1.2.3", python=(3, 9)))


@cache
def packed(package: str) -> bytes:
    """An npm package of one file; the time of its making is in it, so it is made once."""
    manifest = json.dumps({"name": package, "version": "1.2.3", "bin": {package: "small.js"}})
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w:gz") as archive:
        for name, text in (("package.json", manifest), ("small.js", LAUNCHER)):
            entry = tarfile.TarInfo(f"package/{name}")
            entry.size, entry.mode = len(text), 0o755
            archive.addfile(entry, io.BytesIO(text.encode()))
    return raw.getvalue()


def wheel(package: str) -> bytes:
    """A Python package of one module and its command."""
    info = f"{package}-1.2.3.dist-info"
    files = {
        f"{package}.py": "def main():\n    print('small, version 1.2.3')\n",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.2.3\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": f"[console_scripts]\n{package} = {package}:main\n",
    }
    files[f"{info}/RECORD"] = "".join(f"{name},,\n" for name in (*files, f"{info}/RECORD"))
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return raw.getvalue()


class Registry(BaseHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass

    def do_GET(self) -> None:
        address = f"http://127.0.0.1:{self.server.server_address[1]}"  # type: ignore[index]
        pages: dict[str, bytes] = {}
        for name in ("small", "beside"):
            archive, file = packed(name), f"{name}-1.2.3-py3-none-any.whl"
            whole = "sha512-" + base64.b64encode(hashlib.sha512(archive).digest()).decode()
            version = {
                "name": name,
                "version": "1.2.3",
                "bin": {name: "small.js"},
                "dist": {"tarball": f"{address}/{name}.tgz", "integrity": whole},
            }
            pages |= {
                f"/{name}": json.dumps({"name": name, "versions": {"1.2.3": version}}).encode(),
                f"/{name}.tgz": archive,
                f"/simple/{name}/": f'<a href="/{file}">{file}</a>'.encode(),
                f"/{file}": wheel(name),
            }
        page = pages.get(self.path)
        kind = "text/html" if "/simple/" in self.path else "application/json"
        self.send_response(200 if page else 404)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(page or b"{}")))
        self.end_headers()
        self.wfile.write(page or b"{}")


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The only registry that npm and pip know, and an empty cache."""
    with ThreadingTCPServer(("127.0.0.1", 0), Registry) as server:
        thread = Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        address = f"http://127.0.0.1:{server.server_address[1]}"
        use(monkeypatch, tmp_path, address)
        yield
        server.shutdown()
        thread.join()


def use(monkeypatch: pytest.MonkeyPatch, folder: Path, address: str) -> None:
    for name in [name for name in os.environ if name.lower().startswith(("npm_config_", "pip_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOOKPORT_CACHE_DIR", str(folder / "cache"))
    monkeypatch.setenv("npm_config_registry", address)
    monkeypatch.setenv("npm_config_cache", str(folder / "npm"))
    monkeypatch.setenv("npm_config_fetch_retries", "0")
    monkeypatch.setenv("PIP_INDEX_URL", f"{address}/simple")
    monkeypatch.setenv("PIP_CACHE_DIR", str(folder / "pip"))
    monkeypatch.setenv("PIP_RETRIES", "1")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


needs_npm = pytest.mark.skipif(not shutil.which("npm"), reason="npm is not on PATH")


@needs_npm
@pytest.mark.usefixtures("registry")
def test_a_program_is_fetched_once_from_npm(tmp_path: Path) -> None:
    entry = tmp_path / "cache" / "agents" / "mine@1.2.3"
    launcher = entry / "node_modules" / ".bin" / "small"
    left = tmp_path / "cache" / "agents" / ".built" / "mine@1.2.3~999999999"
    left.mkdir(parents=True)
    told: list[str] = []
    found = programs.Program((str(launcher),), "1.2.3", launcher)
    assert programs.find_cached("mine", NPM) is None
    assert programs.fetch("mine", NPM, told.append) == found
    assert told[0] == "fetching small 1.2.3"
    assert not left.exists()
    told.clear()
    assert programs.fetch("mine", NPM, told.append) == found
    assert told == []
    # With a Node that it needs, and that this machine has, the program is started by it.
    node = shutil.which("node") or ""
    newer = NPM._replace(package=NPM.package._replace(node=12))
    assert programs.find_cached("mine", newer) == found._replace(argv=(node, str(launcher)))
    with pytest.raises(programs.ProgramError) as caught:
        programs.fetch("other", NPM._replace(package=NPM.package._replace(version="9.9.9")), told.append)
    assert str(caught.value) == "npm has no small 9.9.9; it was not fetched."
    assert sorted(path.name for path in entry.parent.iterdir()) == [".built", "mine@1.2.3"]
    assert len(list((entry.parent / ".built").iterdir())) == 1


@pytest.mark.usefixtures("registry")
def test_a_program_is_fetched_from_pypi(tmp_path: Path) -> None:
    launcher = tmp_path / "cache" / "agents" / "mine@1.2.3" / "bin" / "small"
    found = programs.fetch("mine", PYPI, lambda _: None)
    assert found == programs.Program((str(launcher),), "1.2.3", launcher)


def make_fuller(package: AgentPackage, joint: str, folder: str) -> AgentPackage:
    """The package with another beside it, and the same one again in a folder of it."""
    beside = f"beside{joint}1.2.3"
    again = FetchStep(folder, ("install", *(["--target=deep"] if joint == "==" else []), beside))
    return package._replace(companions=(beside,), options=("--no-cache",), steps=(again,))


@needs_npm
@pytest.mark.usefixtures("registry")
def test_a_program_is_fetched_with_what_it_needs_beside_it(tmp_path: Path) -> None:
    within = "node_modules/small"
    package = make_fuller(NPM.package, "@", within)
    root = programs.fetch("mine", NPM._replace(package=package), lambda _: None).where.parents[2]
    assert (root / "node_modules/beside/small.js").is_file()
    assert (root / within / "node_modules/beside/small.js").is_file()
    # Of a program whose last step fails nothing is kept.
    failing = package._replace(steps=(*package.steps, FetchStep(within, ("install", "beside@9.9.9"))))
    with pytest.raises(programs.ProgramError) as caught:
        programs.fetch("other", NPM._replace(package=failing), lambda _: None)
    assert str(caught.value).startswith("npm did not fetch small 1.2.3:\n")
    assert "beside@9.9.9" in str(caught.value)
    assert sorted(path.name for path in root.resolve().parent.iterdir()) == [root.resolve().name]


@pytest.mark.usefixtures("registry")
def test_a_program_from_pypi_is_fetched_with_what_it_needs_beside_it(tmp_path: Path) -> None:
    package = make_fuller(PYPI.package, "==", "lib")
    root = programs.fetch("mine", PYPI._replace(package=package), lambda _: None).where.parents[1]
    assert (root / "bin" / "beside").is_file()
    assert (root / "lib" / "deep" / "beside.py").is_file()


@needs_npm
def test_a_registry_that_is_not_reached_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, tmp_path, "http://127.0.0.1:9")
    with pytest.raises(programs.ProgramError) as caught:
        programs.fetch("mine", NPM, lambda _: None)
    assert str(caught.value) == (
        "npm cannot reach its registry, so small 1.2.3 was not fetched. Check the network and try again."
    )


def test_what_the_machine_lacks_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, tmp_path, "http://127.0.0.1:9")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    with pytest.raises(programs.ProgramError) as caught:
        programs.fetch("mine", NPM, lambda _: None)
    assert str(caught.value) == (
        "`npm` is not on PATH, so small was not fetched. Install Node.js 22 or later."
    )
    with pytest.raises(programs.ProgramError) as caught:
        programs.fetch("mine", PYPI._replace(package=PYPI.package._replace(python=(3, 29))), lambda _: None)
    assert str(caught.value) == (
        "small needs Python 3.29 or later, which is not on this machine; it was not fetched."
        " Install Python 3.29."
    )


def test_an_installed_program_says_its_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    assert programs.find_installed(NPM) is None
    program = tmp_path / "small"
    for text, version in (
        ("echo small v1.0.102; sleep 0", "1.0.102"),
        ("echo 2.1.325-beta.1 '(Small)'", "2.1.325-beta.1"),
        ("echo retrying in 2.5s; echo 1.16.0", "1.16.0"),
        ("echo no number", ""),
        ("echo 1.2.3; exit 1", ""),
    ):
        program.write_text(f"#!/bin/sh\n{text}\n", "utf-8")
        program.chmod(0o755)
        found = programs.Program((str(program),), version, program) if version else None
        assert programs.find_installed(NPM) == found, text


def test_a_program_that_hangs_has_no_version(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "VERSION_SECONDS", 0.2)
    assert programs.read_version((sys.executable, "-c", "import time; time.sleep(60)")) == ""
