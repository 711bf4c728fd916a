"""Pseudonyms: names go, numbers stay."""

import json
import stat

import pytest

import gwa
from gwa.anonymize import KINDS, anonymized, pseudonym, read_key
from gwa.convert import convert
from gwa.errors import GwaError
from gwa.report.build import build
from gwa.schema import FIELDS

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
    store.insert("sources", [("alice.log", 5, "ab" * 32, 3, 0, 0)])
    store.insert("source_ids", [(1, "alice.17")])
    store.note({"convert": "gwa convert alice.log -o x.gwf"})
    return store


def test_no_name_is_left_in_any_table(named):
    with anonymized(named, KEY) as public:
        everything = json.dumps(
            [
                public.rows(f"from {table}")
                for table in ("jobs", "header", "rejects", "sources", "source_ids", "provenance")
            ]
        )

    names = {name for values in TEXTS.values() for name in values if name} - {
        "long",
        "short",
        "cpu:0.5,ram:0.25",
    }
    assert not [name for name in {*names, "alice", "bob", "example"} if name in everything]


def test_the_same_key_gives_the_same_pseudonym_and_another_key_another(named):
    def users(key):
        with anonymized(named, key) as public:
            return [name for (name,) in public.rows("select user_id from jobs order by job_id")]

    first, again, other = users(KEY), users(KEY), users(b"another key, as long")
    assert first == again == [pseudonym(KEY, "U", name) for name in ("alice", "bob", "alice")]
    assert not set(first) & set(other)


def test_a_user_and_a_group_of_one_name_do_not_share_a_pseudonym():
    assert pseudonym(KEY, "U", "alice")[1:] != pseudonym(KEY, "G", "alice")[1:]


def test_numbers_stay_as_they_are(named):
    numbers = ", ".join(field.name for field in FIELDS if not field.is_text)
    with anonymized(named, KEY) as public:
        assert public.rows(f"select {numbers} from jobs order by job_id") == named.rows(
            f"select {numbers} from jobs order by job_id"
        )
        assert public.rows("select queue_id, used_resources from jobs order by job_id") == [
            ("long", "cpu:0.5,ram:0.25"), ("short", None), ("long", None),
        ]  # fmt: skip


def nameless(facts):
    """Return facts with the names in rankings blotted out."""
    listed = {name: value for name, value in facts.items() if isinstance(value, list)}
    blotted = {name: sorted(json.dumps({**one, "id": ""}) for one in value) for name, value in listed.items()}
    return {**facts, **blotted}


def test_facts_do_not_change(sample, tmp_path):
    convert([sample / "swf" / "tiny.swf"], tmp_path / "public.gwf", key=KEY)
    with gwa.open(sample / "swf" / "tiny.swf") as before, gwa.open(tmp_path / "public.gwf") as after:
        expected, found = before.facts(), after.facts()

    # Names differ, and with them the order of users who are level.
    assert nameless(found) == nameless(expected)


def test_a_leak_is_refused(named, monkeypatch):
    monkeypatch.setattr(
        "gwa.anonymize.KINDS", {name: letter for name, letter in KINDS.items() if name != "vo_id"}
    )
    monkeypatch.setattr("gwa.anonymize.pseudonym", None)
    named.connection.execute("update recorded set vo_id = 'alice'")

    with pytest.raises(GwaError, match="a name is left in vo_id"):
        anonymized(named, KEY)


def test_a_key_is_made_once_and_only_its_owner_can_read_it(tmp_path):
    path = tmp_path / "keys" / "my.key"
    key = read_key(path)

    assert read_key(path) == key
    assert len(key) == 64
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_key_that_can_be_guessed_is_refused(tmp_path):
    (tmp_path / "short.key").write_text("secret")

    with pytest.raises(GwaError, match="is no key"):
        read_key(tmp_path / "short.key")


def test_a_key_without_a_path_is_kept_in_the_configuration(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))

    assert read_key(None) == (tmp_path / "gwa" / "anonymize.key").read_bytes().strip()


def test_the_report_of_an_anonymous_trace_names_nobody(named):
    with anonymized(named, KEY) as public:
        report = str(build(public, "public", strict=True))

    assert "alice" not in report
    assert "example.org" not in report
