"""The kinds of changes, one in each file, found by looking; see `gwa.evaluation.whatif.change`."""
