"""The effects of programs for which word order or another file matters: a function for each.

They are imported when a command starts such a program.
"""

from __future__ import annotations

import os

from hookport.runtime.effects import (
    FOLDER,
    INTO,
    TREE,
    WRITE,
    Effect,
    find_operands,
    find_option_values,
    has_option,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# Options of copying programs that take a value.
COPY_VALUES = "-S --suffix -m --mode -o --owner -g --group -e --rsh --exclude --include -i -P -F".split()


def copy(name: str, words: list[str]) -> Iterator[Effect]:
    """Find the target: the last operand, or that of `-t`."""
    skipped = (
        set(find_option_values(words, COPY_VALUES))
        if name in ("rsync", "scp", "install", "ginstall")
        else set()
    )
    operands = [word for word in find_operands(words) if word not in skipped]
    folders = list(find_option_values(words, ("-t", "--target-directory")))
    if name in ("install", "ginstall") and has_option(words, ("-d", "--directory")):
        yield from (Effect(word) for word in operands)
        return
    if name in ("mv", "gmv", "move-item") or has_option(words, ("--remove-source-files",)):
        yield from (Effect(word, TREE) for word in (operands if folders else operands[:-1]))
    sources, targets = (
        ([operand for operand in operands if operand not in folders], folders)
        if folders
        else (operands[:-1], operands[-1:])
    )
    for target in targets:
        if ":" in target.partition("/")[0] and name in ("scp", "rsync"):
            continue
        if name == "rsync" and has_option(
            words, ("--delete", "--delete-after", "--delete-before", "--del", "--delete-excluded")
        ):
            yield Effect(target, TREE)
        yield Effect(target)
        for source in sources:
            if ":" in source.partition("/")[0] and name in ("scp", "rsync") and not source.endswith("/"):
                # The content of a folder on another machine is unknown.
                there = source.rpartition(":")[2].rstrip("/").rpartition("/")[2]
                yield Effect(os.path.join(target, there), FOLDER)
                continue
            if name == "rsync" and has_option(words, ("-R", "--relative")):
                yield Effect(os.path.join(target, source.rpartition("/./")[2].lstrip("/")), WRITE, source)
            base = os.path.basename(source.rstrip("/"))
            is_content = name == "rsync" and source.endswith("/")
            if base and base not in (".", "..") and not is_content:
                yield Effect(os.path.join(target, base), WRITE, source)
                yield Effect(target, WRITE, source)
            else:
                yield Effect(target, WRITE, source)


def downloads(name: str, words: list[str]) -> Iterator[Effect]:
    """Find the file that a download writes: named after the URL, in the folder."""
    is_named = name == "wget" or has_option(words, ("-O", "--remote-name", "--remote-name-all", "-J"))
    if name == "wget" and any(True for _ in find_option_values(words, ("-O", "--output-document"))):
        is_named = False
    folders = ("--output-dir",) if name == "curl" else ("-P", "--directory-prefix")
    folder = next(find_option_values(words, folders), "")
    if folder and name == "curl":
        yield from (
            Effect(os.path.join(folder, name)) for name in find_option_values(words, ("-o", "--output"))
        )
    for word in words if is_named else ():
        if "://" in word:
            yield Effect(os.path.join(folder, word.rstrip("/").rpartition("/")[2].partition("?")[0]))


def link(_name: str, words: list[str]) -> Iterator[Effect]:
    """Find the target of a link: a link to a protected file is another name for it."""
    yield from (Effect(word, TREE) for word in find_operands(words))
    yield from (Effect(value) for value in find_option_values(words, ("-t", "--target-directory")))


def container(_name: str, words: list[str]) -> Iterator[Effect]:
    """Find the project folders that a container may write; the project itself does not count as named."""
    yield from (Effect(source, FOLDER) for source, _ in find_mounts(words))
    if words[:1] == ["cp"]:
        yield from (Effect(word) for word in words[2:])


def find_mounts(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """List the folders that a container may write, and their paths in it."""
    for value in find_option_values(words, ("-v", "--volume", "--mount")):
        source, _, rest = value.partition(":")
        target = rest.partition(":")[0]
        if "," in value and "=" in value:
            options = dict(option.partition("=")[::2] for option in value.split(","))
            source = options.get("source", options.get("src", ""))
            target = options.get("target", options.get("destination", options.get("dst", "")))
        if not rest.endswith(":ro") and not value.endswith((",readonly", ",ro")):
            yield source, target


def dd(_name: str, words: list[str]) -> Iterator[Effect]:
    yield from (Effect(word.partition("=")[2]) for word in words if word.startswith("of="))


def tar(_name: str, words: list[str]) -> Iterator[Effect]:
    letters = words[0] if words and not words[0].startswith("-") and words[0].isalpha() else ""
    letters += "".join(word[1:] for word in words if word.startswith("-") and not word.startswith("--"))
    if letters and words and words[0].isalpha():
        words = ["-" + words[0], *words[1:]]
    archives = list(find_option_values(words, ("-f", "--file")))
    folders = list(find_option_values(words, ("-C", "--directory")))
    if "x" in letters or has_option(words, ("--extract", "--get")):
        operands = [word for word in find_operands(words) if word not in (*archives, *folders)]
        for folder in folders or ["."]:
            if operands:
                yield from (Effect(os.path.join(folder, word), TREE) for word in operands)
            else:
                yield Effect(folder, INTO, archives[0] if archives and archives[0] != "-" else "")
    elif "t" in letters or has_option(words, ("--list", "--diff", "--compare")):
        return
    else:
        yield from (Effect(archive) for archive in archives)
        if has_option(words, ("--remove-files",)):
            yield from (Effect(word, TREE) for word in find_operands(words) if word not in archives)


def unzip(_name: str, words: list[str]) -> Iterator[Effect]:
    folders = list(find_option_values(words, ("-d",))) or ["."]
    operands = [word for word in find_operands(words) if word not in folders]
    for folder in folders:
        if len(operands) > 1:
            yield from (Effect(os.path.join(folder, word), TREE) for word in operands[1:])
        else:
            yield Effect(folder, INTO, operands[0] if operands else "")


def jar(_name: str, words: list[str]) -> Iterator[Effect]:
    letters = words[0].lstrip("-") if words else ""
    if "x" in letters:
        yield Effect(
            next(find_option_values(words, ("-C",)), "."),
            INTO,
            words[1] if "f" in letters and words[1:] else "",
        )
    elif "t" not in letters:
        yield from (Effect(word) for word in words[1:2])


def uniq(_name: str, words: list[str]) -> Iterator[Effect]:
    """Find the output: the second operand."""
    values = set(find_option_values(words, ("-f", "-s", "-w", "-l", "-c", "-g")))
    yield from (Effect(word) for word in [word for word in find_operands(words) if word not in values][1:2])


def aria(_name: str, words: list[str]) -> Iterator[Effect]:
    folder = next(find_option_values(words, ("-d", "--dir")), "")
    named = list(find_option_values(words, ("-o", "--out")))
    named += [word.rstrip("/").rpartition("/")[2] for word in words if "://" in word and not named]
    yield from (Effect(os.path.join(folder, name)) for name in named)


def database(_name: str, words: list[str]) -> Iterator[Effect]:
    operands = find_operands(words)
    yield from (Effect(word) for word in operands[:1])
    # `.output FILE`, `.backup FILE`: the program's own commands.
    dotted = [line.split() for word in operands[1:] for line in word.splitlines() if line.startswith(".")]
    yield from (Effect(file) for line in dotted for file in line[1:])


def seven(_name: str, words: list[str]) -> Iterator[Effect]:
    if words[:1] in (["x"], ["e"]):
        folders = [word[2:] for word in words if word.startswith("-o")] or ["."]
        operands = find_operands(words)[1:]
        yield from (Effect(folder, INTO, operands[0] if operands else "") for folder in folders)
    elif words[:1] not in (["l"], ["t"], ["i"]):
        yield from (Effect(word) for word in find_operands(words)[1:2])


def cpio(_name: str, words: list[str]) -> Iterator[Effect]:
    if has_option(words, ("-i", "--extract")):
        yield Effect(next(find_option_values(words, ("-D", "--directory")), "."), INTO)
    elif has_option(words, ("-p", "--pass-through")):
        yield from (Effect(word, INTO) for word in find_operands(words))
    else:
        yield from (Effect(value) for value in find_option_values(words, ("-O", "-F", "--file")))


def pax(_name: str, words: list[str]) -> Iterator[Effect]:
    archive = next(find_option_values(words, ("-f",)), "")
    if has_option(words, ("-r",)):
        yield Effect(".", INTO, archive)
    elif has_option(words, ("-w",)) and archive:
        yield Effect(archive)
