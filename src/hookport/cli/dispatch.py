"""Answer an agent's event: its payload on stdin, the answer that it obeys out.

Agents call this; the hooks are those of the project that the event happened in and those of the user.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from hookport.project.installed import main


def add_arguments(parser: ArgumentParser) -> None:
    """The arguments of `hookport dispatch`."""
    parser.add_argument("agent", metavar="AGENT", help="the agent that fires the event")
    parser.add_argument("event", metavar="EVENT", help="the agent's own name of the event")
    add_options(parser)


def add_options(parser: ArgumentParser) -> None:
    """Add the options of both ways to answer an agent."""
    parser.add_argument(
        "--within", metavar="SECONDS", help="how long the agent waits, where that is not its default"
    )
    parser.add_argument(
        "--on-failure",
        metavar="open|closed",
        help="what a failure means: nothing is decided, or it is denied",
    )
    parser.add_argument(
        "--entry",
        metavar="NAME",
        help="the name of the entry that calls this; of several entries for one call, one runs the hooks",
    )
    parser.add_argument(
        "--record",
        metavar="DIR",
        help="keep the event in this folder as it came, secrets too, with what was answered; HOOKPORT_RECORD "
        "does the same. `hookport record` makes tests of it, without secrets",
    )


def run(args: Namespace) -> int:
    """Take the same path as the agent's call."""
    return main(["dispatch", args.agent, args.event, *format_options(args)])


def format_options(args: Namespace) -> list[str]:
    """Format the options that were given."""
    options = {
        "--within": args.within,
        "--on-failure": args.on_failure,
        "--entry": args.entry,
        "--record": args.record,
    }
    return [f"{name}={value}" for name, value in options.items() if value]
