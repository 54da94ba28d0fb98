"""Column generation gains what trying everything gains, wherever all patterns can be listed."""

import pytest
from hypothesis import given
from hypothesis import settings as tuned
from hypothesis import strategies as st
from tests.builders.collocations import drawn_subproblem
from tests.naive import collocate as naive

from bayplan.decide.collocate.columns.pattern_master import machine_types_of
from bayplan.decide.collocate.columns.solve import enumerate_patterns, solve_columns
from bayplan.decide.collocate.subproblem import gained, violations

SHAPES = ({}, {"workloads": 4, "machines": 2, "edges": 4}, {"workloads": 2, "machines": 4, "edges": 1})


@given(seed=st.integers(0, 10**6))
@tuned(max_examples=30)
def test_the_optimum_of_small_clusters_is_found_by_columns(seed):
    subproblem = drawn_subproblem(seed, **SHAPES[seed % len(SHAPES)])
    assert enumerate_patterns(subproblem, machine_types_of(subproblem)) is not None
    counts = solve_columns(subproblem, seconds=20.0, seed=seed)
    assert violations(subproblem, counts) == []
    assert gained(subproblem, counts) == pytest.approx(naive.most_gained(subproblem), abs=1e-9)


def test_patterns_that_are_too_many_are_not_listed():
    subproblem = drawn_subproblem(5, workloads=7, machines=2, most=4)
    assert enumerate_patterns(subproblem, machine_types_of(subproblem)) is None
