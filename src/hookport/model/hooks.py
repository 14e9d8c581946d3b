"""The content of a manifest: hooks, their matchers and handlers; values only, compared whole."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

SPEC = "hooks/1.0"
DRAFT_SPEC = "hooks/0.1"
DEFAULT_TIMEOUT = timedelta(seconds=30)
NOTHING: Mapping[str, Any] = MappingProxyType({})

TermKind = Literal["tool", "pattern", "mcp"]
HandlerType = Literal["command", "http", "prompt", "agent", "native"]  # native: only its own dialect has it
Strategy = Literal["block", "warn", "exclude"]

HANDLER_TYPES: tuple[HandlerType, ...] = ("command", "http", "prompt", "agent")
PLATFORMS = ("windows", "linux", "osx")
STRATEGIES: tuple[Strategy, ...] = ("block", "warn", "exclude")

# Hook Interchange Format 1.0, capability registry: name -> strategy if a target lacks it.
CAPABILITIES: dict[str, Strategy] = {
    "structured_output": "warn",
    "input_rewrite": "block",
    "llm_evaluated": "exclude",
    "http_handler": "warn",
    "async_execution": "warn",
    "platform_commands": "warn",
    "custom_env": "warn",
    "configurable_cwd": "warn",
}

ANY_SERVER = "*"


class Term(NamedTuple):
    """One alternative of a matcher.

    `tool`: a name of the tool vocabulary, or an unknown one, passed through. `pattern`: a regular expression
    on the event's subject. `mcp`: a server (`*` for any) and optionally one of its tools.
    """

    kind: TermKind
    value: str
    tool: str = ""


class Handler(NamedTuple):
    """The program, URL or prompt of a hook."""

    type: HandlerType = "command"
    command: str = ""
    url: str = ""
    headers: Mapping[str, str] = NOTHING
    allowed_env: tuple[str, ...] = ()
    prompt: str = ""
    model: str = ""
    platform: Mapping[str, str] = NOTHING
    cwd: str = ""
    env: Mapping[str, str] = NOTHING
    timeout: timedelta | None = None
    is_async: bool = False
    timeout_action: str = ""
    on_failure: str = ""
    status_message: str = ""


class Hook(NamedTuple):
    """One hook: when it runs, what runs, and its strategies for targets that lack a capability.

    An empty `matcher` means everything. `content` is a regular expression on the tool's input, `condition` a
    permission rule that the call must match, such as `Bash(git push *)`. `dialect` is the dialect whose
    payloads, answers and tool names the handler was written for.
    """

    event: str
    handler: Handler
    matcher: tuple[Term, ...] = ()
    blocking: bool = False
    name: str = ""
    description: str = ""
    content: str = ""
    condition: str = ""
    priority: int | None = None
    metadata: Mapping[str, Any] = NOTHING
    enabled: bool = True
    degradation: Mapping[str, str] = NOTHING
    capabilities: tuple[str, ...] = ()
    provider_data: Mapping[str, Any] = NOTHING
    dialect: str = ""


class Manifest(NamedTuple):
    """All hooks of one source; `provider_data` has a dialect's data beside its hooks."""

    hooks: tuple[Hook, ...]
    provider_data: Mapping[str, Any] = NOTHING
