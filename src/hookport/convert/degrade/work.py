"""One hook during its conversion to one target, and the strategies for what the target lacks."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any, TypedDict, Unpack

from hookport import findings as f
from hookport.agents import Dialect, EventSpec, get, get_wire
from hookport.base.quoting import quote
from hookport.convert.degrade.capabilities import Scripts, find_answer_forms, find_scripts, infer
from hookport.convert.degrade.wrapping import ON_PATH, BridgeCall, agree, unwrap_hook
from hookport.findings import Finding, Kind
from hookport.model.hooks import CAPABILITIES, NOTHING, STRATEGIES, Handler, Hook
from hookport.runtime.surroundings import can_copy, list_transcript_words
from hookport.shapes.dialect import get_dialect_data
from hookport.shapes.entries import find_slots


class HandlerValues(TypedDict, total=False):
    """The attributes of a handler that a target may not have."""

    command: str
    platform: Mapping[str, str]
    cwd: str
    env: Mapping[str, str]
    timeout: timedelta | None
    is_async: bool
    timeout_action: str
    on_failure: str
    status_message: str
    model: str


class Work:
    """One hook during its conversion: its current form, and the findings so far."""

    def __init__(
        self,
        hook: Hook,
        index: int,
        where: str,
        target: Dialect,
        scripts: Scripts,
        bridge: BridgeCall | None = ON_PATH,
    ) -> None:
        inner = unwrap_hook(hook)
        is_inner, hook = inner != hook, inner
        self.hook = hook
        self.index = index
        self.where = where
        self.target = target
        # The dialect of the handler's wire, and the dialect of the matcher's names.
        self.source = self.origin = get(hook.dialect)
        # The event that its script was written for, if the script's dialect would choose another.
        self.written = _choose_event(self.source, hook)
        # The one field of the input that its pattern is for, if not all.
        self.content_of = _read_content_of(self.source, hook)
        # Its text: its command, and the scripts that this runs.
        self.texts = (hook.handler.command, *find_scripts(hook.handler, scripts).values())
        self.used = infer(hook, scripts)
        self.by_answer = find_answer_forms(hook, scripts)
        self.is_replaced = False
        # Its command calls a URL, which can deny only by its answer.
        self.is_url = False
        # The target has a handler of its type, and runs it.
        self.is_settled = False
        # Its command is the prompt for a model, not a shell command.
        self.is_prompt = False
        # The bridge for a command of another dialect; None: no bridge.
        self.bridge = bridge
        self.is_wrapped = False
        # Something of the hook only the bridge can do, whatever the target's wire.
        self.needs_bridge = False
        # Options of `hookport wrap` for this hook.
        self.options: list[str] = []
        self.findings: list[Finding] = []
        self.placed: tuple[object, ...] = ()
        self.specs: list[EventSpec] = []
        if is_inner:
            self.note(f.Unwrapped, source=hook.dialect)
        # The field by which it reads the transcript; only the bridge translates that.
        self.transcript_field = self._find_transcript_field()
        if self.transcript_field and can_copy(get_wire(self.source.id), get_wire(target.id)):
            self.needs_bridge = True

    def note(self, kind: type[Kind], **words: object) -> None:
        """Report a finding about this hook."""
        self.findings.append(kind.at(self.where, self.index, target=self.target.id, **words))

    def _find_transcript_field(self) -> str:
        """Find the payload's field by which its scripts read another agent's transcript; empty if none."""
        if self.is_home or self.target.is_hub:
            return ""
        wire = get_wire(self.source.id)
        natives = [native for _, native in wire.natives.get(self.hook.event, ())]
        fields = [field for native in natives for field in list_transcript_words(wire, native, "transcript")]
        return next((field for field in fields if any(field in text for text in self.texts)), "")

    def change(self, **values: Unpack[HandlerValues]) -> None:
        """Replace attributes of the handler."""
        self.hook = self.hook._replace(handler=self.hook.handler._replace(**values))

    @property
    def is_home(self) -> bool:
        """Whether the hook was written for the target itself."""
        return self.source.id == self.target.id

    @property
    def wraps(self) -> bool:
        """Whether the command runs through the bridge, which translates payload and answer."""
        return (
            self.hook.handler.type == "command"
            and self.can_wrap
            and (self.needs_bridge or not (self.is_home or agree(self.source, self.target, self.hook.event)))
        )

    @property
    def can_wrap(self) -> bool:
        """Whether there is a bridge to run the handler."""
        is_known = self.hook.handler.type != "native" and not self.is_settled
        is_known = is_known or self.hook.handler.type == "command"
        return is_known and not (self.bridge is None or self.is_replaced or self.target.is_hub)

    def carry(self, what: str, *options: str) -> bool:
        """Leave to the bridge what the target cannot express; false if there is none."""
        if not self.can_wrap:
            return False
        self.needs_bridge = True
        self.options += options
        self.note(f.CarriedInCommand, what=what)
        return True


def _choose_event(source: Dialect, hook: Hook) -> str:
    written = [spec for spec, _ in find_slots(source, hook)]
    if len(written) != 1 or not (written[0].secondary or get_dialect_data(hook, source.id).get("event")):
        return ""
    return written[0].native


def _read_content_of(source: Dialect, hook: Hook) -> str:
    subjects = [spec.subject for spec, _ in find_slots(source, hook)]
    return subjects[0] if len(subjects) == 1 and subjects[0] in ("command", "path") else ""


def choose_strategy(work: Work, capability: str) -> str:
    strategy = work.hook.degradation.get(capability, CAPABILITIES[capability])
    # An unknown strategy is a finding; until it is corrected, the strategy is `block`.
    return strategy if strategy in STRATEGIES else "block"


def list_specs(work: Work) -> list[EventSpec]:
    """The native events of the hook; cached, because it seldom changes."""
    hook = work.hook
    place = (hook.event, hook.matcher, hook.content, hook.blocking, hook.capabilities, hook.degradation)
    if work.placed != (*place, hook.provider_data):
        work.placed = (*place, hook.provider_data)
        work.specs = [spec for spec, _ in find_slots(work.target, hook)]
    return work.specs


def can_block(work: Work) -> bool:
    """Whether every native event of the hook lets it block."""
    specs = list_specs(work)
    return bool(specs) and all(spec.blocks in ("prevent", "retry") for spec in specs)


def apply_strategy(work: Work, capability: str, warn: Callable[[Work], bool]) -> bool:
    """Apply the strategy for a capability the target lacks."""
    strategy = choose_strategy(work, capability)
    evidence = work.used.get(capability, "")
    if strategy == "warn":
        return warn(work)
    if strategy == "exclude":
        work.note(
            f.GuardExcluded if work.hook.blocking else f.Excluded, capability=capability, evidence=evidence
        )
        return False
    if not can_block(work) or any(spec.blocks == "retry" for spec in list_specs(work)):
        work.note(f.CannotBlockHere, capability=capability, evidence=evidence, event=work.hook.event)
        return False
    work.note(f.BlockedInstead, capability=capability, evidence=evidence)
    hook = work.hook.name or work.where
    reason = f"blocked: {work.target.title} lacks what the hook {hook} needs ({capability})"
    work.hook = work.hook._replace(
        handler=Handler(command=write_deny_command(work.target, reason, list_specs(work)[0].deny_answer)),
        blocking=True,
        dialect=work.target.id,
        capabilities=(),
        degradation=NOTHING,
    )
    work.used.clear()
    work.source = work.target
    work.is_replaced = True
    return True


def write_deny_command(target: Dialect, reason: str, answer_here: Mapping[str, Any] = NOTHING) -> str:
    """A shell command that blocks in the target's own form, with the reason."""
    if answer_here or target.deny_answer:
        answer = json.dumps(answer_here or target.deny_answer, ensure_ascii=True).replace(
            "{reason}", json.dumps(reason)[1:-1]
        )
        return f"printf '%s\\n' {quote(answer)}"
    return f"printf '%s\\n' {quote(reason)} >&2; exit 2"


def change_commands(
    work: Work, rewrite: Callable[[str], str], windows: Callable[[str], str] | None = None
) -> None:
    """Change the command and the Unix commands by one function, the Windows command by another."""
    handler = work.hook.handler
    platform = {
        name: (windows(text) if windows else text) if name == "windows" else rewrite(text)
        for name, text in handler.platform.items()
    }
    work.change(command=rewrite(handler.command), platform=platform or NOTHING)


def quote_powershell(text: str) -> str:
    """A literal text for PowerShell, which runs the command for Windows in every agent that has one."""
    return "'" + text.replace("'", "''") + "'"
