"""Measure the quality of solving in parts: the targets of `plan --max-moves 2%`, whole and in parts, by the same iterations.

In parts the iterations are shared by containers, so both take about the same processor time, which is in the rows. One row per
cluster, number of parts and seed is appended to `benchmarks/parts.csv`; rows that are there are not measured again.

    python -m benchmarks.parts                     all cells
    python -m benchmarks.parts --cluster rasa-m3   those of one cluster
"""

import argparse
import time
from pathlib import Path

from experiments.results import append, commit, machine, rows

import bayplan as bp
from bayplan.api.planning.question import goal_of, plan_question
from bayplan.api.planning.target import best_target, best_target_in_parts
from bayplan.api.what_if import WhatIf
from bayplan.check import check
from bayplan.engine import engine_of
from bayplan.score.affinity import gained_affinity
from bayplan.search.parts import PartSettings

RESULTS = Path(__file__).parent / "parts.csv"
COLUMNS = (
    "commit",
    "machine",
    "cluster",
    "containers",
    "parts",
    "iterations",
    "seed",
    "cpu_s",
    "wall_s",
    "moves",
    "local",
    "violations",
)
CELLS = {"rasa-m3": ((1, 2, 4), 4_000_000), "rasa-m1": ((1, 4, 8), 10_000_000), "rasa-m2": ((1, 4, 8), 20_000_000)}
SEEDS = range(3)


def main() -> None:
    """Measure the cells that are missing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cluster", choices=CELLS)
    parser.add_argument("--seeds", type=int, default=len(SEEDS))
    given = parser.parse_args()
    for name in CELLS if given.cluster is None else [given.cluster]:
        parts, iterations = CELLS[name]
        for seed in range(given.seeds):
            for number in parts:
                known = [(row["cluster"], row["parts"], row["seed"], row["iterations"]) for row in rows(RESULTS)]
                if (name, str(number), str(seed), str(iterations)) not in known:
                    append(RESULTS, COLUMNS, [_cell(name, number, iterations, seed)])


def _cell(name: str, parts: int, iterations: int, seed: int) -> dict[str, str]:
    snapshot = bp.generate(name)
    bp.plan(bp.generate("boutique"), budget=bp.Budget(iterations=1))  # compiles
    problem = plan_question(snapshot, goal_of("steady"), WhatIf(), max_moves="2%").problem
    budget, began, wall = bp.Budget(iterations=iterations), time.process_time(), time.perf_counter()
    if parts == 1:
        placement = best_target(problem, budget=budget, seed=seed)
    else:
        settings = PartSettings(parts=parts, engine=engine_of("here"))
        placement = best_target_in_parts(problem, settings, budget=budget, seed=seed).placement
    return {
        "commit": commit(),
        "machine": machine(),
        "cluster": name,
        "containers": str(len(problem.start.machine_of)),
        "parts": str(parts),
        "iterations": str(iterations),
        "seed": str(seed),
        "cpu_s": f"{time.process_time() - began:.1f}",
        "wall_s": f"{time.perf_counter() - wall:.1f}",
        "moves": str(len(placement.moved_from(problem.before))),
        "local": f"{gained_affinity(problem.cluster, placement):.4f}",
        "violations": str(len(check(problem.cluster, placement, problem.before))),
    }


if __name__ == "__main__":
    main()
