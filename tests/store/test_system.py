"""What headers and system files say of a system."""

import pytest

from gwa.errors import DefinitionError
from gwa.store.system import from_header, overridden, read_system


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
