"""Small scheduling problems for Hypothesis: ends that meet starts, equal intervals, no demand, no value, one or two kinds."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from bayplan.decide.schedule.problem import ScheduleProblem
from bayplan.model import Fleet, Resource, TimedRequests, floats, ints

SIZE = 12  # of a machine, per resource


def problem_of(rows: list[tuple], machines: int = 1, *, fleet: Fleet | None = None) -> ScheduleProblem:
    """From (start, end, value, demand, ...) lines, on machines of 12 units per resource, or on a fleet."""
    resources = len(rows[0]) - 3
    requests = TimedRequests(
        name=tuple(f"q{i}" for i in range(len(rows))),
        resources=tuple(Resource(name=name) for name in ("cpu", "memory", "disk")[:resources]),
        capacity=ints([SIZE] * resources),
        start=floats([row[0] for row in rows]),
        end=floats([row[1] for row in rows]),
        value=floats([row[2] for row in rows]),
        demand=ints([list(row[3:]) for row in rows]),
    )
    return ScheduleProblem(requests=requests, fleet=fleet or Fleet.alike(machines, requests.capacity))


@st.composite
def timed_problems(
    draw: DrawFn, max_requests: int = 7, max_machines: int = 3, *, resources: int | None = None, only_wide: bool = False
) -> ScheduleProblem:
    """Requests on 1-3 resources and 0-3 machines of one kind or of two; with `only_wide` all take more than half of a machine."""
    n, k = draw(st.integers(1, max_requests)), resources or draw(st.integers(1, 3))
    value = st.sampled_from([0.0, 1.0, 1.0, 2.5, 3.1])
    rows = []
    for _ in range(n):
        start = draw(st.integers(0, 9))
        demand = draw(st.lists(st.integers(0, SIZE + 1), min_size=k, max_size=k))
        if only_wide:
            demand[draw(st.integers(0, k - 1))] = draw(st.integers(SIZE // 2 + 1, SIZE))
        rows.append((start / 2, (start + draw(st.integers(1, 6))) / 2, draw(value), *demand))
    if draw(st.booleans()):
        return problem_of(rows, draw(st.integers(0, max_machines)))
    sizes = draw(st.lists(st.integers(0, 2 * SIZE), min_size=2 * k, max_size=2 * k))
    machines = draw(st.lists(st.integers(0, (max_machines + 1) // 2), min_size=2, max_size=2))
    fleet = Fleet(kind=("one", "other"), machines=ints(machines), capacity=ints(np.array(sizes).reshape(2, k)))
    return problem_of(rows, fleet=fleet)
