"""The conversation for a hook's function: the agent's transcript, in canonical names."""

from __future__ import annotations

import os

from hookport.runtime import transcripts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hookport.model.runs import Event
    from hookport.runtime.transcript_shape import TranscriptEntry
    from hookport.wire.table import Wire


def read_conversation(event: Event, wire: Wire) -> tuple[TranscriptEntry, ...]:
    """Read the entries of the transcript of an event that a wire sent."""
    read = transcripts.read_transcript(event, wire, dict(os.environ))
    entries = transcripts.complete_entries(read.conversation.entries, event)
    return tuple(_name_call(entry, wire) for entry in entries)


def _name_call(entry: TranscriptEntry, wire: Wire) -> TranscriptEntry:
    if entry.kind != "call":
        return entry
    call = transcripts.read_call(entry, wire)
    return entry.replace(name=call.tool or call.native, input=dict(call.input))
