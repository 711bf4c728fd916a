"""Write a small log that shows everything."""

from pathlib import Path
from shlex import quote
from typing import Final

import click

from gwa.cli._commands import Purpose
from gwa.cli._options import flag
from gwa.cli._output import claimed, output
from gwa.cli._terminal import echo

PURPOSE = Purpose.READ

KINDS: Final = ("slurm", "swf", "requests")
"""The kinds of log; the first is written unless the suffix of OUT says otherwise."""

COMPRESSED: Final = (".gz", ".zst")
STORES: Final = (".gwf", ".duckdb", ".parquet", ".sqlite")
"""Suffixes of what `gwa convert` writes."""


@click.command(name="sample")
@click.argument("kind", required=False, type=click.Choice(KINDS), metavar="[slurm|swf|requests]")
@output
@flag("-q --quiet", "Print nothing on standard error.")
def command(kind: str | None, out: Path, *, force: bool, quiet: bool) -> None:
    """
    Write a small log that shows everything, to try gwa with.

    The log is of an invented cluster with 512 processors and 32 GPUs: 64 weeks of three projects, with waits
    from a simulated queue, all outcomes, requests, memory, energy and the use of GPUs, a project that triples
    its work, an outage of a day, and ten days whose rows are missing. No system ran these jobs. The bytes are
    the same on every machine.

    'slurm' is what sacct prints, with jobstats' summaries in AdminComment, and beside it a description of the
    cluster, such as sample.toml; 'swf' is the same workload in the
    Standard Workload Format, which has no GPUs and no energy. Without either, the suffix of OUT decides: .swf
    is swf, any other is slurm. A further .gz or .zst compresses.

    'requests' is another sample, of requests to language models: three days of an invented service.

    \b
    Examples:
      gwa sample -o sample.sacct
      gwa sample swf -o sample.swf
      gwa sample -o sample.sacct.gz
      gwa sample requests -o sample.requests.csv
    """
    from gwa.formats.sample import write, write_system

    suffixes = [suffix for suffix in out.suffixes if suffix not in COMPRESSED]
    suffix = suffixes[-1] if suffixes else ""
    if suffix in STORES:
        raise click.UsageError(
            f"{out.name}: a sample is a log, expected a name such as sample.sacct or sample.swf;"
            f" then convert it: gwa convert sample.sacct -o {out.name}"
        )
    if kind == "slurm" and suffix == ".swf":
        raise click.UsageError(
            f"{out.name}: what sacct prints is no SWF, expected a name such as sample.sacct"
        )
    is_of_requests = suffixes[-2:] == [".requests", ".csv"]
    chosen = kind or ("swf" if suffix == ".swf" else "requests" if is_of_requests else "slurm")
    system = out.with_name(f"{out.name.partition('.')[0]}.toml")
    files = [out, system] if chosen == "slurm" else [out]
    with claimed(files, force=force):
        made = write(chosen, out)
        if system in files:
            write_system(system)
    what = "jobs of an invented cluster, 64 weeks"
    if chosen == "requests":
        what = "requests to language models of an invented service, three days"
    if not quiet:
        if system in files:
            echo(f"{system}: how large the cluster is, which gwa takes from beside the log", err=True)
        echo(f"{out}: {made:,} {what}\nnext: gwa report {quote(str(out))}", err=True)
