"""Ctrl-C does not wait for HiGHS, which may look neither at its clock nor at its callbacks for seconds."""

import threading
import time

import numpy as np
from scipy.sparse import csr_array

from bayplan.model import Status
from bayplan.model.interrupt import stoppable
from bayplan.solvers.highs import solve
from bayplan.solvers.program import Program
from bayplan.solvers.run_highs import run_unless_stopped

KNAPSACK = Program(
    cost=np.array([-5.0, -4.0, -3.0]),
    lower=np.zeros(3),
    upper=np.ones(3),
    integral=np.ones(3, dtype=np.bool_),
    matrix=csr_array(np.array([[2.0, 3.0, 1.0]])),
    row_lower=np.array([-np.inf]),
    row_upper=np.array([5.0]),
)


class SlowSolver:
    """Runs until it is told to end."""

    def __init__(self) -> None:
        self.end = threading.Event()

    def setOptionValue(self, name: str, value: int) -> None:  # noqa: N802 (as HiGHS calls it)
        assert name == "threads"

    def run(self) -> None:
        self.end.wait(20.0)


def test_a_stop_ends_the_wait_at_once():
    solver = SlowSolver()
    with stoppable() as stop:
        threading.Timer(0.1, lambda: setattr(stop, "requested", True)).start()
        began = time.perf_counter()
        assert not run_unless_stopped(solver, threads=1)
        assert time.perf_counter() - began < 2.0
    solver.end.set()


def test_a_run_that_is_late_is_not_waited_for():
    solver = SlowSolver()
    assert not run_unless_stopped(solver, threads=1, patience=0.05)
    assert not solver.end.is_set()
    solver.end.set()


def test_a_run_that_ends_in_time_has_its_answer():
    assert solve(KNAPSACK, patience=60.0).status is Status.OPTIMAL


def test_within_a_stoppable_block_the_answer_is_that_of_a_plain_run():
    plain = solve(KNAPSACK)
    with stoppable():
        watched = solve(KNAPSACK)
    assert plain.status is watched.status is Status.OPTIMAL
    assert plain.point.tolist() == watched.point.tolist()


def test_a_stop_requested_before_gives_no_point():
    with stoppable() as stop:
        stop.requested = True
        answer = solve(KNAPSACK)
    assert answer.status is Status.OUT_OF_BUDGET and answer.point is None
