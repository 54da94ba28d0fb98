"""A linear program that grows by columns, solved again and again from where it was: the master of a column generation."""

from collections.abc import Sequence
from dataclasses import dataclass

import highspy
import numpy as np

from bayplan.errors import WorldError
from bayplan.model import FloatArray, IntArray
from bayplan.solvers.highs import LARGEST_COST, model_of, set_options, zero_is_feasible
from bayplan.solvers.program import Program
from bayplan.solvers.run_highs import run

TOLERANCE = 1e-10  # the default of HiGHS, 1e-7, is too loose for a reduced cost of -1e-9
FRESH_STARTS = (TOLERANCE, 10 * TOLERANCE, 100 * TOLERANCE)  # where HiGHS ends without an optimum


class Master:
    """min cost v  s.t.  row_lower <= A v <= row_upper, v >= 0; columns of A come one by one.

    `interior`: by an interior point method, from scratch each time. Where many rows are tight at once the simplex method can stay
    at one vertex for minutes; this one does not, and its prices lie in the middle of those that are equally good. They are less
    precise.
    """

    def __init__(self, row_lower: FloatArray, row_upper: FloatArray, *, threads: int = 1, interior: bool = False) -> None:
        self._solver = highspy.Highs()
        self._interior, self._threads = interior, threads
        self._rows, self._zero_is_feasible = len(row_lower), zero_is_feasible(row_lower, row_upper)
        options: dict[str, object] = {
            "output_flag": False,
            "dual_feasibility_tolerance": TOLERANCE,
            "primal_feasibility_tolerance": TOLERANCE,
            "presolve": "off",
            "solver": "simplex",
        }
        if interior:
            options = {"output_flag": False, "presolve": "on", "solver": "ipm", "run_crossover": "off"}
        set_options(self._solver, options)
        for low, high in zip(row_lower.tolist(), row_upper.tolist(), strict=True):
            self._solver.addRow(low, high, 0, np.zeros(0, dtype=np.int32), np.zeros(0))
        self.columns = 0

    def add(self, cost: float, rows: IntArray | Sequence[int], by: FloatArray | Sequence[float]) -> None:
        """A new column, at zero or above."""
        index, value = np.asarray(rows, dtype=np.int32), np.asarray(by, dtype=np.float64)
        if self._solver.addCol(float(cost), 0.0, highspy.kHighsInf, len(index), index, value) == highspy.HighsStatus.kError:
            raise WorldError(f"HiGHS refuses column {self.columns} of a master program")
        self.columns += 1

    def solve(self) -> tuple[float, FloatArray, FloatArray]:
        """The least cost, the value of each column, the dual price of each row."""
        answer = self.solve_within(None)
        if answer is None:
            status = self._solver.getModelStatus().name if self.columns else "kModelEmpty"
            raise WorldError(f"HiGHS ended a master program of {self.columns} columns with '{status}'")
        return answer

    def solve_within(self, seconds: float | None) -> tuple[float, FloatArray, FloatArray] | None:
        """As `solve`; None if that takes longer or there is no optimum. The clock of HiGHS runs on from one call to the next."""
        if not self.columns:
            return self._nothing() if self._zero_is_feasible else None
        limit = highspy.kHighsInf if seconds is None else self._solver.getRunTime() + max(0.0, seconds)
        self._solver.setOptionValue("time_limit", limit)
        status = self._run()
        for tolerance in () if self._interior else FRESH_STARTS:
            if status in (highspy.HighsModelStatus.kOptimal, highspy.HighsModelStatus.kTimeLimit):
                break
            self._solver.clearSolver()  # the last basis leads nowhere
            self._set_tolerance(tolerance)
            status = self._run()
            self._set_tolerance(TOLERANCE)
        return self._optimum() if status == highspy.HighsModelStatus.kOptimal else None

    def _set_tolerance(self, tolerance: float) -> None:
        set_options(self._solver, {"dual_feasibility_tolerance": tolerance, "primal_feasibility_tolerance": tolerance})

    def _nothing(self) -> tuple[float, FloatArray, FloatArray]:
        """The optimum without columns; HiGHS calls such a program neither optimal nor infeasible."""
        return 0.0, np.zeros(0), np.zeros(self._rows)

    def _optimum(self) -> tuple[float, FloatArray, FloatArray]:
        solution = self._solver.getSolution()
        value, dual = np.array(solution.col_value, dtype=np.float64), np.array(solution.row_dual, dtype=np.float64)
        return float(self._solver.getInfo().objective_function_value), value, dual

    def _run(self) -> highspy.HighsModelStatus:
        if self._interior:
            self._solver.clearSolver()
        run(self._solver, threads=self._threads)
        return self._solver.getModelStatus()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Duals:
    """What one unit more of each row and of each column's limit is worth, in units of the cost.

    Only as exact as HiGHS is: a proof that uses them must evaluate them anew.
    """

    row: FloatArray  # (row,)
    column: FloatArray  # (column,) reduced cost: at most zero where the upper limit binds


def duals_of(program: Program, *, seconds: float | None = None, threads: int = 1, interior: bool = True) -> Duals | None:
    """The duals of a program without integer variables; None if it has no optimum or the time is too short.

    `interior`: by the interior point method, without moving to a vertex, which is much faster for large sparse programs and good
    to about 1e-8; else by the simplex method.
    """
    if not program.matrix.shape[1]:
        kept = zero_is_feasible(program.row_lower, program.row_upper)
        return Duals(row=np.zeros(program.matrix.shape[0]), column=np.zeros(0)) if kept else None
    scale = LARGEST_COST / (float(np.abs(program.cost).max(initial=0.0)) or LARGEST_COST)
    try:
        solver = highspy.Highs()
        set_options(solver, {"output_flag": False, "solver": "ipm" if interior else "simplex"})
        set_options(solver, {"run_crossover": "off"} if interior else {"dual_feasibility_tolerance": TOLERANCE})
        if seconds is not None:
            set_options(solver, {"time_limit": max(0.0, seconds)})
        solver.passModel(model_of(program, scale))
        run(solver, threads=threads)
        if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            return None
        solution = solver.getSolution()
        row, column = np.array(solution.row_dual, dtype=np.float64), np.array(solution.col_dual, dtype=np.float64)
    except (RuntimeError, TypeError, ValueError) as error:
        raise WorldError(f"HiGHS failed on a linear program of {program.matrix.shape[1]} columns: {error}") from error
    return Duals(row=row / scale, column=column / scale)
