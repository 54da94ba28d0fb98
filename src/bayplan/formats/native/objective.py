"""The objective of a native snapshot."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from bayplan.formats.document.location import shown
from bayplan.formats.native.reader import MISSING, Reader
from bayplan.formats.native.rules import Names
from bayplan.model import BalanceTarget, FloatArray, MoveCosts, Objective, Term, floats, ints

AT = "objective"
CLOSE = 1e-9  # a ratio given both ways agrees this well with its inverse


def read_objective(reader: Reader, names: Names) -> Callable[[Objective], Objective]:
    """What the file says, on top of a default for what it leaves out."""
    stated: Mapping[str, Any] | None = reader.document.get(AT)
    if stated is None:
        return lambda default: default
    ratio, targets = _ratio(reader, names, stated), _targets(reader, names, stated)
    hop = _by_name(reader, "level", names.level, stated, "hops")
    overload = _by_name(reader, "resource", names.resource, stated, "overload_weights")
    costs = _move_costs(reader, names, stated["move_costs"]) if "move_costs" in stated else None

    def on_top_of(default: Objective) -> Objective:
        return Objective(
            weight={Term(term): value for term, value in stated["weights"].items()} if "weights" in stated else default.weight,
            ratio=ratio,
            hop=floats([hop.get(level, value) for level, value in enumerate(default.hop.tolist())]),
            overload_weight=floats([overload.get(r, value) for r, value in enumerate(default.overload_weight.tolist())]),
            targets=targets,
            move_costs=costs,
            explicit=True,
        )

    return on_top_of


def _by_name(reader: Reader, kind: str, table: Mapping[str, int], stated: Mapping[str, Any], key: str) -> dict[int, Any]:
    """index -> value."""
    return {reader.find(kind, table, name, (AT, key, name)): value for name, value in stated.get(key, {}).items()}


def _ratio(reader: Reader, names: Names, stated: Mapping[str, Any]) -> FloatArray:
    """t(r, r'), with t(r', r) = 1 / t(r, r') where only one of the two is given."""
    given: dict[tuple[int, int], float] = {}
    for number, (a, b, ratio) in enumerate(stated.get("ratios", [])):
        path = (AT, "ratios", number)
        r1, r2 = (reader.find("resource", names.resource, name, (*path, side)) for side, name in enumerate((a, b)))
        if a == b:
            reader.fault(path, "E1119", "is of a resource to itself", value=shown(a), expected="two resources")
        elif reader.part.changed(path):
            continue
        elif (r1, r2) in given or abs(given.get((r2, r1), 1 / ratio) * ratio - 1) > CLOSE:
            expected = "each pair of resources once, or a ratio and its inverse"
            reader.fault(path, "E1118", "contradicts an earlier ratio", expected=expected)
        if MISSING not in (r1, r2):
            given.setdefault((r1, r2), ratio)
    table = np.ones((len(names.resource), len(names.resource)))
    for (r1, r2), ratio in given.items():
        table[r1, r2] = ratio
        table[r2, r1] = given.get((r2, r1), 1 / ratio)
    return floats(table)


def _targets(reader: Reader, names: Names, stated: Mapping[str, Any]) -> tuple[BalanceTarget, ...]:
    targets = []
    for number, target in enumerate(stated.get("targets", [])):
        path = (AT, "targets", number)
        r1, r2 = (reader.find("resource", names.resource, target[key], (*path, key)) for key in ("r1", "r2"))
        targets.append(BalanceTarget(r1=r1, r2=r2, target=target["target"], weight=target["weight"]))
    return tuple(targets)


def _move_costs(reader: Reader, names: Names, stated: Mapping[str, Any]) -> MoveCosts:
    price = stated.get("container", 0)
    container = [price if isinstance(price, int) else 0] * len(names.workload)
    for name, value in price.items() if isinstance(price, dict) else ():
        w = reader.find("workload", names.workload, name, (AT, "move_costs", "container", name))
        if w != MISSING:
            container[w] = value
    machine, n_m = stated.get("machine", []), len(names.machine)
    if machine and {len(machine), *map(len, machine)} != {n_m}:
        value = f"{len(machine)} rows of {min(map(len, machine))} to {max(map(len, machine))}"
        if not reader.part.lacks("machines") and not reader.part.changed((AT, "move_costs", "machine")):
            expected = f"{n_m} rows of {n_m}"
            reader.fault((AT, "move_costs", "machine"), "E1111", "is not a square", value=value, expected=expected)
        machine = []
    weights = {key: stated[key] for key in ("container_weight", "service_weight", "machine_weight") if key in stated}
    table = np.array(machine, dtype=np.int64) if machine else np.zeros((0, 0), dtype=np.int64)
    return MoveCosts(container=ints(container), machine=ints(table), **weights)
