"""A made-up report with everything in it: every kind of block and plot, every unit, hostile names."""

import numpy as np

from gwa.report.document import Column, Fact, Facts, Figure, Finding, Note, Report, Section, Table
from gwa.report.figures.bars import bars
from gwa.report.figures.cdf import cdf
from gwa.report.figures.heatmap import heatmap
from gwa.report.figures.lorenz import lorenz
from gwa.report.figures.series import series
from gwa.words.unit import Value

HOSTILE = (
    "<script>alert(1)</script>",
    "{{7*7}}",
    "=cmd|' /C calc'!A0",
    "مستخدم عربي",
    "x" * 10_000,
    "a\u202eb\x00\x1b[31m\udc80c",
    '"><img src=x onerror=alert(2)>',
    "O'Brien & Söhne, $x^2$",
)
"""Names that a log may hold."""


def steps(values):
    """Return values and their cumulative fractions."""
    known, counts = np.unique(values, return_counts=True)
    return known, np.cumsum(counts) / counts.sum()


def make_figures():
    """Return one figure of each kind and more, about as a real log would give them."""
    rng = np.random.default_rng(1)
    run = np.concatenate([rng.lognormal(6, 2.2, 20_000).astype(int), np.zeros(500), np.full(3000, 3600)])
    wait = np.concatenate([rng.lognormal(4, 3, 20_000).astype(int), np.zeros(9000)])
    days = 848e6 + np.arange(340) * 86400.0
    mean = 0.5 + 0.3 * np.sin(np.arange(340) / 20) + rng.normal(0, 0.05, 340)
    week = 5 + 60 * np.exp(-((np.arange(24) - 14) ** 2) / 30) * np.array([[1, 1.1, 1, 1, 0.9, 0.3, 0.2]]).T
    users = np.sort(rng.pareto(1.1, 200)).cumsum()
    holders = np.arange(1, 201)
    names = [f"{hour:02}" for hour in range(24)]
    return {
        "runtime": cdf(
            id="jobs.runtime", title="Run time", series={"all jobs": steps(run)}, xlabel="run time",
            unit="seconds", alt="Half of the jobs run less than ten minutes.", note="3,000 jobs run 1 h.",
        ),
        "times": cdf(
            id="jobs.times", title="Run time and wait time", series={"run": steps(run), "wait": steps(wait)},
            xlabel="time", unit="seconds", alt="Waits are shorter than run times.",
        ),
        "procs": cdf(
            id="jobs.procs", title="Processors", series={"jobs": steps(2 ** rng.integers(0, 8, 10_000))},
            xlabel="processors", unit="count", alt="Powers of two.",
        ),
        "utilization": series(
            id="utilization.series", title="Utilization of each day", x=days,
            lines={"mean": (mean, mean - 0.15, np.minimum(mean + 0.12, 1))}, ylabel="Busy processors",
            unit="fraction", zone="Europe/Stockholm", reference=(1.0, "100 CPUs"), alt="Up and down.",
            note="The line is the mean of a day, the band its least and greatest 10 minutes.",
        ),
        "queue": series(
            id="queue.series", title="Running and waiting jobs", x=np.arange(340) * 86400.0,
            lines={"running": mean * 80, "waiting": rng.poisson(12, 340)}, ylabel="Jobs", unit="count",
            alt="More run than wait.",
        ),
        "users": bars(
            id="users.jobs", title="Users with the most jobs", labels=[*HOSTILE, "u9", "u10"],
            values=np.sort(rng.integers(1, 9000, 10))[::-1], xlabel="user", ylabel="Jobs", unit="count",
            alt="One user leads.",
        ),
        "hours": bars(
            id="arrivals.hours", title="Arrivals by hour", labels=names, values=week.mean(axis=0),
            xlabel="hour of the day", ylabel="Jobs per hour", unit="per hour", alt="Most come after noon.",
        ),
        "week": heatmap(
            id="arrivals.week", title="Arrivals by hour and weekday", matrix=week,
            rows=["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"], columns=names, xlabel="hour of the day",
            ylabel="Jobs per hour", alt="Afternoons of working days are busiest.",
        ),
        "lorenz": lorenz(
            id="users.lorenz", title="How evenly users share the system",
            series={"jobs": (holders, users), "CPU time": (holders, users**1.7)},
            xlabel="users, least active first", ylabel="Share of the total", alt="Very unevenly.",
        ),
    }  # fmt: skip


def make_users(end=""):
    """Return a table with hostile names, missing values and more columns than a phone can show."""
    columns = (
        Column("user", "User"), Column("jobs", "Jobs", "count"), Column("share", "Share of jobs", "fraction"),
        Column("cpu", "CPU time", "cpu seconds"), Column("cpu_share", "Share of CPU time", "fraction"),
        Column("runtime", "Mean run time", "seconds"), Column("memory", "Mean memory", "kilobytes"),
        Column("first", "First job", "timestamp"), Column("rate", "Jobs a day", "per day"),
        Column("group", "Group"),
    )  # fmt: skip
    rows = tuple(
        (name, 9000 - 917 * n, 0.31 / (n + 1), 7.3e7 / (n + 1), 0.0004, 345.678 * n,
         None if n % 3 else 2048.0, 843494403 + n * 86400, 12.5 / (n + 1), f"group{n % 2}")
        for n, name in enumerate(HOSTILE)
    )  # fmt: skip
    note = "Users that were not recorded are left out."
    return Table(f"users.by_jobs{end}", "Top users by jobs", columns, rows, note=note)


def make_overview():
    """Return the first section: facts of every unit."""
    facts = (
        Fact("trace.jobs", 28476, "Jobs", "count", "All jobs of the trace."),
        Fact("trace.users", 214, "Users", "count", "Users that submitted at least one job."),
        Fact("trace.cpus", 100, "Processors", "count"),
        Fact("utilization.mean", 0.7011, "Utilization", "fraction", "CPU time ÷ (processors × span)."),
        Fact("trace.cpu_seconds", 2.0213e9, "CPU time", "cpu seconds"),
        Fact("trace.span_seconds", 29363625, "Span", "seconds", "From the first submission to the last end."),
        Fact("trace.first_submit", 843494403, "First submission", "timestamp"),
        Fact("trace.cpus_inferred", value=False, label="Processors inferred"),
        Fact("jobs.memory.mean", None, "Mean memory", "kilobytes", "Not every log has it."),
        Fact("jobs.memory.max", 1572864.5, "Greatest memory", "kilobytes"),
        Fact("arrivals.hour.mean", 3.4912345678, "Arrivals", "per hour"),
        Fact("trace.site", HOSTILE[0], "Site"),
        Fact("trace.name", HOSTILE[4], "Longest name"),
        Fact("users.by_jobs", [{"user": name, "jobs": 9} for name in HOSTILE[:4]], "Top users"),
    )
    notes = (
        Note("28,476 rows became 28,476 jobs; none was rejected."),
        Note("This trace does not record memory.", "warning"),
        Note(f"The analysis of {HOSTILE[0]} failed.", "error"),
    )
    return Section(
        "trace",
        "The trace",
        "What was recorded, when, and how busy it was.",
        (Facts(facts), *notes),
        "Overview",
    )


def make_report(copies=1):
    """Return a report with every kind of block, all figures *copies* times."""
    sections = [make_overview()]
    for copy in range(copies):
        end = f".{copy}" if copy else ""
        drawn = {
            key: Figure(f"{one.id}{end}", one.title, one.plot, one.data, one.alt, one.note)
            for key, one in make_figures().items()
        }
        sections += [
            Section(f"utilization{end}", "Load", "How busy.", (drawn["utilization"], drawn["queue"]), "Load"),
            Section(f"arrivals{end}", "Arrivals", "When.", (drawn["week"], drawn["hours"]), "Load"),
            Section(
                f"jobs{end}", "Jobs", "How long.\n\nAnd how wide.",
                (drawn["runtime"], drawn["times"], drawn["procs"]), "Jobs",
            ),
            Section(
                f"users{end}", "Users", "Who uses the system.",
                (make_users(end), drawn["users"], drawn["lorenz"]), "People",
            ),
        ]  # fmt: skip
    sections.append(Section("memory", "Memory", "", (Note("Not recorded.", "warning"),), "Jobs", failed=True))
    sections.append(Section("fits", "Fits", "", (Note("No law."),), "For modellers", view="modeller"))
    reproduction: dict[str, Value] = {
        "command": "gwa report kth.gwf --html",
        "input": {"kth.gwf": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"},
        "rows rejected": 0,
        "versions": {"gwa": "0.1.0", "duckdb": "2.0.0"},
    }
    return Report(
        title="KTH-SP2 <1996>",
        subtitle="28,476 jobs of an IBM SP2 in Stockholm",
        sections=tuple(sections),
        zone="Europe/Stockholm",
        reproduction=reproduction,
        findings=tuple(
            Finding(
                f"made-{number}", f"{name} stands out.", "users", "Said always.", 1 / (number + 1), "Ask."
            )
            for number, name in enumerate(HOSTILE)
        ),
    )
