"""Reads and writes answers by a wire's tables: a script's exit code and output, an agent's answer.

A decision that an agent cannot express becomes stricter or is reported as lost; it never becomes weaker.
"""

from __future__ import annotations

from hookport.model.json_text import dumps, loads
from hookport.model.runs import BLOCK, KEPT_BYTES, Answer, Decision
from hookport.wire.events import read_result_text
from hookport.wire.spellings import fill, get, has_mark, merge_trees, put
from hookport.wire.table import find_table
from hookport.wire.texts import MOST_CONTEXT, MOST_MESSAGE, MOST_REASON, fit, is_encodable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from hookport.base.tree import Tree
    from hookport.model.runs import Event, RunResult
    from hookport.wire.table import Wire

# The prefix of a timeout's failure, which may mean something else than other failures.
TIMED_OUT = "timed out"
# The prefix of the failure of a hook that never started, through no fault of its own.
NOT_STARTED = "not started"
# The reason of a deny without one, because some agents ignore a deny without a reason.
NO_REASON = "a hook denied this without giving a reason"

# How much is read, in characters, to find the objects in text that is not JSON as a whole: each brace may be
# the start of one. The decoder does not report how far it read a tree that is nested too deeply.
EFFORT, DEEP = 16 << 20, 10_000
# A character cut in two is dropped.
LONGEST_CUT = 3

# Keys of a read table, all of them optional:
#   verdicts  [(place, {value: verdict})], the first with a value decides; `*` is any other text,
#             and a value whose verdict is None is skipped, so that the next place decides
#   reason, context, input, message, result   places, the first text or object that is there
#   halt      places whose `false` ends the agent's loop; stop: places whose `true`, or any text, does
#   suppress  places whose `true` hides the output
#   exits     {exit code: verdict}; `*` for every other code but 0 and 1, `+` for every other code but 0
#   json      `zero`: JSON is read with exit code 0 only; `any`: with every exit code; `none`: it is text
#   wins      `exit`: an exit code's deny wins over what is printed; `json`: the other way round
#   text      what plain text on stdout is: `context`, `message`, `ignored` or `failure`
#   stderr    JSON is read from stderr too


def read_answer(
    wire: Wire, result: RunResult, *, native: str, canonical: str, blocking: bool = True
) -> Decision:
    """The decision of a script of this wire."""
    code = result.exit_code
    if result.outcome != "completed" or code is None:
        return read_failure(result)
    table = {**find_table(wire.reads, native, canonical), "more": list_extras(wire, native, canonical)}
    verdict = find_verdict(table, code)
    if verdict == "deny" and code == BLOCK and not blocking:
        return Decision(
            failure=f"exit code {code} of a hook that may not block", reason=result.stderr.strip()
        )
    decided = None
    if (
        table
        and table.get("json") != "none"
        and (code == 0 or table.get("json") == "any" or verdict == "deny")
    ):
        decided = _read_json(table, result)
    if verdict == "deny" and (decided is None or table.get("wins") != "json" or decided.verdict == "none"):
        reason = result.stderr.strip()
        if decided is not None and decided.reason and (not reason or decided.verdict == "deny"):
            reason = decided.reason
        return (decided or Decision()).replace(
            verdict="deny", reason=reason or result.stdout.strip()[:2000], failure=""
        )
    if verdict in ("allow", "none") and decided is None:
        return Decision(verdict)  # type: ignore[arg-type]
    if code != 0 and (decided is None or (decided.verdict not in ("deny", "ask") and decided.carry_on)):
        return Decision(failure=f"exit code {code}", reason=result.stderr.strip())
    if (decided is None or decided.verdict != "deny") and _is_cut(result):
        return Decision(failure="printed more than hookport reads, so its answer may be cut")
    if decided is not None:
        text = read_result_text(wire, decided.replaced_result)
        return decided if text is None else decided.replace(replaced_result=text)
    return _read_text(table, result.stdout.strip())


def list_extras(wire: Wire, native: str, canonical: str) -> dict[str, str]:
    """The extra fields of an answer on an event, outside all pieces: word to place."""
    return {
        word.partition("@")[0]: place for word, place in find_table(wire.extras, native, canonical).items()
    }


def read_failure(result: RunResult) -> Decision:
    """The decision of a process that did not exit itself: none, with the reason."""
    killed = f"killed by signal {result.signal}" if result.signal else "no exit status"
    words = {"signal": killed, "timeout": TIMED_OUT}
    outcome = words.get(result.outcome, result.outcome.replace("_", " "))
    return Decision(failure=f"{outcome}: {result.detail}" if result.detail else outcome)


def find_verdict(table: Mapping[str, Tree], code: int) -> str:
    """The verdict of an exit code alone; empty if it has none."""
    exits = table.get("exits", {})
    return exits.get(str(code)) or (code != 0 and exits.get("+")) or (code > 1 and exits.get("*")) or ""


def _is_cut(result: RunResult) -> bool:
    return result.dropped > 0 and len(result.stdout.encode("utf-8", "replace")) >= KEPT_BYTES - LONGEST_CUT


def _read_text(table: Mapping[str, Tree], text: str) -> Decision:
    """The decision of output without JSON."""
    if not text:
        return Decision()
    meanings = {
        "context": Decision(context=text),
        "message": Decision(system_message=text),
        "failure": Decision(failure="stdout is not a JSON object"),
    }
    meaning = table.get("text", "ignored")
    if meaning == "ignored" and table.get("verdicts") and text.startswith("{"):
        # A truncated answer may have been a deny; where text is ignored it can be nothing else.
        meaning = "failure"
    return meanings.get(meaning, Decision())


def _read_json(table: Mapping[str, Tree], result: RunResult) -> Decision | None:
    """The decision of printed JSON; among several objects or other text, the strictest one."""
    trees, noise, is_all = find_objects(result.stdout)
    if not trees and table.get("stderr"):
        trees, noise, is_all = find_objects(result.stderr)
    if len(trees) > 1:
        noise = noise or "more than one JSON object"
    if noise:
        places = _list_places(table)
        trees = [tree for tree in trees if any(get(tree, place) is not None for place in places)]
    decisions = [read_decision(table, tree).replace(noise=noise) for tree in trees]
    if not is_all:
        decisions.append(Decision(failure="printed too many braces to find an answer among them"))
    return max(decisions, key=_rank_strictness, default=None)


def _rank_strictness(decision: Decision) -> int:
    """Rank decisions; a failure is above an allow, because policy may make it a deny."""
    return 2 if decision.failure else ("none", "allow", "", "ask", "deny").index(decision.verdict)


def read_decision(table: Mapping[str, Tree], tree: Tree, *, lenient: bool = True) -> Decision:
    """The decision of a JSON object; an agent itself ignores a rewrite that is not an object."""
    verdict = "none"
    for place, values in table.get("verdicts", ()):
        word = get(tree, place)
        if word is None:
            continue
        chosen = values.get(str(word), values.get("*", "")) if isinstance(word, (str, bool)) else ""
        if chosen is None:
            continue
        verdict = chosen
        if not verdict:
            return Decision(failure=f"unknown {place.rpartition('.')[2]} {word!r}")
        break
    ends = any(get(tree, place) is False for place in table.get("halt", ())) or any(
        value is True or isinstance(value, str) for value in _find_values(tree, table, "stop")
    )
    inputs = _find_values(tree, table, "input")
    updated = next((value for value in inputs if isinstance(value, dict)), None)
    if inputs and updated is None and lenient and verdict not in ("ask", "deny"):
        # Otherwise the original input would run.
        return Decision(failure="its rewrite of the input is not an object")
    reason, message = _find_text(tree, table, "reason"), _find_text(tree, table, "message")
    return Decision(
        verdict=verdict,  # type: ignore[arg-type]
        reason=reason,
        context=_find_text(tree, table, "context"),
        carry_on=not ends,
        updated_input=updated,
        suppress_output=any(value is True for value in _find_values(tree, table, "suppress")),
        # An ask repeats its reason as the message where the user sees only the message.
        system_message="" if verdict == "ask" and message == reason else message,
        replaced_result=next(iter(_find_values(tree, table, "result")), None),
        more={
            word: value
            for word, place in table.get("more", {}).items()
            if (value := get(tree, place)) is not None
        },
    )


def _list_places(table: Mapping[str, Tree]) -> list[str]:
    lists = ("reason", "context", "halt", "stop", "input", "message", "suppress", "result")
    return (
        [place for place, _ in table.get("verdicts", ())]
        + [place for key in lists for place in table.get(key, ())]
        + list(table.get("more", {}).values())
    )


def _find_values(tree: Tree, table: Mapping[str, Tree], key: str) -> list[Tree]:
    return [value for place in table.get(key, ()) if (value := get(tree, place)) is not None]


def _find_text(tree: Tree, table: Mapping[str, Tree], key: str) -> str:
    return next((text for text in _find_values(tree, table, key) if isinstance(text, str) and text), "")


def find_objects(text: str) -> tuple[list[Tree], str, bool]:
    """The JSON objects in a text, the text around them, and whether all of it was scanned."""
    text = text.strip().removeprefix("\ufeff").strip()
    if "{" not in text:
        return [], "", True
    try:
        tree = loads(text)
    except (ValueError, RecursionError):
        pass
    else:
        return ([tree] if isinstance(tree, dict) else []), "", True
    import json

    decoder = json.JSONDecoder()
    trees: list[Tree] = []
    noise: list[str] = []
    effort = EFFORT
    end, start = 0, text.find("{")
    while start >= 0 and effort > 0:
        try:
            value, after = decoder.raw_decode(text, start)
        except (json.JSONDecodeError, RecursionError) as error:
            effort -= error.pos - start if isinstance(error, json.JSONDecodeError) else DEEP
            start = text.find("{", start + 1)
            continue
        noise.append(text[end:start].strip())
        trees.append(value)
        end, start = after, text.find("{", after)
    noise.append(text[end:].strip())
    around = "\n".join(text for text in noise if text) if trees else ""
    return trees, around, start < 0


def write_answer(
    wire: Wire, event: Event, decision: Decision, *, changed: Tree = None
) -> tuple[Answer, list[str]]:
    """The answer for the agent, and what it could not express.

    `changed` is the rewritten input in the agent's own form, made from the decision by `events.write_input`.
    """
    table = find_table(_find_answers(wire, event), event.native, event.event)
    if isinstance(changed, str):  # no known agent accepts plain text as input
        table = {piece: shape for piece, shape in table.items() if piece != "rewrite"}
    sendable, lost = _make_stricter(table, decision, event.event)
    pieces: list[str] = [sendable.verdict] if sendable.verdict in table else []
    if sendable.updated_input is not None and sendable.verdict != "deny" and "rewrite" in table:
        pieces.append("rewrite")
    if not sendable.carry_on and "halt" in table:
        pieces.append("halt")
    is_alone = any(table[piece].get("alone") for piece in pieces)
    reason = sendable.reason
    for piece, value in (
        ("context", sendable.context or None),
        ("message", sendable.system_message or None),
        ("suppress", sendable.suppress_output or None),
        ("result", sendable.replaced_result),
    ):
        if value is None:
            continue
        if piece in table and (not is_alone or table[piece].get("beside")):
            pieces.append(piece)
        elif piece in ("context", "message") and "deny" in pieces:
            lost.append(f"{piece}: the reason contains it")
            reason = _join_lines(reason, str(value))
        else:
            lost.append(f"{piece}: {event.native or event.event} does not support it here")
    reason = fit(reason, MOST_REASON)
    more = _write_more(wire, event, sendable, lost, is_alone=is_alone)
    if "action" in sendable.more and more:
        pieces = [piece for piece in pieces if piece not in ("deny", "ask", "allow")]
    words = {
        "reason": reason if reason.strip() else NO_REASON if "deny" in pieces else None,
        "context": fit(sendable.context, MOST_CONTEXT),
        "input": sendable.updated_input if changed is None else changed,
        "changes": _find_changes(event, changed),
        "message": fit(sendable.system_message, MOST_MESSAGE),
        "result": sendable.replaced_result,
        "shaped": _shape_result(wire, event, sendable.replaced_result),
        "event": wire.said.get(event.native, event.native) or None,
    }
    chosen_pieces = [table[piece] for piece in pieces] + ([{"json": more}] if more else [])
    return _assemble(chosen_pieces or [table.get("none", {})], words), lost


def _write_more(wire: Wire, event: Event, sendable: Decision, lost: list[str], *, is_alone: bool) -> Tree:
    """The extra fields of an answer outside all pieces; unsupported fields are lost."""
    places = find_table(wire.extras, event.native, event.event)
    tree: Tree = {}
    for word, value in sendable.more.items():
        place = places.get(word) or places.get(f"{word}@{sendable.verdict}")
        if place is None or (is_alone and word != "action"):
            lost.append(f"{word}: {event.native or event.event} does not support it here")
            continue
        put(tree, place, value)
        if place.startswith("hookSpecificOutput."):
            put(tree, "hookSpecificOutput.hookEventName", "$event")
    return tree


def reaches(wire: Wire, event: Event, piece: str) -> bool:
    """Whether the user sees a `message`, or the reason of a `deny`, on an event."""
    pieces = find_table(_find_answers(wire, event), event.native, event.event)
    channel = "reason" if piece == "deny" else piece
    return piece in pieces and channel in find_table(wire.shows, event.native, event.event)


def takes_deny(wire: Wire, event: Event) -> bool:
    """Whether the event can be denied."""
    return "deny" in find_table(_find_answers(wire, event), event.native, event.event)


def _find_answers(wire: Wire, event: Event) -> Mapping[str, Tree]:
    return next(
        (answers for mark, answers in wire.answers_of.items() if has_mark(event.extra, mark)), wire.answers
    )


def _find_changes(event: Event, changed: Tree) -> Tree:
    """The changed keys of a rewritten input, for an agent that merges them into its own."""
    was = event.call.raw if event.call else None
    if not (isinstance(was, dict) and isinstance(changed, dict)):
        return changed
    return {key: value for key, value in changed.items() if key not in was or was[key] != value}


def _shape_result(wire: Wire, event: Event, result: Tree) -> Tree:
    """A replaced plain-text result in the form of the tool's own result."""
    template = wire.results.get(event.call.tool) if event.call else None
    return result if template is None or not isinstance(result, str) else fill(template, {"text": result})


def _make_stricter(table: Mapping[str, Tree], decision: Decision, event: str) -> tuple[Decision, list[str]]:
    """The decision with a deny instead of what the agent cannot express, and what was lost."""
    lost: list[str] = []
    if event in ("agent_stop", "subagent_stop") and not decision.carry_on and "halt" not in table:
        # A deny here would make the agent continue, which is the opposite.
        word = "continue" if decision.verdict in ("none", "allow") else "deny"
        return decision.replace(verdict="none", carry_on=True), [f"{word}: the agent ends here anyway"]
    verdict, reason, context = decision.verdict, decision.reason, decision.context
    if verdict == "ask" and "ask" not in table:
        lost.append("ask: a hook cannot ask here, so it is denied")
        verdict, reason = "deny", f"{reason or 'a hook asks for a person to decide'} (a hook cannot ask here)"
    needs = table["rewrite"].get("needs", verdict) if "rewrite" in table else ""
    if decision.updated_input is not None and verdict not in ("deny", needs):
        lost.append("rewrite: the agent would run the original input, so it is denied")
        verdict = "deny"
        reason = f"a hook's new input, which this agent cannot apply: {_dump_json(decision.updated_input)}"
    if not decision.carry_on and verdict != "deny" and table.get("halt", {"denies": True}).get("denies"):
        lost.append("continue: this event cannot end the agent, so the action is denied")
        verdict = "deny"
    elif not decision.carry_on and "halt" not in table:
        lost.append("continue: this event cannot end the agent")
    if verdict == "deny" and "deny" not in table:
        lost.append("deny: this event cannot be stopped")
        context = _join_lines(reason or NO_REASON, context)
    return decision.replace(verdict=verdict, reason=reason, context=context), lost


def _join_lines(*texts: str) -> str:
    return "\n".join(text for text in texts if text)


def _assemble(pieces: list[Mapping[str, Tree]], words: dict[str, Tree]) -> Answer:
    tree: Tree = None
    stdout, stderr, code = [], [], 0
    for piece in pieces:
        if "json" in piece:
            tree = merge_trees(tree or {}, fill(piece["json"], words))
        stdout += [str(fill(piece["stdout"], words))] if "stdout" in piece else []
        stderr += [str(fill(piece["stderr"], words))] if "stderr" in piece else []
        code = max(code, piece.get("exit", 0))
    if tree is not None:
        stdout = [_dump_json(tree)]
    return Answer("".join(f"{line}\n" for line in stdout), "".join(f"{line}\n" for line in stderr), code)


def _dump_json(tree: Tree) -> str:
    text = dumps(tree, ensure_ascii=False)
    # Half of a surrogate pair has no UTF-8, but JSON has an escape for it.
    return text if is_encodable(text) else dumps(tree)
