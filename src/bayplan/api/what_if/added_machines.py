"""More machines: copies of one that is there, or of stated amounts."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from bayplan.api.what_if.closed_machines import unused
from bayplan.errors import UsageError, did_you_mean
from bayplan.model import (
    Allow,
    Cluster,
    FloatArray,
    IntArray,
    Level,
    Machines,
    Objective,
    Snapshot,
    floats,
    ints,
    machine_level,
)
from bayplan.model.quantities import parse_quantity, quantity_hint, to_base_units
from bayplan.words import count, first_names

EXPECTED = "expected 'N:TYPE' with the name of a machine to copy, or amounts such as '2:cpu=16,memory=64Gi,zone=west'"
MOST = 100_000  # machines by one option
STATED = "machine"  # what machines of stated amounts are called: machine-new-1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NewMachines:
    """Machines to be added, all alike."""

    option: str  # as the user wrote it
    number: int
    like: int | None  # the machine that they copy; None of stated amounts
    capacity: IntArray  # (resource,)
    safety: IntArray  # (resource,)
    groups: dict[str, str]  # level -> group, of stated amounts


def with_machines(snapshot: Snapshot, option: str) -> tuple[Snapshot, str]:
    """The snapshot with more machines on which nothing runs, and a note.

    A copy is in the same groups and machine sets as its original, and moves to it cost as much as moves to that one. A machine of
    stated amounts is in the groups that are stated (new ones, if nothing is called so), else in a group of its own option, and in
    no machine set; its safety capacity is the median share of the others, and moves cost the most that any does.
    """
    cluster = snapshot.cluster
    new = _new_machines(cluster, option)
    kind = STATED if new.like is None else cluster.machines.name[new.like]
    names = _names(kind, new.number, cluster.machines.name)
    every = (*cluster.machines.name, *names)
    sets = {
        name: ints(np.r_[members, np.arange(len(every) - new.number, len(every))]) if new.like in members else members
        for name, members in cluster.machine_sets.items()
    }
    after = replace(
        cluster,
        machines=Machines(
            name=every,
            capacity=ints(np.r_[cluster.machines.capacity, np.tile(new.capacity, (new.number, 1))]),
            safety=ints(np.r_[cluster.machines.safety, np.tile(new.safety, (new.number, 1))]),
        ),
        levels=(machine_level(every), *(_wider(level, new, kind) for level in cluster.levels[1:])),
        machine_sets=sets,
    )
    changed = replace(snapshot, cluster=after, objective=_with_costs(snapshot.objective, new))
    return changed, _note(cluster, new, names)


def _note(cluster: Cluster, new: NewMachines, names: Sequence[str]) -> str:
    kind = f"like {cluster.machines.name[new.like]}" if new.like is not None else f"of {new.option.partition(':')[2]}"
    note = f"{count(new.number, 'machine')} {kind} added: {first_names(names)}"
    if new.like is None and any(isinstance(rule, Allow) for rule in cluster.rules):
        note += "; in no machine set, so workloads with an allow rule cannot use them"
    return note


def _names(kind: str, number: int, taken: Sequence[str]) -> list[str]:
    names: list[str] = []
    known, following = set(taken), 1
    while len(names) < number:
        if (name := f"{kind}-new-{following}") not in known:
            names.append(name)
        following += 1
    return names


def _new_machines(cluster: Cluster, option: str) -> NewMachines:
    """What 'N:TYPE' means; UsageError if it means nothing."""
    number, colon, kind = option.partition(":")
    if not colon or not number.strip().isdecimal() or not 1 <= int(number) <= MOST or not kind:
        raise UsageError(f"add_machines '{option}': {EXPECTED}, and N from 1 to {MOST:,}")
    if kind in cluster.machines.name:
        like = cluster.machines.name.index(kind)
        capacity, safety = cluster.machines.capacity[like], cluster.machines.safety[like]
        return NewMachines(option=option, number=int(number), like=like, capacity=capacity, safety=safety, groups={})
    if "=" not in kind:
        hint = did_you_mean(kind, cluster.machines.name)
        raise UsageError(f"add_machines '{option}': no machine '{kind}' in cluster '{cluster.name}'; {EXPECTED}{hint}")
    return _stated_machines(cluster, option, int(number), kind)


def _stated_machines(cluster: Cluster, option: str, number: int, amounts: str) -> NewMachines:
    """Machines of amounts by resource, in groups by level."""
    resources, levels = [r.name for r in cluster.resources], [level.name for level in cluster.levels[1:]]
    stated: dict[str, str] = {}
    for part in amounts.split(","):
        name, equals, value = (text.strip() for text in part.partition("="))
        if not equals or not value or name in stated:
            raise UsageError(f"add_machines '{option}': '{part}' is not one amount or group by name; {EXPECTED}")
        if name not in (*resources, *levels):
            known = ", ".join((*resources, *levels))
            hint = did_you_mean(name, (*resources, *levels))
            raise UsageError(f"add_machines '{option}': no resource or level '{name}'; expected one of {known}{hint}")
        stated[name] = value
    missing = [name for name in resources if name not in stated]
    if missing:
        every = f"expected one of every resource ({missing[0]}=0 for none)"
        raise UsageError(f"add_machines '{option}': no amount of {', '.join(missing)}; {every}")
    capacity = ints([_amount(option, r.name, stated[r.name], r.scale) for r in cluster.resources])
    return NewMachines(
        option=option,
        number=number,
        like=None,
        capacity=capacity,
        safety=ints(np.floor(capacity * _safety_share(cluster))),
        groups={name: stated[name] for name in levels if name in stated},
    )


def _amount(option: str, resource: str, text: str, scale: int) -> int:
    try:
        amount = to_base_units(parse_quantity(text), scale)
    except ValueError as error:
        why = f"{error}{quantity_hint(text)}"
        raise UsageError(f"add_machines '{option}': {resource} '{text}': {why}; expected an amount such as 16 or 64Gi") from error
    if amount < 0:
        raise UsageError(f"add_machines '{option}': {resource} '{text}' is negative; expected an amount of 0 or more")
    return amount


def _safety_share(cluster: Cluster) -> FloatArray:
    """(resource,) the median share of the capacity that is safe, of the machines that have any."""
    capacity, safety = cluster.machines.capacity, cluster.machines.safety
    shares = np.ones(capacity.shape[1])
    for r in range(capacity.shape[1]):
        has = capacity[:, r] > 0
        if has.any():
            shares[r] = np.median(safety[has, r] / capacity[has, r])
    return floats(shares)


def _wider(level: Level, new: NewMachines, kind: str) -> Level:
    """The level with the new machines in their group."""
    if new.like is not None:
        group, names = int(level.group_of[new.like]), level.group
    else:
        name = new.groups.get(level.name) or unused(f"{kind}-new", level.group)
        names = level.group if name in level.group else (*level.group, name)
        group = names.index(name)
    return Level(name=level.name, group=names, group_of=ints(np.r_[level.group_of, np.full(new.number, group)]))


def _with_costs(objective: Objective, new: NewMachines) -> Objective:
    """The objective with move costs from and to the new machines."""
    costs = objective.move_costs
    if costs is None or not costs.machine.size:
        return objective
    machines = len(costs.machine)
    if new.like is not None:
        source = np.r_[np.arange(machines), np.full(new.number, new.like)]
        wider = costs.machine[source[:, None], source[None, :]]
    else:
        wider = np.full((machines + new.number, machines + new.number), int(costs.machine.max()))
        wider[:machines, :machines] = costs.machine
        np.fill_diagonal(wider[machines:, machines:], 0)
    return replace(objective, move_costs=replace(costs, machine=ints(wider)))
