"""What suites choose, from planted ledgers: what a change reaches is run, or named among what is left out."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reach.choice import Known, Status, choose, is_near
from tests.reach.ledger import Entry, Long, find
from tests.reach.plugin import summary, unlisted

SHORT = "tests/store/test_a.py::test_short"
LONG = "tests/store/test_a.py::test_long"
OTHER = "tests/report/test_b.py::test_family[one]"
TESTS = (SHORT, LONG, OTHER)
LIST = {LONG: Long(2.0), "tests/report/test_b.py::test_family": Long(1.0)}


def known(same=(), reached=(), **more):
    """Return what is known where tests are in the ledger, as they were or reached."""
    status = {test: Status(1.0, 10, is_same=test in same) for test in (*same, *reached)}
    return Known(status, LIST, **more)


@pytest.mark.parametrize(
    ("suite", "what", "run"),
    [
        ("whole", known(same=TESTS), {*TESTS}),
        ("test", known(same=TESTS), {SHORT}),
        ("test", known(same=[SHORT, OTHER], reached=[LONG]), {SHORT, LONG}),
        ("test", known(same=TESTS, failed=[OTHER]), {SHORT, OTHER}),
        ("test", Known({}, LIST), {*TESTS}),
        ("rest", known(rest=[LONG]), {LONG}),
        ("rest", known(), {*TESTS}),
        ("quick", known(same=TESTS), set()),
        ("quick", known(reached=TESTS), {SHORT}),
        ("quick", known(same=[SHORT, LONG], failed=[LONG]), {LONG}),
        ("quick", Known({}, LIST), {SHORT}),
    ],
)
def test_each_suite_chooses_what_it_says(suite, what, run):
    assert choose(suite, TESTS, what).run == run


def test_what_failed_comes_first_then_the_most_particular_then_the_unknown():
    status = {LONG: Status(2.0, 500, is_same=False), OTHER: Status(1.0, 20, is_same=False)}
    more = "tests/store/test_a.py::test_more"
    what = Known(status, {**LIST, more: Long(1.0)}, failed=[LONG])
    tests = [*TESTS, more]

    assert choose("test", tests, what, 2.0).run == {SHORT, LONG}
    assert choose("test", tests, Known(status, what.long), 1.0).run == {SHORT, OTHER}
    assert choose("test", tests, Known(status, what.long), 3.0).run == {SHORT, OTHER, LONG}
    assert choose("test", tests, Known(status, what.long), 3.0).out == (more,)


def test_without_a_ledger_each_file_has_its_turn():
    tests = [
        f"tests/{room}/test_{room}.py::test_{n}" for room in ("store", "report", "cli") for n in range(3)
    ]
    long = {test: Long(1.0 + int(test[-1])) for test in tests}
    run = choose("test", tests, Known({}, long), 3.0).run
    assert run == {test for test in tests if test.endswith("_0")}

    marked = {**long, tests[2]: Long(3.0, is_first=True)}
    assert choose("test", tests, Known({}, marked), 3.0).run == {tests[2]}
    near = Known({}, long, changed=["gwa/report/html.py"])
    assert choose("test", tests, near, 6.0).run == {test for test in tests if "report" in test}


PIECES = [f"gwa/a.py:f{n}" for n in range(6)]
ENTRIES = st.tuples(st.floats(0.01, 5), st.sets(st.sampled_from(PIECES)), st.booleans())
LEDGERS = st.dictionaries(st.sampled_from([f"tests/test_{n % 3}.py::test_{n}" for n in range(12)]), ENTRIES)


@settings(max_examples=20)
@given(LEDGERS, st.sets(st.sampled_from(PIECES)), st.floats(0, 10), st.sets(st.integers(0, 11)), st.randoms())
def test_what_a_change_reaches_is_run_or_named(planted, changed, budget, new, chance):
    ledger = {test: Entry(cost, frozenset(entered), 0) for test, (cost, entered, _) in planted.items()}
    long = {test: Long(cost) for test, (cost, _, is_long) in planted.items() if is_long}
    status = {
        test: Status(one.cost, len(one.entered), not one.entered & changed) for test, one in ledger.items()
    }
    tests = [*ledger, *(f"tests/test_{number}.py::test_new" for number in sorted(new))]
    what = Known(status, long)
    choice = choose("test", tests, what, budget)

    reached = {test for test, one in ledger.items() if one.entered & changed}
    assert reached <= choice.run | {*choice.out}
    assert {test for test in tests if not find(test, long)} <= choice.run
    assert sum(what.cost(test) for test in choice.run if find(test, long)) <= budget + 1e-9
    assert choice.run | {*choice.out} | {*choice.idle} == {*tests}
    named = "\n".join(summary("test", choice, what))
    assert all(test.partition("::")[0] in named for test in choice.out)
    assert ("make rest" in named) == (choice.run != {*tests})

    chance.shuffle(tests)
    assert choose("test", tests, what, budget) == choice
    quick = choose("quick", tests, what, budget)
    assert {test for test in reached if not find(test, long)} <= quick.run | {*quick.out}


def test_long_tests_that_the_list_lacks_are_said_with_their_cost():
    costs = {LONG: 50.0, OTHER: 50.0, **{f"tests/test_new.py::test_{n}": 5.0 for n in range(9)}, SHORT: 0.2}
    assert [*unlisted(costs, LIST)] == [
        "9 long tests of 45 CPU s are not in tests/long_tests.txt: `make whole` renews it"
    ]
    del costs["tests/test_new.py::test_0"]
    assert [*unlisted(costs, LIST)] == []


def test_the_choice_does_not_depend_on_the_order():
    tests = [f"tests/test_{n % 7}.py::test_{n}" for n in range(100)]
    what = Known({}, {test: Long(1.0) for test in tests})
    chosen = choose("test", tests, what, 30.0)
    random.Random(1).shuffle(tests)
    assert choose("test", tests, what, 30.0) == chosen
    assert len(chosen.run) == 30


@pytest.mark.parametrize(
    ("file", "text", "changed", "near"),
    [
        ("tests/report/test_a.py", "", ["gwa/report/html.py"], True),
        ("tests/report/test_a.py", "", ["tests/report/test_a.py"], True),
        ("tests/cli/test_a.py", "from gwa.report.html import page", ["gwa/report/html.py"], True),
        ("tests/cli/test_a.py", "from gwa.report import page", ["gwa/report/html.py", "README.md"], False),
        ("tests/test_a.py", "", ["gwa/trace.py", "README.md"], False),
    ],
)
def test_near_is_what_is_of_the_room_or_names_the_module(file, text, changed, near):
    assert is_near(file, text, changed) is near
