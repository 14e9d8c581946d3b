"""A way out for a person: hooks rest for a while, and are back by themselves; real processes."""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path

import pytest

from tests import forks
from tests.test_runtime_dispatch import NOTHING, Place

pytestmark = pytest.mark.skipif(os.name == "nt", reason="hooks here are shell scripts")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    made = Place(tmp_path.resolve())
    made.hook("guard", "echo no >&2; exit 2")
    made.hook("other", "echo nor this >&2; exit 2", "matcher: {tool: Shell}\npriority: 1")
    made.approve()
    made.is_approving = False
    return made


def run(place: Place, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
    return forks.run(words, place.root, {**place.env, **env})


def pause_file(place: Place) -> Path:
    (file,) = (place.home / "state/hookport/pauses").iterdir()
    return file


def reason(place: Place) -> str:
    _, told, _ = place.shell()
    inner = (told or {}).get("hookSpecificOutput", {})
    return str(inner.get("permissionDecisionReason", ""))


def test_a_paused_project_denies_nothing_and_tells_it_once(place: Place) -> None:
    assert "no" in reason(place)
    assert run(place, "pause", "--yes").returncode == 0
    _, told, _ = place.shell()
    assert sorted(told) == ["systemMessage"]
    assert told["systemMessage"].startswith("paused by you: ")
    assert place.shell() == NOTHING
    # Whatever is wrong with a guard, its user has a way out; who pauses is on record.
    place.hook("guard", "exit 0")
    assert place.shell() == NOTHING
    notes = [note for line in place.journal() for note in line["notes"]]
    assert "paused: * for 1800 s (unattended)" in notes
    assert run(place, "pause", "--end").stdout == "no longer paused: every hook\n"
    assert "is not as the user approved it" in reason(place)


def test_a_pause_is_over_by_itself(place: Place) -> None:
    run(place, "pause", "--yes", "--for", "10m")
    file, now = pause_file(place), time.time()
    expected = {9 * 60: False, 11 * 60: True, -3600: True}
    seen = {}
    for ago in expected:
        os.utime(file, (now - ago, now - ago))
        seen[ago] = "no" in reason(place)
    assert seen == expected


def test_one_hook_rests_and_the_others_do_not(place: Place) -> None:
    assert run(place, "pause", "guard", "--yes").returncode == 0
    assert reason(place) == "nor this"
    shown = json.loads(run(place, "status", "--json").stdout)["paused"]
    assert list(shown) == ["guard"]
    assert "paused: guard until" in run(place, "status").stdout
    assert "HP842" in run(place, "doctor").stdout + run(place, "doctor").stderr
    event = json.dumps(
        {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}}
    )
    place.write("event.json", event)
    assert (
        "guard: paused by its user until"
        in run(place, "why", "--payload", "event.json", "--agent", "claude-code").stdout
    )


def test_self_protection_stays_and_agents_may_not_pause(place: Place) -> None:
    done = run(place, "pause", "--yes", CLAUDECODE="1")
    assert (done.returncode, "agents may not pause hooks" in done.stderr) == (2, True)
    for command in ("hookport pause --yes", "hookport pause guard --for 2h"):
        assert "hookport" in place.shell(command=command)[1]["hookSpecificOutput"]["permissionDecisionReason"]
    run(place, "pause", "--yes")
    _, told, _ = place.shell(command="rm -r .agents/hooks")
    assert told["hookSpecificOutput"]["permissionDecision"] == "deny"


@pytest.mark.parametrize("words", [["nobody"], ["--for", "2d"], ["--for", "25h"], ["--for", "0m"]])
def test_what_cannot_be_paused(place: Place, words: list[str]) -> None:
    assert run(place, "pause", "--yes", *words).returncode == 2
    assert "no" in reason(place)


def test_a_pause_is_of_one_project(place: Place) -> None:
    run(place, "pause", "--yes")
    file = pause_file(place)
    kept = json.loads(file.read_text())
    file.write_text(json.dumps({**kept, "root": str(place.root / "elsewhere")}))
    assert "no" in reason(place)
