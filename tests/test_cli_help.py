"""The help of every command: it fits, it has examples that work, and one option is spelled in one way."""

from __future__ import annotations

import ast
import itertools
import os
import re
import shlex
from argparse import Action
from pathlib import Path

import pytest

from hookport import cli
from hookport.cli import COMMANDS, GROUPS, make_command_parser, words
from hookport.cli.help import format_command
from hookport.errors import UsageError
from tests import forks

# Options whose description is another one for each command; their names and values are the same.
DESCRIBED_BY_COMMAND = {
    "--agent",
    "--all",
    "--event",
    "--format",
    "--hook",
    "--hooks",
    "--jobs",
    "--json",
}
DESCRIBED_BY_COMMAND |= {"--check", "--mode", "--strict"}


def actions_of(command: str) -> list[Action]:
    return make_command_parser(command)._actions


@pytest.mark.parametrize("command", COMMANDS)
def test_help_fits(command: str) -> None:
    parser = make_command_parser(command)
    for width in (80, 60, 100):
        shown = format_command(parser, width)
        # An example is a line that people copy, so it is not broken.
        wide = [line for line in shown.splitlines() if len(line) > width and "  $ " not in line]
        assert wide == []
    examples = [line for line in format_command(parser, 80).splitlines() if line.startswith("  $ ")]
    assert [line for line in examples if len(line) > 100] == []
    for width in (1, 12, 30):
        assert format_command(parser, width).endswith("\n")


@pytest.mark.parametrize("command", COMMANDS)
def test_help_is_made_of_phrases(command: str) -> None:
    parser = make_command_parser(command)
    assert re.fullmatch(r"[A-Z][^.]*[^.\s]", parser.summary)
    assert format_command(parser, 80).startswith(f"{parser.summary}\n\n")
    for action in actions_of(command):
        text = action.help or ""
        assert re.fullmatch(r"[A-Z-].*[^.\s]", text, re.DOTALL), (action.dest, text)
        assert ". " not in text, (action.dest, text)
        assert action.nargs == 0 or action.metavar, action.dest


@pytest.mark.parametrize("command", COMMANDS)
def test_examples_are_commands(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    parser = make_command_parser(command)
    assert parser.examples
    for example, text in parser.examples.items():
        program, name, *args = shlex.split(re.split(r" [<>] ", example)[0])
        assert (program, name) == ("hookport", command)
        assert re.fullmatch(r"[A-Z].*[^.]", text)
        parser.parse(args)


@pytest.mark.parametrize("command", ["check", "completion", "dialects", "explain", "log", "matrix", "status"])
def test_examples_run(command: str, tmp_path: Path) -> None:
    env = {"PATH": "", "HOME": str(tmp_path)}
    for example in make_command_parser(command).examples:
        if "--follow" in example or "settings" in example:
            continue
        words_ = shlex.split(re.split(r" [<>] ", example)[0])[1:]
        done = forks.run(words_, tmp_path, env)
        assert (done.returncode, "error:" in done.stderr) in ((0, False), (2, command == "check")), example


def test_one_option_is_spelled_and_described_in_one_way() -> None:
    forms: dict[str, set[tuple[object, ...]]] = {}
    texts: dict[str, set[str]] = {}
    for command in set(COMMANDS) - set(cli.QUICK):
        for action in actions_of(command):
            for option in action.option_strings:
                forms.setdefault(option, set()).add((tuple(action.option_strings), action.metavar))
                texts.setdefault(option, set()).add(action.help or "")
    assert {option: spelled for option, spelled in forms.items() if len(spelled) > 1} == {}
    several = {option for option, described in texts.items() if len(described) > 1 and option[:2] == "--"}
    assert several == DESCRIBED_BY_COMMAND


def test_several_agents_are_named_in_either_way() -> None:
    for command in COMMANDS:
        for action in actions_of(command):
            if action.dest == "agents":
                parser = make_command_parser(command)
                joined = parser.parse(["--agent", "codex,cursor"])
                repeated = parser.parse(["--agent", "codex", "--agent", "cursor"])
                assert joined.agents == repeated.agents == ["codex", "cursor"]


def test_the_overview_names_every_command_once() -> None:
    text = cli.format_usage()
    assert max(map(len, text.splitlines())) <= 80
    assert [line.split()[0] for line in text.splitlines() if re.match(r"  [a-z]", line)] == [*COMMANDS]
    assert [title for title in GROUPS if f"\n{title}:\n" not in text] == []


def run(*args: str) -> tuple[int, str, str]:
    done = forks.run(args, Path("/"), {"PATH": os.environ["PATH"], "COLUMNS": "80"})
    return done.returncode, done.stdout, done.stderr


def test_help_is_shown_in_each_way() -> None:
    assert run("--help") == run("help") == run("-h") == (0, cli.format_usage(), "")
    assert run() == (2, "", cli.format_usage())
    shown = run("sync", "--help")
    assert shown == run("help", "sync") == run("sync", "-h")
    assert shown[:2] == (0, format_command(make_command_parser("sync"), 80))


MEANT = {
    "install": "sync",
    "lint": "check",
    "uninstall": "unsync",
    "remove": "unsync",
    "list": "status",
    "approve": "trust",
    "validate": "check",
    "export": "convert",
    "migrate": "convert",
    "init": "new",
    "enable": "sync",
    "sycn": "sync",
    "chekc": "check",
    "instal": "sync",
    "completions": "completion",
    "Status": "status",
}


@pytest.mark.parametrize(("word", "command"), MEANT.items())
def test_an_unknown_command_is_answered_with_the_one_that_is_meant(word: str, command: str) -> None:
    with pytest.raises(UsageError) as error:
        words.refuse_command(word)
    assert str(error.value) == f"unknown command '{word}'"
    assert error.value.hint == f"did you mean `hookport {command}`? ({COMMANDS[command]})"


def test_a_word_without_a_meaning_gets_the_list() -> None:
    assert run("xyzzy") == (
        2,
        "",
        "error: unknown command 'xyzzy'\nhint: `hookport --help` lists the commands\n",
    )


def test_an_option_before_the_command_is_named_with_its_place() -> None:
    assert run("-q", "sync") == (
        2,
        "",
        (
            "error: '-q' stands before the command\n"
            "hint: options follow the command: `hookport sync --help` lists them\n"
        ),
    )
    assert run("-q") == (
        2,
        "",
        "error: unknown option '-q'\nhint: `hookport --help` lists the commands and options\n",
    )


@pytest.mark.parametrize(
    "words_",
    [
        ["--agent", "codex,cursor"],
        ["--agent", "codex", "--agent", "cursor"],
        ["--agent", " codex , cursor,"],
        ["--agent=codex,cursor", "--agent", "codex"],
    ],
    ids=" ".join,
)
def test_an_agent_is_named_once_however_it_is_written(words_: list[str]) -> None:
    commands = [name for name in COMMANDS if "--agent" in make_command_parser(name).list_options()]
    named = {
        name: make_command_parser(name).parse(words_).agents
        for name in commands
        if name in ("doctor", "log", "matrix", "prove", "status", "sync", "unsync")
    }
    assert [name for name, agents in named.items() if agents != ["codex", "cursor"]] == []


def list_texts() -> list[tuple[str, str]]:
    """Every text of the source, with its file; of a formatted one the constant parts."""
    source = Path(cli.__file__).parent.parent
    return [
        (f"{path.relative_to(source)}:{node.lineno}", node.value)
        for path in sorted(source.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]


def test_every_command_that_a_text_names_exists() -> None:
    """A hint can be typed: its command is one of hookport's, and has the options that follow."""
    wrong = []
    for place, text in list_texts():
        for line in re.findall(r"`hookport ([a-z][^`|]*)`", text):
            # What a finding fills in stands in braces.
            name, *words_ = re.sub(r"\{.*?\}", "", line).split()
            options = [word.partition("=")[0] for word in itertools.takewhile("--".__ne__, words_)]
            known = make_command_parser(name).list_options() if name in COMMANDS else []
            if name not in {*COMMANDS, "help"} or not {
                word for word in options if word.startswith("-")
            } <= set(known):
                wrong.append((place, line))
    assert wrong == []


def test_words_from_elsewhere_lead_to_what_there_is() -> None:
    assert set(words.BY_WORD) & set(COMMANDS) == set()
    for command in words.COMMAND_WORDS:
        name, *options = command.split()
        assert name in {*COMMANDS, "--version"}
        assert not options or options[0] in make_command_parser(name).list_options()
    every = {option for command in COMMANDS for option in make_command_parser(command).list_options()}
    assert [option for option in words.OPTION_WORDS if option.partition(" ")[0] not in every] == []


@pytest.mark.parametrize(
    ("args", "message", "hint"),
    [
        (
            ["sync", "--agents", "codex"],
            "unknown option '--agents' of `hookport sync`",
            "did you mean `--agent`?",
        ),
        (
            ["status", "--format", "json"],
            "unknown option '--format' of `hookport status`",
            "did you mean `--json`?",
        ),
        (
            ["check", "--source", "x"],
            "unknown option '--source' of `hookport check`",
            "did you mean `--from`?",
        ),
        (["sync", "--dryrun"], "unknown option '--dryrun' of `hookport sync`", "did you mean `--dry-run`?"),
        (["sync", "--js"], "unknown option '--js' of `hookport sync`", "did you mean `--json`?"),
        (
            ["unsync", "--global"],
            "unknown option '--global' of `hookport unsync`",
            "did you mean `--scope user`?",
        ),
        (
            ["sync", "--xyzzy"],
            "unknown option '--xyzzy' of `hookport sync`",
            "`hookport sync --help` lists the options",
        ),
        (
            ["sync", "-z"],
            "unknown option '-z' of `hookport sync`",
            "`hookport sync --help` lists the options",
        ),
        (
            ["sync", "codex,cursor"],
            "unexpected argument 'codex,cursor'",
            "did you mean `--agent codex,cursor`?",
        ),
        (
            ["sync", "--yes"],
            "unknown option '--yes' of `hookport sync`",
            "leave it out: `hookport sync` asks nothing",
        ),
        (["sync", "--agent", " ,"], "--agent: no name given", "`hookport sync --help` shows the usage"),
        (["sync", "-n"], "unknown option '-n' of `hookport sync`", "did you mean `--dry-run`?"),
        (["log", "-a", "codex"], "unknown option '-a' of `hookport log`", "did you mean `--agent`?"),
        (
            ["vendor", "--output", "x"],
            "unknown option '--output' of `hookport vendor`",
            "`hookport vendor --help` lists the options",
        ),
        (["log", "--json=1"], "--json: takes no value, not '1'", "`hookport log --help` shows the usage"),
        (["sync", "x"], "unexpected argument 'x'", "`hookport sync --help` shows the usage"),
        (["sync", "--agent"], "--agent: expected one argument", "`hookport sync --help` shows the usage"),
        (["convert", "x"], "missing argument: --to", "`hookport convert --help` shows the usage"),
        (
            ["doctor", "--agent", "codex,claud-code"],
            "unknown agent 'claud-code'. Did you mean 'claude-code'?",
            "`hookport dialects` lists the agents",
        ),
        (
            ["log", "--limit", "x"],
            "-n/--limit: 'x' is not a number from 0 on",
            "`hookport log --help` shows the usage",
        ),
        (
            ["sync", "--scope", "usr"],
            "--scope: unknown value 'usr'. Did you mean 'user'?",
            "possible values: project, user",
        ),
    ],
)
def test_a_wrong_argument_is_answered_with_the_next_step(args: list[str], message: str, hint: str) -> None:
    assert run(*args) == (2, "", f"error: {message}\nhint: {hint}\n")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_knows_every_command_and_option(shell: str) -> None:
    code, script, _ = run("completion", shell)
    assert code == 0
    assert [command for command in COMMANDS if command not in script] == []
    spelled = [option for option in make_command_parser("sync").list_options() if option[:2] == "--"]
    assert [option for option in spelled if option.lstrip("-") not in script] == []


@pytest.mark.parametrize(
    ("former", "args"),
    [
        (
            "run . --event - --as cursor --name preToolUse",
            "run . --payload - --agent cursor --event preToolUse",
        ),
        ("why --event=here --source .", "why --payload here --hooks ."),
        ("check . --dialect universal --format json", "check . --from universal --json"),
        ("check --format=json", "check --json"),
        ("matrix --agent codex cursor --format json", "matrix --agent codex,cursor --json"),
        ("sync --agent codex cursor --dry-run", "sync --agent codex,cursor --dry-run"),
        ("record --last 3 --from here", "record --limit 3 --recorded here"),
        ("record hooks --from universal", "record hooks --from universal"),
        ("trust --agents --yes", "trust --in-agents --yes"),
    ],
)
def test_spellings_of_the_first_version_work(
    former: str, args: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "here").mkdir()
    command, *words_ = former.split()
    parser = make_command_parser(command)
    assert parser.parse(words_) == parser.parse(args.split()[1:])
