"""The clusters: RASA's M3, a generated one at the size of M1, and part of a real layout with calls from another trace."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np

from bayplan.formats import read
from bayplan.formats.traces import read_callgraphs, read_tianchi
from bayplan.generate import GENERATORS
from bayplan.model import IntArray, Interference, Placement, Rule, Snapshot, Traffic, ints, machine_level
from experiments.calibration.data import real_file
from experiments.combined.settings import M1, M3, TIANCHI, TINY
from experiments.freecontainer.real import with_traffic
from experiments.rasa.clusters import file_of

LAYOUT = "semi_c"
MACHINES = 1_000  # of 9,000 in the layout, drawn
DRAWN = 0  # seed of the draw and of the pairing
NEEDS = {M3: ("rasa/M3.json",), TIANCHI: ("traces/alibaba_tianchi2018", "traces/alibaba_callgraphs")}


@lru_cache(maxsize=1)
def snapshot_of(cluster: str) -> Snapshot:
    """A cluster as it runs."""
    if cluster == TIANCHI:
        return tianchi_part(MACHINES, DRAWN)
    if cluster == TINY:
        made = GENERATORS[TINY].make(seed=0)
        assert isinstance(made, Snapshot)
        return made
    return read(file_of(cluster))


def tianchi_part(machines: int, seed: int) -> Snapshot:
    """Machines drawn from the layout, with what runs there and the rules about it. Which application calls which is drawn."""
    whole = read_tianchi(real_file("traces/alibaba_tianchi2018"), LAYOUT)
    drawn = np.random.default_rng(seed).choice(len(whole.cluster.machines.name), machines, replace=False)
    part = part_of(whole, ints(np.sort(drawn)))
    return with_traffic(part, read_callgraphs(real_file("traces/alibaba_callgraphs")), seed)


def part_of(whole: Snapshot, machines: IntArray) -> Snapshot:
    """The cluster of these machines and what runs there, without traffic; other workloads are gone, and rules about them."""
    cluster, machine_of = whole.cluster, whole.placement.machine_of
    kept = np.flatnonzero(np.isin(machine_of, machines))
    used, workload = np.unique(cluster.containers.workload[kept], return_inverse=True)
    number = {int(w): i for i, w in enumerate(used)}
    names = tuple(cluster.machines.name[m] for m in machines)
    old = cluster.workloads
    part = replace(
        cluster,
        name=f"{cluster.name}, {len(machines):,} machines",
        machines=replace(
            cluster.machines, name=names, capacity=cluster.machines.capacity[machines], safety=cluster.machines.safety[machines]
        ),
        levels=(machine_level(names),),
        workloads=replace(
            old,
            name=tuple(old.name[w] for w in used),
            **{field: getattr(old, field)[used] for field in ("service", "request", "usage_mean", "usage_std", "limit")},
        ),
        containers=replace(cluster.containers, name=tuple(cluster.containers.name[c] for c in kept), workload=ints(workload)),
        traffic=Traffic.none(),
        rules=tuple(_renumbered(cluster.rules, number)),
    )
    return replace(whole, cluster=part, placement=Placement(machine_of=ints(np.searchsorted(machines, machine_of[kept]))))


def _renumbered(rules: Sequence[Rule], number: dict[int, int]) -> list[Rule]:
    """Rules about workloads that are left; all others than those between two workloads are about all of them."""
    kept: list[Rule] = []
    for rule in rules:
        if not isinstance(rule, Interference):
            kept.append(rule)
        elif rule.a in number and rule.b in number:
            kept.append(replace(rule, a=number[rule.a], b=number[rule.b]))
    return kept


def known(cluster: str) -> bool:
    """Can it be had? Says so if its data is missing."""
    try:
        for path in NEEDS.get(cluster, ()):
            real_file(path)
    except SystemExit as stop:
        print(f"{cluster} left out: {stop.code}", file=sys.stderr)
        return False
    return True


ABOUT = {
    M3: "RASA's published cluster",
    M1: "generated at the size of RASA's M1",
    TIANCHI: f"{MACHINES:,} machines of the Tianchi layout {LAYOUT}, drawn, with Alibaba's call graphs (a synthetic pairing)",
}
