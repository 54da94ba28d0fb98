"""Which steps of a plan have been made before: a plan that is carried out twice changes nothing the second time."""

from itertools import accumulate
from typing import NamedTuple

from bayplan.model import UNPLACED, Action, Migration, Plan, Running


class Trail(NamedTuple):
    """The steps of one container."""

    place: list[tuple[int, int]]  # batch, number of the step in it
    action: list[Action]
    machine: list[int]

    def states(self) -> list[frozenset[int]]:
        """Before each step and after the last: on which of the machines that its steps name the container runs."""
        first = dict(reversed(list(zip(self.machine, self.action, strict=True))))
        now = {m for m, action in first.items() if action is Action.DELETE}  # what is deleted first ran from the start
        states = [frozenset(now)]
        for action, m in zip(self.action, self.machine, strict=True):
            now = now | {m} if action is Action.CREATE else now - {m}
            states.append(frozenset(now))
        return states


def made_before(migration: Migration, plan: Plan) -> frozenset[tuple[int, int]]:
    """(batch, number of the step in it) of the steps whose effect the start of the migration has already.

    Each container is somewhere on its trail: as many steps are made as lead to where it runs. Where it passes the same state
    twice (it steps aside for others and comes back), the run is taken to stand at the last batch at which most containers are
    where the plan has them. A container that is at its target, and that on a machine which its steps do not name, needs no
    step at all.
    """
    trails = _trails(plan)
    found = {c: _found(migration, trail, c) for c, trail in trails.items()}
    spans = {c: [_span(trails[c], made, len(plan.batches)) for made in some] for c, some in found.items()}
    now = _stands_at([span for some in spans.values() for span in some], len(plan.batches))
    made = {c: _made(found[c], spans[c], now) for c in trails}
    return frozenset(spot for c, trail in trails.items() for spot in trail.place[: made[c]])


def _trails(plan: Plan) -> dict[int, Trail]:
    trails: dict[int, Trail] = {}
    for number, batch in enumerate(plan.batches):
        for i, step in enumerate(batch):
            trail = trails.setdefault(step.container, Trail([], [], []))
            trail.place.append((number, i))
            trail.action.append(step.action)
            trail.machine.append(step.machine)
    return trails


def _found(migration: Migration, trail: Trail, c: int) -> list[int]:
    """How many steps of the trail may have been made, ascending; empty if that cannot be said."""
    runs = _machines(migration.start, c)
    at_target = runs == {int(migration.after.machine_of[c])} - {UNPLACED}
    if at_target and not runs <= set(trail.machine):
        return [len(trail.place)]
    seen = runs & set(trail.machine)
    return [made for made, state in enumerate(trail.states()) if state == seen]


def _machines(running: Running, c: int) -> set[int]:
    return {int(running.machine_of[c]), int(running.second[c])} - {UNPLACED}


def _span(trail: Trail, made: int, batches: int) -> tuple[int, int]:
    """The batches, first and last, in which a container may have made just so many steps; `batches` is after the last."""
    first = trail.place[made - 1][0] if made else 0
    return first, trail.place[made][0] if made < len(trail.place) else batches


def _stands_at(spans: list[tuple[int, int]], batches: int) -> int:
    """The last batch that lies in the most spans."""
    change = [0] * (batches + 2)
    for first, last in spans:
        change[first] += 1
        change[last + 1] -= 1
    inside = list(accumulate(change))[: batches + 1]
    return batches - inside[::-1].index(max(inside))


def _made(found: list[int], spans: list[tuple[int, int]], now: int) -> int:
    """The number of steps that fits batch `now`; else the largest."""
    fits = [made for made, (first, last) in zip(found, spans, strict=True) if first <= now <= last]
    return max(fits or found, default=0)
