"""What the partitioner alone does with a cluster, and which solver the selector chooses for each subproblem."""

import time

import numpy as np

from bayplan.decide.collocate import CollocateOptions
from bayplan.decide.collocate.partition import PARTITIONERS, affinity_graph
from bayplan.decide.collocate.partition.multi_stage import master_workloads, workloads_with_affinity
from bayplan.decide.collocate.rasa import owner_of_machines
from bayplan.decide.collocate.select import SELECTORS
from bayplan.decide.collocate.subproblem import subproblems_of
from bayplan.model import Snapshot
from bayplan.model.problem import Problem

PARTITION = ("sets", "lost", "partition_seconds", "masters", "masters_affinity", "choices")  # of `rasa`


def partitioned(snapshot: Snapshot, options: CollocateOptions, seed: int) -> dict[str, str]:
    """The columns of `PARTITION`; affinity is that of edges, of a total of 1."""
    problem, began = Problem.of(snapshot), time.perf_counter()
    graph = affinity_graph(problem.cluster)
    partition = PARTITIONERS[options.partition](graph, masters=options.masters, seed=seed)
    seconds = time.perf_counter() - began
    masters = master_workloads(graph, workloads_with_affinity(graph), options.masters)
    inside = np.isin(graph.a, masters) & np.isin(graph.b, masters)
    owner = owner_of_machines(problem, graph, partition, options.trivial)
    trivial = options.trivial if partition.sets else "pinned"
    choices = [SELECTORS[options.select](one) for one in subproblems_of(problem, partition.sets, owner, trivial=trivial)]
    numbers = (f"{partition.lost:.6f}", f"{seconds:.3f}", str(len(masters)), f"{graph.weight[inside].sum():.6f}")
    return dict(zip(PARTITION, (str(len(partition.sets)), *numbers, " ".join(choices)), strict=True))
