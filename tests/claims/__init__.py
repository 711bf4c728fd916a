"""Worlds in which what gwa claims is true, and worlds in which it is false."""
