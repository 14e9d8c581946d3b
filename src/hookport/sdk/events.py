"""The event that a hook's function receives: the same names for every agent, empty if not sent."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from hookport.base.tree import Tree
    from hookport.model.runs import Call
    from hookport.model.runs import Event as CanonicalEvent
    from hookport.runtime.transcript_shape import TranscriptEntry
    from hookport.wire.table import Wire

# The fields of a missing tool call.
NO_INPUT: dict[str, object] = {}


class Event:
    """One event of an agent. Other fields are empty: a prompt has no `command`, a shell no `path`."""

    __slots__ = ("_wire", "agent", "happened", "raw")

    def __init__(
        self,
        happened: CanonicalEvent,
        raw: Mapping[str, Tree] | None = None,
        agent: str = "",
        wire: Wire | None = None,
    ) -> None:
        # The unchanged payload, in the hook's own dialect.
        self.raw: Mapping[str, Tree] = {} if raw is None else raw
        # The id of the agent that fired the event, even if hookport translated it.
        self.agent = agent or happened.agent
        # The event in canonical form.
        self.happened = happened
        # The tables of the dialect that sent the payload.
        self._wire = wire

    @property
    def name(self) -> str:
        """The event's canonical name, such as `before_tool_execute`."""
        return self.happened.event

    @property
    def native(self) -> str:
        """The agent's own name of the event."""
        return self.happened.native

    @property
    def session_id(self) -> str:
        return self.happened.session

    @property
    def cwd(self) -> str:
        return self.happened.cwd

    @property
    def root(self) -> str:
        """The project's folder; if the agent does not send it, the working folder."""
        return self.happened.root or self.happened.cwd

    @property
    def tool(self) -> str:
        """The tool's canonical name (`shell`, `file_write` …), or else the agent's own name."""
        call = self._call
        return call.tool or call.native if call else ""

    @property
    def native_tool(self) -> str:
        """The agent's own name of the tool."""
        return self._call.native if self._call else ""

    @property
    def mcp_server(self) -> str:
        return self._call.server if self._call else ""

    @property
    def mcp_tool(self) -> str:
        return self._call.mcp_tool if self._call else ""

    @property
    def input(self) -> Mapping[str, Tree]:
        """The tool's input, by canonical field names, as rewritten so far."""
        return self._call.input if self._call else NO_INPUT

    @property
    def command(self) -> str:
        """The shell command."""
        return self._read_text("command")

    @property
    def path(self) -> str:
        """The file that a tool reads, writes or changes."""
        return self._read_text("path")

    @property
    def content(self) -> str:
        """The text that a tool writes: a whole file, or the replacement text of an edit."""
        return self._read_text("content") or self._read_text("new")

    @property
    def url(self) -> str:
        return self._read_text("url")

    @property
    def output(self) -> str:
        """The text of the tool's result."""
        return (self._call.text or "") if self._call else ""

    @property
    def error(self) -> str:
        """The tool's error."""
        error = self._call.error if self._call else None
        return "" if error is None else str(error)

    @property
    def prompt(self) -> str:
        """The user's prompt."""
        return self.happened.prompt

    @property
    def final_message(self) -> str:
        """The agent's last message before it stops."""
        return self.happened.final_message

    @property
    def stop_active(self) -> bool:
        """Whether the agent continues only because a hook kept it from stopping."""
        return self.happened.stop_active

    @property
    def source(self) -> str:
        """How a session began or why it ended, in Claude Code's terms if it has one."""
        return self.happened.source

    @property
    def subagent(self) -> str:
        return self.happened.subagent

    @property
    def facts(self) -> Mapping[str, Any]:
        """Other fields of the payload, by canonical name: `permission_mode`, `transcript`, `model`, ..."""
        return self.happened.facts

    @property
    def transcript(self) -> Sequence[TranscriptEntry]:
        """The conversation so far, as far as the agent writes it down: prompts, answers, calls and results.

        A call has the canonical names of its tool and its input. Empty if there is no transcript, or none in
        a shape that hookport knows.
        """
        if self._wire is None:
            return ()
        from hookport.sdk import conversations

        return conversations.read_conversation(self.happened, self._wire)

    @property
    def _call(self) -> Call | None:
        return self.happened.call

    def _read_text(self, field: str) -> str:
        value = self.input.get(field)
        return value if isinstance(value, str) else ""

    def __repr__(self) -> str:
        about = {name: getattr(self, name) for name in ("tool", "prompt", "source") if getattr(self, name)}
        parts = [self.name, *(f"{name}={value!r}" for name, value in {**about, **self.input}.items())]
        return f"Event({', '.join(parts)})"
