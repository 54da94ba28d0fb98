"""The one place where HiGHS runs: in which thread of this process, with how many threads of its own, and until when.

HiGHS keeps one scheduler per calling thread. The first run in a thread says how many threads the scheduler has, and a later run
there that wants another number fails. Here a thread never has two numbers: a run with one thread is made in the thread that
calls, any other in a new thread, whose scheduler ends with it. So runs with any numbers may follow each other or overlap, and one
that is not waited for any more shares nothing with those after it.
"""

import atexit
import time
from threading import Thread

import highspy

from bayplan.errors import WorldError
from bayplan.model.interrupt import StopFlag, listening

POLL = 0.05  # seconds between two looks at whether a stop is asked for
THREAD = "HiGHS"  # the name of threads that solve


def run(solver: highspy.Highs, *, threads: int) -> None:
    """Run a solver to the end with this many threads."""
    _set_threads(solver, threads)
    if threads == 1 and solver.run() != highspy.HighsStatus.kError:
        return
    _waited(_started(solver))  # a program that calls us may have run HiGHS in this thread with another number


def run_unless_stopped(solver: highspy.Highs, *, threads: int, patience: float | None = None) -> bool:
    """As `run`; False if Ctrl-C came, or that many seconds were over, before the end.

    HiGHS looks up to ten seconds neither at its clock nor at its interrupt callbacks, so where Ctrl-C is a request or patience is
    limited it runs in a thread of its own. One that is not waited for any more ends by its time limit.
    """
    stop = listening()
    if stop is None and patience is None:
        run(solver, threads=threads)
        return True
    if stop is not None and stop.requested:
        return False
    _set_threads(solver, threads)
    return _waited(_started(solver), stop, patience)


def _set_threads(solver: highspy.Highs, threads: int) -> None:
    if threads < 1 or solver.setOptionValue("threads", threads) == highspy.HighsStatus.kError:
        raise WorldError(f"HiGHS cannot run with {threads} threads")


def _started(solver: highspy.Highs) -> Thread:
    thread = Thread(target=solver.run, name=THREAD, daemon=True)
    thread.start()
    return thread


def _waited(thread: Thread, stop: StopFlag | None = None, patience: float | None = None) -> bool:
    """Wait for a run; False if a stop is requested, or patience ends, before it does.

    An interpreter that ends before the run would abort, so it waits (`atexit`); the command line has nothing to lose and ends at
    once.
    """
    end = float("inf") if patience is None else time.monotonic() + patience
    watched = stop is not None or patience is not None
    try:
        while thread.is_alive() and not (stop and stop.requested) and time.monotonic() < end:
            thread.join(POLL if watched else None)
    finally:
        ended = not thread.is_alive()
        if not ended:
            atexit.register(thread.join)
    return ended and not (stop and stop.requested)
