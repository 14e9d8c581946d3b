"""What a person is told of hooks that do not run, by a channel that the agent shows; real processes."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hookport.agents import get, list_agents
from hookport.model.runs import Answer
from tests import forks
from tests.oracle import SEATS, Outcome, args_of, payload_of
from tests.test_runtime_dispatch import COMMANDS, Place, denied

pytestmark = pytest.mark.skipif(os.name == "nt", reason="hooks here are shell scripts")

# The key of the message that the person at the agent sees beside a tool call, and nobody of the others.
# Measured in interactive sessions of Claude Code 2.1.325, Codex 0.166.0, Gemini CLI 0.61.0 and OpenCode
# 1.18.33, and in runs of Deep Agents Code and Letta Code; by the source of CodeBuddy Code, Kilo, oh-my-pi, pi
# and Qoder, by the plugin that is generated for Amp, and documented for Augment, Vibe and VS Code. Empty: it
# is all that is printed.
MESSAGES = {
    "claude-code": "systemMessage",
    "codex": "systemMessage",
    "gemini-cli": "systemMessage",
    "opencode": "system_message",
    "kilo": "system_message",
    "pi": "system_message",
    "augment": "systemMessage",
    "mistral-vibe": "system_message",
    "vs-code-copilot": "systemMessage",
    "deepagents-code": "systemMessage",
    "letta-code": "",
    "codebuddy": "systemMessage",
    "qoder": "systemMessage",
    "amp": "system_message",
    "omp": "system_message",
}
# Those that show a message and hide the reason of a denied call.
HIDE_REASONS = ("deepagents-code", "gemini-cli", "kilo", "opencode")
REMEDY = "Ask the user to run `hookport trust` in their own terminal; it is refused here."
UNAPPROVED = "1 hook of this project does not run, because {} not approved the current version: guard."


@pytest.fixture
def place(tmp_path: Path) -> Place:
    made = Place(tmp_path.resolve())
    made.is_approving = False
    made.hook("guard", "echo no >&2; exit 2")
    return made


def call(place: Place, seat: str, session: str = "") -> tuple[Outcome, str]:
    """What the agent does with a shell command, and the message that it was given."""
    it = SEATS[seat]
    payload = payload_of(it.agent, it.native, it.payload, "ls", place.root)
    if session:
        # Whatever the agent calls it.
        names = r'"(?:sess|conversation|trajectory|task|sessionI|conversationI)\w*"'
        payload = re.sub(rf'({names}: )"[^"]*"'.encode(), rf'\1"{session}"'.encode(), payload)
    done = subprocess.run(
        [*COMMANDS["bridge"], it.agent, it.native],
        input=payload,
        cwd=place.root,
        env=place.env,
        capture_output=True,
        check=False,
        timeout=60,
    )
    told = Answer(done.stdout.decode(), done.stderr.decode(), done.returncode)
    try:
        tree: Any = json.loads(told.stdout)
    except ValueError:
        tree = {}
    key = MESSAGES.get(it.agent)
    message = tree.get(key or "", "") if isinstance(tree, dict) else ""
    if key == "":
        message = told.stdout.strip()
    return it.outcome(told, args_of(it, payload)), message


@pytest.mark.parametrize("seat", SEATS)
def test_a_guard_that_nobody_approved_is_told_once(place: Place, seat: str) -> None:
    """By a message where one is seen, else by denying one call, which is a notice and no protection."""
    results = [call(place, seat) for _ in range(3)]
    blocked = [outcome.blocked for outcome, _ in results]
    messages = [bool(message) for _, message in results]
    if SEATS[seat].agent in MESSAGES:
        assert (blocked, messages) == ([False] * 3, [True, False, False])
        told = UNAPPROVED.format("you have")
        assert results[0][1] == f"{told} Review and approve with `hookport trust`."
    else:
        assert (blocked, messages) == ([True, False, False], [False] * 3)
        told = UNAPPROVED.format("the user has")
        notice = "This is a one-time notice: it does not deny the same call again."
        assert f"{told} {REMEDY} {notice}" in results[0][0].reason


@pytest.mark.parametrize("seat", SEATS)
def test_a_changed_guard_denies_and_shows_why(place: Place, seat: str) -> None:
    place.is_approving = True
    place.approve()
    place.hook("guard", "exit 0")
    outcome, message = call(place, seat)
    why = "hook 'guard' is not as the user approved it: its file run.sh changed since its approval."
    until = "It is denied until the user reviews and approves the change."
    assert outcome.blocked
    assert f"{why} {until} {REMEDY}" in outcome.reason
    assert message == (f"{why} {until} {REMEDY}" if SEATS[seat].agent in HIDE_REASONS else "")


def test_a_notice_is_given_in_each_session_for_each_hook(place: Place) -> None:
    first = [call(place, "qwen-code", session)[0].blocked for session in ("a", "a", "b", "b")]
    place.hook("other", "exit 0")
    second = [call(place, "qwen-code", session)[0].blocked for session in ("a", "a")]
    assert (first, second) == ([True, False, True, False], [True, False])


def test_deleted_approvals_count_as_none(place: Place) -> None:
    place.is_approving = True
    place.approve()
    assert call(place, "qwen-code")[0].reason == "no"
    for file in (place.home / "state/hookport").glob("trust.json"):
        file.unlink()
    assert [call(place, "qwen-code")[0].blocked for _ in range(2)] == [True, False]


def test_no_notice_where_the_user_wants_to_be_warned_only(place: Place) -> None:
    place.write("~/config/hookport/config.json", {"on_tamper": "warn"})
    assert not call(place, "qwen-code")[0].blocked


def test_a_project_cannot_switch_its_own_notice_off(place: Place) -> None:
    place.write(".hookport/config.json", {"on_tamper": "warn"})
    assert call(place, "qwen-code")[0].blocked


def test_a_hook_that_cannot_block_gives_no_notice(place: Place) -> None:
    place.hook("guard", "exit 0", "matcher: {tool: Shell}\nasync: true")
    assert not call(place, "qwen-code")[0].blocked


@pytest.mark.parametrize("seat", SEATS)
def test_a_broken_file_is_told_on_the_first_event_of_a_session(place: Place, seat: str) -> None:
    place.hook("guard", "exit 0")
    place.is_approving = True
    place.approve()
    broken = place.write(".agents/hooks/broken/HOOK.md", "---\nname: [\n---\n")
    results = [call(place, seat) for _ in range(3)]
    told = [message or outcome.reason for outcome, message in results]
    assert [str(broken) in text for text in told] == [True, False, False]
    assert [outcome.blocked for outcome, _ in results] == [SEATS[seat].agent not in MESSAGES, False, False]


def test_every_agent_says_what_it_shows_and_who_says_so() -> None:
    """No table without a source, and the messages of these tables are those that are listed here."""
    found = {
        name: {channel for channels, source in get(name).shows.values() for channel in channels}
        for name in list_agents()
        if all(source in get(name).sources for _, source in get(name).shows.values()) and get(name).shows
    }
    assert sorted(found) == sorted(list_agents())
    # Cursor shows a message before a compaction only.
    assert {name for name in found if "message" in found[name]} == {*MESSAGES, "cursor"}


@pytest.mark.parametrize("is_installed", [False, True], ids=["archive", "installed"])
def test_the_remedy_is_a_command_that_works_here(place: Place, is_installed: bool) -> None:
    """Where hookport is not installed, the project's archive approves."""
    env = {**place.env, "HOOKPORT_PROJECT": str(place.root)}
    for words in (("vendor",), ("trust", "--yes")):
        forks.run(words, place.root, env).check_returncode()
    tools = place.folder / "tools"
    tools.mkdir()
    if is_installed:
        (tools / "hookport").write_text("#!/bin/sh\n")
        (tools / "hookport").chmod(0o755)
    place.env["PATH"] = f"{tools}{os.pathsep}/usr/bin{os.pathsep}/bin"
    del place.env["PYTHONPATH"]
    place.command = [sys.executable, ".hookport/bridge.pyz", "dispatch"]
    place.is_approving = False
    place.hook("guard", "exit 0")
    command = "hookport trust" if is_installed else "python3 .hookport/bridge.pyz trust"
    why = "hook 'guard' is not as the user approved it: its file run.sh changed since its approval."
    until = "It is denied until the user reviews and approves the change."
    remedy = f"Ask the user to run `{command}` in their own terminal; it is refused here."
    assert place.shell() == denied(f"{why} {until} {remedy}")
