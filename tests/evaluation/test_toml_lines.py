"""Statements of a TOML file are found on the lines on which they begin."""

import re

from hypothesis import given
from hypothesis import strategies as st

from gwa.evaluation.experiments.toml_lines import Located


@given(
    st.lists(
        st.sampled_from(
            ["", "# note", "list = [\n  1,\n\n  2,\n]", 'text = """\nnext = 1\n[no]\n"""', "plain = 1"]
        ),
        max_size=8,
    ),
    st.lists(st.sampled_from(["", "# [[table]]"]), max_size=3),
)
def test_lines_are_those_on_which_a_statement_begins(tmp_path_factory, statements, gaps):
    """The reference is how the text is put together."""
    text, wanted, line = "", {}, 1
    for number, statement in enumerate([*statements, *gaps, "[[table]]", *gaps, "last = 1"]):
        written = re.sub(r"^(\w+) =", rf"\1_{number} =", statement)
        if match := re.match(r"\w+", written):
            wanted[("table[0]." if "table[0]" in wanted else "") + match[0]] = line
        if statement == "[[table]]":
            wanted["table[0]"] = line
        text += written + "\n"
        line += written.count("\n") + 1
    path = tmp_path_factory.mktemp("located") / "some.toml"
    path.write_text(text)
    file = Located.read(path)

    assert {name: file.line(f"{name}: is wrong") for name in wanted} == wanted
