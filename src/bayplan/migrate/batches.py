"""A sequence of safe steps, put into as few batches as its order allows.

Batch after batch, every step that is left is looked at in its order and added if it is safe now. One that is not claims what
it needs: a later step may overtake it only where both fit, or where they have nothing in common. So the first step of
the sequence is always possible, and no order that was found is lost.
"""

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence

import numpy as np

from bayplan.migrate.running_state import RunningState
from bayplan.migrate.step_sequence import UnitStep
from bayplan.model import UNPLACED, Action, IntArray, Plan, Step, StepLimits

Claim = tuple[Hashable, ...]


def in_batches(state: RunningState, phases: Sequence[Sequence[UnitStep]]) -> Plan:
    """The steps of several phases in batches, from the given state on; it is left as after the last batch.

    No step of a phase comes before the end of the phase before. Steps that no batch can take are left out: a unit may have
    more containers than a batch may have steps.
    """
    batches = []
    for phase in phases:
        left = list(phase)
        while left:
            batch = BatchBuilder(state, state.migration.policy.limits)
            left = [step for step in left if not batch.take(step)]
            if not batch.steps:
                break
            state.end_batch()
            batches.append(batch.closed())
    return Plan(batches=tuple(batches))


class BatchBuilder:
    """One batch while it is filled: the state knows what runs, the batch what is claimed and counted."""

    def __init__(self, state: RunningState, limits: StepLimits) -> None:
        self.state, self.limits = state, limits
        self.steps: list[Step] = []
        self.touched: set[int] = set()  # containers that have a step here, or one that is postponed
        self.kept_free: dict[int, IntArray] = {}  # machine -> what postponed steps need
        self.claimed: set[Claim] = set()
        self.count: Counter[Claim] = Counter()

    def take(self, step: UnitStep) -> bool:
        """Add a step of the sequence if it is safe; otherwise it is postponed and claims what it needs."""
        containers = [made.step.container for made in step.made]
        claims = {claim for c in containers for claim in claims_of(self.state, step, c)}
        if self.claimed.isdisjoint(claims) and self.add(step.action, containers, step.machine, step.to):
            return True
        self._postpone(step, containers, claims)
        return False

    def add(self, action: Action, containers: Sequence[int], m: int, to: int = UNPLACED) -> bool:
        """Add the same step of all these containers, if that is safe; deleted ones are to be created on machine `to`."""
        if not self.touched.isdisjoint(containers) or not self._within_limits(containers, m):
            return False
        if action is Action.CREATE:
            made = self.state.try_creates(containers, m, self.kept_free.get(m))
        else:
            made = self.state.try_deletes(containers, m, to)
        for made_step in made:
            self.steps.append(made_step.step)
            self.touched.add(made_step.step.container)
            self.count.update(self._keys(made_step.step.container, m))
        return bool(made)

    def closed(self) -> tuple[Step, ...]:
        """Its steps, in the order in which plans are written."""
        return tuple(sorted(self.steps, key=lambda step: (step.action, step.machine, step.container)))

    def _postpone(self, step: UnitStep, containers: Sequence[int], claims: set[Claim]) -> None:
        self.claimed |= claims
        self.touched.update(containers)
        if step.action is Action.CREATE:
            needed: IntArray = np.sum([self.state.added_charge(c, step.machine) for c in containers], axis=0)
            self.kept_free[step.machine] = self.kept_free.get(step.machine, 0) + needed

    def _within_limits(self, containers: Sequence[int], m: int) -> bool:
        added = Counter(key for c in containers for key in self._keys(c, m))
        return all(self.count[key] + n <= getattr(self.limits, str(key[0])) for key, n in added.items())

    def _keys(self, c: int, m: int) -> Iterator[Claim]:
        """What the limits count of a step."""
        limits, cluster = self.limits, self.state.migration.cluster
        if limits.batch is not None:
            yield ("batch",)
        if limits.machine is not None:
            yield ("machine", m)
        if limits.service is not None:
            yield ("service", int(cluster.workloads.service[self.state.workload[c]]))
        if limits.group is not None:
            yield ("group", int(cluster.levels[limits.level].group_of[m]))


def claims_of(state: RunningState, step: UnitStep, c: int) -> Iterator[Claim]:
    """What a container's part in a step shares with others, beside the capacity of a machine."""
    rules, w, m = state.rules, state.workload[c], step.machine
    for skew in (*rules.skew.get(w, ()), *rules.skew_counted.get(w, ())):  # a create may need any other step before it
        yield ("skew", id(skew))
    if len(state.sequential):
        yield ("sequential", m if step.action is Action.CREATE else step.to)
    if step.action is Action.CREATE:
        for at_most in rules.anti_affinity.get(w, ()):
            yield ("anti-affinity", id(at_most), at_most.counts.group_of[m])
        for pair in rules.interference.get(w, ()):
            yield ("interference", id(pair), pair.a.group_of[m])
        for need in rules.dependency.get(w, ()):
            yield ("dependency", id(need), need.on.group_of[m])
        if state.first[c] == UNPLACED:  # the more containers run, the more groups they must use
            for spread in rules.spread.get(w, ()):
                yield ("spread", id(spread))
        if rules.confidence:
            yield ("confidence", m)
        return
    if state.second[c] == UNPLACED:
        yield ("alive", w)
    for need in rules.depended_on.get(w, ()):
        yield ("dependency", id(need), need.on.group_of[m])
    for spread in rules.spread.get(w, ()):
        yield ("spread", id(spread))
