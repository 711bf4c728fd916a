"""Every reader of samples of nodes: what it takes for its own, and what it makes of what its tool prints."""

from contextlib import suppress
from itertools import product

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gwa.errors import DefinitionError
from gwa.ingest.measurements import PRECEDENCE
from gwa.ingest.node_samples import COLUMNS, Head, sample_file, sample_readers, text_head
from tests.conftest import examples

UUID = "GPU-52451644-a078-1719-e03e-a3def78e19e6"
CLOCK = "2026-11-27 15:35:26"

TEXTS = {
    "nvidia-smi": [
        (
            ("timestamp, index, uuid, name, utilization.gpu [%], utilization.memory [%], memory.used [MiB],"
            " memory.total [MiB], power.draw [W], temperature.gpu\n"
            f"2026/11/27 15:35:26.262, 0, {UUID}, NVIDIA H100, 7 %, 0 %, 2 MiB, 81559 MiB, 72.87 W, 3\n"),
            {
                "device": UUID, "place": 0, "model": "NVIDIA H100", "clock": f"{CLOCK}.262000",
                "use": 0.07, "watts": 72.87, "kb": 2048.0,
            },
        ),
        (
            "timestamp, power.draw [W], utilization.gpu [%], index\n2026/11/27 15:35:26.000, [N/A], 7, 3\n",
            {"device": "3", "place": 3, "clock": CLOCK, "use": 0.07, "watts": None},
        ),
    ],
    "dmon": [
        (
            ("#Date        Time         gpu    pwr  gtemp  mtemp     sm    mem     fb   bar1 \n"
            "#YYYYMMDD    HH:MM:SS     Idx      W      C      C      %      %     MB     MB \n"
            " 20261127    15:35:26       1     72     32      -      9      -   1024      1 \n"),
            {"device": "1", "place": 1, "clock": CLOCK, "use": 0.09, "watts": 72.0, "kb": 1048576.0},
        ),
        (
            ("# Date       Time        gpu     sm    mem    enc    dec\n"
            "# YYYYMMDD   HH:MM:SS    Idx      %      %      %      %\n"
            "  20261127   15:35:26      0      -      0      0      0\n"),
            {"device": "0", "place": 0, "clock": CLOCK},
        ),
    ],
    "pmon": [
        (
            ("#Date        Time         gpu         pid   type     sm    mem     fb    command \n"
            "#YYYYMMDD    HH:MM:SS     Idx           #    C/G      %      %     MB    name \n"
            " 20261127    15:35:26       0         586     C     40     31    500    python3 \n"
            " 20261127    15:35:26       0         587     C      -      -    600    secret name \n"),
            {"device": "0", "place": 0, "clock": CLOCK, "mean_use": 0.4, "kb": 1100 * 1024.0},
        ),
        (
            ("#Date        Time         gpu         pid   type     sm    mem    command \n"
            " 20261127    15:35:26       0           -     -      -      -    -  \n"),
            {"device": "0", "place": 0, "clock": CLOCK, "mean_use": 0.0},
        ),
    ],
    "ipmi": [
        (
            (
                "\n    Instantaneous power reading:                   212 Watts\n"
                "    Minimum during sampling period:                  8 Watts\n"
                "    Average power reading over sample period:      209 Watts\n"
                "    IPMI timestamp:                           Fri Nov 27 15:35:26 2026\n"
                "    Sampling period:                          00000001 Seconds.\n"
                "    Power reading state is:                   activated\n"
            ),
            {"device": "node", "clock": CLOCK, "watts": 212.0},
        ),
        (
            (
                "Current Power                        : 164 Watts\n"
                "Maximum Power over sampling duration : 391 watts\n"
                "Time Stamp                           : 11/27/2026 - 15:35:26\n"
            ),
            {"device": "node", "clock": CLOCK, "watts": 164.0},
        ),
        *(
            # Newer ones name the zone of their times, by three letters or four; some leave out the century.
            (
                (
                    "    Instantaneous power reading:                   180 Watts\n"
                    f"    IPMI timestamp:                           11/27/{year} 15:35:26 {zone}\n"
                ),
                {"device": "node", "clock": CLOCK, "watts": 180.0},
            )
            for year, zone in ((2026, "UTC"), (2026, "AEDT"), (26, "UTC"))
        ),
    ],
    "sadf": [
        (
            (
                "# hostname;interval;timestamp;CPU;%user;%nice;%system;%iowait;%steal;%idle\n"
                "gpu01;600;2026-11-27 15:40:01 UTC;-1;40.00;0.00;10.00;9.00;1.00;40.00\n"
                "gpu01;600;2026-11-27 15:40:01 UTC;0;40.00;0.00;10.00;9.00;1.00;40.00\n"
                "gpu01;600;2026-11-27 15:40:01 UTC;7;40.00;0.00;10.00;9.00;1.00;40.00\n"
            ),
            {
                "host": "gpu01", "device": "node", "t": 1795794001.0, "span": 600.0, "mean_use": 0.5,
                "cores": 4.0,
            },
        ),
        (
            # An old one, whose memory in use has the caches; the node started again.
            (
                "a;-1;2016-02-08 15:20:01;LINUX-RESTART\t(4 CPU)\n"
                "# hostname;interval;timestamp;kbmemfree;kbmemused;%memused;kbbuffers;kbcached\n"
                "a;595;2016-02-08 15:20:01;42928460;22663464;34.55;382432;3493016\n"
            ),
            {"host": "a", "device": "node", "clock": "2016-02-08 15:20:01", "kb": 18788016.0},
        ),
        (
            # A new one, whose memory has not; of a clock that names its zone.
            (
                "# hostname;interval;timestamp;CPU;%user;%nice;%system;%iowait;%steal;%idle[...]"
                ";kbmemfree;kbavail;kbmemused;%memused;kbbuffers;kbcached\n"
                "h;5;2026-11-27 15:35:26 CET;-1;29,01;0,00;21,30;0,00;0,00;49,69;275920;1;342948;17,07;9;9\n"
            ),
            {"host": "h", "device": "node", "clock": CLOCK, "span": 5.0, "mean_use": 0.5031},
        ),
    ],
    "compute-apps": [
        (
            ("timestamp, gpu_uuid, pid, process_name, used_gpu_memory [MiB]\n"
            f"2026/11/27 15:35:26.276, {UUID}, 586, /home/ana/python3, 600 MiB\n"
            f"2026/11/27 15:35:26.277, {UUID}, 587, /home/ana/python3, 400 MiB\n"),
            {"device": UUID, "clock": CLOCK, "kb": 1000 * 1024.0},
        ),
    ],
}  # fmt: skip
"""What tools print, with the first sample in it."""


TABLES = {
    "dcgm": ["timestamp", "metric", "gpu", "value", "Hostname", "UUID", "instance"],
    "node-exporter": ["timestamp", "metric", "instance", "value", "mode", "cpu"],
}
"""Columns of tools that write tables, not texts."""


def rows(database, path):
    """Return the samples in a file, without columns that a tool never has."""
    head, lines = text_head(database, path)
    found = sample_file(path, head, lines)
    assert found is not None
    select = f"with given as (from {found.lines}) from ({found.select})"
    names = [name for name, *_ in database.execute(f"describe {select}").fetchall()]
    return found.reader, names, database.execute(select).fetchall()


@pytest.fixture(params=sorted(TEXTS))
def name(request):
    return request.param


def test_every_reader_has_a_text_here_and_a_precedence():
    readers = [one.name for one in sample_readers()]
    assert sorted(readers) == sorted([*TEXTS, *TABLES])
    assert {*readers} <= {*PRECEDENCE}
    assert all(one.title and one.export for one in sample_readers())


@pytest.mark.parametrize(
    ("name", "place"), [(name, place) for name in TEXTS for place in range(len(TEXTS[name]))]
)
def test_what_a_tool_prints_is_read(tmp_path, name, place):
    text, expected = TEXTS[name][place]
    path = tmp_path / "gpu01.txt"
    path.write_text(text)
    with duckdb.connect() as database:
        reader, names, found = rows(database, path)
    assert reader.name == name
    assert {*names} <= COLUMNS.keys()
    first = dict(zip(names, found[0], strict=True))
    shown = {key: str(value) if key == "clock" and value else value for key, value in first.items()}
    assert {key: value for key, value in shown.items() if key in expected or value is not None} == {
        key: pytest.approx(value) if isinstance(value, float) else value for key, value in expected.items()
    }


def test_no_reader_takes_the_table_of_another():
    for (name, columns), reader in product(TABLES.items(), sample_readers()):
        assert reader.fits(Head(columns=columns)) == (reader.name == name)


def test_a_monitor_without_times_is_said(tmp_path):
    lines = [
        "# gpu   pwr gtemp    sm   mem",
        "# Idx     W     C     %     %",
        "    0    72    32     0     0",
    ]
    with pytest.raises(DefinitionError, match="no dates and times, expected those of the option -o DT"):
        sample_file(tmp_path / "gpu01.txt", Head(lines=lines))


def test_no_reader_takes_what_is_anothers():
    for (name, texts), reader in product(TEXTS.items(), sample_readers()):
        for text, _ in texts:
            assert reader.fits(Head(lines=text.splitlines())) == (reader.name == name)


@given(lines=st.lists(st.text(), max_size=5), columns=st.lists(st.text(), max_size=5))
def test_no_reader_breaks_at_a_head(lines, columns):
    head = Head(lines=lines, columns=columns)
    for reader in sample_readers():
        if reader.fits(head):
            with suppress(DefinitionError):
                reader.select(head)


@examples(60)
@given(data=st.data())
def test_damaged_lines_never_break_the_others(data, tmp_path_factory):
    """Whatever is in a line behind the first samples, reading goes on, and the first stay as they are."""
    name = data.draw(st.sampled_from(sorted(TEXTS)))
    text, _ = data.draw(st.sampled_from(TEXTS[name]))
    noise = data.draw(st.lists(st.text(st.characters(codec="ascii", exclude_characters="\r\n")), max_size=4))
    path = tmp_path_factory.mktemp("damaged") / "gpu01.txt"
    with duckdb.connect() as database:
        path.write_text(text)
        _, _, whole = rows(database, path)
        path.write_text(text + "".join(f"{line}\n" for line in noise))
        _, _, found = rows(database, path)
    assert whole[0] in found


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("index, utilization.gpu [%]", "no column timestamp"),
        ("timestamp, utilization.gpu [%]", "no column index or uuid"),
    ],
)
def test_queries_that_lack_something_are_said(tmp_path, header, message):
    with pytest.raises(DefinitionError, match=message):
        sample_file(tmp_path / "gpu01.csv", Head(lines=[header]))
