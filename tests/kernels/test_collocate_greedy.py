"""The greedy pass against a slow obvious loop."""

import numpy as np
import pytest
from tests.builders.collocations import drawn_subproblem
from tests.naive import collocate as naive

from bayplan.decide.collocate.greedy import _order, greedy_counts
from bayplan.decide.collocate.subproblem import gained, violations
from bayplan.kernels.collocate.greedy import fill_by_gain, warm_up


@pytest.mark.parametrize("seed", range(40))
def test_places_each_container_where_it_gains_most(seed):
    subproblem = drawn_subproblem(seed, workloads=5, machines=4, most=4, edges=6, huge=seed % 2 == 0)
    start = np.zeros(subproblem.shape, dtype=np.int64)
    assert greedy_counts(subproblem).tolist() == naive.greedy(subproblem, _order(subproblem).tolist(), start).tolist()


@pytest.mark.parametrize("seed", range(40))
def test_goes_on_from_a_start_that_breaks_nothing(seed):
    subproblem = drawn_subproblem(seed, workloads=5, machines=4, most=4, edges=6)
    start = np.zeros_like(subproblem.now) if violations(subproblem, subproblem.now) else subproblem.now
    counts = greedy_counts(subproblem, start)
    assert violations(subproblem, counts) == []
    assert (counts >= start).all()
    assert gained(subproblem, counts) >= gained(subproblem, start)
    assert counts.tolist() == naive.greedy(subproblem, _order(subproblem).tolist(), start).tolist()


def test_the_warm_up_compiles_what_a_subproblem_needs():
    greedy_counts(drawn_subproblem(0))
    before = len(fill_by_gain.signatures)
    warm_up()
    assert len(fill_by_gain.signatures) == before
