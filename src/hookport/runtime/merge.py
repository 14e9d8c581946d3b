"""Several decisions as one: deny over ask over allow over none, contexts in order, the last rewrite."""

from __future__ import annotations

from hookport.model.runs import Decision

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from hookport.model.runs import Verdict

ORDER: tuple[Verdict, ...] = ("none", "allow", "ask", "deny")


def merged(decisions: Iterable[Decision]) -> Decision:
    """The decision of all hooks together; the reasons are those of the verdict that won."""
    all_ = list(decisions)
    verdict: Verdict = max((one.verdict for one in all_), key=ORDER.index, default="none")
    ended = any(not one.carry_on for one in all_)
    reasons = [
        one.reason for one in all_ if one.verdict == verdict and (verdict != "none" or not one.carry_on)
    ]
    rewrites = [one.updated_input for one in all_ if one.updated_input is not None]
    results = [one.replaced_result for one in all_ if one.replaced_result is not None]
    return Decision(
        verdict=verdict,
        reason=_joined(reasons),
        context=_joined(one.context for one in all_),
        carry_on=not ended,
        updated_input=rewrites[-1] if rewrites else None,
        suppress_output=any(one.suppress_output for one in all_),
        system_message=_joined(one.system_message for one in all_),
        replaced_result=results[-1] if results else None,
        # What an answer says beside a verdict that was overruled goes with it.
        more={
            word: value
            for one in all_
            if one.verdict in (verdict, "none")
            for word, value in one.more.items()
        },
    )


def _joined(texts: Iterable[str]) -> str:
    return "\n".join(dict.fromkeys(text for text in texts if text))
