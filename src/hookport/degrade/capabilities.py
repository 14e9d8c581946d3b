"""Which capabilities a hook uses, each with the evidence: a field, a word of its author, or its script's text."""

from __future__ import annotations

import re
from collections.abc import Mapping

from hookport.model.hooks import CAPABILITIES, Hook


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


def infer(hook: Hook, scripts: Mapping[str, str]) -> dict[str, str]:
    """The capabilities a hook uses, each with the evidence."""
    handler = hook.handler
    used: dict[str, str] = {}
    for capability in CAPABILITIES:
        if capability in hook.degradation:
            used[capability] = "its degradation names it"
        elif capability in hook.capabilities:
            used[capability] = "its capabilities name it"
    if handler.type in ("prompt", "agent"):
        used.setdefault("llm_evaluated", f"its handler is a {handler.type}")
    if handler.type == "http":
        used.setdefault("http_handler", "its handler is a URL")
    if handler.is_async:
        used.setdefault("async_execution", "async is true")
    if handler.platform:
        used.setdefault("platform_commands", "it has commands per platform")
    if handler.env:
        used.setdefault("custom_env", "it sets environment variables")
    if handler.cwd:
        used.setdefault("configurable_cwd", "it sets a working directory")
    for script, text in scripts.items():
        if handler.command and script in handler.command:
            for capability, words in (("input_rewrite", REWRITE_WORDS), ("structured_output", OUTPUT_WORDS)):
                word = next((word for word in words if word in text), None)
                if word:
                    used.setdefault(capability, f"{script} says {word.strip(chr(34))}")
    if hook.blocking and handler.type == "command":
        used.setdefault("structured_output", "a blocking hook may answer in JSON")
    return used


def deny_forms(text: str) -> set[str]:
    """The forms of a deny that a script prints: `nested` and `flat` permissionDecision, `decision`, …"""
    forms = set()
    if "permissionDecision" in text:
        forms.add("nested" if "hookSpecificOutput" in text else "flat")
    for form in ("decision", "permission", "cancel"):
        if re.search(rf"""(?<![A-Za-z])["']?{form}\\?["']?\s*[:=]""", text):
            forms.add(form)
    return forms


def denies_by_answer(hook: Hook, scripts: Mapping[str, str]) -> set[str]:
    """The forms in which a guard denies, if printing is the only way it does: no exit code 2 in its script."""
    if not hook.blocking or hook.handler.type != "command":
        return set()
    texts = [text for script, text in scripts.items() if script in hook.handler.command]
    if not texts or any(re.search(r"exit\D{0,3}2\b|SystemExit\(2", text) for text in texts):
        return set()
    return set().union(*map(deny_forms, texts))
