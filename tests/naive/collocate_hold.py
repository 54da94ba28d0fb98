"""A hold counted anew from where its containers stand: nothing is kept from one step to the next."""

from collections import Counter

import numpy as np

from bayplan.kernels.collocate.count_state import GAINED, MOVES, PRICE, CountState
from bayplan.model import UNPLACED, Cluster, Placement
from bayplan.score.affinity import gained_affinity
from bayplan.score.gmrp import moves


def counted(cluster: Cluster, placement: Placement) -> Counter[tuple[int, int]]:
    """(machine, workload) -> containers."""
    placed = np.flatnonzero(placement.machine_of != UNPLACED)
    return Counter(zip(placement.machine_of[placed].tolist(), cluster.containers.workload[placed].tolist(), strict=True))


def expect_consistent(hold: CountState, cluster: Cluster, placement: Placement, before: Placement) -> None:
    """AssertionError if the hold differs from what the placement says. `before`: everybody ran then."""
    counts = counted(cluster, placement)
    assert {(m, w): int(hold.counts[m, w]) for m, w in zip(*np.nonzero(hold.counts), strict=True)} == counts
    for m in range(len(hold.number_on)):
        here = hold.containers_on[m, : hold.number_on[m]].tolist()
        assert sorted(here) == np.flatnonzero(hold.machine_of == m).tolist()
        assert all(hold.slot_of[c] == slot for slot, c in enumerate(here))
        for r in range(hold.free.shape[1]):
            used = sum(n * int(hold.request[w, r]) for (machine, w), n in counts.items() if machine == m)
            room = cluster.machines.capacity[m, r] - used
            assert hold.free[m, r] == max(room, hold.free[m, r] if room < 0 else room) or not hold.request[:, r].any()
    moved = moves(cluster, placement, before)
    assert hold.tally[MOVES] == moved
    worth = gained_affinity(cluster, placement) - hold.worth[PRICE] * moved
    assert abs(hold.worth[GAINED] - worth) < 1e-9
