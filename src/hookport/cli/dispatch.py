"""Answer an agent's event: its payload comes on stdin, the answer that it obeys goes out.

Agents run this command. The hooks are those of the project that the event happened in and those of the user.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from hookport.project.installed import main

EXAMPLES = {"hookport dispatch {agent} PreToolUse < payload.json": "Answer as the agent would be answered"}


def add_arguments(parser: ArgumentParser) -> None:
    """The arguments of `hookport dispatch`."""
    parser.add_argument("agent", metavar="AGENT", help="Agent that fires the event")
    parser.add_argument("event", metavar="EVENT", help="Native name of the event")
    add_options(parser)


def add_options(parser: ArgumentParser) -> None:
    """Add the options of both ways to answer an agent."""
    parser.add_argument(
        "--within", metavar="SECONDS", help="How long the agent waits, where that is not its default"
    )
    parser.add_argument(
        "--on-failure",
        metavar="open|closed",
        help="What a failure means: no decision, or a deny",
    )
    parser.add_argument(
        "--entry",
        metavar="NAME",
        help="Name of the calling entry; of several entries for one call, one runs the hooks",
    )
    parser.add_argument(
        "--record",
        metavar="DIR",
        help="Keep the event as it came, with its secrets and the answer, in this folder, as HOOKPORT_RECORD "
        "does; `hookport record` makes tests of it, without secrets",
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
