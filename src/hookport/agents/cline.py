"""Cline: one script per event, named after it; hookport reads those of others and generates its own."""

from __future__ import annotations

from datetime import timedelta

from hookport.agents._base import (
    SECOND,
    Dialect,
    EventSpec,
    Field,
    HandlerSpec,
    Location,
    Matching,
    McpNames,
    Quirk,
    Timeout,
    in_variables,
    named,
)
from hookport.agents._cline_wire import WIRE
from hookport.agents._matchers import normal
from hookport.agents._script import Limits, script
from hookport.findings import Finding, MatcherDropped, ServerWidened
from hookport.model.hooks import ANY_SERVER, Hook, Term

SOURCES = {
    "src": "cline/cline at 2026-08-22: sdk/packages/core/src/hooks (CLI), apps/vscode/src (VS Code 4.1.13)",
    "lab": "measured on the CLI 3.0.65, November 2026",
    "old": "tool names of the VS Code extension 3.x, which older installations still report",
    "own": "what the generated script does",
}

# Both runtimes let the tool run when they stop waiting (CL5), so the script answers before they do: the CLI
# waits 120 s on tool events and does not wait on others (lab, src), VS Code waits 30 s on all (src).
LIMITS = Limits(tools=115, others=0, strict=27)
LONGEST = timedelta(seconds=LIMITS.tools)

# The CLI is what was measured; it waits for the two tool events alone. VS Code also obeys `cancel` on
# UserPromptSubmit and TaskStart (src).
EVENTS = (
    EventSpec(
        "PreToolUse", "before_tool_execute", "prevent", "lab", "tool", rewrites=True, max_timeout=LONGEST
    ),
    EventSpec("PostToolUse", "after_tool_execute", "observe", "lab", "tool", max_timeout=LONGEST),
    EventSpec(
        "UserPromptSubmit",
        "before_prompt",
        "prevent",
        "src",
        silent=True,
        partly="VS Code obeys it, and the CLI does not wait for it (CL3)",
        unfired="in the CLI's runs of one prompt (CL3)",
    ),
    EventSpec("TaskStart", "session_start", "observe", "lab", silent=True),
    EventSpec("TaskResume", "session_start", "observe", "src", secondary=True),
    EventSpec("TaskComplete", "agent_stop", "observe", "lab"),
    EventSpec("TaskCancel", "interrupted", "observe", "src"),
    EventSpec("TaskError", "error_occurred", "observe", "lab"),
    EventSpec("SessionShutdown", "session_end", "observe", "lab"),
)

_NONE = "no file name in the source stands for it"
LACKS = {
    "before_compact": "PreCompact is a known name that neither runtime ever runs",
    "notification": "Notification is a known name that neither runtime ever runs",
    "tool_use_failure": "PostToolUse runs after failures too",
    "subagent_start": _NONE,
    "subagent_stop": _NONE,
    "permission_request": _NONE,
    "permission_denied": _NONE,
    "before_model": _NONE,
    "after_model": _NONE,
    "before_tool_selection": _NONE,
    "config_change": _NONE,
    "file_created": _NONE,
    "file_saved": _NONE,
    "file_deleted": _NONE,
    "file_changed": _NONE,
    "before_task": _NONE,
    "after_task": "TaskComplete is the end of a turn",
    "after_compact": _NONE,
    "after_tool_batch": _NONE,
    "before_command_expansion": _NONE,
    "instructions_loaded": _NONE,
    "message_display": _NONE,
}


def adjust(hooks: list[Hook]) -> tuple[list[Hook], list[Finding]]:
    """Matchers that a shell script can test without guessing."""
    given: list[Hook] = []
    findings: list[Finding] = []
    for number, hook in enumerate(hooks):
        patterns = [term.value for term in hook.matcher if term.kind == "pattern"]
        servers = [term for term in hook.matcher if term.kind == "mcp" and term != Term("mcp", ANY_SERVER)]
        matcher = hook.matcher
        if patterns:
            findings.append(MatcherDropped.at("", number, target=DIALECT.id, matcher="|".join(patterns)))
            matcher = ()
        elif servers:
            findings += [
                ServerWidened.at("", number, target=DIALECT.id, server=term.value) for term in servers
            ]
            others = [term for term in matcher if term not in servers]
            matcher = normal([*others, Term("mcp", ANY_SERVER)])
        given.append(hook._replace(matcher=matcher))
    return given, findings


DIALECT = Dialect(
    id="cline",
    title="Cline",
    kind="agent",
    facts="CLI 3.0.65, VS Code extension 4.1.13",
    sources=SOURCES,
    shows={
        # A denied call ends the turn without a word.
        "*": ((), "lab"),
    },
    locations=(
        # The extension reads these two, and of files without an ending those that are executable (src).
        Location("project", ".clinerules/hooks/*", "lab", executable=True),
        Location("user", "~/Documents/Cline/Hooks/*", "lab", executable=True),
        Location("project", ".cline/hooks/*", "lab"),
        Location("user", "~/.cline/hooks/*", "lab"),
    ),
    events=EVENTS,
    lacks=LACKS,
    tools=(
        *named(
            "src",
            shell="run_commands",
            file_read="read_files",
            file_write=("editor", "apply_patch"),
            file_edit=("editor", "apply_patch"),
            search="search_codebase",
            web_fetch="fetch_web_content",
            agent=("spawn_agent", "team_*"),
            skill="skills",
            ask_user="ask_question",
        ),
        *named(
            "old",
            shell="execute_command",
            file_read="read_file",
            file_write=("write_to_file", "replace_in_file"),
            file_edit=("replace_in_file", "write_to_file"),
            search="search_files",
        ),
    ),
    mcp=McpNames("", "__", "lab"),
    matching=Matching("terms"),
    handlers={
        "command": HandlerSpec(
            "",
            {
                "name": "name",
                "description": "description",
                "command": "command",
                "timeout": "timeout",
                "blocking": "blocking",
                "on_failure": Field("on_failure", {"block": "block"}),
                "timeout_action": Field("timeout_action", {"warn": "warn", "block": "block"}),
            },
            Timeout(
                SECOND,
                default=timedelta(seconds=30),
                whole=True,
                minimum=SECOND,
                shorter=("VS Code", timedelta(seconds=LIMITS.strict)),
            ),
            required=("command",),
        ),
    },
    shape=script(LIMITS),
    # Whatever a file there is called, it is a script or nothing.
    file_kinds=dict.fromkeys(("json", "jsonc", "toml", "yaml", "frontmatter"), "text"),
    wire=WIRE,
    obeys=("cancel",),
    deny_answer={"cancel": True, "errorMessage": "{reason}"},
    project_dir=in_variables("CLINE_PROJECT_DIR"),
    at_repository=True,
    programs=("cline",),
    notes=(
        "Cline cannot refuse one call: a hook that blocks stops the whole run.",
        "Make the scripts executable (`chmod +x .clinerules/hooks/*`), or the VS Code extension skips them.",
        "On Windows the VS Code extension runs only `.ps1` files, which hookport does not write: none runs.",
        "All hooks of one event share Cline's time: 27 s in VS Code, 115 s on tool events in the CLI.",
    ),
    adjust=adjust,
    quirks=(
        Quirk(
            "CL1",
            "`cancel` aborts the whole run, and its reason reaches neither the model nor the user",
            "lab",
        ),
        Quirk("CL2", "the exit code is ignored, exit 2 lets the tool run; only JSON on stdout counts", "lab"),
        Quirk(
            "CL3",
            "the CLI does not wait for UserPromptSubmit, and never fired it in runs of one prompt",
            "lab",
        ),
        Quirk(
            "CL4", "VS Code ignores overrideInput; the generated script stops the run there instead", "src"
        ),
        Quirk(
            "CL5",
            "a hook past the limit (120 s in the CLI, 30 s in VS Code) is killed and the tool runs",
            "lab",
        ),
        Quirk("CL6", "TaskStart and TaskComplete fire once a turn, not once a session", "src"),
        Quirk("CL7", "the CLI runs no hooks under `--yolo`", "src"),
        Quirk("CL8", "the CLI also runs `PreToolUse.ps1` beside `PreToolUse` where there is `pwsh`", "src"),
        Quirk(
            "CL9",
            "one file per event and folder: a script of the user's own has the same name as ours",
            "src",
        ),
    ),
)
