"""An engine that counts: every job with its seconds in the worker, and the bytes that travel there and back.

It stands around any engine. A job is pickled here, once, and travels as bytes; so does its answer: what is counted is what is
sent, and counting costs one copy of it. In this process nothing travels.
"""

import os
import pickle
import resource
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, NamedTuple, Self

from bayplan.engine import Engine, Job, LossReport, Shared, log_loss
from bayplan.engine.jobs import SharedKey, T, in_order


class JobRecord(NamedTuple):
    """One job whose answer came. Moments are those of `time.time`."""

    name: str
    taken: float  # when a worker was free for it
    sent: float  # when it was made and packed
    began: float  # in the worker, before it was unpacked
    seconds: float  # of the call itself
    cpu: float  # processor seconds of the call
    unpacked: float  # seconds until the call began: modules are imported in the first of a process
    came: float  # when its answer was here
    bytes_sent: int
    bytes_received: int
    process: int
    peak_mb: float  # of the worker so far
    merged: float = 0.0  # seconds that this process needed to unpack and use the answer

    @property
    def overhead(self) -> float:
        """Seconds from sending to the answer that are not those of the call."""
        return self.came - self.sent - self.seconds


class Answered(NamedTuple):
    """What a worker sends back."""

    value: Any  # packed, unless it stays in this process
    began: float
    unpacked: float
    seconds: float
    cpu: float
    process: int
    peak_mb: float


@dataclass(slots=True, eq=False)
class EngineStatistics:
    """Everything that was counted."""

    records: list[JobRecord] = field(default_factory=list)
    bytes_shared: int = 0  # each shared input once, however many workers fetch it
    streaming: float = 0.0  # wall seconds in which jobs ran

    @property
    def jobs(self) -> int:
        return len(self.records)

    @property
    def bytes_sent(self) -> int:
        return sum(record.bytes_sent for record in self.records)

    @property
    def bytes_received(self) -> int:
        return sum(record.bytes_received for record in self.records)

    @property
    def seconds(self) -> float:
        return sum(record.seconds for record in self.records)

    @property
    def cpu(self) -> float:
        return sum(record.cpu for record in self.records)

    @property
    def worker_peak_mb(self) -> float:
        return max((record.peak_mb for record in self.records), default=0.0)


class MeasuredEngine:
    """An engine, and what was counted while it ran."""

    def __init__(self, engine: Engine) -> None:
        self.name, self.inner = engine.name, engine
        self.statistics = EngineStatistics()
        self._shared: set[str] = set()
        self._travels = engine.name != "here"

    def __enter__(self) -> Self:
        self.inner.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.inner.__exit__(kind, error, trace)

    def slots(self, workers: int) -> int:
        return self.inner.slots(workers)

    def stream(
        self, jobs: Iterable[Job[T]], *, workers: int, seconds: float | None = None, lost: LossReport = log_loss
    ) -> Iterator[tuple[int, T]]:
        sent: list[tuple[str, float, float, int]] = []
        began = time.perf_counter()
        try:
            for number, answered in self.inner.stream(self._measured(jobs, sent), workers=workers, seconds=seconds, lost=lost):
                came, (name, taken, at, size) = time.time(), sent[number]
                received = len(answered.value) if self._travels else 0
                value = pickle.loads(answered.value) if self._travels else answered.value
                times = (answered.began, answered.seconds, answered.cpu, answered.unpacked, came)
                record = JobRecord(name, taken, at, *times, size, received, answered.process, answered.peak_mb)
                self.statistics.records.append(record)
                yield number, value
                self.statistics.records[-1] = record._replace(merged=time.time() - came)
        finally:
            self.statistics.streaming += time.perf_counter() - began

    def run(self, jobs: Sequence[Job[T]], *, workers: int, lost: LossReport = log_loss) -> list[T]:
        return in_order(self.stream(jobs, workers=workers, lost=lost), len(jobs))

    def _measured(self, jobs: Iterable[Job[Any]], sent: list[tuple[str, float, float, int]]) -> Iterator[Job[Answered]]:
        taken = time.time()
        for job in jobs:
            if self._travels:
                packed = job.packed()
                self._count_shared(job)
                keys = [each.key for each in job.shared]
                measured = Job(name=job.name, call=called_packed, arguments=(packed, keys, *job.shared))
                sent.append((job.name, taken, time.time(), len(packed)))
            else:
                measured = Job(name=job.name, call=called, arguments=(job,))
                sent.append((job.name, taken, time.time(), 0))
            yield measured
            taken = time.time()

    def _count_shared(self, job: Job[Any]) -> None:
        for each in job.shared:
            if each.key not in self._shared:
                self._shared.add(each.key)
                self.statistics.bytes_shared += each.file().stat().st_size


def called(job: Job[Any]) -> Answered:
    """A job in this process."""
    return _answered(job, lambda each: each.value if isinstance(each, Shared) else each, time.time())


def called_packed(packed: bytes, keys: Sequence[str], *shared: Any) -> Answered:
    """A job in a worker, which gets and returns bytes."""
    began, value_of = time.time(), dict(zip(keys, shared, strict=True))
    job = pickle.loads(packed)
    answered = _answered(job, lambda each: value_of[each.key] if isinstance(each, SharedKey) else each, began)
    return answered._replace(value=pickle.dumps(answered.value, protocol=5))


def warmed_up() -> int:
    """The process, once it has loaded modules and kernels: what jobs would wait for at first is not theirs."""
    import bayplan as bp

    time.sleep(0.5)  # so that no process takes two of these
    bp.plan(bp.generate("boutique"), budget=bp.Budget(iterations=1))
    bp.collocate(bp.generate("rasa-m2", scale=0.02), method="rasa", budget=bp.Budget(iterations=1), engine="here")
    return os.getpid()


def _answered(job: Job[Any], value_of: Callable[[Any], Any], began: float) -> Answered:
    wall, cpu, unpacked = time.perf_counter(), time.process_time(), time.time() - began
    value = job.with_inputs(value_of)
    spent = time.perf_counter() - wall, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return Answered(value, began, unpacked, *spent, process=os.getpid(), peak_mb=peak)
