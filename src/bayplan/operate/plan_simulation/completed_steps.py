"""Which steps of a plan have been made already: a plan that is carried out twice changes nothing the second time."""

from itertools import accumulate
from typing import NamedTuple

from bayplan.model import UNPLACED, Action, Migration, Plan, Running


class ContainerSteps(NamedTuple):
    """The steps of one container, in the order of the plan."""

    position: list[tuple[int, int]]  # batch, index of the step in it
    action: list[Action]
    machine: list[int]

    def states(self) -> list[frozenset[int]]:
        """Before each step and after the last: on which of the machines that its steps name the container runs."""
        first = dict(reversed(list(zip(self.machine, self.action, strict=True))))
        now = {
            m for m, action in first.items() if action is Action.DELETE
        }  # a container that is deleted first ran from the start
        states = [frozenset(now)]
        for action, m in zip(self.action, self.machine, strict=True):
            now = now | {m} if action is Action.CREATE else now - {m}
            states.append(frozenset(now))
        return states


def completed_steps(migration: Migration, plan: Plan) -> frozenset[tuple[int, int]]:
    """(batch, index of the step in it) of the steps whose effect the start of the migration has already.

    Each container is somewhere within its steps: those are made that lead to where it runs. Where it passes the same state
    twice (it makes a stopover and comes back), the run is taken to have reached the last batch at which most containers are
    where the plan has them. A container that runs on its target, a machine that its steps do not name, needs no step at all.
    """
    steps_of = _by_container(plan)
    possible = {c: _possible_counts(migration, steps, c) for c, steps in steps_of.items()}
    spans = {c: [_span(steps_of[c], made, len(plan.batches)) for made in counts] for c, counts in possible.items()}
    reached = _reached_batch([span for of_container in spans.values() for span in of_container], len(plan.batches))
    made = {c: _made(possible[c], spans[c], reached) for c in steps_of}
    return frozenset(at for c, steps in steps_of.items() for at in steps.position[: made[c]])


def _by_container(plan: Plan) -> dict[int, ContainerSteps]:
    steps_of: dict[int, ContainerSteps] = {}
    for number, batch in enumerate(plan.batches):
        for i, step in enumerate(batch):
            steps = steps_of.setdefault(step.container, ContainerSteps([], [], []))
            steps.position.append((number, i))
            steps.action.append(step.action)
            steps.machine.append(step.machine)
    return steps_of


def _possible_counts(migration: Migration, steps: ContainerSteps, c: int) -> list[int]:
    """How many of its steps may have been made, ascending; empty if that cannot be told."""
    runs = _machines(migration.start, c)
    at_target = runs == {int(migration.target.machine_of[c])} - {UNPLACED}
    if at_target and not runs <= set(steps.machine):
        return [len(steps.position)]
    seen = runs & set(steps.machine)
    return [made for made, state in enumerate(steps.states()) if state == seen]


def _machines(running: Running, c: int) -> set[int]:
    return {int(running.machine_of[c]), int(running.second[c])} - {UNPLACED}


def _span(steps: ContainerSteps, made: int, batches: int) -> tuple[int, int]:
    """The batches, first and last, in which a container may have made just `made` steps; `batches` is after the last."""
    first = steps.position[made - 1][0] if made else 0
    return first, steps.position[made][0] if made < len(steps.position) else batches


def _reached_batch(spans: list[tuple[int, int]], batches: int) -> int:
    """The last batch that lies in the most spans."""
    change = [0] * (batches + 2)
    for first, last in spans:
        change[first] += 1
        change[last + 1] -= 1
    inside = list(accumulate(change))[: batches + 1]
    return batches - inside[::-1].index(max(inside))


def _made(possible: list[int], spans: list[tuple[int, int]], reached: int) -> int:
    """The number of steps that fits the batch reached; else the largest."""
    fits = [made for made, (first, last) in zip(possible, spans, strict=True) if first <= reached <= last]
    return max(fits or possible, default=0)
