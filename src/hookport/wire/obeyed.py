"""How an agent interprets an answer that it reads itself, by its measured rules.

`answers.read_answer` is lenient, so that the bridge never misses an intended deny. This is the opposite: an
answer counts here only if the agent was measured, or is documented, to obey it.
"""

from __future__ import annotations

from hookport.model.json_text import loads
from hookport.model.runs import Decision
from hookport.wire.answers import find_verdict, read_decision, read_failure
from hookport.wire.spellings import get
from hookport.wire.table import find_table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from hookport.base.tree import Tree
    from hookport.model.runs import RunResult
    from hookport.wire.table import Wire

NESTED, NAME = "hookSpecificOutput", "hookEventName"
KINDS: dict[str, tuple[type, str]] = {
    "text": (str, "a text"),
    "flag": (bool, "true or false"),
    "object": (dict, "an object"),
}

# Keys of an obey table beside those of a read table:
#   wins      over a denying exit code: `json` any printed answer, `verdict` one that has a verdict
#   speaks    what a denying exit code needs beside it: `stderr`, or `any` text
#   json      as in a read table, and `but 2`: with every exit code but 2, with which stderr is read
#   named     `all`: nested output without the event's name drops the answer, `nested`: only itself;
#             `other`: itself, where it names another event
#   knows     the keys of an answer; any other key drops it
#   refuses   [(place, values)]: an answer that has one of them there is dropped; `*` is any value
#   typed     {place: kind}: a value of another kind there drops the answer, null too
#   nulls     `absent`: null at such a place is as nothing
#   wants     {verdict: places}: the verdict counts only with a text at one of them; `none` is an answer
#             without a verdict
#   rewrites  the verdict that another input counts with; without it any
#   marked    what a line starts with that holds the answer in the middle of other text


def decide_natively(
    wire: Wire, result: RunResult, *, native: str, canonical: str, closed: bool = False
) -> Decision:
    """The agent's decision from an answer without the bridge; `failure` is why it takes none.

    `closed`: the hook's entry makes a failure deny, if the agent has such a setting.
    """
    decision = _decide(wire, result, native, canonical)
    if closed and decision.failure and find_table(wire.obeys, native, canonical).get("closes"):
        return decision.replace(verdict="deny", reason=decision.reason or decision.failure, failure="")
    return decision


def _decide(wire: Wire, result: RunResult, native: str, canonical: str) -> Decision:
    code = result.exit_code
    if result.outcome != "completed" or code is None:
        return read_failure(result)
    table = find_table(wire.obeys, native, canonical)
    errors = result.stderr.strip()
    verdict = find_verdict(table, code)
    needs = table.get("speaks", "")
    is_mute = verdict == "deny" and needs and not (errors or (needs == "any" and result.stdout.strip()))
    if is_mute:
        verdict = ""
    printed = _find_printed(table, result, code)
    decided = None if printed is None else _decide_json(table, printed, wire.said.get(native, native))
    wins = table.get("wins") == "json" or (
        table.get("wins") == "verdict" and decided is not None and decided.verdict != "none"
    )
    if verdict == "deny" and (decided is None or not wins):
        reason = errors or (decided.reason if decided else "") or result.stdout.strip()[:2000]
        ends = str(code) in table.get("ends", ())
        return Decision("deny", reason, carry_on=not ends)
    if decided is not None:
        return decided
    if verdict in ("allow", "none"):
        return Decision(verdict)  # type: ignore[arg-type]
    if code != 0:
        mute = f" without text on {'stdout or stderr' if needs == 'any' else 'stderr'}" if is_mute else ""
        return Decision(failure=f"exit code {code}{mute}", reason=errors)
    return _decide_text(table, result.stdout.strip())


def _decide_text(table: Mapping[str, Tree], text: str) -> Decision:
    """The decision of plain text; text that contains an object was meant as an answer."""
    if not text:
        return Decision()
    meaning = table.get("text", "ignored")
    if meaning == "context":
        return Decision(context=text)
    if meaning == "failure" or ("{" in text and table.get("json") != "none"):
        return Decision(failure="stdout is not one JSON object")
    return Decision(system_message=text) if meaning == "message" else Decision()


def _find_printed(table: Mapping[str, Tree], result: RunResult, code: int) -> Tree:
    """The object that the agent reads as the answer."""
    rule = table.get("json", "zero")
    if rule == "none" or (rule == "zero" and code != 0):
        return None
    streams = [] if rule == "but 2" and code == 2 else [result.stdout]
    streams += [result.stderr] if table.get("stderr") else []
    for text in streams:
        if text.strip():
            return _parse_object(text, table.get("marked", ""))
    return None


def _parse_object(text: str, marked: str) -> Tree:
    lines = [line.removeprefix(marked) for line in text.splitlines() if marked and line.startswith(marked)]
    for text_part in [*lines[-1:], text]:
        try:
            tree = loads(text_part)
        except (ValueError, RecursionError):
            continue
        if isinstance(tree, dict):
            return tree
    return None


def _decide_json(table: Mapping[str, Tree], tree: dict[str, Tree], event: str) -> Decision:
    if fault := _find_fault(table, tree):
        return Decision(failure=fault)
    nested, rule = tree.get(NESTED), table.get("named", "")
    reason = ""
    if rule and isinstance(nested, dict) and nested.get(NAME) != event:
        if NAME not in nested and rule != "other":
            reason = f"'{NESTED}' has no '{NAME}'"
        elif NAME in nested:
            reason = f"'{NAME}' is '{nested[NAME]}' instead of '{event}'"
        if reason and rule == "all":
            return Decision(failure=reason)
        tree = {key: value for key, value in tree.items() if key != NESTED or not reason}
    decision = read_decision(table, tree, lenient=False)
    reason_places = table.get("wants", {}).get(decision.verdict)
    if reason_places and not any(
        isinstance(text := get(tree, place), str) and text.strip() for place in reason_places
    ):
        lacks = f"a {decision.verdict} without a reason" if decision.verdict != "none" else "such an object"
        return Decision(failure=f"{lacks} does not count")
    needs = table.get("rewrites")
    if decision.updated_input is not None and needs and decision.verdict != needs:
        return Decision(failure=f"a rewrite counts with '{needs}' only")
    return decision.replace(failure=decision.failure or (reason if decision == Decision() else ""))


def _find_fault(table: Mapping[str, Tree], tree: dict[str, Tree]) -> str:
    """Explain why the agent drops the whole answer, whatever its content."""
    keys = table.get("knows")
    if keys is not None and (odd := [key for key in tree if key not in keys]):
        return f"it does not accept the key '{odd[0]}', and drops an answer with it"
    for place, values in table.get("refuses", ()):
        value = get(tree, place)
        if value is not None and ("*" in values or value in values):
            return f"it refuses '{place}' here, and drops an answer with it"
    return _find_mistyped(table, tree)


def _find_mistyped(table: Mapping[str, Tree], tree: dict[str, Tree]) -> str:
    """The problem of the first value with the wrong type."""
    for place, word in table.get("typed", {}).items():
        path, _, key = place.rpartition(".")
        around = get(tree, path)
        if not isinstance(around, dict) or key not in around:
            continue
        kind, words = KINDS[word]
        value = around[key]
        if not isinstance(value, kind) and (value is not None or table.get("nulls") != "absent"):
            return f"'{key}' is not {words}"
    return ""


def merge_natively(wire: Wire, decisions: list[Decision], strictest: Decision) -> Decision:
    """Merge the answers of several hooks as the agent does, in the order of its files."""
    decided = [decision for decision in decisions if decision.verdict != "none"]
    if wire.several not in ("first", "last") or not decided:
        return strictest
    chosen = decided[0 if wire.several == "first" else -1]
    return strictest.replace(verdict=chosen.verdict, reason=chosen.reason)
