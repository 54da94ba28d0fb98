"""No placement within a number of moves gains more affinity than the bound says: by trying all of them."""

from itertools import product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.builders.strategies import snapshots
from tests.naive.scores import gained_affinity

from bayplan.decide.collocate.move_bound import affinity_within_moves
from bayplan.model import UNPLACED, Placement, Snapshot
from bayplan.model.allowed_machines import pinned_containers
from bayplan.model.problem import Problem

MOST = 3_000  # placements that are tried


@settings(max_examples=30)
@given(snapshots(), st.integers(0, 4))
def test_no_placement_within_the_moves_gains_more(snapshot: Snapshot, moves: int):
    cluster, before = snapshot.cluster, snapshot.placement.machine_of
    bound = affinity_within_moves(Problem.of(snapshot), moves)
    machines, pinned = range(len(cluster.machines.name)), pinned_containers(cluster)
    choices = [[int(m)] if pinned[c] and m != UNPLACED else list(machines) for c, m in enumerate(before)]
    if np.prod([float(len(choice)) for choice in choices]) > MOST:
        return
    for chosen in product(*choices):
        machine_of = np.array(chosen, dtype=np.int64)
        if ((before != UNPLACED) & (machine_of != before)).sum() <= moves:
            assert gained_affinity(cluster, Placement(machine_of=machine_of)) <= bound + 1e-9
