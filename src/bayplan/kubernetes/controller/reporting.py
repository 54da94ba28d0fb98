"""What the loop tells, brought to the cluster: events on pods and owners, holds as annotations, metrics."""

from collections.abc import Sequence

from bayplan.kubernetes.controller.events import EventReason, EventWriter
from bayplan.kubernetes.controller.holds import HoldAnnotations
from bayplan.kubernetes.controller.metrics import Metrics, MoveOutcome
from bayplan.kubernetes.controller.references import LastReferences
from bayplan.model import Action
from bayplan.model.record import Hold, PlannedMove, PlanStatus, RecordedPlan, RecordedStep, StepStatus, Turn
from bayplan.operate.listener import LoopListener
from bayplan.operate.orchestrator import Observation
from bayplan.operate.stages.tracking import tracked
from bayplan.operate.store import Store
from bayplan.words import count

OWNERS = 50  # of one plan that get an event of their own
FIRST = frozenset({PlanStatus.DRY_RUN, PlanStatus.PROPOSED, PlanStatus.EXECUTING})  # a plan is computed with one of these


class ClusterReports(LoopListener):
    """Called by the loop, in its thread; what has to be sent goes to an outbox."""

    def __init__(
        self, store: Store, references: LastReferences, *, metrics: Metrics, events: EventWriter, holds: HoldAnnotations
    ) -> None:
        self._store, self._references = store, references
        self._metrics, self._events, self._holds = metrics, events, holds
        self._statuses: dict[str, PlanStatus] = {}  # of plans that were told
        self._now = 0.0  # the orchestrator's time, when it was observed last

    def observed(self, observation: Observation) -> None:
        """Bring the holds on owners in line with the record."""
        self._now = observation.at
        recorded = self._store.holds(observation.at)
        for workload in self._holds.reconcile(recorded, self._references.now, observation.at):
            self._store.release_hold(workload)
        self._metrics.set("bayplan_holds", len(self._store.holds(observation.at)))
        self._metrics.set("bayplan_paused", int(self._store.paused() is not None))

    def turn_ended(self, turn: Turn) -> None:
        """Count it, and show the figures of its observation."""
        metrics = self._metrics
        metrics.add("bayplan_turns_total", verdict=turn.verdict)
        if turn.ended is not None:
            metrics.observe("bayplan_turn_seconds", max(0.0, turn.ended - turn.started))
            metrics.set("bayplan_last_turn_timestamp_seconds", turn.ended)
        if turn.seconds:
            metrics.observe("bayplan_planning_seconds", turn.seconds)
        if not turn.containers:
            return  # there was no observation to trust
        metrics.set("bayplan_containers", turn.containers)
        metrics.set("bayplan_unplaced_containers", turn.unplaced)
        metrics.set("bayplan_hot_machines", turn.hot)
        for name, value in (("bayplan_fullest_machine_ratio", turn.fullest), ("bayplan_local_traffic_ratio", turn.local)):
            if value is not None:
                metrics.set(name, value)

    def plan_saved(self, plan: RecordedPlan) -> None:
        """Tell the owners of a plan that is new, or that was taken back."""
        before = self._statuses.get(plan.id)
        if before is plan.status:
            return  # only its order has changed
        self._statuses = {plan.id: plan.status} | dict(list(self._statuses.items())[:20])
        self._metrics.add("bayplan_plans_total", status=plan.status)
        if before is None and plan.status in FIRST:
            self._computed(plan)
        if plan.status is PlanStatus.ROLLED_BACK:
            self._metrics.add("bayplan_rollbacks_total")
            self._tell_owners(EventReason.ROLLED_BACK, plan, plan.why)

    def _computed(self, plan: RecordedPlan) -> None:
        gain = plan.expected.get("gain")
        self._metrics.set("bayplan_plan_moves", len(plan.moves))
        if gain is not None:
            self._metrics.set("bayplan_plan_gain_ratio", gain)
        self._tell_owners(EventReason.PLAN_COMPUTED, plan, f"{plan.status}: {plan.why}" if plan.why else str(plan.status))

    def _tell_owners(self, reason: EventReason, plan: RecordedPlan, words: str) -> None:
        moves: dict[str, int] = {}
        for move in plan.moves:
            moves[move.workload] = moves.get(move.workload, 0) + 1
        for workload in sorted(moves)[:OWNERS]:
            owner = self._references.now.owners.get(workload)
            if owner is not None:
                self._events.write(reason, owner, f"Plan {plan.id}, {count(moves[workload], 'move')} of this one: {words}")

    def steps_begun(self, steps: Sequence[RecordedStep]) -> None:
        """Tell pods whose move begins with one of these steps."""
        if not steps:
            return
        plan, recorded = self._recorded(steps)
        numbers = {step.number for step in steps}
        moving = {(step.container, step.back) for step in recorded if step.number not in numbers}
        for step in steps:
            if (step.container, step.back) not in moving:
                moving.add((step.container, step.back))
                self._metrics.add("bayplan_moves_total", outcome=MoveOutcome.STARTED)
                self._tell_move(EventReason.MOVE_STARTED, step.uid, _move(plan, step), _started(plan, step))

    def steps_ended(self, steps: Sequence[RecordedStep]) -> None:
        """Tell pods whose move has come to its end with one of these steps, or is blocked."""
        if not steps:
            return
        plan, recorded = self._recorded(steps)
        following = tracked(plan, recorded)
        for step in steps:
            self._count(step)
            move = _move(plan, step)
            if move is None:
                continue
            machines = set(following[step.container].instances)
            if step.status is StepStatus.FAILED:
                self._tell_move(EventReason.MOVE_BLOCKED, step.uid, move, f"{step.action} on {step.machine}: {step.outcome}")
            elif not step.back and machines == {move.target} and move.source != move.target:
                self._ended(MoveOutcome.COMPLETED, plan, move, following[step.container].last, f"is on {move.target}")
            elif step.back and machines == {move.source}:
                self._ended(MoveOutcome.TAKEN_BACK, plan, move, following[step.container].last, f"is back on {move.source}")

    def given_up(self, plan: RecordedPlan, move: PlannedMove, why: str) -> None:
        """Tell a pod that it stays, and why."""
        self._metrics.add("bayplan_moves_total", outcome=MoveOutcome.BLOCKED)
        self._tell_move(EventReason.MOVE_BLOCKED, move.uid, move, f"Plan {plan.id} leaves it alone: {why}")

    def held(self, holds: Sequence[Hold]) -> None:
        """Write the holds on their owners."""
        self._holds.write(holds, self._references.now)
        self._metrics.set("bayplan_holds", len(self._store.holds(self._now)))

    def _recorded(self, steps: Sequence[RecordedStep]) -> tuple[RecordedPlan, list[RecordedStep]]:
        """The plan of these steps, and all its steps."""
        plan = steps[0].plan
        return self._store.plan(plan), self._store.steps(plan)

    def _count(self, step: RecordedStep) -> None:
        self._metrics.add("bayplan_steps_total", action=step.action, outcome=step.status)
        if step.status is StepStatus.DONE and step.ended is not None:
            self._metrics.observe("bayplan_step_seconds", max(0.0, step.ended - step.begun), action=step.action)

    def _ended(self, outcome: MoveOutcome, plan: RecordedPlan, move: PlannedMove, uid: str, words: str) -> None:
        self._metrics.add("bayplan_moves_total", outcome=outcome)
        self._tell_move(EventReason.MOVE_COMPLETED, uid, move, f"Plan {plan.id}: {move.container} {words}")

    def _tell_move(self, reason: EventReason, uid: str, move: PlannedMove | None, note: str) -> None:
        """An event on the pod, or on its owner if the pod is not known (any more)."""
        owner = None if move is None else self._references.now.owners.get(move.workload)
        pod = self._references.pod(uid)
        if pod is not None:
            self._events.write(reason, pod, note, related=owner)
        if owner is not None:
            self._events.write(reason, owner, note, related=pod)


def _move(plan: RecordedPlan, step: RecordedStep) -> PlannedMove | None:
    return next((move for move in plan.moves if move.container == step.container), None)


def _started(plan: RecordedPlan, step: RecordedStep) -> str:
    move = _move(plan, step)
    if move is None:
        return f"Plan {plan.id}: {step.action} on {step.machine}"
    source, target = (move.target, move.source) if step.back else (move.source, move.target)
    why = "taken back" if step.back else move.why
    first = "a second instance is created first" if step.action is Action.CREATE else "its replacement is created there"
    return f"Plan {plan.id}: {move.container} moves from {source} to {target}, {first}" + (f": {why}" if why else "")
