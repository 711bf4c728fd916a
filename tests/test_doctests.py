"""The examples in docstrings are true; a worker that tries none of them does not import all modules."""

import doctest
from importlib import import_module

import pytest

from tests.conftest import HOME

FILES = [
    path.relative_to(HOME) for path in sorted((HOME / "gwa").rglob("*.py")) if ">>> " in path.read_text()
]


@pytest.mark.parametrize("path", FILES, ids=str)
def test_the_examples_of_a_module_are_true(path):
    module = import_module(".".join(path.with_suffix("").parts).removesuffix(".__init__"))
    done = doctest.testmod(module, optionflags=doctest.ELLIPSIS)
    assert done.attempted
    assert not done.failed
