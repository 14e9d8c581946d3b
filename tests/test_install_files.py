"""Each file is the old one or the new one, whole, whatever kills the writer, and each run can be undone."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from hookport.errors import HookportError, InputError
from hookport.findings import LedgerBroken
from hookport.install import files, ledger
from hookport.install.files import ChangedError
from hookport.project.contents import Change, read_file
from hookport.project.disk import LARGEST
from tests import forks

SOURCE = str(Path(__file__).parent.parent / "src")
STRACE = shutil.which("strace")

Tree = dict[str, Any]


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return {"HOOKPORT_STATE_DIR": str(tmp_path / "state")}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


def snapshot(folder: Path) -> Tree:
    """Everything below a folder: links, folders, bytes and permissions."""
    return {
        str(path.relative_to(folder)): str(path.readlink())
        if path.is_symlink()
        else (stat.S_IMODE(path.stat().st_mode), None if path.is_dir() else path.read_bytes())
        for path in sorted(folder.rglob("*"))
    }


def change(path: Path, after: bytes | None, *, executable: bool = False) -> Change:
    return Change(str(path), read_file(str(path)), after, executable)


def hookport(*words: str, cwd: Path, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return forks.run(words, cwd, {**env, "NO_COLOR": "1", "TZ": "UTC"})


# Killed at every call


SETTINGS = b'\xef\xbb\xbf{\r\n\t"a": 1\r\n}'
WANTED: dict[str, bytes | None] = {
    "settings.json": SETTINGS + b" // hooks\r\n",
    "big.json": b"[" + b"1," * 40_000 + b"1]",
    "new/deep/hooks.json": b"{}\n",
    "new/deep/hook.sh": b"#!/bin/sh\n",
    "script.sh": b"#!/bin/sh\nexit 0\n",
    "plugin.js": None,
}
# Every call of Linux that writes, whichever of them Python uses on this machine.
CALLS = (
    *("open", "openat", "creat", "write", "pwrite64", "writev", "rename", "renameat", "renameat2", "link"),
    *("linkat", "symlink", "unlink", "unlinkat", "rmdir", "mkdir", "mkdirat", "chmod", "fchmod", "fchmodat"),
    *("chown", "fchown", "fchownat", "setxattr", "fsetxattr", "truncate", "ftruncate", "fsync", "fdatasync"),
    "flock",
)
# Forks a child for each line it is given; the child waits for another line, then does what the first says.
SERVER = """
import ctypes, fcntl, json, os, signal, sys
from hookport.errors import HookportError
from hookport.install import files
from hookport.project.contents import Change, read_file

given = open(0, "rb", buffering=0)
while line := given.readline():
    act, home, env, wanted, kill_at = json.loads(line)
    pid = os.fork()
    if pid:
        os.write(1, b"%d\\n" % os.waitpid(pid, 0)[1])
        continue
    if sys.platform == "linux":
        # Yama lets only parents trace unless the child agrees: PR_SET_PTRACER, PR_SET_PTRACER_ANY.
        ctypes.CDLL(None).prctl(0x59616D61, ctypes.c_ulong(-1))
    os.write(1, b"%d\\n" % os.getpid())
    given.readline()
    calls = 0

    def count(frame, event, called):
        global calls
        if event == "c_call" and called.__name__ in NAMES:
            calls += 1
            if calls == kill_at:
                os.kill(os.getpid(), signal.SIGKILL)

    NAMES = {"open", "write", "flush", "fsync", "replace", "unlink", "mkdir", "rmdir", "chmod", "fchmod",
             "fchown", "setxattr", "flock", "close"}
    if kill_at:
        sys.setprofile(count)
    try:
        if act == "undo":
            files.undo(env, home)
        else:
            changes = []
            for name, text in wanted.items():
                path = os.path.join(home, name)
                after = None if text is None else text.encode("latin-1")
                changes.append(Change(path, read_file(path), after, name.endswith(".sh")))
            files.apply(changes, env, what="sync", root=home)
    except HookportError as error:
        os._exit(3)
    except BaseException:
        sys.excepthook(*sys.exc_info())
        os._exit(1)
    os._exit(0)
"""


def traceable() -> bool:
    probe = [STRACE or "strace", "-o", os.devnull, "-e", "inject=write:signal=KILL:when=9", "true"]
    return STRACE is not None and subprocess.run(probe, capture_output=True, check=False).returncode == 0


class Victim:
    """A process that can be killed at the n-th call of a kind, again and again."""

    def __init__(self, log: Path) -> None:
        self._log = log
        # Where the system's calls cannot be traced, Python's are counted.
        self.calls = CALLS if traceable() else ("python",)
        self._server = subprocess.Popen(
            [sys.executable, "-c", SERVER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={"PYTHONPATH": SOURCE, "PYTHONDONTWRITEBYTECODE": "1"},
        )

    def killed(self, act: str, home: Path, env: dict[str, str], call: str, number: int) -> bool:
        """Whether it was killed, at the n-th `call`; if not, it ended well."""
        status = self._run(act, home, env, call, number, "signal=KILL")
        assert os.WIFSIGNALED(status) or status == 0
        return os.WIFSIGNALED(status)

    def failed(self, act: str, home: Path, env: dict[str, str], call: str, number: int) -> bool | None:
        """Whether it said that it failed, when the n-th `call` did; None if there was no such call."""
        status = os.waitstatus_to_exitcode(self._run(act, home, env, call, number, "error=EIO"))
        assert status in (0, 3)
        return status == 3 if "(INJECTED)" in self._log.read_text() else None

    def list_calls(self, act: str, home: Path, env: dict[str, str]) -> tuple[str, ...]:
        """The kinds of calls that an act makes; `python` where they cannot be traced."""
        if self.calls != CALLS:
            return self.calls
        # No act makes so many calls that one would fail here.
        assert not self._run(act, home, env, ",?".join(CALLS), 60_000, "error=EIO")
        made = {line.partition("(")[0] for line in self._log.read_text().splitlines()}
        return tuple(call for call in CALLS if call in made)

    def _run(self, act: str, home: Path, env: dict[str, str], call: str, number: int, effect: str) -> int:
        wanted = {name: None if text is None else text.decode("latin-1") for name, text in WANTED.items()}
        traced = call != "python"
        self._say(json.dumps([act, str(home), env, wanted, 0 if traced else number]))
        pid = self._heard()
        tracer = self._trace(pid, call, f"{effect}:when={number}") if traced else None
        self._say("go")
        status = self._heard()
        if tracer:
            tracer.communicate(timeout=60)
        return status

    def _trace(self, pid: int, call: str, effect: str) -> subprocess.Popen[str]:
        words = [
            "-o",
            str(self._log),
            "-e",
            f"trace=?{call}",
            "-e",
            f"inject=?{call}:{effect}",
            "-p",
            str(pid),
        ]
        tracer = subprocess.Popen([STRACE or "strace", *words], stderr=subprocess.PIPE, text=True)
        assert tracer.stderr
        assert "attached" in tracer.stderr.readline()
        return tracer

    def _say(self, line: str) -> None:
        assert self._server.stdin
        self._server.stdin.write(line.encode() + b"\n")
        self._server.stdin.flush()

    def _heard(self) -> int:
        assert self._server.stdout
        return int(self._server.stdout.readline())

    def end(self) -> None:
        self._server.communicate(timeout=60)


@pytest.fixture(scope="module")
def victim(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Victim]:
    one = Victim(tmp_path_factory.mktemp("victim") / "calls")
    yield one
    one.end()


@pytest.fixture
def in_memory(tmp_path: Path) -> Iterator[Path]:
    """A folder where flushing costs nothing, if there is one: the kills ask for thousands."""
    memory = Path("/dev/shm")
    if not os.access(memory, os.W_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        yield Path(folder)


def lay_out(folder: Path) -> Path:
    home = folder / "home"
    (home / "dotfiles").mkdir(parents=True)
    (home / "dotfiles" / "settings.json").write_bytes(SETTINGS)
    (home / "dotfiles" / "settings.json").chmod(0o600)
    (home / "settings.json").symlink_to("dotfiles/settings.json")
    (home / "big.json").write_bytes(b"[" + b"0," * 40_000 + b"0]")
    (home / "script.sh").write_bytes(b"#!/bin/sh\n")
    (home / "script.sh").chmod(0o640)
    (home / "plugin.js").write_bytes(b"export {}\n")
    return home


def whole(now: Tree, old: Tree, new: Tree) -> bool:
    """Whether everything is as it was or as it is to be, temporary files and new empty folders apart."""
    kept = {name: what for name, what in now.items() if not Path(name).name.startswith(".hookport-")}
    return all(what in (old.get(name), new.get(name)) for name, what in kept.items()) and all(
        name in kept for name in old.keys() & new.keys()
    )


# Every fifth call of a kind, or each one.
SOME = [5, pytest.param(1, marks=pytest.mark.long)]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="kill -9 is of POSIX")
@pytest.mark.parametrize("step", SOME)
@pytest.mark.parametrize("since", [0, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize("act", ["apply", pytest.param("undo", marks=pytest.mark.long)])
def test_killed_at_any_call_each_file_is_whole(
    in_memory: Path, victim: Victim, act: str, since: int, step: int
) -> None:
    """Also where another project wrote last, so that the run that is undone is not the newest."""
    old = snapshot(lay_out(in_memory / "old"))
    assert not victim.killed("apply", lay_out(in_memory / "new"), {"HOME": str(in_memory)}, "python", 0)
    new = snapshot(in_memory / "new" / "home")
    folder, spare = in_memory / "folder", in_memory / "spare"
    env = {"HOOKPORT_STATE_DIR": str(folder / "state")}

    def prepare() -> Path:
        home = lay_out(folder)
        if act == "undo":
            apply_wanted(home, env)
        for number in range(since):
            other = change(folder / "other" / str(number), b"x")
            files.apply([other], env, what="sync", root=str(folder / "other"))
        return home

    home = prepare()
    kills = dict.fromkeys(victim.list_calls(act, home, env), 0)
    goes_back(home, env, old, act)
    for call in kills:
        for number in itertools.count(1, step):
            home = prepare()
            killed = victim.killed(act, home, env, call, number)
            assert whole(snapshot(home), old, new), (call, number)
            shutil.copytree(folder, spare, symlinks=True)
            goes_back(home, env, old, (call, number))
            spare.rename(folder)
            apply_wanted(home, env)
            assert snapshot(home) == new, (call, number)
            records = {record.path: record.written for record in ledger.list_records(env)}
            assert {path: text for path, text in records.items() if path.startswith(str(home))} == {
                str(home / name): content for name, content in WANTED.items()
            }
            goes_back(home, env, old, (call, number))
            if not killed:
                break
            kills[call] += 1
    # Each file takes its place by a rename of its own, and what was there is on the disk before.
    for call, least in {"python": 60, "rename": len(WANTED) - 1, "fsync": 2 * len(WANTED)}.items():
        assert kills.get(call, least) >= least // step, kills


@pytest.mark.skipif(not traceable(), reason="needs strace")
@pytest.mark.parametrize("step", SOME)
@pytest.mark.parametrize("act", ["apply", pytest.param("undo", marks=pytest.mark.long)])
def test_when_any_call_fails_all_is_done_or_nothing(
    in_memory: Path, victim: Victim, act: str, step: int
) -> None:
    old = snapshot(lay_out(in_memory / "old"))
    apply_wanted(lay_out(in_memory / "new"), {"HOME": str(in_memory)})
    new = snapshot(in_memory / "new" / "home")
    env = {"HOOKPORT_STATE_DIR": str(in_memory / "folder" / "state")}
    home = lay_out(in_memory / "folder")
    if act == "undo":
        apply_wanted(home, env)
    calls = victim.list_calls(act, home, env)
    goes_back(home, env, old, act)
    assert {"write", "rename", "fsync"} <= {*calls}
    failures = 0
    for call in calls:
        for number in itertools.count(1, step):
            home = lay_out(in_memory / "folder")
            if act == "undo":
                apply_wanted(home, env)
            failed = victim.failed(act, home, env, call, number)
            now = snapshot(home)
            if act == "apply":
                assert now == (old if failed else new), (call, number)
                assert bool(ledger.list_runs(env)) == (not failed), (call, number)
            else:
                # What is already back may stay so: another try takes back the rest.
                assert whole(now, old, new) if failed else now == old, (call, number)
            goes_back(home, env, old, (call, number))
            failures += failed is True
            if failed is None:
                break
    assert failures > 30 // step


def apply_wanted(home: Path, env: dict[str, str]) -> None:
    changes = [change(home / name, after, executable=name.endswith(".sh")) for name, after in WANTED.items()]
    files.apply(changes, env, what="sync", root=str(home))


def goes_back(home: Path, env: dict[str, str], old: Tree, where: object) -> None:
    files.undo(env)
    while ledger.list_runs(env):
        files.undo(env)
    assert snapshot(home) == old, where
    assert ledger.list_records(env) == []
    assert not list(home.parent.rglob("*.new"))
    shutil.rmtree(home.parent)


# Many at once

ADD = """
import os, sys
from hookport.install import files
from hookport.project.contents import Change, read_file

path, line = sys.argv[1:]
while True:
    before = read_file(path)
    try:
        after = (before or b"") + line.encode() + b"\\n"
        files.apply([Change(path, before, after)], os.environ, what="sync")
    except files.ChangedError:
        continue
    break
"""


@pytest.mark.parametrize("writers", [40, pytest.param(200, marks=pytest.mark.long)])
def test_many_writers_lose_nothing(home: Path, env: dict[str, str], writers: int) -> None:
    path = home / "new" / "settings.json"

    def add(number: int) -> int:
        words = [sys.executable, "-c", ADD, str(path), f"line {number}"]
        return subprocess.run(words, env={**env, "PYTHONPATH": SOURCE}, check=False, timeout=300).returncode

    with ThreadPoolExecutor(10) as pool:
        assert list(pool.map(add, range(writers))) == [0] * writers
    lines = path.read_text().splitlines()
    assert sorted(lines) == sorted(f"line {number}" for number in range(writers))
    assert [one.name for one in path.parent.iterdir()] == ["settings.json"]
    assert [run.number for run in ledger.list_runs(env)] == list(
        range(writers + 1 - ledger.KEPT_RUNS, writers + 1)
    )
    for _ in range(ledger.KEPT_RUNS):
        files.undo(env)
    assert path.read_text().splitlines() == lines[: writers - ledger.KEPT_RUNS]
    assert files.undo(env) == []


# What a file is, it stays


def test_a_link_stays_a_link_and_permissions_stay(home: Path, env: dict[str, str]) -> None:
    real = home / "dotfiles.json"
    real.write_bytes(SETTINGS)
    real.chmod(0o600)
    link = home / "settings.json"
    link.symlink_to("dotfiles.json")
    before = snapshot(home)
    files.apply([change(link, SETTINGS + b"\r\n")], env, what="sync")
    assert snapshot(home) == {
        "dotfiles.json": (0o600, SETTINGS + b"\r\n"),
        "settings.json": "dotfiles.json",
    }
    assert ledger.find_record(str(link), env) == ledger.find_record(str(real), env) != None  # noqa: E711
    assert files.undo(env) == [Change(str(link), SETTINGS + b"\r\n", SETTINGS)]
    assert snapshot(home) == before


def test_a_link_to_nothing_gets_its_file(home: Path, env: dict[str, str]) -> None:
    (home / "settings.json").symlink_to("dotfiles/settings.json")
    before = snapshot(home)
    files.apply([change(home / "settings.json", b"{}")], env, what="sync")
    assert (home / "dotfiles" / "settings.json").read_bytes() == b"{}"
    files.undo(env)
    assert snapshot(home) == before


def test_a_link_that_points_elsewhere_now_is_not_followed_back(home: Path, env: dict[str, str]) -> None:
    for name in ("one", "two"):
        (home / name).write_bytes(b"old")
    link = home / "settings.json"
    link.symlink_to("one")
    files.apply([change(link, b"new")], env, what="sync")
    link.unlink()
    link.symlink_to("two")
    with pytest.raises(ChangedError, match=r"settings.json: was replaced since `hookport sync`"):
        files.undo(env)
    assert ((home / "one").read_bytes(), (home / "two").read_bytes()) == (b"new", b"old")


def test_two_names_of_one_file_are_not_both_written(home: Path, env: dict[str, str]) -> None:
    (home / "one").write_bytes(b"old")
    (home / "two").symlink_to("one")
    with pytest.raises(InputError, match=r"two: is the same file as .*one"):
        files.apply([change(home / "one", b"a"), change(home / "two", b"b")], env, what="sync")
    assert (home / "one").read_bytes() == b"old"


def test_a_file_with_another_name_is_refused_and_stays_linked(home: Path, env: dict[str, str]) -> None:
    """Dotfiles and snapshots are made of hard links: neither name may lose the other, or get its bytes."""
    settings, other = home / "settings.json", home / "dotfiles.json"
    settings.write_bytes(b"old")
    other.hardlink_to(settings)
    (home / "more.json").write_bytes(b"old")
    wanted = [change(home / "more.json", b"new"), change(settings, b"new")]
    with pytest.raises(
        InputError, match=r"settings.json: has a second name, and writing would break this hard link"
    ):
        files.apply(wanted, env, what="sync")
    assert settings.samefile(other)
    assert {file.name: file.read_bytes() for file in home.iterdir()} == dict.fromkeys(
        ("settings.json", "dotfiles.json", "more.json"), b"old"
    )
    other.unlink()
    files.apply(wanted, env, what="sync")
    other.hardlink_to(settings)
    with pytest.raises(
        InputError, match=r"settings.json: has a second name, and writing would break this hard link"
    ):
        files.undo(env)
    assert settings.samefile(other)
    other.unlink()
    files.undo(env)
    assert (settings.read_bytes(), (home / "more.json").read_bytes()) == (b"old", b"old")


@pytest.mark.parametrize(
    "content", [SETTINGS, b"", b"\xff\xfe{\x00}\x00", b"a\rb\n\r\x00", "{\u2028\U0001f600}".encode()]
)
def test_bytes_come_back_as_they_were(home: Path, env: dict[str, str], content: bytes) -> None:
    path = home / "settings.json"
    path.write_bytes(content)
    files.apply([change(path, b"new" + content)], env, what="sync")
    assert path.read_bytes() == b"new" + content
    assert ledger.find_record(str(path), env) == ledger.list_records(env)[0]
    assert ledger.list_records(env)[0][:3] == (str(path), content, b"new" + content)
    files.undo(env)
    assert path.read_bytes() == content


def test_a_script_becomes_executable_and_ceases_to_be(home: Path, env: dict[str, str]) -> None:
    for name, mode in (("same.sh", 0o640), ("other.sh", 0o600)):
        (home / name).write_bytes(b"#!/bin/sh\n")
        (home / name).chmod(mode)
    before = snapshot(home)
    changes = [
        change(home / "same.sh", b"#!/bin/sh\n", executable=True),
        change(home / "other.sh", b"#!/bin/bash\n", executable=True),
        change(home / "new.sh", b"", executable=True),
    ]
    files.apply(changes, env, what="sync")
    umask = os.umask(0)
    os.umask(umask)
    assert snapshot(home) == {
        "new.sh": (0o777 & ~umask, b""),
        "other.sh": (0o700, b"#!/bin/bash\n"),
        "same.sh": (0o750, b"#!/bin/sh\n"),
    }
    (home / "other.sh").chmod(0o744)
    files.undo(env)
    assert snapshot(home) == {**before, "other.sh": (0o644, b"#!/bin/sh\n")}


@pytest.mark.skipif(sys.platform != "linux" or os.getuid() != 0, reason="only root gives files away")
def test_the_owner_stays(home: Path, env: dict[str, str]) -> None:
    path = home / "settings.json"
    path.write_bytes(b"old")
    os.chown(path, 1234, 2345)
    files.apply([change(path, b"new")], env, what="sync")
    assert (path.stat().st_uid, path.stat().st_gid, path.read_bytes()) == (1234, 2345, b"new")


# What is refused, and that nothing is written then


def refused(changes: list[Change], home: Path, env: dict[str, str], error: type[InputError]) -> str:
    before = snapshot(home)
    with pytest.raises(error) as raised:
        files.apply(changes, env, what="sync")
    assert snapshot(home) == before
    assert (ledger.list_records(env), ledger.list_runs(env)) == ([], [])
    return str(raised.value).replace(str(home), "~")


def test_a_file_that_changed_since_it_was_read_is_left_alone(home: Path, env: dict[str, str]) -> None:
    (home / "a").write_bytes(b"old")
    (home / "b").write_bytes(b"old")
    changes = [change(home / "a", b"new"), change(home / "b", b"new"), change(home / "c", b"new")]
    (home / "b").write_bytes(b"old, edited")
    (home / "c").write_bytes(b"")
    assert refused(changes, home, env, ChangedError) == (
        "~/b: changed since it was read. Try again.\n~/c: changed since it was read. Try again."
    )
    (home / "b").unlink()
    (home / "c").unlink()
    assert refused(changes, home, env, ChangedError) == "~/b: changed since it was read. Try again."


def test_a_folder_in_the_place_of_a_file(home: Path, env: dict[str, str]) -> None:
    (home / "a").write_bytes(b"old")
    (home / "settings.json").mkdir()
    changes = [change(home / "a", b"new"), Change(str(home / "settings.json"), None, b"{}")]
    message = "~/settings.json: is a folder, not a file."
    assert refused(changes, home, env, InputError) == message
    with pytest.raises(InputError, match="is a folder"):
        read_file(str(home / "settings.json"))


def test_a_file_in_the_place_of_a_folder(home: Path, env: dict[str, str]) -> None:
    (home / ".rules").write_bytes(b"rules")
    message = "~/.rules/hooks/a.sh: ~/.rules is a file, where a folder is needed."
    assert refused([change(home / ".rules" / "hooks" / "a.sh", b"")], home, env, InputError) == message


def test_what_cannot_be_read(home: Path) -> None:
    os.mkfifo(home / "pipe")
    (home / "loop").symlink_to("loop")
    with (home / "huge").open("wb") as stream:
        stream.truncate(LARGEST + 1)
    said = {}
    for name in ("pipe", "loop", "huge"):
        with pytest.raises(InputError) as raised:
            read_file(str(home / name))
        said[name] = str(raised.value).removeprefix(f"{home}/{name}: ")
    assert said == {
        "pipe": "is not a readable file: a pipe or a device.",
        "loop": "cannot read this file: Too many levels of symbolic links.",
        "huge": "is larger than 5 MB, so it is left untouched.",
    }


APPLY = """
import json, os, sys
from hookport.errors import HookportError
from hookport.install import files
from hookport.project.contents import Change, read_file

act = sys.argv[1]
try:
    if act == "undo":
        files.undo(os.environ)
    else:
        changes = [Change(path, read_file(path), b"new") for path in sys.argv[2:]]
        files.apply(changes, os.environ, what="sync")
except HookportError as error:
    print(type(error).__name__, error)
"""


def as_plain_user(env: dict[str, str], act: str, *paths: Path) -> str:
    """What an act says when permissions count for it, as they do not for root."""
    words = [sys.executable, "-c", APPLY, act, *map(str, paths)]
    if os.getuid() == 0:
        if not shutil.which("setpriv"):
            pytest.skip("root may write everywhere, and setpriv is not here to stop it")
        words = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", *words]
    done = subprocess.run(
        words, env={**env, "PYTHONPATH": SOURCE}, capture_output=True, text=True, check=True, timeout=60
    )
    return done.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="permissions are of POSIX")
def test_a_read_only_folder_stops_all(home: Path, env: dict[str, str]) -> None:
    (home / "open").mkdir()
    (home / "open" / "a").write_bytes(b"old")
    (home / "closed").mkdir()
    (home / "closed" / "b").write_bytes(b"old")
    (home / "closed").chmod(0o555)
    before = snapshot(home)
    for paths in (["open/a", "closed/b"], ["open/a", "open/made/new", "closed/new"]):
        said = as_plain_user(env, "apply", *(home / path for path in paths))
        assert said == f"InputError {home / paths[-1]}: cannot write this file: Permission denied.\n"
        assert snapshot(home) == before
        assert (ledger.list_records(env), ledger.list_runs(env)) == ([], [])
    (home / "closed").chmod(0o755)


@pytest.mark.skipif(sys.platform == "win32", reason="permissions are of POSIX")
def test_a_read_only_file_is_left_alone(home: Path, env: dict[str, str]) -> None:
    (home / "a").write_bytes(b"old")
    (home / "a").chmod(0o444)
    said = as_plain_user(env, "apply", home / "a")
    assert said == f"InputError {home / 'a'}: is read-only, so it is left untouched. Try: chmod u+w\n"
    assert snapshot(home) == {"a": (0o444, b"old")}


@pytest.mark.skipif(sys.platform == "win32", reason="permissions are of POSIX")
def test_an_undo_that_cannot_write_can_be_tried_again(home: Path, env: dict[str, str]) -> None:
    for name in ("a", "b"):
        (home / name).mkdir()
        (home / name / "file").write_bytes(b"old")
    before = snapshot(home)
    files.apply([change(home / name / "file", b"new") for name in ("a", "b")], env, what="sync")
    after = snapshot(home)
    (home / "b").chmod(0o555)
    said = as_plain_user(env, "undo")
    (home / "b").chmod(0o755)
    assert said == f"InputError {home / 'b' / 'file'}: cannot write this file: Permission denied.\n"
    assert snapshot(home) == after
    files.undo(env)
    assert snapshot(home) == before


@pytest.mark.skipif(sys.platform == "win32", reason="permissions are of POSIX")
def test_without_a_ledger_nothing_is_written(home: Path, env: dict[str, str], tmp_path: Path) -> None:
    (home / "a").write_bytes(b"old")
    (tmp_path / "state").mkdir(mode=0o555)
    said = as_plain_user(env, "apply", home / "a")
    assert said == (
        f"InputError {tmp_path}/state/ledger: cannot write the ledger: Permission denied. "
        "Set HOOKPORT_STATE_DIR to a writable folder.\n"
    )
    with pytest.raises(InputError, match=r"no folder for the ledger: HOME is not set"):
        files.apply([change(home / "a", b"new")], {}, what="sync")
    assert (home / "a").read_bytes() == b"old"
    assert (ledger.list_records({}), ledger.list_runs({}), ledger.find_record(str(home / "a"), {})) == (
        [],
        [],
        None,
    )
    assert files.undo({}) == []


# Undo and the ledger


def test_undo_goes_back_run_by_run(home: Path, env: dict[str, str]) -> None:
    (home / "a").write_bytes(b"0")
    states = [snapshot(home)]
    for after in (b"1", b"2"):
        files.apply([change(home / "a", after), change(home / ".x" / "y" / "b", after)], env, what="sync")
        states.append(snapshot(home))
    files.apply(
        [change(home / "a", b"0"), change(home / ".x" / "y" / "b", None)], env, what="unsync", ends=True
    )
    assert snapshot(home) == states[0]
    assert ledger.list_records(env) == []
    for state in (states[2], states[1], states[0]):
        assert files.undo(env, dry_run=True) == files.undo(env)
        assert snapshot(home) == state
    assert (ledger.list_records(env), files.undo(env)) == ([], [])


def test_a_folder_goes_with_the_last_file_in_it(home: Path, env: dict[str, str]) -> None:
    first, second = home / "made" / "first", home / "made" / "second"
    files.apply([change(first, b"1")], env, what="sync")
    files.apply([change(second, b"2")], env, what="sync")
    files.apply([change(first, None)], env, what="unsync", ends=True)
    files.apply([change(second, None)], env, what="unsync", ends=True)
    assert snapshot(home) == {}
    files.undo(env)
    assert second.read_bytes() == b"2"
    (home / "made" / "mine").write_bytes(b"mine")
    files.undo(env)
    files.undo(env)
    files.undo(env)
    assert list(snapshot(home)) == ["made", "made/mine"]


def test_the_record_says_whether_the_former_bytes_can_be_put_back(home: Path, env: dict[str, str]) -> None:
    path = home / "a"
    path.write_bytes(b"0")
    seen = []
    for after in (b"1", b"2"):
        files.apply([change(path, after)], env, what="sync")
        seen.append(ledger.find_record(str(path), env))
    path.write_bytes(b"2, edited")
    files.apply([change(path, b"3, edited")], env, what="sync")
    seen.append(ledger.find_record(str(path), env))
    assert [record and (record.original, record.written, record.exact) for record in seen] == [
        (b"0", b"1", True),
        (b"0", b"2", True),
        (b"0", b"3, edited", False),
    ]
    files.apply([change(path, b"edited")], env, what="unsync", ends=True)
    assert ledger.find_record(str(path), env) is None
    files.undo(env)
    assert ledger.find_record(str(path), env) == seen[2]


def test_a_file_without_our_entries_is_forgotten_even_if_it_need_not_change(
    home: Path, env: dict[str, str]
) -> None:
    path = home / "a"
    path.write_bytes(b"0")
    files.apply([change(path, b"1")], env, what="sync")
    path.write_bytes(b"by hand")
    files.apply([change(path, b"by hand")], env, what="unsync", ends=True)
    assert ledger.list_records(env) == []
    files.apply([change(path, b"by hand")], env, what="sync")
    assert [run.what for run in ledger.list_runs(env)] == ["sync", "unsync"]


def test_undo_does_not_touch_what_a_person_changed(home: Path, env: dict[str, str]) -> None:
    (home / "a").write_bytes(b"old")
    files.apply([change(home / "a", b"new"), change(home / "b", b"new")], env, what="sync")
    (home / "a").write_bytes(b"new, edited")
    for words in (["undo"], ["undo", "--dry-run"]):
        done = hookport(*words, cwd=home, env=env)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == (
            f"error: {home}/a: changed since `hookport sync` wrote it, so the run is not undone. "
            "`hookport unsync` removes our entries and keeps the change; "
            "or revert the change first, then try again.\nNothing was written.\n"
        )
    assert ((home / "a").read_bytes(), (home / "b").read_bytes()) == (b"new, edited", b"new")
    (home / "a").write_bytes(b"new")
    assert hookport("undo", cwd=home, env=env).returncode == 0
    assert list(snapshot(home)) == ["a"]


def test_undo_shows_what_it_takes_back(home: Path, env: dict[str, str]) -> None:
    done = hookport("undo", cwd=home, env=env)
    assert (done.returncode, done.stdout, done.stderr) == (
        0,
        "",
        "note: nothing to revert: the ledger has no run\n",
    )
    (home / "a").write_bytes(b"one\r\ntwo")
    files.apply([change(home / "a", b"one\r\n\x1b[31m\n"), change(home / "b", b"\xff")], env, what="sync")
    when = ledger.list_runs(env)[0].time[:19].replace("T", " ")
    listed = f" reverted:\n  restored  {home}/a\n  removed   {home}/b\n"
    done = hookport("undo", "--dry-run", cwd=home, env=env)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (
        f"`hookport sync` of {when} would be{listed}"
        f"--- {home}/a\n+++ {home}/a\n@@ -1,2 +1,2 @@\n one\\u000d\n-\\u001b[31m\n+two\n"
        f"\\ No newline at end of file\n{home}/b: binary, 1 → 0 bytes\n"
    )
    assert (home / "b").exists()
    done = hookport("undo", cwd=home, env=env)
    assert (done.returncode, done.stderr, done.stdout) == (0, "", f"`hookport sync` of {when} is{listed}")
    assert (home / "a").read_bytes() == b"one\r\ntwo"
    files.apply([change(home / "a", b"x")], env, what="sync")
    when = ledger.list_runs(env)[0].time[:19].replace("T", " ")
    (home / "a").write_bytes(b"one\r\ntwo")
    done = hookport("undo", cwd=home, env=env)
    assert (done.returncode, done.stdout, done.stderr) == (
        0,
        "",
        f"note: nothing to revert: the files of `hookport sync` of {when} are as they were before it\n",
    )


@pytest.mark.skipif(sys.platform == "win32", reason="permissions are of POSIX")
def test_the_ledger_is_for_its_user_only(home: Path, env: dict[str, str], tmp_path: Path) -> None:
    (home / "a").write_bytes(b"token = hunter2")
    files.apply([change(home / "a", b"new")], env, what="sync")
    state = [tmp_path / "state", *(tmp_path / "state").rglob("*")]
    modes = {(path.is_dir(), stat.S_IMODE(path.stat().st_mode)) for path in state}
    assert modes == {(True, 0o700), (False, 0o600)}


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "torn": lambda text: text[: len(text) // 2],
    "empty": lambda text: b"",
    "list": lambda text: b"[]",
    "other bytes": lambda text: text.replace(b'"old', b'"odd'),
    "other types": lambda text: text.replace(b'"what": "sync"', b'"what": 7'),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_broken_record_is_reported_and_the_others_are_read(
    home: Path, env: dict[str, str], tmp_path: Path, damage: str
) -> None:
    for name in ("a", "b"):
        (home / name).write_bytes(b"old " + name.encode())
        files.apply([change(home / name, b"new")], env, what="sync")
    kept = ledger.find_record(str(home / "b"), env)
    file = next(one for one in (tmp_path / "state/ledger/files").iterdir() if b"old a" in one.read_bytes())
    file.write_bytes(DAMAGE[damage](file.read_bytes()))
    assert ledger.list_records(env) == [kept]
    assert ledger.find_record(str(home / "a"), env) is None
    finding = LedgerBroken.at("", why="it is damaged")._replace(file=str(file))
    assert ledger.find_broken(env) == [finding]
    files.apply([change(home / "a", b"newer")], env, what="sync")
    record = ledger.find_record(str(home / "a"), env)
    assert record
    assert (record.original, record.written, record.exact) == (b"new", b"newer", False)
    assert ledger.find_broken(env) == []
    for _ in range(3):
        files.undo(env)
    assert [(home / name).read_bytes() for name in ("a", "b")] == [b"old a", b"old b"]


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_broken_run_is_not_taken_back(home: Path, env: dict[str, str], tmp_path: Path, damage: str) -> None:
    (home / "a").write_bytes(b"old")
    files.apply([change(home / "a", b"old 1")], env, what="sync")
    files.apply([change(home / "a", b"old 2")], env, what="sync")
    last = tmp_path / "state/ledger/runs/00000002.json"
    last.write_bytes(DAMAGE[damage](last.read_bytes()))
    assert [finding.file for finding in ledger.find_broken(env)] == [str(last)]
    with pytest.raises(InputError) as raised:
        files.undo(env)
    assert str(raised.value) == (
        f"{last}: it is damaged, so this run cannot be undone. Remove the file to undo the run before."
    )
    files.apply([change(home / "a", b"old 3")], env, what="sync")
    assert [run.number for run in ledger.list_runs(env)] == [1, 3]
    files.undo(env)
    assert (home / "a").read_bytes() == b"old 2"


def test_a_ledger_of_a_later_version_is_not_misread(home: Path, env: dict[str, str], tmp_path: Path) -> None:
    files.apply([change(home / "a", b"new")], env, what="sync")
    for file in (tmp_path / "state/ledger").rglob("*.json"):
        file.write_bytes(file.read_bytes().replace(b'"version": 1', b'"version": 2'))
    assert {finding.message for finding in ledger.find_broken(env)} == {
        "cannot read this ledger file: its version is 2, and this hookport knows 1"
    }
    with pytest.raises(HookportError, match="its version is 2"):
        files.undo(env)
