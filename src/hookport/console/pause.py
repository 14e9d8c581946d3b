"""Pauses a project's hooks, or ends the pause; see `hookport pause`."""

from __future__ import annotations

import re
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Literal, NamedTuple

from hookport.console.document import print_document
from hookport.console.terminal import make_plain
from hookport.errors import UsageError, suggest_closest
from hookport.runtime import consent, pauses, remedy

UNITS = {"s": 1, "m": 60, "h": 3600}


def add_arguments(parser: ArgumentParser) -> None:
    """The arguments of `hookport pause`."""
    parser.add_argument(
        "hook",
        metavar="HOOK",
        nargs="?",
        default=pauses.EVERY,
        help="Name of the hook; every hook if left out",
    )
    parser.add_argument(
        "--for",
        dest="duration",
        metavar="TIME",
        default="30m",
        help="How long, such as 90s, 30m or 2h; at most 24h",
    )
    parser.add_argument("--end", action="store_true", help="End the pause now")
    parser.add_argument("-y", "--yes", action="store_true", help="Do not ask for confirmation")
    parser.add_argument("--json", action="store_true", help="Print JSON and ask nothing")


class Document(NamedTuple):
    """What was paused or resumed, `*` for every hook; `until` is null at the end of a pause."""

    root: str
    action: Literal["paused", "ended"]
    hooks: tuple[str, ...]
    until: str | None


def pause(
    args: Namespace, root: str, names: Sequence[str], markers: Iterable[str], env: Mapping[str, str]
) -> int:
    """Pause hooks of a project, among these names, or end the pause."""
    if args.end:
        ended = pauses.end(root, args.hook, env)
        if args.json:
            print_document(Document(root, "ended", tuple(ended), None))
            return 0
        sys.stdout.write(f"no longer paused: {_join_names(ended)}\n" if ended else "nothing was paused.\n")
        return 0
    seconds = _parse_seconds(args.duration)
    if args.hook not in (pauses.EVERY, *names):
        is_time = re.fullmatch(r"\d{1,6}[smh]", args.hook)
        hint = f"`{remedy.format_command('pause', '--for', args.hook)}`" if is_time else ""
        raise UsageError(f"unknown hook '{args.hook}'.{suggest_closest(args.hook, tuple(names))}", hint=hint)
    if not args.json:
        sys.stdout.write(f"to pause for {args.duration}: {_join_names([args.hook])}\n")
    how = consent.ask_consent(root, env, markers, yes=args.yes, asks=not args.json, verb="pause")
    if not how:
        sys.stdout.write("nothing was paused.\n")
        return 1
    pauses.begin(root, args.hook, seconds, how, env)
    over = pauses.find_pauses(root, env)[args.hook]
    if args.json:
        until = datetime.fromtimestamp(over, UTC).isoformat(timespec="seconds")
        print_document(Document(root, "paused", (args.hook,), until))
        return 0
    end = remedy.format_command("pause", "--end")
    sys.stdout.write(
        f"paused until {pauses.format_time(over)}: {_join_names([args.hook])}. `{end}` ends it.\n"
    )
    return 0


def _join_names(names: list[str]) -> str:
    return ", ".join("every hook" if name == pauses.EVERY else make_plain(name) for name in names)


def _parse_seconds(text: str) -> float:
    match = re.fullmatch(r"(\d{1,6})([smh])", text)
    seconds = int(match[1]) * UNITS[match[2]] if match else 0
    if not 0 < seconds <= pauses.LONGEST_SECONDS:
        raise UsageError(f"--for: '{text}' is not a time of at most 24h", hint="use 90s, 30m or 2h")
    return float(seconds)
