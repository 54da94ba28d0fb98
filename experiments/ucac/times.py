"""How long column generation takes to strict convergence ([UCaC] §6.1.4), and what it proves; the cutting stock step alone."""

import time
from math import inf

from bayplan.decide.pack import PackOptions, pack_problem
from bayplan.decide.pack.cutting_stock import GENERATING, generate_patterns, score_bound
from bayplan.decide.pack.exact_pricing import price_patterns
from bayplan.decide.pack.integer_master import integer_counts
from bayplan.decide.pack.pattern_generation import PatternMaster
from bayplan.decide.pack.result import pack_result
from bayplan.model import Budget, silent
from bayplan.model.interrupt import stoppable
from experiments.ucac.cells import Setting, Size, Stopwatch, instance

GOALS = ("ucac", "machines")
LIMIT = 600.0  # seconds, whatever else the machine does, after which the round is the last
STOCK_MEASURES = ("groups", "patterns", "pattern_seconds", "pattern_cpu_seconds", "stock_seconds", "stock_cpu_seconds", "gap")
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


def cutting_stock(setting: Setting, size: Size) -> dict[str, str]:
    """The columns of `STOCK_MEASURES`: patterns of csp-ucac, then (8) in whole numbers, each timed apart."""
    snapshot = instance(setting, size)
    problem = pack_problem(snapshot.cluster, snapshot.placement)
    watch = Stopwatch()
    clock = Budget(seconds=LIMIT / GENERATING).clock()
    master, bins = generate_patterns(problem, PackOptions(), minimise_ucac=True, clock=clock, progress=silent)
    patterns, priced, watch = len(master.pattern), watch.spent(), Stopwatch()
    with stoppable() as stop:
        count = integer_counts(master, bins, size.budget.clock(), stop)
    solved = watch.spent()
    result = pack_result(problem, count, seconds=solved.seconds, bound=score_bound(problem, master, bins))
    return {
        "groups": str(len(master.groups.machines)),
        "patterns": str(patterns),
        "pattern_seconds": f"{priced.seconds:.3f}",
        "pattern_cpu_seconds": f"{priced.cpu_seconds:.3f}",
        "stock_seconds": f"{solved.seconds:.3f}",
        "stock_cpu_seconds": f"{solved.cpu_seconds:.3f}",
        "gap": "" if result.gap is None else f"{result.gap:.3g}",
    }
