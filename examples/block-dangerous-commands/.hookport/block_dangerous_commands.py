"""Denies shell commands that destroy work or machines, and those that hide what they do.

`hookport.shell` takes a command apart as the shell would do it: programs are looked at, not texts. What only
the shell can know (`$x`, `$(…)`) is marked in a word and never guessed: a program that is computed is denied.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from hookport import Event, before_tool, deny, run, shell
from hookport.shell import MANY, PART, Command

# Folders that a build recreates: removing one loses nothing.
DISPOSABLE = {"node_modules", "build", "dist", "out", "target", "coverage", "__pycache__", ".venv", ".cache"}
ALWAYS = {
    **dict.fromkeys(("fdisk", "parted", "shred", "wipefs"), "it destroys what is on a disk"),
    **dict.fromkeys(("halt", "poweroff", "reboot", "shutdown"), "it stops the machine"),
    "alias": "an alias hides what runs",
    "dropdb": "it deletes a database",
}
# Words after a program's name that make it dangerous, whatever else follows.
WITH_WORDS = {
    "docker": {"system prune", "volume prune", "volume rm"},
    "gh": {"repo delete"},
    "kubectl": {"delete"},
    "terraform": {"destroy"},
}
# By verb of git: the words that make it dangerous, which may be shortened, and why.
GIT: dict[str, tuple[str, str]] = {
    "push": (r"-\w*[fd]\w*|--(?:for|mir|de).*|[+:].*", "it changes or deletes what others have"),
    "reset": (r"--ha\w*", "it discards work"),
    "clean": (r"-\w*f\w*|--f\w*", "it deletes files that git does not know"),
    "checkout": (r"\.|--|-\w*f|--f\w*", "it discards work"),
    "restore": (r"\.", "it discards work"),
    "branch": (r"-\w*[Df]\w*|--f\w*", "it deletes commits"),
    "stash": (r"drop|clear", "it discards work"),
    "filter-branch": (r".*", "it rewrites history"),
    "reflog": (r"expire|delete", "it deletes what could be restored"),
}
HARMFUL_CODE = re.compile(
    r"\b(?:system|fork|eval|qx|exec(?:[lv]\w{0,2}|Sync|File\w*)?)\b|popen|spawn|subprocess|child_process|getattr"
    r"|rmtree|rm(?:dir)?Sync|unlink|os\.remove|chmod|__import__|import_module|b64decode|fromhex"
)
RUNS_BACKTICKS = ("perl", "php", "ruby")
DEVICE = re.compile(r"/dev/(?:sd|hd|vd|xvd|nvme|mmcblk|disk|mapper/|dm-|loop)\w*")
HIDING = re.compile(
    r"(?:--config-env=)?(?:alias|remote|core\.(?:pager|fsmonitor|sshcommand|hookspath))", re.IGNORECASE
)
COMPUTED = MANY + PART
WRITE_OUT = "write the command out, so that it can be checked"


@before_tool("shell")
def no_dangerous_commands(event: Event) -> object:
    """Deny the first part of the command that is dangerous or cannot be parsed."""
    why = objection(event.command)
    return deny(f"{why}. If it has to be, ask the user to run it.") if why else None


def objection(text: str) -> str:
    """Why a command must not run; empty if it may."""
    if re.search(r"([\w:]+)\s*\(\)\s*\{[^}]*\1\s*\|\s*\1", text):
        return "this starts itself again and again"
    reading = shell.read(text)
    if reading.problem:
        return f"the command cannot be read, {reading.problem}"
    return next(filter(None, map(_objection, reading.commands)), "")


def _objection(command: Command) -> str:
    if any(DEVICE.match(target) for target in command.writes):
        return "it writes to a disk"
    if not command.words:
        return ""
    if not command.program:
        return f"the program is computed; {WRITE_OUT}"
    return _judged(command.program, list(command.words[1:]), command)


def _judged(program: str, rest: list[str], command: Command) -> str:
    if program in ALWAYS or program.startswith("mkfs"):
        return f"`{program}` is not for agents: {ALWAYS.get(program, 'it destroys what is on a disk')}"
    said = " ".join(word for word in rest if not word.startswith("-"))
    for words in WITH_WORDS.get(program, ()):
        if f" {words} " in f" {said} ":
            return f"`{program} {words}` is not for agents"
    if program in RULES:
        return RULES[program](rest, command)
    return _code(program, rest, command) if shell.language(program) else ""


def _is_unknown(word: str) -> bool:
    """Whether a word may turn out to be an option."""
    return MANY in word or (word.startswith(PART) and "/" not in word)


def _letters(rest: list[str], letters: str, *long: str) -> bool:
    """Whether a command has one of these options; a long one may be shortened."""
    return any(
        (re.match(r"-[^-]", word) and any(letter in word for letter in letters))
        or (len(word) > 2 and word.startswith("--") and any(one.startswith(word) for one in long))
        for word in rest
    )


def _rm(rest: list[str], command: Command) -> str:
    if not _letters(rest, "rR", "--recursive"):
        options = rest[: rest.index("--")] if "--" in rest else rest
        why = f"the options of `rm` are computed; put `--` before its files, or {WRITE_OUT}"
        return why if any(map(_is_unknown, options)) or any(MANY in word for word in rest) else ""
    return _rimraf(rest, command)


def _rimraf(rest: list[str], _command: Command) -> str:
    targets = [word for word in rest if not word.startswith("-")]
    if targets and all(_is_disposable(target) for target in targets):
        return ""
    return "recursive deletes need a human"


def _is_disposable(path: str) -> bool:
    parts = [part for part in path.split("/") if part not in ("", ".")]
    is_plain = (
        not re.search(f"[{shell.MARKS}*?\\[{{~]", path) and not path.startswith("/") and ".." not in parts
    )
    return bool(parts) and is_plain and parts[-1] in DISPOSABLE


def _find(rest: list[str], _command: Command) -> str:
    """The command after `-exec` is checked as for every wrapper."""
    named = [rest[number + 1] for number, word in enumerate(rest[:-1]) if re.fullmatch(r"-i?name", word)]
    if "-delete" in rest and not any(re.search(r"\w", name) for name in named):
        return "recursive deletes need a human"
    return ""


def _git(rest: list[str], _command: Command) -> str:
    number = 0
    while number < len(rest) and rest[number].startswith("-"):
        setting = rest[number + 1] if rest[number] == "-c" and number + 1 < len(rest) else rest[number]
        if HIDING.match(setting):
            return f"the setting '{setting}' of `git` hides what runs; {WRITE_OUT}"
        number += 2 if rest[number] in ("-c", "-C", "--git-dir", "--work-tree") else 1
    if number >= len(rest):
        return ""
    verb, given = rest[number], rest[number + 1 :]
    if _is_unknown(verb):
        return f"what `git` is to do is computed; {WRITE_OUT}"
    pattern, why = GIT.get(verb, ("", ""))
    if pattern and any(map(_is_unknown, given)):
        return f"the options of `git {verb}` are computed; {WRITE_OUT}"
    if pattern and any(re.fullmatch(pattern, word) for word in given):
        return f"`git {verb}` in this way needs a human: {why}"
    return ""


def _chmod(rest: list[str], _command: Command) -> str:
    mode = next((word for word in rest if not word.startswith("-")), "")
    if _is_unknown(mode):
        return f"the mode is computed; {WRITE_OUT}"
    if re.fullmatch(r"0?777", mode) or re.search(r"(?:^|,)(?:[ugo]*[oa][ugo]*)?[+=][rxXst]*w", mode):
        return "it lets everyone write"
    return ""


def _to_device(rest: list[str], _command: Command) -> str:
    return "it writes to a disk" if any(DEVICE.search(word) for word in rest) else ""


def _dd(rest: list[str], command: Command) -> str:
    if any(map(_is_unknown, rest)):
        return f"what `dd` writes to is computed; {WRITE_OUT}"
    return _to_device(rest, command)


def _shell(rest: list[str], command: Command) -> str:
    """A shell's own commands are checked elsewhere; a file or a pipe into it cannot be."""
    script = next((word for word in rest if not re.match(r"[-+]", word)), "")
    if any(re.fullmatch(r"-\w*c\w*", word) for word in rest):
        return ""
    if any(char in script for char in COMPUTED):
        return f"the script that the shell runs is computed; {WRITE_OUT}"
    is_unseen = command.is_piped and (
        command.given is None or any(char in command.given for char in COMPUTED)
    )
    if is_unseen and (not script or script.startswith("/dev/") or "-s" in rest):
        return "the shell runs what comes out of a pipe, which nobody has read"
    return ""


def _source(rest: list[str], _command: Command) -> str:
    file = rest[0] if rest else ""
    return f"what is sourced is computed; {WRITE_OUT}" if file.startswith((PART, MANY)) else ""


def _code(program: str, rest: list[str], command: Command) -> str:
    """Code on the command line: no shell parser knows what it does, so harmful words are enough."""
    is_given = bool(shell.codes(program, rest))
    if not is_given and command.given is None and command.is_piped and set(rest) <= {"-"}:
        return f"`{program}` runs what comes out of a pipe, which nobody has read"
    code = " ".join(rest) if is_given else command.given or ""
    if "`" in code and shell.language(program) in RUNS_BACKTICKS:
        return f"this `{program}` starts other programs; do that in the shell"
    if found := HARMFUL_CODE.search(code):
        return f"code for `{program}` with '{found.group()}' in it can do anything; put it into a file first"
    return ""


def _awk(rest: list[str], _command: Command) -> str:
    if re.search(r"system|\|\s*\"|\"\s*\||getline", " ".join(rest)):
        return "this `awk` starts other programs; do that in the shell"
    return ""


Rule = Callable[[list[str], Command], str]
RULES: dict[str, Rule] = {
    "rm": _rm,
    "rimraf": _rimraf,
    "find": _find,
    "git": _git,
    "chmod": _chmod,
    "dd": _dd,
    **dict.fromkeys(("cp", "mv", "tee", "install"), _to_device),
    **dict.fromkeys(("source", "."), _source),
    **dict.fromkeys(("awk", "gawk", "mawk", "nawk"), _awk),
    **dict.fromkeys((name for name in shell.SHELLS if name not in ("eval", "source", ".")), _shell),
}


run(on_failure="closed")
