"""
Parameters that say what they mean, refuse nonsense by name, and are JSON.

A class of parameters is a frozen dataclass under `Parameters`. A number is annotated with a `Quantity`:
its meaning, its unit and its valid range, from which checks, documents and help derive. Parameters may
hold other parameters, and distributions.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from inspect import isabstract
from typing import Any, ClassVar, Literal, Self, TypeAlias, get_args, get_origin

from gwa.errors import DefinitionError, ModelError
from gwa.statistics.distribution import Distribution, distributions
from gwa.util.toml import convert, hints_of, record, required, unwrapped

Value: TypeAlias = Any
"""A number, a text, parameters, a distribution, or a tuple of them; in JSON what stands for it."""

Kind: TypeAlias = Any
"""The type of a field, as its annotation says."""


@dataclass(frozen=True)
class Quantity:
    """What a number means: its *unit*, and its range from *low* (itself excluded when *open*) to *high*."""

    meaning: str
    unit: str = ""
    low: float = -math.inf
    high: float = math.inf
    open: bool = False

    def admits(self, value: float) -> bool:
        """Whether *value* is in the range; nan never is."""
        return (self.low < value if self.open else self.low <= value) and value <= self.high

    @property
    def range(self) -> str:
        """The range in words."""
        if self.low == 0 and self.high == 1:
            return "a share between 0 and 1"
        bounds = [f"{'above' if self.open else 'at least'} {self.low:g}"] if math.isfinite(self.low) else []
        bounds += [f"at most {self.high:g}"] if math.isfinite(self.high) else []
        return " ".join(["a number", " and ".join(bounds)]).strip()

    def __str__(self) -> str:
        """Return meaning and unit."""
        return f"{self.meaning} [{self.unit}]" if self.unit else self.meaning


def share(meaning: str) -> Quantity:
    """Return a quantity between 0 and 1."""
    return Quantity(meaning, "", 0.0, 1.0)


def positive(meaning: str, unit: str = "") -> Quantity:
    """Return a quantity above 0."""
    return Quantity(meaning, unit, 0.0, open=True)


class Parameters:
    """Base of frozen dataclasses that hold parameters: checked when made, and JSON in and out."""

    name: ClassVar[str]
    """What a member of a family is called in JSON; others need none."""

    def __post_init__(self) -> None:
        """Raise `ModelError` for the first number out of its range, and for parts that are none."""
        needed = required(type(self))
        for name, (_, quantity) in described(type(self)).items():
            value = getattr(self, name)
            if value == () and name in needed and not quantity:
                raise ModelError(f"{name} is empty, expected one at least")
            for number in value if isinstance(value, tuple) else (value,):
                if quantity and number is not None and not quantity.admits(number):
                    raise ModelError(f"{name} is {number!r}, expected {quantity.range}: {quantity}")
        self.check()

    def check(self) -> None:
        """Raise `ModelError` where parameters contradict each other."""

    @classmethod
    def family(cls) -> Mapping[str, type["Parameters"]]:
        """Return the members of an abstract class by name."""
        return {}

    def plain(self) -> dict[str, Any]:
        """Return the parameters as JSON has them; one without a value is left out."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
        return {name: _plain(value) for name, value in values.items() if value is not None}

    @classmethod
    def parsed(cls, table: object) -> Self:
        """Return the parameters in a *table* of JSON or TOML; raise `ModelError` that names what is wrong."""
        try:
            return record(cls, table, make=_object)
        except DefinitionError as error:
            raise ModelError(str(error)) from error

    @classmethod
    def meanings(cls, path: str = "") -> dict[str, str]:
        """Return what each number means, with its unit, by its path."""
        meanings: dict[str, str] = {}
        for name, (kind, quantity) in described(cls).items():
            if quantity:
                meanings[path + name] = str(quantity)
            is_list = get_origin(kind) is tuple
            inner = get_args(kind)[0] if is_list else kind
            if isinstance(inner, type) and issubclass(inner, Parameters) and not isabstract(inner):
                meanings |= inner.meanings(f"{path}{name}{'[]' if is_list else ''}.")
        return meanings


def described(kind: Kind) -> dict[str, tuple[Any, Quantity | None]]:
    """Return the type of each field of a dataclass, without None, and its quantity if it is a number."""
    types = {name: unwrapped(hint) for name, hint in hints_of(kind).items()}
    return {
        name: (inner, next((note for note in notes if isinstance(note, Quantity)), None))
        for name, (inner, notes) in types.items()
    }


def _plain(value: Value) -> Value:
    if isinstance(value, Parameters):
        tag = {"kind": value.name} if _is_member(type(value)) else {}
        return tag | value.plain()
    if isinstance(value, Distribution):
        names = [field.name for field in fields(value)]  # type: ignore[arg-type]
        return {"kind": value.name} | {name: _plain(getattr(value, name)) for name in names}
    return [_plain(item) for item in value] if isinstance(value, tuple) else value


def _is_member(kind: type[Parameters]) -> bool:
    return kind.family().get(getattr(kind, "name", "")) is kind


def _object(kind: type[Any], value: object, path: str) -> Value:
    """Return a distribution, or parameters; those of a family say of which kind they are."""
    members: Mapping[str, type[Any]] = {}
    if issubclass(kind, Distribution):
        members = distributions()
    elif issubclass(kind, Parameters):
        members = {name: member for name, member in kind.family().items() if issubclass(member, kind)}
    if not members:
        return record(kind, value, path, _object)
    arguments = dict(value) if isinstance(value, Mapping) else {}
    default = next(iter(members)) if len(members) == 1 and isinstance(value, Mapping) else None
    name = convert(Literal[*members], arguments.pop("kind", default), f"{path}.kind")
    return record(members[name], arguments, path, _object)
