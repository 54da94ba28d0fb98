"""The array types of the model, and the one way to make them read-only."""

from collections.abc import Iterable
from typing import TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from bayplan.errors import ModelError

IntArray: TypeAlias = npt.NDArray[np.int64]
FloatArray: TypeAlias = npt.NDArray[np.float64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
T = TypeVar("T", bound=np.generic)


def ints(values: npt.ArrayLike | Iterable[int]) -> IntArray:
    """A read-only int64 array; a read-only int64 array comes back as it is. ModelError if a value is not whole."""
    given = np.asarray(values)
    if given.dtype.kind == "f" and not (np.isfinite(given) & (given == np.trunc(given)) & (abs(given) < 2.0**63)).all():
        raise ModelError("an amount or index is not a whole number")
    return _frozen(np.ascontiguousarray(given, dtype=np.int64), values)


def floats(values: npt.ArrayLike | Iterable[float]) -> FloatArray:
    """A read-only float64 array; a read-only float64 array comes back as it is."""
    return _frozen(np.ascontiguousarray(values, dtype=np.float64), values)


def _frozen(array: npt.NDArray[T], given: object) -> npt.NDArray[T]:
    """The array, read-only; a copy if the caller may still write to what it gave."""
    if array is given and not array.flags.writeable:
        return array
    is_new = isinstance(given, np.ndarray) and array is not given and not np.may_share_memory(array, given)
    frozen = array if is_new else array.copy()
    frozen.flags.writeable = False
    return frozen


def random_state(seed: int) -> npt.NDArray[np.uint64]:
    """(1,) the state with which the random numbers of a kernel start; odd, so never 0."""
    state: npt.NDArray[np.uint64] = np.random.SeedSequence(seed).generate_state(1, np.uint64) | np.uint64(1)
    return state
