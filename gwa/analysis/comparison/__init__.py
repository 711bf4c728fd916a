"""Traces beside each other: what differs most, the same facts, curves and users in columns."""
