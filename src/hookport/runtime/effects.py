"""What programs do to the files they name: a table, and a function where the order of words matters.

Reading has no effect. An unknown program may change every file that it names.
"""

from __future__ import annotations

import os

from hookport import shell
from hookport.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hookport.shell import Command

# How far an effect goes: a file, a file with all below it, the content of an archive, all below a folder
# that is not the whole project.
WRITE, TREE, INTO, FOLDER = "write", "tree", "into", "folder"


class Effect(Value):
    """A path that a program changes; `source` is a folder whose content it gets."""

    path: str
    kind: str = WRITE
    source: str = ""


# Programs that change no file they name, except the values of the options in the first column; with an
# option of the second column they change every file they name.
READERS: dict[str, tuple[str, str]] = {
    **dict.fromkeys(
        """
            cat tac head tail less more bat batcat nl wc grep egrep fgrep rg ag ack ls exa eza dir vdir stat
            file du df ncdu cmp comm cut tr column fold fmt od hexdump strings md5sum join sha1sum sha224sum
            sha256sum sha384sum sha512sum shasum cksum b2sum sum md5 base64 base32 echo printf print true
            false : test [ [[ (( let cd pushd popd pwd which type command whereis whence realpath readlink
            dirname basename jq gron fx shellcheck export set unset shopt return exit wait sleep date id
            whoami man info tldr local declare typeset readonly read mapfile readarray hash umask ulimit
            trap alias unalias shift getopts jobs fg bg kill disown history get-content gc select-string
            get-childitem gci test-path get-item measure-object compare-object get-filehash namei lsof fuser
            getfacl lsattr jsonlint yamllint actionlint markdownlint vale cspell hadolint checkbashisms mypy
            pyright pylint flake8 bandit semgrep ajv check-jsonschema gitleaks detect-secrets cloc tokei scc
            open xdg-open zcat zgrep shuf paste expand unexpand pr look ps pgrep env printenv eval source .
            watch gpg-verify sha3sum xsum difft delta colordiff vimdiff3 aspell codespell-check nm objdump
            readelf ldd size tsort numfmt seq say notify-send pbcopy xclip clip wl-copy fzf peek kcov-check
            groups
        """.split(),
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
# Programs that only read when given one of these options.
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
# They change all their operands; those in TREES with everything below.
WRITERS = """
    touch tee truncate shred mkdir mkfifo mknod sponge ed ex dos2unix unix2dos set-content add-content
    clear-content out-file new-item setfacl chattr
""".split()
TREES = """
    rm grm rmdir unlink trash trash-put rimraf del-cli remove-item ri del erase rd srm wipe move-item
    rename-item ren rename prename mount umount del fs_usage gio detox mmv convmv stow
""".split()
GLOBBING = ("mmv", "rimraf", "del-cli", "del", "trash", "erase", "remove-item", "ri")
MODES = ("chmod", "chown", "chgrp", "xattr", "icacls", "attrib")
# Programs for which word order or another file matters, by the function that finds their effects.
ORDERED = {
    **dict.fromkeys(
        "cp gcp mv gmv install ginstall scp rsync copy-item copy xcopy robocopy ditto".split(), "copy"
    ),
    **dict.fromkeys(("ln", "gln", "link"), "link"),
    "dd": "dd",
    **dict.fromkeys(("docker", "podman", "nerdctl"), "container"),
    **dict.fromkeys(("tar", "gtar", "bsdtar"), "tar"),
    "unzip": "unzip",
    **dict.fromkeys(("7z", "7za", "7zz"), "seven"),
    "cpio": "cpio",
    "jar": "jar",
    **dict.fromkeys(("uniq", "xxd"), "uniq"),
    "pax": "pax",
    "aria2c": "aria",
    "sqlite3": "database",
}
FINDERS = ("find", "gfind", "bfs")
SED = ("sed", "gsed")
AWK = ("awk", "gawk", "mawk", "nawk")
# Verbs of git that change nothing in the work tree at a path they name.
GIT_READERS = """
    add annotate blame branch cat-file check-attr check-ignore cherry commit config count-objects describe
    diff diff-index diff-tree fetch for-each-ref format-patch fsck gc grep hash-object help init log
    ls-files ls-remote ls-tree merge-base name-rev notes push range-diff reflog remote rev-list rev-parse
    shortlog show show-branch show-ref status tag var version whatchanged symbolic-ref pull merge rebase
    cherry-pick revert switch bisect maintenance prune bundle
""".split()
GIT_VALUES = ("-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env")


def find_effects(command: Command) -> Iterator[Effect]:
    """Find the paths that a command changes, without its redirections."""
    name, words = command.program, list(command.words[1:])
    if name in READERS:
        yield from _find_reader_effects(words, *READERS[name])
        if name in ("curl", "wget"):
            yield from _find_ordered_effects("downloads", name, words)
        if name == "scp":
            yield from _find_ordered_effects("copy", name, words)
        if name == "gh" and words[:2] == ["repo", "clone"]:
            yield from (Effect(word, FOLDER) for word in find_operands(words[2:])[1:2])
    elif name in LOOKING and has_option(words, LOOKING[name].split()):
        return
    elif name in ORDERED:
        yield from _find_ordered_effects(ORDERED[name], name, words)
    elif name == "git":
        yield from _git(words)
    elif name in FINDERS:
        yield from _find_deleted(words)
    elif name == "mkdir":
        yield from _mkdir(words)
    elif name in WRITERS:
        yield from (Effect(part) for word in find_operands(words) for part in _find_paths(word))
    elif name in SED:
        yield from _sed(words)
    elif name in AWK:
        yield from _awk(words)
    elif name in MODES:
        yield from _modes(words)
    elif name in TREES:
        yield from (Effect(_mark_glob(name, word), TREE) for word in find_operands(words))
    elif shell.language(name):
        yield from _find_code_effects(name, words, command)
    elif name in shell.SHELLS and has_option(words[:1], ("-n",)):
        # It only checks whether it could read them.
        return
    elif name in shell.SHELLS:
        # The script that it runs, then that script's arguments.
        if not has_option(words, ("-c",)):
            yield from (Effect(part) for word in find_operands(words)[1:] for part in _find_paths(word))
    elif name in LOOKING:
        yield from (Effect(part, FOLDER) for word in words for part in _find_paths(word))
    else:
        # Its effect is unknown. A folder with a dot belongs to an agent.
        for part in (part for word in words for part in _find_paths(word)):
            yield Effect(part, FOLDER if os.path.basename(part.rstrip("/")).startswith(".") else WRITE)


def _find_ordered_effects(rule: str, name: str, words: list[str]) -> Iterator[Effect]:
    from hookport.runtime import ordered_effects

    changes: Iterator[Effect] = getattr(ordered_effects, rule)(name, words)
    return changes


def _mark_glob(name: str, word: str) -> str:
    """Mark the patterns in an argument of a program that expands patterns itself."""
    if name not in GLOBBING:
        return word
    return word.replace("**", shell.DEEP).replace("*", shell.STAR).replace("?", shell.ONE)


def _find_paths(word: str) -> Iterator[str]:
    """Find the paths that a word may contain: `--output=PATH`, `of=PATH`, `PATH:PATH`, `@PATH`."""
    values = [word] if not word.startswith("-") else []
    if "=" in word:
        values.append(word.partition("=")[2])
    if "," in word:
        values += [option.rpartition(":")[2] for option in word.split(",")]
    if ":" in word:
        values += word.split(":")
    if word.startswith("@"):
        values.append(word[1:])
    if word.startswith("-") and not word.startswith("--") and len(word) > 2:
        values.append(word[2:])
    yield from dict.fromkeys(value for value in values if value)


def find_operands(words: Sequence[str]) -> list[str]:
    """Find the words that are not options; after `--`, all of them."""
    if "--" in words:
        at = list(words).index("--")
        return [word for word in words[:at] if not word.startswith("-")] + list(words[at + 1 :])
    return [word for word in words if not word.startswith("-") or word == "-"]


def has_option(words: Sequence[str], options: Sequence[str]) -> bool:
    for word in words:
        for option in options:
            if word == option or (option.startswith("--") and word.partition("=")[0] == option):
                return True
            is_letter = option.startswith("-") and not option.startswith("--") and len(option) == 2
            if is_letter and word.startswith("-") and not word.startswith("--") and option[1] in word[1:]:
                return True
    return False


def find_option_values(words: Sequence[str], options: Sequence[str]) -> Iterator[str]:
    """Find the values of options, including values attached to the option."""
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


def _find_reader_effects(words: list[str], written: str, changing: str) -> Iterator[Effect]:
    yield from (Effect(value) for value in find_option_values(words, written.split()))
    if changing and has_option(words, changing.split()):
        yield from (Effect(word, FOLDER) for word in find_operands(words))


def _sed(words: list[str]) -> Iterator[Effect]:
    scripts = list(find_option_values(words, ("-e", "--expression")))
    is_named = any(True for _ in find_option_values(words, ("-e", "--expression", "-f", "--file")))
    files = find_operands(words)
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
        yield from (Effect(file) for file in find_operands(words) if file not in scripts)
    for script in scripts:
        for mark in ("w ", "W "):
            for piece in script.split(mark)[1:]:
                yield Effect(piece.partition("\n")[0].partition("}")[0].strip())


def _awk(words: list[str]) -> Iterator[Effect]:
    operands = find_operands(words)
    if any(word == "inplace" or word.endswith("inplace") for word in words):
        yield from (Effect(word) for word in operands)
    for text in operands[:1] if not has_option(words, ("-f",)) else ():
        if ">" in text or "|" in text or "system" in text:
            yield from (Effect(piece) for piece in find_literals(text))
            # The written path may be computed.
            yield Effect("".join(find_literals(text)))


def find_literals(code: str) -> list[str]:
    """Find the string literals in code."""
    strings, at = [], 0
    while at < len(code):
        quote = code[at]
        if quote not in "'\"`":
            at += 1
            continue
        end = at + 1
        while end < len(code) and code[end] != quote:
            end += 2 if code[end] == "\\" else 1
        strings.append(code[at + 1 : end])
        at = end + 1
    return strings


def _modes(words: list[str]) -> Iterator[Effect]:
    operands = [word for word in words if not word.startswith("-") or not set(word[1:]) <= set("RfvchHLP")]
    mode = operands[0] if operands else ""
    if mode and all(_is_adding(clause) for clause in mode.split(",")):
        return
    kind = TREE if has_option(words, ("-R", "--recursive", "/s", "/S")) else WRITE
    yield from (Effect(word, kind) for word in operands if not word.startswith("--"))
    yield from (Effect(value, kind) for value in find_option_values(words, ("--reference",)))


def _is_adding(clause: str) -> bool:
    """Whether a mode only lets more people read and run, or the owner write."""
    who, plus, what = clause.partition("+")
    return bool(plus) and set(who) <= set("ugoa") and set(what) <= set("rxXw" if who == "u" else "rxX")


def _find_deleted(words: list[str]) -> Iterator[Effect]:
    from hookport.shell.printers import list_paths

    if "-delete" in words:
        yield from (Effect(path, TREE) for path in list_paths(["find", *words]))
    yield from (
        Effect(value) for value in find_option_values(words, ("-fprint", "-fprint0", "-fls", "-fprintf"))
    )


def _mkdir(words: list[str]) -> Iterator[Effect]:
    values = set(find_option_values(words, ("-m", "--mode")))
    yield from (Effect(word) for word in find_operands(words) if word not in values)


def _find_code_effects(name: str, words: list[str], command: Command) -> Iterator[Effect]:
    """Find what an interpreter may change; without code, the first word is the program."""
    codes = shell.codes(name, words)
    if codes:
        from hookport.runtime.reading_code import CHANGING_CODE, is_reading
    operands = [word for word in words if word not in codes and (not word.startswith("-") or word == "-")]
    if "-m" in words:
        module = next(find_option_values(words, ("-m",)), "")
        rest = words[words.index("-m") + 2 :]
        if module == "json.tool":
            operands = find_operands(rest)[1:]
        else:
            inner = command.replace(words=(module.partition(".")[0], *rest))
            if module in ("zipfile", "tarfile"):
                if has_option(rest, ("-e", "--extract")):
                    yield from (Effect(word, INTO) for word in find_operands(rest)[1:] or ["."])
                return
            if module in ("py_compile", "compileall", "unittest", "pytest", "http.server", "doctest"):
                return
            yield from find_effects(inner)
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
    yield from (Effect(part) for word in operands for part in _find_paths(word))


def _git(words: list[str]) -> Iterator[Effect]:
    verb, rest, folder = split_git_words(words)
    prefix = folder + "/" if folder else ""
    values = list(find_option_values(rest, ("-o", "--output", "--output-directory")))
    if verb in ("archive", "diff", "log", "show", "format-patch", "bundle"):
        yield from (Effect(prefix + value) for value in values)
    if verb in GIT_READERS or not verb:
        return
    if verb == "reset" or (
        verb == "restore"
        and has_option(rest, ("-S", "--staged"))
        and not has_option(rest, ("-W", "--worktree"))
    ):
        # With a path these change only the index.
        return
    if verb in ("checkout", "restore", "stash", "read-tree", "checkout-index", "clean"):
        operands = rest[rest.index("--") + 1 :] if "--" in rest else find_operands(rest)
        for word in operands:
            named = _strip_pathspec(word)
            if "*" in named and named.strip("*./"):
                # Unlike the shell's, the star of git also stands for folders.
                named = named.replace("**", "*").replace("*", shell.DEEP)
            # The whole tree is not named; the approval notices what this changes.
            if named not in (".", "./", "") and verb != "clean":
                yield Effect(prefix + named, TREE)
        return
    if verb in ("rm", "mv"):
        if has_option(rest, ("-n", "--dry-run", "--cached")):
            return
        operands = [prefix + _strip_pathspec(word) for word in find_operands(rest)]
        yield from (Effect(word, TREE) for word in (operands if verb == "rm" else operands[:-1]))
        if verb == "mv":
            yield from _find_ordered_effects("copy", "cp", operands)
        return
    if verb in ("apply", "am"):
        yield from (Effect(prefix + value, TREE) for value in find_option_values(rest, ("--directory",)))
        return
    if verb in ("clone", "worktree", "submodule", "sparse-checkout", "subtree"):
        yield from (Effect(prefix + word, FOLDER) for word in find_operands(rest))
        return
    yield from (Effect(prefix + part) for word in rest for part in _find_paths(word))


def _strip_pathspec(word: str) -> str:
    """Return the path of a pathspec: `:/x` and `:(top)x` start at the root of the work tree."""
    if word.startswith(":("):
        return word.partition(")")[2]
    return word.lstrip(":/") if word.startswith(":/") else word


def split_git_words(words: Sequence[str]) -> tuple[str, list[str], str]:
    """Split a git command into verb, remaining words and the folder of `-C`."""
    folder, left = "", list(words)
    while left and left[0].startswith("-"):
        if left[0] == "-C" and len(left) > 1:
            folder = os.path.join(folder, left[1])
        left = left[2 if left[0] in GIT_VALUES else 1 :]
    return (left[0], left[1:], folder) if left else ("", [], folder)
