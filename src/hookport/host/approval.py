"""What a user has not approved, as a host can show it, and the approval of exactly what was shown."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from hookport.agents import list_markers
from hookport.errors import UsageError
from hookport.install import lock
from hookport.install.review import Review, review
from hookport.project.discovery import discover
from hookport.runtime import approvals, consent


@dataclass(frozen=True, slots=True)
class UnapprovedHook:
    """One hook that is new, changed or gone since the approval; `diff` is what changed, line by line."""

    name: str
    change: Literal["new", "changed", "gone"]
    place: str
    runs: str
    uses: tuple[str, ...]
    network: tuple[str, ...]
    not_covered: tuple[str, ...]
    diff: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Unapproved:
    """What a user has to look at before the hooks of a project run; false if there is nothing.

    `settings` are those of the project that differ: (name, approved, now). `lock` is what is approved.
    """

    root: str
    hooks: tuple[UnapprovedHook, ...]
    settings: tuple[tuple[str, Any, Any], ...]
    lock: Mapping[str, Any] = field(repr=False)

    def __bool__(self) -> bool:
        return bool(self.hooks or self.settings)

    @property
    def state(self) -> str:
        """The hash of what is shown: approving it again later approves nothing else."""
        return lock.hash_lock(dict(self.lock))

    def describe(self) -> str:
        """The same as text for a person."""
        lines = [f"{self.root}:"]
        for hook in self.hooks:
            lines += [f"{hook.change}  {hook.name}  {hook.place}", f"  runs: {hook.runs}"]
            lines += [f"  uses: {', '.join(hook.uses)}"] if hook.uses else []
            lines += [f"  network: {text}" for text in hook.network]
            lines += [f"  not covered: {', '.join(hook.not_covered)}"] if hook.not_covered else []
            lines += [f"    {line}" for line in hook.diff]
        lines += [
            f"settings  {name}: {was or 'unset'} → {now or 'unset'}" for name, was, now in self.settings
        ]
        return "\n".join(lines)


def find_unapproved(root: str, env: Mapping[str, str]) -> Unapproved:
    """Find what of a project is not as its user approved it."""
    discovery = discover(root, env)
    contents = lock.collect_texts(discovery, env)
    now = lock.build(discovery, env)
    before = dict(approvals.find_approved_state(discovery.root, now, env).lock)
    hooks = tuple(map(_describe, review(discovery, before, now, contents, env)))
    old, new = before.get("settings", {}), now["settings"]
    settings = tuple(
        (name, old.get(name), new.get(name))
        for name in sorted({*old, *new})
        if old.get(name) != new.get(name)
    )
    return Unapproved(discovery.root, hooks, settings, now)


def _describe(hook: Review) -> UnapprovedHook:
    difference = hook.difference
    return UnapprovedHook(
        difference.name,
        difference.what,
        difference.id,
        hook.runs,
        hook.capabilities,
        hook.network,
        hook.not_covered,
        hook.diff,
    )


def approve(shown: Unapproved, env: Mapping[str, str]) -> None:
    """Approve what was shown; ValueError if it changed, PermissionError where an agent asks."""
    if not isinstance(shown, Unapproved):
        raise TypeError(f"shown is {type(shown).__name__}; it must be what `unapproved` returned")
    if variable := consent.find_marker({**env, **os.environ}, list_markers()):
        raise PermissionError(
            f"nothing was approved: an agent runs this program ({variable} is set), and agents may not "
            "approve hooks."
        )
    try:
        lock.approve(shown.root, dict(shown.lock), env, consent.ASKED)
    except UsageError as changed:
        raise ValueError(str(changed)) from None
