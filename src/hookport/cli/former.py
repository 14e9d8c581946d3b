"""Spellings of hookport 0.1.0 that still work and that no help shows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

OPTIONS = {
    "run": {"--as": "--agent", "--name": "--event"},
    "why": {"--as": "--agent", "--name": "--event", "--source": "--hooks"},
    "check": {"--dialect": "--from"},
    "record": {"--last": "--limit"},
    "trust": {"--agents": "--in-agents"},
}
# These took a file or folder, and take a name now.
PLACES = {
    "run": ("--event", "--payload"),
    "why": ("--event", "--payload"),
    "record": ("--from", "--recorded"),
}
# These took several values one after the other, and have no arguments of their own.
SEVERAL = {
    "sync": "--agent",
    "unsync": "--agent",
    "status": "--agent",
    "matrix": "--agent",
}
WITH_JSON_FORMAT = ("check", "matrix")


def update_spelling(command: str, args: Sequence[str]) -> list[str]:
    """Replace former spellings by those of today."""
    end = args.index("--") if "--" in args else len(args)
    names, (place, path_option) = OPTIONS.get(command, {}), PLACES.get(command, ("", ""))
    former = {*names, place, *(["--format"] if command in WITH_JSON_FORMAT else [])}
    words = [part for word in args[:end] for part in _split_value(word, former)]
    words = _join_values(words, SEVERAL.get(command, ""))
    updated: list[str] = []
    for number, word in enumerate(words):
        value = "".join(words[number + 1 : number + 2])
        before = "".join(updated[-1:])
        if word == place and (value == "-" or Path(value).exists()):
            updated.append(path_option)
        elif command in WITH_JSON_FORMAT and (before, word) == ("--format", "json"):
            updated[-1] = "--json"
        else:
            updated.append(names.get(word, word))
    return [*updated, *args[end:]]


def _split_value(word: str, former: set[str]) -> list[str]:
    """Split `--option=value` of a former option."""
    option, equals, value = word.partition("=")
    return [option, value] if equals and option in former else [word]


def _join_values(words: list[str], option: str) -> list[str]:
    joined: list[str] = []
    is_value = False
    for word in words:
        if is_value and not word.startswith("-"):
            joined[-1] += f",{word}"
        else:
            is_value = len(joined) > 0 and joined[-1] == option
            joined.append(word)
    return joined
