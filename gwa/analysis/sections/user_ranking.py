"""How the jobs are spread over the users by rank."""

from collections.abc import Iterator

from gwa.analysis.base import Chapter, analysis
from gwa.analysis.fit_blocks import REPLICATES, SEED, TESTED_VALUES
from gwa.metrics.papers.anoep2009_users import ranked_users
from gwa.report.document import Block, Fact, Facts, note_of
from gwa.report.facts import facts_of, number
from gwa.report.figures.cdf import cdf
from gwa.statistics.distribution import FitError
from gwa.statistics.goodness import ks
from gwa.store.store import Store
from gwa.words.formatting import fraction
from gwa.words.message import message


@analysis("User ranking", Chapter.MODELLERS, facts=("users", "fit.user_rank"), needs=("user_id",), order=7)
def user_ranking(store: Store) -> Iterator[Block]:
    """
    Users by number of jobs, the first having most, and the Zipf distributions that describe their shares.

    Two fits, because papers differ: that of greatest likelihood, and that of least squares on the shares
    (Anoep 2009, tables 4.19 and 4.20). The p is that of a parametric bootstrap of the likelier: how often
    users whose activity does follow Zipf's law are as far from it, in 1,000 jobs drawn at random (seed 2009).
    A small one speaks against the law.
    """
    try:
        ranking = ranked_users(store)
    except FitError as reason:
        yield note_of(
            "Users cannot be ranked: {reason}.", reason=message(reason.template, **reason.arguments)
        )
        return
    p_value = ranking.p_value(TESTED_VALUES, REPLICATES, SEED)
    ranks, likely, least_squares = ranking.ranks, ranking.likely, ranking.least_squares
    squares = number(least_squares.exponent)
    yield Facts(
        facts_of(
            "fit.user_rank.zipf",
            ("exponent", number(likely.exponent), "Zipf exponent, likelihood", ""),
            ("exponent_least_squares", squares, "Zipf exponent, least squares", ""),
            ("ranks", int(likely.ranks), "Users", "count"),
            ("ks", number(ks(ranks, likely)), "KS distance of the likelier", ""),
            ("p_value", p_value, "Its p, bootstrap", ""),
        )
    )
    # The thesis counts one less than have half of the jobs, which the section on inequality states.
    dominant = Fact("users.dominant", ranking.dominant, "Top users short of half of the jobs", "count")
    yield Facts((dominant,), listed=False)
    first = fraction(float(ranks.weights[0]))
    yield cdf(
        "user-ranking",
        "Share of jobs of the first users",
        {
            "jobs": ranks.ecdf(),
            "Zipf, likelihood": (ranks.values, likely.cdf(ranks.values)),
            "Zipf, least squares": (ranks.values, least_squares.cdf(ranks.values)),
        },
        "Rank of the user",
        message(
            "Cumulative share of jobs by rank of the user, with two Zipf fits: the first user has {first}.",
            first=first,
        ),
        unit="count",
    )
