"""Lists of values per owner, gathered one by one and then stored behind each other."""

from collections import defaultdict
from collections.abc import Iterable

import numpy as np

from bayplan.model import FloatArray, IntArray


class Lists:
    """Entries of owners 0..n-1; equal keys of one owner are added up."""

    def __init__(self, owners: int) -> None:
        self.owners = owners
        self.entries: dict[int, dict[tuple[int, ...], list[float]]] = defaultdict(dict)

    def add(self, owner: int, key: tuple[int, ...], *amount: float) -> None:
        """One entry; amounts of an entry that is there already grow."""
        known = self.entries[owner].setdefault(key, [0.0] * len(amount))
        for column, more in enumerate(amount):
            known[column] += more

    def copy_to(self, owner: int, others: Iterable[int]) -> None:
        """Give an owner all entries of others, added up."""
        for other in others:
            for key, amount in list(self.entries.get(other, {}).items()):
                self.add(owner, key, *amount)

    def of(self, owner: int) -> dict[tuple[int, ...], list[float]]:
        """The entries of one owner."""
        return self.entries.get(owner, {})

    def packed(self, keys: int, amounts: int = 0) -> tuple[IntArray, IntArray, FloatArray]:
        """(owner + 1,) where each owner's entries start; (entry, key); (entry, amount)."""
        start = np.zeros(self.owners + 1, dtype=np.int64)
        flat_key: list[tuple[int, ...]] = []
        flat_amount: list[list[float]] = []
        for owner in sorted(self.entries):
            start[owner + 1] = len(self.entries[owner])
            flat_key.extend(self.entries[owner].keys())
            flat_amount.extend(self.entries[owner].values())
        key = np.array(flat_key, dtype=np.int64).reshape(-1, keys)
        amount = np.array(flat_amount, dtype=np.float64).reshape(-1, amounts) if amounts else np.zeros((len(key), 0))
        return np.cumsum(start), key, amount
