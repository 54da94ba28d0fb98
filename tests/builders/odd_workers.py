"""Calls for worker processes that do what no job does."""

import signal
import time
from multiprocessing.connection import Connection


def stubborn(pipe: Connection) -> None:
    """Say that it runs, then go on whatever it is asked."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    pipe.send(("progress", {"stage": "ignoring", "done": 0.0, "score": None, "seconds": 0.0}))
    time.sleep(600)


def silent_end(pipe: Connection) -> None:
    """End without a word."""
    pipe.close()
