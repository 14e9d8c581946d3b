"""Results for people and programs: lines, JSON, JUnit."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from xml.etree import ElementTree as ET

from hookport.base.tree import Tree
from hookport.runtime.records import describe_decision
from hookport.testing import missing
from hookport.testing.compare import Difference
from hookport.testing.run import UNFIT, CaseRun
from hookport.testing.session import Task, TaskResult
from hookport.testing.snapshots import diff
from hookport.testing.suite import BrokenFile, Case

# A text painted in a style.
Paint = Callable[[str, str], str]

STYLES = {"passed": "kept", "failed": "error", "not applicable": "note"}
WORDS = {"passed": "passed", "failed": "FAILED", "not applicable": "n/a"}
SLOW_SECONDS = 1.0
# Of each stream, the last lines are shown.
TAIL_LINES = 20
MOST_DIFF_LINES = 60


def leave_unpainted(text: str, _style: str) -> str:
    """A text without a style."""
    return text


def describe_results(results: Sequence[TaskResult], paint: Paint = leave_unpainted) -> list[str]:
    """The results of one case, one line for each status and reason; agents share a line."""
    together: dict[tuple[str, str], list[TaskResult]] = {}
    for result in results:
        together.setdefault((result.status, result.why), []).append(result)
    return [_describe_status(status, why, same, paint) for (status, why), same in together.items()]


def _describe_status(status: str, why: str, results: Sequence[TaskResult], paint: Paint) -> str:
    text = f"{paint(f'{WORDS[status]:6}', STYLES[status])}  {results[0].task.name}"
    text += _name_agents(results, brief=status == "passed")
    text += f": {why}" if why else ""
    unfit = next((note for result in results if result.got for note in result.got.notes if UNFIT in note), "")
    text += f"  ({unfit})" if unfit and status == "passed" else ""
    text += "  (snapshot written)" if any(result.updated for result in results) else ""
    slowest = max((result.got.seconds for result in results if result.got), default=0.0)
    return f"{text}  ({slowest:.1f} s)" if slowest >= SLOW_SECONDS else text


def _name_agents(results: Sequence[TaskResult], *, brief: bool = False) -> str:
    """Name the agents of these results."""
    entry = results[0].task.entry
    agents = [result.task.agent for result in results if result.task.agent]
    if not agents or isinstance(entry, BrokenFile):
        return ""
    if len(agents) > 1 and (brief or len(agents) == len(entry.agents)):
        return f"  for {len(agents)} agents"
    return f"  for {', '.join(agents)}"


def describe_failures(results: Iterable[TaskResult], paint: Paint = leave_unpainted) -> Iterator[list[str]]:
    """Yield every failure, with equal failures of one case in several agents together."""
    together: dict[tuple[object, ...], list[TaskResult]] = {}
    for result in results:
        if result.status == "failed":
            printed = (result.got.stdout, result.got.stderr) if result.got else ()
            together.setdefault((result.task.entry.file, result.differences, printed), []).append(result)
    for same in together.values():
        first, entry = same[0], same[0].task.entry
        about = (
            f": {first.task.name} {_name_agents(same).strip()}".rstrip() if isinstance(entry, Case) else ""
        )
        title = f"FAILED {first.task.show_path(entry.file)}{about}"
        texts = [paint(title, "error")]
        if isinstance(entry, Case) and entry.description:
            texts.append(f"  {escape_controls(entry.description)}")
        yield [*texts, *(f"  {line}" for line in explain(first, paint))]


def explain(result: TaskResult, paint: Paint = leave_unpainted) -> list[str]:
    """Explain one failure."""
    entry = result.task.entry
    if isinstance(entry, BrokenFile):
        return _describe_problems(result.task, entry)
    texts = [
        line for difference in result.differences for line in _describe_difference(entry, difference, paint)
    ]
    if result.got is not None:
        texts += describe_run(result.got)
    if advice := find_hint(result):
        texts.append(f"hint: {escape_controls(advice)}")
    return [*texts, f"again: {spell_command(result)}"]


def find_hint(result: TaskResult) -> str:
    """The hint for a failure; empty if its cause is unknown."""
    if result.status != "failed" or result.got is None or result.task.package is None:
        return ""
    return missing.write_hint(result.task.package, result.got)


def _describe_problems(task: Task, entry: BrokenFile) -> list[str]:
    return [
        escape_controls(str(problem._replace(file=task.show_path(problem.file))))
        for problem in entry.problems
    ]


def spell_command(result: TaskResult) -> str:
    """The command that runs only this case."""
    task = result.task
    words = ["hookport", "test", task.show_path(task.entry.file)]
    return shlex.join([*words, "-k", f"[{task.agent}]"] if task.agent else words)


def _describe_difference(case: Case, difference: Difference, paint: Paint) -> Iterator[str]:
    line = case.lines.get(difference.field.partition(".")[0].partition("[")[0], 0)
    text = f"{escape_controls(difference.field)}: {escape_controls(difference.message)}"
    yield f"{case.file.name}{f':{line}' if line else ''}  {text}"
    if "\n" not in difference.expected + difference.got and difference.message != "differs":
        return
    if difference.field.endswith("contains"):
        return
    changed = diff(difference.expected, difference.got)
    for text in changed[:MOST_DIFF_LINES]:
        yield "    " + paint(escape_controls(text), {"-": "kept", "+": "error"}.get(text[:1], ""))
    if len(changed) > MOST_DIFF_LINES:
        yield f"    … and {len(changed) - MOST_DIFF_LINES} more lines"


def describe_run(got: CaseRun) -> Iterator[str]:
    """Show the hooks' output and what the agent would receive."""
    for note in got.notes:
        yield f"note: {escape_controls(note)}"
    yield from _describe_stream("stdout", got.stdout)
    yield from _describe_stream("stderr", got.stderr)
    if got.answer is not None:
        yield f"{got.agent} receives: exit code {got.answer.exit_code}"
        for name in ("stdout", "stderr"):
            for text in getattr(got.answer, name).splitlines():
                yield f"  {name}: {escape_controls(text)}"


def _describe_stream(name: str, text: str) -> Iterator[str]:
    lines = text.splitlines()
    if lines:
        left_out = len(lines) - TAIL_LINES
        yield f"{name}{f' (without the first {left_out} lines)' if left_out > 0 else ''}:"
        yield from (f"  {escape_controls(line)}" for line in lines[-TAIL_LINES:])


def escape_controls(text: str) -> str:
    """Put a text on one line, with control characters as escapes."""
    return "".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in text)


def count_statuses(results: Iterable[TaskResult]) -> dict[str, int]:
    """Count the results of each status."""
    statuses = [result.status for result in results]
    return {status: statuses.count(status) for status in ("passed", "failed", "not applicable")}


def sum_up_results(results: Iterable[TaskResult]) -> str:
    """Format `N passed, N failed`, and the number of cases that did not apply, if any."""
    number = count_statuses(results)
    text = f"{number['passed']} passed, {number['failed']} failed"
    return f"{text}, {number['not applicable']} not applicable" if number["not applicable"] else text


def encode_result(result: TaskResult) -> dict[str, Tree]:
    """One result for `--json`."""
    task, got = result.task, result.got
    entry = task.entry
    tree: dict[str, Tree] = {
        "suite": task.show_path(task.folder),
        "case": task.name,
        "file": task.show_path(entry.file),
        "status": result.status.replace(" ", "_"),
    }
    if task.agent:
        tree["agent"] = task.agent
    if result.why:
        tree["why"] = result.why
    if isinstance(entry, BrokenFile):
        tree["problems"] = [
            {
                "file": task.show_path(problem.file),
                "line": problem.line,
                "column": problem.column,
                "message": problem.message,
            }
            for problem in entry.problems
        ]
        return tree
    if result.differences:
        tree["differences"] = [difference._asdict() for difference in result.differences]
        tree["again"] = spell_command(result)
        if advice := find_hint(result):
            tree["hint"] = advice
    if got is not None and not got.reason:
        tree |= {
            "seconds": round(got.seconds, 3),
            "decision": describe_decision(got.decision),
            "exit_code": got.exit_code,
            "stdout": got.stdout,
            "stderr": got.stderr,
            "notes": list(got.notes),
        }
        if got.answer is not None:
            tree["answer"] = got.answer.as_dict()
    return tree


def encode_junit(results: Sequence[TaskResult]) -> bytes:
    """All results as JUnit's XML, which continuous integration shows."""
    top = ET.Element("testsuites", {"name": "hookport", **_count_totals(results)})
    for folder in dict.fromkeys(task_result.task.folder for task_result in results):
        of_suite = [task_result for task_result in results if task_result.task.folder == folder]
        name = of_suite[0].task.show_path(folder)
        suite = ET.SubElement(top, "testsuite", {"name": name, **_count_totals(of_suite)})
        for result in of_suite:
            _fill_testcase(ET.SubElement(suite, "testcase", classname=name, name=result.task.id), result)
    ET.indent(top)
    return bytes(ET.tostring(top, encoding="utf-8", xml_declaration=True)) + b"\n"


def _count_totals(results: Sequence[TaskResult]) -> dict[str, str]:
    number = count_statuses(results)
    seconds = sum(result.got.seconds for result in results if result.got)
    return {
        "tests": str(len(results)),
        "failures": str(number["failed"]),
        "errors": "0",
        "skipped": str(number["not applicable"]),
        "time": f"{seconds:.3f}",
    }


def _fill_testcase(element: ET.Element, result: TaskResult) -> None:
    element.set("file", result.task.show_path(result.task.entry.file))
    element.set("time", f"{result.got.seconds if result.got else 0.0:.3f}")
    if result.status == "not applicable":
        ET.SubElement(element, "skipped", message=escape_controls(result.why))
    elif result.status == "failed":
        texts = explain(result)
        ET.SubElement(element, "failure", message=texts[0]).text = "\n".join(texts)
