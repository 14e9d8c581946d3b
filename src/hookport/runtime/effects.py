"""What programs do to the files in their words: a table, and a function where words have an order.

Reading has no effect. A program that no table knows may change every file that it is told.
"""

from __future__ import annotations

import os

from hookport import shell
from hookport.model._value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from hookport.shell import Command

# How far an effect goes: a file, a file with all below it, whatever an archive has in it, all below a folder
# that is not the whole project.
WRITE, TREE, INTO, FOLDER = "write", "tree", "into", "folder"


class Effect(Value):
    """A path that a program changes; `source` is a folder whose content it gets."""

    path: str
    kind: str = WRITE
    source: str = ""


# Programs that change no file in their words, but the values of the options in the first column; with an
# option of the second column they change every file that they are told.
READERS: dict[str, tuple[str, str]] = {
    **dict.fromkeys(
        (
            *("cat", "tac", "head", "tail", "less", "more", "bat", "batcat", "nl", "wc", "grep", "egrep"),
            *(
                "fgrep",
                "rg",
                "ag",
                "ack",
                "ls",
                "exa",
                "eza",
                "dir",
                "vdir",
                "stat",
                "file",
                "du",
                "df",
                "ncdu",
            ),
            *(
                "cmp",
                "comm",
                "cut",
                "tr",
                "column",
                "fold",
                "fmt",
                "od",
                "hexdump",
                "strings",
                "md5sum",
                "join",
            ),
            *(
                "sha1sum",
                "sha224sum",
                "sha256sum",
                "sha384sum",
                "sha512sum",
                "shasum",
                "cksum",
                "b2sum",
                "sum",
            ),
            *("md5", "base64", "base32", "echo", "printf", "print", "true", "false", ":", "test", "[", "[["),
            *("((", "let", "cd", "pushd", "popd", "pwd", "which", "type", "command", "whereis", "whence"),
            *(
                "realpath",
                "readlink",
                "dirname",
                "basename",
                "jq",
                "gron",
                "fx",
                "shellcheck",
                "export",
                "set",
            ),
            *(
                "unset",
                "shopt",
                "return",
                "exit",
                "wait",
                "sleep",
                "date",
                "id",
                "whoami",
                "man",
                "info",
                "tldr",
            ),
            *(
                "local",
                "declare",
                "typeset",
                "readonly",
                "read",
                "mapfile",
                "readarray",
                "hash",
                "umask",
                "ulimit",
            ),
            *(
                "trap",
                "alias",
                "unalias",
                "shift",
                "getopts",
                "jobs",
                "fg",
                "bg",
                "kill",
                "disown",
                "history",
            ),
            *("get-content", "gc", "select-string", "get-childitem", "gci", "test-path", "get-item"),
            *(
                "measure-object",
                "compare-object",
                "get-filehash",
                "namei",
                "lsof",
                "fuser",
                "getfacl",
                "lsattr",
            ),
            *(
                "jsonlint",
                "yamllint",
                "actionlint",
                "markdownlint",
                "vale",
                "cspell",
                "hadolint",
                "checkbashisms",
            ),
            *(
                "mypy",
                "pyright",
                "pylint",
                "flake8",
                "bandit",
                "semgrep",
                "ajv",
                "check-jsonschema",
                "gitleaks",
            ),
            *("detect-secrets", "cloc", "tokei", "scc", "open", "xdg-open", "zcat", "zgrep"),
            *("shuf", "paste", "expand", "unexpand", "pr", "look", "ps", "pgrep", "env", "printenv", "eval"),
            *(
                "source",
                ".",
                "watch",
                "gpg-verify",
                "sha3sum",
                "xsum",
                "difft",
                "delta",
                "colordiff",
                "vimdiff3",
            ),
            *(
                "aspell",
                "codespell-check",
                "nm",
                "objdump",
                "readelf",
                "ldd",
                "size",
                "tsort",
                "numfmt",
                "seq",
            ),
            *(
                "say",
                "notify-send",
                "pbcopy",
                "xclip",
                "clip",
                "wl-copy",
                "fzf",
                "peek",
                "kcov-check",
                "groups",
            ),
        ),
        ("", ""),
    ),
    "sort": ("-o --output", ""),
    "tree": ("-o", ""),
    "diff": ("--output", ""),
    "yq": ("", "-i --inplace --in-place"),
    "dasel": ("-o --out", "put delete"),
    "prettier": ("", "--write -w"),
    "shfmt": ("", "-w --write"),
    "clang-format": ("", "-i"),
    "gofmt": ("", "-w"),
    "eslint": ("-o --output-file", "--fix"),
    "biome": ("", "--write --apply --fix --apply-unsafe"),
    "ruff": ("-o --output-file", "--fix --fix-only format"),
    "codespell": ("", "-w -i --write-changes"),
    "typos": ("", "-w --write-changes"),
    "xmllint": ("--output", ""),
    "curl": ("-o --output -D --dump-header -c --cookie-jar --trace --trace-ascii --stderr --output-dir", ""),
    "wget": ("-O --output-document -P --directory-prefix -o --output-file -a", ""),
    "openssl": ("-out -keyout", ""),
    "http": ("-o --output", ""),
    "zip": ("", "-m --move"),
    "fd": ("", ""),
    "fdfind": ("", ""),
    "pandoc": ("-o --output", ""),
    "strace": ("-o", ""),
    "time": ("-o --output", ""),
    "gh": ("-O --output -D --dir", ""),
    "scp": ("", ""),
    "ajv-cli": ("-o", ""),
    **dict.fromkeys(("psql", "mysql", "mariadb"), ("-o --output -L --log-file --tee", "")),
    **dict.fromkeys(("redis-cli", "valkey-cli", "mongosh"), ("", "")),
}
# Programs that only look when one of these options is there.
LOOKING: dict[str, str] = {
    "black": "--check --diff",
    "isort": "--check --check-only -c --diff",
    "rustfmt": "--check",
    "taplo": "lint check get",
    "terraform": "validate plan show",
    "pre-commit": "validate-config sample-config",
    "gzip": "-l -t -c -k --list --test --stdout --keep",
    "bzip2": "-t -c -k",
    "xz": "-l -t -c -k",
    "zstd": "-l -t -c",
    "unzip": "-l -t -p -Z -v",
    "code": "--diff -d",
    "vim": "-R -M",
    "view": "",
    "patch": "--dry-run",
    "rsync": "-n --dry-run",
    "npm": "ls list view run test",
}
# All their operands are changed; those in TREES with everything below.
WRITERS = (
    *("touch", "tee", "truncate", "shred", "mkdir", "mkfifo", "mknod", "sponge", "ed", "ex", "dos2unix"),
    *("unix2dos", "set-content", "add-content", "clear-content", "out-file", "new-item", "setfacl", "chattr"),
)
TREES = (
    *("rm", "grm", "rmdir", "unlink", "trash", "trash-put", "rimraf", "del-cli", "remove-item", "ri", "del"),
    *(
        "erase",
        "rd",
        "srm",
        "wipe",
        "move-item",
        "rename-item",
        "ren",
        "rename",
        "prename",
        "mount",
        "umount",
    ),
    *("del", "fs_usage", "gio", "detox", "mmv", "convmv", "stow"),
)
GLOBBING = ("mmv", "rimraf", "del-cli", "del", "trash", "erase", "remove-item", "ri")
MODES = ("chmod", "chown", "chgrp", "xattr", "icacls", "attrib")
COPIERS = (
    "cp",
    "gcp",
    "mv",
    "gmv",
    "install",
    "ginstall",
    "scp",
    "rsync",
    "copy-item",
    "copy",
    "xcopy",
    "robocopy",
    "ditto",
)
# Options of copying programs that have a value of their own.
COPY_VALUES = (
    "-S",
    "--suffix",
    "-m",
    "--mode",
    "-o",
    "--owner",
    "-g",
    "--group",
    "-e",
    "--rsh",
    "--exclude",
    "--include",
    "-i",
    "-P",
    "-F",
)
SED = ("sed", "gsed")
AWK = ("awk", "gawk", "mawk", "nawk")
# Verbs of git that change nothing in the work tree that they are told by path.
GIT_READERS = (
    *(
        "add",
        "annotate",
        "blame",
        "branch",
        "cat-file",
        "check-attr",
        "check-ignore",
        "cherry",
        "commit",
        "config",
    ),
    *(
        "count-objects",
        "describe",
        "diff",
        "diff-index",
        "diff-tree",
        "fetch",
        "for-each-ref",
        "format-patch",
    ),
    *(
        "fsck",
        "gc",
        "grep",
        "hash-object",
        "help",
        "init",
        "log",
        "ls-files",
        "ls-remote",
        "ls-tree",
        "merge-base",
    ),
    *("name-rev", "notes", "push", "range-diff", "reflog", "remote", "rev-list", "rev-parse", "shortlog"),
    *("show", "show-branch", "show-ref", "status", "tag", "var", "version", "whatchanged", "symbolic-ref"),
    *(
        "pull",
        "merge",
        "rebase",
        "cherry-pick",
        "revert",
        "switch",
        "bisect",
        "maintenance",
        "prune",
        "bundle",
    ),
)
GIT_VALUES = ("-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env")


def effects(command: Command) -> Iterator[Effect]:
    """The paths that a command changes, but for its redirections."""
    name, words = command.program, list(command.words[1:])
    if name in READERS:
        yield from _reader(words, *READERS[name])
        if name in ("curl", "wget"):
            yield from _downloads(name, words)
        if name == "scp":
            yield from _copied(name, words)
    elif name in LOOKING and _has_option(words, LOOKING[name].split()):
        return
    elif name in RULES:
        yield from RULES[name](name, words, command)
    elif name in SED:
        yield from _sed(words)
    elif name in AWK:
        yield from _awk(words)
    elif name in MODES:
        yield from _modes(words)
    elif name in TREES:
        yield from (Effect(_own_glob(name, word), TREE) for word in _operands(words))
    elif name in COPIERS:
        yield from _copied(name, words)
    elif shell.language(name):
        yield from _language(name, words, command)
    elif name in shell.SHELLS and _has_option(words[:1], ("-n",)):
        # It only looks whether it could read them.
        return
    elif name in shell.SHELLS:
        # The script that it runs, then what that is told.
        if not _has_option(words, ("-c",)):
            yield from (Effect(part) for word in _operands(words)[1:] for part in _parts(word))
    elif name in LOOKING:
        yield from (Effect(part, FOLDER) for word in words for part in _parts(word))
    else:
        # Nobody knows what it does with them. A folder with a dot is that of an agent.
        for part in (part for word in words for part in _parts(word)):
            yield Effect(part, FOLDER if os.path.basename(part.rstrip("/")).startswith(".") else WRITE)


def _own_glob(name: str, word: str) -> str:
    """A word of a program that reads patterns by itself, with marks for these."""
    if name not in GLOBBING:
        return word
    return word.replace("**", shell.DEEP).replace("*", shell.STAR).replace("?", shell.ONE)


def _parts(word: str) -> Iterator[str]:
    """The paths that a word may have in it: `--output=PATH`, `of=PATH`, `PATH:PATH`, `@PATH`."""
    values = [word] if not word.startswith("-") else []
    if "=" in word:
        values.append(word.partition("=")[2])
    if "," in word:
        values += [one.rpartition(":")[2] for one in word.split(",")]
    if ":" in word:
        values += word.split(":")
    if word.startswith("@"):
        values.append(word[1:])
    if word.startswith("-") and not word.startswith("--") and len(word) > 2:
        values.append(word[2:])
    yield from dict.fromkeys(value for value in values if value)


def _operands(words: Sequence[str]) -> list[str]:
    """The words that are no options; all of them after `--`."""
    if "--" in words:
        at = list(words).index("--")
        return [word for word in words[:at] if not word.startswith("-")] + list(words[at + 1 :])
    return [word for word in words if not word.startswith("-") or word == "-"]


def _has_option(words: Sequence[str], options: Sequence[str]) -> bool:
    for word in words:
        for option in options:
            if word == option or (option.startswith("--") and word.partition("=")[0] == option):
                return True
            is_letter = option.startswith("-") and not option.startswith("--") and len(option) == 2
            if is_letter and word.startswith("-") and not word.startswith("--") and option[1] in word[1:]:
                return True
    return False


def _values(words: Sequence[str], options: Sequence[str]) -> Iterator[str]:
    """The values of options, also of those that are written together with them."""
    for number, word in enumerate(words):
        option, equals, value = word.partition("=")
        if word in options:
            yield from words[number + 1 : number + 2]
        elif equals and option in options:
            yield value
        elif not word.startswith("--") and word[:2] in options and len(word) > 2:
            yield word[2:]
        elif (
            word.startswith("-") and not word.startswith("--") and len(word) > 2 and f"-{word[-1]}" in options
        ):
            yield from words[number + 1 : number + 2]


def _reader(words: list[str], written: str, changing: str) -> Iterator[Effect]:
    yield from (Effect(value) for value in _values(words, written.split()))
    if changing and _has_option(words, changing.split()):
        yield from (Effect(word, FOLDER) for word in _operands(words))


def _downloads(name: str, words: list[str]) -> Iterator[Effect]:
    """A name that is made of the URL, in the folder."""
    is_named = name == "wget" or _has_option(words, ("-O", "--remote-name", "--remote-name-all", "-J"))
    if name == "wget" and any(True for _ in _values(words, ("-O", "--output-document"))):
        is_named = False
    folders = ("--output-dir",) if name == "curl" else ("-P", "--directory-prefix")
    folder = next(_values(words, folders), "")
    if folder and name == "curl":
        yield from (Effect(os.path.join(folder, one)) for one in _values(words, ("-o", "--output")))
    for word in words if is_named else ():
        if "://" in word:
            yield Effect(os.path.join(folder, word.rstrip("/").rpartition("/")[2].partition("?")[0]))


def _sed(words: list[str]) -> Iterator[Effect]:
    scripts = list(_values(words, ("-e", "--expression")))
    is_named = any(True for _ in _values(words, ("-e", "--expression", "-f", "--file")))
    files = _operands(words)
    if not is_named:
        scripts, files = files[:1], files[1:]
    # `-i`, `-ni`, `-i.bak`, but not `-ei`
    if any(
        word.startswith("--in-place")
        or (word.startswith("-") and not word.startswith("--") and "i" in word.partition("e")[0])
        for word in words
    ):
        yield from (Effect(file) for file in files)
        # BSD: `-i ''`
        yield from (Effect(file) for file in _operands(words) if file not in scripts)
    for script in scripts:
        for mark in ("w ", "W "):
            for piece in script.split(mark)[1:]:
                yield Effect(piece.partition("\n")[0].partition("}")[0].strip())


def _awk(words: list[str]) -> Iterator[Effect]:
    operands = _operands(words)
    if any(word == "inplace" or word.endswith("inplace") for word in words):
        yield from (Effect(word) for word in operands)
    for text in operands[:1] if not _has_option(words, ("-f",)) else ():
        if ">" in text or "|" in text or "system" in text:
            yield from (Effect(piece) for piece in literals(text))
            # What is written to may be put together.
            yield Effect("".join(literals(text)))


def literals(code: str) -> list[str]:
    """The strings in some code."""
    found, at = [], 0
    while at < len(code):
        quote = code[at]
        if quote not in "'\"`":
            at += 1
            continue
        end = at + 1
        while end < len(code) and code[end] != quote:
            end += 2 if code[end] == "\\" else 1
        found.append(code[at + 1 : end])
        at = end + 1
    return found


def _modes(words: list[str]) -> Iterator[Effect]:
    operands = [word for word in words if not word.startswith("-") or not set(word[1:]) <= set("RfvchHLP")]
    mode = operands[0] if operands else ""
    if mode and all(_adds(clause) for clause in mode.split(",")):
        return
    kind = TREE if _has_option(words, ("-R", "--recursive", "/s", "/S")) else WRITE
    yield from (Effect(word, kind) for word in operands if not word.startswith("--"))
    yield from (Effect(value, kind) for value in _values(words, ("--reference",)))


def _adds(clause: str) -> bool:
    """Whether a mode only lets more people read and run, or the owner write."""
    who, plus, what = clause.partition("+")
    return bool(plus) and set(who) <= set("ugoa") and set(what) <= set("rxXw" if who == "u" else "rxX")


def _copied(name: str, words: list[str]) -> Iterator[Effect]:
    """The last operand, or that of `-t`, is written to."""
    skipped = set(_values(words, COPY_VALUES)) if name in ("rsync", "scp", "install", "ginstall") else set()
    operands = [word for word in _operands(words) if word not in skipped]
    folders = list(_values(words, ("-t", "--target-directory")))
    if name in ("install", "ginstall") and _has_option(words, ("-d", "--directory")):
        yield from (Effect(word) for word in operands)
        return
    if name in ("mv", "gmv", "move-item") or _has_option(words, ("--remove-source-files",)):
        yield from (Effect(word, TREE) for word in (operands if folders else operands[:-1]))
    sources, targets = (
        ([one for one in operands if one not in folders], folders)
        if folders
        else (operands[:-1], operands[-1:])
    )
    for target in targets:
        if ":" in target.partition("/")[0] and name in ("scp", "rsync"):
            continue
        if name == "rsync" and _has_option(
            words, ("--delete", "--delete-after", "--delete-before", "--del", "--delete-excluded")
        ):
            yield Effect(target, TREE)
        yield Effect(target)
        for source in sources:
            if ":" in source.partition("/")[0] and name in ("scp", "rsync") and not source.endswith("/"):
                # Nobody can look what is in a folder of another machine.
                there = source.rpartition(":")[2].rstrip("/").rpartition("/")[2]
                yield Effect(os.path.join(target, there), FOLDER)
                continue
            if name == "rsync" and _has_option(words, ("-R", "--relative")):
                yield Effect(os.path.join(target, source.rpartition("/./")[2].lstrip("/")), WRITE, source)
            base = os.path.basename(source.rstrip("/"))
            is_content = name == "rsync" and source.endswith("/")
            if base and base not in (".", "..") and not is_content:
                yield Effect(os.path.join(target, base), WRITE, source)
                yield Effect(target, WRITE, source)
            else:
                yield Effect(target, WRITE, source)


def _link(_name: str, words: list[str], _command: Command) -> Iterator[Effect]:
    """A link to a protected file is another name for it."""
    yield from (Effect(word, TREE) for word in _operands(words))
    yield from (Effect(value) for value in _values(words, ("-t", "--target-directory")))


def _container(_name: str, words: list[str], _command: Command) -> Iterator[Effect]:
    """A folder of the project that a container may write to; the project itself is not named by that."""
    yield from (Effect(source, FOLDER) for source, _ in mounted(words))
    if words[:1] == ["cp"]:
        yield from (Effect(word) for word in words[2:])


def mounted(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The folders that a container may write to, and where it has them."""
    for value in _values(words, ("-v", "--volume", "--mount")):
        source, _, rest = value.partition(":")
        target = rest.partition(":")[0]
        if "," in value and "=" in value:
            told = dict(one.partition("=")[::2] for one in value.split(","))
            source = told.get("source", told.get("src", ""))
            target = told.get("target", told.get("destination", told.get("dst", "")))
        if not rest.endswith(":ro") and not value.endswith((",readonly", ",ro")):
            yield source, target


def _dd(_name: str, words: list[str], _command: Command) -> Iterator[Effect]:
    yield from (Effect(word.partition("=")[2]) for word in words if word.startswith("of="))


def _find(_name: str, words: list[str], _command: Command) -> Iterator[Effect]:
    from hookport.shell.outputs import listing

    if "-delete" in words:
        yield from (Effect(path, TREE) for path in listing(["find", *words]))
    yield from (Effect(value) for value in _values(words, ("-fprint", "-fprint0", "-fls", "-fprintf")))


def _tar(_name: str, words: list[str], _command: Command) -> Iterator[Effect]:
    letters = words[0] if words and not words[0].startswith("-") and words[0].isalpha() else ""
    letters += "".join(word[1:] for word in words if word.startswith("-") and not word.startswith("--"))
    if letters and words and words[0].isalpha():
        words = ["-" + words[0], *words[1:]]
    archives = list(_values(words, ("-f", "--file")))
    folders = list(_values(words, ("-C", "--directory")))
    if "x" in letters or _has_option(words, ("--extract", "--get")):
        operands = [word for word in _operands(words) if word not in (*archives, *folders)]
        for folder in folders or ["."]:
            if operands:
                yield from (Effect(os.path.join(folder, word), TREE) for word in operands)
            else:
                yield Effect(folder, INTO, archives[0] if archives and archives[0] != "-" else "")
    elif "t" in letters or _has_option(words, ("--list", "--diff", "--compare")):
        return
    else:
        yield from (Effect(archive) for archive in archives)
        if _has_option(words, ("--remove-files",)):
            yield from (Effect(word, TREE) for word in _operands(words) if word not in archives)


def _unzip(_name: str, words: list[str], _command: Command) -> Iterator[Effect]:
    folders = list(_values(words, ("-d",))) or ["."]
    operands = [word for word in _operands(words) if word not in folders]
    for folder in folders:
        if len(operands) > 1:
            yield from (Effect(os.path.join(folder, word), TREE) for word in operands[1:])
        else:
            yield Effect(folder, INTO, operands[0] if operands else "")


def _jar(_name: str, words: list[str], _command: Command) -> Iterator[Effect]:
    letters = words[0].lstrip("-") if words else ""
    if "x" in letters:
        yield Effect(
            next(_values(words, ("-C",)), "."), INTO, words[1] if "f" in letters and words[1:] else ""
        )
    elif "t" not in letters:
        yield from (Effect(word) for word in words[1:2])


def _uniq(_name: str, words: list[str], _command: Command) -> Iterator[Effect]:
    """The second operand is the output."""
    values = set(_values(words, ("-f", "-s", "-w", "-l", "-c", "-g")))
    yield from (Effect(word) for word in [word for word in _operands(words) if word not in values][1:2])


def _aria(_name: str, words: list[str], _command: Command) -> Iterator[Effect]:
    folder = next(_values(words, ("-d", "--dir")), "")
    named = list(_values(words, ("-o", "--out")))
    named += [word.rstrip("/").rpartition("/")[2] for word in words if "://" in word and not named]
    yield from (Effect(os.path.join(folder, one)) for one in named)


def _database(_name: str, words: list[str], _command: Command) -> Iterator[Effect]:
    yield from (Effect(word) for word in _operands(words)[:1])


def _seven(_name: str, words: list[str], _command: Command) -> Iterator[Effect]:
    if words[:1] in (["x"], ["e"]):
        folders = [word[2:] for word in words if word.startswith("-o")] or ["."]
        operands = _operands(words)[1:]
        yield from (Effect(folder, INTO, operands[0] if operands else "") for folder in folders)
    elif words[:1] not in (["l"], ["t"], ["i"]):
        yield from (Effect(word) for word in _operands(words)[1:2])


def _cpio(_name: str, words: list[str], _command: Command) -> Iterator[Effect]:
    if _has_option(words, ("-i", "--extract")):
        yield Effect(next(_values(words, ("-D", "--directory")), "."), INTO)
    elif _has_option(words, ("-p", "--pass-through")):
        yield from (Effect(word, INTO) for word in _operands(words))
    else:
        yield from (Effect(value) for value in _values(words, ("-O", "-F", "--file")))


def _pax(_name: str, words: list[str], _command: Command) -> Iterator[Effect]:
    archive = next(_values(words, ("-f",)), "")
    if _has_option(words, ("-r",)):
        yield Effect(".", INTO, archive)
    elif _has_option(words, ("-w",)) and archive:
        yield Effect(archive)


def _writer(_name: str, words: list[str], _command: Command) -> Iterator[Effect]:
    yield from (Effect(part) for word in _operands(words) for part in _parts(word))


def _mkdir(_name: str, words: list[str], _command: Command) -> Iterator[Effect]:
    values = set(_values(words, ("-m", "--mode")))
    yield from (Effect(word) for word in _operands(words) if word not in values)


def _language(name: str, words: list[str], command: Command) -> Iterator[Effect]:
    """Without code the first word is the program that it runs; the rest is what that may change."""
    codes = shell.codes(name, words)
    operands = [word for word in words if word not in codes and (not word.startswith("-") or word == "-")]
    if "-m" in words:
        module = next(_values(words, ("-m",)), "")
        rest = words[words.index("-m") + 2 :]
        if module == "json.tool":
            operands = _operands(rest)[1:]
        else:
            inner = command.replace(words=(module.partition(".")[0], *rest))
            if module in ("zipfile", "tarfile"):
                if _has_option(rest, ("-e", "--extract")):
                    yield from (Effect(word, INTO) for word in _operands(rest)[1:] or ["."])
                return
            if module in ("py_compile", "compileall", "unittest", "pytest", "http.server", "doctest"):
                return
            yield from effects(inner)
            return
    elif not codes and command.given is None:
        operands = operands[1:]
    is_text = shell.language(name) in ("perl", "ruby")
    if is_text and codes:
        letters = "".join(
            word[1:].partition("e")[0] for word in words if word.startswith("-") and not word.startswith("--")
        )
        if "i" not in letters and not any(word in code for code in codes for word in CHANGING_CODE):
            return
    elif codes and all(is_reading(code) for code in codes):
        return
    yield from (Effect(part) for word in operands for part in _parts(word))


CHANGING_CODE = (
    "open",
    "unlink",
    "rename",
    "system",
    "exec",
    "`",
    ">",
    "write",
    "File",
    "rm",
    "qx",
    "eval",
    "do ",
)


def _git(_name: str, words: list[str], _command: Command) -> Iterator[Effect]:
    verb, rest, folder = git_verb(words)
    prefix = folder + "/" if folder else ""
    values = list(_values(rest, ("-o", "--output", "--output-directory")))
    if verb in ("archive", "diff", "log", "show", "format-patch", "bundle"):
        yield from (Effect(prefix + value) for value in values)
    if verb in GIT_READERS or not verb:
        return
    if verb == "reset" or (
        verb == "restore"
        and _has_option(rest, ("-S", "--staged"))
        and not _has_option(rest, ("-W", "--worktree"))
    ):
        # With a path these change the index alone.
        return
    if verb in ("checkout", "restore", "stash", "read-tree", "checkout-index", "clean"):
        operands = rest[rest.index("--") + 1 :] if "--" in rest else _operands(rest)
        for word in operands:
            named = _pathspec(word)
            if "*" in named and named.strip("*./"):
                # Unlike the shell's, the star of git also stands for folders.
                named = named.replace("**", "*").replace("*", shell.DEEP)
            # The whole tree is not named; what comes of that is for the approval to see.
            if named not in (".", "./", "") and verb != "clean":
                yield Effect(prefix + named, TREE)
        return
    if verb in ("rm", "mv"):
        if _has_option(rest, ("-n", "--dry-run", "--cached")):
            return
        operands = [prefix + _pathspec(word) for word in _operands(rest)]
        yield from (Effect(word, TREE) for word in (operands if verb == "rm" else operands[:-1]))
        if verb == "mv":
            yield from _copied("cp", operands)
        return
    if verb in ("apply", "am"):
        yield from (Effect(prefix + value, TREE) for value in _values(rest, ("--directory",)))
        return
    if verb in ("clone", "worktree", "submodule", "sparse-checkout", "subtree"):
        yield from (Effect(prefix + word, FOLDER) for word in _operands(rest))
        return
    yield from (Effect(prefix + part) for word in rest for part in _parts(word))


def _pathspec(word: str) -> str:
    """The path of a pathspec: `:/x` and `:(top)x` count from the root of the work tree."""
    if word.startswith(":("):
        return word.partition(")")[2]
    return word.lstrip(":/") if word.startswith(":/") else word


def git_verb(words: Sequence[str]) -> tuple[str, list[str], str]:
    """What git is to do, the words after that, and the folder of `-C`."""
    folder, left = "", list(words)
    while left and left[0].startswith("-"):
        if left[0] == "-C" and len(left) > 1:
            folder = os.path.join(folder, left[1])
        left = left[2 if left[0] in GIT_VALUES else 1 :]
    return (left[0], left[1:], folder) if left else ("", [], folder)


# Names that code may use which only reads; others may be anything.
SAFE_CODE = frozenset(
    [
        "import",
        "from",
        "as",
        "with",
        "for",
        "in",
        "if",
        "else",
        "elif",
        "not",
        "and",
        "or",
        "is",
        "None",
        "True",
        "False",
        "print",
        "pprint",
        "def",
        "return",
        "lambda",
        "try",
        "except",
        "pass",
        "json",
        "sys",
        "os",
        "re",
        "pathlib",
        "Path",
        "path",
        "toml",
        "tomllib",
        "yaml",
        "load",
        "loads",
        "safe_load",
        "dumps",
        "dump_str",
        "open",
        "read",
        "read_text",
        "read_bytes",
        "readlines",
        "readline",
        "splitlines",
        "strip",
        "split",
        "join",
        "get",
        "keys",
        "values",
        "items",
        "len",
        "sorted",
        "list",
        "dict",
        "set",
        "tuple",
        "str",
        "int",
        "bool",
        "enumerate",
        "zip",
        "range",
        "any",
        "all",
        "min",
        "max",
        "sum",
        "exists",
        "isfile",
        "isdir",
        "is_file",
        "is_dir",
        "listdir",
        "stat",
        "st_size",
        "st_mtime",
        "st_mode",
        "getsize",
        "abspath",
        "realpath",
        "basename",
        "dirname",
        "resolve",
        "name",
        "stem",
        "suffix",
        "argv",
        "stdin",
        "stdout",
        "environ",
        "encoding",
        "utf",
        "indent",
        "ensure_ascii",
        "sort_keys",
        "startswith",
        "endswith",
        "isinstance",
        "type",
        "format",
        "hashlib",
        "sha256",
        "md5",
        "hexdigest",
        "digest",
        "encode",
        "decode",
        "ascii",
        "rb",
        "rt",
        "glob",
        "rglob",
        "iterdir",
        "walk",
        "Counter",
        "collections",
        "itertools",
        "findall",
        "search",
        "match",
        "group",
        "const",
        "let",
        "var",
        "require",
        "fs",
        "readFileSync",
        "existsSync",
        "statSync",
        "readdirSync",
        "JSON",
        "parse",
        "stringify",
        "console",
        "log",
        "process",
        "map",
        "filter",
        "forEach",
        "length",
        "Object",
        "entries",
        "toString",
        "function",
        "then",
        "await",
        "async",
        "of",
        "puts",
        "File",
        "readable",
        "while",
        "break",
        "continue",
        "hooks",
        "assert",
        "raise",
        "Exception",
        "cat",
        "ast",
        "literal_eval",
        "configparser",
        "csv",
        "reader",
        "textwrap",
        "dedent",
        "repr",
        "f",
        "e",
        "r",
        "u",
    ]
)
MODES_THAT_WRITE = ("w", "a", "x", "r+", "w+", "a+", "wb", "ab", "xb", "rb+", "r+b", "wt", "at", "w+b", "wb+")
# Of the names that are too short to mean much, those of functions that change files (Julia, Ruby, shx).
SHORT_CHANGES = ("rm", "mv", "cp", "ln", "dd", "sh")


def is_reading(code: str) -> bool:
    """Whether some code does nothing but read, as far as its names tell."""
    strings = literals(code)
    if "`" in code or any(one in MODES_THAT_WRITE or one.startswith((">", "+", "|")) for one in strings):
        return False
    for one in strings:
        # A string may be code for `eval`, and `f"{…}"` is.
        if "(" not in one:
            code = code.replace(one, "", 1) if one else code
    words = "".join(letter if letter.isalnum() or letter == "_" else " " for letter in code).split()
    return all(
        word in SAFE_CODE
        or (len(word) <= 2 and word not in SHORT_CHANGES)
        or word.isdigit()
        or _is_variable(word, code)
        for word in words
    )


def _is_variable(name: str, code: str) -> bool:
    """Whether a name is one that some code gives to a value, calls nowhere, and has for nothing else."""
    if any(use in code for use in (f".{name}", f". {name}", f"{name}(", f"{name} (", f"{name}`")):
        return False
    made = (
        *(f"for {name} in ", f"for {name}, ", f", {name} in ", f" as {name}:", f"\n{name} = "),
        *(f"const {name} = ", f"let {name} = ", f"var {name} = "),
    )
    lines = "\n".join(("", *(line.strip() for line in code.splitlines())))
    return any(form in lines for form in made)


RULES: dict[str, Callable[[str, list[str], Command], Iterator[Effect]]] = {
    **dict.fromkeys(WRITERS, _writer),
    "mkdir": _mkdir,
    **dict.fromkeys(("ln", "gln", "link"), _link),
    "dd": _dd,
    **dict.fromkeys(("docker", "podman", "nerdctl"), _container),
    **dict.fromkeys(("find", "gfind", "bfs"), _find),
    **dict.fromkeys(("tar", "gtar", "bsdtar"), _tar),
    "unzip": _unzip,
    **dict.fromkeys(("7z", "7za", "7zz"), _seven),
    "cpio": _cpio,
    "jar": _jar,
    **dict.fromkeys(("uniq", "xxd"), _uniq),
    "pax": _pax,
    "aria2c": _aria,
    "sqlite3": _database,
    "git": _git,
}
