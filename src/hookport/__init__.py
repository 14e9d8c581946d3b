"""Write a hook for AI coding agents once and run it, with the same effect, in every agent."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hookport.model.runs import Decision
    from hookport.sdk.answers import allow, ask, context, deny, rewrite
    from hookport.sdk.calling import run
    from hookport.sdk.events import Event
    from hookport.sdk.hooks import (
        after_tool,
        agent_stop,
        before_prompt,
        before_tool,
        on,
        session_end,
        session_start,
    )

__version__ = "0.1.0"

__all__ = [
    "Decision",
    "Event",
    "after_tool",
    "agent_stop",
    "allow",
    "ask",
    "before_prompt",
    "before_tool",
    "context",
    "deny",
    "on",
    "rewrite",
    "run",
    "session_end",
    "session_start",
]


# The module of each name; a dispatch imports this package too, and needs none of them.
_HOMES = {
    "Decision": "hookport.model.runs",
    "Event": "hookport.sdk.events",
    "run": "hookport.sdk.calling",
    **dict.fromkeys(("allow", "ask", "context", "deny", "rewrite"), "hookport.sdk.answers"),
    **dict.fromkeys(
        ("after_tool", "agent_stop", "before_prompt", "before_tool", "on", "session_end", "session_start"),
        "hookport.sdk.hooks",
    ),
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'hookport' has no attribute '{name}'")
    import sys

    home = _HOMES[name]
    __import__(home)
    if name == "run":
        # A hook file begins: from here on its exceptions are no traceback for the agent.
        sys.modules[home].begin()
    found: object = getattr(sys.modules[home], name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
