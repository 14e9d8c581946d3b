"""Print the completion script of a shell.

It completes commands, options and their values. Write it where the shell looks for completions, then start a
new shell.
"""

from __future__ import annotations

import sys
from argparse import SUPPRESS, Action, ArgumentParser, Namespace

from hookport.cli import COMMANDS, make_command_parser

EXAMPLES = {
    "hookport completion bash > ~/.local/share/bash-completion/completions/hookport": "Complete in bash",
    "hookport completion zsh > ~/.zfunc/_hookport": "Complete in zsh, with ~/.zfunc in its fpath",
    "hookport completion fish > ~/.config/fish/completions/hookport.fish": "Complete in fish",
}
SHELLS = ("bash", "zsh", "fish", "tcsh")


def add_arguments(parser: ArgumentParser) -> None:
    """The arguments of `hookport completion`."""
    parser.add_argument("shell", metavar="SHELL", choices=SHELLS, help="Shell to complete in")


def run(args: Namespace) -> int:
    """Print what the shell must read."""
    sys.stdout.write((format_fish() if args.shell == "fish" else _format_by_shtab(args.shell)) + "\n")
    return 0


def _format_by_shtab(shell: str) -> str:
    import shtab

    parser = ArgumentParser(prog="hookport")
    commands = parser.add_subparsers()
    for name, summary in COMMANDS.items():
        command = make_command_parser(name)
        # shtab reads a parser, and argparse makes those of subcommands itself.
        commands.add_parser(name, help=summary, parents=[command], add_help=False)
    script: str = shtab.complete(parser, shell)
    return script


def format_fish() -> str:
    """Format the script for fish, which shtab does not write."""
    no_command = "__fish_use_subcommand"
    lines = ["complete -c hookport -e", f"complete -c hookport -n {no_command} -f"]
    lines += [
        f"complete -c hookport -n {no_command} -f -a {name} -d {_quote(summary)}"
        for name, summary in COMMANDS.items()
    ]
    for name in COMMANDS:
        condition = _quote(f"__fish_seen_subcommand_from {name}")
        for action in make_command_parser(name)._actions:  # noqa: SLF001
            lines += [f"complete -c hookport -n {condition} {part}" for part in _format_action(action)]
    return "\n".join(lines)


def _format_action(action: Action) -> list[str]:
    """Format an option with its values, or the values of an argument."""
    values = f"-x -a {_quote(' '.join(map(str, action.choices)))}" if action.choices else ""
    if not action.option_strings:
        return [f"-f {values.removeprefix('-x ')}"] if values else []
    if action.help == SUPPRESS:
        return []
    spelled = [
        f"-l {option[2:]}" if option.startswith("--") else f"-s {option[1:]}"
        for option in action.option_strings
    ]
    takes = "" if action.nargs == 0 else values or "-r"
    return [" ".join(part for part in (*spelled, takes, f"-d {_quote(action.help or '')}") if part)]


def _quote(text: str) -> str:
    """Quote for fish, in which only these two are special between single quotes."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
