"""The simulated orchestrator: a cluster in virtual time, behind the port."""

from collections.abc import Sequence

from bayplan.model import IntArray, Snapshot, ints
from bayplan.operate.orchestrator import Observation, StepOrder, StepReport
from bayplan.operate.simulated.churn import ChurnProcess
from bayplan.operate.simulated.event_queue import EventQueue
from bayplan.operate.simulated.fault_injection import FaultInjector
from bayplan.operate.simulated.faults import NO_FAULTS, Faults
from bayplan.operate.simulated.instances import SimulatedInstance
from bayplan.operate.simulated.live_cluster import Listener, LiveCluster
from bayplan.operate.simulated.measurements import SimulatedMeasurements
from bayplan.operate.simulated.observation import Observer
from bayplan.operate.simulated.scheduler import DefaultScheduler
from bayplan.operate.simulated.settings import MONDAY, SimulatedSettings
from bayplan.operate.simulated.steps import StepTracker


class SimulatedOrchestrator:
    """A cluster that lives in virtual time: it goes on only while it is waited for. Equal seeds and calls give equal histories.

    >>> import bayplan as bp
    >>> cluster = SimulatedOrchestrator(bp.generate("boutique"))
    >>> cluster.wait(60)
    >>> len(cluster.observe().containers)
    77
    """

    def __init__(
        self,
        snapshot: Snapshot,
        *,
        settings: SimulatedSettings = SimulatedSettings(),
        faults: Faults = NO_FAULTS,
        seed: int = 0,
        start: float = MONDAY,
    ) -> None:
        self._queue = EventQueue(start)
        self.live = LiveCluster(snapshot, settings, self._queue, seed)
        self.measurements = SimulatedMeasurements(snapshot.cluster, settings, start, seed)
        self._scheduler = DefaultScheduler(self.live, seed)
        self._steps = StepTracker(self.live)
        self._faults = FaultInjector(self._steps, self._queue, faults)
        self.churn = ChurnProcess(self.live, self.measurements, seed)
        self._observer = Observer(self.live, self.measurements)
        self._queue.at(start, lambda: None)  # what is pending is looked at when time begins

    # ---- the port -----------------------------------------------------------------------------------------------------------

    def now(self) -> float:
        """The virtual time, as the clock tells it."""
        return self._faults.clock()

    def wait(self, seconds: float) -> None:
        """Let virtual time pass, and all that happens in it."""
        self.advance(self._queue.time + max(0.0, seconds))

    def observe(self) -> Observation:
        """The cluster as it is."""
        self._faults.reach()
        return self._faults.shown(self._observer.observe())

    def prepare(self, reservation: str, orders: Sequence[StepOrder], until: float) -> None:
        """Reserve for these orders until a time."""
        self._faults.reach()
        self._steps.prepare(reservation, orders, until)
        self._scheduler.settle()

    def release(self, reservation: str) -> None:
        """End a reservation."""
        self._faults.reach()
        self._steps.release(reservation)
        self._scheduler.settle()

    def execute(self, order: StepOrder) -> StepReport:
        """Begin a step."""
        self._faults.reach()
        try:
            return self._faults.execute(order)
        finally:
            self._scheduler.settle()

    def watch(self, tokens: Sequence[str], seconds: float) -> Sequence[StepReport]:
        """Let time pass until one of the steps has ended, at most as long as this."""
        return self.watch_until(tokens, self._queue.time + max(0.0, seconds))

    def cancel(self, token: str) -> StepReport:
        """Give a step up."""
        self._faults.reach()
        report = self._faults.cancel(token)
        self._scheduler.settle()
        return report

    # ---- for tests and referees ---------------------------------------------------------------------------------------------

    @property
    def listeners(self) -> list[Listener]:
        """Each is called with every change of the cluster."""
        return self.live.listeners

    @property
    def time(self) -> float:
        """The virtual time, whatever the clock tells."""
        return self._queue.time

    @property
    def universe(self) -> Snapshot:
        """The first snapshot, with every machine that has ever joined."""
        return self.live.universe

    def instances(self) -> list[SimulatedInstance]:
        """Everything that is not gone: pending, starting, ready, stopping."""
        return list(self.live.by_uid.values())

    def loads(self) -> IntArray:
        """(machine of the universe, resource) requests of all that is charged."""
        request = self.universe.cluster.workloads.request
        rows = [request[[i.workload for i in machine.instances.values()]].sum(axis=0) for machine in self.live.machines]
        return ints(rows)

    def advance(self, until: float) -> None:
        """Let virtual time pass until a time; a time in the past changes nothing."""
        self._scheduler.settle()
        while self._queue.next_time <= until:
            self._run_next()
        self._queue.time = max(self._queue.time, until)

    def watch_until(self, tokens: Sequence[str], until: float) -> Sequence[StepReport]:
        """Let time pass until one of the steps has ended, or until a time; what is said about each of them then."""
        self._faults.reach()
        self._scheduler.settle()
        while not self._some_ended(tokens) and self._queue.next_time <= until:
            self._run_next()
        if not self._some_ended(tokens):
            self.advance(until)
        self._faults.reach()
        return [self._faults.report(token) for token in tokens]

    def inject(self, faults: Faults) -> None:
        """From now on these faults, and no others."""
        self._faults.set(faults)

    def _run_next(self) -> None:
        self._queue.run_next()
        self._scheduler.settle()

    def _some_ended(self, tokens: Sequence[str]) -> bool:
        return any(map(self._faults.has_ended, tokens))
