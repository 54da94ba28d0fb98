"""The greedy pass against a slow obvious loop."""

import numpy as np
import pytest
from tests.builders.collocations import drawn_task
from tests.naive import collocate as naive

from bayplan.decide.collocate.greedy import _order, greedy_counts
from bayplan.decide.collocate.subproblem import gained, violations
from bayplan.kernels.collocate.greedy import fill_by_gain, warm_up


@pytest.mark.parametrize("seed", range(40))
def test_places_each_container_where_it_gains_most(seed):
    task = drawn_task(seed, services=5, machines=4, most=4, edges=6, huge=seed % 2 == 0)
    start = np.zeros(task.shape, dtype=np.int64)
    assert greedy_counts(task).tolist() == naive.greedy(task, _order(task).tolist(), start).tolist()


@pytest.mark.parametrize("seed", range(40))
def test_goes_on_from_a_start_that_breaks_nothing(seed):
    task = drawn_task(seed, services=5, machines=4, most=4, edges=6)
    start = np.zeros_like(task.now) if violations(task, task.now) else task.now
    counts = greedy_counts(task, start)
    assert violations(task, counts) == []
    assert (counts >= start).all()
    assert gained(task, counts) >= gained(task, start)
    assert counts.tolist() == naive.greedy(task, _order(task).tolist(), start).tolist()


def test_the_warm_up_compiles_what_a_task_needs():
    greedy_counts(drawn_task(0))
    before = len(fill_by_gain.signatures)
    warm_up()
    assert len(fill_by_gain.signatures) == before
