"""
Experiments: a TOML file states what to simulate, run by run, and the results are a table and a page.

`spec` reads the file, `plan` lists its runs, `workloads` makes what they schedule, `run` does one of them,
`runner` all of them over processes, `results` sums them up, and `page` is the report.
"""
