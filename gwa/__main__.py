"""``gwa``, and ``python -m gwa``, which is the same: Ctrl-C ends it at once, also before it has begun."""

import gc
import os
import sys

if __name__ == "__main__":
    # Python would import from the current folder first. Only a gwa that stands there itself may.
    if not sys.flags.safe_path and __file__ != f"{sys.path[0]}{os.sep}gwa{os.sep}__main__.py":
        del sys.path[0]

from gwa.errors import INTERRUPTED

STDERR = 2


def main() -> None:
    """Run the command line; while that is imported, there is nothing to tidy up."""
    import signal

    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _stop)

    # A thread for each core would turn for a tenth of a second when numpy and scipy are imported, and the
    # last digits of sums of products would depend on the number of cores.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # New objects after which Python looks for cycles of them; with its own 700, a PDF takes 8 % longer.
    gc.set_threshold(50_000)
    from gwa.cli import main as run

    run()


def _stop(*_: object) -> None:
    os.write(STDERR, b"gwa: stopped\n")
    os._exit(INTERRUPTED)


if __name__ == "__main__":
    main()
