"""
Situations that logs of every format are met in: each converter, and no wrong value with status 0.

A job that never started, one whose start, end or submission is of 1970, of the year 1, of 2106 or before what
it follows, two users with one number, and a second run: said in the words of each format (`ways`). What
cannot be known is missing, and what is set to missing is counted.
"""

import csv
import io
import json
from collections import Counter
from functools import cache
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from gwa.formats.open import open_trace
from gwa.formats.registry import all_formats, converters
from gwa.store.options import ReadOptions
from tests.converters.test_every_converter import sample_of
from tests.converters.ways import ENDED, LASTING, STARTED, SUBMITTED, WAYS

EVERY = pytest.mark.parametrize("way", WAYS, ids=lambda way: way.name)
SUBMITTING = pytest.mark.parametrize(
    "way", [way for way in WAYS if way.has_submission], ids=lambda way: way.name
)
ABSOLUTE = pytest.mark.parametrize("way", [way for way in WAYS if not way.origin], ids=lambda way: way.name)
MEASURED = pytest.mark.parametrize("way", [way for way in WAYS if way.is_measured], ids=lambda way: way.name)

SOUND = (SUBMITTED, STARTED, ENDED)
YEAR_1 = -62_135_596_800
YEAR_2106 = 2**32 - 2 - 3600
NO_TIMES = (1, 3600, 50_000, YEAR_1, YEAR_2106)
MEASURED_STARTS = (*NO_TIMES, SUBMITTED - 7200, SUBMITTED + 9000)


def situations(way):
    """Return the jobs of each situation that can be said in the words of a format."""
    jobs: dict[str, list[tuple[Any, ...]]] = {"early end": [(SUBMITTED, STARTED, STARTED - 9000)]}
    if way.has_submission:
        jobs["never started"] = [(SUBMITTED, never, ENDED) for never in way.never]
        jobs["early start"] = [(SUBMITTED, SUBMITTED - 7200, ENDED)]
    if not way.origin:
        jobs["early end"] += [(SUBMITTED, STARTED, end) for end in (1, YEAR_2106)]
        jobs["false start"] = [(SUBMITTED, start, ENDED) for start in NO_TIMES]
        jobs["false submission"] = [(time, STARTED, ENDED) for time in NO_TIMES]
        jobs["number used again"] = [SOUND, (SUBMITTED + 400_000, STARTED + 400_000, ENDED + 400_100)]
        jobs["second run"] = [SOUND, (SUBMITTED, STARTED + 1000, ENDED + 1100)]
    if way.is_measured:
        jobs["measured"] = [(SUBMITTED, start, ENDED, 60) for start in MEASURED_STARTS]
    return jobs


OF_ONE_NUMBER = {"number used again", "second run"}


@cache
def read(way):
    """
    Return what is told of the jobs of each situation, behind two that nothing is wrong with, and the repairs.

    All are in one log, so that none changes what is told of another.
    """
    numbers, jobs, of_number = count(703), [(701, *SOUND), (702, *SOUND)], {}
    for situation, times in situations(way).items():
        number = next(numbers)
        for job in times:
            of_number[number] = situation
            jobs.append((number, *job))
            number = number if situation in OF_ONE_NUMBER else next(numbers)
    fields = f"submit_time, wait_time, run_time, {way.held or 'null'}"
    with TemporaryDirectory() as folder:
        for name, text in way.written(jobs).items():
            Path(folder, name).write_text(text)
        with open_trace([Path(folder, name) for name in (way.file, *way.beside)], way.name) as store:
            store.account.check()
            (_, *sound), second, *rows = store.rows(
                "select regexp_extract(concat_ws(' ', source_id, jobs.job_id, user_id), '7\\d\\d') as number,"
                f" {fields} from jobs left join source_ids using (job_id) order by number, run_time"
            )
            repairs = Counter[str]()
            for name, repaired in store.rows("select name, jobs from repairs"):
                repairs[name] += repaired
            rejected = store.account.rejected
    held = 2 if way.held == "n_gpus" or not way.name.startswith("google") else 1
    assert sound[2:] == [60, held if way.held else None]
    assert sound[1] == 10 or not way.has_submission
    assert list(second[1:]) == sound
    found: dict[str, list[tuple[Any, ...]]] = {situation: [] for situation in situations(way)}
    for number, submitted, *values in rows:
        found[of_number[int(number)]].append((since(submitted, sound[0]), *values))
    once = [values for situation, told in found.items() if situation not in OF_ONE_NUMBER for values in told]
    assert len(once) + rejected == sum(of_number[number] not in OF_ONE_NUMBER for number, *_ in jobs[2:])
    return found, repairs


def since(time, sound):
    """Return a submission as seconds since that of the jobs that nothing is wrong with."""
    return None if time is None else time - sound


def is_not_run(way, values):
    """Whether a job has no wait and no run time, and nothing that it held unless that is told apart."""
    submitted, waited, ran, held = values
    return (
        submitted == 0 and waited is None and ran == way.unstarted_run and (held is None or way.is_allocated)
    )


@SUBMITTING
def test_a_job_that_never_started(way):
    found, _ = read(way)
    assert all(is_not_run(way, values) for values in found["never started"])


@ABSOLUTE
def test_a_start_that_is_no_time(way):
    found, repairs = read(way)
    assert all(is_not_run(way, values) for values in found["false start"])
    # What is negative may stand for what is not known in the format itself.
    assert repairs["false start"] >= len(NO_TIMES) - 1


@SUBMITTING
def test_a_start_before_the_submission(way):
    found, repairs = read(way)
    assert is_not_run(way, found["early start"][0])
    assert repairs


@EVERY
def test_an_end_before_the_start(way):
    for submitted, waited, ran, held in read(way)[0]["early end"]:
        assert (submitted, waited, ran) == (0, 10 if way.has_submission else None, None)
        assert held in {None, 1, 2}


@ABSOLUTE
def test_a_submission_that_is_no_time(way):
    found, repairs = read(way)
    assert {values[:3] for values in found["false submission"]} == {(None, None, 60)}
    assert {values[3] for values in found["false submission"]} == {2 if way.held else None}
    assert repairs["false submission"] >= len(NO_TIMES) - 1


@MEASURED
def test_a_measured_run_time_is_believed_over_a_false_start(way):
    found, _ = read(way)
    for start, (submitted, waited, ran, held) in zip(MEASURED_STARTS, found["measured"], strict=True):
        if start == YEAR_1 and ran is None:
            continue  # a negative start stands for none
        assert (submitted, ran, held) == (0, 60, 2)
        # A start that may be one is kept, though the end lies before it.
        assert waited in {None, 10, *([9000] if start == SUBMITTED + 9000 else [])}


@ABSOLUTE
def test_a_number_that_was_used_again_is_of_two_jobs(way):
    found = read(way)[0]["number used again"]
    if len(found) == 1:
        assert way.name in SAME_NUMBER_IS_ONE
        return
    assert sorted(ran for _, _, ran, _ in found) == [60, 160]
    assert not way.has_submission or {waited for _, waited, *_ in found} == {10}


SAME_NUMBER_IS_ONE = {
    "kubernetes": "names are of one object at a time; the later one is it",
    "seg": "numbers of the batch system are all that it tells of a job",
}
"""Formats in which a second record of a number is of the same job, and why."""


@ABSOLUTE
def test_a_second_run_adds_no_time_to_the_last(way):
    runs = sorted(ran for _, _, ran, _ in read(way)[0]["second run"])
    if way.name == "seg":
        # Its events do not tell that a job began anew: it lasted from its first start to its last end.
        assert runs == [1160]
        return
    assert runs in ([160], [60, 160])


@EVERY
def test_two_users_of_one_number_are_never_mixed(way, tmp_path):
    texts = [way.written([(701, SUBMITTED, STARTED, end)]) for end in (ENDED, ENDED + 100)]
    if "u701" not in texts[0][way.file]:
        pytest.skip("names no users")
    path = tmp_path / way.file
    records = [text[way.file].removeprefix(way.head).removesuffix(way.foot) for text in texts]
    path.write_text(way.head + way.joint.join([records[0], records[1].replace("u701", "u709")]) + way.foot)
    with open_trace([path], way.name) as store:
        store.account.check()
        found = store.rows("select user_id, run_time from jobs order by all")
    assert {ran for user, ran in found if "709" in user} <= {160, None}
    assert {ran for user, ran in found if "701" in user} <= {60, None}


# Formats that say how long jobs waited and ran.

NUMBERED = (
    "from jobs left join source_ids using (job_id)"
    " order by regexp_extract(concat_ws(' ', source_id, jobs.job_id, user_id), '70\\d')"
)


@pytest.mark.parametrize("way", LASTING, ids=lambda way: way.name)
def test_a_duration_that_cannot_be_one(way, tmp_path):
    submitted = SUBMITTED if way.is_absolute else 100_000
    path = tmp_path / way.file
    durations = [(10, -1), (10, -9000), (10, 10**10), (-1, 60), (-9000, 60), (10**10, 60)]
    way.write(path, [(submitted, *times) for times in [(10, 60)] * 3 + durations])
    with open_trace([path], way.name, ReadOptions(format_options=way.options)) as store:
        rows = store.rows(f"select submit_time, wait_time, run_time {NUMBERED}")
    waits = {10} if way.has_wait else {0, None}
    runs = {60} if way.name != "batsim" else {None}
    assert {(row[0], row[1] in waits, row[2] in runs) for row in rows[:3]} == {(submitted, True, True)}
    for (wait, run), last in zip(durations, rows[3:], strict=True):
        assert last[0] == submitted
        assert last[1] in (waits if 0 <= wait < 10**9 or not way.has_wait else {None})
        # Two stamps may differ by a little in the wrong direction, which is no time between them.
        assert last[2] in (
            runs if 0 <= run < 10**9 else {None, *([0] if way.name.startswith("azure") else [])}
        )


@pytest.mark.parametrize("way", [way for way in LASTING if way.is_absolute], ids=lambda way: way.name)
@pytest.mark.parametrize("submitted", NO_TIMES)
def test_a_submission_of_no_time_beside_durations(way, submitted, tmp_path):
    path = tmp_path / way.file
    way.write(path, [(SUBMITTED, 10, 60)] * 3 + [(submitted, 10, 60)])
    with open_trace([path], way.name, ReadOptions(format_options=way.options)) as store:
        rows = store.rows(f"select submit_time, run_time {NUMBERED}")
        assert store.row("select sum(jobs) from repairs where name in ('false submission', 'invalid value')")[
            0
        ]
    assert rows[3] == (None, 60)


def test_every_format_of_a_job_s_times_is_here():
    told = {way.name for way in (*WAYS, *LASTING)}
    # The first two know events only; the last two are stores, which hold jobs that were judged before.
    of_jobs = {one.name for one in all_formats() if "jobs" in one.holds}
    assert of_jobs - told == {"gatekeeper", "gram-audit", "duckdb", "parquet"}


# A column or key that is missing: what it would tell is unknown, and the rest is as before.

TOLD = (
    "submit_time", "wait_time", "run_time", "n_procs", "n_nodes", "n_gpus", "average_cpu_time", "req_time",
    "req_n_procs", "status",
)  # fmt: skip


def told(name, *paths):
    """Return what is told of the jobs of a log by their ids in the source."""
    with open_trace(list(paths), name) as store:
        store.account.check()
        rows = store.rows(
            f"select coalesce(source_id, jobs.job_id::varchar), {', '.join(TOLD)}"
            " from jobs left join source_ids using (job_id)"
        )
    return {key: dict(zip(TOLD, values, strict=True)) for key, *values in rows}


def without(value, key):
    """Return a JSON value without all members called *key*."""
    if isinstance(value, dict):
        return {name: without(part, key) for name, part in value.items() if name != key}
    return [without(part, key) for part in value] if isinstance(value, list) else value


LESS = {
    # A converter, what is left out of its sample, and what is then unknown of jobs.
    ("alibaba-gpu2025", "cpu_request"): {"n_procs", "req_n_procs"},
    ("alibaba-spot2026", "worker_num"): {"n_procs", "req_n_procs", "n_gpus"},
    ("alibaba-spot2026", "cpu_request"): {"n_procs", "req_n_procs"},
    ("condor", "RemoteUserCpu"): {"average_cpu_time"},
    ("condor", "RemoteSysCpu"): {"average_cpu_time"},
    ("condor", "MinHosts"): {"n_procs", "req_n_procs", "n_nodes", "average_cpu_time"},
    ("condor", "JobCurrentStartDate"): {"wait_time", "run_time"},
    ("lsf-bjobs", "START_TIME"): {
        "wait_time", "run_time", "n_procs", "n_nodes", "n_gpus", "average_cpu_time", "status",
    },
    ("pbs-json", "stime"): {"wait_time", "run_time", "n_procs", "n_nodes", "n_gpus"},
    ("pbs-json", "job_state"): {"status", "run_time"},
    ("slurm-jobcomp", "state"): {"status"},
    ("slurm-json", "state"): {"status"},
    ("slurm-json", "elapsed"): set(),
}  # fmt: skip


@pytest.mark.parametrize(("name", "key"), LESS)
def test_what_is_not_told_is_unknown(name, key, tmp_path):
    (one,) = (one for one in converters() if one.name == name)
    path, *others = sample_of(one)
    text = path.read_text()
    copy = tmp_path / path.name
    if path.suffix == ".csv":
        rows = [
            {column: cell for column, cell in row.items() if column != key}
            for row in csv.DictReader(io.StringIO(text))
        ]
        copy.write_text(
            "\n".join(",".join(cells) for cells in (rows[0], *(row.values() for row in rows))) + "\n"
        )
    else:
        decoder, place, documents = json.JSONDecoder(), 0, []
        while place < len(text):
            document, place = decoder.raw_decode(text, place)
            place += len(text[place:]) - len(text[place:].lstrip())
            documents.append(json.dumps(without(document, key)))
        copy.write_text("\n".join(documents) + "\n")
    whole, less = told(name, path, *others), told(name, copy, *others)
    assert less.keys() == whole.keys()
    for job, values in less.items():
        differing = {field for field, value in values.items() if value != whole[job][field]}
        assert {field: values[field] for field in differing} == dict.fromkeys(differing)
        assert not LESS[name, key] or differing <= LESS[name, key]
