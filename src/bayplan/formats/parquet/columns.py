"""Which columns the tables have, what is wrong with those of a file, and their values as arrays."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from bayplan.errors import Fault, did_you_mean
from bayplan.formats.document.schemas import one_of_known
from bayplan.formats.native.workloads import MOST_CONTAINERS
from bayplan.formats.parquet.archive import pyarrow
from bayplan.model import FloatArray, IntArray, floats, ints
from bayplan.model.arrays import NameArray

WRONG_COLUMN = "E1015"
TEXT, WHOLE, REAL = "text", "whole numbers", "numbers"
NEEDED = {
    "machines": ("name",),
    "workloads": ("name",),
    "containers": ("workload",),
    "services": ("name",),
    "traffic": ("from", "to", "weight"),
}


def expected_columns(head: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """table -> column -> what it holds, for the resources and levels of a head of the right shape."""
    levels = [level if isinstance(level, str) else level["name"] for level in head.get("levels", [])]

    def each(prefix: str, kind: str) -> dict[str, str]:
        return {f"{prefix}.{resource}": kind for resource in head["resources"]}

    places = {f"at.{level}": TEXT for level in levels}
    usage = each("usage", REAL) | each("std", REAL)
    return {
        "machines": {"name": TEXT} | each("capacity", WHOLE) | each("safety", WHOLE) | places,
        "workloads": {"name": TEXT, "service": TEXT} | each("request", WHOLE) | usage | each("limit", WHOLE),
        "containers": {"workload": TEXT, "name": TEXT, "machine": TEXT},
        "services": {"name": TEXT, "clique": REAL},
        "traffic": {"from": TEXT, "to": TEXT, "weight": REAL},
    }


def column_faults(head: Mapping[str, Any], tables: Mapping[str, Any]) -> list[Fault]:
    """Columns that are missing, not known, twice there or of the wrong type; containers of unknown workloads."""
    expected = expected_columns(head)
    faults = [fault for name, table in tables.items() for fault in _table_faults(name, table, expected[name])]
    return faults or [*_owner_faults(tables)]


def _table_faults(name: str, table: Any, expected: Mapping[str, str]) -> Iterator[Fault]:
    there: list[str] = table.column_names
    for column in NEEDED[name]:
        if column not in there:
            yield _fault(name, f"column '{column}' is missing", ", ".join(there), ", ".join(expected))
    for column, kind in zip(there, map(str, table.schema.types), strict=True):
        if column not in expected:
            wanted = one_of_known("column", expected) + did_you_mean(column, expected)
            yield _fault(name, f"column '{column}' is not known", kind, wanted)
        elif there.count(column) > 1:
            yield _fault(name, f"column '{column}' is there twice", str(there.count(column)), "each column once")
        elif not _holds(table.schema.field(column).type, expected[column]):
            yield _fault(name, f"column '{column}' has the wrong type", kind, expected[column])
    if name == "containers" and table.num_rows > MOST_CONTAINERS:
        yield _fault(name, "has too many rows", str(table.num_rows), f"at most {MOST_CONTAINERS}")


def _fault(table: str, problem: str, value: str, expected: str) -> Fault:
    return Fault(code=WRONG_COLUMN, kind="table", name=table, problem=problem, value=value[:80], expected=expected)


def _holds(kind: Any, expected: str) -> bool:
    types = pyarrow("reading").types
    if expected == TEXT:
        inner = kind.value_type if types.is_dictionary(kind) else kind
        return bool(types.is_string(inner) or types.is_large_string(inner))
    whole = types.is_integer(kind) and not types.is_uint64(kind)
    return bool(whole or (expected == REAL and types.is_floating(kind)))


def _owner_faults(tables: Mapping[str, Any]) -> Iterator[Fault]:
    """Containers whose workload is not in the table of workloads; each name once."""
    known = set(tables["workloads"].column("name").to_pylist())
    owner = texts(tables["containers"], "workload")
    unknown = [code for code, name in enumerate(owner.values) if name not in known]
    if (owner.code == NOTHING).any():
        unknown.append(NOTHING)
    for code in unknown:
        rows = np.flatnonzero(owner.code == code)
        if not rows.size:
            continue  # a name that no row uses
        name = owner.values[code] if code != NOTHING else "null"
        problem = f"{len(rows)} of its rows name an unknown workload, the first is row {rows[0] + 1}"
        expected = one_of_known("workload", known - {None})
        yield Fault(code="E1202", kind="table", name="containers", problem=problem, value=name, expected=expected)


NOTHING = -1  # the code of null


class Texts(NamedTuple):
    """A column of texts that repeat."""

    code: IntArray  # (row,) index into `values`, NOTHING for null
    values: list[str]  # each once

    def numbers(self, number: Mapping[str, int], missing: int) -> IntArray:
        """(row,) the number of each text; KeyError if a text that a row has is not there, `missing` for null."""
        used = np.unique(self.code)
        table = np.full(len(self.values) + 1, missing, dtype=np.int64)  # the last, also -1, is null
        for code in used[used != NOTHING].tolist():
            table[code] = number[self.values[code]]
        return ints(table[self.code])


def texts(table: Any, column: str) -> Texts:
    """A column of texts; nothing but nulls if the table does not have it."""
    if column not in table.column_names or not table.num_rows:
        return Texts(ints(np.full(table.num_rows, NOTHING)), [])
    arrow, array = pyarrow("reading"), table.column(column)
    if not arrow.types.is_dictionary(array.type):
        array = array.dictionary_encode()
    array = arrow.concat_arrays(array.unify_dictionaries().chunks)
    code = array.indices.cast(arrow.int64()).fill_null(NOTHING).to_numpy(zero_copy_only=False)
    values = array.dictionary.to_pylist()
    if None in values:  # null by way of the dictionary
        code = np.where(np.isin(code, [place for place, value in enumerate(values) if value is None]), NOTHING, code)
    return Texts(ints(code), [value or "" for value in values])


def names(table: Any, order: IntArray | None = None) -> NameArray | None:
    """The column `name`, in this order of the rows; None if a row has no name."""
    arrow, column = pyarrow("reading"), table.column("name")
    if column.null_count:
        return None
    kind = column.type.value_type if arrow.types.is_dictionary(column.type) else column.type
    if not len(column):
        return NameArray.of(())
    array = arrow.concat_arrays(column.cast(kind).cast(arrow.large_string()).chunks)
    array = array if order is None else array.take(arrow.array(order))
    start = np.frombuffer(array.buffers()[1], dtype=np.int64)[array.offset : array.offset + len(array) + 1]
    block = array.buffers()[2]
    once = bool(arrow.compute.count_distinct(array).as_py() == len(array))
    return NameArray(b"" if block is None else block[start[0] : start[-1]].to_pybytes(), ints(start - start[0]), once)


def wholes(table: Any, prefix: str, resources: Sequence[str], default: int | IntArray) -> IntArray:
    """(row, resource) whole numbers; the default where there is no column, or null."""
    amount = np.empty((table.num_rows, len(resources)), dtype=np.int64)
    amount[:] = default
    for r, resource in enumerate(resources):
        if f"{prefix}.{resource}" in table.column_names:
            column = table.column(f"{prefix}.{resource}")
            stated = column.is_valid().to_numpy()
            amount[stated, r] = column.drop_null().cast("int64").to_numpy()
    return ints(amount)


def reals(table: Any, column: str, default: FloatArray) -> FloatArray:
    """(row,) numbers; the default where there is no column, or null."""
    if column not in table.column_names:
        return default
    stated, value = table.column(column).is_valid().to_numpy(), default.copy()
    value[stated] = table.column(column).drop_null().cast("float64", safe=False).to_numpy()
    return floats(value)
