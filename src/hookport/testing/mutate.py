"""Whether a guard that stops an action also stops it when it is written in another way, and nothing harmless.

What slips through is information, not a failure: no guard that reads text knows every spelling. Who wants a
limit says how many may slip through.
"""

from __future__ import annotations

import base64
import codecs
import glob
import gzip
import json
import os
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from hookport.agents import get_wire
from hookport.model.runs import Event
from hookport.testing.bench import Bench, Outcome, Stock
from hookport.testing.disguises import (
    ALSO,
    APPLET,
    APPLETS,
    BEFORE,
    BESIDE,
    BUILT_IN,
    EFFECTS,
    FILE,
    FILE_PROGRAMS,
    KEYWORDS,
    LONG,
    OPTIONAL,
    PLACES,
    PLAIN,
    PROGRAM,
    SENDABLE,
    SENT,
    SHORTENED,
    WHOLE,
    WITH_FILE,
    WITH_ROOT,
)
from hookport.testing.lookalikes import ASKED, BESIDE_PATH, MENTIONED, NEAR
from hookport.testing.run import STOPPED, Package, event_of, run_case
from hookport.testing.session import leave_interrupts
from hookport.testing.suite import PLACE, Case, texts_changed
from hookport.wire.events import rewrite_call, write_event

PLAIN_WORD = re.compile(r"[\w@%+=:./-]+")
# A path from the folder that a command runs in, but for `.`, `..` and those that start with them.
NEAR_PATH = re.compile(r"\.?[\w@%+=:]")
STARTING_WORD = re.compile(r"[\w./+-]+(?=\s|$)")
# The fields of a tool's input that have other spellings, by their canonical names.
COMMAND = "command"
GUARDED = (COMMAND, "path")
SHOWN_EACH = 3
# The dynamic loaders of Linux, which start the program that they are given.
LOADERS = ("/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1")
# What a command leaves out: git's own remote, and the port of HTTP.
LEFT_OUT = {"REMOTE": "origin", "PORT": "80"}
# Spellings after which the copy of the package is looked at.
LOT = 24
ADVICE = (
    "A guard that looks for words in a text knows only the spellings that it looks for. What helps:",
    "- read the command into words (Python: `shlex.split`) and look at the program and its options;",
    "- deny what cannot be read: `eval`, `sh -c`, `$(…)`, backticks, pipes into a shell or an interpreter;",
    "- allow what is known to be harmless and ask for the rest, instead of denying what is known to do harm;",
    "- let the guard fail closed, and keep what must not be lost where the agent has no rights to change it.",
)


class Spelling(NamedTuple):
    """One other spelling of a command or path; `kind` says what it plays on."""

    kind: str
    name: str
    text: str

    @property
    def needs(self) -> tuple[str, ...]:
        """The programs that it takes and a machine may lack."""
        words = set(re.findall(r"[\w-]+", self.text))
        return tuple(one for one in OPTIONAL if one in words)


class Report(NamedTuple):
    """What a guard said to the spellings of one action, and to harmless ones that look like it."""

    subject: str
    tried: tuple[Spelling, ...]
    slipped: tuple[Spelling, ...]
    harmless: tuple[Spelling, ...] = ()
    stopped: tuple[Spelling, ...] = ()

    def exceeds(self, most_slipped: int | None, most_stopped: int | None = None) -> bool:
        """Whether more slipped through or more harmless ones were stopped than may; without limits, never."""
        return (most_slipped is not None and len(self.slipped) > most_slipped) or (
            most_stopped is not None and len(self.stopped) > most_stopped
        )

    def as_json(self) -> dict[str, object]:
        """The report as `--json` prints it."""
        return {
            "subject": self.subject,
            "tried": len(self.tried),
            "slipped": [one._asdict() for one in self.slipped],
            "bypass_percent": _percent(self.slipped, self.tried),
            "harmless": len(self.harmless),
            "stopped": [one._asdict() for one in self.stopped],
            "false_positive_percent": _percent(self.stopped, self.harmless),
        }


def _percent(part: Sequence[Spelling], whole: Sequence[Spelling]) -> float:
    return round(100 * len(part) / len(whole), 1) if whole else 0.0


def report(
    subject: str, spelled: Sequence[Spelling], verdicts: Sequence[str], harmless: Sequence[Spelling] = ()
) -> Report:
    """What a guard said to every spelling and then to everything harmless, in their order."""
    answers = list(zip((*spelled, *harmless), verdicts, strict=True))
    slipped = [one for one, verdict in answers[: len(spelled)] if verdict not in STOPPED]
    stopped = [one for one, verdict in answers[len(spelled) :] if verdict in STOPPED]
    return Report(subject, tuple(spelled), tuple(slipped), tuple(harmless), tuple(stopped))


def of_case(stock: Stock, package: Package, case: Case, agent: str = "") -> Report | None:
    """What slips past the hooks of a case; None where they stop nothing that has another spelling."""
    event = _ask(stock, package, [lambda place: event_of(place, case)])[0]
    call = event.call
    if call is None or call.parts:
        return None
    field = next((name for name in GUARDED if isinstance(call.input.get(name), str)), "")
    subject = call.input.get(field, "")

    def verdict_on(text: str) -> Callable[[Bench], str]:
        spelled = _spelled(case, event, field, text)
        return lambda place: run_case(place, package, spelled, agent).decision.verdict

    spelled = spellings(subject) if field == COMMAND else paths(subject, event.cwd) if field else []
    if not spelled or _ask(stock, package, [verdict_on(subject)])[0] not in STOPPED:
        return None
    spelled = [one._replace(text=one.text.replace(event.root, PLACE)) for one in spelled]
    harmless = lookalikes(subject) if field == COMMAND else neighbours(subject)
    verdicts = _ask(stock, package, [verdict_on(one.text) for one in (*spelled, *harmless)])
    return report(subject.replace(event.root, PLACE), spelled, verdicts, harmless)


def _ask(stock: Stock, package: Package, runs: Sequence[Callable[[Bench], Outcome]]) -> list[Outcome]:
    """What comes of each run, in several threads at a time."""
    lots = [runs[start : start + LOT] for start in range(0, len(runs), LOT)]
    if len(lots) == 1:
        return stock.run_apart(package.origin, package.config.env, runs)
    with ThreadPoolExecutor(os.cpu_count() or 2, initializer=leave_interrupts) as pool:
        answered = pool.map(lambda lot: stock.run_apart(package.origin, package.config.env, lot), lots)
        return [outcome for outcomes in answered for outcome in outcomes]


def _spelled(case: Case, event: Event, field: str, text: str) -> Case:
    """The same case about another command or path."""
    own = get_wire(event.agent)
    call = event.call and rewrite_call(own, event.call, {**event.call.input, field: text})
    payload = write_event(own, event.replace(call=call))
    # The copy that the event was read in is gone; the next one is in its place.
    fixture = texts_changed(payload, lambda said: said.replace(event.root, PLACE))
    return case._replace(fixture=fixture, overrides=(), dialect=event.agent)


def lines(it: Report, *, every: bool = False) -> list[str]:
    """The report as people read it: by kind, of each the first few."""
    return [*_slipped_lines(it, every=every), *_stopped_lines(it, every=every)]


def _slipped_lines(it: Report, *, every: bool) -> list[str]:
    if not it.tried:
        return [f"{it.subject!r}: no other spelling is known"]
    if not it.slipped:
        return [f"{it.subject!r}: all {len(it.tried)} other spellings are stopped"]
    told = [f"{it.subject!r}: {_share(it.slipped, it.tried)} other spellings slip through"]
    for kind in dict.fromkeys(one.kind for one in it.slipped):
        slipped = [one for one in it.slipped if one.kind == kind]
        told.append(f"  {kind}: {len(slipped)} of {sum(one.kind == kind for one in it.tried)}")
        told += _listed(slipped, it.slipped, every=every)
    return told


def _stopped_lines(it: Report, *, every: bool) -> list[str]:
    if not it.harmless:
        return []
    if not it.stopped:
        return [f"  none of {len(it.harmless)} harmless look-alikes is stopped"]
    share = _share(it.stopped, it.harmless)
    return [f"  {share} harmless look-alikes are stopped", *_listed(it.stopped, it.stopped, every=every)]


def _share(part: Sequence[Spelling], whole: Sequence[Spelling]) -> str:
    return f"{len(part)} of {len(whole)} ({_percent(part, whole):.0f} %)"


def _listed(listed: Sequence[Spelling], aligned: Sequence[Spelling], *, every: bool) -> list[str]:
    width = max(len(one.name) for one in aligned)
    shown = listed if every else listed[:SHOWN_EACH]
    told = [f"    {one.name:{width}}  {_on_one_line(one.text)}" for one in shown]
    return told if len(shown) == len(listed) else [*told, f"    … and {len(listed) - len(shown)} more"]


def sum_up(reports: Sequence[Report]) -> str:
    """The rates over all actions, in one line."""
    slipped, tried, stopped, harmless = (
        [one for it in reports for one in getattr(it, name)]
        for name in ("slipped", "tried", "stopped", "harmless")
    )
    told = f"bypass rate {_percent(slipped, tried):g} % ({len(slipped)} of {len(tried)} spellings)"
    if not harmless:
        return told
    wrongly = f"{len(stopped)} of {len(harmless)} harmless look-alikes"
    return f"{told}, false positive rate {_percent(stopped, harmless):g} % ({wrongly})"


def _on_one_line(text: str) -> str:
    return text.replace("\t", "\\t").replace("\n", "\\n")


def paths(path: str, cwd: str) -> list[Spelling]:
    """Other spellings of a path, for guards of files; `cwd` is the folder that it is read from."""
    full = os.path.normpath(Path(cwd) / path)
    inside, here = os.path.relpath(full, cwd), Path(cwd).name
    folder, name = Path(full).parent, Path(full).name
    ways = {
        "absolute": full,
        "relative": inside,
        "./ before it": f"./{inside}",
        "through ..": f"../{here}/{inside}",
        "absolute through ..": f"{cwd}/../{here}/{inside}",
        "/./ inside": f"{folder}/./{name}",
        "// inside": f"{folder}//{name}",
        "folder twice": f"{folder}/../{folder.name}/{name}",
        "/proc/self/cwd": f"/proc/self/cwd/{inside}",
        "/proc/self/root": f"/proc/self/root{full}",
    }
    # macOS and Windows take these for the same file.
    start = path.removesuffix(name)
    cased = {
        "capitals": start + name.upper(),
        "a capital": start + name.title(),
        "capitals in the folder": start.upper() + name,
    }
    found = {spelled: Spelling("paths", way, spelled) for way, spelled in reversed(ways.items())}
    for way, spelled in cased.items():
        found.setdefault(spelled, Spelling("paths where case is ignored", way, spelled))
    return sorted((one for one in found.values() if one.text != path), key=lambda one: one.kind)


def neighbours(path: str) -> list[Spelling]:
    """Harmless paths that look like one that is guarded, from the project's folder."""
    name = path.rpartition("/")[2]
    parts = {"NAME": name, "STEM": re.sub(r"\W+", "_", name.strip(".").partition(".")[0]) or "x"}
    rows = {
        way: re.sub("NAME|STEM", lambda mark: parts[mark.group()], row) for way, row in BESIDE_PATH.items()
    }
    return [Spelling("look-alikes", way, text) for way, text in rows.items() if text != path]


def lookalikes(command: str) -> list[Spelling]:
    """Harmless commands that look like one that a guard stops, each text once."""
    text = command.strip()
    parts = _whole_parts(text) | {
        "DESCRIBED": shlex.quote(f"Do not run {text} here"),
        "GREPPED": shlex.quote(f"--grep={text}"),
    }
    program = _program(text)
    if program and "/" not in program and program not in BUILT_IN:
        parts["NAME"] = program
    rows = _filled({"mentioned": MENTIONED, "asked about": ASKED}, parts)
    near = [
        Spelling("near it", one, one) for pattern, ones in NEAR if re.search(pattern, text) for one in ones
    ]
    first: dict[str, Spelling] = {}
    for one in (*rows, *near):
        first.setdefault(one.text, one)
    return [one for one in first.values() if one.text not in (text, command)]


def spellings(command: str) -> list[Spelling]:
    """Every other spelling of a shell command that the tables have, each text once."""
    text = command.strip()
    if not text:
        return []
    first: dict[str, Spelling] = {}
    for one in _all(text):
        first.setdefault(one.text, one)
    return [one for one in first.values() if one.text not in (text, command)]


def _all(text: str) -> Iterator[Spelling]:
    words, program = _plain_words(text), _program(text)
    yield from _effects(text)
    if program:
        parts = _program_parts(text, program)
        for flag in BEFORE.get(program, ()):
            yield Spelling("options", f"{flag} first", f"{program} {flag} {parts['REST']}")
    if words:
        yield from _options(words)
    if program:
        yield from _filled(PROGRAM, parts)
        if program not in BUILT_IN:
            yield from _filled(FILE, parts | _path_parts(program))
        if program in APPLETS:
            yield from _filled(APPLET, parts)
    yield from _places(text)
    if len(words) > 1 and program not in BUILT_IN:
        parts = _word_parts(text, words)
        yield from _filled(PLAIN, parts)
        if words[0] in FILE_PROGRAMS and len(words[-1]) > 1 and NEAR_PATH.match(words[-1]):
            yield from _filled(WITH_FILE, parts)
        if words[0] in FILE_PROGRAMS and words[-1].startswith("/"):
            yield from _filled(WITH_ROOT, parts)
    yield from _filled(WHOLE, _whole_parts(text))


def _filled(table: Mapping[str, Mapping[str, str]], parts: Mapping[str, str]) -> Iterator[Spelling]:
    """The rows of a table for a command; a row with a part that this command lacks is left out."""
    for kind, rows in table.items():
        for name, template in rows.items():
            if all(mark in parts for mark in MARKS.findall(template)):
                text = MARKS.sub(lambda mark: parts[mark.group()], template)
                yield Spelling(kind, name, text.rstrip(" "))


def _places(text: str) -> Iterator[Spelling]:
    """The home or the root by other words."""
    start, blank, last = text.rpartition(" ")
    for words in PLACES:
        if last in words and blank:
            for word in words:
                yield Spelling("paths", f"{word} instead", f"{start} {word}")


def _whole_parts(text: str) -> dict[str, str]:
    data = text.encode()
    parts = {
        "QUOTED": shlex.quote(text),
        "DOUBLY": shlex.quote(f"bash -c {shlex.quote(text)}"),
        "SHOUTED": shlex.quote(f"!{text}"),
        "BASE64": base64.b64encode(data).decode(),
        "BASE32": base64.b32encode(data).decode(),
        "GZIPPED": base64.b64encode(gzip.compress(data, mtime=0)).decode(),
        "DIGITS": data.hex(),
        "OCTAL": _octal(text),
        "HEXADECIMAL": "".join(f"\\x{byte:02x}" for byte in data),
        "CODES": str(list(data)).replace(" ", ""),
    }
    if "\n" not in text and " #" not in text:
        # What follows a comment or the end of a here-document would be a part of it.
        parts["TEXT"] = text
        parts["REVERSED"] = shlex.quote(text[::-1])
        parts["ROTATED"] = shlex.quote(codecs.encode(text, "rot13"))
        parts["SED"] = shlex.quote(f"1e {text}")
    if "'" not in text:
        parts["LITERAL"] = json.dumps(text)
        parts["RUBY"] = json.dumps(text).replace("#", "\\#")
        parts["PHP"] = json.dumps(text).replace("$", "\\$")
        parts["PERL"] = re.sub(r"([$@])", r"\\\1", json.dumps(text))
    return parts


def _octal(text: str) -> str:
    return "".join(f"\\{byte:03o}" for byte in text.encode())


def _program(text: str) -> str:
    """The program that a command starts with; empty where that is no plain word."""
    found = STARTING_WORD.match(text)
    return found.group() if found and found.group() not in KEYWORDS else ""


def _program_parts(text: str, program: str) -> dict[str, str]:
    data = program.encode()
    parts = {
        "NAME": program,
        "REST": text[len(program) :].lstrip(),
        "OCTAL_NAME": _octal(program),
        "HEX_NAME": "".join(f"\\x{byte:02x}" for byte in data),
        "BASE64_NAME": base64.b64encode(data).decode(),
        "REVERSED_NAME": program[::-1],
        "BACKSLASHED": "".join(f"\\{letter}" for letter in program),
        "LENGTH": str(len(program)),
    }
    if program.islower():
        parts["UPPER"] = program.upper()
    return parts | ({"FIRST": program[0], "OTHERS": program[1:]} if len(program) > 1 else {})


def _path_parts(program: str) -> dict[str, str]:
    """Where a program is on this machine, and patterns that fit nothing else here."""
    folders = [] if "/" in program else ["/bin", "/usr/bin", *os.get_exec_path()]
    path = next((one for folder in folders if os.access(one := f"{folder}/{program}", os.X_OK)), "")
    if not path:
        return {}
    parts = {"PLACE": path, "GLOBBED": f"{path[:-1]}[{path[-1]}]"}
    first, _, rest = path[1:].partition("/")
    patterns = {"GLOBBED_LAST": f"{path[:-1]}?", "GLOBBED_FOLDER": f"/{'?' * len(first)}/{rest}"}
    parts |= {mark: pattern for mark, pattern in patterns.items() if glob.glob(pattern) == [path]}  # noqa: PTH207
    loader = next((one for one in LOADERS if os.access(one, os.X_OK)), "")
    return parts | ({"LOADER": loader} if loader else {})


def _plain_words(text: str) -> list[str]:
    """The words of a single command in which nothing is quoted or expanded; none of any other."""
    words = text.split(" ")
    is_plain = all(map(PLAIN_WORD.fullmatch, words)) and "=" not in words[0]
    return words if is_plain and words[0] not in KEYWORDS else []


def _word_parts(text: str, words: list[str]) -> dict[str, str]:
    last, half = words[-1], len(words[-1]) // 2
    listed = ", ".join(json.dumps(word) for word in words)
    return _program_parts(text, words[0]) | {
        "WORDS": text,
        "IFS_WORDS": "${IFS}".join(words),
        "TABBED_WORDS": "\t".join(words),
        "BROKEN_WORDS": " \\\n".join(words),
        "OCTAL_LAST": _octal(last),
        "COMMAS": ",".join(words),
        "QUOTED_WORDS": " ".join(f"'{word}'" for word in words),
        "LAST": last,
        "MOST": " ".join(words[:-1]),
        "HALF": last[:half],
        "HALVED": last[half:],
        "HALVED_FIRST": last[half],
        "HALVED_REST": last[half + 1 :],
        "LIST": f"[{listed}]",
        "LISTED": listed.replace("@", "\\@"),
    }


def _effects(text: str) -> Iterator[Spelling]:
    for pattern, rows in EFFECTS:
        if found := re.fullmatch(pattern, text):
            parts = {key.upper(): value for key, value in found.groupdict(default="").items()}
            parts = {key: value.removeprefix(":") or LEFT_OUT.get(key, "") for key, value in parts.items()}
            yield from _filled({"the same effect": rows}, parts)
    if found := re.fullmatch(SENDABLE, text):
        yield from _filled({"sent to another machine": SENT}, {"IT": found["it"]})


def _options(words: list[str]) -> Iterator[Spelling]:
    """Options apart, in another order, by their other names; only of programs whose options are known."""
    length = next((length for length in (2, 1) if " ".join(words[:length]) in LONG), 0)
    name = " ".join(words[:length])
    known = LONG.get(name, {})
    letters = _letters([word for word in words[length:] if word.startswith("-")], known)
    if not letters:
        return
    rest = [word for word in words[length:] if not word.startswith("-")]
    others = [ALSO.get(name, {}).get(letter, letter) for letter in letters]
    together = f"-{''.join(letters)}"
    ways = {
        "options apart": [*(f"-{letter}" for letter in letters), *rest],
        "options together": [together, *rest],
        "options in another order": [f"-{''.join(reversed(letters))}", *rest],
        "options apart in another order": [*(f"-{letter}" for letter in reversed(letters)), *rest],
        "an option behind": [*(f"-{letter}" for letter in letters[:-1]), *rest, f"-{letters[-1]}"],
        "long options": [*(known[letter] for letter in letters), *rest],
        "long options in another order": [*(known[letter] for letter in reversed(letters)), *rest],
        "long and short options": [known[letters[0]], *(f"-{letter}" for letter in letters[1:]), *rest],
        "options by other letters": [f"-{''.join(others)}", *rest],
        "options by other letters in another order": [f"-{''.join(reversed(others))}", *rest],
        "options apart by other letters": [*(f"-{letter}" for letter in others), *rest],
        "options apart by other letters in another order": [
            *(f"-{letter}" for letter in reversed(others)),
            *rest,
        ],
        "an option twice": [together, f"-{letters[-1]}", *rest],
        "options at the end": [*rest, together],
        "options and --": [together, "--", *rest],
    }
    cut = SHORTENED.get(name, {})
    if all(letter in cut for letter in letters):
        ways["long options cut short"] = [*(cut[letter] for letter in letters), *rest]
    for more in BESIDE.get(name, ()):
        ways[f"{more} before"] = [more, together, *rest]
        ways[f"{more} behind"] = [together, more, *rest]
    for way, spelled in ways.items():
        yield Spelling("options", way, " ".join([name, *spelled]))


def _letters(options: list[str], known: Mapping[str, str]) -> list[str]:
    """The options as letters; none if one of them is not known."""
    short = {long: letter for letter, long in reversed(list(known.items()))}
    found: list[str] = []
    for word in options:
        found += [short.get(word, "")] if word.startswith("--") else list(word[1:])
    return found if all(letter in known for letter in found) else []


_PARTS = (
    *_whole_parts("x"),
    *_word_parts("xx xx", ["xx", "xx"]),
    *("PLACE", "GLOBBED", "GLOBBED_LAST", "GLOBBED_FOLDER", "LOADER"),
    *("DESCRIBED", "GREPPED"),
    *("IT", "REMOTE", "SOURCE", "LOAD", "URL", "HOST", "PORT", "WAY"),
)
# A part of which another is the beginning comes before it.
MARKS = re.compile(rf"(?<![A-Z_])(?:{'|'.join(sorted(_PARTS, key=len, reverse=True))})(?![A-Z_])")
