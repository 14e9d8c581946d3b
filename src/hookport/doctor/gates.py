"""What prevents correct hooks from running: settings, trust, files that hide others."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from hookport.doctor.case import AgentCase, Diagnosis, diagnose_hook, identify_hooks, make_file_finding
from hookport.doctor.files import HookFile, find_places, shorten_path, spell_count
from hookport.documents import Document
from hookport.errors import spell_path
from hookport.findings import FileShadowed, FolderUntrusted, HooksOff, HookUntrusted, TrustUnseen
from hookport.project.agent_trust import (
    closes,
    find_closing_setting,
    read_folder_trust,
    read_hook_trust,
    spell_key,
    spell_value,
    value_at,
)
from hookport.shapes.dialect import HOOK_TRUST, SHADOWS, Gate, find_quirk


def find_switched_off(case: AgentCase) -> Iterator[Diagnosis]:
    """Settings of the agent, the project and the machine that switch hooks off."""
    for gate in case.dialect.gates:
        if gate.variable:
            yield from _check_variable(case, gate)
        elif gate.files == ("",):
            for source in case.sources:
                yield from _check_value(case, gate, source.path, source.document, [source])
        else:
            setting = find_closing_setting(gate, case.dialect, str(case.world.root), case.world.env)
            if setting:
                sources = [source for source in case.sources if source.scope in gate.scopes]
                yield from _check_value(case, gate, *setting, sources)


def _check_variable(case: AgentCase, gate: Gate) -> Iterator[Diagnosis]:
    value = case.world.env.get(gate.variable, "")
    hooks = case.hooks(gate.scopes)
    if value and hooks:
        words = {
            "dialect": case.dialect.title,
            "count": spell_count(len(hooks)),
            "what": gate.what,
            "fix": gate.fix,
        }
        finding = HooksOff.at(gate.variable, None, **words)
        yield Diagnosis(case.dialect.id, finding, f"{gate.variable}={value}", identify_hooks(hooks))


def _check_value(
    case: AgentCase, gate: Gate, path: Path, document: Document | None, sources: list[HookFile]
) -> Iterator[Diagnosis]:
    """Hooks that a value switches off; those of the same file were already read as such."""
    value = value_at(document.tree, gate.key) if document else None
    hooks = [(source, hook) for source in sources for hook in source.hooks]
    if document is None or not hooks or not closes(gate, value):
        return
    words = {
        "dialect": case.dialect.title,
        "count": spell_count(len(hooks)),
        "what": gate.what,
        "fix": gate.fix,
    }
    finding = make_file_finding(path, HooksOff, words, spell_key(gate.key), document.position(gate.key))
    yield Diagnosis(
        case.dialect.id, finding, f"{spell_key(gate.key)} is {spell_value(value)}", identify_hooks(hooks)
    )


def find_untrusted_folder(case: AgentCase) -> Iterator[Diagnosis]:
    """A folder that the agent does not trust; without the agent, trust does not matter."""
    trust = case.dialect.folder_trust
    hooks = case.hooks(trust.scopes) if trust and case.is_here else []
    if trust is None or not hooks:
        return
    words: dict[str, object] = {"dialect": case.dialect.title, "fix": trust.fix}
    if not trust.file:
        yield Diagnosis(case.dialect.id, TrustUnseen.at("", None, **words), "")
        return
    verdict = read_folder_trust(case.dialect, str(case.world.root), case.world.env)
    if verdict.path is not None and verdict.evidence:
        finding = make_file_finding(
            verdict.path, FolderUntrusted, {**words, "count": spell_count(len(hooks))}
        )
        evidence = f"{shorten_path(verdict.path, case.world)} {verdict.evidence}"
        if trust.certain:
            yield Diagnosis(case.dialect.id, finding, evidence, identify_hooks(hooks))
        else:
            yield Diagnosis(case.dialect.id, finding._replace(severity="loss"), evidence)


def find_untrusted_hooks(case: AgentCase) -> Iterator[Diagnosis]:
    """Hooks that an agent with trust per hook does not trust, or has switched off."""
    trust = find_quirk(case.dialect, HOOK_TRUST)
    if trust is None or not case.is_here:
        return
    for source, hook in case.hooks(("project", "local", "user")):
        verdict = read_hook_trust(
            case.dialect, str(source.path), hook.place.path, str(case.world.root), case.world.env
        )
        if verdict.is_trusted is False:
            evidence = f"{shorten_path(verdict.path or trust.file, case.world)}: {verdict.evidence}"
            yield diagnose_hook(case, source, hook, HookUntrusted, evidence, why=verdict.why, fix=trust.fix)


def find_shadowed(case: AgentCase) -> Iterator[Diagnosis]:
    """Files that the agent does not read because of another file."""
    for shadow in find_quirk(case.dialect, SHADOWS):
        hidden = {str(path) for path in find_places(shadow.file, case.dialect, case.world)}
        for by in find_places(shadow.by, case.dialect, case.world):
            if not by.is_file() or not (shadow.even_empty or _has_hooks(case, by)):
                continue
            for source in case.sources:
                hooks = [(source, hook) for hook in source.hooks if hook.hook.enabled]
                if str(source.path) not in hidden or not hooks:
                    continue
                words = {
                    "dialect": case.dialect.title,
                    "other": shorten_path(by, case.world),
                    "count": spell_count(len(hooks)),
                }
                where = spell_path(hooks[0][1].place.path[:1])
                finding = make_file_finding(source.path, FileShadowed, words, where)
                yield Diagnosis(
                    case.dialect.id,
                    finding,
                    f"{shorten_path(by, case.world)} exists",
                    identify_hooks(hooks),
                )


def _has_hooks(case: AgentCase, path: Path) -> bool:
    return any(source.path == path and source.hooks for source in case.sources)
