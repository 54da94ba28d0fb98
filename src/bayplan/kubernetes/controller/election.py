"""Who acts: of several controllers on one lease, at most one at any instant.

The rules are those of Kubernetes' own components. One that does not hold the lease may take it when it has seen the same record,
unchanged, for the record's whole length on its own clock. The holder renews it all the time, and acts only until a shorter
deadline after it *sent* the last renewal that succeeded. No time that another machine wrote is ever compared with a clock, so
clocks may show different times; it is enough that none runs half as fast again as another. What is assumed beyond that: a process
that checks its right to act and is then stopped for longer than five seconds before its request is sent acts too late; the
identities in every step keep that harmless.
"""

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace

from bayplan.errors import WorldError
from bayplan.kubernetes.client import Json, RefusedError
from bayplan.kubernetes.controller.lease import FREED, LeaseObject, LeaseRecord, LeaseTimes, micro_time
from bayplan.operate.orchestrator import PermanentError, TemporaryError

NEVER = float("-inf")
SOON = 0.05  # seconds: no pause is shorter
TAKEN = (409,)  # another one wrote first: no fault, only a try that failed


@dataclass(frozen=True, slots=True, kw_only=True)
class TermListener:
    """What an election tells, from its own thread: both must return at once."""

    began: Callable[[int], None] = lambda term: None
    ended: Callable[[int, str], None] = lambda term, why: None
    failed: Callable[[str], None] = lambda why: None  # a try that failed for another reason than that it is taken


def steady_clock() -> float:
    """Seconds that go on while the machine sleeps, and never jump."""
    boot = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if boot is None else time.clock_gettime(boot)


class LeaderElection:
    """One that wants to act. A *term* is a span in which it may; terms are numbered from 1."""

    def __init__(
        self,
        lease: LeaseObject,
        identity: str,
        *,
        times: LeaseTimes = LeaseTimes(),
        listener: TermListener = TermListener(),
        clock: Callable[[], float] = steady_clock,
        date: Callable[[], float] = time.time,
    ) -> None:
        self.lease, self.identity, self.times, self.listener = lease, identity, times, listener
        self._clock, self._date = clock, date
        self._term = 0  # the last that began
        self._until = NEVER  # the end of the right to act, on our clock
        self._seen: LeaseRecord | None = None
        self._seen_at = NEVER
        self.answered_at = NEVER  # when the API server answered last, on our clock
        self.problem = "not connected yet"  # why the last try failed; empty if it did not, or another one holds the lease

    @property
    def term(self) -> int:
        """The term in which it may act at this instant; 0 if it may not."""
        return self._term if self._clock() < self._until else 0

    @property
    def holder(self) -> str:
        """Who held the lease when it was read last; empty if it was free."""
        return self._seen.holder if self._seen is not None else ""

    @property
    def silence(self) -> float:
        """Seconds since the API server answered."""
        return self._clock() - self.answered_at

    def attempt(self) -> bool:
        """One try to acquire the lease, or to renew it; does it hold it now?"""
        began = self._clock()
        try:
            held = self._acquired_or_renewed()
            self.answered_at, self.problem = self._clock(), ""
        except (TemporaryError, PermanentError) as error:
            held = False
            self._failed(error)
        if held:
            self._hold(began)
        elif self._until != NEVER and (self._lost() or self._clock() >= self._until):
            self._end_term(self.problem or f"'{self.holder}' holds the lease")
        return held

    def pause(self) -> float:
        """Seconds until the next try: the retry, or less if a lease that another one holds runs out earlier."""
        if self._seen is None or not self._is_taken(self._seen):
            return self.times.retry
        return min(self.times.retry, max(SOON, self._seen_at + self._seen.length - self._clock()))

    def release(self) -> None:
        """Give the lease back, if it is ours: another one may act at once."""
        if self._until != NEVER:
            self._end_term("given back")
        with suppress(WorldError):
            read = self.lease.read()
            if read is not None and LeaseRecord.of(read).holder == self.identity:
                now, record = micro_time(self._date()), LeaseRecord.of(read)
                self.lease.replace(read, replace(record, holder="", length=FREED, acquired=now, renewed=now))

    def _acquired_or_renewed(self) -> bool:
        read, now = self.lease.read(), micro_time(self._date())
        ours = LeaseRecord(holder=self.identity, length=self.times.length, acquired=now, renewed=now)
        if read is None and self._seen is not None and self._is_taken(self._seen):
            return False  # a person deleted it: whoever held it acts on until its deadline
        if read is None:
            self.lease.create(ours)
            self._saw(ours)
            return True
        record = LeaseRecord.of(read)
        if record != self._seen:
            self._saw(record)
        if self._is_taken(record):
            return False
        return self._write(read, record, ours)

    def _is_taken(self, record: LeaseRecord) -> bool:
        """Does another one hold it, and has it not been silent for long enough?"""
        return record.holder not in ("", self.identity) and self._clock() < self._seen_at + record.length

    def _write(self, read: Json, record: LeaseRecord, ours: LeaseRecord) -> bool:
        if record.holder == self.identity:
            ours = replace(ours, acquired=record.acquired, transitions=record.transitions)
        else:
            ours = replace(ours, transitions=record.transitions + 1)
        self.lease.replace(read, ours)
        self._saw(ours)
        return True

    def _saw(self, record: LeaseRecord) -> None:
        self._seen, self._seen_at = record, self._clock()

    def _failed(self, error: WorldError) -> None:
        if isinstance(error, RefusedError):
            self.answered_at = self._clock()
        if isinstance(error, RefusedError) and error.status in TAKEN:
            self.problem = ""
        else:
            self.problem = str(error)
            self.listener.failed(self.problem)

    def _lost(self) -> bool:
        """Has another one taken it, as far as was seen?"""
        return self.holder not in ("", self.identity)

    def _hold(self, began: float) -> None:
        """It may act until a deadline after this try began: only then is it known to be older than what others have seen."""
        fresh = self._clock() >= self._until
        if fresh and self._until != NEVER:
            self._end_term("it was renewed too late")
        self._term += fresh  # before the new deadline: another thread must never see the old term with it
        self._until = began + self.times.deadline
        if fresh:
            self.listener.began(self._term)

    def _end_term(self, why: str) -> None:
        self._until = NEVER
        self.listener.ended(self._term, why)


class ElectionThread:
    """An election that goes on by itself, in a thread of its own, while the loop solves."""

    def __init__(self, election: LeaderElection) -> None:
        self.election = election
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, name="lease", daemon=True)

    @property
    def alive(self) -> bool:
        """Does it still try?"""
        return self._thread.is_alive()

    @property
    def started(self) -> bool:
        """Has it begun to?"""
        return self._thread.ident is not None

    def start(self) -> None:
        """Begin to try."""
        self._thread.start()

    def stop(self) -> None:
        """Stop trying, and give the lease back. A try that hangs is not waited for longer than a lease lasts."""
        self._ending.set()
        if self.started:
            self._thread.join(self.election.times.length)
        self.election.release()

    def _run(self) -> None:
        while not self._ending.is_set():
            self.election.attempt()
            self._ending.wait(self.election.pause())
