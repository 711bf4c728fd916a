"""
Bags of tasks: jobs that a user submits together, found by window functions in the engine.

Four definitions, because papers and their numbers differ; each gives a table of the jobs with the
number of the first job of their bag. A job of an unknown user is in no bag, for nobody can say what it
belongs to; it still comes between others where a bag is *contiguous*. A job without a submit time is
in no bag either.
"""

from dataclasses import dataclass
from typing import Final

from gwa.statistics.sample import Sample
from gwa.store.store import Store

COMPLETED: Final = "status = 1 and run_time >= 0 and n_procs > 0"
"""The jobs of Minh and Wolters (2010): completed, jobs of no length included."""


@dataclass(frozen=True)
class Definition:
    """
    When jobs belong to one bag.

    They agree in all of *key* (the first of them is known), and each comes at most *gap* seconds after the
    one before it (*below*: strictly less; None: whenever). A bag lasts at most *span* seconds from its
    first submission. Where *contiguous*, no other job of the whole trace, of those that *where*
    selects, comes between. Jobs are in the order of submission, those of one moment by their numbers.
    """

    name: str
    title: str
    source: str
    key: tuple[str, ...]
    gap: float | None
    below: bool = False
    span: float | None = None
    contiguous: bool = False
    where: str = "true"


TEXT: Final = Definition(
    name="text",
    title="same user, gaps below 120 s",
    source="S. D. Anoep, thesis, section 3.2, as its text says",
    key=("user_id",),
    gap=120.0,
    below=True,
)
THESIS: Final = Definition(
    name="thesis",
    title="same user and group, gaps of at most 120 s, a whole of at most 1200 s",
    source="S. D. Anoep, thesis, tables 4.9-4.18: what reproduces their numbers for LCG",
    key=("user_id", "group_id"),
    gap=120.0,
    span=1200.0,
)
MINH: Final = Definition(
    name="minh",
    title="alike in six attributes, next to each other in the trace, gaps of at most 100 s",
    source="T. N. Minh and L. Wolters 2010, section IV; completed jobs only",
    key=("user_id", "group_id", "queue_id", "executable_id", "req_time", "req_n_procs"),
    gap=100.0,
    contiguous=True,
    where=COMPLETED,
)
ARRAYS: Final = Definition(
    name="arrays",
    title="one job array, as the log says",
    source="the log's own array jobs: JobStructure BoT, JobStructureParams the array",
    key=("job_structure_params", "user_id"),
    gap=None,
    where="job_structure = 'BoT' and job_structure_params is not null",
)
DEFINITIONS: Final = {one.name: one for one in (TEXT, THESIS, MINH, ARRAYS)}


def bagged(store: Store, definition: Definition) -> str:
    """
    Return the source of jobs with ``bag``, the number of the first job of their bag.

    Beside it stand ``submit_time``, ``run_time`` and ``before``, the seconds since the job before it that is
    alike. The tables underneath are made once and live as long as the store is open.
    """
    near, close = neighbours(store, definition), clustered(store, definition)
    columns = "job_id, submit_time, run_time, before"
    return (
        f"(select {columns}, job_id as bag from {near} where not {_is_close(definition)}"
        f" union all select {columns}, bag from {close}) as bagged"
    )


def bags(store: Store, definition: Definition) -> str:
    """Return the source of bags: ``bag``, when it begins (``start``), ``last``, and its ``size``."""
    near, close = neighbours(store, definition), clustered(store, definition)
    summed = store.keep(
        f"{close}_summed",
        "select bag, min(submit_time) as start, max(submit_time) as last, count(*) as size"
        f" from {close} group by bag",
    )
    return (
        "(select job_id as bag, submit_time as start, submit_time as last, 1 as size"
        f" from {near} where not {_is_close(definition)} union all select * from {summed}) as bags"
    )


def forget(store: Store, definition: Definition) -> None:
    """Give up the tables of a definition that nobody needs again; those that the thesis' shares stay."""
    near, close = _near_name(store, definition), _close_name(definition)
    store.drop(close, f"{close}_whole", f"{close}_summed")
    if near != _near_name(store, THESIS):
        store.drop(near)


def nearness(store: Store, definition: Definition) -> Sample:
    """
    Return, for each job that has one, the seconds to the nearest job that could be in one bag with it.

    The share of jobs for which that is at most (or below) a gap is the share of jobs in bags of two or
    more, for every gap at once; a limit of the span is left out.
    """
    nearest = "least(coalesce(before, after), coalesce(after, before))"
    return store.sample(nearest, neighbours(store, definition))


def gaps(store: Store, definition: Definition) -> Sample:
    """Return the seconds between a job and the one before it, where both could be in one bag (2010: BIA)."""
    return store.sample("before", neighbours(store, definition))


def neighbours(store: Store, definition: Definition) -> str:
    """
    Return the name of a table of jobs with the seconds to the ones *before* and *after* that are alike.

    Jobs that are alike share a number (``alike``): to sort and compare names would take thrice as long.
    """
    key = _telling(store, definition)
    keys, known = ", ".join(key), f"{key[0]} is not null"
    same = " and ".join(f"counted.{name} is not distinct from kind.{name}" for name in key)
    before, after = "submit_time - lag(submit_time) over w", "lead(submit_time) over w - submit_time"
    counts, within = f"submit_time is not null and {definition.where}", "partition by alike "
    if definition.contiguous:
        before = f"case when alike = lag(alike) over w then {before} end"
        after = f"case when alike = lead(alike) over w then {after} end"
        within = ""
    else:
        counts += f" and {known}"
    counted = f"(select job_id, submit_time, run_time, {keys} from jobs where {counts}) as counted"
    # The number is negative where nobody is known: such jobs come between others, and then go.
    number = f"row_number() over (order by {keys})"
    return store.keep(
        _near_name(store, definition),
        f"""
        with kind as (
            select *, cast(case when {known} then {number} else -{number} end as integer) as alike
            from (select distinct {keys} from {counted}) as different
        ), timed as (
            select job_id, submit_time, run_time, alike, {before} as before, {after} as after
            from {counted} inner join kind on {same} window w as ({within}order by submit_time, job_id)
        )
        select * from timed where alike > 0
        """,
    )


def clustered(store: Store, definition: Definition) -> str:
    """Return the name of a table of the jobs that have others close to them, with the ``bag`` of each."""
    near = neighbours(store, definition)
    name = _close_name(definition)
    within = "" if definition.contiguous else "partition by alike "
    whole = f"""
    select job_id, submit_time, run_time, before,
    last_value(case when {_near("before", definition)} then null else job_id end ignore nulls) over (
        {within}order by submit_time, job_id rows between unbounded preceding and current row
    ) as bag from {near} where {_is_close(definition)}
    """
    if definition.span is None:
        return store.keep(name, whole)
    return store.keep(name, _cut(store, store.keep(f"{name}_whole", whole), definition.span))


def _telling(store: Store, definition: Definition) -> tuple[str, ...]:
    """
    Return the first part of the key if it says all: where each user is in one group, the group tells nothing.

    Two definitions may then share the neighbours of their jobs.
    """
    first, *others = definition.key
    if definition.contiguous or not others:
        return definition.key
    several = store.keep(
        f"several_{definition.name}",
        f"select {first} from (select distinct {', '.join(definition.key)} from jobs"
        f" where submit_time is not null and {first} is not null and {definition.where}) as kinds"
        f" group by {first} having count(*) > 1 limit 1",
    )
    return definition.key if store.rows(f"select * from {several}") else (first,)


def _near_name(store: Store, definition: Definition) -> str:
    """Return the name of the table of neighbours, the same for definitions that share it."""
    if definition.contiguous or definition.where != "true":
        return f"near_{definition.name}"
    return f"near_by_{'_'.join(_telling(store, definition))}"


def _close_name(definition: Definition) -> str:
    gap = "any" if definition.gap is None else f"{definition.gap:.0f}"
    return f"close_{definition.name}_{gap}"


def _near(seconds: str, definition: Definition) -> str:
    """Return the condition that a neighbour is there and so few *seconds* away that it shares the bag."""
    if definition.gap is None:
        return f"{seconds} is not null"
    return f"coalesce({seconds} {'<' if definition.below else '<='} {definition.gap!r}, false)"


def _is_close(definition: Definition) -> str:
    """Return the condition that a job has another one in its bag, unless the bag is cut between them."""
    return f"({_near('before', definition)} or {_near('after', definition)})"


def jobs_of(store: Store, definition: Definition) -> int:
    """Return how many jobs a definition is about, in bags or not."""
    return int(store.row(f"select count(*) as n from jobs where {definition.where}")[0])


def _cut(store: Store, whole: str, span: float) -> str:
    """
    Return the query for the bags of the table *whole*, cut where they last longer than *span* seconds.

    Each piece begins with the first submission that comes too late for the piece before it, which no
    window can express. So each moment of the long bags learns of the moment at which a piece that begins
    there would be followed by the next, and then which moments are reached from the first
    by 1, 2, 4, 8, … such steps: the rounds are few, and nothing leaves the engine.
    """
    moments, reached = f"{whole}_moments", f"{whole}_reached"
    _chain(store, whole, moments, span)
    _reach(store, moments, reached)
    return f"""
    with piece as (
        select bag, submit_time, last_value(case when r.place is not null then job_id end ignore nulls) over (
            partition by bag order by submit_time rows between unbounded preceding and current row
        ) as piece
        from {moments} as m left join {reached} as r on m.place = r.place
    )
    select w.job_id, w.submit_time, w.run_time, w.before, coalesce(piece.piece, w.bag) as bag
    from {whole} as w left join piece on w.bag = piece.bag and w.submit_time = piece.submit_time
    """


def _chain(store: Store, whole: str, moments: str, span: float) -> None:
    """Keep the distinct *moments* of long bags, their places in order, and the place that comes too late."""
    store.keep(
        moments,
        f"""
        with long as (
            select bag from {whole} group by bag having max(submit_time) - min(submit_time) > {span!r}
        ), moment as (
            select w.bag as bag, w.submit_time as submit_time, min(w.job_id) as job_id
            from {whole} as w inner join long on w.bag = long.bag group by w.bag, w.submit_time
        ), ranked as (
            select *, row_number() over (order by bag, submit_time) as place,
            row_number() over (partition by bag order by submit_time) as nth,
            count(*) over (partition by bag) as size,
            count(*) over (
                partition by bag order by submit_time range between unbounded preceding and {span!r} following
            ) as near
            from moment
        )
        select bag, submit_time, job_id, place, nth,
        case when near < size then place - nth + near + 1 end as later from ranked
        """,
    )


def _reach(store: Store, moments: str, reached: str) -> None:
    """Keep the places at which pieces begin, by steps that double in length."""
    step = store.keep(f"{moments}_step0", f"select place, later from {moments} where later is not null")
    found = store.keep(f"{moments}_found0", f"select place from {moments} where nth = 1")
    for turn in range(1, 64):
        if not store.row(f"select count(*) as n from {step}")[0]:
            break
        more = store.keep(
            f"{moments}_found{turn}",
            f"select place from {found} union all"
            f" select s.later as place from {found} as f inner join {step} as s on f.place = s.place",
        )
        longer = store.keep(
            f"{moments}_step{turn}",
            "select a.place as place, b.later as later"
            f" from {step} as a inner join {step} as b on a.later = b.place",
        )
        store.drop(step, found)
        step, found = longer, more
    store.keep(reached, f"select place from {found}")
    store.drop(step, found)
