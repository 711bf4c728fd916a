"""Replace the names in a trace, and say how many users it gives away."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from gwa.cli._commands import Purpose
from gwa.cli._options import JSON, TRACE, Range, flag, options, pseudonyms, shown, takes, writes
from gwa.cli._output import FORCE, claimed, tell, tell_replaced
from gwa.cli._reading import opened, reading
from gwa.cli._terminal import echo, table

if TYPE_CHECKING:
    from gwa.store.store import Store
    from gwa.store.uniqueness import Coarsening, Hiding

PURPOSE = Purpose.PUBLISH

COLUMNS: Final = ("known", "classes", "users", "unique", "unique by all", "k", "jobs below")
MINIMUM_K: Final = 2
PERCENT: Final = 100


@click.command(name="anonymize")
@TRACE
@writes("-o --output out", "OUT", "Output file.")
@FORCE
@flag("--report", "Print how many users are unique, and by what.")
@takes("--k", "K", "Make the trace coarser until each class has K users.", type=click.IntRange(min=MINIMUM_K))
@shown(
    "--leave-out",
    Range(0, PERCENT),
    5.0,
    "Percentage of jobs that may be left out for --k.",
    metavar="PERCENT",
)
@pseudonyms
@JSON
@options
def command(  # noqa: PLR0917 - click passes every option by its name
    trace: Path, out: Path | None, report: bool, k: int | None, leave_out: float, key: Path | None,
    keep: frozenset[str], as_json: bool, force: bool, **params: Any,
) -> None:  # fmt: skip
    """
    Replace names with pseudonyms.

    Users, groups, executables, projects, hosts, sites and queues are replaced. Numbers, times and the time
    zone stay; comments, texts of the header and refused lines are left out. Names given to --keep stay:
    queues, qos, partitions, sites, platforms, vos, projects, groups or executables; those of them that hold
    the name of a user, or another that goes, are replaced and listed.

    The same key gives the same pseudonyms, so traces of two years join. Without --key it is kept
    in your configuration. Keep it secret, and out of what you publish.

    Pseudonyms do not hide how people work. A class is what others may know of a job: size, hour of
    submission, program. --report prints how many users have a class of their own, by each attribute and all
    together, and k, the users of the smallest class (Sweeney 2002). --k makes the trace coarser, step by
    step: times to hours, days, weeks, sizes to powers of two, no programs; jobs of classes that are still too
    small are left out and counted. Run times and other fields stay as they are.

    \b
    Examples:
      gwa sample -o sample.sacct
      gwa anonymize sample.sacct -o public.gwf --key my.key --keep queues
      gwa anonymize sample.sacct --report
      gwa anonymize sample.sacct -o coarse.gwf --key my.key --k 2 --leave-out 50
    """
    from gwa.formats.convert import convert_anonymized
    from gwa.store.anonymize import read_key
    from gwa.store.uniqueness import Hiding

    if out is None and not report:
        raise click.UsageError("expected an output file (-o), or --report")
    hiding = Hiding(k, leave_out / PERCENT, _tell_coarser if not params["quiet"] else id) if k else None
    if report:
        with opened(trace, params) as named:
            _report(named.store, hiding, as_json=as_json, quiet=params["quiet"])
    if out is None:
        return
    with claimed([out], force=force, but={"report", "as_json"}):
        account = convert_anonymized(
            [trace],
            out,
            read_key(key),
            keep=keep,
            name=params["name"],
            options=reading(params),
            hiding=hiding,
            tell=tell_replaced,
        )
    tell(out, account, quiet=params["quiet"])


def _report(store: "Store", hiding: "Hiding | None", *, as_json: bool, quiet: bool) -> None:
    """Print what each attribute gives away, and what coarser ones do; say what *hiding* would do."""
    from gwa.store.uniqueness import coarsening, exposures, not_looked_at, require_users, unicity
    from gwa.words.formatting import fraction

    require_users(store)
    k = hiding.k if hiding else MINIMUM_K
    found = list(exposures(store, k))
    rows = [
        (str(one), one.classes, one.users, one.unique, one.whole, one.smallest, one.jobs_below)
        for one in found
    ]
    table(COLUMNS, rows, as_json=as_json)
    if quiet:
        return
    whole = next(one for one in found if one.is_whole)
    echo(
        f"{whole.unique:,} of {whole.users:,} users are unique: they alone have jobs of some {whole};"
        f" k is {whole.smallest}",
        err=True,
    )
    shares = [f"{known}: {fraction(share)}" for known, share in unicity(store).items() if share is not None]
    if shares:
        echo(f"users singled out by so many of their jobs: {', '.join(shares)}", err=True)
    echo(
        f"jobs below are in classes of fewer than {k} users; not looked at: {not_looked_at(store)}", err=True
    )
    if hiding:
        _tell_coarser(coarsening(store, hiding.k, hiding.leave_out))


def _tell_coarser(made: "Coarsening") -> None:
    """Say on standard error what was made coarser, and what it costs."""
    for sentence in made.sentences():
        echo(sentence, err=True)
