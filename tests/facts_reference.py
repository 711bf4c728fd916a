"""
The facts that samples and public logs yield, each once: docs/facts.json, of which the reference is made.

``python -m tests.facts_reference`` writes it. What differs between traces stands in braces in an id:
the variable of a fit, a distribution, a priority, a number.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import gwa
from gwa.analysis.base import analyses
from gwa.analysis.build import build
from gwa.breakdown.maintenance import MaintenanceWindow
from gwa.formats.open import open_trace
from gwa.formats.sample import write as write_sample
from gwa.metrics.carbon import Carbon
from gwa.metrics.quotas import Quotas
from gwa.report.document import Fact, Report
from gwa.requests.base import request_analyses
from gwa.requests.build import build_requests
from gwa.store.options import ReadOptions
from gwa.store.store import Store
from tests.conftest import HOME, LOGS

KEPT = HOME / "docs" / "facts.json"

WORDS = {
    "n": "values",
    "base": "base of the logarithm",
    "dropped": "share of the values that are not positive, which are dropped",
    "zeros": "share of the values that are zero on the scale",
    "best_ks": "distribution with the smallest KS distance",
    "best_bic": "distribution with the smallest BIC",
    "mu": "location of the logarithm, or mean",
    "sigma": "standard deviation, of the logarithm for a lognormal",
    "ks": "Kolmogorov-Smirnov distance",
    "anderson_darling": "Anderson-Darling statistic",
    "cramer_von_mises": "Cramér-von Mises statistic",
    "aic": "Akaike's criterion",
    "bic": "Schwarz's criterion",
    "p_value": "p-value by parametric bootstrap",
    "rate": "rate, one over the unit of the values",
    "weight": "weight of the first rate",
    "rate1": "first rate",
    "rate2": "second rate",
    "degenerate": "why it is not ranked",
    "shape": "shape",
    "scale": "scale, in the unit of the values",
    "minimum": "minimum, in the unit of the values",
    "exponent": "exponent, by maximum likelihood",
    "exponent_least_squares": "exponent, by least squares on logarithms",
    "ranks": "ranks",
}
"""What is fitted, by the last part of the id of a fact."""

MEANINGS = {
    "requests.recorded.{field}": "Requests with a known value of the field",
    "requests.dispersion.{seconds}s": "Variance over mean of requests in intervals of that length",
    "completeness.{field}": "Jobs with a known value of the field",
    "synthetic.{model}": "Noise floors that the workload of the model is away",
    "burstiness.temporal.{seconds}s": "Entropy of arrivals in intervals of that length",
    "burstiness.poisson.{seconds}s": "The same for a Poisson process",
    "burstiness.dispersion.{seconds}s": "Variance over mean of arrivals in intervals of that length",
    "correlation.arrivals.{seconds}s": "Autocorrelation of arrivals after that time",
    "priority.{priority}": "Jobs of the priority",
    "bags.minh.variability.{number}": "Standard deviation of run times in bags of that class of means",
    "bags.minh.variability.{number}.bags": "Bags of that class of means",
    "clusters.{number}.silhouette": "Silhouette of that many clusters",
    "clusters.{number}.{number}.share": "Share of the jobs in one of that many clusters",
    "clusters.{number}.{number}.makespan": "Mean make-span of the jobs in the cluster",
    "clusters.{number}.{number}.processors": "Mean processors of the jobs in the cluster",
    "clusters.{number}.{number}.disparity": "Mean over median make-span in the cluster",
    "clusters.runtime.{number}.share": "Share of the similar jobs in the cluster of run times",
    "clusters.runtime.{number}.median": "Median run time in the cluster",
    "clusters.runtime.{number}.low": "Shortest run time in the cluster",
    "clusters.runtime.{number}.high": "Longest run time in the cluster",
    **{
        f"makespan.{of}.{name}": f"{what} of jobs with that {' and '.join(re.findall('[a-z]+', of))}"
        for of in ("{outcome}", "{priority}.{outcome}")
        for name, what in {
            "count": "Number",
            "share": "Share",
            "mean": "Mean make-span",
            "median": "Median make-span",
            "disparity": "Mean over median make-span",
        }.items()
    },
}
"""What a fact is whose label names what it is about in one trace."""

DISTRIBUTIONS = "normal|lognormal|exponential|hyperexponential|weibull|gamma|pareto|zipf"
OUTCOMES = "completed|failed|cancelled"

VARYING = (
    (r"^(makespan|priority)\.(free|normal|production|monitoring)(?=\.|$)", r"\1.{priority}"),
    (r"^fit\.[a-z_]+", "fit.{variable}"),
    (r"^requests\.fit\.[a-z_]+", "requests.fit.{variable}"),
    (r"^requests\.recorded\.\w+", "requests.recorded.{field}"),
    (rf"\.({DISTRIBUTIONS})(?=\.|$)", ".{distribution}"),
    (rf"^(makespan|fit\.\{{variable\}})\.((?:\{{priority\}}\.)?)({OUTCOMES})(?=\.)", r"\1.\2{outcome}"),
    (r"^completeness\.(?!ran_without_wait)\w+", "completeness.{field}"),
    (r"^synthetic\.(?!fitted)\w+", "synthetic.{model}"),
    (r"\.\d+s(?=\.|$)", ".{seconds}s"),
    (r"\.\d+(?=\.|$)", ".{number}"),
)  # fmt: skip


def general(id: str) -> str:  # noqa: A002 - as facts call it
    """Return the id of a fact with what differs between traces in braces."""
    for pattern, placeholder in VARYING:
        id = re.sub(pattern, placeholder, id)  # noqa: A001 - as facts call it
    return id


def rows(report: Report) -> Iterator[dict[str, str]]:
    """Yield what the reference says of each fact of a report."""
    for section in report.sections:
        for fact in Report("", "", (section,)).facts():
            yield {
                "id": general(fact.id), "what": meaning(fact), "unit": fact.unit, "section": section.id,
            }  # fmt: skip


def meaning(fact: Fact) -> str:
    """Return what a fact is; of a general one without the names of what it is about in this trace."""
    if fact.id.startswith(("fit.", "requests.fit.")):
        return WORDS[fact.id.rpartition(".")[2]]
    return MEANINGS.get(general(fact.id), str(fact.label))


def whole(store: Store) -> Report:
    """Return the report of all sections, those that are made on request included."""
    return build(store, "trace", strict=True)


def samples() -> list[Path]:
    """Return the folders of the sample traces."""
    return sorted(path for path in (HOME / "sample_traces").iterdir() if path.is_dir())


def logs(folder: Path) -> list[Path]:
    """Return the files of a sample that are its log."""
    return [
        path for path in folder.iterdir() if path.name not in {"expected.gwf", "system.toml", "README.md"}
    ]


def rows_of_requests() -> Iterator[dict[str, str]]:
    """Yield what the reference says of each fact of the made trace of requests."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "sample.requests.csv"
        write_sample("requests", path)
        with open_trace([path], None, ReadOptions(requests=True)) as store:
            yield from rows(build_requests(store, "sample", strict=True))


def rows_of_statements() -> Iterator[dict[str, str]]:
    """Yield what the reference says of the facts of what is stated: quotas, carbon dioxide, a window."""
    carbon = Carbon(constant=100.0, price_per_kwh=0.3, embodied_kg=1e5, embodied_years=5.0)
    stated = {"carbon": carbon, "quota": Quotas(users={"U1": 10.0})}
    window = "2026-04-01T16:00..2026-04-02T18:00"  # jobs that ran when the log ended may reach it
    with TemporaryDirectory() as folder:
        path = Path(folder) / "sample.sacct"
        write_sample("slurm", path)
        yield from _rows_of_parts(path)
        with gwa.open(path) as trace:
            trace.store.stated |= stated
            trace.store.stated["window"] = MaintenanceWindow.parse(window, trace.store.system)
            yield from rows(
                build(trace.store, "sample", only=["quotas", "energy", "maintenance"], strict=True)
            )


def _rows_of_parts(path: Path) -> Iterator[dict[str, str]]:
    """Yield what the reference says of the facts of a log in which jobs held parts of GPUs."""
    parts = path.with_name("parts.sacct")
    parts.write_text(path.read_text().replace("gpu:a100=", "gpu:a100_1g.5gb="))
    with gwa.open(parts) as trace:
        yield from rows(build(trace.store, "sample", only=["why-jobs-waited", "usage"], strict=True))


def kept() -> list[dict[str, Any]]:
    """Return the facts that the reference has."""
    found: list[dict[str, Any]] = json.loads(KEPT.read_text())
    return found


def write() -> None:
    """Write the facts of all samples, and of logs beside the project: long ones have some of their own."""
    found: dict[str, dict[str, str]] = {}
    for paths in (*map(logs, samples()), *([path] for path in sorted((LOGS / "swf").glob("*.swf.gz")))):
        with gwa.open(paths) as trace:
            for row in rows(whole(trace.store)):
                found.setdefault(row["id"], row)
    for row in (*rows_of_statements(), *rows_of_requests()):
        found.setdefault(row["id"], row)
    order = {one.id: place for place, one in enumerate((*analyses(), *request_analyses()))}
    ordered = sorted(found.values(), key=lambda row: order[row["section"]])
    KEPT.write_text(json.dumps(ordered, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    write()
