"""Columns of a parquet file as numpy arrays, or a numbered fault."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bayplan.errors import Fault, InputError, UsageError

LARGEST = 2.0**53  # of an amount or a time, unless it is multiplied by a scale


def trace_file(folder: Path | str, name: str) -> Path:
    """A file of a trace's folder; InputError if it is not there."""
    path = Path(folder) / name
    if Path(folder).is_file():
        problem, expected = "is a file", f"the folder of the trace, with '{name}' in it"
        raise InputError(str(folder), [Fault(code="E1801", kind="file", name=str(folder), problem=problem, expected=expected)])
    if not path.is_file():
        problem, expected = "a file of the trace is missing", f"'{name}' in '{folder}'"
        raise InputError(str(folder), [Fault(code="E1801", kind="file", name=name, problem=problem, expected=expected)])
    return path


def read_columns(folder: Path | str, name: str, columns: Sequence[str]) -> dict[str, Any]:
    """The named columns of a parquet file: numpy arrays, NaN (or None in texts) where a value is missing."""
    path = trace_file(folder, name)
    arrow, parquet = _pyarrow()
    try:
        there = parquet.read_schema(path).names
        missing = [column for column in columns if column not in there]
        if missing:
            raise InputError(str(path), [_no_column(path, column, there) for column in missing])
        table = parquet.read_table(path, columns=list(columns))
    except (arrow.ArrowException, OSError) as error:
        problem, expected = "cannot be read as parquet", "a parquet file"
        fault = Fault(code="E1803", kind="file", name=name, problem=problem, value=str(error)[:80], expected=expected)
        raise InputError(str(path), [fault]) from error
    return {column: _array(table.column(column)) for column in columns}


def amounts_ok(source: Path | str, *, largest: float = LARGEST, **columns: np.ndarray[Any, Any]) -> None:
    """InputError unless every number is there, not negative and not beyond `largest`."""
    wrong = {name: _wrong_rows(column, largest) for name, column in columns.items()}
    faults = [
        Fault(
            code="E1804",
            kind="column",
            name=name,
            problem="a value is missing, negative, not finite or too large",
            value=_rows(rows),
            expected=f"0 to {largest:g}",
        )
        for name, rows in wrong.items()
        if len(rows)
    ]
    if faults:
        raise InputError(str(source), faults)


def _wrong_rows(column: np.ndarray[Any, Any], largest: float) -> np.ndarray[Any, np.dtype[np.int64]]:
    try:
        number = column.astype(np.float64).reshape(len(column), -1)
    except (TypeError, ValueError):  # texts
        return np.arange(len(column))
    return np.flatnonzero(~((number >= 0) & (number <= largest)).all(axis=1))  # no comparison holds for NaN


def _rows(rows: np.ndarray[Any, np.dtype[np.int64]]) -> str:
    return f"row {rows[0] + 1}, {len(rows)} rows in all"


def times_ok(source: Path | str, column: str, wrong: np.ndarray[Any, np.dtype[np.bool_]]) -> None:
    """InputError if the lifetime of any row is wrong."""
    rows = np.flatnonzero(wrong)
    if len(rows):
        problem, expected = "a lifetime is empty or its bounds are in the wrong order", "an end after the start"
        fault = Fault(code="E1807", kind="column", name=column, problem=problem, value=_rows(rows), expected=expected)
        raise InputError(str(source), [fault])


def names_ok(source: Path | str, kind: str, names: Sequence[str]) -> None:
    """InputError with every name that comes twice."""
    if len(set(names)) == len(names):
        return
    problem, expected = "the name occurs more than once", "each name once"
    raise InputError(
        str(source),
        [
            Fault(code="E1806", kind=kind, name=str(name), problem=problem, value=f"{count} times", expected=expected)
            for name, count in Counter(names).items()
            if count > 1
        ],
    )


def positions(source: Path | str, kind: str, names: Sequence[str], wanted: Sequence[str]) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Where each asked name stands in `names`; InputError for those that are not there."""
    index = {name: i for i, name in enumerate(names)}
    unknown = [name for name in dict.fromkeys(wanted) if name not in index]
    if unknown:
        problem, expected = "is named but does not exist", f"one of the {len(names)} {kind} names of the trace"
        faults = [Fault(code="E1805", kind=kind, name=str(name), problem=problem, expected=expected) for name in unknown]
        raise InputError(str(source), faults)
    return np.array([index[name] for name in wanted], dtype=np.int64)


def _array(column: Any) -> Any:
    import pyarrow.types as kinds

    if kinds.is_list(column.type) or kinds.is_large_list(column.type):
        return np.array(column.to_pylist(), dtype=np.float64)
    return column.to_numpy()


def _no_column(path: Path, column: str, there: Sequence[str]) -> Fault:
    problem, value = "the column is missing", f"there are {', '.join(there[:8])}"
    return Fault(code="E1802", kind="column", name=column, problem=problem, value=value, expected=f"it in '{path.name}'")


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise UsageError("reading traces needs pyarrow: pip install 'bayplan[data]'") from error
    return pyarrow, pyarrow.parquet
