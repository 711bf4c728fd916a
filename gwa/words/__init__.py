"""
The words of every room: messages that can be translated, units, and how numbers are written.

This room knows no trace and no page; `gwa.report.language` translates what it makes.
"""
