"""Why a person's own hook did not fire in an agent, from the tables and from the run."""

from __future__ import annotations

from hookport.agents import find_event_specs, get, get_wire
from hookport.errors import suggest_closest
from hookport.lab import abilities
from hookport.lab.drivers import get_dialect_id
from hookport.lab.own import Account
from hookport.lab.samples import AFTER, FAILING, GUARDED, SERVER, TOOLS
from hookport.lab.scenario import AbilityNeed
from hookport.model.events import EVENTS
from hookport.runtime.plan import PlannedHook

PLAYED = (*GUARDED, *AFTER, *FAILING, "session_start", "session_end", "before_prompt", "agent_stop")
LONGEST = 160


def explain_unfired(account: Account, number: int) -> str:
    """Explain what prevents a hook from firing."""
    hook = account.hooks[number]
    explanation = _explain_by_tables(account, hook) or _explain_by_run(account)
    if explanation:
        return explanation
    if hook.terms or hook.content:
        return _explain_unmatched(account, hook)
    dialect = get(get_dialect_id(account.driver))
    natives = [spec.native for spec in find_event_specs(dialect, hook.event)]
    return f"{dialect.title} never sent {', '.join(natives)}"


def _explain_by_tables(account: Account, hook: PlannedHook) -> str:
    own_dialect = get(hook.dialect)
    if hook.event not in EVENTS:
        return f"only {own_dialect.title} has the event {hook.event.partition(':')[2]}"
    ability = abilities.find_ability(account.driver, AbilityNeed(hook.event, "fires"))
    if ability.word != "yes":
        return ability.reason
    return "" if hook.event in PLAYED else f"no sample makes {hook.event} fire"


def _explain_by_run(account: Account) -> str:
    trouble = next((turn.outcome.trouble for turn in account.turns if turn.outcome.trouble), "")
    if trouble:
        return f"the run failed: {trouble}"
    if any(turn.outcome.requests for turn in account.turns):
        return ""
    outcome = account.turns[-1].outcome if account.turns else None
    last = (outcome.stderr or outcome.stdout).strip().splitlines()[-1:] if outcome else []
    return f"the agent never asked the model: {last[0][:LONGEST] if last else 'it printed nothing'}"


def _explain_unmatched(account: Account, hook: PlannedHook) -> str:
    """Explain that its matcher matches something else; an unknown tool name is probably misspelt."""
    driver = account.driver
    subject = " or ".join([*hook.tools] or [tool or value for _, value, tool in hook.terms]) or "calls"
    pattern = f" with '{hook.content}'" if hook.content else ""
    explanation = f"its matcher is for {subject}{pattern}, and no sample matches it"
    lacking = [kind for kind, tool in TOOLS.items() if tool in hook.tools and kind not in driver.calls]
    if lacking:
        return (
            f"{explanation}: {driver.lacks.get(f'calls.{lacking[0]}', f'no call of {driver.title} is known')}"
        )
    if any(kind == "mcp" for kind, _, _ in hook.terms):
        return f"{explanation}: the only MCP server of a run is '{SERVER}'"
    if hook.tools:
        is_call = "shell" in hook.tools and bool(hook.content)
        return f"{explanation}; play it with --sample" if is_call else explanation
    tool_names = sorted({name for names in get_wire(hook.dialect).names.values() for name in names})
    suggestion = next(filter(None, (suggest_closest(value, tool_names) for _, value, _ in hook.terms)), "")
    return f"{explanation}.{suggestion}" if suggestion else explanation
