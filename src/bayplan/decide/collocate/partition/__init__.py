"""Which workloads form a subproblem, and on which machines ([RASA] §IV-B): the partitioners by name."""

from collections.abc import Mapping

from bayplan.decide.collocate.partition.comparison import min_cut, no_partition, random_partition
from bayplan.decide.collocate.partition.graph import AffinityGraph, Partition, Partitioner, affinity_graph, demand_of_sets
from bayplan.decide.collocate.partition.machines import UNOWNED, divide_machines
from bayplan.decide.collocate.partition.multi_stage import multi_stage

PARTITIONERS: Mapping[str, Partitioner] = {
    "multi-stage": multi_stage,
    "random": random_partition,
    "min-cut": min_cut,
    "none": no_partition,
}


__all__ = [
    "PARTITIONERS",
    "UNOWNED",
    "AffinityGraph",
    "Partition",
    "Partitioner",
    "affinity_graph",
    "demand_of_sets",
    "divide_machines",
]
