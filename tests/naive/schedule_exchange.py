"""One exchange as an obvious loop: no profile over time, every machine is looked at anew."""

import numpy as np
from tests.naive.schedule import holds

from bayplan.decide.schedule.local import MACHINES, WINDOW
from bayplan.kernels.random import below, uniform
from bayplan.kernels.schedule.exchange import ONE_THRESHOLD_SHARE


def _machines(chance, machines):
    """Different machines, drawn as the kernel draws them."""
    count, chosen = min(machines, 1 + int(below(chance, MACHINES))), []
    while len(chosen) < count:
        m = int(below(chance, machines))
        if m not in chosen:
            chosen.append(m)
    return chosen


def _limits(chance):
    noise = 0.85 + 0.35 * uniform(chance)
    return (noise, 1.2 * noise, np.inf) if uniform(chance) < ONE_THRESHOLD_SHARE else (0.6 * noise, noise, np.inf)


def _filled(instance, members, strain, chosen, limits, machine_of):
    """Members without a machine where they fit first, in passes of rising strain."""
    kind_of, before = instance.fleet.kind_of, -1.0
    for limit in limits:
        for j in members:
            if machine_of[j] == -1 and before < strain[j] <= limit:
                fitting = [m for m in chosen if holds(instance, kind_of[m], [*np.flatnonzero(machine_of == m).tolist(), j])]
                machine_of[j] = fitting[0] if fitting else -1
        before = limit


def exchanged(instance, machine_of, pool, ranks, chance):
    """The schedule after one step. `pool`: the kernel's; `ranks`: in one cell, and in all."""
    width, last = ranks
    low = int(pool.first[below(chance, len(pool.first))]) // width * width
    high = min(low + WINDOW * width, last)
    chosen, limits = _machines(chance, instance.fleet.size), _limits(chance)
    members = [j for j, rank in zip(pool.request.tolist(), pool.first.tolist(), strict=True) if low <= rank < high]
    trial = machine_of.copy()
    trial[[j for j in members if machine_of[j] in chosen]] = -1
    _filled(instance, members, pool.cost_ratio, chosen, limits, trial)
    uniform(chance)  # of keeping a loss: at no heat there is none
    return trial if pool.score[trial >= 0].sum() >= pool.score[machine_of >= 0].sum() else machine_of
