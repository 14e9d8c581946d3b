"""Agents that approve hooks by themselves: what they say of each, and their approval with the user's consent.

What one of them needs for that is in its own module beside its dialect.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

from hookport import documents
from hookport.agents import Dialect, get, names
from hookport.agents._agent_trust import MODIFIED, TRUSTED, UNTRUSTED, AgentHook
from hookport.agents._base import Path as Way
from hookport.errors import InputError, Problem
from hookport.install.files import Change, apply, read
from hookport.model.hooks import Hook
from hookport.project import salvage
from hookport.project.agent_trust import fingerprint_of, trust_key, trust_of_hook
from hookport.project.disk import data_of
from hookport.project.places import absolute

__all__ = ["AgentHook", "approve", "states", "untrusted"]


def _modules() -> dict[str, ModuleType]:
    """The agents with an approval of their own."""
    places = {name: f"hookport.agents._{name.replace('-', '_')}_trust" for name in names()}
    return {name: import_module(place) for name, place in places.items() if find_spec(place)}


def states(root: str, env: Mapping[str, str]) -> list[AgentHook]:
    """What each agent says of its hooks in a project; of one that does not answer, what its files say."""
    found: list[AgentHook] = []
    for name, module in _modules().items():
        said = module.listed(root, env)
        found += _remembered(get(name), root, env) if said is None else said
    return found


def _remembered(dialect: Dialect, root: str, env: Mapping[str, str]) -> Iterator[AgentHook]:
    """What an agent that does not answer keeps in its files of the hooks that it would load."""
    memory = dialect.hook_trust and absolute(dialect, dialect.hook_trust.file, root, env)
    if not memory or not Path(memory).parent.is_dir():
        return
    for place in dialect.locations:
        file = absolute(dialect, place.path, root, env)
        if place.scope not in ("project", "local", "user") or not file:
            continue
        try:
            data = data_of(Path(file))
            reading = salvage.read({file: data}, dialect)[0] if data is not None else None
        except InputError:
            continue
        decoded = reading.decoded if reading else None
        for hook, at in zip(decoded.manifest.hooks, decoded.places, strict=True) if decoded else ():
            yield _as_kept(dialect, hook, file, at.path, root, env)


def _as_kept(
    dialect: Dialect, hook: Hook, file: str, way: Way, root: str, env: Mapping[str, str]
) -> AgentHook:
    trust = dialect.hook_trust
    assert trust is not None  # noqa: S101  (its file was looked at)
    verdict = trust_of_hook(dialect, file, way, root, env)
    state = TRUSTED if verdict.is_trusted else MODIFIED if verdict.has_changed else UNTRUSTED
    key, now = trust_key(trust, file, way), fingerprint_of(trust, file, way)
    return AgentHook(dialect.id, key, file, hook.event, hook.handler.command, now, state)


def untrusted(root: str, env: Mapping[str, str]) -> list[AgentHook]:
    """The hooks that an agent does not run until they are approved."""
    return [hook for hook in states(root, env) if hook.state != TRUSTED]


def approve(hooks: Sequence[AgentHook], root: str, env: Mapping[str, str]) -> None:
    """Write the approval of a project's hooks into the settings of their agents."""
    for name, module in _modules().items():
        own = [hook for hook in hooks if hook.agent == name]
        path = module.settings(env)
        if not own or not path:
            continue
        before = read(path)
        kind = documents.kind_of(path)
        try:
            document = documents.parse(before or b"", kind)
            after = document.rewrite(module.trusting(document.tree, own))
        except (documents.SyntaxProblem, documents.RewriteFailed) as error:
            raise InputError(Problem(str(error), file=path)) from None
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        apply([Change(path, before, after)], env, what="trust --agents", root=root)
