"""Every placement of a small cluster: which violate no rule further than the start, and what the best of them is worth."""

from collections.abc import Callable, Iterator, Mapping
from itertools import product

from tests.naive.rules import violated_rules

from bayplan.model import UNPLACED, Cluster, CoLocate, Placement, ints

ROUNDING = 1e-9
Excess = Mapping[tuple[object, ...], float]


def excess_of(cluster: Cluster, placement: Placement, before: Placement) -> Excess:
    """How far each rule is exceeded in each place; of dependencies all places together count."""
    excess: dict[tuple[object, ...], float] = {}
    for number, names, by in violated_rules(cluster, placement, before):
        together = number >= 0 and cluster.rules[number].kind == "dependency"
        key = (number,) if together else (number, *names)
        excess[key] = excess.get(key, 0.0) + by if together else max(excess.get(key, 0.0), by)
    return excess


def worse(after: Excess, before: Excess) -> list[tuple[object, ...]]:
    """Where a rule is exceeded further."""
    return [key for key, by in after.items() if by > before.get(key, 0.0) * (1 + ROUNDING) + ROUNDING]


def every_placement(cluster: Cluster, start: Placement, *, stays: set[int]) -> Iterator[Placement]:
    """Every placement in which all containers run and those of `stays` run where they did."""
    machines = range(len(cluster.machines.name))
    choices = [[int(m)] if c in stays and m != UNPLACED else machines for c, m in enumerate(start.machine_of.tolist())]
    return (Placement(machine_of=ints(machine_of)) for machine_of in product(*choices))


def better_than(
    cluster: Cluster, start: Placement, limit: float, cost: Callable[[Placement], float], *, stays: set[int]
) -> Placement | None:
    """A complete placement that costs less than a limit and violates no rule further than the start; None if there is none."""
    then = None
    for placement in every_placement(cluster, start, stays=stays):
        if cost(placement) < limit:
            then = excess_of(cluster, start, start) if then is None else then
            if not worse(excess_of(cluster, placement, start), then):
                return placement
    return None


def left_out_though_it_fits(cluster: Cluster, placement: Placement, before: Placement) -> Iterator[tuple[tuple[int, ...], int]]:
    """Containers without a machine (co-located ones together), and a machine that could take them as things are."""
    now = None
    for unit, machines in units_left_out(cluster, placement):
        for m in machines:
            machine_of = placement.machine_of.copy()
            machine_of[list(unit)] = m
            now = excess_of(cluster, placement, before) if now is None else now
            if not worse(excess_of(cluster, Placement(machine_of=ints(machine_of)), before), now):
                yield unit, m
                break


def units_left_out(cluster: Cluster, placement: Placement) -> Iterator[tuple[tuple[int, ...], list[int]]]:
    """Containers without a machine, those of a co-locate rule together; and the machines that count: where the others run.

    Where these run on several machines already, no machine is the right one.
    """
    left, machines = set(placement.unplaced.tolist()), list(range(len(cluster.machines.name)))
    for rule in cluster.rules:
        if isinstance(rule, CoLocate) and left & set(rule.containers):
            beside = sorted({int(placement.machine_of[c]) for c in rule.containers} - {UNPLACED})
            yield tuple(sorted(left & set(rule.containers))), ([] if len(beside) > 1 else beside or machines)
            left -= set(rule.containers)
    yield from (((c,), machines) for c in sorted(left))
