"""Write a report in the kinds of outputs that there are."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from gwa.errors import OutputError
from gwa.util import plugins

if TYPE_CHECKING:  # the command line lists the outputs in its help
    from gwa.report.document import Report
    from gwa.report.language import Language

Rendered: TypeAlias = str | bytes | Mapping[str, str | bytes]


@dataclass(frozen=True)
class Edition:
    """
    A *report* in its *language*: what all kinds of outputs share.

    The templates in the folder *theme* take the place of ours.
    """

    report: "Report"
    theme: Path | None
    language: "Language"

    @cached_property
    def drawings(self) -> Mapping[str, str]:
        """The figures by id, as SVG; they are drawn once, however many outputs show them."""
        from gwa.report.drawing import draw_all, to_draw

        return draw_all(to_draw(self.report), self.language)


@dataclass(frozen=True)
class Output:
    """A kind of output: its *name*, a line of *help*, and what makes it of an edition of a report."""

    name: str
    help: str
    render: Callable[[Edition], Rendered]


def outputs() -> dict[str, Output]:
    """
    Return all kinds of outputs by name.

    >>> list(outputs())
    ['html', 'json', 'latex', 'pdf']
    """
    modules = plugins.modules("gwa.report.outputs")
    named = {module.__name__.rpartition(".")[2]: module for module in modules}
    return {name: Output(name, module.HELP, module.render) for name, module in named.items()}


def write(
    report: "Report",
    folder: Path,
    name: str,
    kinds: Sequence[str],
    *,
    theme: Path | None = None,
    language: "Language | None" = None,
) -> list[Path]:
    """
    Write *report* into *folder* as each of *kinds* and return the paths.

    Templates and style sheets in the folder *theme* take the place of ours. Without a *language* the report
    is English.
    """
    from gwa.report.language import Language, translated
    from gwa.util.atomic import make_folder, write_folder, write_whole

    if unknown := set(kinds) - outputs().keys():
        raise OutputError(f"there is no output '{min(unknown)}', expected one of {', '.join(outputs())}")
    make_folder(folder)
    chosen = language or Language()
    edition, written = Edition(translated(report, chosen), theme, chosen), []
    for kind in kinds:
        content = outputs()[kind].render(edition)
        if isinstance(content, Mapping):
            written.append(folder / f"{name}-{kind}")
            write_folder(written[-1], content)
        else:
            written.append(folder / f"{name}.{kind}")
            write_whole(written[-1], content)
    return written


def write_in(
    report: "Report", folder: Path, name: str, kinds: Sequence[str], theme: Path | None, code: str
) -> list[Path]:
    """Write *report* as `write` does, in the language that a *code* names."""
    from gwa.report.language import read_language

    return write(report, folder, name, kinds, theme=theme, language=read_language(code, theme))


def write_strings(path: Path) -> None:
    """Write the template of all texts of a report to *path*, for a translator."""
    from gwa.report.language import template
    from gwa.util.atomic import write_folder

    write_folder(path.parent, {path.name: template()})
