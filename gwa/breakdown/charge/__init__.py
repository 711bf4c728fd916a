"""Charges: what jobs held in the months of a period, at the rates of a file, as statements for projects."""
