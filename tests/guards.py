"""One guard per dialect as its own documentation tells people to write it; no table of ours is used here.

Each is a real program in `agents/*/guard.py`. It refuses a payload that is not its dialect's own (exit code
1, a failure), lets `ls` pass as its documentation lets things pass, and denies, or with `rewrite` replaces,
`rm -rf`.
"""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

from tests import agent_data
from tests.guarding import CONTEXT, DANGEROUS, HARMLESS, KEPT, PRELUDE, REASON, Guard

__all__ = ["CONTEXT", "DANGEROUS", "GUARDS", "HARMLESS", "KEPT", "OTHER_GUARDS", "PRELUDE", "REASON", "Guard"]

GUARDS: dict[str, Guard] = {dialect: module.GUARD for dialect, module in agent_data.load("guard").items()}
# Other events and protocols that an agent's own hooks can be written for.
OTHER_GUARDS: dict[tuple[str, str], str] = {
    (dialect, event): program
    for dialect, module in agent_data.load("guard").items()
    for event, program in getattr(module, "OTHERS", {}).items()
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
