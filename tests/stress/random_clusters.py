"""Walks and decisions over very many small clusters with every kind of rule: `python -m tests.stress.random_clusters [clusters]`.

New clusters in every run, a few hundred at a time. Prints what it has done so far, or the smallest cluster that went wrong.
"""

import sys
import time
from collections import Counter
from collections.abc import Iterator

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.stress.search_walks import expect_no_more_broken, expect_sound, problems, walked

from bayplan.decide.place import PLACERS, PlaceOptions
from bayplan.decide.rebalance import REBALANCERS, RebalanceOptions
from bayplan.model import Budget, Placement, silent
from bayplan.model.problem import Problem

MANY, AT_A_TIME = 10_000, 250


def decisions(problem: Problem, seed: int) -> Iterator[tuple[str, Placement]]:
    """What one placer and one rebalancer make of a problem; which ones, the seed says."""
    place, rebalance = list(PLACERS)[seed % len(PLACERS)], list(REBALANCERS)[seed % len(REBALANCERS)]
    budget = Budget(iterations=40)
    placed = PLACERS[place](problem, PlaceOptions(), budget=budget, seed=seed % 100, progress=silent)
    moved = REBALANCERS[rebalance](problem, RebalanceOptions(), budget=budget, seed=seed % 100, progress=silent)
    for name, result in ((place, placed), (rebalance, moved)):
        if result.solution is not None:
            yield name, result.solution


def stress(clusters: int, seen: Counter[str]) -> None:
    """Count how often each kind of rule was there, how many walks moved something, how many steps did."""

    @settings(max_examples=clusters, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(problem=problems(), seed=st.integers(1, 2**63), heat=st.sampled_from([0.0, 0.5, 100.0]))
    def go(problem: Problem, seed: int, heat: float) -> None:
        walk = walked(problem, seed=seed, heat=heat)
        expect_sound(problem, walk)
        for name, answer in decisions(problem, seed):
            expect_no_more_broken(problem, answer)
            seen.update({name: 1})
        seen.update({rule.kind for rule in problem.cluster.rules})
        seen.update({"clusters": 1, "walks that moved something": int(walk.changes > 0), "steps that did": walk.changes})

    go()


if __name__ == "__main__":
    start, so_far, wanted = time.perf_counter(), Counter[str](), int(sys.argv[1]) if len(sys.argv) > 1 else MANY
    while so_far["clusters"] < wanted:
        stress(min(AT_A_TIME, wanted - so_far["clusters"]), so_far)
        counts = ", ".join(f"{count:,} {name}" for name, count in so_far.most_common())
        print(f"{time.perf_counter() - start:.0f} s: {counts}", flush=True)
