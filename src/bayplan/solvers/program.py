"""A linear program, some of whose variables may be integer, and the builder that collects its rows and columns."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from bayplan.errors import ModelError
from bayplan.model import BoolArray, FloatArray, IntArray

LARGEST_SCALE = 1e5  # the feasibility tolerance of solvers is 1e-6


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Program:
    """min cost x  s.t.  row_lower <= matrix x <= row_upper, lower <= x <= upper, x integer where `integral`."""

    cost: FloatArray  # (column,)
    lower: FloatArray  # (column,)
    upper: FloatArray  # (column,)
    integral: BoolArray  # (column,)
    matrix: csr_array  # (row, column)
    row_lower: FloatArray  # (row,)
    row_upper: FloatArray  # (row,)
    start: FloatArray = field(default_factory=lambda: np.zeros(0))  # (column,) a point to begin from; or empty

    def __post_init__(self) -> None:
        rows, columns = self.matrix.shape
        shapes = {array.shape for array in (self.cost, self.lower, self.upper, self.integral)}
        if shapes != {(columns,)} or {self.row_lower.shape, self.row_upper.shape} != {(rows,)}:
            raise ModelError(f"program: arrays of shapes {sorted(shapes)} for {rows} rows and {columns} columns")
        if self.start.shape not in ((0,), (columns,)):
            raise ModelError(f"program: a start of {len(self.start)} values for {columns} columns")
        if not np.isfinite(self.cost).all() or not np.isfinite(self.matrix.data).all():
            raise ModelError("program: a cost or a coefficient is not finite")


class LinearExpression(NamedTuple):
    """The sum of by * column, and a constant."""

    column: Sequence[int]
    by: Sequence[float]
    constant: float = 0.0

    def times(self, by: float) -> "LinearExpression":
        """The expression, multiplied."""
        return LinearExpression(self.column, [by * coefficient for coefficient in self.by], by * self.constant)


def sum_of(expressions: Sequence[LinearExpression], constant: float = 0.0) -> LinearExpression:
    """The sum of expressions and a constant, each column once."""
    total: dict[int, float] = {}
    for expression in expressions:
        constant += expression.constant
        for column, by in zip(expression.column, expression.by, strict=True):
            total[column] = total.get(column, 0.0) + by
    return LinearExpression(list(total), list(total.values()), constant)


class ProgramBuilder:
    """A program while it is built: columns and rows come one by one, each column with its value at the start."""

    def __init__(self) -> None:
        self.cost: list[float] = []
        self.lower: list[float] = []
        self.upper: list[float] = []
        self.integral: list[bool] = []
        self.start: list[float] = []
        self.row_start: list[int] = [0]
        self.entry_column: list[int] = []
        self.entry: list[float] = []
        self.row_lower: list[float] = []
        self.row_upper: list[float] = []

    def column(self, cost: float, *, upper: float = np.inf, integral: bool = False, start: float = 0.0) -> int:
        """A new variable, zero or more."""
        self.cost.append(cost)
        self.lower.append(0.0)
        self.upper.append(upper)
        self.integral.append(integral)
        self.start.append(start)
        return len(self.cost) - 1

    def row(self, expression: LinearExpression, *, at_least: float = -np.inf, at_most: float = np.inf) -> None:
        """at_least <= expression <= at_most, scaled by the largest coefficient, but not so that rounding loses a unit."""
        scale = min(max((abs(by) for by in expression.by), default=0.0), LARGEST_SCALE) or 1.0
        self.entry_column.extend(expression.column)
        self.entry.extend(by / scale for by in expression.by)
        self.row_start.append(len(self.entry))
        self.row_lower.append((at_least - expression.constant) / scale)
        self.row_upper.append((at_most - expression.constant) / scale)

    def excess(self, expression: LinearExpression, cost: float) -> int:
        """A new variable: max(0, expression) in units of its largest coefficient, at a cost per unit of the expression."""
        scale = max((abs(by) for by in expression.by), default=0.0) or 1.0
        column = self.column(cost * scale, start=max(0.0, self.at_start(expression)) / scale)
        self.row(LinearExpression([*expression.column, column], [*expression.by, -scale], expression.constant), at_most=0.0)
        return column

    def at_start(self, expression: LinearExpression) -> float:
        """The value of an expression at the start."""
        return expression.constant + sum(
            by * self.start[column] for column, by in zip(expression.column, expression.by, strict=True)
        )

    def program(self) -> Program:
        """The program that has been built."""
        shape = (len(self.row_lower), len(self.cost))
        entries = np.array(self.entry, dtype=np.float64)
        where: IntArray = np.array(self.entry_column, dtype=np.int64)
        return Program(
            cost=np.array(self.cost, dtype=np.float64),
            lower=np.array(self.lower, dtype=np.float64),
            upper=np.array(self.upper, dtype=np.float64),
            integral=np.array(self.integral, dtype=np.bool_),
            matrix=csr_array((entries, where, np.array(self.row_start, dtype=np.int64)), shape=shape),
            row_lower=np.array(self.row_lower, dtype=np.float64),
            row_upper=np.array(self.row_upper, dtype=np.float64),
            start=np.array(self.start, dtype=np.float64),
        )
