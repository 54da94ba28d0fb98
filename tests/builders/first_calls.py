"""Calls of every verb and method over inputs of every kind, and the kernels that they use."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from typing import Any

import hypothesis
from hypothesis import strategies as st
from tests.builders.strategies import clusters, every_term_objectives, placements, valid_snapshots

import bayplan as bp
from bayplan.errors import UsageError
from bayplan.kernels.jit import ENTRIES
from bayplan.model import Budget, Snapshot

STEPS = 30  # iterations
CLUSTERS = 8

Call = Callable[[], object]


@cache
def snapshots() -> tuple[Snapshot, ...]:
    """Clusters with every kind of rule and term, starts that keep them and starts that do not, new containers."""
    drawn: list[Snapshot] = [bp.generate("boutique")]

    @hypothesis.seed(15)
    @hypothesis.settings(max_examples=CLUSTERS, database=None, deadline=None, phases=[hypothesis.Phase.generate])
    @hypothesis.given(data=st.data())
    def draw(data: st.DataObject) -> None:
        if data.draw(st.booleans()):
            cluster = data.draw(clusters())
            placement = data.draw(placements(cluster))
        else:
            valid = data.draw(valid_snapshots())
            cluster, placement = valid.cluster, valid.placement
        objective = data.draw(every_term_objectives(cluster))
        drawn.append(Snapshot(cluster=cluster, placement=placement, objective=objective))

    draw()
    return tuple(drawn)


def calls(verb: str, method: str) -> Iterator[Call]:
    """Calls of the library that between them do all that a method can do."""
    makers: dict[str, Callable[[str], Iterator[Call]]] = {
        "pack": _pack_calls,
        "admit": _admit_calls,
        "schedule": _schedule_calls,
        "migrate": _migrate_calls,
    }
    yield from makers[verb](method) if verb in makers else _cluster_calls(verb, method)


def _cluster_calls(verb: str, method: str) -> Iterator[Call]:
    function, options = getattr(bp, verb), {"engine": "here"} if verb == "collocate" else {}
    for number, snapshot in enumerate(snapshots()):
        budget = Budget(iterations=STEPS, threads=1 + number % 2)
        yield lambda snapshot=snapshot, budget=budget: function(snapshot, method=method, budget=budget, **options)


def _pack_calls(method: str) -> Iterator[Call]:
    budget = Budget(iterations=STEPS)
    for seed in range(3):
        fleet = bp.generate("ucac", services=5, scale=0.02, machines=20 + 20 * seed, seed=seed)
        yield lambda fleet=fleet: bp.pack(fleet, confidence=0.99, method=method, budget=budget)
        if method == "csp-machines":
            yield lambda fleet=fleet: bp.machines_needed(fleet, confidence=0.99, budget=budget)
    for snapshot in snapshots():
        yield lambda snapshot=snapshot: bp.pack(snapshot, confidence=0.9, method=method, budget=budget)


def _admit_calls(method: str) -> Iterator[Call]:
    one_shot = {} if method in ("available", "offline") else {"one_shot": "greedy"}
    yield from _admissions(method, one_shot)


def one_shot_calls(one_shot: str) -> Iterator[Call]:
    """Calls of one way to place the members of a request."""
    yield from _admissions("primal-dual", {"one_shot": one_shot})


def _admissions(method: str, options: dict[str, Any]) -> Iterator[Call]:
    for seed in range(4):
        stream = bp.generate("container-clusters", zones=3 + seed, count=30, slots=6, members_most=3 + 2 * seed, seed=seed)
        yield lambda stream=stream, seed=seed: bp.admit(stream, method=method, seconds=1, bound=seed % 2 == 0, **options)


def _schedule_calls(method: str) -> Iterator[Call]:
    for seed in range(4):
        day = bp.generate("requests", n=200 + 100 * seed, machines=4, load=2.0, seed=seed)
        budget = Budget(seconds=0.5, threads=1 + seed % 2)
        yield lambda day=day, budget=budget: bp.schedule(day, machines=4, method=method, budget=budget)


def _migrate_calls(method: str) -> Iterator[Call]:
    for snapshot in snapshots()[:8]:
        target = bp.rebalance(snapshot, budget=Budget(iterations=STEPS)).placement
        yield lambda snapshot=snapshot, target=target: bp.migrate(snapshot, target, method=method)


def kernels_used(call: Call) -> set[str]:
    """The kernels that Python called, by name. What a method refuses to do it needs no kernel for."""
    for entry in ENTRIES.values():
        entry._reset_overloads()
    with suppress(UsageError):
        call()
    return {name for name, entry in ENTRIES.items() if entry.overloads}
