"""The gate: pseudonyms of gwa and its own texts pass, all else does not, wherever it stands."""

import pytest

from gwa.formats.registry import vocabulary
from gwa.store.anonymize import anonymize
from gwa.store.privacy import find_leaks


def test_pseudonyms_and_texts_of_gwa_pass(make_store):
    store = make_store(
        header=(
            ("MaxProcs", "64"),
            ("UnixStartTime", "1741561200"),
            ("TimeZoneString", "Europe/Amsterdam"),
            ("Queue", "1 Q~3f9c0123456789ab"),
            ("Note", "made by gwa 0.1.0 from source 1"),
        ),
        submit_time=[0.0, 1.0],
        user_id=["U~3f9c0123456789ab", None],
        job_structure=["UNITARY", "BoT"],
        used_resources=["cpu:4,mem:8000M", "R~3f9c0123456789ab,gpus:1"],
    )
    store.note({"format": "slurm", "gwa": "0.1.0"})

    assert find_leaks(store, vocabulary()) == []


@pytest.mark.parametrize(
    "login", ["ab123456", "jd12", "u1", "7", "s1234567", "A0123456789abcdef", "U12", "nobody"]
)
@pytest.mark.parametrize("field", ["user_id", "queue_id", "partition_id", "project_id", "job_structure"])
def test_what_has_the_form_of_a_login_is_refused(make_store, field, login):
    (found,) = find_leaks(make_store(submit_time=[0.0, 1.0], **{field: [login, login]}))

    assert (found.where, found.kind, found.count) == (field, "names", 1)
    assert login in str(found)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("executable_id", "/home/alice/run.sh"),
        ("queue_id", "batch@server.site.example"),
        ("req_resources", "host:n1.cluster.example"),
        ("req_resources", "cpu:4,alice:1"),
        ("used_resources", "mem:alice"),
        ("req_platform", "10.1.2.3"),
        ("job_structure", "alice"),
        ("user_id", "U~3f9c0123456789ab\n"),
    ],
)
def test_what_is_left_is_named_with_its_place(make_store, field, value):
    (found,) = find_leaks(make_store(submit_time=[0.0, 1.0], **{field: [value, value]}))

    assert found.where == field
    assert found.examples == (value,)


@pytest.mark.parametrize(
    "line",
    [
        ("Computer", "Heron"),
        ("Note", "call Jane: +31 20 123456"),
        ("MaxJobs", "1200 by Jane"),
        ("JaneSmith", "5"),
        ("Queue", "1 johnsmith"),
        ("Version", "2.2 Jane"),
        ("TimeZoneString", "Jane/Smith"),
        ("Synthetic", "by Jane"),
    ],
)
def test_a_text_in_the_header_is_refused(make_store, line):
    (found,) = find_leaks(make_store((line,), submit_time=[0.0]))

    assert found.where == "the header"


def test_names_of_the_catalogue_pass_in_fields_and_header(make_store):
    store = make_store(
        (("Queue", "1 short"), ("Computer", "Heron")), submit_time=[0.0, 1.0], queue_id=["short", "long"]
    )

    assert find_leaks(store, names=("short", "long", "Computer: Heron")) == []
    assert [leak.examples for leak in find_leaks(store, names=("short",))] == [
        ("long",),
        ("Computer: Heron",),
    ]


def test_all_tables_are_looked_at(make_store):
    store = make_store(submit_time=[0.0])
    store.note({"convert": "gwa convert /home/alice/log", "format": "alice", "gwa": "alice"})
    store.insert("rejects", [("source", 3, "run time is 'alice', not a number", "alice 1")])
    store.insert("sources", [("alice.log", 5, "", 3, 0, 0, 0)])
    store.insert("repairs", [("clock skew", "of alice", 3)])
    store.insert("source_ids", [(1, "alice.17"), (1, "17")])

    found = {leak.where: leak.count for leak in find_leaks(store, vocabulary())}
    assert found == {
        "the provenance": 3,
        "the rejects": 1,
        "the sources": 1,
        "the repairs": 1,
        "the jobs' numbers": 1,
    }


def test_what_gwa_anonymised_passes(make_store):
    named = make_store(
        header=(("Computer", "n1.cluster.example"),),
        submit_time=[0.0, 1.0],
        user_id=["alice", "bob"],
        executable_id=["/home/alice/a.out", "b"],
        partition_id=["n1.cluster.example", "n2"],
        queue_id=["short", "alice"],
    )

    with anonymize(named, b"k" * 32) as store:
        assert find_leaks(store) == []
    with anonymize(named, b"k" * 32, keep={"queues"}) as store:
        assert [leak.examples for leak in find_leaks(store)] == [("short",)]
        assert find_leaks(store, names=("short",)) == []
