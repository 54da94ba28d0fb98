"""All allow rules together."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.builders.strategies import clusters, placements

from bayplan.model import Allow, CoLocate, Pinned, allowed, relabelled, singled_out


@given(clusters())
def test_a_workload_may_run_where_every_rule_lets_it(cluster):
    together = allowed(cluster)
    for w in range(len(cluster.workloads.name)):
        sets = [cluster.machine_sets[rule.machines] for rule in cluster.rules if isinstance(rule, Allow) and w in rule.workloads]
        expected = [m for m in range(len(cluster.machines.name)) if all(m in machines for machines in sets)]
        assert np.flatnonzero(together.machines(w)).tolist() == expected


@given(clusters(), st.data())
def test_a_container_that_a_rule_names_keeps_its_machine_when_replicas_are_renamed(cluster, data):
    before, after = data.draw(placements(cluster)), data.draw(placements(cluster))
    fixed = singled_out(cluster)
    renamed = relabelled(after, before, cluster.containers.workload, fixed)
    named = {c for rule in cluster.rules if isinstance(rule, Pinned | CoLocate) for c in rule.containers}
    assert np.flatnonzero(fixed).tolist() == sorted(named)
    assert all(renamed.machine_of[c] == after.machine_of[c] for c in named)
