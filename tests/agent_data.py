"""What the tests know of an agent or format: a folder `agents/ID` for each, with `_` for the `-` of its id.

    vectors.yaml          texts that are read, written and refused (see `vectors`)
    wire.yaml             rows of what was measured or documented of its wire (see `test_wire_vectors`)
    payloads/**.json      what the agent really handed to a hook, byte for byte
    documented.json       payloads after its documentation, where none was captured
    native_answers.yaml   what it made of a hook's answers by itself (see `test_native_answers`)
    transcript/**         a session as it writes it down, at its place in a home; `.sql` is a database
    corpus.yaml           small projects with its files (see `test_corpus`)
    rules.json            which of many handlers with rules it started (see `test_rules`)
    oracle.py             what it does with a hook's answer (see `oracle`)
    guard.py              a guard as its own documentation tells people to write it (see `guards`)
    facts.yaml            what tests over all agents ask about it (see `AgentFacts`)
    fields.json           which field stands where in its payloads (see `fields`)
    installs/CASE/before  its files as people keep them (see `test_installs`)

None of them is needed; every test finds those that are there.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any, Literal, NamedTuple

import yaml

# Every worker of pytest loads all vectors, and the loader in C needs a seventh of the time.
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
FOLDER = Path(__file__).parent / "agents"


def folder_of(dialect: str) -> Path:
    """The folder with what is known of a dialect."""
    return FOLDER / dialect.replace("-", "_")


def dialect_of(path: Path) -> str:
    """The dialect whose folder a file is in."""
    return path.relative_to(FOLDER).parts[0].replace("_", "-")


def find(pattern: str) -> dict[str, Path]:
    """The file of this name of every dialect that has one, or the folder, by the dialect."""
    return {dialect_of(path): path for path in sorted(FOLDER.glob(f"*/{pattern}"))}


def read_yaml(path: Path) -> Any:
    """The tree of a YAML file."""
    return yaml.load(path.read_text("utf-8"), LOADER)


def load(name: str) -> dict[str, ModuleType]:
    """The module of this name of every dialect that has one."""
    return {
        dialect: import_module(f"tests.agents.{path.parent.name}.{name}")
        for dialect, path in find(f"{name}.py").items()
    }


class AgentFacts(NamedTuple):
    """What tests over all agents ask about one of them, told a second time.

    `reads`: where it reads a project's file by itself: `start` in its start folder only, `repository` from
    every folder of the repository, `root` from its root (below it, nobody knows). `trust`: whether it asks a
    person before it trusts a folder. `sends`: what of `mode` and `transcript` is in its payloads.
    `transcript`: whether the file is of a form that hookport translates. `agnix_looks`: whether that linter
    looks into its files; `agnix`: what it says of them, rule -> the sources of `test_second_reader`.
    """

    reads: Mapping[str, str] = MappingProxyType({})
    trust: Literal["asked for", "not asked for"] = "asked for"
    sends: Sequence[str] = ()
    transcript: Literal["translated", "untranslated"] = "translated"
    agnix_looks: bool = True
    agnix: Mapping[str, Sequence[str]] = MappingProxyType({})


FACTS = {dialect: AgentFacts(**read_yaml(path)) for dialect, path in find("facts.yaml").items()}


def facts_of(dialect: str) -> AgentFacts:
    """The facts of an agent; those that most have, where its folder has no file of them."""
    return FACTS.get(dialect, AgentFacts())


def payload(name: str) -> Path:
    """A captured payload, as `claude-code/PreToolUse.Bash.json`."""
    dialect, _, rest = name.partition("/")
    return folder_of(dialect) / "payloads" / rest


# Every captured payload, by the name that `payload` takes.
CAPTURED: dict[str, Path] = {
    f"{dialect}/{path.relative_to(folder).as_posix()}": path
    for dialect, folder in find("payloads").items()
    for path in sorted(folder.rglob("*.json"))
}
# The payloads that a dialect's documentation shows, by event.
DOCUMENTED: dict[str, dict[str, Any]] = {
    dialect: json.loads(path.read_text("utf-8")) for dialect, path in find("documented.json").items()
}
