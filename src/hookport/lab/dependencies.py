"""What the result of a run depends on, as keys: a finished run counts until one of these changes.

That is the agent's file, its driver, the scenario, the formats' files, and everything that all runs share. Of
the other agents only those tables count by which hookport finds their files and recognises their payloads:
these decide in every project.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from pathlib import Path

from hookport.agents import Dialect, get, list_dialects
from hookport.base.tree import Tree
from hookport.lab import formats
from hookport.lab.driver import Driver
from hookport.lab.drivers import get_dialect_id
from hookport.lab.scenario import Scenario
from hookport.shapes.dialect import list_locations

# Folders with one file for each agent or scenario, and what no run loads.
OF_ONE = ("agents", "lab/drivers", "lab/scenarios")
UNUSED = ("lab/results", "testing", "host")
# Modules that only show results or choose runs, and those of `prove --hooks`.
UNUSED_MODULES = (
    *("lab/campaign", "lab/cells", "lab/choice", "lab/dependencies", "lab/newest", "lab/page", "lab/results"),
    *("lab/versions", "cli/doctor"),
    *("lab/belongings", "lab/enforcement", "lab/firings", "lab/likeness", "lab/own", "lab/samples"),
    *("lab/unfired", "lab/witness"),
    *("cli/agent_tables", "cli/check", "cli/convert", "cli/explain", "cli/log", "cli/matrix", "cli/new"),
    *("cli/own_hooks", "cli/prove", "cli/record", "cli/test", "cli/test_results", "cli/why"),
)
# By these hookport finds the files of any agent and recognises the payloads of any agent.
FINDING = ("id", "kind", "locations", "other_places", "markers", "manifests", "products", "programs", "home")
RECOGNISING = ("keys", "events", "said", "marks", "tells", "env", "by_event", "fixed")
SUFFIXES = (".py", ".yaml", ".ts", ".sh", ".js", ".mjs")


def compute_run_key(scenario: Scenario, driver_name: str, driver: Driver) -> str:
    """Hash what a scenario's outcome depends on, besides the version, mode and formats."""
    digest = hashlib.sha256(f"{scenario.text}\0{hash_shared()}\0".encode())
    for part in _list_own_files(scenario, driver_name, driver):
        digest.update(part.encode() + b"\0" + _read(part) + b"\0")
    return digest.hexdigest()


def find_source() -> Path:
    """The folder of hookport's own files."""
    return Path(str(files("hookport")))


def _read(path: str) -> bytes:
    file = find_source() / path
    return file.read_bytes() if file.is_file() else b""


def _list_own_files(scenario: Scenario, driver_name: str, driver: Driver) -> Iterator[str]:
    """List the files of one agent that this run uses: the agent's, its driver's, and those of its formats."""
    yield f"lab/drivers/{driver_name.replace('-', '_')}.py"
    ids = {get_dialect_id(driver), *formats.list_names(), *_list_others(scenario)}
    for dialect_id in sorted(ids):
        yield f"agents/{dialect_id.replace('-', '_')}.py"


def _list_others(scenario: Scenario) -> Iterator[str]:
    """List the dialects of the scenario's own files; every dialect if another agent's files are adopted."""
    for dialect in map(get, list_dialects()):
        places = list_locations(dialect, "own", "run", "also read")
        patterns = [place.path.removeprefix("~/") for place in places]
        if scenario.adopt or any(
            fnmatchcase(path, pattern) or path.endswith(f"/{pattern}")
            for path in scenario.files
            for pattern in patterns
        ):
            yield dialect.id


@cache
def hash_shared() -> str:
    """Hash what every run depends on."""
    root = find_source()
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*")):
        place = path.relative_to(root).as_posix()
        if path.suffix in SUFFIXES and is_shared(place):
            digest.update(f"{place}\0".encode() + path.read_bytes() + b"\0")
    for dialect in map(get, list_dialects()):
        digest.update(repr(_describe_crossing(dialect)).encode())
    return digest.hexdigest()


def is_shared(place: str) -> bool:
    """Whether every run depends on a file, by its path in the package."""
    folder, _, name = place.rpartition("/")
    is_unused = any(folder == unused or folder.startswith(f"{unused}/") for unused in UNUSED)
    if is_unused or place.rpartition(".")[0] in UNUSED_MODULES:
        return False
    # A file whose name begins with `_` is of several.
    return folder not in OF_ONE or name.startswith("_")


def _describe_crossing(dialect: Dialect) -> list[Tree]:
    """Describe what decides in the runs of every other agent too."""
    places = [getattr(dialect, name) for name in FINDING]
    shape = (dialect.shape.file_name, dialect.shape.companions, dialect.shape.signature)
    return [places, shape, [getattr(dialect.wire, name) for name in RECOGNISING]]
