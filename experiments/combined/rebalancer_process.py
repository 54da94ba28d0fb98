"""`python rebalancer_process.py PROBLEM ANSWER`: drive Meta's Rebalancer; needs its package and nothing of ours.

It needs a newer Python than ours may be, so it runs in an environment of its own. PROBLEM and ANSWER are JSON files that
`experiments.combined.rebalancer_answer` writes and reads.
"""

import json
import os
import sys
import time
from typing import Any

ABSOLUTE = 1  # a limit that is a number; it takes enumerations as numbers only
VARIANCE = 6  # the sum of squared distances from the mean utilisation, if the upper bound is 0
ONE, EACH = "one", "each"  # dimensions: 1 for every container, and one over the replicas of its workload


def solved(problem: dict[str, Any]) -> dict[str, Any]:
    """Where each container runs, by number, and the seconds of the processor."""
    from rebalancer import ProblemSolver  # type: ignore[import-not-found]

    began = time.process_time()
    solver = ProblemSolver(service_name="bayplan", service_scope="experiment")
    solver.set_log_level("0").disable_solution_summary()
    solver.set_object_name("container").set_container_name("machine")
    state_problem(solver, problem)
    add_rules(solver, problem)
    add_goals(solver, problem)
    built = time.process_time() - began
    moves = [{name: {}} for name in problem["moves"]]
    search = {"solveTime": max(1, round(problem["seconds"])), "randomSeed": problem["seed"], "moveTypeList": moves}
    solver.add_solver({"localSearchSolverSpec": search})
    started = time.monotonic()
    answer = solver.solve()
    ended = time.monotonic() - started < 0.9 * search["solveTime"]
    cpu = time.process_time() - began
    return {"assignment": answer["assignment"], "cpu": cpu, "ended": ended, "built": built, "why": _why(answer)}


def state_problem(solver: Any, problem: dict[str, Any]) -> None:
    """Machines, containers, what they have and take."""
    standing: dict[str, list[str]] = {f"m{m}": [] for m in range(len(problem["capacity"]))}
    for c, m in enumerate(problem["machine_of"]):
        standing[f"m{m}"].append(f"c{c}")
    solver.set_assignment(standing)
    for r, name in enumerate(problem["resources"]):
        solver.add_object_dimension(name, {f"c{c}": problem["request"][w][r] for c, w in enumerate(problem["workload"])})
        solver.add_container_dimension(name, {f"m{m}": have[r] for m, have in enumerate(problem["capacity"])})
    solver.add_object_dimension(ONE, {}, default_value=1.0)
    solver.add_object_dimension(EACH, {f"c{c}": 1.0 / problem["replicas"][w] for c, w in enumerate(problem["workload"])})


def add_rules(solver: Any, problem: dict[str, Any]) -> None:
    """Capacity, allowed machines, how many of some workloads share a machine, the limit of moves."""
    for name in problem["resources"]:
        solver.add_constraint({"capacitySpec": {"name": f"{name} fits", "scope": "machine", "dimension": name}})
    of = _containers_of(problem)
    apart = {f"g{n}": [c for w in workloads for c in of[w]] for n, (workloads, _) in enumerate(problem["apart"])}
    for n, (_, limit) in enumerate(problem["apart"]):
        solver.add_partition(f"apart{n}", {f"g{n}": apart[f"g{n}"]})
        most = {"type": ABSOLUTE, "globalLimit": float(limit)}
        spec = {"name": f"apart{n}", "scope": "machine", "partitionName": f"apart{n}", "limit": most}
        solver.add_constraint({"groupCountSpec": spec})
    if problem["forbidden"]:
        avoid = [
            {"object": c, "scopeItems": [f"m{m}" for m in machines]}
            for w, machines in problem["forbidden"].items()
            for c in of[int(w)]
        ]
        solver.add_constraint({"avoidAssignmentsSpec": {"name": "allowed", "scope": "machine", "assignments": avoid}})
    limit = {"name": "moves", "scope": "machine", "dimension": ONE, "allowance": float(problem["max_moves"])}
    solver.add_constraint({"minimizeMovementSpec": {**limit, "doNotNormalize": True, "magicScaling": False}})


def add_goals(solver: Any, problem: dict[str, Any]) -> None:
    """Local traffic, balance and the price of moves, as the goal weighs them.

    What stays local of a pair is min(a, b) = a + b - max(a, b) on each machine, with the shares a and b of its two workloads
    there. Their sums are constant: the least sum of max(a, b) is the most local traffic.
    """
    of = _containers_of(problem)
    for n, (a, b, weight) in enumerate(problem["traffic"]):
        solver.add_partition(f"pair{n}", {"a": of[a], "b": of[b]})
        spec = {"name": f"pair{n}", "scope": "machine", "partitionName": f"pair{n}", "dimension": EACH}
        solver.add_goal({"sumOfMaxSpec": spec}, weight)
    for name in problem["resources"]:
        spec = {"name": f"{name} even", "scope": "machine", "dimension": name, "formula": VARIANCE, "upperBound": 0.0}
        solver.add_goal({"balanceSpec": spec}, problem["balance"] / len(problem["capacity"]))
    price = {"name": "price", "scope": "machine", "dimension": ONE, "doNotNormalize": True, "magicScaling": False}
    solver.add_goal({"minimizeMovementSpec": price}, problem["price"])


def _containers_of(problem: dict[str, Any]) -> list[list[str]]:
    of: list[list[str]] = [[] for _ in problem["replicas"]]
    for c, w in enumerate(problem["workload"]):
        of[w].append(f"c{c}")
    return of


def _why(answer: dict[str, Any]) -> str:
    """Whatever it says about why it ended."""
    return json.dumps({key: value for key, value in answer.items() if key != "assignment"}, default=str)[:4000]


def main(problem: str, answer: str) -> None:
    """Read, solve on one core, write."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {sorted(os.sched_getaffinity(0))[-1]})
    with open(problem, encoding="utf-8") as file:  # noqa: PTH123 (nothing of ours, and no more than it needs)
        asked = json.load(file)
    found = solved(asked)
    with open(answer, "w", encoding="utf-8") as file:  # noqa: PTH123
        json.dump(found, file)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
