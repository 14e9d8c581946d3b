"""Which capabilities a hook uses, each with the evidence: a field, a declaration, the script's text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from hookport.model.events import split_native
from hookport.model.hooks import CAPABILITIES, Handler, Hook

# Words in a script that show which features its answers use, from the answers of the formats and agents.
REWRITE_WORDS = ("updated_input", "updatedInput", "modifiedArgs", "overrideInput")
OUTPUT_WORDS = (
    "hookSpecificOutput",
    "permissionDecision",
    "additionalContext",
    "additional_context",
    "systemMessage",
    "system_message",
    "followup_message",
    "suppress_output",
    "suppressOutput",
    '"decision"',
    '"permission"',
    '"context"',
    "contextModification",
)

# Events whose answer may contain a new input for the tool.
REWRITABLE = ("before_tool_execute", "permission_request")

# Exit code 2 in a shell, in Python and in JavaScript.
EXITS = re.compile(r"exit\D{0,3}2\b|SystemExit\(2")


# For each command, the texts of its scripts, by name.
Scripts = Mapping[str, Mapping[str, str]]


def find_scripts(handler: Handler, scripts: Scripts) -> dict[str, str]:
    """The scripts that a handler runs on any system."""
    texts: dict[str, str] = {}
    for command in (handler.command, *handler.platform.values()):
        texts.update(scripts.get(command, {}))
    return texts


def infer(hook: Hook, scripts: Scripts) -> dict[str, str]:
    """The capabilities a hook uses, each with the evidence, the best first."""
    used: dict[str, str] = {}
    for capability, evidence in (
        *_read_named(hook),
        *_read_fields(hook.handler),
        *_read_scripts(hook, scripts),
    ):
        used.setdefault(capability, evidence)
    if hook.blocking and hook.handler.type == "command":
        used.setdefault("structured_output", "a blocking hook may answer in JSON")
    return used


def _read_named(hook: Hook) -> Iterator[tuple[str, str]]:
    """The capabilities that the hook's author names."""
    for capability in CAPABILITIES:
        if capability in hook.degradation:
            yield capability, "its degradation names it"
        elif capability in hook.capabilities:
            yield capability, "its capabilities name it"


def _read_fields(handler: Handler) -> Iterator[tuple[str, str]]:
    """The capabilities that its handler's fields show."""
    if handler.type in ("prompt", "agent"):
        yield "llm_evaluated", "a model decides"
    if handler.type == "http":
        yield "http_handler", "its handler is a URL"
    if handler.is_async:
        yield "async_execution", "async is true"
    if handler.platform:
        yield "platform_commands", "it has commands per platform"
    if handler.env:
        yield "custom_env", "it sets environment variables"
    if handler.cwd:
        yield "configurable_cwd", "it sets a working directory"


def _read_scripts(hook: Hook, scripts: Scripts) -> Iterator[tuple[str, str]]:
    """The capabilities that its scripts' output shows."""
    read = {"input_rewrite": REWRITE_WORDS, "structured_output": OUTPUT_WORDS}
    if hook.event not in REWRITABLE and not split_native(hook.event):
        # One script may serve several events; answers for the others do not count.
        del read["input_rewrite"]
    for script, text in find_scripts(hook.handler, scripts).items():
        for capability, words in read.items():
            word = next((word for word in words if word in text), None)
            if word:
                yield capability, f"{script} contains {word.strip(chr(34))}"


def find_deny_forms(text: str) -> set[str]:
    """The forms of a deny that a script prints: `nested` and `flat` permissionDecision, `decision`, …"""
    forms = set()
    if "permissionDecision" in text:
        forms.add("nested" if "hookSpecificOutput" in text else "flat")
    for form in ("decision", "permission", "cancel"):
        if re.search(rf"""(?<![A-Za-z])["']?{form}\\?["']?\s*[:=]""", text):
            forms.add(form)
    return forms


def denies(text: str) -> bool:
    """Whether a script denies, by its exit code, by an answer or by the SDK."""
    return bool(EXITS.search(text) or find_deny_forms(text) or re.search(r"\bdeny\(", text))


def find_answer_forms(hook: Hook, scripts: Scripts) -> set[str]:
    """The forms of a guard's deny, if it denies only by printing: no exit code 2 in a script."""
    if not hook.blocking or hook.handler.type != "command":
        return set()
    texts = list(find_scripts(hook.handler, scripts).values())
    if not texts or any(map(EXITS.search, texts)):
        return set()
    return set().union(*map(find_deny_forms, texts))
