"""Several decisions as one: deny over ask over allow over none, contexts in order, the last rewrite."""

from __future__ import annotations

from hookport.model.runs import Decision

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from hookport.model.runs import Verdict

ORDER: tuple[Verdict, ...] = ("none", "allow", "ask", "deny")


def merge_decisions(decisions: Iterable[Decision]) -> Decision:
    """Merge the decisions of all hooks; the reasons are those of the winning verdict."""
    answers = list(decisions)
    verdict: Verdict = max((decision.verdict for decision in answers), key=ORDER.index, default="none")
    ended = any(not decision.carry_on for decision in answers)
    reasons = [
        decision.reason
        for decision in answers
        if decision.verdict == verdict and (verdict != "none" or not decision.carry_on)
    ]
    rewrites = [decision.updated_input for decision in answers if decision.updated_input is not None]
    results = [decision.replaced_result for decision in answers if decision.replaced_result is not None]
    return Decision(
        verdict=verdict,
        reason=_join_texts(reasons),
        context=_join_texts(decision.context for decision in answers),
        carry_on=not ended,
        updated_input=rewrites[-1] if rewrites else None,
        suppress_output=any(decision.suppress_output for decision in answers),
        system_message=_join_texts(decision.system_message for decision in answers),
        replaced_result=results[-1] if results else None,
        # Whatever accompanies an overruled verdict is dropped with it.
        more={
            word: value
            for decision in answers
            if decision.verdict in (verdict, "none")
            for word, value in decision.more.items()
        },
    )


def _join_texts(texts: Iterable[str]) -> str:
    return "\n".join(dict.fromkeys(text for text in texts if text))
