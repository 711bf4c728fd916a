"""The gate: pseudonyms pass, names do not, wherever they stand."""

import pytest

from gwa.store.anonymize import anonymize
from gwa.store.privacy import find_leaks


def test_pseudonyms_and_numbers_pass(make_store):
    store = make_store(
        header=(
            ("Computer", "Heron 2.0, see https://archive.example.org/logs/heron"),
            ("Note", "1/2, 3.4.5"),
        ),
        submit_time=[0.0, 1.0],
        user_id=["U12", "7"],
        group_id=["G3f9c0123456789ab", None],
        queue_id=["short", "long"],
    )

    assert find_leaks(store) == []


@pytest.mark.parametrize(
    ("field", "value", "kind"),
    [
        ("user_id", "alice", "names"),
        ("executable_id", "/home/alice/run.sh", "names"),
        ("partition_id", "node-17", "names"),
        ("last_run_site_id", "Delft", "names"),
        ("queue_id", "batch@server.site.example", "an address"),
        ("req_resources", "host:n1.cluster.example", "a host"),
        ("used_resources", "scratch:/scratch/alice/x", "a path"),
        ("req_platform", "10.1.2.3", "a host"),
    ],
)
def test_what_is_left_is_named_with_its_place(make_store, field, value, kind):
    found = find_leaks(make_store(submit_time=[0.0, 1.0], **{field: [value, value]}))

    assert (field, kind) in {(one.where, one.kind) for one in found}
    assert value[:10] in " ".join(map(str, found)) or kind != "names"


def test_header_command_and_rejects_are_looked_at(make_store):
    store = make_store(header=(("Contact", "alice@cluster.example"),), submit_time=[0.0])
    store.note({"convert": "gwa convert /home/alice/log"})
    store.connection.execute(
        "insert into rejects values ('log', 3, 'run time is ''alice'', not a number', '')"
    )

    assert {(one.where, one.kind) for one in find_leaks(store)} == {
        ("the header", "an address"),
        ("the provenance", "a path"),
        ("the rejects", "words of the log"),
    }


def test_what_gwa_anonymised_passes(make_store):
    named = make_store(
        header=(("Computer", "n1.cluster.example"),),
        submit_time=[0.0, 1.0],
        user_id=["alice", "bob"],
        executable_id=["/home/alice/a.out", "b"],
        partition_id=["n1.cluster.example", "n2"],
    )

    with anonymize(named, b"k" * 32) as store:
        assert find_leaks(store) == []
