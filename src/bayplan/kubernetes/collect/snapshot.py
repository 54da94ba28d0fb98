"""Objects -> a snapshot of the model, with who is unmovable and why."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from bayplan.kubernetes.collect.cluster_arrays import ClusterParts, cluster_of
from bayplan.kubernetes.collect.disruption import DisruptionBudget, disruption_budgets
from bayplan.kubernetes.collect.groups import Matches, PodGroup, grouped
from bayplan.kubernetes.collect.movable import never_moved, not_now
from bayplan.kubernetes.collect.node_rules import NodeMasks, add_node_rules
from bayplan.kubernetes.collect.nodes import NodeTable
from bayplan.kubernetes.collect.objects import Objects
from bayplan.kubernetes.collect.owners import Owner, Owners
from bayplan.kubernetes.collect.pod_rules import add_affinity, add_anti_affinity, add_host_ports, add_spread
from bayplan.kubernetes.collect.pods import CollectedPod, PodRow, pod_rows
from bayplan.kubernetes.collect.rule_list import RuleList
from bayplan.kubernetes.collect.settings import CollectSettings
from bayplan.kubernetes.collect.volumes import Volumes
from bayplan.kubernetes.measurements import Measurements
from bayplan.model import Pinned, Snapshot
from bayplan.operate.orchestrator import Phase
