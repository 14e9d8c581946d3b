"""Agents with their own approval of hooks: how they judge each, and their approval with the user's consent.

Each agent's `HookTrust` describes what it needs for that.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from hookport import documents
from hookport.agents import Dialect, get, list_dialects
from hookport.errors import InputError, Problem
from hookport.install.files import apply
from hookport.model.hooks import Hook
from hookport.project import salvage
from hookport.project.agent_trust import (
    fingerprint_hook,
    make_trust_row,
    read_hook_trust,
    spell_trust_key,
    value_at,
)
from hookport.project.contents import Change, read_file
from hookport.project.disk import read_data
from hookport.project.places import resolve_place
from hookport.shapes.dialect import (
    HOOK_TRUST,
    MODIFIED,
    TRUSTED,
    UNTRUSTED,
    AgentHook,
    HookTrust,
    Tree,
    find_quirk,
)
from hookport.shapes.dialect import Path as Way

__all__ = ["AgentHook", "approve", "list_states", "list_untrusted"]


def _list_approving() -> Iterator[tuple[Dialect, HookTrust]]:
    """The agents with their own approval."""
    for name in list_dialects():
        dialect = get(name)
        if trust := find_quirk(dialect, HOOK_TRUST):
            yield dialect, trust


def list_states(root: str, env: Mapping[str, str]) -> list[AgentHook]:
    """How each agent judges its hooks in a project; if it does not answer, by its files."""
    hooks: list[AgentHook] = []
    for dialect, trust in _list_approving():
        listed = trust.list_hooks(root, env) if trust.list_hooks else None
        hooks += _read_remembered(dialect, root, env) if listed is None else listed
    return hooks


def _read_remembered(dialect: Dialect, root: str, env: Mapping[str, str]) -> Iterator[AgentHook]:
    """The trust of an agent that does not answer, from its files, for the hooks that it would load."""
    trust = find_quirk(dialect, HOOK_TRUST)
    memory = trust and resolve_place(dialect, trust.file, root, env)
    if not memory or not Path(memory).parent.is_dir():
        return
    for place in dialect.locations:
        file = resolve_place(dialect, place.path, root, env)
        if place.scope not in ("project", "local", "user") or not file:
            continue
        try:
            data = read_data(Path(file))
            reading = salvage.read({file: data}, dialect)[0] if data is not None else None
        except InputError:
            continue
        decoded = reading.decoded if reading else None
        for hook, spot in zip(decoded.manifest.hooks, decoded.places, strict=True) if decoded else ():
            yield _make_agent_hook(dialect, hook, file, spot.path, root, env)


def _make_agent_hook(
    dialect: Dialect, hook: Hook, file: str, way: Way, root: str, env: Mapping[str, str]
) -> AgentHook:
    trust = find_quirk(dialect, HOOK_TRUST)
    assert trust is not None  # noqa: S101  (its file was read)
    verdict = read_hook_trust(dialect, file, way, root, env)
    state = TRUSTED if verdict.is_trusted else MODIFIED if verdict.has_changed else UNTRUSTED
    key, now = spell_trust_key(trust, file, way), fingerprint_hook(trust, file, way)
    return AgentHook(dialect.id, key, file, hook.event, hook.handler.command, now, state)


def list_untrusted(root: str, env: Mapping[str, str]) -> list[AgentHook]:
    """The hooks that an agent skips until its own approval covers them."""
    return [hook for hook in list_states(root, env) if hook.state != TRUSTED]


def approve(hooks: Sequence[AgentHook], root: str, env: Mapping[str, str]) -> None:
    """Write the approval of a project's hooks into their agents' settings."""
    for dialect, trust in _list_approving():
        agent_hooks = [hook for hook in hooks if hook.agent == dialect.id]
        path = resolve_place(dialect, trust.file, root, env)
        if not agent_hooks or not path:
            continue
        before = read_file(path)
        kind = documents.detect_kind(path)
        try:
            if before is None:
                after = documents.dump(_add_approvals(trust, {}, agent_hooks), kind)
            else:
                document = documents.parse(before, kind)
                after = document.rewrite(_add_approvals(trust, document.tree, agent_hooks))
        except (documents.SyntaxProblem, documents.RewriteFailed) as error:
            raise InputError(Problem(str(error), file=path)) from None
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        apply([Change(path, before, after)], env, what="trust --in-agents", root=root)


def _add_approvals(trust: HookTrust, tree: Tree, hooks: Sequence[AgentHook]) -> Tree:
    """An agent's settings with the current hooks approved."""
    if trust.row:
        rows = [row for row in value_at(tree, trust.key) or [] if isinstance(row, Mapping)]
        added = (make_trust_row(trust, hook.key, hook.hash) for hook in hooks)
        return _set_value(tree, trust.key, [*rows, *(row for row in added if row not in rows)])
    state = dict(value_at(tree, trust.key) or {})
    for hook in hooks:
        state[hook.key] = {**state.get(hook.key, {}), trust.field: hook.hash}
    return _set_value(tree, trust.key, state)


def _set_value(tree: Tree, key: Sequence[str], value: Tree) -> Tree:
    """A tree with a value at a path of keys."""
    return {**(tree or {}), key[0]: _set_value(tree.get(key[0]) or {}, key[1:], value)} if key else value
