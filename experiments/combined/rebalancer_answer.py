"""Meta's Rebalancer: the same goal stated in its words, its answer in ours."""

import json
import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bayplan.errors import UsageError
from bayplan.model import Allow, AntiAffinity, Capacity, Placement, Snapshot, Term, allowed, ints
from bayplan.model.goal import STEADY
from bayplan.score.affinity import total_affinity
from bayplan.score.goal.objective import goal_objective

PYTHON = "BAYPLAN_REBALANCER"  # names the Python of an environment that has the package `rebalancer`
DRIVER = Path(__file__).with_name("rebalancer_process.py")
KINDS = ("singleMoveTypeSpec", "swapMoveTypeSpec")  # of moves that it tries
LATE = 10.0  # times its seconds, after which it is given up


class Found(NamedTuple):
    """Its answer, and the seconds of the processor that it took."""

    placement: Placement
    cpu: float
    ended: bool = False  # did it stop by itself, before its time was over?


def is_there() -> bool:
    """Is there a Python that has it?"""
    return bool(os.environ.get(PYTHON))


def rebalancer(snapshot: Snapshot, *, max_moves: int, seconds: float, seed: int, kinds: tuple[str, ...] = KINDS) -> Found:
    """Its answer to the goal `steady` within a limit of moves."""
    problem = {**problem_of(snapshot), "max_moves": max_moves, "seconds": seconds, "seed": seed, "moves": kinds}
    with tempfile.TemporaryDirectory() as folder:
        asked, answered = Path(folder) / "problem.json", Path(folder) / "answer.json"
        asked.write_text(json.dumps(problem), encoding="utf-8")
        words = [os.environ[PYTHON], str(DRIVER), str(asked), str(answered)]
        done = subprocess.run(words, capture_output=True, text=True, timeout=LATE * seconds + 300, check=False)
        if done.returncode != 0:
            raise UsageError(f"rebalancer: {(done.stderr.strip().splitlines() or ['no word'])[-1][:200]}")
        found = json.loads(answered.read_text(encoding="utf-8"))
    machine_of = np.array(snapshot.placement.machine_of)
    for container, machine in found["assignment"].items():
        machine_of[int(container[1:])] = int(machine[1:])
    return Found(placement=Placement(machine_of=ints(machine_of)), cpu=float(found["cpu"]), ended=bool(found.get("ended")))


def problem_of(snapshot: Snapshot) -> dict[str, Any]:
    """The cluster and the weights of the goal as the driver reads them; UsageError for a rule that it cannot state."""
    cluster = snapshot.cluster
    for rule in cluster.rules:
        if not isinstance(rule, (Capacity, AntiAffinity, Allow)):
            raise UsageError(f"our driver does not state rules of kind '{rule.kind}'")
    weight, total = goal_objective(snapshot, STEADY).weight, total_affinity(cluster)
    traffic = cluster.traffic
    may, everywhere = allowed(cluster), range(len(cluster.machines.name))
    forbidden = {w: np.flatnonzero(~may.machines(w)).tolist() for w in range(len(cluster.workloads.name))}
    return {
        "resources": [resource.name for resource in cluster.resources],
        "capacity": cluster.machines.capacity.tolist(),
        "request": cluster.workloads.request.tolist(),
        "workload": cluster.containers.workload.tolist(),
        "replicas": cluster.replicas.tolist(),
        "machine_of": snapshot.placement.machine_of.tolist(),
        "apart": [[list(rule.workloads), rule.limit] for rule in cluster.rules if isinstance(rule, AntiAffinity)],
        "forbidden": {w: machines for w, machines in forbidden.items() if machines and len(machines) < len(everywhere)},
        "traffic": [
            [int(a), int(b), weight[Term.AFFINITY] * float(each) / total]
            for a, b, each in zip(traffic.a, traffic.b, traffic.weight, strict=True)
        ],
        "balance": weight[Term.UTILISATION],
        "price": weight[Term.MOVES],
    }
