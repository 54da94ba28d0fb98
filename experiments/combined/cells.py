"""One answer on all scores at once. As a module it is one process:

`python -m experiments.combined.cells JSON` prints the columns that are measured as JSON. JSON has the fields of `Cell`.
"""

import json
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

import bayplan as bp
from bayplan.api.migrate import MigrationAnswer
from bayplan.check import check
from bayplan.errors import BayplanError
from bayplan.model import Objective, Placement, Snapshot
from bayplan.model.goal import GOALS
from bayplan.score.gmrp import moves
from bayplan.score.goal.objective import goal_objective, third_rank
from bayplan.score.goal.state_figures import state_figures
from bayplan.score.terms import score, weighted
from bayplan.score.utilisation import machine_utilisation
from experiments.combined.clusters import snapshot_of
from experiments.combined.methods import answered, on_processor_time
from experiments.combined.settings import ALIVE, ORDERING, PLANS, START, Cell

FIGURES = ("violated", "unplaced", "hot", "overload", "local", "variance", "cpu95", "fullest", "machines")
TOTALS = {f"total_{goal}": goal for goal in PLANS.values()}  # column -> goal
MEASURES = ("containers", "moved", *FIGURES, "paper", *TOTALS, "third", "migrated", "stuck", "batches", "cpu", "wall", "fault")
LATE = 20.0, 600.0  # times its seconds, and these: then a cell is given up


def measured(cell: Cell) -> dict[str, str]:
    """The columns of `MEASURES`; a method that cannot answer says why in `fault`."""
    snapshot = snapshot_of(cell.cluster)
    on_processor_time(cell.method)
    began = time.monotonic()
    try:
        found = answered(cell, snapshot)
    except BayplanError as error:
        return {**dict.fromkeys(MEASURES, ""), "fault": " ".join(str(error).split())[:200]}
    wall = time.monotonic() - began
    migration = found.migration
    if migration is None and cell.method != START:
        migration = bp.migrate(snapshot, found.placement, alive=ALIVE, seconds=ORDERING, seed=cell.seed)
    used = {"cpu": f"{found.cpu:.1f}", "wall": f"{wall:.1f}", "fault": ""}
    return {**judged(snapshot, found.placement), **ordered(migration), **used}


def judged(snapshot: Snapshot, after: Placement) -> dict[str, str]:
    """All scores of a placement, and what each goal makes of them."""
    cluster, before = snapshot.cluster, snapshot.placement
    figures = state_figures(cluster, after)
    cpu = machine_utilisation(cluster, after)[:, 0]
    paper = Objective.default(cluster)
    numbers: dict[str, float] = {
        "violated": sum(violation.excess > 0 for violation in check(cluster, after, before)),
        "cpu95": float(np.nanquantile(cpu, 0.95)),
        "paper": score(cluster, after, paper)["total"],
        "third": third_rank(cluster, after, goal_objective(snapshot, GOALS["steady"]), before),
        "moved": moves(cluster, after, before),
        "containers": len(after.machine_of),
    }
    for column, goal in TOTALS.items():
        numbers[column] = weighted(cluster, after, goal_objective(snapshot, GOALS[goal]), before)
    stated = {name: getattr(figures, name) for name in FIGURES if name not in numbers}
    return {name: f"{float(value or 0):.8g}" for name, value in {**numbers, **stated}.items()}


def ordered(migration: MigrationAnswer | None) -> dict[str, str]:
    """Can it be carried out, with so many of each workload alive all the time?"""
    if migration is None:
        return {"migrated": "", "stuck": "0", "batches": "0"}
    plan = migration.plan
    return {
        "migrated": "yes" if migration.complete else "no",
        "stuck": str(len(migration.left_out)),
        "batches": "" if plan is None else str(len(plan.batches)),
    }


def in_a_process(cell: Cell) -> dict[str, str]:
    """The measures of a cell, found in a process of its own."""
    words = [sys.executable, "-m", "experiments.combined.cells", json.dumps(asdict(cell))]
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=LATE[0] * cell.seconds + LATE[1], check=False)
    except subprocess.TimeoutExpired:
        return _faulty("no answer in time")
    if done.returncode != 0:
        return _faulty((done.stderr.strip().splitlines() or ["no word"])[-1][:200])
    return in_order(json.loads(done.stdout.strip().splitlines()[-1]))


def in_order(found: Mapping[str, Any]) -> dict[str, str]:
    """The columns in the order of the file."""
    return {name: str(found[name]) for name in MEASURES}


def _faulty(why: str) -> dict[str, str]:
    return {**dict.fromkeys(MEASURES, ""), "fault": why}


def main(text: str) -> None:
    """Print one row."""
    print(json.dumps(measured(Cell(**json.loads(text)))))


if __name__ == "__main__":
    main(sys.argv[1])
