"""One packing of Tables 1, 2 and 3: made, timed, checked, and its overflows drawn."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from bayplan.check import check
from bayplan.decide.pack import PACKERS, PackOptions, pack_problem
from bayplan.decide.pack.csp_mac import CoveredPacking, covered_packing
from bayplan.generate.ucac import FACTOR, base, initial_layout, nonempty
from bayplan.generate.ucac_services import MILLI
from bayplan.model import Budget, Cluster, FloatArray, IntArray, Objective, Placement, Result, Snapshot, silent
from bayplan.score.confidence import deviate, machine_ucac, usage, violation_probability
from bayplan.score.monte_carlo import violation_rate

BUDGET = Budget(seconds=10.0)  # of one packing
CSP_MAC = "csp-mac"
DRAWS = 2_000  # of the usage of every container; about a thousand machines each
MEASURES = ("containers", "to_pack", "ucac", "machines", "goal", "bound", "gap", "violation", "untruncated", "predicted")
MEASURES += ("left_out", "rules_violated", "seconds", "cpu_seconds", "pattern_ucac", "even_ucac")


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How large instances are."""

    machines: int = 4000
    scale: float = 0.0  # as `ucac`: 0 is the size of the paper's Table 3
    draws: int = DRAWS
    budget: Budget = BUDGET


class Spent(NamedTuple):
    """What a packing took."""

    seconds: float  # on the clock
    cpu_seconds: float

    @property
    def columns(self) -> dict[str, str]:
        """As a row of a CSV file has it."""
        return {"seconds": f"{self.seconds:.3f}", "cpu_seconds": f"{self.cpu_seconds:.3f}"}


class Stopwatch:
    """Runs from when it is made."""

    def __init__(self) -> None:
        self.began = time.perf_counter(), time.process_time()

    def spent(self) -> Spent:
        """Until now."""
        return Spent(time.perf_counter() - self.began[0], time.process_time() - self.began[1])


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What an instance is made from."""

    case: str  # empty, scale-down, scale-up
    services: int
    alpha: float
    seed: int


@lru_cache(maxsize=2)
def start(services: int, alpha: float, seed: int, size: Size) -> tuple[Cluster, FloatArray, IntArray]:
    """The empty cluster, the remove rates and the initial layout, which both nonempty cases share."""
    cluster, rate = base(services=services, alpha=alpha, scale=size.scale, machines=size.machines, seed=seed)
    return cluster, rate, initial_layout(cluster)


def instance(setting: Setting, size: Size, factor: float | None = None) -> Snapshot:
    """What `bayplan generate ucac` makes, with another scale factor if one is given."""
    if setting.case == "empty":
        cluster, _ = base(
            services=setting.services, alpha=setting.alpha, scale=size.scale, machines=size.machines, seed=setting.seed
        )
        placement = Placement.empty(len(cluster.containers.name))
        return Snapshot(cluster=cluster, placement=placement, objective=Objective.default(cluster))
    cluster, rate, layout = start(setting.services, setting.alpha, setting.seed, size)
    return nonempty(cluster, layout, rate, factor=FACTOR[setting.case] if factor is None else factor, seed=setting.seed)


def packed(
    snapshot: Snapshot, method: str, seed: int, budget: Budget = BUDGET, n_sigma: float | None = None
) -> tuple[Result[Placement], Spent]:
    """The answer and what it took."""
    problem = pack_problem(snapshot.cluster, snapshot.placement)
    watch = Stopwatch()
    result = PACKERS[method](problem, PackOptions(n_sigma=n_sigma), budget=budget, seed=seed, progress=silent)
    return result, watch.spent()


def covered(snapshot: Snapshot, seed: int, budget: Budget = BUDGET) -> tuple[CoveredPacking, Spent]:
    """The answer of csp-mac with the UCaC of its patterns, and what it took."""
    problem = pack_problem(snapshot.cluster, snapshot.placement)
    watch = Stopwatch()
    packing = covered_packing(problem, PackOptions(), budget=budget, seed=seed, progress=silent)
    return packing, watch.spent()


def measured(setting: Setting, snapshot: Snapshot, method: str, size: Size) -> dict[str, str]:
    """The columns of `MEASURES`."""
    if method == CSP_MAC:
        (result, pattern_ucac, _), spent = covered(snapshot, setting.seed, size.budget)
    else:
        (result, spent), pattern_ucac = packed(snapshot, method, setting.seed, size.budget), None
    cluster, after = snapshot.cluster, answer(result)
    return {
        "containers": str(len(cluster.containers.name)),
        "to_pack": str(len(snapshot.placement.unplaced)),
        "ucac": f"{used(cluster, after, setting.alpha).sum():.3f}",
        "machines": str(busy(cluster, after).sum()),
        "goal": result.goal,
        "bound": "" if result.bound is None else f"{result.bound:.9g}",
        "gap": "" if result.gap is None else f"{result.gap:.3g}",
        **{name: f"{100 * share:.4f}" for name, share in overflows(cluster, after, size.draws, setting.seed).items()},
        "left_out": str(len(after.unplaced)),
        "rules_violated": str(len(check(cluster, after, snapshot.placement))),
        **spent.columns,
        "pattern_ucac": "" if pattern_ucac is None else f"{pattern_ucac:.3f}",
        "even_ucac": f"{even_ucac(cluster, after, setting.alpha):.3f}",
    }


def answer(result: Result[Placement]) -> Placement:
    """The placement; an experiment ends without one."""
    assert result.solution is not None, result.left_out
    return result.solution


def used(cluster: Cluster, placement: Placement, alpha: float) -> FloatArray:
    """(machine,) UCaC in cores."""
    cores: FloatArray = machine_ucac(cluster, placement, 0, alpha=alpha) / MILLI
    return cores


def even_ucac(cluster: Cluster, placement: Placement, alpha: float) -> float:
    """Cores: no placement of these containers on as many machines has more UCaC. It is most if all have the same variance.

    The root is concave, so the sum of the roots of N numbers with a given sum is largest where they are equal.
    """
    mean, variance = usage(cluster, placement, 0)
    return float(mean.sum() + deviate(alpha) * np.sqrt(busy(cluster, placement).sum() * variance.sum())) / MILLI


def busy(cluster: Cluster, placement: Placement) -> IntArray:
    """(machine,) 1 where something runs."""
    runs = np.zeros(len(cluster.machines.name), dtype=np.int64)
    runs[placement.machine_of[placement.placed]] = 1
    return runs


def overflows(cluster: Cluster, placement: Placement, draws: int, seed: int) -> Mapping[str, float]:
    """Shares of (machine, draw) above capacity over busy machines.

    `violation`: usage is drawn and truncated to (0, limit) as in [UCaC]; `untruncated`: drawn, not truncated; `predicted`: the
    Gaussian probability that the packers go by.
    """
    runs = busy(cluster, placement) > 0
    mean, variance = (part[runs] for part in usage(cluster, placement, 0))
    capacity = cluster.machines.capacity[runs, 0]
    rng = np.random.default_rng([seed, 3])
    above = sum(int((mean + rng.standard_normal(len(mean)) * np.sqrt(variance) > capacity).sum()) for _ in range(draws))
    return {
        "violation": violation_rate(cluster, placement, 0, draws=draws, seed=seed),
        "untruncated": above / (draws * max(1, len(mean))),
        "predicted": float(violation_probability(cluster, placement, 0)[runs].mean()) if runs.any() else 0.0,
    }
