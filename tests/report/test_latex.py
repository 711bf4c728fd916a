"""The report as LaTeX: whole, without a command from a log, and it compiles where a LaTeX exists."""

import re
import shutil
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gwa.errors import OutputError
from gwa.report.latex import escaped, file_name, latex
from gwa.report.output import outputs, write
from tests.made_report import make_report

COMPILERS = list(filter(shutil.which, ("lualatex", "pdflatex", "xelatex")))
ALONE = re.compile(r"(?<!\\)[{}$&#%_^~]")


@pytest.fixture(scope="module")
def files():
    return latex(make_report())


@given(st.text())
def test_no_text_is_a_command(text):
    """What is left of an escaped text without our own commands holds no letter that LaTeX acts upon."""
    said = escaped(text)
    ours = re.sub(r"\\ensuremath\{(?:-|\\\w+)\}|\\textsuperscript\{[-0-9]\}", "", said)
    ours = re.sub(r"\\[{}$&#%_]|\\(?:text\w+|ldots|allowbreak)\{\}|\{-\}", "", ours)
    assert "\\" not in ours
    assert not ALONE.search(ours)


def test_every_section_and_every_figure_is_a_file(files):
    report = make_report()
    assert {f"sections/{section.id}.tex" for section in report.sections} <= set(files)
    for section in report.sections:
        drawn = [block.id for block in section.blocks if block.kind == "figure"]
        taken_in = re.findall(r"\\includegraphics\[.*?\]\{(.*?)\}", files[f"sections/{section.id}.tex"])
        assert len(taken_in) == len(drawn)
        for name, figure in zip(taken_in, drawn, strict=True):
            assert name == f"figures/{file_name(section.id, figure)}.pdf"
            assert files[name].startswith(b"%PDF")
    assert sum(name.endswith(".pdf") for name in files) == len(report.figures())


def test_the_same_report_gives_the_same_files(files):
    assert latex(make_report()) == files


def compiled(compiler, document, folder):
    """Return the status of a compiler and what it printed."""
    done = subprocess.run(
        [compiler, "-interaction=nonstopmode", "-halt-on-error", document],
        cwd=folder, capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout


def lacking(compiler, text, folder):
    """
    Return why a document with the class and the packages of *text* does not compile here, "" where one does.

    A distribution of TeX comes in parts: there may be a compiler, and not what a document uses, nor what that
    uses in turn, such as fonts.
    """
    for pdftex, others in re.findall(r"^\\ifPDFTeX$(.*?)^\\else$(.*?)^\\fi$", text, re.DOTALL | re.MULTILINE):
        text = text.replace(others if compiler == "pdflatex" else pdftex, "")
    uses = re.findall(r"\\(documentclass|usepackage)(\[.*?\])?\{(.*?)\}", text)
    files = [
        f"{name}.{'cls' if kind == 'documentclass' else 'sty'}"
        for kind, _, names in uses
        for name in names.split(",")
    ]
    finder = shutil.which("kpsewhich")
    missing = [
        file
        for file in files
        if not finder or subprocess.run([finder, file], capture_output=True, check=False).returncode
    ]
    if missing:
        return f"{compiler} lacks {', '.join(missing)}"
    lines = [f"\\{kind}{options}{{{names}}}" for kind, options, names in uses]
    (folder / "small.tex").write_text(
        "\n".join([*lines, r"\begin{document}\textbf{x} $x$\end{document}", ""])
    )
    status, said = compiled(compiler, "small.tex", folder)
    return status and f"{compiler} compiles no small document: {' '.join(said[-300:].split())}"


def able(text, folder):
    """Return a compiler of a document that uses what *text* does; skip the test where there is none."""
    troubles = {compiler: lacking(compiler, text, folder) for compiler in COMPILERS}
    found = [compiler for compiler in COMPILERS if not troubles[compiler]]
    if not found:
        pytest.skip("; ".join(troubles.values()) or "there is no LaTeX on this machine")
    return found[0]


def test_it_compiles(tmp_path):
    (folder,) = write(make_report(), tmp_path, "made", ["latex"])
    text = (folder / "report.tex").read_text() + (folder / "preamble.tex").read_text()
    status, said = compiled(able(text, tmp_path), "report.tex", folder)
    assert not status, said[-2000:]


def test_a_paper_takes_in_one_section(tmp_path):
    """It does so by what the preamble says: the preamble, the folder of figures, the section."""
    (folder,) = write(make_report(), tmp_path, "report", ["latex"])
    preamble = (folder / "preamble.tex").read_text()
    (section,) = (each for each in make_report().sections if each.id == "utilization")
    steps = re.findall(r"^%   (\\\S+)", preamble, re.MULTILINE)
    assert len(steps) == 3
    paper = [
        r"\documentclass{article}", *steps[:2], r"\begin{document}",
        steps[2].replace("waits", section.id), r"\end{document}", "",
    ]  # fmt: skip
    (tmp_path / "paper.tex").write_text("\n".join(paper))
    status, said = compiled(able(paper[0] + "\n" + preamble, tmp_path), "paper.tex", tmp_path)
    assert not status, said[-2000:]


def test_a_theme_replaces_a_template(tmp_path):
    (tmp_path / "latex").mkdir()
    (tmp_path / "latex" / "section.tex").write_text("<< section.title >>!")
    made = latex(make_report(), overrides=tmp_path)
    assert all(str(text).endswith("!") for name, text in made.items() if name.startswith("sections/"))


@pytest.mark.parametrize("kind", list(outputs()))
def test_every_output_appears_where_it_is_told_to(kind, tmp_path):
    (path,) = write(make_report(), tmp_path / "new", "made", [kind])
    assert path.exists()
    assert not list(path.parent.glob(".*"))


def test_a_file_in_the_place_of_the_folder_stays(tmp_path):
    (tmp_path / "made-latex").write_text("mine")
    with pytest.raises(OutputError, match="cannot be written"):
        write(make_report(), tmp_path, "made", ["latex"])
    assert (tmp_path / "made-latex").read_text() == "mine"
