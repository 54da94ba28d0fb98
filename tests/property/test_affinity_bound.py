"""The bound of the gained affinity, over clusters with every kind of rule, against trying every placement."""

from dataclasses import replace

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.builders.strategies import clusters, placements
from tests.stress.collocate import expect_above_every_placement

from bayplan.model import Objective
from bayplan.model.problem import Problem


@st.composite
def small_problems(draw) -> Problem:
    """Few enough containers to try every placement; the start may break rules."""
    cluster = draw(clusters(max_machines=3, max_workloads=4))
    here = draw(placements(cluster))
    return Problem(cluster=cluster, objective=Objective.default(cluster), before=here, start=here)


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(problem=small_problems(), seconds=st.sampled_from([0.0, 0.02, 0.2]))
def test_no_placement_gains_more_than_the_bound(problem, seconds):
    if len(problem.cluster.containers.name) <= 6:
        expect_above_every_placement(problem, seconds)


@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(problem=small_problems(), data=st.data())
def test_what_is_frozen_may_lower_the_bound_but_never_below_a_placement(problem, data):
    n_c = len(problem.cluster.containers.name)
    if n_c <= 6:
        frozen = data.draw(st.lists(st.booleans(), min_size=n_c, max_size=n_c))
        expect_above_every_placement(replace(problem, frozen=np.array(frozen, dtype=np.bool_)), 0.1)
