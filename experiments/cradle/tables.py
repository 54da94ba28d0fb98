"""Means over seeds, and the tables made from them."""

from collections.abc import Mapping, Sequence
from statistics import mean

from experiments.cradle.cells import BOUND, LOADS, LOCAL, MACHINES
from experiments.cradle.settings import METHODS, PAPER
from experiments.results import Row, picked, table

BASELINES = PAPER[1:]
SHOWN = (1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 10.0, 12.0)  # loads of the tables; the figures have all


def by_load(measured: Sequence[Row], trace: str, method: str, column: str) -> dict[float, float]:
    """Load -> mean over seeds."""
    found: dict[float, list[float]] = {}
    for row in picked(measured, part=LOADS, trace=trace, method=method):
        found.setdefault(float(row["load"]), []).append(float(row[column]))
    return {load: mean(values) for load, values in sorted(found.items())}


def by_instance(measured: Sequence[Row], method: str, column: str, **where: str) -> dict[tuple[str, ...], float]:
    """(part, trace, load, size, seed) -> value."""
    some = picked(measured, method=method, **where)
    return {(row["part"], row["trace"], row["load"], row["size"], row["seed"]): float(row[column]) for row in some}


def ratios(measured: Sequence[Row], over: str, under: str, **where: str) -> dict[tuple[str, ...], float]:
    """Served by `over` / served by `under`, in each instance; 'others' is the better of the baselines."""
    top = by_instance(measured, over, "served", **where)
    if under == "others":
        parts = [by_instance(measured, method, "served", **where) for method in BASELINES]
        below = {key: max(found[key] for found in parts) for key in parts[0] if all(key in found for found in parts)}
    else:
        below = by_instance(measured, under, "served", **where)
    return {key: top[key] / below[key] for key in top if below.get(key, 0.0) > 0}


def traces_of(measured: Sequence[Row]) -> list[str]:
    """In the order of the file."""
    return list(dict.fromkeys(row["trace"] for row in measured))


def load_table(measured: Sequence[Row], trace: str) -> list[str]:
    """Served share by method and load, the ratio, the gap and the resources used."""
    served = {method: by_load(measured, trace, method, "served") for method in METHODS}
    used = {method: by_load(measured, trace, method, "used") for method in ("cradle+", "bin-packing")}
    gap = _gaps(measured, trace)
    head = ["load", *(f"`{method}`" for method in METHODS), "ratio", "at most", "used by `cradle+`", "used by `bin-packing`"]
    body = []
    for load in [load for load in SHOWN if load in served["cradle+"]]:
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
    """Figure 2: the ratio over the number of machines."""
    groups: dict[tuple[str, str, str], list[float]] = {}
    machines: dict[tuple[str, str, str], str] = {}
    for row in picked(measured, part=MACHINES, method="cradle+"):
        machines[row["trace"], row["load"], row["size"]] = row["machines"]
    for key, ratio in ratios(measured, "cradle+", "others", part=MACHINES).items():
        groups.setdefault((key[1], key[2], key[3]), []).append(ratio)
    body = [[trace, load, machines[trace, load, size], f"{mean(found):.2f}"] for (trace, load, size), found in groups.items()]
    return table(["trace", "load", "machines", "ratio"], body)


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
    return table(["trace", "load", "gain of `local`", "gap of `cradle+`", "gap of `local`"], body)


def _mean(found: Sequence[Mapping[str, float]], name: str) -> str:
    values = [one[name] for one in found if name in one]
    return f"{mean(values):.1%}" if values else "-"
