"""Fits texts to an agent: short, encodable, without control characters; the journal has the rest.

Agents lose texts that are too long: Qwen Code runs the command from 520 kB of stderr on, and others put a
megabyte of a hook's output into the model's context (measured).
"""

from __future__ import annotations

# Characters. Claude Code itself cuts contexts at 10,000; of a reason a model needs the start and the end.
MOST_REASON, MOST_CONTEXT, MOST_MESSAGE = 4_000, 10_000, 4_000
TAIL_SHARE = 4
# How much of a very long text is checked at either end.
MARGIN = 1_000
REPLACEMENT = "\ufffd"
_CONTROLS = dict.fromkeys((*range(9), *range(11, 32), *range(127, 160)), REPLACEMENT)
_CONTROLS[ord("\r")] = "\n"


def fit(text: str, most: int) -> str:
    """Shorten a text to at most `most` characters, with a note of its full length."""
    if len(text) > most + 2 * MARGIN:
        head, tail = text[: most + MARGIN], text[-most // TAIL_SHARE - MARGIN :]
    else:
        head = tail = text = clean(text)
        if len(text) <= most:
            return text
    note = f"\n… [{len(text)} characters in all; the journal has more] …\n"
    tail_length = most // TAIL_SHARE
    return f"{clean(head)[: most - tail_length - len(note)]}{note}{clean(tail)[-tail_length:]}"


def clean(text: str) -> str:
    """Replace what an encoding, JSON parser or terminal may not accept."""
    if text.isascii() and text.isprintable():
        return text
    if "\x1b" in text or "\x9b" in text:
        text = _strip_escapes(text)
    if not is_encodable(text):
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text.replace("\r\n", "\n").translate(_CONTROLS)


def is_encodable(text: str) -> bool:
    """Whether a text has no lone surrogate."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _strip_escapes(text: str) -> str:
    """A text without the sequences that colour it or move the cursor (ECMA-48: CSI, OSC and the like)."""
    import re

    sequences = (
        r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|\x1b[\]PX^_][^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?|\x1b[ -/]*[0-~]"
    )
    return re.sub(sequences, "", text)
