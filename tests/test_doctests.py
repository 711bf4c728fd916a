"""The examples in docstrings are true; a worker that tries none of them does not import all modules."""

import doctest
from importlib import import_module

import pytest

from tests.conftest import HOME, thinned

FILES = [
    path.relative_to(HOME) for path in sorted((HOME / "gwa").rglob("*.py")) if ">>> " in path.read_text()
]


LONG = {"gwa/simulation/engine.py", "gwa/report/document.py"}
"""Modules whose examples simulate, or make a whole report, as other tests do."""


@pytest.mark.parametrize("path", thinned(FILES, kept=lambda path: path.as_posix() not in LONG), ids=str)
def test_the_examples_of_a_module_are_true(path):
    module = import_module(".".join(path.with_suffix("").parts).removesuffix(".__init__"))
    done = doctest.testmod(module, optionflags=doctest.ELLIPSIS)
    assert done.attempted
    assert not done.failed
