"""Pseudonyms: names go, numbers stay."""

import json
import re
import stat

import pytest

from gwa.analysis.build import build
from gwa.errors import GwaError
from gwa.formats.open import open_trace
from gwa.formats.registry import converters, vocabulary
from gwa.store.anonymize import anonymize, read_key
from gwa.store.privacy import LEFT_OUT, anonymized_line, public_line
from gwa.store.pseudonyms import PSEUDONYM_LETTERS, PUBLIC_WORDS, is_pseudonym, pseudonym
from gwa.store.schema import FIELDS

KEY = b"0123456789abcdef"
TEXTS: dict[str, list[str | None]] = {
    "user_id": ["alice", "bob", "alice"],
    "group_id": ["physics", "physics", None],
    "executable_id": ["/home/alice/run.sh", "a.out", "a.out"],
    "queue_id": ["long", "short", "long"],
    "partition_id": ["node1.example.org", "node2.example.org", "node1.example.org"],
    "orig_site_id": ["Example University"] * 3,
    "last_run_site_id": ["Example University", "elsewhere", "elsewhere"],
    "job_structure_params": ["https://ce.example.org/42", None, None],
    "project_id": ["dark-matter", None, "dark-matter"],
    "vo_id": ["vo.example.org", None, None],
    "used_resources": ["cpu:0.5,ram:0.25", "host:alice", None],
}


NUMBERS = {"submit_time": [1e9, 1e9 + 5, 1e9 + 9], "run_time": [5.0, 6.0, 7.0], "n_procs": [1, 2, 3]}


@pytest.fixture
def named(make_store):
    store = make_store(**TEXTS, **NUMBERS)
    store.set_header((("Computer", "cluster of alice"), ("MaxProcs", "64"), ("Note", "bob was here")))
    store.insert("rejects", [("/home/alice/log", 3, "run is 'bob', expected a number", "alice 1 bob")])
    store.insert("sources", [("alice.log", 5, "ab" * 32, 3, 0, 0, None)])
    store.insert("source_ids", [(1, "alice.17")])
    store.note({"convert": "gwa convert alice.log -o x.gwf"})
    return store


def test_no_name_is_left_in_any_table(named):
    with anonymize(named, KEY) as public:
        everything = json.dumps(
            [
                public.rows(f"from {table}")
                for table in ("jobs", "header", "rejects", "sources", "source_ids", "provenance")
            ]
        )

    names = {name for values in TEXTS.values() for name in values if name} - {"cpu:0.5,ram:0.25"}
    assert not [name for name in {*names, "alice", "bob", "example"} if name in everything]


def test_the_same_key_gives_the_same_pseudonym_and_another_key_another(named):
    def users(key):
        with anonymize(named, key) as public:
            return [name for (name,) in public.rows("select user_id from jobs order by job_id")]

    first, again, other = users(KEY), users(KEY), users(b"another key, as long")
    assert first == again == [pseudonym(KEY, "U", name) for name in ("alice", "bob", "alice")]
    assert not set(first) & set(other)


def test_a_user_and_a_group_of_one_name_do_not_share_a_pseudonym():
    assert pseudonym(KEY, "U", "alice")[1:] != pseudonym(KEY, "G", "alice")[1:]


def test_numbers_stay_as_they_are(named):
    numbers = ", ".join(field.name for field in FIELDS if not field.is_text)
    with anonymize(named, KEY) as public:
        assert public.rows(f"select {numbers} from jobs order by job_id") == named.rows(
            f"select {numbers} from jobs order by job_id"
        )
        assert public.rows("select used_resources from jobs order by job_id") == [
            ("cpu:0.5,ram:0.25",), (pseudonym(KEY, "R", "host:alice"),), (None,),
        ]  # fmt: skip


NAMES = {"id", "type"}
TOP = 10
"""A ranking is cut after so many."""


def nameless(facts):
    """Return facts, but those of the conversion, with the names in rankings blotted out."""
    facts = {fact.id: fact.value for fact in facts if not fact.id.startswith("conversion.")}
    return {
        name: blotted(name, value)
        if isinstance(value, list)
        else {**value, "id": ""}
        if isinstance(value, dict) and "id" in value
        else value
        for name, value in facts.items()
    }


def blotted(name, ranking):
    """Return a ranking without names: where it is cut, they decide who of those that are level is in."""
    last = rank(name, ranking[-1]) if len(ranking) == TOP else None
    return sorted(
        json.dumps(
            {"id": "", "rank": last}
            if rank(name, one) == last
            else one | dict.fromkeys(NAMES & one.keys(), "")
        )
        for one in ranking
    )


def rank(name, one):
    """Return the number that a ranking is ordered by."""
    if name == "jobs.ended_by_user":
        return one["failed"] + one["cancelled"]
    return one.get(
        "cpu_seconds" if name.endswith("cpu") else "share" if name.startswith("waste.") else "jobs"
    )


@pytest.mark.parametrize(
    "name",
    ["swf", *(pytest.param(one.name, marks=pytest.mark.slow) for one in converters() if one.name != "swf")],
)
def test_facts_do_not_change(name, sample):
    paths = [path for path in (sample / name).iterdir() if path.name != "expected.gwf"]
    # Where Google's traces have queues stand priorities, of which there are facts.
    keep = {"queues"} if name.startswith("google") else ()
    with open_trace(paths) as named, anonymize(named, KEY, keep=keep) as public:
        expected, found = (build(store, "trace", strict=True).facts() for store in (named, public))

    assert nameless(found) == nameless(expected)


def test_boxes_stay_whatever_words_a_source_has_for_how_they_ended(make_store):
    runs = "60/50///2.5//evicted;300/40/20/4///alice;400/9/////"
    store = make_store(**NUMBERS, runs=[runs, None, "0/5/////alice"])
    with anonymize(store, KEY) as public:
        rows = public.rows("select runs from jobs order by job_id")

    assert rows == [("60/50///2.5//evicted;300/40/20/4///;400/9/////",), (None,), ("0/5/////",)]


def test_what_is_kept_goes_where_it_is_called_as_somebody(make_store):
    store = make_store(
        user_id=["alice", "line", "7"],
        queue_id=["alice", "long", "long"],
        partition_id=["main", "long", "long"],
        req_platform=["line", "x86_64", None],
        req_resources=["alice:1", "gpus:2", "gpus:1,line:3"],
        **NUMBERS,
    )
    with anonymize(store, KEY, keep={"queues", "platforms"}) as public:
        rows = public.rows(
            "select queue_id, partition_id, req_platform, req_resources from jobs order by job_id"
        )

    main, long = (pseudonym(KEY, "C", name) for name in ("main", "long"))
    assert rows == [
        (pseudonym(KEY, "Q", "alice"), main, pseudonym(KEY, "A", "line"), pseudonym(KEY, "R", "alice:1")),
        ("long", long, "x86_64", "gpus:2"),
        ("long", long, None, "gpus:1," + pseudonym(KEY, "R", "line:3")),
    ]


KEPT_OR_NOT = {
    "Alice": False,
    "ALICE-long": False,
    "malicex": False,
    "q_bob": False,
    "xbobx": True,
    "carol": False,
    "q-7": True,
    "q-10234": False,
    "long": True,
    "dark matter": False,
    "x" * 300: False,
}


@pytest.mark.parametrize("kind", ["queues", "qos"])
def test_what_is_kept_goes_where_it_holds_a_name(kind, make_store):
    field = {"queues": "queue_id", "qos": "qos"}[kind]
    number = len(KEPT_OR_NOT)
    store = make_store(
        user_id=(["alice", "bob", "DOM\\carol", "7", "10234"] * number)[:number],
        group_id=["Dark Matter"] * number,
        **{field: list(KEPT_OR_NOT)},
    )
    told: list[str] = []
    with anonymize(store, KEY, keep={kind}, tell=told.extend) as public:
        found = {one for (one,) in public.rows(f"select {field} from jobs")}
    stays = {name for name, is_kept in KEPT_OR_NOT.items() if is_kept}
    assert {name for name in found if not is_pseudonym(name)} == stays
    assert set(told) == KEPT_OR_NOT.keys() - stays


def test_queues_that_are_kept_keep_no_qos(make_store):
    store = make_store(user_id=["alice"], queue_id=["long"], qos=["normal"])
    with anonymize(store, KEY, keep={"queues"}) as public:
        (row,) = public.rows("select queue_id, qos from jobs")
    assert row[0] == "long"
    assert is_pseudonym(row[1])


def test_of_a_header_stay_numbers_the_time_zone_and_what_gwa_wrote(named):
    named.set_header(
        (
            (
                "Version",
                "2.2\n  converted by Jane Smith, jsmith@login.cs.example.org, from /home/jsmith/acct",
            ),
            ("MaxNodes", "6 (call Jane Smith: 31-20-1234567)"),
            ("MaxProcs", "1,664"),
            ("MaxRuntime", "Jane"),
            ("MaxJobs", "1200"),
            ("Preemption", "Jane says no"),
            ("TimeZoneString", "Europe/Amsterdam"),
            ("TimeZoneString", "Jane/Smith"),
            ("UnixStartTime", "1741561200"),
            ("JaneSmith", "17"),
            ("Queue", "1 johnsmith"),
            ("Synthetic", "made by a model, no system ran these jobs"),
        )
    )
    with anonymize(named, KEY) as public:
        header = public.header
        assert public.system.cpus == named.system.cpus == 1664
        assert public.system.zone == "Europe/Amsterdam"

    assert header == (
        anonymized_line(()),
        ("MaxNodes", "6"),
        ("MaxProcs", "1664"),
        ("MaxJobs", "1200"),
        ("TimeZoneString", "Europe/Amsterdam"),
        ("UnixStartTime", "1741561200"),
        ("Synthetic", "made by a model, no system ran these jobs"),
        ("JobNumbers", "given by gwa, those of the source are not held"),
    )


def test_the_header_says_how_it_was_anonymized():
    assert public_line(*anonymized_line(())) == anonymized_line(())
    assert public_line(*anonymized_line({"sites", "queues"})) == anonymized_line({"queues", "sites"})
    assert "HMAC-SHA256" in anonymized_line(())[1]
    assert public_line("Anonymized", anonymized_line(())[1] + " by Jane") is None


def test_the_header_says_that_the_numbers_of_the_source_are_left_out(named, make_store):
    """Without them, missing rows cannot be told from silence, and are unknown rather than none."""
    entry = ("JobNumbers", "given by gwa, those of the source are not held")
    assert named.row("select count(*) > 0 from source_ids")[0]
    with anonymize(named, KEY) as public, anonymize(public, KEY) as again:
        assert public.header.count(entry) == again.header.count(entry) == 1
    with anonymize(make_store(submit_time=[0.0], user_id=["ann"]), KEY) as public:
        assert entry not in public.header


def test_a_pseudonym_does_not_look_like_a_login(named):
    with anonymize(named, KEY) as public:
        users = [user for (user,) in public.rows("select distinct user_id from jobs")]

    assert all(user.startswith("U~") and len(user) == 18 for user in users)


def test_of_repairs_stay_the_texts_of_gwa(make_store):
    store = make_store(user_id=["alice"])
    meaning = "it ran when the trace ended: run time and status are not known"
    rows = [
        ("running at the end", meaning, 2),
        ("running at the end", f"{meaning}, says alice", 3),
        ("missing part", "parts of a table were not given, such as alice/part-1", 4),
        ("alice", "was here", 5),
    ]
    store.insert("repairs", rows)
    with anonymize(store, KEY, vocabulary=vocabulary()) as public:
        repairs = public.rows("from repairs order by jobs")

    assert repairs == [
        rows[0],
        ("repair", LEFT_OUT, 3),
        ("missing part", "parts of a table were not given", 4),
        ("repair", LEFT_OUT, 5),
    ]


@pytest.mark.parametrize("name", sorted(one.name for one in converters()))
def test_no_name_of_any_sample_is_left_and_no_number_changes(name, sample):
    paths = [path for path in (sample / name).iterdir() if path.name != "expected.gwf"]
    numbers = ", ".join(field.name for field in FIELDS if not field.is_text)
    kinds = ", ".join(f"count(distinct {field})" for field in PSEUDONYM_LETTERS)
    with open_trace(paths) as named, anonymize(named, KEY) as public:
        for query in (f"select {numbers} from jobs order by job_id", f"select {kinds} from jobs"):
            assert public.rows(query) == named.rows(query)
        secrets = {
            one
            for field in PSEUDONYM_LETTERS
            for (one,) in named.rows(f"select distinct {field} from jobs")
            if one and not re.fullmatch(PUBLIC_WORDS.get(field, r"[0-9]+"), one)
        }
        tables = ("jobs", "header", "rejects", "repairs", "sources", "source_ids", "provenance")
        cells = {str(cell) for table in tables for row in public.rows(f"from {table}") for cell in row}
    assert not secrets & cells


def test_a_leak_is_refused(named, monkeypatch):
    monkeypatch.setattr("gwa.store.anonymize.anonymous_sql", lambda field, *_: field)

    with pytest.raises(GwaError, match="a name is left in user_id"):
        anonymize(named, KEY)


def test_a_key_is_made_once_and_only_its_owner_can_read_it(tmp_path):
    path = tmp_path / "keys" / "my.key"
    key = read_key(path)

    assert read_key(path) == key
    assert len(key) == 64
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_key_that_can_be_guessed_is_refused(tmp_path):
    (tmp_path / "short.key").write_text("secret")

    with pytest.raises(GwaError, match="is not a key"):
        read_key(tmp_path / "short.key")


def test_a_key_without_a_path_is_kept_in_the_configuration(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))

    assert read_key(None) == (tmp_path / "gwa" / "anonymize.key").read_bytes().strip()


def test_the_report_of_an_anonymous_trace_names_nobody(named):
    with anonymize(named, KEY) as public:
        report = str(build(public, "public", strict=True))

    assert "alice" not in report
    assert "example.org" not in report


def test_words_of_a_source_stay_and_names_among_them_go(make_store):
    """States and models of GPUs are words that many use; a quality of service is named by a site."""
    store = make_store(
        state=["COMPLETED", "OUT_OF_MEMORY", "C", "killed by jane"],
        gpu_type=["a100", "NVIDIA A100-SXM4-80GB:2,v100:1", "nvidia_a100_1g.5gb", "gpu-of-jane"],
        qos=["jane", "normal", None, "jane"],
    )
    with anonymize(store, KEY) as copy:
        rows = copy.rows("select state, gpu_type, qos from jobs order by job_id")
    states, models, qos = zip(*rows, strict=True)
    assert states[:3] == ("COMPLETED", "OUT_OF_MEMORY", "C")
    assert models[:3] == ("a100", "NVIDIA A100-SXM4-80GB:2,v100:1", "nvidia_a100_1g.5gb")
    assert all(map(is_pseudonym, (states[3], models[3], qos[0], qos[1], qos[3])))
    with anonymize(store, KEY, keep=["qos", "platforms"]) as copy:
        assert copy.rows("select gpu_type, qos from jobs order by job_id")[-1] == ("gpu-of-jane", "jane")
