"""The simulators that traces are exported to, one in each file, found by looking: `gwa.formats.export`."""
