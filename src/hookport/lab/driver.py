"""What a driver is made of: how one agent's program is fetched, pointed at the scripted model and started.

A driver is a value, one file each in `drivers`; it knows the program and nothing about hooks. Which files
hold hooks, and what they say, is known by the dialect and written by `hookport sync`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Literal, NamedTuple


class AgentPackage(NamedTuple):
    """Where the program comes from, by name and pinned version, and the least Node or Python it runs on.

    `program` is the file that starts it, where its name is not that on PATH.
    """

    registry: Literal["npm", "pypi"]
    name: str
    version: str
    node: int = 0
    python: tuple[int, int] = (0, 0)
    program: str = ""


class ModelCall(NamedTuple):
    """One call of an agent's own tool, as the model makes it; a text as input is a free-form call."""

    name: str
    input: Mapping[str, object] | str
    namespace: str = ""


class ModelStep(NamedTuple):
    """One answer of the model: calls of tools, or a closing text."""

    calls: tuple[ModelCall, ...] = ()
    text: str = ""


class Stage(NamedTuple):
    """The world of one run: everything a driver may use, and the only places it may write to.

    `cwd` is where the agent is started: the project, or a folder in it. `program` starts the command line.
    `shared` is kept between runs, for what a program unpacks on its first start. `mcp` is the command line of
    an MCP server that the agent must know by the name `lab`, or nothing. `trusted`: the agent trusts the
    project's folder, where that makes a difference to it.
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


# The agent's own tool call for each kind of step.
Calls = Mapping[str, Callable[..., ModelCall]]
# A capability of an event, for the way this driver runs the agent: `before_prompt.block`, `agent_stop.fires`.
Lacks = Mapping[str, str]


class Driver(NamedTuple):
    """How one agent is driven without a person, an account or a network.

    `calls` gives the agent's own tool call for each kind of step: `shell(stage, command)`,
    `write(stage, path, content)`, `edit(stage, path, old, new)`, `read(stage, path)`,
    `mcp(stage, tool, input)`; paths are relative to the project. A kind that is missing cannot be
    played, and `lacks` says why, as `calls.read`.
    """

    title: str
    package: AgentPackage
    # The name of the program on PATH, and of the file in the package that starts it, if that has no other.
    program: str
    # The protocol of the model that it speaks: a module of `protocols`.
    protocol: str
    # Writes the program's own settings: the model's address, telemetry and updates off, the MCP server.
    settle: Callable[[Stage], None]
    command: Callable[[Stage], Sequence[str]]
    environment: Callable[[Stage], Mapping[str, str]]
    calls: Calls
    # The dialect that it speaks, as its module is named, where that is not the driver's own name.
    dialect: str = ""
    # Arguments that print the version.
    version: tuple[str, ...] = ("--version",)
    # A denied call ends the run.
    denial_ends: bool = False
    # Scenarios whose hooks of several formats get in each other's way: each format has a run of its own.
    alone: tuple[str, ...] = ()
    # What this product, or this way of running it, does not do although the dialect's table says so, and why.
    lacks: Lacks = MappingProxyType({})
    # What this product, run in this way, does where the dialect's table says that it depends on that.
    has: tuple[str, ...] = ()
    # How long one run may take, in seconds.
    patience: float = 90
