"""Commands and options that people try out of habit, and what hookport calls them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from hookport.cli import COMMANDS
from hookport.errors import UsageError, correct_slip, suggest_closest

# What each command is called elsewhere. A command here may have an option.
COMMAND_WORDS = {
    "new": "add create generate init sample-config scaffold",
    "convert": "export import migrate port transform translate migrate-config",
    "check": "analyze audit lint validate validate-config validate-manifest verify",
    "run": "exec execute fire simulate try",
    "test": "tests spec",
    "record": "capture snapshot",
    "prove": "e2e bench measure",
    "sync": "apply autoupdate deploy enable install install-hooks link setup update upgrade",
    "sync --dry-run": "diff plan preview",
    "unsync": "clean delete gc purge remove rm uninstall unlink",
    "undo": "reset restore revert rollback",
    "trust": "accept allow approve confirm lock review sign",
    "untrust": "disapprove disallow forget reject revoke",
    "pause": "disable mute skip snooze stop suspend",
    "pause --end": "continue resume unmute unpause",
    "vendor": "bundle embed pack package",
    "status": "hooks info list ls ps show state tree",
    "why": "debug inspect trace",
    "doctor": "diagnose health troubleshoot",
    "doctor --fix": "fix repair",
    "log": "events history journal tail",
    "matrix": "capabilities compare features support",
    "dialects": "agents formats providers targets",
    "explain": "codes describe finding findings rule rules",
    "--version": "version",
}
BY_WORD = {word: command for command, words in COMMAND_WORDS.items() for word in words.split()}

# What each option is called elsewhere; of several the first that the command has.
OPTION_WORDS = {
    "--json": "--format --output --output-format --machine --as-json",
    "--in-agents": "--agents",
    "--agent": "-a --agents --as --for --target --provider --platform --client --dialect --only",
    "--from": "--dialect --source --input-format --from-dialect",
    "--to": "--target --dest --output-format --agent --agents --dialect",
    "--output": "-o --out --out-dir --output-dir --dir --dest",
    "--payload": "--event-file --input --stdin --file --event",
    "--event": "-e --name --trigger --hook-event",
    "--dry-run": "-n --dry --noop --no-op --plan --preview --simulate --diff --no-write --what-if",
    "--yes": "--force --assume-yes --no-input --non-interactive --confirm",
    "--quiet": "--silent --no-notes --quietly",
    "--scope user": "--global --user",
    "--scope project": "--local --project",
    "--limit": "--last --count --tail --max --lines --number",
    "--since": "--after --from --start",
    "--jobs": "--parallel --workers --processes --threads",
    "--for": "--duration --time --minutes",
    "--end": "--off --resume --stop",
    "--lang": "-l --language --script",
    "--matcher": "--tool --tools --match",
    "--strict": "--error --fail --pedantic --werror",
    "--watch": "--follow",
    "--follow": "--watch",
    "--fix": "--repair --write --autofix",
    "--check": "--verify --locked --frozen",
    "--junit": "--junitxml --junit-xml --report",
    "--exitfirst": "--fail-fast --bail --failfast",
    "--force": "--overwrite --replace",
    "--recorded": "--from --events --folder",
    "--adopt": "--dedupe",
    "--mode": "--method",
}
CONSENT = ("-y", "--yes", *OPTION_WORDS["--yes"].split())
BY_OPTION: dict[str, list[str]] = {}
for _option, _words in OPTION_WORDS.items():
    for _word in _words.split():
        BY_OPTION.setdefault(_word, []).append(_option)


def refuse_command(word: str, rest: Sequence[str] = ()) -> NoReturn:
    """Refuse an unknown command with the one that is probably meant."""
    if word.startswith("-"):
        command = next((name for name in rest if name in COMMANDS), "")
        if not command:
            raise UsageError(
                f"unknown option '{word}'", hint="`hookport --help` lists the commands and options"
            )
        raise UsageError(
            f"'{word}' stands before the command",
            hint=f"options follow the command: `hookport {command} --help` lists them",
        )
    slip = correct_slip(word, tuple(BY_WORD))
    command = BY_WORD.get(word.lower()) or find_nearest(word, tuple(COMMANDS)) or BY_WORD.get(slip, "")
    if not command:
        raise UsageError(f"unknown command '{word}'", hint="`hookport --help` lists the commands")
    summary = COMMANDS.get(command.partition(" ")[0], "")
    about = f" ({summary})" if summary else ""
    raise UsageError(f"unknown command '{word}'", hint=f"did you mean `hookport {command}`?{about}")


def suggest_option(command: str, name: str, value: str, options: Sequence[str]) -> str:
    """Say what to type instead of an unknown option."""
    if meant := find_option(name, value, options):
        return f"did you mean `{meant}`?"
    if name in CONSENT and "--yes" not in options:
        return f"leave it out: `{command}` asks nothing"
    return f"`{command} --help` lists the options"


def find_option(name: str, value: str, options: Sequence[str]) -> str:
    """Find the option that a command calls otherwise; empty if none is near."""
    if name == "--format" and value not in ("", "json") and "--output" in options:
        return "--output"
    for meant in BY_OPTION.get(name.lower(), ()):
        is_other_form = meant == "--json" and value.lower() not in ("", "json")
        if meant.partition(" ")[0] in options and not is_other_form:
            return meant
    return find_nearest(name, [option for option in options if option.startswith("--")])


def find_nearest(word: str, known: Sequence[str]) -> str:
    """Find the nearest of some names; empty if none is near."""
    return suggest_closest(word, tuple(known)).removeprefix(" Did you mean '").removesuffix("'?")
