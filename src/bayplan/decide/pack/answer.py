"""What a packer returns: counts become a placement, judged by the referee; what does not fit gets its reason."""

from collections import Counter

import numpy as np

from bayplan.check import Violation, check
from bayplan.decide.pack.problem import PackProblem
from bayplan.model import UNPLACED, FloatArray, IntArray, Placement, Reason, Result, Status, ints

CHANCES = "confidence"  # the rule that is the chance constraint


def packed(
    problem: PackProblem,
    count: IntArray,
    *,
    seconds: float,
    goal: str = "ucac",
    bound: float | None = None,
    may_break_chances: bool = False,
) -> Result[Placement]:
    """The result for `count` (machine, workload) new containers. `bound`: no placement of all containers scores less."""
    placement = placed(problem, count)
    placement, dropped, violated = _kept(problem, placement, may_break_chances)
    score = scores(problem, placement)
    left = np.bincount(problem.cluster.containers.workload[placement.unplaced], minlength=len(problem.waiting))
    known = bound if bound is not None and not left.any() and not dropped and not violated else None
    if known is not None:
        known = min(known, score[goal])  # rounding
    optimal = known is not None and score[goal] - known <= 1e-9 * max(1.0, abs(score[goal]))
    return Result(
        status=Status.OPTIMAL if optimal else Status.FEASIBLE,
        solution=placement,
        score=score,
        goal=goal,
        bound=known,
        left_out=(*dropped, *(Reason(subject=name, text=text) for name, text in left_out(problem, placement, left))),
        still_violated=violated,
        seconds=seconds,
    )


def placed(problem: PackProblem, count: IntArray) -> Placement:
    """Waiting containers of each workload in their order, machines in theirs; too large counts are cut."""
    machine_of = problem.before.machine_of.copy()
    waiting = problem.before.unplaced
    owner = problem.cluster.containers.workload[waiting]
    for w in np.flatnonzero(count.sum(axis=0)).tolist():
        some = waiting[owner == w]
        where = np.repeat(np.arange(len(count)), count[:, w])[: len(some)]
        machine_of[some[: len(where)]] = where
    return Placement(machine_of=ints(machine_of))


def scores(problem: PackProblem, placement: Placement) -> dict[str, float]:
    """UCaC of the main resource in its written unit, and machines that run something."""
    resource = problem.cluster.resources[problem.main.resource]
    total = float(machine_ucac(problem, placement).sum()) / resource.scale
    used = np.unique(placement.machine_of[placement.machine_of != UNPLACED])
    return {"ucac": total, "machines": float(len(used))}


def machine_ucac(problem: PackProblem, placement: Placement) -> FloatArray:
    """(machine,) UCaC of the main resource in base units, with the deviate of the strictest service on each machine."""
    chance = problem.main
    machine, w = placement.machine_of[placement.placed], problem.cluster.containers.workload[placement.placed]
    d = np.zeros(len(chance.room))
    np.maximum.at(d, machine, chance.d[w])
    mean = np.bincount(machine, weights=chance.mean[w], minlength=len(d))
    uncertain: FloatArray = d * np.sqrt(np.bincount(machine, weights=chance.variance[w], minlength=len(d)))
    return mean + uncertain


def _kept(
    problem: PackProblem, placement: Placement, may_break_chances: bool
) -> tuple[Placement, tuple[Reason, ...], tuple[str, ...]]:
    """The placement without new containers that break a rule which packers do not know, such as anti-affinity.

    Also why these were left out, and on how many machines chances are not kept where they need not be.
    """
    before = {_place(v): v.excess for v in check(problem.cluster, problem.before)}
    dropped: Counter[str] = Counter()
    while True:
        worse = [
            v
            for v in check(problem.cluster, placement, problem.before)
            if v.excess > before.get(_place(v), 0.0) * (1.0 + 1e-9) and not (may_break_chances and v.rule == CHANCES)
        ]
        machines = {m for v in worse for m, name in enumerate(problem.cluster.machines.name) if name in v.subject}
        new = np.flatnonzero((problem.before.machine_of == UNPLACED) & (placement.machine_of != UNPLACED))
        guilty = [c for c in new.tolist() if not machines or int(placement.machine_of[c]) in machines]
        if not worse or not guilty:
            break
        machine_of = placement.machine_of.copy()
        machine_of[guilty] = UNPLACED
        placement = Placement(machine_of=ints(machine_of))
        dropped[", ".join(sorted({v.rule for v in worse}))] += len(guilty)
    text = [f"{count} containers left out: packers do not look at this rule, 'place' does" for count in dropped.values()]
    left = tuple(Reason(subject=rules, text=why) for rules, why in zip(dropped, text, strict=True))
    over = sum(v.rule == CHANCES for v in check(problem.cluster, placement, problem.before)) if may_break_chances else 0
    return placement, left, (f"{CHANCES}: not kept on {over} machines",) if over else ()


def _place(violation: Violation) -> tuple[object, ...]:
    return violation.rule, violation.number, violation.subject


def left_out(problem: PackProblem, placement: Placement, left: IntArray) -> list[tuple[str, str]]:
    """A workload and the reason, for each that is not placed as a whole; in the manner of kube-scheduler."""
    found = []
    for w in np.flatnonzero(left).tolist():
        why = Counter(_why(problem, w))
        fits, total = why.pop("", 0), len(problem.allowed[w])
        parts = ", ".join(f"{n} {word}" for word, n in why.items())
        text = f"{int(left[w])} of {int(problem.waiting[w])} left out: {fits}/{total} machines fit at the start"
        found.append((problem.cluster.workloads.name[w], text + (f" ({parts})" if parts else "; the others take all there is")))
    return found


def _why(problem: PackProblem, w: int) -> list[str]:
    """(machine,) what keeps one container of a workload off a machine as it was at the start; empty if nothing does."""
    why = np.full(len(problem.allowed[w]), "", dtype=object)
    for chance in reversed(problem.chances):
        name = problem.cluster.resources[chance.resource].name
        d = np.maximum(chance.d[w], np.where(problem.running > 0, chance.d, 0.0).max(axis=1, initial=0.0))
        mean, variance = problem.running @ chance.mean + chance.mean[w], problem.running @ chance.variance + chance.variance[w]
        why[mean + d * np.sqrt(variance) > chance.room] = f"short of {name} at that confidence"
        alone = float(chance.mean[w] + chance.d[w] * np.sqrt(chance.variance[w]))
        why[alone > chance.room] = f"too small in {name} for a single one"
    why[(problem.request[w] > problem.free).any(axis=1)] = "too full"
    why[~problem.allowed[w]] = "not allowed"
    listed: list[str] = why.tolist()
    return listed
