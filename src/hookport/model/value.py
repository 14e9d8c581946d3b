"""Immutable values for the path that runs on every tool call, without `typing` and `dataclasses` at run time.

Importing those costs more than a whole dispatch may; type checkers still see a frozen dataclass.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import ClassVar, Self, dataclass_transform
else:

    def dataclass_transform(**_options: object) -> object:
        return lambda decorated: decorated


@dataclass_transform(frozen_default=True)
class Value:
    """A base for values: annotated fields, defaults, whole-object equality, no assignment."""

    _fields: ClassVar[tuple[str, ...]] = ()
    _needed: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls) -> None:
        cls._fields = tuple(cls.__annotations__)
        cls._needed = tuple(name for name in cls._fields if name not in cls.__dict__)

    def __init__(self, *values: object, **named: object) -> None:
        fields = self._fields
        members = dict(zip(fields, values, strict=False), **named)
        if len(values) > len(fields) or not members.keys() <= set(fields):
            raise TypeError(f"{type(self).__name__} has the fields {', '.join(fields)}")
        for name in self._needed:
            if name not in members:
                raise TypeError(f"{type(self).__name__} needs {name}")
        self.__dict__.update(members)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is a value: use replace({name}=...)")

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.as_dict() == other.as_dict()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        kind = type(self)
        fields = [
            f"{name}={value!r}" for name, value in self.as_dict().items() if value != getattr(kind, name, ...)
        ]
        return f"{kind.__name__}({', '.join(fields)})"

    def as_dict(self) -> dict[str, object]:
        """Every field by its name."""
        return {name: getattr(self, name) for name in self._fields}

    def replace(self, **changes: object) -> Self:
        """Copy the value with some fields changed."""
        return type(self)(**{**self.__dict__, **changes})
