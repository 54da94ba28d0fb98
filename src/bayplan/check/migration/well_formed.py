"""Can the steps of a batch be made at all? Those that cannot are said and left out."""

from collections.abc import Iterator

import numpy as np

from bayplan.check.migration.batch_state import Instances, Orders, Wave
from bayplan.check.migration.verdict import Breach
from bayplan.model import UNPLACED, BoolArray, Cluster, IntArray, Running


def sorted_out(cluster: Cluster, number: int, orders: Orders, running: Running) -> tuple[Wave, list[Breach]]:
    """The batch without its impossible steps, and a breach for each of these.

    Of a container with several steps the first create and the first delete count: both may happen, in any order.
    """
    first, second = running.machine_of, running.second
    exists = _exists(cluster, orders)
    said = [_stray(number, int(c), int(m)) for c, m in zip(orders.c[~exists], orders.m[~exists], strict=True)]
    known = orders.where(exists)
    said += _crowded(cluster, number, known.c)
    creates, deletes = (_once(known.where(known.create == kind)) for kind in (True, False))
    runs_here = [(first[some.c] == some.m) | (second[some.c] == some.m) for some in (creates, deletes)]
    third = ~runs_here[0] & (second[creates.c] != UNPLACED)
    said += _each(cluster, number, creates.where(runs_here[0]), "is to be created on machine {}, where it runs already")
    said += _each(cluster, number, creates.where(third), "is to be created on machine {}, a third one")
    said += _each(cluster, number, deletes.where(~runs_here[1]), "is to be deleted on machine {}, where it does not run")
    possible = creates.where(~runs_here[0] & ~third), deletes.where(runs_here[1])
    return Wave(number, first, second, *possible), said


def _exists(cluster: Cluster, orders: Orders) -> BoolArray:
    """(step,) does it name a container and a machine?"""
    n_c, n_m = len(cluster.containers.name), len(cluster.machines.name)
    exists: BoolArray = (orders.c >= 0) & (orders.c < n_c) & (orders.m >= 0) & (orders.m < n_m)
    return exists


def _stray(number: int, c: int, m: int) -> Breach:
    sentence = f"batch {number + 1}: a step names container {c} and machine {m}; there is no such pair"
    return Breach(batch=number, rule="step", subject=(str(c), str(m)), sentence=sentence)


def _crowded(cluster: Cluster, number: int, c: IntArray) -> Iterator[Breach]:
    container, count = np.unique(c, return_counts=True)
    for one, steps in zip(container[count > 1], count[count > 1], strict=True):
        name = cluster.containers.name[one]
        sentence = f"batch {number + 1}: '{name}' has {steps} steps at the same time, at most 1 allowed"
        yield Breach(batch=number, rule="step", subject=(name,), sentence=sentence)


def _once(orders: Orders) -> Instances:
    """The first step of each container, in the order given."""
    keep = np.sort(np.unique(orders.c, return_index=True)[1])
    return Instances(c=orders.c[keep], m=orders.m[keep])


def _each(cluster: Cluster, number: int, some: Instances, words: str) -> Iterator[Breach]:
    for c, m in zip(some.c.tolist(), some.m.tolist(), strict=True):
        name, machine = cluster.containers.name[c], cluster.machines.name[m]
        sentence = f"batch {number + 1}: '{name}' " + words.format(f"'{machine}'")
        yield Breach(batch=number, rule="step", subject=(name, machine), sentence=sentence)
