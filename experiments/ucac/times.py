"""How long column generation takes to strict convergence ([UCaC] §6.1.4), and what it proves."""

import time
from math import inf

from bayplan.decide.pack import PackOptions, pack_problem
from bayplan.decide.pack.cutting_stock import GENERATING, generate_patterns
from bayplan.decide.pack.pattern_generation import PatternMaster
from bayplan.decide.pack.pricing import price_patterns
from bayplan.model import Budget, silent
from experiments.ucac.cells import Setting, Size, instance

GOALS = ("ucac", "machines")
LIMIT = 600.0  # seconds, whatever else the machine does, after which the round is the last
MEASURES = ("containers", "seconds", "rounds", "patterns", "bound", "converged", "gain_left")


def generated(services: int, alpha: float, seed: int, goal: str, size: Size) -> dict[str, str]:
    """The columns of `MEASURES` for an empty cluster; seconds of the processor. After `LIMIT` it ends, not converged."""
    snapshot = instance(Setting(case="empty", services=services, alpha=alpha, seed=seed), size)
    problem = pack_problem(snapshot.cluster, snapshot.placement)
    began = time.process_time()
    clock = Budget(seconds=LIMIT / GENERATING).clock()
    master, _ = generate_patterns(problem, PackOptions(), minimise_ucac=goal == "ucac", clock=clock, progress=silent)
    seconds = time.process_time() - began
    gain = gain_left(master) if master.proven else inf
    return {
        "containers": str(int(problem.unplaced.sum())),
        "seconds": f"{seconds:.3f}",
        "rounds": str(master.rounds),
        "patterns": str(len(master.pattern)),
        "bound": f"{master.least_cost:.9g}",
        "converged": "yes" if master.proven and gain == 0 else "no",
        "gain_left": f"{gain:.3g}",
    }


def gain_left(master: PatternMaster) -> float:
    """The most by which a pattern's reduced cost is negative at the last duals; 0 if by no more than 1e-9. Priced once more."""
    priced = price_patterns(master.pricing_problem(master.dual))
    return float(priced.gain.max(initial=0.0)) if priced.proven or len(priced.gain) else inf
