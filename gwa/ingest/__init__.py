"""
The way from a log to jobs: bytes, rows, jobs, with every row counted.

`source` knows files and their lines, `readers` make tables of them, a converter's `spec` says what becomes a
job, and `pipeline` carries it out: stage, map, clean, count.
"""
