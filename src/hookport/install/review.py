"""What a person reviews before approving hooks: diffs of definitions and scripts, and what they reach."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from hookport.convert.degrade.capabilities import infer
from hookport.install import lock
from hookport.install.lock import Lock, LockDifference
from hookport.project import plan_builder
from hookport.project.discovery import Discovery, HookEntry
from hookport.runtime import approvals

MOST_LINES = 400
# A hint, not a proof: scripts can reach the network in ways that no list contains.
NETWORK = re.compile(
    r"(?:https?|wss?|ftp)://[^\s\"'<>)]+"
    r"|\b(?:curl|wget|nc|ncat|netcat|ssh|scp|rsync|telnet|socat)\b(?=\s)"
    r"|\b(?:urllib|requests|httpx|aiohttp|socket|http\.client|fetch\(|XMLHttpRequest|Invoke-WebRequest"
    r"|Invoke-RestMethod|/dev/tcp)"
)


class Review(NamedTuple):
    """One hook that is new, changed or gone, with all its details."""

    difference: LockDifference
    runs: str
    capabilities: tuple[str, ...]
    network: tuple[str, ...]
    not_covered: tuple[str, ...]
    diff: tuple[str, ...]


def review(
    discovery: Discovery, before: Lock, after: Lock, contents: Mapping[str, bytes], env: Mapping[str, str]
) -> list[Review]:
    """The changes from the approved to the current hooks."""
    pairs = [
        (plan_builder.identify_entry(hook, discovery.root, env), hook)
        for hook in plan_builder.list_project_entries(discovery)
    ]
    hooks = {identity.id: hook for identity, hook in pairs}
    uncovered = {identity.id: (*identity.not_covered, *identity.local) for identity, _ in pairs}
    return [
        _review_difference(difference, hooks.get(difference.id), before, after, contents, env)._replace(
            not_covered=uncovered.get(difference.id, ())
        )
        for difference in lock.compare(before, after)
    ]


def _review_difference(
    difference: LockDifference,
    hook: HookEntry | None,
    before: Lock,
    after: Lock,
    contents: Mapping[str, bytes],
    env: Mapping[str, str],
) -> Review:
    was = before.get("hooks", {}).get(difference.id, {"definition": "", "files": {}})
    now = after.get("hooks", {}).get(difference.id, {"definition": "", "files": {}})
    diff: list[str] = []
    if difference.is_redefined:
        old = _spell_definition(approvals.read_approved_text(was["definition"], env))
        diff += _make_diff(f"{difference.id}", old, _spell_definition(contents.get(now["definition"])))
    for name, how in difference.files:
        old_text = approvals.read_approved_text(was["files"].get(name) or "", env)
        new_text = contents.get(now["files"].get(name) or "")
        if how != "gone" and new_text is None:
            diff.append(f"{name}: {how}, too large to show or missing")
        else:
            unknown = how == "changed" and old_text is None
            diff += [f"{name}: changed, its approved text is unknown"] if unknown else []
            diff += _make_diff(name, _split_lines(old_text), _split_lines(new_text))
    return Review(
        difference,
        _describe_run(hook) if hook else "",
        _describe_capabilities(hook, now, contents) if hook else (),
        tuple(_describe_network(hook, now, contents)) if hook else (),
        (),
        tuple(map(escape_controls, diff)),
    )


def _describe_run(hook: HookEntry) -> str:
    handler = hook.hook.handler
    text = handler.command or handler.url or handler.prompt or " ".join(handler.platform.values())
    first = escape_controls(text.splitlines()[0]) if text else handler.type
    return f"{hook.hook.event}: {first}"


def _describe_capabilities(hook: HookEntry, entry: Lock, contents: Mapping[str, bytes]) -> tuple[str, ...]:
    scripts = {hook.hook.handler.command: dict(_read_scripts(entry, contents))}
    return tuple(f"{name} ({why})" for name, why in infer(hook.hook, scripts).items())


def _describe_network(hook: HookEntry, entry: Lock, contents: Mapping[str, bytes]) -> Iterator[str]:
    handler = hook.hook.handler
    if handler.url:
        yield f"asks {escape_controls(handler.url)}"
    if handler.type in ("prompt", "agent"):
        yield "asks a model"
    for name, text in (("its command", handler.command), *_read_scripts(entry, contents)):
        for word in list(dict.fromkeys(NETWORK.findall(text)))[:3]:
            yield f"{name} has `{escape_controls(word)}`"


def _read_scripts(entry: Lock, contents: Mapping[str, bytes]) -> Iterator[tuple[str, str]]:
    for name, hash_ in entry["files"].items():
        if hash_ in contents:
            yield name, contents[hash_].decode("utf-8", "replace")


def _spell_definition(data: bytes | None) -> list[str]:
    """Format each field of a definition as a line."""
    tree = json.loads(data) if data else {}
    handler = tree.pop("handler", {})
    fields = {**tree, **{f"handler.{key}": value for key, value in handler.items()}}
    return [f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in sorted(fields.items())]


def _split_lines(data: bytes | None) -> list[str]:
    return data.decode("utf-8", "replace").splitlines() if data else []


def _make_diff(name: str, old: list[str], new: list[str]) -> list[str]:
    lines = list(difflib.unified_diff(old, new, f"{name} (approved)", f"{name} (now)", lineterm=""))
    more = len(lines) - MOST_LINES
    return [*lines[:MOST_LINES], f"… {more} more lines"] if more > 0 else lines


def escape_controls(text: str) -> str:
    """Escape a line for display: characters that move the cursor or reverse the text are spelled out."""
    return "".join(
        letter if letter.isprintable() or letter == "\t" else letter.encode("unicode_escape").decode()
        for letter in text
    )
