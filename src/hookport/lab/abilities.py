"""What an agent can do on an event, by its tables and its driver; measurements are compared with it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

from hookport.agents import Dialect, EventSpec, find_event_specs, get, get_wire
from hookport.base.places import is_at
from hookport.lab import formats
from hookport.lab.driver import Driver
from hookport.lab.drivers import get_dialect_id
from hookport.lab.scenario import AROUND, WAYS, AbilityNeed
from hookport.runtime import surroundings
from hookport.shapes.dialect import ELSEWHERE, list_locations
from hookport.wire.table import find_table

# `perhaps`: the tables say that it depends on the product, the version or the way of running.
Word = Literal["yes", "no", "perhaps"]
PIECES = {"block": "deny", "rewrite": "rewrite", "context": "context"}
_LACKING = {
    "block": "ignores a deny on",
    "rewrite": "cannot rewrite the input on",
    "context": "takes no context on",
}
_SENT = {
    "mode": ("permission_mode", "its permission mode"),
    "transcript": ("transcript", "the path of its transcript"),
}


class Ability(NamedTuple):
    """Whether an agent has an ability, and why not."""

    word: Word
    reason: str = ""


def find_ability(driver: Driver, need: AbilityNeed) -> Ability:
    """Find in the tables whether an agent has one ability."""
    for can in ("fires", need.can):
        reason = driver.lacks.get(f"{need.event}.{can}")
        if reason:
            return Ability("no", reason)
    if f"{need.event}.{need.can}" in driver.has:
        return Ability("yes")
    dialect = get(get_dialect_id(driver))
    if need.can in WAYS:
        return _find_way_ability(dialect, need.can)
    if need.can in AROUND:
        return _find_ability_around(dialect, need.can)
    return find_table_ability(dialect, need)


def _find_way_ability(dialect: Dialect, can: str) -> Ability:
    """Find an ability that depends on how an agent finds and filters hooks, whatever the event."""
    if can == "below":
        reason = f"{dialect.title} reads a project's hooks only in the folder where it starts"
        return Ability("no", reason) if dialect.project_read == "start" else Ability("yes")
    if can == "readable":
        reason = f"{dialect.title} keeps its hooks in programs that only it can run"
        programs = [place for place in dialect.locations if place.path.endswith((".ts", ".js"))]
        return Ability("perhaps", reason) if programs else Ability("yes")
    if can == "leaves":
        reason = f"{dialect.title} waits for a hook's background processes until the hook's timeout"
        return Ability("no", reason) if dialect.awaits_children else Ability("yes")
    if can in ("untrusted", "again"):
        return Ability("yes")
    if can == "told":
        reason = f"{dialect.title} shows no message beside a tool call"
        natives = [spec.native for spec in find_event_specs(dialect, "before_tool_execute")]
        shown = [find_table(get_wire(dialect.id).shows, native, "before_tool_execute") for native in natives]
        return Ability("yes") if all("message" in fields for fields in shown) else Ability("no", reason)
    if can == "conversation":
        reason = f"{dialect.title} keeps no transcript whose shape is known"
        return Ability("yes") if dialect.wire.transcript else Ability("no", reason)
    if can in _SENT:
        name, words = _SENT[can]
        reason = f"{dialect.title} does not send {words}"
        is_kept = can == "transcript" and surroundings.is_kept(dialect.wire)
        return Ability("yes") if is_kept or dialect.wire.keys.get(name) else Ability("no", reason)
    reason = f"{dialect.title} does not give the model the reason for a denied MCP call"
    return Ability("no", reason) if dialect.deny_reason == "lost for MCP" else Ability("yes")


def _find_ability_around(dialect: Dialect, can: str) -> Ability:
    """Find whether an agent asks hooks about calls that may go around them."""
    is_elsewhere = can == "elsewhere"
    kind = "protocol" if is_elsewhere else can
    ways = [
        way for way in dialect.ways_around if way.kind == kind and (way.place == ELSEWHERE) == is_elsewhere
    ]
    # Where no hook is asked in the session's folder, none is asked in another one.
    every = [way for way in dialect.ways_around if way.kind == kind and not way.place]
    open_ways = [way for way in ways or every if way.state == "open"]
    if open_ways:
        return Ability("no", "; ".join(f"{way.id}: {way.text}" for way in open_ways))
    if not ways or any(way.state == "unknown" for way in ways):
        return Ability("perhaps", f"no source says whether {dialect.title} asks hooks there")
    return Ability("yes")


def find_table_ability(dialect: Dialect, need: AbilityNeed) -> Ability:
    """Find the ability of an agent in any way of running it."""
    specs = find_event_specs(dialect, need.event)
    if not specs:
        return Ability("no", dialect.lacks.get(need.event, f"{dialect.title} has no such event"))
    return _find_worst(_find_spec_ability(dialect, spec, need.can) for spec in specs)


def explain_direct_read(driver: Driver, form: str) -> str:
    """Explain why hookport does not run a format's hooks: the agent reads the file itself; empty if not."""
    dialect = get(get_dialect_id(driver))
    file = formats.get(form).places["project"].file
    places = list_locations(dialect, "own", "also read", "maybe read")
    reads = any(is_at(file, place.path) for place in places if place.scope != "plugin")
    return f"{dialect.title} reads {file} and runs its hooks itself" if reads else ""


def find_joint_ability(driver: Driver, needs: Iterable[AbilityNeed]) -> Ability:
    """Find the worst of several abilities."""
    return _find_worst(find_ability(driver, need) for need in needs)


def _find_worst(abilities: Iterable[Ability]) -> Ability:
    order: tuple[Word, ...] = ("yes", "perhaps", "no")
    return max(abilities, key=lambda ability: order.index(ability.word), default=Ability("yes"))


def _find_spec_ability(dialect: Dialect, spec: EventSpec, can: str) -> Ability:
    if can != "fires":
        reason = f"{dialect.title} {_LACKING[can]} {spec.native}"
        if (can == "block" and spec.blocks == "observe") or (can == "context" and spec.hears == "nothing"):
            return Ability("no", reason)
        if not _has_answer(dialect.wire.answers, spec, can):
            others = dialect.wire.answers_of.values()
            is_elsewhere = any(_has_answer(answers, spec, can) for answers in others)
            return Ability("perhaps" if is_elsewhere else "no", reason)
        if can == "context" and spec.hears == "late":
            reason = f"{dialect.title} does not wait for hooks on {spec.native}, so their context may be late"
            return Ability("perhaps", reason)
        if can == "block" and spec.partly:
            return Ability("perhaps", f"a deny on {spec.native} is not obeyed everywhere: {spec.partly}")
    if spec.unfired:
        return Ability("perhaps", f"{spec.native} does not fire {spec.unfired}")
    return Ability("yes")


def _has_answer(answers: Mapping[str, Mapping[str, object]], spec: EventSpec, can: str) -> bool:
    return PIECES[can] in find_table(answers, spec.native, spec.canonical)
