"""The result of a packer: counts become a checked placement; what does not fit gets its reason."""

from collections import Counter

import numpy as np

from bayplan.check import check
from bayplan.decide.pack.problem import PackProblem
from bayplan.decide.pack.within_rules import has_other_rules, within_all_rules
from bayplan.errors import ModelError
from bayplan.model import UNPLACED, IntArray, Placement, Reason, Result, ints, verdict
from bayplan.score.explain import fit_summary
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
    placement, others = _placement(problem, count), has_other_rules(problem)
    if others and len(problem.before.unplaced):
        placement = within_all_rules(problem, placement, may_violate_confidence=may_violate_confidence)
    violated = _violations_left(problem, placement, may_violate_confidence)
    score = _scores(problem, placement)
    missing = np.bincount(problem.cluster.containers.workload[placement.unplaced], minlength=len(problem.unplaced))
    valid = bound if bound is not None and not missing.any() and not violated else None
    status, proven = verdict(goal, score[goal], valid)
    return Result(
        status=status,
        solution=placement,
        score=score,
        goal=goal,
        bound=proven,
        left_out=tuple(_left_out_by_rules(problem, placement, missing) if others else _left_out(problem, missing)),
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


def _violations_left(problem: PackProblem, placement: Placement, may_violate_confidence: bool) -> tuple[str, ...]:
    """On how many machines the confidence is violated, where it may be. ModelError if another rule is violated further."""
    now = check(problem.cluster, placement, problem.before)
    allowed = [v for v in now if may_violate_confidence and v.rule == CONFIDENCE]
    if len(now) > len(allowed):
        before = {v.place: v.excess for v in check(problem.cluster, problem.before)}
        for v in now:
            if not (may_violate_confidence and v.rule == CONFIDENCE) and v.excess > before.get(v.place, 0.0) * (1.0 + 1e-9):
                raise ModelError(f"a packing violates a rule: {v.sentence}")
    return (f"the confidence is violated on {len(allowed)} machines",) if allowed else ()


def _left_out_by_rules(problem: PackProblem, placement: Placement, missing: IntArray) -> list[Reason]:
    """The same in the placement that was found, by all rules."""
    reasons = []
    for w in np.flatnonzero(missing).tolist():
        fit = fit_summary(problem.cluster, placement, w)
        reasons.append(Reason(fit.subject, f"{int(missing[w])} of {int(problem.unplaced[w])} left out: {fit.text}"))
    return reasons


def _left_out(problem: PackProblem, missing: IntArray) -> list[Reason]:
    """A reason for each workload of which `missing` (workload,) counts containers; in the manner of kube-scheduler."""
    reasons = []
    for w in np.flatnonzero(missing).tolist():
        text = f"{int(missing[w])} of {int(problem.unplaced[w])} left out: {why_none_fits(problem, w, 'at the start')}"
        reasons.append(Reason(subject=problem.cluster.workloads.name[w], text=text))
    return reasons


def why_none_fits(problem: PackProblem, w: int, when: str = "") -> str:
    """'0/12 machines fit (9 short of cpu at that confidence, 3 not allowed)', in the manner of kube-scheduler."""
    obstacles = Counter(_obstacles(problem, w))
    fits, total = obstacles.pop("", 0), len(problem.allowed[w])
    parts = ", ".join(f"{n} {obstacle}" for obstacle, n in obstacles.items())
    text = f"{fits}/{total} machines fit {when}".strip()
    return text + (f" ({parts})" if parts else "; the other containers take all that is free")


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
