"""
Experiments: what a TOML file states is simulated run by run, and what came of it is a table and a page.

`experiment` reads the file, `plan` lists its runs, `workloads` makes what they schedule, `simulated` does
one run, `runner` all of them over processes, `results` sums them up, and `page` is the report.
"""
