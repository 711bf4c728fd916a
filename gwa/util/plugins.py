"""
Find the members of a family by looking: there is no list to edit.

A family is a package of gwa with one member in each module, such as `gwa.analysis.sections`, and a group
of entry points, such as ``gwa.sections``, by which other installed packages add members. Modules whose names
begin with an underscore are helpers, not members.
"""

from functools import cache
from importlib import import_module
from inspect import isabstract
from pkgutil import iter_modules
from types import ModuleType
from typing import TYPE_CHECKING, TypeVar

from gwa.errors import DefinitionError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

T = TypeVar("T")


def names(package: str) -> list[str]:
    """
    Return the names of the public modules of *package*, sorted, without importing them.

    >>> names("gwa.report.outputs")
    ['html', 'json', 'latex', 'pdf']
    """
    path = import_module(package).__path__
    return sorted(found.name for found in iter_modules(path) if not found.name.startswith("_"))


@cache
def modules(package: str, group: str = "") -> tuple[ModuleType, ...]:
    """
    Return the public modules of *package* by name, then those that entry points of *group* add.

    Raise `DefinitionError` for an entry point that cannot be loaded.
    """
    own = [import_module(f"{package}.{name}") for name in names(package)]
    return (*own, *(loaded(group) if group else ()))


@cache
def loaded(group: str) -> tuple[ModuleType, ...]:
    """
    Return the modules that entry points of *group* name, by the names of the entry points.

    Raise `DefinitionError` for an entry point that cannot be loaded, or names something else.
    """
    return tuple(_module(point) for point in points(group))


@cache
def points(group: str) -> "tuple[EntryPoint, ...]":
    """Return the entry points of *group* by their names, without loading what they name."""
    return tuple(sorted(_by_group().get(group, ()), key=lambda point: (point.name, point.value)))


@cache
def _by_group() -> "dict[str, tuple[EntryPoint, ...]]":
    """Return the entry points of all installed packages, each of which is looked at, by their groups."""
    from importlib.metadata import entry_points

    found = entry_points()
    return {group: tuple(found.select(group=group)) for group in found.groups}


def instances(package: str, kind: type[T], group: str = "") -> list[T]:
    """Return the objects of type *kind* that the modules of a family define, alone or in tuples."""
    return [
        value
        for module in modules(package, group)
        for defined in vars(module).values()
        for value in (defined if isinstance(defined, tuple) else (defined,))
        if isinstance(value, kind)
    ]


def added(group: str, kind: type[T]) -> list[T]:
    """Return the objects of type *kind* in the modules that entry points of *group* name."""
    return [value for module in loaded(group) for value in vars(module).values() if isinstance(value, kind)]


def subclasses(package: str, base: type[T], group: str = "") -> list[type[T]]:
    """Return the concrete subclasses of *base* that the modules of a family hold, each once."""
    found = (
        value
        for module in modules(package, group)
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, base) and not isabstract(value)
    )
    return list(dict.fromkeys(found))


def load(point: "EntryPoint") -> object:
    """Return what an entry point names; raise `DefinitionError` where it cannot be loaded."""
    try:
        return point.load()
    except Exception as error:
        raise _refusal(point, f"cannot be loaded: {type(error).__name__}: {error}") from error


def _module(point: "EntryPoint") -> ModuleType:
    found = load(point)
    if not isinstance(found, ModuleType):
        raise _refusal(point, f"is {point.value}, expected the name of a module")
    return found


def _refusal(point: "EntryPoint", why: str) -> DefinitionError:
    package = point.dist.name if point.dist else "an installed package"
    return DefinitionError(f"{package}: its entry point '{point.name}' in {point.group} {why}")
