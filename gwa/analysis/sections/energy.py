"""Energy and carbon dioxide."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from gwa.analysis.base import Chapter, analysis
from gwa.breakdown.dimensions import by_name
from gwa.breakdown.records import Records
from gwa.metrics.calendar import MAXIMUM_DAYS, Calendar
from gwa.metrics.carbon import Carbon
from gwa.metrics.energy import (
    Energy,
    by_interval,
    embodied,
    footprint,
    is_known,
    kwh_by,
)
from gwa.metrics.energy import (
    energy as used_energy,
)
from gwa.metrics.presence import recorded
from gwa.metrics.sizes import processors
from gwa.report.columns import column
from gwa.report.document import Block, Column, Fact, Facts, Note, note_of
from gwa.report.facts import facts_of, number
from gwa.report.figures.bars import bars
from gwa.store.engines.duckdb import literal
from gwa.store.store import Store
from gwa.util.units import DAY
from gwa.words.formatting import number as show
from gwa.words.message import message, plural, within_sentence

OWNERS: Final = ("users", "projects")
"""The dimensions of those who use energy."""


@analysis("Energy and carbon", Chapter.ENERGY, facts=("energy", "carbon"), when=is_known)
def energy(store: Store) -> Iterator[Block]:
    """
    Energy that jobs used, and what it stands for in carbon dioxide and money.

    Energy is that which the log records. Where it does not, it is estimated from the watts that a file given
    with --system states for a processor, a GPU and a node, times the run time; what is estimated is named.
    Energy of a job on a shared node may be that of the whole node. Of a period, it is the part of each job
    that lies in it.

    Carbon dioxide is energy times the power usage effectiveness of the site times the grams for a kilowatt
    hour that a file given with --carbon states; the power of a job is taken to be constant from start to
    end. Energy at times of which the file says nothing counts for no carbon dioxide, and is named. That of
    making the machine is its total, times the CPU time used, over that of all processors in its life
    (Software Carbon Intensity specification 1.0, Green Software Foundation).
    """
    if not is_known(store):
        yield Note(
            "The log records no energy. Watts in a file given with --system would let it be estimated."
        )
        return
    used, carbon = used_energy(store), store.stated.get("carbon")
    if not used.jobs:
        yield Note("No job has a known energy.")
        return
    known = carbon if isinstance(carbon, Carbon) else None
    yield Facts(tuple(_facts(used)))
    if used.estimated_jobs:
        yield note_of(
            "{estimated_kwh} kWh of {estimated_jobs} are estimated from stated watts.",
            estimated_kwh=show(round(used.estimated_kwh, 1)),
            estimated_jobs=plural("{n} job", "{n} jobs", used.estimated_jobs),
        )
    if known:
        yield from _carbon(store, used, known)
    yield from _months(store, known)
    for name in OWNERS:
        if classes := by_name(name).of(store):
            yield from _owners(store, used, known, (name, by_name(name).heading), classes.key)
    yield from _sizes(store, used, known)


def _facts(used: Energy) -> Iterator[Fact]:
    yield Fact("energy.jobs", used.jobs, "Jobs whose energy is known", "count")
    yield Fact("energy.kwh", number(used.kwh), "Energy used", "kilowatt hours")
    yield Fact("energy.estimated_jobs", used.estimated_jobs, "Of these, estimated", "count")
    estimated = number(used.estimated_kwh)
    yield Fact("energy.estimated_kwh", estimated, "Energy that is estimated", "kilowatt hours")


def _carbon(store: Store, used: Energy, carbon: Carbon) -> Iterator[Block]:
    """Yield what the energy stands for."""
    found = footprint(store, carbon, used.kwh)
    facts = [
        *facts_of(
            "carbon",
            ("kg", number(found.kg), "Carbon dioxide", "kilograms"),
            ("unknown_kwh", number(found.unknown_kwh), "Energy of unknown carbon dioxide", "kilowatt hours"),
        )
    ]
    if carbon.price_per_kwh is not None:
        cost = used.kwh * carbon.pue * carbon.price_per_kwh
        label = message("Cost of energy{currency}", currency=_in(carbon.currency))
        facts.append(Fact("energy.cost", number(cost), label))
    if carbon.embodied_kg is not None:
        share = embodied(store, carbon)
        text = "unknown" if share is None else ""
        facts.append(
            Fact("carbon.embodied_kg", share, "Carbon dioxide of making the machine", "kilograms", text=text)
        )
    yield Facts(tuple(facts))
    if found.unknown_kwh > used.kwh * 1e-9:
        yield Note(
            message(
                "The carbon intensity is unknown for {unknown_kwh} of {kwh} kWh: the series "
                "has gaps, or does not reach as far as the log. Their carbon dioxide is not "
                "counted.",
                unknown_kwh=show(round(found.unknown_kwh, 1)),
                kwh=show(round(used.kwh, 1)),
            ),
            "warning",
        )


def _in(currency: str) -> str:
    return message(" in {currency}", currency=currency) if currency else ""


def _months(store: Store, carbon: Carbon | None) -> Iterator[Block]:
    """Yield energy by month."""
    span = recorded(store)
    if span is None or store.system.relative or not 0 < span[1] - span[0] <= MAXIMUM_DAYS * DAY:
        return
    edges, names = Calendar.of(*span, store.system.timezone, relative=False).months()
    parts = by_interval(store, carbon, edges)
    rows: list[dict[str, Any]] = [
        {"id": name, **{key: number(float(values[place])) for key, values in parts.items()}}
        for place, name in enumerate(names)
    ]
    of_months = Records("energy.by_month", message("Energy by month"), _columns(message("Month")), rows)
    yield of_months.fact
    if len(rows) > 1:
        yield bars(
            "energy",
            "Energy by month",
            [row["id"] for row in rows],
            [row["kwh"] or 0.0 for row in rows],
            "Month",
            "kWh",
            message("Kilowatt hours by month: {max} at most.", max=show(max(row["kwh"] for row in rows))),
        )
    # Energy alone is drawn; what it stands for is in the table only.
    yield replace(of_months.table("energy-months"), minor=carbon is None and len(rows) > 1)


def _owners(
    store: Store, used: Energy, carbon: Carbon | None, named: tuple[str, str], field: str
) -> Iterator[Block]:
    """Yield the energy of users or projects."""
    rows = [
        _row(store, used, carbon, (who, jobs, kwh), f"{field} = {literal(str(who))}")
        for who, jobs, kwh in kwh_by(store, field, store.top)
    ]
    yield from _classes(*named, rows)


def _sizes(store: Store, used: Energy, carbon: Carbon | None) -> Iterator[Block]:
    """Yield the energy of jobs by size, the smallest first."""
    sizes = processors(store)
    places = sorted(kwh_by(store, f"nullif({sizes.place}, -1)", None))
    rows = [
        _row(store, used, carbon, (sizes.names[place], jobs, kwh), f"{sizes.place} = {place}")
        for place, jobs, kwh in places
    ]
    yield from _classes("sizes", message("Processors"), rows)


def _row(
    store: Store, used: Energy, carbon: Carbon | None, of_class: tuple[str, int, float], condition: str
) -> dict[str, Any]:
    """Return the energy of the jobs for which the SQL *condition* holds."""
    who, jobs, kwh = of_class
    row: dict[str, Any] = {
        "id": who, "jobs": jobs, "kwh": number(kwh), "share": kwh / used.kwh if used.kwh else None
    }  # fmt: skip
    return row | {"kg": number(footprint(store, carbon, kwh, condition).kg)} if carbon else row


def _classes(name: str, heading: str, rows: list[dict[str, Any]]) -> Iterator[Block]:
    if rows:
        title = message("Energy by {lower}", lower=within_sentence(heading))
        records = Records(f"energy.{name}", title, _columns(heading), rows)
        yield records.fact
        if any("kg" in row for row in rows):  # energy alone stands beside all else that a class used
            yield records.table(f"energy-{name}")


def _columns(heading: str) -> tuple[Column, ...]:
    return (
        Column("id", heading), column("jobs"), column("energy", "kwh", "kilowatt hours"),
        column("energy_share", "share"), column("carbon", "kg"),
    )  # fmt: skip
