"""The one writer: a thread that decides on the changes of all admissions, and writes them to the store in groups.

While a group is written, the next one gathers; so one transaction, with its wait for the disk, serves all clients that wait.
Nothing is answered before its group is in the store. Questions are answered between groups, so they never see
what is not in the store.
"""

import asyncio
import queue
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

from bayplan.errors import BayplanError, InputError, WorldError
from bayplan.operate.store import LostLeaseError
from bayplan.operate.store.database import Database
from bayplan.serve.admission import changes
from bayplan.serve.admission.holder import holder_name, is_gone
from bayplan.serve.admission.state import AdmissionState
from bayplan.serve.keys import used_key
from bayplan.serve.metrics import ServiceMetrics
from bayplan.serve.problems import missing, refusal
from bayplan.serve.settings import ServeSettings
from bayplan.serve.store.admissions import AdmissionStore, LogEntry

Tell = Callable[[str, dict[str, Any]], None]
LEASE = 10.0  # seconds; another server takes over that long after the last word of this one
RENEW = 3.0  # seconds between two renewals
MOST_GROUP = 64  # changes in one transaction
SNAPSHOT_EVERY = 5000  # changes: a replay takes two seconds; more often, the pauses would be seen in one answer of a hundred
GATHERING = 0.01  # seconds that a group waits at most, to be as large as those before
FADING = 0.9  # of what is expected, when fewer came
TICK = 0.5  # seconds between two looks at leases


@dataclass(slots=True, eq=False)
class _Command:
    """Something to do for an admission; `future` belongs to the event loop."""

    name: str
    future: "asyncio.Future[Any]"
    change: changes.GivenChange | None = None
    key: str | None = None
    question: Callable[[AdmissionState], Any] | None = None
    outcome: Any = None


class ChangeOutcome(NamedTuple):
    """The answer to a change."""

    text: str  # JSON
    is_replayed: bool = False  # it was given before, under the same key


class AdmissionWriter:
    """Takes changes and questions from the event loop, and answers them there."""

    def __init__(self, settings: ServeSettings, database: Database, metrics: ServiceMetrics, tell: Tell) -> None:
        self._tell, self._metrics, self._ages = tell, metrics, settings.ages
        self._most_waiting = settings.limits.waiting_offers
        self.store = AdmissionStore(database)
        self.holder = holder_name()
        self._states: dict[str, AdmissionState] = {}
        self._queue: queue.SimpleQueue[_Command | None] = queue.SimpleQueue()
        self._expected = 0  # changes in the next group
        self._waiting, self._is_ending = 0, False  # of the event loop's thread
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = threading.Thread(target=self._run, name="admission writer", daemon=True)

    # ---- the side of the event loop

    def start(self) -> None:
        """Begin; called in the event loop."""
        self._loop = asyncio.get_running_loop()
        self._thread.start()

    @property
    def is_alive(self) -> bool:
        """Does the thread that decides run?"""
        return self._thread.is_alive()

    async def change(self, name: str, kind: str, given: changes.Given, key: str | None) -> ChangeOutcome:
        """Decide on a change; its answer, which is in the store."""
        change = changes.change_of(kind, given)
        answer: ChangeOutcome = await self._submitted(_Command(name, self._future(), change, key))
        return answer

    async def ask(self, name: str, question: Callable[[AdmissionState], Any]) -> Any:
        """What a question about an admission gives, asked in the writer's thread."""
        return await self._submitted(_Command(name, self._future(), question=question))

    async def forget(self, name: str) -> None:
        """Delete an admission."""
        await self.ask(name, self._delete)

    async def drain(self) -> None:
        """Finish what waits, write snapshots, free the leases; nothing more is taken."""
        self._is_ending = True
        self._queue.put(None)
        await asyncio.to_thread(self._thread.join)

    def _future(self) -> "asyncio.Future[Any]":
        assert self._loop is not None
        return self._loop.create_future()

    async def _submitted(self, command: _Command) -> Any:
        if self._is_ending:
            raise refusal("E2717", "service", "", "ends")
        if self._waiting >= self._most_waiting:
            expected = f"at most {self._most_waiting} that wait"
            raise refusal("E2706", "admission", command.name, "has too many offers that wait", expected=expected)
        self._waiting += 1
        self._metrics.waiting_offers.set(self._waiting)
        self._queue.put(command)
        return await command.future

    def _answer(self, commands: Sequence[_Command]) -> None:
        """In the event loop: give every command its outcome."""
        self._waiting -= len(commands)
        self._metrics.waiting_offers.set(self._waiting)
        for command in commands:
            if command.future.done():  # its client has gone
                continue
            if isinstance(command.outcome, BaseException):
                command.future.set_exception(command.outcome)
            else:
                command.future.set_result(command.outcome)

    # ---- the side of the thread

    def _run(self) -> None:
        ticked, is_ending = time.monotonic(), False
        while not is_ending:
            group, is_ending = self._gathered()
            by_name: dict[str, list[_Command]] = {}
            for command in group:
                by_name.setdefault(command.name, []).append(command)
            for name, commands in by_name.items():
                self._serve(name, commands)
                assert self._loop is not None
                self._loop.call_soon_threadsafe(self._answer, commands)
            with suppress(Exception):  # what can wait is tried again later; the thread goes on whatever happens
                for name in by_name:
                    self._snapshot_if_due(name)
                if time.monotonic() - ticked >= TICK:
                    ticked = time.monotonic()
                    self._keep_leases()
        self._end()

    def _gathered(self) -> tuple[list[_Command], bool]:
        """What waits, at most one group; is it time to end?

        As many as the groups before had are waited for, but not for long: clients that were answered together come back together.
        """
        group: list[_Command] = []
        try:
            command, end = self._queue.get(timeout=TICK), time.monotonic() + GATHERING
            while command is not None:
                group.append(command)
                if len(group) == MOST_GROUP:
                    break
                left = end - time.monotonic() if len(group) < self._expected else 0.0
                command = self._queue.get(timeout=left) if left > 0 else self._queue.get_nowait()
        except queue.Empty:
            is_ending = False
        else:
            is_ending = command is None  # it comes last: nothing is taken after it
        self._expected = max(len(group), int(FADING * self._expected))
        return group, is_ending

    def _serve(self, name: str, commands: list[_Command]) -> None:
        """Give every command of one admission its outcome; the thread goes on whatever happens."""
        try:
            state = self._state(name)
            group = [command for command in commands if command.change is not None]
            if group:
                self._decide(state, group)
            questions = [command for command in commands if command.question is not None]
            if questions and state.fence is None:
                self._expect_there(state)
            if questions and (state.fence is None or state.is_ahead):
                state.catch_up()
            for command in questions:
                command.outcome = _answered(command, state)
        except Exception as error:
            for command in commands:
                if command.outcome is None:
                    command.outcome = error
            if not isinstance(error, BayplanError):
                with suppress(Exception):
                    self._tell("failed", {"admission": name, "error": _trace(error)})

    def _state(self, name: str) -> AdmissionState:
        if name not in self._states:
            stored = self.store.find(name)
            if stored is None:
                raise missing("admission", name, "one that GET /v1/admissions lists")
            began = time.perf_counter()
            state = self._states[name] = AdmissionState(stored, self.store)
            seconds = round(time.perf_counter() - began, 3)
            self._tell("restored", {"admission": name, "changes": state.applied, "snapshot": state.saved, "seconds": seconds})
        return self._states[name]

    def _decide(self, state: AdmissionState, group: list[_Command]) -> None:
        """Decide on changes and write them, all in one transaction; only then they have an outcome."""
        self._lead(state)
        assert state.fence is not None
        began = time.perf_counter()
        outcomes: list[Any] = []
        try:
            with self.store.fenced(state.stored.id, state.fence) as connection:
                known = self.store.known(connection, state.stored.id, [command.key for command in group if command.key])
                entries: list[LogEntry] = []
                outcomes += [_outcome(state, command, known, entries) for command in group]
                self.store.append(connection, state.stored.id, entries)
        except LostLeaseError as error:
            state.fence = None
            raise self._not_ours(state, str(error)) from error
        state.committed()
        for command, outcome in zip(group, outcomes, strict=True):
            command.outcome = outcome
        self._count(group, entries, time.perf_counter() - began)

    def _lead(self, state: AdmissionState) -> None:
        """Hold the lease of the admission and have all of its log in memory, or raise."""
        if state.fence is None:
            fence, renewed = self._acquired(state), time.monotonic()
            state.catch_up()  # from here on no other server can write
            state.fence, state.renewed = fence, renewed
            self._tell("decides", {"admission": state.stored.name, "fence": fence, "changes": state.applied})
        elif state.is_ahead:  # the last write failed: a small one that works comes before decisions that would be in vain
            self.store.renew(state.stored.id, state.fence, LEASE)
            state.catch_up()

    def _acquired(self, state: AdmissionState) -> int:
        try:
            taken = self.store.acquire(state.stored.id, self.holder, LEASE, is_gone)
        except LostLeaseError as error:  # deleted
            raise self._not_ours(state, str(error)) from error
        if taken.fence is None:
            raise self._not_ours(state, f"'{taken.holder}' decides for it")
        return taken.fence

    def _not_ours(self, state: AdmissionState, reason: str) -> Exception:
        name = state.stored.name
        if not self.store.is_there(state.stored.id):
            self._states.pop(name, None)
            return missing("admission", name)
        return refusal("E2713", "admission", name, "another server decides for it", value=reason)

    def _delete(self, state: AdmissionState) -> None:
        self.store.delete(state.stored.id)
        self._states.pop(state.stored.name, None)

    def _expect_there(self, state: AdmissionState) -> None:
        if not self.store.is_there(state.stored.id):
            self._states.pop(state.stored.name, None)
            raise missing("admission", state.stored.name)

    def _count(self, group: list[_Command], entries: Sequence[LogEntry], seconds: float) -> None:
        self._metrics.group.observe(len(group))
        self._metrics.commit_seconds.observe(seconds)
        offers = [entry for entry in entries if entry.kind == "offer"]
        accepted = sum('"accepted":true' in entry.outcome for entry in offers)
        self._metrics.verdicts.labels("accepted").inc(accepted)
        self._metrics.verdicts.labels("refused").inc(len(offers) - accepted)

    # ---- between groups

    def _keep_leases(self) -> None:
        """Renew the leases that need it; those of other servers are left alone until a change comes."""
        for state in list(self._states.values()):
            if state.fence is not None and time.monotonic() - state.renewed >= RENEW:
                self._quietly(state, "lease", self._renew)
        self._metrics.leases.set(sum(state.fence is not None for state in self._states.values()))

    def _renew(self, state: AdmissionState) -> None:
        assert state.fence is not None
        self.store.renew(state.stored.id, state.fence, LEASE)
        state.renewed = time.monotonic()

    def _snapshot_if_due(self, name: str, every: int | None = None) -> None:
        state, due = self._states.get(name), SNAPSHOT_EVERY if every is None else every
        if state is not None and state.fence is not None and not state.is_ahead and state.applied - state.saved >= due:
            self._quietly(state, "snapshot", self._save)

    def _save(self, state: AdmissionState) -> None:
        assert state.fence is not None
        self.store.save_snapshot(state.stored.id, state.fence, state.snapshot(), self._ages.log)
        state.saved = state.applied

    def _quietly(self, state: AdmissionState, task: str, call: Callable[[AdmissionState], None]) -> None:
        """Do what can wait: if the store refuses, it is tried again later."""
        try:
            call(state)
        except LostLeaseError as error:
            state.fence = None
            self._tell("decides no longer", {"admission": state.stored.name, "reason": str(error)})
        except Exception as error:
            words = str(error) if isinstance(error, WorldError) else _trace(error)
            self._tell("failed", {"admission": state.stored.name, "task": task, "error": words})

    def _end(self) -> None:
        """A snapshot of everything, so that the next start has nothing to replay, and free leases, so that it need not wait."""
        for name, state in self._states.items():
            self._snapshot_if_due(name, every=1)
            if state.fence is not None:
                self._quietly(state, "release", self._release)

    def _release(self, state: AdmissionState) -> None:
        assert state.fence is not None
        self.store.release(state.stored.id, state.fence)
        state.fence = None


def _outcome(state: AdmissionState, command: _Command, known: dict[str, LogEntry], entries: list[LogEntry]) -> Any:
    """The outcome of one change in a group: decided now, or found under its key; or its input error."""
    assert command.change is not None
    if command.key is not None and command.key in known:
        before = known[command.key]
        if before.digest != command.change.digest:
            return used_key(command.key)
        return ChangeOutcome(before.outcome, is_replayed=True)
    try:
        entry = state.decide(command.change, command.key)
    except InputError as error:
        return error
    except Exception as error:
        if state.is_half:
            raise
        return error  # nothing has changed: the others of the group are decided
    entries.append(entry)
    if command.key is not None:
        known[command.key] = entry
    return ChangeOutcome(entry.outcome)


def _trace(error: Exception) -> str:
    return "".join(traceback.format_exception(error))[-4000:]


def _answered(command: _Command, state: AdmissionState) -> Any:
    assert command.question is not None
    try:
        return command.question(state)
    except BayplanError as error:
        return error
