"""What a shell command, code or a patch would change in the protected paths.

`hookport.shell` parses a command, and a table lists what each program does to its files.
"""

from __future__ import annotations

import os

from hookport import shell
from hookport.base import folders
from hookport.runtime import effects, trust
from hookport.runtime.guarded import LONGEST_PATH, MOST_LOOKS, fold_case, is_plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Mapping

    from hookport.runtime.effects import Effect
    from hookport.runtime.guarded import GuardedPaths
    from hookport.shell import Command

# The most words of code, and the most bytes of a file, that are checked.
MOST_WORDS, MOST_BYTES = 2_000, 1 << 20
STARTING_WORDS = ("system", "exec", "spawn", "popen", "Popen", "subprocess", "run(", "call(", "qx", "`", "|")
# Commands of ours that only a person may run, and the options that make them read-only.
OURS = ("trust", "untrust", "sync", "unsync", "undo", "vendor", "pause")
LOOKING = ("--dry-run", "--check", "--help", "-h")
STARTS = ("hookport", "hookport.exe", "hookport.cli", "hookport.__main__", "bridge.py", "bridge.pyz")
OUR_READERS = (
    *("run", "why", "check", "log", "status", "doctor", "explain", "matrix", "dialects", "convert", "test"),
    *("events", "prove", "diff", "report", "record"),
)
# Programs that remove others.
REMOVING_PROGRAMS = ("pip", "pip3", "pipx", "uv", "brew", "conda", "poetry", "pdm", "npm", "apt", "apt-get")
# With these options, programs that apply patches change nothing.
PATCH_LOOKING = ("--dry-run", "--check", "--stat", "--numstat", "--summary")
# Options of `docker run` with a value that often appear before an image.
CONTAINER_VALUES = (
    *("-v", "--volume", "--mount", "-w", "--workdir", "-e", "--env", "--env-file", "-u", "--user", "-p"),
    *("--publish", "--name", "--network", "--net", "--entrypoint", "--platform", "-h", "--hostname", "-l"),
    *("--label", "--cpus", "-m", "--memory", "--add-host", "--gpus", "--pull", "--tmpfs", "--cap-add"),
)
PATCHERS = ("apply_patch", "applypatch", "patch")
PATH_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./~$-{}\\:+@%")


def find_objection(text: str, guarded: GuardedPaths, cwd: str = "") -> str:
    """Explain why a shell command may not run."""
    if is_plain(text):
        return ""
    cwd = cwd or guarded.cwd
    reading = shell.read(text, cwd=cwd, variables={**guarded.env, "PWD": cwd}, ask=_Machine(guarded))  # type: ignore[arg-type]
    scripts: dict[str, str] = {}
    printed = ""
    for command in reading.commands:
        if reason := _object_to_parsed(command, guarded, scripts):
            return reason
        _remember_script(command, scripts)
        if (printed or command.program == "git") and (protected := _find_piped_patch(command, printed)):
            return f"`git` would change {protected}."
        printed = _find_printed_patch(command, guarded) or printed
    if reading.is_cut or guarded.looked > MOST_LOOKS:
        why = reading.problem or "it names too many files"
        return f"this command cannot be checked: {why}. Write it as a script or as several commands."
    if reading.problem and (path := _find_hinted(guarded, text)):
        return f"this command cannot be parsed ({reading.problem}), and may change {path}."
    return ""


def find_changed(guarded: GuardedPaths, effect: Effect, folder: str) -> str:
    """Find the protected path that an effect changes."""
    if effect.kind == "into":
        return _find_unpacked(guarded, effect, folder)
    path, kind = effect.path, effect.kind
    if not path or len(path) > LONGEST_PATH:
        return ""
    full = shell.joined(folder, guarded.expand_home(path.removeprefix("file://")))
    if not any(mark in full for mark in shell.MARKS):
        is_above = kind == "tree" or (kind == "folder" and guarded.is_inside(full))
        protected = guarded.find_protected(full, above=is_above)
        if not protected and effect.source:
            protected = _find_copied(guarded, shell.joined(folder, effect.source), full)
        return protected
    return _find_matched(guarded, full, is_tree=kind == "tree")


def _find_matched(guarded: GuardedPaths, pattern: str, *, is_tree: bool) -> str:
    """Find the protected path that a path with marks may match."""
    at = min(pattern.find(mark) for mark in shell.MARKS if mark in pattern)
    prefix = pattern[:at]
    folder = os.path.dirname(prefix) or os.sep
    if prefix and os.path.isabs(prefix) and guarded.find(fold_case(folder), above=False):
        # Whatever follows, it is below a protected folder.
        return guarded.find(fold_case(folder), above=False)
    unknown = [mark for mark in (shell.MANY, shell.PART) if mark in pattern]
    if unknown:
        name = os.path.basename(prefix)
        if os.path.isabs(prefix) and len(name) > 1:
            protected = next(
                (
                    guarded_path
                    for guarded_path in guarded.paths
                    if guarded_path.startswith(fold_case(prefix))
                ),
                "",
            )
            if protected and pattern[at:].strip(shell.MANY + shell.PART) == "":
                return guarded.paths[protected]
        return _find_by_ending(guarded, pattern)
    if not os.path.isabs(prefix):
        return ""
    import re

    meanings = {shell.STAR: "[^/]*", shell.ONE: "[^/]", shell.DEEP: ".*"}
    text = "".join(meanings.get(letter) or re.escape(letter) for letter in pattern)
    text = text.replace("/[^/]", "/(?!\\.)[^/]")
    fits = re.compile(text if not guarded.is_caseless else f"(?i){text}", re.DOTALL).fullmatch
    for file in guarded.files(folder):
        path = file
        while len(path) > len(folder):
            if fits(path):
                return file
            if not is_tree and not guarded.find(fold_case(path), above=False):
                break
            path = os.path.dirname(path)
    return ""


def _find_by_ending(guarded: GuardedPaths, pattern: str) -> str:
    """Find a protected path by its end if its start is computed; only distinctive names count."""
    rest = pattern
    for mark in shell.MARKS:
        rest = rest.rpartition(mark)[2]
    if not rest.startswith("/"):
        return ""
    # A `..` from there leads below a folder of the same name.
    names = os.path.normpath(rest).strip("/").split("/")
    for path in guarded.paths.values():
        parts = path.split(os.sep)
        for start in range(len(parts)):
            if (
                parts[start : start + len(names)] == names
                and (names[0].startswith(".") or names[-1] == trust.LOCK)
                and guarded.is_inside(path)
            ):
                return path
    return ""


def _find_copied(guarded: GuardedPaths, source: str, target: str) -> str:
    """Find the protected file that a folder's content would replace."""
    if not os.path.isdir(source):
        return ""
    for path in guarded.paths.values():
        is_below = fold_case(path).startswith(fold_case(os.path.join(target, "")))
        if is_below and os.path.lexists(os.path.join(source, os.path.relpath(path, target))):
            return path
    return ""


def _find_unpacked(guarded: GuardedPaths, effect: Effect, folder: str) -> str:
    """Find the protected path that an archive contains, or may contain if it cannot be read."""
    target = shell.joined(folder, effect.path)
    below = guarded.find_protected(target, above=True)
    if not below or any(mark in target for mark in shell.MARKS):
        return below
    archive = shell.joined(folder, effect.source) if effect.source else ""
    for name in _list_members(archive) if archive and os.path.isfile(archive) else [None]:
        if name is None:
            return below
        if protected := guarded.find_protected(os.path.join(target, name)):
            return protected
    return ""


def _find_named(guarded: GuardedPaths, text: str, cwd: str = "") -> str:
    """Find the first protected path that code names."""
    words = "".join(letter if letter in PATH_LETTERS else " " for letter in text).split()
    names = [word for word in dict.fromkeys(words) if "." in word or "/" in word][:MOST_WORDS]
    strings = [
        literal for literal in effects.find_literals(text) if 0 < len(literal) < 256 and "\n" not in literal
    ][:200]
    pairs = [(strings[number], strings[number + 1]) for number in range(len(strings) - 1)]
    names += [
        joined_name
        for literal, following in pairs
        for joined_name in (f"{literal}/{following}", literal + following)
    ]
    names += ["".join(strings), "/".join(strings)]
    for pattern in strings:
        # `*.py` alone is about another folder.
        is_glob = ("*" in pattern or "?" in pattern) and "/" in pattern
        if is_glob and (protected := find_globbed(guarded, pattern, cwd)):
            return protected
    for name in names:
        word = name.strip("$:{}\\")
        # Code that names a folder with protected files in it may change them.
        if word and (
            protected := guarded.find_protected(
                _expand_home(guarded, word), cwd, above=guarded.is_inside(word, cwd)
            )
        ):
            return protected
    return ""


def find_globbed(guarded: GuardedPaths, pattern: str, cwd: str = "") -> str:
    """Find the protected path that matches a pattern in a string of code or of a tool."""
    full = shell.joined(cwd or guarded.cwd, guarded.expand_home(pattern))
    marked = full.replace("**/", shell.DEEP).replace("**", shell.DEEP)
    marked = marked.replace("*", shell.STAR).replace("?", shell.ONE)
    return _find_matched(guarded, marked, is_tree=True)


def _expand_home(guarded: GuardedPaths, word: str) -> str:
    return (
        (guarded.env.get("HOME") or folders.find_real_home()) + word[5:]
        if word.startswith("$HOME/")
        else word
    )


def _find_hinted(guarded: GuardedPaths, text: str) -> str:
    """Find a protected path whose name, or that of its folder in the project, appears in a text."""
    plain = "".join(letter for letter in text if letter not in "'\"\\").lower()
    for path in guarded.paths.values():
        if guarded.is_inside(path):
            first = os.path.relpath(path, guarded.root).split(os.sep)[0]
            if first.lower() in plain and (
                first.startswith(".") or first == trust.LOCK or path.lower() in plain
            ):
                return path
    return next((path for path in guarded.paths.values() if path.lower() in plain), "")


def _list_members(archive: str) -> Iterator[str | None]:
    """List the names in an archive; None where they cannot be read."""
    import tarfile
    import zipfile

    try:
        if zipfile.is_zipfile(archive):
            with zipfile.ZipFile(archive) as opened:
                yield from opened.namelist()[:100_000]
            return
        with tarfile.open(archive) as tar:
            for number, member in enumerate(tar):
                yield member.name
                # A link may lead anywhere.
                yield None if member.issym() or member.islnk() or number > 100_000 else member.name
    except (OSError, ValueError, EOFError, tarfile.TarError, zipfile.BadZipFile):
        yield None


class _Machine:
    """The answers that the command parser may ask for: an `Ask` of `hookport.shell`."""

    def __init__(self, guarded: GuardedPaths) -> None:
        self._guarded = guarded

    def is_folder(self, path: str, /) -> bool:
        return os.path.isdir(path)

    def has_match(self, folder: str, text: str, excluded: Container[str] = (), /) -> bool:
        for file in self._guarded.files(folder) if os.path.isdir(folder) else (folder,):
            if any(part in excluded for part in file.split(os.sep)):
                continue
            try:
                with open(file, "rb") as opened:
                    if text.encode("utf-8", "replace") in opened.read(MOST_BYTES):
                        return True
            except (OSError, ValueError):  # a name that only the shell knows
                continue
        return False

    def top_level(self) -> str:
        return self._guarded.root


def _find_printed_patch(command: Command, guarded: GuardedPaths) -> str:
    """Find the protected path whose changes git prints as a patch."""
    verb, rest, place = (
        effects.split_git_words(list(command.words[1:])) if command.program == "git" else ("", [], "")
    )
    if verb not in ("diff", "show", "log", "format-patch", "stash"):
        return ""
    words = [os.path.join(place, word) for word in rest if not word.startswith("-")]
    paths = (guarded.find_protected(word, folder, above=True) for folder in command.folders for word in words)
    return next(filter(None, paths), "")


def _find_piped_patch(command: Command, printed: str) -> str:
    """Find the protected path of a patch that is piped into a program that applies it."""
    verb = effects.split_git_words(list(command.words[1:]))[0] if command.program == "git" else ""
    applies = command.program in PATCHERS or verb in ("apply", "am")
    looks = set(command.words) & set(PATCH_LOOKING)
    return printed if applies and command.is_piped and not looks else ""


def _remember_script(command: Command, scripts: dict[str, str]) -> None:
    """Remember the text of a script that a command writes, in case it runs later."""
    targets = [*command.writes, *(command.words[1:] if command.program == "tee" else ())]
    content = command.said or command.given
    for target in targets if content and len(scripts) < 50 else ():
        for folder in command.folders:
            path = shell.joined(folder, target)
            scripts[path] = f"{scripts[path]}\n{content}" if path in scripts else str(content)


def _object_to_parsed(command: Command, guarded: GuardedPaths, scripts: Mapping[str, str]) -> str:
    for folder in command.folders:
        for target in command.writes:
            if path := find_changed(guarded, effects.Effect(target), folder):
                return f"this would write {path}."
    if not command.words:
        return ""
    name = command.program or "a computed program"
    if ours := _find_our_command(command):
        return f"only the user may run `hookport {ours}`."
    for folder in command.folders:
        if reason := _object_to_program_code(command, guarded, folder, scripts):
            return reason
        if _is_our_reader(command):
            continue
        for effect in effects.find_effects(command):
            if path := find_changed(guarded, effect, folder):
                return f"`{name}` would change {path}."
        if path := _find_cleaned(command, guarded, folder):
            return f"`git` would change {path}."
    return ""


def _is_our_reader(command: Command) -> bool:
    words = list(command.words[1:])
    return (
        command.program == "hookport"
        and next((word for word in words if not word.startswith("-")), "") in OUR_READERS
        and not {"-o", "--output", "--fix"} & set(words)
    )


def _object_to_program_code(
    command: Command, guarded: GuardedPaths, folder: str, scripts: Mapping[str, str]
) -> str:
    """Explain why code or a patch that a program receives may not run."""
    name, words = command.program, list(command.words[1:])
    script = next((word for word in words if not word.startswith("-")), "")
    written = scripts.get(shell.joined(folder, script)) if script else None
    if name in shell.SHELLS and written is not None and "-c" not in words:
        return find_objection(written, guarded, folder)
    if (
        command.words[0]
        and "/" in command.words[0]
        and (script_text := scripts.get(shell.joined(folder, command.words[0])))
    ):
        return find_objection(script_text, guarded, folder) or object_to_code(
            "a script", script_text, guarded, folder
        )
    if name in PATCHERS or (name == "git" and effects.split_git_words(words)[0] in ("apply", "am")):
        return "" if set(words) & set(PATCH_LOOKING) else _object_to_patch(command, guarded, folder)
    if name in ("docker", "podman", "nerdctl"):
        return _object_to_container(words, guarded, folder)
    if name in ("at", "batch", "crontab") and command.given:
        return find_objection(command.given, guarded, folder)
    if name in ("make", "gmake", "just"):
        files = ("GNUmakefile", "makefile", "Makefile", "justfile", *words)
        recipes = [scripts.get(shell.joined(folder, file), "") for file in files]
        recipes.append(command.given or "" if "-" in words else "")
        lines = [line.strip(" \t@-") for text in recipes for line in text.splitlines() if line[:1].isspace()]
        # `--eval 'target: ; recipe'`
        lines += [word.partition(";")[2] for word in words if ":" in word and ";" in word]
        return find_objection("\n".join(lines), guarded, folder)
    if name in ("npm", "pnpm", "yarn", "bun") and (manifest := scripts.get(f"{folder}/package.json")):
        return _object_to_started(f"exec {manifest}", guarded, folder)
    if name in effects.SED or name in effects.AWK:
        return _object_to_started(" ".join(words), guarded, folder) if name in effects.AWK else ""
    if name in ("vi", "vim", "nvim") and {"-R", "-M"} & set(words) and len(words) == 2:
        return ""
    if name in ("vi", "vim", "nvim", "ex", "ed", "emacs"):
        given = "\n".join((*words, command.given or "")).replace(" ", "\n")
        path = _find_named(guarded, given, folder)
        return f"`{name}` would change {path}." if path else ""
    if not shell.language(name):
        return ""
    codes = shell.codes(name, words)
    if (
        not codes
        and command.given is not None
        and (not script or script == "-" or script.startswith("/dev/"))
    ):
        codes = [command.given]
    if written is not None and not codes:
        codes = [written]
    codes += [word[len(shell.SAID) :] for word in words if word.startswith(shell.SAID)]
    return next(filter(None, (object_to_code(name, code, guarded, folder) for code in codes)), "")


def object_to_code(name: str, code: str, guarded: GuardedPaths, folder: str) -> str:
    from hookport.runtime.reading_code import is_reading

    if verb := _find_called_command(code):
        return f"only the user may run `hookport {verb}`."
    if not is_reading(code) and (path := _find_named(guarded, code, folder)):
        return f"code for {name} names {path}."
    return _object_to_started(code, guarded, folder)


def _object_to_started(code: str, guarded: GuardedPaths, folder: str) -> str:
    """Explain why the commands in the strings of some code may not run."""
    if not any(word in code for word in STARTING_WORDS):
        return ""
    texts = [literal for literal in effects.find_literals(code) if " " in literal or "/" in literal][:50]
    return next(filter(None, (find_objection(text, guarded, folder) for text in texts)), "")


def _object_to_patch(command: Command, guarded: GuardedPaths, folder: str) -> str:
    """Explain why a patch may not be applied; in a patch of git, names start with `a/` and `b/`."""
    texts = [command.given or "", *command.words[1:]]
    texts += [_read_text(shell.joined(folder, word)) for word in (*command.words[1:], *command.reads)]
    path = next(filter(None, (find_patched(text, guarded, folder) for text in texts)), "")
    return f"`{command.program}` would change {path}." if path else ""


def find_patched(text: str, guarded: GuardedPaths, folder: str) -> str:
    """Find the protected path that a patch changes."""
    lines = [
        line
        for line in text.splitlines()
        if line.startswith(("---", "+++", "***", "diff ", "rename ", "Index"))
    ]
    heads = "\n".join(lines) if len(text) > 1_000 or lines else text
    words = heads.replace(" a/", " ").replace(" b/", " ").split()
    return next(filter(None, (guarded.find_protected(word, folder) for word in words)), "")


def _object_to_container(words: list[str], guarded: GuardedPaths, folder: str) -> str:
    """Explain why a program may not run in a container, by the folders of this machine mounted there."""
    from hookport.runtime.ordered_effects import find_mounts

    if words[:1] != ["run"]:
        return ""
    left, volumes, place = words[1:], list(find_mounts(words)), ""
    while left and left[0].startswith("-"):
        option, equals, value = left[0].partition("=")
        takes = not equals and (option in CONTAINER_VALUES or (len(option) == 2 and option in "-v-w-e-u-p-l"))
        if option in ("-w", "--workdir"):
            place = value if equals else "".join(left[1:2])
        left = left[2 if takes else 1 :]
    inner = left[1:]
    for source, target in volumes:
        full = shell.joined(folder, source)
        inside = target.rstrip("/")
        host_words = [
            full + word[len(inside) :]
            if word == inside or word.startswith(f"{inside}/")
            else word.replace(f"{inside}/", f"{full}/")
            for word in inner
        ]
        start = full + place[len(inside) :] if place.startswith(inside) else os.sep
        if inside and (reason := find_objection(shell.quote(host_words), guarded, start)):
            return reason
    return ""


def _read_text(path: str) -> str:
    try:
        if os.path.isfile(path):
            with open(path, "rb") as file:
                return file.read(MOST_BYTES).decode("utf-8", "replace")
    except (OSError, ValueError):
        pass
    return ""


def _find_cleaned(command: Command, guarded: GuardedPaths, folder: str) -> str:
    """Find the protected untracked file that git would remove."""
    if command.program != "git":
        return ""
    verb, rest, place = effects.split_git_words(list(command.words[1:]))
    letters = "".join(word[1:] for word in rest if word.startswith("-") and not word.startswith("--"))
    if verb == "clean":
        if (
            "n" in letters
            or "--dry-run" in rest
            or not ("f" in letters or "--force" in rest or "i" in letters)
        ):
            return ""
        ignored = "x" in letters.lower()
    elif verb == "stash":
        ignored = "a" in letters or "--all" in rest
        if not (ignored or "u" in letters or "--include-untracked" in rest) or rest[:1] in (
            ["show"],
            ["apply"],
            ["list"],
        ):
            return ""
    else:
        return ""
    operands = [word for word in rest if not word.startswith("-") and word not in ("push", "save")]
    excluded = {
        rest[number + 1] for number, word in enumerate(rest[:-1]) if word in ("-e", "--exclude", "-m")
    }
    index = _read_index(guarded.root)
    for start in [word for word in operands if word not in excluded] or ["."]:
        for file in guarded.files(shell.joined(shell.joined(folder, place), start)):
            if not guarded.is_inside(file):
                continue
            name = os.path.relpath(file, guarded.root).replace(os.sep, "/")
            if name.encode() in index or any(part in excluded for part in name.split("/")):
                continue
            if ignored or not _is_ignored(name, guarded.root):
                return file
    return ""


def _read_index(root: str) -> bytes:
    """Read the index of git for the names of tracked files."""
    try:
        with open(os.path.join(root, ".git", "index"), "rb") as file:
            return file.read(64 << 20)
    except OSError:
        return b""


def _is_ignored(name: str, root: str) -> bool:
    """Whether a pattern of the project's ignore files matches a file, or a folder that it is in."""
    from fnmatch import fnmatchcase

    parts = name.split("/")
    for place in (
        ".gitignore",
        ".git/info/exclude",
        *("/".join((*parts[:end], ".gitignore")) for end in range(1, len(parts))),
    ):
        folder = os.path.dirname(place) if place != ".git/info/exclude" else ""
        for line in _read_text(os.path.join(root, place)).splitlines():
            pattern = line.strip().strip("/")
            if not pattern or pattern.startswith(("#", "!")):
                continue
            inner = name.removeprefix(f"{folder}/") if folder else name
            pieces = inner.split("/")
            tops = ["/".join(pieces[:end]) for end in range(1, len(pieces) + 1)]
            if any(fnmatchcase(top, pattern) for top in tops) or (
                "/" not in pattern and any(fnmatchcase(part, pattern) for part in pieces)
            ):
                return True
    return False


def _find_our_command(command: Command) -> str:
    """Find the hookport command that only a person may run, whatever starts hookport."""
    name, words = command.program, list(command.words)
    if (
        set(words) & set(LOOKING)
        or (name in effects.READERS and name not in ("env", "eval", "watch"))
        or name in ("git", "gh")
    ):
        return ""
    for number, word in enumerate(words[:-1]):
        is_near = "hookport" in word.lower() or "bridge.py" in word.lower()
        if is_near and os.path.basename(word).lower() in STARTS:
            # A word before the verb is the value of an option.
            verb = next(
                (candidate for candidate in words[number + 1 :] if candidate in (*OURS, *OUR_READERS)), ""
            )
            if verb in OURS or (verb == "doctor" and "--fix" in words):
                return verb
    if not name and words[1:2] and words[1] in OURS[:2]:
        return words[1]
    is_removing = name in REMOVING_PROGRAMS or ("-m" in words and set(words) & set(REMOVING_PROGRAMS))
    if is_removing and {"uninstall", "remove", "purge"} & set(words) and "hookport" in words:
        return "(uninstall)"
    return ""


def _find_called_command(code: str) -> str:
    """Find the hookport command that some code would start."""
    words = "".join(letter if letter.isalnum() or letter in "._-" else " " for letter in code).split()
    if not set(words) & set(STARTS) or set(words) & set(LOOKING):
        return ""
    return next((word for word in words if word in OURS), "")
