"""What a target cannot express: changed hooks, and a finding for every change.

The result is exactly what the target can express, so that decoding the encoded result gives it back whole. A
guard never becomes weaker without an error.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

from hookport import findings as f
from hookport.agents import Dialect
from hookport.convert.degrade import answers, commands, fields, guards, handlers, matchers
from hookport.convert.degrade.capabilities import Scripts, infer
from hookport.convert.degrade.work import Work, list_specs, write_deny_command
from hookport.convert.degrade.wrapping import ON_PATH, BridgeCall
from hookport.findings import Finding
from hookport.model.events import is_about_tool
from hookport.model.hooks import NOTHING, Hook, Manifest
from hookport.shapes.dialect import has_field
from hookport.shapes.entries import find_slots, get_event_order, merge_entries
from hookport.shapes.matchers import read_matcher, write_matcher

__all__ = ["DegradedManifest", "degrade", "infer", "write_deny_command"]

STEPS: tuple[Callable[[Work], bool], ...] = (
    guards.degrade_event,
    commands.degrade_standing_script,
    handlers.degrade_rewrite,
    matchers.degrade_content,
    handlers.degrade_handler,
    handlers.degrade_command,
    handlers.degrade_output,
    commands.degrade_placeholders,
    commands.anchor_paths,
    commands.degrade_background,
    commands.degrade_directory,
    commands.degrade_environment,
    commands.degrade_platform,
    matchers.degrade_matcher,
    matchers.degrade_content,  # again: a pattern that became tools may reach events that cannot filter
    guards.degrade_blocking,
    guards.degrade_failure,
    fields.degrade_timeout,
    fields.degrade_fields,
    handlers.degrade_wire,
)


class DegradedManifest(NamedTuple):
    """The hooks left for the target; `kept` has the original index of each."""

    manifest: Manifest
    kept: tuple[int, ...]
    findings: tuple[Finding, ...]


def degrade(
    manifest: Manifest,
    target: Dialect,
    wheres: tuple[str, ...],
    scripts: Scripts,
    *,
    bare: bool = False,
    bridge: BridgeCall = ON_PATH,
) -> DegradedManifest:
    """The part of a manifest that the target can express, with a finding for every change and drop.

    `bare` keeps commands of other dialects unchanged; `bridge` is what runs them otherwise.
    """
    works = [
        Work(
            hook,
            index,
            wheres[index] if index < len(wheres) else "",
            target,
            scripts,
            None if bare else bridge,
        )
        for index, hook in enumerate(manifest.hooks)
    ]
    remaining = [work for work in works if all(step(work) for step in STEPS)]
    for work in remaining:
        answers.note_lost_fields(work, target)
    remaining = _sort_by_priority(remaining)
    if target.shape.merges:
        remaining = _merge_works(remaining)
    if target.shape.by_event:
        remaining.sort(key=lambda work: get_event_order(target, work.hook))
    _note_allow_undoes(remaining, target)
    findings = [finding for work in works for finding in work.findings]
    hooks = [work.hook for work in remaining]
    if target.adjust:
        hooks, more = target.adjust(hooks)
        findings += [
            finding
            if finding.hook is None
            else finding._replace(hook=remaining[finding.hook].index, where=remaining[finding.hook].where)
            for finding in more
        ]
        if target.shape.by_event:
            pairs = sorted(
                zip(hooks, remaining, strict=True), key=lambda pair: get_event_order(target, pair[0])
            )
            hooks, remaining = [hook for hook, _ in pairs], [work for _, work in pairs]
    target_data = {key: value for key, value in manifest.provider_data.items() if key == target.id}
    return DegradedManifest(
        Manifest(tuple(hooks), target_data or NOTHING),
        tuple(work.index for work in remaining),
        tuple(findings),
    )


# How an allow overrides a deny, by the rule for several verdicts.
ALLOW_WINS = {
    "first": "the first hook that answers wins, an allow listed before a deny lets the tool run",
    "last": "the last answer wins, an allow listed after a deny lets the tool run",
}


def _note_allow_undoes(works: list[Work], target: Dialect) -> None:
    """Report guards that share an event, if one hook's allow overrides another's deny."""
    how = ALLOW_WINS.get(target.wire.several)
    if how is None:
        return
    shared = Counter(spec.native for work in works for spec in list_specs(work))
    for work in works:
        events = {spec.native for spec in list_specs(work)}
        if work.hook.blocking and any(shared[native] > 1 for native in events) and not work.is_home:
            work.note(f.AllowUndoes, event=", ".join(sorted(events)), how=how)


def _merge_works(works: list[Work]) -> list[Work]:
    """Merge the hooks that the target would merge when reading its entries."""
    merged = merge_entries([(hook, work) for work in works for hook in _split_entries(work)])
    for hook, work in merged:
        work.hook = hook
        if len(merged) < len(works) and hook.matcher:
            work.hook = hook._replace(matcher=matchers.read_back(work))
            if not work.hook.matcher:
                work.note(f.MatcherDropped, matcher=", ".join(term.value for term in hook.matcher))
    first = [work for _, work in merged]
    kept_ids = {id(work) for work in first}
    for work in works:
        if id(work) not in kept_ids:
            rest = work.hook._replace(matcher=())
            partner = next(candidate for candidate in first if candidate.hook._replace(matcher=()) == rest)
            work.note(f.WrittenTogether, other=partner.where or f"hook {partner.index}")
    return first if len(first) == len(works) else _merge_works(first)


def _split_entries(work: Work) -> list[Hook]:
    """Split the hook into its entries of one event, each with its part of the matcher."""
    pieces = list(find_slots(work.target, work.hook))
    if len(pieces) != 1 or not is_about_tool(work.hook.event):
        return [work.hook]
    (spec, terms), hook = pieces[0], work.hook
    texts = write_matcher(work.target, spec, terms, hook.content)
    if len(texts) < 2:
        return [hook]
    return [hook._replace(matcher=read_matcher(work.target, spec, text or "")[0]) for text in texts]


def _sort_by_priority(works: list[Work]) -> list[Work]:
    """Sort hooks by priority if the target has no priorities."""
    if not works or has_field(works[0].target, "priority"):
        return works
    works = sorted(works, key=lambda work: -(100 if work.hook.priority is None else work.hook.priority))
    for work in works:
        if work.hook.priority is not None:
            work.note(f.PriorityDropped, priority=work.hook.priority)
            work.hook = work.hook._replace(priority=None)
    return works
