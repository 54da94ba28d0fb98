"""The subproblems to be labelled: parts of generated clusters of many scales, none of them a cluster that is reported on."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from bayplan.decide.collocate.assignment_mip import size_of, variables_of
from bayplan.decide.collocate.options import TRIVIAL
from bayplan.decide.collocate.partition import PARTITIONERS, affinity_graph
from bayplan.decide.collocate.rasa import owner_of_machines
from bayplan.decide.collocate.subproblem import Subproblem, subproblems_of
from bayplan.generate.rasa import make
from bayplan.generate.rasa.settings import ClusterSettings
from bayplan.model import Snapshot
from bayplan.model.problem import Problem

FIRST_SEED = 1000  # reported clusters have seeds 0 to 9
SERVICES, MACHINES = (10, 200), (5, 1_000)  # subproblems outside are not labelled
ENTRIES = 1_200_000  # coefficients of the integer program: larger ones are not labelled, either
MOST_PARTS = 2  # of one cluster


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
    """A cluster of 35 to 4,000 services, and how many of them are masters: sizes of subproblems spread evenly on a log scale.

    Any number of seeds from the first on has the whole spread. Ratios are those of [RASA] Table II and around; the shift goes
    from a quarter of what its cluster has there to half as much again.
    """
    rng = np.random.default_rng(seed)
    services = _log_uniform(rng, 35, 4_000)
    containers = round(services * _log_uniform(rng, 3, 16))
    machines = max(MACHINES[0], round(containers / rng.uniform(25, 37)))
    shift = _log_uniform(rng, 0.25, 1.5) * min(122.0, max(10.0, 1.2 * services**0.5))
    masters = round(_log_uniform(rng, SERVICES[0], 1.2 * SERVICES[1]))
    settings = ClusterSettings(
        name=f"rasa-{services:.0f}", services=round(services), containers=containers, machines=machines, rank_shift=shift
    )
    trivial = TRIVIAL[int(rng.random() < 1 / 3)]  # refit is the default of `rasa`
    return Source(seed=seed, settings=settings, masters=min(masters, settings.services), trivial=trivial)


def _log_uniform(rng: np.random.Generator, low: float, high: float) -> float:
    return math.exp(rng.uniform(math.log(low), math.log(high)))


def fits(subproblem: Subproblem) -> bool:
    """Is it of a size to be labelled, with something to gain?"""
    n_s, n_m = subproblem.shape
    if not (SERVICES[0] <= n_s <= SERVICES[1] and MACHINES[0] <= n_m <= MACHINES[1] and len(subproblem.a)):
        return False
    return 0 < size_of(subproblem, variables_of(subproblem)) <= ENTRIES


def parts(origin: Source) -> Iterator[tuple[int, Subproblem]]:
    """Subproblems of a cluster with their numbers: at most `MOST_PARTS` of them, at random."""
    problem = Problem.of(origin.snapshot())
    graph = affinity_graph(problem.cluster)
    found = PARTITIONERS["multi-stage"](graph, masters=origin.masters, seed=origin.seed)
    owner = owner_of_machines(problem, graph, found, origin.trivial)
    subproblems = subproblems_of(problem, found.sets, owner, trivial=origin.trivial)
    some = [(number, subproblem) for number, subproblem in enumerate(subproblems) if fits(subproblem)]
    order = np.random.default_rng(origin.seed).permutation(len(some))[:MOST_PARTS]
    yield from (some[k] for k in sorted(order))
