"""The archive: a catalogue of many traces, built into a static site."""
