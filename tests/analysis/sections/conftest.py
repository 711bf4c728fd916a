"""Sections by their ids."""

import pytest

from gwa.analysis.base import analyses


@pytest.fixture
def section():
    """Return a function that makes the section of an id."""
    by_id = {one.id: one for one in analyses()}
    return lambda name, store: by_id[name].section(store)
