"""
Readers: from the bytes of a source to a table ``source`` that a converter's SELECT maps to jobs.

A reader streams: memory does not grow with the file. It counts every line: what became a row,
what was a comment, and what was refused, with file, line, reason and text.
"""
