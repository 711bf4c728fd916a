"""
Parameters that say what they mean, refuse nonsense by name, and are JSON.

A class of parameters is a frozen dataclass under `Parameters`. A number is annotated with a `Quantity`:
its meaning, its unit and its valid range, from which checks, documents and help derive. Parameters may
hold other parameters, and distributions.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from inspect import isabstract
from types import NoneType, UnionType
from typing import Annotated, Any, ClassVar, Final, Literal, Self, TypeAlias, Union, get_args, get_origin
from typing import get_type_hints as hints_of

from gwa.errors import ModelError
from gwa.statistics.distribution import Distribution, distributions

Value: TypeAlias = Any
"""A number, a text, parameters, a distribution, or a tuple of them; in JSON what stands for it."""

Kind: TypeAlias = Any
"""The type of a field, as its annotation says."""

NUMBERS: Final = (int, float)
LARGEST: Final = 1e300
"""No number beyond this is a parameter; nan and infinity are none either."""


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
        needed = _required(type(self))
        for name, (_, quantity) in described(type(self)).items():
            value = getattr(self, name)
            if value == () and name in needed and not quantity:
                raise ModelError(f"{name} is empty, expected one at least")
            for one in value if isinstance(value, tuple) else (value,):
                if quantity and one is not None and not quantity.admits(one):
                    raise ModelError(f"{name} is {one!r}, expected {quantity.range}: {quantity}")
        self.check()

    def check(self) -> None:
        """Raise `ModelError` where parameters contradict each other."""

    @classmethod
    def family(cls) -> Mapping[str, type["Parameters"]]:
        """Return the members of an abstract class by name."""
        return {}

    def plain(self) -> dict[str, Any]:
        """Return the parameters as JSON has them; one without a value is left out."""
        found = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
        return {name: _plain(value) for name, value in found.items() if value is not None}

    @classmethod
    def parsed(cls, said: object, path: str = "") -> Self:
        """Return the parameters that JSON or TOML says; raise `ModelError` that names what is wrong."""
        return cls(**_arguments(cls, said, path))

    @classmethod
    def meanings(cls, path: str = "") -> dict[str, str]:
        """Return what each number means, with its unit, by its path."""
        found: dict[str, str] = {}
        for name, (kind, quantity) in described(cls).items():
            if quantity:
                found[path + name] = str(quantity)
            several = get_origin(kind) is tuple
            inner = get_args(kind)[0] if several else kind
            if isinstance(inner, type) and issubclass(inner, Parameters) and not isabstract(inner):
                found |= inner.meanings(f"{path}{name}{'[]' if several else ''}.")
        return found


def described(kind: Kind) -> dict[str, tuple[Any, Quantity | None]]:
    """Return the type of each field of a dataclass, without None, and its quantity if it is a number."""
    found: dict[str, tuple[Any, Quantity | None]] = {}
    hints = hints_of(kind, include_extras=True)
    for field in fields(kind):
        hint, quantity = hints[field.name], None
        if get_origin(hint) is Annotated:
            quantity = next((one for one in hint.__metadata__ if isinstance(one, Quantity)), None)
            hint = get_args(hint)[0]
        if get_origin(hint) in {Union, UnionType}:
            (hint,) = (one for one in get_args(hint) if one is not NoneType)
        found[field.name] = hint, quantity
    return found


def _required(cls: type[Parameters]) -> set[str]:
    """Return the names of the parameters that have no default."""
    return {field.name for field in fields(cls) if field.default is MISSING}  # type: ignore[arg-type]


def _plain(value: Value) -> Value:
    if isinstance(value, Parameters):
        tag = {"kind": value.name} if _is_member(type(value)) else {}
        return tag | value.plain()
    if isinstance(value, Distribution):
        names = [field.name for field in fields(value)]  # type: ignore[arg-type]
        return {"kind": value.name} | {name: _plain(getattr(value, name)) for name in names}
    return [_plain(one) for one in value] if isinstance(value, tuple) else value


def _is_member(kind: type[Parameters]) -> bool:
    return kind.family().get(getattr(kind, "name", "")) is kind


def _arguments(cls: type[Parameters], said: object, path: str) -> dict[str, Any]:
    """Return the arguments that make an object of *cls*, each parsed."""
    if not isinstance(said, Mapping):
        raise ModelError(
            f"{path or 'parameters'}: is {said!r}, expected {cls.__name__}, a table of parameters"
        )
    known = described(cls)
    for name in said:
        if name not in known:
            raise ModelError(f"{path}{name}: there is no such parameter, expected one of {', '.join(known)}")
    for name in sorted(_required(cls) - set(said), key=list(known).index):
        raise ModelError(f"{path}{name}: is missing")
    return {name: _value(known[name][0], value, path + str(name)) for name, value in said.items()}


def _value(kind: Kind, said: object, path: str) -> Value:
    """Return what is *said* as a value of type *kind*."""
    origin: Kind = get_origin(kind)
    if origin is tuple:
        if not isinstance(said, Sequence) or isinstance(said, str):
            raise ModelError(f"{path}: is {said!r}, expected a list")
        return tuple(_value(get_args(kind)[0], one, f"{path}[{place}]") for place, one in enumerate(said))
    if origin is Literal:
        return _one_of(get_args(kind), said, path)
    if issubclass(kind, Distribution):
        return _distribution(said, path)
    if issubclass(kind, Parameters):
        return _parameters(kind, said, path)
    return _scalar(kind, said, path)


def _scalar(kind: type, said: object, path: str) -> Value:
    """Return a number or a text."""
    if kind is str and isinstance(said, str):
        return said
    if kind in NUMBERS and isinstance(said, NUMBERS) and not isinstance(said, bool) and abs(said) <= LARGEST:
        if kind is float or said == math.floor(said):
            return kind(said)
        raise ModelError(f"{path}: is {said!r}, expected a whole number")
    raise ModelError(f"{path}: is {said!r}, expected {'a text' if kind is str else 'a number'}")


def _one_of(choices: Sequence[str], said: object, path: str) -> str:
    if said not in choices:
        raise ModelError(f"{path}: is {said!r}, expected one of {', '.join(map(str, choices))}")
    return str(said)


def _parameters(kind: type[Parameters], said: object, path: str) -> Value:
    """Return parameters; those of a family say of which kind they are."""
    if not kind.family():
        return _made(kind, _arguments(kind, said, f"{path}."), path)
    members = {name: one for name, one in kind.family().items() if issubclass(one, kind)}
    rest = {"kind": next(iter(members)), **said} if len(members) == 1 and isinstance(said, Mapping) else said
    rest = dict(rest) if isinstance(rest, Mapping) else {}
    member = members[_one_of(list(members), rest.pop("kind", None), f"{path}.kind")]
    return _made(member, _arguments(member, rest, f"{path}."), path)


def _distribution(said: object, path: str) -> Value:
    """Return a distribution."""
    rest = dict(said) if isinstance(said, Mapping) else {}
    kind = distributions()[_one_of(list(distributions()), rest.pop("kind", None), f"{path}.kind")]
    known = {field.name for field in fields(kind)}  # type: ignore[arg-type]
    if rest.keys() != known:
        raise ModelError(f"{path}: has {', '.join(rest) or 'nothing'}, expected {', '.join(sorted(known))}")
    numbers = {
        name: tuple(_scalar(float, one, f"{path}.{name}") for one in value)
        if isinstance(value, list | tuple)
        else _scalar(float, value, f"{path}.{name}")
        for name, value in rest.items()
    }
    return _made(kind, numbers, path)


def _made(kind: type, arguments: Mapping[str, Any], path: str) -> Value:
    """Return an object, or say of which parameter it is that cannot be made."""
    try:
        return kind(**arguments)
    except (ValueError, TypeError) as error:
        raise ModelError(f"{path.rstrip('.')}.{error}") from error
