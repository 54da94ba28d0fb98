"""POP: random parts of services and machines, each solved alone."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.builders.affinity_graphs import drawn_graph, graph_of
from tests.builders.strategies import valid_snapshots
from tests.builders.three_services import problem_of

from bayplan.check import check
from bayplan.decide.collocate.baselines import PARTS, pop, random_parts
from bayplan.decide.collocate.options import CollocateOptions
from bayplan.decide.collocate.partition import UNOWNED
from bayplan.errors import UsageError
from bayplan.model import Budget, Capacity, Confidence, Transient, silent
from bayplan.model.problem import Problem

HERE = CollocateOptions(engine="here")


@given(seed=st.integers(0, 10**6))
def test_every_workload_that_has_a_machine_is_in_one_part(seed):
    graph = drawn_graph(seed)
    sets, owner = random_parts(graph, np.ones((6, 2), dtype=np.int64), seed)
    hosted = np.flatnonzero(graph.allow[graph.row_of].any(axis=1))
    assert sorted(np.concatenate([np.zeros(0, dtype=np.int64), *sets]).tolist()) == hosted.tolist()
    used = graph.allow[graph.row_of].any(axis=0)
    assert ((owner == UNOWNED) == ~used).all()
    assert owner.max(initial=UNOWNED) < len(sets)


def test_parts_have_equal_shares_of_each_kind_of_machine():
    graph = graph_of([0], [1], [1.0], replicas=[1] * 40, allow=np.ones((1, 24), dtype=np.bool_))
    capacity = np.repeat([[1], [2]], [8, 16], axis=0)
    sets, owner = random_parts(graph, capacity, seed=3)
    assert [len(part) for part in sets] == [10] * PARTS
    assert Counter(owner[:8].tolist()) == dict.fromkeys(range(PARTS), 2)
    assert Counter(owner[8:].tolist()) == dict.fromkeys(range(PARTS), 4)


def test_workloads_that_share_no_machine_are_split_apart():
    allow = np.array([[True] * 4 + [False] * 4, [False] * 4 + [True] * 4])
    graph = graph_of([0], [1], [1.0], replicas=[1] * 8, row_of=[0, 1] * 4, allow=allow)
    sets, owner = random_parts(graph, np.ones((8, 1), dtype=np.int64), seed=0)
    assert len(sets) == 2 * PARTS
    for number, part in enumerate(sets):
        assert allow[graph.row_of[part]][:, owner == number].all()


def test_another_seed_splits_otherwise():
    graph = graph_of([0], [1], [1.0], replicas=[1] * 40, allow=np.ones((1, 24), dtype=np.bool_))
    capacity = np.ones((24, 1), dtype=np.int64)
    one, same, other = (random_parts(graph, capacity, seed) for seed in (1, 1, 2))
    assert [part.tolist() for part in one[0]] == [part.tolist() for part in same[0]]
    assert (one[1] == same[1]).all()
    assert [part.tolist() for part in one[0]] != [part.tolist() for part in other[0]]


@given(snapshot=valid_snapshots(), seed=st.integers(0, 3))
@settings(max_examples=25)
def test_breaks_no_rule_and_loses_no_container(snapshot, seed):
    problem = Problem.of(snapshot)
    if any(isinstance(rule, Transient | Confidence) for rule in snapshot.cluster.rules):
        with pytest.raises(UsageError, match="method 'pop' does not know"):
            pop(problem, HERE, budget=Budget(seconds=1), seed=seed, progress=silent)
        return
    result = pop(problem, HERE, budget=Budget(seconds=1), seed=seed, progress=silent)
    assert result.solution is not None
    assert not check(problem.cluster, result.solution, problem.before)
    assert len(result.solution.unplaced) <= len(problem.start.unplaced)


def test_rules_of_other_papers_are_refused():
    rule = Transient(resource=0)
    with pytest.raises(UsageError, match="method 'pop' does not know transient rules; expected 'best'"):
        pop(problem_of(rules=(rule,)), HERE, budget=Budget(), seed=0, progress=silent)


def test_stages_are_reported():
    stages = []
    problem = problem_of(rules=(Capacity(resources=(0,)),))
    pop(problem, HERE, budget=Budget(seconds=1), seed=0, progress=lambda tick: stages.append(tick.stage))
    assert list(dict.fromkeys(stages)) == ["partitioning", "solving", "placing leftovers"]


@pytest.mark.data
def test_is_no_straw_man_on_m3(data_folder: Path):
    from bayplan.formats import read

    problem = Problem.of(read(data_folder / "rasa" / "M3.json"))
    result = pop(problem, HERE, budget=Budget(seconds=2), seed=0, progress=silent)
    assert result.solution is not None
    assert result.score["affinity"] >= 0.13
    assert not len(result.solution.unplaced)
