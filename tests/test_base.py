"""Files, locks, folders and words: what every part of hookport does the same way."""

from __future__ import annotations

import contextlib
import os
import shlex
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path, PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookport.base import files, folders, paths, quoting
from hookport.base.places import ends_at, list_rests

WORDS = ["", "plain", "a b", "it's", "$HOME", "~", "a=b", "if", "x\ny", "é", "-n", 'say "no"', "@%+=:,./-_"]


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_word_for_people_is_what_the_library_writes() -> None:
    assert [quoting.quote_if_needed(word) for word in WORDS] == [shlex.quote(word) for word in WORDS]


@pytest.mark.skipif(os.name == "nt", reason="it is for a POSIX shell")
def test_a_shell_reads_a_quoted_word_as_it_was() -> None:
    script = "".join(f"printf '%s\\0' {quoting.quote(word)}\n" for word in WORDS)
    done = subprocess.run(["sh", "-c", script], capture_output=True, check=True)
    assert done.stdout.decode().split("\0")[:-1] == WORDS


def test_a_quoted_word_is_neither_a_keyword_nor_an_assignment() -> None:
    assert [quoting.quote(word) for word in ("if", "a=b")] == ["'if'", "'a=b'"]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such permissions")
@pytest.mark.parametrize(
    ("mode", "former", "expected"),
    [
        (files.PRIVATE, None, 0o600),
        (files.PRIVATE, 0o644, 0o600),
        (files.NEW_FILE_MODES[False], None, 0o640),
        (files.NEW_FILE_MODES[True], 0o600, 0o750),
        (None, None, 0o640),
        (None, 0o755, 0o755),
    ],
)
def test_a_file_has_the_permissions_that_are_asked_for(
    tmp_path: Path, mode: int | None, former: int | None, expected: int
) -> None:
    path = tmp_path / "file"
    if former is not None:
        path.write_bytes(b"before")
        path.chmod(former)
    umask = os.umask(0o027)
    try:
        files.replace_file(str(path), b"after", mode, is_durable=True)
    finally:
        os.umask(umask)
    assert (path.read_bytes(), mode_of(path), names_in(tmp_path)) == (b"after", expected, ["file"])


def test_a_file_that_cannot_be_replaced_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "file").mkdir()
    with pytest.raises(OSError, match="file"):
        files.replace_file(str(tmp_path / "file"), b"after")
    assert names_in(tmp_path) == ["file"]


@pytest.mark.skipif(os.name == "nt", reason="links need a permission there")
def test_a_link_is_replaced_and_what_it_leads_to_stays(tmp_path: Path) -> None:
    (tmp_path / "other").write_bytes(b"before")
    (tmp_path / "file").symlink_to("other")
    files.replace_file(str(tmp_path / "file"), b"after")
    assert not (tmp_path / "file").is_symlink()
    assert (tmp_path / "other").read_bytes() == b"before"


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such permissions")
def test_a_file_of_ours_and_its_folder_are_for_the_user_alone(tmp_path: Path) -> None:
    path = tmp_path / "state" / "file"
    files.keep_file(str(path), b"data")
    assert (path.read_bytes(), mode_of(path), mode_of(path.parent)) == (b"data", 0o600, 0o700)


def test_old_files_are_removed(tmp_path: Path) -> None:
    for name, age in (("old", 100), ("new", 0)):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (time.time() - age,) * 2)
    files.remove_old_files(str(tmp_path), 50)
    assert names_in(tmp_path) == ["new"]


HOLDING = """
import os, sys
from hookport.base.files import lock
file = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
lock(file, 10, *map(int, sys.argv[2:]))
print("held", flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("byte", [None, 7])
def test_a_lock_is_of_one_process_until_it_ends(tmp_path: Path, byte: int | None) -> None:
    words = [] if byte is None else [str(byte)]
    path = tmp_path / "lock"
    with subprocess.Popen(
        [sys.executable, "-c", HOLDING, str(path), *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with path.open("r+b") as file:
            with pytest.raises((BlockingIOError, PermissionError)):
                files.lock(file.fileno(), 0.0, byte)
            if byte is not None:
                files.lock(file.fileno(), 0.0, byte + 1)
            holder.communicate()
            files.lock(file.fileno(), 10, byte)


def test_a_byte_that_is_given_back_is_free(tmp_path: Path) -> None:
    with (tmp_path / "lock").open("w+b") as file:
        files.lock(file.fileno(), 0.0, 3)
        files.unlock(file.fileno(), 3)
        code = "import os, sys; from hookport.base.files import lock"
        code += "; lock(os.open(sys.argv[1], os.O_RDWR), 0.0, 3)"
        subprocess.run([sys.executable, "-c", code, file.name], check=True)


@pytest.mark.skipif(os.name == "nt", reason="its paths look otherwise")
@pytest.mark.parametrize(
    ("env", "named", "used"),
    [
        ({"HOME": "/h"}, "/h", "/h"),
        ({"HOME": "/h", "USERPROFILE": "/u"}, "/h", "/h"),
        ({"HOME": "", "USERPROFILE": "/u"}, "/u", "/u"),
        ({"HOME": "h"}, "", ""),
        ({}, "", "/of/the/password/file"),
    ],
)
def test_without_a_home_the_one_of_the_password_file_is_used(
    env: dict[str, str], named: str, used: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "/of/the/password/file")
    assert (folders.find_named_home(env), folders.find_home(env)) == (named, used)


def test_a_path_is_spelled_from_the_project_or_the_home() -> None:
    env = {"HOME": "/h"}
    absolute = ["/h/p", "/h/p/a/b", "/h/pp/a", "/h/x", "/h", "/other"]
    spelled = [paths.spell_path(path, "/h/p", env) for path in absolute]
    assert spelled == [".", "a/b", "~/pp/a", "~/x", "/h", "/other"]


def test_a_repository_is_the_nearest_one_below_the_end(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b" / "c"
    inner.mkdir(parents=True)
    (tmp_path / "a" / ".git").write_text("gitdir: elsewhere")
    root = str(tmp_path / "a")
    assert paths.find_repository(str(inner)) == root
    assert paths.find_repository(str(inner), str(tmp_path)) == root
    assert paths.find_repository(str(inner), root) == ""
    assert paths.find_repository(root, root) == root
    assert list(folders.walk_upward(str(inner), root)) == [str(inner), str(inner.parent)]


@pytest.mark.parametrize(
    ("path", "place", "at"),
    [
        ("/home/me/.config/agents/hooks/guard/HOOK.md", "~/.config/agents/hooks/*/HOOK.md", True),
        ("/srv/.agents/hooks/a/b/HOOK.md", ".agents/hooks/*/HOOK.md", False),
        ("/srv/agents/x.md", "./agents/*.md", True),
        ("hooks.json", "hooks/hooks.json", False),
        ("/etc/agent/hooks.json", "/etc/agent/hooks.json", True),
        ("/srv/etc/agent/hooks.json", "/etc/agent/hooks.json", False),
    ],
)
def test_a_path_ends_at_a_place(path: str, place: str, at: bool) -> None:
    assert ends_at(PurePosixPath(path).parts, place) is at


def test_the_rest_of_a_place_within_a_folder() -> None:
    """A folder that is named may be the beginning of a place, or have all of it below it."""
    place = "~/.agents/plugins/*/hooks/hooks.json"
    folder = ("/", "home", "me", ".agents", "plugins")
    assert list(list_rests(folder, place)) == [".agents/plugins/*/hooks/hooks.json", "*/hooks/hooks.json"]
    assert list(list_rests((*folder, "mine"), place))[1:] == ["hooks/hooks.json"]


NAMES = st.sampled_from(["a", "b", "c", "..", "."])
PATHS = st.lists(NAMES, min_size=1, max_size=5).map("/".join)
TREES = st.lists(st.tuples(PATHS, st.sampled_from(["folder", "file", "link"]), PATHS), max_size=8)


@pytest.mark.skipif(os.name == "nt", reason="a link needs a right there")
@given(TREES, st.lists(PATHS, min_size=1, max_size=6))
def test_a_resolver_leads_where_realpath_does(tree: list[tuple[str, str, str]], asked: list[str]) -> None:
    with tempfile.TemporaryDirectory() as root:
        for path, kind, target in tree:
            with contextlib.suppress(OSError):
                if kind == "folder":
                    Path(root, path).mkdir(parents=True)
                elif kind == "file":
                    Path(root, path).touch()
                else:
                    Path(root, path).symlink_to(target)
        resolve = paths.make_resolver()
        places = [place for path in asked for place in (f"{root}/{path}", os.path.normpath(f"{root}/{path}"))]
        places += ["/", "//", "relative/a", root]
        assert [resolve(place) for place in places] == [os.path.realpath(place) for place in places]
