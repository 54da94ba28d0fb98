"""Steps and reservations as the simulated orchestrator keeps them: every step is made once or never."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bayplan.model import Action
from bayplan.operate.orchestrator import PermanentError, Phase, StepOrder, StepReport, StepState, TemporaryError
from bayplan.operate.simulated.instances import SimulatedInstance, SimulatedMachine
from bayplan.operate.simulated.live_cluster import LiveCluster

OURS = "bayplan"


@dataclass(slots=True, kw_only=True)
class TrackedStep:
    """A step that was begun, refused, or given up before it was ever seen."""

    token: str
    action: Action | None = None
    instance: SimulatedInstance | None = None  # create: the new one; delete: the one that goes
    reason: str = ""  # why it failed; empty if it did not
    cancelled: bool = False

    @property
    def state(self) -> StepState:
        """What has become of it."""
        if self.instance is None or self.reason:
            return StepState.FAILED
        if self.action is Action.DELETE:
            return StepState.DONE if self.instance.gone else StepState.RUNNING
        if self.instance.was_ready:
            return StepState.DONE
        return StepState.RUNNING if self.instance.phase is Phase.STARTING else StepState.FAILED

    @property
    def report(self) -> StepReport:
        """What is said about it."""
        created = self.instance is not None and self.action is Action.CREATE
        state = self.state
        reason = self.reason or ("the container is gone before it was ready" if state is StepState.FAILED else "")
        return StepReport(
            token=self.token, state=state, uid=self.instance.uid if created and self.instance else "", reason=reason
        )


class StepTracker:
    """All steps by token, and what is reserved for them."""

    def __init__(self, live: LiveCluster) -> None:
        self.live = live
        self.steps: dict[str, TrackedStep] = {}
        self._reserved: dict[str, tuple[float, frozenset[str]]] = {}  # reservation -> its end, uids of its orders

    # ---- reservations -------------------------------------------------------------------------------------------------------

    def prepare(self, reservation: str, orders: Sequence[StepOrder], until: float) -> None:
        """Reserve for these orders until a time."""
        live = self.live
        if until <= live.queue.time:
            raise PermanentError(f"reservation '{reservation}' ends at {until:.0f}, which is past: it is {live.queue.time:.0f}")
        self._reserved[reservation] = (until, frozenset(order.uid for order in orders))
        for order in orders:
            instance = live.by_uid.get(order.uid)
            if order.action is Action.CREATE and instance is not None and instance.phase is Phase.PENDING:
                live.gate(instance, instance.stands_for or instance.uid)
        live.queue.at(until, self.end_past)
        self._end_unreserved()

    def release(self, reservation: str) -> None:
        """End a reservation; one that is unknown has ended already."""
        self._reserved.pop(reservation, None)
        self._end_unreserved()

    def end_past(self) -> None:
        """End the reservations whose time is over."""
        now = self.live.queue.time
        self._reserved = {name: kept for name, kept in self._reserved.items() if kept[0] > now}
        self._end_unreserved()

    def is_reserved(self, *uids: str) -> bool:
        """Is there an order for one of these instances in a reservation?"""
        return any(not orders.isdisjoint(uids) for _, orders in self._reserved.values())

    def _end_unreserved(self) -> None:
        """What waits for no order of ours goes to the default scheduler; what stands in for no order of ours is superfluous."""
        for slot in list(self.live.every_slot()):
            first, second = slot.first, slot.second
            if first is not None and first.gated and not self.is_reserved(first.stands_for, first.uid):
                self.live.ungate(first)
            if first is None or second is None or not second.token:
                continue
            if not self.is_reserved(first.uid, second.uid):
                self.live.stop(_superfluous(first, second), "controller")

    # ---- steps --------------------------------------------------------------------------------------------------------------

    def execute(self, order: StepOrder, hangs: float | None = None) -> StepReport:
        """Begin a step, unless its token is known. `hangs`: it ends after that many seconds only."""
        known = self.steps.get(order.token)
        if known is not None:
            if known.cancelled or known.instance is None:
                raise PermanentError(f"step '{order.token}': {known.reason}")
            return known.report
        begin: Callable[[StepOrder, float | None], SimulatedInstance]
        begin = self._delete if order.action is Action.DELETE else self._create
        try:
            instance = begin(order, hangs)
        except PermanentError as error:
            self.steps[order.token] = TrackedStep(token=order.token, action=order.action, reason=str(error))
            raise
        self.steps[order.token] = step = TrackedStep(token=order.token, action=order.action, instance=instance)
        return step.report

    def refuse(self, order: StepOrder, reason: str) -> None:
        """Refuse a step for good."""
        self.steps.setdefault(order.token, TrackedStep(token=order.token, action=order.action, reason=reason))
        raise PermanentError(reason)

    def report(self, token: str) -> StepReport:
        """What is said about a step."""
        step = self.steps.get(token)
        return StepReport(token=token, state=StepState.UNKNOWN) if step is None else step.report

    def cancel(self, token: str) -> StepReport:
        """Give a step up: it is done, or it never will be. A delete that has begun cannot be taken back: it counts as done."""
        step = self.steps.setdefault(token, TrackedStep(token=token, reason="cancelled before it was begun", cancelled=True))
        if step.instance is None or step.state is not StepState.RUNNING:
            step.cancelled = step.cancelled or step.state is StepState.FAILED
            return step.report
        if step.action is Action.DELETE:
            return StepReport(token=token, state=StepState.DONE, reason="it is stopping already")
        step.reason, step.cancelled = "cancelled before the container was ready", True
        stands_for = step.instance.stands_for
        gate = stands_for if stands_for and self.is_reserved(stands_for) else ""
        self.live.stop(step.instance, OURS, token, gate=gate)
        return step.report

    def _delete(self, order: StepOrder, hangs: float | None) -> SimulatedInstance:
        live, instance = self.live, self.live.by_uid.get(order.uid)
        if instance is None:
            raise PermanentError(f"there is no container with uid '{order.uid}'")
        if instance.phase is Phase.STOPPING:
            raise PermanentError(f"container '{instance.slot.name}' ({order.uid}) is stopping already")
        self._expect_workload(order, instance)
        machine = live.machines[instance.machine] if instance.phase is not Phase.PENDING else None
        if machine is None or machine.name != order.machine or (order.machine_uid and machine.uid != order.machine_uid):
            place = f"on machine '{machine.name}'" if machine else "pending"
            raise PermanentError(f"container '{instance.slot.name}' ({order.uid}) is {place}, not on machine '{order.machine}'")
        w = instance.workload
        if instance.phase is Phase.READY and live.ready[w] - 1 < live.needed(w):
            left = f"{live.ready[w]} of '{order.workload}' are ready, {live.needed(w)} must be"
            raise TemporaryError(f"container '{instance.slot.name}' cannot go now: {left}")
        gate = instance.uid if order.steered and self.is_reserved(instance.uid) else ""
        live.stop(instance, OURS, order.token, gate=gate, hangs=hangs)
        return instance

    def _create(self, order: StepOrder, hangs: float | None) -> SimulatedInstance:
        machine = self._target(order)
        instance = self._stands_for(order) if order.surge else self._replacement(order)
        self._expect_workload(order, instance)
        reason = self.live.misfit(instance.workload, machine)
        if reason:
            name = instance.slot.name
            raise PermanentError(f"container '{name}' does not fit on machine '{order.machine}': {reason}")
        if order.surge:
            instance = self.live.add_second(instance.slot)
            instance.stands_for = order.uid
        self.live.bind(instance, machine.index, OURS, order.token, hangs)
        return instance

    def _target(self, order: StepOrder) -> SimulatedMachine:
        machine = self.live.machine_named(order.machine)
        if machine is None or machine.uid != order.machine_uid:
            raise PermanentError(f"there is no machine '{order.machine}' with uid '{order.machine_uid}'")
        if not machine.open:
            raise PermanentError(f"machine '{order.machine}' is not open")
        return machine

    def _stands_for(self, order: StepOrder) -> SimulatedInstance:
        """The instance that runs, for which another one is to be created."""
        old = self.live.by_uid.get(order.uid)
        if old is None or old.phase in (Phase.STOPPING, Phase.PENDING):
            raise PermanentError(f"there is no running container with uid '{order.uid}' to stand in for")
        if old.slot.first is not old or old.slot.second is not None:
            raise PermanentError(f"container '{old.slot.name}' has two instances already")
        if self.live.machines[old.machine].name == order.machine:
            raise PermanentError(f"container '{old.slot.name}' is on machine '{order.machine}' already")
        if not self.is_reserved(order.uid):
            raise PermanentError("nothing is reserved for this step: a container in addition would be one too many")
        return old

    def _replacement(self, order: StepOrder) -> SimulatedInstance:
        """The pending instance that replaced the one with this uid, or that has it."""
        own = self.live.by_uid.get(order.uid)
        if own is not None and own.phase is Phase.PENDING:
            return own
        for slot in self.live.slots[self._workload(order)]:
            first = slot.first
            if first is not None and first.gated and first.stands_for == order.uid:
                return first
        raise PermanentError(f"no replica of '{order.workload}' waits to replace '{order.uid}'")

    def _workload(self, order: StepOrder) -> int:
        names = self.live.universe.cluster.workloads.name
        if order.workload not in names:
            raise PermanentError(f"there is no workload '{order.workload}'")
        return names.index(order.workload)

    def _expect_workload(self, order: StepOrder, instance: SimulatedInstance) -> None:
        name = self.live.universe.cluster.workloads.name[instance.workload]
        if name != order.workload:
            raise PermanentError(f"container '{instance.slot.name}' is of workload '{name}', not of '{order.workload}'")


def _superfluous(first: SimulatedInstance, second: SimulatedInstance) -> SimulatedInstance:
    """Of two instances of one container, the one to delete: pending, then not ready, then the youngest."""
    rank = {Phase.PENDING: 0, Phase.STARTING: 1, Phase.READY: 2, Phase.STOPPING: 3}
    return min(second, first, key=lambda instance: (rank[instance.phase], -instance.created))
