"""One generated POSIX shell script per event, for hosts that run a file named after the event.

The hooks stand in the script twice: as one comment line of JSON, which is what we read, and as one call each,
which is what runs; a script where the two differ is refused. Every value in a call is one single-quoted word
and nothing is evaluated. A script that somebody else wrote is one hook: its file's name is the event, and it
runs where it is.
"""

from __future__ import annotations

import json
import math
import re
import shlex
from datetime import timedelta
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from hookport.agents._base import (
    SECOND,
    Decoded,
    Dialect,
    EventSpec,
    Place,
    RefusedError,
    Shape,
    Tree,
    event_named,
    names_of,
    native_tools,
    variable_in,
)
from hookport.agents._entries import bind, slots, write_entry
from hookport.agents._module import MARK, read_data
from hookport.agents._terms import write_terms
from hookport.errors import Problem, closest
from hookport.findings import Finding, UnknownEvent
from hookport.model.hooks import NOTHING, Handler, Hook, Manifest
from hookport.model.tools import TOOLS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

DATA = "# hooks: "
CALL = "hook "
# What runs a script without a first line that says so, by its ending (src: subprocess-runner.ts).
RUNNERS = {
    "": "bash",
    **dict.fromkeys((".sh", ".bash", ".zsh"), "bash"),
    **dict.fromkeys((".js", ".mjs", ".cjs"), "node"),
    **dict.fromkeys((".ts", ".mts", ".cts"), "bun run"),
    ".py": "python3",
    ".ps1": "pwsh -NoProfile -NonInteractive -File",
}
ON_WINDOWS = {".ps1": "powershell -NoProfile -NonInteractive -ExecutionPolicy Bypass -File"}


class Limits(NamedTuple):
    """How many seconds all hooks of one event may take together before the host stops waiting.

    A host of two runtimes has two limits; 0 is none. `tools` is for events about a tool, `others` for the
    rest, `strict` for the runtime that reports the file's own name as the event.
    """

    tools: int
    others: int
    strict: int


# The answer keys are those of the one host of this shape: cancel, errorMessage, contextModification (older:
# context) and overrideInput. {…} words in capitals are filled in by `_body`.
_CODE = r"""
# Answers that stop the run and those that do not are JSON on stdout; the exit code says nothing to the host.
hp_before={BEFORE}
hp_after={AFTER}
hp_event={EVENT}
hp_limit={LIMIT}
hp_strict={STRICT}

set -f
hp_here=$(CDPATH='' cd -- "$(dirname -- "$0")" 2>/dev/null && pwd)
case $hp_here in
*/.*/hooks) {ROOT}=${hp_here%/*/*} ;;
*) {ROOT}=${HOME-} ;;
esac
[ "${ROOT}" != "${HOME-}" ] || {ROOT}=$PWD
{ROOT}=${{ROOT}:-/}
export {ROOT}

# The text on stdin as a JSON string.
hp_json() {
  LC_ALL=C awk '
    BEGIN {
      for (n = 1; n < 32; n++) code[sprintf("%c", n)] = sprintf("\\u%04x", n)
      code["\""] = "\\\""
      code["\\"] = "\\\\"
      printf "\""
    }
    {
      if (NR > 1) printf "\\n"
      size = length($0)
      for (at = 1; at <= size; at++) {
        c = substr($0, at, 1)
        printf "%s", (c in code) ? code[c] : c
      }
    }
    END { printf "\"" }'
}

# Stops the run and gives the reason: hp_deny REASON, or hp_stop_run JSON-STRING.
hp_stop_run() {
  printf '%s%s%s\n' "$hp_before" "$1" "$hp_after"
  exit 0
}
hp_deny() {
  hp_stop_run "$(printf '%s' "$1" | hp_json)"
}

# Every text that stands after a key, one a line, written as in the payload. A quote inside a text is escaped
# there, so no text can pass for a key.
hp_texts() {
  LC_ALL=C tr '\000-\037' '[ *]' <"$hp_dir/in" | LC_ALL=C awk -v key="\"$1\"" '
    {
      rest = $0
      while ((at = index(rest, key)) > 0) {
        rest = substr(rest, at + length(key))
        if (!match(rest, /^ *: *"/)) continue
        rest = substr(rest, RLENGTH + 1)
        text = ""
        while ((end = index(rest, "\"")) > 0) {
          text = text substr(rest, 1, end - 1)
          rest = substr(rest, end + 1)
          n = 0
          while (n < length(text) && substr(text, length(text) - n, 1) == "\\") n++
          if (n % 2 == 0) break
          text = text "\""
        }
        print text
      }
    }'
}

# The known keys of the one JSON object in the file, as lines of key, tab, JSON; nothing if it is not that.
hp_keys() {
  LC_ALL=C tr '\000-\037' '[ *]' <"$1" | LC_ALL=C awk '
    function blank() { while (substr(shape, p, 1) == " ") p++ }
    function string(  s, t) {
      if (substr(shape, p, 1) != "\"") { bad = 1; return "" }
      p++
      s = t = texts[++used]
      gsub(/\\u[0-9A-Fa-f][0-9A-Fa-f][0-9A-Fa-f][0-9A-Fa-f]|\\["\\\/bfnrt]/, "", t)
      if (index(t, "\\")) bad = 1
      return "\"" s "\""
    }
    function value(  c, out, last, next_) {
      blank()
      c = substr(shape, p, 1)
      if (c == "\"") return string()
      if (c != "{" && c != "[") {
        out = substr(shape, p, 400)
        if (!match(out, /^(true|false|null|-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?)/)) {
          bad = 1
          return ""
        }
        out = substr(shape, p, RLENGTH)
        p += RLENGTH
        return out
      }
      last = c == "{" ? "}" : "]"
      out = c
      p++
      depth++
      blank()
      if (substr(shape, p, 1) == last) { p++; depth--; return out last }
      while (!bad) {
        if (c == "{") {
          blank()
          key[depth] = string()
          blank()
          if (substr(shape, p, 1) != ":") bad = 1
          p++
          out = out key[depth] ":"
        }
        item = value()
        if (depth == 1 && c == "{") top[key[1]] = item
        out = out item
        blank()
        next_ = substr(shape, p, 1)
        p++
        if (next_ == last) { depth--; return out last }
        if (next_ != ",") bad = 1
        out = out ","
      }
      return ""
    }
    { all = all $0 }
    END {
      count = split(all, part, "\"")
      for (i = 1; i <= count; i++) {
        if (!inside) {
          shape = shape part[i]
          if (i < count) { shape = shape "\""; inside = 1; texts[++made] = "" }
          continue
        }
        texts[made] = texts[made] part[i]
        n = 0
        while (n < length(part[i]) && substr(part[i], length(part[i]) - n, 1) == "\\") n++
        if (n % 2) texts[made] = texts[made] "\""
        else inside = i == count
      }
      p = 1
      blank()
      if (inside || substr(shape, p, 1) != "{") exit
      value()
      blank()
      if (bad || p <= length(shape)) exit
      if (top["\"cancel\""] == "true") print "cancel\ttrue"
      split("errorMessage contextModification context", names, " ")
      for (i = 1; i <= 3; i++) {
        item = top["\"" names[i] "\""]
        if (substr(item, 1, 1) == "\"" && length(item) > 2) print names[i] "\t" item
      }
      item = top["\"overrideInput\""]
      if (item != "" && item != "null") print "overrideInput\t" item
    }'
}

hp_now() {
  hp_clock=$(date +%s 2>/dev/null)
  case $hp_clock in '' | *[!0-9]*) hp_clock=0 ;; esac
}

# Whether the payload is about one of these tools. A payload that names no tool is about all of them.
hp_applies() {
  [ "$hp_reach" = all ] && return 0
  [ -s "$hp_dir/tools" ] || return 0
  while IFS= read -r hp_tool; do
    for hp_word do
      case $hp_word in
      *'*') case $hp_tool in "${hp_word%?}"*) return 0 ;; esac ;;
      *) [ "x$hp_tool" = "x$hp_word" ] && return 0 ;;
      esac
    done
    if [ "$hp_reach" = others ]; then
      case $hp_tool in
      {BUILTIN}) ;;
      *) return 0 ;;
      esac
    fi
  done <"$hp_dir/tools"
  return 1
}

# Kills a process, its group if it leads one, and all that descend from it.
hp_kill() {
  hp_tree=$(ps -A -o pid= -o ppid= 2>/dev/null | awk -v top="$1" '
    { parent[$1] = $2 }
    END {
      for (pid in parent) {
        up = pid
        for (n = 0; n < 99 && up != top && (up in parent); n++) up = parent[up]
        if (up == top && pid != top) print pid
      }
    }')
  kill -9 -- "-$1" 2>/dev/null
  kill -9 "$1" $hp_tree 2>/dev/null
}

# hook SECONDS blocks|watches open|late|closed all|some|others NAME COMMAND TOOL...
hook() {
  hp_seconds=$1 hp_blocks=$2 hp_fails=$3 hp_reach=$4 hp_name=$5 hp_command=$6
  shift 6
  if [ -z "$hp_dir" ]; then
    [ "$hp_blocks $hp_fails" != 'blocks closed' ] || hp_deny "hook $hp_name did not start: no temporary files"
    return 0
  fi
  hp_applies "$@" || return 0
  if [ "$hp_limit" -gt 0 ]; then
    hp_now
    hp_left=$((hp_start + hp_limit - hp_clock))
    [ "$hp_left" -ge "$hp_seconds" ] || hp_seconds=$hp_left
  fi
  rm -f "$hp_dir/late"
  : >"$hp_dir/out"
  : >"$hp_dir/err"
  if [ "$hp_seconds" -lt 1 ]; then
    : >"$hp_dir/late"
    hp_code=137
  else
    hp_run
  fi
  hp_cancel='' hp_reason='' hp_text='' hp_input=''
  if [ -s "$hp_dir/out" ]; then
    hp_keys "$hp_dir/out" >"$hp_dir/keys"
    while IFS='	' read -r hp_key hp_item; do
      case $hp_key in
      cancel) hp_cancel=1 ;;
      errorMessage) hp_reason=$hp_item ;;
      contextModification) hp_text=$hp_item ;;
      context) hp_text=${hp_text:-$hp_item} ;;
      overrideInput) hp_input=$hp_item ;;
      esac
    done <"$hp_dir/keys"
  fi
  if [ "$hp_blocks" = blocks ]; then
    if [ -e "$hp_dir/late" ] && [ "$hp_code" -gt 128 ]; then
      [ "$hp_fails" = open ] || hp_deny "hook $hp_name did not answer in time"
      return 0
    fi
    if [ -n "$hp_cancel" ]; then
      [ -z "$hp_reason$hp_text" ] || hp_stop_run "${hp_reason:-$hp_text}"
      hp_deny "blocked by hook $hp_name"
    fi
    if [ "$hp_code" -eq 2 ]; then
      hp_reason=$(dd bs=8192 count=1 <"$hp_dir/err" 2>/dev/null | LC_ALL=C tr -d '\000')
      case $hp_reason in
      *[![:space:]]*) hp_deny "$hp_reason" ;;
      *) hp_deny "blocked by hook $hp_name" ;;
      esac
    fi
    if [ "$hp_code" -ne 0 ] && [ "$hp_fails" = closed ]; then
      hp_deny "hook $hp_name failed with exit code $hp_code"
    fi
  fi
  if [ -n "$hp_input" ] && [ "$hp_event" = PreToolUse ]; then
    [ -z "$hp_is_strict" ] || hp_deny "hook $hp_name changes the tool's input, and this host would ignore it"
    hp_override=$hp_input
  fi
  if [ -n "$hp_text" ]; then
    hp_text=${hp_text#?}
    hp_context=${hp_context:+$hp_context'\n\n'}${hp_text%?}
  fi
}

# Runs the command with the payload on stdin, in a group of its own where there is setsid. The clock is a pipe
# that sleep holds open, so that both watchers are our own children and one signal ends each for sure. What is
# run may be hookport, which must answer before the clock ends it.
hp_run() {
  HOOKPORT_WITHIN=$hp_seconds $hp_setsid sh -c " $hp_command" <"$hp_dir/in" >"$hp_dir/out" 2>"$hp_dir/err" &
  hp_child=$!
  sleep "$hp_seconds" </dev/null >"$hp_dir/clock" 2>/dev/null &
  hp_sleep=$!
  (
    read -r hp_tick <"$hp_dir/clock"
    : >"$hp_dir/late"
    hp_kill "$hp_child"
  ) </dev/null >/dev/null 2>&1 &
  hp_watch=$!
  wait "$hp_child" 2>/dev/null
  hp_code=$?
  hp_child=''
  [ -e "$hp_dir/late" ] || kill -9 "$hp_watch" 2>/dev/null
  kill -9 "$hp_sleep" 2>/dev/null
  wait "$hp_watch" "$hp_sleep" 2>/dev/null
}

hp_now
hp_start=$hp_clock
hp_child='' hp_context='' hp_override='' hp_is_strict='' hp_try=0
hp_setsid=$(command -v setsid 2>/dev/null) && hp_setsid=setsid
hp_mask=$(umask)
umask 077
hp_dir=${TMPDIR:-/tmp}/hookport.$$
until mkdir "$hp_dir.$hp_try" 2>/dev/null; do
  hp_try=$((hp_try + 1))
  [ "$hp_try" -lt 20 ] || break
done
hp_dir=$hp_dir.$hp_try
[ "$hp_try" -lt 20 ] && mkfifo "$hp_dir/clock" || hp_dir=''
umask "$hp_mask"
if [ -n "$hp_dir" ]; then
  trap 'rm -rf "$hp_dir"' EXIT
  trap '[ -z "$hp_child" ] || hp_kill "$hp_child"; exit 1' HUP INT TERM
  cat >"$hp_dir/in"
  hp_texts toolName >"$hp_dir/tools"
  hp_texts hookName >"$hp_dir/event"
  hp_host=''
  IFS= read -r hp_host <"$hp_dir/event"
  # One runtime names the event in snake case; the stricter one, and whatever we do not know, does not.
  case $hp_host in '' | *[!a-z_]*) hp_is_strict=1 hp_limit=$hp_strict ;; esac
fi

{CALLS}

hp_answer=''
[ -z "$hp_context" ] || hp_answer="\"contextModification\": \"$hp_context\""
[ -z "$hp_override" ] || hp_answer="${hp_answer:+$hp_answer, }\"overrideInput\": $hp_override"
[ -z "$hp_answer" ] || printf '{%s}\n' "$hp_answer"
exit 0
"""


def decoder(limits: Limits) -> Callable[[Dialect, Mapping[str, Tree]], Decoded]:
    """What reads scripts: the hooks of one that hookport generated, or the one hook that another is."""

    def decode(dialect: Dialect, trees: Mapping[str, Tree]) -> Decoded:
        hooks: list[tuple[Hook, Place]] = []
        findings: list[Finding] = []
        problems: list[Problem] = []
        for file, text in trees.items():
            if not isinstance(text, str):
                continue
            if is_generated(text):
                hooks += _generated(dialect, file, text, findings, problems)
            elif (spec := event_of(dialect, file)) is not None:
                hooks.append((_in_place(dialect, spec, file, text, limits), Place(file, ())))
        if problems:
            raise RefusedError(*problems)
        manifest = Manifest(tuple(hook for hook, _ in hooks))
        return Decoded(manifest, tuple(place for _, place in hooks), tuple(findings))

    return decode


def _generated(
    dialect: Dialect, file: str, text: str, findings: list[Finding], problems: list[Problem]
) -> list[tuple[Hook, Place]]:
    """The hooks of a script that hookport generated."""
    native = _native(dialect, file)
    data = next((line for line in text.split("\n")[:6] if line.startswith(DATA)), "")
    try:
        entries = json.loads(data.removeprefix(DATA))
    except (ValueError, RecursionError):
        entries = None
    if not isinstance(entries, list):
        problems.append(Problem("the list of hooks is damaged; convert the source again", (), file))
        return []
    if event_named(dialect, native) is None:
        guess = closest(native, tuple(event.native for event in dialect.events))
        findings.append(
            UnknownEvent.at("", event=native, dialect=dialect.id, guess=guess)._replace(file=file)
        )
    read = [
        read_data(dialect, native, entry, Place(file, (number,)), problems)
        for number, entry in enumerate(entries)
    ]
    found = [(hook, Place(file, (number,))) for number, hook in enumerate(read) if hook]
    if len(found) == len(entries) and _calls(dialect, [hook for hook, _ in found]) not in text:
        problems.append(
            Problem("what it runs is not what its list of hooks says; convert the source again", (), file)
        )
    return found


def is_generated(text: str) -> bool:
    """Whether hookport generated a script."""
    return MARK in "\n".join(text.split("\n", 3)[:3])


def event_of(dialect: Dialect, file: str) -> EventSpec | None:
    """The event whose script a file is by its name; a file of another name is never run."""
    path = PurePosixPath(file)
    known = {spec.native.lower(): spec for spec in dialect.events}
    return known.get(path.stem.lower()) if path.suffix.lower() in RUNNERS else None


def native_of(dialect: Dialect, file: str) -> str:
    """The event on which the host runs a file of that name; empty if it never does."""
    spec = event_of(dialect, file)
    return spec.native if spec else ""


def _in_place(dialect: Dialect, spec: EventSpec, file: str, text: str, limits: Limits) -> Hook:
    """The hook that a script is: as the host runs it, for as long as the host waits."""
    script = _spelled(dialect, file)
    ending = PurePosixPath(file).suffix.lower()
    runner = _shebang(text) or RUNNERS[ending]
    windows = f"{ON_WINDOWS[ending]} {script}" if ending in ON_WINDOWS else ""
    limit = limits.tools if spec.subject == "tool" else limits.others
    handler = Handler(
        command=f"{runner} {script}",
        platform={"windows": windows} if windows else NOTHING,
        timeout=timedelta(seconds=limit) if limit else None,
    )
    return bind(dialect, Hook("", handler, dialect=dialect.id), spec.native, spec, (), "")


def _spelled(dialect: Dialect, file: str) -> str:
    """A script as a word of the shell: from the project's root or the user's home, by the place it is at."""
    steps = PurePosixPath(file).parts
    for place in dialect.locations:
        parts = PurePosixPath(place.path).parts
        wanted = parts[1:] if parts[0] == "~" else parts
        tail = steps[-len(wanted) :]
        if len(tail) == len(wanted) and all(map(fnmatchcase, tail, wanted)):
            start = "~" if parts[0] == "~" else f'"{dialect.project_dir[0]}"'
            return f"{start}/{shlex.quote('/'.join(tail))}"
    return shlex.quote(file) if file.startswith("/") else f'"{dialect.project_dir[0]}"/{shlex.quote(file)}'


def _shebang(text: str) -> str:
    """What the first line of a script says runs it, as words of the shell; empty if it does not."""
    first = text.partition("\n")[0]
    words = first[2:].split() if first.startswith("#!") else []
    if words and PurePosixPath(words[0]).name == "env":
        rest = words[2:] if words[1:2] == ["-S"] else words[1:]
        words = words if rest and rest[0].startswith("-") else rest
    return shlex.join(words)


def _native(dialect: Dialect, file: str) -> str:
    """The event that a generated script is named after; some hosts do not care about upper and lower case."""
    stem = PurePosixPath(file).name.partition(".")[0]
    name = re.sub(
        r"(?:%[0-9A-F]{2})+",
        lambda match: bytes.fromhex(match[0].replace("%", "")).decode("utf-8", "replace"),
        stem,
    )
    known = {spec.native.lower(): spec.native for spec in dialect.events}
    return known.get(name.lower(), name)


def _file(dialect: Dialect, native: str) -> str:
    """The path of an event's script; what is not a plain word cannot leave the folder."""
    name = re.sub(
        r"[^A-Za-z0-9_-]",
        lambda match: "".join(f"%{byte:02X}" for byte in match[0].encode("utf-8", "replace")),
        native,
    )
    return dialect.locations[0].path.replace("*", name or "%")


def script(limits: Limits) -> Shape:
    """The shape for a host with these limits."""

    def encode(dialect: Dialect, manifest: Manifest) -> dict[str, Tree]:
        by_event: dict[str, tuple[EventSpec, list[Hook]]] = {}
        for hook in manifest.hooks:
            spec = slots(dialect, hook)[0][0]
            by_event.setdefault(spec.native, (spec, []))[1].append(hook)
        return {_file(dialect, native): _text(dialect, *found, limits) for native, found in by_event.items()}

    return Shape(decoder(limits), encode, in_place=native_of)


def _text(dialect: Dialect, spec: EventSpec, hooks: list[Hook], limits: Limits) -> str:
    data = json.dumps([_data(dialect, hook) for hook in hooks], ensure_ascii=True)
    title = re.sub(r"[^ -~]", "?", f"{dialect.title} runs this file on every {spec.native}.")
    return f"#!/bin/sh\n# {MARK}\n# {title}\n{DATA}{data}\n{_body(dialect, spec, hooks, limits)}"


def _data(dialect: Dialect, hook: Hook) -> dict[str, Tree]:
    matcher = {"matcher": write_terms(hook.matcher)} if hook.matcher else {}
    return {**matcher, **write_entry(dialect, hook)}


def _body(dialect: Dialect, spec: EventSpec, hooks: list[Hook], limits: Limits) -> str:
    before, _, after = json.dumps(dialect.deny_answer).partition('"{reason}"')
    fill = {
        "BEFORE": word(before),
        "AFTER": word(after),
        "EVENT": word(spec.native),
        "LIMIT": str(limits.tools if spec.subject == "tool" else limits.others),
        "STRICT": str(limits.strict),
        "ROOT": variable_in(dialect.project_dir[0]),
        "BUILTIN": " | ".join(_pattern(name) for name in native_tools(dialect)),
        "CALLS": _calls(dialect, hooks),
    }
    return re.sub(r"\{([A-Z]+)\}", lambda match: fill[match[1]], _CODE)


def _pattern(name: str) -> str:
    return f"{word(name[:-1])}*" if name.endswith("*") else word(name)


def _calls(dialect: Dialect, hooks: list[Hook]) -> str:
    return "\n".join(_call(dialect, hook) for hook in hooks)


def _call(dialect: Dialect, hook: Hook) -> str:
    handler = hook.handler
    default = dialect.handlers["command"].timeout.default
    timeout = handler.timeout if handler.timeout is not None else default
    seconds = math.ceil(timeout / SECOND) if timeout is not None else 0
    fails = (
        "closed" if handler.on_failure == "block" else "late" if handler.timeout_action == "block" else "open"
    )
    tools, reach = _reach(dialect, hook)
    words = [
        str(seconds),
        "blocks" if hook.blocking else "watches",
        fails,
        reach,
        word(hook.name or handler.command.split("\n")[0][:60]),
        word(handler.command),
        *(word(json.dumps(tool, ensure_ascii=False)[1:-1]) for tool in tools),
    ]
    return CALL + " ".join(words)


def _reach(dialect: Dialect, hook: Hook) -> tuple[list[str], str]:
    """The names of the tools a hook is for, and whether all, only these or others too."""
    if not hook.matcher or any(term.kind == "pattern" for term in hook.matcher):
        return [], "all"
    tools: list[str] = []
    for term in hook.matcher:
        if term.kind == "tool":
            tools += names_of(dialect, term.value) if term.value in TOOLS else [term.value]
    return list(dict.fromkeys(tools)), "others" if any(
        term.kind == "mcp" for term in hook.matcher
    ) else "some"


def word(text: str) -> str:
    """The text as one word of the shell; what no process can be given becomes a command that cannot start."""
    if "\0" in text or any("\ud800" <= char <= "\udfff" for char in text):
        return "'exit 126 # no process can be given this text'"
    return "'" + text.replace("'", "'\\''") + "'"
