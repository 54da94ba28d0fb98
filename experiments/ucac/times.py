"""How long column generation takes to strict convergence (003 section 6.1.4), and what it proves."""

import time
from math import inf

import numpy as np

from bayplan.decide.pack.bins import bins_of, groups_of, sizes_of
from bayplan.decide.pack.columns import LEAST, Columns
from bayplan.decide.pack.pricing import price_patterns
from bayplan.decide.pack.problem import pack_problem
from experiments.ucac.cells import Question, Size, instance

GOALS = ("ucac", "machines")
LIMIT = 120.0  # seconds, after which it is not waited for: twice what was asked for at K = 100
MEASURES = ("containers", "seconds", "rounds", "patterns", "bound", "converged", "gain_left")


def generated(services: int, alpha: float, seed: int, goal: str, size: Size) -> dict[str, str]:
    """The columns of `MEASURES` for an empty cluster. One that takes longer than `LIMIT` ends with its round, not converged."""
    snapshot = instance(Question(case="empty", services=services, alpha=alpha, seed=seed), size)
    problem = pack_problem(snapshot.cluster, snapshot.placement)
    began = time.perf_counter()
    sizes, bins = sizes_of(problem), bins_of(problem)
    groups = groups_of(problem, bins)
    columns = Columns(
        sizes=sizes, groups=groups, waiting=problem.waiting, starts_empty=np.ones(len(groups.machines)), priced=goal == "ucac"
    )
    columns.begin(bins, None)
    columns.generate(lambda: time.perf_counter() - began > LIMIT, lambda _: None)
    seconds = time.perf_counter() - began
    gains = left_to_gain(columns) if columns.proven else inf
    return {
        "containers": str(int(problem.waiting.sum())),
        "seconds": f"{seconds:.3f}",
        "rounds": str(columns.rounds),
        "patterns": str(len(columns.pattern)),
        "bound": f"{columns.least:.9g}",
        "converged": "yes" if columns.proven and gains == 0 else "no",
        "gain_left": f"{gains:.3g}",
    }


def left_to_gain(columns: Columns) -> float:
    """The most by which a pattern's reduced cost is negative at the last prices; 0 if by no more than 1e-9. Priced once more."""
    n_k = len(columns.waiting)
    price, rent = np.maximum(0.0, columns.price[:n_k]), np.maximum(0.0, -columns.price[n_k:])
    base = rent if columns.priced else rent + columns.starts_empty
    found = price_patterns(columns.sizes, columns.groups.bins, price, base, priced=columns.priced, least=LEAST)
    return float(found.gain.max(initial=0.0)) if found.proven or len(found.gain) else inf
