"""Dimensions × measures: by whom, of what and how much, for facts, tables, figures and the cube."""
