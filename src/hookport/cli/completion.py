"""Print the completion script of a shell.

Try: hookport completion bash > ~/.local/share/bash-completion/completions/hookport
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from importlib import import_module

from hookport.cli import COMMANDS

SHELLS = ("bash", "zsh", "tcsh")


def add_arguments(parser: ArgumentParser) -> None:
    """The arguments of `hookport completion`."""
    parser.add_argument("shell", choices=SHELLS, help="the shell to complete in")


def run(args: Namespace) -> int:
    """Print what the shell must read."""
    import shtab

    parser = ArgumentParser(prog="hookport")
    commands = parser.add_subparsers()
    for name, text in COMMANDS.items():
        import_module(f"hookport.cli.{name}").add_arguments(commands.add_parser(name, help=text))
    sys.stdout.write(shtab.complete(parser, args.shell) + "\n")
    return 0
