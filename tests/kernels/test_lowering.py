"""A kernel does what its text says: the same answers as the Python function, wherever our translation takes a short way."""

from typing import NamedTuple

import numpy as np
import pytest
from numba.core.caching import NullCache

from bayplan.kernels.jit import ENTRIES, allocating_kernel, kernel
from bayplan.kernels.lowering import LONGEST_NAME


class Table(NamedTuple):
    whole: np.ndarray
    real: np.ndarray
    record: np.ndarray


RECORD = np.dtype([("first", np.int64), ("second", np.float64)])


@pytest.fixture(params=[kernel, allocating_kernel])
def compiled(request):
    """Make a kernel that leaves no trace."""

    def compile_one(function):
        entry = request.param(function)
        entry._cache = NullCache()
        del ENTRIES[entry.name]
        return entry

    return compile_one


def table():
    whole = np.arange(24, dtype=np.int64).reshape(2, 3, 4)
    record = np.array([(3, 0.5), (4, 0.25)], dtype=RECORD)
    return Table(whole, np.linspace(0.0, 1.0, 6).reshape(2, 3), record)


def read_items(t, i, j):
    total = t.whole[i, j, 0] + t.whole[-1, -2, j] + t.whole[1][j, -1]
    return total + t.real[-1, j] + t.real[i][j] + t.record[i]["first"] * t.record[-1]["second"]


def write_items(t, i):
    t.whole[i, -1, 2] = 7
    t.whole[1, 0, i] += 5
    t.real[i, 0] = 3
    t.real[-1] = 0.5
    t.record[i]["second"] = 2


def assign_in_loops(t, n):
    last, total, flag = -1, 0, False
    for i in range(n):
        once = i * 2
        if once % 3 == 0:
            last = once
            continue
        for j in range(once):
            inner = j + once
            if inner > n:
                flag = not flag
                break
            total += inner
        total += once - last
    left = total
    while left > 10:
        left, last = left // 2, left
    return total, last, left, flag, n / 2, -n % 3


@pytest.mark.parametrize("i", [0, 1, -1, -2])
@pytest.mark.parametrize("j", [0, 2, -1, -3])
def test_items_are_read_where_the_index_says(compiled, i, j):
    assert compiled(read_items)(table(), i, j) == pytest.approx(read_items(table(), i, j), abs=0)


@pytest.mark.parametrize("i", [0, 1, -1, -2])
def test_items_are_written_where_the_index_says(compiled, i):
    ours, theirs = table(), table()
    compiled(write_items)(ours, i)
    write_items(theirs, i)
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("dtype", [np.bool_, np.int32, np.uint8, np.int64, np.float64])
def test_items_of_any_type_are_converted(compiled, dtype):
    def copy_first(values, out):
        out[1, 1] = values[0]
        return values[1]

    values, out = np.array([1, 0, 3], dtype=dtype), np.zeros((2, 2))
    assert compiled(copy_first)(values, out) == values[1]
    assert out.tolist() == [[0.0, 0.0], [0.0, float(values[0])]]


def test_arrays_with_gaps_are_read_too(compiled):
    def corner(values, i):
        return values[i, 1] + values[1, -1]

    values = np.arange(24.0).reshape(4, 6)[::2, ::3]
    assert compiled(corner)(values, -2) == corner(values, -2)
    assert compiled(corner)(np.asfortranarray(values), -2) == corner(values, -2)


@pytest.mark.parametrize("n", [0, 1, 5, 12])
def test_variables_keep_their_values_through_loops(compiled, n):
    assert compiled(assign_in_loops)(table(), n) == assign_in_loops(table(), n)


def test_a_failure_in_a_part_reaches_the_caller(compiled):
    divide = compiled(lambda a, b: a // b)

    def sum_of_quotients(a, b):
        total = 0
        for n in range(3):
            total += divide(a, b - n)
        return total

    outer = compiled(sum_of_quotients)
    assert outer(12, 5) == 12 // 5 + 12 // 4 + 12 // 3
    with pytest.raises(ZeroDivisionError):
        outer(12, 2)


def test_functions_that_differ_in_a_type_have_different_short_names(compiled):
    from numba import types

    entry = compiled(read_items)
    entry(table(), 0, 0)
    (code,) = entry.overloads.values()
    one = code.target_context.mangler("a" * 200, (types.int64,))
    other = code.target_context.mangler("a" * 200, (types.float64,))
    assert one != other
    assert len(code.target_context.mangler("short", tuple([types.int64] * 50))) <= LONGEST_NAME + 21
