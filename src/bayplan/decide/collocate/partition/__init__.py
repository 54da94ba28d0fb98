"""Which services make a sub-problem of their own, and on which machines (004 IV-B)."""

from bayplan.decide.collocate.partition.graph import Graph, affinity_graph
from bayplan.decide.collocate.partition.machines import NOBODY, share_out
from bayplan.decide.collocate.partition.registry import PARTITIONERS
from bayplan.decide.collocate.partition.signature import Partition, Partitioner, wanted

__all__ = [
    "NOBODY",
    "PARTITIONERS",
    "Graph",
    "Partition",
    "Partitioner",
    "affinity_graph",
    "share_out",
    "wanted",
]
