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


def swf(path, users, queue=3):
    """Write a log in the Standard Workload Format, whose names are numbers."""
    rows = (
        f"{n} {n * 60} 5 100 1 -1 -1 1 200 -1 1 {n % users + 1} 1 1 {queue} -1 -1 -1\n" for n in range(1, 99)
    )
    path.write_text("; MaxProcs: 4\n; UnixStartTime: 843480031\n" + "".join(rows))


def test_numbers_of_the_standard_workload_format_are_no_names(tmp_path, site):
    swf(site / "log.swf", users=9)

    published(tmp_path, "log.swf")


def test_names_in_the_header_of_a_numbered_log_are_names(tmp_path, site):
    swf(site / "log.swf", users=9)
    path = site / "log.swf"
    path.write_text("; Queue: 3 prof_smith\n; Acknowledge: Jane Doe\n" + path.read_text())

    with pytest.raises(WithheldTrace, match=r"^queue_id holds names: 'prof_smith'; the header holds texts"):
        published(tmp_path, "log.swf")


def test_the_same_letters_and_numbers_are_names_in_other_formats(tmp_path, site):
    (site / "log.sacct").write_text(
        "JobID|User|Submit|Start|End|Elapsed|AllocCPUS|State\n"
        "1|U123|2025-01-01T00:00:00|2025-01-01T00:01:00|2025-01-01T00:11:00|00:10:00|1|COMPLETED\n"
    )

    with pytest.raises(WithheldTrace, match=r"user_id holds names: 'U123'"):
        published(tmp_path, "log.sacct")


def test_a_refusal_is_short_however_many_names_there_are(tmp_path, site):
    names = [f"somebody-with-a-long-name-{number}" for number in range(500)]
    rows = "".join(
        f"{number}|{name}|g-{name}|a-{name}|{name}|q-{name}|2025-01-01T00:00:00|2025-01-01T00:01:00"
        "|2025-01-01T00:11:00|00:10:00|1|COMPLETED\n"
        for number, name in enumerate(names, 1)
    )
    (site / "log.sacct").write_text(
        f"JobID|User|Group|Account|JobName|Partition|Submit|Start|End|Elapsed|AllocCPUS|State\n{rows}"
    )

    with pytest.raises(WithheldTrace) as refused:
        published(tmp_path, "log.sacct")
    said = str(refused.value)
    assert len(said) < 800
    assert "'somebody-with-a-long-name-0'" in said
    assert " and 496 more" in said
