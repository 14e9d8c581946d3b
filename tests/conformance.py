"""What the Hook Interchange Format asks of an implementation, level by level, and the tests that hold it.

Levels and their contents are those of 1.0; the single rules behind them are spelled out where the public
draft 0.1 says more. A test names the rules it holds with `@pytest.mark.conforms("C1", …)`.
"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import NamedTuple


class Rule(NamedTuple):
    """One requirement."""

    id: str
    level: str
    text: str


RULES = (
    Rule("C1", "Core", "A manifest is read from JSON and from YAML into the same structure."),
    Rule(
        "C2",
        "Core",
        "`spec` must be `hooks/1.0` (`hooks/0.1` gets a finding); `hooks` must be a non-empty list.",
    ),
    Rule(
        "C3",
        "Core",
        "A hook without `event` or `handler`, or a command handler without `command`, is refused.",
    ),
    Rule(
        "C4", "Core", "Every field of the tables is read and written, with its default where it is left out."
    ),
    Rule("C5", "Core", "Unknown fields at any level are ignored, never a reason to refuse."),
    Rule("C6", "Core", "All six core events are read and written."),
    Rule("C7", "Core", "Exit code 0 is success; 1 and others are errors that do not block; 2 blocks."),
    Rule("C8", "Core", "Exit code 2 blocks only a hook that is `blocking`."),
    Rule(
        "C9",
        "Core",
        "A bare string matcher is a word of the tool vocabulary; an unknown one passes with a warning.",
    ),
    Rule("C10", "Core", "A matcher that is left out matches all tools."),
    Rule("C11", "Core", "Event names are translated between canonical and provider formats."),
    Rule("C12", "Core", "Tool names are translated between canonical and provider formats."),
    Rule("C13", "Core", "Hooks of one event keep their order."),
    Rule("E1", "Extended", "`pattern` matchers are read; what RE2 does not have is refused."),
    Rule("E2", "Extended", "`mcp` matchers are read and written in each provider's combined form."),
    Rule("E3", "Extended", "An array of matchers matches if any element does."),
    Rule(
        "E4",
        "Extended",
        "The output schema is read: decision, reason, continue, context and the advanced fields.",
    ),
    Rule("E5", "Extended", "Exit code 2 wins over a printed allow; a printed deny with exit code 0 blocks."),
    Rule(
        "E6", "Extended", "Exit code 0 with output that is not JSON is an error of the hook, not a decision."
    ),
    Rule("E7", "Extended", "All eight capabilities are inferred."),
    Rule("E8", "Extended", "Degradation strategies are applied, the author's first, then the safe default."),
    Rule(
        "E9", "Extended", "`block` writes a hook that blocks, instead of letting the action pass unprotected."
    ),
    Rule("E10", "Extended", "Extended events are read and written where the target has them."),
    Rule("E11", "Extended", "A blocking hook whose target only observes is reported."),
    Rule("E12", "Extended", "A hook that lands on an event after the fact is reported."),
    Rule("E13", "Extended", "Split events merge on decode and split on encode by matcher."),
    Rule("F1", "Full", "`provider_data` of a provider comes back when it is encoded for that provider."),
    Rule("F2", "Full", "`provider_data` of another provider is ignored."),
    Rule("F3", "Full", "What was encoded is decoded again and compared; a difference is an error."),
    Rule("F4", "Full", "All capabilities are supported on targets that have them."),
    Rule("F5", "Full", "Provider-exclusive events come back without loss."),
    Rule("F6", "Full", "Nothing is discarded silently: every change has a warning."),
)


def holders() -> dict[str, list[str]]:
    """The tests that name each rule, as `file::test`."""
    found: dict[str, list[str]] = {rule.id: [] for rule in RULES}
    folder = Path(__file__).parent
    for file in sorted(folder.glob("test_*.py")):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if not isinstance(node, ast.FunctionDef):
                continue
            for mark in node.decorator_list:
                if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "pytest.mark.conforms":
                    for argument in mark.args:
                        found[ast.literal_eval(argument)].append(f"{file.name}::{node.name}")
    return found
