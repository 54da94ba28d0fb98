"""Run a piece of Python in a fresh process and measure its wall time and peak memory."""

import json
import subprocess
import sys
from typing import NamedTuple

_PROBE = """
import json, resource, sys, time
{setup}
started = time.perf_counter()
{body}
seconds = time.perf_counter() - started
used = [resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
print(json.dumps([seconds, max(used) / 1024]))
"""


class Measured(NamedTuple):
    """What one run cost."""

    seconds: float
    peak_mb: float


def in_fresh_process(body: str, setup: str = "") -> Measured:
    """Seconds of `body` alone, and the peak memory of the process that ran `setup` and `body`, or of its child."""
    code = _PROBE.format(setup=setup, body=body)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return Measured(*json.loads(done.stdout.splitlines()[-1]))


def best_of(times: int, body: str, setup: str = "") -> Measured:
    """The fastest of several fresh processes: the machine's other work only ever adds."""
    return min(in_fresh_process(body, setup) for _ in range(times))
