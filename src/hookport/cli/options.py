"""Options that several commands have: one spelling and one description for each."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable

from hookport.console.arguments import parse_count, split_names
from hookport.errors import UsageError, suggest_closest

VERDICTS = ("deny", "ask", "allow", "none")


def add_json(parser: ArgumentParser) -> None:
    """Add `--json`, which every command with output for programs has."""
    parser.add_argument("--json", action="store_true", help="Print JSON")


def add_agents(
    parser: ArgumentParser,
    text: str = "Only these agents, detected or not",
    parse: Callable[[str], list[str]] | None = None,
) -> None:
    """Add `--agent`, for several agents."""
    parser.add_argument(
        "--agent",
        dest="agents",
        metavar="AGENT",
        type=parse or parse_agents,
        action="extend",
        default=[],
        help=f"{text}; several with commas or by repeating the option",
    )


def add_from(parser: ArgumentParser, dest: str = "dialect") -> None:
    """Add `--from`, the dialect of the files that a command reads."""
    parser.add_argument(
        "--from", dest=dest, metavar="DIALECT", help="Dialect of the files; detected if left out"
    )


def add_dry_run(parser: ArgumentParser) -> None:
    """Add `--dry-run`, which shows what would happen."""
    parser.add_argument("--dry-run", action="store_true", help="Show what would change and write nothing")


def add_yes(parser: ArgumentParser) -> None:
    """Add `--yes`, which answers the question of a command."""
    parser.add_argument("-y", "--yes", action="store_true", help="Do not ask for confirmation")


def add_strict(parser: ArgumentParser) -> None:
    """Add `--strict`, for which a loss counts as an error."""
    parser.add_argument("--strict", action="store_true", help="Exit with 1 on any loss, not only on errors")


def add_quiet(parser: ArgumentParser) -> None:
    """Add `--quiet`, which leaves out notes."""
    parser.add_argument("-q", "--quiet", action="store_true", help="Report losses and errors, no notes")


def add_jobs(parser: ArgumentParser, what: str) -> None:
    """Add `--jobs`, how many things run at the same time."""
    parser.add_argument(
        "-j",
        "--jobs",
        metavar="N",
        type=parse_count,
        default=0,
        help=f"{what} at the same time; as many as there are cores if left out",
    )


def parse_dialects(text: str) -> list[str]:
    """Parse the names of agents or other dialects."""
    from hookport.agents import get

    return [get(name).id for name in split_names(text)]


def parse_agents(text: str) -> list[str]:
    """Parse the names of agents; UsageError with the nearest name where one is unknown."""
    return [parse_agent(name) for name in split_names(text)]


def parse_agent(name: str) -> str:
    """Parse the name of an agent."""
    from hookport.agents import list_agents, list_dialects

    if name not in list_agents():
        if name in list_dialects():
            raise UsageError(
                f"'{name}' is a format, not an agent", hint="`hookport dialects` lists the agents"
            )
        near = suggest_closest(name, list_agents())
        raise UsageError(f"unknown agent '{name}'.{near}", hint="`hookport dialects` lists the agents")
    return name
