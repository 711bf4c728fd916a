"""
The plots that a report may show, one kind in each file, found by looking.

A file holds a maker of the plot's name, such as `cdf`, which turns arrays into a
`gwa.report.document.Figure`: thinned, rounded and ready for JSON; and ``draw``, which draws such a figure
with matplotlib, for paper, for images and in Python. A page draws a figure itself, from its data, by the
script of the plot's name in ``templates/static/figures``. To add a kind of plot, write both files; one
without a script, such as one that an entry point adds, is drawn by ``draw`` for pages, too.
"""
