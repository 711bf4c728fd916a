"""The report on a trace: put together as data, then written as HTML, PDF or JSON."""
