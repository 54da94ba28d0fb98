"""A cluster that [RASA]'s partition splits into three parts, each solved in seconds by a few iterations."""

from functools import cache

import bayplan as bp
from bayplan.generate.rasa import make
from bayplan.generate.rasa.settings import ClusterSettings
from bayplan.model import Progress, Snapshot, silent

PARTS = 3


@cache
def snapshot() -> Snapshot:
    """1,500 workloads on 200 machines."""
    return make(ClusterSettings(name="parted", services=1_500, containers=6_000, machines=200, rank_shift=40.0), 1)


def collocated(engine, *, threads: int = 1, iterations: int = 8, progress: Progress = silent):
    """The answer of RASA in three parts, by iterations alone."""
    budget = bp.Budget(iterations=iterations, threads=threads)
    return bp.collocate(snapshot(), method="rasa", masters=800, budget=budget, seed=3, engine=engine, progress=progress)
