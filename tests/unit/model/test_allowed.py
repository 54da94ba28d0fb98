"""All allow rules together."""

import numpy as np
from hypothesis import given
from tests.strategies import clusters

from bayplan.model import Allow, allowed


@given(clusters())
def test_a_workload_may_run_where_every_rule_lets_it(cluster):
    together = allowed(cluster)
    for w in range(len(cluster.workloads.name)):
        sets = [cluster.machine_sets[rule.machines] for rule in cluster.rules if isinstance(rule, Allow) and w in rule.workloads]
        expected = [m for m in range(len(cluster.machines.name)) if all(m in machines for machines in sets)]
        assert np.flatnonzero(together.machines(w)).tolist() == expected
