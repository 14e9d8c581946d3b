"""Run one command that was written for another dialect, and answer the agent in its own format.

Nothing else is looked up: the command is the only hook. Converted files call this command.
"""

from __future__ import annotations

from argparse import REMAINDER, ArgumentParser, Namespace

from hookport.cli.dispatch import add_options, format_options
from hookport.project.installed import main

EXAMPLES = {
    "hookport wrap {agent} {other} beforeShellExecution -- ./guard.sh < payload.json": (
        "Run a guard that was written for another agent"
    )
}


def add_arguments(parser: ArgumentParser) -> None:
    """The arguments of `hookport wrap`."""
    parser.add_argument("dialect", metavar="DIALECT", help="Dialect that the command was written for")
    parser.add_argument("agent", metavar="AGENT", help="Agent that fires the event")
    parser.add_argument("event", metavar="EVENT", help="Native name of the event")
    add_options(parser)
    parser.add_argument(
        "--on-timeout", metavar="open|closed", help="The same where the command takes too long"
    )
    parser.add_argument(
        "--for",
        dest="written_for",
        metavar="EVENT",
        help="Event that the command was written for, where its dialect has several for one thing",
    )
    parser.add_argument(
        "--if", dest="rule", metavar="RULE", help="Run only on calls that match a permission rule"
    )
    parser.add_argument(
        "--matcher", metavar="TERMS", help="Run only where the command's own matcher does, as terms in JSON"
    )
    parser.add_argument(
        "--matcher-of", metavar="FIELD", help="What the matcher is tested against, where that is not the tool"
    )
    parser.add_argument(
        "--pattern", metavar="REGEX", help="Run only on calls whose input matches a regular expression"
    )
    parser.add_argument("--pattern-of", metavar="FIELD", help="Field of the input that the pattern is for")
    parser.add_argument(
        "--type",
        metavar="command|prompt|agent",
        help="What runs: a command, or a model that gets the text after --",
    )
    parser.add_argument("--model", metavar="NAME", help="Model of a prompt or an agent")
    parser.add_argument("--observe", action="store_true", help="Ignore what the command decides")
    parser.add_argument(
        "--async", dest="is_async", action="store_true", help="Start the command and do not wait for it"
    )
    parser.add_argument(
        "command", metavar="-- COMMAND", nargs=REMAINDER, help="Command, as the shell reads it"
    )


def run(args: Namespace) -> int:
    """Take the same path as the agent's call."""
    options = {
        "--on-timeout": args.on_timeout,
        "--for": args.written_for,
        "--if": args.rule,
        "--matcher": args.matcher,
        "--matcher-of": args.matcher_of,
        "--pattern": args.pattern,
        "--pattern-of": args.pattern_of,
        "--type": args.type,
        "--model": args.model,
    }
    more = [f"{name}={value}" for name, value in options.items() if value]
    more += ["--async"] if args.is_async else []
    more += ["--observe"] if args.observe else []
    return main(["wrap", args.dialect, args.agent, args.event, *format_options(args), *more, *args.command])
