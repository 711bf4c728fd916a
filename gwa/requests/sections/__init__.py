"""The sections of the report on a trace of requests: one file for each, found by looking."""
