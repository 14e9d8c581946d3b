"""The answer to the caller, in its own dialect; an error is one line and a decision by policy."""

from __future__ import annotations

import os
import sys

from hookport.model.runs import BLOCK, Answer, Decision
from hookport.runtime import merge, policy, sessions
from hookport.runtime.answer import build_answer
from hookport.runtime.engine import HookRun
from hookport.runtime.occasion import find_start_folder
from hookport.sdk.callers import find_caller
from hookport.sdk.functions import DEBUG, EventOrigin, describe_error, judge_failures, run_functions
from hookport.wire.events import read_event

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hookport.model.runs import Event as CanonicalEvent
    from hookport.runtime.engine import DispatchReport
    from hookport.runtime.occasion import Payload
    from hookport.sdk.callers import Caller
    from hookport.sdk.hooks import Bound

FAILED = 1


def check_policy(on_failure: str) -> str:
    """Check the `on_failure` of `run`; empty if it has none."""
    if on_failure not in ("", policy.OPEN, policy.CLOSED):
        from hookport.errors import UsageError

        raise UsageError(f"on_failure cannot be '{on_failure}'. Write 'open' or 'closed'.")
    return on_failure


def reply(
    payload: Payload,
    functions: Sequence[Bound],
    env: Mapping[str, str],
    on_failure: str = "",
    by: Caller | None = None,
    *,
    catches: bool = True,
) -> Answer:
    """Answer the sender of a payload; without `by`, the payload identifies the sender.

    Without `catches`, a function's exception is raised.
    """
    tree = payload.tree
    if isinstance(tree, str):
        return _answer_unreadable(tree, env, on_failure)
    by = by or find_caller(payload.data, tree, env)
    if by is None:
        return _answer_unreadable("no known agent or format sends such a payload", env, on_failure)
    event = read_event(by.wire, tree, by.native)
    cwd = event.cwd or event.root or find_start_folder()
    event = event.replace(cwd=cwd, root=event.root or cwd, event=by.event or event.event)
    report = run_functions(event, functions, by.wire, EventOrigin(tree, by.agent), catches=catches)
    if event.event == "before_tool_execute" and not (event.call and (event.call.native or event.call.tool)):
        # No tool matcher can have matched, so no guard of a tool has seen the call.
        guards = [bound.hook for bound in functions if bound.hook.event == event.event][:1]
        unseen = Decision(failure="the payload names no tool")
        unasked = [HookRun(hook, matched=False, why=unseen.failure, answered=unseen) for hook in guards]
        report = report.replace(runs=(*report.runs, *unasked))
    return _write_reply(event, report, by, env, on_failure)


def _write_reply(
    event: CanonicalEvent, report: DispatchReport, by: Caller, env: Mapping[str, str], on_failure: str
) -> Answer:
    chosen, judged = on_failure or env.get(policy.VARIABLE, ""), []
    failed = [run for run in report.runs if run.answered.failure]
    if failed:
        # An exit code would lose the answer of another function.
        is_silent = report.decision == Decision()
        if by.is_bridge and chosen not in (policy.OPEN, policy.CLOSED) and is_silent:
            # The caller has its own policy, for this hook and the project.
            lines = [f"hook '{run.hook.name}' failed: {run.answered.failure}." for run in failed]
            return Answer(stderr=_join_lines(lines, env), exit_code=FAILED)
        judged = judge_failures(report, on_failure, on_failure or _find_policy(event.cwd, env))
    decision = merge.merge_decisions([report.decision, *judged])
    if not by.is_bridge and (endless := sessions.explain_dropped_deny(event, decision, by.wire, env)):
        decision = Decision(system_message=endless)
    answer = build_answer(event, report.replace(decision=decision), by.wire).answer
    lines = [decision.reason or decision.system_message for decision in judged]
    unsaid = [line for line in lines if line not in answer.stderr]
    return answer.replace(stderr=answer.stderr + _join_lines(unsaid, env)) if unsaid else answer


def _find_policy(cwd: str, env: Mapping[str, str]) -> str:
    """The policy if the file sets none: the user's, else the project's if its settings can be read."""
    settings: Mapping[str, str] = {}
    if env.get(policy.VARIABLE) not in (policy.OPEN, policy.CLOSED):
        try:
            from hookport.project.settings import load_settings

            settings = load_settings(cwd, env)
        except Exception:  # noqa: BLE001  (an archive has no such module, and the file may be broken)
            settings = {}
    return policy.find_failure_policy(settings, env)


def _answer_unreadable(failure: str, env: Mapping[str, str], on_failure: str) -> Answer:
    """Answer an unknown caller with the exit codes that most agents obey."""
    is_closed, effect = _describe_effect(env, on_failure)
    hint = "Pass an agent's payload on stdin; `hookport.testing.payload` makes one."
    line = f"{_name_file()}: {failure}. {effect} {hint}\n"
    return Answer(stderr=line, exit_code=BLOCK if is_closed else FAILED)


def answer_error(error: BaseException, env: Mapping[str, str], on_failure: str = "") -> Answer:
    """Answer if the file itself failed and the event is unknown."""
    if env.get(DEBUG):
        import traceback

        traceback.print_exception(error)
    is_closed, effect = _describe_effect(env, on_failure)
    line = _join_lines([f"{_name_file()}: {describe_error(error)}. {effect}"], env)
    return Answer(stderr=line, exit_code=BLOCK if is_closed else FAILED)


def _describe_effect(env: Mapping[str, str], on_failure: str) -> tuple[bool, str]:
    """Whether a failure denies, and a sentence for it; an unknown policy denies."""
    chosen = on_failure or _find_policy(find_start_folder(), env)
    if chosen == policy.OPEN:
        return False, "It was not blocked (fail open)."
    return True, "It is denied (fail closed)."


def _join_lines(lines: Sequence[str], env: Mapping[str, str]) -> str:
    """Join errors into one line, with a hint."""
    hint = "" if env.get(DEBUG) else f" Set {DEBUG}=1 to see the traceback."
    return " ".join(dict.fromkeys(lines)) + hint + "\n"


def _name_file() -> str:
    return os.path.basename(sys.argv[0]) or "a hook"
