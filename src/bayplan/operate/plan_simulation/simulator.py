"""A plan carried out step by step on a model of the cluster, with injected failures."""

from collections.abc import Sequence

import numpy as np

from bayplan.check.violation import amount
from bayplan.errors import ModelError
from bayplan.model import UNPLACED, Action, Capacity, IntArray, Migration, Plan, Progress, Running, Step, Tick, ints, silent
from bayplan.model.plan import add_instance, remove_instance
from bayplan.operate.plan_simulation.completed_steps import completed_steps
from bayplan.operate.plan_simulation.execution import Execution, ExecutionEvent, StepOutcome
from bayplan.operate.plan_simulation.failures import Failure, MachineDies, StepHangs, hits
from bayplan.score.counts import loads, running_loads


def carry_out(
    migration: Migration,
    plan: Plan,
    failures: Sequence[Failure] = (),
    *,
    seed: int = 0,
    again: bool = True,
    progress: Progress = silent,
) -> Execution:
    """What becomes of a plan. The steps of a batch are made one at a time, in an order that the seed decides.

    When a step fails, hangs or a machine dies, the other steps of the batch are still made; then the run stops. A create also
    fails where it does not fit on its machine, as `capacity` rules say, held to the worse of both ends. `again`: steps whose
    effect holds already are skipped, so that a plan may be carried out a second time, or from where it stopped; without it they
    fail.
    """
    _expect_fit(migration, plan)
    cluster, random = SimulatedCluster(migration), np.random.default_rng(seed)
    completed = completed_steps(migration, plan) if again else frozenset()
    for number, batch in enumerate(plan.batches):
        for failure in failures:
            if isinstance(failure, MachineDies) and failure.batch == number:
                cluster.kill(number, failure.machine)
        for i in random.permutation(len(batch)).tolist():
            if (number, i) in completed:
                cluster.record(number, batch[i], StepOutcome.SKIPPED, "is so already")
            else:
                cluster.attempt(number, batch[i], failures, again)
        progress(Tick(stage="simulating", done=(number + 1) / len(plan.batches)))
        if cluster.failed or cluster.dead:
            return cluster.execution(number)
    return cluster.execution(None)


def _expect_fit(migration: Migration, plan: Plan) -> None:
    n_c, n_m = len(migration.cluster.containers.name), len(migration.cluster.machines.name)
    for step in plan.steps():
        if not (0 <= step.container < n_c and 0 <= step.machine < n_m):
            raise ModelError(f"a step of container {step.container} on machine {step.machine} does not fit the cluster")


class SimulatedCluster:
    """What runs where, changed by one step at a time; no container is ever on three machines."""

    def __init__(self, migration: Migration) -> None:
        self.migration, self.cluster = migration, migration.cluster
        self.first, self.second = migration.start.machine_of.copy(), migration.start.second.copy()
        self.load = running_loads(self.cluster, migration.start)  # (machine, resource)
        at_ends = np.maximum(self.load, loads(self.cluster, migration.target))
        self.limit = np.maximum(self.cluster.machines.capacity, at_ends)  # (machine, resource)
        self.limited = sorted({r for rule in self.cluster.rules if isinstance(rule, Capacity) for r in rule.resources})
        self.events: list[ExecutionEvent] = []
        self.failed: list[Step] = []
        self.dead: list[int] = []

    def execution(self, stopped: int | None) -> Execution:
        """The end of the run."""
        return Execution(
            running=Running(machine_of=ints(self.first), second=ints(self.second)),
            stopped=stopped,
            events=tuple(self.events),
            failed=tuple(self.failed),
            dead=tuple(self.dead),
        )

    def record(self, batch: int, step: Step, outcome: StepOutcome, words: str) -> None:
        """Record what became of a step."""
        if outcome.is_failure:
            self.failed.append(step)
        name, machine = self.cluster.containers.name[step.container], self.cluster.machines.name[step.machine]
        sentence = f"batch {batch + 1}: {step.action} '{name}' on machine '{machine}' {words}"
        self.events.append(ExecutionEvent(batch=batch, step=step, outcome=outcome, sentence=sentence))

    def kill(self, batch: int, machine: int) -> None:
        """Everything on the machine is down."""
        self.dead.append(machine)
        for c in np.flatnonzero((self.first == machine) | (self.second == machine)).tolist():
            self._remove(c, machine)
        sentence = f"batch {batch + 1}: machine '{self.cluster.machines.name[machine]}' died"
        self.events.append(ExecutionEvent(batch=batch, step=None, outcome=StepOutcome.FAILED, sentence=sentence))

    def attempt(self, batch: int, step: Step, failures: Sequence[Failure], again: bool) -> None:
        """Make one step, unless something prevents it."""
        failure = next((failure for failure in failures if hits(failure, batch, step)), None)
        runs_here = step.machine in (self.first[step.container], self.second[step.container])
        so_already = runs_here == (step.action is Action.CREATE)
        if step.machine in self.dead:
            self.record(batch, step, StepOutcome.FAILED, "failed: the machine is dead")
        elif so_already and again:
            self.record(batch, step, StepOutcome.SKIPPED, "is so already")
        elif so_already:
            self.record(batch, step, StepOutcome.FAILED, "failed: it is so already")
        elif isinstance(failure, StepHangs):
            self.record(batch, step, StepOutcome.HUNG, "never ended")
        elif failure is not None:
            self.record(batch, step, StepOutcome.FAILED, "failed")
        elif step.action is Action.DELETE:
            self._remove(step.container, step.machine)
            self.record(batch, step, StepOutcome.DONE, "is done")
        else:
            self._create(batch, step)

    def _create(self, batch: int, step: Step) -> None:
        c, m = step.container, step.machine
        shortage = self._shortage(c, m)
        if self.second[c] != UNPLACED:
            self.record(batch, step, StepOutcome.FAILED, "failed: it runs on two machines")
        elif shortage:
            self.record(batch, step, StepOutcome.FAILED, f"failed: {shortage}")
        else:
            add_instance(self.first, self.second, c, m)
            self.load[m] += self._request(c)
            self.record(batch, step, StepOutcome.DONE, "is done")

    def _shortage(self, c: int, m: int) -> str:
        """What the machine lacks to run the container too; empty if it fits."""
        need, limit = self.load[m] + self._request(c), self.limit[m]
        for r in self.limited:
            if need[r] > limit[r]:
                resource = self.cluster.resources[r]
                return f"it would need {amount(int(need[r]), resource)} {resource.name} of {amount(int(limit[r]), resource)}"
        return ""

    def _remove(self, c: int, m: int) -> None:
        remove_instance(self.first, self.second, c, m)
        self.load[m] -= self._request(c)

    def _request(self, c: int) -> IntArray:
        request: IntArray = self.cluster.workloads.request[self.cluster.containers.workload[c]]
        return request
