"""Column generation and its bound over very many small subproblems: `python -m tests.stress.collocate FIRST LAST`.

Every subproblem is solved by trying all counts; its number is its seed. Prints what went wrong, and at the end how often each
claim held.
"""

import sys
import time
from collections import Counter
from collections.abc import Iterator
from itertools import product

import numpy as np
from tests.builders.collocations import drawn_subproblem
from tests.naive.collocate import most_gained
from tests.naive.search import breaches

from bayplan.decide.collocate.bound import affinity_bound
from bayplan.decide.collocate.columns.pattern_master import AffinityMaster, machine_types_of
from bayplan.decide.collocate.columns.rounds import PricingRounds
from bayplan.decide.collocate.columns.solve import solve_columns
from bayplan.decide.collocate.subproblem import gained, violations
from bayplan.model import UNPLACED, Placement, ints, silent
from bayplan.model.problem import Problem
from bayplan.score.affinity import gained_affinity


def expect_above_every_placement(problem: Problem, seconds: float) -> None:
    """The bound is at least what every placement gains that breaks no rule more than the start does."""
    bound = affinity_bound(problem, seconds=seconds, progress=silent)
    if bound is None:
        assert not len(problem.cluster.traffic.weight)
        return
    then = breaches(problem.cluster, problem.start, problem.before)
    for placement in _placements(problem):
        if gained_affinity(problem.cluster, placement) > bound:
            after = breaches(problem.cluster, placement, problem.before)
            assert any(excess > then.get(key, 0.0) for key, excess in after.items()), (bound, placement.machine_of)


def _placements(problem: Problem) -> Iterator[Placement]:
    """Every complete placement; what is frozen stays."""
    n_m = len(problem.cluster.machines.name)
    frozen = problem.frozen if len(problem.frozen) else np.zeros(len(problem.start.machine_of), dtype=np.bool_)
    choices = [
        [int(m)] if stays and m != UNPLACED else range(n_m)
        for m, stays in zip(problem.start.machine_of.tolist(), frozen.tolist(), strict=True)
    ]
    return (Placement(machine_of=ints(machine_of)) for machine_of in product(*choices))


def wrong(seed: int, seen: Counter[str]) -> Iterator[str]:
    """Sentences about what does not hold for a subproblem."""
    subproblem = drawn_subproblem(seed, machines=2 + seed % 2)
    best = most_gained(subproblem)
    counts = solve_columns(subproblem, seconds=0.05, seed=seed)
    seen.update({"subproblems": 1, "optimal answers": int(gained(subproblem, counts) > best - 1e-9)})
    yield from violations(subproblem, counts)
    if gained(subproblem, counts) > best + 1e-12:
        yield f"{gained(subproblem, counts)} is above the optimum {best}"
    rounds = PricingRounds(
        master=AffinityMaster(subproblem=subproblem, types=machine_types_of(subproblem)), seed=seed, boxes=(1, 3, 3_000)[seed % 3]
    )
    for _ in range(40):
        rounds.price(lambda: False)
        if rounds.bound < best - 1e-12:
            yield f"the bound {rounds.bound} is below the optimum {best}"
        if rounds.done:
            break
    seen.update({"bounds that met the master": int(rounds.done), "tight bounds": int(rounds.bound < best + 1e-6)})


if __name__ == "__main__":
    start, so_far = time.perf_counter(), Counter[str]()
    for number in range(int(sys.argv[1]), int(sys.argv[2])):
        for sentence in wrong(number, so_far):
            print(f"subproblem {number}: {sentence}", flush=True)
            so_far.update({"faults": 1})
    print(f"{time.perf_counter() - start:.0f} s: " + ", ".join(f"{count:,} {name}" for name, count in so_far.most_common()))
    sys.exit(1 if so_far["faults"] else 0)
