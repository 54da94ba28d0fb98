"""What every method of a verb must keep, as claims that anyone can run against a method of their own.

    import pytest
    from bayplan.api.contract import CLAIMS, keeps

    @pytest.mark.parametrize("claim", CLAIMS["rebalance"])
    def test_my_method(claim):
        keeps("rebalance", "mine", claim)

The referee (`bayplan.check`) judges the answers, on small seeded clusters and on odd ones: nothing to do, nothing that fits,
a start that violates a rule.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from importlib import import_module
from typing import Any, TypeAlias

import numpy as np

from bayplan.api.files import generate
from bayplan.check import check as violations_of
from bayplan.errors import UsageError
from bayplan.formats.builder import ClusterBuilder
from bayplan.model import UNPLACED, Budget, Snapshot

Ask: TypeAlias = Callable[..., Any]  # the verb's function of the library, with the method already chosen
Claim: TypeAlias = Callable[[Ask], None]

STEPS = Budget(iterations=200)


def keeps(verb: str, method: str, claim: str) -> None:
    """AssertionError with what is wrong if the method does not keep the claim."""
    verb_function = getattr(import_module("bayplan"), verb)  # by name: the surface is above this layer

    def ask(*inputs: Any, **arguments: Any) -> Any:
        return verb_function(*inputs, method=method, **{"budget": STEPS, **arguments})

    CLAIMS[verb][claim](ask)


def _clusters() -> Iterator[Snapshot]:
    """Small clusters with every kind of rule, some with new containers."""
    for seed in range(3):
        yield generate("boutique", seed=seed)
    crowded = ClusterBuilder("crowded").machines("m-{}", 3, cpu=4, memory="8Gi")
    for k in range(3):
        crowded.workload(f"w{k}", replicas=3, cpu=1, memory="1Gi", on=["m-0", "m-0", None])
    yield crowded.traffic("w0", "w1", 3.0).anti_affinity("w2", limit=2).build()


def _odd_clusters() -> Iterator[Snapshot]:
    """Nothing to decide, no machine that fits, a start that violates a rule."""
    yield ClusterBuilder("no container").machine("m", cpu=4, memory="8Gi").workload("w", replicas=0, cpu=1, memory="1Gi").build()
    yield ClusterBuilder("too large").machine("m", cpu=4, memory="8Gi").workload("w", cpu=9, memory="1Gi").build()
    full = ClusterBuilder("too full").machine("m", cpu=4, memory="8Gi").machine("n", cpu=4, memory="8Gi")
    yield full.workload("w", replicas=3, cpu=2, memory="1Gi", on=["m", "m", "m"]).build()


def _excess(snapshot: Snapshot, after: Snapshot) -> Mapping[str, float]:
    """By kind of rule, by how much a placement violates it."""
    excess: dict[str, float] = {}
    for violation in violations_of(after.cluster, after.placement, snapshot.placement):
        excess[violation.rule] = excess.get(violation.rule, 0.0) + violation.excess
    return excess


def _answers(ask: Ask, snapshots: Iterable[Snapshot], **arguments: Any) -> Iterator[tuple[Snapshot, Any]]:
    """The answers to all clusters; a method may refuse rules that it does not know, but not all clusters."""
    answered = 0
    for snapshot in snapshots:
        try:
            answer = ask(snapshot, **arguments)
        except UsageError:
            continue
        answered += 1
        yield snapshot, answer
    assert answered, "the method refuses every cluster"


def _violates_no_more(ask: Ask) -> None:
    for snapshot, answer in _answers(ask, (*_clusters(), *_odd_clusters())):
        if answer.result.solution is None:
            continue
        before, after = _excess(snapshot, snapshot), _excess(snapshot, answer.after)
        for kind, excess in after.items():
            assert excess <= before.get(kind, 0.0) + 1e-6, f"{snapshot.cluster.name}: {kind} is violated by {excess}"


def _is_repeatable(ask: Ask) -> None:
    for snapshot, answer in _answers(ask, _clusters(), seed=5):
        first, second = answer.placement.machine_of, ask(snapshot, seed=5).placement.machine_of
        assert np.array_equal(first, second), f"{snapshot.cluster.name}: the same seed and iterations give two answers"


def _answers_without_any_budget(ask: Ask) -> None:
    for budget in (Budget(iterations=0), Budget(seconds=0.0)):
        for _, answer in _answers(ask, (*_clusters(), *_odd_clusters()), budget=budget):
            assert answer.status.has_solution == (answer.result.solution is not None)


def _counts_what_it_did(ask: Ask) -> None:
    for snapshot, answer in _answers(ask, _clusters()):
        before, after = snapshot.placement.machine_of, answer.placement.machine_of
        assert answer.moved == len(answer.moves) == int(((before != UNPLACED) & (after != before)).sum())
        assert answer.placed == int(((before == UNPLACED) & (after != UNPLACED)).sum())
        assert answer.bound is None or answer.gap is None or answer.gap >= 0


def _moves_nothing_that_runs(ask: Ask) -> None:
    for snapshot, answer in _answers(ask, _clusters()):
        assert answer.moved == 0, f"{snapshot.cluster.name}: a container that ran was moved"


def _says_why_containers_are_left_out(ask: Ask) -> None:
    for snapshot, answer in _answers(ask, (*_clusters(), *_odd_clusters())):
        names = [snapshot.cluster.containers.name[c] for c in answer.placement.unplaced.tolist()]
        assert [reason.subject for reason in answer.left_out] == names
        assert all(reason.text for reason in answer.left_out)


def _places_nothing_new(ask: Ask) -> None:
    for snapshot, answer in _answers(ask, _clusters()):
        assert answer.placed == 0, f"{snapshot.cluster.name}: a new container was placed"


def _keeps_the_cap_on_moves(ask: Ask) -> None:
    for limit in (0, 2):
        for snapshot, answer in _answers(ask, _clusters(), max_moves=limit):
            moved = answer.moved
            assert moved <= limit, f"{snapshot.cluster.name}: {moved} containers moved, at most {limit} may"


def _leaves_frozen_containers_alone(ask: Ask) -> None:
    for snapshot, answer in _answers(ask, _clusters(), freeze=["*-0"]):
        moved = [move.container for move in answer.moves]
        assert not any(name.endswith("-0") for name in moved), f"{snapshot.cluster.name}: a frozen container moved"


def _machines_keep_their_capacity(ask: Ask) -> None:
    packed = ClusterBuilder("uncertain").machines("m-{}", 4, cpu=16, memory="64Gi")
    for k in range(4):
        packed.workload(f"w{k}", replicas=4, cpu=2, memory="4Gi", usage={"cpu": (1.5, 0.5)})
    snapshot = packed.build()
    answer = ask(snapshot, confidence=0.99)
    assert not violations_of(answer.after.cluster, answer.after.placement, snapshot.placement)


def _requests() -> Any:
    return generate("requests", n=60, machines=2, load=1.5)


def _no_machine_is_over_capacity(ask: Ask) -> None:
    from bayplan.check import check_schedule
    from bayplan.model import Fleet

    requests = _requests()
    answer = ask(requests, machines=2)
    fleet = Fleet.alike(2, requests.capacity)
    assert not check_schedule(requests, answer.result.solution, fleet)
    assert answer.placed == len(answer.result.solution.served)


def _schedules_are_repeatable(ask: Ask) -> None:
    requests = _requests()
    first, second = (ask(requests, machines=2, seed=5).result.solution.machine_of for _ in range(2))
    assert np.array_equal(first, second)


def _nothing_is_over_committed(ask: Ask) -> None:
    from bayplan.check import check_admission

    stream = generate("container-clusters", count=30)
    answer = ask(stream)
    assert not check_admission(stream, answer.result.solution)
    assert answer.placed == len(answer.result.solution.accepted)
    assert answer.placed + len(answer.left_out) == len(stream.requests)


def _every_state_on_the_way_is_valid(ask: Ask) -> None:
    for snapshot in _clusters():
        moved = replace(snapshot, placement=_rotated(snapshot))
        answer = ask(snapshot, moved.placement)
        if answer.result.solution is not None:
            assert answer.checked is not None and answer.checked.safe


def _rotated(snapshot: Snapshot) -> Any:
    """A target that rebalancing finds: reachable or not, the plan has to say."""
    from bayplan.api.rebalance import rebalance

    return rebalance(snapshot, method="greedy", budget=Budget(iterations=20)).placement


_OF_PLACEMENTS: Mapping[str, Claim] = {
    "violates no rule more than the start": _violates_no_more,
    "gives the same answer for the same seed and iterations": _is_repeatable,
    "answers without any budget": _answers_without_any_budget,
    "counts what it did": _counts_what_it_did,
}

CLAIMS: Mapping[str, Mapping[str, Claim]] = {
    "place": {
        **_OF_PLACEMENTS,
        "moves nothing that runs": _moves_nothing_that_runs,
        "says why containers are left out": _says_why_containers_are_left_out,
    },
    "rebalance": {
        **_OF_PLACEMENTS,
        "places nothing new": _places_nothing_new,
        "keeps the cap on moves": _keeps_the_cap_on_moves,
        "leaves frozen containers alone": _leaves_frozen_containers_alone,
    },
    "collocate": {
        **_OF_PLACEMENTS,
        "keeps the cap on moves": _keeps_the_cap_on_moves,
        "leaves frozen containers alone": _leaves_frozen_containers_alone,
    },
    "pack": {"machines keep their capacity": _machines_keep_their_capacity},
    "schedule": {
        "no machine is over capacity": _no_machine_is_over_capacity,
        "gives the same answer for the same seed and iterations": _schedules_are_repeatable,
    },
    "admit": {"nothing is over-committed": _nothing_is_over_committed},
    "migrate": {"every state on the way is valid": _every_state_on_the_way_is_valid},
}
