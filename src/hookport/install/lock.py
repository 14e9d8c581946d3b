"""`hookport.lock`: the hooks of a project, in the same bytes for the same hooks on every machine.

Hooks in personal files, which are not shared, are approved like the others, but only the user's store has
them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal, NamedTuple

from hookport.agents import get
from hookport.base.files import replace_file
from hookport.base.tree import Tree
from hookport.errors import InputError, Problem, UsageError
from hookport.findings import ApprovalUnknown, Finding, NotAsApproved
from hookport.project import plan_builder
from hookport.project.discovery import Discovery, discover
from hookport.project.places import find_own_place
from hookport.project.settings import read_project_settings
from hookport.runtime import approvals, trust

Lock = dict[str, Tree]
What = Literal["new", "changed", "gone"]

# A larger text is approved by its hash alone, without a diff.
LARGEST_TEXT = 256 * 1024
CONFLICT = ("<<<<<<< ", ">>>>>>> ")


class LockDifference(NamedTuple):
    """One changed hook; `files` are the names of its changed files, each with the kind of change."""

    what: What
    id: str
    name: str
    is_redefined: bool
    files: tuple[tuple[str, What], ...] = ()


def build(discovery: Discovery, env: Mapping[str, str]) -> Lock:
    """The lock of a project's current hooks."""
    hooks = plan_builder.list_project_entries(discovery)
    lock = trust.make_lock(
        [plan_builder.plan_identified_entry(hook, discovery.root, env) for hook in hooks], discovery.root, env
    )
    identities = [plan_builder.identify_entry(hook, discovery.root, env) for hook in hooks]
    return {
        **lock,
        "definitions": {identity.definition: json.loads(identity.text) for identity in identities},
        "settings": read_project_settings(discovery.root),
    }


def drop_private_hooks(discovery: Discovery, lock: Lock, env: Mapping[str, str]) -> Lock:
    """The lock without hooks of personal files, which no teammate and no CI has."""
    private = {
        plan_builder.identify_entry(own_hook, discovery.root, env).id
        for own_hook in plan_builder.list_project_entries(discovery)
        if (place := find_own_place(get(own_hook.hook.dialect), own_hook.file, discovery.root, env))
        and place.scope == "local"
    }
    hooks = {place: entry for place, entry in lock["hooks"].items() if place not in private}
    known_definitions = dict(lock["definitions"])
    for hook in plan_builder.list_project_entries(discovery):
        if (
            hook.off and hook.off.scope == "local"
        ):  # only this person has the file, so the hook is enabled elsewhere
            identity = plan_builder.identify_entry(hook._replace(off=None), discovery.root, env)
            if identity.id in hooks:
                hooks[identity.id] = {**hooks[identity.id], "definition": identity.definition}
                known_definitions[identity.definition] = json.loads(identity.text)
    used = {entry["definition"] for entry in hooks.values()}
    definitions = {hash_: tree for hash_, tree in known_definitions.items() if hash_ in used}
    return {**lock, "hooks": hooks, "definitions": definitions}


def collect_texts(discovery: Discovery, env: Mapping[str, str]) -> dict[str, bytes]:
    """The texts behind the lock's hashes: definitions and scripts that are not too large."""
    contents: dict[str, bytes] = {}
    # The whole plan, which later shows what was approved.
    plan = trust.read_file(str(Path(discovery.root, trust.BRIDGE[0])))
    if plan is not None:
        contents[trust.sha256(plan)] = plan
    for hook in plan_builder.list_project_entries(discovery):
        identity = plan_builder.identify_entry(hook, discovery.root, env)
        contents[identity.definition] = identity.text.encode("utf-8", "surrogatepass")
        for name in identity.files:
            path = Path(trust.resolve_name(name, discovery.root, env))
            with suppress(OSError):
                if path.is_file() and path.stat().st_size <= LARGEST_TEXT:
                    data = path.read_bytes()
                    contents[trust.sha256(data)] = data
    return contents


class ApprovalStanding(NamedTuple):
    """A project compared with its user's approvals: its nearest approved state, and the differences."""

    states: int
    is_active: bool
    approved: str
    differences: tuple[LockDifference, ...]
    not_covered: Mapping[str, tuple[str, ...]]
    # Why the approvals are unknown; then every call that a guard could match is denied.
    lost: str = ""


def find_standing(discovery: Discovery, env: Mapping[str, str]) -> ApprovalStanding:
    """Compare a project with its approvals; without hooks and approvals nothing differs."""
    current = build(discovery, env)
    approval = trust.load_approval(discovery.root, env)
    states, lost = approval.states, approval.why if approval.is_broken else ""
    nearest = approvals.find_approved_state(discovery.root, current, env)
    shares = (current, drop_private_hooks(discovery, current, env))
    is_active = dict(nearest.lock) in shares or not (states or current["hooks"] or lost)
    hooks = [
        (hook, plan_builder.identify_entry(hook, discovery.root, env))
        for hook in plan_builder.list_project_entries(discovery)
    ]
    hooks.sort(key=lambda pair: pair[1].id)
    uncovered = {
        plan_builder.name_entry(hook): (*identity.not_covered, *identity.local) for hook, identity in hooks
    }
    return ApprovalStanding(
        len(states),
        is_active,
        nearest.when,
        () if is_active else tuple(compare(dict(nearest.lock), current)),
        {name: what for name, what in uncovered.items() if what},
        lost,
    )


def check(discovery: Discovery, env: Mapping[str, str]) -> list[Finding]:
    """Findings for hooks that differ from the approved ones, and for a lock that differs from its hooks.

    Without known approvals, as in CI, the lock counts.
    """
    stand = find_standing(discovery, env)
    if stand.lost:
        return [ApprovalUnknown.at("", why=stand.lost)]
    findings = []
    if stand.states:
        day = stand.approved[:10]
        findings = _make_findings(
            stand.differences, f"you approved it on {day}" if day else "it was approved"
        )
    current = drop_private_hooks(discovery, build(discovery, env), env)
    try:
        locked = read(discovery.root) or {"hooks": {}}
    except InputError as error:
        what = f"unreadable ({error.problems[0].message})"
        return [*findings, NotAsApproved.at("", name=trust.LOCK, what=what, since="it was written")]
    if locked == current or not (current["hooks"] or locked["hooks"]):
        return findings
    since = f"{trust.LOCK} was written"
    stale = _make_findings(compare(locked, current), since)
    if not stale:
        what = "not the lock of these hooks"
        stale = [NotAsApproved.at("", name=trust.LOCK, what=what, since="the settings or the bridge changed")]
    return [*findings, *stale]


def _make_findings(differences: Sequence[LockDifference], since: str) -> list[Finding]:
    return [
        NotAsApproved.at(
            "", name=difference.name or difference.id, what=difference.what, since=since
        )._replace(file=difference.id.partition("#")[0])
        for difference in differences
    ]


def spell_lock(lock: Lock) -> bytes:
    """The bytes of a lock."""
    return (
        json.dumps(lock, indent=2, sort_keys=True, ensure_ascii=False).encode("utf-8", "surrogatepass")
        + b"\n"
    )


def hash_lock(lock: Lock) -> str:
    """The SHA-256 of a lock's bytes, in the form of HOOKPORT_TRUSTED_LOCK."""
    return trust.sha256(spell_lock(lock))


def read(root: str) -> Lock | None:
    """The lock in a project; None if missing. InputError if it cannot be read."""
    path = Path(root) / trust.LOCK
    try:
        text = path.read_text("utf-8")
        tree = None if any(f"\n{mark}" in f"\n{text}" for mark in CONFLICT) else json.loads(text)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(Problem(f"is not a lock: {error}", file=str(path))) from None
    if tree is None:
        message = "has merge conflicts. Resolve the conflicts of the hooks first, then run `hookport trust`"
        raise InputError(Problem(message, file=str(path)))
    if not isinstance(tree, dict) or not isinstance(tree.get("hooks"), dict):
        raise InputError(Problem("is not a lock", file=str(path)))
    return tree


def write(root: str, lock: Lock) -> bool:
    """Write the lock of a project; return whether it changed."""
    path, data = Path(root) / trust.LOCK, spell_lock(lock)
    with suppress(OSError):
        if path.read_bytes() == data:
            return False
    _replace_file(path, data)
    return True


def approve(root: str, reviewed: Lock, env: Mapping[str, str], how: str) -> None:
    """Approve the reviewed hooks; UsageError if they changed since."""
    discovery = discover(root, env)
    contents = collect_texts(discovery, env)
    if build(discovery, env) != reviewed:
        raise UsageError("the hooks changed during the review. Nothing was approved. Review them again.")
    write(root, drop_private_hooks(discovery, reviewed, env))
    approvals.store_approval(root, reviewed, contents, env, how)


def compare(old: Lock, new: Lock) -> list[LockDifference]:
    """The new, changed and removed hooks; a hook that only moved within its file is the same."""
    before, after = dict(old.get("hooks", {})), dict(new.get("hooks", {}))
    for place in list(after):
        same = next(
            (former for former in _list_places_in_file(place, before) if before[former] == after[place]), None
        )
        if same is not None:
            del before[same], after[place]
    differences = [_make_difference(place, before.pop(place, None), entry) for place, entry in after.items()]
    differences += [
        LockDifference("gone", place, entry.get("name", ""), is_redefined=True)
        for place, entry in before.items()
    ]
    return differences


def _list_places_in_file(place: str, entries: Lock) -> list[str]:
    """The places of one file, the identical one first."""
    file = place.partition("#")[0] + "#"
    return sorted((entry for entry in entries if entry.startswith(file)), key=lambda entry: entry != place)


def _make_difference(place: str, was: Tree, now: Tree) -> LockDifference:
    if was is None:
        files = tuple((name, _new) for name in now["files"])
        return LockDifference("new", place, now["name"], is_redefined=True, files=files)
    names = dict.fromkeys((*was["files"], *now["files"]))
    files = tuple(
        (name, _judge_change(was["files"].get(name), now["files"].get(name)))
        for name in names
        if was["files"].get(name) != now["files"].get(name)
    )
    return LockDifference("changed", place, now["name"], was["definition"] != now["definition"], files)


_new: What = "new"


def _judge_change(was: str | None, now: str | None) -> What:
    return "new" if was is None else "gone" if now is None else "changed"


def _replace_file(path: Path, data: bytes) -> None:
    """Replace a file; keep a link as a link."""
    try:
        replace_file(os.path.realpath(path), data, None, is_durable=True)
    except OSError as error:
        raise InputError(Problem(f"cannot write this file: {error.strerror}", file=str(path))) from None
