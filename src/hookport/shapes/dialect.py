"""What a dialect is made of: values, with the source of every fact beside it.

A dialect file fills in these tables with its differences. Facts that follow from others are functions here,
so that each exists once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import timedelta
from types import MappingProxyType
from typing import Any, Generic, Literal, NamedTuple, TypeVar

from hookport.base.tree import Tree as Tree  # noqa: PLC0414  (agents take it from here)
from hookport.errors import Problem
from hookport.findings import Finding
from hookport.model.events import EVENTS, Blocks
from hookport.model.hooks import ANY_SERVER, Hook, Manifest, Term
from hookport.wire.table import Wire

Path = tuple[str | int, ...]
T = TypeVar("T")
NOTHING: Mapping[Any, Any] = MappingProxyType({})
SECOND = timedelta(seconds=1)
MILLISECOND = timedelta(milliseconds=1)

# How a matcher string is read. `names`: a list of exact names if it has only plain characters, else a
# regular expression found anywhere. `regex`: found anywhere. `anchored`: must match whole. `exact`: one
# literal value. `glob`: one name with * and ?. `marked`: a glob, or a regular expression for the whole name
# after `re:`, in any case of letters. `terms`: the terms themselves, no string. `ignored`: read by nobody.
# `none`: there is no matcher.
Grammar = Literal["names", "regex", "anchored", "exact", "glob", "marked", "terms", "ignored", "none"]


class Matching(NamedTuple):
    """The dialect of one matcher string.

    `everything` lists the texts that mean all, `never` those for which the agent skips the hook. `anchors`:
    a regular expression is written so that it must match the whole name.
    """

    grammar: Grammar
    everything: tuple[str, ...] = ("", "*")
    plain: str = r"[A-Za-z0-9_\-|]"
    separators: str = "|"
    anchors: bool = False
    never: tuple[str, ...] = ()


NO_MATCHER = Matching("none")


class McpNames(NamedTuple):
    """How an MCP tool is named in a matcher: `prefix + server + joint + tool`; no joint, no server.

    `allowed` are the characters that stay, every other one becomes `_`; a name longer than `longest` is
    shortened in the middle. `server_last`: a name is `tool + joint + server`, and `prefix` begins no name but
    a matcher of its own that is a regular expression for such names alone, or `*` for all.
    """

    prefix: str
    joint: str = ""
    source: str = ""
    allowed: str = ""
    longest: int = 0
    server_last: bool = False


class EventSpec(NamedTuple):
    """One native event."""

    native: str
    # Empty for an event that no other dialect has.
    canonical: str
    blocks: Blocks
    source: str
    # What its matcher is tested against: `tool`, `mcp_tool`, `command` or `path` for a tool call, another
    # word for what the payload calls it, empty for nothing.
    subject: str = ""
    # The tools it fires for, if not all; `mcp` for those of MCP servers.
    tools: tuple[str, ...] = ()
    # An answer may change the tool's input.
    rewrites: bool = False
    # Read, and written only when the hook came from it or when its matcher holds a content pattern.
    secondary: bool = False
    # Which exit codes block: 2, `any` but 0 (a command that fails blocks, a timeout aside), or `none`, where
    # only a JSON answer does.
    exits: Literal["2", "any", "none"] = "2"
    # What of a hook's output reaches the model: `all`, only JSON and no plain text, or `nothing`; `late`:
    # only JSON, and not with the next request, since the agent sends that without waiting for the hook.
    hears: Literal["all", "json", "late", "nothing"] = "all"
    # Which products of the agent obey a deny here, if not all do.
    partly: str = ""
    # The way of running the agent in which it does not fire; and the first version that has it, if known.
    unfired: str = ""
    since: str = ""
    # The types of handlers it accepts, if not all.
    types: tuple[str, ...] = ()
    default_timeout: timedelta | None = None
    # After this time the agent continues without an answer, whatever the hook's timeout.
    max_timeout: timedelta | None = None
    # If they differ from the dialect's.
    matching: Matching | None = None
    tool_names: tuple[ToolName, ...] = ()
    mcp_names: McpNames | None = None
    deny_answer: Mapping[str, Any] = NOTHING


class ToolName(NamedTuple):
    """One native tool and its canonical name.

    Several tools may share a name, and a tool may have several: a matcher is written with all of them except
    the aliases, which are only read. A tool that is `gone` is missing in the version of the facts.
    """

    tool: str
    native: str
    source: str
    alias: bool = False
    gone: bool = False


class Timeout(NamedTuple):
    """The timeout field: its unit (None: no field), the default and the limits.

    `seconds_below`: a smaller number is read as seconds although the unit is milliseconds. `shorter`: one of
    the agent's products, which stops waiting earlier than the others, and when.
    """

    unit: timedelta | None
    default: timedelta | None = None
    whole: bool = False
    minimum: timedelta | None = None
    maximum: timedelta | None = None
    seconds_below: int = 0
    shorter: tuple[str, timedelta] | None = None


class Field(NamedTuple):
    """One field of a native entry and the attribute it fills; `values` translates a closed set."""

    attr: str
    values: Mapping[Any, Any] = NOTHING
    read_only: bool = False


class HandlerSpec(NamedTuple):
    """One type of handler: its name in the `type` field and the fields it has.

    `required` lists attributes that must be there; `a|b` means one of the two. `url_start`: other URLs are
    refused. Not `decides`: a handler of this type has no way to block.
    """

    type: str
    fields: Mapping[str, Field | str]
    timeout: Timeout
    required: tuple[str, ...] = ()
    url_start: str = ""
    decides: bool = True


class Location(NamedTuple):
    """One place where the agent reads files; `*` in the path matches any name.

    `at_repository`: it is read at the root of the repository too, although the agent reads its other files of
    a project in its start folder only. Not `loaded`: the documentation names it, but the agent did not run
    its hooks. `executable`: a product of the agent skips a script there whose mode is not.
    """

    scope: Literal["project", "local", "user", "plugin", "system"]
    path: str
    source: str
    at_repository: bool = False
    loaded: bool = True
    executable: bool = False


PlaceUse = Literal["run", "module", "unread", "scoped", "also read", "maybe read"]


class OnceRule(NamedTuple):
    """The rule that an agent runs identical hooks once for an event.

    `by_name`: copies with other names are not the same.
    """

    source: str
    by_name: bool = False


class Gate(NamedTuple):
    """A setting that prevents hooks in the agent's own files from running.

    Of `files` the first that has the key counts; the empty name is the hook's own file. `off` lists the
    values that keep hooks of the `scopes` from running. `lists`: the value is a list, every file adds to it,
    and it has such values, or else the hooks that are off, by their names, else their commands. Where
    `variable` is given, it is one of the environment: any value but an empty one.
    `stops`: the hooks, which somebody switched off and nobody runs then, or this agent alone, by a policy or
    since it looks elsewhere.
    """

    files: tuple[str, ...]
    key: tuple[str, ...]
    off: tuple[str | bool, ...]
    # What it means, as the end of a sentence, and the way out.
    what: str
    fix: str
    source: str
    scopes: tuple[str, ...] = ("project", "local", "user")
    variable: str = ""
    lists: bool = False
    stops: Literal["hooks", "agent"] = "hooks"


class FolderTrust(NamedTuple):
    """Where an agent stores the folders that it trusts; no file: other programs cannot see it.

    At `keys` of the file (any of them) is a list of folders, or a map from folders to what is said of one:
    at `field`, one of the values `yes` trusts it, one of `above` trusts its parent. `below`: a trusted folder
    is trusted with all that is in it. `asks`: the settings files and the key that switch the question on,
    and whether it is on without them; only `true` does, or every value but those in `trusting`. `lifted`:
    variables, with their value, that trust every folder.
    Not `certain`: hooks were measured to run against the file. Not `lift_shows`: a hook may see
    such a variable although the folder is not trusted.
    """

    file: str
    keys: tuple[tuple[str, ...], ...]
    fix: str
    source: str
    field: tuple[str, ...] = ()
    yes: tuple[str | bool, ...] = ()
    above: tuple[str | bool, ...] = ()
    below: bool = True
    scopes: tuple[str, ...] = ("project", "local")
    asks: tuple[tuple[str, ...], tuple[str, ...], bool] = ((), (), True)
    trusting: tuple[str | bool, ...] = ()
    lifted: tuple[tuple[str, str], ...] = ()
    certain: bool = True
    lift_shows: bool = True


TRUSTED, UNTRUSTED, MODIFIED = "trusted", "untrusted", "modified"


class AgentHook(NamedTuple):
    """One hook as its agent sees it: `hash` is the agent's current hash of it, `key` its place."""

    agent: str
    key: str
    file: str
    event: str
    command: str
    hash: str
    state: str


class HookTrust(NamedTuple):
    """Where an agent stores the hooks that it trusts, one by one.

    At `key` of the file is a map by `name`, filled in with the hook's file, its event in snake case, and its
    numbers; without `field` there the hook is not trusted, and with `switch` false it is off. `fingerprint`
    makes the value that `field` must have from the event, the group and the entry as they are now.
    `list_hooks` asks the agent for the hooks of a project; None if it does not answer.
    With `row` there is a list instead, and a trusted hook has a row in it with its event at the first of
    these fields and its command at the second, both as its file has them. `lifted`: a settings file, and the
    key in it that trusts every hook if it is true.
    """

    file: str
    key: tuple[str, ...]
    fix: str
    source: str
    name: str = ""
    field: str = ""
    switch: str = ""
    fingerprint: Callable[[str, Mapping[str, Any], Mapping[str, Any]], str] | None = None
    list_hooks: Callable[[str, Mapping[str, str]], list[AgentHook] | None] | None = None
    row: tuple[str, str] | None = None
    lifted: tuple[str, tuple[str, ...]] = ("", ())


class PluginStore(NamedTuple):
    """Where an agent stores the installed plugins, and which of them are enabled.

    At `key` of the file is a map from `plugin@marketplace` to its copies, each with its folder at the field
    `folder`; the first of `settings` that has the name at `switch` says whether it is enabled. `markets` maps
    the name of a marketplace to where it is, at the field `place`: from a folder plugins are run in place.
    A manifest that names a file by a path with another start than `path_start` makes the agent refuse the
    plugin. `keeps_default`: the plugin's default file of hooks is loaded beside those that a manifest names.
    A copy that names a project at the field `project` is for that one alone.
    """

    file: str
    key: tuple[str, ...]
    folder: str
    settings: tuple[str, ...]
    switch: tuple[str, ...]
    markets: str
    place: str
    source: str
    path_start: str = ""
    keeps_default: bool = False
    project: str = ""


class Shadow(NamedTuple):
    """A file that is not read because of another; `even_empty`: also of one without hooks."""

    file: str
    by: str
    source: str
    even_empty: bool = False


class Point(Generic[T]):
    """A point in the code where one agent's quirk decides; without a quirk the default applies."""

    def __init__(self, default: T) -> None:
        self.default = default


class Quirk(NamedTuple):
    """A surprise, by id, that the code or the documentation cites; `at` has its values at hook points."""

    id: str
    text: str
    source: str
    at: Mapping[Point[Any], Any] = NOTHING


WayKind = Literal["sub-agents", "protocol", "code", "shell"]
WayState = Literal["open", "closed", "none", "unknown"]
# What may go around an agent's hooks, with the words behind "enforced, except": the tools of a sub-agent,
# another way of starting the agent (by an editor, over a protocol), a tool that runs code that calls tools,
# and a tool beside the shell tool that runs commands.
WAYS: Mapping[WayKind, str] = {
    "sub-agents": "in sub-agents",
    "protocol": "when an editor starts it",
    "code": "in calls that code makes",
    "shell": "through another shell tool",
}


# The place of a `protocol` row that is about a process whose start folder is not the session's.
ELSEWHERE = "when an editor starts it in another folder"


class WayAround(NamedTuple):
    """Whether calls of one kind go around an agent's hooks, and how that is known.

    `open`: a guard is not asked about such calls, or not about what they do. `closed`: it is, since hookport
    names them in the entries. `none`: such calls go through the hooks like all others, or the agent makes
    none. `unknown`: nobody measured it, and no source says it. An open or closed one has an `id` and a `text`
    that says what happens.
    """

    kind: WayKind
    state: WayState
    id: str = ""
    text: str = ""
    source: str = ""
    # The words behind "enforced, except", if those of its kind do not fit.
    place: str = ""
    # The canonical events that do not fire (empty: none does), and the tools whose guards are not asked
    # (empty: all).
    events: tuple[str, ...] = ("before_tool_execute",)
    tools: tuple[str, ...] = ()
    # The native tool that is the way, if it is one.
    native: str = ""
    # The first version that has it, and the last one.
    since: str = ""
    until: str = ""

    @property
    def exception(self) -> str:
        """The words behind "enforced, except"."""
        return self.place or WAYS[self.kind]


# Documented permission rules, as patterns, that the agent was measured not to fire, and why.
UNFIRED_RULES = Point[Mapping[str, str]](NOTHING)
# What a hook that fails closed must print to let the action run.
NO_OPINION = Point("")
# The calls of the bridge that guard something are entries that fail closed.
CLOSED_BRIDGE = Point(default=False)
# Scripts must be executable, have a shebang line and be named from the package's root.
SCRIPT_RULES = Point(default=False)
# Files that are not read because of others.
SHADOWS = Point[tuple[Shadow, ...]](())
PLUGIN_STORE = Point[PluginStore | None](None)
HOOK_TRUST = Point[HookTrust | None](None)


class Place(NamedTuple):
    """The place of a hook: the file and the path in its tree."""

    file: str
    path: Path


class DecodedManifest(NamedTuple):
    """A manifest with the place of each hook and the findings from reading."""

    manifest: Manifest
    places: tuple[Place, ...] = ()
    findings: tuple[Finding, ...] = ()


class Shape(NamedTuple):
    """The layout of files: configuration trees to a manifest and back, and what a module of `shapes` asks.

    `decode` takes the trees by path; `encode` gives them. `by_event`: hooks are grouped by native event,
    so their order is the order of the event table. `merges`: one hook may be several entries. `in_place`
    gives the event of a file that is a hook itself, a script that the agent runs where it is, by its name;
    empty for any other file.
    """

    decode: Callable[[Dialect, Mapping[str, Tree]], DecodedManifest]
    encode: Callable[[Dialect, Manifest], dict[str, Tree]]
    by_event: bool = True
    merges: bool = False
    in_place: Callable[[Dialect, str], str] | None = None
    # The way to the map of events, what is always written beside it, and keys in it that are no events.
    root: Path = ("hooks",)
    root_keys: Mapping[str, Any] = NOTHING
    not_events: tuple[str, ...] = ()
    # The forms of an entry, the first being written; what it calls its matcher, and the fields beside that.
    forms: tuple[Literal["nested", "flat"], ...] = ("nested",)
    matcher_key: str = "matcher"
    group_fields: Mapping[str, Field | str] = NOTHING
    # The first step of reading an entry of an event: the entry by the field tables, and why it never runs.
    prepare: Callable[[str, Mapping[str, Tree]], tuple[Mapping[str, Tree], str]] | None = None
    # Whether a file's tree switches one of its hooks off.
    is_off: Callable[[Tree, Hook], bool] | None = None
    # By the ending or the kind, where the ending does not determine the format: `{"json": "jsonc"}`; not for
    # the files of plugins. A file of JSON with a byte order mark is refused.
    file_kinds: Mapping[str, str] = NOTHING
    refuses_bom: bool = False
    # The name of its files, wherever they are, and the files that belong to one, relative to it; a key, with
    # the start of its value, that no other dialect's file has.
    file_name: str = ""
    companions: str = ""
    signature: tuple[str, str] = ("", "")


class Dialect(NamedTuple):
    """One way of writing hooks, as tables; what no table can express is a function at the end."""

    id: str
    title: str
    kind: Literal["format", "agent"]
    # The version of the facts, and the meaning of each source key.
    facts: str
    sources: Mapping[str, str]
    locations: tuple[Location, ...]
    events: tuple[EventSpec, ...]
    tools: tuple[ToolName, ...]
    handlers: Mapping[str, HandlerSpec]
    shape: Shape
    wire: Wire = Wire()
    # Tools, former ones too, that no word of the vocabulary stands for, each with its source. A matcher may
    # name them; a name that ends with `*` is how several begin.
    wordless: Mapping[str, str] = NOTHING
    # The source by which the agent waits for processes that a hook leaves behind with its output open, and
    # drops the hook's answer when the hook's time is up.
    awaits_children: str = ""
    # Every canonical event that is missing, and why.
    lacks: Mapping[str, str] = NOTHING

    mcp: McpNames | None = None
    matching: Matching = NO_MATCHER

    # The forms of a printed deny that the agent obeys (see degrade.capabilities).
    obeys: tuple[str, ...] = ()
    # The answer that blocks, where exit code 2 with a reason on stderr is not the way (`{reason}` is filled).
    deny_answer: Mapping[str, Any] = NOTHING
    # Exit code 2 without text on stderr does not block: the reason is `needed`; or the word never reaches
    # the model, always (`lost`) or of a call of an MCP tool (`lost for MCP`).
    deny_reason: Literal["heard", "needed", "lost", "lost for MCP"] = "heard"

    # How a command names the project's root, and that of its package; the first is written, all are read.
    project_dir: tuple[str, ...] = ()
    package_dir: tuple[str, ...] = ()
    # Where commands start: at the project's root, or in a folder that moves, where a relative path is not
    # found; empty where nobody says.
    commands_start: Literal["", "root", "moving"] = ""

    # The variables that this agent sets for the commands that it runs, and that no terminal of a person has:
    # `NAME`, or `NAME=VALUE` if only that value counts, with the source.
    markers: Mapping[str, str] = NOTHING
    # What of an answer the person who sits at this agent sees on the screen, by native event or `*`, with the
    # source: `message`, a text beside the decision, and `reason`, that of a deny. What is taken and shown
    # nowhere is not named.
    shows: Mapping[str, tuple[tuple[str, ...], str]] = NOTHING

    # Places beside its own. `run`: where hookport looks for hooks to run by itself; `~/.config` is the user's
    # XDG folder. `module`: where the agent loads code, hooks that hookport neither runs nor converts.
    # `unread`: where it has hooks that hookport does not read, in files of its own and in plugins' manifests.
    # `scoped`: skills and subagents, whose frontmatter may have hooks that run while one of these is active.
    # `also read`: files of other dialects that it reads too; `maybe read`: those that it reads with a setting
    # that no other program can read.
    other_places: Mapping[PlaceUse, tuple[Location, ...]] = NOTHING
    # The files that make a folder a plugin for this agent; `hooks` there is a file, several, or hooks inline.
    manifests: tuple[str, ...] = ()
    # A handler without `type` is refused, not read as a command.
    needs_type: bool = False
    # The same hook, found twice, runs once; a plugin's copy runs again.
    runs_once: OnceRule | None = None

    # The names of its program, and the folder of its settings with the variable that puts it elsewhere.
    programs: tuple[str, ...] = ()
    home: tuple[str, str] = ("", "")
    # The settings that prevent correct hooks from running.
    gates: tuple[Gate, ...] = ()
    folder_trust: FolderTrust | None = None
    # Places that only one of the agent's products reads, by product: what stands in two of them is no copy.
    products: tuple[tuple[str, ...], ...] = ()
    # Which files of a project are read by an agent that is started below its root: the root's (empty), those
    # of the folder it is started in only (`start`), or those at the root of the repository (`repository`);
    # `unsure`: these, or those of that folder, and nobody sees why.
    project_read: Literal["", "start", "repository", "unsure"] = ""

    # The steps that a person must take before the written file works.
    notes: tuple[str, ...] = ()
    quirks: tuple[Quirk, ...] = ()
    # What goes around its hooks; see `list_ways`.
    ways_around: tuple[WayAround, ...] = ()

    # The last step before encoding.
    adjust: Callable[[list[Hook]], tuple[list[Hook], list[Finding]]] | None = None

    @property
    def reads_output(self) -> bool:
        """Whether the agent reads JSON answers."""
        return any("verdicts" in reading for reading in self.wire.reads.values())

    @property
    def is_hub(self) -> bool:
        """Whether the dialect can express the whole model: it has every event, by the registry's name."""
        return not self.lacks and all(spec.native == spec.canonical for spec in self.events)

    @property
    def starts_in_package(self) -> bool:
        """Whether relative paths in a plugin's commands start at the plugin's folder."""
        return self.wire.starts_in == "package" or find_quirk(self, SCRIPT_RULES)


class RefusedError(Exception):
    """An invalid tree of this dialect; `problems` lists every error."""

    def __init__(self, *problems: Problem) -> None:
        self.problems = problems
        super().__init__("; ".join(str(problem) for problem in problems))


def find_quirk(dialect: Dialect, point: Point[T]) -> T:
    """The value of a dialect's quirks at a hook point."""
    for quirk in dialect.quirks:
        if point in quirk.at:
            says: T = quirk.at[point]
            return says
    return point.default


def list_ways(*ways: WayAround, kinds: int, none: Mapping[WayKind, str] = NOTHING) -> tuple[WayAround, ...]:
    """A row for each kind of way around: the given ones, `none` by kind with its source, the rest unknown.

    As in `explain_missing`, `kinds` is the number of kinds that the agent was checked for: when it grows,
    every agent must be checked for the new ones.
    """
    rows = [*ways, *(WayAround(kind, "none", source=source) for kind, source in none.items())]
    if kinds == len(WAYS):
        rows += [WayAround(kind, "unknown") for kind in WAYS if kind not in {row.kind for row in rows}]
    return tuple(sorted(rows, key=lambda row: tuple(WAYS).index(row.kind)))


def find_exceptions(dialect: Dialect, event: str, tools: Iterable[str] = ()) -> tuple[WayAround, ...]:
    """The open ways around a hook on an event, for these canonical tools or, without any, for all."""
    tools = set(tools)
    return tuple(
        way
        for way in dialect.ways_around
        if way.state == "open"
        and (not way.events or event in way.events)
        and (not way.tools or not tools or not tools.isdisjoint(way.tools))
    )


def spell_exceptions(ways: Iterable[WayAround]) -> tuple[str, ...]:
    """The words behind "enforced, except", each with the id that `hookport matrix AGENT` explains."""
    return tuple(f"{way.exception} ({way.id})" for way in ways)


def list_locations(dialect: Dialect, *uses: PlaceUse | Literal["own"]) -> tuple[Location, ...]:
    """The places of a dialect by what they are for; `own` are those of its own files."""
    each = (dialect.locations if use == "own" else dialect.other_places.get(use, ()) for use in uses)
    return tuple(place for places in each for place in places)


def name_events(source: str, *natives: str) -> tuple[EventSpec, ...]:
    """Events of only one dialect that cannot block, from one source."""
    return tuple(EventSpec(native, "", "observe", source) for native in natives)


def name_tools(source: str, **names: str | tuple[str, ...]) -> tuple[ToolName, ...]:
    """Rows of a tool table from one source: `named("A", shell=("Bash", "PowerShell"))`."""
    return tuple(
        ToolName(tool, native, source)
        for tool, natives in names.items()
        for native in ([natives] if isinstance(natives, str) else natives)
    )


def explain_missing(
    events: Iterable[EventSpec], default: str, registry: int, **reasons: str
) -> Mapping[str, str]:
    """The reason why each canonical event without a row is missing: the default, or its own.

    The default applies only to a registry with as many events as it was checked against; when the registry
    grows, every agent must be checked for the new events.
    """
    if registry != len(EVENTS):
        return reasons
    written = {spec.canonical for spec in events}
    return {**{event: default for event in EVENTS if event not in written}, **reasons}


def alias_tools(source: str, **names: str | tuple[str, ...]) -> tuple[ToolName, ...]:
    """Rows for names that are read in a matcher and never written."""
    return tuple(row._replace(alias=True) for row in name_tools(source, **names))


class _Index(NamedTuple):
    """Index one table by a key."""

    table: tuple[Any, ...]
    by_native: dict[str, list[Any]]
    by_canonical: dict[str, list[Any]]


# Tables are constants, looked up thousands of times in one conversion; the table is stored with its index, so
# that no other table can get its id.
_INDEXES: dict[int, _Index] = {}


def _index(table: tuple[Any, ...]) -> _Index:
    index = _INDEXES.get(id(table))
    if index is None or index.table is not table:
        index = _INDEXES[id(table)] = _Index(table, {}, {})
        for row in table:
            index.by_native.setdefault(row.native, []).append(row)
            if isinstance(row, ToolName):
                index.by_canonical.setdefault(row.tool, []).extend([] if row.alias else [row.native])
            elif not row.secondary:
                index.by_canonical.setdefault(row.canonical, []).append(row)
    return index


def find_event_specs(dialect: Dialect, event: str) -> list[EventSpec]:
    """The native events of a canonical event, without secondary ones."""
    return list(_index(dialect.events).by_canonical.get(event, ()))


def find_event(dialect: Dialect, native: str) -> EventSpec | None:
    """The event of that native name."""
    rows = _index(dialect.events).by_native.get(native)
    return rows[0] if rows else None


def find_tools(dialect: Dialect, native: str) -> list[str]:
    """The canonical tools of a native name."""
    return [row.tool for row in _index(dialect.tools).by_native.get(native, ())]


def is_gone(dialect: Dialect, tool: str) -> bool:
    """Whether only older versions of the agent have the tool."""
    rows = [row for row in dialect.tools if row.tool == tool and not row.alias]
    return bool(rows) and all(row.gone for row in rows)


def list_tool_names(dialect: Dialect, tool: str) -> list[str]:
    """The native names that a matcher for a canonical tool is written with."""
    return list(_index(dialect.tools).by_canonical.get(tool, ()))


def list_native_tools(dialect: Dialect) -> list[str]:
    """Every native tool name, once."""
    return list(_index(dialect.tools).by_native)


def find_matching(dialect: Dialect, spec: EventSpec) -> Matching:
    """The grammar of this event's matcher."""
    if spec.matching is not None:
        return spec.matching
    return dialect.matching if spec.subject else NO_MATCHER


def view_at_event(dialect: Dialect, spec: EventSpec) -> Dialect:
    """The dialect with one event's tool names."""
    if not spec.tool_names and spec.mcp_names is None:
        return dialect
    return dialect._replace(tools=spec.tool_names or dialect.tools, mcp=spec.mcp_names or dialect.mcp)


def iter_fields(handler: HandlerSpec) -> Iterator[tuple[str, Field]]:
    """(native key, field) for every field of a handler type."""
    for key, field in handler.fields.items():
        yield key, field if isinstance(field, Field) else Field(field)


def has_field(dialect: Dialect, attr: str, type_: str = "command") -> bool:
    """Whether an entry of this type has a field for the attribute."""
    handler = dialect.handlers.get(type_)
    if handler is None:
        return False
    for fields in (handler.fields, dialect.shape.group_fields):
        for field in fields.values():
            if field == attr or (isinstance(field, Field) and field.attr == attr and not field.read_only):
                return True
    return False


# The project's root for agents that start hooks in the folder they were started in and name no other: that
# of the repository, or the folder itself where there is none. Measured on codex 0.166.0, kimi 1.51.0 and
# 2.1.0 and droid 0.215.0: a guard is found from a subfolder by it, and by no variable they set.
REPOSITORY = "$(git rev-parse --show-toplevel 2>/dev/null || pwd)"


def spell_root(*names: str) -> tuple[str, ...]:
    """The spellings of a root in a command by these variables; the first one is written.

    It has a default, because Grok Build 1.0.41, which reads other agents' files, drops a command that names
    an unset variable. It has no colon, because Auggie 0.36.0 itself fills in `${NAME}` and `${NAME:-text}`,
    before the variable is set.
    """
    spellings = (
        *("${NAME-.}", "$NAME", "${NAME}", "${NAME-}", "${NAME:-.}", "${NAME:-}"),
        *("${NAME:-$PWD}", "${NAME-$PWD}", "${NAME:-$(pwd)}", "${NAME-$(pwd)}"),
    )
    return tuple(spelling.replace("NAME", name) for name in names for spelling in spellings)


def find_variable(spelling: str) -> str:
    """The variable in a root's spelling; empty without one."""
    match = re.match(r"\$\{?([A-Za-z_]\w*)", spelling)
    return match[1] if match else ""


def supports(dialect: Dialect, capability: str) -> bool:
    """Whether a dialect has one of the eight capabilities."""
    if capability == "structured_output":
        return dialect.reads_output
    if capability == "input_rewrite":
        return any(spec.rewrites for spec in find_event_specs(dialect, "before_tool_execute"))
    if capability == "llm_evaluated":
        return "prompt" in dialect.handlers or "agent" in dialect.handlers
    if capability == "http_handler":
        return "http" in dialect.handlers
    attrs = {
        "async_execution": ("is_async",),
        "platform_commands": ("windows", "linux", "osx"),
        "custom_env": ("env",),
        "configurable_cwd": ("cwd",),
    }
    return any(has_field(dialect, attr) for attr in attrs[capability])


def as_field(field: Field | str) -> Field:
    """A field from its short form."""
    return field if isinstance(field, Field) else Field(field)


def covers(spec: EventSpec, term: Term) -> bool:
    """Whether an event that fires only for some tools fires for this term's."""
    return (term.value if term.kind == "tool" else term.kind) in spec.tools


def is_split(spec: EventSpec) -> bool:
    """Whether the event fires only for some tools."""
    return bool(spec.tools)


def list_event_terms(spec: EventSpec) -> tuple[Term, ...]:
    """The tools that an event fires for, as terms."""
    return tuple(Term("mcp", ANY_SERVER) if tool == "mcp" else Term("tool", tool) for tool in spec.tools)


def get_dialect_data(hook: Hook, dialect: str) -> Mapping[str, Any]:
    """The hook's data for this dialect alone."""
    data: Mapping[str, Any] = hook.provider_data.get(dialect, NOTHING)
    return data
