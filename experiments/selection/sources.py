"""The subproblems to be labelled: parts of generated clusters of many scales, none of them a cluster that is reported on."""

import math
from collections.abc import Collection, Iterator
from dataclasses import dataclass

import numpy as np

from bayplan.decide.collocate.options import TRIVIAL
from bayplan.decide.collocate.partition import PARTITIONERS, affinity_graph
from bayplan.decide.collocate.rasa import owner_of_machines
from bayplan.decide.collocate.subproblem import Subproblem, subproblems_of
from bayplan.generate.rasa import make
from bayplan.generate.rasa.settings import ClusterSettings
from bayplan.model import Snapshot
from bayplan.model.problem import Problem

FIRST_SEED = 1000  # reported clusters have seeds 0 to 9
SERVICES, MACHINES = (10, 200), (5, 3_000)  # subproblems outside are not labelled
MOST_PARTS = 4  # of one cluster


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A cluster and how it is parted."""

    seed: int
    settings: ClusterSettings
    masters: int
    trivial: str  # one of TRIVIAL

    def snapshot(self) -> Snapshot:
        """The cluster."""
        return make(self.settings, self.seed)


def source(seed: int) -> Source:
    """Scales between and around those of [RASA] Table II; masters from a third of 45 ln^0.66 N to twice that."""
    rng = np.random.default_rng(seed)
    services = round(math.exp(rng.uniform(math.log(60), math.log(10_000))))
    containers = round(services * rng.uniform(4, 16))
    machines = round(containers / rng.uniform(25, 37))
    shift = rng.uniform(0.6, 1.4) * min(122.0, max(10.0, 1.2 * services**0.5))
    settings = ClusterSettings(
        name=f"rasa-{services}", services=services, containers=containers, machines=machines, rank_shift=shift
    )
    masters = round(45 * math.log(services) ** 0.66 * math.exp(rng.uniform(-math.log(3), math.log(2))))
    trivial = TRIVIAL[int(rng.random() < 1 / 3)]  # refit is the default of `rasa`
    return Source(seed=seed, settings=settings, masters=min(masters, services), trivial=trivial)


def fits(subproblem: Subproblem) -> bool:
    """Is it of a size to be labelled, with something to gain?"""
    n_s, n_m = subproblem.shape
    return SERVICES[0] <= n_s <= SERVICES[1] and MACHINES[0] <= n_m <= MACHINES[1] and len(subproblem.a) > 0


def parts(origin: Source, skip: Collection[str] = ()) -> Iterator[tuple[int, Subproblem]]:
    """Sub-problems of a cluster with their numbers, without those named `seed-number` in `skip`; some, if there are many."""
    problem = Problem.of(origin.snapshot())
    graph = affinity_graph(problem.cluster)
    found = PARTITIONERS["multi-stage"](graph, masters=origin.masters, seed=origin.seed)
    owner = owner_of_machines(problem, graph, found, origin.trivial)
    subproblems = subproblems_of(problem, found.sets, owner, trivial=origin.trivial)
    some = [(number, subproblem) for number, subproblem in enumerate(subproblems) if fits(subproblem)]
    order = np.random.default_rng(origin.seed).permutation(len(some))[:MOST_PARTS]
    yield from (some[k] for k in sorted(order) if f"{origin.seed}-{some[k][0]}" not in skip)
