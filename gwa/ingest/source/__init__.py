"""Source files: decompression, the first lines, blocks of lines, and files that are parts of one table."""
