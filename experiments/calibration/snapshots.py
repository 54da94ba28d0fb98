"""What docs/verbs/generate.md says of the generated snapshots: boutique, FreeContainer's data centres, UCaC."""

from collections.abc import Callable

import numpy as np
from scipy.stats import norm, truncnorm

from bayplan.check import check
from bayplan.generate.boutique import boutique
from bayplan.generate.ucac import ucac
from bayplan.model import BoolArray, Cluster, Placement, Snapshot
from bayplan.score.affinity import gained_affinity
from bayplan.score.counts import workload_counts
from bayplan.score.utilisation import machine_utilisation, resource_use
from experiments.calibration.fits import worst_fit

HOT = 0.8  # [FreeContainer] §VII-C counts the servers above 80 %
LOOKED_AT = (("a1", 0), ("a2", 0), ("b1", 0), ("c4", 0), ("a3", 1))  # boutique's machines that the page names, resource


def sizes(snapshot: Snapshot) -> dict[str, float]:
    """How many of what."""
    cluster = snapshot.cluster
    return {
        "machines": len(cluster.machines.name),
        "services": len(cluster.services.name),
        "containers": len(cluster.containers.name),
        "waiting": len(snapshot.placement.unplaced),
    }


def of_boutique(seed: int) -> dict[str, float]:
    """The shop, and the shop with planted violations."""
    shop, broken = boutique(seed=seed), boutique(seed=seed, broken=1)
    cluster, used = shop.cluster, machine_utilisation(shop.cluster, shop.placement)
    cart = _machines_with(cluster, shop.placement, "cart", "cart-redis")
    front = _machines_with(cluster, shop.placement, "frontend", "catalogue")
    planted = check(broken.cluster, broken.placement)
    return {
        **sizes(shop),
        **{f"{cluster.resources[r].name} requested of {m}": used[cluster.machines.name.index(m), r] for m, r in LOOKED_AT},
        "machines with cart or cart-redis": cart.any(axis=0).sum(),
        "machines with cart and cart-redis": cart.all(axis=0).sum(),
        "machines with frontend and catalogue": front.all(axis=0).sum(),
        "gained affinity": gained_affinity(cluster, shop.placement),
        "rules broken": len(check(cluster, shop.placement)),
        "rules broken with broken=1": len(planted),
        "kinds of rules broken with broken=1": len({violation.rule for violation in planted}),
    }


def _machines_with(cluster: Cluster, placement: Placement, *workloads: str) -> BoolArray:
    """(workload, machine) does it run there?"""
    some = [cluster.workloads.name.index(name) for name in workloads]
    return workload_counts(cluster, placement).toarray()[some] > 0


def of_freecontainer(make: Callable[..., Snapshot], seed: int) -> dict[str, float]:
    """The running placement, and whether the new service fits in."""
    snapshot = make(seed=seed)
    cluster, before = snapshot.cluster, snapshot.placement
    size = np.bincount(cluster.workloads.service[cluster.containers.workload[before.placed]])  # the new service comes last
    cpu = machine_utilisation(cluster, before)[:, 0]
    after = worst_fit(snapshot)
    return {
        **sizes(snapshot),
        **{f"{use.resource} requested of all capacity": use.load / use.capacity for use in resource_use(cluster, before)},
        "containers of the smallest running service": size.min(),
        "containers of the largest running service": size.max(),
        "servers above 80 % cpu": (cpu > HOT).sum(),
        "share of servers above 80 % cpu": (cpu > HOT).mean(),
        "rules broken": len(check(cluster, before)),
        "containers left over by worst fit": len(after.unplaced),
        "rules broken after worst fit": len(check(cluster, after, before)),
    }


def of_ucac(seed: int) -> dict[str, float]:
    """Usage as [UCaC] truncates it to (0, limit); means over containers."""
    snapshot = ucac(seed=seed)
    cluster, workloads = snapshot.cluster, snapshot.cluster.workloads
    mean, std, limit = workloads.usage_mean[:, 0], workloads.usage_std[:, 0], workloads.limit[:, 0]
    low, high = -mean / std, (limit - mean) / std
    share = cluster.replicas / cluster.replicas.sum()
    total = cluster.replicas @ mean
    return {
        **sizes(snapshot),
        "machines that the mean usage fills": total / cluster.machines.capacity[0, 0],
        "share of usage cut below zero": share @ norm.cdf(low),
        "share of usage cut above the limit": share @ norm.sf(high),
        "mean usage after truncation over before": cluster.replicas @ truncnorm.mean(low, high, mean, std) / total,
    }
