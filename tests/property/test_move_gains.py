"""What a move is worth equals the difference of two whole scores."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.builders.strategies import every_term_objectives, placements, snapshots

from bayplan.model import GAINS, UNPLACED, Placement, Snapshot, Term, floats
from bayplan.score.goal.move_gains import move_gains, move_units
from bayplan.score.terms import TERMS, TermInputs


def taken_back(before: Placement, after: Placement, members: tuple[int, ...]) -> Placement:
    machine_of = after.machine_of.copy()
    machine_of[list(members)] = before.machine_of[list(members)]
    return Placement(machine_of=machine_of)


@given(snapshots(complete=True), st.data())
def test_the_gain_of_a_move_is_what_every_term_loses_without_it(snapshot: Snapshot, data: st.DataObject):
    cluster, before = snapshot.cluster, snapshot.placement
    after = data.draw(placements(cluster, complete=True))
    objective = data.draw(every_term_objectives(cluster))
    objective = replace(objective, hop=floats(np.arange(1.0, len(objective.hop) + 1)))
    for move in move_gains(cluster, before, after, objective):
        without = taken_back(before, after, move.members)
        for term in set(Term) - {Term.MOVES}:
            old, new = (TERMS[term](TermInputs(cluster, placement, objective, before)) for placement in (without, after))
            gained = new - old if term in GAINS else old - new
            scale = max(1.0, abs(old), abs(new))
            assert move.gain.get(term, 0.0) == pytest.approx(gained, abs=1e-9 * scale), term
        assert move.gain[Term.MOVES] == -len(move.members)
        assert sum(move.local.values()) == pytest.approx(move.gain.get(Term.AFFINITY, 0.0), abs=1e-9)


@given(snapshots(), st.data())
def test_every_container_that_moves_is_in_one_unit(snapshot: Snapshot, data: st.DataObject):
    cluster, before = snapshot.cluster, snapshot.placement
    after = data.draw(placements(cluster))
    moved = [c for c in after.moved_from(before).tolist() if after.machine_of[c] != UNPLACED]
    assert sorted(c for unit in move_units(cluster, before, after) for c in unit) == moved
