"""Problems of a manifest with any target; a doubt is never reported as an error."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Iterator, Mapping
from datetime import timedelta
from functools import lru_cache
from itertools import zip_longest
from typing import NamedTuple, Protocol

from hookport import agents as dialects
from hookport import findings as f
from hookport.agents import DecodedManifest, Dialect, EventSpec, Place, Tree, get_wire
from hookport.convert.checks.rules import find_dead_rule, read_tool
from hookport.documents import Document
from hookport.errors import SLIP, spell_path, suggest_closest
from hookport.findings import Finding, Kind
from hookport.model.hooks import CAPABILITIES, Handler, Hook, Term
from hookport.model.tools import TOOLS
from hookport.shapes.dialect import (
    MILLISECOND,
    SECOND,
    Matching,
    Path,
    find_event,
    find_matching,
    has_field,
    iter_fields,
    list_native_tools,
    list_tool_names,
    view_at_event,
)
from hookport.shapes.entries import find_slots, write_timeout
from hookport.shapes.limits import describe_slow_guard
from hookport.shapes.matchers import read_mark, read_matcher
from hookport.wire.events import is_other_tool

# Long waits that people write in seconds: round minutes, whole hours up to a day, whole days up to a month.
# Any other multiple of 100 from 1000 up counts as milliseconds: few hooks may take a quarter of an hour, and
# those have a round timeout.
# The path to the hooks in a skill, subagent or command.
SCOPED = ("frontmatter", "hooks")
LONG_WAITS = frozenset(
    [
        *(60 * minutes for minutes in (20, 30, 40, 45, 90)),
        *(3600 * hours for hours in range(1, 25)),
        *(86_400 * days for days in range(1, 32)),
    ]
)
SHORTEST_MISTAKE = 1000
# Within 100 ms an interpreter has hardly started (Python takes 23 ms, Node.js 36 ms), and whole minutes are
# usual in seconds; 100, 250 or 500 ms may be intended.
SHORTEST_WAIT_MS = 100
# The errors in a regular expression that every engine reports, in Python's wording.
SHARED_ERRORS = ("nothing to repeat", "multiple repeat", "unterminated", "missing )", "unbalanced paren")


class Reading(Protocol):
    """The input of the checks: the files of one source, parsed and decoded."""

    @property
    def dialect(self) -> Dialect: ...
    @property
    def documents(self) -> Mapping[str, Document]: ...
    @property
    def decoded(self) -> DecodedManifest: ...
    @property
    def wheres(self) -> tuple[str, ...]: ...


class CheckedEntry(NamedTuple):
    """One hook and its place, also in words; both are empty for a hook without a place."""

    reading: Reading
    number: int
    hook: Hook
    place: Place
    words: str

    @property
    def dialect(self) -> Dialect:
        return self.reading.dialect

    def note(self, kind: type[Kind], path: Path = (), /, **words: object) -> Finding:
        """Make a finding at a path of the hook's file, by default at the hook itself."""
        finding = kind.at(self.where(path or self.place.path), self.number, **words)
        return _locate_finding(finding, self.reading.documents, self.place.file, path or self.place.path)

    def where(self, path: Path) -> str:
        if path == self.place.path:
            return self.words
        spelled = spell_path(self.place.path)
        before = self.words.removesuffix(spelled) if spelled else f"{self.words}: "
        return before + spell_path(path)

    def at(self, path: Path) -> Tree:
        """The value at a path of the hook's file, None if there is none."""
        document = self.reading.documents.get(self.place.file)
        value: Tree = document.tree if document else None
        for step in path:
            inside = isinstance(value, Mapping if isinstance(step, str) else list)
            if not inside or (step not in value if isinstance(step, str) else not 0 <= step < len(value)):
                return None
            value = value[step]
        return value


class MatcherVerdict(NamedTuple):
    """The verdict on one alternative of a matcher: whether it may match, and the intended name if not.

    `certain`: it can match nothing; otherwise its name is only in no table.
    """

    text: str
    is_alive: bool = False
    certain: bool = False
    meant: str = ""
    reason: str = ""


def check(reading: Reading) -> list[Finding]:
    """Every error that the files alone show, each once."""
    entries = list(list_entries(reading))
    findings = [finding for entry in entries for finding in _check_hook(entry)]
    findings += [
        *_check_duplicate_hooks(entries),
        *_check_duplicate_keys(reading, entries),
        *_check_repairs(reading),
    ]
    return drop_repeated(reading, findings)


def list_entries(reading: Reading) -> Iterator[CheckedEntry]:
    rows = zip_longest(reading.decoded.manifest.hooks, reading.decoded.places, reading.wheres)
    for number, (hook, place, words) in enumerate(rows):
        yield CheckedEntry(reading, number, hook, place or Place("", ()), words or "")


def _check_hook(entry: CheckedEntry) -> Iterator[Finding]:
    yield from _check_matcher(entry)
    yield from _check_content(entry)
    yield from _check_rule(entry)
    yield from _check_timeout(entry)
    yield from _check_blocking(entry)
    yield from _check_capabilities(entry)


def drop_repeated(reading: Reading, findings: list[Finding]) -> list[Finding]:
    """The findings that reading did not report already; handlers that share a mistake report it once."""
    reported = {(finding.code, finding.message) for finding in reading.decoded.findings}
    once: dict[tuple[str, str, str], Finding] = {}
    for finding in findings:
        if (finding.code, finding.message) not in reported:
            once.setdefault((finding.code, finding.where, finding.message), finding)
    return list(once.values())


def _locate_finding(finding: Finding, documents: Mapping[str, Document], file: str, path: Path) -> Finding:
    document = documents.get(file)
    line, column = document.position(path) if document else (0, 0)
    return finding._replace(file=file, line=line, column=column)


def _find_spec(entry: CheckedEntry) -> EventSpec | None:
    """The native event of the hook."""
    steps = [step for step in entry.place.path if isinstance(step, str)]
    named = (find_event(entry.dialect, step) for step in steps)
    written = [spec for spec, _ in find_slots(entry.dialect, entry.hook)]
    general = (spec for spec in written if spec.subject == "tool")
    return next((spec for spec in named if spec), None) or next(general, None) or next(iter(written), None)


def find_written_matcher(entry: CheckedEntry, spec: EventSpec) -> tuple[Path, str]:
    """The path and text of the matcher, at the entry or its group; no path if it is not a string."""
    for depth in range(len(entry.place.path), max(len(entry.place.path) - 3, -1), -1):
        path = (*entry.place.path[:depth], entry.dialect.shape.matcher_key)
        text = entry.at(path)
        if isinstance(text, Mapping):
            path, text = (*path, "tool"), text.get("tool")
        if isinstance(text, str):
            terms, content = read_matcher(entry.dialect, spec, text)
            is_ours = set(terms) <= set(entry.hook.matcher) and content in ("", entry.hook.content)
            return (path, text) if is_ours else ((), "")
    return (), ""


def _list_matcher_texts(
    entry: CheckedEntry, spec: EventSpec, matching: Matching
) -> Iterator[tuple[Path, str, Matching]]:
    """Every matcher text of the hook: a hook read from several entries has several."""
    path, text = find_written_matcher(entry, spec)
    written_terms = read_matcher(entry.dialect, spec, text)[0] if path else ()
    if path:
        yield path, text, matching
    for term in entry.hook.matcher:
        if term in written_terms:
            continue
        if term.kind == "pattern":
            found_anywhere = matching._replace(grammar="regex")
            yield (), term.value, matching if matching.grammar == "exact" else found_anywhere
        elif term.kind == "tool" and term.value not in TOOLS:
            yield (), term.value, matching._replace(grammar="terms")


def _check_matcher(entry: CheckedEntry) -> Iterator[Finding]:
    spec = _find_spec(entry)
    if spec is None or entry.dialect.is_hub:
        return
    matching = find_matching(entry.dialect, spec)
    if matching.grammar in ("none", "ignored"):
        return
    for path, text, read_as in _list_matcher_texts(entry, spec, matching):
        if text in (*matching.everything, *matching.never) or _is_reported(entry, path):
            continue
        if spec.subject == "tool":
            yield from _check_tools(entry, view_at_event(entry.dialect, spec), read_as, path, text)
        else:
            yield from _check_subject(entry, spec, read_as, path, text)


def _is_reported(entry: CheckedEntry, path: Path) -> bool:
    """Whether reading already reported that the hook never runs."""
    wheres = (spell_path(entry.place.path), spell_path(path))
    return any(
        finding.code == f.NeverRuns.code
        and finding.where in wheres
        and finding.file in ("", entry.place.file)
        for finding in entry.reading.decoded.findings
    )


def _check_subject(
    entry: CheckedEntry, spec: EventSpec, matching: Matching, path: Path, text: str
) -> Iterator[Finding]:
    """Check a matcher on another subject than a tool's name: its values are unknown, its form is known."""
    if matching.grammar == "exact" and "|" in text:
        reason = f"the matcher '{text}' is compared as a whole with one {spec.subject}"
        yield _note_never_runs(entry, path, reason, "Write one entry for each value.")
    elif _is_pattern(matching, text) and (wrong := find_pattern_problem(text)):
        reason = f"the matcher '{text}' is not a valid regular expression ({wrong})"
        yield _note_never_runs(entry, path, reason, "Correct the expression.")


def _check_content(entry: CheckedEntry) -> Iterator[Finding]:
    """Check a pattern on the tool's input, unless it is the already checked matcher."""
    spec = _find_spec(entry)
    if not entry.hook.content or (
        spec is not None and find_written_matcher(entry, spec)[1] == entry.hook.content
    ):
        return
    wrong = find_pattern_problem(entry.hook.content)
    if wrong:
        reason = f"the pattern '{entry.hook.content}' is not a valid regular expression ({wrong})"
        yield _note_never_runs(entry, (), reason, "Correct the expression.")


def _check_rule(entry: CheckedEntry) -> Iterator[Finding]:
    """Check a condition that never holds, or names an unknown tool."""
    rule = entry.hook.condition
    path = (*entry.place.path, "if") if entry.at((*entry.place.path, "if")) == rule else ()
    if not rule:
        return
    if dead := find_dead_rule(entry.hook, entry.dialect):
        kind = f.RuleNotFired if dead.is_documented else f.RuleNeverHolds
        yield entry.note(kind, path, rule=rule, why=dead.why)
    elif entry.dialect.kind == "agent":
        word = read_tool(rule)
        verdict = _judge_name(entry.dialect, word, word in list_native_tools(entry.dialect))
        if not verdict.is_alive and verdict.meant:
            why = f"unknown tool '{word}'. Did you mean '{verdict.meant}'?"
            yield entry.note(f.RuleNeverHolds, path, rule=rule, why=why)
        elif not verdict.is_alive:
            yield entry.note(f.UnknownTool, path, tool=word, guess="")


def _note_never_runs(entry: CheckedEntry, path: Path, reason: str, way: str) -> Finding:
    words = {"dialect": entry.dialect.id, "what": "this hook", "reason": reason, "way": way}
    return entry.note(f.NeverRuns, path, **words)


def _is_pattern(matching: Matching, text: str) -> bool:
    if matching.grammar == "names":
        return not re.fullmatch(f"{matching.plain}+", text)
    return matching.grammar in ("regex", "anchored")


def find_pattern_problem(pattern: str) -> str:
    """Explain why no engine accepts this regular expression; empty if one may.

    The agents' engines support syntax that Python lacks, so only errors common to all count.
    """
    compiled = _compile_pattern(pattern)
    return compiled if isinstance(compiled, str) else ""


@lru_cache(maxsize=256)
def _compile_pattern(pattern: str) -> re.Pattern[str] | str | None:
    """The pattern, the error that every engine would report, or None if unknown."""
    ported = re.sub(r"\(\?<(?![=!])", "(?P<", pattern).replace("[^]", r"[\s\S]").replace("[]", r"(?!)")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return re.compile(ported)
        except re.error as error:
            return error.msg if error.msg.startswith(SHARED_ERRORS) else None
        except (OverflowError, RecursionError):
            return None


def _check_tools(
    entry: CheckedEntry, dialect: Dialect, matching: Matching, path: Path, text: str
) -> Iterator[Finding]:
    verdicts = _judge_matcher(dialect, matching, text)
    dead = [verdict for verdict in verdicts if not verdict.is_alive]
    if len(dead) == len(verdicts) and all(verdict.certain for verdict in dead):
        meant = "|".join(dict.fromkeys(verdict.meant for verdict in dead))
        guess = f" Did you mean '{meant}'?" if all(verdict.meant for verdict in dead) else ""
        guess += "".join(dict.fromkeys(verdict.reason for verdict in dead))
        yield entry.note(f.NoKnownTool, path, matcher=text, dialect=entry.dialect.id, guess=guess)
        return
    for verdict in dead:
        near = suggest_closest(verdict.text, tuple(list_native_tools(dialect)))
        guess = f" Did you mean '{verdict.meant}'?" if verdict.meant else near
        yield entry.note(f.UnknownTool, path, tool=verdict.text, guess=guess)


def _judge_matcher(dialect: Dialect, matching: Matching, text: str) -> list[MatcherVerdict]:
    matching, text = read_mark(dialect, matching, text)
    if matching.grammar == "terms":
        return [_judge_name(dialect, text, text in list_native_tools(dialect))]
    if matching.grammar in ("glob", "exact"):
        if set(text) & set("*?[^"):
            return [MatcherVerdict(text, is_alive=True)]
        return [_judge_name(dialect, text, text in list_native_tools(dialect))]
    if not _is_pattern(matching, text):
        words = [word.strip() for word in re.split(f"[{re.escape(matching.separators)}]", text)]
        return [_judge_name(dialect, word, word in list_native_tools(dialect)) for word in words]
    rule = _judge_permission_rule(dialect, text)
    if rule:
        return [rule]
    wrong = find_pattern_problem(text)
    if wrong:
        reason = f" It is not a valid regular expression ({wrong})."
        reason += " Remove the matcher to match every tool." if text == "*" else ""
        return [MatcherVerdict(text, certain=True, reason=reason)]
    if dialect.mcp and dialect.mcp.server_last and text.startswith(dialect.mcp.prefix):
        return [MatcherVerdict(text, is_alive=True)]
    return [
        _judge_alternative(dialect, part, whole=matching.grammar == "anchored")
        for part in _split_alternatives(text)
    ]


def _judge_permission_rule(dialect: Dialect, text: str) -> MatcherVerdict | None:
    """Detect a permission rule as matcher: as an expression, `Bash(git *)` needs a tool named `Bashgit`."""
    rule = re.fullmatch(r"(\w+)\((.*[ :*].*)\)", text)
    if not rule or rule[1] not in list_native_tools(dialect) or rule[2].startswith("?"):
        return None
    reason = " It looks like a permission rule; a matcher names tools only."
    return MatcherVerdict(text, certain=True, meant=rule[1], reason=reason)


def _split_alternatives(pattern: str) -> list[str]:
    """The alternatives of a pattern, as patterns, if they can be split without parsing it."""
    group = re.fullmatch(r"(\^?)\((?:\?:)?([^()\[\]\\]*)\)(\$?)", pattern)
    if group:
        return [f"{group[1]}{part}{group[3]}" for part in group[2].split("|")]
    return [pattern] if set(pattern) & set(r"()[]\\") else pattern.split("|")


def _judge_alternative(dialect: Dialect, pattern: str, *, whole: bool) -> MatcherVerdict:
    """Judge one alternative of a regular expression; `whole`: it must match the whole name."""
    names = [name for name in list_native_tools(dialect) if _matches(pattern, name, whole=whole)]
    word = pattern.removeprefix("^").removesuffix("$")
    if names or not word:
        return MatcherVerdict(word, is_alive=True)
    if re.fullmatch(r"[\w:@/ -]+", word):
        is_loose = not whole and not pattern.endswith("$")
        return _judge_name(
            dialect, word, is_loose and bool(dialect.mcp) and word.startswith(_find_mcp_prefix(dialect))
        )
    folded = [name for name in list_native_tools(dialect) if _matches(pattern, name, whole=whole, fold=True)]
    if not folded or any(_matches(pattern, name, whole=whole) for name in _make_mcp_names(dialect, pattern)):
        return MatcherVerdict(word, is_alive=True)
    return MatcherVerdict(word, certain=True, meant=folded[0])


def _matches(pattern: str, name: str, *, whole: bool, fold: bool = False) -> bool:
    compiled = _compile_pattern(f"(?i){pattern}" if fold else pattern)
    if not isinstance(compiled, re.Pattern):
        return compiled is None and not fold
    return bool(compiled.fullmatch(name) if whole else compiled.search(name))


def _find_mcp_prefix(dialect: Dialect) -> str:
    """The prefix of MCP tools' names; empty if they have none."""
    return (dialect.mcp.prefix if dialect.mcp else "") or "\0"


def _make_mcp_names(dialect: Dialect, pattern: str) -> list[str]:
    """Possible names of MCP tools, if the pattern were meant for them."""
    if dialect.mcp is None:
        return []
    prefix, joint = dialect.mcp.prefix, dialect.mcp.joint
    words = [*re.findall(r"\w{2,}", pattern), "server"]
    return [name for word in words for name in (f"{prefix}server{joint}{word}", f"{prefix}{word}{joint}tool")]


def _judge_name(dialect: Dialect, word: str, is_known: bool) -> MatcherVerdict:  # noqa: FBT001 (a fact that goes with the word)
    """Judge a tool's exact name."""
    if is_known or not word or is_other_tool(get_wire(dialect.id), word) or _is_wordless(dialect, word):
        return MatcherVerdict(word, is_alive=True)
    mcp = dialect.mcp
    if mcp and word.startswith(mcp.prefix) and len(word) > len(mcp.prefix):
        if mcp.joint in word[len(mcp.prefix) :]:
            return MatcherVerdict(word, is_alive=True)
        if mcp.prefix:
            return MatcherVerdict(word, certain=True, meant=f"{word}{mcp.joint}.*")
    meant_tool = _find_meant_tool(dialect, word)
    # A format has the tools of the agent that reads it, so another name may be right.
    return MatcherVerdict(word, certain=bool(meant_tool) and dialect.kind == "agent", meant=meant_tool)


def _is_wordless(dialect: Dialect, word: str) -> bool:
    """Whether a tool without a canonical name has that name; a format may have tools of any agent."""
    agents = [dialect] if dialect.kind == "agent" else map(dialects.get, dialects.list_dialects())
    names = [name for agent in agents for name in agent.wordless]
    starts = tuple(name[:-1] for name in names if name.endswith("*"))
    return word in names or word.startswith(starts)


def _find_meant_tool(dialect: Dialect, word: str) -> str:
    """The tool that a wrong name means: another spelling, another dialect's name, or a typo."""
    native_names = {_fold_name(name): name for name in reversed(list_native_tools(dialect))}
    folded = _fold_name(word)
    if folded in native_names:
        return native_names[folded]
    for tool in _index_tools().get(folded, ()):
        names = list_tool_names(dialect, tool)
        if names:
            return names[0]
    import difflib

    slips = difflib.get_close_matches(folded, list(native_names), n=1, cutoff=SLIP)
    return native_names[slips[0]] if slips else ""


def _fold_name(name: str) -> str:
    return re.sub(r"[\W_]", "", name).lower()


@lru_cache(maxsize=1)
def _index_tools() -> dict[str, tuple[str, ...]]:
    """The canonical tools of every tool name of any dialect."""
    tools_by_name: dict[str, dict[str, None]] = {_fold_name(tool): {tool: None} for tool in TOOLS}
    for dialect in map(dialects.get, dialects.list_dialects()):
        for row in dialect.tools:
            tools_by_name.setdefault(_fold_name(row.native), {})[row.tool] = None
    return {name: tuple(tools) for name, tools in tools_by_name.items()}


def _check_timeout(entry: CheckedEntry) -> Iterator[Finding]:
    handler = entry.dialect.handlers.get(entry.hook.handler.type)
    timeout = entry.hook.handler.timeout
    if handler is None or timeout is None or handler.timeout.unit is None:
        return
    keys = [key for key, field in iter_fields(handler) if field.attr == "timeout"]
    paths = ((*entry.place.path, *inside, key) for inside in ((), ("handler",)) for key in keys)
    path = next((path for path in paths if _is_number(entry.at(path))), ())
    value = entry.at(path) if path else write_timeout(handler.timeout, timeout)
    yield from _check_unit(entry, path, value) or _check_limits(entry, path, value, timeout)


def _is_number(value: Tree) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _check_unit(entry: CheckedEntry, path: Path, value: float) -> list[Finding]:
    """Report a timeout that looks like the wrong unit."""
    rule = entry.dialect.handlers[entry.hook.handler.type].timeout
    title = entry.dialect.title
    if rule.unit == SECOND and value >= SHORTEST_MISTAKE and value % 100 == 0 and value not in LONG_WAITS:
        guess = math.ceil(value / 1000) if rule.whole else value / 1000
        words = {"meaning": spell_time(value * SECOND), "unit": "seconds", "guess": f"{guess:g}"}
    elif rule.unit == MILLISECOND and max(rule.seconds_below, 0) <= value and _reads_as_seconds(value):
        words = {"meaning": f"{value:g} ms", "unit": "milliseconds", "guess": f"{value * 1000:.10g}"}
    else:
        return []
    return [entry.note(f.SuspiciousTimeout, path, value=f"{value:.10g}", dialect=title, **words)]


def _reads_as_seconds(value: float) -> bool:
    return 0 < value < SHORTEST_WAIT_MS or (0 < value < SHORTEST_MISTAKE and value % 60 == 0)


def spell_time(time: timedelta) -> str:
    """Format a time in the units people use: `8 h 20 min`."""
    rest = round(time / MILLISECOND)
    parts = []
    for name, size in (("d", 86_400_000), ("h", 3_600_000), ("min", 60_000), ("s", 1000), ("ms", 1)):
        count, rest = divmod(rest, size)
        parts += [f"{count} {name}"] if count else []
    return " ".join(parts) or "0 s"


def _check_limits(entry: CheckedEntry, path: Path, value: float, timeout: timedelta) -> Iterator[Finding]:
    rule = entry.dialect.handlers[entry.hook.handler.type].timeout
    broken = ""
    if rule.whole and value != int(value):
        broken = f"it accepts whole {'seconds' if rule.unit == SECOND else 'milliseconds'}"
    elif rule.minimum and timeout < rule.minimum:
        broken = f"at least {spell_time(rule.minimum)}"
    elif rule.maximum and timeout > rule.maximum:
        broken = f"at most {spell_time(rule.maximum)}"
    if broken:
        yield entry.note(
            f.TimeoutNever, path, dialect=entry.dialect.title, value=f"{value:.10g}", rule=broken
        )
    spec = _find_spec(entry)
    if broken or spec is None or not spec.max_timeout or timeout <= spec.max_timeout:
        return
    if slow := describe_slow_guard(entry.dialect, entry.hook, (spec,), entry.hook.handler.type):
        yield entry.note(f.GuardCutShort, path, **slow)
    else:
        words = {"limit": spell_time(spec.max_timeout), "event": spec.native, "dialect": entry.dialect.title}
        yield entry.note(f.TimeoutCapped, path, value=spell_time(timeout), **words)


def _check_blocking(entry: CheckedEntry) -> Iterator[Finding]:
    """Check that the event of a hook that declares itself blocking can block.

    A hook written for another dialect may block there; converting reported what it lost on the way.
    """
    if not entry.hook.blocking or not has_field(entry.dialect, "blocking", entry.hook.handler.type):
        return
    # Converting already wrote the blocking of hooks into generated code.
    if entry.hook.dialect not in ("", entry.dialect.id) or entry.dialect.matching.grammar == "terms":
        return
    specs = [spec for spec in entry.dialect.events if spec.canonical == entry.hook.event]
    if specs and all(spec.blocks == "observe" for spec in specs):
        where_ = "" if entry.dialect.is_hub else f" in {entry.dialect.title}"
        yield entry.note(f.BlocksNothing, event=entry.hook.event, where_=where_)


def _check_capabilities(entry: CheckedEntry) -> Iterator[Finding]:
    for number, capability in enumerate(entry.hook.capabilities):
        if capability not in CAPABILITIES:
            path = (*entry.place.path, "capabilities", number)
            guess = suggest_closest(capability, tuple(CAPABILITIES))
            yield entry.note(f.UnknownCapability, path, capability=capability, guess=guess)


def _check_duplicate_hooks(entries: list[CheckedEntry]) -> Iterator[Finding]:
    groups: dict[tuple[str, str, str], list[CheckedEntry]] = {}
    for entry in entries:
        # Hooks of a skill, subagent or command run while it is active, whatever others do.
        scope = entry.place.file if entry.place.path[: len(SCOPED)] == SCOPED else ""
        key = (_make_twin_key(entry.hook), _find_package_root(entry), scope)
        for earlier in groups.setdefault(key, []):
            if _overlap(entry, earlier):
                yield entry.note(f.DuplicateHook, other=earlier.where(earlier.place.path))
                break
        groups[key].append(entry)


def _find_package_root(entry: CheckedEntry) -> str:
    """The package folder that a hook's commands name; empty if they name none."""
    texts = (entry.hook.handler.command, *entry.hook.handler.platform.values())
    if not any(word in text for text in texts for word in entry.dialect.package_dir):
        return ""
    file = entry.place.file
    ends = [place.path for place in entry.dialect.locations if place.scope == "plugin"]
    inside = max((end for end in ends if f"/{file}".endswith(f"/{end}")), key=len, default="")
    return file.removesuffix(inside) if inside else file.rpartition("/")[0]


def _make_twin_key(hook: Hook) -> str:
    """The key that two hooks share if they do the same at the same time; the timeout does not count."""
    handler: Handler = hook.handler._replace(timeout=None, status_message="")
    dialect_fields = {
        name: {**data, "event": ""} for name, data in hook.provider_data.items() if {*data} != {"event"}
    }
    return repr((hook.event, hook.enabled, handler, dialect_fields))


def _overlap(first: CheckedEntry, second: CheckedEntry) -> bool:
    ours, theirs = first.hook, second.hook
    for attr in ("content", "condition"):
        values = {getattr(ours, attr), getattr(theirs, attr)}
        if len(values - {""}) > 1:
            return False
    if not ours.matcher or not theirs.matcher or set(ours.matcher) & set(theirs.matcher):
        return True
    return bool(
        _list_tool_names(first.dialect, ours.matcher) & _list_tool_names(first.dialect, theirs.matcher)
    )


def _list_tool_names(dialect: Dialect, terms: tuple[Term, ...]) -> set[str]:
    """The native tools that terms match."""
    names: set[str] = set()
    for term in terms:
        if term.kind == "tool":
            names |= {*list_tool_names(dialect, term.value)}
        elif term.kind == "pattern" and isinstance(_compile_pattern(term.value), re.Pattern):
            names |= {name for name in list_native_tools(dialect) if _matches(term.value, name, whole=False)}
    return names


def _check_repairs(reading: Reading) -> Iterator[Finding]:
    for file, document in reading.documents.items():
        for line, column in document.repairs:
            yield f.WrongEscape.at("")._replace(file=file, line=line, column=column)


def _check_duplicate_keys(reading: Reading, entries: list[CheckedEntry]) -> Iterator[Finding]:
    for file, document in reading.documents.items():
        for path, line, column in document.duplicates:
            places = (
                (candidate, candidate.place.path) for candidate in entries if candidate.place.file == file
            )
            entry = next((candidate for candidate, place in places if path[: len(place)] == place), None)
            where = entry.where(path) if entry else spell_path(path)
            finding = f.DuplicateKey.at(where, entry.number if entry else None, key=path[-1] if path else "")
            root = reading.dialect.shape.root
            # One of two lists of hooks is lost, whole.
            severity = "error" if path == root or (root and path[:-1] == root) else finding.severity
            yield finding._replace(file=file, line=line, column=column, severity=severity)
