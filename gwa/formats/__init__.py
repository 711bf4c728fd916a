"""
Which formats of traces there are, and how a trace is opened, converted and appended to.

`registry` knows the formats, `open` recognises and reads, `convert` writes, `append` adds further logs to a
store.
"""
