"""The other systems that we compare with, in an environment of their own: they need an older pandas."""

import subprocess
import sys
from pathlib import Path
from typing import Final

PYTHON: Final = "3.11"
PACKAGES: Final = (
    "evalys==4.0.7", "pandas==2.1.4", "numpy==1.26.4", "scipy==1.17.1", "fitter==1.7.1", "distfit==2.0.3",
    "powerlaw==2.0.0", "accasim==1.1.3", "polars==2.1.0", "slurm2sql==0.9.9",
)  # fmt: skip
"""evalys asks for any pandas, but reads no log with one from 3.0 on."""


class Unavailable(Exception):  # noqa: N818 - it says what a peer is
    """The environment cannot be made; the message says why."""


def environment(folder: Path) -> Path:
    """Return the Python of the peers' environment in *folder*, made if need be."""
    home = folder / "peers"
    python, ready = home / "bin" / "python", home / "ready"
    wanted = " ".join((PYTHON, *PACKAGES))
    if not (ready.exists() and ready.read_text() == wanted):
        uv = Path(sys.executable).parent / "uv"
        if not uv.exists():
            raise Unavailable("uv is not in the environment of gwa")
        _do(uv, "venv", "--quiet", "--clear", "--python", PYTHON, home)
        _do(uv, "pip", "install", "--quiet", "--compile-bytecode", "--python", python, *PACKAGES)
        ready.write_text(wanted)
    return python


def _do(*command: str | Path) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        cause = [line for line in done.stderr.splitlines() if line.strip()]
        words = (cause[0] if cause else f"status {done.returncode}").split()
        raise Unavailable(" ".join(word for word in words if "/" not in word)[:80])
