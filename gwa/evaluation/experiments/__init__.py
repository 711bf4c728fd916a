"""
Experiments: a TOML file specifies simulations, and the results are a table and a page.

`spec` reads the file, `plan` lists its runs, `workloads` generates their workloads, `run` simulates one run,
`runner` all runs in processes, `results` summarizes them, and `page` is the report.
"""
