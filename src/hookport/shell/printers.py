"""The output of programs that print what follows from their words: a function each, imported on use."""

from __future__ import annotations

import os

from hookport.shell.syntax import DEEP, MARKS, ONE, PART, STAR, remove_marks, unescape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hookport.shell.walk import Walk

# Options of `find` with a value, except the tests of names.
FIND_NAMES = ("-name", "-iname")
FIND_PATHS = ("-path", "-ipath", "-wholename")


def read_escapes(text: str) -> str:
    """Read the escapes of `echo -e` and `printf`."""
    if "\\" not in text:
        return text
    pieces, at = [], 0
    while at < len(text):
        if text[at] == "\\":
            zero = text[at + 1 : at + 4] in ("0", "000", "x00") or text[at + 1 : at + 2] == "0"
            value, at = unescape(text, at)
            # A NUL separates words for `xargs -0` and `read -d ''`, like a line end.
            pieces.append(remove_marks(value) or ("\n" if zero else ""))
        else:
            pieces.append(text[at])
            at += 1
    return "".join(pieces)


def printf(words: list[str], _given: str | None, _walk: Walk) -> str | None:
    if words[:1] == ["--"]:
        words = words[1:]
    if not words or words[0] == "-v":
        return "" if words else None
    layout, values = read_escapes(words[0]), words[1:]
    if "%" not in layout:
        return layout
    texts: list[str] = []
    while True:
        before = len(values)
        pieces = layout.split("%")
        texts.append(pieces[0])
        at = 1
        while at < len(pieces):
            piece = pieces[at]
            if not piece and at + 1 < len(pieces):
                texts.append("%" + pieces[at + 1])
                at += 2
                continue
            kind = piece.lstrip("-+ #0123456789.*'")
            value = values.pop(0) if values else ""
            texts.append((read_escapes(value) if kind[:1] == "b" else value) + kind[1:])
            at += 1
        if not values or len(values) == before or len(texts) > 10_000:
            return "".join(texts)


def _decode_base64(words: list[str], given: str | None, _walk: Walk) -> str | None:
    if given is None or not any(word in ("-d", "-D", "--decode", "-di") for word in words):
        return None
    from base64 import b64decode

    try:
        return remove_marks(b64decode("".join(given.split()), validate=False).decode("utf-8", "replace"))
    except ValueError:
        return None


def xxd(words: list[str], given: str | None, _walk: Walk) -> str | None:
    if given is None or not any(word.startswith("-") and "r" in word for word in words):
        return None
    try:
        return remove_marks(bytes.fromhex("".join(given.split())).decode("utf-8", "replace"))
    except ValueError:
        return None


def rev(_words: list[str], given: str | None, _walk: Walk) -> str | None:
    return None if given is None else "\n".join(line[::-1] for line in given.splitlines())


def _list_operands(words: list[str]) -> list[str]:
    return [word for word in words if not word.startswith("-")]


def names(words: list[str], _given: str | None, _walk: Walk) -> str:
    return "\n".join(_list_operands(words))


def ls(words: list[str], _given: str | None, walk: Walk) -> str:
    shows_hidden = any(
        word.startswith("-") and not word.startswith("--") and set(word) & set("aA") for word in words
    )
    paths = []
    for word in _list_operands(words) or ["."]:
        start = "" if word == "." else word.rstrip("/") + "/"
        paths.append(start + STAR)
        if shows_hidden:
            paths.append(f"{start}.{STAR}")
        if word != ".":
            paths.append(word)
            folders = [os.path.normpath(os.path.join(folder, word)) for folder in walk.folders]
            # Only the names, which may follow another folder.
            paths.append(STAR if any(walk.ask.has_match(folder, "") for folder in folders) else PART)
    return "\n".join(paths)


def list_paths(words: Sequence[str]) -> list[str]:
    """List the paths that `find` prints with these words, as patterns."""
    starts: list[str] = []
    for word in words[1:]:
        if word.startswith(("-", "(", "!", "\\")):
            if word in ("-H", "-L", "-P", "-E") or word.startswith("-O"):
                continue
            break
        starts.append(word)
    names: list[str] = []
    is_listing_folders = True
    rest = _drop_pruned(list(words))
    for number, word in enumerate(rest[:-1]):
        is_negated = rest[number - 1] in ("!", "-not")
        if word in FIND_NAMES and not is_negated:
            spelled = rest[number + 1]
            any_case = (spelled.lower(), spelled.upper(), spelled.title()) if word == "-iname" else ()
            names += [_mark_glob(spelling) for spelling in dict.fromkeys((spelled, *any_case))]
        elif word in FIND_PATHS and not is_negated:
            names.append(STAR + _mark_glob(rest[number + 1]).removeprefix("." + "/").lstrip(STAR + "/"))
        elif word == "-type" and "d" not in rest[number + 1]:
            is_listing_folders = False
    paths = []
    for start in starts or ["."]:
        bare = start.rstrip("/") or "/"
        paths += [f"{bare}/{DEEP}{name}" for name in names] or [f"{bare}/{DEEP}"]
        if not names and is_listing_folders:
            paths.append(bare)
    return paths


def _drop_pruned(words: list[str]) -> list[str]:
    """Drop exclusions of `find`: `-path ./x -prune -o`."""
    for number in range(len(words) - 1, 0, -1):
        if words[number - 1] == "-prune" and words[number] in ("-o", "-or"):
            acts = any(
                word.startswith(("-delete", "-exec", "-ok", "-fprint", "-fls")) for word in words[:number]
            )
            return words if acts else [words[0], *words[number + 1 :]]
    return words


def _mark_glob(text: str) -> str:
    """Replace the wildcards of a pattern by marks."""
    return text.replace("*", STAR).replace("?", ONE) if not set(text) & set(MARKS) else text


def find(words: list[str], _given: str | None, _walk: Walk) -> str:
    return "\n".join(list_paths(["find", *words]))


def fd(words: list[str], _given: str | None, _walk: Walk) -> str:
    at = next(
        (n for n, word in enumerate(words) if word in ("-x", "-X", "--exec", "--exec-batch")), len(words)
    )
    operands = _list_operands(words[:at])
    start = (operands[1] if len(operands) > 1 else ".").rstrip("/")
    is_hidden = any(word in ("-H", "--hidden", "-u", "-uu", "--no-ignore", "-HI") for word in words)
    return f"{start}/{DEEP}" if is_hidden or start not in (".", "") else PART


def grep(words: list[str], _given: str | None, walk: Walk) -> str | None:
    """List the files with a match."""
    letters = "".join(word[1:] for word in words if word.startswith("-") and not word.startswith("--"))
    if not ("l" in letters or "L" in letters or any(word.startswith("--files") for word in words)):
        return None
    named = [words[number + 1] for number, word in enumerate(words[:-1]) if word in ("-e", "--regexp")]
    operands = _list_operands([word for word in words if word not in named])
    needle, files = (named[0], operands) if named else (operands[0] if operands else "", operands[1:])
    includes = [word.partition("=")[2] for word in words if word.startswith("--include=")]
    includes += [
        words[number + 1] for number, word in enumerate(words[:-1]) if word in ("-g", "--glob", "--include")
    ]
    excluded = {word.partition("=")[2] for word in words if word.startswith("--exclude-dir=")}
    paths = []
    for file in files or ["."]:
        full = [os.path.normpath(os.path.join(folder, file)) for folder in walk.folders]
        is_plain = bool(needle) and not set(needle) & set("\\.*[]^$+?(){}|" + MARKS)
        may_match = (
            "L" in letters or not is_plain or any(walk.ask.has_match(path, needle, excluded) for path in full)
        )
        if not may_match or any(mark in file for mark in (STAR, ONE)):
            paths.append(file if may_match else PART)
            continue
        bare = file.rstrip("/") or "/"
        paths += [
            f"{bare}/{DEEP}{_mark_glob(include)}" for include in includes if not include.startswith("!")
        ] or [
            f"{bare}/{DEEP}",
            bare,
        ]
    return "\n".join(paths)


def git(words: list[str], given: str | None, walk: Walk) -> str | None:
    operands = _list_operands(words)
    verb, rest = (operands[0], operands[1:]) if operands else ("", [])
    if verb == "rev-parse":
        if any(word == "--show-toplevel" for word in words):
            return walk.ask.top_level()
        return PART
    if verb == "ls-files":
        patterns = [_mark_glob(word) if "*" in word else word for word in rest]
        return "\n".join(
            [
                f"{DEEP}{pattern}" if STAR in pattern else f"{pattern.rstrip('/')}/{DEEP}\n{pattern}"
                for pattern in patterns
            ]
            or [DEEP]
        )
    if verb == "grep":
        return grep([word for word in words if word != "grep"], given, walk)
    return None


def pwd(_words: list[str], _given: str | None, walk: Walk) -> str:
    return "\n".join(walk.folders)


def dirname(words: list[str], _given: str | None, _walk: Walk) -> str:
    return "\n".join(os.path.dirname(word) or "." for word in _list_operands(words))


def basename(words: list[str], _given: str | None, _walk: Walk) -> str:
    return "\n".join(os.path.basename(word.rstrip("/")) for word in _list_operands(words)[:1])


def seq(_words: list[str], _given: str | None, _walk: Walk) -> str:
    return STAR


def mktemp(words: list[str], _given: str | None, _walk: Walk) -> str | None:
    """Return a unique name, if the words name no folder."""
    if any(word not in ("-d", "-q", "--directory", "--quiet", "-dq", "-qd") for word in words):
        return None
    return f"/tmp/tmp.{STAR}"  # noqa: S108  (of `mktemp`)


def base64(words: list[str], given: str | None, walk: Walk) -> str | None:
    return _decode_base64(words, given, walk)
