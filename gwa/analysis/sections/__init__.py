"""
The sections of the report: one file for each, found by looking.

To add one, write a file like ``waits.py`` here: a generator of blocks under `gwa.analysis.base.analysis`. Its
docstring is printed under the section's title, *needs* names the fields without which it has nothing to say,
and the shared test `tests/analysis/test_every_analysis.py` checks it unasked.
"""
