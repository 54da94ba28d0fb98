"""Rules about the change between two placements: pinned, transient, and that nothing that runs is lost."""

from collections.abc import Iterator

import numpy as np

from bayplan.check.placement.context import NumberedRules, PlacementContext
from bayplan.check.violation import RUNNING, Violation, amount
from bayplan.model import UNPLACED, IntArray, TransientMode


def pinned(context: PlacementContext, rules: NumberedRules) -> Iterator[Violation]:
    """Pinned containers that ran and do not run there any more."""
    if context.before is None:
        return
    gone = (context.before != UNPLACED) & (context.machine_of != context.before)
    machines = context.cluster.machines.name
    for number, rule in rules:
        members = np.unique(np.array(rule.containers, dtype=np.int64))
        for c in members[gone[members]]:
            name, old = context.cluster.containers.name[c], machines[context.before[c]]
            new = "" if context.machine_of[c] == UNPLACED else machines[context.machine_of[c]]
            change = f"moved from machine '{old}' to '{new}'" if new else f"was removed from machine '{old}'"
            yield Violation(
                rule="pinned",
                number=number,
                subject=(name, old, new) if new else (name, old),
                excess=1,
                sentence=f"pinned: '{name}' {change}",
            )


def running(context: PlacementContext) -> Iterator[Violation]:
    """Containers that ran and have no machine now."""
    if context.before is None:
        return
    for c in np.flatnonzero((context.before != UNPLACED) & (context.machine_of == UNPLACED)):
        name, old = context.cluster.containers.name[c], context.cluster.machines.name[context.before[c]]
        yield Violation(
            rule=RUNNING,
            subject=(name, old),
            excess=1,
            sentence=f"running: '{name}' ran on machine '{old}' and has no machine now",
        )


def transient(context: PlacementContext, rules: NumberedRules) -> Iterator[Violation]:
    """Machines that cannot hold what they are charged while containers move to them.

    Only machines that take a container are looked at: moving one away from a full machine violates nothing.
    """
    if context.before is None:
        return
    arriving = arrivals(context.machine_of, context.before, len(context.cluster.machines.name))
    has = context.cluster.machines.capacity
    for number, rule in rules:
        r, resource = rule.resource, context.cluster.resources[rule.resource]
        charged = charge(context, rule.mode)[:, r]
        for m in np.flatnonzero((arriving > 0) & (charged > has[:, r])):
            name, over = context.cluster.machines.name[m], int(charged[m]) - int(has[m, r])
            yield Violation(
                rule="transient",
                number=number,
                subject=(name, resource.name),
                excess=over,
                sentence=f"transient: machine '{name}' is charged {amount(charged[m], resource)} {resource.name} of "
                f"{amount(has[m, r], resource)} while containers move ({amount(over, resource)} too much)",
            )


def arrivals(machine_of: IntArray, before: IntArray, machines: int) -> IntArray:
    """(machine,) how many containers arrive that did not run there before."""
    arrives = (machine_of != UNPLACED) & (machine_of != before)
    return np.bincount(machine_of[arrives], minlength=machines)


def charge(context: PlacementContext, mode: TransientMode) -> IntArray:
    """(machine, resource) what must fit at once: joint counts what left, too."""
    load = context.load
    if mode is TransientMode.SEQUENTIAL or context.before is None:
        return load
    left = (context.before != UNPLACED) & (context.machine_of != context.before)
    return load + context.load_of(left, context.before)
