"""One linear program solved again and again, with other costs and other bounds on its rows, from where the last one ended."""

import highspy
import numpy as np

from bayplan.errors import ModelError, WorldError
from bayplan.model import FloatArray
from bayplan.solvers.program import Program


class Repeated:
    """min cost x  s.t.  row_lower <= A x <= row_upper, lower <= x <= upper; A, lower and upper stay."""

    def __init__(self, program: Program) -> None:
        if program.integral.any():
            raise ModelError("a program that is solved again and again has no whole variables")
        self._rows, self._columns = program.matrix.shape
        self._row = np.arange(self._rows, dtype=np.int32)
        self._column = np.arange(self._columns, dtype=np.int32)
        self._solver = highspy.Highs()
        options = {
            "output_flag": False,
            "threads": 1,
            "presolve": "off",
            "solver": "simplex",
            "simplex_scale_strategy": 0,  # a draft scales its rows; doing it again takes longer than most solves
        }
        for name, value in options.items():
            if self._solver.setOptionValue(name, value) == highspy.HighsStatus.kError:
                raise WorldError(f"HiGHS does not know the option {name} = {value}")
        start, index = program.matrix.indptr[:-1].astype(np.int32), program.matrix.indices.astype(np.int32)
        nothing = np.zeros(0, dtype=np.int32)
        zeros = np.zeros(self._columns, dtype=np.int32)
        states = (
            self._solver.addCols(self._columns, program.cost, program.lower, program.upper, 0, zeros, nothing, np.zeros(0)),
            self._solver.addRows(self._rows, program.row_lower, program.row_upper, len(index), start, index, program.matrix.data),
        )
        if highspy.HighsStatus.kError in states:
            raise ModelError(f"HiGHS refuses a program of {self._columns} columns: bounds or coefficients are out of range")

    def solve(self, cost: FloatArray, row_lower: FloatArray, row_upper: FloatArray) -> FloatArray | None:
        """(column,) a cheapest point; None if there is no point."""
        self._solver.changeColsCost(self._columns, self._column, cost)
        self._solver.changeRowsBounds(self._rows, self._row, row_lower, row_upper)
        found = self._run()
        if found not in (highspy.HighsModelStatus.kOptimal, highspy.HighsModelStatus.kInfeasible):
            self._solver.clearSolver()  # from afresh, where the last basis leads nowhere
            found = self._run()
        if found == highspy.HighsModelStatus.kInfeasible:
            return None
        if found != highspy.HighsModelStatus.kOptimal:
            raise WorldError(f"HiGHS ended a program of {self._columns} columns with '{found.name}'")
        return np.array(self._solver.getSolution().col_value, dtype=np.float64)

    def _run(self) -> highspy.HighsModelStatus:
        self._solver.run()
        return self._solver.getModelStatus()
