"""A cluster whose machines are all of different types once trivial workloads are pinned, and its answer by column generation."""

from functools import cache

import bayplan as bp
from bayplan.generate.rasa import make
from bayplan.generate.rasa.settings import ClusterSettings
from bayplan.model import Progress, Snapshot, silent


@cache
def snapshot() -> Snapshot:
    """120 workloads on 25 machines."""
    return make(ClusterSettings(name="priced", services=120, containers=500, machines=25, rank_shift=10.0), 1)


def collocated(engine=None, *, threads: int = 1, iterations: int = 3, progress: Progress = silent):
    """The answer of column generation with its bound, by iterations alone."""
    budget = bp.Budget(iterations=iterations, threads=threads)
    chosen = {} if engine is None else {"engine": engine}
    return bp.collocate(
        snapshot(),
        method="column-generation",
        trivial="pinned",
        bound=True,
        budget=budget,
        seed=3,
        progress=progress,
        **chosen,
    )


def content(answer):
    """What has to be the same on any engine."""
    return answer.placement.machine_of.tolist(), dict(answer.score), answer.bound, answer.result.status
