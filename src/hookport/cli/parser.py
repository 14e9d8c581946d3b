"""The parser of a command: argparse with hookport's help, its errors, and no abbreviated options."""

from __future__ import annotations

import re
import sys
from argparse import Action, ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from typing import NoReturn

from hookport.cli.former import update_spelling
from hookport.errors import UsageError, suggest_closest


class Parser(ArgumentParser):
    """The parser of one command; `examples` are command lines, each with what it does."""

    def __init__(self, name: str, summary: str, about: str, examples: Mapping[str, str]) -> None:
        super().__init__(prog=f"hookport {name}", add_help=False, allow_abbrev=False)
        self.summary = summary
        self._templates = examples
        # The first paragraph of a module is for those who read the code.
        self.about = about.partition("\n\n")[2]
        self.add_argument("-h", "--help", action="help", help="Print help")

    @property
    def examples(self) -> dict[str, str]:
        """The examples, with the ids of agents in them."""
        from hookport.agents import EXAMPLE_NAMES

        return {command.format(**EXAMPLE_NAMES): text for command, text in self._templates.items()}

    def parse(self, args: Sequence[str]) -> Namespace:
        """Parse arguments; UsageError with a suggestion where one is unknown."""
        args = update_spelling(self.prog.removeprefix("hookport "), args)
        self._refuse_unknown(args)
        namespace, rest = self.parse_known_args(args)
        if rest:
            self._refuse_option(rest[0]) if rest[0].startswith("-") else self._refuse_argument(rest[0])
        if "agents" in namespace:
            # An agent that is named twice is one agent.
            namespace.agents = list(dict.fromkeys(namespace.agents))
        return namespace

    def format_help(self) -> str:
        """Format the help in hookport's own layout, which is the same for every version of Python."""
        from hookport.cli.help import find_width, format_command

        return format_command(self, find_width())

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        """End after the help, or raise OSError where it cannot be written."""
        sys.stdout.flush()
        super().exit(status, message)

    def error(self, message: str) -> NoReturn:
        """Raise what argparse would print."""
        text = re.sub(r"^argument ([^ :]+): ", r"\1: ", message)
        text = re.sub(r"ignored explicit argument ('.*')", r"takes no value, not \1", text)
        text = text.replace("the following arguments are required", "missing argument")
        raise UsageError(text, hint=f"`{self.prog} --help` shows the usage")

    def list_options(self) -> list[str]:
        """List every spelling of every option."""
        return [option for action in self._actions for option in action.option_strings]

    def _refuse_unknown(self, args: Sequence[str]) -> None:
        """Refuse an unknown option before a missing argument is complained about."""
        if any(action.nargs == "..." for action in self._actions):
            return
        for word in args[: args.index("--") if "--" in args else len(args)]:
            # What has a blank is a value for argparse too.
            if (
                word.startswith("--")
                and " " not in word
                and word.partition("=")[0] not in self.list_options()
            ):
                self._refuse_option(word, args)

    def _refuse_argument(self, word: str) -> NoReturn:
        """Refuse an argument too many; the name of an agent belongs to `--agent`."""
        from hookport.agents import list_agents

        if "--agent" in self.list_options() and set(word.split(",")) <= set(list_agents()):
            raise UsageError(f"unexpected argument '{word}'", hint=f"did you mean `--agent {word}`?")
        self.error(f"unexpected argument '{word}'")

    def _refuse_option(self, word: str, args: Sequence[str] = ()) -> NoReturn:
        from hookport.cli.words import suggest_option

        name = word.partition("=")[0]
        value = args[args.index(word) + 1] if word in args[:-1] else word.partition("=")[2]
        hint = suggest_option(self.prog, name, value, self.list_options())
        raise UsageError(f"unknown option '{name}' of `{self.prog}`", hint=hint)

    def _check_value(self, action: Action, value: object) -> None:
        """Check a choice; argparse words its message differently from version to version."""
        if action.choices is None or value in action.choices:
            return
        name = "/".join(action.option_strings) or action.metavar
        choices = tuple(map(str, action.choices))
        is_json = value == "json" and "--json" in self.list_options()
        near = "" if is_json else suggest_closest(str(value), choices)
        hint = "use `--json`" if is_json else f"possible values: {', '.join(choices)}"
        raise UsageError(f"{name}: unknown value '{value}'.{near}", hint=hint)
