"""Jobs in processes on this machine.

Processes come from a fork server: a fork of this very process would copy the threads of Numba, HiGHS and of progress bars in
whatever state they are in.
"""

import multiprocessing
import os
import pickle
import signal
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from threading import Thread
from typing import Any, Self

from bayplan.engine.here import InProcess
from bayplan.engine.jobs import Job, LossReport, T, in_order, log_loss
from bayplan.engine.streaming import WorkerEvent, streamed
from bayplan.engine.worker import attempt, parts_in_file
from bayplan.errors import WorldError

UNGUARDED = "a script that calls this needs: if __name__ == '__main__'"
ADVICE = "with engine 'here' it runs in this process, one job at a time"


class ProcessPool:
    """As many processes as there are workers; each takes one job after the other.

    One worker or one job runs in this process, and so does everything in a process that may not have children.
    """

    name = "pool"

    def __init__(self) -> None:
        self._open = 0
        self._processes: PoolProcesses | None = None

    def __enter__(self) -> Self:
        self._open += 1
        return self

    def __exit__(self, *_: object) -> None:
        self._open -= 1
        if not self._open and self._processes is not None:
            processes, self._processes = self._processes, None
            processes.close()

    def slots(self, workers: int) -> int:
        """As many as there are workers."""
        return 1 if multiprocessing.current_process().daemon else max(1, workers)

    def stream(
        self, jobs: Iterable[Job[T]], *, workers: int, seconds: float | None = None, lost: LossReport = log_loss
    ) -> Iterator[tuple[int, T]]:
        """Answers as they come; a process that dies is replaced, and its job is repeated."""
        coming = iter(jobs)
        first = list(islice(coming, 2))
        if len(first) < 2 or self.slots(workers) < 2:
            yield from InProcess().stream(chain(first, coming), seconds=seconds)
            return
        with self:
            processes = self._at_work(workers, first)
            yield from streamed(processes, chain(first, coming), seconds=seconds, lost=lost)

    def run(self, jobs: Sequence[Job[T]], *, workers: int, lost: LossReport = log_loss) -> list[T]:
        """What each job returns, in the order of the jobs."""
        if len(jobs) < 2 or self.slots(workers) < 2:
            return InProcess().run(jobs)
        return in_order(self.stream(jobs, workers=workers, lost=lost), len(jobs))

    def _at_work(self, workers: int, jobs: Sequence[Job[Any]]) -> "PoolProcesses":
        if self._processes is None:
            self._processes = PoolProcesses()
            self._processes.context.set_forkserver_preload(sorted({"bayplan.engine.worker", *modules_of(jobs)} - {"__main__"}))
        self._processes.slots = workers
        return self._processes


def modules_of(jobs: Sequence[Job[Any]]) -> set[str]:
    """The modules of what jobs call, and of functions among their arguments."""
    calls = [each for job in jobs for each in (job.call, *job.arguments) if callable(each)]
    return {each.func.__module__ if isinstance(each, partial) else each.__module__ for each in calls}


@dataclass(slots=True, eq=False)
class PoolProcess:
    """A process that takes one job after the other."""

    process: BaseProcess
    connection: Connection
    ready: bool = False  # has it begun to listen?
    ticket: int | None = None  # of the job that it has


class PoolProcesses:
    """Processes that are there, idle or at work; new ones are started when a job finds none that is idle."""

    def __init__(self) -> None:
        self.slots = 1
        self.context = multiprocessing.get_context("forkserver")
        self._workers: list[PoolProcess] = []

    def send(self, ticket: int, job: Job[Any]) -> None:
        """Let an idle process, or a new one, begin a job."""
        message = pickle.dumps((job.packed(), {each.key: str(each.file()) for each in job.shared}))
        worker = next((each for each in self._workers if each.ticket is None), None) or self._started()
        worker.ticket = ticket
        with suppress(OSError):  # it has died, which `receive` finds
            worker.connection.send_bytes(message)

    def receive(self, seconds: float) -> list[WorkerEvent]:
        """Answers and losses, waiting at most this long for the first."""
        by_connection = {worker.connection: worker for worker in self._workers}
        events = [self._event(by_connection[each]) for each in wait(list(by_connection), seconds)]  # type: ignore[index]
        return [event for event in events if event is not None]

    def give_up(self) -> None:
        """End all processes at once: a job may run for a minute more, and its answer is not needed."""
        self._end(BaseProcess.kill)

    def close(self) -> None:
        """End all processes: idle ones have nothing to finish."""
        self._end(BaseProcess.terminate)

    def _end(self, by: Any) -> None:
        ending, self._workers = [worker for worker in self._workers if worker.process.pid is not None], []
        for worker in ending:
            by(worker.process)
        for worker in ending:
            worker.connection.close()
            worker.process.join()

    def _started(self) -> PoolProcess:
        here, there = self.context.Pipe()
        process = self.context.Process(target=work, args=(there,), daemon=True)
        worker = PoolProcess(process, here)
        self._workers.append(worker)  # first: an interruption while it starts must not leave it behind
        process.start()
        there.close()
        return worker

    def _event(self, worker: PoolProcess) -> WorkerEvent | None:
        """What a process says; a loss if it has died."""
        try:
            message = worker.connection.recv_bytes()
        except (EOFError, OSError):
            return self._lost(worker)
        if not worker.ready:
            worker.ready = True
            return None
        ticket, worker.ticket = worker.ticket, None
        return None if ticket is None else WorkerEvent(ticket, pickle.loads(message))

    def _lost(self, worker: PoolProcess) -> WorkerEvent | None:
        self._workers.remove(worker)
        worker.connection.close()
        worker.process.join()
        cause = exit_text(worker.process.exitcode or 0)
        if not worker.ready:
            raise WorldError(f"a process died before it began a job ({cause}); {UNGUARDED}")
        return None if worker.ticket is None else WorkerEvent(worker.ticket, None, f"its process died ({cause})", ADVICE)


def work(connection: Connection) -> None:
    """What a process does until its parent closes the connection."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to all processes of a terminal; only the parent handles it
    Thread(target=_end_with_parent, daemon=True).start()
    connection.send_bytes(b"ready")
    while True:
        try:
            packed, files = pickle.loads(connection.recv_bytes())
        except (EOFError, OSError):
            return
        connection.send_bytes(attempt(packed, lambda key, files=files: parts_in_file(files[key])))  # type: ignore[misc]


def _end_with_parent() -> None:
    """A process whose parent was killed would work on for no one."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


def exit_text(code: int) -> str:
    """How a process ended, by its exit code."""
    if code >= 0:
        return f"exit code {code}"
    if code == -signal.SIGKILL:
        return "killed, perhaps for lack of memory"
    return f"signal {signal.Signals(-code).name}"
