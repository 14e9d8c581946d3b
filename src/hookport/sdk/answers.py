"""The answers of a hook's function. Returning nothing is no opinion, which is not allow."""

from __future__ import annotations

from hookport.model.runs import Decision

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


def allow(reason: str = "") -> Decision:
    """Allow the action, without the question that the agent would otherwise ask."""
    return Decision("allow", reason)


def deny(reason: str) -> Decision:
    """Deny the action; the agent reads the reason. On a stop event the agent continues, for that reason."""
    return Decision("deny", reason)


def ask(reason: str) -> Decision:
    """Ask a person; where nobody can be asked, the action is denied."""
    return Decision("ask", reason)


def context(text: str) -> Decision:
    """Give the model context, without an opinion on the action."""
    return Decision(context=text)


def rewrite(changes: Mapping[str, Any] | None = None, /, **fields: Any) -> Decision:  # noqa: ANN401
    """Change fields of the tool's input, by their canonical names; the others stay unchanged.

    In an agent that cannot rewrite inputs, the call is denied.
    """
    return Decision(updated_input={**(changes or {}), **fields})
