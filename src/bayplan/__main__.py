"""The entry point, `bayplan` or `python -m bayplan`: it imports next to nothing, so that an early Ctrl-C is caught too."""

import os
import sys


def run() -> int:
    """Run the command line; the exit code."""
    try:
        from bayplan.cli import main

        return _end(main())
    except KeyboardInterrupt:
        print("bayplan: interrupted", file=sys.stderr)
        return 130


def _end(code: int) -> int:
    """End at once, without waiting for a solver that was interrupted and still runs."""
    import threading

    if any(thread.name == "HiGHS" for thread in threading.enumerate()):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    return code


if __name__ == "__main__":
    sys.exit(run())
