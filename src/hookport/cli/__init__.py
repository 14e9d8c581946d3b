"""The command line: one module per command, loaded when it is the one."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, HelpFormatter
    from typing import NoReturn

COMMANDS = {
    "new": "write a hook that works, with its tests",
    "run": "run hooks on one event and show what they decide",
    "why": "show for every hook whether it would run on an event, and why",
    "test": "run the tests of hooks, for every agent",
    "log": "show what hooks decided",
    "record": "make tests of events that happened",
    "sync": "install hooks into the settings of agents",
    "unsync": "take out what sync installed",
    "status": "show what is installed, whether it holds, and when it ran",
    "undo": "take back what the last run wrote into agents' files",
    "vendor": "put a bridge into this project that needs no installation",
    "trust": "look at what is new in this project's hooks, and approve it",
    "untrust": "take back the approval of this project's hooks",
    "pause": "let hooks of this project rest for a while",
    "convert": "write hooks of one dialect in another",
    "check": "find what is wrong with hooks",
    "doctor": "find hooks that would never fire, and why",
    "prove": "play real agents, and show what hooks do to them",
    "matrix": "show what each agent can do",
    "dialects": "list the dialects",
    "explain": "explain a finding",
    "dispatch": "answer an agent's event; agents call this",
    "wrap": "run one command of another dialect for an agent; agents call this",
    "serve-stdio": "answer the events of a program in another language; programs start this",
    "completion": "print the completion script of a shell",
}
# What agents start on every tool call: it has no time for argparse, nor for what errors import.
QUICK = ("dispatch", "wrap")
HELP = frozenset({"-h", "--help"})
INTERRUPTED = 130


def main(argv: list[str] | None = None) -> int:
    """Run one command; the exit code is 0, 1 for findings, 2 for wrong input, 70 for a bug of ours."""
    args = sys.argv[1:] if argv is None else argv
    if args and args[0] in QUICK and not HELP & set(args):
        from hookport.project.installed import main as answer

        code = answer(args)
        if argv is None:
            # The process is for this only; taking the interpreter apart would cost another 2 ms.
            os._exit(code)
        return code
    from hookport.console.terminal import screen_output

    with screen_output():
        return _run_reporting_errors(args)


def _run_reporting_errors(args: list[str]) -> int:
    from hookport.errors import HookportError, InputError, InternalError

    try:
        code = _run_command(args)
        sys.stdout.flush()
    except InputError as error:
        for problem in error.problems:
            _write_error(f"{problem}")
        _write_error("Nothing was written.")
        return error.exit_code
    except InternalError as bug:
        _write_error(f"this is a bug in hookport: {bug}")
        _write_error("Nothing was written. Please report it with the input that led to it.")
        return bug.exit_code
    except HookportError as error:
        _write_error(str(error))
        return error.exit_code
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        sys.stderr.close()
        return 0
    except Exception as error:  # noqa: BLE001  (no traceback may reach a user)
        _write_error(f"this is a bug in hookport: {type(error).__name__}: {error}")
        _write_error(
            "Nothing was written. Please report it with the input that led to it; "
            "HOOKPORT_DEBUG=1 shows more."
        )
        _print_debug_traceback()
        return InternalError.exit_code
    return code


def _print_debug_traceback() -> None:
    if os.environ.get("HOOKPORT_DEBUG"):
        import traceback

        traceback.print_exc()


def _write_error(line: str) -> None:
    from hookport.console.terminal import make_plain

    sys.stderr.write(f"hookport: {make_plain(line)}\n")


def _run_command(args: list[str]) -> int:
    if args and args[0] in COMMANDS:
        from importlib import import_module

        module = import_module(find_module(args[0]))
        parser = make_command_parser(args[0])
        code: int = module.run(parser.parse_args(args[1:]))
        return code
    return _run_without_command(args)


def find_module(command: str) -> str:
    """Find the module of a command."""
    return f"hookport.cli.{command.replace('-', '_')}"


def make_command_parser(name: str) -> ArgumentParser:
    """Make the parser of one command."""
    from argparse import ArgumentParser
    from importlib import import_module

    from hookport.console.terminal import make_plain

    class Parser(ArgumentParser):
        def error(self, message: str) -> NoReturn:
            super().error(make_plain(message))

    module = import_module(find_module(name))
    description, _, rest = (module.__doc__ or "").partition("\n")
    parser = Parser(
        prog=f"hookport {name}",
        description=description + rest,
        formatter_class=_make_formatter,
    )
    module.add_arguments(parser)
    return parser


def _make_formatter(prog: str) -> HelpFormatter:
    """The width is looked up here, because argparse would import shutil for it on every start."""
    from argparse import RawDescriptionHelpFormatter

    width = os.environ.get("COLUMNS", "")
    if not width.isdigit() and sys.stdout.isatty():
        width = str(os.get_terminal_size(sys.stdout.fileno()).columns)
    return RawDescriptionHelpFormatter(prog, width=int(width) if width.isdigit() else 100)


def _run_without_command(args: list[str]) -> int:
    """Print the version, the help or an error, where no command is given."""
    if args and args[0] in ("--version", "-V"):
        from hookport import __version__

        sys.stdout.write(f"hookport {__version__}\n")
        return 0
    from hookport.errors import HookportError, suggest_closest

    if args and args[0] not in ("--help", "-h", "help"):
        word = "command" if not args[0].startswith("-") else "option"
        _write_error(
            f"unknown {word} '{args[0]}'.{suggest_closest(args[0], tuple(COMMANDS))} Try: hookport --help"
        )
        return HookportError.exit_code
    if len(args) > 1 and args[0] == "help" and args[1] in COMMANDS:
        make_command_parser(args[1]).print_help()
        return 0
    (sys.stdout if args else sys.stderr).write(format_usage())
    return 0 if args else HookportError.exit_code


def format_usage() -> str:
    """Format the overview of all commands."""
    width = max(map(len, COMMANDS))
    lines = [f"  {name:{width}}  {text}" for name, text in COMMANDS.items()]
    return (
        "usage: hookport COMMAND …\n\n"
        "Write a hook for AI coding agents once and run it in every agent.\n\n"
        "commands:\n" + "\n".join(lines) + "\n\n"
        "`hookport COMMAND --help` tells more. "
        "Exit codes: 0 done; 1 an error-level finding, or any loss under\n"
        "--strict; 2 wrong usage or unreadable input; 70 a bug in hookport.\n"
    )
