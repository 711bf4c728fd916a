"""
What requests to language models used in a month, by user, rate and model: whole numbers of tokens.

A request is of the month in which it was submitted. Of its prompt, the tokens that a cache held are counted
apart where its rate has a price of these. The user stands where the project of a job does.
"""

from gwa.breakdown.charge.charges import SERVICES, SHOWN, BillingPeriod, ChargedUsage, Month, Uncharged
from gwa.breakdown.charge.rates import PRICES, Rates
from gwa.errors import TraceError
from gwa.store.store import Store

CHARGED = """(
    with placed as (
        select *, {place} as place from (
            select request_id, nullif(user_id, '') as project_id, nullif(model, '') as model,
                nullif(service, '') as service, tokens_in, tokens_out, tokens_cached
            from requests where submit_time >= {first!r} and submit_time < {last!r}
        ) as submitted
    ), counted as (
        select *, case when {has_cached} then tokens_cached else 0 end as cached from placed
    )
    select request_id, project_id as project, model, service, place,
        tokens_in - cached as million_in, cached as million_cached, tokens_out as million_out,
        case
            when place is null then 'rate'
            when tokens_in is null then 'million_in'
            when coalesce(cached > tokens_in, true) then 'million_cached'
            when tokens_out is null then 'million_out'
            else 'charged'
        end as state
    from counted
) as charged"""

SUMS = """
select project, place, model, count(*), {sums} from {charged} where state = 'charged'
group by project, place, model order by project, place, model
"""

UNCHARGED = """
select project, state, count(*), list_sort(list(request_id))[:{shown}] from {charged} where state <> 'charged'
group by project, state order by project, state
"""

WITHOUT_RATE = """
select model, service, count(*) as requests from {charged} where state = 'rate'
group by model, service order by requests desc, model, service
"""


def month(store: Store, rates: Rates, part: BillingPeriod) -> Month:
    """
    Return what the requests of *store* used in a *part* of the time.

    Raise `TraceError` if there are requests that no rate fits.
    """
    charged, keys = _charged(rates, part), PRICES["tokens"]
    if kinds := store.rows(WITHOUT_RATE.format(charged=charged)):
        raise _without_rate(kinds)
    sums = ", ".join(f"sum({key})" for key in keys)
    usage = [
        ChargedUsage(project, place, requests, 0, dict(zip(keys, map(int, amounts), strict=True)), model)
        for project, place, model, requests, *amounts in store.rows(SUMS.format(sums=sums, charged=charged))
    ]
    return Month(part, usage, not store.rows(UNCHARGED.format(charged=charged, shown=SHOWN)))


def uncharged(store: Store, rates: Rates, part: BillingPeriod) -> list[Uncharged]:
    """Return the requests of a *part* of the time of which is not known how many tokens they had."""
    found = store.rows(UNCHARGED.format(charged=_charged(rates, part), shown=SHOWN))
    return [
        Uncharged(project, SERVICES[state].lacking, requests, tuple(map(str, ids)))
        for project, state, requests, ids in found
    ]


def _charged(rates: Rates, part: BillingPeriod) -> str:
    """Return the source of the requests of a *part* of the time, each with its state."""
    cached = [str(place) for place, rate in enumerate(rates.rates) if rate.million_cached is not None]
    return CHARGED.format(
        place=rates.place(),
        first=float(part.first),
        last=float(part.last),
        has_cached=f"place in ({', '.join(cached)})" if cached else "false",
    )


def _without_rate(kinds: list[tuple[str | None, str | None, int]]) -> TraceError:
    """Return the error that requests have no rate: how many, and which rates to add."""
    requests = sum(kind[2] for kind in kinds)
    shown = "; ".join(_kind(*kind) for kind in kinds[:SHOWN])
    more = f"; and {len(kinds) - SHOWN:,} more kinds" if len(kinds) > SHOWN else ""
    return TraceError(
        f"{requests:,} request{'s have' if requests > 1 else ' has'} no rate, expected one for each;"
        f" add to the file of rates: {shown}{more}"
    )


def _kind(model: str | None, service: str | None, requests: int) -> str:
    """Return what is to be added for requests of a kind."""
    names = {"models": model, "services": service}
    conditions = ", ".join(f"{key} = [{name!r}]" for key, name in names.items() if name)
    return f"[[rates]] for {conditions or 'requests without a model'} ({requests:,})"
