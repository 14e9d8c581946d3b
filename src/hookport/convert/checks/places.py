"""Adds file, line and column to findings that name their place only in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from hookport.agents import Place, Tree
from hookport.shapes.dialect import Path

if TYPE_CHECKING:
    from hookport.convert.checks import Reading
    from hookport.findings import Finding


def locate_finding(finding: Finding, reading: Reading) -> Finding:
    """The finding with its file and line, and with the hook at its place."""
    if finding.line:
        return finding
    places = reading.decoded.places
    has_hook = finding.hook is not None and finding.hook < len(places)
    place = places[finding.hook or 0] if has_hook else Place(next(iter(reading.documents), ""), ())
    file = finding.file or place.file
    document = reading.documents.get(file)
    where = finding.where.removeprefix(f"{file}: ")
    path = parse_steps(where, document.tree) if document else ()
    line, column = document.position(path or place.path) if document else (0, 0)
    hook = finding.hook if has_hook else _find_owner(places, Place(file, path))
    return finding._replace(file=file, line=line, column=column, hook=hook)


def _find_owner(places: tuple[Place, ...], place: Place) -> int | None:
    """The hook whose entry contains a place."""
    for number, (file, path) in enumerate(places):
        if file == place.file and path and place.path[: len(path)] == path:
            return number
    return None


def parse_steps(where: str, tree: Tree) -> Path:
    """The path that `spell_path` spelled, as far as the tree has it; keys may contain dots and brackets.

    In a document with frontmatter, paths are those of the frontmatter.
    """
    if not where:
        return ()
    starts: list[tuple[Path, Tree]] = [((), tree)]
    if isinstance(tree, Mapping) and isinstance(tree.get("frontmatter"), Mapping):
        starts.append((("frontmatter",), tree["frontmatter"]))
    walks = (
        (rest, (*start, *path)) for start, inside in starts for rest, path in _follow_steps(where, inside, ())
    )
    return min(walks, key=lambda walk: len(walk[0]))[1]


def _follow_steps(text: str, tree: Tree, path: Path) -> Iterator[tuple[str, Path]]:
    """Every way to follow a spelled path down a tree, with what is left of the text."""
    yield text, path
    steps: Iterator[tuple[str, str | int]]
    if isinstance(tree, Mapping):
        steps = ((f".{key}" if path else str(key), key) for key in tree)
    elif isinstance(tree, list):
        steps = ((f"[{number}]", number) for number in range(len(tree)))
    else:
        return
    for spelled, step in steps:
        rest = text[len(spelled) :]
        if spelled and text.startswith(spelled) and (not rest or rest[0] in ".["):
            yield from _follow_steps(rest, tree[step], (*path, step))
