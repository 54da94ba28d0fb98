"""Containers of a plan, followed by identity while they move, and the plan in terms of a fresh observation."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from bayplan.api.partial_run import reachable_target
from bayplan.migrate import MIGRATORS, MigrateOptions
from bayplan.model import (
    UNPLACED,
    Action,
    AntiAffinity,
    Budget,
    Confidence,
    Interference,
    Migration,
    MigrationPolicy,
    Placement,
    Plan,
    Step,
    Way,
    ints,
    silent,
)
from bayplan.model.record import PlannedMove, RecordedPlan, RecordedStep, StepStatus
from bayplan.operate.orchestrator import Observation, Phase

MACHINE = 0  # the level of single machines
NamedStep = tuple[str, str, str]  # action, container as the plan calls it, machine
ORDERING = 5.0  # seconds for a new order of what is left


@dataclass(slots=True, kw_only=True)
class TrackedContainer:
    """One container of a plan: on which machines instances of it run, and what it was last."""

    move: PlannedMove
    instances: dict[str, str]  # machine -> uid
    last: str  # uid of the instance that ran last: a create without another instance stands in for it
    given_up: str = ""  # why it is left alone from now on

    @property
    def begun(self) -> bool:
        """Is it neither where it was nor where it is to be, or on both?"""
        return set(self.instances) not in ({self.move.source}, {self.move.target})

    @property
    def arrived(self) -> bool:
        """Does it run on its target, and only there?"""
        return set(self.instances) == {self.move.target}

    def apply(self, step: RecordedStep) -> None:
        """Follow a step that was made."""
        if step.action is Action.CREATE:
            self.instances[step.machine] = step.new_uid
            self.last = step.new_uid
        else:
            self.instances.pop(step.machine, None)
            self.last = next(iter(self.instances.values()), step.uid)


def tracked(plan: RecordedPlan, steps: Iterable[RecordedStep]) -> dict[str, TrackedContainer]:
    """Every container of a plan, where the steps that were made have brought it."""
    following = {
        move.container: TrackedContainer(move=move, instances={move.source: move.uid}, last=move.uid) for move in plan.moves
    }
    for step in steps:
        if step.status is StepStatus.DONE and step.container in following:
            following[step.container].apply(step)
    return following


@dataclass(kw_only=True, eq=False)
class FreshState:
    """What is left of a plan, in the numbers of a fresh observation."""

    observation: Observation
    following: dict[str, TrackedContainer]
    migration: Migration
    index: dict[str, int] = field(default_factory=dict)  # container as the plan calls it -> its number now
    machine: dict[str, int] = field(default_factory=dict)

    def step(self, named: NamedStep) -> Step | None:
        """A step in numbers; None if there is nothing to do: its container is given up, or its effect holds already."""
        action, container, machine = Action(named[0]), named[1], named[2]
        following = self.following[container]
        holds = (machine in following.instances) == (action is Action.CREATE)
        if following.given_up or holds or container not in self.index or machine not in self.machine:
            return None
        return Step(action, self.index[container], self.machine[machine])

    @cached_property
    def before(self) -> Placement:
        """What runs, with the containers that have been deleted and not created yet where they were."""
        machine_of = self.observation.snapshot.placement.machine_of.copy()
        for name, c in self.index.items():
            source = self.machine.get(self.following[name].move.source)
            if machine_of[c] == UNPLACED and source is not None:
                machine_of[c] = source
        return Placement(machine_of=ints(machine_of))

    def within_limits(self, batch: Sequence[tuple[NamedStep, Step]]) -> list[tuple[NamedStep, Step]]:
        """A batch without deletes for which too few replicas would be ready now, and creates that must wait: those come later."""
        owner, names = self.observation.snapshot.cluster.containers.workload, self.observation.snapshot.cluster.workloads.name
        deleted = [int(owner[step.container]) for _, step in batch if step.action is Action.DELETE and self._is_ready(step)]
        spare = {w: ready - self.needed(names[w]) for w, ready in self._ready(set(deleted)).items()}
        kept = []
        for named, step in batch:
            w = int(owner[step.container])
            if step.action is Action.CREATE and self._must_wait(w, step.machine):
                continue
            if step.action is Action.DELETE and self._is_ready(step):
                spare[w] -= 1
                if spare[w] < 0:
                    continue
            kept.append((named, step))
        return kept

    def _must_wait(self, w: int, m: int) -> bool:
        """Is something stopping, in the place that a create is for, that counts for a rule about both? It is in no snapshot."""
        levels = self.observation.snapshot.cluster.levels
        return any(
            levels[level].group_of[m] == levels[level].group_of[there]
            for other, there in self._stopping
            for level in self._rules_between.get((w, other), ())
        )

    @cached_property
    def _stopping(self) -> list[tuple[int, int]]:
        """(workload, machine) of every instance that is stopping."""
        names = {name: w for w, name in enumerate(self.observation.snapshot.cluster.workloads.name)}
        return [
            (names[state.workload], self.machine[state.machine])
            for state in self.observation.stopping
            if state.workload in names and state.machine in self.machine
        ]

    @cached_property
    def _rules_between(self) -> dict[tuple[int, int], set[int]]:
        """Workload and workload that is stopping -> levels on which a rule counts both."""
        cluster, stopping = self.observation.snapshot.cluster, {other for other, _ in self._stopping}
        between: dict[tuple[int, int], set[int]] = {}
        for rule in cluster.rules if stopping else ():
            if isinstance(rule, Confidence):
                together, level = tuple(range(len(cluster.workloads.name))), MACHINE
            elif isinstance(rule, AntiAffinity):
                together, level = rule.workloads, rule.level
            elif isinstance(rule, Interference):
                together, level = (rule.a, rule.b), rule.level
            else:
                continue
            for other in stopping.intersection(together):
                for w in together:
                    between.setdefault((w, other), set()).add(level)
        return between

    def unready(self, batch: Sequence[Step]) -> str:
        """Why too few replicas would be ready while a batch runs, by what is ready now; empty if enough are."""
        observation, owner = self.observation, self.observation.snapshot.cluster.containers.workload
        names = observation.snapshot.cluster.workloads.name
        deleted = Counter(int(owner[step.container]) for step in batch if step.action is Action.DELETE and self._is_ready(step))
        ready = self._ready(set(deleted))
        for w, number in deleted.items():
            needed = self.needed(names[w])
            if ready[w] - number < needed:
                return f"workload '{names[w]}' has {ready[w]} ready replicas and needs {needed}; the batch deletes {number}"
        return ""

    def needed(self, workload: str) -> int:
        """Replicas of a workload that must be ready: by the alive share, and by its own limit of disruption."""
        share = self.migration.policy.alive * self.observation.replicas.get(workload, 0)
        return max(int(np.ceil(share - 1e-9)), self.observation.needed.get(workload, 0))

    def _is_ready(self, step: Step) -> bool:
        """Is the instance that a step deletes ready? Of one that is not, nothing is lost."""
        observation = self.observation
        here, machine = observation.containers[step.container], observation.machines[step.machine].name
        instance = here if here.machine == machine else observation.second.get(here.name)
        return instance is not None and instance.phase is Phase.READY

    def _ready(self, workloads: set[int]) -> dict[int, int]:
        """Ready instances of some workloads, second ones too."""
        observation = self.observation
        ready = dict.fromkeys(workloads, 0)
        for state, w in zip(observation.containers, observation.snapshot.cluster.containers.workload.tolist(), strict=True):
            if w in ready:
                second = observation.second.get(state.name)
                ready[w] += (state.phase is Phase.READY) + (second is not None and second.phase is Phase.READY)
        return ready


def fresh_state(
    observation: Observation, following: dict[str, TrackedContainer], alive: float, way: Way | str = Way.AUTO
) -> FreshState:
    """The containers of a plan in an observation; those that changed meanwhile are given up."""
    machine = {state.name: m for m, state in enumerate(observation.machines)}
    at = {state.uid: c for c, state in enumerate(observation.containers)}
    at |= {other.uid: at[state.uid] for state in observation.containers if (other := observation.second.get(state.name))}
    waiting = {state.replaces: c for c, state in enumerate(observation.containers) if state.replaces}
    index: dict[str, int] = {}
    for name, container in following.items():
        c = _number(container, at, waiting)
        container.given_up = container.given_up or _changed(observation, container, c)
        if c is not None:
            index[name] = c
    target = observation.snapshot.placement.machine_of.copy()
    for name, c in index.items():
        if not following[name].given_up:
            target[c] = machine[following[name].move.target]
    sizes = [observation.replicas.get(name, 0) for name in observation.snapshot.cluster.workloads.name]
    migration = Migration(
        cluster=observation.snapshot.cluster,
        start=observation.running,
        target=Placement(machine_of=ints(target)),
        policy=MigrationPolicy(alive=alive, way=(Way(way),) * len(sizes)),
        full_size=ints(sizes),
    )
    return FreshState(observation=observation, following=following, migration=migration, index=index, machine=machine)


def _number(container: TrackedContainer, at: Mapping[str, int], waiting: Mapping[str, int]) -> int | None:
    """The number of a container in an observation; None if it is not there."""
    numbers = {at[uid] for uid in container.instances.values() if uid in at}
    if len(numbers) == 1 and all(uid in at for uid in container.instances.values()):
        return numbers.pop()
    return waiting.get(container.last) if not container.instances else None


def _changed(observation: Observation, container: TrackedContainer, c: int | None) -> str:
    """Why a container cannot be moved on; empty if it can."""
    move = container.move
    if c is None:
        return "it was deleted or replaced meanwhile"
    if not container.begun and observation.containers[c].name in observation.still_stopping:
        return "an older instance of it has not ended yet"
    if move.workload in observation.incomplete:
        return "not all replicas of its workload are shown"
    if move.workload in observation.changing:
        return f"its workload is {observation.changing[move.workload]}"
    target = next((state for state in observation.machines if state.name == move.target), None)
    if target is None:
        return f"machine '{move.target}' is gone"
    if not target.open and not container.arrived:
        return f"machine '{move.target}' takes no containers any more"
    return ""


def spoiled(state: FreshState) -> str:
    """Which rule what is left of a plan would violate at its end, where others changed the cluster; empty if none.

    The referee of plans forgives on the way what the end violates, so the end is looked at for itself.
    """
    _, stays = reachable_target(state.migration, state.before)
    return next(iter(stays.values()), "")


def new_order(state: FreshState, seed: int) -> tuple[tuple[NamedStep, ...], ...]:
    """What is left of a plan, ordered anew from what runs now; what cannot be reached any more is given up."""
    migration, stays = reachable_target(state.migration, state.before)
    names = {c: name for name, c in state.index.items()}
    for c, why in stays.items():
        if c in names:
            state.following[names[c]].given_up = f"it would violate a rule now: {why}"
    others = np.ones(len(migration.target.machine_of), dtype=np.bool_)
    others[[c for name, c in state.index.items() if not state.following[name].given_up]] = False
    options = MigrateOptions(never=others)
    result = MIGRATORS["waves"](migration, options, budget=Budget(seconds=ORDERING), seed=seed, progress=silent)
    for reason in result.left_out:
        number = next((c for c, name in enumerate(migration.cluster.containers.name) if name == reason.subject), UNPLACED)
        if number in names:
            state.following[names[number]].given_up = f"no safe order was found: {reason.text}"
    plan = result.solution or Plan(batches=())
    machines = migration.cluster.machines.name
    batches = (
        tuple((step.action.value, names[step.container], machines[step.machine]) for step in batch if step.container in names)
        for batch in plan.batches
    )
    state.migration = migration
    return tuple(batch for batch in batches if batch)
