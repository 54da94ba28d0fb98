"""Means over seeds, and the tables made from them."""

from collections.abc import Mapping, Sequence
from statistics import mean
from typing import NamedTuple

from experiments.cradle.cells import BOUND, FEWEST, LOADS, LOCAL, MACHINES
from experiments.cradle.settings import METHODS, PAPER, SHOWN, SOURCES, WHOLE
from experiments.results import Row, picked, table

BASELINES = PAPER[1:]


def complete(measured: Sequence[Row]) -> list[Row]:
    """Without the instances of Figures 2 to 6 that a sweep has not ended: some of their methods are missing."""
    methods: dict[tuple[str, ...], set[str]] = {}
    for row in measured:
        methods.setdefault(instance_of(row), set()).add(row["method"])
    return [row for row in measured if _needed(row) <= methods[instance_of(row)]]


def _needed(row: Row) -> set[str]:
    if row["part"] not in (LOADS, MACHINES):
        return set()
    return set(METHODS if row["part"] == LOADS and float(row["load"]) in WHOLE else PAPER)


def instance_of(row: Row) -> tuple[str, ...]:
    """(part, trace, load, size, seed)."""
    return row["part"], row["trace"], row["load"], row["size"], row["seed"]


def by_load(measured: Sequence[Row], trace: str, method: str, column: str) -> dict[float, float]:
    """Load -> mean over seeds; loads without a value are left out."""
    found: dict[float, list[float]] = {}
    for row in picked(measured, part=LOADS, trace=trace, method=method):
        if row.get(column):
            found.setdefault(float(row["load"]), []).append(float(row[column]))
    return {load: mean(values) for load, values in sorted(found.items())}


def by_instance(measured: Sequence[Row], method: str, column: str, **where: str) -> dict[tuple[str, ...], float]:
    """(part, trace, load, size, seed) -> value."""
    some = picked(measured, method=method, **where)
    return {instance_of(row): float(row[column]) for row in some if row.get(column)}


def served_by(measured: Sequence[Row], method: str, **where: str) -> dict[tuple[str, ...], float]:
    """The share that is served in each instance; 'others' is the better of the baselines."""
    if method != "others":
        return by_instance(measured, method, "served", **where)
    parts = [by_instance(measured, baseline, "served", **where) for baseline in BASELINES]
    return {key: max(found[key] for found in parts) for key in parts[0] if all(key in found for found in parts)}


def ratios(measured: Sequence[Row], over: str, under: str, **where: str) -> dict[tuple[str, ...], float]:
    """Served by `over` / served by `under`, in each instance."""
    top, below = served_by(measured, over, **where), served_by(measured, under, **where)
    return {key: top[key] / below[key] for key in top if below.get(key, 0.0) > 0}


def traces_of(measured: Sequence[Row]) -> list[str]:
    """In the order of the sources."""
    return sorted(
        {row["trace"] for row in measured}, key=lambda trace: SOURCES.index(trace) if trace in SOURCES else len(SOURCES)
    )


def load_table(measured: Sequence[Row], trace: str) -> list[str]:
    """Served share by method and load, the ratio, the gap and the resources used."""
    served = {method: by_load(measured, trace, method, "served") for method in METHODS}
    used = {method: by_load(measured, trace, method, "used") for method in ("cradle+", "bin-packing")}
    gap = _gaps(measured, trace)
    head = ["load", *(f"`{method}`" for method in METHODS), "ratio", "at most", "used by `cradle+`", "used by `bin-packing`"]
    body = []
    for load in [load for load in SHOWN if all(load in shares for shares in served.values())]:
        best = max(served[method][load] for method in BASELINES)
        ratio = f"{served['cradle+'][load] / best:.2f}" if best else "-"
        shares = [f"{served[method][load]:.1%}" for method in METHODS]
        taken = [f"{used[method][load]:.1%}" for method in ("cradle+", "bin-packing")]
        body.append([f"{load:g}", *shares, ratio, gap.get(load, "-"), *taken])
    return table(head, body)


def _gaps(measured: Sequence[Row], trace: str) -> dict[float, str]:
    """Load -> the proven upper bound as a share of all requests, mean over seeds."""
    bound = by_load(measured, trace, BOUND, "bound")
    size = by_load(measured, trace, BOUND, "n")
    return {load: f"{min(1.0, bound[load] / size[load]):.1%}" for load in bound}


def machine_table(measured: Sequence[Row]) -> list[str]:
    """Figure 2: the ratio over the number of machines, and how many requests that took."""
    rows = {(row["trace"], row["load"], row["size"]): row for row in picked(measured, part=MACHINES, method="cradle+")}
    groups: dict[tuple[str, str, str], list[float]] = {}
    for key, ratio in ratios(measured, "cradle+", "others", part=MACHINES).items():
        groups.setdefault((key[1], key[2], key[3]), []).append(ratio)
    body = []
    for trace, load, size in sorted(groups, key=lambda key: (_order(measured, key[0]), float(key[1]), int(key[2]))):
        found, row = groups[trace, load, size], rows[trace, load, size]
        drawn = f"{int(row['n']):,}{', with repetition' if row.get('repeated') == 'yes' else ''}"
        body.append([trace, load, row["machines"], drawn, str(len(found)), f"{mean(found):.2f}"])
    return table(["source", "load", "machines", "requests", "seeds", "ratio"], body)


def _order(measured: Sequence[Row], trace: str) -> int:
    return traces_of(measured).index(trace)


def fewest_table(measured: Sequence[Row]) -> list[str]:
    """The machines that Cradle+ needs to serve as many as the baselines, over theirs, and the resources that it uses."""
    groups: dict[tuple[str, str], list[Fewest]] = {}
    for key, found in fewest(measured).items():
        groups.setdefault((key[1], key[2]), []).append(found)
    body = [
        [*key, f"{mean(one.machines for one in found):.1%}", f"{mean(one.work for one in found):.1%}", str(len(found))]
        for key, found in groups.items()
    ]
    return table(["source", "load", "machines of theirs", "resources of theirs", "seeds"], body)


class Fewest(NamedTuple):
    """What Cradle+ needs to serve as many as the better baseline, over what that one has and uses."""

    machines: float
    work: float


def fewest(measured: Sequence[Row]) -> dict[tuple[str, ...], Fewest]:
    """By instance of Figures 3 to 6."""
    there = {(*instance_of(row), row["method"]): row for row in picked(measured, part=LOADS)}
    found = {}
    for row in picked(measured, part=FEWEST):
        key = (LOADS, *instance_of(row)[1:])
        baselines = [there[*key, method] for method in BASELINES if (*key, method) in there]
        if baselines:
            better = max(baselines, key=lambda one: float(one["served"]))
            machines = int(row["machines"]) / int(better["machines"])
            found[key] = Fewest(machines, machines * float(row["used"]) / float(better["used"]))
    return found


def local_table(measured: Sequence[Row]) -> list[str]:
    """What exchanges add to `cradle+`, and how far it still may be."""
    bound = by_instance(measured, BOUND, "bound", part=LOADS)
    before, after = (by_instance(measured, method, "value", part=LOCAL) for method in ("cradle+", "local"))
    groups: dict[tuple[str, str], list[Mapping[str, float]]] = {}
    for key, value in after.items():
        limit = bound.get((LOADS, *key[1:]))
        if key in before and before[key] > 0:
            gaps = {} if limit is None else {"before": limit / before[key] - 1, "after": limit / value - 1}
            groups.setdefault((key[1], key[2]), []).append({"gain": value / before[key] - 1, **gaps})
    body = [[*key, _mean(found, "gain"), _mean(found, "before"), _mean(found, "after")] for key, found in groups.items()]
    return table(["source", "load", "gain of `local`", "gap of `cradle+`", "gap of `local`"], body)


def _mean(found: Sequence[Mapping[str, float]], name: str) -> str:
    values = [one[name] for one in found if name in one]
    return f"{mean(values):.1%}" if values else "-"
