"""The arrays of the model: numbers, made read-only in one way, and names in one block of bytes."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, pairwise
from operator import index as whole
from typing import SupportsIndex, TypeAlias, TypeVar, overload

import numpy as np
import numpy.typing as npt

from bayplan.errors import ModelError

IntArray: TypeAlias = npt.NDArray[np.int64]
FloatArray: TypeAlias = npt.NDArray[np.float64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
T = TypeVar("T", bound=np.generic)

CHUNK = 8_192  # names that are text at the same time
UTF8 = ("utf-8", "surrogatepass")  # any string of Python comes back as it was


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


class NameArray(Sequence[str]):
    """Names as UTF-8 bytes side by side, decoded when asked for; in all else like the tuple of strings that it equals.

    It takes a third of the memory of that tuple, and is pickled at once.

    >>> names = NameArray.of(["web-0", "web-1", "db-0"])
    >>> names[2], names[:2], "web-1" in names, names == ("web-0", "web-1", "db-0")
    ('db-0', ('web-0', 'web-1'), True, True)
    """

    __slots__ = ("_at", "_block", "_distinct", "_start")

    def __init__(self, block: bytes, start: IntArray, distinct: bool | None = None) -> None:
        """`start`: (name + 1,) where each begins, and the end; `distinct`: no name comes twice, None if that is not known."""
        self._block = block
        self._start = ints(start)
        self._at = memoryview(self._start.data)  # quicker than the array for one index at a time
        self._distinct = distinct

    @classmethod
    def of(cls, names: Iterable[str], distinct: bool | None = None) -> "NameArray":
        """These names; a NameArray comes back as it is."""
        if isinstance(names, NameArray):
            return names
        rest, blocks, lengths = iter(names), [], [np.zeros(0, dtype=np.int64)]
        while chunk := list(islice(rest, CHUNK)):
            text = "".join(chunk)
            encoded = chunk if text.isascii() else [name.encode(*UTF8) for name in chunk]
            lengths.append(np.fromiter(map(len, encoded), dtype=np.int64, count=len(chunk)))
            blocks.append(text.encode(*UTF8))
        return cls(b"".join(blocks), _ends(np.concatenate(lengths)), distinct)

    @property
    def block(self) -> bytes:
        """The bytes of all names, without anything between them."""
        return self._block

    @property
    def start(self) -> IntArray:
        """(name + 1,) where each name begins in `block`, and the end."""
        return self._start

    @property
    def are_distinct(self) -> bool:
        """Does no name come twice? Looked up once."""
        if self._distinct is None:
            self._distinct = len(set(self)) == len(self)
        return self._distinct

    def __len__(self) -> int:
        return len(self._start) - 1

    @overload
    def __getitem__(self, place: SupportsIndex) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[str, ...]: ...

    def __getitem__(self, place: SupportsIndex | slice) -> str | tuple[str, ...]:
        if isinstance(place, slice):
            first, last, step = place.indices(len(self))
            return tuple(self._texts(first, last)) if step == 1 else tuple(self[i] for i in range(first, last, step))
        i, size = whole(place), len(self)
        if not -size <= i < size:
            raise IndexError("name index out of range")
        i += size if i < 0 else 0
        return self._block[self._at[i] : self._at[i + 1]].decode(*UTF8)

    def __iter__(self) -> Iterator[str]:
        for first in range(0, len(self), CHUNK):
            yield from self._texts(first, min(first + CHUNK, len(self)))

    def _texts(self, first: int, last: int) -> list[str]:
        if last <= first:
            return []
        bounds = self._start[first : last + 1]
        block = self._block[bounds[0] : bounds[-1]]
        places = pairwise((bounds - bounds[0]).tolist())
        if block.isascii():
            text = block.decode("ascii")
            return [text[a:b] for a, b in places]
        return [block[a:b].decode(*UTF8) for a, b in places]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and next(self._places(name), None) is not None

    def index(self, name: str, start: int = 0, stop: int | None = None) -> int:
        """The first place of a name within start..stop; ValueError if it is not there."""
        first, last, _ = slice(start, stop).indices(len(self))
        for place in self._places(name):
            if first <= place < last:
                return place
        raise ValueError(f"{name!r} is not among the names")

    def count(self, name: str) -> int:
        """How often a name is there."""
        return sum(1 for _ in self._places(name))

    def _places(self, name: str) -> Iterator[int]:
        """Where a name stands, ascending: names of its length are compared byte by byte, many at a time."""
        wanted = np.frombuffer(name.encode(*UTF8), dtype=np.uint8)
        same_length = np.flatnonzero(np.diff(self._start) == len(wanted))
        every = np.frombuffer(self._block, dtype=np.uint8)
        for first in range(0, len(same_length), CHUNK):
            places = same_length[first : first + CHUNK]
            letters = every[self._start[places, np.newaxis] + np.arange(len(wanted))]
            yield from places[(letters == wanted).all(axis=1)].tolist()

    def __eq__(self, other: object) -> bool:
        if isinstance(other, NameArray):
            return self._block == other._block and np.array_equal(self._start, other._start)
        return tuple(self) == other if isinstance(other, tuple) else NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(tuple(self))

    def __reduce__(self) -> tuple[object, ...]:
        length = np.diff(self._start)
        return _unpickled, (self._block, length.astype(np.min_scalar_type(length.max(initial=0))), self._distinct)


def _unpickled(block: bytes, length: npt.NDArray[np.unsignedinteger[npt.NBitBase]], distinct: bool | None) -> NameArray:
    return NameArray(block, _ends(length), distinct)


def _ends(length: npt.NDArray[np.integer[npt.NBitBase]]) -> IntArray:
    """0, and where each name ends."""
    return ints(np.concatenate([[0], np.cumsum(length, dtype=np.int64)]))
