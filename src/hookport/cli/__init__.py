"""The command line: one module per command, loaded when it is the one."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hookport.cli.parser import Parser

# The commands by task, each with its one-line description.
GROUPS = {
    "Start": {
        "new": "Create a hook with a script and passing tests",
        "convert": "Convert hooks from one dialect to another",
    },
    "Write and test": {
        "check": "Check hooks for mistakes",
        "run": "Run hooks on one event and show what they decide",
        "test": "Run the tests of hooks",
        "record": "Create tests from events that happened",
        "prove": "Run real agents and show what hooks do in them",
    },
    "Install": {
        "sync": "Install hooks into the agents' settings",
        "unsync": "Remove what sync installed",
        "undo": "Revert the last sync, unsync or vendor",
        "trust": "Review and approve the hooks of this project",
        "untrust": "Revoke the approval of this project's hooks",
        "pause": "Pause hooks of this project for a while",
        "vendor": "Add a bridge to this project that needs no installation",
    },
    "Understand": {
        "status": "Show installed hooks and whether agents enforce them",
        "why": "Explain why a hook runs or does not run",
        "doctor": "Find hooks that never run, and what stops them",
        "log": "Show what hooks decided",
        "matrix": "Show what each agent supports",
        "dialects": "List the supported dialects",
        "explain": "Explain a finding by its code",
    },
    "Plumbing": {
        "dispatch": "Answer an agent's event (agents call this)",
        "wrap": "Run one command of another dialect (agents call this)",
        "serve-stdio": "Answer events of a program in another language",
        "ask-guardian": "Ask a Guardian about a hook's event (a hook's command)",
        "completion": "Print the completion script of a shell",
    },
}
COMMANDS = {name: summary for commands in GROUPS.values() for name, summary in commands.items()}
# What agents start on every tool call: it has no time for argparse, nor for what errors import.
QUICK = ("dispatch", "wrap")
HELP = frozenset({"-h", "--help"})
# Commands that write to the project or the user's files: their errors say that nothing was written.
WRITING = frozenset({"new", "convert", "record", "sync", "unsync", "undo", "trust", "vendor"})
INTERRUPTED = 130


def main(argv: list[str] | None = None) -> int:
    """Run one command; the exit code is 0, 1 for findings, 2 for wrong input, 70 for a bug in hookport."""
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
    from hookport.errors import HookportError, InternalError

    try:
        code = _run_command(args)
        sys.stdout.flush()
    except HookportError as error:
        from hookport.cli.problems import report_error

        return report_error(error, args, writes=args[:1] != [] and args[0] in WRITING)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        _discard_output()
        return 0
    except OSError as error:
        return _report_system(error, args)
    except Exception as error:  # noqa: BLE001  (no traceback may reach a user)
        from hookport.cli.problems import report_error

        return report_error(InternalError(f"{type(error).__name__}: {error}"), args, writes=True)
    return code


def _discard_output() -> None:
    """Discard what cannot be written, so that Python does not try again at its end."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.close(nothing)


def _report_system(error: OSError, args: list[str]) -> int:
    """Report what the system refused: a file, or the output if it names none."""
    from hookport.cli.problems import report_error
    from hookport.errors import HookportError

    if not error.filename:
        _discard_output()
    what = os.strerror(error.errno) if error.errno else str(error)
    return report_error(
        HookportError(f"{error.filename or 'cannot write the output'}: {what}"), args, writes=False
    )


def _run_command(args: list[str]) -> int:
    name = args[0] if args else ""
    if name in COMMANDS:
        from importlib import import_module

        module = import_module(find_module(name))
        code: int = module.run(make_command_parser(name).parse(args[1:]))
        return code
    if name == "help" and args[1:] and args[1] not in HELP:
        return _run_command([args[1], "--help"])
    if name in ("--version", "-V"):
        from hookport import __version__

        sys.stdout.write(f"hookport {__version__}\n")
        return 0
    if name and name != "help" and name not in HELP:
        from hookport.cli.words import refuse_command

        refuse_command(name, args[1:])
    # Without a command it is a mistake, as in other tools of this kind.
    (sys.stdout if name else sys.stderr).write(format_usage())
    return 0 if name else 2


def find_module(command: str) -> str:
    """Find the module of a command."""
    return f"hookport.cli.{command.replace('-', '_')}"


def make_command_parser(name: str) -> Parser:
    """Make the parser of one command."""
    from importlib import import_module

    from hookport.cli.parser import Parser

    module = import_module(find_module(name))
    parser = Parser(name, COMMANDS[name], module.__doc__ or "", module.EXAMPLES)
    module.add_arguments(parser)
    return parser


def format_usage() -> str:
    """Format the overview of all commands."""
    column = max(map(len, COMMANDS))
    text = (
        "Write a hook for AI coding agents once and run it in every agent\n\n"
        "Usage: hookport COMMAND [OPTIONS]\n"
    )
    for title, commands in GROUPS.items():
        lines = [f"  {name:{column}}  {summary}\n" for name, summary in commands.items()]
        text += f"\n{title}:\n{''.join(lines)}"
    return (
        f"{text}\nOptions:\n"
        "  -h, --help     Print help; `hookport help COMMAND` prints that of a command\n"
        "  -V, --version  Print the version\n\n"
        "Exit codes:\n"
        "  0   Success\n"
        "  1   Findings at error level, or any loss with --strict\n"
        "  2   Wrong usage or unreadable input\n"
        "  70  A bug in hookport\n"
    )
