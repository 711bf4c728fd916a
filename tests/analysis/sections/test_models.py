"""The section on models: on request only, with facts, curves, a scorecard, and how to make more."""

import json
import math
from dataclasses import dataclass
from typing import Annotated

import pytest

import gwa
from gwa.analysis.base import analyses
from gwa.analysis.build import build
from gwa.analysis.sections._scored_models import parameter_rows
from gwa.evaluation.measure import measures
from gwa.models.base import models
from gwa.models.parameters import Parameters, positive
from gwa.report.as_json import plain
from gwa.report.document import Facts, FactTable, Figure, Note, Table

SECTION = next(one for one in analyses() if one.id == "models")


@pytest.fixture(scope="module")
def section(sample_traces):
    """Return the section for the sample trace, of two models that are fitted quickly."""
    few = {name: kind for name, kind in models().items() if name in {"dacosta", "gwa"}}
    with pytest.MonkeyPatch.context() as patch, gwa.open(sample_traces / "swf" / "tiny.swf") as trace:
        patch.setattr("gwa.analysis.sections.models.models", lambda: few)
        return SECTION.section(trace.store)


@pytest.fixture(scope="module")
def sample_traces(request):
    return request.config.rootpath / "sample_traces"


def of(section, kind):
    return [block for block in section.blocks if isinstance(block, kind)]


def test_every_distance_is_a_fact_of_each_model(section):
    (facts,) = of(section, Facts)
    ids = {fact.id for fact in facts.facts}

    assert ids >= {f"model.{name}.noise_floors" for name in ("dacosta", "gwa")}
    assert len(ids) == 2 * (1 + len(measures()))
    assert not of(section, FactTable)


def test_models_stand_in_the_order_of_how_near_they_come(section):
    tables = {table.id: table for table in of(section, Table)}
    floors = [math.inf if row[1] is None else row[1] for row in tables["models"].rows]

    assert floors == sorted(floors)
    assert len(tables["scorecard"].rows) == len(measures())
    assert {row[0] for row in tables["model-parameters"].rows} == {row[0] for row in tables["models"].rows}


def test_curves_are_of_the_real_jobs_and_of_models(section):
    for figure in of(section, Figure):
        assert figure.data["curves"][0]["label"] == "real"
    assert len(of(section, Figure)) == 3
    json.dumps(plain(section), allow_nan=False)


def test_it_says_how_to_make_more(section):
    assert any("gwa model generate" in note.text for note in of(section, Note))
    assert any("seed 1" in note.text for note in of(section, Note))


def test_it_is_made_only_where_it_is_asked_for(make_store):
    store = make_store(submit_time=[1.0], run_time=[2.0], n_procs=[1])

    assert "models" not in {one.id for one in build(store, "some").sections}
    assert [one.id for one in build(store, "some", only=["models"]).sections] == ["models"]
    assert not SECTION.has_facts("")
    assert not SECTION.has_facts("m")
    assert SECTION.has_facts("model.gwa")


@dataclass(frozen=True)
class Few(Parameters):
    """A model that has a list of parameters, which may be empty."""

    rates: Annotated[tuple[float, ...], positive("rates")]


def test_an_empty_list_of_parameters_is_said_to_be_empty():
    assert [row[:2] for row in parameter_rows(Few(()))] == [("rates", "none")]
