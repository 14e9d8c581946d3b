"""The task and the outcome of one run: the two files that the player and its caller exchange.

The caller writes a `Spec` as JSON, the player an `Outcome`; only this module reads and writes them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from hookport.base.files import replace_file
from hookport.base.tree import Tree
from hookport.lab.driver import ModelCall, ModelStep
from hookport.lab.protocols import Message, ToolResult


class Spec(NamedTuple):
    """How the agent is started, and the steps of the model. Every path is absolute.

    `home` is the HOME of the run, which identifies processes left after its end. After the agent ends, its
    remaining processes have `settle_seconds` to end. `requests_file` receives the requests.
    """

    argv: tuple[str, ...]
    cwd: str
    environment: Mapping[str, str]
    home: str
    protocol: str
    steps: tuple[ModelStep, ...]
    port: int
    requests_file: str
    patience_seconds: float = 90
    settle_seconds: float = 1
    isolate: bool = True

    def as_dict(self) -> dict[str, Tree]:
        return {
            **self._asdict(),
            "argv": list(self.argv),
            "environment": dict(self.environment),
            "steps": [_make_step_tree(step) for step in self.steps],
        }


def _make_step_tree(step: ModelStep) -> dict[str, Tree]:
    return {
        **step._asdict(),
        "calls": [_make_call_tree(call) for call in step.calls],
        "inner": [_make_step_tree(inner_step) for inner_step in step.inner],
    }


def _make_call_tree(call: ModelCall) -> dict[str, Tree]:
    call_input = call.input if isinstance(call.input, str) else dict(call.input)
    return {"name": call.name, "input": call_input, "namespace": call.namespace}


class RequestRecord(NamedTuple):
    """One request to the model: the step that answered it, or None, and its texts and results.

    `kind` is the protocol, or empty if the request was not for the model.
    """

    method: str
    path: str
    kind: str = ""
    step: int | None = None
    texts: tuple[Message, ...] = ()
    results: tuple[ToolResult, ...] = ()
    status: int = 200

    def as_dict(self) -> dict[str, Tree]:
        return {
            **self._asdict(),
            "texts": [message._asdict() for message in self.texts],
            "results": [result._asdict() for result in self.results],
        }


class Outcome(NamedTuple):
    """How a run ended. `exit` is None if a signal ended the agent, or if it never started (`trouble`).

    `left` names the processes that had to be ended after the agent; `isolated`: loopback was the only
    network; `open_because` is why it was not.
    """

    exit: int | None = None
    signal: str = ""
    seconds: float = 0
    timed_out: bool = False
    stdout: str = ""
    stderr: str = ""
    requests: tuple[RequestRecord, ...] = ()
    isolated: bool = False
    open_because: str = ""
    left: tuple[str, ...] = ()
    trouble: str = ""

    def as_dict(self) -> dict[str, Tree]:
        return {
            **self._asdict(),
            "requests": [request.as_dict() for request in self.requests],
            "left": list(self.left),
        }


def parse_spec(tree: Mapping[str, Tree]) -> Spec:
    steps = tuple(map(_parse_step, tree["steps"]))
    return Spec(**{**tree, "argv": tuple(tree["argv"]), "steps": steps})


def _parse_step(tree: Mapping[str, Tree]) -> ModelStep:
    calls = tuple(ModelCall(**call) for call in tree.get("calls", ()))
    return ModelStep(**{**tree, "calls": calls, "inner": tuple(map(_parse_step, tree.get("inner", ())))})


def parse_outcome(tree: Mapping[str, Tree]) -> Outcome:
    requests = tuple(
        RequestRecord(
            **{
                **request,
                "texts": tuple(Message(**message) for message in request["texts"]),
                "results": tuple(ToolResult(**result) for result in request["results"]),
            }
        )
        for request in tree["requests"]
    )
    return Outcome(**{**tree, "requests": requests, "left": tuple(tree["left"])})


def read_spec(path: Path) -> Spec:
    return parse_spec(json.loads(path.read_text("utf-8")))


def read_outcome(path: Path) -> Outcome:
    return parse_outcome(json.loads(path.read_text("utf-8")))


def write(path: Path, value: Spec | Outcome) -> None:
    """Write it whole or not at all."""
    text = json.dumps(value.as_dict(), ensure_ascii=False, indent=1)
    replace_file(str(path), text.encode() + b"\n", None)
