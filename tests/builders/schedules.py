"""Small scheduling problems, and what is expected of every schedule."""

import numpy as np
from hypothesis import strategies as st

from bayplan.decide.schedule import ScheduleOptions, ScheduleProblem
from bayplan.model import Budget, Fleet, Resource, TimedRequests, silent

NAMES = ("cpu", "memory", "disk")
BUDGET = Budget(iterations=50)


def timed(rows, capacity, priority=()) -> TimedRequests:
    """Requests from rows (start, end, demand, value)."""
    return TimedRequests(
        name=tuple(f"q{j}" for j in range(len(rows))),
        resources=tuple(Resource(name=name) for name in NAMES[: len(capacity)]),
        capacity=list(capacity),
        start=np.array([row[0] for row in rows], dtype=float),
        end=np.array([row[1] for row in rows], dtype=float),
        demand=np.array([row[2] for row in rows], dtype=np.int64).reshape(len(rows), len(capacity)),
        value=np.array([row[3] for row in rows], dtype=float),
        priority=priority,
    )


def problem(rows, machines, capacity=(10, 10)) -> ScheduleProblem:
    """On that many machines of one size."""
    return ScheduleProblem.alike(timed(rows, capacity), machines)


def drawn(seed, *, requests=30, machines=4, resources=2, grid=8, most=10) -> ScheduleProblem:
    """Random requests on a coarse grid of times: many ties, equal intervals, intervals that touch."""
    rng = np.random.default_rng(seed)
    start = rng.integers(0, grid, requests) / 2
    end = start + rng.integers(1, grid, requests) / 2
    demand = np.minimum(rng.integers(0, most + 1, (requests, resources)), rng.integers(0, most + 1, (requests, 1)))
    value = rng.choice([0.0, 1.0, 1.0, 2.5, 1 / 3, 7.0], requests)
    rows = list(zip(start, end, demand, value, strict=True))
    return problem(rows, machines, [10] * resources)


@st.composite
def problems(draw, max_requests=6, max_machines=3, resources=(1, 3), kinds=1) -> ScheduleProblem:
    """A few requests on a half-hour grid, on few machines; some requests are larger than every machine."""
    n, n_r = draw(st.integers(0, max_requests)), draw(st.integers(*resources))
    amount = st.lists(st.integers(0, 8), min_size=n_r, max_size=n_r)
    rows = []
    for _ in range(n):
        start = draw(st.integers(0, 6)) / 2
        end = start + draw(st.integers(1, 5)) / 2
        rows.append((start, end, draw(amount), draw(st.sampled_from([0.0, 1.0, 1.0, 2.5, 0.3, 6.0]))))
    sizes = draw(st.lists(st.lists(st.integers(0, 9), min_size=n_r, max_size=n_r), min_size=1, max_size=kinds))
    counts = draw(st.lists(st.integers(0, max_machines), min_size=len(sizes), max_size=len(sizes)))
    fleet = Fleet(kind=tuple(f"kind {i}" for i in range(len(sizes))), machines=counts, capacity=sizes)
    return ScheduleProblem(requests=timed(rows, sizes[0]), fleet=fleet)


def solved(scheduler, instance, *, seed=0, budget=BUDGET, options=None, progress=silent):
    """What the scheduler answers."""
    return scheduler(instance, options or ScheduleOptions(), budget=budget, seed=seed, progress=progress)


def overloads(instance, machine_of) -> list[tuple[int, float, int]]:
    """(machine, time, resource) where a machine holds more than it has: an independent sweep over all ends.

    The load of half-open intervals is highest at an end: what meets at a time also meets when the first of it ends.
    """
    requests, found = instance.requests, []
    kind_of = np.repeat(np.arange(len(instance.fleet.kind)), instance.fleet.machines)
    for m in range(instance.fleet.size):
        here = np.flatnonzero(np.asarray(machine_of) == m)
        for t in requests.end[here]:
            runs = here[(requests.start[here] < t) & (t <= requests.end[here])]
            for r, has in enumerate(instance.fleet.capacity[kind_of[m]].tolist()):
                if sum(requests.demand[runs, r].tolist()) > has:
                    found.append((m, float(t), r))
    return found
