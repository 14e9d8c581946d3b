"""Hermes: hooks in the user's config.yaml, started without a shell; only a printed `block` denies."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from datetime import timedelta
from typing import TYPE_CHECKING

from hookport.shapes.by_event import BY_EVENT
from hookport.shapes.dialect import (
    HOOK_TRUST,
    REPOSITORY,
    SECOND,
    Dialect,
    EventSpec,
    Gate,
    HandlerSpec,
    HookTrust,
    Location,
    Matching,
    McpNames,
    OnceRule,
    Quirk,
    Timeout,
    Tree,
    WayAround,
    explain_missing,
    list_ways,
    name_events,
    name_tools,
)
from hookport.wire.table import Wire, list_by_event

if TYPE_CHECKING:
    from hookport.model.hooks import Manifest

SOURCES = {
    "lab": "measured on 0.19.0, November 2026: headless runs on Linux against a scripted model",
    "src": "the package hermes-agent 0.19.0: agent/shell_hooks.py, hermes_cli/plugins.py, tools",
    "doc": "NousResearch/hermes-agent, pull requests 80782 and 100975, issue 102405, 2026",
}

# A Python regular expression for the whole name. `*` is none, and is then compared as text (HM4).
MATCHING = Matching("anchored", everything=("", ".*"), never=("*",))

EVENTS = (
    EventSpec(
        "pre_tool_call", "before_tool_execute", "prevent", "lab", "tool", exits="none", hears="nothing"
    ),
    EventSpec("post_tool_call", "after_tool_execute", "observe", "lab", "tool", hears="nothing"),
    EventSpec("pre_llm_call", "before_prompt", "observe", "lab", hears="json"),
    EventSpec("on_session_start", "session_start", "observe", "lab", hears="nothing"),
    EventSpec(
        "on_session_finalize",
        "session_end",
        "observe",
        "lab",
        hears="nothing",
        unfired="with `hermes -z` (HM8)",
    ),
    EventSpec(
        "pre_verify",
        "agent_stop",
        "retry",
        "lab",
        exits="none",
        hears="nothing",
        partly="a turn that edited files; any other turn ends without asking (HM10)",
        unfired="in a turn that edits no file (HM10)",
    ),
    EventSpec("pre_api_request", "before_model", "observe", "lab", hears="nothing"),
    EventSpec("post_api_request", "after_model", "observe", "lab", hears="nothing"),
    EventSpec("api_request_error", "error_occurred", "observe", "lab", hears="nothing"),
    EventSpec("subagent_start", "subagent_start", "observe", "lab", hears="nothing"),
    EventSpec("subagent_stop", "subagent_stop", "observe", "lab", hears="nothing"),
    EventSpec(
        "pre_approval_request", "permission_request", "observe", "lab", tools=("shell",), hears="nothing"
    ),
    *name_events("lab", "post_llm_call", "on_session_end", "on_session_reset", "transform_llm_output"),
    *name_events("lab", "transform_terminal_output", "transform_tool_result", "post_approval_response"),
    *name_events("src", "pre_gateway_dispatch", "kanban_task_claimed"),
    *name_events("src", "kanban_task_completed", "kanban_task_blocked"),
)

LACKS = explain_missing(
    EVENTS,
    "no such event among the 23 that the configuration may name",
    registry=30,
    tool_use_failure="post_tool_call fires for a call that failed too, with `extra.status` error",
    permission_denied="post_approval_response fires for every answer, also when a permission is given",
    interrupted="on_session_end fires for every turn, with `extra.interrupted`",
)

# `process` writes to a shell that `terminal` left in the background, and `execute_code` runs Python: a guard
# on the shell is asked about both (HM19).
TOOLS = (
    *name_tools(
        "lab",
        shell=("terminal", "execute_code", "process"),
        file_read="read_file",
        file_write="write_file",
        file_edit="patch",
        search="search_files",
        agent="delegate_task",
        todo="todo",
        ask_user="clarify",
    ),
    *name_tools(
        "src",
        file_read="vision_analyze",
        skill=("skill_view", "skill_manage"),
        web_search="web_search",
        web_fetch=("web_extract", "browser_navigate"),
    ),
)
# They run no command, change no file of the project and fetch nothing.
HARMLESS = ("skills_list", "session_search", "memory")
OTHERS = ("cronjob", "computer_use", "text_to_speech", "image_generate", "browser_*", "kanban_*")

# The wire of Hermes: six keys for every event, all else in `extra`. What is not marked otherwise was captured
# or measured on 0.19.0.

KEYS_OF: dict[str, dict[str, Tree]] = {
    "pre_llm_call": {"prompt": "extra.user_message"},
    "pre_approval_request": {"tool": None, "input": {"command": "extra.command"}},
    "post_llm_call": {"prompt": "extra.user_message", "final_message": "extra.assistant_response"},
    "pre_verify": {"final_message": "extra.final_response"},
    "on_session_finalize": {"source": "extra.reason"},
    "api_request_error": {"source": "extra.reason", "error": None, "error_message": "extra.error.message"},
    "pre_api_request": {"prompt": "extra.user_message", "messages": "extra.message_count"},
    "post_api_request": {"messages": "extra.message_count"},
    "subagent_start": {"subagent": "extra.child_role", "agent_id": "extra.child_subagent_id"},
    "subagent_stop": {
        "subagent": "extra.child_role",
        "final_message": "extra.child_summary",
        "duration_ms": None,
    },
}
WORDS: dict[str, dict[str, Tree]] = {
    "session_end": {"clear": "session_boundary", "other": "shutdown", "*": "shutdown"},
    "tool_status": {"success": "ok", "failure": ("error", "blocked")},
}

INPUTS: dict[str, dict[str, Tree]] = {
    "file_edit": {"old": "old_string", "new": "new_string"},
    "patch": {"old": "old_string", "new": "new_string"},
    "execute_code": {"command": "code"},
    "process": {"command": "data"},
    "agent": {"prompt": "goal"},
    "search": {"include": "file_glob"},
    "ask_user": {"question": "question"},
}
VARIANTS: dict[str, tuple[str, dict[str, str]]] = {
    # Only these two send text to the process.
    "process": ("action", {"write": "shell", "submit": "shell", "*": ""}),
    "patch": ("mode", {"replace": "file_edit", "patch": "file_edit", "": "file_edit"}),
}

# The exit code has no effect (HM1); an allow is the same as silence, and lifts no question.
DENY: dict[str, Tree] = {"json": {"decision": "block", "reason": "$reason"}}
ANSWERS: dict[str, Tree] = {
    # No ask, rewrite or context: each of these runs the tool as it was called.
    "pre_tool_call": {"deny": DENY},
    "pre_llm_call": {"context": {"json": {"context": "$context"}}},
    "pre_verify": {"deny": DENY},
    "*": {},
}
# `deny`, `ask`, exit code 2 and Claude Code's form do nothing there (HM1, HM2); they are read for the deny
# that was meant.
READ: dict[str, Tree] = {
    "verdicts": [
        ("action", {"block": "deny", "deny": "deny", "ask": "ask", "*": None}),
        ("decision", {"block": "deny", "deny": "deny", "ask": "ask", "allow": "none", "approve": "none"}),
        ("hookSpecificOutput.permissionDecision", {"deny": "deny", "ask": "ask", "allow": "none"}),
    ],
    "reason": ["reason", "message", "hookSpecificOutput.permissionDecisionReason"],
    "exits": {"2": "deny"},
    "json": "any",
}
READ_STOP: dict[str, Tree] = {
    **READ,
    "verdicts": [("action", {"continue": "deny", "block": "deny", "*": None}), *READ["verdicts"][1:]],
}
HEARD: dict[str, Tree] = {"context": ["context"], "exits": {}, "json": "any"}
# What Hermes itself obeys: one object that is alone on stdout, with any exit code.
OBEY: dict[str, Tree] = {
    "verdicts": [("action", {"block": "deny", "*": None}), ("decision", {"block": "deny"})],
    "reason": ["reason", "message"],
    "exits": {},
    "json": "any",
}
OBEY_STOP: dict[str, Tree] = {
    **OBEY,
    "verdicts": [
        ("action", {"continue": "deny", "block": "deny", "*": None}),
        ("decision", {"block": "deny"}),
    ],
    "wants": {"deny": ["message", "reason"]},
}

WIRE = Wire(
    obeys={
        "pre_tool_call": OBEY,
        "pre_verify": OBEY_STOP,
        "pre_llm_call": HEARD,
        "*": {"exits": {}, "json": "any"},
    },
    keys={
        "event": "hook_event_name",
        "session": "session_id",
        "cwd": "cwd",
        "tool": "tool_name",
        "input": "tool_input",
        "call_id": "extra.tool_call_id",
        "result": "extra.result:json",
        "error": "extra.error_message",
        "model": "extra.model",
        "turn": "extra.turn_id",
        "duration_ms": "extra.duration_ms",
        "tool_status": "extra.status",
    },
    words=WORDS,
    fixed={
        "tool_name": None,
        "tool_input": None,
        "session_id": "$session",
        "cwd": "$cwd",
        "extra.telemetry_schema_version": "hermes.observer.v1",
    },
    by_event=list_by_event(keys=KEYS_OF),
    inputs=INPUTS,
    patches={"patch": "patch"},
    variants=VARIANTS,
    texts=("output", "content", "error"),
    results={"shell": {"output": "$text", "exit_code": 0, "error": None}, "file_read": {"content": "$text"}},
    env={"HERMES_SESSION_ID": "$session"},
    marks=("hook_event_name", "extra", "extra.telemetry_schema_version"),
    answers=ANSWERS,
    reads={"pre_tool_call": READ, "pre_verify": READ_STOP, "pre_llm_call": HEARD, "*": {"exits": {}}},
    others=HARMLESS,
    lifts=False,
    # Three times in a turn (HM10).
    traits=("caps stops",),
)

# Hermes splits a command into words and starts it (HM7). One that means the same to a shell and without one
# is written as it is; any other is given to a shell, and read from there.
SHELL = ("sh", "-c")
_QUOTED = r"'[^']*+'|\"[^\"$`\\!]*+\""
# Possessive, so that a long command that is not plain is known in one pass.
_PLAIN = re.compile(rf"(?:~/)?(?:[\w@%+,./:-]|{_QUOTED})++(?: (?:[\w@%+,./:=-]|{_QUOTED})++)*+")


def is_plain(command: str) -> bool:
    """Whether a command means the same to a shell and without one."""
    return bool(_PLAIN.fullmatch(command)) and not command.startswith(" ".join(SHELL))


def read_command(command: str) -> str:
    """The command as a shell reads it."""
    if is_plain(command):
        return command
    try:
        words = shlex.split(command)
    except ValueError:  # Hermes does not start it either
        return command
    if tuple(words[:2]) == SHELL and len(words) == 3:
        return words[2]
    home = "~/" if command.startswith("~/") else ""
    return home + shlex.join([words[0][len(home) :], *words[1:]]) if words else command


def write_command(command: str) -> str:
    """The command as Hermes reads it."""
    return command if is_plain(command) else shlex.join((*SHELL, command))


def prepare(_native: str, entry: Mapping[str, Tree]) -> tuple[Mapping[str, Tree], str]:
    """The entry with its command as a shell reads it."""
    command = entry.get("command")
    return ({**entry, "command": read_command(command)} if isinstance(command, str) else entry), ""


def encode(dialect: Dialect, manifest: Manifest) -> dict[str, Tree]:
    """The file of all hooks, with commands as Hermes reads them."""
    files = BY_EVENT.encode(dialect, manifest)
    for tree in files.values():
        for event, entries in tree["hooks"].items():
            for entry in entries if event not in dialect.shape.not_events else ():
                entry["command"] = write_command(entry["command"])
    return files


DIALECT = Dialect(
    id="hermes",
    title="Hermes",
    kind="agent",
    facts="0.19.0",
    sources=SOURCES,
    shows={
        # Of a denied call at most the beginning of the reason, and nothing for the shell.
        "*": ((), "src"),
    },
    locations=(
        Location("user", "~/.hermes/config.yaml", "lab"),
        Location("system", "/etc/hermes/config.yaml", "lab"),
    ),
    events=EVENTS,
    lacks=LACKS,
    awaits_children="lab",
    tools=TOOLS,
    wordless=dict.fromkeys((*HARMLESS, *OTHERS), "src"),
    mcp=McpNames("mcp__", "__", "src", allowed="A-Za-z0-9_"),
    matching=MATCHING,
    handlers={
        "command": HandlerSpec(
            "",
            {"command": "command", "timeout": "timeout"},
            Timeout(
                SECOND,
                default=timedelta(seconds=60),
                whole=True,
                minimum=SECOND,
                maximum=timedelta(seconds=300),
            ),
            required=("command",),
        ),
    },
    shape=BY_EVENT._replace(encode=encode, forms=("flat",), not_events=("output_spill",), prepare=prepare),
    wire=WIRE,
    obeys=("decision",),
    deny_answer={"decision": "block", "reason": "{reason}"},
    # A command starts in the folder that Hermes was started in.
    commands_start="moving",
    project_dir=(REPOSITORY, "$PWD", "${PWD}"),
    runs_once=OnceRule("src"),
    markers={"HERMES_SESSION_ID": "lab"},
    programs=("hermes",),
    home=("~/.hermes", "HERMES_HOME"),
    gates=(
        Gate(
            (),
            (),
            (),
            "HERMES_SAFE_MODE starts Hermes without any hook",
            "Unset HERMES_SAFE_MODE.",
            "lab",
            ("user", "system"),
            variable="HERMES_SAFE_MODE",
            stops="agent",
        ),
    ),
    notes=(
        "Hermes reads hooks from the user's home only: they run in every project, in its directory.",
        "Hermes asks once for each command, at a terminal; without one it skips what is not approved.",
        "`hookport trust --in-agents` approves, `hermes hooks list` shows which are approved.",
        "pre_verify fires only in turns that edited files; post_llm_call fires at the end of every turn.",
    ),
    quirks=(
        Quirk(
            "HM1",
            "the exit code has no effect: exit 2 runs the tool. Version 0.20, which PyPI does "
            "not have, is said to deny on it (pull request 80782)",
            "lab",
        ),
        Quirk(
            "HM2",
            "only `decision: block` and `action: block` deny; `deny`, `ask`, `continue: false` and Claude "
            "Code's form run the tool",
            "lab",
        ),
        Quirk(
            "HM3",
            "without a terminal `hermes chat` skips a hook that is not approved and runs without "
            "it, with a line in ~/.hermes/logs/agent.log only; `hermes -z` approves every hook by itself",
            "lab",
            {
                HOOK_TRUST: HookTrust(
                    "~/.hermes/shell-hooks-allowlist.json",
                    ("approvals",),
                    "Approve it with `hookport trust --in-agents`, or start `hermes` in a terminal "
                    "and agree.",
                    "src",
                    row=("event", "command"),
                    lifted=("~/.hermes/config.yaml", ("hooks_auto_accept",)),
                )
            },
        ),
        Quirk("HM4", "the matcher `*` never matches; a matcher must match the whole name", "lab"),
        Quirk("HM5", "text beside the JSON, a byte order mark or a second document loses the block", "lab"),
        Quirk("HM6", "a child that keeps stdout open loses the block, after the whole timeout", "lab"),
        Quirk("HM7", "a command is started without a shell: `|` and `$HOME` arrive as words", "lab"),
        Quirk(
            "HM8",
            "on_session_end fires at the end of every turn; on_session_finalize, at the end of a "
            "session, does not fire with `-z`",
            "lab",
        ),
        Quirk(
            "HM9",
            "`cwd` stays the start folder when the terminal tool has moved on, and `workdir` is in the input "
            "only, so that a relative path may be another file",
            "lab",
        ),
        Quirk(
            "HM10",
            "pre_verify fires only where the turn edited files, after Hermes's own reminders, and keeps the "
            "agent going three times at most",
            "lab",
        ),
        Quirk("HM11", "`-z` approves dangerous commands by itself, and no approval event fires", "lab"),
        Quirk("HM12", "pre_llm_call adds context and cannot refuse a prompt", "lab"),
        Quirk("HM13", "a hook's environment holds the agent's keys", "lab"),
        Quirk(
            "HM14",
            "unknown events and entries in Claude Code's form are dropped with a line in the log",
            "lab",
        ),
        Quirk("HM15", "no answer rewrites a call, and no failure denies", "lab"),
        Quirk("HM16", "at a timeout only the hook itself is killed", "src"),
        Quirk(
            "HM17",
            "an event in /etc/hermes/config.yaml replaces the user's list for that event",
            "lab",
        ),
        Quirk("HM18", "`${NAME}` in the file is filled in from the environment when Hermes starts", "src"),
        Quirk(
            "HM22",
            "Python plugins and middleware run before shell hooks, in the same process, and may "
            "change a call; hookport does not read them",
            "src",
        ),
    ),
    ways_around=list_ways(
        WayAround(
            "sub-agents",
            "none",
            "HM21",
            "hooks run inside sub-agents of `delegate_task` too, with a session of their own",
            "lab",
        ),
        WayAround(
            "protocol",
            "open",
            "HM20",
            "the program `hermes-acp`, which editors may start, registers no hook; `hermes acp` does",
            "src",
            place="when an editor starts `hermes-acp`",
            events=(),
        ),
        WayAround(
            "code",
            "none",
            "HM23",
            "tools that the code of `execute_code` calls fire their hooks, and guards on the shell are asked "
            "about the code itself",
            "lab",
        ),
        WayAround(
            "shell",
            "closed",
            "HM19",
            "`process` sends text to a program that `terminal` left in the background, and "
            "`execute_code` runs Python; guards on the shell are asked about both",
            "src",
            native="process",
            tools=("shell",),
        ),
        kinds=4,
    ),
)
