"""Fields of a script's answers that a target's agents ignore, from the script's text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from hookport import findings as f
from hookport.agents import Dialect, get_wire, list_dialects
from hookport.convert.degrade.work import Work, list_specs
from hookport.wire.answers import list_extras
from hookport.wire.table import Wire

# A key without another meaning in a script.
_TELLING = re.compile(r"[a-z](?:[A-Z]|_[a-z])")


def note_lost_fields(work: Work, target: Dialect) -> None:
    """Report fields in the answers of a hook's scripts that are lost in the target."""
    if work.source.id == target.id:
        return
    natives = [spec.native for spec in list_specs(work)]
    text = "\n".join(work.texts)
    lost = find_lost_fields(get_wire(work.source.id), get_wire(target.id), work.hook.event, natives, text)
    if lost:
        work.note(f.AnswerFieldLost, fields=", ".join(lost))


def find_lost_fields(source: Wire, target: Wire, event: str, natives: Sequence[str], text: str) -> list[str]:
    """The keys of a dialect's answers in a text that a target ignores on its own events."""
    target_extras = [list_extras(target, native, event) for native in natives]
    missing = {
        key
        for word, key in _list_fields(source, event).items()
        if not all(word in extras for extras in target_extras)
    }
    return _find_printed(missing, text)


def find_foreign_fields(agent_wire: Wire, event: str, natives: Sequence[str], text: str) -> list[str]:
    """The keys of other dialects' answers on an event that a text has and its own agent lacks."""
    other_wires = (get_wire(name) for name in list_dialects())
    all_keys = {
        key
        for other_wire in other_wires
        if event in other_wire.natives
        for key in _list_fields(other_wire, event).values()
    }
    own_keys = {
        _take_key(place) for native in natives for place in list_extras(agent_wire, native, event).values()
    }
    return _find_printed({key for key in all_keys - own_keys if _TELLING.search(key)}, text)


def _find_printed(keys: Iterable[str], text: str) -> list[str]:
    return [key for key in sorted(keys) if re.search(rf"""(?<!\w){key}\\?["']?\s*[:=]""", text)]


def _list_fields(source: Wire, event: str) -> dict[str, str]:
    """The values of a dialect for an event, each with its key in an answer."""
    natives = [native for native, canonical in source.events.items() if canonical == event] or [event]
    return {
        word: _take_key(place)
        for native in natives
        for word, place in list_extras(source, native, event).items()
    }


def _take_key(place: str) -> str:
    return place.rpartition(".")[2]
