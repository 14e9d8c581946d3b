"""A hook's identity in bytes: its definition as canonical JSON, and the files that it runs.

A field with its default is omitted, so that a later version with more fields produces the same bytes.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import NamedTuple

from hookport.agents import get
from hookport.base.paths import spell_path
from hookport.base.tree import Tree
from hookport.model.hooks import Handler, Hook, Term
from hookport.project.covered import cover, read_hook_globs
from hookport.project.discovery import HookEntry
from hookport.runtime import trust


class Identity(NamedTuple):
    """A hook's entry in the lock; `under` is the folder whose every file counts.

    `beside` are the folders that Python imports from, each with the modules that it searches there.
    """

    id: str
    text: str
    files: tuple[str, ...]
    under: str
    beside: Mapping[str, tuple[str, ...]] = {}
    not_covered: tuple[str, ...] = ()
    # The same for files that another machine may not have; not part of the lock.
    local: tuple[str, ...] = ()

    @property
    def definition(self) -> str:
        """The hash of the definition."""
        return trust.sha256(self.text.encode("utf-8", "surrogatepass"))


def identify(entry: HookEntry, root: str, env: Mapping[str, str], globs: Sequence[str] = ()) -> Identity:
    """Make the identity of a project's hook; `globs` name more files that the project's settings cover."""
    hook, under = entry.hook, ""
    if entry.off and not entry.off.is_users:
        # The approval did not include that the project switches it off.
        hook = hook._replace(enabled=False)
    everything: tuple[str, ...] = ()
    if get(hook.dialect).shape.companions and entry.scripts:
        # A name identifies the script; its path and its interpreter are not part of the definition.
        script = entry.scripts[0]
        hook = hook._replace(handler=hook.handler._replace(command=spell_path(script, root, env)))
        under = os.path.dirname(script)  # noqa: PTH120
        everything = tuple(trust.list_below(under)[0])
    covered = cover(entry, root, env, (*read_hook_globs(entry.hook), *globs))
    paths = dict.fromkeys((*everything, *covered.files))
    beside = {
        spell_path(folder, root, env): names
        for folder, names in covered.beside.items()
        if not (under and (folder == under or folder.startswith(f"{under}/")))
    }
    return Identity(
        f"{spell_path(entry.file, root, env)}#{entry.place}",
        spell_hook(hook),
        tuple(spell_path(path, root, env) for path in paths),
        spell_path(under, root, env) if under else "",
        beside,
        covered.not_covered,
        covered.local,
    )


def spell_hook(hook: Hook) -> str:
    """The definition, always the same for the same hook."""
    return spell_definition(_make_tree(hook))


def spell_definition(tree: Tree) -> str:
    """The text of a definition, from which its hash is made."""
    return json.dumps(tree, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=str)


def parse_hook(text: str) -> Hook:
    """Parse the hook of a definition; ValueError if invalid."""
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


def _make_tree(value: Tree) -> Tree:
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, Hook | Handler):
        defaults = value._field_defaults
        fields = value._asdict().items()
        return {
            name: _make_tree(field)
            for name, field in fields
            if name not in defaults or field != defaults[name]
        }
    if isinstance(value, Term):
        return [part for part in value if part]
    if isinstance(value, Mapping):
        return {str(key): _make_tree(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_make_tree(item) for item in value]
    return value
