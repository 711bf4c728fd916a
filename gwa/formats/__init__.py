"""
The formats of traces, and how a trace is opened, converted and appended to.

`registry` lists the formats, `open` recognises and reads them, `convert` writes a trace in another format,
and `append` adds further logs to a store.
"""
