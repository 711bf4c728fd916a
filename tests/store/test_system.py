"""What headers and system files say of a system."""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gwa.errors import DefinitionError
from gwa.store.privacy import public_line
from gwa.store.system import ABSOLUTE, from_header, overridden, read_system
from tests.conftest import examples


@pytest.mark.parametrize(
    ("header", "cpus"),
    [
        ((("MaxProcs", "1664 (72, 1368, 224)"),), 1664),
        ((("MaxNodes", "70  (dual)"),), 70),
        ((("MaxNodes", "100"), ("MaxProcs", "200")), 200),
        ((("Processors", "24,115"), ("MaxProcs", "7")), 24115),
        ((("MaxProcs", "unknown"),), None),
        ((("MaxProcs", "0"),), None),
        ((("MaxProcs", "99999999999999999"), ("MaxNodes", "6")), None),
        ((("MaxProcs", "4.8e1"), ("MaxNodes", "6")), None),
        ((("MaxProcs", "1 664"),), None),
        ((("MaxProcs", "1,66"),), None),
        ((("MaxProcs", "16k"),), None),
        ((("MaxProcs", "12 x 4"),), None),
        ((("MaxProcs", "-1"), ("MaxNodes", "6")), 6),
        ((), None),
    ],
)
def test_reads_the_number_of_processors_as_logs_write_it(header, cpus):
    assert from_header(header).cpus == cpus


@pytest.mark.parametrize(
    ("header", "zone"),
    [
        ((("TimeZoneString", "Europe/Stockholm"), ("TimeZone", "3600")), "Europe/Stockholm"),
        ((("TimeZone", "-28800"),), "Etc/GMT+8"),
        ((("TimeZone", "0  # DEPRECATED"),), "UTC"),
        ((("TimeZoneString", "../../etc/passwd"),), None),
        ((("TimeZoneString", "Mars/Olympus"),), None),
        ((), None),
    ],
)
def test_reads_the_time_zone(header, zone):
    assert from_header(header).zone == zone


@pytest.mark.parametrize(
    ("said", "start"), [("843480031", 843480031.0), ("0", None), ("-1", None), ("soon", None)]
)
def test_an_unknown_start_is_none(said, start):
    assert from_header((("UnixStartTime", said),)).start == start


def test_a_system_file_says_since_when_there_were_how_many_processors(tmp_path):
    file = tmp_path / "system.toml"
    file.write_text(
        "cpus = 64\nsize = [{since = 2024-05-01, cpus = 128}, {since = 2024-01-02T06:30:00Z, cpus = 32}]\n"
    )
    stated = overridden(
        (("Processors", "9"), ("Sizes", "[[3, 5]]"), ("TimeZoneString", "Asia/Kolkata")), read_system(file)
    )
    system = from_header((*stated, ("Times", ABSOLUTE)))

    assert (system.cpus, system.size, system.largest) == (128, None, 128)
    assert [cpus for _, cpus in system.sizes] == [64, 32, 128]
    assert [since for since, _ in system.sizes[1:]] == [
        datetime(2024, 1, 2, 6, 30, tzinfo=UTC).timestamp(),
        datetime(2024, 4, 30, 18, 30, tzinfo=UTC).timestamp(),
    ]
    assert [public_line(*line) for line in stated if line[0] == "Sizes"] == [
        line for line in stated if line[0] == "Sizes"
    ]


SECONDS = st.integers(0, 30)


@examples(60)
@given(
    first=st.integers(1, 99),
    changes=st.lists(
        st.tuples(SECONDS, st.integers(1, 99)), min_size=1, max_size=4, unique_by=lambda one: one[0]
    ),
    period=st.tuples(SECONDS, SECONDS).map(sorted),
    gap=st.tuples(SECONDS, SECONDS).map(sorted),
)
def test_a_machine_that_grew_and_shrank_has_what_each_second_had(first, changes, period, gap):
    """Second by second; the largest is that of all times, before the first change, too."""
    system = from_header((("Processors", str(first)), ("Sizes", json.dumps(changes))))
    since = {-1: first, **dict(changes)}
    of_second = [since[max(begin for begin in since if begin <= second)] for second in range(30)]
    begin, end = period
    counted = [second for second in range(begin, end) if not gap[0] <= second < gap[1]]

    assert system.largest == max(since.values())
    assert system.capacity((begin, end), [(gap[0], gap[1])]) == sum(of_second[second] for second in counted)
    mean = system.mean_size((begin, end))
    assert mean == (pytest.approx(sum(of_second[begin:end]) / (end - begin)) if begin < end else None)


def test_dates_that_a_log_without_a_calendar_cannot_place_leave_the_size_unknown():
    header = (("Processors", "64"), ("Sizes", '[["2024-05-01", 128]]'))
    assert from_header(header).cpus is None
    assert from_header((header[0], ("Sizes", "[[86400, 128]]"))).sizes[1] == (86400.0, 128)
    assert from_header((header[0], ("Sizes", "as it was"))).size == 64


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[size]]\nsince = 2024-05-01\ncpus = 8", "cpus: is missing"),
        ("cpus = 4\n[[size]]\nsince = 'May'\ncpus = 8", "expected a date such as 2024-05-01"),
        ("cpus = 4\n[[size]]\ncpus = 8", "since: is missing"),
        ("cpus = 4\n[[size]]\nsince = 5\ncpus = 0", "expected a whole number"),
    ],
)
def test_a_change_of_size_that_is_none_is_refused(tmp_path, text, said):
    file = tmp_path / "system.toml"
    file.write_text(text)
    with pytest.raises(DefinitionError, match=said):
        read_system(file)


def test_a_system_file_replaces_what_the_header_says(tmp_path):
    file = tmp_path / "system.toml"
    file.write_text('name = "Heron"\ncpus = 64\nzone = "Asia/Kolkata"\n')
    header = overridden((("Computer", "old"), ("MaxProcs", "9"), ("Note", "kept")), read_system(file))
    system = from_header(header)

    assert (system.name, system.cpus, system.zone) == ("Heron", 64, "Asia/Kolkata")
    assert ("Note", "kept") in header
    assert "MaxProcs" not in dict(header)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("cpus = 99999999999", "cpus: is 99999999999, expected a whole number from 1 to 1,000,000,000"),
        ("cpus = 'many'", "system.toml:1: cpus: is 'many', expected a whole number from 1 to 1,000,000,000"),
        ("cpus = 0", "cpus: is 0"),
        ("cpus = 1.5", "cpus: is 1.5"),
        ("name = 'x'\nzone = 'Mars'", ":2: zone: is 'Mars', expected a time zone such as"),
        ("colour = 'red'", "colour: unknown key, expected one of cpus, nodes, gpus"),
        ("start = 'noon'", "start: is 'noon', expected Unix seconds above 0"),
        ("start = true", "start: is True"),
        ("start = inf", "start: is inf"),
        ("name = 3", "name: is 3, expected a text"),
        ("name = ", "system.toml:1: "),
    ],
)
def test_names_what_is_wrong_in_a_system_file(text, said, tmp_path):
    file = tmp_path / "system.toml"
    file.write_text(text)

    with pytest.raises(DefinitionError, match=said):
        read_system(file)


def test_a_missing_system_file_is_named(tmp_path):
    with pytest.raises(DefinitionError, match=r"nowhere\.toml"):
        read_system(tmp_path / "nowhere.toml")


def test_a_system_file_says_what_a_node_has(tmp_path):
    path = tmp_path / "system.toml"
    path.write_text("node_cores = 32\nnode_memory = 199229440\nnode_gpus = 4\n")
    system = from_header(overridden((), read_system(path)))
    assert (system.node_cores, system.node_memory, system.node_gpus) == (32, 199229440, 4)


def test_a_system_file_says_how_many_threads_a_core_has(tmp_path):
    path = tmp_path / "system.toml"
    path.write_text("threads_per_core = 2\n")
    assert from_header(overridden((), read_system(path))).threads_per_core == 2
    path.write_text("threads_per_core = 3\n")
    with pytest.raises(DefinitionError, match="1, 2, 4 or 8"):
        read_system(path)


def test_of_a_log_that_has_a_part_of_the_jobs_no_size_is_known(tmp_path):
    path = tmp_path / "system.toml"
    path.write_text('cpus = 512\nnodes = 16\ngpus = 64\nnode_cores = 32\ncovers = "part"\n')
    system = from_header(overridden((("MaxProcs", "512"),), read_system(path)))
    assert (system.covers, system.cpus, system.nodes, system.gpus) == ("part", None, None, None)
    assert system.node_cores == 32
    path.write_text('cpus = 512\ncovers = "all"\n')
    assert from_header(overridden((), read_system(path))).cpus == 512
    path.write_text('covers = "half"\n')
    with pytest.raises(DefinitionError, match="'all' or 'part'"):
        read_system(path)
