"""All collocators over very many small clusters with every kind of rule: `python -m tests.stress.collocators [clusters]`.

New clusters in every run. One and two threads take turns, and so do budgets of steps and of hardly any time. Prints what it has
done so far, or the smallest cluster that went wrong.
"""

import sys
import time
from collections import Counter
from dataclasses import replace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.builders.strategies import snapshots, valid_snapshots
from tests.naive.collocate_new import placeable
from tests.stress.search_walks import expect_no_more_broken

from bayplan.check import check
from bayplan.decide.collocate import COLLOCATORS, CollocateOptions
from bayplan.model import UNPLACED, Budget, Confidence, Snapshot, Term, Transient, silent
from bayplan.model.problem import Problem
from bayplan.score.affinity import gained_affinity
from bayplan.score.gmrp import moves

MANY, AT_A_TIME = 3_000, 100
KNOW_ALL_RULES = "best", "original"
OPTIONS = CollocateOptions(engine="here")


def without_rules_about_moves(problem: Problem) -> Problem:
    """The problem without the rules that most methods refuse."""
    rules = tuple(rule for rule in problem.cluster.rules if not isinstance(rule, Transient | Confidence))
    return replace(problem, cluster=replace(problem.cluster, rules=rules))


def expect_kept_promises(name: str, problem: Problem, budget: Budget, seed: int) -> None:
    """The answer is valid, loses no affinity and leaves nothing out that fits."""
    result = COLLOCATORS[name](problem, OPTIONS, budget=budget, seed=seed, progress=silent)
    after, before = result.solution, problem.before
    assert after is not None
    expect_no_more_broken(problem, after)
    assert (after.machine_of[before.machine_of != UNPLACED] != UNPLACED).all(), "a container lost its machine"
    now, then = gained_affinity(problem.cluster, after), gained_affinity(problem.cluster, before)
    assert now >= then - 1e-9, f"{now} is gained instead of {then}"
    assert problem.max_moves is None or moves(problem.cluster, after, before) <= problem.max_moves
    assert bool(result.left_out) == bool(len(after.unplaced)), "what is left out has no reason"
    if name != "original" and not check(problem.cluster, before, before):
        assert not placeable(problem, after), f"left out: {placeable(problem, after)}"


def stress(clusters: int, seen: Counter[str]) -> None:
    """Count the answers of each method."""

    @settings(max_examples=clusters, deadline=None, database=None, suppress_health_check=list(HealthCheck), print_blob=False)
    @given(
        snapshot=st.one_of(snapshots(), snapshots(complete=False), valid_snapshots(), valid_snapshots(complete=False)),
        budget=st.sampled_from([Budget(iterations=40), Budget(iterations=40, threads=2), Budget(seconds=0.03, threads=2)]),
        max_moves=st.sampled_from([None, None, 2]),
        seed=st.integers(0, 10**6),
    )
    def go(snapshot: Snapshot, budget: Budget, max_moves: int | None, seed: int) -> None:
        problem = Problem.of(snapshot, max_moves=max_moves)
        problem = replace(problem, objective=problem.objective.with_weights({Term.AFFINITY: 1.0}))
        seen.update({"clusters": 1, "with new containers": int(len(problem.before.unplaced) > 0)})
        for name in COLLOCATORS:
            known = problem if name in KNOW_ALL_RULES else without_rules_about_moves(problem)
            expect_kept_promises(name, known, budget, seed)
            seen.update({name: 1})

    go()


if __name__ == "__main__":
    start, so_far, wanted = time.perf_counter(), Counter[str](), int(sys.argv[1]) if len(sys.argv) > 1 else MANY
    while so_far["clusters"] < wanted:
        stress(min(AT_A_TIME, wanted - so_far["clusters"]), so_far)
        counts = ", ".join(f"{count:,} {name}" for name, count in so_far.most_common())
        print(f"{time.perf_counter() - start:.0f} s: {counts}", flush=True)
