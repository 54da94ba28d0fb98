"""What is wrong with an answer of `pack` or `machines_needed`, by chance constraints written out machine by machine."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import sqrt
from statistics import NormalDist

from tests.naive.best_placement import every_placement, excess_of, units_left_out, worse
from tests.stress.cases import Case
from tests.stress.outcomes import Outcome
from tests.stress.placement_faults import MOST_PLACEMENTS

from bayplan.model import UNPLACED, Capacity, Cluster, Confidence, Placement

ROUNDING = 1e-9
MOST_CONTAINERS = 6  # of which every partition is tried
IGNORES_CONFIDENCE = "bf-nsigma"  # counts deviations of its own


def pack_faults(case: Case, outcome: Outcome) -> Iterator[str]:
    """Sentences; none if all is well. The numbers of the chance constraints need the answer of the library."""
    before, placement = case.value.placement, outcome.solution
    if placement is None:
        yield f"no placement, status {outcome.status}"
        return
    ran = before.machine_of != UNPLACED
    if (placement.machine_of[ran] != before.machine_of[ran]).any():
        yield "pack moved a container that runs"
    if outcome.answer is None:
        return
    chances = _Chances(outcome.answer.instance)
    yield from chances.faults(case.method, before, placement)
    yield from _score_faults(chances, outcome)
    yield from _left_out_faults(case, chances, outcome)
    yield from _bound_faults(chances, before, outcome)


class _Chances:
    """Rules without the chance constraints, and these written out."""

    def __init__(self, instance) -> None:
        self.main = instance.problem.main.resource
        self.scale = instance.resource.scale
        self.cluster: Cluster = instance.problem.cluster  # usage as the model of uncertainty sees it
        self.rules = [rule for rule in self.cluster.rules if isinstance(rule, Confidence)]
        self.others = replace(self.cluster, rules=tuple(rule for rule in self.cluster.rules if not isinstance(rule, Confidence)))
        own = instance.alpha_of
        self.alpha_of = [0.0] * len(self.cluster.workloads.name) if own is None else own.tolist()

    def need(self, rule: Confidence, workloads: Sequence[int]) -> float:
        """What these containers take together at the strictest confidence among them."""
        r, usage = rule.resource, self.cluster.workloads
        alpha = max([rule.alpha, *(self.alpha_of[w] for w in workloads)])
        mean, variance = (
            sum(float(usage.usage_mean[w, r]) for w in workloads),
            sum(float(usage.usage_std[w, r]) ** 2 for w in workloads),
        )
        return mean + NormalDist().inv_cdf(alpha) * sqrt(variance)

    def on(self, placement: Placement, m: int) -> list[int]:
        """The workloads of what runs on a machine."""
        return [int(self.cluster.containers.workload[c]) for c in (placement.machine_of == m).nonzero()[0]]

    def over(self, placement: Placement) -> dict[tuple[object, ...], float]:
        """By how much each machine is over its capacity at the stated confidence."""
        over = {}
        for number, rule in enumerate(self.rules):
            for m in range(len(self.cluster.machines.name)):
                has = float(self.cluster.machines.capacity[m, rule.resource])
                by = self.need(rule, self.on(placement, m)) - has * (1 + ROUNDING)
                if by > 0:
                    over["chance", number, m] = by
        return over

    def excess(self, placement: Placement, before: Placement) -> dict[tuple[object, ...], float]:
        """How far every rule is exceeded."""
        return {**excess_of(self.others, placement, before), **self.over(placement)}

    def faults(self, method: str, before: Placement, placement: Placement) -> Iterator[str]:
        then, now = self.excess(before, before), self.excess(placement, before)
        for key in worse(now, then):
            if method != IGNORES_CONFIDENCE or key[0] != "chance":
                kind = "confidence" if key[0] == "chance" else self.others.rules[key[0]].kind if key[0] >= 0 else "running"
                yield f"rule {kind} violated further: {key} by {now[key]:g} instead of {then.get(key, 0.0):g}"

    def ucac(self, placement: Placement) -> float:
        """Of the main resource, in its written unit."""
        rule = next(rule for rule in self.rules if rule.resource == self.main)
        used = set(placement.machine_of[placement.placed].tolist())
        return sum(self.need(rule, self.on(placement, m)) for m in used) / self.scale

    def goal(self, name: str, placement: Placement) -> float:
        """The score that a packer is after."""
        return self.ucac(placement) if name == "ucac" else float(len(set(placement.machine_of[placement.placed].tolist())))


def _score_faults(chances: _Chances, outcome: Outcome) -> Iterator[str]:
    for name in ("ucac", "machines"):
        value, expected = outcome.score[name], chances.goal(name, outcome.solution)
        if abs(value - expected) > 1e-12 + 1e-7 * abs(expected):
            yield f"score {name} is {value}, obvious loops say {expected}"


def _left_out_faults(case: Case, chances: _Chances, outcome: Outcome) -> Iterator[str]:
    """Containers that have no machine although one could take them."""
    if case.method == IGNORES_CONFIDENCE:
        return
    before, placement = case.value.placement, outcome.solution
    then = chances.excess(placement, before)
    for unit, machines in units_left_out(chances.cluster, placement):
        for m in machines:
            machine_of = placement.machine_of.copy()
            machine_of[list(unit)] = m
            if not worse(chances.excess(Placement(machine_of=machine_of), before), then):
                names = ", ".join(chances.cluster.containers.name[c] for c in unit)
                yield f"left out though it fits: {names} on {chances.cluster.machines.name[m]}"
                break


def _bound_faults(chances: _Chances, before: Placement, outcome: Outcome) -> Iterator[str]:
    """A bound that a placement of all containers beats, and answers that are called optimal and are not."""
    if outcome.bound is None:
        if outcome.status == "optimal":
            yield "optimal without a bound"
        return
    cluster, ran = chances.cluster, set(before.placed.tolist())
    if len(cluster.machines.name) ** (len(before.machine_of) - len(ran)) > MOST_PLACEMENTS:
        return
    value = outcome.score[outcome.goal]
    limit = value if outcome.status == "optimal" else outcome.bound
    then = chances.excess(before, before)
    for placement in every_placement(cluster, before, stays=ran):
        possible = chances.goal(outcome.goal, placement)
        if possible < limit - 1e-12 - 1e-7 * abs(limit) and not worse(chances.excess(placement, before), then):
            claim = "called optimal" if outcome.status == "optimal" else f"bound {outcome.bound}"
            yield f"{outcome.goal} {value}, {claim}, but {possible} is possible: {placement.machine_of.tolist()}"
            return


# ---- machines needed -----------------------------------------------------------------------------------------------------------


def needed_faults(case: Case, outcome: Outcome) -> Iterator[str]:
    """Fewer machines than the bound, or more than a partition of the containers needs that is called optimal."""
    details = outcome.details
    count = sum(entry["needed"] for entry in details["by_type"])
    if count != details["machines"]:
        yield f"{details['machines']} machines, {count} by type"
    if outcome.bound is not None and not outcome.left_out and outcome.bound > count + 1e-6:
        yield f"{count} machines, the bound is {outcome.bound}"
    plain = all(isinstance(rule, Capacity | Confidence) for rule in case.value.cluster.rules)
    n_c = len(case.value.cluster.containers.name)
    if outcome.answer is not None and plain:
        chances, names = _Chances(outcome.answer.instance), case.value.cluster.workloads.name
        fitting = [name for name in outcome.left_out if _some_machine_fits(chances, [names.index(name)])]
        yield from (f"left out though it fits: {name} on a machine of its own" for name in fitting)
    if outcome.answer is None or not plain or n_c > MOST_CONTAINERS or outcome.left_out or outcome.bound is None:
        return
    fewest = _fewest(_Chances(outcome.answer.instance), n_c)
    if fewest is None or fewest > count:
        yield f"{count} machines, but {fewest} is the fewest that obvious loops find"
    elif outcome.bound > fewest + 1e-6 or (outcome.status == "optimal" and fewest < count):
        yield f"{count} machines, {outcome.status}, bound {outcome.bound}, but {fewest} are enough"


def _fewest(chances: _Chances, n_c: int) -> int | None:
    """The fewest machines of any capacity in the cluster, by trying all partitions; None if some container fits on none."""
    workload = chances.cluster.containers.workload.tolist()
    best: list[int] = []

    def extend(c: int, parts: list[list[int]]) -> None:
        if best and len(parts) >= best[0]:
            return
        if c == n_c:
            best[:] = [len(parts)]
            return
        for part in [*parts, []]:
            if _some_machine_fits(chances, [workload[k] for k in [*part, c]]):
                others = [other for other in parts if other is not part]
                extend(c + 1, [*others, [*part, c]])

    extend(0, [])
    return best[0] if best else None


def _some_machine_fits(chances: _Chances, workloads: list[int]) -> bool:
    capped = {r for rule in chances.cluster.rules if isinstance(rule, Capacity) for r in rule.resources}
    request = chances.cluster.workloads.request
    return any(
        all(sum(int(request[w, r]) for w in workloads) <= int(capacity[r]) for r in capped)
        and all(chances.need(rule, workloads) <= float(capacity[rule.resource]) * (1 + ROUNDING) for rule in chances.rules)
        for capacity in chances.cluster.machines.capacity
    )
