"""Run one command that was written for another dialect, and answer the agent in its own terms.

Nothing is looked up: the command is the only hook. Converted files call this.
"""

from __future__ import annotations

from argparse import REMAINDER, ArgumentParser, Namespace

from hookport.cli.dispatch import add_options, format_options
from hookport.project.installed import main


def add_arguments(parser: ArgumentParser) -> None:
    """The arguments of `hookport wrap`."""
    parser.add_argument(
        "dialect", metavar="SCRIPT-DIALECT", help="the dialect that the command was written for"
    )
    parser.add_argument("agent", metavar="AGENT", help="the agent that fires the event")
    parser.add_argument("event", metavar="EVENT", help="the agent's own name of the event")
    add_options(parser)
    parser.add_argument(
        "--on-timeout", metavar="open|closed", help="the same for a command that takes too long"
    )
    parser.add_argument(
        "--for",
        dest="written_for",
        metavar="SCRIPT-EVENT",
        help="the event that the command was written for, where its dialect has several for one thing",
    )
    parser.add_argument(
        "--if", dest="rule", metavar="RULE", help="run only on calls that a permission rule is for"
    )
    parser.add_argument(
        "--matcher", metavar="TERMS", help="run only where the command's own matcher does, as terms in JSON"
    )
    parser.add_argument(
        "--matcher-of", metavar="WORD", help="what the matcher is tested against, where that is not the tool"
    )
    parser.add_argument("--pattern", metavar="REGEX", help="run only on calls whose input has it")
    parser.add_argument(
        "--pattern-of", metavar="FIELD", help="the one field of the input that the pattern is for"
    )
    parser.add_argument(
        "--type",
        metavar="command|prompt|agent",
        help="what runs: a command, or a model that the text after -- is for",
    )
    parser.add_argument("--model", metavar="NAME", help="the model, for a prompt or an agent")
    parser.add_argument("--observe", action="store_true", help="let the command decide nothing")
    parser.add_argument("--async", dest="is_async", action="store_true", help="start the command and go on")
    parser.add_argument(
        "command", metavar="-- COMMAND", nargs=REMAINDER, help="the command, as the shell reads it"
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
