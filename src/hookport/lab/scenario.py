"""What a scenario is: hooks, the model's steps, the expected results; data, read and checked from YAML."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Literal, NamedTuple

from hookport.agents import Dialect, list_agents
from hookport.agents import get as get_dialect
from hookport.base.tree import Tree
from hookport.errors import InputError, Problem, UsageError, suggest_closest
from hookport.model.events import EVENTS
from hookport.model.hooks import CAPABILITIES
from hookport.model.tools import TOOLS
from hookport.shapes.dialect import WAYS as WAYS_AROUND
from hookport.shapes.dialect import list_locations

Path = tuple[str | int, ...]
Mode = Literal["bridge", "native"]
# `together`: one run, in which every format has its own hook and its own marker; `each`: a run for each
# format; `one`: one run with the first format that can express it.
Sharing = Literal["together", "each", "one"]
MODES: tuple[Mode, ...] = ("bridge", "native")
NOTHING: Mapping[str, str] = MappingProxyType({})

FORMAT = "{format}"
# In the name of a scenario's file: it is one for each agent whose file another agent reads too.
AGENT = "AGENT"
# What a hook does when it acts. `deny` is its format's best way.
ANSWERS = (
    *("none", "deny", "deny-exit", "deny-json", "noise-deny-json", "allow", "ask", "rewrite", "context"),
    # Without the event's name, which some agents require; of one field only.
    *("deny-nameless", "rewrite-partial", "sleep", "crash"),
)
ABILITIES = ("fires", "block", "rewrite", "context")
# Further needs of a scenario: a pattern on a tool's input; hooks of a project in a folder below its root;
# giving the model the reason for a denied MCP call; hooks of the agent that others can read; tool calls in an
# untrusted folder; sending its permission mode, and the path of its transcript; showing a message to a
# person; continuing after a denied call; not waiting for processes that a hook leaves behind; keeping a
# transcript that hookport can read.
WAYS = (
    *("below", "mcp_reason", "readable", "untrusted", "mode", "transcript", "told", "again", "leaves"),
    "conversation",
)
# And those of a way around: that the agent asks a hook about such calls too; `elsewhere` is a protocol whose
# process starts in another folder than the session's.
AROUND: tuple[str, ...] = (*WAYS_AROUND, "elsewhere")
# What a hook finds in the transcript.
FINDINGS = ("message", "calls")
SUBJECTS = ("command", "path", "prompt", "text")
# Fields that not every format supports.
FIELDS = ("mode", "transcript")
STEPS: dict[str, tuple[str, ...]] = {
    "shell": (),
    "read": (),
    "say": (),
    "write": ("path", "content"),
    "edit": ("path", "old", "new"),
    "mcp": ("tool", "input"),
    # A call that starts a subagent with this prompt; a shell command from a model whose context is full; an
    # answer with this HTTP status; a call of each further tool that the agent has.
    "agent": (),
    "full": (),
    "fail": (),
    "further": (),
    # A sub-agent, which runs these commands; code that runs this command by a tool; the second shell tool.
    "delegate": (),
    "code": (),
    "other_shell": (),
}
PROMPT = "Do what the task says."
# What a quick choice plays in every agent, one scenario of each.
CLASSES = ("deny", "allow", "rewrite", "context", "stop", "timeout", "failure", "tampering", "once", "events")


class ScenarioHook(NamedTuple):
    """A hook in no format yet.

    `when` is a subject and a text: it acts if the text is in that part of the payload, and otherwise has no
    opinion. `says` is a field and its whole text, `exists` a field that must name an existing path.
    `change` are the text that a rewrite replaces, in the command, or for a partial rewrite in the subject of
    `when`, and the new text. `once`: it acts only the first time. `closed`: its failure denies. `event` `*`
    means every event. A hook that slept leaves `waited-` and its witness if that file does not exist when it
    wakes. `reads` is what it finds in the transcript, the last `message` or the number of `calls`, and the
    file in which it writes that down.
    """

    name: str
    event: str
    answer: str
    tools: tuple[str, ...] = ()
    mcp: str = ""
    content: str = ""
    when: tuple[str, str] = ("", "")
    reason: str = ""
    context: str = ""
    change: tuple[str, str] = ("", "")
    once: bool = False
    timeout: float = 0
    seconds: float = 0
    witness: str = ""
    closed: bool = False
    is_async: bool = False
    says: tuple[str, str] = ("", "")
    exists: str = ""
    reads: tuple[str, str] = ("", "")


class OwnHook(NamedTuple):
    """The user's own hook in the agent's dialect and file.

    It denies with `reason` if the text `when` is in the payload; without `when` it only watches. `scope` is
    that of the file, if the agent has such a file. `child`: when it denies, it leaves a process behind for so
    many seconds, which keeps its output open.
    """

    when: str = ""
    reason: str = ""
    scope: Literal["project", "local"] = "project"
    child: int = 0
    # It is on every event that the agent's table calls one that only observes, and denies there.
    observing: bool = False


class AbilityNeed(NamedTuple):
    """An ability that an agent needs on an event."""

    event: str
    can: str


class Check(NamedTuple):
    """One condition after the run: its kind and its subject."""

    kind: str
    about: Mapping[str, Tree]


class Scenario(NamedTuple):
    """One scenario."""

    name: str
    title: str
    hooks: tuple[ScenarioHook, ...]
    steps: tuple[tuple[str, Tree], ...]
    expect: tuple[Check, ...]
    needs: tuple[AbilityNeed, ...] = ()
    # The result if the agent lacks the ability, as checks and in words.
    otherwise: tuple[Check, ...] = ()
    instead: str = ""
    modes: tuple[Mode, ...] = MODES
    formats: Sharing = "together"
    # The result if a denied call ends the agent's run.
    ending: Sharing = "together"
    # All checks if an agent itself reads a format's file; None: the same as elsewhere.
    itself: tuple[Check, ...] | None = None
    # Files of the project by path, with their text; a file starting with `#!` becomes executable.
    files: Mapping[str, str] = NOTHING
    prompt: str = PROMPT
    cwd: str = ""
    approved: bool = True
    # The hooks' scripts get another line after their approval.
    tampered: bool = False
    # The scope of the installed hooks, if the agent has the choice.
    scope: Literal["project", "user", "both"] = "project"
    # It is in the agent's file before anything is installed.
    own: OwnHook | None = None
    # The agent trusts the project's folder.
    trusted: bool = True
    # Programs that must be on the machine.
    programs: tuple[str, ...] = ()
    # Commands in files that several agents read are adopted, with the entries of all those agents.
    adopt: bool = False
    # The class of scenarios that it belongs to; empty if no other agent must play one like it.
    kind: str = ""
    # The driver's way of running the agent; empty for its usual one.
    way: str = ""
    # What the agent's own hooks must be able to have; empty for nothing in particular.
    capability: str = ""
    # The agent for which the hooks are installed, if not the one that plays.
    installed_for: str = ""
    # They are installed for the agent that plays, too.
    beside: bool = False
    # The text of the file, for the key of earlier results.
    text: str = ""

    @property
    def uses_mcp(self) -> bool:
        return any(kind == "mcp" for kind, _ in self.steps)


# The fields of a check, by its kind; fields in capitals are required, and a plain string is the first.
CHECKS: dict[str, tuple[str, ...]] = {
    "there": ("PATH", "text"),
    "gone": ("PATH",),
    "model_sees": ("TEXT", "after"),
    "model_sees_not": ("TEXT",),
    "reason": ("TEXT",),
    "told": ("TEXT",),
    "fired": ("HOOK", "times"),
    "runs": ("HOOK", "times", "least", "most"),
    "requests": ("times", "least", "most"),
    "fires": ("EVENTS",),
    "sees": ("EVENT",),
    "sees_tools": ("TOOLS",),
    "ignores": ("HOOK",),
}
_COUNTS = ("times", "least", "most", "after")
_FIELDS: dict[str, type | tuple[type, ...]] = {
    "title": str,
    "needs": (dict, list),
    "hooks": list,
    "files": dict,
    "steps": list,
    "expect": list,
    "otherwise": list,
    "instead": str,
    "modes": list,
    "formats": str,
    "ending": str,
    "itself": list,
    "prompt": str,
    "cwd": str,
    "approved": bool,
    "tampered": bool,
    "scope": str,
    "own": (bool, dict),
    "trusted": bool,
    "programs": list,
    "adopt": bool,
    "class": str,
    "way": str,
    "capability": str,
    "installed_for": str,
    "beside": bool,
}
_HOOK_FIELDS: dict[str, type | tuple[type, ...]] = {
    "name": str,
    "event": str,
    "answer": str,
    "tools": list,
    "mcp": str,
    "content": str,
    "when": dict,
    "reason": str,
    "context": str,
    "change": dict,
    "once": bool,
    "timeout": (int, float),
    "seconds": (int, float),
    "witness": str,
    "closed": bool,
    "async": bool,
    "says": dict,
    "exists": str,
    "reads": dict,
}
_KINDS = {str: "a string", dict: "an object", list: "a list", bool: "true or false", int: "a number"}


@cache
def list_names() -> tuple[str, ...]:
    """List every scenario, in alphabetical order."""
    file_names = (path.name for path in files("hookport.lab").joinpath("scenarios").iterdir())
    stems = [name.removesuffix(".yaml") for name in file_names if name.endswith(".yaml")]
    agents = list_shared_agents()
    return tuple(sorted(name for stem in stems for name in _fill_agents(stem, agents)))


def _fill_agents(stem: str, agents: Iterable[str]) -> list[str]:
    """Fill the agents into the name of a scenario that is one for each."""
    return [stem.replace(AGENT, agent) for agent in agents] if AGENT in stem else [stem]


@cache
def list_shared_agents() -> tuple[str, ...]:
    """List the agents whose hook files in a project another agent reads too, by their tables."""
    dialects = [get_dialect(agent) for agent in list_agents()]
    pairs = ((reader, dialect) for dialect in dialects for reader in dialects if reader != dialect)
    return tuple(dict.fromkeys(dialect.id for reader, dialect in pairs if reads_file_of(reader, dialect)))


def reads_file_of(reader: Dialect, agent: Dialect) -> bool:
    """Whether an agent reads the file of a project that hookport writes for another one."""
    written = next((place.path for place in agent.locations if place.scope == "project"), "")
    places = list_locations(reader, "own", "also read", "maybe read")
    return bool(written) and any(
        fnmatchcase(written, place.path) for place in places if place.scope == "project"
    )


def is_known(name: str) -> bool:
    return name in list_names()


@cache
def get(name: str) -> Scenario:
    """The scenario of that name, read once: the matrix asks for each of them hundreds of times."""
    if name not in list_names():
        raise UsageError(f"unknown scenario '{name}'.{suggest_closest(name, list_names())}")
    stem, agent = name, ""
    for candidate in list_shared_agents():
        if name.endswith(f"-{candidate}"):
            stem, agent = name.removesuffix(candidate) + AGENT, candidate
    text = files("hookport.lab").joinpath("scenarios", f"{stem}.yaml").read_text("utf-8")
    return parse_scenario(name, text.replace("{agent}", agent) if agent else text)


def parse_scenario(name: str, text: str) -> Scenario:
    """Parse a scenario; InputError lists every error in it."""
    import yaml

    file = f"{name}.yaml"
    try:
        tree = yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (0, 0)
        raise InputError(Problem(f"invalid YAML: {error.problem}", (), file, line, column)) from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # an invalid character or date
        why = str(error).partition("\n")[0]
        raise InputError(Problem(f"invalid YAML: {why}", file=file)) from None
    if not isinstance(tree, dict):
        raise InputError(Problem("a scenario must be an object", file=file))
    reader = _ScenarioReader(file)
    scenario = reader.read_scenario(name, tree)
    if reader.problems:
        raise InputError(*reader.problems)
    return scenario._replace(text=text)


class _ScenarioReader:
    """Reads one file and collects its errors."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.problems: list[Problem] = []

    def add_problem(self, path: Path, message: str) -> None:
        self.problems.append(Problem(message, path, self.file))

    def read_scenario(self, name: str, tree: Mapping[str, Tree]) -> Scenario:
        tree = self.read_fields(tree, _FIELDS, (), needed=("title", "steps", "expect"))
        needs = tree.get("needs", [])
        hooks = [
            self.read_hook(hook_tree, ("hooks", number))
            for number, hook_tree in enumerate(tree.get("hooks", []))
        ]
        steps = [
            self.read_step(step_tree, ("steps", number))
            for number, step_tree in enumerate(tree.get("steps", []))
        ]
        known = {hook.name for hook in hooks if hook} | ({"own"} if tree.get("own") else set())
        expect, otherwise = (
            self.read_checks(tree.get(key, []), key, known) for key in ("expect", "otherwise")
        )
        if bool(otherwise) != bool(tree.get("instead")):
            self.add_problem(
                ("otherwise",), "'otherwise' and 'instead' go together: the checks, and the words"
            )
        for key in ("formats", "ending"):
            self.check_word(tree.get(key, "together"), ("together", "each", "one"), (key,))
        self.check_word(tree.get("scope", "project"), ("project", "user", "both"), ("scope",))
        if "capability" in tree:
            self.check_word(tree["capability"], tuple(CAPABILITIES), ("capability",))
        if "class" in tree:
            self.check_word(tree["class"], CLASSES, ("class",))
        for number, mode in enumerate(tree.get("modes", ())):
            self.check_word(mode, MODES, ("modes", number))
        return Scenario(
            name,
            tree.get("title", ""),
            tuple(hook for hook in hooks if hook),
            tuple(step for step in steps if step),
            expect,
            tuple(self.read_needs(needs if isinstance(needs, list) else [needs])),
            otherwise,
            tree.get("instead", ""),
            tuple(tree.get("modes", MODES)),
            tree.get("formats", "together"),
            tree.get("ending", tree.get("formats", "together")),
            self.read_checks(tree["itself"], "itself", known) if "itself" in tree else None,
            self.read_texts(tree.get("files", {}), ("files",)),
            tree.get("prompt", PROMPT),
            tree.get("cwd", ""),
            tree.get("approved", True),
            tree.get("tampered", False),
            tree.get("scope", "project"),
            self.read_own(tree.get("own", False)),
            tree.get("trusted", True),
            tuple(tree.get("programs", ())),
            tree.get("adopt", False),
            tree.get("class", ""),
            tree.get("way", ""),
            tree.get("capability", ""),
            tree.get("installed_for", ""),
            tree.get("beside", False),
        )

    def read_fields(
        self,
        tree: Tree,
        known: Mapping[str, type | tuple[type, ...]],
        path: Path,
        needed: tuple[str, ...] = (),
    ) -> Mapping[str, Tree]:
        """Read the known fields of an object with the right type; the others are problems."""
        if not isinstance(tree, dict):
            self.add_problem(path, "must be an object")
            return {}
        for key in needed:
            if key not in tree:
                self.add_problem(path, f"'{key}' is missing")
        right = {}
        for key, value in tree.items():
            kind = known.get(key)
            first = kind[0] if isinstance(kind, tuple) else kind
            if kind is None or first is None:
                self.add_problem(
                    (*path, str(key)), f"unknown field.{suggest_closest(str(key), tuple(known))}"
                )
            elif not isinstance(value, kind) or (isinstance(value, bool) and first is not bool):
                self.add_problem((*path, key), f"must be {_KINDS[first]}")
            else:
                right[key] = value
        return right

    def check_word(self, word: Tree, known: tuple[str, ...], path: Path) -> None:
        if word not in known:
            self.add_problem(
                path, f"unknown word '{word}'.{suggest_closest(str(word), known)} Known: {', '.join(known)}"
            )

    def read_own(self, tree: Tree) -> OwnHook | None:
        if isinstance(tree, bool):
            return OwnHook() if tree else None
        known = {"when": str, "reason": str, "scope": str, "child": int, "observing": bool}
        fields = self.read_fields(tree, known, ("own",))
        self.check_word(fields.get("scope", "project"), ("project", "local"), ("own", "scope"))
        if bool(fields.get("when") or fields.get("observing")) != bool(fields.get("reason")):
            self.add_problem(("own",), "'when' and 'reason' go together: what it denies, and why")
        return OwnHook(**fields)

    def read_texts(self, tree: Mapping[Tree, Tree], path: Path) -> dict[str, str]:
        for key, value in tree.items():
            if not isinstance(value, str):
                self.add_problem((*path, str(key)), "must be a string")
            elif str(key).startswith("/") or ".." in str(key).split("/"):
                self.add_problem((*path, str(key)), "must be a path in the project")
        return {str(key): str(value) for key, value in tree.items()}

    def read_needs(self, trees: list[Tree]) -> list[AbilityNeed]:
        needs = []
        for number, tree in enumerate(trees):
            path: Path = ("needs", number)
            fields = self.read_fields(tree, {"event": str, "can": str}, path, needed=("event", "can"))
            self.check_word(fields.get("event", "session_start"), tuple(EVENTS), (*path, "event"))
            self.check_word(fields.get("can", "fires"), (*ABILITIES, *WAYS, *AROUND), (*path, "can"))
            needs.append(AbilityNeed(fields.get("event", ""), fields.get("can", "")))
        return needs

    def read_hook(self, tree: Tree, path: Path) -> ScenarioHook | None:
        before = len(self.problems)
        fields = self.read_fields(tree, _HOOK_FIELDS, path, needed=("name", "event", "answer"))
        self.check_word(fields.get("event", "*"), ("*", *EVENTS), (*path, "event"))
        self.check_word(fields.get("answer", "none"), ANSWERS, (*path, "answer"))
        for number, tool in enumerate(fields.get("tools", ())):
            self.check_word(tool, tuple(TOOLS), (*path, "tools", number))
        when = self.read_texts(fields.get("when", {}), (*path, "when"))
        if len(when) > 1:
            self.add_problem((*path, "when"), "must have one subject")
        for subject in when:
            self.check_word(subject, SUBJECTS, (*path, "when", subject))
        says = self.read_texts(fields.get("says", {}), (*path, "says"))
        for field in (*says, *([fields["exists"]] if "exists" in fields else [])):
            self.check_word(field, FIELDS, (*path, "says" if field in says else "exists"))
        if len(says) > 1:
            self.add_problem((*path, "says"), "must have one field")
        reads = self.read_texts(fields.get("reads", {}), (*path, "reads"))
        for word in reads:
            self.check_word(word, FINDINGS, (*path, "reads"))
        if len(reads) > 1:
            self.add_problem((*path, "reads"), "must have one word")
        change = self.read_fields(fields.get("change", {}), {"from": str, "to": str}, (*path, "change"))
        wants = {
            "rewrite": "change",
            "rewrite-partial": "change",
            "context": "context",
            "sleep": "seconds",
        }.get(fields.get("answer", ""), "")
        if wants and not fields.get(wants):
            self.add_problem(path, f"the answer '{fields['answer']}' needs '{wants}'")
        if len(self.problems) > before:
            return None
        return ScenarioHook(
            fields["name"],
            fields["event"],
            fields["answer"],
            tuple(fields.get("tools", ())),
            fields.get("mcp", ""),
            fields.get("content", ""),
            next(iter(when.items()), ("", "")),
            fields.get("reason", ""),
            fields.get("context", ""),
            (change.get("from", ""), change.get("to", "")),
            fields.get("once", False),
            fields.get("timeout", 0),
            fields.get("seconds", 0),
            fields.get("witness", ""),
            fields.get("closed", False),
            fields.get("async", False),
            next(iter(says.items()), ("", "")),
            fields.get("exists", ""),
            next(iter(reads.items()), ("", "")),
        )

    def read_step(self, tree: Tree, path: Path) -> tuple[str, Tree] | None:
        if not isinstance(tree, dict) or len(tree) != 1:
            self.add_problem(path, f"must be an object with one of: {', '.join(STEPS)}")
            return None
        kind, value = next(iter(tree.items()))
        if kind not in STEPS:
            self.check_word(kind, tuple(STEPS), path)
            return None
        kinds: dict[str, type] = {key: dict if key == "input" else str for key in STEPS[kind]}
        if kinds:
            self.read_fields(value, kinds, (*path, kind), needed=STEPS[kind])
        elif kind == "delegate":
            if not isinstance(value, list) or not all(isinstance(line, str) for line in value):
                self.add_problem((*path, kind), "must be a list of commands")
        elif not isinstance(value, str):
            self.add_problem((*path, kind), "must be a string")
        return kind, value

    def read_checks(self, trees: list[Tree], key: str, hooks: set[str]) -> tuple[Check, ...]:
        checks = []
        for number, tree in enumerate(trees):
            path: Path = (key, number)
            if not isinstance(tree, dict) or len(tree) != 1 or next(iter(tree)) not in CHECKS:
                self.add_problem(path, f"must be an object with one of: {', '.join(CHECKS)}")
                continue
            kind, value = next(iter(tree.items()))
            fields = CHECKS[kind]
            about = value if isinstance(value, dict) else {fields[0].lower(): value}
            for field, given in about.items():
                self.check_word(field, tuple(name.lower() for name in fields), (*path, kind))
                wanted = int if field in _COUNTS else str
                if not isinstance(given, wanted) or isinstance(given, bool):
                    self.add_problem((*path, kind, str(field)), f"must be {_KINDS[wanted]}")
            for field in fields:
                if field.isupper() and field.lower() not in about:
                    self.add_problem((*path, kind), f"'{field.lower()}' is missing")
            if "hook" in about:
                self.check_word(about["hook"], tuple(sorted(hooks)), (*path, kind, "hook"))
            checks.append(Check(kind, about))
        return tuple(checks)


def fill_format(tree: Tree, word: str) -> Tree:
    """Fill the format's name into data."""
    if isinstance(tree, str):
        return tree.replace(FORMAT, word)
    if isinstance(tree, Mapping):
        return {fill_format(key, word): fill_format(value, word) for key, value in tree.items()}
    if isinstance(tree, ScenarioHook | Check | tuple):
        parts = [fill_format(part, word) for part in tree]
        return type(tree)(*parts) if isinstance(tree, ScenarioHook | Check) else tuple(parts)
    return [fill_format(part, word) for part in tree] if isinstance(tree, list) else tree


def is_of_format(tree: Tree) -> bool:
    """Whether the data differs by format."""
    return bool(fill_format(tree, "") != tree)
