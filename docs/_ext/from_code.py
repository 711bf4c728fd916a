"""
Pages that are made from the code: ``{from-code} NAME`` in a page is replaced by the Markdown of `PAGES`.

The pages of formats are files, one for each format, written into docs/formats when the build begins; they are
not committed.
"""

import json
import re
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from pathlib import Path
from typing import Final, get_args

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

HOME: Final = Path(__file__).parent.parent.parent
SAMPLES: Final = HOME / "sample_traces"


def escaped(text: str) -> str:
    """Return *text* so that Markdown shows it as it is."""
    return re.sub(r"([\\`*_\[\]<>#|~$])", r"\\\1", text)


def code(text: str) -> str:
    """Return *text* as code in a line."""
    return f"`{text}`" if text else ""


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table; cells are Markdown already."""
    lines = [heads, ["---"] * len(heads), *rows]
    return (
        "\n".join(f"| {' | '.join(cell.replace(chr(10), ' ') for cell in line)} |" for line in lines) + "\n"
    )


# --- Formats ---


def write_formats(folder: Path) -> None:
    """Write a page for each format into *folder*, and remove those of formats that are gone."""
    from gwa.formats.registry import all_formats

    pages = {f"{one.name}.md": _format_page(one) for one in all_formats()}
    for path in folder.glob("*.md"):
        if path.name != "index.md" and path.name not in pages:
            path.unlink()
    for name, text in pages.items():
        path = folder / name
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


def _format_page(one: object) -> str:
    """Return the page of a format: how to export it, convert it, its options, and how it is read."""
    parts = [f"# {escaped(one.title)}\n", f"Format `{one.name}`, files called {_names(one)}.\n"]
    if one.export.strip():
        parts += ["## Export from your system\n", f"```bash\n{one.export.strip()}\n```\n"]
    parts += ["## Convert and report\n", f"```bash\n{_commands(one)}\n```\n"]
    parts += ["A file of this format is recognised by what is in it; `--format " + one.name + "` insists.\n"]
    if one.write:
        parts += ["gwa also writes this format: `gwa convert` chooses it by the suffix of its output.\n"]
    if one.options:
        parts += ["## Options\n", "Each is given as `-O KEY=VALUE`.\n"]
        parts += [table(("Option", "Values"), ((code(k), escaped(v)) for k, v in one.options.items()))]
    parts += ["## How it is read\n", *(_paragraph(text) for text in one.notes.strip().split("\n\n"))]
    return "\n".join(parts)


def _names(one: object) -> str:
    return ", ".join(map(code, one.names)) or "anything"


def _commands(one: object) -> str:
    folder = SAMPLES / one.name
    if not folder.is_dir():
        return "gwa convert YOUR_LOG -o log.duckdb\ngwa report log.duckdb --html"
    kept = {"expected.gwf", "README.md", "system.toml"}
    files = sorted(str(path.relative_to(HOME)) for path in folder.iterdir() if path.name not in kept)
    system = f" --system {folder.relative_to(HOME)}/system.toml" if (folder / "system.toml").exists() else ""
    return (
        f"gwa convert {' '.join(files)}{system} -o sample.gwf\ngwa report sample.gwf --html\n"
        "# and of your own log:\ngwa convert YOUR_LOG -o log.duckdb\ngwa report log.duckdb --html"
    )


def _paragraph(text: str) -> str:
    return escaped(" ".join(text.split())) + "\n"


def formats() -> str:
    """Return the table of formats, each a link to its page."""
    from gwa.formats.registry import all_formats

    rows = (
        (
            f"[{escaped(one.title)}]({one.name}.md)",
            code(one.name),
            _names(one),
            "and written" if one.write else "",
        )
        for one in all_formats()
    )
    return table(("Format", "Name", "Files", ""), rows)


def format_list() -> str:
    """Return the formats as a list for the first page, each a link to its own, with name and files."""
    from gwa.formats.registry import all_formats

    items = (
        f"- [{escaped(one.title)}](formats/{one.name}.md) {code(one.name)} {_names(one)}"
        for one in all_formats()
    )
    return "\n".join(items) + "\n"


# --- Facts ---


def facts() -> str:
    """Return the facts, section by section."""
    from gwa.analysis.base import analyses
    from gwa.requests.base import request_analyses

    kept = json.loads((HOME / "docs" / "facts.json").read_text())
    by_section = {name: list(rows) for name, rows in groupby(kept, key=lambda row: row["section"])}
    parts = []
    for one in (*analyses(), *request_analyses()):
        if rows := by_section.get(one.id):
            parts += [f"## {one.title}\n", *(_paragraph(text) for text in one.help.split("\n\n"))]
            parts += [table(("Fact", "What it is", "Unit"), map(_fact_row, rows))]
    return "\n".join(parts)


def _fact_row(row: dict[str, str]) -> tuple[str, str, str]:
    return code(row["id"]), escaped(row["what"]), row["unit"] or "none"


# --- Fields, models, measures, findings, policies ---


def fields() -> str:
    """Return the fields of a job."""
    from gwa.store.schema import FIELDS

    rows = (
        (str(number), code(one.name), escaped(one.title), one.unit or "none", escaped(one.meaning))
        for number, one in enumerate(FIELDS, 1)
    )
    return table(("", "Column", "In GWF text", "Unit", "Meaning"), rows)


def request_fields() -> str:
    """Return the fields of a request."""
    from gwa.store.requests import REQUEST_FIELDS

    rows = ((code(one.name), one.unit or "none", escaped(one.meaning)) for one in REQUEST_FIELDS)
    return table(("Column", "Unit", "Meaning"), rows)


def models() -> str:
    """Return the models with their parameters and papers, the presets, and the arrival processes."""
    from gwa.models.arrival_process import processes
    from gwa.models.base import models as all_models
    from gwa.models.base import presets

    parts = []
    for one in all_models().values():
        parts += [f"## {escaped(one.title)}\n", f"`{one.name}`. {escaped(one.about())}\n"]
        parts += [f"Source: {escaped(one.source)}.\n"]
        rows = ((code(name), escaped(meaning)) for name, meaning in one.meanings().items())
        parts += [table(("Parameter", "Meaning"), rows)]
    parts += [
        "## Presets\n",
        "Models with the parameters that papers print, or that were fitted to public logs.\n",
    ]
    rows = (
        (code(one.name), code(one.model.name), escaped(one.title), escaped(one.source))
        for one in presets().values()
    )
    parts += [table(("Preset", "Model", "Title", "Source"), rows)]
    parts += ["## Arrival processes\n", "Each can take the place of a model's own, with `--arrivals`.\n"]
    rows = ((code(one.name), escaped(one.title), escaped(one.about())) for one in processes().values())
    return "\n".join([*parts, table(("Process", "Title", "What it does"), rows)])


def measures() -> str:
    """Return the measures of a scorecard."""
    from gwa.evaluation.measure import measures as all_measures

    parts = []
    for aspect, group in groupby(all_measures(), key=lambda one: one.aspect):
        parts += [f"## {aspect.value}\n"]
        rows = ((code(one.id), escaped(one.title), one.distance.name, _inline(one.help)) for one in group)
        parts += [table(("Measure", "Title", "Distance", "Definition"), rows)]
    return "\n".join(parts)


def queues() -> str:
    """Return the numbers of the comparison of queues."""
    from gwa.evaluation.queues.numbers import AS_IT_IS, OVER_EASY, REPLAYED, Scale
    from gwa.evaluation.queues.replay import POLICIES

    rows = {name.format("<policy>"): one for name, one in {**AS_IT_IS, **REPLAYED}.items()}
    rows["policies.<policy>_over_easy"] = Scale.RATIO, OVER_EASY
    names = ", ".join(code(name) for name in POLICIES)
    about = f"`<policy>` is one of {names}, or that of `--policy`; `sjf` is SJF backfilling.\n"
    cells = [
        (code(name), scale.value, _inline(text.format("a policy"))) for name, (scale, text) in rows.items()
    ]
    return "\n".join([about, table(("Number", "Compared by", "Definition"), cells)])


def findings() -> str:
    """Return the rules of findings."""
    from gwa.analysis.finding import rules
    from gwa.analysis.spans import spans_of

    rows = (
        (
            code(rule.id),
            _inline(rule.help),
            "; ".join(span.what for span in spans_of(rule.needs)),
            ", ".join(map(code, rule.needs)),
            _inline(rule.advice),
        )
        for rule in rules()
    )
    return table(("Finding", "Rule", "Of", "Facts that it needs", "Advice"), rows)


def spans() -> str:
    """Return of which jobs and time facts are, by the families that sentences are made of."""
    from gwa.analysis.spans import ANSWERS, SPANS

    spans = dict.fromkeys(SPANS.values())
    rows = (
        (
            span.what,
            span.otherwise,
            ", ".join(code(name) for name, own in ANSWERS.items() if span in own),
            ", ".join(code(name) for name, own in SPANS.items() if own == span),
        )
        for span in spans
    )
    return table(("Of", "Where that is not all known", "Answers", "Facts"), rows)


def predictors() -> str:
    """Return the methods that bound waits."""
    from gwa.evaluation.prediction import predictors as all_predictors

    rows = ((code(one.id), escaped(one.title), _inline(one.help)) for one in all_predictors().values())
    return table(("Method", "Title", "Classes of jobs"), rows)


def changes() -> str:
    """Return the changes of `gwa whatif`."""
    from gwa.evaluation.whatif.change import kinds

    rows = ((code(f"--{one.id}"), code(one.values), _inline(one.help)) for one in kinds().values())
    return table(("Option", "Example", "What it changes"), rows)


def policies() -> str:
    """Return the policies of the simulator."""
    from gwa.simulation.architectures import ARCHITECTURES
    from gwa.simulation.backfilling import POLICIES
    from gwa.simulation.scheduling import SCHEDULERS
    from gwa.simulation.selection import SELECTIONS

    parts = []
    for title, named in (
        ("Parallel jobs", POLICIES),
        ("Tasks: scheduling", SCHEDULERS),
        ("Tasks: selection", SELECTIONS),
        ("Tasks: architectures", ARCHITECTURES),
    ):
        rows = ((code(name), escaped(meaning)) for name, meaning in named.items())
        parts += [f"## {title}\n", table(("Name", "What it does"), rows)]
    return "\n".join(parts)


def public_traces() -> str:
    """Return the traces that `gwa fetch` knows: by what they suit, and by collection, with their sources."""
    from gwa.archive.overview import PURPOSES, lines
    from gwa.archive.public_traces import public_traces as known

    traces = list(known().values())
    rows = lines((), traces)
    parts = [
        f"**{purpose.title}** ({purpose.about}): "
        + ", ".join(code(line.id) for line in rows if name in line.purposes)
        + "\n"
        for name, purpose in PURPOSES.items()
    ]
    heads = ("Trace", "Years", "Jobs", "Processors", "Records", "Licence", "DOI of the data", "Get it")
    for collection, members in groupby(sorted(traces, key=_collection), lambda trace: trace.collection):
        parts += [f"## {collection}\n", table(heads, map(_public_row, members))]
    return "\n".join(parts)


def _collection(trace: object) -> int:
    from gwa.archive.public_traces import Collection

    return get_args(Collection).index(trace.collection)


def _public_row(trace: object) -> Sequence[str]:
    from gwa.archive.public_traces import PublicFacts

    facts, read_at = trace.facts or PublicFacts(source=()), trace.read_at
    links = _links(facts.source)
    counted = f"{facts.requests:,} requests" if facts.requests else _known(trace.known_jobs)
    return (
        f"{code(trace.key)} [{escaped(trace.title)}]({trace.page})",
        trace.years,
        f"{counted}{links if facts.requests or trace.known_jobs else ''}",
        f"{_known(facts.processors)}{links if facts.processors else ''}",
        ", ".join(facts.records) or "unknown",
        f"{escaped(trace.licence)}{_links(read_at.licence)}",
        f"{escaped(trace.doi or 'unknown')}{_links(read_at.doi)}",
        code(trace.command) or escaped(f"by hand: {trace.note}"),
    )


def _known(number: int | None) -> str:
    return "unknown" if number is None else f"{number:,}"


def _links(sources: Sequence[str]) -> str:
    """Return a link to each source that has an address."""
    found = [source.split(" ")[0] for source in sources if source.startswith("http")]
    return "".join(f" [[{number}]]({url})" for number, url in enumerate(found, start=1))


def _inline(text: str) -> str:
    return escaped(" ".join(text.split()))


PAGES: Final[dict[str, Callable[[], str]]] = {
    one.__name__: one
    for one in (
        formats,
        format_list,
        facts,
        fields,
        request_fields,
        models,
        measures,
        queues,
        findings,
        spans,
        predictors,
        changes,
        policies,
        public_traces,
    )
}


class FromCode(SphinxDirective):
    """The directive: its argument is the name of one of `PAGES`."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return what the Markdown of the page becomes."""
        return self.parse_text_to_nodes(PAGES[self.arguments[0]](), allow_section_headings=True)


def _escape_help(_: object, __: object, lines: list[str]) -> None:
    """Escape what reStructuredText would take for markup in the help of a command, which is plain text."""
    lines[:] = [re.sub(r"([*`\\]|_(?=\W|$))", r"\\\1", line) for line in lines]


def _begin(app: Sphinx) -> None:
    write_formats(Path(app.srcdir) / "formats")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive, and what is done when a build begins."""
    app.add_directive("from-code", FromCode)
    app.connect("builder-inited", _begin)
    app.setup_extension("sphinx_click")
    app.connect("sphinx-click-process-description", _escape_help)
    return {"parallel_read_safe": True}
