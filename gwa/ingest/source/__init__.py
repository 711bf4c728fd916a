"""Files as sources: compressed or not, their first lines, their lines, their parts."""
