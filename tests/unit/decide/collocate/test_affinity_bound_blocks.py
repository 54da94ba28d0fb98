"""Blocks of services, and the bound that is put together from them."""

from dataclasses import replace

import numpy as np
import pytest
from tests.builders.three_services import problem_of

from bayplan.decide.collocate.bound import LARGEST, SMALLEST, affinity_bound, block_size, blocks
from bayplan.formats import read
from bayplan.generate import GENERATORS
from bayplan.model import Capacity, Pinned, Traffic, silent
from bayplan.model.problem import Problem
from bayplan.score.affinity import gained_affinity

BOTH = Capacity(resources=(0, 1))


def test_blocks_are_no_larger_than_told_and_the_heaviest_edge_is_inside_of_one():
    cluster = GENERATORS["rasa-m3"].make(seed=3).cluster
    for largest in (2, 10, 60):
        block_of = blocks(cluster, largest)
        heaviest = int(np.argmax(cluster.traffic.weight))
        assert np.bincount(block_of).max() <= largest
        assert block_of[cluster.traffic.a[heaviest]] == block_of[cluster.traffic.b[heaviest]]


def test_more_time_allows_larger_blocks():
    cluster = GENERATORS["rasa-m3"].make(seed=3).cluster
    sizes = [block_size(cluster, seconds) for seconds in (0.0, 10.0, 20.0, 1e6)]
    assert sizes == sorted(sizes)
    assert (sizes[0], sizes[-1]) == (SMALLEST, LARGEST)


def test_there_is_no_bound_without_affinity():
    problem = problem_of(rules=(BOTH,))
    silent_cluster = replace(problem.cluster, traffic=Traffic.none())
    assert affinity_bound(replace(problem, cluster=silent_cluster), seconds=1.0, progress=silent) is None


def test_everything_may_be_gained_where_one_machine_takes_all():
    assert affinity_bound(problem_of(rules=(BOTH,)), seconds=1.0, progress=silent) == 1.0


def test_what_is_pinned_lowers_the_bound_to_what_is_there():
    problem = problem_of(rules=(BOTH, Pinned(containers=tuple(range(9)))))
    here = gained_affinity(problem.cluster, problem.start)
    assert affinity_bound(problem, seconds=20.0, progress=silent) == pytest.approx(here, abs=1e-6)


def test_small_machines_lower_the_bound():
    bound = affinity_bound(problem_of(rules=(BOTH,), capacity=6), seconds=20.0, progress=silent)
    assert bound is not None
    assert gained_affinity(problem_of().cluster, problem_of().start) <= bound < 1.0


@pytest.mark.data
def test_the_published_cluster_has_a_bound_below_everything(data_folder):
    problem = Problem.of(read(data_folder / "rasa" / "M3.json"))
    bounds = (affinity_bound(problem, seconds=seconds, progress=silent) for seconds in (4.0, 20.0, 100.0))
    assert next(bound for bound in bounds if bound is not None and bound < 1.0) > 0.87  # a busy machine needs longer
