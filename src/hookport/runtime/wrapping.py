"""The one hook of `wrap`: the command after `--`, with its options."""

from __future__ import annotations

from hookport.base.quoting import quote
from hookport.runtime import occasion, plan, policy, select
from hookport.runtime.sources import find_named_roots, find_repository

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from hookport.model.runs import Event
    from hookport.runtime.sources import HookSources

# A wrapped command has the agent's own timeout; this is for agents without timeouts.
DEFAULT_SECONDS = 600.0


def wrap_command(
    script: str,
    inner: list[str],
    options: Mapping[str, str],
    sources: HookSources,
    env: Mapping[str, str],
) -> HookSources:
    """Make sources with one command as the only hook."""
    late = options.get("--on-timeout", "")
    text = inner[0] if len(inner) == 1 else " ".join(quote(word) for word in inner)
    type_ = options.get("--type", "command")
    hook = plan.PlannedHook(
        name=inner[0] if len(inner) == 1 else " ".join(inner),
        event="",
        dialect=sources.wires(script).id,
        native=options.get("--for", ""),
        subject=options.get("--matcher-of", "tool"),
        terms=select.parse_terms(options["--matcher"]) if "--matcher" in options else (),
        content=options.get("--pattern", ""),
        content_of=options.get("--pattern-of", ""),
        condition=options.get("--if", ""),
        blocking="--observe" not in options,
        type=type_,
        command=text if type_ == "command" else "",
        prompt=text if type_ != "command" else "",
        model=options.get("--model", ""),
        timeout_seconds=DEFAULT_SECONDS,
        is_async="--async" in options,
        on_failure=options.get("--on-failure", ""),
        timeout_action={policy.CLOSED: "block", policy.OPEN: "warn"}.get(late, ""),
    )

    def hooks(event: Event) -> Iterable[plan.PlannedHook]:
        event_hook = hook.replace(event=event.event)
        return (
            [event_hook.replace(tools=select.find_tools(event_hook, sources.wires(script)))]
            if hook.terms
            else [event_hook]
        )

    # The command is the user's own entry: it needs no approval, and unapproved hooks do not concern it.
    sources = sources.replace(needs_approval=False, waiting=None)
    named = next(find_named_roots(sources.agent, env), "")
    root = (
        named
        if named and "root moves" not in sources.agent.traits
        else find_repository(named or occasion.find_start_folder())
    )
    return sources.replace(hooks=hooks, root=root)
