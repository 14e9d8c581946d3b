"""Approving the hooks of a test's project, as its user would with `hookport trust`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from hookport.install import lock
from hookport.project.discovery import discover
from hookport.runtime import approvals


def approve(root: Path, env: Mapping[str, str]) -> None:
    """Approve what is there; what is approved already is left as it is."""
    found = discover(str(root), env)
    built = lock.build(found, env)
    if dict(approvals.find_approved_state(found.root, built, env).lock) != built:
        approvals.store_approval(found.root, built, lock.collect_texts(found, env), env)


def approve_for_ci(root: Path, env: Mapping[str, str]) -> dict[str, str]:
    """The variable that approves what is there, for a user who has no place for a store."""
    found = discover(str(root), env)
    built = lock.build(found, env)
    shared = lock.drop_private_hooks(found, built, env)
    lock.write(found.root, shared)
    return {"HOOKPORT_TRUSTED_LOCK": lock.hash_lock(shared)}
