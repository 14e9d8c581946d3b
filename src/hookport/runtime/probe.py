"""A test event of `hookport doctor`: one hook of our own runs, which denies; nothing is recorded.

It takes every step of an agent's event: the entry, the interpreter, the plan, a process, an answer in the
agent's own form. The answer is always a deny, so nobody gains from forging such a payload.
"""

from __future__ import annotations

from hookport.base.quoting import quote_if_needed
from hookport.model.runs import Answer, Decision
from hookport.runtime import engine, plan, policy
from hookport.runtime.answer import build_answer
from hookport.runtime.occasion import identify_event

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from hookport.runtime.occasion import Occasion
    from hookport.runtime.sources import HookSources

# The key of the payload whose value the hook repeats.
KEY = "hookport_probe"
SECONDS = 20.0


def answer_probe(
    occasion: Occasion, native: str, sources: HookSources, env: Mapping[str, str]
) -> Answer | None:
    """Answer a probe, to the agent that the entry names; None for any other event."""
    word, agent = occasion.tree.get(KEY), sources.agent
    if not isinstance(word, str):
        return None
    event = identify_event(agent, occasion.tree, native)
    if not policy.is_guarded_event(event.event):
        return None
    # A hook in the agent's own format that denies in that format.
    denial = build_answer(event, engine.DispatchReport(event, Decision("deny", word)), agent).answer
    parts = [f"printf %s {quote_if_needed(denial.stdout)}", f"printf %s {quote_if_needed(denial.stderr)} >&2"]
    hook = plan.PlannedHook(
        name="probe",
        event=event.event,
        dialect=agent.id,
        native=event.native,
        command="; ".join([*parts, f"exit {denial.exit_code}"]),
        timeout_seconds=SECONDS,
    )
    report = engine.run_hooks(event, [hook], engine.RunSetting(agent, sources.wires, env, policy.CLOSED))
    if report.decision.verdict != "deny":
        report = report.replace(decision=Decision("deny", "the hook of the probe ran and did not deny"))
    return build_answer(event, report, agent).answer
