"""Whether a path is at a place: by its last parts, where a star in the place stands for one name."""

from __future__ import annotations

from fnmatch import fnmatchcase
from functools import cache
from pathlib import PurePosixPath

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


@cache
def split_place(place: str) -> tuple[str, ...]:
    """The parts of a place, from the home or the folder that it starts in."""
    return PurePosixPath(place.removeprefix("~/")).parts


def ends_at(parts: Sequence[str], place: str) -> bool:
    """Whether a path ends as a place does, whatever folder it starts from."""
    steps = split_place(place)
    return len(parts) >= len(steps) and all(map(fnmatchcase, parts[len(parts) - len(steps) :], steps))


def list_rests(folder: Sequence[str], place: str) -> Iterator[str]:
    """What a place is within a folder: all of it, or the rest of it where the folder is its beginning."""
    steps = split_place(place)
    for depth in range(min(len(steps), len(folder))):
        if all(map(fnmatchcase, folder[len(folder) - depth :], steps[:depth])):
            yield "/".join(steps[depth:])


def is_at(path: str, place: str) -> bool:
    """Whether a whole path matches a place."""
    parts, steps = path.split("/"), place.split("/")
    return len(parts) == len(steps) and all(map(fnmatchcase, parts, steps))
