"""The schemas say what is printed: real outputs are valid, and what is spoiled is not."""

import copy
import json

import pytest
from jsonschema import Draft202012Validator

import gwa
from gwa.analysis.base import families
from gwa.report.as_json import as_json
from gwa.report.json_schema import facts_schema, report_schema
from tests.conftest import HOME

REPORT = Draft202012Validator(report_schema())
FACTS = Draft202012Validator(facts_schema(families()))


@pytest.fixture(scope="module")
def printed():
    with gwa.open(HOME / "sample_traces" / "swf" / "tiny.swf") as trace:
        week = trace.filter(period="2025-03-17..2025-03-23")
        report = week.report(against=trace.filter(period="2025-03-10..2025-03-16"))
        return json.loads(as_json(report)), json.loads(json.dumps(trace.facts() | trace.facts("fit")))


def test_both_are_schemas_of_draft_2020_12():
    for validator in (REPORT, FACTS):
        Draft202012Validator.check_schema(validator.schema)


def test_what_is_printed_is_valid(printed):
    report, facts = printed
    assert [error.message for error in REPORT.iter_errors(report)] == []
    assert [error.message for error in FACTS.iter_errors(facts)] == []


@pytest.mark.parametrize(
    "spoil",
    [
        lambda report: report.pop("title"),
        lambda report: report.update(more=1),
        lambda report: report["sections"][0].update(failed="no"),
        lambda report: report["sections"][0]["blocks"][0].update(kind="picture"),
        lambda report: report["findings"][0].update(weight="much"),
        lambda report: report.update(zone=3),
    ],
)
def test_what_is_spoiled_is_not_valid(spoil, printed):
    report = copy.deepcopy(printed[0])
    spoil(report)
    assert not REPORT.is_valid(report)


def test_a_fact_that_no_section_has_is_not_valid():
    assert not FACTS.is_valid({"weather.rain": 1})
    assert FACTS.is_valid({"trace.jobs": None})


@pytest.mark.parametrize("name", ["facts", "report"])
def test_the_schemas_beside_the_documentation_are_those_of_the_code(name, request):
    path = HOME / "docs" / f"{name}.schema.json"
    schema = {"facts": FACTS, "report": REPORT}[name].schema
    if request.config.getoption("--update-golden"):
        path.write_text(json.dumps(schema, indent=1, ensure_ascii=False) + "\n")

    assert json.loads(path.read_text()) == schema
