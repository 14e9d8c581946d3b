"""What a hook is, in bytes: its definition as canonical JSON, and the files that it runs.

A field that has its default is left out, so that a later version with more fields has the same bytes.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple

from hookport.dialects import get
from hookport.model.hooks import Handler, Hook, Term
from hookport.project.discovery import Found
from hookport.runtime import trust

Tree = Any

# A word that ends like a script, and what the shell would make another path of.
SCRIPT = re.compile(
    r"[^\s;&|<>()=`,]+\.(?:sh|bash|zsh|fish|py|pyz|js|mjs|cjs|ts|mts|rb|pl|php|lua|ps1|bat|cmd)(?![\w.])"
)
SHELL = re.compile(r"[$`*?\[\]{}~%\0]")


class Identity(NamedTuple):
    """A hook as the lock has it; `under` is the folder of which every file counts."""

    id: str
    text: str
    files: tuple[str, ...]
    under: str

    @property
    def definition(self) -> str:
        """The hash of the definition."""
        return trust.sha256(self.text.encode("utf-8", "surrogatepass"))


def identity(found: Found, root: str, env: Mapping[str, str]) -> Identity:
    """What a hook of a project is."""
    hook, under = found.hook, ""
    files = found.scripts
    if get(hook.dialect).companions and files:
        # The script is known by its name; where it stands and what starts it are no part of the definition.
        hook = hook._replace(handler=hook.handler._replace(command=trust.named(files[0], root, env)))
        under = os.path.dirname(files[0])  # noqa: PTH120
        files = tuple(trust.below(under)[0])
    paths = dict.fromkeys((*files, *_named(found, root, env)))
    names = tuple(trust.named(path, root, env) for path in paths)
    place = f"{trust.named(found.file, root, env)}#{found.place}"
    return Identity(place, text_of(hook), names, trust.named(under, root, env) if under else "")


def _named(found: Found, root: str, env: Mapping[str, str]) -> Iterator[str]:
    """The scripts that the commands of a hook name anywhere, also those that are not there yet."""
    hook = found.hook
    dialect = get(hook.dialect)
    if dialect.companions:
        return
    starts = (
        *((spelling, found.package) for spelling in dialect.package_dir),
        *((spelling, root) for spelling in (*dialect.project_dir, "$PWD", "${PWD}")),
        *((spelling, env.get("HOME", "")) for spelling in ("~", "$HOME", "${HOME}")),
    )
    for command in (hook.handler.command, *hook.handler.platform.values()):
        for word in SCRIPT.findall(command.replace('"', "").replace("'", "")):
            start, folder = next(
                (pair for pair in starts if pair[0] and word.startswith(f"{pair[0]}/")), ("", root)
            )
            bare = word.removeprefix(start).lstrip("/") if start else word
            if folder and not SHELL.search(bare):
                yield os.path.normpath(Path(folder) / ("" if start else hook.handler.cwd) / bare)


def text_of(hook: Hook) -> str:
    """The definition, always the same for the same hook."""
    return json.dumps(_said(hook), sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=str)


def hook_of(text: str) -> Hook:
    """The hook of a definition; ValueError if it is none."""
    try:
        tree = json.loads(text)
        handler = dict(tree.pop("handler"))
        if "timeout" in handler:
            handler["timeout"] = timedelta(seconds=handler["timeout"])
        handler["allowed_env"] = tuple(handler.get("allowed_env", ()))
        tree["matcher"] = tuple(Term(*term) for term in tree.get("matcher", ()))
        tree["capabilities"] = tuple(tree.get("capabilities", ()))
        return Hook(handler=Handler(**handler), **tree)
    except (TypeError, KeyError, AttributeError, OverflowError) as error:
        raise ValueError(str(error)) from error


def _said(value: Tree) -> Tree:
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, Hook | Handler):
        defaults = value._field_defaults
        fields = value._asdict().items()
        return {name: _said(one) for name, one in fields if name not in defaults or one != defaults[name]}
    if isinstance(value, Term):
        return [part for part in value if part]
    if isinstance(value, Mapping):
        return {str(key): _said(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_said(one) for one in value]
    return value
