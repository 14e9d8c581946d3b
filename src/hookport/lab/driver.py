"""What a driver is made of: how one agent's program is fetched, pointed at the scripted model and started.

A driver is a value, one file each in `drivers`. It knows the program and nothing about hooks: the dialect
knows the hooks' files, and `hookport sync` writes them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Literal, NamedTuple


class FetchStep(NamedTuple):
    """A further call of npm or pip in a fetched package: the folder in it, and the arguments."""

    folder: str
    arguments: tuple[str, ...]


class AgentPackage(NamedTuple):
    """The package of the program, by name and pinned version, and the lowest Node or Python it needs.

    `program` is the file that starts it, if its name differs from that on PATH. `bun`: the version of Bun, a
    package on npm, that runs it. `is_last`: later releases are not this agent. `companions` are packages that
    it needs beside it, as the registry's tool takes them: `name@1.2.3` or `name==1.2.3`. `options` are added
    to the tool's arguments, and `steps` follow in this order.
    """

    registry: Literal["npm", "pypi"]
    name: str
    version: str
    node: int = 0
    python: tuple[int, int] = (0, 0)
    program: str = ""
    bun: str = ""
    is_last: bool = False
    companions: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    steps: tuple[FetchStep, ...] = ()


# Starts a value of a call's input: an expression, whose group in the last result that has it is the value.
FROM_RESULT = "$result:"


class ModelCall(NamedTuple):
    """One call of an agent's own tool by the model; a string as input is a free-form call."""

    name: str
    input: Mapping[str, object] | str
    namespace: str = ""


class ModelStep(NamedTuple):
    """One answer of the model: calls of tools, or a closing text.

    `tokens`: how full the model says that its context is. `status`: the request is refused with it.
    `inner`: the calls start a sub-agent, and these are the model's answers to it. A conversation is that of
    the sub-agent if `task` is in its prompt.
    """

    calls: tuple[ModelCall, ...] = ()
    text: str = ""
    tokens: int = 0
    status: int = 0
    task: str = ""
    inner: tuple[ModelStep, ...] = ()


class Stage(NamedTuple):
    """The world of one run: everything a driver may use, and the only places it may write.

    `cwd` is the agent's start folder: the project, or a folder in it. `program` starts the command line.
    `shared` survives between runs, for files that a program unpacks on its first start. `mcp` is the command
    line of an MCP server that the agent must know under the name `lab`, or empty. `trusted`: the agent trusts
    the project's folder, if it distinguishes that.
    """

    home: Path
    project: Path
    cwd: Path
    url: str
    program: tuple[str, ...]
    shared: Path
    prompt: str
    mcp: tuple[str, ...] = ()
    trusted: bool = True


class Way(NamedTuple):
    """Another way of running an agent, in which other events fire; what is None stays as it is."""

    command: Callable[[Stage], Sequence[str]] | None = None
    # Called after the driver's own.
    settle: Callable[[Stage], None] | None = None


# The agent's own tool call for each kind of step.
Calls = Mapping[str, Callable[..., ModelCall]]
# A call of a further tool, by the word of the vocabulary.
Further = tuple[tuple[str, Callable[[Stage], ModelCall]], ...]
# A capability of an event, for the way this driver runs the agent: `before_prompt.block`, `agent_stop.fires`.
Lacks = Mapping[str, str]


# In `lacks`: why the agent does nothing in a folder that it does not trust.
UNTRUSTED = "folder.untrusted"


class Driver(NamedTuple):
    """How one agent is driven without a person, an account or a network.

    `calls` has the agent's own tool call for each kind of step: `shell(stage, command)`,
    `write(stage, path, content)`, `edit(stage, path, old, new)`, `read(stage, path)`,
    `mcp(stage, tool, input)`; paths are relative to the project. `delegate(stage, prompt)` starts a sub-agent
    that may run commands, `code(stage, command)` runs code that runs a command through a tool, and
    `other_shell(stage, command)` is a second tool that runs commands. A missing kind cannot be played, and
    `lacks` has the reason, under `calls.read` for example.
    """

    title: str
    package: AgentPackage
    # The name of the program on PATH, and of its file in the package unless `package` names that.
    program: str
    # Its protocol for the model: a module of `protocols`.
    protocol: str
    # Writes the program's own settings: the model's address, telemetry and updates off, the MCP server.
    settle: Callable[[Stage], None]
    command: Callable[[Stage], Sequence[str]]
    environment: Callable[[Stage], Mapping[str, str]]
    calls: Calls
    # The module name of its dialect, if it differs from the driver's name.
    dialect: str = ""
    # Arguments that print the version.
    version: tuple[str, ...] = ("--version",)
    # A denied call ends the run.
    denial_ends: bool = False
    # Scenarios in which hooks of several formats interfere: each format has its own run.
    alone: tuple[str, ...] = ()
    # Abilities in the dialect's table that this product, or this way of running it, lacks, and why.
    lacks: Lacks = MappingProxyType({})
    # Abilities that depend on the product in the dialect's table, and that this product has.
    has: tuple[str, ...] = ()
    # How long one run may take, in seconds.
    patience: float = 90
    # A call of each further tool, by the word of the vocabulary; hooks see it although it may fail.
    further: Further = ()
    # Other ways of running it, by name: `asking` for permissions, which nobody gives; or by a scenario that
    # needs one in this agent;
    # `protocol`, as an editor does.
    ways: Mapping[str, Way] = MappingProxyType({})
    # How many tokens the model's context holds, for the agent.
    window: int = 128000
    # The call that opens the shell that `other_shell` types into.
    opening: Callable[[Stage], ModelCall] | None = None
