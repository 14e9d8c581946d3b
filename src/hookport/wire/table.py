"""The tables of one wire: plain data, so that a compiled plan contains all that a dispatch needs."""

from __future__ import annotations

from hookport.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, Literal

    # Where something stands in a payload: `a.b` goes into objects, `a:json` names a spelling (see
    # `spellings`). Of several places the first with a value is read, and all are written.
    Places = str | Sequence[str]
    Trait = Literal[
        "bare MCP",
        "caps stops",
        "file placeholder",
        "fires twice",
        "root moves",
        "server last",
        "stops at deny",
    ]


FILE_PLACEHOLDER = "${file}"


class Wire(Value):
    """One dialect's wire; a dialect file contains the first part, the second follows from its tables."""

    # What the payload calls the attributes of an event: event, session, cwd, root, timestamp, tool, input,
    # call_id, result, error, server, mcp_tool, is_mcp, prompt, final_message, stop_active, source, subagent.
    # `input` may be an object of canonical field names and places, where the input has no object of its own.
    # Any other name is one of `Event.facts`; the names are those of `events.FACTS`.
    keys: Mapping[str, Any] = {}
    # Values that are called otherwise than in canonical terms: canonical word to native word, or to several,
    # of which the first is written; `*` is written for every word that has no entry. By fact, or by
    # canonical event for its source. A word without an entry is passed on as it is: a script that knows it
    # acts on it, and any other gets nothing untrue.
    words: Mapping[str, Mapping[str, Any]] = {}
    # The event's name in a payload if it differs from the native name, by native name.
    said: Mapping[str, str] = {}
    # What a payload for another agent's event gets where the event has no value, by place; `$root` and
    # the like are filled in.
    fixed: Mapping[str, Any] = {}
    # By native event, what this event has otherwise: rows of `keys` (None takes one away), of `fixed` and of
    # `env` that are its own; `view`, fields of this class with another value; and `echoes`, if it fires again
    # and is then answered without asking a hook: without a prompt, or with one of these marks.
    by_event: Mapping[str, Mapping[str, Any]] = {}

    # A tool's input: canonical field to native field, by native name of the tool or by canonical tool, `*`
    # for all others; of several native fields all are read and the first is written. `edits` gives the fields
    # of one element of a list of edits, `mcp` the object that may stand around the arguments of MCP tools,
    # with `$tool` and `$input` in it.
    inputs: Mapping[str, Mapping[str, Any]] = {}
    # Native tools whose input has the patch format, and the field it stands in; empty: the input is the text.
    # A tool that `inputs` has a row for, by its own name, takes plain fields instead where it has no patch.
    patches: Mapping[str, str] = {}
    # Native tools that number the fields of their edits (`old_str_1`, `old_str_2`); each is one of `edits`.
    numbered: Sequence[str] = ()
    # Native tools that do several things in one call: the field with the list (or the fields, the first of
    # which is written), and the canonical field of an element that is plain text (empty: an element is an
    # object with the fields of `inputs`). An element's list of words, or its `args`, make one command. An
    # object in place of the list is the one element.
    batches: Mapping[str, Sequence[Any]] = {}
    # Native tools that are another canonical tool by the value of a field: (field, {value: tool}); an empty
    # value is for no value, `*` for any other, and another such pair asks another field. An empty tool is one
    # that no word names and no guard is asked about.
    variants: Mapping[str, Sequence[Any]] = {}
    # The places of the text in a result, the first with a value counts; and the result written for another
    # agent's event, by native event, canonical tool or `*`, with `$text` in it. Without one the text itself.
    texts: Sequence[str] = ()
    results: Mapping[str, Any] = {}

    # Variables a script finds in its environment, and where it starts: `root`, `cwd` or `package`. `$data` is
    # a folder for what the script's package keeps, `$env_file` a file for variables that the agent's shell is
    # to have.
    env: Mapping[str, str] = {}
    starts_in: str = "cwd"
    # How the agent writes conversations down, one table for each of its stores and versions:
    # - `form` names the shape, and `of` the program and version that it was measured on.
    # - `named`: how the paths end that the agent itself gives its files. `kept`: where they are if a payload
    #   names none, from `~` or `$VARIABLE`, with `{session}`; `session` is the place of another id in the
    #   payload. `beside`: another file in the folder of the one that a payload names. `late`: for how many
    #   seconds the last answer may be missing at a stop.
    # - `store`: `lines` of JSON, a `folder` with such `files` (the first one's number is `first`), a
    #   `document` with a `list`, or a `database` and the `query` for the rows of `:session`, newest first.
    # - `records`: groups of rows. `where` are the words at places of a record, `each` is the place of a list;
    #   a row is for the elements `of` such words. It has a `kind` (`user`, `assistant`, `call`, `result`),
    #   and the places of its `text`, `id`, `name`, `input`, `time`, `message`, `model` and `usage`; `^` is
    #   the record around an element. `failed` are the signs of a failure: a place with a value, `place=word`,
    #   `!place` for false, `~text` for a number other than 0 after the text. `within` is the element around a
    #   prompt, `not_from` what the agent's own messages start with. `again`: records replace earlier ones.
    # - `other`: records without a conversation. Any record that fits nothing is left out and counted.
    # - `tools`: by the name in events, the `name` in the transcript, and there the fields of the input.
    # - `writes`: templates of the lines of a `user`, `assistant`, `call` and `result`, and of the `head`.
    transcript: Sequence[Mapping[str, Any]] = ()
    # Keys of a payload that distinguish it from other dialects with the same event names; `key=text` where
    # the value must contain the text. And, for payloads that do not name their event, the same for each one.
    marks: Sequence[str] = ()
    tells: Mapping[str, Sequence[str]] = {}

    # What the agent obeys, by native event, canonical event or `*`: pieces named none, allow, ask, deny,
    # rewrite, context, halt, message, suppress, result. A missing piece cannot be expressed. In a piece,
    # `json` is a tree, `stdout` and `stderr` are texts, `exit` is the exit code. In the first three stand
    # `$event`, `$reason`, `$context`, `$message`, `$input` (a rewrite, whole), `$changes` (what differs in
    # it), `$result` and `$shaped` (in the form of the tool's own). An `alone` piece is sent without any
    # other but those that go `beside` it; one that `denies` is sent with a deny; one that `needs` a verdict
    # is sent with that verdict only, since the agent takes it for it.
    answers: Mapping[str, Mapping[str, Any]] = {}
    # Where a product of the agent obeys other answers: the key that its payloads have beyond the tables, as
    # in `marks`, and all its answers.
    answers_of: Mapping[str, Mapping[str, Mapping[str, Any]]] = {}
    # Tools, `*` for all, of which a hook's rewrite names only the keys that change.
    merges: Sequence[str] = ()
    # How an answer is read, by native event, canonical event or `*` (see `answers.read_answer`).
    reads: Mapping[str, Mapping[str, Any]] = {}
    # Fields of an answer that no piece has, by native event, canonical event or `*`: a word for each, shared
    # by the dialects that have it, and its place. `word@verdict` is one that goes with that verdict only.
    # `action` is a verdict of its own, and is sent instead of one.
    extras: Mapping[str, Mapping[str, str]] = {}
    # What the agent itself makes of an answer, by native event, canonical event or `*` (see
    # `obeyed.decide_natively`); and whose verdict counts where several hooks give one: `first` or `last` in
    # the order of its files, else the strictest. A dispatch has no use for either.
    obeys: Mapping[str, Mapping[str, Any]] = {}
    several: str = ""
    # An allow skips the permission prompt.
    lifts: bool = True
    # Tools of its own that no word names and that run no command, change no file and fetch nothing: no guard
    # on tools that do is asked about them. `*` at the end stands for any.
    others: Sequence[str] = ()
    # What else it does, in words:
    # - `bare MCP`: any other name that is not known may be that of an MCP tool, whose server is unknown.
    # - `caps stops`: the agent itself ends a stop hook that blocks for ever.
    # - `file placeholder`: FILE_PLACEHOLDER in a command stands for the path of the call.
    # - `fires twice`: several events fire for one call, so the decision on the first answers the others.
    # - `root moves`: the variable with the root names the folder that the agent was started in, which may be
    #   below it.
    # - `server last`: in an MCP tool's name the server comes last, and the prefix stands in matchers only.
    # - `stops at deny`: the first deny ends the run of the hooks after it.
    traits: Sequence[Trait] = ()
    # Decides between two dialects that a payload or a file fits equally: the greater number wins.
    precedence: int = 0

    # From here on: filled in from the dialect's tables.
    id: str = ""
    # It fires events by itself.
    fires: bool = False
    # native event -> canonical event; canonical event -> [(tools it fires for, native event)].
    events: Mapping[str, str] = {}
    natives: Mapping[str, Sequence[Any]] = {}
    # native tool -> canonical tools; canonical tool -> native names, the first of which is written.
    tools: Mapping[str, Sequence[str]] = {}
    names: Mapping[str, Sequence[str]] = {}
    # The tools of an event that fires for some only, and the tool names of events that have their own.
    event_tools: Mapping[str, Sequence[str]] = {}
    event_names: Mapping[str, Mapping[str, Sequence[str]]] = {}
    # How long the agent waits, by native event or `*`, in seconds: unless an entry sets another time, and at
    # most, whatever it sets; 0 where nobody knows.
    waits: Mapping[str, Sequence[float]] = {}
    # (prefix, joint, characters that stay, longest) of an MCP tool's name; empty: it has none.
    mcp: Sequence[Any] = ()
    # What of an answer the person at the agent sees, by native event, canonical event or `*`: `message`,
    # `reason`. Where nobody knows, both.
    shows: Mapping[str, Sequence[str]] = {"*": ("message", "reason")}


def find_wait(wire: Wire, native: str, within: float = 0.0) -> float:
    """How long the agent waits on an event, in seconds, if its entry sets `within`; 0 if unknown."""
    (usual, ceiling), (usual_of_all, ceiling_of_all) = (
        wire.waits.get(name, (0.0, 0.0)) for name in (native, "*")
    )
    wait, most = within or usual or usual_of_all, ceiling or ceiling_of_all
    return min(wait or most, most or wait)


def find_table(tables: Mapping[str, Any], native: str, canonical: str) -> Mapping[str, Any]:
    """A table's entry for one event: its own, else the canonical event's, else that for all."""
    for key in (native, canonical, "*"):
        if key in tables:
            table: Mapping[str, Any] = tables[key]
            return table
    return {}


def read_rows(wire: Wire, table: str, native: str) -> dict[str, Any]:
    """The rows of `keys`, `fixed` or `env` on one native event."""
    return {**getattr(wire, table), **wire.by_event.get(native, {}).get(table, {})}


def list_by_event(**tables: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The rows of `Wire.by_event` from tables by event: `list_by_event(keys={"Stop": {"steps": "n"}})`."""
    rows: dict[str, dict[str, Any]] = {}
    for name, table in tables.items():
        for native, row in table.items():
            rows.setdefault(native, {})[name] = row
    return rows
