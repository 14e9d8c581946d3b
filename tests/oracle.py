"""What each agent does with a hook's answer, as strictly as the real one; no table of ours is used here.

Written from what was measured on the agents (versions in `agents/*/README.md`), and for Cursor, VS Code, Kiro
and Windsurf from their documentation.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from hookport.model.runs import Answer
from tests import agent_data

# The command and the project in every payload.
COMMAND, PROJECT = "echo hi > out.txt", "/home/dev/project"


class Outcome(NamedTuple):
    """What the agent did: whether the call was stopped, what the model or user read, the input that ran.

    `decided` is a word that skips or asks a question that would come otherwise, `ended` that the run ended.
    """

    blocked: bool
    reason: str = ""
    input: Any = None
    context: str = ""
    decided: str = ""
    ended: bool = False


Args = Any


def tree_of(text: str) -> dict[str, Any]:
    """The object that a text is, as a whole; an empty one where it is none."""
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def part(tree: Mapping[str, Any], key: str = "hookSpecificOutput") -> dict[str, Any]:
    found = tree.get(key)
    return found if isinstance(found, dict) else {}


def claude_code(answer: Answer, args: Args) -> Outcome:
    """Any text around the JSON, or no hookEventName, and the command runs; JSON counts with every code."""
    tree = tree_of(answer.stdout)
    own = part(tree) if part(tree).get("hookEventName") == "PreToolUse" else {}
    verdict = own.get("permissionDecision")
    if answer.exit_code == 2:
        reason = own.get("permissionDecisionReason") if verdict == "deny" else ""
        return Outcome(blocked=True, reason=reason or answer.stderr.strip() or "No stderr output")
    if verdict in ("deny", "ask", "defer"):
        return Outcome(blocked=True, reason=own.get("permissionDecisionReason", "Blocked by hook"))
    if tree.get("decision") == "block":
        return Outcome(blocked=True, reason=tree.get("reason", ""))
    return Outcome(
        blocked=False,
        input=own.get("updatedInput", args),
        context=own.get("additionalContext", ""),
        decided="allow" if verdict == "allow" or tree.get("decision") == "approve" else "",
        ended=tree.get("continue") is False,
    )


CODEX_KEYS = {"continue", "stopReason", "suppressOutput", "systemMessage", "decision", "reason"}
CODEX_OWN = {"hookEventName", "permissionDecision", "permissionDecisionReason", "updatedInput"}


def is_void(tree: Mapping[str, Any], own: Mapping[str, Any]) -> bool:
    """Whether Codex takes nothing of an answer: for a key it does not know, or a word it does not take."""
    return bool(
        set(tree) - CODEX_KEYS - {"hookSpecificOutput"}
        or set(own) - CODEX_OWN - {"additionalContext"}
        or (own and own.get("hookEventName") != "PreToolUse")
        or (tree.get("continue") is False or "stopReason" in tree or tree.get("suppressOutput"))
        or own.get("permissionDecision") not in (None, "allow", "deny")
        or tree.get("decision") not in (None, "block")
        or ("reason" in tree and "decision" not in tree)
        # An allow and another input stand only together.
        or (own.get("permissionDecision") == "allow") != ("updatedInput" in own)
    )


def codex(answer: Answer, args: Args) -> Outcome:
    """A hook whose answer has a word too many, or one too few, has "Failed", and the command runs."""
    runs = Outcome(blocked=False, input=args)
    if answer.exit_code:
        reason = answer.stderr.strip() if answer.exit_code == 2 else ""
        return Outcome(blocked=True, reason=reason) if reason else runs
    tree = tree_of(answer.stdout)
    own = part(tree)
    if is_void(tree, own):
        return runs
    if own.get("permissionDecision") == "deny" or tree.get("decision") == "block":
        reason = own.get("permissionDecisionReason") or tree.get("reason", "")
        return Outcome(blocked=True, reason=reason) if reason.strip() else runs
    command = (own.get("updatedInput") or args).get("command")
    # Of another input only the command is taken over.
    taken = {**args, "command": command} if isinstance(command, str) else "an error is told to the model"
    return runs._replace(input=taken, context=own.get("additionalContext", ""))


def copilot(answer: Answer, args: Args) -> Outcome:
    """Events in camelCase: flat keys only; stderr is lost; every code but 0 stops the call."""
    tree = tree_of(answer.stdout)
    reason = tree.get("permissionDecisionReason", "")
    if answer.exit_code == 2:
        return Outcome(blocked=True, reason=reason or "hook exited with code 2")
    if answer.exit_code:
        return Outcome(blocked=True, reason="(hook errored)")
    verdict = tree.get("permissionDecision")
    if verdict in ("deny", "ask"):
        return Outcome(blocked=True, reason=reason or "No reason provided")
    return Outcome(
        blocked=False,
        input=tree.get("modifiedArgs", args),
        context=tree.get("additionalContext", ""),
        decided="allow" if verdict == "allow" else "",
    )


def copilot_pascal(answer: Answer, args: Args) -> Outcome:
    """Events in PascalCase: hookSpecificOutput is read too, and is where another input stands."""
    tree = tree_of(answer.stdout)
    own = part(tree)
    flat = {
        key: tree.get(key, own.get(key))
        for key in ("permissionDecision", "permissionDecisionReason", "additionalContext")
        if key in tree or key in own
    }
    found = copilot(answer.replace(stdout=json.dumps(flat)), args)
    return found if found.blocked else found._replace(input=own.get("updatedInput", args))


def droid(answer: Answer, args: Args) -> Outcome:
    """As where another hook's allow is listed first: that undoes a printed deny, and not exit code 2."""
    own = part(tree_of(answer.stdout))
    if answer.exit_code == 2:
        return Outcome(blocked=True, reason=own.get("permissionDecisionReason", answer.stderr.strip()))
    if answer.exit_code == 3:
        return Outcome(blocked=True, ended=True)
    if tree_of(answer.stdout).get("continue") is False:
        return Outcome(blocked=True, ended=True)
    return Outcome(
        blocked=False,
        input={**args, **own.get("updatedInput", {})},
        decided="allow" if own.get("permissionDecision") == "allow" else "",
    )


def augment(answer: Answer, args: Args) -> Outcome:
    """JSON with exit code 0 only, as a whole and with hookEventName; an ask lets the tool run."""
    if answer.exit_code == 2:
        return Outcome(blocked=True, reason=answer.stderr.strip())
    tree = tree_of(answer.stdout) if answer.exit_code == 0 else {}
    own = part(tree) if part(tree).get("hookEventName") == "PreToolUse" else {}
    if own.get("permissionDecision") == "deny":
        return Outcome(blocked=True, reason=own.get("permissionDecisionReason", ""))
    if tree.get("continue") is False:
        return Outcome(blocked=True, reason="Tool execution blocked by hook")
    changed: Args = own.get("updatedInput", args)
    # Whether it is merged was not measured: only what is right either way is.
    taken = changed if {**args, **changed} == changed else "a part is lost"
    return Outcome(blocked=False, input=taken, decided=own.get("permissionDecision", ""))


def gemini(answer: Answer, args: Args) -> Outcome:
    """A top-level decision, whatever the code, also on stderr; text alone denies with codes from 2 up."""
    text = answer.stdout.strip() or answer.stderr.strip()
    tree = tree_of(text)
    if not tree:
        is_denied = answer.exit_code >= 2 and bool(text) and not text.startswith("{")
        return Outcome(blocked=True, reason=text) if is_denied else Outcome(blocked=False, input=args)
    if tree.get("continue") is False:
        return Outcome(blocked=True, reason=tree.get("stopReason", ""), ended=True)
    if tree.get("decision") in ("deny", "block", "ask"):
        reason = tree.get("stopReason") or tree.get("reason") or "No reason provided"
        return Outcome(blocked=True, reason=reason, ended=tree["decision"] == "ask")
    changed = part(tree).get("tool_input")
    # 0.61.0 merges, the source of August 2026 replaces: only what is right for both is.
    merged = args if changed is None else changed if {**args, **changed} == changed else "a part is lost"
    return Outcome(blocked=False, input=merged, decided="allow" if tree.get("decision") else "")


def qwen(answer: Answer, args: Args) -> Outcome:
    """As where another hook's allow is listed last: that undoes every deny but `continue: false`."""
    text = answer.stderr.strip()
    if answer.exit_code != 2:
        text = answer.stdout.strip() or text
    tree = tree_of(text)
    if tree.get("continue") is False:
        reason = part(tree).get("permissionDecisionReason") or tree.get("stopReason") or tree.get("reason")
        return Outcome(blocked=True, reason=reason or "")
    decided = part(tree).get("permissionDecision") or tree.get("decision") or ""
    return Outcome(blocked=False, input=args, decided=decided)


def kimi(answer: Answer, args: Args) -> Outcome:
    """Exit code 2, or the nested deny with exit code 0; kimi-cli and Kimi Code alike."""
    if answer.exit_code == 2:
        return Outcome(blocked=True, reason=answer.stderr.strip() or "Blocked by PreToolUse hook")
    own = part(tree_of(answer.stdout)) if answer.exit_code == 0 else {}
    if own.get("permissionDecision") == "deny":
        return Outcome(blocked=True, reason=own.get("permissionDecisionReason", ""))
    return Outcome(blocked=False, input=args)


def vibe(answer: Answer, args: Args) -> Outcome:
    """As with `strict`: a failure denies, and so does text that is no JSON object; only `deny` says deny."""
    if answer.exit_code:
        return Outcome(blocked=True, reason=answer.stderr.strip() or answer.stdout.strip())
    if not answer.stdout.strip():
        return Outcome(blocked=False, input=args)
    tree = tree_of(answer.stdout)
    if not tree:
        return Outcome(blocked=True, reason="stdout did not match the hook response schema")
    if tree.get("decision") == "deny":
        return Outcome(blocked=True, reason=tree.get("reason") or "Blocked by a pre_tool hook.")
    changed = part(tree, "hook_specific_output").get("tool_input")
    return Outcome(blocked=False, input=changed if isinstance(changed, dict) else args)


def vibe_lax(answer: Answer, args: Args) -> Outcome:
    """Without `strict`: every failure lets the tool run."""
    found = vibe(answer, args)
    is_denied = tree_of(answer.stdout).get("decision") == "deny" and not answer.exit_code
    return Outcome(blocked=False, input=args) if found.blocked and not is_denied else found


def appended(answer: Answer) -> str:
    """What Vibe adds to the text of a tool's result."""
    own = part(tree_of(answer.stdout), "hook_specific_output") if not answer.exit_code else {}
    return str(own.get("additional_context", ""))


def stderr_with_2(answer: Answer, args: Args) -> Outcome:
    """Windsurf, and Kiro's agent files: an exit code, and nothing that is printed."""
    if answer.exit_code == 2:
        return Outcome(blocked=True, reason=answer.stderr.strip())
    return Outcome(blocked=False, input=args, reason=answer.stderr.strip() if answer.exit_code else "")


def kiro_v1(answer: Answer, args: Args) -> Outcome:
    """v1 files: one page lets every code but 0 block, and stdout is context."""
    if answer.exit_code:
        return Outcome(blocked=True, reason=answer.stderr.strip())
    return Outcome(blocked=False, input=args, context=answer.stdout.strip())


def cursor(answer: Answer, args: Args) -> Outcome:
    """As with failClosed: nothing printed, or no JSON, blocks; the model reads user_message."""
    if answer.exit_code == 2:
        return Outcome(blocked=True, reason=answer.stdout.strip() or answer.stderr.strip())
    try:
        tree = json.loads(answer.stdout)
    except ValueError:
        return Outcome(blocked=True, reason="failClosed")
    if answer.exit_code:
        return Outcome(blocked=True, reason="failClosed")
    if tree.get("permission") == "deny":
        return Outcome(blocked=True, reason=tree.get("user_message", ""))
    decided = tree.get("permission", "")
    return Outcome(blocked=False, input=tree.get("updated_input", args), decided=decided)


def cursor_shell(answer: Answer, args: Args) -> Outcome:
    """beforeShellExecution: an ask is a deny, and no other input is taken."""
    found = cursor(answer, args)
    if found.decided == "ask":
        return Outcome(blocked=True, reason=tree_of(answer.stdout).get("user_message", ""))
    return found if found.blocked else found._replace(input=args)


def vs_code(answer: Answer, args: Args) -> Outcome:
    """JSON with exit code 0 only; any stopReason ends the request; a foreign hookEventName is dropped."""
    if answer.exit_code == 2:
        return Outcome(blocked=True, reason=answer.stderr.strip())
    tree = tree_of(answer.stdout) if answer.exit_code == 0 else {}
    if tree.get("continue") is False or isinstance(tree.get("stopReason"), str):
        return Outcome(blocked=True, reason=tree.get("stopReason", ""), ended=True)
    if tree.get("hookEventName", "PreToolUse") != "PreToolUse":
        tree = {}
    own = part(tree) if part(tree).get("hookEventName", "PreToolUse") == "PreToolUse" else {}
    verdict = own.get("permissionDecision")
    if verdict == "deny":
        return Outcome(blocked=True, reason=own.get("permissionDecisionReason", ""))
    return Outcome(
        blocked=False,
        input=own.get("updatedInput", args),
        context=own.get("additionalContext", ""),
        decided=verdict or "",
    )


def cline(answer: Answer, args: Args) -> Outcome:
    """The CLI: only printed JSON counts, the exit code does not."""
    tree = tree_of(answer.stdout)
    if tree.get("cancel") is True:
        reason = tree.get("errorMessage") or tree.get("contextModification", "")
        return Outcome(blocked=True, reason=reason, ended=True)
    context = tree.get("contextModification", tree.get("context", ""))
    return Outcome(blocked=False, input=tree.get("overrideInput", args), context=context)


def cline_extension(answer: Answer, args: Args) -> Outcome:
    """The VS Code extension: no other input."""
    found = cline(answer, args)
    return found if found.blocked else found._replace(input=args)


def opencode(answer: Answer, args: Args) -> Outcome:
    """What the generated plugin does: it throws on exit code 2, a deny or an ask, and changes keys."""
    if answer.exit_code == 2:
        return Outcome(blocked=True, reason=answer.stderr.strip())
    tree = tree_of(answer.stdout) if answer.exit_code == 0 else {}
    if tree.get("decision") in ("deny", "ask"):
        return Outcome(blocked=True, reason=str(tree.get("reason", "")))
    changed = tree.get("updated_input")
    return Outcome(
        blocked=False,
        input=changed if isinstance(changed, dict) else args,
        context=tree.get("context", ""),
    )


def pi(answer: Answer, args: Args) -> Outcome:
    """What the generated extension does with `-p`: as OpenCode's, since nobody is there to be asked."""
    return opencode(answer, args)


Reader = Callable[[Answer], str]


def nested_or_text(name: str) -> Reader:
    """Claude Code and Codex where a session or a turn begins: the nested key, or plain text."""

    def read(answer: Answer) -> str:
        tree = tree_of(answer.stdout)
        own = part(tree)
        if own.get("hookEventName") == name:
            return str(own.get("additionalContext", ""))
        return "" if tree or answer.exit_code else answer.stdout.strip()

    return read


def nested(name: str) -> Reader:
    """The nested key alone, with exit code 0."""

    def read(answer: Answer) -> str:
        own = part(tree_of(answer.stdout))
        is_own = own.get("hookEventName") == name and not answer.exit_code
        return str(own.get("additionalContext", "")) if is_own else ""

    return read


def strictly(name: str, reader: Callable[[str], Reader]) -> Reader:
    """Codex: a key that it does not know makes all of the answer void."""

    def read(answer: Answer) -> str:
        tree = tree_of(answer.stdout)
        own = part(tree)
        unknown = set(tree) - CODEX_KEYS - {"hookSpecificOutput"} or set(own) - {
            "hookEventName",
            "additionalContext",
        }
        return "" if unknown or tree.get("suppressOutput") else reader(name)(answer)

    return read


def flat(key: str) -> Reader:
    """A key at the top of an object printed with exit code 0."""

    def read(answer: Answer) -> str:
        return "" if answer.exit_code else str(tree_of(answer.stdout).get(key, ""))

    return read


def raw(answer: Answer) -> str:
    """All of stdout, JSON or not."""
    return "" if answer.exit_code else answer.stdout.strip()


def kimi_code(answer: Answer) -> str:
    """`message` of an object, else all of stdout as it is."""
    return str(tree_of(answer.stdout).get("message", raw(answer)))


class Seat(NamedTuple):
    """An agent, or one of its products or protocols: its shell event, and where it takes context.

    `rewrites` says whether it takes another input.
    `contexts` has for a canonical event the native one and how the agent reads context there; None where it
    takes none.
    """

    agent: str
    native: str
    payload: str
    outcome: Callable[[Answer, Args], Outcome]
    rewrites: bool = True
    contexts: Mapping[str, tuple[str, str, Reader | None]] = MappingProxyType({})


def same(names: Mapping[str, str], reader: Callable[[str], Reader]) -> dict[str, Any]:
    """Events whose payload is the file of that name and whose context is read alike."""
    return {canonical: (native, native, reader(native)) for canonical, native in names.items()}


BEGINS = {"session_start": "SessionStart", "before_prompt": "UserPromptSubmit"}

SEATS: dict[str, Seat] = {
    "claude-code": Seat(
        "claude-code",
        "PreToolUse",
        "PreToolUse.Bash",
        claude_code,
        contexts={
            **same(BEGINS, nested_or_text),
            "after_tool_execute": ("PostToolUse", "PostToolUse.Bash", nested("PostToolUse")),
        },
    ),
    "codex": Seat(
        "codex",
        "PreToolUse",
        "PreToolUse.Bash",
        codex,
        contexts={
            **same(BEGINS, lambda name: strictly(name, nested_or_text)),
            "after_tool_execute": ("PostToolUse", "PostToolUse.Bash", strictly("PostToolUse", nested)),
        },
    ),
    "gemini-cli": Seat(
        "gemini-cli",
        "BeforeTool",
        "BeforeTool.run_shell_command",
        gemini,
        contexts={
            "session_start": ("SessionStart", "SessionStart", nested("SessionStart")),
            "before_prompt": ("BeforeAgent", "BeforeAgent", nested("BeforeAgent")),
            "after_tool_execute": ("AfterTool", "AfterTool.run_shell_command", nested("AfterTool")),
        },
    ),
    "cursor": Seat(
        "cursor",
        "preToolUse",
        "preToolUse",
        cursor,
        contexts={
            "session_start": ("sessionStart", "sessionStart", flat("additional_context")),
            "before_prompt": ("beforeSubmitPrompt", "beforeSubmitPrompt", None),
            "after_tool_execute": ("postToolUse", "postToolUse", flat("additional_context")),
        },
    ),
    "cursor-shell": Seat(
        "cursor", "beforeShellExecution", "beforeShellExecution", cursor_shell, rewrites=False
    ),
    "copilot-cli": Seat(
        "copilot-cli",
        "preToolUse",
        "preToolUse.bash",
        copilot,
        contexts={
            "session_start": ("sessionStart", "sessionStart", flat("additionalContext")),
            "before_prompt": ("userPromptSubmitted", "userPromptSubmitted", flat("additionalContext")),
            "after_tool_execute": ("postToolUse", "postToolUse.bash", flat("additionalContext")),
        },
    ),
    "copilot-cli-pascal": Seat(
        "copilot-cli",
        "PreToolUse",
        "pascal/PreToolUse.Bash",
        copilot_pascal,
        contexts={
            "session_start": ("SessionStart", "pascal/SessionStart", flat("additionalContext")),
            "before_prompt": ("UserPromptSubmit", "pascal/UserPromptSubmit", flat("additionalContext")),
            "after_tool_execute": ("PostToolUse", "pascal/PostToolUse.Bash", flat("additionalContext")),
        },
    ),
    "vs-code-copilot": Seat(
        "vs-code-copilot",
        "PreToolUse",
        "PreToolUse",
        vs_code,
        contexts=same({**BEGINS, "after_tool_execute": "PostToolUse"}, nested),
    ),
    "factory-droid": Seat(
        "factory-droid",
        "PreToolUse",
        "PreToolUse.Execute",
        droid,
        contexts={
            **same(BEGINS, nested_or_text),
            "after_tool_execute": ("PostToolUse", "PostToolUse.Execute", nested("PostToolUse")),
        },
    ),
    "augment": Seat(
        "augment",
        "PreToolUse",
        "PreToolUse.launch-process",
        augment,
        contexts={
            "session_start": ("SessionStart", "SessionStart", nested("SessionStart")),
            "before_prompt": ("PromptSubmit", "PromptSubmit", None),
            "after_tool_execute": ("PostToolUse", "PostToolUse.launch-process", nested("PostToolUse")),
        },
    ),
    "qwen-code": Seat(
        "qwen-code",
        "PreToolUse",
        "PreToolUse.run_shell_command",
        qwen,
        rewrites=False,
        contexts={
            **same(BEGINS, nested_or_text),
            "after_tool_execute": ("PostToolUse", "PostToolUse.run_shell_command", nested("PostToolUse")),
        },
    ),
    "kimi-cli": Seat(
        "kimi-cli",
        "PreToolUse",
        "PreToolUse.Shell",
        kimi,
        rewrites=False,
        contexts={
            "session_start": ("SessionStart", "SessionStart", None),
            "before_prompt": ("UserPromptSubmit", "UserPromptSubmit", None),
            "after_tool_execute": ("PostToolUse", "PostToolUse.Shell", None),
        },
    ),
    "kimi-code": Seat(
        "kimi-cli",
        "PreToolUse",
        "kimi-code/PreToolUse.Bash",
        kimi,
        rewrites=False,
        contexts={
            "session_start": ("SessionStart", "kimi-code/SessionStart", None),
            "before_prompt": ("UserPromptSubmit", "kimi-code/UserPromptSubmit", kimi_code),
            "after_tool_execute": ("PostToolUse", "kimi-code/PostToolUse.Bash", None),
        },
    ),
    "mistral-vibe": Seat(
        "mistral-vibe",
        "pre_tool",
        "pre_tool.file_system.bash",
        vibe,
        contexts={"after_tool_execute": ("post_tool", "post_tool.file_system.bash", appended)},
    ),
    "mistral-vibe-lax": Seat("mistral-vibe", "pre_tool", "pre_tool.file_system.bash", vibe_lax),
    "kiro": Seat(
        "kiro",
        "preToolUse",
        "preToolUse",
        stderr_with_2,
        rewrites=False,
        contexts={
            "session_start": ("agentSpawn", "agentSpawn", raw),
            "before_prompt": ("userPromptSubmit", "userPromptSubmit", raw),
            "after_tool_execute": ("postToolUse", "postToolUse", None),
        },
    ),
    "kiro-v1": Seat(
        "kiro",
        "PreToolUse",
        "PreToolUse",
        kiro_v1,
        rewrites=False,
        contexts={
            canonical: (native, native, raw)
            for canonical, native in {**BEGINS, "after_tool_execute": "PostToolUse"}.items()
        },
    ),
    "windsurf": Seat(
        "windsurf",
        "pre_run_command",
        "pre_run_command",
        stderr_with_2,
        rewrites=False,
        contexts={
            "before_prompt": ("pre_user_prompt", "pre_user_prompt", None),
            "after_tool_execute": ("post_run_command", "post_run_command", None),
        },
    ),
    "cline": Seat(
        "cline",
        "PreToolUse",
        "PreToolUse",
        cline,
        contexts={
            "session_start": ("TaskStart", "TaskStart", None),
            "after_tool_execute": ("PostToolUse", "PostToolUse", flat("contextModification")),
        },
    ),
    "cline-extension": Seat(
        "cline",
        "PreToolUse",
        "extension.PreToolUse",
        cline_extension,
        rewrites=False,
        contexts={
            "after_tool_execute": ("PostToolUse", "extension.PostToolUse", flat("contextModification"))
        },
    ),
    "opencode": Seat(
        "opencode",
        "tool.execute.before",
        "tool.execute.before",
        opencode,
        contexts={
            "session_start": ("event.session.created", "event.session.created", flat("context")),
            "before_prompt": ("chat.message", "chat.message", flat("context")),
            "after_tool_execute": ("tool.execute.after", "tool.execute.after", flat("context")),
        },
    ),
    "pi": Seat(
        "pi",
        "tool_call",
        "tool_call",
        pi,
        contexts={
            "session_start": ("session_start", "session_start", flat("context")),
            "before_prompt": ("input", "input", flat("context")),
            "after_tool_execute": ("tool_result", "tool_result", flat("context")),
        },
    ),
}


def payload_of(agent: str, native: str, name: str, command: str, project: Path) -> bytes:
    """What the agent sends: a captured payload, or a documented one, with this command and project."""
    captured = agent_data.payload(f"{agent}/{name}.json")
    tree = (
        json.loads(captured.read_text("utf-8")) if captured.exists() else agent_data.DOCUMENTED[agent][name]
    )
    if agent == "opencode":
        # The callback's arguments are captured; this is what the generated plugin adds.
        tree = {"hook": native, **tree, "directory": PROJECT}
    return json.dumps(tree).replace(COMMAND, command).replace(PROJECT, str(project)).encode()


PLACES = {
    "copilot-cli": "toolArgs",
    "opencode": "output.args",
    "pi": "input",
    "windsurf": "tool_info",
    "cline": "tool_call.input",
}


def args_of(seat: Seat, payload: bytes) -> Args:
    """The tool's input as the agent has it."""
    tree = json.loads(payload)
    if seat.native == "beforeShellExecution":
        return {"command": tree["command"]}
    if seat.payload == "extension.PreToolUse":
        return tree["preToolUse"]["parameters"]
    place = "tool_input" if "tool_input" in tree else PLACES[seat.agent]
    for key in place.split("."):
        tree = tree[key]
    return tree
