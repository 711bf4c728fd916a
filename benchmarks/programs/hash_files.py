"""A floor: the hashes of all files in a folder."""

import sys
from hashlib import file_digest
from pathlib import Path

for path in sorted(Path(sys.argv[1]).rglob("*")):
    if path.is_file():
        with path.open("rb") as file:
            print(file_digest(file, "sha256").hexdigest())
