"""
The formats that gwa itself writes, one module each, found by looking.

A module defines ``FORMAT``, a `gwa.formats.base.Format`. All other formats are read by definitions in
``converters/``; for those of them that are written, too, a module defines ``WRITER``: the name of the
definition, and the function that writes.
"""
