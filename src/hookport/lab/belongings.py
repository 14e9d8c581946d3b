"""The files that a person's hooks need, copied into the project of a run: bounded, and without secrets.

A source outside a project's usual places, such as a lone HOOK.md folder or a plugin, is put where a project
has its hooks.
"""

from __future__ import annotations

import os
import re
import shutil
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import suppress
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from hookport.agents import Dialect, get
from hookport.base.places import is_at
from hookport.errors import InputError, Problem
from hookport.project import plan_builder
from hookport.project.discovery import Discovery, HookEntry, load
from hookport.project.places import find_home_folder, list_sites

MOST_FILES = 4_000
MOST_BYTES = 64 << 20
LARGEST = 8 << 20
# Large folders that are generated or made by tools; a run makes its own repository.
LEFT_OUT = frozenset(
    {
        *(".git", ".hg", ".svn", "node_modules", ".venv", "venv", "__pycache__", ".tox", ".nox", ".direnv"),
        *(
            ".mypy_cache",
            ".pytest_cache",
            ".ruff_cache",
            ".cache",
            ".next",
            ".turbo",
            ".gradle",
            ".terraform",
        ),
        *("dist", "build", "target", "coverage", ".DS_Store"),
    }
)
# Files for keys: no hook needs them for a proof.
SECRET = (
    *(".env", ".env.*", "*.env", ".envrc", ".netrc", ".npmrc", ".pypirc", ".pgpass", ".git-credentials"),
    *("*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "id_rsa", "id_ecdsa", "id_ed25519", "*.tfvars"),
)


# Skipped folders, and the error of a hook that needs one.
RUN_FROM = {
    "node_modules": re.compile(r"node_modules|\b(npx|npm|pnpm|yarn)\b"),
    ".venv": re.compile(r"\.venv\b|\b(uv|poetry) run\b"),
    "venv": re.compile(r"(?<![.\w])venv/"),
}


class Belongings(NamedTuple):
    """The hooks of a source and the files of its project, each with its place in the project of a run.

    `home` are scripts below the user's home, with their places below the home of the run. `sources` are the
    files with the hooks, under their names in the run, with their dialects. `links` are folders too large to
    copy from which a hook runs programs. `left_out` lists the skipped files.
    """

    found: Discovery
    files: Mapping[str, Path]
    home: Mapping[str, Path]
    sources: Mapping[str, str]
    left_out: tuple[str, ...] = ()
    links: Mapping[str, Path] = {}


def gather_belongings(source: Path, dialect: str | None, env: Mapping[str, str]) -> Belongings:
    """Gather the hooks of a source and their files; InputError if it has no hook."""
    discovery = load(str(source), dialect, env)
    hooks = plan_builder.list_runnable(discovery)
    if not hooks:
        reasons = [
            f"{finding.file}: {finding.message}"
            for finding in (*discovery.findings, *plan_builder.find_left_out(discovery))
        ]
        why = f": {reasons[0]}" if reasons else ""
        raise InputError(
            Problem(f"has no hook that may run, so nothing can be proven{why}", file=str(source))
        )
    root, home = Path(discovery.root), find_home_folder(env)
    files = _find_needed(hooks, root)
    left_out: list[str] = []
    if root in (home, Path(root.anchor)):
        left_out.append(f"everything in '{root}' except the hooks and their scripts: it is not a project")
    else:
        more, left_out = _list_bounded(root, files)
        files |= more
    sources = {_choose_place(found_hook, root): found_hook.hook.dialect for found_hook in hooks}
    outside = {
        str(Path(script).relative_to(home)): Path(script)
        for found_hook in hooks
        for script in found_hook.scripts
        if home and Path(script).is_file() and Path(script).is_relative_to(home)
        if not Path(script).is_relative_to(root) or root == home
    }
    links = _find_links(hooks, root)
    left_out = [line for line in left_out if line.strip("'") not in links]
    return Belongings(discovery, files, outside, sources, tuple(left_out), links)


def copy_belongings(belongings: Belongings, project: Path, home: Path) -> None:
    """Copy everything into the project and the home of a run.

    Paths of the project or of a copied script in a hook or its scripts are replaced by the run's paths, so
    that the hook cannot change the real project.
    """
    hooks = plan_builder.list_runnable(belongings.found)
    spelling = {Path(name) for found_hook in hooks for name in (found_hook.file, *found_hook.scripts)}
    names = {path: home / name for name, path in belongings.home.items()}
    names[Path(belongings.found.root)] = project
    for name, path in belongings.links.items():
        (project / name).symlink_to(path)
    for folder, files in ((project, belongings.files), (home, belongings.home)):
        for name, path in files.items():
            place = folder / name
            place.parent.mkdir(parents=True, exist_ok=True)
            try:
                shutil.copyfile(path, place)
                shutil.copymode(path, place)
                if path in spelling:
                    place.write_bytes(_respell_paths(place.read_bytes(), names))
            except OSError as error:
                raise InputError(
                    Problem(f"cannot copy it into a run: {error.strerror}", file=str(path))
                ) from None


def _respell_paths(data: bytes, names: Mapping[Path, Path]) -> bytes:
    """Replace paths in a text."""
    copies = {os.fsencode(real): os.fsencode(copy) for real, copy in names.items() if real.name}
    if not copies:
        return data
    known = b"|".join(re.escape(real) for real in sorted(copies, key=len, reverse=True))
    return re.sub(rb"(?:%s)(?![\w.-])" % known, lambda match: copies[match[0]], data)


def _find_links(hooks: list[HookEntry], root: Path) -> dict[str, Path]:
    texts = [
        text
        for found_hook in hooks
        for text in (found_hook.hook.handler.command, *found_hook.hook.handler.platform.values())
    ]
    for script in {Path(script) for found_hook in hooks for script in found_hook.scripts}:
        with suppress(OSError):
            texts.append(script.read_text("utf-8", "replace"))
    return {
        name: root / name
        for name, called in RUN_FROM.items()
        if (root / name).is_dir() and any(called.search(text) for text in texts)
    }


def _find_needed(hooks: list[HookEntry], root: Path) -> dict[str, Path]:
    """Find the files of the hooks themselves, by their place in the run."""
    files: dict[str, Path] = {}
    for found_hook in hooks:
        file, package, place = (
            Path(found_hook.file),
            Path(found_hook.package),
            _choose_place(found_hook, root),
        )
        files[place] = file
        if place != _make_relative(file, root) and file.is_relative_to(package):
            tail = file.relative_to(package).as_posix()
            if place.endswith(f"/{tail}"):
                # The folder of a hook or a plugin is copied unchanged.
                base = place.removesuffix(tail)
                inside, _ = _list_bounded(package, {})
                files |= {f"{base}{name}": path for name, path in inside.items()}
        for script in map(Path, found_hook.scripts):
            if script.is_file() and script.is_relative_to(root):
                files[_make_relative(script, root)] = script
                files |= {_make_relative(other, root): other for other in _find_neighbors(script)}
    return files


def _find_neighbors(script: Path) -> list[Path]:
    """Find the files beside a script, which it may read."""
    try:
        neighbors = [path for path in script.parent.iterdir() if path.is_file() and not path.is_symlink()]
        return [path for path in neighbors if path.stat().st_size <= LARGEST and not _is_secret(path.name)][
            :200
        ]
    except OSError:
        return []


def _make_relative(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name


def _choose_place(found_hook: HookEntry, root: Path) -> str:
    """Choose the place of a hook file in the project: its own place, if hooks are read there."""
    dialect = get(found_hook.hook.dialect)
    file = Path(found_hook.file)
    relative = _make_relative(file, root)
    places = _list_places(dialect)
    if any(is_at(relative, place) for place in places):
        return relative
    tail = (
        PurePosixPath(file.relative_to(found_hook.package))
        if file.is_relative_to(found_hook.package)
        else None
    )
    for place in places:
        start, star, end = place.partition("/*/")
        if star and tail and str(tail) == end:
            return f"{start}/{Path(found_hook.package).name}/{end}"
    plain = [place for place in places if "*" not in place]
    same = [place for place in plain if PurePosixPath(place).suffix == file.suffix]
    return next(iter([*same, *plain]), relative)


def _list_places(dialect: Dialect) -> list[str]:
    """List the places of a project where hookport or the agent reads hooks of the dialect."""
    known = [site.path for site in list_sites() if site.scope == "project" and dialect in site.dialects]
    own_places = [place.path for place in dialect.locations if place.scope in ("project", "local")]
    return list(
        dict.fromkeys([*(place for place in known if "*" in place or place not in own_places), *own_places])
    )


def _is_secret(name: str) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in SECRET)


def _list_bounded(root: Path, known: Mapping[str, Path]) -> tuple[dict[str, Path], list[str]]:
    """List the files below a folder, nearest first, up to the limits; and the skipped files."""
    files: dict[str, Path] = {}
    left_out: dict[str, None] = {}
    size = sum(_read_size(path) for path in known.values())
    for path in _walk_files(root, left_out):
        name = path.relative_to(root).as_posix()
        file_size = _read_size(path)
        if name in known or not path.is_file():
            continue
        if not os.access(path, os.R_OK):
            left_out[f"'{name}': unreadable"] = None
        elif file_size > LARGEST:
            left_out[f"'{name}': larger than {LARGEST >> 20} MiB"] = None
        elif len(files) + len(known) >= MOST_FILES or size + file_size > MOST_BYTES:
            limit = f"{MOST_FILES} files or {MOST_BYTES >> 20} MiB"
            left_out[f"everything from '{name}' on: a copy has at most {limit}"] = None
            break
        else:
            files[name] = path
            size += file_size
    return files, list(left_out)


def _read_size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return LARGEST + 1


def _walk_files(root: Path, left_out: dict[str, None]) -> Iterator[Path]:
    waiting = deque([root])
    while waiting:
        folder = waiting.popleft()
        try:
            inside = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in inside:
            path = Path(entry.path)
            real = path.resolve().name if entry.is_symlink() else entry.name
            secret = not entry.is_dir(follow_symlinks=False) and (_is_secret(entry.name) or _is_secret(real))
            if entry.name in LEFT_OUT or secret:
                left_out[f"'{path.relative_to(root).as_posix()}'"] = None
            elif entry.is_dir(follow_symlinks=False):
                waiting.append(path)
            elif not entry.is_symlink() or path.resolve().is_relative_to(root.resolve()):
                yield path
