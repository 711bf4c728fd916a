"""
The plots that a report may show, one kind in each file, found by looking.

A file holds a maker of the plot's name, such as `cdf`, which turns arrays into a
`gwa.report.document.Figure`: thinned, rounded and ready for JSON; and ``draw``, which draws such a figure
with matplotlib. To add a kind of plot, write a file with both.
"""
