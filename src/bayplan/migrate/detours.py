"""Detours: bring one unit to its target by clearing some of what runs there, with as few extra steps as possible.

What runs on the target may have to leave: best a unit that has to leave anyway and can move to its own target, then one that
may be down for a while, then one whose own target can be cleared, then by a stopover on a third machine. A unit that has
arrived already is disturbed last; it comes back. All steps of an attempt that fails are taken back.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from bayplan.migrate.step_sequence import StepSequence
from bayplan.model import UNPLACED

MAX_CLEARED = 12  # units that leave one machine for one unit
MAX_TRIED = 24  # units of a machine, or machines for a stopover, that are tried


@dataclass(slots=True)
class DetourSearch:
    """A search for ways to free capacity on a target; `rng` breaks ties."""

    sequence: StepSequence
    rng: np.random.Generator
    stopovers: bool
    depth: int  # targets that are cleared one after the other for one unit
    patience: int  # tries for one unit
    tries: int = 0

    def bring(self, u: int) -> bool:
        """Bring a unit to its target; nothing has changed if that fails."""
        self.tries = 0
        return self._bring(u, self.depth, frozenset())

    def _bring(self, u: int, depth: int, busy: frozenset[int]) -> bool:
        target = self.sequence.units.target[u]
        if self.sequence.move(u, target):
            return True
        mark = len(self.sequence.steps)
        for _ in range(MAX_CLEARED):
            if self.tries >= self.patience or not self._clear_one(u, target, depth, busy | {u}):
                break
            if self.sequence.move(u, target):
                return True
        self.sequence.back_to(mark)
        return False

    def _clear_one(self, u: int, m: int, depth: int, busy: frozenset[int]) -> bool:
        """Make one unit leave that helps."""
        candidates = list(self._candidates(u, m, busy))
        for leave in (self._to_target, self._go_down, self._clear_and_move, self._stopover):
            for v in candidates:
                self.tries += 1
                if self.tries >= self.patience:
                    return False
                if leave(v, depth, busy):
                    return True
        return False

    def _candidates(self, u: int, m: int, busy: frozenset[int]) -> Iterator[int]:
        """Units on the machine whose leaving helps: first those that leave anyway, of these the smallest that suffices."""
        sequence, state, units = self.sequence, self.sequence.state, self.sequence.units
        shortage = np.maximum.reduce([state.shortage(c, m) for c in units.members[u]])
        lacks = shortage > 0
        ranked = []
        for v in sequence.on[m]:
            if units.fixed[v] or v in busy or v in sequence.second:
                continue
            size = state.request[[state.workload[c] for c in units.members[v]]].sum(axis=0)
            if lacks.any() and not (size[lacks] > 0).any():
                continue
            share = float((size[lacks] / shortage[lacks]).min()) if lacks.any() else 1.0
            rank = (v not in sequence.pending, share < 1.0, share if share >= 1.0 else -share, self.rng.random())
            ranked.append((rank, v))
        return (v for _, v in sorted(ranked)[:MAX_TRIED])

    def _to_target(self, v: int, depth: int, busy: frozenset[int]) -> bool:
        """It has to leave, and can."""
        sequence = self.sequence
        target = sequence.units.target[v]
        if v not in sequence.pending:
            return False
        return sequence.delete(v, sequence.at[v]) if target == UNPLACED else sequence.move(v, target)

    def _go_down(self, v: int, depth: int, busy: frozenset[int]) -> bool:
        """It may be down for a while; one that has arrived comes back to the same machine."""
        sequence = self.sequence
        if not sequence.units.may_replace[v] or (v not in sequence.pending and not self.stopovers):
            return False
        here = sequence.at[v]
        return sequence.delete(v, here, sequence.units.target[v] if v in sequence.pending else here)

    def _clear_and_move(self, v: int, depth: int, busy: frozenset[int]) -> bool:
        """It has to leave, and its target can be cleared."""
        return depth > 0 and v in self.sequence.pending and self._bring(v, depth - 1, busy)

    def _stopover(self, v: int, depth: int, busy: frozenset[int]) -> bool:
        """A stopover on a third machine."""
        sequence = self.sequence
        if not self.stopovers:
            return False
        fits = sequence.state.fitting_machines(sequence.units.members[v][0])
        fits[sequence.at[v]] = False
        return any(sequence.move(v, m) for m in self.rng.permutation(np.flatnonzero(fits)).tolist()[:MAX_TRIED])
