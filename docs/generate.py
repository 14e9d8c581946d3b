"""Write the pages that follow from the code: matrix, findings, commands, dialects, conformance, schemas.

`docs/generate.py` writes them, `docs/generate.py --check` fails if one is not what the code says.
"""

from __future__ import annotations

import inspect
import json
import os
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "docs")]

import output  # noqa: E402  (the path to it is set above)

import schemas  # noqa: E402  (the path to it is set above)
from hookport import cli  # noqa: E402
from hookport.agents import Dialect, get, list_agents, list_dialects  # noqa: E402
from hookport.cli.agent_tables import describe_way  # noqa: E402
from hookport.cli.matrix import make_sections  # noqa: E402
from hookport.console.terminal import format_markdown  # noqa: E402
from hookport.findings import KINDS  # noqa: E402
from hookport.lab.cells import make_cells  # noqa: E402
from hookport.lab.page import format_page, format_run  # noqa: E402
from hookport.lab.results import load_results as load_agent_results  # noqa: E402
from hookport.model.events import EVENTS  # noqa: E402
from hookport.shapes.dialect import HOOK_TRUST, SHADOWS, find_quirk  # noqa: E402
from tests.conformance import RULES, holders  # noqa: E402
from tests.frameworks.prove import load_results  # noqa: E402

JSON_OUTPUT = """\
## JSON output

Every command whose output is of use to a program has `--json`. It prints one object with `version`, which
changes when a key is removed or changes its meaning. [schemas/output](../schemas/output) has a JSON Schema of
each command's document, with every key of this release. `hookport log --json` prints such an object for each
event, one on a line.

An error prints the document of [error.schema.json](../schemas/output/error.schema.json) instead, with the
same exit code as without `--json`: 2 for wrong usage or unreadable input, 70 for a bug in hookport. Findings
are part of a command's document; exit code 1 means that one of them is an error.
"""
MADE = "<!-- Made by docs/generate.py; do not edit. -->\n\n"


def main() -> int:
    """Write or compare every page."""
    pages = {**matrix(), **findings(), **commands(), **dialects(), **conformance(), **schema_files()}
    pages |= {**frameworks(), **readme()}
    stale = [
        path
        for path, text in pages.items()
        if not (ROOT / path).is_file() or (ROOT / path).read_text("utf-8") != text
    ]
    kept = {ROOT / path for path in pages}
    extra = [
        path
        for folder in ("docs/dialects", "schemas", "schemas/output")
        for path in (ROOT / folder).glob("*.*")
        if path not in kept
    ]
    if "--check" in sys.argv:
        for path in [*stale, *(str(one.relative_to(ROOT)) for one in extra)]:
            print(f"{path} is not what the code says. Try: make docs")
        return int(bool(stale or extra))
    for path in stale:
        (ROOT / path).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / path).write_text(pages[path], "utf-8")
        print(f"wrote {path}")
    for one in extra:
        one.unlink()
        print(f"removed {one.relative_to(ROOT)}")
    return 0


def matrix() -> dict[str, str]:
    """What each agent can do."""
    text = f"# Matrix\n\n{MADE}" + inspect.cleandoc(
        """
        What each agent's hooks can do. `prevent`: a hook can stop the action. `retry`: it can make the agent
        go on. `observe`: it can only watch. An empty cell means that the agent has no such event, tool or
        field. A dot means that [`hookport prove`](proving.md) measured the cell on the real agent, on the
        version and day in the row `measured on`. A cell without a dot is documented: `facts of` names the
        version, and the page of each [dialect](dialects) the sources. `?` means that no source says so, and
        hookport does not rely on it. [matrix.html](matrix.html) has a cell for each event and capability,
        with the scenario that was played.

        Ways around: `open` means that hooks are not asked about such calls, `closed` that they are, because
        hookport names the tool in its entries, and `no` that they are asked as about any other call. `?`:
        nobody measured it and no source says it. The page of each dialect explains the ids.
        """
    )
    for title, rows in make_sections([get(name) for name in list_agents()]):
        text += f"\n\n## {title}\n\n{format_markdown(rows)}"
    return {"docs/matrix.md": text, "docs/matrix.html": format_page(make_cells(list_agents()))}


def findings() -> dict[str, str]:
    """Every finding, from its docstring."""
    text = f"# Findings\n\n{MADE}"
    text += "A finding is a `note` (the effect is the same), a `loss` (something is weaker, wider or gone) "
    text += "or an `error`. `hookport explain CODE` prints the same text in a terminal.\n\n"
    text += format_markdown(
        [
            ("code", "severity", "what"),
            *(
                (f"[{code}](#{code.lower()})", kind.severity, _first(kind))
                for code, kind in sorted(KINDS.items())
            ),
        ]
    )
    for code, kind in sorted(KINDS.items()):
        hint = kind.hint.replace("{{", "{").replace("}}", "}")
        text += f"\n## {code}\n\n`{kind.severity}`; the hook is {kind.effect}.\n\n{inspect.getdoc(kind)}\n\n"
        text += f"Reported as: `{kind.message}`\n" + (f"\nWhat to do: {hint}\n" if hint else "")
    return {"docs/findings.md": text}


def _first(kind: object) -> str:
    return (inspect.getdoc(kind) or "").partition("\n")[0]


def commands() -> dict[str, str]:
    """The help of every command."""
    os.environ["COLUMNS"] = "80"
    text = f"# Commands\n\n{MADE}The help of each command, as `hookport COMMAND --help` prints it.\n\n"
    text += f"```\n{cli.format_usage()}```\n"
    for name in cli.COMMANDS:
        text += f"\n## hookport {name}\n\n```\n{cli.make_command_parser(name).format_help()}```\n"
    return {"docs/cli.md": f"{text}\n{JSON_OUTPUT}"}


def dialects() -> dict[str, str]:
    """A page per dialect and a list of them."""
    rows = [("dialect", "what", "kind", "facts of")]
    rows += [
        (f"[{name}]({name}.md)", get(name).title, get(name).kind, get(name).facts) for name in list_dialects()
    ]
    pages = {"docs/dialects/index.md": f"# Dialects\n\n{MADE}{format_markdown(rows)}"}
    for name in list_dialects():
        pages[f"docs/dialects/{name}.md"] = dialect_page(get(name))
    return pages


def readme() -> dict[str, str]:
    """The README, with the agents as they are now."""
    measured = {results.agent for results in load_agent_results()}
    lists = {
        "Played on the real program": [name for name in list_agents() if name in measured],
        "By documentation or source": [name for name in list_agents() if name not in measured],
    }
    paragraphs = (
        textwrap.fill(
            f"{title} ({len(names)}): {', '.join(f'`{name}`' for name in names)}.",
            120,
            break_on_hyphens=False,
            break_long_words=False,
        )
        for title, names in lists.items()
    )
    start, end = "<!-- agents: made by docs/generate.py -->\n", "<!-- end of agents -->\n"
    before, _, rest = (ROOT / "README.md").read_text("utf-8").partition(start)
    _, _, after = rest.partition(end)
    return {"README.md": before + start + "\n\n".join(paragraphs) + "\n" + end + after}


def dialect_page(one: Dialect) -> str:
    """Everything the tables of a dialect say."""
    text = f"# {one.title}\n\n{MADE}`{one.id}`, {one.kind}, facts as of {one.facts}.\n\n## Sources\n\n"
    text += "".join(f"- `{key}`: {value}\n" for key, value in one.sources.items())
    text += "\n## Files\n\n" + format_markdown(
        [("scope", "path", "source"), *((p.scope, f"`{p.path}`", p.source) for p in one.locations)]
    )
    events = [("native", "canonical", "a hook can", "matcher on", "source")]
    events += [
        (
            f"`{spec.native}`",
            spec.canonical or "(only here)",
            spec.blocks,
            spec.subject or "nothing",
            spec.source,
        )
        for spec in one.events
    ]
    text += "\n## Events\n\n" + format_markdown(events)
    if one.lacks:
        text += "\n## Missing events\n\n" + format_markdown(
            [("event", "why"), *((e, one.lacks[e]) for e in EVENTS if e in one.lacks)]
        )
    if one.tools:
        tools = [("tool", "native", "source")]
        tools += [
            (row.tool, f"`{row.native}`{' (read only)' if row.alias else ''}", row.source)
            for row in one.tools
        ]
        text += "\n## Tools\n\n" + format_markdown(tools)
    fields = [("handler", "fields", "timeout")]
    for type_, spec in one.handlers.items():
        unit = spec.timeout.unit
        wait = "none" if unit is None else "milliseconds" if unit.total_seconds() < 1 else "seconds"
        default = spec.timeout.default
        wait += f", {default.total_seconds():g} s by default" if default else ""
        fields.append((type_, ", ".join(f"`{key}`" for key in spec.fields), wait))
    text += "\n## Handlers\n\n" + format_markdown(fields)
    gates = gates_of(one)
    if gates:
        text += "\n## Reasons for skipped hooks\n\n" + format_markdown([("what", "where", "source"), *gates])
    if one.shows:
        text += "\n## What users see\n\n" + _shown(one)
    if one.kind == "agent":
        text += _measured(one)
    if one.quirks:
        text += "\n## Surprises\n\n" + "".join(f"- **{q.id}** {q.text} (`{q.source}`)\n" for q in one.quirks)
    if one.ways_around:
        text += "\n## Ways around\n\n" + format_markdown(
            [("way", "state", "id", "what", "source"), *(describe_way(way) for way in one.ways_around)]
        )
    if one.notes:
        text += "\n## Before you start\n\n" + "".join(f"- {note}\n" for note in one.notes)
    return text


def _measured(one: Dialect) -> str:
    """Which cells of the matrix were measured, in which run and with which control."""
    rows = [("event", "capability", "agent", "run", "control")]
    rows += [
        (cell.event, cell.capability, cell.claim, format_run(cell.run), format_run(cell.control))
        for cell in make_cells([one.id])
        if cell.run and cell.control
    ]
    return "\n## Measured\n\n" + format_markdown(rows) if len(rows) > 1 else ""


def gates_of(one: Dialect) -> list[tuple[str, ...]]:
    """Settings, trust and files for which an agent does not run hooks that are written correctly."""
    rows: list[tuple[str, ...]] = []
    for gate in one.gates:
        files = ", ".join(f"`{file or 'the file itself'}`" for file in gate.files)
        where = f"`{gate.variable}`" if gate.variable else f"`{'.'.join(gate.key)}` in {files}"
        rows.append((gate.what, where, gate.source))
    if one.folder_trust:
        where = f"`{one.folder_trust.file}`" if one.folder_trust.file else "known to the agent only"
        rows.append(("the folder is not trusted", where, one.folder_trust.source))
    if hook_trust := find_quirk(one, HOOK_TRUST):
        rows.append(
            (
                "the hook is not trusted",
                f"`{hook_trust.file}`",
                hook_trust.source,
            )
        )
    rows += [
        (f"`{row.file}` is not read", f"`{row.by}` is there", row.source) for row in find_quirk(one, SHADOWS)
    ]
    return rows


def _shown(one: Dialect) -> str:
    """What of an answer is seen on the screen, by event."""
    rows = []
    for event, (channels, source) in one.shows.items():
        where = "every other event" if event == "*" and len(one.shows) > 1 else event
        where = "every event" if where == "*" else where
        seen = {"message": "a message", "reason": "the reason of a deny"}
        rows.append(f"- {where}: {' and '.join(seen[name] for name in channels) or 'nothing'} (`{source}`)\n")
    return "".join(rows)


def conformance() -> dict[str, str]:
    """Every rule of the interchange format with the tests that hold it."""
    held = holders()
    text = f"# Conformance\n\n{MADE}" + inspect.cleandoc(
        """
        The rules of the Hook Interchange Format 1.0 for an implementation, at its three levels, and the tests
        in `tests/` that check them. A rule without a test fails `make check`.
        """
    )
    for level in ("Core", "Extended", "Full"):
        rows = [
            (rule.id, rule.text, ", ".join(f"`{test}`" for test in held[rule.id]))
            for rule in RULES
            if rule.level == level
        ]
        text += f"\n\n## {level}\n\n{format_markdown([('rule', 'what', 'tests'), *rows])}"
    return {"docs/conformance.md": text}


def frameworks() -> dict[str, str]:
    """What was measured of the adapters, and the ways around each."""
    text = f"# Measured frameworks\n\n{MADE}" + inspect.cleandoc(
        """
        What the [adapters](frameworks.md) do in the real frameworks, with a scripted model on loopback.
        Each scenario has a control: the same calls without hooks, in which what the guard prevents really
        happens. `make prove-frameworks` measures again, `python -m tests.frameworks.prove --json` prints the
        results, and `tests/frameworks/results` keeps them.
        """
    )
    measured = load_results()
    rows = [("framework", "version", "measured on", "passed", "cannot")]
    cannot: list[tuple[str, ...]] = [("framework", "scenario", "why")]
    for one in measured:
        results = [each["result"] for each in one["scenarios"].values()]
        counts = (str(results.count(word)) for word in ("pass", "cannot"))
        rows.append((one["title"], one["version"], one["date"], *counts))
        cannot += [
            (one["title"], name, each["evidence"])
            for name, each in one["scenarios"].items()
            if each["result"] == "cannot"
        ]
    text += f"\n\n{format_markdown(rows)}\n## Scenarios\n\n"
    names = dict.fromkeys(name for one in measured for name in one["scenarios"])
    grid = [("scenario", *(one["title"] for one in measured))]
    grid += [
        (name, *(one["scenarios"].get(name, {}).get("result", "") for one in measured)) for name in names
    ]
    text += (
        "`sync`: plain functions as tools; `crew`: in a crew; `inner`, `handoff`: an agent inside the agent, "
    )
    text += f"with the adapter or covered by it; `inner-unguarded`: without.\n\n{format_markdown(grid)}"
    text += f"\n## What cannot\n\n{format_markdown(cannot)}\n## Ways around\n"
    for one in measured:
        text += f"\n{one['title']}:\n\n" + "".join(f"- {way}\n" for way in one["around"])
    return {"docs/frameworks-measured.md": text}


def schema_files() -> dict[str, str]:
    """The JSON Schemas."""
    every = {
        **schemas.all_schemas(),
        **{f"output/{name}": schema for name, schema in output.output_schemas().items()},
    }
    return {f"schemas/{name}": json.dumps(schema, indent=2) + "\n" for name, schema in every.items()}


if __name__ == "__main__":
    sys.exit(main())
