"""OpenAI Codex CLI: hooks.json, and the hooks tables of its config.toml."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import TYPE_CHECKING

from hookport.agents._base import (
    REPOSITORY,
    SECOND,
    Decoded,
    Dialect,
    EventSpec,
    Field,
    FolderTrust,
    Gate,
    HandlerSpec,
    HookTrust,
    Location,
    Matching,
    McpNames,
    Path,
    Quirk,
    RefusedError,
    Shape,
    Timeout,
    Tree,
    aliases,
    event_named,
    matching_of,
    named,
)
from hookport.agents._by_event import BY_EVENT
from hookport.agents._codex_fingerprint import fingerprint
from hookport.agents._codex_wire import WIRE_OF_CODEX
from hookport.agents._patterns import compiles
from hookport.errors import Problem, spell_path
from hookport.findings import AsyncInBackground, Finding, MatcherDropped, NeverRuns

if TYPE_CHECKING:
    from hookport.model.hooks import Hook

SOURCES = {
    "src": "openai/codex at 2026-08-22 (0.150.0-alpha.7): codex-rs/config, codex-rs/hooks, codex-rs/core",
    "doc": "official documentation and pull requests of 0.152.0, September 2026",
    "lab": "measured on 0.166.0, November 2026",
}

# Letters, digits, `_` and `|` only: exact names; anything else is a Rust regular expression found anywhere.
# A hyphen is not among them (src, lab).
NAMES = Matching("names", plain=r"[A-Za-z0-9_|]")
# Rust regular expressions have neither look-around nor references to groups (src).
NOT_RUST = re.compile(r"\(\?<?[=!]|\(\?P=|\\[1-9]")

ROOT_KEYS = ("description", "hooks")
TYPES = ("command", "mcp_tool", "prompt", "agent")
# prompt and agent are read and then skipped (src, CX6), so no event takes them.
RUN = ("command", "native")
# SessionEnd and Interrupt wait 1 s by default and 3 s at most (src, doc).
SHORT = timedelta(seconds=1)
LONGEST = timedelta(seconds=3)

EVENTS = (
    EventSpec("PreToolUse", "before_tool_execute", "prevent", "lab", "tool", rewrites=True, types=RUN),
    EventSpec(
        "PermissionRequest",
        "permission_request",
        "prevent",
        "lab",
        "tool",
        types=RUN,
        unfired="in `codex exec` without `--approve-for-me`, which asks nobody",
    ),
    EventSpec("PostToolUse", "after_tool_execute", "observe", "lab", "tool", types=RUN),
    EventSpec("UserPromptSubmit", "before_prompt", "prevent", "lab", types=RUN),
    EventSpec("SessionStart", "session_start", "observe", "lab", "source", types=RUN),
    EventSpec(
        "SessionEnd",
        "session_end",
        "observe",
        "src",
        "reason",
        types=("command",),
        default_timeout=SHORT,
        max_timeout=LONGEST,
    ),
    EventSpec("Stop", "agent_stop", "retry", "lab", types=RUN),
    EventSpec("SubagentStart", "subagent_start", "observe", "src", "agent_type", types=RUN),
    EventSpec("SubagentStop", "subagent_stop", "retry", "src", "agent_type", types=RUN),
    # Exit 2 is a failed run on both; only `continue: false` stops (src).
    EventSpec("PreCompact", "before_compact", "observe", "src", "trigger", types=RUN),
    EventSpec("PostCompact", "after_compact", "observe", "src", "trigger", types=RUN),
    EventSpec("PreModelRequest", "before_model", "observe", "lab", types=RUN),
    EventSpec("PostModelRequest", "after_model", "observe", "lab", types=RUN),
    EventSpec(
        "Interrupt",
        "interrupted",
        "observe",
        "doc",
        types=RUN,
        default_timeout=SHORT,
        max_timeout=LONGEST,
        since="0.152.0",
    ),
)

_NONE = "no such event among the 14 in the binary"
LACKS = {
    "notification": "`notify` in config.toml starts a program at the end of a turn, and is no hook",
    "error_occurred": _NONE,
    "before_tool_selection": _NONE,
    "config_change": _NONE,
    "file_created": _NONE,
    "file_saved": _NONE,
    "file_deleted": _NONE,
    "before_task": _NONE,
    "after_task": _NONE,
    "tool_use_failure": "PostToolUse fires only after success, or for a shell command with any exit code",
    "permission_denied": _NONE,
    "file_changed": _NONE,
    "after_tool_batch": _NONE,
    "before_command_expansion": _NONE,
    "instructions_loaded": _NONE,
    "message_display": _NONE,
}


def decode(dialect: Dialect, trees: Mapping[str, Tree]) -> Decoded:
    """The hooks of files that Codex itself would load; the ones it skips get a finding."""
    refusals = [problem for file, tree in trees.items() for problem in _refusals(file, tree)]
    if refusals:
        raise RefusedError(*refusals)
    decoded = BY_EVENT.decode(dialect, trees)
    findings = list(decoded.findings)
    for hook, place in zip(decoded.manifest.hooks, decoded.places, strict=True):
        way = _skipped(dialect, hook, place.path, trees[place.file])
        if way:
            reason, hint = way
            where = spell_path(place.path)
            finding = NeverRuns.at(where, dialect=dialect.id, what="this hook", reason=reason, way=hint)
            findings.append(finding._replace(file=place.file))
    return decoded._replace(findings=tuple(findings))


def _refusals(file: str, tree: Tree) -> Iterator[Problem]:
    """What makes Codex's loader give up on the whole file (CX5)."""
    if not isinstance(tree, Mapping):
        return
    in_settings = file.endswith(".toml")
    rest = "Codex may refuse the whole configuration" if in_settings else "Codex loads no hook of this file"
    for key in tree if not in_settings else ():
        if key not in ROOT_KEYS:
            yield Problem(f"only 'description' and 'hooks' may stand here, or {rest}", (key,), file)
    for path, entry in _entries(tree):
        type_ = entry.get("type")
        if "type" not in entry:
            yield Problem(f"'type' is missing; {rest}", path, file)
        elif type_ not in TYPES:
            known = ", ".join(f'"{name}"' for name in TYPES)
            yield Problem(f"must be one of {known}, not {type_!r}; {rest}", (*path, "type"), file)
        timeout = entry.get("timeout", 1)
        if isinstance(timeout, bool) or not isinstance(timeout, int) or timeout < 0:
            yield Problem(
                f"must be a whole number of seconds, not {timeout!r}; {rest}", (*path, "timeout"), file
            )


def _entries(tree: Mapping[str, Tree]) -> Iterator[tuple[Path, Mapping[str, Tree]]]:
    """Every handler of an event that Codex knows; others are not looked into."""
    events = tree.get("hooks")
    if not isinstance(events, Mapping):
        return
    for event in EVENTS:
        groups = events.get(event.native)
        for number, group in enumerate(groups if isinstance(groups, list) else ()):
            handlers = group.get("hooks") if isinstance(group, Mapping) else None
            for index, entry in enumerate(handlers if isinstance(handlers, list) else ()):
                if isinstance(entry, Mapping):
                    yield ("hooks", event.native, number, "hooks", index), entry


def _skipped(dialect: Dialect, hook: Hook, path: Path, tree: Tree) -> tuple[str, str] | None:
    """Why Codex loads a hook and never runs it, and the way out."""
    if hook.handler.type in ("prompt", "agent"):
        return f"it reads {hook.handler.type} handlers and skips them", "Write it as a command."
    spec = event_named(dialect, str(path[1]))
    group = tree["hooks"][path[1]][path[2]]
    matcher = group.get("matcher") or ""
    if spec is None or matching_of(dialect, spec).grammar == "none" or matcher in NAMES.everything:
        return None
    if re.fullmatch(f"{NAMES.plain}+", matcher) or _is_rust(matcher):
        return None
    reason = f"the matcher '{matcher}' is no regular expression of Rust, so the group is dropped"
    return reason, "Write it without look-around and references, or name the tools."


def _is_rust(pattern: str) -> bool:
    return compiles(pattern) and not NOT_RUST.search(pattern)


def adjust(hooks: list[Hook]) -> tuple[list[Hook], list[Finding]]:
    """No pattern that Codex drops with its group, no async hook at the end of a session."""
    findings: list[Finding] = []
    given: list[Hook] = []
    for number, hook in enumerate(hooks):
        changed = hook
        lost = [term.value for term in hook.matcher if term.kind == "pattern" and not _is_rust(term.value)]
        if lost:
            findings.append(MatcherDropped.at("", number, target=DIALECT.id, matcher="|".join(lost)))
            changed = changed._replace(matcher=())
        if hook.handler.is_async and hook.event == "session_end":
            findings.append(AsyncInBackground.at("", number, target=DIALECT.id))
            # A shell gives what runs in the background an empty stdin, so the payload goes through 3.
            command = f"{{ ( {hook.handler.command}\n) <&3 3<&- >/dev/null 2>&1 & }} 3<&0"
            changed = changed._replace(handler=hook.handler._replace(command=command, is_async=False))
        given.append(changed)
    return given, findings


WAIT = Timeout(SECOND, default=timedelta(seconds=600), whole=True, minimum=SECOND)
SKIPPED = Timeout(SECOND, whole=True)


REQUIREMENTS = ("/etc/codex/requirements.toml", "C:/ProgramData/OpenAI/Codex/requirements.toml")

DIALECT = Dialect(
    id="codex",
    title="Codex CLI",
    kind="agent",
    facts="0.166.0",
    sources=SOURCES,
    shows={"*": (("message", "reason"), "lab")},
    markers={"CODEX_THREAD_ID": "lab"},
    locations=(
        Location("project", ".codex/hooks.json", "lab"),
        Location("project", ".codex/config.toml", "lab"),
        Location("user", "~/.codex/hooks.json", "lab"),
        Location("user", "~/.codex/config.toml", "lab"),
        Location("plugin", "hooks/hooks.json", "src"),
        Location("system", "/etc/codex/hooks.json", "src"),
        Location("system", "/etc/codex/config.toml", "src"),
        Location("system", "/etc/codex/requirements.toml", "src"),
    ),
    events=EVENTS,
    lacks=LACKS,
    awaits_children="lab",
    tools=(
        *named(
            "lab",
            shell="Bash",
            file_write="apply_patch",
            file_edit="apply_patch",
            agent="spawn_agent",
        ),
        *named("src", todo="update_plan", ask_user="request_user_input"),
        # Both names match every apply_patch, whatever it does (CX3).
        *aliases("lab", file_write=("Write", "Edit"), file_edit=("Write", "Edit")),
        *aliases("src", agent="Agent"),
    ),
    wordless=dict.fromkeys(("view_image", "request_permissions"), "src"),
    mcp=McpNames("mcp__", "__", "lab"),
    # serde_json takes no byte order mark, and `matcher` is an Option (src).
    refuses_bom=True,
    null_matches_all=True,
    matching=NAMES,
    handlers={
        "command": HandlerSpec(
            "command",
            {
                "command": "command",
                "commandWindows": "windows",
                "command_windows": Field("windows", read_only=True),
                "timeout": "timeout",
                "async": "is_async",
                "statusMessage": "status_message",
            },
            WAIT,
            required=("command",),
        ),
        "native": HandlerSpec("mcp_tool", {"timeout": "timeout", "statusMessage": "status_message"}, WAIT),
        "prompt": HandlerSpec(
            "prompt", {"prompt": "prompt", "model": "model", "timeout": "timeout"}, SKIPPED
        ),
        "agent": HandlerSpec("agent", {"prompt": "prompt", "model": "model", "timeout": "timeout"}, SKIPPED),
    },
    shape=Shape(decode, BY_EVENT.encode),
    wire=WIRE_OF_CODEX,
    cwd_moves=True,
    obeys=("nested", "decision"),
    needs_reason=True,
    adjust=adjust,
    not_events=("state", "managed_dir", "windows_managed_dir"),
    # No variable names the project's root (src, lab).
    project_dir=(REPOSITORY, "$(git rev-parse --show-toplevel)"),
    package_dir=("${PLUGIN_ROOT}", "$PLUGIN_ROOT", "${CLAUDE_PLUGIN_ROOT}", "$CLAUDE_PLUGIN_ROOT"),
    manifests=(".codex-plugin/plugin.json",),
    programs=("codex",),
    home=("~/.codex", "CODEX_HOME"),
    gates=(
        Gate(
            REQUIREMENTS,
            ("allow_managed_hooks_only",),
            (True,),
            "the requirements of this machine allow managed hooks only",
            "Ask whoever manages this machine to add the hook there.",
            "src",
            stops="agent",
        ),
        *(
            Gate(
                (".codex/config.toml", "~/.codex/config.toml", "/etc/codex/config.toml"),
                ("features", name),
                (False,),
                "the feature is switched off",
                f"Take `{name} = false` out of [features].",
                "src",
            )
            for name in ("hooks", "codex_hooks")
        ),
    ),
    folder_trust=FolderTrust(
        "~/.codex/config.toml",
        (("projects",),),
        "Start `codex` in this folder and trust it.",
        "lab",
        field=("trust_level",),
        yes=("trusted",),
        below=False,
    ),
    hook_trust=HookTrust(
        "~/.codex/config.toml",
        ("hooks", "state"),
        "{file}:{event}:{group}:{index}",
        "trusted_hash",
        "enabled",
        "Start `codex` here and review the hook with `/hooks`.",
        "lab",
        fingerprint,
    ),
    notes=(
        "Codex skips new and changed hooks without a word until they are trusted: review them with `/hooks`.",
        "Codex loads the hooks of a project only when the project is trusted.",
    ),
    quirks=(
        Quirk("CX1", "exit 2 with an empty stderr does not block", "lab"),
        Quirk(
            "CX2",
            "an answer with a key Codex does not know, a deny without a reason or `ask` blocks nothing",
            "lab",
        ),
        Quirk("CX3", "a matcher Write or Edit matches apply_patch, and the payload says apply_patch", "lab"),
        Quirk("CX4", "hooks that are not trusted are skipped, and nothing says so", "lab"),
        Quirk(
            "CX5",
            "a missing or unknown handler type, a timeout that is no whole number "
            "or an unknown key at the root drops the whole file",
            "src",
        ),
        Quirk("CX6", "prompt and agent handlers are read and skipped", "src"),
        Quirk(
            "CX7", "files are read and searched through Bash: no tool of its own shows that to hooks", "src"
        ),
        Quirk("CX8", "a Stop hook that always blocks is never ended by Codex", "lab"),
        Quirk("CX9", "`mcp__server` alone is an exact name and matches no tool", "src"),
        Quirk(
            "CX10",
            "what PreModelRequest and PostModelRequest obey was not measured: they only observe",
            "lab",
        ),
    ),
)
