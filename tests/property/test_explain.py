"""What `explain` says, checked by the referee."""

from hypothesis import event, given, settings
from hypothesis import strategies as st
from tests.builders.strategies import clusters, placements, valid_snapshots

from bayplan.check import violations
from bayplan.model import Placement
from bayplan.score.explain import explain

QUICK = settings(max_examples=30, deadline=None)


def _broken(cluster, placement, before):
    return {(v.number, v.subject): v.excess for v in violations(cluster, placement, before)}


def _moved(cluster, placement, explanation, machine):
    target = placement.machine_of.copy()
    for name in (explanation.container, *explanation.moves_with):
        target[cluster.containers.name.index(name)] = cluster.machines.name.index(machine)
    return Placement(machine_of=target)


def _worse(old, new):
    """Rules that are violated now and were not, or not as much."""
    return [key for key, excess in new.items() if excess > old.get(key, 0) * (1 + 1e-9) + 1e-9]


@QUICK
@given(st.data())
def test_what_fits_violates_nothing_new_and_what_is_blocked_does(data):
    cluster = data.draw(clusters(min_replicas=1))
    placement = data.draw(placements(cluster))
    before = data.draw(st.one_of(st.none(), placements(cluster)))
    container = data.draw(st.integers(0, len(cluster.containers.name) - 1))
    explanation = explain(cluster, placement, container, before)
    ran = placement if before is None else before
    old = _broken(cluster, placement, ran)
    for machine in cluster.machines.name:
        if machine != explanation.machine:
            new = _broken(cluster, _moved(cluster, placement, explanation, machine), ran)
            event("fits" if machine in explanation.fits else explanation.why[machine].split(":")[0])
            assert bool(_worse(old, new)) == (machine not in explanation.fits), explanation.why.get(machine)


@QUICK
@given(valid_snapshots(complete=True), st.data())
def test_in_a_valid_placement_every_container_fits_where_it_is(snapshot, data):
    cluster = snapshot.cluster
    if cluster.containers.name:
        container = data.draw(st.integers(0, len(cluster.containers.name) - 1))
        explanation = explain(cluster, snapshot.placement, container)
        assert explanation.machine in explanation.fits


@QUICK
@given(st.data())
def test_every_machine_fits_or_says_why_not(data):
    cluster = data.draw(clusters(min_replicas=1))
    explanation = explain(cluster, data.draw(placements(cluster)), data.draw(st.integers(0, len(cluster.containers.name) - 1)))
    assert sorted([*explanation.fits, *explanation.why]) == sorted(cluster.machines.name)
    assert sum(explanation.blocked.values()) == len(explanation.why)
    assert abs(sum(partner.share for partner in explanation.partners) - bool(explanation.partners)) < 1e-9
