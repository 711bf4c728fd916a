"""Experiment files: each mistake is one line that names the file and the line."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gwa.errors import DefinitionError
from gwa.evaluation.experiments.plan import ExperimentPlan
from gwa.evaluation.experiments.spec import read_experiment
from tests.conftest import HOME

SHIPPED = sorted((HOME / "experiments").glob("*.toml"))

GOOD = """\
title = "Good"
schedulers = ["FPLT", "WQR-2"]
selections = [
  "S-T",  # a comment
  "S-B",
]
loads = [0.5, 0.9]
repetitions = 2

[[clusters]]
name = "one"
processors = 8

[[clusters]]
name = "two"
processors = 4
speed = 1.5

# Bags.
[[workloads]]
name = "bags"
models = ["thesis-average-bags"]
tasks = 50
arrivals = ["as modelled", "all at once"]

[[workloads]]
name = "users"
models = ["thesis-average"]
days = 1
"""

MISTAKES = {
    'title = "Good"|titel = "Good"': (
        1,
        "titel: unknown key, expected one of title, workloads",
    ),
    'title = "Good"|': (1, "title: is missing"),
    'title = "Good"|title = 3': (1, "title: is 3, expected a text"),
    'title = "Good"|title = "Good': (1, "expected TOML"),
    '"FPLT", "WQR-2"|"FPLT", "SJF"': (
        2,
        "schedulers[1]: 'SJF' is not a task scheduling, expected one of ECT, FPLT",
    ),
    '"FPLT", "WQR-2"|"FPLT", "FPLT"': (2, "schedulers[1]: 'FPLT' is there twice"),
    '"FPLT", "WQR-2"|': (2, "schedulers: expected either these, for bags of tasks, or policies"),
    '"S-B"|"S-X"': (3, "selections[1]: 'S-X' is not a task selection, expected one of S-T, S-B"),
    "0.5, 0.9|0.5, -0.9": (7, "loads is -0.9, expected a number above 0"),
    "0.5, 0.9|0.5, true": (7, "loads[1]: is True, expected a number"),
    "0.5, 0.9|0.5, nan": (7, "loads[1]: is nan, expected a number"),
    "0.5, 0.9|0.5, 0.5": (7, "loads[1]: '0.5' is there twice"),
    "repetitions = 2|repetitions = 0": (8, "repetitions is 0, expected a number at least 1"),
    "repetitions = 2|repetitions = 2.5": (8, "repetitions: is 2.5, expected a whole number"),
    "repetitions = 2|repetitions = 2\nrepetitions = 3": (9, "expected TOML"),
    "repetitions = 2|policies = ['easy']": (2, "schedulers: expected either these"),
    "repetitions = 2|horizon = 0.5": (8, "horizon is 0.5, expected a number at least 1"),
    'processors = 8|processors = "8"': (12, "clusters[0].processors: is '8', expected a number"),
    "processors = 8|": (10, "clusters[0].processors: is missing"),
    'name = "two"|name = "one"': (15, "clusters[1].name: 'one' is that of another cluster, too"),
    "speed = 1.5|speed = 0": (17, "clusters[1].speed is 0.0, expected a number above 0"),
    '"thesis-average-bags"|"thesis"': (22, "workloads[0].models[0]: there is no preset or file 'thesis'"),
    '"thesis-average-bags"|"lublin"]\nbag_sizes = [4': (
        22,
        "workloads[0].models[0]: lublin is a model without",
    ),
    "tasks = 50|": (22, "workloads[0].models: expected either days or tasks beside them"),
    'tasks = 50|trace = "x.swf"': (22, "workloads[0].models: expected either models or a trace"),
    '"all at once"|"at once"': (24, "workloads[0].arrivals[1]: is 'at once', expected one of as modelled"),
    'name = "users"|name = "bags"': (26, "workloads[1]: 'bags' is there twice"),
    "days = 1|days = 1e400": (29, "workloads[1].days: is inf, expected a number"),
    "days = 1|[more]": (29, "more: unknown key"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_named_with_its_line(mistake, tmp_path):
    path = tmp_path / "bad.toml"
    before, after = mistake.split("|")
    path.write_text(GOOD.replace(before, after, 1))
    line, says = MISTAKES[mistake]

    with pytest.raises(DefinitionError) as error:
        read_experiment(path)

    assert str(error.value).startswith(f"{path}:{line}: ")
    assert says in str(error.value)
    assert "\n" not in str(error.value)


def test_files_that_are_missing_or_no_text_are_named(tmp_path):
    path = tmp_path / "bad.toml"
    for content, says in {
        b"a = 1\n\xff\xfe": "2: is not UTF-8 text",
        b"x" * 200_000: "has 200,000 bytes",
        b"a = " + b"[" * 50_000: "1: ",
    }.items():
        path.write_bytes(content)
        with pytest.raises(DefinitionError, match=says):
            read_experiment(path)
    with pytest.raises(DefinitionError, match="no such file"):
        read_experiment(tmp_path / "none.toml")


def test_a_system_in_a_file_of_its_own_is_blamed_by_its_own_name(tmp_path):
    path = tmp_path / "experiment.toml"
    path.write_text(re.sub(r"\[\[clusters\]\].*# Bags", "# Bags", GOOD, flags=re.DOTALL))
    with pytest.raises(DefinitionError, match=r"experiment\.toml:1: system: expected either the name"):
        read_experiment(path)

    path.write_text(f'system = "s.toml"\n{path.read_text()}')
    with pytest.raises(DefinitionError, match=r"experiment\.toml:1: system: there is no file"):
        read_experiment(path)

    (tmp_path / "s.toml").write_text(
        'title = "S"\nclusters = [\n {name = "a", processors = 1, sped = 2},\n]\n'
    )
    with pytest.raises(
        DefinitionError, match=r"s.toml:2: clusters\[0\].sped: unknown key, expected one of speed"
    ):
        read_experiment(path)


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_the_experiments_of_the_project_are_good(path):
    plan = ExperimentPlan(read_experiment(path))

    assert len({run.name for run in plan.runs}) == len(plan.runs)


def test_the_combined_system_is_what_the_thesis_says():
    machines = read_experiment(HOME / "experiments" / "architectures.toml").machines
    speeds = [cluster.speed for cluster in machines.clusters]

    assert len(machines.clusters) == 20
    assert machines.processors > 3500
    assert (min(speeds), max(speeds)) == (1.0, 1.75)


def test_chapter_6_has_over_1200_runs():
    names = (
        "real-load",
        "task-scheduling",
        "arrivals",
        "bag-sizes",
        "run-times",
        "task-selection",
        "architectures",
    )

    assert (
        sum(
            len(ExperimentPlan(read_experiment(HOME / "experiments" / f"{name}.toml")).runs) for name in names
        )
        >= 1200
    )


VALUES = st.sampled_from(
    ['"x"', "1", "-1", "0", "1e300", "nan", "true", "[]", "{}", "[[1]]", "2026-01-01", '""']
)


@given(data=st.data())
def test_whatever_is_changed_there_is_a_line_or_an_experiment(data, tmp_path_factory):
    lines = GOOD.split("\n")
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(lines) - 1))
        match data.draw(st.sampled_from(["drop", "twice", "value", "noise", "move"])):
            case "drop":
                lines.pop(place)
            case "twice":
                lines.insert(place, lines[place])
            case "value" if "=" in lines[place]:
                lines[place] = f"{lines[place].split('=')[0]}= {data.draw(VALUES)}"
            case "noise":
                at = data.draw(st.integers(0, len(lines[place])))
                lines[place] = lines[place][:at] + data.draw(st.characters()) + lines[place][at:]
            case "move":
                lines.insert(data.draw(st.integers(0, len(lines))), lines.pop(place))
        lines = lines or [""]
    path = tmp_path_factory.mktemp("mutated") / "mutated.toml"
    path.write_text("\n".join(lines), encoding="utf-8", errors="surrogatepass", newline="")

    said = mistake(path)
    if said is not None:
        place = re.match(rf"{re.escape(str(path))}:(\d+): ", said)
        assert place, said
        assert 1 <= int(place[1]) <= len(lines) + 1


def mistake(path):
    """Return what is said to be wrong with a file; nothing else may be raised."""
    try:
        read_experiment(path)
    except DefinitionError as error:
        return str(error)
    return None


def test_the_example_in_the_documentation_is_good(tmp_path):
    page = (HOME / "docs" / "how-to" / "simulate.md").read_text()
    (example,) = re.findall(r"```toml\n(title = .*?)```", page, re.DOTALL)
    path = tmp_path / "readme.toml"
    path.write_text(example)

    assert len(ExperimentPlan(read_experiment(path)).runs) == 90


CHANGES = """\
title = "Sizes"
policies = ["easy"]
changes = ["none", "cpus +50%", "cpus +100%, requests perfect"]
clusters = [{ name = "one", processors = 48 }]

[[workloads]]
name = "tiny"
trace = "TRACE"
"""


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ('"cpus +50%"', '"disks +50%"', r"changes\[1\]: 'disks \+50%' is not a change"),
        ('"cpus +50%"', '"none"', r"changes\[1\]: 'none' is there twice"),
        ('"cpus +50%"', '"without-user U1"', r"changes\[1\]: .* an experiment can change cpus, load"),
        ('policies = ["easy"]', 'schedulers = ["FPLT"]', "changes: are of parallel jobs"),
        ("changes", "wait_limit = 0\nchanges", "wait_limit is 0.0, expected a number above 0"),
    ],
)
def test_a_change_that_is_none_is_refused(before, after, said, tmp_path):
    path = tmp_path / "sizes.toml"
    trace = str(HOME / "sample_traces" / "swf" / "tiny.swf")
    path.write_text(CHANGES.replace("TRACE", trace).replace(before, after))
    with pytest.raises(DefinitionError, match=said):
        read_experiment(path)
