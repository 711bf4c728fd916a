"""The ledger comes back as it was written, and the list of long tests changes only where costs do."""

import doctest

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reach import choice, ledger
from tests.reach.ledger import (
    SHORT,
    Entry,
    Long,
    find,
    read_ledger,
    read_long,
    renewed,
    rounded,
    with_first,
    write_ledger,
    written,
)
from tests.reach.plugin import LIST

A, B = "tests/test_a.py::test_a", "tests/test_a.py::test_b"


@pytest.mark.parametrize("module", [choice, ledger], ids=lambda module: module.__name__)
def test_the_examples_in_docstrings_hold(module):
    assert doctest.testmod(module).attempted > 0
    assert doctest.testmod(module).failed == 0


def test_a_ledger_comes_back(tmp_path):
    known = {
        A: Entry(1.5, frozenset({"gwa/a.py:f", "gwa/b.py:g"}), 2**63 + 1),
        B: Entry(0.0, frozenset(), 0),
    }
    path = tmp_path / "new" / "ledger.json"
    write_ledger(path, known, {"tests/test_a.py": 7})
    assert read_ledger(path) == (known, {"tests/test_a.py": 7})


@pytest.mark.parametrize("text", ["", "{", "[]", '{"names": [], "tests": {"a": [1, 2, [3]]}, "files": {}}'])
def test_a_ledger_that_cannot_be_read_is_none(text, tmp_path):
    (tmp_path / "ledger.json").write_text(text)
    assert read_ledger(tmp_path / "ledger.json") == ({}, {})


NAMES = st.builds(
    "tests/test_{}.py::test_{}{}".format,
    st.integers(0, 2),
    st.integers(0, 3),
    st.sampled_from(["", "[a b]", "[*]", "[# 1]"]),
)
COSTS = st.dictionaries(NAMES, st.floats(0.001, 300))


@given(COSTS)
def test_the_list_comes_back_and_knows_the_long_tests(costs):
    long = renewed({}, costs)
    with_marks = {test: Long(one.cost, is_first=len(test) % 2 == 0) for test, one in long.items()}

    assert parsed(written(with_marks)) == with_marks
    assert all(find(test, long) for test, cost in costs.items() if cost > SHORT)


def parsed(text):
    return read_long(text.splitlines())


@given(COSTS, st.randoms())
def test_costs_that_are_about_as_they_were_change_nothing(costs, chance):
    before = renewed({}, costs)
    again = {test: cost * chance.uniform(1, 1.2) for test, cost in costs.items() if find(test, before)}
    short = {test: cost for test, cost in costs.items() if not find(test, before)}
    assert renewed(before, again | short) == before


def test_most_of_a_family_is_one_entry_and_few_are_named():
    costs = {f"{A}[{n}]": 1.0 for n in range(9)} | {f"{A}[9]": 0.1} | {f"{B}[{n}]": 0.1 for n in range(9)}
    assert renewed({}, {**costs, f"{B}[9]": 5.0}) == {A: Long(1.0), f"{B}[9]": Long(5.0)}


def test_a_test_leaves_the_list_when_it_is_clearly_short_or_gone():
    before = {A: Long(0.5), B: Long(2.0), "tests/test_c.py::test_c": Long(3.0)}
    assert renewed(before, {A: 0.25, B: 0.1}) == {A: Long(0.3)}
    assert renewed(before, {A: 0.25}, there={A, B}) == {A: Long(0.3), B: Long(2.0)}
    assert renewed({A: Long(5.0, is_first=True)}, {A: 1.0}) == {A: Long(1.0, is_first=True)}


@pytest.mark.parametrize(("cost", "stands"), [(0.31, 0.3), (0.9, 1), (12.0, 10), (1e4, 200)])
def test_costs_on_the_list_are_round(cost, stands):
    assert rounded(cost) == stands


def test_the_marked_tests_enter_what_no_short_test_does():
    known = {
        "tests/test_a.py::test_short": Entry(0.1, frozenset("ab"), 0),
        A: Entry(4.0, frozenset("abcd"), 0),
        B: Entry(1.0, frozenset("bc"), 0),
        f"{B}2": Entry(9.0, frozenset("c"), 0),
        f"{B}3": Entry(1.0, frozenset("a"), 0),
    }
    long = {test: Long(one.cost) for test, one in known.items() if one.cost > SHORT}
    marked = with_first(long, {}, known)
    assert [test for test, one in marked.items() if one.is_first] == [A, B]
    assert [test for test, one in with_first(long, marked, known).items() if one.is_first] == [A, B]


def test_the_list_of_the_project_is_written_as_make_whole_writes_it():
    text = LIST.read_text()
    long = read_long(text.splitlines())
    assert written(long) == text
    assert long
    assert all(rounded(one.cost) == one.cost for one in long.values())
