"""What is hidden and what is left: corpora of secrets and of ordinary texts, and the time that it takes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookport.runtime import journal, redaction, secret_patterns
from hookport.runtime.redaction import REDACTED, clean, walk
from tests.secrets import filled, lines

DRAWS = 5
# At most one in fifty.
LEAST = 50


@pytest.mark.parametrize("template", lines("known"))
def test_a_known_shape_is_hidden(template: str) -> None:
    for seed in range(DRAWS):
        shape = filled(template, seed)
        assert shape.secrets
        cleaned = clean(shape.text)
        assert not shape.leaks(cleaned), cleaned
        assert clean(cleaned) == cleaned


@pytest.mark.parametrize("corpus", ["held_out", "formats"])
def test_no_more_than_one_in_fifty_unknown_shapes_leaks(corpus: str) -> None:
    shapes = [filled(template, seed) for template in lines(corpus) for seed in range(DRAWS)]
    leaking = [shape.text for shape in shapes if shape.leaks(clean(shape.text))]
    assert len(leaking) * LEAST <= len(shapes), leaking


@pytest.mark.parametrize("text", lines("ordinary"))
def test_an_ordinary_text_stays_as_it_is(text: str) -> None:
    assert clean(text) == text


def test_the_corpora_are_as_large_as_they_claim() -> None:
    assert len(lines("known")) >= 600
    assert len(lines("held_out")) >= 250
    assert len(lines("formats")) >= 60
    assert len(lines("ordinary")) >= 400
    assert not set(lines("known")) & {*lines("held_out"), *lines("formats")}


@pytest.mark.parametrize("template", lines("known")[::4])
def test_a_record_holds_no_secret_wherever_it_stands(template: str, tmp_path: Path) -> None:
    shape = filled(template, 1)
    said = {"verdict": "deny", "reason": f"no: {shape.text}", "context": shape.text}
    run = {"hook": "guard", "decision": said, "stderr": f"a\n{shape.text}\nb", "failure": shape.text}
    record = {
        "session": "5d4c3b2a-1f0e-4a7b-9c8d-7e6f5a4b3c2d",
        "input": {"command": shape.text, "content": [{"text": shape.text}]},
        "decision": said,
        "hooks": [run],
        "notes": [shape.text],
        "result": {"stdout": shape.text},
    }
    assert journal.write(record, {"HOOKPORT_STATE_DIR": str(tmp_path)}) == ""
    text = (tmp_path / journal.FILES[0]).read_text(encoding="utf-8")
    kept = json.loads(text)
    for texts in (kept["input"], kept["decision"], kept["hooks"], kept["notes"], kept["result"]):
        assert not shape.leaks("\n".join(_texts(texts)))
    assert (kept["session"], kept["decision"]["verdict"]) == (record["session"], "deny")


def _texts(tree: object) -> list[str]:
    if isinstance(tree, dict):
        return [text for value in tree.values() for text in _texts(value)]
    if isinstance(tree, list):
        return [text for value in tree for text in _texts(value)]
    return [str(tree)]


def test_names_that_say_where_a_secret_is_keep_their_values() -> None:
    tree = {
        "password_file": "/run/secrets/db",
        "tokenUrl": "https://x.example.com/token",
        "secretName": "db",
        "db_pwd": "x",
        "signing_key": "x",
    }
    assert walk(tree, clean) == {**tree, "db_pwd": REDACTED, "signing_key": REDACTED}


def test_a_variable_in_two_fields_keeps_its_name_only() -> None:
    tree = {"env": [{"name": "DB_PASSWORD", "value": "letmein"}, {"name": "LANG", "value": "C"}]}
    assert walk(tree, clean) == {
        "env": [{"name": "DB_PASSWORD", "value": REDACTED}, {"name": "LANG", "value": "C"}]
    }


PIECES = (
    "a1B2c3D4e5", "0x", "deadbeef", "=", "sk-", "ghp_", "pass:", "echo x | sudo -S ", "<(echo ", "<<< ",
    "-p ",
    "mysql ", "docker login ", "set token ", "key=", "?key=", "auth=('a','", "://a:b@", "7z -p", 'send "x',
    "Authorization: a=b, ", "-H 'x-key: ", "user create a ", "openssl ", "[redacted]:", "a-", "_", ".", "/",
    "echo ", "echo x; ", "login ", "token -", "secret set a ", "setuser a >", "pass <<E\n", "basic ",
    "jdbc:a:", "chpasswd:\n a:", "a:bcde@", "-n a:b1 ",
    "login('a', '", "name: password, ", "set('password', ", "-u a -", "--otp ", "mnemonic abc ", "aB3",
)  # fmt: skip


@pytest.mark.parametrize("piece", PIECES)
def test_it_takes_no_more_than_linear_time(piece: str) -> None:
    # 200,000 characters in squared time would take minutes.
    text = "mysql login password openssl expect -stdin key= " + piece * (200_000 // len(piece))
    assert clean(text).startswith("mysql login password")


def test_the_needles_are_those_of_the_patterns() -> None:
    needles = [needle for needles, *_ in secret_patterns.CONTEXTS for needle in needles]
    assert set(redaction.ANY_CASE) == {*redaction.WORDS, *needles}
    assert set(redaction.THIS_CASE) == {
        needle for needles, _ in secret_patterns.FORMATS for needle in needles
    }


@pytest.mark.parametrize("needle", redaction.ANY_CASE)
def test_every_needle_holds_a_root(needle: str) -> None:
    assert any(root in needle for root in redaction.ROOTS)


@pytest.mark.parametrize(("needle", "besides"), redaction.BESIDES.items())
@given(data=st.data())
def test_no_pattern_matches_without_what_it_needs_besides(
    needle: str, besides: tuple[str, ...], data: st.DataObject
) -> None:
    words = [needle, " ", "me", "x1y2z3w4a5b6c7d8e9", "Pa5sWord!", "://", ":", "-p ", "@", "/", "=", "'", '"']
    text = "".join(data.draw(st.lists(st.sampled_from(words), max_size=12)))
    for sign in besides:
        text = text.replace(sign, "")
    for needles, pattern, _ in secret_patterns.CONTEXTS:
        if needle in needles and not any(sign in text for sign in besides):
            assert not re.search(pattern, text, re.IGNORECASE | re.DOTALL)
