"""
Bags of tasks: jobs that a user submits together, found by window functions in the engine.

Four definitions, because papers and their numbers differ; each gives a table of the jobs with the
number of the first job of their bag. A job of an unknown user or without a submit time is in no bag; the
former still separates other jobs where a bag is *contiguous*.
"""

from dataclasses import dataclass, replace
from typing import Final

from gwa.statistics.sample import Sample
from gwa.store.store import Store
from gwa.words.message import message

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
    title=message("same user, gaps below 120 s"),
    source="S. D. Anoep, thesis, section 3.2, as its text says",
    key=("user_id",),
    gap=120.0,
    below=True,
)
THESIS: Final = Definition(
    name="thesis",
    title=message("same user and group, gaps of at most 120 s, a whole of at most 1200 s"),
    source="S. D. Anoep, thesis, tables 4.9-4.18: what reproduces their numbers for LCG",
    key=("user_id", "group_id"),
    gap=120.0,
    span=1200.0,
)
MINH: Final = Definition(
    name="minh",
    title=message("alike in six attributes, next to each other in the trace, gaps of at most 100 s"),
    source="T. N. Minh and L. Wolters 2010, section IV; completed jobs only",
    key=("user_id", "group_id", "queue_id", "executable_id", "req_time", "req_n_procs"),
    gap=100.0,
    contiguous=True,
    where=COMPLETED,
)
ARRAYS: Final = Definition(
    name="arrays",
    title=message("one job array, as the log says"),
    source="the log's own array jobs: JobStructure BoT, JobStructureParams the array",
    key=("job_structure_params", "user_id"),
    gap=None,
    where="job_structure = 'BoT' and job_structure_params is not null",
)
RECORDED: Final = replace(ARRAYS, name="recorded", title="one bag, as the trace says", where="true")
"""The bags that a trace records; where those of one task are recorded, too, these as well."""

DEFINITIONS: Final = {definition.name: definition for definition in (TEXT, THESIS, MINH, ARRAYS)}


def that_apply(store: Store) -> Definition:
    """Return the definition of the bags of a trace: those that it records, else those of the thesis."""
    return RECORDED if store.has("job_structure_params") else THESIS


def bagged(store: Store, definition: Definition) -> str:
    """
    Return the source of jobs with ``bag``, the number of the first job of their bag.

    Further columns are ``submit_time``, ``run_time`` and ``before``, the seconds since the previous job that
    is alike. The tables underneath are made once and live as long as the store is open.
    """
    near, close = neighbours_table(store, definition), clustered_table(store, definition)
    columns = "job_id, submit_time, run_time, before"
    return (
        f"(select {columns}, job_id as bag from {near} where not {_is_close(definition)}"
        f" union all select {columns}, bag from {close}) as bagged"
    )


def bags(store: Store, definition: Definition) -> str:
    """Return the source of bags: ``bag``, when it begins (``start``), ``last``, and its ``size``."""
    near, close = neighbours_table(store, definition), clustered_table(store, definition)
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
    """Drop the tables of a definition, except those shared with that of the thesis."""
    near, close = _neighbours_name(store, definition), _clustered_name(definition)
    store.drop(close, f"{close}_whole", f"{close}_summed")
    if near != _neighbours_name(store, THESIS):
        store.drop(near)


def nearness(store: Store, definition: Definition) -> Sample:
    """
    Return, for each job that has one, the seconds to the nearest job that could be in one bag with it.

    The share of jobs for which that is at most (or below) a gap is the share of jobs in bags of two or
    more, for every gap at once; a limit of the span is left out.
    """
    nearest = "least(coalesce(before, after), coalesce(after, before))"
    return store.sample(nearest, neighbours_table(store, definition))


def gaps(store: Store, definition: Definition) -> Sample:
    """Return the seconds between a job and the one before it, where both could be in one bag (2010: BIA)."""
    return store.sample("before", neighbours_table(store, definition))


def bag_spans(store: Store, definition: Definition) -> Sample:
    """Return the seconds from the first to the last submission of bags of two or more (2010, figure 3)."""
    return store.sample(
        "last - start", f"(select * from {bags(store, definition)} where size >= 2) as several"
    )


def neighbours_table(store: Store, definition: Definition) -> str:
    """
    Return the name of a table of jobs with the seconds to the ones *before* and *after* that are alike.

    Jobs that are alike share a number (``alike``): sorting and comparing names takes three times as long.
    """
    key = _distinguishing_key(store, definition)
    keys, user_known = ", ".join(key), f"{key[0]} is not null"
    same = " and ".join(f"counted.{name} is not distinct from kind.{name}" for name in key)
    before, after = "submit_time - lag(submit_time) over w", "lead(submit_time) over w - submit_time"
    condition = f"submit_time is not null and {definition.where}"
    if definition.contiguous:
        before = f"case when alike = lag(alike) over w then {before} end"
        after = f"case when alike = lead(alike) over w then {after} end"
    else:
        condition += f" and {user_known}"
    counted = f"(select job_id, submit_time, run_time, {keys} from jobs where {condition}) as counted"
    rows = f"select job_id, submit_time, run_time, alike from {counted} inner join kind on {same}"
    source, window = f"({rows}) as joined", "partition by alike order by submit_time, job_id"
    if definition.contiguous:
        source, window = store.sorted_rows(rows, "submit_time, job_id")
    # The number is negative where the user is unknown: such jobs separate others, and are then removed.
    number = f"row_number() over (order by {keys})"
    return store.keep(
        _neighbours_name(store, definition),
        f"""
        with kind as (
            select *, cast(case when {user_known} then {number} else -{number} end as integer) as alike
            from (select distinct {keys} from {counted}) as different
        ), timed as (
            select job_id, submit_time, run_time, alike, {before} as before, {after} as after
            from {source} window w as ({window})
        )
        select * from timed where alike > 0
        """,
    )


def clustered_table(store: Store, definition: Definition) -> str:
    """Return the name of a table of the jobs that have others close to them, with the ``bag`` of each."""
    near = neighbours_table(store, definition)
    name = _clustered_name(definition)
    partition = "" if definition.contiguous else "partition by alike "
    whole = f"""
    select job_id, submit_time, run_time, before,
    last_value(case when {_is_near("before", definition)} then null else job_id end ignore nulls) over (
        {partition}order by submit_time, job_id rows between unbounded preceding and current row
    ) as bag from {near} where {_is_close(definition)}
    """
    if definition.span is None:
        return store.keep(name, whole)
    return store.keep(name, _cut_long_bags(store, store.keep(f"{name}_whole", whole), definition.span))


def _distinguishing_key(store: Store, definition: Definition) -> tuple[str, ...]:
    """
    Return the first part of the key if it determines the rest, as where each user is in one group.

    Two definitions may then share their table of neighbours.
    """
    first, *rest = definition.key
    if definition.contiguous or not rest:
        return definition.key
    several = store.keep(
        f"several_{definition.name}",
        f"select {first} from (select distinct {', '.join(definition.key)} from jobs"
        f" where submit_time is not null and {first} is not null and {definition.where}) as kinds"
        f" group by {first} having count(*) > 1 limit 1",
    )
    return definition.key if store.rows(f"select * from {several}") else (first,)


def _neighbours_name(store: Store, definition: Definition) -> str:
    """Return the name of the table of neighbours, the same for definitions that share it."""
    if definition.contiguous or definition.where != "true":
        return f"near_{definition.name}"
    return f"near_by_{'_'.join(_distinguishing_key(store, definition))}"


def _clustered_name(definition: Definition) -> str:
    gap = "any" if definition.gap is None else f"{definition.gap:.0f}"
    return f"close_{definition.name}_{gap}"


def _is_near(seconds: str, definition: Definition) -> str:
    """Return the condition that a neighbour exists, at most the gap of *seconds* away."""
    if definition.gap is None:
        return f"{seconds} is not null"
    return f"coalesce({seconds} {'<' if definition.below else '<='} {definition.gap!r}, false)"


def _is_close(definition: Definition) -> str:
    """Return the condition that a job shares its bag with another one, before long bags are cut."""
    return f"({_is_near('before', definition)} or {_is_near('after', definition)})"


def jobs_of(store: Store, definition: Definition) -> int:
    """Return how many jobs a definition is about, in bags or not."""
    return int(store.row(f"select count(*) as n from jobs where {definition.where}")[0])


def _cut_long_bags(store: Store, uncut: str, span: float) -> str:
    """
    Return the query for the bags of the table *uncut*, cut where they last longer than *span* seconds.

    Each piece begins with the first submission that comes too late for the previous piece, which no window
    can express. So `_keep_next_pieces` finds for each moment of a long bag where the piece after one that
    begins there would begin, and `_keep_piece_starts` which moments are reached from the first by 1, 2, 4,
    8, … such steps: the rounds are few, and nothing leaves the engine.
    """
    moments, reached = f"{uncut}_moments", f"{uncut}_reached"
    _keep_next_pieces(store, uncut, moments, span)
    _keep_piece_starts(store, moments, reached)
    return f"""
    with piece as (
        select bag, submit_time, last_value(case when r.place is not null then job_id end ignore nulls) over (
            partition by bag order by submit_time rows between unbounded preceding and current row
        ) as piece
        from {moments} as m left join {reached} as r on m.place = r.place
    )
    select w.job_id, w.submit_time, w.run_time, w.before, coalesce(piece.piece, w.bag) as bag
    from {uncut} as w left join piece on w.bag = piece.bag and w.submit_time = piece.submit_time
    """


def _keep_next_pieces(store: Store, whole: str, moments: str, span: float) -> None:
    """Keep the distinct *moments* of long bags, their places in order, and the first that is too late."""
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


def _keep_piece_starts(store: Store, moments: str, reached: str) -> None:
    """Keep the places at which pieces begin, found by steps that double in length."""
    step = store.keep(f"{moments}_step0", f"select place, later from {moments} where later is not null")
    places = store.keep(f"{moments}_reached0", f"select place from {moments} where nth = 1")
    for turn in range(1, 64):
        if not store.row(f"select count(*) as n from {step}")[0]:
            break
        further = store.keep(
            f"{moments}_reached{turn}",
            f"select place from {places} union all"
            f" select s.later as place from {places} as f inner join {step} as s on f.place = s.place",
        )
        longer = store.keep(
            f"{moments}_step{turn}",
            "select a.place as place, b.later as later"
            f" from {step} as a inner join {step} as b on a.later = b.place",
        )
        store.drop(step, places)
        step, places = longer, further
    store.keep(reached, f"select place from {places}")
    store.drop(step, places)
