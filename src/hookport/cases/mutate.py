"""Whether a guard that stops an action also stops it when it is written in another way.

What slips through is information, not a failure: no guard that reads text knows every spelling. Who wants a
limit says how many may slip through.
"""

from __future__ import annotations

import base64
import json
import os
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from hookport.cases.disguises import (
    ALSO,
    BEFORE,
    BUILT_IN,
    EFFECTS,
    FILE,
    FILE_PROGRAMS,
    KEYWORDS,
    LONG,
    OPTIONAL,
    PLAIN,
    PROGRAM,
    WHOLE,
    WITH_FILE,
)
from hookport.cases.run import Package, event_of, run_case
from hookport.cases.suite import PLACE, Case, texts_changed
from hookport.dialects._wiring import wire
from hookport.model.runs import Event
from hookport.wires.events import rewritten, write_event

PLAIN_WORD = re.compile(r"[\w@%+=:./-]+")
STARTING_WORD = re.compile(r"[\w./+-]+(?=\s|$)")
STOPPED = ("deny", "ask")
# The fields of a tool's input that have other spellings, by their canonical names.
COMMAND = "command"
GUARDED = (COMMAND, "path")
SHOWN_EACH = 3
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
    """What a guard said to the spellings of one action."""

    subject: str
    tried: tuple[Spelling, ...]
    slipped: tuple[Spelling, ...]

    def exceeds(self, most: int | None) -> bool:
        """Whether more slipped through than may; with no limit, never."""
        return most is not None and len(self.slipped) > most

    def as_json(self) -> dict[str, object]:
        """The report as `--json` prints it."""
        return {
            "subject": self.subject,
            "tried": len(self.tried),
            "slipped": [one._asdict() for one in self.slipped],
        }


def report(subject: str, spelled: Sequence[Spelling], verdict: Callable[[str], str]) -> Report:
    """Ask a guard about every spelling; `verdict` runs it on one, in several threads at a time."""
    with ThreadPoolExecutor(os.cpu_count() or 2) as pool:
        verdicts = list(pool.map(verdict, [one.text for one in spelled]))
    slipped = [one for one, said in zip(spelled, verdicts, strict=True) if said not in STOPPED]
    return Report(subject, tuple(spelled), tuple(slipped))


def of_case(package: Package, case: Case, agent: str = "") -> Report | None:
    """What slips past the hooks of a case; None where they stop nothing that has another spelling."""
    event = event_of(package, case)
    call = event.call
    if call is None or call.parts:
        return None
    field = next((name for name in GUARDED if isinstance(call.input.get(name), str)), "")
    subject = call.input.get(field, "")

    def verdict(text: str) -> str:
        return run_case(package, _spelled(case, event, field, text), agent).decision.verdict

    spelled = spellings(subject) if field == COMMAND else paths(subject, event.cwd) if field else []
    if not spelled or verdict(subject) not in STOPPED:
        return None
    spelled = [one._replace(text=one.text.replace(event.root, PLACE)) for one in spelled]
    return report(subject.replace(event.root, PLACE), spelled, verdict)


def _spelled(case: Case, event: Event, field: str, text: str) -> Case:
    """The same case about another command or path."""
    own = wire(event.agent)
    call = event.call and rewritten(own, event.call, {**event.call.input, field: text})
    payload = write_event(own, event.replace(call=call))
    # The copy that the event was read in is gone; the next one is in its place.
    fixture = texts_changed(payload, lambda said: said.replace(event.root, PLACE))
    return case._replace(fixture=fixture, overrides=(), dialect=event.agent)


def lines(it: Report, *, every: bool = False) -> list[str]:
    """The report as people read it: by kind, of each the first few."""
    if not it.tried:
        return [f"{it.subject!r}: no other spelling is known"]
    if not it.slipped:
        return [f"{it.subject!r}: all {len(it.tried)} other spellings are stopped"]
    told = [f"{it.subject!r}: {len(it.slipped)} of {len(it.tried)} other spellings slip through"]
    width = max(len(one.name) for one in it.slipped)
    for kind in dict.fromkeys(one.kind for one in it.slipped):
        slipped = [one for one in it.slipped if one.kind == kind]
        told.append(f"  {kind}: {len(slipped)} of {sum(one.kind == kind for one in it.tried)}")
        shown = slipped if every else slipped[:SHOWN_EACH]
        told += [f"    {one.name:{width}}  {_on_one_line(one.text)}" for one in shown]
        if len(shown) < len(slipped):
            told.append(f"    … and {len(slipped) - len(shown)} more")
    return told


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
    }
    # macOS and Windows take these for the same file.
    start = path.removesuffix(name)
    cased = {"capitals": start + name.upper(), "a capital": start + name.title()}
    found = {spelled: Spelling("paths", way, spelled) for way, spelled in reversed(ways.items())}
    for way, spelled in cased.items():
        found.setdefault(spelled, Spelling("paths where case is ignored", way, spelled))
    return sorted((one for one in found.values() if one.text != path), key=lambda one: one.kind)


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
    if len(words) > 1 and program not in BUILT_IN:
        parts = _word_parts(text, words)
        yield from _filled(PLAIN, parts)
        if words[0] in FILE_PROGRAMS and len(words[-1]) > 1 and words[-1][0] not in "/-.":
            yield from _filled(WITH_FILE, parts)
    yield from _filled(WHOLE, _whole_parts(text))


def _filled(table: Mapping[str, Mapping[str, str]], parts: Mapping[str, str]) -> Iterator[Spelling]:
    """The rows of a table for a command; a row with a part that this command lacks is left out."""
    for kind, rows in table.items():
        for name, template in rows.items():
            if all(mark in parts for mark in MARKS.findall(template)):
                text = MARKS.sub(lambda mark: parts[mark.group()], template)
                yield Spelling(kind, name, text.rstrip(" "))


def _whole_parts(text: str) -> dict[str, str]:
    data = text.encode()
    parts = {
        "QUOTED": shlex.quote(text),
        "SHOUTED": shlex.quote(f"!{text}"),
        "BASE64": base64.b64encode(data).decode(),
        "OCTAL": _octal(text),
        "HEXADECIMAL": "".join(f"\\x{byte:02x}" for byte in data),
        "CODES": str(list(data)).replace(" ", ""),
    }
    if "\n" not in text and " #" not in text:
        # What follows a comment or the end of a here-document would be a part of it.
        parts["TEXT"] = text
        parts["REVERSED"] = shlex.quote(text[::-1])
    if "'" not in text:
        parts["LITERAL"] = json.dumps(text)
        parts["PERL"] = re.sub(r"([$@])", r"\\\1", json.dumps(text))
    return parts


def _octal(text: str) -> str:
    return "".join(f"\\{byte:03o}" for byte in text.encode())


def _program(text: str) -> str:
    """The program that a command starts with; empty where that is no plain word."""
    found = STARTING_WORD.match(text)
    return found.group() if found and found.group() not in KEYWORDS else ""


def _program_parts(text: str, program: str) -> dict[str, str]:
    parts = {"NAME": program, "REST": text[len(program) :].lstrip(), "OCTAL_NAME": _octal(program)}
    return parts | ({"FIRST": program[0], "OTHERS": program[1:]} if len(program) > 1 else {})


def _path_parts(program: str) -> dict[str, str]:
    """Where a program is on this machine."""
    folders = [] if "/" in program else ["/bin", "/usr/bin", *os.get_exec_path()]
    path = next((one for folder in folders if os.access(one := f"{folder}/{program}", os.X_OK)), "")
    return {"PATH": path, "GLOBBED": f"{path[:-1]}[{path[-1]}]"} if path else {}


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
            parts = {key.upper(): value or "origin" for key, value in found.groupdict().items()}
            yield from _filled({"the same effect": rows}, parts)
            return


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
        "long options": [*(known[letter] for letter in letters), *rest],
        "long options in another order": [*(known[letter] for letter in reversed(letters)), *rest],
        "long and short options": [known[letters[0]], *(f"-{letter}" for letter in letters[1:]), *rest],
        "options by other letters": [f"-{''.join(others)}", *rest],
        "an option twice": [together, f"-{letters[-1]}", *rest],
        "options at the end": [*rest, together],
        "options and --": [together, "--", *rest],
    }
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
    *("PATH", "GLOBBED", "IT", "REMOTE", "SOURCE", "GET"),
)
# A part of which another is the beginning comes before it.
MARKS = re.compile(rf"(?<![A-Z_])(?:{'|'.join(sorted(_PARTS, key=len, reverse=True))})(?![A-Z_])")
