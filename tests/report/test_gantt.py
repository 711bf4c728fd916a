"""Jobs are placed as a cluster could have run them."""

from hypothesis import given
from hypothesis import strategies as st

from gwa.report.figures.gantt import placed

JOBS = st.lists(
    st.tuples(st.integers(0, 50), st.integers(0, 20), st.integers(1, 9)), min_size=1, max_size=40
).map(lambda jobs: [(float(a), float(a + b), c, f"u{n}") for n, (a, b, c) in enumerate(sorted(jobs))])


@given(JOBS)
def test_every_job_has_its_processors_alone_and_none_is_left_free_below(jobs):
    bars = placed(jobs)

    for start, end, procs, user in jobs:
        own = [bar for bar in bars if bar[4] == user]
        taken = {place for _, _, low, high, _ in own for place in range(low, high)}
        others = {
            place
            for begin, until, low, high, other in bars
            if other != user and begin <= start < until and int(other[1:]) < int(user[1:])
            for place in range(low, high)
        }
        assert len(taken) == procs
        assert all(bar[:2] == (start, end) for bar in own)
        assert not taken & others
        assert set(range(max(taken))) <= taken | others
