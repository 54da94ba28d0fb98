"""One process solves with any numbers of threads, one after the other and at the same time."""

import threading
from concurrent.futures import ThreadPoolExecutor

import highspy
import numpy as np
import pytest
from scipy.sparse import csr_array

from bayplan.errors import WorldError
from bayplan.model import Status
from bayplan.model.interrupt import stoppable
from bayplan.solvers.highs import RepeatedProgram, solve
from bayplan.solvers.master import Master, duals_of
from bayplan.solvers.program import Program
from bayplan.solvers.run_highs import THREAD, run, run_unless_stopped

ORDERS = [(1, 2), (2, 1, 2), (3, 1, 2, 1)]


def knapsacks(integral=True):
    """Five knapsacks over the same twenty things: HiGHS has to branch."""
    rng = np.random.default_rng(3)
    return Program(
        cost=-rng.integers(10, 99, 20).astype(np.float64),
        lower=np.zeros(20),
        upper=np.ones(20),
        integral=np.full(20, integral),
        matrix=csr_array(rng.integers(5, 60, (5, 20)).astype(np.float64)),
        row_lower=np.full(5, -np.inf),
        row_upper=np.full(5, 300.0),
    )


def integer(threads):
    answer = solve(knapsacks(), threads=threads)
    assert answer.status is Status.OPTIMAL
    return answer.cost


def linear(threads):
    return float(duals_of(knapsacks(integral=False), threads=threads, interior=False).row.sum())


def master(threads):
    rows = Master(np.ones(2), np.full(2, np.inf), threads=threads)
    for cost, row in ((2.0, [0]), (3.0, [1]), (4.0, [0, 1])):
        rows.add(cost, row, [1.0] * len(row))
    return rows.solve()[0]


def repeated(threads):
    """Always with one thread, whatever ran here before."""
    program = knapsacks(integral=False)
    return float(RepeatedProgram(program).solve(program.cost, program.row_lower, program.row_upper) @ program.cost)


every_solver = pytest.mark.parametrize("solver", [integer, linear, master, repeated])


@every_solver
@pytest.mark.parametrize("order", ORDERS, ids=str)
def test_numbers_of_threads_may_follow_each_other(solver, order):
    assert len({round(solver(threads), 6) for threads in order}) == 1


@every_solver
def test_numbers_of_threads_may_follow_each_other_where_ctrl_c_is_a_request(solver):
    with stoppable():
        assert len({round(solver(threads), 6) for threads in (2, 1, 2)}) == 1


@every_solver
def test_solves_with_different_numbers_of_threads_may_overlap(solver):
    with ThreadPoolExecutor(4) as pool:
        costs = list(pool.map(solver, (1, 2, 3, 2, 1, 1, 2, 3)))
    assert len({round(cost, 6) for cost in costs}) == 1


@every_solver
def test_a_program_that_runs_highs_itself_does_not_disturb(solver):
    def beside_own_use():
        own = highspy.Highs()
        own.setOptionValue("output_flag", False)
        own.setOptionValue("threads", 2)
        own.addVar(0.0, 1.0)
        own.run()
        return solver(1)

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(beside_own_use).result() == pytest.approx(solver(1))


def test_a_solve_that_is_not_waited_for_disturbs_none_after_it():
    begun, end = threading.Event(), threading.Event()

    class Abandoned(highspy.Highs):
        """Is in the middle of its run when Ctrl-C comes, and ends after the others."""

        def run(self):
            begun.set()
            end.wait(60.0)
            return super().run()

    solver = Abandoned()
    solver.setOptionValue("output_flag", False)
    with stoppable() as stop:
        threading.Thread(target=lambda: begun.wait(60.0) and setattr(stop, "requested", True)).start()
        assert not run_unless_stopped(solver, threads=2)
    expected = integer(1)
    assert [integer(threads) for threads in (3, 2, 1)] == [pytest.approx(expected)] * 3
    end.set()
    for thread in threading.enumerate():
        if thread.name == THREAD:
            thread.join()
    assert integer(2) == pytest.approx(expected)


@pytest.mark.parametrize("threads", [0, -1])
def test_a_number_of_threads_that_makes_no_sense_is_refused(threads):
    with pytest.raises(WorldError, match=f"cannot run with {threads} threads"):
        run(highspy.Highs(), threads=threads)
