"""The document of `hookport test --json`."""

from __future__ import annotations

from typing import Literal, NamedTuple, NotRequired, TypedDict

from hookport.cli.output import AnswerDocument, DecisionDocument, FindingDocument
from hookport.testing.compare import Difference


class ProblemDocument(TypedDict):
    """One thing wrong in a file of tests; line and column are 0 where they are unknown."""

    file: str
    line: int
    column: int
    message: str


class ResultDocument(TypedDict):
    """One case, for one agent if it names any.

    `why` is there where it does not apply, `problems` where a file cannot be read, `differences` and `again`
    where it failed, and the keys from `seconds` on where hooks ran.
    """

    suite: str
    case: str
    file: str
    status: Literal["passed", "failed", "not_applicable"]
    agent: NotRequired[str]
    why: NotRequired[str]
    problems: NotRequired[list[ProblemDocument]]
    differences: NotRequired[list[Difference]]
    again: NotRequired[str]
    hint: NotRequired[str]
    seconds: NotRequired[float]
    decision: NotRequired[DecisionDocument]
    exit_code: NotRequired[int | None]
    stdout: NotRequired[str]
    stderr: NotRequired[str]
    notes: NotRequired[list[str]]
    answer: NotRequired[AnswerDocument]


class CoveredHook(TypedDict):
    """A hook and what the cases show of it; `agents` has a word for each agent."""

    hook: str
    place: str
    event: str
    agents: dict[str, str]
    stopped_in: list[str]
    passes_in: list[str]


class CoverageDocument(TypedDict):
    """The hooks of a suite, and the share of them that cases test."""

    suite: str
    percent: float
    hooks: list[CoveredHook]


class SpellingDocument(TypedDict):
    """Another spelling of a command or path."""

    kind: str
    name: str
    text: str


class GuardDocument(TypedDict):
    """How a guard decided on other spellings of an action, and on harmless look-alikes."""

    subject: str
    tried: int
    slipped: list[SpellingDocument]
    bypass_percent: float
    harmless: int
    stopped: list[SpellingDocument]
    false_positive_percent: float


class Document(NamedTuple):
    """The results, what the suites do not show, and with --coverage and --mutate what those found."""

    passed: int
    failed: int
    not_applicable: int
    results: tuple[ResultDocument, ...]
    findings: tuple[FindingDocument, ...]
    coverage: tuple[CoverageDocument, ...]
    mutations: tuple[GuardDocument, ...]
