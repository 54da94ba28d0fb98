"""The greedy placement kernel does what the paper's algorithm, written down plainly, does."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.builders.strategies import valid_snapshots
from tests.naive.place_greedy import ca_wfd

from bayplan.decide.place import PLACERS, PlaceOptions
from bayplan.decide.place.greedy import place_greedily
from bayplan.decide.place.methods import ca_wfd_strategy
from bayplan.generate.boutique import boutique
from bayplan.kernels.search import place_greedy
from bayplan.model import Budget, CoLocate, Snapshot, silent
from bayplan.model.problem import Problem


def without_units(snapshot: Snapshot) -> Snapshot:
    """No co-located containers, and no rule twice."""
    rules = tuple(rule for rule in dict.fromkeys(snapshot.cluster.rules) if not isinstance(rule, CoLocate))
    return replace(snapshot, cluster=replace(snapshot.cluster, rules=rules))


@settings(max_examples=30)
@given(snapshot=valid_snapshots(complete=False).map(without_units), d=st.integers(1, 3))
def test_places_like_the_naive_twin(snapshot, d):
    found = place_greedily(Problem.of(snapshot), ca_wfd_strategy(PlaceOptions(candidates=d)), seed=0)
    assert found.machine_of.tolist() == ca_wfd(snapshot, d)


def test_warm_up_compiles_what_every_method_calls():
    """One signature: no command waits for another compilation."""
    place_greedy.warm_up()
    compiled = len(place_greedy.place_in_order.signatures)
    shop = boutique()
    for name in set(PLACERS) - {"best"}:
        PLACERS[name](Problem.of(shop), PlaceOptions(), budget=Budget(), seed=0, progress=silent)
    assert len(place_greedy.place_in_order.signatures) == compiled == 1
