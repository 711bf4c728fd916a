"""Conditions on facts: what holds, what is unknown, texts that are none, and what is computed for them."""

import operator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gwa.analysis.base import Analysis
from gwa.analysis.conditions import SIGNS, Condition, FactsOnDemand
from gwa.errors import DefinitionError
from gwa.metrics.quotas import Quotas
from gwa.store.subset import Subset, select

DATED = (("Times", "Unix seconds, UTC"), ("Processors", "4"))


@pytest.fixture
def store(make_store):
    return make_store(
        DATED,
        submit_time=[0.0, 100.0, 5000.0],
        wait_time=[0.0, 10.0, 20.0],
        run_time=[3600.0] * 3,
        n_procs=[1, 2, 4],
        user_id=["a", "b", "a"],
    )


@given(
    st.sampled_from(sorted(SIGNS)),
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(["", " "]),
)
def test_a_condition_compares_as_its_sign_says(sign, value, limit, space):
    condition = Condition.parse(f"trace.jobs{space}{sign}{space}{limit!r}")
    names = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge", "==": "eq", "!=": "ne"}
    assert condition.holds(value) is getattr(operator, names[sign])(value, limit)


def test_words_and_truth_are_equal_or_not():
    assert Condition.parse("window.cut==end").holds("end")
    assert Condition.parse("window.cut != none").holds("end")
    assert not Condition.parse("trace.cpus_inferred==true").holds(value=False)


@pytest.mark.parametrize(
    "text", ["", "trace.jobs", "trace.jobs<", "<3", "trace.jobs=3", "trace.jobs<<3", "trace.jobs=>3", "a b<3"]
)
def test_what_is_no_condition_is_told(text):
    with pytest.raises(DefinitionError, match="is not a condition, expected a fact, one of"):
        Condition.parse(text)


@pytest.mark.parametrize("text", ["trace.jobs<many", "window.cut>=end", "trace.cpus_inferred<true"])
def test_words_have_no_order(text):
    with pytest.raises(DefinitionError, match="expected a number, or == or !="):
        Condition.parse(text)


@pytest.mark.parametrize("limit", ["nan", "inf", "-inf"])
def test_a_limit_is_finite(limit):
    with pytest.raises(DefinitionError, match="is not a limit"):
        Condition.parse(f"trace.jobs<{limit}")


@pytest.mark.parametrize("value", ["end", True, [1], {"jobs": 1}])
def test_a_number_is_compared_with_numbers_only(value):
    with pytest.raises(DefinitionError, match=r"cannot be compared|is a list"):
        Condition.parse("trace.jobs<3").holds(value)


def test_facts_on_all_jobs_have_a_short_name(store):
    facts = FactsOnDemand(store)
    assert facts.value("wait.max") == facts.value("jobs.wait.max") == 20


def test_a_fact_that_a_trace_does_not_tell_is_unknown(store, make_store):
    assert FactsOnDemand(store).value("gpu.hours") is None
    assert FactsOnDemand(make_store(DATED, submit_time=[0.0])).value("jobs.wait.p95") is None


def test_a_fact_that_the_whole_trace_tells_is_unknown_of_a_part(make_store):
    """A month in which no energy is recorded is no reason to fail."""
    store = make_store(
        DATED,
        submit_time=[0.0, 90_000.0],
        wait_time=[0.0, 0.0],
        run_time=[60.0, 60.0],
        n_procs=[1, 1],
        energy=[3.6e6, None],
    )
    part = FactsOnDemand(select(store, Subset("1970-01-02")))
    assert FactsOnDemand(store).value("energy.kwh") == 1
    assert part.value("energy.kwh") in {None, 0}


def test_a_fact_that_there_is_not_is_told_with_the_nearest(store):
    with pytest.raises(DefinitionError, match=r"there is no fact 'trace.job', the nearest are: trace.jobs"):
        FactsOnDemand(store).value("trace.job")
    with pytest.raises(DefinitionError, match=r"the nearest are: utilization.mean"):
        FactsOnDemand(store).value("utilisation.mean")


@pytest.mark.parametrize(
    "name", ["energy.kwhh", "gpu.hour", "gpu.users.by_hour", "fit.runtime.weibul.ks", "completeness.proc"]
)
def test_a_misspelt_fact_is_no_unknown_one(name, store):
    """Where a trace had no energy, any fact of energy was unknown, and a condition on it never held."""
    with pytest.raises(DefinitionError, match=f"there is no fact '{name}'"):
        FactsOnDemand(store).value(name)


@pytest.mark.parametrize(("name", "option"), [("quota.exceeded", "quota"), ("carbon.kg", "carbon")])
def test_a_fact_of_a_file_that_is_not_given_is_refused(name, option, store):
    """A quota that nobody stated was not exceeded: the check passed every night."""
    with pytest.raises(DefinitionError, match=f"expected --{option} FILE"):
        FactsOnDemand(store).value(name)
    store.stated["quota"] = Quotas(users={"a": 1.0})
    assert FactsOnDemand(store).value("quota.exceeded") == 1


def test_only_the_sections_that_are_needed_are_computed(store, monkeypatch):
    made = []
    section = Analysis.section

    def counted(analysis, store, **options):
        made.append(analysis.id)
        return section(analysis, store, **options)

    monkeypatch.setattr(Analysis, "section", counted)
    facts = FactsOnDemand(store)
    facts.value("trace.jobs")
    facts.value("trace.users")
    assert made == ["overview"]
