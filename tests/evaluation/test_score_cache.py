"""What a leaderboard keeps: an interrupted comparison goes on, and nothing else is believed."""

import pytest

import gwa
from gwa.errors import OutputError
from gwa.evaluation.leaderboard import compete
from gwa.evaluation.score_cache import MARK_LINE, ScoreCache, hash_jobs


@pytest.fixture
def tiny(sample):
    with gwa.open(sample / "swf" / "tiny.swf") as trace:
        yield trace.store


def unknown():
    raise AssertionError("asked again")


def test_an_answer_is_found_once(tmp_path):
    path = tmp_path / "new" / "scores.jsonl"
    answer = {"distances": {"a": 0.1, "b": float("inf"), "c": None}}

    assert ScoreCache(path, "p").get(("x", 1), lambda: answer) == answer
    assert ScoreCache(path, "p").get(("x", 1), unknown) == answer


@pytest.mark.parametrize(("program", "question"), [("q", ("x", 1)), ("p", ("x", 2)), ("p", ("y", 1))])
def test_another_program_or_question_is_asked_anew(tmp_path, program, question):
    path = tmp_path / "scores.jsonl"
    ScoreCache(path, "p").get(("x", 1), lambda: 1)

    assert ScoreCache(path, program).get(question, lambda: 2) == 2
    assert ScoreCache(path, "p").get(("x", 1), unknown) == 1


@pytest.mark.parametrize("lost", [1, 5, 60])
def test_a_broken_line_is_asked_again(tmp_path, lost):
    path = tmp_path / "scores.jsonl"
    ScoreCache(path, "p").get(("x", 1), lambda: 1)
    ScoreCache(path, "p").get(("x", 2), lambda: 2)
    path.write_bytes(path.read_bytes()[:-lost])
    later = ScoreCache(path, "p")

    assert later.get(("x", 1), unknown) == 1
    assert later.get(("x", 2), lambda: 3) in {2, 3}
    assert later.get(("x", 4), lambda: 4) == 4
    again = ScoreCache(path, "p")
    assert [again.get(("x", number), unknown) for number in (1, 4)] == [1, 4]


@pytest.mark.parametrize(
    "text", [b"[]\n", b"\xff\xfe\n", b'{"question": []}\n', b"\0" * 9, b'"answer"\n', b"7\n"]
)
def test_what_is_no_answer_is_ignored(tmp_path, text):
    path = tmp_path / "scores.jsonl"
    path.write_bytes(MARK_LINE.encode() + text)

    assert ScoreCache(path, "p").get(("x",), lambda: 1) == 1


@pytest.mark.parametrize("text", ["", "mine\n", '{"question": "q", "answer": 1}\n'])
def test_a_file_of_the_user_is_left_alone(tmp_path, text):
    path = tmp_path / "scores.jsonl"
    path.write_text(text)

    with pytest.raises(OutputError, match=r"scores.jsonl: was not made by gwa and is left alone"):
        ScoreCache(path, "p")
    assert path.read_text() == text


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("")

    with pytest.raises(OutputError, match="cannot be made"):
        ScoreCache(tmp_path / "file" / "scores.jsonl").get(("x",), lambda: 1)


def test_other_jobs_are_another_content(make_store):
    columns = {"submit_time": [1.0, 2.0], "run_time": [3.0, 4.0], "n_procs": [1, 2]}
    same, other = make_store(**columns), make_store(**columns | {"n_procs": [1, 3]})

    assert hash_jobs(make_store(**columns)) == hash_jobs(same) != hash_jobs(other)


def test_a_comparison_that_was_broken_off_goes_on(tiny, tmp_path):
    path = tmp_path / "scores.jsonl"
    whole = compete([("tiny", tiny)], ["dacosta"], 2)
    compete([("tiny", tiny)], ["dacosta"], 2, ScoreCache(path))
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:9]) + lines[9][:20])

    assert compete([("tiny", tiny)], ["dacosta"], 2, ScoreCache(path)) == whole
    kept = path.read_bytes()
    assert compete([("tiny", tiny)], ["dacosta"], 2, ScoreCache(path)) == whole
    assert path.read_bytes() == kept
