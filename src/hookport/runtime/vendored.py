"""The plan that a project commits beside `bridge.pyz`: paths from the root, sources by content, no user hook.

A source that is not what it was when the plan was made fails its hooks, and policy decides; none is skipped.
"""

from __future__ import annotations

import os

from hookport import __version__
from hookport.model._value import Value
from hookport.runtime import dispatch, plan, policy, trust
from hookport.runtime.plan import Plan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from hookport.model.runs import Event
    from hookport.runtime.plan import Planned
    from hookport.wires.table import Wire

    # What stands in one place: size and hash of a file, the names that a pattern has, None for nothing.
    Content = str | list[str] | None

FOLDER = ".hookport"
ARCHIVE, PLAN, SETTINGS = (f"{FOLDER}/{name}" for name in ("bridge.pyz", "bridge.plan", "config.json"))
RENEW = "Run `hookport sync --vendor` where hookport is installed"
# Around a path in a command; no command has it.
MARK = "\0"
# What `shlex.quote` leaves as it is.
PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./-_")


class Bridge(Value):
    """A bridge in a project: the project's root, and a plan with the wires of all dialects and no hook."""

    root: str
    tables: Plan

    def wire(self, name: str) -> Wire:
        """The wire of a dialect; there are no others than those that it was made with."""
        found = self.tables.wire(name)
        if found is None:
            from hookport.errors import UsageError, closest

            raise UsageError(f"unknown dialect '{name}'.{closest(name, tuple(self.tables.header['wires']))}")
        return found


def content(root: str, place: str, files: Mapping[str, bytes | None] = {}) -> Content:
    """What stands in a place of the project: a file, or a pattern with one star; `files` are not on disk yet.

    Line ends do not count, since git may change them.
    """
    start, star, rest = place.partition("*")
    path = os.path.join(root, start)
    if star:
        folder, stem = os.path.split(path)
        try:
            names = sorted(os.listdir(folder))
        except OSError:
            return []
        if not rest.startswith("/"):
            return [name for name in names if name.startswith(stem) and name.endswith(rest)]
        return [name for name in names if name.startswith(stem) and _is_there(f"{folder}/{name}{rest}")]
    data = files[path] if path in files else _read(path)
    if data is None:
        return None
    data = data.replace(b"\r\n", b"\n")
    return f"{len(data)} {trust.sha256(data)}"


def _is_there(path: str) -> bool:
    return not path.endswith("/__pycache__") and os.path.lexists(path)


def _read(path: str) -> bytes | None:
    try:
        with open(path, "rb", opener=_without_waiting) as file:
            return file.read()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        return str(error.strerror).encode()


def _without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def load(root: str) -> Plan | str:
    """The plan of a project, or why there is none."""
    data = _read(os.path.join(root, PLAN))
    found = "there is none" if data is None else plan.parse(data.replace(b"\r\n", b"\n"))
    # One of another kind is believed to know what is approved.
    return found if isinstance(found, str) or "contents" in found.header else "it is a plan of one machine"


def stale(found: Plan, root: str) -> list[str]:
    """The places that are not what they were."""
    return [place for place, was in found.header["contents"].items() if content(root, place) != was]


def sources(
    bridge: Bridge, agent: str, calling: Callable[[Wire], plan.CalledFrom], env: Mapping[str, str]
) -> dispatch.Sources:
    """The hooks of the project; with those of the user where an installed hookport keeps a plan of it."""
    caller = calling(bridge.wire(agent))
    kept = plan.load(plan.path_for(bridge.root, env))
    if isinstance(kept, Plan) and plan.holds(kept, __version__, env) and not _changed(kept):
        return dispatch.of_plan(kept, agent, bridge.wire, caller)
    found = load(bridge.root)
    if isinstance(found, str):
        broken = f"the plan {PLAN} cannot be used: {found}. {RENEW}."
        empty = dispatch.of_plan(bridge.tables, agent, bridge.wire)
        return empty.replace(root=bridge.root, broken=(broken,), settings=settings(bridge.root))
    old = stale(found, bridge.root)
    # Its plan has no root of this machine.
    bare = dispatch.of_plan(
        found.replace(header={**found.header, "root": bridge.root}), agent, bridge.wire, caller
    )

    def hooks(event: Event) -> Iterable[Planned]:
        return [checked(hook, bridge.root, old) for hook in bare.hooks(event)]

    def wires(name: str) -> Wire:
        return bridge.tables.wire(name) or bare.wires(name)

    return bare.replace(
        # The bridge's own tables come first: the plan is not to say what an agent obeys.
        agent=wires(agent),
        wires=wires,
        hooks=hooks,
        root=bridge.root,
        broken=(*bare.broken, *told(found, old)),
        settings=settings(bridge.root) if SETTINGS in old else bare.settings,
    )


def _changed(kept: Plan) -> bool:
    return plan.changed(kept) or plan.scripts_changed(kept.all_hooks())


def told(found: Plan, old: list[str]) -> Iterable[str]:
    made = found.header["version"]
    if made != __version__:
        yield f"the plan is stale: hookport {made} made it, this bridge is of {__version__}. {RENEW}"
    if old:
        yield f"the plan is stale: {', '.join(old)} changed since it was made. {RENEW}"


def checked(hook: Planned, root: str, old: list[str]) -> Planned:
    """A hook in its place on this machine; one whose source changed cannot run."""
    folder = f"{hook.package}/"
    mine = [place for place in old if place == hook.file or place.startswith(folder)]
    unable = f"the plan is stale: {', '.join(mine)} changed since it was made. {RENEW}" if mine else ""
    return placed(hook, root).replace(unable=unable)


def placed(hook: Planned, root: str) -> Planned:
    """A hook of the plan as it is on this machine."""
    words = hook.command.split(MARK)
    words[1::2] = [quoted(_full(root, word)) for word in words[1::2]]
    return hook.replace(
        command="".join(words), file=_full(root, hook.file), package=_full(root, hook.package)
    )


def _full(root: str, path: str) -> str:
    return root if path == "." else os.path.normpath(os.path.join(root, path)) if path else ""


def quoted(word: str) -> str:
    """The same as `shlex.quote`."""
    return word if word and PLAIN.issuperset(word) else "'" + word.replace("'", "'\"'\"'") + "'"


def settings(root: str) -> dict[str, str]:
    """What the settings of a project say where no plan does: closed, unless they are plainly not."""
    data = _read(os.path.join(root, SETTINGS))
    return {"on_failure": policy.OPEN if data is None or b'"open"' in data else policy.CLOSED}
