"""The interchange format's answer: exit codes 0, 1, 2 and the JSON printed with 0.

The truth table of `blocking`, exit code and decision is that of the public draft 0.1, section 5.3, which
1.0 keeps: exit code 2 of a hook that may not block is a failure, a printed deny always denies.
"""

from __future__ import annotations

from hookport.shapes.dialect import Tree

ANSWER: dict[str, Tree] = {
    "deny": {"json": {"decision": "deny", "reason": "$reason"}},
    "ask": {"json": {"decision": "ask", "reason": "$reason"}},
    "allow": {"json": {"decision": "allow", "reason": "$reason"}},
    "rewrite": {"json": {"updated_input": "$input"}},
    "context": {"json": {"context": "$context"}},
    "halt": {"json": {"continue": False, "reason": "$reason"}},
    "message": {"json": {"system_message": "$message"}},
    "suppress": {"json": {"suppress_output": True}},
    "result": {"json": {"updated_result": "$result"}},
}

READ = {
    "verdicts": [("decision", {"allow": "allow", "deny": "deny", "ask": "ask"})],
    "reason": ["reason"],
    "context": ["context"],
    "input": ["updated_input"],
    "halt": ["continue"],
    "suppress": ["suppress_output"],
    "message": ["system_message"],
    "result": ["updated_result"],
    "exits": {"2": "deny"},
    "text": "failure",
}


def make_module_answers(*pieces: str) -> dict[str, Tree]:
    """The answers that a generated code module obeys on an event, besides a message for the person.

    It throws, or returns, the reason of a deny, after showing a message.
    """
    alone: dict[str, Tree] = {
        piece: {**ANSWER[piece], "alone": True} if piece in ("ask", "deny") else ANSWER[piece]
        for piece in pieces
    }
    return {"message": {**ANSWER["message"], "beside": True}, **alone}


# How such a module reads an answer.
MODULE_READS: dict[str, dict[str, Tree]] = {"*": {**READ, "text": "ignored"}}
