"""Lists of nodes: each becomes its names or nothing, they are read once, and no name is left of them."""

import json
import tomllib

import duckdb
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gwa.formats.open import open_trace
from gwa.store.anonymize import anonymize
from gwa.store.hosts import MAXIMUM_NODES, hosts_of, is_readable, on_nodes
from tests.conftest import HOME, examples

CASES = HOME.parent / "shared" / "cases" / "nodes"
KEY = b"0123456789abcdef"
NAME = st.from_regex(r"[a-z][a-z0-9.-]{0,5}", fullmatch=True)


@st.composite
def spans(draw):
    """Yield a number or a range, and the numbers that it stands for, by counting."""
    width, low, more = draw(st.integers(1, 4)), draw(st.integers(0, 120)), draw(st.integers(0, 12))
    first = str(low).zfill(width)
    if more == 0:
        return first, [first]
    numbers = [str(number).zfill(len(first)) for number in range(low, low + more + 1)]
    return f"{first}-{numbers[-1]}", numbers


@st.composite
def words(draw):
    """Yield a word of a list, its names, and the slots of each."""
    text = draw(NAME)
    names = [text]
    for _ in range(draw(st.integers(0, 2))):
        listed = draw(st.lists(spans(), min_size=1, max_size=3))
        tail = draw(st.sampled_from(["", "-ib", "n"]))
        text += "[" + ",".join(span for span, _ in listed) + "]" + tail
        names = [name + number + tail for name in names for _, numbers in listed for number in numbers]
    slots = draw(st.integers(1, 9))
    return (text if slots == 1 else f"{text}*{slots}"), names, slots


def expanded(*lists):
    """Return the share of each host of *lists*, None of those that cannot be read."""
    with duckdb.connect() as database:
        database.execute("create table lists (list integer, node_list varchar)")
        database.executemany("insert into lists values (?, ?)", list(enumerate(lists)))
        database.execute(f"create table readable as from lists where {is_readable()}")
        found: dict[int, dict[str, float]] = {
            number: {} for (number,) in database.execute("select list from readable").fetchall()
        }
        for number, host, share in database.execute(
            f"select list, host, share from ({hosts_of('readable')})"
        ).fetchall():
            found[number][host] = share
    return [found.get(number) for number in range(len(lists))]


@examples(200)
@given(st.lists(st.lists(words(), min_size=1, max_size=4), min_size=1, max_size=5))
def test_a_list_is_the_names_that_counting_finds(lists):
    slots_of_each = []
    for list_ in lists:
        slots: dict[str, int] = {}
        for _, names, each in list_:
            for name in names:
                slots[name] = slots.get(name, 0) + each
        slots_of_each.append(slots)

    found = expanded(*(",".join(text for text, _, _ in list_) for list_ in lists))

    for shares, slots in zip(found, slots_of_each, strict=True):
        assert shares == pytest.approx({name: each / sum(slots.values()) for name, each in slots.items()})


@examples(200)
@example("n[3-1]")
@example(f"n[0-{MAXIMUM_NODES}]")
@example("n[0-999]m[0-999]")
@example("None assigned")
@example("n[1-2]]")
@example("a,,b")
@given(st.text("n019[]-,* (", max_size=12).filter(lambda text: set(text) & set("[]( *") or ",," in text))
def test_what_is_read_of_a_damaged_list_is_all_or_nothing(text):
    (shares,) = expanded(text)

    assert shares is None or sum(shares.values()) == pytest.approx(1.0)
    assert shares is None or not any(sign in name for name in shares for sign in "[](*, ")
    assert shares is None or text.count("[") == text.count("]")


@pytest.mark.parametrize("text", ["n[3-1]", "n[0-100000]", "n[0-999]m[0-999]", "(null)", "n[1-", "a,", ""])
def test_what_is_no_list_is_none(text):
    assert expanded(text) == [None]


def sacct(tmp_path, *lists):
    """Return a log of a job on each of *lists*."""
    path = tmp_path / "jobs.sacct"
    rows = [
        f"{number}|alice|COMPLETED|2025-01-01T00:00:0{number}|2025-01-01T01:00:00|2025-01-01T02:00:00|8|{text}"
        for number, text in enumerate(lists, 1)
    ]
    path.write_text("\n".join(["JobID|User|State|Submit|Start|End|AllocCPUS|NodeList", *rows, ""]))
    return path


def test_a_list_that_cannot_be_read_is_missing_and_counted(tmp_path):
    with open_trace([sacct(tmp_path, "n[1-2]", "n[3-1]", "n[3-1]", "None")]) as store:
        lists = store.rows("select node_list from jobs order by submit_time")
        repairs = {meaning: jobs for _, meaning, jobs in store.rows("from repairs")}

    assert lists == [("n[1-2]",), (None,), (None,), (None,)]
    assert repairs["a node_list that is not a valid value was set to missing"] == 2


def test_jobs_that_ran_on_several_nodes_are_on_each(tmp_path):
    with open_trace([sacct(tmp_path, "n[1-2]", "n1", "n[1-2]")]) as store:
        found = store.rows(
            f"select host, count(*), sum(share) from {on_nodes(store)} as placed group by host order by host"
        )

    assert found == [("n1", 3, 2.0), ("n2", 2, 1.0)]


def test_nodes_of_two_clusters_are_two(make_store):
    store = make_store(
        submit_time=[1.0, 2.0], node_list=["n1", "n1"], last_run_site_id=["east", "west"], run_time=[1.0, 1.0]
    )

    assert store.rows(f"select host from {on_nodes(store)} as placed order by host") == [
        ("east/n1",),
        ("west/n1",),
    ]


def test_no_name_of_a_node_is_left_and_jobs_stay_where_they_ran(make_store):
    lists = ["gpu[01-03],fat-1", "gpu01*4,gpu02*2", "gpu03", None, "gpu01"] * 50
    store = make_store(submit_time=[float(time) for time in range(250)], node_list=lists)

    with anonymize(store, KEY) as public:
        everything = json.dumps([public.rows("select * from jobs"), public.rows("from repairs")])
        before, after = (
            one.rows(
                "select list_sort(list(jobs)) from (select host, list((job_id, share) order by job_id)"
                f" as jobs from {on_nodes(one)} as placed group by host)"
            )
            for one in (store, public)
        )
        order = [time for (time,) in public.rows("select submit_time from recorded")]

    assert "gpu" not in everything
    assert "fat" not in everything
    assert before == after
    assert order == sorted(order)


HOSTS_OF = {
    "slurm": "$text",
    "kubernetes": "$text",
    "pbs": "case when $text like '(%' then listed_vnodes($text) else listed_hosts($text) end",
    "lsf": "listed_hosts(replace($text, ':', ' '))",
}
"""How converters make a list of what each scheduler writes; HTCondor's sample has its own."""

NEEDED = ("number_of_hosts", "span_of", "hosts_of", "cpus_of", "listed_hosts", "listed_vnodes")
"""The functions of converters that these call."""


def as_list(form, text):
    """Return the list of nodes that the converter *form* makes of a *text*."""
    header = (HOME / "converters" / f"{form}.sql").read_text().partition("--- */")[0].removeprefix("/* ---")
    functions = tomllib.loads(header).get("functions", {})
    with duckdb.connect() as database:
        for head, body in functions.items():
            if head.partition("(")[0] in NEEDED:
                database.execute(f"create macro {head} as ({body})")
        (made,) = database.execute(f"select {HOSTS_OF[form]}", {"text": text}).fetchall()[0]
    return made


@pytest.mark.parametrize(
    ("form", "text", "shares"),
    [
        ("pbs", "n1/0*4+n2/1+n2/2", {"n1": 4, "n2": 2}),
        ("pbs", "n1/0+n1/1+n2/5", {"n1": 2, "n2": 1}),
        ("pbs", "n1/0-3+n3/7", {"n1": 4, "n3": 1}),
        ("pbs", "n1/0,2+n3/7*2", {"n1": 2, "n3": 2}),
        ("pbs", "(n1[0]:ncpus=4:ngpus=1+n1[1]:ncpus=4)+(n2:ncpus=2)", {"n1": 8, "n2": 2}),
        ("lsf", "4*n1:2*n2", {"n1": 4, "n2": 2}),
        ("lsf", "n1 n1 n2", {"n1": 2, "n2": 1}),
        ("slurm", "n[01-02],m3", {"n01": 1, "n02": 1, "m3": 1}),
    ],
)
def test_what_schedulers_write_is_the_slots_of_each_node(form, text, shares):
    (found,) = expanded(as_list(form, text))

    assert found == pytest.approx({name: slots / sum(shares.values()) for name, slots in shares.items()})


@pytest.mark.skipif(not CASES.is_dir(), reason="../shared/cases/nodes is absent")
def test_lists_of_all_schedulers():
    rows = [line.split("\t") for line in (CASES / "1-lists" / "lists.tsv").read_text().splitlines()]
    rows = [row for row in rows if row[0] in HOSTS_OF]

    found = expanded(*(as_list(form, text) for form, text, _ in rows))

    assert len(rows) == 17
    assert [set(shares or ()) for shares in found] == [{*names.split()} for _, _, names in rows]
