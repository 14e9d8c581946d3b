"""Why a person's own hook did not fire in an agent, as far as tables and what was seen can tell."""

from __future__ import annotations

from hookport.agents import find_event_specs, get, get_wire
from hookport.errors import suggest_closest
from hookport.lab import abilities
from hookport.lab.drivers import dialect_of
from hookport.lab.own import Account
from hookport.lab.samples import AFTER, FAILING, GUARDED, SERVER, TOOLS
from hookport.lab.scenario import Need
from hookport.model.events import EVENTS
from hookport.runtime.plan import PlannedHook

PLAYED = (*GUARDED, *AFTER, *FAILING, "session_start", "session_end", "before_prompt", "agent_stop")
LONGEST = 160


def reason(account: Account, number: int) -> str:
    """The first thing that keeps a hook from firing."""
    hook = account.hooks[number]
    found = _by_tables(account, hook) or _by_the_run(account)
    if found:
        return found
    if hook.terms or hook.content:
        return _unmatched(account, hook)
    dialect = get(dialect_of(account.driver))
    natives = [spec.native for spec in find_event_specs(dialect, hook.event)]
    return f"{', '.join(natives)} never came from {dialect.title}"


def _by_tables(account: Account, hook: PlannedHook) -> str:
    own = get(hook.dialect)
    if hook.event not in EVENTS:
        return f"only {own.title} has the event {hook.event.partition(':')[2]}"
    ability = abilities.of(account.driver, Need(hook.event, "fires"))
    if ability.word != "yes":
        return ability.reason
    return "" if hook.event in PLAYED else f"nothing that is played here makes {hook.event} happen"


def _by_the_run(account: Account) -> str:
    trouble = next((turn.outcome.trouble for turn in account.turns if turn.outcome.trouble), "")
    if trouble:
        return f"the run failed: {trouble}"
    if any(turn.outcome.requests for turn in account.turns):
        return ""
    said = account.turns[-1].outcome if account.turns else None
    last = (said.stderr or said.stdout).strip().splitlines()[-1:] if said else []
    return f"the agent did not come to ask the model: {last[0][:LONGEST] if last else 'it said nothing'}"


def _unmatched(account: Account, hook: PlannedHook) -> str:
    """Its matcher is for something else; a name that no tool has is likely misspelt."""
    driver = account.driver
    wanted = " or ".join([*hook.tools] or [tool or value for _, value, tool in hook.terms]) or "calls"
    pattern = f" with '{hook.content}'" if hook.content else ""
    told = f"its matcher is for {wanted}{pattern}, and nothing like that was played"
    lacking = [kind for kind, tool in TOOLS.items() if tool in hook.tools and kind not in driver.calls]
    if lacking:
        return f"{told}: {driver.lacks.get(f'calls.{lacking[0]}', f'no call of {driver.title} is known')}"
    if any(kind == "mcp" for kind, _, _ in hook.terms):
        return f"{told}: the only MCP server of a run is called '{SERVER}'"
    if hook.tools:
        is_call = "shell" in hook.tools and bool(hook.content)
        return f"{told}; play it with --sample" if is_call else told
    known = sorted({name for names in get_wire(hook.dialect).names.values() for name in names})
    meant = next(filter(None, (suggest_closest(value, known) for _, value, _ in hook.terms)), "")
    return f"{told}.{meant}" if meant else told
