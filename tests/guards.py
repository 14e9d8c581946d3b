"""One guard per dialect as its own documentation tells people to write it; no table of ours is used here.

Each is a real program. It refuses a payload that is not its dialect's own (exit code 1, a failure), lets
`ls` pass as its documentation lets things pass, and denies, or with `rewrite` replaces, `rm -rf`.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

REASON = "rm -rf is forbidden here"
CONTEXT = "this repository uses tabs"
DANGEROUS, HARMLESS, KEPT = "rm -rf build", "ls", "echo kept"

PRELUDE = f"""
import json, sys
REASON, CONTEXT, KEPT = {REASON!r}, {CONTEXT!r}, {KEPT!r}
event = json.load(sys.stdin)
rewrites = sys.argv[1:] == ["rewrite"]

def has(**fields):
    for key, value in fields.items():
        if event.get(key) != value:
            sys.exit(f"{{key}} is {{event.get(key)!r}}, not {{value!r}}: {{json.dumps(event)}}")

def bears(*keys):
    for key in keys:
        if key not in event:
            sys.exit(f"there is no {{key}}: {{json.dumps(event)}}")

def is_text(value):
    if not isinstance(value, str):
        sys.exit(f"no text: {{value!r}}: {{json.dumps(event)}}")

def is_harmless(command):
    return "rm -rf" not in command

def say(answer):
    print(json.dumps(answer))
    sys.exit(0)

def block(reason):
    print(reason, file=sys.stderr)
    sys.exit(2)

def nested(name, **fields):
    say({{"hookSpecificOutput": {{"hookEventName": name, **fields}}}})
"""


class Guard(NamedTuple):
    """A guard's native event and program, and the programs that add context, by canonical event."""

    native: str
    program: str
    contexts: Mapping[str, tuple[str, str]] = MappingProxyType({})
    rewrites: bool = True


def claude_like(native: str, tool: str, keys: str, rewrite: str) -> str:
    """The guard of the agents that took Claude Code's nested answer over."""
    return f"""
has(hook_event_name="{native}", tool_name="{tool}")
bears({keys})
args = event["tool_input"]
if is_harmless(args["command"]):
    sys.exit(0)
if rewrites:
    nested("{native}", permissionDecision="allow", {rewrite})
nested("{native}", permissionDecision="deny", permissionDecisionReason=REASON)
"""


def nested_context(native: str, *keys: str, text: str = "") -> tuple[str, str]:
    """The program that adds context the way Claude Code's reference shows it; `text` is the tool's output."""
    bears = ", ".join(f'"{key}"' for key in keys)
    output = f"is_text(event{text})" if text else ""
    return (
        native,
        f"""
has(hook_event_name="{native}")
bears({bears})
{output}
nested("{native}", additionalContext=CONTEXT)
""",
    )


WHOLE = 'updatedInput={**args, "command": KEPT}'
CHANGED = 'updatedInput={"command": KEPT}'

GUARDS: dict[str, Guard] = {
    # Specification 1.0: exit codes, decision and reason, updated_input, context.
    "canonical": Guard(
        "before_tool_execute",
        """
has(event="before_tool_execute", tool_name="shell")
args = event["tool_input"]
if is_harmless(args["command"]):
    sys.exit(0)
if rewrites:
    say({"updated_input": {**args, "command": KEPT}})
say({"decision": "deny", "reason": REASON})
""",
        {
            event: (event, f'has(event="{event}")\nsay({{"context": CONTEXT}})')
            for event in ("session_start", "before_prompt", "after_tool_execute")
        },
    ),
    # Its fixtures show the keys, its blocking schema the answer; the tools' names are Claude Code's.
    "universal": Guard(
        "pre-tool-use",
        """
has(hookEventName="pre-tool-use", toolName="Bash")
args = event["toolInput"]
if is_harmless(args["command"]):
    sys.exit(0)
if rewrites:
    nested("pre-tool-use", permissionDecision="allow", updatedInput={**args, "command": KEPT})
nested("pre-tool-use", permissionDecision="deny", permissionDecisionReason=REASON)
""",
        {
            "session_start": (
                "session-start",
                'has(hookEventName="session-start")\nnested("session-start", additionalContext=CONTEXT)',
            )
        },
    ),
    # Sections 2 and 5: exit code 2 with stderr; the keys for input and context are the reference
    # implementation's, the specification names none.
    "agent-hooks": Guard(
        "before_tool",
        """
has(event_type="before_tool", tool_name="Shell")
bears("timestamp", "session_id", "work_dir")
args = event["tool_input"]
if is_harmless(args["command"]):
    say({"decision": "allow", "log": "Command validated"})
if rewrites:
    say({"decision": "allow", "modified_input": {**args, "command": KEPT}})
block(REASON)
""",
        {
            canonical: (
                native,
                f'has(event_type="{native}")\nbears("work_dir")\nsay({{"additional_context": CONTEXT}})',
            )
            for canonical, native in {
                "session_start": "session_start",
                "before_prompt": "before_agent",
                "after_tool_execute": "after_tool",
            }.items()
        },
    ),
    # "Exit 0 on success, write errors to stderr": a block is Claude Code's exit code 2.
    "open-plugin": Guard(
        "PreToolUse",
        """
has(hook_event_name="PreToolUse", tool_name="Bash")
if not is_harmless(event["tool_input"]["command"]):
    block(REASON)
""",
        rewrites=False,
    ),
    "claude-code": Guard(
        "PreToolUse",
        claude_like("PreToolUse", "Bash", '"session_id", "transcript_path", "cwd", "permission_mode"', WHOLE),
        {
            "session_start": nested_context("SessionStart", "session_id", "transcript_path", "cwd"),
            "before_prompt": nested_context("UserPromptSubmit", "prompt"),
            "after_tool_execute": nested_context(
                "PostToolUse", "tool_name", "tool_input", "tool_response", text='["tool_response"]["stdout"]'
            ),
        },
    ),
    # An allow stands only with another input, which is one string: the command.
    "codex": Guard(
        "PreToolUse",
        claude_like(
            "PreToolUse", "Bash", '"session_id", "turn_id", "transcript_path", "cwd", "model"', CHANGED
        ),
        {
            "session_start": nested_context("SessionStart", "model"),
            "before_prompt": nested_context("UserPromptSubmit", "prompt"),
            "after_tool_execute": nested_context(
                "PostToolUse", "tool_input", "tool_response", text='["tool_response"]'
            ),
        },
    ),
    # A top-level decision; tool_input is merged over the model's arguments.
    "gemini-cli": Guard(
        "BeforeTool",
        """
has(hook_event_name="BeforeTool", tool_name="run_shell_command")
bears("session_id", "transcript_path", "cwd", "timestamp")
if is_harmless(event["tool_input"]["command"]):
    sys.exit(0)
if rewrites:
    nested("BeforeTool", tool_input={"command": KEPT})
say({"decision": "deny", "reason": REASON})
""",
        {
            "session_start": nested_context("SessionStart", "timestamp"),
            "before_prompt": nested_context("BeforeAgent", "prompt"),
            "after_tool_execute": nested_context(
                "AfterTool", "tool_input", "tool_response", text='["tool_response"]["llmContent"]'
            ),
        },
    ),
    # Flat snake_case; "always print permission: allow".
    "cursor": Guard(
        "preToolUse",
        """
has(hook_event_name="preToolUse", tool_name="Shell")
bears("conversation_id", "generation_id", "workspace_roots", "cursor_version")
args = event["tool_input"]
if is_harmless(args["command"]):
    say({"permission": "allow"})
if rewrites:
    say({"permission": "allow", "updated_input": {**args, "command": KEPT}})
say({"permission": "deny", "user_message": REASON, "agent_message": REASON})
""",
        {
            "session_start": (
                "sessionStart",
                'has(hook_event_name="sessionStart")\nsay({"additional_context": CONTEXT})',
            ),
            "after_tool_execute": (
                "postToolUse",
                """
has(hook_event_name="postToolUse", tool_name="Shell")
is_text(json.loads(event["tool_output"])["output"])
say({"additional_context": CONTEXT})
""",
            ),
        },
    ),
    # The native protocol: payloads do not say their event, answers are flat.
    "copilot-cli": Guard(
        "preToolUse",
        """
has(toolName="bash")
bears("sessionId", "timestamp", "cwd")
args = event["toolArgs"]
if is_harmless(args["command"]):
    sys.exit(0)
if rewrites:
    say({"permissionDecision": "allow", "modifiedArgs": {**args, "command": KEPT}})
say({"permissionDecision": "deny", "permissionDecisionReason": REASON})
""",
        {
            "session_start": ("sessionStart", 'bears("sessionId")\nsay({"additionalContext": CONTEXT})'),
            "before_prompt": ("userPromptSubmitted", 'bears("prompt")\nsay({"additionalContext": CONTEXT})'),
            "after_tool_execute": (
                "postToolUse",
                """
has(toolName="bash")
is_text(event["toolResult"]["textResultForLlm"])
say({"additionalContext": CONTEXT})
""",
            ),
        },
    ),
    "vs-code-copilot": Guard(
        "PreToolUse",
        claude_like("PreToolUse", "run_in_terminal", '"timestamp", "cwd"', WHOLE),
        {
            "session_start": nested_context("SessionStart", "timestamp"),
            "before_prompt": nested_context("UserPromptSubmit", "prompt"),
            "after_tool_execute": nested_context("PostToolUse", "tool_response", text='["tool_response"]'),
        },
    ),
    # updatedInput has "fields to change or add".
    "factory-droid": Guard(
        "PreToolUse",
        claude_like(
            "PreToolUse", "Execute", '"session_id", "transcript_path", "cwd", "permission_mode"', CHANGED
        ),
        {
            "session_start": nested_context("SessionStart", "session_id"),
            "before_prompt": nested_context("UserPromptSubmit", "prompt"),
            "after_tool_execute": nested_context("PostToolUse", "tool_response", text='["tool_response"]'),
        },
    ),
    # updatedInput has the "modified tool input parameters"; context is documented as it is for Claude Code.
    "augment": Guard(
        "PreToolUse",
        claude_like(
            "PreToolUse", "launch-process", '"conversation_id", "workspace_roots", "is_mcp_tool"', CHANGED
        ),
        {
            "session_start": nested_context("SessionStart", "conversation_id", "workspace_roots"),
            "after_tool_execute": nested_context("PostToolUse", "tool_output", text='["tool_output"]'),
        },
    ),
    "qwen-code": Guard(
        "PreToolUse",
        claude_like("PreToolUse", "run_shell_command", '"session_id", "cwd", "timestamp"', WHOLE),
        {
            "session_start": nested_context("SessionStart", "session_id"),
            "before_prompt": ("UserPromptSubmit", 'bears("prompt")\nprint(CONTEXT)'),
            "after_tool_execute": nested_context(
                "PostToolUse", "tool_response", text='["tool_response"]["llmContent"]'
            ),
        },
    ),
    # Exit code 2 with stderr; stdout of a prompt hook is context.
    "kimi-cli": Guard(
        "PreToolUse",
        """
has(hook_event_name="PreToolUse")
bears("session_id", "cwd")
if event["tool_name"] not in ("Shell", "Bash"):
    sys.exit(f"no shell tool: {event['tool_name']}")
if not is_harmless(event["tool_input"]["command"]):
    block(REASON)
""",
        {
            "before_prompt": (
                "UserPromptSubmit",
                'has(hook_event_name="UserPromptSubmit")\nbears("prompt")\nprint(CONTEXT)',
            )
        },
        rewrites=False,
    ),
    # `strict`: what is printed must be a JSON object, and every exit code but 0 is a failure.
    "mistral-vibe": Guard(
        "pre_tool",
        """
has(hook_event_name="pre_tool", tool_name="file_system.bash", parent_session_id=None)
bears("session_id", "transcript_path", "cwd", "tool_call_id")
args = event["tool_input"]
if is_harmless(args["command"]):
    sys.exit(0)
if rewrites:
    say({"hook_specific_output": {"tool_input": {**args, "command": KEPT}}})
say({"decision": "deny", "reason": REASON})
""",
        {
            "after_tool_execute": (
                "post_tool",
                """
has(hook_event_name="post_tool", tool_status="success", tool_error=None)
is_text(event["tool_output"]["stdout"])
is_text(event["tool_output_text"])
say({"hook_specific_output": {"additional_context": CONTEXT}})
""",
            )
        },
    ),
    # An agent file: exit code 2 with stderr, raw stdout is context on two events.
    "kiro": Guard(
        "preToolUse",
        """
has(hook_event_name="preToolUse", tool_name="execute_bash")
bears("cwd")
if not is_harmless(event["tool_input"]["command"]):
    block(REASON)
""",
        {
            "session_start": ("agentSpawn", 'has(hook_event_name="agentSpawn")\nprint(CONTEXT)'),
            "before_prompt": (
                "userPromptSubmit",
                'has(hook_event_name="userPromptSubmit")\nbears("prompt")\nprint(CONTEXT)',
            ),
        },
        rewrites=False,
    ),
    "windsurf": Guard(
        "pre_run_command",
        """
has(agent_action_name="pre_run_command")
bears("trajectory_id", "execution_id", "timestamp")
if not is_harmless(event["tool_info"]["command_line"]):
    block(REASON)
""",
        rewrites=False,
    ),
    # All that it can say to a call is to end the run; input is replaced as a whole.
    "cline": Guard(
        "PreToolUse",
        """
bears("taskId", "workspaceRoots", "clineVersion")
shown = event["preToolUse"]
# The extension names the event as its file, and has no tool_call.
spelled = {"name": shown["toolName"], "input": {"commands": json.loads(shown["parameters"]["commands"])}}
call = event["tool_call"] if event["hookName"] == "tool_call" else spelled
if event["hookName"] not in ("tool_call", "PreToolUse") or call["name"] != "run_commands":
    sys.exit(f"no shell tool: {json.dumps(event)}")
if call["input"] != spelled["input"] or call["name"] != spelled["name"]:
    sys.exit(f"the two spellings differ: {json.dumps(event)}")
commands = call["input"]["commands"]
if all(map(is_harmless, commands)):
    say({"cancel": False})
if rewrites:
    kept = [one if is_harmless(one) else KEPT for one in commands]
    say({"cancel": False, "overrideInput": {**call["input"], "commands": kept}})
say({"cancel": True, "errorMessage": REASON})
""",
        {
            "after_tool_execute": (
                "PostToolUse",
                """
event["postToolUse"]["result"]
event["postToolUse"]["parameters"]["commands"]
say({"cancel": False, "contextModification": CONTEXT})
""",
            )
        },
    ),
    # What the generated plugin runs: a callback's arguments in, the interchange format's answer out.
    "opencode": Guard(
        "tool.execute.before",
        """
has(hook="tool.execute.before")
bears("directory")
if event["input"]["tool"] != "bash":
    sys.exit(f"no shell tool: {event['input']}")
args = event["output"]["args"]
if is_harmless(args["command"]):
    sys.exit(0)
if rewrites:
    say({"updated_input": {**args, "command": KEPT}})
say({"decision": "deny", "reason": REASON})
""",
        {
            "session_start": (
                "event.session.created",
                'event["input"]["event"]["properties"]\nsay({"context": CONTEXT})',
            ),
            "before_prompt": ("chat.message", 'event["output"]["parts"]\nsay({"context": CONTEXT})'),
            "after_tool_execute": (
                "tool.execute.after",
                """
is_text(event["input"]["args"]["command"])
is_text(event["output"]["output"])
say({"context": CONTEXT})
""",
            ),
        },
    ),
    # What the generated extension runs: an event's own object in, the interchange format's answer out.
    "pi": Guard(
        "tool_call",
        """
has(hook="tool_call", type="tool_call", toolName="bash")
bears("cwd", "toolCallId")
args = event["input"]
if is_harmless(args["command"]):
    sys.exit(0)
if rewrites:
    say({"updated_input": {**args, "command": KEPT}})
say({"decision": "deny", "reason": REASON})
""",
        {
            "session_start": ("session_start", 'has(type="session_start")\nsay({"context": CONTEXT})'),
            "before_prompt": ("input", 'is_text(event["text"])\nsay({"context": CONTEXT})'),
            "after_tool_execute": (
                "tool_result",
                """
has(type="tool_result", isError=False)
is_text(event["input"]["command"])
is_text(event["content"][0]["text"])
say({"context": CONTEXT})
""",
            ),
        },
    ),
}

# Other events and protocols that an agent's own hooks can be written for.
OTHER_GUARDS: dict[tuple[str, str], str] = {
    ("cursor", "beforeShellExecution"): """
has(hook_event_name="beforeShellExecution")
bears("conversation_id", "cwd")
if is_harmless(event["command"]):
    say({"permission": "allow"})
say({"permission": "deny", "user_message": REASON, "agent_message": REASON})
""",
    ("copilot-cli", "PreToolUse"): claude_like(
        "PreToolUse", "Bash", '"session_id", "timestamp", "cwd"', WHOLE
    ),
    ("kiro", "PreToolUse"): """
if event["hook_event_name"].lower() != "pretooluse":
    sys.exit(json.dumps(event))
if not is_harmless(event["tool_input"]["command"]):
    block(REASON)
""",
}

# As found in many repositories: jq on the payload, the nested deny.
WILD = f"""#!/usr/bin/env bash
set -euo pipefail
input=$(cat)
command=$(jq -r '.tool_input.command // empty' <<<"$input")
if grep -qE 'rm[[:space:]]+-[a-z]*r[a-z]*f' <<<"$command"; then
  jq -n --arg reason '{REASON}' '{{
    hookSpecificOutput: {{
      hookEventName: "PreToolUse",
      permissionDecision: "deny",
      permissionDecisionReason: $reason
    }}
  }}'
fi
exit 0
"""


def command_of(folder: Path, name: str, program: str, *args: str) -> str:
    """The shell command that runs a program, which is written to the folder."""
    path = folder / f"{name}.py"
    if not path.exists():
        draft = path.with_suffix(".new")
        draft.write_text(PRELUDE + program, "utf-8")
        draft.replace(path)
    return shlex.join([sys.executable, "-I", "-S", str(path), *args])
