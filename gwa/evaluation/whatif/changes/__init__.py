"""The kinds of changes, found by looking; see `gwa.evaluation.whatif.change`."""
