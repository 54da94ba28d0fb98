"""The dual side of a linear program: what one unit more of each row and of each column's limit is worth."""

from dataclasses import dataclass

import highspy
import numpy as np

from bayplan.errors import WorldError
from bayplan.model import FloatArray
from bayplan.solvers.highs import LARGEST_COST, model_of, set_options
from bayplan.solvers.master import TOLERANCE
from bayplan.solvers.program import Program


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Duals:
    """In units of the cost. Only as exact as HiGHS is: who proves something with them evaluates it anew."""

    row: FloatArray  # (row,)
    column: FloatArray  # (column,) reduced cost: at most zero where the upper limit binds


def duals_of(program: Program, *, seconds: float | None = None, threads: int = 1, interior: bool = True) -> Duals | None:
    """The duals of a program without whole variables; None if it has no optimum or the time is too short.

    `interior`: by the interior point method, without moving to a corner, which is much faster for large sparse programs and good
    to about 1e-8; else by the simplex method.
    """
    scale = LARGEST_COST / (float(np.abs(program.cost).max(initial=0.0)) or LARGEST_COST)
    try:
        solver = highspy.Highs()
        set_options(solver, {"output_flag": False, "threads": threads, "solver": "ipm" if interior else "simplex"})
        set_options(solver, {"run_crossover": "off"} if interior else {"dual_feasibility_tolerance": TOLERANCE})
        if seconds is not None:
            set_options(solver, {"time_limit": max(0.0, seconds)})
        solver.passModel(model_of(program, scale))
        solver.run()
        if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            return None
        solution = solver.getSolution()
        row, column = np.array(solution.row_dual, dtype=np.float64), np.array(solution.col_dual, dtype=np.float64)
    except (RuntimeError, TypeError, ValueError) as error:
        raise WorldError(f"HiGHS failed on a linear program of {program.matrix.shape[1]} columns: {error}") from error
    return Duals(row=row / scale, column=column / scale)
