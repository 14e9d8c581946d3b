"""Kilo: the plugin API of OpenCode, whose fork it is, so a generated plugin runs the hooks."""

from __future__ import annotations

from hookport.shapes import opencode_plugin as plugin
from hookport.shapes.dialect import (
    Dialect,
    Gate,
    Location,
    Matching,
    McpNames,
    Quirk,
    WayAround,
    explain_missing,
    list_ways,
    name_events,
    name_tools,
    spell_root,
)
from hookport.shapes.module import HANDLERS
from hookport.shapes.transcripts import keep_in_database

SOURCES = {
    "lab": "measured on 7.7.7, November 2026: `kilo run`, `kilo serve` and `kilo acp`, with a scripted model",
    "src": "names and code in the program of 7.7.7, and the source of OpenCode 1.18.18 that it was made from",
    "own": "what the generated plugin does",
}

EVENTS = plugin.list_events(
    (
        *("tool.execute.before", "tool.execute.after", "chat.message", "chat.params", "chat.headers"),
        *("experimental.chat.messages.transform", "experimental.chat.system.transform"),
        *("experimental.text.complete", "shell.env", "tool.definition", "event.file.edited"),
        *("event.session.created", "event.session.created (child)", "event.session.idle"),
        *("event.session.deleted", "event.session.updated", "event.session.status", "event.session.diff"),
        *("event.permission.asked", "event.permission.replied", "event.todo.updated"),
        *("event.message.updated", "event.message.part.updated", "event.message.part.delta"),
        *("event.message.part.removed", "event.file.watcher.updated"),
    ),
    *name_events(
        "lab",
        *("event.session.drained", "event.plugin.added", "event.catalog.updated"),
        *("event.reference.updated", "event.integration.updated"),
    ),
    partly="`kilo serve`",
)

LOCATIONS = (
    Location("project", ".kilo/plugin/hookport.ts", "lab"),
    Location("project", ".kilo/plugins/hookport.ts", "lab"),
    Location("project", ".kilocode/plugin/hookport.ts", "lab"),
    Location("project", ".kilocode/plugins/hookport.ts", "lab"),
    Location("user", "~/.config/kilo/plugin/hookport.ts", "lab"),
    Location("user", "~/.config/kilo/plugins/hookport.ts", "lab"),
    Location("user", "~/.kilo/plugin/hookport.ts", "lab"),
    Location("user", "~/.kilo/plugins/hookport.ts", "lab"),
)

# The tools offered by `kilo run` and `kilo serve` (lab), and those of the editor and of settings (src).
TOOLS = (
    *name_tools(
        "lab",
        # The second starts commands that go on running, and is a tool of its own (KI8).
        shell=("bash", "background_process"),
        file_read="read",
        file_write="write",
        file_edit="edit",
        search="grep",
        find="glob",
        web_fetch="webfetch",
        agent="task",
        todo="todowrite",
        skill="skill",
    ),
    *name_tools(
        "src",
        # It runs a cell of a notebook by its number; the code is not in the call (KI15).
        shell="notebook_execute",
        file_read="notebook_read",
        file_write="apply_patch",
        file_edit=("apply_patch", "notebook_edit"),
        search="semantic_search",
        web_search="websearch",
        agent="agent_manager",
        ask_user="question",
    ),
)
INPUTS = {
    "notebook_read": {"path": "path"},
    "notebook_edit": {"path": "path", "new": "source"},
    "notebook_execute": {"path": "path"},
}
# They run no command, change no file and fetch nothing.
HARMLESS = (
    *("lsp", "plan_exit", "open_plan", "suggest", "invalid", "notify_user", "goal_report", "chart"),
    *("board_post", "board_read", "schedule_wakeup", "cancel_wakeup", "repo_overview"),
    *("kilo_local_recall", "kilo_memory_recall", "agent_manager_models"),
)
# A guard that is not for certain tools only is asked about these too.
OTHERS = ("repo_clone", "browser_open", "generate_image", "send_file", "kilo_memory_save")

DIALECT = Dialect(
    id="kilo",
    title="Kilo",
    kind="agent",
    facts="7.7.7",
    sources=SOURCES,
    # The message is a toast of the plugin; its terminal program was not run.
    shows={
        "event.session.idle": (("message", "reason"), "src"),
        "*": (("message",), "src"),
    },
    # Beside it Kilo sets OPENCODE=1 (lab).
    markers={"KILO": "lab"},
    locations=LOCATIONS,
    other_places={"module": plugin.list_places(LOCATIONS, "lab")},
    events=EVENTS,
    lacks=explain_missing(EVENTS, "no such hook or bus event in the program", registry=30, **plugin.LACKS),
    tools=TOOLS,
    wordless=dict.fromkeys((*HARMLESS, *OTHERS), "src"),
    mcp=McpNames("", "_", "lab"),
    matching=Matching("terms"),
    handlers=HANDLERS,
    shape=plugin.SHAPE,
    # The callbacks are OpenCode's, so that their arguments alone are read as OpenCode's.
    wire=plugin.make_wire(
        EVENTS,
        "KILO_PROJECT_DIR",
        HARMLESS,
        INPUTS,
        precedence=-1,
        transcript=(keep_in_database("kilo/kilo.db", "XDG_DATA_HOME", "Kilo 7.7.7"),),
    ),
    obeys=("decision",),
    commands_start="root",
    project_dir=spell_root("KILO_PROJECT_DIR"),
    programs=("kilo", "kilocode"),
    gates=(
        Gate(
            (),
            (),
            (),
            "it switches plugins off",
            "Unset it, and remove `--pure`.",
            "lab",
            variable="KILO_PURE",
            stops="agent",
        ),
        Gate(
            (),
            (),
            (),
            "it switches plugins of projects off",
            "Unset it.",
            "src",
            scopes=("project",),
            variable="KILO_DISABLE_PROJECT_CONFIG",
            stops="agent",
        ),
    ),
    notes=(
        "Kilo loads the plugin when it starts; with `--pure` or KILO_PURE it loads none, without a message.",
    ),
    quirks=(
        Quirk("KI1", "a plugin that does not load is silently skipped", "lab"),
        Quirk("KI2", "permission.ask is documented and never called", "lab"),
        Quirk("KI3", "assigning output.args has no effect, its keys must be assigned", "lab"),
        Quirk("KI4", "the host has no timeout, the generated code has one", "lab"),
        Quirk("KI5", "tool.execute.after is not called when the tool threw", "lab"),
        Quirk(
            "KI6", "session.deleted fires only when a session is deleted, not when the program ends", "lab"
        ),
        Quirk(
            "KI7",
            "way around: `--pure` or KILO_PURE=1 removes every plugin, and with it every guard, without a "
            "message",
            "lab",
        ),
        Quirk(
            "KI10",
            "without git .kilo is searched up to the root of the disk, so a plugin in any folder above runs",
            "lab",
        ),
        Quirk(
            "KI11",
            "every folder is read: the same plugin in .kilo and .kilocode, or in plugin and plugins, runs "
            "twice",
            "lab",
        ),
        Quirk(
            "KI12",
            "a plugin named in opencode.json runs in Kilo too, one in .opencode/plugin does not",
            "lab",
        ),
        Quirk("KI13", "project plugins run without a question of trust", "lab"),
        Quirk("KI14", "`kilo run` puts a prompt with blanks in quotation marks", "lab"),
    ),
    ways_around=list_ways(
        WayAround(
            "shell",
            "closed",
            "KI8",
            "`background_process` is a second tool that runs shell commands; guards on the shell are asked "
            "about it, and their deny holds",
            "lab",
            tools=("shell",),
            native="background_process",
        ),
        WayAround(
            "sub-agents",
            "none",
            "KI9",
            "tools inside a sub-agent call the plugin, with the sub-agent's session",
            "lab",
        ),
        WayAround(
            "code",
            "open",
            "KI15",
            "in VS Code `notebook_execute` runs a cell by its number; guards on the shell are asked about "
            "it, and do not see the code, which an earlier `notebook_edit` has as its source",
            "src",
            place="in notebook cells (VS Code)",
            tools=("shell",),
            native="notebook_execute",
        ),
        WayAround(
            "protocol",
            "none",
            "KI16",
            "`kilo acp`, which editors start, loads the plugins, and their deny holds",
            "lab",
        ),
        kinds=4,
    ),
)
