"""What is stable stays: the public surface is as kept, and every public name is documented in full."""

import ast
import inspect
import json
import re
import textwrap
from dataclasses import fields, is_dataclass
from functools import cached_property

import pytest

import gwa
from tests.public_surface import KEPT, members, surface

RENEW = "if the change is meant, run python -m tests.public_surface and add a line to CHANGELOG.md"


def test_the_public_surface_is_as_kept():
    kept, now = json.loads(KEPT.read_text(encoding="utf-8")), surface()

    assert kept.keys() == now.keys()
    for part, names in kept.items():
        assert names == now[part], RENEW


def public_members():
    """Yield each public function, method and property: its name, what the class holds, and its function."""
    for name in gwa.__all__:
        thing = getattr(gwa, name)
        if inspect.isfunction(thing):
            yield f"gwa.{name}", thing, thing
        elif inspect.isclass(thing):
            for attribute in members(thing):
                held = inspect.getattr_static(thing, attribute, None)
                function = next(filter(inspect.isfunction, functions_of(held)), None)
                if function:
                    yield f"gwa.{name}.{attribute}", held, function


def functions_of(held):
    """Return what may be the function of a method, a class method, a property or a cached property."""
    return held, *(getattr(held, name, None) for name in ("__func__", "fget", "func"))


DOCUMENTED = {name: function for name, _, function in public_members()}
CALLED = {
    name: function
    for name, held, function in public_members()
    if not isinstance(held, property | cached_property)
}
CLASSES = [name for name in gwa.__all__ if inspect.isclass(getattr(gwa, name))]


def section(docstring, title):
    """Return the text of a section of a numpydoc docstring, empty where it has none."""
    found = re.search(rf"^{title}\n-+\n(.*?)(?=^\w[\w ]*\n---|\Z)", docstring, re.MULTILINE | re.DOTALL)
    return found[1] if found else ""


def names_in(text):
    """Return the names that a section explains, each at the beginning of a line."""
    lines = re.findall(r"^(\*?\w[\w., ]*?)(?: :.*)?$", text, re.MULTILINE)
    return {name.strip().lstrip("*") for line in lines for name in line.split(",")}


def raised(function):
    """Return the names of the exceptions that the source of *function* raises itself."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    calls = [node.exc for node in ast.walk(tree) if isinstance(node, ast.Raise) and node.exc]
    return {call.func.id for call in calls if isinstance(call, ast.Call) and isinstance(call.func, ast.Name)}


@pytest.mark.parametrize("name", DOCUMENTED)
def test_every_public_function_and_property_has_a_docstring(name):
    assert DOCUMENTED[name].__doc__


@pytest.mark.parametrize("name", CALLED)
def test_docstrings_explain_parameters_results_and_errors(name):
    function = CALLED[name]
    text = inspect.getdoc(function) or ""
    parameters = set(inspect.signature(function).parameters) - {"self", "cls"}

    assert parameters <= names_in(section(text, "Parameters"))
    returns = section(text, "Returns") or section(text, "Yields")
    assert bool(returns) == (inspect.signature(function).return_annotation not in {None, "None"})
    assert raised(function) <= names_in(section(text, "Raises"))


@pytest.mark.parametrize("name", CLASSES)
def test_docstrings_of_classes_explain_what_they_hold(name):
    thing = getattr(gwa, name)
    text = inspect.getdoc(thing) or ""

    assert text
    if is_dataclass(thing):
        held = {field.name for field in fields(thing)}
        assert held <= names_in(section(text, "Parameters"))


@pytest.mark.parametrize(
    ("docstring", "explained"),
    [
        ("Do.\n\nParameters\n----------\na, b\n    Two.\n*kinds : str\n    Many.\n", {"a", "b", "kinds"}),
        ("Do.\n\nReturns\n-------\nint\n    A number.\n", set()),
    ],
)
def test_parameters_are_found_in_a_docstring(docstring, explained):
    assert names_in(section(docstring, "Parameters")) == explained
