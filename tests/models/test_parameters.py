"""Parameters: JSON in and out, and errors that name what is wrong."""

import json
from copy import deepcopy

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gwa.errors import ArgumentError, ModelError
from gwa.models import files
from gwa.models.base import parse_model, presets
from gwa.models.files import document, load_model, read, write

GOOD = document(presets()["lublin"].model, {})
JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


def changed(path, value):
    """Return a good document with *value* at *path*; None takes it away."""
    said = deepcopy(GOOD)
    *above, last = path.split(".")
    place = said["parameters"]
    for name in above:
        place = place[name]
    if value is None:
        del place[last]
    else:
        place[last] = value
    return said


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        ("batch.sizes.serial", 1.7, "batch.sizes.serial is 1.7, expected a share between 0 and 1"),
        ("batch.sizes.serial", "much", "batch.sizes.serial: is 'much', expected a number"),
        ("batch.sizes.serial", True, "batch.sizes.serial: is True, expected a number"),
        ("batch.sizes.serial", float("nan"), "batch.sizes.serial: is nan, expected a number"),
        ("batch.sizes.serial", None, "batch.sizes.serial: is missing"),
        pytest.param("batch.sizes.serial", 10**400, "batch.sizes.serial: is 1000", id="enormous"),
        ("batch.sizes.middle", 9.0, "batch.sizes.middle is 9.0, expected one between low and high"),
        ("batch.sizes.colour", 1.0, "batch.sizes.colour: unknown key, expected one of"),
        ("batch.sizes", 5, "batch.sizes: is 5, expected a table"),
        ("batch.run_times.scale1", -1.0, "batch.run_times.scale1 is -1.0, expected a number above 0"),
        ("batch.run_times.shape1", 900.0, "batch.run_times.shape1 is 900.0"),
        ("batch.arrivals.gap.distribution.shape", 0, "batch.arrivals.gap.distribution.shape is above 0"),
        ("batch.arrivals.gap.distribution.kind", "x", "batch.arrivals.gap.distribution.kind: is 'x'"),
        ("batch.arrivals.gap.distribution", [], "batch.arrivals.gap.distribution.kind: is None"),
        ("batch.arrivals.gap.high", -3.0, "batch.arrivals.gap.low and high are None and -3.0"),
        ("batch.arrivals.day.begins", 90000, "batch.arrivals.day.begins is 90000.0"),
        ("batch.arrivals.kind", "nix", "batch.arrivals.kind: is 'nix', expected one of bursts, "),
        ("batch.arrivals.kind", "poisson", "batch.arrivals.day: unknown key"),
    ],
)
def test_errors_name_the_parameter(path, value, said):
    with pytest.raises(ModelError) as error:
        parse_model(changed(path, value))

    assert str(error.value).startswith(said)
    assert "\n" not in str(error.value)


@settings(max_examples=40)
@given(
    JSON, st.sampled_from(["batch", "batch.sizes", "batch.arrivals.gap", "batch.arrivals.day.distribution"])
)
def test_any_json_is_a_model_or_an_error_in_words(said, path):
    for tried in (said, {"model": "lublin", "parameters": said}, changed(path, said)):
        try:
            parse_model(tried if isinstance(tried, dict) else {"model": tried})
        except ModelError as error:
            assert str(error)  # noqa: PT017 - both outcomes are fine


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is not JSON"), (b"\xff\xfe", "1: is not UTF-8"), (b"[1]", "is not a model"),
        (b"{}", "is None"),
        (b"[" * 100_000, "is not JSON"), (json.dumps(GOOD).encode()[:-5], "is not JSON"),
    ],
)  # fmt: skip
def test_hostile_files_are_refused_in_a_line(content, said, tmp_path):
    (tmp_path / "model.json").write_bytes(content)

    with pytest.raises(ModelError, match=said):
        read(tmp_path / "model.json")


def test_a_file_is_opened_without_reading_the_presets(monkeypatch, tmp_path):
    path = tmp_path / "model.json"
    write(presets()["lublin"].model, path, {})
    monkeypatch.setattr(files, "presets", lambda: pytest.fail("all presets are parsed"))

    assert load_model(str(path)).model == read(path)


def test_what_is_neither_file_nor_preset_is_told(tmp_path):
    with pytest.raises(ArgumentError, match="no preset or file 'nix', expected a file or one of"):
        load_model("nix")
    with pytest.raises(ModelError, match="no such file"):
        load_model(str(tmp_path / "nix.json"))
