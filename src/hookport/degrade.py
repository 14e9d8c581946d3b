"""What a target cannot say: changed hooks and a finding for every change.

The result says exactly what the target can say, no more, so that decoding what was encoded gives it back
whole. A guard never becomes weaker without an error.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any, NamedTuple

from hookport import findings as f
from hookport.dialects import get
from hookport.dialects._base import (
    SECOND,
    Dialect,
    EventSpec,
    Timeout,
    at_event,
    event_named,
    event_specs,
    is_split,
    matching_of,
    names_of,
    native_tools,
    says,
    terms_of,
    tools_named,
)
from hookport.dialects._entries import event_order, merge_entries, shell_word, slots
from hookport.dialects._matchers import alternatives, found_in, mcp_parts, normal, read_matcher, write_matcher
from hookport.dialects._terms import re2_problem
from hookport.findings import Finding, Kind
from hookport.model.events import AFTER_OF, EVENTS, about_tool, split_native
from hookport.model.hooks import ANY_SERVER, CAPABILITIES, NOTHING, PLATFORMS, Handler, Hook, Manifest, Term
from hookport.model.tools import TOOLS

# Words in a script that show which features its answers use: this project's formats and those of the
# agents (updatedInput, modifiedArgs, overrideInput, …), see the wires of the dialects.
REWRITE_WORDS = ("updated_input", "updatedInput", "modifiedArgs", "overrideInput", "modified_input", "tool_input_override")
OUTPUT_WORDS = (
    "hookSpecificOutput",
    "permissionDecision",
    "additionalContext",
    "additional_context",
    "systemMessage",
    "system_message",
    "followup_message",
    "suppress_output",
    "suppressOutput",
    '"decision"',
    '"permission"',
    '"context"',
    "contextModification",
)


class Degraded(NamedTuple):
    """What is left for the target; `kept` gives the original index of each hook that is."""

    manifest: Manifest
    kept: tuple[int, ...]
    findings: tuple[Finding, ...]


class Work:
    """One hook on its way to one target: the hook as it is now, and the findings so far."""

    def __init__(self, hook: Hook, index: int, where: str, target: Dialect, scripts: Mapping[str, str]) -> None:
        self.hook = hook
        self.index = index
        self.where = where
        self.target = target
        self.source = get(hook.dialect)
        self.used = infer(hook, scripts)
        self.findings: list[Finding] = []
        self.placed: Hook | None = None
        self.specs: list[EventSpec] = []

    def note(self, kind: type[Kind], **words: object) -> None:
        """Report a finding about this hook."""
        self.findings.append(kind.at(self.where, self.index, target=self.target.id, **words))

    def change(self, **values: Any) -> None:
        """Replace attributes of the handler."""
        self.hook = self.hook._replace(handler=self.hook.handler._replace(**values))

    @property
    def is_home(self) -> bool:
        """Whether the hook was written for the target itself."""
        return self.source.id == self.target.id


def degrade(manifest: Manifest, target: Dialect, wheres: tuple[str, ...], scripts: Mapping[str, str]) -> Degraded:
    """The part of a manifest that the target can say, with a finding for every change and drop."""
    works = [
        Work(hook, index, wheres[index] if index < len(wheres) else "", target, scripts)
        for index, hook in enumerate(manifest.hooks)
    ]
    left = [work for work in works if all(step(work) for step in STEPS)]
    left = _by_priority(left)
    if target.shape.merges:
        left = _merged(left)
    if target.shape.by_event:
        left.sort(key=lambda work: event_order(target, work.hook))
    findings = [finding for work in works for finding in work.findings]
    hooks = [work.hook for work in left]
    if target.adjust:
        hooks, more = target.adjust(hooks)
        findings += [
            finding if finding.hook is None else finding._replace(hook=left[finding.hook].index, where=left[finding.hook].where)
            for finding in more
        ]
        if target.shape.by_event:
            pairs = sorted(zip(hooks, left, strict=True), key=lambda pair: event_order(target, pair[0]))
            hooks, left = [hook for hook, _ in pairs], [work for _, work in pairs]
    own = {key: value for key, value in manifest.provider_data.items() if key == target.id}
    return Degraded(Manifest(tuple(hooks), own or NOTHING), tuple(work.index for work in left), tuple(findings))


def _merged(works: list[Work]) -> list[Work]:
    """Where the target's entries are merged when they are read, hooks that would be are one already."""
    merged = merge_entries([(work.hook, work) for work in works])
    for hook, work in merged:
        work.hook = hook
        if len(merged) < len(works) and about_tool(hook.event):
            work.hook = hook._replace(matcher=_said(work))
    first = [work for _, work in merged]
    for work in works:
        if work not in first:
            rest = work.hook._replace(matcher=())
            other = next(one for one in first if one.hook._replace(matcher=()) == rest)
            work.note(f.WrittenTogether, other=other.where or f"hook {other.index}")
    return first if len(first) == len(works) else _merged(first)


def _by_priority(works: list[Work]) -> list[Work]:
    """Where the target has no priorities, higher ones come first in the file."""
    if not works or says(works[0].target, "priority"):
        return works
    works = sorted(works, key=lambda work: -(100 if work.hook.priority is None else work.hook.priority))
    for work in works:
        if work.hook.priority is not None:
            work.note(f.PriorityDropped, priority=work.hook.priority)
            work.hook = work.hook._replace(priority=None)
    return works


def infer(hook: Hook, scripts: Mapping[str, str]) -> dict[str, str]:
    """The capabilities a hook uses, each with the evidence."""
    handler = hook.handler
    used: dict[str, str] = {}
    for capability in CAPABILITIES:
        if capability in hook.degradation:
            used[capability] = "its degradation names it"
        elif capability in hook.capabilities:
            used[capability] = "its capabilities name it"
    if handler.type in ("prompt", "agent"):
        used.setdefault("llm_evaluated", f"its handler is a {handler.type}")
    if handler.type == "http":
        used.setdefault("http_handler", "its handler is a URL")
    if handler.is_async:
        used.setdefault("async_execution", "async is true")
    if handler.platform:
        used.setdefault("platform_commands", "it has commands per platform")
    if handler.env:
        used.setdefault("custom_env", "it sets environment variables")
    if handler.cwd:
        used.setdefault("configurable_cwd", "it sets a working directory")
    for script, text in scripts.items():
        if handler.command and script in handler.command:
            for capability, words in (("input_rewrite", REWRITE_WORDS), ("structured_output", OUTPUT_WORDS)):
                word = next((word for word in words if word in text), None)
                if word:
                    used.setdefault(capability, f"{script} says {word.strip(chr(34))}")
    if hook.blocking and handler.type == "command":
        used.setdefault("structured_output", "a blocking hook may answer in JSON")
    return used


def _strategy(work: Work, capability: str) -> str:
    return work.hook.degradation.get(capability, CAPABILITIES[capability])


def _specs(work: Work) -> list[EventSpec]:
    if work.placed is not work.hook:
        work.placed, work.specs = work.hook, [spec for spec, _ in slots(work.target, work.hook)]
    return work.specs


def _blocks(work: Work) -> bool:
    """Whether every event the hook is written under lets it block."""
    specs = _specs(work)
    return bool(specs) and all(spec.blocks in ("prevent", "retry") for spec in specs)


def _event(work: Work) -> bool:
    """The target has the event, or one that comes too late, or the hook goes."""
    hook = work.hook
    if not hook.enabled and not says(work.target, "enabled"):
        work.note(f.DisabledHook)
        return False
    native = split_native(hook.event)
    if (native and native[0] == work.target.id) or work.target.is_hub:
        return True
    if event_specs(work.target, hook.event):
        return True
    after = AFTER_OF.get(hook.event)
    if after and not hook.blocking and event_specs(work.target, after):
        work.note(f.TimingShift, event=hook.event, after=after)
        work.hook = hook._replace(event=after)
        return True
    name = native[1] if native else hook.event
    reason = work.target.lacks.get(hook.event, "")
    kind = f.GuardDropped if hook.blocking else f.EventDropped
    work.note(kind, event=name, reason=f" ({reason})" if reason and "no such event" not in reason else "")
    return False


def _handler(work: Work) -> bool:
    """The target has the handler's type on this event, or the strategy of the capability decides."""
    type_ = work.hook.handler.type
    allowed = all(not spec.types or type_ in spec.types for spec in _specs(work))
    spec = work.target.handlers.get(type_)
    allowed = allowed and bool(spec and (spec.decides or not work.hook.blocking))
    if spec and allowed and work.hook.handler.url.startswith(spec.url_start) and (type_ != "native" or work.is_home):
        return True
    if type_ == "http" and _strategy(work, "http_handler") == "warn":
        work.note(f.HttpToCurl)
        if work.hook.blocking and not work.target.reads_output:
            # The server denies in its answer, which nobody reads there.
            work.note(f.GuardObserves, event=", ".join(spec.native for spec in _specs(work)))
        closed = any(spec.fails_closed for spec in _specs(work))
        work.hook = work.hook._replace(handler=_curl(work.hook.handler, failed=0 if closed else 1))
        return True
    if type_ == "native":
        return _drop_handler(work)
    return _without(work, "http_handler" if type_ == "http" else "llm_evaluated", _drop_handler)


def _command(work: Work) -> bool:
    """A hook that has commands for some platforms only does nothing on the others, as far as the target can say it."""
    handler = work.hook.handler
    if handler.type != "command" or handler.command or "command" not in work.target.handlers["command"].required:
        return True
    if all(name == "windows" and not says(work.target, name) for name in handler.platform):
        work.note(f.HandlerDropped, type="Windows")
        return False
    work.note(f.FieldGiven, field="command", value=":")
    work.change(command=":")
    return True


def _drop_handler(work: Work) -> bool:
    work.note(f.HandlerDropped, type=work.hook.handler.type)
    return False


def _without(work: Work, capability: str, warn: Callable[[Work], bool]) -> bool:
    """Apply the strategy for a capability the target lacks."""
    strategy = _strategy(work, capability)
    evidence = work.used.get(capability, "")
    if strategy == "warn":
        return warn(work)
    if strategy == "exclude":
        work.note(f.GuardExcluded if work.hook.blocking else f.Excluded, capability=capability, evidence=evidence)
        return False
    if not _blocks(work):
        work.note(f.CannotBlockHere, capability=capability, evidence=evidence, event=work.hook.event)
        return False
    work.note(f.BlockedInstead, capability=capability, evidence=evidence)
    reason = f"blocked: {work.target.title} cannot do what the hook {work.hook.name or work.where} needs ({capability})"
    work.hook = work.hook._replace(
        handler=Handler(command=deny_command(work.target, reason, _specs(work)[0].deny_answer)),
        blocking=True,
        dialect=work.target.id,
        capabilities=(),
        degradation=NOTHING,
    )
    work.used.clear()
    work.source = work.target
    return True


def deny_command(target: Dialect, reason: str, answer_here: Mapping[str, Any] = NOTHING) -> str:
    """A shell command that blocks in the target's own terms and gives the reason."""
    if answer_here or target.deny_answer:
        answer = json.dumps(answer_here or target.deny_answer, ensure_ascii=True).replace("{reason}", json.dumps(reason)[1:-1])
        return f"printf '%s\\n' {_quoted(answer)}"
    return f"printf '%s\\n' {_quoted(reason)} >&2; exit 2"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\"'\"'") + "'"


def _curl(handler: Handler, *, failed: int) -> Handler:
    """The call as a command: the payload from stdin is the body; a failed call is no decision."""
    words = ["curl", "-gfsS", "-X", "POST"]
    if handler.timeout is not None:
        words += ["--max-time", f"{handler.timeout / SECOND:.3f}".rstrip("0").rstrip(".")]
    words += ["-H", _quoted("Content-Type: application/json")]
    for name, value in handler.headers.items():
        words += ["-H", _header(f"{name}: {value}", handler.allowed_env)]
    command = " ".join([*words, "--data-binary", "@-", "--url", _quoted(handler.url)]) + f" || exit {failed}"
    return Handler(
        command=command,
        timeout=handler.timeout,
        is_async=handler.is_async,
        on_failure=handler.on_failure,
        timeout_action=handler.timeout_action,
        status_message=handler.status_message,
    )


def _header(text: str, allowed: tuple[str, ...]) -> str:
    """A header as one word of the shell; of its variables only the allowed ones are filled in."""
    parts = re.split(r"(\$\{[A-Za-z_]\w*\}|\$[A-Za-z_]\w*)", text)
    word = ""
    for number, part in enumerate(parts):
        if number % 2:
            name = part.strip("${}")
            word += f'"${{{name}}}"' if name in allowed else ""
        elif part:
            word += _quoted(part)
    return word or "''"


def _rewrite(work: Work) -> bool:
    """A rewrite the target ignores lets the original input through: block, unless told otherwise."""
    if "input_rewrite" not in work.used:
        return True
    named = {*work.hook.degradation, *work.hook.capabilities}
    if "input_rewrite" not in named:
        work.note(f.CapabilityInferred, capability="input_rewrite", evidence=work.used["input_rewrite"])
        work.hook = work.hook._replace(capabilities=(*work.hook.capabilities, "input_rewrite"))
    if all(spec.rewrites for spec in _specs(work)):
        return True

    def warn(work: Work) -> bool:
        work.note(f.RewriteLost, evidence=work.used["input_rewrite"])
        return True

    return _without(work, "input_rewrite", warn)


def _output(work: Work) -> bool:
    if work.target.reads_output or "structured_output" not in work.used:
        return True

    def warn(work: Work) -> bool:
        work.note(f.OutputLost, evidence=work.used["structured_output"])
        return True

    return _without(work, "structured_output", warn)


def _async(work: Work) -> bool:
    handler = work.hook.handler
    if not handler.is_async or says(work.target, "is_async", handler.type):
        return True

    def warn(work: Work) -> bool:
        if handler.type == "command" and not work.hook.blocking:
            work.note(f.AsyncInBackground)
            # A shell gives what it starts in the background no input, so the payload goes through another number.
            _each_command(work, lambda command: f"{{ ( {_lines(command)}) <&3 3<&- >/dev/null 2>&1 & }} 3<&0")
        else:
            work.note(f.AsyncDropped)
        work.change(is_async=False)
        if _blocks(work) and not work.target.is_hub:
            work.hook = work.hook._replace(blocking=True)
        return True

    return _without(work, "async_execution", warn)


def _lines(command: str) -> str:
    """A command, whatever it ends in, ready to be followed by a closing bracket."""
    is_plain = re.fullmatch(r"[^#<\\\n]*[\w\"')/.}]", command)
    return f"{command}; " if is_plain else f"{command}\n"


def _platform(work: Work) -> bool:
    handler = work.hook.handler
    lost = {name: command for name, command in handler.platform.items() if not says(work.target, name)}
    if not lost:
        return True

    def warn(work: Work) -> bool:
        command = handler.command
        unix = {name: text for name, text in lost.items() if name != "windows"}
        if unix:
            cases = {"osx": "Darwin", "linux": "Linux"}
            arms = {**{cases[name]: text for name, text in unix.items()}, "*": command}
            spelled = " ".join(f"{name}) {_lines(text).removesuffix('; ')} ;;" for name, text in arms.items())
            command = f'case "$(uname -s)" in {spelled} esac'
            work.note(f.CarriedInCommand, what=f"the command for {' and '.join(unix)}")
        if "windows" in lost:
            work.note(f.PlatformDropped, platform="windows")
        kept = {name: text for name, text in handler.platform.items() if name not in lost}
        work.change(command=command, platform=kept or NOTHING)
        return True

    return _without(work, "platform_commands", warn)


def _environment(work: Work) -> bool:
    handler = work.hook.handler
    if not handler.env or says(work.target, "env", handler.type):
        return True

    def warn(work: Work) -> bool:
        if any(not re.fullmatch(r"[A-Za-z_]\w*", name) for name in handler.env):
            bad = ", ".join(name for name in handler.env if not re.fullmatch(r"[A-Za-z_]\w*", name))
            work.note(f.FieldDropped, field=f"env {bad}")
        good = {name: value for name, value in handler.env.items() if re.fullmatch(r"[A-Za-z_]\w*", name)}
        if handler.type != "command":
            work.note(f.FieldDropped, field="env")
        elif good:
            settings = " ".join(f"{name}={_quoted(value)}" for name, value in good.items())
            work.note(f.CarriedInCommand, what="env")
            _each_command(work, lambda command: f"export {settings}; {command}")
        work.change(env=NOTHING)
        return True

    return _without(work, "custom_env", warn)


def _each_command(work: Work, rewrite: Callable[[str], str]) -> None:
    """Change the command and those of Unix platforms; Windows commands are not for a POSIX shell."""
    handler = work.hook.handler
    platform = {name: text if name == "windows" else rewrite(text) for name, text in handler.platform.items()}
    work.change(command=rewrite(handler.command), platform=platform or NOTHING)


def _directory(work: Work) -> bool:
    handler = work.hook.handler
    if not handler.cwd or says(work.target, "cwd", handler.type):
        return True

    def warn(work: Work) -> bool:
        if handler.type != "command":
            work.note(f.FieldDropped, field="cwd")
        else:
            work.note(f.CarriedInCommand, what="cwd")
            root = work.target.project_dir[0] if work.target.project_dir else ""
            inside = not handler.cwd.startswith(("/", "~", "$"))
            path = shell_word(f"{root}/{handler.cwd}") if root and inside else shell_word(handler.cwd)
            if root.startswith("$(") and inside:
                path = f'"{root}"/{shell_word(handler.cwd)}'
            _each_command(work, lambda command: f"cd {path} && {{ {_lines(command)}}}")
        work.change(cwd="")
        return True

    return _without(work, "configurable_cwd", warn)


def _matcher(work: Work) -> bool:
    """The matcher as the target says it; wider or narrower only with a finding."""
    if work.target.is_hub or work.target.matching.grammar == "terms":
        _plain_patterns(work)
    hook = work.hook
    if work.target.is_hub:
        return True
    if not about_tool(hook.event):
        return _subject(work)
    if not hook.matcher:
        split = [spec for spec in _specs(work) if is_split(spec)]
        if split and len(split) == len(_specs(work)):
            terms = normal([term for spec in split for term in terms_of(spec)])
            tools = ", ".join(_spelled(term) for term in terms)
            work.note(f.PartialCover, tools=tools)
            work.hook = hook._replace(matcher=terms)
        return True
    if not work.is_home:
        work.hook = hook._replace(matcher=_expand(work))
    wanted = work.hook.matcher
    present = tuple(term for term in wanted if _exists(work, term))
    missing = [term for term in wanted if term not in present]
    if missing and not present:
        tools = ", ".join(map(_spelled, missing))
        if hook.blocking:
            work.note(f.GuardDropped, event=f"{tools} tool in its {hook.event}", reason="")
        else:
            work.note(f.NoToolLeft, tools=tools)
        return False
    for term in missing:
        work.note(f.GuardToolMissing if hook.blocking else f.ToolMissing, tool=_spelled(term))
    work.hook = work.hook._replace(matcher=present)
    said = _said(work)
    extra = [term for term in said if term not in present]
    if not said:
        matcher = ", ".join(map(_spelled, present))
        work.note(f.MatcherDropped, matcher=matcher)
    else:
        for term in present:
            if term.kind == "mcp" and term not in said:
                work.note(f.ServerWidened, server=_spelled(term).removeprefix("mcp "))
        wider = [term for term in extra if term.kind != "mcp"]
        if wider:
            work.note(f.MatcherWidened, extra=", ".join(map(_spelled, wider)))
    work.hook = work.hook._replace(matcher=said)
    return True


def _spelled(term: Term) -> str:
    if term.kind == "mcp":
        return f"mcp {term.value}/{term.tool}" if term.tool else f"mcp {term.value}"
    return term.value


def _said(work: Work) -> tuple[Term, ...]:
    """The matcher as the target reads it once it is written; everything, if no writing of it stays the same."""
    if all(matching_of(work.target, spec).grammar == "terms" for spec in _specs(work)):
        return work.hook.matcher
    hook = work.hook
    for _ in range(4):
        terms: list[Term] = []
        for spec, part in slots(work.target, hook):
            for text in write_matcher(work.target, spec, part, hook.content):
                read, _ = read_matcher(work.target, spec, text or "")
                if not read:
                    return ()
                terms += read
        said = normal(terms)
        if said == hook.matcher:
            return said
        hook = hook._replace(matcher=said)
    return ()


def _exists(work: Work, term: Term) -> bool:
    """Whether the target shows hooks such a tool."""
    specs = event_specs(work.target, work.hook.event)
    special = any(is_split(spec) and term in _cover(spec, term) for spec in specs)
    general = any(not is_split(spec) for spec in specs)
    if term.kind == "mcp":
        return special or (general and (work.target.mcp is not None or _unmatched(work, specs)))
    if term.kind == "tool" and term.value in TOOLS:
        return special or any(
            names_of(at_event(work.target, spec), term.value) for spec in specs if not is_split(spec)
        )
    return general


def _cover(spec: EventSpec, term: Term) -> tuple[Term, ...]:
    return (term,) if (term.kind == "mcp" and spec.mcp) or (term.kind == "tool" and term.value in spec.tools) else ()


def _unmatched(work: Work, specs: list[EventSpec]) -> bool:
    return any(matching_of(work.target, spec).grammar in ("none", "ignored") for spec in specs)


def _expand(work: Work) -> tuple[Term, ...]:
    """Patterns become the tools they match: names differ, so the pattern itself would match others."""
    terms: list[Term] = []
    source, target = _here(work.source, work.hook), _here(work.target, work.hook)
    for term in work.hook.matcher:
        if term.kind == "tool" and term.value not in TOOLS:
            tools = tools_named(target, term.value)
            terms += [Term("tool", tool) for tool in tools] or [term]
            if not tools:
                work.note(f.WordPassed, tool=term.value)
            continue
        if term.kind != "pattern":
            terms.append(term)
            continue
        tools = [tool for name in found_in(term.value, native_tools(source)) for tool in tools_named(source, name)]
        tools = list(dict.fromkeys(tools))
        mcp = source.mcp.prefix if source.mcp else "mcp__"
        if tools:
            terms += _expanded(work, source, term, tools)
        elif mcp and re.sub(r"[\^\\(]|\?:", "", term.value).startswith(mcp) and not _same_mcp(work):
            work.note(f.ServerWidened, server=term.value)
            terms.append(Term("mcp", ANY_SERVER))
        else:
            if not found_in(term.value, native_tools(target)):
                work.note(f.PatternPassed, pattern=term.value)
            terms.append(term)
    return normal(terms)


def _expanded(work: Work, source: Dialect, term: Term, tools: list[str]) -> list[Term]:
    """The tools that a pattern matches, and MCP tools if it matches any such name."""
    some = mcp_parts(source.mcp, Term("mcp", "server", "tool"))[0]
    mcp = [Term("mcp", ANY_SERVER)] if some and found_in(term.value, [some]) else []
    terms = [*(Term("tool", tool) for tool in tools), *mcp]
    work.note(f.PatternExpanded, pattern=term.value, tools=", ".join(map(_spelled, terms)))
    return terms


def _plain_patterns(work: Work) -> None:
    """Patterns that RE2 refuses as the tools they match; a matcher that is broken or on no tool goes."""
    refused = [term for term in work.hook.matcher if term.kind == "pattern" and re2_problem(term.value)]
    source = _here(work.source, work.hook)
    terms = [term for term in work.hook.matcher if term not in refused]
    for term in refused:
        names = found_in(term.value, native_tools(source)) if about_tool(work.hook.event) else []
        tools = list(dict.fromkeys(tool for name in names for tool in tools_named(source, name)))
        if not tools:
            work.note(f.MatcherDropped, matcher=term.value)
            terms = []
            break
        terms += _expanded(work, source, term, tools)
    if refused:
        work.hook = work.hook._replace(matcher=normal(terms))


def _here(dialect: Dialect, hook: Hook) -> Dialect:
    """The dialect with the tool names of the hook's event."""
    return next((at_event(dialect, spec) for spec, _ in slots(dialect, hook)), dialect)


def _same_mcp(work: Work) -> bool:
    one, other = work.source.mcp, work.target.mcp
    return bool(one and other and (one.prefix, one.joint) == (other.prefix, other.joint)) and work.target.matching.grammar in (
        "names",
        "regex",
        "anchored",
    )


def _subject(work: Work) -> bool:
    """A matcher on something else than a tool: the source of a session, a trigger, a path."""
    hook = work.hook
    specs = _specs(work)
    if not hook.matcher or not specs:
        return True
    matching = matching_of(work.target, specs[0])
    text = "|".join(term.value for term in hook.matcher)
    if matching.grammar in ("none", "ignored"):
        work.note(f.MatcherDropped, matcher=text)
        work.hook = hook._replace(matcher=())
    elif matching.grammar == "exact":
        values = [value for term in hook.matcher for value in alternatives(term.value)]
        if not values:
            work.note(f.MatcherDropped, matcher=text)
            work.hook = hook._replace(matcher=())
            return True
        if len(values) > 1:
            work.note(f.SplitMatcher, values=", ".join(values))
        work.hook = hook._replace(matcher=normal([Term("pattern", value) for value in values]))
    else:
        work.hook = hook._replace(matcher=(Term("pattern", text),))
    said = _said(work)
    if work.hook.matcher and not said:
        work.note(f.MatcherDropped, matcher=text)
    work.hook = work.hook._replace(matcher=said)
    return True


def _content(work: Work) -> bool:
    """A condition on the tool's input, where the target has a place for it."""
    hook = work.hook
    if not hook.content or says(work.target, "content"):
        return True
    if not all(spec.subject in ("command", "path") for spec in _specs(work)):
        work.note(f.ContentDropped, pattern=hook.content)
        work.hook = hook._replace(content="")
    return True


def _blocking(work: Work) -> bool:
    """A guard stays one or is reported; what must not block is kept from it."""
    hook = work.hook
    if work.target.is_hub:
        return True
    specs = _specs(work)
    decides = work.target.handlers[hook.handler.type].decides and not hook.handler.is_async
    deaf = [spec.native for spec in specs if spec.blocks == "observe" or not decides]
    if hook.blocking and deaf:
        if all(spec.blocks == "observe" for spec, _ in slots(work.source, hook)):
            work.note(f.FieldDropped, field=f"blocking (nothing can be prevented on {hook.event})")
        else:
            work.note(f.GuardObserves, event=", ".join(deaf))
    if hook.blocking and not work.is_home:
        for spec in (spec for spec in specs if spec.partly and spec.native not in deaf):
            work.note(f.GuardPartly, event=spec.native, partly=spec.partly)
    if says(work.target, "blocking"):
        return True
    if hook.blocking and len(deaf) == len(specs):
        work.hook = hook._replace(blocking=False)
    elif not hook.blocking and len(deaf) < len(specs):
        if hook.handler.type == "command":
            work.note(f.KeptFromBlocking)
            _each_command(work, lambda command: f"( {_lines(command)}) || true")
        else:
            work.note(f.MayBlockNow, type=hook.handler.type, event=", ".join(spec.native for spec in specs))
        work.hook = work.hook._replace(blocking=True)
    return True


def _failure(work: Work) -> bool:
    """A hook that blocks when it fails must do so in the target too."""
    handler = work.hook.handler
    closed = handler.on_failure == "block"
    specs = _specs(work)
    if specs and all(spec.fails_closed for spec in specs) and handler.type == "command" and work.hook.blocking:
        return _failure_closed(work)
    if closed and not says(work.target, "on_failure", handler.type):
        work.note(f.FailsOpen, failure="fails or times out")
        work.change(on_failure="")
    if not handler.timeout_action or says(work.target, "timeout_action", handler.type):
        return True
    if handler.timeout_action == "block" and work.hook.blocking:
        if says(work.target, "on_failure", handler.type):
            work.note(f.CarriedInCommand, what="timeout_action (as blocking on any failure)")
            work.change(on_failure="block")
        elif not closed:
            work.note(f.FailsOpen, failure="times out")
    else:
        work.note(f.FieldDropped, field="timeout_action")
    work.change(timeout_action="")
    return True


def _failure_closed(work: Work) -> bool:
    """The target blocks on a failure whether the hook asks for it or not, and never on a timeout."""
    handler = work.hook.handler
    zero = (f.KeptFromBlocking.code, f.AsyncInBackground.code, f.HttpToCurl.code)
    harmless = any(finding.code in zero for finding in work.findings)
    if handler.on_failure == "block" or handler.timeout_action == "block":
        if not work.is_home:
            work.note(f.FailsOpen, failure="times out")
    elif not harmless and not work.is_home:
        work.note(f.FailsClosed)
    if handler.timeout_action == "warn":
        work.note(f.FieldDropped, field="timeout_action")
    work.change(on_failure="block", timeout_action="")
    return True


def _rule(dialect: Dialect, hook: Hook) -> Timeout:
    return dialect.handlers[hook.handler.type].timeout


def _default(dialect: Dialect, hook: Hook, specs: list[EventSpec]) -> timedelta | None:
    own = next((spec.default_timeout for spec in specs if spec.default_timeout), None)
    return own or _rule(dialect, hook).default


def _timeout(work: Work) -> bool:
    """The same time in the target's unit, within its limits."""
    hook, target = work.hook, work.target
    rule = _rule(target, hook)
    specs = _specs(work)
    default = _default(target, hook, specs)
    timeout = hook.handler.timeout
    if timeout is None and hook.handler.type in work.source.handlers and not work.is_home:
        home = _default(work.source, hook, [spec for spec, _ in slots(work.source, hook)])
        if home and home != default and rule.unit is not None:
            known = _spell(default) if default else "not documented"
            work.note(f.TimeoutSpelled, timeout=_spell(home), source=work.source.id, default=known)
            timeout = home
    if timeout is None:
        return True
    if rule.unit is None:
        known = f"it waits {_spell(default)}" if default else "it waits as long as it takes"
        work.note(f.TimeoutDropped, timeout=_spell(timeout), default=known)
        work.change(timeout=None)
        return True
    highest = min((limit for limit in (rule.maximum, *(spec.max_timeout for spec in specs)) if limit), default=None)
    limited = max(timeout, rule.minimum) if rule.minimum else timeout
    limited = min(limited, highest) if highest else limited
    if limited != timeout:
        work.note(f.TimeoutClamped, before=_spell(timeout), after=_spell(limited))
    whole = limited
    if rule.whole:
        whole = math.ceil(limited / rule.unit) * rule.unit
        if whole != limited:
            unit = "seconds" if rule.unit == SECOND else "milliseconds"
            work.note(f.TimeoutRounded, before=_spell(limited), after=_spell(whole), unit=unit)
    work.change(timeout=whole)
    return True


def _spell(timeout: timedelta) -> str:
    seconds = timeout / SECOND
    if seconds < 1:
        return f"{seconds * 1000:g} ms"
    return f"{seconds:g} s"


def _fields(work: Work) -> bool:
    """Fields without a place in the target, and those only another dialect knows."""
    target = work.target
    type_ = work.hook.handler.type
    for attr in ("name", "description", "metadata"):
        if getattr(work.hook, attr) and not says(target, attr, type_):
            work.note(f.FieldDropped, field=attr)
            work.hook = work.hook._replace(**{attr: NOTHING if attr == "metadata" else ""})
    if work.hook.handler.status_message and not says(target, "status_message", type_):
        work.note(f.FieldDropped, field="status_message")
        work.change(status_message="")
    if work.hook.handler.model and not says(target, "model", type_):
        work.note(f.FieldDropped, field="model")
        work.change(model="")
    if target.is_hub:
        return True
    work.hook = work.hook._replace(capabilities=(), degradation=NOTHING)
    others = {key: value for key, value in work.hook.provider_data.items() if key != target.id and value}
    for source, data in others.items():
        names = [name for name in data if name not in ("event", "group")] + list(data.get("group", ()))
        if names and source == work.source.id:
            work.note(f.NativeDropped, source=source, fields=", ".join(names))
    own = work.hook.provider_data.get(target.id)
    work.hook = work.hook._replace(provider_data={target.id: own} if own else NOTHING)
    return True


def _placeholders(work: Work) -> bool:
    """Paths that start at the project's or the package's root, in the target's spelling."""
    source, target = work.source, work.target
    if work.hook.handler.type != "command" or work.is_home or target.is_hub:
        return True
    text = " ".join((work.hook.handler.command, *work.hook.handler.platform.values()))
    replaced: dict[str, str] = {}
    for role, spellings in (("project", source.project_dir), ("package", source.package_dir)):
        for spelling in sorted(spellings, key=len, reverse=True):
            if spelling not in text or not spelling.startswith("$"):
                continue
            there = target.project_dir if role == "project" else target.package_dir
            # A root that is spelled as the working directory is not the root in another one.
            there = there if not work.hook.handler.cwd or there[:1] != (".",) else ()
            if there == (".",) and work.hook.handler.cwd:
                there = ()
            if there:
                replaced[spelling] = there[0]
                if there[0] != spelling:
                    work.note(f.PlaceholderTranslated, before=spelling, after=there[0])
            elif role == "package" and target.project_dir:
                replaced[spelling] = target.project_dir[0]
                work.note(
                    f.PlaceholderLost,
                    placeholder=spelling,
                    consequence=f"read as the project's root {target.project_dir[0]}; put the package's files there",
                )
            else:
                kind = f.GuardPlaceholderLost if work.hook.blocking else f.PlaceholderLost
                work.note(kind, placeholder=spelling, consequence="the command will not find its file")
    if source.file_placeholder and source.file_placeholder in text and not target.file_placeholder:
        work.note(f.PlaceholderLost, placeholder=source.file_placeholder, consequence="it stays empty")
    if replaced:
        pattern = re.compile("|".join(re.escape(word) + r"(?!\w)" for word in sorted(replaced, key=len, reverse=True)))
        _each_command(work, lambda command: pattern.sub(lambda match: replaced[match[0]], command))
    return True


def _wire(work: Work) -> bool:
    """The place where a command will be wrapped so that it hears and answers what it was written for."""
    if work.is_home or work.target.is_hub:
        return True
    if work.hook.handler.type in ("command", "http"):
        work.note(f.WireDiffers, source=work.source.id)
    work.hook = work.hook._replace(dialect=work.target.id)
    return True


STEPS: tuple[Callable[[Work], bool], ...] = (
    _event,
    _rewrite,
    _handler,
    _command,
    _output,
    _placeholders,
    _async,
    _directory,
    _environment,
    _platform,
    _content,
    _matcher,
    _blocking,
    _failure,
    _timeout,
    _fields,
    _wire,
)

