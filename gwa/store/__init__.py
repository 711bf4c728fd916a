"""
What a trace is: its fields, its system, its row counts, and the engines that answer queries on it.

`gwa.store.store.Store` holds one trace; `gwa.store.queries` is what analyses may ask of it.
"""
