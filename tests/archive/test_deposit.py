"""What repositories of research data read of a trace."""

import importlib.util
import json
from dataclasses import replace
from datetime import date

import pytest

from gwa.archive.catalogue import CatalogueChange, CatalogueEntry
from gwa.archive.deposit import deposits
from gwa.archive.published import PublishedTrace

URL = "https://archive.example/traces/heron/"
ENTRY = CatalogueEntry(
    id="heron",
    title="Heron",
    system="A cluster.",
    provider="Institute of Invented Measurements",
    licence="CC-BY-4.0",
    citation="Heron (2020).",
    terms="Cite the trace.",
    notes="Clean.",
    changes=(CatalogueChange(date(2024, 5, 6), "Times."), CatalogueChange(date(2023, 1, 2), "First."))
)  # fmt: skip
FILES = [
    {"format": "GWF", "file": "heron.gwf.gz", "bytes": 12, "sha256": "0" * 64},
    {"format": "Parquet", "file": "heron.parquet", "bytes": 34, "sha256": "1" * 64},
]


def made(entry):
    trace = PublishedTrace(entry, {"title": entry.title, "downloads": FILES})
    return {name: json.loads(text) for name, text in deposits(trace, "An archive", URL).items()}


def test_a_crate_holds_all_downloads_and_refers_to_nothing_else():
    graph = made(ENTRY)["ro-crate-metadata.json"]["@graph"]
    entities = {entity["@id"]: entity for entity in graph}
    root = entities["./"]

    assert len(entities) == len(graph)
    assert entities["ro-crate-metadata.json"]["about"] == {"@id": "./"}
    assert [part["@id"] for part in root["hasPart"]] == ["heron.gwf.gz", "heron.parquet"]
    assert entities["heron.parquet"]["contentSize"] == "34"
    assert root["datePublished"] == "2023-01-02"
    assert root["license"] == {"@id": "https://spdx.org/licenses/CC-BY-4.0"}
    for name in ("license", "author", "publisher"):
        assert root[name]["@id"] in entities


def test_datacite_has_all_that_is_mandatory():
    record = made(ENTRY)["datacite.json"]

    assert record["creators"] == [
        {"name": "Institute of Invented Measurements", "nameType": "Organizational"}
    ]
    assert record["titles"] == [{"title": "Heron"}]
    assert record["publisher"] == {"name": "An archive"}
    assert record["publicationYear"] == "2023"
    assert record["types"]["resourceTypeGeneral"] == "Dataset"
    assert record["rightsList"] == [
        {"rights": "CC-BY-4.0", "rightsUri": "https://spdx.org/licenses/CC-BY-4.0"}
    ]


def test_a_licence_in_words_has_no_address():
    documents = made(replace(ENTRY, licence="Ask the provider."))

    assert documents["datacite.json"]["rightsList"] == [{"rights": "Ask the provider."}]
    graph = documents["ro-crate-metadata.json"]["@graph"]
    assert {"@id": "#licence"} in [entity.get("license") for entity in graph]


@pytest.mark.parametrize(
    ("year", "changes", "published"), [(2009, ENTRY.changes, "2023"), (2009, (), "2009"), (None, (), None)]
)
def test_the_year_of_publication_is_never_invented(year, changes, published):
    documents = made(replace(ENTRY, year=year, changes=changes))

    assert documents.get("datacite.json", {}).get("publicationYear") == published


def test_what_is_synthetic_is_labelled_so():
    documents = made(replace(ENTRY, synthetic=True))

    assert documents["datacite.json"]["types"]["resourceType"] == "synthetic workload trace"
    assert documents["datacite.json"]["descriptions"][0]["description"].startswith("SYNTHETIC")


def needs(library):
    return pytest.mark.skipif(
        not importlib.util.find_spec(library), reason=f"needs {library}, an independent validator"
    )


@needs("datacite")
def test_the_record_fits_the_schema_of_datacite():
    schema = importlib.import_module("datacite.schema45")
    for entry in (ENTRY, replace(ENTRY, licence="Ask.", notes="", year=2009, changes=(), synthetic=True)):
        assert list(schema.validator.iter_errors(made(entry)["datacite.json"])) == []
