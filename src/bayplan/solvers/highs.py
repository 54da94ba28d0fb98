"""HiGHS as the solver of linear and integer programs: a program goes in; a status, a point and a bound come out."""

from collections.abc import Mapping
from dataclasses import dataclass

import highspy
import numpy as np

from bayplan.errors import ModelError, WorldError
from bayplan.model import FloatArray, Status
from bayplan.solvers.program import Program
from bayplan.solvers.run_highs import run, run_unless_stopped

LARGEST_COST = 1e3  # costs are scaled so that the largest is this: tolerances of HiGHS are absolute
GAP = 1e-9  # relative, and absolute after scaling
EXACT = 1e-10  # absolute, after scaling: the tolerances of an exact search; those of HiGHS, 1e-6 and 1e-7, hide near ties

_PROVEN = {highspy.HighsModelStatus.kOptimal: Status.OPTIMAL, highspy.HighsModelStatus.kModelEmpty: Status.OPTIMAL}
_NONE = {highspy.HighsModelStatus.kInfeasible: Status.INFEASIBLE}
_STOPPED = {
    highspy.HighsModelStatus.kTimeLimit,
    highspy.HighsModelStatus.kIterationLimit,
    highspy.HighsModelStatus.kSolutionLimit,
    highspy.HighsModelStatus.kInterrupt,
    highspy.HighsModelStatus.kUnknown,
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ProgramSolution:
    """`point` is None exactly when `status` says there is none."""

    status: Status
    point: FloatArray | None  # (column,); whole numbers where the program has integer variables
    cost: float | None = None
    bound: float | None = None  # no point costs less; None if nothing is proven


def solve(
    program: Program,
    *,
    seconds: float | None = None,
    threads: int = 1,
    gap: float = GAP,
    seed: int = 0,
    presolve: bool = True,
    exact: bool = False,
    nodes: int | None = None,
    patience: float | None = None,
) -> ProgramSolution:
    """The cheapest point up to a relative gap, or the best one found in time. ModelError if there is no cheapest one.

    `nodes` limits the search as `seconds` does, and the same number gives the same answer. Ctrl-C ends the wait at once, without
    a point; so do `patience` seconds, for callers that have an answer anyway: HiGHS may look at its clock too late.

    HiGHS 1.14.0 takes some points for optimal that are not, if it presolves a program in which some variables are integer and
    some are not (its issues 2957, 3043; fixed in 1.15.0). Without `presolve` it is slower, and correct. `exact`: with no gap, and
    tolerances so small that a bound holds up to `exact_error`; slower, too.
    """
    if not program.matrix.shape[1]:
        feasible = zero_is_feasible(program.row_lower, program.row_upper)
        return _answer(Status.OPTIMAL if feasible else Status.INFEASIBLE, np.zeros(0) if feasible else None, program, 0.0)
    scale = LARGEST_COST / (float(np.abs(program.cost).max()) or LARGEST_COST)
    try:
        solver = _solver(program, scale, gap)
        if exact:
            names = ("mip_feasibility_tolerance", "primal_feasibility_tolerance", "dual_feasibility_tolerance")
            set_options(solver, {**dict.fromkeys(names, EXACT), "mip_rel_gap": 0.0, "mip_abs_gap": 0.0})
        set_options(solver, {"random_seed": seed % 2**31, "presolve": "choose" if presolve else "off"})
        if seconds is not None:
            set_options(solver, {"time_limit": max(0.0, seconds)})
        if nodes is not None:
            set_options(solver, {"mip_max_nodes": nodes})
        if not run_unless_stopped(solver, threads=threads, patience=patience):
            return ProgramSolution(status=Status.OUT_OF_BUDGET, point=None)
        status = solver.getModelStatus()
        point = _point(solver, program)
        bound = float(solver.getInfo().mip_dual_bound) / scale if program.integral.any() else None
    except (RuntimeError, TypeError, ValueError) as error:
        raise WorldError(f"HiGHS failed on a program of {program.matrix.shape[1]} columns: {error}") from error
    return _translated(status, point, program, bound)


def exact_error(columns: int) -> float:
    """How far the bound of an exact search over binary variables may be wrong, relative to it.

    For programs in which a variable of the largest cost can be 1 on its own. Each variable may be off by the tolerance, which
    counts by its cost; each reduced cost, too, which counts by `LARGEST_COST`; and a branch that gains less is cut off.
    """
    return 2.0 * EXACT + (columns + 1) * EXACT / LARGEST_COST


def zero_is_feasible(row_lower: FloatArray, row_upper: FloatArray) -> bool:
    """Does a program without columns, or with all of them at zero, keep its rows?"""
    return bool((row_lower <= 0).all() and (row_upper >= 0).all())


def set_options(solver: highspy.Highs, options: Mapping[str, object]) -> None:
    """Set options by name; WorldError for an option that this HiGHS does not know."""
    for name, value in options.items():
        if solver.setOptionValue(name, value) == highspy.HighsStatus.kError:
            raise WorldError(f"HiGHS does not know the option {name} = {value}")


def _solver(program: Program, scale: float, gap: float) -> highspy.Highs:
    solver = highspy.Highs()
    set_options(solver, {"output_flag": False, "mip_rel_gap": gap, "mip_abs_gap": GAP})
    if solver.passModel(model_of(program, scale)) == highspy.HighsStatus.kError:
        raise ModelError(f"HiGHS refuses a program of {program.matrix.shape[1]} columns: bounds or coefficients are out of range")
    if len(program.start) and program.integral.any():
        start = highspy.HighsSolution()
        start.col_value = program.start.tolist()
        start.value_valid = True
        solver.setSolution(start)
    return solver


def model_of(program: Program, scale: float) -> highspy.HighsLp:
    """The program as HiGHS takes it, costs times `scale`."""
    model = highspy.HighsLp()
    model.num_row_, model.num_col_ = program.matrix.shape
    model.col_cost_ = program.cost * scale
    model.col_lower_, model.col_upper_ = program.lower, program.upper
    model.row_lower_, model.row_upper_ = program.row_lower, program.row_upper
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.num_row_, model.a_matrix_.num_col_ = program.matrix.shape
    model.a_matrix_.start_ = program.matrix.indptr.astype(np.int32)
    model.a_matrix_.index_ = program.matrix.indices.astype(np.int32)
    model.a_matrix_.value_ = program.matrix.data
    if program.integral.any():
        kinds = (highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger)
        model.integrality_ = [kinds[integer] for integer in program.integral.astype(int).tolist()]
    return model


def _point(solver: highspy.Highs, program: Program) -> FloatArray | None:
    """The point that HiGHS has now, integer variables rounded; None if it is not feasible."""
    if solver.getInfo().primal_solution_status != highspy.SolutionStatus.kSolutionStatusFeasible:
        return None
    point = np.array(solver.getSolution().col_value, dtype=np.float64)
    return np.where(program.integral, np.round(point), point)


def _translated(
    status: highspy.HighsModelStatus, point: FloatArray | None, program: Program, bound: float | None
) -> ProgramSolution:
    if status in _PROVEN and point is not None:
        return _answer(Status.OPTIMAL, point, program, bound)
    if status in _NONE:
        return _answer(Status.INFEASIBLE, None, program, None)
    if status in _STOPPED:
        return _answer(Status.OUT_OF_BUDGET if point is None else Status.FEASIBLE, point, program, bound)
    raise ModelError(f"HiGHS ended with '{status.name}': the program has no cheapest point")


def _answer(status: Status, point: FloatArray | None, program: Program, bound: float | None) -> ProgramSolution:
    cost = None if point is None else float(program.cost @ point)
    if bound is None and status is Status.OPTIMAL:
        bound = cost
    known = bound if bound is not None and np.isfinite(bound) else None
    return ProgramSolution(status=status, point=point, cost=cost, bound=known)


class RepeatedProgram:
    """A linear program solved again and again with other costs and row bounds, each time from the last basis.

    min cost x  s.t.  row_lower <= A x <= row_upper, lower <= x <= upper; A, lower and upper stay the same.
    """

    def __init__(self, program: Program) -> None:
        if program.integral.any():
            raise ModelError("a repeated program has integer variables; expected none")
        self._rows, self._columns = program.matrix.shape
        self._row = np.arange(self._rows, dtype=np.int32)
        self._column = np.arange(self._columns, dtype=np.int32)
        self._solver = highspy.Highs()
        options: dict[str, object] = {
            "output_flag": False,
            "presolve": "off",
            "solver": "simplex",
            "simplex_scale_strategy": 0,  # `ProgramBuilder` scales its rows; doing it again takes longer than most solves
        }
        set_options(self._solver, options)
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
        if not self._columns:
            return np.zeros(0) if zero_is_feasible(row_lower, row_upper) else None
        self._solver.changeColsCost(self._columns, self._column, cost)
        self._solver.changeRowsBounds(self._rows, self._row, row_lower, row_upper)
        status = self._run()
        if status not in (highspy.HighsModelStatus.kOptimal, highspy.HighsModelStatus.kInfeasible):
            self._solver.clearSolver()  # a fresh start, where the last basis leads nowhere
            status = self._run()
        if status == highspy.HighsModelStatus.kInfeasible:
            return None
        if status != highspy.HighsModelStatus.kOptimal:
            raise WorldError(f"HiGHS ended a program of {self._columns} columns with '{status.name}'")
        return np.array(self._solver.getSolution().col_value, dtype=np.float64)

    def _run(self) -> highspy.HighsModelStatus:
        run(self._solver, threads=1)
        return self._solver.getModelStatus()
