"""The caller: the agent or the format whose payload is on stdin, and its tables.

The tables are loaded ready-made, from hookport's archive or from the user's cache: building them takes twice
as long as all the rest.
"""

from __future__ import annotations

import hookport
from hookport.model.value import Value
from hookport.runtime import plan
from hookport.wire.recognition import VARIABLE, read_seal, recognise_payload

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from hookport.wire.table import Wire

# In an archive, beside the package.
TABLES = "tables.plan"
# Set by hookport for the hooks that it runs: the agent that fired the event, and the event.
AGENT, EVENT = "HOOKPORT_AGENT", "HOOKPORT_EVENT"


class Caller(Value):
    """The wire of a payload, the native event, and the agent that fired it.

    With `is_bridge`, hookport itself runs the hook for that agent, and `event` is the canonical event.
    """

    wire: Wire
    native: str
    agent: str
    is_bridge: bool = False
    event: str = ""


def find_caller(payload: bytes, tree: Mapping[str, Any], env: Mapping[str, str]) -> Caller | None:
    """Find the likeliest caller; None if no dialect has such a payload."""
    tables = _load_tables(env)
    origin = read_seal(env.get(VARIABLE, ""), payload)
    if origin:
        dialect, native = origin
        wire = tables.wire(dialect) if tables else None
        agent = env.get(AGENT, "")
        event = env.get(EVENT, "") if agent else ""
        return Caller(
            wire or _make_wire(dialect), native, agent or dialect, is_bridge=bool(agent), event=event
        )
    names = tables.header["wires"] if tables else ()
    wires = [wire for name in names if tables and (wire := tables.wire(name))] or _make_all_wires()
    for wire, native in recognise_payload(tree, wires):
        return Caller(wire, native, wire.id)
    return None


def _load_tables(env: Mapping[str, str]) -> plan.DispatchPlan | None:
    loader = getattr(hookport.__spec__, "loader", None)
    archive = getattr(loader, "archive", "")
    if archive:
        archived = plan.parse(loader.get_data(TABLES))  # type: ignore[union-attr]
        return archived if isinstance(archived, plan.DispatchPlan) else None
    path = plan.find_tables_path("", env)
    cached = plan.load(path, env) if path else ""
    if (
        isinstance(cached, plan.DispatchPlan)
        and cached.header["version"] == hookport.__version__
        and not plan.has_changed(cached)
    ):
        return cached
    try:
        from hookport.project import plan_builder

        return plan_builder.build_without_hooks("", env)
    except Exception:  # noqa: BLE001  (a file of the user that has nothing to do with the hook may be broken)
        return None


def _make_wire(dialect: str) -> Wire:
    from hookport.agents import get_wire

    return get_wire(dialect)


def _make_all_wires() -> list[Wire]:
    from hookport.agents import list_dialects

    return [_make_wire(name) for name in list_dialects()]
