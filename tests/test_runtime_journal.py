"""The journal: nothing is lost or torn, nothing secret is written, and nothing that goes wrong is raised."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import hookport
from hookport.runtime import journal
from hookport.runtime.redaction import REDACTED, TOO_DEEP, clean, walk

SOURCE = str(Path(hookport.__file__).parent.parent)
NOBODY = 65534
WHEN = "2026-11-01T09:30:00.000Z"

# Waits until all others are there as well, then writes.
WRITER = """
import sys
from hookport.runtime import journal
number, count, most_bytes = map(int, sys.argv[1:])
sys.stdin.read()
env = {"HOOKPORT_STATE_DIR": sys.path[0] or "."}
for line in range(count):
    reason = journal.write({"writer": number, "line": line, "text": "x" * (line * 5)}, env, most_bytes)
    if reason:
        sys.exit(reason)
"""


def env_of(folder: Path) -> dict[str, str]:
    return {"HOOKPORT_STATE_DIR": str(folder)}


def read(env: dict[str, str]) -> Iterator[dict[str, Any]]:
    return journal.Reader(env).new()


def redact(tree: Any) -> Any:
    return walk(tree, clean)


def python(script: str, *args: str, **options: Any) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-S", "-c", script, *args],
        env={"PYTHONPATH": SOURCE, "PYTHONDONTWRITEBYTECODE": "1"},
        stdin=subprocess.PIPE,
        text=True,
        **options,
    )


@contextmanager
def watched(process: subprocess.Popen[str]) -> Iterator[None]:
    """A process that hangs fails the test instead of stopping it."""
    dog = threading.Timer(60, process.kill)
    dog.start()
    try:
        with process:
            yield
    finally:
        dog.cancel()


def test_a_hundred_writers_lose_and_tear_nothing(tmp_path: Path) -> None:
    writers, count = 100, 20
    each = [(writer, line) for writer in range(writers) for line in range(count)]
    # 2,000 lines of 124 bytes and less make 4 files of this size, and all of them are kept.
    most_bytes = 70_000
    ready, go = os.pipe()
    processes = [
        subprocess.Popen(
            [sys.executable, "-S", "-c", WRITER, str(number), str(count), str(most_bytes)],
            env={"PYTHONPATH": SOURCE},
            cwd=tmp_path,
            stdin=ready,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(writers)
    ]
    os.close(ready)
    os.close(go)
    reader = journal.Reader(env_of(tmp_path))
    followed: list[dict[str, Any]] = []
    while any(process.poll() is None for process in processes):
        followed += reader.new()
    errors = [process.communicate(timeout=60)[1] for process in processes]
    followed += reader.new()
    assert ("".join(errors), [process.returncode for process in processes]) == ("", [0] * writers)

    records = list(read(env_of(tmp_path)))
    assert sorted((one["writer"], one["line"]) for one in records) == each
    assert sorted((one["writer"], one["line"]) for one in followed) == each
    assert all(one["text"] == "x" * (one["line"] * 5) for one in records)
    assert reader.skipped == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*journal.FILES, journal.LOCK])
    for writer in range(writers):
        assert [one["line"] for one in records if one["writer"] == writer] == list(range(count))


def test_the_oldest_of_three_old_files_goes(tmp_path: Path) -> None:
    for number in range(9):
        assert journal.write({"time": WHEN, "number": number}, env_of(tmp_path), most_bytes=100) == ""
    size = (tmp_path / journal.FILES[1]).stat().st_size
    kept = [
        json.loads((tmp_path / name).read_text("utf-8").splitlines()[0])["number"] for name in journal.FILES
    ]
    assert (size, kept) == (94, [8, 6, 4, 2])
    assert [one["number"] for one in read(env_of(tmp_path))] == [2, 3, 4, 5, 6, 7, 8]


def test_a_writer_who_waits_too_long_writes_without_the_lock(tmp_path: Path) -> None:
    with (tmp_path / journal.LOCK).open("wb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert journal.write({"time": WHEN}, env_of(tmp_path)) == ""
    assert list(read(env_of(tmp_path))) == [{"time": WHEN}]


def test_only_the_owner_may_read_it(tmp_path: Path) -> None:
    place = tmp_path / "a" / "hookport"
    before = os.umask(0)
    try:
        assert journal.write({"time": WHEN}, env_of(place)) == ""
    finally:
        os.umask(before)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (place, *place.iterdir())}
    assert modes == {"hookport": 0o700, journal.FILES[0]: 0o600, journal.LOCK: 0o600}


@pytest.mark.parametrize(
    ("env", "expected"),
    [
        ({"HOOKPORT_STATE_DIR": "/s", "XDG_STATE_HOME": "/x", "HOME": "/h"}, "/s"),
        ({"XDG_STATE_HOME": "/x", "HOME": "/h"}, "/x/hookport"),
        ({"XDG_STATE_HOME": "x", "HOME": "/h"}, "/h/.local/state/hookport"),
        ({"XDG_STATE_HOME": "", "HOME": "/h"}, "/h/.local/state/hookport"),
        ({"HOME": ""}, ""),
        ({}, ""),
    ],
)
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has a folder of its own")
def test_where_it_is(env: dict[str, str], expected: str) -> None:
    assert journal.find_state_folder(env) == expected


def test_without_a_home_there_is_no_journal() -> None:
    assert journal.write({}, {}) == "no folder for the journal: HOME is not set. Set HOOKPORT_STATE_DIR."
    assert list(read({})) == []


def test_a_folder_in_the_place_of_the_file(tmp_path: Path) -> None:
    file = tmp_path / journal.FILES[0]
    file.mkdir()
    assert (
        journal.write({}, env_of(tmp_path), most_bytes=1)
        == f"the journal was not written: {file}: Is a directory"
    )


def test_a_file_in_the_place_of_the_folder(tmp_path: Path) -> None:
    place = tmp_path / "hookport"
    place.touch()
    assert journal.write({}, env_of(place)) == f"the journal was not written: {place}: File exists"
    assert list(read(env_of(place))) == []


def test_a_pipe_that_nobody_reads_does_not_stop_the_writer(tmp_path: Path) -> None:
    file = tmp_path / journal.FILES[0]
    os.mkfifo(file)
    record = {"hooks": ["x" * 2_000 for _ in range(30)]}
    reader = os.open(file, os.O_RDONLY | os.O_NONBLOCK)
    try:
        reasons = {journal.write(record, env_of(tmp_path)) for _ in range(3)}
    finally:
        os.close(reader)
    assert reasons >= {f"the journal was not written: {file}: Resource temporarily unavailable"}


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a device that is always full")
def test_a_full_disk(tmp_path: Path) -> None:
    file = tmp_path / journal.FILES[0]
    file.symlink_to("/dev/full")
    assert (
        journal.write({}, env_of(tmp_path)) == f"the journal was not written: {file}: No space left on device"
    )


def test_a_line_that_fits_in_part_is_taken_back(tmp_path: Path) -> None:
    assert journal.write({"time": WHEN}, env_of(tmp_path)) == ""
    before = (tmp_path / journal.FILES[0]).read_bytes()
    script = f"""
import resource
from hookport.runtime import journal
resource.setrlimit(resource.RLIMIT_FSIZE, ({len(before) + 10}, resource.RLIM_INFINITY))
print(journal.write({{}}, {env_of(tmp_path)!r}), end="")
"""
    process = python(script, stdout=subprocess.PIPE)
    with watched(process):
        said, _ = process.communicate()
    assert said == f"the journal was not written: {tmp_path / journal.FILES[0]}: File too large"
    assert (tmp_path / journal.FILES[0]).read_bytes() == before


def test_a_folder_that_may_not_be_written_to() -> None:
    script = f"""
import os, sys
from hookport.runtime import journal
import fcntl
if os.geteuid() == 0:
    os.setuid({NOBODY})
print(journal.write({{}}, {{"HOOKPORT_STATE_DIR": sys.argv[1]}}), end="")
print(journal.write({{}}, {{"HOOKPORT_STATE_DIR": sys.argv[1] + "/new"}}), end="")
"""
    with tempfile.TemporaryDirectory() as place:
        Path(place).chmod(0o555)
        process = python(script, place, stdout=subprocess.PIPE)
        with watched(process):
            said, _ = process.communicate()
        assert said == (
            f"the journal was not written: {place}/{journal.LOCK}: Permission denied"
            f"the journal was not written: {place}/new: Permission denied"
        )


def test_what_no_json_can_hold_is_written_as_text(tmp_path: Path) -> None:
    deep: list[Any] = []
    for _ in range(5_000):
        deep = [deep]
    looped: dict[str, Any] = {"time": WHEN}
    looped["self"] = looped
    for record in (
        {"time": WHEN, 5: {1}, "bytes": b"x", "half": "\udc80", "lines": "a\nb\u2028c"},
        {"deep": deep},
        looped,
    ):
        assert journal.write(record, env_of(tmp_path)) == ""  # type: ignore[arg-type]
    first, second, third = read(env_of(tmp_path))
    assert first == {"time": WHEN, "5": "{1}", "bytes": "b'x'", "half": "\udc80", "lines": "a\nb\u2028c"}
    assert TOO_DEEP in json.dumps(second)
    assert TOO_DEEP in json.dumps(third)

    class Odd:
        def __str__(self) -> str:
            raise RuntimeError("no text")

    assert (
        journal.write({"odd": Odd()}, env_of(tmp_path))
        == "the journal was not written: RuntimeError: no text"
    )


def test_long_texts_are_cut_and_a_secret_across_the_cut_is_not_seen(tmp_path: Path) -> None:
    token = "ghp_" + "a1B2" * 9
    record = {
        "time": WHEN,
        "fits": "x" * 2_000,
        "long": "x" * 2_001,
        "across": "x" * 1_985 + " password=a " + "y" * 9_000,
        "split": "x" * 1_990 + " " + token + " " + "y" * 9_000,
        "shrunk": f"password={'z' * 2_400} {'y ' * 40}{token[:30]}" + token[30:] + "y" * 9_000,
        "input": {str(number): "short" for number in range(9_000)},
    }
    assert journal.write(record, env_of(tmp_path)) == ""
    (got,) = read(env_of(tmp_path))
    assert got == {
        "time": WHEN,
        "fits": "x" * 2_000,
        "long": "x" * 2_000 + "… [cut: 2001 characters in all]",
        "across": "x" * 1_985 + " password=[reda… [cut: 10997 characters in all]",
        "split": "x" * 1_970 + "… [cut: 11032 characters in all]",
        "shrunk": "… [cut: 11530 characters in all]",
        "input": "[left out: 133891 characters]",
    }


def test_torn_and_foreign_lines_are_skipped_and_counted(tmp_path: Path) -> None:
    (tmp_path / journal.FILES[0]).write_bytes(
        b'{"time": "'
        + WHEN.encode()
        + b'"}\nhello\n[1]\n{"no": "time"}\n\n\xff\xfe\n'
        + b"[" * 99_999
        + b'\n{"time": "2'
    )
    reader = journal.Reader(env_of(tmp_path))
    assert (list(reader.new()), reader.skipped) == ([{"time": WHEN}], 6)
    # The next writer ends the torn line, so that its own is whole.
    assert journal.write({"time": WHEN, "whole": True}, env_of(tmp_path)) == ""
    assert (list(reader.new()), reader.skipped) == ([{"time": WHEN, "whole": True}], 6)
    assert list(reader.new()) == []


def test_it_loads_only_what_a_dispatch_has_anyway() -> None:
    script = """
import __future__, json, os, sys, time
known = set(sys.modules)
import hookport.runtime.journal
print(*set(sys.modules) - known)
"""
    process = python(script, stdout=subprocess.PIPE)
    with watched(process):
        said, _ = process.communicate()
    assert {name for name in said.split() if not name.startswith("hookport")} == set()


BODY = "a1B2c3D4" * 6
JWT = f"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0{BODY}.{BODY}"
PEM = f"-----BEGIN RSA PRIVATE KEY-----\n{BODY}\n{BODY}\n-----END RSA PRIVATE KEY-----"
VECTORS = {
    f"aws AKIA{BODY.upper()[:16]} x": "aws [redacted] x",
    f"git clone https://ghp_{BODY}@github.com/a/b": "git clone https://[redacted]@github.com/a/b",
    f"x=github_pat_{BODY}": "x=[redacted]",
    f"glpat-{BODY[:20]}, sk-{BODY}": "[redacted], [redacted]",
    f"sk-ant-api03-{BODY}, sk-proj-{BODY}_-x": "[redacted], [redacted]",
    f"echo a\\nsk-{BODY}": "echo a\\n[redacted]",
    "task-management-of-the-whole-team": "task-management-of-the-whole-team",
    f"xoxb-123456789012-{BODY} xapp-1-{BODY}": "[redacted] [redacted]",
    f"https://hooks.slack.com/services/T000/B000/{BODY}": "https://[redacted]",
    f"AIza{BODY[:35]}": "[redacted]",
    f"sk_live_{BODY} npm_{BODY} pypi-{BODY} hf_{BODY}": "[redacted] [redacted] [redacted] [redacted]",
    f"jwt {JWT} end": "jwt [redacted] end",
    f"cat <<E > id_rsa\n{PEM}\nE": "cat <<E > id_rsa\n[redacted]\nE",
    f"key: {PEM[:70]}": "key: [redacted]",
    f"private_key: {PEM} x": "private_key: [redacted] x",
    'curl -H "Authorization: Bearer abc" https://x.y': 'curl -H "Authorization: Bearer [redacted]" https://x.y',
    "sshpass -p hunter2 ssh host": "sshpass -p [redacted] ssh host",
    "mysql -uroot -phunter -e 'select 1'": "mysql -uroot -p[redacted] -e 'select 1'",
    "mysqldump -P 3306 -p db": "mysqldump -P 3306 -p db",
    "my password is hunter2, and the token is wrong": "my password is [redacted] and the token is wrong",
    "curl -H 'authorization: Basic YWJj'": "curl -H 'authorization: Basic [redacted]'",
    '{\\"Authorization\\": \\"token abc\\"}': '{\\"Authorization\\": \\"token [redacted]"}',
    f"send bearer {BODY}!": "send bearer [redacted]!",
    "curl -b x -H 'Cookie: a=b; c=d' y": "curl -b x -H 'Cookie: [redacted]' y",
    "psql postgres://me:pa@ss@db:5432/x": "psql postgres://me:[redacted]@db:5432/x",
    "open http://localhost:5173/@vite/client": "open http://localhost:5173/@vite/client",
    "curl -u me:word https://x.y": "curl -u me:[redacted] https://x.y",
    "export DB_PASSWORD=hunter2 && rm -rf build": "export DB_PASSWORD=[redacted] && rm -rf build",
    'echo "password=hunter2" > f && make': 'echo "password=[redacted]" > f && make',
    "login --password hunter2 --user me": "login --password [redacted] --user me",
    "login --api-key='a b' now": "login --api-key=[redacted] now",
    "AWS_SECRET_ACCESS_KEY: a/b+c": "AWS_SECRET_ACCESS_KEY: [redacted]",
    '{"client_secret": "a \\" b", "n": 1}': '{"client_secret": [redacted], "n": 1}',
    "const apiKey: string = 'abc';": "const apiKey: string = [redacted];",
    "https://x.y/z?access_token=abc&n=1": "https://x.y/z?access_token=[redacted]&n=1",
    "<password>hunter2</password>": "<password>[redacted]</password>",
    "TOKEN=$(gh auth token) make": "TOKEN=$(gh auth token) make",
    "max_tokens=100 PWD=/home/me": "max_tokens=100 PWD=/home/me",
    "fix the token parser": "fix the token parser",
    "git commit -m 'Asia, secrets and keys'": "git commit -m 'Asia, secrets and keys'",
}


@pytest.mark.parametrize(("text", "expected"), VECTORS.items())
def test_redacted_texts(text: str, expected: str) -> None:
    assert (clean(text), clean(expected)) == (expected, expected)


def test_redacted_trees() -> None:
    tree = {
        "API_KEY": "x",
        "x-api-key": ["x"],
        "clientSecret": {"a": 1},
        "Authorization": 5,
        "token": None,
        "password": "",
        "secret": False,
        "max_tokens": 4096,
        "token=abc": "kept",
        "argv": ("login", "--password", "hunter2", "--token", "--force", "-v"),
        "nested": [{"deeper": {"passphrase": "x", "text": "token=abc"}}],
        1: 2.5,
    }
    assert redact(tree) == {
        "API_KEY": REDACTED,
        "x-api-key": REDACTED,
        "clientSecret": REDACTED,
        "Authorization": REDACTED,
        "token": None,
        "password": "",
        "secret": False,
        "max_tokens": 4096,
        "token=[redacted]": "kept",
        "argv": ["login", "--password", REDACTED, "--token", REDACTED, "-v"],
        "nested": [{"deeper": {"passphrase": REDACTED, "text": "token=[redacted]"}}],
        1: 2.5,
    }


ALPHABET = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
PLANTS = (
    "ghp_{}", "github_pat_{}", "glpat-{}", "sk-{}", "sk-ant-api03-{}", "xoxb-{}", "AIza{}", "ya29.{}",
    "rk_test_{}", "npm_{}", "pypi-{}", "hf_{}", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.{}",
    "-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----", "Authorization: Bearer {}",
    "authorization=Basic {}", "bearer {}", "Cookie: id={}", "https://me:{}@host/", "curl -u me:{}",
    "--password {}", "--token={}", "--client-secret '{}'", "PASSWORD={}", 'api_key: "{}"', "'secret' => '{}'",
    '{{\\"token\\": \\"{}\\"}}', 'access_key = "{}', "aws_secret_access_key={}", "<password>{}</password>",
)  # fmt: skip
PIECES = (
    "password", "token", "secret_", "api_key", "=", ":", " ", "\n", '"', "'", "\\", "--", "-u", "://", "a:",
    "@", "Authorization", "bearer ", "cookie:", REDACTED, "[redacted", "]", "sk-", "ghp_", BODY, "eyJ", ".",
    ">", "&", "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", "str = ",
)  # fmt: skip
TEXTS = st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=14).map("".join)
TREES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS | st.binary(max_size=5),
    lambda below: st.lists(below, max_size=4) | st.dictionaries(TEXTS, below, max_size=4),
    max_leaves=8,
)


@given(TREES)
def test_redacting_twice_is_redacting_once(tree: Any) -> None:
    once = redact(tree)
    assert (redact(once), json.loads(json.dumps(once))) == (once, once)


@given(st.sampled_from(PLANTS), st.text(ALPHABET, min_size=36, max_size=60), st.text(), st.text(), TREES)
def test_a_planted_secret_is_never_left(plant: str, body: str, before: str, after: str, tree: Any) -> None:
    assume(body not in repr((before, after, tree)))
    text = f"{before}\n{plant.format(body)}\n{after}"
    planted = [tree, text, {text: text, "x": [text]}, {"my_password": body}, {"Token": [body, {"x": body}]}]
    assert body not in json.dumps(redact(planted))


@pytest.mark.parametrize(
    "piece", [*PIECES, "password ", "password=\\", "a-token-", "eyJa.", "://a:b@", "-a", "_pass"]
)
def test_redacting_takes_no_more_than_linear_time(piece: str) -> None:
    # 200,000 characters in a pattern of squared time would take minutes.
    needles = "private key authorization bearer cookie: :// --user password eyJ sk- "
    clean(needles + piece * (200_000 // len(piece)))


def test_following_survives_a_rotation_and_ends_on_ctrl_c(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "hookport", "log", "--follow", "--json", "--since", "1h"],
        env={"PYTHONPATH": SOURCE, "PYTHONUNBUFFERED": "1", **env_of(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with watched(process):
        assert process.stdout
        assert process.stderr
        told = process.stderr.readline()
        assert told == f"note: the journal {tmp_path / journal.FILES[0]} is empty: no hook ran yet.\n"
        old = {"time": WHEN.replace("2026", "1999")}
        assert journal.write(old, env_of(tmp_path)) == ""
        for number in range(6):
            assert journal.write({"number": number}, env_of(tmp_path), most_bytes=100) == ""
        assert [json.loads(process.stdout.readline())["number"] for _ in range(6)] == list(range(6))
        process.send_signal(signal.SIGINT)
        assert process.communicate() == ("", "")
    assert process.returncode == 0
