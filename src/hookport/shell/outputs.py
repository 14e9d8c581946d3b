"""What programs print, as far as known without running them; marks replace the rest."""

from __future__ import annotations

from hookport.shell.syntax import PART

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hookport.shell.walk import Walk

# Programs that print part of their input, or all of it nearly unchanged.
FILTERS = (
    *("cat", "tac", "head", "tail", "sort", "uniq", "grep", "egrep", "fgrep", "tee", "less", "more", "shuf"),
    *("sed", "gsed", "awk", "gawk", "cut", "tr", "nl", "column", "paste", "jq", "perl", "pv", "sponge", "rg"),
    *("while", "fmt", "fold", "iconv", "dos2unix", "expand", "ts", "stdbuf"),
)
SILENT = (
    "cd",
    "pushd",
    "popd",
    "mkdir",
    "rm",
    "mv",
    "cp",
    "touch",
    "true",
    ":",
    "export",
    "set",
    "test",
    "[",
    "[[",
)
# The function in `shell.printers` that predicts what a program prints.
PRINTERS = {
    "printf": "printf",
    "pwd": "pwd",
    "dirname": "dirname",
    "basename": "basename",
    "base64": "base64",
    "gbase64": "base64",
    "xxd": "xxd",
    "rev": "rev",
    "ls": "ls",
    "find": "find",
    "fd": "fd",
    "git": "git",
    "seq": "seq",
    "mktemp": "mktemp",
    **dict.fromkeys(
        ("which", "command", "type", "whereis", "realpath", "readlink", "wslpath", "cygpath"), "names"
    ),
    **dict.fromkeys(("grep", "egrep", "fgrep", "rg", "ag", "ack"), "grep"),
}


def predict_output(name: str, words: Sequence[str], given: str | None, walk: Walk) -> str:
    """Predict what a program prints; `PART` if it is unknown."""
    if name in SILENT:
        return ""
    if name in ("echo", "print"):
        return _predict_echo(list(words[1:]))
    if name in PRINTERS:
        printed = _call_printer(PRINTERS[name], list(words[1:]), given, walk)
        if printed is not None:
            return printed
    operands = [word for word in words[1:] if not word.startswith("-")]
    if (
        name in FILTERS
        and given is not None
        and (name not in ("cat", "tac", "head", "tail", "sort") or not operands)
    ):
        return given
    return PART


def _predict_echo(words: list[str]) -> str:
    is_escaped = False
    while words and words[0].startswith("-") and len(words[0]) > 1 and set(words[0][1:]) <= set("neE"):
        is_escaped = is_escaped or "e" in words[0]
        words = words[1:]
    text = " ".join(words)
    if is_escaped and "\\" in text:
        from hookport.shell.printers import read_escapes

        return read_escapes(text)
    return text


def _call_printer(printer: str, words: list[str], given: str | None, walk: Walk) -> str | None:
    from hookport.shell import printers

    printed: str | None = getattr(printers, printer)(words, given, walk)
    return printed
