"""A controller: the loop on one cluster, acting only while it holds the lease, and ending in order.

Three threads beside the loop's: one keeps the lease, one writes events and holds and ends what is overdue, one answers probes.
The loop asks for its right to act before every call to the cluster, so it stops at the first call after the lease is lost.
"""

import math
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from bayplan.errors import UsageError, WorldError
from bayplan.kubernetes.client import Client
from bayplan.kubernetes.controller.election import ElectionThread, LeaderElection, TermListener
from bayplan.kubernetes.controller.ending import Ending, GraceOverError, ended_by_signals
from bayplan.kubernetes.controller.events import EventReason, EventResult, EventWriter
from bayplan.kubernetes.controller.guard import GuardedOrchestrator
from bayplan.kubernetes.controller.health import Health, HealthServer, Heartbeat, ListenAddress
from bayplan.kubernetes.controller.holds import HoldAnnotations
from bayplan.kubernetes.controller.lease import LeaseObject, LeaseTimes
from bayplan.kubernetes.controller.logs import EventLog
from bayplan.kubernetes.controller.metrics import Metrics
from bayplan.kubernetes.controller.outbox import Outbox
from bayplan.kubernetes.controller.references import LastReferences
from bayplan.kubernetes.controller.reporting import ClusterReports
from bayplan.model import Progress, Tick
from bayplan.model.interrupt import StopFlag, stoppable
from bayplan.model.record import Event, StepStatus
from bayplan.operate.context import LoopContext
from bayplan.operate.loop import Loop
from bayplan.operate.orchestrator import Orchestrator
from bayplan.operate.settings import LoopSettings
from bayplan.operate.store import LostLeaseError, Store

NOTICE = 1.0  # seconds within which a loop that rests sees that it was asked to end
LOOK = 0.2  # seconds between two looks for the lease, while another one has it
STUCK = 300.0  # seconds without any progress, beside those for planning, after which the loop is not healthy
LAST = 5.0  # seconds for events and holds that wait when the process ends


Sweep = Callable[[], list[str]]  # the dead-man rule: ends what was reserved for too long, and names it; called by any thread


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerSettings:
    """How a controller runs. Times in seconds."""

    loop: LoopSettings
    identity: str  # of this process: no other has it
    lease_namespace: str
    lease_name: str = "bayplan"
    times: LeaseTimes = field(default_factory=LeaseTimes)
    listen: ListenAddress | None = None  # None: no probes and no metrics over HTTP
    grace: float = 20.0  # from a signal to end until what has not ended is cancelled
    sweep: float = 60.0  # from one look for overdue reservations to the next
    turns: float = math.inf  # after which it ends
    until: float = math.inf  # seconds since 1970: ends then

    def __post_init__(self) -> None:
        if not self.grace >= 0:
            raise UsageError(f"grace {self.grace}: expected 0 seconds or more")
        if not (self.lease_namespace and self.lease_name):
            raise UsageError(f"lease '{self.lease_namespace}/{self.lease_name}': expected NAMESPACE/NAME")


class Controller:
    """One process that wants to act on one cluster."""

    def __init__(
        self,
        client: Client,
        orchestrator: Orchestrator,
        store: Store,
        settings: ControllerSettings,
        *,
        references: LastReferences,
        log: EventLog,
        sweep: Sweep = lambda: [],
    ) -> None:
        self.settings, self.store, self.metrics = settings, store, Metrics()
        self._orchestrator, self._log, self._end_overdue = orchestrator, log, sweep
        self.ending, self._flag = Ending(settings.grace), StopFlag()
        self.heartbeat = Heartbeat(STUCK + 3 * settings.loop.seconds)
        self._outbox = Outbox(self._background_failed)
        events = EventWriter(client, self._outbox, settings.identity, counted=self._counted)
        holds = HoldAnnotations(client, self._outbox)
        self._reports = ClusterReports(store, references, metrics=self.metrics, events=events, holds=holds)
        quick = client.within(settings.times.deadline / 2)  # a request that hangs must leave time for another try
        lease = LeaseObject(quick, settings.lease_namespace, settings.lease_name)
        listener = TermListener(began=self._term_began, ended=self._term_ended, failed=self._try_failed)
        self.election = LeaderElection(lease, settings.identity, times=settings.times, listener=listener)
        self._thread = ElectionThread(self.election)
        self._swept = -math.inf
        self._problem = ""

    # ---- from start to end --------------------------------------------------------------------------------------------------

    def run(self, prepare: Callable[[Progress], None] = lambda progress: None) -> int:
        """Act whenever the lease is ours, until a signal; how many turns there were. `prepare` is called before the first one."""
        server = None if self.settings.listen is None else self._serve(self.settings.listen)
        try:
            with stoppable() as self._flag, ended_by_signals(self.ending, self._flag):
                prepare(self._beat)
                self.heartbeat.beat()
                self._thread.start()
                return self._terms()
        finally:
            self.ending.ask()  # whatever the reason: from here on the lease is given back, not lost
            self._thread.stop()
            self._outbox.drain(LAST)
            self._say("end", f"{self.settings.identity} has ended")
            if server is not None:
                server.stop()

    def _serve(self, address: ListenAddress) -> HealthServer:
        server = HealthServer(address, self.metrics, alive=self.alive, ready=self.ready)
        self._say("listen", f"probes and metrics on port {server.port}")
        return server

    def _terms(self) -> int:
        made = 0
        while not self._is_over() and made < self.settings.turns:
            term = self._await_term()
            if term:
                made += self._act(term, self.settings.turns - made)
        return made

    def _is_over(self) -> bool:
        return self.ending.asked or self._orchestrator.now() >= self.settings.until

    def _await_term(self) -> int:
        """The term in which this process may act; 0 if it is to end before."""
        while not self._is_over():
            self.heartbeat.beat()
            term = self.election.term
            if term:
                return term
            time.sleep(LOOK)
        return 0

    def _act(self, term: int, turns: float) -> int:
        """Turn after turn, while this term lasts; how many there were."""
        self._flag.requested = False
        self._flag.requested |= self.ending.asked  # a signal may have come just before
        before = self._turns_made()
        self._sweep()
        try:
            Loop(self._context(term)).run(turns=turns, until=self.settings.until)
        except LostLeaseError as error:
            self._say("lease-lost", f"{error}; nothing more is done")
            self._sweep()
            if self.election.term == term:  # another process, such as `bayplan apply`, took the right to write the record
                time.sleep(self.settings.times.retry)
        except GraceOverError as error:
            self._say("end", str(error))
        finally:
            self._give_up(term)
        return self._turns_made() - before

    def _turns_made(self) -> int:
        last = self.store.turns(last=1)
        return last[0].id if last else 0

    def _context(self, term: int) -> LoopContext:
        settings = self.settings
        return LoopContext(
            orchestrator=GuardedOrchestrator(self._orchestrator, lambda: self._expect_right(term)),
            store=self.store,
            settings=settings.loop,
            # All who share the Kubernetes lease have one name in the record: whoever holds the one gets the other at once.
            holder=f"lease {settings.lease_namespace}/{settings.lease_name}",
            progress=self._beat,
            tell=self._log.write,
            stop=lambda: self.ending.asked,
            listener=self._reports,
            notice=NOTICE,
        )

    def _beat(self, tick: Tick) -> None:
        self.heartbeat.beat()

    def _expect_right(self, term: int) -> None:
        """Called before everything that the loop does to the cluster, and while it waits."""
        self.heartbeat.beat()
        if self.election.term != term:
            holder = self.election.holder
            raise LostLeaseError(f"the lease is lost: {self.election.problem or f'held by {holder!r}'}")
        self.ending.expect_time()
        if time.monotonic() - self._swept >= self.settings.sweep:
            self._sweep()

    def _give_up(self, term: int) -> None:
        """What has not ended when this process must: its steps are cancelled, its reservation is ended. The next one finds out
        what became of them by observing, as after a crash."""
        if self.election.term != term:
            return  # whoever has the lease now does that
        plan = self.store.open_plan()
        if plan is None:
            return
        unknown = [step.token for step in self.store.steps(plan.id) if step.status is StepStatus.BEGUN]
        for token in unknown:
            with suppress(WorldError):
                self._orchestrator.cancel(token)
        with suppress(WorldError):
            self._orchestrator.release(plan.id)
        if unknown:
            self._say("end", f"plan {plan.id}: {len(unknown)} steps cancelled, its reservation ended")

    # ---- what is overdue ----------------------------------------------------------------------------------------------------

    def _sweep(self) -> None:
        """Have overdue reservations ended, beside the loop."""
        self._swept = time.monotonic()
        self._outbox.put(self._end_what_is_overdue)

    def _end_what_is_overdue(self) -> None:
        """In the thread of the outbox."""
        names = self._end_overdue()
        if names:
            self.metrics.add("bayplan_overdue_reservations_total", len(names))
            self._say("problem", f"reservations whose time was over were ended: {', '.join(names)}")

    # ---- probes -------------------------------------------------------------------------------------------------------------

    def alive(self) -> Health:
        """Does the loop's thread make progress, and is the lease looked after?"""
        stuck = self.heartbeat.age > self.heartbeat.limit
        lost = self._thread.started and not self._thread.alive and not self.ending.asked
        facts = {"seconds_since_progress": round(self.heartbeat.age, 1), "limit": self.heartbeat.limit, "lease_thread": not lost}
        return Health(well=not stuck and not lost, facts=facts)

    def ready(self) -> Health:
        """Does the API server answer, and is it known who acts?"""
        role = "leader" if self.election.term else "standby"
        connected = self.election.silence < self.settings.times.length and not self.election.problem
        facts = {"role": role, "leader": self.election.holder, "connected": connected, "problem": self.election.problem}
        return Health(well=connected and not self.ending.asked, facts=facts)

    # ---- told by other threads ----------------------------------------------------------------------------------------------

    def _term_began(self, term: int) -> None:
        self._problem = ""
        self.metrics.set("bayplan_leader", 1)
        self.metrics.add("bayplan_lease_acquired_total")
        self._say("lease", f"{self.settings.identity} holds the lease {self._lease_name}")

    def _term_ended(self, term: int, why: str) -> None:
        self.metrics.set("bayplan_leader", 0)
        if not self.ending.asked:
            self._flag.requested = True  # a method that is solving ends: its plan would not be carried out
            self.metrics.add("bayplan_lease_lost_total")
        self._say("lease", f"the lease {self._lease_name} is not ours any more: {why}")

    def _try_failed(self, why: str) -> None:
        if why != self._problem:
            self._say("problem", f"the lease {self._lease_name} cannot be had: {why}")
        self._problem = why

    def _background_failed(self, error: WorldError) -> None:
        self.metrics.add("bayplan_background_failures_total")
        self._say("problem", str(error))

    def _counted(self, reason: EventReason, result: EventResult) -> None:
        self.metrics.add("bayplan_events_total", reason=reason, result=result)

    @property
    def _lease_name(self) -> str:
        return f"{self.settings.lease_namespace}/{self.settings.lease_name}"

    def _say(self, kind: str, text: str) -> None:
        self._log.write(Event(at=time.time(), kind=kind, text=text))
