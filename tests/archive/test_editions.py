"""Editions of a trace: what differs between published jobs, against a slow comparison in Python."""

import json
from datetime import date

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import given
from hypothesis import strategies as st

from gwa.archive.catalogue import CatalogueChange, CatalogueEntry
from gwa.archive.editions import TRACE_FILE, described, editions
from tests.conftest import examples

ENTRY = CatalogueEntry(
    id="one", title="One", system="s", provider="p", licence="CC0-1.0", citation="c",
    changes=(CatalogueChange(date(2026, 1, 2), "First."),),
)  # fmt: skip


def written(folder, jobs):
    """Write *jobs*, a run time and a QoS by number, as a published trace does."""
    folder.mkdir(exist_ok=True)
    columns = {
        "job_id": pa.array(jobs, pa.int64()),
        "run_time": pa.array([run for run, _ in jobs.values()], pa.float64()),
        "qos": pa.array([qos for _, qos in jobs.values()], pa.string()),
    }
    pq.write_table(pa.table(columns), folder / "one.parquet")
    return folder / "one.parquet"


def published(folder, found):
    about = {"downloads": [{"file": "one.parquet"}], "editions": found}
    (folder / TRACE_FILE).write_text(json.dumps(about))
    return folder


JOBS = st.dictionaries(
    st.integers(1, 9),
    st.tuples(st.one_of(st.none(), st.integers(0, 3)), st.one_of(st.none(), st.sampled_from(["a", "b"]))),
    min_size=1,
)


@examples(40)
@given(JOBS, JOBS)
def test_what_differs_is_what_a_loop_over_all_jobs_finds(tmp_path_factory, earlier, later):
    home = tmp_path_factory.mktemp("editions")
    first = editions(ENTRY, written(home / "a", earlier), None)
    old = published(home / "a", first)
    found = editions(ENTRY, written(home / "b", later), old)
    both = earlier.keys() & later.keys()
    recorded = [
        {
            name
            for place, name in enumerate(("run_time", "qos"))
            if any(job[place] is not None for job in jobs.values())
        }
        for jobs in (earlier, later)
    ]
    shared = [
        (place, name) for place, name in enumerate(("run_time", "qos")) if name in recorded[0] & recorded[1]
    ]
    changed = {name: sum(earlier[one][place] != later[one][place] for one in both) for place, name in shared}
    repaired = sum(any(earlier[one][place] != later[one][place] for place, _ in shared) for one in both)
    wanted = {
        "added": len(later.keys() - earlier.keys()),
        "removed": len(earlier.keys() - later.keys()),
        "repaired": repaired,
        "changed": {name: count for name, count in changed.items() if count},
        "new_columns": sorted(recorded[1] - recorded[0]),
        "lost_columns": sorted(recorded[0] - recorded[1]),
    }

    assert first == [{"version": "1.0.0", "date": "2026-01-02", "jobs": len(earlier)}]
    if any(wanted.values()):
        assert found[0]["difference"] == wanted
        assert found[0]["version"] == "1.1.0"
        assert found[0]["jobs"] == len(later)
        assert found[1:] == first
        assert described(found[0]["difference"]) != "the same jobs"
    else:
        assert found == first


def test_a_change_that_the_keeper_wrote_is_an_edition_with_the_same_jobs(tmp_path):
    old = published(tmp_path / "a", editions(ENTRY, written(tmp_path / "a", {1: (5, "a")}), None))
    entry = CatalogueEntry(
        **{**vars(ENTRY), "changes": (CatalogueChange(date(2026, 3, 4), "x"), *ENTRY.changes)}
    )
    found = editions(entry, written(tmp_path / "b", {1: (5, "a")}), old)

    assert [one["version"] for one in found] == ["2.0.0", "1.0.0"]
    assert described(found[0]["difference"]) == "the same jobs"


def test_an_edition_of_an_earlier_gwa_without_a_history_is_compared_too(tmp_path):
    written(tmp_path / "a", {1: (5, "a")})
    old = published(tmp_path / "a", [])
    (found,) = editions(ENTRY, written(tmp_path / "b", {1: (6, "a")}), old)

    assert found["version"] == "1.0.0"
    assert described(found["difference"]) == "1 repaired (run_time: 1)"


def test_a_damaged_folder_has_no_history(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / TRACE_FILE).write_text("{")
    (found,) = editions(ENTRY, written(tmp_path / "b", {1: (6, "a")}), tmp_path / "a")

    assert "difference" not in found
