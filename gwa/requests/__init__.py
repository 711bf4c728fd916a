"""Traces of requests to language models: their report, a model of them, and how near a model comes."""
