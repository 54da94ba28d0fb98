"""A loop on a simulated cluster, and what the record must agree with: the truth about every step, instant by instant."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

import bayplan as bp
from bayplan.check.operation import Instant, InstantKind, OperationReferee
from bayplan.model import UNPLACED, Action, Budget, Snapshot
from bayplan.model.record import PlannedMove, PlanStatus, RecordedPlan, RecordedStep, StepStatus
from bayplan.operate.context import LoopContext
from bayplan.operate.loop import Loop
from bayplan.operate.orchestrator import Observation, Phase
from bayplan.operate.settings import LoopSettings
from bayplan.operate.simulated import NO_FAULTS, QUIET, Churn, Faults, SimulatedOrchestrator, SimulatedSettings
from bayplan.operate.simulated.watched import watched
from bayplan.operate.store import Store


class Killed(BaseException):
    """A process ends at once: no handler of the loop may catch it."""


READS = frozenset(
    [
        "now",
        "wait",
        "watch",
        "renew",
        "lease",
        "paused",
        "open_plan",
        "plan",
        "plans",
        "steps",
        "turns",
        "holds",
        "rollback_asked",
        "requested_rollback",
        "last_event",
        "observed",
        "observed_at",
        "last_moved",
        "moved_since",
        "executions_since",
        "last_time",
        "history",
        "events",
    ]
)


class Interrupted:
    """An orchestrator or a store that ends its caller just before or just after a number of calls, all counted together.

    Calls that write nothing and do nothing do not count: to end there is the same as to end after the call before.
    """

    def __init__(self, inner: object, countdown: "Countdown") -> None:
        self._inner, self._countdown = inner, countdown

    def __getattr__(self, name: str) -> object:
        value = getattr(self._inner, name)
        if not callable(value) or name in READS:
            return value

        def called(*arguments: object, **keywords: object) -> object:
            self._countdown.before(name)
            answer = value(*arguments, **keywords)
            self._countdown.after(name)
            return answer

        return called


@dataclass(slots=True, kw_only=True)
class Countdown:
    """After `calls` calls the caller ends, before the call is made or after it."""

    calls: float
    early: bool = True
    kill: Callable[[], None] = lambda: _raise_killed()
    last: str = ""

    def before(self, name: str) -> None:
        """A call is about to be made."""
        self.calls -= 1
        if self.calls < 0 and self.early:
            self.last = self.last or f"before {name}"
            self.kill()

    def after(self, name: str) -> None:
        """A call was made."""
        if self.calls < 0:
            self.last = self.last or f"after {name}"
            self.kill()


def _raise_killed() -> None:
    raise Killed


@dataclass(slots=True, kw_only=True)
class Truth:
    """What happened to the instances, told by the cluster itself."""

    bound: Counter[str] = field(default_factory=Counter)  # by token
    ready: Counter[str] = field(default_factory=Counter)
    stopped: Counter[str] = field(default_factory=Counter)
    ended: set[str] = field(default_factory=set)  # uids that stop or are gone

    def see(self, instant: Instant) -> None:
        """Take an instant in."""
        if instant.token:
            of_kind = {InstantKind.BOUND: self.bound, InstantKind.READY: self.ready, InstantKind.STOPPING: self.stopped}
            if instant.kind in of_kind:
                of_kind[InstantKind(instant.kind)][instant.token] += 1
        if instant.kind in (InstantKind.STOPPING, InstantKind.GONE):
            self.ended.add(instant.uid)


def record_faults(store: Store, truth: Truth) -> Iterator[str]:
    """Where the record and the truth differ: steps that are lost, doubled or untrue."""
    steps = {step.token: step for plan in store.plans() for step in store.steps(plan.id)}
    for token in (truth.bound | truth.stopped).keys() - steps.keys():
        yield f"step {token} was made and never recorded"
    for step in steps.values():
        yield from step_faults(step, truth)
    for plan in store.plans():
        tokens = [step.token for step in store.steps(plan.id)]
        if len(set(tokens)) < len(tokens):
            yield f"plan {plan.id} has one token twice"


def step_faults(step: RecordedStep, truth: Truth) -> Iterator[str]:
    """What is untrue in the record of one step."""
    token, create = step.token, step.action is Action.CREATE
    if step.status is StepStatus.BEGUN:
        yield f"step {token} was begun, and it is not known what became of it"
    if max(truth.bound[token], truth.ready[token]) > 1 or (not create and truth.stopped[token] > 1):
        yield f"step {token} was made more than once"
    if step.status is StepStatus.DONE and create and not truth.ready[token]:
        yield f"create {token} is recorded as done, and no container became ready by it"
    if step.status is StepStatus.DONE and not create and step.uid not in truth.ended:
        yield f"delete {token} is recorded as done, and the container runs"
    if step.status is StepStatus.FAILED and (truth.ready[token] if create else truth.stopped[token]):
        yield f"{step.action} {token} is recorded as failed ({step.outcome}), and it was made"


def cluster_faults(live: object, reserved: Iterable[str]) -> Iterator[str]:
    """What a loop that has ended has left behind: reservations, containers that wait for it, second instances."""
    for name in reserved:
        yield f"reservation {name} was not released"
    for slot in live.every_slot():  # type: ignore[attr-defined]
        if slot.first is None:
            yield f"container {slot.name} is lost"
        elif slot.first.gated:
            yield f"container {slot.name} waits for a step that never comes"
        if slot.second is not None and slot.second.token:
            yield f"container {slot.name} runs twice because of us"


def random_moves(observation: Observation, rng: np.random.Generator, share: float) -> tuple[PlannedMove, ...]:
    """Some containers, each to a machine drawn at random: whether that is sensible or possible is not looked at."""
    machine_of, machines = observation.snapshot.placement.machine_of, observation.snapshot.cluster.machines.name
    moves = []
    for c, state in enumerate(observation.containers):
        target = int(rng.integers(len(machines)))
        if machine_of[c] not in (UNPLACED, target) and rng.random() < share and state.phase is Phase.READY:
            source = machines[machine_of[c]]
            moves.append(
                PlannedMove(container=state.name, uid=state.uid, workload=state.workload, source=source, target=machines[target])
            )
    return tuple(moves)


def plan_of(moves: tuple[PlannedMove, ...], at: float, name: str = "random") -> RecordedPlan:
    """A plan that is under way and has made no step; its order is found on what runs."""
    return RecordedPlan(id=name, turn=None, created=at, changed=at, status=PlanStatus.EXECUTING, moves=moves)


@dataclass(slots=True, kw_only=True)
class Operation:
    """A simulated cluster with a referee, a record, and a process that may act on it."""

    cluster: SimulatedOrchestrator
    store: Store
    context: LoopContext
    referee: OperationReferee
    truth: Truth

    @property
    def loop(self) -> Loop:
        """A loop of this process."""
        return Loop(self.context)

    def another(self, **settings: Any) -> LoopContext:
        """A further process on the same cluster and record."""
        chosen = replace(self.context.settings, **settings)
        return LoopContext(orchestrator=self.cluster, store=self.store, settings=chosen)

    def plan(self, **targets: str) -> RecordedPlan:
        """A plan under way that moves containers, named with _ for -, each to a machine named the same way."""
        if not self.context.fence:
            assert self.context.acquire()
        states = {state.name: state for state in self.cluster.observe().containers}
        moves = tuple(
            PlannedMove(
                container=state.name,
                uid=state.uid,
                workload=state.workload,
                source=state.machine,
                target=target.replace("_", "-"),
            )
            for name, target in targets.items()
            if (state := states[name.replace("_", "-")])
        )
        plan = plan_of(moves, self.cluster.now(), name="plan")
        self.store.save_plan(plan, self.context.fence)
        return plan

    def where(self, container: str) -> str:
        """The machine of a container."""
        return next(state.machine for state in self.cluster.observe().containers if state.name == container)

    def after(self, seconds: float, action: Callable[..., object], *arguments: object) -> None:
        """Let something happen in a number of seconds."""
        self.cluster._queue.after(seconds, action, *arguments)  # type: ignore[arg-type]

    def events(self, kind: str) -> list[str]:
        """What the log says of a kind."""
        return [event.text for event in self.store.history().events if event.kind == kind]

    def steps(self, plan: str = "plan") -> list[tuple[str, str]]:
        """(action and machine, status) of each step."""
        return [(f"{step.action} {step.machine}", str(step.status)) for step in self.store.steps(plan)]

    def expect_safe(self) -> None:
        """No violation of ours, and a record that is true."""
        assert not self.referee.violations
        assert not list(record_faults(self.store, self.truth))

    def expect_nothing_left_behind(self) -> None:
        """No reservation, no container that waits or runs twice."""
        assert not list(cluster_faults(self.cluster.live, self.cluster._steps._reserved))


def operation(
    snapshot: Snapshot | None = None, *, faults: Faults = NO_FAULTS, churn: Churn = QUIET, **settings: Any
) -> Operation:
    """A process on a simulated cluster in which nothing happens by itself, unless told otherwise; `web` by default."""
    cluster = SimulatedOrchestrator(snapshot or web(), settings=SimulatedSettings(churn=churn), faults=faults)
    usual: dict[str, Any] = {"mode": "auto", "settle": 0.0, "young": 0.0, "budget": Budget(iterations=200), "threads": 1}
    chosen, store = LoopSettings(**(usual | settings)), Store.open(":memory:")
    truth, referee = Truth(), watched(cluster, chosen.alive)
    cluster.listeners.append(truth.see)
    context = LoopContext(orchestrator=cluster, store=store, settings=chosen)
    return Operation(cluster=cluster, store=store, context=context, referee=referee, truth=truth)


def web(replicas: int = 4, machines: int = 4, cpu: int = 4) -> Snapshot:
    """`web`, each replica 1 cpu, all on the first machine."""
    builder = bp.ClusterBuilder("small").machines("m-{}", machines, cpu=cpu, memory="8Gi")
    return builder.workload("web", replicas=replicas, cpu=1, memory="1Gi", on=["m-0"] * replicas).build()


def talkers(weight: float = 10.0) -> Snapshot:
    """`web` on one machine and `api` on another, which talk: half of the containers should move to the others."""
    builder = bp.ClusterBuilder("talkers").machines("m-{}", 3, cpu=8, memory="16Gi")
    builder = builder.workload("web", replicas=2, cpu=1, memory="1Gi", on=["m-0", "m-0"])
    return builder.workload("api", replicas=2, cpu=1, memory="1Gi", on=["m-1", "m-1"]).traffic("web", "api", weight).build()
