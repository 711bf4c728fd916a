"""A yardstick for the machine: a regular expression finds the attributes of ClassAds, and stores nothing."""

import re
import sys
from pathlib import Path

ATTRIBUTE = re.compile(r"^(\w+) = (.*)$", re.MULTILINE)

print(len(ATTRIBUTE.findall(Path(sys.argv[1]).read_text(encoding="utf-8"))))
