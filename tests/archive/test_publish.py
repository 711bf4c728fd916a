"""What a trace must be to be published, and that nothing of its file's or commands' names goes with it."""

import pytest

from gwa.archive.catalogue import read_catalogue
from gwa.archive.publish import WithheldTrace, publish
from gwa.formats.convert import convert, convert_anonymized
from gwa.formats.open import open_trace
from tests.conftest import HOME
from tests.planting import found_in, name, plant, samples

KEY = b"0123456789abcdef"
CATALOGUE = """
archive.title = "Archive"
[[trace]]
source = "{}"
citation = "c"
licence = "CC0-1.0"
provider = "p"
system = "s"
title = "One"
id = "one"
"""


@pytest.fixture
def planted(tmp_path):
    logs, _ = plant(samples(HOME / "sample_traces")["slurm"], tmp_path / "logs", "slurm")
    return logs


def published(tmp_path, source, more="", **options):
    """Publish the file *source* of the site, and return the planted names in what is published."""
    (tmp_path / "site" / "archive.toml").write_text(CATALOGUE.format(source) + more)
    catalogue = read_catalogue(tmp_path / "site")
    folder = tmp_path / "public"
    folder.mkdir(exist_ok=True)
    options = {"publish_names": False, "memory": None, **options}
    publish(catalogue, catalogue.entry("one"), folder, **options)
    return found_in(folder)


@pytest.fixture
def site(tmp_path):
    (tmp_path / "site").mkdir()
    return tmp_path / "site"


@pytest.mark.parametrize("suffix", [".gwf", ".duckdb"])
def test_what_gwa_anonymized_is_published_without_any_name(tmp_path, site, planted, suffix):
    """Even if the file is called as somebody, and its provenance has a command."""
    convert_anonymized(planted, tmp_path / "anonymous.gwf", KEY, name="slurm")
    source = site / f"{name(1)}{suffix}"
    convert([tmp_path / "anonymous.gwf"], source, command=f"gwa convert {name(2)}")

    assert published(tmp_path, source.name) == set()


def test_names_are_refused_unless_the_catalogue_lists_them(tmp_path, site, planted):
    convert_anonymized(planted, site / "log.gwf", KEY, name="slurm", keep={"queues"})
    with open_trace([site / "log.gwf"]) as store:
        names = "select queue_id as name from jobs union select qos from jobs"
        queues = [name for (name,) in store.rows(f"from ({names}) where name is not null")]

    with pytest.raises(
        WithheldTrace, match=r"queue_id holds names: .*: gwa anonymize it, list these under names in"
    ):
        published(tmp_path, "log.gwf")
    assert published(tmp_path, "log.gwf", f"names = {queues}") <= set(queues)


def test_a_log_with_its_names_is_refused_and_published_only_by_demand(tmp_path, site, planted):
    convert(planted, site / "log.gwf", name="slurm")

    with pytest.raises(WithheldTrace, match="user_id holds names"):
        published(tmp_path, "log.gwf")
    assert published(tmp_path, "log.gwf", publish_names=True)


def test_a_trace_that_the_catalogue_calls_synthetic_may_have_names(tmp_path, site):
    (site / "log.swf").write_bytes((HOME / "sample_traces/swf/tiny.swf").read_bytes())

    assert published(tmp_path, "log.swf", "synthetic = true") == set()
