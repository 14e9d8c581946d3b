"""Results as people and programs read them: lines, JSON, JUnit."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from xml.etree import ElementTree as ET

from hookport.base.tree import Tree
from hookport.runtime.records import describe_decision
from hookport.testing import missing
from hookport.testing.compare import Difference
from hookport.testing.run import UNFIT, Got
from hookport.testing.session import Result, Task
from hookport.testing.snapshots import diff
from hookport.testing.suite import Broken, Case

# A text painted in a style.
Paint = Callable[[str, str], str]

STYLES = {"passed": "kept", "failed": "error", "not applicable": "note"}
WORDS = {"passed": "passed", "failed": "FAILED", "not applicable": "n/a"}
SLOW_SECONDS = 1.0
# Of each stream, the last lines are shown.
TAIL_LINES = 20
MOST_DIFF_LINES = 60


def unpainted(text: str, _style: str) -> str:
    """A text as it is."""
    return text


def lines_of(results: Sequence[Result], paint: Paint = unpainted) -> list[str]:
    """The results of one case, a line for each thing that came of it; agents are named together."""
    together: dict[tuple[str, str], list[Result]] = {}
    for one in results:
        together.setdefault((one.status, one.why), []).append(one)
    return [_line(status, why, same, paint) for (status, why), same in together.items()]


def _line(status: str, why: str, results: Sequence[Result], paint: Paint) -> str:
    text = f"{paint(f'{WORDS[status]:6}', STYLES[status])}  {results[0].task.name}"
    text += _for(results, brief=status == "passed")
    text += f": {why}" if why else ""
    unfit = next((note for one in results if one.got for note in one.got.notes if UNFIT in note), "")
    text += f"  ({unfit})" if unfit and status == "passed" else ""
    text += "  (snapshot written)" if any(one.updated for one in results) else ""
    slowest = max((one.got.seconds for one in results if one.got), default=0.0)
    return f"{text}  ({slowest:.1f} s)" if slowest >= SLOW_SECONDS else text


def _for(results: Sequence[Result], *, brief: bool = False) -> str:
    """The agents that something is so for."""
    entry = results[0].task.entry
    agents = [one.task.agent for one in results if one.task.agent]
    if not agents or isinstance(entry, Broken):
        return ""
    if len(agents) > 1 and (brief or len(agents) == len(entry.agents)):
        return f"  for {len(agents)} agents"
    return f"  for {', '.join(agents)}"


def failures(results: Iterable[Result], paint: Paint = unpainted) -> Iterator[list[str]]:
    """Every failure, those of one case that are the same for several agents together."""
    together: dict[tuple[object, ...], list[Result]] = {}
    for one in results:
        if one.status == "failed":
            printed = (one.got.stdout, one.got.stderr) if one.got else ()
            together.setdefault((one.task.entry.file, one.differences, printed), []).append(one)
    for same in together.values():
        first, entry = same[0], same[0].task.entry
        about = f": {first.task.name} {_for(same).strip()}".rstrip() if isinstance(entry, Case) else ""
        title = f"FAILED {first.task.shown(entry.file)}{about}"
        told = [paint(title, "error")]
        if isinstance(entry, Case) and entry.description:
            told.append(f"  {plain(entry.description)}")
        yield [*told, *(f"  {line}" for line in explained(first, paint))]


def explained(result: Result, paint: Paint = unpainted) -> list[str]:
    """Everything that helps to understand one failure."""
    entry = result.task.entry
    if isinstance(entry, Broken):
        return _problems(result.task, entry)
    told = [line for one in result.differences for line in _difference(entry, one, paint)]
    if result.got is not None:
        told += details(result.got)
    if advice := hint_of(result):
        told.append(f"hint: {plain(advice)}")
    return [*told, f"again: {again(result)}"]


def hint_of(result: Result) -> str:
    """What would mend a failure, where its cause is known; empty where it is not."""
    if result.status != "failed" or result.got is None or result.task.package is None:
        return ""
    return missing.hint(result.task.package, result.got)


def _problems(task: Task, entry: Broken) -> list[str]:
    return [plain(str(one._replace(file=task.shown(one.file)))) for one in entry.problems]


def again(result: Result) -> str:
    """The command that runs this alone."""
    task = result.task
    words = ["hookport", "test", task.shown(task.entry.file)]
    return shlex.join([*words, "-k", f"[{task.agent}]"] if task.agent else words)


def _difference(case: Case, one: Difference, paint: Paint) -> Iterator[str]:
    line = case.lines.get(one.field.partition(".")[0].partition("[")[0], 0)
    yield f"{case.file.name}{f':{line}' if line else ''}  {plain(one.field)}: {plain(one.message)}"
    if "\n" not in one.expected + one.got and one.message != "is not as expected":
        return
    if one.field.endswith("contains"):
        return
    changed = diff(one.expected, one.got)
    for text in changed[:MOST_DIFF_LINES]:
        yield "    " + paint(plain(text), {"-": "kept", "+": "error"}.get(text[:1], ""))
    if len(changed) > MOST_DIFF_LINES:
        yield f"    … and {len(changed) - MOST_DIFF_LINES} more lines"


def details(got: Got) -> Iterator[str]:
    """What the hooks printed and the agent would receive."""
    for note in got.notes:
        yield f"note: {plain(note)}"
    yield from _stream("stdout", got.stdout)
    yield from _stream("stderr", got.stderr)
    if got.answer is not None:
        yield f"{got.agent} receives: exit code {got.answer.exit_code}"
        for name in ("stdout", "stderr"):
            for text in getattr(got.answer, name).splitlines():
                yield f"  {name}: {plain(text)}"


def _stream(name: str, text: str) -> Iterator[str]:
    lines = text.splitlines()
    if lines:
        left_out = len(lines) - TAIL_LINES
        yield f"{name}{f' (without the first {left_out} lines)' if left_out > 0 else ''}:"
        yield from (f"  {plain(line)}" for line in lines[-TAIL_LINES:])


def plain(text: str) -> str:
    """A text on one line, in which what would steer the terminal is shown as an escape."""
    return "".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in text)


def counts(results: Iterable[Result]) -> dict[str, int]:
    """How many of each status."""
    statuses = [one.status for one in results]
    return {status: statuses.count(status) for status in ("passed", "failed", "not applicable")}


def closing(results: Iterable[Result]) -> str:
    """`N passed, N failed`, and what did not apply if there is any."""
    number = counts(results)
    text = f"{number['passed']} passed, {number['failed']} failed"
    return f"{text}, {number['not applicable']} not applicable" if number["not applicable"] else text


def as_tree(results: Sequence[Result]) -> dict[str, Tree]:
    """All results for `--json`."""
    number = {status.replace(" ", "_"): count for status, count in counts(results).items()}
    return {**number, "results": [_tree(one) for one in results]}


def _tree(result: Result) -> dict[str, Tree]:
    task, got = result.task, result.got
    entry = task.entry
    tree: dict[str, Tree] = {
        "suite": task.shown(task.folder),
        "case": task.name,
        "file": task.shown(entry.file),
        "status": result.status.replace(" ", "_"),
    }
    if task.agent:
        tree["agent"] = task.agent
    if result.why:
        tree["why"] = result.why
    if isinstance(entry, Broken):
        tree["problems"] = [
            {"file": task.shown(one.file), "line": one.line, "column": one.column, "message": one.message}
            for one in entry.problems
        ]
        return tree
    if result.differences:
        tree["differences"] = [one._asdict() for one in result.differences]
        tree["again"] = again(result)
        if advice := hint_of(result):
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


def junit(results: Sequence[Result]) -> bytes:
    """All results as JUnit's XML, which continuous integration shows."""
    top = ET.Element("testsuites", {"name": "hookport", **_totals(results)})
    for folder in dict.fromkeys(one.task.folder for one in results):
        own = [one for one in results if one.task.folder == folder]
        name = own[0].task.shown(folder)
        suite = ET.SubElement(top, "testsuite", {"name": name, **_totals(own)})
        for one in own:
            _testcase(ET.SubElement(suite, "testcase", classname=name, name=one.task.id), one)
    ET.indent(top)
    return bytes(ET.tostring(top, encoding="utf-8", xml_declaration=True)) + b"\n"


def _totals(results: Sequence[Result]) -> dict[str, str]:
    number = counts(results)
    seconds = sum(one.got.seconds for one in results if one.got)
    return {
        "tests": str(len(results)),
        "failures": str(number["failed"]),
        "errors": "0",
        "skipped": str(number["not applicable"]),
        "time": f"{seconds:.3f}",
    }


def _testcase(element: ET.Element, result: Result) -> None:
    element.set("file", result.task.shown(result.task.entry.file))
    element.set("time", f"{result.got.seconds if result.got else 0.0:.3f}")
    if result.status == "not applicable":
        ET.SubElement(element, "skipped", message=plain(result.why))
    elif result.status == "failed":
        told = explained(result)
        ET.SubElement(element, "failure", message=told[0]).text = "\n".join(told)


def json_text(results: Sequence[Result], *, is_ascii: bool = False, **more: Tree) -> str:
    """`--json` as text; `is_ascii` for a stream that does not take UTF-8."""
    return json.dumps({**as_tree(results), **more}, indent=2, ensure_ascii=is_ascii, default=str) + "\n"
