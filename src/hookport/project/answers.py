"""Denies in a script's text that its own agent does not obey; in doubt, no finding.

The agent's own rule (`wires.obeyed`) judges an answer of the form in the text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from hookport import findings as f
from hookport.agents import find_event_specs, get, get_wire
from hookport.base.tree import Tree
from hookport.convert.checks import Reading, drop_repeated, list_entries
from hookport.convert.checks.literals import Literal, UnknownValue, find_objects
from hookport.convert.checks.scripts import find_command_folders
from hookport.convert.degrade.answers import find_foreign_fields
from hookport.convert.degrade.capabilities import EXITS, find_deny_forms
from hookport.findings import Finding
from hookport.model.hooks import Hook
from hookport.model.runs import Decision, RunResult
from hookport.project import sources
from hookport.shapes.entries import find_slots
from hookport.wire.obeyed import decide_natively
from hookport.wire.spellings import get as value_at
from hookport.wire.table import Wire, find_table

# A word that denies in an answer; without one the text may print only an allow.
DENIES = re.compile(r"""["'\\](deny|block)["'\\]""")
DECIDES = re.compile(r"""(?<![A-Za-z])decision\\?["']?\s*[:=]\s*\\?["'](\w+)""")
# Programs that may answer in a way that the text does not show.
UNCLEAR = re.compile(r"""hookport|["']continue|cancel\\?["']?\s*[:=]\s*[^tT\s]""")
# The place of an answer's verdict in any agent, and the values that deny or ask there.
VERDICTS = (
    *("hookSpecificOutput.permissionDecision", "hookSpecificOutput.decision.behavior"),
    *("permissionDecision", "decision", "permission"),
)
NO_WORDS = re.compile(
    r"den(?:y|ied)|block(?:ed)?|reject(?:ed)?|refused?|forbid(?:den)?|disallow(?:ed)?", re.IGNORECASE
)
ASKS_OR_DENIES = re.compile(rf"{NO_WORDS.pattern}|ask|cancel|continue|allow|approve", re.IGNORECASE)
NO_FLAGS = {"cancel": True, "block": True, "deny": True, "continue": False, "allow": False, "approved": False}
# A key of an answer that is set separately: a literal may not be the whole answer.
SET_LATER = re.compile(
    r"""(?:\.|\[\s*["'])(?:hookSpecificOutput|hookEventName|\w*[dD]ecision\w*|\w*[rR]eason)(?:["']\s*\])?\s*=[^=]"""
)
# An exit code within the lines after the answer; a text for `sys.exit` means 1.
ENDS = re.compile(
    r"""(?:exit|exitCode\s*=|SystemExit)[\s(]{0,2}(?P<code>\d+)\b|sys\.exit\(f?(?P<text>["'])"""
)
LINES_AFTER = 3
ON_STDERR = re.compile(r"[^\n{}]{0,40}(?:>&2|sys\.stderr|/dev/stderr)")
ONTO_STDERR = re.compile(r"(?:console\.error|stderr\.write)\([^\n]{0,60}$")
# Words of a refusal in a script's message.
REFUSALS = re.compile(r"block|den(?:y|ied)|forbid|not allowed|refus|reject|prohibit|disallow", re.IGNORECASE)
# A command that ends with `&` and keeps our output, and the same in Python.
IN_BACKGROUND = re.compile(
    r"^[^\n>#]*[^\s&|<>;(][ \t]*&[ \t]*(?:$|[)}])|Popen\((?:(?!stdout)[^()]|\([^()]*\))*\)", re.MULTILINE
)
WAITS = re.compile(r"\bwait\b|\.communicate\(|\.wait\(|^\s*exec\s+>", re.MULTILINE)
LEFT_BEHIND = "it waits for the hook's background process, and gives up at the timeout"
COMMENT = re.compile(r"^\s*(?:#|//).*$", re.MULTILINE)


def explain_disobedience(hook: Hook, root: Path, package: Path) -> str:
    """Explain why a hook's own agent lets pass what the hook denies; empty if it may not.

    `root` and `package` are the base folders of the paths in its command.
    """
    agent = get_wire(hook.dialect)
    written = find_slots(get(hook.dialect), hook) if hook.dialect else []
    specs = [spec for spec, _ in written if spec.blocks != "observe"]
    handler = hook.handler
    if not (agent.fires and agent.obeys and specs) or handler.type != "command" or handler.is_async:
        return ""
    text = COMMENT.sub("", _join_texts(hook, root, package))
    why = ""
    closed = hook.handler.on_failure in ("block", "closed")
    for spec in specs:
        denials = _find_denials(agent, hook.event, spec.native, text)
        if denials is None:
            return ""
        reasons: list[tuple[str, str]] = []
        for denial in denials:
            decision = decide_natively(
                agent, denial.result, native=spec.native, canonical=hook.event, closed=closed
            )
            holds = decision.verdict in ("deny", "ask") or (
                not decision.carry_on and spec.blocks != "prevent"
            )
            reasons.append((denial.form, "" if holds else decision.failure or _explain_unread_form(decision)))
        why = why or _find_first_fault(reasons)
        if reasons and not why and get(hook.dialect).awaits_children and leaves_process(text):
            why = LEFT_BEHIND
    return why


def leaves_process(text: str) -> bool:
    """Whether a script starts a process that keeps its output open, and does not wait for it."""
    return IN_BACKGROUND.search(text) is not None and not WAITS.search(text)


class Denial(NamedTuple):
    """One deny in a text: the answer, and its form; a script for several agents has several forms."""

    form: str
    result: RunResult


def _explain_unread_form(decision: Decision) -> str:
    if not decision.carry_on:
        return "it runs the action and stops afterwards"
    return "it ignores that form of an answer here"


def _find_first_fault(reasons: list[tuple[str, str]]) -> str:
    """Explain why the first denial does not hold that is not another agent's.

    If one form holds, the others may be for other agents; of one form all must hold.
    """
    held = {form for form, why in reasons if not why}
    return next((why for form, why in reasons if why and (not held or form in held)), "")


def _find_denials(agent: Wire, event: str, native: str, text: str) -> list[Denial] | None:
    """The denials in a text, None if it may deny in a way that it does not show."""
    literals = [] if SET_LATER.search(text) else list(_find_literal_denials(agent, event, native, text))
    rest = text
    for literal, _ in reversed(literals):
        rest = rest[: literal.start] + rest[literal.end :]
    if UNCLEAR.search(rest):
        return None
    denials = [denial for _, denial in literals]
    if not denials:
        denials = [Denial("text", result) for result in _write_answers(agent, native, text)]
    # The exit code after an answer is nothing by itself to an agent for which the answer counts.
    is_beaten = find_table(agent.obeys, native, event).get("wins") == "json" and any(
        denial.result.exit_code == 2 for _, denial in literals
    )
    if EXITS.search(rest) and not is_beaten:
        return [*denials, Denial("exit", RunResult("completed", 2, stderr="a reason"))]
    return denials or list(_find_other_exits(text))


def _find_literal_denials(
    agent: Wire, event: str, native: str, text: str
) -> Iterator[tuple[Literal, Denial]]:
    """The whole literals in a text that deny or ask."""
    if not ASKS_OR_DENIES.search(text):
        return
    kinds = find_table(agent.obeys, native, event).get("typed", {})
    event_name = agent.said.get(native, native)
    for literal in find_objects(text):
        form = _find_form(literal.tree)
        if not form or _is_part(form, literal, text) or _is_of_another_event(literal.tree, event_name, text):
            continue
        answer = json.dumps(_fill_in(literal.tree, kinds))
        code = _find_exit_code(text, literal.end)
        if ON_STDERR.match(text, literal.end) or ONTO_STDERR.search(text[: literal.start]):
            result = RunResult("completed", code, stderr=answer)
        else:
            result = RunResult("completed", code, answer, "a reason" if code == 2 else "")
        yield literal, Denial(form, result)


def _find_form(tree: dict[str, Tree]) -> str:
    """The place and the value by which an answer denies or asks; empty if it does not."""
    for place in VERDICTS:
        word = value_at(tree, place)
        if isinstance(word, str) and (NO_WORDS.fullmatch(word) or word == "ask"):
            return f"{place} {word}"
    for key, value in NO_FLAGS.items():
        if tree.get(key) is value:
            return f"{key} {value}"
    return ""


def _is_part(form: str, literal: Literal, text: str) -> bool:
    """Whether an object may become part of another object, which is printed."""
    around = text[: literal.start] + text[literal.end :]
    return form.startswith("permissionDecision") and "hookSpecificOutput" in around


def _is_of_another_event(tree: dict[str, Tree], event_name: str, text: str) -> bool:
    """Whether an answer is for another event, in a script that distinguishes events."""
    name = value_at(tree, "hookSpecificOutput.hookEventName")
    is_told_apart = "hook_event_name" in text or event_name in text
    return isinstance(name, str) and name != event_name and is_told_apart


def _fill_in(tree: Tree, kinds: Mapping[str, str], place: str = "") -> Tree:
    """An answer with values of the right kind for the script's placeholders."""
    if isinstance(tree, UnknownValue):
        return {"flag": True, "object": {}}.get(kinds.get(place, ""), "a reason")
    if isinstance(tree, dict):
        return {key: _fill_in(value, kinds, f"{place}.{key}".lstrip(".")) for key, value in tree.items()}
    return [_fill_in(value, {}) for value in tree] if isinstance(tree, list) else tree


def _find_exit_code(text: str, at: int) -> int:
    """The exit code of a script soon after a place in its text."""
    following = "\n".join(text[at : at + 600].split("\n")[: LINES_AFTER + 1])
    ending = ENDS.search(following)
    return int(ending["code"] or 1) % 256 if ending else 0


def _find_other_exits(text: str) -> Iterator[Denial]:
    """Exits with a code after refusing words, in a script that denies in no other way."""
    if find_deny_forms(text):
        return
    lines = text.split("\n")
    for number, line in enumerate(lines):
        ending = ENDS.search(line)
        around = "\n".join(lines[max(0, number - LINES_AFTER) : number + 1])
        if ending and ending["code"] not in ("0", "00") and REFUSALS.search(around):
            yield Denial("exit", RunResult("completed", int(ending["code"] or 1) % 256, stderr="a reason"))


def check_answers(reading: Reading, root: Path) -> list[Finding]:
    """Denies and fields in the answers of a source's hooks that their own agent does not obey."""
    findings = []
    for entry in list_entries(reading):
        folders = find_command_folders(entry.dialect, entry.place.file, root)
        if why := explain_disobedience(entry.hook, folders.project, folders.package):
            findings.append(entry.note(f.DenyNotObeyed, agent=entry.dialect.title, why=why))
        if fields := _find_unread_fields(entry.hook, folders.project, folders.package):
            findings.append(entry.note(f.AnswerFieldLost, fields=", ".join(fields), target=entry.dialect.id))
    return drop_repeated(reading, findings)


def _find_unread_fields(hook: Hook, root: Path, package: Path) -> list[str]:
    """The fields that a hook's text prints and that only other agents take on its event."""
    agent = get_wire(hook.dialect)
    natives = [spec.native for spec in find_event_specs(get(hook.dialect), hook.event)]
    if not agent.fires or hook.handler.type != "command":
        return []
    return find_foreign_fields(agent, hook.event, natives, _join_texts(hook, root, package))


def _join_texts(hook: Hook, root: Path, package: Path) -> str:
    """The text of a hook: its commands, and the scripts that they run."""
    scripts = sources.read_scripts(root, (hook,), get(hook.dialect), package)
    texts = [text for texts in scripts.values() for text in texts.values()]
    return "\n".join((hook.handler.command, *hook.handler.platform.values(), *texts))


def _write_answers(agent: Wire, native: str, text: str) -> Iterator[RunResult]:
    """One answer of each form in which the text denies."""
    if DENIES.search(text) or "cancel" in text:
        for tree in _write_answer_trees(agent.said.get(native, native), text):
            yield RunResult("completed", 0, json.dumps(tree))


def _write_answer_trees(event: str, text: str) -> Iterator[dict[str, object]]:
    forms = find_deny_forms(text)
    verdict = {"permissionDecision": "deny", "permissionDecisionReason": "a reason"}
    name = {"hookEventName": event} if "hookEventName" in text else {}
    decides = [word for word in ("deny", "block") if word in DECIDES.findall(text)]
    reason = {"reason": "a reason", "user_message": "a reason", "errorMessage": "a reason"}
    if "nested" in forms:
        yield {"hookSpecificOutput": {**name, **verdict}}
    if "flat" in forms:
        yield dict(verdict)
    for word in decides:
        yield {"decision": word, "reason": "a reason"}
    if "permission" in forms:
        yield {"permission": "deny", **reason}
    if "cancel" in forms:
        yield {"cancel": True, **reason}
