"""The name and version of what is installed: they stand alone, so that every room can import them."""

DISTRIBUTION = "gridworkloads"
"""The name of gwa on package indexes, where `gwa` is a program of others."""

__version__ = "0.1.0"
