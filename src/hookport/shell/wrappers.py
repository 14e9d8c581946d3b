"""Programs that start another program: where its words begin in theirs. One table row each."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

SHELLS = (
    *("ash", "bash", "dash", "fish", "ksh", "mksh", "rbash", "sh", "yash", "zsh"),
    *("eval", "source", "."),
)
# Languages with the options that precede code.
INTERPRETERS = {
    "python": ("-c",),
    "pypy": ("-c",),
    "node": ("-e", "-p", "--eval", "--print", "-pe"),
    "nodejs": ("-e", "-p", "--eval", "--print"),
    "bun": ("-e", "-p", "--eval", "--print"),
    "deno": ("eval",),
    "tsx": ("-e",),
    "perl": ("-e", "-E"),
    "ruby": ("-e",),
    "php": ("-r",),
    "lua": ("-e",),
    "osascript": ("-e",),
    "pwsh": ("-c", "-command"),
    "powershell": ("-c", "-command"),
    "rscript": ("-e",),
    "julia": ("-e",),
    "elixir": ("-e",),
    "groovy": ("-e",),
    "tclsh": (),
    "expect": ("-c",),
    "ipython": ("-c",),
    "guile": ("-c",),
    "emacs": ("--eval", "-eval"),
    "sqlite3": (),
    "jshell": (),
    "ts-node": ("-e",),
    "gdb": ("-ex", "-iex"),
    "lldb": ("-o",),
    "sbcl": ("--eval",),
    "swift": ("-e",),
    "scala": ("-e",),
    "raku": ("-e",),
    "bb": ("-e",),
    "clojure": ("-e",),
    "crystal": ("eval",),
}


def language(program: str) -> str:
    """The language that a program runs, `python` for `python3.12`; empty for others."""
    bare = program.rstrip("0123456789.-") if program not in INTERPRETERS else program
    return bare if bare in INTERPRETERS else ""


def codes(program: str, words: Sequence[str]) -> list[str]:
    """Find the code among the words of an interpreter."""
    options = INTERPRETERS[language(program)]
    letters = [option[1] for option in options if len(option) == 2]
    texts = []
    for number, word in enumerate(words):
        long, equals, value = word.partition("=")
        if equals and long.startswith("--") and long in options:
            texts.append(value)
        elif word.lower() in options:
            texts += words[number + 1 : number + 2]
        elif word.startswith("-") and not word.startswith("--") and len(word) > 2:
            for at, letter in enumerate(word[1:], 1):
                if letter in letters:
                    # `-pe code`, or `-ecode`
                    texts += [word[at + 1 :]] if word[at + 1 :] else words[number + 1 : number + 2]
                    break
    return texts


class Inner:
    """The program of a wrapper: words, or a text for a shell."""

    __slots__ = ("folder", "placeholder", "text", "variables", "words")

    def __init__(
        self, words: Sequence[str] = (), *, text: str = "", folder: str = "", placeholder: str = ""
    ) -> None:
        self.words, self.text, self.folder, self.placeholder = words, text, folder, placeholder
        self.variables: list[tuple[str, str]] = []


class Wrapper:
    """How to parse the words of a wrapper.

    `values` are its options with a value, `skips` the number of words before the program, `verbs` the
    sub-commands that make it a wrapper, `text` the options whose value is a text for a shell; `joins`: all
    words form one text; `feeds`: it adds words of its input.
    """

    skips = 0
    joins = feeds = False
    values = verbs = text = folder = stops = ""

    def __init__(self, row: dict[str, str | int]) -> None:
        self.__dict__.update(row)

    def find_inner(self, words: Sequence[str]) -> Inner | None:
        """Find the program of a wrapper; None if it starts none."""
        rest, inner, skips = list(words), Inner(), self.skips
        values, verbs, texts = self.values.split(), self.verbs.split(), self.text.split()
        folders, stops = self.folder.split(), self.stops.split()
        if verbs:
            at = next((number for number, word in enumerate(rest) if word in verbs), -1)
            if at < 0 or any(not word.startswith("-") for word in rest[:at]):
                return None
            rest = rest[at + 1 :]
        while rest:
            word = rest[0]
            option, equals, value = word.partition("=")
            name = option if option.startswith("--") else word[:2]
            if word in stops:
                return None
            if word == "--":
                rest = rest[1:]
                if not skips:
                    break
                continue
            if word.startswith("-") and len(word) > 1:
                setting = (
                    value
                    if equals and option.startswith("--")
                    else word[2:]
                    if name in values and word[:2] != "--"
                    else ""
                )
                takes = (name in values or option in values) and not setting and not equals
                if not takes and not setting and word[1:].isalpha() and f"-{word[-1]}" in values:
                    # `-qc text`
                    name, takes = f"-{word[-1]}", True
                if takes:
                    setting = rest[1] if len(rest) > 1 else ""
                if name in texts or option in texts:
                    inner.text = setting
                if name in folders or option in folders:
                    inner.folder = setting
                if self.feeds and (option in ("--replace", "-i") or name == "-I"):
                    inner.placeholder = setting or "{}"
                rest = rest[2 if takes else 1 :]
            elif equals and option.isidentifier():
                inner.variables.append((option, value))
                rest = rest[1:]
            elif skips:
                skips -= 1
                rest = rest[1:]
            else:
                break
        if inner.text:
            # `env -S "a b" c`, and `-c text`
            inner.text = " ".join((inner.text, *rest)) if "-S" in texts else inner.text
            return inner
        if self.joins and rest:
            inner.text = " ".join(rest)
            return inner
        inner.words = rest
        return inner


_NO_OPTIONS: dict[str, str | int] = {}
# First those without valued options, then the others; a row becomes a `Wrapper` when used.
WRAPPERS: dict[str, dict[str, str | int]] = {
    **dict.fromkeys(
        """
            builtin busybox caffeinate catchsegv coproc dbus-run-session eatmydata fakeroot nohup
            noglob nocorrect proot rlwrap setsid then time toybox unbuffer winpty xvfb-run
            firejail proxychains torsocks shx else do setpriv prlimit valgrind entr bunx pnpx
        """.split(),
        _NO_OPTIONS,
    ),
    "sudo": {
        "values": "-u -g -C -D -h -p -r -t -T -U -R --user --group --chdir",
        "folder": "-D --chdir",
        "stops": "-l -v -k -K",
    },
    "doas": {"values": "-u -C"},
    "env": {
        "values": "-u -C -S --unset --chdir --split-string",
        "text": "-S --split-string",
        "folder": "-C --chdir",
    },
    "command": {"stops": "-v -V"},
    "exec": {"values": "-a"},
    "nice": {"values": "-n --adjustment"},
    "ionice": {"values": "-c -n -p -P -u --class --classdata"},
    "chrt": {"values": "-T -P -D", "skips": 1},
    "taskset": {"values": "-p", "skips": 1},
    "timeout": {"values": "-s -k --signal --kill-after", "skips": 1},
    "gtimeout": {"values": "-s -k --signal --kill-after", "skips": 1},
    "stdbuf": {"values": "-i -o -e --input --output --error"},
    "chroot": {"skips": 1},
    "flock": {"values": "-c -w -E --command --timeout", "skips": 1, "text": "-c --command"},
    "unshare": {"values": "-R -w -S -G"},
    "nsenter": {"values": "-t -S -G"},
    "strace": {"values": "-o -e -p -s -u -E -P"},
    "ltrace": {"values": "-o -e -p -s -u"},
    "perf": {"values": "-e -o", "verbs": "record stat trace"},
    "hyperfine": {"values": "-w -m -M -r -n -p -c --warmup --runs --prepare", "joins": True},
    "watch": {"values": "-n -d --interval", "joins": True},
    "watchexec": {"values": "-e -w -i -f --exts --watch"},
    "script": {"values": "-c --command -I -O -B -T", "text": "-c --command"},
    "su": {"values": "-c --command -s -g -G", "text": "-c --command", "skips": 1},
    "runuser": {"values": "-c --command -u -s -g -G", "text": "-c --command"},
    "ssh": {"values": "-i -l -p -o -F -L -R -D -J -b -c -E -m -O -Q -S -W -w", "skips": 1, "joins": True},
    "tmux": {
        "values": "-s -n -c -t -x -y -L -f",
        "verbs": "new new-session neww new-window split-window splitw run run-shell send-keys send",
        "joins": True,
    },
    "systemd-run": {"values": "-p -u -E -H -M --unit --property --setenv --slice --working-directory"},
    "screen": {"values": "-S -c -e -h -p -s -t -T"},
    "xargs": {
        "values": "-I -n -P -d -L -s -E -a --max-args --max-procs --delimiter --max-lines --arg-file"
        " --replace",
        "feeds": True,
    },
    "gxargs": {"values": "-I -n -P -d -L -s -E -a", "feeds": True},
    "parallel": {"values": "-I -j -n -N -S -a --jobs --colsep", "feeds": True},
    "npx": {"values": "-p -c --package --call", "text": "-c --call"},
    "uvx": {"values": "-p --python --from --with"},
    "pipx": {"values": "--spec --python", "verbs": "run"},
    "npm": {"values": "-p -c --package --call", "verbs": "exec x", "text": "-c --call"},
    "pnpm": {"values": "-C --dir", "verbs": "exec dlx"},
    "yarn": {"verbs": "exec dlx"},
    "uv": {"values": "-p --python --with --extra --group --project --directory", "verbs": "run"},
    "poetry": {"verbs": "run"},
    "pipenv": {"verbs": "run"},
    "pdm": {"verbs": "run"},
    "hatch": {"verbs": "run"},
    "rye": {"verbs": "run"},
    "bundle": {"verbs": "exec"},
    "mise": {"verbs": "exec x"},
    "asdf": {"verbs": "exec"},
    "direnv": {"verbs": "exec", "skips": 1},
    "conda": {"values": "-n -p", "verbs": "run"},
    "nix-shell": {"values": "-p -A -I --run --command", "text": "--run --command"},
    "dotenv": {"values": "-f -e"},
    "op": {"verbs": "run"},
}
# Programs with a shell text in an option, or in a word after a verb: by verb, then by option.
TEXTS: dict[str, dict[str, tuple[str, ...]]] = {
    "git": {
        "rebase": ("-x", "--exec"),
        "bisect": ("run",),
        "submodule": ("foreach",),
        "filter-branch": ("--tree-filter", "--index-filter", "--msg-filter", "--env-filter"),
        "difftool": ("-x", "--extcmd"),
    },
    "gh": {"alias": ("--shell",)},
    "nix": dict.fromkeys(("develop", "shell"), ("-c", "--command")),
    "screen": {"-X": ("stuff", "exec")},
    "crontab": {},
}
# Settings of git and variables whose value is a text for a shell (git-config(1), git(1), bash(1)).
GIT_PROGRAMS = (
    *("core.editor", "core.pager", "core.sshcommand", "core.askpass", "core.fsmonitor", "sequence.editor"),
    *("diff.external", "credential.helper", "gpg.program", "pager.log", "pager.diff", "pager.show"),
)
# Options of ssh whose value is a text for a shell (ssh_config(5)).
SSH = ("ssh", "scp", "sftp", "sshfs")
SSH_PROGRAMS = ("proxycommand", "localcommand", "knownhostscommand")
SHELL_VARIABLES = (
    *("EDITOR", "VISUAL", "PAGER", "GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "GIT_PAGER", "GIT_SSH_COMMAND"),
    *("GIT_EXTERNAL_DIFF", "GIT_ASKPASS", "MANPAGER", "LESSOPEN", "PROMPT_COMMAND"),
)


def find_shell_code(program: str, words: Sequence[str]) -> list[str]:
    """Find the texts for a shell among the words of another program."""
    texts: list[str] = []
    for number, word in enumerate(words):
        if program == "git" and words[number - 1 : number] == ["-c"] and number:
            texts.append(_read_git_setting(word))
        if (
            program == "git"
            and word.startswith("alias.")
            and words[number + 1 : number + 2]
            and words[number + 1].startswith("!")
        ):
            texts.append(words[number + 1][1:])
        if program in SSH and word.startswith("-o"):
            key, _, value = (word[2:] or "".join(words[number + 1 : number + 2])).partition("=")
            texts.append(value if key.lower() in SSH_PROGRAMS else "")
        if program in ("vi", "vim", "nvim", "ex", "view") and word.startswith(("+!", "!", ":!", "+:!")):
            texts.append(word.lstrip("+:!"))
    verbs = TEXTS.get(program, {})
    for verb, options in verbs.items():
        if verb not in words:
            continue
        for number, word in enumerate(words):
            option, equals, value = word.partition("=")
            if option in options:
                rest = words[number + 1 :]
                is_rest = not option.startswith("-") or program == "nix"
                while is_rest and rest and rest[0].startswith("-"):
                    rest = rest[1:]
                texts += [value] if equals else [_quote_rest(rest)] if is_rest else rest[:1]
    return [text for text in texts if text]


def _read_git_setting(setting: str) -> str:
    """Find the shell text in the value of a git setting."""
    key, _, value = setting.partition("=")
    if value.startswith("!"):
        return value[1:]
    return value if key.lower() in GIT_PROGRAMS else ""


def _quote_rest(words: Sequence[str]) -> str:
    """Interpret words: one is a text for a shell, several are a program with its words."""
    quoted = ("'" + word.replace("'", "'\\''") + "'" for word in words)
    return words[0] if len(words) == 1 else " ".join(quoted)
