"""The hash by which Codex knows a hook that was trusted.

SHA-256 of compact JSON with sorted keys: the event, the matcher and the handler with its defaults filled in
(codex-rs/hooks/src/engine/discovery.rs, August 2026; the same as `currentHash` of 0.166.0).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

# Seconds: what a handler has without a timeout, and what SessionEnd has with the most it may.
DEFAULT, ENDING, LONGEST_ENDING = 600, 1, 3
CONTEXT_LIMIT = 2500
# Events that have no matcher, whatever is written.
UNMATCHED = ("user_prompt_submit", "stop")


def fingerprint(event: str, group: Mapping[str, Any], handler: Mapping[str, Any]) -> str:
    """The hash of a handler of an event, in snake case."""
    timeout = handler.get("timeout")
    seconds = timeout if isinstance(timeout, int) else ENDING if event == "session_end" else DEFAULT
    seconds = max(1, min(seconds, LONGEST_ENDING) if event == "session_end" else seconds)
    normal: dict[str, Any] = {
        "type": "command",
        "command": handler.get("command", ""),
        "timeout": seconds,
        "async": bool(handler.get("async", False)),
    }
    if isinstance(handler.get("statusMessage"), str):
        normal["statusMessage"] = handler["statusMessage"]
    if handler.get("additionalContextLimit", CONTEXT_LIMIT) != CONTEXT_LIMIT:
        normal["additionalContextLimit"] = handler["additionalContextLimit"]
    identity: dict[str, Any] = {"event_name": event, "hooks": [normal]}
    if isinstance(group.get("matcher"), str) and event not in UNMATCHED:
        identity["matcher"] = group["matcher"]
    text = json.dumps(identity, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
