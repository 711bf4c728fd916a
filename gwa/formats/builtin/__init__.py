"""
The formats that gwa writes, one module each; modules are discovered.

A module defines ``FORMAT``, a `gwa.formats.base.Format`. All other formats are read by definitions in
``converters/``; if such a format is written, too, a module defines ``WRITER``: the name of the
definition, and the function that writes.
"""
