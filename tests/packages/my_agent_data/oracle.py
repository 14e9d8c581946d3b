"""What my-agent does with a hook's answer."""

from __future__ import annotations

from hookport.model.runs import Answer
from tests.judging import Args, Outcome, Seat, tree_of


def my_agent(answer: Answer, args: Args) -> Outcome:
    """One word with exit code 0, and no other input."""
    tree = tree_of(answer.stdout) if answer.exit_code == 0 else {}
    if tree.get("verdict") == "no":
        return Outcome(blocked=True, reason=tree.get("because", ""))
    return Outcome(blocked=False, input=args)


SEATS = {
    "my-agent": Seat("my-agent", "tool.before", "tool.before.run", my_agent, rewrites=False, place="with")
}
