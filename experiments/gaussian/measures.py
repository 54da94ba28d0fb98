"""What is measured of one machine of n containers: the shape of its usage, and how often each belief's size is exceeded.

A machine has exactly the size that a belief asks for, learnt from one half of the samples. How often usage exceeds it:
own       usage drawn independently from the half that was learnt from: is the sum Gaussian? ([UCaC] §3.1)
apart     usage drawn independently from the other half: is what was learnt true?
together  usage of one moment, of different replicas, in the other half: are they independent, too? ([UCaC] Observations 1 and 2)
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from bayplan.model import (
    Cluster,
    Containers,
    Machines,
    Resource,
    Services,
    Traffic,
    Workloads,
    floats,
    ints,
    machine_level,
)
from bayplan.score import Uncertainty, deviate, effective, with_usage
from experiments.gaussian.fleets import SPLITS, Array, Days, Group

MODELS = tuple(Uncertainty)
UNIT = 10**9  # base units of one unit of the trace
SHAPE = ("count", "mean", "std", "skew", "kurtosis", "ks", "z99", "z999")
COMMON = "common"
RATES = ("own", "apart", "together")
MOMENTS = "moments"  # how many different ones are in `together`


@dataclass(frozen=True, slots=True, kw_only=True)
class Pack:
    """n containers on one machine, and where their usage is drawn from."""

    name: str
    fit: tuple[Array, ...]  # samples of each workload
    test: tuple[Array, ...]
    limit: Array  # (workload,)
    count: int  # containers of each workload
    moments: Days  # the other half: (step, column)
    columns: tuple[int, ...]  # which columns run on the machine; none: any `count` of them that are there


def packs(group: Group, split: str, n: int, machines: int, rng: np.random.Generator) -> Iterator[Pack]:
    """One machine of a service's replicas, or several of different virtual machines that are drawn."""
    learnt, judged = SPLITS[split](group.days)
    if group.alike:
        fit, test = (np.concatenate([day[~np.isnan(day)] for day in days]) for days in (learnt, judged))
        yield Pack(name=group.name, fit=(fit,), test=(test,), limit=group.limit, count=n, moments=judged, columns=())
        return
    fit, test = (np.concatenate(days) for days in (learnt, judged))
    for number in range(machines):
        some = np.sort(rng.choice(fit.shape[1], n, replace=False))
        yield Pack(
            name=f"{group.name}-{number}",
            fit=tuple(fit[:, k] for k in some),
            test=tuple(test[:, k] for k in some),
            limit=group.limit[some],
            count=1,
            moments=judged,
            columns=tuple(some.tolist()),
        )


# ---- drawing -------------------------------------------------------------------------------------------------------------------


def apart(samples: tuple[Array, ...], count: int, draws: int, rng: np.random.Generator) -> Array:
    """(draw,) sums of independent draws."""
    total = np.zeros(draws)
    for value in samples:
        for _ in range(count):
            total += value[rng.integers(len(value), size=draws)]
    return total


def moments_of(pack: Pack) -> list[Array]:
    """What the containers use at each moment of the other half at which there are enough of them."""
    if pack.columns:
        return list(np.concatenate(pack.moments)[:, list(pack.columns)])
    rows = [row[~np.isnan(row)] for day in pack.moments for row in day]
    return [row for row in rows if len(row) >= pack.count]


def together(pack: Pack, draws: int, rng: np.random.Generator) -> Array | None:
    """(draw,) sums over one moment; None if no moment has enough replicas. All moments come equally often."""
    rows = moments_of(pack)
    if pack.columns or not rows:
        return np.array(rows).sum(axis=1) if rows else None
    each = -(-draws // len(rows))
    return np.concatenate([_subsets(row, pack.count, each, rng) for row in rows])


def _subsets(row: Array, n: int, draws: int, rng: np.random.Generator) -> Array:
    """Sums of n different ones."""
    order = rng.random((draws, len(row))).argpartition(n - 1, axis=1)[:, :n]
    summed: Array = row[order].sum(axis=1)
    return summed


# ---- sizes ---------------------------------------------------------------------------------------------------------------------


def cluster_of(pack: Pack) -> Cluster:
    """The containers and one machine that is large enough for what was ever measured."""
    n_w = len(pack.fit)
    room = sum(float(value.max()) for value in pack.fit) * pack.count
    names, capacity = tuple(f"w{w}" for w in range(n_w)), ints([[max(1, round(room * UNIT))]])
    nothing = np.zeros((n_w, 1))
    bare = Cluster(
        name=pack.name,
        resources=(Resource(name="cpu", scale=UNIT),),
        machines=Machines(name=("m",), capacity=capacity, safety=capacity),
        levels=(machine_level(("m",)),),
        services=Services(name=names, clique=floats(np.zeros(n_w))),
        workloads=Workloads(
            name=names,
            service=ints(range(n_w)),
            request=ints(nothing),
            usage_mean=floats(nothing),
            usage_std=floats(nothing),
            limit=ints(np.ceil(pack.limit * UNIT)[:, None]),
        ),
        containers=Containers.replicas_of(names, [pack.count] * n_w),
        traffic=Traffic.none(),
    )
    return with_usage(bare, 0, samples_of(pack))


def samples_of(pack: Pack) -> Mapping[int, Array]:
    """What was learnt from, in base units."""
    return {w: floats(value * UNIT) for w, value in enumerate(pack.fit)}


def size(cluster: Cluster, alpha: float) -> float:
    """Mean + D sqrt(variance) of all containers, in the trace's unit."""
    w = cluster.containers.workload
    variance = float(np.square(cluster.workloads.usage_std[w, 0]).sum())
    return float(cluster.workloads.usage_mean[w, 0].sum() + deviate(alpha) * np.sqrt(variance)) / UNIT


def containers_in(cluster: Cluster, alpha: float, room: float) -> float:
    """How many average containers fit into `room`: k mean + D std sqrt(k) = room."""
    w = cluster.containers.workload
    mean = float(cluster.workloads.usage_mean[w, 0].mean()) / UNIT
    spread = deviate(alpha) * float(np.sqrt(np.square(cluster.workloads.usage_std[w, 0]).mean())) / UNIT
    root = (-spread + np.sqrt(spread**2 + 4 * mean * room)) / (2 * mean)
    return float(root**2)


# ---- rows ----------------------------------------------------------------------------------------------------------------------


def shape(total: Array) -> dict[str, str]:
    """Moments, the distance to the normal distribution of the same two, and quantiles in deviations."""
    mean, std = float(total.mean()), float(total.std())
    z = np.sort((total - mean) / std) if std > 0 else np.zeros(len(total))
    below = np.arange(len(z)) / len(z)
    ks = np.maximum(np.abs(below - ndtr(z)), np.abs(below + 1 / len(z) - ndtr(z))).max()
    numbers = (mean, std, (z**3).mean(), (z**4).mean() - 3, ks, *np.quantile(z, [0.99, 0.999]))
    return dict(zip(SHAPE, (str(len(total)), *(f"{number:.5g}" for number in numbers)), strict=True))


def common(group: Group) -> float:
    """The correlation of two containers at the same moment: 0 if they are independent, as [UCaC] assumes."""
    width = max(day.shape[1] for day in group.days)
    table = np.concatenate([np.pad(day, ((0, 0), (0, width - day.shape[1])), constant_values=np.nan) for day in group.days])
    axis = None if group.alike else 0
    std = np.nanstd(table, axis=axis)
    apart_from_mean = (table - np.nanmean(table, axis=axis)) / np.where(std > 0, std, 1.0)
    there = (~np.isnan(table)).sum(axis=1)
    pairs = np.nansum(apart_from_mean, axis=1) ** 2 - np.nansum(apart_from_mean**2, axis=1)
    return float(pairs.sum() / (there * (there - 1)).sum())


def rates(pack: Pack, alpha: float, draws: int, seed: int) -> Iterator[dict[str, str]]:
    """One row per belief: the machine's size, machines needed beside Gaussian, and how often the size is exceeded."""
    cluster, rng = cluster_of(pack), np.random.default_rng(seed)
    n = len(cluster.containers.name)
    drawn = (
        apart(pack.fit, pack.count, draws, rng),
        apart(pack.test, pack.count, draws, rng),
        together(pack, draws, rng),
    )
    base = size(cluster, alpha)
    for model in MODELS:
        believed = effective(cluster, 0, alpha, model, samples_of(pack), seed)
        room = size(believed, alpha)
        seen = {name: _rate(total, room) for name, total in zip(RATES, drawn, strict=True)}
        if model == Uncertainty.EMPIRICAL:
            seen["own"] = ""  # it is made from these very samples
        more = n / containers_in(believed, alpha, base)
        yield {"model": str(model), "size": f"{room:.6g}", "machines": f"{more:.4f}", **seen, MOMENTS: str(len(moments_of(pack)))}


def _rate(total: Array | None, room: float) -> str:
    return "" if total is None else f"{(total > room * (1 + 1e-9)).mean():.6f}"
