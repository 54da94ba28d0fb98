"""Jobs in processes on this machine.

Processes come from a fork server: a fork of this very process would copy the threads of Numba, HiGHS and of progress bars in
whatever state they are in.
"""

import multiprocessing
import os
import pickle
import signal
from collections.abc import Callable, Iterator, MutableSequence, Sequence
from concurrent.futures import FIRST_EXCEPTION, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing.process import BaseProcess

from bayplan.engine.local import InProcess, Job, T
from bayplan.errors import WorldError

_STATE: dict[str, MutableSequence[int]] = {}  # in a worker: "owner"


class ProcessPool:
    """As many processes as there are workers; each takes one job after the other.

    One worker or one job runs in this process, and so does everything in a process that may not have children.
    """

    def run(self, jobs: Sequence[Job[T]], *, workers: int) -> list[T]:
        """What each job returns. On an error or an interruption all processes end at once."""
        workers = min(workers, len(jobs))
        if workers <= 1 or multiprocessing.current_process().daemon:
            return InProcess().run(jobs, workers=1)
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(sorted({job.call.__module__ for job in jobs}))
        owner = context.RawArray("l", len(jobs))  # (job,) the process that began it, or 0
        pool = ProcessPoolExecutor(workers, mp_context=context, initializer=_begin, initargs=(owner,))
        with _terminated_on_error(pool) as processes:
            futures, started = [], set()
            for number, job in enumerate(jobs):
                futures.append(pool.submit(_attempt, number, job))
                started |= processes()  # at once: one that has died is no longer among them later
            done, _ = wait(futures, return_when=FIRST_EXCEPTION)
            try:
                return [future.result() for future in futures if future in done]
            except BrokenProcessPool as error:
                raise WorldError(_cause_of_exit_text(jobs, list(owner), started)) from error


@contextmanager
def _terminated_on_error(pool: ProcessPoolExecutor) -> Iterator[Callable[[], set[BaseProcess]]]:
    """What gives the processes of a pool; after an error all of them are terminated.

    They are those that were not there at the beginning: an interruption while the jobs are submitted misses none of them.
    """
    before = set(multiprocessing.active_children())

    def processes() -> set[BaseProcess]:
        return set(multiprocessing.active_children()) - before

    try:
        yield processes
    except BaseException:
        ending = processes()
        for process in ending:
            process.terminate()  # a job may run for a minute more, and its answer is not needed
        for process in ending:
            process.join()  # the pool does not know one that was interrupted while it started
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _begin(owner: MutableSequence[int]) -> None:
    """The first thing in a worker. Ctrl-C goes to all processes of a terminal; only the parent handles it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _STATE["owner"] = owner


def _attempt(number: int, job: Job[T]) -> T:
    """What a job returns, in a worker."""
    _STATE["owner"][number] = os.getpid()
    try:
        return job()
    except Exception as error:
        try:
            pickle.loads(pickle.dumps(error))
        except Exception:  # whatever its own constructor raises
            raise WorldError(f"job '{job.name}' failed: {type(error).__name__}: {error}") from None
        raise


def _cause_of_exit_text(jobs: Sequence[Job[T]], owner: Sequence[int], processes: set[BaseProcess]) -> str:
    """Which job a process died of. The pool has ended the others."""
    died = {process.pid: process.exitcode for process in processes if process.exitcode not in (None, 0, -signal.SIGTERM)}
    last = {pid: job.name for job, pid in zip(jobs, owner, strict=True) if pid}  # jobs begin in their order
    names = [f"'{name}'" for pid, name in last.items() if pid in died or not died]
    causes = ", ".join(sorted({_exit_text(code or 0) for code in died.values()})) or "ended from outside"
    if not names:
        return f"a process died before it began a job ({causes}); a script that calls this needs: if __name__ == '__main__'"
    return f"the process of job {' or '.join(names)} died ({causes}); with engine 'here' it runs in this one, one job at a time"


def _exit_text(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    if code == -signal.SIGKILL:
        return "killed, perhaps for lack of memory"
    return f"signal {signal.Signals(-code).name}"
