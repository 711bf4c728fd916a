"""What a night changes is all that an append changes, and the store is that of one conversion of all logs."""

import random

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from gwa.formats.append import append
from gwa.formats.convert import convert
from gwa.store.store import TABLES, Store

COLUMNS = (
    "JobID|JobIDRaw|User|Submit|Start|End|Elapsed|State|AllocCPUS|ReqCPUS|AllocTRES|ExitCode|TRESUsageInTot"
    "|Cluster"
)
ROW = "{id}|{raw}|u{user}|{submit}|{start}|{end}|{elapsed}|{state}|{cpus}|{cpus}|{tres}|0:0|{usage}|c1\n"


def clock(second):
    """Return a local time as Slurm writes it."""
    day, second = divmod(second, 86_400)
    return f"2024-03-{1 + day:02}T{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}"


def slurm_rows(seed, jobs, *, has_tres=True, has_gpus=True):
    """
    Return rows of Slurm as `sacct` prints them, each with the second at which it does.

    Jobs are requeued, end days after a night in which they ran, are listed twice, and have steps without them.
    """
    chance, rows = random.Random(seed), []
    for number in range(1, jobs + 1):
        at = chance.randrange(20 * 86_400)
        job: dict[str, object] = {
            "id": number,
            "raw": number,
            "user": chance.randrange(5),
            "cpus": chance.choice([1, 2, 8]),
        }
        kind = chance.random()
        if kind < 0.15:
            job |= {"id": f"{number}_{chance.randrange(3)}", "raw": 10_000 + number}
        begun, ran = at + chance.randrange(3000), chance.choice([5, 600, 80_000, 300_000])
        tres = f"cpu={job['cpus']},gres/gpu=1" if has_tres else ""
        full = job | {"submit": clock(at), "start": clock(begun), "elapsed": ran, "tres": tres, "usage": ""}
        if 0.2 < kind < 0.3:
            state = full | {"end": "Unknown", "state": "RUNNING", "elapsed": 60}
            rows.append((begun + 60, ROW.format(**state)))
        if 0.3 < kind < 0.4:
            requeued = full | {"end": clock(begun + 90), "state": "NODE_FAIL", "elapsed": 90}
            rows.append((begun + 90, ROW.format(**requeued)))
            full |= {"submit": clock(begun + 91), "start": clock(begun + 200)}
            begun += 200
        if 0.4 < kind < 0.45:
            full |= {"start": "Unknown", "state": "CANCELLED by 5", "end": clock(at + 50), "elapsed": 0}
        ended = full | {"end": clock(begun + ran), "state": "COMPLETED"}
        row = ROW.format(**(full if "state" in full else ended))
        if not 0.45 < kind < 0.5:
            rows.append((begun + ran, row))
        if kind > 0.9:
            rows.append((begun + ran + chance.randrange(5 * 86_400), row))
        if 0.5 < kind < 0.53:
            rows.append((begun, row.replace("2024-", "20x4-", 1)))
        if 0.45 < kind < 0.7:
            use = f"cpu=1,mem=3M,gres/gpuutil={chance.randrange(2)}" if has_gpus else "cpu=1,mem=3M"
            step = ended | {"id": f"{job['id']}.0", "usage": use, "tres": ""}
            rows.append((begun + ran - chance.randrange(40_000), ROW.format(**step)))
    return sorted(rows)


def in_nights(rows, ends, folder):
    """Write the rows that were printed between *ends* as logs, and return these."""
    logs = []
    for number, (begin, end) in enumerate(zip([-1e9, *ends], [*ends, 1e9], strict=True)):
        text = "".join(row for second, row in rows if begin <= second < end)
        if text:
            logs.append(folder / f"night-{number:03}.sacct")
            logs[-1].write_text(f"{COLUMNS}\n{text}")
    return logs


def said(path):
    """Return all that a store says, but in which order it says it of what has none."""
    with Store.open(path) as store:
        tables = {name: store.rows(f"from {name} order by all") for name in TABLES if name != "provenance"}
        return tables | {"jobs": store.rows("from jobs"), "account": store.account}


def grown(logs, folder, **words):
    """Append *logs* one by one, and return what is in the store, and why it was made anew."""
    reasons: list[str] = []
    for log in logs:
        append([log], folder / "store.duckdb", tell=reasons.append, **words)
    return said(folder / "store.duckdb"), reasons


def at_once(logs, folder, **words):
    """Convert *logs* in one go."""
    convert(logs, folder / "whole.duckdb", **words)
    return said(folder / "whole.duckdb")


def differing(one, other):
    """Return the first differences between what two stores say."""
    changed = [name for name in one if one[name] != other[name]]
    return {
        name: (one[name], other[name])
        if name == "account"
        else [[row for row in a[name] if row not in b[name]][:2] for a, b in ((one, other), (other, one))]
        for name in changed
    }


NIGHTS = st.lists(st.integers(0, 24 * 86_400), min_size=1, max_size=4).map(sorted)


def check_nights(seed, ends, folder):
    """Check that nights of a random log become what they are at once."""
    rows = slurm_rows(seed, 60, has_tres=seed % 3 > 0, has_gpus=seed % 4 > 0)
    logs = in_nights(rows, ends, folder)
    store, reasons = grown(logs, folder, name="slurm")
    assert not differing(store, at_once(logs, folder, name="slurm"))
    return reasons


@settings(max_examples=3, phases=[Phase.generate])
@given(seed=st.integers(0, 10_000), ends=NIGHTS)
def test_nights_of_slurm_become_what_they_are_at_once(seed, ends, tmp_path_factory):
    check_nights(seed, ends, tmp_path_factory.mktemp("nights"))


@pytest.mark.slow
@settings(max_examples=60)
@given(seed=st.integers(0, 10_000), ends=NIGHTS)
def test_any_nights_of_slurm_become_what_they_are_at_once(seed, ends, tmp_path_factory):
    check_nights(seed, ends, tmp_path_factory.mktemp("nights"))
