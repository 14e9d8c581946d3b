"""Agents that approve hooks by themselves: what they say of each, and their approval with the user's consent.

What one of them needs for that is in its own module beside its dialect.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

from hookport import formats
from hookport.dialects import names
from hookport.dialects._agent_trust import TRUSTED, AgentHook
from hookport.errors import InputError, Problem
from hookport.install.files import Change, apply, read

__all__ = ["AgentHook", "approve", "states", "untrusted"]


def _modules() -> dict[str, ModuleType]:
    """The agents with an approval of their own."""
    places = {name: f"hookport.dialects._{name.replace('-', '_')}_trust" for name in names()}
    return {name: import_module(place) for name, place in places.items() if find_spec(place)}


def states(root: str, env: Mapping[str, str]) -> list[AgentHook]:
    """What each agent says of its hooks in a project; nothing of one that is not installed."""
    return [hook for module in _modules().values() for hook in module.listed(root, env)]


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
        kind = formats.kind_of(path)
        try:
            document = formats.parse(before or b"", kind)
            after = document.rewrite(module.trusting(document.tree, own))
        except (formats.SyntaxProblem, formats.RewriteFailed) as error:
            raise InputError(Problem(str(error), file=path)) from None
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        apply([Change(path, before, after)], env, what="trust --agents", root=root)
