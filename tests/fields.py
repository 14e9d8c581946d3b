"""Which field stands where in the payloads of every agent and format: told a second time, from the documents.

In `agents/*/fields.json`, `sent` is what an agent sends, `taken` what scripts of a format find that no agent
sends; `words` has for a field the words that mean the same, and `documented` payloads of the documents as
(native event, payload), where nothing was captured. Any other key is another form of its payloads, and has
the same. Nothing here comes from the tables of the package, so that a field that these forget is missed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests import agent_data

Places = dict[str, Any]
KEYS = {"sent", "taken", "words", "documented"}


def forms() -> Iterator[tuple[str, dict[str, Any]]]:
    """Every dialect, or `ID (FORM)`, and what its file has."""
    for dialect, path in agent_data.find("fields.json").items():
        tree = json.loads(path.read_text("utf-8"))
        yield dialect, tree
        yield from ((f"{dialect} ({form})", tree[form]) for form in sorted(tree.keys() - KEYS))


SENT: dict[str, Places] = {name: tree["sent"] for name, tree in forms() if "sent" in tree}
TAKEN: dict[str, Places] = {**SENT, **{name: tree["taken"] for name, tree in forms() if "taken" in tree}}
# By field and dialect; a dialect that is not there uses the common words, and `*` stands for any other word.
WORDS: dict[str, dict[str, dict[str, str]]] = {}
for _name, _tree in forms():
    for _field, _words in _tree.get("words", {}).items():
        WORDS.setdefault(_field, {})[_name] = _words
# Payloads of the agents' documents, where nothing was captured.
DOCUMENTED: list[tuple[str, str, dict[str, Any]]] = [
    (name, native, payload) for name, tree in forms() for native, payload in tree.get("documented", ())
]
