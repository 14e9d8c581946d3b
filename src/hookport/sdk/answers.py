"""What a hook's function may answer; to return nothing is to have no opinion, which is not to allow."""

from __future__ import annotations

from hookport.model.runs import Decision

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


def allow(reason: str = "") -> Decision:
    """Let it happen, without the question that an agent would ask otherwise."""
    return Decision("allow", reason)


def deny(reason: str) -> Decision:
    """Stop it; the agent reads the reason. Where the agent is about to stop: it goes on, for that reason."""
    return Decision("deny", reason)


def ask(reason: str) -> Decision:
    """Let a person decide; where nobody can be asked it is denied."""
    return Decision("ask", reason)


def context(text: str) -> Decision:
    """Tell the model something, without an opinion on what happens."""
    return Decision(context=text)


def rewrite(changes: Mapping[str, Any] | None = None, /, **fields: Any) -> Decision:  # noqa: ANN401
    """Change fields of the tool's input, by their canonical names; the others stay as they are.

    It is denied where an agent takes no other input.
    """
    return Decision(updated_input={**(changes or {}), **fields})
