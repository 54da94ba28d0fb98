"""A linear program, some of whose variables may have to be whole; and the draft that it is gathered in."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from bayplan.errors import ModelError
from bayplan.model import BoolArray, FloatArray, IntArray

LARGEST_SCALE = 1e5  # solvers grant 1e-6


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Program:
    """min cost x  s.t.  row_lower <= matrix x <= row_upper, lower <= x <= upper, x whole where `integral`."""

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
    """sum of by * column, and a constant."""

    column: Sequence[int]
    by: Sequence[float]
    constant: float = 0.0

    def times(self, by: float) -> "LinearExpression":
        """The line, multiplied."""
        return LinearExpression(self.column, [by * some for some in self.by], by * self.constant)


def sum_of(lines: Sequence[LinearExpression], constant: float = 0.0) -> LinearExpression:
    """The sum of lines and a constant, each column once."""
    total: dict[int, float] = {}
    for line in lines:
        constant += line.constant
        for column, by in zip(line.column, line.by, strict=True):
            total[column] = total.get(column, 0.0) + by
    return LinearExpression(list(total), list(total.values()), constant)


class ProgramBuilder:
    """A program while it is written: columns and rows come one by one, each column with its value at the start."""

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

    def row(self, line: LinearExpression, *, at_least: float = -np.inf, at_most: float = np.inf) -> None:
        """at_least <= line <= at_most, divided by the largest coefficient, but not so far that one unit is rounding."""
        scale = min(max((abs(by) for by in line.by), default=0.0), LARGEST_SCALE) or 1.0
        self.entry_column.extend(line.column)
        self.entry.extend(by / scale for by in line.by)
        self.row_start.append(len(self.entry))
        self.row_lower.append((at_least - line.constant) / scale)
        self.row_upper.append((at_most - line.constant) / scale)

    def excess(self, line: LinearExpression, cost: float) -> int:
        """A new variable: max(0, line) in units of the line's largest coefficient, at a cost per unit of the line."""
        scale = max((abs(by) for by in line.by), default=0.0) or 1.0
        column = self.column(cost * scale, start=max(0.0, self.at_start(line)) / scale)
        self.row(LinearExpression([*line.column, column], [*line.by, -scale], line.constant), at_most=0.0)
        return column

    def at_start(self, line: LinearExpression) -> float:
        """The value of a line at the start."""
        return line.constant + sum(by * self.start[column] for column, by in zip(line.column, line.by, strict=True))

    def program(self) -> Program:
        """What has been written."""
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
