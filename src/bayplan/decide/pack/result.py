"""The result of a packer: counts become a checked placement; what does not fit gets its reason."""

from collections import Counter

import numpy as np

from bayplan.check import Violation, check
from bayplan.decide.pack.problem import PackProblem
from bayplan.model import UNPLACED, IntArray, Placement, Reason, Result, ints, verdict
from bayplan.score.packing import strictest_ucac

CONFIDENCE = "confidence"  # the kind of rule that is the chance constraint


def pack_result(
    problem: PackProblem,
    count: IntArray,
    *,
    seconds: float,
    goal: str = "ucac",
    bound: float | None = None,
    may_violate_confidence: bool = False,
) -> Result[Placement]:
    """The result for `count` (machine, workload) new containers. `bound`: no placement of all containers scores less."""
    placement = _placement(problem, count)
    placement, dropped, violated = _without_violations(problem, placement, may_violate_confidence)
    score = _scores(problem, placement)
    missing = np.bincount(problem.cluster.containers.workload[placement.unplaced], minlength=len(problem.unplaced))
    valid = bound if bound is not None and not missing.any() and not dropped and not violated else None
    status, proven = verdict(goal, score[goal], valid)
    return Result(
        status=status,
        solution=placement,
        score=score,
        goal=goal,
        bound=proven,
        left_out=(*dropped, *_left_out(problem, missing)),
        still_violated=violated,
        seconds=seconds,
    )


def _placement(problem: PackProblem, count: IntArray) -> Placement:
    """Unplaced containers of each workload in their order, machines in theirs; too large counts are cut."""
    machine_of = problem.before.machine_of.copy()
    unplaced = problem.before.unplaced
    workload = problem.cluster.containers.workload[unplaced]
    for w in np.flatnonzero(count.sum(axis=0)).tolist():
        containers = unplaced[workload == w]
        machines = np.repeat(np.arange(len(count)), count[:, w])[: len(containers)]
        machine_of[containers[: len(machines)]] = machines
    return Placement(machine_of=ints(machine_of))


def _scores(problem: PackProblem, placement: Placement) -> dict[str, float]:
    """UCaC of the main resource in its written unit, and machines that run something."""
    resource = problem.cluster.resources[problem.main.resource]
    total = float(strictest_ucac(problem.cluster, placement, problem.main).sum()) / resource.scale
    used = np.unique(placement.machine_of[placement.machine_of != UNPLACED])
    return {"ucac": total, "machines": float(len(used))}


def _without_violations(
    problem: PackProblem, placement: Placement, may_violate_confidence: bool
) -> tuple[Placement, tuple[Reason, ...], tuple[str, ...]]:
    """The placement without new containers that violate a rule which packers do not know, such as anti-affinity.

    Also why these were left out, and on how many machines the confidence is violated where that is allowed.
    """
    before = {_subject(v): v.excess for v in check(problem.cluster, problem.before)}
    dropped: Counter[str] = Counter()
    while True:
        worse = [
            v
            for v in check(problem.cluster, placement, problem.before)
            if v.excess > before.get(_subject(v), 0.0) * (1.0 + 1e-9) and not (may_violate_confidence and v.rule == CONFIDENCE)
        ]
        machines = {m for v in worse for m, name in enumerate(problem.cluster.machines.name) if name in v.subject}
        new = np.flatnonzero((problem.before.machine_of == UNPLACED) & (placement.machine_of != UNPLACED))
        involved = [c for c in new.tolist() if not machines or int(placement.machine_of[c]) in machines]
        if not worse or not involved:
            break
        machine_of = placement.machine_of.copy()
        machine_of[involved] = UNPLACED
        placement = Placement(machine_of=ints(machine_of))
        dropped[", ".join(sorted({v.rule for v in worse}))] += len(involved)
    reasons = tuple(
        Reason(subject=rules, text=f"{count} containers left out: packers do not look at this rule, 'place' does")
        for rules, count in dropped.items()
    )
    over = 0
    if may_violate_confidence:
        over = sum(v.rule == CONFIDENCE for v in check(problem.cluster, placement, problem.before))
    return placement, reasons, (f"the confidence is violated on {over} machines",) if over else ()


def _subject(violation: Violation) -> tuple[object, ...]:
    return violation.rule, violation.number, violation.subject


def _left_out(problem: PackProblem, missing: IntArray) -> list[Reason]:
    """A reason for each workload of which `missing` (workload,) counts containers; in the manner of kube-scheduler."""
    reasons = []
    for w in np.flatnonzero(missing).tolist():
        obstacles = Counter(_obstacles(problem, w))
        fits, total = obstacles.pop("", 0), len(problem.allowed[w])
        parts = ", ".join(f"{n} {obstacle}" for obstacle, n in obstacles.items())
        text = f"{int(missing[w])} of {int(problem.unplaced[w])} left out: {fits}/{total} machines fit at the start"
        text += f" ({parts})" if parts else "; the other containers take all that is free"
        reasons.append(Reason(subject=problem.cluster.workloads.name[w], text=text))
    return reasons


def _obstacles(problem: PackProblem, w: int) -> list[str]:
    """(machine,) what keeps one container of a workload off a machine as it was at the start; empty if nothing does."""
    obstacle = np.full(len(problem.allowed[w]), "", dtype=object)
    for constraint in reversed(problem.chance_constraints):
        name, capacity = problem.cluster.resources[constraint.resource].name, constraint.capacity
        strictest = np.where(problem.running > 0, constraint.deviate, 0.0).max(axis=1, initial=0.0)
        d = np.maximum(constraint.deviate[w], strictest)
        mean = problem.running @ constraint.mean + constraint.mean[w]
        variance = problem.running @ constraint.variance + constraint.variance[w]
        obstacle[mean + d * np.sqrt(variance) > capacity] = f"short of {name} at that confidence"
        alone = float(constraint.mean[w] + constraint.deviate[w] * np.sqrt(constraint.variance[w]))
        obstacle[alone > capacity] = f"too small in {name} for a single one"
    obstacle[(problem.request[w] > problem.free).any(axis=1)] = "too full"
    obstacle[~problem.allowed[w]] = "not allowed"
    listed: list[str] = obstacle.tolist()
    return listed
