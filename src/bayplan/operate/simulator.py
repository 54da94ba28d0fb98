"""A plan carried out step by step on a model of the cluster, with failures where they are wanted."""

from collections.abc import Sequence

import numpy as np

from bayplan.check.migration.batch_state import Instances
from bayplan.check.migration.loads import Loads
from bayplan.check.violation import amount
from bayplan.errors import ModelError
from bayplan.model import UNPLACED, Action, Capacity, IntArray, Migration, Plan, Progress, Running, Step, Tick, ints, silent
from bayplan.model.outcome import Event, Fate, Outcome
from bayplan.operate.completed_steps import made_before
from bayplan.operate.failures import Failure, MachineDies, NeverEnds, hits


def simulate(
    migration: Migration,
    plan: Plan,
    failures: Sequence[Failure] = (),
    *,
    seed: int = 0,
    again: bool = True,
    progress: Progress = silent,
) -> Outcome:
    """What becomes of a plan. The steps of a batch are made one at a time, in an order that the seed decides.

    When a step fails, hangs or a machine dies, the other steps of the batch are still made; then the run stops. A create also
    fails where its machine has no room, as `capacity` rules say, held to the worse of both ends. `again`: steps whose effect
    holds already are skipped, so that a plan may be carried out a second time, or from where it stopped; without it they fail.
    """
    _expect_fit(migration, plan)
    world, random = World(migration), np.random.default_rng(seed)
    made = made_before(migration, plan) if again else frozenset()
    for number, batch in enumerate(plan.batches):
        for failure in failures:
            if isinstance(failure, MachineDies) and failure.batch == number:
                world.kill(number, failure.machine)
        for i in random.permutation(len(batch)).tolist():
            if (number, i) in made:
                world.note(number, batch[i], Fate.SKIPPED, "is so already")
            else:
                world.attempt(number, batch[i], failures, again)
        progress(Tick(stage="simulating", done=(number + 1) / len(plan.batches)))
        if world.failed or world.dead:
            return world.outcome(number)
    return world.outcome(None)


def _expect_fit(migration: Migration, plan: Plan) -> None:
    n_c, n_m = len(migration.cluster.containers.name), len(migration.cluster.machines.name)
    for step in plan.steps():
        if not (0 <= step.container < n_c and 0 <= step.machine < n_m):
            raise ModelError(f"a step of container {step.container} on machine {step.machine} does not fit the cluster")


class World:
    """What runs where, changed by one step at a time; no container is ever on three machines."""

    def __init__(self, migration: Migration) -> None:
        self.migration, self.cluster = migration, migration.cluster
        self.first, self.second = migration.start.machine_of.copy(), migration.start.second.copy()
        loads = Loads(self.cluster, Instances.of(migration.start), Instances.placed(migration.after))
        self.load, self.room = loads.start.copy(), loads.limit
        self.judged = sorted({r for rule in self.cluster.rules if isinstance(rule, Capacity) for r in rule.resources})
        self.events: list[Event] = []
        self.failed: list[Step] = []
        self.dead: list[int] = []

    def outcome(self, stopped: int | None) -> Outcome:
        """The end of the run."""
        return Outcome(
            running=Running(machine_of=ints(self.first), second=ints(self.second)),
            stopped=stopped,
            events=tuple(self.events),
            failed=tuple(self.failed),
            dead=tuple(self.dead),
        )

    def note(self, batch: int, step: Step, fate: Fate, words: str) -> None:
        """Record what became of a step."""
        if fate in (Fate.FAILED, Fate.HUNG):
            self.failed.append(step)
        name, machine = self.cluster.containers.name[step.container], self.cluster.machines.name[step.machine]
        sentence = f"batch {batch + 1}: {step.action} '{name}' on machine '{machine}' {words}"
        self.events.append(Event(batch=batch, step=step, fate=fate, sentence=sentence))

    def kill(self, batch: int, machine: int) -> None:
        """Everything on the machine is down."""
        self.dead.append(machine)
        for c in np.flatnonzero((self.first == machine) | (self.second == machine)).tolist():
            self._remove(c, machine)
        sentence = f"batch {batch + 1}: machine '{self.cluster.machines.name[machine]}' died"
        self.events.append(Event(batch=batch, step=None, fate=Fate.FAILED, sentence=sentence))

    def attempt(self, batch: int, step: Step, failures: Sequence[Failure], again: bool) -> None:
        """Make one step, unless something is in its way."""
        struck = next((failure for failure in failures if hits(failure, batch, step)), None)
        runs_here = step.machine in (self.first[step.container], self.second[step.container])
        so_already = runs_here == (step.action is Action.CREATE)
        if step.machine in self.dead:
            self.note(batch, step, Fate.FAILED, "failed: the machine is dead")
        elif so_already:
            self.note(batch, step, *((Fate.SKIPPED, "is so already") if again else (Fate.FAILED, "failed: it is so already")))
        elif struck is not None:
            hung = isinstance(struck, NeverEnds)
            self.note(batch, step, Fate.HUNG if hung else Fate.FAILED, "never ended" if hung else "failed")
        elif step.action is Action.DELETE:
            self._remove(step.container, step.machine)
            self.note(batch, step, Fate.DONE, "is done")
        else:
            self._create(batch, step)

    def _create(self, batch: int, step: Step) -> None:
        c, m = step.container, step.machine
        short = self._short_of(c, m)
        if self.second[c] != UNPLACED:
            self.note(batch, step, Fate.FAILED, "failed: it runs on two machines")
        elif short:
            self.note(batch, step, Fate.FAILED, f"failed: {short}")
        else:
            (self.first if self.first[c] == UNPLACED else self.second)[c] = m
            self.load[m] += self._request(c)
            self.note(batch, step, Fate.DONE, "is done")

    def _short_of(self, c: int, m: int) -> str:
        need, room = self.load[m] + self._request(c), self.room[m]
        for r in self.judged:
            if need[r] > room[r]:
                resource = self.cluster.resources[r]
                return f"it would need {amount(int(need[r]), resource)} {resource.name} of {amount(int(room[r]), resource)}"
        return ""

    def _remove(self, c: int, m: int) -> None:
        if self.first[c] == m:
            self.first[c] = self.second[c]
        self.second[c] = UNPLACED
        self.load[m] -= self._request(c)

    def _request(self, c: int) -> IntArray:
        request: IntArray = self.cluster.workloads.request[self.cluster.containers.workload[c]]
        return request
