"""The queue of jobs: a few run at a time, each in a process of its own; the others wait in the store.

What is in the store is the truth: a server that dies leaves its jobs there, and the next one to start finds them. Those that
waited run then; those that ran are *interrupted*, with the best incumbent that they had written down.
"""

import shutil
import threading
import time
import traceback
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bayplan.errors import Fault, InputError, WorldError, expect_one_of
from bayplan.serve.jobs.processes import WorkerProcess, load_ahead
from bayplan.serve.jobs.running_job import RunningJob
from bayplan.serve.jobs.snapshots import SnapshotFolder
from bayplan.serve.jobs.verbs import VERBS, OptionLimits, read_options
from bayplan.serve.jobs.worker import JobTask, run_job
from bayplan.serve.keys import used_key
from bayplan.serve.settings import Limits, ServeSettings
from bayplan.serve.store.jobs import JobState, JobStore, RequestKey, StoredJob, Transactions

BEAT = 2.0  # seconds between two signs of life
SILENT = 15.0  # seconds without one, after which the jobs of a server on a shared store are taken for interrupted
PRUNING = 60.0  # seconds between two looks for what is old

Measure = Callable[[str, int], object]  # takes how many jobs are in a state


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueSettings:
    """What a queue of jobs is started with."""

    folder: Path
    running: int = 2  # jobs at a time
    waiting: int = 100
    shared: bool = False  # may other servers use the same store?
    job_age: float = 7 * 86_400.0  # seconds that ended jobs are kept
    snapshot_age: float = 30 * 86_400.0  # seconds that snapshots are kept since they were last used
    unpacked_bytes: int = 512 * 2**20
    reading_memory: int = Limits().reading_memory
    job_memory: int = Limits().job_memory
    limits: OptionLimits = field(default_factory=OptionLimits)
    drain: float = 20.0  # seconds that jobs have for their best so far when the server ends


class JobQueue:
    """Takes jobs, runs them, keeps what they say."""

    def __init__(
        self,
        store: JobStore,
        settings: QueueSettings,
        measure: Measure = lambda state, count: None,
        tell: Callable[[str, dict[str, Any]], None] = lambda event, fields: None,
    ) -> None:
        self.store, self.settings, self.measure, self.tell = store, settings, measure, tell
        self.owner = f"server-{uuid.uuid4().hex}"
        self.files = settings.folder / "jobs"
        self.files.mkdir(parents=True, exist_ok=True)
        self.snapshots = SnapshotFolder(settings.folder / "snapshots", store, settings.unpacked_bytes, settings.reading_memory)
        self.changes: dict[str, int] = {}  # job -> events told by this server: a cheap look for streams of events
        self._running: dict[str, RunningJob] = {}
        self._wake, self._ending = threading.Condition(), False
        self._threads = [threading.Thread(target=each, daemon=True) for each in (self._dispatch, self._care)]

    # ---- life -----------------------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Interrupt what an earlier server left, then run what waits."""
        load_ahead()
        self._interrupt_abandoned(None if not self.settings.shared else time.time() - SILENT)
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """End: jobs that run end with their best so far, as interrupted; those that wait will run when a server starts again."""
        with self._wake:
            self._ending = True
            running = list(self._running.values())
            self._wake.notify_all()
        for job in running:
            job.interrupt(self.settings.drain)
        for job in running:
            job.thread.join(self.settings.drain + 5.0)
        for thread in self._threads:
            thread.join(BEAT + 5.0)

    # ---- requests -------------------------------------------------------------------------------------------------------------

    def submit(self, verb: str, snapshot: str, options: Mapping[str, Any], key: RequestKey | None = None) -> StoredJob:
        """A job that waits, or that an equal request with the same key has made; InputError that says what is wrong."""
        if verb not in VERBS:
            raise InputError("job", [_unknown_verb(verb)])
        read_options(verb, options, self.settings.limits)
        about = self.snapshots.find(snapshot)
        _expect_kind(verb, about.kind)
        name = f"job-{uuid.uuid4().hex}"
        job = StoredJob(id=name, verb=verb, snapshot=snapshot, options=dict(options), created=time.time())
        for other in job.snapshots:
            self.snapshots.find(other)
        kept = self.store.submit(job, self.settings.waiting, key)
        if kept is None:
            raise InputError("job", [_too_many(self.settings.waiting)])
        if isinstance(kept, RequestKey):
            if key is None or kept.digest != key.digest:
                raise used_key(kept.key)
            raise InputError("job", [_fault("E2737", kept.made, "was made by an equal request with this key, and deleted since")])
        self._wake_up(kept.id)
        return kept

    def find(self, name: str) -> StoredJob:
        """The job of that id; InputError if there is none."""
        job = self.store.job(name)
        if job is None:
            raise InputError("job", [_fault("E2737", name, "is not there")])
        return job

    def cancel(self, name: str) -> StoredJob:
        """Ask a job to end with its best so far; one that has ended stays as it is."""
        job, now = self.find(name), time.time()
        if job.state is JobState.WAITING:
            data = {"state": JobState.CANCELLED.value}
            told = self.store.tell(name, "ended", data, now, of=JobState.WAITING, state=JobState.CANCELLED, ended=now)
            if told is not None:
                self._count(name)
                return told
            job = self.find(name)
        running = self._running.get(name)
        if running is not None:
            running.cancel()
        elif job.state is JobState.RUNNING:
            self.store.ask_to_cancel(name)  # the server that runs it looks there
        return self.find(name)

    def delete(self, name: str) -> None:
        """Forget a job that has ended, and its files."""
        if not self.find(name).state.ended:
            raise InputError("job", [_fault("E2743", name, "has not ended", expected="a job that has ended: cancel it first")])
        self._forget(name)

    def _forget(self, name: str) -> None:
        if self.store.forget(name):
            shutil.rmtree(self.folder(name), ignore_errors=True)
            self.changes.pop(name, None)

    def folder(self, name: str) -> Path:
        """Where the files of a job are."""
        return self.files / Path(name).name

    # ---- what runs ------------------------------------------------------------------------------------------------------------

    def _dispatch(self) -> None:
        """Start jobs as long as there is a place for them."""
        while True:
            with self._wake:
                if self._ending:
                    return
                free = len(self._running) < self.settings.running
            job = None
            with self._whatever_happens():
                job = self.store.claim(self.owner, time.time()) if free else None
                if job is not None:
                    self._run(job)
            if job is not None:
                continue
            with self._wake:
                if not self._ending:
                    self._wake.wait(BEAT)

    @contextmanager
    def _whatever_happens(self) -> Iterator[None]:
        """The thread goes on: a store that cannot be used now may be there at the next look; anything else is told."""
        try:
            yield
        except WorldError:
            pass
        except Exception as error:
            with suppress(Exception):
                self.tell("failed", {"task": "jobs", "error": "".join(traceback.format_exception(error))[-4000:]})

    def _run(self, job: StoredJob) -> None:
        """Start the process of a job, and the thread that listens to it."""
        self._count(job.id)
        folder = self.files / job.id
        task = JobTask(
            job=job.id,
            verb=job.verb,
            options=job.options,
            snapshot=self.snapshots.path(job.snapshot).absolute(),
            others={other: self.snapshots.path(other).absolute() for other in job.snapshots[1:]},
            folder=folder.absolute(),
            limits=self.settings.limits,
            memory=self.settings.job_memory,
        )
        running = RunningJob(job.id, self.store, self._count, self.settings.limits.seconds)
        with self._wake:
            self._running[job.id] = running
        running.thread = threading.Thread(target=self._follow, args=(running, task), daemon=True)
        running.thread.start()

    def _follow(self, running: RunningJob, task: JobTask) -> None:
        try:
            running.follow(lambda: _started(task))
        finally:
            with self._wake:
                self._running.pop(running.name, None)
                self._wake.notify_all()

    # ---- care -----------------------------------------------------------------------------------------------------------------

    def _care(self) -> None:
        """Say that this server lives, look for jobs of servers that do not, prune what is old."""
        prune_at = 0.0
        while True:
            with self._wake:
                if self._ending:
                    return
            with self._whatever_happens():
                self._look_after(prune=time.monotonic() >= prune_at)
            if time.monotonic() >= prune_at:
                prune_at = time.monotonic() + PRUNING
            with self._wake:
                if not self._ending:
                    self._wake.wait(BEAT)

    def _look_after(self, *, prune: bool) -> None:
        now = time.time()
        self.store.say_alive(self.owner, now)
        for state in (JobState.WAITING, JobState.RUNNING):
            self.measure(state.value, self.store.count(state))
        for name in self.store.cancelling(self.owner):
            running = self._running.get(name)
            if running is not None:
                running.cancel()
        if self.settings.shared:
            self._interrupt_abandoned(now - SILENT)
        if prune:
            self.prune(now)

    def prune(self, now: float) -> None:
        """Delete jobs and snapshots that are old."""
        for name in self.store.old_jobs(now - self.settings.job_age):
            self._forget(name)
        self.snapshots.prune(now - self.settings.snapshot_age)
        self.store.prune_keys(now - self.settings.job_age)

    def _interrupt_abandoned(self, silent_since: float | None) -> None:
        """Mark what other servers ran as interrupted: all of it, or what has been silent since then."""
        now = time.time()
        for job in self.store.abandoned(self.owner, silent_since):
            data = {"state": JobState.INTERRUPTED.value, "headline": (job.incumbent or {}).get("headline", "")}
            self.store.tell(job.id, "ended", data, now, state=JobState.INTERRUPTED, ended=now)
            self._count(job.id)

    def _count(self, name: str) -> None:
        """Note that there is something new to say about a job."""
        self.changes[name] = self.changes.get(name, 0) + 1

    def _wake_up(self, name: str) -> None:
        self._count(name)
        with self._wake:
            self._wake.notify_all()


def _started(task: JobTask) -> WorkerProcess:
    """The process of a job, which has a folder then."""
    task.folder.mkdir(parents=True, exist_ok=True)
    return WorkerProcess(run_job, task)


def make_queue(
    settings: ServeSettings, database: Transactions, measure: Measure, tell: Callable[[str, dict[str, Any]], None]
) -> JobQueue:
    """The queue that the settings of a service state; nothing runs yet."""
    limits, ages = settings.limits, settings.ages
    return JobQueue(
        JobStore(database),
        QueueSettings(
            folder=settings.folder,
            running=limits.jobs,
            waiting=limits.waiting_jobs,
            shared=settings.store.startswith("postgres"),
            job_age=ages.jobs,
            snapshot_age=ages.snapshots,
            unpacked_bytes=limits.unpacked_bytes,
            reading_memory=limits.reading_memory,
            job_memory=limits.job_memory,
            limits=OptionLimits(seconds=limits.job_seconds, threads=limits.job_threads),
            drain=limits.drain_seconds,
        ),
        measure,
        tell,
    )


def _expect_kind(verb: str, kind: str) -> None:
    expected = VERBS[verb].of
    if kind not in expected:
        fault = _fault("E2736", kind, f"is not what {verb} is about", expected=" or ".join(expected), about="snapshot of kind")
        raise InputError("job", [fault])


def _unknown_verb(verb: str) -> Fault:
    from bayplan.errors import UsageError

    try:
        expect_one_of(verb, VERBS, "verb")
    except UsageError as error:
        expected = str(error).partition("; expected ")[2]
    return _fault("E2734", verb[:100], "is not known", expected=expected, about="verb")


def _too_many(waiting: int) -> Fault:
    return _fault("E2739", "", f"{waiting:,} jobs are waiting", expected=f"fewer than {waiting:,}", about="queue")


def _fault(code: str, name: str, problem: str, *, expected: str = "", about: str = "job") -> Fault:
    return Fault(code=code, kind=about, name=name[:100], problem=problem, expected=expected)
