"""The rest of a file with refused hooks: the other hooks, each in its place."""

from __future__ import annotations

import copy
from collections.abc import Mapping

from hookport.agents import Dialect, RefusedError, Tree
from hookport.convert import pipeline
from hookport.convert.pipeline import Reading, locate_problem
from hookport.errors import InputError, Problem
from hookport.shapes.dialect import Path

# Each round removes every refused hook; only newly revealed errors need another round.
ROUNDS = 20


def read(files: Mapping[str, bytes], dialect: Dialect) -> tuple[Reading, list[Problem]]:
    """The manifest without refused hooks, and why they are refused; InputError if none is left."""
    documents = pipeline.parse(files, dialect)
    trees: dict[str, Tree] = {name: copy.deepcopy(document.tree) for name, document in documents.items()}
    removed: dict[tuple[str, Path], list[int]] = {}
    problems: list[Problem] = []
    for _ in range(ROUNDS):
        try:
            decoded = dialect.shape.decode(dialect, trees)
        except RefusedError as refused:
            restored = [
                problem._replace(path=_restore_path(problem.file, problem.path, removed))
                for problem in refused.problems
            ]
            problems += [
                locate_problem(problem, documents) for problem in restored if problem not in problems
            ]
            cuts = {(problem.file, _find_entry(dialect, problem.path)) for problem in refused.problems}
            if any(not path for _, path in cuts):
                raise InputError(*problems) from None
            for file, path in sorted(cuts, key=lambda cut: cut[1], reverse=True):
                _cut(trees[file], path)
                _remember(removed, file, path)
            continue
        if problems and not decoded.manifest.hooks:
            raise InputError(*problems)
        places = tuple(
            place._replace(path=_restore_path(place.file, place.path, removed)) for place in decoded.places
        )
        return Reading(dialect, documents, decoded._replace(places=places)), problems
    raise InputError(*problems)


def _find_entry(dialect: Dialect, path: Path) -> Path:
    """The path to the hook of a problem: never a part of its matcher or arguments."""
    entry_path: Path = ()
    for end, key in enumerate(path):
        above = path[:end]
        in_list = above[-1:] == ("hooks",) or (
            len(above) == len(dialect.shape.root) + 1 and above[:-1] == dialect.shape.root
        )
        if isinstance(key, int) and in_list:
            entry_path = path[: end + 1]
    return entry_path


def _cut(tree: Tree, path: Path) -> None:
    for key in path[:-1]:
        tree = tree[key]
    del tree[path[-1]]


def _remember(removed: dict[tuple[str, Path], list[int]], file: str, path: Path) -> None:
    *above, index = _restore_path(file, path, removed)
    if isinstance(index, int):
        removed.setdefault((file, tuple(above)), []).append(index)


def _restore_path(file: str, path: Path, removed: Mapping[tuple[str, Path], list[int]]) -> Path:
    """Map a path in the remaining tree to its path in the file."""
    former: Path = ()
    for key in path:
        if isinstance(key, int):
            for gone in sorted(removed.get((file, former), ())):
                key += gone <= key  # noqa: PLW2901  (counting past what is gone)
        former = (*former, key)
    return former
