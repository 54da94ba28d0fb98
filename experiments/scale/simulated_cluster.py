"""A Ray cluster on paper: a discrete-event simulation of one driver, its workers, their failures and their stragglers.

The driver writes what all jobs share once, sends one job after the other, receives one answer after the other, and merges it.
A node that needs the shared input fetches it from any node that has it, each of which serves one other at a time: so copies
double, as in Ray's object store. A worker that fails loses its job; the driver hears of it later and sends the job again. A
failed worker comes back after a while and has to fetch the shared input anew.

Times of jobs are not modelled but drawn from those that were measured.
"""

import heapq
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from math import isfinite
from typing import NamedTuple

import numpy as np


@dataclass(frozen=True, slots=True, kw_only=True)
class RayModel:
    """The cluster: everything in seconds and bytes."""

    workers: int
    dispatch_seconds: float  # of the driver, for each job that it sends
    receive_seconds: float  # of the driver, for each answer, beside its bytes
    bandwidth: float  # bytes a second between two nodes, and of the driver
    mean_seconds_between_failures: float = float("inf")  # of one worker
    seconds_to_notice: float = 30.0  # until the driver knows of a failure
    seconds_to_restart: float = 120.0  # until a failed worker is back
    straggler_share: float = 0.0  # of the jobs
    straggler_factor: float = 1.0  # by which these are slower


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What has to be done."""

    job_seconds: Sequence[float]  # of each job, on a worker that is no straggler
    shared_bytes: float  # written once, fetched by every worker before its first job
    input_bytes: float  # of each job beside that
    output_bytes: float  # of each answer
    prepare_seconds: float = 0.0  # of the driver, before the first job
    make_seconds: float = 0.0  # of the driver, for each job before it is sent
    merge_seconds: float = 0.0  # of the driver, for each answer
    finish_seconds: float = 0.0  # of the driver, after the last answer


class Outcome(NamedTuple):
    """What came of it."""

    seconds: float  # until the driver has finished
    worker_busy: float  # share of all workers' time that went into jobs whose answers arrived
    driver_busy: float  # share of the driver's time
    lost: int  # jobs that a failure ended, each sent again
    messages: int  # jobs, answers and notices of failures
    network_bytes: float  # shared inputs, inputs and answers together


READY, DONE, FAILED, NOTICED = range(4)  # kinds of events; the last is about a job, the others are about a worker


def simulate(work: Work, model: RayModel, seed: int) -> Outcome:
    """One run. Every job's answer is merged exactly once."""
    return _Run(work, model, seed).run()


class _Run:
    """The state of a run. Invariant: a job waits, runs on one worker, is lost without the driver's knowledge, or is merged."""

    def __init__(self, work: Work, model: RayModel, seed: int) -> None:
        self.work, self.model, self.rng = work, model, np.random.default_rng(seed)
        slow = self.rng.random(len(work.job_seconds)) < model.straggler_share
        self.seconds = np.asarray(work.job_seconds, dtype=np.float64) * np.where(slow, model.straggler_factor, 1.0)
        self.waiting = deque(range(len(self.seconds)))
        self.idle: dict[int, None] = {}  # workers, in the order in which they became idle
        self.running: dict[int, int] = {}  # worker -> job
        self.life = [0] * model.workers  # failures so far: what was to happen in an earlier life does not
        self.events: list[tuple[float, int, int, int, int]] = []  # time, number, kind, worker or job, life
        self.numbers = count()
        self.driver_free = self.driver_seconds = work.prepare_seconds + work.shared_bytes / model.bandwidth
        self.sources = [self.driver_free]  # when each node that has the shared input can serve another
        self.busy_seconds = self.bytes = 0.0
        self.merged = self.lost = self.messages = 0

    def run(self) -> Outcome:
        """Until all answers are merged."""
        for worker in range(self.model.workers):
            self._join(worker, 0.0)
        while self.merged < len(self.seconds):
            now, _, kind, which, life = heapq.heappop(self.events)
            if kind == NOTICED:
                self._notice(which, now)
            elif life == self.life[which]:
                (self._ready, self._done, self._fail)[kind](which, now)
        end = self._drive(self.driver_free, self.work.finish_seconds)
        busy = self.busy_seconds / (end * self.model.workers), self.driver_seconds / end
        return Outcome(end, *busy, lost=self.lost, messages=self.messages, network_bytes=self.bytes)

    def _join(self, worker: int, now: float) -> None:
        """A worker that has started fetches the shared input; sooner or later it fails."""
        ready = max(heapq.heappop(self.sources), now) + self.work.shared_bytes / self.model.bandwidth
        for _ in range(2):  # the node that served it can serve another, and so can it
            heapq.heappush(self.sources, ready)
        self.bytes += self.work.shared_bytes
        self._event(ready, READY, worker)
        if isfinite(self.model.mean_seconds_between_failures):
            self._event(now + self.rng.exponential(self.model.mean_seconds_between_failures), FAILED, worker)

    def _ready(self, worker: int, now: float) -> None:
        self.idle[worker] = None
        self._send(now)

    def _send(self, now: float) -> None:
        """Give waiting jobs to idle workers, one after the other: the driver is one process."""
        while self.waiting and self.idle:
            worker, job = next(iter(self.idle)), self.waiting.popleft()
            del self.idle[worker]
            self.running[worker] = job
            sending = self.model.dispatch_seconds + self.work.input_bytes / self.model.bandwidth
            begin = self._drive(now, self.work.make_seconds + sending)
            self._count(self.work.input_bytes)
            self._event(begin + float(self.seconds[job]), DONE, worker)

    def _done(self, worker: int, now: float) -> None:
        """The driver receives an answer and merges it; the worker can have the next job at once."""
        self.busy_seconds += float(self.seconds[self.running.pop(worker)])
        seconds = self.model.receive_seconds + self.work.output_bytes / self.model.bandwidth + self.work.merge_seconds
        self._drive(now, seconds)
        self._count(self.work.output_bytes)
        self.merged += 1
        self._ready(worker, now)

    def _fail(self, worker: int, now: float) -> None:
        """Its job is lost, which the driver learns later; it comes back as if it were new."""
        self.life[worker] += 1
        self.idle.pop(worker, None)
        if worker in self.running:
            self.lost += 1
            self._event(now + self.model.seconds_to_notice, NOTICED, self.running.pop(worker))
        self._join(worker, now + self.model.seconds_to_restart)

    def _notice(self, job: int, now: float) -> None:
        self._count(0.0)
        self.waiting.append(job)
        self._send(now)

    def _drive(self, now: float, seconds: float) -> float:
        """When the driver, which does one thing after the other, has done something more."""
        self.driver_free = max(self.driver_free, now) + seconds
        self.driver_seconds += seconds
        return self.driver_free

    def _count(self, sent: float) -> None:
        self.messages += 1
        self.bytes += sent

    def _event(self, time: float, kind: int, which: int) -> None:
        life = 0 if kind == NOTICED else self.life[which]
        heapq.heappush(self.events, (time, next(self.numbers), kind, which, life))
