"""
What a report can be written as: one file for each kind of output, found by looking.

A module has a ``HELP`` line and a function ``render`` from an edition of a report (`gwa.report.output`) to
what is written: text, bytes, or the files of a folder by their names. Its name is the flag of the command
line and, where it writes one file, the suffix.
"""
