"""What a finding is. Each kind has one code, and its docstring is its page in the documentation.

A finding is a loss, a warning or an error that a person must be able to see. `effect` is the effect on the
hook: `kept` (same meaning), `changed` (written differently, or with less), `stricter` (it blocks more than
before) or `dropped`.
"""

from __future__ import annotations

from typing import ClassVar, Literal, NamedTuple

Severity = Literal["note", "loss", "error"]
Effect = Literal["kept", "changed", "stricter", "dropped"]

SEVERITIES: tuple[Severity, ...] = ("note", "loss", "error")
EFFECTS: tuple[Effect, ...] = ("kept", "changed", "stricter", "dropped")


class Finding(NamedTuple):
    """One finding at one place; `hook` is the index of the hook it is about, if it is about one."""

    code: str
    severity: Severity
    where: str
    message: str
    hint: str = ""
    effect: Effect = "kept"
    hook: int | None = None
    file: str = ""
    line: int = 0
    column: int = 0


class Kind:
    """What all findings of one code share."""

    code: ClassVar[str]
    severity: ClassVar[Severity]
    effect: ClassVar[Effect] = "kept"
    message: ClassVar[str]
    hint: ClassVar[str] = ""

    def __init_subclass__(cls) -> None:
        if cls.code in KINDS:
            raise TypeError(f"{cls.code} is {KINDS[cls.code].__name__} already")
        KINDS[cls.code] = cls

    @classmethod
    def at(cls, where: str, hook: int | None = None, **words: object) -> Finding:
        """The finding of this kind at one place."""
        return Finding(
            cls.code,
            cls.severity,
            where,
            cls.message.format(**words),
            cls.hint.format(**words),
            cls.effect,
            hook,
        )


KINDS: dict[str, type[Kind]] = {}
