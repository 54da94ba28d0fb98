"""`python -m experiments.gmrp.cpu_clock THREADS ARGUMENTS`: the command line with another clock, the CPU seconds of each thread.

On a machine that other work shares, a second of the wall says little about what a method was given.
"""

import sys
import time


def main(threads: int) -> int:
    """Run the command line on that clock; the exit code."""
    time.perf_counter = lambda: time.process_time() / threads
    from bayplan.cli.console import clock

    clock.process_seconds = time.perf_counter
    from bayplan.__main__ import run

    return run()


if __name__ == "__main__":
    number = int(sys.argv.pop(1))
    sys.argv[0] = "bayplan"
    sys.exit(main(number))
