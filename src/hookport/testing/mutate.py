"""Whether a guard that stops an action also stops its other spellings, and nothing harmless.

A bypass is information, not a failure: no guard that reads text knows every spelling. A limit on bypasses is
optional.
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
from hookport.testing.bench import Bench, CopyPool, Outcome
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
from hookport.testing.run import STOPPED, Package, read_case_event, run_case
from hookport.testing.session import leave_interrupts
from hookport.testing.suite import PACKAGE_ROOT, Case, change_texts
from hookport.wire.events import write_event
from hookport.wire.rewrites import rewrite_call

PLAIN_WORD = re.compile(r"[\w@%+=:./-]+")
# A path relative to a command's folder, except `.`, `..` and paths that start with them.
NEAR_PATH = re.compile(r"\.?[\w@%+=:]")
STARTING_WORD = re.compile(r"[\w./+-]+(?=\s|$)")
# The input fields with other spellings, by their canonical names.
COMMAND = "command"
GUARDED = (COMMAND, "path")
SHOWN_EACH = 3
# The dynamic loaders of Linux, which start a given program.
LOADERS = ("/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1")
# The defaults of a command: git's remote, and the port of HTTP.
DEFAULT_PARTS = {"REMOTE": "origin", "PORT": "80"}
# The number of spellings after which the copy of the package is checked.
LOT = 24
ADVICE = (
    "A guard that searches a text for words knows only the spellings that it searches for. What helps:",
    "- split the command into words (Python: `shlex.split`) and check the program and its options;",
    "- deny what cannot be parsed: `eval`, `sh -c`, `$(…)`, backticks, pipes into a shell or an interpreter;",
    "- allow known harmless commands and ask for the rest, instead of denying known harmful commands;",
    "- make the guard fail closed, and keep valuable data where the agent has no write access.",
)


class Spelling(NamedTuple):
    """Another spelling of a command or path; `kind` names the trick."""

    kind: str
    name: str
    text: str

    @property
    def needs(self) -> tuple[str, ...]:
        """The programs that it needs and that a machine may lack."""
        words = set(re.findall(r"[\w-]+", self.text))
        return tuple(program for program in OPTIONAL if program in words)


class GuardReport(NamedTuple):
    """How a guard decided on the spellings of one action, and on harmless look-alikes."""

    subject: str
    tried: tuple[Spelling, ...]
    slipped: tuple[Spelling, ...]
    harmless: tuple[Spelling, ...] = ()
    stopped: tuple[Spelling, ...] = ()

    def exceeds(self, most_slipped: int | None, most_stopped: int | None = None) -> bool:
        """Whether bypasses or false positives exceed the limits; without limits, never."""
        return (most_slipped is not None and len(self.slipped) > most_slipped) or (
            most_stopped is not None and len(self.stopped) > most_stopped
        )

    def as_json(self) -> dict[str, object]:
        """The report in the form of `--json`."""
        return {
            "subject": self.subject,
            "tried": len(self.tried),
            "slipped": [spelling._asdict() for spelling in self.slipped],
            "bypass_percent": _compute_percent(self.slipped, self.tried),
            "harmless": len(self.harmless),
            "stopped": [spelling._asdict() for spelling in self.stopped],
            "false_positive_percent": _compute_percent(self.stopped, self.harmless),
        }


def _compute_percent(part: Sequence[Spelling], whole: Sequence[Spelling]) -> float:
    return round(100 * len(part) / len(whole), 1) if whole else 0.0


def make_report(
    subject: str, spelled: Sequence[Spelling], verdicts: Sequence[str], harmless: Sequence[Spelling] = ()
) -> GuardReport:
    """Sort spellings by a guard's verdicts: those of the spellings first, then those of the harmless ones."""
    answers = list(zip((*spelled, *harmless), verdicts, strict=True))
    slipped = [spelling for spelling, verdict in answers[: len(spelled)] if verdict not in STOPPED]
    stopped = [spelling for spelling, verdict in answers[len(spelled) :] if verdict in STOPPED]
    return GuardReport(subject, tuple(spelled), tuple(slipped), tuple(harmless), tuple(stopped))


def mutate_case(pool: CopyPool, package: Package, case: Case, agent: str = "") -> GuardReport | None:
    """Find the bypasses of a case's hooks; None if they stop nothing with another spelling."""
    event = _run_all(pool, package, [lambda bench: read_case_event(bench, case)])[0]
    call = event.call
    if call is None or call.parts:
        return None
    field = next((name for name in GUARDED if isinstance(call.input.get(name), str)), "")
    subject = call.input.get(field, "")

    def verdict_on(text: str) -> Callable[[Bench], str]:
        spelled = _respell_case(case, event, field, text)
        return lambda bench: run_case(bench, package, spelled, agent).decision.verdict

    spelled = (
        respell_command(subject) if field == COMMAND else respell_path(subject, event.cwd) if field else []
    )
    if not spelled or _run_all(pool, package, [verdict_on(subject)])[0] not in STOPPED:
        return None
    spelled = [
        spelling._replace(text=spelling.text.replace(event.root, PACKAGE_ROOT)) for spelling in spelled
    ]
    harmless = list_lookalikes(subject) if field == COMMAND else list_neighbours(subject)
    verdicts = _run_all(pool, package, [verdict_on(spelling.text) for spelling in (*spelled, *harmless)])
    return make_report(subject.replace(event.root, PACKAGE_ROOT), spelled, verdicts, harmless)


def _run_all(copies: CopyPool, package: Package, runs: Sequence[Callable[[Bench], Outcome]]) -> list[Outcome]:
    """Run all and return the outcomes in order; several threads share the work."""
    lots = [runs[start : start + LOT] for start in range(0, len(runs), LOT)]
    if len(lots) == 1:
        return copies.run_apart(package.origin, package.config.env, runs)
    with ThreadPoolExecutor(os.cpu_count() or 2, initializer=leave_interrupts) as pool:
        answered = pool.map(lambda lot: copies.run_apart(package.origin, package.config.env, lot), lots)
        return [outcome for outcomes in answered for outcome in outcomes]


def _respell_case(case: Case, event: Event, field: str, text: str) -> Case:
    """Make the same case for another command or path."""
    agent_wire = get_wire(event.agent)
    call = event.call and rewrite_call(agent_wire, event.call, {**event.call.input, field: text})
    payload = write_event(agent_wire, event.replace(call=call))
    # The copy in which the event was read is gone; the next copy has its path.
    fixture = change_texts(payload, lambda shown: shown.replace(event.root, PACKAGE_ROOT))
    return case._replace(fixture=fixture, overrides=(), dialect=event.agent)


def describe_report(outcome: GuardReport, *, every: bool = False) -> list[str]:
    """Format the report for people: by kind, with the first few of each."""
    return [*_describe_slipped(outcome, every=every), *_describe_stopped(outcome, every=every)]


def _describe_slipped(outcome: GuardReport, *, every: bool) -> list[str]:
    if not outcome.tried:
        return [f"{outcome.subject!r}: no other spelling is known"]
    if not outcome.slipped:
        return [f"{outcome.subject!r}: all {len(outcome.tried)} other spellings are stopped"]
    texts = [
        f"{outcome.subject!r}: {_describe_share(outcome.slipped, outcome.tried)} other spellings slip through"
    ]
    for kind in dict.fromkeys(spelling.kind for spelling in outcome.slipped):
        slipped = [spelling for spelling in outcome.slipped if spelling.kind == kind]
        texts.append(
            f"  {kind}: {len(slipped)} of {sum(spelling.kind == kind for spelling in outcome.tried)}"
        )
        texts += _describe_spellings(slipped, outcome.slipped, every=every)
    return texts


def _describe_stopped(outcome: GuardReport, *, every: bool) -> list[str]:
    if not outcome.harmless:
        return []
    if not outcome.stopped:
        return [f"  none of {len(outcome.harmless)} harmless look-alikes is stopped"]
    share = _describe_share(outcome.stopped, outcome.harmless)
    return [
        f"  {share} harmless look-alikes are stopped",
        *_describe_spellings(outcome.stopped, outcome.stopped, every=every),
    ]


def _describe_share(part: Sequence[Spelling], whole: Sequence[Spelling]) -> str:
    return f"{len(part)} of {len(whole)} ({_compute_percent(part, whole):.0f} %)"


def _describe_spellings(listed: Sequence[Spelling], aligned: Sequence[Spelling], *, every: bool) -> list[str]:
    width = max(len(spelling.name) for spelling in aligned)
    shown = listed if every else listed[:SHOWN_EACH]
    texts = [f"    {spelling.name:{width}}  {_escape_breaks(spelling.text)}" for spelling in shown]
    return texts if len(shown) == len(listed) else [*texts, f"    … and {len(listed) - len(shown)} more"]


def sum_up(reports: Sequence[GuardReport]) -> str:
    """The rates over all actions, in one line."""
    slipped, tried, stopped, harmless = (
        [spelling for it in reports for spelling in getattr(it, name)]
        for name in ("slipped", "tried", "stopped", "harmless")
    )
    bypasses = (
        f"bypass rate {_compute_percent(slipped, tried):g} % ({len(slipped)} of {len(tried)} spellings)"
    )
    if not harmless:
        return bypasses
    wrongly = f"{len(stopped)} of {len(harmless)} harmless look-alikes"
    return f"{bypasses}, false positive rate {_compute_percent(stopped, harmless):g} % ({wrongly})"


def _escape_breaks(text: str) -> str:
    return text.replace("\t", "\\t").replace("\n", "\\n")


def respell_path(path: str, cwd: str) -> list[Spelling]:
    """Make other spellings of a path, for guards of files; `cwd` is the folder it is relative to."""
    full = os.path.normpath(Path(cwd) / path)
    inside, folder_name = os.path.relpath(full, cwd), Path(cwd).name
    folder, name = Path(full).parent, Path(full).name
    ways = {
        "absolute": full,
        "relative": inside,
        "./ before it": f"./{inside}",
        "through ..": f"../{folder_name}/{inside}",
        "absolute through ..": f"{cwd}/../{folder_name}/{inside}",
        "/./ inside": f"{folder}/./{name}",
        "// inside": f"{folder}//{name}",
        "folder twice": f"{folder}/../{folder.name}/{name}",
        "/proc/self/cwd": f"/proc/self/cwd/{inside}",
        "/proc/self/root": f"/proc/self/root{full}",
    }
    # On macOS and Windows these are the same file.
    start = path.removesuffix(name)
    cased = {
        "capitals": start + name.upper(),
        "a capital": start + name.title(),
        "capitals in the folder": start.upper() + name,
    }
    by_text = {spelled: Spelling("paths", way, spelled) for way, spelled in reversed(ways.items())}
    for way, spelled in cased.items():
        by_text.setdefault(spelled, Spelling("paths where case is ignored", way, spelled))
    return sorted(
        (spelling for spelling in by_text.values() if spelling.text != path),
        key=lambda spelling: spelling.kind,
    )


def list_neighbours(path: str) -> list[Spelling]:
    """Make harmless paths that resemble a guarded path, relative to the project's folder."""
    name = path.rpartition("/")[2]
    parts = {"NAME": name, "STEM": re.sub(r"\W+", "_", name.strip(".").partition(".")[0]) or "x"}
    rows = {
        way: re.sub("NAME|STEM", lambda mark: parts[mark.group()], row) for way, row in BESIDE_PATH.items()
    }
    return [Spelling("look-alikes", way, text) for way, text in rows.items() if text != path]


def list_lookalikes(command: str) -> list[Spelling]:
    """Make harmless commands that resemble a command that a guard stops, each text once."""
    text = command.strip()
    parts = _make_whole_parts(text) | {
        "DESCRIBED": shlex.quote(f"Do not run {text} here"),
        "GREPPED": shlex.quote(f"--grep={text}"),
    }
    program = _find_program(text)
    if program and "/" not in program and program not in BUILT_IN:
        parts["NAME"] = program
    rows = _fill_table({"mentioned": MENTIONED, "asked about": ASKED}, parts)
    near = [
        Spelling("near it", similar, similar)
        for pattern, ones in NEAR
        if re.search(pattern, text)
        for similar in ones
    ]
    first: dict[str, Spelling] = {}
    for spelling in (*rows, *near):
        first.setdefault(spelling.text, spelling)
    return [candidate for candidate in first.values() if candidate.text not in (text, command)]


def respell_command(command: str) -> list[Spelling]:
    """Make every other spelling of a shell command in the tables, each text once."""
    text = command.strip()
    if not text:
        return []
    first: dict[str, Spelling] = {}
    for spelling in _respell_all(text):
        first.setdefault(spelling.text, spelling)
    return [candidate for candidate in first.values() if candidate.text not in (text, command)]


def _respell_all(text: str) -> Iterator[Spelling]:
    words, program = _split_plain_words(text), _find_program(text)
    yield from _respell_effect(text)
    if program:
        parts = _make_program_parts(text, program)
        for flag in BEFORE.get(program, ()):
            yield Spelling("options", f"{flag} first", f"{program} {flag} {parts['REST']}")
    if words:
        yield from _respell_options(words)
    if program:
        yield from _fill_table(PROGRAM, parts)
        if program not in BUILT_IN:
            yield from _fill_table(FILE, parts | _make_path_parts(program))
        if program in APPLETS:
            yield from _fill_table(APPLET, parts)
    yield from _respell_place(text)
    if len(words) > 1 and program not in BUILT_IN:
        parts = _make_word_parts(text, words)
        yield from _fill_table(PLAIN, parts)
        if words[0] in FILE_PROGRAMS and len(words[-1]) > 1 and NEAR_PATH.match(words[-1]):
            yield from _fill_table(WITH_FILE, parts)
        if words[0] in FILE_PROGRAMS and words[-1].startswith("/"):
            yield from _fill_table(WITH_ROOT, parts)
    yield from _fill_table(WHOLE, _make_whole_parts(text))


def _fill_table(table: Mapping[str, Mapping[str, str]], parts: Mapping[str, str]) -> Iterator[Spelling]:
    """Fill the rows of a table for a command; skip a row with a part that this command lacks."""
    for kind, rows in table.items():
        for name, template in rows.items():
            if all(mark in parts for mark in MARKS.findall(template)):
                text = MARKS.sub(lambda mark: parts[mark.group()], template)
                yield Spelling(kind, name, text.rstrip(" "))


def _respell_place(text: str) -> Iterator[Spelling]:
    """Write the home or the root in other ways."""
    start, blank, last = text.rpartition(" ")
    for words in PLACES:
        if last in words and blank:
            for word in words:
                yield Spelling("paths", f"{word} instead", f"{start} {word}")


def _make_whole_parts(text: str) -> dict[str, str]:
    data = text.encode()
    parts = {
        "QUOTED": shlex.quote(text),
        "DOUBLY": shlex.quote(f"bash -c {shlex.quote(text)}"),
        "SHOUTED": shlex.quote(f"!{text}"),
        "BASE64": base64.b64encode(data).decode(),
        "BASE32": base64.b32encode(data).decode(),
        "GZIPPED": base64.b64encode(gzip.compress(data, mtime=0)).decode(),
        "DIGITS": data.hex(),
        "OCTAL": _encode_octal(text),
        "HEXADECIMAL": "".join(f"\\x{byte:02x}" for byte in data),
        "CODES": str(list(data)).replace(" ", ""),
    }
    if "\n" not in text and " #" not in text:
        # Text after a comment or a here-document's end would become part of it.
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


def _encode_octal(text: str) -> str:
    return "".join(f"\\{byte:03o}" for byte in text.encode())


def _find_program(text: str) -> str:
    """The program of a command; empty if it is not a plain word."""
    match = STARTING_WORD.match(text)
    return match.group() if match and match.group() not in KEYWORDS else ""


def _make_program_parts(text: str, program: str) -> dict[str, str]:
    data = program.encode()
    parts = {
        "NAME": program,
        "REST": text[len(program) :].lstrip(),
        "OCTAL_NAME": _encode_octal(program),
        "HEX_NAME": "".join(f"\\x{byte:02x}" for byte in data),
        "BASE64_NAME": base64.b64encode(data).decode(),
        "REVERSED_NAME": program[::-1],
        "BACKSLASHED": "".join(f"\\{letter}" for letter in program),
        "LENGTH": str(len(program)),
    }
    if program.islower():
        parts["UPPER"] = program.upper()
    return parts | ({"FIRST": program[0], "OTHERS": program[1:]} if len(program) > 1 else {})


def _make_path_parts(program: str) -> dict[str, str]:
    """The path of a program on this machine, and patterns that match nothing else here."""
    folders = [] if "/" in program else ["/bin", "/usr/bin", *os.get_exec_path()]
    path = next((place for folder in folders if os.access(place := f"{folder}/{program}", os.X_OK)), "")
    if not path:
        return {}
    parts = {"PLACE": path, "GLOBBED": f"{path[:-1]}[{path[-1]}]"}
    first, _, rest = path[1:].partition("/")
    patterns = {"GLOBBED_LAST": f"{path[:-1]}?", "GLOBBED_FOLDER": f"/{'?' * len(first)}/{rest}"}
    parts |= {mark: pattern for mark, pattern in patterns.items() if glob.glob(pattern) == [path]}  # noqa: PTH207
    loader = next((path for path in LOADERS if os.access(path, os.X_OK)), "")
    return parts | ({"LOADER": loader} if loader else {})


def _split_plain_words(text: str) -> list[str]:
    """Split a single command without quotes or expansions; empty for any other."""
    words = text.split(" ")
    is_plain = all(map(PLAIN_WORD.fullmatch, words)) and "=" not in words[0]
    return words if is_plain and words[0] not in KEYWORDS else []


def _make_word_parts(text: str, words: list[str]) -> dict[str, str]:
    last, half = words[-1], len(words[-1]) // 2
    listed = ", ".join(json.dumps(word) for word in words)
    return _make_program_parts(text, words[0]) | {
        "WORDS": text,
        "IFS_WORDS": "${IFS}".join(words),
        "TABBED_WORDS": "\t".join(words),
        "BROKEN_WORDS": " \\\n".join(words),
        "OCTAL_LAST": _encode_octal(last),
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


def _respell_effect(text: str) -> Iterator[Spelling]:
    for pattern, rows in EFFECTS:
        if match := re.fullmatch(pattern, text):
            parts = {key.upper(): value for key, value in match.groupdict(default="").items()}
            parts = {
                key: value.removeprefix(":") or DEFAULT_PARTS.get(key, "") for key, value in parts.items()
            }
            yield from _fill_table({"the same effect": rows}, parts)
    if match := re.fullmatch(SENDABLE, text):
        yield from _fill_table({"sent to another machine": SENT}, {"IT": match["it"]})


def _respell_options(words: list[str]) -> Iterator[Spelling]:
    """Split, reorder and rename options; only for programs whose options are known."""
    length = next((length for length in (2, 1) if " ".join(words[:length]) in LONG), 0)
    name = " ".join(words[:length])
    known = LONG.get(name, {})
    letters = _list_letters([word for word in words[length:] if word.startswith("-")], known)
    if not letters:
        return
    rest = [word for word in words[length:] if not word.startswith("-")]
    synonyms = [ALSO.get(name, {}).get(letter, letter) for letter in letters]
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
        "options by other letters": [f"-{''.join(synonyms)}", *rest],
        "options by other letters in another order": [f"-{''.join(reversed(synonyms))}", *rest],
        "options apart by other letters": [*(f"-{letter}" for letter in synonyms), *rest],
        "options apart by other letters in another order": [
            *(f"-{letter}" for letter in reversed(synonyms)),
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


def _list_letters(options: list[str], known: Mapping[str, str]) -> list[str]:
    """The options as letters; empty if one is unknown."""
    short = {long: letter for letter, long in reversed(list(known.items()))}
    letters: list[str] = []
    for word in options:
        letters += [short.get(word, "")] if word.startswith("--") else list(word[1:])
    return letters if all(letter in known for letter in letters) else []


_PARTS = (
    *_make_whole_parts("x"),
    *_make_word_parts("xx xx", ["xx", "xx"]),
    *("PLACE", "GLOBBED", "GLOBBED_LAST", "GLOBBED_FOLDER", "LOADER"),
    *("DESCRIBED", "GREPPED"),
    *("IT", "REMOTE", "SOURCE", "LOAD", "URL", "HOST", "PORT", "WAY"),
)
# A part comes before any other part that is a prefix of it.
MARKS = re.compile(rf"(?<![A-Z_])(?:{'|'.join(sorted(_PARTS, key=len, reverse=True))})(?![A-Z_])")
