"""All partitioners by name."""

from collections.abc import Mapping

from bayplan.decide.collocate.partition.comparison import min_cut, no_partition, random_partition
from bayplan.decide.collocate.partition.multi_stage import multi_stage
from bayplan.decide.collocate.partition.signature import Partitioner

PARTITIONERS: Mapping[str, Partitioner] = {
    "multi-stage": multi_stage,
    "random": random_partition,
    "min-cut": min_cut,
    "none": no_partition,
}
