"""The paper's own partitioner: four stages, each usable alone (004 IV-B)."""

from bayplan.decide.collocate.partition.balanced import balanced
from bayplan.decide.collocate.partition.graph import Graph
from bayplan.decide.collocate.partition.signature import Partition, partition_of
from bayplan.decide.collocate.partition.stages import affine, compatible
from bayplan.decide.collocate.partition.stages import masters as masters_of


def multi_stage(graph: Graph, *, masters: int | None, seed: int) -> Partition:
    """Non-affinity, master-affinity, compatibility, loss-minimising balance (004 IV-B). All but masters are trivial."""
    crucial = masters_of(graph, affine(graph), masters)  # IV-B1, IV-B2
    blocks = compatible(graph, crucial)  # IV-B3
    splits = [balanced(graph, some, seed=[seed, k]) for k, some in enumerate(blocks.sets)]  # IV-B4
    notes = [split.note for split in splits if split.note]
    if len(blocks.nowhere):
        notes.append(f"{len(blocks.nowhere)} services with affinity may run on no machine: trivial")
    sets = [part for split in splits for part in split.parts]
    return partition_of(graph, sets, balanced=all(split.balanced for split in splits), notes=notes)
