"""Walks over very many small clusters with every kind of rule: `python -m tests.stress [clusters]`; 10,000 by default.

New clusters in every run, a few hundred at a time. Prints what it has done so far, or the smallest cluster that went wrong.
"""

import sys
import time
from collections import Counter

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bayplan.search.problem import Problem
from tests.strolls import expect_sound, problems, strolled

MANY, AT_A_TIME = 10_000, 250


def stress(clusters: int, seen: Counter[str]) -> None:
    """Count how often each kind of rule was there, how many walks moved something, how many steps did."""

    @settings(max_examples=clusters, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(problem=problems(), seed=st.integers(1, 2**63), heat=st.sampled_from([0.0, 0.5, 100.0]))
    def go(problem: Problem, seed: int, heat: float) -> None:
        stroll = strolled(problem, seed=seed, heat=heat)
        expect_sound(problem, stroll)
        seen.update({rule.kind for rule in problem.cluster.rules})
        seen.update({"clusters": 1, "walks that moved something": int(stroll.changes > 0), "steps that did": stroll.changes})

    go()


if __name__ == "__main__":
    start, so_far, wanted = time.perf_counter(), Counter[str](), int(sys.argv[1]) if len(sys.argv) > 1 else MANY
    while so_far["clusters"] < wanted:
        stress(min(AT_A_TIME, wanted - so_far["clusters"]), so_far)
        counts = ", ".join(f"{count:,} {name}" for name, count in so_far.most_common())
        print(f"{time.perf_counter() - start:.0f} s: {counts}", flush=True)
